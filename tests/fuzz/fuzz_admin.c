/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The write door: a head of HTTP and a body, or (after the word "users") a file of users. saguarod
 * is asked nothing for a client that has not shown the secret of a user; a viewer changes nothing,
 * and any other user but an operator only partitions. Each answer is a JSON document.
 */
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "gateway/admin/admin.h"
#include "gateway/admin/audit.h"
#include "gateway/admin/auth.h"
#include "gateway/admin/limits.h"
#include "tests/fuzz/fuzz.h"
#include "tests/gateway/admin/admin_fixture.h"

static struct admin_fixture f;
static const char *const users[] = { "viewer", "partition-admin", "operator" };

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static void start(void)
{
	struct admin_request rq = { .method = "GET", .target = "/v1/user" };

	log_set_level(LOG_LEVEL_ERROR);
	admin_fixture_init(&f, 3);
	/* What answers of saguarod have, so that a job is waited for, and lists have a row. */
	f.reply =
		"{\"ok\": true, \"changed\": true, \"version\": 9, \"pkey\": \"0x1001\", "
		"\"present\": [\"0x1\"], \"absent\": [], \"programmed\": true, \"ports\": [], "
		"\"partition\": {\"pkey\": \"0x1001\", \"name\": \"job-7\", \"members\": []}, "
		"\"partitions\": [{\"pkey\": \"0x1001\", \"name\": \"job-7\"}]}";
	limits_free(f.admin.rate);
	f.admin.rate = limits_new(1, 0);
	audit_free(f.admin.audit);
	require(audit_new(NULL, &f.admin.audit) == E_OK);
	/* A secret that was right once is known by its digest; wrong ones are over the rate soon.
	 * So inputs do not wait for hashes. */
	for (unsigned i = 0; i < 3; i++) {
		rq.authorization = admin_fixture_basic(users[i], ADMIN_SECRET);
		require(admin_fixture_send(&f, &rq, NULL, NULL).status == 200);
	}
}

static void read_users(const char *text, size_t len)
{
	struct arena *a = arena_new();
	struct users list = { .n = 0 };
	struct diags d;

	require(a != NULL);
	diags_init(&d, a);
	int ret = users_parse("fuzz", text, len, a, &d, &list);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d.n_errors == 0));
	for (unsigned i = 0; i < list.n; i++) {
		require(user_name_is_good(list.user[i].name) &&
		        users_find(&list, list.user[i].name) == &list.user[i]);
		require(list.user[i].role > ROLE_NONE && list.user[i].role < ROLE_COUNT);
	}
	arena_free(a);
}

/* Whose secret a header shows, by another way than the door's: 0 nobody's, else 1 + index. */
static unsigned shows(const char *header)
{
	unsigned found = 0;
	char pair[128];

	if (header == NULL) {
		return 0;
	}
	const char *value = header + strcspn(header, " ");

	value += strspn(value, " ");
	const gnutls_datum_t in = { (unsigned char *)value, (unsigned)strlen(value) };
	gnutls_datum_t out = { NULL, 0 };
	bool basic = strncasecmp(header, "Basic ", 6) == 0 &&
	             gnutls_base64_decode2(&in, &out) == 0;

	for (unsigned i = 0; i < 3; i++) {
		snprintf(pair, sizeof(pair), "%s:" ADMIN_SECRET, users[i]);
		if (basic && out.size == strlen(pair) &&
		    memcmp(out.data, pair, out.size) == 0) {
			found = i + 1;
		}
		snprintf(pair, sizeof(pair), "%s." ADMIN_SECRET, users[i]);
		if (strncasecmp(header, "Bearer ", 7) == 0 && strcmp(value, pair) == 0) {
			found = i + 1;
		}
	}
	gnutls_free(out.data);
	return found;
}

/* Takes a line off a text. */
static char *take_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	*text = end != NULL ? end + 1 : line + strlen(line);
	line[strcspn(line, "\r\n")] = '\0';
	return line;
}

static void read_headers(char **text, struct admin_request *rq)
{
	const struct {
		const char *name;
		const char **to;
	} known[] = {
		{ "Authorization", &rq->authorization },
		{ "Host", &rq->host },
		{ "Origin", &rq->origin },
		{ "Content-Type", &rq->content_type },
		{ "If-Match", &rq->if_match },
		{ "If-None-Match", &rq->if_none_match },
		{ "Certificate", &rq->certificate },
	};
	char *line;

	while (*(line = take_line(text)) != '\0') {
		char *value = strchr(line, ':');

		if (value == NULL) {
			continue;
		}
		*value++ = '\0';
		value += strspn(value, " ");
		for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
			if (strcasecmp(line, known[i].name) == 0) {
				*known[i].to = value;
			}
		}
	}
}

/* A request to saguarod, if there was one, is within the role. */
static void check_asked(const struct admin_request *rq)
{
	const char *verb = json_string_value(json_object_get(f.asked, "verb"));
	const char *action = json_string_value(json_object_get(f.asked, "action"));
	unsigned role = shows(rq->authorization);
	bool reads = verb != NULL &&
	             (strcmp(verb, "status") == 0 ||
	              (strcmp(verb, "partition") == 0 && action != NULL &&
	               (strcmp(action, "list") == 0 || strcmp(action, "show") == 0 ||
	                strcmp(action, "wait") == 0)));

	if (f.asked == NULL) {
		return;
	}
	if (rq->authorization == NULL && rq->certificate != NULL) {
		role = strcmp(rq->certificate, "robot") == 0 ? 1 : role;
		for (unsigned i = 0; i < 3; i++) {
			role = strcmp(rq->certificate, users[i]) == 0 ? i + 1 : role;
		}
	}
	require(verb != NULL && role >= 1);
	require(role >= 2 || reads);
	require(role >= 3 || reads || strcmp(verb, "partition") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool started;
	struct admin_request rq = { .method = "GET" };
	char *text = malloc(size + 1), *rest = text, *target;
	json_t *reply = NULL;

	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	if (!started) {
		start();
		started = true;
	}
	if (size >= 6 && memcmp(text, "users\n", 6) == 0) {
		read_users(text + 6, size - 6);
		free(text);
		return 0;
	}
	rq.method = take_line(&rest);
	target = strchr(rq.method, ' ');
	if (target != NULL) {
		*target++ = '\0';
		rq.target = target;
		json_decref(f.asked);
		f.asked = NULL;
		read_headers(&rest, &rq);
		struct reply r =
			admin_fixture_send(&f, &rq, *rest != '\0' ? rest : NULL, &reply);

		require(r.status >= 200 && r.status <= 599 && r.status != 500);
		require(r.status == 304 || reply != NULL);
		check_asked(&rq);
		json_decref(reply);
	}
	free(text);
	return 0;
}

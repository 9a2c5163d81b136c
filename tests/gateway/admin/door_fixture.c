/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/gateway/admin/door_fixture.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "gateway/admin/audit.h"
#include "gateway/admin/auth.h"
#include "gateway/admin/limits.h"

static const char users[] = "# users of the tests\n"
			    "viewer viewer never " DOOR_HASH "\n"
			    "partition-admin partition-admin 2027-01-01 " DOOR_HASH "\n"
			    "operator operator never " DOOR_HASH "\n"
			    "expired operator 2026-01-01 " DOOR_HASH "\n"
			    "robot viewer never -\n";

static const struct door_fabric fabrics[] = { { "main", "/main.control" },
	                                      { "ib1", "/ib1.control" } };

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static int ask(void *ctx, const char *socket, const json_t *request, json_t **ret_reply)
{
	struct door_fixture *f = ctx;

	json_decref(f->asked);
	f->asked = json_deep_copy(request);
	f->n_asked++;
	snprintf(f->socket, sizeof(f->socket), "%s", socket);
	if (f->reply == NULL) {
		return f->error != 0 ? f->error : -ECONNREFUSED;
	}
	*ret_reply = json_loads(f->reply, 0, NULL);
	require(*ret_reply != NULL);
	return E_OK;
}

void door_fixture_init(struct door_fixture *f, unsigned failures_per_minute)
{
	struct auth_options o = { .failures = failures_per_minute,
		                  .per_minute = failures_per_minute };
	FILE *file;

	memset(f, 0, sizeof(*f));
	snprintf(f->dir, sizeof(f->dir), "/tmp/saguaro-door.XXXXXX");
	require(mkdtemp(f->dir) != NULL);
	snprintf(f->users, sizeof(f->users), "%s/users", f->dir);
	snprintf(f->audit, sizeof(f->audit), "%s/audit", f->dir);
	file = fopen(f->users, "w");
	require(file != NULL && fputs(users, file) >= 0 && fclose(file) == 0 &&
	        chmod(f->users, 0640) == 0);
	o.users = f->users;
	f->reply = "{\"ok\": true, \"version\": 7}";
	f->now = 1800000000 - 86400 * 60; /* November 2026 */
	f->now_ms = 1000000;
	f->door = (struct door){
		.fabric = fabrics, .n_fabrics = 2, .hosts = "door.example, b.example", .ask = ask, .ctx = f
	};
	f->door.rate = limits_new(20, 60);
	f->door.lines = limits_new(5, 5);
	require(auth_new(&o, &f->door.auth) == E_OK && f->door.rate != NULL &&
	        f->door.lines != NULL && audit_new(f->audit, &f->door.audit) == E_OK);
}

void door_fixture_done(struct door_fixture *f)
{
	limits_free(f->door.rate);
	limits_free(f->door.lines);
	auth_free(f->door.auth);
	audit_free(f->door.audit);
	json_decref(f->asked);
	unlink(f->users);
	unlink(f->audit);
	rmdir(f->dir);
}

const char *door_fixture_basic(const char *user, const char *secret)
{
	static char text[1024];
	char pair[512];
	gnutls_datum_t out;
	int n = snprintf(pair, sizeof(pair), "%s:%s", user, secret);
	const gnutls_datum_t in = { (unsigned char *)pair, (unsigned)n };

	require(gnutls_base64_encode2(&in, &out) == 0);
	snprintf(text, sizeof(text), "Basic %.*s", (int)out.size, (const char *)out.data);
	gnutls_free(out.data);
	return text;
}

struct reply door_fixture_send(struct door_fixture *f, const struct door_request *rq,
                               const char *body, json_t **ret_body)
{
	struct door_request request = *rq;
	struct reply reply;
	struct door_call *c;

	request.now = f->now;
	request.now_ms = f->now_ms;
	request.has_body = body != NULL;
	if (request.body_bytes == 0 && body != NULL) {
		request.body_bytes = strlen(body);
	}
	if (request.address == NULL) {
		request.address = "192.0.2.1";
	}
	c = door_begin(&f->door, &request);
	require(c != NULL);
	door_answer(c, body != NULL ? body : "", body != NULL ? strlen(body) : 0, &reply);
	door_free(c);
	if (ret_body != NULL) {
		*ret_body = reply.body.len > 0
		                    ? json_loadb(reply.body.data, reply.body.len, 0, NULL)
		                    : NULL;
	}
	body_clear(&reply.body);
	return reply;
}

unsigned door_fixture_ask(struct door_fixture *f, const char *method, const char *target,
                          const char *body, json_t **ret_body)
{
	struct door_request rq = { .method = method,
		                   .target = target,
		                   .content_type = "application/json; charset=utf-8" };

	f->now_ms += 60000; /* rates are tested elsewhere */
	rq.authorization = door_fixture_basic("operator", DOOR_SECRET);
	return door_fixture_send(f, &rq, body, ret_body).status;
}

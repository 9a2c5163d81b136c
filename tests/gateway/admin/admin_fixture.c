/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/gateway/admin/admin_fixture.h"

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
			    "viewer viewer never " ADMIN_HASH "\n"
			    "partition-admin partition-admin 2027-01-01 " ADMIN_HASH "\n"
			    "operator operator never " ADMIN_HASH "\n"
			    "expired operator 2026-01-01 " ADMIN_HASH "\n"
			    "robot viewer never -\n";

static const struct admin_fabric fabrics[] = { { "main", "/main.control" },
	                                       { "ib1", "/ib1.control" } };

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static int ask(void *ctx, const char *socket, const json_t *request, json_t **ret_reply)
{
	struct admin_fixture *f = ctx;

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

void admin_fixture_init(struct admin_fixture *f, unsigned failures_per_minute)
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
	f->admin = (struct admin){ .fabric = fabrics,
		                   .n_fabrics = 2,
		                   .hosts = "door.example, b.example",
		                   .ask = ask,
		                   .ctx = f };
	f->admin.rate = limits_new(20, 60);
	f->admin.lines = limits_new(5, 5);
	require(auth_new(&o, &f->admin.auth) == E_OK && f->admin.rate != NULL &&
	        f->admin.lines != NULL && audit_new(f->audit, &f->admin.audit) == E_OK);
}

void admin_fixture_done(struct admin_fixture *f)
{
	limits_free(f->admin.rate);
	limits_free(f->admin.lines);
	auth_free(f->admin.auth);
	audit_free(f->admin.audit);
	json_decref(f->asked);
	unlink(f->users);
	unlink(f->audit);
	rmdir(f->dir);
}

const char *admin_fixture_basic(const char *user, const char *secret)
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

struct reply admin_fixture_send(struct admin_fixture *f, const struct admin_request *rq,
                                const char *body, json_t **ret_body)
{
	struct admin_request request = *rq;
	struct reply reply;
	struct admin_call *c;

	request.now = f->now;
	request.now_ms = f->now_ms;
	request.has_body = body != NULL;
	if (request.body_bytes == 0 && body != NULL) {
		request.body_bytes = strlen(body);
	}
	if (request.address == NULL) {
		request.address = "192.0.2.1";
	}
	c = admin_begin(&f->admin, &request);
	require(c != NULL);
	admin_answer(c, body != NULL ? body : "", body != NULL ? strlen(body) : 0,
	             &reply);
	admin_free(c);
	if (ret_body != NULL) {
		*ret_body = reply.body.len > 0
		                    ? json_loadb(reply.body.data, reply.body.len, 0, NULL)
		                    : NULL;
	}
	body_clear(&reply.body);
	return reply;
}

unsigned admin_fixture_ask(struct admin_fixture *f, const char *method,
                           const char *target, const char *body, json_t **ret_body)
{
	struct admin_request rq = { .method = method,
		                    .target = target,
		                    .content_type = "application/json; charset=utf-8" };

	f->now_ms += 60000; /* rates are tested elsewhere */
	rq.authorization = admin_fixture_basic("operator", ADMIN_SECRET);
	return admin_fixture_send(f, &rq, body, ret_body).status;
}

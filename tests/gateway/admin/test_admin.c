/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Requests to the write door and what becomes of them at saguarod. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "gateway/admin/admin_call.h"
#include "gateway/admin/audit.h"
#include "gateway/admin/users.h"
#include "tests/gateway/admin/admin_fixture.h"
#include "tests/lib/suite.h"

static struct admin_fixture f;
static json_t *body;

static void setup(void)
{
	admin_fixture_init(&f, 0);
	body = NULL;
}

static void teardown(void)
{
	json_decref(body);
	admin_fixture_done(&f);
}

static unsigned ask(const char *method, const char *target, const char *text)
{
	json_decref(body);
	body = NULL;
	json_decref(f.asked);
	f.asked = NULL;
	return admin_fixture_ask(&f, method, target, text, &body);
}

static const char *text_of(const char *name)
{
	const char *text = json_string_value(json_object_get(body, name));

	return text != NULL ? text : "";
}

/* clang-format off */
/* Requests, and what saguarod hears. */
static const struct {
	const char *method, *target, *body;
	unsigned status;
	const char *asked;
} good[] = {
	{ "GET", "/v1/partitions", NULL, 200,
	  "{'verb':'partition','action':'list','members':false}" },
	{ "POST", "/v1/partitions", "{\"p_key\":\"0x8001\",\"name\":\"a\",\"ipoib\":true,\"index0\":false,\"membership\":\"limited\"}", 201,
	  "{'verb':'partition','action':'create','pkey':'0x8001','name':'a','ipoib':true,'index0':false,'membership':'limited','by':'operator'}" },
	{ "POST", "/v1/partitions", "{\"p_key\":5}", 201,
	  "{'verb':'partition','action':'create','pkey':'0x5','by':'operator'}" },
	{ "GET", "/v1/partitions/0x5", NULL, 200, "{'verb':'partition','action':'show','pkey':'0x5'}" },
	{ "DELETE", "/v1/partitions/5", NULL, 200, "{'verb':'partition','action':'delete','pkey':'0x5','by':'operator'}" },
	{ "POST", "/v1/partitions/0x5/members",
	  "{\"members\":[\"0x0002c90300000001\",{\"guid\":\"0002C90300000002\",\"membership\":\"both\"}],\"membership\":\"limited\",\"create\":true}", 200,
	  "{'verb':'partition','action':'add','pkey':'0x5','create':true,'by':'operator','members':[{'guid':'0x0002c90300000001','membership':'limited'},{'guid':'0x0002c90300000002','membership':'both'}]}" },
	{ "PUT", "/v1/partitions/0x5/members", "{\"members\":[]}", 200,
	  "{'verb':'partition','action':'set','pkey':'0x5','members':[],'by':'operator'}" },
	{ "DELETE", "/v1/partitions/0x5/members/0x2c90300000001", NULL, 200,
	  "{'verb':'partition','action':'remove','pkey':'0x5','by':'operator','members':[{'guid':'0x0002c90300000001'}]}" },
	{ "POST", "/v1/partitions/0x5/remove", "{\"members\":[\"0x2c90300000001\"]}", 200,
	  "{'verb':'partition','action':'remove','pkey':'0x5','by':'operator','members':[{'guid':'0x0002c90300000001'}]}" },
	{ "GET", "/v1/jobs", NULL, 200, "{'verb':'partition','action':'list','begin':'job-','members':false}" },
	{ "GET", "/v1/jobs/a.7", NULL, 200, "{'verb':'partition','action':'show','name':'job-a.7'}" },
	{ "DELETE", "/v1/jobs/7", NULL, 200, "{'verb':'partition','action':'delete','name':'job-7','by':'operator'}" },
	{ "POST", "/ufmRest/resources/pkeys/hosts", "{\"pkey\":\"0x2\",\"hosts_names\":[\"n1\",\"n2\"]}", 200,
	  "{'verb':'partition','action':'add','pkey':'0x2','hosts':['n1','n2'],'ipoib':true,'create':true,'by':'operator'}" },
	{ "GET", "/v1/wait?version=7", NULL, 200, "{'verb':'partition','action':'wait','version':7,'timeout_ms':5000}" },
	{ "POST", "/v1/sweep", NULL, 202, "{'verb':'sweep','by':'operator'}" },
	{ "POST", "/v1/sweep", "{\"heavy\":true}", 202, "{'verb':'sweep','heavy':true,'by':'operator'}" },
	{ "POST", "/v1/rebalance", NULL, 202, "{'verb':'rebalance','by':'operator'}" },
	{ "POST", "/v1/reload", NULL, 202, "{'verb':'reload','by':'operator'}" },
	{ "POST", "/v1/handover", NULL, 202, "{'verb':'handover','by':'operator'}" },
	{ "POST", "/v1/port/disable", "{\"port\":\"sw 1:3\"}", 202, "{'verb':'port','action':'disable','port':'sw 1:3','by':'operator'}" },
	{ "GET", "/v1/status", NULL, 200, "{'verb':'status'}" },
	/* The plug-in of Kubernetes: reference of the client's sources, its four calls, and what further versions of it send. */
	{ "POST", "/ufmRest/resources/pkeys",
	  "{\"pkey\":\"0x1AFF\",\"index0\":true,\"ip_over_ib\":true,\"membership\":\"full\",\"guids\":[\"0200000000000001\"]}", 200,
	  "{'verb':'partition','action':'add','pkey':'0x1aff','index0':true,'ipoib':true,'create':true,'by':'operator','members':[{'guid':'0x0200000000000001','membership':'full'}]}" },
	{ "POST", "/ufmRest/resources/pkeys", "{\"pkey\":\"0x1AFF\",\"guids\":[\"0200000000000001\"],\"further\":1}", 200,
	  "{'verb':'partition','action':'add','pkey':'0x1aff','ipoib':true,'create':true,'by':'operator','members':[{'guid':'0x0200000000000001','membership':'full'}]}" },
	{ "POST", "/ufmRest/resources/pkeys", "{\"pkey\":\"0x1AFF\",\"guids\":[\"0200000000000001\",\"0200000000000002\"],\"memberships\":[\"limited\",\"full\"],\"ip_over_ib\":false}", 200,
	  "{'verb':'partition','action':'add','pkey':'0x1aff','ipoib':false,'create':true,'by':'operator','members':[{'guid':'0x0200000000000001','membership':'limited'},{'guid':'0x0200000000000002','membership':'full'}]}" },
	{ "PUT", "/ufmRest/resources/pkeys", "{\"pkey\":\"0x1AFF\",\"guids\":[]}", 200,
	  "{'verb':'partition','action':'set','pkey':'0x1aff','ipoib':true,'create':true,'members':[],'by':'operator'}" },
	{ "POST", "/ufmRest/actions/remove_guids_from_pkey", "{\"pkey\":\"0x1AFF\",\"guids\":[\"0200000000000001\"]}", 200,
	  "{'verb':'partition','action':'remove','pkey':'0x1aff','members':[{'guid':'0x0200000000000001'}],'by':'operator'}" },
	{ "POST", "/ufmRest/resources/pkeys/add", "{\"pkey\":\"0x2\",\"partition_name\":\"t\"}", 200,
	  "{'verb':'partition','action':'create','pkey':'0x2','name':'t','ipoib':true,'by':'operator'}" },
	{ "DELETE", "/ufmRest/resources/pkeys/0x2", NULL, 200, "{'verb':'partition','action':'delete','pkey':'0x2','by':'operator'}" },
	{ "GET", "/ufmRest/resources/pkeys/?guids_data=true", NULL, 200, "{'verb':'partition','action':'list','members':true}" },
	{ "GET", "/ufmRest/resources/pkeys", NULL, 200, "{'verb':'partition','action':'list','members':false}" },
	{ "GET", "/ufmRest/resources/pkeys/last_updated", NULL, 200, "{'verb':'partition','action':'list','members':false}" },
	{ "HEAD", "/ufmRest/app/ufm_version", NULL, 200, NULL },
	{ "GET", "/ufmRest/jobs", NULL, 200, NULL },
	{ "GET", "/ufmRest/jobs?status=Running&object_ids=a,b", NULL, 200, NULL },
	{ "GET", "/v1/user", NULL, 200, NULL },
	{ "GET", "/", NULL, 200, NULL },
};
/* clang-format on */

static json_t *loads(const char *text)
{
	char copy[1024];

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *p = copy; *p != '\0'; p++) {
		*p = *p == '\'' ? '"' : *p;
	}
	json_t *o = json_loads(copy, 0, NULL);
	ck_assert_ptr_nonnull(o);
	return o;
}

START_TEST(test_good)
{
	json_t *want = good[_i].asked != NULL ? loads(good[_i].asked) : NULL;
	char *got;

	ck_assert_uint_eq(ask(good[_i].method, good[_i].target, good[_i].body),
	                  good[_i].status);
	got = f.asked != NULL ? json_dumps(f.asked, 0) : NULL;
	ck_assert_msg(want == NULL ? f.asked == NULL : json_equal(want, f.asked),
	              "asked: %s", got);
	ck_assert_str_eq(f.socket, want != NULL ? "/main.control" : "");
	free(got);
	json_decref(want);
}
END_TEST

/* The same below the name of a fabric, and only there for the second one. */
START_TEST(test_fabrics)
{
	ck_assert_uint_eq(ask("GET", "/main/v1/partitions", NULL), 200);
	ck_assert_str_eq(f.socket, "/main.control");
	ck_assert_uint_eq(ask("GET", "/ib1/ufmRest/resources/pkeys/", NULL), 200);
	ck_assert_str_eq(f.socket, "/ib1.control");
	ck_assert_uint_eq(ask("GET", "/ib2/v1/partitions", NULL), 404);
	ck_assert_uint_eq(ask("GET", "/ib1/ib1/v1/partitions", NULL), 404);
}
END_TEST

/* clang-format off */
static const struct {
	const char *method, *target, *body;
	unsigned status;
	const char *says;
} bad[] = {
	{ "GET", "/v2/partitions", NULL, 404, "there is no '/v2/partitions'" },
	{ "PATCH", "/v1/partitions", NULL, 405, "does not take PATCH" },
	{ "GET", "/v1/partitions?limit=5", NULL, 400, "knows no parameter 'limit'" },
	{ "GET", "/v1/partitions/%zz", NULL, 400, "bad escape" },
	{ "GET", "/v1/partitions/0x8000", NULL, 400, "is no P_Key" },
	{ "GET", "/v1/partitions/0x10001", NULL, 400, "is no P_Key" },
	{ "GET", "/v1/partitions/main", NULL, 400, "is no P_Key" },
	{ "GET", "/v1/wait", NULL, 400, "version must be a number" },
	{ "GET", "/v1/wait?version=1&timeout_ms=99999999", NULL, 400, "timeout_ms must be" },
	{ "DELETE", "/v1/partitions/1", "{}", 413, "takes no request body" },
	{ "POST", "/v1/partitions", "", 400, "needs a member 'p_key'" },
	{ "POST", "/v1/partitions", "{", 400, "not JSON" },
	{ "POST", "/v1/partitions", "[]", 400, "must be a JSON object" },
	{ "POST", "/v1/partitions", "{\"p_key\":1,\"p_key\":2}", 400, "not JSON" },
	{ "POST", "/v1/partitions", "{\"p_key\":1,\"nam\":\"a\"}", 400, "'nam' that does not exist" },
	{ "POST", "/v1/partitions", "{\"p_key\":-1}", 400, "'p_key' must be a P_Key" },
	{ "POST", "/v1/partitions", "{\"p_key\":1,\"name\":\"a\\nb\"}", 400, "'name' must be a text" },
	{ "POST", "/v1/partitions", "{\"p_key\":1,\"name\":\"a\\u0000b\"}", 400, "" },
	{ "POST", "/v1/partitions", "{\"p_key\":1,\"ipoib\":\"yes\"}", 400, "'ipoib' must be true or false" },
	{ "POST", "/v1/partitions/1/members", "{\"members\":\"all\"}", 400, "'members' must be a list" },
	{ "POST", "/v1/partitions/1/members", "{\"members\":[\"0x1\",\"xyz\"]}", 400, "element 1 of 'members'" },
	{ "POST", "/v1/partitions/1/members", "{\"members\":[{\"guid\":\"0x1\",\"membership\":\"half\"}]}", 400, "element 0 of 'members'" },
	{ "POST", "/v1/partitions/1/members", "{\"members\":[{\"guid\":\"0x1\",\"x\":1}]}", 400, "element 0 of 'members'" },
	{ "POST", "/v1/partitions/1/members", "{\"members\":[\"0x0\"]}", 400, "element 0 of 'members'" },
	{ "PUT", "/v1/jobs/a%20b", "{\"hosts\":[\"n1\"]}", 400, "is no job" },
	{ "PUT", "/v1/jobs/a%22", "{\"hosts\":[\"n1\"]}", 400, "is no job" },
	{ "PUT", "/v1/jobs/12345678901234567890123456789012345678901234567890123456789012345", "{}", 400, "is no job" },
	{ "PUT", "/v1/jobs/7", "{\"hosts\":\"n1\"}", 400, "'hosts' must be a list" },
	{ "PUT", "/v1/jobs/7", "{\"hosts\":[1]}", 400, "'hosts' must be a list" },
	{ "PUT", "/v1/jobs/7", "{\"hosts\":[\"\"]}", 400, "'hosts' must be a list" },
	{ "PUT", "/v1/jobs/7", "{\"hosts\":[\"a\\nb\"]}", 400, "'hosts' must be a list" },
	{ "PUT", "/v1/jobs/7", "{\"hosts\":[\"n1\"],\"p_key_first\":1}", 400, "needs both" },
	{ "PUT", "/v1/jobs/7?timeout_ms=99999", "{\"hosts\":[\"n1\"]}", 400, "timeout_ms must be" },
	{ "POST", "/ufmRest/resources/pkeys/hosts", "{\"pkey\":\"0x2\"}", 400, "needs a member 'hosts_names'" },
	{ "POST", "/v1/port/burn", "{\"port\":\"a:1\"}", 404, "disabled or enabled" },
	{ "POST", "/v1/port/enable", "{}", 400, "needs a member 'port'" },
	{ "POST", "/ufmRest/resources/pkeys", "{\"pkey\":\"0x1\",\"guids\":[\"1\"],\"memberships\":[]}", 400, "as long as" },
	{ "POST", "/ufmRest/resources/pkeys", "{\"pkey\":\"0x1\"}", 400, "needs a member 'guids'" },
};
/* clang-format on */

START_TEST(test_bad)
{
	ck_assert_uint_eq(ask(bad[_i].method, bad[_i].target, bad[_i].body),
	                  bad[_i].status);
	ck_assert_msg(strstr(text_of("detail"), bad[_i].says) != NULL, "%s",
	              text_of("detail"));
	ck_assert_ptr_nonnull(strstr(text_of("type"), "urn:saguaro:problem:"));
	ck_assert_ptr_null(f.asked);
}
END_TEST

static struct admin_request request(const char *user, const char *method,
                                    const char *target)
{
	struct admin_request rq = { .method = method,
		                    .target = target,
		                    .content_type = "application/json" };

	f.now_ms += 60000;
	rq.authorization = user != NULL ? admin_fixture_basic(user, ADMIN_SECRET) : NULL;
	return rq;
}

/* Each row, for each role and for nobody: let in exactly by role. Nothing is asked of saguarod
 * for others. */
START_TEST(test_roles)
{
	static const char *const users[] = { NULL, "viewer", "partition-admin",
		                             "operator" };

	for (unsigned i = 0; i < admin_resources.n; i++) {
		const struct resource *r = &admin_resources.row[i];
		for (unsigned role = 0; role < 4; role++) {
			char target[256] = "", *to = target;
			struct admin_request rq;
			unsigned before = f.n_asked, status;

			for (const char *p = r->path; *p != '\0'; p++) {
				bool brace = *p == '{';

				*to++ = brace ? '1' : *p;
				p = brace ? strchr(p, '}') : p;
			}
			rq = request(users[role], r->method, target);
			status = admin_fixture_send(&f, &rq, NULL, NULL).status;
			if (role == 0 && (r->flags & RESOURCE_OPEN) == 0) {
				ck_assert_uint_eq(status, 401);
			} else if (role < r->role) {
				ck_assert_uint_eq(status, 403);
			} else {
				ck_assert_msg(status != 401 && status != 403, "%s %s: %u",
				              r->method, r->path, status);
				continue;
			}
			ck_assert_uint_eq(f.n_asked, before);
		}
	}
}
END_TEST

/* A client without a user does not learn what there is. */
START_TEST(test_nobody)
{
	static const char *const targets[] = { "/v2", "/v1/partitions/x", "/v1/sweep?x",
		                               "/%zz" };

	for (unsigned i = 0; i < 4; i++) {
		struct admin_request rq = request(NULL, "GET", targets[i]);
		unsigned status = admin_fixture_send(&f, &rq, NULL, NULL).status;

		ck_assert_msg(status == 401 || (status == 400 && targets[i][1] == '%'),
		              "%s: %u", targets[i], status);
	}
}
END_TEST

/* A change is never open and never for viewers. */
START_TEST(test_table)
{
	for (unsigned i = 0; i < admin_resources.n; i++) {
		const struct resource *r = &admin_resources.row[i];
		const struct admin_how *how = r->how;
		bool change = (r->flags & RESOURCE_CHANGE) != 0;

		ck_assert_int_eq(change, strcmp(r->method, "GET") != 0);
		ck_assert(!change ||
		          (r->role >= ROLE_PARTITION_ADMIN && how->verb != NULL));
		ck_assert(r->role != ROLE_NONE || strcmp(r->path, "/healthz") == 0);
	}
}
END_TEST

START_TEST(test_heads)
{
	struct admin_request rq = request("operator", "POST", "/v1/sweep");

	rq.origin = "https://evil.example";
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 403);
	rq.origin = NULL;
	rq.content_type = "text/plain";
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, "{}", NULL).status, 415);
	rq.content_type = "application/jsonx";
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, "{}", NULL).status, 415);
	rq.content_type = "application/json";
	rq.body_bytes = ADMIN_BODY_MAX + 1;
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, "{}", NULL).status, 413);
	ck_assert_uint_eq(f.n_asked, 0);
}
END_TEST

/* Pages of an origin that the operator names; a browser asks first, without the user. */
START_TEST(test_pages)
{
	struct admin_request rq = request("operator", "POST", "/v1/sweep");
	struct admin_request first = request(NULL, "OPTIONS", "/v1/sweep");

	f.admin.origins = "https://a.example,https://fabric.example";
	rq.origin = first.origin = "https://fabric.example";
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 202);
	ck_assert_uint_eq(admin_fixture_send(&f, &first, NULL, NULL).status, 204);
	ck_assert_uint_eq(f.n_asked, 1);
	rq.authorization = NULL; /* the origin stands for no user */
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 401);
	first.host = "evil.example";
	ck_assert_uint_eq(admin_fixture_send(&f, &first, NULL, NULL).status, 421);
	first.host = NULL;
	first.origin = "https://fabric.example.evil";
	ck_assert_uint_eq(admin_fixture_send(&f, &first, NULL, NULL).status, 401);
	first.origin = NULL;
	ck_assert_uint_eq(admin_fixture_send(&f, &first, NULL, NULL).status, 401);
	ck_assert_uint_eq(f.n_asked, 1);
}
END_TEST

/* clang-format off */
static const struct { const char *host; unsigned status; } hosts[] = {
	{ "localhost", 202 }, { "localhost:8621", 202 }, { "LOCALHOST", 202 }, { "door.example.", 202 },
	{ "192.0.2.7:443", 202 }, { "[2001:db8::1]:443", 202 }, { "evil.example", 421 }, { "", 421 },
	{ "localhost.evil.example", 421 }, { ":80", 421 }, { "192.0.2.7.evil.example", 421 },
	{ "[::1].evil.example", 421 }, { "[evil.example]", 421 }, { "localhost:x", 421 }, { "b.example", 202 },
};
/* clang-format on */

START_TEST(test_hosts)
{
	struct admin_request rq = request("operator", "POST", "/v1/sweep");

	rq.host = hosts[_i].host;
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status,
	                  hosts[_i].status);
}
END_TEST

START_TEST(test_versions)
{
	struct admin_request rq = request("operator", "DELETE", "/v1/partitions/1");
	struct reply reply;

	rq.if_match = "\"7\"";
	reply = admin_fixture_send(&f, &rq, NULL, NULL);
	ck_assert_uint_eq(reply.status, 200);
	ck_assert_str_eq(reply.etag, "\"7\"");
	ck_assert_int_eq(json_integer_value(json_object_get(f.asked, "if_version")), 7);
	f.reply =
		"{\"ok\": false, \"error\": \"it is 8\", \"code\": \"conflict\", \"version\": 8}";
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 412);
	rq.if_match = "*";
	f.reply = "{\"ok\": true, \"version\": 8}";
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 200);
	ck_assert_ptr_null(json_object_get(f.asked, "if_version"));
	rq.if_match = "7";
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 400);
	rq.if_match = "W/\"7\"";
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 400);
	rq = request("operator", "POST", "/v1/sweep");
	rq.if_match = "\"7\"";
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 400);
	rq = request("viewer", "GET", "/v1/partitions");
	rq.if_none_match = "\"8\"";
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 304);
	rq.if_none_match = "\"7\"";
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 200);
}
END_TEST

/* clang-format off */
static const struct { const char *code; unsigned status; } codes[] = {
	{ "not_found", 404 }, { "exists", 409 }, { "conflict", 409 }, { "full", 422 }, { "invalid", 400 },
	{ "disk", 503 }, { "read_only", 409 }, { "standby", 503 }, { "memory", 503 }, { "busy", 503 },
	{ "of another version of saguarod", 422 },
};
/* clang-format on */

START_TEST(test_codes)
{
	char reply[128];

	snprintf(reply, sizeof(reply),
	         "{\"ok\": false, \"error\": \"why\", \"code\": \"%s\"}", codes[_i].code);
	f.reply = reply;
	ck_assert_uint_eq(ask("DELETE", "/v1/partitions/1", NULL), codes[_i].status);
	ck_assert_str_eq(text_of("detail"), "why");
	ck_assert_str_eq(text_of("code"), codes[_i].code);
}
END_TEST

START_TEST(test_no_saguarod)
{
	f.reply = NULL;
	ck_assert_uint_eq(ask("GET", "/v1/partitions", NULL), 503);
	f.error = E_TIMEOUT;
	ck_assert_uint_eq(ask("GET", "/v1/partitions", NULL), 504);
	f.error = E_MALFORMED;
	ck_assert_uint_eq(ask("GET", "/v1/partitions", NULL), 503);
}
END_TEST

START_TEST(test_rate)
{
	struct admin_request rq = request("viewer", "GET", "/v1/user");
	struct reply reply = { .status = 200 };

	for (int i = 0; i < 20; i++) {
		ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 200);
	}
	reply = admin_fixture_send(&f, &rq, NULL, NULL);
	ck_assert_uint_eq(reply.status, 429);
	ck_assert_uint_gt(reply.retry_after, 0);
	rq.authorization = admin_fixture_basic("operator", ADMIN_SECRET);
	ck_assert_uint_eq(admin_fixture_send(&f, &rq, NULL, NULL).status, 200);
}
END_TEST

/* ---- what clients of the other interface read ---- */

static const char listing[] =
	"{\"ok\": true, \"version\": 3, \"last_updated\": \"2020-09-03T11:42:38Z\", \"partitions\": [{\"pkey\": \"0x0005\", \"name\": \"five\", \"ipoib\": true, \"index0\": true, \"members\": [{\"guid\": \"0x020000000000003E\", \"membership\": \"full\", \"source\": \"runtime\"},{\"who\": \"ALL\", \"membership\": \"limited\", \"source\": \"file\"},{\"first\": \"0x0000000000000010\", \"last\": \"0x0000000000000011\", \"membership\": \"both\"}]},{\"pkey\": \"0x7fff\", \"name\": \"Default\", \"ipoib\": true, \"members\": []}]}";

START_TEST(test_listing)
{
	json_t *want = loads(
		"{'0x5': {'partition': 'five', 'ip_over_ib': true, 'guids': [{'guid': '020000000000003e', 'membership': 'full', 'index0': true},{'guid': '0000000000000010', 'membership': 'both', 'index0': true},{'guid': '0000000000000011', 'membership': 'both', 'index0': true}]},'0x7fff': {'partition': 'Default', 'ip_over_ib': true, 'guids': []}}");

	f.reply = listing;
	ck_assert_uint_eq(ask("GET", "/ufmRest/resources/pkeys/?guids_data=true", NULL),
	                  200);
	ck_assert(json_equal(body, want));
	json_decref(want);
	want = loads("['0x5', '0x7fff']");
	ck_assert_uint_eq(ask("GET", "/ufmRest/resources/pkeys", NULL), 200);
	ck_assert(json_equal(body, want));
	json_decref(want);
	ck_assert_uint_eq(ask("GET", "/ufmRest/resources/pkeys/last_updated", NULL), 200);
	/* a second later than the change: see ufm.c */
	ck_assert_str_eq(text_of("last_updated"), "Thu Sep 3 11:42:39 UTC 2020");
	f.reply =
		"{\"ok\": true, \"version\": 0, \"last_updated\": null, \"partitions\": []}";
	ck_assert_uint_eq(ask("GET", "/ufmRest/resources/pkeys/last_updated", NULL), 200);
	ck_assert(json_is_null(json_object_get(body, "last_updated")));
}
END_TEST

START_TEST(test_show)
{
	f.reply =
		"{\"ok\": true, \"version\": 3, \"partition\": {\"pkey\": \"0x0005\", \"name\": \"five\", \"ipoib\": false, \"members\": [{\"guid\": \"0x1\", \"membership\": \"limited\"}]}}";
	ck_assert_uint_eq(
		ask("GET", "/ufmRest/resources/pkeys/0x0005?guids_data=true", NULL), 200);
	ck_assert_str_eq(text_of("partition"), "five");
	ck_assert_uint_eq(json_array_size(json_object_get(body, "guids")), 1);
	ck_assert_uint_eq(ask("GET", "/v1/partitions/0x5", NULL), 200);
	ck_assert_int_eq(json_integer_value(json_object_get(
				 json_object_get(body, "partition"), "p_key")),
	                 5);
	f.reply =
		"{\"ok\": false, \"error\": \"there is none\", \"code\": \"not_found\"}";
	ck_assert_uint_eq(ask("GET", "/ufmRest/resources/pkeys/0x0005", NULL), 404);
	/* Members that are gone need not be removed: 200, or the plug-in tries for ever. */
	ck_assert_uint_eq(ask("POST", "/ufmRest/actions/remove_guids_from_pkey",
	                      "{\"pkey\":\"0x5\",\"guids\":[\"0200000000000001\"]}"),
	                  200);
	ck_assert_uint_eq(ask("DELETE", "/ufmRest/resources/pkeys/0x0005", NULL), 404);
	/* No change goes on once it is answered. */
	ck_assert_uint_eq(ask("GET", "/ufmRest/jobs", NULL), 200);
	ck_assert(json_is_array(body) && json_array_size(body) == 0);
}
END_TEST

/* Two requests for one: the change, and then the wait for its ports. */
START_TEST(test_job)
{
	f.reply =
		"{\"ok\": true, \"changed\": true, \"version\": 9, \"pkey\": \"0x1001\", \"present\": [\"0x1\", \"0x2\"], \"absent\": [], \"programmed\": true, \"ports\": []}";
	ck_assert_uint_eq(
		ask("PUT", "/v1/jobs/7?timeout_ms=100",
	            "{\"hosts\":[\"n1\"],\"p_key_first\":4096,\"p_key_last\":\"0x1fff\"}"),
		200);
	ck_assert_uint_eq(f.n_asked, 2);
	json_t *want = loads(
		"{'verb':'partition','action':'wait','version':9,'pkey':'0x1001','timeout_ms':100}");
	ck_assert(json_equal(f.asked, want));
	json_decref(want);
	want = loads(
		"{'id':'7','changed':true,'version':9,'p_key':4097,'member_count':2,'programmed':true,'ports':[]}");
	ck_assert(json_equal(body, want));
	json_decref(want);
	f.reply =
		"{\"ok\": false, \"error\": \"host 'n1' is not in the fabric\", \"code\": \"no_host\"}";
	ck_assert_uint_eq(ask("PUT", "/v1/jobs/7", "{\"hosts\":[\"n1\"]}"), 422);
	ck_assert_str_eq(text_of("code"), "no_host");
	f.reply = "{\"ok\": false, \"error\": \"none\", \"code\": \"not_found\"}";
	ck_assert_uint_eq(ask("DELETE", "/v1/jobs/7", NULL), 200);
	ck_assert(json_is_false(json_object_get(body, "changed")));
	f.reply =
		"{\"ok\": true, \"version\": 9, \"partitions\": [{\"pkey\": \"0x1001\", \"name\": \"job-7\", \"member_count\": 2}, {\"pkey\": \"0x5\", \"name\": \"jobs\"}]}";
	ck_assert_uint_eq(ask("GET", "/v1/jobs", NULL), 200);
	const json_t *list = json_object_get(body, "jobs");
	ck_assert_uint_eq(json_array_size(list), 1);
	ck_assert_str_eq(
		json_string_value(json_object_get(json_array_get(list, 0), "id")), "7");
}
END_TEST

/* ---- audit, document ---- */

START_TEST(test_audit)
{
	char line[2048];
	FILE *file;
	json_t *o;

	ck_assert_uint_eq(ask("GET", "/v1/partitions", NULL), 200);
	ck_assert_uint_eq(ask("POST", "/v1/partitions", "{\"p_key\": 1}"), 201);
	f.reply = "{\"ok\": false, \"error\": \"why\"}";
	ck_assert_uint_eq(ask("POST", "/v1/partitions", "{\"p_key\": 2}"), 422);
	file = fopen(f.audit, "r");
	for (unsigned i = 0; i < 4; i++) {
		static const char *const what[] = { "asked", "done", "asked", "failed" };

		ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
		o = json_loads(line, 0, NULL);
		ck_assert_str_eq(json_string_value(json_object_get(o, "what")), what[i]);
		ck_assert_str_eq(json_string_value(json_object_get(o, "user")),
		                 "operator");
		ck_assert_str_eq(json_string_value(json_object_get(o, "from")),
		                 "192.0.2.1");
		json_decref(o);
	}
	ck_assert_ptr_null(fgets(line, sizeof(line), file));
	fclose(file);
}
END_TEST

/* /dev/full takes no byte: no change without its line. */
START_TEST(test_audit_full)
{
	struct audit *good_one = f.admin.audit;

	ck_assert_int_eq(audit_new("/dev/full", &f.admin.audit), E_OK);
	ck_assert_uint_eq(ask("POST", "/v1/sweep", NULL), 503);
	ck_assert_ptr_null(f.asked);
	ck_assert_uint_eq(ask("GET", "/v1/partitions", NULL), 200);
	audit_free(f.admin.audit);
	f.admin.audit = good_one;
}
END_TEST

START_TEST(test_document)
{
	unsigned n = 0;
	const json_t *paths, *operations;
	const char *path;

	ck_assert_uint_eq(ask("GET", "/openapi.json", NULL), 200);
	ck_assert_str_eq(text_of("openapi"), "3.1.0");
	paths = json_object_get(body, "paths");
	json_object_foreach((json_t *)paths, path, operations)
	{
		n += (unsigned)json_object_size(operations);
	}
	for (unsigned i = 0; i < admin_resources.n; i++) {
		const struct resource *r = &admin_resources.row[i];
		const json_t *operation;
		char method[16] = "";

		n--;
		for (unsigned k = 0; r->method[k] != '\0'; k++) {
			method[k] = (char)(r->method[k] - 'A' + 'a');
		}
		operation = json_object_get(json_object_get(paths, r->path), method);
		ck_assert_ptr_nonnull(operation);
		/* open ones need no user, which an empty list says; all others name a role */
		bool open = (r->flags & RESOURCE_OPEN) != 0;
		const json_t *security = json_object_get(operation, "security");
		const char *role = json_string_value(json_object_get(operation, "x-role"));
		ck_assert_int_eq(security != NULL, open);
		ck_assert_uint_eq(json_array_size(security), 0);
		ck_assert_str_eq(role != NULL ? role : "", open ? "" : role_name(r->role));
	}
	ck_assert_uint_eq(n, 0);
}
END_TEST

TEST_SUITE(admin)
{
	TCase *t = tcase_create("admin");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_good, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_test(t, test_fabrics);
	tcase_add_loop_test(t, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(t, test_roles);
	tcase_add_test(t, test_nobody);
	tcase_add_test(t, test_table);
	tcase_add_test(t, test_heads);
	tcase_add_test(t, test_pages);
	tcase_add_loop_test(t, test_hosts, 0, sizeof(hosts) / sizeof(hosts[0]));
	tcase_add_test(t, test_versions);
	tcase_add_loop_test(t, test_codes, 0, sizeof(codes) / sizeof(codes[0]));
	tcase_add_test(t, test_no_saguarod);
	tcase_add_test(t, test_rate);
	tcase_add_test(t, test_listing);
	tcase_add_test(t, test_job);
	tcase_add_test(t, test_show);
	tcase_add_test(t, test_audit);
	tcase_add_test(t, test_audit_full);
	tcase_add_test(t, test_document);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Expectations: RFC 9110 sections 13.1.2 (If-None-Match) and 9.3.2 (HEAD); Prometheus,
 * "Exposition formats", text format, for series. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "tests/lib/suite.h"

static const struct {
	const char *method, *target;
	int ret;
	const char *path, *capture;
} matches[] = {
	{ "GET", "/paths", E_OK, "/paths", NULL },
	{ "HEAD", "/paths", E_OK, "/paths", NULL },
	{ "GET", "/", E_OK, "/", NULL },
	{ "GET", "/v1", E_OK, "/v1", NULL },
	{ "GET", "/v1/nodes", E_OK, "/v1/nodes", NULL },
	{ "GET", "/v1/nodes/0x1", E_OK, "/v1/nodes/{node}", "0x1" },
	{ "GET", "/v1/nodes/a%2Fb", E_OK, "/v1/nodes/{node}", "a/b" },
	{ "GET", "/v1/switches/0x2/lft", E_OK, "/v1/switches/{node}/lft", "0x2" },
	{ "GET", "/v%31/lids", E_OK, "/v1/lids", NULL },
	{ "POST", "/paths", E_HTTP_METHOD, "/paths", NULL },
	{ "get", "/paths", E_HTTP_METHOD, "/paths", NULL },
	{ "DELETE", "/v1/nodes/0x1", E_HTTP_METHOD, "/v1/nodes/{node}", "0x1" },
	{ "GET", "/path", E_HTTP_ENDPOINT, NULL, NULL },
	{ "GET", "/paths/", E_HTTP_ENDPOINT, NULL, NULL },
	{ "GET", "/v1/nodes/", E_HTTP_ENDPOINT, NULL, NULL },
	{ "GET", "/v1/nodes/0x1/2", E_HTTP_ENDPOINT, NULL, NULL },
	{ "GET", "/v1/switches/0x2", E_HTTP_ENDPOINT, NULL, NULL },
	{ "GET", "/v1/switches//lft", E_HTTP_ENDPOINT, NULL, NULL },
	{ "GET", "/V1/nodes", E_HTTP_ENDPOINT, NULL, NULL },
	{ "GET", "//", E_HTTP_ENDPOINT, NULL, NULL },
};

START_TEST(test_match)
{
	struct arena *a = arena_new();
	struct problem p = { .ret = 0 };
	struct uri u;
	const struct resource *row = NULL;
	const char *capture[RESOURCE_CAPTURES] = { NULL };

	ck_assert_int_eq(uri_parse(matches[_i].target, a, &u, &p), E_OK);
	ck_assert_int_eq(resource_match(&api_resources, matches[_i].method, &u, &row, capture),
	                 matches[_i].ret);
	ck_assert_pstr_eq(row != NULL ? row->path : NULL, matches[_i].path);
	ck_assert_pstr_eq(capture[0], matches[_i].capture);
	arena_free(a);
}
END_TEST

START_TEST(test_rows_reach_themselves)
{
	const struct resource *want = &api_resources.row[_i], *row = NULL;
	struct arena *a = arena_new();
	struct problem p = { .ret = 0 };
	struct uri u;
	const char *capture[RESOURCE_CAPTURES];

	ck_assert_int_eq(uri_parse(want->path, a, &u, &p), E_OK);
	ck_assert_int_eq(resource_match(&api_resources, want->method, &u, &row, capture), E_OK);
	ck_assert_ptr_eq(row, want);
	arena_free(a);
}
END_TEST

START_TEST(test_version)
{
	struct snap_meta m = {
		.version = { [SNAP_NODES] = 3, [SNAP_LINKS] = 8, [SNAP_LOAD] = 9 }
	};

	ck_assert_uint_eq(snap_version(&m, TABLE_NODES), 3);
	ck_assert_uint_eq(snap_version(&m, TABLE_NODES | TABLE_LINKS), 8);
	ck_assert_uint_eq(snap_version(&m, TABLE_PORTS), 0);
	ck_assert_uint_eq(snap_version(&m, TABLE_META | TABLE_LOAD), 9);
	m.version[SNAP_META] = 12;
	ck_assert_uint_eq(snap_version(&m, TABLE_META | TABLE_LOAD), 12);
	m.version[SNAP_GROUPS] = 13; /* a mirror leaves the rest as it is */
	ck_assert_uint_eq(snap_version(&m, TABLE_META | TABLE_LOAD), 12);
	ck_assert_uint_eq(snap_version(&m, TABLE_CLIENT_RECORDS), 13);
	ck_assert_uint_eq(snap_version(&m, TABLE_MEMBERS | TABLE_META), 12);
}
END_TEST

static const struct {
	const char *series;
	size_t name;
} series[] = {
	{ "a", 1 },
	{ "mad_sent_total{class=\"smp\"}", 14 },
	{ "x{a=\"1\",b=\"2\"}", 1 },
	{ "x{a=\"\"}", 1 },
	{ "x{a=\"q\\\"b\\\\s\\n\"}", 1 },
	{ "x:y_1", 5 },
	{ "x{a=\"}\"}", 1 },
	{ "", 0 },
	{ "1x", 0 },
	{ "x y", 0 },
	{ "x{}", 0 },
	{ "x{a=1}", 0 },
	{ "x{a=\"1\"", 0 },
	{ "x{a=\"1\"} ", 0 },
	{ "x{a=\"1\nb\"}", 0 },
	{ "x{a=\"\\t\"}", 0 },
	{ "x{a=\"1\\", 0 },
	{ "x{1=\"1\"}", 0 },
	{ "x{a:b=\"1\"}", 0 },
	{ "x{a=\"1\",}", 0 },
};

START_TEST(test_series)
{
	ck_assert_uint_eq(metrics_series_name(series[_i].series), series[_i].name);
}
END_TEST

/* Any target gets an answer with a status and, errors at least, a JSON body; without a
 * daemon nothing of the fabric is ever answered with 200. */
static void ask(struct api_thread *t, const char *method, const char *target)
{
	struct api_request rq = { .method = method, .target = target };
	struct api_reply reply;
	json_error_t why;

	api_serve(t, &rq, &reply);
	ck_assert_uint_ge(reply.base.status, 200);
	ck_assert_uint_lt(reply.base.status, 600);
	ck_assert_ptr_nonnull(reply.base.body.data);
	ck_assert_uint_ne(reply.base.status, 500);
	if (reply.base.status != 200) {
		json_t *o = json_loads(reply.base.body.data, 0, &why);
		ck_assert_msg(o != NULL, "%s: %s", target, why.text);
		ck_assert_str_eq(reply.base.content_type, "application/problem+json");
		ck_assert_int_eq(json_integer_value(json_object_get(o, "status")),
		                 reply.base.status);
		json_decref(o);
	} else {
		const struct api_how *how = api_resources.row[reply.route].how;
		ck_assert_uint_eq(how->tables, 0);
	}
	body_clear(&reply.base.body);
}

START_TEST(test_random)
{
	static const char *const pieces[] = { "/",
		                              "paths",
		                              "v1",
		                              "nodes",
		                              "switches",
		                              "lft",
		                              "?",
		                              "&",
		                              "=",
		                              "src",
		                              "dst",
		                              "mode",
		                              "limit",
		                              "cursor",
		                              "%",
		                              "%4",
		                              "%41",
		                              "%ff",
		                              "0x",
		                              "1",
		                              "metrics",
		                              "readyz",
		                              "{node}",
		                              "\xff",
		                              "+",
		                              "healthz",
		                              "''",
		                              "\\",
		                              "..",
		                              "numb_path",
		                              "99999999999999999999",
		                              "" };
	enum { N = sizeof(pieces) / sizeof(pieces[0]) };
	struct http_stats *stats = calloc(1, sizeof(*stats));
	struct api_thread t = { .source = source_new("/nonexistent/saguaro"),
		                .stats = stats };
	unsigned seed = test_seed();

	for (unsigned round = 0; round < 5000; round++) {
		char target[256] = "/";
		unsigned n = (unsigned)rand_r(&seed) % 12;
		for (unsigned i = 0; i < n; i++) {
			strcat(target, pieces[(unsigned)rand_r(&seed) % N]);
		}
		ask(&t, rand_r(&seed) % 16 != 0 ? "GET" : "BREW", target);
	}
	uint64_t counted = 0;
	for (unsigned r = 0; r <= api_resources.n; r++) {
		for (unsigned i = 0; i < HTTP_CODES_MAX; i++) {
			counted += stats->requests[r][i];
		}
	}
	ck_assert_uint_eq(counted, 5000);
	api_thread_done(&t);
	source_free(t.source);
	free(stats);
}
END_TEST

#define LOOP(t, test, list)                                                              \
	tcase_add_loop_test(t, test, 0, sizeof(list) / sizeof((list)[0]))

TEST_SUITE(api)
{
	TCase *t = tcase_create("api");
	LOOP(t, test_match, matches);
	tcase_add_loop_test(t, test_rows_reach_themselves, 0, (int)api_resources.n);
	tcase_add_test(t, test_version);
	LOOP(t, test_series, series);
	tcase_add_test(t, test_random);
	tcase_set_timeout(t, 60);
	suite_add_tcase(suite, t);
}

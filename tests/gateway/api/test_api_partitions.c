/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/partitions over the small fabric. */
#include <check.h>

#include "conf/policy/partitions.h"
#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "sa/mad/fields.h"
#include "tests/lib/api_json.h"
#include "tests/lib/client_rows.h"
#include "tests/lib/suite.h"

static struct query_fixture *w;
static struct http_stats stats;
static struct api_thread thread;

static const char text[] =
	"Named=0x7000:\"node77\"=both,0x102=full,0x77=full,0x78-0x79=full;"
	"Red=0x10,ipoib,indx0:ALL_CAS=full,0x5-0x9;Blue=0x20:SELF=both;"
	"job-7=0x30:0x102,0x202=full,0x203=full,0x402=full,0x77=full;";

static void start(void)
{
	static const uint32_t ports[5][2] = { { 1, 2 }, { 0, 1 }, { 3, 1 }, { 1, 0 }, { 3, 4 } };
	uint8_t *block;

	w = query_fixture_small(0, 0, PATH_MINIMAL);
	ck_assert_int_eq(partitions_parse("p", text, sizeof(text) - 1, w->a, NULL,
	                                  &w->content.partitions),
	                 E_OK);
	w->content.partition_ports = ports;
	block = query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, HOST, 1 << 16, 64);
	field_set(block, 0, 16, 0x8010);
	field_set(block, 16, 16, 0x0010);
	block = query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, LEFT, 1 << 16, 64);
	field_set(block, 16, 16, 0x0010);
	field_set(query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, TWIN_1, 1 << 16, 64), 0,
	          16, 0x0020);
	field_set(query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, TWIN_2, 1 << 16, 64), 0,
	          16, 0x0020);
	query_fixture_publish(w, PATH_MINIMAL);
	thread = (struct api_thread){ .source = source_new(w->dir), .stats = &stats };
}

static void stop(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
	query_fixture_free(w);
}

static json_t *of(const json_t *o, const char *list, size_t i, const char *key)
{
	return json_object_get(json_array_get(json_object_get(o, list), i), key);
}

START_TEST(list)
{
	json_t *body = api_json(&thread, 200, "/v1/partitions");

	ck_assert_uint_eq(json_array_size(json_object_get(body, "partitions")), 5);
	ck_assert_int_eq(json_integer_value(of(body, "partitions", 0, "p_key")), 16);
	ck_assert_str_eq(json_string_value(of(body, "partitions", 0, "name")), "Red");
	ck_assert(json_is_true(of(body, "partitions", 0, "indx0")));
	ck_assert_int_eq(json_integer_value(of(body, "partitions", 0, "full_members")),
	                 2);
	ck_assert_int_eq(json_integer_value(of(body, "partitions", 0, "limited_members")),
	                 1);
	ck_assert_int_eq(json_integer_value(of(body, "partitions", 4, "p_key")), 0x7fff);
	ck_assert_int_eq(json_integer_value(of(body, "partitions", 3, "absent_count")), 2);
	ck_assert_int_eq(json_integer_value(of(body, "partitions", 4, "absent_count")), 0);
	json_decref(body);
	body = api_json(&thread, 200, "/v1/partitions?limit=2");
	ck_assert_uint_eq(json_array_size(json_object_get(body, "partitions")), 2);
	ck_assert_ptr_nonnull(json_object_get(body, "next_cursor"));
	json_decref(body);
}
END_TEST

/* Members that are not in the fabric: a GUID, and a name that means no port. */
START_TEST(absent)
{
	json_t *body = api_json(&thread, 200, "/v1/partitions/0x7000");

	ck_assert_int_eq(json_integer_value(json_object_get(body, "absent_count")), 2);
	ck_assert_str_eq(json_string_value(of(body, "members", 0, "who")), "host");
	ck_assert_str_eq(json_string_value(of(body, "members", 0, "host")), "node77");
	ck_assert_int_eq(json_integer_value(of(body, "members", 0, "port_count")), 0);
	ck_assert(json_is_true(of(body, "members", 1, "present")));
	ck_assert(json_is_false(of(body, "members", 2, "present")));
	ck_assert_ptr_null(of(body, "members", 3, "present"));
	json_decref(body);
}
END_TEST

/* By P_Key of either membership, and by name. */
START_TEST(one)
{
	static const char *const targets[] = { "/v1/partitions/0x10",
		                               "/v1/partitions/0x8010",
		                               "/v1/partitions/16",
		                               "/v1/partitions/Red" };
	json_t *body = api_json(&thread, 200, "%s", targets[_i]);

	ck_assert_str_eq(json_string_value(json_object_get(body, "name")), "Red");
	ck_assert_str_eq(json_string_value(of(body, "members", 0, "who")), "ALL_CAS");
	ck_assert_str_eq(json_string_value(of(body, "members", 0, "membership")), "full");
	ck_assert_str_eq(json_string_value(of(body, "members", 1, "last")),
	                 "0x0000000000000009");
	ck_assert_str_eq(json_string_value(of(body, "groups", 0, "mgid")),
	                 "ff12:401b:8010::ffff:ffff");
	ck_assert_uint_eq(json_array_size(json_object_get(body, "ports")), 2);
	for (size_t i = 0; i < 2; i++) {
		bool both = strcmp(json_string_value(of(body, "ports", i, "membership")),
		                   "both") == 0;

		ck_assert_int_eq(json_integer_value(of(body, "ports", i, "port")), 1);
		ck_assert(both ||
		          strcmp(json_string_value(of(body, "ports", i, "membership")),
		                 "limited") == 0);
	}
	json_decref(body);
}
END_TEST

START_TEST(none)
{
	json_decref(api_json(&thread, 404, "/v1/partitions/0x11"));
	json_decref(api_json(&thread, 404, "/v1/partitions/red"));
}
END_TEST

/* Two limited members of one partition do not reach each other, and are told why. */
START_TEST(limited_members)
{
	json_t *body = api_json(&thread, 422, "/v1/paths?src=0x%x&dst=0x%x", TWIN_1 + 1,
	                        TWIN_2 + 1);

	ck_assert_str_eq(json_string_value(json_object_get(body, "reason")),
	                 "limited-members");
	ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(body, "detail")),
	                             "only limited members of partition 0x0020"));
	json_decref(body);
	body = api_json(&thread, 422, "/v1/paths?src=0x%x&dst=0x%x", TWIN_1 + 1,
	                HOST + 1);
	ck_assert_str_eq(json_string_value(json_object_get(body, "reason")),
	                 "no-common-partition");
	json_decref(body);
}
END_TEST

static double number(const json_t *o, const char *name)
{
	return json_number_value(json_object_get(o, name));
}

/* A job on both sides of the chain A - C - B: two ports on each. */
START_TEST(jobs)
{
	json_t *body = api_json(&thread, 200, "/v1/jobs");
	const json_t *paths;

	ck_assert_uint_eq(json_array_size(json_object_get(body, "jobs")), 1);
	ck_assert_str_eq(json_string_value(of(body, "jobs", 0, "id")), "7");
	ck_assert_int_eq(json_integer_value(of(body, "jobs", 0, "p_key")), 0x30);
	json_decref(body);
	body = api_json(&thread, 200, "/v1/jobs/7");
	ck_assert_double_eq(number(body, "host_count"), 3);
	ck_assert_double_eq(number(body, "port_count"), 4);
	ck_assert_double_eq(number(body, "absent_count"), 1);
	ck_assert_str_eq(json_string_value(json_array_get(
				 json_object_get(body, "absent"), 0)),
	                 "0x0000000000000077");
	paths = json_object_get(body, "paths");
	ck_assert_double_eq(number(paths, "pairs"), 12);
	ck_assert_double_eq(number(paths, "unreachable"), 0);
	ck_assert_double_eq(number(paths, "hops_min"), 1);
	ck_assert_double_eq(number(paths, "hops_max"), 3);
	ck_assert_double_eq_tol(number(paths, "hops_mean"), 28.0 / 12, 1e-9);
	ck_assert_double_eq(number(paths, "links"), 4);
	ck_assert_double_eq(number(paths, "job_routes_max"), 4);
	ck_assert_double_eq(number(paths, "job_routes_mean"), 4);
	ck_assert_uint_eq(json_array_size(json_object_get(paths, "lanes")), 1);
	ck_assert_uint_ge(json_array_size(json_object_get(body, "links")), 4);
	ck_assert_str_eq(json_string_value(of(body, "hosts", 0, "name")), "dual");
	ck_assert_uint_eq(json_array_size(of(body, "hosts", 0, "ports")), 2);
	json_decref(body);
	body = api_json(&thread, 200, "/v1/jobs/7?limit=1");
	ck_assert_uint_eq(json_array_size(json_object_get(body, "hosts")), 1);
	ck_assert_ptr_nonnull(json_object_get(body, "next_cursor"));
	json_decref(body);
	json_decref(api_json(&thread, 404, "/v1/jobs/8"));
	json_decref(api_json(&thread, 404, "/v1/jobs/Red"));
}
END_TEST

TEST_SUITE(api_partitions)
{
	TCase *t = tcase_create("partitions");

	tcase_add_checked_fixture(t, start, stop);
	tcase_add_test(t, list);
	tcase_add_test(t, absent);
	tcase_add_test(t, jobs);
	tcase_add_loop_test(t, one, 0, 4);
	tcase_add_test(t, none);
	tcase_add_test(t, limited_members);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/groups over the small fabric: what was mirrored, and what the multicast tables say.
 */
#include <check.h>

#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "tests/lib/api_json.h"
#include "tests/lib/client_rows.h"
#include "tests/lib/suite.h"

static struct query_fixture *w;
static struct http_stats stats;
static struct api_thread thread;

/* A switch's multicast table: MLID 0xc001 leaves by these ports. */
static void mft(uint64_t sw, unsigned position, unsigned mask)
{
	uint8_t *block =
		query_fixture_attr(w, UMAD_SM_ATTR_MCAST_FT, sw, position << 28, 64);

	block[2] = (uint8_t)(mask >> 8);
	block[3] = (uint8_t)mask;
}

static void start(void)
{
	w = query_fixture_small(0, 0, PATH_MINIMAL);
	mft(SW_A, 0, 0x16); /* ports 1, 2, 4 */
	mft(SW_B, 0, 0x12);
	mft(SW_C, 0, 0x06);
	query_fixture_publish(w, PATH_MINIMAL);
	query_fixture_written(w);
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
	json_t *body = api_json(&thread, 200, "/v1/groups");

	ck_assert_uint_eq(json_array_size(json_object_get(body, "groups")),
	                  WRITTEN_GROUPS);
	ck_assert_str_eq(json_string_value(of(body, "groups", 0, "mgid")),
	                 "ff12:401b:ffff::ffff:ffff");
	ck_assert(json_is_true(of(body, "groups", 0, "well_known")));
	ck_assert_int_eq(json_integer_value(of(body, "groups", 0, "member_count")), 0);
	ck_assert_str_eq(json_string_value(of(body, "groups", 1, "mgid")),
	                 "ff18:a01b::1");
	ck_assert_int_eq(json_integer_value(of(body, "groups", 1, "mlid")), 0xc001);
	ck_assert_int_eq(json_integer_value(of(body, "groups", 1, "p_key")), 0xffff);
	ck_assert_int_eq(json_integer_value(of(body, "groups", 1, "mtu_bytes")), 2048);
	ck_assert(json_number_value(of(body, "groups", 1, "rate_gbps")) == 10);
	ck_assert_int_eq(json_integer_value(of(body, "groups", 1, "member_count")), 3);
	json_decref(body);
}
END_TEST

/* clang-format off */
static const char *const names[] = { "ff18:a01b::1", "0xc001", "49153", "ff18:a01b:0:0:0:0:0:1" };

static const struct {
	const char *description;
	int join_state;
	bool receives;
} members[] = { { "host", 1, true }, { "twin", 4, false }, { "twin", 1, true } };

static const struct {
	const char *description;
	int port[4]; /* 0: no more */
} tree[] = { { "sw-a", { 1, 2, 4 } }, { "sw-b", { 1, 4 } }, { "sw-c", { 1, 2 } } };
/* clang-format on */

START_TEST(one)
{
	json_t *body = api_json(&thread, 200, "/v1/groups/%s", names[_i]);

	ck_assert_str_eq(json_string_value(json_object_get(body, "mgid")),
	                 "ff18:a01b::1");
	ck_assert_uint_eq(json_array_size(json_object_get(body, "members")), 3);
	ck_assert_uint_eq(json_array_size(json_object_get(body, "tree")), 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_str_eq(json_string_value(of(body, "members", i, "description")),
		                 members[i].description);
		ck_assert_int_eq(json_integer_value(of(body, "members", i, "join_state")),
		                 members[i].join_state);
		ck_assert_int_eq(json_is_true(of(body, "members", i, "receives")),
		                 members[i].receives);
		ck_assert_str_eq(json_string_value(of(body, "tree", i, "description")),
		                 tree[i].description);
		const json_t *ports = of(body, "tree", i, "ports");
		size_t n = 0;
		for (; tree[i].port[n]; n++) {
			ck_assert_int_eq(json_integer_value(json_array_get(ports, n)),
			                 tree[i].port[n]);
		}
		ck_assert_uint_eq(json_array_size(ports), n);
	}
	ck_assert_str_eq(json_string_value(of(body, "members", 0, "port_guid")),
	                 "0x0000000000000102");
	ck_assert_str_eq(json_string_value(of(body, "members", 0, "port_gid")),
	                 "fec0:0:0:7::102");
	ck_assert_int_eq(json_integer_value(of(body, "members", 0, "lid")),
	                 query_fixture_end(w, HOST + 1).base_lid);
	json_decref(body);
}
END_TEST

/* Pages of one are together the whole. */
static void pages(const char *target, const char *what)
{
	json_t *whole = api_json(&thread, 200, "%s", target), *all = json_array();
	char cursor[200] = "";

	do {
		json_t *page = api_json(&thread, 200, "%s?limit=1%s%s", target,
		                        cursor[0] ? "&cursor=" : "", cursor);
		const char *next =
			json_string_value(json_object_get(page, "next_cursor"));
		ck_assert_uint_eq(json_array_size(json_object_get(page, what)), 1);
		json_array_extend(all, json_object_get(page, what));
		snprintf(cursor, sizeof(cursor), "%s", next ? next : "");
		json_decref(page);
	} while (cursor[0]);
	ck_assert(json_equal(all, json_object_get(whole, what)));
	json_decref(all);
	json_decref(whole);
}

START_TEST(in_pages)
{
	pages("/v1/groups", "groups");
	pages("/v1/groups/ff18:a01b::1", "members");
}
END_TEST

START_TEST(problems)
{
	json_decref(api_json(&thread, 404, "/v1/groups/ff18:a01b::2"));
	json_decref(api_json(&thread, 404, "/v1/groups/0xc002"));
	json_decref(api_json(&thread, 400, "/v1/groups/group"));
	json_decref(api_json(&thread, 400, "/v1/groups?cursor=5"));
	json_decref(api_json(&thread, 400, "/v1/groups?mlid=5"));
	json_decref(api_json(&thread, 410, "/v1/groups?cursor=99-0-0-0-ff"));
}
END_TEST

/* A member whose port went a moment ago is still one, without a name. */
START_TEST(port_gone)
{
	uint32_t lid = query_fixture_end(w, HOST + 1).base_lid, port = w->lids.owner[lid];

	w->lids.of[port].base = 0;
	w->lids.owner[lid] = GRAPH_NONE;
	w->lids.count--;
	query_fixture_publish(w, PATH_MINIMAL);
	json_t *body = api_json(&thread, 200, "/v1/groups/0xc001");
	ck_assert_uint_eq(json_array_size(json_object_get(body, "members")), 3);
	ck_assert_str_eq(json_string_value(of(body, "members", 0, "description")), "");
	ck_assert_int_eq(json_integer_value(of(body, "members", 0, "lid")), 0);
	json_decref(body);
}
END_TEST

TEST_SUITE(api_groups)
{
	TCase *tc = tcase_create("small fabric");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_add_test(tc, list);
	tcase_add_loop_test(tc, one, 0, (int)(sizeof(names) / sizeof(names[0])));
	tcase_add_test(tc, in_pages);
	tcase_add_test(tc, problems);
	tcase_add_test(tc, port_gone);
	suite_add_tcase(suite, tc);
}

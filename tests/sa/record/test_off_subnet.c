/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* GIDs of a path: alias GUIDs, prefixes, other subnets; and life times by hops. */
#include "conf/policy/prefix_routes.h"
#include "tests/lib/answer_util.h"
#include "tests/lib/suite.h"

enum { ROUTER = 0x701, ROUTER_2 = 0x801, ALIAS = 0xa11a5 };

#define FOREIGN UINT64_C(0xfec0000000000099)
#define LINK_LOCAL UINT64_C(0xfe80000000000000)

/* A switch with two hosts and two routers. */
static void start_routers(void)
{
	w = query_fixture_new();
	uint32_t sw = query_fixture_add(w, NODE_SWITCH, SW_A, 8, "sw-a");
	uint32_t node[] = { query_fixture_add(w, NODE_CA, HOST, 1, "host"),
		            query_fixture_add(w, NODE_CA, TWIN_1, 1, "twin"),
		            query_fixture_add(w, NODE_ROUTER, ROUTER, 1, "router"),
		            query_fixture_add(w, NODE_ROUTER, ROUTER_2, 1, "router 2") };
	for (unsigned i = 0; i < 4; i++) {
		query_fixture_cable(w, sw, i + 1, node[i], 1, WIDTH_4X, SPEED_EDR, 4);
	}
	query_fixture_start(w, 0, 0, PATH_MINIMAL);
	/* the second GUID of HOST's first block, and one that is TWIN_1's own */
	struct snap_attr *a = w->attrs;
	for (size_t i = 0; i < w->content.n_attrs; i++) {
		if (a[i].attr == UMAD_SM_ATTR_GUID_INFO && a[i].guid == HOST &&
		    a[i].block == 1 << 8) {
			put((uint8_t *)(uintptr_t)a[i].data + 8, 8, ALIAS);
			put((uint8_t *)(uintptr_t)a[i].data + 24, 8, TWIN_1 + 1);
		}
	}
	query_fixture_publish(w, PATH_MINIMAL);
}

static void route_with(const char *text)
{
	const struct prefix_routes *list = NULL;

	ck_assert_int_eq(
		prefix_routes_parse("test", text, strlen(text), w->a, NULL, &list), E_OK);
	w->content.prefix_routes = list;
	query_fixture_publish(w, PATH_MINIMAL);
}

static struct request to_gid(unsigned method, uint64_t prefix, uint64_t guid)
{
	struct request q = by_gids(method, HOST + 1, TWIN_1 + 1, 0);

	put_gid(&q, 8, prefix, guid);
	return q;
}

/* clang-format off */
static const struct {
	const char *routes;
	uint64_t prefix;
	uint64_t router; /* 0: none */
} off_subnet[] = {
	{ "",                                     FOREIGN,     0 },
	{ "* *",                                  FOREIGN,     ROUTER + 1 },
	{ "fec0000000000099 802",                 FOREIGN,     ROUTER_2 + 1 },
	{ "0xfec0000000000099 *\n* 0x802",        FOREIGN,     ROUTER + 1 },
	{ "fec0000000000098 702\n* 0x802",        FOREIGN,     ROUTER_2 + 1 },
	{ "fec0000000000098 702",                 FOREIGN,     0 },
	/* a router that is not there, a port that is no router: the next line */
	{ "* 999\n* 802",                         FOREIGN,     ROUTER_2 + 1 },
	{ "* 302\n* 802",                         FOREIGN,     ROUTER_2 + 1 },
	{ "* 999",                                FOREIGN,     0 },
	/* the own subnet is not looked up */
	{ "* *",                                  FIXTURE_PREFIX, 0 },
	{ "* *",                                  LINK_LOCAL,  0 },
};
/* clang-format on */

START_TEST(prefix_routes)
{
	struct request q = to_gid(GET, off_subnet[_i].prefix, 0x1234567);

	route_with(off_subnet[_i].routes);
	unsigned status = status_of(&q);
	if (off_subnet[_i].router == 0) {
		ck_assert_uint_eq(status, INVALID_GID);
		return;
	}
	ck_assert_uint_eq(status, 0);
	ck_assert_uint_eq(get(record(0) + 8, 8), off_subnet[_i].prefix);
	ck_assert_uint_eq(get(record(0) + 16, 8), 0x1234567);
	ck_assert_uint_eq(get(record(0) + 40, 2), lid_of(off_subnet[_i].router));
	ck_assert_uint_eq(record(0)[47], 255); /* HopLimit */
	q = to_gid(GET, FIXTURE_PREFIX, TWIN_1 + 1);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(record(0)[47], 0);
}
END_TEST

/* A source of another subnet is nobody's here. */
START_TEST(foreign_source)
{
	struct request q = to_gid(GET, FIXTURE_PREFIX, TWIN_1 + 1);

	route_with("* *");
	put_gid(&q, 24, FOREIGN, HOST + 1);
	ck_assert_uint_eq(status_of(&q), INVALID_GID);
}
END_TEST

START_TEST(alias_guids)
{
	struct request q = by_gids(GET_TABLE, ALIAS, TWIN_1 + 1, 0);

	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 1);
	ck_assert_uint_eq(get(record(0) + 32, 8), ALIAS);
	ck_assert_uint_eq(get(record(0) + 42, 2), lid_of(HOST + 1));
	q = by_gids(GET_TABLE, TWIN_1 + 1, ALIAS, 0);
	put_gid(&q, 8, LINK_LOCAL, ALIAS);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(get(record(0) + 8, 8), LINK_LOCAL); /* as it was asked for */
	ck_assert_uint_eq(get(record(0) + 16, 8), ALIAS);
	ck_assert_uint_eq(get(record(0) + 32, 8), TWIN_1 + 1);
	ck_assert_uint_eq(get(record(0) + 40, 2), lid_of(HOST + 1));
	/* an alias with the value of a PortGUID gives way to it */
	ck_assert_uint_ne(lid_of(TWIN_1 + 1), lid_of(HOST + 1));
}
END_TEST

START_TEST(life_times)
{
	static const uint8_t codes[SNAP_HOPS_MAX] = { 11, 12, 13, 14, 14,
		                                      14, 14, 14, 14, 14 };
	struct request q = to_gid(GET, FIXTURE_PREFIX, TWIN_1 + 1);

	stop();
	start(); /* the small fabric: up to three switches on the way */
	memcpy(w->content.life_time_by_hops, codes, sizeof(codes));
	query_fixture_publish(w, PATH_MINIMAL);
	q = by_lids(GET, HOST + 1, TWIN_1 + 1, 0); /* over A */
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(record(0)[56], 0x80 | 11);
	q = by_lids(GET, HOST + 1, TWIN_2 + 1, 0); /* over A, C, B */
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(record(0)[56], 0x80 | 13);
	q = by_lids(GET, LEFT + 1, RIGHT + 1, 0); /* a cable */
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(record(0)[56], 0x80 | 11);
	q = by_lids(GET, HOST + 1, HOST + 1, 0);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(record(0)[56], 0x80);
	q = by_lids(GET, HOST + 1, TWIN_2 + 1, PR_LIFE); /* less than 13 */
	q.mad[DATA + 56] = 0x40 | 13;
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);
}
END_TEST

/* clang-format off */
static const struct {
	const char *text;
	int ret;
	unsigned n;
} files[] = {
	{ "",                                      E_OK, 0 },
	{ "# nothing\n\n \t\r\n",                  E_OK, 0 },
	{ "* * # all\n0x1 0xffffffffffffffff",     E_OK, 2 },
	{ "\tABCDEF 0XabCdEf \r\n",                E_OK, 1 },
	{ "1",                                     E_SYNTAX, 0 },
	{ "1 2 3",                                 E_SYNTAX, 0 },
	{ "* * *",                                 E_SYNTAX, 0 },
	{ "g 1",                                   E_SYNTAX, 0 },
	{ "1 0x",                                  E_SYNTAX, 0 },
	{ "1 12345678901234567",                   E_SYNTAX, 0 },
	{ "** 1",                                  E_SYNTAX, 0 },
	{ "1 2\n1\n3 4",                           E_SYNTAX, 0 },
};
/* clang-format on */

START_TEST(file_syntax)
{
	const struct prefix_routes *list = NULL;
	struct arena *a = arena_new();
	struct diags d;

	diags_init(&d, a);
	ck_assert_int_eq(prefix_routes_parse("f", files[_i].text, strlen(files[_i].text),
	                                     a, &d, &list),
	                 files[_i].ret);
	ck_assert_uint_eq(d.n_errors, files[_i].ret != E_OK);
	ck_assert_uint_eq(list ? list->n : 0, files[_i].n);
	arena_free(a);
}
END_TEST

TEST_SUITE(off_subnet)
{
	TCase *tc = tcase_create("routers");

	tcase_add_checked_fixture(tc, start_routers, stop);
	tcase_add_loop_test(tc, prefix_routes, 0,
	                    sizeof(off_subnet) / sizeof(off_subnet[0]));
	tcase_add_test(tc, foreign_source);
	tcase_add_test(tc, alias_guids);
	tcase_add_test(tc, life_times);
	suite_add_tcase(suite, tc);
	TCase *text = tcase_create("file");
	tcase_add_loop_test(text, file_syntax, 0, sizeof(files) / sizeof(files[0]));
	suite_add_tcase(suite, text);
}

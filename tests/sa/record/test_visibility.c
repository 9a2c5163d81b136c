/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What a requester sees: records of ports with which it shares a P_Key. Small fabric with
 *
 *   HOST   0xffff 0x8001          TWIN_2  0x7fff          LEFT   0x8002
 *   TWIN_1 0x8001                 DUAL/1  0x0001          RIGHT  0x0002
 *
 * and the default, a full member of 0x7fff, for all others (switches, DUAL/2).
 */
#include "tests/lib/answer_util.h"
#include "tests/lib/suite.h"

static void give(uint64_t node, unsigned port, uint16_t first, uint16_t second)
{
	uint8_t *keys = query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, node,
	                                   (uint32_t)port << 16, 64);

	put(keys, 2, first);
	put(keys + 10, 2, second); /* with empty places before it */
}

static void start_partitions(void)
{
	start();
	give(HOST, 1, 0xffff, 0x8001);
	give(TWIN_1, 1, 0x8001, 0);
	give(TWIN_2, 1, 0x7fff, 0);
	give(DUAL, 1, 0x0001, 0);
	give(LEFT, 1, 0x8002, 0);
	give(RIGHT, 1, 0x0002, 0);
	query_fixture_publish(w, PATH_MINIMAL);
}

static void ask_as(uint64_t port_guid)
{
	asker = lid_of(port_guid);
}

/* clang-format off */
static const struct {
	uint64_t asker;
	size_t nodes, guids, links;
} seen[] = {
	/* switches 3, HOST, TWIN_1, TWIN_2, DUAL/1, DUAL/2 */
	{ HOST + 1,   8, 16, 14 },
	/* HOST, DUAL/1, itself; the switches between are not visible */
	{ TWIN_1 + 1, 3, 6, 0 },
	/* limited members do not see each other: HOST and TWIN_1, itself */
	{ DUAL + 1,   3, 6, 0 },
	{ LEFT + 1,   2, 4, 2 },
	{ RIGHT + 1,  2, 4, 2 },
	/* everybody in the default partition */
	{ SW_A,       6, 12, 10 },
	{ TWIN_2 + 1, 6, 12, 10 },
};

static const struct {
	uint64_t asker, src, dst;
	uint64_t mask;
	uint16_t p_key;
	uint16_t answer; /* 0: none */
} paths[] = {
	{ HOST + 1,   HOST + 1,   TWIN_2 + 1, 0,       0,      0xffff },
	{ HOST + 1,   TWIN_2 + 1, HOST + 1,   0,       0,      0x7fff },
	{ HOST + 1,   HOST + 1,   TWIN_1 + 1, 0,       0,      0x8001 },
	{ HOST + 1,   HOST + 1,   TWIN_1 + 1, PR_PKEY, 0x0001, 0x8001 },
	{ HOST + 1,   HOST + 1,   TWIN_1 + 1, PR_PKEY, 0xffff, 0 },
	{ HOST + 1,   HOST + 1,   TWIN_1 + 1, PR_PKEY, 0x8000, 0 },
	{ HOST + 1,   DUAL + 1,   TWIN_1 + 1, 0,       0,      0x0001 },
	{ DUAL + 1,   DUAL + 1,   TWIN_1 + 1, 0,       0,      0x0001 },
	{ TWIN_1 + 1, TWIN_1 + 1, TWIN_2 + 1, 0,       0,      0 },
	{ TWIN_1 + 1, HOST + 1,   TWIN_2 + 1, 0,       0,      0 },
	{ HOST + 1,   TWIN_1 + 1, TWIN_2 + 1, 0,       0,      0 },
	{ LEFT + 1,   LEFT + 1,   RIGHT + 1,  0,       0,      0x8002 },
	{ LEFT + 1,   RIGHT + 1,  LEFT + 1,   0,       0,      0x0002 },
	{ RIGHT + 1,  RIGHT + 1,  RIGHT + 1,  0,       0,      0x0002 },
	{ HOST + 1,   LEFT + 1,   RIGHT + 1,  0,       0,      0 },
	{ DUAL + 1,   DUAL + 1,   DUAL + 1,   PR_PKEY, 0x8001, 0x0001 },
};
/* clang-format on */

START_TEST(tables_by_requester)
{
	struct request q = request(GET_TABLE, NODE_RECORD, 0);

	ask_as(seen[_i].asker);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), seen[_i].nodes);
	put(q.mad + 16, 2, GUID_INFO_RECORD);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), seen[_i].guids);
	put(q.mad + 16, 2, LINK_RECORD);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), seen[_i].links);
}
END_TEST

START_TEST(one_by_requester)
{
	struct request q = request(GET, NODE_RECORD, 1);

	put_component(&q, 0, 2, lid_of(LEFT + 1));
	ask_as(RIGHT + 1);
	ck_assert_uint_eq(status_of(&q), 0);
	ask_as(HOST + 1);
	ck_assert_uint_eq(status_of(&q), NO_RECORDS);
}
END_TEST

/* A port that was not swept yet counts as a member of the default partition. */
START_TEST(unknown_requester)
{
	struct request q = request(GET_TABLE, NODE_RECORD, 0);

	asker = 0xbffe;
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 6);
}
END_TEST

START_TEST(paths_by_requester)
{
	struct request q = by_lids(GET, paths[_i].src, paths[_i].dst, paths[_i].mask);

	put_component(&q, 50, 2, paths[_i].p_key);
	ask_as(paths[_i].asker);
	unsigned status = status_of(&q);
	ck_assert_uint_eq(status, paths[_i].answer ? 0 : NO_RECORDS);
	ck_assert(status || get(record(0) + 50, 2) == paths[_i].answer);
}
END_TEST

/* From one to all: those that share a P_Key with the source, and with the requester. */
START_TEST(path_tables)
{
	struct request q = by_gids(GET_TABLE, HOST + 1, 0, 0);

	ask_as(HOST + 1);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 8);
	ask_as(TWIN_1 + 1);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 3); /* itself, DUAL/1, TWIN_1 */
	q = by_gids(GET_TABLE, HOST + 1, 0, PR_PKEY);
	put_component(&q, 50, 2, 0x8001);
	ask_as(HOST + 1);
	ck_assert_uint_eq(status_of(&q), 0);
	ck_assert_uint_eq(n_records(), 3);
}
END_TEST

TEST_SUITE(visibility)
{
	TCase *tc = tcase_create("partitions");

	tcase_add_checked_fixture(tc, start_partitions, stop);
	tcase_add_loop_test(tc, tables_by_requester, 0, sizeof(seen) / sizeof(seen[0]));
	tcase_add_test(tc, one_by_requester);
	tcase_add_test(tc, unknown_requester);
	tcase_add_loop_test(tc, paths_by_requester, 0, sizeof(paths) / sizeof(paths[0]));
	tcase_add_test(tc, path_tables);
	suite_add_tcase(suite, tc);
}

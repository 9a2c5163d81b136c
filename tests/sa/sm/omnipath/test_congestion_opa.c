/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>

#include "sa/sm/congestion/congestion_opa.h"
#include "tests/lib/suite.h"

#define N(x) (int)(sizeof(x) / sizeof((x)[0]))

/* Control tables. The first row is what opa-fm 10.10 gives an adapter with its usual values. */
static const struct {
	uint32_t limit, delay_ns, mtu_bytes;
	uint64_t bytes_per_s;
	uint32_t cap, blocks, block;
	uint16_t want_limit, first, second, last; /* entries 0, 1 and 63 of the block */
} rows[] = {
	{ 127, 8300, 10240, 12500000000, 31, 2, 0, 127, 0, 0xC000, 0xC027 },
	{ 127, 8300, 10240, 12500000000, 31, 2, 1, 127, 0xC028, 0xC028, 0xC050 },
	/* a packet takes 1 us: the delay is 10 of them at the end */
	{ 63, 10000, 960, 1000000000, 31, 1, 0, 63, 0, 0xC001, 0xC050 },
	/* 64 entries need one more block for the last of 65 */
	{ 64, 10000, 960, 1000000000, 31, 2, 1, 64, 0xC050, 0, 0 },
	/* the adapter has fewer */
	{ 127, 10000, 960, 1000000000, 1, 1, 0, 63, 0, 0xC001, 0xC050 },
	{ 127, 10000, 960, 1000000000, 0, 0, 0, 0, 0, 0, 0 },
	/* 3000 times a packet: shift 2; 20000 times is more than fits: the most that does */
	{ 63, 3000000, 960, 1000000000, 31, 1, 0, 63, 0, 0x8000 + 190, 0x8000 + 12000 },
	{ 63, 20000000, 960, 1000000000, 31, 1, 0, 63, 0, 260, 16383 },
};

static unsigned entry(const uint8_t *data, unsigned i)
{
	return (unsigned)data[2 + 2 * i] << 8 | data[3 + 2 * i];
}

START_TEST(control_tables)
{
	struct congestion_opa_options o = { .limit = rows[_i].limit,
		                            .max_delay_ns = rows[_i].delay_ns };
	struct congestion_opa_link link = { .mtu_bytes = rows[_i].mtu_bytes,
		                            .bytes_per_s = rows[_i].bytes_per_s,
		                            .cap = rows[_i].cap };
	uint8_t data[CONGESTION_OPA_BLOCK];

	ck_assert_uint_eq(congestion_opa_blocks(&o, &link), rows[_i].blocks);
	if (rows[_i].blocks == 0) {
		return;
	}
	congestion_opa_table(&o, &link, rows[_i].block, data);
	ck_assert_uint_eq((unsigned)data[0] << 8 | data[1], rows[_i].want_limit);
	ck_assert_uint_eq(entry(data, 0), rows[_i].first);
	ck_assert_uint_eq(entry(data, 1), rows[_i].second);
	ck_assert_uint_eq(entry(data, 63), rows[_i].last);
}
END_TEST

TEST_SUITE(congestion_opa)
{
	TCase *tc = tcase_create("congestion_opa");

	tcase_add_loop_test(tc, control_tables, 0, N(rows));
	suite_add_tcase(suite, tc);
}

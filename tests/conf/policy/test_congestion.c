/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/policy/congestion.h"
#include "tests/lib/suite.h"

#define N(x) (int)(sizeof(x) / sizeof((x)[0]))

static const struct {
	const char *text;
	int ret;
	uint8_t first, last; /* bytes 0 and 31 */
} masks[] = {
	{ "0x0", E_OK, 0, 0 },
	{ "0x1", E_OK, 0, 1 }, /* port 0 */
	{ "2", E_OK, 0, 2 },   /* port 1 */
	{ "0X1fE", E_OK, 0, 0xFE },
	{ "0x8000000000000000000000000000000000000000000000000000000000000002", E_OK, 0x80, 2 },
	{ "0x18000000000000000000000000000000000000000000000000000000000000002", E_RANGE, 0, 0 },
	{ "0x", E_SYNTAX, 0, 0 },
	{ "", E_SYNTAX, 0, 0 },
	{ "0x12g", E_SYNTAX, 0, 0 },
};

START_TEST(test_masks)
{
	struct congestion_mask m;

	memset(&m, 0xEE, sizeof(m));
	ck_assert_int_eq(congestion_mask_parse(masks[_i].text, &m), masks[_i].ret);
	ck_assert_uint_eq(m.byte[0], masks[_i].ret == E_OK ? masks[_i].first : 0xEE);
	ck_assert_uint_eq(m.byte[31], masks[_i].ret == E_OK ? masks[_i].last : 0xEE);
}
END_TEST

static const struct {
	const char *text;
	int ret;
	uint16_t sl0, sl1, sl15;
} values[] = {
	{ "0 150", E_OK, 150, 7, 7 },     { "15\t0x10", E_OK, 7, 7, 16 },
	{ "0 1, 1 2", E_OK, 1, 2, 7 },    { " 1 255 ", E_OK, 7, 255, 7 },
	{ "1 256", E_RANGE, 7, 7, 7 },    { "16 1", E_RANGE, 7, 7, 7 },
	{ "0 1, 16 1", E_RANGE, 7, 7, 7 }, { "1", E_SYNTAX, 7, 7, 7 },
	{ "1 -1", E_SYNTAX, 7, 7, 7 },    { "0 1 2", E_SYNTAX, 7, 7, 7 },
	{ "0 1,", E_SYNTAX, 7, 7, 7 },    { "", E_SYNTAX, 7, 7, 7 },
};

START_TEST(test_sls)
{
	struct congestion_sls s = { .of = { 0 } };

	for (unsigned i = 0; i < CONGESTION_SLS; i++) {
		s.of[i] = 7;
	}
	ck_assert_int_eq(congestion_sls_parse(values[_i].text, 255, &s), values[_i].ret);
	ck_assert_uint_eq(s.of[0], values[_i].sl0);
	ck_assert_uint_eq(s.of[1], values[_i].sl1);
	ck_assert_uint_eq(s.of[15], values[_i].sl15);
}
END_TEST

static const struct {
	const char *text;
	int ret;
	uint32_t n;
	uint16_t last;
} tables[] = {
	{ "0:0", E_OK, 1, 0 },
	{ "1:3", E_OK, 1, 0x4003 },
	{ "0:0,3:16383", E_OK, 2, 0xFFFF },
	{ "0:0, 2:5", E_OK, 2, 0x8005 },
	{ "0:0,0:1,0:2", E_RANGE, 0, 0 },
	{ "4:0", E_RANGE, 0, 0 },
	{ "0:16384", E_RANGE, 0, 0 },
	{ "0", E_SYNTAX, 0, 0 },
	{ "0:", E_SYNTAX, 0, 0 },
	{ "0:1;0:2", E_SYNTAX, 0, 0 },
	{ "0:1,", E_RANGE, 0, 0 },
	{ "", E_SYNTAX, 0, 0 },
};

START_TEST(test_tables)
{
	struct congestion_table t = { .n = 9 };
	uint32_t most = strcmp(tables[_i].text, "0:1,") == 0 ? 1 : 2;

	ck_assert_int_eq(congestion_table_parse(tables[_i].text, most, &t), tables[_i].ret);
	ck_assert_uint_eq(t.n, tables[_i].ret == E_OK ? tables[_i].n : 9);
	if (tables[_i].ret == E_OK) {
		ck_assert_uint_eq(t.entry[t.n - 1], tables[_i].last);
	}
}
END_TEST

TEST_SUITE(congestion)
{
	TCase *tc = tcase_create("congestion");

	tcase_add_loop_test(tc, test_masks, 0, N(masks));
	tcase_add_loop_test(tc, test_sls, 0, N(values));
	tcase_add_loop_test(tc, test_tables, 0, N(tables));
	suite_add_tcase(suite, tc);
}

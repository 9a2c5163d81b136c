/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sa/path/path_query.h"
#include "tests/lib/suite.h"

/*
 * Orders as the fabric manager's manual describes its PathSelection parameter and as a
 * model of it prints them: "sd" is source offset s, destination offset d.
 */
struct order_case {
	const char *what;
	enum path_selection mode;
	unsigned n, m;
	int fixed_src, fixed_dst;
	const char *want;
};

/* clang-format off */
static const struct order_case cases[] = {
	{ "2x4 minimal",   PATH_MINIMAL,   2, 4, -1, -1, "00 11" },
	{ "2x4 pairwise",  PATH_PAIRWISE,  2, 4, -1, -1, "00 11 02 13" },
	{ "2x4 orderall",  PATH_ORDERALL,  2, 4, -1, -1, "00 11 02 13 01 03 10 12" },
	{ "2x4 srcdstall", PATH_SRCDSTALL, 2, 4, -1, -1, "00 01 02 03 10 11 12 13" },
	{ "4x2 minimal",   PATH_MINIMAL,   4, 2, -1, -1, "00 11" },
	{ "4x2 pairwise",  PATH_PAIRWISE,  4, 2, -1, -1, "00 11 20 31" },
	{ "4x2 orderall",  PATH_ORDERALL,  4, 2, -1, -1, "00 11 20 31 01 10 21 30" },
	{ "4x2 srcdstall", PATH_SRCDSTALL, 4, 2, -1, -1, "00 01 10 11 20 21 30 31" },
	{ "4x4 minimal",   PATH_MINIMAL,   4, 4, -1, -1, "00 11 22 33" },
	{ "4x4 pairwise",  PATH_PAIRWISE,  4, 4, -1, -1, "00 11 22 33" },
	{ "4x4 orderall",  PATH_ORDERALL,  4, 4, -1, -1,
	  "00 11 22 33 01 02 03 10 12 13 20 21 23 30 31 32" },
	{ "1x8 minimal",   PATH_MINIMAL,   1, 8, -1, -1, "00" },
	{ "1x8 pairwise",  PATH_PAIRWISE,  1, 8, -1, -1, "00 01 02 03 04 05 06 07" },
	{ "1x8 orderall",  PATH_ORDERALL,  1, 8, -1, -1, "00 01 02 03 04 05 06 07" },
	{ "1x8 srcdstall", PATH_SRCDSTALL, 1, 8, -1, -1, "00 01 02 03 04 05 06 07" },
	{ "4x1 minimal",   PATH_MINIMAL,   4, 1, -1, -1, "00" },
	{ "4x1 pairwise",  PATH_PAIRWISE,  4, 1, -1, -1, "00 10 20 30" },
	{ "4x1 orderall",  PATH_ORDERALL,  4, 1, -1, -1, "00 10 20 30" },
	{ "4x1 srcdstall", PATH_SRCDSTALL, 4, 1, -1, -1, "00 10 20 30" },
	{ "1x1 orderall",  PATH_ORDERALL,  1, 1, -1, -1, "00" },

	{ "2x4, S0, minimal",   PATH_MINIMAL,   2, 4, 0, -1, "00" },
	{ "2x4, S1, minimal",   PATH_MINIMAL,   2, 4, 1, -1, "11" },
	{ "2x4, S0, pairwise",  PATH_PAIRWISE,  2, 4, 0, -1, "00 02" },
	{ "2x4, S1, pairwise",  PATH_PAIRWISE,  2, 4, 1, -1, "11 13" },
	{ "2x4, S0, orderall",  PATH_ORDERALL,  2, 4, 0, -1, "00 02 01 03" },
	{ "2x4, S1, orderall",  PATH_ORDERALL,  2, 4, 1, -1, "11 13 10 12" },
	{ "2x4, S1, srcdstall", PATH_SRCDSTALL, 2, 4, 1, -1, "10 11 12 13" },
	{ "4x2, S3, minimal",   PATH_MINIMAL,   4, 2, 3, -1, "31" },
	{ "4x2, S3, pairwise",  PATH_PAIRWISE,  4, 2, 3, -1, "31" },
	{ "4x2, S3, orderall",  PATH_ORDERALL,  4, 2, 3, -1, "31 30" },
	{ "4x2, D1, minimal",   PATH_MINIMAL,   4, 2, -1, 1, "11" },
	{ "4x2, D1, pairwise",  PATH_PAIRWISE,  4, 2, -1, 1, "11 31" },
	{ "4x2, D1, orderall",  PATH_ORDERALL,  4, 2, -1, 1, "11 31 01 21" },
	{ "4x2, D1, srcdstall", PATH_SRCDSTALL, 4, 2, -1, 1, "01 11 21 31" },
	{ "2x4, D3, minimal",   PATH_MINIMAL,   2, 4, -1, 3, "13" },
	{ "2x4, D3, orderall",  PATH_ORDERALL,  2, 4, -1, 3, "13 03" },
	{ "1x4, S0, orderall",  PATH_ORDERALL,  1, 4, 0, -1, "00 01 02 03" },
	{ "2x4, S1 D2",         PATH_ORDERALL,  2, 4, 1, 2, "12" },
};
/* clang-format on */

enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

START_TEST(table)
{
	const struct order_case *c = &cases[_i];
	char got[200] = "";
	unsigned s, d;

	for (unsigned k = 0;
	     path_order(c->mode, c->n, c->m, c->fixed_src, c->fixed_dst, k, &s, &d);
	     k++) {
		ck_assert_uint_lt(k, 20);
		size_t len = strlen(got);
		snprintf(got + len, sizeof(got) - len, "%s%u%u", k ? " " : "", s, d);
	}
	ck_assert_msg(strcmp(got, c->want) == 0, "%s: %s, not %s", c->what, got, c->want);
}
END_TEST

enum { SIDE = 128, PAIRS = SIDE * SIDE };

/* All pairs of a mode as s * 128 + d. Fails on a pair out of range or given twice. */
static unsigned list(enum path_selection mode, unsigned n, unsigned m, int fs, int fd,
                     uint16_t *ret_list)
{
	static uint8_t seen[PAIRS];
	unsigned s, d, k;

	memset(seen, 0, sizeof(seen));
	for (k = 0; path_order(mode, n, m, fs, fd, k, &s, &d); k++) {
		ck_assert_msg(s < n && d < m, "mode %d %ux%u F%d/%d: (%u,%u)", mode, n, m,
		              fs, fd, s, d);
		ck_assert(fs < 0 || s == (unsigned)fs);
		ck_assert(fd < 0 || d == (unsigned)fd);
		ck_assert_msg(!seen[s * SIDE + d]++,
		              "mode %d %ux%u F%d/%d: (%u,%u) twice", mode, n, m, fs, fd,
		              s, d);
		ret_list[k] = (uint16_t)(s * SIDE + d);
	}
	ck_assert(!path_order(mode, n, m, fs, fd, k + 1, &s, &d));
	return k;
}

static void check_relations(unsigned n, unsigned m, int fs, int fd)
{
	static uint16_t pairs[PATH_SELECTION_COUNT][PAIRS];
	unsigned count[PATH_SELECTION_COUNT];

	for (int mode = 0; mode < PATH_SELECTION_COUNT; mode++) {
		count[mode] = list((enum path_selection)mode, n, m, fs, fd, pairs[mode]);
		ck_assert_uint_gt(count[mode], 0);
		if (fs < 0 && fd < 0) {
			ck_assert_uint_eq(
				count[mode],
				path_order_count((enum path_selection)mode, n, m));
		}
	}
	ck_assert_uint_le(count[PATH_MINIMAL], count[PATH_PAIRWISE]);
	ck_assert_uint_le(count[PATH_PAIRWISE], count[PATH_ORDERALL]);
	ck_assert_mem_eq(pairs[PATH_MINIMAL], pairs[PATH_PAIRWISE],
	                 2 * count[PATH_MINIMAL]);
	ck_assert_mem_eq(pairs[PATH_PAIRWISE], pairs[PATH_ORDERALL],
	                 2 * count[PATH_PAIRWISE]);
	ck_assert_uint_eq(count[PATH_ORDERALL], (fs < 0 ? n : 1) * (fd < 0 ? m : 1));
	ck_assert_uint_eq(count[PATH_SRCDSTALL], count[PATH_ORDERALL]);
}

/* The tail of OrderAll straight from its definition: source-major, low bits differ. */
static void check_rest(unsigned n, unsigned m)
{
	unsigned low = (n < m ? n : m) - 1, k = n < m ? m : n, s, d;

	for (unsigned i = 0; i < n; i++) {
		for (unsigned j = 0; j < m; j++) {
			if ((i & low) != (j & low)) {
				ck_assert(path_order(PATH_ORDERALL, n, m, -1, -1, k++, &s,
				                     &d));
				ck_assert_msg(s == i && d == j,
				              "%ux%u: (%u,%u), not (%u,%u)", n, m, s, d,
				              i, j);
			}
		}
	}
}

START_TEST(all_sizes)
{
	unsigned n = 1u << _i;

	for (unsigned m = 1; m <= SIDE; m *= 2) {
		check_relations(n, m, -1, -1);
		check_rest(n, m);
		for (unsigned f = 0; f < n; f++) {
			check_relations(n, m, (int)f, -1);
		}
		for (unsigned f = 0; f < m; f++) {
			check_relations(n, m, -1, (int)f);
		}
	}
}
END_TEST

/* With one side fixed, Minimal pairs equal low bits: what Minimal and Pairwise of both
 * sides hold. */
START_TEST(fixed_is_a_part)
{
	unsigned s, d, n = 1u << _i;

	for (unsigned m = 1; m <= SIDE; m *= 2) {
		unsigned low = (n < m ? n : m) - 1;
		for (unsigned f = 0; f < n; f++) {
			ck_assert(path_order(PATH_MINIMAL, n, m, (int)f, -1, 0, &s, &d));
			ck_assert_uint_eq(d, f & (m - 1));
			for (unsigned k = 0;
			     path_order(PATH_PAIRWISE, n, m, (int)f, -1, k, &s, &d);
			     k++) {
				ck_assert_uint_eq(s & low, d & low);
			}
		}
	}
}
END_TEST

TEST_SUITE(path_order)
{
	TCase *tc = tcase_create("order");

	tcase_add_loop_test(tc, table, 0, N_CASES);
	tcase_add_loop_test(tc, all_sizes, 0, 8);
	tcase_add_loop_test(tc, fixed_is_a_part, 0, 8);
	suite_add_tcase(suite, tc);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/lids.h"
#include "routing/text/guid2lid.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct diags diags;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
}

static void teardown(void)
{
	arena_free(arena);
}

static int read_text(const char *text, struct lid_memory **ret_memory, size_t *ret_n)
{
	return guid2lid_read("f", text, strlen(text), arena, &diags, ret_memory, ret_n);
}

/* The form in which OpenSM writes it: the key, the value, an empty line. */
START_TEST(of_opensm)
{
	struct lid_memory *m;
	size_t n;

	ck_assert_int_eq(read_text("0x0002c90300a0b0c1 0x0010 0x0013\n\n"
	                           "0x0002c90300a0b0c0 0x0001 0x0001\n\n"
	                           "0xffffffffffffffff 0xbf80 0xbfff\n\n",
	                           &m, &n),
	                 E_OK);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(m[0].guid, 0x0002c90300a0b0c0);
	ck_assert(m[0].range.base == 1 && m[0].range.lmc == 0);
	ck_assert_uint_eq(m[1].guid, 0x0002c90300a0b0c1);
	ck_assert(m[1].range.base == 16 && m[1].range.lmc == 2);
	ck_assert(m[2].range.base == 0xbf80 && m[2].range.lmc == 7);
	/* blanks, other line ends, no last line end, no empty lines */
	ck_assert_int_eq(read_text("\r\n\n 0x5\t0x2  0x3 \r\n0x4 7 7", &m, &n), E_OK);
	ck_assert_uint_eq(n, 2);
	ck_assert(m[0].guid == 4 && m[0].range.base == 7 && m[0].range.lmc == 0);
	ck_assert(m[1].guid == 5 && m[1].range.base == 2 && m[1].range.lmc == 1);
	ck_assert_int_eq(read_text("", &m, &n), E_OK);
	ck_assert_uint_eq(n, 0);
	ck_assert_uint_eq(diags.n, 0);
}
END_TEST

static const struct {
	const char *text;
	unsigned line;
	const char *says;
} wrong[] = {
	{ "0x1 0x1\n", 1, "expected '0x<port GUID>" },
	{ "\n0x1 0x1 0x1 0x1\n", 2, "expected" },
	{ "0x0 0x1 0x1\n", 1, "expected" },
	{ "guid 0x1 0x1\n", 1, "not 'guid 0x1 0x1'" },
	{ "0x1 0x0000 0x0000\n", 1, "no aligned range" },
	{ "0x1 0x0000 0x0001\n", 1, "no aligned range" },
	{ "0x1 0x0005 0x0004\n", 1, "no aligned range" },
	{ "0x1 0x0004 0x0006\n", 1, "no aligned range" },
	{ "0x1 0x0003 0x0004\n", 1, "LIDs 0x0003 to 0x0004 are no aligned range" },
	{ "0x1 0x0100 0x01ff\n", 1, "no aligned range" },
	{ "0x1 0xc000 0xc000\n", 1, "up to 0xbfff" },
	{ "0x1 0x10000 0x10000\n", 1, "expected" },
	{ "0x11112222333344445 0x1 0x1\n", 1, "expected" },
	{ "0x9 0x1 0x1\n0x3 0x2 0x2\n\n0x9 0x3 0x3\n", 4,
	  "GUID 0x0000000000000009 is in line 1, too" },
	{ "0x9 0x1 0x1\n0x9 0x3 0x3\n", 2,
	  "GUID 0x0000000000000009 is in line 1, too" },
	{ "0x9 0x4 0x7\n0x3 0x6 0x6\n", 2, "LID 0x0006 is in line 1, too" },
};

/* A wrong line is named, and nothing of the file is used. */
START_TEST(wrong_line)
{
	struct lid_memory *m = NULL;
	size_t n = 77;

	ck_assert_int_eq(read_text(wrong[_i].text, &m, &n), E_SYNTAX);
	ck_assert(m == NULL && n == 77);
	ck_assert_uint_eq(diags.n, 1);
	ck_assert_uint_eq(diags.items[0].line, wrong[_i].line);
	ck_assert_str_eq(diags.items[0].file, "f");
	ck_assert_msg(strstr(diags.items[0].text, wrong[_i].says) != NULL, "%s",
	              diags.items[0].text);
}
END_TEST

START_TEST(all_wrong_lines)
{
	struct lid_memory *m;
	size_t n;

	ck_assert_int_eq(read_text("a\n0x1 0x1 0x1\nb\n0x2 0x1 0x1\n", &m, &n), E_SYNTAX);
	ck_assert_uint_eq(diags.n_errors, 3);
	ck_assert_uint_eq(diags.items[2].line, 4);
}
END_TEST

START_TEST(round_trip)
{
	uint64_t seed = (uint64_t)_i + 1;
	struct lid_memory in[50] = { { .guid = 0 } }, *out;
	uint32_t next = 1;
	size_t n = 0, n_out, len;
	char *text;
	FILE *f = open_memstream(&text, &len);

	for (uint64_t guid = 0; n < 50; n++) {
		uint8_t lmc = (uint8_t)random_below(&seed, 8);
		uint32_t size = 1U << lmc;

		guid += 1 + random_next(&seed) % (UINT64_MAX / 64);
		next = (next + size - 1) / size * size;
		in[n] = (struct lid_memory){ .guid = guid, .range = { next, lmc } };
		next += size;
	}
	guid2lid_write(in, n, f);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(guid2lid_read("f", text, len, arena, &diags, &out, &n_out),
	                 E_OK);
	ck_assert_uint_eq(n_out, n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(out[i].guid, in[i].guid);
		ck_assert_uint_eq(out[i].range.base, in[i].range.base);
		ck_assert_uint_eq(out[i].range.lmc, in[i].range.lmc);
	}
	free(text);
}
END_TEST

/* Any bytes: an answer, and what is read can be written and read again. */
START_TEST(random_bytes)
{
	static const char alphabet[] = "0x1234f \n\n\r\tg#";
	uint64_t seed = (uint64_t)_i + 1;
	char text[300];
	struct lid_memory *m;
	size_t n;

	for (unsigned round = 0; round < 300; round++) {
		size_t len = random_below(&seed, sizeof(text));

		diags_init(&diags, arena);
		for (size_t i = 0; i < len; i++) {
			text[i] =
				random_below(&seed, 30)
					? alphabet[random_below(&seed, sizeof(alphabet))]
					: (char)random_next(&seed);
		}
		int ret = guid2lid_read("f", text, len, arena, &diags, &m, &n);

		ck_assert(ret == E_OK || ret == E_SYNTAX);
		ck_assert_int_eq(ret == E_OK, diags.n_errors == 0);
	}
}
END_TEST

TEST_SUITE(guid2lid)
{
	TCase *t = tcase_create("guid2lid");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, of_opensm);
	tcase_add_loop_test(t, wrong_line, 0, sizeof(wrong) / sizeof(*wrong));
	tcase_add_test(t, all_wrong_lines);
	tcase_add_loop_test(t, round_trip, 0, 5);
	tcase_add_loop_test(t, random_bytes, 0, 5);
	suite_add_tcase(suite, t);
}

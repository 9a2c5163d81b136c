/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "tests/lib/suite.h"

static bool all_are(unsigned char value, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != value) {
			return false;
		}
	}
	return true;
}

/* Blocks of every size class: zeroed, aligned, and none touches another. */
START_TEST(test_blocks)
{
	enum { N = 2000 };
	static unsigned char *blocks[N];
	static size_t sizes[N];
	struct arena *a = arena_new();
	size_t total = 0;

	srandom(1);
	for (unsigned i = 0; i < N; i++) {
		size_t size = (size_t)random() % (i % 50 == 0 ? 300000 : 500);
		blocks[i] = arena_alloc(a, size);
		sizes[i] = size;
		total += size;
		ck_assert_ptr_nonnull(blocks[i]);
		ck_assert_uint_eq((uintptr_t)blocks[i] % (size >= 64 ? 64 : 16), 0);
		ck_assert_msg(all_are(0, blocks[i], size), "block %u is not zeroed", i);
		memset(blocks[i], (int)(i % 255) + 1, size);
	}
	for (unsigned i = 0; i < N; i++) {
		ck_assert_msg(all_are((unsigned char)(i % 255 + 1), blocks[i], sizes[i]),
		              "block %u was overwritten", i);
	}
	ck_assert_uint_eq(arena_used(a), total);
	arena_free(a);
}
END_TEST

/* Blocks of a joined arena stay, and both go on together. */
START_TEST(test_join)
{
	enum { N = 300 };
	struct arena *a = arena_new(), *b = arena_new();
	unsigned char *blocks[N];
	size_t total = 0;

	for (unsigned i = 0; i < N; i++) {
		size_t size = i % 60 == 0 ? 200000 : 16 + i;

		blocks[i] = arena_alloc(i % 2 && b ? b : a, size);
		memset(blocks[i], (int)(i % 255) + 1, size);
		total += size;
		if (i == N / 2) {
			arena_join(a, b);
			b = NULL;
		}
	}
	for (unsigned i = 0; i < N; i++) {
		ck_assert(all_are((unsigned char)(i % 255 + 1), blocks[i],
		                  i % 60 == 0 ? 200000 : 16 + i));
	}
	ck_assert_uint_eq(arena_used(a), total);
	arena_join(a, NULL);
	arena_join(a, arena_new());
	arena_free(a);
}
END_TEST

/* Blocks after a clearing are zeroed and apart, whatever was there before. */
START_TEST(test_clear)
{
	enum { ROUNDS = 40, N = 30 };
	struct arena *a = arena_new();

	srandom(2);
	for (unsigned k = 0; k < ROUNDS; k++) {
		unsigned char *block[N];
		size_t size[N], total = 0;
		/* within the first chunk, over several, and with mappings */
		size_t most = k % 3 == 0 ? 100 : k % 3 == 1 ? 5000 : 200000;

		for (unsigned i = 0; i < N; i++) {
			size[i] = (size_t)random() % most;
			block[i] = arena_alloc(a, size[i]);
			ck_assert(all_are(0, block[i], size[i]));
			memset(block[i], (int)i + 1, size[i]);
			total += size[i];
		}
		for (unsigned i = 0; i < N; i++) {
			ck_assert(all_are((unsigned char)(i + 1), block[i], size[i]));
		}
		if (k % 7 == 0) {
			struct arena *other = arena_new();

			memset(arena_alloc(other, 300), 0xff, 300);
			total += 300;
			arena_join(a, other);
		}
		ck_assert_uint_eq(arena_used(a), total);
		arena_clear(a);
		ck_assert_uint_eq(arena_used(a), 0);
	}
	arena_clear(NULL);
	arena_free(a);
}
END_TEST

START_TEST(test_limits)
{
	struct arena *a = arena_new();

	ck_assert_ptr_nonnull(arena_alloc(a, 0));
	ck_assert_ptr_nonnull(arena_array(a, 0, 100));
	ck_assert_ptr_null(arena_array(a, SIZE_MAX / 2, 4));
	ck_assert_ptr_null(arena_alloc(a, SIZE_MAX));
	ck_assert_ptr_null(arena_alloc(a, SIZE_MAX / 8 * 7));
	ck_assert_ptr_nonnull(arena_alloc(a, 16)); /* still of use after a failure */
	arena_free(a);
	arena_free(NULL);
}
END_TEST

START_TEST(test_strings)
{
	struct arena *a = arena_new();
	char big[1000];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	ck_assert_str_eq(arena_strdup(a, ""), "");
	ck_assert_str_eq(arena_strdup(a, "name"), "name");
	ck_assert_str_eq(arena_printf(a, "%s/%d", "lid", 7), "lid/7");
	ck_assert_uint_eq(strlen(arena_printf(a, "%s%s", big, big)),
	                  2 * (sizeof(big) - 1));
	arena_free(a);
}
END_TEST

TEST_SUITE(arena)
{
	TCase *tc = tcase_create("arena");
	tcase_add_test(tc, test_blocks);
	tcase_add_test(tc, test_join);
	tcase_add_test(tc, test_clear);
	tcase_add_test(tc, test_limits);
	tcase_add_test(tc, test_strings);
	suite_add_tcase(suite, tc);
}

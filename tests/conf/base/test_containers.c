/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Sorted search, growable array, hash table and union-find against the plainest code that
 * does the same. */
#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/hash.h"
#include "conf/base/search.h"
#include "conf/base/union_find.h"
#include "conf/base/vector.h"
#include "tests/lib/suite.h"

/* The position is that of a search from the front, also among equal elements. */
START_TEST(test_lower_bound)
{
	unsigned value[40], n = (unsigned)_i;

	srandom(n);
	for (unsigned i = 0, v = 0; i < n; i++) {
		value[i] = v += (unsigned)random() % 3;
	}
	for (unsigned key = 0; key < 90; key++) {
		unsigned want = 0;

		while (want < n && value[want] < key) {
			want++;
		}
		ck_assert_uint_eq(LOWER_BOUND(n, i, value[i] < key), want);
	}
}
END_TEST

/* Elements stay when the array grows, and it moves seldom. */
START_TEST(test_vector)
{
	struct {
		uint32_t number, square;
	} *row = NULL;
	size_t cap = 0, moves = 0;

	for (uint32_t n = 0; n < 100000; n++) {
		size_t before = cap;

		ck_assert_int_eq(VECTOR_RESERVE(row, cap, n + 1), E_OK);
		ck_assert_uint_gt(cap, n);
		moves += cap != before;
		row[n].number = n;
		row[n].square = n * n;
	}
	for (uint32_t i = 0; i < 100000; i++) {
		ck_assert_uint_eq(row[i].number, i);
		ck_assert_uint_eq(row[i].square, i * i);
	}
	ck_assert_uint_le(moves, 17);
	ck_assert_int_eq(VECTOR_RESERVE(row, cap, 300000), E_OK);
	ck_assert_uint_ge(cap, 300000);
	free(row);
}
END_TEST

/* A size that cannot fit is refused, and the array stays. */
/* Elements in an arena keep their values and the others are zero; a size that cannot be changes
 * nothing. */
START_TEST(test_vector_in_arena)
{
	struct arena *a = arena_new();
	uint64_t *row = NULL, *before;
	size_t cap = 0, room;

	for (size_t n = 0; n < 5000; n++) {
		ck_assert_int_eq(ARENA_RESERVE(a, row, n, cap, n + 1), E_OK);
		ck_assert_uint_gt(cap, n);
		ck_assert_uint_eq(row[n], 0);
		row[n] = n * n + 1;
	}
	for (size_t n = 0; n < 5000; n++) {
		ck_assert_uint_eq(row[n], n * n + 1);
	}
	before = row;
	room = cap;
	ck_assert_int_eq(ARENA_RESERVE(a, row, 5000, cap, SIZE_MAX / sizeof(*row)),
	                 -ENOMEM);
	ck_assert_ptr_eq(row, before);
	ck_assert_uint_eq(cap, room);
	arena_free(a);
}
END_TEST

START_TEST(test_vector_too_large)
{
	uint64_t *row = NULL, *before;
	size_t cap = 0;

	ck_assert_int_eq(VECTOR_RESERVE(row, cap, 1), E_OK);
	before = row;
	row[0] = 7;
	ck_assert_int_eq(VECTOR_RESERVE(row, cap, SIZE_MAX), -ENOMEM);
	ck_assert_int_eq(VECTOR_RESERVE(row, cap, SIZE_MAX / sizeof(*row)), -ENOMEM);
	ck_assert_ptr_eq(row, before);
	ck_assert_uint_eq(row[0], 7);
	free(row);
}
END_TEST

enum { KEYS = 512 };

/* Keys that collide: few bits, in various places of the number. */
static uint64_t key_of(unsigned i)
{
	return i % 3 == 0 ? i : i % 3 == 1 ? (uint64_t)i << 40 : ~(uint64_t)i << 20;
}

/* A table and a plain array take the same random steps. */
START_TEST(test_hash)
{
	struct arena *a = arena_new();
	struct hash_table t = { .arena = _i % 2 ? a : NULL };
	uint32_t value[KEYS], n = 0;

	memset(value, 0xff, sizeof(value));
	ck_assert_uint_eq(hash_get(&t, 0), HASH_NONE);
	srandom((unsigned)_i);
	for (unsigned step = 0; step < 20000; step++) {
		unsigned i = (unsigned)random() % KEYS;
		uint32_t v = (uint32_t)random() % 1000;

		ck_assert_int_eq(hash_put(&t, key_of(i), v), E_OK);
		n += value[i] == HASH_NONE;
		value[i] = v;
		i = (unsigned)random() % KEYS;
		ck_assert_uint_eq(hash_get(&t, key_of(i)), value[i]);
		ck_assert_uint_eq(t.n, n);
	}
	for (unsigned i = 0; i < KEYS; i++) {
		ck_assert_uint_eq(hash_get(&t, key_of(i)), value[i]);
	}
	hash_clear(&t);
	for (unsigned i = 0; i < KEYS; i++) {
		ck_assert_uint_eq(hash_get(&t, key_of(i)), HASH_NONE);
	}
	hash_done(&t);
	hash_done(&t);
	arena_free(a);
}
END_TEST

/* Rows that share a key are told from each other by the caller's comparison. */
START_TEST(test_hash_same_key)
{
	struct hash_table t = { .n = 0 };
	char name[200][8];

	for (uint32_t i = 0; i < 200; i++) {
		snprintf(name[i], sizeof(name[i]), "n%u", i);
		ck_assert_int_eq(hash_add(&t, i % 4, i), E_OK);
	}
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t at = HASH_FIND(&t, i % 4, k, strcmp(name[k], name[i]) == 0);

		ck_assert_uint_eq(at, i);
		at = HASH_FIND(&t, (i + 1) % 4, k, strcmp(name[k], name[i]) == 0);
		ck_assert_uint_eq(at, HASH_NONE);
	}
	hash_done(&t);
}
END_TEST

/* A table that is reserved does not move while it fills. */
START_TEST(test_hash_reserve)
{
	struct hash_table t = { .n = 0 };

	ck_assert_int_eq(hash_reserve(&t, 5000), E_OK);
	const struct hash_slot *before = t.slot;
	for (uint32_t i = 0; i < 5000; i++) {
		ck_assert_int_eq(hash_add(&t, digest_add(0, i), i), E_OK);
	}
	ck_assert_ptr_eq(t.slot, before);
	hash_done(&t);
}
END_TEST

/* The root is the lowest number that links lead to, whatever their order. */
START_TEST(test_union_find)
{
	enum { N = 60 };
	uint32_t parent[N], lowest[N];

	srandom((unsigned)_i);
	union_init(parent, N);
	union_init(lowest, N);
	for (unsigned step = 0; step < 50; step++) {
		uint32_t a = (uint32_t)random() % N, b = (uint32_t)random() % N;
		uint32_t x = lowest[a], y = lowest[b];

		ck_assert_int_eq(union_join(parent, a, b), x != y);
		for (uint32_t i = 0; i < N; i++) {
			if (lowest[i] == x || lowest[i] == y) {
				lowest[i] = x < y ? x : y;
			}
		}
	}
	for (uint32_t i = 0; i < N; i++) {
		ck_assert_uint_eq(union_find(parent, i), lowest[i]);
	}
}
END_TEST

TEST_SUITE(containers)
{
	TCase *t = tcase_create("containers");

	tcase_add_loop_test(t, test_lower_bound, 0, 40);
	tcase_add_test(t, test_vector);
	tcase_add_test(t, test_vector_in_arena);
	tcase_add_test(t, test_vector_too_large);
	tcase_add_loop_test(t, test_hash, 0, 10);
	tcase_add_test(t, test_hash_same_key);
	tcase_add_test(t, test_hash_reserve);
	tcase_add_loop_test(t, test_union_find, 0, 20);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A state copied to another one and kept in step. The follower here applies each transaction as
 * soon as it is complete, so the two must be equal whenever a writer has its answer.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/vector.h"
#include "db/state/state.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

static char dir[256];
static struct arena *arena;
static struct state *from, *to;

/* Writes of a transaction that is not complete yet. */
static struct state_write *writes;
static size_t n_writes, cap_writes;
static unsigned transactions;
static bool begun;

static struct state *open_state(const char *name)
{
	const char *why = "";
	struct state *s = NULL;
	int ret = state_open(arena_printf(arena, "%s/%s", dir, name), arena, &why, &s);

	ck_assert_msg(ret == E_OK, "%s", why);
	return s;
}

static void setup(void)
{
	make_tmp(dir);
	arena = arena_new();
	from = open_state("from");
	to = open_state("to");
	transactions = 0;
	begun = false;
}

static void teardown(void)
{
	state_close(from);
	state_close(to);
	free(writes);
	writes = NULL;
	n_writes = cap_writes = 0;
	arena_free(arena);
	remove_tree(dir);
}

static const uint8_t *keep(const uint8_t *bytes, size_t len)
{
	uint8_t *copy = malloc(len + 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, len);
	return copy;
}

static void add_write(const struct state_write *w)
{
	ck_assert_int_eq(VECTOR_RESERVE(writes, cap_writes, n_writes + 1), E_OK);
	writes[n_writes] = *w;
	writes[n_writes].key = w->key != NULL ? keep(w->key, w->key_len) : NULL;
	writes[n_writes].value = w->value != NULL ? keep(w->value, w->len) : NULL;
	n_writes++;
}

static void apply_writes(bool replace, uint64_t sequence)
{
	const struct state_copy_mark mark = {
		.guid = 0x77, .sequence = sequence, .time_s = 5, .complete = true
	};

	ck_assert_int_eq(state_apply(to, writes, n_writes, replace, &mark), E_OK);
	for (size_t i = 0; i < n_writes; i++) {
		free((void *)writes[i].key);
		free((void *)writes[i].value);
	}
	n_writes = 0;
}

static void see_write(void *ctx, const struct state_write *w)
{
	ck_assert(*(bool *)ctx);
	add_write(w);
}

static void see_end(void *ctx)
{
	(void)ctx;
}

static void settle(void *ctx)
{
	(void)ctx;
	if (n_writes > 0) {
		apply_writes(false, ++transactions);
	}
}

static const struct state_follower follower = { see_write, see_end, settle, &begun };

static void on_begun(void *ctx)
{
	*(bool *)ctx = true;
}

static void copy_all(void)
{
	struct state_copy *c = NULL;
	struct state_write w;
	int ret;

	ck_assert_int_eq(state_copy_begin(from, &follower, on_begun, &begun, &c), E_OK);
	while ((ret = state_copy_next(c, &w)) == E_OK) {
		add_write(&w);
	}
	ck_assert_int_eq(ret, E_NOTFOUND);
	state_copy_end(c);
	apply_writes(true, 0);
}

/* Rows of all copied tables as one text. */
static const char *dump(struct state *s)
{
	struct state_copy *c = NULL;
	struct state_write w;
	const char *text = "";

	ck_assert_int_eq(state_copy_begin(s, NULL, NULL, NULL, &c), E_OK);
	while (state_copy_next(c, &w) == E_OK) {
		text = arena_printf(arena, "%s%u:%.*s=%02x%02x/%u ", text, w.table,
		                    w.table == COPIED_LIDS ? 0 : (int)w.key_len, w.key,
		                    w.value[0], w.value[w.len - 1], w.len);
	}
	state_copy_end(c);
	return text;
}

static void ignore(void *ctx, int ret)
{
	(void)ctx;
	ck_assert_int_eq(ret, E_OK);
}

static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	return *x ^= *x << 17;
}

/* One change of any kind, durable when it returns. */
static void change(struct state *s, uint64_t *seed)
{
	struct state_batch *b;
	uint64_t r = next_random(seed);

	if (r % 8 == 0) {
		struct lid_memory m = { .guid = 1 + r / 64 % 20,
			                .range = { 1 + r / 8 % 500, 0 } };

		ck_assert_int_eq(state_put_lids(s, &m, 1, r / 4096 % 8 == 0), E_OK);
		return;
	}
	ck_assert_int_eq(state_batch_new(&b), E_OK);
	for (uint64_t i = r / 8 % 4; i != UINT64_MAX; i--) {
		char key[8], value[40];
		size_t len = 1 + next_random(seed) % sizeof(value);

		r = next_random(seed);
		snprintf(key, sizeof(key), "k%u", (unsigned)(r % 30));
		memset(value, 'a' + (int)(r / 64 % 26), sizeof(value));
		ck_assert_int_eq(
			state_batch_put(b, (enum record_table)(r / 4096 % RECORD_TABLES),
		                        key, strlen(key), r % 5 == 0 ? NULL : value, len),
			E_OK);
	}
	state_batch_commit(s, b, ignore, NULL);
	state_flush(s);
}

START_TEST(test_in_step)
{
	uint64_t seed = 0x9e3779b97f4a7c15u + (uint64_t)_i;
	struct state_copy_mark mark;

	change(to, &seed); /* what the copy takes the place of */
	for (unsigned i = 0; i < 20; i++) {
		change(from, &seed);
	}
	copy_all();
	ck_assert_str_eq(dump(to), dump(from));
	for (unsigned i = 0; i < 20; i++) {
		change(from, &seed);
	}
	state_follow_end(from);
	ck_assert_uint_gt(transactions, 0);
	ck_assert_int_eq(state_copy_mark(to, &mark), E_OK);
	ck_assert(mark.guid == 0x77 && mark.sequence == transactions && mark.complete);
	ck_assert_str_eq(dump(to), dump(from));
	ck_assert_int_eq(state_copy_mark(from, &mark), E_OK);
	ck_assert_uint_eq(mark.guid, 0);
}
END_TEST

static int count_row(void *ctx, const struct client_row *row)
{
	(void)row;
	++*(unsigned *)ctx;
	return E_OK;
}

/* Readers of changes learn of rows that came from another daemon. */
START_TEST(test_changes_are_seen)
{
	const uint8_t key[] = "service";
	const struct state_write w = { .table = COPIED_RECORDS + RECORDS_SERVICES,
		                       .key = key,
		                       .key_len = sizeof(key),
		                       .value = key,
		                       .len = sizeof(key) };
	const struct state_copy_mark mark = { .guid = 1 };
	uint64_t version = state_version(to, RECORDS_SERVICES);
	unsigned n = 0;

	ck_assert_int_eq(state_changes(to, count_row, &n), E_STALE);
	ck_assert_int_eq(state_apply(to, &w, 1, false, &mark), E_OK);
	ck_assert_int_eq(state_changes(to, count_row, &n), E_OK);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_gt(state_version(to, RECORDS_SERVICES), version);
	version = state_version(to, RECORDS_GROUPS);
	ck_assert_int_eq(state_apply(to, NULL, 0, true, &mark), E_OK);
	ck_assert_int_eq(state_changes(to, count_row, &n), E_STALE);
	ck_assert_uint_gt(state_version(to, RECORDS_GROUPS), version);
	ck_assert_str_eq(dump(to), "");
}
END_TEST

/* One bad row: nothing of the transaction is stored, the mark neither. */
START_TEST(test_all_or_none)
{
	const uint8_t key[600] = { 'k' };
	const struct state_write w[] = {
		{ .table = COPIED_RECORDS,
		  .key = key,
		  .key_len = 1,
		  .value = key,
		  .len = 1 },
		{ .table = COPIED_RECORDS,
		  .key = key,
		  .key_len = 600,
		  .value = key,
		  .len = 1 },
	};
	const struct state_copy_mark mark = { .guid = 1 };
	struct state_copy_mark is;

	ck_assert_int_ne(state_apply(to, w, 2, true, &mark), E_OK);
	ck_assert_int_eq(state_copy_mark(to, &is), E_OK);
	ck_assert_uint_eq(is.guid, 0);
	ck_assert_str_eq(dump(to), "");
}
END_TEST

TEST_SUITE(state_copy)
{
	TCase *t = tcase_create("state_copy");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_in_step, 0, 5);
	tcase_add_test(t, test_changes_are_seen);
	tcase_add_test(t, test_all_or_none);
	suite_add_tcase(suite, t);
}

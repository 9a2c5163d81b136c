/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Records that clients write, from the state into the snapshot: by what changed, at
 * random against the state itself; the epoch and what it stands for stay.
 */
#include <check.h>
#include <errno.h>

#include "db/lmdb/layout.h"
#include "db/snapshot/reader.h"
#include "db/snapshot/snapshot.h"
#include "db/state/state.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

enum { ROWS = 4096, KEYS = 60 };

static char dir[256];
static struct fabric fabric;
static struct state *state;
static struct snap_writer *w;
static struct snap_reader *local, *foreign;
static struct snap_content content;
static uint64_t seed;

/* Rows as text, copied: key=value. */
struct rows {
	struct client_row row[ROWS];
	char bytes[ROWS][2][32];
	size_t n;
};
static struct rows told;

static int take(void *ctx, const struct client_row *row)
{
	struct rows *r = ctx;
	struct client_row *to = &r->row[r->n];

	ck_assert_uint_lt(r->n, ROWS);
	*to = *row;
	memcpy(r->bytes[r->n][0], row->key, row->key_len);
	to->key = (uint8_t *)r->bytes[r->n][0];
	if (row->value) {
		memcpy(r->bytes[r->n][1], row->value, row->len);
		to->value = (uint8_t *)r->bytes[r->n][1];
	}
	r->n++;
	return E_OK;
}

static enum record_table taking;

static int take_all(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                    size_t len)
{
	const struct client_row row = { key, value, taking, (uint16_t)key_len,
		                        (uint16_t)len };
	return take(ctx, &row);
}

static void read_all(struct rows *r)
{
	r->n = 0;
	for (unsigned t = RECORDS_MIRRORED_FIRST; t < RECORDS_MIRRORED_END; t++) {
		taking = (enum record_table)t;
		ck_assert_int_eq(state_records(state, taking, take_all, r), E_OK);
	}
}

static void publish(uint64_t epoch)
{
	struct snap_published done;

	content.epoch = epoch;
	ck_assert_int_eq(snap_publish(w, &content, 1, &done), E_OK);
}

static void setup(void)
{
	const struct snap_options options = { .grace_ms = 1000, .need_bytes = 1 << 20 };
	const char *why = "";

	make_tmp(dir);
	fabric_init(&fabric, "ft2 2 2 2", 0);
	ck_assert_int_eq(state_open(dir, fabric.a, &why, &state), E_OK);
	ck_assert_int_eq(snap_writer_open(dir, &options, fabric.a, &why, &w), E_OK);
	content = (struct snap_content){ .g = fabric.g,
		                         .lids = &fabric.lids,
		                         .route = &fabric.route,
		                         .options_text = "options",
		                         .n_stages = 1,
		                         .stage = { { "discover", 1 } } };
	ck_assert_int_eq(snap_reader_local(w, &local), E_OK);
	seed = 7;
}

static void teardown(void)
{
	snap_reader_close(local);
	snap_reader_close(foreign);
	foreign = NULL;
	snap_writer_close(w);
	state_close(state);
	arena_free(fabric.a);
	remove_tree(dir);
}

static void ignore(void *ctx, int ret)
{
	(void)ctx;
	ck_assert_int_eq(ret, E_OK);
}

static unsigned dice(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static void change(enum record_table table, const char *key, const char *value)
{
	struct state_batch *b;

	ck_assert_int_eq(state_batch_new(&b), E_OK);
	ck_assert_int_eq(state_batch_put(b, table, key, strlen(key), value,
	                                 value ? strlen(value) : 0),
	                 E_OK);
	state_batch_commit(state, b, ignore, NULL);
}

static void change_some(unsigned n)
{
	char key[16], value[16];

	for (unsigned i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "%.*s%u", (int)dice(3), "ab", dice(KEYS));
		snprintf(value, sizeof(value), "%u", dice(5));
		change((enum record_table)(RECORDS_MIRRORED_FIRST + dice(RECORDS_MIRRORED)), key,
		       dice(3) ? value : NULL);
	}
	state_flush(state);
}

static struct snap_published mirror(bool all)
{
	struct snap_published done = { .txn = 99 };

	ck_assert_int_eq(snap_mirror(w, told.row, told.n, all, 1, &done), E_OK);
	return done;
}

static void same_row(const struct client_row *a, const struct client_row *b)
{
	ck_assert_uint_eq(a->key_len, b->key_len);
	ck_assert_uint_eq(a->len, b->len);
	ck_assert_mem_eq(a->key, b->key, a->key_len);
	ck_assert_mem_eq(a->value, b->value, a->len);
}

/* Has a reader what the state has? */
static void same_as_state(struct snap_reader *r)
{
	static struct rows rows;
	struct client_row got;
	size_t i = 0;

	read_all(&rows);
	ck_assert_int_eq(snap_pin(r), E_OK);
	for (unsigned t = RECORDS_MIRRORED_FIRST; t < RECORDS_MIRRORED_END; t++) {
		int ret = snap_client_row_from(r, (enum record_table)t, "", 0, &got);
		for (; ret == E_OK; i++) {
			ck_assert_uint_lt(i, rows.n);
			ck_assert_uint_eq(rows.row[i].table, t);
			same_row(&rows.row[i], &got);
			ret = snap_client_row_next(r, (enum record_table)t, &got);
		}
		ck_assert_int_eq(ret, E_NOTFOUND);
	}
	ck_assert_uint_eq(i, rows.n);
	ck_assert_int_eq(snap_check(r), E_OK);
}

static void changes(int expected)
{
	told.n = 0;
	ck_assert_int_eq(state_changes(state, take, &told), expected);
}

START_TEST(as_the_state)
{
	const char *why = "";

	publish(1);
	ck_assert_int_eq(snap_reader_open(dir, fabric.a, &why, &foreign), E_OK);
	change_some(100);
	changes(E_STALE); /* nobody listened */
	read_all(&told);
	mirror(true);
	same_as_state(local);
	for (unsigned round = 0; round < 60; round++) {
		change_some(dice(40));
		changes(E_OK);
		mirror(false);
		same_as_state(local);
		same_as_state(foreign);
		if (dice(5) == 0) {
			publish(1 + round);
			same_as_state(local);
		}
	}
}
END_TEST

START_TEST(keeps_the_epoch)
{
	publish(5);
	ck_assert_int_eq(snap_pin(local), E_OK);
	struct snap_meta before = *snap_meta(local);
	changes(E_STALE);
	change(RECORDS_GROUPS, "g", "1");
	state_flush(state);
	changes(E_OK);
	ck_assert_uint_eq(told.n, 1);
	struct snap_published done = mirror(false);
	ck_assert_int_eq(snap_pin(local), E_OK);
	const struct snap_meta *m = snap_meta(local);
	ck_assert_uint_eq(m->epoch, 5);
	ck_assert_uint_eq(m->txn, done.txn);
	ck_assert_uint_gt(m->txn, before.txn);
	ck_assert_uint_eq(m->version[SNAP_META], before.version[SNAP_META]);
	ck_assert_uint_eq(m->version[SNAP_LFT], before.version[SNAP_LFT]);
	ck_assert_uint_eq(m->version[SNAP_GROUPS], m->txn);
	ck_assert_uint_eq(m->version[SNAP_MEMBERS], 0);
	ck_assert_str_eq(m->engine_asked, "minhop");
	ck_assert_str_eq(m->stage[0].name, "discover");
	ck_assert_uint_eq(snap_epoch(w), 5);
	publish(6);
	ck_assert_int_eq(snap_pin(local), E_OK);
	ck_assert_uint_gt(snap_meta(local)->version[SNAP_META], before.version[SNAP_META]);
	ck_assert_uint_eq(snap_meta(local)->version[SNAP_GROUPS], done.txn);
}
END_TEST

/* Rows that are equal already are not written, and neither is the head. */
START_TEST(nothing_differs)
{
	publish(1);
	changes(E_STALE);
	change(RECORDS_SERVICES, "a", "1");
	change(RECORDS_SERVICES, "b", "2");
	change(RECORDS_SERVICES, "a", NULL);
	state_flush(state);
	changes(E_OK);
	ck_assert_uint_eq(told.n, 2); /* each once */
	ck_assert_ptr_null(told.row[0].value);
	ck_assert_uint_eq(mirror(false).rows, 1);
	ck_assert_uint_eq(mirror(false).txn, 0);
	read_all(&told);
	ck_assert_uint_eq(mirror(true).txn, 0);
	change(RECORDS_SERVICES, "b", "2");
	state_flush(state);
	changes(E_OK);
	ck_assert_uint_eq(told.n, 1);
	ck_assert_uint_eq(mirror(false).txn, 0);
	changes(E_OK);
	ck_assert_uint_eq(told.n, 0);
}
END_TEST

START_TEST(not_published)
{
	struct snap_published done;

	ck_assert_int_eq(snap_mirror(w, NULL, 0, true, 1, &done), E_NOTREADY);
}
END_TEST

static int refuse(void *ctx, const struct client_row *row)
{
	(void)ctx;
	(void)row;
	return -ENOMEM;
}

/* A change log that overflowed is not read later as if it were complete. */
START_TEST(lost)
{
	publish(1);
	changes(E_STALE);
	change(RECORDS_SERVICES, "a", "1");
	state_flush(state);
	ck_assert_int_eq(state_changes(state, refuse, NULL), -ENOMEM);
	changes(E_STALE);
	changes(E_OK);
	for (unsigned i = 0; i < 200000; i++) {
		change(RECORDS_SERVICES,
		       "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
		       "1");
	}
	state_flush(state);
	changes(E_STALE);
	changes(E_OK);
	ck_assert_uint_eq(told.n, 0);
}
END_TEST

TEST_SUITE(mirror)
{
	TCase *tc = tcase_create("mirror");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, as_the_state);
	tcase_add_test(tc, keeps_the_epoch);
	tcase_add_test(tc, nothing_differs);
	tcase_add_test(tc, not_published);
	tcase_add_test(tc, lost);
	suite_add_tcase(suite, tc);
}

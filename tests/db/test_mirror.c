/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Records that clients write, from the state into the snapshot: by what changed, at
 * random against the state itself; the epoch and what it stands for stay.
 */
#include <check.h>
#include <errno.h>

#include "db/lmdb/known.h"
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

/* --- ports that are gone ------------------------------------------------------------------ */

enum { A = 0x10, TWIN = 0x20, LEFT_NOW = 0x40 };

/* clang-format off */
/* By GUID and port; the node of the last one is put in. */
static struct known_node gone[] = {
	{ .node_guid = A, .port_guid = 0x11, .port = 1, .gone_s = 100, .lid = 5, .name = "alpha" },
	{ .node_guid = TWIN, .port_guid = 0x21, .port = 1, .gone_s = 150, .name = "twin" },
	{ .node_guid = TWIN, .port_guid = 0x22, .port = 2, .gone_s = 200, .lid = 5, .name = "twin" },
	{ .node_guid = 0x30, .port_guid = 0x31, .port = 2, .gone_s = 120, .lid = 6, .name = "twin" },
	{ .node_guid = LEFT_NOW, .port_guid = 0x41, .port = 1, .name = "just left" },
	{ .port_guid = 0x51, .port = 1, .lid = 7, .name = "still there" },
};

static const struct {
	const char *text;
	uint64_t guid; /* 0: none */
	uint8_t port;
} texts[] = {
	{ "alpha", A, 1 },      { "alpha:1", A, 1 },   { "alpha:2", 0, 0 },
	{ "alpha:x", 0, 0 },    { "alph:1", 0, 0 },    { "alphas:1", 0, 0 },
	{ "beta:1", 0, 0 },     { "", 0, 0 },          { ":1", 0, 0 },
	{ "twin", TWIN, 2 },    { "twin:1", TWIN, 1 }, { "twin:2", TWIN, 2 },
	{ "0x30", 0x30, 2 },    { "0x22", TWIN, 2 },   { "0000000000000020", TWIN, 2 },
	{ "5", TWIN, 2 },       { "6", 0x30, 2 },      { "0", 0, 0 },
	{ "just left", LEFT_NOW, 1 },                  { "just left:1", LEFT_NOW, 1 },
	{ "still there", 0, 0 }, { "still there:1", 0, 0 }, { "0x51", 0, 0 }, { "7", 0, 0 },
};
/* clang-format on */

/* By each of its names a port is found that went, the last one of several. */
START_TEST(gone_by_name)
{
	enum { NODES = sizeof(gone) / sizeof(gone[0]) };
	static uint8_t key[NODES][KNOWN_KEY_BYTES], value[NODES][KNOWN_ROW_MAX];
	struct client_row row[NODES];
	struct snap_published done;

	gone[NODES - 1].node_guid = fabric.g->nodes[0].guid;
	ck_assert_uint_gt(gone[NODES - 1].node_guid, LEFT_NOW);
	for (unsigned i = 0; i < NODES; i++) {
		known_key(gone[i].node_guid, gone[i].port, key[i]);
		row[i] = (struct client_row){ key[i], value[i], RECORDS_KNOWN, KNOWN_KEY_BYTES,
			                      (uint16_t)known_encode(&gone[i], value[i]) };
	}
	publish(1);
	ck_assert_int_eq(snap_mirror(w, row, NODES, true, 1, &done), E_OK);
	ck_assert_int_eq(snap_pin(local), E_OK);
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct known_node n = { .node_guid = 0 };
		int ret = snap_known_gone(local, texts[i].text, &n);

		ck_assert_msg(ret == (texts[i].guid != 0 ? E_OK : E_NOTFOUND), "%s: %d",
		              texts[i].text, ret);
		ck_assert_msg(n.node_guid == texts[i].guid && n.port == texts[i].port,
		              "%s: another one", texts[i].text);
	}
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
	tcase_add_test(tc, gone_by_name);
	suite_add_tcase(suite, tc);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Changes from epoch to epoch: composed of records, and compared row by row. */
#include <check.h>
#include <stdlib.h>

#include "db/lmdb/diff.h"
#include "db/lmdb/layout.h"
#include "db/snapshot/history.h"
#include "db/snapshot/reader.h"
#include "db/snapshot/snapshot_int.h"
#include "tests/lib/db_util.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

enum { EPOCHS = 12, GAP = 3, ROOM = 4 << 20 };

/* A row as it was stored when its epoch ended. */
struct row {
	enum change_kind kind;
	uint8_t key[CHUNK_KEY];
	size_t key_len, len;
	uint8_t *val;
};

struct epoch_rows {
	uint64_t epoch, pairs;
	struct row *row; /* by kind and key */
	size_t n;
};

static char dir[256];
static struct snap_writer *w;
static struct arena *arena;
static struct graph *base;
static bool *gone, *cut;
static uint64_t seed;
static struct epoch_rows seen[EPOCHS];
static unsigned n_seen;

static void open_writer(uint64_t history_bytes)
{
	struct snap_options o = { .grace_ms = 10000, .history_bytes = history_bytes };
	const char *why = "";

	ck_assert_msg(snap_writer_open(dir, &o, arena, &why, &w) == E_OK, "%s", why);
}

static void setup(void)
{
	make_tmp(dir);
	arena = arena_new();
	base = fabric_make("ft2 4 4 2", 0, 1, arena);
	gone = arena_array(arena, base->n_nodes, sizeof(*gone));
	cut = arena_array(arena, base->n_ports, sizeof(*cut));
	n_seen = 0;
	seed = 77;
}

static void teardown(void)
{
	snap_writer_close(w);
	w = NULL;
	arena_free(arena);
	remove_tree(dir);
}

/* --- a fabric that changes ------------------------------------------------------------- */

/* Hosts come and go, so LIDs move; cables between switches come and go, so routes move. */
static void change_fabric(void)
{
	for (unsigned i = random_below(&seed, 3); i > 0; i--) {
		uint32_t host = base->ports[base->end_ports[random_below(
						    &seed, base->n_end_ports)]]
		                        .node;

		if (base->nodes[host].type == NODE_CA &&
		    host != base->ports[base->sm_port].node) {
			gone[host] = !gone[host];
		}
	}
	for (unsigned i = random_below(&seed, 3); i > 0; i--) {
		uint32_t p = random_below(&seed, base->n_ports), q = base->ports[p].peer;

		if (q != GRAPH_NONE &&
		    base->nodes[base->ports[p].node].type == NODE_SWITCH &&
		    base->nodes[base->ports[q].node].type == NODE_SWITCH) {
			cut[p] = cut[q] = !(cut[p] || cut[q]);
		}
	}
}

static void route(struct fabric *f)
{
	struct lids_in in = { .g = f->g };
	struct route_request rq = { .g = f->g,
		                    .lids = &f->lids,
		                    .credit_loops = CREDIT_PROGRAM };
	struct why why = { "" };

	ck_assert_int_eq(lids_assign(&in, f->a, &f->d, &f->lids, NULL, NULL), E_OK);
	ck_assert_int_eq(route_list_parse("minhop", &rq.list, &why), E_OK);
	ck_assert_int_eq(route_run(&rq, f->a, &f->route), E_OK);
}

/* Publishes the fabric, and a second time within the epoch with other port states. */
static void publish(uint64_t epoch)
{
	struct fabric f = { .a = arena };
	struct snap_published p;

	diags_init(&f.d, arena);
	f.g = fabric_without(base, gone, cut, arena);
	f.g->sm_port = f.g->end_ports[0];
	route(&f);
	for (unsigned again = 0; again < 3; again++) {
		struct snap_content c = fabric_content(&f, epoch);

		c.computed_at = (int64_t)(1000 * epoch);
		for (uint32_t i = 0; i < f.g->n_ports; i++) {
			f.g->ports[i].state = (uint8_t)(1 + random_below(&seed, 4));
		}
		ck_assert_int_eq(snap_publish(w, &c, 20000 * epoch, &p), E_OK);
	}
}

/* --- what is stored, and how two epochs differ ----------------------------------------- */

static const struct {
	enum change_kind kind;
	unsigned table;
} tables[] = {
	{ CHANGE_NODE, SNAP_NODES },
	{ CHANGE_LINK, SNAP_LINKS },
	{ CHANGE_PORT, SNAP_PORTS },
	{ CHANGE_LFT, SNAP_LFT },
};

static void remember(uint64_t epoch)
{
	struct epoch_rows *s = &seen[n_seen++];
	struct db_txn t;
	struct db_val k, v;
	size_t n = 0;

	s->epoch = epoch;
	s->pairs = w->last.pairs;
	ck_assert_int_eq(db_begin(&t, w->db, false), E_OK);
	for (unsigned pass = 0; pass < 2; pass++) {
		n = 0;
		for (unsigned i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
			int ret = db_seek(&t, tables[i].table, NULL, 0, &k, &v);

			for (; ret == E_OK;
			     ret = db_next(&t, tables[i].table, &k, &v), n++) {
				if (pass == 0) {
					continue;
				}
				struct row *r = &s->row[n];

				ck_assert_uint_le(k.len, sizeof(r->key));
				*r = (struct row){ .kind = tables[i].kind,
					           .key_len = k.len,
					           .len = v.len,
					           .val = arena_alloc(arena, v.len) };
				memcpy(r->key, k.data, k.len);
				memcpy(r->val, v.data, v.len);
			}
		}
		if (pass == 0) {
			s->row = arena_array(arena, n, sizeof(*s->row));
		}
	}
	s->n = n;
	db_abort(&t);
}

static const struct row none;

static int row_order(const struct row *a, const struct row *b)
{
	return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1)
	                          : memcmp(a->key, b->key, a->key_len);
}

static uint8_t entry(const struct row *r, size_t at)
{
	return at < r->len ? r->val[at] : 0xff;
}

/* \return Does the change say what became of a row? false: it did not change. */
static bool check_change(const struct snap_change *c, const struct row *a,
                         const struct row *b, const struct row *key)
{
	uint32_t n = 0;
	size_t end = a->len > b->len ? a->len : b->len;

	if (key->kind != CHANGE_LFT) {
		if (a->len == b->len &&
		    (a->len == 0 || memcmp(a->val, b->val, a->len) == 0)) {
			return false;
		}
		ck_assert_uint_eq(c->was_len, a->len);
		ck_assert_uint_eq(c->is_len, b->len);
		ck_assert(a->len == 0 || memcmp(c->was, a->val, a->len) == 0);
		ck_assert(b->len == 0 || memcmp(c->is, b->val, b->len) == 0);
	}
	for (size_t i = 0; key->kind == CHANGE_LFT && i < end; i++) {
		if (entry(a, i) == entry(b, i)) {
			continue;
		}
		if (c->entries != NULL) {
			ck_assert_uint_lt(n, c->count);
			ck_assert_uint_eq(c->entries[n].at, i);
			ck_assert_uint_eq(c->entries[n].was, entry(a, i));
			ck_assert_uint_eq(c->entries[n].is, entry(b, i));
		}
		n++;
	}
	if (key->kind == CHANGE_LFT && c->at_most) {
		ck_assert_uint_ge(c->count, n);
	} else if (key->kind == CHANGE_LFT && n == 0) {
		return false;
	} else if (key->kind == CHANGE_LFT) {
		ck_assert_uint_eq(c->count, n);
	}
	ck_assert_int_eq(c->kind, key->kind);
	ck_assert_uint_eq(c->key_len, key->key_len);
	ck_assert_mem_eq(c->key, key->key, key->key_len);
	return true;
}

static void check_routing(const struct snap_changes *found, const struct epoch_rows *a,
                          const struct epoch_rows *b, size_t *at)
{
	struct row_routing was, is;

	if (found->n == 0 || found->list[0].kind != CHANGE_ROUTING) {
		ck_assert_uint_eq(a->pairs, b->pairs);
		return;
	}
	ck_assert_uint_eq(found->list[0].was_len, sizeof(was));
	ck_assert_uint_eq(found->list[0].is_len, sizeof(is));
	memcpy(&was, found->list[0].was, sizeof(was));
	memcpy(&is, found->list[0].is, sizeof(is));
	ck_assert_uint_eq(was.pairs, a->pairs);
	ck_assert_uint_eq(is.pairs, b->pairs);
	ck_assert_str_eq(is.engine, "minhop");
	++*at;
}

/* Both lists are in the order of kind and key. \param exact  No numbers that are too high. */
static void check_pair(struct snap_reader *r, const struct epoch_rows *a,
                       const struct epoch_rows *b, bool exact)
{
	struct arena *scratch = arena_new();
	struct snap_changes found;
	size_t i = 0, j = 0, at = 0;

	ck_assert_int_eq(snap_changes(r, a->epoch, b->epoch, scratch, &found), E_OK);
	if (a != b) { /* the head of the oldest one is gone */
		ck_assert_int_eq(found.to_time, (int64_t)(1000 * b->epoch));
	}
	check_routing(&found, a, b, &at);
	while (i < a->n || j < b->n) {
		int c = i == a->n   ? 1
		        : j == b->n ? -1
		                    : row_order(&a->row[i], &b->row[j]);
		const struct row *x = c <= 0 ? &a->row[i] : &none,
				 *y = c >= 0 ? &b->row[j] : &none;
		static const struct snap_change nothing;
		const struct snap_change *got = at < found.n ? &found.list[at] : &nothing;

		if (!exact && got->at_most && got->kind == CHANGE_LFT &&
		    memcmp(got->key, (c <= 0 ? x : y)->key, got->key_len) != 0) {
			got = &nothing;
		}
		at += check_change(got, x, y, c <= 0 ? x : y);
		i += c <= 0;
		j += c >= 0;
	}
	ck_assert_uint_eq(at, found.n);
	for (size_t k = 0; k < found.n; k++) {
		ck_assert(!exact || !found.list[k].at_most);
		ck_assert(!exact || found.list[k].kind != CHANGE_LFT ||
		          found.list[k].entries != NULL);
	}
	arena_free(scratch);
}

static void check_all_pairs(unsigned first, bool exact)
{
	struct snap_reader *r;

	ck_assert_int_eq(snap_reader_local(w, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	for (unsigned i = first; i < n_seen; i++) {
		for (unsigned j = i; j < n_seen; j++) {
			check_pair(r, &seen[i], &seen[j], exact);
		}
	}
	ck_assert_int_eq(snap_check(r), E_OK);
	snap_reader_close(r);
}

static int oldest(uint64_t *ret_oldest)
{
	struct snap_reader *r;

	ck_assert_int_eq(snap_reader_local(w, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	int ret = snap_changes_oldest(r, ret_oldest);
	snap_reader_close(r);
	return ret;
}

static void run(unsigned epochs)
{
	for (unsigned i = 0; i < epochs; i++) {
		uint64_t epoch =
			10 + 2 * n_seen - (n_seen == GAP); /* some numbers are not used */

		change_fabric();
		publish(epoch);
		remember(epoch);
	}
}

/* Opened again now and then, as by a daemon that is restarted. */
START_TEST(composed_is_direct)
{
	uint64_t first = 0;

	seed = 1000 + (uint64_t)_i;
	open_writer(ROOM);
	run(EPOCHS / 2);
	struct history before = w->history;
	ck_assert_uint_eq(before.epochs, EPOCHS / 2);
	snap_writer_close(w);
	open_writer(ROOM);
	ck_assert_uint_eq(w->history.bytes, before.bytes);
	ck_assert_uint_eq(w->history.epochs, before.epochs);
	run(EPOCHS - EPOCHS / 2);
	ck_assert_int_eq(oldest(&first), E_OK);
	ck_assert_uint_eq(first, seen[0].epoch);
	check_all_pairs(0, true);
}
END_TEST

/* The oldest go; what is left is as right as before. */
START_TEST(oldest_go_first)
{
	enum { LITTLE = 24 << 10 };
	uint64_t first = 0;
	unsigned i = 0;

	open_writer(LITTLE);
	run(EPOCHS);
	ck_assert_uint_le(w->history.bytes, LITTLE);
	ck_assert_int_eq(oldest(&first), E_OK);
	ck_assert_uint_gt(first, seen[0].epoch);
	while (i < n_seen && seen[i].epoch != first) {
		i++;
	}
	ck_assert_uint_lt(i + 1, n_seen);
	ck_assert_uint_eq(w->history.epochs, n_seen - i - 1);
	check_all_pairs(i, false);
	struct history before = w->history;
	snap_writer_close(w);
	open_writer(LITTLE);
	ck_assert_uint_eq(w->history.bytes, before.bytes);
	ck_assert_uint_eq(w->history.epochs, before.epochs);
}
END_TEST

/* Too many entries: their numbers, exact for one epoch, at most for several. */
START_TEST(numbers_only)
{
	struct arena *scratch = arena_new();
	struct snap_changes found;
	struct snap_reader *r;
	unsigned only = 0, listed = 0, most = 0;
	uint64_t first = 0;

	open_writer(ROOM);
	w->history.max_entries = 20;
	run(EPOCHS);
	ck_assert_int_eq(oldest(&first), E_OK);
	ck_assert_int_eq(snap_reader_local(w, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	for (unsigned i = 0; i < n_seen; i++) {
		for (unsigned j = i; seen[i].epoch >= first && j < n_seen; j++) {
			check_pair(r, &seen[i], &seen[j], false);
			ck_assert_int_eq(snap_changes(r, seen[i].epoch, seen[j].epoch,
			                              scratch, &found),
			                 E_OK);
			for (size_t k = 0; k < found.n; k++) {
				const struct snap_change *c = &found.list[k];

				only += c->kind == CHANGE_LFT && !c->entries &&
				        !c->at_most;
				most += c->kind == CHANGE_LFT && !c->entries &&
				        c->at_most;
				listed += c->kind == CHANGE_LFT && c->entries;
			}
		}
	}
	ck_assert_uint_gt(only, 0);
	ck_assert_uint_gt(most, 0);
	ck_assert_uint_gt(listed, 0);
	snap_reader_close(r);
	arena_free(scratch);
}
END_TEST

START_TEST(nothing_is_kept)
{
	uint64_t first = 0;

	open_writer(0);
	run(2);
	ck_assert_int_eq(oldest(&first), E_NOTFOUND);
	snap_writer_close(w);
	open_writer(ROOM);
	run(2); /* from the epoch on that was there */
	ck_assert_int_eq(oldest(&first), E_OK);
	ck_assert_uint_eq(first, seen[1].epoch);
	check_all_pairs(1, true);
	snap_writer_close(w);
	open_writer(0);
	run(1);
	ck_assert_int_eq(oldest(&first), E_NOTFOUND);
	snap_writer_close(w);
	open_writer(100); /* less than any record */
	run(2);
	ck_assert_int_eq(oldest(&first), E_OK);
	ck_assert_uint_eq(first, seen[n_seen - 1].epoch);
	check_all_pairs(n_seen - 1, true);
}
END_TEST

TEST_SUITE(history)
{
	TCase *t = tcase_create("history");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, composed_is_direct, 0, 4);
	tcase_add_test(t, oldest_go_first);
	tcase_add_test(t, numbers_only);
	tcase_add_test(t, nothing_is_kept);
	suite_add_tcase(suite, t);
}

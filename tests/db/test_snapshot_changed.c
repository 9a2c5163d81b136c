/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Publishes of a fabric of which some nodes changed: what is stored afterwards is, row by row, what a
 * publish of all nodes into another snapshot stores. And who chooses the epoch.
 */
#include <check.h>
#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/txn.h"
#include "db/snapshot/snapshot_int.h"
#include "routing/graph/lids.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

enum { ATTRS_MAX = 200 };

static char dir[256], other_dir[256];
static struct arena *arena;
static struct snap_writer *w, *other;
static struct fabric fabric;
static uint8_t p_keys[ATTRS_MAX][64], guids[ATTRS_MAX][64];

static void open_writer(char path[256], struct snap_writer **ret_writer)
{
	struct snap_options o = { .grace_ms = 10000 };
	const char *why = "";

	make_tmp(path);
	ck_assert_msg(snap_writer_open(path, &o, arena, &why, ret_writer) == E_OK, "%s",
	              why);
}

static void setup(void)
{
	arena = arena_new();
	open_writer(dir, &w);
	open_writer(other_dir, &other);
	fabric_init(&fabric, "ft2 3 2 2", 1);
	memset(p_keys, 0, sizeof(p_keys));
	memset(guids, 0, sizeof(guids));
	for (uint32_t i = 0; i < fabric.g->n_nodes; i++) {
		p_keys[i][0] = p_keys[i][1] = 0xff;
		p_keys[i][3] = (uint8_t)(i % 3 + 1); /* three different sets */
		guids[i][15] = (uint8_t)(i + 1);     /* an alias GUID */
	}
}

static void teardown(void)
{
	snap_writer_close(w);
	snap_writer_close(other);
	fabric_done(&fabric);
	arena_free(arena);
	remove_tree(dir);
	remove_tree(other_dir);
}

/* P_Keys and GUIDs of the first port of nodes. */
static void add_attrs(struct snap_content *c, const uint32_t *node, size_t n)
{
	struct snap_attr *at = arena_array(arena, 2 * n + 1, sizeof(*at));

	c->n_attrs = 0;
	for (unsigned k = 0; k < 2; k++) {
		for (size_t i = 0; i < n; i++) {
			uint32_t v = node != NULL ? node[i] : (uint32_t)i;
			unsigned port = fabric.g->nodes[v].type == NODE_SWITCH ? 0 : 1;

			at[c->n_attrs++] = (struct snap_attr){
				.guid = fabric.g->nodes[v].guid,
				.attr = k == 0 ? UMAD_SM_ATTR_GUID_INFO
				               : UMAD_SM_ATTR_PKEY_TABLE,
				.block = port << (k == 0 ? 8 : 16),
				.data = k == 0 ? guids[v] : p_keys[v],
				.len = 64,
			};
		}
	}
	c->attrs = at;
}

static void publish_to(struct snap_writer *to, const struct snap_content *c)
{
	struct snap_published p;

	ck_assert_int_eq(snap_publish(to, c, 0, &p), E_OK);
}

static void publish_all(struct snap_writer *to, uint64_t epoch)
{
	struct snap_content c = fabric_content(&fabric, epoch);

	add_attrs(&c, NULL, fabric.g->n_nodes);
	publish_to(to, &c);
}

#define NO_TABLE(id, name)
#define TABLE_OF(id, name, epoch) SNAP_##id,
static const unsigned tables[] = { SNAP_TABLES(NO_TABLE, TABLE_OF, TABLE_OF, NO_TABLE) };

static void same_value(const struct db_val *a, const struct db_val *b, unsigned table)
{
	ck_assert_msg(a->len == b->len && memcmp(a->data, b->data, a->len) == 0,
	              "table %u differs", table);
}

/* Publishes nodes as changed, and compares with a publish of all. */
static void check_changed(const uint32_t *node, size_t n, uint64_t epoch)
{
	struct snap_content c = fabric_content(&fabric, epoch);
	struct db_txn a, b;

	add_attrs(&c, node, n);
	c.changed = node;
	c.n_changed = n;
	publish_to(w, &c);
	publish_all(other, epoch);
	ck_assert_int_eq(db_begin(&a, w->db, false), E_OK);
	ck_assert_int_eq(db_begin(&b, other->db, false), E_OK);
	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct db_val ka, va, kb, vb;
		int x = db_seek(&a, tables[i], NULL, 0, &ka, &va),
		    y = db_seek(&b, tables[i], NULL, 0, &kb, &vb);

		while (x == E_OK && y == E_OK) {
			same_value(&ka, &kb, tables[i]);
			same_value(&va, &vb, tables[i]);
			x = db_next(&a, tables[i], &ka, &va);
			y = db_next(&b, tables[i], &kb, &vb);
		}
		ck_assert_msg(x == y, "table %u has other rows", tables[i]);
	}
	db_abort(&a);
	db_abort(&b);
}

/* The first node of a type from here on. */
static uint32_t node_of(enum node_type type, uint32_t from)
{
	while (fabric.g->nodes[from].type != type) {
		from++;
	}
	return from;
}

START_TEST(test_attributes)
{
	uint32_t host = node_of(NODE_CA, 0);

	publish_all(w, 1);
	p_keys[host][5] = 0x77; /* a set that is new */
	check_changed(&host, 1, 2);
	p_keys[host][5] = 0; /* and gone again, which gives others other numbers */
	p_keys[host][3] = (uint8_t)(p_keys[host][3] % 3 + 1);
	check_changed(&host, 1, 3);
	guids[host][15] = 0x99; /* another alias; those of other nodes stay */
	check_changed(&host, 1, 4);
}
END_TEST

START_TEST(test_names)
{
	uint32_t host = node_of(NODE_CA, 0);

	publish_all(w, 1);
	fabric.g->nodes[host].description = "another name";
	check_changed(&host, 1, 2);
}
END_TEST

/* The row of a cable is with the end of the smaller GUID, and rates and MTUs are those of
 * both ends. */
START_TEST(test_cable)
{
	struct graph *g = fabric.g;
	uint32_t host = node_of(NODE_CA, 0), port = g->nodes[host].first_port + 1;
	uint32_t peer = g->ports[port].peer, ends[2] = { host, g->ports[peer].node };

	if (ends[0] > ends[1]) {
		ends[0] = ends[1];
		ends[1] = host;
	}
	publish_all(w, 1);
	g->ports[port].speed = SPEED_SDR;
	g->ports[port].mtu = 1;
	check_changed(ends, 2, 2);
	g->ports[port].peer = g->ports[peer].peer = GRAPH_NONE;
	check_changed(ends, 2, 3);
	g->ports[port].peer = peer;
	g->ports[peer].peer = port;
	check_changed(ends, 2, 4);
}
END_TEST

static unsigned n_asked;
static bool last_differs;

static int choose(void *ctx, bool differs, struct snap_content *c)
{
	n_asked++;
	last_differs = differs;
	c->epoch = *(uint64_t *)ctx += differs;
	return E_OK;
}

/* \return Did what an epoch stands for differ? */
static bool publish_choosing(uint64_t *epoch, const char *options)
{
	struct snap_content c = fabric_content(&fabric, 0);

	add_attrs(&c, NULL, fabric.g->n_nodes);
	c.options_text = options;
	c.choose_epoch = choose;
	c.choose_ctx = epoch;
	publish_to(w, &c);
	ck_assert_uint_eq(snap_epoch(w), *epoch);
	return last_differs;
}

START_TEST(test_choose_epoch)
{
	uint64_t epoch = 0;
	uint32_t host = node_of(NODE_CA, 0), port = fabric.g->nodes[host].first_port + 1;

	ck_assert(publish_choosing(&epoch, "a"));
	ck_assert(!publish_choosing(&epoch, "a"));
	fabric.g->ports[port].state = PORT_ARMED; /* a state is no part of it */
	ck_assert(!publish_choosing(&epoch, "a"));
	fabric.g->ports[port].vls = 1;
	ck_assert(publish_choosing(&epoch, "a"));
	p_keys[host][5] = 0x77;
	ck_assert(publish_choosing(&epoch, "a"));
	ck_assert(publish_choosing(&epoch, "b"));
	ck_assert(!publish_choosing(&epoch, "b"));
	ck_assert_uint_eq(n_asked, 7);
	ck_assert_uint_eq(epoch, 4);
}
END_TEST

TEST_SUITE(snapshot_changed)
{
	TCase *t = tcase_create("changed");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_attributes);
	tcase_add_test(t, test_names);
	tcase_add_test(t, test_cable);
	tcase_add_test(t, test_choose_epoch);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* P_Keys that end ports share, by tables of random P_Keys, against the rule written out.
 */
#include <check.h>

#include <infiniband/umad_sm.h>

#include "db/lmdb/layout.h"
#include "tests/lib/db_util.h"
#include "tests/lib/suite.h"

enum { PORTS_MAX = 32, KEYS_MAX = 40, BASES = 6 };

static char dir[256];
static struct arena *arena;
static struct snap_writer *w;
static struct fabric fabric;
static uint32_t seed;

static uint32_t next(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* The table of one end port, as a test knows it. */
struct table {
	bool known;
	unsigned n; /* places, also empty ones */
	uint16_t key[KEYS_MAX];
};

static struct table table[PORTS_MAX];

static void setup(void)
{
	struct snap_options o = { .grace_ms = 10000 };
	const char *why = "";

	make_tmp(dir);
	arena = arena_new();
	ck_assert_int_eq(snap_writer_open(dir, &o, arena, &why, &w), E_OK);
	fabric_init(&fabric, "ft2 4 3 2", 0);
	ck_assert_uint_le(fabric.g->n_end_ports, PORTS_MAX);
}

static void teardown(void)
{
	snap_writer_close(w);
	fabric_done(&fabric);
	arena_free(arena);
	remove_tree(dir);
}

static void random_table(struct table *t)
{
	*t = (struct table){ .known = next(5) != 0 };
	if (!t->known) {
		t->n = 1;
		t->key[0] = 0xffff;
		return;
	}
	t->n = next(4) == 0 ? 33 + next(KEYS_MAX - 33) : next(4);
	for (unsigned i = 0; i < t->n; i++) {
		uint16_t base = next(3) == 0 ? 0x7fff : (uint16_t)next(BASES);
		t->key[i] = base | (next(2) ? 0x8000 : 0);
	}
}

/* Two blocks per port that has a known table, in the order of GUIDs. */
static struct snap_attr *attrs_of_tables(size_t *ret_n)
{
	const struct graph *g = fabric.g;
	struct snap_attr *list = arena_array(arena, 2 * PORTS_MAX, sizeof(*list));
	size_t n = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		for (uint32_t e = 0; e < g->n_end_ports; e++) {
			const struct port *p = &g->ports[g->end_ports[e]];
			if (p->node != i || !table[e].known) {
				continue;
			}
			uint8_t *bytes = arena_alloc(arena, 128);
			for (unsigned k = 0; k < table[e].n; k++) {
				key_u16(bytes + 2 * k, table[e].key[k]);
			}
			for (unsigned b = 0; b < 2; b++) {
				list[n++] = (struct snap_attr){
					g->nodes[i].guid, UMAD_SM_ATTR_PKEY_TABLE,
					(uint32_t)p->num << 16 | b, bytes + 64 * b, 64
				};
			}
		}
	}
	*ret_n = n;
	return list;
}

static unsigned member(const struct table *t, uint16_t base)
{
	unsigned best = 0;

	for (unsigned i = 0; i < t->n; i++) {
		if ((t->key[i] & 0x7fff) == base) {
			unsigned m = t->key[i] & 0x8000 ? 2 : 1;
			best = m > best ? m : best;
		}
	}
	return best;
}

/* May both talk over this P_Key? */
static bool share(unsigned a, unsigned b, uint16_t base)
{
	unsigned ma = member(&table[a], base), mb = member(&table[b], base);

	return base != 0 && ma && mb && (a == b || ma + mb > 2);
}

static bool in_table(unsigned a, uint16_t key)
{
	for (unsigned i = 0; i < table[a].n; i++) {
		if (table[a].key[i] == key) {
			return true;
		}
	}
	return false;
}

/* The keys of a port in the order of its table; those of one that is not known are 0xffff. */
static unsigned list_keys(unsigned a, uint16_t keys[KEYS_MAX])
{
	unsigned n = 0;

	for (unsigned i = 0; i < table[a].n; i++) {
		if ((table[a].key[i] & 0x7fff) != 0) {
			keys[n++] = table[a].key[i];
		}
	}
	return n;
}

static bool same_keys(unsigned a, unsigned b)
{
	uint16_t keys[2][KEYS_MAX];
	unsigned n = list_keys(a, keys[0]);

	return list_keys(b, keys[1]) == n &&
	       memcmp(keys[0], keys[1], n * sizeof(keys[0][0])) == 0;
}

static void check_pair(struct snap_reader *r, unsigned a, unsigned b)
{
	struct snap_end end[2];
	uint16_t key = 0;
	bool any = false, both_full = false;

	for (unsigned i = 0; i < 2; i++) {
		uint32_t port = fabric.g->end_ports[i ? b : a];
		ck_assert_int_eq(snap_port_guid(r, fabric.g->ports[port].guid, &end[i]),
		                 E_OK);
	}
	/* ports with the same keys share a set, and others do not */
	ck_assert_int_eq(end[0].p_key_set == end[1].p_key_set, same_keys(a, b));
	for (unsigned k = 0; k <= BASES; k++) {
		uint16_t base = k == BASES ? 0x7fff : (uint16_t)k;
		bool want = share(a, b, base);
		any |= want;
		both_full |= want && member(&table[a], base) == 2 &&
		             member(&table[b], base) == 2;
		if (base != 0) {
			int ret = snap_common_p_key(r, &end[0], &end[1],
			                            base | (next(2) ? 0x8000 : 0), &key);
			ck_assert_int_eq(ret, want ? E_OK : E_PARTITION);
			ck_assert(!want || ((key & 0x7fff) == base && in_table(a, key)));
		}
	}
	int ret = snap_common_p_key(r, &end[0], &end[1], 0, &key);
	ck_assert_int_eq(ret, any ? E_OK : E_PARTITION);
	if (any) {
		uint16_t base = key & 0x7fff;
		ck_assert(share(a, b, base) && in_table(a, key));
		ck_assert(!both_full ||
		          (member(&table[a], base) == 2 && member(&table[b], base) == 2));
	}
}

START_TEST(random_tables)
{
	struct snap_content c = fabric_content(&fabric, 1);
	struct snap_published p;
	struct snap_reader *r;

	seed = 77 + (uint32_t)_i;
	ck_assert_int_eq(snap_reader_local(w, &r), E_OK);
	for (unsigned epoch = 1; epoch < 6; epoch++) {
		for (unsigned e = 0; e < fabric.g->n_end_ports; e++) {
			random_table(&table[e]);
			if (e && next(3) == 0) {
				table[e] = table[e - 1];
			}
		}
		c.epoch = epoch;
		c.attrs = attrs_of_tables(&c.n_attrs);
		ck_assert_int_eq(snap_publish(w, &c, epoch, &p), E_OK);
		ck_assert_int_eq(snap_pin(r), E_OK);
		for (unsigned a = 0; a < fabric.g->n_end_ports; a++) {
			for (unsigned b = 0; b < fabric.g->n_end_ports; b++) {
				check_pair(r, a, b);
				check_pair(r, a, b); /* warm */
			}
		}
	}
	snap_reader_close(r);
}
END_TEST

/* Rows for nodes and ports that are not there do no harm. */
START_TEST(strangers)
{
	struct snap_content c = fabric_content(&fabric, 1);
	static const uint8_t keys[64] = { 0x80, 0x01 };
	uint64_t last = fabric.g->nodes[fabric.g->n_nodes - 1].guid;
	const struct snap_attr rows[] = {
		{ last, UMAD_SM_ATTR_GUID_INFO, 200 << 8, keys, 64 },
		{ last + 1, UMAD_SM_ATTR_GUID_INFO, 0, keys, 64 },
		{ 1, UMAD_SM_ATTR_PKEY_TABLE, 0, keys, 64 },
		{ last, UMAD_SM_ATTR_PKEY_TABLE, 200 << 16, keys, 64 },
		{ last, UMAD_SM_ATTR_PKEY_TABLE, UINT32_MAX, keys, 63 },
		{ last + 1, UMAD_SM_ATTR_PKEY_TABLE, 0, keys, 64 },
	};
	struct snap_published p;
	struct snap_reader *r;

	c.attrs = rows;
	c.n_attrs = sizeof(rows) / sizeof(rows[0]);
	for (unsigned e = 0; e < fabric.g->n_end_ports; e++) {
		table[e] = (struct table){ .n = 1, .key = { 0xffff } };
	}
	ck_assert_int_eq(snap_publish(w, &c, 1, &p), E_OK);
	ck_assert_int_eq(snap_reader_local(w, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	check_pair(r, 0, fabric.g->n_end_ports - 1);
	snap_reader_close(r);
}
END_TEST

TEST_SUITE(key_sets)
{
	TCase *tc = tcase_create("tables");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, random_tables, 0, 8);
	tcase_add_test(tc, strangers);
	suite_add_tcase(suite, tc);
}

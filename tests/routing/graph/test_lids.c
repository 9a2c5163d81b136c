/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * LIDs of ports, from files, from before and anew. Longer than most: all cases share the reading of a
 * memory and the check of what was given.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
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

/* Everything lids.h promises of a table. */
static void lids_check(const struct graph *g, const struct lids *l, uint32_t limit)
{
	uint32_t count = 0, top = 0;

	ck_assert_uint_le(l->top, limit);
	ck_assert_uint_eq(l->owner[0], GRAPH_NONE);
	for (uint32_t lid = 1; lid <= l->top; lid++) {
		if (l->owner[lid] != GRAPH_NONE) {
			struct lid_range r = l->of[l->owner[lid]];

			count++;
			top = lid;
			ck_assert_uint_ge(lid, r.base);
			ck_assert_uint_lt(lid - r.base, 1U << r.lmc);
		}
	}
	ck_assert_uint_eq(count, l->count);
	ck_assert_uint_eq(top, l->top);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		struct lid_range r = l->of[g->end_ports[i]];

		ck_assert_uint_ne(r.base, 0);
		ck_assert_uint_eq(r.base & ((1U << r.lmc) - 1), 0);
		for (uint32_t k = 0; k < 1U << r.lmc; k++) {
			ck_assert_uint_eq(l->owner[r.base + k], g->end_ports[i]);
		}
	}
}

static int cmp_memory(const void *va, const void *vb)
{
	const struct lid_memory *a = va, *b = vb;

	return (a->guid > b->guid) - (a->guid < b->guid);
}

/* The LIDs that a daemon would remember of a table. */
static struct lid_memory *remember(const struct graph *g, const struct lids *l,
                                   size_t *ret_n)
{
	struct lid_memory *m = arena_array(arena, g->n_end_ports, sizeof(*m));

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		m[i] = (struct lid_memory){ .guid = g->ports[g->end_ports[i]].guid,
			                    .range = l->of[g->end_ports[i]] };
	}
	qsort(m, g->n_end_ports, sizeof(*m), cmp_memory);
	*ret_n = g->n_end_ports;
	return m;
}

static const char *const fabrics[] = { "ft2 4 3 2", "ft3 4", "torus 3x3 2",
	                               "mesh 2x2x2 1" };

enum { N_FABRICS = sizeof(fabrics) / sizeof(*fabrics) };

START_TEST(every_lmc_aligned_and_persistent)
{
	struct graph *g = fabric_make(fabrics[_i % N_FABRICS], 0, 1, arena);
	uint32_t lmc = (uint32_t)_i / N_FABRICS;
	struct lids_in in = { .g = g, .lmc = lmc, .lmc_esp0 = 7 - lmc };
	struct lids first, second;
	uint32_t *moved;
	size_t n_moved;

	for (uint32_t s = 0; s < g->n_switches; s += 2) {
		g->nodes[g->switches[s]].esp0 = true;
	}
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &first, &moved, &n_moved), E_OK);
	ck_assert_uint_eq(n_moved, 0);
	lids_check(g, &first, 0xbfff);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		const struct node *n = &g->nodes[g->ports[g->end_ports[i]].node];
		uint32_t want = n->type != NODE_SWITCH ? lmc : n->esp0 ? 7 - lmc : 0;

		ck_assert_uint_eq(first.of[g->end_ports[i]].lmc, want);
	}
	in.memory = remember(g, &first, &in.n_memory);
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &second, &moved, &n_moved),
	                 E_OK);
	ck_assert_uint_eq(n_moved, 0);
	ck_assert_uint_eq(first.top, second.top);
	ck_assert_mem_eq(first.owner, second.owner,
	                 (first.top + 1) * sizeof(*first.owner));
}
END_TEST

START_TEST(sm_port_is_first)
{
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct lids l;

	ck_assert_uint_ne(g->sm_port, GRAPH_NONE);
	l = fabric_lids(g, 2, 0, arena);
	ck_assert_uint_eq(l.of[g->sm_port].base, 4);
	for (uint32_t i = 1; i < g->n_end_ports; i++) {
		uint32_t a = g->by_guid[i - 1], b = g->by_guid[i];

		if (a != g->sm_port && b != g->sm_port && l.of[a].lmc == l.of[b].lmc) {
			ck_assert_uint_lt(l.of[a].base, l.of[b].base);
		}
	}
}
END_TEST

/* Breadth first from the SM's host: its switch, then what hangs on the ports of that in turn. */
START_TEST(nearest_is_first)
{
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct lids_in in = { .g = g, .max_lid = 0xbfff, .nearest_first = true };
	uint32_t leaf = g->ports[g->ports[g->sm_port].peer].node, *moved, next = 3;
	struct lids l;
	size_t n_moved;

	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, &moved, &n_moved), E_OK);
	lids_check(g, &l, 0xbfff);
	ck_assert_uint_eq(l.of[g->sm_port].base, 1);
	ck_assert_uint_eq(l.of[g->nodes[leaf].first_port].base, 2);
	for (unsigned num = 1; num <= g->nodes[leaf].n_ports; num++) {
		uint32_t peer = g->ports[graph_port(g, leaf, num)].peer;

		if (peer == GRAPH_NONE || peer == g->sm_port) {
			continue;
		}
		if (g->nodes[g->ports[peer].node].type == NODE_SWITCH) {
			peer = g->nodes[g->ports[peer].node].first_port;
		}
		ck_assert_uint_eq(l.of[peer].base, next++);
	}
}
END_TEST

/* Cables from each node to the SM's, by looking at all cables again and again. */
static uint32_t *slow_distances(const struct graph *g)
{
	uint32_t *far = arena_array(arena, g->n_nodes, sizeof(*far));
	bool more = true;

	memset(far, 0xff, g->n_nodes * sizeof(*far));
	far[g->ports[g->sm_port].node] = 0;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < g->n_ports; i++) {
			const struct port *p = &g->ports[i];
			uint32_t *mine = &far[p->node], *other;

			if (p->peer == GRAPH_NONE) {
				continue;
			}
			other = &far[g->ports[p->peer].node];
			if (*mine != UINT32_MAX && *other > *mine + 1) {
				*other = *mine + 1;
				more = true;
			}
		}
	}
	return far;
}

/* Broken fabrics: nobody who is nearer has a higher LID, and those whom no cable leads to come last, by
 * their GUIDs. */
START_TEST(nearest_in_parts)
{
	uint64_t state = 5 + (uint64_t)_i;
	struct graph *whole = fabric_make("jellyfish 10 3 2", 0, 1 + (uint32_t)_i, arena), *g;
	bool *cut = arena_array(arena, whole->n_ports, sizeof(*cut));
	struct lids_in in = { .max_lid = 0xbfff, .nearest_first = true, .lmc = _i % 2 };
	const uint32_t *far;
	struct lids l;

	for (uint32_t i = 0; i < whole->n_ports; i++) {
		cut[i] = whole->nodes[whole->ports[i].node].type == NODE_SWITCH &&
		         random_below(&state, 4) == 0;
	}
	g = fabric_without(whole, NULL, cut, arena);
	do {
		g->sm_port = g->end_ports[random_below(&state, g->n_end_ports)];
	} while (g->nodes[g->ports[g->sm_port].node].type != NODE_CA);
	in.g = g;
	far = slow_distances(g);
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	lids_check(g, &l, 0xbfff);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t a = g->by_guid[i], far_a = far[g->ports[a].node];

		ck_assert_uint_ne(l.of[a].base, 0);
		for (uint32_t k = i + 1; k < g->n_end_ports; k++) {
			uint32_t b = g->by_guid[k], far_b = far[g->ports[b].node];

			/* ranges of more than one LID begin at multiples of their size, and fill holes */
			if (far_a != far_b && l.of[a].lmc == l.of[b].lmc) {
				ck_assert((far_a < far_b) == (l.of[a].base < l.of[b].base));
			} else if (far_a == UINT32_MAX && l.of[a].lmc == l.of[b].lmc) {
				ck_assert_uint_lt(l.of[a].base, l.of[b].base);
			}
		}
	}
}
END_TEST

/* Nodes vanish and come back: everybody has the LID of before. */
START_TEST(absent_ports_keep_their_range)
{
	struct graph *all = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct graph *few = fabric_make("ft2 3 2 2", 0, 1, arena);
	struct lids before, without, after;
	struct lids_in in = { .g = all, .lmc = 1 };
	uint32_t *moved;
	size_t n_moved;

	/* GUIDs depend on the position only, so the smaller fabric shares some of them */
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &before, NULL, NULL), E_OK);
	in.memory = remember(all, &before, &in.n_memory);
	in.g = few;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &without, &moved, &n_moved),
	                 E_OK);
	ck_assert_uint_eq(n_moved, 0);
	lids_check(few, &without, 0xbfff);
	for (uint32_t i = 0; i < few->n_end_ports; i++) {
		uint32_t p = few->end_ports[i];
		uint32_t q = graph_port_by_guid(all, few->ports[p].guid);

		if (q != GRAPH_NONE) {
			ck_assert_uint_eq(without.of[p].base, before.of[q].base);
		} else {
			ck_assert_uint_gt(without.of[p].base, before.top);
		}
	}
	in.g = all;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &after, &moved, &n_moved), E_OK);
	ck_assert_uint_eq(n_moved, 0);
	ck_assert_mem_eq(before.owner, after.owner,
	                 (before.top + 1) * sizeof(*before.owner));
}
END_TEST

/* LMC up: aligned bases stay; down again: nobody moves. */
START_TEST(lmc_change_moves_only_what_must)
{
	struct graph *g = fabric_make("ft2 6 4 2", 0, 1, arena);
	struct lids_in in = { .g = g };
	struct lids low, high, back;
	uint32_t lmc = (uint32_t)_i, *moved, must = 0;
	size_t n_moved;

	ck_assert_int_eq(lids_assign(&in, arena, &diags, &low, NULL, NULL), E_OK);
	in.memory = remember(g, &low, &in.n_memory);
	in.lmc = lmc;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &high, &moved, &n_moved), E_OK);
	lids_check(g, &high, 0xbfff);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t p = g->end_ports[i];
		bool is_host = g->ports[p].num != 0, listed = false;

		for (size_t k = 0; k < n_moved; k++) {
			listed |= moved[k] == p;
		}
		ck_assert_int_eq(listed, high.of[p].base != low.of[p].base);
		if (is_host && low.of[p].base & ((1U << lmc) - 1)) {
			ck_assert(listed);
			must++;
		} else if (!is_host && low.of[p].base % (1U << lmc) == 0) {
			ck_assert(!listed || low.of[p].base < (1U << lmc));
		}
	}
	ck_assert_uint_gt(must, 0);
	in.memory = remember(g, &high, &in.n_memory);
	in.lmc = 0;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &back, &moved, &n_moved), E_OK);
	lids_check(g, &back, 0xbfff);
	ck_assert_uint_eq(n_moved, 0);
}
END_TEST

/* A full fabric: the port that gets nothing is named. */
START_TEST(full)
{
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct lids_in in = { .g = g, .lmc = 2, .max_lid = 30 };
	struct lids l = { .top = 77 };

	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_FULL);
	ck_assert_uint_eq(l.top, 77);
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_ptr_nonnull(strstr(diags_first_error(&diags), "GUID 0x"));
	ck_assert_msg(strstr(diags_first_error(&diags), " of '") != NULL, "%s",
	              diags_first_error(&diags));

	/* exactly enough: 12 hosts, 6 switches; the switches fit below the first range */
	in.lmc = 0;
	in.max_lid = 18;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	lids_check(g, &l, 18);
	in.max_lid = 17;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_FULL);

	/* the smallest LFT of a switch is a limit, too */
	in.max_lid = 0;
	g->nodes[g->switches[3]].linear_fdb_cap = 19;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	g->nodes[g->switches[3]].linear_fdb_cap = 18;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_FULL);
}
END_TEST

/* Ports that take no LID above 6: what they had above counts for nothing, and they come before others. */
START_TEST(own_limits)
{
	enum { OWN = 3, LOW = 6, HIGH = 24, AWAY = 0x1000 };
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	uint32_t *limit_of = arena_array(arena, g->n_ports, sizeof(*limit_of));
	struct lid_memory m[HIGH];
	struct lids_in in = {
		.g = g, .memory = m, .limit_of = limit_of, .max_lid = 0x200
	};
	struct lids l;

	for (uint32_t i = 0; i < OWN; i++) {
		limit_of[g->by_guid[g->n_end_ports - 1 - i]] = LOW;
	}
	if (_i ==
	    1) { /* one of them is remembered, and another one has it now, too high */
		m[0] = (struct lid_memory){
			.guid = g->ports[g->by_guid[g->n_end_ports - 1]].guid,
			.range = { .base = 0x100 }
		};
		in.n_memory = 1;
		g->ports[g->by_guid[g->n_end_ports - 2]].lid = 0x101;
	} else if (
		_i ==
		2) { /* all LIDs are of ports that are gone, the lowest ones since lately */
		in.max_lid = in.n_memory = HIGH;
		for (uint32_t i = 0; i < HIGH; i++) {
			m[i] = (struct lid_memory){ .guid = AWAY + i,
				                    .range = { .base = i + 1 },
				                    .gone_epoch = HIGH - i };
		}
	}
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	lids_check(g, &l, 0x200);
	ck_assert_uint_eq(l.count, g->n_end_ports);
	for (uint32_t i = 0; i < OWN; i++) {
		ck_assert_uint_le(l.of[g->by_guid[g->n_end_ports - 1 - i]].base, LOW);
	}
	if (_i == 2) { /* the others took the oldest */
		ck_assert_uint_eq(l.n_recycled, g->n_end_ports);
		ck_assert_uint_eq(l.top, HIGH);
	}
	for (uint32_t i = 0; i <= LOW; i++) {
		limit_of[g->by_guid[i]] = LOW;
	}
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_FULL);
	ck_assert_ptr_nonnull(
		strstr(diags_first_error(&diags), "this port takes no higher one"));
}
END_TEST

/* LIDs of 24 bits where they are allowed, and nowhere else. */
START_TEST(wide)
{
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct lid_memory m = { .guid = g->ports[g->by_guid[0]].guid,
		                .range = { .base = LID_LIMIT_MAX } };
	struct lids_in in = { .g = g, .memory = &m, .n_memory = 1 };
	struct lids l;

	in.max_lid = LID_LIMIT_MAX;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	lids_check(g, &l, LID_LIMIT_MAX);
	ck_assert_uint_eq(l.of[g->by_guid[0]].base, LID_LIMIT_MAX);
	ck_assert_uint_eq(l.count, 18);

	in.max_lid = UINT32_MAX; /* there are no more bits */
	m.range.base = LID_LIMIT_MAX + 1U;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	lids_check(g, &l, 18);

	in.max_lid = 0;
	m.range.base = LID_LIMIT_DEFAULT + 1U;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	lids_check(g, &l, 18);

	m.range.base = 0x12000;
	in.max_lid = 0x12345;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	ck_assert_uint_eq(l.top, 0x12000);
	g->nodes[g->switches[0]].linear_fdb_cap = 0xc000; /* its LFT ends before */
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	lids_check(g, &l, 18);
}
END_TEST

/* Which LMC is advised against: 3 below 4,000 hosts, 2 from there on, none without. */
static const struct {
	const char *command;
	uint32_t lmc;
	const char *advice; /* NULL: none */
} advised[] = {
	{ "ft2 4 3 2", 0, NULL },
	{ "ft2 4 3 2", 3, NULL },
	{ "ft2 4 3 2", 2, "LMC 2 for 12 hosts: recommended is 3 below 4000 hosts" },
	{ "ft2 4 3 2", 7, "LMC 7 for 12 hosts: recommended is 3 below 4000 hosts" },
	{ "ft2 20 200 1", 0, NULL },
	{ "ft2 20 200 1", 2, NULL },
	{ "ft2 20 200 1", 3, "LMC 3 for 4000 hosts: recommended is 2 from 4000 hosts" },
	{ "ft2 20 200 1", 1, "LMC 1 for 4000 hosts: recommended is 2 from 4000 hosts" },
};

START_TEST(advice)
{
	struct graph *g = fabric_make(advised[_i].command, 0, 1, arena);
	struct lids_in in = { .g = g, .lmc = advised[_i].lmc };
	struct lids l;

	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	ck_assert_uint_eq(diags.n, advised[_i].advice != NULL);
	if (advised[_i].advice) {
		ck_assert_int_eq(diags.items[0].level, DIAG_NOTE);
		ck_assert_str_eq(diags.items[0].text, advised[_i].advice);
	}
}
END_TEST

START_TEST(lmc_out_of_range)
{
	struct graph *g = fabric_make("ft2 2 1 1", 0, 1, arena);
	struct lids_in in = { .g = g, .lmc = 8 };
	struct lids l;

	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_RANGE);
	in.lmc = 0;
	in.lmc_esp0 = 8;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_RANGE);
	ck_assert_uint_eq(diags.n_errors, 2);
}
END_TEST

START_TEST(memory_before_found_before_free)
{
	struct graph *g = fabric_make("ft2 2 2 1", 0, 1, arena);
	uint32_t a = g->hosts[0], b = g->hosts[1], c = g->hosts[2], d = g->hosts[3];
	struct lid_memory m = { .guid = g->ports[b].guid, .range = { 40, 0 } };
	struct lids_in in = { .g = g, .memory = &m, .n_memory = 1 };
	struct lids l;

	g->ports[a].lid = 40;     /* remembered for b */
	g->ports[b].lid = 41;     /* memory wins */
	g->ports[c].lid = 1;      /* free: stays, though a is served before */
	g->ports[d].lid = 0xc000; /* multicast */
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	lids_check(g, &l, 0xbfff);
	ck_assert_uint_eq(l.of[b].base, 40);
	ck_assert_uint_eq(l.of[c].base, 1);
	ck_assert_uint_ne(l.of[a].base, 40);
	ck_assert_uint_lt(l.of[d].base, 10);

	in.reassign = true;
	uint32_t *moved;
	size_t n_moved;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, &moved, &n_moved), E_OK);
	ck_assert_uint_eq(l.top, 7);
	ck_assert_uint_eq(n_moved, 1);
	ck_assert_uint_eq(moved[0], b);
}
END_TEST

START_TEST(overlapping_memory_present_port_keeps)
{
	struct graph *g = fabric_make("ft2 2 2 1", 0, 1, arena);
	uint32_t lo = GRAPH_NONE, hi = GRAPH_NONE;
	struct lids l;
	uint32_t *moved;
	size_t n_moved;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		if (g->ports[g->by_guid[i]].num) {
			lo = lo == GRAPH_NONE ? g->by_guid[i] : lo;
			hi = g->by_guid[i];
		}
	}
	struct lid_memory m[] = {
		/* absent, and overlaps what a present port keeps: recycled */
		{ .guid = 1, .range = { 8, 3 } },
		/* absent, overlaps the first: dropped */
		{ .guid = 2, .range = { 12, 2 } },
		{ .guid = g->ports[lo].guid, .range = { 12, 2 } },
		{ .guid = g->ports[hi].guid, .range = { 20, 2 } },
		/* second entry of a GUID: ignored */
		{ .guid = g->ports[hi].guid, .range = { 24, 2 } },
		{ .guid = UINT64_MAX, .range = { 20, 200 } }, /* nonsense LMC */
	};
	struct lids_in in = { .g = g, .memory = m, .n_memory = 6, .lmc = 2 };

	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, &moved, &n_moved), E_OK);
	lids_check(g, &l, 0xbfff);
	ck_assert_uint_eq(l.of[hi].base, 20);
	ck_assert_uint_eq(l.of[lo].base, 12);
	ck_assert_uint_eq(n_moved, 0);
	ck_assert_uint_eq(l.n_recycled, 2);
	ck_assert_uint_eq(l.recycled[0].guid, 1);
	ck_assert_uint_eq(l.recycled[1].guid, 2);
}
END_TEST

/* Garbage in memory: still a legal table, the same one twice. */
START_TEST(random_memory)
{
	uint64_t seed = (uint64_t)_i + 1;
	struct graph *g = fabric_make(fabrics[_i % N_FABRICS], 0.1, (uint32_t)_i, arena);
	struct lid_memory m[60];
	struct lids_in in = { .g = g, .memory = m, .n_memory = 60, .max_lid = 600 };
	struct lids x, y;

	in.lmc = random_below(&seed, 4);
	for (unsigned i = 0; i < 60; i++) {
		uint32_t p = g->end_ports[random_below(&seed, g->n_end_ports)];

		m[i].guid =
			random_below(&seed, 4) ? g->ports[p].guid : random_next(&seed);
		m[i].range.base = random_below(&seed, 8) ? random_below(&seed, 300)
		                                         : (uint32_t)random_next(&seed);
		m[i].range.lmc = (uint8_t)random_below(&seed, 10);
	}
	qsort(m, 60, sizeof(*m), cmp_memory);
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &x, NULL, NULL), E_OK);
	lids_check(g, &x, 600);
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &y, NULL, NULL), E_OK);
	for (uint32_t p = 0; p < g->n_ports; p++) {
		ck_assert_uint_eq(x.of[p].base, y.of[p].base);
		ck_assert_uint_eq(x.of[p].lmc, y.of[p].lmc);
	}
}
END_TEST

/* What a daemon would keep: ports that come lose their mark, ports that go get one. */
struct diary {
	struct lid_memory *m; /* [n] by GUID */
	size_t n;
	uint64_t epoch;
};

static void diary_write(struct diary *y, const struct graph *g, const struct lids *l)
{
	struct lid_memory *m = arena_array(arena, y->n + g->n_end_ports, sizeof(*m));
	size_t n = 0;

	y->epoch++;
	for (size_t i = 0; i < y->n; i++) {
		bool lost = false;

		for (uint32_t k = 0; k < l->n_recycled; k++) {
			lost |= l->recycled[k].guid == y->m[i].guid;
		}
		if (!lost && graph_port_by_guid(g, y->m[i].guid) == GRAPH_NONE) {
			m[n] = y->m[i];
			m[n].gone_epoch = m[n].gone_epoch ? m[n].gone_epoch : y->epoch;
			n++;
		}
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		m[n++] = (struct lid_memory){ .guid = g->ports[g->end_ports[i]].guid,
			                      .range = l->of[g->end_ports[i]] };
	}
	qsort(m, n, sizeof(*m), cmp_memory);
	y->m = m;
	y->n = n;
}

static const struct lid_memory *diary_find(const struct diary *y, uint64_t guid)
{
	for (size_t i = 0; i < y->n; i++) {
		if (y->m[i].guid == guid) {
			return &y->m[i];
		}
	}
	return NULL;
}

/* Does the range overlap one of a port of the graph that was there before, too? */
static bool is_kept_by_present(const struct diary *y, const struct graph *g,
                               struct lid_range r)
{
	for (size_t i = 0; i < y->n; i++) {
		struct lid_range k = y->m[i].range;

		if (graph_port_by_guid(g, y->m[i].guid) != GRAPH_NONE &&
		    k.base < r.base + (1U << r.lmc) && r.base < k.base + (1U << k.lmc)) {
			return true;
		}
	}
	return false;
}

/* A port that lost a range was absent. With one LID per port, all that kept theirs, although
 * absent, have been gone no longer. */
static void check_recycled(const struct diary *y, const struct graph *g,
                           const struct lids *l, uint32_t limit)
{
	uint64_t youngest = 0;

	for (uint32_t i = 0; i < l->n_recycled; i++) {
		const struct lid_memory *m = diary_find(y, l->recycled[i].guid);

		ck_assert_ptr_nonnull(m);
		ck_assert_uint_eq(m->range.base, l->recycled[i].range.base);
		ck_assert_uint_eq(graph_port_by_guid(g, m->guid), GRAPH_NONE);
		ck_assert(!is_kept_by_present(y, g, m->range));
		youngest = m->gone_epoch && m->gone_epoch > youngest ? m->gone_epoch
		                                                     : youngest;
	}
	for (size_t i = 0; i < y->n && l->n_recycled; i++) {
		const struct lid_memory *m = &y->m[i];

		if (graph_port_by_guid(g, m->guid) != GRAPH_NONE ||
		    m->range.base > limit ||
		    (m->range.base <= l->top && l->owner[m->range.base] != GRAPH_NONE)) {
			continue;
		}
		ck_assert_uint_ge(m->gone_epoch ? m->gone_epoch : UINT64_MAX, youngest);
	}
}

/* One switch with some of HOSTS hosts. */
enum { HOSTS = 40, HOSTS_PRESENT = 20 };

static struct graph *random_star(uint64_t *seed)
{
	struct graph *g = graph_new(arena);
	uint32_t sw, host, left = HOSTS_PRESENT;

	ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 1000, HOSTS, "s", NULL, &sw),
	                 E_OK);
	for (uint32_t i = 0; i < HOSTS && left; i++) {
		if (random_below(seed, 3) == 0) {
			continue;
		}
		ck_assert_int_eq(
			graph_add_node(g, NODE_CA, 2000 + i, 1, "h", NULL, &host), E_OK);
		g->ports[graph_port(g, host, 1)].guid = 2000 + i;
		ck_assert_int_eq(graph_connect(g, graph_port(g, sw, i + 1),
		                               graph_port(g, host, 1)),
		                 E_OK);
		left--;
	}
	ck_assert_int_eq(graph_freeze(g, &diags), E_OK);
	return g;
}

/*
 * Hosts come and go, with hardly more LIDs than ports, so that LIDs of absent
 * ports must be used again. A port that was not forgotten always finds its LID, whatever
 * happened meanwhile; nothing is recycled while there is a free LID.
 */
START_TEST(arrivals_and_departures)
{
	uint64_t seed = (uint64_t)_i + 77;
	uint32_t lmc = (uint32_t)_i % 3, recycled = 0;
	struct diary y = { 0 };

	for (unsigned round = 0; round < 40; round++) {
		struct graph *g = random_star(&seed);
		struct lids l;
		struct lids_in in = { .g = g,
			              .lmc = lmc,
			              .memory = y.m,
			              .n_memory = y.n,
			              .max_lid = (25U << lmc) + 4 };

		ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
		lids_check(g, &l, in.max_lid);
		for (uint32_t i = 0; i < g->n_end_ports; i++) {
			const struct lid_memory *m =
				diary_find(&y, g->ports[g->end_ports[i]].guid);

			ck_assert(m == NULL ||
			          m->range.base == l.of[g->end_ports[i]].base);
		}
		if (lmc == 0) {
			check_recycled(&y, g, &l, in.max_lid);
		}
		if (l.n_recycled && lmc == 0) { /* then no LID was left unclaimed */
			for (uint32_t lid = 1; lid <= in.max_lid; lid++) {
				bool claimed = lid <= l.top && l.owner[lid] != GRAPH_NONE;

				for (size_t k = 0; k < y.n && !claimed; k++) {
					claimed = y.m[k].range.base == lid;
				}
				ck_assert(claimed);
			}
		}
		recycled += l.n_recycled;
		diary_write(&y, g, &l);
	}
	ck_assert_uint_gt(recycled, 0);
}
END_TEST

/* A switch, which has LID 1, and hosts that were never seen. */
static struct graph *new_hosts(uint32_t n)
{
	struct graph *g = graph_new(arena);
	uint32_t sw, host;

	ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 1000, 8, "s", NULL, &sw), E_OK);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_int_eq(
			graph_add_node(g, NODE_CA, 3000 + i, 1, "h", NULL, &host), E_OK);
		g->ports[graph_port(g, host, 1)].guid = 3000 + i;
		ck_assert_int_eq(graph_connect(g, graph_port(g, sw, i + 1),
		                               graph_port(g, host, 1)),
		                 E_OK);
	}
	ck_assert_int_eq(graph_freeze(g, &diags), E_OK);
	return g;
}

/* Without a free LID new hosts get those of the ports that have been gone longest. A port of
 * which it is not known that it is gone comes last. */
START_TEST(longest_gone_is_recycled_first)
{
	static const uint32_t in_turn[] = { 4, 3, 2 };
	struct lid_memory m[] = {
		{ .guid = 11, .range = { 2, 0 } },
		{ .guid = 12, .range = { 3, 0 }, .gone_epoch = 9 },
		{ .guid = 13, .range = { 4, 0 }, .gone_epoch = 5 },
		{ .guid = 1000, .range = { 1, 0 } },
	};
	struct graph *g = new_hosts((uint32_t)_i);
	struct lids_in in = { .g = g, .memory = m, .n_memory = 4, .max_lid = 4 };
	struct lids l;

	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	ck_assert_uint_eq(l.n_recycled, (unsigned)_i);
	for (int i = 0; i < _i; i++) {
		uint32_t host = graph_port_by_guid(g, 3000 + (uint64_t)i);

		ck_assert_uint_eq(l.of[host].base, in_turn[i]);
	}
}
END_TEST

/* A range that several ports had is as young as the youngest of them. */
START_TEST(range_is_as_young_as_its_youngest)
{
	uint64_t first = _i ? 3 : 9, second = _i ? 9 : 3;
	struct lid_memory m[] = {
		{ .guid = 11, .range = { 2, 0 }, .gone_epoch = first },
		{ .guid = 12, .range = { 3, 0 }, .gone_epoch = second },
		{ .guid = 13, .range = { 4, 1 }, .gone_epoch = 5 },
		{ .guid = 1000, .range = { 1, 0 } },
	};
	struct graph *g = new_hosts(1);
	struct lids_in in = {
		.g = g, .memory = m, .n_memory = 4, .max_lid = 5, .lmc = 1
	};
	struct lids l;

	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	ck_assert_uint_eq(l.of[graph_port_by_guid(g, 3000)].base, 4);
}
END_TEST

/* After another SM was master its LIDs count, where each is of one port only. */
START_TEST(another_sm_assigned)
{
	uint64_t seed = (uint64_t)_i + 5;
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, arena);
	struct lids_in in = { .g = g };
	struct lids ours, theirs;

	ck_assert_int_eq(lids_assign(&in, arena, &diags, &ours, NULL, NULL), E_OK);
	in.memory = remember(g, &ours, &in.n_memory);
	for (uint32_t i = 0; i < g->n_end_ports;
	     i++) { /* the LIDs of ours, turned round */
		uint32_t other = g->end_ports[(i + 1 + (uint32_t)_i) % g->n_end_ports];

		g->ports[g->end_ports[i]].lid = ours.of[other].base;
	}
	in.keep_found = true;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &theirs, NULL, NULL), E_OK);
	lids_check(g, &theirs, 0xbfff);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		ck_assert_uint_eq(theirs.of[g->end_ports[i]].base,
		                  g->ports[g->end_ports[i]].lid);
	}
	/* two ports with one LID: the one that is remembered with it keeps it */
	uint32_t a = g->end_ports[random_below(&seed, g->n_end_ports)], b = a;

	while (b == a) {
		b = g->end_ports[random_below(&seed, g->n_end_ports)];
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		g->ports[g->end_ports[i]].lid = ours.of[g->end_ports[i]].base;
	}
	g->ports[a].lid = g->ports[b].lid;
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &theirs, NULL, NULL), E_OK);
	ck_assert_mem_eq(ours.owner, theirs.owner, (ours.top + 1) * sizeof(*ours.owner));
}
END_TEST

START_TEST(as_found)
{
	struct graph *g = fabric_make("ft2 2 2 1", 0, 1, arena);
	struct lids l = { .top = 5 };

	ck_assert_int_eq(lids_as_found(g, 0, arena, &diags, &l), E_NOTFOUND);
	ck_assert_uint_eq(diags.n_errors, g->n_end_ports);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		g->ports[g->end_ports[i]].lid = 2 * i + 2;
		g->ports[g->end_ports[i]].lmc = g->ports[g->end_ports[i]].num ? 1 : 0;
	}
	ck_assert_int_eq(lids_as_found(g, 0, arena, &diags, &l), E_OK);
	lids_check(g, &l, 0xbfff);
	g->ports[g->end_ports[1]].lid = 2;
	ck_assert_int_eq(lids_as_found(g, 0, arena, &diags, &l), E_DUPLICATE);
	g->ports[g->end_ports[1]].lid = 0xbfff;
	g->ports[g->end_ports[1]].lmc = 1;
	ck_assert_int_eq(lids_as_found(g, 0, arena, &diags, &l), E_RANGE);
	g->ports[g->end_ports[1]].lid = UINT32_MAX;
	ck_assert_int_eq(lids_as_found(g, 0, arena, &diags, &l), E_RANGE);
}
END_TEST

START_TEST(empty_fabric)
{
	struct graph *g = graph_new(arena);
	struct lids_in in = { .g = g };
	struct lids l;

	ck_assert_int_eq(graph_freeze(g, &diags), E_OK);
	ck_assert_int_eq(lids_assign(&in, arena, &diags, &l, NULL, NULL), E_OK);
	ck_assert_uint_eq(l.top, 0);
	ck_assert_uint_eq(l.owner[0], GRAPH_NONE);
}
END_TEST

TEST_SUITE(lids)
{
	TCase *t = tcase_create("lids");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, every_lmc_aligned_and_persistent, 0, 8 * N_FABRICS);
	tcase_add_test(t, sm_port_is_first);
	tcase_add_test(t, nearest_is_first);
	tcase_add_loop_test(t, nearest_in_parts, 0, 12);
	tcase_add_test(t, absent_ports_keep_their_range);
	tcase_add_loop_test(t, lmc_change_moves_only_what_must, 1, 8);
	tcase_add_test(t, full);
	tcase_add_test(t, wide);
	tcase_add_loop_test(t, own_limits, 0, 3);
	tcase_add_loop_test(t, advice, 0, sizeof(advised) / sizeof(*advised));
	tcase_add_test(t, lmc_out_of_range);
	tcase_add_test(t, memory_before_found_before_free);
	tcase_add_test(t, overlapping_memory_present_port_keeps);
	tcase_add_loop_test(t, longest_gone_is_recycled_first, 1, 4);
	tcase_add_loop_test(t, range_is_as_young_as_its_youngest, 0, 2);
	tcase_add_loop_test(t, arrivals_and_departures, 0, 24);
	tcase_add_loop_test(t, another_sm_assigned, 0, 8);
	tcase_add_loop_test(t, random_memory, 0, 40);
	tcase_add_test(t, as_found);
	tcase_add_test(t, empty_fabric);
	suite_add_tcase(suite, t);
}

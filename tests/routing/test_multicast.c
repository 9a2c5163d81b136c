/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Multicast trees: every member hears every other exactly once, whatever the fabric; the
 * same trees whatever the order of reading.
 */
#include <check.h>

#include "tests/lib/fabric.h"
#include "tests/lib/mcast_walk.h"
#include "routing/engine.h"
#include "routing/multicast.h"
#include "routing/route.h"
#include "tests/lib/suite.h"

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* Groups of random end ports; the first has all of them. */
static struct mcast_in random_groups(const struct graph *g, uint32_t n, uint64_t *seed)
{
	struct mcast_group *groups = arena_array(arena, n, sizeof(*groups));

	for (uint32_t i = 0; i < n; i++) {
		uint32_t count = i ? random_below(seed, g->n_end_ports) / (1 + i % 5)
		                   : g->n_end_ports;
		uint32_t *order = fabric_shuffle(g->n_end_ports, seed, arena);
		struct mcast_member *m = arena_array(arena, count, sizeof(*m));

		for (uint32_t k = 0; k < count; k++) {
			m[k].port = g->end_ports[order[k]];
			m[k].sends_only = i && random_below(seed, 4) == 0;
		}
		groups[i] = (struct mcast_group){ .mlid = MLID_FIRST + i * 7,
			                          .members = m,
			                          .n = count };
	}
	return (struct mcast_in){ .groups = groups, .n_groups = n };
}

/* The multicast tables of all switches for one group: [n_switches][256]. */
static bool *expand(const struct graph *g, const struct mcast_in *in, uint32_t group,
                    const struct mft_block *b, uint32_t n)
{
	bool *on = arena_array(arena, (size_t)g->n_switches * MCAST_PORTS, sizeof(*on));
	uint32_t row = in->groups[group].mlid - MLID_FIRST;

	for (uint32_t i = 0; i < n; i++) {
		uint16_t mask = b[i].block == row / MFT_BLOCK_MLIDS
		                        ? b[i].mask[row % MFT_BLOCK_MLIDS]
		                        : 0;

		for (unsigned k = 0; k < MFT_POSITION_PORTS; k++) {
			on[b[i].sw * MCAST_PORTS + b[i].position * 16U + k] |=
				mask >> k & 1;
		}
	}
	return on;
}

/* Cables inside the tree: with the switches they join, one less. */
static void check_tree(const struct graph *g, const struct mcast_tree *t)
{
	uint32_t switches = 0, ends = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct mcast_port *p = &t->ports[i];
		uint32_t peer =
			g->ports[g->nodes[g->switches[p->sw]].first_port + p->port].peer;

		must(!i || t->ports[i - 1].sw < p->sw ||
		             (t->ports[i - 1].sw == p->sw &&
		              t->ports[i - 1].port < p->port),
		     "ports out of order");
		switches += !i || t->ports[i - 1].sw != p->sw;
		ends += p->port && g->nodes[g->ports[peer].node].sw != GRAPH_NONE;
	}
	must(t->n == 0 || ends == 2 * (switches - 1), "%u cable ends for %u switches",
	     ends, switches);
}

static void check_all(const struct graph *g, const struct mcast_in *in,
                      const struct mcast_tree *trees)
{
	struct mft_block *blocks;
	uint32_t n;

	ck_assert_int_eq(mcast_blocks(in, trees, arena, &blocks, &n), E_OK);
	for (uint32_t i = 0; i < in->n_groups; i++) {
		uint32_t receivers = 0;

		for (uint32_t k = 0; k < in->groups[i].n; k++) {
			receivers += !in->groups[i].members[k].sends_only;
		}
		must(trees[i].missed == 0, "group %u misses %u", i, trees[i].missed);
		must((trees[i].n != 0) == (in->groups[i].n > 1 && receivers),
		     "group %u has %u ports", i, trees[i].n);
		check_tree(g, &trees[i]);
		check_group(g, &in->groups[i], trees[i].n != 0,
		            expand(g, in, i, blocks, n), arena);
	}
}

/* clang-format off */
static const struct {
	const char *command;
	double fail;
	const char *engine;
} fabrics[] = {
	{ "ft2 4 2 2", 0, "minhop" },
	{ "ft2 8 6 4", 0, "minhop" },
	{ "ft2 8 6 4", 0.2, "minhop" },
	{ "hypercube 4 1", 0, "minhop" },
	{ "torus 6 2", 0, "minhop" },
	{ "torus 4x4 1", 0, "minhop" },
	{ "torus 4x4 1", 0.1, "minhop" },
	{ "torus 4x4 1", 0, "torus-2QoS" },
	{ "torus 3x4x3 1", 0, "torus-2QoS" },
	{ "mesh 3x3 1", 0, "torus-2QoS" },
	{ "dragonfly 4 2 2 5", 0, "minhop" },
	{ "jellyfish 12 4 2", 0, "minhop" },
};
/* clang-format on */

static struct mcast_tree *trees_of(const struct graph *g, const char *engine,
                                   const struct mcast_in *in)
{
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_request r = { .g = g, .lids = &l };
	struct mcast_tree *t = arena_array(arena, in->n_groups, sizeof(*t));
	struct why why = { "" };

	ck_assert_int_eq(route_multicast(&r, engine_find(engine), in, arena, t, &why),
	                 E_OK);
	ck_assert_str_eq(why.text, "");
	return t;
}

START_TEST(every_member_hears_once)
{
	for (uint32_t round = 1; round <= 6; round++) {
		uint64_t seed = round * 1000 + (unsigned)_i;
		struct graph *g =
			fabric_make(fabrics[_i].command, fabrics[_i].fail, round, arena);
		struct mcast_in in = random_groups(g, 12, &seed);

		check_all(g, &in, trees_of(g, fabrics[_i].engine, &in));
	}
}
END_TEST

/* The same groups by GUID over a graph read in another order. */
static struct mcast_in same_groups(const struct graph *g, const struct graph *x,
                                   const struct mcast_in *in)
{
	struct mcast_group *groups = arena_array(arena, in->n_groups, sizeof(*groups));

	for (uint32_t i = 0; i < in->n_groups; i++) {
		uint32_t n = in->groups[i].n;
		struct mcast_member *m = arena_array(arena, n, sizeof(*m));

		for (uint32_t k = 0; k < n; k++) {
			m[n - 1 - k] = in->groups[i].members[k];
			m[n - 1 - k].port = graph_port_by_guid(
				x, g->ports[in->groups[i].members[k].port].guid);
		}
		groups[i] = (struct mcast_group){ .mlid = in->groups[i].mlid,
			                          .members = m,
			                          .n = n };
	}
	return (struct mcast_in){ .groups = groups, .n_groups = in->n_groups };
}

START_TEST(order_does_not_matter)
{
	uint64_t seed = 77;
	struct graph *g = fabric_make(fabrics[_i].command, fabrics[_i].fail, 3, arena);
	struct graph *x = fabric_reordered(g, 9, arena);
	struct mcast_in in = random_groups(g, 8, &seed), in_x = same_groups(g, x, &in);
	struct mcast_tree *t = trees_of(g, fabrics[_i].engine, &in);
	struct mcast_tree *tx = trees_of(x, fabrics[_i].engine, &in_x);

	for (uint32_t i = 0; i < in.n_groups; i++) {
		ck_assert_uint_eq(t[i].root, tx[i].root);
		ck_assert_uint_eq(t[i].n, tx[i].n);
		for (uint32_t k = 0; k < t[i].n; k++) {
			ck_assert_uint_eq(t[i].ports[k].sw, tx[i].ports[k].sw);
			ck_assert_uint_eq(t[i].ports[k].port, tx[i].ports[k].port);
		}
	}
}
END_TEST

/* A switch without a table carries nothing; its hosts are missed, the others are not. */
START_TEST(barred_switches)
{
	struct graph *g = fabric_make("ft2 8 6 4", 0, 1, arena);
	uint8_t *barred = arena_array(arena, g->n_switches, 1);
	uint64_t seed = 4;
	struct mcast_in in = random_groups(g, 4, &seed);
	struct mcast_tree *t;
	uint32_t leaf = graph_switch_of(g, in.groups[0].members[0].port);
	uint32_t lost = 0;

	barred[leaf] = 1;
	in.barred = barred;
	t = trees_of(g, "minhop", &in);
	for (uint32_t k = 0; k < in.groups[0].n; k++) {
		lost += graph_switch_of(g, in.groups[0].members[k].port) == leaf;
	}
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_eq(t[0].missed, lost);
	ck_assert_uint_gt(t[0].n, 0);
	for (uint32_t i = 0; i < in.n_groups; i++) {
		for (uint32_t k = 0; k < t[i].n; k++) {
			ck_assert_uint_ne(t[i].ports[k].sw, leaf);
		}
		check_tree(g, &t[i]);
	}
}
END_TEST

/* Groups alike but for their MLID have their roots on more than one spine. */
START_TEST(roots_are_spread)
{
	struct graph *g = fabric_make("ft2 8 6 4", 0, 1, arena);
	uint64_t seed = 1;
	struct mcast_in all = random_groups(g, 1, &seed);
	struct mcast_group groups[32];
	struct mcast_in in = { .groups = groups, .n_groups = 32 };
	uint32_t *used = arena_array(arena, g->n_switches, sizeof(*used)), n = 0;
	struct mcast_tree *t;

	for (uint32_t i = 0; i < 32; i++) {
		groups[i] = all.groups[0];
		groups[i].mlid = MLID_FIRST + i;
	}
	t = trees_of(g, "minhop", &in);
	for (uint32_t i = 0; i < 32; i++) {
		n += !used[t[i].root]++;
	}
	ck_assert_uint_ge(n, 3);
}
END_TEST

/* Members on one leaf alone: the tree is that leaf. */
START_TEST(one_leaf)
{
	static const char *const engine[] = { "minhop", "torus-2QoS" };
	struct graph *g = fabric_make(_i ? "torus 4x4 2" : "ft2 4 2 2", 0, 1, arena);
	struct mcast_member m[2] = { { g->hosts[g->host_first[1]], false },
		                     { g->hosts[g->host_first[1] + 1], false } };
	struct mcast_group group = { .mlid = MLID_FIRST, .members = m, .n = 2 };
	struct mcast_in in = { .groups = &group, .n_groups = 1 };
	struct mcast_tree *t;

	if (g->host_first[2] - g->host_first[1] < 2) {
		m[0].port = g->hosts[0];
		m[1].port = g->hosts[1];
	}
	t = trees_of(g, engine[_i], &in);
	ck_assert_uint_eq(t->n, 2);
	ck_assert_uint_eq(t->root, graph_switch_of(g, m[0].port));
}
END_TEST

/* Between two switches that are two hops apart over several others, each of these carries groups, and
 * each of several like cables does. */
START_TEST(ways_are_spread)
{
	enum { GROUPS = 64 };
	struct graph *g = fabric_make(_i ? "torus 4x4 1" : "ft2 2 2 1 3", 0, 1, arena);
	struct mcast_group group[GROUPS];
	struct mcast_member m[2] = { { g->hosts[0], false }, { GRAPH_NONE, false } };
	struct mcast_in in = { .groups = group, .n_groups = GROUPS };
	unsigned by_port[256] = { 0 }, used = 0;
	uint32_t sw = graph_switch_of(g, m[0].port);
	struct mcast_tree *t;

	for (uint32_t i = 1; i < g->n_end_ports; i++) { /* the last one that is far away */
		uint32_t port = g->end_ports[i], other = graph_switch_of(g, port);

		if (g->nodes[g->ports[port].node].type == NODE_CA && other != sw) {
			m[1].port = port;
		}
	}
	for (uint32_t i = 0; i < GROUPS; i++) {
		group[i] = (struct mcast_group){ .mlid = MLID_FIRST + i, .members = m, .n = 2 };
	}
	t = trees_of(g, "minhop", &in);
	for (uint32_t i = 0; i < GROUPS; i++) {
		for (uint32_t k = 0; k < t[i].n; k++) {
			if (t[i].ports[k].sw == sw) {
				by_port[t[i].ports[k].port]++;
			}
		}
	}
	for (unsigned port = 1; port < 256; port++) {
		uint32_t peer = port <= g->nodes[g->switches[sw]].n_ports
		                        ? g->ports[graph_port(g, g->switches[sw], port)].peer
		                        : GRAPH_NONE;
		bool cable = peer != GRAPH_NONE &&
		             g->nodes[g->ports[peer].node].type == NODE_SWITCH;

		used += cable && by_port[port] >= GROUPS / 16;
	}
	ck_assert_uint_ge(used, 2);
}
END_TEST

TEST_SUITE(multicast)
{
	TCase *t = tcase_create("multicast");
	int n = (int)(sizeof(fabrics) / sizeof(*fabrics));

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, every_member_hears_once, 0, n);
	tcase_add_loop_test(t, order_does_not_matter, 0, n);
	tcase_add_test(t, barred_switches);
	tcase_add_test(t, roots_are_spread);
	tcase_add_loop_test(t, one_leaf, 0, 2);
	tcase_add_loop_test(t, ways_are_spread, 0, 2);
	suite_add_tcase(suite, t);
}

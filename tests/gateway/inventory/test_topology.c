/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Tiers and groups of generated fabrics, whose shape is known: what the generators' help
 * says about them, also with cables that fail and with one that is in a wrong place.
 */
#include <check.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "gateway/inventory/topology.h"
#include "routing/graph/graph.h"
#include "routing/topogen/topogen.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct diags diags;

static void start(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
}

static void stop(void)
{
	arena_free(arena);
}

static struct graph *make(const char *const words[6], double fail, uint32_t seed)
{
	struct topogen_opts o = { .fail = fail, .seed = seed };
	char *args[5];
	struct graph *g;
	int n = 0;

	for (; n < 5 && words[n + 1] != NULL; n++) {
		args[n] = arena_strdup(arena, words[n + 1]);
	}
	ck_assert_int_eq(topogen(words[0], n, args, &o, arena, &diags, &g), E_OK);
	return g;
}

static struct topology shape_of(struct graph *g)
{
	struct topology t;

	if (!g->frozen) {
		ck_assert_int_eq(graph_freeze(g, &diags), E_OK);
	}
	ck_assert_int_eq(topology_find(g, arena, &t), E_OK);
	return t;
}

/* Switches of the fullest and of the emptiest group, and those in no group. */
struct sizes {
	uint32_t most, least, alone;
};

static struct sizes sizes_of(const struct graph *g, const struct topology *t)
{
	uint32_t *n = arena_array(arena, t->n_groups, sizeof(*n));
	struct sizes s = { .least = UINT32_MAX };

	for (uint32_t i = 0; i < g->n_switches; i++) {
		if (t->group[i] == GRAPH_NONE) {
			s.alone++;
		} else {
			ck_assert_uint_lt(t->group[i], t->n_groups);
			n[t->group[i]]++;
		}
	}
	for (uint32_t i = 0; i < t->n_groups; i++) {
		s.most = n[i] > s.most ? n[i] : s.most;
		s.least = n[i] < s.least ? n[i] : s.least;
	}
	return s;
}

static const struct {
	const char *words[6];
	bool tree;
	uint16_t tiers;
	uint32_t groups, size, alone;
} shapes[] = {
	{ { "ft2", "6", "4", "3" }, true, 2, 0, 0, 9 },
	{ { "ft2", "6", "4", "3", "2" }, true, 2, 0, 0, 9 },
	{ { "ft3", "4" }, true, 3, 4, 4, 4 },
	{ { "ft3", "8" }, true, 3, 8, 8, 16 },
	{ { "tree3", "5", "4", "6", "2", "4" }, true, 3, 5, 6, 8 },
	{ { "torus", "4x4x4", "1" }, false, 1, 0, 0, 64 },
	{ { "mesh", "5x5", "2" }, false, 1, 0, 0, 25 },
	{ { "hypercube", "4", "1" }, false, 1, 0, 0, 16 },
	{ { "dragonfly", "2", "4", "2" }, false, 1, 9, 4, 0 },
	{ { "dragonfly", "4", "8", "4" }, false, 1, 33, 8, 0 },
};

START_TEST(test_shapes)
{
	struct graph *g = make(shapes[_i].words, 0, 1);
	struct topology t = shape_of(g);
	struct sizes s = sizes_of(g, &t);

	ck_assert_int_eq(t.tree, shapes[_i].tree);
	ck_assert_uint_eq(t.n_tiers, shapes[_i].tiers);
	ck_assert_uint_eq(t.n_groups, shapes[_i].groups);
	ck_assert_uint_eq(s.alone, shapes[_i].alone);
	if (t.n_groups > 0) {
		ck_assert_uint_eq(s.most, shapes[_i].size);
		ck_assert_uint_eq(s.least, shapes[_i].size);
	}
	for (uint32_t i = 0; t.tree && i < g->n_switches; i++) {
		bool hosts = g->host_first[i + 1] > g->host_first[i];
		ck_assert_int_eq(t.tier[i] == 0, hosts);
	}
}
END_TEST

/* A twentieth of the cables fails, whichever: every pod stays as it was. */
START_TEST(test_failed_cables)
{
	static const char *const words[6] = { "ft3", "12" };
	struct graph *whole = make(words, 0, 1), *g;
	struct topology want = shape_of(whole), t;

	g = make(words, 0.05, (uint32_t)_i + 1);
	t = shape_of(g);
	ck_assert_uint_eq(t.n_groups, want.n_groups);
	for (uint32_t i = 0; i < g->n_switches; i++) {
		ck_assert_uint_eq(t.group[i], want.group[i]);
		ck_assert_uint_eq(t.tier[i], want.tier[i]);
	}
}
END_TEST

/* The same fabric, but two cables have changed their upper ends. */
static struct graph *swapped(const struct graph *g, uint32_t p, uint32_t q)
{
	struct graph *to = graph_new(arena);
	uint32_t node;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];
		ck_assert_int_eq(graph_add_node(to, n->type, n->guid, n->n_ports,
		                                n->description, NULL, &node),
		                 E_OK);
		ck_assert_uint_eq(to->nodes[node].first_port, n->first_port);
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		uint32_t peer = g->ports[i].peer;

		if (peer == GRAPH_NONE || peer < i) {
			continue;
		}
		/* leaves have the lowest GUIDs, so i is a leaf's port */
		uint32_t a = i == p ? q : i == q ? p : i;

		ck_assert_int_eq(graph_connect(to, a, peer), E_OK);
	}
	return to;
}

/* A random cable from a leaf upwards, of another pod than that of a port. */
static uint32_t uplink(const struct graph *g, const struct topology *t, uint32_t other)
{
	for (;;) {
		uint32_t p = (uint32_t)rand() % g->n_ports, q = g->ports[p].peer;
		uint32_t a = g->nodes[g->ports[p].node].sw;

		if (a != GRAPH_NONE && q != GRAPH_NONE && t->tier[a] == 0 &&
		    g->nodes[g->ports[q].node].sw != GRAPH_NONE &&
		    (other == GRAPH_NONE ||
		     t->group[a] != t->group[g->nodes[g->ports[other].node].sw])) {
			return p;
		}
	}
}

/* No switch changes its pod, so that the map shows these two as cables between pods. */
START_TEST(test_swapped_cables)
{
	static const char *const words[6] = { "ft3", "8" };
	struct graph *g = make(words, 0, 1), *other;
	struct topology want = shape_of(g), t;
	uint32_t astray = 0;

	srand((unsigned)_i + 1);
	uint32_t p = uplink(g, &want, GRAPH_NONE), q = uplink(g, &want, p);
	other = swapped(g, p, q);
	t = shape_of(other);
	ck_assert_uint_eq(t.n_groups, want.n_groups);
	for (uint32_t s = 0; s < other->n_switches; s++) {
		ck_assert_uint_eq(t.group[s], want.group[s]);
		for (uint32_t i = other->adj_first[s]; i < other->adj_first[s + 1]; i++) {
			uint32_t to = other->adj[i].to;
			astray += t.group[s] != GRAPH_NONE && t.group[to] != GRAPH_NONE &&
			          t.group[s] != t.group[to];
		}
	}
	ck_assert_uint_eq(astray, 4); /* two cables, from both ends */
}
END_TEST

TEST_SUITE(topology)
{
	TCase *t = tcase_create("topology");

	tcase_add_checked_fixture(t, start, stop);
	tcase_add_loop_test(t, test_shapes, 0, sizeof(shapes) / sizeof(shapes[0]));
	tcase_add_loop_test(t, test_failed_cables, 0, 20);
	tcase_add_loop_test(t, test_swapped_cables, 0, 20);
	suite_add_tcase(suite, t);
}

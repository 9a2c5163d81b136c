/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Generated fabrics against copies of themselves in which drawn cables are taken away,
 * exchanged, led elsewhere, added or slower: each difference is one row, and there is no other.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/cabling.h"
#include "routing/graph/graph.h"
#include "routing/topogen/topogen.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct diags diags;
static struct graph *plan;
static uint32_t *peer; /* of the copy, [plan->n_ports] */
static uint32_t seed;

static uint32_t draw(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

static void setup_plan(uint32_t s)
{
	struct topogen_opts o = { .seed = s };
	char *args[3] = { (char *)"14", (char *)"6", (char *)"3" };

	seed = s;
	arena = arena_new();
	diags_init(&diags, arena);
	ck_assert_int_eq(topogen("jellyfish", 3, args, &o, arena, &diags, &plan), E_OK);
	peer = arena_array(arena, plan->n_ports, sizeof(*peer));
	for (uint32_t i = 0; i < plan->n_ports; i++) {
		peer[i] = plan->ports[i].peer;
	}
}

/* A cable of the plan that is as planned still. */
static uint32_t draw_cable(void)
{
	for (;;) {
		uint32_t p = draw(plan->n_ports);

		if (plan->ports[p].peer != GRAPH_NONE && peer[p] == plan->ports[p].peer) {
			return p;
		}
	}
}

/* The fabric with the cables of peer[], other GUIDs if \a moved. */
static struct graph *copy(uint64_t moved)
{
	struct graph *g = graph_new(arena);
	uint32_t node;

	for (uint32_t i = 0; i < plan->n_nodes; i++) {
		const struct node *n = &plan->nodes[i];

		ck_assert_int_eq(graph_add_node(g, n->type, n->guid + moved, n->n_ports,
		                                n->description, NULL, &node),
		                 E_OK);
		ck_assert_uint_eq(node, i);
	}
	for (uint32_t i = 0; i < plan->n_ports; i++) {
		g->ports[i].width = plan->ports[i].width;
		g->ports[i].speed = plan->ports[i].speed;
		if (peer[i] != GRAPH_NONE && i < peer[i]) {
			ck_assert_int_eq(graph_connect(g, i, peer[i]), E_OK);
		}
	}
	ck_assert_int_eq(graph_freeze(g, &diags), E_OK);
	return g;
}

static struct cabling compare(const struct graph *found)
{
	struct cabling c;

	ck_assert_int_eq(cabling_compare(plan, found, arena, &c), E_OK);
	return c;
}

static void expect(const struct cabling *c, enum cabling_kind kind, uint32_t n)
{
	for (unsigned k = 0; k < CABLING_KINDS; k++) {
		ck_assert_msg(c->count[k] == (k == kind ? n : 0), "%s: %u rows",
		              cabling_kind_name(k), c->count[k]);
	}
	ck_assert_uint_eq(c->n_rows, n);
	ck_assert_uint_eq(c->n_planned, plan->n_links);
}

START_TEST(as_planned)
{
	setup_plan((uint32_t)_i);
	struct cabling c = compare(copy(0));
	expect(&c, CABLING_KINDS, 0);
	ck_assert_uint_eq(c.n_good, plan->n_links);
	c = compare(copy(0x1000000)); /* other GUIDs, the same names */
	expect(&c, CABLING_KINDS, 0);
	arena_free(arena);
}
END_TEST

START_TEST(missing_and_extra)
{
	enum { CABLES = 5 };
	uint32_t gone[CABLES];

	setup_plan((uint32_t)_i);
	for (unsigned i = 0; i < CABLES; i++) {
		gone[i] = draw_cable();
		peer[plan->ports[gone[i]].peer] = GRAPH_NONE;
		peer[gone[i]] = GRAPH_NONE;
	}
	struct graph *found = copy(0);
	struct cabling c = compare(found);
	expect(&c, CABLING_MISSING, CABLES);
	for (unsigned i = 0; i < CABLES; i++) {
		uint32_t a = gone[i], b = plan->ports[a].peer;
		unsigned rows = 0;

		for (unsigned k = 0; k < c.n_rows; k++) {
			rows += c.row[k].plan[0] == (a < b ? a : b);
		}
		ck_assert_uint_eq(rows, 1);
	}
	ck_assert_uint_eq(c.n_good, plan->n_links - CABLES);
	/* the other way round the same cables are extra */
	ck_assert_int_eq(cabling_compare(found, plan, arena, &c), E_OK);
	ck_assert_uint_eq(c.count[CABLING_EXTRA], CABLES);
	ck_assert_uint_eq(c.n_rows, CABLES);
	arena_free(arena);
}
END_TEST

START_TEST(swapped)
{
	setup_plan((uint32_t)_i);
	uint32_t a = draw_cable(), b = plan->ports[a].peer, c1 = a, d;

	while (c1 == a || c1 == b) {
		c1 = draw_cable();
	}
	d = plan->ports[c1].peer;
	peer[a] = d;
	peer[d] = a;
	peer[b] = c1;
	peer[c1] = b;
	struct cabling c = compare(copy(0));
	expect(&c, CABLING_SWAPPED, 1);
	ck_assert(c.row[0].plan[0] == a || c.row[0].plan[1] == a ||
	          c.row[0].other[0] == a || c.row[0].other[1] == a);
	ck_assert_uint_ne(c.row[0].plan[0], c.row[0].other[0]);
	ck_assert_uint_eq(c.n_good, plan->n_links - 2);
	arena_free(arena);
}
END_TEST

/* Three cables whose far ends went round: no pair of them is exchanged. */
START_TEST(wrong)
{
	setup_plan((uint32_t)_i);
	uint32_t near[3], far[3];

	for (unsigned i = 0; i < 3;) {
		near[i] = draw_cable();
		far[i] = plan->ports[near[i]].peer;
		bool fresh = true;
		for (unsigned k = 0; k < i; k++) {
			fresh &= near[i] != near[k] && near[i] != far[k];
		}
		i += fresh;
	}
	for (unsigned i = 0; i < 3; i++) {
		peer[near[i]] = far[(i + 1) % 3];
		peer[far[(i + 1) % 3]] = near[i];
	}
	struct cabling c = compare(copy(0));
	expect(&c, CABLING_WRONG, 3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_ne(c.row[i].at_peer[0], GRAPH_NONE);
		ck_assert_uint_ne(c.row[i].at_peer[1], GRAPH_NONE);
	}
	arena_free(arena);
}
END_TEST

START_TEST(nodes_and_speed)
{
	setup_plan((uint32_t)_i);
	struct graph *found = copy(0);
	uint32_t p = draw_cable();
	uint32_t q = plan->ports[p].peer, n = plan->ports[p].node;

	found->ports[p].speed = found->ports[q].speed = SPEED_SDR;
	struct cabling c = compare(found);
	expect(&c, CABLING_SLOWER, 1);
	ck_assert_uint_eq(c.n_good, plan->n_links);
	/* neither the GUID nor the name of a node is known */
	found = copy(0);
	found->nodes[n].guid ^= UINT64_C(0xff00000000000000);
	found->nodes[n].description = "somebody else";
	c = compare(found);
	ck_assert_uint_eq(c.count[CABLING_NODE_MISSING], 1);
	ck_assert_uint_eq(c.count[CABLING_NODE_EXTRA], 1);
	ck_assert_uint_eq(c.count[CABLING_EXTRA], 0);
	ck_assert_uint_eq(c.count[CABLING_MISSING], 0);
	arena_free(arena);
}
END_TEST

TEST_SUITE(cabling)
{
	TCase *t = tcase_create("cabling");

	tcase_add_loop_test(t, as_planned, 1, 6);
	tcase_add_loop_test(t, missing_and_extra, 1, 21);
	tcase_add_loop_test(t, swapped, 1, 21);
	tcase_add_loop_test(t, wrong, 1, 21);
	tcase_add_loop_test(t, nodes_and_speed, 1, 11);
	suite_add_tcase(suite, t);
}

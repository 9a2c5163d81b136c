/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdio.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/traffic.h"
#include "tests/lib/fabric.h"
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

/* Default options. */
static struct lft route(const char *engine, const struct graph *g, const struct lids *l)
{
	const struct engine *e = engine_find(engine);
	struct option_sets s = { .n = 0 };
	struct route_in in = { .g = g, .lids = l };
	struct route_out out = { .lanes.n = 0 };

	if (e->options) {
		void *base = arena_alloc(arena, e->opt_size);

		in.options = base;
		ck_assert_int_eq(option_sets_add(&s, e->options, base), E_OK);
		ck_assert_int_eq(option_set_defaults(&s, arena), E_OK);
	}
	ck_assert_int_eq(e->route(&in, arena, &out), E_OK);
	return out.lft;
}

/* Two switches with four hosts each and one cable between. Hosts h7 to h14 in the order of names
 * have descending GUIDs. */
static struct graph *two_switches(uint8_t speed)
{
	struct graph *g = graph_new(arena);
	uint32_t sw[2], host;
	char name[8];

	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 0x100 + i, 5, "sw", NULL,
		                                &sw[i]),
		                 E_OK);
	}
	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "h%u", 7 + i);
		ck_assert_int_eq(graph_add_node(g, NODE_CA, 0x1000 - 0x10 * i, 1, name,
		                                NULL, &host),
		                 E_OK);
		ck_assert_int_eq(graph_connect(g, graph_port(g, host, 1),
		                               graph_port(g, sw[i / 4], 1 + i % 4)),
		                 E_OK);
	}
	ck_assert_int_eq(graph_connect(g, graph_port(g, sw[0], 5), graph_port(g, sw[1], 5)),
	                 E_OK);
	for (unsigned i = 0; i < 2; i++) {
		g->ports[graph_port(g, sw[i], 5)].speed = speed;
	}
	ck_assert_int_eq(graph_freeze(g, NULL), E_OK);
	return g;
}

/* By shift 1 to 7 there cross 1, 2, 3, 4, 3, 2, 1 flows each way; they share one link. */
START_TEST(one_link_is_shared)
{
	struct graph *g = two_switches(SPEED_SDR);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = route("minhop", g, &l);
	struct traffic t;

	ck_assert_int_eq(traffic_measure(g, &l, &lft, arena, &t), E_OK);
	ck_assert_double_eq_tol(t.shift.mean,
	                        (1 + .75 + .5 + .25 + .5 + .75 + 1) / 7, 1e-9);
	ck_assert_double_eq_tol(t.shift.least, .25, 1e-9);
	ck_assert_double_lt(t.bisection.mean, 1);
	ck_assert_double_ge(t.bisection.least, .25 - 1e-9);
	ck_assert_double_lt(t.permutation.mean, 1);
}
END_TEST

/* The link between has four times the rate of a host. */
START_TEST(fast_link_is_enough)
{
	struct graph *g = two_switches(SPEED_QDR);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = route("minhop", g, &l);
	struct traffic t;

	ck_assert_int_eq(traffic_measure(g, &l, &lft, arena, &t), E_OK);
	ck_assert_double_eq_tol(t.shift.least, 1, 1e-9);
	ck_assert_double_eq_tol(t.permutation.least, 1, 1e-9);
	ck_assert_double_eq_tol(t.bisection.least, 1, 1e-9);
}
END_TEST

START_TEST(without_a_route_nothing)
{
	struct graph *g = two_switches(SPEED_SDR);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct traffic t;
	struct lft lft;

	ck_assert_int_eq(lft_init(&lft, g->n_switches, l.top, arena), E_OK);
	ck_assert_int_eq(traffic_measure(g, &l, &lft, arena, &t), E_OK);
	ck_assert_double_eq_tol(t.shift.mean, (.75 + .5 + .25 + 0 + .25 + .5 + .75) / 7,
	                        1e-9);
	ck_assert_double_eq_tol(t.shift.least, 0, 1e-9);
}
END_TEST

/* Both ways of one fabric: ftree is for shifts, and random traffic collides. */
START_TEST(shifts_of_a_fat_tree)
{
	struct graph *g = fabric_make("ft2 6 6 6", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = route("ftree", g, &l);
	struct traffic t, again;

	ck_assert_int_eq(traffic_measure(g, &l, &lft, arena, &t), E_OK);
	ck_assert_double_eq_tol(t.shift.least, 1, 1e-9);
	ck_assert_double_lt(t.permutation.mean, .95);
	ck_assert_double_gt(t.permutation.mean, .4);
	ck_assert_double_lt(t.permutation.least, t.permutation.mean);
	ck_assert_double_lt(t.bisection.mean, .95);
	ck_assert_int_eq(traffic_measure(g, &l, &lft, arena, &again), E_OK);
	ck_assert(!memcmp(&t, &again, sizeof(t)));
}
END_TEST

/* One host has nobody to send to. */
START_TEST(nobody_else)
{
	struct graph *g = fabric_make("ft2 1 1 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = route("minhop", g, &l);
	struct traffic t;

	ck_assert_uint_eq(g->n_hosts, 1);
	ck_assert_int_eq(traffic_measure(g, &l, &lft, arena, &t), E_OK);
	ck_assert_double_eq(t.shift.mean, 0);
}
END_TEST

TEST_SUITE(traffic)
{
	TCase *t = tcase_create("traffic");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, one_link_is_shared);
	tcase_add_test(t, fast_link_is_enough);
	tcase_add_test(t, without_a_route_nothing);
	tcase_add_test(t, shifts_of_a_fat_tree);
	tcase_add_test(t, nobody_else);
	suite_add_tcase(suite, t);
}

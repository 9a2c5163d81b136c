/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Single faults against a plain search that takes out one switch or cable after the other. */
#include "routing/proof/cuts.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "tests/lib/suite.h"

enum { SWITCHES = 14, EDGES = 40, SEEDS = 3000 };

static struct arena *arena;
static struct cuts_edge edges[EDGES];
static uint32_t n, m, hosts[SWITCHES], at[SWITCHES], n_at;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static void spread(uint32_t sw, uint32_t part, uint32_t *of, uint32_t no_switch,
                   uint32_t no_edge, bool rejoined)
{
	of[sw] = part;
	for (uint32_t i = 0; i < m; i++) {
		uint32_t to = edges[i].a == sw ? edges[i].b : edges[i].a;

		if (i != no_edge && (edges[i].a == sw || edges[i].b == sw) &&
		    to != no_switch && of[to] == GRAPH_NONE) {
			spread(to, part, of, no_switch, no_edge, rejoined);
		}
	}
	bool joins = false;
	for (uint32_t i = 0; i < n_at; i++) {
		joins |= at[i] == sw;
	}
	for (uint32_t i = 0; rejoined && joins && i < n_at; i++) {
		if (at[i] != no_switch && of[at[i]] == GRAPH_NONE) {
			spread(at[i], part, of, no_switch, no_edge, rejoined);
		}
	}
}

/* Pairs of hosts that reach each other without a switch or an edge. */
static uint64_t pairs(uint32_t no_switch, uint32_t no_edge, bool rejoined)
{
	uint32_t of[SWITCHES];
	uint64_t sum = 0;

	memset(of, 0xff, sizeof(of));
	for (uint32_t i = 0; i < n; i++) {
		if (of[i] == GRAPH_NONE && i != no_switch) {
			spread(i, i, of, no_switch, no_edge, rejoined);
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = i + 1; k < n; k++) {
			if (i != no_switch && k != no_switch && of[i] == of[k]) {
				sum += (uint64_t)hosts[i] * hosts[k];
			}
		}
	}
	return sum;
}

static uint64_t saved(uint32_t no_switch, uint32_t no_edge)
{
	return pairs(no_switch, no_edge, true) - pairs(no_switch, no_edge, false);
}

static uint64_t worst_by_search(void)
{
	uint64_t worst = 0, now;

	for (uint32_t i = 0; i < n; i++) {
		now = saved(i, GRAPH_NONE);
		worst = now > worst ? now : worst;
	}
	for (uint32_t i = 0; i < m; i++) {
		now = saved(GRAPH_NONE, i);
		worst = now > worst ? now : worst;
	}
	return worst;
}

/* A connected graph: a tree, and some cables more, also parallel ones and loops. */
static void draw(unsigned seed)
{
	srand(seed);
	n = 1 + (uint32_t)rand() % SWITCHES;
	m = 0;
	for (uint32_t i = 0; i < n; i++) {
		hosts[i] = (uint32_t)rand() % 4;
		if (i > 0) {
			edges[m++] = (struct cuts_edge){ i, (uint32_t)rand() % i };
		}
	}
	for (uint32_t more = (uint32_t)rand() % 8; more > 0; more--) {
		edges[m++] = (struct cuts_edge){ (uint32_t)rand() % n, (uint32_t)rand() % n };
	}
	n_at = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (rand() % 3 == 0) {
			at[n_at++] = i;
		}
	}
	if (n_at == 0) {
		at[n_at++] = 0;
	}
}

/* What is said to be the worst is as bad as that, and there is nothing worse. */
START_TEST(random_fabrics)
{
	unsigned first = test_seed();

	for (int i = 0; i < test_seeds(SEEDS); i++) {
		struct cuts c;

		draw(first + (unsigned)i);
		ck_assert_int_eq(cuts_find(n, edges, m, hosts, arena, &c), E_OK);
		for (unsigned again = 0; again < 2; again++) { /* no mark stays */
			struct cut worst = cuts_rejoin(&c, at, n_at);

			ck_assert_msg(worst.pairs == worst_by_search(), "seed %u",
			              first + (unsigned)i);
			if (worst.pairs != 0) {
				ck_assert((worst.sw == GRAPH_NONE) !=
				          (worst.edge == GRAPH_NONE));
				ck_assert_uint_eq(saved(worst.sw, worst.edge),
				                  worst.pairs);
			}
		}
		arena_clear(arena);
	}
}
END_TEST

static void check_worst(uint64_t want)
{
	struct cuts c;

	ck_assert_int_eq(cuts_find(n, edges, m, hosts, arena, &c), E_OK);
	ck_assert_uint_eq(cuts_rejoin(&c, at, n_at).pairs, want);
}

/* Two leaves of 18 hosts under one spine that is left: its loss would cut them from each other.
 * With two spines nothing would. */
START_TEST(last_spine)
{
	n = _i == 0 ? 3 : 4;
	m = 0;
	memset(hosts, 0, sizeof(hosts));
	hosts[0] = hosts[1] = 18;
	for (uint32_t spine = 2; spine < n; spine++) {
		edges[m++] = (struct cuts_edge){ 0, spine };
		edges[m++] = (struct cuts_edge){ 1, spine };
	}
	n_at = 2;
	at[0] = 0;
	at[1] = 1;
	check_worst(_i == 0 ? 18 * 18 : 0);
}
END_TEST

/* A leaf on its last cable; the cable to be joined is parallel to it. */
START_TEST(last_cable)
{
	n = 3;
	m = 0;
	memset(hosts, 0, sizeof(hosts));
	hosts[0] = 18;
	hosts[2] = 6;
	edges[m++] = (struct cuts_edge){ 0, 1 };
	edges[m++] = (struct cuts_edge){ 1, 2 };
	n_at = 2;
	at[0] = 0;
	at[1] = 1;
	check_worst(18 * 6);
	edges[m++] = (struct cuts_edge){ 1, 0 };
	check_worst(0);
}
END_TEST

/* Parts that are not connected are apart, and a chain of a million switches is no recursion. */
START_TEST(extremes)
{
	enum { LONG = 1000000 };
	struct cuts_edge *e = calloc(LONG, sizeof(*e));
	uint32_t *on = calloc(LONG, sizeof(*on)), ends[2] = { 0, LONG - 1 };
	struct cuts c;

	ck_assert(e != NULL && on != NULL);
	for (uint32_t i = 0; i < LONG; i++) {
		on[i] = 1;
		e[i] = (struct cuts_edge){ i, (i + 1) % LONG };
	}
	ck_assert_int_eq(cuts_find(LONG, e, LONG - 1, on, arena, &c), E_OK);
	ck_assert_uint_eq(cuts_rejoin(&c, ends, 2).pairs, (uint64_t)LONG / 2 * (LONG / 2));
	ck_assert_int_eq(cuts_find(LONG, e, LONG, on, arena, &c), E_OK);
	ck_assert_uint_eq(cuts_rejoin(&c, ends, 2).pairs, 0);
	ck_assert_int_eq(cuts_find(LONG, e, 0, on, arena, &c), E_OK);
	ck_assert_uint_eq(cuts_rejoin(&c, ends, 2).pairs, 0);
	free(e);
	free(on);
}
END_TEST

TEST_SUITE(cuts)
{
	TCase *t = tcase_create("cuts");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, random_fabrics);
	tcase_add_loop_test(t, last_spine, 0, 2);
	tcase_add_test(t, last_cable);
	tcase_add_test(t, extremes);
	suite_add_tcase(suite, t);
}

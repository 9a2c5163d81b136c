/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* validate, walk and usage: each against the other and against counting by hand. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/usage.h"
#include "routing/graph/walk.h"
#include "routing/proof/validate.h"
#include "tests/lib/fabric.h"
#include "tests/lib/graph_check.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct graph *g;
static struct lids lids;
static struct lft lft;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static void route(const char *fabric, double fail, uint32_t seed, uint32_t lmc)
{
	struct route_in in = { 0 };
	struct route_out out = { 0 };

	g = fabric_make(fabric, fail, seed, arena);
	lids = fabric_lids(g, lmc, 0, arena);
	in.g = g;
	in.lids = &lids;
	ck_assert_int_eq(engine_find("dnup")->route(&in, arena, &out), E_OK);
	lft = out.lft;
}

/* Some entries made wrong: none, any port, a port beyond. */
static void damage(uint64_t *rng, unsigned n)
{
	while (n-- > 0) {
		uint32_t s = random_below(rng, g->n_switches);
		uint32_t lid = 1 + random_below(rng, lids.top);

		lft_row(&lft, s)[lid] = (uint8_t)random_below(rng, g->max_port + 3U);
	}
}

static bool is_host(uint32_t port)
{
	return g->nodes[g->ports[port].node].type != NODE_SWITCH;
}

/* Every pair walked one by one. */
static struct validation walk_all(const uint32_t *part)
{
	struct validation v = { 0 };

	for (uint32_t lid = 1; lid <= lids.top; lid++) {
		uint32_t dst = lids.owner[lid];

		for (uint32_t i = 0; dst != GRAPH_NONE && i < g->n_end_ports; i++) {
			uint32_t src = g->end_ports[i];
			struct walk w;

			if (src == dst || part[g->ports[src].node] != part[g->ports[dst].node]) {
				continue;
			}
			bool lost = walk_route(g, &lids, &lft, src, lid, &w) != E_OK;
			bool hosts = is_host(src) && is_host(dst);

			v.analyzed++;
			v.incomplete += lost;
			v.host_analyzed += hosts;
			v.host_incomplete += hosts && lost;
		}
	}
	return v;
}

static void check_list(const struct validation *v)
{
	uint32_t lid = 0;

	for (uint32_t i = 0; i < v->n_list; i++) {
		const struct validate_route *f = &v->list[i];
		struct walk w;
		int ret = walk_route(g, &lids, &lft, f->src, f->lid, &w);

		ck_assert_int_eq(ret == E_LOOP, f->fault == VALIDATE_LOOP);
		ck_assert_int_ne(ret, E_OK);
		ck_assert_uint_ge(f->lid, lid);
		lid = f->lid;
		if (ret == E_NOPATH && g->nodes[w.hop[w.n - 1].node].sw != GRAPH_NONE) {
			ck_assert_uint_eq(g->nodes[w.hop[w.n - 1].node].sw, f->at);
		}
	}
}

START_TEST(agrees_with_walks)
{
	static const char *const fabrics[] = { "ft2 4 2 2", "torus 3x3 2", "jellyfish 12 4 2",
		                               "ft3 4" };
	uint64_t rng = 77 + (unsigned)_i;
	struct validation v, by_hand;
	uint32_t *part, n;

	route(fabrics[_i % 4], _i % 3 ? 0.2 : 0, 1 + (unsigned)_i, (unsigned)_i % 2);
	ck_assert_int_eq(graph_check_components(g, arena, &part, &n), E_OK);
	damage(&rng, (unsigned)_i / 4 * 8);
	by_hand = walk_all(part);
	ck_assert_int_eq(validate_routes(g, &lids, &lft, 1000000, arena, &v), E_OK);
	ck_assert_uint_eq(v.analyzed, by_hand.analyzed);
	ck_assert_uint_eq(v.incomplete, by_hand.incomplete);
	ck_assert_uint_eq(v.host_analyzed, by_hand.host_analyzed);
	ck_assert_uint_eq(v.host_incomplete, by_hand.host_incomplete);
	ck_assert_uint_eq(v.n_list, v.incomplete);
	check_list(&v);
	ck_assert_int_eq(validate_routes(g, &lids, &lft, 3, arena, &v), E_OK);
	ck_assert_uint_le(v.n_list, 3);
}
END_TEST

/* A line of two switches with two hosts each: 12 pairs of hosts; each LID is looked up by
 * three hosts and, for a host of the other switch, by both switches. */
START_TEST(counts_decisions)
{
	struct validation v;

	route("mesh 2 2", 0, 1, 0);
	ck_assert_uint_eq(g->n_switches, 2);
	ck_assert_uint_eq(g->n_hosts, 4);
	ck_assert_int_eq(validate_routes(g, &lids, &lft, 0, arena, &v), E_OK);
	ck_assert_uint_eq(v.host_analyzed, 12);
	ck_assert_uint_eq(v.analyzed, 6 * 5);
	ck_assert_uint_eq(v.decisions, 4 * 3 + 4 * 2);
	ck_assert_uint_eq(v.incomplete, 0);
}
END_TEST

START_TEST(walks)
{
	struct walk w;

	route("mesh 2 2", 0, 1, 1);
	uint32_t a = g->hosts[0], b = g->hosts[g->host_first[1]];
	uint32_t lid = lids.of[b].base + 1;

	ck_assert_int_eq(walk_route(g, &lids, &lft, a, lid, &w), E_OK);
	ck_assert_uint_eq(w.n, 4);
	ck_assert_uint_eq(w.hop[0].node, g->ports[a].node);
	ck_assert_uint_eq(w.hop[0].out, g->ports[a].num);
	ck_assert_uint_eq(w.hop[1].node, g->switches[0]);
	ck_assert_uint_eq(w.hop[2].node, g->switches[1]);
	ck_assert_uint_eq(w.hop[3].node, g->ports[b].node);
	ck_assert_uint_eq(w.hop[3].in, g->ports[b].num);
	ck_assert_uint_eq(w.hop[1].in, g->ports[g->ports[a].peer].num);
	ck_assert_int_eq(walk_route(g, &lids, &lft, a, lids.top + 1, &w), E_NOTFOUND);
	ck_assert_int_eq(walk_route(g, &lids, &lft, a, 0, &w), E_NOTFOUND);
	/* to a switch itself, and from a port to its own LID */
	uint32_t sw0 = g->nodes[g->switches[1]].first_port;

	ck_assert_int_eq(walk_route(g, &lids, &lft, a, lids.of[sw0].base, &w), E_OK);
	ck_assert_uint_eq(w.hop[w.n - 1].node, g->switches[1]);
	ck_assert_int_eq(walk_route(g, &lids, &lft, sw0, lids.of[sw0].base, &w), E_OK);
	ck_assert_uint_eq(w.n, 1);
	/* tossed between the two, and a hole */
	lft_row(&lft, 1)[lid] = g->adj[g->adj_first[1]].port;
	ck_assert_int_eq(walk_route(g, &lids, &lft, a, lid, &w), E_LOOP);
	lft_row(&lft, 1)[lid] = LFT_NO_ROUTE;
	ck_assert_int_eq(walk_route(g, &lids, &lft, a, lid, &w), E_NOPATH);
	ck_assert_uint_eq(w.hop[w.n - 1].node, g->switches[1]);
}
END_TEST

START_TEST(port_usage)
{
	struct port_usage *u;
	uint64_t rng = 5;

	route("jellyfish 12 4 2", 0, 3, 2);
	damage(&rng, 40);
	ck_assert_int_eq(usage_ports(g, &lids, &lft, arena, &u), E_OK);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (unsigned num = 0; num <= g->max_port; num++) {
			const struct port_usage *got = &u[s * (g->max_port + 1U) + num];
			struct port_usage want = { 0 };

			for (uint32_t lid = 1; lid <= lids.top; lid++) {
				uint32_t owner = lids.owner[lid];

				if (owner == GRAPH_NONE || lft_row(&lft, s)[lid] != num) {
					continue;
				}
				want.total++;
				want.sw += !is_host(owner);
				want.host_all += is_host(owner);
				want.host_base += is_host(owner) && lids.of[owner].base == lid;
			}
			ck_assert_mem_eq(got, &want, sizeof(want));
		}
	}
}
END_TEST

START_TEST(sums)
{
	struct usage_sum s = { 0 };

	ck_assert(usage_average(&s) == 0 && usage_deviation(&s) == 0);
	usage_add(&s, 2);
	usage_add(&s, 4);
	usage_add(&s, 9);
	ck_assert_uint_eq(s.total, 15);
	ck_assert_uint_eq(s.min, 2);
	ck_assert_uint_eq(s.max, 9);
	ck_assert(usage_average(&s) == 5);
	ck_assert(fabs(usage_deviation(&s) - sqrt(26.0 / 3)) < 1e-12);
}
END_TEST

TEST_SUITE(validate)
{
	TCase *t = tcase_create("validate");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, agrees_with_walks, 0, 24);
	tcase_add_test(t, counts_decisions);
	tcase_add_test(t, walks);
	tcase_add_test(t, port_usage);
	tcase_add_test(t, sums);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths.h"
#include "routing/proof/proof.h"
#include "routing/spread/leastcost.h"
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

/* Tables of shortestpath with SpineFirstRouting as given. */
static struct lft route(const struct graph *g, const struct lids *l,
                        const char *spine_first, const struct lft *prev)
{
	const struct engine *e = engine_find("shortestpath");
	struct option_sets s = { .n = 0 };
	struct route_in in = { .g = g, .lids = l, .prev = prev };
	struct route_out *out = arena_alloc(arena, sizeof(*out));
	void *base = arena_alloc(arena, e->opt_size);

	ck_assert_int_eq(option_sets_add(&s, e->options, base), E_OK);
	ck_assert_int_eq(option_set_defaults(&s, arena), E_OK);
	if (spine_first) {
		ck_assert_int_eq(option_set(&s, arena, "spine_first_routing", spine_first,
		                            NULL, 0, NULL),
		                 E_OK);
	}
	in.options = base;
	ck_assert_int_eq(e->route(&in, arena, out), E_OK);
	ck_assert_uint_eq(out->lanes.n, 1);
	return out->lft;
}

static struct proof prove(const struct graph *g, const struct lids *l,
                          const struct lft *lft)
{
	const struct lanes one = { .n = 1 };
	struct proof p;

	ck_assert_int_eq(proof_run(g, l, lft, &one, arena, &p), E_OK);
	ck_assert_msg(p.unreachable_pairs + p.holes + p.forwarding_loops == 0, "%s",
	              proof_text(&p, g, arena));
	return p;
}

/* ---- rates ---- */

/* Exact where Omni-Path links run, and never equal for two rates. */
START_TEST(cost_of_rates)
{
	static const struct {
		uint8_t width, speed;
		unsigned gbit; /* 0: rounded */
	} links[] = {
		{ WIDTH_1X, SPEED_SDR, 0 },    { WIDTH_1X, SPEED_QDR, 10 },
		{ WIDTH_1X, SPEED_EDR, 25 },   { WIDTH_4X, SPEED_QDR, 40 },
		{ WIDTH_2X, SPEED_EDR, 50 },   { WIDTH_4X, SPEED_FDR, 0 },
		{ WIDTH_4X, SPEED_EDR, 100 },  { WIDTH_4X, SPEED_HDR, 200 },
		{ WIDTH_12X, SPEED_EDR, 300 }, { WIDTH_4X, SPEED_NDR, 400 },
		{ WIDTH_12X, SPEED_HDR, 600 }, { WIDTH_4X, SPEED_XDR, 800 },
	};
	unsigned before = UINT16_MAX + 1;

	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		unsigned c =
			leastcost_of_rate(link_rate(links[i].width, links[i].speed));

		ck_assert_uint_lt(c, before);
		ck_assert(links[i].gbit == 0 || c * links[i].gbit == 48000);
		before = c;
	}
	ck_assert_uint_eq(leastcost_of_rate(0),
	                  leastcost_of_rate(link_rate(WIDTH_1X, SPEED_SDR)));
}
END_TEST

/* Of all fabrics below: 25, 100, 200, 400, 800 Gb/s, so a hop costs 32 to 1. */
static unsigned random_rate(uint64_t *seed, struct port *a, struct port *b)
{
	static const struct {
		uint8_t width, speed, cost;
	} rate[] = { { WIDTH_1X, SPEED_EDR, 32 },
		     { WIDTH_4X, SPEED_EDR, 8 },
		     { WIDTH_4X, SPEED_HDR, 4 },
		     { WIDTH_4X, SPEED_NDR, 2 },
		     { WIDTH_4X, SPEED_XDR, 1 } };
	uint32_t i = random_below(seed, sizeof(rate) / sizeof(*rate));

	a->width = b->width = rate[i].width;
	a->speed = b->speed = rate[i].speed;
	return rate[i].cost;
}

/* Rates at random; \return [n_ports] what it costs to leave through the port. */
static unsigned *randomise(const struct graph *g, uint64_t seed)
{
	unsigned *cost = arena_array(arena, g->n_ports, sizeof(*cost));

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t p = graph_port(g, g->switches[s], g->adj[i].port);
			uint32_t q = g->ports[p].peer;

			if (p < q) {
				cost[p] = cost[q] = random_rate(&seed, &g->ports[p],
				                                &g->ports[q]);
			}
		}
	}
	return cost;
}

/* Least cost to one switch by relaxing all links until nothing changes. */
static unsigned *least(const struct graph *g, const unsigned *cost, uint32_t to)
{
	unsigned *best = arena_array(arena, g->n_switches, sizeof(*best));
	bool changed = true;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		best[s] = s == to ? 0 : UINT32_MAX / 2;
	}
	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < g->n_switches; s++) {
			for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
				uint32_t p =
					graph_port(g, g->switches[s], g->adj[i].port);
				unsigned c = best[g->adj[i].to] + cost[p];

				changed |= c < best[s];
				best[s] = c < best[s] ? c : best[s];
			}
		}
	}
	return best;
}

/* The entry leads along a path of least cost, and no faster link does. */
static void check_entry(const struct graph *g, const unsigned *cost, const unsigned *best,
                        uint32_t s, uint8_t port)
{
	unsigned taken = 0, fastest = UINT32_MAX;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t p = graph_port(g, g->switches[s], g->adj[i].port);

		if (best[g->adj[i].to] + cost[p] != best[s]) {
			continue;
		}
		fastest = cost[p] < fastest ? cost[p] : fastest;
		taken = g->adj[i].port == port ? cost[p] : taken;
	}
	ck_assert_uint_ne(taken, 0);
	ck_assert_uint_eq(taken, fastest);
}

static const char *const fabrics[] = { "ft2 4 2 3 2",    "ft3 4",         "mesh 4x3 1",
	                               "jellyfish 16 4 2", "torus 4x4 2",
	                               "dragonfly 2 4 2" };

START_TEST(least_cost)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct graph *g = fabric_make(fabrics[_i], 0, 1, arena);
		unsigned *cost = randomise(g, seed);
		struct lids l = fabric_lids(g, seed % 2, 0, arena);
		struct lft lft = route(g, &l, NULL, NULL);

		prove(g, &l, &lft);
		for (uint32_t t = 0; t < g->n_switches; t++) {
			unsigned *best = least(g, cost, t);

			for (uint32_t lid = 1; lid <= l.top; lid++) {
				if (l.owner[lid] == GRAPH_NONE ||
				    graph_switch_of(g, l.owner[lid]) != t) {
					continue;
				}
				for (uint32_t s = 0; s < g->n_switches; s++) {
					if (s != t) {
						check_entry(g, cost, best, s,
						            lft_row(&lft, s)[lid]);
					}
				}
			}
		}
	}
}
END_TEST

/* Two fast hops beat a slow cable, unless the slow one is as fast as both together. */
START_TEST(detour)
{
	struct graph *g = fabric_make("torus 3 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	uint32_t lid = l.of[g->hosts[g->host_first[1]]].base;
	struct sw_link direct = { .to = 0 };
	uint32_t p;

	for (uint32_t i = g->adj_first[0]; i < g->adj_first[1]; i++) {
		direct = g->adj[i].to == 1 ? g->adj[i] : direct;
	}
	ck_assert_uint_eq(direct.to, 1);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		g->ports[i].width = WIDTH_4X;
		g->ports[i].speed = SPEED_NDR;
	}
	p = graph_port(g, g->switches[0], direct.port);
	g->ports[p].speed = SPEED_EDR; /* one end says it: the cable is that slow */
	struct lft around = route(g, &l, NULL, NULL);
	ck_assert_uint_ne(lft_row(&around, 0)[lid], direct.port);
	prove(g, &l, &around);

	g->ports[p].speed = SPEED_NDR;
	struct lft straight = route(g, &l, NULL, NULL);
	ck_assert_uint_eq(lft_row(&straight, 0)[lid], direct.port);

	g->ports[p].speed = SPEED_HDR; /* equal: the fast link comes first */
	struct lft equal = route(g, &l, NULL, NULL);
	ck_assert_uint_ne(lft_row(&equal, 0)[lid], direct.port);
}
END_TEST

/* A spine with slow cables is used for nothing but its own LID. */
START_TEST(slow_spine)
{
	struct graph *g = fabric_make("ft2 4 3 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	uint32_t slow = graph_port(g, g->switches[g->n_switches - 1], 1);
	struct load load;

	ck_assert_uint_eq(g->host_first[g->n_switches] -
	                          g->host_first[g->n_switches - 1],
	                  0);
	for (unsigned i = 0; i < 4; i++) {
		g->ports[slow + i].width = WIDTH_2X;
		g->ports[g->ports[slow + i].peer].width = WIDTH_2X;
	}
	struct lft lft = route(g, &l, NULL, NULL);

	prove(g, &l, &lft);
	ck_assert_int_eq(load_build(g, &l, &lft, arena, &load), E_OK);
	for (uint32_t s = 0; s + 1 < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			bool to_slow = g->adj[i].to == g->n_switches - 1;

			ck_assert((load.all[i] == 0) == to_slow);
		}
	}
}
END_TEST

/* ---- spines first ---- */

static const char *const directors[] = {
	"director 4 4 1 4 2 4 6",
	"director 6 4 1 6 3 6 6",
	"director 8 4 1 4 2 4 8",
};

/* Routes that turn at an edge switch: from a leaf ASIC down and up again. */
static uint32_t turns_outside(const struct graph *g, const struct lids *l,
                              const struct lft *lft)
{
	uint32_t turns = 0;

	for (uint32_t h = 0; h < g->host_first[g->n_switches]; h++) {
		uint32_t lid = l->of[g->hosts[h]].base, t = graph_switch_of(g, g->hosts[h]);

		for (uint32_t s = 0; s < g->n_switches; s++) {
			uint64_t system = g->nodes[g->switches[s]].system_image_guid;
			uint32_t p = graph_port(g, g->switches[s], lft_row(lft, s)[lid]);
			uint32_t next = g->nodes[g->ports[g->ports[p].peer].node].sw;

			turns += s != t && system &&
			         system == g->nodes[g->switches[t]].system_image_guid &&
			         g->nodes[g->switches[next]].system_image_guid != system;
		}
	}
	return turns;
}

/* Edge switches that hang on several leaf ASICs are as near as the spines. */
START_TEST(spine_first)
{
	struct graph *g = fabric_make(directors[_i], 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft on = route(g, &l, "TRUE", NULL), off = route(g, &l, "FALSE", NULL);
	struct lft unsaid = route(g, &l, NULL, NULL);
	struct proof p = prove(g, &l, &on);

	ck_assert_msg(p.credit_loops == 0, "%s", proof_text(&p, g, arena));
	ck_assert_uint_eq(turns_outside(g, &l, &on), 0);
	ck_assert(!memcmp(on.rows, unsaid.rows, on.n_switches * on.stride));

	p = prove(g, &l, &off);
	ck_assert_uint_gt(p.credit_loops, 0);
	ck_assert_uint_gt(p.n_cycle, 0);
	ck_assert_uint_ge(p.cycle[0].n, 4);
	ck_assert_uint_gt(turns_outside(g, &l, &off), 0);
}
END_TEST

/* It only decides between ways of equal cost. */
START_TEST(spine_first_is_no_detour)
{
	struct graph *g = fabric_make("director 4 4 1 4 2 4 6", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);

	for (uint32_t s = 0; s < g->n_switches; s++) { /* slow cables inside */
		const struct node *n = &g->nodes[g->switches[s]];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t p = n->first_port + g->adj[i].port;
			const struct node *to = &g->nodes[g->switches[g->adj[i].to]];

			if (n->system_image_guid &&
			    n->system_image_guid == to->system_image_guid) {
				g->ports[p].width = WIDTH_1X;
			}
		}
	}
	struct lft lft = route(g, &l, "TRUE", NULL);

	ck_assert_uint_gt(turns_outside(g, &l, &lft), 0);
}
END_TEST

/* ---- previous tables ---- */

/* A cable that goes takes along the entries that used it and hardly any others. */
START_TEST(keeps)
{
	struct graph *g = fabric_make("director 4 4 1 4 2 4 6", 0, 1, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct lft before = route(g, &l, NULL, NULL);
	struct lft again = route(g, &l, NULL, &before);

	ck_assert(!memcmp(before.rows, again.rows, before.n_switches * before.stride));
	/* what leads outside of the chassis is not kept once that matters */
	struct lft off = route(g, &l, "FALSE", NULL);
	struct lft on = route(g, &l, "TRUE", &off);

	ck_assert_uint_gt(turns_outside(g, &l, &off), 0);
	ck_assert_uint_eq(turns_outside(g, &l, &on), 0);
	ck_assert_uint_eq(prove(g, &l, &on).credit_loops, 0);
}
END_TEST

TEST_SUITE(shortestpath)
{
	TCase *t = tcase_create("shortestpath");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, cost_of_rates);
	tcase_add_loop_test(t, least_cost, 0, sizeof(fabrics) / sizeof(*fabrics));
	tcase_add_test(t, detour);
	tcase_add_test(t, slow_spine);
	tcase_add_loop_test(t, spine_first, 0, sizeof(directors) / sizeof(*directors));
	tcase_add_test(t, spine_first_is_no_detour);
	tcase_add_test(t, keeps);
	suite_add_tcase(suite, t);
}

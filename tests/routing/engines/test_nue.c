/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * nue: every fabric on any number of lanes; one lane per LID; shortest routes where lanes
 * or shape allow them; lanes asked for and lanes there are. The choices that the search leaves open
 * are looked at turn by turn. The duties of every engine are in test_engines.c, with the
 * options' defaults.
 */
#include <check.h>
#include <errno.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "conf/option.h"
#include "routing/engine.h"
#include "routing/engines/nue/nue_reach.h"
#include "routing/engines/nue/nue_split.h"
#include "routing/engines/sssp/dfsssp_grid.h"
#include "routing/graph/hops.h"
#include "routing/proof/paths.h"
#include "routing/proof/proof.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;

static void set_threads(int n)
{
#ifdef _OPENMP
	omp_set_num_threads(n);
#else
	(void)n;
#endif
}

static void setup(void)
{
	arena = arena_new();
	set_threads(1);
}

static void teardown(void)
{
	arena_free(arena);
}

/* Options as OpenSM's file would set them. */
static const void *options(unsigned max_num_vls, bool include_switches)
{
	struct option_sets s = { .n = 0 };
	const struct engine *e = engine_find("nue");
	void *base = arena_alloc(arena, e->opt_size);

	ck_assert_int_eq(option_sets_add(&s, e->options, base), E_OK);
	ck_assert_int_eq(option_set_defaults(&s, arena), E_OK);
	ck_assert_int_eq(option_set(&s, arena, "nue_max_num_vls",
	                            arena_printf(arena, "%u", max_num_vls), "-", 1, NULL),
	                 E_OK);
	ck_assert_int_eq(option_set(&s, arena, "nue_include_switches",
	                            include_switches ? "TRUE" : "FALSE", "-", 1, NULL),
	                 E_OK);
	return base;
}

static struct route_out route(const struct graph *g, const struct lids *l, unsigned lanes,
                              bool include_switches)
{
	struct route_in in = { .g = g,
		               .lids = l,
		               .options = options(lanes, include_switches),
		               .max_lanes = 15 };
	struct route_out out = { 0 };
	int ret = engine_find("nue")->route(&in, arena, &out);

	ck_assert_msg(ret == E_OK, "%s: %s", err_text(ret), out.notes.text);
	return out;
}

static uint32_t home_of(const struct graph *g, const struct lids *l, uint32_t lid)
{
	return l->owner[lid] == GRAPH_NONE ? GRAPH_NONE
	                                   : graph_switch_of(g, l->owner[lid]);
}

/* ---- what is promised of every table ---- */

static void check_lanes(const struct graph *g, const struct lids *l,
                        const struct route_out *out, unsigned lanes, const char *what)
{
	ck_assert_msg(out->lanes.n == lanes, "%s: %u lanes", what, out->lanes.n);
	ck_assert((out->lanes.rows == NULL) == (lanes == 1));
	for (uint32_t lid = 1; lid <= l->top; lid++) {
		uint8_t lane = lane_of(&out->lanes, 0, lid);
		uint32_t t = home_of(g, l, lid);

		ck_assert_msg(lane < lanes, "%s: LID %u, lane %u", what, lid, lane);
		for (uint32_t s = 1; t != GRAPH_NONE && s < g->n_switches; s++) {
			ck_assert_msg(lane_of(&out->lanes, s, lid) == lane,
			              "%s: LID %u has two lanes", what, lid);
		}
	}
}

static void check(const struct graph *g, const struct lids *l,
                  const struct route_out *out, unsigned lanes, const char *what)
{
	struct proof p;

	check_lanes(g, l, out, lanes, what);
	ck_assert_int_eq(proof_run(g, l, &out->lft, &out->lanes, arena, &p), E_OK);
	ck_assert_msg(p.unreachable_pairs + p.holes + p.forwarding_loops +
	                              p.management_unreachable ==
	                      0,
	              "%s: %s", what, proof_text(&p, g, arena));
	ck_assert_msg(p.credit_loops + p.management_credit_loops == 0, "%s: %s", what,
	              proof_text(&p, g, arena));
}

static uint32_t behind(const struct graph *g, uint32_t s, uint8_t port)
{
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		if (g->adj[i].port == port) {
			return g->adj[i].to;
		}
	}
	return GRAPH_NONE;
}

/* Routes between switches with hosts that are longer than need be. */
static unsigned detours(const struct graph *g, const struct lids *l,
                        const struct route_out *out)
{
	unsigned n = 0;
	struct hops h;

	ck_assert_int_eq(hops_init(&h, g, arena), E_OK);
	for (uint32_t i = 0; i < g->n_switches * g->n_hosts; i++) {
		uint32_t from = i / g->n_hosts,
			 lid = l->of[g->hosts[i % g->n_hosts]].base;
		uint32_t t = home_of(g, l, lid), s = from;
		unsigned left = hops_between(&h, from, t);

		if (g->host_first[s] == g->host_first[s + 1] || left == HOPS_NONE) {
			continue;
		}
		for (; s != t && left; left--) {
			s = behind(g, s, lft_row(&out->lft, s)[lid]);
		}
		n += s != t;
	}
	return n;
}

static double busiest(const struct graph *g, const struct lids *l, const struct lft *lft)
{
	struct load load;

	ck_assert_int_eq(load_build(g, l, lft, arena, &load), E_OK);
	return load.max / load.mean;
}

/* ---- fabrics ---- */

/* Detours: the lanes do for shortest routes, or the shape does. Balance is that of the
 * busiest link against the mean, 0 is not looked at. A link may carry all routes to one
 * host, as the host's own cable does: on ft2 6 4 3 2, with more links to a leaf than it
 * has hosts, that is half as much again as the mean. */
static const struct {
	const char *command;
	double fail;
	unsigned lanes;
	bool shortest;
	double balance;
} fabrics[] = {
	{ "torus 7 1", 0, 1, false, 0 },
	{ "torus 8 1", 0, 2, true, 0 },
	{ "torus 40 1", 0, 1, false, 0 },
	{ "torus 40 1", 0.02, 1, true, 0 },
	{ "mesh 4x3 2", 0, 1, true, 0 },
	{ "mesh 5x4x3 1", 0, 1, true, 0 },
	{ "hypercube 6 1", 0, 1, true, 1.0 },
	{ "torus 5x5 2", 0, 1, false, 2.0 },
	{ "torus 6x6x6 1", 0, 1, false, 1.7 },
	{ "torus 6x6x6 1", 0, 8, true, 1.3 },
	{ "torus 6x6x6 1", 0, 3, false, 2.0 },
	{ "torus 5x4x3 1", 0.05, 1, false, 0 },
	{ "torus 5x4x3 1", 0.2, 8, false, 0 },
	{ "ft2 18 9 9", 0, 1, true, 1.0 },
	{ "ft2 6 4 3 2", 0, 8, true, 1.5 },
	{ "ft3 8", 0, 1, true, 1.06 },
	{ "ft3 8", 0, 8, true, 1.06 },
	{ "ft3 8", 0.05, 1, true, 2.1 },
	{ "ft3 8", 0.2, 3, false, 3.3 },
	{ "tree3 3 4 4 2 3", 0.1, 2, true, 0 },
	{ "jellyfish 40 6 3", 0, 1, false, 4.0 },
	{ "jellyfish 40 6 3", 0, 8, false, 2.0 },
	{ "dragonfly 2 4 2", 0, 1, false, 3.0 },
	{ "dragonfly 2 4 2", 0, 8, false, 2.0 },
	{ "dragonfly 2 4 2", 0.2, 2, false, 0 },
};

START_TEST(on_fabric)
{
	unsigned lanes = fabrics[_i].lanes;
	struct graph *g = fabric_make(fabrics[_i].command, fabrics[_i].fail, 3, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out = route(g, &l, lanes, false);
	const char *what = arena_printf(arena, "%s on %u", fabrics[_i].command, lanes);
	double balance = busiest(g, &l, &out.lft);

	check(g, &l, &out, lanes, what);
	if (fabrics[_i].shortest) {
		ck_assert_msg(detours(g, &l, &out) == 0, "%s: %u detours", what,
		              detours(g, &l, &out));
	}
	ck_assert_msg(!fabrics[_i].balance || balance <= fabrics[_i].balance + 1e-6,
	              "%s: %.3f", what, balance);
}
END_TEST

/* A ring closes a cycle when all take the shortest way, so one lane must have detours. */
START_TEST(ring_has_detours)
{
	struct graph *g = fabric_make("torus 8 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out = route(g, &l, 1, false);
	unsigned one = detours(g, &l, &out);

	ck_assert_uint_gt(one, 0);
	ck_assert_uint_lt(one, 8 * 7 / 2);
	out = route(g, &l, 2, false);
	ck_assert_uint_eq(detours(g, &l, &out), 0);
}
END_TEST

/* The routes of updn, where they are shortest. */
START_TEST(tree_is_updn)
{
	static const double fail[] = { 0, 0.01, 0.05 };
	struct graph *g = fabric_make("ft3 12", fail[_i], 2, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_in in = { .g = g, .lids = &l };
	struct route_out out = route(g, &l, 1, false), updn = { 0 };

	ck_assert_int_eq(engine_find("updn")->route(&in, arena, &updn), E_OK);
	ck_assert(busiest(g, &l, &out.lft) <= busiest(g, &l, &updn.lft) + 1e-6);
}
END_TEST

/* ---- random graphs ---- */

static void add_hosts(struct graph *g, const uint32_t *sw, uint32_t n, uint64_t *seed)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = random_below(seed, 3); k > 0; k--) {
			uint32_t host;

			ck_assert_int_eq(graph_add_node(g, NODE_CA, 0x1000 + i * 16 + k,
			                                1, "", NULL, &host),
			                 E_OK);
			graph_connect(g, graph_port(g, host, 1),
			              graph_port(g, sw[i], 60 + k));
		}
	}
}

/* Switches with cables between any two, also several, also none; some have hosts. */
static struct graph *random_graph(uint64_t seed)
{
	struct graph *g = graph_new(arena);
	struct diags *d = arena_alloc(arena, sizeof(*d));
	uint32_t n = 2 + random_below(&seed, 14), sw[16], used[16] = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		ck_assert_int_eq(
			graph_add_node(g, NODE_SWITCH, 0x100 + i, 70, "", NULL, &sw[i]),
			E_OK);
	}
	add_hosts(g, sw, n, &seed);
	for (uint32_t k = random_below(&seed, 3 * n) + n / 2; k > 0; k--) {
		uint32_t a = random_below(&seed, n), b = random_below(&seed, n);

		for (uint32_t m = random_below(&seed, 4) ? 1 : 3; a != b && m > 0; m--) {
			/* ports of more than one word, and some of them left out */
			uint32_t pa = 1 + used[a]++ % 60, pb = 1 + used[b]++ % 60;

			graph_connect(g, graph_port(g, sw[a], pa),
			              graph_port(g, sw[b], pb));
		}
	}
	ck_assert_int_eq(graph_freeze(g, d), E_OK);
	return g;
}

START_TEST(any_graph)
{
	static const unsigned lanes[] = { 1, 2, 3, 8 };

	for (uint64_t k = 0; k < 25; k++) {
		uint64_t seed = 1 + k + 25 * (uint64_t)_i;
		struct graph *g = random_graph(seed * 7919);
		struct lids l = fabric_lids(g, seed % 3, seed % 2, arena);

		for (unsigned i = 0; i < sizeof(lanes) / sizeof(*lanes); i++) {
			struct route_out out = route(g, &l, lanes[i], k % 2);

			check(g, &l, &out, lanes[i],
			      arena_printf(arena, "seed %u on %u lanes", (unsigned)seed,
			                   lanes[i]));
		}
	}
}
END_TEST

/* ---- the same each time ---- */

static void check_same(const struct route_out *a, const struct route_out *b)
{
	size_t bytes = a->lft.n_switches * a->lft.stride;

	ck_assert(!memcmp(a->lft.rows, b->lft.rows, bytes));
	ck_assert_uint_eq(a->lanes.n, b->lanes.n);
	ck_assert(!a->lanes.rows || !memcmp(a->lanes.rows, b->lanes.rows, bytes));
}

START_TEST(same_bytes)
{
	static const char *const commands[] = { "torus 6x5 2", "jellyfish 30 6 2",
		                                "ft3 6", "dragonfly 2 4 2" };
	const char *command = commands[_i];
	struct graph *g = fabric_make(command, 0.05, 1, arena);
	struct graph *other = fabric_reordered(g, 99, arena);

	for (unsigned lanes = 1; lanes <= 8; lanes += lanes < 3 ? 1 : 5) {
		struct lids l = fabric_lids(g, 1, 0, arena);
		struct lids lo = fabric_lids(other, 1, 0, arena);
		struct route_out one = route(g, &l, lanes, false), again;

		check(g, &l, &one, lanes, command);
		again = route(other, &lo, lanes, false);
		check_same(&one, &again);
		set_threads(3);
		again = route(g, &l, lanes, false);
		set_threads(1);
		check_same(&one, &again);
	}
}
END_TEST

/* Tables of the last run stay as they are when nothing changed. */
START_TEST(keeps_tables)
{
	struct graph *g = fabric_make("jellyfish 30 6 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out one = route(g, &l, 2, false), two = { 0 };
	struct route_in in = {
		.g = g, .lids = &l, .options = options(2, false), .prev = &one.lft
	};

	ck_assert_int_eq(engine_find("nue")->route(&in, arena, &two), E_OK);
	check(g, &l, &two, 2, "again");
	check_same(&one, &two);
}
END_TEST

/* ---- options ---- */

START_TEST(lanes_there_are)
{
	struct graph *g = fabric_make("torus 4x4 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	static const struct {
		unsigned asked, there, used;
		bool noted;
	} cases[] = { { 1, 8, 1, false },  { 0, 8, 8, false },  { 0, 1, 1, false },
		      { 4, 2, 2, true },   { 3, 3, 3, false },  { 8, 1, 1, true },
		      { 0, 0, 15, false }, { 15, 0, 15, false } };

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct route_in in = { .g = g,
			               .lids = &l,
			               .options = options(cases[i].asked, false),
			               .max_lanes = (uint8_t)cases[i].there };
		struct route_out out = { 0 };

		ck_assert_int_eq(engine_find("nue")->route(&in, arena, &out), E_OK);
		check(g, &l, &out, cases[i].used, "torus 4x4");
		ck_assert_msg((out.notes.text[0] != 0) == cases[i].noted, "%s",
		              out.notes.text);
		ck_assert(!cases[i].noted ||
		          strstr(out.notes.text,
		                 arena_printf(arena, "asks for %u, there %s %u",
		                              cases[i].asked,
		                              cases[i].there == 1 ? "is" : "are",
		                              cases[i].there)));
	}
}
END_TEST

/* Without hosts nothing is to be balanced, and all the same all is reached. */
START_TEST(switches_count)
{
	struct graph *g = fabric_make("ft2 6 4 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out without = route(g, &l, 3, false), with = route(g, &l, 3, true);
	unsigned of_lane[2][3] = { { 0 } };

	check(g, &l, &without, 3, "without");
	check(g, &l, &with, 3, "with");
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t lid = l.of[g->nodes[g->switches[s]].first_port].base;

		of_lane[0][lane_of(&without.lanes, 0, lid)]++;
		of_lane[1][lane_of(&with.lanes, 0, lid)]++;
	}
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(of_lane[0][i], 3); /* 2 leaves and 1 spine */
		ck_assert_uint_eq(of_lane[1][i], 3); /* of all nine */
	}
}
END_TEST

START_TEST(too_long)
{
	struct graph *g = fabric_make("torus 300 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_in in = { .g = g, .lids = &l, .options = options(1, false) };
	struct route_out out = { 0 };

	ck_assert_int_eq(engine_find("nue")->route(&in, arena, &out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "more than 254 hops"));
	g = fabric_make("torus 200 1", 0, 1, arena);
	l = fabric_lids(g, 0, 0, arena);
	out = route(g, &l, 1, false);
	check(g, &l, &out, 1, "torus 200");
}
END_TEST

/* ---- the search ---- */

struct parts {
	struct hops hops;
	struct cdg_map map;
	struct nue_plan plan;
	struct nue_lane lane;
	struct nue_reach reach;
	uint8_t *length;
};

/* One lane over a graph; with dimensions where it is a grid. */
static void make_parts(struct parts *x, const struct graph *g, bool grid)
{
	struct dfsssp_grid found;

	ck_assert_int_eq(hops_init(&x->hops, g, arena), E_OK);
	ck_assert_int_eq(cdg_map_init(&x->map, g, arena), E_OK);
	ck_assert_int_eq(dfsssp_dimensions(g, arena, &found), E_OK);
	ck_assert_int_eq(found.dimension != NULL, grid);
	x->plan = (struct nue_plan){
		.g = g, .map = &x->map, .near = &x->hops, .dimension = found.dimension
	};
	x->length = arena_array(arena, g->n_adj + 1, 1);
	memset(x->length, NUE_HOP, g->n_adj);
	ck_assert_int_eq(nue_lane_init(&x->lane, &x->plan, 0, arena), E_OK);
	ck_assert_int_eq(nue_reach_init(&x->reach, &x->plan, x->length, arena), E_OK);
}

/* Every turn from an open link into an open link is among the dependencies, and every
 * open link leads nearer. */
static void check_turns(const struct parts *x, const struct graph *g)
{
	const struct nue_reach *r = &x->reach;

	for (uint32_t c = 0; c < g->n_adj; c++) {
		uint32_t s = x->map.from[c], u = g->adj[c].to;

		if (nue_reach_next(r, s, c) != c) {
			continue;
		}
		ck_assert_uint_lt(r->dist[u], r->dist[s]);
		for (uint32_t k = g->adj_first[u]; k < g->adj_first[u + 1]; k++) {
			ck_assert(nue_reach_next(r, u, k) != k ||
			          cdg_has(&x->lane.cdg, c, k));
		}
	}
}

/* The order of a cdg is a proof that it has no cycle. */
static void check_order(const struct parts *x, const struct graph *g)
{
	for (uint32_t c = 0; c < g->n_adj; c++) {
		uint32_t u = g->adj[c].to;

		for (uint32_t k = g->adj_first[u]; k < g->adj_first[u + 1]; k++) {
			ck_assert(!cdg_has(&x->lane.cdg, c, k) ||
			          x->lane.cdg.ord[c] < x->lane.cdg.ord[k]);
		}
	}
}

static const struct {
	const char *command;
	double fail;
	bool grid;
} searched[] = {
	{ "torus 5x4 1", 0, true },
	{ "torus 5x4x3 1", 0.1, true },
	{ "jellyfish 24 5 1", 0, false },
	{ "dragonfly 2 4 2", 0.1, false },
	{ "ft3 4", 0, false },
	{ "jellyfish 24 5 1", 0.4, false },
};

START_TEST(turns_are_dependencies)
{
	struct graph *g = fabric_make(searched[_i].command, searched[_i].fail, 2, arena);
	struct parts x;

	make_parts(&x, g, searched[_i].grid);
	check_order(&x, g);
	for (uint32_t t = 0; t < g->n_switches; t++) {
		nue_reach_run(&x.reach, &x.lane, t);
		ck_assert_uint_eq(x.reach.n_reached, g->n_switches);
		check_turns(&x, g);
		check_order(&x, g);
	}
}
END_TEST

/* An undone search leaves the lane unchanged: the next search finds the same. */
START_TEST(undo)
{
	struct graph *g = fabric_make("jellyfish 24 5 1", 0, 1, arena);
	struct parts x;
	uint64_t *before;
	size_t bytes;

	make_parts(&x, g, false);
	bytes = (size_t)g->n_adj * x.map.words * sizeof(*before);
	nue_reach_run(&x.reach, &x.lane, 5);
	before = arena_alloc(arena, bytes);
	memcpy(before, x.lane.cdg.out, bytes);
	nue_reach_run(&x.reach, &x.lane, 6);
	ck_assert(memcmp(before, x.lane.cdg.out, bytes));
	nue_reach_undo(&x.reach);
	ck_assert(!memcmp(before, x.lane.cdg.out, bytes));
}
END_TEST

/* Octants of a torus, whatever its switches are called. */
START_TEST(split_grid)
{
	struct graph *g = fabric_make("torus 4x4x4 1", 0, 1, arena);
	struct hops h;
	struct dfsssp_grid grid;
	struct nue_split x;
	unsigned n[8] = { 0 };

	ck_assert_int_eq(hops_init(&h, g, arena), E_OK);
	ck_assert_int_eq(dfsssp_dimensions(g, arena, &grid), E_OK);
	ck_assert_int_eq(nue_split(&x, g, &h, grid.dimension, false, 8, arena), E_OK);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		n[x.lane[s]]++;
		ck_assert_uint_eq(x.lane[x.root[x.lane[s]]], x.lane[s]);
		for (uint32_t t = 0; t < s; t++) {
			ck_assert(x.lane[s] != x.lane[t] || hops_between(&h, s, t) <= 3);
		}
	}
	for (unsigned i = 0; i < 8; i++) {
		ck_assert_uint_eq(n[i], 8);
	}
}
END_TEST

/* Any number of lanes gets its share, more than there are switches, too. */
START_TEST(split_any)
{
	struct graph *g = fabric_make("jellyfish 24 5 1", 0, 1, arena);
	struct nue_split x;
	struct hops h;

	ck_assert_int_eq(hops_init(&h, g, arena), E_OK);
	for (unsigned lanes = 1; lanes <= 15; lanes++) {
		unsigned n[15] = { 0 };

		ck_assert_int_eq(nue_split(&x, g, &h, NULL, false, lanes, arena), E_OK);
		for (uint32_t s = 0; s < g->n_switches; s++) {
			n[x.lane[s]]++;
		}
		for (unsigned i = 0; i < lanes; i++) {
			ck_assert_uint_ge(n[i], 24 / lanes);
			ck_assert_uint_le(n[i], 24 / lanes + 1);
		}
	}
	g = fabric_make("ft2 2 1 1", 0, 1, arena);
	ck_assert_int_eq(hops_init(&h, g, arena), E_OK);
	ck_assert_int_eq(nue_split(&x, g, &h, NULL, true, 15, arena), E_OK);
}
END_TEST

TEST_SUITE(nue)
{
	TCase *t = tcase_create("nue");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, on_fabric, 0, sizeof(fabrics) / sizeof(*fabrics));
	tcase_add_test(t, ring_has_detours);
	tcase_add_loop_test(t, tree_is_updn, 0, 3);
	tcase_add_loop_test(t, any_graph, 0, 8);
	tcase_add_loop_test(t, same_bytes, 0, 4);
	tcase_add_test(t, keeps_tables);
	tcase_add_test(t, lanes_there_are);
	tcase_add_test(t, switches_count);
	tcase_add_test(t, too_long);
	tcase_add_loop_test(t, turns_are_dependencies, 0,
	                    sizeof(searched) / sizeof(*searched));
	tcase_add_test(t, undo);
	tcase_add_test(t, split_grid);
	tcase_add_test(t, split_any);
	suite_add_tcase(suite, t);
}

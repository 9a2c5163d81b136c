/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Shortest paths by weights: that they are shortest, that listed groups are balanced by
 * themselves. Their lanes: as many as there are, no more, and always the same. The duties of every
 * engine are in test_engines.c.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/policy/guidfile.h"
#include "routing/engine.h"
#include "routing/engines/sssp/dfsssp_grid.h"
#include "routing/engines/sssp/sssp_fill.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths.h"
#include "routing/proof/proof.h"
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

static struct route_out route(const char *engine, const struct graph *g,
                              const struct lids *l, const struct sssp_options *o)
{
	static const struct sssp_options none;
	struct route_in in = { .g = g, .lids = l, .options = o ? o : &none };
	struct route_out out = { 0 };

	ck_assert_int_eq(engine_find(engine)->route(&in, arena, &out), E_OK);
	return out;
}

/* Hops of the route from a switch to a LID. */
static unsigned length(const struct column_map *m, const struct route_out *out,
                       uint32_t s, uint32_t lid, uint32_t home)
{
	unsigned n = 0;

	for (; s != home; n++) {
		ck_assert_uint_lt(n, m->n);
		s = m->hop[(size_t)s * m->width + lft_row(&out->lft, s)[lid]].next;
	}
	return n;
}

static const struct {
	const char *command;
	double fail;
} fabrics[] = {
	{ "ft3 6", 0 },           { "ft3 6", 0.1 },          { "torus 5x4 2", 0 },
	{ "torus 5x4 2", 0.1 },   { "jellyfish 20 5 2", 0 }, { "dragonfly 2 4 2", 0 },
	{ "hypercube 4 1", 0.1 }, { "ft2 4 6 2 3", 0 },
};

START_TEST(no_detours)
{
	struct graph *g = fabric_make(fabrics[_i].command, fabrics[_i].fail, 5, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct route_out out = route("sssp", g, &l, NULL);
	struct column_map m;
	struct hops h;

	ck_assert_int_eq(column_map_init(&m, g, &l, &out.lft, arena), E_OK);
	ck_assert_int_eq(hops_init(&h, g, arena), E_OK);
	for (uint32_t lid = 1; lid <= l.top; lid++) {
		uint32_t home = l.owner[lid] == GRAPH_NONE
		                        ? GRAPH_NONE
		                        : graph_switch_of(g, l.owner[lid]);

		for (uint32_t s = 0; home != GRAPH_NONE && s < m.n; s++) {
			unsigned best = hops_between(&h, s, home);

			if (best == HOPS_NONE) {
				ck_assert_uint_eq(lft_row(&out.lft, s)[lid],
				                  LFT_NO_ROUTE);
			} else {
				ck_assert_uint_eq(length(&m, &out, s, lid, home), best);
			}
		}
	}
}
END_TEST

/* A list of the first hosts of every leaf, from host \a first to \a last. */
static const struct guid_file *list_hosts(const struct graph *g, uint32_t first,
                                          uint32_t last)
{
	struct guid_record *r = arena_array(arena, g->n_hosts, sizeof(*r));
	struct guid_file *f = arena_alloc(arena, sizeof(*f));

	*f = (struct guid_file){ .path = "list", .records = r };
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t n = g->host_first[s + 1] - g->host_first[s];

		for (uint32_t i = first; i < last && i < n; i++) {
			uint32_t port = g->hosts[g->host_first[s] + i];

			r[f->n] = (struct guid_record){ .guid = g->ports[port].guid,
				                        .rest = "",
				                        .line = f->n + 1 };
			f->n++;
		}
	}
	return f;
}

/* Most and least routes from one switch over its links, to the LIDs of a list. */
static void spread_of(const struct graph *g, const struct lids *l,
                      const struct route_out *out, uint32_t s,
                      const struct guid_file *list, unsigned *ret_least,
                      unsigned *ret_most)
{
	unsigned count[256] = { 0 };

	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t port = graph_port_by_guid(g, list->records[i].guid);

		if (graph_switch_of(g, port) != s) {
			count[lft_row(&out->lft, s)[l->of[port].base]]++;
		}
	}
	*ret_least = UINT32_MAX;
	*ret_most = 0;
	for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
		unsigned n = count[g->adj[c].port];

		*ret_least = n < *ret_least ? n : *ret_least;
		*ret_most = n > *ret_most ? n : *ret_most;
	}
}

/* Too long to know the hops of all pairs, which only the balancing needs. */
START_TEST(long_chain)
{
	const struct graph *g = fabric_make("mesh 300 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out = route("sssp", g, &l, NULL);
	struct column_map m;

	struct hops h;

	ck_assert_int_eq(hops_init(&h, g, arena), E_RANGE);
	ck_assert_int_eq(column_map_init(&m, g, &l, &out.lft, arena), E_OK);
	for (uint32_t lid = 1; lid <= l.top; lid++) {
		if (l.owner[lid] != GRAPH_NONE) {
			uint32_t home = graph_switch_of(g, l.owner[lid]);

			/* switches are numbered along the chain */
			ck_assert_uint_eq(length(&m, &out, 0, lid, home), home);
		}
	}
}
END_TEST

START_TEST(groups_are_balanced_by_themselves)
{
	struct graph *g = fabric_make("ft2 8 8 4", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct sssp_options o = { .cn = list_hosts(g, 1, 5),
		                        .io = list_hosts(g, 0, 1) };
	struct route_out out = route("sssp", g, &l, &o);

	ck_assert_str_eq(out.notes.text, "");
	for (uint32_t s = 0; s < g->n_switches; s++) {
		unsigned least, most;

		if (g->host_first[s + 1] == g->host_first[s]) {
			continue;
		}
		spread_of(g, &l, &out, s, o.cn, &least, &most);
		ck_assert_uint_eq(least, 7); /* 7 leaves with 4 each over 4 links */
		ck_assert_uint_eq(most, 7);
		spread_of(g, &l, &out, s, o.io, &least, &most);
		ck_assert_uint_ge(least, 1); /* 7 leaves with 1 each */
		ck_assert_uint_le(most, 2);
	}
}
END_TEST

START_TEST(unknown_guids_are_named)
{
	struct graph *g = fabric_make("ft2 3 3 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct guid_record r[5];
	struct guid_file f = { .path = "nodes", .records = r, .n = 5 };
	const struct sssp_options o = { .io = &f };
	struct route_out plain = route("sssp", g, &l, NULL), out;

	for (unsigned i = 0; i < 5; i++) {
		r[i] = (struct guid_record){ .guid = 0xdead00 + i,
			                     .rest = "",
			                     .line = i + 2 };
	}
	out = route("sssp", g, &l, &o);
	ck_assert_str_eq(out.notes.text,
	                 "io_guid_file nodes:2: no end port has GUID 0x0000000000dead00\n"
	                 "io_guid_file nodes:3: no end port has GUID 0x0000000000dead01\n"
	                 "io_guid_file nodes:4: no end port has GUID 0x0000000000dead02\n"
	                 "io_guid_file nodes: likewise 2 more");
	ck_assert(!memcmp(out.lft.rows, plain.lft.rows,
	                  out.lft.n_switches * out.lft.stride));
}
END_TEST

START_TEST(lists_decide_the_order)
{
	struct graph *g = fabric_make("ft3 4", 0.1, 3, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct guid_file *some = list_hosts(g, 1, 2);
	const struct sssp_options cn = { .cn = some }, both = { .cn = some, .io = some };
	struct route_out a = route("sssp", g, &l, &cn), b = route("sssp", g, &l, &both),
			 c = route("sssp", g, &l, NULL);
	size_t bytes = a.lft.n_switches * a.lft.stride;

	/* what stands in both lists is a compute node */
	ck_assert(!memcmp(a.lft.rows, b.lft.rows, bytes));
	ck_assert(memcmp(a.lft.rows, c.lft.rows, bytes));
}
END_TEST

/* Also before there are further LIDs, which keep apart from them. */
START_TEST(base_lids_are_evened_out)
{
	struct graph *g = fabric_make("ft3 16", 0.05, 1, arena);
	struct lids l = fabric_lids(g, (unsigned)_i, 0, arena);
	struct route_out out = route("sssp", g, &l, NULL);
	struct load load;
	uint32_t most = 0;
	uint64_t sum = 0;

	ck_assert_int_eq(load_build(g, &l, &out.lft, arena, &load), E_OK);
	for (uint32_t c = 0; c < g->n_adj; c++) {
		most = load.base[c] > most ? load.base[c] : most;
		sum += load.base[c];
	}
	ck_assert_msg(most <= 1.65 * sum / g->n_adj, "%u of %g", most,
	              1.0 * sum / g->n_adj);
}
END_TEST

/* ---- lanes ---- */

static int route_lanes(const struct graph *g, const struct lids *l, uint8_t max_lanes,
                       struct route_out *out)
{
	static const struct sssp_options none;
	struct route_in in = {
		.g = g, .lids = l, .options = &none, .max_lanes = max_lanes
	};

	*out = (struct route_out){ 0 };
	return engine_find("dfsssp")->route(&in, arena, out);
}

static struct proof prove(const struct graph *g, const struct lids *l,
                          const struct route_out *out)
{
	struct proof p;

	ck_assert_int_eq(proof_run(g, l, &out->lft, &out->lanes, arena, &p), E_OK);
	return p;
}

/* Lanes needed; the bounds are what dateline classes or a few trials show. */
static const struct {
	const char *command;
	double fail;
	unsigned most;
} needs[] = {
	{ "ft3 8", 0, 1 },
	{ "ft2 6 4 3", 0, 1 },
	{ "ft3 8", 0.1, 6 },
	{ "mesh 5x4x3 1", 0, 1 },
	{ "hypercube 5 1", 0, 1 },
	{ "torus 8 1", 0, 2 },
	{ "torus 6x5 1", 0, 3 },
	{ "torus 5x5x5 1", 0, 4 },
	{ "torus 8x8x8 1", 0, 4 },
	{ "torus 8x8x8 1", 0.05, 7 },
	{ "torus 6x6 2", 0.1, 6 },
	{ "dragonfly 2 4 2", 0, 2 },
	{ "jellyfish 32 6 2", 0, 4 },
	{ "jellyfish 256 12 1", 0, 5 },
	{ "jellyfish 100 62 1", 0, 8 }, /* too many channels for their closure */
};

START_TEST(no_more_lanes_than_needed)
{
	struct graph *g = fabric_make(needs[_i].command, needs[_i].fail, 3, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out, exact, less;
	unsigned n;

	ck_assert_int_eq(route_lanes(g, &l, 0, &out), E_OK);
	n = out.lanes.n;
	ck_assert_uint_le(n, needs[_i].most);
	ck_assert_int_eq(route_lanes(g, &l, (uint8_t)n, &exact), E_OK);
	ck_assert_uint_eq(exact.lanes.n, n);
	ck_assert_str_eq(exact.notes.text, "");
	if (n > 1) {
		int ret = route_lanes(g, &l, (uint8_t)(n - 1), &less);

		/* hosts are refused, management is noted */
		ck_assert(ret == E_UNSUITABLE || ret == E_OK);
		ck_assert_str_ne(less.notes.text, "");
		if (ret == E_UNSUITABLE) {
			ck_assert_str_eq(
				less.notes.text,
				arena_printf(arena,
			                     "dfsssp: needs %u lanes, there are %u", n,
			                     n - 1));
		} else {
			ck_assert_uint_eq(prove(g, &l, &less).credit_loops, 0);
		}
	}
}
END_TEST

/* Every lane is one of the n. Layers are emptied only where there are too many channels for their
 * closure; with these seeds the one that is given up holds a route to the highest LID. */
static const uint32_t emptied[] = { 21, 27, 39, 44 };

START_TEST(lanes_are_below_n)
{
	struct graph *g = fabric_renamed(
		fabric_make("jellyfish 600 11 1", 0.02, emptied[_i], arena), emptied[_i],
		arena);
	struct lids l = fabric_lids_high(g, 2 * g->n_end_ports, arena);
	struct route_out out;

	ck_assert_int_eq(route_lanes(g, &l, 0, &out), E_OK);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l.top; lid++) {
			ck_assert_msg(lane_of(&out.lanes, s, lid) < out.lanes.n,
			              "seed %u, LID %u of %u", emptied[_i], lid, l.top);
		}
	}
	/* and routes that moved make no loop with those that were there */
	ck_assert_uint_eq(prove(g, &l, &out).credit_loops, 0);
}
END_TEST

/* Tables that are kept have the lanes that they had. */
START_TEST(kept_lanes_are_counted)
{
	static const char *const tori[] = { "torus 5 1", "torus 6x5 1", "torus 5x5x5 1" };
	struct graph *g = fabric_make(tori[_i], 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	static const struct sssp_options none;
	struct route_out out, kept;

	ck_assert_int_eq(route_lanes(g, &l, 0, &out), E_OK);
	ck_assert_uint_gt(out.lanes.n, 1);
	struct route_in in = { .g = g,
		               .lids = &l,
		               .options = &none,
		               .prev = &out.lft,
		               .prev_lanes = &out.lanes };
	ck_assert_int_eq(engine_find("dfsssp")->route(&in, arena, &kept), E_OK);
	ck_assert_uint_eq(kept.lanes.n, out.lanes.n);
	ck_assert_ptr_nonnull(kept.lanes.rows);
	ck_assert_mem_eq(kept.lft.rows, out.lft.rows,
	                 out.lft.n_switches * out.lft.stride);
	ck_assert_uint_eq(prove(g, &l, &kept).credit_loops, 0);
}
END_TEST

START_TEST(refusal_says_how_many)
{
	struct graph *g = fabric_make("torus 8x8 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out;

	ck_assert_int_eq(route_lanes(g, &l, 0, &out), E_OK);
	unsigned n = out.lanes.n;
	ck_assert_uint_gt(n, 1);
	ck_assert_int_eq(route_lanes(g, &l, 1, &out), E_UNSUITABLE);
	ck_assert_str_eq(out.notes.text,
	                 arena_printf(arena, "dfsssp: needs %u lanes, there are 1", n));
}
END_TEST

/* Lanes of host LIDs from switches with hosts: how many routes on each. */
static void count_lanes(const struct graph *g, const struct lids *l,
                        const struct route_out *out, uint32_t count[16])
{
	memset(count, 0, 16 * sizeof(*count));
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l->top; lid++) {
			if (l->owner[lid] != GRAPH_NONE && g->ports[l->owner[lid]].num &&
			    g->host_first[s + 1] > g->host_first[s]) {
				ck_assert_uint_lt(lane_of(&out->lanes, s, lid), 16);
				count[lane_of(&out->lanes, s, lid)]++;
			}
		}
	}
}

START_TEST(spare_lanes_share)
{
	struct graph *g = fabric_make("ft3 8", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out, again;
	uint32_t count[16], total = 0;
	struct proof p;

	ck_assert_int_eq(route_lanes(g, &l, 8, &out), E_OK);
	ck_assert_uint_eq(out.lanes.n, 8);
	p = prove(g, &l, &out);
	ck_assert(proof_passed(&p, true));
	count_lanes(g, &l, &out, count);
	for (unsigned i = 0; i < 16; i++) {
		total += count[i];
	}
	for (unsigned i = 0; i < 8; i++) {
		ck_assert_uint_ge(count[i] * 16, total); /* at least half its share */
		ck_assert_uint_le(count[i] * 4, total);
	}
	ck_assert_int_eq(route_lanes(g, &l, 8, &again), E_OK);
	ck_assert(!memcmp(out.lanes.rows, again.lanes.rows,
	                  out.lft.n_switches * out.lanes.stride));
}
END_TEST

/* A host that goes leaves the lanes between all others alone. */
START_TEST(lanes_are_stable)
{
	struct graph *g = fabric_make("ft2 6 4 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena), less = l;
	uint32_t gone = g->hosts[5];
	struct route_out out, after;

	less.of = arena_array(arena, g->n_ports, sizeof(*less.of));
	less.owner = arena_array(arena, (size_t)l.top + 1, sizeof(*less.owner));
	memcpy(less.of, l.of, g->n_ports * sizeof(*less.of));
	memcpy(less.owner, l.owner, ((size_t)l.top + 1) * sizeof(*less.owner));
	less.owner[l.of[gone].base] = GRAPH_NONE;
	less.of[gone] = (struct lid_range){ 0 };
	less.count--;
	ck_assert_int_eq(route_lanes(g, &l, 4, &out), E_OK);
	ck_assert_int_eq(route_lanes(g, &less, 4, &after), E_OK);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l.top; lid++) {
			bool host = less.owner[lid] != GRAPH_NONE &&
			            g->ports[less.owner[lid]].num;

			ck_assert(!host || lane_of(&out.lanes, s, lid) ==
			                           lane_of(&after.lanes, s, lid));
		}
	}
}
END_TEST

/* One lane: hosts on a broken tree may do, management is told apart. */
START_TEST(management_without_a_lane)
{
	struct graph *g = fabric_make("torus 3x3 1", 0, 1, arena);
	struct graph *tree = fabric_make("ft3 4", 0.1, 2, arena);
	struct lids l = fabric_lids(g, 2, 2, arena), lt = fabric_lids(tree, 0, 0, arena);
	struct route_out out;
	struct proof p;

	/* rings of three need no turn, so dimension order fits one lane */
	ck_assert_int_eq(route_lanes(g, &l, 1, &out), E_OK);
	ck_assert_ptr_eq(out.lanes.rows, NULL);
	p = prove(g, &l, &out);
	ck_assert(proof_passed(&p, true));
	for (uint8_t max = 1; max <= 4; max++) {
		if (route_lanes(tree, &lt, max, &out) != E_OK) {
			ck_assert_str_ne(out.notes.text, "");
			continue;
		}
		p = prove(tree, &lt, &out);
		ck_assert(proof_passed(&p, false));
		ck_assert(out.notes.text[0] || proof_passed(&p, true));
	}
}
END_TEST

static const struct {
	const char *command;
	unsigned dimensions; /* 0: no grid */
} grids[] = {
	{ "torus 6x3x5 1", 3 },   { "mesh 4x4 1", 2 },
	{ "hypercube 4 1", 4 },   { "torus 7 1", 1 },
	{ "torus 4x5 1", 3 }, /* a ring of four is two dimensions of two */
	{ "ft3 4", 0 },           { "ft2 4 4 4", 0 },
	{ "dragonfly 2 4 2", 0 }, { "jellyfish 16 4 1", 0 },
};

START_TEST(grids_are_recognised)
{
	struct graph *g = fabric_make(grids[_i].command, 0, 1, arena);
	bool seen[256] = { false };
	unsigned n = 0;
	struct dfsssp_grid grid;
	const uint8_t *dimension;

	ck_assert_int_eq(dfsssp_dimensions(g, arena, &grid), E_OK);
	dimension = grid.dimension;
	ck_assert((dimension != NULL) == (grids[_i].dimensions > 0));
	for (uint32_t c = 0; dimension && c < g->n_adj; c++) {
		n += !seen[dimension[c]];
		seen[dimension[c]] = true;
	}
	ck_assert_uint_eq(n, grids[_i].dimensions);
}
END_TEST

static TCase *dfsssp_case(void)
{
	TCase *t = tcase_create("dfsssp");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, no_more_lanes_than_needed, 0,
	                    sizeof(needs) / sizeof(*needs));
	tcase_add_loop_test(t, lanes_are_below_n, 0,
	                    (int)(sizeof(emptied) / sizeof(*emptied)));
	tcase_add_loop_test(t, kept_lanes_are_counted, 0, 3);
	tcase_add_test(t, refusal_says_how_many);
	tcase_add_test(t, spare_lanes_share);
	tcase_add_test(t, lanes_are_stable);
	tcase_add_test(t, management_without_a_lane);
	tcase_add_loop_test(t, grids_are_recognised, 0, sizeof(grids) / sizeof(*grids));
	return t;
}

/* The busiest link of a shift by k hosts, in the order of leaves and ports. */
static uint32_t busiest_of_shift(const struct graph *g, const struct lids *l,
                                 const struct lft *lft, uint32_t k, uint32_t *load)
{
	uint32_t most = 0;

	memset(load, 0, g->n_adj * sizeof(*load));
	for (uint32_t i = 0; i < g->n_hosts; i++) {
		uint32_t to = g->hosts[(i + k) % g->n_hosts],
			 home = graph_switch_of(g, to);
		uint32_t s = graph_switch_of(g, g->hosts[i]);

		while (s != home) {
			uint32_t c = g->adj_first[s];

			while (g->adj[c].port != lft_row(lft, s)[l->of[to].base]) {
				c++;
			}
			most = ++load[c] > most ? load[c] : most;
			s = g->adj[c].to;
		}
	}
	return most;
}

static const struct {
	const char *command;
	unsigned missing; /* of a thousand hosts */
	double most;      /* mean over all shifts and seeds */
} shifts[] = {
	{ "ft2 12 12 12", 0, 1 },
	{ "ft2 24 10 12", 150, 2.4 },
	{ "tree3 4 6 8 6 8", 200, 3.1 },
	{ "ft3 8", 100, 2.4 },
};

/* Neighbours are not reached over the same link, also where leaves differ in size. */
START_TEST(neighbours_keep_apart)
{
	double sum = 0, n = 0;

	for (uint64_t seed = 1; seed <= 4; seed++) {
		struct graph *all = fabric_make(shifts[_i].command, 0, 1, arena), *g;
		bool *gone = arena_array(arena, all->n_nodes, sizeof(*gone));
		uint64_t state = seed * 31;
		struct route_out out;
		struct lids l;
		uint32_t *load;

		for (uint32_t h = 0; h < all->n_hosts; h++) {
			gone[all->ports[all->hosts[h]].node] =
				random_below(&state, 1000) < shifts[_i].missing;
		}
		g = fabric_without(all, gone, NULL, arena);
		load = arena_array(arena, g->n_adj, sizeof(*load));
		l = fabric_lids(g, 0, 0, arena);
		out = route("sssp", g, &l, NULL);
		for (uint32_t k = 1; k < g->n_hosts; k++, n++) {
			sum += busiest_of_shift(g, &l, &out.lft, k, load);
		}
	}
	ck_assert_msg(sum <= shifts[_i].most * n, "%s: %.3f", shifts[_i].command,
	              sum / n);
}
END_TEST

/* SystemImageGUID of the switch that a LID's packets come to from a switch; 0: none. */
static uint64_t next_chassis(const struct graph *g, const struct route_out *out,
                             uint32_t s, uint32_t lid)
{
	uint8_t port = lft_row(&out->lft, s)[lid];

	for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
		if (g->adj[c].port == port) {
			return g->nodes[g->switches[g->adj[c].to]].system_image_guid;
		}
	}
	return 0;
}

/* Spines of two chassis: the second LID of a port avoids the chassis that the first one
 * passes, not only its spine. */
START_TEST(further_lids_change_chassis)
{
	enum { CHASSIS = 0xc0 };
	struct graph *g = fabric_make("ft2 5 6 6", 0, 1, arena);
	uint32_t spines = 0;
	struct route_out out;
	struct lids l;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		bool leaf = g->host_first[s] != g->host_first[s + 1];

		spines += !leaf;
		g->nodes[g->switches[s]].system_image_guid =
			leaf ? 0 : CHASSIS + (spines > 1 + (unsigned)_i);
	}
	ck_assert_uint_eq(spines, 6);
	l = fabric_lids(g, 1, 0, arena);
	out = route("sssp", g, &l, NULL);
	for (uint32_t h = 0; h < g->n_hosts; h++) {
		uint32_t lid = l.of[g->hosts[h]].base;

		for (uint32_t s = 0; s < g->n_switches; s++) {
			uint64_t first = next_chassis(g, &out, s, lid);

			ck_assert(!first || first != next_chassis(g, &out, s, lid + 1));
		}
	}
}
END_TEST

static TCase *sssp_case(void)
{
	TCase *t = tcase_create("sssp");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, long_chain);
	tcase_add_loop_test(t, no_detours, 0, sizeof(fabrics) / sizeof(*fabrics));
	tcase_add_test(t, groups_are_balanced_by_themselves);
	tcase_add_test(t, unknown_guids_are_named);
	tcase_add_test(t, lists_decide_the_order);
	tcase_add_loop_test(t, base_lids_are_evened_out, 0, 3);
	tcase_add_loop_test(t, further_lids_change_chassis, 0, 5);
	tcase_add_loop_test(t, neighbours_keep_apart, 0,
	                    sizeof(shifts) / sizeof(*shifts));
	return t;
}

TEST_SUITE(sssp)
{
	suite_add_tcase(suite, sssp_case());
	suite_add_tcase(suite, dfsssp_case());
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths.h"
#include "routing/proof/proof.h"
#include "routing/spread/order.h"
#include "routing/spread/updown.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

static struct arena *arena;
static struct diags *diags;

static void setup(void)
{
#ifdef _OPENMP
	omp_set_num_threads(
		1); /* the number of threads is tests/test_engines' business */
#endif
	arena = arena_new();
	diags = arena_alloc(arena, sizeof(*diags));
	diags_init(diags, arena);
}

static void teardown(void)
{
	arena_free(arena);
}

/* ---- running the engine ---- */

/* Options with two files given as text, NULL for none. */
static void *options(const char *roots, const char *ids)
{
	const struct engine *e = engine_find("updn");
	struct option_sets s = { .n = 0 };
	const char *text[2][2] = { { "root_guid_file", roots },
		                   { "ids_guid_file", ids } };
	void *base = arena_alloc(arena, e->opt_size);

	ck_assert_int_eq(option_sets_add(&s, e->options, base), E_OK);
	ck_assert_int_eq(option_set_defaults(&s, arena), E_OK);
	for (unsigned i = 0; i < 2; i++) {
		char *path = text[i][1] ? temp_file(text[i][1], arena) : NULL;

		if (path) {
			ck_assert_int_eq(
				option_set(&s, arena, text[i][0], path, "f", 1, diags),
				E_OK);
			unlink(path);
		}
	}
	return base;
}

static int run(const struct graph *g, const struct lids *l, const void *o,
               const struct lft *prev, struct route_out *ret_out)
{
	const struct engine *e = engine_find("updn");
	struct route_in in = { .g = g, .lids = l, .options = o, .prev = prev };
	int ret = e->check(&in, &ret_out->notes);

	return ret == E_OK ? e->route(&in, arena, ret_out) : ret;
}

static struct lft route(const struct graph *g, const struct lids *l, const void *o,
                        const struct lft *prev)
{
	struct route_out *out = arena_alloc(arena, sizeof(*out));
	struct proof p;
	int ret = run(g, l, o, prev, out);

	ck_assert_msg(ret == E_OK, "%s", out->notes.text);
	ck_assert_int_eq(proof_run(g, l, &out->lft, NULL, arena, &p), E_OK);
	ck_assert_msg(p.unreachable_pairs + p.holes + p.forwarding_loops +
	                              p.credit_loops + p.management_unreachable +
	                              p.management_credit_loops ==
	                      0,
	              "%s", proof_text(&p, g, arena));
	return out->lft;
}

static uint32_t next_switch(const struct graph *g, const struct lft *lft, uint32_t s,
                            uint32_t lid)
{
	uint32_t port = graph_port(g, g->switches[s], lft_row(lft, s)[lid]);

	if (port == GRAPH_NONE || g->ports[port].peer == GRAPH_NONE) {
		ck_abort_msg("no route from switch %u to LID %u", s, lid);
	}
	return g->nodes[g->ports[g->ports[port].peer].node].sw;
}

/* ---- never up after down ---- */

/* Level in a generated tree, by the role that stands in the description. */
static unsigned level(const struct graph *g, uint32_t s)
{
	static const char *const roles[][2] = { { "edge", "leaf" },
		                                { "agg", "spine" },
		                                { "core", "core" } };
	const char *text = g->nodes[g->switches[s]].description;

	for (unsigned i = 0; i < 3; i++) {
		if (!strncmp(text, roles[i][0], strlen(roles[i][0])) ||
		    !strncmp(text, roles[i][1], strlen(roles[i][1]))) {
			return i;
		}
	}
	ck_abort_msg("no role in '%s'", text);
	return 0;
}

static uint8_t *levels(const struct graph *g)
{
	uint8_t *found = arena_alloc(arena, g->n_switches);

	for (uint32_t s = 0; s < g->n_switches; s++) {
		found[s] = (uint8_t)level(g, s);
	}
	return found;
}

/* Which switches a path of steps up, then steps down reaches from s. */
static void mark_reached(const struct graph *g, const uint8_t *at, uint32_t s, bool up,
                         bool *reached_up, bool *reached)
{
	if (up ? reached_up[s] : reached[s]) {
		return;
	}
	reached[s] = true;
	reached_up[s] |= up;
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if (at[to] < at[s]) {
			mark_reached(g, at, to, false, reached_up, reached);
		} else if (up) {
			mark_reached(g, at, to, true, reached_up, reached);
		}
	}
}

static const struct {
	const char *command;
	double fail;
} trees[] = {
	{ "ft2 6 4 3", 0 },   { "ft2 6 4 3", 0.05 },
	{ "ft2 6 4 3", 0.2 }, { "ft2 3 5 2 2", 0.2 },
	{ "ft3 4", 0 },       { "ft3 4", 0.05 },
	{ "ft3 4", 0.2 },     { "ft3 6", 0.01 },
	{ "ft3 6", 0.05 },    { "ft3 6", 0.2 },
	{ "ft3 8", 0.05 },    { "ft3 8", 0.2 },
	{ "ft3 8", 0.4 },     { "tree3 3 4 4 2 3", 0.1 },
};

enum { N_TREES = sizeof(trees) / sizeof(*trees), SEEDS = 6 };

/*
 * Each pair of hosts, by the levels of the tree alone: whoever can be reached by going
 * up, then down, is reached that way.
 */
static void check_pairs(const char *command, double fail, uint32_t seed)
{
	struct graph *g = fabric_make(command, fail, seed, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = route(g, &l, options(NULL, NULL), NULL);
	const uint8_t *height = levels(g);
	uint32_t pairs = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		bool *up = arena_alloc(arena, g->n_switches);
		bool *reached = arena_alloc(arena, g->n_switches);

		if (g->host_first[s] == g->host_first[s + 1]) {
			continue;
		}
		mark_reached(g, height, s, true, up, reached);
		for (uint32_t h = 0; h < g->host_first[g->n_switches]; h++) {
			uint32_t home = graph_switch_of(g, g->hosts[h]), at = s;
			bool down = false;

			while (reached[home] && at != home) {
				uint32_t to =
					next_switch(g, &lft, at, l.of[g->hosts[h]].base);
				bool rises = height[to] > height[at];

				if (down && rises) {
					ck_abort_msg(
						"%s seed %u: up after down from %s to %s",
						command, seed,
						g->nodes[g->switches[s]].description,
						g->nodes[g->switches[home]].description);
				}
				down = !rises;
				at = to;
				pairs++;
			}
		}
	}
	ck_assert_uint_gt(pairs, 0);
}

START_TEST(never_up_after_down)
{
	for (uint32_t seed = 1; seed <= (uint32_t)test_seeds(SEEDS); seed++) {
		check_pairs(trees[_i].command, trees[_i].fail, seed);
	}
}
END_TEST

/* ---- the order and the paths, on fabrics and ranks of any kind ---- */

static const char *const any[] = {
	"ft2 5 2 3",       "ft3 4",
	"ft3 6",           "mesh 4x4 1",
	"torus 5x4 1",     "mesh 12 1",
	"hypercube 4 1",   "jellyfish 24 3 1",
	"dragonfly 2 3 1", "jellyfish 70 4 1",
};

enum { N_ANY = sizeof(any) / sizeof(*any), ANY_SEEDS = 12 };

/* Ranks at random, a few values so that many are equal. */
static struct updown_rule random_rule(const struct graph *g, uint64_t *state)
{
	uint16_t *rank = arena_array(arena, g->n_switches, sizeof(*rank));
	uint64_t *id = arena_array(arena, g->n_switches, sizeof(*id));
	uint32_t kinds = 1 + random_below(state, 5);

	for (uint32_t s = 0; s < g->n_switches; s++) {
		rank[s] = (uint16_t)random_below(state, kinds);
		rank[s] = rank[s] == 4 ? UPDOWN_RANK_NONE : rank[s];
		id[s] = random_below(state, 7);
	}
	return (struct updown_rule){ rank, random_below(state, 2) ? id : NULL,
		                     random_below(state, 2), random_below(state, 2) };
}

/*
 * Any walk along ports that lead closer arrives, and never climbs after it descended.
 * (One assertion for all: each costs a write to the test runner.)
 */
static bool walk_is_good(const struct graph *g, const struct updown *u, uint32_t s,
                         uint32_t t, uint64_t *state)
{
	bool down = false, good = true;

	for (unsigned d = hops_between(&u->hops, s, t); d > 0; d--) {
		struct spread_ports p = { .n = 0 }, one = { .n = 0 };
		const struct sw_link *link = g->adj + g->adj_first[s];
		uint32_t n = g->adj_first[s + 1] - g->adj_first[s], pick;

		updown_closer(u, s, t, link, n, SPREAD_PORTS_MAX, &p);
		updown_closer(u, s, t, link, n, 1, &one);
		if (p.n == 0 || one.n != 1 || one.port[0] != p.port[0]) {
			return false;
		}
		pick = random_below(state, p.n);
		for (unsigned k = 0; k < p.n; k++) {
			good &= hops_between(&u->hops, p.to[k], t) == d - 1;
			/* where packets may arrive from above, all ports lead down */
			good &= u->down[s * u->hops.stride + t] == HOPS_NONE ||
			        u->pos[p.to[k]] > u->pos[s];
		}
		good &= !(down && u->pos[p.to[pick]] < u->pos[s]);
		down = u->pos[p.to[pick]] > u->pos[s];
		s = p.to[pick];
	}
	return good && s == t;
}

static void check_order(const char *command, uint32_t seed)
{
	uint64_t state = seed;
	struct graph *g = fabric_make(command, seed % 3 * 0.1, seed, arena);
	struct updown_rule rule = random_rule(g, &state);
	uint32_t n = g->n_switches, *pos, *part;
	bool *taken = arena_alloc(arena, n);
	struct updown u;

	ck_assert_int_eq(updown_order(g, &rule, arena, &pos, &part), E_OK);
	for (uint32_t s = 0; s < n; s++) {
		bool above = false;

		ck_assert_uint_lt(pos[s], n);
		ck_assert(!taken[pos[s]]);
		taken[pos[s]] = true;
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			above |= pos[g->adj[i].to] < pos[s];
			ck_assert_uint_eq(part[g->adj[i].to], part[s]);
		}
		ck_assert(above || pos[s] == 0); /* the generators give one part */
	}
	ck_assert_int_eq(updown_init(&u, g, pos, arena), E_OK);
	for (uint32_t s = 0; s < n; s++) {
		for (uint32_t t = 0; t < n; t++) {
			if (hops_between(&u.hops, s, t) == HOPS_NONE ||
			    !walk_is_good(g, &u, s, t, &state)) {
				ck_abort_msg("%s, seed %u: from %u to %u", command, seed,
				             s, t);
			}
		}
	}
}

START_TEST(order_and_paths)
{
	for (uint32_t seed = 1; seed <= (uint32_t)test_seeds(ANY_SEEDS); seed++) {
		check_order(any[_i], seed);
	}
}
END_TEST

/* A walk along any of the ports over the order alone ends at t, and never climbs after it
 * descended. */
static bool arrives_by_order(const struct order_routes *x, const struct order *l,
                             uint32_t s, uint32_t t, uint64_t *state)
{
	uint8_t port[ORDER_PORTS_MAX];
	bool down = false;

	for (uint32_t left = l->n; s != t && left > 0; left--) {
		unsigned n = order_routes_ports(x, l, s, port);
		uint32_t i = l->g->adj_first[s];

		if (n == 0) {
			return false;
		}
		uint8_t pick = port[random_below(state, n)];
		while (l->g->adj[i].port != pick) {
			i++;
		}
		bool up = order_is_above(l, s, l->g->adj[i].to);
		if (up && down) {
			return false;
		}
		down = !up;
		s = l->g->adj[i].to;
	}
	return s == t;
}

/* Fills which switches a climb and then a descent of the order lead to t. */
static void reach_by_order(const struct order *l, uint32_t t, bool *reaches)
{
	const struct graph *g = l->g;

	for (uint32_t p = l->n;
	     p-- > 0;) { /* what only descends, from the end of the order */
		uint32_t s = l->at[p];

		reaches[s] = s == t;
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;
			reaches[s] |= order_goes_down(l, s, to) && reaches[to];
		}
	}
	for (uint32_t p = 0; p < l->n; p++) {
		uint32_t s = l->at[p];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;
			reaches[s] |= order_goes_up(l, s, to) && reaches[to];
		}
	}
}

/* Exactly the switches that can climb and then descend to a switch have routes to it over the
 * order alone. */
START_TEST(routes_over_the_order)
{
	for (uint32_t seed = 1; seed <= (uint32_t)test_seeds(ANY_SEEDS); seed++) {
		uint64_t state = seed;
		struct graph *g = fabric_make(any[_i], seed % 3 * 0.1, seed, arena);
		struct order_rule rule = { random_rule(g, &state).rank,
			                   random_below(&state, 2) };
		bool *reaches = arena_alloc(arena, g->n_switches);
		struct order_routes x;
		struct order l;

		ck_assert_int_eq(order_init(&l, g, &rule, arena), E_OK);
		ck_assert_int_eq(order_routes_init(&x, &l, arena), E_OK);
		for (uint32_t t = 0; t < l.n; t++) {
			order_routes_find(&x, &l, t);
			reach_by_order(&l, t, reaches);
			for (uint32_t s = 0; s < l.n; s++) {
				if (arrives_by_order(&x, &l, s, t, &state) !=
				    reaches[s]) {
					ck_abort_msg("%s, seed %u: from %u to %u",
					             any[_i], seed, s, t);
				}
			}
		}
	}
}
END_TEST

/* In a whole tree the best ranks stay on top of all their neighbours but one at most. */
START_TEST(order_of_a_tree)
{
	struct graph *g = fabric_make("ft3 8", 0, 1, arena);
	uint16_t *rank = arena_array(arena, g->n_switches, sizeof(*rank));
	struct updown_rule rule = { .rank = rank, .keeps_paths = _i };
	uint32_t *pos, raised = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		rank[s] = (uint16_t)(2 - level(g, s));
	}
	ck_assert_int_eq(updown_order(g, &rule, arena, &pos, NULL), E_OK);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		unsigned above = 0;

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			above += rank[g->adj[i].to] > rank[s] &&
			         pos[g->adj[i].to] < pos[s];
		}
		ck_assert(rank[s] != 0 || above <= 1);
		raised += above;
	}
	/* 16 cores in 4 groups of 4: all but the first have one above; 3 groups of
	 * aggregation switches hang on one leaf switch. */
	ck_assert_uint_eq(raised, 15 + 3);
}
END_TEST

static uint32_t add_node(struct graph *g, enum node_type type, uint8_t n_ports,
                         const char *role, uint64_t *guid)
{
	uint32_t node;

	ck_assert_int_eq(
		graph_add_node(g, type, *guid += 0x100, n_ports, role, NULL, &node),
		E_OK);
	return node;
}

static void join(struct graph *g, uint32_t a, unsigned port_a, uint32_t b,
                 unsigned port_b)
{
	ck_assert_int_eq(graph_connect(g, graph_port(g, a, (uint8_t)port_a),
	                               graph_port(g, b, (uint8_t)port_b)),
	                 E_OK);
}

/* Three pods of two leaf switches below four others; each of four cores has cables to two of
 * them in every pod. Four hosts on each leaf switch, and one above the leaves of each pod. */
static struct graph *two_ways_into_a_pod(void)
{
	struct graph *g = graph_new(arena);
	uint32_t core[4], agg[4], leaf;
	uint64_t guid = 0;

	for (unsigned c = 0; c < 4; c++) {
		core[c] = add_node(g, NODE_SWITCH, 6, "core", &guid);
	}
	for (unsigned pod = 0; pod < 3; pod++) {
		for (unsigned m = 0; m < 4; m++) {
			agg[m] = add_node(g, NODE_SWITCH, 5, "agg", &guid);
			for (unsigned i = 0; i < 2; i++) {
				join(g, agg[m], 3 + i, core[m / 2 * 2 + i],
				     1 + pod * 2 + m % 2);
			}
		}
		join(g, agg[pod], 5, add_node(g, NODE_CA, 1, "host", &guid), 1);
		for (unsigned l = 0; l < 2; l++) {
			leaf = add_node(g, NODE_SWITCH, 8, "leaf", &guid);
			for (unsigned m = 0; m < 4; m++) {
				join(g, leaf, 1 + m, agg[m], 1 + l);
				join(g, leaf, 5 + m,
				     add_node(g, NODE_CA, 1, "host", &guid), 1);
			}
		}
	}
	ck_assert_int_eq(graph_freeze(g, diags), E_OK);
	return g;
}

/* Also the leaf switch that stands above its neighbours may send through all of them. */
START_TEST(order_keeps_all_shortest_paths)
{
	struct graph *g = two_ways_into_a_pod();
	uint16_t *rank = arena_array(arena, g->n_switches, sizeof(*rank));
	struct updown_rule rule = { .rank = rank, .keeps_paths = true };
	struct hops hops;
	struct updown u;
	uint32_t *pos;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		rank[s] = (uint16_t)(2 - level(g, s));
	}
	ck_assert_int_eq(updown_order(g, &rule, arena, &pos, NULL), E_OK);
	ck_assert_int_eq(updown_init(&u, g, pos, arena), E_OK);
	ck_assert_int_eq(hops_init(&hops, g, arena), E_OK);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct sw_link *link = g->adj + g->adj_first[s];
		uint32_t n = g->adj_first[s + 1] - g->adj_first[s];

		for (uint32_t t = 0; t < g->n_switches; t++) {
			struct spread_ports all, p;

			if (s == t || rank[s] != 2 || rank[t] != 2) {
				continue;
			}
			spread_shortest(&hops, s, t, link, n, SPREAD_PORTS_MAX, &all);
			updown_closer(&u, s, t, link, n, SPREAD_PORTS_MAX, &p);
			ck_assert_msg(p.n == all.n, "from %u to %u: %u of %u ports", s, t,
			              p.n, all.n);
		}
	}
}
END_TEST

static const char *const up_and_down[] = { "minhop", "updn" };

/* There no link carries more than a quarter above the share of a leaf switch's way up: 4
 * hosts send to 23 others over 4 ways. */
START_TEST(all_ways_up)
{
	const struct engine *e = engine_find(up_and_down[_i]);
	struct graph *g = two_ways_into_a_pod();
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_in in = { .g = g, .lids = &l };
	struct route_out out = { 0 };
	struct load load;

	ck_assert_int_eq(e->route(&in, arena, &out), E_OK);
	ck_assert_int_eq(load_build(g, &l, &out.lft, arena, &load), E_OK);
	ck_assert_msg(load.max <= 28, "%s: max %u", e->name, load.max);
}
END_TEST

/* ---- roots ---- */

static const struct {
	const char *command;
	bool tree;
} detected[] = {
	{ "ft2 6 4 3", true },       { "ft2 2 1 1", true },
	{ "ft3 4", true },           { "ft3 8", true },
	{ "tree3 3 4 4 2 3", true }, { "director 6 4 2 3 2", true },
	{ "torus 4x4 1", false },    { "mesh 5 1", false },
	{ "hypercube 4 1", false },  { "dragonfly 2 4 2", false },
};

START_TEST(detection)
{
	struct graph *g = fabric_make(detected[_i].command, 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out = arena_alloc(arena, sizeof(*out));
	int ret = run(g, &l, options(NULL, NULL), NULL, out);

	ck_assert_msg(ret == (detected[_i].tree ? E_OK : E_UNSUITABLE), "%s: %s",
	              detected[_i].command, out->notes.text);
	ck_assert_msg(detected[_i].tree || strstr(out->notes.text, "root_guid_file"),
	              "%s", out->notes.text);
}
END_TEST

/* Two trees, with one spine each, whose first leaves a cable joins; a host on each leaf. */
static struct graph *two_trees(const unsigned n_leaves[2])
{
	struct graph *g = graph_new(arena);
	uint32_t first[2] = { 0, 0 }, node = 0;

	for (unsigned k = 0; k < 2; k++) {
		uint32_t spine;

		ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 0x1000 + k, 16, "spine", NULL,
		                                &spine),
		                 E_OK);
		for (unsigned i = 0; i < n_leaves[k]; i++) {
			uint32_t leaf, host;

			node += 0x10;
			ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 0x2000 + node, 4,
			                                "leaf", NULL, &leaf),
			                 E_OK);
			ck_assert_int_eq(graph_add_node(g, NODE_CA, 0x8000 + node, 1, "host",
			                                NULL, &host),
			                 E_OK);
			ck_assert_int_eq(graph_connect(g, graph_port(g, leaf, 1),
			                               graph_port(g, host, 1)),
			                 E_OK);
			ck_assert_int_eq(graph_connect(g, graph_port(g, leaf, 2),
			                               graph_port(g, spine, i + 1)),
			                 E_OK);
			first[k] = i ? first[k] : leaf;
		}
	}
	ck_assert_int_eq(graph_connect(g, graph_port(g, first[0], 3),
	                               graph_port(g, first[1], 3)),
	                 E_OK);
	ck_assert_int_eq(graph_freeze(g, diags), E_OK);
	return g;
}

static const struct {
	unsigned n_leaves[2];
	bool tree;
} joined_trees[] = {
	{ { 2, 2 }, false }, /* 4 of 12 pairs of hosts have a switch above both */
	{ { 5, 5 }, false }, /* 40 of 90 */
	{ { 4, 1 }, true },  /* 12 of 20 */
	{ { 6, 2 }, true },  /* 32 of 56 */
};

/* A fabric is taken for a tree when at least half of all pairs have a switch above both. */
START_TEST(half_of_the_pairs)
{
	struct graph *g = two_trees(joined_trees[_i].n_leaves);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out = arena_alloc(arena, sizeof(*out));

	ck_assert_msg(run(g, &l, options(NULL, NULL), NULL, out) ==
	                      (joined_trees[_i].tree ? E_OK : E_UNSUITABLE),
	              "%u and %u leaves: %s", joined_trees[_i].n_leaves[0],
	              joined_trees[_i].n_leaves[1], out->notes.text);
}
END_TEST

static uint64_t switch_guid(const struct graph *g, uint32_t s)
{
	return g->nodes[g->switches[s]].guid;
}

/* A switch, its host's port and its host's node all name the same root. */
START_TEST(root_file)
{
	struct graph *g = fabric_make("torus 4x4 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	uint32_t s = 9, host = g->hosts[g->host_first[s]];
	uint64_t guid[3] = { switch_guid(g, s), g->ports[host].guid,
		             g->nodes[g->ports[host].node].guid };
	struct lft lft[3];
	struct route_out *out = arena_alloc(arena, sizeof(*out));
	const char *both;

	ck_assert_uint_ne(guid[1], guid[2]);
	for (unsigned i = 0; i < 3; i++) {
		const char *text =
			arena_printf(arena, "# root\n0x%" PRIx64 " x\n", guid[i]);

		lft[i] = route(g, &l, options(text, NULL), NULL);
		ck_assert_mem_eq(lft[0].rows, lft[i].rows,
		                 lft[0].n_switches * lft[0].stride);
	}
	/* from the root all paths are shortest: 4x4 with wrap is at most 4 hops across */
	for (uint32_t t = 0; t < g->n_switches; t++) {
		unsigned n = 0;

		for (uint32_t at = s; at != t; n++) {
			at = next_switch(g, &lft[0], at,
			                 l.of[g->hosts[g->host_first[t]]].base);
		}
		ck_assert_uint_le(n, 4);
	}
	/* an unknown one beside it is told, and alone is no root */
	both = arena_printf(arena, "0x123\n0x%" PRIx64 "\n", guid[0]);
	ck_assert_int_eq(run(g, &l, options(both, NULL), NULL, out), E_OK);
	ck_assert_ptr_nonnull(strstr(out->notes.text, "is on no switch"));
	lft[1] = out->lft;
	ck_assert_mem_eq(lft[0].rows, lft[1].rows, lft[0].n_switches * lft[0].stride);
	out = arena_alloc(arena, sizeof(*out));
	ck_assert_int_eq(run(g, &l, options("0x123\n", NULL), NULL, out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(
		strstr(out->notes.text, ":1: 0x0000000000000123 is on no switch"));
	ck_assert_ptr_nonnull(strstr(out->notes.text, "no root switch"));
}
END_TEST

/* Equal ranks: the smaller id stands higher, from the file or the GUID. */
START_TEST(ids_file)
{
	struct graph *g = fabric_make("torus 5x5 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const char *root = arena_printf(arena, "0x%" PRIx64 "\n", switch_guid(g, 12));
	const char *same = "", *turned = "";
	struct route_out *out = arena_alloc(arena, sizeof(*out));
	struct lft by_guid, lft;
	size_t bytes;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		same = arena_printf(arena, "%s0x%" PRIx64 " %u # id\n", same,
		                    switch_guid(g, s), s);
		turned = arena_printf(arena, "%s0x%" PRIx64 " 0x%x\n", turned,
		                      switch_guid(g, s), 100 - s);
	}
	by_guid = route(g, &l, options(root, NULL), NULL);
	bytes = by_guid.n_switches * by_guid.stride;
	lft = route(g, &l, options(root, same), NULL);
	ck_assert_mem_eq(by_guid.rows, lft.rows, bytes);
	lft = route(g, &l, options(root, turned), NULL);
	ck_assert(memcmp(by_guid.rows, lft.rows, bytes) != 0);

	ck_assert_int_eq(run(g, &l, options(root, "0x1 5\n0x2 five\n"), NULL, out),
	                 E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(
		out->notes.text, ":2: expected a switch GUID and a number, not 'five'"));
}
END_TEST

/* ---- the rest ---- */

/* Previous tables that still fit stay as they are, also where links were evened out. */
START_TEST(prev_is_kept)
{
	struct graph *g = fabric_make(trees[_i].command, trees[_i].fail, 1, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct lft first = route(g, &l, options(NULL, NULL), NULL);
	struct lft again = route(g, &l, options(NULL, NULL), &first);

	ck_assert_mem_eq(first.rows, again.rows, first.n_switches * first.stride);
}
END_TEST

TEST_SUITE(updn)
{
	TCase *t = tcase_create("updn");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, never_up_after_down, 0, N_TREES);
	tcase_add_loop_test(t, order_and_paths, 0, N_ANY);
	tcase_add_loop_test(t, routes_over_the_order, 0, N_ANY);
	tcase_add_loop_test(t, order_of_a_tree, 0, 2);
	tcase_add_test(t, order_keeps_all_shortest_paths);
	tcase_add_loop_test(t, all_ways_up, 0, sizeof(up_and_down) / sizeof(*up_and_down));
	tcase_add_loop_test(t, detection, 0, sizeof(detected) / sizeof(*detected));
	tcase_add_loop_test(t, half_of_the_pairs, 0, sizeof(joined_trees) / sizeof(*joined_trees));
	tcase_add_test(t, root_file);
	tcase_add_test(t, ids_file);
	tcase_add_loop_test(t, prev_is_kept, 0, N_TREES);
	suite_add_tcase(suite, t);
}

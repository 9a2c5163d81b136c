/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/disjoint.h"
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

static struct lft route(const char *engine, const struct graph *g, const struct lids *l)
{
	const struct engine *e = engine_find(engine);
	struct option_sets s = { .n = 0 };
	struct route_in in = { .g = g, .lids = l };
	struct route_out *out = arena_alloc(arena, sizeof(*out));

	if (e->options) {
		void *base = arena_alloc(arena, e->opt_size);

		in.options = base;
		ck_assert_int_eq(option_sets_add(&s, e->options, base), E_OK);
		ck_assert_int_eq(option_set_defaults(&s, arena), E_OK);
	}
	ck_assert_int_eq(e->route(&in, arena, out), E_OK);
	return out->lft;
}

/* ---- the count, against a plain one ---- */

enum { HOPS_MAX = 64 };

struct plain_way {
	unsigned n;
	uint32_t sw[HOPS_MAX], port[HOPS_MAX];
};

static struct plain_way follow(const struct graph *g, const struct lft *lft, uint32_t s,
                               uint32_t t, uint32_t lid)
{
	struct plain_way w = { .n = 0 };

	while (s != t) {
		uint32_t p = graph_port(g, g->switches[s], lft_row(lft, s)[lid]);

		ck_assert_uint_lt(w.n, HOPS_MAX);
		w.sw[w.n] = s;
		w.port[w.n++] = p;
		s = g->nodes[g->ports[g->ports[p].peer].node].sw;
	}
	return w;
}

static bool same_system(const struct graph *g, uint32_t a, uint32_t b)
{
	uint64_t x = g->nodes[g->switches[a]].system_image_guid;

	return a == b || (x && x == g->nodes[g->switches[b]].system_image_guid);
}

static bool share(const struct graph *g, const struct plain_way *a,
                  const struct plain_way *b, unsigned level)
{
	for (unsigned i = 0; i < a->n; i++) {
		for (unsigned k = 0; k < b->n; k++) {
			if (a->port[i] == b->port[k] ||
			    (i && k && level == DISJOINT_ASIC && a->sw[i] == b->sw[k]) ||
			    (i && k && level == DISJOINT_SWITCH &&
			     same_system(g, a->sw[i], b->sw[k]))) {
				return true;
			}
		}
	}
	return false;
}

static bool is_same(const struct plain_way *a, const struct plain_way *b)
{
	return a->n == b->n && !memcmp(a->port, b->port, a->n * sizeof(*a->port));
}

static void add_plainly(struct disjoint_sum *x, uint32_t n, uint32_t routes, bool first)
{
	x->sum += n;
	x->all += n == routes;
	x->least = first || n < x->least ? n : x->least;
}

/* Routes and first links that no lower LID takes. */
static void count_unique(const struct plain_way *all, uint32_t n, struct disjoint *sum)
{
	uint32_t unique = 0, first = 0;

	for (uint32_t k = 0; k < n; k++) {
		bool new_way = true, new_link = true;

		for (uint32_t i = 0; i < k; i++) {
			new_way = new_way && !is_same(&all[i], &all[k]);
			new_link = new_link && all[i].port[0] != all[k].port[0];
		}
		unique += new_way;
		first += new_link;
	}
	add_plainly(&sum->unique, unique, n, !sum->pairs);
	add_plainly(&sum->first, first, n, !sum->pairs);
}

static void count_plainly(const struct graph *g, const struct lft *lft, uint32_t s,
                          uint32_t t, struct lid_range r, struct disjoint *sum)
{
	struct plain_way all[128], *kept[128];

	for (uint32_t k = 0; k < 1U << r.lmc; k++) {
		all[k] = follow(g, lft, s, t, r.base + k);
	}
	for (unsigned level = 0; level < DISJOINT_COUNT; level++) {
		uint32_t n = 0;

		for (uint32_t k = 0; k < 1U << r.lmc; k++) {
			bool apart = true;

			for (uint32_t i = 0; i < n; i++) {
				apart = apart && !share(g, kept[i], &all[k], level);
			}
			if (apart) {
				kept[n++] = &all[k];
			}
		}
		add_plainly(&sum->level[level], n, 1U << r.lmc, !sum->pairs);
	}
	count_unique(all, 1U << r.lmc, sum);
	sum->pairs++;
	sum->routes += 1U << r.lmc;
}

static const struct {
	const char *engine, *command;
	uint32_t lmc;
} counted[] = {
	{ "minhop", "ft2 4 3 3 2", 2 },           { "minhop", "torus 4x4 2", 2 },
	{ "minhop", "director 6 4 2 3 2 2", 3 },  { "minhop", "director 6 2 1 3 2 3 2", 2 },
	{ "minhop", "jellyfish 16 4 2", 3 },      { "sssp", "torus 4x4 2", 1 },
	{ "updn", "ft3 4", 7 },                   { "minhop", "ft2 4 3 3", 0 },
	{ "shortestpath", "dragonfly 2 4 2", 2 },
};

static void compare_sums(const struct disjoint_sum *x, const struct disjoint_sum *want)
{
	ck_assert_uint_eq(x->sum, want->sum);
	ck_assert_uint_eq(x->all, want->all);
	ck_assert_uint_eq(x->least, want->least);
}

START_TEST(count)
{
	struct graph *g = fabric_make(counted[_i].command, 0, 1, arena);
	struct lids l = fabric_lids(g, counted[_i].lmc, 0, arena);
	struct lft lft = route(counted[_i].engine, g, &l);
	struct disjoint want = { .pairs = 0 }, one, two;

	for (uint32_t h = 0; counted[_i].lmc && h < g->host_first[g->n_switches]; h++) {
		uint32_t t = graph_switch_of(g, g->hosts[h]);

		for (uint32_t s = 0; s < g->n_switches; s++) {
			if (s != t && g->host_first[s] != g->host_first[s + 1]) {
				count_plainly(g, &lft, s, t, l.of[g->hosts[h]], &want);
			}
		}
	}
#ifdef _OPENMP
	omp_set_num_threads(2);
#endif
	ck_assert_int_eq(disjoint_count(g, &l, &lft, &two), E_OK);
#ifdef _OPENMP
	omp_set_num_threads(1);
#endif
	ck_assert_int_eq(disjoint_count(g, &l, &lft, &one), E_OK);
	ck_assert_uint_eq(one.pairs, want.pairs);
	ck_assert_uint_eq(one.routes, want.routes);
	ck_assert_uint_eq(two.pairs, want.pairs);
	for (unsigned k = 0; k < DISJOINT_COUNT; k++) {
		compare_sums(&one.level[k], &want.level[k]);
		compare_sums(&two.level[k], &want.level[k]);
	}
	compare_sums(&one.unique, &want.unique);
	compare_sums(&two.unique, &want.unique);
	compare_sums(&one.first, &want.first);
	compare_sums(&two.first, &want.first);
}
END_TEST

/* A route that does not arrive is not apart from anything. */
START_TEST(count_without_routes)
{
	struct graph *g = fabric_make("ft2 2 1 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct lft lft;
	struct disjoint d;

	ck_assert_int_eq(lft_init(&lft, g->n_switches, l.top, arena), E_OK);
	ck_assert_int_eq(disjoint_count(g, &l, &lft, &d), E_OK);
	ck_assert_uint_eq(d.pairs, 2);
	ck_assert_uint_eq(d.routes, 4);
	ck_assert_uint_eq(d.level[DISJOINT_LINK].sum, 0);
	ck_assert_uint_eq(d.unique.sum, 0);
	ck_assert_uint_eq(d.first.least, 0);
}
END_TEST

/* ---- dispersion ---- */

/*
 * What each pair owes: as many routes apart as there are ways at the narrowest place, and
 * base LIDs and the others balanced each by themselves.
 */
static const struct {
	const char *engine, *command;
	double fail;
	uint32_t lmc, sw, asic, link; /* least of any pair */
	double ratio; /* busiest link against the mean of its level, base LIDs; 0: not asked */
	double others; /* likewise all others; 0: as base LIDs */
} dispersed[] = {
	{ "shortestpath", "ft2 18 9 9", 0, 2, 4, 4, 4, 1.1, 0 },
	{ "shortestpath", "ft2 18 9 9", 0, 3, 8, 8, 8, 1.1, 0 },
	{ "shortestpath", "ft2 6 4 2 2", 0, 2, 2, 2, 4, 1.1, 0 },
	{ "shortestpath", "ft3 8", 0, 2, 4, 4, 4, 1.1, 0 },
	{ "shortestpath", "ft3 8", 0, 3, 4, 4, 4, 1.1, 0 },
	{ "shortestpath", "ft3 16", 0, 2, 4, 4, 4, 1.1, 0 },
	{ "shortestpath", "ft3 16", 0, 3, 8, 8, 8, 1.1, 0 },
	{ "shortestpath", "tree3 4 8 8 8 8", 0, 3, 8, 8, 8, 1.1, 0 },
	{ "shortestpath", "director 8 4 2 4 4 2", 0, 1, 2, 2, 2, 1.1, 0 },
	{ "shortestpath", "director 8 4 2 4 4 2", 0, 2, 2, 4, 4, 1.1, 0 },
	{ "shortestpath", "ft3 16", 0.01, 2, 3, 3, 3, 0, 0 },
	{ "minhop", "ft3 16", 0, 2, 4, 4, 4, 1.1, 0 },
	{ "minhop", "ft3 16", 0, 3, 8, 8, 8, 1.1, 0 },
	{ "minhop", "director 8 4 2 4 4 2", 0, 2, 2, 4, 4, 1.1, 0 },
	{ "updn", "ft3 16", 0, 2, 4, 4, 4, 1.1, 0 },
	{ "updn", "ft3 16", 0, 3, 8, 8, 8, 1.1, 0 },
	{ "sssp", "ft3 16", 0, 2, 4, 4, 4, 1.1, 1.31 },
	{ "sssp", "ft3 16", 0, 3, 8, 8, 8, 1.1, 1.2 },
	{ "sssp", "ft3 16", 0.01, 2, 3, 3, 3, 0, 0 },
	{ "sssp", "director 8 4 2 4 4 2", 0, 2, 2, 2, 2, 0, 0 },
	{ "dfsssp", "ft3 16", 0, 2, 4, 4, 4, 1.1, 1.2 },
	{ "sssp", "ft3 8", 0, 3, 4, 4, 4, 1.1, 1.2 },
	{ "dfsssp", "ft3 8", 0, 3, 4, 4, 4, 1.1, 1.2 },
	{ "dmodc", "ft3 16", 0, 2, 4, 4, 4, 1.1, 0 },
	{ "dmodc", "ft3 16", 0, 3, 8, 8, 8, 1.1, 0 },
	{ "fattree", "ft3 16", 0, 2, 4, 4, 4, 1.1, 0 },
	{ "dgshortestpath", "ft3 16", 0, 2, 4, 4, 4, 1.1, 0 },
};

enum { LEVELS = 4 };

/* Hops to the nearest switch with hosts, LEVELS - 1 at most. */
static uint8_t *levels_of(const struct graph *g)
{
	uint8_t *level = arena_alloc(arena, g->n_switches);

	for (uint32_t s = 0; s < g->n_switches; s++) {
		level[s] = g->host_first[s] == g->host_first[s + 1] ? LEVELS - 1 : 0;
	}
	for (unsigned round = 1; round < LEVELS - 1; round++) {
		for (uint32_t s = 0; s < g->n_switches; s++) {
			for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
				if (level[g->adj[i].to] == round - 1 && level[s] > round) {
					level[s] = (uint8_t)round;
				}
			}
		}
	}
	return level;
}

/* Busiest link against the mean of those between the same two levels, without the routes
 * of \a less if that is not NULL. */
static double ratio_of(const struct graph *g, const uint32_t *routes, const uint32_t *less)
{
	const uint8_t *level = levels_of(g);
	double worst = 0;

	for (unsigned kind = 0; kind < LEVELS * LEVELS; kind++) {
		double sum = 0, most = 0;
		unsigned n = 0;

		for (uint32_t s = 0; s < g->n_switches; s++) {
			for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
				double x = routes[i] - (less ? less[i] : 0.0);

				if (level[s] * LEVELS + level[g->adj[i].to] == (int)kind) {
					n++;
					sum += x;
					most = x > most ? x : most;
				}
			}
		}
		worst = sum > 0 && most * n / sum > worst ? most * n / sum : worst;
	}
	return worst;
}

START_TEST(dispersion)
{
	struct graph *g =
		fabric_make(dispersed[_i].command, dispersed[_i].fail, 1, arena);
	struct lids l = fabric_lids(g, dispersed[_i].lmc, 0, arena);
	struct lft lft = route(dispersed[_i].engine, g, &l);
	double others = dispersed[_i].others > 0 ? dispersed[_i].others : dispersed[_i].ratio;
	const struct lanes lanes = { .n = 1 };
	struct disjoint d;
	struct proof p;
	struct load load;

	ck_assert_int_eq(proof_run(g, &l, &lft, &lanes, arena, &p), E_OK);
	ck_assert_msg(p.unreachable_pairs + p.holes + p.forwarding_loops +
	                              p.credit_loops == 0,
	              "%s", proof_text(&p, g, arena));
	ck_assert_int_eq(disjoint_count(g, &l, &lft, &d), E_OK);
	ck_assert_uint_ge(d.level[DISJOINT_SWITCH].least, dispersed[_i].sw);
	ck_assert_uint_ge(d.level[DISJOINT_ASIC].least, dispersed[_i].asic);
	ck_assert_uint_ge(d.level[DISJOINT_LINK].least, dispersed[_i].link);
	if (dispersed[_i].ratio > 0) {
		ck_assert_int_eq(load_build(g, &l, &lft, arena, &load), E_OK);
		ck_assert_double_le(ratio_of(g, load.base, NULL), dispersed[_i].ratio);
		ck_assert_double_le(ratio_of(g, load.all, load.base), others);
		ck_assert_double_le(ratio_of(g, load.all, NULL), others);
	}
}
END_TEST

/* ---- a unique route for each LID ---- */

static const char *const spreading[] = { "minhop",         "updn",    "dnup",
	                                 "shortestpath",   "fattree", "dmodc",
	                                 "dgshortestpath", "sssp",    "dfsssp" };

enum {
	N_SPREADING = sizeof(spreading) / sizeof(*spreading),
	SEEDS = 12,
	SPINES_MAX = 5,
	CABLES_MAX = 4,
	HOSTS = 3
};

static uint32_t add_switch(struct graph *g, uint32_t number, uint32_t n_ports,
                           uint64_t system)
{
	uint32_t at;

	ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, (uint64_t)(number + 1) << 12,
	                                (uint8_t)n_ports, "switch", NULL, &at),
	                 E_OK);
	g->nodes[at].system_image_guid = system;
	return at;
}

/*
 * Leaf switches with any number of cables to each spine, one at least to the first. Some
 * spines are in one system.
 */
static struct graph *random_tree(uint64_t seed, uint32_t fixed)
{
	struct graph *g = graph_new(arena);
	struct diags *d = arena_alloc(arena, sizeof(*d));
	uint32_t n_spines = 2 + random_below(&seed, SPINES_MAX - 1);
	uint32_t n_leaves = 3 + random_below(&seed, 4), spine[SPINES_MAX], number = 0;
	uint32_t used[SPINES_MAX] = { 0 };

	diags_init(d, arena);
	for (uint32_t i = 0; i < n_spines; i++) {
		uint64_t system = random_below(&seed, 4);

		spine[i] = add_switch(g, number++, CABLES_MAX * n_leaves,
		                      system ? 0x9000 + system : 0);
	}
	for (uint32_t l = 0; l < n_leaves; l++) {
		uint32_t leaf =
			add_switch(g, number++, HOSTS + SPINES_MAX * CABLES_MAX, 0);
		uint32_t port = 0, host;

		for (uint32_t h = 0; h < HOSTS; h++) {
			ck_assert_int_eq(graph_add_node(g, NODE_CA,
			                                (uint64_t)(++number) << 12, 1,
			                                "host", NULL, &host),
			                 E_OK);
			ck_assert_int_eq(graph_connect(g, graph_port(g, leaf, ++port),
			                               graph_port(g, host, 1)),
			                 E_OK);
		}
		for (uint32_t i = 0; i < n_spines; i++) {
			uint32_t n =
				fixed ? fixed >> 8 * i & 0xff
				      : (i == 0) +
						random_below(&seed, CABLES_MAX + (i > 0));

			for (; n; n--) {
				ck_assert_int_eq(
					graph_connect(g, graph_port(g, leaf, ++port),
				                      graph_port(g, spine[i], ++used[i])),
					E_OK);
			}
		}
	}
	ck_assert_int_eq(graph_freeze(g, d), E_OK);
	return g;
}

/* Different links, nodes and systems among links of one switch, given as bits by place.
 */
struct variety {
	uint32_t links, nodes, systems;
};

static struct variety variety_of(const struct graph *g, uint32_t s, uint64_t links)
{
	struct variety v = { 0, 0, 0 };

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		bool new_node = true, new_system = true;

		if (!(links >> (i - g->adj_first[s]) & 1)) {
			continue;
		}
		for (uint32_t k = g->adj_first[s]; k < i; k++) {
			if (links >> (k - g->adj_first[s]) & 1) {
				new_node &= g->adj[k].to != g->adj[i].to;
				new_system &= !same_system(g, g->adj[k].to, g->adj[i].to);
			}
		}
		v.links++;
		v.nodes += new_node;
		v.systems += new_system;
	}
	return v;
}

static bool leads_to(const struct graph *g, uint32_t spine, uint32_t t)
{
	for (uint32_t i = g->adj_first[spine]; i < g->adj_first[spine + 1]; i++) {
		if (g->adj[i].to == t) {
			return true;
		}
	}
	return false;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void check_range(const struct graph *g, const struct lft *lft, uint32_t s,
                        uint32_t t, struct lid_range r, const char *what)
{
	uint64_t allowed = 0, taken = 0;
	struct variety most, got;
	uint32_t n = 1U << r.lmc;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		allowed |= (uint64_t)leads_to(g, g->adj[i].to, t)
		           << (i - g->adj_first[s]);
		for (uint32_t k = 0; k < n; k++) {
			taken |= (uint64_t)(lft_row(lft, s)[r.base + k] == g->adj[i].port)
			         << (i - g->adj_first[s]);
		}
	}
	most = variety_of(g, s, allowed);
	got = variety_of(g, s, taken);
	ck_assert_msg(!(taken & ~allowed), "%s: a route that is a detour", what);
	ck_assert_msg(got.links == smaller(n, most.links), "%s: %u links of %u", what,
	              got.links, most.links);
	ck_assert_msg(got.nodes == smaller(n, most.nodes), "%s: %u nodes of %u", what,
	              got.nodes, most.nodes);
	ck_assert_msg(got.systems == smaller(n, most.systems), "%s: %u systems of %u",
	              what, got.systems, most.systems);
}

/*
 * The LIDs of a port leave each leaf switch by as many links as lead closer, or as there
 * are LIDs, through as many systems and nodes.
 */
START_TEST(unique_routes)
{
	const char *engine = spreading[_i % N_SPREADING];
	uint32_t lmc = 1 + _i / N_SPREADING;

	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct graph *g = random_tree(seed, 0);
		struct lids l = fabric_lids(g, lmc, 0, arena);
		struct lft lft = route(engine, g, &l);

		for (uint32_t h = 0; h < g->host_first[g->n_switches]; h++) {
			uint32_t t = graph_switch_of(g, g->hosts[h]);

			for (uint32_t s = 0; s < g->n_switches; s++) {
				if (s != t && g->host_first[s] != g->host_first[s + 1]) {
					check_range(g, &lft, s, t, l.of[g->hosts[h]],
					            arena_printf(arena,
					                         "%s, LMC %u, seed %u",
					                         engine, lmc, seed));
				}
			}
		}
	}
}
END_TEST

/* As many spines as LIDs: each LID of a port has a spine of its own, up to LMC 5. */
START_TEST(a_spine_for_each_lid)
{
	for (uint32_t lmc = 3; lmc <= 5; lmc++) {
		char *command = arena_printf(arena, "ft2 3 2 %u", 1U << lmc);
		struct graph *g = fabric_make(command, 0, 1, arena);
		struct lids l = fabric_lids(g, lmc, 0, arena);
		struct lft lft = route(spreading[_i], g, &l);
		struct disjoint d;

		ck_assert_int_eq(disjoint_count(g, &l, &lft, &d), E_OK);
		ck_assert_uint_eq(d.level[DISJOINT_SWITCH].least, 1U << lmc);
	}
}
END_TEST

/* Three cables to one spine and one to another: all carry nearly the same, and LIDs of a
 * port take all four. */
START_TEST(unequal_cables)
{
	const char *engine = spreading[_i];
	struct graph *g = random_tree(5, 0x103);

	/* three hosts cannot share four cables evenly by base LIDs */
	const double most[] = { 1.34, 0, 1.34, 1.17 };

	for (uint32_t lmc = 0; lmc <= 3; lmc += lmc ? 1 : 2) {
		struct lids l = fabric_lids(g, lmc, 0, arena);
		struct lft lft = route(engine, g, &l);
		struct disjoint d;
		struct load load;

		ck_assert_int_eq(load_build(g, &l, &lft, arena, &load), E_OK);
		ck_assert_double_le(load.max, load.mean * most[lmc]);
		ck_assert_int_eq(disjoint_count(g, &l, &lft, &d), E_OK);
		ck_assert_uint_eq(d.first.least, lmc ? 4 : 0);
		ck_assert_uint_ge(d.level[DISJOINT_LINK].least, lmc ? 3 : 0);
		ck_assert_uint_ge(d.unique.least, d.first.least);
	}
}
END_TEST

/* Base LIDs go the way they go without an LMC. */
START_TEST(base_as_without)
{
	struct graph *g = fabric_make("ft3 8", 0.05, 1, arena);
	struct lids one = fabric_lids(g, 0, 0, arena), many = fabric_lids(g, 3, 0, arena);
	struct lft a = route("shortestpath", g, &one), b = route("shortestpath", g, &many);

	for (uint32_t h = 0; h < g->host_first[g->n_switches]; h++) {
		for (uint32_t s = 0; s < g->n_switches; s++) {
			ck_assert_uint_eq(lft_row(&a, s)[one.of[g->hosts[h]].base],
			                  lft_row(&b, s)[many.of[g->hosts[h]].base]);
		}
	}
}
END_TEST

/* LIDs of more than 16 bits: complete, proven, counted, the same as low ones. */
START_TEST(wide_lids)
{
	struct graph *g = fabric_make("ft2 6 4 4", 0, 1, arena);
	struct lids low = fabric_lids(g, 2, 0, arena), high = { 0 };
	struct lid_memory *m = arena_array(arena, g->n_end_ports, sizeof(*m));
	struct lids_in in = { .g = g, .lmc = 2, .max_lid = 0x30000, .memory = m };
	const uint32_t up = 0x20000;
	const struct lanes lanes = { .n = 1 };
	struct load few, more;
	struct disjoint d;
	struct paths paths;
	struct proof p;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		m[i].guid = g->ports[g->by_guid[i]].guid;
		m[i].range = low.of[g->by_guid[i]];
		m[i].range.base += up;
	}
	in.n_memory = g->n_end_ports;
	ck_assert_int_eq(lids_assign(&in, arena, NULL, &high, NULL, NULL), E_OK);
	ck_assert_uint_eq(high.top, low.top + up);

	struct lft a = route("shortestpath", g, &low), b = route("shortestpath", g, &high);

	for (uint32_t s = 0; s < g->n_switches; s++) {
		ck_assert(!memcmp(lft_row(&a, s), lft_row(&b, s) + up, low.top + 1));
	}
	ck_assert_int_eq(proof_run(g, &high, &b, &lanes, arena, &p), E_OK);
	ck_assert(proof_passed(&p, false));
	ck_assert_int_eq(load_build(g, &low, &a, arena, &few), E_OK);
	ck_assert_int_eq(paths_load_build(g, &high, &b, &lanes, arena, &paths, &more),
	                 E_OK);
	ck_assert(!memcmp(few.all, more.all, g->n_adj * sizeof(*few.all)));
	ck_assert_uint_eq(paths.n_lids, high.top + 1);
	ck_assert_uint_ne(paths.rows[(size_t)paths.n_lids - 1].hops, 0);
	ck_assert_int_eq(disjoint_count(g, &high, &b, &d), E_OK);
	ck_assert_uint_eq(d.level[DISJOINT_SWITCH].least, 4);
}
END_TEST

TEST_SUITE(disjoint)
{
	TCase *t = tcase_create("disjoint");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, count, 0, sizeof(counted) / sizeof(*counted));
	tcase_add_test(t, count_without_routes);
	tcase_add_loop_test(t, dispersion, 0, sizeof(dispersed) / sizeof(*dispersed));
	tcase_add_loop_test(t, unique_routes, 0, 3 * N_SPREADING);
	tcase_add_loop_test(t, a_spine_for_each_lid, 0, N_SPREADING);
	tcase_add_loop_test(t, unequal_cables, 0, N_SPREADING);
	tcase_add_test(t, base_as_without);
	tcase_add_test(t, wide_lids);
	suite_add_tcase(suite, t);
}

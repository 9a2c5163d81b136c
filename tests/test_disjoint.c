/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "conf/option.h"
#include "routing/disjoint.h"
#include "routing/engine.h"
#include "routing/graph.h"
#include "routing/lids.h"
#include "routing/paths.h"
#include "routing/proof.h"
#include "tests/fabric.h"

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
		sum->level[level].sum += n;
		sum->level[level].all += n == 1U << r.lmc;
		if (!sum->pairs || n < sum->level[level].least) {
			sum->level[level].least = n;
		}
	}
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
		ck_assert_uint_eq(one.level[k].sum, want.level[k].sum);
		ck_assert_uint_eq(one.level[k].all, want.level[k].all);
		ck_assert_uint_eq(one.level[k].least, want.level[k].least);
		ck_assert_uint_eq(two.level[k].sum, want.level[k].sum);
		ck_assert_uint_eq(two.level[k].least, want.level[k].least);
	}
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
	{ "sssp", "ft3 16", 0, 2, 4, 4, 4, 1.1, 1.35 },
	{ "sssp", "ft3 16", 0, 3, 8, 8, 8, 1.1, 1.75 },
	{ "sssp", "ft3 16", 0.01, 2, 3, 3, 3, 0, 0 },
	{ "sssp", "director 8 4 2 4 4 2", 0, 2, 2, 2, 2, 0, 0 },
	{ "dfsssp", "ft3 16", 0, 2, 4, 4, 4, 1.1, 1.35 },
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

int main(void)
{
	Suite *s = suite_create("disjoint");
	TCase *t = tcase_create("disjoint");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, count, 0, sizeof(counted) / sizeof(*counted));
	tcase_add_test(t, count_without_routes);
	tcase_add_loop_test(t, dispersion, 0, sizeof(dispersed) / sizeof(*dispersed));
	tcase_add_test(t, base_as_without);
	tcase_add_test(t, wide_lids);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

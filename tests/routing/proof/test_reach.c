/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The closure of a growing dependency graph against struct cdg, which searches: the same
 * dependencies fit, one by one and several at once, also behind what was loaded.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "routing/graph/cdg.h"
#include "routing/proof/reach.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static const char *const fabrics[] = {
	"ft2 4 3 1",     "ft2 2 2 1 70", "torus 3x3 1",
	"hypercube 3 1", "torus 5 1",    "jellyfish 12 4 1",
};
enum { N_FABRICS = sizeof(fabrics) / sizeof(*fabrics), SEEDS = 6, STEPS = 1500 };

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct reach_dep any_dep(const struct graph *g, uint64_t *state)
{
	uint32_t from = random_below(state, g->n_adj), t = g->adj[from].to;
	uint32_t n = g->adj_first[t + 1] - g->adj_first[t];

	return (struct reach_dep){ from, g->adj_first[t] + random_below(state, n) };
}

/* Adds all of them or none, by searching. */
static bool add_all(struct cdg *c, const struct reach_dep *dep, unsigned n)
{
	struct reach_dep added[8];
	unsigned n_added = 0;

	for (unsigned i = 0; i < n; i++) {
		if (cdg_has(c, dep[i].from, dep[i].to)) {
			continue;
		}
		if (!cdg_add(c, dep[i].from, dep[i].to)) {
			while (n_added--) {
				cdg_remove(c, added[n_added].from, added[n_added].to);
			}
			return false;
		}
		added[n_added++] = dep[i];
	}
	return true;
}

static void check_leads(const struct reach *r, struct cdg *c, uint64_t *state)
{
	for (unsigned i = 0; i < 20; i++) {
		struct reach_dep d = any_dep(c->m->g, state);

		ck_assert(cdg_has(c, d.from, d.to) ||
		          cdg_fits(c, d.from, d.to) == !reach_leads(r, d.to, d.from));
		ck_assert(!cdg_has(c, d.from, d.to) || reach_leads(r, d.from, d.to));
	}
}

static void check_fabric(const struct graph *g, uint64_t state)
{
	struct cdg_map m;
	struct cdg c;
	struct reach r, loaded;
	unsigned fitted = 0, refused = 0;

	ck_assert_int_eq(cdg_map_init(&m, g, arena), E_OK);
	ck_assert_int_eq(cdg_init(&c, &m, NULL, arena), E_OK);
	ck_assert_int_eq(reach_init(&r, g->n_adj, arena), E_OK);
	for (unsigned step = 0; step < STEPS; step++) {
		struct reach_dep dep[8];
		unsigned n = 1 + random_below(&state, 8);
		bool fits;

		for (unsigned i = 0; i < n; i++) {
			dep[i] = any_dep(g, &state);
		}
		fits = reach_fits(&r, dep, n);
		ck_assert_int_eq(add_all(&c, dep, n), fits);
		for (unsigned i = 0; fits && i < n; i++) {
			reach_add(&r, dep[i].from, dep[i].to);
		}
		fitted += fits;
		refused += !fits;
		check_leads(&r, &c, &state);
	}
	ck_assert(fitted && refused);
	ck_assert_int_eq(reach_init(&loaded, g->n_adj, arena), E_OK);
	reach_load(&loaded, &c);
	ck_assert_mem_eq(loaded.after, r.after, r.n * r.words * sizeof(*r.after));
	ck_assert_mem_eq(loaded.before, r.before, r.n * r.words * sizeof(*r.before));
}

START_TEST(against_search)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		check_fabric(fabric_make(fabrics[_i], 0, 1, arena), seed * 7919 + 1);
	}
}
END_TEST

TEST_SUITE(reach)
{
	TCase *t = tcase_create("reach");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, against_search, 0, N_FABRICS);
	suite_add_tcase(suite, t);
}

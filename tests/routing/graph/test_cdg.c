/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Dependency graphs that stay acyclic: random dependencies, added and taken away, against
 * a depth-first search over a plain matrix.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "routing/graph/cdg.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static const char *const fabrics[] = {
	"ft2 4 3 1",     "ft2 2 2 1 70", "torus 3x3 1",
	"hypercube 3 1", "torus 5 1",    "jellyfish 12 4 1",
};
enum { N_FABRICS = sizeof(fabrics) / sizeof(*fabrics), SEEDS = 6, STEPS = 4000 };

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* The same by brute force. */
struct plain {
	const struct graph *g;
	bool *has; /* [n][n] */
	bool *seen;
};

static bool reaches(struct plain *p, uint32_t from, uint32_t to)
{
	uint32_t n = p->g->n_adj;

	if (from == to) {
		return true;
	}
	p->seen[from] = true;
	for (uint32_t x = 0; x < n; x++) {
		if (p->has[(size_t)from * n + x] && !p->seen[x] && reaches(p, x, to)) {
			return true;
		}
	}
	return false;
}

static bool closes(struct plain *p, uint32_t from, uint32_t to)
{
	memset(p->seen, 0, p->g->n_adj);
	return reaches(p, to, from);
}

static void check_order(const struct cdg *c, const struct plain *p)
{
	uint32_t n = p->g->n_adj;

	for (uint32_t x = 0; x < n; x++) {
		ck_assert_uint_eq(c->at[c->ord[x]], x);
		for (uint32_t y = 0; y < n; y++) {
			ck_assert(!p->has[(size_t)x * n + y] || c->ord[x] < c->ord[y]);
		}
	}
}

static void check_bits(const struct cdg *c, const struct plain *p)
{
	const struct graph *g = p->g;

	for (uint32_t x = 0; x < g->n_adj; x++) {
		uint32_t t = g->adj[x].to;

		for (uint32_t y = g->adj_first[t]; y < g->adj_first[t + 1]; y++) {
			ck_assert(cdg_has(c, x, y) == p->has[(size_t)x * g->n_adj + y]);
		}
	}
}

/* One random step: adds three times out of four, else removes. */
static void step(struct cdg *c, struct plain *p, uint64_t *state, unsigned *refused)
{
	const struct graph *g = p->g;
	uint32_t from = random_below(state, g->n_adj), t = g->adj[from].to;
	uint32_t to = g->adj_first[t] +
	              random_below(state, g->adj_first[t + 1] - g->adj_first[t]);
	bool *cell = &p->has[(size_t)from * g->n_adj + to];

	if (random_below(state, 4) == 0) {
		cdg_remove(c, from, to);
		*cell = false;
	} else if (closes(p, from, to)) {
		ck_assert(!cdg_fits(c, from, to));
		ck_assert(!cdg_add(c, from, to));
		++*refused;
	} else {
		ck_assert(cdg_fits(c, from, to));
		ck_assert(cdg_add(c, from, to));
		*cell = true;
	}
}

START_TEST(against_brute_force)
{
	const char *command = fabrics[_i % N_FABRICS];
	uint64_t seed = (uint64_t)_i / N_FABRICS + 1, state = seed * 77;
	struct graph *g = fabric_make(command, 0, 1, arena);
	struct plain p = { .g = g,
		           .has = arena_array(arena, g->n_adj, g->n_adj),
		           .seen = arena_alloc(arena, g->n_adj) };
	uint32_t *order = seed % 2 ? fabric_shuffle(g->n_adj, &state, arena) : NULL;
	unsigned refused = 0, steps = (unsigned)test_seeds(STEPS);
	struct cdg_map m;
	struct cdg c;

	ck_assert_int_eq(cdg_map_init(&m, g, arena), E_OK);
	ck_assert_int_eq(cdg_init(&c, &m, order, arena), E_OK);
	for (unsigned i = 0; i < steps; i++) {
		step(&c, &p, &state, &refused);
		if (i % 200 == 0) {
			check_order(&c, &p);
		}
	}
	check_bits(&c, &p);
	ck_assert_msg(refused, "%s, seed %d: no cycle ever closed", command, (int)seed);
	cdg_clear(&c);
	memset(p.has, 0, (size_t)g->n_adj * g->n_adj);
	check_bits(&c, &p);
}
END_TEST

/* All at once: settles exactly when no cycle closes, and goes on from there. */
START_TEST(noted)
{
	const char *command = fabrics[_i % N_FABRICS];
	uint64_t state = (uint64_t)_i * 31 + 5;
	struct graph *g = fabric_make(command, 0, 1, arena);
	struct plain p = { .g = g,
		           .has = arena_array(arena, g->n_adj, g->n_adj),
		           .seen = arena_alloc(arena, g->n_adj) };
	unsigned refused = 0, steps = (unsigned)test_seeds(STEPS);
	struct cdg_map m;
	struct cdg c, all;

	ck_assert_int_eq(cdg_map_init(&m, g, arena), E_OK);
	ck_assert_int_eq(cdg_init(&c, &m, NULL, arena), E_OK);
	ck_assert_int_eq(cdg_init(&all, &m, NULL, arena), E_OK);
	for (unsigned i = 0; i < steps; i++) {
		step(&c, &p, &state, &refused);
	}
	for (uint32_t x = 0; x < g->n_adj; x++) {
		for (uint32_t y = 0; y < g->n_adj; y++) {
			if (p.has[(size_t)x * g->n_adj + y]) {
				cdg_note(&all, x, y);
			}
		}
	}
	ck_assert(cdg_settle(&all));
	check_order(&all, &p);
	check_bits(&all, &p);
	for (unsigned i = 0; i < steps / 4; i++) {
		step(&all, &p, &state, &refused);
	}
	check_order(&all, &p);
	for (uint32_t x = 0; x < g->n_adj; x++) {
		uint32_t t = g->adj[x].to;

		for (uint32_t y = g->adj_first[t]; y < g->adj_first[t + 1]; y++) {
			cdg_note(&all, x, y); /* there and back again, too */
		}
	}
	ck_assert(!cdg_settle(&all));
	memset(p.has, 0, (size_t)g->n_adj * g->n_adj);
	check_bits(&all, &p);
}
END_TEST

START_TEST(map)
{
	struct graph *g = fabric_make(fabrics[_i], 0, 1, arena);
	struct cdg_map m;

	ck_assert_int_eq(cdg_map_init(&m, g, arena), E_OK);
	ck_assert_uint_eq(m.n, g->n_adj);
	for (uint32_t c = 0; c < m.n; c++) {
		const struct sw_link *l = &g->adj[c], *b = &g->adj[m.back[c]];

		ck_assert_uint_eq(m.back[m.back[c]], c);
		ck_assert_uint_eq(m.from[c], b->to);
		ck_assert_uint_eq(l->to, m.from[m.back[c]]);
		ck_assert_uint_eq(l->port, b->to_port);
		ck_assert_uint_eq(l->to_port, b->port);
	}
}
END_TEST

TEST_SUITE(cdg)
{
	TCase *t = tcase_create("cdg");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, against_brute_force, 0, N_FABRICS * test_seeds(SEEDS));
	tcase_add_loop_test(t, noted, 0, N_FABRICS * test_seeds(SEEDS));
	tcase_add_loop_test(t, map, 0, N_FABRICS);
	suite_add_tcase(suite, t);
}

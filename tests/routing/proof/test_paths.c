/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Path rows and load against a walk of every pair on its own.
 */
#include <check.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths.h"
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

static struct lft minhop(const struct graph *g, const struct lids *l)
{
	struct route_in in = { .g = g, .lids = l };
	struct route_out *out = arena_alloc(arena, sizeof(*out));

	ck_assert_int_eq(engine_find("minhop")->route(&in, arena, out), E_OK);
	return out->lft;
}

/* Ports of many kinds. */
static void vary_ports(struct graph *g, uint64_t seed)
{
	static const uint8_t widths[] = { WIDTH_1X, WIDTH_4X, WIDTH_8X, WIDTH_12X,
		                          WIDTH_2X };

	for (uint32_t i = 0; i < g->n_ports; i++) {
		g->ports[i].width = widths[random_below(&seed, 5)];
		g->ports[i].speed = (uint8_t)random_below(&seed, SPEED_COUNT);
		g->ports[i].mtu = (uint8_t)(1 + random_below(&seed, 5));
	}
}

static void pass_port(const struct graph *g, uint32_t port, struct path_row *row)
{
	const struct port *p = &g->ports[port];
	uint8_t rate = link_rate(p->width, p->speed);

	row->mtu = p->mtu < row->mtu ? p->mtu : row->mtu;
	if (!row->rate || rate_speed(rate) < rate_speed(row->rate)) {
		row->rate = rate;
	}
}

/* One path by walking; counts it on the links it passes. mtu 0: no route. */
static struct path_row walk(const struct graph *g, const struct lids *l,
                            const struct lft *lft, uint32_t s, uint32_t lid,
                            uint32_t *load)
{
	struct path_row row = { .mtu = 7 };
	uint32_t owner = l->owner[lid];

	for (row.hops = 1; row.hops < 100; row.hops++) {
		uint8_t p = lft_row(lft, s)[lid];
		uint32_t out = graph_port(g, g->switches[s], p);

		if (out == owner) {
			return row;
		}
		if (out == GRAPH_NONE || p == 0 || g->ports[out].peer == GRAPH_NONE) {
			break;
		}
		pass_port(g, out, &row);
		pass_port(g, g->ports[out].peer, &row);
		if (g->ports[out].peer == owner) {
			return row;
		}
		for (uint32_t i = g->adj_first[s]; load && i < g->adj_first[s + 1]; i++) {
			load[i] += g->adj[i].port == p;
		}
		s = g->nodes[g->ports[g->ports[out].peer].node].sw;
		if (s == GRAPH_NONE) {
			break;
		}
	}
	return (struct path_row){ .mtu = 0 };
}

static const char *const fabrics[] = { "ft2 4 3 2",    "ft3 4",
	                               "torus 3x3 2",  "mesh 9 1",
	                               "mesh 2x2x2 2", "ft3 6",
	                               "ft2 8 4 2 2",  "director 4 4 2 2 2 2" };

enum { N_FABRICS = sizeof(fabrics) / sizeof(*fabrics), ROUNDS = 6 };

static void check_rows(const struct graph *g, const struct lids *l, const struct lft *lft,
                       const struct lanes *lanes, const struct paths *paths)
{
	uint32_t row = 0;

	ck_assert_uint_eq(paths->n_lids, l->top + 1);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		bool in_rows = g->host_first[s] != g->host_first[s + 1] ||
		               (lanes && lanes->rows);

		if (!in_rows) {
			continue;
		}
		ck_assert_uint_eq(paths->source[row], s);
		for (uint32_t lid = 0; lid <= l->top; lid++) {
			const struct path_row *is =
				&paths->rows[(size_t)row * paths->n_lids + lid];
			struct path_row want = { .mtu = 0 };

			if (l->owner[lid] != GRAPH_NONE) {
				want = walk(g, l, lft, s, lid, NULL);
			}
			ck_assert_uint_eq(is->mtu, want.mtu);
			if (want.mtu) {
				ck_assert_uint_eq(is->hops, want.hops);
				ck_assert_uint_eq(is->lane, lane_of(lanes, s, lid));
				if (want.rate) { /* some cable was passed */
					ck_assert_uint_eq(rate_speed(is->rate),
					                  rate_speed(want.rate));
				} else {
					ck_assert_uint_ne(is->rate, 0);
				}
			}
		}
		row++;
	}
	ck_assert_uint_eq(paths->n_sources, row);
}

static int cmp_u32(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	return (a > b) - (a < b);
}

static void check_load(const struct graph *g, const struct lids *l, const struct lft *lft,
                       const struct load *load)
{
	uint32_t *all = arena_array(arena, g->n_adj, sizeof(*all));
	uint32_t *base = arena_array(arena, g->n_adj, sizeof(*base));
	uint32_t n = g->host_first[g->n_switches];
	double sum = 0;

	for (uint32_t h = 0; h < n; h++) {
		uint32_t s = graph_switch_of(g, g->hosts[h]);

		for (uint32_t lid = 1; lid <= l->top; lid++) {
			uint32_t o = l->owner[lid];

			if (o == GRAPH_NONE || o == g->hosts[h] || !g->ports[o].num ||
			    !walk(g, l, lft, s, lid, NULL).mtu) {
				continue;
			}
			walk(g, l, lft, s, lid, all);
			if (l->of[o].base == lid) {
				walk(g, l, lft, s, lid, base);
			}
		}
	}
	ck_assert_mem_eq(all, load->all, g->n_adj * sizeof(*all));
	ck_assert_mem_eq(base, load->base, g->n_adj * sizeof(*base));
	qsort(all, g->n_adj, sizeof(*all), cmp_u32);
	for (uint32_t i = 0; i < g->n_adj; i++) {
		sum += all[i];
	}
	ck_assert_uint_eq(load->max, all[g->n_adj - 1]);
	ck_assert(load->mean > sum / g->n_adj - 1e-6 &&
	          load->mean < sum / g->n_adj + 1e-6);
	/* at most one in a hundred links carries more */
	for (uint32_t i = 0; i < g->n_adj; i++) {
		ck_assert(all[i] <= load->p99 || g->n_adj - i <= g->n_adj / 100.0);
	}
	ck_assert_uint_le(load->p99, load->max);
}

START_TEST(like_the_walk)
{
	uint64_t seed = (uint64_t)_i + 1;
	struct graph *g = fabric_make(fabrics[_i % N_FABRICS], _i / N_FABRICS % 2 * 0.1,
	                              (uint32_t)_i, arena);
	struct lids l = fabric_lids(g, (uint32_t)_i % 3, 0, arena);
	struct lft lft = minhop(g, &l);
	struct lanes lanes = { .stride = lft.stride, .n = _i % 2 ? 1 : 4 };
	struct paths paths, again;
	struct load load, load_again;

	vary_ports(g, seed);
	lanes.rows = lanes.n > 1 ? arena_array(arena, lft.n_switches, lft.stride) : NULL;
	for (size_t i = 0; lanes.rows && i < lft.n_switches * lft.stride; i++) {
		lanes.rows[i] = (uint8_t)random_below(&seed, 4);
	}
	for (unsigned i = 0; i < (unsigned)_i / N_FABRICS % 4; i++) { /* some holes */
		lft_row(&lft,
		        random_below(&seed,
		                     g->n_switches))[random_below(&seed, lft.n_lids)] =
			LFT_NO_ROUTE;
	}
#ifdef _OPENMP
	omp_set_num_threads(1 + _i % 3);
#endif
	ck_assert_int_eq(paths_load_build(g, &l, &lft, &lanes, arena, &paths, NULL),
	                 E_OK);
	check_rows(g, &l, &lft, &lanes, &paths);
	ck_assert_int_eq(load_build(g, &l, &lft, arena, &load), E_OK);
	check_load(g, &l, &lft, &load);
#ifdef _OPENMP
	omp_set_num_threads(2);
#endif
	ck_assert_int_eq(
		paths_load_build(g, &l, &lft, &lanes, arena, &again, &load_again), E_OK);
	ck_assert_mem_eq(load.all, load_again.all, g->n_adj * sizeof(*load.all));
	ck_assert_mem_eq(load.base, load_again.base, g->n_adj * sizeof(*load.base));
	ck_assert_uint_eq(load.p99, load_again.p99);
	ck_assert_mem_eq(paths.rows, again.rows,
	                 (size_t)paths.n_sources * paths.n_lids * sizeof(*paths.rows));
}
END_TEST

/* The slowest cable decides, the last one to the destination included. */
START_TEST(slowest_cable_wins)
{
	struct graph *g = fabric_make("mesh 2 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft lft = minhop(g, &l);
	struct paths paths;

	for (uint32_t i = 0; i < g->n_ports; i++) {
		g->ports[i].width = WIDTH_4X;
		g->ports[i].speed = SPEED_HDR;
		g->ports[i].mtu = 5;
	}
	g->ports[g->hosts[1]].speed = SPEED_FDR10; /* the last cable */
	g->ports[g->ports[g->hosts[1]].peer].mtu = 3;
	ck_assert_int_eq(paths_load_build(g, &l, &lft, NULL, arena, &paths, NULL), E_OK);
	ck_assert_uint_eq(paths.n_sources, 2);
	const struct path_row *to_1 = &paths.rows[l.of[g->hosts[1]].base];
	const struct path_row *to_0 = &paths.rows[paths.n_lids + l.of[g->hosts[0]].base];

	ck_assert_uint_eq(to_1->rate, link_rate(WIDTH_4X, SPEED_FDR10));
	ck_assert_uint_eq(to_1->mtu, 3);
	ck_assert_uint_eq(to_1->hops, 2);
	ck_assert_uint_eq(to_1->lane, 0);
	ck_assert_uint_eq(to_0->rate, link_rate(WIDTH_4X, SPEED_HDR));
	ck_assert_uint_eq(to_0->mtu, 5);
}
END_TEST

START_TEST(no_switches)
{
	struct graph *g = graph_new(arena);
	struct diags *d = arena_alloc(arena, sizeof(*d));
	uint32_t a, b;
	struct lids l;
	struct lft lft;
	struct paths paths;
	struct load load;

	diags_init(d, arena);
	ck_assert_int_eq(graph_add_node(g, NODE_CA, 1, 1, "a", NULL, &a), E_OK);
	ck_assert_int_eq(graph_add_node(g, NODE_CA, 9, 1, "b", NULL, &b), E_OK);
	ck_assert_int_eq(graph_connect(g, graph_port(g, a, 1), graph_port(g, b, 1)),
	                 E_OK);
	ck_assert_int_eq(graph_freeze(g, d), E_OK);
	l = fabric_lids(g, 0, 0, arena);
	lft = minhop(g, &l);
	ck_assert_int_eq(paths_load_build(g, &l, &lft, NULL, arena, &paths, NULL), E_OK);
	ck_assert_uint_eq(paths.n_sources, 0);
	ck_assert_int_eq(load_build(g, &l, &lft, arena, &load), E_OK);
	ck_assert_uint_eq(load.max, 0);
}
END_TEST

TEST_SUITE(paths)
{
	TCase *t = tcase_create("paths");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, like_the_walk, 0, N_FABRICS * ROUNDS);
	tcase_add_test(t, slowest_cable_wins);
	tcase_add_test(t, no_switches);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/topogen/topogen.h"
#include "tests/lib/graph_check.h"
#include "tests/lib/suite.h"
#include "tests/lib/words.h"

static struct arena *arena;
static struct diags diags;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
}

static void teardown(void)
{
	arena_free(arena);
}

/* Splits "ft2 4 2 2" and makes it. */
static int make(const char *command, const struct topogen_opts *o,
                struct graph **ret_graph)
{
	char *argv[8];
	int argc = words_split(command, arena, argv, 8);

	return topogen(argv[0], argc - 1, argv + 1, o, arena, &diags, ret_graph);
}

/* Sizes by the formulas of each kind. */
static const struct {
	const char *command;
	uint32_t switches, hosts, isl, max_port;
} sizes[] = {
	{ "ft2 36 18 18", 54, 648, 648, 36 },
	{ "ft2 4 3 2 5", 6, 12, 40, 20 },
	{ "ft2 1 1 1", 2, 1, 1, 2 },
	{ "ft3 2", 5, 2, 4, 2 },
	{ "ft3 4", 20, 16, 32, 4 },
	{ "ft3 12", 180, 432, 864, 12 },
	{ "mesh 5 2", 5, 10, 4, 4 },
	{ "mesh 4x4 1", 16, 16, 24, 5 },
	{ "mesh 3x3x3 2", 27, 54, 54, 8 },
	{ "torus 5 0", 5, 0, 5, 2 },
	{ "torus 2x2 1", 4, 4, 4, 5 },
	{ "torus 1x1x1x1 3", 1, 3, 0, 11 },
	{ "torus 4x5x6 1", 120, 120, 360, 7 },
	{ "torus 3x3x3x3 1", 81, 81, 324, 9 },
	{ "ft2 6 12 4", 10, 72, 24, 16 },
	{ "tree3 4 2 2 2 2", 20, 16, 32, 4 },
	{ "tree3 6 4 9 3 2", 48, 216, 108, 12 },
	{ "tree3 1 1 1 1 1", 3, 1, 2, 2 },
	{ "director 12 6 2 4 3", 26, 72, 48, 8 },
	{ "director 36 18 18 2 1 1", 90, 648, 684, 36 },
	{ "director 5 2 1 3 2 4", 10, 10, 26, 9 },
	{ "director 5 2 1 3 2 4 3", 10, 19, 26, 12 },
	{ "hypercube 1 3", 2, 6, 1, 4 },
	{ "hypercube 5 2", 32, 64, 80, 7 },
	{ "hypercube 8 0", 256, 0, 1024, 8 },
	{ "dragonfly 4 8 4", 264, 1056, 1452, 15 },
	{ "dragonfly 2 4 2 3", 12, 24, 30, 7 },
	{ "dragonfly 1 1 1", 2, 2, 1, 2 },
	{ "dragonfly 0 3 2 4", 12, 0, 24, 4 },
	{ "jellyfish 64 5 3", 64, 192, 160, 8 },
	{ "jellyfish 7 6 1", 7, 7, 21, 7 },
	{ "jellyfish 8 6 1", 8, 8, 24, 7 },
	{ "jellyfish 9 2 1", 9, 9, 9, 3 },
	{ "jellyfish 2 1 0", 2, 0, 1, 1 },
};

START_TEST(sizes_follow_from_arguments)
{
	struct graph *g = NULL;
	uint32_t *part, n;

	ck_assert_int_eq(make(sizes[_i].command, NULL, &g), E_OK);
	graph_check(g);
	ck_assert_uint_eq(g->n_switches, sizes[_i].switches);
	ck_assert_uint_eq(g->n_hosts, sizes[_i].hosts);
	ck_assert_uint_eq(g->n_adj, 2 * sizes[_i].isl);
	ck_assert_uint_eq(g->max_port, sizes[_i].max_port);
	ck_assert_int_eq(graph_check_components(g, arena, &part, &n), E_OK);
	ck_assert_uint_eq(n, 1);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		ck_assert(p->peer == GRAPH_NONE ||
		          (p->speed == SPEED_EDR && p->width == WIDTH_4X && p->mtu == 5));
	}
}
END_TEST

static const struct {
	const char *command;
	int ret;
	const char *text;
} bad[] = {
	{ "ring 4", E_UNKNOWN,
	  "no topology kind 'ring', expected one of ft2 ft3 tree3 director mesh torus hypercube dragonfly jellyfish" },
	{ "tree3 4 4 4 4", E_SYNTAX, "expected PODS EDGES HOSTS AGGS CORES" },
	{ "tree3 4 4 4 4 0", E_SYNTAX, "CORES is '0'" },
	{ "tree3 2 200 2 2 60", E_RANGE, "260 ports" },
	{ "director 4 4 1 2 x", E_SYNTAX, "SPINES is 'x'" },
	{ "director 4 4 1 2 2 0", E_SYNTAX, "CABLES is '0'" },
	{ "director 1000 1 1 2 2", E_RANGE, "502 ports" },
	{ "director 1000000000 1 1 2 2", E_SYNTAX, "EDGES is '1000000000'" },
	{ "hypercube 21 1", E_SYNTAX, "N is '21'" },
	{ "hypercube 0 1", E_SYNTAX, "N is '0'" },
	{ "hypercube 4 251", E_RANGE, "255 ports" },
	{ "dragonfly 1 2 2 6", E_SYNTAX, "G is '6', expected a number from 2 to 5" },
	{ "dragonfly 1 2", E_SYNTAX, "P A H [G]" },
	{ "dragonfly 200 50 50", E_RANGE, "299 ports" },
	{ "jellyfish 5 3 1", E_RANGE, "N times R even" },
	{ "jellyfish 5 5 1", E_RANGE, "R must be below N" },
	{ "jellyfish 5 2 253", E_RANGE, "255 ports" },
	{ "ft2 4 4", E_SYNTAX, "LEAVES HOSTS SPINES [CABLES]" },
	{ "ft2 4 4 x", E_SYNTAX, "SPINES is 'x'" },
	{ "ft2 0 4 1", E_SYNTAX, "LEAVES is '0'" },
	{ "ft2 4 200 60", E_RANGE, "260 ports" },
	{ "ft3 5", E_RANGE, "even" },
	{ "ft3 300", E_SYNTAX, "K is '300'" },
	{ "ft3 254", E_RANGE, "hosts" },
	{ "ft3", E_SYNTAX, "0 arguments" },
	{ "ft3 4 4", E_SYNTAX, "2 arguments" },
	{ "ft2 4 4 2 1 1", E_SYNTAX, "5 arguments" },
	{ "torus 4x 1", E_SYNTAX, "4x4x4" },
	{ "torus 4xx4 1", E_SYNTAX, "4x4x4" },
	{ "torus 2x2x2x2x2 1", E_SYNTAX, "4x4x4" },
	{ "torus 4x0 1", E_SYNTAX, "dimension is '0'" },
	{ "torus 4x4 252", E_RANGE, "256 ports" },
	{ "mesh 1000x1000x1000x1000 1", E_RANGE, "at most" },
	{ "mesh 4x4", E_SYNTAX, "AxBxC HOSTS" },
	{ "mesh 4x4 -1", E_SYNTAX, "'-1'" },
};

START_TEST(bad_arguments_are_named)
{
	struct graph *g = NULL;

	ck_assert_int_eq(make(bad[_i].command, NULL, &g), bad[_i].ret);
	ck_assert_ptr_null(g);
	ck_assert_msg(strstr(diags_first_error(&diags), bad[_i].text), "'%s' lacks '%s'",
	              diags_first_error(&diags), bad[_i].text);
}
END_TEST

/* A cable "GUID GUID port port" of the fabric, as positions say. */
static void expect_cable(const struct graph *g, uint64_t a, unsigned pa, uint64_t b,
                         unsigned pb)
{
	uint32_t x = graph_port(g, graph_node_by_guid(g, a), pa);
	uint32_t y = graph_port(g, graph_node_by_guid(g, b), pb);

	ck_assert_uint_ne(x, GRAPH_NONE);
	ck_assert_uint_eq(g->ports[x].peer, y);
}

static uint64_t sw(unsigned i)
{
	return 0x0002c90300000000 + ((uint64_t)i << 12);
}

static uint64_t host(unsigned i)
{
	return 0x0002c90400000000 + ((uint64_t)i << 12);
}

START_TEST(positions_and_names)
{
	struct graph *g;

	ck_assert_int_eq(make("ft2 36 18 18", NULL, &g), E_OK);
	expect_cable(g, host(0), 1, sw(0), 1);
	expect_cable(g, host(647), 1, sw(35), 18);
	expect_cable(g, sw(35), 19 + 17, sw(36 + 17), 36);
	const struct node *n = &g->nodes[graph_node_by_guid(g, host(41))];
	ck_assert_str_eq(n->id, "h00041");
	ck_assert_str_eq(n->description, "node042");
	ck_assert_uint_eq(g->ports[g->sm_port].guid, host(0) + 1);
	ck_assert_str_eq(g->nodes[graph_node_by_guid(g, sw(40))].id, "spine-0004");

	ck_assert_int_eq(make("ft3 4", NULL, &g), E_OK);
	expect_cable(g, host(15), 1, sw(7), 2);
	expect_cable(g, sw(2), 3, sw(10), 1);  /* edge-001-000 to agg-001-000 */
	expect_cable(g, sw(11), 4, sw(19), 2); /* agg-001-001 to core-001-001 */
	ck_assert_str_eq(g->nodes[graph_node_by_guid(g, sw(11))].id, "agg-001-001");

	ck_assert_int_eq(make("torus 5 0", NULL, &g), E_OK);
	ck_assert_uint_eq(g->ports[g->sm_port].guid, sw(0));

	ck_assert_int_eq(make("torus 3x4 1", NULL, &g), E_OK);
	expect_cable(g, sw(3), 3, sw(0), 4); /* (0,3) +y closes to (0,0) */
	expect_cable(g, sw(8), 1, sw(0), 2); /* (2,0) +x closes to (0,0) */
	expect_cable(g, host(5), 1, sw(5), 5);
	ck_assert_str_eq(g->nodes[graph_node_by_guid(g, sw(7))].id, "t-001-003");
}
END_TEST

START_TEST(positions_of_trees)
{
	struct graph *g, *same;

	ck_assert_int_eq(make("ft3 6", NULL, &g), E_OK);
	ck_assert_int_eq(make("tree3 6 3 3 3 3", NULL, &same), E_OK);
	graph_check_same(g, same);

	ck_assert_int_eq(make("tree3 4 3 5 2 1", NULL, &g), E_OK);
	expect_cable(g, host(59), 1, sw(11), 5);
	expect_cable(g, sw(11), 7, sw(12 + 7), 3); /* edge-003-002 to agg-003-001 */
	expect_cable(g, sw(12 + 7), 4, sw(21), 4); /* agg-003-001 to core-001-000 */

	ck_assert_int_eq(make("director 5 2 2 3 2 4", NULL, &g), E_OK);
	ck_assert_str_eq(g->nodes[g->switches[4]].id, "edge-0004");
	ck_assert_str_eq(g->nodes[g->switches[12]].id, "director-001-leaf-002");
	ck_assert_str_eq(g->nodes[g->switches[14]].id, "director-001-spine-001");
	expect_cable(g, sw(4), 2 + 4 + 4, sw(10 + 19 % 3), 19 / 3 + 1);
	expect_cable(g, sw(12), 7 + 2, sw(14), 3);
	for (uint32_t i = 0; i < g->n_switches; i++) {
		ck_assert_uint_eq(g->nodes[g->switches[i]].system_image_guid,
		                  i < 5 ? 0 : sw(i < 10 ? 5 : 10));
	}
}
END_TEST

START_TEST(positions_of_other_kinds)
{
	struct graph *g;

	ck_assert_int_eq(make("hypercube 4 2", NULL, &g), E_OK);
	expect_cable(g, sw(5), 2, sw(7), 2);
	expect_cable(g, sw(0), 4, sw(8), 4);
	expect_cable(g, host(31), 1, sw(15), 6);
	ck_assert_str_eq(g->nodes[g->switches[13]].id, "hc-00013");

	/* global port 2 of group 1 leads to group 3, whose port 1 leads to group 1 */
	ck_assert_int_eq(make("dragonfly 2 4 2", NULL, &g), E_OK);
	expect_cable(g, host(71), 1, sw(35), 2);
	expect_cable(g, sw(4), 3, sw(5), 3);
	expect_cable(g, sw(5), 4, sw(6), 4);
	expect_cable(g, sw(4), 5, sw(7), 3);
	expect_cable(g, sw(1 * 4 + 2 / 2), 6 + 2 % 2, sw(3 * 4 + 0), 7);
	ck_assert_str_eq(g->nodes[g->switches[35]].id, "df-0008-003");
}
END_TEST

START_TEST(random_kinds_follow_the_seed)
{
	struct topogen_opts o = { .seed = 1 };
	struct graph *first = NULL, *g;

	for (o.seed = 1; o.seed <= 20; o.seed++) {
		ck_assert_int_eq(make("jellyfish 30 4 1", &o, &g), E_OK);
		graph_check(g);
		for (uint32_t s = 0; s < g->n_switches; s++) {
			ck_assert_uint_eq(g->adj_first[s + 1] - g->adj_first[s], 4);
			for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
				for (uint32_t k = g->adj_first[s]; k < i; k++) {
					ck_assert_uint_ne(g->adj[k].to, g->adj[i].to);
				}
			}
		}
		if (first) {
			ck_assert_int_ne(
				memcmp(first->adj, g->adj, g->n_adj * sizeof(*g->adj)),
				0);
		}
		first = first ? first : g;
	}
	o.seed = 1;
	ck_assert_int_eq(make("jellyfish 30 4 1", &o, &g), E_OK);
	graph_check_same(first, g);
}
END_TEST

START_TEST(parts_are_told)
{
	struct graph *g;
	uint32_t *part, n;

	ck_assert_int_eq(make("jellyfish 4 1 0", NULL, &g), E_OK);
	ck_assert_int_eq(graph_check_components(g, arena, &part, &n), E_OK);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(diags.n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(diags.items[0].text, "several parts"));
}
END_TEST

static const char *const failing[] = { "ft2 8 4 4 2",     "ft3 6",
	                               "torus 4x4x4 1",   "mesh 6x6 2",
	                               "tree3 4 4 6 2 3", "director 12 4 2 3 2",
	                               "hypercube 5 1",   "dragonfly 2 4 2",
	                               "jellyfish 40 5 1" };

enum { N_FAILING = sizeof(failing) / sizeof(failing[0]), FRACTIONS = 5 };

START_TEST(failed_links_leave_one_part)
{
	static const double fractions[FRACTIONS] = { 0.01, 0.1, 0.3, 0.6, 1.0 };
	struct topogen_opts o = { .fail = fractions[_i % FRACTIONS] };
	const char *command = failing[_i / FRACTIONS];
	struct graph *whole, *g, *again;

	ck_assert_int_eq(make(command, NULL, &whole), E_OK);
	for (o.seed = 1; o.seed <= 5; o.seed++) {
		uint32_t *part, n;
		ck_assert_int_eq(make(command, &o, &g), E_OK);
		graph_check(g);
		ck_assert_int_eq(graph_check_components(g, arena, &part, &n), E_OK);
		ck_assert_msg(n == 1, "%s, fail %g, seed %u: %u parts", command, o.fail,
		              o.seed, n);

		uint32_t isl = whole->n_adj / 2, left = g->n_adj / 2;
		uint32_t want = (uint32_t)(o.fail * isl + 0.5),
			 most = isl - (g->n_switches - 1);
		ck_assert_uint_eq(isl - left, want < most ? want : most);
		ck_assert_int_eq(make(command, &o, &again), E_OK);
		graph_check_same(g, again);
	}
}
END_TEST

/* Halves are rounded up, on every machine: 0.15 and 0.35 are a bit less as doubles. */
static const struct {
	const char *command;
	double fail;
	uint32_t cables, failed;
} halves[] = {
	{ "ft2 5 2 2", 0.15, 10, 2 },
	{ "ft2 5 2 2", 0.35, 10, 4 },
	{ "ft2 25 2 15", 0.036, 375, 14 },
};

START_TEST(half_a_cable_fails)
{
	struct topogen_opts o = { .fail = halves[_i].fail, .seed = 1 };
	struct graph *whole, *g;

	ck_assert_int_eq(make(halves[_i].command, NULL, &whole), E_OK);
	ck_assert_uint_eq(whole->n_adj / 2, halves[_i].cables);
	ck_assert_int_eq(make(halves[_i].command, &o, &g), E_OK);
	ck_assert_uint_eq((whole->n_adj - g->n_adj) / 2, halves[_i].failed);
}
END_TEST

START_TEST(seeds_differ)
{
	struct topogen_opts one = { .fail = 0.2, .seed = 1 }, two = { .fail = 0.2, .seed = 2 };
	struct graph *a, *b;

	ck_assert_int_eq(make("ft3 6", &one, &a), E_OK);
	ck_assert_int_eq(make("ft3 6", &two, &b), E_OK);
	ck_assert_uint_eq(a->n_adj, b->n_adj);
	ck_assert_int_ne(memcmp(a->adj, b->adj, a->n_adj * sizeof(*a->adj)), 0);
}
END_TEST

START_TEST(bad_fraction)
{
	struct topogen_opts o[] = { { .fail = -0.1, .seed = 1 },
		                    { .fail = 1.1, .seed = 1 },
		                    { .fail = 0.0 / 0.0, .seed = 1 } };
	struct graph *g = NULL;

	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(make("ft3 4", &o[i], &g), E_RANGE);
		ck_assert_ptr_null(g);
	}
	ck_assert_uint_eq(diags.n_errors, 3);
}
END_TEST

TEST_SUITE(topogen)
{
	TCase *t = tcase_create("topogen");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, sizes_follow_from_arguments, 0,
	                    sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_loop_test(t, bad_arguments_are_named, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(t, positions_and_names);
	tcase_add_test(t, positions_of_trees);
	tcase_add_test(t, positions_of_other_kinds);
	tcase_add_test(t, random_kinds_follow_the_seed);
	tcase_add_test(t, parts_are_told);
	tcase_add_loop_test(t, failed_links_leave_one_part, 0, N_FAILING * FRACTIONS);
	tcase_add_loop_test(t, half_a_cable_fails, 0, sizeof(halves) / sizeof(halves[0]));
	tcase_add_test(t, seeds_differ);
	tcase_add_test(t, bad_fraction);
	suite_add_tcase(suite, t);
}

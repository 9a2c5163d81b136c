/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/diag.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/topogen.h"
#include "tests/graph_check.h"

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
static int make(const char *command, const struct topogen_opts *o, struct graph **ret)
{
	char *argv[8], *save = NULL;
	char *text = arena_strdup(arena, command);
	int argc = 0;

	for (char *w = strtok_r(text, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		argv[argc++] = w;
	}
	return topogen(argv[0], argc - 1, argv + 1, o, arena, &diags, ret);
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
	ck_assert_int_eq(graph_components(g, arena, &part, &n), E_OK);
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
	  "no topology kind 'ring', expected one of ft2 ft3 mesh torus" },
	{ "ft2 4 4", E_SYNTAX, "LEAVES HOSTS SPINES [CABLES]" },
	{ "ft2 4 4 x", E_SYNTAX, "SPINES is 'x'" },
	{ "ft2 0 4 1", E_SYNTAX, "LEAVES is '0'" },
	{ "ft2 4 200 60", E_RANGE, "260 ports" },
	{ "ft3 5", E_RANGE, "even" },
	{ "ft3 300", E_SYNTAX, "K is '300'" },
	{ "ft3 254", E_RANGE, "hosts" },
	{ "ft3", E_SYNTAX, "0 arguments" },
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

static const char *const failing[] = { "ft2 8 4 4 2", "ft3 6", "torus 4x4x4 1",
	                               "mesh 6x6 2" };

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
		ck_assert_int_eq(graph_components(g, arena, &part, &n), E_OK);
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

START_TEST(seeds_differ)
{
	struct topogen_opts one = { 0.2, 1 }, two = { 0.2, 2 };
	struct graph *a, *b;

	ck_assert_int_eq(make("ft3 6", &one, &a), E_OK);
	ck_assert_int_eq(make("ft3 6", &two, &b), E_OK);
	ck_assert_uint_eq(a->n_adj, b->n_adj);
	ck_assert_int_ne(memcmp(a->adj, b->adj, a->n_adj * sizeof(*a->adj)), 0);
}
END_TEST

START_TEST(bad_fraction)
{
	struct topogen_opts o[] = { { -0.1, 1 }, { 1.1, 1 }, { 0.0 / 0.0, 1 } };
	struct graph *g = NULL;

	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(make("ft3 4", &o[i], &g), E_RANGE);
		ck_assert_ptr_null(g);
	}
	ck_assert_uint_eq(diags.n_errors, 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("topogen");
	TCase *t = tcase_create("topogen");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, sizes_follow_from_arguments, 0,
	                    sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_loop_test(t, bad_arguments_are_named, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(t, positions_and_names);
	tcase_add_loop_test(t, failed_links_leave_one_part, 0, N_FAILING * FRACTIONS);
	tcase_add_test(t, seeds_differ);
	tcase_add_test(t, bad_fraction);
	suite_add_tcase(s, t);

	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

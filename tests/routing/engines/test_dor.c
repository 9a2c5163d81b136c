/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/guidfile.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
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

/* ---- fabrics ---- */

/*
 * A copy whose switches have \a cables cables for each one, and in which two ports of one
 * switch have changed places (swap_p 0: none have).
 */
static struct graph *recabled(const struct graph *g, unsigned cables, uint32_t swap_sw,
                              unsigned swap_p, unsigned swap_q)
{
	struct graph *x = graph_new(arena);

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];
		unsigned ports =
			n->type == NODE_SWITCH ? n->n_ports * cables : n->n_ports;
		uint32_t at;

		ck_assert_int_eq(graph_add_node(x, n->type, n->guid, ports,
		                                n->description, n->id, &at),
		                 E_OK);
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *ends[2] = { &g->ports[i], NULL };
		unsigned num[2], each;

		if (ends[0]->peer == GRAPH_NONE || ends[0]->peer < i) {
			continue;
		}
		ends[1] = &g->ports[ends[0]->peer];
		each = cables;
		for (unsigned e = 0; e < 2; e++) {
			bool here = g->nodes[ends[e]->node].sw == swap_sw && swap_p;

			num[e] = ends[e]->num;
			num[e] = here && num[e] == swap_p   ? swap_q
			         : here && num[e] == swap_q ? swap_p
			                                    : num[e];
			each = g->nodes[ends[e]->node].type == NODE_SWITCH ? each : 1;
		}
		for (unsigned c = 0; c < each; c++) {
			uint32_t port[2];

			for (unsigned e = 0; e < 2; e++) {
				bool sw = g->nodes[ends[e]->node].type == NODE_SWITCH;

				port[e] = graph_port(x, ends[e]->node,
				                     sw ? (num[e] - 1) * cables + c + 1
				                        : num[e]);
			}
			ck_assert_int_eq(graph_connect(x, port[0], port[1]), E_OK);
		}
	}
	ck_assert_int_eq(graph_freeze(x, NULL), E_OK);
	return x;
}

/* ---- running it ---- */

/* Options with one list of GUIDs under a key. */
static void *options(const char *key, const char *text)
{
	const struct engine *e = engine_find("dor");
	char *base = arena_alloc(arena, e->opt_size);
	const struct option_row *row = e->options;
	const struct guid_file *f = NULL;

	while (strcmp(row->name, key) != 0) {
		row++;
	}
	ck_assert_int_eq(
		guid_file_parse("list", text, strlen(text), false, arena, NULL, &f),
		E_OK);
	memcpy(base + row->offset, &f, sizeof(f));
	return base;
}

static struct route_out *route(const struct graph *g, const struct lids *l,
                               const void *opts, const struct lft *prev)
{
	struct route_in in = { .g = g, .lids = l, .options = opts, .prev = prev };
	struct route_out *out = arena_alloc(arena, sizeof(*out));

	ck_assert_int_eq(engine_find("dor")->route(&in, arena, out), E_OK);
	ck_assert_uint_eq(out->lft.n_lids, l->top + 1);
	ck_assert_ptr_null(out->lanes.rows);
	return out;
}

static struct proof prove(const struct graph *g, const struct lids *l,
                          const struct lft *lft)
{
	struct proof p;

	ck_assert_int_eq(proof_run(g, l, lft, NULL, arena, &p), E_OK);
	ck_assert_uint_eq(p.unreachable_pairs + p.holes + p.forwarding_loops, 0);
	ck_assert_uint_eq(p.management_unreachable, 0);
	return p;
}

/* Hops by a plain breadth-first search from one switch, UINT32_MAX: not connected. */
static uint32_t *plain_hops(const struct graph *g, uint32_t from)
{
	uint32_t *hops = arena_array(arena, g->n_switches, sizeof(*hops));
	uint32_t *queue = arena_array(arena, g->n_switches, sizeof(*queue)), head = 0,
		 tail = 0;

	memset(hops, 0xff, g->n_switches * sizeof(*hops));
	hops[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t s = queue[head++];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (hops[g->adj[i].to] == UINT32_MAX) {
				hops[g->adj[i].to] = hops[s] + 1;
				queue[tail++] = g->adj[i].to;
			}
		}
	}
	return hops;
}

static uint32_t behind(const struct graph *g, uint32_t s, uint8_t port)
{
	return g->nodes[g->ports[g->ports[graph_port(g, g->switches[s], port)].peer].node]
	        .sw;
}

/* Every entry goes to the neighbour that the lowest port on a shortest path leads to. */
static void check_order(const struct graph *g, const struct lids *l,
                        const struct lft *lft)
{
	for (uint32_t lid = 1; lid <= l->top; lid++) {
		uint32_t owner = l->owner[lid];
		uint32_t home =
			owner == GRAPH_NONE ? GRAPH_NONE : graph_switch_of(g, owner);
		uint32_t *hops = home == GRAPH_NONE ? NULL : plain_hops(g, home);

		for (uint32_t s = 0; s < g->n_switches; s++) {
			uint8_t p = lft_row(lft, s)[lid];
			uint32_t i = g->adj_first[s];

			if (!hops || hops[s] == UINT32_MAX) {
				ck_assert_uint_eq(p, LFT_NO_ROUTE);
			} else if (s == home) {
				uint32_t here = graph_port(g, g->switches[s], p);

				ck_assert_uint_eq(p ? g->ports[here].peer : here, owner);
			} else {
				while (hops[g->adj[i].to] + 1 != hops[s]) {
					i++;
				}
				ck_assert_uint_eq(behind(g, s, p), g->adj[i].to);
			}
		}
	}
}

static void set_threads(int n)
{
#ifdef _OPENMP
	omp_set_num_threads(n);
#else
	(void)n;
#endif
}

static const char *const fabrics[] = {
	"ft2 3 5 2 2",   "ft3 4",           "torus 4x4 2",      "torus 3x3x3 1",
	"mesh 4x4 2",    "mesh 2x3x4 1",    "mesh 12 1",        "hypercube 5 2",
	"hypercube 1 3", "dragonfly 2 4 2", "jellyfish 30 4 2", "director 6 4 2 2 2 2",
};
static const double fails[] = { 0, 0.05, 0.2 };

enum {
	N_FABRICS = sizeof(fabrics) / sizeof(*fabrics),
	N_FAILS = sizeof(fails) / sizeof(*fails),
	SEEDS = 2
};

START_TEST(every_fabric)
{
	const char *command = fabrics[_i % N_FABRICS];
	double fail = fails[_i / N_FABRICS % N_FAILS];
	uint32_t seed = (uint32_t)(_i / (N_FABRICS * N_FAILS)) + 1;
	struct graph *g =
		recabled(fabric_make(command, fail, seed, arena), seed, 0, 0, 0);
	struct graph *other = fabric_reordered(g, seed + 17, arena);
	struct lids l = fabric_lids(g, seed % 3, 0, arena);
	struct lids lo = fabric_lids(other, seed % 3, 0, arena);
	struct lft one, two, shuffled;

	set_threads(1);
	one = route(g, &l, NULL, NULL)->lft;
	set_threads(2);
	two = route(g, &l, NULL, NULL)->lft;
	shuffled = route(other, &lo, NULL, NULL)->lft;
	check_order(g, &l, &one);
	ck_assert_mem_eq(one.rows, two.rows, one.n_switches * one.stride);
	ck_assert_uint_eq(shuffled.stride, one.stride);
	ck_assert_mem_eq(one.rows, shuffled.rows, one.n_switches * one.stride);
	prove(g, &l, &one);
}
END_TEST

/* Where dimension order promises it there is no credit loop and nothing to note. */
static const char *const free_of_loops[] = {
	"mesh 9 2",       "mesh 5x4 2",    "mesh 3x4x3 1",
	"mesh 3x3x3x3 1", "hypercube 2 1", "hypercube 5 2",
	"hypercube 7 1",  "torus 3x3 2",   "torus 2x3x2 1",
};

START_TEST(meshes_and_cubes_are_free)
{
	struct graph *g = fabric_make(free_of_loops[_i], 0, 1, arena);

	for (unsigned cables = 1; cables <= 3; cables++) {
		struct graph *x = recabled(g, cables, 0, 0, 0);
		struct lids l = fabric_lids(x, cables - 1, 0, arena);
		struct route_out *out = route(x, &l, NULL, NULL);
		struct proof p = prove(x, &l, &out->lft);

		ck_assert_str_eq(out->notes.text, "");
		ck_assert_uint_eq(p.credit_loops, 0);
		ck_assert_uint_eq(p.management_credit_loops, 0);
	}
}
END_TEST

static const struct {
	const char *command, *note;
} rings[] = {
	{ "torus 5 1",
	  "1 rings in the dimension of ports 1 and 2, such as that of 5 switches through 't-000'" },
	{ "torus 4x3 1", "3 rings in the dimension of ports 1 and 2" },
	{ "torus 3x6 2", "3 rings in the dimension of ports 3 and 4" },
	{ "torus 4x4x4 1", "16 rings in the dimension of ports 5 and 6" },
};

START_TEST(rings_are_told)
{
	struct graph *g = fabric_make(rings[_i].command, 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out = route(g, &l, NULL, NULL);

	ck_assert_msg(strstr(out->notes.text, rings[_i].note), "%s", out->notes.text);
	ck_assert_uint_gt(prove(g, &l, &out->lft).credit_loops, 0);
}
END_TEST

/* ---- cabling ---- */

static const struct {
	const char *command;
	uint32_t sw;
	unsigned p, q;
	const char *name, *repair;
} swapped[] = {
	{ "mesh 5x5 1", 12, 1, 3, "'t-002-002'", "0x0002c9030000c000 3 2 1" },
	{ "mesh 4x4x4 1", 21, 2, 5, "'t-001-001-001'", "0x0002c90300015000 1 5 3 4 2" },
	{ "hypercube 5 1", 9, 2, 4, "'hc-00009'", "0x0002c90300009000 1 4 3 2" },
};

START_TEST(odd_switches_are_named)
{
	struct graph *g = fabric_make(swapped[_i].command, 0, 1, arena);
	struct graph *x = recabled(g, 1, swapped[_i].sw, swapped[_i].p, swapped[_i].q);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out = route(x, &l, NULL, NULL);
	struct lft straight = route(g, &l, NULL, NULL)->lft;

	ck_assert_msg(strstr(out->notes.text, "is not cabled as the others"), "%s",
	              out->notes.text);
	ck_assert_msg(strstr(out->notes.text, swapped[_i].name), "%s", out->notes.text);
	ck_assert_msg(!strchr(out->notes.text, '\n'), "%s", out->notes.text);
	prove(x, &l, &out->lft);

	/* told the order of its ports, it is a mesh as any other: the same paths */
	out = route(x, &l, options("port_search_ordering_file", swapped[_i].repair),
	            NULL);
	ck_assert_str_eq(out->notes.text, "");
	ck_assert_uint_eq(prove(x, &l, &out->lft).credit_loops, 0);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= l.top; lid++) {
			uint8_t a = lft_row(&straight, s)[lid],
				b = lft_row(&out->lft, s)[lid];

			if (s == swapped[_i].sw &&
			    (a == swapped[_i].p || a == swapped[_i].q)) {
				ck_assert_uint_eq(a + b, swapped[_i].p + swapped[_i].q);
			} else {
				ck_assert_uint_eq(a, b);
			}
		}
	}
}
END_TEST

START_TEST(no_mesh_at_all_is_told)
{
	static const char *const commands[] = { "ft3 8", "jellyfish 60 5 1",
		                                "dragonfly 2 4 2" };
	struct graph *g = fabric_make(commands[_i], 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out = route(g, &l, NULL, NULL);

	ck_assert_msg(strstr(out->notes.text, "no order of dimensions"), "%s",
	              out->notes.text);
}
END_TEST

/* A torus in which several switches are odd: a few are named, the rest counted. */
START_TEST(many_odd_switches_are_counted)
{
	struct graph *g = fabric_make("hypercube 8 0", 0, 1, arena);
	struct lids l;
	struct route_out *out;

	for (uint32_t s = 0; s < 200; s += 20) {
		g = recabled(g, 1, s, 2, 7);
	}
	l = fabric_lids(g, 0, 0, arena);
	out = route(g, &l, NULL, NULL);
	ck_assert_msg(strstr(out->notes.text, "7 more switches"), "%s", out->notes.text);
}
END_TEST

/* ---- balance ---- */

static const struct {
	const char *command;
	unsigned cables;
	double ratio; /* of max to mean routes per link; a mesh has its own by nature */
} balanced[] = {
	{ "torus 8x8x8 4", 1, 1.25 }, { "hypercube 8 8", 1, 1.0 },
	{ "torus 5x5 2", 1, 1.0 },    { "hypercube 4 4", 2, 1.0 },
	{ "torus 5x5 4", 2, 1.0 },   { "hypercube 6 4", 4, 1.0 },
};

START_TEST(balance)
{
	struct graph *g = recabled(fabric_make(balanced[_i].command, 0, 1, arena),
	                           balanced[_i].cables, 0, 0, 0);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct load load;

	ck_assert_int_eq(load_build(g, &l, &route(g, &l, NULL, NULL)->lft, arena, &load),
	                 E_OK);
	ck_assert_msg(load.max <= balanced[_i].ratio * load.mean + 1e-6,
	              "%s: max %u mean %.2f", balanced[_i].command, load.max, load.mean);
}
END_TEST

/* The options of the balancing stage choose between parallel cables: each changes tables
 * whose hosts share the cables evenly, and none makes a credit loop. */
START_TEST(stage2_options)
{
	static const struct {
		const char *key, *text; /* a list, or NULL: a number or a flag */
	} rows[] = { { "guid_routing_order_file", "0x0002c90400007001\n0x0002c90400003001\n" },
		     { "scatter_ports", NULL },
		     { "port_shifting", NULL },
		     { "port_profile_switch_nodes", NULL } };
	struct graph *g = recabled(fabric_make("mesh 3x3 2", 0, 1, arena), 3, 0, 0, 0);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct lft plain = route(g, &l, NULL, NULL)->lft;
	const struct option_row *row = engine_find("dor")->options;
	void *opts = arena_alloc(arena, engine_find("dor")->opt_size);
	struct lft lft;
	struct proof p;

	while (strcmp(row->name, rows[_i].key) != 0) {
		row++;
	}
	if (rows[_i].text) {
		opts = options(rows[_i].key, rows[_i].text);
	} else if (row->type == OPT_UINT) {
		*(uint32_t *)(void *)((char *)opts + row->offset) = 7;
	} else {
		*(bool *)(void *)((char *)opts + row->offset) = true;
	}
	lft = route(g, &l, opts, NULL)->lft;
	ck_assert_msg(memcmp(plain.rows, lft.rows, lft.n_switches * lft.stride) != 0,
	              "dor ignores %s", rows[_i].key);
	p = prove(g, &l, &lft);
	ck_assert(proof_passed(&p, true));
}
END_TEST

/* Without equalization the first of parallel cables takes all; other switches share. */
START_TEST(equalization_can_be_off)
{
	struct graph *g = recabled(fabric_make("mesh 3x3 2", 0, 1, arena), 3, 0, 0, 0);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const char *off = "0x0002c90300004000 1\n0x0002c90300004000 2\n"
			  "0x0002c90300004000 3\n";
	struct lft lft = route(g, &l, options("port_prof_ignore_file", off), NULL)->lft;
	unsigned used[3][12] = { { 0 } };

	for (uint32_t lid = 1; lid <= l.top; lid++) {
		for (uint32_t s = 4; s <= 5; s++) {
			uint8_t p = lft_row(&lft, s)[lid];

			used[s - 4][p < 12 ? p : 0] +=
				l.owner[lid] != GRAPH_NONE && g->ports[l.owner[lid]].num;
		}
	}
	ck_assert_uint_eq(used[0][1], 6); /* the three switches at +x have 6 hosts */
	ck_assert_uint_eq(used[0][2] + used[0][3], 0);
	ck_assert_uint_eq(used[0][4], 2);
	ck_assert_uint_eq(used[0][5], 2);
	ck_assert_uint_eq(used[0][6], 2);
	ck_assert_uint_eq(used[1][1], 2);
	ck_assert_uint_eq(used[1][2], 2);
	ck_assert_uint_eq(used[1][3], 2);
}
END_TEST

/* The LIDs of a port go over different cables as long as there are any. */
START_TEST(lids_of_a_port_part)
{
	struct graph *g = recabled(fabric_make("mesh 3x2 2", 0, 1, arena), 4, 0, 0, 0);
	struct lids l = fabric_lids(g, 2, 2, arena);
	struct lft lft = route(g, &l, NULL, NULL)->lft;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t base = l.of[g->end_ports[i]].base;
		uint32_t home = graph_switch_of(g, g->end_ports[i]);

		for (uint32_t s = 0; s < g->n_switches && l.of[g->end_ports[i]].lmc;
		     s++) {
			const uint8_t *p = lft_row(&lft, s) + base;

			ck_assert(s == home ||
			          (p[0] != p[1] && p[0] != p[2] && p[0] != p[3] &&
			           p[1] != p[2] && p[1] != p[3] && p[2] != p[3]));
		}
	}
}
END_TEST

/* ---- earlier tables, options, limits ---- */

START_TEST(prev_is_kept_in_its_dimension)
{
	struct graph *g = recabled(fabric_make("mesh 4x4 1", 0, 1, arena), 2, 0, 0, 0);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct lft first = route(g, &l, NULL, NULL)->lft, prev, again;

	again = route(g, &l, NULL, &first)->lft;
	ck_assert_mem_eq(first.rows, again.rows, first.n_switches * first.stride);

	/* the other cable of each pair is as good; another dimension is not */
	ck_assert_int_eq(lft_init(&prev, first.n_switches, l.top, arena), E_OK);
	for (uint32_t s = 0; s < first.n_switches; s++) {
		for (uint32_t lid = 1; lid <= l.top; lid++) {
			uint8_t p = lft_row(&first, s)[lid];

			lft_row(&prev, s)[lid] = p == 0 || p > 8 || p == LFT_NO_ROUTE
			                                 ? p
			                                 : (uint8_t)(((p - 1) ^ 1) + 1);
		}
	}
	again = route(g, &l, NULL, &prev)->lft;
	ck_assert_mem_eq(prev.rows, again.rows, first.n_switches * first.stride);
	for (uint32_t lid = 1; lid <= l.top; lid++) {
		lft_row(&prev, 5)[lid] = 1;
	}
	again = route(g, &l, NULL, &prev)->lft;
	check_order(g, &l, &again);
}
END_TEST

static const struct {
	const char *key, *text, *note;
} bad_lines[] = {
	{ "port_search_ordering_file", "0x1 1 2\n", "list:1: no switch has this GUID" },
	{ "port_search_ordering_file", "\n0x0002c90300000000 1 1\n", "list:2: a port" },
	{ "port_search_ordering_file", "0x0002c90300000000 9\n", "does not have" },
	{ "port_search_ordering_file", "0x0002c90300000000 x\n", "does not have" },
	{ "dimn_ports_file", "0x0002c90300000000 0\n", "list:1" },
	{ "port_prof_ignore_file", "0x0002c90300000000 9\n", "expected one port" },
	{ "port_prof_ignore_file", "0x0002c90300000000 1 2\n", "expected one port" },
	{ "port_prof_ignore_file", "0x0002c90399000000\n", "no port that hangs on" },
	{ "port_prof_ignore_file", "0x77 1\n", "no switch has" },
	{ "port_prof_ignore_file", "0x1\n0x2\n0x3\n0x4\n0x5\n", "list: 2 more lines" },
};

START_TEST(lines_that_do_not_fit_are_named)
{
	struct graph *g = fabric_make("mesh 3x3 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out =
		route(g, &l, options(bad_lines[_i].key, bad_lines[_i].text), NULL);

	ck_assert_msg(strstr(out->notes.text, bad_lines[_i].note), "%s", out->notes.text);
	check_order(g, &l, &out->lft);
}
END_TEST

/* A host's GUID alone stands for the port it hangs on. */
START_TEST(ignored_host_port)
{
	struct graph *g = fabric_make("mesh 3x3 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out = route(
		g, &l, options("port_prof_ignore_file", "0x0002c90400000001\n"), NULL);

	ck_assert_str_eq(out->notes.text, "");
}
END_TEST

START_TEST(too_long_is_refused)
{
	struct graph *g = fabric_make("mesh 300 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_in in = { .g = g, .lids = &l };
	struct route_out out = { 0 };

	ck_assert_int_eq(engine_find("dor")->route(&in, arena, &out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "hops apart"));
}
END_TEST

#define ADD_LOOP(t, f, table)                                                            \
	tcase_add_loop_test(t, f, 0, sizeof(table) / sizeof(*(table)))

TEST_SUITE(dor)
{
	TCase *t = tcase_create("dor");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, every_fabric, 0, N_FABRICS * N_FAILS * test_seeds(SEEDS));
	ADD_LOOP(t, meshes_and_cubes_are_free, free_of_loops);
	ADD_LOOP(t, rings_are_told, rings);
	ADD_LOOP(t, odd_switches_are_named, swapped);
	tcase_add_loop_test(t, no_mesh_at_all_is_told, 0, 3);
	tcase_add_test(t, many_odd_switches_are_counted);
	ADD_LOOP(t, balance, balanced);
	tcase_add_test(t, equalization_can_be_off);
	tcase_add_test(t, lids_of_a_port_part);
	tcase_add_test(t, prev_is_kept_in_its_dimension);
	ADD_LOOP(t, lines_that_do_not_fit_are_named, bad_lines);
	tcase_add_loop_test(t, stage2_options, 0, 4);
	tcase_add_test(t, ignored_host_port);
	tcase_add_test(t, too_long_is_refused);
	suite_add_tcase(suite, t);
}

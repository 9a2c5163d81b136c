/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * lash: lanes, both directions of a pair on one of them, shortest paths, the lanes there
 * are, the first lane; meshes recognised however they are numbered and cabled. That no
 * lane has a credit loop is the proof's word, here as for every engine (test_engines).
 */
#include <check.h>
#include <errno.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "conf/option.h"
#include "routing/engine.h"
#include "routing/engines/lash/lash_mesh.h"
#include "routing/graph/hops.h"
#include "routing/proof/proof.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
#ifdef _OPENMP
	omp_set_num_threads(1); /* waiting threads spin: slow on a busy machine */
#endif
}

static void teardown(void)
{
	arena_free(arena);
}

/* Options as OpenSM's file would set them. */
static const void *options(const char *mesh, const char *start)
{
	struct option_sets s = { .n = 0 };
	const struct engine *e = engine_find("lash");
	void *base = arena_alloc(arena, e->opt_size);

	ck_assert_int_eq(option_sets_add(&s, e->options, base), E_OK);
	ck_assert_int_eq(option_set_defaults(&s, arena), E_OK);
	ck_assert_int_eq(option_set(&s, arena, "do_mesh_analysis", mesh, "-", 1, NULL),
	                 E_OK);
	ck_assert_int_eq(option_set(&s, arena, "lash_start_vl", start, "-", 1, NULL),
	                 E_OK);
	return base;
}

static int route(const struct graph *g, const struct lids *l, const void *opts,
                 unsigned max_lanes, struct route_out *ret_out)
{
	const struct engine *e = engine_find("lash");
	struct route_in in = {
		.g = g, .lids = l, .options = opts, .max_lanes = (uint8_t)max_lanes
	};
	int ret = e->check(&in, &ret_out->notes);

	return ret == E_OK ? e->route(&in, arena, ret_out) : ret;
}

/* ---- what is promised of every table ---- */

static uint32_t lid_of(const struct graph *g, const struct lids *l, uint32_t s)
{
	return l->of[graph_port(g, g->switches[s], 0)].base;
}

static void check_pairs(const struct graph *g, const struct lids *l,
                        const struct route_out *out, unsigned start, const char *what)
{
	for (uint32_t lid = 1; lid <= l->top; lid++) {
		uint32_t t = l->owner[lid] == GRAPH_NONE
		                     ? GRAPH_NONE
		                     : graph_switch_of(g, l->owner[lid]);

		for (uint32_t s = 0; t != GRAPH_NONE && s < g->n_switches; s++) {
			uint8_t lane = lane_of(&out->lanes, s, lid);

			ck_assert_msg(lane >= start && lane < out->lanes.n, "%s", what);
			ck_assert_msg(s != t || lane == start, "%s: own LID", what);
			ck_assert_msg(lane == lane_of(&out->lanes, t, lid_of(g, l, s)),
			              "%s: lanes of a pair differ", what);
		}
	}
}

static uint32_t switch_behind(const struct graph *g, uint32_t s, uint8_t port)
{
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		if (g->adj[i].port == port) {
			return g->adj[i].to;
		}
	}
	return GRAPH_NONE;
}

static void check_shortest(const struct graph *g, const struct lids *l,
                           const struct route_out *out, const char *what)
{
	struct hops h;

	ck_assert_int_eq(hops_init(&h, g, arena), E_OK);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t t = graph_switch_of(g, g->end_ports[i]);
		uint32_t lid = l->of[g->end_ports[i]].base;

		for (uint32_t s = 0; s < g->n_switches; s++) {
			unsigned d = hops_between(&h, s, t);
			uint32_t next;

			if (s == t || d == HOPS_NONE) {
				continue;
			}
			next = switch_behind(g, s, lft_row(&out->lft, s)[lid]);
			ck_assert_msg(next != GRAPH_NONE, "%s: no route", what);
			ck_assert_msg(hops_between(&h, next, t) == d - 1, "%s: a detour",
			              what);
		}
	}
}

static void check_proof(const struct graph *g, const struct lids *l,
                        const struct route_out *out, const char *what)
{
	struct proof p;

	ck_assert_int_eq(proof_run(g, l, &out->lft, &out->lanes, arena, &p), E_OK);
	ck_assert_msg(proof_passed(&p, true), "%s: %s", what, proof_text(&p, g, arena));
}

/* ---- lanes ---- */

/*
 * Data lanes with 8 there. Trees, lines and meshes need one (all their shortest paths go
 * up and down, or keep one order of dimensions). A ring of more than 4 needs two: one
 * cut. Where three cuts of a ring are far enough apart, two rings need three lanes, and
 * three rings five.
 */
static const struct {
	const char *command;
	unsigned lanes;
} fits[] = {
	{ "ft2 6 4 3", 1 },          { "ft2 2 2 2", 1 },        { "mesh 5x4 2", 1 },
	{ "mesh 3x4x5 1", 1 },       { "mesh 9 1", 1 },         { "hypercube 6 1", 1 },
	{ "torus 6 2", 2 },          { "torus 8 1", 2 },        { "torus 6x6 1", 3 },
	{ "torus 8x8 1", 3 },        { "torus 5x3 1", 2 },      { "torus 4x4x4 1", 1 },
	{ "torus 8x8x8 1", 5 },      { "torus 5x6x7 1", 5 },    { "torus 6x6x6 1", 5 },
	{ "torus 16x16 1", 4 },      { "torus 10x9 2", 3 },     { "torus 3x3x3 2", 1 },
	{ "torus 5x5x5 1", 4 },      { "torus 12x12 1", 3 },    { "torus 5x5x5x5 1", 5 },
	{ "jellyfish 100 62 1", 2 }, /* too many channels for their closure */
	{ "dragonfly 2 4 2", 3 },    { "jellyfish 24 6 3", 2 }, /* OpenSM's */
	{ "dragonfly 4 8 4", 4 },    { "jellyfish 40 6 2", 3 }, /* OpenSM: 3 */
};

START_TEST(lanes)
{
	const char *what = fits[_i].command;
	struct graph *g = fabric_make(what, 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out = { 0 };

	ck_assert_msg(route(g, &l, NULL, 8, &out) == E_OK, "%s: %s", what,
	              out.notes.text);
	ck_assert_msg(out.lanes.n <= fits[_i].lanes, "%s: %u lanes", what, out.lanes.n);
	check_pairs(g, &l, &out, 0, what);
	check_shortest(g, &l, &out, what);
	check_proof(g, &l, &out, what);
}
END_TEST

static const struct {
	const char *command;
	double fail;
} broken[] = {
	{ "ft3 8", 0.1 },     { "torus 5x5x3 1", 0.05 },     { "mesh 6x6 1", 0.1 },
	{ "torus 6x6 1", 0 }, { "dragonfly 2 4 2", 0.1 },    { "hypercube 5 1", 0.1 },
	{ "ft2 6 4 3", 0.3 }, { "jellyfish 40 6 2", 0.05 },  { "torus 8 2", 0.2 },
	{ "mesh 7 1", 0.3 },  { "jellyfish 100 10 1", 0.0 },
};

START_TEST(any_fabric)
{
	for (uint32_t seed = 1; seed <= (uint32_t)test_seeds(4); seed++) {
		const char *what =
			arena_printf(arena, "%s, seed %u", broken[_i].command, seed);
		struct graph *g =
			fabric_make(broken[_i].command, broken[_i].fail, seed, arena);
		struct lids l = fabric_lids(g, 0, 0, arena);
		struct route_out out = { 0 };

		ck_assert_msg(route(g, &l, NULL, 15, &out) == E_OK, "%s: %s", what,
		              out.notes.text);
		check_pairs(g, &l, &out, 0, what);
		check_shortest(g, &l, &out, what);
		check_proof(g, &l, &out, what);
	}
}
END_TEST

/* The lanes of management pairs do not depend on what GUIDs are where in a tree. */
static const char *const trees[] = { "ft3 8", "ft3 12", "tree3 6 6 6 4 3" };

START_TEST(renamed_tree)
{
	for (uint64_t seed = 1; seed <= (uint64_t)test_seeds(3); seed++) {
		const char *what = trees[_i];
		struct graph *g = fabric_renamed(fabric_make(what, 0, 1, arena),
		                                 seed * 7919, arena);
		struct lids l = fabric_lids(g, 0, 0, arena);
		struct route_out out = { 0 };

		ck_assert_msg(route(g, &l, NULL, 4, &out) == E_OK, "%s: %s", what,
		              out.notes.text);
		check_pairs(g, &l, &out, 0, what);
		check_shortest(g, &l, &out, what);
		check_proof(g, &l, &out, what);
	}
}
END_TEST

/*
 * Trees that lost cables: pairs of hosts take one lane or two, and routes to and from switches
 * without hosts, which have to turn upwards, a few more. OpenSM 3.3.23 takes 4 to 6 lanes for
 * both on trees of this kind, but sends all routes of a switch over one tree.
 */
static const struct {
	const char *command;
	double fail;
	unsigned data, all, sum; /* lanes at most; sum: of all seeds together */
} cut[] = {
	{ "ft3 8", 0.1, 2, 7, 57 },
	{ "ft3 8", 0.2, 2, 8, 64 },
	{ "ft3 12", 0.05, 1, 7, 62 },
};

static const uint32_t cut_seeds[] = { 20, 21, 22, 23, 24, 25, 51, 52, 53, 54 };

START_TEST(broken_trees)
{
	unsigned sum = 0;

	for (size_t i = 0; i < sizeof(cut_seeds) / sizeof(*cut_seeds); i++) {
		const char *what =
			arena_printf(arena, "%s, %g gone, seed %u", cut[_i].command,
		                     cut[_i].fail, cut_seeds[i]);
		struct graph *g =
			fabric_make(cut[_i].command, cut[_i].fail, cut_seeds[i], arena);
		struct lids l = fabric_lids(g, 0, 0, arena);
		struct route_out out = { 0 };
		struct proof p;

		ck_assert_msg(route(g, &l, NULL, 8, &out) == E_OK, "%s: %s", what,
		              out.notes.text);
		ck_assert_int_eq(proof_run(g, &l, &out.lft, &out.lanes, arena, &p), E_OK);
		ck_assert_msg(p.vls_used <= cut[_i].data, "%s: %u data lanes", what,
		              p.vls_used);
		ck_assert_msg(out.lanes.n <= cut[_i].all, "%s: %u lanes", what,
		              out.lanes.n);
		check_pairs(g, &l, &out, 0, what);
		sum += out.lanes.n;
	}
	ck_assert_msg(sum <= cut[_i].sum, "%s: %u lanes in sum", cut[_i].command, sum);
}
END_TEST

/*
 * Tori that lost some of their cables need a lane or two more, not three times as many.
 * OpenSM 3.3.23 with do_mesh_analysis needs these lanes for the same fabrics, seeds 1 to
 * 30, at best to at most: 6x6 3 to 4; 12x12 4 to 7 and 6 to 9; 5x5x5 5 to 6; 6x6x6 6
 * to 9.
 */
static const struct {
	const char *command;
	double fail;
	unsigned lanes;
} worn[] = {
	{ "torus 6x6 1", 0.01, 3 },   { "torus 8x8 1", 0.01, 4 },
	{ "torus 8x8 1", 0.03, 4 },   { "torus 10x10 1", 0.03, 5 },
	{ "torus 12x12 1", 0.01, 5 }, { "torus 12x12 1", 0.03, 6 },
	{ "torus 5x5x5 1", 0.01, 4 }, { "torus 5x5x5 1", 0.03, 5 },
	{ "torus 6x6x6 1", 0.01, 6 }, { "torus 6x6x6 1", 0.03, 6 },
	{ "mesh 8x8 1", 0.03, 3 },    { "mesh 6x5x4 1", 0.03, 3 },
};

START_TEST(worn_lanes)
{
	for (uint32_t seed = 1; seed <= (uint32_t)test_seeds(4); seed++) {
		const char *what = arena_printf(arena, "%s, %g gone, seed %u",
		                                worn[_i].command, worn[_i].fail, seed);
		struct graph *g =
			fabric_make(worn[_i].command, worn[_i].fail, seed, arena);
		struct lids l = fabric_lids(g, 0, 0, arena);
		struct route_out out = { 0 };

		ck_assert_msg(route(g, &l, NULL, 8, &out) == E_OK, "%s: %s", what,
		              out.notes.text);
		ck_assert_msg(out.lanes.n <= worn[_i].lanes, "%s: %u lanes", what,
		              out.lanes.n);
		if (seed <= 2) {
			check_pairs(g, &l, &out, 0, what);
			check_shortest(g, &l, &out, what);
			check_proof(g, &l, &out, what);
		}
	}
}
END_TEST

/* A lane more than there are: refused with a sentence, never a table. */
START_TEST(too_few_lanes)
{
	struct graph *g = fabric_make("torus 6x6 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out = { 0 };

	ck_assert_int_eq(route(g, &l, NULL, 15, &out), E_OK);
	ck_assert_uint_eq(out.lanes.n, 3);
	out = (struct route_out){ 0 };
	ck_assert_int_eq(route(g, &l, NULL, 1, &out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(
		strstr(out.notes.text,
	               "lash: needs 3 lanes, the links between switches have 1"));
	ck_assert_ptr_null(out.lft.rows);
}
END_TEST

START_TEST(start_vl)
{
	struct graph *g = fabric_make("torus 6x5 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out low = { 0 }, high = { 0 }, none = { 0 };

	ck_assert_int_eq(route(g, &l, options("FALSE", "0"), 8, &low), E_OK);
	ck_assert_int_eq(route(g, &l, options("FALSE", "3"), 8, &high), E_OK);
	ck_assert_uint_eq(high.lanes.n, low.lanes.n + 3);
	check_pairs(g, &l, &high, 3, "start_vl");
	check_proof(g, &l, &high, "start_vl");
	ck_assert_int_eq(route(g, &l, options("FALSE", "8"), 8, &none), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(none.notes.text, "lash_start_vl is 8"));
}
END_TEST

START_TEST(lmc)
{
	struct graph *g = fabric_make("ft2 4 2 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct route_out out = { 0 };

	ck_assert_int_eq(route(g, &l, NULL, 8, &out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "LMC 0"));
}
END_TEST

/*
 * Pairs of switches are balanced over the lanes: no lane has fewer than the given share, in
 * percent, of an equal division. On the torus lanes follow from cuts; on the other fabrics
 * pairs are moved from the fullest lane to the emptiest, again and again.
 */
static const struct {
	const char *command;
	unsigned percent;
} balanced[] = {
	{ "torus 6x6 1", 95 },     { "torus 5x5x5 1", 95 },  { "dragonfly 2 4 2", 95 },
	{ "jellyfish 24 5 1", 95 }, { "jellyfish 40 6 2", 95 },
	{ "jellyfish 10 3 1", 95 }, { "jellyfish 14 4 1", 95 }, /* two lanes */
};

START_TEST(balanced_lanes)
{
	struct graph *g = fabric_make(balanced[_i].command, 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out = { 0 };
	uint32_t count[15] = { 0 }, n = g->n_switches, pairs = n * (n - 1) / 2;

	ck_assert_int_eq(route(g, &l, NULL, 8, &out), E_OK);
	ck_assert_uint_gt(out.lanes.n, 1);
	for (uint32_t s = 0; s < n; s++) {
		for (uint32_t t = s + 1; t < n; t++) {
			count[lane_of(&out.lanes, s, lid_of(g, &l, t))]++;
		}
	}
	for (unsigned i = 0; i < out.lanes.n; i++) {
		ck_assert_msg(100 * count[i] * out.lanes.n >= balanced[_i].percent * pairs,
		              "%s: lane %u of %u has %u of %u pairs", balanced[_i].command, i,
		              out.lanes.n, count[i], pairs);
	}
}
END_TEST

/* ---- meshes ---- */

static const struct {
	const char *command, *text; /* NULL: not a mesh */
} shapes[] = {
	{ "mesh 5x4 1", "5 x 4 mesh" },
	{ "mesh 2x3x4 1", "4 x 3 x 2 mesh" },
	{ "mesh 7 1", "7 mesh" },
	{ "torus 7 1", "7 torus" },
	{ "torus 3x3 1", "3 x 3 torus" },
	{ "torus 8x6x5 1", "8 x 6 x 5 torus" },
	{ "torus 5x4 1", "5 x 2 x 2 torus" },
	{ "torus 4x4 1", "2 x 2 x 2 x 2 mesh" },
	{ "torus 6x2 1", "6 x 2 torus" },
	{ "hypercube 3 1", "2 x 2 x 2 mesh" },
	{ "ft2 4 3 3", NULL },
	{ "ft3 4", NULL },
	{ "dragonfly 2 4 2", NULL },
	{ "jellyfish 20 4 1", NULL },
};

/* Another fabric of the same shape: new GUIDs, cables on any ports and up to three; hosts
 * on every switch, or, with even seeds, up to two on some. */
static struct graph *scrambled(const struct graph *g, uint64_t seed)
{
	uint64_t state = seed * 7919 + 1;
	uint32_t *guid = fabric_shuffle(g->n_switches, &state, arena);
	uint32_t *node = arena_array(arena, g->n_switches, sizeof(*node));
	uint32_t *used = arena_array(arena, g->n_switches, sizeof(*used));
	struct diags *d = arena_alloc(arena, sizeof(*d));
	uint32_t **port = arena_array(arena, g->n_switches, sizeof(*port));
	struct graph *x = graph_new(arena);

	diags_init(d, arena);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t n_hosts = seed % 2 || s == 0 ? 1 : random_below(&state, 3);

		port[s] = fabric_shuffle(60, &state, arena);
		ck_assert_int_eq(graph_add_node(x, NODE_SWITCH, 0x1000 + guid[s], 60, "",
		                                NULL, &node[s]),
		                 E_OK);
		for (uint32_t i = 0; i < n_hosts; i++) {
			uint32_t at = port[s][used[s]++] + 1, ca;

			ck_assert_int_eq(graph_add_node(x, NODE_CA,
			                                0x90000 + guid[s] * 8 + i * 2, 1,
			                                "", NULL, &ca),
			                 E_OK);
			ck_assert_int_eq(graph_connect(x, graph_port(x, ca, 1),
			                               graph_port(x, node[s], at)),
			                 E_OK);
		}
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t t = g->adj[i].to;
			uint32_t n = s < t ? 1 + random_below(&state, 3) : 0;

			for (; n; n--) {
				uint32_t p = port[s][used[s]++] + 1;
				uint32_t q = port[t][used[t]++] + 1;

				ck_assert_int_eq(graph_connect(x,
				                               graph_port(x, node[s], p),
				                               graph_port(x, node[t], q)),
				                 E_OK);
			}
		}
	}
	ck_assert_int_eq(graph_freeze(x, d), E_OK);
	return x;
}

static void check_shape(const struct graph *g, const char *text, const char *what)
{
	struct lash_mesh m;
	int ret = lash_mesh_find(g, arena, &m);

	if (!text) {
		ck_assert_msg(ret == E_UNSUITABLE, "%s is taken for a mesh", what);
		return;
	}
	ck_assert_msg(ret == E_OK, "%s is not recognised", what);
	ck_assert_str_eq(lash_mesh_text(&m, arena), text);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
			const uint32_t *a = m.at + (size_t)s * LASH_DIMS_MAX;
			const uint32_t *b = m.at + (size_t)g->adj[c].to * LASH_DIMS_MAX;

			for (unsigned d = 0; d < m.n_dims; d++) {
				bool next = b[d] == (a[d] + 1) % m.size[d] ||
				            a[d] == (b[d] + 1) % m.size[d];

				ck_assert_msg(d == m.dim[c] ? next : a[d] == b[d],
				              "%s: dimension of a link", what);
			}
		}
	}
}

START_TEST(shape)
{
	const char *what = shapes[_i].command;
	struct graph *g = fabric_make(what, 0, 1, arena);

	check_shape(g, shapes[_i].text, what);
	for (uint64_t seed = 1; seed <= (uint64_t)test_seeds(5); seed++) {
		check_shape(scrambled(g, seed), shapes[_i].text, what);
	}
}
END_TEST

/* Cables that are missing hide no mesh: it is found as it was built. */
static const struct {
	const char *command, *text;
} damaged[] = {
	{ "torus 6x6 1", "6 x 6 torus" },
	{ "torus 12x12 1", "12 x 12 torus" },
	{ "torus 9x5 1", "9 x 5 torus" },
	{ "mesh 8x7 1", "8 x 7 mesh" },
	{ "torus 7x4 1", "7 x 2 x 2 torus" },
	{ "torus 5x5x5 1", "5 x 5 x 5 torus" },
	{ "torus 8x6x3 1", "8 x 6 x 3 torus" },
	{ "mesh 6x5x4 1", "6 x 5 x 4 mesh" },
	{ "hypercube 6 1", "2 x 2 x 2 x 2 x 2 x 2 mesh" },
};

START_TEST(damaged_shape)
{
	static const double share[] = { 0.01, 0.02, 0.03 };

	for (uint32_t seed = 1; seed <= (uint32_t)test_seeds(6); seed++) {
		const char *what =
			arena_printf(arena, "%s, seed %u", damaged[_i].command, seed);
		struct graph *g =
			fabric_make(damaged[_i].command, share[seed % 3], seed, arena);

		check_shape(seed % 2 ? g : scrambled(g, seed), damaged[_i].text, what);
	}
}
END_TEST

/* Numbers, ports and parallel cables do not change how many lanes a mesh takes. */
static const struct {
	const char *command;
	unsigned lanes;
} scrambles[] = {
	{ "mesh 5x4 1", 1 },    { "mesh 3x3x4 1", 1 }, { "hypercube 4 1", 1 },
	{ "torus 6x5 1", 3 },   { "torus 8x8 1", 3 },  { "torus 5x5x5 1", 4 },
	{ "torus 8x8x4 1", 3 },
};

START_TEST(scrambled_lanes)
{
	struct graph *g = fabric_make(scrambles[_i].command, 0, 1, arena);

	for (uint64_t seed = 1; seed <= (uint64_t)test_seeds(3); seed++) {
		const char *what = arena_printf(arena, "%s, seed %d",
		                                scrambles[_i].command, (int)seed);
		struct graph *x = scrambled(g, seed);
		struct lids l = fabric_lids(x, 0, 0, arena);
		struct route_out out = { 0 };

		ck_assert_int_eq(route(x, &l, options("TRUE", "0"), 8, &out), E_OK);
		ck_assert_msg(out.lanes.n <= scrambles[_i].lanes, "%s: %u lanes", what,
		              out.lanes.n);
		check_pairs(x, &l, &out, 0, what);
		check_shortest(x, &l, &out, what);
		check_proof(x, &l, &out, what);
	}
}
END_TEST

START_TEST(says_no_mesh)
{
	struct graph *g = fabric_make("ft2 4 3 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out = { 0 };

	ck_assert_int_eq(route(g, &l, options("TRUE", "0"), 8, &out), E_OK);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "found no mesh or torus"));
}
END_TEST

START_TEST(says_which_mesh)
{
	struct graph *g = fabric_make("torus 7x5 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out = { 0 };

	ck_assert_int_eq(route(g, &l, options("TRUE", "0"), 8, &out), E_OK);
	ck_assert_str_eq(out.notes.text, "lash: do_mesh_analysis found: 7 x 5 torus");
	g = fabric_make("torus 7x5 1", 0.03, 1, arena);
	out = (struct route_out){ 0 };
	ck_assert_int_eq(route(g, &l, options("TRUE", "0"), 8, &out), E_OK);
	ck_assert_str_eq(
		out.notes.text,
		"lash: do_mesh_analysis found: 7 x 5 torus; links missing between neighbours: 2");
	out = (struct route_out){ 0 };
	ck_assert_int_eq(route(g, &l, options("FALSE", "0"), 8, &out), E_OK);
	ck_assert_str_eq(out.notes.text, "");
}
END_TEST

#define LOOP(test, table)                                                                \
	tcase_add_loop_test(t, test, 0, sizeof(table) / sizeof(*(table)))

TEST_SUITE(lash)
{
	TCase *t = tcase_create("lash");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	LOOP(lanes, fits);
	LOOP(any_fabric, broken);
	LOOP(worn_lanes, worn);
	LOOP(renamed_tree, trees);
	LOOP(broken_trees, cut);
	tcase_add_test(t, too_few_lanes);
	tcase_add_test(t, start_vl);
	tcase_add_test(t, lmc);
	LOOP(balanced_lanes, balanced);
	LOOP(shape, shapes);
	LOOP(damaged_shape, damaged);
	LOOP(scrambled_lanes, scrambles);
	tcase_add_test(t, says_no_mesh);
	tcase_add_test(t, says_which_mesh);
	suite_add_tcase(suite, t);
}

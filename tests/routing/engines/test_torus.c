/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * torus-2QoS: its file; places, routes and SLs of healthy tori; each single switch and
 * many sets of cables gone: free of credit loops with the SLs of the healthy torus, or
 * refused, and then a ring is in pieces by a count of this test's own.
 *
 * Longer than most: file, healthy and broken fabrics and the multicast tree share the
 * grids and the walks over them.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/torus/torus.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths.h"
#include "routing/proof/proof.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

enum { NAME_SIZE = 32, TEXT_SIZE = 4096 };

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
#ifdef _OPENMP
	omp_set_num_threads(1); /* waiting threads spin: slow on a busy machine */
#endif
}

/* Working memory of one of many rounds. \return What end_round() takes. */
static struct arena *begin_round(void)
{
	struct arena *outer = arena;

	arena = arena_new();
	return outer;
}

static void end_round(struct arena *outer)
{
	arena_free(arena);
	arena = outer;
}

static void teardown(void)
{
	arena_free(arena);
}

/* A torus of the generator: switches are named by their coordinates. */
struct grid {
	const char *command;
	unsigned n_dims;
	uint32_t radix[TORUS_DIMS];
	bool closed;
	uint32_t other[TORUS_DIMS]; /* coordinates of the second seed */
};

static const struct grid grids[] = {
	{ "torus 4x4x4 2", 3, { 4, 4, 4 }, true, { 2, 2, 2 } },
	{ "torus 6x5x4 2", 3, { 6, 5, 4 }, true, { 3, 2, 2 } },
	{ "torus 8x8 2", 2, { 8, 8, 1 }, true, { 4, 4, 0 } },
	{ "torus 3x5x2 1", 3, { 3, 5, 2 }, true, { 2, 2, 0 } },
	{ "torus 5x5x5 1", 3, { 5, 5, 5 }, true, { 2, 2, 2 } },
	{ "mesh 4x3x2 2", 3, { 4, 3, 2 }, false, { 2, 1, 0 } },
	{ "torus 9 2", 1, { 9, 1, 1 }, true, { 4, 0, 0 } },
};
enum { N_GRIDS = sizeof(grids) / sizeof(*grids), N_BROKEN = 3 };

static bool is_closed(const struct grid *x, unsigned d)
{
	return x->closed && x->radix[d] > 2;
}

static void coordinates(const struct graph *g, uint32_t s,
                        uint32_t ret_coordinates[TORUS_DIMS])
{
	const char *p = g->nodes[g->switches[s]].description + 1;

	memset(ret_coordinates, 0, TORUS_DIMS * sizeof(*ret_coordinates));
	for (unsigned d = 0; *p == '-'; d++) {
		char *end;

		ret_coordinates[d] = (uint32_t)strtoul(p + 1, &end, 10);
		p = end;
	}
}

static uint32_t switch_at(const struct graph *g, const uint32_t at[TORUS_DIMS])
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t c[TORUS_DIMS];

		coordinates(g, s, c);
		if (memcmp(c, at, sizeof(c)) == 0) {
			return s;
		}
	}
	return GRAPH_NONE;
}

/* ---- torus-2QoS.conf ---- */

/* \param all  Also the links over the ends of an open dimension. */
static size_t add_links(const struct graph *g, const struct grid *x,
                        const uint32_t at[TORUS_DIMS], bool all, char *text, size_t n)
{
	uint64_t from = g->nodes[g->switches[switch_at(g, at)]].guid;

	for (unsigned dir = 0; dir < 2 * x->n_dims; dir++) {
		unsigned d = dir / 2;
		uint32_t to[TORUS_DIMS];
		uint32_t end = dir % 2 ? 0 : x->radix[d] - 1;

		memcpy(to, at, sizeof(to));
		to[d] = (at[d] + (dir % 2 ? x->radix[d] - 1 : 1)) % x->radix[d];
		if (!all && !is_closed(x, d) && at[d] == end) {
			continue;
		}
		n += (size_t)snprintf(text + n, TEXT_SIZE - n,
		                      "%c%c_link 0x%" PRIx64 " 0x%" PRIx64 "\n", "xyz"[d],
		                      "pm"[dir % 2], from,
		                      g -> nodes[g->switches[switch_at(g, to)]].guid);
	}
	for (unsigned d = 0; d < x->n_dims; d++) {
		n += (size_t)snprintf(text + n, TEXT_SIZE - n, "%c_dateline -%u\n",
		                      "xyz"[d], at[d]);
	}
	return n;
}

static size_t add_seed(const struct graph *g, const struct grid *x,
                       const uint32_t at[TORUS_DIMS], char *text, size_t n)
{
	return add_links(g, x, at, false, text, n);
}

/* Two seeds far apart, both with the generator's coordinates. */
static const struct torus_conf *conf_of(const struct graph *healthy, const struct grid *x)
{
	static const uint32_t origin[TORUS_DIMS];
	const struct torus_conf *c = NULL;
	struct diags *d = arena_alloc(arena, sizeof(*d));
	char *text = arena_alloc(arena, TEXT_SIZE);
	size_t n = (size_t)snprintf(text, TEXT_SIZE, "# made\n\n%s %u %u %u\n",
	                            x->closed ? "torus" : "mesh", x->radix[0],
	                            x->radix[1], x->radix[2]);

	diags_init(d, arena);
	n = add_seed(healthy, x, origin, text, n);
	n += (size_t)snprintf(text + n, TEXT_SIZE - n, "next_seed\n");
	n = add_seed(healthy, x, x->other, text, n);
	ck_assert_msg(torus_conf_parse("made.conf", text, n, arena, d, &c) == E_OK, "%s",
	              diags_first_error(d));
	return c;
}

/* clang-format off */
#define SHAPE "torus 5 5 1\n"
#define SEED "xp_link 0x1 0x2\nyp_link 0x1 0x3\n"
static const struct {
	const char *text;
	unsigned line;
	const char *says; /* NULL: it is right */
} files[] = {
	{ SHAPE SEED, 0, NULL },
	{ "  # remark\n\ntorus 5t 4M 1 what follows is ignored\n" SEED "x_dateline -4\nport_order 3 1 3\n"
	  "portgroup_max_ports 20\nmax_changes 5\n", 0, NULL },
	{ "mesh 2T 3t 1\r\n\t" SEED "ym_link 1 5\n", 0, NULL },
	{ SHAPE "next_seed\n" SEED "next_seed\nx_dateline 2\n" SEED, 0, NULL },
	{ "", 0, "expected a line 'torus X Y Z'" },
	{ SHAPE, 0, "expected seed links" },
	{ SEED SHAPE, 1, "before all else: 'xp_link'" },
	{ SHAPE SHAPE SEED, 2, "the size is set twice" },
	{ "torus 5 0 1\n" SEED, 1, "expected a radix from 1 to 4096" },
	{ "torus 5 5x 1\n" SEED, 1, "'5x'" },
	{ "torus 5 5\n" SEED, 1, "expected a radix" },
	{ "torus 1 1 1\n", 1, "expected 2 to 65536 switches" },
	{ "torus 4096 4096 1\n", 1, "expected 2 to 65536 switches" },
	{ SHAPE "xp_lnk 1 2\n", 2, "unknown keyword, expected torus, mesh" },
	{ SHAPE "xp_link 0x1\n", 2, "expected the GUIDs of two switches" },
	{ SHAPE "xp_link 0x1 name\n", 2, "'name'" },
	{ SHAPE "xp_link 0x1 0x1\n", 2, "not its own neighbour" },
	{ SHAPE SEED "xm_link 0x9 0x4\n", 4, "which is 0x0000000000000001 since line 2" },
	{ SHAPE SEED "xp_link 0x1 0x4\n", 4, "a link in that direction already" },
	{ SHAPE SEED "zp_link 0x1 0x4\n", 4, "radix of this dimension is 1" },
	{ SHAPE "yp_link 0x1 0x2\n", 2, "needs xp_link or xm_link" },
	{ "torus 4 5 1\n" SEED, 2, "needs both xp_link and xm_link: in a ring of four" },
	{ SHAPE SEED "x_dateline 5\n", 4, "between -5 and 5" },
	{ SHAPE SEED "y_dateline\n", 4, "between -5 and 5" },
	{ SHAPE SEED "portgroup_max_ports 0\n", 4, "ports from 1 to 255" },
	{ SHAPE SEED "port_order 1 255\n", 4, "port numbers from 1 to 254: '255'" },
	{ SHAPE SEED "max_changes -1\n", 4, "expected a number" },
};
/* clang-format on */

START_TEST(conf)
{
	const struct torus_conf *c = NULL;
	struct diags d;
	int ret;

	diags_init(&d, arena);
	ret = torus_conf_parse("f", files[_i].text, strlen(files[_i].text), arena, &d,
	                       &c);
	if (!files[_i].says) {
		ck_assert_msg(ret == E_OK && c, "%s", diags_first_error(&d));
		return;
	}
	ck_assert_int_eq(ret, E_SYNTAX);
	ck_assert_ptr_null(c);
	ck_assert_msg(strstr(diags_first_error(&d), files[_i].says) != NULL, "%s",
	              diags_first_error(&d));
	for (unsigned i = 0; i < d.n; i++) {
		if (d.items[i].level == DIAG_ERROR) {
			ck_assert_uint_eq(d.items[i].line, files[_i].line);
			break;
		}
	}
}
END_TEST

START_TEST(conf_values)
{
	const char *text = "mesh 6T 4 2t\nportgroup_max_ports 20\nport_order 3 1 3 2\n"
			   "next_seed\nx_dateline -2\nxm_link 1 0x10\nyp_link 1 2\n"
			   "zp_link 1 3\nmax_changes 7\n";
	const struct torus_conf *c;
	struct diags d;

	diags_init(&d, arena);
	ck_assert_int_eq(torus_conf_parse("f", text, strlen(text), arena, &d, &c), E_OK);
	ck_assert(c->radix[0] == 6 && c->radix[1] == 4 && c->radix[2] == 2);
	ck_assert(c->closed[0] && !c->closed[1] && !c->closed[2]); /* of two: open */
	ck_assert_uint_eq(c->n_seeds, 2);
	ck_assert_uint_eq(c->seed[0].line, 0);
	ck_assert_uint_eq(c->seed[1].line, 6);
	ck_assert(c->seed[1].has[1] && !c->seed[1].has[0] && c->seed[1].to[1] == 16);
	ck_assert_int_eq(c->seed[1].dateline[0], -2);
	ck_assert(c->max_ports == 20 && c->max_changes == 7 && c->n_order == 3);
	ck_assert(c->order[0] == 3 && c->order[1] == 1 && c->order[2] == 2);
	ck_assert_uint_eq(d.n_warnings, 1); /* the first seed is empty */
}
END_TEST

/* Any bytes are read or refused. */
START_TEST(conf_noise)
{
	static const char *const words[] = { "torus",       "mesh",
		                             "xp_link",     "zm_link",
		                             "x_dateline",  "next_seed",
		                             "port_order",  "4",
		                             "5t",          "1",
		                             "0x1",         "-3",
		                             "\n",          "\n",
		                             "#",           "\t",
		                             "\r",          "portgroup_max_ports",
		                             "max_changes", "99999999999999999999" };
	uint64_t seed = (uint64_t)_i * 31 + 7;
	const struct torus_conf *c;
	char text[600];
	size_t n = 0;

	for (unsigned i = 0; i < 60; i++) {
		n += (size_t)snprintf(
			text + n, sizeof(text) - n, "%s%c",
			words[random_below(&seed, sizeof(words) / sizeof(*words))],
			random_below(&seed, 40) ? ' ' : (int)random_below(&seed, 256));
		n = n < sizeof(text) ? n : sizeof(text) - 1;
	}
	torus_conf_parse("f", text, n, arena, NULL, &c);
}
END_TEST

START_TEST(conf_file)
{
	const void *c = NULL;
	struct diags d;

	diags_init(&d, arena);
	ck_assert_int_eq(torus_conf_read("/nonexistent/torus.conf", arena, &d, &c),
	                 -ENOENT);
	ck_assert_uint_eq(d.n_errors, 1);
	ck_assert_ptr_null(c);
}
END_TEST

/* ---- routing ---- */

struct torus_opts {
	const struct torus_conf *conf;
};

static int run(const struct graph *g, const struct lids *l, const struct torus_conf *c,
               unsigned vls, struct route_out *ret_out)
{
	const struct engine *e = engine_find("torus-2QoS");
	struct torus_opts o = { c };
	struct route_in in = {
		.g = g, .lids = l, .options = &o, .max_lanes = (uint8_t)vls
	};

	*ret_out = (struct route_out){ 0 };
	return e->route(&in, arena, ret_out);
}

static void check_proof(const struct graph *g, const struct lids *l,
                        const struct route_out *out, const char *what,
                        struct proof *ret_proof)
{
	ck_assert_int_eq(proof_run(g, l, &out->lft, &out->lanes, arena, ret_proof), E_OK);
	ck_assert_msg(proof_passed(ret_proof, true), "%s: %s", what,
	              proof_text(ret_proof, g, arena));
}

/* Next switch on the way to a LID. */
static uint32_t step(const struct graph *g, const struct lft *lft, uint32_t s,
                     uint32_t lid)
{
	uint32_t port = graph_port(g, g->switches[s], lft_row(lft, s)[lid]);

	return g->nodes[g->ports[g->ports[port].peer].node].sw;
}

/* An assertion that holds costs a write to a file: too dear for each step of each path.
 */
static void must(bool holds, const char *what)
{
	if (!holds) {
		ck_abort_msg("%s", what);
	}
}

/* Walks a healthy pair: dimension after dimension, no further than need be; the SL says
 * where it crosses datelines. */
static void check_way(const struct grid *x, const struct graph *g, const struct lids *l,
                      const struct route_out *out, uint32_t from, uint32_t to)
{
	uint32_t lid = l->of[g->nodes[g->switches[to]].first_port].base;
	uint32_t a[TORUS_DIMS], b[TORUS_DIMS], at[TORUS_DIMS], last = 0, sl = 0, hops = 0;

	coordinates(g, from, a);
	coordinates(g, to, b);
	memcpy(at, a, sizeof(at));
	for (uint32_t s = from; s != to; hops++) {
		uint32_t next[TORUS_DIMS], changed = 0;

		s = step(g, &out->lft, s, lid);
		coordinates(g, s, next);
		while (next[changed] == at[changed]) {
			changed++;
		}
		must(changed >= last, "against the order of dimensions");
		last = changed;
		if (is_closed(x, changed) && x->radix[changed] > 2 &&
		    (at[changed] > next[changed] ? at[changed] - next[changed]
		                                 : next[changed] - at[changed]) > 1) {
			sl |= 1U << changed;
		}
		memcpy(at, next, sizeof(at));
	}
	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		uint32_t direct = a[d] > b[d] ? a[d] - b[d] : b[d] - a[d];
		uint32_t wrap = x->radix[d] - direct;

		hops -= is_closed(x, d) && wrap < direct ? wrap : direct;
		if (is_closed(x, d) && wrap != direct) {
			must((sl >> d & 1) == (wrap < direct), "the longer way");
		}
	}
	must(hops == 0, "not a shortest path");
	must(lane_of(&out->lanes, from, lid) == sl, "another SL than the way's");
}

/* A bit of the SL for each dimension up to the last one that is closed. */
static unsigned n_lanes(const struct grid *x)
{
	unsigned n = 1;

	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		n = is_closed(x, d) ? 2U << d : n;
	}
	return n;
}

START_TEST(healthy)
{
	const struct grid *x = &grids[_i % N_GRIDS];
	bool guessed = _i >= N_GRIDS;
	struct graph *g = fabric_make(x->command, 0, 1, arena);
	struct lids l = fabric_lids(g, (uint32_t)_i % 2, 0, arena);
	struct route_out out;
	struct proof p;
	struct load load;

	ck_assert_msg(run(g, &l, guessed ? NULL : conf_of(g, x), 8, &out) == E_OK, "%s",
	              out.notes.text);
	ck_assert_msg((out.notes.text[0] != '\0') == guessed, "%s", out.notes.text);
	check_proof(g, &l, &out, x->command, &p);
	ck_assert_uint_eq(p.vls_used, x->closed ? 4 : 2); /* two on each QoS level */
	ck_assert_uint_eq(out.lanes.n, n_lanes(x));
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t t = 0; t < g->n_switches; t++) {
			check_way(x, g, &l, &out, s, t);
		}
	}
	ck_assert_int_eq(load_build(g, &l, &out.lft, arena, &load), E_OK);
	if (x->radix[0] == x->radix[1] && x->closed) {
		ck_assert_uint_eq(load.max, (uint32_t)load.mean);
	}
}
END_TEST

/* Without the bit for QoS levels, and without that for turns. */
START_TEST(few_vls)
{
	static const struct {
		unsigned there, used, levels;
	} cases[] = { { 15, 8, 2 }, { 8, 8, 2 }, { 7, 4, 1 }, { 4, 4, 1 },
		      { 3, 2, 1 },  { 2, 2, 1 }, { 0, 8, 2 } };
	struct graph *g = fabric_make("torus 4x5x3 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out;
	struct proof p;

	ck_assert_int_eq(run(g, &l, NULL, cases[_i].there, &out), E_OK);
	ck_assert_uint_eq(lanes_vls(&out.lanes), cases[_i].used);
	ck_assert_uint_eq(out.lanes.rule->levels, cases[_i].levels);
	ck_assert_uint_eq(out.lanes.n, 8);
	check_proof(g, &l, &out, "few VLs", &p);
	ck_assert_uint_eq(p.vls_used, 2 * cases[_i].levels);
}
END_TEST

START_TEST(one_vl)
{
	struct graph *g = fabric_make("torus 4x5x3 1", 0, 1, arena);
	struct graph *mesh = fabric_make("mesh 4x5x3 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena), lm = fabric_lids(mesh, 0, 0, arena);
	struct route_out out;
	struct proof p;

	ck_assert_int_eq(run(g, &l, NULL, 1, &out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "needs 2 data VLs"));
	ck_assert_int_eq(run(mesh, &lm, NULL, 1, &out), E_OK);
	check_proof(mesh, &lm, &out, "mesh", &p);
	ck_assert_uint_eq(lanes_vls(&out.lanes), 1);
}
END_TEST

/* The rule as the manual states it. */
START_TEST(rule)
{
	struct graph *g = fabric_make("torus 4x5x3 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out;
	const struct vl_rule *r;

	ck_assert_int_eq(run(g, &l, NULL, 8, &out), E_OK);
	r = out.lanes.rule;
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (unsigned port = 0; port <= g->nodes[g->switches[s]].n_ports;
		     port++) {
			/* the generator's ports: 1, 2 along x, 3, 4 y, 5, 6 z, then hosts
			 */
			unsigned class = port == 0 || port > 6 ? 0 : (port + 1) / 2;

			ck_assert_uint_eq(vl_class(r, s, port), class);
		}
	}
	for (unsigned sl = 0; sl < 16; sl++) {
		for (unsigned in = 0; in < 4; in++) {
			ck_assert_uint_eq(r->vl[in][0][sl], sl >> 3);
			for (unsigned out_class = 1; out_class < 4; out_class++) {
				unsigned want = (sl >> (out_class - 1) & 1) |
				                (in > out_class ? 2 : 0) | (sl >> 3) << 2;

				ck_assert_uint_eq(r->vl[in][out_class][sl], want);
			}
		}
	}
}
END_TEST

/* ---- open dimensions of closed cabling ---- */

static const struct {
	const char *command, *shape;
	uint32_t radix[TORUS_DIMS];
	bool open[TORUS_DIMS];
} wrapped[] = {
	{ "torus 6x6 1", "mesh 6 6 1", { 6, 6, 1 }, { true, true } },
	{ "torus 6x6 1", "torus 6t 6m 1", { 6, 6, 1 }, { false, true } },
	{ "torus 6x6 1", "torus 6m 6 1", { 6, 6, 1 }, { true, false } },
	{ "torus 9x3 1", "mesh 9 3 1", { 9, 3, 1 }, { true, true } },
	{ "torus 8x5 1", "mesh 8 5t 1", { 8, 5, 1 }, { true, false } },
	{ "torus 5x5x5 1", "torus 5 5m 5", { 5, 5, 5 }, { false, true, false } },
	{ "torus 5x6x3 1", "mesh 5 6 3", { 5, 6, 3 }, { true, true, true } },
	{ "torus 5x4x3 1", "mesh 5 4 3", { 5, 4, 3 }, { true, true, true } },
};

/* Steps from one place to another: not over the ends of an open dimension. */
static void check_inside(unsigned i, const struct graph *g, const struct lids *l,
                         const struct route_out *out, uint32_t from, uint32_t to)
{
	uint32_t lid = l->of[g->nodes[g->switches[to]].first_port].base;
	uint32_t a[TORUS_DIMS], b[TORUS_DIMS], hops = 0, want = 0;

	coordinates(g, from, a);
	coordinates(g, to, b);
	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		uint32_t direct = a[d] > b[d] ? a[d] - b[d] : b[d] - a[d];
		uint32_t across = wrapped[i].radix[d] - direct;

		want += wrapped[i].open[d] || direct < across ? direct : across;
	}
	for (uint32_t s = from; s != to; hops++) {
		s = step(g, &out->lft, s, lid);
	}
	must(hops == want, "over the ends of an open dimension, or a detour");
}

START_TEST(open_on_closed)
{
	struct graph *g = fabric_make(wrapped[_i].command, 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);

	for (unsigned seed = 0; seed < 4; seed++) {
		struct grid x = { .closed = false };
		uint32_t at[TORUS_DIMS] = { 0 };
		char *text = arena_alloc(arena, TEXT_SIZE);
		size_t n = (size_t)snprintf(text, TEXT_SIZE, "%s\n", wrapped[_i].shape);
		struct diags *d = arena_alloc(arena, sizeof(*d));
		const struct torus_conf *c;
		struct route_out out;
		struct proof p;

		for (unsigned k = 0; k < TORUS_DIMS; k++) {
			x.radix[k] = wrapped[_i].radix[k];
			x.n_dims += x.radix[k] > 1;
			at[k] = seed % 3 * (x.radix[k] - 1) / 2;
		}
		diags_init(d, arena);
		/* the last one at a corner, with links to both sides */
		n = add_links(g, &x, at, seed == 3, text, n);
		ck_assert_msg(torus_conf_parse("f", text, n, arena, d, &c) == E_OK, "%s",
		              diags_first_error(d));
		ck_assert_msg(run(g, &l, c, 8, &out) == E_OK, "%s, seed %u: %s",
		              wrapped[_i].shape, seed, out.notes.text);
		check_proof(g, &l, &out, wrapped[_i].shape, &p);
		for (uint32_t s = 0; s < g->n_switches; s++) {
			for (uint32_t t = 0; t < g->n_switches; t++) {
				check_inside((unsigned)_i, g, &l, &out, s, t);
			}
		}
		ck_assert_msg(strstr(out.notes.text, "join the ends of") != NULL, "%s",
		              out.notes.text);
	}
}
END_TEST

/* ---- what is missing ---- */

/* The same fabric without one switch (GRAPH_NONE: with all) and some cables, by index of
 * the lower of their two channels. */
static struct graph *without(const struct graph *g, uint32_t gone, const bool *cut)
{
	uint32_t *now = arena_array(arena, g->n_nodes, sizeof(*now));
	struct graph *x = graph_new(arena);
	struct diags *d = arena_alloc(arena, sizeof(*d));

	diags_init(d, arena);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];

		now[i] = GRAPH_NONE;
		if (gone == GRAPH_NONE || i != g->switches[gone]) {
			ck_assert_int_eq(graph_add_node(x, n->type, n->guid, n->n_ports,
			                                n->description, n->id, &now[i]),
			                 E_OK);
		}
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		uint32_t peer = p->peer, other;

		if (peer == GRAPH_NONE || peer < i || (cut && cut[i]) ||
		    now[p->node] == GRAPH_NONE) {
			continue;
		}
		other = g->ports[peer].node;
		if (now[other] != GRAPH_NONE) {
			ck_assert_int_eq(
				graph_connect(
					x, graph_port(x, now[p->node], p->num),
					graph_port(x, now[other], g->ports[peer].num)),
				E_OK);
		}
	}
	ck_assert_int_eq(graph_freeze(x, d), E_OK);
	return x;
}

/* SLs between the switches that are left are those of the healthy torus. */
static void check_same_sls(const struct graph *g, const struct lids *l,
                           const struct route_out *out, const struct graph *whole,
                           const struct lids *lh, const struct route_out *was,
                           const char *what)
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t hs = whole->nodes[graph_node_by_guid(
						   whole, g->nodes[g->switches[s]].guid)]
		                      .sw;

		for (uint32_t i = 0; i < g->n_end_ports; i++) {
			uint32_t p = g->end_ports[i];
			uint32_t hp = graph_port_by_guid(whole, g->ports[p].guid);
			uint32_t to = graph_switch_of(g, p);

			if (to == GRAPH_NONE || to == s) {
				continue;
			}
			must(lane_of(&out->lanes, s, l->of[p].base) ==
			             lane_of(&was->lanes, hs, lh->of[hp].base),
			     what);
		}
	}
}

struct healthy {
	struct graph *g;
	struct lids l;
	struct route_out out;
	const struct torus_conf *c;
};

static struct healthy make_healthy(const struct grid *x)
{
	struct healthy h = { .g = fabric_make(x->command, 0, 1, arena) };

	h.l = fabric_lids(h.g, 0, 0, arena);
	h.c = conf_of(h.g, x);
	ck_assert_int_eq(run(h.g, &h.l, h.c, 8, &h.out), E_OK);
	return h;
}

/* All that a fabric which is not whole owes. \return whether it was accepted. */
static bool check_broken(const struct healthy *h, struct graph *g, unsigned vls,
                         const char *what, struct route_out *out)
{
	struct lids l = fabric_lids(g, 0, 0, arena);
	int ret = run(g, &l, h->c, vls, out);
	struct proof p;

	if (ret == E_UNSUITABLE) {
		ck_assert_msg(out->notes.text[0], "%s: refused without a reason", what);
		return false;
	}
	ck_assert_int_eq(ret, E_OK);
	ck_assert_msg(out->notes.text[0], "%s: nothing said of what is missing", what);
	check_proof(g, &l, out, what, &p);
	check_same_sls(g, &l, out, h->g, &h->l, &h->out, what);
	return true;
}

START_TEST(each_switch)
{
	struct healthy h = make_healthy(&grids[_i]);
	struct route_out out;

	for (uint32_t s = 0; s < h.g->n_switches; s++) {
		struct arena *outer = begin_round();
		const char *what =
			arena_printf(arena, "%s without switch %u", grids[_i].command, s);

		ck_assert_msg(check_broken(&h, without(h.g, s, NULL), s % 4 ? 4 : 8, what,
		                           &out),
		              "%s: %s", what, out.notes.text);
		ck_assert(!out.beyond_rule);
		end_round(outer);
	}
}
END_TEST

static uint32_t cells_of(const struct grid *x)
{
	return x->radix[0] * x->radix[1] * x->radix[2];
}

/* Which ring a cable is in. */
static uint32_t ring_of(const struct grid *x, const struct graph *g, uint32_t s,
                        uint32_t t)
{
	uint32_t a[TORUS_DIMS], b[TORUS_DIMS], at = 0;
	unsigned d = 0;

	coordinates(g, s, a);
	coordinates(g, t, b);
	while (a[d] == b[d]) {
		d++;
	}
	a[d] = 0;
	for (unsigned k = 0; k < TORUS_DIMS; k++) {
		at = at * x->radix[k] + a[k];
	}
	return d * cells_of(x) + at;
}

/* Cuts cables at random. \return the most in one ring: what the test itself counts. */
static unsigned cut_cables(const struct grid *x, const struct graph *g, unsigned n,
                           bool spare, uint64_t *seed, bool *cut)
{
	unsigned most = 0,
		 *in_ring = arena_array(arena, 3 * cells_of(x), sizeof(*in_ring));

	while (n--) {
		uint32_t c = random_below(seed, g->n_adj), s = 0;
		const struct sw_link *k = &g->adj[c];
		uint32_t port, peer, *ring;

		while (g->adj_first[s + 1] <= c) {
			s++;
		}
		port = graph_port(g, g->switches[s], k->port);
		peer = g->ports[port].peer;
		ring = &in_ring[ring_of(x, g, s, k->to)];
		if (cut[port] || (spare && *ring)) {
			continue;
		}
		cut[port] = cut[peer] = true;
		++*ring;
		most = *ring > most ? *ring : most;
	}
	return most;
}

/* Sets of few cables, and of as many as there can be with one in a ring. */
START_TEST(random_cables)
{
	const struct grid *x = &grids[_i];
	struct healthy h = make_healthy(x);
	uint64_t seed = 0x2005 + (unsigned)_i;
	unsigned accepted = 0, refused = 0;

	for (unsigned k = 0; k < 100; k++) {
		struct arena *outer = begin_round();
		bool *cut = arena_array(arena, h.g->n_ports, sizeof(*cut));
		bool spare = k % 2;
		unsigned n = 1 + random_below(&seed, spare ? h.g->n_adj / 2 : 9);
		unsigned most = cut_cables(x, h.g, n, spare, &seed, cut);
		const char *what = arena_printf(arena, "%s, set %u", x->command, k);
		struct route_out out;
		bool ok = check_broken(&h, without(h.g, GRAPH_NONE, cut), 2, what, &out);

		ck_assert_msg(ok == (most <= 1), "%s: %u cut in a ring: %s", what, most,
		              out.notes.text);
		accepted += ok;
		refused += !ok;
		end_round(outer);
	}
	ck_assert_uint_ge(accepted, 60);
	ck_assert_uint_ge(refused, 5);
}
END_TEST

/* A switch and cables: free of credit loops, with the SLs as they were, whenever it is
 * accepted; and it is unless the switch and a cable leave a ring in pieces. */
START_TEST(switch_and_cables)
{
	const struct grid *x = &grids[_i];
	struct healthy h = make_healthy(x);
	uint64_t seed = 0x70505 + (unsigned)_i;
	unsigned accepted = 0;

	for (unsigned k = 0; k < 40; k++) {
		struct arena *outer = begin_round();
		bool *cut = arena_array(arena, h.g->n_ports, sizeof(*cut));
		uint32_t gone = random_below(&seed, h.g->n_switches);
		const char *what = arena_printf(arena, "%s without switch %u, set %u",
		                                x->command, gone, k);
		struct route_out out;

		cut_cables(x, h.g, 1 + random_below(&seed, 12), true, &seed, cut);
		accepted += check_broken(&h, without(h.g, gone, cut), 4, what, &out);
		end_round(outer);
	}
	ck_assert_uint_ge(accepted, 15);
}
END_TEST

/* Two switches: next to each other along z, or not. */
START_TEST(two_switches)
{
	static const struct {
		uint32_t a[TORUS_DIMS], b[TORUS_DIMS];
		bool ok;
	} cases[] = {
		{ { 1, 1, 1 }, { 1, 1, 2 }, true },  { { 3, 2, 3 }, { 3, 2, 0 }, true },
		{ { 1, 1, 1 }, { 1, 1, 3 }, false }, { { 1, 1, 1 }, { 1, 2, 1 }, false },
		{ { 1, 1, 1 }, { 2, 1, 1 }, false }, { { 1, 1, 1 }, { 3, 3, 3 }, false },
	};
	struct healthy h = make_healthy(&grids[1]);
	struct graph *one = without(h.g, switch_at(h.g, cases[_i].a), NULL);
	struct graph *g = without(one, switch_at(one, cases[_i].b), NULL);
	struct route_out out;
	bool ok = check_broken(&h, g, 8, "two switches", &out);

	ck_assert_msg(ok == cases[_i].ok, "%s", out.notes.text);
	ck_assert(ok || strstr(out.notes.text, "missing in more than one place"));
}
END_TEST

/* With 2 VLs a missing switch may do, but is not promised to. */
START_TEST(switch_with_two_vls)
{
	struct healthy h = make_healthy(&grids[0]);
	struct graph *g = without(h.g, 21, NULL);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out;

	ck_assert_int_eq(run(g, &l, h.c, 2, &out), E_OK);
	ck_assert(out.beyond_rule);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "should have 4 data VLs"));
}
END_TEST

/* ---- other cabling ---- */

/* A torus with several cables between neighbours: ports in any order, or in order and one
 * cable across the torus, which is to carry nothing. */
static struct graph *build(const struct grid *x, unsigned cables, bool scrambled,
                           uint32_t hosts, uint64_t seed)
{
	uint32_t n = cells_of(x), at[TORUS_DIMS];
	unsigned ports = 6 * cables + hosts + 1; /* one is for a stray cable */
	struct graph *g = graph_new(arena);
	uint32_t *node = arena_array(arena, n, sizeof(*node));
	uint32_t **order = arena_array(arena, n, sizeof(*order));
	struct diags *d = arena_alloc(arena, sizeof(*d));

	diags_init(d, arena);
	for (uint32_t i = 0; i < n; i++) {
		at[0] = i / x->radix[2] / x->radix[1];
		at[1] = i / x->radix[2] % x->radix[1];
		at[2] = i % x->radix[2];
		const char *name =
			arena_printf(arena, "t-%03u-%03u-%03u", at[0], at[1], at[2]);

		ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 0x1000 + i, ports, name,
		                                name, &node[i]),
		                 E_OK);
		order[i] = fabric_shuffle(ports, &seed, arena);
	}
	for (uint32_t i = 0; i < n * TORUS_DIMS; i++) {
		uint32_t s = i / TORUS_DIMS, dim = i % TORUS_DIMS, t;
		uint32_t stride = dim == 2   ? 1
		                  : dim == 1 ? x->radix[2]
		                             : x->radix[2] * x->radix[1];
		uint32_t c = s / stride % x->radix[dim];

		if (c + 1 == x->radix[dim] && !is_closed(x, dim)) {
			continue;
		}
		t = c + 1 == x->radix[dim] ? s - c * stride : s + stride;
		for (unsigned k = 0; k < cables; k++) {
			unsigned p = (2 * dim) * cables + k, q = p + cables;

			p = scrambled ? order[s][p] : p;
			q = scrambled ? order[t][q] : q;
			ck_assert_int_eq(graph_connect(g, graph_port(g, node[s], p + 1),
			                               graph_port(g, node[t], q + 1)),
			                 E_OK);
		}
	}
	for (uint32_t i = 0; i < n * hosts; i++) {
		uint32_t s = i / hosts, p = 6 * cables + i % hosts, ca;

		ck_assert_int_eq(
			graph_add_node(g, NODE_CA, 0x100000 + i, 1, "h", NULL, &ca),
			E_OK);
		p = scrambled ? order[s][p] : p;
		ck_assert_int_eq(graph_connect(g, graph_port(g, node[s], p + 1),
		                               graph_port(g, ca, 1)),
		                 E_OK);
	}
	if (scrambled) {
		ck_assert_int_eq(graph_freeze(g, d), E_OK);
		return g;
	}
	ck_assert_int_eq(graph_connect(g, graph_port(g, node[0], ports),
	                               graph_port(g, node[n / 2 + 1], ports)),
	                 E_OK);
	ck_assert_int_eq(graph_freeze(g, d), E_OK);
	return g;
}

/* Three cables between neighbours carry the same, whatever the order of ports. */
START_TEST(parallel_cables)
{
	const struct grid *x = &grids[_i % N_BROKEN];
	bool scrambled = _i >= N_BROKEN;
	struct graph *g = build(x, 3, scrambled, 3, 11);
	struct lids l = fabric_lids(g, (uint32_t)_i % 2, 0, arena);
	struct route_out out;
	struct proof p;
	struct load load;

	ck_assert_msg(run(g, &l, conf_of(g, x), 8, &out) == E_OK, "%s", out.notes.text);
	ck_assert_msg(scrambled
	                      ? !out.notes.text[0]
	                      : strstr(out.notes.text, "which are no neighbours") != NULL,
	              "%s", out.notes.text);
	check_proof(g, &l, &out, x->command, &p);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t t = 0; t < g->n_switches; t++) {
			check_way(x, g, &l, &out, s, t);
		}
	}
	ck_assert_int_eq(load_build(g, &l, &out.lft, arena, &load), E_OK);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t first = g->adj_first[s];

		for (uint32_t i = first; i < g->adj_first[s + 1]; i++) {
			for (uint32_t k = first; k < i; k++) {
				uint32_t a = load.base[i], b = load.base[k];

				must(g->adj[i].to != g->adj[k].to ||
				             (10 * a <= 11 * b + 30 &&
				              10 * b <= 11 * a + 30),
				     "parallel cables carry different loads");
			}
		}
	}
}
END_TEST

/* Without a file the ports must show the torus. */
START_TEST(scrambled_without_file)
{
	struct graph *g = build(&grids[0], 1, true, 1, 3);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out;

	ck_assert_int_eq(run(g, &l, NULL, 8, &out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "torus_config names a file"));
	g = build(&grids[0], 2, false, 1, 3);
	l = fabric_lids(g, 0, 0, arena);
	ck_assert_int_eq(run(g, &l, NULL, 8, &out), E_OK);
}
END_TEST

/* A port that no switch has is refused, and the last one that there is is not. */
START_TEST(port_order)
{
	struct graph *g = build(&grids[0], 2, false, 1, 3);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct engine *e = engine_find("torus-2QoS");
	struct torus_conf c = *conf_of(g, &grids[0]);
	struct torus_opts o = { &c };
	struct route_in in = { .g = g, .lids = &l, .options = &o };
	struct why why = { "" };

	c.n_order = 2;
	c.order[0] = 1;
	c.order[1] = g->max_port;
	ck_assert_int_eq(e->check(&in, &why), E_OK);
	c.order[1]++;
	ck_assert_int_eq(e->check(&in, &why), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(why.text, "no switch of the fabric has more than"));
}
END_TEST

/* Ports in any order, and cables and a switch gone: places follow from the cables alone
 * as long as neighbours tell them; what is accepted is right. */
START_TEST(scrambled_and_broken)
{
	const struct grid *x = &grids[_i];
	struct healthy h = { .g = build(x, 1, true, 2, 5) };
	uint64_t seed = 77;
	unsigned accepted = 0;

	h.l = fabric_lids(h.g, 0, 0, arena);
	h.c = conf_of(h.g, x);
	ck_assert_int_eq(run(h.g, &h.l, h.c, 8, &h.out), E_OK);
	for (unsigned k = 0; k < 30; k++) {
		struct arena *outer = begin_round();
		bool *cut = arena_array(arena, h.g->n_ports, sizeof(*cut));
		uint32_t gone = k % 2 ? random_below(&seed, h.g->n_switches) : GRAPH_NONE;
		struct route_out out;

		cut_cables(x, h.g, random_below(&seed, 8) + !(k % 2), true, &seed, cut);
		accepted += check_broken(&h, without(h.g, gone, cut), 4,
		                         arena_printf(arena, "%s, set %u", x->command, k),
		                         &out);
		end_round(outer);
	}
	ck_assert_uint_ge(accepted, 20);
}
END_TEST

/* ---- refusals ---- */

/* clang-format off */
static const struct {
	const char *fabric, *conf, *says;
} refusals[] = {
	{ "torus 4x4x4 1", "torus 4 4 4\nxp_link 0xf00 1\nxm_link 0xf00 2\nyp_link 0xf00 3\nym_link 0xf00 4\n"
	  "zp_link 0xf00 5\nzm_link 0xf00 6\n", "no seed of f has all its switches" },
	{ "torus 5x5 1", "torus 5 6 1\n%s", "has no place on the 5 x 6 x 1 torus of f" },
	{ "torus 5x5 1", "torus 5 4m 1\n%s", "f:2: the switches of this seed can't be neighbours like that" },
	{ "torus 5x5 17", "torus 5 5 1\nportgroup_max_ports 17\n%s", "has 18 ports in a group" },
	{ "ft2 5 1 5", NULL, "the cables show no mesh or torus" },
	{ "ft3 8", NULL, "the cables show no mesh or torus" },
	{ "torus 3x3x3x3 1", NULL, "the cables show no mesh or torus" },
	{ "jellyfish 16 4 2", NULL, "the cables show no mesh or torus" },
};
/* clang-format on */

START_TEST(refused)
{
	struct graph *g = fabric_make(refusals[_i].fabric, 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct torus_conf *c = NULL;
	struct route_out out;

	if (refusals[_i].conf) {
		const char *head = refusals[_i].conf, *links = strstr(head, "%s");
		char *text = arena_alloc(arena, TEXT_SIZE);
		size_t n = links ? (size_t)(links - head) : strlen(head);
		struct diags d;

		memcpy(text, head, n);
		if (links) {
			n = add_seed(g,
			             &(struct grid){ .n_dims = 2,
			                             .radix = { 5, 5, 1 },
			                             .closed = true },
			             (uint32_t[]){ 0, 0, 0 }, text, n);
		}
		diags_init(&d, arena);
		ck_assert_msg(torus_conf_parse("f", text, n, arena, &d, &c) == E_OK, "%s",
		              diags_first_error(&d));
	}
	int ret = run(g, &l, c, 8, &out);
	ck_assert_msg(ret == E_UNSUITABLE, "accepted: %s", out.notes.text);
	ck_assert_msg(strstr(out.notes.text, refusals[_i].says) != NULL, "%s",
	              out.notes.text);
}
END_TEST

/* opensm.conf names the default file, which need not be there until it is used. */
START_TEST(no_default_file)
{
	const struct torus_conf c = { .path = TORUS_CONF_DEFAULT, .absent = true };
	struct torus_opts o = { &c };
	struct route_in in = { .options = &o };
	struct why why = { "" };

	ck_assert_int_eq(engine_find("torus-2QoS")->check(&in, &why), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(why.text, "does not exist"));
}
END_TEST

/* ---- multicast ---- */

static struct torus torus_of(const struct graph *g, const struct torus_conf *c)
{
	struct torus t = { .g = g, .conf = c };
	struct why why = { "" };

	ck_assert_int_eq(dims_init(&t.dims, g, NULL, arena), E_OK);
	ck_assert_msg(torus_place(&t, arena, &why) == E_OK, "%s", why.text);
	ck_assert_msg(torus_fit(&t, arena, &why) == E_OK, "%s", why.text);
	return t;
}

/* Every switch hangs on the root by hops along x, then y, then z; no hop crosses a
 * dateline in a ring that is whole. */
static void check_tree(const struct torus *t)
{
	struct torus_tree tree;
	struct why why = { "" };

	ck_assert_msg(torus_tree(t, arena, &tree, &why) == E_OK, "%s", why.text);
	for (uint32_t s = 0; s < t->g->n_switches; s++) {
		uint32_t at = s, hops = 0;
		unsigned last = TORUS_DIRS;

		for (; at != tree.root; hops++) {
			unsigned dir = tree.up[at], dim = dir / 2;
			uint32_t c = torus_coordinate(t, t->cell[at], dim);

			must(dir < TORUS_DIRS && dim <= last &&
			             t->group[at * TORUS_DIRS + dir].n > 0 &&
			             (c != (dir % 2 ? 0 : t->radix[dim] - 1) ||
			              t->gap[dim][t->cell[at]] != TORUS_NO_GAP),
			     "a hop that the tree should not have"); /* up: z, y, x */
			last = dim;
			at = t->sw[torus_next(t, t->cell[at], dir)];
		}
		must(hops == tree.depth[s], "depth");
	}
}

START_TEST(tree)
{
	const struct grid *x = &grids[_i];
	struct graph *g = fabric_make(x->command, 0, 1, arena);
	const struct torus_conf *c = conf_of(g, x);
	struct torus t = torus_of(g, c);
	uint64_t seed = 5;

	check_tree(&t);
	for (uint32_t s = 0; x->closed && s < g->n_switches; s++) {
		struct arena *outer = begin_round();
		bool *cut = arena_array(arena, g->n_ports, sizeof(*cut));
		struct route_out out;
		struct graph *y;
		struct lids l;

		if (s % 3 == 0) {
			cut_cables(x, g, 3, true, &seed, cut);
		}
		y = without(g, x->n_dims > 1 ? s : GRAPH_NONE, cut);
		l = fabric_lids(y, 0, 0, arena);
		if (run(y, &l, c, 8, &out) == E_OK) {
			t = torus_of(y, c);
			check_tree(&t);
		}
		end_round(outer);
	}
}
END_TEST

#define LOOP(test, rows)                                                                 \
	tcase_add_loop_test(t, test, 0, (int)(sizeof(rows) / sizeof(*(rows))))

TEST_SUITE(torus)
{
	TCase *t = tcase_create("torus");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	LOOP(conf, files);
	tcase_add_test(t, conf_values);
	tcase_add_loop_test(t, conf_noise, 0, 200);
	tcase_add_test(t, conf_file);
	tcase_add_loop_test(t, healthy, 0, 2 * N_GRIDS);
	tcase_add_loop_test(t, open_on_closed, 0, sizeof(wrapped) / sizeof(*wrapped));
	tcase_add_loop_test(t, few_vls, 0, 7);
	tcase_add_test(t, one_vl);
	tcase_add_test(t, rule);
	tcase_add_loop_test(t, each_switch, 0, N_BROKEN);
	tcase_add_loop_test(t, random_cables, 0, N_BROKEN);
	tcase_add_loop_test(t, switch_and_cables, 0, N_BROKEN);
	tcase_add_loop_test(t, two_switches, 0, 6);
	tcase_add_test(t, switch_with_two_vls);
	tcase_add_loop_test(t, parallel_cables, 0, 2 * N_BROKEN);
	tcase_add_test(t, scrambled_without_file);
	tcase_add_test(t, port_order);
	tcase_add_loop_test(t, scrambled_and_broken, 0, N_BROKEN);
	LOOP(refused, refusals);
	tcase_add_test(t, no_default_file);
	tcase_add_loop_test(t, tree, 0, N_GRIDS);
	suite_add_tcase(suite, t);
}

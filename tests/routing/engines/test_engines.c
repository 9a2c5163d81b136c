/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What every routing engine owes, whatever it is: on every fabric that it does not
 * refuse, complete tables without forwarding loops, without credit loops if it says so,
 * the same for any order of input and number of threads; and on the fabrics that it is
 * made for, no refusal and a stated balance. A new engine is covered as soon as it stands
 * in engines.def; a row of promises says what more it owes.
 */
#include <check.h>
#include <errno.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "conf/policy/guidfile.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths.h"
#include "routing/proof/proof.h"
#include "routing/spread/leaves.h"
#include "routing/text/topofile.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

enum kind { TREE = 1, MESH = 2, OTHER = 4, ANY = TREE | MESH | OTHER };

/* Fabrics to try: generators, or files of tests/fabrics. */
static const struct {
	const char *command;
	enum kind kind;
} fabrics[] = {
	{ "ft2 6 4 3", TREE },
	{ "ft2 3 5 2 2", TREE },
	{ "ft3 4", TREE },
	{ "ft3 6", TREE },
	{ "ft3 8", TREE },
	{ "tree3 3 4 4 2 3", TREE },
	{ "director 6 4 2 3 2", TREE },
	{ "director 8 4 2 4 2 2", TREE },
	{ "mesh 4x3 2", MESH },
	{ "mesh 2x3x4 1", MESH },
	{ "torus 4x4 2", OTHER },
	{ "torus 5x3 1", OTHER },
	{ "hypercube 4 2", MESH },
	{ "dragonfly 2 4 2", OTHER },
	{ "jellyfish 16 4 2", OTHER },
	{ "back-to-back.topo", OTHER },
	{ "demo-648.topo", TREE },
	{ "dual-port.topo", OTHER },
	{ "esp0.topo", OTHER },
	{ "ring-4.topo", OTHER },
	{ "router.topo", OTHER },
	{ "split.topo", OTHER },
	{ "two-switch.topo", OTHER },
};
static const double fails[] = { 0, 0.01, 0.05, 0.2 };

enum {
	N_FABRICS = sizeof(fabrics) / sizeof(*fabrics),
	N_FAILS = sizeof(fails) / sizeof(*fails),
	SEEDS = 2
};

/* Promises of an engine beyond those that all make. */
static const struct promise {
	const char *engine;
	enum kind accepts; /* healthy ones of these kinds are not refused */
	double broken; /* of those: share of missing cables up to which none is refused */
} promises[] = {
	{ "minhop", ANY, 1 }, { "updn", TREE, 0.2 }, { "dnup", TREE | MESH, 0.2 },
	{ "file", ANY, 1 },   { "dor", ANY, 1 },     { "sssp", ANY, 1 },
	{ "dfsssp", ANY, 1 }, { "lash", ANY, 1 },    { "dmodc", TREE, 0.2 },
	{ "ftree", TREE, 0 }, { "shortestpath", ANY, 1 },
	{ "fattree", TREE, 0.2 },
	{ "dgshortestpath", ANY, 1 },
	{ "nue", ANY, 1 },
};

/*
 * Busiest link against the mean over links, base LIDs. With a fifth of the cables gone
 * one switch has 3 of its 8 ways up left: 2.2 is the least there is. In the
 * oversubscribed tree links further up carry more.
 */
static const struct {
	const char *engine, *command;
	double fail, ratio;
} balanced[] = {
	{ "minhop", "ft3 8", 0, 1.06 },
	{ "minhop", "ft3 16", 0, 1.03 },
	{ "minhop", "torus 6x6x6 1", 0, 1.15 },
	{ "updn", "ft2 18 9 9", 0, 1.0 },
	{ "updn", "ft3 8", 0, 1.06 },
	{ "updn", "ft3 16", 0, 1.03 },
	{ "updn", "tree3 4 8 8 4 4", 0, 1.35 },
	{ "updn", "ft3 16", 0.01, 1.4 },
	{ "updn", "ft3 16", 0.05, 1.7 },
	{ "updn", "ft3 16", 0.2, 2.3 },
	{ "dnup", "ft3 16", 0, 1.03 },
	{ "dnup", "ft3 16", 0.05, 1.7 },
	{ "dor", "hypercube 6 2", 0, 1.0 },
	{ "dor", "torus 6x6 2", 0, 1.34 },
	{ "dor", "torus 8x8x8 2", 0, 1.25 },
	{ "sssp", "ft2 18 9 9", 0, 1.0 },
	{ "sssp", "ft3 16", 0, 1.03 },
	{ "sssp", "ft3 16", 0.05, 1.63 },
	{ "sssp", "torus 6x6x6 1", 0, 1.1 },
	{ "sssp", "jellyfish 64 8 4", 0, 1.3 },
	{ "sssp", "ft3 16", 0.01, 1.3 },
	{ "sssp", "ft3 16", 0.2, 2.3 },
	{ "dfsssp", "ft3 16", 0, 1.03 },
	{ "dfsssp", "ft3 16", 0.05, 1.63 },
	{ "dfsssp", "ft3 16", 0.01, 1.3 },
	{ "dfsssp", "dragonfly 4 8 4", 0, 1.3 },
	{ "dfsssp", "torus 6x6x6 1", 0, 1.2 },
	{ "lash", "ft2 18 9 9", 0, 1.0 },
	{ "lash", "ft3 16", 0, 1.03 },
	{ "lash", "tree3 4 8 8 4 4", 0, 1.35 },
	{ "lash", "ft3 16", 0.05, 1.7 },
	{ "lash", "hypercube 6 2", 0, 1.0 },
	{ "lash", "torus 8x8x8 2", 0, 1.13 },
	{ "lash", "jellyfish 64 8 4", 0, 1.3 },
	{ "torus-2QoS", "torus 6x6 2", 0, 1.12 },
	{ "torus-2QoS", "torus 8x8x8 2", 0, 1 },
	{ "shortestpath", "ft2 18 9 9", 0, 1.0 },
	{ "shortestpath", "ft3 16", 0, 1.03 },
	{ "shortestpath", "ft3 16", 0.05, 1.7 },
	{ "shortestpath", "torus 6x6x6 1", 0, 1.15 },
	{ "shortestpath", "jellyfish 64 8 4", 0, 1.15 },
	{ "fattree", "ft2 18 9 9", 0, 1.0 },
	{ "fattree", "ft3 16", 0, 1.03 },
	{ "fattree", "ft3 16", 0.0005, 1.2 },
	{ "fattree", "ft3 16", 0.01, 1.4 },
	{ "fattree", "ft3 16", 0.05, 1.7 },
	{ "fattree", "tree3 4 8 8 4 4", 0, 1.35 },
	{ "nue", "ft2 18 9 9", 0, 1.0 },
	{ "nue", "ft3 16", 0, 1.03 },
	{ "nue", "tree3 4 8 8 4 4", 0, 1.35 },
	{ "nue", "ft3 16", 0.05, 1.7 },
	{ "nue", "ft3 16", 0.2, 2.3 },
	{ "nue", "hypercube 6 2", 0, 1.0 },
	{ "nue", "torus 8x8x8 2", 0, 1.45 },
	{ "nue", "torus 6x6 2", 0, 1.6 },
	{ "nue", "jellyfish 64 8 4", 0, 3.2 },
	{ "nue", "dragonfly 4 8 4", 0, 2.0 },
};

static struct arena *arena;

static void set_threads(int n)
{
#ifdef _OPENMP
	omp_set_num_threads(n);
#else
	(void)n;
#endif
}

static void setup(void)
{
	arena = arena_new();
	set_threads(1);
}

static void teardown(void)
{
	arena_free(arena);
}

static unsigned engine_count(void)
{
	unsigned n = 0;

	while (engines[n]) {
		n++;
	}
	return n;
}

/* A fabric of the table. NULL: a file has no broken variants. */
static struct graph *make(unsigned i, double fail, uint32_t seed)
{
	const char *name = fabrics[i].command, *dir = getenv("srcdir");
	struct diags *d = arena_alloc(arena, sizeof(*d));
	struct graph *g = NULL;

	if (!strstr(name, ".topo")) {
		return fabric_make(name, fail, seed, arena);
	}
	if (fail > 0 || seed > 1) {
		return NULL;
	}
	diags_init(d, arena);
	name = arena_printf(arena, "%s/tests/fabrics/%s", dir ? dir : ".", name);
	ck_assert_msg(topo_read(name, true, arena, d, &g) == E_OK, "%s", diags_first_error(d));
	return g;
}

/* Default options of an engine. */
static void *default_options(const struct engine *e)
{
	struct option_sets s = { .n = 0 };
	void *base;

	if (!e->options) {
		return NULL;
	}
	base = arena_alloc(arena, e->opt_size);
	ck_assert_int_eq(option_sets_add(&s, e->options, base), E_OK);
	ck_assert_int_eq(option_set_defaults(&s, arena), E_OK);
	return base;
}

/* Tables, or NULL when the engine refuses; then it says why. */
static struct route_out *route(const struct engine *e, const struct graph *g,
                               const struct lids *l, struct why *why)
{
	struct route_in in = { .g = g, .lids = l, .options = default_options(e) };
	struct route_out *out = arena_alloc(arena, sizeof(*out));
	int ret = e->check ? e->check(&in, why) : E_OK;

	if (ret == E_OK) {
		ret = e->route(&in, arena, out);
		*why = ret == E_OK ? *why : out->notes;
	}
	if (ret == E_UNSUITABLE) {
		ck_assert_msg(why->text[0], "%s refuses and does not say why", e->name);
		return NULL;
	}
	ck_assert_msg(ret == E_OK, "%s: %s", e->name, err_text(ret));
	return out;
}

static void check_proof(const struct engine *e, const struct graph *g,
                        const struct lids *l, const struct route_out *out,
                        const char *what)
{
	struct proof p;

	ck_assert_int_eq(proof_run(g, l, &out->lft, &out->lanes, arena, &p), E_OK);
	ck_assert_msg(p.unreachable_pairs + p.holes + p.forwarding_loops == 0,
	              "%s on %s: %s", e->name, what, proof_text(&p, g, arena));
	if ((e->flags & ENGINE_DEADLOCK_FREE) && !out->beyond_rule) {
		ck_assert_msg(p.credit_loops + p.management_credit_loops == 0,
		              "%s on %s: %s", e->name, what, proof_text(&p, g, arena));
	}
	ck_assert_uint_ge(out->lanes.n, 1);
	ck_assert_uint_le(out->lanes.n, 15);
	ck_assert((e->flags & (ENGINE_NEEDS_LANES | ENGINE_MAY_USE_LANES)) ||
	          lanes_vls(&out->lanes) == 1);
}

static void check_same(const struct engine *e, const struct route_out *a,
                       const struct route_out *b, const char *what, const char *how)
{
	size_t bytes = a->lft.n_switches * a->lft.stride;

	ck_assert_uint_eq(a->lft.stride, b->lft.stride);
	ck_assert_msg(!memcmp(a->lft.rows, b->lft.rows, bytes), "%s on %s: %s", e->name,
	              what, how);
	ck_assert_uint_eq(a->lanes.n, b->lanes.n);
	ck_assert((a->lanes.rows != NULL) == (b->lanes.rows != NULL));
	ck_assert_msg(!a->lanes.rows || !memcmp(a->lanes.rows, b->lanes.rows,
	                                        a->lft.n_switches * a->lanes.stride),
	              "%s on %s: lanes, %s", e->name, what, how);
	ck_assert((a->lanes.rule != NULL) == (b->lanes.rule != NULL));
	if (a->lanes.rule) {
		const struct vl_rule *x = a->lanes.rule, *y = b->lanes.rule;

		ck_assert_msg(x->vls == y->vls && x->levels == y->levels &&
		                      x->level_shift == y->level_shift &&
		                      !memcmp(x->vl, y->vl, sizeof(x->vl)) &&
		                      !memcmp(x->port_class, y->port_class,
		                              (size_t)a->lft.n_switches * x->width),
		              "%s on %s: SL-to-VL rule, %s", e->name, what, how);
	}
}

static bool must_accept(const struct engine *e, enum kind kind, double fail)
{
	for (size_t i = 0; i < sizeof(promises) / sizeof(*promises); i++) {
		if (!strcmp(promises[i].engine, e->name)) {
			return (promises[i].accepts & kind) && fail <= promises[i].broken;
		}
	}
	return false;
}

static void check_engine(const struct engine *e, const struct graph *g,
                         const struct graph *other, uint32_t lmc, bool must,
                         const char *what)
{
	struct lids l = fabric_lids(g, lmc, lmc, arena);
	struct lids lo = fabric_lids(other, lmc, lmc, arena);
	struct why why = { "" }, again = { "" };
	struct route_out *one, *two, *shuffled;

	set_threads(1);
	one = route(e, g, &l, &why);
	ck_assert_msg(one || !must, "%s refuses %s: %s", e->name, what, why.text);
	set_threads(2);
	two = route(e, g, &l, &again);
	set_threads(1); /* waiting threads spin: slow on a busy machine */
	shuffled = route(e, other, &lo, &again);
	ck_assert_msg((one == NULL) == (two == NULL) &&
	                      (one == NULL) == (shuffled == NULL),
	              "%s on %s: refused or not", e->name, what);
	if (!one) {
		return;
	}
	check_proof(e, g, &l, one, what);
	check_same(e, one, two, what, "threads");
	check_same(e, one, shuffled, what, "order of input");
}

START_TEST(every_engine)
{
	const struct engine *e = engines[(unsigned)_i % engine_count()];
	unsigned f = (unsigned)_i / engine_count();

	for (unsigned k = 0; k < N_FAILS * (unsigned)test_seeds(SEEDS); k++) {
		double fail = fails[k % N_FAILS];
		uint32_t seed = k / N_FAILS + 1;
		struct graph *g = k >= N_FAILS && fail == 0 ? NULL : make(f, fail, seed);

		for (uint32_t lmc = 0; g && lmc <= 2; lmc += 2) {
			bool lmc_fits = lmc == 0 || !(e->flags & ENGINE_LMC0_ONLY);
			const char *what =
				arena_printf(arena, "%s, %g gone, seed %u, LMC %u",
			                     fabrics[f].command, fail, seed, lmc);

			if (lmc_fits) {
				check_engine(e, g, fabric_reordered(g, seed + 17, arena),
				             lmc, must_accept(e, fabrics[f].kind, fail),
				             what);
			}
		}
	}
}
END_TEST

/* A sweep that is overtaken ends its routing: no engine that suits the fabric goes on. */
START_TEST(cancelled)
{
	const struct engine *e = engines[(unsigned)_i % engine_count()];
	unsigned suited = e->bind != NULL; /* chains needs files */

	for (unsigned f = 0; f < N_FABRICS; f++) {
		struct graph *g = make(f, 0, 1);
		if (g->n_switches < 8) {
			continue; /* done before anybody looks */
		}
		struct lids l = fabric_lids(g, 0, 0, arena);
		_Atomic bool cancel = true;
		struct route_in in = { .g = g,
			               .lids = &l,
			               .options = default_options(e),
			               .cancel = &cancel };
		struct route_out out = { 0 };
		struct why why = { 0 };

		if (e->check && e->check(&in, &why) != E_OK) {
			continue;
		}
		int ret = e->route(&in, arena, &out);
		ck_assert_msg(ret == -ECANCELED || ret == E_UNSUITABLE, "%s on %s: %s",
		              e->name, fabrics[f].command, err_text(ret));
		ck_assert_ptr_null(out.lft.rows);
		suited += ret == -ECANCELED;
	}
	ck_assert_msg(suited > 0, "%s", e->name);
}
END_TEST

static unsigned find_fabric(const char *name)
{
	unsigned i = 0;

	while (strcmp(fabrics[i].command, name) != 0) {
		i++;
	}
	return i;
}

/* Root files: the NodeGUID of a host stands for the switches of all its ports. */
START_TEST(roots_by_node_guid)
{
	const struct engine *e = engines[(unsigned)_i % engine_count()];
	struct guid_record r = { .guid = UINT64_C(0x0002c90500003000),
		                 .rest = "",
		                 .line = 1 };
	struct guid_file roots = { .path = "roots", .records = &r, .n = 1 };
	struct graph *g = make(find_fabric("dual-port.topo"), 0, 1);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_in in = { .g = g, .lids = &l, .options = default_options(e) };
	const struct option_row *o = e->options;
	struct route_out out = { 0 };

	/* only its second port is cabled */
	ck_assert_uint_ne(graph_node_by_guid(g, r.guid), GRAPH_NONE);
	ck_assert_uint_eq(graph_port_by_guid(g, r.guid), GRAPH_NONE);
	while (o && o->name && strcmp(o->name, "root_guid_file") != 0) {
		o++;
	}
	if (!o || !o->name) {
		return;
	}
	*(const struct guid_file **)((char *)(uintptr_t)in.options + o->offset) = &roots;
	ck_assert_int_eq(e->route(&in, arena, &out), E_OK);
	ck_assert_msg(!strstr(out.notes.text, "0x0002c90500003000"), "%s: %s", e->name,
	              out.notes.text);
}
END_TEST

/* The first hosts of all leaves, backwards; for each leaf its last uplink, or its uplinks
 * backwards. */
static struct guid_file *list_of(const struct graph *g, const char *option)
{
	struct guid_file *f = arena_alloc(arena, sizeof(*f));
	struct guid_record *records = arena_array(arena, g->n_switches, sizeof(*records));

	*f = (struct guid_file){ .path = option, .records = records };
	for (uint32_t s = g->n_switches; s-- > 0;) {
		struct guid_record *r = &records[f->n];

		if (g->host_first[s] == g->host_first[s + 1]) {
			continue;
		}
		*r = (struct guid_record){ .guid = g->nodes[g->switches[s]].guid,
			                   .rest = "6 5 4",
			                   .line = ++f->n };
		if (!strcmp(option, "port_prof_ignore_file")) {
			r->rest = "6";
		} else if (!strcmp(option, "guid_routing_order_file")) {
			r->guid = g->ports[g->hosts[g->host_first[s]]].guid;
			r->rest = "";
		}
	}
	return f;
}

static const char *const stage2[] = {
	"port_prof_ignore_file",
	"port_search_ordering_file",
	"dimn_ports_file",
	"guid_routing_order_file",
	"scatter_ports",
	"port_shifting",
	"port_profile_switch_nodes",
};

/* Options with one of the balancing stage set. */
static void *stage2_options(const struct engine *e, const struct graph *g,
                            const char *name)
{
	char *base = default_options(e);
	const struct option_row *o = e->options;

	while (o && o->name && strcmp(o->name, name) != 0) {
		o++;
	}
	ck_assert_msg(o && o->name, "%s has no option %s", e->name, name);
	if (o->type == OPT_GUID_FILE) {
		*(const struct guid_file **)(void *)(base + o->offset) = list_of(g, name);
	} else if (o->type == OPT_UINT) {
		*(uint32_t *)(void *)(base + o->offset) = 7;
	} else {
		*(bool *)(void *)(base + o->offset) = true;
	}
	return base;
}

/* Every option of the stage makes a difference, in every engine that claims to have it.
 */
START_TEST(stage2_options_count)
{
	const struct engine *e = engines[(unsigned)_i % engine_count()];
	const char *name = stage2[(unsigned)_i / engine_count()];
	struct graph *g = fabric_make("ft2 7 3 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_in in = { .g = g, .lids = &l };
	struct route_out plain = { 0 }, with = { 0 };

	if (!(e->flags & ENGINE_STAGE2)) {
		return;
	}
	in.options = default_options(e);
	ck_assert_int_eq(e->route(&in, arena, &plain), E_OK);
	in.options = stage2_options(e, g, name);
	ck_assert_int_eq(e->route(&in, arena, &with), E_OK);
	check_proof(e, g, &l, &with, name);
	ck_assert_msg(!with.notes.text[0], "%s: %s", e->name, with.notes.text);
	ck_assert_msg(memcmp(plain.lft.rows, with.lft.rows,
	                     plain.lft.n_switches * plain.lft.stride) != 0,
	              "%s ignores %s", e->name, name);
}
END_TEST

/* Engines that deal destinations out one after the other, on whole trees. */
static const struct {
	const char *engine, *command;
	double ratio;
} renamed[] = {
	{ "minhop", "ft3 8", 1.06 }, { "minhop", "ft3 16", 1.03 },
	{ "updn", "ft3 8", 1.06 },   { "updn", "ft3 16", 1.03 },
	{ "dnup", "ft3 16", 1.03 },  { "shortestpath", "ft3 16", 1.03 },
	{ "sssp", "ft3 16", 1.03 },  { "dfsssp", "ft3 16", 1.03 },
	{ "lash", "ft3 16", 1.03 },  { "nue", "ft3 16", 1.03 },
	{ "minhop", "tree3 4 8 8 4 4", 1.35 }, { "updn", "tree3 4 8 8 4 4", 1.35 },
};

/* Whatever the GUIDs, loads are as even as where they follow the cables. */
START_TEST(balance_of_any_guids)
{
	const char *command = renamed[_i].command;
	const struct engine *e = engine_find(renamed[_i].engine);
	struct graph *g = fabric_renamed(fabric_make(command, 0, 1, arena), 7, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct why why = { "" };
	struct route_out *out = route(e, g, &l, &why);
	struct load load;

	ck_assert_msg(out != NULL, "%s: %s", command, why.text);
	check_proof(e, g, &l, out, command);
	ck_assert_int_eq(load_build(g, &l, &out->lft, arena, &load), E_OK);
	ck_assert_msg(load.max <= renamed[_i].ratio * load.mean + 1e-6,
	              "%s on %s: max %u mean %.2f", e->name, command, load.max,
	              load.mean);
}
END_TEST

START_TEST(balance)
{
	const struct engine *e = engine_find(balanced[_i].engine);
	struct graph *g = fabric_make(balanced[_i].command, balanced[_i].fail, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct why why = { "" };
	struct route_out *out = route(e, g, &l, &why);
	struct load load;

	ck_assert_msg(out != NULL, "%s: %s", balanced[_i].command, why.text);
	check_proof(e, g, &l, out, balanced[_i].command);
	ck_assert_int_eq(load_build(g, &l, &out->lft, arena, &load), E_OK);
	ck_assert_msg(load.max <= balanced[_i].ratio * load.mean + 1e-6,
	              "%s on %s, %g gone: max %u mean %.2f", e->name,
	              balanced[_i].command, balanced[_i].fail, load.max, load.mean);
}
END_TEST

/* Lower bound on the busiest link: all routes that leave the hosts of one switch. */
static double least_load(const struct graph *g)
{
	uint32_t n = g->host_first[g->n_switches];
	double most = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t hosts = g->host_first[s + 1] - g->host_first[s];
		uint32_t links = g->adj_first[s + 1] - g->adj_first[s];
		double least = links ? (double)hosts * (n - hosts) / links : 0;

		most = least > most ? least : most;
	}
	return most;
}

static const char *const evened[] = { "minhop",       "updn",    "dnup",
	                              "shortestpath", "fattree", "sssp" };
static const struct {
	const char *command;
	double fail;
} uneven[] = {
	{ "ft3 12", 0.002 }, { "ft3 12", 0.05 }, { "ft3 16", 0.0005 },
	{ "ft3 16", 0.01 },  { "ft3 16", 0.05 }, { "tree3 6 6 6 6 6", 0.03 },
};

enum {
	N_EVENED = sizeof(evened) / sizeof(*evened),
	N_UNEVEN = sizeof(uneven) / sizeof(*uneven)
};

/* Broken trees: the busiest link carries little more than it must. */
START_TEST(near_the_least_load)
{
	const struct engine *e = engine_find(evened[(unsigned)_i % N_EVENED]);
	unsigned f = (unsigned)_i / N_EVENED;

	for (uint32_t seed = 1; seed <= (uint32_t)test_seeds(3); seed++) {
		struct graph *g =
			fabric_make(uneven[f].command, uneven[f].fail, seed, arena);
		struct lids l = fabric_lids(g, 0, 0, arena);
		struct why why = { "" };
		struct route_out *out = route(e, g, &l, &why);
		struct load load;

		ck_assert_msg(out != NULL, "%s: %s", uneven[f].command, why.text);
		check_proof(e, g, &l, out, uneven[f].command);
		ck_assert_int_eq(load_build(g, &l, &out->lft, arena, &load), E_OK);
		ck_assert_msg(load.max <= 1.05 * least_load(g),
		              "%s on %s, %g gone, seed %u: max %u, least %.0f", e->name,
		              uneven[f].command, uneven[f].fail, seed, load.max,
		              least_load(g));
	}
}
END_TEST

/* The same fabric without a share of its hosts, so that leaves differ in size. */
static struct graph *without_hosts(const struct graph *g, double share, uint64_t seed)
{
	uint32_t *at = arena_array(arena, g->n_nodes, sizeof(*at));
	struct graph *x = graph_new(arena);
	struct diags *d = arena_alloc(arena, sizeof(*d));

	diags_init(d, arena);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];
		bool gone = n->type != NODE_SWITCH &&
		            random_below(&seed, 1000) < (uint32_t)(1000 * share);

		at[i] = GRAPH_NONE;
		if (!gone) {
			ck_assert_int_eq(graph_add_node(x, n->type, n->guid, n->n_ports,
			                                n->description, NULL, &at[i]),
			                 E_OK);
		}
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i], *q;

		if (p->peer == GRAPH_NONE || p->peer < i) {
			continue;
		}
		q = &g->ports[p->peer];
		if (at[p->node] != GRAPH_NONE && at[q->node] != GRAPH_NONE) {
			ck_assert_int_eq(
				graph_connect(x, graph_port(x, at[p->node], p->num),
			                      graph_port(x, at[q->node], q->num)),
				E_OK);
		}
	}
	ck_assert_int_eq(graph_freeze(x, d), E_OK);
	return x;
}

static const char *const real_kinds[] = {
	"ft2 12 16 8",           "ft2 10 12 4 3",        "tree3 4 6 12 4 4",
	"tree3 3 8 8 6 7",       "director 16 12 2 6 6", "director 12 10 2 4 4 2",
	"director 12 8 1 6 4 4",
};

/* Trees as they are built, with leaves of different size and parallel cables: no link of
 * the default engine carries more than half as much again as the mean, or as it must. */
START_TEST(real_trees)
{
	const char *command = real_kinds[_i];

	for (uint32_t seed = 1; seed <= (uint32_t)test_seeds(4); seed++) {
		struct graph *g = without_hosts(fabric_make(command, 0, 1, arena),
		                                0.1 * seed, seed);
		struct lids l = fabric_lids(g, 0, 0, arena);
		struct why why = { "" };
		struct route_out *out = route(engine_find("minhop"), g, &l, &why);
		struct load load;
		double least = least_load(g);

		check_proof(engine_find("minhop"), g, &l, out, command);
		ck_assert_int_eq(load_build(g, &l, &out->lft, arena, &load), E_OK);
		/* nor more than the cable of one host */
		ck_assert_msg(load.max <= 1.5 * load.mean || load.max <= 1.05 * least ||
		                      load.max < g->n_hosts,
		              "%s, seed %u: max %u, mean %.1f, least %.1f", command, seed,
		              load.max, load.mean, least);
	}
}
END_TEST

/* LIDs per way up, whether a route comes by or not: as many on each. */
START_TEST(lids_per_port)
{
	static const char *const commands[] = { "ft3 8", "ft3 12", "tree3 4 6 6 6 6",
		                                "ft2 18 9 9" };
	struct graph *g = fabric_make(commands[_i], 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct why why = { "" };
	struct lft lft = route(engine_find("minhop"), g, &l, &why)->lft;
	uint16_t *height;

	ck_assert_int_eq(leaves_heights(g, arena, &height), E_OK);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t n[256] = { 0 }, least = UINT32_MAX, most = 0;

		for (uint32_t h = 0; h < g->n_hosts; h++) {
			n[lft_row(&lft, s)[l.of[g->hosts[h]].base]]++;
		}
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t k = n[g->adj[i].port];

			if (height[g->adj[i].to] > height[s]) {
				least = k < least ? k : least;
				most = k > most ? k : most;
			}
		}
		ck_assert_msg(least == UINT32_MAX || most - least <= 1,
		              "%s: %s has from %u to %u LIDs on its ways up",
		              commands[_i], g->nodes[g->switches[s]].description, least,
		              most);
	}
}
END_TEST

/* 256 switches in a row: 255 hops are more than a byte with a mark for "none" holds. */
START_TEST(too_long_for_minhop)
{
	struct graph *g = fabric_make("mesh 256 1", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_in in = { .g = g, .lids = &l };
	struct route_out out = { 0 };

	ck_assert_int_eq(engine_find("minhop")->route(&in, arena, &out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "254 hops"));
	g = fabric_make("mesh 255 1", 0, 1, arena);
	l = fabric_lids(g, 0, 0, arena);
	in.g = g;
	ck_assert_int_eq(engine_find("minhop")->route(&in, arena, &out), E_OK);
}
END_TEST

TEST_SUITE(engines)
{
	TCase *t = tcase_create("engines");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, every_engine, 0, (int)(N_FABRICS * engine_count()));
	tcase_add_loop_test(t, cancelled, 0, (int)engine_count());
	tcase_add_loop_test(t, roots_by_node_guid, 0, (int)engine_count());
	tcase_add_loop_test(t, stage2_options_count, 0,
	                    (int)(sizeof(stage2) / sizeof(*stage2) * engine_count()));
	tcase_add_loop_test(t, balance, 0, sizeof(balanced) / sizeof(*balanced));
	tcase_add_loop_test(t, near_the_least_load, 0, N_EVENED * N_UNEVEN);
	tcase_add_loop_test(t, lids_per_port, 0, 4);
	tcase_add_test(t, too_long_for_minhop);
	tcase_add_loop_test(t, real_trees, 0, sizeof(real_kinds) / sizeof(*real_kinds));
	tcase_add_loop_test(t, balance_of_any_guids, 0,
	                    sizeof(renamed) / sizeof(*renamed));
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Longer than most: engine, fallback, proof and the memory of routes are tried through the one call. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/engine_options.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/route.h"
#include "routing/text/topofile.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/lib/temp_file.h"

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

/* clang-format off */
static const struct {
	const char *text;
	int ret;
	unsigned n;
	bool no_fallback;
} lists[] = {
	{ NULL,                         E_OK,      1, false },
	{ "",                           E_OK,      1, false },
	{ " ,\t ",                      E_OK,      1, false },
	{ "minhop",                     E_OK,      1, false },
	{ "minhop,no_fallback",         E_OK,      1, true },
	{ "no_fallback\tminhop",        E_OK,      1, true },
	{ "no_fallback",                E_OK,      1, true },
	{ " minhop ,, minhop\tminhop ", E_OK,      1, false },
	{ "Minhop",                     E_UNKNOWN, 0, false },
	{ "minhop,minho",               E_UNKNOWN, 0, false },
	{ "minhop;no_fallback",         E_UNKNOWN, 0, false },
};
/* clang-format on */

START_TEST(list)
{
	struct route_list l = { .n = 99 };
	struct why why = { "" };

	ck_assert_int_eq(route_list_parse(lists[_i].text, &l, &why), lists[_i].ret);
	if (lists[_i].ret == E_OK) {
		ck_assert_uint_eq(l.n, lists[_i].n);
		ck_assert_str_eq(l.engine[0]->name, "minhop");
		ck_assert_int_eq(l.no_fallback, lists[_i].no_fallback);
		ck_assert_str_eq(why.text, "");
	} else {
		ck_assert_uint_eq(l.n, 99);
		ck_assert_ptr_nonnull(strstr(why.text, "unknown routing engine '"));
		ck_assert_ptr_nonnull(strstr(why.text, "known are minhop, "));
	}
}
END_TEST

START_TEST(why_is_lines_and_never_too_long)
{
	struct why w = { "" };

	why_add(&w, "one %d", 1);
	why_add(&w, "two");
	ck_assert_str_eq(w.text, "one 1\ntwo");
	for (unsigned i = 0; i < 300; i++) {
		why_add(&w, "line %u of many", i);
	}
	ck_assert_uint_lt(strlen(w.text), sizeof(w.text));
}
END_TEST

START_TEST(engine_table)
{
	for (unsigned i = 0; engines[i]; i++) {
		ck_assert_ptr_eq(engine_find(engines[i]->name), engines[i]);
		ck_assert_ptr_nonnull(engines[i]->route);
		ck_assert(engines[i]->summary && *engines[i]->summary);
		ck_assert_int_eq(engines[i]->options != NULL, engines[i]->opt_size != 0);
	}
	ck_assert_ptr_null(engine_find("no such"));
	ck_assert_ptr_null(engine_find(""));

	struct engine_options o;
	ck_assert_int_eq(engine_options_init(&o, arena), E_OK);
	for (unsigned i = 0; engines[i]; i++) {
		ck_assert_int_eq(o.base[i] != NULL, engines[i]->options != NULL);
	}
}
END_TEST

static double clock_now;

static double tick(void)
{
	return clock_now += 0.5;
}

/* A job over a fabric; the list is read from text. */
static struct route_request request(const struct graph *g, uint32_t lmc, const char *text)
{
	struct lids *l = arena_alloc(arena, sizeof(*l));
	struct route_request r = { .g = g, .lids = l };
	struct why why = { "" };

	*l = fabric_lids(g, lmc, 0, arena);
	ck_assert_int_eq(route_list_parse(text, &r.list, &why), E_OK);
	return r;
}

START_TEST(healthy)
{
	struct graph *g = fabric_make("ft3 4", 0, 1, arena);
	struct route_request r = request(g, 1, "");
	struct route_result result;

	r.now = tick;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.engine_asked, "minhop");
	ck_assert_str_eq(result.used->name, "minhop");
	ck_assert_str_eq(result.fallback_reason.text, "");
	ck_assert_str_eq(result.warning.text, "");
	ck_assert(proof_passed(&result.proof, false));
	ck_assert_uint_eq(result.proof.pairs, 16 * 15 * 2);
	ck_assert_uint_eq(result.proof.vls_used, 1);
	ck_assert_uint_eq(result.paths.n_sources, 8);
	ck_assert_uint_eq(result.paths.n_lids, r.lids->top + 1);
	ck_assert_uint_gt(result.load.max, 0);
	ck_assert(result.seconds_route == 0.5 && result.seconds_prove == 0.5);

	struct route_result bare;

	r.no_paths = true;
	ck_assert_int_eq(route_run(&r, arena, &bare), E_OK);
	ck_assert_ptr_null(bare.paths.rows);
	ck_assert_uint_eq(bare.load.max, result.load.max);
	ck_assert_mem_eq(bare.load.all, result.load.all,
	                 g->n_adj * sizeof(*result.load.all));
}
END_TEST

/* Minimal routing on a ring of 5 has a credit loop each way round. */
START_TEST(credit_loop)
{
	struct graph *g = fabric_make("torus 5 1", 0, 1, arena);
	struct route_request r = request(g, 0, "minhop,no_fallback");
	struct route_result result;

	r.credit_loops = (enum credit_loops)_i;
	if (r.credit_loops == CREDIT_PROGRAM) {
		ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
		ck_assert_ptr_nonnull(strstr(result.warning.text,
		                             "can deadlock: credit loop of 5 channels"));
		ck_assert_uint_eq(result.paths.n_sources, 5);
	} else {
		ck_assert_int_eq(route_run(&r, arena, &result), E_CREDITLOOP);
		ck_assert_str_eq(result.warning.text, "");
		ck_assert_ptr_null(result.paths.rows);
	}
	ck_assert_str_eq(result.used->name, "minhop");
	ck_assert_uint_eq(result.proof.credit_loops, 2);
	ck_assert_uint_eq(result.proof.cycle[0].n, 5);
	ck_assert_ptr_nonnull(result.out.lft.rows);
}
END_TEST

/* Its default: another engine, one that is free of deadlock, with the reason. */
START_TEST(credit_loop_leads_to_another)
{
	struct graph *g = fabric_make("torus 5 1", 0, 1, arena);
	struct route_request r = request(g, 0, "");
	struct route_result result;

	r.max_lanes = (uint8_t)_i;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.engine_asked, "minhop");
	ck_assert_uint_gt(result.used->deadlock_free_order, 0);
	ck_assert_ptr_nonnull(strstr(result.fallback_reason.text, "minhop: credit loop"));
	ck_assert_str_eq(result.warning.text, "");
	ck_assert(proof_passed(&result.proof, false));
	ck_assert(_i == 0 || result.proof.vls_used <= (unsigned)_i);
	r.credit_loops = CREDIT_REFUSE;
	ck_assert_int_eq(route_run(&r, arena, &result), E_CREDITLOOP);
}
END_TEST

/* "deadlockfree" on fabrics with and without loops, on all lanes and on one. */
/* clang-format off */
static const struct {
	const char *fabric, *used; /* NULL: any that has a place in the order */
	uint8_t lanes;
} choices[] = {
	{ "ft3 4",            "updn",  0 },
	{ "ft3 4",            "updn",  1 },
	{ "mesh 4x4 2",       "dor",   0 },
	{ "mesh 4x4 2",       "dor",   1 },
	{ "torus 5x5 1",      "torus-2QoS", 0 },
	{ "torus 5x5 1",      NULL,    2 },
	{ "torus 5x5 1",      "nue",   1 },
	{ "jellyfish 16 4 2", NULL,    0 },
	{ "jellyfish 16 4 2", "nue",   1 },
};
/* clang-format on */

START_TEST(deadlock_free)
{
	struct graph *g = fabric_make(choices[_i].fabric, 0, 1, arena);
	struct route_request r = request(g, 0, "deadlockfree");
	struct route_result result;

	r.max_lanes = choices[_i].lanes;
	r.credit_loops = (enum credit_loops)(_i % 3); /* makes no difference */
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.engine_asked, "deadlockfree");
	ck_assert_str_eq(result.fallback_reason.text, "");
	ck_assert(proof_passed(&result.proof, false));
	ck_assert_uint_gt(result.used->deadlock_free_order, 0);
	if (choices[_i].used) {
		ck_assert_str_eq(result.used->name, choices[_i].used);
	}
	if (result.used != engine_find("updn")) {
		ck_assert_ptr_nonnull(strstr(result.out.notes.text, "updn: "));
	}
	if (lanes_vls(&result.out.lanes) > 1) {
		ck_assert_ptr_nonnull(strstr(
			result.out.notes.text,
			"lanes: of the engines that route well without, none fits"));
	}
	ck_assert_ptr_nonnull(strstr(
		result.out.notes.text,
		arena_printf(arena, "deadlockfree chose %s, which", result.used->name)));
}
END_TEST

/* No engine that needs lanes stands before one that needs none and knows a shape. */
START_TEST(lanes_come_behind)
{
	static const char *const without[] = { "updn", "fattree", "ftree", "dor" };

	for (const struct engine *const *e = engines; *e; e++) {
		for (unsigned i = 0; (*e)->flags & ENGINE_NEEDS_LANES && i < 4; i++) {
			ck_assert((*e)->deadlock_free_order == 0 ||
			          (*e)->deadlock_free_order >
			                  engine_find(without[i])->deadlock_free_order);
		}
	}
}
END_TEST

/* A fall-back takes them in that order, and says so. */
START_TEST(fallback_without_lanes)
{
	struct route_result result;
	unsigned n = 0;

	for (uint32_t seed = 1; seed <= 40; seed++) {
		struct graph *g = fabric_make("ft3 6", 0.25, seed, arena);
		struct route_request r = request(g, 0, "sssp");

		ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
		if (result.used->deadlock_free_order == 0) {
			continue;
		}
		n++;
		ck_assert_uint_eq(lanes_vls(&result.out.lanes), 1);
		ck_assert_ptr_nonnull(
			strstr(result.fallback_reason.text, "sssp: credit loop"));
		ck_assert_ptr_nonnull(
			strstr(result.out.notes.text,
		               "the search for an engine without credit loops chose "));
	}
	ck_assert_uint_gt(n, 0);
}
END_TEST

START_TEST(deadlock_free_list)
{
	struct route_list l;
	struct why why = { "" };

	ck_assert_int_eq(route_list_parse("minhop deadlockfree", &l, &why), E_OK);
	ck_assert_ptr_eq(l.engine[0], engine_find("minhop"));
	ck_assert_uint_eq(l.n, l.n_chosen + 1);
	for (unsigned i = 2; i < l.n; i++) {
		ck_assert_uint_gt(l.engine[i]->deadlock_free_order,
		                  l.engine[i - 1]->deadlock_free_order);
	}
	ck_assert_int_eq(route_list_parse("deadlockfree minhop", &l, &why), E_UNKNOWN);
	ck_assert_ptr_nonnull(strstr(why.text, "'minhop' behind 'deadlockfree'"));
}
END_TEST

/* Management pairs of a three-level tree turn at the bottom: only strict minds. */
START_TEST(strict)
{
	struct graph *g = fabric_make("ft3 4", 0, 1, arena);
	struct route_request r = request(g, 0, NULL);
	struct route_result result;

	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_uint_gt(result.proof.management_credit_loops, 0);
	ck_assert(result.proof.cycle[0].management);
	r.strict = true;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_uint_eq(result.proof.management_credit_loops, 0);
	r.list.no_fallback = true;
	ck_assert_int_eq(route_run(&r, arena, &result), E_CREDITLOOP);
	ck_assert_ptr_nonnull(
		strstr(result.fallback_reason.text, "management credit loop"));
}
END_TEST

/* A tree that misses cables comes up by default. */
START_TEST(degraded_tree)
{
	struct graph *g = fabric_make("ft3 8", _i ? 0.05 : 0.01, 1, arena);
	struct route_request r = request(g, 0, NULL);
	struct route_result result;

	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.fallback_reason.text, "");
	ck_assert_str_eq(result.warning.text, "");
	ck_assert_uint_eq(result.proof.credit_loops, 0);
	ck_assert_uint_gt(result.proof.management_credit_loops, 0);
	r.strict = true;
	r.credit_loops = CREDIT_REFUSE;
	ck_assert_int_eq(route_run(&r, arena, &result), E_CREDITLOOP);
}
END_TEST

/* An engine that refuses gives way to minhop, unless that is forbidden. */
static int refuse(const struct route_in *in, struct why *why)
{
	ck_assert_ptr_nonnull(in->g);
	why_add(why, "picky: does not suit");
	return E_UNSUITABLE;
}

static int never(const struct route_in *in, struct arena *a, struct route_out *ret_out)
{
	ck_abort_msg("route called after check refused: %p %p %p", (const void *)in,
	             (void *)a, (void *)ret_out);
	return E_UNSUITABLE;
}

static int empty_tables(const struct route_in *in, struct arena *a,
                        struct route_out *ret_out)
{
	ret_out->lanes.n = 1;
	return lft_init(&ret_out->lft, in->g->n_switches, in->lids->top, a);
}

/* Tosses every LID between the first two switches that are cabled. */
static int loops_only(const struct route_in *in, struct arena *a,
                      struct route_out *ret_out)
{
	int ret = empty_tables(in, a, ret_out);
	const struct sw_link *l = &in->g->adj[0];

	ck_assert_int_eq(ret, E_OK);
	memset(lft_row(&ret_out->lft, 0), l->port, in->lids->top + 1);
	memset(lft_row(&ret_out->lft, l->to), l->to_port, in->lids->top + 1);
	return E_OK;
}

static const struct engine picky = { .name = "picky", .check = refuse, .route = never };
static const struct engine lmc0 = { .name = "lmc0",
	                            .flags = ENGINE_LMC0_ONLY,
	                            .route = never };
static const struct engine lazy = { .name = "lazy", .route = empty_tables };
static const struct engine dizzy = { .name = "dizzy", .route = loops_only };

/* clang-format off */
static const struct {
	const struct engine *engine;
	int alone;          /* outcome with no_fallback */
	const char *reason;
} bad_engines[] = {
	{ &picky, E_UNSUITABLE, "picky: does not suit" },
	{ &lmc0,  E_UNSUITABLE, "lmc0: works with LMC 0 only" },
	{ &lazy,  E_NOPATH,     "lazy: switch " },
	{ &dizzy, E_LOOP,       "dizzy: forwarding loop for LID " },
};
/* clang-format on */

START_TEST(fallback)
{
	struct graph *g = fabric_make("ft2 4 2 2", 0, 1, arena);
	struct route_request r = request(g, 1, NULL);
	struct route_result result;

	r.list.engine[0] = bad_engines[_i].engine;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.engine_asked, bad_engines[_i].engine->name);
	ck_assert_str_eq(result.used->name, "minhop");
	ck_assert_ptr_nonnull(
		strstr(result.fallback_reason.text, bad_engines[_i].reason));
	ck_assert(proof_passed(&result.proof, true));

	r.list.no_fallback = true;
	ck_assert_int_eq(route_run(&r, arena, &result), bad_engines[_i].alone);
	ck_assert_ptr_nonnull(
		strstr(result.fallback_reason.text, bad_engines[_i].reason));
	ck_assert_int_eq(result.used == NULL, bad_engines[_i].alone == E_UNSUITABLE);
	ck_assert_ptr_null(result.paths.rows);
}
END_TEST

/* All tried, all bad: the first proven failure is shown, none is programmed. */
START_TEST(nothing_works)
{
	struct graph *g = fabric_make("torus 5 1", 0, 1, arena);
	struct route_request r = request(g, 1, NULL);
	struct route_result result;

	r.list = (struct route_list){ .engine = { &picky, &dizzy, &lazy,
		                                  engine_find("minhop") },
		                      .n = 4,
		                      .no_fallback = true };
	ck_assert_int_eq(route_run(&r, arena, &result), E_LOOP);
	ck_assert_ptr_eq(result.used, &dizzy);
	ck_assert_uint_gt(result.proof.forwarding_loops, 0);
	ck_assert_ptr_nonnull(strstr(result.fallback_reason.text, "picky"));
	ck_assert_ptr_nonnull(strstr(result.fallback_reason.text, "lazy"));
	ck_assert_ptr_nonnull(strstr(result.fallback_reason.text, "minhop: credit loop"));
	/* programming is allowed for credit loops only */
	r.credit_loops = CREDIT_PROGRAM;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.used->name, "minhop");
	ck_assert_str_ne(result.warning.text, "");
}
END_TEST

/* minhop's tables, every other LID in the second lane. */
static int two_lanes(const struct route_in *in, struct arena *a,
                     struct route_out *ret_out)
{
	int ret = engine_find("minhop")->route(in, a, ret_out);
	struct lft *t = &ret_out->lft;

	ck_assert_uint_ge(in->max_lanes, 1);
	ck_assert_int_eq(ret, E_OK);
	ret_out->lanes = (struct lanes){ .rows = arena_array(a, t->n_switches, t->stride),
		                         .stride = t->stride,
		                         .n = 2 };
	for (size_t i = 0; i < t->n_switches * t->stride; i++) {
		ret_out->lanes.rows[i] = i % t->stride & 1;
	}
	return E_OK;
}

static const struct engine twin = { .name = "twin", .route = two_lanes };

/* Lanes that one link does not have cannot be used. */
START_TEST(lanes_there_are)
{
	struct graph *g = fabric_make("ft2 4 2 2", 0, 1, arena);
	struct route_request r = request(g, 0, NULL);
	struct port *odd =
		&g->ports[g->nodes[g->switches[0]].first_port + g->adj[0].port];
	struct route_result result;

	r.list.engine[0] = &twin;
	ck_assert_uint_eq(route_lanes(g), 8); /* topogen's ports have VLCap 4 */
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_ptr_eq(result.used, &twin);
	ck_assert_uint_eq(result.proof.vls_used, 2);
	r.max_lanes = 1;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.used->name, "minhop");
	ck_assert_str_eq(result.fallback_reason.text, "twin: uses 2 lanes, there are 1");
	r.max_lanes = 0;
	odd->vls = 1;
	ck_assert_uint_eq(route_lanes(g), 1);
	r.list.no_fallback = true;
	ck_assert_int_eq(route_run(&r, arena, &result), E_UNSUITABLE);
	odd->vls = 5;
	g->ports[g->hosts[0]].vls = 1; /* a host's own cable does not count */
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
}
END_TEST

/* Options of a configuration for routing as a whole. */
static const struct {
	const char *what, *text;
	const char *engine; /* the first */
	unsigned adaptive;  /* bits */
	const char *said;   /* with %s for the file */
} asked[] = {
	{ "nothing", "lmc 0\n", "minhop", 0, "" },
	{ "names of MLNX_OFED", "routing_engine ar_ftree,ar_updn\n", "ftree", 3,
	  "%s: warning: routing engine ar_ftree is ftree with alternates of adaptive routing: they are computed and shown, but switches of InfiniBand are not programmed with them\n"
	  "%s: warning: routing engine ar_updn is updn with alternates of adaptive routing: they are computed and shown, but switches of InfiniBand are not programmed with them\n" },
	{ "one of several", "routing_engine lash,ar_torus\n", "lash", 2,
	  "%s: warning: routing engine ar_torus is torus-2QoS with alternates of adaptive routing: they are computed and shown, but switches of InfiniBand are not programmed with them\n" },
	{ "off again", "routing_engine ar_dor\nar_mode 0\n", "dor", 0,
	  "%s: note: routing engine ar_dor is dor, without alternates of adaptive routing because ar_mode is 0\n" },
	{ "lanes without quality of service", "routing_engine nue,lash\nqos FALSE\n",
	  "nue", 0,
	  "%s: warning: qos FALSE: routing engine 'lash' has virtual lane 0 alone; on a fabric that needs more, the next engine is taken; leave qos out, or set it to TRUE\n" },
	{ "options of another engine",
	  "routing_engine nue\nlash_start_vl 2\nnue_max_num_vls 4\n", "nue", 0,
	  "%s:2: warning: lash_start_vl '2': no effect with routing engine nue; it is for lash\n" },
	{ "their defaults", "routing_engine nue\nlash_start_vl 0\nconnect_roots no\n",
	  "nue", 0, "" },
	{ "the defaults of OpenSM",
	  "torus_config /usr/local/etc/opensm/torus-2QoS.conf\n", "minhop", 0,
	  "/usr/local/etc/opensm/torus-2QoS.conf: note: there is no such file, at the usual place of another installation: as if there were none at /etc/opensm/torus-2QoS.conf\n" },
	{ "an older name", "routing_engine nue,sssp\ndimn_ports_file /dev/null\n", "nue",
	  0,
	  "%s:2: warning: dimn_ports_file '/dev/null': no effect with routing engine nue, sssp; it is for minhop, updn, dnup, dor\n" },
	{ "options that steps of a chain read",
	  "routing_engine chains\nlash_start_vl 2\n", "chains", 0, "" },
	{ "another name of MLNX_OFED", "routing_engine chain\n", "chains", 0, "" },
	{ "the shared balancing", "routing_engine lash\nscatter_ports 8\n", "lash", 0,
	  "%s:2: warning: scatter_ports '8': no effect with routing engine lash; it is for minhop, updn, dnup, dor\n" },
};

static const char *with_path(const char *text, const char *path)
{
	const char *out = "";

	for (const char *at; (at = strstr(text, "%s")) != NULL; text = at + 2) {
		out = arena_printf(arena, "%s%.*s%s", out, (int)(at - text), text, path);
	}
	return arena_printf(arena, "%s%s", out, text);
}

START_TEST(configured)
{
	char *path = temp_file(asked[_i].text, arena);
	char *argv[] = { "saguarod", "-F", path, NULL };
	struct engine_options o;
	struct config c;
	struct route_list l;
	struct diags d;

	diags_init(&d, arena);
	ck_assert_int_eq(engine_options_init(&o, arena), E_OK);
	ck_assert_int_eq(config_read(&c, &o.sets, arena, 3, argv, &d), E_OK);
	ck_assert_int_eq(route_list_read(&c, &o, arena, &d, &l), E_OK);
	unlink(path);
	ck_assert_str_eq(take_problems(&d), with_path(asked[_i].said, path));
	ck_assert_str_eq(l.engine[0]->name, asked[_i].engine);
	ck_assert_uint_eq(l.adaptive, asked[_i].adaptive);
}
END_TEST

/* Alternates come with the name of the engine, and with no other one. */
START_TEST(adaptive_names)
{
	const struct adaptive_options off = { .port_groups = 255 };
	struct graph *g = fabric_make("ft2 4 2 2", 0, 1, arena);
	struct route_request r = request(g, 0, _i ? "ar_updn" : "updn");
	struct route_result result;

	r.adaptive = &off;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.used->name, "updn");
	ck_assert_uint_eq(result.alternates.served > 0, (unsigned)_i);
	r.list.engine[0] = &picky;
	r.list.adaptive = 1;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.used->name, "minhop");
	ck_assert_uint_eq(result.alternates.served, 0);
}
END_TEST

static unsigned threads_seen;

static int count_threads(const struct route_in *in, struct why *why)
{
	(void)in, (void)why;
	threads_seen = column_threads();
	return E_UNSUITABLE;
}

/* The caller's own number of threads is as before afterwards. */
START_TEST(threads)
{
#ifdef _OPENMP
	static const struct engine witness = { .name = "witness",
		                               .check = count_threads };
	struct graph *g = fabric_make("ft2 4 2 2", 0, 1, arena);
	struct route_request r = request(g, 0, NULL);
	struct route_result result;

	column_use_threads(3);
	r.list = (struct route_list){ .engine = { &witness }, .n = 1 };
	for (r.threads = 0; r.threads < 7; r.threads += 5) {
		ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
		ck_assert_uint_eq(threads_seen, r.threads ? r.threads : 3);
		ck_assert_uint_eq(column_threads(), 3);
	}
#else
	(void)count_threads;
#endif
}
END_TEST

/* The usual engine of opa-fm comes before minhop. */
START_TEST(usual)
{
	struct graph *g = fabric_make("ft2 4 2 2", 0, 1, arena);
	struct route_request r = request(g, 0, NULL);
	struct route_result result;

	r.list = (struct route_list){ .engine = { &picky },
		                      .n = 1,
		                      .usual = engine_find("shortestpath") };
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.used->name, "shortestpath");
	r.list.no_fallback = true;
	ck_assert_int_eq(route_run(&r, arena, &result), E_UNSUITABLE);
	r.list.n = 0;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_str_eq(result.engine_asked, "shortestpath");
}
END_TEST

START_TEST(cancel)
{
	struct graph *g = fabric_make("ft2 4 2 2", 0, 1, arena);
	struct route_request r = request(g, 0, NULL);
	struct route_result result;
	_Atomic bool stop = true;

	r.cancel = &stop;
	ck_assert_int_eq(route_run(&r, arena, &result), -ECANCELED);
	ck_assert_ptr_null(result.used);
}
END_TEST

START_TEST(foreign_tables)
{
	struct graph *g = fabric_make("ft2 4 2 2", 0, 1, arena);
	struct route_request r = request(g, 0, NULL);
	struct route_result result, again;
	uint32_t leaf = graph_switch_of(g, g->hosts[0]),
		 lid = r.lids->of[g->hosts[0]].base;
	uint8_t *entry;

	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_int_eq(route_check(&r, &result.out.lft, NULL, arena, &again), E_OK);
	ck_assert_str_eq(again.used->name, "foreign");
	ck_assert_uint_eq(again.load.max, result.load.max);
	entry = &lft_row(&result.out.lft, leaf)[lid];
	*entry = LFT_NO_ROUTE;
	ck_assert_int_eq(route_check(&r, &result.out.lft, NULL, arena, &again), E_NOPATH);
	ck_assert_uint_eq(again.proof.hole[0].lid, lid);
	*entry = g->adj[g->adj_first[leaf]].port;
	ck_assert_int_eq(route_check(&r, &result.out.lft, NULL, arena, &again), E_LOOP);
	ck_assert_uint_eq(again.proof.loop[0].lid, lid);
	ck_assert_ptr_null(again.paths.rows);
}
END_TEST

/* A strict proof forgives no management pair, be it one or all of a switch. */
START_TEST(strict_reaches_switches)
{
	struct graph *g = fabric_make("ft2 4 2 2", 0, 1, arena);
	struct route_request r = request(g, 0, NULL);
	struct route_result result, again;
	uint32_t spine = 0, lid, n = 0;

	while (g->host_first[spine] != g->host_first[spine + 1]) {
		spine++;
	}
	lid = r.lids->of[graph_port(g, g->switches[spine], 0)].base;
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint8_t *entry = &lft_row(&result.out.lft, s)[lid];

		if (s == spine || (_i == 0 && g->host_first[s] != g->host_first[s + 1])) {
			continue; /* alone, the other spine has no entry */
		}
		*entry = LFT_NO_ROUTE;
		n++;
	}
	ck_assert_uint_eq(n, _i ? 5 : 1);
	ck_assert_int_eq(route_check(&r, &result.out.lft, NULL, arena, &again), E_OK);
	ck_assert_uint_eq(again.proof.management_unreachable, n);
	r.strict = true;
	ck_assert_int_eq(route_check(&r, &result.out.lft, NULL, arena, &again), E_NOPATH);
}
END_TEST

/* clang-format off */
static const struct {
	const char *file;
	int ret;
	uint64_t pairs; /* CA and router ports, counted in the file by hand */
} files[] = {
	{ "back-to-back", E_OK,         2 * 1 },
	{ "demo-648",     E_OK,         648 * 647 },
	{ "dual-port",    E_OK,         5 * 4 },
	{ "esp0",         E_OK,         4 * 3 },
	{ "ring-4",       E_CREDITLOOP, 8 * 7 },
	{ "router",       E_OK,         4 * 3 },
	{ "split",        E_OK,         2 * 1 + 2 * 1 },
	{ "two-switch",   E_OK,         4 * 3 },
};
/* clang-format on */

/* Every fabric file: routed and proven, or refused for the reason that is known of it. */
START_TEST(fabric_files)
{
	const char *dir = getenv("srcdir");
	char *path = arena_printf(arena, "%s/tests/fabrics/%s.topo", dir ? dir : ".",
	                          files[_i].file);
	struct diags *d = arena_alloc(arena, sizeof(*d));
	struct route_result result;
	struct route_request r;
	struct graph *g;

	diags_init(d, arena);
	ck_assert_msg(topo_read(path, true, arena, d, &g) == E_OK, "%s", diags_first_error(d));
	for (uint32_t lmc = 0; lmc < 3; lmc += 2) {
		r = request(g, lmc, "no_fallback");
		ck_assert_int_eq(route_run(&r, arena, &result), files[_i].ret);
		ck_assert_uint_eq(result.proof.unreachable_pairs + result.proof.holes, 0);
		ck_assert_uint_eq(result.proof.pairs, files[_i].pairs << lmc);
	}
}
END_TEST

/* A link that has many times its share is told; one that has not is not. */
START_TEST(uneven_load)
{
	struct route_request r = request(fabric_make("torus 6x6x6 2", 0, 1, arena), 0, "dnup");
	struct route_result result;

	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_ptr_nonnull(
		strstr(result.out.notes.text, "dnup: the busiest link has "));
	ck_assert_ptr_nonnull(strstr(result.out.notes.text, " times the "));
	r = request(fabric_make("ft3 8", 0.2, 1, arena), 0, "minhop");
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_ptr_null(strstr(result.out.notes.text, "busiest link"));
}
END_TEST

TEST_SUITE(route)
{
	TCase *t = tcase_create("route");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, list, 0, sizeof(lists) / sizeof(*lists));
	tcase_add_test(t, why_is_lines_and_never_too_long);
	tcase_add_test(t, engine_table);
	tcase_add_test(t, uneven_load);
	tcase_add_test(t, healthy);
	tcase_add_loop_test(t, credit_loop, 0, 3);
	tcase_add_loop_test(t, credit_loop_leads_to_another, 0, 4);
	tcase_add_loop_test(t, deadlock_free, 0, sizeof(choices) / sizeof(*choices));
	tcase_add_test(t, lanes_come_behind);
	tcase_add_test(t, fallback_without_lanes);
	tcase_add_test(t, deadlock_free_list);
	tcase_add_test(t, strict);
	tcase_add_loop_test(t, degraded_tree, 0, 2);
	tcase_add_loop_test(t, fallback, 0, sizeof(bad_engines) / sizeof(*bad_engines));
	tcase_add_test(t, nothing_works);
	tcase_add_test(t, lanes_there_are);
	tcase_add_loop_test(t, configured, 0, sizeof(asked) / sizeof(asked[0]));
	tcase_add_loop_test(t, adaptive_names, 0, 2);
	tcase_add_test(t, threads);
	tcase_add_test(t, usual);
	tcase_add_test(t, cancel);
	tcase_add_test(t, foreign_tables);
	tcase_add_loop_test(t, strict_reaches_switches, 0, 2);
	tcase_add_loop_test(t, fabric_files, 0, sizeof(files) / sizeof(*files));
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Small changes, one after the other, routed and proven from what the run before left: the
 * tables must pass the full proof, and rows, load and figures must be those of a full computation.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/transition.h"
#include "routing/route.h"
#include "routing/route_base.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/routing/fabric_life.h"

enum { SEEDS = 3, STEPS = 20 };

static struct arena *arena;
static struct route_base *base;

static void setup(void)
{
	arena = arena_new();
	base = route_base_new();
	column_use_threads(1); /* the fabrics are too small for more */
}

static void teardown(void)
{
	route_base_free(base);
	arena_free(arena);
}

static void start(struct life *l, const char *fabric, const char *list, uint32_t seed,
                  uint32_t lmc)
{
	life_start(l, fabric_make(fabric, 0, seed, arena), list, lmc, arena);
	l->left.base = base;
}

static void check_rows(const struct life *l, const struct route_result *result)
{
	struct paths paths;
	struct load load;

	ck_assert_int_eq(paths_load_build(l->g, &l->lids, &result->out.lft,
	                                  &result->out.lanes, arena, &paths, &load),
	                 E_OK);
	ck_assert_uint_eq(paths.n_sources, result->paths.n_sources);
	ck_assert_uint_eq(paths.n_lids, result->paths.n_lids);
	ck_assert_int_eq(
		memcmp(paths.rows, result->paths.rows,
	               (size_t)paths.n_sources * paths.n_lids * sizeof(*paths.rows)),
		0);
	ck_assert_int_eq(
		memcmp(load.all, result->load.all, l->g->n_adj * sizeof(*load.all)), 0);
	ck_assert_int_eq(
		memcmp(load.base, result->load.base, l->g->n_adj * sizeof(*load.base)),
		0);
	ck_assert_uint_eq(load.max, result->load.max);
	ck_assert_uint_eq(load.p99, result->load.p99);
}

static void check_proof(const struct life *l, const struct route_result *result)
{
	const struct proof *q = &result->proof;
	struct proof p;

	ck_assert_int_eq(proof_run(l->g, &l->lids, &result->out.lft, &result->out.lanes,
	                           arena, &p),
	                 E_OK);
	ck_assert_msg(proof_passed(&p, false), "%s", proof_text(&p, l->g, arena));
	ck_assert_uint_eq(p.pairs, q->pairs);
	ck_assert_uint_eq(p.unreachable_pairs, q->unreachable_pairs);
	ck_assert_uint_eq(p.management_unreachable, q->management_unreachable);
	ck_assert_uint_eq(p.vls_used, q->vls_used);
	if (!q->management_kept) {
		ck_assert_uint_eq(p.management_credit_loops, q->management_credit_loops);
	}
}

/* No LID has an entry that nobody owns, and the list of those that changed is complete. */
static void check_entries(const struct life *l, const struct route_result *result)
{
	uint32_t at = 0;

	for (uint32_t lid = 1; lid <= l->lids.top; lid++) {
		bool changed = false, listed;

		for (uint32_t s = 0; s < l->g->n_switches; s++) {
			uint8_t entry = lft_row(&result->out.lft, s)[lid];

			changed |= entry != lft_row(&l->prev, s)[lid];
			ck_assert(l->lids.owner[lid] != GRAPH_NONE ||
			          entry == LFT_NO_ROUTE);
		}
		listed = at < result->n_changed && result->changed_lid[at] == lid;
		at += listed;
		ck_assert(listed || !changed);
	}
	ck_assert_uint_eq(at, result->n_changed);
}

static void check_transition(const struct life *l, const struct route_result *result)
{
	struct transition_in in = { .g = l->g,
		                    .lids = &l->lids,
		                    .from = &l->prev,
		                    .to = &result->out.lft,
		                    .to_is_proven = true };
	struct transition t;

	if (!result->mixtures_proven) {
		return;
	}
	ck_assert_int_eq(transition_plan(&in, arena, &t), E_OK);
	ck_assert_msg(t.credit_loops == 0, "%s", t.why.text);
	for (uint32_t lid = 1; lid <= l->lids.top; lid++) {
		bool circles = false;

		for (uint32_t i = 0; i < result->n_circling; i++) {
			circles |= result->circling[i] == lid;
		}
		ck_assert(circles || t.stage[lid] != TRANSITION_WITHDRAWN);
	}
}

/* Routes that were moved are not heaped on one link. */
static void check_load(const struct life *l, const struct route_result *result)
{
	struct route_request fresh = l->request;
	struct route_result anew;

	fresh.memory = NULL;
	ck_assert_int_eq(route_run(&fresh, arena, &anew), E_OK);
	ck_assert_uint_le(result->load.max, 2 * anew.load.max + 4);
}

static uint64_t count_hops(const struct graph *g, const struct route_result *result)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->n_adj; i++) {
		sum += result->load.all[i];
	}
	return sum;
}

/* A full run, which may keep all entries, finds nothing to move. */
static void check_full_run(const struct life *l, const struct route_result *result)
{
	struct route_request full = l->request;
	struct route_result again;
	struct route_memory kept = { .base = NULL };
	struct lft prev;

	if (!l->routes || strcmp(result->used->name, "dmodc") == 0) {
		return; /* it compares what it kept with new routes in full runs alone */
	}
	ck_assert_int_eq(lft_init(&prev, l->g->n_switches, l->lids.top, arena), E_OK);
	for (uint32_t s = 0; s < l->g->n_switches; s++) {
		memcpy(lft_row(&prev, s), lft_row(&result->out.lft, s), prev.n_lids);
	}
	kept.tables = &prev;
	kept.lanes = &result->out.lanes;
	full.memory = &kept;
	full.incremental = false;
	ck_assert_int_eq(route_run(&full, arena, &again), E_OK);
	if (again.used != result->used ||
	    count_hops(l->g, &again) != count_hops(l->g, result)) {
		return; /* another engine serves, or minhop avoids turns in another way */
	}
	for (uint32_t s = 0; s < l->g->n_switches; s++) {
		const uint8_t *row = lft_row(&result->out.lft, s),
			      *full_row = lft_row(&again.out.lft, s);

		for (uint32_t lid = 1; lid <= l->lids.top; lid++) {
			ck_assert_msg(row[lid] == full_row[lid],
			              "switch %u LID %u: port %u, then port %u", s, lid,
			              row[lid], full_row[lid]);
		}
	}
}

/* A cable from a leaf of a whole tree is lost: its routes in both directions find their place on the
 * other cables, no worse than when all is routed with what can be kept. */
START_TEST(lost_cable_is_spread)
{
	struct life l = { 0 };
	struct route_result result, whole;
	uint32_t port = 0;

	start(&l, "ft3 8", _i ? "updn" : "minhop", 1, 0);
	ck_assert_int_eq(route_run(&l.request, arena, &result), E_OK);
	life_keep_tables(&l, &result.out.lft);
	while (!life_has_link(l.whole, port)) {
		port++;
	}
	l.cut[port] = true;
	life_make_fabric(&l);
	l.request.incremental = true;
	ck_assert_int_eq(route_run(&l.request, arena, &result), E_OK);
	ck_assert(result.incremental);
	l.left.base = NULL;
	ck_assert_int_eq(route_run(&l.request, arena, &whole), E_OK);
	ck_assert_uint_le(result.load.max, whole.load.max + whole.load.max / 8);
}
END_TEST

static unsigned n_routed;

static int route_counted(const struct route_in *in, struct arena *a,
                         struct route_out *ret_out)
{
	n_routed++;
	return engine_find("minhop")->route(in, a, ret_out);
}

/* An engine that cannot repair has nothing to do for a host that goes, and routes for one that
 * comes. */
START_TEST(lost_host_needs_no_engine)
{
	static const struct engine counted = { .name = "counted", .route = route_counted };
	struct life l = { 0 };
	struct route_result result;
	uint32_t node;

	start(&l, "ft3 4", "minhop", 1, 0);
	l.request.list = (struct route_list){ .engine = { &counted }, .n = 1 };
	node = l.whole->ports[l.whole->hosts[3]].node;
	for (unsigned step = 0; step < 3; step++) {
		l.gone[node] = step == 1;
		life_make_fabric(&l);
		l.request.incremental = step != 0;
		n_routed = 0;
		ck_assert_int_eq(route_run(&l.request, arena, &result), E_OK);
		ck_assert(result.incremental == (step != 0));
		ck_assert_uint_eq(n_routed, step != 1);
		life_keep_tables(&l, &result.out.lft);
	}
}
END_TEST

static const struct {
	const char *fabric, *engines;
	uint32_t lmc;
} lives[] = {
	{ "ft2 6 3 3", "minhop", 0 },       { "ft2 6 3 3", "updn", 1 },
	{ "tree3 2 3 2 3 3", "minhop", 1 }, { "tree3 2 3 2 3 3", "updn", 0 },
	{ "tree3 2 3 2 3 3", "ftree", 0 },  { "tree3 2 3 2 3 3", "dmodc", 0 },
	{ "torus 4x4 1", "dnup", 0 },       { "jellyfish 12 4 2", "dnup", 0 },
	{ "mesh 4x3 2", "dor", 0 },         { "director 4 2 1 2 2", "minhop", 0 },
	{ "torus 4x4 1", "dfsssp", 0 },
};
enum { N_LIVES = sizeof(lives) / sizeof(*lives) };

START_TEST(small_changes)
{
	unsigned n_small = 0;

	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct life l = { 0 };
		uint64_t state = seed * 7919 + (unsigned)_i;
		struct route_result result;

		start(&l, lives[_i].fabric, lives[_i].engines, seed, lives[_i].lmc);
		l.request.incremental = true;
		for (unsigned step = 0; step < STEPS; step++) {
			if (route_run(&l.request, arena, &result) == E_OK) {
				check_proof(&l, &result);
				check_rows(&l, &result);
				if (result.incremental) {
					check_entries(&l, &result);
					check_transition(&l, &result);
					check_load(&l, &result);
					check_full_run(&l, &result);
				}
				n_small += result.incremental;
				life_keep_tables(&l, &result.out.lft);
			}
			life_change(&l, &state);
		}
	}
	if (strcmp(lives[_i].engines, "dfsssp") == 0) { /* several lanes */
		ck_assert_uint_eq(n_small, 0);
	} else {
		ck_assert_uint_gt(n_small, 0);
	}
}
END_TEST

/* The same bytes on any number of threads. */
START_TEST(same_on_all_threads)
{
	struct lft first = { 0 };

	for (unsigned threads = 1; threads <= 3; threads += 2) {
		struct life l = { 0 };
		uint64_t state = 5;
		struct route_result result;

		start(&l, "tree3 2 3 2 3 3", "minhop", 1, 0);
		l.request.incremental = true;
		l.request.threads = threads;
		for (unsigned step = 0; step < STEPS / 2; step++) {
			ck_assert_int_eq(route_run(&l.request, arena, &result), E_OK);
			life_keep_tables(&l, &result.out.lft);
			life_change(&l, &state);
		}
		if (threads > 1) {
			ck_assert_int_eq(memcmp(first.rows, l.prev.rows,
			                        first.n_switches * first.stride),
			                 0);
		}
		first = l.prev;
	}
}
END_TEST

/* Another process goes on from the tables: it comes to the same as the one that made them. */
START_TEST(resumed)
{
	struct life l = { 0 };
	struct route_base *mine = base;
	struct route_result made, result, same;
	uint64_t state = 11;

	start(&l, "ft3 8", _i ? "updn" : "minhop", 1, 0);
	ck_assert_int_eq(route_run(&l.request, arena, &made), E_OK);
	life_keep_tables(&l, &made.out.lft);
	l.left.base = route_base_new();
	ck_assert_int_eq(route_resume(&l.request, made.used, &l.prev, &made.out.lanes,
	                              arena, &result),
	                 E_OK);
	ck_assert_ptr_ne(result.out.lft.rows, l.prev.rows);
	ck_assert_uint_eq(result.load.max, made.load.max);
	l.request.incremental = true;
	life_change(&l, &state);
	ck_assert_int_eq(route_run(&l.request, arena, &result), E_OK);
	ck_assert_msg(result.incremental, "%s", result.full_reason.text);
	check_proof(&l, &result);
	check_rows(&l, &result);
	check_entries(&l, &result);
	base = l.left.base; /* for teardown() */
	l.left.base = mine;
	ck_assert_int_eq(route_run(&l.request, arena, &same), E_OK);
	ck_assert_int_eq(memcmp(same.out.lft.rows, result.out.lft.rows,
	                        same.out.lft.n_switches * same.out.lft.stride),
	                 0);
	route_base_free(mine);
}
END_TEST

/* Tables in the switches that are not those that were computed: all is computed. */
START_TEST(other_tables)
{
	struct life l = { 0 };
	struct route_result result;

	start(&l, "ft2 6 3 3", "minhop", 1, 0);
	ck_assert_int_eq(route_run(&l.request, arena, &result), E_OK);
	life_keep_tables(&l, &result.out.lft);
	l.request.incremental = true;
	ck_assert_int_eq(route_run(&l.request, arena, &result), E_OK);
	ck_assert(result.incremental && result.n_changed == 0);
	lft_row(&l.prev, 0)[1] ^= 1;
	ck_assert_int_eq(route_run(&l.request, arena, &result), E_OK);
	ck_assert(!result.incremental);
	ck_assert_ptr_nonnull(strstr(result.full_reason.text, "other tables"));
}
END_TEST

TEST_SUITE(route_base)
{
	TCase *t = tcase_create("route_base");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, small_changes, 0, N_LIVES);
	tcase_add_test(t, lost_host_needs_no_engine);
	tcase_add_loop_test(t, lost_cable_is_spread, 0, 2);
	tcase_add_test(t, same_on_all_threads);
	tcase_add_test(t, other_tables);
	tcase_add_loop_test(t, resumed, 0, 2);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * A routing job that runs out of memory at any place says so, and neither fills its result nor
 * spoils what the next run goes on from.
 */
#include <check.h>
#include <errno.h>
#include <omp.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/tables.h"
#include "routing/multicast.h"
#include "routing/route.h"
#include "routing/route_base.h"
#include "routing/route_cache.h"
#include "routing/text/topofile.h"
#include "tests/alloc/alloc_fail.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
	omp_set_num_threads(1); /* only allocations of this thread fail */
}

static void teardown(void)
{
	arena_free(arena);
}

/* The n-th allocation fails alone for an even _i, and with all later ones for an odd one. */
static void fail_next(size_t n, int i)
{
	if (i % 2 == 0) {
		alloc_fail_at(n);
	} else {
		alloc_fail_from(n);
	}
}

static const struct engine_fabric {
	const char *engines, *fabric;
	uint32_t lmc;
} fabrics[] = {
	{ "minhop", "ft2 3 2 2", 1 },
	{ "updn", "ft2 3 2 2", 0 },
	{ "dnup", "ft2 3 2 2", 0 },
	{ "ftree", "ft2 3 2 2", 0 },
	{ "dor", "mesh 3 1", 0 },
	{ "lash", "torus 5 1", 0 },
	{ "torus-2QoS", "torus 3x3 1", 0 },
	{ "dmodc", "ft2 3 2 2", 0 },
	{ "fattree", "ft2 3 2 2", 0 },
	{ "sssp", "ft2 3 2 2", 0 },
	{ "dfsssp", "torus 5 1", 0 },
	{ "shortestpath", "ft2 3 2 2", 0 },
	{ "dgshortestpath", "ft2 3 2 2", 0 },
	{ "nue", "torus 5 1", 0 },
	{ "chains", "ft2 3 2 2", 0 },
	{ "deadlockfree", "torus 3x3 1", 0 },
};

enum { N_FABRICS = sizeof(fabrics) / sizeof(fabrics[0]) };

static bool same_tables(const struct lft *a, const struct lft *b)
{
	return a->n_lids == b->n_lids && a->n_switches == b->n_switches &&
	       memcmp(lft_row(a, 0), lft_row(b, 0), a->n_switches * a->stride) == 0;
}

/* Each engine with its proof. */
START_TEST(route_without_memory)
{
	const struct engine_fabric *f = &fabrics[_i / 2];
	struct graph *g = fabric_make(f->fabric, 0, 1, arena);
	struct lids lids = fabric_lids(g, f->lmc, 0, arena);
	struct route_request r = { .g = g, .lids = &lids, .threads = 1 };
	struct route_result whole;
	struct why why = { "" };

	ck_assert_int_eq(route_list_parse(f->engines, &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &whole), E_OK);
	for (size_t n = 1;; n++) {
		struct arena *a = arena_new();
		struct route_result routes;

		fail_next(n, _i);
		int ret = route_run(&r, a, &routes);
		bool any = alloc_fail_end();

		if (!any || ret == E_OK) {
			ck_assert_int_eq(ret, E_OK);
			ck_assert(same_tables(&routes.out.lft, &whole.out.lft));
			ck_assert_ptr_eq(routes.used, whole.used);
		} else {
			ck_assert_msg(ret == -ENOMEM, "%s: allocation %zu fails: %s", f->engines,
			              n, err_text(ret));
		}
		arena_free(a);
		if (!any) {
			break;
		}
	}
}
END_TEST

/* The fabric without the first \a n cables between switches. */
static struct graph *without_cables(const struct graph *g, unsigned n)
{
	bool *cut = arena_array(arena, g->n_ports, sizeof(*cut));

	for (unsigned i = 0; i < n; i++) {
		cut[graph_port(g, g->switches[0], g->adj[g->adj_first[0] + i].port)] = true;
	}
	return fabric_without(g, NULL, cut, arena);
}

/* A cable is lost. The run that goes on from the last one lacks memory; the next one has what a
 * start with the same memory of tables has. */
START_TEST(route_goes_on)
{
	const struct graph *made = fabric_make("ft3 4", 0, 1, arena);
	struct graph *g = without_cables(made, 0), *cut = without_cables(made, 1);
	struct lids lids = fabric_lids(g, 0, 0, arena);
	struct lids cut_lids = fabric_lids(cut, 0, 0, arena);
	struct why why = { "" };

	for (size_t n = 1;; n++) {
		struct arena *a = arena_new();
		struct route_memory memory = { .base = route_base_new(),
			                       .cache = route_cache_new() };
		struct route_request r = { .g = g, .lids = &lids, .threads = 1,
			                   .memory = &memory, .incremental = true };
		struct route_result first, routes, again;

		ck_assert_int_eq(route_list_parse("minhop", &r.list, &why), E_OK);
		ck_assert_int_eq(route_run(&r, a, &first), E_OK);
		struct lft held;
		ck_assert_int_eq(lft_init(&held, g->n_switches, first.out.lft.n_lids - 1, a), E_OK);
		memcpy(held.rows, first.out.lft.rows, held.n_switches * held.stride);
		memory.tables = &held;
		r.g = cut;
		r.lids = &cut_lids;
		fail_next(n, _i);
		int ret = route_run(&r, a, &routes);
		bool any = alloc_fail_end();

		ck_assert_msg(ret == E_OK || (any && ret == -ENOMEM),
		              "allocation %zu fails: %s", n, err_text(ret));
		ck_assert_int_eq(route_run(&r, a, &again), E_OK);
		ck_assert(proof_passed(&again.proof, false));
		ck_assert_msg(any || routes.incremental, "%s", routes.full_reason.text);
		route_base_free(memory.base);
		route_cache_free(memory.cache);
		arena_free(a);
		if (!any) {
			break;
		}
	}
}
END_TEST

/* A file becomes a graph, or there is an error. */
START_TEST(topology_file)
{
	struct graph *g = fabric_make("ft2 3 2 2", 0, 1, arena);
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_int_eq(topo_write(g, out), E_OK);
	fclose(out);
	for (size_t n = 1;; n++) {
		struct arena *a = arena_new();
		struct diags d;
		struct graph *read = NULL;

		diags_init(&d, a);
		fail_next(n, _i);
		int ret = topo_parse(text, len, "name", false, a, &d, &read);
		bool any = alloc_fail_end();

		if (!any) {
			ck_assert_int_eq(ret, E_OK);
			ck_assert_uint_eq(graph_digest(read), graph_digest(g));
		} else {
			ck_assert_msg(ret == -ENOMEM, "allocation %zu fails: %s", n,
			              err_text(ret));
			ck_assert_ptr_null(read);
		}
		arena_free(a);
		if (!any) {
			break;
		}
	}
	free(text);
}
END_TEST

TEST_SUITE(route_alloc)
{
	TCase *t = tcase_create("route_alloc");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, route_without_memory, 0, 2 * N_FABRICS);
	tcase_add_loop_test(t, route_goes_on, 0, 2);
	tcase_add_loop_test(t, topology_file, 0, 2);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Shortest paths by weights: that they are shortest, that listed groups are balanced by
 * themselves. What every engine owes is in test_engines.c.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "conf/guidfile.h"
#include "routing/column.h"
#include "routing/engine.h"
#include "routing/graph.h"
#include "routing/hops.h"
#include "routing/lids.h"
#include "routing/proof.h"
#include "routing/sssp_fill.h"
#include "tests/fabric.h"

static struct arena *arena;

static void setup(void)
{
	arena = arena_new();
}

static void teardown(void)
{
	arena_free(arena);
}

static struct route_out route(const char *engine, const struct graph *g,
                              const struct lids *l, const struct sssp_options *o)
{
	static const struct sssp_options none;
	struct route_in in = { .g = g, .lids = l, .options = o ? o : &none };
	struct route_out out = { 0 };

	ck_assert_int_eq(engine_find(engine)->route(&in, arena, &out), E_OK);
	return out;
}

/* Hops of the route from a switch to a LID. */
static unsigned length(const struct column_map *m, const struct route_out *out,
                       uint32_t s, uint32_t lid, uint32_t home)
{
	unsigned n = 0;

	for (; s != home; n++) {
		ck_assert_uint_lt(n, m->n);
		s = m->hop[(size_t)s * m->width + lft_row(&out->lft, s)[lid]].next;
	}
	return n;
}

static const struct {
	const char *command;
	double fail;
} fabrics[] = {
	{ "ft3 6", 0 },           { "ft3 6", 0.1 },          { "torus 5x4 2", 0 },
	{ "torus 5x4 2", 0.1 },   { "jellyfish 20 5 2", 0 }, { "dragonfly 2 4 2", 0 },
	{ "hypercube 4 1", 0.1 }, { "ft2 4 6 2 3", 0 },
};

START_TEST(no_detours)
{
	struct graph *g = fabric_make(fabrics[_i].command, fabrics[_i].fail, 5, arena);
	struct lids l = fabric_lids(g, 1, 0, arena);
	struct route_out out = route("sssp", g, &l, NULL);
	struct column_map m;
	struct hops h;

	ck_assert_int_eq(column_map_init(&m, g, &l, &out.lft, arena), E_OK);
	ck_assert_int_eq(hops_init(&h, g, arena), E_OK);
	for (uint32_t lid = 1; lid <= l.top; lid++) {
		uint32_t home = l.owner[lid] == GRAPH_NONE
		                        ? GRAPH_NONE
		                        : graph_switch_of(g, l.owner[lid]);

		for (uint32_t s = 0; home != GRAPH_NONE && s < m.n; s++) {
			unsigned best = hops_between(&h, s, home);

			if (best == HOPS_NONE) {
				ck_assert_uint_eq(lft_row(&out.lft, s)[lid],
				                  LFT_NO_ROUTE);
			} else {
				ck_assert_uint_eq(length(&m, &out, s, lid, home), best);
			}
		}
	}
}
END_TEST

/* A list of the first hosts of every leaf, from host \a first to \a last. */
static const struct guid_file *list_hosts(const struct graph *g, uint32_t first,
                                          uint32_t last)
{
	struct guid_record *r = arena_array(arena, g->n_hosts, sizeof(*r));
	struct guid_file *f = arena_alloc(arena, sizeof(*f));

	*f = (struct guid_file){ .path = "list", .records = r };
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t n = g->host_first[s + 1] - g->host_first[s];

		for (uint32_t i = first; i < last && i < n; i++) {
			uint32_t port = g->hosts[g->host_first[s] + i];

			r[f->n] = (struct guid_record){ .guid = g->ports[port].guid,
				                        .rest = "",
				                        .line = f->n + 1 };
			f->n++;
		}
	}
	return f;
}

/* Most and least routes from one switch over its links, to the LIDs of a list. */
static void spread_of(const struct graph *g, const struct lids *l,
                      const struct route_out *out, uint32_t s,
                      const struct guid_file *list, unsigned *ret_least,
                      unsigned *ret_most)
{
	unsigned count[256] = { 0 };

	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t port = graph_port_by_guid(g, list->records[i].guid);

		if (graph_switch_of(g, port) != s) {
			count[lft_row(&out->lft, s)[l->of[port].base]]++;
		}
	}
	*ret_least = UINT32_MAX;
	*ret_most = 0;
	for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
		unsigned n = count[g->adj[c].port];

		*ret_least = n < *ret_least ? n : *ret_least;
		*ret_most = n > *ret_most ? n : *ret_most;
	}
}

START_TEST(groups_are_balanced_by_themselves)
{
	struct graph *g = fabric_make("ft2 8 8 4", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct sssp_options o = { .cn = list_hosts(g, 1, 5),
		                        .io = list_hosts(g, 0, 1) };
	struct route_out out = route("sssp", g, &l, &o);

	ck_assert_str_eq(out.notes.text, "");
	for (uint32_t s = 0; s < g->n_switches; s++) {
		unsigned least, most;

		if (g->host_first[s + 1] == g->host_first[s]) {
			continue;
		}
		spread_of(g, &l, &out, s, o.cn, &least, &most);
		ck_assert_uint_eq(least, 7); /* 7 leaves with 4 each over 4 links */
		ck_assert_uint_eq(most, 7);
		spread_of(g, &l, &out, s, o.io, &least, &most);
		ck_assert_uint_ge(least, 1); /* 7 leaves with 1 each */
		ck_assert_uint_le(most, 2);
	}
}
END_TEST

START_TEST(unknown_guids_are_named)
{
	struct graph *g = fabric_make("ft2 3 3 2", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct guid_record r[5];
	struct guid_file f = { .path = "nodes", .records = r, .n = 5 };
	const struct sssp_options o = { .io = &f };
	struct route_out plain = route("sssp", g, &l, NULL), out;

	for (unsigned i = 0; i < 5; i++) {
		r[i] = (struct guid_record){ .guid = 0xdead00 + i,
			                     .rest = "",
			                     .line = i + 2 };
	}
	out = route("sssp", g, &l, &o);
	ck_assert_str_eq(out.notes.text,
	                 "io_guid_file nodes:2: no end port has GUID 0x0000000000dead00\n"
	                 "io_guid_file nodes:3: no end port has GUID 0x0000000000dead01\n"
	                 "io_guid_file nodes:4: no end port has GUID 0x0000000000dead02\n"
	                 "io_guid_file nodes: likewise 2 more");
	ck_assert(!memcmp(out.lft.rows, plain.lft.rows,
	                  out.lft.n_switches * out.lft.stride));
}
END_TEST

START_TEST(lists_decide_the_order)
{
	struct graph *g = fabric_make("ft3 4", 0.1, 3, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct guid_file *some = list_hosts(g, 1, 2);
	const struct sssp_options cn = { .cn = some }, both = { .cn = some, .io = some };
	struct route_out a = route("sssp", g, &l, &cn), b = route("sssp", g, &l, &both),
			 c = route("sssp", g, &l, NULL);
	size_t bytes = a.lft.n_switches * a.lft.stride;

	/* what stands in both lists is a compute node */
	ck_assert(!memcmp(a.lft.rows, b.lft.rows, bytes));
	ck_assert(memcmp(a.lft.rows, c.lft.rows, bytes));
}
END_TEST

static TCase *sssp_case(void)
{
	TCase *t = tcase_create("sssp");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, no_detours, 0, sizeof(fabrics) / sizeof(*fabrics));
	tcase_add_test(t, groups_are_balanced_by_themselves);
	tcase_add_test(t, unknown_guids_are_named);
	tcase_add_test(t, lists_decide_the_order);
	return t;
}

int main(void)
{
	Suite *s = suite_create("sssp");

	suite_add_tcase(s, sssp_case());
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

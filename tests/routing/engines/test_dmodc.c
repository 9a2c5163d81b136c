/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
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

static int try_route(const struct graph *g, const struct lids *l, const void *options,
                     struct route_out *ret_out)
{
	struct route_in in = { .g = g, .lids = l, .options = options };

	*ret_out = (struct route_out){ 0 };
	return engine_find("dmodc")->route(&in, arena, ret_out);
}

static struct route_out *route(const struct graph *g, const struct lids *l)
{
	struct route_out *out = arena_alloc(arena, sizeof(*out));
	struct proof p;

	ck_assert_msg(try_route(g, l, NULL, out) == E_OK, "%s", out->notes.text);
	ck_assert_int_eq(proof_run(g, l, &out->lft, NULL, arena, &p), E_OK);
	ck_assert_msg(proof_passed(&p, true), "%s", proof_text(&p, g, arena));
	return out;
}

static uint32_t next_switch(const struct graph *g, const struct lft *lft, uint32_t s,
                            uint32_t lid)
{
	uint32_t out = graph_port(g, g->switches[s], lft_row(lft, s)[lid]);

	return g->nodes[g->ports[g->ports[out].peer].node].sw;
}

/* Largest number of flows on one link when host i sends to host i + shift. */
static uint32_t shift_congestion(const struct graph *g, const struct lids *l,
                                 const struct lft *lft, uint32_t *const *by_name,
                                 uint32_t shift, uint32_t *flows)
{
	uint32_t n = g->n_hosts, most = 0;

	memset(flows, 0, g->n_ports * sizeof(*flows));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = (*by_name)[(i + shift) % n];
		uint32_t s = graph_switch_of(g, (*by_name)[i]), lid = l->of[to].base;

		while (s != graph_switch_of(g, to)) {
			uint32_t out =
				graph_port(g, g->switches[s], lft_row(lft, s)[lid]);

			most = ++flows[out] > most ? flows[out] : most;
			s = next_switch(g, lft, s, lid);
		}
	}
	return most;
}

/* Whole trees: busiest link against the mean, LMC 0 to 2, and every shift passes freely.
 */
static const struct {
	const char *command;
	double ratio;
	bool shifts;
} whole[] = {
	{ "ft2 6 4 4", 1.0, true },
	{ "ft2 18 9 9", 1.0, true },
	{ "ft2 8 8 4 2", 1.0, true },
	{ "ft2 6 8 4", 1.0, false },
	{ "ft3 4", 1.2, true },
	{ "ft3 8", 1.06, true },
	{ "ft3 12", 1.04, true },
	{ "ft3 16", 1.03, true },
	{ "director 6 4 2 3 2", 1.3, false },
};

START_TEST(balance)
{
	struct graph *g = fabric_make(whole[_i].command, 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out *out = route(g, &l);
	uint32_t *flows = arena_array(arena, g->n_ports, sizeof(*flows));
	uint32_t *hosts = g->hosts; /* the generator's order is that of its leaves */
	struct load load;

	ck_assert_str_eq(out->notes.text, "");
	for (uint32_t lmc = 0; lmc <= 2; lmc++) {
		struct lids more = fabric_lids(g, lmc, 0, arena);
		struct route_out *wide = route(g, &more);

		ck_assert_int_eq(load_build(g, &more, &wide->lft, arena, &load), E_OK);
		ck_assert_msg(load.max <= whole[_i].ratio * load.mean + 1e-6,
		              "%s: LMC %u max %u mean %.2f", whole[_i].command, lmc,
		              load.max, load.mean);
	}
	for (uint32_t shift = 1; whole[_i].shifts && shift < g->n_hosts; shift++) {
		ck_assert_msg(shift_congestion(g, &l, &out->lft, &hosts, shift, flows) <=
		                      1,
		              "%s: shift %u", whole[_i].command, shift);
	}
}
END_TEST

START_TEST(any_guids)
{
	struct graph *g = fabric_renamed(fabric_make("ft3 8", 0, 1, arena),
	                                 (uint64_t)_i + 5, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct load load;

	ck_assert_int_eq(load_build(g, &l, &route(g, &l)->lft, arena, &load), E_OK);
	ck_assert_msg(load.max <= 1.06 * load.mean, "seed %d: max %u mean %.2f", _i + 5,
	              load.max, load.mean);
}
END_TEST

/* One cable gone: entries that did not use it stay, but for a few of leaves that move off
 * a link which would carry too much. */
START_TEST(one_link)
{
	struct graph *g = fabric_make("ft3 8", 0, 1, arena);
	struct graph *broken = fabric_make("ft3 8", 0.004, (uint32_t)_i + 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	const struct lft *before = &route(g, &l)->lft;
	struct route_out *out = route(broken, &l);
	uint64_t moved = 0, evened = 0;

	ck_assert_uint_eq(g->n_links, broken->n_links + 1);
	ck_assert_ptr_nonnull(strstr(out->notes.text, "1 uplinks are missing"));
	for (uint32_t lid = 1; lid <= l.top; lid++) {
		uint32_t t = graph_switch_of(g, l.owner[lid]);

		if (g->ports[l.owner[lid]].num == 0) {
			continue; /* management traffic */
		}
		for (uint32_t s = 0; s < g->n_switches; s++) {
			uint8_t old = lft_row(before, s)[lid],
				new = lft_row(&out->lft, s)[lid];
			uint32_t at = s;

			/* does the old route still lead there? */
			while (at != t) {
				uint32_t p = graph_port(broken, broken->switches[at],
				                        lft_row(before, at)[lid]);

				if (broken->ports[p].peer == GRAPH_NONE) {
					break;
				}
				at = next_switch(g, before, at, lid);
			}
			moved += old != new;
			evened += at == t && old != new &&
			          g->host_first[s] != g->host_first[s + 1];
		}
	}
	ck_assert_uint_gt(moved, 0);
	ck_assert_uint_le(evened, 64);
	ck_assert_uint_lt(moved, (uint64_t)g->n_switches * g->n_hosts / 32);
}
END_TEST

/* Broken trees: busiest link against the mean, proven strictly. With a fifth of the
 * cables gone one switch has 2 of its 8 ways up left. */
static const struct {
	double fail, ratio;
} broken_by[] = { { 0.001, 1.2 }, { 0.01, 1.5 }, { 0.05, 2.0 }, { 0.2, 3.2 } };

START_TEST(broken_balance)
{
	struct graph *g = fabric_make("ft3 16", broken_by[_i].fail, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct load load;

	ck_assert_int_eq(load_build(g, &l, &route(g, &l)->lft, arena, &load), E_OK);
	ck_assert_msg(load.max <= broken_by[_i].ratio * load.mean,
	              "%g gone: max %u mean %.2f", broken_by[_i].fail, load.max,
	              load.mean);
}
END_TEST

/* The LIDs of a port leave its source leaf over different switches. */
START_TEST(lmc_over_switches)
{
	struct graph *g = fabric_make("ft3 8", _i ? 0.05 : 0, 3, arena);
	struct lids l = fabric_lids(g, 2, 0, arena);
	struct route_out *out = route(g, &l);

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t uplinks = g->adj_first[s + 1] - g->adj_first[s];

		for (uint32_t h = 0; h < g->n_hosts && !_i; h++) {
			uint32_t to[4];

			if (g->host_first[s] == g->host_first[s + 1] ||
			    graph_switch_of(g, g->hosts[h]) == s) {
				continue;
			}
			ck_assert_uint_eq(uplinks, 4);
			for (unsigned k = 0; k < 4; k++) {
				to[k] = next_switch(g, &out->lft, s,
				                    l.of[g->hosts[h]].base + k);
				for (unsigned i = 0; i < k; i++) {
					ck_assert_uint_ne(to[i], to[k]);
				}
			}
		}
	}
}
END_TEST

/* A leaf that lost its hosts and a switch in the wrong place do not unbalance the rest.
 */
START_TEST(leaf_without_hosts)
{
	struct graph *g = fabric_make("ft3 8", 0, 1, arena);
	struct graph *x = graph_new(arena);
	struct diags *d = arena_alloc(arena, sizeof(*d));
	uint32_t *now = arena_array(arena, g->n_nodes, sizeof(*now));
	uint32_t empty = g->switches[graph_switch_of(g, g->hosts[0])];
	struct lids l;
	struct load load;

	diags_init(d, arena);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];

		ck_assert_int_eq(graph_add_node(x, n->type, n->guid, n->n_ports,
		                                n->description, NULL, &now[i]),
		                 E_OK);
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		const struct port *q = p->peer == GRAPH_NONE ? p : &g->ports[p->peer];
		bool host = g->nodes[p->node].type == NODE_CA ||
		            g->nodes[q->node].type == NODE_CA;
		bool gone = host && (p->node == empty || q->node == empty);

		if (p != q && p->peer > i && !gone) {
			ck_assert_int_eq(
				graph_connect(x, graph_port(x, now[p->node], p->num),
			                      graph_port(x, now[q->node], q->num)),
				E_OK);
		}
	}
	ck_assert_int_eq(graph_freeze(x, d), E_OK);
	ck_assert_uint_eq(x->n_hosts, g->n_hosts - 4);
	l = fabric_lids(x, 0, 0, arena);
	ck_assert_int_eq(load_build(x, &l, &route(x, &l)->lft, arena, &load), E_OK);
	ck_assert_msg(load.max <= 1.15 * load.mean, "max %u mean %.2f", load.max,
	              load.mean);
}
END_TEST

START_TEST(refusals)
{
	static const char *const commands[] = { "torus 4x4 2", "mesh 4x3 2",
		                                "hypercube 4 2", "dragonfly 2 4 2" };
	struct graph *g = fabric_make(commands[_i], 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct route_out out;

	ck_assert_int_eq(try_route(g, &l, NULL, &out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "not a tree"));
	ck_assert_ptr_null(out.lft.rows);
}
END_TEST

/* Roots by file give the same tables as found ones; GUIDs of nowhere are named. */
START_TEST(root_file)
{
	struct graph *g = fabric_make("ft2 6 4 3", 0, 1, arena);
	struct lids l = fabric_lids(g, 0, 0, arena);
	struct guid_record r[8] = { { .guid = 0xdead, .rest = "", .line = 1 } };
	struct guid_file f = { .path = "roots", .records = r, .n = 1 };
	const struct guid_file *options = &f; /* the only member of the engine's struct */
	struct route_out *found = route(g, &l), out;

	ck_assert_int_eq(try_route(g, &l, &options, &out), E_UNSUITABLE);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "roots:1: 0x000000000000dead"));
	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (g->host_first[s] == g->host_first[s + 1]) {
			r[f.n++] = (struct guid_record){
				.guid = g->nodes[g->switches[s]].guid,
				.rest = "",
				.line = f.n + 1
			};
		}
	}
	ck_assert_uint_eq(f.n, 4);
	ck_assert_int_eq(try_route(g, &l, &options, &out), E_OK);
	ck_assert_ptr_nonnull(strstr(out.notes.text, "is on no switch"));
	ck_assert_mem_eq(out.lft.rows, found->lft.rows,
	                 out.lft.n_switches * out.lft.stride);
}
END_TEST

TEST_SUITE(dmodc)
{
	TCase *t = tcase_create("dmodc");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, balance, 0, sizeof(whole) / sizeof(*whole));
	tcase_add_loop_test(t, any_guids, 0, 5);
	tcase_add_loop_test(t, one_link, 0, 6);
	tcase_add_loop_test(t, broken_balance, 0, sizeof(broken_by) / sizeof(*broken_by));
	tcase_add_loop_test(t, lmc_over_switches, 0, 2);
	tcase_add_test(t, leaf_without_hosts);
	tcase_add_loop_test(t, refusals, 0, 4);
	tcase_add_test(t, root_file);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Fabrics without drained switches and cables: what stays in them, what engines make of them, and
 * what is cut off.
 */
#include "routing/graph/drain.h"

#include <check.h>

#include "routing/graph/tables.h"
#include "routing/route.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *a;

static void setup(void)
{
	a = arena_new();
}

static void teardown(void)
{
	arena_free(a);
}

/* A switch on which no host hangs. */
static uint32_t first_spine(const struct graph *g)
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (g->host_first[s] == g->host_first[s + 1]) {
			return s;
		}
	}
	return GRAPH_NONE;
}

/* The first cable between switches of a switch, as a port. */
static uint32_t first_cable(const struct graph *g, uint32_t sw)
{
	return graph_port(g, g->switches[sw], g->adj[g->adj_first[sw]].port);
}

static const struct graph *drained(const struct graph *g, const struct drain_set *s)
{
	const struct graph *to = NULL;

	ck_assert_int_eq(drain_graph(g, s, a, &to), E_OK);
	return to;
}

static unsigned n_neighbours(const struct graph *g, uint32_t sw)
{
	unsigned n = 0;

	for (uint32_t i = g->adj_first[sw]; i < g->adj_first[sw + 1]; i++) {
		n += i == g->adj_first[sw] || g->adj[i].to != g->adj[i - 1].to;
	}
	return n;
}

/* Peers and the list of links say the same, in both directions. */
static void check_links(const struct graph *g, const struct graph *to)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < to->n_switches; s++) {
		for (uint32_t i = to->adj_first[s]; i < to->adj_first[s + 1]; i++) {
			uint32_t port = graph_port(to, to->switches[s], to->adj[i].port),
				 peer = to->ports[port].peer;

			ck_assert_uint_ne(peer, GRAPH_NONE);
			ck_assert_uint_eq(to->ports[peer].peer, port);
			ck_assert_uint_eq(to->nodes[to->ports[peer].node].sw,
			                  to->adj[i].to);
			ck_assert_uint_eq(peer, g->ports[port].peer);
			n++;
		}
	}
	ck_assert_uint_eq(n, to->n_adj);
	ck_assert_uint_eq(g->n_links - to->n_links, (g->n_adj - to->n_adj) / 2);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		uint32_t peer = to->ports[i].peer;

		ck_assert(peer == g->ports[i].peer || peer == GRAPH_NONE);
		ck_assert((peer == GRAPH_NONE) == (to->ports[i].state == PORT_DOWN) ||
		          to->ports[i].num == 0 || g->ports[i].peer == GRAPH_NONE);
	}
}

START_TEST(an_empty_set_is_the_fabric)
{
	struct graph *g = fabric_make("ft2 4 2 2", 0, 1, a);
	struct drain_set s;

	ck_assert_int_eq(drain_set_init(&s, g, a), E_OK);
	ck_assert_ptr_eq(drained(g, &s), g);
	drain_add_node(&s, g, g->switches[0]);
	drain_add_node(&s, g, g->switches[0]);
	ck_assert_uint_eq(s.n, 1);
	drain_remove_node(&s, g, g->switches[0]);
	drain_add_node(&s, g, g->ports[g->hosts[0]].node); /* nothing passes through a host */
	drain_add_cable(&s, g, g->hosts[0]);
	ck_assert_ptr_eq(drained(g, &s), g);
}
END_TEST

static const struct {
	const char *fabric, *engines;
	uint32_t lmc;
} routed[] = {
	{ "ft2 6 3 3", "minhop", 0 },
	{ "ft2 6 3 3", "updn", 2 },
	{ "ft2 6 3 3", "ftree", 0 },
	{ "ft2 6 3 3 2", "dfsssp", 1 },
	{ "tree3 2 3 2 3 3", "ftree", 0 },
	{ "tree3 2 3 2 3 3", "updn", 0 },
	{ "tree3 2 3 2 3 3", "dmodc", 0 },
	{ "tree3 2 3 2 3 3", "shortestpath", 0 },
	{ "torus 4x4 1", "dfsssp", 0 },
	{ "torus 4x4 1", "nue", 0 },
	{ "jellyfish 12 4 2", "lash", 0 },
	{ "jellyfish 12 4 2", "dnup", 1 },
};

/* Does the way from a switch to a LID pass another switch? */
static bool passes(const struct graph *g, const struct lft *lft, uint32_t from, uint32_t lid,
                   uint32_t through)
{
	uint32_t at = from;

	for (uint32_t hops = 0; hops <= g->n_switches; hops++) {
		uint8_t port = lft_row((struct lft *)lft, at)[lid];
		uint32_t peer;

		if (at == through && hops > 0 && port != 0) {
			return true;
		}
		ck_assert_uint_ne(port, LFT_NO_ROUTE);
		peer = g->ports[graph_port(g, g->switches[at], port)].peer;
		if (port == 0 || g->nodes[g->ports[peer].node].type != NODE_SWITCH) {
			return false;
		}
		at = g->nodes[g->ports[peer].node].sw;
	}
	ck_abort_msg("the way circles");
}

/* Each switch in turn: all hosts reach each other, those on the drained switch too, and nothing
 * passes through it. */
START_TEST(nothing_passes_a_drained_switch)
{
	struct graph *g = fabric_make(routed[_i].fabric, 0, 1, a);
	struct lids lids = fabric_lids(g, routed[_i].lmc, 0, a);

	for (uint32_t d = 0; d < g->n_switches; d++) {
		struct route_request r = { .g = g, .lids = &lids };
		struct route_result result;
		struct why why = { "" };
		struct drain_set s;

		ck_assert_int_eq(drain_set_init(&s, g, a), E_OK);
		drain_add_node(&s, g, g->switches[d]);
		r.g = drained(g, &s);
		check_links(g, r.g);
		ck_assert_uint_eq(n_neighbours(r.g, d), 1);
		ck_assert_int_eq(route_list_parse(routed[_i].engines, &r.list, &why), E_OK);
		ck_assert_int_eq(route_run(&r, a, &result), E_OK);
		ck_assert_msg(strcmp(result.used->name, routed[_i].engines) == 0,
		              "%s drained: %s", g->nodes[g->switches[d]].description,
		              result.fallback_reason.text);
		ck_assert_uint_eq(result.proof.unreachable_pairs, 0);
		for (uint32_t from = 0; from < g->n_switches; from++) {
			for (uint32_t h = 0; h < g->host_first[g->n_switches]; h++) {
				uint32_t to = graph_switch_of(g, g->hosts[h]);
				bool others = from != d && to != d &&
				              g->host_first[from] != g->host_first[from + 1];

				ck_assert(!others ||
				          !passes(g, &result.out.lft, from,
				                  lids.of[g->hosts[h]].base, d));
			}
		}
	}
}
END_TEST

/* The neighbour by which a switch stays within reach is the nearest to the subnet manager. */
START_TEST(the_neighbour_is_near_the_manager)
{
	struct graph *g = fabric_make("ft2 6 3 3", 0, 1, a);
	struct drain_set s;
	const struct graph *to;

	/* not on the first leaf: that would be taken of equals, too */
	g->sm_port = g->hosts[g->host_first[g->n_switches] - 1];
	uint32_t sm = graph_switch_of(g, g->sm_port), spine = first_spine(g);
	ck_assert_uint_ne(sm, 0);
	ck_assert_int_eq(drain_set_init(&s, g, a), E_OK);
	drain_add_node(&s, g, g->switches[spine]);
	to = drained(g, &s);
	ck_assert_uint_eq(to->adj[to->adj_first[spine]].to, sm);
	/* unless that cable is drained, too */
	drain_add_cable(&s, g, graph_port(g, g->switches[spine], to->adj[to->adj_first[spine]].port));
	to = drained(g, &s);
	check_links(g, to);
	ck_assert_uint_eq(n_neighbours(to, spine), 1);
	ck_assert_uint_ne(to->adj[to->adj_first[spine]].to, sm);
}
END_TEST

/* A switch between drained ones stays behind one of them. */
START_TEST(drained_behind_drained)
{
	struct graph *g = fabric_make("mesh 5x1 1", 0, 1, a);
	struct drain_set s;
	const struct graph *to;
	unsigned links = 0;

	ck_assert_int_eq(drain_set_init(&s, g, a), E_OK);
	for (uint32_t i = 0; i < g->n_switches; i++) {
		if (i != graph_switch_of(g, g->sm_port)) {
			drain_add_node(&s, g, g->switches[i]);
		}
	}
	to = drained(g, &s);
	check_links(g, to);
	for (uint32_t i = 0; i < g->n_switches; i++) {
		ck_assert_uint_ge(n_neighbours(to, i), 1);
		links += n_neighbours(to, i);
	}
	ck_assert_uint_eq(links, 2 * (g->n_switches - 1)); /* a tree */
}
END_TEST

static struct drain_effect effect_of(const struct graph *g, const struct drain_set *s,
                                     uint32_t node, uint32_t port)
{
	struct drain_effect e;

	ck_assert_int_eq(drain_effect(g, s, node, port, &e), E_OK);
	return e;
}

START_TEST(what_is_cut)
{
	struct graph *g = fabric_make("ft2 4 3 2", 0, 1, a);
	uint32_t leaf = graph_switch_of(g, g->hosts[0]), sm = graph_switch_of(g, g->sm_port),
		 spine = first_spine(g), other = GRAPH_NONE, far = GRAPH_NONE;
	struct drain_effect e;
	struct drain_set s;

	for (uint32_t i = 0; i < g->n_switches; i++) {
		bool has_hosts = g->host_first[i] != g->host_first[i + 1];

		other = !has_hosts && i != spine ? i : other;
		far = has_hosts && i != sm ? i : far;
	}
	ck_assert_int_eq(drain_set_init(&s, g, a), E_OK);
	/* one of two spines: nothing */
	e = effect_of(g, &s, g->switches[spine], GRAPH_NONE);
	ck_assert_uint_eq(e.pairs_cut + e.switches_cut + e.hosts_behind + e.cuts_sm, 0);
	/* a leaf: its own hosts alone */
	e = effect_of(g, &s, g->switches[far], GRAPH_NONE);
	ck_assert_uint_eq(e.hosts_behind, 3);
	ck_assert_uint_eq(e.pairs_cut + e.switches_cut + e.cuts_sm, 0);
	ck_assert(effect_of(g, &s, g->switches[sm], GRAPH_NONE).cuts_sm);
	/* a host, by itself and by its cable */
	ck_assert_uint_eq(effect_of(g, &s, g->ports[g->hosts[4]].node, GRAPH_NONE).hosts_behind, 1);
	ck_assert_uint_eq(effect_of(g, &s, GRAPH_NONE, g->hosts[4]).hosts_behind, 1);
	ck_assert(effect_of(g, &s, GRAPH_NONE, g->sm_port).cuts_sm);
	/* the second spine, while the first is drained: all pairs of different leaves */
	drain_add_node(&s, g, g->switches[spine]);
	e = effect_of(g, &s, g->switches[other], GRAPH_NONE);
	ck_assert_uint_eq(e.pairs_cut, 6 * 3 * 3);
	ck_assert_uint_eq(e.switches_cut, 3);
	ck_assert_uint_ne(e.cut_port, GRAPH_NONE);
	/* the last cable of a leaf: its hosts from all others */
	e = effect_of(g, &s, GRAPH_NONE,
	              graph_port(g, g->switches[far],
	                         g->adj[g->adj_first[far] +
	                                (g->adj[g->adj_first[far]].to == spine)]
	                                 .port));
	ck_assert_uint_eq(e.pairs_cut, 3 * 9);
	ck_assert_uint_eq(e.switches_cut, 1);
	ck_assert_uint_eq(graph_switch_of(g, e.cut_port), far);
	(void)leaf;
}
END_TEST

/* The last cable of the manager's own switch leaves it with less than half. */
START_TEST(the_way_of_the_manager)
{
	struct graph *g = fabric_make("ft2 4 3 1", 0, 1, a);
	uint32_t sm = graph_switch_of(g, g->sm_port);
	struct drain_set s;

	ck_assert_int_eq(drain_set_init(&s, g, a), E_OK);
	ck_assert(effect_of(g, &s, GRAPH_NONE, first_cable(g, sm)).cuts_sm);
	ck_assert(!effect_of(g, &s, GRAPH_NONE,
	                     first_cable(g, sm == 0 ? 1 : 0)).cuts_sm ||
	          g->host_first[sm == 0 ? 1 : 0] == g->host_first[(sm == 0 ? 1 : 0) + 1]);
}
END_TEST

TEST_SUITE(drain)
{
	TCase *t = tcase_create("drain");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, an_empty_set_is_the_fabric);
	tcase_add_loop_test(t, nothing_passes_a_drained_switch, 0,
	                    sizeof(routed) / sizeof(*routed));
	tcase_add_test(t, the_neighbour_is_near_the_manager);
	tcase_add_test(t, drained_behind_drained);
	tcase_add_test(t, what_is_cut);
	tcase_add_test(t, the_way_of_the_manager);
	suite_add_tcase(suite, t);
}

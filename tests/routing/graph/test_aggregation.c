/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Aggregation nodes and hosts on spines: what each is taken for, and that the tree engines
 * serve fabrics that have them.
 */
#include "routing/graph/aggregation.h"

#include <check.h>

#include "conf/policy/guidfile.h"
#include "routing/route.h"
#include "routing/spread/leaves.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct route_result routed(const struct graph *g, const struct lids *l,
                                  const char *list, struct arena *a, int *ret_error)
{
	struct route_request r = { .g = g, .lids = l };
	struct route_result result = { .used = NULL };
	struct why why = { "" };

	ck_assert_int_eq(route_list_parse(list, &r.list, &why), E_OK);
	*ret_error = route_run(&r, a, &result);
	return result;
}

/* --- recognition -------------------------------------------------------------------- */

/* A switch with three CAs: by device, by description, neither. */
START_TEST(test_recognised)
{
	struct arena *a = arena_new();
	struct graph *g = graph_new(a);
	struct diags *d = arena_alloc(a, sizeof(*d));
	uint32_t sw, ca[3];
	static const char *const descriptions[] = {
		"sharp", "Mellanox Technologies Aggregation Node", "node1"
	};

	diags_init(d, a);
	ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 0x1000, 4, "s", NULL, &sw), E_OK);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(graph_add_node(g, NODE_CA, 0x2000 + i * 0x100, 1,
		                                descriptions[i], NULL, &ca[i]),
		                 E_OK);
		ck_assert_int_eq(graph_connect(g, graph_port(g, sw, i + 1),
		                               graph_port(g, ca[i], 1)),
		                 E_OK);
	}
	g->nodes[ca[0]].vendor_id = 0x2c9;
	g->nodes[ca[0]].device_id = 0xcf09;
	ck_assert_int_eq(graph_freeze(g, d), E_OK);

	ck_assert_uint_eq(g->n_aggregation, 2);
	ck_assert_uint_eq(g->n_hosts, 1);
	ck_assert_uint_eq(g->host_first[1], 1);
	ck_assert_str_eq(g->nodes[g->ports[g->hosts[0]].node].description, "node1");
	ck_assert_uint_eq(g->n_end_ports, 4);
	arena_free(a);
}
END_TEST

/* A list of GUIDs declares others, by node or by port; what is no CA stays what it is. */
START_TEST(test_declared)
{
	struct arena *a = arena_new();
	struct graph *g = fabric_make("ft2 4 4 2", 0, 1, a);
	uint32_t first = g->hosts[3], second = g->hosts[9];
	const struct guid_record records[] = {
		{ .guid = g->nodes[g->ports[first].node].guid },
		{ .guid = g->ports[second].guid },
		{ .guid = g->nodes[g->switches[0]].guid },
		{ .guid = 0xdead },
	};
	const struct guid_file list = { .records = records, .n = 4 };

	ck_assert_uint_eq(g->n_hosts, 16);
	ck_assert_uint_eq(graph_set_aggregation(g, &list), 2);
	ck_assert_uint_eq(g->n_hosts, 14);
	ck_assert_uint_eq(g->n_aggregation, 2);
	ck_assert_uint_eq(g->host_first[g->n_switches], 14);
	ck_assert(!graph_is_host(g, first));
	ck_assert(!graph_is_host(g, second));
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->host_first[s]; i < g->host_first[s + 1]; i++) {
			ck_assert(graph_is_host(g, g->hosts[i]));
			ck_assert_uint_eq(graph_switch_of(g, g->hosts[i]), s);
		}
	}
	arena_free(a);
}
END_TEST

/* --- routes ------------------------------------------------------------------------- */

static const char *const tree_engines[] = { "minhop", "updn", "ftree", "fattree", "dmodc" };

enum { N_TREE_ENGINES = sizeof(tree_engines) / sizeof(*tree_engines) };

/* From every switch along the tables to an end port. */
static void must_arrive(const struct graph *g, const struct lft *lft, uint32_t port,
                        uint32_t lid, const char *what)
{
	uint32_t home = graph_switch_of(g, port);

	for (uint32_t from = 0; from < g->n_switches; from++) {
		uint32_t s = from, steps = 0;

		while (s != home && steps++ < g->n_switches) {
			const struct node *n = &g->nodes[g->switches[s]];
			uint8_t out = lft_row(lft, s)[lid];
			uint32_t peer = out && out <= n->n_ports
			                        ? g->ports[n->first_port + out].peer
			                        : GRAPH_NONE;

			ck_assert_msg(peer != GRAPH_NONE &&
			                      g->nodes[g->ports[peer].node].sw != GRAPH_NONE,
			              "%s: LID %u has no route at switch %u", what, lid, s);
			s = g->nodes[g->ports[peer].node].sw;
		}
		ck_assert_msg(s == home && lft_row(lft, s)[lid] ==
		                                   graph_switch_port_of(g, port),
		              "%s: LID %u from switch %u does not arrive", what, lid, from);
	}
}

static const char *const with_aggregation[] = {
	"ft2 6 3 3 --aggregation-nodes",
	"ft2 18 4 6 2 --aggregation-nodes",
	"ft3 4 --aggregation-nodes",
	"ft3 8 --aggregation-nodes",
	"director 6 4 2 3 2 --aggregation-nodes",
};

enum { N_WITH_AGGREGATION = sizeof(with_aggregation) / sizeof(*with_aggregation) };

/* Every tree engine proves, also with an LMC, and reaches each aggregation node from each
 * switch. */
START_TEST(test_engines_serve)
{
	const char *command = with_aggregation[_i / 2 / N_TREE_ENGINES];
	const char *engine = tree_engines[_i / 2 % N_TREE_ENGINES];
	struct arena *a = arena_new();
	struct graph *g = fabric_make(command, 0, 1, a);
	struct lids l = fabric_lids(g, _i % 2 ? 1 : 0, 0, a);
	int ret;
	struct route_result result =
		routed(g, &l, arena_printf(a, "%s,no_fallback", engine), a, &ret);

	if (ret == E_UNSUITABLE && l.of[g->hosts[0]].lmc) { /* not every engine has an LMC */
		arena_free(a);
		return;
	}
	ck_assert_msg(ret == E_OK, "%s on %s: %s", engine, command,
	              result.fallback_reason.text);
	ck_assert_uint_eq(result.proof.unreachable_pairs, 0);
	ck_assert_uint_eq(result.proof.management_credit_loops, 0);
	ck_assert_uint_eq(g->n_aggregation, g->n_switches);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t p = g->end_ports[i];

		for (uint32_t k = 0; !graph_is_host(g, p) && k < 1U << l.of[p].lmc; k++) {
			must_arrive(g, &result.out.lft, p, l.of[p].base + k, engine);
		}
	}
	arena_free(a);
}
END_TEST

/* Aggregation nodes change no route between hosts: the tables of the fabric without them
 * have the same entries. */
START_TEST(test_routes_of_hosts_stay)
{
	struct arena *a = arena_new();
	struct graph *bare = fabric_make("ft3 4", 0, 1, a);
	struct graph *g = fabric_make("ft3 4 --aggregation-nodes", 0, 1, a);
	struct lids lb = fabric_lids(bare, 0, 0, a), l = fabric_lids(g, 0, 0, a);
	char *engine = arena_printf(a, "%s,no_fallback", tree_engines[_i]);
	int ret;
	struct route_result want = routed(bare, &lb, engine, a, &ret);

	ck_assert_int_eq(ret, E_OK);
	struct route_result got = routed(g, &l, engine, a, &ret);

	ck_assert_int_eq(ret, E_OK);
	ck_assert_uint_eq(bare->n_hosts, g->n_hosts);
	for (uint32_t h = 0; h < g->n_hosts; h++) {
		uint32_t lid = l.of[g->hosts[h]].base, old = lb.of[bare->hosts[h]].base;

		for (uint32_t s = 0; s < g->n_switches; s++) {
			ck_assert_uint_eq(lft_row(&got.out.lft, s)[lid],
			                  lft_row(&want.out.lft, s)[old]);
		}
	}
	ck_assert_uint_eq(got.load.max, want.load.max);
	arena_free(a);
}
END_TEST

/* --- hosts on spines ---------------------------------------------------------------- */

static const char *const with_spine_hosts[] = {
	"ft2 6 4 3 --spine-hosts=1",
	"ft2 6 4 3 --spine-hosts=3",
	"ft2 8 6 4 2 --spine-hosts=20",
	"ft3 4 --spine-hosts=1",
	"ft3 6 --spine-hosts=20 --aggregation-nodes",
	"ft3 8 --spine-hosts=30",
	"ft3 8 --spine-hosts=96 --aggregation-nodes",
	"tree3 3 4 6 2 3 --spine-hosts=9",
};

enum { N_WITH_SPINE_HOSTS = sizeof(with_spine_hosts) / sizeof(*with_spine_hosts) };

/* The lowest switches are the leaves, wherever else hosts hang: the fabric without those
 * has the same heights. GUIDs are dealt anew, so order tells nothing. */
START_TEST(test_leaves)
{
	struct arena *a = arena_new();
	char *bare = arena_strdup(a, with_spine_hosts[_i]);
	uint16_t *want, *got;

	*strstr(bare, " --spine") = '\0';
	struct graph *b = fabric_make(bare, 0, 1, a);
	struct graph *g = fabric_make(with_spine_hosts[_i], 0, 1, a);

	ck_assert_int_eq(leaves_heights(b, a, &want), E_OK);
	ck_assert_int_eq(leaves_heights(g, a, &got), E_OK);
	ck_assert_mem_eq(got, want, b->n_switches * sizeof(*want));
	arena_free(a);
}
END_TEST

static const char *const spine_host_engines[] = { "minhop", "updn", "fattree", "dmodc" };

enum { N_SPINE_HOST_ENGINES = sizeof(spine_host_engines) / sizeof(*spine_host_engines) };

/* Hosts on spines have no route to each other that climbs, then descends; they get one
 * all the same, and no credit loop with it. Also with cables gone. */
START_TEST(test_spine_hosts_served)
{
	const char *command = with_spine_hosts[_i / 3 / N_SPINE_HOST_ENGINES];
	const char *engine = spine_host_engines[_i / 3 % N_SPINE_HOST_ENGINES];
	struct arena *a = arena_new();
	struct graph *g = fabric_make(command, _i % 3 * 0.04, 7 + (uint32_t)_i, a);
	struct lids l;
	int ret;

	if (_i % 3 == 1) {
		g = fabric_renamed(g, 11 + (uint32_t)_i, a);
	}
	l = fabric_lids(g, 0, 0, a);
	struct route_result result =
		routed(g, &l, arena_printf(a, "%s,no_fallback", engine), a, &ret);

	ck_assert_msg(ret == E_OK, "%s on %s: %s", engine, command,
	              result.fallback_reason.text);
	ck_assert_uint_eq(result.proof.unreachable_pairs, 0);
	arena_free(a);
}
END_TEST

TEST_SUITE(aggregation)
{
	TCase *tc = tcase_create("recognition");

	tcase_add_test(tc, test_recognised);
	tcase_add_test(tc, test_declared);
	suite_add_tcase(suite, tc);
	tc = tcase_create("routes");
	tcase_add_loop_test(tc, test_engines_serve, 0,
	                    2 * N_TREE_ENGINES * N_WITH_AGGREGATION);
	tcase_add_loop_test(tc, test_routes_of_hosts_stay, 0, N_TREE_ENGINES);
	suite_add_tcase(suite, tc);
	tc = tcase_create("spine hosts");
	tcase_add_loop_test(tc, test_leaves, 0, N_WITH_SPINE_HOSTS);
	tcase_add_loop_test(tc, test_spine_hosts_served, 0,
	                    3 * N_SPINE_HOST_ENGINES * N_WITH_SPINE_HOSTS);
	suite_add_tcase(suite, tc);
}

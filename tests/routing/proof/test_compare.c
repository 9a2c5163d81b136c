/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Comparing tables, against a plain model that walks every route before and after; and the
 * altered fabrics that are compared, against the same fabrics built another way.
 */
#include <check.h>
#include <string.h>

#include "routing/graph/alter.h"
#include "routing/graph/column.h"
#include "routing/graph/node_text.h"
#include "routing/graph/walk.h"
#include "routing/proof/compare.h"
#include "routing/route.h"
#include "tests/lib/fabric.h"
#include "tests/lib/graph_check.h"
#include "tests/lib/suite.h"

enum { SEEDS = 16 };

static struct arena *arena;
static struct diags diags;
static uint64_t state;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
}

static void teardown(void)
{
	arena_free(arena);
}

static const char *const fabrics[] = { "ft2 4 3 3", "tree3 3 2 2 2 2", "torus 3x3 2",
	                               "jellyfish 10 4 2", "dragonfly 2 3 1" };
static const char *const engines_asked[] = { "minhop", "updn", "dnup", "ftree", "nue" };

enum { N_FABRICS = sizeof(fabrics) / sizeof(fabrics[0]) };

static uint32_t any_cable(const struct graph *g)
{
	uint32_t port;

	do {
		port = random_below(&state, g->n_ports);
	} while (g->ports[port].peer == GRAPH_NONE);
	return port;
}

/* Routes it, whatever comes out: holes and loops are to be compared, too. */
static struct compared_tables route(struct graph *g, const struct lids *lids,
                                    const char *engine)
{
	struct route_request rq = { .g = g,
		                    .lids = lids,
		                    .credit_loops = CREDIT_PROGRAM };
	struct route_result *r = arena_alloc(arena, sizeof(*r));

	ck_assert_int_eq(route_list_parse(engine, &rq.list, NULL), E_OK);
	(void)route_run(&rq, arena, r);
	ck_assert_ptr_nonnull(r->out.lft.rows);
	return (struct compared_tables){ .g = g, .lids = lids, .lft = &r->out.lft };
}

/* --- the model ------------------------------------------------------------------------ */

static bool is_same(const struct compared_tables *a, const struct walk *x,
                    const struct compared_tables *b, const struct walk *y)
{
	for (uint32_t i = 0; x->n == y->n && i < x->n; i++) {
		if (a->g->nodes[x->hop[i].node].guid !=
		            b->g->nodes[y->hop[i].node].guid ||
		    x->hop[i].out != y->hop[i].out) {
			return false;
		}
	}
	return x->n == y->n;
}

/* Port after of a host that is on the same switch. */
static uint32_t host_after(const struct compared_tables *a,
                           const struct compared_tables *b, uint32_t port)
{
	uint32_t to = graph_port_by_guid(b->g, a->g->ports[port].guid);
	uint32_t sw = graph_switch_of(a->g, port);

	if (to == GRAPH_NONE || !graph_is_host(b->g, to)) {
		return GRAPH_NONE;
	}
	uint32_t sw_after = graph_switch_of(b->g, to);
	return sw_after != GRAPH_NONE &&
	                       a->g->nodes[a->g->switches[sw]].guid ==
	                               b->g->nodes[b->g->switches[sw_after]].guid
	               ? to
	               : GRAPH_NONE;
}

static void model_pair(const struct compared_tables *a, const struct compared_tables *b,
                       uint32_t src, uint32_t dst, struct comparison *sum)
{
	uint32_t src_after = host_after(a, b, src), dst_after = host_after(a, b, dst);
	bool stays = src_after != GRAPH_NONE && dst_after != GRAPH_NONE;
	struct walk x, y;

	for (uint32_t k = 0; k < 1U << a->lids->of[dst].lmc; k++) {
		uint32_t lid = a->lids->of[dst].base + k;
		bool before = walk_route(a->g, a->lids, a->lft, src, lid, &x) == E_OK;
		bool after = false;

		if (!stays) {
			sum->gone += before;
			continue;
		}
		sum->pairs++;
		if (k < 1U << b->lids->of[dst_after].lmc) {
			after = walk_route(b->g, b->lids, b->lft, src_after,
			                   b->lids->of[dst_after].base + k, &y) == E_OK;
		}
		if (before && after && !is_same(a, &x, b, &y)) {
			sum->moved++;
			sum->longer += y.n > x.n;
			sum->shorter += y.n < x.n;
		}
		sum->lost += before && !after;
		sum->gained += !before && after;
	}
}

/* A host cabled to another one is neither gone nor new. */
static bool is_apart(const struct graph *g, uint32_t port)
{
	return port != GRAPH_NONE && graph_is_host(g, port) &&
	       graph_switch_of(g, port) == GRAPH_NONE;
}

/* Hosts of the first fabric that the second one does not have in the same place. */
static uint32_t model_gone(const struct compared_tables *a,
                           const struct compared_tables *b, uint32_t *ret_lids_moved)
{
	uint32_t gone = 0;

	*ret_lids_moved = 0;
	for (uint32_t i = 0; i < a->g->n_end_ports; i++) {
		uint32_t port = a->g->end_ports[i];
		uint32_t to = graph_port_by_guid(b->g, a->g->ports[port].guid);

		if (!graph_is_host(a->g, port)) {
			continue;
		}
		if (is_apart(a->g, port)) {
			gone += !is_apart(b->g, to);
			continue;
		}
		to = host_after(a, b, port);
		gone += to == GRAPH_NONE;
		*ret_lids_moved += to != GRAPH_NONE &&
		                   a->lids->of[port].base != b->lids->of[to].base;
	}
	return gone;
}

static uint64_t owner_guid(const struct compared_tables *t, uint32_t lid)
{
	return lid <= t->lids->top && t->lids->owner[lid] != GRAPH_NONE
	               ? t->g->ports[t->lids->owner[lid]].guid
	               : 0;
}

/* Entries that differ, of LIDs that stay. */
static void model_entries(const struct compared_tables *a,
                          const struct compared_tables *b, struct comparison *sum)
{
	for (uint32_t s = 0; s < a->g->n_switches; s++) {
		uint64_t guid = a->g->nodes[a->g->switches[s]].guid,
			 entries = sum->entries;
		uint32_t to = 0;

		while (to < b->g->n_switches &&
		       b->g->nodes[b->g->switches[to]].guid != guid) {
			to++;
		}
		for (uint32_t first = 0; to < b->g->n_switches && first <= a->lids->top;
		     first += 64) {
			uint64_t before = sum->entries;

			for (uint32_t lid = first; lid < first + 64; lid++) {
				uint64_t owner = owner_guid(a, lid);

				sum->entries += owner != 0 &&
				                owner == owner_guid(b, lid) &&
				                lft_row(a->lft, s)[lid] !=
				                        lft_row(b->lft, to)[lid];
			}
			sum->blocks += sum->entries != before;
		}
		sum->switches += sum->entries != entries;
	}
}

static struct comparison model(const struct compared_tables *a,
                               const struct compared_tables *b)
{
	struct comparison sum = { .pairs = 0 };
	uint32_t unused;

	sum.hosts_gone = model_gone(a, b, &sum.lids_moved);
	sum.hosts_new = model_gone(b, a, &unused);
	model_entries(a, b, &sum);

	for (uint32_t i = 0; i < a->g->n_end_ports; i++) {
		uint32_t dst = a->g->end_ports[i];
		if (!graph_is_host(a->g, dst) ||
		    graph_switch_of(a->g, dst) == GRAPH_NONE) {
			continue;
		}
		for (uint32_t k = 0; k < a->g->n_end_ports; k++) {
			uint32_t src = a->g->end_ports[k];
			if (src != dst && graph_is_host(a->g, src) &&
			    graph_switch_of(a->g, src) != GRAPH_NONE) {
				model_pair(a, b, src, dst, &sum);
			}
		}
	}
	return sum;
}

static void check_comparison(const struct compared_tables *a,
                             const struct compared_tables *b)
{
	struct comparison want = model(a, b), got;

	ck_assert_int_eq(compare_tables(a, b, arena, &got), E_OK);
	ck_assert_uint_eq(got.pairs, want.pairs);
	ck_assert_uint_eq(got.gone, want.gone);
	ck_assert_uint_eq(got.lost, want.lost);
	ck_assert_uint_eq(got.gained, want.gained);
	ck_assert_uint_eq(got.moved, want.moved);
	ck_assert_uint_eq(got.longer, want.longer);
	ck_assert_uint_eq(got.shorter, want.shorter);
	ck_assert_uint_eq(got.entries, want.entries);
	ck_assert_uint_eq(got.blocks, want.blocks);
	ck_assert_uint_eq(got.switches, want.switches);
	ck_assert_uint_eq(got.hosts_gone, want.hosts_gone);
	ck_assert_uint_eq(got.hosts_new, want.hosts_new);
	ck_assert_uint_eq(got.lids_moved, want.lids_moved);
	ck_assert_uint_eq(got.n_lost,
	                  want.lost < COMPARE_LOST_MAX ? want.lost : COMPARE_LOST_MAX);
	for (unsigned i = 0; i < got.n_lost; i++) {
		struct walk x;
		ck_assert_int_eq(walk_route(a->g, a->lids, a->lft, got.lost_pair[i].src,
		                            got.lost_pair[i].lid, &x),
		                 E_OK);
	}
}

/* --- fabrics that lose and gain parts ------------------------------------------------- */

/* LIDs that stay where they were, as the SM does it. */
static struct lids *keep_lids(const struct graph *g, struct graph *to,
                              const struct lids *lids, unsigned lmc)
{
	const struct lids_in in = { .g = to, .lmc = lmc };
	struct lids *kept = arena_alloc(arena, sizeof(*kept));

	for (uint32_t i = 0; i < to->n_ports; i++) {
		uint32_t port = graph_port_by_guid(g, to->ports[i].guid);
		if (port != GRAPH_NONE && graph_is_end_port(to, i)) {
			to->ports[i].lid = lids->of[port].base;
			to->ports[i].lmc = lids->of[port].lmc;
		}
	}
	ck_assert_int_eq(lids_assign(&in, arena, &diags, kept, NULL, NULL), E_OK);
	return kept;
}

/* The fabric with two more hosts that a cable joins. */
static struct graph *with_hosts_apart(struct graph *g)
{
	struct graph *to = graph_new(arena);
	uint32_t node[2];

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];
		uint32_t same;

		ck_assert_int_eq(graph_add_node(to, n->type, n->guid, n->n_ports,
		                                n->description, NULL, &same),
		                 E_OK);
	}
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(graph_add_node(to, NODE_CA, 0xaa00 + 16 * i, 1, "apart",
		                                NULL, &node[i]),
		                 E_OK);
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i], *peer = &g->ports[p->peer];

		if (p->peer != GRAPH_NONE && p->peer > i) {
			ck_assert_int_eq(
				graph_connect(to, graph_port(to, p->node, p->num),
			                      graph_port(to, peer->node, peer->num)),
				E_OK);
		}
	}
	ck_assert_int_eq(
		graph_connect(to, graph_port(to, node[0], 1), graph_port(to, node[1], 1)),
		E_OK);
	ck_assert_int_eq(graph_freeze(to, &diags), E_OK);
	return to;
}

START_TEST(counts_what_moves)
{
	unsigned n = 1 + (unsigned)_i % 3, lmc = (unsigned)_i % 4 == 3;
	struct graph *g, *to;
	struct lids lids;
	struct alteration change[4] = { { .kind = ALTER_NODE_DOWN } };

	state = 99 + (uint64_t)_i;
	g = fabric_make(fabrics[_i % N_FABRICS], _i % 2 ? 0.05 : 0, (uint32_t)_i + 1,
	                arena);
	g = _i % 3 == 0 ? with_hosts_apart(g) : g;
	lids = fabric_lids(g, lmc, 0, arena);
	for (unsigned i = 0; i < n; i++) {
		bool node = random_below(&state, 2) == 0;
		change[i] = (struct alteration){
			.kind = node ? ALTER_NODE_DOWN : ALTER_PORT_DOWN,
			.node = random_below(&state, g->n_nodes),
			.a = { .port = any_cable(g) },
		};
	}
	ck_assert_int_eq(graph_altered(g, change, n, arena, &diags, &to), E_OK);
	struct compared_tables a =
		route(g, &lids, engines_asked[random_below(&state, 5)]);
	struct compared_tables b =
		route(to, keep_lids(g, to, &lids, (unsigned)_i % 8 == 7 ? 2 : lmc),
	              engines_asked[random_below(&state, 5)]);
	check_comparison(&a, &b);
	check_comparison(&b, &a);
	check_comparison(&a, &a);
}
END_TEST

START_TEST(same_on_any_number_of_threads)
{
	struct graph *g = fabric_make("tree3 4 4 4 4 2", 0, 1, arena), *to;
	struct lids lids = fabric_lids(g, 1, 0, arena);
	struct alteration change = { .kind = ALTER_NODE_DOWN, .node = g->switches[5] };
	struct comparison one, many;

	ck_assert_int_eq(graph_altered(g, &change, 1, arena, &diags, &to), E_OK);
	struct compared_tables a = route(g, &lids, "minhop");
	struct compared_tables b = route(to, keep_lids(g, to, &lids, 1), "updn");
	column_use_threads(1);
	ck_assert_int_eq(compare_tables(&a, &b, arena, &one), E_OK);
	column_use_threads(4);
	ck_assert_int_eq(compare_tables(&a, &b, arena, &many), E_OK);
	ck_assert(memcmp(&one, &many, sizeof(one)) == 0);
	ck_assert_uint_gt(one.moved, 0);
	ck_assert_uint_gt(one.entries, 0);
	ck_assert_uint_ge(one.entries, one.blocks);
}
END_TEST

/* What fabric_without() does not copy. */
static struct graph *as_it_was(const struct graph *g, struct graph *to)
{
	for (uint32_t i = 0; i < to->n_ports; i++) {
		struct port *p = &to->ports[i];
		const struct node *n = &to->nodes[p->node];
		uint32_t node = graph_node_by_guid(g, n->guid);
		const struct port *from = &g->ports[g->nodes[node].first_port + p->num];

		p->width = from->width;
		p->speed = from->speed;
		p->mtu = from->mtu;
		p->vls = from->vls;
	}
	to->sm_port = graph_port_by_guid(to, g->ports[g->sm_port].guid);
	return to;
}

/* The rest of a fabric is what fabric_without() leaves. */
START_TEST(takes_away)
{
	struct graph *g, *to;
	struct alteration change[6] = { { .kind = ALTER_NODE_DOWN } };

	state = 7 + (uint64_t)_i;
	g = fabric_make(fabrics[_i % N_FABRICS], 0, 1, arena);
	bool *gone = arena_array(arena, g->n_nodes, 1),
	     *cut = arena_array(arena, g->n_ports, 1);
	for (unsigned i = 0; i < 6; i++) {
		bool node = random_below(&state, 2) == 0;
		change[i] = (struct alteration){
			.kind = node ? ALTER_NODE_DOWN : ALTER_PORT_DOWN,
			.node = random_below(&state, g->n_nodes),
			.a = { .port = any_cable(g) },
		};
		gone[change[i].node] |= node;
		cut[change[i].a.port] |= !node;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		g->nodes[i].name = arena_printf(arena, "our %s", g->nodes[i].description);
	}
	ck_assert_int_eq(graph_altered(g, change, 6, arena, &diags, &to), E_OK);
	graph_check(to);
	for (uint32_t i = 0; i < to->n_nodes; i++) { /* what the operator calls it */
		ck_assert_str_eq(node_name(&to->nodes[i]),
		                 arena_printf(arena, "our %s", to->nodes[i].description));
	}
	graph_check_same(to, as_it_was(g, fabric_without(g, gone, cut, arena)));
}
END_TEST

/* A switch in the place of a host, with this and another host on it. */
START_TEST(adds)
{
	struct graph *g = fabric_make("ft2 3 2 2", 0, 1, arena), *to;
	uint32_t host = g->hosts[0], port = g->ports[host].peer, found = 0;
	const struct alteration change[] = {
		{ .kind = ALTER_PORT_DOWN, .a = { .port = port } },
		{ .kind = ALTER_SWITCH, .name = "new", .n_ports = 8 },
		{ .kind = ALTER_CABLE,
		  .a = { .port = port },
		  .b = { .port = GRAPH_NONE, .new_node = 1, .num = 3 } },
		{ .kind = ALTER_HOST,
		  .name = "guest",
		  .a = { .port = GRAPH_NONE, .new_node = 1, .num = 1 } },
		{ .kind = ALTER_CABLE,
		  .a = { .port = host },
		  .b = { .port = GRAPH_NONE, .new_node = 1, .num = 8 } },
	};

	ck_assert_int_eq(graph_altered(g, change, 5, arena, &diags, &to), E_OK);
	graph_check(to);
	ck_assert_uint_eq(to->n_switches, g->n_switches + 1);
	ck_assert_uint_eq(to->n_hosts, g->n_hosts + 1);
	ck_assert_uint_eq(to->n_links, g->n_links + 2);
	for (uint32_t i = 0; i < to->n_nodes; i++) {
		const struct node *n = &to->nodes[i];
		found += strcmp(n->description, "new") == 0 ||
		         strcmp(n->description, "guest") == 0;
	}
	ck_assert_uint_eq(found, 2);
	/* as fast as what was there */
	uint32_t again = graph_port_by_guid(to, g->ports[host].guid);
	ck_assert_uint_eq(to->ports[again].speed, g->ports[host].speed);
	/* a port that has a cable, and one that the switch does not have */
	const struct alteration taken[] = {
		{ .kind = ALTER_HOST, .name = "guest", .a = { .port = port } }
	};
	const struct alteration beyond[] = {
		change[0],
		change[1],
		{ .kind = ALTER_HOST,
		  .name = "guest",
		  .a = { .port = GRAPH_NONE, .new_node = 1, .num = 9 } },
	};
	ck_assert_int_eq(graph_altered(g, taken, 1, arena, &diags, &to), E_DUPLICATE);
	ck_assert_int_eq(graph_altered(g, beyond, 3, arena, &diags, &to), E_RANGE);
}
END_TEST

TEST_SUITE(compare)
{
	TCase *t = tcase_create("compare");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, counts_what_moves, 0, SEEDS);
	tcase_add_test(t, same_on_any_number_of_threads);
	tcase_add_loop_test(t, takes_away, 0, 15);
	tcase_add_test(t, adds);
	suite_add_tcase(suite, t);
}

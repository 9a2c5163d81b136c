/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* The unicast routing cache: the changes of the manual's list, one by one. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/route.h"
#include "routing/route_cache.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct route_cache *cache;
static struct graph *base; /* the fabric of the computation */
static struct lids base_lids;
static struct route_result base_result;

static void setup(void)
{
	arena = arena_new();
	cache = route_cache_new();
}

static void teardown(void)
{
	route_cache_free(cache);
	arena_free(arena);
}

/* LIDs that ports keep for life. */
static struct lids lids_of(const struct graph *g)
{
	struct lids_in in = { .g = g };
	struct lid_memory *memory;
	struct lids l;
	struct diags d;

	diags_init(&d, arena);
	if (base && g != base) {
		memory = arena_array(arena, base->n_end_ports, sizeof(*memory));
		for (uint32_t i = 0; i < base->n_end_ports; i++) {
			uint32_t p = base->by_guid[i];

			memory[i] = (struct lid_memory){ .guid = base->ports[p].guid,
				                         .range = base_lids.of[p] };
		}
		in.memory = memory;
		in.n_memory = base->n_end_ports;
	}
	ck_assert_int_eq(lids_assign(&in, arena, &d, &l, NULL, NULL), E_OK);
	return l;
}

static int route(const struct graph *g, const struct lids *l, const char *list,
                 struct route_result *ret_result)
{
	struct route_memory memory = { .cache = cache };
	struct route_request r = { .g = g, .lids = l, .memory = &memory };
	struct why why = { "" };

	ck_assert_int_eq(route_list_parse(list, &r.list, &why), E_OK);
	return route_run(&r, arena, ret_result);
}

/* The cached tables are freed before they are requested again: only a copy is left here. */
static void spoil_rule(struct lanes *l)
{
	struct vl_rule *was = (struct vl_rule *)l->rule;
	struct vl_rule *copy = arena_alloc(arena, sizeof(*copy));
	size_t n = was ? (size_t)base->n_switches * was->width : 0;

	if (!was) {
		return;
	}
	*copy = *was;
	copy->port_class = arena_alloc(arena, n);
	memcpy(copy->port_class, was->port_class, n);
	memset(was->port_class, 0xee, n);
	memset(was, 0xee, sizeof(*was));
	l->rule = copy;
}

static void start(const char *fabric, const char *list)
{
	base = NULL;
	struct graph *g = fabric_make(fabric, 0, 1, arena);

	base_lids = lids_of(g);
	base = g;
	ck_assert_int_eq(route(base, &base_lids, list, &base_result), E_OK);
	ck_assert(!base_result.cached);
	ck_assert_ptr_nonnull(strstr(base_result.cache_miss.text, "nothing is remembered"));
	spoil_rule(&base_result.out.lanes);
}

/* --- the same fabric with a change -------------------------------------------------- */

/* Omitted parts: nodes by index, a cable by one of its ports. */
struct change {
	uint32_t nodes[40];
	unsigned n_nodes;
	uint32_t cable; /* GRAPH_NONE: none */
	unsigned slow;  /* the cable is there, but slower */
	uint32_t swap[2]; /* these two ports change places; equal: none do */
	uint32_t more_ports; /* this node has a port more; GRAPH_NONE: none */
};

static uint32_t place(const struct change *c, uint32_t port)
{
	return port == c->swap[0] ? c->swap[1] : port == c->swap[1] ? c->swap[0] : port;
}

static bool gone(const struct change *c, uint32_t node)
{
	for (unsigned i = 0; i < c->n_nodes; i++) {
		if (c->nodes[i] == node) {
			return true;
		}
	}
	return false;
}

static void copy_cables(const struct change *c, const uint32_t *now, struct graph *x)
{
	for (uint32_t i = 0; i < base->n_ports; i++) {
		const struct port *p = &base->ports[i];
		bool this_one = i == c->cable || p->peer == c->cable;

		if (p->peer == GRAPH_NONE || p->peer < i || gone(c, p->node) ||
		    gone(c, base->ports[p->peer].node) || (this_one && !c->slow)) {
			continue;
		}
		const struct port *q = &base->ports[place(c, p->peer)];

		p = &base->ports[place(c, i)];
		uint32_t a = graph_port(x, now[p->node], p->num);
		uint32_t b = graph_port(x, now[q->node], q->num);

		ck_assert_int_eq(graph_connect(x, a, b), E_OK);
		if (this_one) {
			x->ports[a].speed = x->ports[b].speed = p->speed == SPEED_SDR
			                                                ? SPEED_DDR
			                                                : SPEED_SDR;
		}
	}
}

static struct graph *changed(const struct change *c)
{
	uint32_t *now = arena_array(arena, base->n_nodes, sizeof(*now));
	struct graph *x = graph_new(arena);
	struct diags d;

	diags_init(&d, arena);
	for (uint32_t i = 0; i < base->n_nodes; i++) {
		const struct node *n = &base->nodes[i];

		if (gone(c, i)) {
			continue;
		}
		ck_assert_int_eq(
			graph_add_node(x, n->type, n->guid,
		                       (uint8_t)(n->n_ports + (i == c->more_ports)),
		                       n->description, n->id, &now[i]),
			E_OK);
		for (unsigned p = 0; p <= n->n_ports; p++) {
			struct port *to = &x->ports[graph_port(x, now[i], p)];
			const struct port *from = &base->ports[n->first_port + p];

			to->guid = from->guid;
			to->width = from->width;
			to->speed = from->speed;
			to->vls = from->vls;
		}
	}
	copy_cables(c, now, x);
	ck_assert_int_eq(graph_freeze(x, &d), E_OK);
	return x;
}

static struct change nothing(void)
{
	return (struct change){ .cable = GRAPH_NONE, .more_ports = GRAPH_NONE };
}

static void take_node(struct change *c, uint32_t node)
{
	c->nodes[c->n_nodes++] = node;
}

/* A switch with the CAs on it. */
static void take_leaf(struct change *c, uint32_t sw)
{
	for (uint32_t i = base->host_first[sw]; i < base->host_first[sw + 1]; i++) {
		take_node(c, base->ports[base->hosts[i]].node);
	}
	take_node(c, base->switches[sw]);
}

static uint32_t leaf(unsigned nth)
{
	for (uint32_t s = 0; s < base->n_switches; s++) {
		if (base->host_first[s] < base->host_first[s + 1] && nth-- == 0) {
			return s;
		}
	}
	ck_abort_msg("no such leaf");
	return 0;
}

static uint32_t spine(void)
{
	uint32_t s = 0;

	while (base->host_first[s] < base->host_first[s + 1]) {
		s++;
	}
	return s;
}

/* Entries of LIDs that are still there bit for bit, no route to the others. */
static void check_kept(const struct graph *g, const struct lids *l,
                       const struct route_result *result)
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];
		uint32_t was = base->nodes[graph_node_by_guid(base, n->guid)].sw;
		const uint8_t *row = lft_row(&result->out.lft, s);
		const uint8_t *old = lft_row(&base_result.out.lft, was);

		for (uint32_t lid = 0; lid < result->out.lft.stride; lid++) {
			bool there = lid && lid <= l->top && l->owner[lid] != GRAPH_NONE;

			ck_assert_uint_eq(row[lid], there ? old[lid] : LFT_NO_ROUTE);
			if (there) {
				ck_assert_uint_eq(
					lane_of(&result->out.lanes, s, lid),
					lane_of(&base_result.out.lanes, was, lid));
			}
		}
	}
}

static void check_rule(const struct graph *g, const struct lanes *l)
{
	const struct vl_rule *was = base_result.out.lanes.rule, *is = l->rule;

	ck_assert_int_eq(was != NULL, is != NULL);
	if (!was) {
		return;
	}
	ck_assert_mem_eq(was->vl, is->vl, sizeof(was->vl));
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct node *n = &g->nodes[g->switches[s]];
		uint32_t old = base->nodes[graph_node_by_guid(base, n->guid)].sw;

		for (unsigned p = 0; p <= n->n_ports; p++) {
			ck_assert_uint_eq(vl_class(is, s, p), vl_class(was, old, p));
		}
	}
}

static void expect_hit(const struct change *c, const char *list)
{
	struct graph *g = changed(c);
	struct lids l = lids_of(g);
	struct route_result result;

	ck_assert_int_eq(route(g, &l, list, &result), E_OK);
	ck_assert_msg(result.cached, "%s", result.cache_miss.text);
	ck_assert_ptr_eq(result.used, base_result.used);
	ck_assert_str_eq(result.engine_asked, base_result.engine_asked);
	ck_assert(proof_passed(&result.proof, false));
	ck_assert_ptr_nonnull(result.paths.rows);
	check_kept(g, &l, &result);
	check_rule(g, &result.out.lanes);
}

static void expect_miss(const struct graph *g, const char *list, const char *reason)
{
	struct lids l = lids_of(g);
	struct route_result result;

	ck_assert_int_eq(route(g, &l, list, &result), E_OK);
	ck_assert(!result.cached);
	ck_assert_msg(strstr(result.cache_miss.text, reason), "'%s' is not in '%s'",
	              reason, result.cache_miss.text);
}

/* --- kept --------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
	const char *fabric, *list;
} trees[] = {
	{ "ft2 6 4 3",  "minhop" },
	{ "ft3 4",      "updn" },
	{ "ft3 4",      "ftree" },
	{ "ft2 6 4 3",  "dfsssp" },
	{ "torus 4x4 2", "torus-2QoS" }, /* every switch is a leaf that is cabled to leaves */
};

enum { N_TREES = 4, N_FABRICS = 5 };
/* clang-format on */

START_TEST(nothing_changed)
{
	struct change c = nothing();

	start(trees[_i].fabric, trees[_i].list);
	expect_hit(&c, trees[_i].list);
}
END_TEST

START_TEST(hosts_go_and_come_back)
{
	struct change none = nothing(), one = nothing(), cable = nothing();

	start(trees[_i].fabric, trees[_i].list);
	take_node(&one, base->ports[base->hosts[0]].node);
	expect_hit(&one, trees[_i].list);
	take_node(&one, base->ports[base->hosts[base->n_hosts - 1]].node); /* the top LID, too */
	expect_hit(&one, trees[_i].list);
	expect_hit(&none, trees[_i].list);
	/* a switch's cable to a CA that stays in the fabric with nothing else is the same */
	cable.cable = base->ports[base->hosts[1]].peer;
	take_node(&cable, base->ports[base->hosts[1]].node);
	expect_hit(&cable, trees[_i].list);
}
END_TEST

START_TEST(leaves_go_and_come_back)
{
	struct change none = nothing(), two = nothing();

	start(trees[_i].fabric, trees[_i].list);
	take_leaf(&two, leaf(0));
	expect_hit(&two, trees[_i].list);
	take_leaf(&two, leaf(2));
	expect_hit(&two, trees[_i].list);
	expect_hit(&none, trees[_i].list);
}
END_TEST

/* --- computed anew ------------------------------------------------------------------ */

START_TEST(switch_cable_lost)
{
	struct change c = nothing();

	start("ft2 6 4 3", "minhop");
	const struct node *n = &base->nodes[base->switches[0]];

	c.cable = n->first_port + base->adj[base->adj_first[0]].port;
	expect_miss(changed(&c), "minhop", "has lost a cable to another switch");
	/* what was computed last is what the next one is compared with */
	struct graph *g = changed(&c);
	struct lids l = lids_of(g);
	struct route_result result;

	ck_assert_int_eq(route(g, &l, "minhop", &result), E_OK);
	ck_assert(result.cached);
	c = nothing();
	expect_miss(changed(&c), "minhop", "has a new cable");
}
END_TEST

START_TEST(spine_lost)
{
	struct change c = nothing();

	start("ft2 6 4 3", "minhop");
	take_node(&c, base->switches[spine()]);
	expect_miss(changed(&c), "minhop", "a switch without hosts");
}
END_TEST

/* On a ring every switch is a leaf that is cabled to leaves. */
START_TEST(leaf_of_a_ring_lost)
{
	struct change c = nothing();

	start("torus 5 1", "dnup");
	take_leaf(&c, 2);
	expect_miss(changed(&c), "dnup", "was cabled to another leaf switch");
}
END_TEST

START_TEST(slower_cable)
{
	struct change c = nothing();

	start("ft2 6 4 3", "minhop");
	c.cable = base->hosts[0];
	c.slow = 1;
	expect_miss(changed(&c), "minhop", "another width, speed");
}
END_TEST

/* A node that was not there before, also behind all that were. */
START_TEST(new_node)
{
	struct change c = nothing(), none = nothing();

	start("ft2 6 4 3", "minhop");
	struct graph *whole = changed(&none);

	take_node(&c, _i ? base->n_nodes - 1 : base->ports[base->hosts[0]].node);
	struct graph *part = changed(&c);
	struct lids l = lids_of(part);
	struct route_result result;

	route_cache_drop(cache);
	ck_assert_int_eq(route(part, &l, "minhop", &result), E_OK);
	expect_miss(whole, "minhop", "is new");
}
END_TEST

/* A device with another number of ports is another device, even if no cable moved. */
START_TEST(other_ports)
{
	struct change c = nothing();

	start("ft2 6 4 3", "minhop");
	c.more_ports = _i ? base->switches[spine()] : base->ports[base->hosts[0]].node;
	expect_miss(changed(&c), "minhop", "another kind of device");
}
END_TEST

START_TEST(moved_host)
{
	struct change c = nothing();

	start("ft2 6 4 3", "minhop");
	c.swap[0] = base->hosts[0];
	c.swap[1] = base->hosts[base->n_hosts - 1];
	expect_miss(changed(&c), "minhop", "leads elsewhere now");
}
END_TEST

START_TEST(other_lids)
{
	struct change none = nothing();
	struct graph *g;
	struct route_result result;

	start("ft2 6 4 3", "minhop");
	g = changed(&none);
	struct lids l = fabric_lids(g, 1, 0, arena);

	ck_assert_int_eq(route(g, &l, "minhop", &result), E_OK);
	ck_assert(!result.cached);
	ck_assert_ptr_nonnull(strstr(result.cache_miss.text, "has other LIDs now"));
}
END_TEST

START_TEST(other_lanes)
{
	struct route_result result;
	struct route_request r = { .g = NULL };
	struct route_memory memory = { .cache = cache };
	struct why why = { "" };

	start("ft2 6 4 3", "dfsssp");
	r = (struct route_request){ .g = base,
		                    .lids = &base_lids,
		                    .memory = &memory,
		                    .max_lanes = 2 };
	ck_assert_int_eq(route_list_parse("dfsssp", &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &result), E_OK);
	ck_assert_ptr_nonnull(strstr(result.cache_miss.text, "2 virtual lanes now"));
}
END_TEST

/* A failure leaves nothing behind that could be taken for routes. */
START_TEST(failure)
{
	struct route_result result;
	struct route_request r = { .g = NULL };
	struct route_memory memory = { .cache = cache };
	struct why why = { "" };
	_Atomic bool stop = true;

	start("ft2 6 4 3", "minhop");
	struct change c = nothing();

	take_node(&c, base->switches[spine()]);
	struct graph *g = changed(&c);
	struct lids l = lids_of(g);

	r = (struct route_request){ .g = g, .lids = &l, .memory = &memory, .cancel = &stop };
	ck_assert_int_eq(route_list_parse("minhop", &r.list, &why), E_OK);
	ck_assert_int_eq(route_run(&r, arena, &result), -ECANCELED);
	ck_assert_int_eq(route(base, &base_lids, "minhop", &result), E_OK);
	ck_assert_ptr_nonnull(strstr(result.cache_miss.text, "nothing is remembered"));
}
END_TEST

/* Random sets of hosts and leaves: always what a look at the base tables says. */
START_TEST(random_absences)
{
	uint64_t rng = 100 + (unsigned)_i;

	start(trees[_i % N_FABRICS].fabric, trees[_i % N_FABRICS].list);
	for (unsigned round = 0; round < 10; round++) {
		struct change c = nothing();

		for (unsigned k = random_below(&rng, 5); k > 0; k--) {
			uint32_t host = base->hosts[random_below(&rng, base->n_hosts)];

			if (!gone(&c, base->ports[host].node)) {
				take_node(&c, base->ports[host].node);
			}
		}
		expect_hit(&c, trees[_i % N_FABRICS].list);
	}
}
END_TEST

TEST_SUITE(route_cache)
{
	TCase *t = tcase_create("route_cache");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, nothing_changed, 0, N_FABRICS);
	tcase_add_loop_test(t, hosts_go_and_come_back, 0, N_FABRICS);
	tcase_add_loop_test(t, leaves_go_and_come_back, 0, N_TREES);
	tcase_add_test(t, switch_cable_lost);
	tcase_add_test(t, spine_lost);
	tcase_add_test(t, leaf_of_a_ring_lost);
	tcase_add_test(t, slower_cable);
	tcase_add_loop_test(t, new_node, 0, 2);
	tcase_add_test(t, moved_host);
	tcase_add_loop_test(t, other_ports, 0, 2);
	tcase_add_test(t, other_lids);
	tcase_add_test(t, other_lanes);
	tcase_add_test(t, failure);
	tcase_add_loop_test(t, random_absences, 0, 2 * N_FABRICS);
	suite_add_tcase(suite, t);
}

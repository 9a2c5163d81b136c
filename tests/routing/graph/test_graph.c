/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "tests/lib/graph_check.h"
#include "tests/lib/suite.h"

static struct arena *arena;
static struct diags diags;
static struct graph *g;

static void setup(void)
{
	arena = arena_new();
	diags_init(&diags, arena);
	g = graph_new(arena);
	ck_assert_ptr_nonnull(g);
}

static void teardown(void)
{
	arena_free(arena);
}

static uint32_t add(enum node_type type, uint64_t guid, unsigned n_ports)
{
	uint32_t node = GRAPH_NONE;

	ck_assert_int_eq(graph_add_node(g, type, guid, n_ports, "", NULL, &node), E_OK);
	return node;
}

static int wire(uint32_t a, unsigned pa, uint32_t b, unsigned pb)
{
	return graph_connect(g, graph_port(g, a, pa), graph_port(g, b, pb));
}

static void freeze(void)
{
	ck_assert_int_eq(graph_freeze(g, &diags), E_OK);
	graph_check(g);
}

START_TEST(empty_graph)
{
	uint32_t *part, n = 7;

	freeze();
	ck_assert_uint_eq(g->n_switches + g->n_end_ports + g->n_links + g->n_adj, 0);
	ck_assert_uint_eq(graph_node_by_guid(g, 1), GRAPH_NONE);
	ck_assert_uint_eq(graph_port_by_guid(g, 1), GRAPH_NONE);
	ck_assert_int_eq(graph_check_components(g, arena, &part, &n), E_OK);
	ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(defaults_of_a_node)
{
	char longer[200];
	uint32_t sw, ca;

	memset(longer, 'd', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 0x10, 3, longer, "S", &sw), E_OK);
	ck_assert_int_eq(graph_add_node(g, NODE_CA, 0x20, 2, NULL, NULL, &ca), E_OK);
	ck_assert_uint_eq(strlen(g->nodes[sw].description), 64);
	ck_assert_str_eq(g->nodes[sw].id, "S");
	ck_assert_str_eq(g->nodes[ca].description, "");
	ck_assert_ptr_null(g->nodes[ca].id);
	ck_assert_uint_eq(g->ports[graph_port(g, sw, 2)].guid, 0x10);
	ck_assert_uint_eq(g->ports[graph_port(g, ca, 2)].guid, 0x22);
	const struct port *p = &g->ports[graph_port(g, ca, 1)];
	ck_assert_uint_eq(p->state, PORT_DOWN);
	ck_assert_uint_eq(p->width, WIDTH_4X);
	ck_assert_uint_eq(p->speed, SPEED_SDR);
	ck_assert_uint_eq(p->mtu, 5);
	ck_assert_uint_eq(p->vls, 4);
	ck_assert_uint_eq(g->ports[graph_port(g, sw, 0)].state, PORT_INIT);
}
END_TEST

START_TEST(bad_nodes_are_refused)
{
	uint32_t node = 42;

	ck_assert_int_eq(graph_add_node(g, NODE_CA, 1, 0, "", NULL, &node), E_RANGE);
	ck_assert_int_eq(graph_add_node(g, NODE_CA, 1, 255, "", NULL, &node), E_RANGE);
	ck_assert_int_eq(graph_add_node(g, (enum node_type)4, 1, 1, "", NULL, &node),
	                 E_RANGE);
	ck_assert_uint_eq(node, 42);
	ck_assert_uint_eq(g->n_nodes, 0);
	ck_assert_int_eq(graph_add_node(g, NODE_SWITCH, 1, 254, "", NULL, &node), E_OK);
	freeze();
	ck_assert_uint_eq(g->max_port, 254);
}
END_TEST

START_TEST(bad_cables_are_refused)
{
	uint32_t a = add(NODE_SWITCH, 1, 3), b = add(NODE_SWITCH, 2, 3);

	ck_assert_int_eq(wire(a, 0, b, 1), E_RANGE);
	ck_assert_int_eq(wire(a, 1, b, 0), E_RANGE);
	ck_assert_int_eq(wire(a, 4, b, 1), E_RANGE);
	ck_assert_int_eq(wire(a, 1, b, 1), E_OK);
	ck_assert_int_eq(wire(b, 1, a, 1), E_OK); /* the same cable from the other end */
	ck_assert_int_eq(wire(a, 1, b, 2), E_DUPLICATE);
	ck_assert_int_eq(wire(a, 2, b, 1), E_DUPLICATE);
	ck_assert_int_eq(wire(a, 1, a, 1), E_DUPLICATE);
	graph_disconnect(g, graph_port(g, b, 1));
	ck_assert_uint_eq(g->ports[graph_port(g, a, 1)].state, PORT_DOWN);
	graph_disconnect(g, graph_port(g, b, 1));
	graph_disconnect(g, GRAPH_NONE);
	ck_assert_int_eq(wire(a, 1, b, 2), E_OK);
	freeze();
	ck_assert_uint_eq(g->n_links, 1);
}
END_TEST

START_TEST(arrays_for_engines)
{
	uint32_t s2 = add(NODE_SWITCH, 0x200, 5), s1 = add(NODE_SWITCH, 0x100, 8);
	uint32_t ca = add(NODE_CA, 0x50, 2), rt = add(NODE_ROUTER, 0x60, 1);
	uint32_t idle = add(NODE_CA, 0x70, 1);

	ck_assert_int_eq(wire(s1, 7, s2, 2), E_OK);
	ck_assert_int_eq(wire(s1, 3, s2, 1), E_OK); /* parallel */
	ck_assert_int_eq(wire(s1, 4, s1, 5), E_OK); /* loopback cable */
	ck_assert_int_eq(wire(s1, 6, s1, 6), E_OK); /* loopback plug */
	ck_assert_int_eq(wire(ca, 1, s1, 1), E_OK);
	ck_assert_int_eq(wire(ca, 2, s2, 5), E_OK);
	ck_assert_int_eq(wire(rt, 1, s2, 4), E_OK);
	g->sm_port = graph_port(g, idle, 1);
	freeze();

	ck_assert_uint_eq(g->n_switches, 2);
	ck_assert_uint_eq(g->max_port, 8);
	ck_assert_uint_eq(g->n_links, 7);
	ck_assert_uint_eq(g->n_adj, 4);
	ck_assert_uint_eq(g->n_end_ports, 6);
	ck_assert_uint_eq(g->n_hosts, 4);
	ck_assert_uint_eq(g->host_first[1], 1);
	ck_assert_uint_eq(g->host_first[2], 3);
	ck_assert_uint_eq(g->adj[0].port, 3);
	ck_assert_uint_eq(g->adj[0].to, 1);
	ck_assert_uint_eq(g->adj[0].to_port, 1);
	ck_assert_uint_eq(g->ports[g->hosts[1]].guid, 0x61); /* router on port 4 of s2 */
	ck_assert_uint_eq(g->ports[g->sm_port].guid, 0x71);
	ck_assert_uint_eq(graph_switch_of(g, g->sm_port), GRAPH_NONE);
	uint32_t port0 = graph_port_by_guid(g, 0x200);
	ck_assert_uint_eq(g->ports[port0].num, 0);
	ck_assert_uint_eq(graph_switch_of(g, port0), 1);
	ck_assert(!graph_is_end_port(g, port0 + 1));
	ck_assert(!graph_is_end_port(g, GRAPH_NONE));
	ck_assert(!graph_is_end_port(g, graph_port(g, graph_node_by_guid(g, 0x50), 0)));
	ck_assert_uint_eq(graph_switch_of(g, GRAPH_NONE), GRAPH_NONE);
}
END_TEST

START_TEST(hosts_back_to_back)
{
	uint32_t a = add(NODE_CA, 1, 1), b = add(NODE_CA, 0x11, 1);

	ck_assert_int_eq(wire(a, 1, b, 1), E_OK);
	freeze();
	ck_assert_uint_eq(g->n_switches, 0);
	ck_assert_uint_eq(g->n_hosts, 2);
	ck_assert_uint_eq(g->n_links, 1);
	ck_assert_uint_eq(graph_switch_of(g, graph_port_by_guid(g, 2)), GRAPH_NONE);
}
END_TEST

START_TEST(parts_are_numbered_in_node_order)
{
	uint32_t s[4], *part, n;

	for (unsigned i = 0; i < 4; i++) {
		s[i] = add(NODE_SWITCH, 4 - i, 2);
	}
	ck_assert_int_eq(wire(s[0], 1, s[2], 1), E_OK); /* GUIDs 4 and 2 */
	freeze();
	ck_assert_int_eq(graph_check_components(g, arena, &part, &n), E_OK);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(part[0], 0);
	ck_assert_uint_eq(part[1], 1);
	ck_assert_uint_eq(part[2], 2);
	ck_assert_uint_eq(part[3], 1);
}
END_TEST

START_TEST(second_node_guid_is_left_out)
{
	uint32_t s = add(NODE_SWITCH, 9, 3), ca = add(NODE_CA, 5, 1), twin;

	ck_assert_int_eq(graph_add_node(g, NODE_CA, 5, 1, "the twin", NULL, &twin), E_OK);
	ck_assert_int_eq(wire(s, 1, ca, 1), E_OK);
	ck_assert_int_eq(wire(s, 2, twin, 1), E_OK);
	g->sm_port = graph_port(g, twin, 1);
	freeze();
	ck_assert_uint_eq(diags.n_errors, 1);
	ck_assert_ptr_nonnull(strstr(diags_first_error(&diags), "the twin"));
	ck_assert_ptr_nonnull(strstr(diags_first_error(&diags), "0x0000000000000005"));
	ck_assert_uint_eq(g->n_nodes, 2);
	ck_assert_uint_eq(g->n_links, 1);
	ck_assert_uint_eq(g->sm_port, GRAPH_NONE);
	uint32_t port2 = graph_port(g, graph_node_by_guid(g, 9), 2);
	ck_assert_uint_eq(g->ports[port2].state, PORT_DOWN);
}
END_TEST

START_TEST(second_port_guid_is_left_out)
{
	uint32_t s = add(NODE_SWITCH, 9, 4), a = add(NODE_CA, 0x50, 2),
		 b = add(NODE_CA, 0x40, 1);
	uint32_t c = add(NODE_CA, 0x30, 1);

	g->ports[graph_port(g, a, 2)].guid = 0x51; /* twice within one node: cable goes */
	g->ports[graph_port(g, b, 1)].guid = 0x51; /* and in another: node goes */
	g->ports[graph_port(g, c, 1)].guid = 0x40; /* node GUID and port GUID may agree */
	ck_assert_int_eq(wire(s, 1, a, 1), E_OK);
	ck_assert_int_eq(wire(s, 2, a, 2), E_OK);
	ck_assert_int_eq(wire(s, 3, b, 1), E_OK);
	ck_assert_int_eq(wire(s, 4, c, 1), E_OK);
	freeze();
	ck_assert_uint_eq(diags.n_errors, 2);
	ck_assert_uint_eq(g->n_nodes, 3);
	ck_assert_uint_eq(g->n_links, 2);
	ck_assert_uint_eq(graph_node_by_guid(g, 0x40), GRAPH_NONE);
}
END_TEST

/* The same random fabric, read in two orders, must freeze to the same arrays. */
static void random_fabric(const uint32_t *order, uint32_t n, unsigned seed)
{
	uint32_t at[64];

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = order[i];
		at[k] = add(k % 3 ? NODE_CA : NODE_SWITCH, 0x1000u + k * 0x10,
		            k % 3 ? 2 : 12);
	}
	srand(seed);
	for (uint32_t i = 0; i < 4 * n; i++) {
		uint32_t a = (uint32_t)rand() % n, b = (uint32_t)rand() % n;
		unsigned pa = (unsigned)rand() % 12 + 1, pb = (unsigned)rand() % 12 + 1;
		int ret = wire(at[a], pa, at[b], pb);
		ck_assert(ret == E_OK || ret == E_DUPLICATE || ret == E_RANGE);
	}
}

START_TEST(reading_order_does_not_matter)
{
	unsigned seed = (unsigned)_i + 1;
	uint32_t up[64], mixed[64], n = 40;
	struct graph *first;

	for (uint32_t i = 0; i < n; i++) {
		up[i] = i;
		mixed[i] = (i * 17 + seed) % n; /* 17 and 40 have no common factor */
	}
	random_fabric(up, n, seed);
	freeze();
	first = g;
	g = graph_new(arena);
	random_fabric(mixed, n, seed);
	freeze();
	ck_assert_msg(g->n_adj > 0, "seed %u made no links", seed);
	graph_check_same(first, g);
	ck_assert_uint_eq(first->n_adj, g->n_adj);
	ck_assert_mem_eq(first->adj, g->adj, g->n_adj * sizeof(*g->adj));
}
END_TEST

/* The meaning of a GUID in a list: a switch, a port's switch, those of a node's ports.
 */
START_TEST(switches_by_guid)
{
	uint32_t a = add(NODE_SWITCH, 0x10, 4), b = add(NODE_SWITCH, 0x20, 4);
	uint32_t two = add(NODE_CA, 0x30, 3), late = add(NODE_CA, 0x40, 2),
		 sw[GRAPH_NODE_PORTS];

	ck_assert_int_eq(wire(two, 1, a, 1), E_OK);
	ck_assert_int_eq(wire(two, 2, b, 1), E_OK);
	ck_assert_int_eq(wire(two, 3, a, 2), E_OK);
	ck_assert_int_eq(wire(late, 2, b, 2), E_OK);
	add(NODE_CA, 0x50, 1);
	freeze();
	ck_assert_uint_eq(graph_switches_by_guid(g, 0x10, sw), 1);
	ck_assert_uint_eq(g->nodes[g->switches[sw[0]]].guid, 0x10);
	ck_assert_uint_eq(graph_switches_by_guid(g, 0x30, sw), 2);
	ck_assert_uint_eq(g->nodes[g->switches[sw[0]]].guid, 0x10);
	ck_assert_uint_eq(g->nodes[g->switches[sw[1]]].guid, 0x20);
	ck_assert_uint_eq(graph_switches_by_guid(g, 0x32, sw), 1);
	ck_assert_uint_eq(g->nodes[g->switches[sw[0]]].guid, 0x20);
	ck_assert_uint_eq(graph_switches_by_guid(g, 0x40, sw), 1);
	ck_assert_uint_eq(g->nodes[g->switches[sw[0]]].guid, 0x20);
	ck_assert_uint_eq(graph_switches_by_guid(g, 0x41, sw), 0); /* not cabled */
	ck_assert_uint_eq(graph_switches_by_guid(g, 0x50, sw), 0);
	ck_assert_uint_eq(graph_switches_by_guid(g, 0x99, sw), 0);
}
END_TEST

TEST_SUITE(graph)
{
	TCase *t = tcase_create("graph");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, empty_graph);
	tcase_add_test(t, switches_by_guid);
	tcase_add_test(t, defaults_of_a_node);
	tcase_add_test(t, bad_nodes_are_refused);
	tcase_add_test(t, bad_cables_are_refused);
	tcase_add_test(t, arrays_for_engines);
	tcase_add_test(t, hosts_back_to_back);
	tcase_add_test(t, parts_are_numbered_in_node_order);
	tcase_add_test(t, second_node_guid_is_left_out);
	tcase_add_test(t, second_port_guid_is_left_out);
	tcase_add_loop_test(t, reading_order_does_not_matter, 0, 20);
	suite_add_tcase(suite, t);
}

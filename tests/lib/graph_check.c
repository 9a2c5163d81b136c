/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/graph_check.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"

void graph_check(const struct graph *g)
{
	uint32_t cables = 0, hosts = 0, aggregation = 0, adj = 0, end = 0;

	ck_assert(g->frozen);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];
		ck_assert(!i || g->nodes[i - 1].guid < n->guid);
		ck_assert_uint_eq(graph_node_by_guid(g, n->guid), i);
		ck_assert_uint_eq(n->sw != GRAPH_NONE, n->type == NODE_SWITCH);
		ck_assert(n->sw == GRAPH_NONE || g->switches[n->sw] == i);
		for (unsigned num = 0; num <= n->n_ports; num++) {
			uint32_t p = graph_port(g, i, num);
			ck_assert_uint_eq(g->ports[p].node, i);
			ck_assert_uint_eq(g->ports[p].num, num);
		}
		ck_assert_uint_eq(graph_port(g, i, n->n_ports + 1u), GRAPH_NONE);
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		if (p->peer != GRAPH_NONE) {
			ck_assert_uint_lt(p->peer, g->n_ports);
			ck_assert_uint_eq(g->ports[p->peer].peer, i);
			ck_assert_uint_ne(p->num, 0);
			ck_assert_uint_ne(p->state, PORT_DOWN);
			cables += p->peer >= i;
		}
		bool listed = end < g->n_end_ports && g->end_ports[end] == i;
		bool wanted = graph_is_end_port(g, i) &&
		              (!p->num || p->peer != GRAPH_NONE || i == g->sm_port);
		ck_assert_uint_eq(listed, wanted);
		if (listed) {
			end++;
			hosts += graph_is_host(g, i);
			aggregation += p->num && g->nodes[p->node].aggregation;
			ck_assert_uint_eq(graph_port_by_guid(g, p->guid), i);
		}
	}
	ck_assert_uint_eq(end, g->n_end_ports);
	ck_assert_uint_eq(hosts, g->n_hosts);
	ck_assert_uint_eq(aggregation, g->n_aggregation);
	ck_assert_uint_eq(cables, g->n_links);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t node = g->switches[s];
		ck_assert_uint_le(g->nodes[node].n_ports, g->max_port);
		uint32_t host = g->host_first[s];
		ck_assert_uint_eq(g->adj_first[s], adj);
		for (unsigned num = 1; num <= g->nodes[node].n_ports; num++) {
			uint32_t peer = g->ports[graph_port(g, node, num)].peer;
			if (peer == GRAPH_NONE || g->ports[peer].node == node) {
				continue;
			}
			uint32_t far = g->nodes[g->ports[peer].node].sw;
			if (far == GRAPH_NONE && !graph_is_host(g, peer)) {
				ck_assert_uint_eq(graph_switch_of(g, peer), s);
				continue;
			}
			if (far == GRAPH_NONE) {
				ck_assert_uint_eq(g->hosts[host++], peer);
				ck_assert_uint_eq(graph_switch_of(g, peer), s);
				continue;
			}
			ck_assert_uint_eq(g->adj[adj].to, far);
			ck_assert_uint_eq(g->adj[adj].port, num);
			ck_assert_uint_eq(g->adj[adj].to_port, g->ports[peer].num);
			adj++;
		}
		ck_assert_uint_eq(g->host_first[s + 1], host);
	}
	ck_assert_uint_eq(adj, g->n_adj);
	ck_assert_uint_eq(g->adj_first[g->n_switches], adj);
}

void graph_check_same(const struct graph *a, const struct graph *b)
{
	ck_assert_uint_eq(a->n_nodes, b->n_nodes);
	ck_assert_uint_eq(a->n_ports, b->n_ports);
	ck_assert_uint_eq(a->sm_port, b->sm_port);
	for (uint32_t i = 0; i < a->n_nodes; i++) {
		const struct node *x = &a->nodes[i], *y = &b->nodes[i];
		ck_assert_uint_eq(x->guid, y->guid);
		ck_assert_uint_eq(x->type, y->type);
		ck_assert_uint_eq(x->n_ports, y->n_ports);
		ck_assert_uint_eq(x->esp0, y->esp0);
		ck_assert_uint_eq(x->system_image_guid, y->system_image_guid);
		ck_assert_uint_eq(x->vendor_id, y->vendor_id);
		ck_assert_uint_eq(x->device_id, y->device_id);
		ck_assert_str_eq(x->description, y->description);
	}
	for (uint32_t i = 0; i < a->n_ports; i++) {
		const struct port *x = &a->ports[i], *y = &b->ports[i];
		ck_assert_uint_eq(x->peer, y->peer);
		ck_assert_uint_eq(x->lid, y->lid);
		ck_assert_uint_eq(x->lmc, y->lmc);
		if (x->peer != GRAPH_NONE) {
			ck_assert_uint_eq(x->width, y->width);
			ck_assert_uint_eq(x->speed, y->speed);
		}
		if (!x->num || x->peer != GRAPH_NONE) {
			ck_assert_uint_eq(x->guid, y->guid);
		}
	}
}

/* Gives number part to every node that can be reached from start. queue: room for
 * n_nodes. */
static void number_component(const struct graph *g, uint32_t start, uint32_t part,
                             uint32_t *of, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	of[start] = part;
	queue[tail++] = start;
	while (head < tail) {
		const struct node *n = &g->nodes[queue[head++]];
		for (unsigned num = 1; num <= n->n_ports; num++) {
			uint32_t peer = g->ports[n->first_port + num].peer;
			uint32_t next =
				peer == GRAPH_NONE ? GRAPH_NONE : g->ports[peer].node;
			if (next != GRAPH_NONE && of[next] == GRAPH_NONE) {
				of[next] = part;
				queue[tail++] = next;
			}
		}
	}
}

int graph_check_components(const struct graph *g, struct arena *a,
                           uint32_t **ret_components, uint32_t *ret_n)
{
	uint32_t *of = arena_array(a, g->n_nodes, sizeof(*of));
	uint32_t *queue = arena_array(a, g->n_nodes, sizeof(*queue));
	if (!of || !queue) {
		return -ENOMEM;
	}

	uint32_t n = 0;
	memset(of, 0xff, g->n_nodes * sizeof(*of));
	for (uint32_t node = 0; node < g->n_nodes; node++) {
		if (of[node] == GRAPH_NONE) {
			number_component(g, node, n++, of, queue);
		}
	}
	*ret_components = of;
	*ret_n = n;
	return E_OK;
}

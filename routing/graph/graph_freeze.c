/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Freezing: from "as read" to "as engines want it".
 *
 * 1. Nodes whose NodeGUID, or one of whose end port GUIDs, was there before are marked;
 *    their cables go.
 * 2. The others are copied in GUID order into new arrays, peers renumbered.
 * 3. The arrays of switches, switch-to-switch links, hosts and end ports are filled by
 *    counting first, then filling, so each is one contiguous block.
 *
 * Invariants afterwards: peer is symmetric; everything is ordered by GUID and port
 * number, so the same fabric gives the same indices whatever the order in which it was
 * read.
 */
#include "routing/graph/graph.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/guidfile.h"
#include "routing/graph/aggregation.h"

/* A GUID and where it came from; index breaks ties, so the first one read sorts first. */
struct key {
	uint64_t guid;
	uint32_t index;
};

static int key_cmp(const void *pa, const void *pb)
{
	const struct key *a = pa, *b = pb;

	if (a->guid != b->guid) {
		return a->guid < b->guid ? -1 : 1;
	}
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Sorts keys that are mostly in order already, where the graph began with that of an earlier sweep.
 * \return false: all of them were. */
static bool sort_keys(struct key *keys, uint32_t n)
{
	uint32_t i = 1;

	while (i < n && key_cmp(&keys[i - 1], &keys[i]) < 0) {
		i++;
	}
	if (i < n) {
		qsort(keys, n, sizeof(*keys), key_cmp);
	}
	return i < n;
}

static const char *node_label(const struct graph *g, uint32_t node)
{
	const struct node *n = &g->nodes[node];
	const char *name = n->id ? n->id : *n->description ? n->description : "";
	const char *type = node_type_name(n->type);
	char *text = *name ? arena_printf(g->arena, "%s \"%s\"", type, name)
	                   : arena_printf(g->arena, "%s 0x%016" PRIx64, type, n->guid);

	return text ? text : type;
}

static void report(const struct graph *g, struct diags *d, const char *kind,
                   uint64_t guid, uint32_t first, uint32_t later)
{
	char place[32] = "";

	if (g->nodes[first].line) {
		snprintf(place, sizeof(place), " (line %u)", g->nodes[first].line);
	}
	diag_add(d, DIAG_ERROR, g->source, g->nodes[later].line,
	         "%s 0x%016" PRIx64 " of %s is already that of %s%s", kind, guid,
	         node_label(g, later), node_label(g, first), place);
}

/* Marks every node but the first of each NodeGUID. keys: [n_nodes], left in GUID order.
 */
static void drop_duplicate_nodes(struct graph *g, struct diags *d, struct key *keys,
                                 bool *dead)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		keys[i] = (struct key){ g->nodes[i].guid, i };
	}
	sort_keys(keys, g->n_nodes);
	for (uint32_t i = 1, first = 0; i < g->n_nodes; i++) {
		if (keys[i].guid != keys[first].guid) {
			first = i;
			continue;
		}
		report(g, d, "NodeGUID", keys[i].guid, keys[first].index, keys[i].index);
		dead[keys[i].index] = true;
	}
}

static bool counts_as_end_port(const struct graph *g, uint32_t port)
{
	const struct port *p = &g->ports[port];

	if (!graph_is_end_port(g, port)) {
		return false;
	}
	return !p->num || p->peer != GRAPH_NONE || port == g->sm_port;
}

/* End ports of nodes that live, as keys. \return How many. */
static uint32_t end_port_keys(const struct graph *g, const bool *dead, struct key *keys)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_ports; i++) {
		if (counts_as_end_port(g, i) && !(dead && dead[g->ports[i].node])) {
			keys[n++] = (struct key){ g->ports[i].guid, i };
		}
	}
	sort_keys(keys, n);
	return n;
}

/* As above for PortGUIDs. Two ports of one node: the later port loses its cable. */
static void drop_duplicate_ports(struct graph *g, struct diags *d, struct key *keys,
                                 bool *dead)
{
	uint32_t n = end_port_keys(g, dead, keys);

	for (uint32_t i = 1, first = 0; i < n; i++) {
		if (keys[i].guid != keys[first].guid) {
			first = i;
			continue;
		}
		uint32_t a = g->ports[keys[first].index].node;
		uint32_t b = g->ports[keys[i].index].node;
		if (dead[a]) { /* left out for another port of its: this one is free again
			        */
			first = i;
			continue;
		}
		if (dead[b]) {
			continue;
		}
		report(g, d, "PortGUID", keys[i].guid, a, b);
		if (a == b) {
			graph_disconnect(g, keys[i].index);
			if (g->sm_port == keys[i].index) {
				g->sm_port = GRAPH_NONE;
			}
		} else {
			dead[b] = true;
		}
	}
}

/* New arrays in GUID order without the dead. keys: all nodes in GUID order. */
static int renumber(struct graph *g, const struct key *keys, const bool *dead)
{
	uint32_t *moved = arena_array(g->arena, g->n_ports, sizeof(*moved));
	struct node *nodes = arena_array(g->arena, g->n_nodes, sizeof(*nodes));
	struct port *ports = arena_array(g->arena, g->n_ports, sizeof(*ports));
	if (!moved || !nodes || !ports) {
		return -ENOMEM;
	}

	uint32_t n_nodes = 0, n_ports = 0;
	memset(moved, 0xff, g->n_ports * sizeof(*moved));
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		if (dead[keys[i].index]) {
			continue;
		}
		struct node *n = &nodes[n_nodes];
		*n = g->nodes[keys[i].index];
		for (unsigned num = 0; num <= n->n_ports; num++) {
			ports[n_ports + num] = g->ports[n->first_port + num];
			ports[n_ports + num].node = n_nodes;
			moved[n->first_port + num] = n_ports + num;
		}
		n->first_port = n_ports;
		n_ports += n->n_ports + 1u;
		n_nodes++;
	}
	for (uint32_t i = 0; i < n_ports; i++) {
		if (ports[i].peer != GRAPH_NONE) {
			ports[i].peer = moved[ports[i].peer];
		}
	}
	g->sm_port = g->sm_port == GRAPH_NONE ? GRAPH_NONE : moved[g->sm_port];
	g->nodes = nodes;
	g->ports = ports;
	g->n_nodes = g->cap_nodes = n_nodes;
	g->n_ports = g->cap_ports = n_ports;
	return E_OK;
}

static int number_switches(struct graph *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++) {
		n += g->nodes[i].type == NODE_SWITCH;
	}
	g->switches = arena_array(g->arena, n, sizeof(*g->switches));
	if (!g->switches) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct node *node = &g->nodes[i];
		if (node->type != NODE_SWITCH) {
			node->sw = GRAPH_NONE;
			continue;
		}
		node->sw = g->n_switches;
		g->switches[g->n_switches++] = i;
		g->max_port = node->n_ports > g->max_port ? node->n_ports : g->max_port;
	}
	return E_OK;
}

enum cable { CABLE_NONE, CABLE_SWITCH, CABLE_HOST };

/* The kind of cable on a switch port, for the arrays: loopback cables and aggregation
 * nodes do not count. */
static enum cable cable_kind(const struct graph *g, const struct port *p)
{
	if (p->peer == GRAPH_NONE) {
		return CABLE_NONE;
	}
	uint32_t other = g->ports[p->peer].node;
	if (g->nodes[other].type != NODE_SWITCH) {
		return g->nodes[other].aggregation ? CABLE_NONE : CABLE_HOST;
	}
	return other == p->node ? CABLE_NONE : CABLE_SWITCH;
}

static int alloc_neighbours(struct graph *g)
{
	uint32_t n_adj = 0, n_hosts = 0;

	g->adj_first = arena_array(g->arena, g->n_switches + 1u, sizeof(*g->adj_first));
	g->host_first = arena_array(g->arena, g->n_switches + 1u, sizeof(*g->host_first));
	if (!g->adj_first || !g->host_first) {
		return -ENOMEM;
	}
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		const struct node *n = &g->nodes[g->switches[sw]];
		g->adj_first[sw] = n_adj;
		g->host_first[sw] = n_hosts;
		for (unsigned num = 1; num <= n->n_ports; num++) {
			enum cable kind = cable_kind(g, &g->ports[n->first_port + num]);
			n_adj += kind == CABLE_SWITCH;
			n_hosts += kind == CABLE_HOST;
		}
	}
	g->adj_first[g->n_switches] = g->n_adj = n_adj;
	g->host_first[g->n_switches] = n_hosts;
	g->adj = arena_array(g->arena, n_adj, sizeof(*g->adj));
	g->hosts = arena_array(g->arena, n_hosts, sizeof(*g->hosts));
	return g->adj && g->hosts ? E_OK : -ENOMEM;
}

static int list_neighbours(struct graph *g)
{
	int ret = alloc_neighbours(g);
	if (ret != E_OK) {
		return ret;
	}

	struct sw_link *adj = g->adj;
	uint32_t *host = g->hosts;
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		const struct node *n = &g->nodes[g->switches[sw]];
		for (unsigned num = 1; num <= n->n_ports; num++) {
			const struct port *p = &g->ports[n->first_port + num];
			enum cable kind = cable_kind(g, p);
			if (kind == CABLE_HOST) {
				*host++ = p->peer;
			} else if (kind == CABLE_SWITCH) {
				const struct port *far = &g->ports[p->peer];
				*adj++ = (struct sw_link){ g->nodes[far->node].sw, p->num,
					                   far->num };
			}
		}
	}
	return E_OK;
}

static int list_end_ports(struct graph *g)
{
	struct key *keys = arena_array(g->arena, g->n_ports, sizeof(*keys));
	if (!keys) {
		return -ENOMEM;
	}
	uint32_t n = end_port_keys(g, NULL, keys);
	g->end_ports = arena_array(g->arena, n, sizeof(*g->end_ports));
	g->by_guid = arena_array(g->arena, n, sizeof(*g->by_guid));
	if (!g->end_ports || !g->by_guid) {
		return -ENOMEM;
	}

	for (uint32_t i = 0; i < n; i++) {
		g->by_guid[i] = keys[i].index;
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		if (counts_as_end_port(g, i)) {
			g->end_ports[g->n_end_ports++] = i;
			g->n_hosts += graph_is_host(g, i);
			g->n_aggregation += g->nodes[p->node].aggregation;
		}
		g->n_links += p->peer != GRAPH_NONE && p->peer >= i;
	}
	return E_OK;
}

/* Leaves the aggregation nodes out of an array of hosts that was made before they were
 * known. */
static void leave_out_aggregation(struct graph *g)
{
	uint32_t kept = 0, start = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t end = g->host_first[s + 1];

		g->host_first[s] = kept;
		for (; start < end; start++) {
			if (graph_is_host(g, g->hosts[start])) {
				g->hosts[kept++] = g->hosts[start];
			}
		}
	}
	g->host_first[g->n_switches] = kept;
	g->n_hosts = g->n_aggregation = 0;
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		g->n_hosts += graph_is_host(g, g->end_ports[i]);
		g->n_aggregation += g->nodes[g->ports[g->end_ports[i]].node].aggregation;
	}
}

uint32_t graph_set_aggregation(struct graph *g, const struct guid_file *list)
{
	uint32_t found = 0;

	for (uint32_t i = 0; list && i < list->n; i++) {
		uint64_t guid = list->records[i].guid;
		uint32_t node = graph_node_by_guid(g, guid);
		uint32_t port =
			node == GRAPH_NONE ? graph_port_by_guid(g, guid) : GRAPH_NONE;

		if (port != GRAPH_NONE) {
			node = g->ports[port].node;
		}
		if (node != GRAPH_NONE && g->nodes[node].type == NODE_CA) {
			g->nodes[node].aggregation = true;
			found++;
		}
	}
	if (found) {
		leave_out_aggregation(g);
	}
	return found;
}

int graph_freeze(struct graph *g, struct diags *d)
{
	uint32_t n_keys =
		g->n_ports; /* every node has two ports or more, so this does for both */
	struct key *keys = arena_array(g->arena, n_keys, sizeof(*keys));
	bool *dead = arena_array(g->arena, g->n_nodes, sizeof(*dead)), moves = false;
	if (!keys || !dead) {
		return -ENOMEM;
	}

	drop_duplicate_nodes(g, d, keys, dead);
	drop_duplicate_ports(g, d, keys, dead);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		const struct node *n = &g->nodes[i];

		for (unsigned num = 1; dead[i] && num <= n->n_ports; num++) {
			graph_disconnect(g, n->first_port + num);
		}
		keys[i] = (struct key){ g->nodes[i].guid, i };
		moves |= dead[i];
	}
	moves |= sort_keys(keys, g->n_nodes);

	int ret = moves ? renumber(g, keys, dead) : E_OK;
	if (ret == E_OK) {
		aggregation_recognise(g);
		ret = number_switches(g);
	}
	if (ret == E_OK) {
		ret = list_neighbours(g);
	}
	if (ret == E_OK) {
		ret = list_end_ports(g);
	}
	g->frozen = ret == E_OK;
	return ret;
}

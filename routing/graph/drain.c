/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/union_find.h"
#include "routing/graph/graph.h"

/* --- the set -------------------------------------------------------------------------------- */

int drain_set_init(struct drain_set *s, const struct graph *g, struct arena *a)
{
	*s = (struct drain_set){ .node = arena_array(a, g->n_nodes + 1u, sizeof(*s->node)),
		                 .port = arena_array(a, g->n_ports + 1u, sizeof(*s->port)) };
	return s->node != NULL && s->port != NULL ? E_OK : -ENOMEM;
}

static bool joins_switches(const struct graph *g, uint32_t port)
{
	const struct port *p = &g->ports[port];

	return p->peer != GRAPH_NONE && g->nodes[p->node].type == NODE_SWITCH &&
	       g->nodes[g->ports[p->peer].node].type == NODE_SWITCH;
}

static void mark_node(struct drain_set *s, const struct graph *g, uint32_t node, bool drained)
{
	if (g->nodes[node].type == NODE_SWITCH && s->node[node] != drained) {
		s->node[node] = drained;
		s->n += drained ? 1 : -1;
	}
}

static void mark_cable(struct drain_set *s, const struct graph *g, uint32_t port, bool drained)
{
	if (joins_switches(g, port) && s->port[port] != drained) {
		s->port[port] = s->port[g->ports[port].peer] = drained;
		s->n += drained ? 1 : -1;
	}
}

void drain_add_node(struct drain_set *s, const struct graph *g, uint32_t node)
{
	mark_node(s, g, node, true);
}

void drain_add_cable(struct drain_set *s, const struct graph *g, uint32_t port)
{
	mark_cable(s, g, port, true);
}

void drain_remove_node(struct drain_set *s, const struct graph *g, uint32_t node)
{
	mark_node(s, g, node, false);
}

void drain_remove_cable(struct drain_set *s, const struct graph *g, uint32_t port)
{
	mark_cable(s, g, port, false);
}

/* --- what is cut ---------------------------------------------------------------------------- */

/* The fabric as it would be: nodes and cables that are off. */
struct rest {
	const struct graph *g;
	const struct drain_set *s;
	uint32_t node, port; /* off, too; GRAPH_NONE: none */
	uint32_t *part;      /* [n_nodes] union-find over nodes that are on */
};

static bool node_is_off(const struct rest *r, uint32_t node)
{
	return r->s->node[node] != 0 || node == r->node;
}

static bool cable_is_off(const struct rest *r, uint32_t port)
{
	return r->s->port[port] != 0 || port == r->port ||
	       (r->port != GRAPH_NONE && r->g->ports[r->port].peer == port);
}

/* Adapters forward nothing, so each cable of a switch joins what is behind it. An adapter with several
 * ports joins nothing that its switches do not: it hangs on the first switch that is on. */
static void unite(struct rest *r)
{
	const struct graph *g = r->g;

	union_init(r->part, g->n_nodes);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];

		if (p->num == 0 || p->peer == GRAPH_NONE ||
		    g->nodes[p->node].type != NODE_SWITCH || node_is_off(r, p->node) ||
		    cable_is_off(r, i)) {
			continue;
		}
		uint32_t there = g->ports[p->peer].node;
		if (g->nodes[there].type == NODE_SWITCH && !node_is_off(r, there)) {
			(void)union_join(r->part, p->node, there);
		}
	}
}

/* Switch on which a host's port hangs and still has a cable; GRAPH_NONE: none. */
static uint32_t switch_of_host(const struct rest *r, uint32_t port)
{
	uint32_t peer = r->g->ports[port].peer;

	if (peer == GRAPH_NONE || cable_is_off(r, port) ||
	    r->g->nodes[r->g->ports[peer].node].type != NODE_SWITCH ||
	    node_is_off(r, r->g->ports[port].node) || node_is_off(r, r->g->ports[peer].node)) {
		return GRAPH_NONE;
	}
	return r->g->ports[peer].node;
}

/* Part of the fabric that the subnet manager is in, as a node; GRAPH_NONE: none. */
static uint32_t part_of_sm(struct rest *r)
{
	const struct graph *g = r->g;
	uint32_t node;

	if (g->sm_port == GRAPH_NONE) {
		return GRAPH_NONE;
	}
	node = g->ports[g->sm_port].num == 0 ? g->ports[g->sm_port].node
	                                     : switch_of_host(r, g->sm_port);
	return node == GRAPH_NONE || node_is_off(r, node) ? GRAPH_NONE
	                                                  : union_find(r->part, node);
}

/* Pairs of hosts that are in one part before and in two afterwards. A host whose cable is taken is the
 * subject itself, and none of the others. */
static int count_pairs(struct rest *before, struct rest *after, struct drain_effect *e)
{
	const struct graph *g = before->g;
	uint32_t *n_before = calloc(g->n_nodes + 1u, sizeof(*n_before)),
		 *n_after = calloc(g->n_nodes + 1u, sizeof(*n_after));
	int ret = n_before != NULL && n_after != NULL ? E_OK : -ENOMEM;

	for (uint32_t k = 0; k < g->n_end_ports && ret == E_OK; k++) {
		uint32_t port = g->end_ports[k], at;

		if (!graph_is_host(g, port)) {
			continue;
		}
		at = switch_of_host(after, port);
		if (at == GRAPH_NONE) {
			e->hosts_behind += switch_of_host(before, port) != GRAPH_NONE;
			continue;
		}
		n_before[union_find(before->part, at)]++;
		n_after[union_find(after->part, at)]++;
	}
	/* Twice the pairs within a part is n (n - 1); the hosts of both sums are the same. */
	uint64_t together_before = 0, together_after = 0;
	for (uint32_t i = 0; i < g->n_nodes && ret == E_OK; i++) {
		together_before += (uint64_t)n_before[i] * n_before[i];
		together_after += (uint64_t)n_after[i] * n_after[i];
	}
	e->pairs_cut = (together_before - together_after) / 2;
	for (uint32_t k = 0; k < g->n_end_ports && ret == E_OK && e->pairs_cut != 0; k++) {
		uint32_t port = g->end_ports[k],
			 at = graph_is_host(g, port) ? switch_of_host(after, port)
		                                     : GRAPH_NONE;

		/* One that the smaller side has is the better example. */
		if (at != GRAPH_NONE && e->cut_port == GRAPH_NONE &&
		    2 * n_after[union_find(after->part, at)] <=
		            n_before[union_find(before->part, at)]) {
			e->cut_port = port;
		}
	}
	free(n_before);
	free(n_after);
	return ret;
}

int drain_effect(const struct graph *g, const struct drain_set *s, uint32_t node,
                 uint32_t port, struct drain_effect *ret_effect)
{
	struct rest before = { g, s, GRAPH_NONE, GRAPH_NONE,
		               calloc(g->n_nodes + 1u, sizeof(uint32_t)) },
		    after = { g, s, node, node == GRAPH_NONE ? port : GRAPH_NONE,
		              calloc(g->n_nodes + 1u, sizeof(uint32_t)) };
	struct drain_effect e = { .cut_port = GRAPH_NONE };
	int ret = before.part != NULL && after.part != NULL ? E_OK : -ENOMEM;

	if (ret == E_OK) {
		unite(&before);
		unite(&after);
		ret = count_pairs(&before, &after, &e);
	}
	if (ret == E_OK) {
		uint32_t was = part_of_sm(&before), is = part_of_sm(&after);

		uint32_t n = 0;

		for (uint32_t i = 0; i < g->n_switches && is != GRAPH_NONE; i++) {
			uint32_t sw = g->switches[i];
			bool before_in = !node_is_off(&after, sw) &&
			                 union_find(before.part, sw) == was;

			n += before_in;
			e.switches_cut += before_in && union_find(after.part, sw) != is;
		}
		e.cuts_sm = was != GRAPH_NONE && (is == GRAPH_NONE || 2 * e.switches_cut > n);
		*ret_effect = e;
	}
	free(before.part);
	free(after.part);
	return ret;
}

/* --- the fabric that routing gets ----------------------------------------------------------- */

/* A search for the neighbour by which each drained switch stays within reach. */
struct attaching {
	const struct graph *g;
	const struct drain_set *s;
	uint32_t *hops; /* [n_switches] from the subnet manager; GRAPH_NONE: not reached */
	uint32_t *to;   /* [n_switches] switch by which a drained one is attached; GRAPH_NONE: none yet */
};

static bool is_drained(const struct attaching *t, uint32_t sw)
{
	return t->s->node[t->g->switches[sw]] != 0;
}

static bool link_is_drained(const struct attaching *t, uint32_t sw, const struct sw_link *l)
{
	return t->s->port[graph_port(t->g, t->g->switches[sw], l->port)] != 0;
}

/* Hops from the subnet manager over switches that are not drained. */
static int measure(struct attaching *t)
{
	const struct graph *g = t->g;
	uint32_t *queue = calloc(g->n_switches + 1u, sizeof(*queue)), n = 0;
	uint32_t start = g->sm_port != GRAPH_NONE ? graph_switch_of(g, g->sm_port) : GRAPH_NONE;

	if (queue == NULL) {
		return -ENOMEM;
	}
	if (start == GRAPH_NONE && g->n_switches > 0) {
		start = 0;
	}
	if (start != GRAPH_NONE) {
		t->hops[start] = 0;
		queue[n++] = start;
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t sw = queue[k];

		for (uint32_t i = g->adj_first[sw]; i < g->adj_first[sw + 1]; i++) {
			const struct sw_link *l = &g->adj[i];

			if (t->hops[l->to] == GRAPH_NONE && !is_drained(t, l->to) &&
			    !link_is_drained(t, sw, l)) {
				t->hops[l->to] = t->hops[sw] + 1;
				queue[n++] = l->to;
			}
		}
	}
	free(queue);
	return E_OK;
}

static uint32_t n_parallel(const struct attaching *t, uint32_t sw, uint32_t to)
{
	const struct graph *g = t->g;
	uint32_t n = 0;

	for (uint32_t i = g->adj_first[sw]; i < g->adj_first[sw + 1]; i++) {
		n += g->adj[i].to == to && !link_is_drained(t, sw, &g->adj[i]);
	}
	return n;
}

/* Chooses the nearest neighbour; of several the one with most cables, then the first by GUID. */
static bool attach(struct attaching *t, uint32_t sw)
{
	const struct graph *g = t->g;
	uint32_t best = GRAPH_NONE, best_cables = 0;

	for (uint32_t i = g->adj_first[sw]; i < g->adj_first[sw + 1]; i++) {
		uint32_t to = g->adj[i].to, cables;

		if (link_is_drained(t, sw, &g->adj[i]) ||
		    (is_drained(t, to) && (t->to[to] == GRAPH_NONE || t->to[to] == sw))) {
			continue;
		}
		cables = n_parallel(t, sw, to);
		if (best == GRAPH_NONE || t->hops[to] < t->hops[best] ||
		    (t->hops[to] == t->hops[best] &&
		     (cables > best_cables || (cables == best_cables && to < best)))) {
			best = to;
			best_cables = cables;
		}
	}
	t->to[sw] = best;
	return best != GRAPH_NONE;
}

/* Drained switches behind drained switches are attached to these, in further rounds. */
static void attach_all(struct attaching *t)
{
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t sw = 0; sw < t->g->n_switches; sw++) {
			again |= is_drained(t, sw) && t->to[sw] == GRAPH_NONE &&
			         attach(t, sw);
		}
	}
}

static bool stays(const struct attaching *t, uint32_t sw, const struct sw_link *l)
{
	return !link_is_drained(t, sw, l) &&
	       ((!is_drained(t, sw) && !is_drained(t, l->to)) || t->to[sw] == l->to ||
	        t->to[l->to] == sw);
}

static int cut_links(const struct attaching *t, struct graph *to, struct arena *a)
{
	const struct graph *g = t->g;
	uint32_t n = 0;

	to->ports = arena_array(a, g->n_ports + 1u, sizeof(*to->ports));
	to->adj = arena_array(a, g->n_adj + 1u, sizeof(*to->adj));
	to->adj_first = arena_array(a, g->n_switches + 1u, sizeof(*to->adj_first));
	if (to->ports == NULL || to->adj == NULL || to->adj_first == NULL) {
		return -ENOMEM;
	}
	memcpy(to->ports, g->ports, g->n_ports * sizeof(*g->ports));
	for (uint32_t sw = 0; sw < g->n_switches; sw++) {
		to->adj_first[sw] = n;
		for (uint32_t i = g->adj_first[sw]; i < g->adj_first[sw + 1]; i++) {
			if (stays(t, sw, &g->adj[i])) {
				to->adj[n++] = g->adj[i];
			} else {
				graph_disconnect(
					to, graph_port(g, g->switches[sw], g->adj[i].port));
			}
		}
	}
	to->n_links -= (g->n_adj - n) / 2;
	to->adj_first[g->n_switches] = to->n_adj = n;
	return E_OK;
}

int drain_graph(const struct graph *g, const struct drain_set *s, struct arena *a,
                const struct graph **ret_graph)
{
	struct attaching t = { .g = g, .s = s };
	struct graph *to = arena_alloc(a, sizeof(*to));
	int ret;

	if (s->n == 0) {
		*ret_graph = g;
		return E_OK;
	}
	t.hops = arena_array(a, g->n_switches + 1u, sizeof(*t.hops));
	t.to = arena_array(a, g->n_switches + 1u, sizeof(*t.to));
	if (to == NULL || t.hops == NULL || t.to == NULL) {
		return -ENOMEM;
	}
	memset(t.hops, 0xff, (g->n_switches + 1u) * sizeof(*t.hops));
	memset(t.to, 0xff, (g->n_switches + 1u) * sizeof(*t.to));
	ret = measure(&t);
	if (ret != E_OK) {
		return ret;
	}
	attach_all(&t);
	*to = *g;
	ret = cut_links(&t, to, a);
	if (ret == E_OK) {
		*ret_graph = to;
	}
	return ret;
}

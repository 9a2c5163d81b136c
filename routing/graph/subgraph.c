/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/subgraph.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"

struct cutter {
	const struct graph *g;
	const struct device_set *switches, *hosts;
	struct graph *x;
	uint8_t *out;  /* [g->n_nodes] 1: not this one */
	uint32_t *now; /* [g->n_nodes] node in x before freezing, GRAPH_NONE: out */
};

static bool is_switch(const struct graph *g, uint32_t node)
{
	return g->nodes[node].type == NODE_SWITCH;
}

static bool has_port(const struct cutter *c, uint32_t port)
{
	return device_set_has(is_switch(c->g, c->g->ports[port].node) ? c->switches : c->hosts,
	                      port);
}

/* A switch is in by its port 0, another node by any of its ports. */
static bool has_node(const struct cutter *c, uint32_t node)
{
	const struct node *n = &c->g->nodes[node];

	if (is_switch(c->g, node)) {
		return has_port(c, n->first_port);
	}
	for (unsigned num = 1; num <= n->n_ports; num++) {
		if (has_port(c, n->first_port + num)) {
			return true;
		}
	}
	return false;
}

static uint32_t port_now(const struct cutter *c, uint32_t port)
{
	const struct port *p = &c->g->ports[port];

	return graph_port(c->x, c->now[p->node], p->num);
}

static int copy_graph(struct cutter *c, struct arena *a)
{
	struct diags *d = arena_alloc(a, sizeof(*d));
	int ret;

	if (!d) {
		return -ENOMEM;
	}
	diags_init(d, a);
	for (uint32_t i = 0; i < c->g->n_nodes; i++) {
		c->out[i] = !has_node(c, i);
	}
	ret = graph_take(c->x, c->g, c->out, c->now);
	for (uint32_t i = 0; ret == E_OK && i < c->g->n_ports; i++) {
		if (!c->out[c->g->ports[i].node] && !has_port(c, i)) {
			graph_disconnect(c->x, port_now(c, i));
		}
	}
	if (ret == E_OK && c->g->sm_port != GRAPH_NONE &&
	    !c->out[c->g->ports[c->g->sm_port].node]) {
		c->x->sm_port = port_now(c, c->g->sm_port);
	}
	return ret == E_OK ? graph_freeze(c->x, d) : ret;
}

/* Both graphs have nodes by GUID and ports by number. */
static void map_back(const struct graph *g, struct subgraph *x)
{
	for (uint32_t i = 0, k = 0; i < x->g->n_nodes; i++) {
		const struct node *n = &x->g->nodes[i];

		while (g->nodes[k].guid != n->guid) {
			k++;
		}
		if (n->sw != GRAPH_NONE) {
			x->whole_sw[n->sw] = g->nodes[k].sw;
		}
		for (unsigned num = 0; num <= n->n_ports; num++) {
			x->whole_port[n->first_port + num] = g->nodes[k].first_port + num;
		}
	}
}

/* LIDs a port keeps: its own, or one of them. */
static struct lid_range range_of(const struct graph *x, uint32_t port,
                                 const struct lid_range *was, uint32_t path_bit)
{
	bool host = x->nodes[x->ports[port].node].type != NODE_SWITCH;

	if (was->base == 0 || path_bit == SUBGRAPH_ALL_LIDS || !host) {
		return *was;
	}
	return path_bit < 1U << was->lmc ? (struct lid_range){ .base = was->base + path_bit }
	                                 : (struct lid_range){ 0 };
}

static int copy_lids(const struct lids *lids, uint32_t path_bit, struct arena *a,
                     struct subgraph *x)
{
	struct lids l = { .top = lids->top };

	l.of = arena_array(a, x->g->n_ports, sizeof(*l.of));
	l.owner = arena_array(a, lids->top + 1U, sizeof(*l.owner));
	if (!l.of || !l.owner) {
		return -ENOMEM;
	}
	memset(l.owner, 0xff, (lids->top + 1U) * sizeof(*l.owner));
	for (uint32_t i = 0; i < x->g->n_end_ports; i++) {
		uint32_t port = x->g->end_ports[i];
		struct lid_range *r = &l.of[port];

		*r = range_of(x->g, port, &lids->of[x->whole_port[port]], path_bit);
		for (uint32_t k = 0; r->base && k < 1U << r->lmc; k++) {
			l.owner[r->base + k] = port;
			l.count++;
		}
	}
	x->lids = l;
	return E_OK;
}

int subgraph_cut(const struct graph *g, const struct lids *lids,
                 const struct device_set *switches, const struct device_set *hosts,
                 uint32_t path_bit, struct arena *a, struct subgraph *ret_subgraph)
{
	struct subgraph x = { .g = graph_new(a) };
	struct cutter c = { g,
		            switches,
		            hosts,
		            x.g,
		            arena_alloc(a, g->n_nodes),
		            arena_array(a, g->n_nodes, sizeof(*c.now)) };
	int ret = x.g && c.out && c.now ? copy_graph(&c, a) : -ENOMEM;

	if (ret != E_OK) {
		return ret;
	}
	x.whole_sw = arena_array(a, x.g->n_switches, sizeof(*x.whole_sw));
	x.whole_port = arena_array(a, x.g->n_ports, sizeof(*x.whole_port));
	if (!x.whole_sw || !x.whole_port) {
		return -ENOMEM;
	}
	map_back(g, &x);
	ret = copy_lids(lids, path_bit, a, &x);
	if (ret == E_OK) {
		*ret_subgraph = x;
	}
	return ret;
}

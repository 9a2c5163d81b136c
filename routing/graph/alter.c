/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/alter.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"

struct altering {
	const struct graph *g;
	const struct alteration *change;
	uint32_t n;
	struct graph *to;
	uint32_t *now;  /* [g->n_nodes] node in the copy, GRAPH_NONE: it is down */
	uint32_t *made; /* [n] node that an alteration adds */
	uint8_t *gone;  /* [g->n_nodes] 1: it is down */
	uint64_t guid;  /* the next one for a new node */
};

/* --- what stays ----------------------------------------------------------------------- */

/* Where a port of the old fabric is now. \return GRAPH_NONE: its node is down. */
static uint32_t port_now(const struct altering *x, uint32_t port)
{
	const struct port *p = &x->g->ports[port];
	uint32_t node = x->now[p->node];

	return node == GRAPH_NONE ? GRAPH_NONE : graph_port(x->to, node, p->num);
}

static int copy_rest(struct altering *x)
{
	int ret;

	for (uint32_t i = 0; i < x->n; i++) {
		if (x->change[i].kind == ALTER_NODE_DOWN) {
			x->gone[x->change[i].node] = 1;
		}
	}
	ret = graph_take(x->to, x->g, x->gone, x->now);
	for (uint32_t i = 0; ret == E_OK && i < x->g->n_nodes; i++) {
		if (x->now[i] != GRAPH_NONE) {
			x->to->nodes[x->now[i]].name = x->g->nodes[i].name;
		}
	}
	for (uint32_t i = 0; ret == E_OK && i < x->n; i++) {
		if (x->change[i].kind == ALTER_PORT_DOWN) {
			graph_disconnect(x->to, port_now(x, x->change[i].a.port));
		}
	}
	return ret;
}

/* --- what comes ----------------------------------------------------------------------- */

static int add_node(struct altering *x, uint32_t i, enum node_type type, unsigned ports)
{
	while (graph_node_by_guid(x->g, x->guid) != GRAPH_NONE ||
	       graph_port_by_guid(x->g, x->guid) != GRAPH_NONE ||
	       graph_port_by_guid(x->g, x->guid + 1) != GRAPH_NONE) {
		x->guid += 2;
	}
	int ret = graph_add_node(x->to, type, x->guid, ports, x->change[i].name, NULL,
	                         &x->made[i]);
	x->guid += 2;
	return ret;
}

/* Index of a port in the copy. \return GRAPH_NONE: there is none. */
static uint32_t find_port(const struct altering *x, const struct altered_port *p)
{
	return p->port != GRAPH_NONE ? port_now(x, p->port)
	                             : graph_port(x->to, x->made[p->new_node], p->num);
}

/* Gives a new cable the width, speed and MTU of the fastest one on the same nodes. */
static void set_speed(struct graph *g, uint32_t a, uint32_t b)
{
	const uint32_t ends[] = { a, b };
	const struct port *best = NULL;

	for (unsigned e = 0; e < 2; e++) {
		const struct node *n = &g->nodes[g->ports[ends[e]].node];

		for (unsigned num = 1; num <= n->n_ports; num++) {
			const struct port *p = &g->ports[n->first_port + num];
			uint32_t rate = rate_speed(link_rate(p->width, p->speed));

			if (p->peer != GRAPH_NONE && n->first_port + num != a &&
			    n->first_port + num != b &&
			    (best == NULL ||
			     rate > rate_speed(link_rate(best->width, best->speed)))) {
				best = p;
			}
		}
	}
	for (unsigned e = 0; best != NULL && e < 2; e++) {
		struct port *p = &g->ports[ends[e]];

		p->width = best->width;
		p->speed = best->speed;
		p->mtu = best->mtu;
		p->vls = best->vls;
	}
}

static int add_cable(struct altering *x, uint32_t a, uint32_t b)
{
	int ret =
		a == GRAPH_NONE || b == GRAPH_NONE ? E_RANGE : graph_connect(x->to, a, b);

	if (ret == E_OK) {
		set_speed(x->to, a, b);
	}
	return ret;
}

static int add_rest(struct altering *x)
{
	int ret = E_OK;

	for (uint32_t i = 0; ret == E_OK && i < x->n; i++) {
		const struct alteration *c = &x->change[i];

		switch (c->kind) {
		case ALTER_NODE_DOWN:
		case ALTER_PORT_DOWN: break;
		case ALTER_SWITCH: ret = add_node(x, i, NODE_SWITCH, c->n_ports); break;
		case ALTER_HOST:
			ret = add_node(x, i, NODE_CA, 1);
			if (ret == E_OK) {
				ret = add_cable(x, graph_port(x->to, x->made[i], 1),
				                find_port(x, &c->a));
			}
			break;
		case ALTER_CABLE:
			ret = add_cable(x, find_port(x, &c->a), find_port(x, &c->b));
			break;
		}
	}
	return ret;
}

int graph_altered(const struct graph *g, const struct alteration *change, uint32_t n,
                  struct arena *a, struct diags *d, struct graph **ret_graph)
{
	struct altering x = {
		.g = g,
		.change = change,
		.n = n,
		.to = graph_new(a),
		.now = arena_array(a, g->n_nodes + 1, sizeof(*x.now)),
		.made = arena_array(a, n + 1, sizeof(*x.made)),
		.gone = arena_alloc(a, g->n_nodes + 1),
		.guid = UINT64_C(0x0200000000000000), /* locally administered */
	};
	int ret = x.to && x.now && x.made && x.gone ? copy_rest(&x) : -ENOMEM;

	if (ret == E_OK) {
		ret = add_rest(&x);
	}
	if (ret == E_OK) {
		ret = graph_freeze(x.to, d);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (g->sm_port != GRAPH_NONE) {
		x.to->sm_port = graph_port_by_guid(x.to, g->ports[g->sm_port].guid);
	}
	*ret_graph = x.to;
	return E_OK;
}

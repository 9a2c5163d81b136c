/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/export/export.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"

struct extended {
	const struct graph *g;
	struct graph *to;
	uint32_t *now; /* [g->n_nodes] index in to */
};

static int begin(struct extended *x, struct arena *a)
{
	uint8_t *none = arena_array(a, x->g->n_nodes + 1, sizeof(*none));

	x->to = graph_new(a);
	x->now = arena_array(a, x->g->n_nodes + 1, sizeof(*x->now));
	if (none == NULL || x->to == NULL || x->now == NULL) {
		return -ENOMEM;
	}
	int ret = graph_take(x->to, x->g, none, x->now);
	for (uint32_t i = 0; ret == E_OK && i < x->g->n_nodes; i++) {
		x->to->nodes[x->now[i]].name = x->g->nodes[i].name;
	}
	return ret;
}

/* The port where a host was, if it is free. */
static uint32_t free_place(const struct extended *x, const struct export_gone *h)
{
	uint32_t node = graph_node_by_guid(x->g, h->switch_guid), port;

	if (h->switch_guid == 0 || node == GRAPH_NONE || h->switch_port == 0) {
		return GRAPH_NONE;
	}
	port = graph_port(x->to, x->now[node], h->switch_port);
	return port != GRAPH_NONE && x->to->ports[port].peer == GRAPH_NONE ? port
	                                                                  : GRAPH_NONE;
}

/* Adds the ports of one node. */
static int add_host(struct extended *x, const struct export_gone *h, size_t n)
{
	uint32_t found = graph_node_by_guid(x->g, h->node_guid);
	uint32_t node = found != GRAPH_NONE ? x->now[found] : GRAPH_NONE;
	uint8_t ports = 0;
	int ret = E_OK;

	for (size_t i = 0; i < n; i++) {
		ports = h[i].port > ports ? h[i].port : ports;
	}
	for (size_t i = 0; ret == E_OK && i < n; i++) {
		uint32_t place = free_place(x, &h[i]), port;

		if (place == GRAPH_NONE || h[i].port == 0) {
			continue;
		}
		if (node == GRAPH_NONE) {
			ret = graph_add_node(x->to, h->type, h->node_guid, ports, h->name,
			                     NULL, &node);
			if (ret != E_OK) {
				break;
			}
		}
		port = graph_port(x->to, node, h[i].port);
		if (port == GRAPH_NONE || x->to->ports[port].peer != GRAPH_NONE) {
			continue;
		}
		x->to->ports[port].guid = h[i].port_guid;
		ret = graph_connect(x->to, port, place);
	}
	return ret;
}

int export_with_gone(const struct graph *g, const struct export_gone *gone, size_t n,
                     struct arena *a, struct graph **ret_graph)
{
	struct extended x = { .g = g };
	struct diags d;
	int ret = begin(&x, a);

	for (size_t i = 0, end = 0; ret == E_OK && i < n; i = end) {
		for (end = i; end < n && gone[end].node_guid == gone[i].node_guid; end++) {
		}
		if (gone[i].type == NODE_CA || gone[i].type == NODE_ROUTER) {
			ret = add_host(&x, &gone[i], end - i);
		}
	}
	diags_init(&d, a);
	ret = ret == E_OK ? graph_freeze(x.to, &d) : ret;
	if (ret == E_OK) {
		*ret_graph = x.to;
	}
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/walk.h"

#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/tables.h"

/* Leaves the last hop through a port; the far end becomes the next hop. False: no cable. */
static bool cross(const struct graph *g, struct walk *w, unsigned out)
{
	struct walk_hop *last = &w->hop[w->n - 1];
	uint32_t port = graph_port(g, last->node, out);

	last->out = (uint8_t)out;
	if (port == GRAPH_NONE || g->ports[port].peer == GRAPH_NONE) {
		return false;
	}
	const struct port *far = &g->ports[g->ports[port].peer];

	w->hop[w->n++] = (struct walk_hop){ .node = far->node, .in = far->num };
	return true;
}

int walk_route(const struct graph *g, const struct lids *lids, const struct lft *lft,
               uint32_t src, uint32_t lid, struct walk *ret_walk)
{
	const struct port *from = &g->ports[src];

	ret_walk->n = 1;
	ret_walk->hop[0] = (struct walk_hop){ .node = from->node };
	if (lid == 0 || lid > lids->top || lids->owner[lid] == GRAPH_NONE) {
		return E_NOTFOUND;
	}
	const struct port *owner = &g->ports[lids->owner[lid]];

	if (g->nodes[from->node].type != NODE_SWITCH && !cross(g, ret_walk, from->num)) {
		return E_NOPATH;
	}
	for (;;) {
		const struct walk_hop *at = &ret_walk->hop[ret_walk->n - 1];
		uint32_t sw = g->nodes[at->node].sw;

		if (sw == GRAPH_NONE) {
			return at->node == owner->node && at->in == owner->num ? E_OK
			                                                       : E_NOPATH;
		}
		uint8_t out = lid < lft->n_lids ? lft_row(lft, sw)[lid] : LFT_NO_ROUTE;

		if (out == 0) { /* to the switch itself, by its own table */
			return at->node == owner->node ? E_OK : E_NOPATH;
		}
		if (ret_walk->n > WALK_MAX) {
			return E_LOOP;
		}
		if (out == LFT_NO_ROUTE || !cross(g, ret_walk, out)) {
			return E_NOPATH;
		}
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/cli/planning/reroute.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/tables.h"
#include "routing/route.h"

void reroute_keep_lids(const struct graph *from, const struct lids *lids, struct graph *to)
{
	for (uint32_t i = 0; i < to->n_end_ports; i++) {
		struct port *p = &to->ports[to->end_ports[i]];
		uint32_t port = graph_port_by_guid(from, p->guid);

		if (port != GRAPH_NONE) {
			p->lid = lids->of[port].base;
			p->lmc = lids->of[port].lmc;
		}
	}
}

/* Bytes of the rows before in the rows of the same switches after. */
static uint8_t *move_rows(const struct graph *from, const uint8_t *rows,
                          size_t from_stride, const struct graph *to, size_t to_stride,
                          uint32_t n_lids, uint8_t none, struct arena *a)
{
	uint8_t *moved = arena_array(a, to->n_switches + 1, to_stride);

	for (uint32_t s = 0; moved && s < to->n_switches; s++) {
		uint32_t node =
			graph_node_by_guid(from, to->nodes[to->switches[s]].guid);

		memset(moved + s * to_stride, none, to_stride);
		if (node != GRAPH_NONE) {
			memcpy(moved + s * to_stride,
			       rows + from->nodes[node].sw * from_stride, n_lids);
		}
	}
	return moved;
}

int reroute_keep_tables(const struct reroute_tables *was, const struct graph *g,
                        const struct lids *lids, struct arena *a,
                        struct route_memory *memory)
{
	struct lft *lft = arena_alloc(a, sizeof(*lft));
	struct lanes *lanes = NULL;
	uint32_t n = was->lft->n_lids;

	if (lft == NULL || lft_init(lft, g->n_switches, lids->top, a) != E_OK) {
		return -ENOMEM;
	}
	n = n < lft->n_lids ? n : lft->n_lids;
	lft->rows = move_rows(was->g, was->lft->rows, was->lft->stride, g, lft->stride, n,
	                      LFT_NO_ROUTE, a);
	if (lft->rows && was->lanes->rows && !was->lanes->rule) {
		lanes = arena_alloc(a, sizeof(*lanes));
		if (lanes == NULL) {
			return -ENOMEM;
		}
		*lanes = *was->lanes;
		lanes->stride = lft->stride;
		lanes->rows = move_rows(was->g, was->lanes->rows, was->lanes->stride, g,
		                        lft->stride, n, LANE_UNKNOWN, a);
	}
	if (!lft->rows || (lanes && !lanes->rows)) {
		return -ENOMEM;
	}
	memory->tables = lft;
	memory->lanes = lanes;
	return E_OK;
}

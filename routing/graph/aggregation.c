/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/aggregation.h"

#include <stdbool.h>
#include <string.h>

#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/tables.h"

/* NodeInfo of aggregation nodes. */
static const struct {
	uint32_t vendor_id;
	uint16_t device_id;
} known[] = {
	{ 0x2c9, 0xcf09 }, /* NVIDIA (Mellanox) switches from Switch-IB 2 on */
};

static const char description[] = "Aggregation Node";

static bool is_known(const struct node *n)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (n->vendor_id == known[i].vendor_id &&
		    n->device_id == known[i].device_id) {
			return true;
		}
	}
	return strstr(n->description, description) != NULL;
}

void aggregation_recognise(struct graph *g)
{
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct node *n = &g->nodes[i];

		n->aggregation = n->type == NODE_CA && (n->aggregation || is_known(n));
	}
}

/* The LIDs of one aggregation node. */
static void fill_node(const struct graph *g, const struct lids *lids, uint32_t port,
                      struct lft *lft, struct lanes *lanes)
{
	uint32_t home = graph_switch_of(g, port);
	struct lid_range r = lids->of[port];
	uint32_t via = lids->of[g->nodes[g->switches[home]].first_port].base;

	for (uint32_t lid = r.base; lid && via && lid < r.base + (1U << r.lmc); lid++) {
		bool routed = false;

		for (uint32_t s = 0; s < lft->n_switches; s++) {
			routed |= lft_row(lft, s)[lid] != LFT_NO_ROUTE;
		}
		if (routed) {
			continue;
		}
		for (uint32_t s = 0; s < lft->n_switches; s++) {
			uint8_t *row = lft_row(lft, s);

			row[lid] = row[via];
			if (lanes->rows) {
				uint8_t *lane = lanes->rows + s * lanes->stride;

				lane[lid] = lane[via];
			}
		}
		lft_row(lft, home)[lid] = graph_switch_port_of(g, port);
	}
}

void aggregation_fill(const struct graph *g, const struct lids *lids, struct lft *lft,
                      struct lanes *lanes)
{
	for (uint32_t i = 0; g->n_aggregation && i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];

		if (g->nodes[g->ports[port].node].aggregation &&
		    graph_switch_of(g, port) != GRAPH_NONE) {
			fill_node(g, lids, port, lft, lanes);
		}
	}
}

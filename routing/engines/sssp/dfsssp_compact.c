/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Fewer layers: breaking a cycle moves all routes of a dependency, also those that would
 * have done no harm by the time the layer is finished. So the last layers hold few
 * routes, most of which fit into an earlier one. They are tried there one by one, and a
 * layer that gets empty is saved.
 */
#include "routing/engines/sssp/dfsssp_layers.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/cdg.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

enum { SMALL_SHARE = 64 }; /* a layer of this part of all routes is worth trying */

int layers_keep(struct layers *l, unsigned layer)
{
	const struct graph *g = l->g;
	struct cdg *c = &l->kept[layer];
	int ret = E_OK;

	if (!l->map_cdg.n) {
		ret = cdg_map_init(&l->map_cdg, g, l->tmp);
	}
	/* finished last is first in order: reversed in place, the search is over */
	for (uint32_t i = 0; i < g->n_adj / 2; i++) {
		uint32_t other = l->finished[g->n_adj - 1 - i];

		l->finished[g->n_adj - 1 - i] = l->finished[i];
		l->finished[i] = other;
	}
	if (ret == E_OK) {
		ret = cdg_init(c, &l->map_cdg, l->finished, l->tmp);
	}
	for (uint32_t from = 0; ret == E_OK && from < g->n_adj; from++) {
		uint32_t to = g->adj_first[g->adj[from].to];

		for (uint32_t dep = l->first[from]; dep < l->first[from + 1]; dep++) {
			if (l->count[dep]) {
				cdg_add(c, from, to + dep - l->first[from]);
			}
		}
	}
	return ret;
}

static uint32_t channel_at(const struct layers *l, uint32_t s, uint32_t lid)
{
	uint8_t port = lft_row(l->lft, s)[lid];

	return port < l->map.width ? l->map.hop[(size_t)s * l->map.width + port].channel
	                           : GRAPH_NONE;
}

/* Adds the dependencies of a route, all or none. */
static bool fits(struct layers *l, struct cdg *cdg, uint32_t s, uint32_t lid)
{
	uint32_t *added = l->stack, n = 0, c = channel_at(l, s, lid);

	while (c != GRAPH_NONE) {
		uint32_t next = channel_at(l, l->g->adj[c].to, lid);

		if (next != GRAPH_NONE && !cdg_has(cdg, c, next)) {
			if (!cdg_add(cdg, c, next)) {
				break;
			}
			l->place[n] = c;
			added[n++] = next;
		}
		c = next;
	}
	if (c == GRAPH_NONE) {
		return true;
	}
	while (n--) {
		cdg_remove(cdg, l->place[n], added[n]);
	}
	return false;
}

/* Moves what can be moved out of a layer. \return Routes that stay. */
static uint64_t empty_layer(struct layers *l, unsigned layer)
{
	uint64_t left = 0;

	for (uint32_t lid = 1; lid <= l->lids->top; lid++) {
		for (uint32_t s = 0; l->to_host[lid] && s < l->map.n; s++) {
			uint8_t *lane = &l->lane[(size_t)s * l->lft->stride + lid];
			unsigned to = 0;

			if (*lane != layer) {
				continue;
			}
			while (to < layer && !fits(l, &l->kept[to], s, lid)) {
				to++;
			}
			*lane = (uint8_t)to;
			left += to == layer;
		}
	}
	return left;
}

int layers_compact(struct layers *l, unsigned *n)
{
	while (*n > 1 && *n <= LAYERS_KEPT) {
		if (l->cancel && *l->cancel) {
			return -ECANCELED;
		}
		if (l->n_entered[*n - 1] > l->n_routes / SMALL_SHARE ||
		    empty_layer(l, *n - 1)) {
			break;
		}
		--*n;
	}
	return E_OK;
}

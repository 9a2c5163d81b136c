/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Keeping routes and lanes of the last run.
 *
 * Entries stay if they still lead closer, and pairs stay on their lanes. A new LID uses the
 * routes of other LIDs on its switch, so that it adds no dependency to the lanes. If a cable
 * joins switches that were not joined before, everything is computed anew, because no kept
 * route would use the cable; unless it is one of a leaf switch that comes back.
 */
#include "routing/engines/lash/lash_keep.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/lash/lash_paths.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"

static uint32_t home_of(const struct route_in *in, uint32_t lid)
{
	uint32_t owner = in->lids->owner[lid];

	return owner == GRAPH_NONE ? GRAPH_NONE : graph_switch_of(in->g, owner);
}

static int list_lids(struct lash_keep *k, struct arena *a)
{
	const struct route_in *in = k->in;
	uint32_t n = in->g->n_switches, *fill = arena_array(a, n, sizeof(*fill));

	k->first = arena_array(a, (size_t)n + 1, sizeof(*k->first));
	k->lid = arena_array(a, (size_t)in->lids->top + 1, sizeof(*k->lid));
	if (!fill || !k->first || !k->lid) {
		return -ENOMEM;
	}
	for (uint32_t lid = 1; lid <= in->lids->top; lid++) {
		uint32_t t = home_of(in, lid);

		if (t != GRAPH_NONE) {
			k->first[t + 1]++;
		}
	}
	for (uint32_t t = 0; t < n; t++) {
		k->first[t + 1] += k->first[t];
		fill[t] = k->first[t];
	}
	for (uint32_t lid = 1; lid <= in->lids->top; lid++) {
		uint32_t t = home_of(in, lid);

		if (t != GRAPH_NONE) {
			k->lid[fill[t]++] = lid;
		}
	}
	return E_OK;
}

/* The lane of the routes from s to the LIDs of t, LASH_OPEN: unknown. If no lanes are
 * known, as after a restart, tables of one lane can still be kept. */
static uint8_t lane_to(const struct lash_keep *k, uint32_t s, uint32_t t)
{
	if (!k->in->prev_lanes) {
		return (uint8_t)k->start;
	}
	for (uint32_t i = k->first[t]; i < k->first[t + 1]; i++) {
		uint8_t lane = lane_of(k->in->prev_lanes, s, k->lid[i]);

		if (lane != LANE_UNKNOWN &&
		    lft_row(k->in->prev, s)[k->lid[i]] != LFT_NO_ROUTE) {
			return lane;
		}
	}
	return LASH_OPEN;
}

/* \return false: some lane no longer exists. */
static bool fill_lanes(const struct lash_keep *k, unsigned max, uint8_t *ret_lanes)
{
	unsigned start = k->start;
	uint32_t n = k->in->g->n_switches;

	for (uint32_t s = 0; s < n; s++) {
		for (uint32_t t = s + 1; t < n; t++) {
			uint8_t lane = lane_to(k, s, t);

			if (lane == LASH_OPEN || lane != lane_to(k, t, s)) {
				lane = LASH_OPEN;
			} else if (lane < start || lane >= start + max) {
				return false;
			} else {
				lane = (uint8_t)(lane - start);
			}
			ret_lanes[(size_t)s * n + t] = lane;
			ret_lanes[(size_t)t * n + s] = lane;
		}
	}
	return true;
}

/* The link of a switch at a port, NULL: none. */
static const struct sw_link *link_at(const struct graph *g, uint32_t s, uint8_t port)
{
	for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
		if (g->adj[c].port == port) {
			return &g->adj[c];
		}
	}
	return NULL;
}

/* Is the neighbour t of s new: did the last run not route directly to it? If the
 * earlier port has no cable now, it may have led there. */
static bool is_new_neighbour(const struct lash_keep *k, uint32_t s, uint32_t t)
{
	const struct graph *g = k->in->g;
	uint32_t lid = k->in->lids->of[graph_port(g, g->switches[t], 0)].base;
	uint8_t port = lid ? lft_row(k->in->prev, s)[lid] : LFT_NO_ROUTE;
	const struct sw_link *to = link_at(g, s, port);

	return lid && (port == LFT_NO_ROUTE || (to && to->to != t));
}

/* Is it a leaf switch that was away: did none of its neighbours route to it, and have they
 * no hosts? Routes of others do not pass it, so none misses its cables. */
static bool is_leaf_back(const struct lash_keep *k, uint32_t s)
{
	const struct graph *g = k->in->g;
	uint32_t lid = k->in->lids->of[graph_port(g, g->switches[s], 0)].base;
	bool back = g->host_first[s] != g->host_first[s + 1];

	for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1] && back; c++) {
		uint32_t to = g->adj[c].to;

		back = g->host_first[to] == g->host_first[to + 1] &&
		       lft_row(k->in->prev, to)[lid] == LFT_NO_ROUTE;
	}
	return back;
}

static bool is_any_new(const struct lash_keep *k)
{
	const struct graph *g = k->in->g;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
			uint32_t to = g->adj[c].to;

			if (is_new_neighbour(k, s, to) && !is_leaf_back(k, s) &&
			    !is_leaf_back(k, to)) {
				return true;
			}
		}
	}
	return false;
}

int lash_keep_init(struct lash_keep *k, const struct route_in *in, const struct hops *h,
                   unsigned start, unsigned max, struct arena *a,
                   struct lash_kept *ret_kept)
{
	size_t n = in->g->n_switches;
	int ret;

	*k = (struct lash_keep){ .in = in, .hops = h, .start = start };
	if (!in->prev || in->prev->n_switches != n ||
	    in->prev->n_lids != in->lids->top + 1 || is_any_new(k)) {
		return E_UNSUITABLE;
	}
	ret_kept->lane = arena_array(a, n * n, sizeof(*ret_kept->lane));
	ret_kept->changed = arena_array(a, n * n, sizeof(*ret_kept->changed));
	if (!ret_kept->lane || !ret_kept->changed) {
		return -ENOMEM;
	}
	ret = list_lids(k, a);
	if (ret == E_OK && !fill_lanes(k, max, ret_kept->lane)) {
		ret = E_UNSUITABLE;
	}
	return ret;
}

void lash_keep_compare(const struct lash_keep *k, const struct lft *lft,
                       struct lash_kept *kept)
{
	uint32_t n = k->in->g->n_switches;

#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < n; s++) {
		const uint8_t *now = lft_row(lft, s), *then = lft_row(k->in->prev, s);
		bool *changed = kept->changed + (size_t)s * n;

		memset(changed, 0, n * sizeof(*changed));
		for (uint32_t t = 0; t < n; t++) {
			for (uint32_t i = k->first[t]; i < k->first[t + 1]; i++) {
				changed[t] |= now[k->lid[i]] != then[k->lid[i]];
			}
		}
	}
}

/* Did the last run use the port to some LID of switch t? */
static bool was_used(const struct lash_keep *k, uint32_t s, uint32_t t, uint8_t port)
{
	const uint8_t *row = lft_row(k->in->prev, s);

	for (uint32_t i = k->first[t]; i < k->first[t + 1]; i++) {
		if (row[k->lid[i]] == port) {
			return true;
		}
	}
	return false;
}

/* The next switch if no earlier entry is left. */
static uint32_t next_switch(const struct lash_keep *k, uint32_t s, uint32_t t,
                            const struct spread_ports *p)
{
	const struct lash_paths *w = k->paths;
	uint32_t next = w ? w->next[(size_t)t * w->n + s] : GRAPH_NONE;

	return next != GRAPH_NONE || p->n == 0 ? next : p->to[(s + t) % p->n];
}

void lash_keep_closer(const void *ctx, uint32_t s, uint32_t t, const struct sw_link *link,
                      uint32_t n_links, unsigned max, struct spread_ports *ret_ports)
{
	const struct lash_keep *k = ctx;
	struct spread_ports all;
	uint32_t next;
	unsigned n = 0;

	spread_shortest(k->hops, s, t, link, n_links, SPREAD_PORTS_MAX, &all);
	for (unsigned i = 0; i < all.n && n < max; i++) {
		if (was_used(k, s, t, all.port[i])) {
			ret_ports->port[n] = all.port[i];
			ret_ports->to[n++] = all.to[i];
		}
	}
	next = n ? GRAPH_NONE : next_switch(k, s, t, &all);
	for (unsigned i = 0; next != GRAPH_NONE && i < all.n && n < max; i++) {
		if (all.to[i] == next) {
			ret_ports->port[n] = all.port[i];
			ret_ports->to[n++] = all.to[i];
		}
	}
	ret_ports->n = n;
}

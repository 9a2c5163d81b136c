/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Layers by fitting routes one by one.
 *
 * A lane accepts each route that closes no cycle with its routes; the other routes go to the
 * next lane. This needs far fewer lanes than breaking cycles (half as many on random regular
 * graphs and dragonflies), because it moves only routes that do not fit, not all routes that
 * share a dependency. The transitive closure of a lane's dependencies makes it fast; its
 * size is the limit.
 *
 * Near routes come first: they are the ends of far routes, so that these find most of their
 * dependencies in the lane. Dimension-order routes are placed far ones first, because these
 * have fewer kinds of turns.
 *
 * LIDs on one switch with equal routes are placed once.
 */
#include "routing/engines/sssp/dfsssp_layers.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/proof/reach.h"

enum { PENDING = 0xfe };

struct route {
	uint32_t lid;
	uint16_t sw;
};

struct fitter {
	struct layers *l;
	struct hops hops;
	struct reach reach;
	uint32_t *like; /* [top + 1] lowest LID with equal routes, 0: not a host's LID */
	struct route *route;
	size_t n;
	struct reach_dep missing[REACH_DEPS_MAX]; /* of one route */
};

/* ---- LIDs with equal routes ---- */

static uint32_t home_of(const struct fitter *f, uint32_t lid)
{
	return graph_switch_of(f->l->g, f->l->lids->owner[lid]);
}

static uint64_t *sum_columns(const struct fitter *f)
{
	const struct layers *l = f->l;
	uint64_t *sum = arena_array(l->tmp, (size_t)l->lids->top + 1, sizeof(*sum));

	for (uint32_t s = 0; sum && s < l->map.n; s++) {
		const uint8_t *row = lft_row(l->lft, s);

		for (uint32_t lid = 1; lid <= l->lids->top; lid++) {
			if (l->to_host[lid] && home_of(f, lid) != s) {
				sum[lid] = (sum[lid] ^ row[lid]) *
				                   UINT64_C(0x9e3779b97f4a7c15) +
				           (sum[lid] >> 29);
			}
		}
	}
	return sum;
}

/* The first LID on the same switch with the same hash; check_like() compares the
 * routes. */
static void find_like(struct fitter *f, const uint64_t *sum)
{
	const struct layers *l = f->l;

	for (uint32_t lid = 1; lid <= l->lids->top; lid++) {
		uint32_t home = l->to_host[lid] ? home_of(f, lid) : GRAPH_NONE;
		uint32_t first = lid;

		while (home != GRAPH_NONE && first > 1 && l->to_host[first - 1] &&
		       home_of(f, first - 1) == home) {
			first--;
			f->like[lid] = sum[first] == sum[lid] ? first : f->like[lid];
		}
		if (home != GRAPH_NONE && !f->like[lid]) {
			f->like[lid] = lid;
		}
	}
}

static void check_like(struct fitter *f)
{
	const struct layers *l = f->l;

	for (uint32_t s = 0; s < l->map.n; s++) {
		const uint8_t *row = lft_row(l->lft, s);

		for (uint32_t lid = 1; lid <= l->lids->top; lid++) {
			uint32_t like = f->like[lid];

			if (like != lid && row[like] != row[lid] &&
			    s != home_of(f, lid)) {
				f->like[lid] = lid;
			}
		}
	}
}

/* ---- the list ---- */

static bool is_listed(const struct fitter *f, uint32_t s, uint32_t t)
{
	return s != t && f->l->map.n_hosts[s] &&
	       hops_between(&f->hops, s, t) != HOPS_NONE;
}

/* Routes by distance, then LID, then source. */
static int list_routes(struct fitter *f, bool far_first)
{
	size_t at[HOPS_NONE + 1] = { 0 };

	for (uint32_t lid = 1; lid <= f->l->lids->top; lid++) {
		uint32_t t = f->like[lid] == lid && lid ? home_of(f, lid) : GRAPH_NONE;

		for (uint32_t s = 0; t != GRAPH_NONE && s < f->l->map.n; s++) {
			at[hops_between(&f->hops, s, t)] += is_listed(f, s, t);
		}
	}
	for (unsigned i = 0; i <= HOPS_NONE; i++) {
		unsigned d = far_first ? HOPS_NONE - i : i;
		size_t count = at[d];

		at[d] = f->n;
		f->n += count;
	}
	f->route = arena_array(f->l->tmp, f->n, sizeof(*f->route));
	if (!f->route) {
		return -ENOMEM;
	}
	for (uint32_t lid = 1; lid <= f->l->lids->top; lid++) {
		uint32_t t = f->like[lid] == lid ? home_of(f, lid) : GRAPH_NONE;

		for (uint32_t s = 0; t != GRAPH_NONE && s < f->l->map.n; s++) {
			if (is_listed(f, s, t)) {
				f->route[at[hops_between(&f->hops, s, t)]++] =
					(struct route){ lid, (uint16_t)s };
				f->l->lane[s * f->l->lft->stride + lid] = PENDING;
			}
		}
	}
	return E_OK;
}

/* ---- lanes ---- */

static uint32_t channel_at(const struct layers *l, uint32_t s, uint32_t lid)
{
	uint8_t port = lft_row(l->lft, s)[lid];

	return port < l->map.width ? l->map.hop[(size_t)s * l->map.width + port].channel
	                           : GRAPH_NONE;
}

/* Adds a route to the lane if it fits. Behind a switch whose own route is in the lane,
 * all dependencies are in it. */
static bool fits(struct fitter *f, unsigned lane, struct route r)
{
	const struct layers *l = f->l;
	struct reach_dep *missing = f->missing;
	uint32_t s = r.sw, c = channel_at(l, s, r.lid);
	unsigned n = 0;

	while (c != GRAPH_NONE && l->lane[s * l->lft->stride + r.lid] != lane) {
		uint32_t next;

		s = l->g->adj[c].to;
		next = channel_at(l, s, r.lid);
		if (next != GRAPH_NONE && !reach_leads(&f->reach, c, next)) {
			if (reach_leads(&f->reach, next, c)) {
				return false;
			}
			missing[n++] = (struct reach_dep){ c, next };
		}
		c = next;
	}
	if (!reach_fits(&f->reach, missing, n)) {
		return false;
	}
	for (unsigned i = 0; i < n; i++) {
		reach_add(&f->reach, missing[i].from, missing[i].to);
	}
	return true;
}

static void follow_like(struct fitter *f)
{
	struct layers *l = f->l;

	for (uint32_t s = 0; s < l->map.n; s++) {
		uint8_t *lane = l->lane + s * l->lft->stride;

		for (uint32_t lid = 1; l->map.n_hosts[s] && lid <= l->lids->top; lid++) {
			if (f->like[lid]) {
				lane[lid] = lane[f->like[lid]];
			}
		}
	}
}

static int list_all_routes(struct fitter *f, bool far_first)
{
	struct layers *l = f->l;
	uint64_t *sum = sum_columns(f);
	int ret = hops_init(&f->hops, l->g, l->tmp);

	f->like = arena_array(l->tmp, (size_t)l->lids->top + 1, sizeof(*f->like));
	if (ret != E_OK || !sum || !f->like) {
		return ret == E_RANGE ? E_UNSUITABLE : -ENOMEM;
	}
	find_like(f, sum);
	check_like(f);
	ret = list_routes(f, far_first);
	return ret == E_OK ? reach_init(&f->reach, l->g->n_adj, l->tmp) : ret;
}

int layers_fit(struct layers *l, bool far_first, unsigned *ret_n)
{
	struct fitter f = { .l = l };
	unsigned lane = 0;
	int ret;

	if (l->g->n_adj > REACH_CHANNELS_MAX) {
		return E_UNSUITABLE;
	}
	ret = list_all_routes(&f, far_first);
	for (; ret == E_OK && f.n && lane < LAYERS_MAX; lane++) {
		size_t left;

		if (l->cancel && *l->cancel) {
			return -ECANCELED;
		}
		if (lane) {
			reach_clear(&f.reach);
		}
		/* offer all remaining routes to this lane */
		left = 0;
		for (size_t i = 0; i < f.n; i++) {
			struct route r = f.route[i];

			if (fits(&f, lane, r)) {
				f.l->lane[r.sw * f.l->lft->stride + r.lid] =
					(uint8_t)lane;
			} else {
				f.route[left++] = r;
			}
		}
		f.n = left;
	}
	if (ret == E_OK) {
		follow_like(&f);
		*ret_n = f.n ? LAYERS_MAX + 1 : lane;
	}
	return ret;
}

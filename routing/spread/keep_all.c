/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Earlier tables as a whole, for engines whose routes depend on each other. */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/spread/keep.h"

enum { NEW_SHARE = 4 }; /* more of all LIDs are too many to follow others */

struct whole {
	const struct keep_lanes *in;
	struct column_map map; /* of the earlier tables */
	struct column *col;    /* [threads] */
	uint32_t *like;        /* [top + 1] the LID whose column it gets; 0: nobody's */
	uint32_t *n_like;      /* [n_switches] hosts' LIDs that have one */
	uint32_t *first;       /* [n_switches + 1] into list */
	uint32_t *list;        /* LIDs of hosts that have a column, by switch */
};

/* LIDs to which the earlier entries lead from everywhere. */
static void find_complete(struct whole *w)
{
	uint32_t top = w->in->lids->top, n_blocks = top / COLUMN_BLOCK + 1;

#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct column *c = &w->col[column_thread()];
		uint32_t lid = i * COLUMN_BLOCK, end = lid + COLUMN_BLOCK;

		column_load_block(&w->map, c, lid);
		for (; lid < end && lid <= top; lid++) {
			if (column_resolve(&w->map, c, lid)) {
				uint32_t part = w->map.part[c->home];

				w->like[lid] =
					c->n_order == w->map.part_first[part + 1] -
								w->map.part_first[part]
						? lid
						: 0;
			}
		}
	}
}

static uint32_t home_of(const struct whole *w, uint32_t lid)
{
	uint32_t owner = w->in->lids->owner[lid];

	return owner == GRAPH_NONE ? GRAPH_NONE : graph_switch_of(w->in->g, owner);
}

static bool is_host(const struct whole *w, uint32_t lid)
{
	return w->in->g->ports[w->in->lids->owner[lid]].num != 0;
}

/* Those of hosts, by switch. */
static void list_hosts(struct whole *w)
{
	uint32_t n = w->in->g->n_switches, sum = 0;

	for (uint32_t lid = 1; lid <= w->in->lids->top; lid++) {
		if (w->like[lid] && is_host(w, lid)) {
			w->n_like[home_of(w, lid)]++;
		}
	}
	for (uint32_t s = 0; s <= n; s++) {
		w->first[s] = sum;
		sum += s < n ? w->n_like[s] : 0;
	}
	memset(w->n_like, 0, n * sizeof(*w->n_like));
	for (uint32_t lid = 1; lid <= w->in->lids->top; lid++) {
		if (w->like[lid] && is_host(w, lid)) {
			uint32_t s = home_of(w, lid);

			w->list[w->first[s] + w->n_like[s]++] = lid;
		}
	}
}

/* The others take turns at these. \return false: there is nobody to follow, or there are
 * many of them. */
static bool follow(struct whole *w)
{
	const struct lids *lids = w->in->lids;
	uint32_t n_new = 0;

	for (uint32_t lid = 1; lid <= lids->top; lid++) {
		uint32_t s = home_of(w, lid), own;

		if (s == GRAPH_NONE || w->like[lid]) {
			continue;
		}
		if (++n_new * NEW_SHARE > lids->count) {
			return false;
		}
		own = lids->of[graph_port(w->in->g, w->in->g->switches[s], 0)].base;
		if (w->n_like[s]) {
			w->like[lid] = w->list[w->first[s] + lid % w->n_like[s]];
		} else if (own && w->like[own] == own) {
			w->like[lid] = own;
		} else {
			return false;
		}
	}
	return true;
}

/* Columns of the earlier tables, or lanes, each for its LID and those that follow it. */
static void copy_columns(const struct whole *w, const uint8_t *rows, size_t from_stride,
                         uint8_t *ret, size_t stride)
{
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < w->in->g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= w->in->lids->top; lid++) {
			if (w->like[lid]) {
				ret[s * stride + lid] =
					rows[s * from_stride + w->like[lid]];
			}
		}
	}
}

/* The last step to those that follow others. */
static void deliver(const struct whole *w, struct lft *ret)
{
	const struct graph *g = w->in->g;

	for (uint32_t lid = 1; lid <= w->in->lids->top; lid++) {
		uint32_t owner = w->in->lids->owner[lid];

		if (w->like[lid] && w->like[lid] != lid) {
			lft_row(ret, home_of(w, lid))[lid] =
				is_host(w, lid) ? g->ports[g->ports[owner].peer].num : 0;
		}
	}
}

static int whole_init(struct whole *w, struct arena *tmp)
{
	const struct keep_lanes *in = w->in;
	size_t n = (size_t)in->g->n_switches + 1, n_lids = (size_t)in->lids->top + 1;
	int err = column_map_init(&w->map, in->g, in->lids, in->prev, tmp);

	w->col = err == E_OK ? column_new(&w->map, column_threads(), tmp) : NULL;
	w->like = arena_array(tmp, n_lids, sizeof(*w->like));
	w->list = arena_array(tmp, n_lids, sizeof(*w->list));
	w->n_like = arena_array(tmp, n, sizeof(*w->n_like));
	w->first = arena_array(tmp, n, sizeof(*w->first));
	return w->col && w->like && w->list && w->n_like && w->first ? E_OK : -ENOMEM;
}

/* Tables and lanes are complete: those of the lanes are looked at as if all were kept. */
static int check_lanes(const struct whole *w, const struct lft *lft,
                       const struct lanes *lanes, struct arena *tmp)
{
	struct keep_lanes k = *w->in;
	uint8_t *lane = arena_array(tmp, lft->n_switches, lft->stride);

	k.lft = k.prev = lft;
	k.prev_lanes = lanes;
	return lane ? keep_lanes(&k, lane) : -ENOMEM;
}

static int keep(struct whole *w, struct arena *a, struct arena *tmp, struct lft *ret,
                struct lanes *ret_lanes)
{
	struct lanes lanes = { .n = (uint8_t)w->in->n, .stride = ret->stride };
	const struct lanes *old = w->in->prev_lanes;
	int err = whole_init(w, tmp);

	if (err != E_OK) {
		return err;
	}
	find_complete(w);
	list_hosts(w);
	if (!follow(w)) {
		return E_UNSUITABLE;
	}
	copy_columns(w, w->in->prev->rows, w->in->prev->stride, ret->rows, ret->stride);
	deliver(w, ret);
	if (old->rows) {
		lanes.rows = arena_array(a, ret->n_switches, ret->stride);
		if (!lanes.rows) {
			return -ENOMEM;
		}
		copy_columns(w, old->rows, old->stride, lanes.rows, ret->stride);
	}
	*ret_lanes = lanes;
	return check_lanes(w, ret, &lanes, tmp);
}

int keep_all(const struct keep_lanes *in, struct arena *a, struct lft *ret,
             struct lanes *ret_lanes)
{
	struct whole w = { .in = in };
	struct arena *tmp;
	int err;

	if (!keep_has_shape(in->prev, ret) || !in->prev_lanes || in->prev_lanes->rule ||
	    in->prev_lanes->n != in->n) {
		return E_UNSUITABLE;
	}
	tmp = arena_new();
	err = tmp ? keep(&w, a, tmp, ret, ret_lanes) : -ENOMEM;
	arena_free(tmp);
	return err;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Lanes that stay. The routes that go as they went are gathered first, each lane with the
 * dependencies they make; whether these have a cycle is looked at once for each lane,
 * because the last run may have been of another engine. The rest is fitted one by one.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/cdg.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/spread/keep.h"

enum { LANES_MAX = 15, NEW_SHARE = 4, PENDING = 0xfe };

/* Working memory of one thread. */
struct keep_bench {
	struct column *col;
	bool *same; /* [n] the route of a switch goes as it went */
	uint64_t n_kept, n_new;
};

struct keeper {
	const struct keep_lanes *in;
	struct column_map map;
	struct cdg_map channels;
	struct cdg cdg[LANES_MAX];
	uint8_t *lane;
	struct keep_bench *bench; /* [threads] */
	uint32_t *added;          /* [n][2] dependencies of one route */
};

static uint8_t *lane_at(const struct keeper *k, uint32_t s, uint32_t lid)
{
	return &k->lane[s * k->in->lft->stride + lid];
}

/* Notes what the route of a switch makes others wait for, as far as its rest is not on
 * the same lane. */
static void note_route(struct keeper *k, const struct column *c, uint32_t s)
{
	unsigned lane = *lane_at(k, s, c->lid);
	uint32_t next = c->next[s];

	while (s != c->home && next != c->home) {
		cdg_note(&k->cdg[lane], c->channel[s], c->channel[next]);
		if (*lane_at(k, next, c->lid) == lane) {
			return;
		}
		s = next;
		next = c->next[s];
	}
}

/* All routes to one LID, the nearest first. */
static void keep_routes_to(struct keeper *k, struct keep_bench *b, uint32_t lid)
{
	const struct keep_lanes *in = k->in;
	const struct column *c = b->col;

	if (!column_resolve(&k->map, b->col, lid)) {
		return;
	}
	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i];
		unsigned lane = lane_of(in->prev_lanes, s, lid);

		b->same[s] = lft_row(in->prev, s)[lid] == c->port[s] &&
		             (i == 0 || b->same[c->next[s]]);
		if (b->same[s] && lane < in->n) {
			*lane_at(k, s, lid) = (uint8_t)lane;
			note_route(k, c, s);
			b->n_kept++;
		} else {
			*lane_at(k, s, lid) = PENDING;
			b->n_new++;
		}
	}
}

static void keep_routes(struct keeper *k)
{
	uint32_t n_blocks = k->in->lids->top / COLUMN_BLOCK + 1;

#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct keep_bench *b = &k->bench[column_thread()];
		uint32_t lid = i * COLUMN_BLOCK;

		column_load_block(&k->map, b->col, lid);
		for (uint32_t l = lid; l < lid + COLUMN_BLOCK && l <= k->in->lids->top;
		     l++) {
			keep_routes_to(k, b, l);
		}
	}
}

/* Adds all dependencies of a route to a lane, or none. */
static bool fits(struct keeper *k, const struct column *c, uint32_t s, unsigned lane)
{
	struct cdg *g = &k->cdg[lane];
	uint32_t n = 0;

	for (; s != c->home && c->next[s] != c->home; s = c->next[s]) {
		uint32_t from = c->channel[s], to = c->channel[c->next[s]];

		if (cdg_has(g, from, to)) {
			continue;
		}
		if (!cdg_add(g, from, to)) {
			while (n--) {
				cdg_remove(g, k->added[2 * n], k->added[2 * n + 1]);
			}
			return false;
		}
		k->added[2 * n] = from;
		k->added[2 * n++ + 1] = to;
	}
	return true;
}

/* Lanes for the routes to one LID that have none: the nearest first, so that the rest of
 * a way has its lane. Lanes are tried from that one on; of the home switch from one that
 * the LID gives. */
static bool fit_column(struct keeper *k, const struct column *c)
{
	unsigned n = k->in->n;

	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i];
		uint8_t *lane = lane_at(k, s, c->lid);
		unsigned first, tried = 0;

		if (*lane != PENDING) {
			continue;
		}
		first = i ? *lane_at(k, c->next[s], c->lid)
		          : (unsigned)((uint64_t)(c->lid * UINT32_C(2654435769)) * n >>
		                       32);
		while (tried < n && !fits(k, c, s, (first + tried) % n)) {
			tried++;
		}
		if (tried == n) {
			return false;
		}
		*lane = (uint8_t)((first + tried) % n);
	}
	return true;
}

static int fit_columns(struct keeper *k)
{
	struct column *c = k->bench[0].col;

	for (uint32_t lid = 1; lid <= k->in->lids->top; lid++) {
		if (lid == 1 || lid % COLUMN_BLOCK == 0) {
			column_load_block(&k->map, c, lid / COLUMN_BLOCK * COLUMN_BLOCK);
		}
		if (column_resolve(&k->map, c, lid) && !fit_column(k, c)) {
			return E_UNSUITABLE;
		}
	}
	return E_OK;
}

static int keeper_init(struct keeper *k, struct arena *tmp)
{
	const struct graph *g = k->in->g;
	unsigned threads = column_threads();
	struct column *col;
	int ret = column_map_init(&k->map, g, k->in->lids, k->in->lft, tmp);

	if (ret == E_OK) {
		ret = cdg_map_init(&k->channels, g, tmp);
	}
	for (unsigned i = 0; ret == E_OK && i < k->in->n; i++) {
		ret = cdg_init(&k->cdg[i], &k->channels, NULL, tmp);
	}
	col = ret == E_OK ? column_new(&k->map, threads, tmp) : NULL;
	k->bench = arena_array(tmp, threads, sizeof(*k->bench));
	k->added = arena_array(tmp, g->n_switches + 1U, 2 * sizeof(*k->added));
	k->lane = arena_array(tmp, g->n_switches, k->in->lft->stride);
	if (!col || !k->bench || !k->added || !k->lane) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < threads; i++) {
		k->bench[i].col = &col[i];
		k->bench[i].same = arena_array(tmp, g->n_switches + 1U, sizeof(bool));
		if (!k->bench[i].same) {
			return -ENOMEM;
		}
	}
	return E_OK;
}

static bool few_are_new(const struct keeper *k)
{
	uint64_t n_kept = 0, n_new = 0;

	for (unsigned i = 0; i < column_threads(); i++) {
		n_kept += k->bench[i].n_kept;
		n_new += k->bench[i].n_new;
	}
	return n_new * NEW_SHARE <= n_kept + n_new;
}

static int keep(struct keeper *k, struct arena *tmp)
{
	int ret = keeper_init(k, tmp);

	if (ret != E_OK) {
		return ret;
	}
	keep_routes(k);
	if (!few_are_new(k)) {
		return E_UNSUITABLE;
	}
	for (unsigned i = 0; i < k->in->n; i++) {
		if (!cdg_settle(&k->cdg[i])) {
			return E_UNSUITABLE;
		}
	}
	return fit_columns(k);
}

int keep_lanes(const struct keep_lanes *in, uint8_t *lane)
{
	struct keeper k = { .in = in };
	struct arena *tmp;
	int ret = -ENOMEM;

	if (!in->prev_lanes || in->prev_lanes->rule || !in->prev_lanes->n ||
	    !keep_has_shape(in->prev, in->lft) ||
	    (in->prev_lanes->rows && in->prev_lanes->stride != in->lft->stride)) {
		return E_UNSUITABLE;
	}
	tmp = arena_new();
	if (tmp) {
		ret = keep(&k, tmp);
	}
	if (ret == E_OK) {
		memcpy(lane, k.lane, in->g->n_switches * in->lft->stride);
	}
	arena_free(tmp);
	return ret;
}

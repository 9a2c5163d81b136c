/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Destinations by lane; nue_split.h describes the division. */
#include "routing/engines/nue/nue_split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"

enum { DIMENSIONS_MAX = 8 };

struct place {
	uint32_t at, sw;
};

struct work {
	const struct graph *g;
	const struct hops *near;
	const uint8_t *dimension;
	unsigned n_dimensions;
	uint32_t *at[DIMENSIONS_MAX]; /* [n_switches] coordinate */
	uint32_t *set, *queue;        /* [n_switches] */
	struct place *place;          /* [n_switches] members, being sorted */
	struct nue_split *ret;
};

/* ---- coordinates ---- */

/* Numbers the planes: connected parts without the cables of a dimension. */
static uint32_t find_planes(struct work *w, unsigned dimension)
{
	const struct graph *g = w->g;
	uint32_t n_planes = 0;

	memset(w->set, 0xff, g->n_switches * sizeof(*w->set));
	for (uint32_t first = 0; first < g->n_switches; first++) {
		uint32_t n = 1;

		if (w->set[first] != GRAPH_NONE) {
			continue;
		}
		w->queue[0] = first;
		w->set[first] = n_planes++;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t s = w->queue[i];

			for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
				uint32_t to = g->adj[c].to;

				if (w->dimension[c] != dimension &&
				    w->set[to] == GRAPH_NONE) {
					w->set[to] = w->set[s];
					w->queue[n++] = to;
				}
			}
		}
	}
	return n_planes;
}

/* A plane without a place that a cable of the dimension joins with \a plane. All
 * switches are examined. */
static uint32_t next_plane(const struct work *w, unsigned dimension, uint32_t plane,
                           const uint32_t *place)
{
	const struct graph *g = w->g;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t c = g->adj_first[s];
		     w->set[s] == plane && c < g->adj_first[s + 1]; c++) {
			uint32_t to = w->set[g->adj[c].to];

			if (w->dimension[c] == dimension && place[to] == GRAPH_NONE) {
				return to;
			}
		}
	}
	return GRAPH_NONE;
}

/* Numbers planes by walking from one to the next; planes that are not reached come
 * last. */
static int find_coordinates(struct work *w, unsigned dimension, struct arena *a)
{
	uint32_t n_planes = find_planes(w, dimension), n = 0;
	uint32_t *place = arena_array(a, (size_t)n_planes + 1, sizeof(*place));
	uint32_t *at = arena_array(a, (size_t)w->g->n_switches + 1, sizeof(*at));

	if (!place || !at) {
		return -ENOMEM;
	}
	memset(place, 0xff, n_planes * sizeof(*place));
	for (uint32_t first = 0; first < n_planes; first++) {
		for (uint32_t p = first; p != GRAPH_NONE && place[p] == GRAPH_NONE;
		     p = next_plane(w, dimension, p, place)) {
			place[p] = n++;
		}
	}
	for (uint32_t s = 0; s < w->g->n_switches; s++) {
		at[s] = place[w->set[s]];
	}
	w->at[w->n_dimensions++] = at;
	return E_OK;
}

static int find_all_coordinates(struct work *w, struct arena *a)
{
	bool there[UINT8_MAX + 1] = { false };

	for (uint32_t c = 0; c < w->g->n_adj; c++) {
		there[w->dimension[c]] = true;
	}
	for (unsigned d = 0; d <= UINT8_MAX && w->n_dimensions < DIMENSIONS_MAX; d++) {
		int ret = there[d] ? find_coordinates(w, d, a) : E_OK;

		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

/* ---- one cut ---- */

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->at != y->at) {
		return x->at < y->at ? -1 : 1;
	}
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* The dimension in which the members extend furthest. */
static const uint32_t *longest(const struct work *w, const struct place *m, uint32_t n)
{
	const uint32_t *best = w->at[0];
	uint32_t most = 0;

	for (unsigned d = 0; d < w->n_dimensions; d++) {
		uint32_t low = UINT32_MAX, high = 0;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = w->at[d][m[i].sw];

			low = at < low ? at : low;
			high = at > high ? at : high;
		}
		if (high - low > most) {
			most = high - low;
			best = w->at[d];
		}
	}
	return best;
}

static uint32_t furthest(const struct work *w, const struct place *m, uint32_t n,
                         uint32_t from)
{
	uint32_t best = m[0].sw;

	for (uint32_t i = 1; i < n; i++) {
		if (hops_between(w->near, from, m[i].sw) >
		    hops_between(w->near, from, best)) {
			best = m[i].sw;
		}
	}
	return best;
}

/* Divides the members among \a n_lanes lanes from \a first on. */
static void divide(struct work *w, struct place *m, uint32_t n, unsigned first,
                   unsigned n_lanes)
{
	unsigned half = n_lanes / 2;
	uint32_t n_half = (uint32_t)((uint64_t)n * half / n_lanes);
	const uint32_t *at;
	uint32_t a;
	uint32_t b;

	if (n_lanes == 1 || n == 0) {
		uint64_t least;
		uint32_t best;

		for (uint32_t i = 0; i < n; i++) {
			w->ret->lane[m[i].sw] = (uint8_t)first;
		}
		/* the root is the member with the least sum of distances */
		least = UINT64_MAX;
		best = n ? m[0].sw : 0;
		for (uint32_t i = 0; i < n; i++) {
			uint64_t sum = 0;

			for (uint32_t k = 0; k < n; k++) {
				sum += hops_between(w->near, m[i].sw, m[k].sw);
			}
			if (sum < least) {
				least = sum;
				best = m[i].sw;
			}
		}
		w->ret->root[first] = best;
		return;
	}
	at = w->n_dimensions ? longest(w, m, n) : NULL;
	a = at ? 0 : furthest(w, m, n, m[0].sw);
	b = at ? 0 : furthest(w, m, n, a);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = m[i].sw;

		m[i].at = at ? at[s]
		             : hops_between(w->near, a, s) + HOPS_NONE -
		                          hops_between(w->near, b, s);
	}
	qsort(m, n, sizeof(*m), by_place);
	divide(w, m, n_half, first, half);
	divide(w, m + n_half, n - n_half, first + half, n_lanes - half);
}

/* ---- all ---- */

static uint32_t list_members(struct work *w, bool all, unsigned n_lanes)
{
	uint32_t n = 0, others = 0;

	for (uint32_t s = 0; s < w->g->n_switches; s++) {
		if (all || w->g->host_first[s] != w->g->host_first[s + 1]) {
			w->place[n++].sw = s;
		} else {
			w->ret->lane[s] = (uint8_t)(others++ % n_lanes);
		}
	}
	return n;
}

int nue_split(struct nue_split *x, const struct graph *g, const struct hops *near,
              const uint8_t *dimension, bool all, unsigned n_lanes, struct arena *a)
{
	struct work w = { .g = g, .near = near, .dimension = dimension, .ret = x };
	size_t n = (size_t)g->n_switches + 1;

	x->lane = arena_array(a, n, sizeof(*x->lane));
	x->root = arena_array(a, n_lanes, sizeof(*x->root));
	w.set = arena_array(a, n, sizeof(*w.set));
	w.queue = arena_array(a, n, sizeof(*w.queue));
	w.place = arena_array(a, n, sizeof(*w.place));
	if (!x->lane || !x->root || !w.set || !w.queue || !w.place) {
		return -ENOMEM;
	}
	if (dimension && find_all_coordinates(&w, a) != E_OK) {
		return -ENOMEM;
	}
	divide(&w, w.place, list_members(&w, all, n_lanes), 0, n_lanes);
	return E_OK;
}

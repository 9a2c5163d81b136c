/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Dijkstra's search from every destination, backwards over the links. A switch that waits is never
 * further than the greatest weight from a settled one, so the switches that wait stand
 * in a ring of buckets by their sum, a power of two above that weight.
 */
#include "routing/spread/weighted.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"

enum { NOTHING = UINT32_MAX };

/* Working memory of one thread: waiting switches as lists in a pool. */
struct search {
	uint32_t *head;      /* [mask + 1] */
	uint32_t mask;
	uint32_t *sw, *next; /* [n_adj + 1] */
	uint32_t n;          /* used of the pool */
	uint32_t waiting;
	bool *done; /* [n] */
};

static void push(struct search *x, uint32_t s, uint32_t cost)
{
	x->sw[x->n] = s;
	x->next[x->n] = x->head[cost & x->mask];
	x->head[cost & x->mask] = x->n++;
	x->waiting++;
}

/* The ways to one switch. */
struct found {
	uint32_t t;
	uint32_t *cost; /* [n] */
	uint8_t *dist;  /* hops, one in stride bytes; NULL: nobody asks for them */
	size_t stride;
};

/* Relaxes the links to s and sets its hops. */
static bool settle(const struct weighted *w, const struct graph *g, struct search *x,
                   const struct found *f, uint32_t s)
{
	uint32_t *cost = f->cost;
	unsigned hops = 0;

	x->done[s] = true;
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		const struct sw_link *l = &g->adj[i];
		uint32_t back =
			cost[s] + w->weight[(size_t)l->to * w->width + l->to_port];

		if (f->dist != NULL && s != f->t && x->done[l->to] &&
		    cost[l->to] + w->weight[(size_t)s * w->width + l->port] == cost[s]) {
			unsigned there = f->dist[l->to * f->stride] + 1U;

			hops = there > hops ? there : hops;
		}
		if (!x->done[l->to] && back < cost[l->to]) {
			cost[l->to] = back;
			push(x, l->to, back);
		}
	}
	if (f->dist != NULL) {
		f->dist[s * f->stride] = (uint8_t)hops;
	}
	return hops < HOPS_NONE;
}

static bool search_from(const struct weighted *w, const struct graph *g, struct search *x,
                        const struct found *f)
{
	uint32_t *cost = f->cost;
	bool fits = true;

	memset(x->head, 0xff, (x->mask + 1) * sizeof(*x->head));
	memset(x->done, 0, g->n_switches * sizeof(*x->done));
	memset(cost, 0xff, g->n_switches * sizeof(*cost));
	x->n = x->waiting = 0;
	cost[f->t] = 0;
	push(x, f->t, 0);
	for (uint32_t at = 0; fits && x->waiting; at++) {
		while (fits && x->head[at & x->mask] != NOTHING) {
			uint32_t i = x->head[at & x->mask], s = x->sw[i];

			x->head[at & x->mask] = x->next[i];
			x->waiting--;
			if (!x->done[s] && cost[s] == at) {
				fits = settle(w, g, x, f, s);
			}
		}
	}
	return fits;
}

static struct search *searches_new(const struct graph *g, const uint16_t *weight,
                                   unsigned n, struct arena *a)
{
	struct search *x = arena_array(a, n, sizeof(*x));
	size_t width = g->max_port + 1U;
	uint32_t mask = 1;

	/* a power of two, less 1, that is no less than any weight of a link */
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			mask |= weight[s * width + g->adj[i].port];
		}
	}
	for (unsigned shift = 1; shift < 16; shift *= 2) {
		mask |= mask >> shift;
	}
	for (unsigned i = 0; x && i < n; i++) {
		x[i].mask = mask;
		x[i].head = arena_array(a, mask + 1U, sizeof(*x[i].head));
		x[i].sw = arena_array(a, g->n_adj + 1U, sizeof(*x[i].sw));
		x[i].next = arena_array(a, g->n_adj + 1U, sizeof(*x[i].next));
		x[i].done = arena_array(a, g->n_switches, sizeof(*x[i].done));
		if (!x[i].head || !x[i].sw || !x[i].next || !x[i].done) {
			return NULL;
		}
	}
	return x;
}

int weighted_init(struct weighted *x, const struct graph *g, const uint16_t *weight,
                  struct arena *a)
{
	struct weighted w = { .weight = weight, .width = g->max_port + 1U };
	struct search *search = searches_new(g, weight, column_threads(), a);
	int ret = hops_alloc(&w.hops, g->n_switches, a);
	bool fits = true;

	if (ret != E_OK) {
		return ret;
	}
	w.cost = arena_array(a, (size_t)w.hops.n * w.hops.n, sizeof(*w.cost));
	if (!w.cost || !search) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(static) reduction(&& : fits)
	for (uint32_t t = 0; t < w.hops.n; t++) {
		const struct found f = { .t = t,
			                 .cost = w.cost + (size_t)t * w.hops.n,
			                 .dist = w.hops.dist + t,
			                 .stride = w.hops.stride };

		fits = search_from(&w, g, &search[column_thread()], &f) && fits;
	}
	if (!fits) {
		return E_RANGE;
	}
	for (uint32_t s = 0; s < w.hops.n; s++) {
		for (uint32_t t = 0; t < w.hops.n; t++) {
			unsigned d = hops_between(&w.hops, s, t);

			w.hops.diameter = d != HOPS_NONE && d > w.hops.diameter
			                          ? d
			                          : w.hops.diameter;
		}
	}
	ret = hops_index(&w.hops, a);
	if (ret == E_OK) {
		*x = w;
	}
	return ret;
}

int weighted_to(const struct graph *g, const uint16_t *weight, uint32_t to, struct arena *a,
                uint32_t *ret_cost)
{
	const struct weighted w = { .weight = weight, .width = g->max_port + 1U };
	const struct found f = { .t = to, .cost = ret_cost };
	struct search *search = searches_new(g, weight, 1, a);

	if (search == NULL) {
		return -ENOMEM;
	}
	(void)search_from(&w, g, search, &f); /* only hops could be too many */
	return E_OK;
}

void weighted_closer(const void *ctx, uint32_t s, uint32_t t, const struct sw_link *link,
                     uint32_t n_links, unsigned max, struct spread_ports *ret_ports)
{
	const struct weighted *w = ctx;
	const uint32_t *cost = w->cost + (size_t)t * w->hops.n;
	const uint16_t *weight = w->weight + (size_t)s * w->width;
	unsigned n = 0;

	for (uint32_t i = 0; i < n_links && n < max; i++) {
		if (cost[link[i].to] + weight[link[i].port] == cost[s]) {
			ret_ports->port[n] = link[i].port;
			ret_ports->to[n] = link[i].to;
			n++;
		}
	}
	ret_ports->n = n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/hops.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"

enum { SOURCES = 64 }; /* bits of a word */

/* Bits of one thread: sources that stand at each switch now, have ever, come next. */
struct wave {
	uint64_t *now, *seen, *next; /* [n] */
};

/* One hop for all sources. Returns whether any moved. */
static uint64_t advance(const struct graph *g, struct wave *w)
{
	uint64_t any = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint64_t in = 0;

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			in |= w->now[g->adj[i].to];
		}
		w->next[s] = in & ~w->seen[s];
		any |= w->next[s];
	}
	return any;
}

/* Distances of up to 64 sources from \a source. Returns the greatest, HOPS_NONE: too far.
 */
static unsigned search_block(struct hops *h, const struct graph *g, struct wave *w,
                             uint32_t source)
{
	size_t bytes = h->n * sizeof(*w->now);

	memset(w->now, 0, bytes);
	for (uint32_t k = 0; k < SOURCES && source + k < h->n; k++) {
		w->now[source + k] = UINT64_C(1) << k;
		h->dist[(size_t)(source + k) * h->stride + source + k] = 0;
	}
	memcpy(w->seen, w->now, bytes);
	for (unsigned d = 1;; d++) {
		uint64_t *swap = w->now;

		if (!advance(g, w)) {
			return d - 1;
		}
		if (d == HOPS_NONE) {
			return HOPS_NONE;
		}
		for (uint32_t s = 0; s < h->n; s++) {
			uint8_t *dist = h->dist + (size_t)s * h->stride + source;

			for (uint64_t bits = w->next[s]; bits; bits &= bits - 1) {
				dist[__builtin_ctzll(bits)] = (uint8_t)d;
			}
			w->seen[s] |= w->next[s];
		}
		w->now = w->next;
		w->next = swap;
	}
}

static int find_distances(struct hops *h, const struct graph *g)
{
	struct arena *tmp = arena_new();
	unsigned threads = column_threads(), diameter = 0;
	struct wave *wave = tmp ? arena_array(tmp, threads, sizeof(*wave)) : NULL;
	uint64_t *words =
		tmp ? arena_array(tmp, (size_t)threads * 3 * h->n, sizeof(*words)) : NULL;
	uint32_t n_blocks = (h->n + SOURCES - 1) / SOURCES;

	if (!wave || !words) {
		arena_free(tmp);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < threads; i++) {
		uint64_t *w = words + (size_t)i * 3 * h->n;

		wave[i] = (struct wave){ .now = w,
			                 .seen = w + h->n,
			                 .next = w + 2 * (size_t)h->n };
	}
#pragma omp parallel for schedule(dynamic, 1) reduction(max : diameter)
	for (uint32_t b = 0; b < n_blocks; b++) {
		unsigned d = search_block(h, g, &wave[column_thread()], b * SOURCES);

		diameter = d > diameter ? d : diameter;
	}
	arena_free(tmp);
	h->diameter = diameter;
	return diameter >= HOPS_NONE ? E_RANGE : E_OK;
}

/* Counting sort of one row. */
static void sort_row(struct hops *h, uint32_t s)
{
	const uint8_t *dist = h->dist + (size_t)s * h->stride;
	uint32_t *first = h->first + (size_t)s * (h->diameter + 2);
	uint16_t *order = h->order + (size_t)s * h->n;
	uint32_t fill[HOPS_NONE + 1] = { 0 }, sum = 0;

	for (uint32_t t = 0; t < h->n; t++) {
		fill[dist[t]]++;
	}
	for (unsigned d = 0; d <= h->diameter; d++) {
		uint32_t count = fill[d];

		first[d] = fill[d] = sum;
		sum += count;
	}
	first[h->diameter + 1] = sum;
	for (uint32_t t = 0; t < h->n; t++) {
		if (dist[t] != HOPS_NONE) {
			order[fill[dist[t]]++] = (uint16_t)t;
		}
	}
}

int hops_alloc(struct hops *h, uint32_t n, struct arena *a)
{
	struct hops x = { .n = n };

	if (n > UINT16_MAX) {
		return E_RANGE;
	}
	x.stride = ((size_t)n + SOURCES - 1) & ~(size_t)(SOURCES - 1);
	x.dist = arena_array(a, n, x.stride);
	if (!x.dist) {
		return -ENOMEM;
	}
	memset(x.dist, HOPS_NONE, n * x.stride);
	*h = x;
	return E_OK;
}

int hops_index(struct hops *h, struct arena *a)
{
	h->order = arena_array(a, h->n, h->n * sizeof(*h->order));
	h->first = arena_array(a, h->n, (h->diameter + 2) * sizeof(*h->first));
	if (!h->order || !h->first) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < h->n; s++) {
		sort_row(h, s);
	}
	return E_OK;
}

int hops_find(struct hops *h, const struct graph *g, struct arena *a)
{
	struct hops x;
	int ret = hops_alloc(&x, g->n_switches, a);

	if (ret == E_OK) {
		ret = find_distances(&x, g);
	}
	if (ret == E_OK) {
		*h = x;
	}
	return ret;
}

int hops_init(struct hops *h, const struct graph *g, struct arena *a)
{
	struct hops x;
	int ret = hops_find(&x, g, a);

	if (ret == E_OK) {
		ret = hops_index(&x, a);
	}
	if (ret == E_OK) {
		*h = x;
	}
	return ret;
}

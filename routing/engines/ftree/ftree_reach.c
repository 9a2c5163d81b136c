/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Distances along routes that climb, then descend. A switch above a destination descends to
 * it; any other switch climbs. Each switch decides this by itself, and still no route climbs
 * after it has descended.
 *
 * All destinations are searched in parallel, one bit each: a switch reaches in k hops what
 * its neighbours reach in k - 1, except what it has reached before. A second bit says
 * whether all such routes only descend the up/down order of switches (routing/spread/order.h),
 * by which the pairs without such a route are routed.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/node_text.h"

enum { BITS = 64, APART_PART = 4 };

/* Destinations reached with the current number of hops, and those of them whose routes only
 * descend the order. */
struct wave {
	uint64_t *reached, *descends; /* [n][words] */
};

struct sets {
	uint32_t words;
	uint64_t *seen; /* [n][words] reached at all */
	struct wave last, next;
};

static bool add_bits(const struct ftree *f, const struct sets *w, uint32_t s,
                     uint32_t from, uint32_t to, unsigned d)
{
	size_t row = (size_t)s * w->words;
	uint64_t *seen = w->seen + row, *next = w->next.reached + row;
	uint64_t *climbs = w->next.descends + row,
		 *descends = order_descends(&f->order, s);
	uint8_t *dist = f->dist + (size_t)s * f->stride;
	bool any = false;

	memset(next, 0, w->words * sizeof(*next));
	memset(climbs, 0, w->words * sizeof(*climbs));
	for (uint32_t i = from; i < to; i++) {
		size_t there = (size_t)f->link[i].to * w->words;
		const uint64_t *reached = w->last.reached + there;
		const uint64_t *falls = w->last.descends + there;
		uint64_t above = order_goes_down(&f->order, s, f->link[i].to) ? 0 : ~0ULL;

		for (uint32_t k = 0; k < w->words; k++) {
			next[k] |= reached[k];
			climbs[k] |= reached[k] & (above | ~falls[k]);
		}
	}
	for (uint32_t k = 0; k < w->words; k++) {
		next[k] &= ~seen[k];
		seen[k] |= next[k];
		w->next.descends[row + k] = next[k] & ~climbs[k];
		descends[k] |= w->next.descends[row + k];
		any = any || next[k];
		for (uint64_t b = next[k]; b; b &= b - 1) {
			dist[k * BITS + (uint32_t)__builtin_ctzll(b)] = (uint8_t)d;
		}
	}
	return any;
}

static void swap(struct sets *w)
{
	struct wave t = w->last;

	w->last = w->next;
	w->next = t;
}

/* Descents: a switch reaches what the switches below it reach. Returns the depth. */
static unsigned reach_down(const struct ftree *f, struct sets *w)
{
	unsigned d = 0;
	bool any = true;

	for (uint32_t s = 0; s < f->n; s++) {
		size_t at = (size_t)s * w->words + s / BITS;
		uint64_t bit = UINT64_C(1) << s % BITS;

		f->dist[(size_t)s * f->stride + s] = 0;
		w->seen[at] |= bit;
		w->last.reached[at] |= bit;
		w->last.descends[at] |= bit;
		f->order.descends[at] |= bit;
	}
	while (any && d <= FTREE_HOPS_MAX) {
		any = false;
		d++;
#pragma omp parallel for schedule(dynamic, 32) reduction(|| : any)
		for (uint32_t s = 0; s < f->n; s++) {
			any |= add_bits(f, w, s, f->first_down[s], f->first[s + 1], d);
		}
		swap(w);
	}
	return d;
}

/* Climbs: a switch reaches what the switches above it reach by descending or climbing,
 * except what it descends to. Returns the depth. */
static unsigned reach_up(const struct ftree *f, struct sets *w, unsigned depth)
{
	size_t bytes = (size_t)f->n * w->words * sizeof(*w->last.reached);
	unsigned d = 0;
	bool any = true;

	memset(w->last.reached, 0, bytes);
	memset(w->last.descends, 0, bytes);
	while ((any || d <= depth) && d <= FTREE_HOPS_MAX) {
		any = false;
		d++;
#pragma omp parallel for schedule(dynamic, 32)
		for (uint32_t s = 0; s < f->n; s++) {
			const uint8_t *dist = f->dist + (size_t)s * f->stride;
			const uint64_t *descends = order_descends(&f->order, s);
			size_t row = (size_t)s * w->words;

			/* A climb can follow what was reached in d - 1 hops without
			 * climbing. */
			for (uint32_t t = 0; t < f->n; t++) {
				uint64_t bit = (uint64_t)(dist[t] == d - 1) << t % BITS;

				w->last.reached[row + t / BITS] |= bit;
				w->last.descends[row + t / BITS] |=
					bit & descends[t / BITS];
			}
		}
#pragma omp parallel for schedule(dynamic, 32) reduction(|| : any)
		for (uint32_t s = 0; s < f->n; s++) {
			any |= add_bits(f, w, s, f->first[s], f->first_down[s],
			                d | FTREE_UP);
		}
		swap(w);
	}
	return d;
}

static bool is_lowest(const struct ftree *f, uint32_t s)
{
	return f->first_down[s] == f->first[s + 1];
}

/* If few pairs have no route, the tree is broken and the order routes them. If many have
 * none, it is no tree. Hosts on higher switches do not count. */
static int check_leaves(struct ftree *f, struct why *why)
{
	uint32_t first[2] = { 0 };
	uint64_t pairs = 0, apart = 0;

	for (uint32_t i = 0; i < f->n_leaves; i++) {
		for (uint32_t k = 0; k < f->n_leaves; k++) {
			uint32_t s = f->leaf[i], t = f->leaf[k];
			bool lowest = is_lowest(f, s) && is_lowest(f, t);

			if (!ftree_hosts_on(f, s) || !ftree_hosts_on(f, t) ||
			    f->order.part[s] != f->order.part[t]) {
				continue;
			}
			pairs += lowest;
			if (ftree_dist(f, s, t) != FTREE_NONE) {
				continue;
			}
			f->n_apart++;
			if (lowest && apart++ == 0) {
				first[0] = s;
				first[1] = t;
			}
		}
	}
	if (apart > pairs / APART_PART) {
		why_add(why,
		        "ftree: not a tree: no route that climbs, then descends, joins %" PRIu64
		        " of %" PRIu64 " pairs of switches with hosts, such as %s and %s",
		        apart, pairs, switch_text(f->g, f->lids, first[0]).text,
		        switch_text(f->g, f->lids, first[1]).text);
		return E_UNSUITABLE;
	}
	return E_OK;
}

static int sets_init(struct sets *w, const struct ftree *f, struct arena *a)
{
	size_t words = (size_t)f->n * f->order.words;
	struct wave *wave[] = { &w->last, &w->next };

	*w = (struct sets){ .words = f->order.words, .seen = f->order.reaches };
	for (unsigned i = 0; i < 2; i++) {
		wave[i]->reached = arena_array(a, words, sizeof(*w->last.reached));
		wave[i]->descends = arena_array(a, words, sizeof(*w->last.descends));
		if (!wave[i]->reached || !wave[i]->descends) {
			return -ENOMEM;
		}
	}
	return E_OK;
}

int ftree_reach(struct ftree *f, struct arena *a, struct why *why)
{
	struct sets w;
	int ret = sets_init(&w, f, a);

	f->stride = ((size_t)f->n + 63) & ~(size_t)63;
	f->dist = arena_array(a, f->n, f->stride);
	if (ret != E_OK || !f->dist) {
		return -ENOMEM;
	}
	memset(f->dist, FTREE_NONE, f->n * f->stride);
	unsigned depth = reach_down(f, &w);
	if (depth > FTREE_HOPS_MAX || reach_up(f, &w, depth) > FTREE_HOPS_MAX) {
		why_add(why, "ftree: a route of more than %u hops", FTREE_HOPS_MAX);
		return E_UNSUITABLE;
	}
	ret = check_leaves(f, why);
	if (ret == E_OK) {
		order_extend(&f->order);
	}
	return ret;
}

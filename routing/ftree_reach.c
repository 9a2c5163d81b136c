/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Distances along routes that climb, then descend. A switch that stands above another
 * goes down to it; only others climb. So every switch can decide alone and the whole
 * route never climbs after it has descended.
 *
 * All destinations at once, one bit each: what a switch reaches in k hops is what its
 * neighbours reach in k - 1, less what it has reached already.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/ftree.h"

enum { BITS = 64, APART_PART = 20 };

struct sets {
	uint32_t words;
	uint64_t *seen;        /* [n][words] reached */
	uint64_t *last, *next; /* [n][words] reached in the last hop, in this one */
};

static bool add_bits(const struct ftree *f, const struct sets *w, uint32_t s,
                     uint32_t from, uint32_t to, unsigned d)
{
	uint64_t *seen = w->seen + (size_t)s * w->words;
	uint64_t *next = w->next + (size_t)s * w->words;
	uint8_t *dist = f->dist + (size_t)s * f->stride;
	bool any = false;

	memset(next, 0, w->words * sizeof(*next));
	for (uint32_t i = from; i < to; i++) {
		const uint64_t *theirs = w->last + (size_t)f->link[i].to * w->words;

		for (uint32_t k = 0; k < w->words; k++) {
			next[k] |= theirs[k];
		}
	}
	for (uint32_t k = 0; k < w->words; k++) {
		next[k] &= ~seen[k];
		seen[k] |= next[k];
		any = any || next[k];
		for (uint64_t b = next[k]; b; b &= b - 1) {
			dist[k * BITS + (uint32_t)__builtin_ctzll(b)] = (uint8_t)d;
		}
	}
	return any;
}

/* Adds to what was reached in d - 1 hops without climbing, for the climb that follows. */
static void add_below(const struct ftree *f, const struct sets *w, uint32_t s, unsigned d)
{
	const uint8_t *dist = f->dist + (size_t)s * f->stride;
	uint64_t *last = w->last + (size_t)s * w->words;

	for (uint32_t t = 0; t < f->n; t++) {
		last[t / BITS] |= (uint64_t)(dist[t] == d - 1) << t % BITS;
	}
}

static void swap(struct sets *w)
{
	uint64_t *t = w->last;

	w->last = w->next;
	w->next = t;
}

/* Descents: a switch reaches what those below it reach. */
static unsigned reach_down(const struct ftree *f, struct sets *w)
{
	unsigned d = 0;
	bool any = true;

	for (uint32_t s = 0; s < f->n; s++) {
		f->dist[(size_t)s * f->stride + s] = 0;
		w->seen[(size_t)s * w->words + s / BITS] |= UINT64_C(1) << s % BITS;
		w->last[(size_t)s * w->words + s / BITS] |= UINT64_C(1) << s % BITS;
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

/* Climbs: a switch reaches what those above it reach, down or up, where it can't descend.
 */
static unsigned reach_up(const struct ftree *f, struct sets *w, unsigned depth)
{
	unsigned d = 0;
	bool any = true;

	memset(w->last, 0, (size_t)f->n * w->words * sizeof(*w->last));
	while ((any || d <= depth) && d <= FTREE_HOPS_MAX) {
		any = false;
		d++;
#pragma omp parallel for schedule(dynamic, 32)
		for (uint32_t s = 0; s < f->n; s++) {
			add_below(f, w, s, d);
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

/* Few pairs apart: a broken tree. Many: none. */
static int check_leaves(struct ftree *f, struct why *why)
{
	uint32_t first[2] = { 0 };
	uint64_t pairs = 0;

	for (uint32_t i = 0; i < f->n_leaves; i++) {
		for (uint32_t k = 0; k < f->n_leaves; k++) {
			uint32_t s = f->leaf[i], t = f->leaf[k];

			if (!f->n_cn[s] || !f->n_cn[t] || f->part[s] != f->part[t]) {
				continue;
			}
			pairs++;
			if (ftree_dist(f, s, t) == FTREE_NONE && f->n_apart++ == 0) {
				first[0] = s;
				first[1] = t;
			}
		}
	}
	if (f->n_apart > pairs / APART_PART) {
		why_add(why,
		        "ftree: not a tree: no route that climbs, then descends, joins "
		        "%u of %" PRIu64 " pairs of switches with compute nodes, such as "
		        "'%s' and '%s'",
		        f->n_apart, pairs,
		        f->g->nodes[f->g->switches[first[0]]].description,
		        f->g->nodes[f->g->switches[first[1]]].description);
		return E_UNSUITABLE;
	}
	return E_OK;
}

int ftree_reach(struct ftree *f, struct arena *a, struct why *why)
{
	struct sets w = { .words = (f->n + BITS - 1) / BITS };
	size_t words = (size_t)f->n * w.words;

	f->stride = ((size_t)f->n + 63) & ~(size_t)63;
	f->dist = arena_array(a, f->n, f->stride);
	w.seen = arena_array(a, words, sizeof(*w.seen));
	w.last = arena_array(a, words, sizeof(*w.last));
	w.next = arena_array(a, words, sizeof(*w.next));
	if (!f->dist || !w.seen || !w.last || !w.next) {
		return -ENOMEM;
	}
	memset(f->dist, FTREE_NONE, f->n * f->stride);
	unsigned depth = reach_down(f, &w);
	if (depth > FTREE_HOPS_MAX || reach_up(f, &w, depth) > FTREE_HOPS_MAX) {
		why_add(why, "ftree: a route of more than %u hops", FTREE_HOPS_MAX);
		return E_UNSUITABLE;
	}
	return check_leaves(f, why);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What ranks cannot join, a line of switches does.
 *
 * The line of updown.c follows the ranks, but for one switch per plane that stands above
 * its uppermost neighbours. A route that climbs and descends by rank enters a plane and
 * leaves it by two different switches, so it passes one such place at most and is a route
 * that climbs and descends the line. The others are added so that this holds for them
 * too: a switch takes a step down to one from which all routes only go down, or else, in
 * the order of the line, a step up to one that has any route. All destinations advance at
 * once, one bit each.
 *
 * The one place is two where a switch that stands above a plane has several neighbours in
 * it, as edge switches have in a chassis with two cables to each: routes by rank come
 * down to one of the neighbours and climb the line to that switch. These turns are
 * counted; where there are any, only the proof tells whether routes over the line close a
 * circle.
 */
#include <errno.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/dmodc.h"
#include "routing/graph.h"
#include "routing/updown.h"

struct work {
	const struct dmodc_tree *t;
	const struct dmodc_reach *r;
	struct dmodc_line *l;
	uint32_t *at; /* [n] switch at a place of the line */
};

static uint64_t *descends(const struct work *x, uint32_t s)
{
	return x->l->descends + (size_t)s * x->r->words;
}

static uint64_t *reaches(const struct work *x, uint32_t s)
{
	return x->l->reaches + (size_t)s * x->r->words;
}

/* Of the destinations k ranks up: those whose next switches, whichever is taken, are
 * below in the line and descend themselves. */
static void descend_by_rank(const struct work *x, uint32_t s, unsigned k)
{
	const struct dmodc_groups *dir = k ? &x->t->up : &x->t->down;
	const uint64_t *mine = dmodc_row(x->r, s, k);
	uint64_t *row = descends(x, s);

	for (uint32_t w = 0; w < x->r->words; w++) {
		uint64_t bad = 0;

		for (uint32_t i = dir->first[s]; mine[w] && i < dir->first[s + 1]; i++) {
			uint32_t to = dir->group[i].to;
			uint64_t there = dmodc_row(x->r, to, k ? k - 1 : 0)[w];

			bad |= x->l->pos[to] < x->l->pos[s] ? there
			                                    : there & ~descends(x, to)[w];
		}
		row[w] |= mine[w] & ~bad;
	}
}

static void find_by_rank(const struct work *x)
{
	const struct dmodc_tree *t = x->t;

	for (unsigned rank = 0; rank <= t->height; rank++) {
#pragma omp parallel for schedule(static)
		for (uint32_t i = t->rank_first[rank]; i < t->rank_first[rank + 1]; i++) {
			descend_by_rank(x, t->by_rank[i], 0);
		}
	}
	for (unsigned k = 1; k <= t->height; k++) {
#pragma omp parallel for schedule(static)
		for (uint32_t i = 0; i < t->rank_first[t->height - k + 1]; i++) {
			descend_by_rank(x, t->by_rank[i], k);
		}
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < t->n; s++) {
		for (unsigned k = 0; k < x->r->rows; k++) {
			for (uint32_t w = 0; w < x->r->words; w++) {
				reaches(x, s)[w] |= dmodc_row(x->r, s, k)[w];
			}
		}
	}
}

/* Adds what neighbours on one side of the line offer and the switch does not reach yet.
 */
static void step(const struct work *x, uint32_t s, bool down)
{
	const struct graph *g = x->t->g;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if ((x->l->pos[to] > x->l->pos[s]) != down) {
			continue;
		}
		for (uint32_t w = 0; w < x->r->words; w++) {
			uint64_t new = down ? descends(x, to)[w] & ~reaches(x, s)[w]
			                    : reaches(x, to)[w] & ~reaches(x, s)[w];

			reaches(x, s)[w] |= new;
			descends(x, s)[w] |= down ? new : 0;
		}
	}
}

/* Is there a neighbour above in the line, a rank up or a rank down? */
static bool has_above(const struct work *x, const struct dmodc_groups *dir, uint32_t s)
{
	for (uint32_t i = dir->first[s]; i < dir->first[s + 1]; i++) {
		if (x->l->pos[dir->group[i].to] < x->l->pos[s]) {
			return true;
		}
	}
	return false;
}

static void find_twisted(const struct work *x)
{
	for (uint32_t s = x->t->n; s-- > 0;) {
		if (has_above(x, &x->t->up, s) && has_above(x, &x->t->down, s)) {
			x->l->n_twisted++;
			x->l->twisted = s;
		}
	}
}

static void find_left(const struct work *x)
{
	for (uint32_t s = 0; s < x->t->n; s++) {
		for (uint32_t w = 0; w < x->r->words; w++) {
			for (uint64_t b = ~reaches(x, s)[w]; b; b &= b - 1) {
				uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);

				if (t < x->t->n && x->t->part[t] == x->t->part[s] &&
				    !x->l->left[t]) {
					x->l->left[t] = true;
					x->l->n_left++;
				}
			}
		}
	}
}

static int find_order(struct work *x, struct arena *a)
{
	uint16_t *rank = arena_array(a, x->t->n, sizeof(*rank));
	const struct updown_rule rule = { .rank = rank };
	int ret;

	if (!rank) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < x->t->n; s++) {
		rank[s] = (uint16_t)(x->t->height - x->t->rank[s]);
	}
	ret = updown_order(x->t->g, &rule, a, &x->l->pos, NULL);
	for (uint32_t s = 0; ret == E_OK && s < x->t->n; s++) {
		x->at[x->l->pos[s]] = s;
	}
	return ret;
}

int dmodc_line_init(struct dmodc_line *l, const struct dmodc_tree *t,
                    const struct dmodc_reach *r, struct arena *a)
{
	struct work x = { .t = t, .r = r, .l = l };
	int ret;

	*l = (struct dmodc_line){ .n_left = 0 };
	l->descends = arena_array(a, (size_t)t->n * r->words, sizeof(*l->descends));
	l->reaches = arena_array(a, (size_t)t->n * r->words, sizeof(*l->reaches));
	l->left = arena_array(a, t->n, sizeof(*l->left));
	x.at = arena_array(a, t->n, sizeof(*x.at));
	if (!l->descends || !l->reaches || !l->left || !x.at) {
		return -ENOMEM;
	}
	ret = find_order(&x, a);
	if (ret != E_OK) {
		return ret;
	}
	find_twisted(&x);
	find_by_rank(&x);
	for (uint32_t p = t->n; p-- > 0;) {
		step(&x, x.at[p], true);
	}
	for (uint32_t p = 0; p < t->n; p++) {
		step(&x, x.at[p], false);
	}
	find_left(&x);
	return E_OK;
}

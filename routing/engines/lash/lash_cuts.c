/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Lanes by cuts.
 *
 * A shortest way passes at most half of a ring. Where a ring has three places so far
 * apart that no way goes straight on at two of them, a way only has to keep off the lanes
 * that are cut at one place. Half around a ring of even size there are two ways: such
 * that the three places can be near enough, else those that share the load.
 *
 * Each lane is cut at one of the places of every ring. The lanes must be such that
 * whatever place a pair needs in each dimension, there is a lane that is cut elsewhere in
 * all of them: five lanes for three dimensions of three places, three for two. With two
 * places, as on long rings, it takes two lanes per dimension, multiplied (Dally and
 * Seitz 1987).
 *
 * Source: W. J. Dally, C. L. Seitz, "Deadlock-free message routing in multiprocessor
 * interconnection networks", 1987.
 */
#include "routing/engines/lash/lash_cuts.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/lash/lash_mesh.h"
#include "routing/graph/graph.h"

enum {
	RING_MIN = 4, /* on shorter ones no way goes straight on */
	RINGS_MAX = 4,
	PLACES_MAX = RINGS_MAX + 1, /* with more than rings there is nothing to gain */
	NEEDS_MAX = PLACES_MAX * PLACES_MAX * PLACES_MAX * PLACES_MAX,
	WORDS = (NEEDS_MAX + 63) / 64,
	STEPS_MAX = 20000
};

static bool is_ring(const struct lash_mesh *m, unsigned d)
{
	return m->closed[d] && m->size[d] >= RING_MIN;
}

/* ---- the places of one ring ---- */

struct ring {
	uint32_t size, n_places;
	uint32_t place[PLACES_MAX];
};

/* Where n places are spread evenly. */
static void spread_places(struct ring *r, uint32_t n)
{
	r->n_places = n;
	for (uint32_t i = 0; i < n; i++) {
		r->place[i] = i * r->size / n;
	}
}

/* Does the way from a place half around the ring go straight on at two of the places? */
static bool passes_two(const struct ring *r, uint32_t from)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_places; i++) {
		uint32_t gap = (r->place[i] + r->size - from) % r->size;

		n += gap > 0 && gap < r->size / 2;
	}
	return n > 1;
}

/* May every pair half around go one way or the other? */
static bool is_possible(const struct ring *r)
{
	for (uint32_t a = 0; r->size % 2 == 0 && a < r->size / 2; a++) {
		if (passes_two(r, a) && passes_two(r, a + r->size / 2)) {
			return false;
		}
	}
	return true;
}

/* ---- ways half around ---- */

/* The load of the links that a way half around takes. */
static uint32_t load_from(const struct ring *r, const uint32_t *load, uint32_t from)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < r->size / 2; i++) {
		sum += load[(from + i) % r->size];
	}
	return sum;
}

/* Those that can only go one way first, then the others where there is less. */
static int choose_ways(const struct ring *r, bool *over, struct arena *a)
{
	uint32_t half = r->size / 2, *load = arena_array(a, r->size, sizeof(*load));

	if (!load) {
		return -ENOMEM;
	}
	for (unsigned round = 0; r->size % 2 == 0 && round < 2; round++) {
		for (uint32_t at = 0; at < half; at++) {
			bool not_direct = passes_two(r, at);
			bool not_over = passes_two(r, at + half);
			uint32_t direct, across;

			if ((not_direct || not_over) != (round == 0)) {
				continue;
			}
			direct = load_from(r, load, at);
			across = load_from(r, load, at + half);
			over[at] = round == 0 ? not_direct
			                      : across < direct ||
			                                (across == direct && at % 2);
			for (uint32_t i = 0; i < half; i++) {
				load[(at + i + (over[at] ? half : 0)) % r->size]++;
			}
		}
	}
	return E_OK;
}

bool lash_cuts_over(const struct lash_cuts *c, const struct lash_mesh *m, uint32_t s,
                    uint32_t t, unsigned d)
{
	uint32_t a = m->at[(size_t)s * LASH_DIMS_MAX + d];
	uint32_t b = m->at[(size_t)t * LASH_DIMS_MAX + d];
	uint32_t low = a < b ? a : b, gap = a < b ? b - a : a - b;

	return m->closed[d] &&
	       (2 * gap > m->size[d] || (2 * gap == m->size[d] && c->over[d][low]));
}

/* ---- lanes ---- */

/* A set of needs: a place in each ring that a pair can't do without. */
struct needs {
	uint64_t word[WORDS];
};

struct search {
	unsigned n_rings, n_needs, n_words;
	struct ring ring[RINGS_MAX];
	/* by a lane that is cut at the places of a need */
	struct needs served[NEEDS_MAX];
	unsigned lane[LASH_CUTS_MAX], best[LASH_CUTS_MAX]; /* likewise */
	unsigned n_best; /* LASH_CUTS_MAX + 1: none so far */
	unsigned steps;
};

static unsigned place_in(const struct search *x, unsigned need, unsigned ring)
{
	while (ring--) {
		need /= x->ring[ring].n_places;
	}
	return need;
}

/* Is a lane that is cut at the places of one need of use for the other? */
static bool serves(const struct search *x, unsigned lane, unsigned need)
{
	for (unsigned i = 0; i < x->n_rings; i++) {
		unsigned n = x->ring[i].n_places;

		if (lane % n == need % n) {
			return false;
		}
		lane /= n;
		need /= n;
	}
	return true;
}

static unsigned first_of(const struct search *x, const struct needs *n)
{
	for (unsigned w = 0; w < x->n_words; w++) {
		if (n->word[w]) {
			return w * 64 + (unsigned)__builtin_ctzll(n->word[w]);
		}
	}
	return x->n_needs;
}

static unsigned count_both(const struct search *x, const struct needs *a,
                           const struct needs *b)
{
	unsigned n = 0;

	for (unsigned w = 0; w < x->n_words; w++) {
		n += (unsigned)__builtin_popcountll(a->word[w] & b->word[w]);
	}
	return n;
}

/*
 * Adds lanes for the needs that are left, the lane that serves most first. Each lane must
 * serve the first need that is left; so all choices are met sooner or later, unless the
 * steps run out.
 */
static void add_lanes(struct search *x, unsigned n, const struct needs *left)
{
	unsigned need = first_of(x, left), gain[NEEDS_MAX];

	if (need == x->n_needs) {
		memcpy(x->best, x->lane, n * sizeof(*x->best));
		x->n_best = n;
		return;
	}
	for (unsigned lane = 0; lane < x->n_needs; lane++) {
		gain[lane] =
			serves(x, lane, need) ? count_both(x, left, &x->served[lane]) : 0;
	}
	while (n + 1 < x->n_best && n < LASH_CUTS_MAX && x->n_best > x->n_rings + 1 &&
	       x->steps < STEPS_MAX) {
		struct needs rest = *left;
		unsigned best = 0;

		for (unsigned lane = 1; lane < x->n_needs; lane++) {
			best = gain[lane] > gain[best] ? lane : best;
		}
		if (!gain[best]) {
			return;
		}
		gain[best] = 0;
		for (unsigned w = 0; w < x->n_words; w++) {
			rest.word[w] &= ~x->served[best].word[w];
		}
		x->steps++;
		x->lane[n] = best;
		add_lanes(x, n + 1, &rest);
	}
}

static void choose_lanes(struct search *x)
{
	struct needs all = { { 0 } };

	x->n_needs = 1;
	for (unsigned i = 0; i < x->n_rings; i++) {
		x->n_needs *= x->ring[i].n_places;
	}
	x->n_words = (x->n_needs + 63) / 64;
	for (unsigned lane = 0; lane < x->n_needs; lane++) {
		for (unsigned i = 0; i < x->n_needs; i++) {
			x->served[lane].word[i / 64] |= (uint64_t)serves(x, lane, i)
			                                << i % 64;
		}
	}
	for (unsigned i = 0; i < x->n_needs; i++) {
		all.word[i / 64] |= UINT64_C(1) << i % 64;
	}
	x->n_best = LASH_CUTS_MAX + 1;
	add_lanes(x, 0, &all);
}

static void store_lanes(const struct search *x, const struct lash_mesh *m,
                        struct lash_cuts *c)
{
	c->n = x->n_best <= LASH_CUTS_MAX ? x->n_best : 0;
	for (unsigned lane = 0; lane < c->n; lane++) {
		unsigned ring = 0;

		for (unsigned d = 0; d < m->n_dims; d++) {
			const struct ring *r = &x->ring[ring];

			if (!is_ring(m, d)) {
				c->at[lane][d] = GRAPH_NONE;
				continue;
			}
			c->at[lane][d] =
				r->place[place_in(x, x->best[lane], ring) % r->n_places];
			ring++;
		}
	}
}

/* ---- the whole ---- */

static int choose_all(struct lash_cuts *c, const struct lash_mesh *m, struct search *x,
                      struct arena *a)
{
	unsigned n_rings = 0;

	for (unsigned d = 0; d < m->n_dims; d++) {
		n_rings += is_ring(m, d);
	}
	for (unsigned d = 0; d < m->n_dims; d++) {
		struct ring r = { .size = m->size[d] };

		if (!m->closed[d]) {
			continue;
		}
		c->over[d] = arena_array(a, r.size / 2 + 1u, sizeof(*c->over[d]));
		if (!c->over[d]) {
			return -ENOMEM;
		}
		if (is_ring(m, d)) {
			uint32_t max = n_rings < RINGS_MAX ? n_rings + 1 : PLACES_MAX;
			uint32_t inner = (r.size - 1) / 2 -
			                 1; /* switches that a way passes at most, but
			                                           half around */
			uint32_t n = inner ? r.size / inner : max;

			spread_places(&r, n < max ? n : max);
			while (!is_possible(&r)) {
				spread_places(&r, r.n_places - 1);
			}
		}
		if (choose_ways(&r, c->over[d], a) != E_OK) {
			return -ENOMEM;
		}
		if (is_ring(m, d) && n_rings <= RINGS_MAX) {
			x->ring[x->n_rings++] = r;
		}
	}
	if (n_rings <= RINGS_MAX) {
		choose_lanes(x);
		store_lanes(x, m, c);
	}
	return E_OK;
}

int lash_cuts_init(struct lash_cuts *c, const struct lash_mesh *m, struct arena *a)
{
	struct arena *tmp = arena_new();
	struct search *x = tmp ? arena_alloc(tmp, sizeof(*x)) : NULL;
	struct lash_cuts cuts = { .n = 0 };
	int ret = x ? choose_all(&cuts, m, x, a) : -ENOMEM;

	if (ret == E_OK) {
		*c = cuts;
	}
	arena_free(tmp);
	return ret;
}

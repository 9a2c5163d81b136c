/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Lanes of a mesh or torus by cuts.
 *
 * A shortest path passes at most half of a ring. If a ring has three places so far apart
 * that no path goes straight through two of them, a path only has to avoid the lanes that
 * are cut at one place. Half around a ring of even size there are two paths. They are chosen
 * so that the three places can be near enough to each other, else so that they share the
 * load.
 *
 * Each lane is cut at one of the places of every ring. Whatever place a pair needs in each
 * dimension, there must be a lane that is cut elsewhere in all dimensions. This takes five
 * lanes for three dimensions with three places, and three for two. With two places, as on
 * long rings, it takes two lanes per dimension, multiplied (Dally and Seitz 1987).
 *
 * A dimension-order route may use every lane that is cut nowhere where the route goes
 * straight on. All such routes together close no cycle, so each route is checked by itself.
 * On a whole mesh or torus all routes are such. If cables are missing, some routes have to
 * turn back to an earlier dimension. Then the lower lanes are filled first, to leave the
 * upper ones to these, and the dependencies are recorded.
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
#include "routing/engines/lash/lash_work.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"

enum {
	RING_MIN = 4, /* on shorter ones no path goes straight on */
	RINGS_MAX = 4,
	PLACES_MAX = RINGS_MAX + 1, /* more than one above the rings gains nothing */
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

/* n places at equal distances. */
static void spread_places(struct ring *r, uint32_t n)
{
	r->n_places = n;
	for (uint32_t i = 0; i < n; i++) {
		r->place[i] = i * r->size / n;
	}
}

/* Does the path half around the ring go straight through two of the places? */
static bool passes_two(const struct ring *r, uint32_t from)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_places; i++) {
		uint32_t gap = (r->place[i] + r->size - from) % r->size;

		n += gap > 0 && gap < r->size / 2;
	}
	return n > 1;
}

/* Does every pair half around the ring have a path that passes at most one place? */
static bool is_possible(const struct ring *r)
{
	for (uint32_t a = 0; r->size % 2 == 0 && a < r->size / 2; a++) {
		if (passes_two(r, a) && passes_two(r, a + r->size / 2)) {
			return false;
		}
	}
	return true;
}

/* ---- paths half around ---- */

/* The load of the links of a path half around the ring. */
static uint32_t load_from(const struct ring *r, const uint32_t *load, uint32_t from)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < r->size / 2; i++) {
		sum += load[(from + i) % r->size];
	}
	return sum;
}

/* Chooses paths half around: first the pairs with one possible path, then the others
 * by load. */
static int choose_arcs(const struct ring *r, bool *wraps, struct arena *a)
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
			wraps[at] = round == 0 ? not_direct
			                       : across < direct ||
			                                 (across == direct && at % 2);
			for (uint32_t i = 0; i < half; i++) {
				load[(at + i + (wraps[at] ? half : 0)) % r->size]++;
			}
		}
	}
	return E_OK;
}

bool lash_cuts_wraps(const struct lash_cuts *c, const struct lash_mesh *m, uint32_t s,
                     uint32_t t, unsigned d)
{
	uint32_t a = m->at[(size_t)s * LASH_DIMS_MAX + d];
	uint32_t b = m->at[(size_t)t * LASH_DIMS_MAX + d];
	uint32_t low = a < b ? a : b, gap = a < b ? b - a : a - b;

	return m->closed[d] &&
	       (2 * gap > m->size[d] || (2 * gap == m->size[d] && c->wraps[d][low]));
}

/* ---- lanes ---- */

/* A set of needs. A need is one place per ring that a pair has to pass. */
struct needs {
	uint64_t word[WORDS];
};

struct search {
	unsigned n_rings, n_needs, n_words;
	struct ring ring[RINGS_MAX];
	/* [lane] needs that a lane can serve; the lane is cut at the places of the
	 * need of its number */
	struct needs served[NEEDS_MAX];
	unsigned lane[LASH_CUTS_MAX],
		best[LASH_CUTS_MAX]; /* numbered like needs, by their cuts */
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

/* Is a lane that is cut at the places of one need uncut at all places of the other? */
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

/* Branch and bound: adds lanes for the remaining needs, those that serve most first.
 * Each lane must serve the first remaining need, so the search is complete unless its
 * steps run out. */
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
		struct needs remaining = *left;
		unsigned best = 0;

		for (unsigned lane = 1; lane < x->n_needs; lane++) {
			best = gain[lane] > gain[best] ? lane : best;
		}
		if (!gain[best]) {
			return;
		}
		gain[best] = 0;
		for (unsigned w = 0; w < x->n_words; w++) {
			remaining.word[w] &= ~x->served[best].word[w];
		}
		x->steps++;
		x->lane[n] = best;
		add_lanes(x, n + 1, &remaining);
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

/* ---- all steps ---- */

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
		c->wraps[d] = arena_array(a, r.size / 2 + 1u, sizeof(*c->wraps[d]));
		if (!c->wraps[d]) {
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
		if (choose_arcs(&r, c->wraps[d], a) != E_OK) {
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

/* ---- assigning pairs ---- */

struct chooser {
	struct lash_job *j;
	const struct lash_mesh *m;
	uint16_t all;                 /* lanes */
	uint16_t *cut[LASH_DIMS_MAX]; /* [size] lanes that are cut at a coordinate */
	/* [n][n] by (t, s): lanes that the routes from s to t may use */
	uint16_t *lanes;
	uint16_t *scratch; /* [threads][n] */
	bool any_left;
};

static int chooser_init(struct chooser *c)
{
	const struct lash_cuts *cuts = c->j->in->cuts;
	size_t n = c->j->n;

	c->all = (uint16_t)((1U << cuts->n) - 1);
	c->lanes = arena_array(c->j->tmp, n * n, sizeof(*c->lanes));
	c->scratch = arena_array(c->j->tmp, column_threads() * n, sizeof(*c->scratch));
	if (!c->lanes || !c->scratch) {
		return -ENOMEM;
	}
	for (unsigned d = 0; d < c->m->n_dims; d++) {
		c->cut[d] = arena_array(c->j->tmp, c->m->size[d], sizeof(*c->cut[d]));
		if (!c->cut[d]) {
			return -ENOMEM;
		}
		for (unsigned lane = 0; lane < cuts->n; lane++) {
			if (cuts->at[lane][d] != GRAPH_NONE) {
				c->cut[d][cuts->at[lane][d]] |= (uint16_t)(1U << lane);
			}
		}
	}
	return E_OK;
}

/* Lanes on which a route may pass switch v from one channel to the other. */
static uint16_t lanes_through(const struct chooser *c, uint32_t v, uint32_t from,
                              uint32_t to)
{
	unsigned d = c->m->dim[from], e = c->m->dim[to];

	if (e < d) {
		return 0;
	}
	return d < e ? c->all
	             : (uint16_t)(c->all &
	                          ~c->cut[d][c->m->at[(size_t)v * LASH_DIMS_MAX + d]]);
}

/* From near to far: the lanes of the next switch, except those that are cut there. */
static void allow_column(const struct chooser *c, uint32_t t, uint32_t col)
{
	const struct lash_job *j = c->j;
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	uint16_t *lanes = c->lanes + (size_t)t * j->n;
	uint16_t *of = c->scratch + (size_t)column_thread() * j->n;

	of[t] = c->all;
	for (unsigned d = 1; d <= j->in->hops->diameter; d++) {
		uint32_t n;
		const uint16_t *at = hops_at(j->in->hops, t, d, &n);

		for (uint32_t i = 0; i < n; i++) {
			uint32_t s = at[i], v = j->g->adj[chan[s]].to;

			of[s] = of[v];
			if (v != t) {
				of[s] &= lanes_through(c, v, chan[s], chan[v]);
			}
			lanes[s] &= of[s];
		}
	}
}

static void allow_all(struct chooser *c)
{
	const struct lash_job *j = c->j;

#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t t = 0; t < j->n; t++) {
		for (uint32_t s = 0; s < j->n; s++) {
			c->lanes[(size_t)t * j->n + s] = c->all;
		}
		for (uint32_t col = j->col_first[t]; col < j->col_first[t + 1]; col++) {
			allow_column(c, t, col);
		}
	}
}

static uint16_t lanes_of(const struct chooser *c, uint32_t s, uint32_t t)
{
	return c->lanes[(size_t)t * c->j->n + s] & c->lanes[(size_t)s * c->j->n + t];
}

/* Are there pairs that no lane allows? */
static bool find_left(const struct chooser *c)
{
	const struct lash_job *j = c->j;

	for (uint32_t s = 0; s < j->n; s++) {
		for (uint32_t t = s + 1; t < j->n; t++) {
			if (!lanes_of(c, s, t)) {
				return true;
			}
		}
	}
	return false;
}

/* Assigns data pairs, or the others, to lanes that allow them: the one with fewest
 * pairs, or without \a pairs the lowest. */
static void place(struct chooser *c, bool data, uint64_t *pairs)
{
	struct lash_job *j = c->j;

	for (uint32_t s = 0; s < j->n; s++) {
		for (uint32_t t = s + 1; t < j->n; t++) {
			uint16_t lanes = lanes_of(c, s, t);
			unsigned lane;
			unsigned best;

			if (!lanes || hops_between(j->in->hops, s, t) == HOPS_NONE ||
			    (lash_has_hosts(j, s) && lash_has_hosts(j, t)) != data) {
				continue;
			}
			/* the lowest of these lanes, or the one with fewest pairs */
			best = (unsigned)__builtin_ctz(lanes);
			for (unsigned k = best + 1; pairs && k < c->j->in->cuts->n; k++) {
				if (lanes >> k & 1 && pairs[k] < pairs[best]) {
					best = k;
				}
			}
			lane = best;
			j->of[(size_t)s * j->n + t] = (uint8_t)lane;
			j->of[(size_t)t * j->n + s] = (uint8_t)lane;
			if (pairs) {
				pairs[lane]++;
			} else {
				j->lane[lane].pairs++;
				lash_record_pair(j, lane, s, t);
			}
		}
	}
}

int lash_place_by_cuts(struct lash_job *j)
{
	struct chooser c = { .j = j, .m = j->in->mesh };
	uint64_t pairs[LASH_CUTS_MAX] = { 0 };
	int ret = chooser_init(&c);

	if (ret != E_OK) {
		return ret;
	}
	allow_all(&c);
	if (!find_left(&c)) {
		place(&c, true, pairs);
		place(&c, false, pairs);
		j->n_lanes = j->in->cuts->n;
		return E_OK;
	}
	while (ret == E_OK && j->n_lanes < j->in->cuts->n) {
		ret = lash_open_lane(j);
	}
	if (ret == E_OK) {
		place(&c, true, NULL);
	}
	for (unsigned lane = 0; ret == E_OK && lane < j->n_lanes; lane++) {
		cdg_settle(&j->lane[lane].cdg);
	}
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Coordinates in meshes and tori, also if cables or switches are missing.
 *
 * lash_squares.c finds the directions of links. Switches are in one slab across a dimension
 * if links of other dimensions join them, if links of one class start or end at them, or if
 * they follow one slab in the same direction. The slabs form a line or a ring; the position
 * on it is the coordinate. Switches with too few links to be placed so get a free place next
 * to all their neighbours.
 *
 * At the end no two switches may have the same place, and every link must join neighbours in
 * one dimension. Names, GUIDs and port numbers are not used.
 */
#include "routing/engines/lash/lash_mesh.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/union_find.h"
#include "routing/graph/graph.h"

struct finder {
	const struct graph *g;
	struct arena *tmp;
	uint32_t n;
	struct lash_squares q;
	uint32_t *slab;  /* [n] union-find over switches */
	uint32_t *ahead; /* [n] by root of slab: a switch of the next one, GRAPH_NONE */
	uint32_t *behind;
	uint32_t *tail;  /* [links] a switch at which links of a class start */
	uint32_t *place; /* [n] by root of slab: coordinate, GRAPH_NONE */
	uint32_t *count; /* [n] switches in a slab */
	uint32_t *who;   /* [n_places] switch + 1 at a place, 0: free */
};

/* ---- slabs ---- */

static bool is_dimension(const struct lash_squares *q, uint32_t dim)
{
	for (unsigned d = 0; d < q->n_dims; d++) {
		if (q->dim[d] == dim) {
			return true;
		}
	}
	return false;
}

/* All neighbours of a slab in one direction are one slab. \return false: nothing new. */
static bool merge_next(struct finder *f, uint32_t *next, uint32_t s, uint32_t to)
{
	uint32_t *n = &next[union_find(f->slab, s)];

	if (*n == GRAPH_NONE) {
		*n = to;
	}
	return union_join(f->slab, *n, to);
}

/* Joins slabs to lines and rings. \return false: a link starts and ends in one slab. */
static bool join_slabs(struct finder *f, uint32_t dim)
{
	const struct lash_squares *q = &f->q;
	bool changed = true;

	while (changed) {
		changed = false;
		memset(f->ahead, 0xff, f->n * sizeof(*f->ahead));
		memset(f->behind, 0xff, f->n * sizeof(*f->behind));
		for (uint32_t s = 0; s < f->n; s++) {
			for (uint32_t i = q->first[s]; i < q->first[s + 1]; i++) {
				uint32_t t = q->near[i];

				if (q->direction[i] != dim) {
					continue;
				}
				if (union_find(f->slab, s) == union_find(f->slab, t)) {
					return false;
				}
				changed |= merge_next(f, f->ahead, s, t);
				changed |= merge_next(f, f->behind, t, s);
			}
		}
	}
	return true;
}

static uint32_t slab_at(struct finder *f, const uint32_t *next, uint32_t slab)
{
	return next[slab] == GRAPH_NONE ? GRAPH_NONE : union_find(f->slab, next[slab]);
}

/* The largest slab. */
static uint32_t main_slab(struct finder *f)
{
	uint32_t best = 0;

	memset(f->count, 0, f->n * sizeof(*f->count));
	for (uint32_t s = 0; s < f->n; s++) {
		f->count[union_find(f->slab, s)]++;
	}
	for (uint32_t s = 1; s < f->n; s++) {
		best = f->count[s] > f->count[best] ? s : best;
	}
	return best;
}

/* The start of the line or ring of the largest slab: the end with the lowest switch,
 * or the slab with the lowest switch. */
static uint32_t find_start(struct finder *f, bool *ret_closed)
{
	uint32_t from = main_slab(f), first = from, last = from, low = from;

	while (slab_at(f, f->behind, first) != GRAPH_NONE) {
		first = slab_at(f, f->behind, first);
		low = first < low ? first : low;
		if (first == from) {
			*ret_closed = true;
			return low;
		}
	}
	while (slab_at(f, f->ahead, last) != GRAPH_NONE) {
		last = slab_at(f, f->ahead, last);
	}
	*ret_closed = false;
	return first < last ? first : last;
}

/* Numbers the slabs from the start. \return How many there are. */
static uint32_t number_slabs(struct finder *f, uint32_t start)
{
	uint32_t ahead = slab_at(f, f->ahead, start), at = start, n = 0;
	bool forward = ahead != GRAPH_NONE && ahead <= slab_at(f, f->behind, start);
	const uint32_t *next = forward ? f->ahead : f->behind;

	memset(f->place, 0xff, f->n * sizeof(*f->place));
	do {
		f->place[at] = n++;
		at = slab_at(f, next, at);
	} while (at != GRAPH_NONE && at != start);
	return n;
}

/* Finds the coordinates of one dimension; slabs without a neighbouring slab get none. */
static int place_switches(struct finder *f, struct lash_mesh *m, unsigned d)
{
	uint32_t n_placed = 0;
	const struct lash_squares *q = &f->q;

	/* slabs are connected without the links of the dimension; the ends of a class
	 * are in one slab */
	memset(f->tail, 0xff, q->first[f->n] * sizeof(*f->tail));
	union_init(f->slab, f->n);
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t i = q->first[s]; i < q->first[s + 1]; i++) {
			uint32_t of = lash_dim_of(q, i), *tail = &f->tail[q->slab[i]];

			if (of == f->q.dim[d]) {
				*tail = *tail == GRAPH_NONE ? s : *tail;
				union_join(f->slab, s, *tail);
			} else if (is_dimension(q, of)) {
				union_join(f->slab, s, q->near[i]);
			}
		}
	}
	if (!join_slabs(f, f->q.dim[d])) {
		return E_UNSUITABLE;
	}
	m->size[d] = number_slabs(f, find_start(f, &m->closed[d]));
	for (uint32_t s = 0; s < f->n; s++) {
		uint32_t at = f->place[union_find(f->slab, s)];

		m->at[(size_t)s * LASH_DIMS_MAX + d] = at;
		n_placed += at != GRAPH_NONE;
	}
	if (m->size[d] < 2 || (m->size[d] == 2 && m->closed[d])) {
		return E_UNSUITABLE;
	}
	return n_placed > f->n / 2 ? E_OK : E_UNSUITABLE;
}

/* ---- places ---- */

static uint32_t *coordinates(const struct lash_mesh *m, uint32_t s)
{
	return m->at + (size_t)s * LASH_DIMS_MAX;
}

static uint64_t place_number(const struct lash_mesh *m, const uint32_t *at)
{
	uint64_t i = 0;

	for (unsigned d = 0; d < m->n_dims; d++) {
		i = i * m->size[d] + at[d];
	}
	return i;
}

static bool is_placed(const struct lash_mesh *m, uint32_t s)
{
	for (unsigned d = 0; d < m->n_dims; d++) {
		if (coordinates(m, s)[d] == GRAPH_NONE) {
			return false;
		}
	}
	return true;
}

/* The dimension in which two places are neighbours, n_dims: none. */
static unsigned dim_between(const struct lash_mesh *m, const uint32_t *a,
                            const uint32_t *b)
{
	unsigned found = m->n_dims;

	for (unsigned d = 0; d < m->n_dims; d++) {
		if (a[d] == b[d]) {
			continue;
		}
		if (found < m->n_dims || (b[d] != (a[d] + 1) % m->size[d] &&
		                          a[d] != (b[d] + 1) % m->size[d])) {
			return m->n_dims;
		}
		found = d;
	}
	return found;
}

/* Does a place agree with the known coordinates of a switch and its neighbours? */
static bool may_be_at(const struct finder *f, const struct lash_mesh *m, uint32_t s,
                      const uint32_t *at)
{
	for (unsigned d = 0; d < m->n_dims; d++) {
		uint32_t known = coordinates(m, s)[d];

		if (known != GRAPH_NONE && known != at[d]) {
			return false;
		}
	}
	for (uint32_t i = f->q.first[s]; i < f->q.first[s + 1]; i++) {
		uint32_t t = f->q.near[i];

		if (is_placed(m, t) &&
		    dim_between(m, at, coordinates(m, t)) == m->n_dims) {
			return false;
		}
	}
	return !f->who[place_number(m, at)];
}

/* Counts the free places for a switch next to a placed neighbour. \param ret_at The
 * first of them. \return GRAPH_NONE: no neighbour has a place. */
static uint32_t find_places(const struct finder *f, const struct lash_mesh *m, uint32_t s,
                            uint32_t *ret_at)
{
	uint32_t n = 0, i = f->q.first[s], at[LASH_DIMS_MAX];

	while (i < f->q.first[s + 1] && !is_placed(m, f->q.near[i])) {
		i++;
	}
	if (i == f->q.first[s + 1]) {
		return GRAPH_NONE;
	}
	memcpy(at, coordinates(m, f->q.near[i]), sizeof(at));
	for (unsigned d = 0; d < m->n_dims; d++) {
		uint32_t from = at[d], size = m->size[d];

		for (unsigned back = 0; back < 2 && back < size - 1; back++) {
			at[d] = (from + (back ? size - 1 : 1)) % size;
			if (may_be_at(f, m, s, at) && n++ == 0) {
				memcpy(ret_at, at, sizeof(at));
			}
		}
		at[d] = from;
	}
	return n;
}

static void put_at(struct finder *f, struct lash_mesh *m, uint32_t s, const uint32_t *at)
{
	memcpy(coordinates(m, s), at, LASH_DIMS_MAX * sizeof(*at));
	f->who[place_number(m, at)] = s + 1;
}

/* Places the remaining switches: first those with one possible place, then the one
 * with the fewest. */
static int place_others(struct finder *f, struct lash_mesh *m)
{
	for (;;) {
		uint32_t best = GRAPH_NONE, least = GRAPH_NONE, n_open = 0, n;
		uint32_t best_at[LASH_DIMS_MAX], at[LASH_DIMS_MAX] = { 0 };

		for (uint32_t s = 0; s < f->n; s++) {
			if (is_placed(m, s)) {
				continue;
			}
			n_open++;
			n = find_places(f, m, s, at);
			if (n == 1) {
				put_at(f, m, s, at);
			}
			if (n < least) {
				least = n;
				best = s;
				memcpy(best_at, at, sizeof(at));
			}
		}
		if (n_open == 0) {
			return E_OK;
		}
		if (least == 0 || best == GRAPH_NONE) {
			return E_UNSUITABLE;
		}
		if (least > 1) {
			put_at(f, m, best, best_at);
		}
	}
}

/* Fills the grid. Fails if two switches have the same place or the grid is too large. */
static int fill_places(struct finder *f, struct lash_mesh *m)
{
	uint64_t places = 1;

	for (unsigned d = 0; d < m->n_dims; d++) {
		places *= m->size[d];
		if (places > UINT64_C(4) * f->n + 64) {
			return E_UNSUITABLE;
		}
	}
	f->who = arena_array(f->tmp, places, sizeof(*f->who));
	if (!f->who) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		if (is_placed(m, s)) {
			uint32_t *who = &f->who[place_number(m, coordinates(m, s))];

			if (*who) {
				return E_UNSUITABLE;
			}
			*who = s + 1;
		}
	}
	return place_others(f, m);
}

static int name_links(const struct graph *g, struct lash_mesh *m)
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
			const uint32_t *a = coordinates(m, s);
			const uint32_t *b = coordinates(m, g->adj[c].to);
			unsigned d = dim_between(m, a, b);

			if (d == m->n_dims) {
				return E_UNSUITABLE;
			}
			/* one remaining link that wraps around is enough to close a
			 * ring */
			m->closed[d] |= a[d] > b[d] + 1 || b[d] > a[d] + 1;
			m->dim[c] = (uint8_t)d;
		}
	}
	return E_OK;
}

/* ---- all steps ---- */

static int place_all(struct finder *f, struct lash_mesh *m)
{
	int ret = E_OK;

	for (unsigned d = 0; ret == E_OK && d < f->q.n_dims; d++) {
		ret = place_switches(f, m, d);
	}
	if (ret == E_OK) {
		m->n_dims = f->q.n_dims;
		/* the longest dimension first; equal ones in the order of finding */
		for (unsigned d = 1; d < m->n_dims; d++) {
			for (unsigned e = d; e && m->size[e - 1] < m->size[e]; e--) {
				uint32_t size = m->size[e - 1];
				bool closed = m->closed[e - 1];

				m->size[e - 1] = m->size[e];
				m->size[e] = size;
				m->closed[e - 1] = m->closed[e];
				m->closed[e] = closed;
				for (uint32_t s = 0; s < f->n; s++) {
					uint32_t *at = m->at + (size_t)s * LASH_DIMS_MAX,
						 x = at[e - 1];

					at[e - 1] = at[e];
					at[e] = x;
				}
			}
		}
		ret = fill_places(f, m);
	}
	if (ret == E_OK) {
		uint32_t n = 0;

		for (uint64_t i = 0; n < f->n; i++) {
			if (f->who[i]) {
				m->order[n++] = f->who[i] - 1;
			}
		}
		ret = name_links(f->g, m);
	}
	return ret;
}

static int find_coordinates(struct finder *f, struct lash_mesh *m)
{
	uint32_t n_links = f->q.first[f->n], n_dims = f->q.n_dims;
	int ret = E_UNSUITABLE;

	f->slab = arena_array(f->tmp, f->n, sizeof(*f->slab));
	f->ahead = arena_array(f->tmp, f->n, sizeof(*f->ahead));
	f->behind = arena_array(f->tmp, f->n, sizeof(*f->behind));
	f->place = arena_array(f->tmp, f->n, sizeof(*f->place));
	f->count = arena_array(f->tmp, f->n, sizeof(*f->count));
	f->tail = arena_array(f->tmp, n_links, sizeof(*f->tail));
	if (!f->slab || !f->ahead || !f->behind || !f->place || !f->count || !f->tail) {
		return -ENOMEM;
	}
	/* dimensions with few links may be fragments of others */
	for (f->q.n_dims = 1; f->q.n_dims <= n_dims; f->q.n_dims++) {
		ret = place_all(f, m);
		if (ret != E_UNSUITABLE) {
			break;
		}
	}
	return ret;
}

static int find_mesh(const struct graph *g, bool guess, struct lash_mesh *m)
{
	struct finder f = { .g = g, .n = g->n_switches, .tmp = arena_new() };
	int ret = f.tmp ? lash_squares_find(g, guess, f.tmp, &f.q) : -ENOMEM;

	if (ret == E_OK) {
		ret = find_coordinates(&f, m);
	}
	arena_free(f.tmp);
	return ret;
}

int lash_mesh_find(const struct graph *g, struct arena *a, struct lash_mesh *ret_mesh)
{
	struct lash_mesh m = { .n_dims = 0 };
	int ret;

	m.dim = arena_array(a, g->n_adj, sizeof(*m.dim));
	m.at = arena_array(a, (size_t)g->n_switches * LASH_DIMS_MAX, sizeof(*m.at));
	m.order = arena_array(a, g->n_switches, sizeof(*m.order));
	if (!m.dim || !m.at || !m.order) {
		return -ENOMEM;
	}
	ret = find_mesh(g, false, &m);
	if (ret == E_UNSUITABLE) {
		ret = find_mesh(g, true, &m);
	}
	if (ret == E_OK) {
		*ret_mesh = m;
	}
	return ret;
}

const char *lash_mesh_text(const struct lash_mesh *m, struct arena *a)
{
	char *text = arena_strdup(a, "");
	bool closed = false;

	for (unsigned d = 0; text && d < m->n_dims; d++) {
		text = arena_printf(a, "%s%s%" PRIu32, text, d ? " x " : "", m->size[d]);
		closed |= m->closed[d];
	}
	return text ? arena_printf(a, "%s %s", text, closed ? "torus" : "mesh") : NULL;
}

/* ---- looking at one ---- */

/* Bit 2d: the next place of dimension d is joined, 2d + 1: the one before. */
static uint32_t sides(const struct lash_mesh *m, const struct graph *g, uint32_t s)
{
	uint32_t seen = 0;

	for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
		unsigned d = m->dim[c];
		uint32_t here = m->at[(size_t)s * LASH_DIMS_MAX + d];
		uint32_t there = m->at[(size_t)g->adj[c].to * LASH_DIMS_MAX + d];

		seen |= UINT32_C(1) << (2 * d + (there != (here + 1) % m->size[d]));
	}
	return seen;
}

uint32_t lash_mesh_missing(const struct lash_mesh *m, const struct graph *g)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t want = 0;

		for (unsigned d = 0; d < m->n_dims; d++) {
			uint32_t at = m->at[(size_t)s * LASH_DIMS_MAX + d];
			bool first = !m->closed[d] && at == 0;
			bool last = !m->closed[d] && at + 1 == m->size[d];

			/* of two places each is the next of the other */
			last &= m->size[d] > 2;
			first |= m->size[d] == 2;
			want |= (uint32_t)!last << 2 * d | (uint32_t)!first
			                                           << (2 * d + 1);
		}
		n += (uint32_t)__builtin_popcount(want & ~sides(m, g, s));
	}
	return n;
}

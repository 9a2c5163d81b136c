/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Recognising meshes and tori.
 *
 * In a mesh two links of a switch that lie in different dimensions are sides of exactly
 * one square, and two that lie in one dimension of none. So:
 *  - links that are opposite sides of a square are of one class: all links between the
 *    same two neighbouring slabs of the mesh get together this way;
 *  - classes that meet at a switch are of one dimension if they never span a square;
 *  - without the links of one dimension the fabric falls apart into the slabs across
 *    it, and those must form a line or a ring: the coordinate is the place on it.
 * Names, GUIDs and port numbers play no part. A square that misses a side says nothing;
 * the others of its slabs do, so single faults don't hide a mesh.
 *
 * Finally no two switches may have one place. Links of the fabric join neighbours of a
 * dimension by construction.
 */
#include "routing/lash_mesh.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/graph.h"

enum { NEIGHBOURS_MAX = 2 * LASH_DIMS_MAX };

struct finder {
	const struct graph *g;
	struct arena *tmp;
	uint32_t n;
	uint32_t *first; /* [n + 1] into near, link */
	uint32_t *near;  /* neighbours of a switch, each once, ascending */
	uint32_t *cls;   /* [first[n]] union-find over directed links */
	uint32_t *dim;   /* [first[n]] union-find over classes, by root of cls */
	uint64_t *apart; /* pairs of classes that span a square, sorted */
	size_t n_apart;
	uint32_t *slab; /* [n] union-find over switches */
};

/* ---- union-find ---- */

static uint32_t root(uint32_t *up, uint32_t x)
{
	while (up[x] != x) {
		up[x] = up[up[x]];
		x = up[x];
	}
	return x;
}

/* The lower one stays root. */
static void unite(uint32_t *up, uint32_t x, uint32_t y)
{
	x = root(up, x);
	y = root(up, y);
	if (x < y) {
		up[y] = x;
	} else {
		up[x] = y;
	}
}

static uint32_t *each_alone(struct arena *a, uint32_t n)
{
	uint32_t *up = arena_array(a, n, sizeof(*up));

	for (uint32_t i = 0; up && i < n; i++) {
		up[i] = i;
	}
	return up;
}

/* ---- neighbours ---- */

/* Neighbours of one switch, ascending. Returns how many; NEIGHBOURS_MAX + 1: too many. */
static uint32_t neighbours(const struct graph *g, uint32_t s, uint32_t *ret)
{
	uint32_t n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to, k = 0;

		while (k < n && ret[k] < to) {
			k++;
		}
		if (k < n && ret[k] == to) {
			continue;
		}
		if (n == NEIGHBOURS_MAX) {
			return NEIGHBOURS_MAX + 1;
		}
		memmove(ret + k + 1, ret + k, (n - k) * sizeof(*ret));
		ret[k] = to;
		n++;
	}
	return n;
}

static int find_neighbours(struct finder *f)
{
	f->first = arena_array(f->tmp, (size_t)f->n + 1, sizeof(*f->first));
	f->near = arena_array(f->tmp, (size_t)f->n * (NEIGHBOURS_MAX + 1),
	                      sizeof(*f->near));
	if (!f->first || !f->near) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		uint32_t n = neighbours(f->g, s, f->near + f->first[s]);

		if (n > NEIGHBOURS_MAX) {
			return E_UNSUITABLE;
		}
		f->first[s + 1] = f->first[s] + n;
	}
	return E_OK;
}

/* The directed link from s to a neighbour. */
static uint32_t link_to(const struct finder *f, uint32_t s, uint32_t to)
{
	uint32_t i = f->first[s];

	while (f->near[i] != to) {
		i++;
	}
	return i;
}

/* The fourth corner of the only square over a-u-b, GRAPH_NONE: none or several. */
static uint32_t corner(const struct finder *f, uint32_t u, uint32_t a, uint32_t b)
{
	uint32_t i = f->first[a], k = f->first[b], found = GRAPH_NONE;

	while (i < f->first[a + 1] && k < f->first[b + 1]) {
		uint32_t x = f->near[i], y = f->near[k];

		if (x == y && x != u) {
			if (found != GRAPH_NONE) {
				return GRAPH_NONE;
			}
			found = x;
		}
		i += x <= y;
		k += y <= x;
	}
	return found;
}

/* ---- classes and dimensions ---- */

/* Calls for each two links of each switch, with the corner across. */
typedef void corner_f(struct finder *f, uint32_t u, uint32_t i, uint32_t k,
                      uint32_t across);

static void each_corner(struct finder *f, corner_f *call)
{
	for (uint32_t u = 0; u < f->n; u++) {
		for (uint32_t i = f->first[u]; i < f->first[u + 1]; i++) {
			for (uint32_t k = i + 1; k < f->first[u + 1]; k++) {
				call(f, u, i, k, corner(f, u, f->near[i], f->near[k]));
			}
		}
	}
}

static void join_opposite(struct finder *f, uint32_t u, uint32_t i, uint32_t k,
                          uint32_t across)
{
	(void)u;
	if (across != GRAPH_NONE) {
		unite(f->cls, i, link_to(f, f->near[k], across));
		unite(f->cls, k, link_to(f, f->near[i], across));
	}
}

static uint64_t pair_key(struct finder *f, uint32_t i, uint32_t k)
{
	uint64_t x = root(f->cls, i), y = root(f->cls, k);

	return x < y ? x << 32 | y : y << 32 | x;
}

static void note_apart(struct finder *f, uint32_t u, uint32_t i, uint32_t k,
                       uint32_t across)
{
	(void)u;
	if (across != GRAPH_NONE) {
		f->apart[f->n_apart++] = pair_key(f, i, k);
	}
}

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void join_dimension(struct finder *f, uint32_t u, uint32_t i, uint32_t k,
                           uint32_t across)
{
	uint64_t key = pair_key(f, i, k);

	(void)u;
	if (across == GRAPH_NONE &&
	    !bsearch(&key, f->apart, f->n_apart, sizeof(key), by_key)) {
		unite(f->dim, root(f->cls, i), root(f->cls, k));
	}
}

/* A link and the same seen from its other end are one. */
static void join_ends(struct finder *f)
{
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
			unite(f->cls, i, link_to(f, f->near[i], s));
		}
	}
}

static int find_dimensions(struct finder *f)
{
	uint32_t n_links = f->first[f->n];

	f->cls = each_alone(f->tmp, n_links);
	f->dim = each_alone(f->tmp, n_links);
	f->apart =
		arena_array(f->tmp, (size_t)n_links * NEIGHBOURS_MAX, sizeof(*f->apart));
	if (!f->cls || !f->dim || !f->apart) {
		return -ENOMEM;
	}
	join_ends(f);
	each_corner(f, join_opposite);
	each_corner(f, note_apart);
	qsort(f->apart, f->n_apart, sizeof(*f->apart), by_key);
	each_corner(f, join_dimension);
	return E_OK;
}

static uint32_t dim_of(struct finder *f, uint32_t link)
{
	return root(f->dim, root(f->cls, link));
}

/* ---- coordinates ---- */

/* Slabs across one dimension: what hangs together without its links. */
static void find_slabs(struct finder *f, uint32_t dim)
{
	for (uint32_t s = 0; s < f->n; s++) {
		f->slab[s] = s;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
			if (dim_of(f, i) != dim) {
				unite(f->slab, s, f->near[i]);
			}
		}
	}
}

/* A slab and its neighbours across the dimension. */
struct place {
	uint32_t next[2], n_next, at;
};

static bool note_neighbour(struct place *p, uint32_t slab)
{
	for (uint32_t i = 0; i < p->n_next; i++) {
		if (p->next[i] == slab) {
			return true;
		}
	}
	if (p->n_next == 2) {
		return false;
	}
	p->next[p->n_next++] = slab;
	return true;
}

static bool join_slabs(struct finder *f, uint32_t dim, struct place *p)
{
	for (uint32_t s = 0; s < f->n; s++) {
		uint32_t here = root(f->slab, s);

		for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
			uint32_t there = root(f->slab, f->near[i]);

			if (dim_of(f, i) == dim &&
			    (here == there || !note_neighbour(&p[here], there))) {
				return false;
			}
		}
	}
	return true;
}

/* The end of a line with the lowest switch, or switch 0 of a ring. */
static uint32_t find_start(struct finder *f, const struct place *p)
{
	for (uint32_t s = 0; s < f->n; s++) {
		if (root(f->slab, s) == s && p[s].n_next == 1) {
			return s;
		}
	}
	return 0;
}

/* Numbers slabs from the start on. Returns how many were met. */
static uint32_t number_slabs(struct place *p, uint32_t start)
{
	uint32_t prev = GRAPH_NONE, at = start, n = 0;

	do {
		uint32_t next = GRAPH_NONE;

		p[at].at = n++;
		for (uint32_t i = p[at].n_next; i-- > 0;) {
			next = p[at].next[i] != prev ? p[at].next[i] : next;
		}
		prev = at;
		at = next;
	} while (at != GRAPH_NONE && at != start);
	return n;
}

static int place_switches(struct finder *f, struct lash_mesh *m, uint32_t dim, unsigned d)
{
	struct place *p = arena_array(f->tmp, f->n, sizeof(*p));
	uint32_t n_slabs = 0, start;

	if (!p) {
		return -ENOMEM;
	}
	find_slabs(f, dim);
	if (!join_slabs(f, dim, p)) {
		return E_UNSUITABLE;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		n_slabs += root(f->slab, s) == s;
	}
	start = find_start(f, p);
	m->size[d] = number_slabs(p, start);
	m->closed[d] = p[start].n_next == 2;
	for (uint32_t s = 0; s < f->n; s++) {
		m->at[(size_t)s * LASH_DIMS_MAX + d] = p[root(f->slab, s)].at;
	}
	return m->size[d] == n_slabs ? E_OK : E_UNSUITABLE;
}

/* ---- the whole ---- */

static int list_dimensions(struct finder *f, struct lash_mesh *m, uint32_t *ret_dim)
{
	for (uint32_t i = 0; i < f->first[f->n]; i++) {
		uint32_t dim = dim_of(f, i);
		unsigned d = 0;

		while (d < m->n_dims && ret_dim[d] != dim) {
			d++;
		}
		if (d == LASH_DIMS_MAX) {
			return E_UNSUITABLE;
		}
		ret_dim[d] = dim;
		m->n_dims += d == m->n_dims;
	}
	return m->n_dims ? E_OK : E_UNSUITABLE;
}

static void swap_dims(struct lash_mesh *m, uint32_t *dim, uint32_t n, unsigned d,
                      unsigned e)
{
	uint32_t size = m->size[d], x = dim[d];
	bool closed = m->closed[d];

	m->size[d] = m->size[e];
	m->size[e] = size;
	m->closed[d] = m->closed[e];
	m->closed[e] = closed;
	dim[d] = dim[e];
	dim[e] = x;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t *at = m->at + (size_t)s * LASH_DIMS_MAX;

		x = at[d];
		at[d] = at[e];
		at[e] = x;
	}
}

/* The longest first; of equal ones the one that was met first. */
static void sort_dims(struct lash_mesh *m, uint32_t *dim, uint32_t n)
{
	for (unsigned d = 1; d < m->n_dims; d++) {
		for (unsigned e = d; e && m->size[e - 1] < m->size[e]; e--) {
			swap_dims(m, dim, n, e - 1, e);
		}
	}
}

/* Switches by coordinates; fails when two have the same or there are too many places. */
static int order_switches(struct finder *f, struct lash_mesh *m)
{
	uint64_t places = 1;
	uint32_t *who, n = 0;

	for (unsigned d = 0; d < m->n_dims; d++) {
		places *= m->size[d];
		if (places > UINT64_C(4) * f->n + 64) {
			return E_UNSUITABLE;
		}
	}
	who = arena_array(f->tmp, places, sizeof(*who));
	if (!who) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		uint64_t i = 0;

		for (unsigned d = 0; d < m->n_dims; d++) {
			i = i * m->size[d] + m->at[(size_t)s * LASH_DIMS_MAX + d];
		}
		if (who[i]) {
			return E_UNSUITABLE;
		}
		who[i] = s + 1;
	}
	for (uint64_t i = 0; i < places; i++) {
		if (who[i]) {
			m->order[n++] = who[i] - 1;
		}
	}
	return E_OK;
}

static void name_links(struct finder *f, const struct lash_mesh *m, const uint32_t *dim)
{
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t c = f->g->adj_first[s]; c < f->g->adj_first[s + 1]; c++) {
			uint32_t x = dim_of(f, link_to(f, s, f->g->adj[c].to));
			uint8_t d = 0;

			while (dim[d] != x) {
				d++;
			}
			m->dim[c] = d;
		}
	}
}

static int find_mesh(struct finder *f, struct lash_mesh *m)
{
	uint32_t dim[LASH_DIMS_MAX + 1] = { 0 };
	int ret = find_neighbours(f);

	if (ret == E_OK) {
		ret = find_dimensions(f);
	}
	if (ret == E_OK) {
		ret = list_dimensions(f, m, dim);
	}
	for (unsigned d = 0; ret == E_OK && d < m->n_dims; d++) {
		ret = place_switches(f, m, dim[d], d);
	}
	if (ret == E_OK) {
		sort_dims(m, dim, f->n);
		ret = order_switches(f, m);
	}
	if (ret == E_OK) {
		name_links(f, m, dim);
	}
	return ret;
}

int lash_mesh_find(const struct graph *g, struct arena *a, struct lash_mesh *ret)
{
	struct finder f = { .g = g, .n = g->n_switches, .tmp = arena_new() };
	struct lash_mesh m = { .n_dims = 0 };
	int ret_code = -ENOMEM;

	if (!f.tmp) {
		return -ENOMEM;
	}
	f.slab = arena_array(f.tmp, f.n, sizeof(*f.slab));
	m.dim = arena_array(a, g->n_adj, sizeof(*m.dim));
	m.at = arena_array(a, (size_t)f.n * LASH_DIMS_MAX, sizeof(*m.at));
	m.order = arena_array(a, f.n, sizeof(*m.order));
	if (f.slab && m.dim && m.at && m.order) {
		ret_code = find_mesh(&f, &m);
	}
	if (ret_code == E_OK) {
		*ret = m;
	}
	arena_free(f.tmp);
	return ret_code;
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

bool lash_mesh_crosses(const struct lash_mesh *m, uint32_t s, uint32_t t, unsigned d)
{
	uint32_t a = m->at[(size_t)s * LASH_DIMS_MAX + d];
	uint32_t b = m->at[(size_t)t * LASH_DIMS_MAX + d];
	uint32_t low = a < b ? a : b, gap = a < b ? b - a : a - b;

	return m->closed[d] &&
	       (2 * gap > m->size[d] || (2 * gap == m->size[d] && low % 2));
}

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

bool lash_mesh_whole(const struct lash_mesh *m, const struct graph *g)
{
	uint64_t places = 1;

	for (unsigned d = 0; d < m->n_dims; d++) {
		places *= m->size[d];
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t want = 0;

		for (unsigned d = 0; d < m->n_dims; d++) {
			uint32_t at = m->at[(size_t)s * LASH_DIMS_MAX + d];
			bool first = !m->closed[d] && at == 0;
			bool last = !m->closed[d] && at + 1 == m->size[d];

			/* of two places each is the next of the other */
			last &= m->size[d] > 2;
			first |= m->size[d] == 2;
			want |= (uint32_t)!last << 2 * d | (uint32_t)!first << (2 * d + 1);
		}
		if (sides(m, g, s) != want) {
			return false;
		}
	}
	return places == g->n_switches;
}

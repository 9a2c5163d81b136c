/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Directions of links in a mesh or torus.
 *
 * Two links of a switch in different dimensions are sides of exactly one square; two links
 * in one dimension are sides of none. So:
 *  - opposite sides of a square have the same direction and form one class. This groups the
 *    links from one slab of the mesh to the next into one or a few classes;
 *  - a link that spans a square with all other links of its switch but one continues
 *    straight in that one, and the classes of both have one direction. A square with a
 *    missing side can suggest this wrongly. So the joins that most switches suggest come
 *    first, and classes that span a square anywhere never join. The dimensions found so far
 *    then show more straight pairs, until nothing new is found;
 *  - a direction and its opposite form a dimension.
 */
#include "routing/engines/lash/lash_squares.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/union_find.h"
#include "routing/graph/graph.h"

enum {
	NEIGHBOURS_MAX = 2 * LASH_DIMS_MAX,
	MANY = 255, /* more dimensions are not distinguished while directions are joined */
	WORD = 64
};

/* Two classes, and how many switches suggest that one continues straight in the other. */
struct class_pair {
	uint32_t a, b, votes;
};

struct finder {
	const struct graph *g;
	struct arena *tmp;
	uint32_t n;
	uint32_t *first; /* [n + 1] into near, back */
	uint32_t *near;
	uint32_t *back;
	uint32_t *spans; /* [first[n]] bit k: a square with the k-th link of the switch */
	uint32_t *cls;   /* [first[n]] union-find over directed links */
	uint32_t *dir;   /* [first[n]] union-find over classes, by root of cls */
	struct class_pair *apart; /* classes that span a square */
	size_t n_apart;
};

static uint32_t *each_alone(struct arena *a, uint32_t n)
{
	uint32_t *up = arena_array(a, n, sizeof(*up));

	if (up) {
		union_init(up, n);
	}
	return up;
}

/* ---- neighbours ---- */

/* Neighbours of one switch, ascending. Returns how many; NEIGHBOURS_MAX + 1: too many. */
static uint32_t neighbours(const struct graph *g, uint32_t s, uint32_t *ret_switches)
{
	uint32_t n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to, k = 0;

		while (k < n && ret_switches[k] < to) {
			k++;
		}
		if (k < n && ret_switches[k] == to) {
			continue;
		}
		if (n == NEIGHBOURS_MAX) {
			return NEIGHBOURS_MAX + 1;
		}
		memmove(ret_switches + k + 1, ret_switches + k,
		        (n - k) * sizeof(*ret_switches));
		ret_switches[k] = to;
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

/* The fourth corner of the only square with the sides a-u and u-b, GRAPH_NONE: none or
 * several. */
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

/* ---- classes ---- */

static uint32_t class_of(struct finder *f, uint32_t link)
{
	return union_find(f->cls, link);
}

/* A class or its opposite, whichever is lower. */
static uint32_t undirected(struct finder *f, uint32_t link)
{
	uint32_t a = class_of(f, link), b = class_of(f, f->back[link]);

	return a < b ? a : b;
}

static struct class_pair class_pair(uint32_t a, uint32_t b)
{
	return a < b ? (struct class_pair){ a, b, 1 } : (struct class_pair){ b, a, 1 };
}

static void note_apart(struct finder *f)
{
	for (uint32_t u = 0; u < f->n; u++) {
		for (uint32_t i = f->first[u]; i < f->first[u + 1]; i++) {
			for (uint32_t k = i + 1; k < f->first[u + 1]; k++) {
				if (f->spans[i] >> (k - f->first[u]) & 1) {
					f->apart[f->n_apart++] = class_pair(
						undirected(f, i), undirected(f, k));
				}
			}
		}
	}
}

/* Without squares there are only lines and rings. */
static bool may_be_mesh(const struct finder *f)
{
	for (uint32_t s = 0; s < f->n && !f->n_apart; s++) {
		if (f->first[s + 1] - f->first[s] > 2) {
			return false;
		}
	}
	return true;
}

static int by_classes(const void *a, const void *b)
{
	const struct class_pair *x = a, *y = b;

	return x->a != y->a ? (x->a > y->a) - (x->a < y->a)
	                    : (x->b > y->b) - (x->b < y->b);
}

static int by_votes(const void *a, const void *b)
{
	const struct class_pair *x = a, *y = b;

	return x->votes != y->votes ? (x->votes < y->votes) - (x->votes > y->votes)
	                            : by_classes(a, b);
}

/* Sorts pairs and keeps each once, with the votes of all. Returns how many. */
static size_t merge_equal(struct class_pair *p, size_t n)
{
	size_t kept = 0;

	qsort(p, n, sizeof(*p), by_classes);
	for (size_t i = 0; i < n; i++) {
		if (kept && by_classes(&p[kept - 1], &p[i]) == 0) {
			p[kept - 1].votes += p[i].votes;
		} else {
			p[kept++] = p[i];
		}
	}
	return kept;
}

static int find_classes(struct finder *f)
{
	uint32_t n_links = f->first[f->n];

	f->cls = each_alone(f->tmp, n_links);
	f->back = arena_array(f->tmp, n_links, sizeof(*f->back));
	f->spans = arena_array(f->tmp, n_links, sizeof(*f->spans));
	f->apart =
		arena_array(f->tmp, (size_t)n_links * NEIGHBOURS_MAX, sizeof(*f->apart));
	if (!f->cls || !f->back || !f->spans || !f->apart) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
			f->back[i] = link_to(f, f->near[i], s);
		}
	}
	for (uint32_t u = 0; u < f->n; u++) {
		for (uint32_t i = f->first[u]; i < f->first[u + 1]; i++) {
			for (uint32_t k = i + 1; k < f->first[u + 1]; k++) {
				uint32_t across = corner(f, u, f->near[i], f->near[k]),
					 i2, k2;

				/* Records which links span squares; opposite sides are
				 * of one class. */
				if (across == GRAPH_NONE) {
					continue;
				}
				i2 = link_to(f, f->near[k], across);
				k2 = link_to(f, f->near[i], across);
				f->spans[i] |= UINT32_C(1) << (k - f->first[u]);
				f->spans[k] |= UINT32_C(1) << (i - f->first[u]);
				union_join(f->cls, i, i2);
				union_join(f->cls, k, k2);
				union_join(f->cls, f->back[i], f->back[i2]);
				union_join(f->cls, f->back[k], f->back[k2]);
			}
		}
	}
	for (uint32_t i = 0; i < n_links; i++) {
		if (class_of(f, i) == class_of(f, f->back[i])) {
			return E_UNSUITABLE;
		}
	}
	note_apart(f);
	f->n_apart = merge_equal(f->apart, f->n_apart);
	return may_be_mesh(f) ? E_OK : E_UNSUITABLE;
}

/* ---- directions ---- */

/* The direction that represents the dimension of a class. */
static uint32_t dim_of_class(struct finder *f, uint32_t class)
{
	uint32_t a = union_find(f->dir, class),
		 b = union_find(f->dir, class_of(f, f->back[class]));

	return a < b ? a : b;
}

static uint32_t dim_of(struct finder *f, uint32_t link)
{
	return dim_of_class(f, class_of(f, link));
}

struct dimension {
	uint32_t dim, n_links;
};

static int by_links(const void *a, const void *b)
{
	const struct dimension *x = a, *y = b;

	return x->n_links != y->n_links
	               ? (x->n_links < y->n_links) - (x->n_links > y->n_links)
	               : (x->dim > y->dim) - (x->dim < y->dim);
}

/* Lists dimensions, those with most links first. \a ret_dimension: [links]. Returns how
 * many. */
static uint32_t list_dimensions(struct finder *f, struct dimension *ret_dimension)
{
	uint32_t n_links = f->first[f->n], n = 0;

	memset(ret_dimension, 0, n_links * sizeof(*ret_dimension));
	for (uint32_t i = 0; i < n_links; i++) {
		ret_dimension[dim_of(f, i)].n_links++;
	}
	for (uint32_t i = 0; i < n_links; i++) {
		if (ret_dimension[i].n_links) {
			ret_dimension[n++] =
				(struct dimension){ i, ret_dimension[i].n_links };
		}
	}
	qsort(ret_dimension, n, sizeof(*ret_dimension), by_links);
	return n;
}

/* The dimensions found so far, while directions are joined. */
struct joiner {
	struct finder *f;
	bool guess;
	struct dimension *list;      /* [links] */
	struct class_pair *straight; /* [links] */
	uint8_t *number; /* [links] of a dimension in the list; MANY: behind */
	/* by number: those with which it spans squares somewhere */
	uint64_t apart[MANY][MANY / WORD + 1];
};

static void number_dimensions(struct joiner *j)
{
	struct finder *f = j->f;
	uint32_t n = list_dimensions(f, j->list);

	memset(j->number, MANY, f->first[f->n]);
	memset(j->apart, 0, sizeof(j->apart));
	for (uint32_t i = 0; i < n && i < MANY; i++) {
		j->number[j->list[i].dim] = (uint8_t)i;
	}
	for (size_t i = 0; i < f->n_apart; i++) {
		uint8_t a = j->number[dim_of_class(f, f->apart[i].a)];
		uint8_t b = j->number[dim_of_class(f, f->apart[i].b)];

		if (a != MANY && b != MANY) {
			j->apart[a][b / WORD] |= UINT64_C(1) << b % WORD;
			j->apart[b][a / WORD] |= UINT64_C(1) << a % WORD;
		}
	}
}

static bool are_apart(const struct joiner *j, uint32_t link, uint32_t other)
{
	uint8_t a = j->number[dim_of(j->f, link)], b = j->number[dim_of(j->f, other)];

	return a != MANY && b != MANY && j->apart[a][b / WORD] >> b % WORD & 1;
}

/* The only link of switch u that may continue link i straight, GRAPH_NONE: none or
 * several. With a guess, of several the one in the dimension with most links. */
static uint32_t straight_on(const struct joiner *j, uint32_t u, uint32_t i)
{
	const struct finder *f = j->f;
	uint32_t found = GRAPH_NONE, n = 0;

	for (uint32_t k = f->first[u]; k < f->first[u + 1]; k++) {
		if (k == i || f->spans[i] >> (k - f->first[u]) & 1 ||
		    are_apart(j, i, k)) {
			continue;
		}
		if (n++ == 0 ||
		    j->number[dim_of(j->f, k)] < j->number[dim_of(j->f, found)]) {
			found = k;
		}
	}
	return n == 1 || j->guess ? found : GRAPH_NONE;
}

/* Joins two directions unless they or their dimensions are known to differ. */
static bool join_directions(struct joiner *j, uint32_t a, uint32_t b)
{
	struct finder *f = j->f;
	uint32_t back_a = class_of(f, f->back[a]), back_b = class_of(f, f->back[b]);

	if (union_find(f->dir, a) == union_find(f->dir, b) ||
	    union_find(f->dir, a) == union_find(f->dir, back_b) || are_apart(j, a, b)) {
		return false;
	}
	union_join(f->dir, a, b);
	union_join(f->dir, back_a, back_b);
	return true;
}

/* One round of joining directions. \return How many were joined. */
static size_t join_straight(struct joiner *j)
{
	size_t n, joined = 0;
	struct finder *f;

	number_dimensions(j);
	/* Pairs of links that lead to a switch and straight on from it. */
	f = j->f;
	n = 0;
	for (uint32_t u = 0; u < f->n; u++) {
		for (uint32_t i = f->first[u]; i < f->first[u + 1]; i++) {
			uint32_t k = straight_on(j, u, i);

			if (k != GRAPH_NONE && straight_on(j, u, k) == i) {
				j->straight[n++] = class_pair(class_of(f, f->back[i]),
				                              class_of(f, k));
			}
		}
	}
	n = merge_equal(j->straight, n);
	qsort(j->straight, n, sizeof(*j->straight), by_votes);
	for (size_t i = 0; i < n; i++) {
		if (join_directions(j, j->straight[i].a, j->straight[i].b)) {
			joined++;
			number_dimensions(j);
		}
	}
	return joined;
}

static int find_directions(struct finder *f, bool guess, struct lash_squares *ret_squares)
{
	uint32_t n_links = f->first[f->n], n;
	struct joiner j = { .f = f };

	f->dir = each_alone(f->tmp, n_links);
	j.list = arena_array(f->tmp, n_links, sizeof(*j.list));
	j.straight = arena_array(f->tmp, n_links, sizeof(*j.straight));
	j.number = arena_array(f->tmp, n_links, sizeof(*j.number));
	if (!f->dir || !j.list || !j.straight || !j.number) {
		return -ENOMEM;
	}
	while (join_straight(&j)) {
	}
	j.guess = guess;
	while (guess && join_straight(&j)) {
	}
	n = list_dimensions(f, j.list);
	/* a single link is no dimension if there are others */
	while (n > 1 && j.list[n - 1].n_links == 2) {
		n--;
	}
	ret_squares->n_dims = n < LASH_DIMS_MAX ? n : LASH_DIMS_MAX;
	for (unsigned i = 0; i < ret_squares->n_dims; i++) {
		ret_squares->dim[i] = j.list[i].dim;
	}
	return n ? E_OK : E_UNSUITABLE;
}

/* ---- all steps ---- */

int lash_squares_find(const struct graph *g, bool guess, struct arena *a,
                      struct lash_squares *ret_squares)
{
	struct finder f = { .g = g, .n = g->n_switches, .tmp = a };
	int ret = find_neighbours(&f);

	if (ret == E_OK) {
		ret = find_classes(&f);
	}
	if (ret == E_OK) {
		ret = find_directions(&f, guess, ret_squares);
	}
	if (ret == E_OK) {
		ret_squares->slab =
			arena_array(a, f.first[f.n], sizeof(*ret_squares->slab));
		ret_squares->direction =
			arena_array(a, f.first[f.n], sizeof(*ret_squares->direction));
		ret = ret_squares->slab && ret_squares->direction ? E_OK : -ENOMEM;
	}
	if (ret == E_OK) {
		/* the union-find trees become plain numbers */
		ret_squares->n = f.n;
		ret_squares->first = f.first;
		ret_squares->near = f.near;
		ret_squares->back = f.back;
		for (uint32_t i = 0; i < f.first[f.n]; i++) {
			ret_squares->slab[i] = class_of(&f, i);
			ret_squares->direction[i] =
				union_find(f.dir, ret_squares->slab[i]);
		}
	}
	return ret;
}

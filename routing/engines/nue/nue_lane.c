/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The initial dependencies of a lane.
 *
 * The spanning tree comes first, because it must always be available: it has a path from any
 * switch to any other, and all its turns together form no cycle. With an up/down order, the
 * parent of a switch is its highest neighbour, so that paths along the tree climb, then
 * descend.
 *
 * Why the tree of a grid is a comb. In a grid without wrap-around, dimension-order routes
 * form no cycle. Let the tree contain all lines of the highest dimension, those of the next
 * lower one at one end of these only, and so on. It turns from a higher dimension to a lower
 * one only there, on paths that lead away from the other links, and these turns form no
 * cycle with the others. So a lane can have both. A ring is a line that lacks one cable,
 * the one furthest from the root, because cables near the root are on shortest paths.
 */
#include "routing/engines/nue/nue_lane.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"

enum { DISTANCES = 2 * HOPS_NONE + 1 };

/* Working memory for one lane. */
struct builder {
	const struct nue_plan *plan;
	const struct graph *g;
	struct nue_lane *lane;
	unsigned n_dimensions;
	uint32_t *
		cable; /* [n_cables] one channel of each cable, those near the root first */
	uint32_t n_cables;
	/* [n_switches] distance from the root, or from the first switch of the
	 * connected part */
	uint8_t *away;
	/* [n_switches] union-find over connected switches */
	uint32_t *set;
	bool *in_line;   /* [n_adj] the cable belongs to the lines of its dimension */
	bool *in_tree;   /* [n_adj] */
	uint32_t *queue; /* [n_switches] */
};

static unsigned dimension_of(const struct builder *x, uint32_t c)
{
	return x->plan->dimension ? x->plan->dimension[c] : 0;
}

static uint32_t tail(const struct builder *x, uint32_t c)
{
	return x->plan->map->from[c];
}

static uint32_t head(const struct builder *x, uint32_t c)
{
	return x->g->adj[c].to;
}

/* ---- cables by distance ---- */

static void measure_from(struct builder *x, uint32_t root)
{
	for (uint32_t s = 0; s < x->g->n_switches; s++) {
		unsigned d = hops_between(x->plan->near, root, s);

		x->away[s] = d == HOPS_NONE ? x->away[s] : (uint8_t)d;
	}
}

static unsigned cable_distance(const struct builder *x, uint32_t c)
{
	return (unsigned)x->away[tail(x, c)] + x->away[head(x, c)];
}

static bool stands_for_cable(const struct builder *x, uint32_t c)
{
	return c < x->plan->map->back[c];
}

static void sort_cables(struct builder *x)
{
	uint32_t fill[DISTANCES] = { 0 }, sum = 0;

	for (uint32_t c = 0; c < x->g->n_adj; c++) {
		fill[cable_distance(x, c)] += stands_for_cable(x, c);
	}
	for (unsigned d = 0; d < DISTANCES; d++) {
		uint32_t n = fill[d];

		fill[d] = sum;
		sum += n;
	}
	for (uint32_t c = 0; c < x->g->n_adj; c++) {
		if (stands_for_cable(x, c)) {
			x->cable[fill[cable_distance(x, c)]++] = c;
		}
	}
	x->n_cables = sum;
}

/* ---- lines and tree ---- */

static void separate_all(struct builder *x)
{
	for (uint32_t s = 0; s < x->g->n_switches; s++) {
		x->set[s] = s;
	}
}

static uint32_t find_set(uint32_t *set, uint32_t s)
{
	while (set[s] != s) {
		set[s] = set[set[s]];
		s = set[s];
	}
	return s;
}

/* Keeps a cable if it joins two sets. */
static void keep_cable(struct builder *x, bool *kept, uint32_t c)
{
	uint32_t a = find_set(x->set, tail(x, c)), b = find_set(x->set, head(x, c));

	if (a != b) {
		x->set[a > b ? a : b] = a > b ? b : a;
		kept[c] = kept[x->plan->map->back[c]] = true;
	}
}

/* Sets the parents of all switches of a connected part by breadth-first search from
 * its root. */
static void set_parents(struct builder *x, uint32_t root, bool *done)
{
	uint32_t n = 1;

	x->queue[0] = root;
	done[root] = true;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = x->queue[i];

		for (uint32_t c = x->g->adj_first[s]; c < x->g->adj_first[s + 1]; c++) {
			uint32_t to = head(x, c);

			if (x->in_tree[c] && !done[to]) {
				done[to] = true;
				x->lane->up[to] = x->plan->map->back[c];
				x->queue[n++] = to;
			}
		}
	}
}

static int set_all_parents(struct builder *x, uint32_t root, struct arena *a)
{
	bool *done = arena_array(a, (size_t)x->g->n_switches + 1, sizeof(*done));

	if (!done) {
		return -ENOMEM;
	}
	memset(x->lane->up, 0xff, x->g->n_switches * sizeof(*x->lane->up));
	for (uint32_t i = 0; i < x->g->n_switches; i++) {
		uint32_t s = i ? i - (i <= root) : root; /* the root, then the others */

		if (!done[s]) {
			set_parents(x, s, done);
		}
	}
	return E_OK;
}

/* ---- dependencies ---- */

/* Is the dependency of channel \a c on channel \a next an initial one? */
typedef bool is_initial_f(const struct builder *x, uint32_t c, uint32_t next);

static bool in_tree(const struct builder *x, uint32_t c, uint32_t next)
{
	return x->in_tree[c] && x->in_tree[next];
}

static bool in_line(const struct builder *x, uint32_t c, uint32_t next)
{
	return x->in_line[c] && x->in_line[next] &&
	       dimension_of(x, c) == dimension_of(x, next);
}

static bool rises(const struct builder *x, uint32_t c, uint32_t next)
{
	return dimension_of(x, c) < dimension_of(x, next);
}

static bool climbs(const struct builder *x, uint32_t c)
{
	return x->plan->order[head(x, c)] < x->plan->order[tail(x, c)];
}

static bool keeps_order(const struct builder *x, uint32_t c, uint32_t next)
{
	return climbs(x, c) || !climbs(x, next);
}

static void add_dependencies(struct builder *x, is_initial_f *wanted)
{
	for (uint32_t c = 0; c < x->g->n_adj; c++) {
		uint32_t s = head(x, c);

		for (uint32_t k = x->g->adj_first[s]; k < x->g->adj_first[s + 1]; k++) {
			if (head(x, k) != tail(x, c) && wanted(x, c, k)) {
				cdg_add(&x->lane->cdg, c, k);
			}
		}
	}
}

/* ---- all ---- */

static int builder_init(struct builder *x, struct arena *a)
{
	size_t n = (size_t)x->g->n_switches + 1, n_adj = (size_t)x->g->n_adj + 1;
	const struct cdg_map *m = x->plan->map;

	x->cable = arena_array(a, n_adj, sizeof(*x->cable));
	x->away = arena_array(a, n, sizeof(*x->away));
	x->set = arena_array(a, n, sizeof(*x->set));
	x->queue = arena_array(a, n, sizeof(*x->queue));
	x->in_line = arena_array(a, n_adj, sizeof(*x->in_line));
	x->in_tree = arena_array(a, n_adj, sizeof(*x->in_tree));
	x->lane->up = arena_array(a, n, sizeof(*x->lane->up));
	x->lane->never = arena_array(a, n_adj * m->words, sizeof(*x->lane->never));
	if (!x->cable || !x->away || !x->set || !x->queue || !x->in_line || !x->in_tree ||
	    !x->lane->up || !x->lane->never) {
		return -ENOMEM;
	}
	return E_OK;
}

/* Builds tree and lines by distance from the root, and adds their turns. */
static int start_from_tree(struct builder *x, uint32_t root, struct arena *a)
{
	int ret;
	unsigned n;

	memset(x->away, HOPS_NONE, x->g->n_switches);
	measure_from(x, root);
	for (uint32_t s = 0; s < x->g->n_switches; s++) {
		if (x->away[s] == HOPS_NONE) {
			measure_from(x, s);
		}
	}
	sort_cables(x);
	n = 1;
	for (uint32_t c = 0; c < x->g->n_adj; c++) {
		n = dimension_of(x, c) + 1 > n ? dimension_of(x, c) + 1 : n;
	}
	x->n_dimensions = n;
	for (unsigned d = 0; d < x->n_dimensions; d++) {
		separate_all(x);
		for (uint32_t i = 0; i < x->n_cables; i++) {
			if (dimension_of(x, x->cable[i]) == d) {
				keep_cable(x, x->in_line, x->cable[i]);
			}
		}
	}
	separate_all(x);
	for (unsigned d = x->n_dimensions; d-- > 0;) {
		for (uint32_t i = 0; i < x->n_cables; i++) {
			uint32_t c = x->cable[i];

			if (dimension_of(x, c) == d && x->in_line[c]) {
				keep_cable(x, x->in_tree, c);
			}
		}
	}
	ret = set_all_parents(x, root, a);
	add_dependencies(x, in_tree);
	if (x->plan->dimension) {
		add_dependencies(x, in_line);
		add_dependencies(x, rises);
	}
	return ret;
}

int nue_lane_init(struct nue_lane *l, const struct nue_plan *p, uint32_t root,
                  struct arena *a)
{
	struct builder x = { .plan = p, .g = p->g, .lane = l };
	uint32_t *order = NULL;
	int ret = builder_init(&x, a);

	if (ret == E_OK && p->order) {
		const struct graph *g = x.g;
		uint32_t n = 0;

		/* a topological order of the channels: those that climb, from the
		 * bottom up, then those that descend, from the top down */
		order = arena_array(a, (size_t)g->n_adj + 1, sizeof(*order));
		for (uint32_t s = 0; order && s < g->n_switches; s++) {
			x.queue[x.plan->order[s]] = s;
		}
		for (uint32_t i = 0; order && i < 2 * g->n_switches; i++) {
			bool down = i >= g->n_switches;
			uint32_t s =
				x.queue[down ? i - g->n_switches : g->n_switches - 1 - i];

			for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
				if (climbs(&x, c) != down) {
					order[n++] = c;
				}
			}
		}
		ret = order ? E_OK : -ENOMEM;
	}
	if (ret == E_OK) {
		ret = cdg_init(&l->cdg, p->map, order, a);
	}
	if (ret == E_OK && p->order) {
		/* the tree of an up/down order: the parent is the highest neighbour */
		for (uint32_t s = 0; s < x.g->n_switches; s++) {
			uint32_t best = p->order[s];

			x.lane->up[s] = GRAPH_NONE;
			for (uint32_t c = x.g->adj_first[s]; c < x.g->adj_first[s + 1];
			     c++) {
				if (p->order[head(&x, c)] < best) {
					best = p->order[head(&x, c)];
					x.lane->up[s] = c;
				}
			}
		}
		add_dependencies(&x, keeps_order);
	} else if (ret == E_OK) {
		ret = start_from_tree(&x, root, a);
	}
	return ret;
}

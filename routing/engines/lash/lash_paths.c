/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * One path per pair of switches.
 *
 * On a mesh the path crosses the dimensions in one order, the longest first. Half around a
 * ring of even length both directions are equally long. Then the pair uses the same arc in
 * both directions, so that it passes a place on the ring in both directions or in none
 * (lash_cuts.c).
 *
 * On other fabrics the paths to one switch form a tree that grows from near to far; each
 * switch joins over the least used link. The first trees cannot know the later ones, so
 * each tree is grown again among all others, twice.
 */
#include "routing/engines/lash/lash_paths.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/lash/lash_cuts.h"
#include "routing/engines/lash/lash_mesh.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"

enum { ROUNDS = 3 };

static int paths_init(struct lash_paths *w, uint32_t n, struct arena *a)
{
	w->n = n;
	w->next = arena_array(a, (size_t)n * n, sizeof(*w->next));
	if (!w->next) {
		return -ENOMEM;
	}
	memset(w->next, 0xff, (size_t)n * n * sizeof(*w->next));
	return E_OK;
}

/* ---- meshes ---- */

/* Is the step to v on the arc of the ring that the pair uses? */
static bool is_arc(const struct lash_mesh *m, const struct lash_cuts *cuts, uint32_t s,
                   uint32_t v, uint32_t t, unsigned d)
{
	uint32_t from = m->at[(size_t)s * LASH_DIMS_MAX + d];
	uint32_t to = m->at[(size_t)t * LASH_DIMS_MAX + d];
	uint32_t over = m->at[(size_t)v * LASH_DIMS_MAX + d];
	bool up = over == (from + 1) % m->size[d];

	return up == ((from < to) != lash_cuts_wraps(cuts, m, s, t, d));
}

static uint32_t next_over_mesh(const struct graph *g, const struct hops *h,
                               const struct lash_mesh *m, const struct lash_cuts *cuts,
                               uint32_t s, uint32_t t)
{
	uint32_t best = GRAPH_NONE;
	unsigned closer = hops_between(h, s, t) - 1U, best_dim = LASH_DIMS_MAX;

	for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
		uint32_t v = g->adj[c].to;
		unsigned d = m->dim[c];

		if (d > best_dim || v == best || hops_between(h, v, t) != closer) {
			continue;
		}
		if (d < best_dim || is_arc(m, cuts, s, v, t, d)) {
			best = v;
			best_dim = d;
		}
	}
	return best;
}

int lash_paths_mesh(const struct graph *g, const struct hops *h,
                    const struct lash_mesh *m, const struct lash_cuts *cuts,
                    struct arena *a, struct lash_paths *ret_paths)
{
	struct lash_paths w;
	int ret = paths_init(&w, g->n_switches, a);

	if (ret != E_OK) {
		return ret;
	}
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t t = 0; t < w.n; t++) {
		for (uint32_t s = 0; s < w.n; s++) {
			if (s == t) {
				w.next[(size_t)t * w.n + s] = t;
			} else if (hops_between(h, s, t) != HOPS_NONE) {
				w.next[(size_t)t * w.n + s] =
					next_over_mesh(g, h, m, cuts, s, t);
			}
		}
	}
	*ret_paths = w;
	return E_OK;
}

/* ---- others ---- */

struct grower {
	const struct graph *g;
	const struct hops *h;
	uint32_t *load;       /* [n_adj] paths over the link */
	uint32_t *turns;      /* [n] turns of the path to the destination */
	const uint32_t *rank; /* [n] 0 at the top; NULL: turns are not counted */
	/* [n] among equal paths the one over the lowest is used; NULL: by load */
	const uint32_t *place;
	uint32_t *next; /* [n] row of the destination */
	uint32_t *link; /* [n] to the next switch; likewise */
};

static bool turns_up(const struct grower *w, uint32_t s, uint32_t v)
{
	const uint32_t *rank = w->rank;

	return rank && w->next[v] != v && rank[v] > rank[s] && rank[v] > rank[w->next[v]];
}

/* Adds one path to the load of its links, or removes it. */
static void add_path_load(const struct grower *w, uint32_t s, uint32_t paths)
{
	while (w->next[s] != s) {
		w->load[w->link[s]] += paths;
		s = w->next[s];
	}
}

static void take_tree_away(const struct grower *w)
{
	for (uint32_t s = 0; s < w->g->n_switches; s++) {
		if (w->next[s] != GRAPH_NONE) {
			add_path_load(w, s, UINT32_MAX);
		}
	}
}

/* The load of the links from a switch to the destination. */
static uint32_t path_load(const struct grower *w, uint32_t s)
{
	uint32_t sum = 0;

	while (w->next[s] != s) {
		sum += w->load[w->link[s]];
		s = w->next[s];
	}
	return sum;
}

/* Of paths with equally many turns: those that descend at first come first, then those over the
 * lowest place. Descending first leaves fewer kinds of dependencies, because the paths of a pair's
 * two directions climb last and end there. */
static uint64_t order_of(const struct grower *w, uint32_t s, uint32_t v)
{
	return (uint64_t)(w->rank[v] < w->rank[s]) << 31 | w->place[v];
}

static void grow_tree(const struct grower *w, uint32_t t)
{
	w->next[t] = t;
	w->turns[t] = 0;
	for (unsigned d = 1; d <= w->h->diameter; d++) {
		uint32_t n;
		const uint16_t *at = hops_at(w->h, t, d, &n);

		for (uint32_t i = 0; i < n; i++) {
			const struct graph *g = w->g;
			unsigned closer = hops_between(w->h, at[i], t) - 1U;
			uint64_t best = UINT64_MAX;

			for (uint32_t c = g->adj_first[at[i]];
			     c < g->adj_first[at[i] + 1]; c++) {
				uint32_t v = g->adj[c].to;
				uint64_t key;

				if (hops_between(w->h, v, t) != closer) {
					continue;
				}
				key = (uint64_t)(w->turns[v] + turns_up(w, at[i], v))
				              << 32 |
				      (w->place ? order_of(w, at[i], v)
				                : w->load[c] + path_load(w, v));
				if (key < best) {
					best = key;
					w->link[at[i]] = c;
				}
			}
			w->turns[at[i]] = (uint32_t)(best >> 32);
			w->next[at[i]] = g->adj[w->link[at[i]]].to;
			if (!w->place) {
				add_path_load(w, at[i], 1);
			}
		}
	}
}

static int grow_all(const struct graph *g, const struct hops *h, const uint32_t *rank,
                    const uint32_t *place, struct arena *a, struct lash_paths *ret_paths)
{
	struct lash_paths w;
	struct arena *tmp = arena_new();
	struct grower b = { .g = g, .h = h, .rank = rank, .place = place };
	size_t n = g->n_switches;
	uint32_t *link = tmp ? arena_array(tmp, n * n, sizeof(*link)) : NULL;
	int ret = -ENOMEM;

	if (!link) {
		goto out;
	}
	b.load = arena_array(tmp, g->n_adj, sizeof(*b.load));
	b.turns = arena_array(tmp, g->n_switches, sizeof(*b.turns));
	if (!b.load || !b.turns) {
		goto out;
	}
	ret = paths_init(&w, g->n_switches, a);
	if (ret != E_OK) {
		goto out;
	}
	for (unsigned round = 0; round < (place ? 1 : ROUNDS); round++) {
		for (uint32_t t = 0; t < w.n; t++) {
			b.next = w.next + t * n;
			b.link = link + t * n;
			if (round) {
				take_tree_away(&b);
			}
			grow_tree(&b, t);
		}
	}
	*ret_paths = w;
out:
	arena_free(tmp);
	return ret;
}

int lash_paths_balanced(const struct graph *g, const struct hops *h, struct arena *a,
                        struct lash_paths *ret_paths)
{
	return grow_all(g, h, NULL, NULL, a, ret_paths);
}

/* The switch with the least sum of distances to all others. */
static uint32_t find_center(const struct hops *h)
{
	uint64_t least = UINT64_MAX;
	uint32_t best = 0;

	for (uint32_t s = 0; s < h->n; s++) {
		uint64_t sum = 0;

		for (uint32_t t = 0; t < h->n; t++) {
			sum += hops_between(h, s, t);
		}
		best = sum < least ? s : best;
		least = sum < least ? sum : least;
	}
	return best;
}

int lash_paths_few_turns(const struct graph *g, const struct hops *h, struct arena *a,
                         struct lash_paths *ret_paths)
{
	uint32_t n = g->n_switches, root = h->n ? find_center(h) : 0;
	uint32_t *rank = arena_array(a, n, sizeof(*rank)), n_ranked = 0;

	if (!rank) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < n; s++) {
		rank[s] = n; /* another connected part: no order there */
	}
	for (unsigned d = 0; n && d <= h->diameter; d++) {
		uint32_t count;
		const uint16_t *at = hops_at(h, root, d, &count);

		for (uint32_t i = 0; i < count; i++) {
			rank[at[i]] = n_ranked++;
		}
	}
	return grow_all(g, h, rank, NULL, a, ret_paths);
}

/* ---- to switches of a tree ---- */

static bool has_hosts(const struct graph *g, uint32_t s)
{
	return g->host_first[s] != g->host_first[s + 1];
}

/* Breadth-first search from the n switches in the queue. \a ret_switches: hops to one of
 * them.
 * \return Length of the queue at the end. */
static uint32_t search_breadth_first(const struct graph *g, uint32_t *queue, uint32_t n,
                                     uint32_t *ret_switches)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = queue[i];

		for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
			uint32_t to = g->adj[c].to;

			if (ret_switches[to] == GRAPH_NONE) {
				ret_switches[to] = ret_switches[s] + 1;
				queue[n++] = to;
			}
		}
	}
	return n;
}

/* Hops to the next switch with hosts. */
static uint32_t find_levels(const struct graph *g, uint32_t *queue, uint32_t *level)
{
	uint32_t n = 0;

	memset(level, 0xff, g->n_switches * sizeof(*level));
	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (has_hosts(g, s)) {
			level[s] = 0;
			queue[n++] = s;
		}
	}
	n = search_breadth_first(g, queue, n, level);
	return n ? level[queue[n - 1]] : 0;
}

int lash_paths_management(const struct graph *g, const struct hops *h, struct arena *a,
                          struct lash_paths *ret_paths)
{
	uint32_t n = g->n_switches, n_ranked = 0, top;
	uint32_t *queue = arena_array(a, n, sizeof(*queue));
	uint32_t *level = arena_array(a, n, sizeof(*level));
	uint32_t *place = arena_array(a, n, sizeof(*place));
	uint32_t *rank = arena_array(a, n, sizeof(*rank));
	uint32_t n_placed;

	if (!queue || !level || !place || !rank) {
		return -ENOMEM;
	}
	/* Places by breadth-first search from one switch with hosts per part, so that
	 * the switches of a pod are adjacent whatever their GUIDs. */
	n_placed = 0;
	memset(place, 0xff, g->n_switches * sizeof(*place));
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t first = n_placed;

		if (place[s] != GRAPH_NONE || !has_hosts(g, s)) {
			continue;
		}
		queue[first] = s;
		place[s] = 0;
		n_placed += search_breadth_first(g, queue + first, 1, place);
		for (uint32_t i = first; i < n_placed; i++) {
			place[queue[i]] = i;
		}
	}
	top = find_levels(g, queue, level);
	/* from the top down; connected parts without hosts need no order */
	for (uint32_t l = top + 1; l-- > 0;) {
		for (uint32_t s = 0; s < n; s++) {
			if (level[s] == l) {
				rank[s] = n_ranked++;
			}
		}
	}
	return grow_all(g, h, rank, place, a, ret_paths);
}

void lash_paths_closer(const void *ctx, uint32_t s, uint32_t t,
                       const struct sw_link *link, uint32_t n_links, unsigned max,
                       struct spread_ports *ret_ports)
{
	const struct lash_paths *w = ctx;
	uint32_t to = w->next[(size_t)t * w->n + s];
	unsigned n = 0;

	for (uint32_t i = 0; i < n_links && n < max; i++) {
		if (link[i].to == to) {
			ret_ports->port[n] = link[i].port;
			ret_ports->to[n] = to;
			n++;
		}
	}
	ret_ports->n = n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Up/down routing over a total order of the switches; shared by updn and dnup.
 *
 * The order. Ranks alone are not enough. The top switches of a tree have no switch above
 * them, so none of them reaches another, and when one cable is missing some of them do not
 * even reach all hosts. Therefore the order is grown from its top: the next switch is
 * always the one of best rank among the neighbours of those that are placed already. Every
 * switch but the first then has a neighbour above it. In a healthy tree the first core
 * switch is followed by one switch below it, this one by its other core switches, and so
 * on. One switch per group of cores and one leaf switch stand higher than their rank. All
 * shortest paths between hosts are still allowed if each core has at most one neighbour
 * above it, so that no path between hosts must turn upwards there.
 *
 * In some trees two switches of a pod have cables to the same cores. The cores that follow
 * one of them then stand above the other, so the leaf switch, which stands above both,
 * would lose its way up through the other one. With keeps_paths all neighbours of the leaf
 * switch follow it before the cores do. The neighbours above a core are then switches of one
 * pod, and no shortest path between hosts turns upwards there either.
 *
 * The paths. Forwarding tables know only the destination, so a switch that packets may
 * enter from above must forward them down. For each destination, switches are reached one
 * hop at a time, the nearest first. A switch that is first reached from below only, over
 * a path that descends, gets such a path, and its upper neighbours may use it: it is open
 * from above. A switch that is first reached from a neighbour above it, or from both
 * sides, may use all these ports, but its upper neighbours may not use it.
 *
 * Every switch of the part is reached. Of those that are reached, look at the one highest
 * in the order. It was reached from below only, because a neighbour above would be reached
 * and higher, so it is open from above. If it had a neighbour above, that one would be
 * reached through it. So it is the top, and all others reach the top by climbing.
 *
 * 64 destinations advance together, one bit each, as in hops.c.
 *
 * Sources: Schroeder et al. 1991, "Autonet: a high-speed, self-configuring local area
 * network using point-to-point links"; Sancho, Robles, Duato 2000, "A flexible routing
 * scheme for networks of workstations", for orders other than by breadth-first search.
 */
#include "routing/spread/updown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/spread/groups.h"
#include "routing/spread/repair.h"
#include "routing/spread/spread_options.h"

enum { BITS = 64 };

/* ---- the order ---- */

/* Switches next to those that are placed, best first: a binary heap of keys. */
struct heap {
	uint64_t *key; /* rank, depth, place by rank and id: 16, 16 and 32 bits */
	uint32_t n;
};

static void heap_push(struct heap *h, uint64_t key)
{
	uint32_t i = h->n++;

	for (; i && h->key[(i - 1) / 2] > key; i = (i - 1) / 2) {
		h->key[i] = h->key[(i - 1) / 2];
	}
	h->key[i] = key;
}

static uint64_t heap_pop(struct heap *h)
{
	uint64_t top = h->key[0], key = h->key[--h->n];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		child += child + 1 < h->n && h->key[child + 1] < h->key[child];
		if (h->key[child] >= key) {
			break;
		}
		h->key[i] = h->key[child];
		i = child;
	}
	h->key[i] = key;
	return top;
}

struct named {
	uint64_t id;
	uint32_t sw;
	uint16_t rank;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->rank != y->rank) {
		return x->rank < y->rank ? -1 : 1;
	}
	if (x->id != y->id) {
		return x->id < y->id ? -1 : 1;
	}
	return x->sw < y->sw ? -1 : x->sw > y->sw;
}

/* Working memory to grow the order. */
struct grow {
	const struct graph *g;
	const struct updown_rule *rule;
	struct named *by_place; /* [n] by rank and id */
	uint32_t *place;        /* [n] position there, of each switch */
	uint16_t *depth;        /* [n] hops from the top, as the order grew */
	uint32_t *part;         /* [n] GRAPH_NONE: not reached yet */
	struct heap heap;
};

static void push_switch(struct grow *x, uint32_t s, uint32_t part, unsigned depth)
{
	x->part[s] = part;
	x->depth[s] = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX);
	heap_push(&x->heap, (uint64_t)x->rule->rank[s] << 48 |
	                            (uint64_t)(x->rule->by_depth ? x->depth[s] : 0)
	                                    << 32 |
	                            x->place[s]);
}

/* Queues the neighbours that are not reached yet and have a rank below a limit. Returns how
 * many. */
static unsigned push_neighbours(struct grow *x, uint32_t s, uint32_t limit)
{
	const struct graph *g = x->g;
	unsigned n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if (x->part[to] == GRAPH_NONE && x->rule->rank[to] < limit) {
			push_switch(x, to, x->part[s], x->depth[s] + 1U);
			n++;
		}
	}
	return n;
}

static uint32_t grow_part(struct grow *x, uint32_t top, uint32_t part, uint32_t n,
                          uint32_t *pos)
{
	push_switch(x, top, part, 0);
	while (x->heap.n) {
		uint32_t placed[1 + SPREAD_PORTS_MAX];
		unsigned n_placed = 0, n_best = 1;

		/* the best one; then its neighbours of a better rank, if they follow it:
		 * they are better than all others that are queued */
		for (; n_best; n_best--) {
			uint32_t s = x->by_place[(uint32_t)heap_pop(&x->heap)].sw;

			pos[s] = n++;
			if (n_placed == 0 && x->rule->keeps_paths) {
				n_best += push_neighbours(x, s, x->rule->rank[s]);
			}
			placed[n_placed++] = s;
		}
		for (unsigned i = 0; i < n_placed; i++) {
			push_neighbours(x, placed[i], UINT32_MAX);
		}
	}
	return n;
}

int updown_order(const struct graph *g, const struct updown_rule *rule, struct arena *a,
                 uint32_t **ret_pos, uint32_t **ret_part)
{
	uint32_t n = g->n_switches, placed = 0, n_parts = 0;
	struct grow x = { .g = g, .rule = rule };
	uint32_t *pos = arena_array(a, n, sizeof(*pos));

	if (n > UINT16_MAX) {
		return E_RANGE;
	}
	x.by_place = arena_array(a, n, sizeof(*x.by_place));
	x.place = arena_array(a, n, sizeof(*x.place));
	x.depth = arena_array(a, n, sizeof(*x.depth));
	x.part = arena_array(a, n, sizeof(*x.part));
	x.heap.key = arena_array(a, n, sizeof(*x.heap.key));
	if (!pos || !x.by_place || !x.place || !x.depth || !x.part || !x.heap.key) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < n; s++) {
		x.part[s] = GRAPH_NONE;
		x.by_place[s] = (struct named){
			.id = rule->id ? rule->id[s] : g->nodes[g->switches[s]].guid,
			.sw = s,
			.rank = rule->rank[s],
		};
	}
	qsort(x.by_place, n, sizeof(*x.by_place), compare_named);
	for (uint32_t i = 0; i < n; i++) {
		x.place[x.by_place[i].sw] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = x.by_place[i].sw;

		if (x.part[s] == GRAPH_NONE) {
			placed = grow_part(&x, s, n_parts++, placed, pos);
		}
	}
	*ret_pos = pos;
	if (ret_part) {
		*ret_part = x.part;
	}
	return E_OK;
}

/* ---- the paths ---- */

/* Neighbours of each switch, those above it first. */
struct sides {
	uint32_t n;
	const uint32_t *first; /* [n + 1] into to, as graph.adj_first */
	uint32_t *split;       /* [n] first of those below */
	uint32_t *to;
};

static int sides_init(struct sides *x, const struct graph *g, const uint32_t *pos,
                      struct arena *a)
{
	*x = (struct sides){ .n = g->n_switches, .first = g->adj_first };
	x->split = arena_array(a, x->n, sizeof(*x->split));
	x->to = arena_array(a, g->n_adj, sizeof(*x->to));
	if (!x->split || !x->to) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < x->n; s++) {
		uint32_t up = g->adj_first[s], down = g->adj_first[s + 1];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			bool above = pos[g->adj[i].to] < pos[s];

			x->to[above ? up++ : --down] = g->adj[i].to;
		}
		x->split[s] = up;
	}
	return E_OK;
}

/* Bits of one thread, a word per switch and a bit per destination. */
struct wave {
	uint64_t *now,
		*now_open; /* reached with the last hop; of these: open from above */
	uint64_t *next, *next_open; /* likewise with this hop */
	uint64_t *seen;             /* reached at all */
};

enum { WAVE_WORDS = 5 };

static void swap(uint64_t **a, uint64_t **b)
{
	uint64_t *x = *a;

	*a = *b;
	*b = x;
}

/* Reaches the switches one hop further. Returns whether there were any. */
static bool advance(const struct sides *x, struct wave *w)
{
	uint64_t any = 0;

	for (uint32_t s = 0; s < x->n; s++) {
		uint64_t up = 0, down = 0, fresh;
		uint32_t i = x->first[s];

		for (; i < x->split[s]; i++) {
			up |= w->now[x->to[i]];
		}
		for (; i < x->first[s + 1]; i++) {
			down |= w->now_open[x->to[i]];
		}
		fresh = (up | down) & ~w->seen[s];
		w->next[s] = fresh;
		w->next_open[s] = fresh & down & ~up;
		any |= fresh;
	}
	return any != 0;
}

/* Finds paths to up to 64 destinations. Returns the longest, HOPS_NONE: too long. */
static unsigned search_block(struct updown *u, const struct sides *x, struct wave *w,
                             uint32_t first)
{
	size_t bytes = x->n * sizeof(*w->now);

	memset(w->now, 0, bytes);
	for (uint32_t k = 0; k < BITS && first + k < x->n; k++) {
		size_t at = (size_t)(first + k) * u->hops.stride + first + k;

		w->now[first + k] = UINT64_C(1) << k;
		u->hops.dist[at] = u->down[at] = 0;
	}
	memcpy(w->now_open, w->now, bytes);
	memcpy(w->seen, w->now, bytes);
	for (unsigned d = 1;; d++) {
		if (!advance(x, w)) {
			return d - 1;
		}
		if (d == HOPS_NONE) {
			return HOPS_NONE;
		}
		for (uint32_t s = 0; s < x->n; s++) {
			size_t at = (size_t)s * u->hops.stride + first;

			for (uint64_t bits = w->next[s]; bits; bits &= bits - 1) {
				unsigned k = (unsigned)__builtin_ctzll(bits);
				bool is_open = w->next_open[s] >> k & 1;

				u->hops.dist[at + k] = (uint8_t)d;
				u->down[at + k] = is_open ? (uint8_t)d : HOPS_NONE;
			}
			w->seen[s] |= w->next[s];
		}
		swap(&w->now, &w->next);
		swap(&w->now_open, &w->next_open);
	}
}

static int find_paths(struct updown *u, const struct sides *x, struct arena *tmp)
{
	unsigned threads = column_threads(), longest = 0;
	struct wave *wave = arena_array(tmp, threads, sizeof(*wave));
	uint64_t *words =
		arena_array(tmp, (size_t)threads * WAVE_WORDS * x->n, sizeof(*words));
	uint32_t n_blocks = (x->n + BITS - 1) / BITS;

	if (!wave || !words) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < threads; i++) {
		uint64_t *w = words + (size_t)i * WAVE_WORDS * x->n;
		size_t n = x->n;

		wave[i] = (struct wave){ w, w + n, w + 2 * n, w + 3 * n, w + 4 * n };
	}
#pragma omp parallel for schedule(dynamic, 1) reduction(max : longest)
	for (uint32_t b = 0; b < n_blocks; b++) {
		unsigned d = search_block(u, x, &wave[column_thread()], b * BITS);

		longest = d > longest ? d : longest;
	}
	u->hops.diameter = longest;
	return longest >= HOPS_NONE ? E_RANGE : E_OK;
}

int updown_find(struct updown *u, const struct graph *g, const uint32_t *pos,
                struct arena *a)
{
	struct updown x = { .pos = pos };
	struct arena *tmp = arena_new();
	struct sides sides;
	int ret = -ENOMEM;

	if (!tmp || sides_init(&sides, g, pos, tmp) != E_OK) {
		goto out;
	}
	ret = hops_alloc(&x.hops, g->n_switches, a);
	if (ret != E_OK) {
		goto out;
	}
	x.down = arena_array(a, g->n_switches, x.hops.stride);
	if (!x.down) {
		ret = -ENOMEM;
		goto out;
	}
	memset(x.down, HOPS_NONE, g->n_switches * x.hops.stride);
	ret = find_paths(&x, &sides, tmp);
	if (ret == E_OK) {
		*u = x;
	}
out:
	arena_free(tmp);
	return ret;
}

int updown_init(struct updown *u, const struct graph *g, const uint32_t *pos,
                struct arena *a)
{
	struct updown x;
	int ret = updown_find(&x, g, pos, a);

	if (ret == E_OK) {
		ret = hops_index(&x.hops, a);
	}
	if (ret == E_OK) {
		*u = x;
	}
	return ret;
}

void updown_closer(const void *ctx, uint32_t s, uint32_t t, const struct sw_link *link,
                   uint32_t n_links, unsigned max, struct spread_ports *ret_ports)
{
	const struct updown *u = ctx;
	const uint8_t *dist = u->hops.dist + t, *down = u->down + t;
	size_t stride = u->hops.stride;
	uint32_t here = u->pos[s];
	uint8_t closer = (uint8_t)(dist[s * stride] - 1U);
	unsigned n = 0;

	for (uint32_t i = 0; i < n_links && n < max; i++) {
		uint32_t to = link[i].to;
		/* If s is open from above, no neighbour above it is closer. */
		const uint8_t *by = u->pos[to] > here ? down : dist;

		if (by[to * stride] == closer) {
			ret_ports->port[n] = link[i].port;
			ret_ports->to[n] = to;
			n++;
		}
	}
	ret_ports->n = n;
}

/* ---- an engine ---- */

/* What spreading needs; it points into itself. */
struct updown_job {
	struct updown paths;
	struct spread_tune tune;
	struct spread_groups groups;
	struct spread spread;
	_Atomic bool keeps_others;
};

static int prepare(struct updown_job *j, const struct route_in *in,
                   const struct updown_rule *rule, const struct spread_options *o,
                   struct arena *tmp, struct why *notes)
{
	uint32_t *pos;
	int ret = updown_order(in->g, rule, tmp, &pos, NULL);

	*j = (struct updown_job){ .spread = { .g = in->g,
		                              .lids = in->lids,
		                              .hops = &j->paths.hops,
		                              .closer = updown_closer,
		                              .ctx = &j->paths,
		                              .prev = in->prev,
		                              .keeps_others =
		                                      in->keep_by_rule
		                                              ? NULL
		                                              : &j->keeps_others,
		                              .even = true,
		                              .tune = &j->tune,
		                              .cancel = in->cancel } };
	if (ret == E_OK) {
		ret = updown_find(&j->paths, in->g, pos, tmp);
	}
	if (ret == E_RANGE) {
		why_add(notes,
		        "an up/down path of more than %u hops, or more than %u switches",
		        HOPS_NONE - 1U, UINT16_MAX);
		ret = E_UNSUITABLE;
	}
	if (ret == E_OK) {
		ret = spread_tune_init(&j->tune, o, in->g, tmp, notes);
	}
	return ret == E_OK ? spread_keep_order(in, tmp, notes, &j->groups, &j->spread)
	                   : ret;
}

int updown_route(const struct route_in *in, const struct updown_rule *rule,
                 const struct spread_options *o, struct arena *a,
                 struct route_out *ret_out)
{
	struct arena *tmp = arena_new();
	struct updown_job j;
	struct lft lft;
	int ret;

	if (!tmp) {
		return -ENOMEM;
	}
	ret = prepare(&j, in, rule, o, tmp, &ret_out->notes);
	if (ret == E_OK) {
		ret = hops_index(&j.paths.hops, tmp);
	}
	if (ret == E_OK) {
		ret = lft_init(&lft, in->g->n_switches, in->lids->top, a);
	}
	if (ret == E_OK) {
		ret = spread_run(&j.spread, &lft, tmp);
	}
	if (ret == E_OK) {
		ret_out->lft = lft;
		ret_out->lanes = (struct lanes){ .n = 1 };
		ret_out->keeps_others = j.keeps_others;
	}
	arena_free(tmp);
	return ret;
}

int updown_repair(const struct route_in *in, const struct updown_rule *rule,
                  struct route_repair *r, struct arena *tmp, struct why *why)
{
	struct updown_job j;
	int ret = prepare(&j, in, rule, NULL, tmp, why);

	return ret == E_OK ? spread_repair(&j.spread, r, tmp) : ret;
}

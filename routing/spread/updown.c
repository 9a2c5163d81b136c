/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Up/down routes over a line of switches; shared by updn and dnup.
 *
 * The line. Ranks alone are not enough: the top switches of a tree have nobody above
 * them, so none of them reaches another, and when one cable is missing, some of them do
 * not even reach all hosts. Therefore the line is grown from its top: the next switch is
 * always the one of best rank among the neighbours of those that stand already. Every
 * switch but the first then has a neighbour above it. In a healthy tree the first core
 * switch is followed by one switch below it, this one by its other core switches, and so
 * on; one switch per group of cores and one leaf switch stand higher than their rank. The
 * shortest paths between hosts are still all allowed: each core has one neighbour above
 * it at most, so no path between hosts must turn upwards there.
 *
 * The paths. Forwarding tables know only the destination, so one who may be entered from
 * above must go down from there. For each destination switches are reached one hop at a
 * time, nearest first. One that is reached only from below it on paths that descend gets
 * such a path, and its upper neighbours may use it. One that is also, or only, reached
 * from a neighbour above it may use all these ways, but is closed to its upper
 * neighbours. That can leave somebody without a path; for such a destination one that is
 * reached in both ways takes the descending ways alone, and where this is not enough
 * either, a switch that can descend to the destination at all does so, be the path
 * longer. This last rule leaves nobody out: who can descend is open to all, who cannot
 * can climb.
 *
 * 64 destinations advance at once, one bit each, as in hops.c.
 *
 * Sources: Schroeder et al. 1991, "Autonet: a high-speed, self-configuring local area
 * network using point-to-point links"; Sancho, Robles, Duato 2000, "A flexible routing
 * scheme for networks of workstations", for lines other than by breadth-first search.
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
#include "routing/spread/spread_options.h"

enum { BITS = 64 };

/* ---- the line ---- */

/* Switches that have a neighbour in the line, best first: a binary heap of keys. */
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

/* What growing the line needs. */
struct grow {
	const struct graph *g;
	const struct updown_rule *rule;
	struct named *by_place; /* [n] by rank and id */
	uint32_t *place;        /* [n] position there, of each switch */
	uint16_t *depth;        /* [n] hops from the top, along the line's growth */
	uint32_t *part;         /* [n] GRAPH_NONE: nobody has reached it */
	struct heap heap;
};

static void reach(struct grow *x, uint32_t s, uint32_t part, unsigned depth)
{
	x->part[s] = part;
	x->depth[s] = (uint16_t)(depth < UINT16_MAX ? depth : UINT16_MAX);
	heap_push(&x->heap, (uint64_t)x->rule->rank[s] << 48 |
	                            (uint64_t)(x->rule->by_depth ? x->depth[s] : 0)
	                                    << 32 |
	                            x->place[s]);
}

static uint32_t grow_part(struct grow *x, uint32_t top, uint32_t part, uint32_t n,
                          uint32_t *pos)
{
	const struct graph *g = x->g;

	reach(x, top, part, 0);
	while (x->heap.n) {
		uint32_t s = x->by_place[(uint32_t)heap_pop(&x->heap)].sw;

		pos[s] = n++;
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (x->part[g->adj[i].to] == GRAPH_NONE) {
				reach(x, g->adj[i].to, part, x->depth[s] + 1U);
			}
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
	uint32_t *lowest; /* [n] switches, the bottom of the line first */
	const uint32_t *part;
	bool one_part;
};

static int sides_init(struct sides *x, const struct graph *g, const uint32_t *pos,
                      const uint32_t *part, struct arena *a)
{
	*x = (struct sides){
		.n = g->n_switches, .first = g->adj_first, .part = part, .one_part = true
	};
	x->split = arena_array(a, x->n, sizeof(*x->split));
	x->to = arena_array(a, g->n_adj, sizeof(*x->to));
	x->lowest = arena_array(a, x->n, sizeof(*x->lowest));
	if (!x->split || !x->to || !x->lowest) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < x->n; s++) {
		uint32_t up = g->adj_first[s], down = g->adj_first[s + 1];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			bool above = pos[g->adj[i].to] < pos[s];

			x->to[above ? up++ : --down] = g->adj[i].to;
		}
		x->split[s] = up;
		x->lowest[x->n - 1 - pos[s]] = s;
		x->one_part &= part[s] == 0;
	}
	return E_OK;
}

/* Bits of one thread, a word per switch and a bit per destination. */
struct wave {
	uint64_t *now,
		*now_down; /* reached with the last hop; of these: open from above */
	uint64_t *next, *next_down; /* with this hop */
	uint64_t *seen;             /* ever */
	uint64_t *descends; /* can the switch descend to the destination at all? */
};

enum { WAVE_WORDS = 6 };

/* Destinations under the stricter rules. */
struct rules {
	uint64_t prefer_down, always_down;
};

static uint64_t advance(const struct sides *x, struct wave *w, const struct rules *r)
{
	uint64_t any = 0;

	for (uint32_t s = 0; s < x->n; s++) {
		uint64_t up = 0, down = 0, fresh;
		uint32_t i = x->first[s];

		for (; i < x->split[s]; i++) {
			up |= w->now[x->to[i]];
		}
		for (; i < x->first[s + 1]; i++) {
			down |= w->now_down[x->to[i]];
		}
		up &= ~(r->always_down & w->descends[s]);
		fresh = (up | down) & ~w->seen[s];
		w->next[s] = fresh;
		w->next_down[s] = fresh & down & (~up | r->prefer_down);
		any |= fresh;
	}
	return any;
}

static void note_arrivals(struct updown *u, struct wave *w, uint32_t first, unsigned d)
{
	for (uint32_t s = 0; s < u->hops.n; s++) {
		size_t at = (size_t)s * u->hops.stride + first;

		for (uint64_t bits = w->next[s]; bits; bits &= bits - 1) {
			unsigned k = (unsigned)__builtin_ctzll(bits);
			bool down = w->next_down[s] >> k & 1;

			u->hops.dist[at + k] = (uint8_t)d;
			u->down[at + k] = down ? (uint8_t)d : HOPS_NONE;
		}
		w->seen[s] |= w->next[s];
	}
}

/* The destinations themselves. */
static void start_wave(struct updown *u, struct wave *w, uint32_t first)
{
	size_t bytes = u->hops.n * sizeof(*w->now);

	memset(w->now, 0, bytes);
	for (uint32_t k = 0; k < BITS && first + k < u->hops.n; k++) {
		size_t at = (size_t)(first + k) * u->hops.stride + first + k;

		w->now[first + k] = UINT64_C(1) << k;
		u->hops.dist[at] = u->down[at] = 0;
	}
	memcpy(w->now_down, w->now, bytes);
	memcpy(w->seen, w->now, bytes);
}

static void find_descents(const struct sides *x, struct wave *w)
{
	memcpy(w->descends, w->now, x->n * sizeof(*w->now));
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t s = x->lowest[i];

		for (uint32_t k = x->split[s]; k < x->first[s + 1]; k++) {
			w->descends[s] |= w->descends[x->to[k]];
		}
	}
}

static void swap(uint64_t **a, uint64_t **b)
{
	uint64_t *x = *a;

	*a = *b;
	*b = x;
}

/* Paths to up to 64 destinations. Returns the longest, HOPS_NONE: too long. */
static unsigned search(struct updown *u, const struct sides *x, struct wave *w,
                       uint32_t first, const struct rules *r)
{
	start_wave(u, w, first);
	if (r->always_down) {
		find_descents(x, w);
	} else {
		memset(w->descends, 0, x->n * sizeof(*w->descends));
	}
	for (unsigned d = 1;; d++) {
		if (!advance(x, w, r)) {
			return d - 1;
		}
		if (d == HOPS_NONE) {
			return HOPS_NONE;
		}
		note_arrivals(u, w, first, d);
		swap(&w->now, &w->next);
		swap(&w->now_down, &w->next_down);
	}
}

/* Destinations of the block that somebody of their part did not reach. */
static uint64_t left_out(const struct sides *x, const struct wave *w, uint32_t first)
{
	uint32_t n = x->n - first < BITS ? x->n - first : BITS;
	uint64_t all = ~UINT64_C(0) >> (BITS - n), out = 0;

	for (uint32_t s = 0; s < x->n; s++) {
		uint64_t wanted = x->one_part ? all : 0;

		for (uint32_t k = 0; !x->one_part && k < n; k++) {
			wanted |= (uint64_t)(x->part[first + k] == x->part[s]) << k;
		}
		out |= wanted & ~w->seen[s];
	}
	return out;
}

static unsigned search_block(struct updown *u, const struct sides *x, struct wave *w,
                             uint32_t first)
{
	struct rules r = { 0, 0 };
	unsigned d = search(u, x, w, first, &r);

	r.prefer_down = left_out(x, w, first);
	if (r.prefer_down) {
		d = search(u, x, w, first, &r);
		r.always_down = left_out(x, w, first);
	}
	if (r.always_down) {
		d = search(u, x, w, first, &r);
	}
	return d;
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

		wave[i] = (struct wave){ w,         w + n,     w + 2 * n,
			                 w + 3 * n, w + 4 * n, w + 5 * n };
	}
#pragma omp parallel for schedule(dynamic, 1) reduction(max : longest)
	for (uint32_t b = 0; b < n_blocks; b++) {
		unsigned d = search_block(u, x, &wave[column_thread()], b * BITS);

		longest = d > longest ? d : longest;
	}
	u->hops.diameter = longest;
	return longest >= HOPS_NONE ? E_RANGE : E_OK;
}

int updown_init(struct updown *u, const struct graph *g, const uint32_t *pos,
                const uint32_t *part, struct arena *a)
{
	struct updown x = { .pos = pos };
	struct arena *tmp = arena_new();
	struct sides sides;
	int ret = -ENOMEM;

	if (!tmp || sides_init(&sides, g, pos, part, tmp) != E_OK) {
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
		ret = hops_index(&x.hops, a);
	}
	if (ret == E_OK) {
		*u = x;
	}
out:
	arena_free(tmp);
	return ret;
}

void updown_closer(const void *ctx, uint32_t s, uint32_t t, const struct sw_link *link,
                   uint32_t n_links, unsigned max, struct spread_ports *ret)
{
	const struct updown *u = ctx;
	const uint8_t *dist = u->hops.dist + t, *down = u->down + t;
	size_t stride = u->hops.stride;
	uint32_t here = u->pos[s];
	uint8_t closer = (uint8_t)(dist[s * stride] - 1U);
	/* Who is open from above goes down alone. */
	uint32_t above = down[s * stride] == HOPS_NONE ? here : 0;
	unsigned n = 0;

	for (uint32_t i = 0; i < n_links && n < max; i++) {
		uint32_t to = link[i].to, pos = u->pos[to];
		const uint8_t *by = pos > here ? down : dist;

		if ((pos > here || pos < above) && by[to * stride] == closer) {
			ret->port[n] = link[i].port;
			ret->to[n] = to;
			n++;
		}
	}
	ret->n = n;
}

/* ---- an engine ---- */

static int fill(const struct route_in *in, const struct updown *u,
                const struct spread_options *o, struct arena *tmp, struct arena *a,
                struct route_out *ret)
{
	struct spread_tune tune;
	const struct spread spread = {
		.g = in->g,
		.lids = in->lids,
		.hops = &u->hops,
		.closer = updown_closer,
		.ctx = u,
		.prev = in->prev,
		.even = true,
		.tune = &tune,
		.cancel = in->cancel,
	};
	struct lft lft;
	int ret_code = spread_tune_init(&tune, o, in->g, tmp, &ret->notes);

	if (ret_code == E_OK) {
		ret_code = lft_init(&lft, in->g->n_switches, in->lids->top, a);
	}
	if (ret_code == E_OK) {
		ret_code = spread_run(&spread, &lft, tmp);
	}
	if (ret_code == E_OK) {
		ret->lft = lft;
		ret->lanes = (struct lanes){ .n = 1 };
	}
	return ret_code;
}

int updown_route(const struct route_in *in, const struct updown_rule *rule,
                 const struct spread_options *o, struct arena *a, struct route_out *ret)
{
	struct arena *tmp = arena_new();
	uint32_t *pos, *part;
	struct updown u;
	int ret_code;

	if (!tmp) {
		return -ENOMEM;
	}
	ret_code = updown_order(in->g, rule, tmp, &pos, &part);
	if (ret_code == E_OK) {
		ret_code = updown_init(&u, in->g, pos, part, tmp);
	}
	if (ret_code == E_OK) {
		ret_code = fill(in, &u, o, tmp, a, ret);
	} else if (ret_code == E_RANGE) {
		why_add(&ret->notes,
		        "an up/down path of more than %u hops, or more than %u switches",
		        HOPS_NONE - 1U, UINT16_MAX);
		ret_code = E_UNSUITABLE;
	}
	arena_free(tmp);
	return ret_code;
}

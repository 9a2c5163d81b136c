/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/spread/leaves.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"

/* ---- heights ---- */

enum {
	BITS = 64,
	SHARES = 8,
	TRIED_SHARES = 6,
	MAX_TRIES = 2 * (TRIED_SHARES + 1),
	NEARLY = 16
};

/* Breadth first from the switches that have height 0. queue: [n_switches]. */
static void spread_heights(const struct graph *g, uint16_t *height, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (height[s] == 0) {
			queue[tail++] = s;
		}
	}
	while (head < tail) {
		uint32_t s = queue[head++];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;

			if (height[to] == LEAVES_HEIGHT_NONE &&
			    height[s] + 1U < LEAVES_HEIGHT_NONE) {
				height[to] = (uint16_t)(height[s] + 1U);
				queue[tail++] = to;
			}
		}
	}
}

int leaves_distances(const struct graph *g, struct arena *a, uint16_t **ret_distances)
{
	uint16_t *height = arena_array(a, g->n_switches, sizeof(*height));
	uint32_t *queue = arena_array(a, g->n_switches, sizeof(*queue));

	if (!height || !queue) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		height[s] = leaves_hosts_on(g, s) ? 0 : LEAVES_HEIGHT_NONE;
	}
	spread_heights(g, height, queue);
	*ret_distances = height;
	return E_OK;
}

/* ---- pairs of hosts that heights connect ---- */

/* Data of a graph for counting pairs; it does not depend on heights. */
struct pairing {
	const struct graph *g;
	uint32_t *home; /* [n_homes] switches with hosts */
	uint32_t n_homes;
	uint32_t *order; /* [n] switches, the lowest first */
	uint32_t *fill;  /* [LEAVES_HEIGHT_NONE + 2] */
	uint64_t *reach; /* [n] bit per home of the block */
	uint64_t all;
};

/* Ordered pairs of hosts on different switches, part by part. queue, seen: [n_switches]
 */
static uint64_t count_all(const struct graph *g, uint32_t *queue, bool *seen)
{
	uint64_t all = 0;

	for (uint32_t root = 0; root < g->n_switches; root++) {
		uint64_t hosts = 0, same = 0;
		uint32_t head = 0, tail = 0;

		if (!seen[root]) {
			seen[root] = true;
			queue[tail++] = root;
		}
		while (head < tail) {
			uint32_t s = queue[head++];

			hosts += leaves_hosts_on(g, s);
			same += (uint64_t)leaves_hosts_on(g, s) * leaves_hosts_on(g, s);
			for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
				uint32_t to = g->adj[i].to;

				if (!seen[to]) {
					seen[to] = true;
					queue[tail++] = to;
				}
			}
		}
		all += hosts * hosts - same;
	}
	return all;
}

static int pairing_init(struct pairing *x, const struct graph *g, struct arena *a)
{
	bool *seen = arena_array(a, g->n_switches, sizeof(*seen));

	*x = (struct pairing){ .g = g };
	x->home = arena_array(a, g->n_switches, sizeof(*x->home));
	x->order = arena_array(a, g->n_switches, sizeof(*x->order));
	x->fill = arena_array(a, LEAVES_HEIGHT_NONE + 2, sizeof(*x->fill));
	x->reach = arena_array(a, g->n_switches, sizeof(*x->reach));
	if (!seen || !x->home || !x->order || !x->fill || !x->reach) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (leaves_hosts_on(g, s)) {
			x->home[x->n_homes++] = s;
		}
	}
	x->all = count_all(g, x->order, seen);
	return E_OK;
}

static void order_by_height(struct pairing *x, const uint16_t *height)
{
	uint32_t sum = 0;

	memset(x->fill, 0, (LEAVES_HEIGHT_NONE + 2) * sizeof(*x->fill));
	for (uint32_t s = 0; s < x->g->n_switches; s++) {
		x->fill[height[s] + 1U]++;
	}
	for (uint32_t h = 0; h <= LEAVES_HEIGHT_NONE; h++) {
		sum += x->fill[h];
		x->fill[h] = sum;
	}
	for (uint32_t s = 0; s < x->g->n_switches; s++) {
		x->order[x->fill[height[s]]++] = s;
	}
}

/* Adds what the lower, or else the higher neighbours reach. */
static void gather(struct pairing *x, const uint16_t *height, uint32_t s, bool from_above)
{
	const struct graph *g = x->g;
	uint64_t sum = x->reach[s];

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if (from_above ? height[to] > height[s] : height[to] < height[s]) {
			sum |= x->reach[to];
		}
	}
	x->reach[s] = sum;
}

/* Which of 64 switches with hosts, from first on, each switch descends to. */
static void find_below(struct pairing *x, const uint16_t *height, uint32_t first)
{
	memset(x->reach, 0, x->g->n_switches * sizeof(*x->reach));
	for (uint32_t k = first; k < x->n_homes && k < first + BITS; k++) {
		x->reach[x->home[k]] = UINT64_C(1) << (k - first);
	}
	for (uint32_t i = 0; i < x->g->n_switches; i++) {
		gather(x, height, x->order[i], false);
	}
}

static uint64_t count_connected(struct pairing *x, const uint16_t *height)
{
	const struct graph *g = x->g;
	uint64_t connected = 0;

	order_by_height(x, height);
	for (uint32_t first = 0; first < x->n_homes; first += BITS) {
		find_below(x, height, first);
		for (uint32_t i = g->n_switches; i-- > 0;) {
			gather(x, height, x->order[i], true);
		}
		for (uint32_t k = 0; k < x->n_homes; k++) {
			uint64_t bits = x->reach[x->home[k]], hosts = 0;

			if (k >= first && k - first < BITS) {
				bits &= ~(UINT64_C(1) << (k - first));
			}
			for (; bits; bits &= bits - 1) {
				hosts += leaves_hosts_on(
					g,
					x->home[first + (uint32_t)__builtin_ctzll(bits)]);
			}
			connected += hosts * leaves_hosts_on(g, x->home[k]);
		}
	}
	return connected;
}

int leaves_pairs(const struct graph *g, const uint16_t *height, struct arena *a,
                 struct leaves_pairs *ret_pairs)
{
	struct pairing x;
	int ret = pairing_init(&x, g, a);

	if (ret != E_OK) {
		return ret;
	}
	ret_pairs->all = x.all;
	ret_pairs->connected = count_connected(&x, height);
	return E_OK;
}

/* Do all switches above this one descend to the same? */
static bool same_above(const struct pairing *x, const uint16_t *height, uint32_t s)
{
	const struct graph *g = x->g;
	uint32_t first = GRAPH_NONE;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if (height[to] <= height[s]) {
			continue;
		}
		if (first != GRAPH_NONE && x->reach[to] != x->reach[first]) {
			return false;
		}
		first = to;
	}
	return true;
}

int leaves_alike(const struct graph *g, const uint16_t *height, struct arena *a,
                 bool *ret_alike)
{
	struct pairing x;
	int ret = pairing_init(&x, g, a);
	bool alike = true;

	if (ret != E_OK) {
		return ret;
	}
	order_by_height(&x, height);
	for (uint32_t first = 0; alike && first < x.n_homes; first += BITS) {
		find_below(&x, height, first);
		for (uint32_t s = 0; alike && s < g->n_switches; s++) {
			alike = same_above(&x, height, s);
		}
	}
	*ret_alike = alike;
	return E_OK;
}

int leaves_straight(const struct graph *g, struct arena *tmp, bool *ret_straight)
{
	struct leaves_pairs pairs = { 0, 0 };
	bool straight = g->n_aggregation == 0;
	uint16_t *height;
	int ret = leaves_heights(g, tmp, &height);

	for (uint32_t s = 0; ret == E_OK && straight && s < g->n_switches; s++) {
		straight = !height[s] || g->host_first[s] == g->host_first[s + 1];
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			straight &= height[g->adj[i].to] != height[s];
		}
	}
	if (ret == E_OK && straight) {
		ret = leaves_pairs(g, height, tmp, &pairs);
		straight = pairs.connected == pairs.all;
	}
	if (ret == E_OK && straight) {
		ret = leaves_alike(g, height, tmp, &straight);
	}
	*ret_straight = straight;
	return ret;
}

/* ---- shortest routes that heights allow ---- */

/* Routes from one switch: their length and how many there are of it. */
struct routes {
	uint32_t hops;
	uint32_t n;
};

enum { ROUTES_MAX = 1 << 20, SAMPLES = 32 };

static struct routes add_routes(struct routes sum, struct routes via)
{
	if (!via.n || (sum.n && sum.hops <= via.hops)) {
		return sum;
	}
	if (sum.n && sum.hops == via.hops + 1) {
		sum.n = sum.n + via.n < ROUTES_MAX ? sum.n + via.n : ROUTES_MAX;
		return sum;
	}
	return (struct routes){ .hops = via.hops + 1, .n = via.n };
}

/* Shortest routes from a switch to all others, up and then down. up, all: [n] */
static void count_routes(const struct pairing *x, const uint16_t *height, uint32_t from,
                         struct routes *up, struct routes *all)
{
	const struct graph *g = x->g;

	memset(up, 0, g->n_switches * sizeof(*up));
	up[from].n = 1;
	for (uint32_t i = 0; i < g->n_switches; i++) {
		uint32_t s = x->order[i];

		for (uint32_t k = g->adj_first[s]; s != from && k < g->adj_first[s + 1];
		     k++) {
			uint32_t to = g->adj[k].to;

			if (height[to] < height[s]) {
				up[s] = add_routes(up[s], up[to]);
			}
		}
	}
	memcpy(all, up, g->n_switches * sizeof(*all));
	for (uint32_t i = g->n_switches; i-- > 0;) {
		uint32_t s = x->order[i];

		for (uint32_t k = g->adj_first[s]; s != from && k < g->adj_first[s + 1];
		     k++) {
			uint32_t to = g->adj[k].to;

			if (height[to] > height[s]) {
				all[s] = add_routes(all[s], all[to]);
			}
		}
	}
}

/* ---- which switches with hosts are leaves? ---- */

/* A set of leaves and what comes of it. */
struct set {
	bool *leaf;       /* [n] */
	uint16_t *height; /* [n] */
	uint64_t connected; /* pairs of hosts */
	uint64_t routes;  /* shortest ones from a sample of the switches with hosts */
};

struct choice {
	const struct graph *g;
	struct pairing pairs;
	bool *side;              /* [n] which of two sides a switch stands on */
	bool *heavy;             /* [n] that side has the most hosts of its part */
	uint32_t *queue;         /* [n] */
	struct routes *up, *all; /* [n] */
	struct set tried[MAX_TRIES + 1]; /* and one more, for the next */
	unsigned n_tried;
};

static int choice_init(struct choice *c, const struct graph *g, struct arena *a)
{
	uint32_t n = g->n_switches;

	*c = (struct choice){ .g = g };
	c->side = arena_array(a, n, sizeof(*c->side));
	c->heavy = arena_array(a, n, sizeof(*c->heavy));
	c->queue = arena_array(a, n, sizeof(*c->queue));
	c->up = arena_array(a, n, sizeof(*c->up));
	c->all = arena_array(a, n, sizeof(*c->all));
	for (unsigned i = 0; i <= MAX_TRIES; i++) {
		c->tried[i].leaf = arena_array(a, n, sizeof(*c->tried->leaf));
		c->tried[i].height = arena_array(a, n, sizeof(*c->tried->height));
		if (!c->tried[i].leaf || !c->tried[i].height) {
			return -ENOMEM;
		}
	}
	if (!c->side || !c->heavy || !c->queue || !c->up || !c->all) {
		return -ENOMEM;
	}
	return pairing_init(&c->pairs, g, a);
}

/* Colours each part with two sides, as far as its cables allow, and finds the side with
 * clearly the most hosts: half as many again. A ring or a mesh has equally many on both,
 * and all its switches are as good as leaves. */
static void find_sides(struct choice *c)
{
	const struct graph *g = c->g;
	uint16_t *seen = c->tried[MAX_TRIES].height;

	memset(seen, 0, g->n_switches * sizeof(*seen));
	for (uint32_t root = 0; root < g->n_switches; root++) {
		uint64_t hosts[2] = { 0, 0 };
		uint32_t head = 0, tail = 0;

		if (!seen[root]) {
			seen[root] = 1;
			c->queue[tail++] = root;
		}
		while (head < tail) {
			uint32_t s = c->queue[head++];

			hosts[c->side[s]] += leaves_hosts_on(g, s);
			for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
				uint32_t to = g->adj[i].to;

				if (!seen[to]) {
					seen[to] = 1;
					c->side[to] = !c->side[s];
					c->queue[tail++] = to;
				}
			}
		}
		for (uint32_t i = 0; i < tail; i++) {
			bool side = c->side[c->queue[i]];

			c->heavy[c->queue[i]] = 2 * hosts[!side] <= 3 * hosts[side];
		}
	}
}

/* Adds the set unless it was there before, or leaves a part without a leaf. The first,
 * all switches with hosts, is always added. */
static void add_set(struct choice *c)
{
	const struct graph *g = c->g;
	struct set *set = &c->tried[c->n_tried];

	for (unsigned i = 0; i < c->n_tried; i++) {
		if (!memcmp(c->tried[i].leaf, set->leaf,
		            g->n_switches * sizeof(*set->leaf))) {
			return;
		}
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		set->height[s] = set->leaf[s] ? 0 : LEAVES_HEIGHT_NONE;
	}
	spread_heights(g, set->height, c->queue);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (set->height[s] == LEAVES_HEIGHT_NONE && leaves_hosts_on(g, s)) {
			return;
		}
	}
	c->n_tried++;
}

/* Routes between hosts: those from some of the switches stand for all. */
static uint64_t sample_routes(struct choice *c, const uint16_t *height)
{
	const struct pairing *x = &c->pairs;
	uint32_t n = x->n_homes < SAMPLES ? x->n_homes : SAMPLES;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = x->home[(uint64_t)i * x->n_homes / n];
		uint64_t routes = 0;

		count_routes(x, height, from, c->up, c->all);
		for (uint32_t k = 0; k < x->n_homes; k++) {
			routes += (uint64_t)leaves_hosts_on(c->g, x->home[k]) *
			          c->all[x->home[k]].n;
		}
		sum += routes * leaves_hosts_on(c->g, from);
	}
	return sum;
}

/* Of the sets that connect most pairs, or nearly, the one with most routes. */
static const struct set *best_set(struct choice *c)
{
	const struct set *best = &c->tried[0];
	uint64_t most = 0;

	for (unsigned i = 0; i < c->n_tried; i++) {
		struct set *set = &c->tried[i];

		set->connected = count_connected(&c->pairs, set->height);
		set->routes = sample_routes(c, set->height);
		most = set->connected > most ? set->connected : most;
	}
	most -= c->pairs.all / NEARLY;
	for (unsigned i = 1; i < c->n_tried; i++) {
		const struct set *set = &c->tried[i];
		bool fewer = best->connected < most && set->connected > best->connected;

		if (set->connected >= c->pairs.all / 4 * 3 &&
		    (fewer || (set->connected >= most && set->routes > best->routes))) {
			best = set;
		}
	}
	return best;
}

int leaves_heights(const struct graph *g, struct arena *a, uint16_t **ret_heights)
{
	uint32_t most = 0;
	struct choice c;
	int ret = choice_init(&c, g, a);

	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		most = leaves_hosts_on(g, s) > most ? leaves_hosts_on(g, s) : most;
	}
	find_sides(&c);
	for (unsigned kind = 0; kind < 2; kind++) {
		for (uint32_t share = 0; share <= TRIED_SHARES; share++) {
			bool *leaf = c.tried[c.n_tried].leaf;

			for (uint32_t s = 0; s < g->n_switches; s++) {
				leaf[s] = leaves_hosts_on(g, s) * SHARES > most * share &&
				          (kind == 0 || c.heavy[s]);
			}
			add_set(&c);
		}
	}
	*ret_heights = c.n_tried > 1 ? best_set(&c)->height : c.tried[0].height;
	return E_OK;
}

int leaves_ranks(const struct graph *g, struct arena *a, uint16_t **ret_ranks)
{
	uint16_t *rank, top = 0;
	int ret = leaves_heights(g, a, &rank);

	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		top = rank[s] != LEAVES_HEIGHT_NONE && rank[s] > top ? rank[s] : top;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (rank[s] != LEAVES_HEIGHT_NONE) {
			rank[s] = (uint16_t)(top - rank[s]);
		}
	}
	*ret_ranks = rank;
	return E_OK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What follows from the heights of leaves.c: the order of switches with hosts, the places
 * of their hosts, and the load that must leave a switch or a pod.
 */
#include "routing/spread/leaves.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/union_find.h"
#include "routing/graph/graph.h"

/* ---- the order of switches with hosts ---- */

/* Share of places that hosts fill where they are held, and where they are full. */
enum { PLACES_FILLED = 3, PLACES_OF = 4, FULL_FILLED = 15, FULL_OF = 16 };
/* Of so many switches one in this number makes a kind. */
enum { FEW_HOMES = 16 };

void leaves_sort_unions(uint32_t *unions, uint32_t n_switches, uint32_t *list,
                        uint32_t n_list, uint32_t *count, uint32_t *list_tmp)
{
	uint32_t sum = 0;

	memset(count, 0, n_switches * sizeof(*count));
	for (uint32_t i = 0; i < n_list; i++) {
		count[union_find(unions, list[i])]++;
	}
	for (uint32_t s = 0; s < n_switches; s++) {
		uint32_t n = count[s];

		count[s] = sum;
		sum += n;
	}
	for (uint32_t i = 0; i < n_list; i++) {
		list_tmp[count[union_find(unions, list[i])]++] = list[i];
	}
	memcpy(list, list_tmp, n_list * sizeof(*list));
}

/* Joins switches of a height to those below them. Returns whether there are any. */
static bool join_height(const struct graph *g, const uint16_t *height, unsigned r,
                        uint32_t *unions)
{
	bool any = false;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (height[s] != r) {
			continue;
		}
		any = true;
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (height[g->adj[i].to] == r - 1) {
				union_join(unions, s, g->adj[i].to);
			}
		}
	}
	return any;
}

static bool leaves_touch(const struct graph *g, const uint16_t *height)
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (height[s] == 0 && height[g->adj[i].to] == 0) {
				return true;
			}
		}
	}
	return false;
}

int leaves_order(const struct graph *g, struct arena *a, uint32_t **ret_leaves,
                 uint32_t *ret_n)
{
	uint32_t n = g->n_switches, n_leaves = 0;
	uint32_t *leaf = arena_array(a, n, sizeof(*leaf));
	uint32_t *unions = arena_array(a, n, sizeof(*unions));
	uint32_t *count = arena_array(a, n, sizeof(*count));
	uint32_t *sorted = arena_array(a, n, sizeof(*sorted));
	uint16_t *height;
	int ret = leaves_heights(g, a, &height);

	if (ret != E_OK || !leaf || !unions || !count || !sorted) {
		return -ENOMEM;
	}
	union_init(unions, n);
	for (uint32_t s = 0; s < n; s++) {
		if (leaves_hosts_on(g, s)) {
			leaf[n_leaves++] = s;
		}
	}
	for (unsigned r = 1; !leaves_touch(g, height) && r < LEAVES_HEIGHT_NONE &&
	                     join_height(g, height, r, unions);
	     r++) {
		leaves_sort_unions(unions, n, leaf, n_leaves, count, sorted);
	}
	*ret_leaves = leaf;
	*ret_n = n_leaves;
	return E_OK;
}

/* Hosts of one kind: at which ports, and on how many switches how many of them. */
struct census {
	const struct graph *g;
	const bool *is_one;
	bool value;
	uint32_t at[256];    /* by switch port */
	uint32_t count[256]; /* by hosts of a switch */
	uint32_t n_homes, n_hosts;
};

/* Is a host of the other kind where one of this kind may be on another switch? */
static bool is_mixed(const struct census *c, const uint32_t *leaf, uint32_t n_leaves)
{
	const struct graph *g = c->g;

	for (uint32_t i = 0; c->is_one && i < n_leaves; i++) {
		uint32_t s = leaf[i];

		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
			uint32_t peer = g->ports[g->hosts[h]].peer;

			if (c->is_one[g->hosts[h]] != c->value &&
			    c->at[g->ports[peer].num]) {
				return true;
			}
		}
	}
	return false;
}

/* Places of a switch by its hosts. Returns those of all switches. */
static uint64_t size_homes(const struct census *c, struct leaf_places *ret_places)
{
	uint32_t size = ret_places->n, least = c->n_homes / FEW_HOMES;
	uint64_t sum = 0;

	for (unsigned k = 0; k < 256; k++) {
		ret_places->size[k] = size;
	}
	for (uint32_t half = size / 2; half; half /= 2) {
		uint32_t n_small = 0;

		for (uint32_t k = half; k > half / 2; k--) {
			n_small += c->count[k];
		}
		size = n_small >= (least < 4 ? 4 : least) ? half : size;
		for (uint32_t k = half; k > half / 2; k--) {
			ret_places->size[k] = size;
		}
	}
	for (unsigned k = 1; k < 256; k++) {
		sum += (uint64_t)ret_places->size[k] * c->count[k];
	}
	return sum;
}

void leaves_places(const struct graph *g, const uint32_t *leaf, uint32_t n_leaves,
                   const bool *is_one, bool value, struct leaf_places *ret_places)
{
	struct census c = { .g = g, .is_one = is_one, .value = value };
	uint32_t n_more = 0;
	uint64_t n_places;

	*ret_places = (struct leaf_places){ .n = 0 };
	for (uint32_t i = 0; i < n_leaves; i++) {
		uint32_t n = 0;

		for (uint32_t h = g->host_first[leaf[i]]; h < g->host_first[leaf[i] + 1];
		     h++) {
			if (!is_one || is_one[g->hosts[h]] == value) {
				c.at[g->ports[g->ports[g->hosts[h]].peer].num]++;
				n++;
			}
		}
		c.count[n]++;
		c.n_homes += n > 0;
		c.n_hosts += n;
	}
	/* ports by the switches that have a host there */
	for (unsigned p = 0; p < 256; p++) {
		ret_places->rank[p] = ret_places->n;
		ret_places->n += c.at[p] && 2 * c.at[p] >= c.n_homes;
	}
	for (unsigned p = 0; p < 256 && ret_places->n; p++) {
		if (c.at[p] && 2 * c.at[p] < c.n_homes) {
			ret_places->rank[p] = n_more++ % ret_places->n;
		}
	}
	n_places = size_homes(&c, ret_places);
	ret_places->full = (uint64_t)c.n_hosts * FULL_OF >=
	                   (uint64_t)ret_places->n * c.n_homes * FULL_FILLED;
	/* empty places take part, too: with many of them links would carry unequal shares */
	if (!ret_places->n ||
	    (uint64_t)c.n_hosts * PLACES_OF < n_places * PLACES_FILLED ||
	    is_mixed(&c, leaf, n_leaves)) {
		ret_places->n = 0;
		ret_places->full = false;
	}
}

/* ---- what must leave a part of a tree ---- */

/* The largest load per link that comes out of one of the sets of switches. hosts, links:
 * [n] working memory. */
static uint64_t heaviest_set(const struct graph *g, uint32_t *unions, const uint64_t *all,
                             uint64_t *hosts, uint64_t *links)
{
	uint64_t most = 0;

	memset(hosts, 0, g->n_switches * sizeof(*hosts));
	memset(links, 0, g->n_switches * sizeof(*links));
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t set = union_find(unions, s);

		hosts[set] += leaves_hosts_on(g, s);
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			links[set] += union_find(unions, g->adj[i].to) != set;
		}
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint64_t crossing = hosts[s] * (all[s] - hosts[s]),
			 least = links[s] ? (crossing + links[s] - 1) / links[s] : 0;

		most = least > most ? least : most;
	}
	return most;
}

int leaves_least_load(const struct graph *g, bool pods, struct arena *a,
                      uint64_t *ret_load)
{
	uint32_t n = g->n_switches;
	uint32_t *unions = arena_array(a, n, sizeof(*unions));
	uint64_t *hosts = arena_array(a, n, sizeof(*hosts));
	uint64_t *links = arena_array(a, n, sizeof(*links));
	uint64_t *all = arena_array(a, n, sizeof(*all)), most, least;
	uint16_t *height = NULL;
	int ret = pods ? leaves_heights(g, a, &height) : E_OK;

	if (ret != E_OK || !unions || !hosts || !links || !all) {
		return -ENOMEM;
	}
	/* all: hosts in the connected part of each switch */
	union_init(unions, n);
	for (uint32_t s = 0; s < n; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			union_join(unions, s, g->adj[i].to);
		}
	}
	for (uint32_t s = 0; s < n; s++) {
		hosts[union_find(unions, s)] += leaves_hosts_on(g, s);
	}
	for (uint32_t s = 0; s < n; s++) {
		all[s] = hosts[union_find(unions, s)];
	}
	union_init(unions, n);
	most = heaviest_set(g, unions, all, hosts, links);
	for (unsigned r = 1; height && join_height(g, height, r, unions); r++) {
		least = heaviest_set(g, unions, all, hosts, links);
		most = least > most ? least : most;
	}
	*ret_load = most;
	return E_OK;
}

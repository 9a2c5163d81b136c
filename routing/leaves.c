/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/leaves.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/updown.h"

/* Share of places that hosts fill where they are held. */
enum { PLACES_FILLED = 3, PLACES_OF = 4 };

void joined_sort(uint32_t *joined, uint32_t n_switches, uint32_t *list, uint32_t n_list,
                 uint32_t *count, uint32_t *list_tmp)
{
	uint32_t sum = 0;

	memset(count, 0, n_switches * sizeof(*count));
	for (uint32_t i = 0; i < n_list; i++) {
		count[joined_find(joined, list[i])]++;
	}
	for (uint32_t s = 0; s < n_switches; s++) {
		uint32_t n = count[s];

		count[s] = sum;
		sum += n;
	}
	for (uint32_t i = 0; i < n_list; i++) {
		list_tmp[count[joined_find(joined, list[i])]++] = list[i];
	}
	memcpy(list, list_tmp, n_list * sizeof(*list));
}

/* Joins switches of a height to those below them. Returns whether there are any. */
static bool join_height(const struct graph *g, const uint16_t *height, unsigned r,
                        uint32_t *joined)
{
	bool any = false;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		if (height[s] != r) {
			continue;
		}
		any = true;
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (height[g->adj[i].to] == r - 1) {
				joined_join(joined, s, g->adj[i].to);
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

int leaves_order(const struct graph *g, struct arena *a, uint32_t **ret, uint32_t *ret_n)
{
	uint32_t n = g->n_switches, n_leaves = 0;
	uint32_t *leaf = arena_array(a, n, sizeof(*leaf));
	uint32_t *joined = arena_array(a, n, sizeof(*joined));
	uint32_t *count = arena_array(a, n, sizeof(*count));
	uint32_t *sorted = arena_array(a, n, sizeof(*sorted));
	uint16_t *height;
	int err = updown_heights(g, a, &height);

	if (err != E_OK || !leaf || !joined || !count || !sorted) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < n; s++) {
		joined[s] = s;
		if (height[s] == 0) {
			leaf[n_leaves++] = s;
		}
	}
	for (unsigned r = 1; !leaves_touch(g, height) && r < UPDOWN_RANK_NONE &&
	                     join_height(g, height, r, joined);
	     r++) {
		joined_sort(joined, n, leaf, n_leaves, count, sorted);
	}
	*ret = leaf;
	*ret_n = n_leaves;
	return E_OK;
}

void leaves_places(const struct graph *g, const uint32_t *leaf, uint32_t n_leaves,
                   const bool *is_one, bool value, struct leaf_places *ret)
{
	bool used[256] = { false };
	uint64_t n_hosts = 0;
	uint32_t n_homes = 0;

	*ret = (struct leaf_places){ .n = 0 };
	for (uint32_t i = 0; i < n_leaves; i++) {
		uint32_t s = leaf[i];
		uint64_t before = n_hosts;

		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
			if (!is_one || is_one[g->hosts[h]] == value) {
				used[g->ports[g->ports[g->hosts[h]].peer].num] = true;
				n_hosts++;
			}
		}
		n_homes += n_hosts > before;
	}
	for (unsigned p = 0; p < 256; p++) {
		ret->rank[p] = ret->n;
		ret->n += used[p];
	}
	/* holes are dealt, too: with many of them links would carry unlike shares */
	if (n_hosts * PLACES_OF < (uint64_t)ret->n * n_homes * PLACES_FILLED) {
		ret->n = 0;
	}
}

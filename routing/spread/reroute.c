/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/spread/reroute.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

/* Lengths of routes; those from UNKNOWN up are none. */
enum { UNKNOWN = INT32_MAX - 2, ON_PATH, NEVER };

/* One LID. */
struct reroute {
	const struct column_map *map;
	const struct lft *prefer;
	const struct lft *lft;
	const bool *open;
	uint32_t lid;
	uint32_t home;
	uint32_t *length; /* [n] hops of the route to home, UNKNOWN... */
	uint32_t *stack;  /* [n] */
};

static uint8_t *entry(const struct reroute *m, uint32_t s)
{
	return lft_row(m->lft, s) + m->lid;
}

/* Follows the route of one switch and sets the lengths of all switches on it. */
static void follow(const struct reroute *m, uint32_t s)
{
	uint32_t n = 0, length;

	while (s != GRAPH_NONE && m->length[s] == UNKNOWN) {
		uint8_t port = *entry(m, s);

		m->length[s] = ON_PATH;
		m->stack[n++] = s;
		s = port < m->map->width
		            ? m->map->hop[(size_t)s * m->map->width + port].next
		            : GRAPH_NONE;
	}
	length = s == GRAPH_NONE || m->length[s] >= UNKNOWN ? NEVER : m->length[s];
	while (n--) {
		length += length < NEVER;
		m->length[m->stack[n]] = length;
	}
}

/* The port towards the neighbour with the shortest route, LFT_NO_ROUTE: none arrives. */
static uint8_t best_port(const struct reroute *m, uint32_t s)
{
	const struct graph *g = m->map->g;
	uint8_t preferred = lft_row(m->prefer, s)[m->lid], best = LFT_NO_ROUTE;
	uint32_t least = NEVER;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t length = m->length[g->adj[i].to];

		if (length < least || (length == least && length < UNKNOWN &&
		                       g->adj[i].port == preferred)) {
			least = length;
			best = g->adj[i].port;
		}
	}
	return least < UNKNOWN ? best : LFT_NO_ROUTE;
}

/* Fills the entries that the present lengths allow, and again while there are any. */
static void fill_column(const struct reroute *m)
{
	bool delivers, any;

	if (m->open[m->home]) {
		*entry(m, m->home) = lft_row(m->prefer, m->home)[m->lid];
	}
	delivers = *entry(m, m->home) == lft_row(m->prefer, m->home)[m->lid];
	do {
		for (uint32_t s = 0; s < m->map->n; s++) {
			m->length[s] = UNKNOWN;
		}
		m->length[m->home] = delivers ? 0 : NEVER;
		for (uint32_t s = 0; s < m->map->n; s++) {
			follow(m, s);
		}
		any = false;
		for (uint32_t s = 0; s < m->map->n; s++) {
			if (m->open[s] && *entry(m, s) == LFT_NO_ROUTE) {
				*entry(m, s) = best_port(m, s);
				any |= *entry(m, s) != LFT_NO_ROUTE;
			}
		}
	} while (any);
}

int reroute_switches(const struct graph *g, const struct lids *lids, const bool *open,
                     const bool *column, const struct lft *prefer, const struct lft *lft)
{
	struct arena *tmp = arena_new();
	struct column_map map;
	uint32_t *words = NULL;
	int ret = tmp ? column_map_init(&map, g, lids, lft, tmp) : -ENOMEM;

	if (ret == E_OK) {
		words = arena_array(tmp, (size_t)column_threads() * 2 * g->n_switches,
		                    sizeof(*words));
		ret = words ? E_OK : -ENOMEM;
	}
	if (ret != E_OK) {
		goto out;
	}
#pragma omp parallel for schedule(dynamic, 64)
	for (uint32_t lid = 1; lid <= lids->top; lid++) {
		uint32_t *mine = words + (size_t)column_thread() * 2 * map.n;
		struct reroute m = {
			&map, prefer, lft, open, lid, 0, mine, mine + map.n
		};

		if (column[lid] && lids->owner[lid] != GRAPH_NONE) {
			m.home = graph_switch_of(g, lids->owner[lid]);
			if (m.home != GRAPH_NONE) {
				fill_column(&m);
			}
		}
	}
out:
	arena_free(tmp);
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/inventory/topology.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/union_find.h"
#include "routing/graph/graph.h"
#include "routing/spread/leaves.h"

enum { POD_TIERS = 3 }; /* trees with fewer tiers are one pod */

/* Working memory. */
struct shape {
	const struct graph *g;
	const struct topology *t;
	uint32_t *unions; /* [n_switches] */
	uint32_t *count;  /* [n_switches] all 0 between uses */
	uint32_t *seen;   /* [n_switches] switches whose count is not 0 */
	uint32_t *mark;   /* [n_switches] stamp of the last look at a neighbour, */
	uint32_t *met;    /* [n_switches] and at a switch behind a neighbour */
	uint32_t stamp;
};

/* --- tiers ----------------------------------------------------------------------------- */

static int find_tiers(const struct graph *g, struct arena *a, struct topology *t)
{
	struct leaves_pairs pairs = { .all = 0 };
	uint16_t top = 0;
	int ret = leaves_heights(g, a, &t->tier);

	if (ret == E_OK) {
		ret = leaves_pairs(g, t->tier, a, &pairs);
	}
	for (uint32_t s = 0; ret == E_OK && s < g->n_switches; s++) {
		if (t->tier[s] != LEAVES_HEIGHT_NONE && t->tier[s] > top) {
			top = t->tier[s];
		}
	}
	t->tree = top > 0 && pairs.connected >= pairs.all - pairs.all / 4;
	t->n_tiers = t->tree ? (uint16_t)(top + 1) : 1;
	return ret;
}

/* --- groups ---------------------------------------------------------------------------- */

/* Does a neighbour count when switches are compared? In a tree only those above do. */
static bool counts(const struct shape *x, uint32_t s, uint32_t neighbour)
{
	return !x->t->tree || (x->t->tier[neighbour] != TOPOLOGY_NO_TIER &&
	                       x->t->tier[neighbour] > x->t->tier[s]);
}

/* Different neighbours of a switch that count. */
static uint32_t degree(struct shape *x, uint32_t s)
{
	uint32_t n = 0, stamp = ++x->stamp;

	for (uint32_t i = x->g->adj_first[s]; i < x->g->adj_first[s + 1]; i++) {
		uint32_t to = x->g->adj[i].to;

		if (x->mark[to] != stamp && counts(x, s, to)) {
			x->mark[to] = stamp;
			n++;
		}
	}
	return n;
}

/* May these two be put together at all? */
static bool comparable(const struct shape *x, uint32_t s, uint32_t other)
{
	return other > s &&
	       (!x->t->tree || (x->t->tier[s] == 0 && x->t->tier[other] == 0));
}

/* Counts how many neighbours each other switch shares with this one. */
static uint32_t count_shared(struct shape *x, uint32_t s)
{
	uint32_t n_seen = 0, stamp = ++x->stamp;

	for (uint32_t i = x->g->adj_first[s]; i < x->g->adj_first[s + 1]; i++) {
		uint32_t via = x->g->adj[i].to;

		if (x->mark[via] == stamp || !counts(x, s, via)) {
			continue; /* a parallel cable */
		}
		x->mark[via] = stamp;
		uint32_t behind = ++x->stamp;
		for (uint32_t k = x->g->adj_first[via]; k < x->g->adj_first[via + 1];
		     k++) {
			uint32_t other = x->g->adj[k].to;

			if (x->met[other] == behind || !comparable(x, s, other) ||
			    !counts(x, other, via)) {
				continue;
			}
			x->met[other] = behind;
			if (x->count[other]++ == 0) {
				x->seen[n_seen++] = other;
			}
		}
	}
	return n_seen;
}

static bool adjacent(const struct graph *g, uint32_t s, uint32_t other)
{
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		if (g->adj[i].to == other) {
			return true;
		}
	}
	return false;
}

/* Do two switches belong together? Neighbours count themselves among what they share. */
static bool alike(const struct shape *x, uint32_t s, uint32_t other, uint32_t shared,
                  const uint32_t *degrees)
{
	uint32_t least = degrees[s] < degrees[other] ? degrees[s] : degrees[other];

	if (x->t->tree) {
		return 2 * shared >= least;
	}
	return shared > 1 && 2 * (shared + 2) > least + 1 && adjacent(x->g, s, other);
}

static void unite_alike(struct shape *x, const uint32_t *degrees)
{
	for (uint32_t s = 0; s < x->g->n_switches; s++) {
		uint32_t n = count_shared(x, s);

		for (uint32_t i = 0; i < n; i++) {
			uint32_t other = x->seen[i], shared = x->count[other];

			x->count[other] = 0;
			if (alike(x, s, other, shared, degrees)) {
				union_join(x->unions, s, other);
			}
		}
	}
}

/* Numbers the sets that have more than one member, or in a tree all sets of leaves. */
static void number_groups(struct shape *x, struct topology *t)
{
	uint32_t n = x->g->n_switches;

	for (uint32_t s = 0; s < n; s++) {
		x->count[union_find(x->unions, s)]++;
		t->group[s] = GRAPH_NONE;
	}
	for (uint32_t s = 0; s < n; s++) {
		uint32_t root = union_find(x->unions, s);

		if (root == s && (t->tree ? t->tier[s] == 0 : x->count[s] > 1)) {
			t->group[s] = t->n_groups++;
		} else if (root != s) {
			t->group[s] = t->group[root];
		}
	}
	for (uint32_t s = 0; s < n; s++) {
		x->count[s] = 0;
	}
}

/* The group to which more than half of the cables down from a switch lead. */
static uint32_t majority_below(struct shape *x, const struct topology *t, uint32_t s)
{
	uint32_t all = 0, best = GRAPH_NONE, most = 0;

	for (unsigned clear = 0; clear < 2; clear++) {
		for (uint32_t i = x->g->adj_first[s]; i < x->g->adj_first[s + 1]; i++) {
			uint32_t to = x->g->adj[i].to;

			if (t->tier[to] >= t->tier[s] || t->group[to] == GRAPH_NONE) {
				continue;
			}
			uint32_t *n = &x->count[t->group[to]];

			*n = clear ? 0 : *n + 1;
			all += !clear;
			if (*n > most) {
				most = *n;
				best = t->group[to];
			}
		}
	}
	return 2 * most > all ? best : GRAPH_NONE;
}

static void group_upper_tiers(struct shape *x, struct topology *t)
{
	for (uint16_t tier = 1; tier + 1 < t->n_tiers; tier++) {
		for (uint32_t s = 0; s < x->g->n_switches; s++) {
			if (t->tier[s] == tier) {
				t->group[s] = majority_below(x, t, s);
			}
		}
	}
}

static int find_groups(const struct graph *g, struct arena *a, struct topology *t)
{
	struct shape x = { .g = g, .t = t };
	uint32_t *degrees = arena_array(a, g->n_switches, sizeof(*degrees));

	x.unions = arena_array(a, g->n_switches, sizeof(*x.unions));
	x.count = arena_array(a, g->n_switches, sizeof(*x.count));
	x.seen = arena_array(a, g->n_switches, sizeof(*x.seen));
	x.mark = arena_array(a, g->n_switches, sizeof(*x.mark));
	x.met = arena_array(a, g->n_switches, sizeof(*x.met));
	if (degrees == NULL || x.unions == NULL || x.count == NULL || x.seen == NULL ||
	    x.mark == NULL || x.met == NULL) {
		return -ENOMEM;
	}
	union_init(x.unions, g->n_switches);
	for (uint32_t s = 0; s < g->n_switches; s++) {
		degrees[s] = degree(&x, s);
	}
	unite_alike(&x, degrees);
	number_groups(&x, t);
	if (t->tree) {
		group_upper_tiers(&x, t);
	}
	return E_OK;
}

int topology_find(const struct graph *g, struct arena *a, struct topology *ret_topology)
{
	struct topology t = { .n_groups = 0 };
	int ret = find_tiers(g, a, &t);

	if (ret != E_OK) {
		return ret;
	}
	t.group = arena_array(a, g->n_switches, sizeof(*t.group));
	if (t.group == NULL) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		t.group[s] = GRAPH_NONE;
	}
	if (!t.tree || t.n_tiers >= POD_TIERS) {
		ret = find_groups(g, a, &t);
	}
	if (ret == E_OK) {
		*ret_topology = t;
	}
	return ret;
}

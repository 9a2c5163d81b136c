/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The shape of a tree: ranks, cables by neighbour, and the order of hosts. Its planes are in
 * dmodc_planes.c.
 *
 * Hosts are numbered leaf by leaf. Leaves below a common switch of low rank are adjacent: the
 * switches up to some rank form connected clusters, and clusters stay together. If most
 * leaves are full, a missing host keeps its number (routing/spread/leaves.h), so the others
 * keep theirs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/union_find.h"
#include "conf/policy/guidfile.h"
#include "routing/engine.h"
#include "routing/engines/dmodc/dmodc_shape.h"
#include "routing/graph/graph.h"
#include "routing/graph/guid_switches.h"
#include "routing/graph/node_text.h"

enum { RANK_NONE = 0xff, RANK_MAX = 0xfe, UNUSED_SHARE = 20 };

/* ---- ranks ---- */

/* Breadth-first search from the switches of rank 0. \return false: too long a distance. */
static bool spread_ranks(struct shape *x, uint8_t *rank)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t s = 0; s < x->t->n; s++) {
		if (rank[s] == 0) {
			x->queue[tail++] = s;
		}
	}
	while (head < tail) {
		uint32_t s = x->queue[head++];

		for (uint32_t i = x->g->adj_first[s]; i < x->g->adj_first[s + 1]; i++) {
			uint32_t to = x->g->adj[i].to;

			if (rank[to] == RANK_NONE) {
				if (rank[s] == RANK_MAX) {
					return false;
				}
				rank[to] = (uint8_t)(rank[s] + 1);
				x->queue[tail++] = to;
			}
		}
	}
	return true;
}

/* In a connected part without a switch of rank 0 the first switch gets it. */
static void seed_parts(struct shape *x, uint8_t *rank)
{
	const struct dmodc_tree *t = x->t;

	memset(x->count, 0, t->n * sizeof(*x->count));
	for (uint32_t s = 0; s < t->n; s++) {
		x->count[t->part[s]] += rank[s] == 0;
	}
	for (uint32_t s = 0; s < t->n; s++) {
		if (t->part[s] == s && x->count[s] == 0) {
			rank[s] = 0;
		}
	}
}

/* Counts directed links between switches of one rank, in parts with hosts. */
static uint32_t count_level(struct shape *x, const uint8_t *rank, uint32_t *ret_example)
{
	const struct graph *g = x->g;
	uint32_t n = 0;

	memset(x->count, 0, x->t->n * sizeof(*x->count));
	for (uint32_t s = 0; s < x->t->n; s++) {
		x->count[x->t->part[s]] += leaves_hosts_on(g, s);
	}
	for (uint32_t s = 0; s < x->t->n; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (rank[s] == rank[g->adj[i].to] && x->count[x->t->part[s]]) {
				if (n++ == 0) {
					ret_example[0] = s;
					ret_example[1] = i;
				}
			}
		}
	}
	return n;
}

/* Ranks as distances from the leaves. */
static int rank_from_leaves(struct shape *x, uint8_t *rank)
{
	uint16_t *height;
	int ret = leaves_heights(x->g, x->a, &height);

	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t s = 0; s < x->t->n; s++) {
		rank[s] = height[s] == 0 ? 0 : RANK_NONE;
	}
	seed_parts(x, rank);
	return spread_ranks(x, rank) ? E_OK : E_RANGE;
}

static void mark_root(void *ctx, uint32_t sw, const struct guid_record *r)
{
	uint8_t *rank = ctx;
	(void)r;

	rank[sw] = 0;
}

/* Rank 0 for the switches at the top. */
static int mark_top(struct shape *x, uint8_t *rank)
{
	const struct dmodc_rule *r = x->rule;

	memset(rank, RANK_NONE, x->t->n);
	for (uint32_t s = 0; r->core && s < x->t->n; s++) {
		rank[s] = r->core[s] ? 0 : RANK_NONE;
	}
	uint32_t n_found = 0;
	int ret = r->roots ? guid_switches(x->g, r->roots, mark_root, rank, x->why,
	                                   &n_found)
	                   : E_OK;

	if (ret != E_OK) {
		return ret;
	}
	if (r->roots && !n_found && x->t->n) {
		why_add(x->why, "%s: no root switch: none of %s is in the fabric",
		        r->engine, r->roots->path);
		return E_UNSUITABLE;
	}
	return E_OK;
}

/* Ranks as distances from the top, inverted in each part so that the lowest have rank 0. */
static int rank_from_top(struct shape *x, uint8_t *rank)
{
	int ret = mark_top(x, rank);

	if (ret != E_OK) {
		return ret;
	}
	seed_parts(x, rank);
	if (!spread_ranks(x, rank)) {
		return E_RANGE;
	}
	memset(x->count, 0, x->t->n * sizeof(*x->count));
	for (uint32_t s = 0; s < x->t->n; s++) {
		uint32_t *deepest = &x->count[x->t->part[s]];

		*deepest = rank[s] > *deepest ? rank[s] : *deepest;
	}
	for (uint32_t s = 0; s < x->t->n; s++) {
		rank[s] = (uint8_t)(x->count[x->t->part[s]] - rank[s]);
	}
	return E_OK;
}

/* Refuses a fabric with too many cables between switches of one rank. */
static int check_ranks(struct shape *x)
{
	const struct graph *g = x->g;
	uint32_t example[2] = { 0, 0 }, n = count_level(x, x->t->rank, example);

	if ((uint64_t)n * UNUSED_SHARE > g->n_adj) {
		const struct sw_link *l = &g->adj[example[1]];

		why_add(x->why,
		        "%s: not a tree: %" PRIu32 " of %" PRIu32
		        " cables join switches equally far from hosts, for instance %s port %u and %s port %u",
		        x->rule->engine, n / 2, g->n_adj / 2,
		        switch_text(g, NULL, example[0]).text, l->port,
		        switch_text(g, NULL, l->to).text, l->to_port);
		return E_UNSUITABLE;
	}
	x->t->n_unused = n / 2;
	return E_OK;
}

static int find_ranks(struct shape *x)
{
	struct dmodc_tree *t = x->t;
	bool top = x->rule->roots || x->rule->core;
	int ret = top ? rank_from_top(x, t->rank) : rank_from_leaves(x, t->rank);

	if (ret == E_RANGE) {
		why_add(x->why,
		        "%s: not a tree: two switches are more than %d hops apart",
		        x->rule->engine, RANK_MAX);
		return E_UNSUITABLE;
	}
	if (ret != E_OK || (ret = check_ranks(x)) != E_OK) {
		return ret;
	}
	for (uint32_t s = 0; s < t->n; s++) {
		t->height = t->rank[s] > t->height ? t->rank[s] : t->height;
	}
	t->rank_first = arena_array(x->a, t->height + 2U, sizeof(*t->rank_first));
	if (!t->rank_first) {
		return -ENOMEM;
	}
	uint32_t n = 0;
	for (unsigned r = 0; r <= t->height; r++) {
		for (uint32_t s = 0; s < t->n; s++) {
			if (t->rank[s] == r) {
				t->by_rank[n++] = s;
			}
		}
		t->rank_first[r + 1] = n;
	}
	return E_OK;
}

/* ---- groups ---- */

/* Lists the groups of one switch towards a rank. \return How many. */
static uint32_t group_links(const struct shape *x, uint32_t s, unsigned rank,
                            struct dmodc_group *ret_group, uint32_t *n_ports)
{
	const struct graph *g = x->g;
	uint32_t n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t k = 0, to = g->adj[i].to;

		if (x->t->rank[to] != rank) {
			continue;
		}
		while (k < n && ret_group[k].to < to) {
			k++;
		}
		if (k == n || ret_group[k].to != to) {
			memmove(ret_group + k + 1, ret_group + k,
			        (n - k) * sizeof(*ret_group));
			ret_group[k] =
				(struct dmodc_group){ .to = to, .slot = DMODC_NO_SLOT };
			n++;
		}
		ret_group[k].n++;
	}
	for (uint32_t k = 0; k < n; k++) {
		ret_group[k].first = *n_ports;
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (g->adj[i].to == ret_group[k].to) {
				x->t->port[(*n_ports)++] = g->adj[i].port;
			}
		}
	}
	return n;
}

static int find_groups(struct shape *x)
{
	struct dmodc_tree *t = x->t;
	uint32_t n_ports = 0;

	t->up.first = arena_array(x->a, t->n + 1U, sizeof(*t->up.first));
	t->down.first = arena_array(x->a, t->n + 1U, sizeof(*t->down.first));
	t->up.group = arena_array(x->a, x->g->n_adj + 1U, sizeof(*t->up.group));
	t->down.group = arena_array(x->a, x->g->n_adj + 1U, sizeof(*t->down.group));
	t->port = arena_alloc(x->a, x->g->n_adj + 1U);
	if (!t->up.first || !t->down.first || !t->up.group || !t->down.group ||
	    !t->port) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < t->n; s++) {
		uint32_t up = t->up.first[s], down = t->down.first[s];

		up += group_links(x, s, t->rank[s] + 1U, t->up.group + up, &n_ports);
		t->up.first[s + 1] = up;
		if (t->rank[s]) {
			down += group_links(x, s, t->rank[s] - 1U, t->down.group + down,
			                    &n_ports);
		}
		t->down.first[s + 1] = down;
	}
	return E_OK;
}

/* ---- clusters: the order of hosts ---- */

/* Is a switch a leaf without hosts? Then it ranks above the neighbours of leaves and connects
 * nothing that is not connected below it. */
static bool is_empty_leaf(struct shape *x, uint32_t s)
{
	const struct dmodc_tree *t = x->t;
	uint32_t first = t->down.first[s], end = t->down.first[s + 1];
	bool joins = leaves_hosts_on(x->g, s) || t->up.first[s] != t->up.first[s + 1];

	for (uint32_t k = first; k < end && !joins; k++) {
		joins = union_find(x->joined, t->down.group[k].to) !=
		        union_find(x->joined, t->down.group[first].to);
	}
	return !joins && first != end;
}

/* Columns and leaf indices in the order of the leaves. */
static void list_leaves(struct shape *x)
{
	struct dmodc_tree *t = x->t;

	for (uint32_t i = 0; i < x->n_all_leaves; i++) {
		uint32_t s = x->all_leaves[i];

		if (leaves_hosts_on(x->g, s)) {
			t->col[s] = t->n_cols;
			t->n_cols += leaves_hosts_on(x->g, s);
			t->leaf_index[t->n_leaves] = i;
			t->leaf[t->n_leaves++] = s;
		}
	}
}

static void find_clusters(struct shape *x)
{
	struct dmodc_tree *t = x->t;

	shape_reset(x);
	for (uint32_t s = 0; s < t->n; s++) {
		x->cluster[s] = s;
	}
	for (unsigned r = 0; r <= t->height; r++) {
		for (uint32_t i = t->rank_first[r]; i < t->rank_first[r + 1]; i++) {
			uint32_t s = t->by_rank[i];

			for (uint32_t k = t->down.first[s]; k < t->down.first[s + 1];
			     k++) {
				union_join(x->joined, s, t->down.group[k].to);
			}
		}
		if (r == 1 || t->height == 0) {
			/* leaves by index, also those without hosts, because hosts may
			 * come back */
			for (uint32_t l = 0; l < t->n; l++) {
				bool empty = t->rank[l] == 2 && is_empty_leaf(x, l);

				if (empty) {
					union_join(x->joined, l,
					           t->down.group[t->down.first[l]].to);
				}
				if (empty || leaves_hosts_on(x->g, l)) {
					x->all_leaves[x->n_all_leaves++] = l;
				}
			}
		}
		for (uint32_t i = t->rank_first[r]; r && i < t->rank_first[r + 1]; i++) {
			x->cluster[t->by_rank[i]] = union_find(x->joined, t->by_rank[i]);
		}
		leaves_sort_unions(x->joined, t->n, x->all_leaves, x->n_all_leaves, x->count,
		           x->queue);
	}
	list_leaves(x);
}

static bool is_of_set(const struct shape *x, uint32_t host, bool last)
{
	return (x->rule->last && x->rule->last[x->g->hosts[host]]) == last;
}

/* Numbers the hosts of one set on one switch. \return How many numbers are reserved. */
static uint32_t number_leaf(struct shape *x, uint32_t s, bool last, uint32_t base,
                            const struct leaf_places *places)
{
	const struct graph *g = x->g;
	uint32_t first = g->host_first[s], end = g->host_first[s + 1], n = 0, i = 0, size;

	for (uint32_t h = first; h < end; h++) {
		n += is_of_set(x, h, last);
	}
	size = places->n && n ? places->size[n] : n;
	for (uint32_t h = first; h < end; h++) {
		uint32_t c = x->t->col[s] + h - first;

		if (is_of_set(x, h, last)) {
			uint8_t port = g->ports[g->ports[g->hosts[h]].peer].num;

			x->t->nth[c] = places->n ? places->rank[port] % size : i++;
			x->t->number[c] = base + x->t->nth[c];
		}
	}
	return size;
}

/*
 * Numbers the hosts of one set from n on; by port where leaves reserve numbers. Leaves
 * without hosts reserve numbers in the main set only. \return The next free number.
 */
static uint32_t number_set(struct shape *x, bool last, uint32_t n)
{
	struct dmodc_tree *t = x->t;
	struct leaf_places places;

	leaves_places(x->g, t->leaf, t->n_leaves, x->rule->last, last, &places);
	for (uint32_t i = 0, index = 0; i < t->n_leaves; i++, index++) {
		for (; places.n && !last && index < t->leaf_index[i]; index++) {
			n += places.size[0];
		}
		n += number_leaf(x, t->leaf[i], last, n, &places);
	}
	t->full = last ? t->full : places.full;
	return n;
}

/* Numbers the hosts in the order of their columns; those of the last set after all others. */
static int number_hosts(struct shape *x)
{
	struct dmodc_tree *t = x->t;
	uint32_t n;

	t->number = arena_array(x->a, t->n_cols, sizeof(*t->number));
	t->nth = arena_array(x->a, t->n_cols, sizeof(*t->nth));
	if (!t->number || !t->nth) {
		return -ENOMEM;
	}
	n = number_set(x, false, 0);
	if (x->rule->last) {
		number_set(x, true, n);
	}
	return E_OK;
}

static int shape_init(struct shape *x)
{
	struct dmodc_tree *t = x->t;
	size_t n = t->n;

	t->rank = arena_alloc(x->a, n);
	t->by_rank = arena_array(x->a, n, sizeof(*t->by_rank));
	t->part = arena_array(x->a, n, sizeof(*t->part));
	t->slots = arena_alloc(x->a, n);
	t->place = arena_array(x->a, n, sizeof(*t->place));
	t->divider = arena_array(x->a, RANK_MAX + 1, sizeof(*t->divider));
	t->leaf = arena_array(x->a, n, sizeof(*t->leaf));
	t->leaf_index = arena_array(x->a, n, sizeof(*t->leaf_index));
	x->all_leaves = arena_array(x->a, n, sizeof(*x->all_leaves));
	t->col = arena_array(x->a, n, sizeof(*t->col));
	x->queue = arena_array(x->a, n, sizeof(*x->queue));
	x->joined = arena_array(x->a, n, sizeof(*x->joined));
	x->cluster = arena_array(x->a, n, sizeof(*x->cluster));
	t->is_stub = arena_array(x->a, n, sizeof(*t->is_stub));
	x->plane = arena_array(x->a, n, sizeof(*x->plane));
	x->number = arena_array(x->a, n, sizeof(*x->number));
	x->planes = arena_array(x->a, n, sizeof(*x->planes));
	x->count = arena_array(x->a, n, sizeof(*x->count));
	return t->rank && t->by_rank && t->part && t->slots && t->place && t->divider &&
	                       t->leaf && t->leaf_index && x->all_leaves && t->col &&
	                       x->queue && x->joined && x->cluster && t->is_stub &&
	                       x->plane && x->number && x->planes && x->count
	               ? E_OK
	               : -ENOMEM;
}

int dmodc_tree_init(struct dmodc_tree *t, const struct graph *g,
                    const struct dmodc_rule *rule, struct arena *a, struct why *why)
{
	struct shape x = { .t = t, .g = g, .rule = rule, .why = why, .a = a };
	int ret;

	*t = (struct dmodc_tree){ .g = g, .n = g->n_switches };
	ret = shape_init(&x);
	if (ret != E_OK) {
		return ret;
	}
	shape_reset(&x);
	for (uint32_t s = 0; s < x.t->n; s++) {
		for (uint32_t i = x.g->adj_first[s]; i < x.g->adj_first[s + 1]; i++) {
			union_join(x.joined, s, x.g->adj[i].to);
		}
	}
	for (uint32_t s = 0; s < x.t->n; s++) {
		x.t->part[s] = union_find(x.joined, s);
	}
	ret = find_ranks(&x);
	if (ret == E_OK) {
		ret = find_groups(&x);
	}
	if (ret != E_OK) {
		return ret;
	}
	find_clusters(&x);
	shape_planes(&x);
	return number_hosts(&x);
}

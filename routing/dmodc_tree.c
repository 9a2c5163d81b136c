/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The shape of a tree for dmodc: ranks, the slots of uplinks, the order of hosts.
 *
 * Slots. Hosts are dealt over the uplinks of a switch by their number modulo the number
 * of slots, and a host must come down to its leaf the same way from everywhere. So the
 * same slot has to mean the same part of the tree at every switch, also where cables are
 * missing and whatever the order of GUIDs is. The switches from some rank up fall into
 * connected parts, the planes; in a fat tree each uplink of a switch leads into another
 * plane of the next rank, and all switches of one plane of their own rank see the same
 * ones. These planes, numbered, are the slots: a switch whose cable is gone lacks its
 * slot and keeps the others. Where a switch has several neighbours in one plane, or half
 * the planes only, slots are merely its neighbours in order.
 *
 * Hosts are numbered leaf by leaf, leaves that have a common switch at a low rank next to
 * each other: switches up to some rank fall into connected clusters, too.
 *
 * A switch without hosts that is new to the top because the leaf it was lost its hosts
 * joins nothing that is not joined below it. It has no slot, but may be used where
 * nothing else is.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "conf/guidfile.h"
#include "routing/dmodc.h"
#include "routing/engine.h"
#include "routing/graph.h"
#include "routing/guid_switches.h"

enum { RANK_NONE = 0xff, RANK_MAX = 0xfe, UNUSED_SHARE = 20 };

/* Working memory of the whole. */
struct shape {
	struct dmodc_tree *t;
	const struct graph *g;
	struct why *why;
	struct arena *a;
	uint32_t *queue;   /* [n] */
	uint32_t *joined;  /* [n] union-find */
	uint32_t *cluster; /* [n] the cluster of a switch among those of its rank and
	                      below */
	bool *stub;        /* [n] joins nothing new */
	uint32_t *plane; /* [n] the plane of a switch among those of its rank and above */
	uint32_t *number; /* [n] by plane: its slot in the plane that holds it */
	uint32_t *count;  /* [n] by plane, or by switch: members, when counting */
};

static uint32_t hosts_on(const struct graph *g, uint32_t s)
{
	return g->host_first[s + 1] - g->host_first[s];
}

/* ---- sets that grow together; named by their smallest member ---- */

static void reset_sets(struct shape *x)
{
	for (uint32_t s = 0; s < x->t->n; s++) {
		x->joined[s] = s;
	}
}

static uint32_t find(uint32_t *joined, uint32_t s)
{
	while (joined[s] != s) {
		joined[s] = joined[joined[s]];
		s = joined[s];
	}
	return s;
}

static void join(uint32_t *joined, uint32_t a, uint32_t b)
{
	a = find(joined, a);
	b = find(joined, b);
	joined[a > b ? a : b] = a < b ? a : b;
}

static void find_parts(struct shape *x)
{
	reset_sets(x);
	for (uint32_t s = 0; s < x->t->n; s++) {
		for (uint32_t i = x->g->adj_first[s]; i < x->g->adj_first[s + 1]; i++) {
			join(x->joined, s, x->g->adj[i].to);
		}
	}
	for (uint32_t s = 0; s < x->t->n; s++) {
		x->t->part[s] = find(x->joined, s);
	}
}

/* ---- ranks ---- */

/* Distances from the switches that have rank 0 already. Returns false when too long. */
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

/* A part where nobody has rank 0 yet gets it at its first switch. */
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

/* Ranks by distance from the switches with at least so many hosts. */
static bool rank_from_leaves(struct shape *x, uint32_t hosts, uint8_t *rank)
{
	for (uint32_t s = 0; s < x->t->n; s++) {
		rank[s] = hosts_on(x->g, s) >= hosts ? 0 : RANK_NONE;
	}
	seed_parts(x, rank);
	return spread_ranks(x, rank);
}

/* Directed links between switches of one rank, in parts with hosts. */
static uint32_t count_level(struct shape *x, const uint8_t *rank, uint32_t *ret_example)
{
	const struct graph *g = x->g;
	uint32_t n = 0;

	memset(x->count, 0, x->t->n * sizeof(*x->count));
	for (uint32_t s = 0; s < x->t->n; s++) {
		x->count[x->t->part[s]] += hosts_on(g, s);
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

static uint32_t most_hosts(const struct shape *x)
{
	uint32_t most = 0;

	for (uint32_t s = 0; s < x->t->n; s++) {
		most = hosts_on(x->g, s) > most ? hosts_on(x->g, s) : most;
	}
	return most;
}

/* Without roots: leaves are switches with hosts; if that gives no tree, because some hang
 * on higher switches, those with at least half as many as the fullest. */
static int rank_alone(struct shape *x, uint8_t *rank)
{
	uint32_t example[2], most = most_hosts(x);

	if (!rank_from_leaves(x, 1, rank)) {
		return E_RANGE;
	}
	if (most > 2 && count_level(x, rank, example)) {
		uint8_t *other = arena_alloc(x->a, x->t->n);

		if (!other) {
			return -ENOMEM;
		}
		if (rank_from_leaves(x, (most + 1) / 2, other) &&
		    count_level(x, other, example) < count_level(x, rank, example)) {
			memcpy(rank, other, x->t->n);
		}
	}
	return E_OK;
}

static void mark_root(void *ctx, uint32_t sw, const struct guid_record *r)
{
	uint8_t *rank = ctx;
	(void)r;

	rank[sw] = 0;
}

/* Distances from the roots, turned round in each part so that the lowest have rank 0. */
static int rank_by_roots(struct shape *x, const struct guid_file *roots, uint8_t *rank)
{
	memset(rank, RANK_NONE, x->t->n);
	if (!guid_switches(x->g, roots, mark_root, rank, x->why) && x->t->n) {
		why_add(x->why, "dmodc: no root switch: none of %s is in the fabric",
		        roots->path);
		return E_UNSUITABLE;
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

/* Refuses what has too many cables between switches of one rank. */
static int judge_ranks(struct shape *x)
{
	const struct graph *g = x->g;
	uint32_t example[2] = { 0, 0 }, n = count_level(x, x->t->rank, example);

	if ((uint64_t)n * UNUSED_SHARE > g->n_adj) {
		const struct sw_link *l = &g->adj[example[1]];

		why_add(x->why,
		        "dmodc: not a tree: %" PRIu32 " of %" PRIu32
		        " cables join switches equally far from hosts, for instance "
		        "%s/%u and %s/%u",
		        n / 2, g->n_adj / 2,
		        g->nodes[g->switches[example[0]]].description, l->port,
		        g->nodes[g->switches[l->to]].description, l->to_port);
		return E_UNSUITABLE;
	}
	x->t->n_unused = n / 2;
	return E_OK;
}

static int find_ranks(struct shape *x, const struct guid_file *roots)
{
	struct dmodc_tree *t = x->t;
	int ret = roots ? rank_by_roots(x, roots, t->rank) : rank_alone(x, t->rank);

	if (ret == E_RANGE) {
		why_add(x->why,
		        "dmodc: not a tree: two switches are more than %d hops apart",
		        RANK_MAX);
		return E_UNSUITABLE;
	}
	if (ret != E_OK || (ret = judge_ranks(x)) != E_OK) {
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

/* Groups of one switch towards a rank; ports go to *port. */
static uint32_t group_links(const struct shape *x, uint32_t s, unsigned rank,
                            struct dmodc_group *ret, uint32_t *n_ports)
{
	const struct graph *g = x->g;
	uint32_t n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t k = 0, to = g->adj[i].to;

		if (x->t->rank[to] != rank) {
			continue;
		}
		while (k < n && ret[k].to < to) {
			k++;
		}
		if (k == n || ret[k].to != to) {
			memmove(ret + k + 1, ret + k, (n - k) * sizeof(*ret));
			ret[k] = (struct dmodc_group){ .to = to, .slot = DMODC_NO_SLOT };
			n++;
		}
		ret[k].n++;
	}
	for (uint32_t k = 0; k < n; k++) {
		ret[k].first = *n_ports;
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (g->adj[i].to == ret[k].to) {
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

/* ---- clusters: the order of hosts, and who joins nothing new ---- */

/* Stable counting sort of the switches with hosts by their present cluster. */
static void sort_homes(struct shape *x)
{
	struct dmodc_tree *t = x->t;
	uint32_t sum = 0;

	memset(x->count, 0, t->n * sizeof(*x->count));
	for (uint32_t i = 0; i < t->n_homes; i++) {
		x->count[find(x->joined, t->home[i])]++;
	}
	for (uint32_t s = 0; s < t->n; s++) {
		uint32_t n = x->count[s];

		x->count[s] = sum;
		sum += n;
	}
	for (uint32_t i = 0; i < t->n_homes; i++) {
		x->queue[x->count[find(x->joined, t->home[i])]++] = t->home[i];
	}
	memcpy(t->home, x->queue, t->n_homes * sizeof(*t->home));
}

static void find_clusters(struct shape *x)
{
	struct dmodc_tree *t = x->t;

	reset_sets(x);
	for (uint32_t s = 0; s < t->n; s++) {
		x->cluster[s] = s;
		if (hosts_on(x->g, s)) {
			t->home[t->n_homes++] = s;
		}
	}
	for (unsigned r = 1; r <= t->height; r++) {
		for (uint32_t i = t->rank_first[r]; i < t->rank_first[r + 1]; i++) {
			uint32_t s = t->by_rank[i];

			for (uint32_t k = t->down.first[s]; k < t->down.first[s + 1];
			     k++) {
				join(x->joined, s, t->down.group[k].to);
			}
		}
		for (uint32_t i = t->rank_first[r]; i < t->rank_first[r + 1]; i++) {
			x->cluster[t->by_rank[i]] = find(x->joined, t->by_rank[i]);
		}
		sort_homes(x);
	}
	for (uint32_t i = 0; i < t->n_homes; i++) {
		t->col[t->home[i]] = t->n_cols;
		t->n_cols += hosts_on(x->g, t->home[i]);
	}
}

static bool joins_nothing(const struct shape *x, uint32_t s)
{
	const struct dmodc_tree *t = x->t;

	if (t->rank[s] == 0 || hosts_on(x->g, s)) {
		return false;
	}
	for (uint32_t k = t->up.first[s]; k < t->up.first[s + 1]; k++) {
		if (!x->stub[t->up.group[k].to]) {
			return false;
		}
	}
	for (uint32_t k = t->down.first[s]; k < t->down.first[s + 1]; k++) {
		if (x->cluster[t->down.group[k].to] !=
		    x->cluster[t->down.group[t->down.first[s]].to]) {
			return false;
		}
	}
	return true;
}

/* ---- planes and slots ---- */

static int compare_groups(const void *a, const void *b)
{
	const struct dmodc_group *x = a, *y = b;

	if (x->slot != y->slot) {
		return x->slot < y->slot ? -1 : 1;
	}
	return x->to < y->to ? -1 : x->to > y->to;
}

/* The planes above this rank join to those from this rank up; each gets its number there.
 */
static void join_planes(struct shape *x, unsigned r)
{
	struct dmodc_tree *t = x->t;
	uint32_t from = t->rank_first[r], to = t->rank_first[r + 1];

	for (uint32_t i = from; i < to; i++) {
		uint32_t s = t->by_rank[i];

		for (uint32_t k = t->up.first[s]; k < t->up.first[s + 1]; k++) {
			if (!x->stub[t->up.group[k].to]) {
				join(x->joined, s, t->up.group[k].to);
			}
		}
	}
	memset(x->count, 0, t->n * sizeof(*x->count));
	for (uint32_t s = 0; s < t->n; s++) {
		/* planes are named by their smallest member */
		if (t->rank[s] > r && !x->stub[s] && x->plane[s] == s) {
			x->number[s] = x->count[find(x->joined, s)]++;
		}
	}
}

/* Uplinks of a switch in the order of their planes. Returns how many have one, 0 when two
 * have the same. */
static uint32_t number_groups(struct shape *x, uint32_t s)
{
	struct dmodc_tree *t = x->t;
	struct dmodc_group *group = t->up.group + t->up.first[s];
	uint32_t n = t->up.first[s + 1] - t->up.first[s], n_real = 0;
	bool twice = false;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t to = group[k].to;
		uint32_t slot = x->stub[to] ? DMODC_NO_SLOT : x->number[x->plane[to]];

		group[k].slot = (uint16_t)(slot < DMODC_NO_SLOT ? slot : DMODC_NO_SLOT);
		n_real += !x->stub[to];
	}
	qsort(group, n, sizeof(*group), compare_groups);
	for (uint32_t k = 1; k < n_real; k++) {
		twice |= group[k].slot == group[k - 1].slot;
	}
	return twice ? 0 : n_real;
}

static uint32_t real_uplinks(const struct shape *x, uint32_t s)
{
	uint32_t n = 0;

	for (uint32_t k = x->t->up.first[s]; k < x->t->up.first[s + 1]; k++) {
		n += !x->stub[x->t->up.group[k].to];
	}
	return n;
}

/* Slots are neighbours in order. */
static void slots_in_order(struct shape *x, uint32_t s)
{
	struct dmodc_tree *t = x->t;
	uint32_t n = 0;

	for (uint32_t k = t->up.first[s]; k < t->up.first[s + 1]; k++) {
		if (!x->stub[t->up.group[k].to]) {
			t->up.group[k].slot = (uint16_t)n++;
		}
	}
	t->slots[s] = (uint8_t)(n || t->up.first[s] == t->up.first[s + 1] ? n : 1);
}

/* By plane: most uplinks of one switch; UINT32_MAX: a switch has two into one plane. */
static void count_uplinks(struct shape *x, unsigned r, uint32_t *most)
{
	const struct dmodc_tree *t = x->t;

	memset(most, 0, t->n * sizeof(*most));
	for (uint32_t i = t->rank_first[r]; i < t->rank_first[r + 1]; i++) {
		uint32_t s = t->by_rank[i], plane = find(x->joined, s);
		uint32_t n = number_groups(x, s);

		if (n == 0 && t->up.first[s] != t->up.first[s + 1] && !x->stub[s]) {
			most[plane] = UINT32_MAX;
		}
		most[plane] = n > most[plane] ? n : most[plane];
	}
}

/* Slots of the switches of one rank: planes where that makes sense. */
static void find_slots(struct shape *x, unsigned r)
{
	struct dmodc_tree *t = x->t;
	uint32_t *most = x->queue;

	count_uplinks(x, r, most);
	for (uint32_t i = t->rank_first[r]; i < t->rank_first[r + 1]; i++) {
		uint32_t s = t->by_rank[i], plane = find(x->joined, s);
		uint32_t slots = x->count[plane];

		if (x->stub[s] || slots > DMODC_SLOTS_MAX || most[plane] == UINT32_MAX ||
		    (uint64_t)most[plane] * 4 < (uint64_t)slots * 3) {
			slots_in_order(x, s);
		} else {
			t->slots[s] = (uint8_t)slots;
			t->n_missing += slots - real_uplinks(x, s);
		}
	}
}

/* Places in the plane, and what the switches above take for their dividers. */
static void find_places(struct shape *x, unsigned r)
{
	struct dmodc_tree *t = x->t;
	uint32_t *n = x->queue;

	memset(n, 0, t->n * sizeof(*n));
	t->divider[r] = 1;
	for (uint32_t i = t->rank_first[r]; i < t->rank_first[r + 1]; i++) {
		uint32_t s = t->by_rank[i];

		t->place[s] = n[find(x->joined, s)]++;
		if (!x->stub[s] && t->slots[s] > t->divider[r]) {
			t->divider[r] = t->slots[s];
		}
	}
	for (uint32_t s = 0; s < t->n; s++) {
		if (t->rank[s] >= r && !x->stub[s]) {
			x->plane[s] = find(x->joined, s);
		}
	}
}

static void find_planes(struct shape *x)
{
	struct dmodc_tree *t = x->t;
	uint64_t product = 1;

	reset_sets(x);
	for (uint32_t i = t->n; i-- > 0;) {
		x->stub[t->by_rank[i]] = joins_nothing(x, t->by_rank[i]);
	}
	for (unsigned r = t->height + 1; r-- > 0;) {
		join_planes(x, r);
		find_slots(x, r);
		find_places(x, r);
	}
	for (unsigned r = 0; r <= t->height; r++) {
		uint64_t widest = t->divider[r];

		t->divider[r] = product;
		product = product > UINT32_MAX ? product : product * widest;
	}
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
	t->home = arena_array(x->a, n, sizeof(*t->home));
	t->col = arena_array(x->a, n, sizeof(*t->col));
	x->queue = arena_array(x->a, n, sizeof(*x->queue));
	x->joined = arena_array(x->a, n, sizeof(*x->joined));
	x->cluster = arena_array(x->a, n, sizeof(*x->cluster));
	x->stub = arena_array(x->a, n, sizeof(*x->stub));
	x->plane = arena_array(x->a, n, sizeof(*x->plane));
	x->number = arena_array(x->a, n, sizeof(*x->number));
	x->count = arena_array(x->a, n, sizeof(*x->count));
	return t->rank && t->by_rank && t->part && t->slots && t->place && t->divider &&
	                       t->home && t->col && x->queue && x->joined && x->cluster &&
	                       x->stub && x->plane && x->number && x->count
	               ? E_OK
	               : -ENOMEM;
}

int dmodc_tree_init(struct dmodc_tree *t, const struct graph *g,
                    const struct guid_file *roots, struct arena *a, struct why *why)
{
	struct shape x = { .t = t, .g = g, .why = why, .a = a };
	int ret;

	*t = (struct dmodc_tree){ .g = g, .n = g->n_switches };
	ret = shape_init(&x);
	if (ret != E_OK) {
		return ret;
	}
	find_parts(&x);
	ret = find_ranks(&x, roots);
	if (ret == E_OK) {
		ret = find_groups(&x);
	}
	if (ret == E_OK) {
		find_clusters(&x);
		find_planes(&x);
	}
	return ret;
}

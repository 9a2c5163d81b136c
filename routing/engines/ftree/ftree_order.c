/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The order of switches in the tree, and the main route to every host.
 *
 * Two switches of one rank are in one class if they are below the same classes. In a
 * healthy tree the classes of a rank are its planes, and each top switch is a class of its
 * own. Leaf switches that share switches above form a group and are ordered side by side;
 * so are the groups that share switches, rank by rank. Classes and groups are found by
 * majority, so a missing or a crossed cable does not move other switches.
 *
 * Hosts are numbered in the order of their leaf switches, compute nodes first.
 * Let the leaf switch of host number t have w cables up. The main route to the host passes
 * class t mod w above the leaf, then class (t / w) mod w' of the w' classes above that, and
 * so on: d-mod-k (Zahavi et al. 2010). The routes from all sources to the host pass the same
 * classes, so shifts pass without contention upward and downward.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/lids.h"
#include "routing/spread/leaves.h"

/* ---- grouping by majority ---- */

/* Items that each use a set of resources. Items that share the majority of them are grouped. */
struct users {
	uint32_t n;      /* items */
	uint32_t n_used; /* resources are numbered below this */
	uint32_t *first; /* [n + 1] into used */
	uint32_t *used;
	uint32_t *group; /* [n] result: the lowest item of the group */
	uint32_t *owner; /* [n_used] the group that used the resource first */
	uint32_t *votes; /* [n] */
};

static void group_one(struct users *u, uint32_t i)
{
	const uint32_t *used = u->used + u->first[i];
	uint32_t n = u->first[i + 1] - u->first[i], best = i;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t o = u->owner[used[k]];

		if (o != GRAPH_NONE && ++u->votes[o] * 2 >= n &&
		    (best == i || u->votes[o] > u->votes[best])) {
			best = o;
		}
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t *o = &u->owner[used[k]];

		if (*o != GRAPH_NONE) {
			u->votes[*o] = 0;
		} else {
			*o = best;
		}
	}
	u->group[i] = best;
}

/* Items with most resources come first: they use all that their group uses. */
static void group_users(struct users *u)
{
	uint32_t most = 0;

	memset(u->owner, 0xff, u->n_used * sizeof(*u->owner));
	memset(u->votes, 0, u->n * sizeof(*u->votes));
	for (uint32_t i = 0; i < u->n; i++) {
		uint32_t n = u->first[i + 1] - u->first[i];

		most = n > most ? n : most;
	}
	for (uint32_t n = most + 1; n-- > 0;) {
		for (uint32_t i = 0; i < u->n; i++) {
			if (u->first[i + 1] - u->first[i] == n) {
				group_one(u, i);
			}
		}
	}
	for (uint32_t i = 0; i < u->n; i++) {
		u->votes[u->group[i]] = u->n;
	}
	for (uint32_t i = 0; i < u->n; i++) { /* name a group after its lowest member */
		uint32_t *name = &u->votes[u->group[i]];

		*name = *name == u->n ? i : *name;
		u->group[i] = *name;
	}
}

static int users_init(struct users *u, uint32_t n, uint32_t n_links, struct arena *a)
{
	*u = (struct users){ .n = n, .n_used = n };
	u->first = arena_array(a, n + 1u, sizeof(*u->first));
	u->used = arena_array(a, n_links + 1u, sizeof(*u->used));
	u->group = arena_array(a, n + 1u, sizeof(*u->group));
	u->owner = arena_array(a, n + 1u, sizeof(*u->owner));
	u->votes = arena_array(a, n + 1u, sizeof(*u->votes));
	return u->first && u->used && u->group && u->owner && u->votes ? E_OK : -ENOMEM;
}

/* ---- classes ---- */

static void find_classes(struct ftree *f, struct users *u)
{
	for (unsigned r = 0; r < f->n_ranks; r++) {
		const struct graph *g = f->g;
		uint32_t n = 0;

		/* Switches of rank r use the classes above them; all others use
		 * nothing. */
		for (uint32_t s = 0; s < f->n; s++) {
			u->first[s] = n;
			for (uint32_t i = g->adj_first[s];
			     f->rank[s] == r && i < g->adj_first[s + 1]; i++) {
				if (f->rank[g->adj[i].to] < r) {
					u->used[n++] = f->class[g->adj[i].to];
				}
			}
		}
		u->first[f->n] = n;
		group_users(u);
		for (uint32_t s = 0; s < f->n; s++) {
			if (f->rank[s] != r) {
				continue;
			}
			f->class[s] =
				u->group[s] == s ? f->n_classes++ : f->class[u->group[s]];
		}
	}
}

/* ---- order of the leaf switches ---- */

/* Groups of one rank, named by one of their switches, use the switches above. */
static void list_switches_above(const struct ftree *f, unsigned rank,
                                const uint32_t *group, struct users *u)
{
	const struct graph *g = f->g;
	uint32_t *first = u->first;

	memset(first, 0, (f->n + 1u) * sizeof(*first));
	for (unsigned fill = 0; fill < 2; fill++) {
		for (uint32_t s = 0; s < f->n; s++) {
			for (uint32_t i = g->adj_first[s];
			     f->rank[s] == rank && i < g->adj_first[s + 1]; i++) {
				uint32_t to = g->adj[i].to;

				if (f->rank[to] >= rank) {
					continue;
				}
				if (fill) {
					u->used[first[group[s]]++] = to;
				} else {
					first[group[s] + 1]++;
				}
			}
		}
		for (uint32_t s = 0; !fill && s < f->n; s++) {
			first[s + 1] += first[s];
		}
	}
	for (uint32_t s = f->n; s > 0; s--) { /* filling moved each start to its end */
		first[s] = first[s - 1];
	}
	first[0] = 0;
}

/* The group below to which a switch has most cables; the switch itself if there is none. */
static uint32_t group_below(const struct ftree *f, uint32_t s, const uint32_t *group,
                            uint32_t *votes)
{
	const struct graph *g = f->g;
	uint32_t best = s, most = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if (f->rank[to] > f->rank[s] && ++votes[group[to]] > most) {
			most = votes[group[to]];
			best = group[to];
		}
	}
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if (f->rank[to] > f->rank[s]) {
			votes[group[to]] = 0;
		}
	}
	return best;
}

struct place {
	uint32_t key[FTREE_RANKS_MAX]; /* group at each rank, from the top */
	uint32_t s;
};

static int compare_places(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	for (unsigned r = 0; r < FTREE_RANKS_MAX; r++) {
		if (a->key[r] != b->key[r]) {
			return a->key[r] < b->key[r] ? -1 : 1;
		}
	}
	return a->s < b->s ? -1 : a->s > b->s;
}

/* Finds the rank with most compute nodes and how many numbers each of its switches gets. */
static void find_cn_rank(struct ftree *f)
{
	uint32_t sum[FTREE_RANKS_MAX] = { 0 }, n = 0, most = 0;

	for (uint32_t s = 0; s < f->n; s++) {
		sum[f->rank[s]] += f->n_cn[s];
	}
	for (unsigned r = 0; r < f->n_ranks; r++) {
		f->cn_rank = sum[r] > sum[f->cn_rank] ? r : f->cn_rank;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		if (f->rank[s] == f->cn_rank) {
			n++;
			most = f->n_cn[s] > most ? f->n_cn[s] : most;
		}
	}
	/* If most numbers were reserved for missing hosts, whole planes could stay unused. */
	f->cn_stride = 2 * sum[f->cn_rank] >= n * most ? most : 0;
}

static int order_leaves(struct ftree *f, struct users *u, struct arena *a)
{
	struct place *place = arena_array(a, f->n + 1u, sizeof(*place));
	uint32_t *group = arena_array(a, f->n + 1u, sizeof(*group));
	uint32_t *votes = arena_array(a, f->n + 1u, sizeof(*votes));

	f->leaf = arena_array(a, f->n + 1u, sizeof(*f->leaf));
	f->leaf_pos = arena_array(a, f->n + 1u, sizeof(*f->leaf_pos));
	if (!place || !group || !votes || !f->leaf || !f->leaf_pos) {
		return -ENOMEM;
	}
	/* from the bottom up: group switches that share those above, then give the
	 * switches above the group to which they have most cables */
	for (uint32_t s = 0; s < f->n; s++) {
		group[s] = s;
		place[s].s = s;
		for (unsigned r = 0; r < f->n_ranks; r++) {
			place[s].key[r] = s;
		}
	}
	for (unsigned r = f->n_ranks - 1u; r > 0; r--) {
		list_switches_above(f, r, group, u);
		group_users(u);
		for (uint32_t s = 0; s < f->n; s++) {
			if (f->rank[s] >= r) {
				group[s] = u->group[group[s]];
			}
		}
		for (uint32_t s = 0; s < f->n; s++) {
			if (f->rank[s] == r - 1) {
				group[s] = group_below(f, s, group, votes);
			}
			place[s].key[r - 1] = group[s];
		}
	}
	qsort(place, f->n, sizeof(*place), compare_places);
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t s = place[i].s;
		bool hosts = f->g->host_first[s] != f->g->host_first[s + 1];

		f->leaf_pos[s] =
			hosts || f->rank[s] == f->cn_rank ? f->n_leaves : GRAPH_NONE;
		if (f->leaf_pos[s] != GRAPH_NONE) {
			f->leaf[f->n_leaves++] = s;
		}
	}
	return E_OK;
}

/* ---- links ---- */

static int compare_links(const void *x, const void *y)
{
	const struct ftree_link *a = x, *b = y;

	if (a->class != b->class) {
		return a->class < b->class ? -1 : 1;
	}
	if (a->to != b->to) {
		return a->to < b->to ? -1 : 1;
	}
	return a->port < b->port ? -1 : a->port > b->port;
}

static void sort_links(struct ftree *f, uint32_t s)
{
	const struct graph *g = f->g;
	uint32_t at = g->adj_first[s];

	f->first[s] = at;
	for (unsigned down = 0; down < 2; down++) {
		uint32_t from = at;

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;

			if (ftree_leads_up(f, s, to) == !down) {
				f->link[at++] = (struct ftree_link){
					.to = to,
					.channel = i,
					.class = f->rank[to] == f->rank[s] ? GRAPH_NONE
					                                   : f->class[to],
					.port = g->adj[i].port,
				};
			}
		}
		qsort(f->link + from, at - from, sizeof(*f->link), compare_links);
		if (!down) {
			f->first_down[s] = at;
		}
	}
	f->first[s + 1] = at;
}

/* Numbers the cables of a switch into one class above, at both ends. */
static int number_cables(struct ftree *f, struct arena *a)
{
	const struct graph *g = f->g;
	uint8_t *number = arena_alloc(a, g->n_ports + 1u); /* at the port above */

	if (!number) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t i = f->first[s]; i < f->first_down[s]; i++) {
			struct ftree_link *l = &f->link[i];
			bool same = i > f->first[s] && l[-1].class == l->class;

			l->cable = same ? (uint8_t)(l[-1].cable + 1) : 0;
			number[graph_port(g, g->switches[l->to],
			                  g->adj[l->channel].to_port)] = l->cable;
		}
	}
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t i = f->first_down[s]; i < f->first[s + 1]; i++) {
			f->link[i].cable =
				number[graph_port(g, g->switches[s], f->link[i].port)];
		}
	}
	return E_OK;
}

/* ---- main routes ---- */

/* Cables up of each class: the class above and the number among the cables into it. */
struct slots {
	uint32_t *first; /* [n_classes + 1] */
	uint32_t *class, *cable;
};

enum { CLASS_BITS = 28, CABLE_BITS = 8 };

static int compare_keys(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return a < b ? -1 : a > b;
}

/* Keeps the cables that at least half of the members have. The other members miss one or
 * have one more. */
static void keep_slots(const struct ftree *f, const uint64_t *key, uint32_t n_keys,
                       const uint32_t *members, struct slots *sl)
{
	uint32_t n = 0;

	for (uint32_t i = 0, class = 0; class < f->n_classes; class ++) {
		sl->first[class] = n;
		for (uint32_t k;
		     i < n_keys && key[i] >> (CLASS_BITS + CABLE_BITS) == class; i = k) {
			for (k = i; k < n_keys && key[k] == key[i];) {
				k++;
			}
			if (2 * (k - i) >= members[class]) {
				sl->class[n] = key[i] & ((1U << CLASS_BITS) - 1);
				sl->cable[n++] =
					(key[i] >> CLASS_BITS) & ((1U << CABLE_BITS) - 1);
			}
		}
	}
	sl->first[f->n_classes] = n;
}

static int find_slots(const struct ftree *f, struct slots *sl, struct arena *a)
{
	uint64_t *key = arena_array(a, f->g->n_adj + 1u, sizeof(*key));
	uint32_t *members = arena_array(a, f->n_classes + 1u, sizeof(*members)), n;

	sl->first = arena_array(a, f->n_classes + 1u, sizeof(*sl->first));
	sl->class = arena_array(a, f->g->n_adj + 1u, sizeof(*sl->class));
	sl->cable = arena_array(a, f->g->n_adj + 1u, sizeof(*sl->cable));
	if (!key || !members || !sl->first || !sl->class || !sl->cable) {
		return -ENOMEM;
	}
	/* One key (class, cable, class above) per cable up. */
	n = 0;
	for (uint32_t s = 0; s < f->n; s++) {
		members[f->class[s]]++;
		for (uint32_t i = f->first[s]; i < f->first_down[s]; i++) {
			const struct ftree_link *l = &f->link[i];

			if (l->class != GRAPH_NONE) {
				key[n++] = (uint64_t)f->class[s]
				                   << (CLASS_BITS + CABLE_BITS) |
				           (uint64_t)l->cable << CLASS_BITS | l->class;
			}
		}
	}
	qsort(key, n, sizeof(*key), compare_keys);
	keep_slots(f, key, n, members, sl);
	return E_OK;
}

/* Stores the main route of host number t on switch s. Hosts numbered from the end take the
 * classes in the opposite order. */
static void set_stages(const struct ftree *f, const struct slots *sl, uint32_t s,
                       uint32_t t, bool from_end, uint32_t h)
{
	uint32_t class = f->class[s];

	for (unsigned r = f->rank[s]; r-- > 0;) {
		uint32_t w =
			class == GRAPH_NONE ? 0 : sl->first[class + 1] - sl->first[class];
		uint32_t digit = w ? t % w : 0;
		uint32_t k =
			w ? sl->first[class] + (from_end ? w - 1 - digit : digit) : 0;

		class = w ? sl->class[k] : GRAPH_NONE;
		t = w ? t / w : t;
		*ftree_stage(f, r, h) = (struct ftree_stage){
			.class = class, .quotient = t, .cable = w ? sl->cable[k] : 0
		};
	}
}

/*
 * Numbers compute nodes by their switch ports (leaves_places()), where these are alike and no
 * other hosts hang on them. Then a compute node has the same number whichever others are there.
 */
static int find_places(struct ftree *f, struct arena *a)
{
	const struct graph *g = f->g;
	bool *is_cn = arena_array(a, g->n_ports + 1u, sizeof(*is_cn));
	uint32_t *leaf = arena_array(a, f->n_leaves + 1u, sizeof(*leaf)), n = 0, n_cn = 0;
	uint32_t *place = arena_array(a, f->n_hosts + 1u, sizeof(*place));
	struct leaf_places at;

	if (!is_cn || !leaf || !place) {
		return -ENOMEM;
	}
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		is_cn[g->hosts[h]] = f->kind[g->hosts[h]] == FTREE_CN;
	}
	for (uint32_t i = 0; i < f->n_leaves; i++) {
		if (f->rank[f->leaf[i]] == f->cn_rank) {
			n_cn += f->n_cn[f->leaf[i]];
			leaf[n++] = f->leaf[i];
		}
	}
	leaves_places(g, leaf, n, is_cn, true, &at);
	if (!at.n) {
		return E_OK;
	}
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		place[h] = at.rank[graph_switch_port_of(g, g->hosts[h])];
	}
	f->place = place;
	f->cn_stride = at.n;
	f->placed = at.full && n_cn == f->n_hosts;
	return E_OK;
}

/* Hosts on a switch beyond the numbers that are reserved for compute nodes. */
static uint32_t extra_hosts(const struct ftree *f, uint32_t s)
{
	uint32_t places = f->cn_stride && !f->place ? f->cn_stride : f->n_cn[s];

	return ftree_hosts_on(f, s) > places ? ftree_hosts_on(f, s) - places : 0;
}

/* Numbers reserved for them on each leaf switch by the rule of find_cn_rank(), 0: none. */
static uint32_t find_extra_stride(const struct ftree *f)
{
	uint32_t n = 0, sum = 0, most = 0;

	for (uint32_t s = 0; s < f->n; s++) {
		if (f->rank[s] == f->cn_rank) {
			uint32_t extra = extra_hosts(f, s);

			n++;
			sum += extra;
			most = extra > most ? extra : most;
		}
	}
	return 2 * sum >= n * most ? most : 0;
}

/*
 * Numbers hosts: compute nodes of the common rank, other compute nodes, other hosts. Other
 * hosts take the numbers that compute nodes leave unused on the switch. Those that do not
 * fit are numbered from the end, so that their routes use the links that the compute nodes
 * of the same switch use least.
 */
static void number_hosts(struct ftree *f, const struct slots *sl)
{
	const struct graph *g = f->g;
	uint32_t cn = 0, other = 0, base = 0, other_base = 0;
	uint32_t stride = f->cn_stride, other_stride = find_extra_stride(f);

	memset(f->stage, 0xff, f->n_hosts * FTREE_RANKS_MAX * sizeof(*f->stage));
	for (unsigned common = 2; common-- > 0;) {
		for (uint32_t i = 0; i < f->n_leaves; i++) {
			uint32_t s = f->leaf[i], start = base;
			uint32_t place = base + (f->place ? stride : f->n_cn[s]);

			if ((f->rank[s] == f->cn_rank) != common) {
				continue;
			}
			cn = common && stride ? base : cn;
			other = common && other_stride ? other_base : other;
			base += stride;
			other_base += other_stride;
			for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1];
			     h++) {
				if (f->kind[g->hosts[h]] == FTREE_CN) {
					uint32_t t = cn++;

					t = common && f->place ? start + f->place[h] : t;
					set_stages(f, sl, s, t, false, h);
				} else if (common && place < base) {
					set_stages(f, sl, s, place++, false, h);
				} else {
					set_stages(f, sl, s, other++, stride != 0, h);
				}
			}
		}
	}
}

int ftree_order(struct ftree *f, struct arena *a)
{
	struct users u;
	struct slots sl;
	int ret = users_init(&u, f->n, f->g->n_adj, a);

	f->n_hosts = f->g->host_first[f->n];
	f->class = arena_array(a, f->n + 1u, sizeof(*f->class));
	f->first = arena_array(a, f->n + 1u, sizeof(*f->first));
	f->first_down = arena_array(a, f->n + 1u, sizeof(*f->first_down));
	f->link = arena_array(a, f->g->n_adj + 1u, sizeof(*f->link));
	f->lid = arena_array(a, f->n_hosts + 1u, sizeof(*f->lid));
	f->stage = arena_array(a, f->n_hosts + 1u, FTREE_RANKS_MAX * sizeof(*f->stage));
	if (ret != E_OK || !f->class || !f->first || !f->first_down || !f->link ||
	    !f->lid || !f->stage) {
		return -ENOMEM;
	}
	find_cn_rank(f);
	find_classes(f, &u);
	for (uint32_t s = 0; s < f->n; s++) {
		sort_links(f, s);
	}
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		f->lid[h] = f->lids->of[f->g->hosts[h]].base;
	}
	ret = number_cables(f, a);
	if (ret == E_OK) {
		ret = order_leaves(f, &u, a);
	}
	if (ret == E_OK) {
		ret = find_slots(f, &sl, a);
	}
	if (ret == E_OK) {
		ret = find_places(f, a);
	}
	if (ret == E_OK) {
		number_hosts(f, &sl);
	}
	return ret;
}

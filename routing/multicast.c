/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Multicast trees.
 *
 * A tree is its root and, for every other switch, the cable towards the root.
 * The part that a group needs is found by walking up from each member's switch until a
 * switch that an earlier walk passed. Every switch has one cable towards the root, so the
 * part has no cycle. Both ends of a cable are noted at once, so packets can pass it in
 * both directions.
 *
 * Not done: weights of cables, load of other groups, keeping the old tree when a better
 * one appears.
 */
#include "routing/multicast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"

/* ---- the part of a tree that a group needs ---- */

/* A switch on the path of some member. */
struct stop {
	const struct sw_link *up; /* NULL: the root */
	uint32_t sw, child;       /* child: the last stop that came from below */
	uint32_t n_children;
	bool member;
};

struct prune {
	const struct graph *g;
	const struct mcast_in *in;
	const struct mcast_group *group;
	mcast_up_f *up;
	void *ctx;
	uint32_t *seen; /* [n_switches] number of its stop + 1 */
	uint32_t root;
	struct stop *stops;
	uint32_t n;
	size_t cap;
	struct mcast_tree *tree;
	struct arena *a;
};

static const struct sw_link *up_from(const struct prune *p, uint32_t s)
{
	return s == p->root ? NULL : p->up(p->ctx, p->group->mlid, s);
}

static int add_stop(struct prune *p, uint32_t s)
{
	if (ARENA_RESERVE(p->a, p->stops, p->n, p->cap, p->n + 1U) != E_OK) {
		return -ENOMEM;
	}
	p->stops[p->n++] = (struct stop){ .sw = s, .up = up_from(p, s) };
	p->seen[s] = p->n;
	return E_OK;
}

/* Does the tree lead from this switch to the root? */
static bool leads_up(const struct prune *p, uint32_t s)
{
	for (uint32_t steps = 0; steps < p->g->n_switches; steps++) {
		const struct sw_link *l;

		if (p->seen[s] || s == p->root) {
			return true;
		}
		l = up_from(p, s);
		if (!l) {
			return false;
		}
		s = l->to;
	}
	return false;
}

/* Adds stops from a switch up to the root, or to the first switch that is one already. */
static int add_path(struct prune *p, uint32_t s)
{
	uint32_t below = GRAPH_NONE;

	for (;;) {
		bool known = p->seen[s] != 0;
		int ret = known ? E_OK : add_stop(p, s);
		struct stop *at;

		if (ret != E_OK) {
			return ret;
		}
		at = &p->stops[p->seen[s] - 1];
		at->n_children += below != GRAPH_NONE;
		at->child = below;
		if (known || !at->up) {
			return E_OK;
		}
		below = p->seen[s] - 1;
		s = at->up->to;
	}
}

/* Has this member a switch that the tree leads to? */
static bool is_reached(const struct prune *p, const struct mcast_member *m,
                       uint32_t *ret_switch)
{
	*ret_switch = graph_switch_of(p->g, m->port);
	return *ret_switch != GRAPH_NONE &&
	       !(p->in->barred && p->in->barred[*ret_switch]) && leads_up(p, *ret_switch);
}

/* Stops of all members. Returns how many receive in *ret, 0 too when one is alone. */
static int add_members(struct prune *p, uint32_t *ret_receivers)
{
	uint32_t reached = 0, receivers = 0, sw;

	for (uint32_t i = 0; i < p->group->n; i++) {
		const struct mcast_member *m = &p->group->members[i];
		int ret;

		if (!is_reached(p, m, &sw)) {
			p->tree->missed++;
			continue;
		}
		ret = add_path(p, sw);
		if (ret != E_OK) {
			return ret;
		}
		p->stops[p->seen[sw] - 1].member = true;
		reached++;
		receivers += !m->sends_only;
	}
	*ret_receivers = reached > 1 ? receivers : 0;
	return E_OK;
}

/* The ports of one stop. */
struct port_bits {
	uint64_t word[4];
};

/* Notes a port of a switch that is a stop. */
static void note_port(const struct prune *p, struct port_bits *bits, uint32_t sw,
                      uint8_t port)
{
	struct port_bits *b = &bits[p->seen[sw] - 1];
	uint64_t bit = UINT64_C(1) << port % 64;

	p->tree->n += (b->word[port / 64] & bit) == 0;
	b->word[port / 64] |= bit;
}

static void note_ports(const struct prune *p, struct port_bits *bits)
{
	uint32_t sw;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct stop *s = &p->stops[i];

		if (s->up) {
			note_port(p, bits, s->sw, s->up->port);
			note_port(p, bits, s->up->to, s->up->to_port);
		}
	}
	for (uint32_t i = 0; i < p->group->n; i++) {
		const struct mcast_member *m = &p->group->members[i];

		if (!m->sends_only && is_reached(p, m, &sw)) {
			const struct port *port = &p->g->ports[m->port];
			bool own = p->g->nodes[port->node].type == NODE_SWITCH;

			note_port(p, bits, sw, own ? 0 : p->g->ports[port->peer].num);
		}
	}
}

static struct mcast_port *list_ports(const struct port_bits *b, uint32_t sw,
                                     struct mcast_port *to)
{
	for (unsigned w = 0; w < 4; w++) {
		for (uint64_t left = b->word[w]; left; left &= left - 1) {
			unsigned port = 64 * w + (unsigned)__builtin_ctzll(left);
			*to++ = (struct mcast_port){ sw, (uint8_t)port };
		}
	}
	return to;
}

/* By switch and port, without sorting: bits are in order, switches are looked through. */
static int put_ports(struct prune *p)
{
	struct mcast_tree *t = p->tree;
	struct port_bits *bits = calloc(p->n, sizeof(*bits));

	if (!bits) {
		return -ENOMEM;
	}

	/* cut what stands above the first switch that has a member or branches */
	struct stop *top = &p->stops[p->seen[p->root] - 1];

	while (!top->member && top->n_children == 1) {
		top = &p->stops[top->child];
		top->up = NULL;
	}
	t->root = top->sw;
	note_ports(p, bits);
	t->ports = arena_array(p->a, t->n, sizeof(*t->ports));
	struct mcast_port *to = t->ports;
	for (uint32_t sw = 0; to && sw < p->g->n_switches; sw++) {
		if (p->seen[sw]) {
			to = list_ports(&bits[p->seen[sw] - 1], sw, to);
		}
	}
	free(bits);
	return to ? E_OK : -ENOMEM;
}

int mcast_prune(const struct graph *g, const struct mcast_in *in,
                const struct mcast_group *group, uint32_t root, mcast_up_f *up, void *ctx,
                uint32_t *seen, struct arena *a, struct mcast_tree *ret_tree)
{
	struct mcast_tree tree = { .root = GRAPH_NONE };
	struct prune p = { .g = g,
		           .in = in,
		           .group = group,
		           .up = up,
		           .ctx = ctx,
		           .seen = seen,
		           .root = root,
		           .tree = &tree,
		           .a = a };
	uint32_t receivers;
	int ret = add_members(&p, &receivers);

	if (ret == E_OK && receivers) {
		ret = put_ports(&p);
	}
	for (uint32_t i = 0; i < p.n; i++) {
		seen[p.stops[i].sw] = 0;
	}
	if (ret == E_OK) {
		*ret_tree = tree;
	}
	return ret;
}

/* ---- trees of fewest hops ---- */

struct chooser {
	const struct graph *g;
	const struct mcast_in *in;
	struct hops hops;
	uint32_t root;
	uint8_t *set;   /* [n_switches] 1: a member's switch */
	uint8_t *last;  /* [n_switches] the set of which these are: */
	uint32_t *sum;  /* [n_switches] of distances to the set */
	uint8_t *most;  /* [n_switches] greatest of them */
	uint32_t *seen; /* [n_switches] */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h =
		(a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);

	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	return h ^ h >> 31;
}

static uint64_t rank(const struct chooser *c, uint32_t mlid, uint32_t sw)
{
	return mix(c->g->nodes[c->g->switches[sw]].guid, mlid);
}

/* Adds the distances from one switch. */
static void add_row(uint32_t *restrict sum, uint8_t *restrict most,
                    const uint8_t *restrict dist, uint32_t n)
{
#pragma omp simd
	for (uint32_t s = 0; s < n; s++) {
		sum[s] += dist[s];
		most[s] = dist[s] > most[s] ? dist[s] : most[s];
	}
}

/* Adds distances to all switches of the set. Groups with very many members tend to have
 * the same, so their distances are kept for the next group. */
static void add_distances(struct chooser *c)
{
	uint32_t n = c->g->n_switches;
	uint8_t *set = c->set;

	if (memcmp(set, c->last, n) == 0) {
		return;
	}
	memset(c->sum, 0, n * sizeof(*c->sum));
	memset(c->most, 0, n);
	for (uint32_t sw = 0; sw < n; sw++) {
		if (set[sw]) {
			add_row(c->sum, c->most, c->hops.dist + sw * c->hops.stride, n);
		}
	}
	c->set = c->last;
	c->last = set;
}

static bool is_better(const struct chooser *c, uint32_t mlid, uint32_t s, uint32_t best)
{
	if (best == GRAPH_NONE || c->most[s] != c->most[best]) {
		return best == GRAPH_NONE || c->most[s] < c->most[best];
	}
	if (c->sum[s] != c->sum[best]) {
		return c->sum[s] < c->sum[best];
	}
	return rank(c, mlid, s) > rank(c, mlid, best);
}

static uint32_t choose_root(struct chooser *c, const struct mcast_group *group)
{
	uint32_t best = GRAPH_NONE, n_found = 0;

	memset(c->set, 0, c->g->n_switches);
	for (uint32_t i = 0; i < group->n; i++) {
		uint32_t sw = graph_switch_of(c->g, group->members[i].port);

		if (sw != GRAPH_NONE) {
			c->set[sw] = 1;
			n_found++;
		}
	}
	if (!n_found) {
		return GRAPH_NONE;
	}
	add_distances(c);
	for (uint32_t s = 0; s < c->g->n_switches; s++) {
		bool barred = c->in->barred && c->in->barred[s];

		if (!barred && is_better(c, group->mlid, s, best)) {
			best = s;
		}
	}
	return best;
}

/* One hop nearer to the root. */
static const struct sw_link *nearer(void *ctx, uint32_t mlid, uint32_t sw)
{
	const struct chooser *c = ctx;
	const struct graph *g = c->g;
	unsigned d = hops_between(&c->hops, c->root, sw);
	const struct sw_link *best = NULL;
	uint64_t best_rank = 0;

	if (d == HOPS_NONE) {
		return NULL;
	}
	for (uint32_t i = g->adj_first[sw]; i < g->adj_first[sw + 1]; i++) {
		const struct sw_link *l = &g->adj[i];
		uint64_t r;

		if (hops_between(&c->hops, c->root, l->to) + 1 != d) {
			continue;
		}
		/* by parent first, then by cable, in the order of GUIDs and ports */
		r = rank(c, mlid, l->to) << 8;
		r |= mix(r, l->port) & 0xff;
		if (!best || r > best_rank) {
			best = l;
			best_rank = r;
		}
	}
	return best;
}

/* The graph without cables of switches that have no multicast table. */
static int without_barred(const struct graph *g, const struct mcast_in *in,
                          struct arena *a, struct graph *ret_graph)
{
	*ret_graph = *g;
	if (!in->barred) {
		return E_OK;
	}
	ret_graph->adj_first = arena_array(a, g->n_switches + 1U, sizeof(*g->adj_first));
	ret_graph->adj = arena_array(a, g->n_adj, sizeof(*g->adj));
	if (!ret_graph->adj_first || !ret_graph->adj) {
		return -ENOMEM;
	}
	ret_graph->n_adj = 0;
	for (uint32_t s = 0; s < g->n_switches; s++) {
		ret_graph->adj_first[s] = ret_graph->n_adj;
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (!in->barred[s] && !in->barred[g->adj[i].to]) {
				ret_graph->adj[ret_graph->n_adj++] = g->adj[i];
			}
		}
	}
	ret_graph->adj_first[g->n_switches] = ret_graph->n_adj;
	return E_OK;
}

int mcast_default_trees(const struct graph *g, const struct mcast_in *in, struct arena *a,
                        struct mcast_tree *ret_tree)
{
	struct arena *tmp;
	struct graph usable;
	struct chooser c = { .g = &usable, .in = in };
	int ret;

	if (in->n_groups == 0) {
		return E_OK; /* distances between all switches take long to find */
	}
	tmp = arena_new();
	ret = tmp ? without_barred(g, in, tmp, &usable) : -ENOMEM;
	if (ret == E_OK) {
		ret = hops_find(&c.hops, &usable, tmp);
	}
	if (ret == E_OK) {
		c.set = arena_array(tmp, g->n_switches, 1);
		c.last = arena_array(tmp, g->n_switches, 1);
		c.sum = arena_array(tmp, g->n_switches, sizeof(*c.sum));
		c.most = arena_array(tmp, g->n_switches, 1);
		c.seen = arena_array(tmp, g->n_switches, sizeof(*c.seen));
		ret = c.set && c.last && c.sum && c.most && c.seen ? E_OK : -ENOMEM;
	}
	for (uint32_t i = 0; ret == E_OK && i < in->n_groups; i++) {
		const struct mcast_group *group = &in->groups[i];

		c.root = choose_root(&c, group);
		if (c.root == GRAPH_NONE) {
			ret_tree[i] = (struct mcast_tree){ .root = GRAPH_NONE,
				                           .missed = group->n };
		} else {
			ret = mcast_prune(&usable, in, group, c.root, nearer, &c, c.seen,
			                  a, &ret_tree[i]);
		}
	}
	arena_free(tmp);
	return ret;
}

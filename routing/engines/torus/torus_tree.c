/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* The spanning tree for multicast in dimension order; torus.h describes it. */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/torus/torus.h"
#include "routing/multicast.h"

enum { X, Y, Z };

struct builder {
	const struct torus *t;
	struct torus_tree *tree;
	uint32_t *member; /* [n_switches] in the tree, in the order of adding */
	uint32_t n;
};

static void add_switch(struct builder *b, uint32_t s, unsigned up, unsigned depth)
{
	b->tree->up[s] = (uint8_t)up;
	b->tree->depth[s] = (uint8_t)depth;
	b->member[b->n++] = s;
}

/* Grows a branch from a switch in one direction. */
static void grow_branch(struct builder *b, uint32_t s, unsigned dir)
{
	const struct torus *t = b->t;
	unsigned d = dir / 2;
	uint32_t cell = t->cell[s], end = dir % 2 ? 0 : t->radix[d] - 1;
	bool broken = t->gap[d][cell] != TORUS_NO_GAP;

	while (t->group[s * TORUS_DIRS + dir].n) {
		unsigned depth = b->tree->depth[s] + 1U;

		if (!broken && torus_coordinate(t, cell, d) == end) {
			return; /* the dateline */
		}
		cell = torus_next(t, cell, dir);
		s = t->sw[cell];
		if (b->tree->depth[s] || s == b->tree->root || depth > UINT8_MAX) {
			return;
		}
		add_switch(b, s, dir ^ 1, depth);
	}
}

/* Grows branches along one dimension from all switches of the tree. */
static void grow_all(struct builder *b, unsigned d)
{
	uint32_t n = b->n;

	for (uint32_t i = 0; i < n; i++) {
		grow_branch(b, b->member[i], 2 * d);
		grow_branch(b, b->member[i], 2 * d + 1);
	}
}

/* Does the tree from this root reach all switches? */
static bool build_tree(struct builder *b, uint32_t root)
{
	const struct torus *t = b->t;
	uint32_t n = t->g->n_switches;

	memset(b->tree->up, TORUS_DIRS, n);
	memset(b->tree->depth, 0, n);
	b->tree->root = root;
	b->n = 0;
	add_switch(b, root, TORUS_DIRS, 0);
	for (unsigned d = X; d <= Z; d++) {
		grow_all(b, d);
	}
	return b->n == t->n_cells - t->n_missing;
}

/* Counts from the middle: 0 is the middle, 1 one above, 2 one below, 3 two above, ... */
static uint32_t from_middle(uint32_t size, uint32_t i)
{
	uint32_t off = (i + 1) / 2, mid = size / 2;

	return (i % 2 ? mid + off : mid + size - off) % size;
}

/* Tries roots from the middle outwards: the middle of each plane, then switches
 * diagonal to it. */
static bool build_any_tree(struct builder *b)
{
	const struct torus *t = b->t;
	uint32_t side = t->radix[X] < t->radix[Y] ? t->radix[Y] : t->radix[X];

	for (uint32_t i = 0; i < side; i++) {
		for (uint32_t k = 0; k < t->radix[Z]; k++) {
			uint32_t s = t->sw[from_middle(t->radix[X], i) * t->stride[X] +
			                   from_middle(t->radix[Y], i) * t->stride[Y] +
			                   from_middle(t->radix[Z], k)];

			if (s != GRAPH_NONE && build_tree(b, s)) {
				return true;
			}
		}
	}
	return false;
}

int torus_tree(const struct torus *t, struct arena *a, struct torus_tree *ret_tree,
               struct why *why)
{
	uint32_t n = t->g->n_switches;
	struct torus_tree tree = { .up = arena_array(a, n, 1),
		                   .depth = arena_array(a, n, 1) };
	struct builder b = { .t = t,
		             .tree = &tree,
		             .member = arena_array(a, n, sizeof(*b.member)) };

	if (!tree.up || !tree.depth || !b.member) {
		return -ENOMEM;
	}
	if (!build_any_tree(&b)) {
		why_add(why,
		        "torus-2QoS: no spanning tree in the order of dimensions reaches all switches");
		return E_UNSUITABLE;
	}
	*ret_tree = tree;
	return E_OK;
}

/* ---- groups ---- */

struct climb {
	const struct torus *t;
	const struct torus_tree *tree;
};

static const struct sw_link *up_cable(void *ctx, uint32_t mlid, uint32_t sw)
{
	const struct climb *c = ctx;
	const struct graph *g = c->t->g;
	const struct torus_group *group;

	if (c->tree->up[sw] >= TORUS_DIRS) {
		return NULL;
	}
	group = &c->t->group[sw * TORUS_DIRS + c->tree->up[sw]];
	for (uint32_t i = g->adj_first[sw]; i < g->adj_first[sw + 1]; i++) {
		if (g->adj[i].port == group->port[mlid % group->n]) {
			return &g->adj[i];
		}
	}
	return NULL;
}

int torus_tree_groups(const struct torus *t, const struct mcast_in *m, struct arena *a,
                      struct mcast_tree *ret_tree, struct why *why)
{
	uint32_t *seen = arena_array(a, t->g->n_switches, sizeof(*seen));
	struct torus_tree tree;
	struct climb c = { .t = t, .tree = &tree };
	int ret = seen ? torus_tree(t, a, &tree, why) : -ENOMEM;

	if (ret == E_OK &&
	    (m->barred && memchr(m->barred, 1, t->g->n_switches) != NULL)) {
		why_add(why, "torus-2QoS: a switch has no multicast forwarding table");
		return E_UNSUITABLE;
	}
	for (uint32_t i = 0; i < m->n_groups && ret == E_OK; i++) {
		ret = mcast_prune(t->g, m, &m->groups[i], tree.root, up_cable, &c, seen,
		                  a, &ret_tree[i]);
	}
	return ret;
}

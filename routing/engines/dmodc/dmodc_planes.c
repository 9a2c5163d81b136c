/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The slots of uplinks.
 *
 * The number of a host modulo the number of slots selects the uplink, and the routes from
 * all sources must come down to the host's leaf over the same switches. So a slot must mean
 * the same part of the tree at every switch, also if cables are missing and independent of
 * the order of GUIDs. The switches from some rank upward form connected components, the
 * planes. In a fat tree each uplink of a switch leads to another plane of the next rank, and
 * all switches of one plane of their own rank see the same planes. These planes, numbered,
 * are the slots: a switch that lost a cable lacks this slot and keeps the others. If a
 * switch has several neighbours in one plane, or reaches only half of the planes, its slots
 * are its neighbours in order.
 *
 * A leaf that lost its hosts ranks at the top and connects nothing that is not connected
 * below it. Such a stub has no slot, but is used where there is no other route.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/base/union_find.h"
#include "routing/engines/dmodc/dmodc_shape.h"

static bool joins_nothing(const struct shape *x, uint32_t s)
{
	const struct dmodc_tree *t = x->t;

	if (t->rank[s] == 0 || leaves_hosts_on(x->g, s)) {
		return false;
	}
	for (uint32_t k = t->up.first[s]; k < t->up.first[s + 1]; k++) {
		if (!x->t->is_stub[t->up.group[k].to]) {
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

static int compare_groups(const void *a, const void *b)
{
	const struct dmodc_group *x = a, *y = b;

	if (x->slot != y->slot) {
		return x->slot < y->slot ? -1 : 1;
	}
	return x->to < y->to ? -1 : x->to > y->to;
}

/* ---- planes ---- */

static uint64_t system_of(const struct shape *x, uint32_t s)
{
	const struct node *n = &x->g->nodes[x->g->switches[s]];

	return n->system_image_guid ? n->system_image_guid : n->guid;
}

static int compare_systems(const void *a, const void *b)
{
	const struct shape_plane *x = a, *y = b;

	if (x->parent != y->parent) {
		return x->parent < y->parent ? -1 : 1;
	}
	if (x->system != y->system) {
		return x->system < y->system ? -1 : 1;
	}
	return x->plane < y->plane ? -1 : x->plane > y->plane;
}

static int compare_rounds(const void *a, const void *b)
{
	const struct shape_plane *x = a, *y = b;

	if (x->round != y->round) {
		return x->round < y->round ? -1 : 1;
	}
	return x->plane < y->plane ? -1 : x->plane > y->plane;
}

/* Numbers the planes above rank r within the plane that contains them: first one of each
 * system, then the second of each, so that adjacent slots lead to different systems. */
static void number_planes(struct shape *x, unsigned r)
{
	struct dmodc_tree *t = x->t;
	struct shape_plane *p = x->planes;
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->n; s++) {
		/* planes are named by their smallest member */
		if (t->rank[s] > r && !t->is_stub[s] && x->plane[s] == s) {
			p[n++] = (struct shape_plane){ .plane = s,
				                       .parent = union_find(x->joined, s),
				                       .system = system_of(x, s) };
		}
	}
	qsort(p, n, sizeof(*p), compare_systems);
	for (uint32_t i = 1; i < n; i++) {
		bool same =
			p[i].parent == p[i - 1].parent && p[i].system == p[i - 1].system;

		p[i].round = same ? p[i - 1].round + 1 : 0;
	}
	qsort(p, n, sizeof(*p), compare_rounds);
	memset(x->count, 0, t->n * sizeof(*x->count));
	for (uint32_t i = 0; i < n; i++) {
		x->number[p[i].plane] = x->count[p[i].parent]++;
	}
}

/* ---- slots ---- */

/* Sorts the uplinks of a switch by plane. \return How many lead to a plane; 0: two lead to the
 * same one. */
static uint32_t number_groups(struct shape *x, uint32_t s)
{
	struct dmodc_tree *t = x->t;
	struct dmodc_group *group = t->up.group + t->up.first[s];
	uint32_t n = t->up.first[s + 1] - t->up.first[s], n_real = 0;
	bool twice = false;

	for (uint32_t k = 0; k < n; k++) {
		uint32_t to = group[k].to;
		uint32_t slot =
			x->t->is_stub[to] ? DMODC_NO_SLOT : x->number[x->plane[to]];

		group[k].slot = (uint16_t)(slot < DMODC_NO_SLOT ? slot : DMODC_NO_SLOT);
		n_real += !x->t->is_stub[to];
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
		n += !x->t->is_stub[x->t->up.group[k].to];
	}
	return n;
}

/* Slots by neighbour: first one of each system, then the second of each. */
static void slots_in_order(struct shape *x, uint32_t s)
{
	struct dmodc_tree *t = x->t;
	struct dmodc_group *group = t->up.group + t->up.first[s];
	uint32_t n = t->up.first[s + 1] - t->up.first[s], n_real = real_uplinks(x, s);
	uint32_t round[DMODC_SLOTS_MAX], slots = 0;

	for (uint32_t k = 0; k < n_real; k++) {
		round[k] = 0;
		for (uint32_t i = 0; i < k; i++) {
			round[k] +=
				system_of(x, group[i].to) == system_of(x, group[k].to);
		}
	}
	for (uint32_t r = 0; slots < n_real; r++) {
		for (uint32_t k = 0; k < n_real; k++) {
			if (round[k] == r) {
				group[k].slot = (uint16_t)slots++;
			}
		}
	}
	qsort(group, n, sizeof(*group), compare_groups);
	t->slots[s] = (uint8_t)(n_real || n == 0 ? n_real : 1);
}

/* By plane: the most uplinks of one switch; UINT32_MAX: a switch has two into one plane. */
static void count_uplinks(struct shape *x, unsigned r, uint32_t *most)
{
	const struct dmodc_tree *t = x->t;

	memset(most, 0, t->n * sizeof(*most));
	for (uint32_t i = t->rank_first[r]; i < t->rank_first[r + 1]; i++) {
		uint32_t s = t->by_rank[i], plane = union_find(x->joined, s);
		uint32_t n = number_groups(x, s);

		if (n == 0 && t->up.first[s] != t->up.first[s + 1] && !x->t->is_stub[s]) {
			most[plane] = UINT32_MAX;
		}
		most[plane] = n > most[plane] ? n : most[plane];
	}
}

/* Slots of the switches of one rank: by plane if most switches reach most planes. */
static void find_slots(struct shape *x, unsigned r)
{
	struct dmodc_tree *t = x->t;
	uint32_t *most = x->queue;

	count_uplinks(x, r, most);
	for (uint32_t i = t->rank_first[r]; i < t->rank_first[r + 1]; i++) {
		uint32_t s = t->by_rank[i], plane = union_find(x->joined, s);
		uint32_t slots = x->count[plane];

		if (x->t->is_stub[s] || slots > DMODC_SLOTS_MAX ||
		    most[plane] == UINT32_MAX ||
		    (uint64_t)most[plane] * 4 < (uint64_t)slots * 3) {
			slots_in_order(x, s);
		} else {
			t->slots[s] = (uint8_t)slots;
			t->n_missing += slots - real_uplinks(x, s);
		}
	}
}

/* Places within the plane, and the slots of the rank, of which dividers are the products. */
static void find_places(struct shape *x, unsigned r)
{
	struct dmodc_tree *t = x->t;
	uint32_t *n = x->queue;

	memset(n, 0, t->n * sizeof(*n));
	t->divider[r] = 1;
	for (uint32_t i = t->rank_first[r]; i < t->rank_first[r + 1]; i++) {
		uint32_t s = t->by_rank[i];

		t->place[s] = n[union_find(x->joined, s)]++;
		if (!x->t->is_stub[s] && t->slots[s] > t->divider[r]) {
			t->divider[r] = t->slots[s];
		}
	}
	for (uint32_t s = 0; s < t->n; s++) {
		if (t->rank[s] >= r && !x->t->is_stub[s]) {
			x->plane[s] = union_find(x->joined, s);
		}
	}
}

void shape_planes(struct shape *x)
{
	struct dmodc_tree *t = x->t;
	uint64_t product = 1;

	shape_reset(x);
	for (uint32_t i = t->n; i-- > 0;) {
		uint32_t s = t->by_rank[i];

		t->is_stub[s] = joins_nothing(x, s);
		if (!t->is_stub[s] && t->rank[s] >= t->tiers) {
			t->tiers = t->rank[s] + 1U;
		}
	}
	for (unsigned r = t->height + 1; r-- > 0;) {
		uint32_t from = t->rank_first[r], to = t->rank_first[r + 1];

		/* merge the planes above rank r into those from rank r upward */
		for (uint32_t l = from; l < to; l++) {
			uint32_t s = t->by_rank[l];

			for (uint32_t k = t->up.first[s]; k < t->up.first[s + 1]; k++) {
				if (!t->is_stub[t->up.group[k].to]) {
					union_join(x->joined, s, t->up.group[k].to);
				}
			}
		}
		number_planes(x, r);
		find_slots(x, r);
		find_places(x, r);
	}
	for (unsigned r = 0; r <= t->height; r++) {
		uint64_t widest = t->divider[r];

		t->divider[r] = product;
		product = product > UINT32_MAX ? product : product * widest;
	}
}

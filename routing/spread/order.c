/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Up/down routes over a total order of switches, for pairs that ranks cannot join.
 *
 * The order of updown.c follows the ranks, except that one switch per plane stands above
 * its uppermost neighbours. A route that climbs and descends by rank enters a plane and
 * leaves it by two different switches. So it passes at most one such place, and it also
 * climbs and descends the order. The other routes are added so that this holds for them,
 * too: a switch takes a step down to a switch from which all routes only go down, or else,
 * from the top of the order to its end, a step up to a switch that has any route. All
 * destinations advance together, one bit each.
 *
 * There are two such places where a switch that stands above a plane has several
 * neighbours in it, as edge switches have that are cabled twice to each chassis. Routes by
 * rank come down to one of these neighbours and climb the order to that switch. Such a
 * neighbour is a conflict between rank and order. Routes over the order enter the plane by
 * the first neighbour only and avoid the links to the others, so where a plane has two
 * ranks no cycle closes. Conflicts are counted. Where there are any, only the proof tells
 * whether routes by rank and routes over the order close a cycle after all.
 */
#include "routing/spread/order.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/spread/updown.h"

/* ---- the order ---- */

/* Are neighbours above it in the order both where a route by rank climbs and where it
 * descends? */
static bool is_conflict(const struct order *l, const struct order_rule *rule, uint32_t s)
{
	const struct graph *g = l->g;
	bool up = false, down = false;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if (!order_is_above(l, s, to)) {
			continue;
		}
		up |= rule->rank[to] < rule->rank[s] + rule->siblings;
		down |= rule->rank[to] > rule->rank[s];
	}
	return up && down;
}

int order_init(struct order *l, const struct graph *g, const struct order_rule *rule,
               struct arena *a)
{
	const struct updown_rule order = { .rank = rule->rank };
	uint32_t n = g->n_switches;
	int ret;

	*l = (struct order){ .g = g, .n = n, .words = (n + 63) / 64, .rank = rule->rank };
	l->descends = arena_array(a, (size_t)n * l->words + 1, sizeof(*l->descends));
	l->reaches = arena_array(a, (size_t)n * l->words + 1, sizeof(*l->reaches));
	l->replaced = arena_array(a, (size_t)n * l->words + 1, sizeof(*l->replaced));
	l->left = arena_array(a, n + 1U, sizeof(*l->left));
	l->wanted = arena_array(a, l->words + 1U, sizeof(*l->wanted));
	l->at = arena_array(a, n + 1U, sizeof(*l->at));
	l->is_conflict = arena_array(a, n + 1U, sizeof(*l->is_conflict));
	if (!l->descends || !l->reaches || !l->replaced || !l->left || !l->wanted ||
	    !l->at || !l->is_conflict) {
		return -ENOMEM;
	}
	ret = updown_order(g, &order, a, &l->pos, &l->part);
	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t s = n; s-- > 0;) {
		l->at[l->pos[s]] = s;
		if (is_conflict(l, rule, s)) {
			l->is_conflict[s] = true;
			l->n_conflicts++;
			l->conflict = s;
		}
	}
	return E_OK;
}

/* ---- routes beside those by rank ---- */

/* Adds the destinations that neighbours on one side reach and the switch does not yet. */
static void add_step(const struct order *l, uint32_t s, bool down)
{
	const struct graph *g = l->g;
	uint64_t *descends = order_descends(l, s), *reaches = order_reaches(l, s);

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;
		const uint64_t *there =
			down ? order_descends(l, to) : order_reaches(l, to);

		if (!(down ? order_goes_down(l, s, to) : order_goes_up(l, s, to))) {
			continue;
		}
		for (uint32_t w = 0; w < l->words; w++) {
			uint64_t new = there[w] & ~reaches[w];

			reaches[w] |= new;
			descends[w] |= down ? new : 0;
		}
	}
}

/* Replaces routes that do not only descend by a step down to a neighbour that descends. */
static void step_down_instead(const struct order *l, uint32_t s, const uint64_t *wanted)
{
	const struct graph *g = l->g;
	uint64_t *descends = order_descends(l, s), *replaced = order_replaced(l, s);

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		const uint64_t *there = order_descends(l, g->adj[i].to);

		if (!order_goes_down(l, s, g->adj[i].to)) {
			continue;
		}
		for (uint32_t w = 0; w < l->words; w++) {
			uint64_t new = there[w] & order_reaches(l, s)[w] & ~descends[w] &
			               wanted[w];

			descends[w] |= new;
			replaced[w] |= new;
		}
	}
}

static void find_left(struct order *l)
{
	memset(l->left, 0, l->n * sizeof(*l->left));
	l->n_left = 0;
	for (uint32_t s = 0; s < l->n; s++) {
		for (uint32_t w = 0; w < l->words; w++) {
			for (uint64_t b = ~order_reaches(l, s)[w]; b; b &= b - 1) {
				uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);

				if (t < l->n && l->part[t] == l->part[s] && !l->left[t]) {
					l->left[t] = true;
					l->n_left++;
				}
			}
		}
	}
}

/* wanted: [words] destinations whose routes by rank may be replaced; NULL: none. */
static void add_steps(struct order *l, const uint64_t *wanted)
{
	for (uint32_t p = l->n; p-- > 0;) {
		if (wanted) {
			step_down_instead(l, l->at[p], wanted);
		}
		add_step(l, l->at[p], true);
	}
	for (uint32_t p = 0; p < l->n; p++) {
		add_step(l, l->at[p], false);
	}
	find_left(l);
}

void order_extend(struct order *l)
{
	uint64_t *wanted = l->wanted;

	add_steps(l, NULL);
	for (uint32_t t = 0; t < l->n; t++) {
		wanted[t / 64] |= (uint64_t)l->left[t] << t % 64;
	}
	if (l->n_left) {
		add_steps(l, wanted);
	}
}

unsigned order_ports(const struct order *l, uint32_t s, uint32_t t, uint8_t *ret_ports)
{
	const struct graph *g = l->g;
	bool down = order_descends(l, s)[t / 64] >> t % 64 & 1;
	unsigned n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;
		const uint64_t *there =
			down ? order_descends(l, to) : order_reaches(l, to);

		if ((down ? order_goes_down(l, s, to) : order_goes_up(l, s, to)) &&
		    there[t / 64] >> t % 64 & 1) {
			ret_ports[n++] = g->adj[i].port;
		}
	}
	return n;
}

void order_fill_word(const struct order *l, uint32_t s, uint32_t w, uint64_t word,
                     const uint32_t *lid, uint8_t *row)
{
	const struct graph *g = l->g;
	uint64_t down = word & order_descends(l, s)[w], up = word & ~down;

	for (uint32_t i = g->adj_first[s]; (up || down) && i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if (order_goes_up(l, s, to)) {
			up = order_set_ports(lid, row, w, up, order_reaches(l, to)[w],
			                     g->adj[i].port);
		} else if (order_goes_down(l, s, to)) {
			down = order_set_ports(lid, row, w, down,
			                       order_descends(l, to)[w], g->adj[i].port);
		}
	}
}

/* ---- destinations that some switch still lacks: over the order alone ---- */

int order_routes_init(struct order_routes *x, const struct order *l, struct arena *a)
{
	x->hops = arena_array(a, l->n, sizeof(*x->hops));
	x->descends = arena_array(a, l->n, sizeof(*x->descends));
	x->queue = arena_array(a, l->n, sizeof(*x->queue));
	return x->hops && x->descends && x->queue ? E_OK : -ENOMEM;
}

/* Hops where a switch can descend to the destination, else from a neighbour above. */
void order_routes_find(struct order_routes *x, const struct order *l, uint32_t t)
{
	const struct graph *g = l->g;
	uint32_t head = 0, tail = 0;

	memset(x->hops, 0xff, l->n * sizeof(*x->hops));
	memset(x->descends, 0, l->n * sizeof(*x->descends));
	x->hops[t] = 0;
	x->descends[t] = true;
	x->queue[tail++] = t;
	while (head < tail) {
		uint32_t s = x->queue[head++];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;

			if (order_goes_up(l, s, to) && !x->descends[to]) {
				x->hops[to] = (uint16_t)(x->hops[s] + 1);
				x->descends[to] = true;
				x->queue[tail++] = to;
			}
		}
	}
	for (uint32_t p = 0; p < l->n; p++) {
		uint32_t s = l->at[p];

		for (uint32_t i = g->adj_first[s];
		     !x->descends[s] && i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;

			if (order_goes_up(l, s, to) && x->hops[to] < x->hops[s] - 1) {
				x->hops[s] = (uint16_t)(x->hops[to] + 1);
			}
		}
	}
}

unsigned order_routes_ports(const struct order_routes *x, const struct order *l,
                            uint32_t s, uint8_t *ret_ports)
{
	const struct graph *g = l->g;
	unsigned n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if ((x->descends[s] ? order_goes_down(l, s, to) && x->descends[to]
		                    : order_goes_up(l, s, to)) &&
		    x->hops[to] + 1 == x->hops[s]) {
			ret_ports[n++] = g->adj[i].port;
		}
	}
	return n;
}

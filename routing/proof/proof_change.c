/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/proof/proof_change.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/proof/dep_order.h"

enum colour { COLOUR_NEW, COLOUR_OPEN, COLOUR_DONE };

struct change_walk {
	const struct proof_change *in;
	const struct shape *s;
	bool mixtures; /* of old and new entries of the LID count */
	uint32_t lid;
	uint32_t *sw; /* [n_sw] switches of C for the LID */
	uint32_t n_sw;
	uint8_t *colour; /* [n] */
	uint8_t *choice; /* [n] entries of the switch that are followed already */
	bool *arrives;   /* [n] the route of the switch is known to arrive */
	bool *carries;   /* [n] packets whose routes are in the order pass the switch */
	uint32_t *stack, *visited;
	uint32_t n_visited;
};

/* Ports by which a switch may send the LID on to another switch. Returns how many. */
static unsigned ways_of(const struct change_walk *w, uint32_t sw, uint8_t port[2])
{
	uint8_t to = lft_row(w->in->to, sw)[w->lid];
	uint8_t from = w->mixtures ? lft_row(w->in->from, sw)[w->lid] : to;
	unsigned n = 0;

	if (to < w->s->width && shape_at(w->s, sw, to)->to != GRAPH_NONE) {
		port[n++] = to;
	}
	if (from != to && from < w->s->width &&
	    shape_at(w->s, sw, from)->to != GRAPH_NONE) {
		port[n++] = from;
	}
	return n;
}

/* Does the new route of a switch arrive? Switches that it passes are remembered. */
static bool route_arrives(struct change_walk *w, uint32_t sw)
{
	const struct shape_lid *home = &w->s->lid[w->lid];
	uint32_t depth = 0;
	bool good;

	while (!w->arrives[sw] && sw != home->sw && depth < w->s->n) {
		uint8_t port = lft_row(w->in->to, sw)[w->lid];

		w->stack[depth++] = sw;
		sw = port < w->s->width ? shape_at(w->s, sw, port)->to : GRAPH_NONE;
		if (sw == GRAPH_NONE) {
			return false;
		}
	}
	good = w->arrives[sw] ||
	       (sw == home->sw && lft_row(w->in->to, sw)[w->lid] == home->port);
	for (uint32_t i = 0; good && i < depth; i++) {
		w->arrives[w->stack[i]] = true;
		w->visited[w->n_visited++] = w->stack[i];
	}
	return good;
}

static bool all_arrive(struct change_walk *w)
{
	bool good = true;

	w->n_visited = 0;
	for (uint32_t i = 0; good && i < w->n_sw; i++) {
		good = route_arrives(w, w->sw[i]);
	}
	while (w->n_visited) {
		w->arrives[w->visited[--w->n_visited]] = false;
	}
	return good;
}

/* Searches in depth over both entries of each switch. */
static bool circles_from(struct change_walk *w, uint32_t root)
{
	uint32_t depth = 0;

	w->stack[0] = root;
	w->colour[root] = COLOUR_OPEN;
	w->choice[root] = 0;
	w->visited[w->n_visited++] = root;
	for (;;) {
		uint32_t sw = w->stack[depth];
		uint8_t port[2];
		unsigned n = ways_of(w, sw, port);

		if (w->choice[sw] < n) {
			uint32_t next = shape_at(w->s, sw, port[w->choice[sw]++])->to;

			if (w->colour[next] == COLOUR_OPEN) {
				return true;
			}
			if (w->colour[next] == COLOUR_NEW) {
				w->colour[next] = COLOUR_OPEN;
				w->choice[next] = 0;
				w->visited[w->n_visited++] = next;
				w->stack[++depth] = next;
			}
			continue;
		}
		w->colour[sw] = COLOUR_DONE;
		if (depth-- == 0) {
			return false;
		}
	}
}

static bool may_circle(struct change_walk *w)
{
	bool circle = false;

	w->n_visited = 0;
	for (uint32_t i = 0; !circle && i < w->n_sw; i++) {
		circle = w->colour[w->sw[i]] == COLOUR_NEW && circles_from(w, w->sw[i]);
	}
	while (w->n_visited) {
		w->colour[w->visited[--w->n_visited]] = COLOUR_NEW;
	}
	return circle;
}

/* Finds the switches that packets to the LID pass, of all sources that the order has: all switches, or those
 * with hosts. */
static void find_carrying(struct change_walk *w)
{
	uint32_t n = 0;

	if (w->in->order->management) {
		memset(w->carries, true, w->s->n * sizeof(*w->carries));
		return;
	}
	memset(w->carries, false, w->s->n * sizeof(*w->carries));
	for (uint32_t s = 0; s < w->s->n; s++) {
		if (w->s->n_hosts[s] != 0) {
			w->carries[s] = true;
			w->stack[n++] = s;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		uint8_t port[2];
		unsigned ways = ways_of(w, w->stack[i], port);

		for (unsigned k = 0; k < ways; k++) {
			uint32_t next = shape_at(w->s, w->stack[i], port[k])->to;

			if (!w->carries[next]) {
				w->carries[next] = true;
				w->stack[n++] = next;
			}
		}
	}
}

/* Adds that routes go on from a channel by the entries of the switch that it leads to. */
static int go_on(struct change_walk *w, uint32_t channel, uint32_t sw)
{
	uint8_t port[2];
	unsigned n = ways_of(w, sw, port);
	int ret = E_OK;

	for (unsigned i = 0; i < n && ret == E_OK; i++) {
		ret = dep_order_add(w->in->order, channel, port[i]);
	}
	return ret;
}

/* Adds the dependencies on either side of a switch of C. */
static int depend_around(struct change_walk *w, uint32_t sw)
{
	uint8_t port[2];
	unsigned n = w->carries[sw] ? ways_of(w, sw, port) : 0;
	int ret = E_OK;

	for (unsigned i = 0; i < n && ret == E_OK; i++) {
		ret = go_on(w, dep_order_channel(w->in->order, sw, port[i]),
		            shape_at(w->s, sw, port[i])->to);
	}
	for (unsigned k = 1; n != 0 && k < w->s->width && ret == E_OK; k++) {
		const struct shape_port *p = shape_at(w->s, sw, k);

		if (p->to == GRAPH_NONE || !w->carries[p->to]) {
			continue;
		}
		if (lft_row(w->in->to, p->to)[w->lid] == p->to_port ||
		    (w->mixtures && lft_row(w->in->from, p->to)[w->lid] == p->to_port)) {
			ret = go_on(w, dep_order_channel(w->in->order, p->to, p->to_port),
			            sw);
		}
	}
	return ret;
}

/* The order may lack the dependencies of management routes. Then routes of hosts that C turns to other
 * switches may be the first ones there: all their dependencies behind C are added. */
static int depend_behind(struct change_walk *w)
{
	int ret = E_OK;

	w->n_visited = 0;
	for (uint32_t i = 0; i < w->n_sw; i++) {
		if (w->carries[w->sw[i]] && w->colour[w->sw[i]] == COLOUR_NEW) {
			w->colour[w->sw[i]] = COLOUR_DONE;
			w->visited[w->n_visited++] = w->sw[i];
		}
	}
	for (uint32_t i = 0; i < w->n_visited && ret == E_OK; i++) {
		uint32_t sw = w->visited[i];
		uint8_t port[2];
		unsigned n = ways_of(w, sw, port);

		for (unsigned k = 0; k < n && ret == E_OK; k++) {
			uint32_t next = shape_at(w->s, sw, port[k])->to;

			ret = go_on(w, dep_order_channel(w->in->order, sw, port[k]),
			            next);
			if (w->colour[next] == COLOUR_NEW) {
				w->colour[next] = COLOUR_DONE;
				w->visited[w->n_visited++] = next;
			}
		}
	}
	while (w->n_visited) {
		w->colour[w->visited[--w->n_visited]] = COLOUR_NEW;
	}
	return ret;
}

static int refuse_change(struct why *why, uint32_t lid, const char *what)
{
	why_add(why, "LID %u: %s", lid, what);
	return E_UNSUITABLE;
}

static int prove_lid(struct change_walk *w, uint32_t *circling, uint32_t *n_circling,
                     struct why *why)
{
	int ret = E_OK;

	if (w->s->lid[w->lid].sw == GRAPH_NONE) {
		return E_OK; /* nobody has it, so nobody sends to it */
	}
	if (!all_arrive(w)) {
		return refuse_change(why, w->lid, "a route does not arrive");
	}
	w->mixtures = circling != NULL;
	if (w->mixtures && may_circle(w)) {
		circling[(*n_circling)++] = w->lid;
		w->mixtures = false;
	}
	find_carrying(w);
	for (uint32_t i = 0; i < w->n_sw && ret == E_OK; i++) {
		ret = depend_around(w, w->sw[i]);
	}
	if (ret == E_OK && !w->in->order->management) {
		ret = depend_behind(w);
	}
	if (ret == E_CREDITLOOP) {
		return refuse_change(why, w->lid, "perhaps a credit loop");
	}
	return ret == E_FULL ? refuse_change(why, w->lid, "too much changes") : ret;
}

/* C of the next LID, from both lists. \return false: there is none. */
static bool next_lid(struct change_walk *w, uint32_t *entry, uint32_t *whole)
{
	const struct proof_change *in = w->in;
	uint32_t a = *entry < in->n ? in->entry[*entry].lid : UINT32_MAX;
	uint32_t b = *whole < in->n_whole ? in->whole[*whole] : UINT32_MAX;

	bool all;

	w->lid = a < b ? a : b;
	all = b == w->lid;
	*whole += all;
	w->n_sw = 0;
	for (; *entry < in->n && in->entry[*entry].lid == w->lid; ++*entry) {
		all |= w->n_sw == w->s->n; /* some are there twice */
		if (!all) {
			w->sw[w->n_sw++] = in->entry[*entry].sw;
		}
	}
	if (all) {
		for (w->n_sw = 0; w->n_sw < w->s->n; w->n_sw++) {
			w->sw[w->n_sw] = w->n_sw;
		}
	}
	return w->lid != UINT32_MAX;
}

int proof_change_run(const struct proof_change *in, uint32_t *circling,
                     uint32_t *ret_n_circling, struct why *why)
{
	struct change_walk w = { .in = in, .s = in->shape };
	struct arena *tmp = arena_new();
	uint32_t n = in->shape->n, entry = 0, whole = 0, n_circling = 0;
	int ret = -ENOMEM;

	if (!tmp) {
		return ret;
	}
	w.sw = arena_array(tmp, n, sizeof(*w.sw));
	w.colour = arena_array(tmp, n, 1);
	w.choice = arena_array(tmp, n, 1);
	w.arrives = arena_array(tmp, n, sizeof(*w.arrives));
	w.carries = arena_array(tmp, n, sizeof(*w.carries));
	w.stack = arena_array(tmp, (size_t)n + 1, sizeof(*w.stack));
	w.visited = arena_array(tmp, (size_t)n + 1, sizeof(*w.visited));
	dep_order_begin(in->order);
	if (w.sw && w.colour && w.choice && w.arrives && w.carries && w.stack &&
	    w.visited) {
		ret = E_OK;
	}
	while (ret == E_OK && next_lid(&w, &entry, &whole)) {
		ret = prove_lid(&w, circling, &n_circling, why);
	}
	if (ret != E_OK) {
		dep_order_undo(in->order);
	} else if (circling != NULL) {
		*ret_n_circling = n_circling;
	}
	arena_free(tmp);
	return ret;
}

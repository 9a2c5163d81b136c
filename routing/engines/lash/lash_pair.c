/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * One pair into one lane.
 *
 * For each (column, switch) it is remembered that the route is in the lane already; or
 * that a dependency of it closes a cycle in the lane, which is final, since dependencies
 * only become more. So most pairs are decided without a look at the graph.
 *
 * Where there are not too many channels, lanes keep the closure of their dependencies:
 * one look at each dependency, then one at all that a pair lacks together. Else they keep
 * an order, each dependency may need a search, and what was added for a pair that does
 * not fit in the end is taken back.
 */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/lash/lash_work.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"

/* ---- lanes ---- */

static int open_searching(struct lash_job *j, struct lash_lane *l)
{
	l->never =
		arena_array(j->tmp, (size_t)j->map.n * j->map.words, sizeof(*l->never));
	l->marked = arena_array(j->tmp, j->lacks_max, sizeof(*l->marked));
	l->added = arena_array(j->tmp, j->lacks_max, sizeof(*l->added));
	if (!l->never || !l->marked || !l->added) {
		return -ENOMEM;
	}
	return cdg_init(&l->cdg, &j->map, NULL, j->tmp);
}

int lash_open_lane(struct lash_job *j)
{
	struct lash_lane *l = &j->lane[j->n_lanes];

	if (j->n_lanes == j->in->max) {
		return E_FULL;
	}
	l->state = arena_array(j->tmp, j->col_first[j->n], j->n);
	if (!l->state) {
		return -ENOMEM;
	}
	j->n_lanes++;
	return j->closed ? reach_init(&l->reach, j->map.n, j->tmp) : open_searching(j, l);
}

int lash_close_lanes(struct lash_job *j)
{
	int ret = E_OK;

	for (unsigned i = 0; ret == E_OK && i < j->n_lanes; i++) {
		ret = reach_init(&j->lane[i].reach, j->map.n, j->tmp);
		if (ret == E_OK) {
			reach_load(&j->lane[i].reach, &j->lane[i].cdg);
		}
	}
	j->closed = ret == E_OK;
	return ret;
}

bool lash_can_close(const struct lash_job *j)
{
	return j->map.n <= REACH_CHANNELS_MAX && j->lacks_max <= REACH_DEPS_MAX;
}

static uint8_t *states(const struct lash_job *j, unsigned lane, uint32_t col)
{
	return j->lane[lane].state + (size_t)col * j->n;
}

/* Remembers that routes from s up to and with switch last can't be in the lane. */
static void mark_never(struct lash_job *j, unsigned lane, uint32_t col, uint32_t s,
                       uint32_t last)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	uint8_t *state = states(j, lane, col);

	for (;; s = j->g->adj[chan[s]].to) {
		state[s] |= LASH_NEVER;
		if (s == last) {
			return;
		}
	}
}

/* Is it known that routes from s to switch t can't be in the lane? */
static bool known_never(const struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	for (uint32_t c = j->col_first[t]; c < j->col_first[t + 1]; c++) {
		if (states(j, lane, c)[s] & LASH_NEVER) {
			return true;
		}
	}
	return false;
}

/* Notes the dependencies of the routes from s to the columns of t. */
static void note_direction(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	for (uint32_t col = j->col_first[t]; col < j->col_first[t + 1]; col++) {
		const uint32_t *chan = j->chan + (size_t)col * j->n;
		uint8_t *state = states(j, lane, col);

		for (uint32_t at = s; chan[at] != GRAPH_NONE && !(state[at] & LASH_IN);) {
			uint32_t next = j->g->adj[chan[at]].to;

			state[at] |= LASH_IN;
			if (chan[next] != GRAPH_NONE) {
				cdg_note(&j->lane[lane].cdg, chan[at], chan[next]);
			}
			at = next;
		}
	}
}

void lash_note_pair(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	note_direction(j, lane, s, t);
	note_direction(j, lane, t, s);
}

/* ---- with searches ---- */

static uint64_t *never_word(const struct lash_job *j, unsigned lane, uint32_t from,
                            uint32_t to, uint64_t *ret_bit)
{
	uint32_t k = to - j->g->adj_first[j->map.from[to]];

	*ret_bit = UINT64_C(1) << k % 64;
	return j->lane[lane].never + (size_t)from * j->map.words + k / 64;
}

static void undo(struct lash_lane *l)
{
	while (l->n_marked) {
		*l->marked[--l->n_marked] &= (uint8_t)~LASH_IN;
	}
	while (l->n_added) {
		struct reach_dep d = l->added[--l->n_added];

		cdg_remove(&l->cdg, d.from, d.to);
	}
}

/* Does the dependency close a cycle with what is in the lane, whatever else is added? */
static bool is_final(struct lash_job *j, unsigned lane, uint32_t from, uint32_t to)
{
	uint64_t bit, *w = never_word(j, lane, from, to, &bit);

	if (!(*w & bit) && !cdg_fits(&j->lane[lane].cdg, from, to)) {
		*w |= bit;
	}
	return *w & bit;
}

/* Is some dependency of the route of switch s to a column final? */
static bool is_hopeless(struct lash_job *j, unsigned lane, uint32_t col, uint32_t s)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	const uint8_t *state = states(j, lane, col);

	for (uint32_t at = s; chan[at] != GRAPH_NONE && !(state[at] & LASH_IN);) {
		uint32_t c = chan[at], next = j->g->adj[c].to, d = chan[next];

		if (state[at] & LASH_NEVER ||
		    (d != GRAPH_NONE && !cdg_has(&j->lane[lane].cdg, c, d) &&
		     is_final(j, lane, c, d))) {
			mark_never(j, lane, col, s, at);
			return true;
		}
		at = next;
	}
	return false;
}

/* Adds the route of switch s to a column. false: a cycle; then all is undone. */
static bool add_route(struct lash_job *j, unsigned lane, uint32_t col, uint32_t s)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	uint8_t *state = states(j, lane, col);
	struct lash_lane *l = &j->lane[lane];

	for (uint32_t at = s; chan[at] != GRAPH_NONE && !(state[at] & LASH_IN);) {
		uint32_t c = chan[at], next = j->g->adj[c].to, d = chan[next];

		if (d != GRAPH_NONE && !cdg_has(&l->cdg, c, d)) {
			if (!cdg_add(&l->cdg, c, d)) {
				undo(l);
				return false;
			}
			l->added[l->n_added++] = (struct reach_dep){ c, d };
		}
		state[at] |= LASH_IN;
		l->marked[l->n_marked++] = &state[at];
		at = next;
	}
	return true;
}

static bool is_direction_hopeless(struct lash_job *j, unsigned lane, uint32_t s,
                                  uint32_t t)
{
	for (uint32_t c = j->col_first[t]; c < j->col_first[t + 1]; c++) {
		if (is_hopeless(j, lane, c, s)) {
			return true;
		}
	}
	return false;
}

static bool add_direction(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	for (uint32_t c = j->col_first[t]; c < j->col_first[t + 1]; c++) {
		if (!add_route(j, lane, c, s)) {
			return false;
		}
	}
	return true;
}

static bool add_pair_searching(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	if (is_direction_hopeless(j, lane, s, t) ||
	    is_direction_hopeless(j, lane, t, s) || !add_direction(j, lane, s, t) ||
	    !add_direction(j, lane, t, s)) {
		return false;
	}
	j->lane[lane].n_marked = 0;
	j->lane[lane].n_added = 0;
	return true;
}

/* ---- with the closure ---- */

struct lack {
	unsigned n;
	struct reach_dep dep[REACH_DEPS_MAX];
};

static void note_lack(struct lack *l, uint32_t from, uint32_t to)
{
	for (unsigned i = 0; i < l->n; i++) {
		if (l->dep[i].from == from && l->dep[i].to == to) {
			return;
		}
	}
	l->dep[l->n++] = (struct reach_dep){ from, to };
}

/* Collects what a lane lacks for a route. false: some of it closes a cycle. */
static bool find_lack(struct lash_job *j, unsigned lane, uint32_t col, uint32_t s,
                      struct lack *ret)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	const uint8_t *state = states(j, lane, col);
	const struct reach *r = &j->lane[lane].reach;

	for (uint32_t at = s; chan[at] != GRAPH_NONE && !(state[at] & LASH_IN);) {
		uint32_t c = chan[at], next = j->g->adj[c].to, d = chan[next];

		if (state[at] & LASH_NEVER || (d != GRAPH_NONE && reach_leads(r, d, c))) {
			mark_never(j, lane, col, s, at);
			return false;
		}
		if (d != GRAPH_NONE && !reach_leads(r, c, d)) {
			note_lack(ret, c, d);
		}
		at = next;
	}
	return true;
}

static bool find_lacks(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t,
                       struct lack *ret)
{
	for (uint32_t c = j->col_first[t]; c < j->col_first[t + 1]; c++) {
		if (!find_lack(j, lane, c, s, ret)) {
			return false;
		}
	}
	return true;
}

static void mark_in_lane(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	for (uint32_t col = j->col_first[t]; col < j->col_first[t + 1]; col++) {
		const uint32_t *chan = j->chan + (size_t)col * j->n;
		uint8_t *state = states(j, lane, col);

		for (uint32_t at = s; chan[at] != GRAPH_NONE && !(state[at] & LASH_IN);) {
			state[at] |= LASH_IN;
			at = j->g->adj[chan[at]].to;
		}
	}
}

static bool add_pair_closed(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	struct reach *r = &j->lane[lane].reach;
	struct lack lack;

	lack.n = 0;
	if (!find_lacks(j, lane, s, t, &lack) || !find_lacks(j, lane, t, s, &lack) ||
	    !reach_fits(r, lack.dep, lack.n)) {
		return false;
	}
	for (unsigned i = 0; i < lack.n; i++) {
		reach_add(r, lack.dep[i].from, lack.dep[i].to);
	}
	mark_in_lane(j, lane, s, t);
	mark_in_lane(j, lane, t, s);
	return true;
}

bool lash_add_pair(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	if (known_never(j, lane, s, t) || known_never(j, lane, t, s)) {
		return false;
	}
	return j->closed ? add_pair_closed(j, lane, s, t)
	                 : add_pair_searching(j, lane, s, t);
}

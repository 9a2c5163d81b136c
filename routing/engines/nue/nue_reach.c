/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The search for routes to one switch that form no cycle.
 *
 * Switches are reached backwards from the destination, nearest first, as in Dijkstra's
 * algorithm. A switch may open a link if every open link at the next switch may follow it:
 * the turn is a dependency of the lane already, or it can be added without a cycle
 * (routing/graph/cdg.h). So whichever open links a route uses later, none of its turns is
 * new, and balancing needs no check for cycles.
 *
 * A switch opens all nearest links that need no new turn. If there are none, it opens the
 * first link whose turns can be added. If there is none either, it opens the link that most
 * open links of the next switch may follow, and closes the other ones there. Otherwise it
 * waits to be reached on a longer path. In the first pass no turns are added to an up/down
 * order, and on a grid none from a higher dimension to a lower one; in the second pass the
 * switches are reached that the first one missed.
 *
 * A switch that is not reached at all follows the spanning tree of the lane, and so do all
 * switches on its path; then the search starts again with these fixed. All turns of the tree
 * are initial dependencies, so this ends at the latest when all routes follow the tree.
 *
 * Invariants: the dependencies of a lane form no cycle; open links lead to reached switches
 * that are nearer by the lengths of this search.
 */
#include "routing/engines/nue/nue_reach.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"

enum { WORD = 64, WORDS_MAX = 4 };

static uint64_t *open_of(const struct nue_reach *x, uint32_t s)
{
	return x->open + (size_t)s * x->words;
}

static void open_link(struct nue_reach *x, uint32_t s, uint32_t c)
{
	uint32_t k = c - x->g->adj_first[s];

	open_of(x, s)[k / WORD] |= UINT64_C(1) << k % WORD;
}

static unsigned count_bits(const struct nue_reach *x, const uint64_t *bits)
{
	unsigned n = 0;

	for (unsigned w = 0; w < x->words; w++) {
		n += (unsigned)__builtin_popcountll(bits[w]);
	}
	return n;
}

unsigned nue_reach_count_open(const struct nue_reach *x, uint32_t s)
{
	return count_bits(x, open_of(x, s));
}

/* ---- turns ---- */

static void remove_added(struct nue_reach *x, uint32_t keep)
{
	while (x->n_added > keep) {
		const uint32_t *turn = &x->added[2 * --x->n_added];

		cdg_remove(&x->lane->cdg, turn[0], turn[1]);
	}
}

void nue_reach_undo(struct nue_reach *x)
{
	remove_added(x, 0);
}

/* Adds turns from channel c, given as a word of bits. \return Those that were added.
 * Refused turns are not tried again, because a lane mostly gains dependencies. */
static uint64_t add_turns(struct nue_reach *x, uint32_t c, unsigned word, uint64_t wanted)
{
	uint32_t first = x->g->adj_first[x->g->adj[c].to] + word * WORD;
	uint64_t *never = &x->lane->never[(size_t)c * x->words + word], added = 0;

	for (uint64_t bits = wanted & ~*never; bits; bits &= bits - 1) {
		unsigned k = (unsigned)__builtin_ctzll(bits);

		if (cdg_add(&x->lane->cdg, c, first + k)) {
			x->added[2 * x->n_added] = c;
			x->added[2 * x->n_added++ + 1] = first + k;
			added |= UINT64_C(1) << k;
		} else {
			*never |= UINT64_C(1) << k;
		}
	}
	return added;
}

/* Finds the open links behind channel c that may follow it. \return Whether all may. */
static bool follow(struct nue_reach *x, uint32_t c, bool add, uint64_t *ret_reached)
{
	const uint64_t *open = open_of(x, x->g->adj[c].to);
	bool no_lower = x->to_lower && x->strict;
	uint64_t not = 0;

	for (unsigned w = 0; w < x->words; w++) {
		size_t at = (size_t)c * x->words + w;
		uint64_t may = open[w] & ~(no_lower ? x->to_lower[at] : 0);

		ret_reached[w] = may & x->lane->cdg.out[at];
		if (add && may & ~ret_reached[w]) {
			ret_reached[w] |= add_turns(x, c, w, may & ~ret_reached[w]);
		}
		not |= open[w] & ~ret_reached[w];
	}
	return not == 0;
}

/* ---- one switch ---- */

static bool begins_at(const struct nue_reach *x, uint32_t c, unsigned distance)
{
	unsigned behind = x->dist[x->g->adj[c].to];

	return behind != NUE_FAR && behind + x->length[c] == distance;
}

static bool open_without_adding(struct nue_reach *x, uint32_t s, unsigned distance)
{
	uint64_t may[WORDS_MAX];
	bool any = false;

	for (uint32_t c = x->g->adj_first[s]; c < x->g->adj_first[s + 1]; c++) {
		if (begins_at(x, c, distance) && follow(x, c, false, may)) {
			open_link(x, s, c);
			any = true;
		}
	}
	return any;
}

/* Opens the first link whose turns can be added, or else the one that most links
 * behind it may follow. The search starts at another link for each destination. */
static bool open_one(struct nue_reach *x, uint32_t s, unsigned distance)
{
	uint32_t first = x->g->adj_first[s], n = x->g->adj_first[s + 1] - first;
	uint32_t best = GRAPH_NONE, n_before = x->n_added;
	uint64_t may[WORDS_MAX];
	unsigned most = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = first + (i + x->to) % n;

		if (!begins_at(x, c, distance)) {
			continue;
		}
		if (follow(x, c, true, may)) {
			open_link(x, s, c);
			return true;
		}
		if (count_bits(x, may) > most) {
			most = count_bits(x, may);
			best = c;
		}
		remove_added(x, n_before);
	}
	if (best == GRAPH_NONE) {
		return false;
	}
	follow(x, best, true, may);
	memcpy(open_of(x, x->g->adj[best].to), may, x->words * sizeof(*may));
	open_link(x, s, best);
	return true;
}

static uint32_t along_tree(const struct nue_reach *x, uint32_t s)
{
	return x->down[s] == GRAPH_NONE ? x->lane->up[s] : x->down[s];
}

static bool open_links(struct nue_reach *x, uint32_t s, unsigned distance)
{
	if (x->forced[s]) {
		uint32_t c = along_tree(x, s);

		if (begins_at(x, c, distance)) {
			open_link(x, s, c);
			return true;
		}
		return false;
	}
	if (open_without_adding(x, s, distance)) {
		return true;
	}
	return !(x->strict && x->plan->order) && open_one(x, s, distance);
}

/* ---- all switches ---- */

/* Puts the links that lead to a switch into the bucket of the distance at which they
 * begin. */
static void enqueue_links(struct nue_reach *x, uint32_t s)
{
	for (uint32_t c = x->g->adj_first[s]; c < x->g->adj_first[s + 1]; c++) {
		if (x->dist[x->g->adj[c].to] == NUE_FAR) {
			uint32_t in = x->plan->map->back[c];
			uint32_t *first = &x->bucket[(x->dist[s] + x->length[in] + 0U) %
			                             NUE_BUCKETS];

			x->chain[in] = *first;
			*first = in;
			x->n_waiting++;
		}
	}
}

/* Inserts a reached switch in the order of distance. */
static void insert_reached(struct nue_reach *x, uint32_t s, unsigned distance)
{
	uint32_t i = x->n_reached++;

	x->dist[s] = (uint16_t)distance;
	for (; i && x->dist[x->reached[i - 1]] > distance; i--) {
		x->reached[i] = x->reached[i - 1];
	}
	x->reached[i] = s;
}

/* Reaches further switches from all reached ones. */
static void reach_more(struct nue_reach *x)
{
	uint32_t next = 0;

	memset(x->bucket, 0xff, sizeof(x->bucket));
	for (unsigned d = 0; d < NUE_FAR && (x->n_waiting || next < x->n_reached); d++) {
		uint32_t *first = &x->bucket[d % NUE_BUCKETS], n = 0;

		/* switches with a link that begins at this distance */
		for (uint32_t c = *first; c != GRAPH_NONE; c = x->chain[c]) {
			uint32_t s = x->plan->map->from[c];

			x->n_waiting--;
			if (x->dist[s] == NUE_FAR && !x->is_found[s]) {
				x->is_found[s] = true;
				x->found[n++] = s;
			}
		}
		*first = GRAPH_NONE;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t s = x->found[i];

			x->is_found[s] = false;
			if (open_links(x, s, d)) {
				insert_reached(x, s, d);
			}
		}
		while (next < x->n_reached && x->dist[x->reached[next]] == d) {
			enqueue_links(x, x->reached[next++]);
		}
	}
}

static void reach_all(struct nue_reach *x)
{
	uint32_t n = x->g->n_switches;

	memset(x->open, 0, (size_t)n * x->words * sizeof(*x->open));
	memset(x->dist, 0xff, n * sizeof(*x->dist));
	x->n_waiting = 0;
	x->n_added = 0;
	x->n_reached = 0;
	insert_reached(x, x->to, 0);
	x->strict = true;
	reach_more(x);
	x->strict = false;
	x->n_loose = x->n_reached;
	if (x->n_reached < n) {
		reach_more(x);
	}
	x->n_loose = x->n_reached - x->n_loose;
}

/* ---- unreached switches ---- */

/* Lets unreached switches follow the tree. \return Whether there were any. */
static bool force_left_out(struct nue_reach *x)
{
	uint32_t before = x->n_forced;

	for (uint32_t s = 0; s < x->g->n_switches; s++) {
		if (x->dist[s] == NUE_FAR &&
		    hops_between(x->plan->near, s, x->to) != HOPS_NONE) {
			while (s != x->to && !x->forced[s]) {
				x->forced[s] = true;
				x->n_forced++;
				s = x->g->adj[along_tree(x, s)].to;
			}
		}
	}
	return x->n_forced > before;
}

void nue_reach_run(struct nue_reach *x, struct nue_lane *lane, uint32_t to)
{
	x->to = to;
	x->lane = lane;
	x->n_forced = 0;
	memset(x->forced, 0, x->g->n_switches * sizeof(*x->forced));
	/* on the path from the destination to the root the tree leads down, not up */
	memset(x->down, 0xff, x->g->n_switches * sizeof(*x->down));
	for (uint32_t s = x->to; x->lane->up[s] != GRAPH_NONE;) {
		uint32_t c = x->lane->up[s];

		s = x->g->adj[c].to;
		x->down[s] = x->plan->map->back[c];
	}
	reach_all(x);
	while (force_left_out(x)) {
		remove_added(x, 0);
		reach_all(x);
	}
}

/* ---- memory ---- */

static size_t count_turns(const struct nue_reach *x)
{
	size_t n = 0;

	for (uint32_t c = 0; c < x->g->n_adj; c++) {
		uint32_t to = x->g->adj[c].to;

		n += x->g->adj_first[to + 1] - x->g->adj_first[to];
	}
	return n;
}

int nue_reach_init(struct nue_reach *x, const struct nue_plan *p, const uint8_t *length,
                   struct arena *a)
{
	size_t n = (size_t)p->g->n_switches + 1, n_adj = (size_t)p->g->n_adj + 1;
	const uint8_t *dimension;

	*x = (struct nue_reach){
		.plan = p, .g = p->g, .words = p->map->words, .length = length
	};
	x->open = arena_array(a, n * x->words, sizeof(*x->open));
	x->dist = arena_array(a, n, sizeof(*x->dist));
	x->reached = arena_array(a, n, sizeof(*x->reached));
	x->forced = arena_array(a, n, sizeof(*x->forced));
	x->down = arena_array(a, n, sizeof(*x->down));
	x->found = arena_array(a, n, sizeof(*x->found));
	x->is_found = arena_array(a, n, sizeof(*x->is_found));
	x->chain = arena_array(a, n_adj, sizeof(*x->chain));
	x->added = arena_array(a, 2 * count_turns(x) + 1, sizeof(*x->added));
	if (!x->open || !x->dist || !x->reached || !x->forced || !x->down || !x->found ||
	    !x->is_found || !x->chain || !x->added) {
		return -ENOMEM;
	}
	/* turns to a lower dimension */
	dimension = x->plan->dimension;
	if (!dimension) {
		return E_OK;
	}
	x->to_lower =
		arena_array(a, (size_t)x->g->n_adj + 1, x->words * sizeof(*x->to_lower));
	if (!x->to_lower) {
		return -ENOMEM;
	}
	for (uint32_t c = 0; c < x->g->n_adj; c++) {
		uint32_t first = x->g->adj_first[x->g->adj[c].to];
		uint32_t end = x->g->adj_first[x->g->adj[c].to + 1];

		for (uint32_t k = first; k < end; k++) {
			if (dimension[k] < dimension[c]) {
				x->to_lower[(size_t)c * x->words + (k - first) / WORD] |=
					UINT64_C(1) << (k - first) % WORD;
			}
		}
	}
	return E_OK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Evening out: the second half of spreading, for fabrics with missing cables.
 *
 * When a switch chooses a port it sees the load of its own ports, not of the links
 * further on. In a whole tree that is enough, as all switches deal in step. Where cables
 * are missing they fall out of step and some links far from any choice get two or three
 * times their share.
 *
 * So all tables are gone through again, destination by destination and from far to near.
 * A route whose way passes a link above the limit is moved to the way whose busiest link
 * will carry the least, if that is less than now. Each move lowers the load of a link
 * above the limit and raises none to where that was, so it ends; a few rounds find most
 * of it. The work is bounded by a count of links looked at, not by time, and done by one
 * thread, so the result is the same each time.
 */
#include "routing/spread_job.h"

#include <errno.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/hops.h"
#include "routing/spread_options.h"
#include "routing/tables.h"

enum { ROUNDS = 2, WORK_PER_ENTRY = 64, AHEAD = 8 };

struct even {
	const struct spread_job *j;
	uint32_t limit;  /* routes per link that are not too many */
	uint32_t *order; /* [n] switches by distance to the destination, the furthest
	                    first */
	uint64_t work;   /* links that may still be looked at */
	uint64_t n_moved;
};

/* A quarter above the mean of all links between switches. */
static uint32_t limit_of(const struct spread_job *j, uint32_t *ret_most)
{
	uint64_t sum = 0;
	uint32_t most = 0;

	for (size_t i = 0; i < (size_t)j->n * j->width; i++) {
		sum += j->load[i];
		most = j->load[i] > most ? j->load[i] : most;
	}
	*ret_most = most;
	return j->g->n_adj ? (uint32_t)(sum * 5 / 4 / j->g->n_adj) + 1 : 0;
}

static void sort_by_distance(struct even *e, uint32_t t)
{
	const struct hops *h = e->j->hops;
	uint32_t fill[HOPS_NONE + 1] = { 0 }, sum = 0;

	for (uint32_t s = 0; s < h->n; s++) {
		fill[hops_between(h, s, t)]++;
	}
	fill[HOPS_NONE] = 0; /* not connected: left out */
	for (unsigned d = HOPS_NONE + 1; d-- > 0;) {
		uint32_t count = fill[d];

		fill[d] = sum;
		sum += count;
	}
	for (uint32_t s = 0; s < h->n; s++) {
		unsigned d = hops_between(h, s, t);

		if (d != HOPS_NONE) {
			e->order[fill[d]++] = s;
		}
	}
}

/* Load of the busiest link on the way from s, when \a more routes join it. */
static uint32_t busiest(struct even *e, uint32_t s, uint32_t t, uint32_t lid,
                        uint32_t more)
{
	const struct spread_job *j = e->j;
	const uint32_t *load = j->load, *peer = j->peer;
	const uint8_t *column = j->lft->rows + lid;
	size_t width = j->width, stride = j->lft->stride;
	uint32_t most = 0, steps = 0;

	for (; s != t; steps++) {
		size_t at = s * width + column[s * stride];

		most = load[at] > most ? load[at] : most;
		s = peer[at];
	}
	e->work -= e->work < steps ? e->work : steps;
	return most + more;
}

/* Does the operator want routes over this port counted? */
static bool counts(const struct spread_job *j, uint32_t s, uint8_t port)
{
	const struct spread_tune *tune = j->in->tune;

	return !tune || !tune->ignored ||
	       !tune->ignored[j->g->nodes[j->g->switches[s]].first_port + port];
}

/* Adds the routes to, or takes them from, all that comes behind a port. */
static void shift(const struct even *e, uint32_t s, uint8_t port, uint32_t t, uint32_t h,
                  uint16_t flow, bool add)
{
	const struct spread_job *j = e->j;
	uint32_t lid = j->lid[h];

	for (;; port = lft_row(j->lft, s)[lid]) {
		size_t at = (size_t)s * j->width + port;
		uint16_t *f;

		if (counts(j, s, port)) {
			j->load[at] = add ? j->load[at] + flow : j->load[at] - flow;
		}
		s = j->peer[at];
		if (s == t) {
			return;
		}
		f = j->flow + (size_t)s * j->n_cols + h;
		*f = (uint16_t)(add ? *f + flow : *f - flow);
	}
}

/* Finds a better way for one LID at one switch. */
static void improve(struct even *e, uint32_t s, uint32_t t, uint32_t h, uint32_t now,
                    const struct spread_ports *p)
{
	const struct spread_job *j = e->j;
	uint8_t *entry = lft_row(j->lft, s) + j->lid[h];
	uint16_t flow = j->flow[(size_t)s * j->n_cols + h];
	uint8_t old = *entry, best = old;

	shift(e, s, old, t, h, flow, false);
	for (unsigned k = 0; k < p->n; k++) {
		uint32_t first = j->load[(size_t)s * j->width + p->port[k]] + flow;
		uint32_t rest =
			first < now ? busiest(e, p->to[k], t, j->lid[h], flow) : 0;
		uint32_t most = rest > first ? rest : first;

		if (most < now) {
			now = most;
			best = p->port[k];
		}
	}
	*entry = best;
	shift(e, s, best, t, h, flow, true);
	e->n_moved += best != old;
}

/* All LIDs of one leaf switch at one switch. */
static void even_at(struct even *e, uint32_t s, uint32_t t)
{
	const struct spread_job *j = e->j;
	const struct graph *g = j->g;
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	struct spread_ports p;
	bool asked = false;

	for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++) {
		uint32_t lid = j->lid[h], now;

		if (!lid || !flow[h] ||
		    (j->prev && lft_row(j->prev, s)[lid] == lft_row(j->lft, s)[lid])) {
			continue;
		}
		now = busiest(e, s, t, lid, 0);
		if (now <= e->limit) {
			continue;
		}
		if (!asked) {
			uint32_t first = g->adj_first[s];

			asked = true;
			j->in->closer(j->in->ctx, s, t, g->adj + first,
			              g->adj_first[s + 1] - first, SPREAD_PORTS_MAX, &p);
		}
		if (p.n > 1) {
			improve(e, s, t, h, now, &p);
		}
	}
}

/* All switches, for the LIDs of one leaf switch. */
static void even_column(struct even *e, uint32_t t)
{
	const struct spread_job *j = e->j;
	const uint16_t *flow = j->flow + j->first[t];

	sort_by_distance(e, t);
	for (uint32_t i = 0; i < j->n && e->order[i] != t; i++) {
		if (i + AHEAD < j->n) {
			__builtin_prefetch(flow +
			                   (size_t)e->order[i + AHEAD] * j->n_cols);
		}
		even_at(e, e->order[i], t);
	}
}

int spread_even(const struct spread_job *j, struct arena *tmp)
{
	struct even e = { .j = j, .work = (uint64_t)j->n * j->n_cols * WORK_PER_ENTRY };
	uint32_t most;

	e.limit = limit_of(j, &most);
	e.order = arena_array(tmp, j->n, sizeof(*e.order));
	if (!e.order) {
		return -ENOMEM;
	}
	if (most <= e.limit || j->g->n_hosts >= SPREAD_FLOW_MAX) {
		return E_OK;
	}
	for (unsigned round = 0; round < ROUNDS; round++) {
		e.n_moved = 0;
		for (uint32_t t = 0; t < j->n && e.work; t++) {
			if (j->first[t] == j->first[t + 1]) {
				continue;
			}
			if (j->in->cancel && *j->in->cancel) {
				return -ECANCELED;
			}
			even_column(&e, t);
		}
		if (!e.n_moved) {
			break;
		}
	}
	return E_OK;
}

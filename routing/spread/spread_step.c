/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * One distance of one round of spreading: all switches choose their ports for the LIDs of
 * the destinations that are this far away, then their flow moves one hop.
 */
#include <string.h>

#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/spread/spread_choice.h"
#include "routing/spread/spread_options.h"
#include "routing/spread/spread_plan.h"

enum { RANGES = 32 };

/* Keeps what the previous tables say where that still leads closer. */
static void keep_hosts(const struct spread_job *j, uint32_t s, uint32_t t,
                       struct spread_choice *c)
{
	const uint8_t *old = lft_row(j->prev, s);
	uint8_t *row = lft_row(j->lft, s);
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;

	for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++) {
		uint32_t lid = j->lid[h];

		for (unsigned i = 0; lid && i < c->p.n; i++) {
			if (c->p.port[i] == old[lid]) {
				row[lid] = old[lid];
				spread_add_load(c, i, spread_counted(j, h, flow[h]));
			}
		}
	}
}

/* The same where there is nothing to choose, which is most of a tree: all ways down. */
static void place_all(const struct spread_job *j, uint32_t s, uint32_t t,
                      struct spread_choice *c)
{
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	uint8_t *row = lft_row(j->lft, s), port = c->p.port[0];
	uint32_t sum = 0;

	for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++) {
		uint32_t lid = j->lid[h];

		if (lid) {
			sum += row[lid] == LFT_NO_ROUTE ? spread_counted(j, h, flow[h])
			                                : 0;
			row[lid] = port;
		}
	}
	spread_add_load(c, 0, sum);
}

/* Any of the least loaded, by a number that follows from seed, switch and LID. */
static unsigned pick_scattered(const struct spread_job *j, uint32_t s, uint32_t lid,
                               struct spread_choice *c)
{
	uint64_t x = spread_scatter(j->in->tune, j->g->nodes[j->g->switches[s]].guid, lid);
	unsigned nth, i = 0;

	spread_find_least(c);
	nth = (unsigned)(x % c->n_least);
	while (c->load[i] != c->least || nth-- != 0) {
		i++;
	}
	return i;
}

/* One step further with each round of routes like this one that the ports carry. */
static unsigned shifted(const struct spread_choice *c, unsigned start, uint32_t flow)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->p.n; i++) {
		sum += c->load[i] >> 32;
	}
	return (unsigned)((start + sum / flow / c->p.n) % c->p.n);
}

/* The candidate for one LID of a host that others send through this switch. */
static unsigned pick_host(const struct spread_job *j, uint32_t s, uint32_t h, uint32_t t,
                          uint32_t flow, struct spread_choice *c, unsigned start)
{
	const struct spread_tune *tune = j->in->tune;
	uint32_t lid = j->lid[h];
	unsigned planned = j->plan ? spread_pick_planned(j, s, h, t, c) : c->p.n;

	if (planned < c->p.n &&
	    spread_is_free(j, s, lid - j->offset, j->offset, c, planned)) {
		return planned;
	}
	if (tune && tune->shifting) {
		start = shifted(c, start, flow);
	}
	if (j->offset) {
		return spread_pick_apart(j, s, lid - j->offset, j->offset, c, start, true);
	}
	if (tune && tune->seed &&
	    !(tune->no_scatter && tune->is_listed && tune->is_listed[h])) {
		return pick_scattered(j, s, lid, c);
	}
	return spread_pick_least(c, start);
}

/* Chooses at one switch for the hosts of one leaf switch. Base LIDs that no host sends
 * through here wait for spread_unused(), further ones are dealt by position. */
static void place_hosts(const struct spread_job *j, uint32_t s, uint32_t t,
                        struct spread_choice *c)
{
	uint8_t *row = lft_row(j->lft, s);
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	unsigned start = 0;
	bool unused = false;

	if (c->p.n == 1) {
		place_all(j, s, t, c);
		return;
	}
	for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++) {
		uint32_t lid = j->lid[h];

		if (lid && row[lid] == LFT_NO_ROUTE && flow[h]) {
			unsigned i = pick_host(j, s, h, t, flow[h], c, start);

			row[lid] = c->p.port[i];
			spread_add_load(c, i, spread_counted(j, h, flow[h]));
		} else if (lid && row[lid] == LFT_NO_ROUTE && j->offset) {
			row[lid] = c->p.port[(start + j->offset) % c->p.n];
		}
		unused |= lid && row[lid] == LFT_NO_ROUTE;
		start = start + 1 == c->p.n ? 0 : start + 1;
	}
	if (unused) {
		j->unused[s] = true;
	}
}

typedef void choose_f(const struct spread_job *j, uint32_t s, uint32_t t,
                      struct spread_choice *c);

static void choose_for(const struct spread_job *j, uint32_t s, uint32_t t,
                       struct spread_choice *c, choose_f *choose)
{
	bool planned = j->plan && !j->offset && choose == place_hosts;

	if (j->first[t] == j->first[t + 1] ||
	    (planned && j->towards && spread_place_planned(j, s, t, NULL))) {
		return;
	}
	spread_find_choice(j, s, t, c);
	if (planned && !j->towards && c->p.n > 1) {
		spread_place_planned(j, s, t, c);
	}
	choose(j, s, t, c);
	spread_store_loads(j, s, c);
}

/* Runs one choosing step for the destinations at distance d of one switch. */
static void choose_at(const struct spread_job *j, uint32_t s, unsigned d,
                      choose_f *choose)
{
	uint32_t n_dest;
	const uint16_t *dest = hops_at(j->hops, s, d, &n_dest);
	uint32_t n_leaves = n_dest ? j->n_leaves : 0;
	struct spread_choice c;

	memset(c.at, 0, sizeof(c.at));
	for (uint32_t i = 0; !j->leaf && i < n_dest; i++) {
		choose_for(j, s, dest[i], &c, choose);
	}
	for (uint32_t i = 0; i < n_leaves; i++) {
		if (hops_between(j->hops, s, j->leaf[i]) == d) {
			choose_for(j, s, j->leaf[i], &c, choose);
		}
	}
}

/* The listed hosts at distance d of one switch, in their order, before all others. */
static void choose_listed(const struct spread_job *j, uint32_t s, unsigned d)
{
	const struct spread_tune *tune = j->in->tune;
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	uint8_t *row = lft_row(j->lft, s);
	struct spread_choice c;

	for (uint32_t i = 0; i < tune->n_listed; i++) {
		uint32_t h = tune->listed[i], lid = j->lid[h];
		uint32_t t = graph_switch_of(j->g, j->g->hosts[h]);
		unsigned at;

		if (hops_between(j->hops, s, t) != d || !lid ||
		    row[lid] != LFT_NO_ROUTE || !flow[h]) {
			continue;
		}
		spread_find_choice(j, s, t, &c);
		at = pick_host(j, s, h, t, flow[h], &c, i % c.p.n);
		row[lid] = c.p.port[at];
		spread_add_load(&c, at, spread_counted(j, h, flow[h]));
		spread_store_loads(j, s, &c);
	}
}

/* Adds the flow of a switch to that of the next one for the hosts of one leaf switch. */
static void pass_on(const struct spread_job *j, uint32_t s, uint32_t t)
{
	const uint8_t *row = lft_row(j->lft, s);
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	const uint32_t *peer = j->peer + (size_t)s * j->width, *lids = j->lid;
	uint32_t end = j->first[t + 1];
	size_t n_cols = j->n_cols;

	for (uint32_t h = j->first[t]; h < end; h++) {
		uint32_t lid = lids[h], sum;
		uint16_t *to;

		if (!flow[h] || !lid) {
			continue;
		}
		to = j->flow + peer[row[lid]] * n_cols + h;
		sum = (uint32_t)*to + flow[h];
		*to = (uint16_t)(sum < SPREAD_FLOW_MAX ? sum : SPREAD_FLOW_MAX);
	}
}

static void pass_on_range(const struct spread_job *j, unsigned d, uint32_t t_first,
                          uint32_t t_last)
{
	for (uint32_t s = 0; s < j->n; s++) {
		uint32_t n_dest;
		const uint16_t *dest = hops_at(j->hops, s, d, &n_dest);

		for (uint32_t i = hops_lower_bound(dest, n_dest, t_first);
		     i < n_dest && dest[i] < t_last; i++) {
			pass_on(j, s, dest[i]);
		}
	}
}

/* One distance: all switches choose, then their flow moves one hop. */
void spread_step(const struct spread_job *j, unsigned d)
{
	if (j->prev) {
#pragma omp parallel for schedule(dynamic, 8)
		for (uint32_t s = 0; s < j->n; s++) {
			choose_at(j, s, d, keep_hosts);
		}
	}
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->n; s++) {
		if (j->in->tune && j->in->tune->n_listed) {
			choose_listed(j, s, d);
		}
		choose_at(j, s, d, place_hosts);
	}
	if (d == 1) {
		return; /* the next hop is the leaf switch itself */
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t r = 0; r < RANGES; r++) {
		pass_on_range(j, d, (uint32_t)((uint64_t)j->n * r / RANGES),
		              (uint32_t)((uint64_t)j->n * (r + 1) / RANGES));
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Evening out tables that were not made here: counts what passes where, then
 * spread_even(). */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/keep.h"
#include "routing/spread/spread_job.h"

static int given_init(struct spread_job *j, const struct spread *in, unsigned offset,
                      struct lft *lft, struct arena *tmp)
{
	const struct graph *g = in->g;
	size_t width = (size_t)g->max_port + 1, cells = g->n_switches * width;

	*j = (struct spread_job){ .g = g,
		                  .lids = in->lids,
		                  .lft = lft,
		                  .hops = in->hops,
		                  .in = in,
		                  .n = g->n_switches,
		                  .width = (uint32_t)width,
		                  .first = g->host_first,
		                  .port = g->hosts,
		                  .n_cols = g->host_first[g->n_switches],
		                  .offset = offset };
	j->flow = arena_array(tmp, (size_t)j->n * j->n_cols, sizeof(*j->flow));
	j->lid = arena_array(tmp, j->n_cols, sizeof(*j->lid));
	j->load = arena_array(tmp, cells, sizeof(*j->load));
	j->peer = arena_array(tmp, cells, sizeof(*j->peer));
	if (!j->flow || !j->lid || !j->load || !j->peer) {
		return -ENOMEM;
	}
	memset(j->peer, 0xff, cells * sizeof(*j->peer));
	for (uint32_t s = 0; s < j->n; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			j->peer[s * width + g->adj[i].port] = g->adj[i].to;
		}
	}
	for (uint32_t h = 0; h < j->n_cols; h++) {
		struct lid_range r = in->lids->of[g->hosts[h]];

		j->lid[h] = r.base && offset >> r.lmc == 0 ? r.base + offset : 0;
		j->largest_lmc = r.lmc > j->largest_lmc ? r.lmc : j->largest_lmc;
	}
	j->prev = keep_has_shape(in->prev, lft) ? in->prev : NULL;
	return E_OK;
}

/* The switches that have a distance to one, the furthest first. \return How many. */
static uint32_t sort_by_distance(const struct hops *h, uint32_t t, uint32_t *order)
{
	uint32_t fill[HOPS_NONE + 1] = { 0 }, sum = 0;

	for (uint32_t s = 0; s < h->n; s++) {
		fill[hops_between(h, s, t)]++;
	}
	for (unsigned d = HOPS_NONE; d-- > 0;) {
		uint32_t count = fill[d];

		fill[d] = sum;
		sum += count;
	}
	for (uint32_t s = 0; s < h->n; s++) {
		unsigned d = hops_between(h, s, t);

		if (d != HOPS_NONE) {
			order[fill[d]++] = s;
		}
	}
	return sum;
}

/* What arrives where for the hosts of one switch: each adds its own and passes all on. */
static void count_to(const struct spread_job *j, uint32_t t, uint32_t *order)
{
	const struct graph *g = j->g;
	uint32_t n = sort_by_distance(j->hops, t, order);

	for (uint32_t i = 0; i < n && order[i] != t; i++) {
		uint32_t s = order[i], hosts = g->host_first[s + 1] - g->host_first[s];
		const uint8_t *row = lft_row(j->lft, s);
		uint16_t *flow = j->flow + (size_t)s * j->n_cols;

		for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++) {
			uint32_t lid = j->lid[h], to;

			flow[h] = (uint16_t)(flow[h] + (lid ? hosts : 0));
			to = flow[h] ? j->peer[(size_t)s * j->width + row[lid]] : t;
			if (to != t) {
				uint16_t *there = j->flow + (size_t)to * j->n_cols + h;

				*there = (uint16_t)(*there + flow[h]);
			}
		}
	}
}

/* Routes that have no distance: they are load that stays where it is. By one thread. */
static void count_fixed(const struct spread_job *j, uint32_t s, uint32_t t, uint32_t lid)
{
	uint32_t hosts = j->g->host_first[s + 1] - j->g->host_first[s];

	for (uint32_t steps = 0; lid && s != t && steps < j->n; steps++) {
		uint8_t port = lft_row(j->lft, s)[lid];

		if (port >= j->width ||
		    j->peer[(size_t)s * j->width + port] == GRAPH_NONE) {
			return;
		}
		j->load[(size_t)s * j->width + port] += hosts;
		s = j->peer[(size_t)s * j->width + port];
	}
}

static void count_all_fixed(const struct spread_job *j)
{
	const struct graph *g = j->g;

	for (uint32_t s = 0; s < j->n; s++) {
		if (g->host_first[s] == g->host_first[s + 1]) {
			continue;
		}
		for (uint32_t h = 0, t = 0; h < j->n_cols; h++) {
			while (h >= j->first[t + 1]) {
				t++;
			}
			if (hops_between(j->hops, s, t) == HOPS_NONE) {
				count_fixed(j, s, t, j->lid[h]);
			}
		}
	}
}

static void count_load(const struct spread_job *j, uint32_t s)
{
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	const uint8_t *row = lft_row(j->lft, s);

	for (uint32_t h = 0; h < j->n_cols; h++) {
		if (flow[h]) {
			j->load[(size_t)s * j->width + row[j->lid[h]]] += flow[h];
		}
	}
}

int spread_rebalance_tables(const struct spread *in, unsigned offset, struct lft *lft,
                            struct arena *tmp)
{
	struct spread_job j;
	int ret = given_init(&j, in, offset, lft, tmp);
	uint32_t *order = arena_array(tmp, column_threads(), j.n * sizeof(*order));

	if (ret != E_OK || !order || j.n_cols >= SPREAD_FLOW_MAX) {
		return ret == E_OK && !order ? -ENOMEM : ret;
	}
#pragma omp parallel for schedule(dynamic, 4)
	for (uint32_t t = 0; t < j.n; t++) {
		if (j.first[t] != j.first[t + 1]) {
			count_to(&j, t, order + (size_t)column_thread() * j.n);
		}
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < j.n; s++) {
		count_load(&j, s);
	}
	count_all_fixed(&j);
	return spread_even(&j, tmp);
}

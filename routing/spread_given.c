/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Evening out tables that were not made here: counts what passes where, then
 * spread_even(). */
#include <errno.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/hops.h"
#include "routing/keep.h"
#include "routing/lids.h"
#include "routing/spread_job.h"

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
	}
	j->prev = keep_has_shape(in->prev, lft) ? in->prev : NULL;
	return E_OK;
}

/* Routes of one switch's hosts to those of another, along the tables. */
static void count_way(const struct spread_job *j, uint32_t from, uint32_t t, uint32_t h)
{
	uint32_t lid = j->lid[h], n = j->g->host_first[from + 1] - j->g->host_first[from];
	uint32_t s = from;

	while (s != t) {
		size_t at = (size_t)s * j->width + lft_row(j->lft, s)[lid];

		j->flow[(size_t)s * j->n_cols + h] += (uint16_t)n;
		s = j->peer[at];
	}
}

/* What arrives where for the hosts of one switch. */
static void count_to(const struct spread_job *j, uint32_t t)
{
	const struct graph *g = j->g;

	for (uint32_t from = 0; from < j->n; from++) {
		if (from == t || g->host_first[from] == g->host_first[from + 1] ||
		    hops_between(j->hops, from, t) == HOPS_NONE) {
			continue;
		}
		for (uint32_t h = g->host_first[t]; h < g->host_first[t + 1]; h++) {
			if (j->lid[h]) {
				count_way(j, from, t, h);
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

int spread_even_given(const struct spread *in, unsigned offset, struct lft *lft,
                      struct arena *tmp)
{
	struct spread_job j;
	int ret = given_init(&j, in, offset, lft, tmp);

	if (ret != E_OK || j.n_cols >= SPREAD_FLOW_MAX) {
		return ret;
	}
#pragma omp parallel for schedule(dynamic, 4)
	for (uint32_t t = 0; t < j.n; t++) {
		count_to(&j, t);
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < j.n; s++) {
		count_load(&j, s);
	}
	return spread_even(&j, tmp);
}

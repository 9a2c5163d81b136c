/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/usage.h"

#include <errno.h>
#include <math.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/tables.h"

/* Counts one row of the tables. */
static void count_row(const struct graph *g, const struct lids *lids, const struct lft *lft,
                      uint32_t s, struct port_usage *row)
{
	const uint8_t *entry = lft_row(lft, s);

	for (uint32_t lid = 1; lid <= lids->top && lid < lft->n_lids; lid++) {
		uint32_t owner = lids->owner[lid];
		struct port_usage *u = &row[entry[lid]];

		if (owner == GRAPH_NONE || entry[lid] > g->max_port) {
			continue;
		}
		u->total++;
		if (!graph_is_host(g, owner)) {
			u->sw++;
			continue;
		}
		u->host_all++;
		u->host_base += lids->of[owner].base == lid;
	}
}

int usage_ports(const struct graph *g, const struct lids *lids, const struct lft *lft,
                struct arena *a, struct port_usage **ret_usage)
{
	uint32_t width = g->max_port + 1U;
	struct port_usage *u = arena_array(a, (size_t)g->n_switches * width, sizeof(*u));

	if (!u) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < g->n_switches; s++) {
		count_row(g, lids, lft, s, u + (size_t)s * width);
	}
	*ret_usage = u;
	return E_OK;
}

void usage_add(struct usage_sum *s, uint32_t count)
{
	s->min = s->n == 0 || count < s->min ? count : s->min;
	s->max = count > s->max ? count : s->max;
	s->total += count;
	s->squares += (uint64_t)count * count;
	s->n++;
}

double usage_average(const struct usage_sum *s)
{
	return s->n ? (double)s->total / s->n : 0;
}

double usage_deviation(const struct usage_sum *s)
{
	double mean = usage_average(s);
	double variance = s->n ? (double)s->squares / s->n - mean * mean : 0;

	return variance > 0 ? sqrt(variance) : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Load and contention for the repair of a broken tree: the host routes on each link, and
 * for each link and distance the pairs that send at the same time in a shift.
 *
 * Threads share the work by distance, so each row of contention has one writer. Loads are
 * counted per thread and added up. Both are sums, so the result is the same on any number
 * of threads.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/ftree/ftree_repair.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"

enum {
	BLOCK = 64,
	SLICES = 16,
	HOPS = FTREE_HOPS_MAX + 1,
	LINKS_AT_ONCE = 4096,
	GOOD = 17
};

/* ---- tables by host and back ---- */

/* Transposes the tables for one block of hosts. */
static void load_block(const struct ftree_load *x, uint32_t h0)
{
	const struct ftree *f = x->f;
	uint32_t end = f->n_hosts - h0 < BLOCK ? f->n_hosts : h0 + BLOCK;

	for (uint32_t s = 0; s < f->n; s++) {
		const uint8_t *row = lft_row(f->lft, s);

		for (uint32_t h = h0; h < end; h++) {
			uint8_t p = f->lid[h] ? row[f->lid[h]] : LFT_NO_ROUTE;

			x->port[(size_t)h * f->n + s] = p;
		}
	}
}

void ftree_load_store(const struct ftree_load *x)
{
	const struct ftree *f = x->f;

#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < f->n; s++) {
		uint8_t *row = lft_row(f->lft, s);

		for (uint32_t h = 0; h < f->n_hosts; h++) {
			if (f->lid[h]) {
				row[f->lid[h]] = x->port[(size_t)h * f->n + s];
			}
		}
	}
}

/* ---- adding and removing a route ---- */

/* A saturated counter stays saturated. */
static void add_contention(uint8_t *contention, int by)
{
	int v = *contention + by;

	*contention = *contention == UINT8_MAX || v > UINT8_MAX ? UINT8_MAX : (uint8_t)v;
}

void ftree_load_add_route(struct ftree_load *x, uint32_t i, uint32_t h,
                          const uint8_t *column, int sign)
{
	const struct ftree *f = x->f;
	uint32_t s = f->leaf[i], t = x->home[h], n = f->n_leaves;
	uint32_t flows = ftree_hosts_on(f, s), d = ftree_distance(x, i, h);
	size_t n_adj = f->g->n_adj;
	uint8_t *contention = x->contention + d * n_adj;
	uint8_t *before = x->contention + (d ? d - 1 : n - 1) * n_adj;
	uint8_t *after = x->contention + (d + 1 == n ? 0 : d + 1) * n_adj;

	while (s != t) {
		uint32_t l = ftree_link_at(x, column, s);

		x->load[l] += (uint32_t)sign * flows;
		x->load_cost[l] = ftree_load_cost(x->load[l], x->fair);
		add_contention(&contention[l], 2 * sign);
		add_contention(&before[l], sign);
		add_contention(&after[l], sign);
		s = f->link[l].to;
	}
}

/* ---- counting all main routes ---- */

/* Lists the links of a route. \return How many, 0: it leaves its main route. */
static unsigned follow(const struct ftree_load *x, uint32_t s, uint32_t h,
                       uint32_t *ret_switches)
{
	const struct ftree *f = x->f;
	const uint8_t *column = x->port + (size_t)h * f->n;
	unsigned n = 0;

	for (uint32_t t = x->home[h]; s != t; s = f->link[ret_switches[n++]].to) {
		if (ftree_is_off(f, s, h)) {
			return 0;
		}
		ret_switches[n] = ftree_link_at(x, column, s);
	}
	return n;
}

/* Counts one pair of a leaf switch and a host. */
static void count_pair(const struct ftree_load *x, uint32_t i, uint32_t h, uint32_t *load)
{
	const struct ftree *f = x->f;
	uint32_t link[HOPS], s = f->leaf[i], flows = ftree_hosts_on(f, s);
	uint8_t *contention =
		x->contention + (size_t)ftree_distance(x, i, h) * f->g->n_adj;
	unsigned n;

	if (!ftree_is_pair(x, i, h)) {
		return;
	}
	n = follow(x, s, h, link);
	if (n == 0) {
#pragma omp atomic
		x->broken[h * x->broken_stride + i / 8] |= (uint8_t)(1U << i % 8);
	}
	for (unsigned k = 0; k < n; k++) {
		load[link[k]] += flows;
		contention[link[k]] += contention[link[k]] != UINT8_MAX;
	}
}

/* Turns pairs per distance into twice these plus those of the neighbouring distances, for a
 * range of links. */
static void add_next(const struct ftree_load *x, size_t from, size_t links)
{
	size_t n_adj = x->f->g->n_adj, n = x->f->n_leaves;
	uint8_t first[LINKS_AT_ONCE], before[LINKS_AT_ONCE], *row = x->contention + from;

	memcpy(first, row, links);
	memcpy(before, row + (n - 1) * n_adj, links);
	for (size_t d = 0; d < n; d++, row += n_adj) {
		const uint8_t *after = d + 1 == n ? first : row + n_adj;

		for (size_t l = 0; l < links; l++) {
			unsigned sum = 2U * row[l] + before[l] + after[l];

			before[l] = row[l];
			row[l] = (uint8_t)(sum > UINT8_MAX ? UINT8_MAX : sum);
		}
	}
}

static void sum_loads(struct ftree_load *x, uint32_t *const *load, unsigned threads)
{
	uint32_t n_adj = x->f->g->n_adj;
	uint64_t sum = 0;

	for (uint32_t l = 0; l < n_adj; l++) {
		for (unsigned k = 0; k < threads; k++) {
			x->load[l] += load[k][l];
		}
		sum += x->load[l];
	}
	x->fair = (uint32_t)(sum / (n_adj + 1U)) + 1;
	for (uint32_t l = 0; l < n_adj; l++) {
		x->load_cost[l] = ftree_load_cost(x->load[l], x->fair);
	}
}

static int tally_init(struct ftree_load *x, const struct ftree *f, struct arena *a)
{
	*x = (struct ftree_load){ .f = f, .width = LFT_NO_ROUTE + 1U, .fair = 1 };
	x->broken_stride = f->n_leaves / 8 + 1;
	x->at_port = arena_array(a, (size_t)f->n * x->width, sizeof(*x->at_port));
	x->home = arena_array(a, f->n_hosts + 1U, sizeof(*x->home));
	x->port = arena_array(a, f->n_hosts + 1U, f->n);
	x->load = arena_array(a, f->g->n_adj + 1U, sizeof(*x->load));
	x->load_cost = arena_array(a, f->g->n_adj + 1U, sizeof(*x->load_cost));
	x->contention = arena_array(a, f->n_leaves + 1U, f->g->n_adj + 1U);
	x->broken = arena_array(a, f->n_hosts + 1U, x->broken_stride);
	x->n_broken = arena_array(a, f->n_hosts + 1U, sizeof(*x->n_broken));
	if (!x->at_port || !x->home || !x->port || !x->load || !x->load_cost ||
	    !x->contention || !x->broken || !x->n_broken) {
		return -ENOMEM;
	}
	memset(x->at_port, 0xff, (size_t)f->n * x->width * sizeof(*x->at_port));
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
			x->at_port[(size_t)s * x->width + f->link[i].port] = i;
		}
		for (uint32_t h = f->g->host_first[s]; h < f->g->host_first[s + 1]; h++) {
			x->home[h] = s;
		}
	}
	return E_OK;
}

/* The pairs to be rerouted will raise the mean load; the threshold takes this into account. */
static void find_good(struct ftree_load *x)
{
	uint64_t all = (uint64_t)x->f->n_hosts * x->f->n_leaves, broken = 0;

	for (uint32_t h = 0; h < x->f->n_hosts; h++) {
		broken += x->n_broken[h];
	}
	broken = broken < all ? broken : all - 1;
	x->good_cost = ftree_load_cost(
		(uint32_t)((uint64_t)x->fair * all / (all - broken) * GOOD / 16),
		x->fair);
}

int ftree_load_count(struct ftree_load *x, const struct ftree *f, struct arena *a)
{
	unsigned threads = column_threads();
	uint32_t **load = arena_array(a, threads, sizeof(*load));
	int ret = load ? tally_init(x, f, a) : -ENOMEM;

	for (unsigned i = 0; i < threads && ret == E_OK; i++) {
		load[i] = arena_array(a, f->g->n_adj + 1U, sizeof(**load));
		ret = load[i] ? E_OK : -ENOMEM;
	}
	if (ret != E_OK) {
		return ret;
	}
#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 1)
		for (uint32_t h0 = 0; h0 < f->n_hosts; h0 += BLOCK) {
			load_block(x, h0);
		}
#pragma omp for schedule(dynamic, 1)
		for (uint32_t slice = 0; slice < SLICES; slice++) {
			uint32_t n = x->f->n_leaves;
			uint32_t from = (uint32_t)((uint64_t)n * slice / SLICES);
			uint32_t end = (uint32_t)((uint64_t)n * (slice + 1) / SLICES);

			/* all pairs of one slice of distances */
			for (uint32_t h = 0; h < x->f->n_hosts; h++) {
				uint32_t t = x->f->leaf_pos[x->home[h]];

				for (uint32_t d = from; d < end; d++) {
					count_pair(x, t >= d ? t - d : t + n - d, h,
					           load[column_thread()]);
				}
			}
		}
#pragma omp for schedule(static)
		for (uint32_t l = 0; l < f->g->n_adj; l += LINKS_AT_ONCE) {
			uint32_t left = f->g->n_adj - l;

			add_next(x, l, left < LINKS_AT_ONCE ? left : LINKS_AT_ONCE);
		}
#pragma omp for schedule(static)
		for (uint32_t h = 0; h < f->n_hosts; h++) {
			const uint8_t *b = x->broken + h * x->broken_stride;

			for (size_t k = 0; k < x->broken_stride; k++) {
				x->n_broken[h] += (uint32_t)__builtin_popcount(b[k]);
			}
		}
	}
	sum_loads(x, load, threads);
	find_good(x);
	return E_OK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/column.h"
#include "routing/graph.h"
#include "routing/lids.h"
#include "routing/paths.h"

/* Sums of one thread. */
struct tally {
	uint32_t *all, *base; /* [n_adj] */
	uint32_t *flow; /* [n] routes that arrive at a switch for the present column */
};

/* Adds the routes of one resolved column: each switch's own hosts and what it receives.
 */
static void count_column(const struct column_map *m, const struct column *c,
                         struct tally *t)
{
	bool is_base = m->lids->of[c->owner].base == c->lid;

	for (uint32_t i = 0; i < c->n_order; i++) {
		t->flow[c->order[i]] = m->n_hosts[c->order[i]];
	}
	for (uint32_t i = c->n_order; i-- > 1;) {
		uint32_t s = c->order[i];
		uint32_t channel = m->channel[(size_t)s * m->width + c->port[s]];

		t->all[channel] += t->flow[s];
		t->base[channel] += is_base ? t->flow[s] : 0;
		t->flow[c->next[s]] += t->flow[s];
	}
}

static void count_block(const struct column_map *m, struct column *c, struct tally *t,
                        uint32_t lid)
{
	column_load_block(m, c, lid);
	for (uint32_t k = 0; k < COLUMN_BLOCK; k++) {
		if (column_resolve(m, c, lid + k) && c->to_host) {
			count_column(m, c, t);
		}
	}
}

static struct tally *tallies_new(const struct column_map *m, unsigned n, struct arena *a)
{
	struct tally *t = arena_array(a, n, sizeof(*t));

	for (unsigned i = 0; t && i < n; i++) {
		t[i].all = arena_array(a, m->g->n_adj, sizeof(*t->all));
		t[i].base = arena_array(a, m->g->n_adj, sizeof(*t->base));
		t[i].flow = arena_array(a, m->n, sizeof(*t->flow));
		if (!t[i].all || !t[i].base || !t[i].flow) {
			return NULL;
		}
	}
	return t;
}

static int cmp_u32(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	return (a > b) - (a < b);
}

/* Largest, mean and the value that 99 of 100 links do not exceed. */
static int summarise(struct load *l, uint32_t n, struct arena *tmp)
{
	uint32_t *sorted = arena_array(tmp, n, sizeof(*sorted));
	double sum = 0;

	if (!sorted) {
		return -ENOMEM;
	}
	if (n == 0) {
		return E_OK;
	}
	memcpy(sorted, l->all, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), cmp_u32);
	for (uint32_t i = 0; i < n; i++) {
		sum += sorted[i];
	}
	l->max = sorted[n - 1];
	l->p99 = sorted[((uint64_t)n * 99 + 99) / 100 - 1];
	l->mean = sum / n;
	return E_OK;
}

static int count_all(const struct column_map *m, struct load *l, struct arena *tmp)
{
	unsigned threads = column_threads();
	uint32_t n_blocks = m->lids->top / COLUMN_BLOCK + 1;
	struct column *col = column_new(m, threads, tmp);
	struct tally *tally = tallies_new(m, threads, tmp);

	if (!col || !tally) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n_blocks; i++) {
		unsigned t = column_thread();

		count_block(m, &col[t], &tally[t], i * COLUMN_BLOCK);
	}
	for (unsigned t = 0; t < threads; t++) {
		for (uint32_t i = 0; i < m->g->n_adj; i++) {
			l->all[i] += tally[t].all[i];
			l->base[i] += tally[t].base[i];
		}
	}
	return E_OK;
}

int load_build(const struct graph *g, const struct lids *lids, const struct lft *lft,
               struct arena *a, struct load *ret)
{
	struct arena *tmp = arena_new();
	struct column_map map;
	struct load l = { 0 };
	int ret_code = -ENOMEM;

	l.all = arena_array(a, g->n_adj, sizeof(*l.all));
	l.base = arena_array(a, g->n_adj, sizeof(*l.base));
	if (!tmp || !l.all || !l.base) {
		goto out;
	}
	ret_code = column_map_init(&map, g, lids, lft, tmp);
	if (ret_code == E_OK) {
		ret_code = count_all(&map, &l, tmp);
	}
	if (ret_code == E_OK) {
		ret_code = summarise(&l, g->n_adj, tmp);
	}
	if (ret_code == E_OK) {
		*ret = l;
	}
out:
	arena_free(tmp);
	return ret_code;
}

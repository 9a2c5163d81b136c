/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/lids.h"
#include "routing/paths_work.h"

/* Sums of one thread. A route is counted in one of the two. */
struct tally {
	uint32_t *base, *other; /* [n_adj] of base LIDs, of other LIDs */
	uint32_t *flow; /* [n] routes that arrive at a switch for the present column */
};

struct sums {
	const struct column_map *map;
	unsigned threads;
	struct tally tally[];
};

struct sums *sums_new(const struct column_map *m, unsigned threads, struct arena *tmp)
{
	struct sums *x = arena_alloc(tmp, sizeof(*x) + threads * sizeof(*x->tally));

	if (!x) {
		return NULL;
	}
	x->map = m;
	x->threads = threads;
	for (unsigned i = 0; i < threads; i++) {
		struct tally *t = &x->tally[i];

		t->base = arena_array(tmp, m->g->n_adj, sizeof(*t->base));
		t->other = arena_array(tmp, m->g->n_adj, sizeof(*t->other));
		t->flow = arena_array(tmp, m->n, sizeof(*t->flow));
		if (!t->base || !t->other || !t->flow) {
			return NULL;
		}
	}
	return x;
}

/* Against the order, each switch has received all that passes it before it is its turn.
 */
void sums_column(struct sums *x, unsigned thread, const struct column *c)
{
	struct tally *t = &x->tally[thread];
	const uint32_t *n_hosts = x->map->n_hosts;
	uint32_t *flow = t->flow, *sum = t->other;

	if (!c->to_host) {
		return;
	}
	if (x->map->lids->of[c->owner].base == c->lid) {
		sum = t->base;
	}
	for (uint32_t i = 0; i < c->n_order; i++) {
		flow[c->order[i]] = n_hosts[c->order[i]];
	}
	for (uint32_t i = c->n_order; i-- > 1;) {
		uint32_t s = c->order[i];

		sum[c->channel[s]] += flow[s];
		flow[c->next[s]] += flow[s];
	}
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

int sums_load(const struct sums *x, struct arena *a, struct arena *tmp, struct load *ret)
{
	uint32_t n = x->map->g->n_adj;
	struct load l = { 0 };
	int ret_code;

	l.all = arena_array(a, n, sizeof(*l.all));
	l.base = arena_array(a, n, sizeof(*l.base));
	if (!l.all || !l.base) {
		return -ENOMEM;
	}
	for (unsigned t = 0; t < x->threads; t++) {
		for (uint32_t i = 0; i < n; i++) {
			l.base[i] += x->tally[t].base[i];
			l.all[i] += x->tally[t].base[i] + x->tally[t].other[i];
		}
	}
	ret_code = summarise(&l, n, tmp);
	if (ret_code == E_OK) {
		*ret = l;
	}
	return ret_code;
}

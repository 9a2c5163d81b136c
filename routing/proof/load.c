/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/proof/paths_int.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

/* Sums of one thread. A route is counted in one of the two. */
struct tally {
	uint32_t *base, *other; /* [n_adj] of base LIDs, of other LIDs */
	uint32_t *flow; /* [n] routes that arrive at a switch for the present column */
	uint32_t *come; /* [n][COLUMN_BLOCK] likewise from other switches, for a block */
	uint64_t *got;  /* [n] LIDs of the block for which there are any */
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
		t->come = arena_array(tmp, (size_t)m->n * COLUMN_BLOCK, sizeof(*t->come));
		t->got = arena_array(tmp, m->n, sizeof(*t->got));
		if (!t->base || !t->other || !t->flow || !t->come || !t->got) {
			return NULL;
		}
	}
	return x;
}

/* In reverse order each switch has received all routes that pass it before it sends them on. */
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

/* Routes arrive at a switch. */
static void add_arriving(struct tally *t, uint32_t s, unsigned k, uint32_t routes)
{
	uint32_t *come = &t->come[(size_t)s * COLUMN_BLOCK + k];
	bool more = t->got[s] >> k & 1;

	*come = (more ? *come : 0) + routes;
	t->got[s] |= UINT64_C(1) << k;
}

/* Sends all routes on from one switch. */
static void send_on(const struct column_map *m, struct tally *t,
                    const struct column_block *b, const struct column_group *group)
{
	uint32_t s = group->sw;
	const struct column_hop *hop = m->hop + (size_t)s * m->width;
	const uint32_t *come = t->come + (size_t)s * COLUMN_BLOCK;

	for (uint32_t i = 0; b->passed[s] && i < group->n; i++) {
		const struct column_run *r = &b->run[group->first + i];
		struct column_hop to = hop[r->port];
		uint64_t lids = column_run_lids(r) & b->passed[s];

		for (; lids; lids &= lids - 1) {
			unsigned k = (unsigned)__builtin_ctzll(lids);
			uint32_t routes =
				m->n_hosts[s] + (t->got[s] >> k & 1 ? come[k] : 0);
			uint32_t *sum = b->base >> k & 1 ? t->base : t->other;

			sum[to.channel] += routes;
			add_arriving(t, to.next, k, routes);
		}
	}
}

/* Does a switch send only the routes of its own hosts, to the same LIDs as the first switch
 * of its kind? */
static bool is_plain_source(const struct tally *t, const struct column_block *b,
                            const struct column_group *group)
{
	uint32_t first = b->group[group->like].sw;

	return !t->got[group->sw] && b->passed[group->sw] == b->passed[first];
}

/* How many LIDs of a run come by a switch. */
struct counts {
	uint32_t base, other;
};

/* Adds the routes of the hosts on a switch, whose runs equal those that were counted. */
static void add_sums(const struct column_map *m, struct tally *t,
                     const struct column_block *b, const struct column_group *group,
                     const struct counts *counts)
{
	const struct column_hop *hop = m->hop + (size_t)group->sw * m->width;
	uint32_t n_hosts = m->n_hosts[group->sw];

	for (uint32_t k = 0; k < group->n; k++) {
		uint32_t channel = hop[b->run[group->first + k].port].channel;

		t->base[channel] += n_hosts * counts[k].base;
		t->other[channel] += n_hosts * counts[k].other;
	}
}

/* Sends on the routes of all plain sources that equal a switch. */
static void send_equal_sources(const struct column_map *m, struct tally *t,
                               const struct column_block *b,
                               const struct column_group *first)
{
	uint64_t passed = b->passed[first->sw];
	struct counts counts[COLUMN_BLOCK];
	uint32_t hosts = 0;

	for (uint32_t k = 0; first->more && k < first->n; k++) {
		uint64_t lids = column_run_lids(&b->run[first->first + k]) & passed;

		counts[k].base = (uint32_t)__builtin_popcountll(lids & b->base);
		counts[k].other = (uint32_t)__builtin_popcountll(lids & ~b->base);
	}
	for (uint32_t i = first->more; i; i = b->group[i].more) {
		if (is_plain_source(t, b, &b->group[i])) {
			hosts += m->n_hosts[b->group[i].sw];
			add_sums(m, t, b, &b->group[i], counts);
		}
	}
	for (uint32_t i = 0; hosts && i < first->n; i++) {
		const struct column_run *r = &b->run[first->first + i];
		uint32_t next = m->hop[(size_t)first->sw * m->width + r->port].next;
		uint64_t lids = column_run_lids(r) & passed;

		for (; lids; lids &= lids - 1) {
			add_arriving(t, next, (unsigned)__builtin_ctzll(lids), hosts);
		}
	}
}

void sums_block(struct sums *x, unsigned thread, struct column_block *b)
{
	struct tally *t = &x->tally[thread];

	column_block_pass(x->map, b, b->to_host);
	memset(t->got, 0, x->map->n * sizeof(*t->got));
	for (uint32_t i = b->n_groups; i-- > 0;) {
		const struct column_group *group = &b->group[i];

		if (group->like == i) {
			send_on(x->map, t, b, group);
			send_equal_sources(x->map, t, b, group);
		} else if (!is_plain_source(t, b, group)) {
			send_on(x->map, t, b, group);
		}
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
	l->n = n;
	memcpy(sorted, l->all, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), cmp_u32);
	for (uint32_t i = 0; i < n; i++) {
		sum += sorted[i];
		l->idle += sorted[i] == 0;
	}
	l->max = sorted[n - 1];
	l->p99 = sorted[((uint64_t)n * 99 + 99) / 100 - 1];
	l->mean = sum / n;
	return E_OK;
}

int sums_load(const struct sums *x, struct arena *a, struct arena *tmp,
              struct load *ret_load)
{
	uint32_t n = x->map->g->n_adj;
	struct load l = { 0 };
	int ret;

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
	ret = summarise(&l, n, tmp);
	if (ret == E_OK) {
		*ret_load = l;
	}
	return ret;
}

int load_of_ports(const struct graph *g, const uint32_t *all, const uint32_t *base,
                  uint32_t width, struct arena *a, struct arena *tmp,
                  struct load *ret_load)
{
	struct load l = { .all = arena_array(a, g->n_adj, sizeof(*l.all)),
		          .base = arena_array(a, g->n_adj, sizeof(*l.base)) };
	int ret;

	if (!l.all || !l.base) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			l.all[i] = all[(size_t)s * width + g->adj[i].port];
			l.base[i] = base[(size_t)s * width + g->adj[i].port];
		}
	}
	ret = summarise(&l, g->n_adj, tmp);
	if (ret == E_OK) {
		*ret_load = l;
	}
	return ret;
}

static uint64_t lids_on(const struct graph *g, const struct lids *lids, uint32_t first,
                        uint32_t end)
{
	uint64_t n = 0;

	for (uint32_t h = first; h < end; h++) {
		const struct lid_range *of = &lids->of[g->hosts[h]];

		n += of->base != 0 ? UINT64_C(1) << of->lmc : 0;
	}
	return n;
}

uint64_t load_even(const struct graph *g, const struct lids *lids)
{
	/* hosts has those that are cabled to a switch */
	uint64_t all_lids = lids_on(g, lids, 0, g->host_first[g->n_switches]), most = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t links = g->adj_first[s + 1] - g->adj_first[s];
		uint64_t hosts = g->host_first[s + 1] - g->host_first[s];
		uint64_t here = lids_on(g, lids, g->host_first[s], g->host_first[s + 1]);
		uint64_t out = hosts * (all_lids - here), in = here * (g->n_hosts - hosts);
		uint64_t need = links != 0 ? ((out > in ? out : in) + links - 1) / links : 0;

		most = need > most ? need : most;
	}
	return most;
}

static unsigned percent_less(uint32_t now, uint32_t other)
{
	return now ? (unsigned)((uint64_t)(now - other) * 100 / now) : 0;
}

enum { THIN = 4 }; /* a link with less than this fraction of its share is nearly idle */

static uint32_t count_thin(const struct load *l, const struct load *other)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		n += 2 * other->all[i] >= other->mean && other->all[i] != 0 &&
		     l->all[i] < other->all[i] / (double)THIN;
	}
	return n;
}

struct load_gain load_gain(const struct load *now, const struct load *other)
{
	struct load_gain gain = { 0 };
	unsigned max, p99;
	uint32_t thin, thinned;

	if (other->max > now->max || other->p99 > now->p99) {
		return gain;
	}
	max = percent_less(now->max, other->max);
	p99 = percent_less(now->p99, other->p99);
	thin = count_thin(now, other);
	thinned = count_thin(other, now);
	gain.percent = max > p99 ? max : p99;
	gain.filled = thin > thinned ? thin - thinned : 0;
	return gain;
}

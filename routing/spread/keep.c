/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/spread/keep.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths.h"

bool keep_has_shape(const struct lft *prev, const struct lft *today)
{
	return prev && prev->n_switches == today->n_switches &&
	       prev->n_lids == today->n_lids && prev->stride == today->stride;
}

/* The LIDs of one set, and nothing else. */
static int lids_of_set(const struct keep_measure *m, unsigned set, struct arena *a,
                       struct lids *ret)
{
	struct lids l = *m->lids;

	l.owner = arena_array(a, (size_t)l.top + 1, sizeof(*l.owner));
	if (!l.owner) {
		return -ENOMEM;
	}
	for (uint32_t lid = 0; lid <= l.top; lid++) {
		uint32_t owner = m->lids->owner[lid];

		l.owner[lid] =
			owner != GRAPH_NONE && m->set[owner] == set ? owner : GRAPH_NONE;
	}
	*ret = l;
	return E_OK;
}

/* Routes that do not count: two destinations for all hosts of a switch. */
static uint32_t few_routes(const struct graph *g)
{
	uint32_t most = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t n = g->host_first[s + 1] - g->host_first[s];

		most = n > most ? n : most;
	}
	return 2 * most;
}

static uint32_t busiest(const uint32_t *load, uint32_t n)
{
	uint32_t most = 0;

	for (uint32_t c = 0; c < n; c++) {
		most = load[c] > most ? load[c] : most;
	}
	return most;
}

static uint64_t total(const uint32_t *load, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t c = 0; c < n; c++) {
		sum += load[c];
	}
	return sum;
}

/* A link that carries nothing in either direction. */
static bool is_idle(const struct graph *g, const uint32_t *load, uint32_t c)
{
	const struct sw_link *l = &g->adj[c];
	uint32_t back = g->adj_first[l->to];

	if (load[c]) {
		return false;
	}
	while (g->adj[back].port != l->to_port) {
		back++;
	}
	return load[back] == 0;
}

static bool is_even(const struct graph *g, const uint32_t *load, uint32_t few)
{
	uint64_t sum = total(load, g->n_adj);

	for (uint32_t c = 0; c < g->n_adj; c++) {
		if (is_idle(g, load, c)) {
			return false;
		}
	}
	return (uint64_t)busiest(load, g->n_adj) * g->n_adj <=
	       sum + sum / 10 + (uint64_t)few * g->n_adj;
}

/* \param other  Loads of tables made without a look back. */
static bool is_as_good(const struct graph *g, const uint32_t *load, const uint32_t *other,
                       uint32_t few)
{
	uint64_t most = busiest(other, g->n_adj), sum = total(other, g->n_adj);

	for (uint32_t c = 0; c < g->n_adj; c++) {
		if (other[c] > few / 2 && (uint64_t)other[c] * g->n_adj * 2 > sum &&
		    is_idle(g, load, c)) {
			return false;
		}
	}
	/* the sum of loads is the sum of hops */
	return total(load, g->n_adj) <= sum + sum / 16 + few &&
	       busiest(load, g->n_adj) <= most + most / 4 + few;
}

static int judge_set(const struct keep_measure *m, const struct lids *lids,
                     const struct lft *kept, const struct lft *anew, struct arena *tmp,
                     bool *ret)
{
	uint32_t few = few_routes(m->g);
	struct load load, other;
	int err = load_build(m->g, lids, kept, tmp, &load);

	if (err == E_OK && anew) {
		err = load_build(m->g, lids, anew, tmp, &other);
	}
	if (err == E_OK) {
		*ret = anew ? is_as_good(m->g, load.base, other.base, few) &&
		                       is_as_good(m->g, load.all, other.all, few)
		            : is_even(m->g, load.base, few) &&
		                       is_even(m->g, load.all, few) &&
		                       (!m->hops ||
		                        total(load.base, m->g->n_adj) <= m->hops);
	}
	return err;
}

int keep_is_good(const struct keep_measure *m, const struct lft *kept,
                 const struct lft *anew, bool *ret)
{
	struct arena *tmp = arena_new();
	bool good = true;
	int err = tmp ? E_OK : -ENOMEM;

	for (unsigned i = 0; err == E_OK && good && i < (m->set ? m->n_sets : 1); i++) {
		struct lids lids = *m->lids;

		err = m->set ? lids_of_set(m, i, tmp, &lids) : E_OK;
		if (err == E_OK) {
			err = judge_set(m, &lids, kept, anew, tmp, &good);
		}
	}
	if (err == E_OK) {
		*ret = good;
	}
	arena_free(tmp);
	return err;
}

/* ---- columns ---- */

/* Working memory of one thread: a column of today, and the same of before. */
struct pair {
	struct column *now, *old;
	uint16_t *hops, *hops_old; /* [n] UINT16_MAX: does not arrive */
};

static void count_hops(const struct column *c, uint32_t n, uint16_t *hops)
{
	memset(hops, 0xff, n * sizeof(*hops));
	for (uint32_t i = 0; i < c->n_order; i++) {
		hops[c->order[i]] = i ? (uint16_t)(hops[c->next[c->order[i]]] + 1) : 0;
	}
}

/* Is the earlier column no detour? Between hosts no hop more will do, for management all
 * routes together may have a quarter more. */
static bool is_short(const struct column_map *m, const struct pair *p)
{
	uint64_t sum = 0, sum_old = 0;

	for (uint32_t s = 0; s < m->n; s++) {
		if (p->hops[s] == UINT16_MAX) {
			continue;
		}
		if (p->hops_old[s] == UINT16_MAX ||
		    (p->now->to_host && m->n_hosts[s] && p->hops_old[s] > p->hops[s])) {
			return false;
		}
		sum += p->hops[s];
		sum_old += p->hops_old[s];
	}
	return sum_old <= sum + sum / 4;
}

static void keep_column(const struct column_map *old, const struct pair *p, uint32_t lid,
                        struct lft *ret)
{
	count_hops(p->now, old->n, p->hops);
	count_hops(p->old, old->n, p->hops_old);
	if (!is_short(old, p)) {
		return;
	}
	for (uint32_t s = 0; s < old->n; s++) {
		if (p->hops[s] != UINT16_MAX) {
			lft_row(ret, s)[lid] = p->old->port[s];
		}
	}
}

static struct pair *pairs_new(const struct column_map *m, unsigned n, struct arena *a)
{
	struct pair *p = arena_array(a, n, sizeof(*p));
	struct column *c = column_new(m, 2 * n, a);

	for (unsigned i = 0; p && c && i < n; i++) {
		p[i].now = &c[2 * i];
		p[i].old = &c[2 * i + 1];
		p[i].hops = arena_array(a, m->n, sizeof(*p->hops));
		p[i].hops_old = arena_array(a, m->n, sizeof(*p->hops_old));
		if (!p[i].hops || !p[i].hops_old) {
			return NULL;
		}
	}
	return c ? p : NULL;
}

int keep_columns(const struct graph *g, const struct lids *lids, const struct lft *prev,
                 const bool *which, struct lft *ret)
{
	struct arena *tmp = arena_new();
	uint32_t n_blocks = lids->top / COLUMN_BLOCK + 1;
	struct column_map now, old;
	struct pair *pairs = NULL;
	int err = tmp ? column_map_init(&now, g, lids, ret, tmp) : -ENOMEM;

	if (err == E_OK) {
		old = now;
		old.lft = prev;
		pairs = pairs_new(&now, column_threads(), tmp);
		err = pairs ? E_OK : -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < (err == E_OK ? n_blocks : 0); i++) {
		struct pair *p = &pairs[column_thread()];
		uint32_t lid = i * COLUMN_BLOCK, end = lid + COLUMN_BLOCK;

		column_load_block(&now, p->now, lid);
		column_load_block(&old, p->old, lid);
		for (; lid < end && lid <= lids->top; lid++) {
			if ((!which || which[lid]) && column_resolve(&now, p->now, lid) &&
			    column_resolve(&old, p->old, lid)) {
				keep_column(&old, p, lid, ret);
			}
		}
	}
	arena_free(tmp);
	return err;
}

/* ---- tables ---- */

/* LIDs in use, those of hosts or not. */
static bool *lids_of_kind(const struct graph *g, const struct lids *lids, bool hosts,
                          struct arena *a)
{
	bool *which = arena_array(a, (size_t)lids->top + 1, sizeof(*which));

	for (uint32_t lid = 1; which && lid <= lids->top; lid++) {
		uint32_t owner = lids->owner[lid];

		which[lid] = owner != GRAPH_NONE &&
		             (hosts || g->nodes[g->ports[owner].node].sw != GRAPH_NONE);
	}
	return which;
}

/* Is any entry of these LIDs another one? */
static bool differ(const bool *which, const struct lft *a, const struct lft *b)
{
	for (uint32_t s = 0; s < a->n_switches; s++) {
		const uint8_t *x = lft_row(a, s), *y = lft_row(b, s);

		for (uint32_t lid = 1; memcmp(x, y, a->stride) && lid < a->n_lids;
		     lid++) {
			if (x[lid] != y[lid] && which[lid]) {
				return true;
			}
		}
	}
	return false;
}

/* Good, and without a cycle: all on one lane. */
static int may_stay(const struct keep_measure *m, const struct lft *kept,
                    const struct lft *anew, struct arena *tmp)
{
	const struct lanes one = { .n = 1 };
	const struct keep_lanes k = { .g = m->g,
		                      .lids = m->lids,
		                      .lft = kept,
		                      .prev = kept,
		                      .prev_lanes = &one,
		                      .n = 1 };
	uint8_t *lane = arena_array(tmp, kept->n_switches, kept->stride);
	bool good;
	int err = lane ? keep_is_good(m, kept, anew, &good) : -ENOMEM;

	if (err == E_OK) {
		err = good ? keep_lanes(&k, lane) : E_UNSUITABLE;
	}
	return err;
}

int keep_tables(const struct keep_measure *m, const struct lft *prev, bool hosts,
                struct lft *lft)
{
	size_t bytes = lft->n_switches * lft->stride;
	struct arena *tmp;
	struct lft kept;
	bool *which;
	int err = -ENOMEM;

	if (!keep_has_shape(prev, lft)) {
		return E_OK;
	}
	tmp = arena_new();
	which = tmp ? lids_of_kind(m->g, m->lids, hosts, tmp) : NULL;
	if (which && !differ(which, prev, lft)) {
		err = E_UNSUITABLE;
	} else if (which) {
		err = lft_init(&kept, lft->n_switches, m->lids->top, tmp);
	}
	if (err == E_OK) {
		memcpy(kept.rows, lft->rows, bytes);
		err = keep_columns(m->g, m->lids, prev, which, &kept);
	}
	if (err == E_OK) {
		err = may_stay(m, &kept, lft, tmp);
	}
	if (err == E_OK) {
		memcpy(lft->rows, kept.rows, bytes);
	}
	arena_free(tmp);
	return err == E_UNSUITABLE ? E_OK : err;
}

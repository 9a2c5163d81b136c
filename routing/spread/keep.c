/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/spread/keep.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths.h"

/* The LIDs of one set; all others are without owner. */
static int lids_of_set(const struct keep_measure *m, unsigned set, struct arena *a,
                       struct lids *ret_lids)
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
	*ret_lids = l;
	return E_OK;
}

/* Summary of the loads of a table. */
struct summary {
	uint64_t most, sum;
};

static struct summary summarize(const struct graph *g, const uint32_t *load)
{
	struct summary s = { 0, 0 };

	for (uint32_t c = 0; c < g->n_adj; c++) {
		s.most = load[c] > s.most ? load[c] : s.most;
		s.sum += load[c];
	}
	return s;
}

/* Does a cable carry nothing in either direction? */
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

/* Is the load even, judged by itself? A few routes more or less do not count. */
static bool is_even(const struct graph *g, const uint32_t *load, uint32_t few)
{
	struct summary x = summarize(g, load);

	for (uint32_t c = 0; c < g->n_adj; c++) {
		if (is_idle(g, load, c)) {
			return false;
		}
	}
	return x.most * g->n_adj <= x.sum + x.sum / 10 + (uint64_t)few * g->n_adj;
}

/* Is the load about as even as that of tables computed without the earlier ones? */
static bool is_as_good(const struct graph *g, const uint32_t *load, const uint32_t *other,
                       uint32_t few)
{
	struct summary x = summarize(g, load), y = summarize(g, other);

	for (uint32_t c = 0; c < g->n_adj; c++) {
		if (other[c] > few / 2 && (uint64_t)other[c] * g->n_adj * 2 > y.sum &&
		    is_idle(g, load, c)) {
			return false;
		}
	}
	/* the sum of loads is the sum of hops */
	return x.sum <= y.sum + y.sum / 16 + few && x.most <= y.most + y.most / 4 + few;
}

/* Judges the routes to one set of LIDs. */
static int judge_set(const struct keep_measure *m, const struct lids *lids,
                     const struct lft *kept, const struct lft *anew, struct arena *tmp,
                     bool *ret_is_good)
{
	uint32_t few = 0;
	struct load load, other;
	int ret = load_build(m->g, lids, kept, tmp, &load);

	/* two destinations for all hosts of the fullest switch */
	for (uint32_t s = 0; s < m->g->n_switches; s++) {
		uint32_t n = m->g->host_first[s + 1] - m->g->host_first[s];

		few = 2 * n > few ? 2 * n : few;
	}
	if (ret == E_OK && anew) {
		ret = load_build(m->g, lids, anew, tmp, &other);
	}
	if (ret == E_OK && anew) {
		*ret_is_good = is_as_good(m->g, load.base, other.base, few) &&
		               is_as_good(m->g, load.all, other.all, few);
	} else if (ret == E_OK) {
		*ret_is_good = is_even(m->g, load.base, few) &&
		               is_even(m->g, load.all, few) &&
		               (!m->hops || summarize(m->g, load.base).sum <= m->hops);
	}
	return ret;
}

int keep_is_good(const struct keep_measure *m, const struct lft *kept,
                 const struct lft *anew, bool *ret_is_good)
{
	struct arena *tmp = arena_new();
	bool good = true;
	int ret = tmp ? E_OK : -ENOMEM;

	for (unsigned i = 0; ret == E_OK && good && i < (m->set ? m->n_sets : 1); i++) {
		struct lids lids = *m->lids;

		ret = m->set ? lids_of_set(m, i, tmp, &lids) : E_OK;
		if (ret == E_OK) {
			ret = judge_set(m, &lids, kept, anew, tmp, &good);
		}
	}
	if (ret == E_OK) {
		*ret_is_good = good;
	}
	arena_free(tmp);
	return ret;
}

/* ---- tables ---- */

/* Do the tables differ in any entry of these LIDs? */
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

/* Are the kept tables balanced and, all on one lane, free of credit loops? */
static int check_kept(const struct keep_measure *m, const struct lft *prev,
                      struct lft *kept, const struct lft *anew, struct arena *tmp)
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
	int ret = lane ? keep_is_good(m, kept, anew, &good) : -ENOMEM;

	if (ret == E_OK && !good && m->even) {
		ret = m->even(m->ctx, prev, kept, tmp);
		if (ret == E_OK) {
			ret = keep_is_good(m, kept, anew, &good);
		}
	}
	if (ret == E_OK) {
		ret = good ? keep_lanes(&k, lane) : E_UNSUITABLE;
	}
	return ret;
}

int keep_tables(const struct keep_measure *m, const struct lft *prev, bool hosts,
                struct lft *lft)
{
	size_t bytes = lft->n_switches * lft->stride;
	struct arena *tmp;
	struct lft kept;
	bool *which;
	int ret = -ENOMEM;

	if (!keep_has_shape(prev, lft)) {
		return E_OK;
	}
	tmp = arena_new();
	which = tmp ? arena_array(tmp, (size_t)m->lids->top + 1, sizeof(*which)) : NULL;
	for (uint32_t lid = 1; which && lid <= m->lids->top; lid++) {
		uint32_t owner = m->lids->owner[lid];

		which[lid] =
			owner != GRAPH_NONE &&
			(hosts || m->g->nodes[m->g->ports[owner].node].sw != GRAPH_NONE);
	}
	if (which && !differ(which, prev, lft)) {
		ret = E_UNSUITABLE;
	} else if (which) {
		ret = lft_init(&kept, lft->n_switches, m->lids->top, tmp);
	}
	if (ret == E_OK) {
		memcpy(kept.rows, lft->rows, bytes);
		ret = keep_columns(m->g, m->lids, prev, which, &kept);
	}
	if (ret == E_OK) {
		ret = check_kept(m, prev, &kept, lft, tmp);
	}
	if (ret == E_OK) {
		memcpy(lft->rows, kept.rows, bytes);
	}
	arena_free(tmp);
	return ret == E_UNSUITABLE ? E_OK : ret;
}

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

/* No link carries more than the busiest one of the other tables, all together no more, and
 * no cable is idle that is used there. */
static bool is_no_worse(const struct graph *g, const uint32_t *load,
                        const uint32_t *other)
{
	struct summary x = summarize(g, load), y = summarize(g, other);
	bool good = x.most <= y.most && x.sum <= y.sum;

	for (uint32_t c = 0; c < g->n_adj && good; c++) {
		good = other[c] == 0 || !is_idle(g, load, c);
	}
	return good;
}

/* Are the kept tables balanced? Those of a host that comes may move for it. */
static int judge_kept(const struct keep_measure *m, const struct lft *prev,
                      enum keep_which which, struct lft *kept, const struct lft *anew,
                      struct arena *tmp, bool *ret_good)
{
	struct load load, other;
	int ret;

	if (which == KEEP_IF_EVEN) {
		ret = load_build(m->g, m->lids, kept, tmp, &load);
		if (ret == E_OK) {
			ret = load_build(m->g, m->lids, anew, tmp, &other);
		}
		*ret_good = ret == E_OK && is_no_worse(m->g, load.base, other.base) &&
		            is_no_worse(m->g, load.all, other.all);
		return ret;
	}
	ret = keep_is_good(m, kept, anew, ret_good);
	if (ret == E_OK && !*ret_good && m->even) {
		ret = m->even(m->ctx, prev, kept, tmp);
		if (ret == E_OK) {
			ret = keep_is_good(m, kept, anew, ret_good);
		}
	}
	return ret;
}

/* Are they free of credit loops, all on one lane? \retval E_UNSUITABLE  No. */
static int check_loops(const struct keep_measure *m, const struct lft *kept,
                       struct arena *tmp)
{
	const struct lanes one = { .n = 1 };
	const struct keep_lanes k = { .g = m->g,
		                      .lids = m->lids,
		                      .lft = kept,
		                      .prev = kept,
		                      .prev_lanes = &one,
		                      .n = 1 };
	uint8_t *lane = arena_array(tmp, kept->n_switches, kept->stride);

	return lane ? keep_lanes(&k, lane) : -ENOMEM;
}

/* \retval E_UNSUITABLE  Nothing differs, or it may not stay. */
static int keep_these(const struct keep_measure *m, const struct lft *prev,
                      enum keep_which which, struct lft *lft, struct arena *tmp)
{
	size_t bytes = lft->n_switches * lft->stride;
	bool *look = arena_array(tmp, (size_t)m->lids->top + 1, sizeof(*look)), good;
	struct lft kept;
	int ret = look ? E_OK : -ENOMEM;

	for (uint32_t lid = 1; look && lid <= m->lids->top; lid++) {
		uint32_t owner = m->lids->owner[lid];

		look[lid] = owner != GRAPH_NONE &&
		            (which != KEEP_SWITCHES ||
		             m->g->nodes[m->g->ports[owner].node].sw != GRAPH_NONE);
	}
	if (ret == E_OK) {
		ret = differ(look, prev, lft)
		              ? lft_init(&kept, lft->n_switches, m->lids->top, tmp)
		              : E_UNSUITABLE;
	}
	if (ret == E_OK) {
		memcpy(kept.rows, lft->rows, bytes);
		ret = keep_columns(m->g, m->lids, prev, look, &kept);
	}
	if (ret == E_OK) {
		ret = judge_kept(m, prev, which, &kept, lft, tmp, &good);
	}
	if (ret == E_OK) {
		ret = good ? check_loops(m, &kept, tmp) : E_UNSUITABLE;
	}
	if (ret == E_OK) {
		memcpy(lft->rows, kept.rows, bytes);
	}
	return ret;
}

int keep_tables(const struct keep_measure *m, const struct lft *prev,
                enum keep_which which, struct lft *lft)
{
	struct arena *tmp;
	int ret = -ENOMEM;

	if (!keep_has_shape(prev, lft)) {
		return E_OK;
	}
	tmp = arena_new();
	if (tmp) {
		ret = keep_these(m, prev, which, lft, tmp);
	}
	if (ret == E_UNSUITABLE && which == KEEP_IF_EVEN) {
		ret = keep_these(m, prev, KEEP_SWITCHES, lft, tmp);
	}
	arena_free(tmp);
	return ret == E_UNSUITABLE ? E_OK : ret;
}

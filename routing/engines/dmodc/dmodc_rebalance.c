/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Balance of broken trees.
 *
 * The closed form considers the uplinks of one switch at a time. So if several cables are
 * missing, some links further on get more than their share. It also selects neighbours, so
 * the only cable to one neighbour carries as much as several cables to another. Then routes
 * to base LIDs are moved from these links to others that climb and descend by the same rule
 * (routing/spread/spread_rebalance.c). Further LIDs of a port stay apart from the base LID.
 */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/dmodc/dmodc_job.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/spread.h"

/* Do more cables lead to one neighbour above than to another? */
static bool has_unlike_neighbours(const struct dmodc_tree *t, uint32_t s)
{
	const struct dmodc_group *group = t->up.group;

	for (uint32_t i = t->up.first[s] + 1; i < t->up.first[s + 1]; i++) {
		if (group[i].n != group[i - 1].n) {
			return true;
		}
	}
	return false;
}

/* Has a switch fewer cables up than others of its rank, or fewer to one neighbour than to
 * another? */
static bool is_broken(const struct dmodc_tree *t)
{
	for (unsigned r = 0; r + 1 < t->tiers; r++) {
		uint32_t most = 0, least = UINT32_MAX;

		for (uint32_t i = t->rank_first[r]; i < t->rank_first[r + 1]; i++) {
			uint32_t n = 0;

			for (uint32_t k = t->up.first[t->by_rank[i]];
			     k < t->up.first[t->by_rank[i] + 1]; k++) {
				n += t->is_stub[t->up.group[k].to] ? 0 : t->up.group[k].n;
			}
			if (has_unlike_neighbours(t, t->by_rank[i])) {
				return true;
			}
			if (!t->is_stub[t->by_rank[i]]) {
				most = n > most ? n : most;
				least = n < least ? n : least;
			}
		}
		if (least < most) {
			return true;
		}
	}
	return false;
}

struct climbs {
	const struct dmodc_tree *t;
	struct hops hops;
};

/* spread_closer_f for routes that descend where possible, else climb. */
static void next_by_rank(const void *ctx, uint32_t s, uint32_t t,
                         const struct sw_link *link, uint32_t n_links, unsigned max,
                         struct spread_ports *ret_ports)
{
	const struct climbs *x = ctx;
	const uint8_t *rank = x->t->rank;
	unsigned d = hops_between(&x->hops, s, t), n = 0;
	int step = d + rank[t] > rank[s] ? 1 : -1;

	for (uint32_t i = 0; i < n_links && n < max; i++) {
		uint32_t to = link[i].to;

		if (rank[to] == rank[s] + step &&
		    hops_between(&x->hops, to, t) + 1 == d) {
			ret_ports->port[n] = link[i].port;
			ret_ports->to[n++] = to;
		}
	}
	ret_ports->n = n;
}

/* Hops of routes by rank: k up, then down to the destination's rank. */
static void find_hops(const struct dmodc_job *j, struct hops *h, uint32_t s)
{
	for (unsigned k = 0; k < j->reach.rows; k++) {
		const uint64_t *row = dmodc_row(&j->reach, s, k);

		for (uint32_t w = 0; w < j->reach.words; w++) {
			for (uint64_t b = row[w]; b; b &= b - 1) {
				uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);

				h->dist[(size_t)s * h->stride + t] =
					(uint8_t)(2 * k + j->t.rank[s] - j->t.rank[t]);
			}
		}
	}
}

static int rebalance(struct dmodc_job *j, const _Atomic bool *cancel, struct arena *tmp)
{
	struct climbs x = { .t = &j->t };
	const struct spread in = { .g = j->g,
		                   .lids = j->lids,
		                   .hops = &x.hops,
		                   .closer = next_by_rank,
		                   .ctx = &x,
		                   .cancel = cancel };
	int ret;

	if (j->t.height >= HOPS_NONE / 2) {
		return E_OK;
	}
	ret = hops_alloc(&x.hops, j->t.n, tmp);
	if (ret != E_OK) {
		return ret == E_RANGE ? E_OK : ret;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < j->t.n; s++) {
		find_hops(j, &x.hops, s);
	}
	return spread_rebalance_tables(&in, 0, j->lft, tmp);
}

/* Entries of base LIDs, by switch and host. */
static void copy_base(const struct dmodc_job *j, uint8_t *ret_rows)
{
	for (uint32_t s = 0; s < j->t.n; s++) {
		const uint8_t *row = lft_row(j->lft, s);

		for (uint32_t c = 0; c < j->t.n_cols; c++) {
			*ret_rows++ = row[j->base[c]];
		}
	}
}

/* How much two ports of one switch have in common. */
enum likeness { SAME_PORT, SAME_SYSTEM, SAME_NODE, LIKENESS_COUNT };

static bool is_same(const struct graph *g, uint32_t s, uint8_t a, uint8_t b,
                    enum likeness level)
{
	const struct node *n = &g->nodes[g->switches[s]];
	uint32_t x = g->ports[g->ports[n->first_port + a].peer].node;
	uint32_t y = g->ports[g->ports[n->first_port + b].peer].node;
	uint64_t system = g->nodes[x].system_image_guid;

	switch (level) {
	case SAME_PORT: return a == b;
	case SAME_SYSTEM:
		return x == y || (system && system == g->nodes[y].system_image_guid);
	case SAME_NODE:
	case LIKENESS_COUNT: break;
	}
	return x == y;
}

/* Does another LID of the range go where the port of LID k leads? */
static bool is_redundant(const struct graph *g, uint32_t s, const uint8_t *range,
                         uint32_t n, uint32_t k, enum likeness level)
{
	for (uint32_t i = 0; i < n; i++) {
		if (i != k && is_same(g, s, range[i], range[k], level)) {
			return true;
		}
	}
	return false;
}

/* A further LID of the range that goes where a port leads, preferably one whose node serves
 * other LIDs, too; 0: none. */
static uint32_t find_further_lid(const struct graph *g, uint32_t s, const uint8_t *range,
                                 uint32_t n, uint8_t port, enum likeness level)
{
	uint32_t found = 0;

	for (uint32_t k = 1; k < n; k++) {
		if (is_same(g, s, range[k], port, level)) {
			if (is_redundant(g, s, range, n, k, SAME_NODE)) {
				return k;
			}
			found = found ? found : k;
		}
	}
	return found;
}

/*
 * The base LID of a range left a port. A further LID takes this port if it now shares one with
 * the base LID, or if no LID goes to that system or node any more and one is redundant.
 */
static void keep_apart(const struct graph *g, uint32_t s, uint8_t *range, uint32_t n,
                       uint8_t before)
{
	for (enum likeness level = SAME_PORT; level < LIKENESS_COUNT; level++) {
		bool missed = level == SAME_PORT ||
		              !find_further_lid(g, s, range, n, before, level);
		uint32_t k =
			missed ? find_further_lid(g, s, range, n, range[0], level) : 0;

		if (k && !is_same(g, s, before, range[0], level)) {
			range[k] = before;
			return;
		}
	}
}

int dmodc_rebalance(struct dmodc_job *j, const _Atomic bool *cancel, struct arena *tmp)
{
	uint8_t *before = NULL;
	bool several = false;
	int ret;

	if (!is_broken(&j->t)) {
		return E_OK;
	}
	for (uint32_t c = 0; c < j->t.n_cols; c++) {
		several |= j->lmc[c] > 0;
	}
	if (several) {
		before = arena_array(tmp, j->t.n, j->t.n_cols);
		if (!before) {
			return -ENOMEM;
		}
		copy_base(j, before);
	}
	ret = rebalance(j, cancel, tmp);
	if (ret == E_OK && several) {
		for (uint32_t s = 0; s < j->t.n; s++) {
			uint8_t *row = lft_row(j->lft, s);

			for (uint32_t c = 0; c < j->t.n_cols; c++, before++) {
				uint8_t *range = row + j->base[c];

				if (j->base[c] && j->lmc[c] && *before != range[0]) {
					keep_apart(j->g, s, range, 1U << j->lmc[c],
					           *before);
				}
			}
		}
	}
	return ret;
}

enum keep_which dmodc_keeps(const struct dmodc_tree *t)
{
	return t->full && !is_broken(t) ? KEEP_IF_EVEN : KEEP_ALL;
}

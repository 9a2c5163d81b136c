/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Pairs without a route by rank: the up/down order of switches that joins them
 * (routing/spread/order.h), and their entries. The order is told which routes by rank there
 * are, and which of them only descend it.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/dmodc/dmodc.h"
#include "routing/engines/dmodc/dmodc_job.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

struct work {
	const struct dmodc_tree *t;
	const struct dmodc_reach *r;
	struct order *l;
};

/* Destinations k ranks up for which every possible next switch is lower in the order and
 * descends to them by the order, too. */
static void descend_by_rank(const struct work *x, uint32_t s, unsigned k)
{
	const struct dmodc_groups *dir = k ? &x->t->up : &x->t->down;
	const uint64_t *mine = dmodc_row(x->r, s, k);
	uint64_t *row = order_descends(x->l, s);

	for (uint32_t w = 0; w < x->r->words; w++) {
		uint64_t bad = 0;

		for (uint32_t i = dir->first[s]; mine[w] && i < dir->first[s + 1]; i++) {
			uint32_t to = dir->group[i].to;
			uint64_t there = dmodc_row(x->r, to, k ? k - 1 : 0)[w];

			bad |= order_goes_down(x->l, s, to)
			               ? there & ~order_descends(x->l, to)[w]
			               : there;
		}
		row[w] |= mine[w] & ~bad;
	}
}

static void find_by_rank(const struct work *x)
{
	const struct dmodc_tree *t = x->t;

	for (unsigned rank = 0; rank <= t->height; rank++) {
#pragma omp parallel for schedule(static)
		for (uint32_t i = t->rank_first[rank]; i < t->rank_first[rank + 1]; i++) {
			descend_by_rank(x, t->by_rank[i], 0);
		}
	}
	for (unsigned k = 1; k <= t->height; k++) {
#pragma omp parallel for schedule(static)
		for (uint32_t i = 0; i < t->rank_first[t->height - k + 1]; i++) {
			descend_by_rank(x, t->by_rank[i], k);
		}
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < t->n; s++) {
		for (unsigned k = 0; k < x->r->rows; k++) {
			for (uint32_t w = 0; w < x->r->words; w++) {
				order_reaches(x->l, s)[w] |= dmodc_row(x->r, s, k)[w];
			}
		}
	}
}

int dmodc_updown_init(struct order *l, const struct dmodc_tree *t,
                      const struct dmodc_reach *r, struct arena *a)
{
	struct work x = { .t = t, .r = r, .l = l };
	uint16_t *rank = arena_array(a, t->n, sizeof(*rank));
	const struct order_rule rule = { .rank = rank };
	int ret;

	if (!rank) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < t->n; s++) {
		rank[s] = (uint16_t)(t->height - t->rank[s]);
	}
	ret = order_init(l, t->g, &rule, a);
	if (ret == E_OK) {
		find_by_rank(&x);
		order_extend(l);
	}
	return ret;
}

/* ---- entries ---- */

/* Entries of switch s for all LIDs of switch t and its hosts, spread over ports. */
static void fill_ports(const struct dmodc_job *j, uint32_t s, uint32_t t,
                       const uint8_t *port, unsigned n)
{
	struct lid_range own = j->lids->of[graph_port(j->g, j->g->switches[t], 0)];
	uint32_t c = j->t.col[t], end = c + dmodc_hosts_on(j->g, t);
	uint8_t *row = lft_row(j->lft, s);

	for (uint32_t k = 0; own.base && k < 1U << own.lmc; k++) {
		row[own.base + k] = port[k % n];
	}
	for (; c < end; c++) {
		uint64_t quotient =
			(uint64_t)dmodc_quotient(j, j->t.rank[s], c) + j->t.place[s];

		for (uint32_t k = 0; j->base[c] && k < 1U << j->lmc[c]; k++) {
			row[j->base[c] + k] = port[(quotient + k) % n];
		}
	}
}

void dmodc_fill_updown(const struct dmodc_job *j)
{
	uint32_t words = j->reach.words;

#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->t.n; s++) {
		for (uint32_t w = 0; w < words; w++) {
			uint64_t b = order_reaches(&j->order, s)[w];

			for (unsigned k = 0; k < j->reach.rows; k++) {
				b &= ~dmodc_row(&j->reach, s, k)[w];
			}
			b |= order_replaced(&j->order, s)[w];
			order_fill_word(&j->order, s, w,
			                b & j->single[w] & ~j->has_hosts[w], j->own,
			                lft_row(j->lft, s));
			b &= ~j->single[w] | j->has_hosts[w];
			for (; b; b &= b - 1) {
				uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);
				uint8_t port[ORDER_PORTS_MAX];

				fill_ports(j, s, t, port,
				           order_ports(&j->order, s, t, port));
			}
		}
	}
}

/* Destinations that some switch still misses: all switches route them by the order alone. */
int dmodc_fill_unreached(const struct dmodc_job *j, struct arena *tmp)
{
	struct order_routes x;
	uint8_t port[ORDER_PORTS_MAX];

	if (order_routes_init(&x, &j->order, tmp) != E_OK) {
		return -ENOMEM;
	}
	for (uint32_t t = 0; t < j->t.n; t++) {
		if (!j->order.left[t]) {
			continue;
		}
		order_routes_find(&x, &j->order, t);
		for (uint32_t s = 0; s < j->t.n; s++) {
			unsigned n = order_routes_ports(&x, &j->order, s, port);

			if (n) {
				fill_ports(j, s, t, port, n);
			}
		}
	}
	return E_OK;
}

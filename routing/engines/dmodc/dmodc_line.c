/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What ranks cannot join, a line of switches does (line.h): which routes by rank there
 * are, and which of them only descend the line.
 */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/dmodc/dmodc.h"
#include "routing/graph/graph.h"

struct work {
	const struct dmodc_tree *t;
	const struct dmodc_reach *r;
	struct order *l;
};

/* Of the destinations k ranks up: those whose next switches, whichever is taken, are
 * below in the line and descend themselves. */
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

int dmodc_line_init(struct order *l, const struct dmodc_tree *t,
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

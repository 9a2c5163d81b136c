/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Broken trees, after the repair: it weighs shifts and loads against each other, pair by
 * pair, and where a whole part of the tree has few cables, some links are left with twice
 * their share. Then routes that pass these move on as spread_rebalance.c does it for all
 * engines, although that knows nothing of shifts.
 */
#include <errno.h>

#include "conf/base/err.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/hops.h"
#include "routing/spread/spread.h"

struct steps {
	const struct ftree *f;
	struct hops hops;
};

/* spread_closer_f: the next hops that the tree allows. */
static void next_in_tree(const void *ctx, uint32_t s, uint32_t t,
                         const struct sw_link *link, uint32_t n_links, unsigned max,
                         struct spread_ports *ret)
{
	const struct steps *x = ctx;
	const struct ftree *f = x->f;
	bool up = ftree_dist(f, s, t) & FTREE_UP;
	unsigned n = 0;

	for (uint32_t i = 0; i < n_links && n < max; i++) {
		uint32_t to = link[i].to;

		if (ftree_leads_up(f, s, to) == up && ftree_closer(f, s, to, up, t)) {
			ret->port[n] = link[i].port;
			ret->to[n] = to;
			n++;
		}
	}
	ret->n = n;
}

int ftree_even(struct ftree *f, struct arena *a)
{
	struct steps x = { .f = f };
	const struct spread in = { .g = f->g,
		                   .lids = f->lids,
		                   .hops = &x.hops,
		                   .closer = next_in_tree,
		                   .ctx = &x,
		                   .cancel = f->cancel };
	int ret = hops_alloc(&x.hops, f->n, a);

	if (ret != E_OK) {
		return ret;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t t = 0; t < f->n; t++) {
			unsigned d = ftree_dist(f, s, t);

			x.hops.dist[(size_t)s * x.hops.stride + t] =
				d == FTREE_NONE ? HOPS_NONE : d & FTREE_HOPS;
		}
	}
	return spread_rebalance_tables(&in, 0, f->lft, a);
}

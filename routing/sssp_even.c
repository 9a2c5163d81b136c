/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Evening out what sssp placed. Its shortest paths are those with fewest hops, so a route
 * may move to any of these. The LIDs of a range are evened one after the other, as the
 * LIDs at one place of all ranges are what a fabric without LMC would have.
 *
 * Not where routes keep to an order of dimensions: there fewest hops allow more.
 */
#include <errno.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/hops.h"
#include "routing/lids.h"
#include "routing/spread.h"
#include "routing/sssp_fill.h"

static unsigned largest_range(const struct sssp *in)
{
	const struct graph *g = in->g;
	unsigned n = 1;

	for (uint32_t h = 0; h < g->host_first[g->n_switches]; h++) {
		unsigned of_port = 1U << in->lids->of[g->hosts[h]].lmc;

		n = of_port > n ? of_port : n;
	}
	return n;
}

/* The LIDs at one place of all ranges. */
static int even_place(const struct spread *spread, unsigned place, struct lft *lft)
{
	struct arena *tmp = arena_new();
	int ret = tmp ? spread_even_given(spread, place, lft, tmp) : -ENOMEM;

	arena_free(tmp);
	return ret;
}

int sssp_even(const struct sssp *in, struct lft *lft)
{
	struct arena *tmp;
	struct hops hops;
	const struct spread spread = { .g = in->g,
		                       .lids = in->lids,
		                       .hops = &hops,
		                       .closer = spread_shortest,
		                       .ctx = &hops,
		                       .cancel = in->cancel };
	unsigned n = largest_range(in);
	int ret;

	if (in->dimension) {
		return E_OK;
	}
	tmp = arena_new();
	ret = tmp ? hops_init(&hops, in->g, tmp) : -ENOMEM;

	for (unsigned place = 0; place < n && ret == E_OK; place++) {
		ret = even_place(&spread, place, lft);
	}
	arena_free(tmp);
	return ret == E_RANGE ? E_OK : ret; /* too large to know its hops */
}

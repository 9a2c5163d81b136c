/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Evening out what sssp placed. Its shortest paths are those with fewest hops, so a route
 * may move to any of these. Base LIDs only: the others of a port keep apart from it and
 * from each other, which is worth more to them than balance.
 *
 * Not where routes keep to an order of dimensions: there fewest hops allow more.
 */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/sssp/sssp_fill.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/spread/spread.h"

int sssp_even(const struct sssp *in, const struct lft *prev, struct lft *lft)
{
	struct arena *tmp;
	struct hops hops;
	const struct spread spread = { .g = in->g,
		                       .lids = in->lids,
		                       .hops = &hops,
		                       .closer = spread_shortest,
		                       .ctx = &hops,
		                       .prev = prev,
		                       .cancel = in->cancel };
	int ret;

	if (in->dimension) {
		return E_OK;
	}
	tmp = arena_new();
	ret = tmp ? hops_init(&hops, in->g, tmp) : -ENOMEM;
	if (ret == E_OK) {
		ret = spread_rebalance_tables(&spread, 0, lft, tmp);
	}
	arena_free(tmp);
	return ret == E_RANGE ? E_OK : ret; /* too large to know its hops */
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * minhop: shortest paths, spread so that every link carries its share.
 *
 * Distances come from a breadth-first search that advances 64 sources at once, one bit
 * each (hops.c); every port that leads one hop closer is a candidate, and spread.c deals
 * the LIDs over them. One departure from the manual's words: the port with the fewest
 * routes is taken, but only routes that really pass are counted.
 *
 * It is not free of credit loops on fabrics with rings; the proof tells.
 */
#include <errno.h>
#include <stdint.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/engine.h"
#include "routing/graph.h"
#include "routing/hops.h"
#include "routing/lids.h"
#include "routing/spread.h"

static int minhop_route(const struct route_in *in, struct arena *a, struct route_out *ret)
{
	struct arena *tmp = arena_new();
	struct hops hops;
	struct lft lft;
	int ret_code = -ENOMEM;

	if (!tmp || lft_init(&lft, in->g->n_switches, in->lids->top, a) != E_OK) {
		goto out;
	}
	ret_code = hops_init(&hops, in->g, tmp);
	if (ret_code == E_RANGE) {
		why_add(&ret->notes,
		        "minhop: two switches are more than %u hops apart, or there are "
		        "more than %u switches",
		        HOPS_NONE - 1U, UINT16_MAX);
		ret_code = E_UNSUITABLE;
	}
	if (ret_code == E_OK) {
		const struct spread spread = {
			.g = in->g,
			.lids = in->lids,
			.hops = &hops,
			.closer = spread_shortest,
			.ctx = &hops,
			.prev = in->prev,
			.cancel = in->cancel,
		};

		ret_code = spread_run(&spread, &lft, tmp);
	}
	if (ret_code == E_OK) {
		ret->lft = lft;
		ret->lanes = (struct lanes){ .n = 1 };
	}
out:
	arena_free(tmp);
	return ret_code;
}

const struct engine engine_minhop = {
	.name = "minhop",
	.summary = "Shortest paths, routes spread evenly over links",
	.route = minhop_route,
};

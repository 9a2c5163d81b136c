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
 * What the options of the balancing stage mean is in spread_options.h. Of its own minhop has
 * hop_weights_file: paths of least weight instead of fewest hops, for the direction
 * of the port that is named. Sums are exact; OpenSM's overflow beyond 255.
 *
 * It is not free of credit loops on fabrics with rings; the proof tells.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph.h"
#include "routing/hops.h"
#include "routing/lids.h"
#include "routing/portfile.h"
#include "routing/spread.h"
#include "routing/spread_options.h"
#include "routing/weighted.h"

struct minhop_options {
	struct spread_options spread;
	const struct guid_file *weights;
};

/* Distances: hops, or sums of weights. */
struct paths_allowed {
	struct hops hops;
	struct weighted weighted;
	bool by_weight;
};

static int find_paths(struct paths_allowed *p, const struct route_in *in,
                      struct arena *tmp, struct why *notes)
{
	const struct minhop_options *o = in->options;
	uint16_t *weight = NULL;
	int ret = portfile_weights(in->g, o ? o->weights : NULL, tmp, notes, &weight);

	if (ret == E_OK) {
		p->by_weight = weight != NULL;
		ret = weight ? weighted_init(&p->weighted, in->g, weight, tmp)
		             : hops_init(&p->hops, in->g, tmp);
	}
	if (ret == E_RANGE) {
		why_add(notes,
		        "minhop: two switches are more than %u hops apart, or there are "
		        "more than %u switches",
		        HOPS_NONE - 1U, UINT16_MAX);
		ret = E_UNSUITABLE;
	}
	return ret;
}

static int minhop_route(const struct route_in *in, struct arena *a, struct route_out *ret)
{
	const struct minhop_options *o = in->options;
	struct arena *tmp = arena_new();
	struct paths_allowed p = { .by_weight = false };
	struct spread_tune tune;
	struct lft lft;
	int ret_code = -ENOMEM;

	if (!tmp || lft_init(&lft, in->g->n_switches, in->lids->top, a) != E_OK) {
		goto out;
	}
	ret_code =
		spread_tune_init(&tune, o ? &o->spread : NULL, in->g, tmp, &ret->notes);
	if (ret_code == E_OK) {
		ret_code = find_paths(&p, in, tmp, &ret->notes);
	}
	if (ret_code == E_OK) {
		const struct spread spread = {
			.g = in->g,
			.lids = in->lids,
			.hops = p.by_weight ? &p.weighted.hops : &p.hops,
			.closer = p.by_weight ? weighted_closer : spread_shortest,
			.ctx = p.by_weight ? (const void *)&p.weighted : &p.hops,
			.prev = in->prev,
			.tune = &tune,
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

/* clang-format off */
static const struct option_row minhop_options[] = {
	SPREAD_OPTION_ROWS(struct minhop_options, spread),
	{ .name = "hop_weights_file", .type = OPT_GUID_FILE,
	  .offset = offsetof(struct minhop_options, weights), .letter = 'w',
	  .flags_long = "hop_weights_file", .arg = "FILE",
	  .help = "What a hop through a port costs: lines with switch GUID, port and weight" },
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_minhop = {
	.name = "minhop",
	.adaptive_name = "ar_minhop",
	.summary = "Shortest paths, routes spread evenly over links",
	.flags = ENGINE_STAGE2,
	.options = minhop_options,
	.opt_size = sizeof(struct minhop_options),
	.route = minhop_route,
};

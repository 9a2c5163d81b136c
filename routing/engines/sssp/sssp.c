/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * sssp: shortest paths whose weights grow with the routes placed; sssp_fill.c describes it.
 *
 * It balances any fabric without knowing its shape. It uses one lane and is not free of
 * credit loops on fabrics with rings; dfsssp adds lanes.
 */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/sssp/sssp_fill.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

static int sssp_route(const struct route_in *in, struct arena *a,
                      struct route_out *ret_out)
{
	const struct sssp sssp = {
		.g = in->g,
		.lids = in->lids,
		.options = in->options,
		.prev = in->prev,
		.cancel = in->cancel,
	};
	struct arena *tmp = arena_new();
	struct lft lft;
	int ret = tmp ? lft_init(&lft, in->g->n_switches, in->lids->top, a) : -ENOMEM;

	if (ret == E_OK) {
		ret = sssp_fill(&sssp, &lft, NULL, &ret_out->notes, tmp);
	}
	if (ret == E_OK) {
		ret_out->lft = lft;
		ret_out->lanes = (struct lanes){ .n = 1 };
	}
	arena_free(tmp);
	return ret;
}

/* clang-format off */
const struct option_row sssp_rows[] = {
	{ .name = "cn_guid_file", .type = OPT_GUID_FILE,
	  .offset = offsetof(struct sssp_options, cn), .letter = 'u',
	  .flags_long = "cn_guid_file", .arg = "FILE",
	  .help = "Port GUIDs of compute nodes: their routes are balanced first" },
	{ .name = "io_guid_file", .type = OPT_GUID_FILE,
	  .offset = offsetof(struct sssp_options, io), .letter = 'G',
	  .flags_long = "io_guid_file", .arg = "FILE",
	  .help = "Port GUIDs of I/O nodes: their routes are balanced next" },
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_sssp = {
	.name = "sssp",
	.summary = "Shortest paths that keep off links with many routes",
	.options = sssp_rows,
	.opt_size = sizeof(struct sssp_options),
	.route = sssp_route,
};

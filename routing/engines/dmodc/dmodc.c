/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * dmodc: trees by closed form, also broken ones.
 *
 * Hosts are numbered leaf by leaf, by place (their topological index t). A switch of rank
 * r deals them over its uplinks: host t takes slot floor(t / D) mod U, where U is the
 * number of uplink slots and D, the divider of the rank, the product of U over the ranks
 * below. Of parallel cables it takes number floor(t / (D * U)). Downwards there is one
 * neighbour that leads to a leaf, or, where there are more, the one that the other
 * direction would take. No counters, no order of work: each entry is a function of the
 * switch and the host alone.
 *
 * What is missing moves only what used it. Slots mean the same part of the tree
 * everywhere (dmodc_tree.c) and dividers come from the widest switch of a rank, so a lost
 * cable does not shift the others. A host whose slot leads nowhere, because the cable is
 * gone here or somewhere further on, takes one of the neighbours that do lead closer:
 * number (floor(t / (D * U)) + place of the switch) mod how many there are. So both the
 * hosts of a lost uplink and the traffic of all sources to a host behind a lost downlink
 * are spread over all others. A neighbour that has less than half of its own uplinks left
 * for a destination serves only those hosts whose slots there are left.
 *
 * Routes climb to the first rank from which the destination can be reached by descending,
 * then descend; who can descend, does. So no route climbs after it has descended, and
 * there is no circle of waiting links. Where cables are missing in great number, some
 * pairs have no such route, and in any tree there are some between the upper switches,
 * which management traffic may want. They are routed over a line of switches that
 * contains all these routes (dmodc_line.c), so that still no circle can close.
 *
 * With an LMC, LID number k of a port takes the k-th next of the neighbours that lead
 * closer: different ones as long as there are, then different cables.
 *
 * Where several cables are missing, routes to base LIDs move off links that carry more
 * than they must (dmodc_even.c).
 *
 * Earlier tables are not looked at in a whole tree where hosts are numbered by place: the
 * same fabric gives the same entries, and what is not concerned by a change does not
 * move. Elsewhere a host that goes renumbers others, or changes which routes are moved,
 * so earlier routes stay as far as they can (keep.h).
 *
 * Differences from the paper: slots instead of the position among the neighbours that are
 * left, the choice by place, planes instead of the order of GUIDs, the mirrored choice
 * downwards, the line.
 *
 * Source: Gliksberg, Capra, Louvet, Garcia, Sohier, "High-Quality Fault-Resiliency in
 * Fat-Tree Networks", IEEE Micro 40(1), 2020; Zahavi 2012, "Fat-trees routing and node
 * ordering providing contention free traffic for MPI global collectives".
 */
#include <errno.h>
#include <stddef.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/engines/dmodc/dmodc_job.h"
#include "routing/graph/guid_switches.h"
#include "routing/graph/lids.h"
#include "routing/spread/keep.h"

struct dmodc_options {
	const struct guid_file *root_guid_file;
	const struct port_policy *groups;
};

static const struct dmodc_options no_options;

static int dmodc_route(const struct route_in *in, struct arena *a, struct route_out *ret)
{
	struct arena *tmp = arena_new();
	const struct dmodc_options *o = in->options ? in->options : &no_options;
	const struct dmodc_rule rule = { .engine = "dmodc", .roots = o->root_guid_file };
	struct lft lft;
	struct dmodc_job j = { .lft = &lft };
	int ret_code = -ENOMEM;

	if (!tmp) {
		goto out;
	}
	ret_code = dmodc_job_init(&j, &rule, in, tmp, &ret->notes);
	if (ret_code == E_OK) {
		ret_code = lft_init(&lft, in->g->n_switches, in->lids->top, a);
	}
	if (ret_code == E_OK) {
		ret_code = dmodc_fill(&j, in->cancel, tmp);
	}
	if (ret_code == E_OK) {
		ret_code = dmodc_even(&j, in->cancel, tmp);
	}
	if (ret_code == E_OK) {
		const struct keep_measure m = { .g = in->g, .lids = in->lids };

		ret_code = keep_tables(&m, in->prev, !j.t.full || dmodc_is_broken(&j.t),
		                       &lft);
	}
	if (ret_code == E_OK) {
		dmodc_note(&j, &ret->notes);
		ret->lft = lft;
		ret->lanes = (struct lanes){ .n = 1 };
		ret->beyond_rule = j.line.n_conflicts != 0;
	}
out:
	arena_free(tmp);
	return ret_code;
}

static int dmodc_bind(void *options, const struct engine_options *all, struct arena *a,
                      struct diags *d)
{
	struct dmodc_options *o = options;
	(void)all, (void)d;

	return guid_file_bind(&o->root_guid_file, o->groups, a,
	                      NULL); /* updn tells what is wrong */
}

/* clang-format off */
static const struct option_row dmodc_options[] = {
	ROOT_OPTION_ROWS(struct dmodc_options, root_guid_file, groups),
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_dmodc = {
	.name = "dmodc",
	.summary = "Trees by closed form, near optimal also with missing links",
	.flags = ENGINE_DEADLOCK_FREE,
	.options = dmodc_options,
	.opt_size = sizeof(struct dmodc_options),
	.bind = dmodc_bind,
	.route = dmodc_route,
};

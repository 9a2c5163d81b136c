/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * dmodc: fat-tree routing by a closed form, also for trees with missing cables.
 *
 * Hosts are numbered leaf by leaf; the number is their topological index t. A switch of
 * rank r with U uplink slots sends to host t over slot floor(t / D) mod U. D, the divider of
 * the rank, is the product of U over the ranks below. Of parallel cables the route takes
 * number floor(t / (D * U)). Downward usually one neighbour leads to a leaf; if there are
 * several, the route takes the one that the opposite direction would take. There are no
 * counters and no order of computation: each entry is a function of switch and host.
 *
 * A missing cable moves only the routes that used it. A slot means the same part of the
 * tree at every switch (dmodc_tree.c) and dividers come from the widest switch of a rank,
 * so a lost cable does not shift the others. A host whose slot leads nowhere, because a
 * cable is missing here or further on, takes one of the neighbours that lead closer: number
 * (floor(t / (D * U)) + place of the switch) mod the count of these. So the hosts of a lost
 * uplink, and the traffic from all sources to a host behind a lost downlink, are spread over
 * all other links. A neighbour with less than half of its uplinks left for a destination
 * serves only the hosts whose slots there are left.
 *
 * Routes climb to the lowest rank from which the destination is reached by descending, then
 * descend; a switch that can descend does. So no route climbs after it has descended, and
 * no credit loop can arise. If many cables are missing, some pairs have no such route. In
 * any tree this is so for some pairs of upper switches, which management traffic may use.
 * Such pairs are routed by an up/down order of the switches that contains all routes above
 * (dmodc_updown.c), so still no credit loop can arise.
 *
 * With an LMC, LID k of a port takes the k-th next of the neighbours that lead closer: first
 * different neighbours, then different cables.
 *
 * If several cables are missing, routes to base LIDs are moved from links that carry more
 * than they must (dmodc_rebalance.c).
 *
 * In a whole tree whose hosts are numbered by place, the same fabric gives the same entries,
 * and a host that comes or goes moves no other. A leaf switch that comes or goes renumbers
 * others, so earlier routes are kept there if they are as even. Otherwise a host that goes
 * renumbers others, too, or changes which routes are moved. Then earlier routes are kept as
 * far as possible (routing/spread/keep.h).
 *
 * Differences from the paper: slots instead of the position among the remaining neighbours,
 * numbering by place, planes instead of the order of GUIDs, the mirrored choice downward,
 * the up/down order.
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
#include "routing/spread/leaves.h"
#include "routing/spread/updown.h"

struct dmodc_options {
	const struct guid_file *root_guid_file;
	const struct port_policy *groups;
};

static const struct dmodc_options no_options;

static int dmodc_route(const struct route_in *in, struct arena *a,
                       struct route_out *ret_out)
{
	struct arena *tmp = arena_new();
	const struct dmodc_options *o = in->options ? in->options : &no_options;
	const struct dmodc_rule rule = { .engine = "dmodc", .roots = o->root_guid_file };
	struct lft lft;
	struct dmodc_job j = { .lft = &lft };
	int ret = -ENOMEM;

	if (!tmp) {
		goto out;
	}
	ret = dmodc_job_init(&j, &rule, in, tmp, &ret_out->notes);
	if (ret == E_OK) {
		ret = lft_init(&lft, in->g->n_switches, in->lids->top, a);
	}
	if (ret == E_OK) {
		ret = dmodc_fill(&j, in->cancel, tmp);
	}
	if (ret == E_OK) {
		ret = dmodc_rebalance(&j, in->cancel, tmp);
	}
	if (ret == E_OK) {
		const struct keep_measure m = { .g = in->g, .lids = in->lids };

		ret = keep_tables(&m, in->prev, dmodc_keeps(&j.t), &lft);
	}
	if (ret == E_OK) {
		dmodc_note(&j, &ret_out->notes);
		ret_out->lft = lft;
		ret_out->lanes = (struct lanes){ .n = 1 };
		ret_out->beyond_rule = j.order.n_conflicts != 0;
	}
out:
	arena_free(tmp);
	return ret;
}

/* Routes that a change touches are spread by load over the same paths as in the closed form,
 * because that would move other routes, too. */
static int dmodc_repair(const struct route_in *in, struct route_repair *r,
                        struct arena *tmp, struct why *why)
{
	const struct dmodc_options *o = in->options ? in->options : &no_options;
	struct updown_rule rule = { .rank = NULL };
	uint16_t *rank;
	int ret;

	if (o->root_guid_file) {
		why_add(why, "dmodc: the roots are named");
		return E_UNSUITABLE;
	}
	ret = leaves_ranks(in->g, tmp, &rank);
	rule.rank = rank;
	return ret == E_OK ? updown_repair(in, &rule, r, tmp, why) : ret;
}

static int dmodc_bind(void *options, const struct engine_options *all, struct arena *a,
                      struct diags *d)
{
	struct dmodc_options *o = options;
	(void)all, (void)d;

	/* updn has the same option and reports its errors */
	return guid_file_bind(&o->root_guid_file, o->groups, a, NULL);
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
	.repair = dmodc_repair,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * ftree: routing of fat trees. Shift permutations of the compute nodes pass without
 * contention. A tree with missing cables is still routed as a tree.
 *
 * Switches are ranked from the roots or from the leaves (ftree_rank.c). Routes climb, then
 * descend (ftree_reach.c). The upward link of a route is a function of the number of its
 * destination, d-mod-k (ftree_order.c, ftree_fill.c). So nothing needs to be counted and all
 * switches are filled in parallel. Where the main route to a host is cut, only the pairs
 * that used it are rerouted (ftree_repair.c).
 *
 * Invariants: a switch above a destination descends to it; any other switch climbs. So no
 * route climbs after it has descended, and no credit loop can arise. Pairs without such a
 * route, for instance two roots, are routed by an up/down order of all switches that
 * contains the routes above (ftree_updown.c). An entry stays empty only between hosts that
 * the operator's lists exclude from the compute nodes, as the manual says, unless
 * max_reverse_hops allows such routes (ftree_reverse.c).
 *
 * Differences from OpenSM 3.3.23:
 * - OpenSM accepts a tree only if all switches of one rank have the same number of cables
 *   up and down, unless a root file is given, and only if all compute nodes hang on one
 *   rank; else it gives up and minhop runs. This engine routes such trees and notes what is
 *   missing. It refuses rings, meshes and the like.
 * - A host in the root file stands for its switch, as for updn.
 * - Routers have routes, too. They count as "other" hosts, which are numbered separately, as
 *   OpenSM does with hosts that are no compute nodes.
 * - Ports are chosen by host number, not by counters of earlier choices. So the routes of a
 *   healthy tree do not depend on which hosts are up: a missing host keeps its number, which
 *   follows from its port of the leaf switch, like OpenSM's dummy targets. If the ports of
 *   leaf switches differ, it follows from the order of the hosts; and if more than half of
 *   the numbers would be unused then, hosts are numbered without gaps.
 * - There is no quasi_ftree_indexing: the order of switches is found by majority.
 *
 * Sources: MLNX_OFED user manual, "Fat-tree Routing Algorithm" and "Routing between
 * non-CN Nodes"; opensm(8); Zahavi, Johnson, Kerbyson, Lang 2010, "Optimized InfiniBand
 * fat-tree routing for shift all-to-all communication patterns".
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/guid_switches.h"
#include "routing/graph/lids.h"
#include "routing/spread/keep.h"

static const struct ftree_options no_options;

static void ftree_init(struct ftree *f, const struct route_in *in)
{
	*f = (struct ftree){ .g = in->g,
		             .lids = in->lids,
		             .opt = in->options ? in->options : &no_options,
		             .cancel = in->cancel,
		             .n = in->g->n_switches };
}

/* The up/down order of switches by rank. */
static int find_order(struct ftree *f, struct arena *tmp, struct why *why)
{
	uint16_t *rank = arena_array(tmp, f->n + 1U, sizeof(*rank));
	const struct order_rule rule = { .rank = rank, .siblings = true };
	int ret;

	if (!rank) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		rank[s] = f->rank[s];
	}
	ret = order_init(&f->order, f->g, &rule, tmp);
	if (ret == E_RANGE) {
		why_add(why, "ftree: more than %u switches", UINT16_MAX);
		return E_UNSUITABLE;
	}
	return ret;
}

static int shape_tree(struct ftree *f, struct arena *tmp, struct why *why)
{
	int ret = ftree_rank(f, tmp, why);

	if (ret == E_OK) {
		ret = find_order(f, tmp, why);
	}
	if (ret == E_OK) {
		ret = ftree_order(f, tmp);
	}
	return ret;
}

/* Adds the routes between non-compute nodes that the operator asks for, and notes which are
 * missing. */
static int add_reverse(struct ftree *f, struct arena *tmp, struct arena *a,
                       struct route_out *ret_out)
{
	struct ftree_added n = { 0 };

	if ((f->opt->cn || f->opt->io) && (f->opt->max_reverse_hops || ftree_misses(f))) {
		int ret = ftree_reverse(f, tmp, &n);

		if (ret != E_OK) {
			return ret;
		}
	}
	if (n.by_order || n.by_hops) {
		why_add(&ret_out->notes,
		        "ftree: %" PRIu64
		        " entries by max_reverse_hops climb after they descended: for high availability only, not for high bandwidth",
		        n.by_order + n.by_hops);
	}
	if (n.back) {
		why_add(&ret_out->notes,
		        "ftree: %" PRIu64
		        " entries are the way back between hosts that are no compute nodes, of which one reaches the other over a compute node's route; they climb after they descended",
		        n.back);
	}
	if (n.by_hops) {
		why_add(&ret_out->notes,
		        "ftree: %" PRIu64
		        " of them may deadlock: the up/down order, which does not, takes more than %" PRIu32
		        " reverse hops there",
		        n.by_hops, f->opt->max_reverse_hops);
		ret_out->may_deadlock = true;
	}
	if ((f->opt->cn || f->opt->io) && ftree_misses(f)) {
		uint8_t *may_miss;

		why_add(&ret_out->notes,
		        "ftree: some hosts that are no compute nodes have no route to each other, because it would climb after it descended; see io_guid_file and max_reverse_hops");
		/* The manual promises no route from one non-compute node to another,
		 * and nothing less. */
		may_miss = arena_alloc(a, f->lft->n_lids);
		if (!may_miss) {
			return -ENOMEM;
		}
		for (uint32_t h = 0; h < f->n_hosts; h++) {
			may_miss[f->lid[h]] = f->lid[h] && f->non_cn[f->g->hosts[h]];
		}
		ret_out->may_miss = may_miss;
	}
	return E_OK;
}

static int compute(struct ftree *f, struct arena *tmp, struct arena *a,
                   struct route_out *ret_out)
{
	int ret = shape_tree(f, tmp, &ret_out->notes);

	if (ret == E_OK) {
		ret = ftree_reach(f, tmp, &ret_out->notes);
	}
	if (ret == E_OK && f->cancel && *f->cancel) {
		ret = -ECANCELED;
	}
	if (ret == E_OK) {
		ret = ftree_fill(f, tmp);
	}
	if (ret == E_OK && f->broken) {
		ret = ftree_repair(f, tmp);
	}
	if (ret == E_OK && f->uneven) {
		ret = ftree_even(f, NULL, f->lft, tmp);
	}
	if (ret == E_OK) {
		ret = ftree_fill_order(f, tmp);
	}
	if (ret == E_OK) {
		ret_out->beyond_rule = f->order.n_conflicts != 0;
		ftree_note(f, &ret_out->notes);
		ret = add_reverse(f, tmp, a, ret_out);
	}
	return ret;
}

/* The column of a host that comes was computed beside columns that were not kept, so it may
 * have to move. */
static int even_new(void *ctx, const struct lft *prev, struct lft *lft, struct arena *tmp)
{
	return ftree_even(ctx, prev, lft, tmp);
}

/*
 * In a whole tree whose hosts are numbered by place, the same fabric gives the same entries,
 * and a host that comes or goes moves no other. A leaf switch that comes or goes renumbers
 * others, so earlier routes are kept there if they are as even (KEEP_IF_EVEN). Otherwise a
 * host renumbers others, too, or changes which pairs are rerouted how. Then earlier routes
 * are kept as far as possible (routing/spread/keep.h).
 */
static int keep_earlier(struct ftree *f, const struct route_in *in)
{
	const struct keep_measure m = { .g = in->g, .lids = in->lids, .even = even_new, .ctx = f };

	return keep_tables(&m, in->prev,
	                   f->placed && !f->broken ? KEEP_IF_EVEN : KEEP_ALL, f->lft);
}

static int ftree_route(const struct route_in *in, struct arena *a,
                       struct route_out *ret_out)
{
	struct arena *tmp = arena_new();
	struct lft lft;
	struct ftree f;
	int ret = -ENOMEM;

	ftree_init(&f, in);
	if (!tmp || lft_init(&lft, f.n, in->lids->top, a) != E_OK) {
		goto out;
	}
	f.lft = &lft;
	ret = compute(&f, tmp, a, ret_out);
	if (ret == E_OK) {
		ret = keep_earlier(&f, in);
	}
	if (ret == E_OK) {
		ret_out->lft = lft;
		ret_out->lanes = (struct lanes){ .n = 1 };
	}
out:
	arena_free(tmp);
	return ret;
}

int ftree_cn_order(const struct route_in *in, struct arena *a, const char **ret_text,
                   struct why *why)
{
	struct arena *tmp = arena_new();
	struct ftree f;
	int ret = -ENOMEM;

	ftree_init(&f, in);
	if (tmp) {
		ret = shape_tree(&f, tmp, why);
	}
	if (ret == E_OK) {
		const char *text = ftree_cn_text(&f, a);

		ret = text ? E_OK : -ENOMEM;
		*ret_text = text ? text : *ret_text;
	}
	arena_free(tmp);
	return ret;
}

static int ftree_bind(void *options, const struct engine_options *all, struct arena *a,
                      struct diags *d)
{
	struct ftree_options *o = options;
	(void)all, (void)d;

	/* updn has the same option and reports its errors */
	return guid_file_bind(&o->roots, o->groups, a, NULL);
}

#define MEMBER(m) .offset = offsetof(struct ftree_options, m)

/* clang-format off */
static const struct option_row ftree_rows[] = {
	ROOT_OPTION_ROWS(struct ftree_options, roots, groups),
	{ .name = "cn_guid_file", .type = OPT_GUID_FILE, MEMBER(cn), .letter = 'u',
	  .flags_long = "cn_guid_file", .arg = "FILE",
	  .help = "Port GUIDs of the compute nodes of a fat tree; none: all CAs that are no I/O nodes" },
	{ .name = "io_guid_file", .type = OPT_GUID_FILE, MEMBER(io), .letter = 'G',
	  .flags_long = "io_guid_file", .arg = "FILE",
	  .help = "Port GUIDs of I/O nodes, which may hang anywhere in a fat tree" },
	{ .name = "max_reverse_hops", .type = OPT_UINT, MEMBER(max_reverse_hops), .def = "0", .max = 255,
	  .letter = 'H', .flags_long = "max_reverse_hops", .arg = "HOPS",
	  .help = "How often a route to an I/O node may climb after it has descended; for high availability only" },
	{ .name = "connect_roots", .type = OPT_BOOL, MEMBER(connect_roots), .def = "FALSE",
	  .letter = 'z', .flags_long = "connect_roots", .flags = OPT_NO_ARG,
	  .help = "Routes between root switches; ftree, updn and dnup have them always, free of credit loops" },
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_ftree = {
	.name = "ftree",
	.adaptive_name = "ar_ftree",
	.summary = "Fat trees: shifts without contention; broken trees stay balanced",
	.deadlock_free_order = 20,
	.flags = ENGINE_DEADLOCK_FREE | ENGINE_LMC0_ONLY,
	.options = ftree_rows,
	.opt_size = sizeof(struct ftree_options),
	.bind = ftree_bind,
	.route = ftree_route,
	.node_order = ftree_cn_order,
};

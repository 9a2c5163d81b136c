/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * nue: routes free of credit loops on any fabric with any number of virtual lanes, even one.
 *
 * 1. Lanes: each destination switch and the LIDs on it get a lane, whatever the source
 *    (nue_split.c). So the lane of a route follows from its LID.
 * 2. Links: for each destination in turn, links are opened by which the other switches may
 *    route to it, so that the dependencies of no lane form a cycle (nue_search.c,
 *    nue_reach.c).
 * 3. Tables: routes are spread over the open links (routing/spread).
 *
 * Step 2 tries several plans and keeps the one whose busiest link carries least. The first
 * plan is dimension order on a grid, and else an up/down order in which switches far from
 * hosts rank highest. This is enough for a whole grid and for a tree. The other plans avoid
 * loaded links: on a grid in dimension order, else by any turns that fit around a spanning
 * tree. The third plan knows the loads of the second. The initial dependencies of a lane are
 * described in nue_lane.c.
 *
 * All LIDs are routed like this, also to ports 0 of switches and between these. LIDs of
 * switches without hosts come last and use what is left, unless nue_include_switches counts
 * every switch as a host: in the division into lanes, in the order and in the weights.
 *
 * Earlier tables and lanes stay if all their routes still exist; a new host is routed like
 * another one on its switch (routing/spread/keep.h). Otherwise everything is searched anew,
 * and entries stay if their links are open.
 *
 * Difference from OpenSM 3.3.23: there, with nue_include_switches FALSE, ports 0 of switches
 * are not part of the routes that are free of deadlock.
 *
 * Source: J. Domke, T. Hoefler, S. Matsuoka, "Routing on the Dependency Graph: A New
 * Approach to Deadlock-Free High-Performance Routing", HPDC 2016.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/nue/nue_search.h"
#include "routing/engines/nue/nue_split.h"
#include "routing/engines/sssp/dfsssp_grid.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/spread/keep.h"
#include "routing/spread/leaves.h"
#include "routing/spread/updown.h"

struct nue_options {
	uint32_t nue_max_num_vls;
	bool nue_include_switches;
};

enum { LANES_MAX = 15, PLANS = 3 };

struct job {
	const struct route_in *in;
	const struct graph *g;
	struct arena *tmp;
	struct why *notes;
	bool all; /* nue_include_switches */
	unsigned n_lanes;
	struct hops hops;
	struct cdg_map map;
	struct nue_split split;
	struct nue_plan plan[PLANS];
	struct nue_links links; /* open links of the best plan so far */
	struct arena *links_arena;
	uint64_t *weighed; /* [n_adj] load of the last plan with weights */
};

/* ---- plans ---- */

static void count_lanes(struct job *j)
{
	const struct nue_options *o = j->in->options;
	unsigned asked = o ? o->nue_max_num_vls : 1, there = LANES_MAX;

	if (j->in->max_lanes && j->in->max_lanes < LANES_MAX) {
		there = j->in->max_lanes;
	}
	j->n_lanes = asked && asked < there ? asked : there;
	if (asked > there) {
		why_add(j->notes, "nue: nue_max_num_vls asks for %u, there %s %u", asked,
		        there == 1 ? "is" : "are", there);
	}
}

/* An up/down order in which switches far from hosts rank highest. */
static int find_order(struct job *j, const uint32_t **ret_order)
{
	struct updown_rule rule = { .keeps_paths = true };
	uint16_t *rank;
	uint32_t *order = NULL;
	int ret = leaves_heights(j->g, j->tmp, &rank);

	for (uint32_t s = 0; ret == E_OK && s < j->g->n_switches; s++) {
		rank[s] = rank[s] == UPDOWN_RANK_NONE
		                  ? rank[s]
		                  : (uint16_t)(UPDOWN_RANK_NONE - 1 - rank[s]);
	}
	rule.rank = rank;
	if (ret == E_OK) {
		ret = updown_order(j->g, &rule, j->tmp, &order, NULL);
	}
	*ret_order = order;
	return ret;
}

/* Are all paths shortest, or on a grid all in dimension order? Then other plans are
 * hardly better. */
static bool suffices(const struct job *j, unsigned plan)
{
	return j->links.shortest || (j->plan[plan].dimension && j->links.by_plan);
}

static int try_plans(struct job *j)
{
	const struct nue_plan plain = { .g = j->g, .map = &j->map, .near = &j->hops };
	struct dfsssp_grid grid;
	int ret = dfsssp_dimensions(j->g, j->tmp, &grid);

	for (unsigned i = 0; i < PLANS; i++) {
		j->plan[i] = plain;
		j->plan[i].dimension = grid.dimension;
		j->plan[i].weigh = i > 0;
	}
	ret = ret == E_OK && !grid.dimension ? find_order(j, &j->plan[0].order) : ret;
	if (ret == E_OK) {
		ret = nue_split(&j->split, j->g, &j->hops, j->plan[0].dimension, j->all,
		                j->n_lanes, j->tmp);
	}
	for (unsigned i = 0; ret == E_OK && i < PLANS; i++) {
		const struct nue_search in = { .plan = &j->plan[i],
			                       .split = &j->split,
			                       .n_lanes = j->n_lanes,
			                       .all = j->all,
			                       .before = j->plan[i].weigh ? j->weighed
			                                                  : NULL,
			                       .cancel = j->in->cancel };
		struct arena *a = arena_new();
		struct nue_links links;

		/* keep the open links of a plan if they are better than those so far */
		ret = a ? nue_search_run(&in, &links, a) : -ENOMEM;
		if (ret == E_OK && j->plan[i].weigh) {
			memcpy(j->weighed, links.load, j->g->n_adj * sizeof(*links.load));
		}
		if (ret == E_OK &&
		    (!j->links_arena || links.busiest < j->links.busiest)) {
			arena_free(j->links_arena);
			j->links = links;
			j->links_arena = a;
		} else {
			arena_free(a);
		}
		if (ret == E_OK && suffices(j, i)) {
			break;
		}
		ret = ret == E_RANGE ? E_OK : ret;
	}
	return ret == E_OK && !j->links_arena ? E_RANGE : ret;
}

/* ---- tables ---- */

static int fill_lanes(const struct job *j, const struct lft *lft, struct arena *a,
                      struct lanes *ret_lanes)
{
	const struct lids *lids = j->in->lids;
	struct lanes l = { .stride = lft->stride, .n = (uint8_t)j->n_lanes };

	if (j->n_lanes == 1) {
		*ret_lanes = (struct lanes){ .n = 1 };
		return E_OK;
	}
	l.rows = arena_array(a, j->g->n_switches, l.stride);
	if (!l.rows) {
		return -ENOMEM;
	}
	for (uint32_t lid = 1; lid <= lids->top; lid++) {
		uint32_t owner = lids->owner[lid];
		uint32_t home =
			owner == GRAPH_NONE ? GRAPH_NONE : graph_switch_of(j->g, owner);

		l.rows[lid] = home == GRAPH_NONE ? 0 : j->links.lane[home];
	}
	for (uint32_t s = 1; s < j->g->n_switches; s++) {
		memcpy(l.rows + s * l.stride, l.rows, l.stride);
	}
	*ret_lanes = l;
	return E_OK;
}

/* ---- the engine ---- */

static int find_hops(struct job *j)
{
	int ret = hops_init(&j->hops, j->g, j->tmp);

	j->weighed = arena_array(j->tmp, (size_t)j->g->n_adj + 1, sizeof(*j->weighed));
	if (!j->weighed) {
		return -ENOMEM;
	}
	return ret == E_OK ? cdg_map_init(&j->map, j->g, j->tmp) : ret;
}

/* Hops of all routes between hosts if all were shortest. */
static uint64_t fewest_hops(const struct job *j)
{
	const struct graph *g = j->g;
	uint64_t sum = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint64_t hosts = g->host_first[s + 1] - g->host_first[s];

		for (uint32_t t = 0; hosts && t < g->n_switches; t++) {
			unsigned d = hops_between(&j->hops, s, t);

			sum += d == HOPS_NONE ? 0
			                      : hosts * d *
			                                (g->host_first[t + 1] -
			                                 g->host_first[t]);
		}
	}
	return sum;
}

/* Result: tables and lanes. */
struct result {
	struct lft lft;
	struct lanes lanes;
};

static int keep_earlier(const struct job *j, struct arena *a, struct result *ret_result)
{
	const struct keep_lanes k = { .g = j->g,
		                      .lids = j->in->lids,
		                      .prev = j->in->prev,
		                      .prev_lanes = j->in->prev_lanes,
		                      .n = j->n_lanes };
	int ret = j->in->prev ? lft_init(&ret_result->lft, j->g->n_switches,
	                                 j->in->lids->top, a)
	                      : E_UNSUITABLE;

	return ret == E_OK ? keep_all(&k, a, &ret_result->lft, &ret_result->lanes) : ret;
}

/* Keeps the earlier tables if they are balanced; else the better of earlier and new
 * ones. */
static int make_tables(struct job *j, struct arena *a, struct result *ret_result)
{
	const struct keep_measure m = { .g = j->g,
		                        .lids = j->in->lids,
		                        .hops = fewest_hops(j) };
	struct result kept;
	bool stays = false;
	int ret = keep_earlier(j, a, &kept);
	bool may_stay = ret == E_OK;

	if (may_stay) {
		ret = keep_is_good(&m, &kept.lft, NULL, &stays);
	} else if (ret == E_UNSUITABLE) {
		ret = E_OK;
	}
	if (ret == E_OK && !stays) {
		ret = try_plans(j);
		if (ret == E_OK) {
			const struct spread spread = { .g = j->g,
				                       .lids = j->in->lids,
				                       .hops = &j->links.hops,
				                       .closer = nue_links_closer,
				                       .ctx = &j->links,
				                       .prev = j->in->prev,
				                       .even = true,
				                       .cancel = j->in->cancel };
			int init_ret = lft_init(&ret_result->lft, j->g->n_switches,
			                        j->in->lids->top, a);
			ret = init_ret == E_OK
			              ? spread_run(&spread, &ret_result->lft, j->tmp)
			              : init_ret;
		}
		ret = ret == E_OK ? fill_lanes(j, &ret_result->lft, a, &ret_result->lanes)
		                  : ret;
	}
	if (ret == E_OK && !stays && may_stay) {
		ret = keep_is_good(&m, &kept.lft, &ret_result->lft, &stays);
	}
	*ret_result = ret == E_OK && stays ? kept : *ret_result;
	return ret;
}

static int nue_route(const struct route_in *in, struct arena *a,
                     struct route_out *ret_out)
{
	const struct nue_options *o = in->options;
	struct job j = { .in = in,
		         .g = in->g,
		         .tmp = arena_new(),
		         .notes = &ret_out->notes,
		         .all = o && o->nue_include_switches };
	int ret = -ENOMEM;

	if (j.tmp) {
		struct result result;

		count_lanes(&j);
		ret = find_hops(&j);
		if (ret == E_OK) {
			ret = make_tables(&j, a, &result);
		}
		if (ret == E_OK) {
			ret_out->lft = result.lft;
			ret_out->lanes = result.lanes;
		} else if (ret == E_RANGE) {
			why_add(j.notes,
			        "nue: a route of more than %u hops, or more than %u switches",
			        HOPS_NONE - 1U, UINT16_MAX);
			ret = E_UNSUITABLE;
		}
	}
	arena_free(j.links_arena);
	arena_free(j.tmp);
	return ret;
}

#define MEMBER(m) .offset = offsetof(struct nue_options, m)

/* clang-format off */
static const struct option_row nue_rows[] = {
	{ .name = "nue_max_num_vls", .type = OPT_UINT, .def = "1", .max = 15, MEMBER(nue_max_num_vls),
	  .flags_long = "nue_max_num_vls", .arg = "N",
	  .help = "nue: virtual lanes to use; 0: all available" },
	{ .name = "nue_include_switches", .type = OPT_BOOL, .def = "FALSE", MEMBER(nue_include_switches),
	  .help = "nue: switches count like hosts; else those without hosts come last" },
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_nue = {
	.name = "nue",
	.summary =
		"Free of credit loops on any fabric with any number of lanes, even one",
	.flags = ENGINE_DEADLOCK_FREE | ENGINE_MAY_USE_LANES,
	.deadlock_free_order = 60,
	.options = nue_rows,
	.opt_size = sizeof(struct nue_options),
	.route = nue_route,
};

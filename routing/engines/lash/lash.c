/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * lash: layered shortest paths.
 *
 * Routes are shortest paths. Every pair of switches gets a lane, the same for both
 * directions, so that the channel dependency graph of each lane is acyclic (lash_layer.c).
 * The engine tries several choices of shortest paths, in this order:
 *  - all shortest paths, spread as minhop does, if they fit one lane. On trees they do, and
 *    every link carries its share; on other fabrics many lanes are needed;
 *  - on a mesh or torus, however it is cabled, dimension-order routes: one lane on an open
 *    mesh, mostly five on a torus of three dimensions, and one or two more where cables are
 *    missing (lash_squares.c, lash_mesh.c, lash_cuts.c, lash_paths.c);
 *  - one path per pair of switches, balanced over the links; or all of them, if that needs
 *    no further lane, or eases the busiest link much;
 *  - one path per pair with as few turns as possible.
 * The first choice that fits the available lanes is used; if none does, the engine refuses.
 * Before that it tries to keep routes and lanes of the last run, as far as they still lead
 * closer and close no cycle (lash_keep.c). Each part of a disconnected fabric is routed by
 * itself.
 *
 * Routes between switches without CAs or routers may use a lane that no data uses. They
 * carry management traffic only, but in a tree they have to turn upwards.
 *
 * Difference from OpenSM: OpenSM spans one tree per switch and sends all its routes over the
 * tree, which on a fat tree leaves all but one spine unused. Here the links share the load.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/engines/lash/lash_cuts.h"
#include "routing/engines/lash/lash_keep.h"
#include "routing/engines/lash/lash_layer.h"
#include "routing/engines/lash/lash_mesh.h"
#include "routing/engines/lash/lash_paths.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths.h"
#include "routing/proof/reach.h"
#include "routing/spread/spread.h"

enum { LANES_MAX = 15, SQUARE = 4 };

struct lash_options {
	bool do_mesh_analysis;
	uint32_t lash_start_vl;
};

struct lash {
	const struct route_in *in;
	const struct graph *g;
	struct arena *a, *tmp;
	struct why *notes;
	struct hops hops;
	struct lash_mesh mesh;
	struct lash_cuts cuts;
	bool is_mesh;
	bool mesh_first;   /* do_mesh_analysis */
	bool has_parallel; /* cables between two switches */
	unsigned start;    /* first lane */
	unsigned max;      /* lanes from there on */
	unsigned max_data; /* of them for pairs of hosts */
	struct lft lft, all_paths;
	struct lash_layers layers;
};

static unsigned lanes_there(const struct route_in *in)
{
	return in->max_lanes && in->max_lanes < LANES_MAX ? in->max_lanes : LANES_MAX;
}

static unsigned start_of(const struct route_in *in)
{
	const struct lash_options *o = in->options;

	return o ? o->lash_start_vl : 0;
}

static int lash_check(const struct route_in *in, struct why *why)
{
	for (uint32_t i = 0; i < in->g->n_end_ports; i++) {
		if (in->lids->of[in->g->end_ports[i]].lmc) {
			why_add(why, "lash: works with LMC 0 only");
			return E_UNSUITABLE;
		}
	}
	if (start_of(in) >= lanes_there(in)) {
		why_add(why,
		        "lash: lash_start_vl is %u, but the links have only data lanes 0 to %u",
		        start_of(in), lanes_there(in) - 1);
		return E_UNSUITABLE;
	}
	return E_OK;
}

/* ---- one choice of paths ---- */

/* Fills the tables over the links that a choice of paths allows. */
static int fill_tables(struct lash *j, spread_closer_f *closer, const void *ctx,
                       const struct lash_paths *to_switches, const struct lft *prev,
                       struct lft *ret_lft)
{
	const struct spread spread = {
		.g = j->g,
		.lids = j->in->lids,
		.hops = &j->hops,
		.closer = closer,
		.ctx = ctx,
		.hops_to_switches = to_switches ? &j->hops : NULL,
		.closer_to_switches = lash_paths_closer,
		.ctx_to_switches = to_switches,
		.prev = prev,
		.even = closer == spread_shortest || j->has_parallel,
		.cancel = j->in->cancel,
	};
	int ret = lft_init(ret_lft, j->g->n_switches, j->in->lids->top, j->a);

	return ret == E_OK ? spread_run(&spread, ret_lft, j->tmp) : ret;
}

/* Assigns lanes to the pairs of the tables. E_FULL: there are too few. */
static int assign_lanes(struct lash *j, const struct lft *lft,
                        const struct lash_cuts *cuts, const struct lash_kept *kept,
                        bool one_lane)
{
	const struct lash_layer_in in = { .g = j->g,
		                          .lids = j->in->lids,
		                          .lft = lft,
		                          .hops = &j->hops,
		                          .order = j->is_mesh ? j->mesh.order : NULL,
		                          .mesh = cuts ? &j->mesh : NULL,
		                          .cuts = cuts,
		                          .kept = kept,
		                          .max = j->max,
		                          .max_data = j->max_data,
		                          .one_lane = one_lane,
		                          .cancel = j->in->cancel };
	int ret = j->max ? lash_layer(&in, j->a, &j->layers) : E_FULL;

	if (ret == E_OK) {
		j->lft = *lft;
	}
	return ret;
}

static int route_over_paths(struct lash *j, const struct lash_paths *w,
                            const struct lash_cuts *cuts)
{
	struct lft lft;
	int ret = fill_tables(j, lash_paths_closer, w, NULL, NULL, &lft);

	return ret == E_OK ? assign_lanes(j, &lft, cuts, NULL, false) : ret;
}

static int try_tree(struct lash *j)
{
	struct lash_paths w;
	int ret = lash_paths_management(j->g, &j->hops, j->tmp, &w);

	if (ret == E_OK) {
		ret = fill_tables(j, spread_shortest, &j->hops, &w, NULL, &j->all_paths);
	}
	return ret == E_OK ? assign_lanes(j, &j->all_paths, NULL, NULL, true) : ret;
}

static int mesh_paths(struct lash *j, struct lash_paths *ret_paths)
{
	int ret = lash_cuts_init(&j->cuts, &j->mesh, j->tmp);

	return ret == E_OK ? lash_paths_mesh(j->g, &j->hops, &j->mesh, &j->cuts, j->tmp,
	                                     ret_paths)
	                   : ret;
}

static int try_mesh(struct lash *j)
{
	struct lash_paths w;
	int ret = mesh_paths(j, &w);

	return ret == E_OK ? route_over_paths(j, &w, &j->cuts) : ret;
}

/* All shortest paths in place of those of j->lft, if they need no more lanes than these. */
static int take_all_paths(struct lash *j, unsigned max, unsigned max_data)
{
	struct lash all = *j;
	int ret;

	all.max = max;
	all.max_data = max_data;
	ret = assign_lanes(&all, &j->all_paths, NULL, NULL, false);
	if (ret == E_OK) {
		j->lft = all.lft;
		j->layers = all.layers;
	}
	return ret;
}

/* Do all shortest paths halve the routes of the busiest link? */
static int eases_much(const struct lash *j, bool *ret_eases)
{
	struct load now, all;
	int ret = load_build(j->g, j->in->lids, &j->lft, j->tmp, &now);

	if (ret == E_OK) {
		ret = load_build(j->g, j->in->lids, &j->all_paths, j->tmp, &all);
	}
	if (ret == E_OK) {
		*ret_eases = all.max <= now.max / 2;
	}
	return ret;
}

/* One path per pair; or all shortest paths, which are better balanced, if they need no
 * further lane; or if the busiest link has half as many routes for a second lane of hosts and
 * whatever management pairs need. */
static int try_spread(struct lash *j)
{
	struct lash_paths w;
	bool eases = false;
	int ret = lash_paths_balanced(j->g, &j->hops, j->tmp, &w);

	ret = ret == E_OK ? route_over_paths(j, &w, NULL) : ret;
	if (ret != E_OK) {
		return ret;
	}
	ret = take_all_paths(j, j->layers.n, j->layers.n);
	if (ret == E_FULL) {
		ret = eases_much(j, &eases);
		if (ret == E_OK && eases && j->max > j->layers.n_data) {
			ret = take_all_paths(j, j->max, j->layers.n_data + 1);
		}
	}
	return ret == E_FULL ? E_OK : ret;
}

static int try_few_turns(struct lash *j)
{
	struct lash_paths w;
	int ret = lash_paths_few_turns(j->g, &j->hops, j->tmp, &w);

	return ret == E_OK ? route_over_paths(j, &w, NULL) : ret;
}

/* ---- routes of the last run ---- */

/* Keeps earlier routes as far as possible. With \a strict no pair changes its lane. */
static int keep_tables(struct lash *j, struct lash_keep *k, struct lash_kept *kept,
                       bool strict)
{
	struct lft lft;
	int ret =
		fill_tables(j, strict ? spread_shortest : lash_keep_closer,
	                    strict ? (const void *)&j->hops : k, NULL, j->in->prev, &lft);

	if (ret == E_OK) {
		kept->strict = strict;
		lash_keep_compare(k, &lft, kept);
		ret = assign_lanes(j, &lft, NULL, kept, false);
	}
	return ret;
}

/* ---- the engine ---- */

typedef int try_f(struct lash *j);

/* Notes how many lanes the fabric would need. */
static int explain_refusal(struct lash *j)
{
	unsigned there = j->max;
	int ret;

	j->max = j->max_data = LANES_MAX;
	ret = j->is_mesh ? try_mesh(j) : try_few_turns(j);
	if (ret == E_OK) {
		why_add(j->notes,
		        "lash: needs %u lanes, the links between switches have %u",
		        j->start + j->layers.n, j->start + there);
	} else if (ret == E_FULL) {
		why_add(j->notes,
		        "lash: needs more than %u lanes, the links between switches have %u",
		        LANES_MAX, j->start + there);
	}
	return ret == E_OK || ret == E_FULL ? E_UNSUITABLE : ret;
}

static int try_each(struct lash *j)
{
	struct lash_keep k;
	struct lash_kept kept;
	struct lash_paths w;
	int ret;

	try_f *const general[] = { try_tree, try_spread, try_few_turns };
	ret = lash_keep_init(&k, j->in, &j->hops, j->start, j->max, j->tmp, &kept);
	if (ret == E_OK) {
		ret = keep_tables(j, &k, &kept, true);
		if (ret == E_FULL && j->is_mesh) {
			ret = mesh_paths(j, &w);
			k.paths = &w;
			ret = ret == E_OK ? E_FULL : ret;
		}
		if (ret == E_FULL) {
			ret = keep_tables(j, &k, &kept, false);
		}
	}
	ret = ret == E_UNSUITABLE ? E_FULL : ret;
	if (ret == E_FULL && j->is_mesh) {
		ret = try_mesh(j);
	}
	for (size_t i = 0; ret == E_FULL && i < sizeof(general) / sizeof(*general); i++) {
		ret = general[i](j);
	}
	return ret == E_FULL ? explain_refusal(j) : ret;
}

static int note_mesh(struct lash *j)
{
	const char *text = lash_mesh_text(&j->mesh, j->tmp);
	uint32_t missing = lash_mesh_missing(&j->mesh, j->g) / 2;

	if (!text) {
		return -ENOMEM;
	}
	if (missing) {
		why_add(j->notes,
		        "lash: do_mesh_analysis found: %s; links missing between neighbours: %" PRIu32,
		        text, missing);
	} else {
		why_add(j->notes, "lash: do_mesh_analysis found: %s", text);
	}
	return E_OK;
}

static int find_hops(struct lash *j)
{
	int ret = hops_init(&j->hops, j->g, j->tmp);

	if (ret != E_RANGE) {
		return ret;
	}
	why_add(j->notes,
	        "lash: two switches are more than %u hops apart, or there are more than %u switches",
	        HOPS_NONE - 1U, UINT16_MAX);
	return E_UNSUITABLE;
}

/* Lanes per LID from lanes per pair of switches. */
static int fill_lanes(const struct lash *j, struct lanes *ret_lanes)
{
	const struct lids *lids = j->in->lids;
	uint32_t n = j->g->n_switches;
	struct lanes l = { .stride = j->lft.stride,
		           .n = (uint8_t)(j->start + j->layers.n) };
	uint32_t *home = arena_array(j->tmp, (size_t)lids->top + 1, sizeof(*home));

	if (l.n == 1) {
		*ret_lanes = (struct lanes){ .n = 1 };
		return E_OK;
	}
	l.rows = arena_array(j->a, n, l.stride);
	if (!home || !l.rows) {
		return -ENOMEM;
	}
	for (uint32_t lid = 0; lid <= lids->top; lid++) {
		uint32_t owner = lids->owner[lid];

		home[lid] =
			owner == GRAPH_NONE ? GRAPH_NONE : graph_switch_of(j->g, owner);
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < n; s++) {
		const uint8_t *lane = j->layers.lane + (size_t)s * n;

		for (uint32_t lid = 0; lid <= lids->top; lid++) {
			uint8_t of = home[lid] == GRAPH_NONE ? 0 : lane[home[lid]];

			l.rows[(size_t)s * l.stride + lid] = (uint8_t)(j->start + of);
		}
	}
	*ret_lanes = l;
	return E_OK;
}

/* Are two switches joined by several cables? */
static bool has_parallel(const struct graph *g)
{
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
			for (uint32_t d = c + 1; d < g->adj_first[s + 1]; d++) {
				if (g->adj[c].to == g->adj[d].to) {
					return true;
				}
			}
		}
	}
	return false;
}

static int route_fabric(struct lash *j)
{
	int ret = find_hops(j);

	if (ret == E_OK) {
		ret = lash_mesh_find(j->g, j->tmp, &j->mesh);
		/* four switches in a square may also be a tree with two spines */
		j->is_mesh = ret == E_OK && (j->mesh_first || j->g->n_switches > SQUARE);
		if (ret == E_UNSUITABLE && j->mesh_first) {
			why_add(j->notes,
			        "lash: do_mesh_analysis found no mesh or torus");
		}
		if (ret == E_OK && j->mesh_first) {
			ret = note_mesh(j);
		}
		ret = ret == E_UNSUITABLE ? E_OK : ret;
	}
	j->has_parallel = has_parallel(j->g);
	return ret == E_OK ? try_each(j) : ret;
}

static int lash_route(const struct route_in *in, struct arena *a,
                      struct route_out *ret_out)
{
	const struct lash_options *o = in->options;
	struct lash j = { .in = in,
		          .g = in->g,
		          .a = a,
		          .tmp = arena_new(),
		          .notes = &ret_out->notes,
		          .mesh_first = o && o->do_mesh_analysis,
		          .start = start_of(in),
		          .max = lanes_there(in) - start_of(in),
		          .max_data = lanes_there(in) - start_of(in) };
	struct lanes lanes;
	int ret = j.tmp ? route_fabric(&j) : -ENOMEM;

	if (ret == E_OK) {
		ret = fill_lanes(&j, &lanes);
	}
	if (ret == E_OK) {
		ret_out->lft = j.lft;
		ret_out->lanes = lanes;
	}
	arena_free(j.tmp);
	return ret;
}

/* clang-format off */
static const struct option_row lash_options[] = {
	{ .name = "do_mesh_analysis", .type = OPT_BOOL, .def = "FALSE",
	  .offset = offsetof(struct lash_options, do_mesh_analysis),
	  .flags_long = "do_mesh_analysis", .flags = OPT_NO_ARG,
	  .help = "lash: say which mesh or torus was found, and take four switches in a square for one" },
	{ .name = "lash_start_vl", .type = OPT_UINT, .def = "0", .max = 14,
	  .offset = offsetof(struct lash_options, lash_start_vl),
	  .flags_long = "lash_start_vl", .arg = "VL",
	  .help = "lash: first virtual lane to use" },
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_lash = {
	.name = "lash",
	.summary =
		"Layered shortest paths: free of credit loops on any fabric with lanes",
	.deadlock_free_order = 50,
	.flags = ENGINE_DEADLOCK_FREE | ENGINE_NEEDS_LANES | ENGINE_LMC0_ONLY,
	.options = lash_options,
	.opt_size = sizeof(struct lash_options),
	.check = lash_check,
	.route = lash_route,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * minhop: shortest paths, spread so that every link carries its share.
 *
 * Distances come from a breadth-first search that advances 64 sources at once, one bit each
 * (routing/graph/hops.h). Every port that leads one hop closer is a candidate, and
 * routing/spread distributes the LIDs over them. One difference from the manual: the port
 * with the fewest routes is taken, but only routes that really pass are counted.
 *
 * The options of the balancing stage are described in routing/spread/spread_options.h.
 * minhop adds hop_weights_file: paths of least weight instead of fewest hops, with a weight
 * for the direction out of the named port. Sums are exact; those of OpenSM overflow above
 * 255.
 *
 * It is not free of credit loops on fabrics with rings; the proof decides. On a tree it
 * nearly is. A shortest path between hosts can climb again after it has descended if cables
 * are missing or directors are neighbours; among equally short paths those that climb, then
 * descend, are used. Between two spines with hosts the shortest path turns at a leaf, so a
 * tree with hosts on spines is routed as by updn: with the same ports between hosts on
 * leaves, and with longer routes for some of the pairs, which the notes count. Aggregation
 * nodes of such a tree send data from spine to spine, too. If there are any, the routes to
 * switches, which they share, climb, then descend.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/groups.h"
#include "routing/spread/leaves.h"
#include "routing/spread/repair.h"
#include "routing/spread/spread.h"
#include "routing/spread/spread_options.h"
#include "routing/spread/updown.h"
#include "routing/spread/weighted.h"
#include "routing/text/portfile.h"

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
		             : hops_find(&p->hops, in->g, tmp);
	}
	if (ret == E_RANGE) {
		why_add(notes,
		        "minhop: two switches are more than %u hops apart, or there are more than %u switches",
		        HOPS_NONE - 1U, UINT16_MAX);
		ret = E_UNSUITABLE;
	}
	return ret;
}

/* How minhop keeps routes on a tree from turning upwards after they have descended. */
enum turns {
	TURNS_ANY,     /* no tree, or a tree whose shortest paths do not turn anyway */
	TURNS_AVOIDED, /* of equally short ways those that do not turn */
	TURNS_NEVER    /* also by longer ways: hosts hang above the leaves */
};

/* \param ret_tree    Is it a tree?
 * \param ret_always  One in which none of the paths that spreading chooses from turns? */
static int find_turns(const struct graph *g, struct arena *tmp, enum turns *ret_turns,
                      bool *ret_tree, bool *ret_always, struct why *notes)
{
	bool above = false, alike = false, straight = false;
	struct leaves_pairs pairs = { 0, 0 };
	uint16_t *height;
	int ret = leaves_heights(g, tmp, &height);

	if (ret == E_OK) {
		ret = leaves_pairs(g, height, tmp, &pairs);
	}
	if (ret == E_OK) {
		ret = leaves_alike(g, height, tmp, &alike);
	}
	if (ret == E_OK) {
		ret = leaves_straight(g, tmp, &straight);
	}
	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		above |= height[s] && g->host_first[s] != g->host_first[s + 1];
	}
	*ret_turns = TURNS_ANY;
	if (!pairs.all || pairs.connected < pairs.all / 4 * 3) {
		return E_OK;
	}
	*ret_tree = true;
	*ret_always = above || straight;
	if (above) {
		*ret_turns = TURNS_NEVER;
	} else if (!alike) {
		*ret_turns = TURNS_AVOIDED;
	}
	if (above && pairs.connected != pairs.all) {
		why_add(notes,
		        "minhop: hosts hang above the leaves; %" PRIu64 " of %" PRIu64
		        " pairs of hosts have no route that climbs, then descends, and may take more hops than the fewest, so that they close no credit loop",
		        pairs.all - pairs.connected, pairs.all);
	}
	return E_OK;
}

/* Shortest paths, and those of a line of switches where they are as short. */
struct straight {
	const struct hops *hops;
	struct updown line;
};

static void straight_closer(const void *ctx, uint32_t s, uint32_t t,
                            const struct sw_link *link, uint32_t n_links, unsigned max,
                            struct spread_ports *ret_ports)
{
	const struct straight *x = ctx;

	if (hops_between(&x->line.hops, s, t) == hops_between(x->hops, s, t)) {
		updown_closer(&x->line, s, t, link, n_links, max, ret_ports);
	} else {
		spread_shortest(x->hops, s, t, link, n_links, max, ret_ports);
	}
}

static int find_line(const struct graph *g, struct updown *ret_updown, struct arena *tmp)
{
	uint32_t *pos;
	uint16_t *rank;
	int ret = leaves_ranks(g, tmp, &rank);

	if (ret == E_OK) {
		const struct updown_rule rule = { .rank = rank, .keeps_paths = true };

		ret = updown_order(g, &rule, tmp, &pos, NULL);
	}
	return ret == E_OK ? updown_find(ret_updown, g, pos, tmp) : ret;
}

/* What spreading needs; it points into itself. */
struct minhop_job {
	struct paths_allowed paths;
	struct straight straight;
	struct spread_tune tune;
	struct spread_groups groups;
	struct spread spread;
	_Atomic bool keeps_others;
	bool always; /* see find_turns() */
};

static void choose_paths(struct minhop_job *j, enum turns turns, bool tree)
{
	struct spread *spread = &j->spread;

	if (j->paths.by_weight) {
		spread->hops = &j->paths.weighted.hops;
		spread->closer = weighted_closer;
		spread->ctx = &j->paths.weighted;
		spread->keeps_others = NULL; /* fewer hops may weigh more */
	} else if (turns == TURNS_AVOIDED) {
		spread->closer = straight_closer;
		spread->ctx = &j->straight;
		spread->hops_to_switches = &j->paths.hops;
		spread->closer_to_switches = spread_shortest;
		spread->ctx_to_switches = &j->paths.hops;
	} else if (turns == TURNS_NEVER) {
		spread->hops = &j->straight.line.hops;
		spread->closer = updown_closer;
		spread->ctx = &j->straight.line;
	}
	if (tree && spread->g->n_aggregation) {
		spread->hops_to_switches = &j->straight.line.hops;
		spread->closer_to_switches = updown_closer;
		spread->ctx_to_switches = &j->straight.line;
	}
}

static int prepare(struct minhop_job *j, const struct route_in *in, struct arena *tmp,
                   struct why *notes)
{
	const struct minhop_options *o = in->options;
	enum turns turns = TURNS_ANY;
	bool tree = false;
	int ret;

	*j = (struct minhop_job){ .straight.hops = &j->paths.hops,
		                  .spread = { .g = in->g,
		                              .lids = in->lids,
		                              .hops = &j->paths.hops,
		                              .closer = spread_shortest,
		                              .ctx = &j->paths.hops,
		                              .prev = in->prev,
		                              .keeps_others =
		                                      in->keep_by_rule
		                                              ? NULL
		                                              : &j->keeps_others,
		                              .even = true,
		                              .tune = &j->tune,
		                              .cancel = in->cancel } };
	ret = spread_tune_init(&j->tune, o ? &o->spread : NULL, in->g, tmp, notes);
	if (ret == E_OK) {
		ret = find_paths(&j->paths, in, tmp, notes);
	}
	if (ret == E_OK && !j->paths.by_weight) {
		ret = find_turns(in->g, tmp, &turns, &tree, &j->always, notes);
	}
	if (ret == E_OK && (turns != TURNS_ANY || (tree && in->g->n_aggregation))) {
		ret = find_line(in->g, &j->straight.line, tmp);
	}
	if (ret == E_OK) {
		choose_paths(j, turns, tree);
		ret = spread_keep_order(in, tmp, notes, &j->groups, &j->spread);
	}
	return ret;
}

/* Adds to the distances what spreading all routes takes. */
static int index_paths(struct minhop_job *j, struct arena *tmp)
{
	struct hops *line = &j->straight.line.hops;
	int ret = j->paths.by_weight ? E_OK : hops_index(&j->paths.hops, tmp);

	if (ret == E_OK &&
	    (j->spread.hops == line || j->spread.hops_to_switches == line)) {
		ret = hops_index(line, tmp);
	}
	return ret;
}

static int minhop_route(const struct route_in *in, struct arena *a,
                        struct route_out *ret_out)
{
	struct arena *tmp = arena_new();
	struct minhop_job j;
	struct lft lft;
	int ret = -ENOMEM;

	if (!tmp || lft_init(&lft, in->g->n_switches, in->lids->top, a) != E_OK) {
		goto out;
	}
	ret = prepare(&j, in, tmp, &ret_out->notes);
	if (ret == E_OK) {
		ret = index_paths(&j, tmp);
	}
	if (ret == E_OK) {
		ret = spread_run(&j.spread, &lft, tmp);
	}
	if (ret == E_OK) {
		ret_out->lft = lft;
		ret_out->lanes = (struct lanes){ .n = 1 };
		ret_out->passes_always = j.always;
		ret_out->keeps_others = j.keeps_others;
	}
out:
	arena_free(tmp);
	return ret;
}

static int minhop_repair(const struct route_in *in, struct route_repair *r,
                         struct arena *tmp, struct why *why)
{
	struct why notes = { "" };
	struct minhop_job j;
	int ret = prepare(&j, in, tmp, &notes);

	if (ret == E_OK && j.paths.by_weight) {
		why_add(why, "minhop: lengths of routes are not in hops");
		return E_UNSUITABLE;
	}
	return ret == E_OK ? spread_repair(&j.spread, r, tmp) : ret;
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
	.flags = ENGINE_STAGE2 | ENGINE_KEEPS_ORDER,
	.options = minhop_options,
	.opt_size = sizeof(struct minhop_options),
	.route = minhop_route,
	.repair = minhop_repair,
};

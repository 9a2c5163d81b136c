/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * dnup: up/down routes without a choice of roots, for fabrics in which some hosts are nearer
 * to the core than some switches.
 *
 * The rank of a switch is counted from the hosts: switches with hosts are lowest, the others
 * are higher the farther they are from hosts. Routes lead away from hosts first, then
 * towards them, never the reverse. Paths and tables are described in
 * routing/spread/updown.h, the options in routing/spread/spread_options.h.
 *
 * Difference from OpenSM 3.3.23: there a hop between two switches of equal rank is always
 * allowed, so a ring of switches that all have hosts gets a credit loop. Here the distance
 * from the first switch of the order, then the GUID, decide which end is higher. So dnup is
 * free of credit loops on any fabric. Every pair of a connected fabric has a route, so
 * connect_roots has nothing to add.
 *
 * Source: opensm(8), "DNUP ROUTING ALGORITHM".
 */
#include <errno.h>
#include <stddef.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/spread/leaves.h"
#include "routing/spread/spread_options.h"
#include "routing/spread/updown.h"

struct dnup_options {
	struct spread_options spread;
	bool connect_roots;
};

static int dnup_check(const struct route_in *in, struct why *why)
{
	if (in->g->n_switches && !in->g->host_first[in->g->n_switches]) {
		why_add(why, "dnup: no switch has hosts, so none is the lowest");
		return E_UNSUITABLE;
	}
	return E_OK;
}

/* Turns distances from hosts into ranks. */
static struct updown_rule dnup_rule(const struct route_in *in, uint16_t *rank)
{
	for (uint32_t s = 0; s < in->g->n_switches; s++) {
		rank[s] = (uint16_t)(UPDOWN_RANK_NONE - rank[s]);
	}
	return (struct updown_rule){ .rank = rank, .by_depth = true };
}

static int dnup_route(const struct route_in *in, struct arena *a,
                      struct route_out *ret_out)
{
	const struct dnup_options *o = in->options;
	struct arena *tmp = arena_new();
	uint16_t *rank;
	int ret = tmp ? leaves_distances(in->g, tmp, &rank) : -ENOMEM;

	if (ret == E_OK) {
		const struct updown_rule rule = dnup_rule(in, rank);

		ret = updown_route(in, &rule, o ? &o->spread : NULL, a, ret_out);
	}
	arena_free(tmp);
	return ret;
}

static int dnup_repair(const struct route_in *in, struct route_repair *r,
                       struct arena *tmp, struct why *why)
{
	uint16_t *rank;
	int ret = leaves_distances(in->g, tmp, &rank);
	struct updown_rule rule;

	if (ret != E_OK) {
		return ret;
	}
	rule = dnup_rule(in, rank);
	return updown_repair(in, &rule, r, tmp, why);
}

/* clang-format off */
static const struct option_row dnup_rows[] = {
	SPREAD_OPTION_ROWS(struct dnup_options, spread),
	{ .name = "connect_roots", .type = OPT_BOOL, .offset = offsetof(struct dnup_options, connect_roots),
	  .def = "FALSE", .letter = 'z', .flags_long = "connect_roots", .flags = OPT_NO_ARG,
	  .help = "Routes between root switches; ftree, updn and dnup have them always, free of credit loops" },
	{ .name = NULL }
};
/* clang-format on */

const struct engine engine_dnup = {
	.name = "dnup",
	.summary = "Away from hosts, then towards them; free of credit loops",
	.deadlock_free_order = 80,
	.flags = ENGINE_DEADLOCK_FREE | ENGINE_STAGE2,
	.options = dnup_rows,
	.opt_size = sizeof(struct dnup_options),
	.check = dnup_check,
	.route = dnup_route,
	.repair = dnup_repair,
};

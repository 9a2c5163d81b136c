/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * shortestpath: the default algorithm of Omni-Path fabrics (Cornelis CN5000 Fabric
 * Management, Fabric Unicast Routing, Shortest Path). It uses paths of least cost by the
 * active rate of the links (routing/spread/leastcost.h), and among several the one whose
 * links carry the fewest routes.
 *
 * spine_first_routing keeps traffic between the leaves of a director inside it, by up/down
 * routing with the directors as the core of the fabric. It is not free of credit loops on
 * other fabrics with rings; the proof decides.
 */
#include <stddef.h>

#include "conf/option.h"
#include "routing/engine.h"
#include "routing/spread/leastcost.h"

struct shortestpath_options {
	bool spine_first;
};

static int shortestpath_route(const struct route_in *in, struct arena *a,
                              struct route_out *ret_out)
{
	const struct shortestpath_options *o = in->options;

	return leastcost_route(in, !o || o->spine_first, NULL, a, ret_out);
}

/* clang-format off */
static const struct option_row shortestpath_options[] = {
	LEASTCOST_OPTION_ROWS(struct shortestpath_options, spine_first),
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_shortestpath = {
	.name = "shortestpath",
	.summary = "Paths of least cost by link rate, spread evenly; Omni-Path's default",
	.options = shortestpath_options,
	.opt_size = sizeof(struct shortestpath_options),
	.route = shortestpath_route,
};

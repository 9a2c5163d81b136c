/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * dgshortestpath: shortestpath with the hosts placed by device group, in the order that the
 * operator gives (Cornelis CN5000 Fabric Management, Fabric Unicast Routing, Device Group
 * Shortest Path). Each group is balanced by itself; the routes of earlier groups only decide
 * between equal links, so that the whole is balanced, too.
 *
 * A host belongs to the first group of the list that names it; see routing/spread/groups.h
 * for the others. The LIDs of switches are placed after all hosts.
 */
#include <errno.h>
#include <stddef.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/spread/groups.h"
#include "routing/spread/leastcost.h"

struct dgshortestpath_options {
	bool spine_first;
	const struct device_list *order;
};

static int dgshortestpath_route(const struct route_in *in, struct arena *a,
                                struct route_out *ret_out)
{
	const struct dgshortestpath_options *o = in->options;
	bool spine_first = !o || o->spine_first;
	struct spread_groups groups;
	struct arena *tmp;
	int ret;

	if (!o || !o->order) {
		why_add(&ret_out->notes,
		        "dgshortestpath: no dg_routing_order, so routes are those of shortestpath");
		return leastcost_route(in, spine_first, NULL, a, ret_out);
	}
	tmp = arena_new();
	ret = tmp ? spread_groups_of(in->g, o->order, tmp, &ret_out->notes, &groups)
	          : -ENOMEM;
	if (ret == E_OK) {
		ret = leastcost_route(in, spine_first, &groups, a, ret_out);
	}
	arena_free(tmp);
	return ret;
}

/* clang-format off */
static const struct option_row dgshortestpath_options[] = {
	LEASTCOST_OPTION_ROWS(struct dgshortestpath_options, spine_first),
	{ .name = "dg_routing_order", .type = OPT_DEVICE_GROUPS,
	  .offset = offsetof(struct dgshortestpath_options, order),
	  .flags_long = "dg-routing-order", .arg = "GROUPS",
	  .xml = "Sm/DGShortestPathTopology/RoutingOrder/DeviceGroup",
	  .help = "Device groups in the order in which dgshortestpath places their hosts, separated by commas; all others come last" },
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_dgshortestpath = {
	.name = "dgshortestpath",
	.summary = "shortestpath, with the hosts of device groups placed in a given order",
	.options = dgshortestpath_options,
	.opt_size = sizeof(struct dgshortestpath_options),
	.order_option = "dg_routing_order",
	.route = dgshortestpath_route,
};

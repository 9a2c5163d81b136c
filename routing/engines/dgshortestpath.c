/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * dgshortestpath: shortestpath with the hosts placed by device group, in the order that the
 * operator gives (Cornelis CN5000 Fabric Management, Fabric Unicast Routing, Device Group
 * Shortest Path). Each group is balanced by itself; the routes of earlier groups only decide
 * between equal links, so that the whole is balanced, too.
 *
 * A host belongs to the first group of the list that names it. A group that selects
 * everything takes the hosts that no other group names, whatever its position; without such
 * a group these hosts come last. The LIDs of switches are placed after all hosts.
 */
#include <errno.h>
#include <stddef.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph/device_set.h"
#include "routing/graph/graph.h"
#include "routing/spread/leastcost.h"
#include "routing/spread/spread.h"

struct dgshortestpath_options {
	bool spine_first;
	const struct device_list *order;
};

/* Place in the list of the group that takes the rest: behind the list if none does. */
static uint32_t rest_of(const struct device_list *list)
{
	uint32_t i = 0;

	while (i < list->n && !device_group_is_all(list->groups, list->index[i])) {
		i++;
	}
	return i;
}

static uint32_t group_of(const struct device_list *list, const struct device_set *sets,
                         uint32_t port, uint32_t rest)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (!device_group_is_all(list->groups, list->index[i]) &&
		    device_set_has(&sets[i], port)) {
			return i;
		}
	}
	return rest;
}

static int sort_hosts(const struct graph *g, const struct device_list *list,
                      struct arena *a, struct why *notes, struct spread_groups *ret)
{
	uint32_t n_hosts = g->host_first[g->n_switches], rest = rest_of(list);
	uint32_t *of = arena_array(a, n_hosts, sizeof(*of));
	uint32_t *hosts = arena_array(a, list->n + 1U, sizeof(*hosts));
	struct device_set *sets;
	int ret_code = device_sets_of(g, list, a, &sets);

	if (ret_code != E_OK || !of || !hosts) {
		return -ENOMEM;
	}
	for (uint32_t h = 0; h < n_hosts; h++) {
		of[h] = group_of(list, sets, g->hosts[h], rest);
		hosts[of[h]]++;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		if (!hosts[i] && !device_group_is_all(list->groups, list->index[i])) {
			why_add(notes,
			        "dgshortestpath: device group %s has no host here that "
			        "no earlier group has",
			        list->names[i]);
		}
	}
	*ret = (struct spread_groups){ .of = of,
		                       .n = rest == list->n ? list->n + 1 : list->n };
	return E_OK;
}

static int dgshortestpath_route(const struct route_in *in, struct arena *a,
                                struct route_out *ret)
{
	const struct dgshortestpath_options *o = in->options;
	bool spine_first = !o || o->spine_first;
	struct spread_groups groups;
	struct arena *tmp;
	int ret_code;

	if (!o || !o->order) {
		why_add(&ret->notes,
		        "dgshortestpath: no dg_routing_order, so routes are those of "
		        "shortestpath");
		return leastcost_route(in, spine_first, NULL, a, ret);
	}
	tmp = arena_new();
	ret_code = tmp ? sort_hosts(in->g, o->order, tmp, &ret->notes, &groups) : -ENOMEM;
	if (ret_code == E_OK) {
		ret_code = leastcost_route(in, spine_first, &groups, a, ret);
	}
	arena_free(tmp);
	return ret_code;
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
	.route = dgshortestpath_route,
};

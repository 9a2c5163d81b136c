/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/spread/groups.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/device_set.h"
#include "routing/graph/graph.h"
#include "routing/spread/spread_options.h"

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

int spread_groups_of(const struct graph *g, const struct device_list *list,
                     struct arena *a, struct why *notes, struct spread_groups *ret_groups)
{
	uint32_t n_hosts = g->host_first[g->n_switches], rest = rest_of(list);
	uint32_t *of = arena_array(a, n_hosts, sizeof(*of));
	uint32_t *hosts = arena_array(a, list->n + 1U, sizeof(*hosts));
	struct device_set *sets;
	int ret = device_sets_of(g, list, a, &sets);

	if (ret != E_OK || of == NULL || hosts == NULL) {
		return -ENOMEM;
	}
	for (uint32_t h = 0; h < n_hosts; h++) {
		of[h] = group_of(list, sets, g->hosts[h], rest);
		hosts[of[h]]++;
	}
	for (uint32_t i = 0; i < list->n; i++) {
		if (!hosts[i] && !device_group_is_all(list->groups, list->index[i])) {
			why_add(notes,
			        "dgshortestpath: device group %s has no host here that no earlier group has",
			        list->names[i]);
		}
	}
	*ret_groups =
		(struct spread_groups){ .of = of,
		                        .n = rest == list->n ? list->n + 1 : list->n };
	return E_OK;
}

int spread_keep_order(const struct route_in *in, struct arena *a, struct why *notes,
                      struct spread_groups *groups, struct spread *s)
{
	int ret;

	if (in->order == NULL || (s->tune != NULL && s->tune->n_listed != 0)) {
		return E_OK;
	}
	ret = spread_groups_of(in->g, in->order, a, notes, groups);
	if (ret == E_OK) {
		s->groups = groups;
	}
	return ret;
}

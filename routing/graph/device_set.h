/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/device_group.h"
#include "routing/graph/graph.h"

struct arena;

/*!
 * Which ports of a fabric belong to a device group (conf/device_group.h).
 *
 * A set has a bit per port of the graph, so that asking is one load, sets of any size cost
 * the same, and later readers (port groups of routing chains) can hold external ports of
 * switches, too. A rule that names a node puts all its ports in, port 0 of a switch among
 * them; a rule with ports (":3", PortGUID of a CA) just these. What engines ask:
 *
 *   a CA or router port as destination:  device_set_has(set, port)
 *   a switch:  device_set_has_switch(set, g, sw), that is, its port 0
 *
 * A group without members here is no error: set.n_end_ports is 0 then, and an engine that
 * was given it says so in its notes.
 *
 *     // struct my_options { const struct device_list *last; };  row OPT_DEVICE_GROUP "route_last"
 *     struct device_set last;
 *     int ret = device_set_of(g, o->last, a, &last);   // NULL list: the empty set
 *     for each end port p: class = device_set_has(&last, p);
 */
struct device_set {
	uint64_t *bits;       /*!< by port index */
	uint32_t n_ports;     /*!< of the graph */
	uint32_t n_end_ports; /*!< members among graph.end_ports */
};

static inline bool device_set_has(const struct device_set *s, uint32_t port)
{
	return s->bits[port / 64] >> port % 64 & 1;
}

/*! \brief Is switch \a sw (an index in graph.switches) a member, by its port 0? */
static inline bool device_set_has_switch(const struct device_set *s,
                                         const struct graph *g, uint32_t sw)
{
	return device_set_has(s, g->nodes[g->switches[sw]].first_port);
}

/*!
 * \brief Members of one group.
 * \param group  Index in groups->groups.
 * \param ret_set    In \a a.
 * \retval -ENOMEM
 * Cost: O(rules of the group and of those it includes, each once, times N + P), patterns
 * O(their length) more per node; GUIDs O(log N) except SystemImageGUID.
 */
int device_set_group(const struct graph *g, const struct device_groups *groups,
                     uint32_t group, struct arena *a, struct device_set *ret_set);

/*!
 * \brief Members of any group of a list.
 * \param list  Bound; NULL: the set is empty.
 * \retval -ENOMEM
 */
int device_set_of(const struct graph *g, const struct device_list *list, struct arena *a,
                  struct device_set *ret_set);

/*!
 * \brief Members of each group of a list, for engines to which their order matters.
 * \param ret_set  [list->n] in \a a.
 * \retval -ENOMEM
 */
int device_sets_of(const struct graph *g, const struct device_list *list, struct arena *a,
                   struct device_set **ret_set);

/*! \brief Is "Select All" among the group's own rules: does it stand for everything that no other group names? */
bool device_group_is_all(const struct device_groups *groups, uint32_t group);

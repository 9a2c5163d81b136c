/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "routing/spread/spread.h"

struct arena;
struct device_list;
struct graph;
struct route_in;
struct spread_tune;
struct why;

/*!
 * \brief Sorts the hosts by the device groups of a list, for spread.groups.
 *
 * A host belongs to the first group of the list that names it. A group that selects everything
 * takes the hosts that no other group names, whatever its position; without such a group these
 * hosts are a group of their own behind all others.
 *
 * \param notes       Gets a line for each group without a host.
 * \param ret_groups  Its array is in \a a.
 * \retval -ENOMEM
 */
int spread_groups_of(const struct graph *g, const struct device_list *list,
                     struct arena *a, struct why *notes, struct spread_groups *ret_groups);

/*!
 * \brief The same for an engine with ENGINE_KEEPS_ORDER: sets \a s->groups to \a groups where
 *        in->order asks for one, unless the operator's options list hosts (s->tune), which
 *        come first then.
 * \retval -ENOMEM
 */
int spread_keep_order(const struct route_in *in, struct arena *a, struct why *notes,
                      struct spread_groups *groups, struct spread *s);

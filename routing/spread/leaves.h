/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/graph.h"

struct arena;

/*!
 * Leaves: the lowest switches of a tree, on which its hosts hang, and the height of the
 * other switches above them. Real trees have hosts on spines, too (storage, login nodes,
 * gateways), so a switch with hosts is not always a leaf.
 *
 * Also an order of the switches with hosts that follows the cables: switches that share a
 * nearby switch are next to each other. A round robin over the leaves then gives the same
 * pattern everywhere, whatever the GUIDs.
 */

/*! \brief Hosts on a switch. */
static inline uint32_t leaves_hosts_on(const struct graph *g, uint32_t s)
{
	return g->host_first[s + 1] - g->host_first[s];
}

enum { LEAVES_HEIGHT_NONE = 0xffff }; /*!< a switch in a part without hosts */

/*!
 * \brief Height of each switch: its distance from the nearest leaf.
 *
 * Several sets of leaves are tried among the switches with hosts: all of them; those with a growing
 * share of the hosts of the fullest; and of these the ones that stand on the side of most
 * hosts where all cables join two sides. The sets that join about the most pairs of hosts
 * by a route that climbs, then descends, and at least three of four, are compared by how
 * many such routes of least length there are. All switches with hosts are leaves where no
 * other set is better, as on a torus.
 *
 * \param ret_heights  [n_switches]
 * \retval -ENOMEM
 * Cost: O(E * S / 64) for each choice of leaves that differs, fourteen at most; one when
 * all switches with hosts have equally many.
 */
int leaves_heights(const struct graph *g, struct arena *a, uint16_t **ret_heights);

/*!
 * \brief The same counted from the top: 0 for the switches of greatest height,
 * LEAVES_HEIGHT_NONE in parts without hosts.
 */
int leaves_ranks(const struct graph *g, struct arena *a, uint16_t **ret_ranks);

/*!
 * \brief leaves_heights() where all switches with hosts are leaves.
 * Cost: O(E).
 */
int leaves_distances(const struct graph *g, struct arena *a, uint16_t **ret_distances);

/*! Ordered pairs of hosts on different switches of one connected part. */
struct leaves_pairs {
	uint64_t all;
	uint64_t
		connected; /*!< by a route over switches of growing, then of falling height
	                  */
};

/*!
 * \brief Counts pairs of hosts.
 * \param height  [n_switches]; any numbers, larger is higher. LEAVES_HEIGHT_NONE: left out.
 * \retval -ENOMEM
 * Cost: O(E * S / 64).
 */
int leaves_pairs(const struct graph *g, const uint16_t *height, struct arena *a,
                 struct leaves_pairs *ret_pairs);

/*!
 * \brief Does no shortest path between hosts turn upwards after it has descended, and does
 *        none go between switches of one height? So it is in a healthy tree without hosts
 *        above its leaves. Tables of shortest paths have no credit loop there.
 * \retval -ENOMEM  Cost: O(E * S / 64).
 */
int leaves_straight(const struct graph *g, struct arena *tmp, bool *ret_straight);

/*!
 * \brief Stable sort of switches by the set they are in.
 * \param unions  [n_switches] sets of switches, see conf/base/union_find.h.
 * \param count, list_tmp  Working memory of as many.
 * Cost: O(n_switches).
 */
void leaves_sort_unions(uint32_t *unions, uint32_t n_switches, uint32_t *list,
                        uint32_t n_list, uint32_t *count, uint32_t *list_tmp);

/*!
 * \brief Do, for each switch, all switches above it descend to the same switches with
 *        hosts? So it is in a healthy tree of pods. Then no shortest path between hosts on
 *        leaves turns upwards again after it has descended.
 * \retval -ENOMEM
 * Cost: O(E * S / 64).
 */
int leaves_alike(const struct graph *g, const uint16_t *height, struct arena *a,
                 bool *ret_alike);

/*!
 * \brief The switches with hosts in this order.
 *
 * Switches at most r hops above the nearest hosts fall into connected sets; leaves of one
 * set come together, for every r. Equal ones, and all where a cable joins two switches
 * with hosts, are in the order of their index.
 *
 * \param ret_leaves  [\a ret_n]
 * \retval -ENOMEM
 * Cost: that of leaves_heights(), and O(E + S * height).
 */
int leaves_order(const struct graph *g, struct arena *a, uint32_t **ret_leaves,
                 uint32_t *ret_n);

/*!
 * Places for hosts. A place is a switch and a port. Its number stays while hosts come and
 * go, so a choice by place does not move with them.
 */
struct leaf_places {
	uint32_t n; /*!< of a full switch, 0: too many would be empty, none are held */
	uint32_t rank[256]; /*!< of a switch port among those */
	/*! [hosts of a switch] places that it holds; a host has number rank % size there
	 */
	uint32_t size[256];
	bool full; /*!< nearly all places have hosts */
};

/*!
 * \brief Places: the switch ports at which half of the switches with hosts have one.
 *
 * A host at another port shares a place. Where several switches have at most half of the
 * hosts of a full one, or a quarter, and so on, such switches hold half the places. One
 * that has no hosts holds all.
 *
 * \param is_one  [graph.n_ports] which hosts count, NULL: all. \param value  Of these.
 */
void leaves_places(const struct graph *g, const uint32_t *leaf, uint32_t n_leaves,
                   const bool *is_one, bool value, struct leaf_places *ret_places);

/*!
 * \brief A lower bound on the load of the busiest link, whatever the routes: all routes that
 *        leave the hosts of one switch, or of one pod, over the links that lead out of it.
 *        A pod is a set of switches that is connected up to some height.
 *
 * \param pods  Look at pods, too. \param ret_load  Routes per link between base LIDs.
 * \retval -ENOMEM
 * Cost: that of leaves_heights(), and O(E * height).
 */
int leaves_least_load(const struct graph *g, bool pods, struct arena *a,
                      uint64_t *ret_load);

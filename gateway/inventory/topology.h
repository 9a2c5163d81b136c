/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct graph;

/*!
 * The shape of a fabric for a map: tiers of a tree and its pods, or groups of switches that
 * are cabled alike.
 *
 * A fabric is drawn as a tree when most pairs of hosts are joined by a route that climbs
 * tiers and then descends. In a tree of three tiers or more, leaves that share at least
 * half of their uplinks' switches are a pod. A switch above them belongs to the pod to which
 * most of its cables down lead; without such a majority it stands alone, as core switches do.
 * One cable in a wrong place therefore moves no switch to another pod.
 *
 * Anything else (tori, dragonflies, random graphs) is drawn as a matrix. There, neighbours
 * that share more than half of their neighbours, themselves among them, are a group, as in a
 * dragonfly.
 */
enum { TOPOLOGY_NO_TIER = 0xffff };

struct topology {
	bool tree;
	uint16_t n_tiers; /*!< of a tree; else 1 */
	uint16_t *
		tier; /*!< [n_switches] 0: leaf; TOPOLOGY_NO_TIER: in a part without hosts */
	uint32_t n_groups;
	uint32_t *
		group; /*!< [n_switches] in the order of the lowest switch, GRAPH_NONE: alone */
};

/*!
 * \brief Finds tiers and groups. A function of the cables alone.
 * \param g  Frozen.
 * \retval -ENOMEM
 * Cost: that of leaves_heights(), and O(E * max_port).
 */
int topology_find(const struct graph *g, struct arena *a, struct topology *ret_topology);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/cdg.h"

struct arena;
struct graph;
struct hops;

/*! One lane of nue: the acyclic dependencies that its routes may use so far, and a
 * spanning tree whose turns are all among them, so that every switch is reachable. */
struct nue_lane {
	struct cdg cdg;
	/*! [channels][words] as cdg.out: dependencies that were refused */
	uint64_t *never;
	/*! [n_switches] channel towards the root of the tree, GRAPH_NONE: root */
	uint32_t *up;
};

/*! A plan: the initial dependencies of lanes, and whether links are weighted. */
struct nue_plan {
	const struct graph *g;
	const struct cdg_map *map;
	const struct hops *near; /*!< shortest distances */
	/*! [graph.n_adj] dimension of each link, NULL: no grid. Routes are in
	 * dimension order where possible. */
	const uint8_t *dimension;
	/*! [n_switches] position in an up/down order, which routes follow where
	 * possible; NULL: none */
	const uint32_t *order;
	bool weigh; /*!< loaded links count as longer */
};

/*! \brief Makes a lane with the initial dependencies of its plan. With an up/down
 * order these are all turns that climb it, then descend. Otherwise they are all turns
 * of a spanning tree around \a root. On a grid the tree is a comb of its dimensions.
 * Then two kinds of turns are added: in each ring those at all switches except at the
 * ends of the cable furthest from the root, and all turns from a lower dimension to a
 * higher one. The few that would close a cycle where cables are missing are left out.
 * \retval -ENOMEM Cost: O(E log E) and that of adding the dependencies. */
int nue_lane_init(struct nue_lane *l, const struct nue_plan *p, uint32_t root,
                  struct arena *a);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/cdg.h"

struct arena;
struct graph;
struct hops;

/*!
 * One lane of nue: the dependencies that its routes may make so far, without a cycle, and
 * a spanning tree all of whose turns are among them, so that nobody is ever left out.
 */
struct nue_lane {
	struct cdg cdg;
	/*! [channels][words] as cdg.out: dependencies that were refused */
	uint64_t *never;
	/*! [n_switches] channel towards the root of the tree, GRAPH_NONE: root */
	uint32_t *up;
};

/*! What a lane starts from. */
struct nue_plan {
	const struct graph *g;
	const struct cdg_map *map;
	const struct hops *near; /*!< shortest distances */
	/*! [graph.n_adj] dimension of each link, NULL: it is no grid. Routes keep the
	 * order of dimensions where they can. */
	const uint8_t *dimension;
	/*! [n_switches] place in a line: routes climb it, then descend, where that is
	 * enough; NULL: there is none. */
	const uint32_t *line;
	bool weigh; /*!< loaded links are longer */
};

/*!
 * \brief Lane that allows what its plan starts from.
 *
 * With a line these are all turns that climb it, then descend. Else they are all turns of
 * a spanning tree that is grown around \a root. With dimensions the tree is a comb of
 * them, and added are, for each ring, the turns at all its switches but the two at the
 * ends of the cable furthest from the root, and all turns from a lower dimension to a
 * higher; the few that close a cycle where cables are missing are left out.
 *
 * \retval -ENOMEM
 * Cost: O(E log E) and that of adding the dependencies.
 */
int nue_lane_init(struct nue_lane *l, const struct nue_plan *p, uint32_t root,
                  struct arena *a);

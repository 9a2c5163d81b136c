/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/spread/spread.h"

struct arena;
struct graph;
struct hops;
struct lash_cuts;
struct lash_mesh;

/*! One shortest path from each switch to each other one, for the case that several per
 * pair would need more lanes than there are. */
struct lash_paths {
	uint32_t n;
	/*! [to][from] next switch; itself at the destination, GRAPH_NONE: not
	 *  connected */
	uint32_t *next;
};

/*! \brief Dimension-order paths of a mesh or torus. \retval -ENOMEM */
int lash_paths_mesh(const struct graph *g, const struct hops *h,
                    const struct lash_mesh *m, const struct lash_cuts *cuts,
                    struct arena *a, struct lash_paths *ret_paths);

/*! \brief Paths over the links that are used least so far. \retval -ENOMEM Cost: O(S^2
 * * P) for S switches of P ports. */
int lash_paths_balanced(const struct graph *g, const struct hops *h, struct arena *a,
                        struct lash_paths *ret_paths);

/*! \brief Paths with the fewest turns from down to up, then over the least used links.
 * Down is away from the center of the fabric. Needs fewer lanes, but is less
 * balanced. \retval -ENOMEM */
int lash_paths_few_turns(const struct graph *g, const struct hops *h, struct arena *a,
                         struct lash_paths *ret_paths);

/*! \brief For the LIDs of the switches of a tree: paths with the fewest turns from
 * down to up, all turns at the same few switches. The load is not balanced. \retval
 * -ENOMEM */
int lash_paths_management(const struct graph *g, const struct hops *h, struct arena *a,
                          struct lash_paths *ret_paths);

/*! \brief spread_closer_f for the links to the next switch; \a ctx is the struct
 * lash_ways. */
spread_closer_f lash_paths_closer;

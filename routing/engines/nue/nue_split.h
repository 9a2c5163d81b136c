/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct graph;
struct hops;

/*! Destinations of nue by lane. */
struct nue_split {
	uint8_t *lane;  /*!< [n_switches] lane of the LIDs on a switch */
	uint32_t *root; /*!< [n_lanes] switch in the middle of those of a lane */
};

/*!
 * \brief Deals the switches over lanes so that those of one lane are near each other.
 *
 * Routes to neighbours turn at the same places, so they leave each other more freedom
 * than routes to anywhere. A grid is cut across its longest dimension, again and again;
 * another fabric between two switches that are far apart.
 *
 * \param dimension  [graph.n_adj] of each link, NULL: no grid.
 * \param all        false: the others are dealt in turn, and only those with hosts as
 * said. \retval -ENOMEM Cost: O(S^2 + E).
 */
int nue_split(struct nue_split *x, const struct graph *g, const struct hops *near,
              const uint8_t *dimension, bool all, unsigned n_lanes, struct arena *a);

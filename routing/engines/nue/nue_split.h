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
	uint32_t *root; /*!< [n_lanes] central switch of a lane */
};

/*! \brief Divides the switches among lanes so that those of one lane are near each
 * other. Routes to near destinations turn at the same switches, so they restrict each
 * other less than routes to distant ones. A grid is repeatedly cut across its longest
 * dimension; another fabric is cut between two distant switches. \param dimension
 * [graph.n_adj] dimension of each link, NULL: no grid. \param all false: switches
 * without hosts are assigned round robin. \retval -ENOMEM Cost: O(S^2 + E). */
int nue_split(struct nue_split *x, const struct graph *g, const struct hops *near,
              const uint8_t *dimension, bool all, unsigned n_lanes, struct arena *a);

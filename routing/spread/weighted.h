/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/graph/hops.h"
#include "routing/spread/spread.h"

struct arena;
struct graph;

/*!
 * Paths of least weight. Sums are exact: 254 hops of weight 65,535 fit.
 */
struct weighted {
	const uint16_t *weight; /*!< [n][width] of a switch's egress ports, from 1 */
	uint32_t width;         /*!< graph.max_port + 1 */
	uint32_t *cost; /*!< [to][from] least sum of weights, WEIGHTED_NONE: not connected
	                 */
	struct hops hops; /*!< hops of the longest of the paths of least weight */
};

#define WEIGHTED_NONE UINT32_MAX

/*!
 * \brief Finds them. Parallel; same result on any number of threads.
 * \retval E_RANGE  A path of more than 254 hops, or more than 65,535 switches.
 * \retval -ENOMEM
 * Cost: O(S * (E + W)) for sums up to W; weights without a common factor cost the least.
 */
int weighted_init(struct weighted *x, const struct graph *g, const uint16_t *weight,
                  struct arena *a);

/*!
 * \brief The sums of paths to one switch alone.
 * \param ret_cost  [n_switches] of those from each switch; WEIGHTED_NONE: not connected. \retval -ENOMEM
 * Cost: O(E + W), and \a a takes as much.
 */
int weighted_to(const struct graph *g, const uint16_t *weight, uint32_t to, struct arena *a,
                uint32_t *ret_cost);

/*! \brief For spread_run(); \a ctx is the struct weighted. */
spread_closer_f weighted_closer;

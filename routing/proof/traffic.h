/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct graph;
struct lids;
struct lft;

/*!
 * What patterns of traffic get of tables, by counting. In a pattern all hosts send at the same
 * time, each to one other host. A link is shared evenly by what each flow would take alone, which is
 * the rate of the slower of its two host links. A flow then gets the share of its most loaded link;
 * 1 is its whole rate. No simulation of packets is behind it.
 *
 * shift        host i sends to host i + k, in the order of names: the steps of an all-to-all
 * permutation  each host sends to another one at random, and each receives once
 * bisection    the hosts are split into two random halves, which exchange in pairs (effective
 *              bisection bandwidth: Hoefler, Schneider, Lumsdaine, "Multistage switches are not
 *              crossbars", 2008)
 *
 * Flows go to the base LID of a port. The random patterns have fixed seeds, so that tables of
 * one fabric are compared by the same ones.
 */
enum {
	TRAFFIC_SHIFTS = 64, /*!< all distances where there are no more, else spread evenly */
	TRAFFIC_PERMUTATIONS = 64,
	TRAFFIC_BISECTIONS = 64
};

struct traffic_share {
	double mean;  /*!< over patterns: mean share of their flows; 0: there is no flow */
	double least; /*!< that of the worst pattern */
};

struct traffic {
	struct traffic_share shift, permutation, bisection;
};

/*!
 * \brief Measures. A flow that does not arrive gets nothing.
 *
 * \param a  Working memory.
 * \retval -ENOMEM
 * Cost: O(hosts * hops) per pattern.
 */
int traffic_measure(const struct graph *g, const struct lids *lids, const struct lft *lft,
                    struct arena *a, struct traffic *ret_traffic);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/option.h"

struct arena;
struct graph;
struct route_in;
struct route_out;
struct spread_groups;

/*!
 * \brief What it costs to pass a link of a rate: 480,000 over its speed in 0.1 Gb/s, rounded,
 *        which is exact from 25 to 800 Gb/s; an unknown rate costs as much as the slowest.
 * \param rate  Code of PathRecord.Rate.
 */
uint16_t leastcost_of_rate(uint8_t rate);

/*!
 * \brief What the ways of least cost to a switch cost, in the unit of leastcost_of_rate().
 * \param ret_cost  [n_switches] from each switch; UINT32_MAX: there is none. \retval -ENOMEM
 * Cost: O(E + W) for sums up to W; \a a takes O(S * P + E).
 */
int leastcost_to(const struct graph *g, uint32_t to, struct arena *a, uint32_t *ret_cost);

/*!
 * \brief The routing step of shortestpath and dgshortestpath: paths of least cost by the rates of the
 *        links. A cable counts with the slower of its two ends.
 * \param spine_first  Links that stay in the chassis (both switches carry one
 *                     SystemImageGUID) come before others of equal cost.
 * \param groups  Of hosts that are balanced apart, in this order, or NULL.
 * \retval E_UNSUITABLE  Reason in ret->notes. \retval -ENOMEM -ECANCELED
 */
int leastcost_route(const struct route_in *in, bool spine_first,
                    const struct spread_groups *groups, struct arena *a,
                    struct route_out *ret_out);

/* clang-format off */
/*! Rows for struct \a set, whose \a member is the bool spine_first. */
#define LEASTCOST_OPTION_ROWS(set, member) \
	{ .name = "spine_first_routing", .type = OPT_BOOL, .offset = offsetof(set, member), .def = "TRUE", \
	  .flags_long = "spine-first-routing", .arg = "TRUE|FALSE", .xml = "Sm/SpineFirstRouting", \
	  .help = "Of ways of equal cost prefer those inside a chassis, so that its spines are the core" }
/* clang-format on */

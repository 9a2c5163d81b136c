/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/option.h"
#include "routing/graph/hops.h"
#include "routing/spread/spread.h"
#include "routing/spread/weighted.h"

struct arena;
struct graph;
struct route_in;
struct route_out;
struct spread_groups;

/*!
 * Paths of least cost by the rates of the links, and which ways of equal cost come first:
 * what shortestpath and dgshortestpath share.
 */
struct leastcost {
	const struct graph *g;
	bool by_rate; /*!< rates differ; else every link costs the same and hops decide */
	struct hops plain;        /*!< unless by_rate */
	struct weighted weighted; /*!< if by_rate */
	uint32_t width;           /*!< graph.max_port + 1 */
	uint32_t *rank; /*!< [n][width] of ways of equal cost only those of the greatest are used */
	bool *mixed;    /*!< [n] the links of the switch differ in rank */
};

/*!
 * \brief What it costs to pass a link of a rate: 480,000 over its speed in 0.1 Gb/s, rounded,
 *        which is exact from 25 to 800 Gb/s; an unknown rate costs as much as the slowest.
 * \param rate  Code of PathRecord.Rate.
 */
uint16_t leastcost_of_rate(uint8_t rate);

/*!
 * \brief Finds the paths. A cable counts with the slower of its two ends.
 * \param spine_first  Links that stay in the chassis (both switches carry one
 *                     SystemImageGUID) come before others of equal cost.
 * \retval E_RANGE  A path of more than 254 hops, or more than 65,535 switches.
 * \retval -ENOMEM
 * Cost: that of hops_init() when all links are equally fast, else of weighted_init().
 */
int leastcost_init(struct leastcost *p, const struct graph *g, bool spine_first,
                   struct arena *a);

/*! \brief For spread_run(); \a ctx is the struct leastcost. */
spread_closer_f leastcost_closer;

/*! \brief For spread_run(): hops of the longest of the paths of least cost. */
const struct hops *leastcost_hops(const struct leastcost *p);

/*!
 * \brief The routing step of both engines.
 * \param groups  Of hosts that are balanced apart, in this order, or NULL.
 * \retval E_UNSUITABLE  Reason in ret->notes. \retval -ENOMEM -ECANCELED
 */
int leastcost_route(const struct route_in *in, bool spine_first,
                    const struct spread_groups *groups, struct arena *a,
                    struct route_out *ret);

/* clang-format off */
/*! Rows for struct \a set, whose \a member is the bool spine_first. */
#define LEASTCOST_OPTION_ROWS(set, member) \
	{ .name = "spine_first_routing", .type = OPT_BOOL, .offset = offsetof(set, member), .def = "TRUE", \
	  .flags_long = "spine-first-routing", .arg = "TRUE|FALSE", .xml = "Sm/SpineFirstRouting", \
	  .help = "Of ways of equal cost prefer those inside a chassis, so that its spines are the core" }
/* clang-format on */

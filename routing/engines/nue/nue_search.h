/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "routing/engines/nue/nue_lane.h"
#include "routing/engines/nue/nue_split.h"
#include "routing/graph/hops.h"
#include "routing/spread/spread.h"

struct arena;
struct graph;

/*! The links that nue opens for each destination switch. Whichever open link a route
 * takes at each switch, it arrives, and all its turns are dependencies of the
 * destination's lane. */
struct nue_links {
	const struct graph *g;
	unsigned words;
	uint64_t *ports;  /*!< [to][from][words] bit p: port p + 1 of from */
	struct hops hops; /*!< [from][to] hops of the longest route */
	uint8_t *lane;    /*!< [n_switches] of the LIDs on a switch */
	/*! Routes between hosts on each link if switches use their open links equally,
	 * in units of 1/256. */
	uint64_t *load;   /*!< [graph.n_adj] */
	uint64_t busiest; /*!< the maximum of load */
	bool shortest;    /*!< no two switches with hosts have a detour */
	bool by_plan;     /*!< all routes use the initial dependencies of the plan only */
};

struct nue_search {
	const struct nue_plan *plan;
	const struct nue_split *split;
	unsigned n_lanes;
	bool all; /*!< each switch counts as a host; else switches without hosts come last */
	/*! load of an earlier search with weights, or NULL */
	const uint64_t *before;
	const _Atomic bool *cancel; /*!< NULL: never */
};

/*!
 * \brief Opens links for every destination.
 *
 * One thread, one destination after the other; see nue_search.c.
 *
 * \retval E_RANGE  A route of more than 254 hops, or more than 65,535 switches.
 * \retval -ECANCELED -ENOMEM
 * Cost: O(S * E) and that of adding up to E * P turns per lane; four times as much with
 * weights and several lanes.
 */
int nue_search_run(const struct nue_search *in, struct nue_links *ret_links,
                   struct arena *a);

/*! \brief For spread_run(); \a ctx is the struct nue_ways. */
spread_closer_f nue_links_closer;

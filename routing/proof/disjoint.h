/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/graph/tables.h"

struct arena;
struct graph;
struct lids;

/*!
 * Dispersion: how many of the routes to the LIDs of one port keep apart.
 *
 * A pair is a switch with CA or router ports and a port with several LIDs on another such
 * switch. Of its routes those count that share nothing with the ones counted before, base
 * LID first. At each level two routes that share a link are not apart; further they must
 * not share, between the two switches,
 */
enum disjoint_level {
	DISJOINT_SWITCH, /*!< a system: what carries one SystemImageGUID, or a switch without */
	DISJOINT_ASIC,   /*!< a node */
	DISJOINT_LINK,   /*!< nothing more */
	DISJOINT_COUNT
};

/*! One figure over all pairs. */
struct disjoint_sum {
	uint64_t sum;   /*!< routes or links that count, over pairs */
	uint64_t all;   /*!< pairs with as many as they have routes */
	uint32_t least; /*!< of any pair */
};

struct disjoint {
	uint64_t pairs;  /*!< 0: every port has one LID */
	uint64_t routes; /*!< of all pairs */
	struct disjoint_sum level[DISJOINT_COUNT]; /*!< routes apart */
	struct disjoint_sum unique; /*!< routes that differ from each other in any link */
	struct disjoint_sum first; /*!< links by which routes leave the source's switch */
};

/*! \brief Names of enum disjoint_level: "switch", "asic", "link". */
extern const char *const disjoint_names[DISJOINT_COUNT];

/*!
 * \brief Counts. A route that does not arrive is not apart.
 * \retval -ENOMEM
 * Cost: O(pairs * routes * hops), parallel; same result on any number of threads.
 */
int disjoint_count(const struct graph *g, const struct lids *lids, const struct lft *lft,
                   struct disjoint *ret_disjoint);

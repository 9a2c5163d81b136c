/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "conf/policy/adaptive.h"
#include "routing/graph/port_groups.h"
#include "routing/graph/tables.h"

struct arena;
struct graph;
struct lids;

/*!
 * Alternates: for adaptive routing, the ports of each switch that lead to a LID at the same
 * cost as the port in its forwarding table. Made of any engine's tables:
 *
 *   The distance of a switch from a LID is the number of hops that the tables take. A port
 *   is an alternate when its cable is as fast as the table's, and the switch behind it is
 *   nearer by one hop, by its own tables. So whatever each switch picks, a packet comes one
 *   hop nearer with every switch: no forwarding loop, the same number of hops.
 *
 * Only LIDs of CAs and routers have alternates: routes to switches are management's.
 * Coarse alternates are the same for all LIDs on a switch: the ports that are alternates
 * of each of them, where the table's own port is one of them.
 *
 * Alternates can deadlock. alternates_prove() checks all paths that packets may take, and
 * alternates_thin() removes the alternates that cause credit loops.
 *
 * Source: the Omni-Path manual, "Adaptive Routing".
 */
struct alternates {
	uint8_t *rows;              /*!< [n_switches][stride] group of the switch per LID, PORT_GROUP_NONE; NULL: no adaptive routing */
	size_t stride;              /*!< that of the tables */
	struct port_groups *groups; /*!< [n_switches] */
	uint64_t routes;            /*!< (switch, LID of a CA or router on another switch) with a route */
	uint64_t served;            /*!< of these, with alternates */
	uint64_t full;              /*!< of these, without because the switch has no room for the group */
	uint64_t thinned;           /*!< ports left out by alternates_thin() */
};

/*! \brief Alternates of a switch for a LID; NULL: none. */
static inline const struct port_set *alternates_of(const struct alternates *x, uint32_t sw,
                                                   uint32_t lid)
{
	uint8_t group = x->rows[(size_t)sw * x->stride + lid];

	return group == PORT_GROUP_NONE ? NULL : &x->groups[sw].set[group];
}

/*!
 * \brief Finds them.
 * \param lft  Proven: no forwarding loops.
 * \retval -ENOMEM
 * Cost: O(S * L * ports), a comparison of bytes each; parallel, same result on any number
 * of threads.
 */
int alternates_build(const struct graph *g, const struct lids *lids,
                     const struct lft *lft, const struct adaptive_options *o,
                     struct arena *a, struct alternates *ret_alternates);

/*!
 * \brief Credit loops when every switch on a path may take any of its alternates.
 * \param lanes  As for proof_run().
 * \param ret    Strongly connected components of the channel dependency graphs of all VLs.
 * \retval -ENOMEM
 * Cost: O(S * L * alternates), parallel.
 */
int alternates_prove(const struct graph *g, const struct lids *lids, const struct lft *lft,
                     const struct lanes *lanes, const struct alternates *x,
                     uint64_t *ret_loops);

/*!
 * \brief Leaves out alternates so that no credit loop is left.
 *
 * The tables alone have none, so their channels can be put in an order in which every
 * dependency leads forward. Alternates stay where all dependencies that they add lead
 * forward in that order, too. So all paths together have no loop.
 *
 * \param x  Becomes the thinned ones; new groups in \a a.
 * \retval E_CREDITLOOP  The tables alone have one. \retval -ENOMEM
 * Cost: as alternates_prove(), one thread.
 */
int alternates_thin(const struct graph *g, const struct lids *lids, const struct lft *lft,
                    const struct lanes *lanes, const struct adaptive_options *o,
                    struct arena *a, struct alternates *x);

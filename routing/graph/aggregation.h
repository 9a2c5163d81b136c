/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct graph;
struct lids;
struct lanes;
struct lft;

/*!
 * Aggregation nodes: CAs inside switches that reduce data as it passes (SHARP). A switch shows
 * its own as a CA on one more port, and spines have one as well as leaves.
 *
 * They are end ports with LIDs, routed to and from. They are no hosts: graph.hosts leaves
 * them out, so that no engine takes a spine for a leaf, and no balance counts them. Their
 * pairs are management pairs of the proof (doc/decisions/0011-aggregation-nodes.md).
 *
 * An aggregation node sits inside its switch, so a packet for it takes the path of a packet
 * for the switch's port 0 and leaves the last switch by another port. This holds for every
 * engine, so it stands here once: engines fill the columns of switches, and
 * aggregation_fill() copies them.
 */

/*!
 * \brief Marks the nodes of a graph that are aggregation nodes by what they say of themselves:
 * VendorID and DeviceID of NodeInfo, or the node description.
 */
void aggregation_recognise(struct graph *g);

/*!
 * \brief Routes to aggregation nodes along the routes to their switches.
 *
 * A column that the tables have already, as those of an engine that reads a file may, stays.
 *
 * \param lanes  Gets the columns too, unless it has no rows.
 * Cost: O(S * L) for S switches and L LIDs of aggregation nodes.
 */
void aggregation_fill(const struct graph *g, const struct lids *lids, struct lft *lft,
                      struct lanes *lanes);

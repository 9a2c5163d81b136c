/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct arena;
struct route_repair;
struct spread;

/*!
 * \brief engine.repair for engines that spread routes: only entries that a change touches are
 *        chosen again.
 *
 * A switch that lost its way to a LID takes, of the ports that lead closer, the one whose way has
 * the least load on its busiest link: the links of the last hops are those that fill up first. If
 * its distance did not grow, nobody else has to care. Otherwise, and for LIDs with a new owner or
 * with a shorter way by a new link, all switches whose entry does not lead to a smaller distance choose
 * again, the nearest first; so does spread_run() with keeps_others, which then finds nothing to move. LIDs of one port keep apart where they can. Those of switches take the neighbour of
 * the lowest index, as in spread_run().
 *
 * \param in   As for spread_run(); in->prev has the tables before the change.
 * \param tmp  Working memory: 12 bytes per (switch, port).
 * \retval -ENOMEM
 * Cost: O(L) for each new link, O(P * H) for each lost entry with H hops to the LID, O(S * P * H)
 *       for each LID that all switches look at. One thread.
 */
int spread_repair(const struct spread *in, struct route_repair *r, struct arena *tmp);

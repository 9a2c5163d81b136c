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
 * A switch that lost its way to a LID takes, of the ports that lead closer, the one with the
 * least load. If its distance did not grow, nobody else has to care. Otherwise, and for LIDs with
 * a new owner or with a shorter way by a new link, all switches whose entry does not lead closer
 * choose again. LIDs of one port keep apart where they can. Those of switches take the
 * neighbour of the lowest index, as in spread_run().
 *
 * \param in   As for spread_run(); in->prev has the tables before the change.
 * \param tmp  Working memory: 12 bytes per (switch, port).
 * \retval -ENOMEM
 * Cost: O(L) for each new link, O(P) for each lost entry, O(S * P) for each LID that all
 *       switches look at. One thread.
 */
int spread_repair(const struct spread *in, struct route_repair *r, struct arena *tmp);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct run;

/*!
 * Packets on the simulated fabric: hosts send to each other as fast as they can, over the tables
 * that stand in the switches at that moment.
 *
 * Each link has one virtual lane and, at its far end, a buffer for a few packets (credits). A
 * switch looks up the egress port when a packet enters, and keeps to it. The first packet of a
 * buffer moves on when the next buffer has room; there is no time after which a switch throws it
 * away, so packets that wait for each other in a circle wait for ever. A link that goes down
 * empties its buffers. A packet without a route, or whose link is not active, is lost.
 *
 * Routings with several lanes are not modelled.
 */
struct packets;

/*! \brief An empty network. NULL: out of memory. */
struct packets *packets_new(const struct run *r);
void packets_free(struct packets *p);

/*!
 * \brief Lets packets move for some steps, in each of which a buffer passes on one packet.
 * \return false: packets wait for each other for ever, see run_fail().
 */
bool packets_move(struct run *r, struct packets *p, unsigned steps);

/*! \brief All packets vanish, as after a time without traffic. Nothing if the run has none. */
void packets_clear(struct run *r);

/*! \brief Packets that arrived so far. */
uint64_t packets_delivered(const struct packets *p);

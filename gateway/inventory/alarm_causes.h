/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>

struct alarms;
struct fabric_event;
struct inventory;
struct snap_reader;

/*!
 * Alarms that have one cause become one alarm:
 *
 *   - a switch that is gone, or does not answer, stands for the hosts and cables that went with it;
 *   - a system of several switches (one SystemImageGUID) of which none is left stands for them;
 *   - a switch that is gone stands for switches and systems that are only cut off by it: all their cables
 *     led to switches that went before them or with them, so nobody could see them if they were there;
 *   - a port that was switched off stands for its cable, and for the host behind it;
 *   - a cable that comes and goes makes both its ends flap, and is one alarm that names the cable;
 *   - a node that does not answer stands for what the last sweep says of it;
 *   - one of three or more overloaded links of a switch stands for all of them.
 *
 * The others stay in the list with the id of the one that stands for them (struct alarm.cause),
 * for those who want all. Cables that went with a switch are noted for alarm_consequences().
 *
 * \param r  NULL: nothing is known of nodes that are gone.
 * \param v  NULL: no alarm of a whole system.
 * \param e  [n] Events, the oldest first; borrowed by the texts.
 * \retval -ENOMEM E_MALFORMED E_STALE  Cost: O(alarms + known rows + events).
 */
int alarm_causes_join(struct alarms *a, struct snap_reader *r, const struct inventory *v,
                      const struct fabric_event *e, size_t n);

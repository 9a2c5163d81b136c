/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>

struct alarms;
struct fabric_event;
struct snap_reader;

/*!
 * Alarms that have one cause become one alarm:
 *
 *   - a switch that is gone stands for the hosts that went with it;
 *   - a port that an operator switched off stands for its cable, and for the host behind it;
 *   - a cable that comes and goes makes both its ends flap, and is one alarm that names the cable.
 *
 * The others stay in the list, marked as joined (struct alarm.joined), for those who want all.
 *
 * \param e  [n] Events, the oldest first; borrowed by the texts.
 * \retval -ENOMEM E_MALFORMED E_STALE  Cost: O(alarms * log known + alarms * events).
 */
int alarm_causes_join(struct alarms *a, struct snap_reader *r, const struct fabric_event *e, size_t n);

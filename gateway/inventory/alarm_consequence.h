/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct alarms;
struct inventory;

/*!
 * What alarms mean for the fabric, and from that their severity:
 *
 *   critical  pairs of end ports have no route, or the subnet is not managed
 *   error     hosts are down: gone, silent, or on a link that is not Active
 *   warning   bandwidth between switches is lost, or the next fault would cut hosts off
 *
 * or that of their kind (gateway/inventory/alarms.def), if it is higher. What an operator switched
 * off stays information.
 *
 * The bisection that is lost is a share of cables. Cables between switches of the same two tiers
 * (gateway/inventory/topology.h) are a level; a fabric that is no tree is one level. Of each level
 * the cables that an alarm takes away, those with a lower rate by that part of their rate, are
 * divided by all cables that are there or that an alarm is about; the worst level counts. The
 * cables of a leaf that is gone served its own hosts only, so they count on no level.
 *
 * What the next fault would cut are pairs of host ports: those that stay together without one more
 * switch or cable only as long as what the alarm is about is there (routing/proof/cuts.h). Hosts
 * on a switch that goes are down with it, which is so by design. So a fabric that has no spare
 * cable from the start has no alarm for that.
 *
 * An alarm that stands for others has the consequences of all of them.
 *
 * \param a  After alarm_causes_join(), before alarms_sort(). \param v  With its shape.
 * \retval -ENOMEM
 * Cost: O(switches + cables) once for an inventory, then O(n log n) for n alarms and cables of theirs.
 */
int alarm_consequences(struct alarms *a, struct inventory *v);

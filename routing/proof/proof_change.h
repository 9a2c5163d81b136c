/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/why.h"
#include "routing/graph/shape.h"
#include "routing/graph/tables.h"

struct arena;
struct dep_order;

/*!
 * The proof of a change: only what a few entries change is proven again.
 *
 * Given are tables that passed a proof without any unreachable pair, forwarding loop or credit
 * loop, on one lane, on a fabric in one part; the fabric as it is now, with the same switches;
 * and new tables. Let C be the set of switches whose entry for a LID differs, or leads into a
 * link that was lost. For a LID whose owner came or moved C has all switches.
 *
 * Reachability. A route that meets no switch of C is as it was, over links that are as they were,
 * to an owner that is where it was, so it arrives. Any other route is as it was up to the first
 * switch of C. So all routes to the LID arrive if those arrive that begin at switches of C.
 *
 * Forwarding loops. If all routes to a LID arrive, none circles. In a mixture of old and new
 * entries a circle must pass a switch of C, because the old entries alone have none. So a
 * search from the switches of C over both entries of each switch finds any circle.
 *
 * Credit loops. A dependency leads from the link that enters a switch to the link that leaves
 * it. One that the old tables do not make has a new entry on either side: the switch is in C, or
 * the switch before it is. These are all collected, for both entries of each switch. They are
 * added to an order of the channels that has all dependencies of the old tables, and more
 * (dep_order.h). If they fit, no mixture of old and new tables has a credit loop, which includes
 * the new tables themselves.
 *
 * All switches count as sources, so management pairs are in it. If these had a credit loop before,
 * the order has the pairs of hosts alone, and only switches that packets of hosts pass count. A route
 * that turns in C to a switch may be the first one of a host there, and what it does from there on by
 * old entries is no dependency of the order yet. So all dependencies of such routes behind C are added. A result that is not proven here is not refuted: the caller then makes a full proof.
 */
struct route_entry {
	uint32_t lid, sw;
};

struct proof_change {
	const struct shape *shape; /*!< as it is now */
	const struct lft *from, *to;
	/*! [n] entries that differ, or lead into a lost link, by LID; some may be there twice */
	const struct route_entry *entry;
	uint32_t n;
	const uint32_t *whole; /*!< [n_whole] LIDs whose owner came, went or moved, ascending */
	uint32_t n_whole;
	struct dep_order *order; /*!< of the old tables; its shape is that of above */
};

/*!
 * \brief Proves the new tables, and with \a circling every mixture of old and new ones.
 *
 * \param circling  NULL: mixtures do not matter. Else [in->n + in->n_whole] gets the LIDs, ascending, of
 *                  which a mixture may circle. Of these only the old and the new routes by
 *                  themselves are proven, together with mixtures of the others.
 * \param why       What could not be shown.
 * \retval E_OK          in->order has the dependencies of the new tables, too.
 * \retval E_UNSUITABLE  Not shown; in->order is as it was.
 * \retval -ENOMEM
 * Cost: O(ports) for each entry, O(S * ports) for each LID of in->whole; where management pairs do not count,
 * O(S) more for each LID.
 */
int proof_change_run(const struct proof_change *in, uint32_t *circling,
                     uint32_t *ret_n_circling, struct why *why);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct election;
struct sm;

/*!
 * The durable state when we become master after another one. A copy that was in step with that
 * master is used. Any other state is not: it may lag. LIDs are then taken as the ports have them,
 * client records are dropped, and clients register again because they are asked to.
 */
struct takeover {
	struct sm *sm;
	struct election *election;
	bool settled; /*!< the state is ours, since the start or the last takeover */
};

/*!
 * \brief To be called before the first LIDs are assigned as master. Does nothing while we stay
 *        master.
 * \param from  Port GUID of the master whose place we take, 0: none.
 * \retval others  The state cannot be written; sm_fail() noted it.
 */
int takeover_begin(struct takeover *t, uint64_t from);

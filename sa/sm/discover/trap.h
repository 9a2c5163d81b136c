/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "conf/base/log.h"

struct graph;
struct lid_memory;
struct lids;
struct mad_msg;

/*!
 * Anybody on the fabric can send a trap. One is believed if the fabric as known agrees with it: its
 * issuer's LID is that of a port, the MAD came from the node of this port, and this node can send
 * such a trap. A violation that it tells of happened at that node.
 *
 * A node that was away still has its LID, so its first traps come from a LID that no port has but
 * that the state remembers.
 */
enum trap_verdict {
	TRAP_BELIEVED,
	TRAP_FORGED,
	TRAP_RETURNED /*!< of a node that was away: nothing more is known of it yet */
};

struct trap_fabric {
	const struct graph *
		g; /*!< as known; NULL: nothing is known yet, so nothing refutes a trap */
	const struct lids *lids;         /*!< read if there is a fabric */
	const struct lid_memory *memory; /*!< [n_memory] LIDs that ports had */
	size_t n_memory;
};

/*! \brief The port that has a LID. GRAPH_NONE: none. */
uint32_t trap_owner(const struct lids *l, uint32_t lid);

/*!
 * \brief Is this trap to be believed? If not, it is logged.
 *
 * \param m      A MAD that holds a Notice.
 * \param lines  Limit of the log lines.
 * Cost: O(1), but O(memory) for a LID that no port has.
 */
enum trap_verdict trap_believe(const struct trap_fabric *f, const struct mad_msg *m,
                               struct log_limit *lines, uint64_t now_ms);

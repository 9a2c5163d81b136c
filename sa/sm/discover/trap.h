/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/log.h"

struct graph;
struct lids;
struct mad_msg;

/*!
 * Anybody on the fabric can send a trap. One is believed if the fabric as known agrees with it: its
 * issuer's LID is that of a port, the MAD came from the node of this port, and this node can send
 * such a trap.
 */

/*! \brief The port that has a LID. GRAPH_NONE: none. */
uint32_t trap_owner(const struct lids *l, uint32_t lid);

/*!
 * \brief Is this trap to be believed? If not, it is logged.
 *
 * \param g      The fabric as known. NULL: nothing is known yet, so nothing refutes a trap.
 * \param l      Its LIDs; read if there is a fabric.
 * \param m      A MAD that holds a Notice.
 * \param lines  Limit of the log lines.
 */
bool trap_believe(const struct graph *g, const struct lids *l, const struct mad_msg *m,
                  struct log_limit *lines, uint64_t now_ms);

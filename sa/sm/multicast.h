/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct job;
struct sm;

/*!
 * Multicast: groups and members of the durable state become trees over the present graph,
 * and the trees become tables. A heavy sweep does it after the unicast tables. Between
 * sweeps it is done alone when members come or go.
 */
struct multicast {
	struct sm *sm;
	struct arena *arena; /*!< of the step at work, NULL: none */
	uint64_t version;    /*!< of groups and members when the last step began */
};

/*! \brief Computes trees and queues the blocks that differ. \retval -ENOMEM */
int multicast_start(struct multicast *m, struct job *j);

/*! \brief When they are acknowledged, or the step was given up. */
void multicast_end(struct multicast *m);

/*! \brief Did groups or members change since the last start? */
bool multicast_changed(const struct multicast *m);

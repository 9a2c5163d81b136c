/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "db/stats/stats.h"

struct arena;

/*!
 * Is the fabric up, as far as a reader on the same machine can tell?
 */

/*! \brief Is a heartbeat (CLOCK_BOOTTIME ms, 0: none) recent enough? */
bool heartbeat_fresh(uint64_t heartbeat_ms, uint64_t now_ms);

/*!
 * \brief The most important reason why it is not ready.
 *
 * \param stats  NULL: there are none.
 * \param epoch  The published epoch, 0: none, for the reason \a why_no_epoch or NULL.
 * \return NULL: ready. Else one sentence in \a a.
 */
const char *ready_reason(const struct stats_copy *stats, uint64_t epoch,
                         const char *why_no_epoch, uint64_t now_ms, struct arena *a);

/*! \brief A number among the stats. \return false: not there. */
bool stats_number(const struct stats_copy *c, const char *name, double *ret_number);

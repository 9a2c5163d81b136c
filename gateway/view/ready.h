/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "db/stats.h"

struct arena;

/*!
 * Is the fabric up, as far as a reader on the same machine can tell?
 */

/*! \brief Is a heartbeat (CLOCK_BOOTTIME ms, 0: never) young enough? */
bool heartbeat_fresh(uint64_t heartbeat_ms, uint64_t now_ms);

/*!
 * \brief The reason why it is not ready, the one to look at first.
 *
 * \param stats  NULL: there are none.
 * \param epoch  Published one, 0: none; \a why_no_epoch then says why, or is NULL.
 * \return NULL: ready. Else one sentence in \a a.
 */
const char *ready_reason(const struct stats_copy *stats, uint64_t epoch,
                         const char *why_no_epoch, uint64_t now_ms, struct arena *a);

/*! \brief A number among the stats. \return false: not there. */
bool stats_number(const struct stats_copy *c, const char *name, double *ret);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "sa/path/path_query.h"

/*!
 * End ports by text, remembered while the snapshot is the same, because requests name the same
 * hosts again and again, and each name takes several searches of the database. Each publish of
 * the snapshot makes all of them unknown again.
 *
 * One per thread. The memory is bounded: there are ENDS_SLOTS places, some 3 MB, and each of
 * them keeps the last text that belongs there. Texts of ENDS_TEXT bytes or more are not kept.
 */
enum { ENDS_SLOTS = 1 << 14, ENDS_TEXT = 64 };

struct ends_slot;

/*! Zeroed is an empty memory. */
struct ends {
	struct ends_slot *slot;     /*!< [ENDS_SLOTS]; NULL: nothing was asked for yet */
	uint64_t epoch, txn, stamp; /*!< of the snapshot; counts the snapshots */
};

/*! \brief As endpoint_find(). Without memory it only takes longer. */
int ends_find(struct ends *e, struct snap_reader *r, const char *text,
              struct endpoint *ret);

/*! \brief Frees the memory; it is empty again. */
void ends_done(struct ends *e);

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
 * One per thread. The memory is bounded: there are ENDS_SLOTS places, some 5 MB; a text belongs to
 * four of them, which keep the last ones. Texts of ENDS_TEXT bytes or more are not kept.
 */
enum { ENDS_SLOTS = 1 << 15, ENDS_TEXT = 64 };

struct ends_slots;

/*! Zeroed is an empty memory. */
struct ends {
	struct ends_slots *slots;   /*!< NULL: nothing was asked for yet */
	unsigned n_kept;            /*!< texts, since the start */
	uint64_t epoch, txn, stamp; /*!< of the snapshot; counts the snapshots */
};

/*! \brief As endpoint_find(). Without memory it only takes longer. */
int ends_find(struct ends *e, struct snap_reader *r, const char *text,
              struct endpoint *ret_endpoint);

/*! \brief Frees the memory; it is empty again. */
void ends_done(struct ends *e);

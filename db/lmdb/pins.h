/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/lmdb/env.h"

/*!
 * Pins: read transactions that a writer holds on the epochs it has published. They keep
 * LMDB from reusing pages that a foreign reader, which has no slot of its own, may still
 * read. The newest epoch is always pinned; a superseded one stays pinned for the grace
 * period. Private to this room.
 *
 * LMDB looks only at the oldest reader, so a pin protects all epochs after it as well.
 * Epochs superseded within 1/32 of the grace period share the pin of the first of them,
 * which then lasts until the last of them may go. So there are at most PINS_MAX pins.
 */
enum { PINS_PER_GRACE = 32, PINS_MAX = PINS_PER_GRACE + 2 };

struct pin {
	MDB_txn *txn;
	uint64_t since_ms; /*!< when its epoch was superseded */
	uint64_t until_ms; /*!< when it may go */
};

struct pins {
	struct db *db;   /*!< borrowed */
	MDB_txn *newest; /*!< on the last commit */
	MDB_txn *spare; /*!< has a slot, is reset: renewing it cannot fail for lack of one
	                 */
	struct pin old[PINS_MAX]; /*!< oldest first */
	unsigned n;
	uint32_t grace_ms;
};

/*! \brief Pins the newest commit. */
int pins_init(struct pins *p, struct db *db, uint32_t grace_ms);
void pins_done(struct pins *p);

/*! \brief Before a commit: makes sure that pins_supersede() will not fail. */
int pins_prepare(struct pins *p);

/*! \brief Right after a commit: pins it, and sets the time limit of the pin before it. */
void pins_supersede(struct pins *p, uint64_t now_ms);

/*! \brief Drops the pins whose time is over. */
void pins_release(struct pins *p, uint64_t now_ms);

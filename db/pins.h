/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/env.h"

/*!
 * Pins: read transactions that a writer holds on the epochs it has published, so that
 * LMDB does not reuse their pages while a foreign reader, who has no slot of his own, may
 * still read them. The newest epoch is always pinned; a superseded one for the grace
 * period after that. Private to this room.
 *
 * LMDB looks only at the oldest reader, so a pin protects all epochs after it as well.
 * Epochs superseded within a 32nd of the grace share the pin of the first of them, which
 * then lasts until the last of them may go: never more than PINS_MAX.
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

/*! \brief Right after a commit: pins it; the pin before it gets its time limit. */
void pins_supersede(struct pins *p, uint64_t now_ms);

/*! \brief Drops what is over. */
void pins_release(struct pins *p, uint64_t now_ms);

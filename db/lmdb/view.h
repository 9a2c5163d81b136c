/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/lmdb/txn.h"

/*!
 * View: a reader's hold on one epoch of an environment with foreign readers. Private to
 * this room; the snapshot's and the stats' readers are made of it.
 *
 * Local (the writer's process): a read transaction with a slot; its pages are never
 * reused, nothing has to be checked.
 *
 * Foreign (no slot, no lock). The writer promises: pages of an epoch stay as they are
 * while it is the newest, and for the grace period after it was superseded. Hence
 *
 *   pin:    t := clock; c := count of writers; take the newest root; its head in `meta`
 *           must hold the root's own transaction id, else it was caught half written:
 *           again. So at time t the epoch was not yet superseded.
 *   read:   before each search of a tree the check below is made, so that LMDB is not let
 *           loose on pages that may have been reused. Pointers may be kept.
 *   check:  after reading. Still the newest: fine. Else the count of writers must still
 * be c (the pins of a writer that died are gone) and the clock before t + grace/2: what
 * was read is of one epoch. Otherwise E_STALE, whatever the reads returned.
 *
 * The clock is CLOCK_BOOTTIME: it never runs slower than the writer's, so an age seen
 * here is never less than the true one. The half of the grace that is not used covers the
 * time between the check before a search and its end; a process that is stopped for
 * longer than that inside one search (about 200 ns) may be killed by an assertion in
 * LMDB. It can not return what it saw there.
 */
struct view {
	struct db_txn t;
	bool foreign;
	uint64_t txn;         /*!< id of the pinned transaction */
	uint64_t verified_ms; /*!< when it was known to be the newest */
	uint64_t incarnation; /*!< count of writers then */
	uint32_t grace_ms;
	uint64_t (*clock_ms)(void *arg);
	void *clock_arg;
};

/*! \brief A view on \a db (a reference is taken). Nothing is pinned yet. */
void view_init(struct view *v, struct db *db, bool foreign);
void view_done(struct view *v);

/*!
 * \brief Takes the newest epoch.
 * \param ret_moved  Another one than before: borrowed pointers are dead. May be NULL.
 * \retval E_STALE  The root changed under us in every try. \retval E_MALFORMED
 */
int view_pin(struct view *v, bool *ret_moved);

/*! \brief Lets the epoch go without taking another. */
void view_unpin(struct view *v);

/*! \retval E_STALE */
int view_check(struct view *v);

/*! As db_get(), db_seek(), db_next(), with E_STALE in front. */
int view_get(struct view *v, unsigned table, const void *key, size_t key_len,
             struct db_val *ret_val);
int view_seek(struct view *v, unsigned table, const void *key, size_t key_len,
              struct db_val *ret_key, struct db_val *ret_val);
int view_next(struct view *v, unsigned table, struct db_val *ret_key,
              struct db_val *ret_val);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct change;
struct db_txn;
struct diff;
struct row_meta;
struct snap_reader;
struct snap_writer;

/*!
 * Changes from epoch to epoch. Each publish that begins an epoch records the rows that
 * it replaces, in the same transaction, in the table `changes` of the snapshot. A publish
 * within an epoch, which brings new port states, adds to the record of its epoch. So the
 * record of epoch E leads from the last rows of the epoch before E to the last rows of E,
 * and records in a row are composed: of each row the first old value and the last new one.
 *
 * The oldest records go first when all of them are larger than snap_options.history_bytes.
 * A record whose entries of forwarding tables take more than an eighth of that has only
 * their numbers. See doc/decisions/0016.
 */
enum change_kind {
	CHANGE_HEAD,    /*!< of a record; never in a list */
	CHANGE_ROUTING, /*!< struct row_routing; the key is empty */
	CHANGE_NODE,    /*!< a row of `nodes`, and so on */
	CHANGE_LINK,
	CHANGE_PORT,
	CHANGE_PARTITION,
	CHANGE_LFT, /*!< a chunk of `lft` */
	CHANGE_KINDS
};

/*! An entry of a forwarding table that changed. */
struct lft_change {
	uint16_t at;     /*!< LID in its chunk: LID % LFT_PER_CHUNK */
	uint8_t was, is; /*!< egress port, 0xff: no route */
};

/*! A row that differs. All pointers are borrowed until the next pin, or until the arena goes. */
struct snap_change {
	enum change_kind kind;
	const uint8_t *key; /*!< of the row in its table */
	size_t key_len;
	const uint8_t *was, *is; /*!< values; a length of 0: there is no such row */
	size_t was_len, is_len;
	/* of CHANGE_LFT instead of values: */
	uint32_t count;                   /*!< entries that differ */
	bool at_most;                     /*!< or that differed at some time between */
	const struct lft_change *entries; /*!< [count]; NULL: only their number is kept */
};

struct snap_changes {
	int64_t from_time, to_time; /*!< when these epochs were computed, 0: not kept */
	struct snap_change *list;   /*!< [n] by kind and key */
	size_t n;
};

/*!
 * \brief The oldest epoch that changes can be counted from.
 * \retval E_NOTFOUND  None is kept, not even for the newest epoch. \retval E_MALFORMED E_STALE
 */
int snap_changes_oldest(struct snap_reader *r, uint64_t *ret_oldest);

/*!
 * \brief The epoch that was published before \a epoch.
 * \retval E_NOTFOUND  It is not kept. \retval E_MALFORMED E_STALE
 */
int snap_changes_before(struct snap_reader *r, uint64_t epoch, uint64_t *ret_before);

/*!
 * \brief Changes after \a from, up to and with \a to. An epoch that was never published
 *        counts as the one before it.
 *
 * \param from  Not before the oldest one.
 * \retval E_MALFORMED E_STALE -ENOMEM
 * Cost: the records between, sorted: O(rows log rows) time, 64 bytes for each row.
 */
int snap_changes(struct snap_reader *r, uint64_t from, uint64_t to, struct arena *a,
                 struct snap_changes *ret_changes);

/* --- the writer's side, private to this room ------------------------------------------ */

enum { HISTORY_EPOCHS_MAX = 10000 };

/*! The records that are kept; part of struct snap_writer. */
struct history {
	uint64_t max_bytes;   /*!< 0: nothing is kept */
	uint64_t max_entries; /*!< of tables in one record; above, only numbers */
	uint64_t bytes;       /*!< as counted: keys, values and their administration */
	uint32_t epochs;
};

/*! A record that is being made. Zeroed is none. */
struct recording {
	struct arena *a;
	uint64_t epoch, since; /*!< since 0: there is nothing before this epoch */
	int64_t computed_at;
	uint64_t bytes;               /*!< of the record afterwards */
	bool fresh;                   /*!< the epoch has no record yet */
	bool clear;                   /*!< drop all that is kept */
	struct change *first, **last; /*!< without a value: a row to be deleted */
	uint32_t n;
};

/*! \brief Sets the limits, 0: off. */
void history_limit(struct history *h, uint64_t max_bytes);

/*! \brief Counts what the file has. \retval E_MALFORMED */
int history_open(struct history *h, struct db_txn *t);

/*!
 * \brief Before the stored rows are replaced: collects those that differ.
 *
 * \param d     Compared tables by number, with their read transactions still open.
 * \param meta  Head that will be written. \param engine  Engine used.
 * \retval -ENOMEM E_MALFORMED
 */
int history_collect(struct recording *rec, const struct snap_writer *w, struct diff *d,
                    const struct row_meta *meta, const char *engine);

/*!
 * \brief Writes the record and drops the oldest ones.
 * \param ret_history  What is kept if the transaction is committed.
 * \return Is the table another one than before?
 */
bool history_write(const struct recording *rec, const struct history *h, struct db_txn *t,
                   struct history *ret_history);

/*! \brief Instead of what was collected: nothing is kept from before this epoch. */
void history_forget(struct recording *rec);

void history_done(struct recording *rec);

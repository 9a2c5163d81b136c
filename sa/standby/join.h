/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/state/state.h"

/*!
 * What two masters were told while they were apart becomes one state.
 *
 * Each master keeps a log of the rows that changed since another subnet manager had all of its
 * rows. The one that becomes standby gives its log before it takes a copy. The master compares
 * each row with its own, in its own log and in its state:
 *
 *   row of the standby        the master's own
 *   added or changed          unchanged since the two were in step: the standby's is taken
 *   added or changed          changed, too, and different: the master's stays
 *   removed                   unchanged: it is removed, changed: it stays
 *   group                     there is one with this MGID: the master's stays, because its
 *                             members use that MLID
 *   group                     its MLID belongs to another group: it is dropped, with its members
 *   member                    its group is not there: it is dropped
 *
 * Each row that is dropped is a line of the log that names it. Rows are those of clients and of
 * partitions that operators made. LIDs are not joined, because the ports show theirs.
 */
enum {
	JOIN_LOG_BYTES = 64 << 20, /*!< of the log; what changes more is not joined */
	JOIN_NAME_BYTES = 200      /*!< of the name of a row */
};

/*! Rows in the format of frames, in the order of their commits. Zeroed is an empty one. */
struct join_log {
	uint8_t *bytes;
	size_t n, cap;
	size_t committed; /*!< bytes of whole transactions */
	size_t compacted; /*!< bytes after the last join_log_compact() */
	size_t missed;    /*!< changes for which there was no room */
};

/*! \brief Adds a change that was committed. LIDs and whole tables are left out. */
void join_log_add(struct join_log *l, const struct state_write *w);
/*! \brief The transaction is complete. */
void join_log_committed(struct join_log *l);
/*! \brief Others have all that was committed: forgets that. */
void join_log_settled(struct join_log *l);
/*! \brief Forgets all. */
void join_log_done(struct join_log *l);
/*! \brief Keeps the last change of each row, in the order of their keys.
 *  \retval -ENOMEM  The log is as before. Cost: O(n log n) */
int join_log_compact(struct join_log *l);

/*! \brief A compacted copy. \retval -ENOMEM */
int join_log_copy(const struct join_log *l, struct join_log *ret_log);

/*! Changes that a master makes for a standby that joins. */
struct join_counts {
	size_t taken, same, dropped;
};

/*!
 * \brief Compares the log of a standby with the state, and queues what is taken.
 *
 * \param own    What changed here since the two were in step; compacted.
 * \param rows   [len] Rows as in frames, each of which is good, by their keys.
 * \param from   The standby, for lines of the log.
 * \param done   As for state_batch_commit(); called on each success.
 * \retval -ENOMEM and others  Nothing was queued.
 * Cost: O(rows of the state + len * log)
 */
int join_rows(struct state *s, const struct join_log *own, const uint8_t *rows,
              size_t len, const char *from, void (*done)(void *ctx, int ret), void *ctx,
              struct join_counts *ret_counts);

/*! \brief Logs each row as one that is not known any more. \param why  Ends the line, with what separates it. */
void join_log_drop(struct join_log *l, const char *why);

/*! \brief What an operator calls a row. */
void join_row_name(const struct state_write *w, char name[JOIN_NAME_BYTES]);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/client_records.h"
#include "routing/graph/lids.h"

struct arena;

/*!
 * State environment: what must survive a crash and a power cut. Synced LMDB in
 * <state dir>/, written by one thread fed by a queue (group commit: a commit takes all
 * that waits, at most 5 ms). Opening takes an exclusive lock on <state dir>/lock for the
 * life of the process, so that a second daemon is refused.
 *
 * Tables: `lids` port GUID -> base LID, LMC, since when it is gone; `epoch` the last epoch handed out; `services`,
 * `subscriptions`, `groups`, `members`, `guids` and `aliases`, records that clients write
 * (sa/store/store.h knows their bytes); `partitions`, which operators make at run time
 * (sa/partition/runtime.h); `layout`.
 */
struct state;

/*!
 * \brief Opens or creates the state environment.
 *
 * \param why  Sentence for the operator on failure (arena string), names the folder and the remedy.
 * \retval E_LOCKED   Another saguarod uses the folder (its process id is in \a why).
 * \retval E_LAYOUT   Written by a newer Saguaro. \retval E_FOREIGN  Not a Saguaro database.
 * \retval -EACCES -ENOSPC -errno
 */
int state_open(const char *dir, struct arena *a, const char **ret_why,
               struct state **ret_state);

/*! \brief Ends the writing thread after its queue is empty, closes, unlocks. NULL is fine. */
void state_close(struct state *s);

/*! \brief As err_text(); of a damaged database a sentence in \a a with its folder, the row that was refused
 *  last, and the remedy. */
const char *state_err_text(struct state *s, int ret, struct arena *a);

/*! \brief All remembered LIDs, sorted by GUID, in \a a. */
int state_lids(struct state *s, struct arena *a, struct lid_memory **ret_memory,
               size_t *ret_n);

/*!
 * \brief Stores assignments; returns after the commit that holds them is on disk. Base LID 0
 *        removes that of a port.
 * \param forget  Drop all others first (reassign_lids).
 */
int state_put_lids(struct state *s, const struct lid_memory *m, size_t n, bool forget);

/*!
 * \brief A new epoch, larger than all before, durable before it returns.
 * \param above  And larger than this one: the one that is published (snap_epoch()), which
 *               outlives the state when that is lost.
 */
int state_next_epoch(struct state *s, uint64_t above, uint64_t *ret_epoch);

/*!
 * A number that stands for what was done once and is not to be done again, by its name
 * (1-100 bytes); put() returns when it is on disk.
 * \retval E_NOTFOUND  Never put.
 */
int state_mark_get(struct state *s, const char *name, uint64_t *ret_number);
int state_mark_put(struct state *s, const char *name, uint64_t value);

/*! Changes that become durable together, or not at all. */
struct state_batch;

/*! \retval -ENOMEM */
int state_batch_new(struct state_batch **ret_batch);
void state_batch_free(struct state_batch *b); /*!< NULL is fine */

/*!
 * \brief Adds a row, in place of one with the same key, or removes one. Bytes are copied.
 * \param key_len  1-511. \param value  NULL: remove; there need not be one.
 * \retval -ENOMEM
 */
int state_batch_put(struct state_batch *b, enum record_table table, const void *key,
                    size_t key_len, const void *value, size_t len);

/*! \brief Adds the rows of a batch behind those of another one, and frees it. */
void state_batch_join(struct state_batch *to, struct state_batch *from);

/*!
 * \brief Sets memory aside, so that the next \a n removals of rows whose keys have at most
 *        STATE_RESERVED_KEY_BYTES cannot fail.
 * \retval -ENOMEM
 */
enum { STATE_RESERVED_KEY_BYTES = 64 };
int state_batch_reserve(struct state_batch *b, size_t n);

/*!
 * \brief Queues a batch, which is the queue's from now on. Does not wait. Batches are
 *        committed in the order of these calls.
 * \param done  Called on the writing thread when the batch is on disk, or with why it is not.
 *        Must not wait for the state.
 */
void state_batch_commit(struct state *s, struct state_batch *b,
                        void (*done)(void *ctx, int ret), void *ctx);

/*! \brief Returns when all that was queued before is settled and its done() have returned. */
void state_flush(struct state *s);

/*! \brief How many changes of a table were committed since the start: tells that it is to be read again. Any thread. */
uint64_t state_version(const struct state *s, enum record_table table);

/*!
 * \brief Calls \a f for each row whose change was committed since the last call, by table and
 *        key, with the value that it has now, or without one when it is gone; borrowed for
 *        the call.
 *
 * For one thread. A change that is committed during the call may be reported by this call
 * and again by the next one.
 * \retval E_STALE  The changes are not known (first call, or too many since the last): read all
 *                  with state_records().
 * \retval others  The first failure of f, or of the database; the next call says E_STALE.
 * Cost: O(changes * log rows).
 */
int state_changes(struct state *s, int (*f)(void *ctx, const struct client_row *row),
                  void *ctx);

/*! \brief Calls \a f for each row by key; bytes are borrowed for the call. \return The first failure of f, or of
 *  the database. With E_MALFORMED of f state_err_text() names the row. */
int state_records(struct state *s, enum record_table table,
                  int (*f)(void *ctx, const uint8_t *key, size_t key_len,
                           const uint8_t *value, size_t len),
                  void *ctx);

/* --- copies for other daemons ------------------------------------------------------------ */

/*!
 * Copies of the durable state: one daemon gives its rows and all later changes away, another
 * one takes them over. LIDs and client records are copied. Epochs and marks belong to one
 * machine and are not.
 */

/*! A table of the state that is copied: LIDs, then the client records by enum record_table. */
enum state_copied {
	COPIED_LIDS,
	COPIED_RECORDS,
	COPIED_TABLES = COPIED_RECORDS + RECORD_TABLES
};

enum {
	STATE_COPY_FORMAT = 9, /*!< number of the byte layouts of rows: LAYOUT_STATE */
	STATE_KEY_MAX = 511,   /*!< bytes of a key */
	STATE_VALUE_MAX = UINT16_MAX /*!< bytes of a value */
};

/*! One change of a transaction; the bytes are borrowed. */
struct state_write {
	uint8_t table; /*!< enum state_copied */
	bool clears;   /*!< all rows of the table are removed; there is no key */
	uint16_t key_len;
	uint32_t len;
	const uint8_t *key, *value; /*!< value NULL: the row is removed */
};

/*! Read transaction over all copied tables. */
struct state_copy;

/*! Is shown what is committed, on the writing thread. It outlives state_follow_end(). */
struct state_follower {
	void (*write)(void *ctx,
	              const struct state_write *w); /*!< each change, in order */
	void (*committed)(void *ctx); /*!< the transaction is complete; must not wait */
	/*! Before anybody is told that the transaction is durable; may wait. */
	void (*settle)(void *ctx);
	void *ctx;
};

/*!
 * \brief Opens a view of all rows, and lets a follower see all later changes: no change is
 *        missing, and none is in both.
 *
 * \param f      Borrowed; replaces the earlier one. NULL: a view only.
 * \param begun  Called when the view is open and no later change was shown yet; or NULL.
 */
int state_copy_begin(struct state *s, const struct state_follower *f,
                     void (*begun)(void *ctx), void *ctx, struct state_copy **ret_copy);
void state_copy_end(struct state_copy *c); /*!< NULL is fine */

/*! \brief The next row. \retval E_NOTFOUND  That was the last. */
int state_copy_next(struct state_copy *c, struct state_write *ret_write);

/*! \brief Nobody follows any more, and no call is under way when it returns. */
void state_follow_end(struct state *s);

/*! \brief Has a row of partitions of another daemon the lengths that readers rely on?
 *  \param value  NULL: only the key is of interest. */
bool state_partition_fits(const uint8_t *key, size_t key_len, const void *value,
                          size_t len);

/*! \brief Is this a row of LIDs that a port can have? */
bool state_lid_fits(size_t key_len, const void *value, size_t len);

/*! Where a copied state comes from, and how far it is. */
struct state_copy_mark {
	uint64_t guid;     /*!< port GUID of the master; 0: the state is no copy */
	uint64_t prefix;   /*!< of the subnet */
	uint64_t sequence; /*!< of the last transaction that it has */
	uint64_t time_s;   /*!< when that was stored, seconds since 1970 */
	bool complete;     /*!< it was in step with the master when this was stored */
};

/*! \brief \retval E_OK  ret->guid 0 when the state is no copy. */
int state_copy_mark(struct state *s, struct state_copy_mark *ret_copy_mark);

/*!
 * \brief Makes changes of another daemon durable with the mark, all or none.
 * \param w        [n] In order.
 * \param replace  All rows of the copied tables are removed first.
 */
int state_apply(struct state *s, const struct state_write *w, size_t n, bool replace,
                const struct state_copy_mark *mark);

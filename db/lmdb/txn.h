/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/lmdb/env.h"

/*!
 * Sticky transaction: after the first failure further calls do nothing, and db_commit()
 * aborts and returns that failure. So one test at the end is enough. "Not found" is an
 * answer, not a failure. Private to this room.
 */
struct db_txn {
	struct db *db; /*!< borrowed */
	MDB_txn *txn;  /*!< NULL: a reader in another process, which has trees */
	struct tree_txn trees;
	struct tree_root root[DB_TABLES_MAX];
	bool root_known[DB_TABLES_MAX];
	struct tree_cursor at[DB_TABLES_MAX];
	int ret;
	bool write;
	bool live; /*!< false: a read transaction that is reset */
	MDB_cursor *cursor[DB_TABLES_MAX];
	bool cursor_live[DB_TABLES_MAX];
};

/*! Borrowed bytes, 2-byte aligned at most: valid until the transaction ends. */
struct db_val {
	const uint8_t *data;
	size_t len;
};

/*! \brief Error code of an LMDB return code. */
int db_err(int mdb_ret);

/*!
 * \brief Is the file of a writer's environment as long as its last commit left it? Every transaction
 *        asks before it reads a page. A system call.
 * \param write  Ends the process where the contents are made anew, because the next start makes them. Without
 *               the others saguarod can still lead the fabric.
 * \retval E_MALFORMED  It was cut short.
 */
int db_check_length(const struct db *db, bool write);

int db_begin(struct db_txn *t, struct db *db, bool write);
/*! \brief Its number, while it is live. */
uint64_t db_txn_id(const struct db_txn *t);
/*! \brief Number of rows of a table; 0 after a failure. */
uint64_t db_count(struct db_txn *t, unsigned table);
/*! \brief Commits, or aborts when something failed before. \return The first failure. */
int db_commit(struct db_txn *t);
void db_abort(struct db_txn *t); /*!< zeroed or ended is fine */

/*! Read transactions: db_reset() releases the epoch and keeps the slot, db_renew() takes
 * the newest epoch. */
void db_reset(struct db_txn *t);
int db_renew(struct db_txn *t);

/*! \retval E_NOTFOUND */
int db_get(struct db_txn *t, unsigned table, const void *key, size_t key_len,
           struct db_val *ret_val);
/*! Like db_get(), cheaper for keys that ascend and lie close together. */
int db_find(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            struct db_val *ret_val);
/*! First row with a key >= \a key; key_len 0: the first. \retval E_NOTFOUND */
int db_seek(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            struct db_val *ret_key, struct db_val *ret_val);
/*! The row after the one that db_seek() or db_next() returned last. \retval E_NOTFOUND */
int db_next(struct db_txn *t, unsigned table, struct db_val *ret_key,
            struct db_val *ret_val);

void db_put(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            const void *val, size_t len);
/*! Like db_put() for a key above all others of the table. */
void db_append(struct db_txn *t, unsigned table, const void *key, size_t key_len,
               const void *val, size_t len);
void db_del(struct db_txn *t, unsigned table, const void *key, size_t key_len);
/*! Stores a row, or deletes it if \a val is NULL; as cheap as db_find(). \return Did it
 * differ from what was stored? */
bool db_set(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            const void *val, size_t len);
void db_clear(struct db_txn *t, unsigned table);

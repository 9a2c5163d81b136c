/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/env.h"

/*!
 * Sticky transaction: after the first failure every further call does nothing, and
 * db_commit() turns into an abort that returns that failure. One test at the end is
 * enough. "Not found" is an answer, not a failure. Private to this room.
 */
struct db_txn {
	struct db *db; /*!< borrowed */
	MDB_txn *txn;
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
int db_err(int rc);

int db_begin(struct db_txn *t, struct db *db, bool write);
/*! \brief Commits, or aborts when something failed before. \return The first failure. */
int db_commit(struct db_txn *t);
void db_abort(struct db_txn *t); /*!< zeroed or ended is fine */

/*! Read transactions: give the epoch up but keep the slot; take the newest one. */
void db_reset(struct db_txn *t);
int db_renew(struct db_txn *t);

/*! \retval E_NOTFOUND */
int db_get(struct db_txn *t, unsigned table, const void *key, size_t key_len,
           struct db_val *ret);
/*! Like db_get(), cheaper for keys that ascend and lie close together. */
int db_find(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            struct db_val *ret);
/*! First row with a key >= \a key; key_len 0: the first. \retval E_NOTFOUND */
int db_seek(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            struct db_val *ret_key, struct db_val *ret);
/*! Row after the last one db_seek() or db_next() gave. \retval E_NOTFOUND */
int db_next(struct db_txn *t, unsigned table, struct db_val *ret_key, struct db_val *ret);

void db_put(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            const void *val, size_t len);
/*! Like db_put() for a key above all others of the table. */
void db_append(struct db_txn *t, unsigned table, const void *key, size_t key_len,
               const void *val, size_t len);
void db_del(struct db_txn *t, unsigned table, const void *key, size_t key_len);
/*! Makes a row so, or with \a val NULL gone; cheap as db_find(). \return Was it
 * different? */
bool db_set(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            const void *val, size_t len);
void db_clear(struct db_txn *t, unsigned table);

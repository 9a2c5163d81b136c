/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "db/lmdb/txn.h"

struct arena;

/*!
 * Difference of a table: new rows against the stored ones, both in key order. The rows
 * that differ are listed here and written later. So several tables are compared at the
 * same time, each by one thread with a read transaction of its own. Private to this room.
 */
struct change {
	struct change *next;
	const uint8_t *val; /*!< NULL: delete */
	uint32_t len;
	uint16_t key_len;
	uint8_t key[];
};

struct diff {
	struct db_txn t; /*!< reads the stored rows */
	unsigned table;
	int ret;        /*!< sticky */
	bool sparse; /*!< rows that are not offered stay as they are */
	bool was_empty; /*!< then all changes are rows above what is stored */
	bool more;      /*!< key and val hold a stored row that is not yet matched */
	struct db_val key, val;
	struct arena *a; /*!< made with the first change; holds the list */
	struct change *first, **last;
	uint32_t n;
	uint64_t bytes; /*!< of values to be written */
	struct stored_chunk
		*stored; /*!< where stored chunks lie, see diff_find_chunks() */
};

/*! \brief Starts comparing; the newest epoch is read. Failures stick in d->ret. */
void diff_begin(struct diff *d, struct db *db, unsigned table);

/*! \brief The same where most rows stay as they are, which need not be offered. */
void diff_begin_sparse(struct diff *d, struct db *db, unsigned table);

/*! \brief The next new row; keys ascend. \a val is copied if it differs. */
void diff_row(struct diff *d, const void *key, size_t key_len, const void *val,
              size_t len);

/*! \brief Goes to the key that is offered next. \return Is it stored? Then d->val is its value. */
bool diff_at(struct diff *d, const void *key, size_t key_len);

/*! \brief Marks a row for deletion, if it is stored. Of a sparse comparison. */
void diff_delete(struct diff *d, const void *key, size_t key_len);

/*! \brief Keeps the row that diff_at() found; call it instead of diff_row(). */
void diff_keep(struct diff *d);

/*! \brief Marks the remaining stored rows for deletion. \return d->ret */
int diff_end(struct diff *d);

/*!
 * A table of long rows cut into chunks: row r is bytes [0, row_bytes) at base + r *
 * stride. Compared in parallel; chunks are written from where they lie, without a copy.
 */
struct chunk_rows {
	const uint64_t *guid; /*!< [n_rows] ascending */
	const uint8_t *base;
	size_t stride, row_bytes;
	uint32_t n_rows;
	uint8_t none; /*!< a chunk of nothing but this byte is not stored */
	const uint8_t *
		same; /*!< [chunks of a row] 1: it is as it is stored, of all rows; then the same rows are
	                        stored. NULL: unknown */
};

/*! \brief Lists where the stored chunks lie; one thread per table. */
int diff_find_chunks(struct diff *d, const struct chunk_rows *c);

/*! \brief After that, instead of diff_row() and diff_end(). \a c is borrowed until
 * diff_apply(). */
int diff_chunks(struct diff *d, const struct chunk_rows *c);

/*! \brief Writes the changes. */
void diff_apply(const struct diff *d, struct db_txn *t);

/*! \brief Ends the read transaction and frees the list. */
void diff_done(struct diff *d);

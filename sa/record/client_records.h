/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "sa/store/store.h"

struct sa_query;
struct snap_reader;

/*!
 * Walks over records that clients write, wherever they are at hand: in the store of the
 * daemon that answers, else as the snapshot mirrors them. Rows ascend by key.
 */
struct written_walk {
	const struct sa_store *st; /*!< NULL: the snapshot's */
	struct snap_reader *r;
	enum record_table table;
	const struct store_row *at; /*!< next row of the store, NULL: none */
};

struct written_record {
	struct client_row
		row; /*!< value: behind the expiry; borrowed until the next step */
	int64_t expires;
};

/*!
 * \brief The first row with a key not below the given one.
 * \param key_len  0: the first of all.
 * \retval E_NOTFOUND  There is none. \retval E_STALE E_MALFORMED
 */
int written_from(struct snap_reader *r, const struct sa_query *q, enum record_table table,
                 const void *key, size_t key_len, struct written_walk *w,
                 struct written_record *ret);

/*! \brief written_from() where the query says: from its from_key on, when that is further. */
int written_from_query(struct snap_reader *r, const struct sa_query *q,
                       enum record_table table, const void *key, size_t key_len,
                       struct written_walk *w, struct written_record *ret);

/*! \brief The row after that. No other walk of the same table may have begun meanwhile. */
int written_next(struct written_walk *w, struct written_record *ret);

/*! \brief Does the row's key begin with these bytes? */
bool written_begins(const struct written_record *rec, const void *key, size_t key_len);

/*! \brief The time by which expiries are judged: of the store, or of the query. */
int64_t written_now(const struct sa_query *q);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "sa/store/store.h"

struct sa_query;
struct snap_reader;

/*!
 * Walks over client records: in the store of the daemon that answers, else in the snapshot,
 * which has a copy. Rows are in the order of their keys.
 */
struct client_walk {
	const struct sa_store *st; /*!< NULL: walks over the snapshot */
	struct snap_reader *r;
	enum record_table table;
	const struct store_row *at; /*!< next row of the store, NULL: none */
};

struct client_record {
	struct client_row row; /*!< borrowed until the next step; the value without the expiry */
	int64_t expires;
};

/*!
 * \brief The first row whose key is not below \a key.
 * \param key_len  0: the first row of the table.
 * \retval E_NOTFOUND  There is none. \retval E_STALE E_MALFORMED
 */
int client_record_seek(struct snap_reader *r, const struct sa_query *q,
                       enum record_table table, const void *key, size_t key_len,
                       struct client_walk *w, struct client_record *ret_record);

/*! \brief client_record_seek() at the page of the query: from its from_key on, if it has one. */
int client_record_seek_page(struct snap_reader *r, const struct sa_query *q,
                            enum record_table table, const void *key, size_t key_len,
                            struct client_walk *w, struct client_record *ret_record);

/*! \brief The next row. No other walk of the same table may begin between two calls. */
int client_record_next(struct client_walk *w, struct client_record *ret_record);

/*! \brief Whether the row's key begins with these bytes. */
bool client_record_has_prefix(const struct client_record *rec, const void *key, size_t key_len);

/*! \brief The time to compare expiries with: that of the store or of the query. */
int64_t client_record_now(const struct sa_query *q);

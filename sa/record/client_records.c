/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/record/client_records.h"

#include <string.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "sa/record/record.h"

static int next_of_store(struct client_walk *w, struct client_record *ret_record)
{
	const struct store_row *row = w->at;

	if (row == NULL) {
		return E_NOTFOUND;
	}
	*ret_record = (struct client_record){ .row = { .key = row->bytes,
		                                       .value = store_value(row),
		                                       .table = w->table,
		                                       .key_len = row->key_len,
		                                       .len = row->len },
		                              .expires = row->expires };
	w->at = store_next(w->st, w->table, row);
	return E_OK;
}

/* The value of a row of the snapshot begins with its expiry. */
static int decode_snapshot_row(int found, struct client_record *ret_record)
{
	if (found == E_OK && ret_record->row.len < sizeof(ret_record->expires)) {
		return E_MALFORMED;
	}
	if (found == E_OK) {
		memcpy(&ret_record->expires, ret_record->row.value,
		       sizeof(ret_record->expires));
		ret_record->row.value += sizeof(ret_record->expires);
		ret_record->row.len -= (uint16_t)sizeof(ret_record->expires);
	}
	return found;
}

int client_record_seek(struct snap_reader *r, const struct sa_query *q,
                       enum record_table table, const void *key, size_t key_len,
                       struct client_walk *w, struct client_record *ret_record)
{
	*w = (struct client_walk){ .st = q->store, .r = r, .table = table };
	if (w->st == NULL) {
		return decode_snapshot_row(
			snap_client_row_from(r, table, key, key_len, &ret_record->row),
			ret_record);
	}
	w->at = store_seek(w->st, table, key, key_len);
	return next_of_store(w, ret_record);
}

int client_record_seek_page(struct snap_reader *r, const struct sa_query *q,
                            enum record_table table, const void *key, size_t key_len,
                            struct client_walk *w, struct client_record *ret_record)
{
	if (q->from_key != NULL) {
		key = q->from_key;
		key_len = q->from_key_len;
	}
	return client_record_seek(r, q, table, key, key_len, w, ret_record);
}

int client_record_next(struct client_walk *w, struct client_record *ret_record)
{
	return w->st != NULL ? next_of_store(w, ret_record)
	                     : decode_snapshot_row(snap_client_row_next(w->r, w->table,
	                                                                &ret_record->row),
	                                           ret_record);
}

bool client_record_has_prefix(const struct client_record *rec, const void *key,
                              size_t key_len)
{
	return rec->row.key_len >= key_len && memcmp(rec->row.key, key, key_len) == 0;
}

int64_t client_record_now(const struct sa_query *q)
{
	return q->store != NULL ? store_now(q->store) : q->now;
}

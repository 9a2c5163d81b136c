/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/record/client_records.h"

#include <string.h>

#include "conf/base/err.h"
#include "db/reader.h"
#include "sa/record/record.h"

static int from_store(struct written_walk *w, struct written_record *ret)
{
	const struct store_row *row = w->at;

	if (row == NULL) {
		return E_NOTFOUND;
	}
	*ret = (struct written_record){ .row = { .key = row->bytes,
		                                 .value = store_value(row),
		                                 .table = w->table,
		                                 .key_len = row->key_len,
		                                 .len = row->len },
		                        .expires = row->expires };
	w->at = store_next(w->st, w->table, row);
	return E_OK;
}

/* A row of the snapshot has its expiry in front of the value. */
static int from_snapshot(int found, struct written_record *ret)
{
	if (found == E_OK && ret->row.len < sizeof(ret->expires)) {
		return E_MALFORMED;
	}
	if (found == E_OK) {
		memcpy(&ret->expires, ret->row.value, sizeof(ret->expires));
		ret->row.value += sizeof(ret->expires);
		ret->row.len -= (uint16_t)sizeof(ret->expires);
	}
	return found;
}

int written_from(struct snap_reader *r, const struct sa_query *q, enum record_table table,
                 const void *key, size_t key_len, struct written_walk *w,
                 struct written_record *ret)
{
	*w = (struct written_walk){ .st = q->store, .r = r, .table = table };
	if (w->st == NULL) {
		return from_snapshot(
			snap_client_row_from(r, table, key, key_len, &ret->row), ret);
	}
	w->at = store_seek(w->st, table, key, key_len);
	return from_store(w, ret);
}

int written_from_query(struct snap_reader *r, const struct sa_query *q,
                       enum record_table table, const void *key, size_t key_len,
                       struct written_walk *w, struct written_record *ret)
{
	if (q->from_key != NULL) {
		key = q->from_key;
		key_len = q->from_key_len;
	}
	return written_from(r, q, table, key, key_len, w, ret);
}

int written_next(struct written_walk *w, struct written_record *ret)
{
	return w->st != NULL
	               ? from_store(w, ret)
	               : from_snapshot(snap_client_row_next(w->r, w->table, &ret->row),
	                               ret);
}

bool written_begins(const struct written_record *rec, const void *key, size_t key_len)
{
	return rec->row.key_len >= key_len && memcmp(rec->row.key, key, key_len) == 0;
}

int64_t written_now(const struct sa_query *q)
{
	return q->store != NULL ? store_now(q->store) : q->now;
}

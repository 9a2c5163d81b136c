/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Mirrors client records into the snapshot between publishes. One write transaction
 * writes the rows that differ, and the head with a new transaction id and new versions of
 * these tables; the other members of the head stay as the last publish wrote them.
 *
 * If the caller names the changed rows, each is looked up and compared in the write
 * transaction. If the caller passes all rows, they are first compared through read
 * transactions, as a publish does, because that also finds stored rows that are gone.
 */
#include "db/snapshot/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/lmdb/diff.h"
#include "db/lmdb/layout.h"
#include "db/snapshot/snapshot_int.h"

/* The rows to mirror, and how many of them differ. */
struct mirror {
	const struct client_row *rows;
	size_t n;
	struct diff
		*d; /* [RECORDS_MIRRORED] all rows were passed; NULL: changed ones only */
	uint32_t changed[RECORDS_MIRRORED];
	uint64_t bytes;
};

/* The differences, table by table. */
static int compare_rows(struct mirror *m)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct client_row *row = &m->rows[i];
		if (row->value) {
			diff_row(&m->d[row->table - RECORDS_MIRRORED_FIRST], row->key, row->key_len, row->value,
			         row->len);
		}
	}
	for (unsigned i = 0; i < RECORDS_MIRRORED; i++) {
		if (diff_end(&m->d[i]) != E_OK) {
			return m->d[i].ret;
		}
	}
	return E_OK;
}

static void apply_rows(struct mirror *m, struct db_txn *t)
{
	for (size_t i = 0; i < m->n && t->ret == E_OK; i++) {
		const struct client_row *row = &m->rows[i];
		if (db_set(t, SNAP_CLIENT_TABLE(row->table), row->key,
		           row->key_len, row->value, row->len)) {
			m->changed[row->table - RECORDS_MIRRORED_FIRST]++;
			m->bytes += row->value ? row->len : 0;
		}
	}
}

static uint32_t count_changes(const struct mirror *m)
{
	uint32_t n = 0;
	for (unsigned i = 0; i < RECORDS_MIRRORED; i++) {
		n += m->changed[i];
	}
	return n;
}

/* The head as it is stored, with its texts. \return Bytes, 0: failed. */
static size_t copy_head(struct db_txn *t, uint8_t **ret_head)
{
	struct db_val v;
	int ret = db_get(t, SNAP_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &v);
	if (ret != E_OK || v.len < sizeof(struct row_meta)) {
		t->ret = t->ret ? t->ret : E_MALFORMED;
		return 0;
	}
	*ret_head = malloc(v.len);
	if (!*ret_head) {
		t->ret = -ENOMEM;
		return 0;
	}
	memcpy(*ret_head, v.data, v.len);
	return v.len;
}

/* If no row differs, nothing is committed and the transaction id of \a meta is 0. */
static int commit_mirror(struct snap_writer *w, struct mirror *m, struct row_meta *meta)
{
	struct db_txn t;
	uint8_t *head = NULL;
	size_t len = 0;
	int ret = db_begin(&t, w->db, true);
	if (ret != E_OK) {
		return ret;
	}
	meta->head.txn = mdb_txn_id(t.txn);
	for (unsigned i = 0; m->d && i < RECORDS_MIRRORED; i++) {
		diff_apply(&m->d[i], &t);
		m->changed[i] = m->d[i].n;
		m->bytes += m->d[i].bytes;
	}
	if (!m->d) {
		apply_rows(m, &t);
	}
	if (t.ret == E_OK && count_changes(m) == 0) {
		meta->head.txn = 0;
		db_abort(&t);
		return E_OK;
	}
	for (unsigned i = 0; i < RECORDS_MIRRORED; i++) {
		if (m->changed[i]) {
			meta->version[SNAP_CLIENT_TABLE(RECORDS_MIRRORED_FIRST + i)] = meta->head.txn;
		}
	}
	len = copy_head(&t, &head);
	if (len) {
		memcpy(head, meta, sizeof(*meta));
		db_put(&t, SNAP_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), head, len);
	}
	free(head);
	return db_commit(&t);
}

static int write_changes(struct snap_writer *w, struct mirror *m, uint64_t now_ms,
                         struct snap_published *ret_published)
{
	struct row_meta meta = w->last;
	int ret = pins_prepare(&w->pins);
	if (ret == E_OK) {
		ret = commit_mirror(w, m, &meta);
	}
	if (ret == E_OK) {
		*ret_published = (struct snap_published){ .txn = meta.head.txn,
			                                  .rows = count_changes(m),
			                                  .bytes = m->bytes };
	}
	if (ret == E_OK && ret_published->txn) {
		pins_supersede(&w->pins, now_ms);
		w->last = meta;
	}
	return ret;
}

static int mirror_all(struct snap_writer *w, const struct client_row *rows, size_t n,
                      uint64_t now_ms, struct snap_published *ret_published)
{
	struct diff d[RECORDS_MIRRORED];
	struct mirror m = { .rows = rows, .n = n, .d = d };
	for (unsigned i = 0; i < RECORDS_MIRRORED; i++) {
		diff_begin(&d[i], w->db, SNAP_CLIENT_TABLE(RECORDS_MIRRORED_FIRST + i));
	}
	int ret = compare_rows(&m);
	for (unsigned i = 0; i < RECORDS_MIRRORED; i++) {
		db_abort(
			&d[i].t); /* the write may then reuse the pages that these have read */
	}
	if (ret == E_OK) {
		ret = write_changes(w, &m, now_ms, ret_published);
	}
	for (unsigned i = 0; i < RECORDS_MIRRORED; i++) {
		diff_done(&d[i]);
	}
	return ret;
}

int snap_mirror(struct snap_writer *w, const struct client_row *rows, size_t n, bool all,
                uint64_t now_ms, struct snap_published *ret_published)
{
	struct mirror m = { .rows = rows, .n = n };
	if (w->last.epoch == 0) {
		return E_NOTREADY;
	}
	pins_release(&w->pins, now_ms);
	return all ? mirror_all(w, rows, n, now_ms, ret_published)
	           : write_changes(w, &m, now_ms, ret_published);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Mirroring what clients write into the snapshot, between publishes. As a publish does,
 * rows are compared through read transactions first, then one write transaction holds
 * what differs and the head, which keeps all of the last publish but its transaction id
 * and the versions of these tables.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/err.h"
#include "db/diff.h"
#include "db/snapshot.h"
#include "db/snapshot_int.h"

/* What differs, table by table. */
static int compare(struct diff *d, const struct written_row *rows, size_t n, bool all)
{
	for (size_t i = 0; i < n; i++) {
		const struct written_row *row = &rows[i];
		if (all && row->value) {
			diff_row(&d[row->table], row->key, row->key_len, row->value,
			         row->len);
		} else if (!all) {
			diff_set(&d[row->table], row->key, row->key_len, row->value,
			         row->len);
		}
	}
	for (unsigned i = 0; i < RECORDS_MIRRORED; i++) {
		if (all) {
			diff_end(&d[i]);
		}
		if (d[i].ret != E_OK) {
			return d[i].ret;
		}
	}
	return E_OK;
}

/* The head as it is stored, with its texts. \return Bytes, 0: failed. */
static size_t copy_head(struct db_txn *t, uint8_t **ret)
{
	struct db_val v;
	int res = db_get(t, SNAP_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &v);
	if (res != E_OK || v.len < sizeof(struct row_meta)) {
		t->ret = t->ret ? t->ret : E_MALFORMED;
		return 0;
	}
	*ret = malloc(v.len);
	if (!*ret) {
		t->ret = -ENOMEM;
		return 0;
	}
	memcpy(*ret, v.data, v.len);
	return v.len;
}

static int commit(struct snap_writer *w, const struct diff *d, struct row_meta *meta)
{
	struct db_txn t;
	uint8_t *head = NULL;
	int ret = db_begin(&t, w->db, true);
	if (ret != E_OK) {
		return ret;
	}
	meta->head.txn = mdb_txn_id(t.txn);
	size_t len = copy_head(&t, &head);
	for (unsigned i = 0; i < RECORDS_MIRRORED && len; i++) {
		if (d[i].n) {
			meta->version[VERSION_WRITTEN + i] = meta->head.txn;
			diff_apply(&d[i], &t);
		}
	}
	if (len) {
		memcpy(head, meta, sizeof(*meta));
		db_put(&t, SNAP_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), head, len);
	}
	free(head);
	return db_commit(&t);
}

static int write_changes(struct snap_writer *w, const struct diff *d, uint64_t now_ms,
                         struct snap_published *ret)
{
	struct row_meta meta = w->last;
	int res = pins_prepare(&w->pins);
	if (res == E_OK) {
		res = commit(w, d, &meta);
	}
	if (res == E_OK) {
		pins_supersede(&w->pins, now_ms);
		w->last = meta;
		ret->txn = meta.head.txn;
	}
	return res;
}

int snap_mirror(struct snap_writer *w, const struct written_row *rows, size_t n, bool all,
                uint64_t now_ms, struct snap_published *ret)
{
	struct diff d[RECORDS_MIRRORED];
	struct snap_published done = { .rows = 0 };
	if (w->last.epoch == 0) {
		return E_NOTREADY;
	}
	pins_release(&w->pins, now_ms);
	for (unsigned i = 0; i < RECORDS_MIRRORED; i++) {
		diff_begin(&d[i], w->db, SNAP_SERVICES + i);
	}
	int res = compare(d, rows, n, all);
	for (unsigned i = 0; i < RECORDS_MIRRORED; i++) {
		db_abort(&d[i].t); /* the write may reuse what these no longer read */
		done.rows += d[i].n;
		done.bytes += d[i].bytes;
	}
	if (res == E_OK && done.rows) {
		res = write_changes(w, d, now_ms, &done);
	}
	for (unsigned i = 0; i < RECORDS_MIRRORED; i++) {
		diff_done(&d[i]);
	}
	if (res == E_OK) {
		*ret = done;
	}
	return res;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/lmdb/txn.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/err.h"

enum { SLACK_PAGES = 64 };

int db_err(int mdb_ret)
{
	switch (mdb_ret) {
	case MDB_SUCCESS: return E_OK;
	case MDB_NOTFOUND: return E_NOTFOUND;
	case MDB_MAP_FULL:
	case MDB_TXN_FULL:
	case ENOSPC:
	case EDQUOT:
	case EFBIG: return E_FULL;
	case MDB_INVALID: return E_FOREIGN;
	case MDB_VERSION_MISMATCH: return E_LAYOUT;
	case MDB_PANIC: return -EIO;
	case MDB_READERS_FULL:
	case MDB_DBS_FULL: return -EMFILE;
	default:
		/* the other codes of LMDB mean a damaged tree */
		return mdb_ret > 0 ? -mdb_ret : E_MALFORMED;
	}
}

/* Takes the newest transaction of trees that are read without LMDB. */
static int begin_trees(struct db_txn *t)
{
	memset(t->root_known, 0, sizeof(t->root_known));
	memset(t->at, 0, sizeof(t->at));
	t->ret = tree_begin(&t->db->trees, &t->trees);
	t->live = t->ret == E_OK;
	return t->ret;
}

/*
 * Is the file shorter than the last commit left it? LMDB trusts the pages that it has mapped, and
 * writes would make the file as long as it was, with holes. Transactions that are open do not notice
 * it (cut.h).
 */
static bool is_cut_short(const struct db *db)
{
	const int64_t end = atomic_load(&db->end_bytes);
	mdb_filehandle_t fd;
	struct stat st;

	return end != 0 && mdb_env_get_fd(db->env, &fd) == 0 && fstat(fd, &st) == 0 &&
	       st.st_size < end;
}

int db_check_length(const struct db *db, bool write)
{
	if (!is_cut_short(db)) {
		return E_OK;
	}
	if (write && db->kind->rebuilt) {
		db_end_process(db);
	}
	return E_MALFORMED;
}

int db_begin(struct db_txn *t, struct db *db, bool write)
{
	memset(t, 0, sizeof(*t));
	t->db = db;
	t->write = write;
	if (db->env == NULL) {
		return begin_trees(t);
	}
	t->ret = db_check_length(db, write);
	if (t->ret != E_OK) {
		return t->ret;
	}
	int mdb_ret = mdb_txn_begin(db->env, NULL, write ? 0 : MDB_RDONLY, &t->txn);
	t->ret = db_err(mdb_ret);
	t->live = t->ret == E_OK;
	if (t->ret != E_OK) {
		t->txn = NULL;
	}
	return t->ret;
}

static void close_cursors(struct db_txn *t)
{
	for (unsigned i = 0; i < DB_TABLES_MAX; i++) {
		if (t->cursor[i]) {
			mdb_cursor_close(t->cursor[i]);
			t->cursor[i] = NULL;
		}
		t->cursor_live[i] = false;
	}
}

void db_abort(struct db_txn *t)
{
	close_cursors(t);
	if (t->txn) {
		mdb_txn_abort(t->txn);
		t->txn = NULL;
	}
	t->live = false;
}

/* The end of the pages in use, the file and its size. */
struct extent {
	mdb_filehandle_t fd;
	off_t page, end, size;
};

static bool read_extent(const struct db *db, struct extent *ret_extent)
{
	MDB_envinfo info;
	MDB_stat st;
	struct stat file;

	if (mdb_env_info(db->env, &info) != 0 || mdb_env_stat(db->env, &st) != 0 ||
	    mdb_env_get_fd(db->env, &ret_extent->fd) != 0 ||
	    fstat(ret_extent->fd, &file) != 0) {
		return false;
	}
	ret_extent->page = (off_t)st.ms_psize;
	ret_extent->end = (off_t)(info.me_last_pgno + 1) * ret_extent->page;
	ret_extent->size = file.st_size;
	return true;
}

/*
 * LMDB may leave out the last pages that it has numbered, so a complete file may be
 * shorter than its head says. Some empty pages at the end make sure that a file which is
 * too short has been truncated. They also give a foreign reader that loses its epoch in
 * mid-search zeros instead of a fault past the end.
 *
 * In a synced file they take space on the disk, so that small changes are possible while the
 * disk is full: LMDB needs some free pages for each, and frees as many.
 */
static void keep_slack(struct db *db)
{
	struct extent e;

	if (!read_extent(db, &e)) {
		return;
	}
	atomic_store(&db->end_bytes, e.end < e.size ? e.end : e.size);
	if (e.size >= e.end + SLACK_PAGES / 2 * e.page) {
		return;
	}
	if (!(db->kind->flags & MDB_NOSYNC) &&
	    fallocate(e.fd, 0, e.end, SLACK_PAGES * e.page) == 0) {
		return;
	}
	if (ftruncate(e.fd, e.end + SLACK_PAGES * e.page) != 0) {
		return; /* the next commit tries again */
	}
}

/*
 * After a transaction that failed. LMDB reports a short write as EIO, also where the disk is
 * full. The pages that it wrote beyond those in use are given back, because they may be the
 * last ones, and others need some, too. A file with foreign readers keeps them: one that loses
 * its epoch may follow them.
 */
static int settle_failure(struct db *db, int ret)
{
	struct extent e;
	off_t slack;

	if (ret != -EIO && ret != E_FULL) {
		return ret;
	}
	if (db->kind->flags & MDB_NOSYNC) {
		return E_FULL; /* on tmpfs no disk can fail */
	}
	if (!read_extent(db, &e)) {
		return ret;
	}
	slack = SLACK_PAGES * e.page;
	if (fallocate(e.fd, 0, e.size, slack) != 0 && db_err(errno) == E_FULL) {
		ret = E_FULL;
	}
	if (ftruncate(e.fd, e.size < e.end + slack ? e.size : e.end + slack) != 0) {
		return ret; /* they stay */
	}
	return ret;
}

void db_put_beat(struct db *db, uint64_t at_ms, int met)
{
	const struct db_beat b = { at_ms, met };

	if (pwrite(db->writer_fd, &b, sizeof(b), sizeof(uint64_t)) !=
	    (ssize_t)sizeof(b)) {
		return; /* the next one tries again */
	}
}

struct db_beat db_last_beat(const struct db *db)
{
	struct db_beat b;

	if (pread(db->writer_fd, &b, sizeof(b), sizeof(uint64_t)) != (ssize_t)sizeof(b)) {
		b = (struct db_beat){ .at_ms = 0 };
	}
	return b;
}

int db_commit(struct db_txn *t)
{
	if (t->ret != E_OK || !t->txn) {
		db_abort(t);
	} else {
		close_cursors(t);
		int mdb_ret = mdb_txn_commit(t->txn);
		t->txn = NULL;
		t->live = false;
		t->ret = db_err(mdb_ret);
	}
	if (t->ret != E_OK && t->write) {
		t->ret = settle_failure(t->db, t->ret);
	} else if (t->write) {
		keep_slack(t->db);
	}
	return t->ret;
}

void db_reset(struct db_txn *t)
{
	if (t->txn && t->live) {
		mdb_txn_reset(t->txn);
		memset(t->cursor_live, 0, sizeof(t->cursor_live));
	}
	t->live = false;
}

int db_renew(struct db_txn *t)
{
	db_reset(t);
	if (t->db->env == NULL) {
		return begin_trees(t);
	}
	t->ret = db_check_length(t->db, false);
	if (t->ret == E_OK) {
		t->ret = db_err(mdb_txn_renew(t->txn));
	}
	t->live = t->ret == E_OK;
	return t->ret;
}

/* "Not found" is returned; any other failure sticks. */
static int keep_error(struct db_txn *t, int ret)
{
	if (ret != E_OK && ret != E_NOTFOUND) {
		t->ret = ret;
	}
	return ret;
}

static int keep_failure(struct db_txn *t, int mdb_ret)
{
	return keep_error(t, db_err(mdb_ret));
}

uint64_t db_txn_id(const struct db_txn *t)
{
	return t->txn != NULL ? mdb_txn_id(t->txn) : t->trees.id;
}

/* --- without LMDB --------------------------------------------------------------------- */

/* \retval E_NOTFOUND  The table was not made yet. */
static int find_root(struct db_txn *t, unsigned table)
{
	int ret = E_OK;

	if (!t->root_known[table]) {
		ret = tree_find(&t->trees, t->db->kind->tables[table], &t->root[table]);
		t->root_known[table] = ret == E_OK;
	}
	return ret;
}

static int seek_tree(struct db_txn *t, unsigned table, const void *key, size_t key_len,
                     bool exact, struct db_val *ret_key, struct db_val *ret_val)
{
	struct tree_bytes k, v;
	int ret = find_root(t, table);

	if (ret == E_OK) {
		ret = tree_seek(&t->trees, &t->root[table], &t->at[table], key, key_len,
		                exact, &k, &v);
	}
	if (ret == E_OK) {
		*ret_key = (struct db_val){ k.data, k.len };
		*ret_val = (struct db_val){ v.data, v.len };
	}
	return keep_error(t, ret);
}

static int next_in_tree(struct db_txn *t, unsigned table, struct db_val *ret_key,
                        struct db_val *ret_val)
{
	struct tree_bytes k, v;
	int ret = tree_next(&t->trees, &t->at[table], &k, &v);

	if (ret == E_OK) {
		*ret_key = (struct db_val){ k.data, k.len };
		*ret_val = (struct db_val){ v.data, v.len };
	}
	return keep_error(t, ret);
}

uint64_t db_count(struct db_txn *t, unsigned table)
{
	MDB_stat st;
	int ret;

	if (t->ret != E_OK) {
		return 0;
	}
	if (t->db->env == NULL) {
		ret = keep_error(t, find_root(t, table));
		return ret == E_OK && !t->root[table].is_empty ? t->root[table].n_rows
		                                               : 0;
	}
	ret = keep_failure(t, mdb_stat(t->txn, t->db->dbi[table], &st));
	return ret == E_OK ? st.ms_entries : 0;
}

/* --- look-ups ---------------------------------------------------------------------------- */

int db_get(struct db_txn *t, unsigned table, const void *key, size_t key_len,
           struct db_val *ret_val)
{
	struct db_val same;
	if (t->ret != E_OK) {
		return t->ret;
	}
	if (t->db->env == NULL) {
		return seek_tree(t, table, key, key_len, true, &same, ret_val);
	}
	MDB_val k = { key_len, (void *)key }, v;
	int ret = keep_failure(t, mdb_get(t->txn, t->db->dbi[table], &k, &v));
	if (ret == E_OK) {
		*ret_val = (struct db_val){ v.mv_data, v.mv_size };
	}
	return ret;
}

static MDB_cursor *cursor_of(struct db_txn *t, unsigned table)
{
	if (t->ret != E_OK) {
		return NULL;
	}
	if (t->cursor_live[table]) {
		return t->cursor[table];
	}
	int mdb_ret = t->cursor[table] ? mdb_cursor_renew(t->txn, t->cursor[table])
	                               : mdb_cursor_open(t->txn, t->db->dbi[table],
	                                                 &t->cursor[table]);
	if (keep_failure(t, mdb_ret) != E_OK) {
		return NULL;
	}
	t->cursor_live[table] = true;
	return t->cursor[table];
}

static int cursor_get(struct db_txn *t, unsigned table, MDB_cursor_op op, MDB_val *k,
                      struct db_val *ret_key, struct db_val *ret_val)
{
	MDB_cursor *c = cursor_of(t, table);
	if (!c) {
		return t->ret;
	}
	MDB_val v;
	int ret = keep_failure(t, mdb_cursor_get(c, k, &v, op));
	if (ret == E_OK) {
		*ret_key = (struct db_val){ k->mv_data, k->mv_size };
		*ret_val = (struct db_val){ v.mv_data, v.mv_size };
	}
	return ret;
}

/* A cursor first looks at the page that it is on. */
int db_find(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            struct db_val *ret_val)
{
	if (t->db->env == NULL) {
		return db_get(t, table, key, key_len, ret_val);
	}
	MDB_val k = { key_len, (void *)key };
	struct db_val same;
	return cursor_get(t, table, MDB_SET, &k, &same, ret_val);
}

int db_seek(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            struct db_val *ret_key, struct db_val *ret_val)
{
	if (t->db->env == NULL) {
		return t->ret != E_OK ? t->ret
		                      : seek_tree(t, table, key, key_len, false, ret_key,
		                                  ret_val);
	}
	MDB_val k = { key_len, (void *)key };
	return cursor_get(t, table, key_len ? MDB_SET_RANGE : MDB_FIRST, &k, ret_key,
	                  ret_val);
}

int db_next(struct db_txn *t, unsigned table, struct db_val *ret_key,
            struct db_val *ret_val)
{
	if (t->db->env == NULL) {
		return t->ret != E_OK ? t->ret : next_in_tree(t, table, ret_key, ret_val);
	}
	MDB_val k;
	return cursor_get(t, table, MDB_NEXT, &k, ret_key, ret_val);
}

static void put_row(struct db_txn *t, unsigned table, const void *key, size_t key_len,
                    const void *val, size_t len, unsigned flags)
{
	MDB_cursor *c = cursor_of(t, table);
	if (!c) {
		return;
	}
	MDB_val k = { key_len, (void *)key }, v = { len, (void *)val };
	keep_failure(t, mdb_cursor_put(c, &k, &v, flags));
}

void db_put(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            const void *val, size_t len)
{
	put_row(t, table, key, key_len, val, len, 0);
}

void db_append(struct db_txn *t, unsigned table, const void *key, size_t key_len,
               const void *val, size_t len)
{
	put_row(t, table, key, key_len, val, len, MDB_APPEND);
}

void db_del(struct db_txn *t, unsigned table, const void *key, size_t key_len)
{
	if (t->ret == E_OK) {
		MDB_val k = { key_len, (void *)key };
		keep_failure(t, mdb_del(t->txn, t->db->dbi[table], &k, NULL));
	}
}

/* Replaces or deletes the row that the cursor is on. */
static void replace_at(struct db_txn *t, MDB_cursor *c, MDB_val *k, MDB_val *v, bool fits)
{
	if (!v->mv_data) {
		keep_failure(t, mdb_cursor_del(c, 0));
	} else {
		keep_failure(t, mdb_cursor_put(c, k, v, fits ? MDB_CURRENT : 0));
	}
}

bool db_set(struct db_txn *t, unsigned table, const void *key, size_t key_len,
            const void *val, size_t len)
{
	MDB_val k = { key_len, (void *)key }, v = { len, (void *)val };
	struct db_val old = { NULL, 0 };
	int found = db_find(t, table, key, key_len, &old);
	if (t->ret != E_OK || (found == E_NOTFOUND && !val)) {
		return false;
	}
	if (found == E_NOTFOUND) {
		keep_failure(t, mdb_cursor_put(t->cursor[table], &k, &v, 0));
		return true;
	}
	if (val && old.len == len && memcmp(old.data, val, len) == 0) {
		return false;
	}
	replace_at(t, t->cursor[table], &k, &v, old.len == len);
	return true;
}

void db_clear(struct db_txn *t, unsigned table)
{
	if (t->ret == E_OK) {
		keep_failure(t, mdb_drop(t->txn, t->db->dbi[table], 0));
	}
}

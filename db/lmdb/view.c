/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/lmdb/view.h"

#include <string.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "db/lmdb/layout.h"

enum { PIN_TRIES = 1000 };

static uint64_t machine_clock(void *arg)
{
	(void)arg;
	return boottime_ms();
}

void view_init(struct view *v, struct db *db, bool foreign)
{
	memset(v, 0, sizeof(*v));
	v->t.db = db_ref(db);
	v->foreign = foreign;
	v->clock_ms = machine_clock;
}

void view_done(struct view *v)
{
	struct db *db = v->t.db;
	db_abort(&v->t);
	db_unref(db);
	memset(v, 0, sizeof(*v));
}

/* Has the file been cut short since the root was taken? */
static bool was_cut(const struct view *v)
{
	return v->t.db->env == NULL && tree_cuts(&v->t.db->trees) != v->t.trees.cuts;
}

int view_check(struct view *v)
{
	if (!v->foreign) {
		return E_OK;
	}
	/* all reads come before the check */
	atomic_thread_fence(memory_order_seq_cst);
	if (db_last_txn(v->t.db) == v->txn && !was_cut(v)) {
		return E_OK;
	}
	if (was_cut(v) || db_writer_count(v->t.db) != v->incarnation ||
	    v->clock_ms(v->clock_arg) - v->verified_ms >= v->grace_ms / 2) {
		return E_STALE;
	}
	return E_OK;
}

/* Head of the root just taken. \retval E_STALE  It is half written. */
static int check_root(struct view *v)
{
	struct db_val val;
	struct row_head head;
	int ret = db_get(&v->t, DB_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &val);
	if (ret != E_OK || val.len < sizeof(head)) {
		return v->foreign ? E_STALE : E_MALFORMED;
	}
	memcpy(&head, val.data, sizeof(head));
	v->txn = db_txn_id(&v->t);
	if (head.txn != v->txn) {
		return v->foreign ? E_STALE : E_MALFORMED;
	}
	v->grace_ms = head.grace_ms;
	return view_check(v);
}

static int take_root(struct view *v)
{
	struct db *db = v->t.db;
	if (v->t.txn || db->env == NULL) {
		int ret = db_renew(&v->t);
		if (ret == E_OK) {
			return E_OK;
		}
		db_abort(&v->t); /* the map has grown, so begin a new transaction */
	}
	int ret = db_begin(&v->t, db, false);
	v->t.db = db;
	return ret;
}

int view_pin(struct view *v, bool *ret_moved)
{
	uint64_t before = v->txn;
	bool held = v->t.live && v->t.ret == E_OK;
	int ret = E_STALE;
	if (ret_moved) {
		*ret_moved = true;
	}
	for (unsigned i = 0; i < PIN_TRIES && ret == E_STALE; i++) {
		if (v->foreign) {
			v->verified_ms = v->clock_ms(v->clock_arg);
			v->incarnation = db_writer_count(v->t.db);
			atomic_thread_fence(memory_order_seq_cst);
		}
		if (held && db_last_txn(v->t.db) == before && !was_cut(v)) {
			if (ret_moved) {
				*ret_moved = false;
			}
			return E_OK;
		}
		held = false;
		ret = take_root(v);
		/* in the writer's process a root that was checked before stays valid */
		bool known = ret == E_OK && !v->foreign && before != 0 &&
		             db_txn_id(&v->t) == before;
		if (ret == E_OK && !known) {
			ret = check_root(v);
		}
	}
	if (ret != E_OK) {
		db_reset(&v->t);
		v->txn = 0;
	} else if (ret_moved) {
		*ret_moved = v->txn != before;
	}
	return ret;
}

void view_unpin(struct view *v)
{
	db_reset(&v->t);
}

/* May the pinned epoch be searched? */
static int before_search(struct view *v)
{
	return v->t.live ? view_check(v) : E_NOTREADY;
}

int view_get(struct view *v, unsigned table, const void *key, size_t key_len,
             struct db_val *ret_val)
{
	int ret = before_search(v);
	return ret == E_OK ? db_get(&v->t, table, key, key_len, ret_val) : ret;
}

int view_seek(struct view *v, unsigned table, const void *key, size_t key_len,
              struct db_val *ret_key, struct db_val *ret_val)
{
	int ret = before_search(v);
	return ret == E_OK ? db_seek(&v->t, table, key, key_len, ret_key, ret_val) : ret;
}

int view_next(struct view *v, unsigned table, struct db_val *ret_key,
              struct db_val *ret_val)
{
	int ret = before_search(v);
	return ret == E_OK ? db_next(&v->t, table, ret_key, ret_val) : ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/lmdb/pins.h"

#include <string.h>

#include "conf/base/err.h"
#include "db/lmdb/txn.h"

int pins_init(struct pins *p, struct db *db, uint32_t grace_ms)
{
	memset(p, 0, sizeof(*p));
	p->db = db;
	p->grace_ms = grace_ms;
	return db_err(mdb_txn_begin(db->env, NULL, MDB_RDONLY, &p->newest));
}

void pins_done(struct pins *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		mdb_txn_abort(p->old[i].txn);
	}
	if (p->newest) {
		mdb_txn_abort(p->newest);
	}
	if (p->spare) {
		mdb_txn_abort(p->spare);
	}
	memset(p, 0, sizeof(*p));
}

int pins_prepare(struct pins *p)
{
	int ret = db_check_length(p->db, true);
	if (ret != E_OK || p->spare) {
		return ret;
	}
	ret = db_err(mdb_txn_begin(p->db->env, NULL, MDB_RDONLY, &p->spare));
	if (ret != E_OK) {
		p->spare = NULL;
		return ret;
	}
	mdb_txn_reset(p->spare);
	return E_OK;
}

/* A pin no longer needed becomes the spare, or goes. */
static void recycle_pin(struct pins *p, MDB_txn *txn)
{
	if (p->spare) {
		mdb_txn_abort(txn);
		return;
	}
	mdb_txn_reset(txn);
	p->spare = txn;
}

void pins_supersede(struct pins *p, uint64_t now_ms)
{
	MDB_txn *before = p->newest;
	p->newest = p->spare;
	p->spare = NULL;
	if (mdb_txn_renew(p->newest) != 0) {
		/* this fails only if the environment is broken; the older pin protects
		 * this epoch, too */
		p->spare = p->newest;
		p->newest = before;
		return;
	}
	struct pin *last = p->n ? &p->old[p->n - 1] : NULL;
	if (last && (p->n == PINS_MAX ||
	             now_ms - last->since_ms < p->grace_ms / PINS_PER_GRACE)) {
		last->until_ms = now_ms + p->grace_ms;
		recycle_pin(p, before);
	} else {
		p->old[p->n++] = (struct pin){ before, now_ms, now_ms + p->grace_ms };
	}
}

void pins_release(struct pins *p, uint64_t now_ms)
{
	unsigned gone = 0;
	while (gone < p->n && p->old[gone].until_ms <= now_ms) {
		recycle_pin(p, p->old[gone++].txn);
	}
	p->n -= gone;
	memmove(p->old, p->old + gone, p->n * sizeof(p->old[0]));
}

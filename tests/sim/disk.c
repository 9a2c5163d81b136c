/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/sim/disk.h"

#include <errno.h>
#include <lmdb.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The thread of the state and that of the fabric both write, but never at the same time: the
 * one waits for the other. */
static _Atomic int fault;
static _Atomic unsigned left; /* steps until the crash */
static _Atomic bool armed, crashed;
static char victim[80];
static _Atomic unsigned commits;
static _Thread_local MDB_txn *dirty; /* it has put a row; commits of others stay as they are */

int __real_mdb_cursor_put(MDB_cursor *c, MDB_val *k, MDB_val *v, unsigned flags);
int __real_mdb_txn_commit(MDB_txn *t);
int __wrap_mdb_cursor_put(MDB_cursor *c, MDB_val *k, MDB_val *v, unsigned flags);
int __wrap_mdb_txn_commit(MDB_txn *t);

void disk_set(enum disk_fault f)
{
	fault = f;
}

enum disk_fault disk_fault(void)
{
	return (enum disk_fault)fault;
}

void disk_crash_soon(const char *dir, unsigned steps)
{
	armed = false;
	crashed = false;
	snprintf(victim, sizeof(victim), "%s", dir != NULL ? dir : "");
	left = steps;
	armed = dir != NULL;
}

static bool is_victim(const char *path)
{
	return armed && strncmp(path, victim, strlen(victim)) == 0;
}

/* \return true: this step is not done any more. */
static bool is_lost(const char *path)
{
	if (!is_victim(path)) {
		return false;
	}
	if (!crashed && left-- == 0) {
		crashed = true;
	}
	return crashed;
}

void disk_step(const char *dir)
{
	(void)is_lost(dir);
}

bool disk_crashed(const char *dir)
{
	return is_victim(dir) && crashed;
}

static const char *path_of(MDB_txn *t)
{
	const char *path = "";

	return mdb_env_get_path(mdb_txn_env(t), &path) == MDB_SUCCESS ? path : "";
}

int __wrap_mdb_cursor_put(MDB_cursor *c, MDB_val *k, MDB_val *v, unsigned flags)
{
	MDB_txn *t = mdb_cursor_txn(c);

	dirty = t;
	if (is_lost(path_of(t))) {
		return EIO;
	}
	return fault == DISK_MAP_FULL ? MDB_MAP_FULL
	                              : __real_mdb_cursor_put(c, k, v, flags);
}

/* A crash in the middle of a commit leaves the database as it was before, or as it is after it,
 * because LMDB changes one of its two root pages last. */
int __wrap_mdb_txn_commit(MDB_txn *t)
{
	bool writes = dirty == t;
	bool was_alive = writes && is_victim(path_of(t)) && !crashed;
	bool lost = writes && is_lost(path_of(t));

	dirty = NULL;
	if (lost && was_alive && commits++ % 2 == 0) {
		(void)__real_mdb_txn_commit(t); /* all is on disk, but nobody hears of it */
		return EIO;
	}
	if (lost || (writes && (fault == DISK_NO_SPACE ||
	                        (fault == DISK_SOMETIMES && commits++ % 4 == 0)))) {
		mdb_txn_abort(t);
		return lost || fault == DISK_SOMETIMES ? EIO : ENOSPC;
	}
	return __real_mdb_txn_commit(t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * LMDB trusts what it has mapped. A page that holds random bytes makes it return an error at
 * best, and fail an assertion or read past the end of the map at worst. So a child process
 * reads everything first; how it ends says whether the file is sound. It looks at the order
 * of keys, the number of rows, each value's first and last byte, and the list of free pages,
 * from which a writer would take pages. Bytes inside a value are its business only where the
 * kind says so: every reader checks the length of a value, and a publish compares what it holds.
 *
 * An emptied file begins with the two meta pages of a new environment. The pages behind are
 * no part of any tree, so LMDB uses them again.
 */
#include "db/lmdb/env.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/layout.h"
#include "db/lmdb/tree.h"
#include "db/lmdb/txn.h"

enum { FREE_TABLE = 0, LIMIT_SECONDS = 120, PATH_BYTES = 4096, COPY_BYTES = 1 << 16 };

/* --- the child process ----------------------------------------------------------------- */

/* The pages of one row of the list of free pages: their number, then descending page numbers. */
static bool free_pages_fit(const MDB_val *v, const MDB_envinfo *info)
{
	const uint8_t *at = v->mv_data;
	size_t n, id, before = info->me_last_pgno + 1;

	if (v->mv_size < sizeof(n)) {
		return false;
	}
	memcpy(&n, at, sizeof(n));
	if (n > v->mv_size / sizeof(n) - 1) {
		return false;
	}
	for (size_t i = 1; i <= n; i++, before = id) {
		memcpy(&id, at + i * sizeof(id), sizeof(id));
		if (id < 2 || id >= before) {
			return false;
		}
	}
	return true;
}

static bool keys_ascend(const MDB_val *a, const MDB_val *b)
{
	size_t len = a->mv_size < b->mv_size ? a->mv_size : b->mv_size;
	int order = memcmp(a->mv_data, b->mv_data, len);

	return order < 0 || (order == 0 && a->mv_size < b->mv_size);
}

/* \param table  Of the kind; DB_TABLES_MAX: of LMDB's own. */
static bool table_is_sound(const struct db_kind *kind, unsigned table, MDB_txn *txn,
                           MDB_dbi dbi, const MDB_envinfo *info, struct db_row *row)
{
	MDB_cursor *c;
	MDB_stat st;
	MDB_val k, v, last = { 0, NULL };
	size_t n = 0;
	int mdb_ret = mdb_stat(txn, dbi, &st);

	if (mdb_ret != 0 || mdb_cursor_open(txn, dbi, &c) != 0) {
		return false;
	}
	while ((mdb_ret = mdb_cursor_get(c, &k, &v, n ? MDB_NEXT : MDB_FIRST)) == 0) {
		const volatile uint8_t *bytes = v.mv_data;

		if (++n > st.ms_entries || k.mv_size == 0 || k.mv_size > 511) {
			return false;
		}
		if (v.mv_size > 0) { /* a fault here ends the process */
			(void)bytes[0];
			(void)bytes[v.mv_size - 1];
		}
		if (dbi == FREE_TABLE ? !free_pages_fit(&v, info)
		                      : n > 1 && !keys_ascend(&last, &k)) {
			return false;
		}
		if (table < DB_TABLES_MAX && kind->is_sound != NULL &&
		    !kind->is_sound(table, &(struct db_val){ k.mv_data, k.mv_size },
		                    &(struct db_val){ v.mv_data, v.mv_size })) {
			damage_note(row, kind, table, k.mv_data, k.mv_size);
			return false;
		}
		last = k;
	}
	return mdb_ret == MDB_NOTFOUND && n == st.ms_entries;
}

static int walk_pages(const struct tree_txn *t, const struct tree_root *root)
{
	struct tree_cursor c = { .depth = 0 };
	struct tree_bytes k, v;
	int ret = tree_seek(t, root, &c, "", 0, false, &k, &v);

	while (ret == E_OK) {
		ret = tree_next(t, &c, &k, &v);
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* Has each page of all trees its own number? LMDB does not look: when it writes, it frees the page
 * of the number that it finds. */
static bool pages_are_sound(const struct db_kind *kind, const char *path)
{
	struct tree_file f;
	struct tree_root root;
	struct tree_txn t;
	int ret = tree_open(path, kind->map_bytes, &f);

	if (ret != E_OK) {
		return false;
	}
	ret = tree_begin(&f, &t);
	if (ret == E_OK) {
		ret = walk_pages(&t, &t.free);
	}
	if (ret == E_OK) {
		ret = walk_pages(&t, &t.names);
	}
	for (unsigned i = 0; ret == E_OK && kind->tables[i] != NULL; i++) {
		ret = tree_find(&t, kind->tables[i], &root);
		if (ret == E_OK) {
			ret = walk_pages(&t, &root);
		}
		ret = ret == E_NOTFOUND ? E_OK : ret; /* an older layout has not all tables */
	}
	tree_close(&f);
	return ret == E_OK;
}

static bool is_sound(const struct db_kind *kind, const char *path, struct db_row *row)
{
	MDB_env *env;
	MDB_txn *txn;
	MDB_dbi dbi;
	MDB_envinfo info;

	/* LMDB raises a map of one byte to what is in use, which needs no more address space
	 * than the file has bytes. */
	if (mdb_env_create(&env) != 0 || mdb_env_set_maxdbs(env, DB_TABLES_MAX) != 0 ||
	    mdb_env_set_mapsize(env, 1) != 0 ||
	    mdb_env_open(env, path, MDB_RDONLY | MDB_NOLOCK | MDB_NOTLS, 0) != 0 ||
	    mdb_env_info(env, &info) != 0 ||
	    mdb_txn_begin(env, NULL, MDB_RDONLY, &txn) != 0 ||
	    !table_is_sound(kind, DB_TABLES_MAX, txn, FREE_TABLE, &info, row) ||
	    mdb_dbi_open(txn, NULL, 0, &dbi) != 0 ||
	    !table_is_sound(kind, DB_TABLES_MAX, txn, dbi, &info, row)) {
		return false;
	}
	for (unsigned i = 0; kind->tables[i] != NULL; i++) {
		int mdb_ret = mdb_dbi_open(txn, kind->tables[i], 0, &dbi);

		if (i == DB_LAYOUT &&
		    (mdb_ret == MDB_NOTFOUND || mdb_ret == MDB_INCOMPATIBLE)) {
			return true; /* it is of somebody else, which shows when it is opened */
		}
		/* an older layout has not all tables */
		if (mdb_ret != MDB_NOTFOUND &&
		    (mdb_ret != 0 || !table_is_sound(kind, i, txn, dbi, &info, row))) {
			return false;
		}
	}
	return pages_are_sound(kind, path);
}

static void run_child(const struct db_kind *kind, const char *path, struct db_row *row)
	__attribute__((noreturn));

static void run_child(const struct db_kind *kind, const char *path, struct db_row *row)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM };
	const struct rlimit no_core = { 0, 0 };
	int null = open("/dev/null", O_WRONLY);

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		signal(faults[i], SIG_DFL);
	}
	setrlimit(RLIMIT_CORE, &no_core);
	if (null >= 0) {
		dup2(null, STDERR_FILENO); /* for the assertions of LMDB */
	}
	alarm(LIMIT_SECONDS);
	_exit(is_sound(kind, path, row) ? 0 : 1);
}

/* \param row  The child's memory, too. */
static int check_in_child(const struct db_kind *kind, const char *path,
                          struct db_row *row)
{
	int status;
	pid_t child = fork();

	if (child < 0) {
		return -errno;
	}
	if (child == 0) {
		run_child(kind, path, row);
	}
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR) {
			return -errno;
		}
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? E_OK : E_MALFORMED;
}

int damage_check(const struct db_kind *kind, const char *path, struct db_row *ret_row)
{
	char file[PATH_BYTES];
	struct stat st;
	struct db_row *row;
	int ret;

	if (snprintf(file, sizeof(file), "%s/data.mdb", path) >= (int)sizeof(file) ||
	    stat(file, &st) != 0 || st.st_size == 0) {
		return E_OK;
	}
	row = mmap(NULL, sizeof(*row), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	           -1, 0);
	if (row == MAP_FAILED) {
		return -errno;
	}
	ret = check_in_child(kind, path, row);
	*ret_row = *row;
	munmap(row, sizeof(*row));
	return ret;
}

/* --- sentences ------------------------------------------------------------------------- */

void damage_note(struct db_row *row, const struct db_kind *kind, unsigned table,
                 const void *key, size_t key_len)
{
	size_t len = key_len < sizeof(row->key) ? key_len : sizeof(row->key);

	*row = (struct db_row){ .table = kind->tables[table], .key_len = key_len };
	memcpy(row->key, key, len);
}

const char *damage_what(const struct db_kind *kind, const char *path,
                        const struct db_row *row, struct arena *a)
{
	char key[2 * sizeof(row->key) + 1] = "";

	if (row->table == NULL) {
		return arena_printf(a, "the %s database in %s is damaged", kind->name,
		                    path);
	}
	for (size_t i = 0; i < row->key_len && i < sizeof(row->key); i++) {
		snprintf(key + 2 * i, sizeof(key) - 2 * i, "%02x", row->key[i]);
	}
	return arena_printf(
		a,
		"the %s database in %s is damaged: the row 0x%s%s of its table %s has a wrong length or value",
		kind->name, path, key, row->key_len > sizeof(row->key) ? "..." : "",
		row->table);
}

const char *damage_remedy(const struct db_kind *kind)
{
	return kind->rebuilt
	               ? "restart saguarod, which makes it anew"
	               : "restore data.mdb there from a backup, or move it away and start anew: ports keep the LIDs that they have";
}

const char *damage_text(const struct db *db, const struct db_row *row, int ret,
                        struct arena *a)
{
	const char *path = "", *what, *text;

	if (ret != E_MALFORMED || mdb_env_get_path(db->env, &path) != 0) {
		return err_text(ret);
	}
	what = damage_what(db->kind, path, row, a);
	text = what != NULL ? arena_printf(a, "%s; stop saguarod, then %s", what,
	                                   damage_remedy(db->kind))
	                    : NULL;
	return text != NULL ? text : err_text(ret);
}

/* --- the copy and the new beginning ------------------------------------------------------ */

/* Writes all of one file to another, both from their beginnings. */
static int copy_file(int from, int to)
{
	static char buf[COPY_BYTES];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(from, buf, sizeof(buf), at)) > 0) {
		errno = ENOSPC;
		if (pwrite(to, buf, (size_t)n, at) != n) {
			return -errno;
		}
		at += n;
	}
	return n < 0 ? -errno : E_OK;
}

static int keep_copy(int from, const char *path)
{
	char file[PATH_BYTES];
	int ret, to;

	if (snprintf(file, sizeof(file), "%s/data.mdb.damaged", path) >=
	    (int)sizeof(file)) {
		return -ENAMETOOLONG;
	}
	to = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (to < 0) {
		return -errno;
	}
	ret = copy_file(from, to);
	if (close(to) != 0 && ret == E_OK) {
		ret = -errno;
	}
	if (ret != E_OK) {
		unlink(file);
	}
	return ret;
}

/* The meta pages of a new environment, made in a folder beside. */
static int write_new_metas(int to, const char *path)
{
	char folder[PATH_BYTES], file[PATH_BYTES + 16];
	MDB_env *env = NULL;
	int ret, from;

	if (snprintf(folder, sizeof(folder), "%s/new-XXXXXX", path) >=
	            (int)sizeof(folder) ||
	    mkdtemp(folder) == NULL) {
		return -errno;
	}
	ret = mdb_env_create(&env);
	if (ret == 0) {
		ret = mdb_env_open(env, folder, MDB_NOSYNC | MDB_NOTLS, 0600);
	}
	mdb_env_close(env);
	ret = ret > 0 ? -ret : ret < 0 ? -EIO : E_OK;
	snprintf(file, sizeof(file), "%s/lock.mdb", folder);
	unlink(file);
	snprintf(file, sizeof(file), "%s/data.mdb", folder);
	from = ret == E_OK ? open(file, O_RDONLY | O_CLOEXEC) : -1;
	if (from >= 0) {
		ret = copy_file(from, to);
		close(from);
	} else if (ret == E_OK) {
		ret = -errno;
	}
	unlink(file);
	rmdir(folder);
	return ret;
}

int damage_discard(const char *path, int *ret_copied)
{
	char file[PATH_BYTES];
	int ret, fd;

	if (snprintf(file, sizeof(file), "%s/data.mdb", path) >= (int)sizeof(file)) {
		return -ENAMETOOLONG;
	}
	fd = open(file, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		return -errno;
	}
	*ret_copied = keep_copy(fd, path);
	ret = write_new_metas(fd, path);
	close(fd);
	return ret;
}

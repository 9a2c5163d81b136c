/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Opening an environment. Whatever is wrong with a folder is found here, before LMDB maps
 * anything, and reported in one sentence that names the folder and the remedy.
 *
 * LMDB trusts its two meta pages. A truncated file or an impossible page size would end in
 * SIGBUS or SIGFPE inside the library. So the head of data.mdb is checked first: magic,
 * version, page size, and the length of the file against the last page in use. The inside
 * of a tree cannot be checked in advance. If a page that LMDB takes for a branch holds
 * random bytes, LMDB returns MDB_CORRUPTED at best and fails an assertion (abort) at
 * worst. Every reader of a value checks its length.
 *
 * Sources: the manual in lmdb.h (Caveats), and the on-disk form of LMDB 0.9.
 */
#include "db/lmdb/env.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "db/lmdb/cut.h"
#include "db/lmdb/layout.h"
#include "db/lmdb/txn.h"

enum { MAX_READERS = 256, OPEN_TRIES = 100 };
/* 32 bits of address space have room for three maps, heap and stacks. */
#define MAP_BYTES_MAX (SIZE_MAX > UINT32_MAX ? SIZE_MAX : (size_t)512 << 20)
#define MAP_BYTES_MIN ((size_t)64 << 20)

struct opening {
	const struct db_kind *kind;
	const char *path;
	struct arena *a;
	const char **ret_why;
};

/* Stores the sentence. \return ret */
static int fail_open(const struct opening *o, int ret, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail_open(const struct opening *o, int ret, const char *fmt, ...)
{
	if (!o->a || !o->ret_why) {
		return ret;
	}
	char text[2048];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	const char *kept = arena_strdup(o->a, text);
	*o->ret_why = kept ? kept : "out of memory";
	return ret;
}

uint64_t db_last_txn(const struct db *db)
{
	MDB_envinfo info;

	if (db->env == NULL) {
		return tree_last_txn(&db->trees);
	}
	mdb_env_info(db->env, &info);
	return info.me_last_txnid;
}

struct db *db_ref(struct db *db)
{
	atomic_fetch_add(&db->refs, 1);
	return db;
}

void db_unref(struct db *db)
{
	if (!db || atomic_fetch_sub(&db->refs, 1) > 1) {
		return;
	}
	if (db->env) {
		mdb_env_close(db->env);
	}
	tree_close(&db->trees);
	if (db->writer_fd >= 0) {
		close(db->writer_fd);
	}
	if (db->lock_fd >= 0) {
		close(db->lock_fd);
	}
	free(db);
}

/* LMDB ends the process behind this. This room writes to the log where the process ends, because nobody is
 * left to return an error to, and nowhere else. */
static void tell_broken(MDB_env *env, const char *assertion)
{
	const struct db_kind *kind = mdb_env_get_userctx(env);
	const char *path = "";

	(void)mdb_env_get_path(env, &path);
	log_message(MSG_START_BROKEN, "database",
	            "the %s database in %s is damaged, so saguarod ends (LMDB: %s); %s",
	            kind->name, path, assertion, damage_remedy(kind));
}

void db_end_process(const struct db *db)
{
	const char *path = "";

	(void)mdb_env_get_path(db->env, &path);
	log_message(
		MSG_START_BROKEN, "database",
		"the %s database in %s was cut short while saguarod used it, so saguarod ends; %s",
		db->kind->name, path, damage_remedy(db->kind));
	_exit(EXIT_FAILURE);
}

static struct db *db_new(const struct db_kind *kind)
{
	struct db *db = calloc(1, sizeof(*db));
	if (db) {
		db->kind = kind;
		db->lock_fd = db->writer_fd = -1;
		atomic_store(&db->refs, 1);
		while (kind->tables[db->n_tables]) {
			db->n_tables++;
		}
	}
	return db;
}

/* Sets the group of the readers if it exists and we are allowed to; else the group stays. */
static void set_group_and_mode(const char *path, mode_t mode)
{
	const struct group *g = getgrnam(DB_GROUP);
	if (g && chown(path, (uid_t)-1, g->gr_gid) != 0) {
		errno = 0; /* only root and members of the group may */
	}
	if (chmod(path, mode) != 0) {
		errno = 0; /* the folder belongs to somebody else, who sets its mode */
	}
}

/* Makes the folder and those above it. An existing folder keeps its mode. */
static int make_folders(const struct opening *o)
{
	char path[4096];
	if ((size_t)snprintf(path, sizeof(path), "%s", o->path) >= sizeof(path)) {
		return fail_open(o, -ENAMETOOLONG,
		                 "the name of the %s folder is too long", o->kind->name);
	}
	size_t len = strlen(path);
	for (size_t i = 1; i <= len; i++) {
		if (path[i] != '/' && path[i] != '\0') {
			continue;
		}
		char end = path[i];
		path[i] = '\0';
		if (mkdir(path, 0755) == 0) {
			/* The instance's own folder and the environment's are for few.
			 * Readers pass through those above, whatever the umask is. */
			if (end == '\0' || !strchr(path + i + 1, '/')) {
				set_group_and_mode(path, o->kind->shared ? 02750 : 0700);
			} else if (chmod(path, 0755) != 0) {
				errno = 0; /* not every file system has modes */
			}
		} else if (errno != EEXIST) {
			int ret = errno;
			return fail_open(
				o, -ret,
				"cannot create the %s folder %s: %s; create it for user %u, or choose another with %s",
				o->kind->name, path, strerror(ret), (unsigned)geteuid(),
				o->kind->option);
		}
		path[i] = end;
	}
	struct stat st;
	if (stat(o->path, &st) != 0 || !S_ISDIR(st.st_mode)) {
		return fail_open(o, -ENOTDIR,
		                 "%s is not a folder; choose another with %s", o->path,
		                 o->kind->option);
	}
	return E_OK;
}

static int file_path(const struct opening *o, const char *name, char buf[4096])
{
	if (snprintf(buf, 4096, "%s/%s", o->path, name) >= 4096) {
		return fail_open(o, -ENAMETOOLONG,
		                 "the name of the %s folder is too long", o->kind->name);
	}
	return E_OK;
}

/* Opens or creates a file in the folder and sets its mode. */
static int open_file(const struct opening *o, const char *name, mode_t mode, int *ret_fd)
{
	char path[4096];
	int ret = file_path(o, name, path);
	if (ret != E_OK) {
		return ret;
	}
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0) {
		int errnum = errno;
		return fail_open(
			o, -errnum,
			"the %s folder %s is not writable for user %u (%s: %s); give it to that user, or choose another with %s",
			o->kind->name, o->path, (unsigned)geteuid(), name,
			strerror(errnum), o->kind->option);
	}
	set_group_and_mode(path, mode);
	*ret_fd = fd;
	return E_OK;
}

static int take_lock(const struct opening *o, struct db *db)
{
	int ret = open_file(o, "lock", 0600, &db->lock_fd);
	if (ret != E_OK) {
		return ret;
	}
	char pid[32] = "";
	if (flock(db->lock_fd, LOCK_EX | LOCK_NB) != 0) {
		ssize_t n = pread(db->lock_fd, pid, sizeof(pid) - 1, 0);
		pid[n > 0 ? strspn(pid, "0123456789") : 0] = '\0';
		return fail_open(
			o, E_LOCKED,
			"the %s folder %s is in use by another saguarod (process %s); stop that one, or choose another folder with %s",
			o->kind->name, o->path, pid[0] ? pid : "unknown",
			o->kind->option);
	}
	int n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	if (ftruncate(db->lock_fd, 0) != 0 ||
	    pwrite(db->lock_fd, pid, (size_t)n, 0) != n) {
		int errnum = errno ? errno : ENOSPC;
		return fail_open(o, -errnum, "cannot write %s/lock: %s; free space there",
		                 o->path, strerror(errnum));
	}
	return E_OK;
}

/* The file `writer` counts how often a writer has opened. */
static int open_writer_count(const struct opening *o, struct db *db, bool write)
{
	uint64_t count = 0;
	char path[4096];
	int ret = file_path(o, "writer", path);
	if (ret == E_OK && write) {
		ret = open_file(o, "writer", 0640, &db->writer_fd);
	} else if (ret == E_OK) {
		db->writer_fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	if (ret != E_OK) {
		return ret;
	}
	ssize_t n =
		db->writer_fd < 0 ? -1 : pread(db->writer_fd, &count, sizeof(count), 0);
	if (write) {
		count = n == (ssize_t)sizeof(count) ? count + 1 : 1;
		n = pwrite(db->writer_fd, &count, sizeof(count), 0);
	}
	if (n != (ssize_t)sizeof(count)) {
		return write ? fail_open(o, -ENOSPC,
		                         "cannot write %s: no space; free some there",
		                         path)
		             : fail_open(o, E_NOTREADY, "nothing is published in %s yet",
		                         o->path);
	}
	return E_OK;
}

uint64_t db_writer_count(const struct db *db)
{
	uint64_t count;

	return pread(db->writer_fd, &count, sizeof(count), 0) == (ssize_t)sizeof(count)
	               ? count
	               : 0;
}

static int check_meta(const struct opening *o, int fd, off_t at, uint64_t file_bytes,
                      uint64_t *ret_page_size)
{
	uint64_t size = 0, last = 0;
	int ret = tree_head(fd, at, &size, &last);

	if (ret == E_LAYOUT) {
		return fail_open(
			o, E_FOREIGN,
			"%s/data.mdb was written on another kind of machine (byte order or word size); move it away, or choose another folder with %s",
			o->path, o->kind->option);
	}
	if (ret != E_OK) {
		return fail_open(
			o, E_FOREIGN,
			"%s/data.mdb is not an LMDB database; move it away, or choose another folder with %s",
			o->path, o->kind->option);
	}
	bool size_valid = size >= 512 && size <= 65536 && (size & (size - 1)) == 0;
	if (!size_valid || last > (UINT64_C(1) << 44)) {
		return fail_open(o, E_MALFORMED,
		                 "%s/data.mdb is damaged (its head is not valid); %s",
		                 o->path, damage_remedy(o->kind));
	}
	if ((last + 1) * size > file_bytes) {
		return fail_open(
			o, E_MALFORMED,
			"%s/data.mdb is truncated: %llu bytes instead of at least %llu; %s",
			o->path, (unsigned long long)file_bytes,
			(unsigned long long)((last + 1) * size), damage_remedy(o->kind));
	}
	*ret_page_size = size;
	return E_OK;
}

/* The system refused to open `path`: says what lets this user read. */
static int refused(const struct opening *o, int ret, const char *path)
{
	const struct group *g = getgrnam(DB_GROUP);
	const char *slash = strrchr(o->path, '/');
	char instance[4096];
	struct stat st;

	snprintf(instance, sizeof(instance), "%.*s",
	         slash ? (int)(slash - o->path) : (int)strlen(o->path), o->path);
	if (ret == EACCES && o->kind->shared && !g) {
		return fail_open(o, -ret,
		                 "cannot read %s: %s; there is no group " DB_GROUP
		                 ": 'groupadd --system " DB_GROUP
		                 "' and 'chgrp -R " DB_GROUP " %s' let its members read",
		                 path, strerror(ret), instance);
	}
	if (ret == EACCES && o->kind->shared && stat(instance, &st) == 0 &&
	    st.st_gid != g->gr_gid) {
		return fail_open(o, -ret,
		                 "cannot read %s: %s; 'chgrp -R " DB_GROUP
		                 " %s' lets members of group " DB_GROUP " read",
		                 path, strerror(ret), instance);
	}
	if (o->kind->shared) {
		return fail_open(
			o, -ret,
			"cannot read %s: %s; readers need membership of group " DB_GROUP,
			path, strerror(ret));
	}
	return fail_open(
		o, -ret,
		"cannot read %s: %s; only the user whose file it is may read it, or choose another folder with %s",
		path, strerror(ret), o->kind->option);
}

/* The head of an existing data.mdb. An empty or missing file is fine for a writer. */
static int check_head(const struct opening *o, bool write)
{
	char path[4096];
	int ret = file_path(o, "data.mdb", path);
	if (ret != E_OK) {
		return ret;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st = { 0 };
	if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0) {
		int errnum = fd < 0 ? errno : 0;
		if (fd >= 0) {
			close(fd);
		}
		if (errnum == 0 || errnum == ENOENT || errnum == ENOTDIR) {
			return write ? E_OK
			             : fail_open(
					       o, E_NOTREADY,
					       "there is no database in %s yet: is saguarod running with this %s?",
					       o->path, o->kind->option);
		}
		return refused(o, errnum, path);
	}
	uint64_t page_size = 0;
	ret = check_meta(o, fd, 0, (uint64_t)st.st_size, &page_size);
	if (ret == E_OK) {
		ret = check_meta(o, fd, (off_t)page_size, (uint64_t)st.st_size,
		                 &page_size);
	}
	close(fd);
	return ret;
}

static int check_space(const struct opening *o, uint64_t need_bytes)
{
	struct statvfs v;
	if (need_bytes == 0) {
		return E_OK;
	}
	if (statvfs(o->path, &v) != 0) {
		return fail_open(o, -errno, "cannot determine the free space of %s: %s",
		                 o->path, strerror(errno));
	}
	char path[4096];
	struct stat st;
	uint64_t have = (uint64_t)v.f_bavail * v.f_frsize;
	if (file_path(o, "data.mdb", path) == E_OK && stat(path, &st) == 0) {
		have += (uint64_t)st.st_blocks * 512; /* the file that is there already */
	}
	if (have < need_bytes) {
		return fail_open(
			o, -ENOSPC,
			"the %s folder %s is too small: %llu MiB free of %llu MiB, %llu MiB needed; enlarge that file system, or choose another with %s",
			o->kind->name, o->path, (unsigned long long)(have >> 20),
			(unsigned long long)(((uint64_t)v.f_blocks * v.f_frsize) >> 20),
			(unsigned long long)((need_bytes + (1 << 20) - 1) >> 20),
			o->kind->option);
	}
	return E_OK;
}

static int map_env(const struct opening *o, struct db *db, size_t map_bytes,
                   unsigned flags)
{
	int mdb_ret = mdb_env_create(&db->env);
	if (mdb_ret == 0) {
		mdb_ret = mdb_env_set_userctx(db->env, (void *)(uintptr_t)o->kind);
	}
	if (mdb_ret == 0) {
		mdb_ret = mdb_env_set_assert(db->env, tell_broken);
	}
	if (mdb_ret == 0) {
		mdb_ret = mdb_env_set_maxdbs(db->env, DB_TABLES_MAX);
	}
	if (mdb_ret == 0) {
		mdb_ret = mdb_env_set_maxreaders(db->env, MAX_READERS);
	}
	if (mdb_ret == 0) {
		mdb_ret = mdb_env_set_mapsize(db->env, map_bytes);
	}
	if (mdb_ret == 0) {
		mdb_ret = mdb_env_open(db->env, o->path, flags | MDB_NOTLS, 0640);
	}
	return mdb_ret;
}

/* A limit of address space (ulimit -v) gives a smaller map, which holds a smaller fabric. */
static int open_env(const struct opening *o, struct db *db, uint64_t map_bytes,
                    unsigned flags)
{
	size_t room = map_bytes < MAP_BYTES_MAX ? map_bytes : MAP_BYTES_MAX;
	int mdb_ret = map_env(o, db, room, flags);
	while (mdb_ret == ENOMEM && room / 2 >= MAP_BYTES_MIN) {
		mdb_env_close(db->env);
		db->env = NULL;
		room /= 2;
		mdb_ret = map_env(o, db, room, flags);
	}
	if (mdb_ret == 0) {
		cut_end_process_on_fault();
		return E_OK;
	}
	if (mdb_ret == MDB_VERSION_MISMATCH || mdb_ret == MDB_INVALID) {
		return fail_open(
			o, E_FOREIGN,
			"%s/data.mdb is of another kind of LMDB (%s); move it away, or choose another folder with %s",
			o->path, mdb_strerror(mdb_ret), o->kind->option);
	}
	return fail_open(o, mdb_ret > 0 ? -mdb_ret : db_err(mdb_ret),
	                 "cannot open the %s database in %s: %s", o->kind->name, o->path,
	                 mdb_strerror(mdb_ret));
}

static int open_tables(struct db *db, MDB_txn *txn, unsigned flags)
{
	int mdb_ret = 0;
	for (unsigned i = 0; i < db->n_tables && mdb_ret == 0; i++) {
		mdb_ret = mdb_dbi_open(txn, db->kind->tables[i], flags, &db->dbi[i]);
	}
	return mdb_ret;
}

/* Is the unnamed table empty? It holds the names of the others. */
static int is_empty(MDB_txn *txn, bool *ret_is_empty)
{
	MDB_dbi main_dbi;
	MDB_stat st;
	int mdb_ret = mdb_dbi_open(txn, NULL, 0, &main_dbi);
	if (mdb_ret == 0) {
		mdb_ret = mdb_stat(txn, main_dbi, &st);
	}
	if (mdb_ret == 0) {
		*ret_is_empty = st.ms_entries == 0;
	}
	return mdb_ret;
}

/* \param ret_outdated  Set where a writer may empty the file, because its contents are
 *                       made anew and are of an older layout. */
static int check_layout(const struct opening *o, const struct db_val *v, bool writer,
                        bool *ret_outdated)
{
	struct row_layout row;
	if (v->len != sizeof(row)) {
		return fail_open(o, E_FOREIGN,
		                 "%s holds no Saguaro database; choose another with %s",
		                 o->path, o->kind->option);
	}
	memcpy(&row, v->data, sizeof(row));
	if (strncmp(row.kind, o->kind->name, sizeof(row.kind)) != 0) {
		return fail_open(
			o, E_FOREIGN,
			"%s holds another kind of Saguaro database than the %s; choose another folder with %s",
			o->path, o->kind->name, o->kind->option);
	}
	uint32_t oldest = o->kind->oldest ? o->kind->oldest : o->kind->layout;
	if (writer && o->kind->rebuilt && row.layout < o->kind->layout) {
		*ret_outdated = true;
		return E_OK;
	}
	if (row.layout > o->kind->layout || row.layout < oldest) {
		return fail_open(
			o, E_LAYOUT,
			"the %s database in %s was written by %s Saguaro (layout %u, this one reads %u); use that version, or choose another folder with %s",
			o->kind->name, o->path,
			row.layout > o->kind->layout ? "a newer" : "an older", row.layout,
			o->kind->layout, o->kind->option);
	}
	return E_OK;
}

/* The layout row, also of an older layout that is taken over, and in a new file `meta` of
 * shared kinds so that a reader finds a head to compare. */
static void put_first_rows(struct db *db, struct db_txn *t, bool empty)
{
	struct row_layout row = { .layout = db->kind->layout };
	snprintf(row.kind, sizeof(row.kind), "%s", db->kind->name);
	if (empty || db->kind->oldest) {
		db_put(t, DB_LAYOUT, DB_KEY_LAYOUT, sizeof(DB_KEY_LAYOUT), &row,
		       sizeof(row));
	}
	if (empty && db->kind->shared) {
		struct row_head head = { .txn = mdb_txn_id(t->txn) };
		db_put(t, DB_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &head, sizeof(head));
	}
}

/* Compares the layout row before any other table is touched. */
static int verify(const struct opening *o, struct db_txn *t, bool *ret_outdated)
{
	struct db_val v;
	int ret = db_get(t, DB_LAYOUT, DB_KEY_LAYOUT, sizeof(DB_KEY_LAYOUT), &v);

	if (ret != E_OK && ret != E_NOTFOUND && ret != E_FOREIGN) {
		return fail_open(o, ret, "the %s database in %s is damaged; %s",
		                 o->kind->name, o->path, damage_remedy(o->kind));
	}
	if (ret != E_OK) {
		v.len = 0;
	}
	return check_layout(o, &v, t->write, ret_outdated);
}

static int setup_writer(const struct opening *o, struct db *db)
{
	struct db_txn t;
	bool empty = false, outdated = false;
	int ret = db_begin(&t, db, true);
	if (ret != E_OK) {
		return fail_open(o, ret, "cannot write to the %s database in %s: %s",
		                 o->kind->name, o->path, err_text(ret));
	}
	int mdb_ret = is_empty(t.txn, &empty);
	if (mdb_ret == 0 && !empty) {
		mdb_ret = mdb_dbi_open(t.txn, db->kind->tables[DB_LAYOUT], 0,
		                       &db->dbi[DB_LAYOUT]);
		t.ret = mdb_ret == MDB_INCOMPATIBLE ? E_FOREIGN : db_err(mdb_ret);
		ret = verify(o, &t, &outdated);
		if (ret != E_OK) {
			db_abort(&t);
			return ret;
		}
		t.ret = E_OK;
	}
	if (mdb_ret == 0) {
		mdb_ret = open_tables(db, t.txn, MDB_CREATE);
	}
	t.ret = db_err(mdb_ret);
	for (unsigned i = 0; outdated && i < db->n_tables; i++) {
		db_clear(&t, i);
	}
	if (!outdated && db->kind->convert) {
		db->kind->convert(&t);
	}
	empty = empty || outdated;
	put_first_rows(db, &t, empty);
	ret = db_commit(&t);
	db->created = empty;
	return ret == E_OK ? E_OK
	                   : fail_open(o, ret, "cannot set up the %s database in %s: %s",
	                               o->kind->name, o->path, err_text(ret));
}

/*
 * Without LMDB's lock a root may be caught half written: the head in `meta` then holds
 * another transaction's id, and the handles are opened again.
 */
static int setup_reader(const struct opening *o, struct db *db)
{
	int ret = E_MALFORMED;

	for (unsigned i = 0; i < OPEN_TRIES; i++) {
		struct db_txn t;
		struct db_val v;
		struct row_head head;
		bool outdated = false;

		ret = db_begin(&t, db, false);
		if (ret == E_OK && t.trees.names.is_empty) {
			db_abort(&t);
			return fail_open(o, E_NOTREADY, "nothing is published in %s yet",
			                 o->path);
		}
		if (ret == E_OK) {
			ret = verify(o, &t, &outdated);
		}
		if (ret == E_OK &&
		    db_get(&t, DB_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &v) == E_OK &&
		    v.len >= sizeof(head)) {
			memcpy(&head, v.data, sizeof(head));
			if (head.txn == t.trees.id) {
				db_abort(&t);
				return E_OK;
			}
		}
		uint64_t id = t.trees.id;
		db_abort(&t);
		if (ret != E_OK && db_last_txn(db) == id) {
			return ret; /* no writer is active, so the root is complete */
		}
	}
	return fail_open(
		o, E_MALFORMED,
		"the %s database in %s is damaged: its tables cannot be read; %s",
		o->kind->name, o->path, damage_remedy(o->kind));
}

static int refuse_damaged(const struct opening *o)
{
	struct db_row row = { .table = NULL };
	const char *what;

	if (damage_check(o->kind, o->path, &row) != E_MALFORMED) {
		return E_OK;
	}
	what = o->a != NULL ? damage_what(o->kind, o->path, &row, o->a) : NULL;
	return fail_open(o, E_MALFORMED, "%s; %s",
	                 what != NULL ? what : err_text(E_MALFORMED),
	                 damage_remedy(o->kind));
}

/* Empties a damaged database whose contents are made anew, or any if \a anew, and says so. */
static int discard_damaged(const struct opening *o, bool anew)
{
	const struct opening quiet = { .kind = o->kind, .path = o->path };
	int copied = E_OK, ret = anew ? E_MALFORMED : check_head(&quiet, true);
	struct db_row row;

	if (ret == E_OK) {
		ret = damage_check(o->kind, o->path, &row);
	}
	if (ret != E_MALFORMED && ret != E_FOREIGN) {
		return E_OK; /* what is wrong otherwise shows when it is opened */
	}
	ret = damage_discard(o->path, &copied);
	if (ret != E_OK) {
		return fail_open(
			o, ret,
			"the %s database in %s is damaged and cannot be made anew: %s; remove that folder while nobody reads it",
			o->kind->name, o->path, err_text(ret));
	}
	if (copied != E_OK) {
		return fail_open(
			o, E_OK,
			"the %s database in %s was damaged and is made anew; there is no copy of the damaged one: %s",
			o->kind->name, o->path, err_text(copied));
	}
	return fail_open(
		o, E_OK,
		"the %s database in %s was damaged and is made anew; the damaged one is kept as %s/data.mdb.damaged",
		o->kind->name, o->path, o->path);
}

static int open_writer(const struct db_kind *kind, const char *path, uint64_t map_bytes,
                       uint64_t need_bytes, bool anew, struct arena *a,
                       const char **ret_why, struct db **ret_db)
{
	struct opening o = { kind, path, a, ret_why };
	struct db *db = db_new(kind);
	if (!db) {
		return -ENOMEM;
	}
	int fd = -1;
	int ret = make_folders(&o);
	if (ret == E_OK) {
		ret = take_lock(&o, db);
	}
	if (ret == E_OK && kind->rebuilt) {
		ret = discard_damaged(&o, anew);
	}
	if (ret == E_OK) {
		ret = check_head(&o, true);
	}
	if (ret == E_OK && !kind->rebuilt) {
		ret = refuse_damaged(&o);
	}
	if (ret == E_OK) {
		ret = check_space(&o, need_bytes);
	}
	/* created and closed before LMDB opens it, because a later close would drop
	 * LMDB's locks on it */
	if (ret == E_OK) {
		ret = open_file(&o, "lock.mdb", 0600, &fd);
	}
	if (ret == E_OK) {
		close(fd);
		ret = open_file(&o, "data.mdb", kind->shared ? 0640 : 0600, &fd);
	}
	if (ret == E_OK) {
		close(fd);
		ret = kind->shared ? open_writer_count(&o, db, true) : E_OK;
	}
	if (ret == E_OK) {
		ret = open_env(&o, db, map_bytes ? map_bytes : kind->map_bytes,
		               kind->flags);
	}
	if (ret == E_OK) {
		int dead;
		mdb_reader_check(db->env, &dead);
		ret = setup_writer(&o, db);
	}
	if (ret != E_OK) {
		db_unref(db);
		return ret;
	}
	*ret_db = db;
	return E_OK;
}

int db_open_writer(const struct db_kind *kind, const char *path, uint64_t map_bytes,
                   uint64_t need_bytes, struct arena *a, const char **ret_why,
                   struct db **ret_db)
{
	return open_writer(kind, path, map_bytes, need_bytes, false, a, ret_why, ret_db);
}

int db_open_writer_anew(const struct db_kind *kind, const char *path, uint64_t map_bytes,
                        uint64_t need_bytes, struct arena *a, const char **ret_why,
                        struct db **ret_db)
{
	return open_writer(kind, path, map_bytes, need_bytes, true, a, ret_why, ret_db);
}

int db_open_reader(const struct db_kind *kind, const char *path, struct arena *a,
                   const char **ret_why, struct db **ret_db)
{
	struct opening o = { kind, path, a, ret_why };
	struct db *db = db_new(kind);
	if (!db) {
		return -ENOMEM;
	}
	int ret = check_head(&o, false);
	if (ret == E_OK) {
		ret = open_writer_count(&o, db, false);
	}
	if (ret == E_OK) {
		/* the kind's and not the file's: another process may have written the file
		 * with less or more address space */
		ret = tree_open(path, kind->map_bytes, &db->trees);
		if (ret != E_OK) {
			fail_open(&o, ret, "cannot map %s/data.mdb: %s", path,
			          err_text(ret));
		}
	}
	if (ret == E_OK) {
		ret = setup_reader(&o, db);
	}
	if (ret != E_OK) {
		db_unref(db);
		return ret;
	}
	*ret_db = db;
	return E_OK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <lmdb.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/lmdb/tree.h"

struct arena;
struct db_txn;
struct db_val;

/*!
 * One LMDB environment: folder, files, locks, table handles. Private to this room.
 *
 *   <path>/data.mdb  0640  LMDB's data
 *   <path>/lock.mdb  0600  LMDB's reader slots and mutexes: of the writer's process alone
 *   <path>/lock      0600  flock() held by the writer for life, its process id inside
 *   <path>/writer    0640  three words of 8 bytes, host order: how many writers have opened, the last
 *                          beat of the one at work (CLOCK_BOOTTIME ms) and what it met then, as an
 *                          error (shared kinds). They need no space on a disk that is full
 *
 * A writer that opens adds one to `writer` before its first transaction. Pins die with
 * the process that held them, so a foreign reader whose epoch is superseded trusts it
 * only while that number stays what it was; see view.h.
 */
enum { DB_TABLES_MAX = 32 };

/*! Its members read databases of shared kinds. */
#define DB_GROUP "saguaro"

struct db_kind {
	const char *name;          /*!< "snapshot": in sentences and in the layout row */
	const char *option;        /*!< flag that names another folder */
	uint32_t layout;           /*!< number of the byte layouts, see layout.h */
	uint32_t oldest;           /*!< layouts from here on are taken over; 0: none is */
	/*! Brings rows of an older layout to this one. NULL: they are the same. */
	void (*convert)(struct db_txn *t);
	/*! Is a row of this table of the form that its readers expect? NULL: nobody asks. */
	bool (*is_sound)(unsigned table, const struct db_val *key,
	                 const struct db_val *val);
	const char *const *tables; /*!< NULL-terminated; the first is "layout" */
	unsigned flags;            /*!< MDB_NOSYNC or 0 */
	uint64_t map_bytes;        /*!< address space */
	bool shared;               /*!< read by other processes */
	bool rebuilt;              /*!< the daemon makes the contents anew, so a writer empties a file of an older layout */
};

struct db {
	const struct db_kind *kind;
	MDB_env *env; /*!< NULL: a reader in another process, which has trees */
	struct tree_file trees;
	MDB_dbi dbi[DB_TABLES_MAX];
	unsigned n_tables;
	_Atomic unsigned refs;
	int lock_fd;   /*!< holds the flock, -1: a reader */
	int writer_fd; /*!< `writer`, -1: not a shared kind */
	_Atomic int64_t end_bytes; /*!< of the pages in use after the last commit; 0: not known. Only with env */
	bool created;         /*!< tables were made by this open */
};

/*!
 * \brief Opens or creates \a path as its only writer; missing folders are made. A damaged
 *        database of a rebuilt kind is copied and emptied, one of another kind refused; see damage.c.
 *
 * \param map_bytes   0: the kind's.
 * \param need_bytes  Free space there has to be, 0: any.
 * \param ret_why     Sentence with folder and remedy on failure, or NULL. On success it is
 *                    set only if the database was damaged.
 * \retval E_LOCKED E_LAYOUT E_FOREIGN E_MALFORMED -ENOSPC -EACCES -errno
 */
int db_open_writer(const struct db_kind *kind, const char *path, uint64_t map_bytes,
                   uint64_t need_bytes, struct arena *a, const char **ret_why,
                   struct db **ret_db);

/*! \brief The same for a rebuilt kind whose rows turned out to be damaged: empties it. */
int db_open_writer_anew(const struct db_kind *kind, const char *path, uint64_t map_bytes,
                        uint64_t need_bytes, struct arena *a, const char **ret_why,
                        struct db **ret_db);

/*!
 * \brief Opens \a path from another process, without LMDB: nothing is written, and no byte of a
 *        damaged file ends the process (lmdb/tree.h).
 * \retval E_NOTREADY  Folder, file or tables are not there yet.
 * \retval E_LAYOUT E_FOREIGN E_MALFORMED -EACCES -errno
 */
int db_open_reader(const struct db_kind *kind, const char *path, struct arena *a,
                   const char **ret_why, struct db **ret_db);

struct db *db_ref(struct db *db);
void db_unref(struct db *db); /*!< the last one closes; NULL is fine */

/*! A sign of life beside the database, which stays where the disk is full. */
struct db_beat {
	uint64_t at_ms;
	int64_t met; /*!< E_OK, or why it cannot write */
};

/*! \brief Writes it; for the writer of a shared kind. */
void db_put_beat(struct db *db, uint64_t at_ms, int met);

/*! \brief The last one; zeroed: none. */
struct db_beat db_last_beat(const struct db *db);

/*! \brief Ends the process with a line in the log that says that the file was cut short. */
void db_end_process(const struct db *db) __attribute__((noreturn));

/*! \brief How many writers have opened a shared kind; 0: nobody can say. A system call. */
uint64_t db_writer_count(const struct db *db);

/*! \brief Newest committed transaction: a read of shared memory. */
uint64_t db_last_txn(const struct db *db);

/* --- damaged databases (damage.c) ----------------------------------------------------- */

/*!
 * Damaged databases: found before they are used. Those of kinds that the daemon makes anew are kept as
 * a copy, and emptied. For the writer, who holds the lock of the folder and has not opened the
 * environment yet.
 */

/*! A damaged row. */
struct db_row {
	const char *table; /*!< its name; NULL: none */
	size_t key_len;
	uint8_t key[48]; /*!< its first bytes */
};

/*!
 * \brief Reads all rows of all tables in a child process, because LMDB ends the process that
 *        meets some kinds of damage.
 * \retval E_OK  Sound, or there is no database yet. \retval E_MALFORMED  Damaged.
 * \param ret_row  The row whose form is wrong; without a table if it is not one row.
 * \retval -errno  The child process cannot be started.
 * Cost: reads the whole file.
 */
int damage_check(const struct db_kind *kind, const char *path, struct db_row *ret_row);

/*! \brief Notes a row. */
void damage_note(struct db_row *row, const struct db_kind *kind, unsigned table,
                 const void *key, size_t key_len);

/*! \brief "the state database in /var/lib/x is damaged", with the row if one is noted: the begin of
 *  a sentence in \a a. \return NULL: out of memory. */
const char *damage_what(const struct db_kind *kind, const char *path,
                        const struct db_row *row, struct arena *a);

/*! \brief What to do about a damaged database of this kind: the end of a sentence. */
const char *damage_remedy(const struct db_kind *kind);

/*! \brief As err_text(); of a damaged database a sentence in \a a with its folder, the row and the remedy. */
const char *damage_text(const struct db *db, const struct db_row *row, int ret,
                        struct arena *a);

/*!
 * \brief Copies data.mdb to data.mdb.damaged, in place of an older copy, and empties it.
 *
 * The file stays the same and does not shrink, because readers may have it mapped.
 *
 * \param ret_copied  Why there is no copy, as an error; E_OK: there is one.
 * \retval -errno  It cannot be emptied.
 */
int damage_discard(const char *path, int *ret_copied);

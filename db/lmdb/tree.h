/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cut_watch;

/*!
 * Trees of an LMDB file, read without LMDB, which trusts every byte that it has mapped: a page
 * number, an offset or a length that is wrong ends its process. Here each is compared with what it
 * may be before it is followed, so a damaged file gives E_MALFORMED, and one that is being changed
 * gives that or bytes that are not of one epoch (view.h finds out). For readers in other processes
 * than the writer's; see tree.c and doc/decisions/0017. Private to this room.
 */

enum { TREE_LEVELS = 16 };

/*! A file that is mapped to its end as it will ever be. */
struct tree_file {
	const uint8_t *map;
	size_t map_bytes;
	size_t page_bytes;
	int fd;
	struct cut_watch *watch; /*!< NULL: none was left */
};

/*! Root of a tree, as a row of another tree or a meta page holds it. */
struct tree_root {
	uint64_t page;
	uint64_t n_rows;
	bool is_empty;
};

/*! One committed transaction. */
struct tree_txn {
	const struct tree_file *file;
	uint64_t id;
	uint64_t n_pages;       /*!< numbers from here on are not valid */
	struct tree_root names; /*!< the tree that holds the others */
	struct tree_root free;  /*!< lists of free pages, by transaction */
	uint64_t cuts;          /*!< tree_cuts() before it was taken */
};

/*! Where tree_seek() or tree_next() stopped. Zeroed: nowhere. */
struct tree_cursor {
	struct {
		uint32_t page;
		uint16_t at, n; /*!< node, and number of nodes */
	} level[TREE_LEVELS];
	unsigned depth; /*!< levels in use, the leaf is the last; 0: nowhere */
};

/*! Borrowed bytes of the map. */
struct tree_bytes {
	const uint8_t *data;
	size_t len;
};

/*!
 * \brief The head of a file of LMDB.
 * \param at  0 or the size of a page: there are two.
 * \retval E_FOREIGN  It is none. \retval E_LAYOUT  Of a machine of another byte order or word size.
 */
int tree_head(int fd, off_t at, uint64_t *ret_page_bytes, uint64_t *ret_last_page);

/*!
 * \brief Maps <path>/data.mdb, whose head was checked.
 * \param map_bytes  Most that the file will have; less of it where address space is short.
 * \retval E_MALFORMED -errno
 */
int tree_open(const char *path, uint64_t map_bytes, struct tree_file *ret_file);
void tree_close(struct tree_file *f); /*!< zeroed is fine */

/*! \brief Newest committed transaction: two reads of shared memory. */
uint64_t tree_last_txn(const struct tree_file *f);

/*! \brief How often the file turned out to be cut short: what was read meanwhile may be zeros. */
uint64_t tree_cuts(const struct tree_file *f);

/*! \brief Takes the newest one. \retval E_MALFORMED -errno */
int tree_begin(const struct tree_file *f, struct tree_txn *ret_txn);

/*! \brief Root of a tree by its name. \retval E_NOTFOUND E_MALFORMED */
int tree_find(const struct tree_txn *t, const char *name, struct tree_root *ret_root);

/*!
 * \brief First row with a key >= \a key; key_len 0: the first.
 * \param exact  Only this key.
 * \retval E_NOTFOUND E_MALFORMED
 * Cost: O(log rows). A key near the one before costs less.
 */
int tree_seek(const struct tree_txn *t, const struct tree_root *root,
              struct tree_cursor *c, const void *key, size_t key_len, bool exact,
              struct tree_bytes *ret_key, struct tree_bytes *ret_bytes);

/*! \brief The row after the one that the cursor is on. \retval E_NOTFOUND E_MALFORMED */
int tree_next(const struct tree_txn *t, struct tree_cursor *c, struct tree_bytes *ret_key,
              struct tree_bytes *ret_bytes);

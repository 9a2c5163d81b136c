/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/store/store.h"

/*!
 * A sorted index of the rows of one table: a B+ tree of two levels. Rows are sorted by
 * their owner, which is a range of bytes of the row, and then by key. Without an owner
 * (len 0) they are sorted by key alone. Private to the store.
 *
 * Rows are borrowed. No two rows of an index have the same key.
 */
enum { LEAF_ROWS = 128 };

struct leaf {
	size_t n; /*!< at least 1 */
	struct store_row *row[LEAF_ROWS];
};

/*! The position of a row: its leaf, and its slot in that leaf. */
struct row_pos {
	size_t leaf, slot;
};

struct row_index {
	size_t at, len;       /*!< the owner's bytes in a row; len 0: no owner */
	struct leaf **leaf;
	size_t n, cap;
	struct leaf *spare;   /*!< for the next split, which then cannot fail */
	struct row_pos *last; /*!< position of the row that was returned last: the search
	                           for the row after it starts here */
};

/*! A bound in an index: before the row of an owner and key, or after all rows of the owner.
 *  Owner NULL stands for the rows that are too short to have an owner; these come first. */
struct row_bound {
	const uint8_t *owner;
	const void *key;
	size_t key_len;
	bool after;
};

/*! \brief Compares a row's key with another one as memcmp() does; a prefix is smaller. */
int row_compare_key(const struct store_row *row, const void *key, size_t key_len);

/*! \brief Whether a row has this owner. */
bool row_has_owner(const struct row_index *ix, const struct store_row *row,
                   const uint8_t *owner);
/*! \brief The owner's bytes in a row. \return NULL: the row is too short. */
const uint8_t *row_owner(const struct row_index *ix, const struct store_row *row);

/*! \brief Position of the first row that is not below a bound, or the end. O(log n) */
struct row_pos row_index_seek(const struct row_index *ix, const struct row_bound *b);
/*! \return NULL at the end. */
struct store_row *row_index_get(const struct row_index *ix, struct row_pos pos);
/*! \brief The row after one. \return NULL: none. O(1) if that one was returned last. */
struct store_row *row_index_next(const struct row_index *ix, const struct store_row *row);
/*! \brief Whether an owner has at least n rows. Cost: of row_index_seek(), and a look at
 * n / LEAF_ROWS leaves if the owner has nearly so many. */
bool row_index_has(const struct row_index *ix, const uint8_t *owner, size_t n);

/*! \brief Allocates what the next row_index_insert() may need. \retval -ENOMEM */
int row_index_reserve(struct row_index *ix);
/*! \brief Inserts a row; row_index_reserve() was called before. Cannot fail. */
void row_index_insert(struct row_index *ix, struct store_row *row);
void row_index_remove(struct row_index *ix, const struct store_row *row);
void row_index_clear(struct row_index *ix);
void row_index_done(struct row_index *ix);

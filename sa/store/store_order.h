/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/store/store.h"

/*!
 * Rows of a store in one order: by some bytes at one place of a row (its owner), then by key.
 * Private to the store. Rows are borrowed; their keys are different.
 */
enum { LEAF_ROWS = 128 };

struct leaf {
	size_t n; /*!< never 0 */
	struct store_row *row[LEAF_ROWS];
};

/*! Where a row is: a leaf, and its place there. */
struct place {
	size_t leaf, slot;
};

struct order {
	size_t at, len;       /*!< the owner's bytes; len 0: by key alone */
	struct leaf **leaf;
	size_t n, cap;
	struct leaf *spare;   /*!< for the next split, which then cannot fail */
	struct place *finger; /*!< the row that was handed out last, to find the next one */
};

/*! A point in an order: before the rows of an owner and key, or behind all of the owner.
 *  Owner NULL: rows too short to have one, which come first. */
struct point {
	const uint8_t *owner;
	const void *key;
	size_t key_len;
	bool behind;
};

/*! \brief Like memcmp() of a row's key and another; a beginning is below what it begins. */
int compare_key(const struct store_row *row, const void *key, size_t key_len);

/*! \brief Is this the owner of a row? */
bool order_is_owner(const struct order *o, const struct store_row *row, const uint8_t *owner);
/*! \brief The owner's bytes in a row. \return NULL: it is too short. */
const uint8_t *order_owner(const struct order *o, const struct store_row *row);

/*! \brief The first row that is not before a point, or the place behind all. O(log n) */
struct place order_seek(const struct order *o, const struct point *p);
/*! \return NULL: behind all. */
struct store_row *order_row(const struct order *o, struct place at);
/*! \brief The row behind one. \return NULL: none. O(1) when that one was handed out last. */
struct store_row *order_next(const struct order *o, const struct store_row *row);
/*! \brief Has an owner so many rows, or more? Cost: of order_seek(), unless it nearly
 * has. */
bool order_has(const struct order *o, const uint8_t *owner, size_t n);

/*! \brief Makes sure that the next order_insert() finds memory. \retval -ENOMEM */
int order_reserve(struct order *o);
void order_insert(struct order *o, struct store_row *row);
void order_remove(struct order *o, const struct store_row *row);
void order_clear(struct order *o);
void order_done(struct order *o);

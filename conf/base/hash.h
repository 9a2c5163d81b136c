/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct arena;

/*!
 * Hash table from a 64-bit key to a 32-bit value: open addressing with linear probing, at
 * most half full. It serves two kinds of keys:
 *
 * - The key is the whole identity, such as a GUID: hash_get() and hash_put().
 * - The key is a digest (conf/base/digest.h) of something longer, and the value is the
 *   number of a row of the caller: HASH_FIND() and hash_add(). Rows that differ may share
 *   a digest, so the caller compares the rows.
 *
 * Zeroed is an empty table on the heap. A table whose \a arena is set takes its memory
 * from there, and nothing has to free it.
 */
struct hash_table {
	struct hash_slot *slot; /*!< [1 << bits], NULL while bits is 0 */
	struct arena *arena;    /*!< NULL: heap */
	uint32_t n;             /*!< entries */
	unsigned bits;
};

struct hash_slot {
	uint64_t key;
	uint32_t value;
	uint32_t used;
};

/*! No value. It cannot be stored. */
#define HASH_NONE UINT32_MAX

/*! \brief Slot where the search for a key begins. The table has slots. */
static inline size_t hash_first(const struct hash_table *t, uint64_t key)
{
	/* 2^64 by the golden ratio: keys that follow each other spread well. */
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - t->bits));
}

/*! \brief The slot after this one. */
static inline size_t hash_next(const struct hash_table *t, size_t at)
{
	return (at + 1) & (((size_t)1 << t->bits) - 1);
}

/*!
 * \brief Value of the entry with this key for which an expression holds.
 *
 * \param i         Name of the value that \a is_equal uses; a uint32_t.
 * \param is_equal  Expression: is row \a i the one that is sought?
 * \return HASH_NONE if there is none.
 *
 *     uint64_t key = digest_bytes(0, name, len);
 *     uint32_t at = HASH_FIND(&t, key, i, strcmp(row[i].name, name) == 0);
 *
 * Cost: expected O(1).
 */
#define HASH_FIND(t, key_, i, is_equal)                                                  \
	({                                                                               \
		const struct hash_table *const t_ = (t);                                 \
		const uint64_t k_ = (key_);                                              \
		size_t at_ = t_->bits > 0 ? hash_first(t_, k_) : 0;                      \
		uint32_t found_ = HASH_NONE;                                             \
		for (; t_->bits > 0 && t_->slot[at_].used; at_ = hash_next(t_, at_)) {   \
			const uint32_t i = t_->slot[at_].value;                          \
			if (t_->slot[at_].key == k_ && (is_equal)) {                     \
				found_ = i;                                              \
				break;                                                   \
			}                                                                \
		}                                                                        \
		found_;                                                                  \
	})

/*! \brief Value of a key. \return HASH_NONE if there is none. Expected O(1). */
uint32_t hash_get(const struct hash_table *t, uint64_t key);

/*! \brief Sets the value of a key, which may be new. Amortised O(1). \retval -ENOMEM */
int hash_put(struct hash_table *t, uint64_t key, uint32_t value);

/*!
 * \brief Adds an entry; others may have the same key. Amortised O(1).
 *
 * \retval -ENOMEM  The table is as before.
 */
int hash_add(struct hash_table *t, uint64_t key, uint32_t value);

/*! \brief Makes room for \a n entries in all. \retval -ENOMEM */
int hash_reserve(struct hash_table *t, uint32_t n);

/*! \brief Removes all entries and keeps the memory. O(size). */
void hash_clear(struct hash_table *t);

/*! \brief Frees what is on the heap and leaves an empty table. */
void hash_done(struct hash_table *t);

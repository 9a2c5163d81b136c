/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "conf/base/hash.h"
#include "sa/sm/table/table_kind.h"

/*!
 * The shadow copy: the tables of all nodes, as these acknowledged or showed them. It lives from
 * sweep to sweep, so only what differs is sent, and a table is read once in the life of its
 * port.
 *
 * Of each block one of these is the case:
 *
 *   unknown            its bytes are those of the kind (table_kind.unknown)
 *   known              its bytes are those of the device
 *   known, doubtful    the device may hold something else: a Set has no answer yet, or the audit
 *                      found another block. It is sent again
 */
enum {
	TABLE_KNOWN = 1,
	TABLE_DOUBTFUL = 2,
	TABLE_LATE_NOTED =
		4, /*!< a Set was sent twice since the audit last looked for such blocks */
	TABLE_LATE_DUE = 8 /*!< the audit reads the block the next time */
};

struct table_store;

/*! One table. It stays where it is until tables_done(). */
struct table {
	struct table_store *store; /*!< that it is in */
	uint64_t guid; /*!< NodeGUID */
	uint32_t unit; /*!< see table_kind.h */
	uint8_t kind;  /*!< enum table_kind_id */
	bool asked; /*!< all blocks were asked for since one was forgotten: the device does not
	                    have those that are unknown */
	bool silent; /*!< but not all of these requests were answered */
	bool noted;  /*!< it is in store->changed */
	uint16_t rows;
	uint32_t cols;
	uint32_t
		live; /*!< columns that the device looks at; an audit passes over others */
	uint8_t *data;  /*!< [rows][cols][bytes of a block] wire order */
	uint8_t *state; /*!< [rows][cols] bits of TABLE_KNOWN and so on */
};

struct table_list {
	struct table **items;
	uint32_t n;
	size_t cap;
	struct hash_table by_key; /*!< index in items */
};

struct table_store {
	struct table_list of[TABLE_KIND_COUNT];
	uint32_t n_late; /*!< blocks that are TABLE_LATE_NOTED */
	struct table **changed; /*!< [n_changed] malloc; see table_note_change() */
	uint32_t n_changed;
	size_t cap_changed;
	bool any_changed; /*!< there was no memory for the list: any table may have changed */
};

static inline uint32_t table_size(const struct table *t)
{
	return t->rows * t->cols;
}

/*! \brief Number of blocks that the device looks at. */
static inline uint32_t table_live(const struct table *t)
{
	return t->rows * (t->cols < t->live ? t->cols : t->live);
}

/*! \brief Number of a block. */
static inline uint32_t table_at(const struct table *t, unsigned row, uint32_t col)
{
	return row * t->cols + col;
}

/*! \brief Bytes of a block, known or not. */
static inline uint8_t *table_block(const struct table *t, uint32_t block)
{
	return t->data + (size_t)block * table_kinds[t->kind].bytes;
}

static inline bool table_knows(const struct table *t, uint32_t block)
{
	return t->state[block] & TABLE_KNOWN;
}

/*! \brief Is a block known for sure? */
static inline bool table_is_sure(const struct table *t, uint32_t block)
{
	return (t->state[block] & (TABLE_KNOWN | TABLE_DOUBTFUL)) == TABLE_KNOWN;
}

/*! \brief Does the device hold these bytes, as far as is known? \param want  As many as a block has. */
static inline bool table_holds(const struct table *t, uint32_t block, const uint8_t *want)
{
	return table_is_sure(t, block) &&
	       memcmp(table_block(t, block), want, table_kinds[t->kind].bytes) == 0;
}

/*! \brief Are all blocks known? */
bool table_is_known(const struct table *t);

void tables_done(struct table_store *s);

/*! \brief The table of a unit. \return NULL: there is none. Expected O(1). */
struct table *table_find(const struct table_store *s, enum table_kind_id kind,
                         uint64_t guid, uint32_t unit);

/*! \brief The same; a new one, or one that had another shape, is empty. One that grows gets at
 *  least so many columns and keeps what is known. NULL: out of memory. */
struct table *table_get(struct table_store *s, enum table_kind_id kind, uint64_t guid,
                        uint32_t unit, unsigned rows, uint32_t cols);

/*! \brief Frees the blocks of a table, which has none then. NULL is fine. */
void table_clear(struct table *t);

/*! \brief Keeps a block. \param data  [len] bytes that the device has of it; the rest counts as 0. */
void table_put(struct table *t, uint32_t block, const uint8_t *data, size_t len);

/*! \brief Forgets a block. Notes of late Sets stay, because these may still be on their way. */
void table_drop(struct table *t, uint32_t block);

/*! \brief Forgets all blocks of a table. NULL is fine. */
void table_forget(struct table *t);

/*! \brief Forgets the row and the column of a port in a table of egress ports. */
void table_forget_port(struct table *t, unsigned port);

/*! \brief Forgets the tables of a unit whose kind has a flag, such as TABLE_GOES_WITH_SWITCH. */
void tables_forget(struct table_store *s, unsigned flag, uint64_t guid, uint32_t unit);

/*! \brief Forgets everything, because another subnet manager may have written it. Tables of egress ports
 *  are not there then. */
void tables_forget_all(struct table_store *s);

/*!
 * \brief Notes that blocks of a table are others, are not known any more or are doubtful: it is in
 *        store->changed until tables_changes_published(). Not an LFT, whose changes follow from
 *        those of the routes.
 */
void table_note_change(struct table *t);

/*! \brief The snapshot has all tables as they are now. */
void tables_changes_published(struct table_store *s);

/*! \brief Notes that a Set of a block was sent more than once. It may arrive again after a newer one, and
 *  undo it. */
void table_note_late(struct table_store *s, struct table *t, uint32_t block);

/*! \brief Makes all noted blocks TABLE_LATE_DUE. \return false: there are none. */
bool tables_late_due(struct table_store *s);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sa_store;
struct snap_end;
struct snap_reader;

/*!
 * Alias GUIDs that clients asked for, as rows of the store:
 *
 *   guids    PortGUID, BlockNum (8 bytes and 1, wire order) -> struct alias_block; the port may be
 *            a virtual one
 *   aliases  alias GUID (8 bytes, wire order)               -> struct alias_row
 *
 * Both tables change together, so that each leads to the other. The store holds only what
 * clients asked for. GUIDs that another subnet manager left in a port are not in it; they
 * stay in the port and count as the port's.
 *
 * A port that leaves the fabric keeps its alias GUIDs for ALIAS_KEPT_S seconds and has them
 * again when it returns. Meanwhile another port may get any of them.
 */
enum {
	ALIAS_BLOCK_GUIDS = 8,
	ALIAS_BLOCK_BYTES = 64,
	ALIAS_BLOCKS_MAX = 32, /*!< GUIDCap is a byte */
	ALIAS_KEPT_S = 7 * 24 * 3600
};

struct alias_block {
	uint8_t guid[ALIAS_BLOCK_BYTES]; /*!< wire order, 0: none */
	uint8_t owned; /*!< bit i: a client set place i, possibly to 0 */
	uint8_t reserved[7];
};

struct alias_row {
	uint64_t port_guid;
	uint8_t block, index;
	uint8_t reserved[6];
};

/*! \brief The GUID of one place, and whether a client set it. */
uint64_t alias_at(const struct alias_block *b, unsigned index);
bool alias_owned(const struct alias_block *b, unsigned index);

/*! \brief The place of an alias GUID. \return false: it is not in the store. O(log n) */
bool alias_find(const struct sa_store *st, uint64_t guid, struct alias_row *ret_row);

/*! \brief What clients set in a block. \return false: nothing, and \a ret_block is zero.
 * O(log n) */
bool alias_block(const struct sa_store *st, uint64_t port_guid, unsigned block,
                 struct alias_block *ret_block);

/*! \brief Overwrites the GUIDs of a port, in wire order, with those that clients set. */
void alias_overlay(const struct alias_block *b, uint8_t guids[ALIAS_BLOCK_BYTES]);

/*!
 * \brief Stores a block and the alias GUIDs in it. If a port that left the fabric has one of
 *        them, that port loses it.
 * \retval -ENOMEM \retval E_FULL
 */
int alias_block_put(struct sa_store *st, uint64_t port_guid, unsigned block,
                     const struct alias_block *b);

/*! \brief A block of the GUIDs of an end port, as published.
 *  \param ret_bytes  [ALIAS_BLOCK_BYTES] borrowed as by snap_attr(). \retval E_NOTFOUND
 *        */
int alias_published(struct snap_reader *r, const struct snap_end *end, unsigned block,
                    const uint8_t **ret_bytes);

/*!
 * \brief The end port with a GUID, as snap_port_guid(), but with the alias GUIDs that
 *        clients have set since the snapshot was published.
 * \param st  NULL: as published.
 * Cost: that of snap_port_guid(); for other GUIDs than PortGUIDs also a look-up in the store.
 */
int alias_port(struct snap_reader *r, const struct sa_store *st, uint64_t guid,
               struct snap_end *ret_end);

/*!
 * \brief Updates the store after a new fabric was published: rows of ports that left begin to
 *        expire, rows of ports that returned no longer do.
 * Cost: two look-ups per port with alias GUIDs.
 */
int alias_after_sweep(struct sa_store *st, struct snap_reader *r);

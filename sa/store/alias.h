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
 * Alias GUIDs that clients asked for, as the store keeps them:
 *
 *   guids    PortGUID, BlockNum (8 bytes and 1, wire order) -> struct alias_block
 *   aliases  alias GUID (8 bytes, wire order)               -> struct alias_row
 *
 * Both change together, so that each finds the other. What no client ever asked for is
 * not here: GUIDs that another subnet manager left in a port stay there and count as the
 * port's.
 *
 * A port that leaves the fabric keeps its alias GUIDs for ALIAS_KEPT_S seconds, and gets
 * them back when it returns; but meanwhile each of them may be given to another port.
 */
enum {
	ALIAS_BLOCK_GUIDS = 8,
	ALIAS_BLOCK_BYTES = 64,
	ALIAS_BLOCKS_MAX = 32, /*!< GUIDCap is a byte */
	ALIAS_KEPT_S = 7 * 24 * 3600
};

struct alias_block {
	uint8_t guid[ALIAS_BLOCK_BYTES]; /*!< wire order, 0: none */
	uint8_t owned; /*!< bit i: what is in place i is what a client wanted, also when
	                  that is none */
	uint8_t reserved[7];
};

struct alias_row {
	uint64_t port_guid;
	uint8_t block, index;
	uint8_t reserved[6];
};

/*! \brief The GUID of one place, and whether it is what a client wanted. */
uint64_t alias_at(const struct alias_block *b, unsigned index);
bool alias_owned(const struct alias_block *b, unsigned index);

/*! \brief Who has an alias GUID. \return false: nobody by the store. O(log n) */
bool alias_find(const struct sa_store *st, uint64_t guid, struct alias_row *ret);

/*! \brief What clients wanted of a block. \return false: nothing, and \a ret is zero.
 * O(log n) */
bool alias_block(const struct sa_store *st, uint64_t port_guid, unsigned block,
                 struct alias_block *ret);

/*! \brief Writes what clients want over the GUIDs that a port has, in wire order. */
void alias_overlay(const struct alias_block *b, uint8_t guids[ALIAS_BLOCK_BYTES]);

/*!
 * \brief Makes a block what \a b says, and its alias GUIDs the port's. One that a port
 * which is gone still had is taken from it. \retval -ENOMEM \retval E_FULL
 */
int alias_block_keep(struct sa_store *st, uint64_t port_guid, unsigned block,
                     const struct alias_block *b);

/*!
 * \brief The end port that a GUID names, as snap_port_guid(), and as clients asked since
 *        that was published.
 * \param st  NULL: as published.
 * Cost: as snap_port_guid() for a PortGUID; a look into the store more for others.
 */
int alias_port(struct snap_reader *r, const struct sa_store *st, uint64_t guid,
               struct snap_end *ret);

/*!
 * \brief What follows from a newly published fabric: the rows of ports that are gone get
 * an end, those of ports that are back lose it. Cost: two look-ups per port with alias
 * GUIDs.
 */
int alias_swept(struct sa_store *st, struct snap_reader *r);

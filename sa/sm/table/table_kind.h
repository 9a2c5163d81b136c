/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disc_node;
struct disc_port;
struct smp_dest;

/*!
 * Kinds of tables (table_kinds.def). A table is blocks in rows and columns. It belongs to a unit
 * of a node:
 *
 *   TABLE_UNIT_NODE    the node; unit 0. Rows are positions of multicast tables, else there is one
 *   TABLE_UNIT_EGRESS  the node; unit 0. A row is an egress port, from 0 on
 *   TABLE_UNIT_PORT    a port; the unit is its number
 */
enum table_unit { TABLE_UNIT_NODE, TABLE_UNIT_EGRESS, TABLE_UNIT_PORT };

enum {
	TABLE_AUDITED = 1, /*!< the audit reads it back */
	TABLE_OURS =
		2, /*!< the copy says what the device is to hold, so the audit keeps it */
	TABLE_MAY_BE_LATE =
		4, /*!< a Set that was sent again is looked after, see audit.h */
	TABLE_GOES_WITH_SWITCH = 8, /*!< is forgotten when the switch was restarted */
	TABLE_GROWS = 16,           /*!< has as many columns as were needed so far */
	TABLE_COLS_ARE_PORTS = 32,  /*!< by which packets come in */
	/*! Only Omni-Path has it, or has it so: it is sent and read as it is. Blocks of egress
	 *  ports that follow each other may share a request */
	TABLE_NATIVE = 64,
	/*! Its attribute is of another management class than SMPs', whose MADs the owner sends. It is
	 *  neither audited nor published */
	TABLE_OTHER_CLASS = 128,
	TABLE_COUNTED = 256 /*!< the modifier says how many blocks there are: 1 */
};

enum {
	LFT_BLOCK_LIDS = 64,
	LFT_BLOCKS = 0xC000 / LFT_BLOCK_LIDS, /*!< that hold LIDs of 16 bits */
	SL2VL_BYTES = 8,
	VL_ARB_BLOCKS = 4,
	CABLE_BLOCKS = 4, /*!< of the memory of a cable's module */
	PORT_BLOCK_P_KEYS = 32,
	PORT_BLOCK_GUIDS = 8,
	OPA_ARB_BLOCKS = 2,     /*!< low, high */
	TABLE_BLOCK_BYTES = 64, /*!< most that a block of InfiniBand has */
	TABLE_BYTES_MOST = 256  /*!< most that any block has */
};

enum table_kind_id {
#define TABLE_KIND(id, ...) TABLE_##id,
#include "sa/sm/table/table_kinds.def"
#undef TABLE_KIND
	TABLE_KIND_COUNT
};

struct table_kind {
	const char *name; /*!< of the attribute */
	uint16_t attr;
	uint16_t bytes; /*!< of a block */
	uint8_t unit;  /*!< enum table_unit */
	uint16_t flags;
	uint8_t unknown;  /*!< every byte of a block of which nothing is known */
	const char *then; /*!< what follows when somebody else changed a block */
	/*! AttributeModifier: bits by which each is shifted, 32: it is not in there; and the
	 *  number of the first column. */
	struct {
		uint8_t unit, row, col, first;
	} mod;
	/*! Bytes that the device has of a block, at most \a bytes; 0: it has no such block. NULL: all. */
	size_t (*length)(const struct disc_node *n, unsigned row, uint32_t col);
};

extern const struct table_kind table_kinds[TABLE_KIND_COUNT];

/*! \brief AttributeModifier of a block. */
uint32_t table_kind_mod(enum table_kind_id kind, const struct disc_node *n, uint32_t unit,
                        unsigned row, uint32_t col);

/*! \brief Bytes from one block to the next in a request. Those below 8 bytes are not padded. */
static inline size_t table_stride(enum table_kind_id kind)
{
	return table_kinds[kind].bytes < 8 ? table_kinds[kind].bytes
	                                   : (table_kinds[kind].bytes + 7U) / 8 * 8;
}

/*! \brief Blocks that hold so many entries. */
static inline unsigned table_blocks_of(uint64_t entries, unsigned of_a_block)
{
	return (unsigned)((entries + of_a_block - 1) / of_a_block);
}

/*! \brief The port that a block belongs to; 0 for a table of the whole node. */
unsigned table_port_of(enum table_kind_id kind, uint32_t unit, unsigned row);

/*! \brief Who answers for a block. \return NULL: nobody that was reached. */
struct smp_dest *table_agent(enum table_kind_id kind, struct disc_node *n, uint32_t unit,
                             unsigned row);

/*! \brief Does a port's node map SLs to VLs? */
bool table_maps_sls(const struct disc_node *n, unsigned port);

/*! \brief Pairs that a port's VL arbitration table of this block holds, 0-64. Blocks are: low 0-31, low
 *  32-63, high 0-31, high 32-63. */
unsigned table_arb_cap(const struct disc_port *p, unsigned block);

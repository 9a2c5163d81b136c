/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/record/record.h"

/*!
 * Records of class version 0x80 from what Omni-Path's devices showed or were told (SNAP_ATTR_OPA). A node
 * that was read by InfiniBand's SMPs has nothing of this, and its records are made of what
 * InfiniBand has.
 */

/*! \brief Was a node read by SMPs of Omni-Path? Then it has records of what it showed, and no others. */
bool opa_native_known(struct snap_reader *r, uint64_t node_guid);

/*! \brief An attribute, or a block of a table. \return [bytes], borrowed; NULL: it is not there. */
const uint8_t *opa_native_block(struct snap_reader *r, uint16_t attr, uint64_t node_guid,
                                uint32_t block, uint16_t bytes);

/*! A table whose blocks are records: RID with LID, then the block. */
struct opa_native_table {
	uint16_t attr;     /*!< of the SMA */
	uint16_t bytes;    /*!< of a block, at most OPA_NATIVE_BYTES */
	int8_t row, block; /*!< components, or SA_NONE: rows are ports, or see reader.h */
};
enum { OPA_NATIVE_BYTES = 256 };

/*! \brief Offers the blocks of an end port's table; of a switch those of all rows. */
int opa_native_offer(struct snap_reader *r, const struct sa_query *q,
                     const struct snap_end *end, const struct opa_native_table *t,
                     struct sa_out *out);

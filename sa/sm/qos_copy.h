/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/sm/guid_map.h"

/*!
 * What the nodes' SL-to-VL and VL arbitration tables hold, as acknowledged or read back:
 * kept by NodeGUID from sweep to sweep, so that only tables that differ are ever sent.
 */
enum { SL2VL_BYTES = 8, VL_ARB_BLOCKS = 4, VL_ARB_BYTES = 64 };

/*! VL arbitration of one port; blocks as the AttributeModifier counts them, less one. */
struct arb_copy {
	bool known[VL_ARB_BLOCKS];
	uint8_t block[VL_ARB_BLOCKS][VL_ARB_BYTES];
};

struct qos_copy {
	uint64_t guid;
	uint16_t n_out, n_in; /*!< ports, slot 0 included; n_in is 1 for a CA or router */
	/*! SLtoVLMappingTable [n_out][n_in], 16 VLs of 4 bits each. All ones (every SL
	 *  dropped, which nobody wants): not known. */
	uint8_t (*sl2vl)[SL2VL_BYTES];
	struct arb_copy *arb; /*!< [n_out] */
	bool read;       /*!< all were asked for since one was forgotten: what is unknown
	                      is not there */
	bool incomplete; /*!< but not all requests were answered */
};

struct qos_copies {
	struct qos_copy **items;
	size_t cap;
	uint32_t n;
	struct guid_map by_guid;
};

/*! \brief Copy of a node, made empty when there is none of this shape. NULL: out of
 * memory. */
struct qos_copy *qos_copy_get(struct qos_copies *c, uint64_t guid, unsigned n_ports,
                              bool is_switch);

/*! \brief Copy of a node, NULL: none. */
struct qos_copy *qos_copy_find(const struct qos_copies *c, uint64_t guid);

/*! \brief Is it of this shape? */
bool qos_copy_fits(const struct qos_copy *c, unsigned n_ports, bool is_switch);

/*! \brief SL-to-VL table for what comes in at \a in (0 for a CA or router). */
static inline uint8_t *qos_copy_sl2vl(const struct qos_copy *c, unsigned out, unsigned in)
{
	return c->sl2vl[(unsigned)c->n_in * out + in];
}

/*! \brief Keeps an SL-to-VL table. NULL: it is not known. */
void qos_copy_set(struct qos_copy *c, unsigned out, unsigned in, const uint8_t *table);

/*! \brief Is this SL-to-VL table known? */
bool qos_copy_knows(const uint8_t table[SL2VL_BYTES]);

/*! \brief Nothing is known any more of the tables of this port, in either direction. */
void qos_copy_forget(struct qos_copy *c, unsigned port);

void qos_copies_done(struct qos_copies *c);

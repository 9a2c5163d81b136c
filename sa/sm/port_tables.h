/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/sm/guid_map.h"

/*!
 * What the P_Key and GUID tables of ports hold, as acknowledged or read: kept by
 * (NodeGUID, port) from sweep to sweep, so that a table is read once in the life of its
 * port.
 */
enum port_table_kind { PORT_P_KEYS, PORT_GUIDS, PORT_TABLE_COUNT };
enum { PORT_BLOCK_BYTES = 64, PORT_BLOCK_P_KEYS = 32, PORT_BLOCK_GUIDS = 8 };

struct port_block {
	bool known;
	uint8_t data[PORT_BLOCK_BYTES]; /*!< wire order */
};

struct port_tables {
	uint64_t guid; /*!< NodeGUID */
	uint8_t port;
	struct {
		uint16_t n;
		struct port_block *block;
	} table[PORT_TABLE_COUNT];
};

struct port_copies {
	struct port_tables **items;
	size_t cap;
	uint32_t n;
	struct guid_map by_port;
};

/*! \brief Tables of a port, made empty when there are none. NULL: out of memory. */
struct port_tables *port_tables_get(struct port_copies *c, uint64_t guid, uint8_t port);

/*! \brief Those that are there, or NULL. */
struct port_tables *port_tables_find(const struct port_copies *c, uint64_t guid,
                                     uint8_t port);

/*! \brief Sets how many blocks a table has; another number than before forgets them.
 * \retval -ENOMEM */
int port_table_size(struct port_tables *t, enum port_table_kind kind, unsigned blocks);

/*! \brief Nothing is known any more (the port was restarted). */
void port_tables_forget(struct port_tables *t);

void port_copies_done(struct port_copies *c);

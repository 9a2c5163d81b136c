/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "conf/base/hash.h"

enum { PORT_KEY_BYTES = 9 /* NodeGUID, u8 port */ };

/*! \brief The key of a port. */
void port_rows_key(uint64_t node_guid, uint8_t port, uint8_t ret_key[PORT_KEY_BYTES]);

/*!
 * Rows of ports that wait for a commit of the stats, the last one of each port. All rows of one list have
 * the same size. Zeroed is none.
 */
struct port_rows {
	uint8_t *bytes; /*!< malloc; n slots, used by port_rows.c */
	size_t n, cap;
	struct hash_table places;
};

/*! \brief Adds a row in place of an earlier one of the port. \param row  [size], copied; NULL: the port is
 *  gone. \retval -ENOMEM  Cost: O(1). */
int port_rows_wait(struct port_rows *w, uint64_t node_guid, uint8_t port, const void *row, size_t size);

/*! \brief A row, by its place from 0 to n - 1. \param ret_row  Aligned to 8 bytes; NULL: the port is gone.
 *  \return Its key, PORT_KEY_BYTES. */
const uint8_t *port_rows_at(const struct port_rows *w, size_t i, size_t size, const void **ret_row);

void port_rows_clear(struct port_rows *w);
void port_rows_done(struct port_rows *w);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*!
 * Acknowledgements of alarms: who knows of one, since when and why. saguarod writes them into the
 * state by the id of the alarm, and they are mirrored in the snapshot under the same keys.
 */
enum { ACK_ID_BYTES = 80, ACK_BY_BYTES = 96, ACK_NOTE_BYTES = 200, ACK_ROW_MAX = 32 + ACK_BY_BYTES + ACK_NOTE_BYTES };

struct alarm_ack {
	int64_t at_s;    /*!< when it was acknowledged, seconds since 1970 */
	int64_t until_s; /*!< when that ends by itself; 0: with the alarm */
	int64_t ended_s; /*!< since when the alarm is over; 0: it is not */
	char id[ACK_ID_BYTES + 1];
	char by[ACK_BY_BYTES + 1];
	char note[ACK_NOTE_BYTES + 1]; /*!< "": none */
};

/*! \brief May this be the id of an alarm: lower-case letters, digits, '_' and '-'? */
bool acks_id_fits(const char *id);

/*! \brief Its key is the id without NUL. \return Bytes of the row. */
size_t acks_encode(const struct alarm_ack *a, uint8_t ret_bytes[ACK_ROW_MAX]);

/*! \brief Reads a row. \param value  Borrowed. \retval E_MALFORMED  Its lengths or its id cannot be. */
int acks_decode(const uint8_t *key, size_t key_len, const void *value, size_t len,
               struct alarm_ack *ret_ack);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

/*! Tables of records that clients write: durable in the state; of the first ones public rows
 *  are mirrored in the snapshot under the same keys. What the bytes are, sa/store/store.h knows. */
enum record_table {
	RECORDS_SERVICES,
	RECORDS_SUBSCRIPTIONS,
	RECORDS_GROUPS,
	RECORDS_MEMBERS,
	RECORDS_GUIDS,
	RECORDS_ALIASES,
	RECORD_TABLES,
	RECORDS_MIRRORED = RECORDS_GUIDS /*!< tables before this one are in the snapshot, too */
};

/*! A row of one of them; bytes are borrowed. */
struct client_row {
	const uint8_t *key, *value; /*!< value NULL: there is none (any more) */
	enum record_table table;
	uint16_t key_len, len;
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

/*! Tables of records that others write: clients of the SA, and operators. They are durable in
 *  the state. The public rows of the first ones are mirrored in the snapshot under the same
 *  keys. sa/store/store.h describes the bytes of client records, db/lmdb/layout.h those of
 *  partitions. */
enum record_table {
	RECORDS_SERVICES,
	RECORDS_SUBSCRIPTIONS,
	RECORDS_GROUPS,
	RECORDS_MEMBERS,
	RECORDS_GUIDS,
	RECORDS_ALIASES,
	RECORDS_OF_CLIENTS, /*!< tables before this one are of clients */
	RECORDS_PARTITIONS = RECORDS_OF_CLIENTS, /*!< made by operators at run time */
	RECORD_TABLES,
	RECORDS_MIRRORED =
		RECORDS_GUIDS /*!< tables before this one are in the snapshot, too */
};

/*! A row of one of these tables; the bytes are borrowed. */
struct client_row {
	const uint8_t *key, *value; /*!< value NULL: the row is deleted */
	enum record_table table;
	uint16_t key_len, len;
};

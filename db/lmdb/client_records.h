/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

/*! Tables of records that others write: clients of the SA, operators, and the sweep. They are durable in
 *  the state. The public rows of some are mirrored in the snapshot under the same
 *  keys. sa/store/store.h describes the bytes of client records, db/lmdb/layout.h those of
 *  partitions, known nodes, acknowledgements and drained nodes. */
enum record_table {
	RECORDS_GUIDS,
	RECORDS_ALIASES,
	RECORDS_SERVICES,
	RECORDS_SUBSCRIPTIONS,
	RECORDS_GROUPS,
	RECORDS_MEMBERS,
	RECORDS_OF_CLIENTS, /*!< tables before this one are of clients */
	RECORDS_KNOWN = RECORDS_OF_CLIENTS, /*!< the nodes that were ever up, by the sweep */
	RECORDS_ACKS,       /*!< acknowledgements of alarms, by operators */
	RECORDS_DRAINED, /*!< nodes and cables out of service, by operators and the sweep */
	RECORDS_PARTITIONS, /*!< made by operators at run time */
	RECORD_TABLES,
	/*! tables from here on, and before the end, are in the snapshot, too */
	RECORDS_MIRRORED_FIRST = RECORDS_SERVICES,
	RECORDS_MIRRORED_END = RECORDS_PARTITIONS,
	RECORDS_MIRRORED = RECORDS_MIRRORED_END - RECORDS_MIRRORED_FIRST
};

/*! A row of one of these tables; the bytes are borrowed. */
struct client_row {
	const uint8_t *key, *value; /*!< value NULL: the row is deleted */
	enum record_table table;
	uint16_t key_len, len;
};

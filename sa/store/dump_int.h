/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*!
 * Lines of OpenSM's dump of subnet administration (opensm-sa.dump), for the reader and the
 * writer. A line begins with a word that names its kind; its fields follow as "key=value",
 * in this order, with a space between them.
 */
enum dump_form {
	DUMP_NUMBER, /*!< 0x and hex digits */
	DUMP_PAIR,   /*!< two numbers of 64 bits, 0x...:0x... */
	DUMP_TEXT    /*!< 'text', at most 64 bytes */
};

struct dump_field {
	const char *key;
	uint8_t form, bits; /*!< bits: width of a number */
	uint8_t digits;     /*!< the least number of digits to write */
};

enum { DUMP_FIELDS_MAX = 18 };

struct dump_value {
	uint64_t n[2];
	char text[65];
};

struct dump_kind {
	const char *word;
	const struct dump_field *fields;
	unsigned n_fields;
};

/*! Fields of each kind, by position. */
enum { DG_MGID, DG_PORT_GID, DG_Q_KEY, DG_MLID, DG_MTU, DG_T_CLASS, DG_P_KEY, DG_RATE, DG_LIFE, DG_SL_FLOW_HOP, DG_SCOPE_STATE, DG_PROXY };
enum { DM_PORT_GID, DM_SCOPE_STATE, DM_PROXY };
enum { DS_ID, DS_GID, DS_P_KEY, DS_LEASE, DS_KEY, DS_NAME, DS_DATA8, DS_DATA16, DS_DATA32, DS_DATA64, DS_MODIFIED, DS_PERIOD };
enum { DU_BASE, DU_LID, DU_BLOCK, DU_GUID0, DU_FIELDS = DU_GUID0 + 8 };
enum { DI_SUBSCRIBER, DI_ENUM, DI_GID, DI_LID_BEGIN, DI_LID_END, DI_GENERIC, DI_SUBSCRIBE, DI_TYPE, DI_TRAP, DI_QPN_RESP, DI_PRODUCER, DI_LID, DI_PATH_BITS, DI_STATIC_RATE, DI_QPN, DI_Q_KEY, DI_PKEY_INDEX, DI_SL };

extern const struct dump_kind dump_group, dump_member, dump_service, dump_inform, dump_guids;

/*!
 * \brief Reads the fields after the word of a line.
 * \param ret_bad  Set to the key whose value is missing or invalid.
 * \return false: there is such a key.
 */
bool dump_line_read(const struct dump_kind *kind, const char *line,
                    struct dump_value ret_value[DUMP_FIELDS_MAX], const char **ret_bad);

/*! \brief Writes the fields. */
void dump_line_write(FILE *f, const struct dump_kind *kind,
                     const struct dump_value values[DUMP_FIELDS_MAX]);

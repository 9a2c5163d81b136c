/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*!
 * Lines of OpenSM's dump of subnet administration (opensm-sa.dump), for the one who reads
 * and the one who writes it: a kind of line is a word and its parts, "key=value" each, in
 * this order with a space between.
 */
enum dump_form {
	DUMP_NUMBER, /*!< 0x and hex digits */
	DUMP_PAIR,   /*!< two of 64 bits, 0x...:0x... */
	DUMP_TEXT    /*!< 'text', of at most 64 bytes */
};

struct dump_part {
	const char *key;
	uint8_t form, bits; /*!< bits: of a number */
	uint8_t digits;     /*!< how many are written at least */
};

enum { DUMP_PARTS_MAX = 18 };

struct dump_value {
	uint64_t n[2];
	char text[65];
};

struct dump_kind {
	const char *word;
	const struct dump_part *parts;
	unsigned n_parts;
};

/*! Parts of each kind, by position in its values. */
enum { DG_MGID, DG_PORT_GID, DG_Q_KEY, DG_MLID, DG_MTU, DG_T_CLASS, DG_P_KEY, DG_RATE, DG_LIFE, DG_SL_FLOW_HOP, DG_SCOPE_STATE, DG_PROXY };
enum { DM_PORT_GID, DM_SCOPE_STATE, DM_PROXY };
enum { DS_ID, DS_GID, DS_P_KEY, DS_LEASE, DS_KEY, DS_NAME, DS_DATA8, DS_DATA16, DS_DATA32, DS_DATA64, DS_MODIFIED, DS_PERIOD };
enum { DU_BASE, DU_LID, DU_BLOCK, DU_GUID0, DU_PARTS = DU_GUID0 + 8 };
enum { DI_SUBSCRIBER, DI_ENUM, DI_GID, DI_LID_BEGIN, DI_LID_END, DI_GENERIC, DI_SUBSCRIBE, DI_TYPE, DI_TRAP, DI_QPN_RESP, DI_PRODUCER, DI_LID, DI_PATH_BITS, DI_STATIC_RATE, DI_QPN, DI_Q_KEY, DI_PKEY_INDEX, DI_SL };

extern const struct dump_kind dump_group, dump_member, dump_service, dump_inform, dump_guids;

/*!
 * \brief Reads the parts of a line behind its word.
 * \param ret_bad  The key whose value is missing or makes no sense.
 * \return false: so it is.
 */
bool dump_line_read(const struct dump_kind *kind, const char *line,
                    struct dump_value ret[DUMP_PARTS_MAX], const char **ret_bad);

/*! \brief Writes the parts. */
void dump_line_write(FILE *f, const struct dump_kind *kind,
                     const struct dump_value values[DUMP_PARTS_MAX]);

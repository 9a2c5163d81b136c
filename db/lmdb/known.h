/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*!
 * Nodes that were ever up. Each end port that a sweep found (a port of an adapter or router,
 * port 0 of a switch) has a row, which stays when the port is gone: who it was, where it was
 * cabled, since when it is gone and why. The sweep writes the rows into the state, and they are
 * mirrored in the snapshot under the same keys.
 *
 * Cables between switches have rows, too, by the end with the lower NodeGUID and port, so that it
 * is known what went with a switch. They have no names. Such a row is dropped when both its ends
 * are there without the cable.
 */

/*! Why a port is gone, as far as the switch that it was cabled to shows it. */
enum known_cause {
	KNOWN_THERE,        /*!< it is not gone */
	KNOWN_GONE,         /*!< a switch, or its place is not known: nothing shows why */
	KNOWN_LINK_DOWN,    /*!< the port of the switch has no link */
	KNOWN_SWITCHED_OFF, /*!< the port of the switch is disabled */
	KNOWN_SILENT,       /*!< the link is up, but nobody answers */
	KNOWN_SWITCH_GONE,  /*!< the switch is gone, too */
	KNOWN_REPLACED,     /*!< another node is cabled there now */
	KNOWN_CAUSES
};

/*! \brief "link-down": for programs. \param cause  Any number. */
const char *known_cause_name(unsigned cause);

/*! \brief "its link is down": goes on after "is gone: ". \param cause  Any number. */
const char *known_cause_text(unsigned cause);

enum { KNOWN_KEY_BYTES = 9, KNOWN_NAME_BYTES = 64, KNOWN_ROW_MAX = 48 + 2 * KNOWN_NAME_BYTES + 8 };

struct known_node {
	uint64_t node_guid, port_guid;
	uint64_t switch_guid; /*!< NodeGUID of the switch it is or was cabled to; 0: none */
	uint64_t system_guid; /*!< SystemImageGUID of a switch; 0: not known */
	int64_t first_s;      /*!< when it was first seen, seconds since 1970 */
	int64_t gone_s;       /*!< when a sweep missed it; 0: it is there */
	uint32_t lid;         /*!< base LID; 0: none */
	uint8_t port;         /*!< 0: a switch; of a switch another one: a cable to a switch */
	uint8_t switch_port;
	uint8_t type;  /*!< enum node_type */
	uint8_t cause; /*!< enum known_cause */
	char name[KNOWN_NAME_BYTES + 1];
	char switch_name[KNOWN_NAME_BYTES + 1];
};

/*! \brief Is it a cable between two switches, and no end port? */
bool known_is_cable(const struct known_node *n);

void known_key(uint64_t node_guid, uint8_t port, uint8_t ret_key[KNOWN_KEY_BYTES]);

/*! \return Bytes of the row. */
size_t known_encode(const struct known_node *n, uint8_t ret_bytes[KNOWN_ROW_MAX]);

/*! \brief Reads a row. \param value  Borrowed. \retval E_MALFORMED  Its lengths, numbers or names cannot be. */
int known_decode(const uint8_t *key, size_t key_len, const void *value, size_t len,
                 struct known_node *ret_node);

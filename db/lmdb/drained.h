/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*!
 * Nodes and cables that are out of service although they may work: paths between others avoid them
 * (routing/graph/drain.h), and alarms about them are expected. One row for each subject and reason,
 * in the state and, under the same key, in the snapshot. The subnet manager writes them
 * (sa/sm/drained.h).
 */

/*! The reason for which the subject is out of service. Each reason has a row of its own, so that the end of the one does
 *  not end the other. */
enum drained_reason {
	DRAINED_MAINTENANCE, /*!< an operator works on it */
	DRAINED_HEALTH,      /*!< the link is not healthy */
	DRAINED_REASONS
};

/*! Its progress out of service. */
enum drained_state {
	DRAINED_DRAINING, /*!< routes may still use it */
	DRAINED_DRAINED,  /*!< no switch has a route through it: it may be switched off */
	DRAINED_NEEDED,   /*!< routes use it, because without it pairs of hosts would have none */
	DRAINED_QUIET,    /*!< the subject carries no traffic of others: only its alarms are expected */
	DRAINED_STATES
};

/*! \brief "maintenance", "draining": for programs. \param reason, state  Any number. */
const char *drained_reason_name(unsigned reason);
const char *drained_state_name(unsigned state);

enum {
	DRAINED_KEY_BYTES = 10,
	DRAINED_NAME_BYTES = 64, /*!< of a node, and of who asked */
	DRAINED_NOTE_BYTES = 200,
	DRAINED_ROW_MAX = 48 + 3 * DRAINED_NAME_BYTES + DRAINED_NOTE_BYTES
};

struct drained_row {
	uint64_t node_guid; /*!< of the node, or of the end of the cable with the lower (GUID, port) */
	uint64_t peer_guid; /*!< of the other end of the cable; 0: the subject is a node */
	int64_t since_s;    /*!< when it was asked for, seconds since 1970 */
	int64_t until_s;    /*!< when it ends by itself; 0: when somebody ends it */
	int64_t state_s;    /*!< when the state became what it is */
	uint8_t port;       /*!< 0: the subject is a node */
	uint8_t peer_port;
	uint8_t type;       /*!< enum node_type of a node that is the subject; 0: a cable */
	uint8_t reason;     /*!< enum drained_reason */
	uint8_t state;      /*!< enum drained_state */
	bool force;         /*!< also if pairs of hosts lose their routes */
	bool apart;         /*!< a switch with hosts that would pass traffic of others, unless it is cut off from all neighbours but one */
	char name[DRAINED_NAME_BYTES + 1];
	char peer_name[DRAINED_NAME_BYTES + 1];
	char by[DRAINED_NAME_BYTES + 1];
	char note[DRAINED_NOTE_BYTES + 1];
};

void drained_key(uint64_t node_guid, uint8_t port, uint8_t reason,
                 uint8_t ret_key[DRAINED_KEY_BYTES]);

/*! \return Bytes of the row. */
size_t drained_encode(const struct drained_row *r, uint8_t ret_bytes[DRAINED_ROW_MAX]);

/*! \brief Reads a row. \param value  Borrowed. \retval E_MALFORMED  Its lengths, numbers or texts cannot be. */
int drained_decode(const uint8_t *key, size_t key_len, const void *value, size_t len,
                   struct drained_row *ret_row);

/*! \brief Is a row about this node, one of its ports or the cable behind it?
 *  \param port  0: the node as a whole. A row of a node is about all its ports. */
bool drained_concerns(const struct drained_row *r, uint64_t node_guid, uint8_t port);

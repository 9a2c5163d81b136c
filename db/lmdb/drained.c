/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/lmdb/drained.h"

#include <string.h>

#include "conf/base/err.h"
#include "db/lmdb/layout.h"

enum { TEXTS = 4, FORCE = 1, APART = 2 /* bits of row_drained.flags */ };

_Static_assert((int)DRAINED_ROW_MAX == (int)sizeof(struct row_drained) +
                                               3 * (int)DRAINED_NAME_BYTES +
                                               (int)DRAINED_NOTE_BYTES,
               "bytes of a row");

static const char *const reasons[DRAINED_REASONS] = { "maintenance", "health" };
static const char *const states[DRAINED_STATES] = { "draining", "drained", "needed", "quiet" };

const char *drained_reason_name(unsigned reason)
{
	return reasons[reason < DRAINED_REASONS ? reason : DRAINED_MAINTENANCE];
}

const char *drained_state_name(unsigned state)
{
	return states[state < DRAINED_STATES ? state : DRAINED_DRAINING];
}

void drained_key(uint64_t node_guid, uint8_t port, uint8_t reason,
                 uint8_t ret_key[DRAINED_KEY_BYTES])
{
	key_u64(ret_key, node_guid);
	ret_key[8] = port;
	ret_key[9] = reason;
}

size_t drained_encode(const struct drained_row *r, uint8_t ret_bytes[DRAINED_ROW_MAX])
{
	const char *text[TEXTS] = { r->name, r->peer_name, r->by, r->note };
	size_t at = sizeof(struct row_drained);
	struct row_drained row = { .peer_guid = r->peer_guid,
		                   .since_s = r->since_s,
		                   .until_s = r->until_s,
		                   .state_s = r->state_s,
		                   .peer_port = r->peer_port,
		                   .type = r->type,
		                   .state = r->state,
		                   .flags = (uint8_t)((r->force ? FORCE : 0) |
		                                      (r->apart ? APART : 0)) };

	for (unsigned i = 0; i < TEXTS; i++) {
		size_t most = i + 1 == TEXTS ? DRAINED_NOTE_BYTES : DRAINED_NAME_BYTES;

		row.len[i] = (uint8_t)strnlen(text[i], most);
		memcpy(ret_bytes + at, text[i], row.len[i]);
		at += row.len[i];
	}
	memcpy(ret_bytes, &row, sizeof(row));
	return at;
}

int drained_decode(const uint8_t *key, size_t key_len, const void *value, size_t len,
                   struct drained_row *ret_row)
{
	const uint8_t *at = value;
	struct row_drained row;

	if (key_len != DRAINED_KEY_BYTES || len < sizeof(row) || key[9] >= DRAINED_REASONS) {
		return E_MALFORMED;
	}
	memcpy(&row, value, sizeof(row));
	if (row.state >= DRAINED_STATES || row.len[0] > DRAINED_NAME_BYTES ||
	    row.len[1] > DRAINED_NAME_BYTES || row.len[2] > DRAINED_NAME_BYTES ||
	    row.len[3] > DRAINED_NOTE_BYTES ||
	    len != sizeof(row) + row.len[0] + row.len[1] + row.len[2] + row.len[3]) {
		return E_MALFORMED;
	}
	*ret_row = (struct drained_row){ .node_guid = key_read_u64(key),
		                         .peer_guid = row.peer_guid,
		                         .since_s = row.since_s,
		                         .until_s = row.until_s,
		                         .state_s = row.state_s,
		                         .port = key[8],
		                         .peer_port = row.peer_port,
		                         .type = row.type,
		                         .reason = key[9],
		                         .state = row.state,
		                         .force = row.flags & FORCE,
		                         .apart = row.flags & APART };
	char *text[TEXTS] = { ret_row->name, ret_row->peer_name, ret_row->by, ret_row->note };

	at += sizeof(row);
	for (unsigned i = 0; i < TEXTS; i++) {
		memcpy(text[i], at, row.len[i]);
		at += row.len[i];
	}
	return E_OK;
}

bool drained_concerns(const struct drained_row *r, uint64_t node_guid, uint8_t port)
{
	return (r->node_guid == node_guid && (r->port == 0 || r->port == port)) ||
	       (r->port != 0 && r->peer_guid == node_guid && r->peer_port == port);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/lmdb/acks.h"

#include <string.h>

#include "conf/base/err.h"
#include "db/lmdb/layout.h"

_Static_assert((int)ACK_ROW_MAX == (int)sizeof(struct row_ack) + (int)ACK_BY_BYTES + (int)ACK_NOTE_BYTES,
               "bytes of a row");

bool acks_id_fits(const char *id)
{
	size_t len = strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return len > 0 && len <= ACK_ID_BYTES && id[len] == '\0';
}

size_t acks_encode(const struct alarm_ack *a, uint8_t ret_bytes[ACK_ROW_MAX])
{
	size_t by_len = strnlen(a->by, ACK_BY_BYTES), note_len = strnlen(a->note, ACK_NOTE_BYTES);
	const struct row_ack row = { .at_s = a->at_s,
		                     .until_s = a->until_s,
		                     .ended_s = a->ended_s,
		                     .by_len = (uint8_t)by_len,
		                     .note_len = (uint8_t)note_len };

	memcpy(ret_bytes, &row, sizeof(row));
	memcpy(ret_bytes + sizeof(row), a->by, by_len);
	memcpy(ret_bytes + sizeof(row) + by_len, a->note, note_len);
	return sizeof(row) + by_len + note_len;
}

int acks_decode(const uint8_t *key, size_t key_len, const void *value, size_t len,
               struct alarm_ack *ret_ack)
{
	struct alarm_ack a = { .at_s = 0 };
	const char *texts = (const char *)value + sizeof(struct row_ack);
	struct row_ack row;

	if (key_len > ACK_ID_BYTES || len < sizeof(row)) {
		return E_MALFORMED;
	}
	memcpy(&row, value, sizeof(row));
	memcpy(a.id, key, key_len);
	if (row.by_len > ACK_BY_BYTES || row.note_len > ACK_NOTE_BYTES ||
	    len != sizeof(row) + row.by_len + row.note_len || !acks_id_fits(a.id)) {
		return E_MALFORMED;
	}
	a.at_s = row.at_s;
	a.until_s = row.until_s;
	a.ended_s = row.ended_s;
	memcpy(a.by, texts, row.by_len);
	memcpy(a.note, texts + row.by_len, row.note_len);
	*ret_ack = a;
	return E_OK;
}

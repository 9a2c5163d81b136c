/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/store/alias.h"

#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "sa/mad/fields.h"
#include "sa/store/store.h"

enum { GUID_BYTES = 8, BLOCK_KEY_BYTES = 9, PORT_SHIFT = 8 };

uint64_t alias_at(const struct alias_block *b, unsigned index)
{
	return field_get(b->guid, 64 * index, 64);
}

bool alias_owned(const struct alias_block *b, unsigned index)
{
	return b->owned >> index & 1;
}

void alias_overlay(const struct alias_block *b, uint8_t guids[ALIAS_BLOCK_BYTES])
{
	for (unsigned i = 0; i < ALIAS_BLOCK_GUIDS; i++) {
		if (alias_owned(b, i)) {
			field_set(guids, 64 * i, 64, alias_at(b, i));
		}
	}
}

/* --- rows ------------------------------------------------------------------------- */

static void block_key(uint8_t key[BLOCK_KEY_BYTES], uint64_t port_guid, unsigned block)
{
	field_set(key, 0, 64, port_guid);
	key[GUID_BYTES] = (uint8_t)block;
}

bool alias_find(const struct sa_store *st, uint64_t guid, struct alias_row *ret_row)
{
	uint8_t key[GUID_BYTES];

	field_set(key, 0, 64, guid);
	const struct store_row *row = store_find(st, RECORDS_ALIASES, key, sizeof(key));
	if (row == NULL || row->len != sizeof(*ret_row)) {
		return false;
	}
	memcpy(ret_row, store_value(row), sizeof(*ret_row));
	return true;
}

bool alias_block(const struct sa_store *st, uint64_t port_guid, unsigned block,
                 struct alias_block *ret_block)
{
	uint8_t key[BLOCK_KEY_BYTES];

	block_key(key, port_guid, block);
	const struct store_row *row = store_find(st, RECORDS_GUIDS, key, sizeof(key));
	if (row == NULL || row->len != sizeof(*ret_block)) {
		*ret_block = (struct alias_block){ .owned = 0 };
		return false;
	}
	memcpy(ret_block, store_value(row), sizeof(*ret_block));
	return true;
}

static int put_block(struct sa_store *st, uint64_t port_guid, unsigned block,
                     const struct alias_block *b, int64_t expires)
{
	uint8_t key[BLOCK_KEY_BYTES];

	block_key(key, port_guid, block);
	return store_put(st, RECORDS_GUIDS, key, sizeof(key), expires, b, sizeof(*b));
}

static int put_alias(struct sa_store *st, uint64_t guid, const struct alias_row *row,
                     int64_t expires)
{
	uint8_t key[GUID_BYTES];

	field_set(key, 0, 64, guid);
	return store_put(st, RECORDS_ALIASES, key, sizeof(key), expires, row,
	                 sizeof(*row));
}

/* Replaces the alias GUID of one place. If another place has the new one, of this port or of
 * another, that place loses it. */
static int replace_guid(struct sa_store *st, const struct alias_row *at, uint64_t old,
                        uint64_t guid)
{
	uint8_t key[BLOCK_KEY_BYTES];
	struct alias_row from;
	struct alias_block b;
	int ret = E_OK;

	if (old != 0) {
		field_set(key, 0, 64, old);
		ret = store_drop(st, RECORDS_ALIASES, key, GUID_BYTES);
		ret = ret == E_NOTFOUND ? E_OK : ret;
	}
	if (guid == 0 || ret != E_OK) {
		return ret;
	}
	if (alias_find(st, guid, &from)) {
		block_key(key, from.port_guid, from.block);
		const struct store_row *row =
			store_find(st, RECORDS_GUIDS, key, sizeof(key));
		if (row != NULL && row->len == sizeof(b)) {
			memcpy(&b, store_value(row), sizeof(b));
			field_set(b.guid, 64 * from.index, 64, 0);
			ret = put_block(st, from.port_guid, from.block, &b, row->expires);
		}
	}
	return ret == E_OK ? put_alias(st, guid, at, STORE_FOR_EVER) : ret;
}

int alias_block_put(struct sa_store *st, uint64_t port_guid, unsigned block,
                    const struct alias_block *b)
{
	struct alias_block old;
	int ret = E_OK;

	(void)alias_block(st, port_guid, block, &old);
	for (unsigned i = 0; i < ALIAS_BLOCK_GUIDS && ret == E_OK; i++) {
		struct alias_row at = { .port_guid = port_guid,
			                .block = (uint8_t)block,
			                .index = (uint8_t)i };
		if (alias_at(&old, i) != alias_at(b, i)) {
			ret = replace_guid(st, &at, alias_at(&old, i), alias_at(b, i));
		}
	}
	return ret == E_OK ? put_block(st, port_guid, block, b, STORE_FOR_EVER) : ret;
}

/* --- the port of a GUID ----------------------------------------------------------- */

int alias_published(struct snap_reader *r, const struct snap_end *end, unsigned block,
                    const uint8_t **ret_bytes)
{
	uint16_t len;
	int ret = snap_attr(r, UMAD_SM_ATTR_GUID_INFO, end->node_guid,
	                    (uint32_t)end->port << PORT_SHIFT | block, ret_bytes, &len);

	return ret == E_OK && len < ALIAS_BLOCK_BYTES ? E_NOTFOUND : ret;
}

/* Whether a port has lost an alias GUID since it was published with it. */
static bool has_lost_guid(struct snap_reader *r, const struct sa_store *st,
                          const struct snap_end *end, uint64_t guid)
{
	for (unsigned k = 0; k < ALIAS_BLOCKS_MAX * ALIAS_BLOCK_GUIDS; k++) {
		unsigned block = k / ALIAS_BLOCK_GUIDS, i = k % ALIAS_BLOCK_GUIDS;
		struct alias_block b;
		const uint8_t *data;

		if (alias_published(r, end, block, &data) != E_OK) {
			return false;
		}
		if (field_get(data, 64 * i, 64) == guid) {
			return alias_block(st, end->port_guid, block, &b) &&
			       alias_owned(&b, i) && alias_at(&b, i) != guid;
		}
	}
	return false;
}

int alias_port(struct snap_reader *r, const struct sa_store *st, uint64_t guid,
               struct snap_end *ret_end)
{
	struct alias_row row;
	int ret = snap_port_guid(r, guid, ret_end);

	if (st == NULL || (ret == E_OK && ret_end->port_guid == guid) ||
	    (ret != E_OK && ret != E_NOTFOUND)) {
		return ret;
	}
	if (alias_find(st, guid, &row)) {
		return snap_port_guid(r, row.port_guid, ret_end);
	}
	return ret == E_OK && has_lost_guid(r, st, ret_end, guid) ? E_NOTFOUND : ret;
}

/* --- after a sweep ---------------------------------------------------------------- */

/* Sets the time at which all rows of a port expire. */
static int set_expiry(struct sa_store *st, uint64_t port_guid, int64_t expires)
{
	int ret = E_OK;

	for (unsigned block = 0; block < ALIAS_BLOCKS_MAX && ret == E_OK; block++) {
		struct alias_row at = { .port_guid = port_guid, .block = (uint8_t)block };
		struct alias_block b;

		if (!alias_block(st, port_guid, block, &b)) {
			continue;
		}
		ret = put_block(st, port_guid, block, &b, expires);
		for (; at.index < ALIAS_BLOCK_GUIDS && ret == E_OK; at.index++) {
			if (alias_at(&b, at.index) != 0) {
				ret = put_alias(st, alias_at(&b, at.index), &at, expires);
			}
		}
	}
	return ret;
}

int alias_after_sweep(struct sa_store *st, struct snap_reader *r)
{
	const struct store_row *row = store_next_owner(st, RECORDS_GUIDS, NULL);
	int ret = E_OK;

	while (row != NULL && ret == E_OK) {
		uint8_t owner[GUID_BYTES];
		struct snap_end end;
		bool kept = row->expires == STORE_FOR_EVER;

		memcpy(owner, row->bytes, sizeof(owner));
		uint64_t guid = field_get(owner, 0, 64);
		int found = snap_port_guid(r, guid, &end);
		if (found == E_OK && !kept) {
			ret = set_expiry(st, guid, STORE_FOR_EVER);
		} else if (found == E_NOTFOUND && kept) {
			ret = set_expiry(st, guid, store_now(st) + ALIAS_KEPT_S);
		} else if (found != E_OK && found != E_NOTFOUND) {
			ret = found;
		}
		row = store_next_owner(st, RECORDS_GUIDS, owner);
	}
	return ret;
}

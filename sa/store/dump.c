/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Dumps and the durable state. A dump is imported before the first request is answered.
 * An export loads the state into a store of its own, so that the thread that answers is
 * not involved. The state keeps a mark (a digest) of the content that was imported or
 * exported last, because a second import of the same content would bring back records
 * that clients have deleted since.
 */
#include "sa/store/dump.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text_file.h"
#include "sa/mad/fields.h"
#include "sa/store/alias.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"

static const struct text_file_kind dump_kind = {
	.what = "a dump of subnet administration", .max_bytes = 256 << 20
};

/* names of the marks in the state */
#define MARK_IMPORTED "sa_db_file"
#define MARK_EXPORTED "sa_db_dump"

/* FNV-1a. */
static uint64_t digest(const char *text, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++) {
		h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	}
	return h;
}

/* ---- merge ---- */

/* Adds a block of alias GUIDs without those that some port in the other store has. */
static int merge_guids(struct sa_store *to, const struct store_row *row,
                       struct dump_counts *c)
{
	uint64_t port = field_get(row->bytes, 0, 64);
	struct alias_block b, there;
	struct alias_row other;

	memcpy(&b, store_value(row), sizeof(b));
	if (alias_block(to, port, row->bytes[8], &there)) {
		c->kept++;
		return E_OK;
	}
	for (unsigned i = 0; i < ALIAS_BLOCK_GUIDS; i++) {
		if (alias_at(&b, i) != 0 && alias_find(to, alias_at(&b, i), &other)) {
			field_set(b.guid, 64 * i, 64, 0);
			b.owned &= (uint8_t) ~(1U << i);
			c->left_out++;
		}
	}
	c->guids += b.owned != 0;
	return b.owned ? alias_block_put(to, port, row->bytes[8], &b) : E_OK;
}

/* Adds a row other than alias GUIDs. A group is left out if another group has its MLID,
 * and a member if its group is left out. */
static int merge_row(struct sa_store *to, enum record_table table,
                     const struct store_row *row, size_t *taken, struct dump_counts *c)
{
	enum { MLID_AT = 36 };
	const void *value = store_value(row);
	struct mcast_member_row m;
	struct alias_row alias;

	if (store_find(to, table, row->bytes, row->key_len) != NULL) {
		c->kept++;
		return E_OK;
	}
	if (table == RECORDS_GROUPS
	            ? store_first_of_owner(to, table, store_value(row) + MLID_AT) != NULL
	            : table == RECORDS_MEMBERS &&
	                      store_find(to, RECORDS_GROUPS, row->bytes, MGID_BYTES) ==
	                              NULL) {
		c->left_out++;
		return E_OK;
	}
	if (table == RECORDS_MEMBERS && row->len == sizeof(m)) {
		memcpy(&m, value, sizeof(m));
		if (alias_find(to, m.port_guid, &alias)) {
			m.port_guid =
				alias.port_guid; /* the port that has the alias GUID */
		}
		value = &m;
	}
	int ret = store_put(to, table, row->bytes, row->key_len, row->expires, value,
	                    row->len);
	*taken += ret == E_OK;
	return ret;
}

int dump_merge(const struct sa_store *from, struct sa_store *to,
               struct dump_counts *counts)
{
	const struct {
		enum record_table table;
		size_t *taken;
	} tables[] = { { RECORDS_GROUPS, &counts->groups },
		       { RECORDS_MEMBERS, &counts->members },
		       { RECORDS_SERVICES, &counts->services },
		       { RECORDS_SUBSCRIPTIONS, &counts->subscriptions } };
	const struct store_row *guids = store_seek(from, RECORDS_GUIDS, NULL, 0);
	int ret = E_OK;

	store_set_owner_limit(to, 0);
	for (; guids != NULL && ret == E_OK;
	     guids = store_next(from, RECORDS_GUIDS, guids)) {
		ret = merge_guids(to, guids, counts);
	}
	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		enum record_table table = tables[i].table;
		const struct store_row *row = store_seek(from, table, NULL, 0);
		for (; row != NULL && ret == E_OK; row = store_next(from, table, row)) {
			ret = merge_row(to, table, row, tables[i].taken, counts);
		}
	}
	return ret;
}

/* ---- import ---- */

static void on_commit(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

/* Reads a text into a store of its own, merges that into the state's rows, and commits.
 */
static int import_text(struct state *state, const char *path, const char *text,
                       size_t len, int64_t now, struct diags *d,
                       struct dump_counts *ret_counts)
{
	struct sa_store *from = NULL, *to = NULL;
	struct dump_counts counts = { .kept = 0 };
	int ret = store_new(NULL, now, &from);

	if (ret == E_OK) {
		ret = dump_read(path, text, len, d, from, &counts);
	}
	if (ret == E_OK) {
		ret = store_new(state, now, &to);
	}
	if (ret == E_OK) {
		ret = dump_merge(from, to, &counts);
	}
	struct state_batch *batch = ret == E_OK ? store_take_changes(to) : NULL;
	if (batch != NULL) {
		state_batch_commit(state, batch, on_commit, &ret);
		state_flush(state);
	}
	store_free(from);
	store_free(to);
	if (ret == E_OK) {
		*ret_counts = counts;
	}
	return ret;
}

int dump_import(struct state *state, const char *path, int64_t now, struct diags *d,
                struct dump_counts *ret_counts)
{
	static const char *const marks[] = { MARK_IMPORTED, MARK_EXPORTED };
	uint64_t mark = 0, old;
	char *text = NULL;
	size_t len = 0;
	bool known = false;
	int ret = text_file_read(path, &dump_kind, d, &text, &len);

	if (ret == E_OK) {
		mark = digest(text, len);
	}
	for (unsigned i = 0; i < 2 && ret == E_OK; i++) {
		ret = state_mark_get(state, marks[i], &old);
		known |= ret == E_OK && old == mark;
		ret = ret == E_NOTFOUND ? E_OK : ret;
	}
	if (ret == E_OK && known) {
		*ret_counts = (struct dump_counts){ .kept = 0 };
	} else if (ret == E_OK) {
		ret = import_text(state, path, text, len, now, d, ret_counts);
		if (ret == E_OK) {
			ret = state_mark_put(state, MARK_IMPORTED, mark);
		}
	}
	free(text);
	return ret;
}

/* ---- export ---- */

int dump_export(struct state *state, const char *dir, int64_t now, uint64_t subnet_prefix,
                struct dump_counts *ret_counts)
{
	struct sa_store *st = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int ret = f == NULL ? -ENOMEM : store_new(state, now, &st);

	if (ret == E_OK) {
		dump_write(f, st, subnet_prefix, ret_counts);
	}
	if (f != NULL && fclose(f) != 0) {
		ret = -ENOMEM;
	}
	store_free(st);
	if (ret == E_OK) {
		ret = state_mark_put(state, MARK_EXPORTED, digest(text, len));
	}
	if (ret == E_OK) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/" DUMP_FILE_NAME, dir);
		ret = strlen(dir) + sizeof("/" DUMP_FILE_NAME) > sizeof(path)
		              ? -ENAMETOOLONG
		              : text_file_replace(path, text, len);
	}
	free(text);
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Dumps and the durable state: into it before anybody is answered, out of it by way of a
 * store of its own, so that the thread that answers has no part in it. Which content was
 * taken or written last is marked in the state: to take it a second time would bring back
 * what clients have deleted since.
 */
#include "sa/store/dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

#define MARK_TAKEN "sa_db_file"
#define MARK_WRITTEN "sa_db_dump"

/* FNV-1a. */
static uint64_t digest(const char *text, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++) {
		h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	}
	return h;
}

/* ---- one store into another ---- */

/* Has the other store room for this group: is its MLID free, or its own? */
static bool mlid_is_free(const struct sa_store *to, const struct store_row *row)
{
	const uint8_t *mlid = store_value(row) + 36;

	return store_of(to, RECORDS_GROUPS, mlid) == NULL;
}

/* Alias GUIDs that nobody there has. */
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
	return b.owned ? alias_block_keep(to, port, row->bytes[8], &b) : E_OK;
}

/* Members by an alias GUID belong to the port that has it. */
static int put_row(struct sa_store *to, enum record_table table,
                   const struct store_row *row)
{
	struct mcast_member_row m;
	struct alias_row alias;

	if (table == RECORDS_MEMBERS && row->len == sizeof(m)) {
		memcpy(&m, store_value(row), sizeof(m));
		if (alias_find(to, m.port_guid, &alias)) {
			m.port_guid = alias.port_guid;
		}
		return store_put(to, table, row->bytes, row->key_len, row->expires, &m,
		                 sizeof(m));
	}
	return store_put(to, table, row->bytes, row->key_len, row->expires,
	                 store_value(row), row->len);
}

static int merge_row(struct sa_store *to, enum record_table table,
                     const struct store_row *row, size_t *taken, struct dump_counts *c)
{
	bool member = table == RECORDS_MEMBERS;

	if (store_find(to, table, row->bytes, row->key_len) != NULL) {
		c->kept++;
		return E_OK;
	}
	if ((table == RECORDS_GROUPS && !mlid_is_free(to, row)) ||
	    (member && store_find(to, RECORDS_GROUPS, row->bytes, MGID_BYTES) == NULL)) {
		c->left_out++;
		return E_OK;
	}
	int ret = put_row(to, table, row);
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
	const struct store_row *guids = store_from(from, RECORDS_GUIDS, NULL, 0);
	int ret = E_OK;

	store_limit(to, 0);
	for (; guids != NULL && ret == E_OK;
	     guids = store_next(from, RECORDS_GUIDS, guids)) {
		ret = merge_guids(to, guids, counts);
	}
	for (unsigned i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		enum record_table table = tables[i].table;
		const struct store_row *row = store_from(from, table, NULL, 0);
		for (; row != NULL && ret == E_OK; row = store_next(from, table, row)) {
			ret = merge_row(to, table, row, tables[i].taken, counts);
		}
	}
	return ret;
}

/* ---- in ---- */

static void on_commit(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

static int commit(struct state *state, struct sa_store *st)
{
	struct state_batch *b = store_changes(st);
	int ret = E_OK;

	if (b != NULL) {
		state_batch_commit(state, b, on_commit, &ret);
		state_flush(state);
	}
	return ret;
}

/* A text that was not taken before. */
static int take(struct state *state, const char *path, const char *text, size_t len,
                int64_t now, struct diags *d, struct dump_counts *ret)
{
	struct sa_store *from = NULL, *to = NULL;
	struct dump_counts counts = { .kept = 0 };
	int err = store_new(NULL, now, &from);

	if (err == E_OK) {
		err = dump_read(path, text, len, d, from, &counts);
	}
	if (err == E_OK) {
		err = store_new(state, now, &to);
	}
	if (err == E_OK) {
		err = dump_merge(from, to, &counts);
	}
	if (err == E_OK) {
		err = commit(state, to);
	}
	store_free(from);
	store_free(to);
	if (err == E_OK) {
		*ret = counts;
	}
	return err;
}

/* Was this content taken, or written by us? */
static int is_known(struct state *state, uint64_t digest_now, bool *ret)
{
	static const char *const marks[] = { MARK_TAKEN, MARK_WRITTEN };

	*ret = false;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t mark = 0;
		int err = state_mark_get(state, marks[i], &mark);
		if (err != E_OK && err != E_NOTFOUND) {
			return err;
		}
		*ret |= err == E_OK && mark == digest_now;
	}
	return E_OK;
}

static int import(struct state *state, const char *path, const char *text, size_t len,
                  int64_t now, struct diags *d, struct dump_counts *ret)
{
	const uint64_t mark = digest(text, len);
	bool known = false;
	int err = is_known(state, mark, &known);
	if (err == E_OK && known) {
		*ret = (struct dump_counts){ .kept = 0 };
		return E_OK;
	}
	if (err == E_OK) {
		err = take(state, path, text, len, now, d, ret);
	}
	return err == E_OK ? state_mark_put(state, MARK_TAKEN, mark) : err;
}

int dump_import(struct state *state, const char *path, int64_t now, struct diags *d,
                struct dump_counts *ret)
{
	char *text = NULL;
	size_t len = 0;
	int err = text_file_read(path, &dump_kind, d, &text, &len);

	if (err == E_OK) {
		err = import(state, path, text, len, now, d, ret);
	}
	free(text);
	return err;
}

/* ---- out ---- */

static int write_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return -errno;
	}
	size_t at = 0;
	while (at < len) {
		ssize_t n = write(fd, text + at, len - at);
		if (n <= 0) {
			break;
		}
		at += (size_t)n;
	}
	int ret = at == len && fsync(fd) == 0 ? E_OK : errno ? -errno : -EIO;
	return close(fd) == 0 || ret != E_OK ? ret : -errno;
}

static int replace_file(const char *dir, const char *text, size_t len)
{
	char path[4096], aside[4096 + 8];

	if ((size_t)snprintf(path, sizeof(path), "%s/" DUMP_FILE_NAME, dir) >=
	    sizeof(path)) {
		return -ENAMETOOLONG;
	}
	snprintf(aside, sizeof(aside), "%s.tmp", path);
	int ret = write_file(aside, text, len);
	return ret == E_OK && rename(aside, path) != 0 ? -errno : ret;
}

int dump_export(struct state *state, const char *dir, int64_t now, uint64_t subnet_prefix,
                struct dump_counts *ret)
{
	struct sa_store *st = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int err = f == NULL ? -ENOMEM : store_new(state, now, &st);

	if (err == E_OK) {
		dump_write(f, st, subnet_prefix, ret);
	}
	if (f != NULL && fclose(f) != 0) {
		err = -ENOMEM;
	}
	store_free(st);
	if (err == E_OK) {
		err = state_mark_put(state, MARK_WRITTEN, digest(text, len));
	}
	if (err == E_OK) {
		err = replace_file(dir, text, len);
	}
	free(text);
	return err;
}

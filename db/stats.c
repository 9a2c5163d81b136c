/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Stats: named numbers and texts, gathered in memory and written by difference. Every
 * commit writes the heartbeat; a value is written when it differs from what was last
 * committed. What an earlier process left in the file goes with the first commit.
 */
#include "db/stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/base/vector.h"
#include "db/layout.h"
#include "db/pins.h"
#include "db/txn.h"
#include "db/view.h"

enum { STATS_GRACE_MS = 2000, STATS_VALUE_MAX = 1 + STATS_TEXT_MAX, READ_TRIES = 100 };
enum { KIND_NUMBER, KIND_TEXT };

struct item {
	char *name;
	uint8_t value[STATS_VALUE_MAX]; /* as stored */
	uint16_t len;
	bool dirty;
};

struct stats {
	struct db *db;
	struct pins pins;
	struct item **items; /* by name */
	size_t n, cap;
	bool fresh; /* nothing committed by this process yet */
	int ret; /* first failure to keep a value in memory; the next commit returns it */
};

static int stats_path(const char *dir, char *buf, size_t size)
{
	return (size_t)snprintf(buf, size, "%s/stats", dir) < size ? E_OK : -ENAMETOOLONG;
}

int stats_open(const char *snapshot_dir, struct arena *a, const char **ret_why,
               struct stats **ret)
{
	char path[4096];
	struct stats *s = calloc(1, sizeof(*s));
	if (!s) {
		return -ENOMEM;
	}
	int res = stats_path(snapshot_dir, path, sizeof(path));
	if (res == E_OK) {
		res = db_open_writer(&kind_stats, path, 0, 0, a, ret_why, &s->db);
	}
	if (res == E_OK) {
		res = pins_init(&s->pins, s->db, STATS_GRACE_MS);
	}
	if (res != E_OK) {
		stats_close(s);
		return res;
	}
	s->fresh = true;
	*ret = s;
	return E_OK;
}

void stats_close(struct stats *s)
{
	if (!s) {
		return;
	}
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i]->name);
		free(s->items[i]);
	}
	free(s->items);
	pins_done(&s->pins);
	db_unref(s->db);
	free(s);
}

/* Position of a name, or of the first one after it. */
static size_t position(const struct stats *s, const char *name, bool *ret_found)
{
	size_t at = LOWER_BOUND(s->n, i, strcmp(s->items[i]->name, name) < 0);

	*ret_found = at < s->n && strcmp(s->items[at]->name, name) == 0;
	return at;
}

static struct item *add_item(struct stats *s, size_t at, const char *name)
{
	if (VECTOR_RESERVE(s->items, s->cap, s->n + 1) != E_OK) {
		return NULL;
	}
	struct item *it = calloc(1, sizeof(*it));
	char *copy = strdup(name);
	if (!it || !copy) {
		free(it);
		free(copy);
		return NULL;
	}
	it->name = copy;
	memmove(s->items + at + 1, s->items + at, (s->n - at) * sizeof(struct item *));
	s->items[at] = it;
	s->n++;
	return it;
}

static void keep(struct stats *s, const char *name, const uint8_t *value, uint16_t len)
{
	bool found;
	size_t n = strlen(name);
	if (n == 0 || n > STATS_NAME_MAX) {
		s->ret = s->ret ? s->ret : E_RANGE;
		return;
	}
	size_t at = position(s, name, &found);
	struct item *it = found ? s->items[at] : add_item(s, at, name);
	if (!it) {
		s->ret = s->ret ? s->ret : -ENOMEM;
		return;
	}
	if (it->len != len || memcmp(it->value, value, len) != 0) {
		memcpy(it->value, value, len);
		it->len = len;
		it->dirty = true;
	}
}

void stats_set(struct stats *s, const char *series, double value)
{
	uint8_t v[1 + sizeof(double)] = { KIND_NUMBER };
	memcpy(v + 1, &value, sizeof(value));
	keep(s, series, v, sizeof(v));
}

void stats_text(struct stats *s, const char *name, const char *text)
{
	uint8_t v[STATS_VALUE_MAX] = { KIND_TEXT };
	size_t len = strnlen(text, STATS_TEXT_MAX);
	memcpy(v + 1, text, len);
	keep(s, name, v, (uint16_t)(1 + len));
}

static void put_values(struct stats *s, struct db_txn *t)
{
	if (s->fresh) {
		db_clear(t, STATS_VALUES);
	}
	for (size_t i = 0; i < s->n; i++) {
		const struct item *it = s->items[i];
		if (it->dirty || s->fresh) {
			db_put(t, STATS_VALUES, it->name, strlen(it->name), it->value,
			       it->len);
		}
	}
}

int stats_commit(struct stats *s, uint64_t boottime_ms)
{
	struct db_txn t;
	int ret = s->ret;
	s->ret = E_OK;
	if (ret != E_OK) {
		return ret;
	}
	pins_release(&s->pins, boottime_ms);
	ret = pins_prepare(&s->pins);
	if (ret == E_OK) {
		ret = db_begin(&t, s->db, true);
	}
	if (ret != E_OK) {
		return ret;
	}
	struct row_heartbeat row = {
		.head = { .txn = mdb_txn_id(t.txn), .grace_ms = STATS_GRACE_MS },
		.heartbeat_ms = boottime_ms,
		.realtime_s = (int64_t)time(NULL),
		.pid = (uint32_t)getpid(),
	};
	put_values(s, &t);
	db_put(&t, STATS_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &row, sizeof(row));
	ret = db_commit(&t);
	if (ret != E_OK) {
		return ret;
	}
	pins_supersede(&s->pins, boottime_ms);
	s->fresh = false;
	for (size_t i = 0; i < s->n; i++) {
		s->items[i]->dirty = false;
	}
	return E_OK;
}

struct stats_reader {
	struct db *db;
	struct view v;
};

int stats_reader_open(const char *snapshot_dir, struct stats_reader **ret)
{
	char path[4096];
	struct stats_reader *r = calloc(1, sizeof(*r));
	if (!r) {
		return -ENOMEM;
	}
	int res = stats_path(snapshot_dir, path, sizeof(path));
	if (res == E_OK) {
		res = db_open_reader(&kind_stats, path, NULL, NULL, &r->db);
	}
	if (res != E_OK) {
		free(r);
		return res;
	}
	view_init(&r->v, r->db, true);
	*ret = r;
	return E_OK;
}

void stats_reader_close(struct stats_reader *r)
{
	if (r) {
		view_done(&r->v);
		db_unref(r->db);
		free(r);
	}
}

void stats_reader_clock(struct stats_reader *r, uint64_t (*clock_ms)(void *arg),
                        void *arg)
{
	r->v.clock_ms = clock_ms;
	r->v.clock_arg = arg;
}

static int read_value(const struct db_val *k, const struct db_val *v, struct arena *a,
                      struct stats_value *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (k->len == 0 || k->len > STATS_NAME_MAX || v->len == 0 ||
	    v->len > STATS_VALUE_MAX) {
		return E_MALFORMED;
	}
	bool number = v->data[0] == KIND_NUMBER;
	if (number ? v->len != 1 + sizeof(double) : v->data[0] != KIND_TEXT) {
		return E_MALFORMED;
	}
	char *name = arena_alloc(a, k->len + 1);
	if (!name) {
		return -ENOMEM;
	}
	memcpy(name, k->data, k->len);
	ret->name = name;
	if (number) {
		memcpy(&ret->value, v->data + 1, sizeof(double));
		return E_OK;
	}
	char *text = arena_alloc(a, v->len);
	if (!text) {
		return -ENOMEM;
	}
	memcpy(text, v->data + 1, v->len - 1);
	ret->text = text;
	return E_OK;
}

/* Everything of the pinned epoch; the caller checks that it still stood at the end. */
static int copy_all(struct stats_reader *r, struct arena *a, struct stats_copy *ret)
{
	struct db_val k, v;
	struct row_heartbeat row;
	int res = view_get(&r->v, STATS_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &v);
	if (res != E_OK) {
		return res;
	}
	if (v.len != sizeof(row)) {
		/* the head alone: tables were made, nothing was committed */
		return v.len == sizeof(struct row_head) ? E_NOTREADY : E_MALFORMED;
	}
	memcpy(&row, v.data, sizeof(row));
	MDB_stat st;
	res = db_err(mdb_stat(r->v.t.txn, r->db->dbi[STATS_VALUES], &st));
	if (res != E_OK) {
		return res;
	}
	struct stats_value *values = arena_array(a, st.ms_entries, sizeof(*values));
	if (!values) {
		return -ENOMEM;
	}
	size_t n = 0;
	res = view_seek(&r->v, STATS_VALUES, NULL, 0, &k, &v);
	while (res == E_OK) {
		res = n < st.ms_entries ? read_value(&k, &v, a, &values[n]) : E_MALFORMED;
		if (res == E_OK) {
			n++;
			res = view_next(&r->v, STATS_VALUES, &k, &v);
		}
	}
	*ret = (struct stats_copy){ row.heartbeat_ms, row.realtime_s, row.pid, values,
		                    n };
	return res == E_NOTFOUND ? E_OK : res;
}

int stats_read(struct stats_reader *r, struct arena *a, struct stats_copy *ret)
{
	int res = E_STALE;
	for (unsigned i = 0; i < READ_TRIES && res == E_STALE; i++) {
		struct stats_copy copy = { 0 };
		res = view_pin(&r->v, NULL);
		if (res != E_OK) {
			continue;
		}
		res = copy_all(r, a, &copy);
		int stands = view_check(&r->v);
		if (stands != E_OK) {
			res = stands;
		} else if (res == E_OK) {
			*ret = copy;
		}
	}
	return res;
}

const char *stats_copy_text(const struct stats_copy *c, const char *name)
{
	size_t at = LOWER_BOUND(c->n, i, strcmp(c->values[i].name, name) < 0);

	return at < c->n && strcmp(c->values[at].name, name) == 0 ? c->values[at].text
	                                                          : NULL;
}

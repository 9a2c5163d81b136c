/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/err.h"

struct table {
	struct store_row **rows; /* by key */
	size_t n, cap;
};

struct sa_store {
	struct state *state;
	struct state_batch *batch; /* what is not handed over yet */
	struct table table[RECORD_TABLES];
	int64_t now, next; /* next: no row runs out before it */
	struct store_event *events;
	size_t n_events, cap_events;
};

static int compare(const struct store_row *row, const void *key, size_t key_len)
{
	size_t n = row->key_len < key_len ? row->key_len : key_len;
	int c = memcmp(row->bytes, key, n);

	return c != 0 ? c : (row->key_len > key_len) - (row->key_len < key_len);
}

size_t store_lower(const struct sa_store *st, enum record_table table, const void *key,
                   size_t key_len)
{
	const struct table *t = &st->table[table];
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (compare(t->rows[mid], key, key_len) < 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low;
}

size_t store_count(const struct sa_store *st, enum record_table table)
{
	return st->table[table].n;
}

const struct store_row *store_at(const struct sa_store *st, enum record_table table,
                                 size_t i)
{
	return st->table[table].rows[i];
}

const struct store_row *store_find(const struct sa_store *st, enum record_table table,
                                   const void *key, size_t key_len)
{
	const struct table *t = &st->table[table];
	size_t i = store_lower(st, table, key, key_len);

	return i < t->n && compare(t->rows[i], key, key_len) == 0 ? t->rows[i] : NULL;
}

/* --- memory ----------------------------------------------------------------------- */

static int make_room(struct table *t)
{
	if (t->n < t->cap) {
		return E_OK;
	}
	size_t cap = t->cap ? t->cap * 2 : 64;
	struct store_row **rows = realloc(t->rows, cap * sizeof(struct store_row *));
	if (rows == NULL) {
		return -ENOMEM;
	}
	t->rows = rows;
	t->cap = cap;
	return E_OK;
}

static struct store_row *row_new(const void *key, size_t key_len, int64_t expires,
                                 const void *value, size_t len)
{
	struct store_row *row = malloc(sizeof(*row) + key_len + len);

	if (row != NULL) {
		row->expires = expires;
		row->key_len = (uint16_t)key_len;
		row->len = (uint16_t)len;
		memcpy(row->bytes, key, key_len);
		memcpy(row->bytes + key_len, value, len);
	}
	return row;
}

/* Takes the row; there is room for it. */
static void insert(struct sa_store *st, enum record_table table, struct store_row *row)
{
	struct table *t = &st->table[table];
	size_t i = store_lower(st, table, row->bytes, row->key_len);

	if (i < t->n && compare(t->rows[i], row->bytes, row->key_len) == 0) {
		free(t->rows[i]);
	} else {
		memmove(t->rows + i + 1, t->rows + i, (t->n - i) * sizeof(t->rows[0]));
		t->n++;
	}
	t->rows[i] = row;
	st->next = row->expires < st->next ? row->expires : st->next;
}

static void remove_at(struct table *t, size_t i)
{
	free(t->rows[i]);
	t->n--;
	memmove(t->rows + i, t->rows + i + 1, (t->n - i) * sizeof(t->rows[0]));
}

static void clear(struct sa_store *st)
{
	for (unsigned k = 0; k < RECORD_TABLES; k++) {
		struct table *t = &st->table[k];
		for (size_t i = 0; i < t->n; i++) {
			free(t->rows[i]);
		}
		t->n = 0;
	}
	st->next = STORE_FOR_EVER;
}

/* --- the durable state ------------------------------------------------------------ */

static int need_batch(struct sa_store *st)
{
	return st->state == NULL || st->batch != NULL ? E_OK
	                                              : state_batch_new(&st->batch);
}

static int note_put(struct sa_store *st, enum record_table table,
                    const struct store_row *row)
{
	int ret = need_batch(st);

	if (ret != E_OK || st->state == NULL) {
		return ret;
	}
	size_t len = sizeof(row->expires) + row->len;
	uint8_t *value = malloc(len);
	if (value == NULL) {
		return -ENOMEM;
	}
	memcpy(value, &row->expires, sizeof(row->expires));
	memcpy(value + sizeof(row->expires), store_value(row), row->len);
	ret = state_batch_put(st->batch, table, row->bytes, row->key_len, value, len);
	free(value);
	return ret;
}

static int note_drop(struct sa_store *st, enum record_table table,
                     const struct store_row *row)
{
	int ret = need_batch(st);

	if (ret != E_OK || st->state == NULL) {
		return ret;
	}
	return state_batch_put(st->batch, table, row->bytes, row->key_len, NULL, 0);
}

struct state_batch *store_changes(struct sa_store *st)
{
	struct state_batch *b = st->batch;

	st->batch = NULL;
	return b;
}

/* --- events ----------------------------------------------------------------------- */

int store_note(struct sa_store *st, const struct store_event *e)
{
	struct store_event *last = st->n_events ? &st->events[st->n_events - 1] : NULL;

	if (last != NULL && last->created && !e->created &&
	    memcmp(last->mgid, e->mgid, sizeof(e->mgid)) == 0) {
		st->n_events--;
		return E_OK;
	}
	if (st->n_events == st->cap_events) {
		size_t cap = st->cap_events ? st->cap_events * 2 : 8;
		struct store_event *events = realloc(st->events, cap * sizeof(*events));
		if (events == NULL) {
			return -ENOMEM;
		}
		st->events = events;
		st->cap_events = cap;
	}
	st->events[st->n_events++] = *e;
	return E_OK;
}

size_t store_events(struct sa_store *st, struct store_event **ret)
{
	size_t n = st->n_events;

	*ret = NULL;
	if (n > 0) {
		*ret = st->events;
		st->events = NULL;
		st->n_events = st->cap_events = 0;
	}
	return n;
}

/* --- changes ---------------------------------------------------------------------- */

int store_put(struct sa_store *st, enum record_table table, const void *key,
              size_t key_len, int64_t expires, const void *value, size_t len)
{
	struct table *t = &st->table[table];

	if (t->n >= STORE_ROWS_MAX && store_find(st, table, key, key_len) == NULL) {
		return E_FULL;
	}
	struct store_row *row = row_new(key, key_len, expires, value, len);
	if (row == NULL || make_room(t) != E_OK || note_put(st, table, row) != E_OK) {
		free(row);
		return -ENOMEM;
	}
	insert(st, table, row);
	return E_OK;
}

int store_drop(struct sa_store *st, enum record_table table, const void *key,
               size_t key_len)
{
	struct table *t = &st->table[table];
	size_t i = store_lower(st, table, key, key_len);

	if (i >= t->n || compare(t->rows[i], key, key_len) != 0) {
		return E_NOTFOUND;
	}
	int ret = note_drop(st, table, t->rows[i]);
	if (ret == E_OK) {
		remove_at(t, i);
	}
	return ret;
}

static int drop_expired(struct sa_store *st, enum record_table table, int64_t *next)
{
	struct table *t = &st->table[table];
	int ret = E_OK;

	for (size_t i = t->n; i-- > 0 && ret == E_OK;) {
		if (t->rows[i]->expires > st->now) {
			*next = t->rows[i]->expires < *next ? t->rows[i]->expires : *next;
			continue;
		}
		ret = note_drop(st, table, t->rows[i]);
		if (ret == E_OK) {
			remove_at(t, i);
		}
	}
	return ret;
}

int store_tick(struct sa_store *st, int64_t now)
{
	int64_t next = STORE_FOR_EVER;
	int ret = E_OK;

	st->now = now;
	if (now < st->next) {
		return E_OK;
	}
	for (unsigned k = 0; k < RECORD_TABLES && ret == E_OK; k++) {
		ret = drop_expired(st, (enum record_table)k, &next);
	}
	if (ret == E_OK) {
		st->next = next;
	}
	return ret;
}

int64_t store_now(const struct sa_store *st)
{
	return st->now;
}

int64_t store_next_tick(const struct sa_store *st)
{
	return st->next;
}

/* --- life ------------------------------------------------------------------------- */

struct loading {
	struct sa_store *st;
	enum record_table table;
};

static int load_row(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                    size_t len)
{
	struct loading *l = ctx;
	int64_t expires;

	if (len < sizeof(expires) || len > UINT16_MAX) {
		return E_MALFORMED;
	}
	memcpy(&expires, value, sizeof(expires));
	struct store_row *row = row_new(key, key_len, expires, value + sizeof(expires),
	                                len - sizeof(expires));
	if (row == NULL || make_room(&l->st->table[l->table]) != E_OK) {
		free(row);
		return -ENOMEM;
	}
	insert(l->st, l->table, row);
	return E_OK;
}

int store_reload(struct sa_store *st)
{
	int ret = E_OK;

	clear(st);
	st->n_events = 0;
	state_batch_free(store_changes(st));
	for (unsigned k = 0; k < RECORD_TABLES && ret == E_OK && st->state != NULL; k++) {
		struct loading l = { st, (enum record_table)k };
		ret = state_records(st->state, l.table, load_row, &l);
	}
	return ret;
}

int store_new(struct state *state, int64_t now, struct sa_store **ret)
{
	struct sa_store *st = calloc(1, sizeof(*st));

	if (st == NULL) {
		return -ENOMEM;
	}
	st->state = state;
	st->now = now;
	int err = store_reload(st);
	if (err != E_OK) {
		store_free(st);
		return err;
	}
	*ret = st;
	return E_OK;
}

void store_free(struct sa_store *st)
{
	if (st == NULL) {
		return;
	}
	clear(st);
	for (unsigned k = 0; k < RECORD_TABLES; k++) {
		free(st->table[k].rows);
	}
	state_batch_free(st->batch);
	free(st->events);
	free(st);
}

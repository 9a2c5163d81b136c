/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "sa/store/alias.h"
#include "sa/store/mcast.h"
#include "sa/store/row_index.h"
#include "sa/store/service.h"
#include "sa/store/subscription.h"

struct table {
	size_t n, max;
	bool limited; /* rows per owner */
	struct row_index by_key, by_owner;
	int64_t next_expiry; /* no row expires earlier */
};

struct sa_store {
	struct state *state;
	struct state_batch *batch; /* changes since store_take_changes(), NULL: none */
	struct table table[RECORDS_OF_CLIENTS];
	struct row_pos last[2 * RECORDS_OF_CLIENTS]; /* of both indexes of each table */
	size_t owner_limit;                     /* 0: none */
	int64_t now;
	struct store_event *events;
	size_t n_events, cap_events;
};

/* Differences between tables: how long key and value are; where a row, which is its key
 * followed by its value, has its owner; and how many rows fit, which is a few dozen for each
 * of 48,000 ports, but one group per MLID. */
static const struct {
	uint16_t key_len, len;
	uint16_t owner_at, owner_len;
	bool limited;
	size_t max;
} tables[RECORDS_OF_CLIENTS] = {
	[RECORDS_SERVICES] = { SERVICE_KEY_BYTES, SERVICE_ROW_BYTES, 26, 8, true,
	                       1 << 20 },
	[RECORDS_SUBSCRIPTIONS] = { SUBSCRIPTION_KEY_BYTES, sizeof(struct subscription),
	                            0, 8, true, 1 << 20 },
	[RECORDS_GROUPS] = { MGID_BYTES, sizeof(struct mcast_group_row), 16 + 36, 2,
	                     false, 1 << 16 },
	[RECORDS_MEMBERS] = { MC_MEMBER_KEY_BYTES, sizeof(struct mcast_member_row), 32, 8,
	                      true, 1 << 22 },
	[RECORDS_GUIDS] = { 9, sizeof(struct alias_block), 0, 8, false, 1 << 20 },
	[RECORDS_ALIASES] = { 8, sizeof(struct alias_row), 8, 8, false, 1 << 22 },
};

bool store_row_fits(enum record_table table, size_t key_len, bool has_value, size_t len)
{
	return key_len == tables[table].key_len &&
	       (!has_value || len == sizeof(int64_t) + tables[table].len);
}

/* --- look-ups --------------------------------------------------------------------- */

size_t store_count(const struct sa_store *st, enum record_table table)
{
	return st->table[table].n;
}

size_t store_room(const struct sa_store *st, enum record_table table)
{
	const struct table *t = &st->table[table];

	return t->n < t->max ? t->max - t->n : 0;
}

const struct store_row *store_seek(const struct sa_store *st, enum record_table table,
                                   const void *key, size_t key_len)
{
	const struct row_index *ix = &st->table[table].by_key;
	const struct row_bound b = { .key = key, .key_len = key_len };

	return row_index_get(ix, row_index_seek(ix, &b));
}

const struct store_row *store_next(const struct sa_store *st, enum record_table table,
                                   const struct store_row *row)
{
	return row_index_next(&st->table[table].by_key, row);
}

static struct store_row *find(const struct table *t, const void *key, size_t key_len)
{
	const struct row_bound b = { .key = key, .key_len = key_len };
	struct store_row *row = row_index_get(&t->by_key, row_index_seek(&t->by_key, &b));

	return row && row_compare_key(row, key, key_len) == 0 ? row : NULL;
}

const struct store_row *store_find(const struct sa_store *st, enum record_table table,
                                   const void *key, size_t key_len)
{
	return find(&st->table[table], key, key_len);
}

const struct store_row *store_first_of_owner(const struct sa_store *st,
                                             enum record_table table, const void *owner)
{
	const struct row_index *ix = &st->table[table].by_owner;
	const struct row_bound b = { .owner = owner };
	const struct store_row *row = row_index_get(ix, row_index_seek(ix, &b));

	return row && row_has_owner(ix, row, owner) ? row : NULL;
}

bool store_owner_has(const struct sa_store *st, enum record_table table, const void *owner,
                     size_t n)
{
	return row_index_has(&st->table[table].by_owner, owner, n);
}

const struct store_row *store_next_of_owner(const struct sa_store *st,
                                            enum record_table table,
                                            const struct store_row *row)
{
	const struct row_index *ix = &st->table[table].by_owner;
	const struct store_row *next = row_index_next(ix, row);
	const uint8_t *owner = row_owner(ix, row);

	return next && owner && row_has_owner(ix, next, owner) ? next : NULL;
}

const struct store_row *store_next_owner(const struct sa_store *st,
                                         enum record_table table, const void *owner)
{
	const struct row_index *ix = &st->table[table].by_owner;
	const struct row_bound b = { .owner = owner, .after = true };

	return row_index_get(ix, row_index_seek(ix, &b));
}

/* --- memory ----------------------------------------------------------------------- */

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

static int reserve(struct table *t)
{
	int ret = row_index_reserve(&t->by_key);

	return ret == E_OK ? row_index_reserve(&t->by_owner) : ret;
}

/* Takes over the row. The table has no row with this key, and reserve() was called. */
static void insert(struct table *t, struct store_row *row)
{
	row_index_insert(&t->by_key, row);
	row_index_insert(&t->by_owner, row);
	t->n++;
	t->next_expiry = row->expires < t->next_expiry ? row->expires : t->next_expiry;
}

static void delete_row(struct table *t, struct store_row *row)
{
	row_index_remove(&t->by_key, row);
	row_index_remove(&t->by_owner, row);
	t->n--;
	free(row);
}

static void table_clear(struct table *t)
{
	for (size_t i = 0; i < t->by_key.n; i++) {
		for (size_t k = 0; k < t->by_key.leaf[i]->n; k++) {
			free(t->by_key.leaf[i]->row[k]);
		}
	}
	row_index_clear(&t->by_key);
	row_index_clear(&t->by_owner);
	t->n = 0;
	t->next_expiry = STORE_FOR_EVER;
}

/* --- the durable state ------------------------------------------------------------ */

/* Adds a put or a drop of a row to the batch. */
static int log_change(struct sa_store *st, enum record_table table,
                      const struct store_row *row, bool drop)
{
	size_t len = sizeof(row->expires) + row->len;
	int ret = E_OK;

	if (st->state == NULL) {
		return E_OK;
	}
	if (st->batch == NULL) {
		ret = state_batch_new(&st->batch);
	}
	if (ret != E_OK || drop) {
		return ret == E_OK ? state_batch_put(st->batch, table, row->bytes,
		                                     row->key_len, NULL, 0)
		                   : ret;
	}
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

int store_reserve_drops(struct sa_store *st, size_t n)
{
	int ret = st->state == NULL || st->batch != NULL ? E_OK
	                                                 : state_batch_new(&st->batch);

	return ret == E_OK && st->batch != NULL ? state_batch_reserve(st->batch, n) : ret;
}

struct state_batch *store_take_changes(struct sa_store *st)
{
	struct state_batch *b = st->batch;

	st->batch = NULL;
	return b;
}

/* --- events ----------------------------------------------------------------------- */

int store_add_event(struct sa_store *st, const struct store_event *e)
{
	struct store_event *last = st->n_events ? &st->events[st->n_events - 1] : NULL;

	if (last != NULL && last->created && !e->created &&
	    memcmp(last->mgid, e->mgid, sizeof(e->mgid)) == 0) {
		st->n_events--;
		return E_OK;
	}
	if (VECTOR_RESERVE(st->events, st->cap_events, st->n_events + 1) != E_OK) {
		return -ENOMEM;
	}
	st->events[st->n_events++] = *e;
	return E_OK;
}

size_t store_take_events(struct sa_store *st, struct store_event **ret_event)
{
	size_t n = st->n_events;

	*ret_event = NULL;
	if (n > 0) {
		*ret_event = st->events;
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
	struct store_row *row = row_new(key, key_len, expires, value, len);

	if (row == NULL) {
		return -ENOMEM;
	}
	struct store_row *old = find(t, key, key_len);
	bool owner_full = t->limited && st->owner_limit != 0 && t->n >= st->owner_limit &&
	                  row_index_has(&t->by_owner, row_owner(&t->by_owner, row),
	                                st->owner_limit);
	if (old == NULL && (t->n >= t->max || owner_full)) {
		free(row);
		return E_FULL;
	}
	if (reserve(t) != E_OK || log_change(st, table, row, false) != E_OK) {
		free(row);
		return -ENOMEM;
	}
	if (old != NULL) {
		delete_row(t, old);
	}
	insert(t, row);
	return E_OK;
}

static int drop_row(struct sa_store *st, enum record_table table, struct store_row *row)
{
	int ret = log_change(st, table, row, true);

	if (ret == E_OK) {
		delete_row(&st->table[table], row);
	}
	return ret;
}

int store_drop(struct sa_store *st, enum record_table table, const void *key,
               size_t key_len)
{
	struct store_row *row = find(&st->table[table], key, key_len);

	return row != NULL ? drop_row(st, table, row) : E_NOTFOUND;
}

int store_expire(struct sa_store *st, int64_t now)
{
	st->now = now;
	for (unsigned k = 0; k < RECORDS_OF_CLIENTS; k++) {
		struct table *t = &st->table[k];
		struct store_row *next, *row = NULL;
		int64_t next_expiry = STORE_FOR_EVER;

		if (t->next_expiry > now) {
			continue;
		}
		for (row = row_index_get(&t->by_key, (struct row_pos){ 0, 0 });
		     row != NULL; row = next) {
			next = row_index_next(&t->by_key, row);
			if (row->expires > now) {
				next_expiry = row->expires < next_expiry ? row->expires
				                                         : next_expiry;
				continue;
			}
			int ret = drop_row(st, (enum record_table)k, row);
			if (ret != E_OK) {
				return ret;
			}
		}
		t->next_expiry = next_expiry;
	}
	return E_OK;
}

int64_t store_now(const struct sa_store *st)
{
	return st->now;
}

int64_t store_next_expiry(const struct sa_store *st)
{
	int64_t next = STORE_FOR_EVER;

	for (unsigned k = 0; k < RECORDS_OF_CLIENTS; k++) {
		next = st->table[k].next_expiry < next ? st->table[k].next_expiry : next;
	}
	return next;
}

void store_set_owner_limit(struct sa_store *st, size_t limit)
{
	st->owner_limit = limit;
}

/* --- load and free
 * ------------------------------------------------------------------------- */

struct loading {
	struct sa_store *st;
	enum record_table table;
};

static int load_row(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                    size_t len)
{
	struct loading *l = ctx;
	int64_t expires;

	if (!store_row_fits(l->table, key_len, true, len)) {
		return E_MALFORMED;
	}
	memcpy(&expires, value, sizeof(expires));
	struct store_row *row = row_new(key, key_len, expires, value + sizeof(expires),
	                                len - sizeof(expires));
	if (row == NULL || reserve(&l->st->table[l->table]) != E_OK) {
		free(row);
		return -ENOMEM;
	}
	insert(&l->st->table[l->table], row);
	return E_OK;
}

int store_reload(struct sa_store *st)
{
	int ret = E_OK;

	for (unsigned k = 0; k < RECORDS_OF_CLIENTS; k++) {
		table_clear(&st->table[k]);
	}
	st->n_events = 0;
	state_batch_free(store_take_changes(st));
	for (unsigned k = 0; k < RECORDS_OF_CLIENTS && ret == E_OK && st->state != NULL;
	     k++) {
		struct loading l = { st, (enum record_table)k };
		ret = state_records(st->state, l.table, load_row, &l);
	}
	return ret;
}

int store_new(struct state *state, int64_t now, struct sa_store **ret_store)
{
	struct sa_store *st = calloc(1, sizeof(*st));

	if (st == NULL) {
		return -ENOMEM;
	}
	st->state = state;
	st->now = now;
	st->owner_limit = STORE_OWNED_MAX;
	for (unsigned k = 0; k < RECORDS_OF_CLIENTS; k++) {
		struct table *t = &st->table[k];
		t->max = tables[k].max;
		t->limited = tables[k].limited;
		t->by_key.last = &st->last[2 * k];
		t->by_owner = (struct row_index){ .at = tables[k].owner_at,
			                          .len = tables[k].owner_len,
			                          .last = &st->last[2 * k + 1] };
	}
	int ret = store_reload(st);
	if (ret != E_OK) {
		store_free(st);
		return ret;
	}
	*ret_store = st;
	return E_OK;
}

void store_free(struct sa_store *st)
{
	if (st == NULL) {
		return;
	}
	for (unsigned k = 0; k < RECORDS_OF_CLIENTS; k++) {
		table_clear(&st->table[k]);
		row_index_done(&st->table[k].by_key);
		row_index_done(&st->table[k].by_owner);
	}
	state_batch_free(st->batch);
	free(st->events);
	free(st);
}

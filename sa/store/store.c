/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/store/store_order.h"

struct table {
	size_t n, max;
	bool limited; /* per owner */
	struct order by_key, by_owner;
	int64_t next; /* no row runs out before it */
};

struct sa_store {
	struct state *state;
	struct state_batch *batch; /* what is not handed over yet */
	struct table table[RECORD_TABLES];
	struct place fingers[2 * RECORD_TABLES];
	size_t of_a_port;
	int64_t now;
	struct store_event *events;
	size_t n_events, cap_events;
};

/* What tables differ in. The owner's bytes: where the key ends the value begins. The most
 * rows: a few dozens of each for 48,000 ports, but one group per MLID. */
static const struct {
	uint16_t owner_at, owner_len;
	bool limited;
	size_t max;
} tables[RECORD_TABLES] = {
	[RECORDS_SERVICES] = { 26, 8, true, 1 << 20 },
	[RECORDS_SUBSCRIPTIONS] = { 0, 8, true, 1 << 20 },
	[RECORDS_GROUPS] = { 16 + 36, 2, false, 1 << 16 },
	[RECORDS_MEMBERS] = { 32, 8, true, 1 << 22 },
	[RECORDS_GUIDS] = { 0, 8, false, 1 << 20 },
	[RECORDS_ALIASES] = { 8, 8, false, 1 << 22 },
};

/* --- looking ---------------------------------------------------------------------- */

size_t store_count(const struct sa_store *st, enum record_table table)
{
	return st->table[table].n;
}

size_t store_room(const struct sa_store *st, enum record_table table)
{
	const struct table *t = &st->table[table];

	return t->n < t->max ? t->max - t->n : 0;
}

const struct store_row *store_from(const struct sa_store *st, enum record_table table,
                                   const void *key, size_t key_len)
{
	const struct order *o = &st->table[table].by_key;
	const struct point p = { .key = key, .key_len = key_len };

	return order_row(o, order_seek(o, &p));
}

const struct store_row *store_next(const struct sa_store *st, enum record_table table,
                                   const struct store_row *row)
{
	return order_next(&st->table[table].by_key, row);
}

static struct store_row *find(const struct table *t, const void *key, size_t key_len)
{
	const struct point p = { .key = key, .key_len = key_len };
	struct store_row *row = order_row(&t->by_key, order_seek(&t->by_key, &p));

	return row && compare_key(row, key, key_len) == 0 ? row : NULL;
}

const struct store_row *store_find(const struct sa_store *st, enum record_table table,
                                   const void *key, size_t key_len)
{
	return find(&st->table[table], key, key_len);
}

const struct store_row *store_of(const struct sa_store *st, enum record_table table,
                                 const void *owner)
{
	const struct order *o = &st->table[table].by_owner;
	const struct point p = { .owner = owner };
	const struct store_row *row = order_row(o, order_seek(o, &p));

	return row && order_is_owner(o, row, owner) ? row : NULL;
}

const struct store_row *store_of_next(const struct sa_store *st, enum record_table table,
                                      const struct store_row *row)
{
	const struct order *o = &st->table[table].by_owner;
	const struct store_row *next = order_next(o, row);

	return next && order_owner(o, row) && order_is_owner(o, next, order_owner(o, row))
	               ? next
	               : NULL;
}

const struct store_row *store_of_others(const struct sa_store *st,
                                        enum record_table table, const void *owner)
{
	const struct order *o = &st->table[table].by_owner;
	const struct point p = { .owner = owner, .behind = true };

	return order_row(o, order_seek(o, &p));
}

/* Has the owner of a row that is to come as many as it may? */
static bool owner_is_full(const struct sa_store *st, const struct table *t,
                          const struct store_row *row)
{
	const struct order *o = &t->by_owner;

	return t->limited && st->of_a_port != 0 && t->n >= st->of_a_port &&
	       order_has(o, order_owner(o, row), st->of_a_port);
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
	int ret = order_reserve(&t->by_key);

	return ret == E_OK ? order_reserve(&t->by_owner) : ret;
}

/* Takes the row; the table has none with this key, and memory is reserved. */
static void insert(struct table *t, struct store_row *row)
{
	order_insert(&t->by_key, row);
	order_insert(&t->by_owner, row);
	t->n++;
	t->next = row->expires < t->next ? row->expires : t->next;
}

static void take_out(struct table *t, struct store_row *row)
{
	order_remove(&t->by_key, row);
	order_remove(&t->by_owner, row);
	t->n--;
	free(row);
}

static void clear(struct table *t)
{
	for (size_t i = 0; i < t->by_key.n; i++) {
		for (size_t k = 0; k < t->by_key.leaf[i]->n; k++) {
			free(t->by_key.leaf[i]->row[k]);
		}
	}
	order_clear(&t->by_key);
	order_clear(&t->by_owner);
	t->n = 0;
	t->next = STORE_FOR_EVER;
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
	struct store_row *row = row_new(key, key_len, expires, value, len);

	if (row == NULL) {
		return -ENOMEM;
	}
	struct store_row *old = find(t, key, key_len);
	if (old == NULL && (t->n >= t->max || owner_is_full(st, t, row))) {
		free(row);
		return E_FULL;
	}
	if (reserve(t) != E_OK || note_put(st, table, row) != E_OK) {
		free(row);
		return -ENOMEM;
	}
	if (old != NULL) {
		take_out(t, old);
	}
	insert(t, row);
	return E_OK;
}

static int drop(struct sa_store *st, enum record_table table, struct store_row *row)
{
	int ret = note_drop(st, table, row);

	if (ret == E_OK) {
		take_out(&st->table[table], row);
	}
	return ret;
}

int store_drop(struct sa_store *st, enum record_table table, const void *key,
               size_t key_len)
{
	struct store_row *row = find(&st->table[table], key, key_len);

	return row != NULL ? drop(st, table, row) : E_NOTFOUND;
}

static int drop_expired(struct sa_store *st, enum record_table table)
{
	struct table *t = &st->table[table];
	struct store_row *next, *row = order_row(&t->by_key, (struct place){ 0, 0 });
	int64_t soonest = STORE_FOR_EVER;
	int ret = E_OK;

	for (; row != NULL && ret == E_OK; row = next) {
		next = order_next(&t->by_key, row);
		if (row->expires <= st->now) {
			ret = drop(st, table, row);
		} else if (row->expires < soonest) {
			soonest = row->expires;
		}
	}
	if (ret == E_OK) {
		t->next = soonest;
	}
	return ret;
}

int store_tick(struct sa_store *st, int64_t now)
{
	int ret = E_OK;

	st->now = now;
	for (unsigned k = 0; k < RECORD_TABLES && ret == E_OK; k++) {
		if (st->table[k].next <= now) {
			ret = drop_expired(st, (enum record_table)k);
		}
	}
	return ret;
}

int64_t store_now(const struct sa_store *st)
{
	return st->now;
}

int64_t store_next_tick(const struct sa_store *st)
{
	int64_t next = STORE_FOR_EVER;

	for (unsigned k = 0; k < RECORD_TABLES; k++) {
		next = st->table[k].next < next ? st->table[k].next : next;
	}
	return next;
}

void store_limit(struct sa_store *st, size_t of_a_port)
{
	st->of_a_port = of_a_port;
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

	for (unsigned k = 0; k < RECORD_TABLES; k++) {
		clear(&st->table[k]);
	}
	st->n_events = 0;
	state_batch_free(store_changes(st));
	for (unsigned k = 0; k < RECORD_TABLES && ret == E_OK && st->state != NULL; k++) {
		struct loading l = { st, (enum record_table)k };
		ret = state_records(st->state, l.table, load_row, &l);
	}
	return ret;
}

static void table_init(struct sa_store *st, unsigned k)
{
	struct table *t = &st->table[k];

	t->max = tables[k].max;
	t->limited = tables[k].limited;
	t->next = STORE_FOR_EVER;
	t->by_key.finger = &st->fingers[2 * k];
	t->by_owner = (struct order){ .at = tables[k].owner_at,
		                      .len = tables[k].owner_len,
		                      .finger = &st->fingers[2 * k + 1] };
}

int store_new(struct state *state, int64_t now, struct sa_store **ret)
{
	struct sa_store *st = calloc(1, sizeof(*st));

	if (st == NULL) {
		return -ENOMEM;
	}
	st->state = state;
	st->now = now;
	st->of_a_port = STORE_OWNED_MAX;
	for (unsigned k = 0; k < RECORD_TABLES; k++) {
		table_init(st, k);
	}
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
	for (unsigned k = 0; k < RECORD_TABLES; k++) {
		clear(&st->table[k]);
		order_done(&st->table[k].by_key);
		order_done(&st->table[k].by_owner);
	}
	state_batch_free(st->batch);
	free(st->events);
	free(st);
}

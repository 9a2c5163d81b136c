/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Changes from epoch to epoch: recorded by a publish, composed by a reader.
 *
 * A record is rows with the epoch in front of their keys, so that it is appended in one
 * place and dropped in one place. A value has the length of the old value, the old value and
 * the new one. Of forwarding tables it has the entries that differ instead, because a fabric
 * of thousands of switches changes a few bytes in each chunk when one host comes or goes.
 */
#include "db/snapshot/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "db/lmdb/diff.h"
#include "db/lmdb/layout.h"
#include "db/snapshot/reader_int.h"
#include "db/snapshot/snapshot_int.h"

enum {
	PREFIX = 10, /* of a key: epoch, kind */
	KEY_MAX = PREFIX + CHUNK_KEY,
	ROW_COST = 16, /* bytes of administration */
	LFT_SHARE = 8  /* entries of one record take at most this part of all records */
};

/* Tables whose rows are recorded as they are. */
static const struct {
	enum change_kind kind;
	enum snap_table table;
} recorded[] = {
	{ CHANGE_NODE, SNAP_NODES },
	{ CHANGE_LINK, SNAP_LINKS },
	{ CHANGE_PORT, SNAP_PORTS },
	{ CHANGE_PARTITION, SNAP_PARTITIONS },
};

static size_t put_key(uint8_t to[KEY_MAX], uint64_t epoch, unsigned kind, const void *key,
                      size_t len)
{
	key_u64(to, epoch);
	key_u16(to + 8, (uint16_t)kind);
	if (len > 0) {
		memcpy(to + PREFIX, key, len);
	}
	return PREFIX + len;
}

/* --- recording ------------------------------------------------------------------------- */

static int read_record_head(const struct db_val *v,
                            struct row_change_head *ret_change_head)
{
	if (v->len != sizeof(*ret_change_head)) {
		return E_MALFORMED;
	}
	memcpy(ret_change_head, v->data, sizeof(*ret_change_head));
	return E_OK;
}

void history_limit(struct history *h, uint64_t max_bytes)
{
	h->max_bytes = max_bytes;
	h->max_entries = max_bytes / LFT_SHARE / sizeof(struct lft_change);
}

int history_open(struct history *h, struct db_txn *t)
{
	uint8_t key[KEY_MAX];
	struct db_val k, v;
	uint64_t epoch = 0;

	h->bytes = 0;
	h->epochs = 0;
	for (;;) {
		struct row_change_head head;
		size_t len = put_key(key, epoch, CHANGE_HEAD, NULL, 0);
		int ret = db_seek(t, SNAP_CHANGES, key, len, &k, &v);

		if (ret == E_NOTFOUND) {
			return E_OK;
		}
		if (ret == E_OK) {
			ret = k.len == PREFIX ? read_record_head(&v, &head) : E_MALFORMED;
		}
		if (ret != E_OK) {
			return ret;
		}
		epoch = key_read_u64(k.data) + 1;
		h->bytes += head.bytes;
		h->epochs++;
	}
}

/* Room for a row of the record. \return Its value; NULL: out of memory. */
static uint8_t *add(struct recording *rec, unsigned kind, const struct db_val *key,
                    size_t len)
{
	struct change *c = arena_alloc(rec->a, sizeof(*c) + PREFIX + key->len);
	uint8_t *val = arena_alloc(rec->a, len > 0 ? len : 1);

	if (c == NULL || val == NULL) {
		return NULL;
	}
	c->key_len = (uint16_t)put_key(c->key, rec->epoch, kind, key->data, key->len);
	c->val = len > 0 ? val : NULL;
	c->len = (uint32_t)len;
	*rec->last = c;
	rec->last = &c->next;
	rec->n++;
	rec->bytes += len > 0 ? c->key_len + len + ROW_COST : 0;
	return val;
}

/* Within an epoch a row may have been recorded already: then its old value stays, and
 * what came back to it is no change. */
static int add_row(struct recording *rec, struct db_txn *t, unsigned kind,
                   const struct db_val *key, struct db_val was, struct db_val is)
{
	uint8_t full[KEY_MAX];
	struct db_val v = { NULL, 0 };
	uint32_t was_len;
	size_t len = put_key(full, rec->epoch, kind, key->data, key->len);
	int ret = rec->fresh ? E_NOTFOUND : db_get(t, SNAP_CHANGES, full, len, &v);

	if (ret == E_OK) {
		if (v.len < sizeof(was_len) || (memcpy(&was_len, v.data, sizeof(was_len)),
		                                was_len > v.len - sizeof(was_len))) {
			return E_MALFORMED;
		}
		was = (struct db_val){ v.data + sizeof(was_len), was_len };
		rec->bytes -= len + v.len + ROW_COST;
	} else if (ret != E_NOTFOUND) {
		return ret;
	}
	bool same = was.len == is.len &&
	            (is.len == 0 || memcmp(was.data, is.data, is.len) == 0);
	if (same && ret == E_NOTFOUND) {
		return E_OK;
	}
	was_len = (uint32_t)was.len;
	uint8_t *to = add(rec, kind, key, same ? 0 : sizeof(was_len) + was.len + is.len);
	if (to == NULL) {
		return -ENOMEM;
	}
	if (!same) {
		memcpy(to, &was_len, sizeof(was_len));
		if (was.len > 0) {
			memcpy(to + sizeof(was_len), was.data, was.len);
		}
		if (is.len > 0) {
			memcpy(to + sizeof(was_len) + was.len, is.data, is.len);
		}
	}
	return E_OK;
}

static int stored_value(struct db_txn *t, unsigned table, const struct change *c,
                        struct db_val *ret_val)
{
	int ret = db_get(t, table, c->key, c->key_len, ret_val);

	if (ret == E_NOTFOUND) {
		*ret_val = (struct db_val){ NULL, 0 };
		ret = E_OK;
	}
	return ret;
}

static int collect_table(struct recording *rec, unsigned kind, struct diff *d)
{
	int ret = E_OK;

	for (const struct change *c = d->first; c != NULL && ret == E_OK; c = c->next) {
		const struct db_val key = { c->key, c->key_len };
		struct db_val was;

		ret = stored_value(&d->t, d->table, c, &was);
		if (ret == E_OK) {
			ret = add_row(
				rec, &d->t, kind, &key, was,
				(struct db_val){ c->val, c->val != NULL ? c->len : 0 });
		}
	}
	return ret;
}

static struct row_routing routing_row(const struct row_meta *m, const char *engine)
{
	struct row_routing row = {
		.pairs = m->pairs,
		.unreachable_pairs = m->unreachable_pairs,
		.forwarding_loops = m->forwarding_loops,
		.credit_loops = m->credit_loops,
		.sm_port_guid = m->sm_port_guid,
		.sm_lid = m->sm_lid,
		.vls_used = m->vls_used,
		.lmc = m->lmc,
	};

	memcpy(row.engine, engine, strnlen(engine, sizeof(row.engine) - 1));
	return row;
}

static int collect_routing(struct recording *rec, struct db_txn *t,
                           const struct row_meta *meta, const char *engine)
{
	const struct db_val no_key = { (const uint8_t *)"", 0 };
	struct row_routing was, is = routing_row(meta, engine);
	struct row_meta old;
	struct db_val v;
	int ret = db_get(t, SNAP_META, DB_KEY_HEAD, sizeof(DB_KEY_HEAD), &v);

	if (ret != E_OK || v.len <= sizeof(old) || v.data[v.len - 1] != '\0') {
		return ret != E_OK ? ret : E_MALFORMED;
	}
	memcpy(&old, v.data, sizeof(old));
	/* the engine that was asked for comes before the one that was used */
	const char *asked = (const char *)v.data + sizeof(old);
	size_t len = strlen(asked) + 1;
	if (sizeof(old) + len >= v.len) {
		return E_MALFORMED;
	}
	was = routing_row(&old, asked + len);
	return add_row(rec, t, CHANGE_ROUTING, &no_key,
	               (struct db_val){ (const uint8_t *)&was, sizeof(was) },
	               (struct db_val){ (const uint8_t *)&is, sizeof(is) });
}

static uint8_t entry(const struct db_val *chunk, size_t at)
{
	return at < chunk->len ? chunk->data[at] : LFT_NO_ROUTE;
}

static uint32_t count_entries(const struct db_val *was, const struct db_val *is)
{
	size_t both = was->len < is->len ? was->len : is->len;
	const struct db_val *longer = was->len < is->len ? is : was;
	uint32_t n = 0;

	for (size_t i = 0; i < both; i++) {
		n += was->data[i] != is->data[i];
	}
	for (size_t i = both; i < longer->len; i++) {
		n += longer->data[i] != LFT_NO_ROUTE;
	}
	return n;
}

/* \param n  Entries that differ. */
static int add_entries(struct recording *rec, const struct db_val *key,
                       const struct db_val *was, const struct db_val *is, uint32_t n,
                       bool only_count)
{
	size_t end = was->len > is->len ? was->len : is->len;
	uint8_t *to = add(rec, CHANGE_LFT, key,
	                  sizeof(n) + (only_count ? 0 : n * sizeof(struct lft_change)));

	if (to == NULL) {
		return -ENOMEM;
	}
	memcpy(to, &n, sizeof(n));
	to += sizeof(n);
	for (size_t i = 0; !only_count && i < end; i++) {
		struct lft_change c = { (uint16_t)i, entry(was, i), entry(is, i) };

		if (c.was != c.is) {
			memcpy(to, &c, sizeof(c));
			to += sizeof(c);
		}
	}
	return E_OK;
}

/* Counts first, because the entries are kept of all switches or of none. */
static int collect_tables(struct recording *rec, const struct history *h, struct diff *d)
{
	uint32_t *count = calloc((size_t)d->n + 1, sizeof(*count));
	uint64_t all = 0;
	int ret = count != NULL ? E_OK : -ENOMEM;

	for (unsigned pass = 0; pass < 2; pass++) {
		bool only_count = all > h->max_entries;
		uint32_t i = 0;

		for (const struct change *c = d->first; c != NULL && ret == E_OK;
		     c = c->next, i++) {
			const struct db_val key = { c->key, c->key_len },
					    is = { c->val, c->val != NULL ? c->len : 0 };
			struct db_val was;

			ret = stored_value(&d->t, SNAP_LFT, c, &was);
			if (ret == E_OK && pass == 0) {
				count[i] = count_entries(&was, &is);
				all += count[i];
			} else if (ret == E_OK && count[i] > 0) {
				ret = add_entries(rec, &key, &was, &is, count[i],
				                  only_count);
			}
		}
	}
	free(count);
	return ret;
}

void history_forget(struct recording *rec)
{
	rec->clear = true;
	rec->since = 0;
	rec->first = NULL;
	rec->last = &rec->first;
	rec->n = 0;
	rec->bytes = PREFIX + sizeof(struct row_change_head) + ROW_COST;
}

/* Finds the record that the epoch has so far. */
static int find_record(struct recording *rec, const struct snap_writer *w,
                       struct db_txn *t)
{
	uint8_t key[KEY_MAX];
	struct row_change_head head = { .since = 0 };
	struct db_val v;
	int ret = E_NOTFOUND;

	if (rec->epoch == w->last.epoch) {
		size_t len = put_key(key, rec->epoch, CHANGE_HEAD, NULL, 0);
		ret = db_get(t, SNAP_CHANGES, key, len, &v);
	}
	rec->fresh = ret == E_NOTFOUND;
	if (ret == E_OK) {
		ret = read_record_head(&v, &head);
		rec->since = head.since;
		rec->bytes = head.bytes;
		rec->computed_at = head.computed_at;
	} else if (ret == E_NOTFOUND) {
		rec->since = rec->epoch != w->last.epoch ? w->last.epoch : 0;
		rec->bytes = PREFIX + sizeof(head) + ROW_COST;
		ret = E_OK;
	}
	return ret;
}

int history_collect(struct recording *rec, const struct snap_writer *w, struct diff *d,
                    const struct row_meta *meta, const char *engine)
{
	struct db_txn *t = &d[SNAP_NODES].t;

	*rec = (struct recording){ .epoch = meta->epoch,
		                   .computed_at = meta->computed_at };
	rec->last = &rec->first;
	if (w->history.max_bytes == 0) {
		history_forget(rec);
		return E_OK;
	}
	rec->a = arena_new();
	int ret = rec->a != NULL ? find_record(rec, w, t) : -ENOMEM;
	if (ret != E_OK || rec->since == 0) {
		return ret;
	}
	ret = collect_routing(rec, t, meta, engine);
	for (unsigned i = 0; i < sizeof(recorded) / sizeof(recorded[0]) && ret == E_OK;
	     i++) {
		ret = collect_table(rec, recorded[i].kind, &d[recorded[i].table]);
	}
	return ret == E_OK ? collect_tables(rec, &w->history, &d[SNAP_LFT]) : ret;
}

/* Drops the oldest record, unless it is that of \a epoch. \return Was there an older one? */
static bool drop_oldest(struct db_txn *t, uint64_t epoch, struct history *h)
{
	struct db_val k, v;
	struct row_change_head head;
	uint8_t key[KEY_MAX];

	if (db_seek(t, SNAP_CHANGES, NULL, 0, &k, &v) != E_OK ||
	    key_read_u64(k.data) == epoch || read_record_head(&v, &head) != E_OK) {
		return false;
	}
	uint64_t oldest = key_read_u64(k.data);
	h->bytes -= head.bytes < h->bytes ? head.bytes : h->bytes;
	h->epochs--;
	do {
		size_t len = k.len < sizeof(key) ? k.len : sizeof(key);

		memcpy(key, k.data, len);
		db_del(t, SNAP_CHANGES, key, len);
	} while (db_seek(t, SNAP_CHANGES, NULL, 0, &k, &v) == E_OK &&
	         key_read_u64(k.data) == oldest);
	return true;
}

static void put_head(const struct recording *rec, struct db_txn *t)
{
	uint8_t key[KEY_MAX];
	struct row_change_head head = { rec->since, rec->computed_at, rec->bytes };

	db_put(t, SNAP_CHANGES, key, put_key(key, rec->epoch, CHANGE_HEAD, NULL, 0),
	       &head, sizeof(head));
}

/* Begins anew, with nothing that is older than this epoch. */
static void put_anchor(const struct recording *rec, struct db_txn *t,
                       struct history *ret_history)
{
	struct recording anchor = *rec;

	db_clear(t, SNAP_CHANGES);
	history_forget(&anchor);
	put_head(&anchor, t);
	ret_history->bytes = anchor.bytes;
	ret_history->epochs = 1;
}

bool history_write(const struct recording *rec, const struct history *h, struct db_txn *t,
                   struct history *ret_history)
{
	struct row_change_head head;
	struct db_val v;
	uint8_t key[KEY_MAX];

	*ret_history = *h;
	if (h->max_bytes == 0 && h->epochs == 0) {
		return false;
	}
	if (h->max_bytes == 0) {
		db_clear(t, SNAP_CHANGES);
		ret_history->bytes = 0;
		ret_history->epochs = 0;
		return true;
	}
	if (!rec->fresh && !rec->clear && rec->n == 0) {
		return false;
	}
	if (rec->clear || rec->bytes > h->max_bytes) {
		put_anchor(rec, t, ret_history);
		return true;
	}
	if (!rec->fresh &&
	    db_get(t, SNAP_CHANGES, key, put_key(key, rec->epoch, CHANGE_HEAD, NULL, 0),
	           &v) == E_OK &&
	    read_record_head(&v, &head) == E_OK) {
		ret_history->bytes -= head.bytes;
	}
	ret_history->epochs += rec->fresh;
	ret_history->bytes += rec->bytes;
	for (const struct change *c = rec->first; c != NULL; c = c->next) {
		if (c->val == NULL) {
			db_del(t, SNAP_CHANGES, c->key, c->key_len);
		} else {
			db_put(t, SNAP_CHANGES, c->key, c->key_len, c->val, c->len);
		}
	}
	put_head(rec, t);
	while ((ret_history->bytes > h->max_bytes ||
	        ret_history->epochs > HISTORY_EPOCHS_MAX) &&
	       drop_oldest(t, rec->epoch, ret_history)) {
	}
	return true;
}

void history_done(struct recording *rec)
{
	arena_free(rec->a);
	rec->a = NULL;
}

/* --- composing ------------------------------------------------------------------------- */

/* A row of a record as it is stored. */
struct stored {
	uint64_t epoch;
	enum change_kind kind;
	const uint8_t *key; /* of the row in its table */
	size_t key_len;
	struct db_val val;
};

int snap_changes_oldest(struct snap_reader *r, uint64_t *ret_oldest)
{
	struct row_change_head head;
	struct db_val k, v;
	int ret = view_seek(&r->view, SNAP_CHANGES, NULL, 0, &k, &v);

	if (ret == E_OK) {
		ret = k.len == PREFIX ? read_record_head(&v, &head) : E_MALFORMED;
	}
	if (ret == E_OK) {
		*ret_oldest = head.since != 0 ? head.since : key_read_u64(k.data);
	}
	return ret;
}

/* \retval E_NOTFOUND  The epoch has no record. */
static int find_head(struct snap_reader *r, uint64_t epoch,
                     struct row_change_head *ret_change_head)
{
	uint8_t key[KEY_MAX];
	struct db_val v;
	int ret = view_get(&r->view, SNAP_CHANGES, key,
	                   put_key(key, epoch, CHANGE_HEAD, NULL, 0), &v);

	return ret == E_OK ? read_record_head(&v, ret_change_head) : ret;
}

int snap_changes_before(struct snap_reader *r, uint64_t epoch, uint64_t *ret_before)
{
	struct row_change_head head;
	int ret = find_head(r, epoch, &head);

	if (ret != E_OK || head.since == 0) {
		return ret != E_OK ? ret : E_NOTFOUND;
	}
	*ret_before = head.since;
	return E_OK;
}

static int by_key(const void *a, const void *b)
{
	const struct stored *x = a, *y = b;
	size_t len = x->key_len < y->key_len ? x->key_len : y->key_len;
	int c = x->kind != y->kind ? (x->kind < y->kind ? -1 : 1)
	                           : memcmp(x->key, y->key, len);

	if (c == 0 && x->key_len != y->key_len) {
		c = x->key_len < y->key_len ? -1 : 1;
	}
	return c != 0 ? c : (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

static bool same_row(const struct stored *a, const struct stored *b)
{
	return a->kind == b->kind && a->key_len == b->key_len &&
	       memcmp(a->key, b->key, a->key_len) == 0;
}

/* Rows of the records after \a from, up to \a to. */
static int gather(struct snap_reader *r, uint64_t from, uint64_t to, struct stored **rows,
                  size_t *ret_n, struct snap_changes *ret_changes)
{
	uint8_t key[KEY_MAX];
	struct db_val k, v;
	size_t cap = 0;
	int ret = view_seek(&r->view, SNAP_CHANGES, key,
	                    put_key(key, from + 1, CHANGE_HEAD, NULL, 0), &k, &v);

	for (; ret == E_OK; ret = view_next(&r->view, SNAP_CHANGES, &k, &v)) {
		struct row_change_head head;

		if (k.len < PREFIX) {
			return E_MALFORMED;
		}
		struct stored s = { key_read_u64(k.data), key_read_u16(k.data + 8),
			            k.data + PREFIX, k.len - PREFIX, v };
		if (s.epoch > to) {
			return E_OK;
		}
		if (s.kind == CHANGE_HEAD) {
			if (read_record_head(&v, &head) != E_OK) {
				return E_MALFORMED;
			}
			ret_changes->to_time = head.computed_at;
			continue;
		}
		if (VECTOR_RESERVE(*rows, cap, *ret_n + 1) != E_OK) {
			return -ENOMEM;
		}
		(*rows)[(*ret_n)++] = s;
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* The first old value and the last new one. \retval E_NOTFOUND  They are the same. */
static int compose_rows(const struct stored *s, size_t n, struct snap_change *ret_change)
{
	uint32_t first_was, last_was;

	if (s[0].val.len < sizeof(first_was) || s[n - 1].val.len < sizeof(last_was)) {
		return E_MALFORMED;
	}
	memcpy(&first_was, s[0].val.data, sizeof(first_was));
	memcpy(&last_was, s[n - 1].val.data, sizeof(last_was));
	if (first_was > s[0].val.len - sizeof(first_was) ||
	    last_was > s[n - 1].val.len - sizeof(last_was)) {
		return E_MALFORMED;
	}
	ret_change->was = s[0].val.data + sizeof(first_was);
	ret_change->was_len = first_was;
	ret_change->is = s[n - 1].val.data + sizeof(last_was) + last_was;
	ret_change->is_len = s[n - 1].val.len - sizeof(last_was) - last_was;
	return ret_change->was_len == ret_change->is_len &&
	                       memcmp(ret_change->was, ret_change->is,
	                              ret_change->is_len) == 0
	               ? E_NOTFOUND
	               : E_OK;
}

/* An LFT chunk in the making. */
struct entries {
	bool seen[LFT_PER_CHUNK];
	uint8_t was[LFT_PER_CHUNK], is[LFT_PER_CHUNK];
	uint32_t n; /* seen */
};

static int add_stored_entries(struct entries *e, const struct stored *s, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct lft_change c;

		memcpy(&c, s->val.data + sizeof(count) + i * sizeof(c), sizeof(c));
		if (c.at >= LFT_PER_CHUNK) {
			return E_MALFORMED;
		}
		if (!e->seen[c.at]) {
			e->seen[c.at] = true;
			e->was[c.at] = c.was;
			e->n++;
		}
		e->is[c.at] = c.is;
	}
	return E_OK;
}

static int keep_entries(const struct entries *e, struct arena *a,
                        struct snap_change *ret_change)
{
	struct lft_change *list = arena_array(a, (size_t)e->n + 1, sizeof(*list));

	if (list == NULL) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < LFT_PER_CHUNK; i++) {
		if (e->seen[i] && e->was[i] != e->is[i]) {
			list[ret_change->count++] =
				(struct lft_change){ (uint16_t)i, e->was[i], e->is[i] };
		}
	}
	ret_change->entries = list;
	return ret_change->count > 0 ? E_OK : E_NOTFOUND;
}

/* \retval E_NOTFOUND  All entries are what they were. */
static int compose_entries(const struct stored *s, size_t n, struct entries *e,
                           struct arena *a, struct snap_change *ret_change)
{
	uint32_t sum = 0;
	bool all = true;

	memset(e->seen, 0, sizeof(e->seen));
	e->n = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t count;

		if (s[i].val.len < sizeof(count)) {
			return E_MALFORMED;
		}
		memcpy(&count, s[i].val.data, sizeof(count));
		size_t bytes = s[i].val.len - sizeof(count);
		if (count > LFT_PER_CHUNK ||
		    (bytes != 0 && bytes != count * sizeof(struct lft_change))) {
			return E_MALFORMED;
		}
		sum += count;
		all = all && bytes != 0;
		int ret = bytes != 0 ? add_stored_entries(e, &s[i], count) : E_OK;
		if (ret != E_OK) {
			return ret;
		}
	}
	if (all) {
		return keep_entries(e, a, ret_change);
	}
	ret_change->count = sum < LFT_PER_CHUNK ? sum : LFT_PER_CHUNK;
	ret_change->at_most = n > 1;
	return E_OK;
}

static int compose(const struct stored *rows, size_t n, struct arena *a,
                   struct snap_changes *ret_changes)
{
	struct entries *e = malloc(sizeof(*e));
	int ret = e != NULL ? E_OK : -ENOMEM;

	ret_changes->list = arena_array(a, n + 1, sizeof(*ret_changes->list));
	if (ret_changes->list == NULL) {
		ret = -ENOMEM;
	}
	for (size_t i = 0, end; i < n && ret == E_OK; i = end) {
		struct snap_change c = { rows[i].kind, rows[i].key,
			                 .key_len = rows[i].key_len };

		for (end = i + 1; end < n && same_row(&rows[i], &rows[end]); end++) {
		}
		ret = c.kind == CHANGE_LFT ? compose_entries(rows + i, end - i, e, a, &c)
		                           : compose_rows(rows + i, end - i, &c);
		if (ret == E_OK) {
			ret_changes->list[ret_changes->n++] = c;
		} else if (ret == E_NOTFOUND) {
			ret = E_OK;
		}
	}
	free(e);
	return ret;
}

int snap_changes(struct snap_reader *r, uint64_t from, uint64_t to, struct arena *a,
                 struct snap_changes *ret_changes)
{
	struct stored *rows = NULL;
	struct row_change_head head = { .computed_at = 0 };
	size_t n = 0;
	int ret = find_head(r, from, &head);

	*ret_changes = (struct snap_changes){ .from_time = head.computed_at,
		                              .to_time = head.computed_at };
	if (ret == E_OK || ret == E_NOTFOUND) {
		ret = gather(r, from, to, &rows, &n, ret_changes);
	}
	if (ret == E_OK) {
		if (n > 0) {
			qsort(rows, n, sizeof(*rows), by_key);
		}
		ret = compose(rows, n, a, ret_changes);
	}
	free(rows);
	return ret;
}

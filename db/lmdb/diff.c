/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/lmdb/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/lmdb/layout.h"

static void step(struct diff *d, int found)
{
	d->more = found == E_OK;
	if (found != E_OK && found != E_NOTFOUND) {
		d->ret = found;
	}
}

void diff_begin(struct diff *d, struct db *db, unsigned table)
{
	memset(d, 0, sizeof(*d));
	d->table = table;
	d->last = &d->first;
	d->ret = db_begin(&d->t, db, false);
	if (d->ret == E_OK) {
		step(d, db_seek(&d->t, table, NULL, 0, &d->key, &d->val));
		d->was_empty = !d->more;
	}
}

void diff_begin_sparse(struct diff *d, struct db *db, unsigned table)
{
	memset(d, 0, sizeof(*d));
	d->table = table;
	d->last = &d->first;
	d->sparse = true;
	d->ret = db_begin(&d->t, db, false);
}

/* Memory of this comparison; NULL when out of memory, which sticks. */
static struct arena *diff_arena(struct diff *d)
{
	if (!d->a) {
		d->a = arena_new();
		if (!d->a) {
			d->ret = -ENOMEM;
		}
	}
	return d->a;
}

/* val NULL: delete. The value is borrowed. */
static struct change *add(struct diff *d, const void *key, size_t key_len,
                          const void *val, size_t len)
{
	struct arena *a = diff_arena(d);
	struct change *c = a ? arena_alloc(a, sizeof(*c) + key_len) : NULL;
	if (!c) {
		d->ret = -ENOMEM;
		return NULL;
	}
	memcpy(c->key, key, key_len);
	c->key_len = (uint16_t)key_len;
	c->val = val;
	c->len = (uint32_t)len;
	*d->last = c;
	d->last = &c->next;
	d->n++;
	d->bytes += len;
	return c;
}

static void add_copy(struct diff *d, const void *key, size_t key_len, const void *val,
                     size_t len)
{
	struct change *c = add(d, key, key_len, val, len);
	if (!c) {
		return;
	}
	uint8_t *copy = arena_alloc(d->a, len);
	if (!copy) {
		d->ret = -ENOMEM;
		return;
	}
	memcpy(copy, val, len);
	c->val = copy;
}

/* LMDB's order of keys: bytes, then length. */
static int compare(const void *a, size_t a_len, const void *b, size_t b_len)
{
	int c = memcmp(a, b, a_len < b_len ? a_len : b_len);
	if (c != 0) {
		return c;
	}
	return a_len < b_len ? -1 : a_len > b_len;
}

static void next_stored(struct diff *d)
{
	step(d, db_next(&d->t, d->table, &d->key, &d->val));
}

bool diff_at(struct diff *d, const void *key, size_t key_len)
{
	int c = 1;
	if (d->sparse && d->ret == E_OK) {
		step(d, db_find(&d->t, d->table, key, key_len, &d->val));
		return d->ret == E_OK && d->more;
	}
	while (d->ret == E_OK && d->more &&
	       (c = compare(d->key.data, d->key.len, key, key_len)) < 0) {
		add(d, d->key.data, d->key.len, NULL, 0);
		next_stored(d);
	}
	return d->ret == E_OK && d->more && c == 0;
}

void diff_keep(struct diff *d)
{
	if (!d->sparse) {
		next_stored(d);
	}
}

void diff_delete(struct diff *d, const void *key, size_t key_len)
{
	if (diff_at(d, key, key_len)) {
		add(d, key, key_len, NULL, 0);
	}
}

void diff_row(struct diff *d, const void *key, size_t key_len, const void *val,
              size_t len)
{
	bool stored = diff_at(d, key, key_len);
	if (d->ret != E_OK) {
		return;
	}
	if (!stored || d->val.len != len || memcmp(d->val.data, val, len) != 0) {
		add_copy(d, key, key_len, val, len);
	}
	if (stored) {
		diff_keep(d);
	}
}

int diff_end(struct diff *d)
{
	while (d->ret == E_OK && d->more && !d->sparse) {
		add(d, d->key.data, d->key.len, NULL, 0);
		next_stored(d);
	}
	return d->ret;
}

enum verdict { SAME, PUT, DEL };

/* Where each stored chunk of a row lies, NULL: not stored. */
struct stored_chunk {
	const uint8_t *data;
	size_t len;
};

static size_t chunk_len(const struct chunk_rows *c, uint32_t chunk)
{
	size_t from = (size_t)chunk * CHUNK_BYTES;
	return c->row_bytes - from < CHUNK_BYTES ? c->row_bytes - from : CHUNK_BYTES;
}

static uint8_t compare_chunk(const struct stored_chunk *s, const uint8_t *p, size_t len,
                             uint8_t none)
{
	if (p[0] == none && memcmp(p, p + 1, len - 1) == 0) {
		return s->data ? DEL : SAME;
	}
	return s->data && s->len == len && memcmp(s->data, p, len) == 0 ? SAME : PUT;
}

static uint32_t chunks_per_row(const struct chunk_rows *c)
{
	return (uint32_t)((c->row_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES);
}

/* Where a small part of the chunks may differ: finds these. */
static bool find_some_chunks(struct diff *d, const struct chunk_rows *c,
                             uint32_t n_chunks)
{
	enum { FEW = 4 }; /* to find a row takes so many times a step to the next one */
	uint32_t n = 0;
	for (uint32_t i = 0; c->same && i < n_chunks; i++) {
		n += !c->same[i];
	}
	if (!c->same || n * FEW > n_chunks) {
		return false;
	}
	for (uint32_t r = 0; r < c->n_rows; r++) {
		for (uint32_t i = 0; i < n_chunks && d->ret == E_OK; i++) {
			uint8_t key[CHUNK_KEY];
			if (c->same[i]) {
				continue;
			}
			key_chunk(key, c->guid[r], i);
			step(d, db_find(&d->t, d->table, key, CHUNK_KEY, &d->val));
			if (d->more) {
				d->stored[(size_t)r * n_chunks + i] =
					(struct stored_chunk){ d->val.data, d->val.len };
			}
		}
	}
	return true;
}

/* Chunks of rows or columns that are gone are to be deleted. */
int diff_find_chunks(struct diff *d, const struct chunk_rows *c)
{
	uint32_t r = 0, n_chunks = chunks_per_row(c);
	d->stored = calloc((size_t)c->n_rows * n_chunks + 1, sizeof(*d->stored));
	if (!d->stored) {
		d->ret = -ENOMEM;
	}
	if (d->ret == E_OK && find_some_chunks(d, c, n_chunks)) {
		return d->ret;
	}
	for (; d->ret == E_OK && d->more; next_stored(d)) {
		if (d->key.len != CHUNK_KEY) {
			d->ret = E_MALFORMED;
			break;
		}
		uint64_t guid = key_read_u64(d->key.data);
		uint32_t chunk = key_read_u32(d->key.data + 8);
		while (r < c->n_rows && c->guid[r] < guid) {
			r++;
		}
		if (r == c->n_rows || c->guid[r] != guid || chunk >= n_chunks) {
			add(d, d->key.data, CHUNK_KEY, NULL, 0);
		} else {
			d->stored[(size_t)r * n_chunks + chunk] =
				(struct stored_chunk){ d->val.data, d->val.len };
		}
	}
	return d->ret;
}

static void add_chunk(struct diff *d, const struct chunk_rows *c, uint32_t r,
                      uint32_t chunk, enum verdict verdict)
{
	uint8_t key[CHUNK_KEY];
	key_chunk(key, c->guid[r], chunk);
	if (verdict == DEL) {
		add(d, key, CHUNK_KEY, NULL, 0);
	} else if (verdict == PUT) {
		add(d, key, CHUNK_KEY,
		    c->base + (size_t)r * c->stride + (size_t)chunk * CHUNK_BYTES,
		    chunk_len(c, chunk));
	}
}

int diff_chunks(struct diff *d, const struct chunk_rows *c)
{
	uint32_t n_chunks = chunks_per_row(c);
	if (d->ret != E_OK) {
		return d->ret;
	}
	uint8_t *verdict = calloc((size_t)c->n_rows * n_chunks + 1, 1);
	if (!verdict) {
		d->ret = -ENOMEM;
		return d->ret;
	}
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t r = 0; r < c->n_rows; r++) {
		for (uint32_t i = 0; i < n_chunks; i++) {
			size_t at = (size_t)r * n_chunks + i;
			if (c->same && c->same[i]) {
				continue;
			}
			verdict[at] = compare_chunk(&d->stored[at],
			                            c->base + r * c->stride +
			                                    (size_t)i * CHUNK_BYTES,
			                            chunk_len(c, i), c->none);
		}
	}
	for (uint32_t r = 0; r < c->n_rows && d->ret == E_OK; r++) {
		for (uint32_t i = 0; i < n_chunks; i++) {
			add_chunk(d, c, r, i, verdict[(size_t)r * n_chunks + i]);
		}
	}
	free(verdict);
	return d->ret;
}

void diff_apply(const struct diff *d, struct db_txn *t)
{
	for (const struct change *c = d->first; c && t->ret == E_OK; c = c->next) {
		if (!c->val) {
			db_del(t, d->table, c->key, c->key_len);
		} else if (d->was_empty) {
			db_append(t, d->table, c->key, c->key_len, c->val, c->len);
		} else {
			db_put(t, d->table, c->key, c->key_len, c->val, c->len);
		}
	}
}

void diff_done(struct diff *d)
{
	db_abort(&d->t);
	arena_free(d->a);
	free(d->stored);
	d->a = NULL;
	d->stored = NULL;
	d->first = NULL;
	d->last = &d->first;
}

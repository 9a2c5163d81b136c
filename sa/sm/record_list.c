/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/record_list.h"

#include <errno.h>
#include <stdlib.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "db/state/state.h"
#include "sa/sm/sm.h"

static bool stands_for(const struct sm *sm, const struct record_list *l)
{
	return l->loaded && !l->failed && l->version == state_version(sm->d.state, l->table);
}

bool record_list_is_current(struct sm *sm, struct record_list *l)
{
	if (stands_for(sm, l)) {
		return true;
	}
	state_flush(sm->d.state); /* our own rows may be on their way to the disk */
	return stands_for(sm, l);
}

struct reading {
	uint8_t *bytes;
	size_t n, cap, row_bytes;
	int (*decode)(const uint8_t *key, size_t key_len, const void *value, size_t len,
	              void *ret_row);
};

static int read_row(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                    size_t len)
{
	struct reading *r = ctx;

	if (VECTOR_RESERVE(r->bytes, r->cap, (r->n + 1) * r->row_bytes) != E_OK) {
		return -ENOMEM;
	}
	int ret = r->decode(key, key_len, value, len, r->bytes + r->n * r->row_bytes);
	r->n += ret == E_OK;
	return ret;
}

int record_list_read(struct sm *sm, struct record_list *l, size_t row_bytes,
                     int (*decode)(const uint8_t *key, size_t key_len, const void *value,
                                   size_t len, void *ret_row),
                     void **ret_list, size_t *ret_n)
{
	struct reading r = { .row_bytes = row_bytes, .decode = decode };

	l->failed = false;
	uint64_t version = state_version(sm->d.state, l->table);
	int ret = state_records(sm->d.state, l->table, read_row, &r);

	if (ret != E_OK) {
		free(r.bytes);
		return ret;
	}
	l->version = version;
	l->loaded = true;
	*ret_list = r.bytes;
	*ret_n = r.n;
	return E_OK;
}

int record_list_put(const struct record_list *l, struct record_changes *c, const void *key,
                    size_t key_len, const void *value, size_t len)
{
	int ret = c->batch == NULL ? state_batch_new(&c->batch) : E_OK;

	if (ret == E_OK) {
		ret = state_batch_put(c->batch, l->table, key, key_len, value, len);
	}
	c->n += ret == E_OK;
	return ret;
}

static void note_failure(void *ctx, int ret)
{
	struct record_list *l = ctx;

	if (ret != E_OK) {
		l->failed = true;
	}
}

void record_list_commit(struct sm *sm, struct record_list *l, struct record_changes *c)
{
	if (c->batch != NULL) {
		l->version += c->n;
		state_batch_commit(sm->d.state, c->batch, note_failure, l);
		c->batch = NULL;
	}
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/record_list.h"

#include "conf/base/err.h"
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

int record_list_read(struct sm *sm, struct record_list *l,
                     int (*take)(void *ctx, const uint8_t *key, size_t key_len,
                                 const uint8_t *value, size_t len),
                     void *ctx)
{
	l->failed = false;
	uint64_t version = state_version(sm->d.state, l->table);
	int ret = state_records(sm->d.state, l->table, take, ctx);

	if (ret == E_OK) {
		l->version = version;
		l->loaded = true;
	}
	return ret;
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"

enum { BITS_MIN = 5 };

uint32_t hash_get(const struct hash_table *t, uint64_t key)
{
	return HASH_FIND(t, key, i, i != HASH_NONE);
}

/* Puts an entry into the first free slot behind the place of its key. */
static void insert(struct hash_table *t, uint64_t key, uint32_t value)
{
	size_t at = hash_first(t, key);

	while (t->slot[at].used) {
		at = hash_next(t, at);
	}
	t->slot[at] = (struct hash_slot){ .key = key, .value = value, .used = 1 };
	t->n++;
}

int hash_reserve(struct hash_table *t, uint32_t n)
{
	struct hash_table old = *t, more = { .arena = t->arena, .bits = BITS_MIN };
	size_t size;

	if (n > UINT32_MAX / 2) {
		return -ENOMEM;
	}
	while (UINT64_C(1) << more.bits < 2 * (uint64_t)n) {
		more.bits++;
	}
	if (more.bits <= old.bits) {
		return E_OK;
	}
	size = (size_t)1 << more.bits;
	more.slot = t->arena ? arena_array(t->arena, size, sizeof(*more.slot))
	                     : calloc(size, sizeof(*more.slot));
	if (more.slot == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; old.bits > 0 && i < (size_t)1 << old.bits; i++) {
		if (old.slot[i].used) {
			insert(&more, old.slot[i].key, old.slot[i].value);
		}
	}
	hash_done(&old);
	*t = more;
	return E_OK;
}

int hash_add(struct hash_table *t, uint64_t key, uint32_t value)
{
	int ret = hash_reserve(t, t->n + 1);

	if (ret == E_OK) {
		insert(t, key, value);
	}
	return ret;
}

int hash_put(struct hash_table *t, uint64_t key, uint32_t value)
{
	for (size_t at = t->bits > 0 ? hash_first(t, key) : 0;
	     t->bits > 0 && t->slot[at].used; at = hash_next(t, at)) {
		if (t->slot[at].key == key) {
			t->slot[at].value = value;
			return E_OK;
		}
	}
	return hash_add(t, key, value);
}

void hash_clear(struct hash_table *t)
{
	if (t->bits > 0) {
		memset(t->slot, 0, sizeof(*t->slot) << t->bits);
	}
	t->n = 0;
}

void hash_done(struct hash_table *t)
{
	if (t->arena == NULL) {
		free(t->slot);
	}
	*t = (struct hash_table){ .arena = t->arena };
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/guid_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"

struct guid_map_entry {
	uint64_t key;
	uint32_t value;
	uint32_t used;
};

enum { CAP_MIN = 64 };

/* Slot of a key, or the free slot where it belongs. */
static struct guid_map_entry *slot_of(struct guid_map_entry *e, size_t cap, uint64_t key)
{
	size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (cap - 1);

	while (e[i].used && e[i].key != key) {
		i = (i + 1) & (cap - 1);
	}
	return &e[i];
}

uint32_t guid_map_get(const struct guid_map *m, uint64_t key)
{
	const struct guid_map_entry *e;

	if (!m->cap) {
		return GUID_MAP_NONE;
	}
	e = slot_of(m->entries, m->cap, key);
	return e->used ? e->value : GUID_MAP_NONE;
}

static int grow(struct guid_map *m)
{
	size_t cap = m->cap ? 2 * m->cap : CAP_MIN;
	struct guid_map_entry *e = calloc(cap, sizeof(*e));

	if (e == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->cap; i++) {
		if (m->entries[i].used) {
			*slot_of(e, cap, m->entries[i].key) = m->entries[i];
		}
	}
	free(m->entries);
	m->entries = e;
	m->cap = cap;
	return E_OK;
}

int guid_map_put(struct guid_map *m, uint64_t key, uint32_t value)
{
	struct guid_map_entry *e;

	if (2 * (m->n + 1) > m->cap) {
		int ret = grow(m);

		if (ret != E_OK) {
			return ret;
		}
	}
	e = slot_of(m->entries, m->cap, key);
	m->n += !e->used;
	*e = (struct guid_map_entry){ .key = key, .value = value, .used = 1 };
	return E_OK;
}

void guid_map_done(struct guid_map *m)
{
	free(m->entries);
	*m = (struct guid_map){ 0 };
}

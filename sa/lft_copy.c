/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/lft_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/err.h"

static int list_add(struct lft_copies *c, struct lft_copy *copy)
{
	if (c->n == c->cap) {
		uint32_t cap = c->cap ? 2 * c->cap : 64;
		struct lft_copy **p = realloc(c->items, cap * sizeof(struct lft_copy *));

		if (p == NULL) {
			return -ENOMEM;
		}
		c->items = p;
		c->cap = cap;
	}
	if (guid_map_put(&c->by_guid, copy->guid, c->n) != E_OK) {
		return -ENOMEM;
	}
	c->items[c->n++] = copy;
	return E_OK;
}

struct lft_copy *lft_copy_get(struct lft_copies *c, uint64_t guid)
{
	uint32_t i = guid_map_get(&c->by_guid, guid);
	struct lft_copy *copy;

	if (i != GUID_MAP_NONE) {
		return c->items[i];
	}
	copy = calloc(1, sizeof(*copy));
	if (copy == NULL) {
		return NULL;
	}
	copy->guid = guid;
	if (list_add(c, copy) != E_OK) {
		free(copy);
		return NULL;
	}
	return copy;
}

void lft_copy_drop(struct lft_copy *c, uint32_t block)
{
	free(c->block[block]);
	c->block[block] = NULL;
}

void lft_copy_forget(struct lft_copy *c)
{
	for (unsigned i = 0; i < LFT_BLOCKS; i++) {
		lft_copy_drop(c, i);
	}
	c->top = 0;
}

int lft_copy_put(struct lft_copy *c, uint32_t block, const uint8_t *data)
{
	if (c->block[block] == NULL) {
		c->block[block] = malloc(LFT_BLOCK_LIDS);
		if (c->block[block] == NULL) {
			return -ENOMEM;
		}
	}
	memcpy(c->block[block], data, LFT_BLOCK_LIDS);
	return E_OK;
}

void lft_copies_done(struct lft_copies *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		lft_copy_forget(c->items[i]);
		free(c->items[i]);
	}
	free(c->items);
	guid_map_done(&c->by_guid);
	*c = (struct lft_copies){ 0 };
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/lft_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/base/vector.h"

static int list_add(struct lft_copies *c, struct lft_copy *copy)
{
	if (VECTOR_RESERVE(c->items, c->cap, c->n + 1) != E_OK ||
	    guid_map_put(&c->by_guid, copy->guid, c->n) != E_OK) {
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

int lft_copy_put_lanes(struct lft_copy *c, const uint8_t *lanes, uint32_t n_lids)
{
	free(c->lanes);
	c->lanes = lanes != NULL ? malloc(n_lids) : NULL;
	c->n_lanes = c->lanes != NULL ? n_lids : 0;
	if (c->lanes != NULL) {
		memcpy(c->lanes, lanes, n_lids);
	}
	return lanes != NULL && c->lanes == NULL ? -ENOMEM : E_OK;
}

void lft_copy_forget(struct lft_copy *c)
{
	for (unsigned i = 0; i < LFT_BLOCKS; i++) {
		lft_copy_drop(c, i);
	}
	c->top = 0;
	(void)lft_copy_put_lanes(c, NULL, 0);
	free(c->mft);
	c->mft = NULL;
	c->n_mft = 0;
	c->cap_mft = 0;
}

/* Where a multicast block is, or would be. */
static uint32_t mft_place(const struct lft_copy *c, uint32_t mod)
{
	return LOWER_BOUND(c->n_mft, i, c->mft[i].mod < mod);
}

struct mft_copy *mft_copy_find(const struct lft_copy *c, uint32_t mod)
{
	uint32_t i = mft_place(c, mod);

	return i < c->n_mft && c->mft[i].mod == mod ? &c->mft[i] : NULL;
}

int mft_copy_put(struct lft_copy *c, uint32_t mod, const uint8_t *data)
{
	struct mft_copy *known = mft_copy_find(c, mod);
	uint32_t i;

	if (known == NULL) {
		if (VECTOR_RESERVE(c->mft, c->cap_mft, c->n_mft + 1) != E_OK) {
			return -ENOMEM;
		}
		i = mft_place(c, mod);
		memmove(c->mft + i + 1, c->mft + i, (c->n_mft - i) * sizeof(*c->mft));
		c->n_mft++;
		known = &c->mft[i];
		known->mod = mod;
	}
	memcpy(known->data, data, MFT_BLOCK_BYTES);
	return E_OK;
}

void mft_copy_drop(struct lft_copy *c, uint32_t mod)
{
	struct mft_copy *known = mft_copy_find(c, mod);

	if (known != NULL) {
		memmove(known, known + 1,
		        (size_t)(c->mft + --c->n_mft - known) * sizeof(*known));
	}
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

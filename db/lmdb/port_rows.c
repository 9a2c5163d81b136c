/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "db/lmdb/port_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "db/lmdb/layout.h"

/* A slot; its row follows. */
struct head {
	uint8_t key[PORT_KEY_BYTES];
	bool gone;
	uint8_t reserved[6];
};

_Static_assert(sizeof(struct head) % 8 == 0, "rows are aligned");

static size_t stride_of(size_t size)
{
	return sizeof(struct head) + (size + 7) / 8 * 8;
}

static struct head *head_at(const struct port_rows *w, size_t i, size_t size)
{
	return (struct head *)(void *)(w->bytes + i * stride_of(size));
}

void port_rows_key(uint64_t node_guid, uint8_t port, uint8_t ret_key[PORT_KEY_BYTES])
{
	key_u64(ret_key, node_guid);
	ret_key[8] = port;
}

int port_rows_wait(struct port_rows *w, uint64_t node_guid, uint8_t port, const void *row, size_t size)
{
	uint8_t key[PORT_KEY_BYTES];

	port_rows_key(node_guid, port, key);
	uint64_t digest = digest_bytes(0, key, sizeof(key));
	uint32_t at = HASH_FIND(&w->places, digest, i,
	                        memcmp(head_at(w, i, size)->key, key, sizeof(key)) == 0);

	if (at == HASH_NONE) {
		at = (uint32_t)w->n;
		if (VECTOR_RESERVE(w->bytes, w->cap, (w->n + 1) * stride_of(size)) != E_OK ||
		    hash_add(&w->places, digest, at) != E_OK) {
			return -ENOMEM;
		}
		w->n++;
		memset(head_at(w, at, size), 0, stride_of(size));
		memcpy(head_at(w, at, size)->key, key, sizeof(key));
	}
	struct head *h = head_at(w, at, size);
	h->gone = row == NULL;
	if (row != NULL) {
		memcpy(h + 1, row, size);
	}
	return E_OK;
}

const uint8_t *port_rows_at(const struct port_rows *w, size_t i, size_t size, const void **ret_row)
{
	const struct head *h = head_at(w, i, size);

	*ret_row = h->gone ? NULL : h + 1;
	return h->key;
}

void port_rows_clear(struct port_rows *w)
{
	w->n = 0;
	hash_done(&w->places);
}

void port_rows_done(struct port_rows *w)
{
	port_rows_clear(w);
	free(w->bytes);
}

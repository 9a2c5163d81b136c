/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/port_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"

struct port_tables *port_tables_find(const struct port_copies *c, uint64_t guid,
                                     uint8_t port)
{
	uint32_t i = guid_map_get(&c->by_port, guid_port_key(guid, port));
	struct port_tables *t = i != GUID_MAP_NONE ? c->items[i] : NULL;

	return t != NULL && t->guid == guid && t->port == port ? t : NULL;
}

static int list_add(struct port_copies *c, struct port_tables *t)
{
	if (VECTOR_RESERVE(c->items, c->cap, c->n + 1) != E_OK ||
	    guid_map_put(&c->by_port, guid_port_key(t->guid, t->port), c->n) != E_OK) {
		return -ENOMEM;
	}
	c->items[c->n++] = t;
	return E_OK;
}

struct port_tables *port_tables_get(struct port_copies *c, uint64_t guid, uint8_t port)
{
	struct port_tables *t = port_tables_find(c, guid, port);

	if (t != NULL) {
		return t;
	}
	t = calloc(1, sizeof(*t));
	if (t == NULL) {
		return NULL;
	}
	t->guid = guid;
	t->port = port;
	if (list_add(c, t) != E_OK) {
		free(t);
		return NULL;
	}
	return t;
}

int port_table_size(struct port_tables *t, enum port_table_kind kind, unsigned blocks)
{
	struct port_block *block;

	if (blocks == t->table[kind].n) {
		return E_OK;
	}
	block = calloc(blocks ? blocks : 1, sizeof(*block));
	if (block == NULL) {
		return -ENOMEM;
	}
	free(t->table[kind].block);
	t->table[kind].block = block;
	t->table[kind].n = (uint16_t)blocks;
	return E_OK;
}

void port_tables_forget(struct port_tables *t)
{
	for (unsigned k = 0; k < PORT_TABLE_COUNT; k++) {
		for (unsigned b = 0; b < t->table[k].n; b++) {
			t->table[k].block[b].known = false;
		}
	}
}

void port_copies_done(struct port_copies *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		for (unsigned k = 0; k < PORT_TABLE_COUNT; k++) {
			free(c->items[i]->table[k].block);
		}
		free(c->items[i]);
	}
	free(c->items);
	guid_map_done(&c->by_port);
	*c = (struct port_copies){ 0 };
}

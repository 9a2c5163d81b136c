/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/qos_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"

static void copy_free(struct qos_copy *c)
{
	if (c != NULL) {
		free(c->sl2vl);
		free(c->arb);
		free(c);
	}
}

static struct qos_copy *copy_new(uint64_t guid, unsigned n_out, unsigned n_in)
{
	struct qos_copy *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		return NULL;
	}
	c->guid = guid;
	c->n_out = (uint16_t)n_out;
	c->n_in = (uint16_t)n_in;
	c->sl2vl = malloc((size_t)n_out * n_in * SL2VL_BYTES);
	c->arb = calloc(n_out, sizeof(*c->arb));
	if (c->sl2vl == NULL || c->arb == NULL) {
		copy_free(c);
		return NULL;
	}
	memset(c->sl2vl, 0xff, (size_t)n_out * n_in * SL2VL_BYTES);
	return c;
}

static int list_add(struct qos_copies *l, struct qos_copy *c)
{
	if (VECTOR_RESERVE(l->items, l->cap, l->n + 1) != E_OK ||
	    guid_map_put(&l->by_guid, c->guid, l->n) != E_OK) {
		return -ENOMEM;
	}
	l->items[l->n++] = c;
	return E_OK;
}

struct qos_copy *qos_copy_find(const struct qos_copies *l, uint64_t guid)
{
	uint32_t i = guid_map_get(&l->by_guid, guid);

	return i != GUID_MAP_NONE ? l->items[i] : NULL;
}

bool qos_copy_fits(const struct qos_copy *c, unsigned n_ports, bool is_switch)
{
	return c->n_out == n_ports + 1 && c->n_in == (is_switch ? n_ports + 1 : 1);
}

struct qos_copy *qos_copy_get(struct qos_copies *l, uint64_t guid, unsigned n_ports,
                              bool is_switch)
{
	uint32_t i = guid_map_get(&l->by_guid, guid);
	unsigned n_out = n_ports + 1, n_in = is_switch ? n_out : 1;
	struct qos_copy *c;

	if (i != GUID_MAP_NONE && qos_copy_fits(l->items[i], n_ports, is_switch)) {
		return l->items[i];
	}
	c = copy_new(guid, n_out, n_in);
	if (c != NULL && i != GUID_MAP_NONE) { /* another device with this GUID */
		copy_free(l->items[i]);
		l->items[i] = c;
	} else if (c != NULL && list_add(l, c) != E_OK) {
		copy_free(c);
		return NULL;
	}
	return c;
}

static const uint8_t unknown[SL2VL_BYTES] = { 0xff, 0xff, 0xff, 0xff,
	                                      0xff, 0xff, 0xff, 0xff };

void qos_copy_set(struct qos_copy *c, unsigned out, unsigned in, const uint8_t *table)
{
	memcpy(qos_copy_sl2vl(c, out, in), table ? table : unknown, SL2VL_BYTES);
}

bool qos_copy_knows(const uint8_t table[SL2VL_BYTES])
{
	return memcmp(table, unknown, sizeof(unknown)) != 0;
}

void qos_copy_forget(struct qos_copy *c, unsigned port)
{
	for (unsigned i = 0; i < c->n_in; i++) {
		memset(qos_copy_sl2vl(c, port, i), 0xff, SL2VL_BYTES);
	}
	for (unsigned o = 0; o < c->n_out && port < c->n_in; o++) {
		memset(qos_copy_sl2vl(c, o, port), 0xff, SL2VL_BYTES);
	}
	memset(c->arb[port].known, 0, sizeof(c->arb[port].known));
	c->read = false;
}

void qos_copies_done(struct qos_copies *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		copy_free(l->items[i]);
	}
	free(l->items);
	guid_map_done(&l->by_guid);
	*l = (struct qos_copies){ 0 };
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/discover/shadow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/base/vector.h"
#include "sa/mad/fields.h"

/* --- lists of copies ------------------------------------------------------------------ */

static void *list_find(const struct shadow_list *l, uint64_t key)
{
	uint32_t i = hash_get(&l->by_key, key);

	return i != HASH_NONE ? l->items[i] : NULL;
}

/* Takes item, which is freed when there is no memory. NULL is passed on. */
static void *list_add(struct shadow_list *l, uint64_t key, void *item)
{
	if (item == NULL || VECTOR_RESERVE(l->items, l->cap, l->n + 1) != E_OK ||
	    hash_put(&l->by_key, key, l->n) != E_OK) {
		free(item);
		return NULL;
	}
	l->items[l->n++] = item;
	return item;
}

static void list_done(struct shadow_list *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		free(l->items[i]);
	}
	free(l->items);
	hash_done(&l->by_key);
	*l = (struct shadow_list){ 0 };
}

void shadow_done(struct shadow *s)
{
	shadow_forget_programmed(s);
	list_done(&s->switches);
	for (uint32_t i = 0; i < s->ports.n; i++) {
		struct shadow_port *p = s->ports.items[i];

		for (unsigned k = 0; k < PORT_TABLE_COUNT; k++) {
			free(p->table[k].block);
		}
	}
	list_done(&s->ports);
	hash_done(&s->port_infos);
	*s = (struct shadow){ 0 };
}

/* --- forwarding tables ---------------------------------------------------------------- */

struct shadow_switch *shadow_switch_get(struct shadow *s, uint64_t guid)
{
	struct shadow_switch *c = list_find(&s->switches, guid);

	if (c == NULL) {
		c = list_add(&s->switches, guid, calloc(1, sizeof(*c)));
		if (c != NULL) {
			c->guid = guid;
		}
	}
	return c;
}

void shadow_lft_note_late(struct shadow *s, struct shadow_switch *c, uint32_t block)
{
	s->n_late += c->late[block] != LATE_NOTED;
	c->late[block] = LATE_NOTED;
}

bool shadow_late_due(struct shadow *s)
{
	bool any = s->n_late != 0;

	for (uint32_t i = 0; any && i < s->switches.n; i++) {
		struct shadow_switch *c = s->switches.items[i];

		for (unsigned b = 0; b < LFT_BLOCKS; b++) {
			c->late[b] = c->late[b] == LATE_NOTED ? LATE_DUE : c->late[b];
		}
	}
	s->n_late = 0;
	return any;
}

void shadow_way_failed(struct shadow_way *w)
{
	enum { GAPS = 6 };

	w->failures = (uint8_t)(w->failures < GAPS ? w->failures + 1 : GAPS);
	w->wait = (uint8_t)((1U << w->failures) - 1);
}

void shadow_switch_forget(struct shadow_switch *c)
{
	struct shadow_switch empty = { .guid = c->guid };

	for (unsigned i = 0; i < LFT_BLOCKS; i++) {
		shadow_lft_drop(c, i);
	}
	free(c->lanes);
	free(c->mft);
	memcpy(empty.late, c->late,
	       sizeof(empty.late)); /* they may still be on their way */
	*c = empty;
}

void shadow_forget_programmed(struct shadow *s)
{
	for (uint32_t i = 0; i < s->switches.n; i++) {
		shadow_switch_forget(s->switches.items[i]);
	}
	for (uint32_t i = 0; i < s->ports.n; i++) {
		shadow_port_forget(s->ports.items[i]);
	}
	shadow_qos_done(s);
}

int shadow_lft_put(struct shadow_switch *c, uint32_t block, const uint8_t *data)
{
	if (c->block[block] == NULL) {
		c->block[block] = malloc(LFT_BLOCK_LIDS);
		if (c->block[block] == NULL) {
			return -ENOMEM;
		}
	}
	memcpy(c->block[block], data, LFT_BLOCK_LIDS);
	c->differs[block] = false;
	return E_OK;
}

void shadow_lft_drop(struct shadow_switch *c, uint32_t block)
{
	free(c->block[block]);
	c->block[block] = NULL;
	c->differs[block] = false;
}

int shadow_lanes_put(struct shadow_switch *c, const uint8_t *lanes, uint32_t n_lids)
{
	free(c->lanes);
	c->lanes = lanes != NULL ? malloc(n_lids) : NULL;
	c->n_lanes = c->lanes != NULL ? n_lids : 0;
	if (c->lanes != NULL) {
		memcpy(c->lanes, lanes, n_lids);
	}
	return lanes != NULL && c->lanes == NULL ? -ENOMEM : E_OK;
}

struct shadow_mft *shadow_mft_find(const struct shadow_switch *c, uint32_t mod)
{
	size_t at = LOWER_BOUND(c->n_mft, i, c->mft[i].mod < mod);

	return at < c->n_mft && c->mft[at].mod == mod ? &c->mft[at] : NULL;
}

int shadow_mft_put(struct shadow_switch *c, uint32_t mod, const uint8_t *data)
{
	struct shadow_mft *known = shadow_mft_find(c, mod);

	if (known == NULL) {
		if (VECTOR_RESERVE(c->mft, c->cap_mft, c->n_mft + 1) != E_OK) {
			return -ENOMEM;
		}
		known = &c->mft[LOWER_BOUND(c->n_mft, i, c->mft[i].mod < mod)];
		memmove(known + 1, known,
		        (size_t)(c->mft + c->n_mft++ - known) * sizeof(*known));
		known->mod = mod;
	}
	memcpy(known->data, data, MFT_BLOCK_BYTES);
	return E_OK;
}

void shadow_mft_drop(struct shadow_switch *c, uint32_t mod)
{
	struct shadow_mft *known = shadow_mft_find(c, mod);

	if (known != NULL) {
		memmove(known, known + 1,
		        (size_t)(c->mft + --c->n_mft - known) * sizeof(*known));
	}
}

/* --- SL-to-VL and VL arbitration tables ----------------------------------------------- */

static const uint8_t unknown[SL2VL_BYTES] = { 0xff, 0xff, 0xff, 0xff,
	                                      0xff, 0xff, 0xff, 0xff };

static void qos_free_tables(struct shadow_qos *c)
{
	free(c->sl2vl);
	free(c->arb);
}

static bool qos_fits(const struct shadow_qos *c, unsigned n_ports, bool is_switch)
{
	return c != NULL && c->n_out == n_ports + 1 &&
	       c->n_in == (is_switch ? n_ports + 1 : 1);
}

/* Gives c empty tables. A failure leaves it as it was. */
static int qos_init(struct shadow_qos *c, uint64_t guid, unsigned n_ports, bool is_switch)
{
	unsigned n_out = n_ports + 1, n_in = is_switch ? n_out : 1;
	struct shadow_qos fresh = { .guid = guid,
		                    .n_out = (uint16_t)n_out,
		                    .n_in = (uint16_t)n_in,
		                    .sl2vl = malloc((size_t)n_out * n_in * SL2VL_BYTES),
		                    .arb = calloc(n_out, sizeof(*fresh.arb)) };

	if (fresh.sl2vl == NULL || fresh.arb == NULL) {
		qos_free_tables(&fresh);
		return -ENOMEM;
	}
	memset(fresh.sl2vl, 0xff, (size_t)n_out * n_in * SL2VL_BYTES);
	qos_free_tables(c);
	*c = fresh;
	return E_OK;
}

struct shadow_qos *shadow_qos_find(const struct shadow *s, uint64_t guid,
                                   unsigned n_ports, bool is_switch)
{
	struct shadow_qos *c = list_find(&s->qos, guid);

	return qos_fits(c, n_ports, is_switch) ? c : NULL;
}

struct shadow_qos *shadow_qos_get(struct shadow *s, uint64_t guid, unsigned n_ports,
                                  bool is_switch)
{
	struct shadow_qos *c = list_find(&s->qos, guid);

	if (c == NULL) {
		c = list_add(&s->qos, guid, calloc(1, sizeof(*c)));
	}
	if (c != NULL && !qos_fits(c, n_ports, is_switch) &&
	    qos_init(c, guid, n_ports, is_switch) != E_OK) {
		return NULL;
	}
	return c;
}

void shadow_sl2vl_put(struct shadow_qos *c, unsigned out, unsigned in,
                      const uint8_t *table)
{
	memcpy(shadow_sl2vl(c, out, in), table != NULL ? table : unknown, SL2VL_BYTES);
}

bool shadow_sl2vl_known(const uint8_t table[SL2VL_BYTES])
{
	return memcmp(table, unknown, sizeof(unknown)) != 0;
}

void shadow_qos_forget(struct shadow_qos *c, unsigned port)
{
	for (unsigned i = 0; i < c->n_in; i++) {
		shadow_sl2vl_put(c, port, i, NULL);
	}
	for (unsigned o = 0; o < c->n_out && port < c->n_in; o++) {
		shadow_sl2vl_put(c, o, port, NULL);
	}
	memset(c->arb[port].known, 0, sizeof(c->arb[port].known));
	c->read = false;
}

void shadow_qos_done(struct shadow *s)
{
	for (uint32_t i = 0; i < s->qos.n; i++) {
		qos_free_tables(s->qos.items[i]);
	}
	list_done(&s->qos);
}

/* --- P_Key and GUID tables ------------------------------------------------------------ */

struct shadow_port *shadow_port_find(const struct shadow *s, uint64_t guid, uint8_t port)
{
	struct shadow_port *p = list_find(&s->ports, guid_port_key(guid, port));

	return p != NULL && p->guid == guid && p->port == port ? p : NULL;
}

struct shadow_port *shadow_port_get(struct shadow *s, uint64_t guid, uint8_t port)
{
	struct shadow_port *p = shadow_port_find(s, guid, port);

	if (p == NULL) {
		p = list_add(&s->ports, guid_port_key(guid, port), calloc(1, sizeof(*p)));
		if (p != NULL) {
			p->guid = guid;
			p->port = port;
		}
	}
	return p;
}

int shadow_port_resize(struct shadow_port *p, enum port_table_kind kind, unsigned blocks)
{
	struct port_block *block;

	if (blocks == p->table[kind].n) {
		return E_OK;
	}
	block = calloc(blocks ? blocks : 1, sizeof(*block));
	if (block == NULL) {
		return -ENOMEM;
	}
	free(p->table[kind].block);
	p->table[kind].block = block;
	p->table[kind].n = (uint16_t)blocks;
	return E_OK;
}

void shadow_port_forget(struct shadow_port *p)
{
	for (unsigned k = 0; k < PORT_TABLE_COUNT; k++) {
		for (unsigned b = 0; b < p->table[k].n; b++) {
			p->table[k].block[b].known = false;
		}
	}
}

/* --- PortInfo that was set ------------------------------------------------------------ */

uint64_t shadow_port_info_hash(const uint8_t info[64])
{
	uint8_t copy[64];
	uint64_t h = 1;

	memcpy(copy, info, sizeof(copy));
	field_set(copy, PI_LOCAL_PORT_NUM, 0); /* where the SMP came in */
	field_set(copy, PI_PORT_STATE, 0);
	field_set(copy, PI_PORT_PHYSICAL_STATE, 0);
	field_set(copy, PI_CLIENT_REREGISTER, 0); /* asks, and is not kept */
	field_set(copy, PI_M_KEY_VIOLATIONS, 0);
	field_set(copy, PI_P_KEY_VIOLATIONS, 0);
	field_set(copy, PI_Q_KEY_VIOLATIONS, 0);
	for (unsigned i = 0; i < sizeof(copy); i += 8) {
		h = (h ^ field_get(copy, 8 * i, 64)) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h;
}

/* 31 bits: never HASH_NONE. */
static uint32_t mark(uint64_t set_hash, const uint8_t shown[64])
{
	return (uint32_t)((set_hash * 3 ^ shadow_port_info_hash(shown)) >> 33);
}

int shadow_port_info_note(struct shadow *s, uint64_t node_guid, uint8_t port,
                          uint64_t set_hash, const uint8_t shown[64])
{
	return hash_put(&s->port_infos, guid_port_key(node_guid, port),
	                mark(set_hash, shown));
}

bool shadow_port_info_is_same(const struct shadow *s, uint64_t node_guid, uint8_t port,
                              uint64_t set_hash, const uint8_t shown[64])
{
	return hash_get(&s->port_infos, guid_port_key(node_guid, port)) ==
	       mark(set_hash, shown);
}

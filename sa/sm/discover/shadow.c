/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/discover/shadow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "sa/mad/fields.h"
#include "sa/mad/opa_lid.h"

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
	hash_done(&s->port_infos);
	*s = (struct shadow){ 0 };
}

/* --- switches ------------------------------------------------------------------------- */

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

void shadow_way_failed(struct shadow_way *w)
{
	enum { GAPS = 6 };

	w->failures = (uint8_t)(w->failures < GAPS ? w->failures + 1 : GAPS);
	w->wait = (uint8_t)((1U << w->failures) - 1);
}

void shadow_switch_forget(struct shadow_switch *c)
{
	free(c->lanes);
	*c = (struct shadow_switch){ .guid = c->guid };
}

void shadow_forget_programmed(struct shadow *s)
{
	for (uint32_t i = 0; i < s->switches.n; i++) {
		shadow_switch_forget(s->switches.items[i]);
	}
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

/* --- PortInfo that was set ------------------------------------------------------------ */

uint64_t shadow_port_info_hash(const uint8_t info[64], const uint8_t *native)
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
		h = digest_add(h, field_get(copy, 8 * i, 64));
	}
	/* LIDs that InfiniBand's form does not show */
	return native == NULL ? h
	                      : digest_add(h, (uint64_t)opa_lid_of_port(info, native) << 32 |
	                                              opa_lid_of_sm(info, native));
}

/* 31 bits: never HASH_NONE. */
static uint32_t mark(uint64_t set_hash, uint64_t shown)
{
	return (uint32_t)((set_hash * 3 ^ shown) >> 33);
}

int shadow_port_info_note(struct shadow *s, uint64_t node_guid, uint8_t port,
                          uint64_t set_hash, uint64_t shown)
{
	return hash_put(&s->port_infos, guid_port_key(node_guid, port),
	                mark(set_hash, shown));
}

bool shadow_port_info_is_same(const struct shadow *s, uint64_t node_guid, uint8_t port,
                              uint64_t set_hash, uint64_t shown)
{
	return hash_get(&s->port_infos, guid_port_key(node_guid, port)) ==
	       mark(set_hash, shown);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"

/*
 * Payloads that were Set, of attributes that few ports get: P_Keys, SL-to-VL, arbitration and
 * multicast tables. A hash table by (port, attribute, modifier) with open addressing and linear
 * probing. Entries are never removed. An entry has the boot count of its node, so that entries
 * from before a reboot are ignored until they are overwritten.
 */

static struct sim_stored *stored_slot(const struct sim *s, uint32_t port, uint16_t attr,
                                      uint32_t mod)
{
	uint64_t h = ((uint64_t)port << 32 | mod) * 0x9E3779B97F4A7C15u;
	h = (h ^ attr) * 0xD6E8FEB86659FD93u;
	size_t i = (size_t)(h >> 32) & (s->cap_stored - 1);
	for (;; i = (i + 1) & (s->cap_stored - 1)) {
		struct sim_stored *e = &s->stored[i];
		if (e->life == 0 ||
		    (e->port == port && e->attr == attr && e->mod == mod)) {
			return e;
		}
	}
}

uint8_t *sim_stored_find(struct sim *s, uint32_t port, uint16_t attr, uint32_t mod)
{
	if (s->cap_stored == 0) {
		return NULL;
	}
	struct sim_stored *e = stored_slot(s, port, attr, mod);
	return e->life == s->nodes[s->g->ports[port].node].life ? e->data : NULL;
}

uint32_t sim_stored_stamp(const struct sim *s, uint32_t port, uint16_t attr, uint32_t mod)
{
	const struct sim_stored *e;

	if (s->cap_stored == 0) {
		return 0;
	}
	e = stored_slot(s, port, attr, mod);
	return e->life == s->nodes[s->g->ports[port].node].life ? e->stamp : 0;
}

static int stored_grow(struct sim *s)
{
	size_t old_cap = s->cap_stored;
	struct sim_stored *old = s->stored;
	size_t cap = old_cap > 0 ? 2 * old_cap : 256;

	s->stored = calloc(cap, sizeof(*s->stored));
	if (s->stored == NULL) {
		s->stored = old;
		return -ENOMEM;
	}
	s->cap_stored = cap;
	for (size_t i = 0; i < old_cap; i++) {
		if (old[i].life != 0) {
			*stored_slot(s, old[i].port, old[i].attr, old[i].mod) = old[i];
		}
	}
	free(old);
	return E_OK;
}

int sim_stored_put(struct sim *s, uint32_t port, uint16_t attr, uint32_t mod,
                   const uint8_t *data)
{
	if (4 * (s->n_stored + 1) > 3 * s->cap_stored && stored_grow(s) != E_OK) {
		return -ENOMEM;
	}
	struct sim_stored *e = stored_slot(s, port, attr, mod);
	s->n_stored += e->life == 0;
	e->port = port;
	e->attr = attr;
	e->mod = mod;
	e->stamp = ++s->stamp;
	e->life = s->nodes[s->g->ports[port].node].life;
	memcpy(e->data, data, SMP_DATA_BYTES);
	return E_OK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/digest.h"
#include "conf/base/err.h"
#include "conf/base/hash.h"
#include "conf/base/vector.h"

/*
 * Payloads that were Set, of attributes that few ports get: P_Keys, SL-to-VL, arbitration and
 * multicast tables. Rows are never removed. A row has the boot count of its node, so that rows
 * from before a reboot are ignored until they are overwritten.
 */

static uint64_t key_of(uint32_t port, uint16_t attr, uint32_t mod)
{
	return digest_add(attr, (uint64_t)port << 32 | mod);
}

static struct sim_stored *find(const struct sim *s, uint32_t port, uint16_t attr,
                               uint32_t mod)
{
	uint32_t at = HASH_FIND(&s->stored_at, key_of(port, attr, mod), i,
	                        s->stored[i].port == port && s->stored[i].attr == attr &&
	                                s->stored[i].mod == mod);

	return at != HASH_NONE ? &s->stored[at] : NULL;
}

/* NULL: nothing since the node's last boot. */
static struct sim_stored *find_present(const struct sim *s, uint32_t port, uint16_t attr,
                                       uint32_t mod)
{
	struct sim_stored *e = find(s, port, attr, mod);

	return e != NULL && e->life == s->nodes[s->g->ports[port].node].life ? e : NULL;
}

uint8_t *sim_stored_find(struct sim *s, uint32_t port, uint16_t attr, uint32_t mod)
{
	struct sim_stored *e = find_present(s, port, attr, mod);

	return e != NULL ? e->data : NULL;
}

uint32_t sim_stored_stamp(const struct sim *s, uint32_t port, uint16_t attr, uint32_t mod)
{
	const struct sim_stored *e = find_present(s, port, attr, mod);

	return e != NULL ? e->stamp : 0;
}

int sim_stored_put(struct sim *s, uint32_t port, uint16_t attr, uint32_t mod,
                   const uint8_t *data)
{
	struct sim_stored *e = find(s, port, attr, mod);

	if (e == NULL) {
		if (VECTOR_RESERVE(s->stored, s->cap_stored, s->n_stored + 1U) != E_OK ||
		    hash_add(&s->stored_at, key_of(port, attr, mod), s->n_stored) !=
		            E_OK) {
			return -ENOMEM;
		}
		e = &s->stored[s->n_stored++];
	}
	e->port = port;
	e->attr = attr;
	e->mod = mod;
	e->stamp = ++s->stamp;
	e->life = s->nodes[s->g->ports[port].node].life;
	memcpy(e->data, data, SMP_DATA_BYTES);
	return E_OK;
}

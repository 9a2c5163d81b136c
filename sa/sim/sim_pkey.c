/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * P_Key tables of the ports: as after power-on until something was Set. The management agent
 * shows them, and what moves through the fabric is checked against them.
 */
#include "sa/sim/sim_state.h"

#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/p_key.h"

/* Is the P_Key table of a port that of its Omni-Path device? Of a host that nobody manages, it is. */
static bool is_opa_table(const struct sim *s, uint32_t port)
{
	const uint32_t node = s->g->ports[port].node;

	return s->opa != NULL && !s->opa[node].infiniband &&
	       (!sim_is_switch(s, node) || sim_is_opa_managed(s, node));
}

unsigned sim_partition_cap(const struct node *n)
{
	return n->partition_cap != 0 ? n->partition_cap : PARTITION_CAP;
}

bool sim_is_omni_path(const struct sim *s, uint32_t node)
{
	return s->o.omni_path && s->g->nodes[node].type == NODE_CA;
}

void sim_pkey_default(const struct sim *s, uint32_t node, uint8_t *block)
{
	field_set(block, 0, 16, 0xFFFF);
	if (sim_is_omni_path(s, node) && sim_partition_cap(&s->g->nodes[node]) > 1) {
		field_set(block, 16, 16, P_KEY_BASE);
	}
}

static const uint8_t *pkey_block(struct sim *s, uint32_t port, uint32_t block,
                                 uint8_t *buf)
{
	const struct port *p = &s->g->ports[port];
	bool on_switch = sim_is_switch(s, p->node);
	uint32_t mod = block | (on_switch ? (uint32_t)p->num << 16 : 0);

	if (is_opa_table(s, port)) { /* of one block */
		return sim_opa_port(s, port)->p_keys;
	}
	const uint8_t *own = sim_stored_find(s, port, UMAD_SM_ATTR_PKEY_TABLE, mod);

	if (own == NULL) {
		memset(buf, 0, SMP_DATA_BYTES);
		if (block == 0) {
			sim_pkey_default(s, p->node, buf);
		}
		own = buf;
	}
	return own;
}

unsigned sim_pkey_cap(const struct sim *s, uint32_t port)
{
	return is_opa_table(s, port)
	               ? opa_p_key_cap(sim_opa_port(s, port))
	               : sim_partition_cap(&s->g->nodes[s->g->ports[port].node]);
}

uint16_t sim_pkey_at(struct sim *s, uint32_t port, unsigned index)
{
	uint8_t buf[SMP_DATA_BYTES];
	if (index >= sim_pkey_cap(s, port)) {
		return 0;
	}
	const uint8_t *b = pkey_block(s, port, index / PKEY_BLOCK, buf);
	return (uint16_t)field_get(b, 16 * (index % PKEY_BLOCK), 16);
}

int sim_pkey_find(struct sim *s, uint32_t port, uint16_t pkey)
{
	unsigned cap = sim_pkey_cap(s, port);
	if ((pkey & P_KEY_BASE) == 0) {
		return -1;
	}
	for (unsigned first = 0; first < cap; first += PKEY_BLOCK) {
		uint8_t buf[SMP_DATA_BYTES];
		const uint8_t *b = pkey_block(s, port, first / PKEY_BLOCK, buf);
		for (unsigned i = 0; i < PKEY_BLOCK && first + i < cap; i++) {
			uint16_t own = (uint16_t)field_get(b, 16 * i, 16);
			if ((own & P_KEY_BASE) == (pkey & P_KEY_BASE) &&
			    (own | pkey) & P_KEY_FULL) {
				return (int)(first + i);
			}
		}
	}
	return -1;
}

uint16_t sim_pkey_index(struct sim *s, uint32_t port, uint16_t pkey)
{
	int match;

	for (unsigned i = 0; i < sim_pkey_cap(s, port); i++) {
		if (sim_pkey_at(s, port, i) == pkey) {
			return (uint16_t)i;
		}
	}
	match = sim_pkey_find(s, port, pkey | P_KEY_FULL);
	return match >= 0 ? (uint16_t)match : 0;
}

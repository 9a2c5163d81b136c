/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Source: IBA vol. 1, 14.2.5.9 (SLtoVLMappingTable), 14.2.5.10 (VLArbitrationTable).
 */
#include "sa/sm/qos_slot.h"

#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/policy/qos.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"
#include "sa/mad/smp.h"
#include "sa/sm/discover.h"

enum { PAIRS_OF_A_BLOCK = 32, CAP_SL_MAPPING = 1 << 6 };

static bool is_arb(const struct qos_slot *t)
{
	return t->step < VL_ARB_BLOCKS;
}

static bool on_switch(const struct qos_slot *t)
{
	return t->node->type == NODE_SWITCH;
}

const struct disc_port *qos_slot_agent(const struct disc_node *n, unsigned out)
{
	return &n->ports[n->type == NODE_SWITCH ? 0 : out];
}

bool qos_maps_sls(const struct disc_node *n, unsigned out)
{
	const struct disc_port *p = qos_slot_agent(n, out);

	return field_get(p->info, PI_CAPABILITY_MASK) & CAP_SL_MAPPING;
}

unsigned qos_arb_cap(const struct disc_port *p, unsigned block)
{
	unsigned cap = (unsigned)(block < 2 ? field_get(p->info, PI_VL_ARB_LOW_CAP)
	                                    : field_get(p->info, PI_VL_ARB_HIGH_CAP));

	return cap < QOS_WEIGHTS_MAX ? cap : QOS_WEIGHTS_MAX;
}

static size_t arb_bytes(const struct disc_port *p, unsigned block)
{
	unsigned first = block % 2 * PAIRS_OF_A_BLOCK, cap = qos_arb_cap(p, block);

	if (cap <= first || field_get(p->info, PI_VL_CAP) <= 1) {
		return 0;
	}
	cap -= first;
	return 2 * (size_t)(cap < PAIRS_OF_A_BLOCK ? cap : PAIRS_OF_A_BLOCK);
}

size_t qos_slot_bytes(const struct qos_slot *t)
{
	if (is_arb(t)) {
		return arb_bytes(&t->node->ports[t->out], t->step);
	}
	return qos_maps_sls(t->node, t->out) ? SL2VL_BYTES : 0;
}

static uint8_t *map_of(const struct qos_slot *t)
{
	return qos_copy_sl2vl(t->copy, t->out, t->step - (unsigned)VL_ARB_BLOCKS);
}

bool qos_slot_knows(const struct qos_slot *t, const uint8_t *want)
{
	const struct arb_copy *arb = &t->copy->arb[t->out];
	const uint8_t *have = is_arb(t) ? arb->block[t->step] : map_of(t);
	bool known = is_arb(t) ? arb->known[t->step] : qos_copy_knows(have);

	if (want == NULL || (is_arb(t) && !known)) {
		return known;
	}
	return memcmp(have, want, qos_slot_bytes(t)) == 0;
}

void qos_slot_keep(const struct qos_slot *t, const uint8_t *data)
{
	struct arb_copy *arb = &t->copy->arb[t->out];

	if (!is_arb(t) && data != NULL) {
		memcpy(map_of(t), data, SL2VL_BYTES);
	} else if (!is_arb(t)) {
		memset(map_of(t), 0xff, SL2VL_BYTES);
	} else {
		arb->known[t->step] = data != NULL;
	}
	if (is_arb(t) && data != NULL) { /* the rest means nothing */
		memset(arb->block[t->step], 0, VL_ARB_BYTES);
		memcpy(arb->block[t->step], data, qos_slot_bytes(t));
	}
}

void qos_slot_order(const struct qos_slot *t, struct smp_request *ret)
{
	uint32_t out = on_switch(t) ? t->out : 0;

	ret->dest = qos_slot_agent(t->node, t->out)->dest;
	ret->attr = is_arb(t) ? UMAD_SM_ATTR_VL_ARB_TABLE : UMAD_SM_ATTR_SLVL_TABLE;
	ret->mod = is_arb(t) ? (t->step + 1u) << 16 | out
	                     : (t->step - (uint32_t)VL_ARB_BLOCKS) << 8 | out;
}

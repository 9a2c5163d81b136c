/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * VFInfoRecord: the enabled virtual fabrics of opafm.xml, from the policy of the published
 * epoch. A requester sees those whose P_Key it has; a full member of the default partition sees
 * all. ServiceID and MGID are only for requests: they select the virtual fabrics that contain
 * them, and are repeated in the response. Layout and component bits are those of opa-fm and
 * opasaquery.
 *
 * If the configuration has no virtual fabric there is still one, as in opa-fm: that of the
 * default partition, with all ports and all applications. Reports of clients need it.
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "db/snapshot/policy.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"

enum { VF_BYTES = 128, NAME_AT = 8, MGID_AT = 80 };
enum { VF_INDEX, VF_P_KEY, VF_NAME = 3, VF_SERVICE_ID, VF_MGID, VF_SELECT_FLAGS, VF_SL };
enum { SELECT_P_KEY = 1, SELECT_SL = 2 };
enum { OPTION_SECURITY = 1, OPTION_QOS = 2, OPTION_FLOW_CONTROL_DISABLE = 4 };
enum { HOQ_LIFE_COMMON = 0xff };
#define FULL_DEFAULT 0xffff

/* clang-format off */
static const struct sa_field vf_fields[] = {
	{ "VFIndex",       0,  16, SA_EQ },
	{ "P_Key",        16,  16, SA_INPUT },
	{ "Reserved",     32,  32, SA_RESERVED },
	{ "VFName",       64, 512, SA_EQ | SA_TEXT },
	{ "ServiceID",   576,  64, SA_INPUT },
	{ "MGID",        640, 128, SA_INPUT },
	{ "SelectFlags", 768,   2, SA_RESERVED },
	{ "SL",          771,   5, SA_EQ },
};
#define VFI_MTU_SPECIFIED   776, 1
#define VFI_MTU             778, 6
#define VFI_RATE_SPECIFIED  784, 1
#define VFI_RATE            786, 6
#define VFI_LIFE_SPECIFIED  792, 1
#define VFI_LIFE_INCREASE   797, 3
#define VFI_OPTIONS         800, 8
#define VFI_BANDWIDTH       808, 8
#define VFI_PRIORITY        823, 1
#define VFI_ROUTING_SLS     824, 8
#define VFI_PREEMPT_RANK    833, 7
#define VFI_HOQ_LIFE        843, 5
#define VFI_MULTICAST_SL_SPECIFIED 856, 1
#define VFI_MULTICAST_SL    859, 5
/* clang-format on */

/* Whether a list has a number of 128 bits. */
static bool has_id(const struct policy *p, const struct policy_list *l, uint64_t high,
                   uint64_t low)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct policy_id *id = &p->ids[l->first + i];
		bool from = high > id->a_high || (high == id->a_high && low >= id->a_low);
		bool to = high < id->b_high || (high == id->b_high && low <= id->b_low);
		bool same = (high & id->b_high) == id->a_high &&
		            (low & id->b_low) == id->a_low;
		if (id->masked ? same : from && to) {
			return true;
		}
	}
	return false;
}

/* Whether a fabric has a ServiceID or MGID. If no fabric has it, those for unmatched ones do. */
static bool contains(const struct policy *p, const struct policy_fabric *f, bool mgid,
                     uint64_t high, uint64_t low)
{
	bool any = false;

	for (uint32_t i = 0; i < p->head.n_fabrics && !any; i++) {
		const struct policy_fabric *other = &p->fabrics[i];
		any = has_id(p, mgid ? &other->mgids : &other->services, high, low);
	}
	return any ? has_id(p, mgid ? &f->mgids : &f->services, high, low)
	           : (f->flags &
	              (mgid ? FABRIC_UNMATCHED_MGID : FABRIC_UNMATCHED_SERVICE)) != 0;
}

static bool is_requested(const struct sa_query *q, const struct policy *p,
                         const struct policy_fabric *f)
{
	const uint8_t *mgid = q->record + MGID_AT;

	if (sa_asked(q, VF_P_KEY) &&
	    ((sa_component(q, VF_P_KEY) ^ f->p_key) & P_KEY_BASE) != 0) {
		return false;
	}
	if (sa_asked(q, VF_SERVICE_ID) &&
	    !contains(p, f, false, 0, sa_component(q, VF_SERVICE_ID))) {
		return false;
	}
	return !sa_asked(q, VF_MGID) ||
	       contains(p, f, true, field_get(mgid, 0, 64), field_get(mgid, 64, 64));
}

static bool sees(struct snap_reader *r, const struct sa_query *q,
                 const struct policy_fabric *f)
{
	const struct snap_end *me = q->requester;
	uint16_t found;

	return me == NULL || snap_common_p_key(r, me, me, f->p_key, &found) == E_OK ||
	       (snap_common_p_key(r, me, me, FULL_DEFAULT, &found) == E_OK &&
	        found == FULL_DEFAULT);
}

/* HOQLife of the ports between switches, which all have the same; 0: not known. */
static uint8_t common_hoq_life(struct snap_reader *r)
{
	struct snap_attr_row row = { .guid = 0 };
	struct snap_port port;
	struct snap_node peer;
	uint32_t next = 1;

	while (snap_attr_from(r, UMAD_SM_ATTR_PORT_INFO, row.guid, next, &row) == E_OK) {
		next = row.block + 1;
		if (row.block > 0 && row.len >= 64 &&
		    snap_port(r, row.guid, (uint8_t)row.block, &port) == E_OK &&
		    port.lid == 0 && snap_node(r, port.peer_guid, &peer) == E_OK &&
		    peer.type == NODE_SWITCH) {
			return (uint8_t)field_get(row.data, PI_HOQ_LIFE);
		}
	}
	return 0;
}

static void put_values(const struct policy_fabric *f, uint8_t hoq_life, uint8_t *record)
{
	bool qos = (f->flags & FABRIC_QOS) != 0;
	bool secure = (f->flags & FABRIC_SECURITY) != 0;
	bool no_flow_control = (f->flags & FABRIC_FLOW_CONTROL_DISABLE) != 0;

	sa_put(&opa_vf_info, record, VF_SELECT_FLAGS,
	       (secure ? SELECT_P_KEY : 0) | (qos ? SELECT_SL : 0));
	sa_put(&opa_vf_info, record, VF_SL, f->sl);
	field_set(record, VFI_MTU_SPECIFIED, f->mtu != 0);
	field_set(record, VFI_MTU, f->mtu);
	field_set(record, VFI_RATE_SPECIFIED, f->rate != 0);
	field_set(record, VFI_RATE, f->rate);
	field_set(record, VFI_LIFE_SPECIFIED, 1);
	field_set(record, VFI_LIFE_INCREASE, f->life_time_mult);
	field_set(record, VFI_OPTIONS,
	          (secure ? OPTION_SECURITY : 0) | (qos ? OPTION_QOS : 0) |
	                  (no_flow_control ? OPTION_FLOW_CONTROL_DISABLE : 0));
	field_set(record, VFI_BANDWIDTH, f->bandwidth);
	field_set(record, VFI_PRIORITY, (f->flags & FABRIC_HIGH_PRIORITY) != 0);
	field_set(record, VFI_ROUTING_SLS, 1);
	field_set(record, VFI_PREEMPT_RANK, f->preempt_rank);
	field_set(record, VFI_HOQ_LIFE,
	          f->hoq_life == HOQ_LIFE_COMMON ? hoq_life : f->hoq_life);
	field_set(record, VFI_MULTICAST_SL_SPECIFIED, f->multicast_sl != f->sl);
	field_set(record, VFI_MULTICAST_SL, f->multicast_sl);
}

static void offer(const struct sa_query *q, uint32_t index, const struct policy_fabric *f,
                  uint8_t hoq_life, struct sa_out *out)
{
	uint8_t record[VF_BYTES] = { 0 };

	sa_put(q->attr, record, VF_INDEX, index);
	/* without Security all members are full ones */
	sa_put(q->attr, record, VF_P_KEY,
	       f->p_key | (f->flags & FABRIC_SECURITY ? 0 : P_KEY_FULL));
	memcpy(record + NAME_AT, f->name, sizeof(f->name));
	if (sa_asked(q, VF_SERVICE_ID)) {
		sa_put(q->attr, record, VF_SERVICE_ID, sa_component(q, VF_SERVICE_ID));
	}
	if (sa_asked(q, VF_MGID)) {
		memcpy(record + MGID_AT, q->record + MGID_AT, 16);
	}
	put_values(f, hoq_life, record);
	sa_offer(out, record);
}

static const struct policy_fabric default_fabric = {
	.name = "Default",
	.p_key = FULL_DEFAULT & P_KEY_BASE,
	.flags = FABRIC_UNMATCHED_SERVICE | FABRIC_UNMATCHED_MGID,
	.hoq_life = HOQ_LIFE_COMMON,
};
static const struct policy default_policy = { .head = { .n_fabrics = 1 },
	                                      .fabrics = &default_fabric };

static int vf_walk(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	const struct policy *p;
	int ret = snap_policy(r, &p);

	if (ret != E_OK) {
		return ret;
	}
	if (p == NULL || p->head.n_fabrics == 0) {
		p = &default_policy;
	}
	uint8_t hoq_life = common_hoq_life(r);
	for (uint32_t i = 0; i < p->head.n_fabrics && !sa_full(out); i++) {
		const struct policy_fabric *f = &p->fabrics[i];
		if (is_requested(q, p, f) && sees(r, q, f)) {
			offer(q, i, f, hoq_life, out);
		}
	}
	return E_OK;
}

const struct sa_attr opa_vf_info = {
	.version = SA_OPA_VERSION,
	.id = SA_OPA_ATTR_VF_INFO,
	.name = "VFInfoRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = VF_BYTES,
	SA_FIELDS(vf_fields),
	.walk = vf_walk,
};

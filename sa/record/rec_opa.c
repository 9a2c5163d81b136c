/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Records in Omni-Path's layout, class version 0x80. Those of Omni-Path's devices are what these showed or
 * were told. Those of InfiniBand's devices have the values of the InfiniBand records, with
 * LIDs of 32 bits and Omni-Path's order of fields; fields that such a device does not have are 0.
 *
 *   ClassPortInfo      bit 26 of CapabilityMask2 means that PathRecords in this layout are
 *                      also supported (rec_path.c)
 *   NodeRecord
 *   SwitchInfoRecord   as last read or programmed
 *   SMInfoRecord       as last read; never with an SM_Key
 *   P_KeyTableRecord   to trusted requesters all; to others, whose tools cannot send an SM_Key,
 *                      the tables of their own port, and of others the P_Keys of their own
 *                      partitions
 *
 * Layouts are those of opa-fm's responses, of opasaquery, and of opa_class_port_info in Linux.
 * Fields after the last component of a table are not compared.
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/mad/opa_fields.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "sa/record/opa_native.h"
#include "sa/record/rec_int.h"

enum {
	CLASS_BYTES = 80,
	NODE_RECORD_BYTES = 116,
	SWITCH_RECORD_BYTES = 92,
	SM_RECORD_BYTES = 34,
	TABLE_BYTES = 64
};
enum {
	RESP_TIME = 16, /* as for InfiniBand */
	/* CapabilityMask2 counts, multicast, PortInfo is compared by its capability mask */
	CAP_MASK = 0x0004 | 0x0200 | 0x2000
};

/* MulticastFDBTop, full PortInfo, extended speeds, device groups, costs of switches, PathRecord in this layout. */
#define CAP_MASK2                                                                        \
	(UINT32_C(0x8) | UINT32_C(0x40) | UINT32_C(0x80) | UINT32_C(0x1000000) |         \
	 UINT32_C(0x2000000) | UINT32_C(0x4000000))
#define CAP_MASK2_QOS UINT32_C(0x2)

/* clang-format off */
enum { CPI_BASE_VERSION, CPI_CLASS_VERSION, CPI_CAP_MASK, CPI_CAP_MASK2, CPI_RESP_TIME,
       CPI_REDIRECT_QP = 9, CPI_REDIRECT_Q_KEY };
static const struct sa_field class_fields[] = {
	{ "BaseVersion",       0,   8, SA_INPUT },
	{ "ClassVersion",      8,   8, SA_INPUT },
	{ "CapabilityMask",   16,  16, SA_INPUT },
	{ "CapabilityMask2",  32,  27, SA_INPUT },
	{ "RespTimeValue",    59,   5, SA_INPUT },
	{ "RedirectGID",      64, 128, SA_INPUT },
	{ "RedirectTC",      192,   8, SA_INPUT },
	{ "RedirectLID",     224,  32, SA_INPUT },
	{ "RedirectSL",      256,   5, SA_INPUT },
	{ "RedirectQP",      264,  24, SA_INPUT },
	{ "RedirectQ_Key",   288,  32, SA_INPUT },
	{ "TrapGID",         320, 128, SA_INPUT },
	{ "TrapLID",         480,  32, SA_INPUT },
	{ "TrapQP",          520,  24, SA_INPUT },
	{ "TrapQ_Key",       544,  32, SA_INPUT },
};

enum { NR_LID, NR_BASE_VERSION = 2, NR_CLASS_VERSION, NR_NODE_TYPE, NR_NUM_PORTS,
       NR_SYSTEM_IMAGE_GUID = 7, NR_NODE_GUID, NR_PORT_GUID, NR_PARTITION_CAP, NR_DEVICE_ID,
       NR_REVISION, NR_LOCAL_PORT_NUM, NR_VENDOR_ID, NR_NODE_DESCRIPTION };
static const struct sa_field node_fields[] = {
	{ "LID",                   0,  32, SA_INPUT },
	{ "Reserved",             32,  32, SA_RESERVED },
	{ "BaseVersion",     RID + 0,   8, SA_EQ },
	{ "ClassVersion",    RID + 8,   8, SA_EQ },
	{ "NodeType",       RID + 16,   8, SA_EQ },
	{ "NumPorts",       RID + 24,   8, SA_EQ },
	{ "Reserved",       RID + 32,  32, SA_RESERVED },
	{ "SystemImageGUID", RID + 64, 64, SA_EQ },
	{ "NodeGUID",      RID + 128,  64, SA_EQ },
	{ "PortGUID",      RID + 192,  64, SA_EQ },
	{ "PartitionCap",  RID + 256,  16, SA_EQ },
	{ "DeviceID",      RID + 272,  16, SA_EQ },
	{ "Revision",      RID + 288,  32, SA_EQ },
	{ "LocalPortNum",  RID + 320,   8, SA_EQ },
	{ "VendorID",      RID + 328,  24, SA_EQ },
	{ "NodeDescription", RID + 352, 512, SA_EQ | SA_TEXT },
};

enum { SWR_LINEAR_FDB_CAP = 2, SWR_MULTICAST_FDB_CAP = 4, SWR_LINEAR_FDB_TOP };
static const struct sa_field switch_fields[] = {
	{ "LID",                   0, 32, SA_INPUT },
	{ "Reserved",             32, 32, SA_RESERVED },
	{ "LinearFDBCap",    RID + 0, 32, SA_EQ },
	{ "PortGroupFDBCap", RID + 32, 32, SA_EQ },
	{ "MulticastFDBCap", RID + 64, 32, SA_EQ },
	{ "LinearFDBTop",    RID + 96, 32, SA_EQ },
};
/* fields after the last component */
#define SWR_MULTICAST_FDB_TOP   RID + 128, 32
#define SWR_LIFE_TIME_VALUE     RID + 536, 5
#define SWR_PORT_STATE_CHANGE   RID + 541, 1
#define SWR_PARTITION_ENFORCEMENT_CAP RID + 560, 16
#define SWR_ROUTING_MODE_SUPPORTED RID + 592, 8
#define SWR_ROUTING_MODE_ENABLED RID + 600, 8
#define SWR_ENHANCED_PORT_0     RID + 612, 1
enum { ROUTING_LINEAR = 1 };

enum { SMIR_GUID = 2, SMIR_ACT_COUNT = 4, SMIR_PRIORITY = 6, SMIR_INITIAL_PRIORITY = 8, SMIR_STATE };
static const struct sa_field sm_fields[] = {
	{ "LID",                 0, 32, SA_INPUT },
	{ "Reserved",           32, 32, SA_RESERVED },
	{ "GUID",          RID + 0, 64, SA_EQ },
	{ "SM_Key",       RID + 64, 64, SA_EQ },
	{ "ActCount",    RID + 128, 32, SA_EQ },
	{ "ElapsedTime", RID + 160, 32, SA_EQ },
	{ "Priority",    RID + 192,  4, SA_EQ },
	{ "ElevatedPriority", RID + 196, 4, SA_EQ },
	{ "InitialPriority", RID + 200, 4, SA_EQ },
	{ "SMState",     RID + 204,  4, SA_EQ },
};

enum { PKTR_BLOCK = 1, PKTR_PORT };
static const struct sa_field p_key_fields[] = {
	{ "LID",           0,  32, SA_INPUT },
	{ "BlockNum",     32,  16, SA_EQ },
	{ "PortNum",      48,   8, SA_EQ },
	{ "Reserved",     56,   8, SA_RESERVED },
	{ "P_KeyTable",  RID, 512, SA_EQ | SA_LIST16 },
};
/* clang-format on */

static int class_walk(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	uint8_t record[CLASS_BYTES] = { 0 };

	sa_put(q->attr, record, CPI_BASE_VERSION, SA_OPA_VERSION);
	sa_put(q->attr, record, CPI_CLASS_VERSION, SA_OPA_VERSION);
	sa_put(q->attr, record, CPI_CAP_MASK, CAP_MASK);
	sa_put(q->attr, record, CPI_CAP_MASK2,
	       CAP_MASK2 | (snap_meta(r)->qos ? CAP_MASK2_QOS : 0));
	sa_put(q->attr, record, CPI_RESP_TIME, RESP_TIME);
	sa_put(q->attr, record, CPI_REDIRECT_QP, 1);
	sa_put(q->attr, record, CPI_REDIRECT_Q_KEY, UMAD_QKEY);
	sa_offer(out, record);
	return E_OK;
}

const struct sa_attr opa_class_port_info = {
	.version = SA_OPA_VERSION,
	.id = UMAD_ATTR_CLASS_PORT_INFO,
	.name = "ClassPortInfo",
	.methods = SA_GET,
	.size = CLASS_BYTES,
	SA_FIELDS(class_fields),
	.walk = class_walk,
};

static int offer_node(struct snap_reader *r, const struct sa_query *q,
                      const struct snap_end *end, struct sa_out *out)
{
	uint8_t record[NODE_RECORD_BYTES] = { 0 };
	const struct sa_attr *a = q->attr;
	struct snap_node node;

	int ret = snap_node(r, end->node_guid, &node);
	if (ret != E_OK) {
		return ret;
	}
	sa_put(a, record, NR_LID, end->base_lid);
	/* the node's versions, or InfiniBand's if its NodeInfo is not stored */
	const uint8_t *info;
	uint16_t len;
	bool known = snap_attr(r, UMAD_SM_ATTR_NODE_INFO, end->node_guid, 0, &info,
	                       &len) == E_OK &&
	             len >= 2;
	sa_put(a, record, NR_BASE_VERSION,
	       known ? field_get(info, NI_BASE_VERSION) : UMAD_BASE_VERSION);
	sa_put(a, record, NR_CLASS_VERSION,
	       known ? field_get(info, NI_CLASS_VERSION) : 1);
	sa_put(a, record, NR_NODE_TYPE, node.type);
	sa_put(a, record, NR_NUM_PORTS, node.n_ports);
	sa_put(a, record, NR_SYSTEM_IMAGE_GUID, node.system_image_guid);
	sa_put(a, record, NR_NODE_GUID, node.guid);
	sa_put(a, record, NR_PORT_GUID, end->port_guid);
	sa_put(a, record, NR_PARTITION_CAP, node.partition_cap);
	sa_put(a, record, NR_DEVICE_ID, node.device_id);
	sa_put(a, record, NR_REVISION, node.revision);
	sa_put(a, record, NR_LOCAL_PORT_NUM, end->port);
	sa_put(a, record, NR_VENDOR_ID, node.vendor_id);
	memcpy(record + a->fields[NR_NODE_DESCRIPTION].bit / 8, node.description,
	       strnlen(node.description, a->fields[NR_NODE_DESCRIPTION].width / 8));
	sa_offer(out, record);
	return E_OK;
}

const struct sa_attr opa_node = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_NODE_REC,
	.name = "NodeRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = NODE_RECORD_BYTES,
	SA_FIELDS(node_fields),
	.offer_end = offer_node,
};

static int offer_switch(struct snap_reader *r, const struct sa_query *q,
                        const struct snap_end *end, struct sa_out *out)
{
	uint8_t record[SWITCH_RECORD_BYTES] = { 0 };
	const struct sa_attr *a = q->attr;
	const uint8_t *si = opa_native_block(r, UMAD_SM_ATTR_SWITCH_INFO, end->node_guid,
	                                     0, OPA_BYTES_SWITCH_INFO);
	uint16_t len;

	if (si != NULL) {
		sa_put(a, record, 0, end->base_lid);
		memcpy(record + RID_BYTES, si, OPA_BYTES_SWITCH_INFO);
		sa_offer(out, record);
		return E_OK;
	}
	int ret = snap_attr(r, UMAD_SM_ATTR_SWITCH_INFO, end->node_guid, 0, &si, &len);
	if (ret != E_OK || len * 8u < 160) {
		return ret == E_NOTFOUND ? E_OK : ret;
	}
	sa_put(a, record, 0, end->base_lid);
	sa_put(a, record, SWR_LINEAR_FDB_CAP, field_get(si, SI_LINEAR_FDB_CAP));
	sa_put(a, record, SWR_MULTICAST_FDB_CAP, field_get(si, SI_MULTICAST_FDB_CAP));
	sa_put(a, record, SWR_LINEAR_FDB_TOP, field_get(si, SI_LINEAR_FDB_TOP));
	field_set(record, SWR_MULTICAST_FDB_TOP, field_get(si, SI_MULTICAST_FDB_TOP));
	field_set(record, SWR_LIFE_TIME_VALUE, field_get(si, SI_LIFE_TIME_VALUE));
	field_set(record, SWR_PORT_STATE_CHANGE, field_get(si, SI_PORT_STATE_CHANGE));
	field_set(record, SWR_PARTITION_ENFORCEMENT_CAP,
	          field_get(si, SI_PARTITION_ENFORCEMENT_CAP));
	field_set(record, SWR_ROUTING_MODE_SUPPORTED, ROUTING_LINEAR);
	field_set(record, SWR_ROUTING_MODE_ENABLED, ROUTING_LINEAR);
	field_set(record, SWR_ENHANCED_PORT_0, field_get(si, SI_ENHANCED_PORT_0));
	sa_offer(out, record);
	return E_OK;
}

const struct sa_attr opa_switch_info = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_SWITCH_INFO_REC,
	.name = "SwitchInfoRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = SWITCH_RECORD_BYTES,
	SA_FIELDS(switch_fields),
	.offer_end = offer_switch,
};

static int offer_sm(struct snap_reader *r, const struct sa_query *q,
                    const struct snap_end *end, struct sa_out *out)
{
	uint8_t record[SM_RECORD_BYTES] = { 0 };
	struct snap_attr_row row;
	struct sa_row_walk w;

	sa_rows_begin(q, UMAD_SM_ATTR_SM_INFO, 0, SA_NONE, end, &w);
	int ret = sa_rows_next(r, &w, &row);
	if (ret != E_OK || row.len * 8u < 168) {
		return ret == E_NOTFOUND ? E_OK : ret;
	}
	sa_put(q->attr, record, 0, end->base_lid);
	sa_put(q->attr, record, SMIR_GUID, field_get(row.data, SMI_GUID));
	sa_put(q->attr, record, SMIR_ACT_COUNT,
	       sa_act_count(r, q, field_get(row.data, SMI_GUID),
	                    (uint32_t)field_get(row.data, SMI_ACT_COUNT)));
	sa_put(q->attr, record, SMIR_PRIORITY, field_get(row.data, SMI_PRIORITY));
	sa_put(q->attr, record, SMIR_INITIAL_PRIORITY, field_get(row.data, SMI_PRIORITY));
	sa_put(q->attr, record, SMIR_STATE, field_get(row.data, SMI_SM_STATE));
	sa_offer(out, record);
	return E_OK;
}

const struct sa_attr opa_sm_info = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_SM_INFO_REC,
	.name = "SMInfoRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = SM_RECORD_BYTES,
	.moves = true,
	SA_FIELDS(sm_fields),
	.offer_end = offer_sm,
};

/* Whether an end port is in the partition of a P_Key, as full or limited member. */
static bool is_member(struct snap_reader *r, const struct snap_end *end, uint64_t p_key)
{
	const uint8_t *keys;
	const void *at;
	uint16_t own;
	size_t n;

	if (snap_p_keys(r, end->p_key_set, &at, &n) != E_OK) {
		return false;
	}
	keys = at;
	for (size_t i = 0; i < n; i++) {
		memcpy(&own, keys + i * sizeof(own), sizeof(own));
		if (((own ^ p_key) & P_KEY_BASE) == 0) {
			return true;
		}
	}
	return false;
}

/* Hides the P_Keys of partitions in which the requester is not. */
static bool fit_p_keys(struct snap_reader *r, const struct sa_query *q, uint8_t *record)
{
	bool any = false;

	if (q->trusted || q->requester == NULL ||
	    field_get(record, 0, 32) == q->requester->base_lid) {
		return true;
	}
	for (unsigned bit = RID; bit < RID + 8 * TABLE_BYTES; bit += 16) {
		uint64_t p_key = field_get(record, bit, 16);

		if ((p_key & P_KEY_BASE) == 0) {
			continue;
		}
		if (is_member(r, q->requester, p_key)) {
			any = true;
		} else {
			field_set(record, bit, 16, 0);
		}
	}
	return any;
}

const struct sa_attr opa_p_key_table = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_PKEY_TABLE_REC,
	.name = "P_KeyTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + TABLE_BYTES,
	SA_FIELDS(p_key_fields),
	.rows = { .attr = UMAD_SM_ATTR_PKEY_TABLE,
	          .shift = 16,
	          .port = PKTR_PORT,
	          .block = PKTR_BLOCK,
	          .at = RID_BYTES,
	          .bytes = TABLE_BYTES,
	          .fit = fit_p_keys },
};

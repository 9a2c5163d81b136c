/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Records of end ports.
 *
 *   NodeRecord (IBA vol. 1, 15.2.5.2)        one per end port
 *   PortInfoRecord (15.2.5.3)                every port of a switch, under the LID of its port
 *                                            0, and every CA or router port with a LID; as
 *                                            last read or programmed
 *   SMInfoRecord (15.2.5.10)                 this SM and the others that answered the last
 *                                            sweep, never with an SM_Key
 *   P_KeyTableRecord (15.2.5.9)              only for trusted requesters, also of external
 *                                            ports of switches
 *
 * The LID component may be any LID of the end port, and the port component of P_Key tables
 * counts for switches only. With bit 31 of the AttributeModifier the capability masks of
 * PortInfo match if all requested bits are set. Only requesters with the SM_Key see and
 * compare M_Key. Our own ActCount is that at the time of the response; the request has it,
 * because the snapshot does not.
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "sa/record/rec_int.h"

/* --- NodeRecord ------------------------------------------------------------------- */

enum {
	NODE_DESCRIPTION = RID32 + 320,
	NODE_DESCRIPTION_BYTES = 64,
	NODE_RECORD_BYTES = 108,
	SM_CLASS_VERSION = 1
};

/* clang-format off */
static const struct sa_field node_fields[] = {
	{ "LID",              0,  16, SA_INPUT },
	{ "Reserved",        16,  16, SA_RESERVED },
	{ "BaseVersion",     SA_AT(RID32, NI_BASE_VERSION), SA_EQ },
	{ "ClassVersion",    SA_AT(RID32, NI_CLASS_VERSION), SA_EQ },
	{ "NodeType",        SA_AT(RID32, NI_NODE_TYPE), SA_EQ },
	{ "NumPorts",        SA_AT(RID32, NI_NUM_PORTS), SA_EQ },
	{ "SystemImageGUID", SA_AT(RID32, NI_SYSTEM_IMAGE_GUID), SA_EQ },
	{ "NodeGUID",        SA_AT(RID32, NI_NODE_GUID), SA_EQ },
	{ "PortGUID",        SA_AT(RID32, NI_PORT_GUID), SA_EQ },
	{ "PartitionCap",    SA_AT(RID32, NI_PARTITION_CAP), SA_EQ },
	{ "DeviceID",        SA_AT(RID32, NI_DEVICE_ID), SA_EQ },
	{ "Revision",        SA_AT(RID32, NI_REVISION), SA_EQ },
	{ "LocalPortNum",    SA_AT(RID32, NI_LOCAL_PORT_NUM), SA_EQ },
	{ "VendorID",        SA_AT(RID32, NI_VENDOR_ID), SA_EQ },
	{ "NodeDescription", NODE_DESCRIPTION, 8 * NODE_DESCRIPTION_BYTES, SA_EQ | SA_TEXT },
};
/* clang-format on */

static int offer_node(struct snap_reader *r, const struct sa_query *q,
                      const struct snap_end *end, struct sa_out *out)
{
	uint8_t record[NODE_RECORD_BYTES] = { 0 }, *info = record + RID32_BYTES;
	struct snap_node node;

	int ret = snap_node(r, end->node_guid, &node);
	if (ret != E_OK) {
		return ret;
	}
	if (end->is_vport) {
		struct snap_vport v;

		ret = snap_vport_by_guid(r, end->port_guid, &v);
		if (ret != E_OK) {
			return ret == E_NOTFOUND ? E_OK : ret;
		}
		node.guid = v.node_guid;
		node.n_ports = 1;
		memcpy(node.description, v.description, sizeof(node.description));
	}
	sa_put(q->attr, record, SA_LID, end->base_lid);
	field_set(info, NI_BASE_VERSION, UMAD_BASE_VERSION);
	field_set(info, NI_CLASS_VERSION, SM_CLASS_VERSION);
	field_set(info, NI_NODE_TYPE, node.type);
	field_set(info, NI_NUM_PORTS, node.n_ports);
	field_set(info, NI_SYSTEM_IMAGE_GUID, node.system_image_guid);
	field_set(info, NI_NODE_GUID, node.guid);
	field_set(info, NI_PORT_GUID, end->port_guid);
	field_set(info, NI_PARTITION_CAP, node.partition_cap);
	field_set(info, NI_DEVICE_ID, node.device_id);
	field_set(info, NI_REVISION, node.revision);
	field_set(info, NI_LOCAL_PORT_NUM, end->port);
	field_set(info, NI_VENDOR_ID, node.vendor_id);
	memcpy(record + NODE_DESCRIPTION / 8, node.description,
	       strnlen(node.description, NODE_DESCRIPTION_BYTES));
	sa_offer(out, record);
	return E_OK;
}

const struct sa_attr rec_node = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_NODE_REC,
	.name = "NodeRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = NODE_RECORD_BYTES,
	.of_vports = true,
	SA_FIELDS(node_fields),
	.offer_end = offer_node,
};

/* --- PortInfoRecord --------------------------------------------------------------- */

enum { PORT_INFO_BYTES = 64, PORT_RECORD_BYTES = 68 };
enum { PIR_PORT_NUM = 1, PIR_CAPABILITY_MASK = 7, PIR_CAPABILITY_MASK2 = 53 };

#define MATCH_ALL_SET_BITS UINT32_C(0x80000000) /* of AttributeModifier */

/* clang-format off */
static const struct sa_field port_fields[] = {
	{ "LID",                            0, 16, SA_INPUT },
	{ "PortNum",                       16,  8, SA_EQ },
	{ "Options",                       24,  8, SA_RESERVED },
	{ "M_Key",                         SA_AT(RID32, PI_M_KEY), SA_EQ },
	{ "GidPrefix",                     SA_AT(RID32, PI_GID_PREFIX), SA_EQ },
	{ "BaseLID",                       SA_AT(RID32, PI_LID), SA_EQ },
	{ "MasterSMLID",                   SA_AT(RID32, PI_MASTER_SM_LID), SA_EQ },
	{ "CapabilityMask",                SA_AT(RID32, PI_CAPABILITY_MASK), SA_INPUT },
	{ "DiagCode",                      SA_AT(RID32, PI_DIAG_CODE), SA_EQ },
	{ "M_KeyLeasePeriod",              SA_AT(RID32, PI_M_KEY_LEASE_PERIOD), SA_EQ },
	{ "LocalPortNum",                  SA_AT(RID32, PI_LOCAL_PORT_NUM), SA_EQ },
	{ "LinkWidthEnabled",              SA_AT(RID32, PI_LINK_WIDTH_ENABLED), SA_EQ },
	{ "LinkWidthSupported",            SA_AT(RID32, PI_LINK_WIDTH_SUPPORTED), SA_EQ },
	{ "LinkWidthActive",               SA_AT(RID32, PI_LINK_WIDTH_ACTIVE), SA_EQ },
	{ "LinkSpeedSupported",            SA_AT(RID32, PI_LINK_SPEED_SUPPORTED), SA_EQ },
	{ "PortState",                     SA_AT(RID32, PI_PORT_STATE), SA_EQ },
	{ "PortPhysicalState",             SA_AT(RID32, PI_PORT_PHYSICAL_STATE), SA_EQ },
	{ "LinkDownDefaultState",          SA_AT(RID32, PI_LINK_DOWN_DEFAULT_STATE), SA_EQ },
	{ "M_KeyProtectBits",              SA_AT(RID32, PI_M_KEY_PROTECT_BITS), SA_EQ },
	{ "Reserved",                      RID32 + 274, 3, SA_RESERVED },
	{ "LMC",                           SA_AT(RID32, PI_LMC), SA_EQ },
	{ "LinkSpeedActive",               SA_AT(RID32, PI_LINK_SPEED_ACTIVE), SA_EQ },
	{ "LinkSpeedEnabled",              SA_AT(RID32, PI_LINK_SPEED_ENABLED), SA_EQ },
	{ "NeighborMTU",                   SA_AT(RID32, PI_NEIGHBOR_MTU), SA_EQ },
	{ "MasterSMSL",                    SA_AT(RID32, PI_MASTER_SM_SL), SA_EQ },
	{ "VLCap",                         SA_AT(RID32, PI_VL_CAP), SA_EQ },
	{ "InitType",                      SA_AT(RID32, PI_INIT_TYPE), SA_EQ },
	{ "VLHighLimit",                   SA_AT(RID32, PI_VL_HIGH_LIMIT), SA_EQ },
	{ "VLArbitrationHighCap",          SA_AT(RID32, PI_VL_ARB_HIGH_CAP), SA_EQ },
	{ "VLArbitrationLowCap",           SA_AT(RID32, PI_VL_ARB_LOW_CAP), SA_EQ },
	{ "InitTypeReply",                 SA_AT(RID32, PI_INIT_TYPE_REPLY), SA_EQ },
	{ "MTUCap",                        SA_AT(RID32, PI_MTU_CAP), SA_EQ },
	{ "VLStallCount",                  SA_AT(RID32, PI_VL_STALL_COUNT), SA_EQ },
	{ "HOQLife",                       SA_AT(RID32, PI_HOQ_LIFE), SA_EQ },
	{ "OperationalVLs",                SA_AT(RID32, PI_OPERATIONAL_VLS), SA_EQ },
	{ "PartitionEnforcementInbound",   SA_AT(RID32, PI_PARTITION_ENFORCEMENT_INBOUND), SA_EQ },
	{ "PartitionEnforcementOutbound",  SA_AT(RID32, PI_PARTITION_ENFORCEMENT_OUTBOUND), SA_EQ },
	{ "FilterRawInbound",              SA_AT(RID32, PI_FILTER_RAW_INBOUND), SA_EQ },
	{ "FilterRawOutbound",             SA_AT(RID32, PI_FILTER_RAW_OUTBOUND), SA_EQ },
	{ "M_KeyViolations",               SA_AT(RID32, PI_M_KEY_VIOLATIONS), SA_EQ },
	{ "P_KeyViolations",               SA_AT(RID32, PI_P_KEY_VIOLATIONS), SA_EQ },
	{ "Q_KeyViolations",               SA_AT(RID32, PI_Q_KEY_VIOLATIONS), SA_EQ },
	{ "GUIDCap",                       SA_AT(RID32, PI_GUID_CAP), SA_EQ },
	{ "ClientReregister",              SA_AT(RID32, PI_CLIENT_REREGISTER), SA_EQ },
	{ "MulticastPKeyTrapSuppressionEnabled", SA_AT(RID32, PI_MCAST_PKEY_TRAP_SUPPRESSION), SA_EQ },
	{ "SubnetTimeOut",                 SA_AT(RID32, PI_SUBNET_TIMEOUT), SA_EQ },
	{ "Reserved",                      RID32 + 416, 3, SA_RESERVED },
	{ "RespTimeValue",                 SA_AT(RID32, PI_RESP_TIME_VALUE), SA_EQ },
	{ "LocalPhyErrors",                SA_AT(RID32, PI_LOCAL_PHY_ERRORS), SA_EQ },
	{ "OverrunErrors",                 SA_AT(RID32, PI_OVERRUN_ERRORS), SA_EQ },
	{ "MaxCreditHint",                 SA_AT(RID32, PI_MAX_CREDIT_HINT), SA_EQ },
	{ "Reserved",                      RID32 + 448, 8, SA_RESERVED },
	{ "LinkRoundTripLatency",          SA_AT(RID32, PI_LINK_ROUND_TRIP_LATENCY), SA_EQ },
	{ "CapabilityMask2",               SA_AT(RID32, PI_CAPABILITY_MASK2), SA_INPUT },
	{ "LinkSpeedExtActive",            SA_AT(RID32, PI_LINK_SPEED_EXT_ACTIVE), SA_EQ },
	{ "LinkSpeedExtSupported",         SA_AT(RID32, PI_LINK_SPEED_EXT_SUPPORTED), SA_EQ },
	{ "Reserved",                      RID32 + 504, 3, SA_RESERVED },
	{ "LinkSpeedExtEnabled",           SA_AT(RID32, PI_LINK_SPEED_EXT_ENABLED), SA_EQ },
};
/* clang-format on */

static bool mask_fits(const struct sa_query *q, unsigned component, const uint8_t *record)
{
	if (!sa_asked(q, component)) {
		return true;
	}
	uint64_t want = sa_component(q, component);
	uint64_t has = field_get(record, port_fields[component].bit,
	                         port_fields[component].width);
	return q->attr_mod & MATCH_ALL_SET_BITS ? (has & want) == want : has == want;
}

/* Hides M_Key, and compares the capability masks. */
static bool fit_port_info(struct snap_reader *r, const struct sa_query *q,
                          uint8_t *record)
{
	uint32_t lid = (uint32_t)field_get(record, 0, 16);
	struct snap_end end;

	if (!q->trusted) {
		field_set(record + RID32_BYTES, PI_M_KEY, 0);
	}
	if (lid != field_get(record + RID32_BYTES, PI_LID) &&
	    snap_lid(r, lid, &end) == E_OK && end.is_vport) {
		field_set(record + RID32_BYTES, PI_LID, lid);
		field_set(record + RID32_BYTES, PI_LMC, 0);
	}
	return mask_fits(q, PIR_CAPABILITY_MASK, record) &&
	       mask_fits(q, PIR_CAPABILITY_MASK2, record);
}

const struct sa_attr rec_port_info = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_PORT_INFO_REC,
	.name = "PortInfoRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = PORT_RECORD_BYTES,
	.of_vports = true,
	SA_FIELDS(port_fields),
	.rows = { .attr = UMAD_SM_ATTR_PORT_INFO,
	          .port = PIR_PORT_NUM,
	          .block = SA_NONE,
	          .at = RID32_BYTES,
	          .bytes = PORT_INFO_BYTES,
	          .fit = fit_port_info },
};

/* --- SMInfoRecord and P_KeyTableRecord -------------------------------------------- */

enum { SM_INFO_BYTES = 21, TABLE_BYTES = 64 };
enum { SMIR_SM_KEY = 3, SMIR_ACT_COUNT };
enum { PKTR_BLOCK = 1, PKTR_PORT };

/* clang-format off */
static const struct sa_field sm_fields[] = {
	{ "LID",           0, 16, SA_INPUT },
	{ "Reserved",     16, 16, SA_RESERVED },
	{ "GUID",         SA_AT(RID32, SMI_GUID), SA_EQ },
	{ "SM_Key",       SA_AT(RID32, SMI_SM_KEY), SA_EQ },
	{ "ActCount",     SA_AT(RID32, SMI_ACT_COUNT), SA_EQ },
	{ "Priority",     SA_AT(RID32, SMI_PRIORITY), SA_EQ },
	{ "SMState",      SA_AT(RID32, SMI_SM_STATE), SA_EQ },
};

static const struct sa_field p_key_fields[] = {
	{ "LID",           0,  16, SA_INPUT },
	{ "BlockNum",     16,  16, SA_EQ },
	{ "PortNum",      32,   8, SA_INPUT },
	{ "Reserved",     40,  24, SA_RESERVED },
	{ "P_KeyTable",  RID, 512, SA_EQ | SA_LIST16 },
};
/* clang-format on */

uint32_t sa_act_count(struct snap_reader *r, const struct sa_query *q, uint64_t guid,
                      uint32_t read)
{
	return guid == snap_meta(r)->sm_port_guid ? q->act_count : read;
}

static bool fit_sm_info(struct snap_reader *r, const struct sa_query *q, uint8_t *record)
{
	sa_put(&rec_sm_info, record, SMIR_SM_KEY, 0);
	sa_put(&rec_sm_info, record, SMIR_ACT_COUNT,
	       sa_act_count(r, q, field_get(record + RID32_BYTES, SMI_GUID),
	                    (uint32_t)field_get(record + RID32_BYTES, SMI_ACT_COUNT)));
	return true;
}

const struct sa_attr rec_sm_info = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_SM_INFO_REC,
	.name = "SMInfoRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID32_BYTES + SM_INFO_BYTES,
	.moves = true,
	SA_FIELDS(sm_fields),
	.rows = { .attr = UMAD_SM_ATTR_SM_INFO,
	          .port = SA_NONE,
	          .block = SA_NONE,
	          .at = RID32_BYTES,
	          .bytes = SM_INFO_BYTES,
	          .fit = fit_sm_info },
};

const struct sa_attr rec_p_key_table = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_PKEY_TABLE_REC,
	.name = "P_KeyTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + TABLE_BYTES,
	.trusted = true,
	SA_FIELDS(p_key_fields),
	.rows = { .attr = UMAD_SM_ATTR_PKEY_TABLE,
	          .shift = 16,
	          .port = PKTR_PORT,
	          .block = PKTR_BLOCK,
	          .at = RID_BYTES,
	          .bytes = TABLE_BYTES },
};

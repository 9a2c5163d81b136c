/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * PortInfoRecord (IBA vol. 1, 15.2.5.3): every port of a switch (under the LID of its
 * port 0) and every CA or router port with a LID, as PortInfo was last read or
 * programmed.
 *
 * The LID component names any LID of the end port. With bit 31 of the AttributeModifier
 * the capability masks match when all bits asked for are set. M_Key is shown, and
 * compared, only to requesters who know the SM_Key.
 */
#include <infiniband/umad_sm.h>

#include "sa/mad/wire.h"
#include "sa/record/record.h"

enum { RID = 32, PORT_INFO_BYTES = 64, PORT_RECORD_BYTES = 68 };
enum { PIR_PORT_NUM = 1, PIR_CAPABILITY_MASK = 7, PIR_CAPABILITY_MASK2 = 53 };

#define MATCH_ALL_ASKED_BITS UINT32_C(0x80000000)

/* clang-format off */
static const struct sa_field port_fields[] = {
	{ "LID",                            0, 16, SA_INPUT },
	{ "PortNum",                       16,  8, SA_EQ },
	{ "Options",                       24,  8, SA_RESERVED },
	{ "M_Key",                         SA_AT(RID, PI_M_KEY), SA_EQ },
	{ "GidPrefix",                     SA_AT(RID, PI_GID_PREFIX), SA_EQ },
	{ "BaseLID",                       SA_AT(RID, PI_LID), SA_EQ },
	{ "MasterSMLID",                   SA_AT(RID, PI_MASTER_SM_LID), SA_EQ },
	{ "CapabilityMask",                SA_AT(RID, PI_CAPABILITY_MASK), SA_INPUT },
	{ "DiagCode",                      SA_AT(RID, PI_DIAG_CODE), SA_EQ },
	{ "M_KeyLeasePeriod",              SA_AT(RID, PI_M_KEY_LEASE_PERIOD), SA_EQ },
	{ "LocalPortNum",                  SA_AT(RID, PI_LOCAL_PORT_NUM), SA_EQ },
	{ "LinkWidthEnabled",              SA_AT(RID, PI_LINK_WIDTH_ENABLED), SA_EQ },
	{ "LinkWidthSupported",            SA_AT(RID, PI_LINK_WIDTH_SUPPORTED), SA_EQ },
	{ "LinkWidthActive",               SA_AT(RID, PI_LINK_WIDTH_ACTIVE), SA_EQ },
	{ "LinkSpeedSupported",            SA_AT(RID, PI_LINK_SPEED_SUPPORTED), SA_EQ },
	{ "PortState",                     SA_AT(RID, PI_PORT_STATE), SA_EQ },
	{ "PortPhysicalState",             SA_AT(RID, PI_PORT_PHYSICAL_STATE), SA_EQ },
	{ "LinkDownDefaultState",          SA_AT(RID, PI_LINK_DOWN_DEFAULT_STATE), SA_EQ },
	{ "M_KeyProtectBits",              SA_AT(RID, PI_M_KEY_PROTECT_BITS), SA_EQ },
	{ "Reserved",                      RID + 274, 3, SA_RESERVED },
	{ "LMC",                           SA_AT(RID, PI_LMC), SA_EQ },
	{ "LinkSpeedActive",               SA_AT(RID, PI_LINK_SPEED_ACTIVE), SA_EQ },
	{ "LinkSpeedEnabled",              SA_AT(RID, PI_LINK_SPEED_ENABLED), SA_EQ },
	{ "NeighborMTU",                   SA_AT(RID, PI_NEIGHBOR_MTU), SA_EQ },
	{ "MasterSMSL",                    SA_AT(RID, PI_MASTER_SM_SL), SA_EQ },
	{ "VLCap",                         SA_AT(RID, PI_VL_CAP), SA_EQ },
	{ "InitType",                      SA_AT(RID, PI_INIT_TYPE), SA_EQ },
	{ "VLHighLimit",                   SA_AT(RID, PI_VL_HIGH_LIMIT), SA_EQ },
	{ "VLArbitrationHighCap",          SA_AT(RID, PI_VL_ARB_HIGH_CAP), SA_EQ },
	{ "VLArbitrationLowCap",           SA_AT(RID, PI_VL_ARB_LOW_CAP), SA_EQ },
	{ "InitTypeReply",                 SA_AT(RID, PI_INIT_TYPE_REPLY), SA_EQ },
	{ "MTUCap",                        SA_AT(RID, PI_MTU_CAP), SA_EQ },
	{ "VLStallCount",                  SA_AT(RID, PI_VL_STALL_COUNT), SA_EQ },
	{ "HOQLife",                       SA_AT(RID, PI_HOQ_LIFE), SA_EQ },
	{ "OperationalVLs",                SA_AT(RID, PI_OPERATIONAL_VLS), SA_EQ },
	{ "PartitionEnforcementInbound",   SA_AT(RID, PI_PARTITION_ENFORCEMENT_INBOUND), SA_EQ },
	{ "PartitionEnforcementOutbound",  SA_AT(RID, PI_PARTITION_ENFORCEMENT_OUTBOUND), SA_EQ },
	{ "FilterRawInbound",              SA_AT(RID, PI_FILTER_RAW_INBOUND), SA_EQ },
	{ "FilterRawOutbound",             SA_AT(RID, PI_FILTER_RAW_OUTBOUND), SA_EQ },
	{ "M_KeyViolations",               SA_AT(RID, PI_M_KEY_VIOLATIONS), SA_EQ },
	{ "P_KeyViolations",               SA_AT(RID, PI_P_KEY_VIOLATIONS), SA_EQ },
	{ "Q_KeyViolations",               SA_AT(RID, PI_Q_KEY_VIOLATIONS), SA_EQ },
	{ "GUIDCap",                       SA_AT(RID, PI_GUID_CAP), SA_EQ },
	{ "ClientReregister",              SA_AT(RID, PI_CLIENT_REREGISTER), SA_EQ },
	{ "MulticastPKeyTrapSuppressionEnabled", SA_AT(RID, PI_MCAST_PKEY_TRAP_SUPPRESSION), SA_EQ },
	{ "SubnetTimeOut",                 SA_AT(RID, PI_SUBNET_TIMEOUT), SA_EQ },
	{ "Reserved",                      RID + 416, 3, SA_RESERVED },
	{ "RespTimeValue",                 SA_AT(RID, PI_RESP_TIME_VALUE), SA_EQ },
	{ "LocalPhyErrors",                SA_AT(RID, PI_LOCAL_PHY_ERRORS), SA_EQ },
	{ "OverrunErrors",                 SA_AT(RID, PI_OVERRUN_ERRORS), SA_EQ },
	{ "MaxCreditHint",                 SA_AT(RID, PI_MAX_CREDIT_HINT), SA_EQ },
	{ "Reserved",                      RID + 448, 8, SA_RESERVED },
	{ "LinkRoundTripLatency",          SA_AT(RID, PI_LINK_ROUND_TRIP_LATENCY), SA_EQ },
	{ "CapabilityMask2",               SA_AT(RID, PI_CAPABILITY_MASK2), SA_INPUT },
	{ "LinkSpeedExtActive",            SA_AT(RID, PI_LINK_SPEED_EXT_ACTIVE), SA_EQ },
	{ "LinkSpeedExtSupported",         SA_AT(RID, PI_LINK_SPEED_EXT_SUPPORTED), SA_EQ },
	{ "Reserved",                      RID + 504, 3, SA_RESERVED },
	{ "LinkSpeedExtEnabled",           SA_AT(RID, PI_LINK_SPEED_EXT_ENABLED), SA_EQ },
};
/* clang-format on */

static bool mask_fits(const struct sa_query *q, unsigned component, const uint8_t *record)
{
	if (!sa_asked(q, component)) {
		return true;
	}
	uint64_t want = sa_given(q, component);
	uint64_t has = field_get(record, port_fields[component].bit,
	                         port_fields[component].width);
	return q->attr_mod & MATCH_ALL_ASKED_BITS ? (has & want) == want : has == want;
}

static bool fit(struct snap_reader *r, const struct sa_query *q, uint8_t *record)
{
	(void)r;
	if (!q->trusted) {
		field_set(record + RID / 8, PI_M_KEY, 0);
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
	SA_FIELDS(port_fields),
	.rows = { .attr = UMAD_SM_ATTR_PORT_INFO,
	          .port = PIR_PORT_NUM,
	          .block = SA_NONE,
	          .at = RID / 8,
	          .bytes = PORT_INFO_BYTES,
	          .fit = fit },
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Records of switches.
 *
 *   SwitchInfoRecord (IBA vol. 1, 15.2.5.5)      as last read or programmed
 *   LinearForwardingTableRecord (15.2.5.6)       the tables of the published epoch in blocks of
 *                                                64 LIDs, up to the highest LID
 *   MulticastForwardingTableRecord (15.2.5.8)    the blocks that were programmed
 */
#include <string.h>

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/mad/wire.h"
#include "sa/record/attributes.h"
#include "sa/record/rec_int.h"

enum { BLOCK_BYTES = 64, SWITCH_INFO_BYTES = 20, MCAST_POSITION_SHIFT = 28 };
enum { LFTR_LID, LFTR_BLOCK, OPA_LFTR_BLOCK };
enum { MFTR_POSITION = 1, MFTR_BLOCK = 3 };

/* clang-format off */
static const struct sa_field switch_fields[] = {
	{ "LID",                       0, 16, SA_INPUT },
	{ "Reserved",                 16, 16, SA_RESERVED },
	{ "LinearFDBCap",             SA_AT(RID32, SI_LINEAR_FDB_CAP), SA_EQ },
	{ "RandomFDBCap",             SA_AT(RID32, SI_RANDOM_FDB_CAP), SA_EQ },
	{ "MulticastFDBCap",          SA_AT(RID32, SI_MULTICAST_FDB_CAP), SA_EQ },
	{ "LinearFDBTop",             SA_AT(RID32, SI_LINEAR_FDB_TOP), SA_EQ },
	{ "DefaultPort",              SA_AT(RID32, SI_DEFAULT_PORT), SA_EQ },
	{ "DefaultMulticastPrimaryPort",    SA_AT(RID32, SI_DEFAULT_MCAST_PRIMARY_PORT), SA_EQ },
	{ "DefaultMulticastNotPrimaryPort", SA_AT(RID32, SI_DEFAULT_MCAST_NOT_PRIMARY_PORT), SA_EQ },
	{ "LifeTimeValue",            SA_AT(RID32, SI_LIFE_TIME_VALUE), SA_EQ },
	{ "PortStateChange",          SA_AT(RID32, SI_PORT_STATE_CHANGE), SA_EQ },
	{ "OptimizedSLtoVLMappingProgramming", SA_AT(RID32, SI_OPTIMIZED_SLTOVL), SA_EQ },
	{ "LIDsPerPort",              SA_AT(RID32, SI_LIDS_PER_PORT), SA_EQ },
	{ "PartitionEnforcementCap",  SA_AT(RID32, SI_PARTITION_ENFORCEMENT_CAP), SA_EQ },
	{ "InboundEnforcementCap",    SA_AT(RID32, SI_INBOUND_ENFORCEMENT_CAP), SA_EQ },
	{ "OutboundEnforcementCap",   SA_AT(RID32, SI_OUTBOUND_ENFORCEMENT_CAP), SA_EQ },
	{ "FilterRawInboundCap",      SA_AT(RID32, SI_FILTER_RAW_INBOUND_CAP), SA_EQ },
	{ "FilterRawOutboundCap",     SA_AT(RID32, SI_FILTER_RAW_OUTBOUND_CAP), SA_EQ },
	{ "EnhancedPort0",            SA_AT(RID32, SI_ENHANCED_PORT_0), SA_EQ },
	{ "Reserved",                 RID32 + 133, 3, SA_RESERVED },
	{ "MulticastFDBTop",          SA_AT(RID32, SI_MULTICAST_FDB_TOP), SA_EQ },
};

static const struct sa_field lft_fields[] = {
	{ "LID",                          0,  16, SA_INPUT },
	{ "BlockNum",                    16,  16, SA_EQ },
	{ "Reserved",                    32,  32, SA_RESERVED },
	{ "LinearForwardingTable",  RID, 512, SA_EQ | SA_LIST8 },
};

static const struct sa_field opa_lft_fields[] = {
	{ "LID",                          0,  32, SA_INPUT },
	{ "Reserved",                    32,  14, SA_RESERVED },
	{ "BlockNum",                    46,  18, SA_EQ },
	{ "LinearForwardingTable",  RID, 512, SA_EQ | SA_LIST8 },
};

static const struct sa_field mft_fields[] = {
	{ "LID",                          0,  16, SA_INPUT },
	{ "Position",                    16,   4, SA_EQ },
	{ "Reserved",                    20,   3, SA_RESERVED },
	{ "BlockNum",                    23,   9, SA_EQ },
	{ "Reserved",                    32,  32, SA_RESERVED },
	{ "MulticastForwardingTable", RID, 512, SA_EQ | SA_LIST16 },
};
/* clang-format on */

const struct sa_attr rec_switch_info = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_SWITCH_INFO_REC,
	.name = "SwitchInfoRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID32_BYTES + SWITCH_INFO_BYTES,
	SA_FIELDS(switch_fields),
	.rows = { .attr = UMAD_SM_ATTR_SWITCH_INFO,
	          .port = SA_NONE,
	          .block = SA_NONE,
	          .at = RID32_BYTES,
	          .bytes = SWITCH_INFO_BYTES },
};

static int offer_tables(struct snap_reader *r, const struct sa_query *q,
                        const struct snap_end *end, struct sa_out *out)
{
	uint32_t block = 0, last = snap_meta(r)->top_lid / BLOCK_BYTES;
	uint8_t record[RID_BYTES + BLOCK_BYTES] = { 0 };
	const int component = q->attr == &opa_linear_ft ? OPA_LFTR_BLOCK : LFTR_BLOCK;

	if (end->type != NODE_SWITCH) {
		return E_OK;
	}
	if (sa_asked(q, (unsigned)component)) {
		block = (uint32_t)sa_component(q, (unsigned)component);
		last = block < last ? block : last;
	}
	sa_put(q->attr, record, LFTR_LID, end->base_lid);
	for (; block <= last && !sa_full(out); block++) {
		int ret = snap_lft_block(r, end->node_guid, block * BLOCK_BYTES,
		                         record + RID_BYTES, BLOCK_BYTES);
		if (ret != E_OK) {
			return ret;
		}
		sa_put(q->attr, record, component, block);
		sa_offer(out, record);
	}
	return E_OK;
}

const struct sa_attr rec_linear_ft = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_LINEAR_FT_REC,
	.name = "LinearForwardingTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + BLOCK_BYTES,
	SA_FIELDS(lft_fields),
	.offer_end = offer_tables,
};

const struct sa_attr opa_linear_ft = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_LINEAR_FT_REC,
	.name = "LinearForwardingTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + BLOCK_BYTES,
	SA_FIELDS(opa_lft_fields),
	.offer_end = offer_tables,
};

const struct sa_attr rec_mcast_ft = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_MCAST_FT_REC,
	.name = "MulticastForwardingTableRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RID_BYTES + BLOCK_BYTES,
	SA_FIELDS(mft_fields),
	.rows = { .attr = UMAD_SM_ATTR_MCAST_FT,
	          .shift = MCAST_POSITION_SHIFT,
	          .port = MFTR_POSITION,
	          .block = MFTR_BLOCK,
	          .at = RID_BYTES,
	          .bytes = BLOCK_BYTES },
};

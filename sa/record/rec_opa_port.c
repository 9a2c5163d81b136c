/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * PortInfoRecord in Omni-Path's layout: every port of a switch, under the LID of its port 0,
 * and every CA or router port with a LID. Omni-Path's ports have their own bytes. Of InfiniBand's
 * the values are those of PortInfo as last read or programmed, in Omni-Path's codes:
 *
 *   VL.Cap, OperationalVL   the number of lanes
 *   NeighborMTU, XmitQ      one field per lane
 *   LinkWidth               1, 2, 4, 8 for 1x, 2x, 3x, 4x
 *   LinkSpeed               2 for 25 Gb/s
 *
 * A value without a code is 0. Only requesters with the SM_Key see M_Key.
 *
 * Only LID, PortNum and CapabilityMask are compared, as by opa-fm. The layout is that which
 * opasaquery prints.
 */
#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/mad/opa_fields.h"
#include "sa/mad/wire.h"
#include "sa/record/opa_native.h"
#include "sa/record/rec_int.h"
#include "sa/record/record.h"

enum {
	IB_BYTES = 64,
	RECORD_BYTES =
		378, /* RID 8, PortInfo 242, eight reasons for LinkDown of 16 bytes */
	EDR = 2      /* bit of LinkSpeedExt */
};
enum { PIR_PORT_NUM = 1 };

/* clang-format off */
static const struct sa_field port_fields[] = {
	{ "EndPortLID",      0, 32, SA_INPUT },
	{ "PortNum",        32,  8, SA_EQ },
	{ "Options",        40,  8, SA_RESERVED },
	{ "CapabilityMask", SA_AT(RID, OPA_PI_CAPABILITY_MASK), SA_EQ },
};

/* fields with the same values in both layouts */
static const struct same {
	uint16_t ib_bit, ib_width, bit, width;
} same[] = {
	{ PI_LID, OPA_PI_LID },
	{ PI_VL_HIGH_LIMIT, OPA_PI_VL_HIGH_LIMIT },
	{ PI_VL_ARB_HIGH_CAP, OPA_PI_VL_ARB_HIGH_CAP },
	{ PI_VL_ARB_LOW_CAP, OPA_PI_VL_ARB_LOW_CAP },
	{ PI_PORT_PHYSICAL_STATE, OPA_PI_PORT_PHYSICAL_STATE },
	{ PI_PORT_STATE, OPA_PI_PORT_STATE },
	{ PI_M_KEY_PROTECT_BITS, OPA_PI_M_KEY_PROTECT_BITS },
	{ PI_LMC, OPA_PI_LMC },
	{ PI_MASTER_SM_SL, OPA_PI_MASTER_SM_SL },
	{ PI_PARTITION_ENFORCEMENT_INBOUND, OPA_PI_PARTITION_ENFORCEMENT_INBOUND },
	{ PI_PARTITION_ENFORCEMENT_OUTBOUND, OPA_PI_PARTITION_ENFORCEMENT_OUTBOUND },
	{ PI_M_KEY_VIOLATIONS, OPA_PI_M_KEY_VIOLATIONS },
	{ PI_P_KEY_VIOLATIONS, OPA_PI_P_KEY_VIOLATIONS },
	{ PI_Q_KEY_VIOLATIONS, OPA_PI_Q_KEY_VIOLATIONS },
	{ PI_CLIENT_REREGISTER, OPA_PI_CLIENT_REREGISTER },
	{ PI_SUBNET_TIMEOUT, OPA_PI_SUBNET_TIMEOUT },
	{ PI_M_KEY_LEASE_PERIOD, OPA_PI_M_KEY_LEASE_PERIOD },
	{ PI_MASTER_SM_LID, OPA_PI_MASTER_SM_LID },
	{ PI_GID_PREFIX, OPA_PI_SUBNET_PREFIX },
	{ PI_CAPABILITY_MASK, OPA_PI_CAPABILITY_MASK },
	{ PI_DIAG_CODE, OPA_PI_DIAG_CODE },
	{ PI_MTU_CAP, OPA_PI_MTU_CAP },
	{ PI_RESP_TIME_VALUE, OPA_PI_RESP_TIME_VALUE },
};
/* clang-format on */

/* The number of lanes of a code of VLCap or OperationalVLs. */
static unsigned lanes(unsigned code)
{
	static const uint8_t n[] = { 0, 1, 2, 4, 8, 15 };

	return code < sizeof(n) ? n[code] : 0;
}

/* Converts a set of widths: bits 0 to 4 are 1x, 4x, 8x, 12x, 2x in InfiniBand, and 1x, 2x, 3x,
 * 4x in Omni-Path. */
static unsigned widths(uint64_t ib)
{
	return (unsigned)((ib & 1) | (ib >> 4 & 1) << 1 | (ib >> 1 & 1) << 3);
}

static unsigned speeds(uint64_t ib_ext)
{
	return ib_ext & EDR ? 2 : 0;
}

static void put_link_modes(const uint8_t *ib, uint8_t *pi)
{
	field_set(pi, OPA_PI_LINK_WIDTH_SUPPORTED,
	          widths(field_get(ib, PI_LINK_WIDTH_SUPPORTED)));
	field_set(pi, OPA_PI_LINK_WIDTH_ENABLED,
	          widths(field_get(ib, PI_LINK_WIDTH_ENABLED)));
	field_set(pi, OPA_PI_LINK_WIDTH_ACTIVE,
	          widths(field_get(ib, PI_LINK_WIDTH_ACTIVE)));
	field_set(pi, OPA_PI_LINK_SPEED_SUPPORTED,
	          speeds(field_get(ib, PI_LINK_SPEED_EXT_SUPPORTED)));
	field_set(pi, OPA_PI_LINK_SPEED_ENABLED,
	          speeds(field_get(ib, PI_LINK_SPEED_EXT_ENABLED)));
	field_set(pi, OPA_PI_LINK_SPEED_ACTIVE,
	          speeds(field_get(ib, PI_LINK_SPEED_EXT_ACTIVE)));
}

static int offer_port(struct snap_reader *r, const struct sa_query *q,
                      const struct snap_end *end, const struct snap_attr_row *row,
                      struct sa_out *out)
{
	uint8_t record[RECORD_BYTES] = { 0 }, *pi = record + RID_BYTES;

	if (row->len < IB_BYTES) {
		return E_OK;
	}
	sa_put(q->attr, record, SA_LID, end->base_lid);
	sa_put(q->attr, record, PIR_PORT_NUM, row->block);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		const struct same *s = &same[i];
		field_set(pi, s->bit, s->width,
		          field_get(row->data, s->ib_bit, s->ib_width));
	}
	put_link_modes(row->data, pi);
	unsigned n = lanes((unsigned)field_get(row->data, PI_OPERATIONAL_VLS));
	field_set(pi, OPA_PI_VL_CAP, lanes((unsigned)field_get(row->data, PI_VL_CAP)));
	field_set(pi, OPA_PI_OPERATIONAL_VLS, n);
	for (unsigned vl = 0; vl < n && vl < OPA_LANES; vl++) {
		field_set(pi, OPA_PI_NEIGHBOR_MTU(vl),
		          field_get(row->data, PI_NEIGHBOR_MTU));
		field_set(pi, OPA_PI_VL_STALL_COUNT(vl),
		          field_get(row->data, PI_VL_STALL_COUNT));
		field_set(pi, OPA_PI_HOQ_LIFE(vl), field_get(row->data, PI_HOQ_LIFE));
	}
	field_set(pi, OPA_PI_SA_QP, 1);
	field_set(pi, OPA_PI_LOCAL_PORT_NUM, row->block);
	if (q->trusted) {
		field_set(pi, OPA_PI_M_KEY, field_get(row->data, PI_M_KEY));
	}
	struct snap_port port;
	struct snap_node peer = { .type = 0 };
	int ret = snap_port(r, end->node_guid, (uint8_t)row->block, &port);
	if (ret == E_OK && port.peer_guid != 0) {
		ret = snap_node(r, port.peer_guid, &peer);
		field_set(pi, OPA_PI_NEIGHBOR_PORT_NUM, port.peer_port);
		field_set(pi, OPA_PI_NEIGHBOR_NODE_GUID, port.peer_guid);
		field_set(pi, OPA_PI_NEIGHBOR_IS_SWITCH,
		          ret == E_OK && peer.type == NODE_SWITCH);
	}
	if (ret != E_OK && ret != E_NOTFOUND) {
		return ret;
	}
	sa_offer(out, record);
	return E_OK;
}

static void offer_native(const struct sa_query *q, const struct snap_end *end,
                         const struct snap_attr_row *row, struct sa_out *out)
{
	uint8_t record[RECORD_BYTES] = { 0 };

	if (row->len < OPA_BYTES_PORT_INFO) {
		return;
	}
	sa_put(q->attr, record, SA_LID, end->base_lid);
	sa_put(q->attr, record, PIR_PORT_NUM, row->block);
	memcpy(record + RID_BYTES, row->data, OPA_BYTES_PORT_INFO);
	if (!q->trusted) {
		field_set(record + RID_BYTES, OPA_PI_M_KEY, 0);
	}
	sa_offer(out, record);
}

static int offer_ports(struct snap_reader *r, const struct sa_query *q,
                       const struct snap_end *end, struct sa_out *out)
{
	bool native = opa_native_known(r, end->node_guid);
	struct snap_attr_row row;
	struct sa_row_walk w;
	int ret = E_OK;

	sa_rows_begin(q, (native ? SNAP_ATTR_OPA : 0) | UMAD_SM_ATTR_PORT_INFO, 0,
	              PIR_PORT_NUM, end, &w);
	while (ret == E_OK && !sa_full(out)) {
		ret = sa_rows_next(r, &w, &row);
		if (ret == E_OK && native) {
			offer_native(q, end, &row, out);
		} else if (ret == E_OK) {
			ret = offer_port(r, q, end, &row, out);
		}
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

const struct sa_attr opa_port_info = {
	.version = SA_OPA_VERSION,
	.id = UMAD_SA_ATTR_PORT_INFO_REC,
	.name = "PortInfoRecord",
	.methods = SA_GET | SA_GETTABLE,
	.size = RECORD_BYTES,
	SA_FIELDS(port_fields),
	.offer_end = offer_ports,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The translation of SMPs. A row of the table at the end says of each attribute: bytes, how the modifier is
 * made, and functions for both directions.
 *
 * Source: IBA vol. 1, 14.2.5; the public headers of opa-fm for Omni-Path's layouts; the hfi1 driver for what
 * an agent makes of a Set: LinkWidth.Enabled and the like 0 is no change, LID of an external port of
 * a switch is that of its neighbour.
 */
#include "sa/mad/opa_smp.h"

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/mad/notice.h"
#include "sa/mad/opa_lid.h"

enum {
	IB_BYTES = 64,
	MTU_4096 = 5,
	MOST_VLS = 15,
	POLLING = 2,
	DOWN = 1,
	OPA_TRAP_WIDTH = 0x800,
	/* of CapabilityMask: bits that mean the same in both formats */
	CAP_SAME = 1 << 1 | 1 << 5 | 1 << 16 | 1 << 19 | 1 << 20 | 1 << 22,
	CAP_CLIENT_REREGISTRATION = 1 << 25,
	NODE_IS_SWITCH = 2
};

/* --- codes ------------------------------------------------------------------------------ */

static uint64_t mtu_shape(uint64_t code)
{
	return code < MTU_4096 ? code : MTU_4096;
}

/* Of data VLs: those that nobody uses have none. */
static uint64_t largest_mtu(const uint8_t *info)
{
	uint64_t most = 0;

	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		uint64_t mtu = field_get(info, OPA_PI_NEIGHBOR_MTU(vl));

		most = vl != OPA_VL_MANAGEMENT && mtu > most ? mtu : most;
	}
	return most;
}

static unsigned vls_of_code(unsigned code)
{
	static const uint8_t n[] = { 0, 1, 2, 4, 8, MOST_VLS };

	return code < sizeof(n) ? n[code] : MOST_VLS;
}

static uint64_t vls_shape(uint64_t vls)
{
	unsigned code = 5;

	while (code > 1 && vls_of_code(code) > vls) {
		code--;
	}
	return vls == 0 ? 0 : code;
}

/* Bits of LinkWidth of InfiniBand. */
enum { IB_1X = 1, IB_4X = 2, IB_2X = 16 };

static uint64_t widths_shape(uint64_t widths)
{
	return ((widths & OPA_LINK_4X) != 0 ? IB_4X : 0) |
	       ((widths & (OPA_LINK_3X | OPA_LINK_2X)) != 0 ? IB_2X : 0) |
	       ((widths & OPA_LINK_1X) != 0 ? IB_1X : 0);
}

/* LinkWidthActive: one of them. */
static uint64_t width_shape(uint64_t width)
{
	return width >= OPA_LINK_4X ? IB_4X : width >= OPA_LINK_2X ? IB_2X : IB_1X;
}

/* Speeds are shown as one supported, enabled and active, so that nobody asks for another. */
static void shape_speed(uint64_t speed, uint8_t *ret_data)
{
	enum { FDR = 1, EDR = 2, HDR = 4, NDR = 8 };
	uint64_t ext = speed >= OPA_LINK_100G  ? NDR
	               : speed >= OPA_LINK_50G ? HDR
	               : speed >= OPA_LINK_25G ? EDR
	                                       : FDR;

	field_set(ret_data, PI_LINK_SPEED_SUPPORTED, 1);
	field_set(ret_data, PI_LINK_SPEED_ENABLED, 1);
	field_set(ret_data, PI_LINK_SPEED_ACTIVE, 1);
	field_set(ret_data, PI_LINK_SPEED_EXT_SUPPORTED, ext);
	field_set(ret_data, PI_LINK_SPEED_EXT_ACTIVE, ext);
}

/* --- PortInfo --------------------------------------------------------------------------- */

/* Fields with the same values in both layouts. */
static const struct same {
	uint16_t ib_bit, ib_width, bit, width;
	bool written;
} same[] = {
	/* clang-format off */
	{ PI_M_KEY,              OPA_PI_M_KEY,              true },
	{ PI_GID_PREFIX,         OPA_PI_SUBNET_PREFIX,      true },
	{ PI_M_KEY_LEASE_PERIOD, OPA_PI_M_KEY_LEASE_PERIOD, true },
	{ PI_M_KEY_PROTECT_BITS, OPA_PI_M_KEY_PROTECT_BITS, true },
	{ PI_MASTER_SM_SL,       OPA_PI_MASTER_SM_SL,       true },
	{ PI_CLIENT_REREGISTER,  OPA_PI_CLIENT_REREGISTER,  true },
	{ PI_MCAST_PKEY_TRAP_SUPPRESSION, OPA_PI_MCAST_PKEY_TRAP_SUPPRESSION, true },
	{ PI_SUBNET_TIMEOUT,     OPA_PI_SUBNET_TIMEOUT,     true },
	{ PI_VL_HIGH_LIMIT,      OPA_PI_VL_HIGH_LIMIT,      true },
	{ PI_PARTITION_ENFORCEMENT_INBOUND,  OPA_PI_PARTITION_ENFORCEMENT_INBOUND,  true },
	{ PI_PARTITION_ENFORCEMENT_OUTBOUND, OPA_PI_PARTITION_ENFORCEMENT_OUTBOUND, true },
	{ PI_PORT_STATE,         OPA_PI_PORT_STATE,         false },
	{ PI_PORT_PHYSICAL_STATE, OPA_PI_PORT_PHYSICAL_STATE, false },
	{ PI_M_KEY_VIOLATIONS,   OPA_PI_M_KEY_VIOLATIONS,   false },
	{ PI_P_KEY_VIOLATIONS,   OPA_PI_P_KEY_VIOLATIONS,   false },
	{ PI_Q_KEY_VIOLATIONS,   OPA_PI_Q_KEY_VIOLATIONS,   false },
	{ PI_DIAG_CODE,          OPA_PI_DIAG_CODE,          false },
	{ PI_RESP_TIME_VALUE,    OPA_PI_RESP_TIME_VALUE,    false },
	{ PI_LOCAL_PORT_NUM,     OPA_PI_LOCAL_PORT_NUM,     false },
	/* clang-format on */
};

#define N_SAME (sizeof(same) / sizeof(same[0]))

void opa_port_info_shape(const uint8_t info[OPA_BYTES_PORT_INFO], uint8_t ret_info[64])
{
	uint64_t tx = field_get(info, OPA_PI_WIDTH_DOWNGRADE_TX_ACTIVE),
		 rx = field_get(info, OPA_PI_WIDTH_DOWNGRADE_RX_ACTIVE),
		 width = field_get(info, OPA_PI_LINK_WIDTH_ACTIVE);
	uint32_t mask = (uint32_t)field_get(info, OPA_PI_CAPABILITY_MASK) & CAP_SAME;

	memset(ret_info, 0, IB_BYTES);
	for (size_t i = 0; i < N_SAME; i++) {
		const struct same *s = &same[i];

		field_set(ret_info, s->ib_bit, s->ib_width,
		          field_get(info, s->bit, s->width));
	}
	field_set(ret_info, PI_LID, opa_lid_shape((uint32_t)field_get(info, OPA_PI_LID)));
	field_set(ret_info, PI_LMC, field_get(info, OPA_PI_LMC));
	field_set(ret_info, PI_MASTER_SM_LID,
	          opa_lid_shape((uint32_t)field_get(info, OPA_PI_MASTER_SM_LID)));
	field_set(ret_info, PI_CAPABILITY_MASK, mask | CAP_CLIENT_REREGISTRATION);
	width = tx != 0 && tx < width ? tx : width;
	width = width_shape(rx != 0 && rx < width ? rx : width);
	field_set(ret_info, PI_LINK_WIDTH_ACTIVE, width);
	/* all of them show as enabled, so that nobody asks for another */
	width = widths_shape(field_get(info, OPA_PI_LINK_WIDTH_SUPPORTED));
	field_set(ret_info, PI_LINK_WIDTH_SUPPORTED, width);
	field_set(ret_info, PI_LINK_WIDTH_ENABLED, width);
	shape_speed(field_get(info, OPA_PI_LINK_SPEED_ACTIVE), ret_info);
	field_set(ret_info, PI_LINK_DOWN_DEFAULT_STATE, POLLING);
	field_set(ret_info, PI_NEIGHBOR_MTU, mtu_shape(largest_mtu(info)));
	field_set(ret_info, PI_MTU_CAP, mtu_shape(field_get(info, OPA_PI_MTU_CAP)));
	field_set(ret_info, PI_VL_CAP, vls_shape(field_get(info, OPA_PI_VL_CAP)));
	field_set(ret_info, PI_OPERATIONAL_VLS,
	          vls_shape(field_get(info, OPA_PI_OPERATIONAL_VLS)));
	field_set(ret_info, PI_VL_STALL_COUNT, field_get(info, OPA_PI_VL_STALL_COUNT(0)));
	field_set(ret_info, PI_HOQ_LIFE, field_get(info, OPA_PI_HOQ_LIFE(0)));
}

static void overlay_lanes(uint8_t *info, const uint8_t *shown, const uint8_t *want)
{
	unsigned n = vls_of_code((unsigned)field_get(want, PI_OPERATIONAL_VLS));
	uint64_t mtu = field_get(want, PI_NEIGHBOR_MTU);

	if (field_get(want, PI_OPERATIONAL_VLS) != field_get(shown, PI_OPERATIONAL_VLS)) {
		field_set(info, OPA_PI_OPERATIONAL_VLS, n);
	}
	for (unsigned vl = 0; vl < OPA_LANES; vl++) {
		if (vl < n && mtu != field_get(shown, PI_NEIGHBOR_MTU)) {
			field_set(info, OPA_PI_NEIGHBOR_MTU(vl), mtu);
		}
		if (field_get(want, PI_VL_STALL_COUNT) !=
		    field_get(shown, PI_VL_STALL_COUNT)) {
			field_set(info, OPA_PI_VL_STALL_COUNT(vl),
			          field_get(want, PI_VL_STALL_COUNT));
		}
		if (field_get(want, PI_HOQ_LIFE) != field_get(shown, PI_HOQ_LIFE)) {
			field_set(info, OPA_PI_HOQ_LIFE(vl),
			          field_get(want, PI_HOQ_LIFE));
		}
	}
}

static void overlay_lids(uint8_t *info, const uint8_t *shown, const uint8_t *want)
{
	if (field_get(want, PI_LID) != field_get(shown, PI_LID)) {
		field_set(info, OPA_PI_LID, field_get(want, PI_LID));
	}
	if (field_get(want, PI_LMC) != field_get(shown, PI_LMC)) {
		field_set(info, OPA_PI_LMC, field_get(want, PI_LMC));
	}
	if (field_get(want, PI_MASTER_SM_LID) != field_get(shown, PI_MASTER_SM_LID)) {
		field_set(info, OPA_PI_MASTER_SM_LID, field_get(want, PI_MASTER_SM_LID));
	}
}

/* A link is taken down to come up again; DOWN alone means nothing. */
static void overlay_states(uint8_t *info, const uint8_t *want)
{
	uint64_t state = field_get(want, PI_PORT_STATE),
		 physical = field_get(want, PI_PORT_PHYSICAL_STATE);

	field_set(info, OPA_PI_PORT_STATE, state);
	field_set(info, OPA_PI_PORT_PHYSICAL_STATE,
	          state == DOWN && physical == 0 ? POLLING : physical);
}

void opa_port_info_overlay(uint8_t info[OPA_BYTES_PORT_INFO], const uint8_t want[64],
                           bool states)
{
	uint8_t shown[IB_BYTES];

	opa_port_info_shape(info, shown);
	for (size_t i = 0; i < N_SAME; i++) {
		const struct same *s = &same[i];
		uint64_t value = field_get(want, s->ib_bit, s->ib_width);

		if (s->written && value != field_get(shown, s->ib_bit, s->ib_width)) {
			field_set(info, s->bit, s->width, value);
		}
	}
	overlay_lids(info, shown, want);
	overlay_lanes(info, shown, want);
	if (states) {
		overlay_states(info, want);
	}
}

static int encode_port_info(const uint8_t *data, const uint8_t *basis, uint8_t *ret_data)
{
	uint64_t vls;

	if (basis == NULL) {
		return E_UNKNOWN;
	}
	vls = field_get(basis, OPA_PI_OPERATIONAL_VLS);
	memcpy(ret_data, basis, OPA_BYTES_PORT_INFO);
	opa_port_info_overlay(ret_data, data, true);
	if (field_get(ret_data, OPA_PI_OPERATIONAL_VLS) == vls) {
		field_set(ret_data, OPA_PI_OPERATIONAL_VLS, 0);
	}
	/* 0: as they are. A link that is asked for its own width may train anew. */
	field_set(ret_data, OPA_PI_LINK_SPEED_ENABLED, 0);
	field_set(ret_data, OPA_PI_LINK_WIDTH_ENABLED, 0);
	field_set(ret_data, OPA_PI_PORT_LINK_MODE_ENABLED, 0);
	field_set(ret_data, OPA_PI_LTP_CRC_ENABLED, 0);
	return E_OK;
}

static void decode_port_info(const uint8_t *data, uint8_t *ret_data)
{
	opa_port_info_shape(data, ret_data);
}

/* --- NodeInfo, SwitchInfo, SMInfo ------------------------------------------------------- */

/* Fields of NodeInfo: InfiniBand's place, Omni-Path's. */
static const uint16_t node_info_fields[][4] = {
/* clang-format off */
#define SAME(field) { NI_##field, OPA_NI_##field }
	SAME(BASE_VERSION), SAME(CLASS_VERSION), SAME(NODE_TYPE), SAME(NUM_PORTS),
	SAME(SYSTEM_IMAGE_GUID), SAME(NODE_GUID), SAME(PORT_GUID), SAME(PARTITION_CAP),
	SAME(DEVICE_ID), SAME(REVISION), SAME(LOCAL_PORT_NUM), SAME(VENDOR_ID),
#undef SAME
	/* clang-format on */
};

#define N_NODE_INFO (sizeof(node_info_fields) / sizeof(node_info_fields[0]))

static void decode_node_info(const uint8_t *data, uint8_t *ret_data)
{
	for (size_t i = 0; i < N_NODE_INFO; i++) {
		const uint16_t *f = node_info_fields[i];

		field_set(ret_data, f[0], f[1], field_get(data, f[2], f[3]));
	}
}

void opa_node_info_encode(const uint8_t info[64], uint8_t ret_data[OPA_BYTES_NODE_INFO])
{
	memset(ret_data, 0, OPA_BYTES_NODE_INFO);
	for (size_t i = 0; i < N_NODE_INFO; i++) {
		const uint16_t *f = node_info_fields[i];

		field_set(ret_data, f[2], f[3], field_get(info, f[0], f[1]));
	}
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

static void decode_switch_info(const uint8_t *data, uint8_t *ret_data)
{
	uint64_t p_keys = field_get(data, OPA_SI_PARTITION_ENFORCEMENT_CAP);

	field_set(ret_data, SI_LINEAR_FDB_CAP,
	          at_most(field_get(data, OPA_SI_LINEAR_FDB_CAP), OPA_LID_END));
	field_set(ret_data, SI_LINEAR_FDB_TOP,
	          at_most(field_get(data, OPA_SI_LINEAR_FDB_TOP), OPA_LID_END - 1));
	field_set(ret_data, SI_MULTICAST_FDB_CAP,
	          at_most(field_get(data, OPA_SI_MULTICAST_FDB_CAP), OPA_MLID_MOST));
	field_set(ret_data, SI_LIFE_TIME_VALUE, field_get(data, OPA_SI_LIFE_TIME_VALUE));
	field_set(ret_data, SI_PORT_STATE_CHANGE,
	          field_get(data, OPA_SI_PORT_STATE_CHANGE));
	field_set(ret_data, SI_PARTITION_ENFORCEMENT_CAP, p_keys);
	field_set(ret_data, SI_INBOUND_ENFORCEMENT_CAP, p_keys != 0);
	field_set(ret_data, SI_OUTBOUND_ENFORCEMENT_CAP, p_keys != 0);
	field_set(ret_data, SI_ENHANCED_PORT_0, field_get(data, OPA_SI_ENHANCED_PORT_0));
}

static int encode_switch_info(const uint8_t *data, const uint8_t *basis,
                              uint8_t *ret_data)
{
	uint8_t shown[IB_BYTES] = { 0 };

	if (basis == NULL) {
		return E_UNKNOWN;
	}
	memcpy(ret_data, basis, OPA_BYTES_SWITCH_INFO);
	decode_switch_info(basis, shown);
	if (field_get(data, SI_LINEAR_FDB_TOP) != field_get(shown, SI_LINEAR_FDB_TOP)) {
		field_set(ret_data, OPA_SI_LINEAR_FDB_TOP,
		          field_get(data, SI_LINEAR_FDB_TOP));
	}
	field_set(ret_data, OPA_SI_LIFE_TIME_VALUE, field_get(data, SI_LIFE_TIME_VALUE));
	field_set(ret_data, OPA_SI_PORT_STATE_CHANGE,
	          field_get(data, SI_PORT_STATE_CHANGE));
	field_set(ret_data, OPA_SI_ROUTING_MODE_ENABLED, 1); /* linear */
	return E_OK;
}

void opa_sm_info_encode(const uint8_t info[64], uint8_t ret_data[OPA_BYTES_SM_INFO])
{
	uint64_t priority = field_get(info, SMI_PRIORITY);

	memset(ret_data, 0, OPA_BYTES_SM_INFO);
	field_set(ret_data, OPA_SMI_GUID, field_get(info, SMI_GUID));
	field_set(ret_data, OPA_SMI_SM_KEY, field_get(info, SMI_SM_KEY));
	field_set(ret_data, OPA_SMI_ACT_COUNT, field_get(info, SMI_ACT_COUNT));
	field_set(ret_data, OPA_SMI_PRIORITY, priority);
	field_set(ret_data, OPA_SMI_INITIAL_PRIORITY, priority);
	field_set(ret_data, OPA_SMI_SM_STATE, field_get(info, SMI_SM_STATE));
}

static int encode_sm_info(const uint8_t *data, const uint8_t *basis, uint8_t *ret_data)
{
	(void)basis;
	opa_sm_info_encode(data, ret_data);
	return E_OK;
}

static void decode_sm_info(const uint8_t *data, uint8_t *ret_data)
{
	field_set(ret_data, SMI_GUID, field_get(data, OPA_SMI_GUID));
	field_set(ret_data, SMI_SM_KEY, field_get(data, OPA_SMI_SM_KEY));
	field_set(ret_data, SMI_ACT_COUNT, field_get(data, OPA_SMI_ACT_COUNT));
	field_set(ret_data, SMI_PRIORITY, field_get(data, OPA_SMI_PRIORITY));
	field_set(ret_data, SMI_SM_STATE, field_get(data, OPA_SMI_SM_STATE));
}

/* --- blocks that are alike -------------------------------------------------------------- */

static int encode_block(const uint8_t *data, const uint8_t *basis, uint8_t *ret_block)
{
	(void)basis;
	memcpy(ret_block, data, OPA_BYTES_BLOCK);
	return E_OK;
}

static void decode_block(const uint8_t *data, uint8_t *ret_block)
{
	memcpy(ret_block, data, OPA_BYTES_BLOCK);
}

/* --- modifiers -------------------------------------------------------------------------- */

static uint32_t mod_same(uint32_t mod, bool set)
{
	(void)set;
	return mod;
}

/* A Get says that this SM begins to configure the port, which it does with what it reads, unless it only looks. */
static uint32_t mod_port(uint32_t mod, bool set)
{
	enum { PORT = 0xff };
	bool begins = !set && (mod & OPA_PORT_LOOK) == 0;

	return (uint32_t)OPA_MOD_ONE | (begins ? OPA_MOD_BEGIN : 0) | (mod & PORT);
}

/* Port and block of P_Keys stand where InfiniBand has them; so does the block of an LFT. Multicast tables
 * are a kind of their own (sa/sm/table/table_kinds.def). */
static uint32_t mod_block(uint32_t mod, bool set)
{
	enum { PORT_AND_BLOCK = 0xffffff };

	(void)set;
	return (uint32_t)OPA_MOD_ONE | (mod & PORT_AND_BLOCK);
}

/* Address and port stand where the kind has them; all reads have the same length. */
static uint32_t mod_cable(uint32_t mod, bool set)
{
	(void)set;
	return mod | OPA_MOD_CABLE_64;
}

/* --- attributes ------------------------------------------------------------------------- */

static const struct row {
	uint16_t attr;
	uint8_t bytes;
	bool asks_with_data; /* also a Get has it */
	uint8_t joins;       /* enum opa_joins */
	uint32_t (*mod)(uint32_t mod, bool set);
	int (*encode)(const uint8_t *data, const uint8_t *basis,
	              uint8_t *ret_data); /* NULL: no Set */
	void (*decode)(const uint8_t *data, uint8_t *ret_data);
} rows[] = {
	/* clang-format off */
	{ UMAD_SM_ATTR_NODE_DESC,   OPA_BYTES_BLOCK,       false, OPA_JOINS_AGGREGATE, mod_same,  NULL,               decode_block },
	{ UMAD_SM_ATTR_NODE_INFO,   OPA_BYTES_NODE_INFO,   false, OPA_JOINS_NOTHING, mod_same,  NULL,               decode_node_info },
	{ UMAD_SM_ATTR_SWITCH_INFO, OPA_BYTES_SWITCH_INFO, false, OPA_JOINS_AGGREGATE, mod_same,  encode_switch_info, decode_switch_info },
	{ UMAD_SM_ATTR_PORT_INFO,   OPA_BYTES_PORT_INFO,   false, OPA_JOINS_AGGREGATE, mod_port,  encode_port_info,   decode_port_info },
	{ UMAD_SM_ATTR_PKEY_TABLE,  OPA_BYTES_BLOCK,       false, OPA_JOINS_AGGREGATE, mod_block, encode_block,       decode_block },
	{ UMAD_SM_ATTR_LINEAR_FT,   OPA_BYTES_BLOCK,       false, OPA_JOINS_RUN, mod_block, encode_block,       decode_block },
	{ UMAD_SM_ATTR_MCAST_FT,    OPA_BYTES_BLOCK,       false, OPA_JOINS_RUN, mod_block, encode_block,       decode_block },
	{ OPA_ATTR_CABLE_INFO,      OPA_BYTES_BLOCK,       false, OPA_JOINS_NOTHING, mod_cable, NULL,               decode_block },
	{ UMAD_SM_ATTR_SM_INFO,     OPA_BYTES_SM_INFO,     true,  OPA_JOINS_NOTHING, mod_same,  encode_sm_info,     decode_sm_info },
	{ OPA_ATTR_PORT_GROUP_FT,   OPA_BYTES_BLOCK,       false, OPA_JOINS_NOTHING, mod_block, encode_block,       decode_block },
	{ OPA_ATTR_PORT_GROUP_TABLE, OPA_BYTES_BLOCK,      false, OPA_JOINS_NOTHING, mod_block, encode_block,       decode_block },
	/* clang-format on */
};

static const struct row *row_of(uint16_t attr)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].attr == attr) {
			return &rows[i];
		}
	}
	return NULL;
}

enum opa_joins opa_smp_joins(bool set, uint16_t attr, uint32_t mod, size_t *ret_bytes)
{
	enum { PORT = 0xff };
	const struct row *row = row_of(attr);

	if (row == NULL || (set && attr == UMAD_SM_ATTR_PORT_INFO && (mod & PORT) == 0)) {
		return OPA_JOINS_NOTHING;
	}
	*ret_bytes = row->bytes;
	return (enum opa_joins)row->joins;
}

int opa_smp_encode(bool set, uint16_t attr, uint32_t mod, const uint8_t *data,
                   const uint8_t *basis, struct opa_smp *ret_smp)
{
	const struct row *row = row_of(attr);

	if (row == NULL || (set && row->encode == NULL)) {
		return E_UNKNOWN;
	}
	ret_smp->attr = attr;
	ret_smp->mod = row->mod(mod, set);
	ret_smp->len = set || row->asks_with_data ? row->bytes : 0;
	return ret_smp->len != 0 ? row->encode(data, basis, ret_smp->data) : E_OK;
}

int opa_smp_decode(uint16_t attr, const uint8_t *data, size_t len, uint8_t ret_data[64])
{
	const struct row *row = row_of(attr);

	if (row == NULL) {
		return E_UNKNOWN;
	}
	if (len < row->bytes) {
		return E_MALFORMED;
	}
	memset(ret_data, 0, IB_BYTES);
	row->decode(data, ret_data);
	return E_OK;
}

/* --- Notice ----------------------------------------------------------------------------- */

/* The LIDs that the details name. */
static void decode_lids(const uint8_t *n, unsigned number, uint8_t *ret_notice)
{
	uint32_t issuer = (uint32_t)field_get(n, OPA_NTC_ISSUER_LID);

	switch (number) {
	case UMAD_SM_BAD_SWITCH_PKEY_TRAP:
		notice_put_lids(ret_notice, issuer,
		                (uint32_t)field_get(n, OPA_NTC_259_LID_1),
		                (uint32_t)field_get(n, OPA_NTC_259_LID_2));
		break;
	case UMAD_SM_BAD_PKEY_TRAP:
	case UMAD_SM_BAD_QKEY_TRAP:
		notice_put_lids(ret_notice, issuer,
		                (uint32_t)field_get(n, OPA_NTC_257_LID_1),
		                (uint32_t)field_get(n, OPA_NTC_257_LID_2));
		break;
	case UMAD_SM_SYS_IMG_GUID_CHANGED_TRAP:
		notice_put_lids(ret_notice, issuer,
		                (uint32_t)field_get(n, OPA_NTC_145_LID), 0);
		break;
	default:
		notice_put_lids(ret_notice, issuer, (uint32_t)field_get(n, OPA_NTC_LID),
		                0);
		break;
	}
}

static void decode_changes(const uint8_t *n, uint8_t *ret_data)
{
	enum { WIDTH_SPEED_AND_DESCRIPTION = 7 };
	uint64_t flags =
		field_get(n, OPA_NTC_144_CHANGE_FLAGS) & WIDTH_SPEED_AND_DESCRIPTION;

	field_set(ret_data, NTC_144_CAPABILITY_MASK,
	          field_get(n, OPA_NTC_144_CAPABILITY_MASK));
	field_set(ret_data, NTC_144_OTHER_CHANGES, flags != 0);
	field_set(ret_data, NTC_144_CHANGE_FLAGS, flags);
}

void opa_notice_decode(const uint8_t notice[OPA_BYTES_NOTICE], uint8_t ret_notice[64])
{
	unsigned number = (unsigned)field_get(notice, OPA_NTC_TRAP_NUMBER);
	bool generic = notice[0] >> 7;

	memset(ret_notice, 0, IB_BYTES);
	field_set(ret_notice, 0, 32, field_get(notice, OPA_NTC_HEAD));
	if (generic && number == OPA_TRAP_WIDTH) {
		bool by_switch =
			field_get(ret_notice, NTC_PRODUCER_TYPE) == NODE_IS_SWITCH;

		number = by_switch ? UMAD_SM_LINK_STATE_CHANGED_TRAP
		                   : UMAD_SM_LOCAL_CHANGES_TRAP;
	}
	field_set(ret_notice, NTC_TRAP_NUMBER, number);
	decode_lids(notice, generic ? number : 0, ret_notice);
	if (!generic) {
		return;
	}
	switch (number) {
	case UMAD_SM_LINK_INTEGRITY_THRESHOLD_TRAP:
	case UMAD_SM_BUFFER_OVERRUN_THRESHOLD_TRAP:
	case UMAD_SM_WATCHDOG_TIMER_EXPIRED_TRAP:
		field_set(ret_notice, NTC_129_PORT, field_get(notice, OPA_NTC_129_PORT));
		break;
	case UMAD_SM_LOCAL_CHANGES_TRAP:
		if (field_get(notice, OPA_NTC_TRAP_NUMBER) == number) {
			decode_changes(notice, ret_notice);
		}
		break;
	case UMAD_SM_BAD_PKEY_TRAP:
	case UMAD_SM_BAD_QKEY_TRAP:
		field_set(ret_notice, NTC_257_KEY, field_get(notice, OPA_NTC_257_KEY));
		break;
	case UMAD_SM_BAD_SWITCH_PKEY_TRAP:
		field_set(ret_notice, NTC_259_P_KEY,
		          field_get(notice, OPA_NTC_259_P_KEY));
		field_set(ret_notice, NTC_259_SW_LID,
		          opa_lid_shape((uint32_t)field_get(notice, OPA_NTC_ISSUER_LID)));
		break;
	default: break;
	}
}

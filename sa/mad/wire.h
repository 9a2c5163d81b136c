/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <infiniband/umad_sa.h>
#include <infiniband/umad_types.h>

/*!
 * SA MADs on the wire: struct umad_sa_packet is the header (24 bytes MAD, 12 RMPP, 20 SA)
 * with the first 200 bytes of data. Only this file and sa/mad/fields.h convert byte order.
 */
enum {
	SA_HDR_BYTES = 56,     /*!< offset of the records */
	SA_MAD_BYTES = 256,    /*!< a MAD without RMPP segments */
	SA_REQUEST_BYTES = 576, /*!< bytes of a request that are read: header and widest record */
	SA_OPA_VERSION = 0x80, /*!< BaseVersion and ClassVersion of Omni-Path's layouts */
	SA_RMPP_TYPE_DATA = 1, /*!< RMPPType (IBA vol. 1, 13.6.2.1) */
	SA_STATUS_SHIFT = 8    /*!< UMAD_SA_STATUS_* are the class-specific upper byte */
};

_Static_assert(sizeof(struct umad_hdr) == 24, "MAD header");
_Static_assert(sizeof(struct umad_rmpp_hdr) == 12, "RMPP header");
_Static_assert(sizeof(struct umad_sa_packet) == SA_MAD_BYTES, "SA MAD");
_Static_assert(offsetof(struct umad_sa_packet, sm_key) == 36, "SM_Key");
_Static_assert(offsetof(struct umad_sa_packet, attr_offset) == 44, "AttributeOffset");
_Static_assert(offsetof(struct umad_sa_packet, comp_mask) == 48, "ComponentMask");
_Static_assert(offsetof(struct umad_sa_packet, data) == SA_HDR_BYTES, "SA data");

/*! PathRecord (IBA vol. 1, 15.2.5.16). */
struct wire_path_record {
	__be64 service_id;
	__be64 dgid_prefix, dgid_guid;
	__be64 sgid_prefix, sgid_guid;
	__be16 dlid, slid;
	__be32 raw_flow_hop; /*!< RawTraffic 1, reserved 3, FlowLabel 20, HopLimit 8 */
	uint8_t t_class;
	uint8_t reversible_numb_path; /*!< 1, 7 */
	__be16 p_key;
	__be16 qos_class_sl; /*!< 12, 4 */
	uint8_t mtu, rate, packet_life_time; /*!< selector 2, value 6 */
	uint8_t preference;
	uint8_t reserved[6];
};

_Static_assert(sizeof(struct wire_path_record) == 64, "PathRecord");
_Static_assert(offsetof(struct wire_path_record, dlid) == 40, "PathRecord.DLID");
_Static_assert(offsetof(struct wire_path_record, p_key) == 50, "PathRecord.P_Key");
_Static_assert(offsetof(struct wire_path_record, mtu) == 54, "PathRecord.Mtu");

/* Attributes that Omni-Path's subnet administration has and umad_sa.h does not name. */
enum {
	SA_OPA_ATTR_SC_TO_SC = 0x13, /* instead of SLtoVLMappingTableRecord */
	SA_OPA_ATTR_SL_TO_SC = 0x80,
	SA_OPA_ATTR_SC_TO_SL = 0x81,
	SA_OPA_ATTR_SC_TO_VL_NT = 0x82,
	SA_OPA_ATTR_SC_TO_VL_T = 0x83,
	SA_OPA_ATTR_SC_TO_VL_R = 0x84,
	SA_OPA_ATTR_PORT_GROUP_FT = 0x85,
	SA_OPA_ATTR_CABLE_INFO = 0x88,
	SA_OPA_ATTR_VF_INFO = 0x89,
	SA_OPA_ATTR_PORT_GROUP_TABLE = 0x8b,
	SA_OPA_ATTR_BUFFER_CONTROL = 0x8c,
	SA_OPA_ATTR_FABRIC_INFO = 0x8d,
	SA_OPA_ATTR_QUARANTINED_NODE = 0x90,
	SA_OPA_ATTR_CONGESTION_INFO = 0x91,
	SA_OPA_ATTR_SWITCH_CONGESTION = 0x92,
	SA_OPA_ATTR_PORT_CONGESTION = 0x93,
	SA_OPA_ATTR_HFI_CONGESTION = 0x94,
	SA_OPA_ATTR_HFI_CONGESTION_CONTROL = 0x95,
	SA_OPA_ATTR_GROUP_MEMBER = 0x9b,
	SA_OPA_ATTR_GROUP_NAME = 0x9c,
	SA_OPA_ATTR_DEVICE_TREE = 0x9d,
	SA_OPA_ATTR_SWITCH_COST = 0xa3
};

/* Bits of ClassPortInfo:CapabilityMask2 of the SA that umad_sa.h does not name: send-only full
 * members of multicast groups, and the codes of PathRecord.Rate that a client may get. */
enum {
	UMAD_SA_CAP_MASK2_IS_SEND_ONLY_FULL_MEMBER_SUP = 1 << 12,
	UMAD_SA_CAP_MASK2_IS_LINK_WIDTH_2X_SUP = 1 << 13,
	UMAD_SA_CAP_MASK2_IS_LINK_SPEED_HDR_SUP = 1 << 15,
	UMAD_SA_CAP_MASK2_IS_LINK_SPEED_NDR_SUP = 1 << 17,
	UMAD_SA_CAP_MASK2_IS_LINK_SPEED_XDR_SUP = 1 << 20
};

/* clang-format off */
/* QuarantinedNodeRecord of the SA: where a node was seen, what it says it is, why it is refused */
#define OPA_QN_LID                   0, 32
#define OPA_QN_PORT_NUM             32,  8
#define OPA_QN_NODE_GUID            64, 64
#define OPA_QN_NEIGHBOR_NODE_GUID  128, 64
#define OPA_QN_REASONS            1056, 32
#define OPA_QN_EXPECTED_NODE_GUID 1600, 64
/* clang-format on */

enum {
	OPA_BYTES_QUARANTINED = 216,
	OPA_QN_DESCRIPTION_AT = 24,
	OPA_QN_NODE_INFO_AT = 88,
	OPA_QN_EXPECTED_DESCRIPTION_AT = 136
};

/*! Bits of its reasons; 0: another one. */
enum {
	OPA_QN_SPOOFING = 0x1,
	OPA_QN_VLS = 0x20,
	OPA_QN_MTU = 0x40,
	OPA_QN_FORMATS = 0x80,
	OPA_QN_LIDS = 0x100
};

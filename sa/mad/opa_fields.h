/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*!
 * Attributes of class version 0x80 as "bit, width" for field_get() of sa/mad/fields.h. Bits are
 * counted from the first of the attribute, as in InfiniBand's tables.
 *
 * Source: the public headers of opa-fm (stl_sm_types.h, stl_mad_types.h).
 */
enum {
	OPA_MAD_MOST = 2048,
	OPA_CLASS_VERSION = 0x80, /*!< and BaseVersion */
	OPA_LR_DATA = 32,         /*!< offset of the data of an SMP by LID */
	OPA_DR_DATA = 176,        /*!< and over a directed route */
	OPA_DR_INITIAL_PATH = 40,
	OPA_DR_RETURN_PATH = 104,
	OPA_DATA_MAX = OPA_MAD_MOST - OPA_DR_DATA, /*!< that fits both */
	OPA_SENT_LEAST = 36,  /*!< a device of Linux takes no shorter MAD */
	OPA_LID_END = 0xC000, /*!< LIDs that fit InfiniBand's shape are below */
	OPA_UNICAST_END = 0xF00000, /*!< of the LIDs of 24 bits */
	OPA_LANES = 32,       /*!< VLs, SCs and SLs that fields have room for */
	OPA_VL_MANAGEMENT = 15,
	OPA_P_KEY_MEMBER = 0x7FFF,  /*!< each adapter has it, or it is not reached */
	OPA_P_KEY_MANAGER = 0xFFFF, /*!< SMPs are sent with it */
	OPA_MEMBER_INDEX = 1,       /*!< where fabric managers put these two */
	OPA_MANAGER_INDEX = 2,
	OPA_MLID_MOST = 0x3fe0,    /*!< MLIDs of 16 bits, in whole blocks of InfiniBand */
	OPA_MFT_MLIDS = 8,         /*!< masks of a block of multicast tables */
	OPA_MFT_PORTS = 64,        /*!< of a mask */
	OPA_GROUPS_OF_BLOCK = 8,   /*!< masks of a block of port group tables */
	OPA_GROUP_PORTS = 64,      /*!< of a mask; the lowest bit is port 1 */
	OPA_GROUP_FDB_CAP = 8192,  /*!< LIDs of a port group forwarding table that says 0 */
	OPA_PORT_STATES_BYTES = 8, /*!< of PortStateInfo, for each port */
	OPA_PORT_STATES_MAX = OPA_DATA_MAX / OPA_PORT_STATES_BYTES
};

enum opa_bytes {
	OPA_BYTES_NOTICE = 96,
	OPA_BYTES_NODE_INFO = 44,
	OPA_BYTES_SWITCH_INFO = 84,
	OPA_BYTES_PORT_INFO = 242,
	OPA_BYTES_SM_INFO = 26,
	OPA_BYTES_BLOCK = 64
};

/*! An Aggregate: several attributes in one MAD, each behind a header (OPA_AG_*). */
enum {
	OPA_AG_HEADER = 8,
	OPA_AG_UNIT = 8,     /*!< of its length */
	OPA_AG_MOST = 117,   /*!< attributes */
	OPA_BLOCKS_MOST = 29 /*!< of 64 bytes, of a table in one MAD */
};

/*! Attributes that InfiniBand does not have, or has with another layout. */
enum {
	OPA_ATTR_SL_TO_SC = 0x17,
	OPA_ATTR_VL_ARB = 0x18,
	OPA_ATTR_CABLE_INFO = 0x32,
	OPA_ATTR_AGGREGATE = 0x80,
	OPA_ATTR_SC_TO_SC = 0x81,
	OPA_ATTR_SC_TO_SL = 0x82,
	OPA_ATTR_SC_TO_VL_R = 0x83,
	OPA_ATTR_SC_TO_VL_T = 0x84,
	OPA_ATTR_SC_TO_VL_NT = 0x85,
	OPA_ATTR_PORT_STATE_INFO = 0x87,
	OPA_ATTR_PORT_GROUP_FT = 0x88,
	OPA_ATTR_PORT_GROUP_TABLE = 0x89,
	OPA_ATTR_BUFFER_CONTROL = 0x8A,
	OPA_ATTR_CONGESTION_INFO = 0x8B,
	OPA_ATTR_SWITCH_CONGESTION = 0x8D,
	OPA_ATTR_PORT_CONGESTION = 0x8E,
	OPA_ATTR_HFI_CONGESTION = 0x90,
	OPA_ATTR_HFI_CONTROL_TABLE = 0x91,
	OPA_ATTR_SC_TO_SC_SET = 0x94
};

/*! Tables of ports, in bytes. */
enum {
	OPA_BYTES_MAP = 32,     /*!< a byte for each SL or SC */
	OPA_BYTES_VL_ARB = 256, /*!< 128 pairs of a VL and a weight */
	OPA_BYTES_BUFFER_CONTROL = 132,
	OPA_BYTES_CONGESTION_INFO = 4,
	OPA_BYTES_SWITCH_CONGESTION = 76,
	OPA_BYTES_PORT_CONGESTION = 4, /*!< of one port */
	OPA_BYTES_HFI_CONGESTION = 198,
	OPA_BYTES_CONTROL_TABLE =
		130, /*!< of congestion control: one block, and CCTI_Limit before it */
	OPA_BYTES_SC_SET = 96 /*!< masks of ports in and out of 256 bits, and a map */
};

/*! AttributeModifier. */
enum {
	OPA_MOD_ONE = 1 << 24, /*!< one port or block */
	OPA_MOD_COUNT_SHIFT = 24,
	OPA_MOD_BEGIN = 1 << 9,      /*!< this SM begins to configure the port */
	OPA_MOD_SC_ALL_IN = 1 << 17, /*!< SCtoSC: all ports by which packets come in */
	OPA_MOD_SC_ALL_OUT = 1 << 16,
	OPA_MOD_CABLE_64 = 63 << 13 /*!< of CableInfo: 64 bytes */
};

#define OPA_MLID_FIRST UINT32_C(0xF0000000)

/*! PortInfo.LinkSpeed and LinkWidth. */
enum {
	OPA_LINK_12G = 1,
	OPA_LINK_25G = 2,
	OPA_LINK_50G = 4,
	OPA_LINK_100G = 8,
	OPA_LINK_1X = 1,
	OPA_LINK_2X = 2,
	OPA_LINK_3X = 4,
	OPA_LINK_4X = 8
};

/* clang-format off */
/* an SMP over a directed route, in the whole MAD */
#define OPA_DR_SLID                256, 32
#define OPA_DR_DLID                288, 32

/* CongestionInfo */
#define OPA_CI_FLAGS                 0, 16
#define OPA_CI_CONTROL_TABLE_CAP    16,  8 /* blocks */
#define OPA_CI_LOG_LENGTH           24,  8 /* events */

/* SwitchCongestionSetting; masks have a bit for each port, port 0 the lowest of the last byte */
enum { OPA_SCS_VICTIM_MASK_AT = 4 };
#define OPA_SCS_CONTROL_MAP          0, 32
#define OPA_SCS_VICTIM_MASK         32, 256
#define OPA_SCS_CREDIT_MASK        288, 256
#define OPA_SCS_THRESHOLD          544,  4
#define OPA_SCS_PACKET_SIZE        552,  8
#define OPA_SCS_CS_THRESHOLD       560,  4 /* credit starvation */
#define OPA_SCS_CS_RETURN_DELAY    576, 16
#define OPA_SCS_MARKING_RATE       592, 16

/* SwitchPortCongestionSetting: what is there for each port */
#define OPA_PCS_VALID                0,  1
#define OPA_PCS_CONTROL_TYPE         1,  1 /* 1: credit starvation */
#define OPA_PCS_THRESHOLD            4,  4
#define OPA_PCS_PACKET_SIZE          8,  8
#define OPA_PCS_MARKING_RATE        16, 16

/* HFICongestionSetting; what follows from byte 6 on is there for each SL */
enum { OPA_HCS_ENTRIES_AT = 6, OPA_HCS_ENTRY_BYTES = 6 };
#define OPA_HCS_CONTROL_MAP          0, 32
#define OPA_HCS_PORT_CONTROL        32, 16
#define OPA_HCE_INCREASE             0,  8
#define OPA_HCE_TIMER               16, 16
#define OPA_HCE_TRIGGER             32,  8
#define OPA_HCE_MIN                 40,  8

/* HFICongestionControlTable, one block; an entry has a shift in bits 15:14 and a multiplier below */
enum { OPA_CCT_ENTRIES_AT = 2, OPA_CCT_ENTRIES = 64 };
#define OPA_CCT_LIMIT                0, 16
#define OPA_CCT_ENTRY                0, 16

/* the header of an attribute in an Aggregate */
#define OPA_AG_ATTRIBUTE             0, 16
#define OPA_AG_ERROR                16,  1
#define OPA_AG_LENGTH               25,  7
#define OPA_AG_MODIFIER             32, 32

/* NodeInfo */
#define OPA_NI_BASE_VERSION          0,  8
#define OPA_NI_CLASS_VERSION         8,  8
#define OPA_NI_NODE_TYPE            16,  8
#define OPA_NI_NUM_PORTS            24,  8
#define OPA_NI_SYSTEM_IMAGE_GUID    64, 64
#define OPA_NI_NODE_GUID           128, 64
#define OPA_NI_PORT_GUID           192, 64
#define OPA_NI_PARTITION_CAP       256, 16
#define OPA_NI_DEVICE_ID           272, 16
#define OPA_NI_REVISION            288, 32
#define OPA_NI_LOCAL_PORT_NUM      320,  8
#define OPA_NI_VENDOR_ID           328, 24

/* SwitchInfo */
#define OPA_SI_LINEAR_FDB_CAP        0, 32
#define OPA_SI_PORT_GROUP_FDB_CAP   32, 32
#define OPA_SI_MULTICAST_FDB_CAP    64, 32
#define OPA_SI_LINEAR_FDB_TOP       96, 32
#define OPA_SI_MULTICAST_FDB_TOP   128, 32
#define OPA_SI_LIFE_TIME_VALUE     536,  5
#define OPA_SI_PORT_STATE_CHANGE   541,  1
#define OPA_SI_PARTITION_ENFORCEMENT_CAP 560, 16
#define OPA_SI_PORT_GROUP_CAP      576,  8
#define OPA_SI_PORT_GROUP_TOP      584,  8
#define OPA_SI_ROUTING_MODE_ENABLED 600, 8
#define OPA_SI_ENHANCED_PORT_0     612,  1
#define OPA_SI_AR_ENABLE           624,  1
#define OPA_SI_AR_PAUSE            625,  1
#define OPA_SI_AR_ALGORITHM        626,  3
#define OPA_SI_AR_FREQUENCY        629,  3
#define OPA_SI_AR_LOST_ROUTES_ONLY 632,  1
#define OPA_SI_AR_THRESHOLD        633,  3
#define OPA_SI_EXTENDED_SC_SC      652,  1
#define OPA_SI_IS_AR_SUPPORTED     655,  1

/* PortInfo */
#define OPA_PI_LID                   0, 32
#define OPA_PI_VL_CAP               75,  5
#define OPA_PI_VL_HIGH_LIMIT        80, 16
#define OPA_PI_VL_ARB_HIGH_CAP     112,  8
#define OPA_PI_VL_ARB_LOW_CAP      120,  8
#define OPA_PI_PORT_STATES         128, 32
#define OPA_PI_IS_SM_CONFIGURATION_STARTED 138, 1
#define OPA_PI_NEIGHBOR_NORMAL     139,  1
#define OPA_PI_PORT_PHYSICAL_STATE 152,  4
#define OPA_PI_PORT_STATE          156,  4
#define OPA_PI_PORT_TYPE           164,  4
#define OPA_PI_M_KEY_PROTECT_BITS  176,  2
#define OPA_PI_LMC                 180,  4
#define OPA_PI_MASTER_SM_SL        187,  5
#define OPA_PI_LINK_INIT_REASON    192,  4
#define OPA_PI_PARTITION_ENFORCEMENT_INBOUND  196, 1
#define OPA_PI_PARTITION_ENFORCEMENT_OUTBOUND 197, 1
#define OPA_PI_OPERATIONAL_VLS     203,  5
#define OPA_PI_M_KEY_VIOLATIONS    240, 16
#define OPA_PI_P_KEY_VIOLATIONS    256, 16
#define OPA_PI_Q_KEY_VIOLATIONS    272, 16
#define OPA_PI_SA_QP               320, 32
#define OPA_PI_NEIGHBOR_PORT_NUM   352,  8
#define OPA_PI_LINK_DOWN_REASON    360,  8
#define OPA_PI_NEIGHBOR_LINK_DOWN_REASON 368, 8
#define OPA_PI_CLIENT_REREGISTER   376,  1
#define OPA_PI_MCAST_PKEY_TRAP_SUPPRESSION 377, 2
#define OPA_PI_SUBNET_TIMEOUT      379,  5
#define OPA_PI_LINK_SPEED_SUPPORTED 384, 16
#define OPA_PI_LINK_SPEED_ENABLED  400, 16
#define OPA_PI_LINK_SPEED_ACTIVE   416, 16
#define OPA_PI_LINK_WIDTH_SUPPORTED 432, 16
#define OPA_PI_LINK_WIDTH_ENABLED  448, 16
#define OPA_PI_LINK_WIDTH_ACTIVE   464, 16
#define OPA_PI_WIDTH_DOWNGRADE_SUPPORTED 480, 16
#define OPA_PI_WIDTH_DOWNGRADE_ENABLED 496, 16
#define OPA_PI_WIDTH_DOWNGRADE_TX_ACTIVE 512, 16
#define OPA_PI_WIDTH_DOWNGRADE_RX_ACTIVE 528, 16
#define OPA_PI_PORT_LINK_MODE_ENABLED 550, 5
#define OPA_PI_LTP_CRC_ENABLED     568,  4
#define OPA_PI_LTP_CRC_ACTIVE      572,  4
#define OPA_PI_PACKET_FORMATS_SUPPORTED 592, 16
#define OPA_PI_PACKET_FORMATS_ENABLED 608, 16
#define OPA_PI_MAX_LID             704, 32
#define OPA_PI_PORT_ERROR_ACTION   736, 32
#define OPA_PI_M_KEY_LEASE_PERIOD  784, 16
#define OPA_PI_VL15_CREDIT_RATE    821,  5
#define OPA_PI_BUFFER_ALLOC        829,  3
#define OPA_PI_MASTER_SM_LID       864, 32
#define OPA_PI_M_KEY               896, 64
#define OPA_PI_SUBNET_PREFIX       960, 64
#define OPA_PI_NEIGHBOR_MTU(vl)   1024 + 4 * (vl), 4
#define OPA_PI_VL_STALL_COUNT(vl) 1152 + 8 * (vl), 3
#define OPA_PI_HOQ_LIFE(vl)       1155 + 8 * (vl), 5
#define OPA_PI_NEIGHBOR_NODE_GUID 1664, 64
#define OPA_PI_CAPABILITY_MASK    1728, 32
#define OPA_PI_HAS_MAX_LID        1779,  1
#define OPA_PI_VL_SCHEDULING      1782,  2
#define OPA_PI_SHARED_SPACE       1788,  1
#define OPA_PI_HAS_VL_R           1791,  1
#define OPA_PI_OVERALL_BUFFER_SPACE 1824, 16
#define OPA_PI_REPLAY_BUFFER_HIGH 1840,  8
#define OPA_PI_REPLAY_WIRE_HIGH   1848,  8
#define OPA_PI_DIAG_CODE          1856, 16
#define OPA_PI_REPLAY_BUFFER      1872,  8
#define OPA_PI_REPLAY_WIRE        1880,  8
#define OPA_PI_MGMT_ALLOWED       1892,  1
#define OPA_PI_NEIGHBOR_FW_AUTH_BYPASS 1893, 1
#define OPA_PI_NEIGHBOR_NODE_TYPE 1894,  2
#define OPA_PI_NEIGHBOR_IS_SWITCH 1895,  1
#define OPA_PI_MTU_CAP            1900,  4
#define OPA_PI_RESP_TIME_VALUE    1907,  5
#define OPA_PI_LOCAL_PORT_NUM     1912,  8

/* SMInfo */
#define OPA_SMI_GUID                 0, 64
#define OPA_SMI_SM_KEY              64, 64
#define OPA_SMI_ACT_COUNT          128, 32
#define OPA_SMI_PRIORITY           192,  4
#define OPA_SMI_INITIAL_PRIORITY   200,  4
#define OPA_SMI_SM_STATE           204,  4

/* BufferControl, of each port */
#define OPA_BC_SHARED_LIMIT         16, 16
#define OPA_BC_DEDICATED(vl)      32 + 32 * (vl), 16
#define OPA_BC_SHARED(vl)         48 + 32 * (vl), 16

/* PortStateInfo, of each port */
#define OPA_PS_PORT_PHYSICAL_STATE  24,  4
#define OPA_PS_PORT_STATE           28,  4
#define OPA_PS_PORT_STATES           0, 32

/* Notice, and the details of its traps */
#define OPA_NTC_HEAD                 0, 32 /* IsGeneric, type, producer */
#define OPA_NTC_TRAP_NUMBER         32, 16
#define OPA_NTC_TOGGLE_COUNT        48, 16
#define OPA_NTC_ISSUER_LID          64, 32
#define OPA_NTC_LID                256, 32 /* of traps 128 to 131 and 144; LID1 of 257 to 259 is elsewhere in the last */
#define OPA_NTC_145_LID            320, 32
#define OPA_NTC_129_PORT           288,  8
#define OPA_NTC_144_CAPABILITY_MASK 288, 32
#define OPA_NTC_144_CHANGE_FLAGS   352, 16
#define OPA_NTC_257_LID_1          256, 32
#define OPA_NTC_257_LID_2          288, 32
#define OPA_NTC_257_KEY            320, 32
#define OPA_NTC_259_P_KEY          272, 16
#define OPA_NTC_259_LID_1          288, 32
#define OPA_NTC_259_LID_2          320, 32
/* clang-format on */

/*! \brief An MTU of Omni-Path in bytes: codes 1 to 5 as InfiniBand has them, 6 and 7 are 8192 and 10240. 0: none. */
static inline unsigned opa_mtu_bytes(unsigned code)
{
	enum { CODE_10240 = 7 };

	return code == CODE_10240 ? 10240 : code == 0 ? 0 : 128U << code;
}

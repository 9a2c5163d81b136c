/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

/*!
 * Omni-Path's attributes as "bit, width" pairs for field_get() of sa/mad/fields.h. Offsets are those of
 * the public headers of opa-fm (stl_sm_types.h, stl_mad_types.h, stl_pm.h), which are under a BSD licence.
 */

enum {
	OPA_MAD_BYTES = 2048,
	OPA_VERSION = 0x80,  /*!< BaseVersion and ClassVersion */
	OPA_LR_DATA_AT = 32, /*!< data of a LID-routed SMP */
	OPA_DR_DATA_AT = 176,
	OPA_DR_INITIAL_AT = 40, /*!< InitialPath, 64 bytes */
	OPA_DR_RETURN_AT = 104,
	OPA_PM_DATA_AT = 24, /*!< data of a MAD of class PerfMgt */
	OPA_BLOCK_BYTES = 64,
	OPA_MAP_BYTES = 32, /*!< a map of 32 SCs or SLs */
	/* congestion control: a switch's setting, an adapter's, its control table */
	OPA_SWITCH_CONGESTION_BYTES = 76,
	OPA_HFI_CONGESTION_BYTES = 198,
	OPA_CCT_BLOCKS = 31,
	OPA_CCT_BLOCK_BYTES = 128,
	OPA_CCT_BYTES = 2 + OPA_CCT_BLOCKS * OPA_CCT_BLOCK_BYTES,
	OPA_PORT_INFO_BYTES = 242,
	OPA_PORT_INFO_STRIDE = 248,
	OPA_SWITCH_INFO_BYTES = 84,
	OPA_NODE_INFO_BYTES = 44,
	OPA_VL_ARB_BYTES = 256,
	OPA_BUFFER_BYTES = 132,
	OPA_BUFFER_STRIDE = 136,
	OPA_PKEYS = 32,            /*!< of a block */
	OPA_MASKS = 8,             /*!< of a block of port masks */
	OPA_LIDS_END = 0x01000000, /*!< LIDs have 24 bits */
	OPA_MLIDS = 0xF00000       /*!< first multicast LID of 24 bits */
};

/* Attributes of class SM. */
enum {
	OPA_NOTICE = 0x02,
	OPA_NODE_DESCRIPTION = 0x10,
	OPA_NODE_INFO = 0x11,
	OPA_SWITCH_INFO = 0x12,
	OPA_PORT_INFO = 0x15,
	OPA_P_KEY_TABLE = 0x16,
	OPA_SL_TO_SC = 0x17,
	OPA_VL_ARB = 0x18,
	OPA_LFT = 0x19,
	OPA_MFT = 0x1B,
	OPA_SM_INFO = 0x20,
	OPA_LED_INFO = 0x31,
	OPA_CABLE_INFO = 0x32,
	OPA_AGGREGATE = 0x80,
	OPA_SC_TO_SC = 0x81,
	OPA_SC_TO_SL = 0x82,
	OPA_SC_TO_VL_R = 0x83,
	OPA_SC_TO_VL_T = 0x84,
	OPA_SC_TO_VL_NT = 0x85,
	OPA_PORT_STATE_INFO = 0x87,
	OPA_PORT_GROUP_FT = 0x88,
	OPA_PORT_GROUP_TABLE = 0x89,
	OPA_BUFFER_CONTROL = 0x8A,
	OPA_CONGESTION_INFO = 0x8B,
	OPA_SWITCH_CONGESTION_LOG = 0x8C,
	OPA_SWITCH_CONGESTION = 0x8D,
	OPA_PORT_CONGESTION = 0x8E,
	OPA_HFI_CONGESTION_LOG = 0x8F,
	OPA_HFI_CONGESTION = 0x90,
	OPA_HFI_CONGESTION_CONTROL = 0x91,
	OPA_SC_TO_SC_SET = 0x94
};

/* Attributes of class PerfMgt. */
enum {
	OPA_CLASS_PORT_INFO = 0x01,
	OPA_PORT_STATUS = 0x40,
	OPA_CLEAR_PORT_STATUS = 0x41,
	OPA_DATA_COUNTERS = 0x42,
	OPA_ERROR_COUNTERS = 0x43,
	OPA_ERROR_INFO = 0x44
};

/* Bits of an AttributeModifier. */
enum {
	OPA_MOD_START =
		1 << 9,       /*!< the SM starts to configure: PortInfo, PortStateInfo */
	OPA_MOD_ALL = 1 << 8, /*!< all ports from this one on: attributes of ports */
	OPA_MOD_ASYNC = 1 << 12, /*!< SC to VL_t while packets flow */
	OPA_MOD_ALL_BLOCKS = 1 << 18,
	OPA_MOD_ALL_MFT = 1 << 20,
	OPA_MOD_ALL_GROUPS = 1 << 5
};

/* MAD statuses. */
enum {
	OPA_GOOD = 0,
	OPA_BAD_VERSION = 0x04,
	OPA_BAD_METHOD = 0x08,
	OPA_BAD_ATTRIBUTE = 0x0C,
	OPA_BAD_FIELD = 0x1C,
	OPA_TOO_LARGE = 0x100, /*!< class PerfMgt: the answer does not fit */
	OPA_BAD_NUMBER =
		0x200, /*!< class PerfMgt: N is not the number of ports in the mask */
	OPA_DIRECTION = 0x8000
};

/* Methods. */
enum {
	OPA_GET = 1,
	OPA_SET = 2,
	OPA_TRAP = 5,
	OPA_TRAP_REPRESS = 7,
	OPA_GET_RESP = 0x81
};

/* Values of PortInfo. */
enum {
	OPA_DOWN = 1,
	OPA_INIT,
	OPA_ARMED,
	OPA_ACTIVE,
	OPA_PHYS_POLLING = 2,
	OPA_PHYS_DISABLED = 3,
	OPA_PHYS_LINK_UP = 5,
	OPA_PHYS_OFFLINE = 9,
	OPA_PHYS_TEST = 11,
	OPA_SPEED_12G = 1,
	OPA_SPEED_25G = 2,
	OPA_SPEED_50G = 4,
	OPA_SPEED_100G = 8,
	OPA_WIDTH_4X = 8,
	OPA_WIDTHS = 15,
	OPA_MTU_2048 = 4,
	OPA_MTU_10240 = 7,
	OPA_REASON_NEIGHBOR = 36,  /*!< LinkDownReason: the neighbour, nobody knows why */
	OPA_REASON_SM_BOUNCE = 39, /*!< the SM took it down, and up again */
	OPA_REASON_DISCONNECTED = 49,
	OPA_REASON_DISABLED = 61,
	OPA_OFFLINE_SM_DISABLED = OPA_REASON_DISABLED & 15, /*!< OfflineDisabledReason */
	OPA_CAP_IS_SM = 1 << 1,
	OPA_CAP3_MAX_LID = 1 << 12,
	OPA_CAP3_ADDR_RANGE = 1 << 5,
	OPA_CAP3_SHARED_SPACE = 1 << 3,
	OPA_CAP3_VL_R = 1 << 0
};

/* clang-format off */
#define OB(byte) (8 * (byte))

#define OPA_SMP_M_KEY        OB(24), 64
#define OPA_SMP_DR_SLID      OB(32), 32
#define OPA_SMP_DR_DLID      OB(36), 32

#define ONI_BASE_VERSION     OB(0),   8
#define ONI_CLASS_VERSION    OB(1),   8
#define ONI_NODE_TYPE        OB(2),   8
#define ONI_NUM_PORTS        OB(3),   8
#define ONI_SYSTEM_IMAGE_GUID OB(8), 64
#define ONI_NODE_GUID        OB(16), 64
#define ONI_PORT_GUID        OB(24), 64
#define ONI_PARTITION_CAP    OB(32), 16
#define ONI_DEVICE_ID        OB(34), 16
#define ONI_REVISION         OB(36), 32
#define ONI_LOCAL_PORT_NUM   OB(40),  8
#define ONI_VENDOR_ID        OB(41), 24

#define OSI_LINEAR_FDB_CAP   OB(0),  32
#define OSI_PORT_GROUP_FDB_CAP OB(4), 32
#define OSI_MULTICAST_FDB_CAP OB(8), 32
#define OSI_LINEAR_FDB_TOP   OB(12), 32
#define OSI_MULTICAST_FDB_TOP OB(16), 32
#define OSI_COLLECTIVE_CAP   OB(20), 32
#define OSI_COLLECTIVE_TOP   OB(24), 32
#define OSI_LIFE_TIME        OB(67),  5
#define OSI_PORT_STATE_CHANGE OB(67) + 5, 1
#define OSI_PARTITION_CAP    OB(70), 16
#define OSI_PORT_GROUP_CAP   OB(72),  8
#define OSI_PORT_GROUP_TOP   OB(73),  8
#define OSI_ROUTING_SUPPORTED OB(74), 8
#define OSI_ROUTING_ENABLED  OB(75),  8
#define OSI_ENHANCED_PORT_0  OB(76) + 4, 1
#define OSI_COLLECTIVE_MASK  OB(77) + 2, 3
#define OSI_MULTICAST_MASK   OB(77) + 5, 3
#define OSI_AR               OB(78), 16
#define OSI_AR_ENABLE        OB(78) + 0, 1
#define OSI_AR_PAUSE         OB(78) + 1, 1
#define OSI_AR_ALGORITHM     OB(78) + 2, 3
#define OSI_AR_FREQUENCY     OB(78) + 5, 3
#define OSI_AR_LOST_ONLY     OB(78) + 8, 1
#define OSI_AR_THRESHOLD     OB(78) + 9, 3
#define OSI_CAPABILITY       OB(80), 16

#define OPI_LID              OB(0),  32
#define OPI_FLOW_CONTROL_MASK OB(4), 32
#define OPI_PREEMPT_CAP      OB(8),   8
#define OPI_VL_CAP           OB(9) + 3, 5
#define OPI_VL_HIGH_LIMIT    OB(10), 16
#define OPI_PREEMPT_LIMIT    OB(12), 16
#define OPI_ARB_HIGH_CAP     OB(14),  8
#define OPI_ARB_LOW_CAP      OB(15),  8
#define OPI_LED              OB(16) + 9, 1
#define OPI_STARTED          OB(16) + 10, 1 /* IsSMConfigurationStarted */
#define OPI_NEIGHBOR_NORMAL  OB(16) + 11, 1
#define OPI_OFFLINE_REASON   OB(16) + 12, 4
#define OPI_PHYSICAL_STATE   OB(19) + 0, 4
#define OPI_STATE            OB(19) + 4, 4
#define OPI_PORT_STATES      OB(16), 32
#define OPI_PORT_TYPE        OB(20) + 4, 4
#define OPI_COLLECTIVE_MASK  OB(21) + 2, 3
#define OPI_MULTICAST_MASK   OB(21) + 5, 3
#define OPI_M_KEY_PROTECT    OB(22) + 0, 2
#define OPI_LMC              OB(22) + 4, 4
#define OPI_MASTER_SM_SL     OB(23) + 3, 5
#define OPI_INIT_REASON      OB(24) + 0, 4
#define OPI_ENFORCE_IN       OB(24) + 4, 1
#define OPI_ENFORCE_OUT      OB(24) + 5, 1
#define OPI_OPERATIONAL_VL   OB(25) + 3, 5
#define OPI_P_KEY_8B         OB(26), 16
#define OPI_P_KEY_10B        OB(28), 16
#define OPI_M_KEY_VIOLATIONS OB(30), 16
#define OPI_P_KEY_VIOLATIONS OB(32), 16
#define OPI_Q_KEY_VIOLATIONS OB(34), 16
#define OPI_SM_TRAP_QP       OB(37), 24
#define OPI_SA_QP            OB(41), 24
#define OPI_NEIGHBOR_PORT    OB(44),  8
#define OPI_DOWN_REASON      OB(45),  8
#define OPI_NEIGHBOR_DOWN_REASON OB(46), 8
#define OPI_CLIENT_REREGISTER OB(47), 1
#define OPI_MC_PKEY_SUPPRESS OB(47) + 1, 2
#define OPI_SUBNET_TIMEOUT   OB(47) + 3, 5
#define OPI_SPEED_SUPPORTED  OB(48), 16
#define OPI_SPEED_ENABLED    OB(50), 16
#define OPI_SPEED_ACTIVE     OB(52), 16
#define OPI_WIDTH_SUPPORTED  OB(54), 16
#define OPI_WIDTH_ENABLED    OB(56), 16
#define OPI_WIDTH_ACTIVE     OB(58), 16
#define OPI_DOWNGRADE_SUPPORTED OB(60), 16
#define OPI_DOWNGRADE_ENABLED OB(62), 16
#define OPI_DOWNGRADE_TX     OB(64), 16
#define OPI_DOWNGRADE_RX     OB(66), 16
#define OPI_LINK_MODE_SUPPORTED OB(68) + 1, 5
#define OPI_LINK_MODE_ENABLED OB(68) + 6, 5
#define OPI_LINK_MODE_ACTIVE OB(68) + 11, 5
#define OPI_CRC_SUPPORTED    OB(70) + 4, 4
#define OPI_CRC_ENABLED      OB(70) + 8, 4
#define OPI_CRC_ACTIVE       OB(70) + 12, 4
#define OPI_PORT_MODE        OB(72), 16
#define OPI_FORMATS_SUPPORTED OB(74), 16
#define OPI_FORMATS_ENABLED  OB(76), 16
#define OPI_INTERLEAVE       OB(78), 16
#define OPI_INTERLEAVE_ENABLED OB(78) + 4, 2
#define OPI_MAX_NEST_RX      OB(78) + 11, 5
#define OPI_MIN_INITIAL      OB(80), 16
#define OPI_MIN_TAIL         OB(82), 16
#define OPI_LARGE_PKT_LIMIT  OB(84),  8
#define OPI_SMALL_PKT_LIMIT  OB(85),  8
#define OPI_MAX_SMALL_PKT_LIMIT OB(86), 8
#define OPI_PREEMPTION_LIMIT OB(87),  8
#define OPI_MAX_LID          OB(88), 32
#define OPI_ERROR_ACTION     OB(92), 32
#define OPI_EGRESS_PORT      OB(96),  8
#define OPI_DR_CONTROL       OB(97),  8
#define OPI_M_KEY_LEASE      OB(98), 16
#define OPI_VL15_INIT        OB(100) + 9, 12
#define OPI_VL15_CREDIT_RATE OB(100) + 21, 5
#define OPI_CREDIT_ACK       OB(100) + 26, 3
#define OPI_BUFFER_ALLOC     OB(100) + 29, 3
#define OPI_MASTER_SM_LID    OB(108), 32
#define OPI_M_KEY            OB(112), 64
#define OPI_SUBNET_PREFIX    OB(120), 64
#define OPI_NEIGHBOR_MTU(vl) OB(128) + 4 * (vl), 4
#define OPI_HOQ_LIFE(vl)     OB(144) + 8 * (vl), 8 /* and VLStallCount */
#define OPI_NEIGHBOR_GUID    OB(208), 64
#define OPI_CAPABILITY       OB(216), 32
#define OPI_CAPABILITY_3     OB(222), 16
#define OPI_BUFFER_SPACE     OB(228), 16
#define OPI_REPLAY_BUFFER_HIGH OB(230), 8
#define OPI_REPLAY_WIRE_HIGH OB(231), 8
#define OPI_DIAG_CODE        OB(232), 16
#define OPI_REPLAY_BUFFER    OB(234), 8
#define OPI_REPLAY_WIRE      OB(235), 8
#define OPI_MGMT_ALLOWED     OB(236) + 4, 1
#define OPI_FW_BYPASS        OB(236) + 5, 1
#define OPI_NEIGHBOR_TYPE    OB(236) + 6, 2
#define OPI_MTU_CAP          OB(237) + 4, 4
#define OPI_RESP_TIME        OB(238) + 3, 5
#define OPI_LOCAL_PORT_NUM   OB(239), 8

/* PortStateInfo, per port */
#define OPS_STATES            OB(0), 32
#define OPS_DOWNGRADE_TX      OB(4), 16
#define OPS_DOWNGRADE_RX      OB(6), 16

/* a segment of Aggregate */
#define OAG_ATTRIBUTE        OB(0), 16
#define OAG_ERROR            OB(2),  1
#define OAG_LENGTH           OB(2) + 9, 7 /* in 8 bytes */
#define OAG_MODIFIER         OB(4), 32

/* Notice */
#define ONT_GENERIC          OB(0),  1
#define ONT_TYPE             OB(0) + 1, 7
#define ONT_PRODUCER         OB(1), 24
#define ONT_NUMBER           OB(4), 16
#define ONT_ISSUER_LID       OB(8), 32
#define ONT_ISSUER_GID       OB(16), 64 /* the prefix; the GUID follows */
#define ONT_ISSUER_GUID      OB(24), 64
#define ONT_LID              OB(32), 32
#define ONT_CAPABILITY       OB(36), 32
#define ONT_CAPABILITY_3     OB(42), 16
#define ONT_CHANGES          OB(44), 16
#define ONT_257_LID_1        OB(32), 32
#define ONT_257_LID_2        OB(36), 32
#define ONT_257_KEY          OB(40), 32
#define ONT_256_METHOD       OB(40),  8
#define ONT_256_ATTRIBUTE    OB(42), 16
#define ONT_256_MODIFIER     OB(44), 32
#define ONT_256_M_KEY        OB(48), 64
/* clang-format on */

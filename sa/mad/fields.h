/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

/*!
 * Bit fields of MAD payloads by (bit offset, width), most significant bit first, as the
 * tables of IBA vol. 1 count them. Only this file and sa/mad/wire.h convert byte order. The
 * macros below expand to "offset, width", so that
 *
 *   field_get(portinfo, PI_LID)
 *
 * reads PortInfo.LID from 64 payload bytes.
 */
uint64_t field_get_any(const uint8_t *payload, unsigned bit,
                       unsigned width); /*!< width 1-64 */

/* Most fields are whole bytes or a part of one at a constant offset. Every MAD is read with them, and a
 * sweep reads some of every port. */
static inline uint64_t field_get(const uint8_t *payload, unsigned bit, unsigned width)
{
	const uint8_t *p = payload + bit / 8;

	if (bit % 8 + width <= 8) {
		return (unsigned)p[0] >> (8 - bit % 8 - width) & ((1U << width) - 1);
	}
	if (bit % 8 == 0 && width == 16) {
		return (uint64_t)p[0] << 8 | p[1];
	}
	if (bit % 8 == 0 && width == 32) {
		return (uint64_t)p[0] << 24 | (uint64_t)p[1] << 16 | (uint64_t)p[2] << 8 |
		       p[3];
	}
	if (bit % 8 == 0 && width == 64) {
		return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 |
		       (uint64_t)p[2] << 40 | (uint64_t)p[3] << 32 |
		       (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 | (uint64_t)p[6] << 8 |
		       p[7];
	}
	return field_get_any(payload, bit, width);
}

void field_set_any(uint8_t *payload, unsigned bit, unsigned width, uint64_t value);

static inline void field_set(uint8_t *payload, unsigned bit, unsigned width,
                             uint64_t value)
{
	uint8_t *p = payload + bit / 8;

	if (bit % 8 + width <= 8) {
		unsigned shift = 8 - bit % 8 - width, mask = (1U << width) - 1;

		p[0] = (uint8_t)((p[0] & ~(mask << shift)) |
		                 ((unsigned)value & mask) << shift);
	} else if (bit % 8 == 0 && width == 16) {
		p[0] = (uint8_t)(value >> 8);
		p[1] = (uint8_t)value;
	} else {
		field_set_any(payload, bit, width, value);
	}
}

/* clang-format off */
/* MAD header (13.4.3) and SMP (14.2.1), in the whole MAD */
#define MAD_BASE_VERSION         0,  8
#define MAD_MGMT_CLASS           8,  8
#define MAD_CLASS_VERSION       16,  8
#define MAD_METHOD              24,  8
#define MAD_STATUS              32, 16
#define SMP_DIRECTION           32,  1 /* directed route: 1 in responses */
#define SMP_HOP_POINTER         48,  8
#define SMP_HOP_COUNT           56,  8
#define MAD_TID                 64, 64
#define MAD_TID_LOW             96, 32
#define MAD_ATTR_ID            128, 16
#define MAD_ATTR_MOD           160, 32
#define SA_COMP_MASK           384, 64
#define SMP_M_KEY              192, 64
#define SMP_DR_SLID            256, 16
#define SMP_DR_DLID            272, 16
#define SMP_DR_LIDS            256, 32 /* both */

/* bytes of an SMP */
enum { SMP_DATA_AT = 64, SMP_INITIAL_PATH_AT = 128, SMP_RETURN_PATH_AT = 192, SMP_DATA_BYTES = 64 };
/* CapabilityMask: the port has a subnet manager */
enum { CAP_IS_SM = 1 << 1 };
/* AttributeModifier of Set(SLtoVLMappingTable): the table applies to all input ports, to all output ports */
enum { SLVL_ALL_IN = 1 << 17, SLVL_ALL_OUT = 1 << 16 };

/* Notice (13.4.8.2) and the details of traps 128, 129 to 131 and 144 (14.2.5.1) */
#define NTC_IS_GENERIC           0,  1
#define NTC_TYPE                 1,  7
#define NTC_PRODUCER_TYPE        8, 24
#define NTC_TRAP_NUMBER         32, 16
#define NTC_ISSUER_LID          48, 16
#define NTC_128_LID             80, 16
#define NTC_129_PORT           112,  8
#define NTC_144_LID             96, 16
#define NTC_144_OTHER_CHANGES  127,  1
#define NTC_144_CAPABILITY_MASK 128, 32
#define NTC_144_CHANGE_FLAGS   160, 16
#define NTC_144_NODE_DESCRIPTION_CHANGE 175, 1
#define NTC_257_LID_1           96, 16
#define NTC_257_LID_2          112, 16
#define NTC_257_KEY            128, 32
#define NTC_259_P_KEY          128, 16
#define NTC_259_SW_LID         464, 16
#define NTC_259_PORT           480,  8
/* of traps 1144 and 1146, which are about virtual ports; the LID is where that of 144 is */
#define NTC_1144_CHANGE_FLAGS  144, 16
#define NTC_1144_VPORT         176, 16
enum { NTC_144_SM_PRIORITY_CHANGE = 1 << 3 }; /* of the change flags */

/* NodeInfo (IBA vol. 1, 14.2.5.3) */
#define NI_BASE_VERSION          0,  8
#define NI_CLASS_VERSION         8,  8
#define NI_NODE_TYPE            16,  8
#define NI_NUM_PORTS            24,  8
#define NI_SYSTEM_IMAGE_GUID    32, 64
#define NI_NODE_GUID            96, 64
#define NI_PORT_GUID           160, 64
#define NI_PARTITION_CAP       224, 16
#define NI_DEVICE_ID           240, 16
#define NI_REVISION            256, 32
#define NI_LOCAL_PORT_NUM      288,  8
#define NI_VENDOR_ID           296, 24

/* SwitchInfo (14.2.5.4) */
#define SI_LINEAR_FDB_CAP        0, 16
#define SI_RANDOM_FDB_CAP       16, 16
#define SI_MULTICAST_FDB_CAP    32, 16
#define SI_LINEAR_FDB_TOP       48, 16
#define SI_DEFAULT_PORT         64,  8
#define SI_DEFAULT_MCAST_PRIMARY_PORT 72, 8
#define SI_DEFAULT_MCAST_NOT_PRIMARY_PORT 80, 8
#define SI_LIFE_TIME_VALUE      88,  5
#define SI_PORT_STATE_CHANGE    93,  1
#define SI_OPTIMIZED_SLTOVL     94,  2
#define SI_LIDS_PER_PORT        96, 16
#define SI_PARTITION_ENFORCEMENT_CAP 112, 16
#define SI_INBOUND_ENFORCEMENT_CAP  128, 1
#define SI_OUTBOUND_ENFORCEMENT_CAP 129, 1
#define SI_FILTER_RAW_INBOUND_CAP   130, 1
#define SI_FILTER_RAW_OUTBOUND_CAP  131, 1
#define SI_ENHANCED_PORT_0     132,  1
#define SI_MULTICAST_FDB_TOP   144, 16

/* PortInfo (14.2.5.6) */
#define PI_M_KEY                 0, 64
#define PI_GID_PREFIX           64, 64
#define PI_LID                 128, 16
#define PI_MASTER_SM_LID       144, 16
#define PI_CAPABILITY_MASK     160, 32
#define PI_DIAG_CODE           192, 16
#define PI_M_KEY_LEASE_PERIOD  208, 16
#define PI_LOCAL_PORT_NUM      224,  8
#define PI_LINK_WIDTH_ENABLED  232,  8
#define PI_LINK_WIDTH_SUPPORTED 240, 8
#define PI_LINK_WIDTH_ACTIVE   248,  8
#define PI_LINK_SPEED_SUPPORTED 256, 4
#define PI_PORT_STATE          260,  4
#define PI_PORT_PHYSICAL_STATE 264,  4
#define PI_LINK_DOWN_DEFAULT_STATE 268, 4
#define PI_M_KEY_PROTECT_BITS  272,  2
#define PI_LMC                 277,  3
#define PI_LINK_SPEED_ACTIVE   280,  4
#define PI_LINK_SPEED_ENABLED  284,  4
#define PI_NEIGHBOR_MTU        288,  4
#define PI_MASTER_SM_SL        292,  4
#define PI_VL_CAP              296,  4
#define PI_INIT_TYPE           300,  4
#define PI_VL_HIGH_LIMIT       304,  8
#define PI_VL_ARB_HIGH_CAP     312,  8
#define PI_VL_ARB_LOW_CAP      320,  8
#define PI_INIT_TYPE_REPLY     328,  4
#define PI_MTU_CAP             332,  4
#define PI_VL_STALL_COUNT      336,  3
#define PI_HOQ_LIFE            339,  5
#define PI_OPERATIONAL_VLS     344,  4
#define PI_PARTITION_ENFORCEMENT_INBOUND  348, 1
#define PI_PARTITION_ENFORCEMENT_OUTBOUND 349, 1
#define PI_FILTER_RAW_INBOUND  350,  1
#define PI_FILTER_RAW_OUTBOUND 351,  1
#define PI_M_KEY_VIOLATIONS    352, 16
#define PI_P_KEY_VIOLATIONS    368, 16
#define PI_Q_KEY_VIOLATIONS    384, 16
#define PI_GUID_CAP            400,  8
#define PI_CLIENT_REREGISTER   408,  1
#define PI_MCAST_PKEY_TRAP_SUPPRESSION 409, 2
#define PI_SUBNET_TIMEOUT      411,  5
#define PI_RESP_TIME_VALUE     419,  5
#define PI_LOCAL_PHY_ERRORS    424,  4
#define PI_OVERRUN_ERRORS      428,  4
#define PI_MAX_CREDIT_HINT     432, 16
#define PI_LINK_ROUND_TRIP_LATENCY 456, 24
#define PI_CAPABILITY_MASK2    480, 16
#define PI_LINK_SPEED_EXT_ACTIVE    496, 4
#define PI_LINK_SPEED_EXT_SUPPORTED 500, 4
#define PI_LINK_SPEED_EXT_ENABLED   507, 5
/* XDR: the second set of extended speeds, as rdma-core's libibmad names and places it */
#define PI_LINK_SPEED_EXT_ACTIVE_2    449, 2
#define PI_LINK_SPEED_EXT_SUPPORTED_2 451, 2
#define PI_LINK_SPEED_EXT_ENABLED_2   453, 3

/* SMInfo (14.2.5.13) */
#define SMI_GUID                 0, 64
#define SMI_SM_KEY              64, 64
#define SMI_ACT_COUNT          128, 32
#define SMI_PRIORITY           160,  4
#define SMI_SM_STATE           164,  4
/* clang-format on */

/*!
 * Virtual ports of a channel adapter's port. NVIDIA has published the attributes in the headers of its
 * tools (ib_types.h under a BSD licence); normative is IBTA's annex on virtualization. The
 * AttributeModifier is 0, the index of the virtual port, or the block of states.
 *
 * The AttributeModifier of VPORT_ATTR_GUID_INFO and VPORT_ATTR_P_KEYS is not published, so the
 * subnet manager does not use them.
 */
enum vport_attr {
	ATTR_GENERAL_INFO = 0xFF17,
	VPORT_ATTR_VIRTUALIZATION_INFO = 0xFFB0,
	VPORT_ATTR_INFO = 0xFFB1,
	VPORT_ATTR_NODE_INFO = 0xFFB2,
	VPORT_ATTR_STATES = 0xFFB3,
	VPORT_ATTR_NODE_DESC = 0xFFB4,
	VPORT_ATTR_GUID_INFO = 0xFFB5,
	VPORT_ATTR_P_KEYS = 0xFFB6
};
enum {
	GENERAL_INFO_CAPABILITIES = 4, /* AttributeModifier */
	CAP2_VIRTUALIZATION = 1 << 2,  /* of PortInfo.CapabilityMask2 */
	VPORT_STATES_PER_BLOCK = 128,
	VPORT_INFO_BYTES = 28,
	VPORT_TRAP_CHANGES = 1144,
	VPORT_TRAP_STATE = 1146,
	VPORT_TRAP_P_KEY = 1257,
	VPORT_TRAP_Q_KEY = 1258
};
/* clang-format off */
#define GI_VPORT_GUID_INFO       9,  1 /* capability 22 */
#define GI_VIRTUALIZATION       16,  1 /* capability 15 */
#define VI_VPORT_CAP             0, 16
#define VI_TOP_INDEX            16, 16
#define VI_ENABLE               32,  1
#define VI_CLIENT_REREGISTER    33,  1
#define VI_VPORT_STATE_CHANGE   34,  1
#define VI_REVISION             48,  8
#define VPI_STATE                0,  4
#define VPI_CLIENT_REREGISTER    4,  1
#define VPI_LID_REQUIRED         5,  1
#define VPI_GUID_CAP             8,  8
#define VPI_CAPABILITY_MASK     16, 16
#define VPI_P_KEY_VIOLATIONS    32, 16
#define VPI_Q_KEY_VIOLATIONS    48, 16
#define VPI_LID                 64, 16
#define VPI_LID_BY_INDEX        80, 16
#define VPI_GUID                96, 64
#define VPI_PROFILE            160, 64
#define VNI_PARTITION_CAP        0, 16
#define VNI_LOCAL_PORT          16,  8
#define VNI_NUM_PORTS           24,  8
#define VNI_NODE_GUID           32, 64
#define VPORT_STATE(index)      4 * ((index) % VPORT_STATES_PER_BLOCK), 4
/* clang-format on */

/*! How a component of an SA record is compared with a request. */
enum sa_how {
	SA_EQ,       /*!< compared when its mask bit is set */
	SA_RESERVED, /*!< never compared */
	SA_INPUT,    /*!< the walk reads it itself (LIDs under LMC, selectors) */
	SA_HOW = 3   /*!< these bits of struct sa_field.how */
};

/*! How a component is shown, or'ed to how. Without it: a number; with 64 bits a GUID or key; with
 *  128 bits a GID. */
enum sa_form {
	SA_TEXT = 4,    /*!< bytes up to the first NUL */
	SA_LIST4 = 8,   /*!< list of elements of so many bits */
	SA_LIST8 = 12,
	SA_LIST16 = 16,
	SA_PAIRS = 20,  /*!< pairs of bytes */
	SA_FORM = 28    /*!< these bits */
};

struct sa_field {
	const char *name; /*!< spelling of the specification */
	uint16_t bit, width;
	uint8_t how;      /*!< enum sa_how and enum sa_form */
};

/* "bit, width" of a row of a field table, from one of the macros above and a base in bits. */
#define SA_AT_(base, offset, width) (base) + (offset), (width)
#define SA_AT(base, ...) SA_AT_(base, __VA_ARGS__)

/*! \brief The active speed of a port (enum link_speed) from its PortInfo. */
uint8_t port_info_speed(const uint8_t *info);

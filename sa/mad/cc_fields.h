/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "sa/mad/fields.h"

/*!
 * Congestion control of InfiniBand: management class, attributes and their fields (IBA vol. 1, annex A10). These
 * are MADs to QP 1, answered by port 0 of a switch and by each port of a channel adapter. SwitchCongestionSetting
 * has a mask with a bit for each port; entries of a control table have a shift in bits 15:14 and a multiplier below.
 */
enum {
	CC_CLASS = 0x21,
	CC_CLASS_VERSION = 2,
	CC_DATA_AT = 64, /*!< byte of the MAD at which attributes begin */
	CC_DATA_BYTES = 192,
	CC_ATTR_KEY_INFO = 0x12,
	CC_ATTR_SWITCH_SETTING = 0x14,
	CC_ATTR_CA_SETTING = 0x16,
	CC_ATTR_TABLE = 0x17,
	CC_BYTES_SWITCH_SETTING = 76,
	CC_BYTES_CA_SETTING = 132,
	CC_BYTES_TABLE = 132,
	CC_TABLE_ENTRIES = 64 /*!< of a block */
};

/* clang-format off */
/* in the whole MAD */
#define CC_MAD_KEY              192, 64

/* CongestionKeyInfo */
#define CC_KI_KEY                 0, 64
#define CC_KI_PROTECT            64,  1
#define CC_KI_LEASE_PERIOD       80, 16
#define CC_KI_VIOLATIONS         96, 16

/* SwitchCongestionSetting */
enum { CC_SCS_VICTIM_MASK_AT = 4, CC_SCS_CREDIT_MASK_AT = 36 };
#define CC_SCS_CONTROL_MAP        0, 32
#define CC_SCS_THRESHOLD        544,  4
#define CC_SCS_PACKET_SIZE      552,  8
#define CC_SCS_CS_THRESHOLD     560,  4
#define CC_SCS_CS_RETURN_DELAY  576, 16
#define CC_SCS_MARKING_RATE     592, 16

/* CACongestionSetting; what follows from byte 4 on is there for each SL */
enum { CC_CCS_ENTRIES_AT = 4, CC_CCS_ENTRY_BYTES = 8 };
#define CC_CCS_PORT_CONTROL       0, 16
#define CC_CCS_CONTROL_MAP       16, 16
#define CC_CCE_TIMER              0, 16
#define CC_CCE_INCREASE          16,  8
#define CC_CCE_TRIGGER           24,  8
#define CC_CCE_MIN               32,  8

/* CongestionControlTable */
enum { CC_CCT_ENTRIES_AT = 4 };
#define CC_CCT_LIMIT              0, 16
#define CC_CCT_ENTRY              0, 16
/* clang-format on */

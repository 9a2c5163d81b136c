/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "conf/policy/congestion.h"
#include "sa/mad/cc_fields.h"

/*!
 * The attributes of congestion control that the options ask for (IBA vol. 1, annex A10), in wire order. All
 * switches hold the same, and all ports of channel adapters. The bytes are those that OpenSM sends for
 * the same options: a control table of one entry or none has CCTI_Limit 0 and no entries.
 */
struct congestion_image {
	uint8_t on_switch[CC_BYTES_SWITCH_SETTING];
	uint8_t on_ca[CC_BYTES_CA_SETTING];
	uint32_t n_blocks; /*!< of the control table, at least one */
	uint8_t table[CONGESTION_TABLE_MOST / CC_TABLE_ENTRIES][CC_BYTES_TABLE];
};

void congestion_image(const struct congestion_options *o, struct congestion_image *ret_image);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "sa/mad/fields.h"

/*!
 * The value of an event subscription in the store. Its key is the PortGUID of the subscriber
 * and the InformInfo that it set, with Subscribe 1 and the QPN of the request.
 */
enum { INFORM_BYTES = 36, SUBSCRIPTION_KEY_BYTES = 8 + INFORM_BYTES };

struct subscription {
	uint32_t qpn;          /*!< destination of the reports */
	uint16_t pkey_index;   /*!< P_Key index of the request at our port */
	uint16_t number;       /*!< InformInfoRecord.Enum: number among the port's subscriptions */
	uint8_t sl;
	uint8_t trusted;       /*!< the request had the SM_Key */
	uint8_t reserved[2];
};

_Static_assert(sizeof(struct subscription) == 12, "struct subscription");

/* clang-format off */
/* InformInfo (IBA vol. 1, 13.4.8.3) */
#define INF_GID_PREFIX       0,  64
#define INF_GID_GUID        64,  64
#define INF_LID_RANGE_BEGIN 128, 16
#define INF_LID_RANGE_END   144, 16
#define INF_IS_GENERIC      176,  8
#define INF_SUBSCRIBE       184,  8
#define INF_TYPE            192, 16
#define INF_TRAP_NUMBER     208, 16
#define INF_QPN             224, 24
#define INF_RESP_TIME_VALUE 251,  5
/* only in the key, reserved on the wire: 1 means reports in Omni-Path's layout, and the upper bits of its LIDs */
#define INF_OMNI_PATH       248,  3
#define INF_LID_BEGIN_HIGH  160,  8
#define INF_LID_END_HIGH    168,  8
#define INF_PRODUCER_TYPE   264, 24
/* clang-format on */

/*! Wildcards. */
enum {
	INFORM_ALL_LIDS = 0xffff,
	INFORM_ALL_TYPES = 0xffff,
	INFORM_ALL_TRAPS = 0xffff,
	INFORM_ALL_PRODUCERS = 0xffffff
};

/*!
 * LIDs of the range, of 24 bits. The first may be INFORM_ALL_LIDS. The last may be 0, which means the first, or
 * INFORM_LAST_LID, which means up to the highest one there is.
 */
enum { INFORM_LAST_LID = 0xffffff };

static inline uint32_t inform_lid_begin(const uint8_t *inform)
{
	return (uint32_t)(field_get(inform, INF_LID_BEGIN_HIGH) << 16 |
	                  field_get(inform, INF_LID_RANGE_BEGIN));
}

static inline uint32_t inform_lid_end(const uint8_t *inform)
{
	return (uint32_t)(field_get(inform, INF_LID_END_HIGH) << 16 |
	                  field_get(inform, INF_LID_RANGE_END));
}

static inline void inform_put_lids(uint8_t *inform, uint32_t begin, uint32_t end)
{
	field_set(inform, INF_LID_BEGIN_HIGH, begin >> 16);
	field_set(inform, INF_LID_RANGE_BEGIN, begin & 0xffff);
	field_set(inform, INF_LID_END_HIGH, end >> 16);
	field_set(inform, INF_LID_RANGE_END, end & 0xffff);
}

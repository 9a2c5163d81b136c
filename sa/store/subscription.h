/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

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
/* only in the key, reserved on the wire: 1 means reports in Omni-Path's layout */
#define INF_OMNI_PATH       248,  3
#define INF_PRODUCER_TYPE   264, 24
/* clang-format on */

/*! Wildcards. */
enum {
	INFORM_ALL_LIDS = 0xffff,
	INFORM_ALL_TYPES = 0xffff,
	INFORM_ALL_TRAPS = 0xffff,
	INFORM_ALL_PRODUCERS = 0xffffff
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/mad/fields.h"

#include "routing/graph/graph.h"

/* A field spans at most nine bytes (64 bits that begin inside a byte), so 128 bits hold it. */

uint64_t field_get_any(const uint8_t *payload, unsigned bit, unsigned width)
{
	unsigned first = bit / 8;
	unsigned last = (bit + width - 1) / 8;
	unsigned __int128 v = 0;

	for (unsigned i = first; i <= last; i++) {
		v = v << 8 | payload[i];
	}
	v >>= (last + 1) * 8 - (bit + width);
	return (uint64_t)(v & (((unsigned __int128)1 << width) - 1));
}

void field_set(uint8_t *payload, unsigned bit, unsigned width, uint64_t value)
{
	unsigned first = bit / 8;
	unsigned last = (bit + width - 1) / 8;
	unsigned shift = (last + 1) * 8 - (bit + width);
	unsigned __int128 mask = (((unsigned __int128)1 << width) - 1) << shift;
	unsigned __int128 v = ((unsigned __int128)value << shift) & mask;

	for (unsigned i = last + 1; i-- > first; v >>= 8, mask >>= 8) {
		payload[i] = (uint8_t)((payload[i] & ~(uint8_t)mask) | (uint8_t)v);
	}
}

uint8_t port_info_speed(const uint8_t *info)
{
	unsigned active = (unsigned)field_get(info, PI_LINK_SPEED_ACTIVE);

	if (field_get(info, PI_LINK_SPEED_EXT_ACTIVE_2)) {
		return SPEED_XDR;
	}
	switch (field_get(info, PI_LINK_SPEED_EXT_ACTIVE)) {
	case 8: return SPEED_NDR;
	case 4: return SPEED_HDR;
	case 2: return SPEED_EDR;
	case 1: return SPEED_FDR;
	}
	return active >= 4 ? SPEED_QDR : active >= 2 ? SPEED_DDR : SPEED_SDR;
}

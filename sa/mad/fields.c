/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/mad/fields.h"

#include "routing/graph/graph.h"

uint64_t field_get_any(const uint8_t *payload, unsigned bit, unsigned width)
{
	uint64_t v = 0;

	while (width > 0) {
		unsigned room = 8 - bit % 8; /* bits from here to the end of the byte */
		unsigned n = room < width ? room : width;
		v = v << n | (payload[bit / 8] >> (room - n) & ((1u << n) - 1));
		bit += n;
		width -= n;
	}
	return v;
}

void field_set_any(uint8_t *payload, unsigned bit, unsigned width, uint64_t value)
{
	while (width > 0) {
		unsigned room = 8 - bit % 8;
		unsigned n = room < width ? room : width;
		unsigned mask = ((1u << n) - 1) << (room - n);
		unsigned bits = (unsigned)(value >> (width - n)) << (room - n);
		payload[bit / 8] = (uint8_t)((payload[bit / 8] & ~mask) | (bits & mask));
		bit += n;
		width -= n;
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

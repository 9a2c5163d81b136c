/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Link widths, speeds and rates. A rate code names a speed of the whole link; codes were
 * assigned in order of invention, so they must never be compared with each other:
 * rate_speed() gives the number to compare. Source: IBTA vol. 1, PathRecord.Rate and
 * PortInfo link width and speed components.
 */
#include "routing/graph/graph.h"

struct rate {
	uint8_t code;
	uint16_t speed; /* 0.1 Gb/s */
};

/* clang-format off */
static const struct rate rates[] = { /* slowest first */
	{  2,    25 }, {  5,    50 }, {  3,   100 }, { 11,   140 }, {  6,   200 },
	{ 15,   250 }, { 19,   280 }, {  4,   300 }, {  7,   400 }, { 20,   500 },
	{ 12,   560 }, {  8,   600 }, {  9,   800 }, { 16,  1000 }, { 13,  1120 },
	{ 10,  1200 }, { 14,  1680 }, { 17,  2000 }, { 18,  3000 }, { 21,  4000 },
	{ 22,  6000 }, { 23,  8000 }, { 24, 12000 }, { 25, 16000 },
};
/* clang-format on */

enum { N_RATES = sizeof(rates) / sizeof(rates[0]) };

/* Lane speed as rates count it, 0.1 Gb/s. FDR10 carries QDR's 10 Gb/s and shares its
 * codes. */
static const uint16_t lane_speed[SPEED_COUNT] = {
	[SPEED_SDR] = 25,    [SPEED_DDR] = 50,   [SPEED_QDR] = 100,
	[SPEED_FDR10] = 100, [SPEED_FDR] = 140,  [SPEED_EDR] = 250,
	[SPEED_HDR] = 500,   [SPEED_NDR] = 1000, [SPEED_XDR] = 2000,
};

static unsigned lanes_of(uint8_t width)
{
	switch ((enum link_width)width) {
	case WIDTH_1X: return 1;
	case WIDTH_2X: return 2;
	case WIDTH_4X: return 4;
	case WIDTH_8X: return 8;
	case WIDTH_12X: return 12;
	}
	return 0;
}

uint8_t link_rate(uint8_t width, uint8_t speed)
{
	if (speed >= SPEED_COUNT) {
		return 0;
	}

	/* A link without a code of its own (12x XDR) takes the next slower one. */
	uint32_t want = lanes_of(width) * lane_speed[speed];
	uint8_t code = 0;
	for (unsigned i = 0; i < N_RATES && rates[i].speed <= want; i++) {
		code = rates[i].code;
	}
	return code;
}

uint32_t rate_speed(uint8_t rate)
{
	for (unsigned i = 0; i < N_RATES; i++) {
		if (rates[i].code == rate) {
			return rates[i].speed;
		}
	}
	return 0;
}

const char *link_speed_name(uint8_t speed)
{
	static const char *const names[SPEED_COUNT] = {
		[SPEED_SDR] = "SDR",     [SPEED_DDR] = "DDR", [SPEED_QDR] = "QDR",
		[SPEED_FDR10] = "FDR10", [SPEED_FDR] = "FDR", [SPEED_EDR] = "EDR",
		[SPEED_HDR] = "HDR",     [SPEED_NDR] = "NDR", [SPEED_XDR] = "XDR",
	};
	return speed < SPEED_COUNT ? names[speed] : "?";
}

const char *link_width_name(uint8_t width)
{
	switch ((enum link_width)width) {
	case WIDTH_1X: return "1x";
	case WIDTH_2X: return "2x";
	case WIDTH_4X: return "4x";
	case WIDTH_8X: return "8x";
	case WIDTH_12X: return "12x";
	}
	return "?";
}

const char *port_state_name(uint8_t state)
{
	switch ((enum port_state)state) {
	case PORT_DOWN: return "down";
	case PORT_INIT: return "init";
	case PORT_ARMED: return "armed";
	case PORT_ACTIVE: return "active";
	}
	return "unknown";
}

const char *node_type_name(uint8_t type)
{
	switch ((enum node_type)type) {
	case NODE_CA: return "ca";
	case NODE_SWITCH: return "switch";
	case NODE_ROUTER: return "router";
	}
	return "?";
}

uint8_t link_vls(uint8_t code)
{
	static const uint8_t vls[] = { 1, 1, 2, 4, 8, 15 };

	return code < sizeof(vls) ? vls[code] : 1;
}

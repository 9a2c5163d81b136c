/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/record/link_caps.h"

#include <infiniband/umad_sm.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "sa/mad/fields.h"

enum { PORT_INFO_BYTES = 64 };

const char *link_physical_state(uint8_t state)
{
	static const char *const names[] = { "none",           "sleep",    "polling",
		                             "disabled",       "training", "link_up",
		                             "error_recovery", "phy_test" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

/* The supported speeds of a PortInfo. Speeds above QDR have components of their own. */
static uint16_t speeds_of(const uint8_t *info)
{
	static const uint8_t of_base[] = { SPEED_SDR, SPEED_DDR, SPEED_QDR };
	static const uint8_t of_ext[] = { SPEED_FDR, SPEED_EDR, SPEED_HDR, SPEED_NDR };
	uint64_t base = field_get(info, PI_LINK_SPEED_SUPPORTED);
	uint64_t ext = field_get(info, PI_LINK_SPEED_EXT_SUPPORTED);
	unsigned speeds = 0;

	for (unsigned i = 0; i < sizeof(of_base); i++) {
		speeds |= (base >> i & 1) << of_base[i];
	}
	for (unsigned i = 0; i < sizeof(of_ext); i++) {
		speeds |= (ext >> i & 1) << of_ext[i];
	}
	if (field_get(info, PI_LINK_SPEED_EXT_SUPPORTED_2) != 0) {
		speeds |= 1U << SPEED_XDR;
	}
	return (uint16_t)speeds;
}

int link_caps(struct snap_reader *r, uint64_t node_guid, uint8_t port,
              struct link_caps *ret_caps)
{
	const uint8_t *info;
	uint16_t len;
	int ret = snap_attr(r, UMAD_SM_ATTR_PORT_INFO, node_guid, port, &info, &len);

	if (ret != E_OK) {
		return ret;
	}
	if (len < PORT_INFO_BYTES) {
		return E_MALFORMED;
	}
	*ret_caps = (struct link_caps){
		.speeds = speeds_of(info),
		.widths = (uint8_t)field_get(info, PI_LINK_WIDTH_SUPPORTED),
		.physical_state = (uint8_t)field_get(info, PI_PORT_PHYSICAL_STATE),
	};
	return E_OK;
}

struct link_mode link_best(const struct link_caps *a, const struct link_caps *b,
                           struct link_mode now)
{
	static const uint8_t by_lanes[] = { WIDTH_12X, WIDTH_8X, WIDTH_4X, WIDTH_2X,
		                            WIDTH_1X };
	unsigned widths = (a->widths & b->widths) | now.width;
	unsigned speeds = (unsigned)(a->speeds & b->speeds) | 1U << now.speed;
	struct link_mode best = now;

	for (unsigned i = 0; i < sizeof(by_lanes); i++) {
		if ((widths & by_lanes[i]) != 0) {
			best.width = by_lanes[i];
			break;
		}
	}
	for (uint8_t s = SPEED_COUNT; s-- > 0;) {
		if ((speeds >> s & 1) != 0) {
			best.speed = s;
			break;
		}
	}
	return best;
}

bool link_degraded(struct link_mode now, struct link_mode best)
{
	return now.width != best.width || now.speed != best.speed;
}

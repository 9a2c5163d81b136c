/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sm/last_programmed.h"

#include <string.h>

#include "sa/mad/fields.h"

uint64_t told_demand(const uint8_t info[64])
{
	uint8_t copy[64];
	uint64_t h = 1;

	memcpy(copy, info, sizeof(copy));
	field_set(copy, PI_LOCAL_PORT_NUM, 0); /* where the SMP came in */
	field_set(copy, PI_PORT_STATE, 0);
	field_set(copy, PI_PORT_PHYSICAL_STATE, 0);
	field_set(copy, PI_CLIENT_REREGISTER, 0); /* asks, and is not kept */
	field_set(copy, PI_M_KEY_VIOLATIONS, 0);
	field_set(copy, PI_P_KEY_VIOLATIONS, 0);
	field_set(copy, PI_Q_KEY_VIOLATIONS, 0);
	for (unsigned i = 0; i < sizeof(copy); i += 8) {
		h = (h ^ field_get(copy, 8 * i, 64)) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	return h;
}

/* 31 bits: never GUID_MAP_NONE. */
static uint32_t mark(uint64_t demand, const uint8_t shown[64])
{
	return (uint32_t)((demand * 3 ^ told_demand(shown)) >> 33);
}

int told_note(struct guid_map *m, uint64_t node_guid, uint8_t port, uint64_t demand,
              const uint8_t shown[64])
{
	return guid_map_put(m, guid_port_key(node_guid, port), mark(demand, shown));
}

bool told_before(const struct guid_map *m, uint64_t node_guid, uint8_t port,
                 uint64_t demand, const uint8_t shown[64])
{
	return guid_map_get(m, guid_port_key(node_guid, port)) == mark(demand, shown);
}

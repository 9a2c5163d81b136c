/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <infiniband/umad_types.h>
#include <string.h>

/*
 * Performance management of a simulated node (IBA vol. 1, 16.1): ClassPortInfo,
 * PortCounters and PortCountersExtended. They count the MADs that passed the port's cable, as
 * packets and words. A simulated cable has no errors, so the error counters stay 0. A Set
 * clears the counters that CounterSelect names. PortSelect 255 is the sum of all ports. 0 is
 * the port that answers, also of a CA, because CAs ignore PortSelect: perfquery sends 0 when
 * its user names only a LID.
 */

/* clang-format off */
/* PerfMgt MADs carry their data from byte 64 on */
#define CPI_BASE_VERSION      0,  8
#define CPI_CLASS_VERSION     8,  8
#define CPI_CAPABILITY_MASK  16, 16
#define CPI_RESP_TIME_VALUE  59,  5
#define PC_PORT_SELECT        8,  8
#define PC_COUNTER_SELECT    16, 16
#define PC_FIRST_COUNTER     32
/* clang-format on */

enum {
	PM_CLASS_VERSION = 1,
	PM_ATTR_PORT_COUNTERS = 0x12,
	PM_ATTR_PORT_COUNTERS_EXT = 0x1D,
	PM_CAP_ALL_PORT_SELECT = 1 << 8,
	PM_CAP_EXTENDED_WIDTH_NO_IETF =
		1 << 10, /* no separate counters for unicast and multicast */
	PM_ALL_PORTS = 255,
	PM_DATA_AT = 64,
	PM_DATA_BYTES = 192
};

/* the four counters and their fields in both attributes */
static const struct {
	size_t at;                    /* in struct sim_perf */
	uint16_t select, bit;         /* PortCounters, 32 bits wide */
	uint16_t ext_select, ext_bit; /* PortCountersExtended, 64 bits wide */
} counters[] = {
	{ offsetof(struct sim_perf, xmit_data), 1 << 12, 192, 1 << 0, 64 },
	{ offsetof(struct sim_perf, rcv_data), 1 << 13, 224, 1 << 1, 128 },
	{ offsetof(struct sim_perf, xmit_pkts), 1 << 14, 256, 1 << 2, 192 },
	{ offsetof(struct sim_perf, rcv_pkts), 1 << 15, 288, 1 << 3, 256 },
};

enum { N_COUNTERS = sizeof(counters) / sizeof(counters[0]) };

static uint64_t *counter(struct sim_perf *p, unsigned i)
{
	return (uint64_t *)((char *)p + counters[i].at);
}

static uint16_t port_counters(struct sim *s, const struct sim_at *at, bool set, bool ext,
                              uint8_t *data)
{
	const struct node *n = &s->g->nodes[at->node];
	unsigned select = (unsigned)field_get(data, PC_PORT_SELECT);
	unsigned named = (unsigned)field_get(data, PC_COUNTER_SELECT);
	bool all = select == PM_ALL_PORTS;
	struct sim_perf sum = { 0 };

	if (!all && select > n->n_ports) {
		return UMAD_STATUS_INVALID_ATTR_VALUE;
	}
	if (select == 0 && n->type != NODE_SWITCH) {
		select = at->port;
	}
	for (unsigned num = all ? 1 : select; num <= (all ? n->n_ports : select); num++) {
		struct sim_perf *p = &s->ports[n->first_port + num].perf;
		for (unsigned i = 0; i < N_COUNTERS; i++) {
			unsigned bit = ext ? counters[i].ext_select : counters[i].select;
			if (set && (named & bit)) {
				*counter(p, i) = 0;
			}
			*counter(&sum, i) += *counter(p, i);
		}
	}
	memset(data + PC_FIRST_COUNTER / 8, 0, PM_DATA_BYTES - PC_FIRST_COUNTER / 8);
	for (unsigned i = 0; i < N_COUNTERS; i++) {
		uint64_t v = *counter(&sum, i);
		if (ext) {
			field_set(data, counters[i].ext_bit, 64, v);
		} else { /* narrow counters stay at their highest value */
			field_set(data, counters[i].bit, 32,
			          v < UINT32_MAX ? v : UINT32_MAX);
		}
	}
	return UMAD_STATUS_SUCCESS;
}

static uint16_t answer(struct sim *s, const struct sim_at *at, uint8_t *mad)
{
	bool set = mad[3] == UMAD_METHOD_SET;
	uint8_t *data = mad + PM_DATA_AT;

	if (mad[0] != UMAD_BASE_VERSION || mad[2] != PM_CLASS_VERSION) {
		return UMAD_STATUS_BAD_VERSION;
	}
	switch (field_get(mad, MAD_ATTR_ID)) {
	case UMAD_ATTR_CLASS_PORT_INFO:
		if (set) {
			return UMAD_STATUS_ATTR_NOT_SUPPORTED;
		}
		memset(data, 0, PM_DATA_BYTES);
		field_set(data, CPI_BASE_VERSION, UMAD_BASE_VERSION);
		field_set(data, CPI_CLASS_VERSION, PM_CLASS_VERSION);
		field_set(data, CPI_CAPABILITY_MASK,
		          PM_CAP_ALL_PORT_SELECT | PM_CAP_EXTENDED_WIDTH_NO_IETF);
		field_set(data, CPI_RESP_TIME_VALUE, 16);
		return UMAD_STATUS_SUCCESS;
	case PM_ATTR_PORT_COUNTERS: return port_counters(s, at, set, false, data);
	case PM_ATTR_PORT_COUNTERS_EXT: return port_counters(s, at, set, true, data);
	default: return UMAD_STATUS_ATTR_NOT_SUPPORTED;
	}
}

bool sim_perf_agent(struct sim *s, const struct sim_at *at, uint8_t *mad)
{
	uint8_t method = mad[3];
	if (mad[1] != UMAD_CLASS_PERF_MGMT ||
	    (method != UMAD_METHOD_GET && method != UMAD_METHOD_SET)) {
		return false;
	}
	field_set(mad, MAD_STATUS, answer(s, at, mad));
	mad[3] = UMAD_METHOD_GET_RESP;
	return true;
}

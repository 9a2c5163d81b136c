/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/sim/sim_state.h"

#include <infiniband/umad_types.h>
#include <string.h>
#include <strings.h>

#include "conf/base/err.h"
#include "sa/sim/sim.h"

/*
 * Performance management of a simulated node (IBA vol. 1, 16.1): ClassPortInfo,
 * PortCounters, PortCountersExtended and PortExtendedSpeedsCounters. They count the MADs that
 * passed the port's cable and the traffic that sim_perf_traffic() makes, as packets and words. A
 * simulated cable has no errors but those of sim_perf_add() and sim_perf_errors(). A Set clears the counters that
 * CounterSelect names. PortSelect 255 is the sum of all ports. 0 is the port that answers,
 * also of a CA, because CAs ignore PortSelect: perfquery sends 0 when its user names only a
 * LID.
 */

/* clang-format off */
/* PerfMgt MADs carry their data from byte 64 on */
#define CPI_BASE_VERSION      0,  8
#define CPI_CLASS_VERSION     8,  8
#define CPI_CAPABILITY_MASK  16, 16
#define CPI_CAPABILITY_MASK2 32, 27
#define CPI_RESP_TIME_VALUE  59,  5
#define PC_PORT_SELECT        8,  8
#define PC_COUNTER_SELECT    16, 16
#define PC_COUNTER_SELECT2  144,  8
#define PC_EXT_SELECT2       32, 32
#define PC_FIRST_COUNTER     32
/* clang-format on */

enum {
	PM_CLASS_VERSION = 1,
	PM_ATTR_PORT_COUNTERS = 0x12,
	PM_ATTR_PORT_COUNTERS_EXT = 0x1D,
	PM_ATTR_PORT_EXT_SPEEDS = 0x1F,
	PM_ALL_PORTS = 255,
	PM_DATA_AT = 64,
	PM_DATA_BYTES = 192,
	PM_PACKET_WORDS = 512, /* of traffic */
	US = 1000000
};

/* clang-format off */
/* The counters: PortCounters has \a width bits at \a bit and bit \a select of CounterSelect, from
 * 16 on of CounterSelect2; PortCountersExtended 64 bits at \a ext and bit \a ext_select, from 16
 * on of its CounterSelect2; PortExtendedSpeedsCounters 32 bits at \a speeds. 0: not there. */
static const struct {
	const char *name;
	uint16_t bit, width, select;
	uint16_t ext, ext_select, speeds;
} counters[SIM_COUNTERS] = {
	[SIM_XMIT_DATA] = { "PortXmitData", 192, 32, 12, 64, 0, 0 },
	[SIM_RCV_DATA] =  { "PortRcvData",  224, 32, 13, 128, 1, 0 },
	[SIM_XMIT_PKTS] = { "PortXmitPkts", 256, 32, 14, 192, 2, 0 },
	[SIM_RCV_PKTS] =  { "PortRcvPkts",  288, 32, 15, 256, 3, 0 },
	{ "SymbolErrorCounter",            32, 16,  0,  576, 16, 0 },
	{ "LinkErrorRecoveryCounter",      48,  8,  1,  640, 17, 0 },
	{ "LinkDownedCounter",             56,  8,  2,  704, 18, 0 },
	{ "PortRcvErrors",                 64, 16,  3,  768, 19, 0 },
	{ "PortRcvRemotePhysicalErrors",   80, 16,  4,  832, 20, 0 },
	{ "PortRcvSwitchRelayErrors",      96, 16,  5,  896, 21, 0 },
	{ "PortXmitDiscards",             112, 16,  6,  960, 22, 0 },
	{ "PortXmitConstraintErrors",     128,  8,  7, 1024, 23, 0 },
	{ "PortRcvConstraintErrors",      136,  8,  8, 1088, 24, 0 },
	{ "LocalLinkIntegrityErrors",     152,  4,  9, 1152, 25, 0 },
	{ "ExcessiveBufferOverrunErrors", 156,  4, 10, 1216, 26, 0 },
	{ "VL15Dropped",                  176, 16, 11, 1280, 27, 0 },
	{ "PortXmitWait",                 320, 32, 16, 1344, 28, 0 },
	{ "QP1Dropped",                   160, 16, 17, 1408, 29, 0 },
	{ "PortUnicastXmitPkts",            0,  0,  0,  320,  4, 0 },
	{ "PortUnicastRcvPkts",             0,  0,  0,  384,  5, 0 },
	{ "PortMulticastXmitPkts",          0,  0,  0,  448,  6, 0 },
	{ "PortMulticastRcvPkts",           0,  0,  0,  512,  7, 0 },
	/* of lane 0 */
	{ "FECCorrectableBlockCtrLane0",    0,  0,  0,    0,  0, 352 },
	{ "FECUncorrectableBlockCtrLane0",  0,  0,  0,    0,  0, 736 },
};
/* clang-format on */

enum { EXT_ERRORS = 576, EXT_UNICAST = 320, CAP2_EXT_ERRORS = 1 << 1, CAP_EXT_UNICAST = 1 << 9 };

const char *sim_perf_name(unsigned i)
{
	return i < SIM_COUNTERS ? counters[i].name : NULL;
}

void sim_perf_set_caps(struct sim *s, uint16_t mask, uint32_t mask2)
{
	s->perf_caps = mask;
	s->perf_caps2 = mask2;
}

/* --- traffic -------------------------------------------------------------------------------- */

static void count(uint64_t *words, uint64_t *packets, uint64_t *until_us, uint64_t rate,
                  uint64_t now)
{
	uint64_t n = rate / 4 * (now - *until_us) / US;

	*words += n;
	*packets += n / PM_PACKET_WORDS;
	*until_us = now;
}

void sim_perf_settle(struct sim *s, uint32_t port)
{
	struct sim_perf *p = &s->ports[port].perf;
	uint32_t peer = s->g->ports[port].peer;
	bool up = s->ports[port].up;

	count(&p->count[SIM_XMIT_DATA], &p->count[SIM_XMIT_PKTS], &p->sent_us, up ? p->rate : 0,
	      sim_now_us(s));
	count(&p->count[SIM_RCV_DATA], &p->count[SIM_RCV_PKTS], &p->received_us,
	      up && peer != GRAPH_NONE ? s->ports[peer].perf.rate : 0, sim_now_us(s));
	if (p->errors_per_s > 0 && up) {
		p->errors_left += p->errors_per_s * (double)(sim_now_us(s) - p->erred_us) / US;
		p->count[p->errs] += (uint64_t)p->errors_left;
		p->errors_left -= (double)(uint64_t)p->errors_left;
	}
	p->erred_us = sim_now_us(s);
}

static int find_port(const struct sim *s, uint64_t node_guid, uint8_t port,
                     uint32_t *ret_port)
{
	uint32_t node = graph_node_by_guid(s->g, node_guid);

	*ret_port = node != GRAPH_NONE ? graph_port(s->g, node, port) : GRAPH_NONE;
	return *ret_port != GRAPH_NONE ? E_OK : E_NOTFOUND;
}

int sim_perf_traffic(struct sim *s, uint64_t node_guid, uint8_t port, uint64_t bytes_per_s)
{
	uint32_t p;
	int ret = find_port(s, node_guid, port, &p);

	if (ret == E_OK) {
		sim_perf_settle(s, p);
		if (s->g->ports[p].peer != GRAPH_NONE) {
			sim_perf_settle(s, s->g->ports[p].peer);
		}
		s->ports[p].perf.rate = bytes_per_s;
	}
	return ret;
}

static int find_counter(const struct sim *s, uint64_t node_guid, uint8_t port, const char *name,
                        uint32_t *ret_port, unsigned *ret_counter)
{
	unsigned i = 0;
	int ret = find_port(s, node_guid, port, ret_port);

	while (i < SIM_COUNTERS && strcasecmp(counters[i].name, name) != 0) {
		i++;
	}
	*ret_counter = i;
	return ret != E_OK ? ret : i == SIM_COUNTERS ? E_UNKNOWN : E_OK;
}

int sim_perf_add(struct sim *s, uint64_t node_guid, uint8_t port, const char *name, uint64_t n)
{
	uint32_t p;
	unsigned i;
	int ret = find_counter(s, node_guid, port, name, &p, &i);

	if (ret == E_OK) {
		s->ports[p].perf.count[i] += n;
	}
	return ret;
}

int sim_perf_errors(struct sim *s, uint64_t node_guid, uint8_t port, const char *name,
                    double per_s)
{
	uint32_t p;
	unsigned i;
	int ret = find_counter(s, node_guid, port, name, &p, &i);

	if (ret == E_OK) {
		sim_perf_settle(s, p);
		s->ports[p].perf.errors_per_s = per_s;
		s->ports[p].perf.errors_left = 0;
		s->ports[p].perf.errs = (uint8_t)i;
	}
	return ret;
}

/* --- the agent -------------------------------------------------------------------------------- */

static bool is_named(unsigned i, uint16_t attr, const uint8_t *data)
{
	unsigned narrow = (unsigned)field_get(data, PC_COUNTER_SELECT) |
	                  (unsigned)field_get(data, PC_COUNTER_SELECT2) << 16;
	uint64_t wide = field_get(data, PC_COUNTER_SELECT) | field_get(data, PC_EXT_SELECT2) << 16;

	if (attr == PM_ATTR_PORT_COUNTERS) {
		return counters[i].width != 0 && (narrow >> counters[i].select & 1);
	}
	if (attr == PM_ATTR_PORT_COUNTERS_EXT) {
		return counters[i].ext != 0 && (wide >> counters[i].ext_select & 1);
	}
	return counters[i].speeds != 0;
}

static void show(const struct sim *s, unsigned i, uint16_t attr, uint64_t v, uint8_t *data)
{
	unsigned at = counters[i].bit, width = counters[i].width;

	if (attr == PM_ATTR_PORT_COUNTERS_EXT) {
		at = counters[i].ext;
		width = (at >= EXT_ERRORS && (s->perf_caps2 & CAP2_EXT_ERRORS) == 0) ||
		                        (at >= EXT_UNICAST && at < EXT_ERRORS &&
		                         (s->perf_caps & CAP_EXT_UNICAST) == 0)
		                ? 0
		                : 64;
	} else if (attr == PM_ATTR_PORT_EXT_SPEEDS) {
		at = counters[i].speeds;
		width = 32;
	}
	if (at != 0 && width != 0) { /* narrow counters stay at their highest value */
		uint64_t most = UINT64_MAX >> (64 - width);

		field_set(data, at, width, v < most ? v : most);
	}
}

static uint16_t port_counters(struct sim *s, const struct sim_at *at, bool set, uint16_t attr,
                              uint8_t *data)
{
	const struct node *n = &s->g->nodes[at->node];
	unsigned select = (unsigned)field_get(data, PC_PORT_SELECT);
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

		sim_perf_settle(s, n->first_port + num);
		for (unsigned i = 0; i < SIM_COUNTERS; i++) {
			if (set && is_named(i, attr, data)) {
				p->count[i] = 0;
			}
			sum.count[i] += p->count[i];
		}
	}
	memset(data + PC_FIRST_COUNTER / 8, 0, PM_DATA_BYTES - PC_FIRST_COUNTER / 8);
	for (unsigned i = 0; i < SIM_COUNTERS; i++) {
		show(s, i, attr, sum.count[i], data);
	}
	return UMAD_STATUS_SUCCESS;
}

static uint16_t answer(struct sim *s, const struct sim_at *at, uint8_t *mad)
{
	bool set = mad[3] == UMAD_METHOD_SET;
	uint8_t *data = mad + PM_DATA_AT;
	uint16_t attr = (uint16_t)field_get(mad, MAD_ATTR_ID);

	if (mad[0] != UMAD_BASE_VERSION || mad[2] != PM_CLASS_VERSION) {
		return UMAD_STATUS_BAD_VERSION;
	}
	switch (attr) {
	case UMAD_ATTR_CLASS_PORT_INFO:
		if (set) {
			return UMAD_STATUS_ATTR_NOT_SUPPORTED;
		}
		memset(data, 0, PM_DATA_BYTES);
		field_set(data, CPI_BASE_VERSION, UMAD_BASE_VERSION);
		field_set(data, CPI_CLASS_VERSION, PM_CLASS_VERSION);
		field_set(data, CPI_CAPABILITY_MASK, s->perf_caps);
		field_set(data, CPI_CAPABILITY_MASK2, s->perf_caps2);
		field_set(data, CPI_RESP_TIME_VALUE, 16);
		return UMAD_STATUS_SUCCESS;
	case PM_ATTR_PORT_COUNTERS:
	case PM_ATTR_PORT_COUNTERS_EXT:
	case PM_ATTR_PORT_EXT_SPEEDS: return port_counters(s, at, set, attr, data);
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

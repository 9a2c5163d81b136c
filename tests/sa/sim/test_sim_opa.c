/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_device.h"
#include "tests/lib/suite.h"

/*
 * Longer than most: all rules are tried on the devices of one fixture.
 *
 * Devices of Omni-Path, one rule after the other. Expectations are byte offsets and statuses of the public
 * headers of opa-fm (stl_sm_types.h, stl_mad_types.h, stl_pm.h) and rules of the hfi1 driver's mad.c; only
 * a few of them are written with the names that the devices themselves use.
 */

enum { LR = 1, DR = 0x81, SW_PORTS = 10, PORT = 3 };

static struct opa_device *sw, *other, *hfi, *two;
static uint8_t mad[OPA_MAD_BYTES];
static size_t answer_len;
static unsigned orders[3], told_ports, m_keys;
static uint64_t repressed;

static void on_link(void *ctx, unsigned port, enum opa_link_order order)
{
	(void)ctx;
	(void)port;
	orders[order]++;
}
static void on_port(void *ctx, unsigned port)
{
	(void)ctx;
	(void)port;
	told_ports++;
}
static void on_m_key(void *ctx, const uint8_t *request)
{
	(void)ctx;
	m_keys += request[3] != 0;
}
static void on_repress(void *ctx, uint64_t tid)
{
	(void)ctx;
	repressed = tid;
}
static const struct opa_ops ops = { on_link, on_port, on_m_key, on_repress };

static struct opa_device *make(uint64_t guid, bool is_switch, uint8_t ports,
                               uint16_t speed)
{
	struct opa_port_row rows[SW_PORTS + 1] = { { 0 } };
	const struct opa_device_row row = { .guid = guid,
		                            .is_switch = is_switch,
		                            .n_ports = ports,
		                            .version = 1,
		                            .description =
		                                    is_switch ? "a switch" : "a host",
		                            .ops = &ops };
	struct opa_device *d;

	for (unsigned i = 1; i <= ports; i++) {
		rows[i].speed = speed;
	}
	ck_assert_int_eq(opa_device_new(&row, rows, &d), E_OK);
	return d;
}

static void setup(void)
{
	memset(orders, 0, sizeof(orders));
	told_ports = m_keys = 0;
	sw = make(0x1000, true, SW_PORTS, OPA_SPEED_25G);
	other = make(0x2000, true, SW_PORTS, OPA_SPEED_25G);
	hfi = make(0x3000, false, 1, OPA_SPEED_25G);
	two = make(0x4000, false, 2, OPA_SPEED_25G);
	ck_assert_int_eq(opa_link_up(&sw->ports[PORT], &hfi->ports[1], 4), E_OK);
	ck_assert_int_eq(opa_link_up(&sw->ports[4], &two->ports[1], 4), E_OK);
	ck_assert_int_eq(opa_link_up(&sw->ports[5], &other->ports[1], 4), E_OK);
	ck_assert_int_eq(opa_link_up(&sw->ports[6], &other->ports[2], 4), E_OK);
}

static void teardown(void)
{
	opa_device_free(sw);
	opa_device_free(other);
	opa_device_free(hfi);
	opa_device_free(two);
}

static uint64_t be(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++) {
		v = v << 8 | p[i];
	}
	return v;
}
static void put(uint8_t *p, unsigned bytes, uint64_t v)
{
	for (unsigned i = bytes; i-- > 0; v >>= 8) {
		p[i] = (uint8_t)v;
	}
}

/* Data of the request and of the answer. */
static uint8_t *data(void)
{
	return mad + (mad[1] == DR ? 176 : mad[1] == LR ? 32 : 24);
}

static void header(uint8_t mgmt_class, uint8_t method, uint16_t attr, uint32_t mod)
{
	mad[0] = mad[2] = 0x80;
	mad[1] = mgmt_class;
	mad[3] = method;
	memset(mad + 4, 0, 20);
	put(mad + 8, 8, 0x1122334455667788);
	put(mad + 16, 2, attr);
	put(mad + 20, 4, mod);
	if (mgmt_class != 4) {
		memset(mad + 24, 0, 8); /* M_Key */
	}
}

static const struct opa_from manager = { .port = 1, .p_key = 0xFFFF };

/* Sends what data() has; \return status, -1: no answer. */
static int ask(struct opa_device *d, uint8_t method, uint16_t attr, uint32_t mod,
               size_t len)
{
	header(LR, method, attr, mod);
	answer_len = opa_agent(d, &manager, mad, 32 + len);
	return answer_len == 0 ? -1 : (int)be(mad + 4, 2);
}
static int get(struct opa_device *d, uint16_t attr, uint32_t mod)
{
	mad[1] = LR;
	memset(data(), 0, 2016);
	return ask(d, OPA_GET, attr, mod, 0);
}
static int set(struct opa_device *d, uint16_t attr, uint32_t mod, size_t len)
{
	return ask(d, OPA_SET, attr, mod, len);
}

#define N1 (1u << 24)
#define START 0x200u

/* PortInfo of a port, ready to be Set with nothing but what the caller changes: no state change. */
static uint8_t *port_info(struct opa_device *d, unsigned port)
{
	ck_assert_int_eq(get(d, OPA_PORT_INFO, N1 | port), 0);
	put(data() + 16, 4, be(data() + 16, 4) & ~UINT64_C(0xFF));
	return data();
}
static int set_state(struct opa_device *d, unsigned port, unsigned state, uint32_t flags)
{
	port_info(d, port)[19] |= (uint8_t)state;
	return set(d, OPA_PORT_INFO, N1 | flags | port, 242);
}

/* --- the MAD ---------------------------------------------------------------------------------------- */

START_TEST(versions_methods_attributes)
{
	header(LR, OPA_GET, OPA_NODE_INFO, 0);
	mad[2] = 1;
	ck_assert_uint_ne(opa_agent(hfi, &manager, mad, 32), 0);
	ck_assert_uint_eq(be(mad + 4, 2), 0x04);
	ck_assert_int_eq(ask(hfi, 3, OPA_NODE_INFO, 0, 0), 0x08);
	ck_assert_int_eq(get(hfi, 0x7F, 0), 0x0C);
	ck_assert_int_eq(get(hfi, OPA_SWITCH_INFO, 0), 0x0C);
	ck_assert_int_eq(get(hfi, OPA_LFT, N1), 0x0C);
	ck_assert_int_eq(get(sw, OPA_HFI_CONGESTION, 0), 0x0C);
	ck_assert_int_eq(ask(hfi, OPA_SET, OPA_NODE_INFO, 0, 44), 0x0C);
	ck_assert_int_eq(set(hfi, OPA_PORT_INFO, N1 | 1, 241), 0x1C); /* too short */
	ck_assert_int_eq(ask(hfi, 0x81, OPA_NODE_INFO, 0, 0), -1);    /* a response */
	ck_assert_int_eq(ask(hfi, OPA_TRAP, OPA_NOTICE, 0, 96), -1);
	ck_assert_int_eq(ask(hfi, OPA_TRAP_REPRESS, OPA_NOTICE, 0, 96), -1);
	ck_assert_uint_eq(repressed, 0x1122334455667788);
}
END_TEST

START_TEST(a_get_needs_no_data_and_an_answer_is_rounded_up)
{
	ck_assert_int_eq(get(hfi, OPA_NODE_INFO, 0), 0);
	ck_assert_uint_eq(answer_len, 80); /* 32 + 44 */
	ck_assert_uint_eq(mad[3], 0x81);
	ck_assert_int_eq(get(hfi, OPA_PORT_INFO, N1 | 1), 0);
	ck_assert_uint_eq(answer_len, 280); /* 32 + 242 */
	header(DR, OPA_GET, OPA_NODE_INFO, 0);
	ck_assert_uint_eq(opa_agent(hfi, &manager, mad, 176), 224);
	ck_assert_uint_eq(be(mad + 4, 2), 0x8000);
	ck_assert_uint_eq(be(mad + 176 + 16, 8), 0x3000);
}
END_TEST

/* Modifiers of the two kinds of devices. */
static const struct {
	const char *what;
	bool on_switch;
	uint8_t method;
	uint16_t attr;
	uint32_t mod;
	int status;
} mods[] = {
	{ "NodeDescription of 1", false, OPA_GET, OPA_NODE_DESCRIPTION, 1, 0x1C },
	{ "PortInfo, N 0", false, OPA_GET, OPA_PORT_INFO, 1, 0x1C },
	{ "PortInfo, N 2, of an adapter", false, OPA_GET, OPA_PORT_INFO, 2 * N1 | 1,
	  0x1C },
	{ "PortInfo of port 0 is the one by which it comes", false, OPA_GET,
	  OPA_PORT_INFO, N1, 0 },
	{ "PortInfo of a port that is not there", false, OPA_GET, OPA_PORT_INFO, N1 | 2,
	  0x1C },
	{ "PortInfo, N 8 fit", true, OPA_GET, OPA_PORT_INFO, 8 * N1 | 1, 0 },
	{ "PortInfo, N 9 do not", true, OPA_GET, OPA_PORT_INFO, 9 * N1 | 1, 0x1C },
	{ "PortInfo beyond the last port", true, OPA_GET, OPA_PORT_INFO,
	  2 * N1 | SW_PORTS, 0x1C },
	{ "PortStateInfo of all ports", true, OPA_GET, OPA_PORT_STATE_INFO, 11 * N1, 0 },
	{ "PortStateInfo, N 2, of an adapter", false, OPA_GET, OPA_PORT_STATE_INFO,
	  2 * N1 | 1, 0x1C },
	{ "P_Keys, block 1", false, OPA_GET, OPA_P_KEY_TABLE, N1 | 1, 0x1C },
	{ "P_Keys of a switch port", true, OPA_GET, OPA_P_KEY_TABLE, N1 | 3 << 16, 0 },
	{ "SL to SC of 1", false, OPA_GET, OPA_SL_TO_SC, 1, 0x1C },
	{ "SC to VL_r is for switches", false, OPA_GET, OPA_SC_TO_VL_R, N1 | 1, 0x0C },
	{ "SC to VL_t, asynchronous Set", false, OPA_SET, OPA_SC_TO_VL_T,
	  N1 | 1 << 12 | 1, 0x1C },
	{ "SC to VL_nt with Y", true, OPA_GET, OPA_SC_TO_VL_NT, N1 | 1 << 12 | 1, 0x1C },
	{ "VL arbitration, section 4", true, OPA_GET, OPA_VL_ARB, N1 | 4 << 16 | 1,
	  0x1C },
	{ "VL arbitration, 7 ports", true, OPA_GET, OPA_VL_ARB, 7 * N1 | 1, 0 },
	{ "VL arbitration, 8 ports", true, OPA_GET, OPA_VL_ARB, 8 * N1 | 1, 0x1C },
	{ "preemption of an adapter", false, OPA_SET, OPA_VL_ARB, N1 | 2 << 16 | 1,
	  0x0C },
	{ "LFT, 31 blocks", true, OPA_GET, OPA_LFT, 31 * N1, 0 },
	{ "LFT, 32 blocks", true, OPA_GET, OPA_LFT, 32 * N1, 0x1C },
	{ "LFT beyond its capacity", true, OPA_GET, OPA_LFT, N1 | 0xC000 / 64, 0x1C },
	{ "LFT, the last block", true, OPA_GET, OPA_LFT, N1 | (0xC000 / 64 - 1), 0 },
	{ "MFT, a position without ports", true, OPA_GET, OPA_MFT, N1 | 1 << 22, 0x1C },
	{ "port groups beyond the last", true, OPA_GET, OPA_PORT_GROUP_TABLE, N1 | 8,
	  0x1C },
	{ "PGFT beyond its capacity", true, OPA_GET, OPA_PORT_GROUP_FT, N1 | 0x2000 / 64,
	  0x1C },
	{ "buffer control of all ports", true, OPA_GET, OPA_BUFFER_CONTROL, 10 * N1 | 1,
	  0 },
	{ "SC to SC beyond the last port", true, OPA_GET, OPA_SC_TO_SC,
	  2 * N1 | 1 << 8 | SW_PORTS, 0x1C },
	{ "a Get of the multi-set", true, OPA_GET, OPA_SC_TO_SC_SET, N1, 0x0C },
	{ "CongestionInfo of 1", false, OPA_GET, OPA_CONGESTION_INFO, 1, 0x1C },
	{ "cable, a read across 128 bytes", false, OPA_GET, OPA_CABLE_INFO,
	  100u << 19 | 63 << 13 | 1, 0x1C },
	{ "cable, up to the end of its half", false, OPA_GET, OPA_CABLE_INFO,
	  64u << 19 | 63 << 13 | 1, 0 },
	{ "cable of a port without one", true, OPA_GET, OPA_CABLE_INFO,
	  128u << 19 | 63 << 13 | 9, 0x1C },
	{ "an Aggregate of nothing", false, OPA_GET, OPA_AGGREGATE, 0, 0x1C },
	{ "an Aggregate of 118", false, OPA_GET, OPA_AGGREGATE, 118, 0x1C },
};

START_TEST(modifiers)
{
	struct opa_device *d = mods[_i].on_switch ? sw : hfi;

	mad[1] = LR;
	memset(data(), 0, 2016);
	ck_assert_msg(ask(d, mods[_i].method, mods[_i].attr, mods[_i].mod, 2016) ==
	                      mods[_i].status,
	              "%s: status 0x%x", mods[_i].what, (unsigned)be(mad + 4, 2));
}
END_TEST

START_TEST(p_key_gate)
{
	struct opa_from member = { .port = 1, .p_key = 0x7FFF },
			local = { .port = 1, .local = true };

	header(LR, OPA_GET, OPA_NODE_INFO, 0);
	ck_assert_uint_eq(opa_agent(hfi, &member, mad, 32), 0);
	ck_assert_uint_eq(hfi->ports[1].counters[OPA_RCV_CONSTRAINT], 1);
	ck_assert_uint_ne(opa_agent(hfi, &local, mad, 32), 0);
	/* without 0xFFFF and 0x7FFF its own programs have nothing to ask with */
	memset(hfi->ports[1].p_keys, 0, sizeof(hfi->ports[1].p_keys));
	header(LR, OPA_GET, OPA_NODE_INFO, 0);
	ck_assert_uint_eq(opa_agent(hfi, &local, mad, 32), 0);
	put(hfi->ports[1].p_keys, 2, 0x7FFF);
	ck_assert_uint_ne(opa_agent(hfi, &local, mad, 32), 0);
	ck_assert_int_eq(get(hfi, OPA_PORT_INFO, N1 | 1), 0);
	ck_assert_uint_eq(be(data() + 32, 2), 1); /* P_KeyViolations */
}
END_TEST

START_TEST(m_key_gate)
{
	uint8_t *info = port_info(hfi, 1);

	put(info + 112, 8, 0xABCD);
	info[22] = 1 << 6; /* M_KeyProtectBits 1: a Get is answered without the key */
	ck_assert_int_eq(set(hfi, OPA_PORT_INFO, N1 | 1, 242), 0);
	ck_assert_int_eq(get(hfi, OPA_PORT_INFO, N1 | 1), 0);
	ck_assert_uint_eq(be(data() + 112, 8), 0);
	ck_assert_int_eq(set(hfi, OPA_PORT_INFO, N1 | 1, 242), -1);
	ck_assert_uint_eq(m_keys, 1);
	header(LR, OPA_GET, OPA_PORT_INFO, N1 | 1);
	put(mad + 24, 8, 0xABCD);
	ck_assert_uint_ne(opa_agent(hfi, &manager, mad, 32), 0);
	ck_assert_uint_eq(be(data() + 112, 8), 0xABCD);
	ck_assert_uint_eq(be(data() + 30, 2), 1); /* M_KeyViolations */
	hfi->ports[1].info[22] = 2 << 6;
	ck_assert_int_eq(get(hfi, OPA_NODE_INFO, 0), -1);
}
END_TEST

/* --- what is there after power-on and link-up ------------------------------------------------------ */

START_TEST(node_info)
{
	ck_assert_int_eq(get(two, OPA_NODE_INFO, 0), 0);
	ck_assert_uint_eq(be(data(), 4), 0x80800102); /* versions, HFI, two ports */
	ck_assert_uint_eq(be(data() + 16, 8), 0x4000);
	ck_assert_uint_eq(be(data() + 24, 8), 0x4000);
	ck_assert_uint_eq(be(data() + 32, 2), 16); /* PartitionCap */
	ck_assert_uint_eq(data()[40], 1);          /* LocalPortNum */
	header(LR, OPA_GET, OPA_NODE_INFO, 0);
	ck_assert_uint_ne(
		opa_agent(two, &(struct opa_from){ .port = 2, .p_key = 0xFFFF }, mad, 32),
		0);
	ck_assert_uint_eq(be(data() + 24, 8), 0x40004000); /* bit 30: the second port */
	ck_assert_uint_eq(data()[40], 2);
	ck_assert_int_eq(get(sw, OPA_NODE_INFO, 0), 0);
	ck_assert_uint_eq(data()[2], 2);
	ck_assert_uint_eq(be(data() + 24, 8), 0x1000);
	ck_assert_int_eq(get(sw, OPA_NODE_DESCRIPTION, 0), 0);
	ck_assert_str_eq((const char *)data(), "a switch");
}
END_TEST

START_TEST(defaults)
{
	const uint8_t *i = data();

	ck_assert_int_eq(get(hfi, OPA_PORT_INFO, N1 | 1), 0);
	i = data();
	ck_assert_uint_eq(be(i, 4), 0);            /* LID */
	ck_assert_uint_eq(be(i + 16, 4), 0x52);    /* LinkUp, INIT; nothing else */
	ck_assert_uint_eq(i[21], 1 << 3 | 4);      /* CollectiveMask, MulticastMask */
	ck_assert_uint_eq(i[24] >> 4, 1);          /* LinkInitReason */
	ck_assert_uint_eq(be(i + 36, 4), 0);       /* SM_TrapQP */
	ck_assert_uint_eq(be(i + 40, 4), 1);       /* SA_QP */
	ck_assert_uint_eq(i[44], PORT);            /* NeighborPortNum */
	ck_assert_uint_eq(be(i + 52, 2), 2);       /* LinkSpeed.Active 25G */
	ck_assert_uint_eq(be(i + 58, 2), 8);       /* LinkWidth.Active 4 */
	ck_assert_uint_eq(be(i + 78, 2), 0x1400);  /* interleave */
	ck_assert_uint_eq(be(i + 88, 4), 0xBFFF);  /* MaxLID */
	ck_assert_uint_eq(i[128 + 7] & 15, 4);     /* NeighborMTU of VL 15: 2048 */
	ck_assert_uint_eq(be(i + 208, 8), 0x1000); /* NeighborNodeGUID */
	ck_assert_uint_eq(i[236] & 3, 1);          /* it is a switch */
	ck_assert_uint_eq(i[237] & 15, 7);         /* MTUCap 10240 */
	ck_assert_uint_eq(i[239], 1);
	ck_assert_int_eq(get(sw, OPA_PORT_INFO, N1 | PORT), 0);
	ck_assert_uint_eq(data()[24] & 0x0C,
	                  0x0C); /* partition enforcement towards a host */
	ck_assert_uint_eq(be(data() + 100, 4) >> 6 & 31, 18); /* VL15CreditRate */
	ck_assert_uint_eq(data()[236] & 3, 0);
	ck_assert_uint_eq(data()[144] >> 5, 7);  /* VLStallCount */
	ck_assert_uint_eq(data()[144] & 31, 31); /* HoQLife: infinite */
	ck_assert_int_eq(get(sw, OPA_PORT_INFO, N1 | 5), 0);
	ck_assert_uint_eq(data()[24] & 0x0C, 0);
	ck_assert_uint_eq(be(data() + 100, 4) >> 6 & 31, 0);
	ck_assert_int_eq(get(hfi, OPA_P_KEY_TABLE, N1), 0);
	ck_assert_uint_eq(be(data(), 8), 0x80017FFFFFFF0000);
	ck_assert_int_eq(get(sw, OPA_SWITCH_INFO, 0), 0);
	ck_assert_uint_eq(be(data(), 4), 0xC000);
	ck_assert_uint_eq(data()[67] & 4, 4); /* PortStateChange: links came up */
	ck_assert_int_eq(get(hfi, OPA_SC_TO_VL_T, N1 | 1), 0);
	ck_assert_uint_eq(data()[15], 15);
	/* buffer control divides what the neighbour has */
	ck_assert_int_eq(get(sw, OPA_BUFFER_CONTROL, N1 | PORT), 0);
	uint64_t sum = be(data() + 2, 2);
	for (unsigned vl = 0; vl < 32; vl++) {
		sum += be(data() + 4 + 4 * vl, 2);
	}
	ck_assert_int_eq(get(hfi, OPA_PORT_INFO, N1 | 1), 0);
	ck_assert_uint_eq(sum, be(data() + 228, 2));
}
END_TEST

START_TEST(links_agree_on_speed_and_width)
{
	struct opa_device *slow = make(0x5000, false, 1, OPA_SPEED_12G),
			  *fast = make(0x6000, false, 1, OPA_SPEED_100G);

	ck_assert_int_eq(opa_link_up(&sw->ports[7], &slow->ports[1], 2), E_OK);
	ck_assert_int_eq(get(sw, OPA_PORT_INFO, N1 | 7), 0);
	ck_assert_uint_eq(be(data() + 52, 2), 1);
	ck_assert_uint_eq(be(data() + 58, 2), 2);
	ck_assert_int_eq(opa_link_up(&sw->ports[8], &fast->ports[1], 4), E_OK);
	ck_assert_int_eq(get(sw, OPA_PORT_INFO, N1 | 8), 0);
	ck_assert_uint_eq(be(data() + 52, 2), 2); /* a 100 Gb/s port can do 25 */
	opa_link_down(&sw->ports[7], 49);
	opa_link_down(&sw->ports[8], 49);
	ck_assert_int_eq(opa_link_up(&slow->ports[1], &fast->ports[1], 4), E_UNSUITABLE);
	opa_device_free(slow);
	opa_device_free(fast);
}
END_TEST

START_TEST(lanes_go_and_come_back)
{
	ck_assert(opa_link_lanes(&sw->ports[5], 3));
	ck_assert(!opa_link_lanes(&sw->ports[5], 3));
	ck_assert_int_eq(get(other, OPA_PORT_STATE_INFO, N1 | 1), 0);
	ck_assert_uint_eq(be(data() + 4, 4), 0x00040004);
	ck_assert_int_eq(get(other, OPA_PORT_INFO, N1 | 1), 0);
	ck_assert_uint_eq(be(data() + 58, 2), 8); /* LinkWidth.Active stays */
	/* WidthDowngrade.Enabled 0 is applied: no downgrade */
	put(port_info(sw, 5) + 62, 2, 0);
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1 | 5, 242), 0);
	ck_assert(!opa_link_lanes(&sw->ports[5], 2));
}
END_TEST

/* --- states ------------------------------------------------------------------------------------------ */

/* Above INIT a port has LIDs. */
static void give_lid(void)
{
	put(port_info(hfi, 1), 4, 3);
	put(data() + 108, 4, 1);
	ck_assert_int_eq(set(hfi, OPA_PORT_INFO, N1 | 1, 242), 0);
}

START_TEST(arming_needs_the_start_bit)
{
	give_lid();
	ck_assert_int_eq(set_state(hfi, 1, OPA_ARMED, 0), 0x1C);
	ck_assert_uint_eq(data()[19] & 15, OPA_INIT); /* the state after it */
	ck_assert_int_eq(get(hfi, OPA_PORT_INFO, N1 | START | 1), 0);
	ck_assert_uint_eq(be(data() + 16, 4) >> 21 & 1, 1);
	ck_assert_int_eq(set_state(hfi, 1, OPA_ARMED, 0), 0);
	ck_assert_uint_eq(data()[19] & 15, OPA_ARMED);
	ck_assert_int_eq(set_state(hfi, 1, OPA_ARMED, 0), 0); /* a repeat */
	/* a link that bounced has forgotten it */
	opa_link_down(&hfi->ports[1], 49);
	opa_link_down(&sw->ports[PORT], 49);
	ck_assert_int_eq(opa_link_up(&sw->ports[PORT], &hfi->ports[1], 4), E_OK);
	ck_assert_int_eq(set_state(hfi, 1, OPA_ARMED, 0), 0x1C);
	/* and PortStateInfo sets it too */
	ck_assert_int_eq(get(hfi, OPA_PORT_STATE_INFO, N1 | START | 1), 0);
	ck_assert_int_eq(set_state(hfi, 1, OPA_ARMED, 0), 0);
}
END_TEST

START_TEST(activation_needs_a_neighbour_that_is_armed)
{
	give_lid();
	ck_assert_int_eq(set_state(hfi, 1, OPA_ACTIVE, START), 0x1C); /* not from INIT */
	ck_assert_int_eq(set_state(hfi, 1, OPA_ARMED, START), 0);
	ck_assert_int_eq(set_state(hfi, 1, OPA_ACTIVE, 0), 0x1C);
	ck_assert_uint_eq(be(data() + 16, 4) >> 20 & 1, 0); /* NeighborNormal */
	ck_assert_int_eq(set_state(sw, PORT, OPA_ARMED, START), 0);
	ck_assert_int_eq(set_state(hfi, 1, OPA_ACTIVE, 0), 0);
	ck_assert_uint_eq(be(data() + 16, 4) & 0x10000F, 0x100004);
	/* a switch's ports at once, by PortStateInfo; the second is not armed */
	put(data(), 8, (uint64_t)OPA_ACTIVE << 32);
	put(data() + 8, 8, (uint64_t)OPA_ACTIVE << 32);
	ck_assert_int_eq(set(sw, OPA_PORT_STATE_INFO, 2 * N1 | PORT, 16), 0x1C);
	ck_assert_uint_eq(data()[3] & 15, OPA_ACTIVE);
	ck_assert_uint_eq(data()[11] & 15, OPA_INIT);
}
END_TEST

START_TEST(the_sm_takes_links_down)
{
	port_info(hfi, 1)[19] |= OPA_DOWN | 2 << 4; /* Polling */
	ck_assert_int_eq(set(hfi, OPA_PORT_INFO, N1 | 1, 242), 0);
	ck_assert_uint_eq(orders[OPA_LINK_BOUNCE], 1);
	port_info(hfi, 1)[19] |= 3 << 4; /* Disabled */
	ck_assert_int_eq(set(hfi, OPA_PORT_INFO, N1 | 1, 242), 0);
	ck_assert_uint_eq(orders[OPA_LINK_DISABLE], 1);
	opa_link_down(&hfi->ports[1], 61);
	ck_assert_int_eq(get(hfi, OPA_PORT_INFO, N1 | 1), 0);
	ck_assert_uint_eq(be(data() + 16, 4),
	                  13u << 16 | 3 << 4 | OPA_DOWN); /* disabled by the SM */
	ck_assert_uint_eq(data()[45], 61);
	port_info(hfi, 1)[19] |= 2 << 4;
	ck_assert_int_eq(set(hfi, OPA_PORT_INFO, N1 | 1, 242), 0);
	ck_assert_uint_eq(orders[OPA_LINK_ENABLE], 1);
	/* Disabled and ARMED at once is nonsense */
	port_info(sw, 4)[19] |= OPA_ARMED | 3 << 4;
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1 | START | 4, 242), 0x1C);
	/* the reason stays until it is written 0 */
	opa_link_down(&sw->ports[4], 49);
	opa_link_down(&sw->ports[4], 36);
	ck_assert_uint_eq(port_info(sw, 4)[45], 49);
	data()[45] = 0;
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1 | 4, 242), 0);
	ck_assert_uint_eq(port_info(sw, 4)[45], 0);
}
END_TEST

/* --- PortInfo ----------------------------------------------------------------------------------------- */

START_TEST(what_is_valid_is_applied)
{
	uint8_t *i = port_info(hfi, 1);

	put(i, 4, 0x01000000); /* a LID has 24 bits */
	i[23] = 5;             /* MasterSMSL */
	put(i + 108, 4, 77);   /* MasterSMLID */
	ck_assert_int_eq(set(hfi, OPA_PORT_INFO, N1 | 1, 242), 0x1C);
	ck_assert_uint_eq(be(data(), 4), 0);
	ck_assert_uint_eq(data()[23], 5);
	ck_assert_uint_eq(be(data() + 108, 4), 77);
	put(data(), 4, 0xF00001); /* multicast */
	ck_assert_int_eq(set(hfi, OPA_PORT_INFO, N1 | 1, 242), 0x1C);
	put(port_info(hfi, 1), 4, 0x12345);
	ck_assert_int_eq(set(hfi, OPA_PORT_INFO, N1 | 1, 242), 0);
	ck_assert_uint_eq(be(data(), 4), 0x12345);
	/* 0 only up to INIT */
	ck_assert_int_eq(set_state(hfi, 1, OPA_ARMED, START), 0);
	put(port_info(hfi, 1), 4, 0);
	ck_assert_int_eq(set(hfi, OPA_PORT_INFO, N1 | 1, 242), 0x1C);
	ck_assert_uint_eq(be(data(), 4), 0x12345);
	/* a base switch port 0 has one LID */
	port_info(sw, 0)[22] = 1;
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1, 242), 0x1C);
}
END_TEST

START_TEST(enabled_fields)
{
	uint8_t *i = port_info(sw, 5);

	put(i + 50, 2, 1);
	put(i + 56, 2, 0);
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1 | 5, 242), 0);
	ck_assert_uint_eq(be(data() + 50, 2), 1);
	ck_assert_uint_eq(be(data() + 56, 2), 15); /* 0: no change */
	ck_assert_uint_eq(be(data() + 52, 2), 2);  /* active until it trains again */
	put(data() + 50, 2, 0xFFFF);
	put(data() + 56, 2, 0x0FFF);
	data()[19] = 0;
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1 | 5, 242), 0);
	ck_assert_uint_eq(be(data() + 50, 2), 3); /* as supported */
	put(data() + 50, 2, 8);
	data()[19] = 0;
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1 | 5, 242), 0x1C);
	data()[25] = 9; /* OperationalVL above VLCap */
	data()[19] = 0;
	put(data() + 50, 2, 0);
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1 | 5, 242), 0x1C);
	ck_assert_uint_eq(data()[25], 8);
	data()[128] = 0x85; /* NeighborMTU above MTUCap on VL 0, 4096 on VL 1 */
	data()[19] = 0;
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1 | 5, 242), 0x1C);
	ck_assert_uint_eq(data()[128], 0x45);
}
END_TEST

START_TEST(all_ports_at_once)
{
	uint8_t *i = port_info(sw, 7);

	put(i + 10, 2, 99); /* VL.HighLimit */
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1 | 0x100 | 7, 242), 0);
	for (unsigned port = 6; port <= SW_PORTS; port++) {
		ck_assert_uint_eq(be(port_info(sw, port) + 10, 2), port >= 7 ? 99 : 0);
	}
	ck_assert_int_eq(get(sw, OPA_PORT_INFO, 2 * N1 | 6), 0);
	ck_assert_uint_eq(be(data() + 248 + 10, 2), 99);
	ck_assert_uint_eq(data()[248 + 239], 7);
}
END_TEST

START_TEST(source_lid_check)
{
	struct opa_port *p = &sw->ports[PORT];

	ck_assert(opa_source_allowed(p, 5)); /* the SM has not said yet */
	put(port_info(sw, PORT), 4, 0x40);
	data()[22] = 2; /* LMC of the neighbour */
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1 | PORT, 242), 0);
	ck_assert(opa_source_allowed(p, 0x43));
	ck_assert(!opa_source_allowed(p, 0x44));
	ck_assert(opa_source_allowed(&sw->ports[5], 0x44)); /* from a switch */
	put(port_info(sw, PORT), 4, 0xFFFFFFFF);
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1 | PORT, 242), 0);
	ck_assert(opa_source_allowed(p, 0x44)); /* the check is off */
}
END_TEST

/* --- tables ------------------------------------------------------------------------------------------- */

START_TEST(p_key_tables)
{
	mad[1] = LR;
	memset(data(), 0, 64);
	put(data(), 2, 0x8005);
	ck_assert_int_eq(set(hfi, OPA_P_KEY_TABLE, N1, 64), 0x1C); /* without 0x7FFF */
	ck_assert_uint_eq(opa_p_key(&hfi->ports[1], 0), 0x8001);
	memset(data(), 0, 64);
	put(data(), 4, 0x80057FFF);
	ck_assert_int_eq(set(hfi, OPA_P_KEY_TABLE, N1, 64), 0);
	ck_assert_uint_eq(opa_p_key(&hfi->ports[1], 0), 0x8005);
	ck_assert(!opa_has_p_key(&hfi->ports[1], 0xFFFF));
	memset(data(), 0, 64);
	ck_assert_int_eq(set(sw, OPA_P_KEY_TABLE, N1 | PORT << 16, 64),
	                 0); /* a switch may be without */
}
END_TEST

START_TEST(maps)
{
	mad[1] = LR;
	memset(data(), 3, 32);
	data()[15] = 15;
	ck_assert_int_eq(set(hfi, OPA_SC_TO_VL_T, N1 | 1, 32), 0);
	data()[15] = 1; /* SC 15 is VL 15 */
	ck_assert_int_eq(set(hfi, OPA_SC_TO_VL_T, N1 | 1, 32), 0x1C);
	data()[15] = 15;
	ck_assert_int_eq(set(sw, OPA_SC_TO_VL_R, N1 | 0x100, 32), 0); /* all ports */
	ck_assert_int_eq(get(sw, OPA_SC_TO_VL_R, N1 | SW_PORTS), 0);
	ck_assert_uint_eq(data()[0], 3);
	ck_assert_int_eq(set_state(hfi, 1, OPA_ARMED, START), 0);
	memset(data(), 2, 32);
	data()[15] = 15;
	ck_assert_int_eq(set(hfi, OPA_SC_TO_VL_T, N1 | 1, 32), 0x1C);
	ck_assert_int_eq(set(hfi, OPA_SC_TO_VL_NT, N1 | 1, 32), 0x1C);
	ck_assert_int_eq(get(hfi, OPA_SC_TO_VL_T, N1 | 1), 0);
	ck_assert_uint_eq(data()[0], 3);
	memset(data(), 4, 32);
	ck_assert_int_eq(set(hfi, OPA_SL_TO_SC, 0, 32), 0);
	ck_assert_int_eq(get(hfi, OPA_SC_TO_SL, 0), 0);
	ck_assert_uint_eq(data()[4], 4); /* the other map is as it was */
	ck_assert_uint_eq(data()[5], 5);
}
END_TEST

START_TEST(sc_to_sc)
{
	ck_assert_int_eq(get(sw, OPA_SC_TO_SC, N1 | 1 << 8 | 2), 0);
	ck_assert_uint_eq(data()[7], 7);
	memset(data(), 9, 32);
	ck_assert_int_eq(set(sw, OPA_SC_TO_SC, N1 | 1 << 17 | 2, 32),
	                 0); /* all ingress ports */
	ck_assert_int_eq(get(sw, OPA_SC_TO_SC, 3 * N1 | 4 << 8 | 1), 0);
	ck_assert_uint_eq(data()[7], 7);
	ck_assert_uint_eq(data()[32 + 7], 9);
	ck_assert_uint_eq(data()[64 + 7], 7);
	/* multi-set: ingress ports 3 and 4, egress port 5 */
	memset(data(), 0, 96);
	data()[31] = 1 << 3 | 1 << 4;
	data()[63] = 1 << 5;
	memset(data() + 64, 11, 32);
	ck_assert_int_eq(set(sw, OPA_SC_TO_SC_SET, N1, 96), 0);
	ck_assert_int_eq(get(sw, OPA_SC_TO_SC, 2 * N1 | 3 << 8 | 5), 0);
	ck_assert_uint_eq(data()[0], 11);
	ck_assert_uint_eq(data()[32], 0);
	ck_assert_int_eq(get(sw, OPA_SC_TO_SC, N1 | 5 << 8 | 5), 0);
	ck_assert_uint_eq(data()[7], 7);
}
END_TEST

START_TEST(buffers)
{
	ck_assert_int_eq(get(sw, OPA_BUFFER_CONTROL, 2 * N1 | PORT), 0);
	ck_assert_uint_eq(be(data() + 136 + 4 + 4 * 15, 2),
	                  136); /* the second port, 136 bytes on */
	memset(data(), 0, 132);
	put(data() + 2, 2, 2176); /* all of the adapter's space */
	ck_assert_int_eq(set(sw, OPA_BUFFER_CONTROL, N1 | PORT, 132), 0);
	put(data() + 4, 2, 1);
	ck_assert_int_eq(set(sw, OPA_BUFFER_CONTROL, N1 | PORT, 132), 0x1C);
	ck_assert_int_eq(get(sw, OPA_BUFFER_CONTROL, N1 | PORT), 0);
	ck_assert_uint_eq(be(data() + 4, 2), 0);
}
END_TEST

START_TEST(forwarding)
{
	mad[1] = LR;
	for (unsigned i = 0; i < 128; i++) {
		data()[i] = (uint8_t)(i % 7);
	}
	ck_assert_int_eq(set(sw, OPA_LFT, 2 * N1 | 1, 128), 0);
	ck_assert_uint_eq(opa_route(sw, 64 + 5), 0xFF); /* above LinearFDBTop */
	ck_assert_int_eq(get(sw, OPA_SWITCH_INFO, 0), 0);
	put(data() + 12, 4, 64 + 100);
	ck_assert_int_eq(set(sw, OPA_SWITCH_INFO, 0, 84), 0);
	ck_assert_uint_eq(opa_route(sw, 64 + 5), 5);
	ck_assert_uint_eq(opa_route(sw, 64 + 101), 0xFF);
	ck_assert_uint_eq(opa_route(sw, 1), 0xFF);
	put(data() + 12, 4, 0xC000);
	ck_assert_int_eq(set(sw, OPA_SWITCH_INFO, 0, 84), 0x1C);
	memset(data(), 8, 64);
	ck_assert_int_eq(set(sw, OPA_LFT, N1 | 1 << 18 | 2, 64),
	                 0); /* all blocks from 2 on */
	ck_assert_int_eq(get(sw, OPA_LFT, N1 | (0xC000 / 64 - 1)), 0);
	ck_assert_uint_eq(data()[63], 8);
	ck_assert_int_eq(get(sw, OPA_LFT, N1 | 1), 0);
	ck_assert_uint_eq(data()[5], 5);
	for (unsigned i = 0; i < 8; i++) {
		put(data() + 8 * i, 8, 0x10 + i);
	}
	ck_assert_int_eq(set(sw, OPA_MFT, N1 | 3, 64), 0);
	ck_assert_int_eq(get(sw, OPA_MFT, 2 * N1 | 2), 0);
	ck_assert_uint_eq(be(data() + 64, 8), 0x10);
	ck_assert_uint_eq(be(data(), 8), 0);
	ck_assert_int_eq(set(sw, OPA_PORT_GROUP_TABLE, 2 * N1 | 6, 128), 0);
	ck_assert_uint_eq(sw->groups[56][0], 0x10);
	memset(data(), 55, 64);
	ck_assert_int_eq(set(sw, OPA_PORT_GROUP_FT, N1 | 1, 64), 0);
	ck_assert_int_eq(get(sw, OPA_PORT_GROUP_FT, 2 * N1), 0);
	ck_assert_uint_eq(data()[63], 0xFF);
	ck_assert_uint_eq(data()[64], 55);
}
END_TEST

START_TEST(switch_info)
{
	ck_assert_int_eq(get(sw, OPA_SWITCH_INFO, 0), 0);
	ck_assert_uint_eq(be(data() + 80, 2),
	                  0x0D);          /* AR, AddrRangeConfig, ExtendedSCSC */
	ck_assert_uint_eq(data()[74], 1); /* RoutingMode.Supported: linear */
	data()[67] = 18 << 3 | 0;         /* LifeTimeValue; does not clear the change */
	put(data() + 78, 2, 0xD2B0);
	ck_assert_int_eq(set(sw, OPA_SWITCH_INFO, 0, 84), 0);
	ck_assert_uint_eq(data()[67], 18 << 3 | 4);
	ck_assert_uint_eq(be(data() + 78, 2), 0xD2B0);
	data()[67] |= 4;
	ck_assert_int_eq(set(sw, OPA_SWITCH_INFO, 0, 84), 0);
	ck_assert_uint_eq(data()[67], 18 << 3);
	opa_link_down(&sw->ports[5], 49);
	ck_assert_int_eq(get(sw, OPA_SWITCH_INFO, 0), 0);
	ck_assert_uint_eq(data()[67] & 4, 4);
	opa_device_reset(sw);
	ck_assert_int_eq(get(sw, OPA_SWITCH_INFO, 0), 0);
	ck_assert_uint_eq(be(data() + 78, 2), 0);
}
END_TEST

START_TEST(led_and_cable)
{
	mad[1] = LR;
	memset(data(), 0, 8);
	data()[0] = 0x80;
	ck_assert_int_eq(set(hfi, OPA_LED_INFO, N1, 8), 0);
	ck_assert_int_eq(get(hfi, OPA_PORT_INFO, N1 | 1), 0);
	ck_assert_uint_eq(be(data() + 16, 4) >> 22 & 1, 1);
	ck_assert_int_eq(get(hfi, OPA_CABLE_INFO, 128u << 19 | 63 << 13 | 1), 0);
	ck_assert_uint_eq(data()[0], 0x11); /* QSFP28 */
	ck_assert_int_eq(memcmp(data() + 20, "SAGUARO ", 8), 0);
	uint8_t check = 0; /* CC_BASE of SFF-8636 */
	for (unsigned i = 0; i < 63; i++) {
		check = (uint8_t)(check + data()[i]);
	}
	ck_assert_uint_eq(data()[63], check);
	ck_assert_int_eq(get(hfi, OPA_CABLE_INFO, 192u << 19 | 63 << 13 | 1), 0);
	uint8_t serial[16];
	memcpy(serial, data() + 4, sizeof(serial));
	ck_assert_int_eq(get(sw, OPA_CABLE_INFO, 192u << 19 | 63 << 13 | PORT), 0);
	ck_assert_mem_eq(data() + 4, serial,
	                 sizeof(serial)); /* both ends are one cable */
}
END_TEST

START_TEST(congestion)
{
	ck_assert_int_eq(get(hfi, OPA_CONGESTION_INFO, 0), 0);
	ck_assert_uint_eq(data()[2], 31); /* ControlTableCap */
	memset(data(), 0x5A, 198);
	ck_assert_int_eq(set(hfi, OPA_HFI_CONGESTION, 0, 198), 0);
	ck_assert_int_eq(get(hfi, OPA_HFI_CONGESTION, 0), 0);
	ck_assert_uint_eq(data()[197], 0x5A);
	memset(data(), 0x21, 2 + 128);
	ck_assert_int_eq(set(hfi, OPA_HFI_CONGESTION_CONTROL, N1 | 2, 130), 0);
	ck_assert_int_eq(get(hfi, OPA_HFI_CONGESTION_CONTROL, 2 * N1 | 1), 0);
	ck_assert_uint_eq(data()[0], 0x21);
	ck_assert_uint_eq(data()[2 + 127], 0);
	ck_assert_uint_eq(data()[2 + 128], 0x21);
	ck_assert_int_eq(get(hfi, OPA_HFI_CONGESTION_CONTROL, N1 | 31), 0x1C);
	ck_assert_int_eq(get(sw, OPA_SWITCH_CONGESTION_LOG, 0), 0);
	ck_assert_int_eq(set(sw, OPA_SWITCH_CONGESTION_LOG, 0, 8), 0x0C);
	put(data(), 8, 0x0102030405060708);
	ck_assert_int_eq(set(sw, OPA_PORT_CONGESTION, 2 * N1 | 4, 8), 0);
	ck_assert_int_eq(get(sw, OPA_PORT_CONGESTION, N1 | 5), 0);
	ck_assert_uint_eq(be(data(), 4), 0x05060708);
}
END_TEST

/* --- Aggregate ---------------------------------------------------------------------------------------- */

static size_t segment(size_t at, uint16_t attr, uint32_t mod, unsigned words)
{
	put(data() + at, 2, attr);
	put(data() + at + 2, 2, words);
	put(data() + at + 4, 4, mod);
	return at + 8 + 8 * words;
}

START_TEST(aggregates)
{
	mad[1] = LR;
	memset(data(), 0, 2016);
	size_t at = segment(0, OPA_NODE_DESCRIPTION, 0, 8);
	size_t info = at;
	at = segment(at, OPA_PORT_INFO, N1 | START | 1, 31);
	ck_assert_int_eq(ask(hfi, OPA_GET, OPA_AGGREGATE, 2, info + 8),
	                 0); /* up to the last header */
	ck_assert_uint_eq(answer_len, 32 + at);
	ck_assert_str_eq((const char *)data() + 8, "a host");
	ck_assert_uint_eq(data()[info + 8 + 239], 1);
	ck_assert_uint_eq(be(data() + info + 8 + 16, 4) >> 21 & 1,
	                  1); /* bit S counts here too */
	/* as many as a MAD has room for */
	memset(data(), 0, 2016);
	at = 0;
	for (unsigned i = 0; i < 117; i++) {
		at = segment(at, OPA_LED_INFO, N1 | 1, 1);
	}
	ck_assert_int_eq(ask(hfi, OPA_GET, OPA_AGGREGATE, 117, at - 8), 0);
	ck_assert_uint_eq(answer_len, 32 + at);
	/* an unknown attribute has its Error bit and ends it */
	memset(data(), 0, 2016);
	at = segment(0, 0x7F, 0, 1);
	segment(at, OPA_NODE_DESCRIPTION, 0, 8);
	ck_assert_int_eq(ask(hfi, OPA_GET, OPA_AGGREGATE, 2, 100), 0x0C);
	ck_assert_uint_eq(data()[2] >> 7, 1);
	ck_assert_uint_eq(data()[at + 8], 0);
	/* an invalid field has not: only the status tells */
	memset(data(), 0, 2016);
	at = segment(0, OPA_NODE_DESCRIPTION, 1, 8);
	segment(at, OPA_NODE_DESCRIPTION, 0, 8);
	ck_assert_int_eq(ask(hfi, OPA_GET, OPA_AGGREGATE, 2, 100), 0x1C);
	ck_assert_uint_eq(data()[2] >> 7, 0);
	ck_assert_uint_eq(data()[at + 8], 0);
	/* a value that does not fit into what was asked for; a Set that ends too early; one inside another */
	memset(data(), 0, 2016);
	segment(0, OPA_NODE_DESCRIPTION, 0, 7);
	ck_assert_int_eq(ask(hfi, OPA_GET, OPA_AGGREGATE, 1, 8), 0x1C);
	memset(data(), 0, 2016);
	at = segment(0, OPA_SL_TO_SC, 0, 4);
	ck_assert_int_eq(ask(hfi, OPA_SET, OPA_AGGREGATE, 1, at - 1), 0x1C);
	memset(data(), 0, 2016);
	segment(0, OPA_AGGREGATE, 1, 20);
	ck_assert_int_eq(ask(hfi, OPA_GET, OPA_AGGREGATE, 1, 8), 0x0C);
}
END_TEST

/* --- counters ----------------------------------------------------------------------------------------- */

static int ask_perf(struct opa_device *d, uint8_t method, uint16_t attr, uint32_t mod,
                    size_t len)
{
	header(4, method, attr, mod);
	answer_len = opa_perf_agent(d, &manager, mad, 24 + len);
	return answer_len == 0 ? -1 : (int)be(mad + 4, 2);
}

/* The three fields that most requests have: ports below 64, VLs, resolution. */
static void select_ports(uint64_t ports, uint32_t vls, uint32_t resolution)
{
	mad[1] = 4;
	memset(data(), 0, 2024);
	put(data() + 24, 8, ports);
	put(data() + 32, 4, vls);
	put(data() + 36, 4, resolution);
}

START_TEST(port_status)
{
	hfi->ports[1].counters[OPA_XMIT_DATA] = 0x123456789A;
	hfi->ports[1].counters[opa_counter_find("UncorrectableErrors")] = 300;
	hfi->ports[1].counters[opa_counter_find("linkdowned")] = UINT64_C(1) << 40;
	ck_assert_int_eq(opa_counter_find("NoSuch"), OPA_COUNTERS);
	mad[1] = 4;
	memset(data(), 0, 2024);
	put(data() + 4, 4, 0x8001);
	ck_assert_int_eq(ask_perf(hfi, OPA_GET, OPA_PORT_STATUS, N1, 8), 0);
	ck_assert_uint_eq(answer_len, 24 + 216 + 2 * 112);
	ck_assert_uint_eq(data()[0], 1);
	ck_assert_uint_eq(be(data() + 8, 8), 0x123456789A);
	ck_assert_uint_eq(be(data() + 204, 4), UINT32_MAX);
	ck_assert_uint_eq(data()[208], 255);
	ck_assert_uint_eq(data()[209], 5);                    /* LinkQualityIndicator */
	ck_assert_uint_eq(be(data() + 216, 8), 0x123456789A); /* VL 0 */
	ck_assert_uint_eq(be(data() + 216 + 112, 8), 0);      /* VL 15 */
	put(data() + 4, 4, 0x100);                            /* VL 8 */
	ck_assert_int_eq(ask_perf(hfi, OPA_GET, OPA_PORT_STATUS, N1, 8), 0x1C);
	ck_assert_uint_eq(answer_len, 24); /* a refusal is the header */
	put(data(), 8, 0);
	ck_assert_int_eq(ask_perf(hfi, OPA_GET, OPA_PORT_STATUS, 2 * N1, 8), 0x1C);
	put(data(), 8, UINT32_MAX);
	ck_assert_int_eq(ask_perf(hfi, OPA_GET, OPA_PORT_STATUS, N1, 8),
	                 0x0100); /* size comes first */
	put(data(), 8, UINT64_C(9) << 56);
	ck_assert_int_eq(ask_perf(hfi, OPA_GET, OPA_PORT_STATUS, N1, 8), 0x1C);
	ck_assert_int_eq(ask_perf(hfi, OPA_SET, OPA_PORT_STATUS, N1, 8), 0x0C);
	ck_assert_int_eq(ask_perf(hfi, OPA_GET, 0x45, N1, 8), 0x0C);
	ck_assert_int_eq(ask_perf(hfi, 3, OPA_PORT_STATUS, N1, 8), 0x08);
	ck_assert_int_eq(ask_perf(hfi, OPA_GET, OPA_PORT_STATUS, N1, 7), 0x1C);
	opa_link_down(&sw->ports[9], 49);
	put(data(), 8, UINT64_C(9) << 56);
	ck_assert_int_eq(ask_perf(sw, OPA_GET, OPA_PORT_STATUS, N1, 8), 0);
	ck_assert_uint_eq(data()[209], 0); /* the link is down */
}
END_TEST

START_TEST(data_and_error_counters)
{
	sw->ports[PORT].counters[OPA_RCV_ERRORS] = 7;
	sw->ports[PORT].counters[OPA_LINK_INTEGRITY] = 0x5000;
	sw->ports[5].counters[OPA_XMIT_PKTS] = 11;
	select_ports(1 << PORT | 1 << 5, 1, 0x20);
	ck_assert_int_eq(ask_perf(sw, OPA_GET, OPA_DATA_COUNTERS, 2 * N1, 40), 0);
	ck_assert_uint_eq(answer_len, 24 + 40 + 2 * (136 + 104));
	ck_assert_uint_eq(data()[40], PORT);
	ck_assert_uint_eq(be(data() + 40 + 128, 8), 7 + (0x5000 >> 10)); /* 2 + 8 */
	ck_assert_uint_eq(data()[40 + 240], 5);
	ck_assert_uint_eq(be(data() + 40 + 240 + 24, 8), 11);
	ck_assert_uint_eq(be(data() + 40 + 240 + 136 + 16, 8), 11); /* of VL 0 */
	select_ports(1 << PORT, 0, 0);
	ck_assert_int_eq(ask_perf(sw, OPA_GET, OPA_ERROR_COUNTERS, N1, 40), 0);
	ck_assert_uint_eq(answer_len, 24 + 40 + 96);
	ck_assert_uint_eq(be(data() + 40 + 56, 8), 7);
	select_ports(1 << PORT, 0, 0);
	ck_assert_int_eq(ask_perf(sw, OPA_GET, OPA_ERROR_COUNTERS, 2 * N1, 40), 0x0200);
	select_ports(UINT64_C(1) << 40, 0, 0);
	ck_assert_int_eq(ask_perf(sw, OPA_GET, OPA_ERROR_COUNTERS, N1, 40), 0x1C);
	select_ports(0x7FF, 0x80FF, 0); /* 11 * 1072 bytes */
	ck_assert_int_eq(ask_perf(sw, OPA_GET, OPA_DATA_COUNTERS, 11 * N1, 40), 0x0100);
	select_ports(1 << 2, 0, 0); /* not its port */
	ck_assert_int_eq(ask_perf(hfi, OPA_GET, OPA_DATA_COUNTERS, N1, 40), 0x1C);
}
END_TEST

START_TEST(clears)
{
	for (unsigned i = 0; i < OPA_COUNTERS; i++) {
		sw->ports[PORT].counters[i] = sw->ports[4].counters[i] = 9;
	}
	select_ports(1 << PORT, 1u << 10 | 1u << 31, 0); /* RcvErrors, XmitData */
	ck_assert_int_eq(ask_perf(sw, OPA_SET, OPA_CLEAR_PORT_STATUS, N1, 36), 0);
	ck_assert_uint_eq(sw->ports[PORT].counters[OPA_RCV_ERRORS], 0);
	ck_assert_uint_eq(sw->ports[PORT].counters[OPA_XMIT_DATA], 0);
	ck_assert_uint_eq(sw->ports[PORT].counters[OPA_OVERRUNS], 9);
	ck_assert_uint_eq(sw->ports[4].counters[OPA_RCV_ERRORS], 9);
	select_ports(1 << PORT | 1 << 4, UINT32_MAX, 0);
	ck_assert_int_eq(ask_perf(sw, OPA_SET, OPA_CLEAR_PORT_STATUS, N1, 36),
	                 0); /* N is 1 whatever */
	ck_assert_uint_eq(sw->ports[4].counters[OPA_UNCORRECTABLE], 0);
	select_ports(1 << 1, UINT32_MAX, 0);
	ck_assert_int_eq(ask_perf(hfi, OPA_SET, OPA_CLEAR_PORT_STATUS, 2 * N1, 36), 0x1C);
	ck_assert_int_eq(ask_perf(hfi, OPA_GET, OPA_CLEAR_PORT_STATUS, N1, 36), 0x0C);
	hfi->ports[1].error_info[8] = 0x83;
	select_ports(1 << 1, 1u << 31, 0);
	ck_assert_int_eq(ask_perf(hfi, OPA_SET, OPA_ERROR_INFO, N1, 40), 0);
	ck_assert_uint_eq(answer_len, 24 + 112);
	ck_assert_uint_eq(hfi->ports[1].error_info[8],
	                  3); /* the status bit; the rest stays */
}
END_TEST

START_TEST(a_member_does_not_ask_a_manager)
{
	struct opa_from member = { .port = 1, .p_key = 0x7FFF },
			stranger = { .port = 1, .p_key = 0x8001 };

	header(4, OPA_GET, OPA_CLASS_PORT_INFO, 0);
	ck_assert_uint_eq(opa_perf_agent(hfi, &member, mad, 24), 0);
	put(hfi->ports[1].p_keys + 4, 2, 0);
	ck_assert_uint_eq(opa_perf_agent(hfi, &member, mad, 24), 104);
	ck_assert_uint_eq(be(data(), 2), 0x8080);
	header(4, OPA_GET, OPA_CLASS_PORT_INFO, 0);
	ck_assert_uint_eq(opa_perf_agent(hfi, &stranger, mad, 24), 0);
	ck_assert_int_eq(ask_perf(hfi, OPA_GET, OPA_CLASS_PORT_INFO, 1, 0), 0x1C);
	ck_assert_uint_eq(answer_len, 104); /* with the data */
}
END_TEST

/* --- traps -------------------------------------------------------------------------------------------- */

START_TEST(traps)
{
	uint8_t trap[OPA_MAD_BYTES] = { 0 }, request[64] = { 0 };

	put(port_info(sw, 0), 4, 0x1234);
	ck_assert_int_eq(set(sw, OPA_PORT_INFO, N1, 242), 0);
	ck_assert_uint_eq(opa_trap(&sw->ports[0], OPA_TRAP_PORT_STATE, 99, 0, NULL, trap),
	                  32 + 96);
	ck_assert_uint_eq(be(trap, 4), 0x80018005);
	ck_assert_uint_eq(be(trap + 8, 8), 99);
	ck_assert_uint_eq(be(trap + 32, 4),
	                  0x81000002); /* generic, urgent, from a switch */
	ck_assert_uint_eq(be(trap + 36, 2), 128);
	ck_assert_uint_eq(be(trap + 40, 4), 0x1234);
	ck_assert_uint_eq(be(trap + 64, 4), 0x1234);
	memset(trap, 0, sizeof(trap));
	request[3] = OPA_SET;
	put(request + 16, 2, OPA_PORT_INFO);
	put(request + 20, 4, N1 | 1);
	put(request + 24, 8, 0xBAD);
	opa_trap(&hfi->ports[1], OPA_TRAP_M_KEY, 1, 0, request, trap);
	ck_assert_uint_eq(be(trap + 36, 2), 0x100);
	ck_assert_uint_eq(trap[32 + 40], OPA_SET);
	ck_assert_uint_eq(be(trap + 32 + 42, 2), OPA_PORT_INFO);
	ck_assert_uint_eq(be(trap + 32 + 44, 4), N1 | 1);
	ck_assert_uint_eq(be(trap + 32 + 48, 8), 0xBAD);
	memset(trap, 0, sizeof(trap));
	opa_trap(&hfi->ports[1], OPA_TRAP_CAPABILITY, 1, 1, NULL, trap);
	ck_assert_uint_eq(be(trap + 36, 2), 0x90);
	ck_assert_uint_eq(be(trap + 32 + 44, 2), 1); /* NodeDescription */
}
END_TEST

/* --- adaptive routing --------------------------------------------------------------------------------- */

enum { LIDS = 16 };
static uint8_t busy[SW_PORTS + 1];
static const struct opa_load load = { .percent = busy };
static unsigned moved_to[SW_PORTS + 1];

static void on_move(void *ctx, const struct opa_move *m)
{
	(void)ctx;
	moved_to[m->to]++;
}

/* LIDs 1 to 15 leave by port 5; the group of odd ones has ports 5, 6 and 7, even ones have none. */
static void adaptive(unsigned algorithm, unsigned frequency, unsigned threshold,
                     bool lost_only)
{
	uint8_t lft[64];

	memset(busy, 0, sizeof(busy));
	memset(moved_to, 0, sizeof(moved_to));
	for (unsigned port = 5; port <= 7; port++) {
		field_set(sw->ports[port].info, OPI_STATE, OPA_ACTIVE);
	}
	memset(lft, 5, sizeof(lft));
	ck_assert_int_eq(opa_lft_put(sw, 0, lft, 64), E_OK);
	mad[1] = LR;
	memset(data(), 0, 64);
	put(data(), 8, 1 << 4 | 1 << 5 | 1 << 6); /* group 0; bit 0 is port 1 */
	ck_assert_int_eq(set(sw, OPA_PORT_GROUP_TABLE, N1, 64), 0);
	memset(data(), 0xFF, 64);
	for (unsigned lid = 1; lid < LIDS; lid += 2) {
		data()[lid] = 0;
	}
	ck_assert_int_eq(set(sw, OPA_PORT_GROUP_FT, N1, 64), 0);
	ck_assert_int_eq(get(sw, OPA_SWITCH_INFO, 0), 0);
	put(data() + 12, 4, LIDS - 1);
	data()[73] = 1; /* PortGroupTop */
	put(data() + 78, 2,
	    1u << 15 | algorithm << 11 | frequency << 8 | (unsigned)lost_only << 7 |
	            threshold << 4);
	ck_assert_int_eq(set(sw, OPA_SWITCH_INFO, 0, 84), 0);
}
static unsigned adapt(uint64_t now_us)
{
	return opa_adapt(sw, now_us, &load, on_move, NULL);
}
static void change_ar(uint16_t on, uint16_t off)
{
	ck_assert_int_eq(get(sw, OPA_SWITCH_INFO, 0), 0);
	put(data() + 78, 2, (be(data() + 78, 2) | on) & (uint16_t)~off);
	ck_assert_int_eq(set(sw, OPA_SWITCH_INFO, 0, 84), 0);
}

START_TEST(a_lost_route_moves)
{
	adaptive((unsigned)_i, 0, 3, true);
	ck_assert_uint_eq(adapt(1), 0);
	field_set(sw->ports[5].info, OPI_STATE, OPA_DOWN);
	change_ar(1 << 14, 0); /* Pause */
	ck_assert_uint_eq(adapt(2), 0);
	change_ar(0, 1 << 14);
	ck_assert_uint_eq(adapt(3), LIDS / 2);
	for (unsigned lid = 1; lid < LIDS; lid++) {
		uint8_t out = opa_route(sw, lid);

		ck_assert(lid % 2 ? out == 6 || out == 7
		                  : out == 5); /* even ones have no alternate */
	}
	ck_assert_uint_eq(moved_to[6] + moved_to[7], LIDS / 2);
	ck_assert_uint_eq(sw->moves, LIDS / 2);
}
END_TEST

START_TEST(congestion_moves_routes_unless_only_lost_ones_do)
{
	adaptive(1, 0, 3, true);
	busy[5] = 100;
	ck_assert_uint_eq(adapt(1), 0);
	change_ar(0, 1 << 7);
	busy[6] = 50;
	ck_assert_uint_gt(adapt(1), 0);
	ck_assert_uint_eq(moved_to[6], 0); /* greedy: port 7 is the least busy one */
	ck_assert_uint_gt(moved_to[7], 0);
}
END_TEST

/* 7, 6, 5, 4: 55, 60, 65, 70 %; 3, 2, 1: 80, 90, 100 %. */
static const unsigned limits[] = { 0, 100, 90, 80, 70, 65, 60, 55 };

START_TEST(thresholds)
{
	adaptive(1, 0, (unsigned)_i, false);
	busy[5] = (uint8_t)(limits[_i] - 1);
	ck_assert_uint_eq(adapt(1), 0);
	busy[5] = (uint8_t)limits[_i];
	ck_assert_uint_gt(adapt(1), 0);
}
END_TEST

START_TEST(algorithms)
{
	adaptive(0, 0, 3, false); /* Random: any of the group */
	busy[5] = 100;
	busy[6] = 95;
	adapt(1);
	ck_assert_uint_gt(moved_to[6], 0);
	ck_assert_uint_gt(moved_to[7], 0);
	adaptive(2, 0, 3, false); /* GreedyRandom: only one that is not busy */
	sw->adapted_us = 0;
	busy[5] = 100;
	busy[6] = 95;
	adapt(1);
	ck_assert_uint_eq(moved_to[6], 0);
	ck_assert_uint_gt(moved_to[7], 0);
	adaptive(2, 0, 3, false); /* all are: the least busy one */
	sw->adapted_us = 0;
	busy[5] = 100;
	busy[6] = 95;
	busy[7] = 90;
	adapt(1);
	ck_assert_uint_eq(moved_to[6], 0);
	adaptive(1, 0, 3, false); /* none is better */
	sw->adapted_us = 0;
	busy[5] = busy[6] = busy[7] = 100;
	ck_assert_uint_eq(adapt(1), 0);
}
END_TEST

START_TEST(at_most_so_often)
{
	const uint64_t pause_us = (uint64_t)64000 << _i, start = 1000;

	adaptive(1, (unsigned)_i, 3, true);
	field_set(sw->ports[5].info, OPI_STATE, OPA_DOWN);
	ck_assert_uint_gt(adapt(start), 0);
	const uint8_t now = opa_route(sw, 1);
	field_set(sw->ports[now].info, OPI_STATE, OPA_DOWN);
	ck_assert_uint_eq(opa_adapt_due_us(sw), start + pause_us);
	ck_assert_uint_eq(adapt(start + pause_us - 1), 0);
	ck_assert_uint_gt(adapt(start + pause_us), 0);
}
END_TEST

START_TEST(groups_beyond_the_top_do_not_count)
{
	adaptive(1, 0, 3, true);
	ck_assert_int_eq(get(sw, OPA_SWITCH_INFO, 0), 0);
	data()[73] = 0;
	ck_assert_int_eq(set(sw, OPA_SWITCH_INFO, 0, 84), 0);
	field_set(sw->ports[5].info, OPI_STATE, OPA_DOWN);
	ck_assert_uint_eq(adapt(1), 0);
	ck_assert(!opa_adapt_enabled(hfi));
}
END_TEST

TEST_SUITE(sim_opa)
{
	TCase *tc = tcase_create("devices of Omni-Path");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, versions_methods_attributes);
	tcase_add_test(tc, a_get_needs_no_data_and_an_answer_is_rounded_up);
	tcase_add_loop_test(tc, modifiers, 0, sizeof(mods) / sizeof(mods[0]));
	tcase_add_test(tc, p_key_gate);
	tcase_add_test(tc, m_key_gate);
	tcase_add_test(tc, node_info);
	tcase_add_test(tc, defaults);
	tcase_add_test(tc, links_agree_on_speed_and_width);
	tcase_add_test(tc, lanes_go_and_come_back);
	tcase_add_test(tc, arming_needs_the_start_bit);
	tcase_add_test(tc, activation_needs_a_neighbour_that_is_armed);
	tcase_add_test(tc, the_sm_takes_links_down);
	tcase_add_test(tc, what_is_valid_is_applied);
	tcase_add_test(tc, enabled_fields);
	tcase_add_test(tc, all_ports_at_once);
	tcase_add_test(tc, source_lid_check);
	tcase_add_test(tc, p_key_tables);
	tcase_add_test(tc, maps);
	tcase_add_test(tc, sc_to_sc);
	tcase_add_test(tc, buffers);
	tcase_add_test(tc, forwarding);
	tcase_add_test(tc, switch_info);
	tcase_add_test(tc, led_and_cable);
	tcase_add_test(tc, congestion);
	tcase_add_test(tc, aggregates);
	tcase_add_test(tc, port_status);
	tcase_add_test(tc, data_and_error_counters);
	tcase_add_test(tc, clears);
	tcase_add_test(tc, a_member_does_not_ask_a_manager);
	tcase_add_test(tc, traps);
	suite_add_tcase(suite, tc);
	tc = tcase_create("adaptive routing");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_lost_route_moves, 0, 3);
	tcase_add_test(tc, congestion_moves_routes_unless_only_lost_ones_do);
	tcase_add_loop_test(tc, thresholds, 1, 8);
	tcase_add_test(tc, algorithms);
	tcase_add_loop_test(tc, at_most_so_often, 0, 8);
	tcase_add_test(tc, groups_beyond_the_top_do_not_count);
	suite_add_tcase(suite, tc);
}

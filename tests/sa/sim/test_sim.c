/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/sim_fixture.h"
#include "tests/lib/suite.h"

/* Management agents and routes of the simulated fabric. */

START_TEST(node_info_of_each_hop)
{
	/* 14.2.5.3: PortGUID and LocalPortNum are those of the port where the SMP came
	 * in. */
	static const struct {
		uint8_t n, path[3];
		uint64_t node, port;
		unsigned type, local;
	} rows[] = {
		{ 0, { 0 }, H1, H1 + PORT1, NODE_CA, 1 },
		{ 1, { 1 }, A, A, NODE_SWITCH, 1 },
		{ 2, { 1, 3 }, B, B, NODE_SWITCH, 3 },
		{ 2, { 1, 4 }, B, B, NODE_SWITCH, 4 },
		{ 3, { 1, 3, 1 }, H2, H2 + PORT1, NODE_CA, 1 },
		{ 3, { 1, 3, 4 }, A, A, NODE_SWITCH, 4 },
	};
	to(rows[_i].path, rows[_i].n);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, NI_NODE_GUID), rows[_i].node);
	ck_assert_uint_eq(field_get(fixture.data, NI_PORT_GUID), rows[_i].port);
	ck_assert_uint_eq(field_get(fixture.data, NI_NODE_TYPE), rows[_i].type);
	ck_assert_uint_eq(field_get(fixture.data, NI_LOCAL_PORT_NUM), rows[_i].local);
	/* 14.2.2: the answer has the direction bit, and its hop pointer is back at 0. */
	ck_assert_uint_eq(field_get(fixture.mad, SMP_DIRECTION), 1);
	ck_assert_uint_eq(field_get(fixture.mad, SMP_HOP_POINTER), 0);
	ck_assert_uint_eq(fixture.mad[3], UMAD_METHOD_GET_RESP);
}
END_TEST

START_TEST(no_way_no_answer)
{
	static const struct {
		uint8_t n, path[4];
	} rows[] = {
		{ 1, { 2 } },          /* h1 has no port 2 */
		{ 2, { 1, 2 } },       /* no cable */
		{ 2, { 1, 0 } },       /* port 0 is no way out */
		{ 2, { 1, 200 } },     /* no such port */
		{ 4, { 1, 3, 1, 1 } }, /* through a channel adapter */
	};
	to(rows[_i].path, rows[_i].n);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), -1);
}
END_TEST

START_TEST(hop_count_beyond_the_path)
{
	TO(1);
	fill(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 0);
	field_set(fixture.mad, SMP_HOP_COUNT, 64);
	ck_assert_int_eq(exchange_to(0xFFFF), -1);
	fill(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 0);
	field_set(fixture.mad, SMP_HOP_POINTER, 1);
	ck_assert_int_eq(exchange_to(0xFFFF), -1);
}
END_TEST

START_TEST(descriptions)
{
	TO(1, 3);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_DESC, 0), 0);
	ck_assert_str_eq((char *)fixture.data, "switch b");
}
END_TEST

START_TEST(unknown_things_are_answered)
{
	TO(1);
	ck_assert_int_eq(get(0x7777, 0), 0x0C);
	ck_assert_int_eq(get(UMAD_SM_ATTR_SM_INFO, 0), 0x0C);
	ck_assert_int_eq(set(UMAD_SM_ATTR_NODE_INFO, 0), 0x0C);
	ck_assert_int_eq(smp(UMAD_METHOD_SEND, UMAD_SM_ATTR_NODE_INFO, 0), 0x08);
	ck_assert_int_eq(get(UMAD_SM_ATTR_PORT_INFO, 5), 0x1C);
	TO(1, 3, 1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_SWITCH_INFO, 0), 0x0C);
	ck_assert_int_eq(get(UMAD_SM_ATTR_LINEAR_FT, 0), 0x0C);
	fill(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 0);
	field_set(fixture.mad, MAD_CLASS_VERSION, 2);
	ck_assert_int_eq(exchange_to(0xFFFF), 0x04);
}
END_TEST

START_TEST(port_states)
{
	/* 7.2.7 and 14.2.5.6: only INIT -> ARMED -> ACTIVE; anything else is refused. */
	TO(1);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_INIT);
	ck_assert_int_eq(change(3, PI_PORT_STATE, PORT_ACTIVE), 0x1C);
	ck_assert_int_eq(change(3, PI_PORT_STATE, PORT_INIT), 0x1C);
	ck_assert_int_eq(change(3, PI_PORT_STATE, 5), 0x1C);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_INIT);
	ck_assert_int_eq(change(3, PI_PORT_STATE, PORT_ARMED), 0);
	ck_assert_int_eq(change(3, PI_PORT_STATE, PORT_ARMED), 0x1C);
	ck_assert_int_eq(change(3, PI_VL_HIGH_LIMIT, 7), 0);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_ARMED);
	ck_assert_uint_eq(port_field(3, PI_VL_HIGH_LIMIT), 7);
	ck_assert_int_eq(change(3, PI_PORT_STATE, PORT_ACTIVE), 0);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_ACTIVE);
	ck_assert_uint_eq(sim_bounces(fixture.s), 0);
	TO(1, 4);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_INIT);
	TO(1);
	ck_assert_int_eq(change(3, PI_PORT_STATE, PORT_DOWN), 0);
	ck_assert_uint_eq(port_field(3, PI_PORT_STATE), PORT_INIT);
	ck_assert_uint_eq(sim_bounces(fixture.s), 1);
	ck_assert_uint_eq(port_field(2, PI_PORT_STATE), PORT_DOWN); /* no cable */
	ck_assert_int_eq(change(2, PI_PORT_STATE, PORT_ARMED), 0x1C);
}
END_TEST

START_TEST(bad_set_changes_nothing)
{
	TO(1, 3, 1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_PORT_INFO, 0), 0);
	field_set(fixture.data, PI_PORT_STATE, 0);
	field_set(fixture.data, PI_LID, 9);
	field_set(fixture.data, PI_MASTER_SM_LID, 1);
	field_set(fixture.data, PI_OPERATIONAL_VLS, 5); /* VLCap is 4 */
	ck_assert_int_eq(set(UMAD_SM_ATTR_PORT_INFO, 0), 0x1C);
	ck_assert_uint_eq(port_field(0, PI_LID), 0);
}
END_TEST

START_TEST(refused_values)
{
	static const struct {
		unsigned bit, width;
		uint64_t v;
	} rows[] = {
		{ PI_LID, 0 },
		{ PI_LID, 0xC000 },
		{ PI_MASTER_SM_LID, 0 },
		{ PI_NEIGHBOR_MTU, 0 },
		{ PI_NEIGHBOR_MTU, 6 },
		{ PI_LINK_WIDTH_ENABLED, 16 },
		{ PI_LINK_SPEED_ENABLED, 8 },
	};
	TO(1, 3, 1);
	give_lid(4);
	ck_assert_int_eq(change(1, rows[_i].bit, rows[_i].width, rows[_i].v), 0x1C);
}
END_TEST

START_TEST(read_only_fields_stay)
{
	static const struct {
		unsigned bit, width;
	} rows[] = {
		{ PI_CAPABILITY_MASK },
		{ PI_MTU_CAP },
		{ PI_VL_CAP },
		{ PI_LINK_WIDTH_ACTIVE },
		{ PI_LINK_WIDTH_SUPPORTED },
		{ PI_LINK_SPEED_SUPPORTED },
		{ PI_LINK_SPEED_ACTIVE },
		{ PI_GUID_CAP },
		{ PI_LOCAL_PORT_NUM },
	};
	TO(1, 3, 1);
	give_lid(4);
	uint64_t before = port_field(1, rows[_i].bit, rows[_i].width);
	ck_assert_int_eq(change(1, rows[_i].bit, rows[_i].width, ~before), 0);
	ck_assert_uint_eq(port_field(1, rows[_i].bit, rows[_i].width), before);
}
END_TEST

START_TEST(zero_keeps)
{
	TO(1, 3, 1);
	give_lid(4);
	ck_assert_int_eq(get(UMAD_SM_ATTR_PORT_INFO, 1), 0);
	uint8_t before[64];
	memcpy(before, fixture.data, sizeof(before));
	field_set(fixture.data, PI_PORT_STATE, 0);
	field_set(fixture.data, PI_PORT_PHYSICAL_STATE, 0);
	field_set(fixture.data, PI_LINK_DOWN_DEFAULT_STATE, 0);
	field_set(fixture.data, PI_LINK_WIDTH_ENABLED, 0);
	field_set(fixture.data, PI_LINK_SPEED_ENABLED, 0);
	field_set(fixture.data, PI_OPERATIONAL_VLS, 0);
	ck_assert_int_eq(set(UMAD_SM_ATTR_PORT_INFO, 1), 0);
	ck_assert_mem_eq(fixture.data, before, sizeof(before));
}
END_TEST

START_TEST(switch_port_0)
{
	TO(1);
	give_lid(2);
	ck_assert_uint_eq(port_field(0, PI_PORT_STATE), PORT_ACTIVE);
	ck_assert_int_eq(change(0, PI_PORT_STATE, PORT_DOWN), 0);
	ck_assert_uint_eq(port_field(0, PI_PORT_STATE), PORT_ACTIVE);
	ck_assert_int_eq(change(0, PI_LMC, 1), 0); /* enhanced */
	ck_assert_uint_eq(port_field(0, PI_LMC), 1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_SWITCH_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, SI_ENHANCED_PORT_0), 1);
	TO(1, 3);
	give_lid(4);
	ck_assert_int_eq(change(0, PI_LMC, 1), 0x1C); /* base */
	ck_assert_uint_eq(port_field(0, PI_LMC), 0);
}
END_TEST

START_TEST(switch_info_sets)
{
	TO(1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_SWITCH_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, SI_LINEAR_FDB_CAP), 0xC000);
	ck_assert_uint_eq(field_get(fixture.data, SI_PORT_STATE_CHANGE),
	                  1); /* links came up */
	field_set(fixture.data, SI_PORT_STATE_CHANGE, 0);
	field_set(fixture.data, SI_LINEAR_FDB_TOP, 77);
	field_set(fixture.data, SI_LINEAR_FDB_CAP, 5);
	field_set(fixture.data, SI_LIFE_TIME_VALUE, 18);
	ck_assert_int_eq(set(UMAD_SM_ATTR_SWITCH_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, SI_LINEAR_FDB_CAP), 0xC000);
	ck_assert_uint_eq(field_get(fixture.data, SI_LINEAR_FDB_TOP), 77);
	ck_assert_uint_eq(field_get(fixture.data, SI_LIFE_TIME_VALUE), 18);
	ck_assert_uint_eq(field_get(fixture.data, SI_PORT_STATE_CHANGE), 1);
	field_set(fixture.data, SI_PORT_STATE_CHANGE, 1);
	ck_assert_int_eq(set(UMAD_SM_ATTR_SWITCH_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, SI_PORT_STATE_CHANGE), 0);
	ck_assert_int_eq(sim_set_link(fixture.s, B, 4, false), E_OK);
	ck_assert_int_eq(get(UMAD_SM_ATTR_SWITCH_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, SI_PORT_STATE_CHANGE), 1);
	field_set(fixture.data, SI_LINEAR_FDB_TOP, 0xC000);
	ck_assert_int_eq(set(UMAD_SM_ATTR_SWITCH_INFO, 0), 0x1C);
}
END_TEST

START_TEST(lft_blocks)
{
	TO(1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_LINEAR_FT, 3), 0);
	for (unsigned i = 0; i < 64; i++) {
		ck_assert_uint_eq(fixture.data[i], 0xFF);
		fixture.data[i] = (uint8_t)i;
	}
	ck_assert_int_eq(set(UMAD_SM_ATTR_LINEAR_FT, 3), 0);
	memset(fixture.data, 0, sizeof(fixture.data));
	ck_assert_int_eq(get(UMAD_SM_ATTR_LINEAR_FT, 3), 0);
	ck_assert_uint_eq(fixture.data[63], 63);
	ck_assert_int_eq(get(UMAD_SM_ATTR_LINEAR_FT, 2), 0);
	ck_assert_uint_eq(fixture.data[63], 0xFF);
	ck_assert_int_eq(get(UMAD_SM_ATTR_LINEAR_FT, 0xBFFF / 64), 0);
	ck_assert_int_eq(get(UMAD_SM_ATTR_LINEAR_FT, 0xC000 / 64), 0x1C);
	ck_assert_int_eq(set(UMAD_SM_ATTR_LINEAR_FT, 0xC000 / 64), 0x1C);
}
END_TEST

START_TEST(tables_are_kept)
{
	TO(1, 3, 1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_PKEY_TABLE, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, 0, 16), 0xFFFF);
	ck_assert_uint_eq(field_get(fixture.data, 16, 16), 0);
	field_set(fixture.data, 16, 16, 0x8001);
	ck_assert_int_eq(set(UMAD_SM_ATTR_PKEY_TABLE, 0), 0);
	memset(fixture.data, 0, sizeof(fixture.data));
	ck_assert_int_eq(get(UMAD_SM_ATTR_PKEY_TABLE, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, 16, 16), 0x8001);
	ck_assert_int_eq(get(UMAD_SM_ATTR_PKEY_TABLE, 900), 0x1C);
	/* An adapter answers for the port that the request came in by, whatever port it names. */
	for (uint32_t port = 1; port < 0x10000; port += 777) {
		memset(fixture.data, 0, sizeof(fixture.data));
		ck_assert_int_eq(get(UMAD_SM_ATTR_PKEY_TABLE, port << 16), 0);
		ck_assert_uint_eq(field_get(fixture.data, 16, 16), 0x8001);
		field_set(fixture.data, 32, 16, 0x8000 | port);
		ck_assert_int_eq(set(UMAD_SM_ATTR_PKEY_TABLE, port << 16), 0);
		ck_assert_int_eq(get(UMAD_SM_ATTR_PKEY_TABLE, 0), 0);
		ck_assert_uint_eq(field_get(fixture.data, 32, 16), 0x8000 | port);
	}
	ck_assert_int_eq(get(UMAD_SM_ATTR_PKEY_TABLE, 1u << 16 | 900), 0x1C);
	ck_assert_int_eq(get(UMAD_SM_ATTR_GUID_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, 0, 64), H2 + PORT1);
	/* 8 data VLs: SL 9 falls on VL 1, SL 15 is dropped (VL 15). */
	ck_assert_int_eq(get(UMAD_SM_ATTR_SLVL_TABLE, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, 4 * 9, 4), 1);
	ck_assert_uint_eq(field_get(fixture.data, 4 * 15, 4), 15);
	ck_assert_int_eq(get(UMAD_SM_ATTR_VL_ARB_TABLE, 1 << 16), 0);
	ck_assert_int_eq(get(UMAD_SM_ATTR_VL_ARB_TABLE, 0), 0x1C);
	/* Another port has its own; a reboot forgets. */
	to_self();
	ck_assert_int_eq(get(UMAD_SM_ATTR_PKEY_TABLE, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, 16, 16), 0);
	ck_assert_int_eq(sim_reboot(fixture.s, H2), E_OK);
	TO(1, 3, 1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_PKEY_TABLE, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, 16, 16), 0);
}
END_TEST

START_TEST(many_stored_tables)
{
	TO(1);
	for (uint32_t i = 0; i < 25; i++) {
		uint32_t mod = (i / 5) << 8 | i % 5;
		memset(fixture.data, (int)i, sizeof(fixture.data));
		ck_assert_int_eq(set(UMAD_SM_ATTR_SLVL_TABLE, mod), 0);
	}
	for (uint32_t i = 0; i < 960; i++) {
		memset(fixture.data, (int)(i & 0xFF), sizeof(fixture.data));
		ck_assert_int_eq(set(UMAD_SM_ATTR_MCAST_FT, i % 32), 0);
		ck_assert_int_eq(set(UMAD_SM_ATTR_PKEY_TABLE, (i % 5) << 16 | i % 2), 0);
	}
	for (uint32_t i = 0; i < 25; i++) {
		ck_assert_int_eq(get(UMAD_SM_ATTR_SLVL_TABLE, (i / 5) << 8 | i % 5), 0);
		ck_assert_uint_eq(fixture.data[63], i);
	}
}
END_TEST

START_TEST(m_key_levels)
{
	/* 14.2.4.1: level 0 and 1 let a Get pass, 1 hides the key; 2 lets nothing pass.
	 */
	static const struct {
		unsigned level;
		int get;
		uint64_t seen;
	} rows[] = { { 0, 0, 77 }, { 1, 0, 0 }, { 2, -1, 0 }, { 3, -1, 0 } };
	TO(1, 3, 1);
	give_lid(4);
	ck_assert_int_eq(change(1, PI_M_KEY_PROTECT_BITS, rows[_i].level), 0);
	ck_assert_int_eq(change(1, PI_M_KEY, 77), 0);
	memset(fixture.data, 0, sizeof(fixture.data));
	ck_assert_int_eq(get(UMAD_SM_ATTR_PORT_INFO, 1), rows[_i].get);
	ck_assert_uint_eq(field_get(fixture.data, PI_M_KEY), rows[_i].seen);
	ck_assert_int_eq(set(UMAD_SM_ATTR_PORT_INFO, 1), -1);
	fill(UMAD_METHOD_GET, UMAD_SM_ATTR_PORT_INFO, 1);
	field_set(fixture.mad, SMP_M_KEY, 77);
	ck_assert_int_eq(exchange_to(0xFFFF), 0);
	ck_assert_uint_eq(field_get(fixture.data, PI_M_KEY), 77);
	ck_assert_uint_ge(field_get(fixture.data, PI_M_KEY_VIOLATIONS), 1);
}
END_TEST

/* Runs the clock on. What comes meanwhile is dropped. */
static void wait_ms(uint64_t ms)
{
	uint64_t end = fixture.t->ops->now_ms(fixture.t) + ms;
	struct mad_msg m;

	while (fixture.t->ops->now_ms(fixture.t) < end) {
		(void)fixture.t->ops->recv(fixture.t, end, &m);
	}
}

/* 14.2.4.2: a wrong M_Key starts the lease period. The right one ends it; else anybody may read the key when
 * it has run out, and still not set anything without it. */
START_TEST(m_key_lease)
{
	TO(1, 3, 1);
	give_lid(4);
	ck_assert_int_eq(change(1, PI_M_KEY_PROTECT_BITS, 2), 0);
	ck_assert_int_eq(change(1, PI_M_KEY_LEASE_PERIOD, 10), 0);
	ck_assert_int_eq(change(1, PI_M_KEY, 77), 0);
	wait_ms(20000); /* nobody asks: it does not run */
	ck_assert_int_eq(get(UMAD_SM_ATTR_PORT_INFO, 1), -1);
	wait_ms(9000);
	if (_i == 0) {
		fill(UMAD_METHOD_GET, UMAD_SM_ATTR_PORT_INFO, 1);
		field_set(fixture.mad, SMP_M_KEY, 77);
		ck_assert_int_eq(exchange_to(0xFFFF), 0);
	}
	ck_assert_int_eq(get(UMAD_SM_ATTR_PORT_INFO, 1), -1);
	wait_ms(2000);
	ck_assert_int_eq(get(UMAD_SM_ATTR_PORT_INFO, 1), _i == 0 ? -1 : 0);
	if (_i != 0) {
		ck_assert_uint_eq(field_get(fixture.data, PI_M_KEY), 77);
		ck_assert_uint_eq(field_get(fixture.data, PI_M_KEY_PROTECT_BITS), 0);
		ck_assert_int_eq(set(UMAD_SM_ATTR_PORT_INFO, 1), -1);
	}
}
END_TEST

START_TEST(lid_routed)
{
	static const uint64_t owner[] = { 0, H1, A, B, H2 };
	program();
	for (uint32_t lid = 1; lid <= 4; lid++) { /* ports are INIT: VL 15 passes */
		ck_assert_int_eq(by_lid(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, lid), 0);
		ck_assert_uint_eq(field_get(fixture.data, NI_NODE_GUID), owner[lid]);
	}
	ck_assert_int_eq(by_lid(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 5), -1);
	ck_assert_int_eq(by_lid(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 0), -1);
	TO(1, 3); /* the way back counts too */
	give_lft((const uint8_t[]){ 0xFF, 0xFF, 3, 0, 1 }, 5);
	ck_assert_int_eq(by_lid(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 4), -1);
	TO(1, 3); /* a loop between A and B */
	give_lft((const uint8_t[]){ 0xFF, 3, 3, 0, 3 }, 5);
	ck_assert_int_eq(by_lid(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 4), -1);
}
END_TEST

START_TEST(lid_ranges)
{
	/* LMC 2 at h2: LIDs 4-7 are its own (4.1.3), 8 is not. */
	program();
	TO(1);
	give_lft((const uint8_t[]){ 0xFF, 1, 0, 3, 3, 3, 3, 4, 3 }, 9);
	TO(1, 3);
	give_lft((const uint8_t[]){ 0xFF, 3, 3, 0, 1, 1, 1, 1, 1 }, 9);
	TO(1, 3, 1);
	ck_assert_int_eq(change(1, PI_LMC, 2), 0);
	for (uint32_t lid = 4; lid < 8; lid++) {
		ck_assert_int_eq(by_lid(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, lid), 0);
		ck_assert_uint_eq(field_get(fixture.data, NI_NODE_GUID), H2);
	}
	ck_assert_int_eq(by_lid(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 8), -1);
}
END_TEST

START_TEST(disabled_ports)
{
	/* PortPhysicalState 3 takes the link down until 2 (Polling) is set; the peer
	 * polls. */
	TO(1);
	ck_assert_int_eq(change(4, PI_PORT_PHYSICAL_STATE, 3), 0);
	ck_assert_uint_eq(port_field(4, PI_PORT_STATE), PORT_DOWN);
	ck_assert_uint_eq(port_field(4, PI_PORT_PHYSICAL_STATE), 3);
	TO(1, 3);
	ck_assert_uint_eq(port_field(4, PI_PORT_STATE), PORT_DOWN);
	ck_assert_uint_eq(port_field(4, PI_PORT_PHYSICAL_STATE), 2);
	TO(1, 4);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), -1);
	TO(1);
	ck_assert_int_eq(change(4, PI_PORT_PHYSICAL_STATE, 2), 0);
	ck_assert_uint_eq(port_field(4, PI_PORT_STATE), PORT_INIT);
	ck_assert_uint_eq(port_field(4, PI_PORT_PHYSICAL_STATE), 5);
	ck_assert_int_eq(change(4, PI_PORT_PHYSICAL_STATE, 5), 0x1C);
}
END_TEST

START_TEST(width_takes_effect_when_trained)
{
	TO(1);
	ck_assert_int_eq(change(4, PI_LINK_WIDTH_ENABLED, WIDTH_1X), 0);
	ck_assert_uint_eq(port_field(4, PI_LINK_WIDTH_ACTIVE), WIDTH_4X);
	ck_assert_int_eq(change(4, PI_PORT_STATE, PORT_DOWN), 0);
	ck_assert_uint_eq(port_field(4, PI_LINK_WIDTH_ACTIVE), WIDTH_1X);
	ck_assert_int_eq(change(4, PI_LINK_WIDTH_ENABLED, 255), 0);
	ck_assert_uint_eq(port_field(4, PI_LINK_WIDTH_ENABLED), WIDTH_1X | WIDTH_4X);
}
END_TEST

START_TEST(sm_on_a_switch)
{
	sim_free(fixture.s);
	struct sim_options o = { .virtual_clock = true, .sm_port_guid = A };
	ck_assert_int_eq(sim_new(fixture.g, &o, false, &fixture.s), E_OK);
	fixture.t = sim_transport(fixture.s);
	ck_assert_uint_eq(fixture.t->local.port, 0);
	to_self();
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, NI_NODE_GUID), A);
	ck_assert_uint_eq(field_get(fixture.data, NI_LOCAL_PORT_NUM), 0);
	TO(3, 1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, NI_NODE_GUID), H2);
}
END_TEST

/* Any bytes are legal input: whatever comes, the fabric still answers afterwards. */
START_TEST(random_mads)
{
	static const uint16_t attrs[] = { 0x10, 0x11, 0x12, 0x14, 0x15, 0x16,  0x17,
		                          0x18, 0x19, 0x1B, 0x20, 0x02, 0xFF90 };
	uint64_t rng = 0x5A60 + (uint64_t)_i;
	struct mad_msg r, m = { .len = MAD_BYTES, .data = fixture.mad };

	program();
	for (unsigned n = 0; n < 20000; n++) {
		for (unsigned i = 0; i < MAD_BYTES / 8; i++) {
			rng = rng * 6364136223846793005u + 1442695040888963407u;
			uint64_t v = rng ^ rng >> 29;
			memcpy(fixture.mad + 8 * (size_t)i, &v, 8);
		}
		fixture.mad[1] = rng & 1 ? 0x81 : 0x01;
		m.mgmt_class = fixture.mad[1];
		m.addr.lid = rng >> 8 & 1 ? 0xFFFF : (uint32_t)(rng >> 16) % 9;
		if (rng >> 9 & 3) { /* mostly something that gets through */
			fixture.mad[0] = fixture.mad[2] = 1;
			fixture.mad[3] = 1 + (rng >> 12 & 1);
			fixture.mad[6] = 0;
			fixture.mad[7] = (uint8_t)((rng >> 20) % 5);
			field_set(fixture.mad, MAD_ATTR_ID, attrs[(rng >> 24) % 13]);
			field_set(fixture.mad, MAD_ATTR_MOD,
			          rng >> 11 & 1 ? rng >> 56 : rng >> 32);
			field_set(fixture.mad, SMP_DR_SLID, rng >> 10 & 1 ? 0xFFFF : 1);
			field_set(fixture.mad, SMP_DR_DLID, 0xFFFF);
			field_set(fixture.mad, SMP_DIRECTION, rng >> 13 & rng >> 14 & 1);
			for (unsigned i = 129; i < 135; i++) {
				fixture.mad[i] = 1 + fixture.mad[i] % 4;
			}
		}
		ck_assert_int_eq(transport_send(fixture.t, &m), E_OK);
		while (next(1, &r)) {
			ck_assert_uint_eq(r.len, MAD_BYTES);
		}
	}
	ck_assert_int_eq(sim_reboot(fixture.s, A), E_OK);
	ck_assert_int_eq(sim_reboot(fixture.s, H1), E_OK);
	TO(1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_NODE_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, NI_NODE_GUID), A);
}
END_TEST

START_TEST(linear_fdb_top_counts)
{
	program();
	TO(1);
	ck_assert_int_eq(get(UMAD_SM_ATTR_SWITCH_INFO, 0), 0);
	field_set(fixture.data, SI_LINEAR_FDB_TOP, 3);
	ck_assert_int_eq(set(UMAD_SM_ATTR_SWITCH_INFO, 0), 0);
	ck_assert_int_eq(by_lid(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 3), 0);
	ck_assert_int_eq(by_lid(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 4), -1);
}
END_TEST

START_TEST(lid_then_directed)
{
	/* 14.2.2: the LID-routed part leads to a switch, the directed part starts there.
	 */
	program();
	TO(1);
	fill(UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO, 0);
	field_set(fixture.mad, SMP_DR_SLID, 1);
	ck_assert_int_eq(exchange_to(3), 0);
	ck_assert_uint_eq(field_get(fixture.data, NI_NODE_GUID), H2);
}
END_TEST

START_TEST(sm_info_reaches_the_sm)
{
	/* The agent leaves SMInfo to the SM on its node: the request itself comes up. */
	to_self();
	fill(UMAD_METHOD_GET, UMAD_SM_ATTR_SM_INFO, 0);
	ck_assert_int_eq(exchange_to(0xFFFF), 0);
	ck_assert_uint_eq(fixture.mad[3], UMAD_METHOD_GET);
}
END_TEST

START_TEST(speeds_and_widths)
{
	/* Codes as libibmad decodes them: base, extended, second extended speed. Beside
	 * extended ones the base speed is 10 Gb/s, as smpquery shows it of real EDR
	 * ports. */
	static const struct {
		uint8_t speed, base, ext, ext2;
	} rows[SPEED_COUNT] = {
		[SPEED_SDR] = { SPEED_SDR, 1, 0, 0 },
		[SPEED_DDR] = { SPEED_DDR, 2, 0, 0 },
		[SPEED_QDR] = { SPEED_QDR, 4, 0, 0 },
		[SPEED_FDR10] = { SPEED_FDR10, 4, 0, 0 },
		[SPEED_FDR] = { SPEED_FDR, 4, 1, 0 },
		[SPEED_EDR] = { SPEED_EDR, 4, 2, 0 },
		[SPEED_HDR] = { SPEED_HDR, 4, 4, 0 },
		[SPEED_NDR] = { SPEED_NDR, 4, 8, 0 },
		[SPEED_XDR] = { SPEED_XDR, 4, 0, 1 },
	};
	sim_free(fixture.s);
	uint32_t h1 = graph_port_by_guid(fixture.g, H1 + PORT1);
	struct port *p = &fixture.g->ports[h1];
	p->speed = fixture.g->ports[p->peer].speed = rows[_i].speed;
	p->width = WIDTH_2X; /* the switch side stays 4x: 1x is what both can */
	struct sim_options o = { .virtual_clock = true, .sm_port_guid = H1 + PORT1 };
	ck_assert_int_eq(sim_new(fixture.g, &o, false, &fixture.s), E_OK);
	fixture.t = sim_transport(fixture.s);
	to_self();
	ck_assert_uint_eq(port_field(1, PI_LINK_SPEED_ACTIVE), rows[_i].base);
	ck_assert_uint_eq(port_field(1, PI_LINK_SPEED_EXT_ACTIVE), rows[_i].ext);
	ck_assert_uint_eq(port_field(1, PI_LINK_SPEED_EXT_ACTIVE_2), rows[_i].ext2);
	ck_assert_uint_eq(port_field(1, PI_LINK_WIDTH_ACTIVE), WIDTH_1X);
	ck_assert_uint_eq(port_field(1, PI_CAPABILITY_MASK) >> 14 & 1,
	                  rows[_i].speed >= SPEED_FDR);
}
END_TEST

TEST_SUITE(sim)
{
	TCase *tc = tcase_create("fabric");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, node_info_of_each_hop, 0, 6);
	tcase_add_loop_test(tc, no_way_no_answer, 0, 5);
	tcase_add_test(tc, hop_count_beyond_the_path);
	tcase_add_test(tc, descriptions);
	tcase_add_test(tc, unknown_things_are_answered);
	tcase_add_test(tc, port_states);
	tcase_add_test(tc, bad_set_changes_nothing);
	tcase_add_loop_test(tc, refused_values, 0, 7);
	tcase_add_loop_test(tc, read_only_fields_stay, 0, 9);
	tcase_add_test(tc, zero_keeps);
	tcase_add_test(tc, switch_port_0);
	tcase_add_test(tc, switch_info_sets);
	tcase_add_test(tc, lft_blocks);
	tcase_add_test(tc, tables_are_kept);
	tcase_add_test(tc, many_stored_tables);
	tcase_add_loop_test(tc, m_key_levels, 0, 4);
	tcase_add_loop_test(tc, m_key_lease, 0, 2);
	tcase_add_test(tc, lid_routed);
	tcase_add_test(tc, lid_ranges);
	tcase_add_test(tc, disabled_ports);
	tcase_add_test(tc, width_takes_effect_when_trained);
	tcase_add_test(tc, sm_on_a_switch);
	tcase_add_loop_test(tc, random_mads, 0, 4);
	tcase_add_test(tc, linear_fdb_top_counts);
	tcase_add_test(tc, lid_then_directed);
	tcase_add_test(tc, sm_info_reaches_the_sm);
	tcase_add_loop_test(tc, speeds_and_widths, 0, SPEED_COUNT);
	suite_add_tcase(suite, tc);
}

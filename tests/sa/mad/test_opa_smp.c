/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * SMPs of Omni-Path in InfiniBand's form. What the bytes mean is said by the field tables of the simulated
 * devices (sa/sim/opa/opa_fields.h), which were written independently.
 */
#include "sa/mad/opa_smp.h"

#include <infiniband/umad_sm.h>
#include <infiniband/umad_types.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"
#include "sa/sim/opa/opa_fields.h"
#include "tests/lib/suite.h"

enum { SHAPE = 64, ROUNDS = 2000 };

static uint64_t seed;

static uint8_t any_byte(void)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint8_t)(seed >> 56);
}

static void fill(uint8_t *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		data[i] = any_byte();
	}
}

/* --- PortInfo --------------------------------------------------------------------------- */

static const struct same {
	const char *name;
	uint16_t bit, width, ib_bit, ib_width;
} same[] = {
	{ "M_Key", OPI_M_KEY, PI_M_KEY },
	{ "SubnetPrefix", OPI_SUBNET_PREFIX, PI_GID_PREFIX },
	{ "M_KeyLeasePeriod", OPI_M_KEY_LEASE, PI_M_KEY_LEASE_PERIOD },
	{ "M_KeyProtectBits", OPI_M_KEY_PROTECT, PI_M_KEY_PROTECT_BITS },
	{ "SubnetTimeout", OPI_SUBNET_TIMEOUT, PI_SUBNET_TIMEOUT },
	{ "ClientReregister", OPI_CLIENT_REREGISTER, PI_CLIENT_REREGISTER },
	{ "EnforceInbound", OPI_ENFORCE_IN, PI_PARTITION_ENFORCEMENT_INBOUND },
	{ "EnforceOutbound", OPI_ENFORCE_OUT, PI_PARTITION_ENFORCEMENT_OUTBOUND },
	{ "PortState", OPI_STATE, PI_PORT_STATE },
	{ "PortPhysicalState", OPI_PHYSICAL_STATE, PI_PORT_PHYSICAL_STATE },
	{ "LocalPortNum", OPI_LOCAL_PORT_NUM, PI_LOCAL_PORT_NUM },
};

/* A field shows alone, and under its name. */
START_TEST(port_info_shows)
{
	const struct same *s = &same[_i];
	uint8_t info[OPA_BYTES_PORT_INFO] = { 0 }, shape[SHAPE], none[SHAPE];

	opa_port_info_shape(info, none);
	field_set(info, s->bit, s->width, 1);
	opa_port_info_shape(info, shape);
	ck_assert_uint_eq(field_get(shape, s->ib_bit, s->ib_width), 1);
	field_set(shape, s->ib_bit, s->ib_width, 0);
	ck_assert_mem_eq(shape, none, SHAPE);
}
END_TEST

START_TEST(port_info_codes)
{
	static const struct {
		uint16_t width, speed;
		uint8_t vls, mtu, ib_width, ib_ext, ib_vls, ib_mtu;
	} cases[] = {
		{ 8, OPA_SPEED_25G, 8, 7, 2, 2, 4, 5 },
		{ 4, OPA_SPEED_50G, 9, 6, 16, 4, 4, 5 },
		{ 2, OPA_SPEED_100G, 31, 5, 16, 8, 5, 5 },
		{ 1, OPA_SPEED_12G, 1, 4, 1, 1, 1, 4 },
	};
	uint8_t info[OPA_BYTES_PORT_INFO] = { 0 }, shape[SHAPE];

	field_set(info, OPI_WIDTH_ACTIVE, cases[_i].width);
	field_set(info, OPI_SPEED_ACTIVE, cases[_i].speed);
	field_set(info, OPI_VL_CAP, cases[_i].vls);
	field_set(info, OPI_OPERATIONAL_VL, cases[_i].vls);
	field_set(info, OPI_MTU_CAP, cases[_i].mtu);
	field_set(info, OPI_NEIGHBOR_MTU(0), cases[_i].mtu);
	opa_port_info_shape(info, shape);
	ck_assert_uint_eq(field_get(shape, PI_LINK_WIDTH_ACTIVE), cases[_i].ib_width);
	ck_assert_uint_eq(field_get(shape, PI_LINK_SPEED_EXT_ACTIVE), cases[_i].ib_ext);
	ck_assert_uint_eq(field_get(shape, PI_VL_CAP), cases[_i].ib_vls);
	ck_assert_uint_eq(field_get(shape, PI_OPERATIONAL_VLS), cases[_i].ib_vls);
	ck_assert_uint_eq(field_get(shape, PI_MTU_CAP), cases[_i].ib_mtu);
	ck_assert_uint_eq(field_get(shape, PI_NEIGHBOR_MTU), cases[_i].ib_mtu);
}
END_TEST

/* The narrower direction of a downgraded link counts; a LID of more than 16 bits is none. */
START_TEST(port_info_downgraded)
{
	uint8_t info[OPA_BYTES_PORT_INFO] = { 0 }, shape[SHAPE];

	field_set(info, OPI_WIDTH_ACTIVE, 8);
	field_set(info, OPI_DOWNGRADE_TX, 8);
	field_set(info, OPI_DOWNGRADE_RX, 1);
	field_set(info, OPI_LID, 0x12345);
	field_set(info, OPI_MASTER_SM_LID, 0xBFFF);
	opa_port_info_shape(info, shape);
	ck_assert_uint_eq(field_get(shape, PI_LINK_WIDTH_ACTIVE), 1);
	ck_assert_uint_eq(field_get(shape, PI_LID), 0);
	ck_assert_uint_eq(field_get(shape, PI_MASTER_SM_LID), 0xBFFF);
}
END_TEST

/* Whatever a port has, a Set of what it shows leaves all of it as it is. */
START_TEST(what_is_lost_is_not_written)
{
	struct opa_smp smp;

	for (unsigned i = 0; i < ROUNDS; i++) {
		uint8_t info[OPA_BYTES_PORT_INFO], shape[SHAPE];

		fill(info, sizeof(info));
		opa_port_info_shape(info, shape);
		field_set(shape, PI_PORT_STATE, 0);
		field_set(shape, PI_PORT_PHYSICAL_STATE, 0);
		ck_assert_int_eq(opa_smp_encode(true, UMAD_SM_ATTR_PORT_INFO, 3, shape,
		                                info, &smp),
		                 E_OK);
		field_set(info, OPI_STATE, 0); /* no change */
		field_set(info, OPI_PHYSICAL_STATE, 0);
		field_set(info, OPI_OPERATIONAL_VL, 0);
		field_set(info, OPI_SPEED_ENABLED, 0);
		field_set(info, OPI_WIDTH_ENABLED, 0);
		field_set(info, OPI_LINK_MODE_ENABLED, 0);
		field_set(info, OPI_CRC_ENABLED, 0);
		ck_assert_uint_eq(smp.len, sizeof(info));
		ck_assert_mem_eq(smp.data, info, sizeof(info));
	}
}
END_TEST

START_TEST(port_info_is_set)
{
	uint8_t info[OPA_BYTES_PORT_INFO] = { 0 }, want[SHAPE];
	struct opa_smp smp;

	field_set(info, OPI_OPERATIONAL_VL, 8);
	field_set(info, OPI_NEIGHBOR_MTU(15), 4);
	opa_port_info_shape(info, want);
	field_set(want, PI_LID, 77);
	field_set(want, PI_NEIGHBOR_MTU, 5);
	field_set(want, PI_OPERATIONAL_VLS, 2);
	field_set(want, PI_HOQ_LIFE, 18);
	field_set(want, PI_PORT_STATE, OPA_ARMED);
	ck_assert_int_eq(opa_smp_encode(true, UMAD_SM_ATTR_PORT_INFO, 0x80000003, want,
	                                info, &smp),
	                 E_OK);
	ck_assert_uint_eq(smp.mod, 0x01000003);
	ck_assert_uint_eq(field_get(smp.data, OPI_LID), 77);
	ck_assert_uint_eq(field_get(smp.data, OPI_OPERATIONAL_VL), 2);
	ck_assert_uint_eq(field_get(smp.data, OPI_NEIGHBOR_MTU(1)), 5);
	ck_assert_uint_eq(field_get(smp.data, OPI_NEIGHBOR_MTU(2)), 0);
	ck_assert_uint_eq(field_get(smp.data, OPI_NEIGHBOR_MTU(15)), 4);
	ck_assert_uint_eq(field_get(smp.data, OPI_HOQ_LIFE(31)), 18);
	ck_assert_uint_eq(field_get(smp.data, OPI_STATE), OPA_ARMED);
	ck_assert_uint_eq(field_get(smp.data, OPI_PHYSICAL_STATE), 0);
}
END_TEST

/* DOWN alone says nothing to a port: it is polled. */
START_TEST(down_is_a_bounce)
{
	uint8_t info[OPA_BYTES_PORT_INFO] = { 0 }, want[SHAPE];
	struct opa_smp smp;

	opa_port_info_shape(info, want);
	field_set(want, PI_PORT_STATE, OPA_DOWN);
	ck_assert_int_eq(
		opa_smp_encode(true, UMAD_SM_ATTR_PORT_INFO, 3, want, info, &smp), E_OK);
	ck_assert_uint_eq(field_get(smp.data, OPI_STATE), OPA_DOWN);
	ck_assert_uint_eq(field_get(smp.data, OPI_PHYSICAL_STATE), OPA_PHYS_POLLING);
}
END_TEST

/* --- the others --------------------------------------------------------------------------- */

START_TEST(modifiers)
{
	static const struct {
		bool set;
		uint16_t attr;
		uint32_t mod, wire;
	} cases[] = {
		{ false, UMAD_SM_ATTR_PORT_INFO, 0x80000007, 0x01000207 },
		{ false, UMAD_SM_ATTR_PORT_INFO, 0x80000007 | OPA_PORT_LOOK, 0x01000007 },
		{ false, UMAD_SM_ATTR_LINEAR_FT, 5, 0x01000005 },
		{ true, UMAD_SM_ATTR_LINEAR_FT, 700, 0x010002bc },
		{ false, UMAD_SM_ATTR_PKEY_TABLE, 0x00030001, 0x01030001 },
		{ true, UMAD_SM_ATTR_MCAST_FT, 0x00c00002, 0x01c00002 },
		{ false, UMAD_SM_ATTR_NODE_INFO, 0, 0 },
		{ true, UMAD_SM_ATTR_SM_INFO, 1, 1 },
	};
	uint8_t data[SHAPE] = { 0 };
	struct opa_smp smp;

	ck_assert_int_eq(opa_smp_encode(cases[_i].set, cases[_i].attr, cases[_i].mod,
	                                data, NULL, &smp),
	                 E_OK);
	ck_assert_uint_eq(smp.mod, cases[_i].wire);
	ck_assert_uint_eq(smp.attr, cases[_i].attr);
}
END_TEST

START_TEST(refused)
{
	uint8_t data[SHAPE] = { 0 };
	struct opa_smp smp;

	ck_assert_int_eq(
		opa_smp_encode(false, UMAD_SM_ATTR_GUID_INFO, 0, data, NULL, &smp),
		E_UNKNOWN);
	ck_assert_int_eq(
		opa_smp_encode(true, UMAD_SM_ATTR_NODE_INFO, 0, data, NULL, &smp),
		E_UNKNOWN);
	ck_assert_int_eq(
		opa_smp_encode(true, UMAD_SM_ATTR_PORT_INFO, 0, data, NULL, &smp),
		E_UNKNOWN);
	ck_assert_int_eq(opa_smp_decode(UMAD_SM_ATTR_SLVL_TABLE, data, 64, data),
	                 E_UNKNOWN);
}
END_TEST

/* An answer that is cut short is none, and any bytes are fine. */
START_TEST(any_answer)
{
	static const uint16_t attrs[] = {
		UMAD_SM_ATTR_NODE_DESC, UMAD_SM_ATTR_NODE_INFO,  UMAD_SM_ATTR_SWITCH_INFO,
		UMAD_SM_ATTR_PORT_INFO, UMAD_SM_ATTR_PKEY_TABLE, UMAD_SM_ATTR_LINEAR_FT,
		UMAD_SM_ATTR_SM_INFO
	};
	static const size_t bytes[] = { 64, 44, 84, 242, 64, 64, 26 };
	uint8_t data[256], shape[SHAPE];

	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned k = i % (sizeof(attrs) / sizeof(attrs[0]));

		fill(data, sizeof(data));
		ck_assert_int_eq(opa_smp_decode(attrs[k], data, bytes[k], shape), E_OK);
		ck_assert_int_eq(opa_smp_decode(attrs[k], data, bytes[k] - 1, shape),
		                 E_MALFORMED);
		opa_notice_decode(data, shape);
	}
}
END_TEST

START_TEST(node_and_switch)
{
	uint8_t data[OPA_SWITCH_INFO_BYTES] = { 0 }, shape[SHAPE];
	struct opa_smp smp;

	field_set(data, ONI_BASE_VERSION, 0x80);
	field_set(data, ONI_NODE_TYPE, 2);
	field_set(data, ONI_NUM_PORTS, 48);
	field_set(data, ONI_NODE_GUID, 0x0011750101020304);
	field_set(data, ONI_PORT_GUID, 0x0011750101020305);
	field_set(data, ONI_PARTITION_CAP, 32);
	field_set(data, ONI_LOCAL_PORT_NUM, 9);
	field_set(data, ONI_VENDOR_ID, 0x001175);
	ck_assert_int_eq(opa_smp_decode(UMAD_SM_ATTR_NODE_INFO, data, 44, shape), E_OK);
	ck_assert_uint_eq(field_get(shape, NI_BASE_VERSION), 0x80);
	ck_assert_uint_eq(field_get(shape, NI_NUM_PORTS), 48);
	ck_assert_uint_eq(field_get(shape, NI_NODE_GUID), 0x0011750101020304);
	ck_assert_uint_eq(field_get(shape, NI_PORT_GUID), 0x0011750101020305);
	ck_assert_uint_eq(field_get(shape, NI_PARTITION_CAP), 32);
	ck_assert_uint_eq(field_get(shape, NI_LOCAL_PORT_NUM), 9);
	ck_assert_uint_eq(field_get(shape, NI_VENDOR_ID), 0x001175);

	memset(data, 0, sizeof(data));
	field_set(data, OSI_LINEAR_FDB_CAP, 0x100000);
	field_set(data, OSI_LINEAR_FDB_TOP, 9);
	field_set(data, OSI_PARTITION_CAP, 32);
	field_set(data, OSI_PORT_STATE_CHANGE, 1);
	field_set(data, OSI_AR_ENABLE, 1);
	field_set(data, OSI_MULTICAST_MASK, 4);
	ck_assert_int_eq(opa_smp_decode(UMAD_SM_ATTR_SWITCH_INFO, data, 84, shape), E_OK);
	ck_assert_uint_eq(field_get(shape, SI_LINEAR_FDB_CAP), 0xC000);
	ck_assert_uint_eq(field_get(shape, SI_LINEAR_FDB_TOP), 9);
	ck_assert_uint_eq(field_get(shape, SI_PARTITION_ENFORCEMENT_CAP), 32);
	ck_assert_uint_eq(field_get(shape, SI_INBOUND_ENFORCEMENT_CAP), 1);
	ck_assert_uint_eq(field_get(shape, SI_PORT_STATE_CHANGE), 1);
	field_set(shape, SI_LINEAR_FDB_TOP, 60);
	field_set(shape, SI_PORT_STATE_CHANGE, 0);
	ck_assert_int_eq(
		opa_smp_encode(true, UMAD_SM_ATTR_SWITCH_INFO, 0, shape, data, &smp),
		E_OK);
	ck_assert_uint_eq(field_get(smp.data, OSI_LINEAR_FDB_TOP), 60);
	ck_assert_uint_eq(field_get(smp.data, OSI_PORT_STATE_CHANGE), 0);
	ck_assert_uint_eq(field_get(smp.data, OSI_ROUTING_ENABLED), 1);
	ck_assert_uint_eq(field_get(smp.data, OSI_AR_ENABLE), 1);
	ck_assert_uint_eq(field_get(smp.data, OSI_MULTICAST_MASK), 4);
}
END_TEST

START_TEST(notices)
{
	static const struct {
		uint16_t number, producer, shown;
	} cases[] = {
		{ 0x80, 2, 128 },
		{ 0x90, 1, 144 },
		{ 0x800, 2, 128 },
		{ 0x800, 1, 144 },
	};
	uint8_t notice[96] = { 0 }, shape[SHAPE];

	field_set(notice, ONT_GENERIC, 1);
	field_set(notice, ONT_PRODUCER, cases[_i].producer);
	field_set(notice, ONT_NUMBER, cases[_i].number);
	field_set(notice, ONT_ISSUER_LID, 0x21);
	field_set(notice, ONT_LID, 0x21);
	field_set(notice, ONT_CHANGES, 9); /* description, and a downgrade */
	opa_notice_decode(notice, shape);
	ck_assert_uint_eq(field_get(shape, NTC_IS_GENERIC), 1);
	ck_assert_uint_eq(field_get(shape, NTC_TRAP_NUMBER), cases[_i].shown);
	ck_assert_uint_eq(field_get(shape, NTC_ISSUER_LID), 0x21);
	if (cases[_i].shown == 128) {
		ck_assert_uint_eq(field_get(shape, NTC_128_LID), 0x21);
	} else {
		ck_assert_uint_eq(field_get(shape, NTC_144_LID), 0x21);
		ck_assert_uint_eq(field_get(shape, NTC_144_CHANGE_FLAGS),
		                  cases[_i].number == 0x90);
	}
}
END_TEST

START_TEST(violations)
{
	uint8_t notice[96] = { 0 }, shape[SHAPE];

	field_set(notice, ONT_GENERIC, 1);
	field_set(notice, ONT_NUMBER, 257);
	field_set(notice, ONT_257_LID_1, 5);
	field_set(notice, ONT_257_LID_2, 6);
	field_set(notice, ONT_257_KEY, 0x8123);
	opa_notice_decode(notice, shape);
	ck_assert_uint_eq(field_get(shape, NTC_257_LID_1), 5);
	ck_assert_uint_eq(field_get(shape, NTC_257_LID_2), 6);
	ck_assert_uint_eq(field_get(shape, NTC_257_KEY), 0x8123);
}
END_TEST

START_TEST(sm_info_there_and_back)
{
	uint8_t info[SHAPE] = { 0 }, wire[OPA_BYTES_SM_INFO], shape[SHAPE];

	field_set(info, SMI_GUID, 0x1122334455667788);
	field_set(info, SMI_SM_KEY, 99);
	field_set(info, SMI_ACT_COUNT, 1234);
	field_set(info, SMI_PRIORITY, 11);
	field_set(info, SMI_SM_STATE, 3);
	opa_sm_info_encode(info, wire);
	ck_assert_uint_eq(wire[24], 0xb0); /* priority, no elevated one */
	ck_assert_uint_eq(wire[25], 0xb3); /* initial priority, state */
	ck_assert_int_eq(opa_smp_decode(UMAD_SM_ATTR_SM_INFO, wire, sizeof(wire), shape),
	                 E_OK);
	ck_assert_mem_eq(shape, info, SHAPE);
}
END_TEST

TEST_SUITE(opa_smp)
{
	TCase *t = tcase_create("opa_smp");

	tcase_add_loop_test(t, port_info_shows, 0, sizeof(same) / sizeof(same[0]));
	tcase_add_loop_test(t, port_info_codes, 0, 4);
	tcase_add_test(t, port_info_downgraded);
	tcase_add_test(t, what_is_lost_is_not_written);
	tcase_add_test(t, port_info_is_set);
	tcase_add_test(t, down_is_a_bounce);
	tcase_add_loop_test(t, modifiers, 0, 7);
	tcase_add_test(t, refused);
	tcase_add_test(t, any_answer);
	tcase_add_test(t, node_and_switch);
	tcase_add_loop_test(t, notices, 0, 4);
	tcase_add_test(t, violations);
	tcase_add_test(t, sm_info_there_and_back);
	suite_add_tcase(suite, t);
}

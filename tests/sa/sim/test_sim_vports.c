/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/sim_fixture.h"
#include "tests/lib/suite.h"

/* Virtual ports of the simulated fabric. Expectations are those of ib_types.h and osm_vport.h in the
 * headers that NVIDIA published; see sa/mad/fields.h. */

static void setup_vports(void)
{
	open_fixture(&(struct sim_options){
		.virtual_clock = true, .delay_us = 10, .vport_cap = 200 });
	TO(1, 3, 1); /* h2 */
}

static uint64_t vport_field(uint32_t index, unsigned bit, unsigned width)
{
	ck_assert_int_eq(get(VPORT_ATTR_INFO, index), 0);
	return field_get(fixture.data, bit, width);
}

static void enable(bool on)
{
	memset(fixture.data, 0, sizeof(fixture.data));
	field_set(fixture.data, VI_ENABLE, on);
	ck_assert_int_eq(set(VPORT_ATTR_VIRTUALIZATION_INFO, 0), 0);
}

static uint16_t add_vport(uint64_t guid, bool own)
{
	uint16_t index;

	ck_assert_int_eq(sim_vport_add(fixture.s, H2, 1, guid, own, &index), E_OK);
	return index;
}

static int set_vport(uint32_t index, unsigned state, uint32_t lid)
{
	memset(fixture.data, 0, sizeof(fixture.data));
	field_set(fixture.data, VPI_STATE, state);
	field_set(fixture.data, VPI_LID, lid);
	return set(VPORT_ATTR_INFO, index);
}

START_TEST(capabilities)
{
	ck_assert_int_eq(get(UMAD_SM_ATTR_PORT_INFO, 1), 0);
	ck_assert_uint_eq(field_get(fixture.data, PI_CAPABILITY_MASK2) &
	                          CAP2_VIRTUALIZATION,
	                  CAP2_VIRTUALIZATION);
	ck_assert_int_eq(get(ATTR_GENERAL_INFO, GENERAL_INFO_CAPABILITIES), 0);
	/* bit 15 of the first word, from the least significant one */
	ck_assert_uint_eq(fixture.data[2], 0x80);
	ck_assert_uint_eq(fixture.data[1], 0); /* no VPortGUIDInfo */
	ck_assert_int_eq(get(VPORT_ATTR_VIRTUALIZATION_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, VI_VPORT_CAP), 200);
	ck_assert_uint_eq(field_get(fixture.data, VI_TOP_INDEX), 0);
	ck_assert_uint_eq(field_get(fixture.data, VI_ENABLE), 0);
	TO(1); /* switches have none */
	ck_assert_int_eq(get(ATTR_GENERAL_INFO, GENERAL_INFO_CAPABILITIES), 0x0C);
	ck_assert_int_eq(get(VPORT_ATTR_VIRTUALIZATION_INFO, 0), 0x0C);
}
END_TEST

START_TEST(states_follow_link_and_enable)
{
	uint16_t i = add_vport(0xabc, true);

	ck_assert_uint_eq(i, 1);
	ck_assert_uint_eq(vport_field(0, VPI_GUID), H2 + PORT1);
	ck_assert_uint_eq(vport_field(i, VPI_GUID), 0xabc);
	ck_assert_uint_eq(vport_field(i, VPI_STATE), PORT_DOWN);
	enable(true);
	ck_assert_uint_eq(vport_field(i, VPI_STATE), PORT_INIT);
	ck_assert_int_eq(get(VPORT_ATTR_STATES, 0), 0);
	/* the even index is in the high nibble */
	ck_assert_uint_eq(fixture.data[0], PORT_INIT << 4 | PORT_INIT);
	ck_assert_int_eq(get(VPORT_ATTR_STATES, 1), 0);
	ck_assert_int_eq(get(VPORT_ATTR_STATES, 2), 0x1C);
	sim_set_link(fixture.s, B, 1, false);
	sim_set_link(fixture.s, B, 1, true);
	ck_assert_uint_eq(vport_field(i, VPI_STATE), PORT_INIT);
	enable(false);
	ck_assert_uint_eq(vport_field(i, VPI_STATE), PORT_DOWN);
}
END_TEST

START_TEST(activation_needs_the_required_lid)
{
	uint16_t own = add_vport(0xabc, true), shared = add_vport(0xdef, false);

	ck_assert_int_eq(set_vport(own, PORT_ACTIVE, 77), 0x1C); /* not enabled */
	enable(true);
	ck_assert_int_eq(set_vport(own, PORT_ACTIVE, 0), 0x1C);
	ck_assert_int_eq(set_vport(own, PORT_ACTIVE, 0xC000), 0x1C);
	ck_assert_int_eq(set_vport(own, PORT_ACTIVE, 77), 0);
	ck_assert_int_eq(set_vport(shared, PORT_ACTIVE, 0), 0);
	ck_assert_uint_eq(vport_field(own, VPI_LID), 77);
	ck_assert_uint_eq(vport_field(own, VPI_STATE), PORT_ACTIVE);
	ck_assert_int_eq(sim_vport_set_guid(fixture.s, H2, 1, own, 0x123), E_OK);
	ck_assert_uint_eq(vport_field(own, VPI_LID), 0);
	ck_assert_uint_eq(vport_field(own, VPI_STATE), PORT_INIT);
	ck_assert_int_eq(sim_reboot(fixture.s, H2), E_OK);
	ck_assert_uint_eq(vport_field(own, VPI_GUID), 0x123);
	ck_assert_uint_eq(vport_field(own, VPI_STATE), PORT_DOWN);
}
END_TEST

START_TEST(changes_are_told)
{
	uint16_t i;

	enable(true);
	memset(fixture.data, 0, sizeof(fixture.data));
	field_set(fixture.data, VI_ENABLE, 1);
	field_set(fixture.data, VI_VPORT_STATE_CHANGE, 1); /* clears it */
	ck_assert_int_eq(set(VPORT_ATTR_VIRTUALIZATION_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, VI_VPORT_STATE_CHANGE), 0);
	i = add_vport(0, true);
	ck_assert_int_eq(get(VPORT_ATTR_VIRTUALIZATION_INFO, 0), 0);
	ck_assert_uint_eq(field_get(fixture.data, VI_VPORT_STATE_CHANGE), 1);
	ck_assert_uint_eq(field_get(fixture.data, VI_TOP_INDEX), i);
	ck_assert_int_eq(sim_vport_remove(fixture.s, H2, 1, i), E_OK);
	ck_assert_int_eq(sim_vport_remove(fixture.s, H2, 1, i), E_NOTFOUND);
	ck_assert_int_eq(sim_vport_remove(fixture.s, H2, 1, 0), E_NOTFOUND);
	ck_assert_int_eq(get(VPORT_ATTR_INFO, i), 0x1C);
}
END_TEST

START_TEST(as_many_as_there_is_room)
{
	uint16_t index;

	for (unsigned i = 1; i < 200; i++) {
		ck_assert_uint_eq(add_vport(0, i % 2), i);
	}
	ck_assert_int_eq(sim_vport_add(fixture.s, H2, 1, 0, true, &index), E_FULL);
	ck_assert_int_eq(sim_vport_remove(fixture.s, H2, 1, 150), E_OK);
	ck_assert_int_eq(sim_vport_add(fixture.s, H2, 1, H2 + PORT1, true, &index),
	                 E_DUPLICATE);
	ck_assert_uint_eq(add_vport(0, true), 150);
	ck_assert_int_eq(sim_vport_add(fixture.s, A, 1, 0, true, &index), E_UNSUITABLE);
}
END_TEST

TEST_SUITE(sim_vports)
{
	TCase *tc = tcase_create("virtual ports");
	tcase_add_checked_fixture(tc, setup_vports, teardown);
	tcase_add_test(tc, capabilities);
	tcase_add_test(tc, states_follow_link_and_enable);
	tcase_add_test(tc, activation_needs_the_required_lid);
	tcase_add_test(tc, changes_are_told);
	tcase_add_test(tc, as_many_as_there_is_room);
	suite_add_tcase(suite, tc);
}

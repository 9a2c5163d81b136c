/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* P_Key and GUID tables of ports, and SMInfo, as a sweep reads and publishes them. */
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"
#include "tests/lib/sweep_tap.h"

/* 64 P_Keys are two blocks, 8 GUIDs one; a switch port at a host has P_Keys, too. */
enum { BLOCKS_OF_A_PORT = 3, BLOCKS_OF_A_PEER = 2 };

static struct sweep_fixture *fixture;
static struct tap tap; /* until stop() */

static void stop(void)
{
	fixture_free(fixture);
	fixture = NULL;
}

static uint64_t reads(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_PKEY_TABLE) +
	       sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_GUID_INFO);
}

static struct snap_reader *reader(void)
{
	struct snap_reader *r;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	return r;
}

static const uint8_t *payload(struct snap_reader *r, uint16_t attr, uint64_t guid,
                              uint32_t block)
{
	const uint8_t *data;
	uint16_t len;

	ck_assert_int_eq(snap_attr(r, attr, guid, block, &data, &len), E_OK);
	ck_assert_uint_eq(len, 64);
	return data;
}

START_TEST(tables_of_every_end_port)
{
	fixture = fixture_bring_up("ft2 6 6 3", 1, 0);
	fixture_heavy(fixture, 1);
	struct snap_reader *r = reader();
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		const struct port *p = &fixture->g->ports[fixture->g->end_ports[i]];
		uint64_t node = fixture->g->nodes[p->node].guid;
		static const uint8_t none[64];
		const uint8_t *keys =
			payload(r, UMAD_SM_ATTR_PKEY_TABLE, node, (uint32_t)p->num << 16);
		ck_assert_uint_eq(field_get(keys, 0, 16), 0xffff);
		ck_assert_mem_eq(keys + 2, none, 62);
		ck_assert_mem_eq(payload(r, UMAD_SM_ATTR_PKEY_TABLE, node,
		                         (uint32_t)p->num << 16 | 1),
		                 none, 64);
		ck_assert_uint_eq(field_get(payload(r, UMAD_SM_ATTR_GUID_INFO, node,
		                                    (uint32_t)p->num << 8),
		                            0, 64),
		                  p->guid);
	}
	snap_reader_close(r);
	ck_assert_uint_eq(reads(),
	                  (uint64_t)BLOCKS_OF_A_PORT * fixture->g->n_end_ports +
	                          (uint64_t)BLOCKS_OF_A_PEER * fixture->g->n_hosts);
}
END_TEST

/* Whoever may read the snapshot must not learn the M_Key. All else is there. */
START_TEST(no_m_key_published)
{
	struct snap_attr_row row = { 0 };
	struct snap_reader *r;
	unsigned n = 0, n_lids = 0;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 2 2 1", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.m_key = 0x1122334455667788;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_up(fixture);
	r = reader();
	while (snap_attr_from(r, UMAD_SM_ATTR_PORT_INFO, row.guid, row.block + 1, &row) == E_OK) {
		ck_assert_uint_eq(field_get(row.data, PI_M_KEY), 0);
		n_lids += field_get(row.data, PI_LID) != 0;
		n++;
	}
	ck_assert_uint_ge(n, fixture->g->n_end_ports);
	ck_assert_uint_ge(n_lids, fixture->g->n_end_ports);
	snap_reader_close(r);
}
END_TEST

START_TEST(own_sm_info)
{
	fixture = fixture_bring_up("ft2 2 2 1", 1, 0);
	fixture->config.sm_priority = 7;
	fixture_heavy(fixture, 1);
	struct snap_reader *r = reader();
	const struct port *own = &fixture->g->ports[fixture->g->sm_port];
	const uint8_t *info = payload(r, UMAD_SM_ATTR_SM_INFO,
	                              fixture->g->nodes[own->node].guid, own->num);
	struct snap_attr_row row;
	ck_assert_uint_eq(field_get(info, SMI_GUID), own->guid);
	ck_assert_uint_eq(field_get(info, SMI_SM_KEY), 0);
	ck_assert_uint_eq(field_get(info, SMI_PRIORITY), 7);
	ck_assert_uint_eq(field_get(info, SMI_SM_STATE), 3); /* master */
	ck_assert_int_eq(snap_attr_from(r, UMAD_SM_ATTR_SM_INFO, 0, 0, &row), E_OK);
	ck_assert_int_eq(
		snap_attr_from(r, UMAD_SM_ATTR_SM_INFO, row.guid, row.block + 1, &row),
		E_NOTFOUND);
	snap_reader_close(r);
}
END_TEST

/* Once in the life of a port. */
START_TEST(read_once)
{
	fixture = fixture_bring_up("ft2 6 6 3", 1, 0);
	fixture_heavy(fixture, 1);
	uint64_t before = reads();
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	ck_assert_uint_eq(reads(), before);
	const struct port *sm = &fixture->g->ports[fixture->g->sm_port];
	uint32_t host = fixture->g->end_ports[fixture->g->n_end_ports - 1];
	if (host == fixture->g->sm_port) {
		host = fixture->g->end_ports[fixture->g->n_end_ports - 2];
	}
	ck_assert_uint_ne(fixture->g->ports[host].node, sm->node);
	ck_assert_int_eq(sim_reboot(fixture->sim,
	                            fixture->g->nodes[fixture->g->ports[host].node].guid),
	                 E_OK);
	fixture_up(fixture);
	fixture_run_ms(fixture, 25000);
	fixture_up(fixture);
	ck_assert_uint_eq(reads(), before + BLOCKS_OF_A_PORT + BLOCKS_OF_A_PEER);
}
END_TEST

/* Tables that get lost keep nobody from coming up. */
START_TEST(lossy)
{
	fixture = fixture_bring_up("ft2 6 6 3", 3 + (uint32_t)_i, 30000);
	fixture_up(fixture);
	struct snap_reader *r = reader();
	unsigned there = 0;
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		const struct port *p = &fixture->g->ports[fixture->g->end_ports[i]];
		const uint8_t *data;
		uint16_t len;
		there += snap_attr(r, UMAD_SM_ATTR_GUID_INFO,
		                   fixture->g->nodes[p->node].guid, (uint32_t)p->num << 8,
		                   &data, &len) == E_OK;
	}
	ck_assert_uint_gt(there, fixture->g->n_end_ports / 2);
	snap_reader_close(r);
}
END_TEST

static bool loses_p_key_reads(const uint8_t *mad)
{
	return field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_PKEY_TABLE;
}

/* P_Key tables whose reads got lost are read again although nothing else happens, because
 * no path leads to a port of unknown P_Keys. */
START_TEST(lost_reads_are_repeated)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 2 2 1", 0, 1);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	tap.loses = loses_p_key_reads;
	fixture_start(fixture);
	fixture_up(fixture);
	tap.loses = NULL;
	fixture_run_ms(fixture, 60000);
	struct snap_reader *r = reader();
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		const struct port *p = &fixture->g->ports[fixture->g->end_ports[i]];

		ck_assert_uint_eq(field_get(payload(r, UMAD_SM_ATTR_PKEY_TABLE,
		                                    fixture->g->nodes[p->node].guid,
		                                    (uint32_t)p->num << 16),
		                            0, 16),
		                  0xffff);
	}
	snap_reader_close(r);
}
END_TEST

/* Ports that never answer such a read do not keep the subnet manager busy. */
START_TEST(reads_in_vain_become_rare)
{
	uint32_t before;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 2 2 1", 0, 1);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	tap.loses = loses_p_key_reads;
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 600000);
	before = sweep_status(fixture->sweep)->heavy_sweeps;
	fixture_run_ms(fixture, 600000);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->heavy_sweeps, before + 3);
	ck_assert_uint_le(sweep_status(fixture->sweep)->heavy_sweeps, before + 4);
	ck_assert(sweep_status(fixture->sweep)->up);
}
END_TEST

/* A host answers nonsense while its cable goes out and in. A lie about its M_Key must not be
 * written into the port, which would then hear nobody any more. */
START_TEST(lie_about_m_key)
{
	uint32_t host, cable;

	fixture = fixture_bring_up("ft2 4 2 2", (uint32_t)_i, 0);
	fixture_up(fixture);
	host = fixture->g->end_ports[fixture->g->n_end_ports - 1];
	cable = fixture->g->ports[host].peer;
	sim_set_hostile(fixture->sim, fixture->g->nodes[fixture->g->ports[host].node].guid,
	                true);
	for (unsigned k = 0; k < 10; k++) {
		const struct port *p = &fixture->g->ports[cable];

		sim_set_link(fixture->sim, fixture->g->nodes[p->node].guid, p->num,
		             k % 2);
		fixture_run_ms(fixture, 1000);
	}
	sim_set_hostile(fixture->sim, fixture->g->nodes[fixture->g->ports[host].node].guid,
	                false);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 60000);
	fixture_up(fixture);
	ck_assert_uint_eq(fixture_peek(fixture, host, PI_M_KEY), 0);
	ck_assert_uint_eq(fixture_peek(fixture, host, PI_PORT_STATE), PORT_ACTIVE);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts,
	                  fixture->g->n_end_ports - fixture->g->n_switches);
}
END_TEST

TEST_SUITE(sweep_tables)
{
	TCase *tc = tcase_create("tables");

	tcase_add_checked_fixture(tc, NULL, stop);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, tables_of_every_end_port);
	tcase_add_test(tc, own_sm_info);
	tcase_add_test(tc, no_m_key_published);
	tcase_add_test(tc, read_once);
	tcase_add_loop_test(tc, lossy, 0, 4);
	tcase_add_test(tc, lost_reads_are_repeated);
	tcase_add_test(tc, reads_in_vain_become_rare);
	tcase_add_loop_test(tc, lie_about_m_key, 0, 12);
	suite_add_tcase(suite, tc);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * LIDs on both sides of 0xBFFF. Ports have them from an earlier subnet manager, so that they stay. The simulated
 * devices say what arrived, by their own field tables; the simulated kernel drops what has no GRH.
 */
#include "sa/sim/opa/opa_int.h"
#include "sa/sim/sim_state.h"
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { ROOM = 0x20000, BORDER = 0xbfff };

static struct sweep_fixture *fixture;

static void (*prepare)(void); /* changes devices before the start */

/* limit: unicast_lid_limit; room: LinearFDBCap of switches; first: LID of the first end port. */
static void start(uint32_t limit, uint32_t room, uint32_t first, bool omni_path)
{
	struct graph *g;

	fixture = fixture_new();
	fixture->omni_path = omni_path;
	fixture->keep_lids = true;
	fixture_topo(fixture, "ft2 4 2 4 1", 0, 0);
	g = fixture->g;
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		g->nodes[i].linear_fdb_cap = room;
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		g->ports[g->end_ports[i]].lid = first + i;
	}
	fixture->config.unicast_lid_limit = limit;
	fixture_sim(fixture, 1, 0);
	if (prepare != NULL) {
		prepare();
	}
	fixture_start(fixture);
}

static void teardown(void)
{
	if (fixture != NULL) {
		fixture_free(fixture);
		fixture = NULL;
	}
	prepare = NULL;
}

static uint64_t info(uint32_t port, unsigned bit, unsigned width)
{
	return field_get(sim_opa_port(fixture->sim, port)->info, bit, width);
}

/* Every pair of hosts reaches each other by LIDs, as packets do. */
static void check_packets(void)
{
	uint64_t lost, sent = sim_send_packets(fixture->sim, &lost);

	ck_assert_uint_gt(sent, 0);
	ck_assert_uint_eq(lost, 0);
}

/* LIDs stay, on both sides, and everything else follows them. */
START_TEST(crosses)
{
	static const uint32_t first[] = { 0xbff8, 0xfff0, 0x10010, 0xc000 };
	const struct graph *g;

	start(ROOM - 1, ROOM, first[_i], true);
	fixture_up(fixture);
	g = fixture->g;
	uint32_t top = sweep_job(fixture->sweep)->lids.lids.top;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i], lid = (uint32_t)info(port, OPI_LID);

		if (first[_i] + i != 0xffff) {
			ck_assert_uint_eq(lid, first[_i] + i);
		}
		ck_assert_uint_ne(lid, 0xffff); /* permissive */
		ck_assert_uint_eq(info(port, OPI_MASTER_SM_LID),
		                  info(g->sm_port, OPI_LID));
		if (g->nodes[g->ports[port].node].type != NODE_SWITCH) {
			ck_assert_uint_ge(info(port, OPI_MAX_LID), top);
			ck_assert_uint_eq(info(g->ports[port].peer, OPI_LID), lid);
		}
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		const struct opa_device *d = fixture->sim->opa[g->switches[s]].device;

		ck_assert_uint_eq(field_get(d->switch_info, OSI_LINEAR_FDB_TOP), top);
	}
	check_packets();
}
END_TEST

static uint64_t sets(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PORT_INFO) +
	       sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PKEY_TABLE) +
	       sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT);
}

/* A second heavy sweep has nothing to do. */
START_TEST(settles)
{
	start(ROOM - 1, ROOM, 0xfff0, true);
	fixture_up(fixture);
	uint64_t before = sets();

	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	ck_assert_uint_eq(sets(), before);
}
END_TEST

/* Traps come from high LIDs to a high LID: a cable that goes is found before the light sweep. */
START_TEST(traps_are_believed)
{
	const struct graph *g;
	uint32_t host;

	start(ROOM - 1, ROOM, 0x10010, true);
	fixture_up(fixture);
	g = fixture->g;
	host = fixture_host(fixture, 3);
	sim_set_link(fixture->sim, g->nodes[g->ports[host].node].guid, g->ports[host].num,
	             false);
	fixture_run_ms(fixture, 1000);
	ck_assert_uint_ge(fixture_sweeps(fixture), 2);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->forged_traps, 0);
}
END_TEST

/* A LID for which a table or the operator has no room is replaced by a lower one. */
START_TEST(limits)
{
	static const struct {
		uint32_t limit, room;
	} cases[] = { { BORDER, ROOM }, { ROOM - 1, BORDER + 1 } };
	const struct graph *g;

	start(cases[_i].limit, cases[_i].room, 0xbff8, true);
	fixture_up(fixture);
	g = fixture->g;
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		ck_assert_uint_le(info(g->end_ports[i], OPI_LID), BORDER);
	}
	check_packets();
}
END_TEST

static uint8_t *device_info(uint32_t port)
{
	return sim_opa_port(fixture->sim, port)->info;
}

static void drop_bits(uint8_t *info, unsigned bit, unsigned width, uint64_t bits)
{
	field_set(info, bit, width, field_get(info, bit, width) & ~bits);
}

enum { FORMAT_16B = 8 };

static void drop_max_lid(void)
{
	drop_bits(device_info(fixture_host(fixture, 2)), OPI_CAPABILITY_3,
	          OPA_CAP3_MAX_LID);
}

static void drop_16b(void)
{
	drop_bits(device_info(fixture_host(fixture, 2)), OPI_FORMATS_SUPPORTED,
	          FORMAT_16B);
}

static void drop_16b_of_switch(void)
{
	uint32_t host = fixture_host(fixture, 2);

	drop_bits(device_info(fixture->g->ports[host].peer), OPI_FORMATS_SUPPORTED,
	          FORMAT_16B);
}

/* An adapter that takes no high LID gets a lower one, and so does the subnet manager, which it has to reach. All others
 * keep theirs. */
START_TEST(adapter_without_high_lids)
{
	static void (*const changes[])(void) = { drop_max_lid, drop_16b,
		                                 drop_16b_of_switch };
	const struct graph *g;
	uint32_t host, n_low = 0;

	prepare = changes[_i];
	start(ROOM - 1, ROOM, 0x10010, true);
	fixture_up(fixture);
	g = fixture->g;
	host = fixture_host(fixture, 2);
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];
		uint64_t lid = info(port, OPI_LID);

		n_low += lid <= BORDER;
		if (port == host || port == g->sm_port) {
			ck_assert_uint_gt(lid, 0);
			ck_assert_uint_le(lid, BORDER);
		} else {
			ck_assert_uint_eq(lid, 0x10010 + i);
		}
		ck_assert_uint_eq(info(port, OPI_MASTER_SM_LID),
		                  info(g->sm_port, OPI_LID));
	}
	ck_assert_uint_eq(n_low, 2);
	ck_assert_uint_eq(info(g->ports[host].peer, OPI_LID), info(host, OPI_LID));
}
END_TEST

/* InfiniBand has none of them, whatever the operator asks for. */
START_TEST(infiniband)
{
	const struct graph *g;

	start(ROOM - 1, 0, 0xbff8, false);
	fixture_up(fixture);
	g = fixture->g;
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		ck_assert_uint_le(fixture_peek(fixture, g->end_ports[i], PI_LID), BORDER);
		ck_assert_uint_gt(fixture_peek(fixture, g->end_ports[i], PI_LID), 0);
	}
}
END_TEST

TEST_SUITE(sweep_high_lids)
{
	TCase *t = tcase_create("sweep_high_lids");

	tcase_set_timeout(t, 120);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, crosses, 0, 4);
	tcase_add_test(t, settles);
	tcase_add_test(t, traps_are_believed);
	tcase_add_loop_test(t, limits, 0, 2);
	tcase_add_loop_test(t, adapter_without_high_lids, 0, 3);
	tcase_add_test(t, infiniband);
	suite_add_tcase(suite, t);
}

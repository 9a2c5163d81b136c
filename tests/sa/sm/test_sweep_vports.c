/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Virtual ports of channel adapters on a simulated fabric: they come up with LIDs and routes, at the
 * start and later, and adapters that lie about them cost little. */
#include "conf/base/p_key.h"
#include "conf/policy/partitions.h"
#include "sa/sim/sim_state.h"
#include "sa/sm/sm.h"
#include "tests/lib/fabric.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { CAP = 100, OWN = 1, SHARED = 0, INTERVAL_MS = 10000 };

static struct sweep_fixture *fixture;
static struct arena *texts;

static void prepare(void)
{
	texts = arena_new();
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 2 2", 0, 1);
	fixture->vport_cap = CAP;
	fixture->config.virt_enabled = 2;
	fixture->config.sweep_interval = INTERVAL_MS / 1000;
	fixture_sim(fixture, 1, 0);
}

static void stop(void)
{
	fixture_free(fixture);
	fixture = NULL;
	arena_free(texts);
}

static void up(void)
{
	fixture_start(fixture);
	fixture_up(fixture);
}

static uint32_t host(unsigned i)
{
	for (uint32_t k = 0; k < fixture->g->n_end_ports; k++) {
		if (graph_is_host(fixture->g, fixture->g->end_ports[k]) && i-- == 0) {
			return fixture->g->end_ports[k];
		}
	}
	ck_abort_msg("no such host");
	return 0;
}

static uint64_t node_guid(unsigned i)
{
	return fixture->g->nodes[fixture->g->ports[host(i)].node].guid;
}

static uint8_t num(unsigned i)
{
	return fixture->g->ports[host(i)].num;
}

static uint16_t add(unsigned h, uint64_t guid, bool own)
{
	uint16_t index = 0;

	ck_assert_int_eq(
		sim_vport_add(fixture->sim, node_guid(h), num(h), guid, own, &index),
		E_OK);
	return index;
}

static uint64_t peek(unsigned h, uint16_t index, unsigned bit, unsigned width)
{
	uint8_t data[64];

	ck_assert_int_eq(
		sim_peek(fixture->sim, node_guid(h), VPORT_ATTR_INFO, index, data), E_OK);
	return field_get(data, bit, width);
}

static uint32_t base_lid(unsigned h)
{
	return (uint32_t)field_get(fixture->sim->ports[host(h)].info, PI_LID);
}

static bool is_up(unsigned h, uint16_t index)
{
	return peek(h, index, VPI_STATE) == PORT_ACTIVE;
}

/* The LID of a virtual port that has one; all switches have routes to it as to its port. */
static uint32_t check_own(unsigned h, uint16_t index)
{
	uint32_t lid = (uint32_t)peek(h, index, VPI_LID), base = base_lid(h);

	ck_assert_msg(is_up(h, index), "virtual port %u is in state %u", index,
	              (unsigned)peek(h, index, VPI_STATE));
	ck_assert_uint_ne(lid, 0);
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		const struct sim_node *n = &fixture->sim->nodes[fixture->g->switches[i]];

		ck_assert_uint_gt(n->lft_len, lid);
		ck_assert_uint_ne(n->lft[lid], LFT_NO_ROUTE);
		ck_assert_uint_eq(n->lft[lid], n->lft[base]);
		ck_assert_uint_le(lid, field_get(n->sw_info, SI_LINEAR_FDB_TOP));
	}
	return lid;
}

static uint64_t vport_smps(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_GET, 0xFFB0) +
	       sim_count(fixture->sim, UMAD_METHOD_SET, 0xFFB0);
}

START_TEST(come_up_with_the_fabric)
{
	uint16_t a = add(0, 0, OWN), b = add(0, 0, OWN), c = add(1, 0, SHARED);
	uint32_t lid_a, lid_b;

	up();
	lid_a = check_own(0, a);
	lid_b = check_own(0, b);
	ck_assert_uint_ne(lid_a, lid_b);
	ck_assert(is_up(1, c));
	ck_assert_uint_eq(peek(1, c, VPI_LID), 0);
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t lid = (uint32_t)field_get(
			fixture->sim->ports[fixture->g->end_ports[i]].info, PI_LID);

		ck_assert(lid != lid_a && lid != lid_b);
	}
}
END_TEST

START_TEST(left_alone_by_default)
{
	uint16_t a = add(0, 0, OWN);

	fixture->config.virt_enabled = 0;
	up();
	ck_assert_uint_eq(peek(0, a, VPI_STATE), PORT_DOWN);
	ck_assert_uint_eq(vport_smps(), 0);
}
END_TEST

START_TEST(disabled)
{
	uint16_t a = add(0, 0, OWN);

	up();
	ck_assert(is_up(0, a));
	fixture->config.virt_enabled = 1;
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	fixture_up(fixture);
	ck_assert_uint_eq(peek(0, a, VPI_STATE), PORT_DOWN);
}
END_TEST

START_TEST(appear_without_a_heavy_sweep)
{
	uint32_t heavy;
	uint16_t a;

	up();
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	a = add(2, 0xabc, OWN);
	fixture_run_ms(fixture, INTERVAL_MS + 2000);
	check_own(2, a);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->local_sweeps, 1);
}
END_TEST

START_TEST(trap_is_enough)
{
	uint16_t a;

	fixture->config.sweep_interval = 0;
	up();
	fixture_run_ms(fixture, 5000);
	a = add(2, 0xabc, OWN);
	fixture_run_ms(fixture, 8000);
	check_own(2, a);
}
END_TEST

START_TEST(lids_are_kept)
{
	uint16_t a, b;
	uint32_t lid, other;

	a = add(0, 0xabc, OWN);
	b = add(0, 0xdef, OWN);
	up();
	lid = check_own(0, a);
	other = check_own(0, b);
	/* another process finds them in its state, although the ports lost them */
	fixture_stop(fixture);
	ck_assert_int_eq(sim_reboot(fixture->sim, node_guid(0)), E_OK);
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 3 * INTERVAL_MS);
	ck_assert_uint_eq(check_own(0, a), lid);
	ck_assert_uint_eq(check_own(0, b), other);
	/* a virtual machine moves to another host */
	ck_assert_int_eq(sim_vport_remove(fixture->sim, node_guid(0), num(0), a), E_OK);
	fixture_run_ms(fixture, 2 * INTERVAL_MS);
	a = add(3, 0xabc, OWN);
	fixture_run_ms(fixture, 2 * INTERVAL_MS);
	ck_assert_uint_eq(check_own(3, a), lid);
	ck_assert_uint_eq(check_own(0, b), other);
}
END_TEST

START_TEST(rebooted_host)
{
	uint16_t a = add(1, 0, OWN), b = add(1, 0, SHARED);
	uint32_t lid;

	up();
	lid = check_own(1, a);
	ck_assert_int_eq(sim_reboot(fixture->sim, node_guid(1)), E_OK);
	fixture_run_ms(fixture, 3 * INTERVAL_MS);
	ck_assert_uint_eq(check_own(1, a), lid);
	ck_assert(is_up(1, b));
}
END_TEST

START_TEST(guid_belongs_to_the_first)
{
	uint64_t port_guid = fixture->g->ports[host(3)].guid;
	uint16_t first = add(0, 0xabc, OWN), second, thief;

	up();
	check_own(0, first);
	second = add(1, 0xabc, OWN);
	thief = add(1, port_guid, OWN);
	fixture_run_ms(fixture, 3 * INTERVAL_MS);
	check_own(0, first);
	ck_assert_uint_eq(peek(1, second, VPI_LID), 0);
	ck_assert(!is_up(1, second));
	ck_assert(!is_up(1, thief));
	ck_assert_int_eq(sim_vport_remove(fixture->sim, node_guid(0), num(0), first),
	                 E_OK);
	fixture_run_ms(fixture, 3 * INTERVAL_MS);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, INTERVAL_MS);
	check_own(1, second);
}
END_TEST

START_TEST(quiet_when_nothing_changes)
{
	uint64_t before;

	for (unsigned i = 0; i < 20; i++) {
		add(i % 4, 0, i % 2);
	}
	up();
	fixture_run_ms(fixture, 2 * INTERVAL_MS);
	before = vport_smps();
	fixture_run_ms(fixture, 10 * INTERVAL_MS);
	/* one VirtualizationInfo of each host in each light sweep */
	ck_assert_uint_le(vport_smps() - before, 11 * fixture->g->n_hosts);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 1);
}
END_TEST

/* An adapter that lies: what it costs in ten minutes, beside what honest ones cost. */
START_TEST(lies_cost_little)
{
	static const struct {
		enum sim_vport_lie lie;
		uint64_t most; /* SMPs about virtual ports */
	} cases[] = {
		{ SIM_VPORT_MANY, 8000 },
		{ SIM_VPORT_CHANGES, 400 },
		{ SIM_VPORT_NONSENSE, 60000 },
	};
	uint16_t honest = add(0, 0, OWN), liar = add(1, 0, OWN);
	uint64_t before, cost;
	uint32_t lid;

	(void)liar;
	up();
	lid = check_own(0, honest);
	ck_assert_int_eq(sim_vport_lie(fixture->sim, node_guid(1), num(1), cases[_i].lie),
	                 E_OK);
	before = vport_smps();
	fixture_run_ms(fixture, 60 * INTERVAL_MS);
	cost = vport_smps() - before - 60 * fixture->g->n_hosts;
	ck_assert_msg(cost <= cases[_i].most, "%llu SMPs", (unsigned long long)cost);
	ck_assert_uint_eq(check_own(0, honest), lid);
	ck_assert(sweep_status(fixture->sweep)->up);
	ck_assert_int_eq(
		sim_vport_lie(fixture->sim, node_guid(1), num(1), SIM_VPORT_TRUTH), E_OK);
	fixture_run_ms(fixture, 100 * INTERVAL_MS);
	check_own(1, liar);
}
END_TEST

TEST_SUITE(sweep_vports)
{
	TCase *t = tcase_create("virtual ports");

	tcase_add_checked_fixture(t, prepare, stop);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, come_up_with_the_fabric);
	tcase_add_test(t, left_alone_by_default);
	tcase_add_test(t, disabled);
	tcase_add_test(t, appear_without_a_heavy_sweep);
	tcase_add_test(t, trap_is_enough);
	tcase_add_test(t, lids_are_kept);
	tcase_add_test(t, rebooted_host);
	tcase_add_test(t, guid_belongs_to_the_first);
	tcase_add_test(t, quiet_when_nothing_changes);
	tcase_add_loop_test(t, lies_cost_little, 0, 3);
	suite_add_tcase(suite, t);
}

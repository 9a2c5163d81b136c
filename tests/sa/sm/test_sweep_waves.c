/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Forwarding tables sent by LID, in waves from the SM outwards: the same tables as by directed
 * routes, whatever the fabric does to the SMPs.
 */
#include "sa/mad/smp.h"
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

static struct sweep_fixture *fixture;

static void setup(void)
{
	fixture = fixture_new();
	fixture->config.smp_routing = SMP_ROUTING_LID;
}

static void teardown(void)
{
	fixture_free(fixture);
}

static void make_sim(uint32_t drop_ppm, bool no_mixed)
{
	struct sim_options o = { .virtual_clock = true,
		                 .seed = 3,
		                 .delay_us = 1,
		                 .smp_us = 10,
		                 .drop_ppm = drop_ppm,
		                 .no_mixed = no_mixed };

	ck_assert_int_eq(sim_new(fixture->g, &o, false, &fixture->sim), E_OK);
}

static const struct smp_counters *counters(void)
{
	return smp_counters(sweep_job(fixture->sweep)->program.smp);
}

/* Does the switch hold what was computed? */
static bool has_tables(uint32_t sw)
{
	const struct job *j = sweep_job(fixture->sweep);
	uint64_t guid = fixture->g->nodes[fixture->g->switches[sw]].guid;
	uint32_t of_job = j->disc.g->nodes[graph_node_by_guid(j->disc.g, guid)].sw;
	const uint8_t *row = lft_row(&j->route.out.lft, of_job);
	uint8_t data[64];

	ck_assert_int_eq(sim_peek(fixture->sim, guid, UMAD_SM_ATTR_SWITCH_INFO, 0, data),
	                 E_OK);
	if (field_get(data, SI_LINEAR_FDB_TOP) != j->lids.lids.top) {
		return false;
	}
	for (uint32_t lid = 0; lid <= j->lids.lids.top; lid++) {
		if (lid % 64 == 0) {
			ck_assert_int_eq(sim_peek(fixture->sim, guid,
			                          UMAD_SM_ATTR_LINEAR_FT, lid / 64, data),
			                 E_OK);
		}
		if (data[lid % 64] != row[lid]) {
			return false;
		}
	}
	return true;
}

static void check_tables(void)
{
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		ck_assert_msg(has_tables(i), "switch %u", i);
	}
}

static const struct {
	const char *topo, *engine;
	uint32_t drop_ppm;
	bool no_mixed;
} cases[] = {
	{ "ft2 6 4 3", "minhop", 0, false },   { "ft3 4", "ftree", 0, false },
	{ "torus 3x3 2", "dfsssp", 0, false }, { "mesh 4x4 2", "updn", 0, false },
	{ "torus 4x4x2 1", "lash", 0, false }, { "ft2 2 1 2", "minhop", 0, false },
	{ "ft3 4", "minhop", 0, true },        { "mesh 4x4 2", "updn", 0, true },
	{ "ft3 4", "minhop", 30000, false },   { "torus 3x3 2", "dfsssp", 30000, true },
};

/* All switches hold the computed tables. Where nothing is lost, no SMP by LID is in vain, and
 * each switch beyond the first is reached without a directed route. */
START_TEST(bring_up)
{
	struct why why = { "" };

	fixture_topo(fixture, cases[_i].topo, 0, 0);
	ck_assert_int_eq(route_list_parse(cases[_i].engine, &fixture->deps.list, &why),
	                 E_OK);
	make_sim(cases[_i].drop_ppm, cases[_i].no_mixed);
	fixture_start(fixture);
	fixture_up(fixture);
	check_tables();
	const struct smp_counters *c = counters();
	uint32_t n = fixture->g->n_switches;

	ck_assert_uint_ge(c->by_lid, n); /* port states, at least */
	ck_assert_uint_eq(sweep_status(fixture->sweep)->smps_by_lid, c->by_lid);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->smps_mixed, c->mixed);
	if (cases[_i].drop_ppm == 0 && !cases[_i].no_mixed) {
		ck_assert_uint_eq(c->repeated_directed, 0);
		ck_assert_uint_ge(c->mixed, n - 1);
		/* two blocks and LinearFDBTop */
		ck_assert_uint_le(c->mixed, 3 * (n - 1));
	}
	if (cases[_i].drop_ppm == 0 && cases[_i].no_mixed) {
		/* one probe: those that began before it was given up */
		ck_assert_uint_eq(c->repeated_directed, c->mixed);
		ck_assert_uint_lt(c->mixed, 4 * n);
	}
	/* nothing by LID between sweeps */
	uint64_t by_lid = c->by_lid;
	fixture_run_ms(fixture, 25000);
	ck_assert_uint_eq(counters()->by_lid, by_lid);
}
END_TEST

/* A switch that lost its tables is opened through its parent, unless that did not pass on
 * SMPs before: a parent is tried once. */
START_TEST(parent_is_tried_once)
{
	bool no_mixed = _i == 1;

	fixture_topo(fixture, "ft2 6 4 3", 0, 0);
	make_sim(0, no_mixed);
	fixture_start(fixture);
	fixture_up(fixture);
	uint64_t mixed = counters()->mixed, repeated = counters()->repeated_directed;
	ck_assert_uint_gt(mixed, 0);
	ck_assert_uint_eq(repeated, no_mixed ? mixed : 0);
	const struct port *sm = &fixture->g->ports[fixture->g->sm_port];
	uint32_t first = fixture->g->nodes[fixture->g->ports[sm->peer].node].sw;
	uint32_t other = (first + 1) % fixture->g->n_switches;
	for (unsigned k = 0; k < 2; k++) {
		mixed = counters()->mixed;
		repeated = counters()->repeated_directed;
		ck_assert_int_eq(
			sim_reboot(fixture->sim,
		                   fixture->g->nodes[fixture->g->switches[other]].guid),
			E_OK);
		fixture_run_ms(fixture, 30000);
		ck_assert(sweep_status(fixture->sweep)->up);
		ck_assert(has_tables(other));
	}
	ck_assert_uint_eq(counters()->mixed > mixed, !no_mixed);
	ck_assert_uint_eq(counters()->repeated_directed, repeated);
}
END_TEST

static bool is_phase(const char *name)
{
	return strcmp(sweep_status(fixture->sweep)->phase, name) == 0;
}

/* A switch that falls silent while tables are sent: all others have theirs in that sweep,
 * unless the fabric behind it is reached only through it. */
START_TEST(silent_switch)
{
	uint32_t n;

	fixture_topo(fixture, "ft2 6 4 3", 0, 0);
	make_sim(0, false);
	fixture_start(fixture);
	for (unsigned i = 0; i < FIXTURE_TURNS && !is_phase("tables"); i++) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	n = fixture->g->n_switches;
	const struct port *sm = &fixture->g->ports[fixture->g->sm_port];
	uint32_t first = fixture->g->nodes[fixture->g->ports[sm->peer].node].sw;
	uint32_t deaf = (first + 1 + (uint32_t)_i) % n;
	ck_assert_int_eq(sim_set_deaf(fixture->sim,
	                              fixture->g->nodes[fixture->g->switches[deaf]].guid,
	                              true),
	                 E_OK);
	for (unsigned i = 0; i < FIXTURE_TURNS && is_phase("tables"); i++) {
		for (uint32_t k = 0, have = 0; k < n; k++) {
			have += has_tables(k);
			if (have == n - 1) {
				return;
			}
		}
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_abort_msg("some switch waited for switch %u", deaf);
}
END_TEST

/* By LID it takes a fraction of the time of directed routes, where processors need time for
 * each SMP. */
START_TEST(faster)
{
	uint64_t took[2];

	for (unsigned k = 0; k < 2; k++) {
		struct sweep_fixture *r = fixture_new();
		struct sim_options o = { .virtual_clock = true,
			                 .delay_us = 1,
			                 .smp_us = 20 };

		r->config.smp_routing = k;
		fixture_topo(r, "ft3 8", 0, 0);
		ck_assert_int_eq(sim_new(r->g, &o, false, &r->sim), E_OK);
		fixture_start(r);
		while (strcmp(sweep_status(r->sweep)->phase, "tables") != 0) {
			ck_assert_int_eq(sweep_run_once(r->sweep), E_OK);
		}
		took[k] = fixture_now(r);
		while (strcmp(sweep_status(r->sweep)->phase, "activate") != 0) {
			ck_assert_int_eq(sweep_run_once(r->sweep), E_OK);
		}
		took[k] = fixture_now(r) - took[k];
		fixture_free(r);
	}
	ck_assert_msg(took[1] < took[0] / 4, "%lu ms, %lu ms by directed routes",
	              (unsigned long)took[1], (unsigned long)took[0]);
}
END_TEST

TEST_SUITE(sweep_waves)
{
	TCase *t = tcase_create("sweep_waves");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, bring_up, 0, sizeof(cases) / sizeof(*cases));
	tcase_add_loop_test(t, parent_is_tried_once, 0, 2);
	tcase_add_loop_test(t, silent_switch, 0, 9);
	tcase_add_test(t, faster);
	suite_add_tcase(suite, t);
}

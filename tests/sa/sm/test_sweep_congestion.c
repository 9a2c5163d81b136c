/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Congestion control of InfiniBand (IBA vol. 1, annex A10): what switches and adapters hold after
 * sweeps, and what is not sent. tests/e2e/congestion.sh compares the bytes with those of OpenSM.
 */
#include "conf/policy/congestion.h"
#include "sa/sm/congestion/congestion.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { SWITCH = 0x14, CA = 0x16, TABLE = 0x17, PASS_MS = 20000 };

static struct sweep_fixture *fixture;

static void options(struct congestion_options *o)
{
	o->on = true;
	o->key = 0x1122334455667788;
	o->threshold = 9;
	o->timer.of[3] = 150;
	o->table.n = 100;
	for (unsigned i = 0; i < o->table.n; i++) {
		o->table.entry[i] = (uint16_t)(0x4000 + i);
	}
}

static void begin(uint32_t seed, uint32_t drop_ppm, bool on)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, seed, drop_ppm);
	fixture->with_stats = true;
	options(&fixture->config.congestion);
	fixture->config.congestion.on = on;
	fixture_start(fixture);
	fixture_up(fixture);
}

static void stop(void)
{
	fixture_free(fixture);
}

static const uint8_t *held_by_host(unsigned i, uint16_t attr, uint32_t mod)
{
	return sim_congestion_held(fixture->sim, fixture_host_guid(fixture, i),
	                           fixture_host_num(fixture, i), attr, mod);
}

static const uint8_t *held_by_switch(unsigned i)
{
	const struct graph *g = fixture->g;

	return sim_congestion_held(fixture->sim, g->nodes[g->switches[i]].guid, 0, SWITCH, 0);
}

/* Holds every node what the options say? */
static bool all_set(unsigned threshold)
{
	const struct graph *g = fixture->g;

	for (unsigned i = 0; i < g->n_switches; i++) {
		const uint8_t *s = held_by_switch(i);

		if (s == NULL || s[68] != threshold << 4) {
			return false;
		}
	}
	for (unsigned i = 0; i < g->n_hosts; i++) {
		const uint8_t *ca = held_by_host(i, CA, 0), *second = held_by_host(i, TABLE, 1);

		/* the timer of SL 3; CCTI_Limit 99, and the last entry of the second block */
		if (ca == NULL || ca[4 + 8 * 3 + 1] != 150 || second == NULL || second[1] != 99 ||
		    second[4 + 2 * (99 - 64)] != 0x40 || second[4 + 2 * (99 - 64) + 1] != 99 ||
		    second[4 + 2 * (100 - 64)] != 0) {
			return false;
		}
	}
	return true;
}

static uint64_t requests(void)
{
	return sim_congestion_requests(fixture->sim);
}

static void sweep_again(void)
{
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, fixture_sweeps(fixture) + 1);
	fixture_run_ms(fixture, 1000);
}

START_TEST(nothing_is_sent_when_off)
{
	begin(1, 0, false);
	sweep_again();
	ck_assert_uint_eq(requests(), 0);
	stop();
}
END_TEST

START_TEST(every_node_is_set_once)
{
	begin(1, 0, true);
	fixture_run_ms(fixture, 1000);
	ck_assert(all_set(9));
	/* a request for each switch, three for each host */
	ck_assert_uint_eq(requests(), fixture->g->n_switches + 3 * fixture->g->n_hosts);
	sweep_again();
	ck_assert_uint_eq(requests(), fixture->g->n_switches + 3 * fixture->g->n_hosts);
	stop();
}
END_TEST

START_TEST(what_restarts_is_set_again)
{
	uint64_t before;

	begin(1, 0, true);
	fixture_run_ms(fixture, 1000);
	before = requests();
	ck_assert_int_eq(sim_reboot(fixture->sim, fixture_host_guid(fixture, 3)), E_OK);
	ck_assert_ptr_null(held_by_host(3, CA, 0));
	fixture_run_ms(fixture, PASS_MS);
	ck_assert(all_set(9));
	ck_assert_uint_eq(requests(), before + 3);
	ck_assert_int_eq(sim_reboot(fixture->sim,
	                            fixture->g->nodes[fixture->g->switches[1]].guid),
	                 E_OK);
	fixture_run_ms(fixture, 3 * PASS_MS);
	ck_assert(all_set(9));
	stop();
}
END_TEST

START_TEST(a_new_configuration_sends_what_differs)
{
	uint64_t before;

	begin(1, 0, true);
	fixture_run_ms(fixture, 1000);
	before = requests();
	fixture->config.congestion.threshold = 10;
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	fixture_run_ms(fixture, PASS_MS);
	ck_assert(all_set(10));
	ck_assert_uint_eq(requests(), before + fixture->g->n_switches);
	stop();
}
END_TEST

START_TEST(nodes_without_the_class_are_left_alone)
{
	const struct congestion_counters *n;
	uint64_t before, guid;

	begin(1, 0, false);
	guid = fixture_host_guid(fixture, 2);
	ck_assert_int_eq(sim_congestion_set(fixture->sim, guid, false), E_OK);
	fixture->config.congestion.on = true;
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	fixture_run_ms(fixture, 10 * PASS_MS);
	n = sweep_congestion(fixture->sweep);
	ck_assert_uint_eq(n->alone, 1);
	ck_assert_uint_eq(n->waiting, 0);
	ck_assert_uint_eq(n->set, fixture->g->n_switches + fixture->g->n_hosts - 1);
	before = n->timeouts;
	/* three passes, of which each asks for three blocks with all repeats */
	ck_assert_uint_eq(before, 3 * 3 * (1 + fixture->config.transaction_retries));
	ck_assert_int_eq(sim_congestion_set(fixture->sim, guid, true), E_OK);
	sweep_again();
	fixture_run_ms(fixture, PASS_MS);
	ck_assert_ptr_null(held_by_host(2, CA, 0));
	ck_assert_uint_eq(n->timeouts, before);
	/* until it restarts */
	ck_assert_int_eq(sim_reboot(fixture->sim, guid), E_OK);
	fixture_run_ms(fixture, 3 * PASS_MS);
	ck_assert(all_set(9));
	stop();
}
END_TEST

START_TEST(an_operator_lets_all_be_set_again)
{
	uint64_t before;
	uint32_t n;

	begin(1, 0, true);
	fixture_run_ms(fixture, 1000);
	before = requests();
	n = fixture_sweeps(fixture);
	sweep_request_audit(fixture->sweep, NULL);
	fixture_heavy(fixture, n + 1);
	fixture_run_ms(fixture, 1000);
	ck_assert_uint_eq(requests(), 2 * before);
	stop();
}
END_TEST

START_TEST(a_switch_and_a_host_that_left_are_counted_once_or_not)
{
	const struct graph *g;
	const struct congestion_counters *n;

	begin(1, 0, false);
	g = fixture->g;
	n = sweep_congestion(fixture->sweep);
	ck_assert_int_eq(sim_congestion_set(fixture->sim, g->nodes[g->switches[1]].guid, false),
	                 E_OK);
	ck_assert_int_eq(sim_congestion_set(fixture->sim, fixture_host_guid(fixture, 2), false),
	                 E_OK);
	fixture->config.congestion.on = true;
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	fixture_run_ms(fixture, 3000); /* one pass: both may answer the next time */
	ck_assert_uint_eq(n->waiting, 2);
	ck_assert_int_eq(sim_set_link(fixture->sim, fixture_host_guid(fixture, 2),
	                              fixture_host_num(fixture, 2), false),
	                 E_OK);
	fixture_run_ms(fixture, 10 * PASS_MS);
	ck_assert_uint_eq(n->waiting, 0);
	ck_assert_uint_eq(n->alone, 1);
	ck_assert_uint_eq(n->set, g->n_switches + g->n_hosts - 2);
	stop();
}
END_TEST

START_TEST(losses_are_made_up_for)
{
	begin((uint32_t)_i + 1, 100000, true);
	fixture_run_ms(fixture, 30 * PASS_MS);
	ck_assert(all_set(9));
	stop();
}
END_TEST

TEST_SUITE(sweep_congestion)
{
	TCase *tc = tcase_create("sweep_congestion");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, nothing_is_sent_when_off);
	tcase_add_test(tc, every_node_is_set_once);
	tcase_add_test(tc, what_restarts_is_set_again);
	tcase_add_test(tc, a_new_configuration_sends_what_differs);
	tcase_add_test(tc, nodes_without_the_class_are_left_alone);
	tcase_add_test(tc, an_operator_lets_all_be_set_again);
	tcase_add_test(tc, a_switch_and_a_host_that_left_are_counted_once_or_not);
	tcase_add_loop_test(tc, losses_are_made_up_for, 0, 4);
	suite_add_tcase(suite, tc);
}

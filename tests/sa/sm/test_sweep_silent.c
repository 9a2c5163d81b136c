/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Nodes that do not answer for a while, though their links stay up: they are asked again and
 * again, ever more rarely, and a local sweep takes them in when they answer.
 */
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

static struct sweep_fixture *fixture;
static struct tap tap;

static void setup(void)
{
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	fixture->config.sweep_interval = 10;
	fixture->config.rebalance = REBALANCE_NEVER;
}

static void teardown(void)
{
	fixture_free(fixture);
}

/* What goes silent. The SM's own host is on the first switch. */
enum what { A_HOST, A_LEAF, A_SPINE, KINDS };

static uint64_t guid_of(enum what what)
{
	const struct graph *g = fixture->g;

	switch (what) {
	case A_HOST: return fixture_host_guid(fixture, 5);
	case A_LEAF:
		return g->nodes[g->ports[g->ports[fixture_host(fixture, 5)].peer].node]
		        .guid;
	default: break;
	}
	for (uint32_t i = 0; i < g->n_switches; i++) {
		const struct node *n = &g->nodes[g->switches[i]];
		bool spine = true;

		for (unsigned k = 1; k <= n->n_ports; k++) {
			uint32_t peer =
				g->ports[graph_port(g, g->switches[i], (uint8_t)k)].peer;

			spine &= peer == GRAPH_NONE ||
			         g->nodes[g->ports[peer].node].type == NODE_SWITCH;
		}
		if (spine) {
			return n->guid;
		}
	}
	return 0;
}

static void hush(enum what what, bool deaf)
{
	ck_assert_int_eq(sim_set_deaf(fixture->sim, guid_of(what), deaf), E_OK);
}

static bool has_all(void)
{
	const struct sweep_status *st = sweep_status(fixture->sweep);

	return st->switches == fixture->g->n_switches && st->hosts == fixture->g->n_hosts;
}

/* Silent at the first sweep, for some minutes. */
START_TEST(from_the_start)
{
	uint32_t heavy;

	hush((enum what)_i, true);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_run_ms(fixture, 600000);
	ck_assert(!has_all());
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	hush((enum what)_i, false);
	fixture_run_ms(fixture, 100000);
	ck_assert(has_all());
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
}
END_TEST

/* Silent after it was known. */
START_TEST(later)
{
	uint32_t heavy;

	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_run_ms(fixture, 30000);
	hush((enum what)_i, true);
	fixture_run_ms(fixture, 600000);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 100000);
	ck_assert(!has_all());
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	hush((enum what)_i, false);
	fixture_run_ms(fixture, 100000);
	ck_assert(has_all());
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
}
END_TEST

/* It answers NodeInfo and goes silent while a sweep reads it. */
static uint64_t stops; /* NodeGUID */
static unsigned n_stops;

static void stop_after_node_info(uint8_t *mad)
{
	if (field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_NODE_INFO &&
	    mad[3] == UMAD_METHOD_GET_RESP &&
	    field_get(mad + 64, NI_NODE_GUID) == stops && n_stops++ == 0) {
		sim_set_deaf(fixture->sim, stops, true);
	}
}

START_TEST(half_read)
{
	uint32_t heavy;

	stops = guid_of((enum what)_i);
	n_stops = 0;
	tap.in_filter = stop_after_node_info;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_run_ms(fixture, 600000);
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	hush((enum what)_i, false);
	fixture_run_ms(fixture, 100000);
	ck_assert(has_all());
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
}
END_TEST

/* It and the hosts behind it hold the M_Key of before, because that was changed while it was
 * silent, and it shows nothing to those who do not know it. */
START_TEST(with_old_key)
{
	uint32_t heavy;

	fixture->config.m_key = 0x1234567;
	fixture->config.m_key_protection_level = 2;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_run_ms(fixture, 30000);
	hush(A_LEAF, true);
	fixture->config.m_key = 0x7654321;
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	fixture_run_ms(fixture, 100000);
	ck_assert(!has_all());
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	hush(A_LEAF, false);
	fixture_run_ms(fixture, 100000);
	ck_assert(has_all());
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
}
END_TEST

/* The first Get(SwitchInfo) of each light sweep gets lost, so what is behind the switch answers
 * before the switch does, which has nothing to tell. */
static unsigned n_asked;

static bool lose_first(const uint8_t *mad)
{
	return mad[3] == UMAD_METHOD_GET &&
	       field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SWITCH_INFO &&
	       n_asked++ % 2 == 0;
}

START_TEST(switch_answers_later)
{
	uint32_t heavy;

	hush((enum what)_i, true);
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_run_ms(fixture, 5000);
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	n_asked = 0;
	tap.loses = lose_first;
	hush((enum what)_i, false);
	fixture_run_ms(fixture, 100000);
	ck_assert(has_all());
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
}
END_TEST

/* A host dies when it has been discovered, at the first Set that it gets. All others come up in this
 * sweep, and the dead one is left out soon. */
static bool is_set_of_host(const uint8_t *mad)
{
	uint64_t guid = guid_of(A_HOST);

	if (n_stops == 0 && mad[3] == UMAD_METHOD_SET &&
	    field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_PORT_INFO &&
	    field_get(mad + 64, PI_LID) != 0) {
		n_stops++;
		sim_set_deaf(fixture->sim, guid, true);
	}
	return false;
}

START_TEST(dies_at_bring_up)
{
	const struct sweep_status *st;
	unsigned n_active = 0;

	n_stops = 0;
	tap.loses = is_set_of_host;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	st = sweep_status(fixture->sweep);
	ck_assert_uint_eq(n_stops, 1);
	ck_assert_uint_eq(st->failed_sweeps, 0);
	ck_assert(st->up);
	for (unsigned i = 0; i < fixture->g->n_hosts; i++) {
		n_active += fixture_peek(fixture, fixture_host(fixture, i),
		                         PI_PORT_STATE) == PORT_ACTIVE;
	}
	ck_assert_uint_ge(n_active, fixture->g->n_hosts - 1);
	fixture_run_ms(fixture, 5000);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts - 1);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->failed_sweeps, 0);
	hush(A_HOST, false);
	fixture_run_ms(fixture, 50000);
	ck_assert(has_all());
}
END_TEST

/* A node that never answers costs a request in every third light sweep. */
START_TEST(never)
{
	uint64_t without, with;

	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	fixture_run_ms(fixture, 200000);
	without = sweep_status(fixture->sweep)->smps_sent;
	fixture_run_ms(fixture, 800000);
	without = sweep_status(fixture->sweep)->smps_sent - without;
	hush(A_HOST, true);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 200000);
	ck_assert(!has_all());
	with = sweep_status(fixture->sweep)->smps_sent;
	fixture_run_ms(fixture, 800000);
	with = sweep_status(fixture->sweep)->smps_sent - with;
	ck_assert_uint_ge(with, without + 24);
	ck_assert_uint_le(with, without + 29);
}
END_TEST

/* Behind a silent switch is another subnet manager, which may be master there by now: each light sweep asks
 * behind silent ports as long as it is missed. */
START_TEST(with_another_sm)
{
	tap.other_guid = guid_of(A_HOST);
	tap.other_state = 2;
	fixture->config.sm_trust = SM_TRUST_ANY;
	fixture_start(fixture);
	fixture_heavy(fixture, 1);
	for (unsigned round = 0; round < 4; round++) {
		fixture_run_ms(fixture, 30000);
		hush(A_LEAF, true);
		sweep_request_heavy(fixture->sweep);
		fixture_run_ms(fixture, 100000 + 10000 * round);
		ck_assert(!has_all());
		hush(A_LEAF, false);
		fixture_run_ms(fixture, 12000);
		ck_assert_msg(has_all(), "round %u", round);
	}
}
END_TEST

TEST_SUITE(sweep_silent)
{
	TCase *t = tcase_create("silent");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, from_the_start, 0, KINDS);
	tcase_add_loop_test(t, later, 0, KINDS);
	tcase_add_loop_test(t, half_read, 0, KINDS);
	tcase_add_test(t, with_old_key);
	tcase_add_loop_test(t, switch_answers_later, 0, KINDS);
	tcase_add_test(t, dies_at_bring_up);
	tcase_add_test(t, with_another_sm);
	tcase_add_test(t, never);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Ports that are not healthy: what makes one, what follows, and when it is over.
 */
#include "sa/sm/discover/health.h"
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

static struct sweep_fixture *fixture;

static void setup(void)
{
	fixture = fixture_new();
}

static void teardown(void)
{
	fixture_free(fixture);
	fixture = NULL;
}

/* --- histories ---------------------------------------------------------------------------- */

static unsigned n_news[4];

static void count_news(void *ctx, const struct health_port *p, enum health_condition why,
                       enum health_news news)
{
	(void)ctx;
	(void)p;
	(void)why;
	n_news[news]++;
}

/* A host is noisy by the number of its traps in a time, and not later. */
START_TEST(noisy)
{
	struct health h = { .policy = { .on = true,
		                        .action = { { [HEALTH_NOISY] = HEALTH_REPORT } },
		                        .sweeps = { [HEALTH_NOISY] = 5 },
		                        .window = { [HEALTH_NOISY] = 10 } } };
	uint32_t host;

	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	host = fixture->g->ports[fixture->g->sm_port].peer != GRAPH_NONE
	               ? fixture->g->sm_port
	               : fixture->g->end_ports[1];
	memset(n_news, 0, sizeof(n_news));
	for (unsigned i = 0; i < 50; i++) { /* one every 3 s: 4 in 10 s */
		health_trap(&h, fixture->g, host, 3000 * i);
		(void)health_judge(&h, fixture->g, 3000 * i, count_news, NULL);
	}
	ck_assert_uint_eq(n_news[HEALTH_BAD], 0);
	for (unsigned i = 0; i < 5; i++) {
		health_trap(&h, fixture->g, host, 200000 + i);
	}
	(void)health_judge(&h, fixture->g, 200010, count_news, NULL);
	ck_assert_uint_eq(n_news[HEALTH_BAD], 1);
	ck_assert_uint_eq(n_news[HEALTH_CUT_OFF], 0);
	ck_assert(!health_is_isolated(&h, 1, 1));
	health_done(&h);
}
END_TEST

/* --- fabrics ------------------------------------------------------------------------------ */

static bool on_switch(uint32_t port)
{
	return fixture->g->nodes[fixture->g->ports[port].node].type == NODE_SWITCH;
}

static uint64_t node_guid(uint32_t port)
{
	return fixture->g->nodes[fixture->g->ports[port].node].guid;
}

/* The port of a switch to a host that is not the SM's, or between switches. */
static uint32_t some_port(bool between)
{
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		uint32_t peer = fixture->g->ports[i].peer;

		if (on_switch(i) && peer != GRAPH_NONE && on_switch(peer) == between &&
		    peer != fixture->g->sm_port) {
			return i;
		}
	}
	ck_abort_msg("no such port");
	return 0;
}

static void set_option(const char *key, const char *value)
{
	ck_assert_int_eq(option_set(&fixture->sets, fixture->a, key, value, "test", 1,
	                            &fixture->diags),
	                 E_OK);
}

static void start(const char *topo)
{
	fixture_topo(fixture, topo, 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
}

static void flap(uint32_t port, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		ck_assert_int_eq(sim_set_link(fixture->sim, node_guid(port),
		                              fixture->g->ports[port].num, false),
		                 E_OK);
		fixture_run_ms(fixture, 100);
		ck_assert_int_eq(sim_set_link(fixture->sim, node_guid(port),
		                              fixture->g->ports[port].num, true),
		                 E_OK);
		fixture_run_ms(fixture, 20000);
		fixture_up(fixture);
	}
}

static uint64_t state(uint32_t port)
{
	return fixture_peek(fixture, port, PI_PORT_STATE);
}

/* Every cable but these two ports' is active at both ends. */
static void others_are_active(uint32_t port)
{
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		if (fixture->g->ports[i].peer != GRAPH_NONE && i != port &&
		    fixture->g->ports[i].peer != port) {
			ck_assert_uint_eq(state(i), PORT_ACTIVE);
		}
	}
}

static uint32_t isolated(void)
{
	return sweep_status(fixture->sweep)->isolated_ports;
}

static void flapping_is_isolated(void)
{
	set_option("hm_ca_flapping_action", "isolate");
	set_option("hm_sw_flapping_action", "no_discover");
	set_option("hm_num_flapping_sweeps", "3");
	set_option("hm_isolation_secs", "300");
}

/* A link that goes down three times is isolated: nobody activates it, no route uses it, all others
 * go on. After a while it is tried again. */
START_TEST(flapping_link)
{
	bool between = _i == 1;
	uint32_t port;

	flapping_is_isolated();
	start("ft2 4 4 2");
	port = some_port(between);
	flap(port, 2);
	ck_assert_uint_eq(isolated(), 0);
	ck_assert_uint_eq(state(port), PORT_ACTIVE);
	flap(port, 1);
	ck_assert_uint_eq(isolated(), between ? 2 : 1);
	ck_assert_uint_eq(state(port), PORT_INIT);
	others_are_active(port);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts,
	                  fixture->g->n_hosts - !between);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->switches, fixture->g->n_switches);
	/* it flaps on, and neither local nor heavy sweeps bring it back */
	flap(port, 3);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 1000);
	fixture_up(fixture);
	ck_assert_uint_eq(state(port), PORT_INIT);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->unreachable_nodes, 0);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->failed_sweeps, 0);
	fixture_run_ms(fixture, 330000);
	fixture_up(fixture);
	ck_assert_uint_eq(isolated(), 0);
	ck_assert_uint_eq(state(port), PORT_ACTIVE);
	others_are_active(GRAPH_NONE);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts);
}
END_TEST

/* By default it is only told; with checks off nothing is. */
START_TEST(flapping_is_reported)
{
	const struct sm *sm;
	uint32_t port;

	set_option("hm_unhealthy_ports_checks", _i == 0 ? "TRUE" : "FALSE");
	set_option("hm_num_flapping_sweeps", "3");
	start("ft2 4 4 2");
	port = some_port(false);
	flap(port, 5);
	sm = (const struct sm *)(const void *)fixture->sweep; /* its first member */
	ck_assert_uint_eq(isolated(), 0);
	ck_assert_uint_eq(sm->health.n != 0, _i == 0);
	if (_i == 0) {
		ck_assert_uint_eq(sm->health.n, 1);
		ck_assert(sm->health.ports[0].reported[HEALTH_FLAPPING]);
	}
	others_are_active(GRAPH_NONE);
}
END_TEST

/* The only cable to other switches stays, and so does the subnet manager's own. */
START_TEST(needed_ports_stay)
{
	uint32_t port;

	flapping_is_isolated();
	if (_i == 0) {
		fixture_file(fixture, "two-switch.topo");
		fixture_sim(fixture, 1, 0);
		fixture_start(fixture);
		fixture_up(fixture);
		/* all cables between both switches but one are already gone */
		port = GRAPH_NONE;
		for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
			uint32_t peer = fixture->g->ports[i].peer;

			if (!on_switch(i) || peer == GRAPH_NONE || !on_switch(peer) ||
			    i > peer) {
				continue;
			}
			if (port == GRAPH_NONE) {
				port = i;
			} else {
				ck_assert_int_eq(sim_set_link(fixture->sim, node_guid(i),
				                              fixture->g->ports[i].num,
				                              false),
				                 E_OK);
			}
		}
		fixture_run_ms(fixture, 5000);
		fixture_up(fixture);
	} else {
		start("ft2 4 4 2");
		port = fixture->g->ports[fixture->g->sm_port].peer;
	}
	flap(port, 5);
	ck_assert_uint_eq(isolated(), 0);
	ck_assert_uint_eq(state(port), PORT_ACTIVE);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts);
}
END_TEST

/* Nobody answers behind a port. */
START_TEST(unresponsive_host)
{
	uint32_t port;

	set_option("hm_ca_unresponsive_action", "isolate");
	set_option("hm_sw_unresponsive_action", "isolate");
	set_option("hm_num_no_resp_sweeps", "3");
	set_option("hm_isolation_secs", "100000");
	start("ft2 4 4 2");
	port = some_port(false);
	ck_assert_int_eq(
		sim_set_deaf(fixture->sim, node_guid(fixture->g->ports[port].peer), true),
		E_OK);
	for (unsigned i = 0; i < 6; i++) {
		sweep_request_heavy(fixture->sweep);
		fixture_run_ms(fixture, 20000);
		fixture_up(fixture);
	}
	ck_assert_uint_eq(isolated(), 1);
	ck_assert_uint_eq(state(port), PORT_INIT);
	others_are_active(port);
}
END_TEST

TEST_SUITE(health)
{
	TCase *t = tcase_create("health");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, noisy);
	tcase_add_loop_test(t, flapping_link, 0, 2);
	tcase_add_loop_test(t, flapping_is_reported, 0, 2);
	tcase_add_loop_test(t, needed_ports_stay, 0, 2);
	tcase_add_test(t, unresponsive_host);
	suite_add_tcase(suite, t);
}

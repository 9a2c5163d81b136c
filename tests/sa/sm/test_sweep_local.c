/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Local sweeps: after a change only the nodes in question are asked, the result is what a heavy
 * sweep finds, and doubt leads to a heavy one.
 */
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

static struct sweep_fixture *fixture;
static struct tap tap;

static void start(const char *topo, bool with_tap)
{
	fixture = fixture_new();
	fixture_topo(fixture, topo, 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.sweep_interval = 0;
	fixture->config.rebalance = 2; /* never */
	if (with_tap) {
		tap_init(&tap, fixture);
	}
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 10000);
}

static void teardown(void)
{
	if (fixture != NULL) {
		fixture_free(fixture);
	}
	fixture = NULL;
}

static const struct sweep_status *status(void)
{
	return sweep_status(fixture->sweep);
}

/* A heavy sweep finds what local ones left. */
static void check_heavy_agrees(void)
{
	uint64_t epoch = status()->epoch;
	uint32_t heavy = status()->heavy_sweeps, differed = status()->local_differences;

	ck_assert(sweep_job(fixture->sweep)->disc.local);
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, heavy + 1);
	fixture_up(fixture);
	ck_assert_uint_eq(status()->local_differences, differed);
	ck_assert_uint_eq(status()->epoch, epoch);
}

/* --- what is asked ------------------------------------------------------------------ */

enum change { CABLE, HOST, LEAF, SPINE };

/* A switch with or without hosts, not that of the subnet manager. */
static uint32_t find_switch(bool with_hosts)
{
	const struct graph *g = fixture->g;
	uint32_t own = g->ports[g->ports[g->sm_port].peer].node, found = GRAPH_NONE;

	for (uint32_t i = 0; i < g->n_switches; i++) {
		const struct node *n = &g->nodes[g->switches[i]];
		bool has = false;

		for (unsigned k = 1; k <= n->n_ports; k++) {
			uint32_t peer = g->ports[n->first_port + k].peer;

			has |= peer != GRAPH_NONE &&
			       g->nodes[g->ports[peer].node].type == NODE_CA;
		}
		if (has == with_hosts && g->switches[i] != own) {
			found = g->switches[i];
		}
	}
	ck_assert_uint_ne(found, GRAPH_NONE);
	return found;
}

/* A host that is neither the subnet manager's nor the last one, without which LinearFDBTop of all
 * switches would change. */
static uint32_t find_host(void)
{
	const struct graph *g = fixture->g;
	uint32_t own = g->ports[g->sm_port].node, host = g->n_nodes / 2;

	while (g->nodes[host].type != NODE_CA || host == own) {
		host++;
	}
	ck_assert_uint_lt(host, g->n_nodes - 1);
	return host;
}

/* Makes the change or takes it back. \return Switches that see it, at most. */
static uint32_t change(enum change what, bool there)
{
	const struct graph *g = fixture->g;
	uint32_t node = what == HOST ? find_host() : find_switch(what != SPINE);
	const struct node *n = &g->nodes[node];

	if (what == CABLE) {
		unsigned port = 1;

		while (g->nodes[g->ports[g->ports[n->first_port + port].peer].node]
		               .type != NODE_SWITCH) {
			port++;
		}
		ck_assert_int_eq(
			sim_set_link(fixture->sim, n->guid, (uint8_t)port, there), E_OK);
		return 2;
	}
	ck_assert_int_eq(sim_set_node(fixture->sim, n->guid, there), E_OK);
	return n->n_ports;
}

/* With P ports, a switch that sees the change is looked at, which asks for its SwitchInfo, clears
 * its bit, reads its ports and asks over its cables, and it is read by the local sweep: NodeInfo,
 * description, SwitchInfo twice, its ports, a NodeInfo behind those that changed. A node that
 * comes is read and so are its tables. None of it depends on how large the fabric is. */
static uint64_t most_asked(uint32_t seen_by, uint32_t n_ports)
{
	uint64_t look = 2 + (n_ports + 1) + n_ports;
	uint64_t read = 4 + (n_ports + 1) + n_ports;

	return (seen_by + 1) * (look + read);
}

/* clang-format off */
static const struct {
	const char *topo;
	enum change what;
} changes[] = {
	{ "ft3 8", CABLE },  { "ft3 8", HOST },  { "ft3 8", LEAF },  { "ft3 8", SPINE },
	{ "ft3 12", CABLE }, { "ft3 12", HOST }, { "ft3 12", LEAF }, { "ft3 12", SPINE },
	{ "torus 6x6 2", CABLE }, { "torus 6x6 2", HOST }, { "torus 6x6 2", LEAF },
};
/* clang-format on */

START_TEST(asked)
{
	uint64_t gets, sets;
	uint32_t ports;

	start(changes[_i].topo, false);
	ports = fixture->g->nodes[find_switch(true)].n_ports;
	for (unsigned there = 0; there < 2; there++) {
		uint64_t before = status()->smps_sent;
		uint64_t set = status()->port_sets + status()->lft_sets;
		uint32_t seen_by = change(changes[_i].what, there);
		uint32_t heavy = status()->heavy_sweeps;

		fixture_run_ms(fixture, 10000);
		fixture_up(fixture);
		sets = status()->port_sets + status()->lft_sets - set;
		gets = status()->smps_sent - before - sets;
		ck_assert_uint_eq(status()->heavy_sweeps, heavy);
		ck_assert_uint_eq(status()->local_fallbacks, 0);
		ck_assert_msg(gets <= most_asked(seen_by, ports),
		              "asked %u, expected at most %u", (unsigned)gets,
		              (unsigned)most_asked(seen_by, ports));
		if (getenv("SWEEP_COUNTS") != NULL) {
			printf("%s change %d %s: asked %u of %u, set %u, local sweeps %u\n",
			       changes[_i].topo, (int)changes[_i].what,
			       there ? "back" : "gone", (unsigned)gets,
			       (unsigned)most_asked(seen_by, ports), (unsigned)sets,
			       status()->local_sweeps);
		}
		check_heavy_agrees();
	}
	ck_assert_uint_eq(status()->local_differences, 0);
	ck_assert_uint_eq(status()->hosts, fixture->g->n_hosts);
	ck_assert_uint_eq(status()->switches, fixture->g->n_switches);
}
END_TEST

/* --- doubt -------------------------------------------------------------------------- */

static uint64_t other;
static bool armed; /* from the beginning of the local discovery on */

static bool loses_descriptions(const uint8_t *mad)
{
	return armed && field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_NODE_DESC;
}

static void lie_about_ports(uint8_t *mad)
{
	uint8_t *data = mad + SMP_DATA_AT;

	if (armed && field_get(mad, MAD_METHOD) == UMAD_METHOD_GET_RESP &&
	    field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_NODE_INFO &&
	    field_get(data, NI_NODE_GUID) == other) {
		field_set(data, NI_NUM_PORTS, field_get(data, NI_NUM_PORTS) + 1);
	}
}

static void refuse_switch_info(uint8_t *mad)
{
	if (armed && field_get(mad, MAD_METHOD) == UMAD_METHOD_GET_RESP &&
	    field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SWITCH_INFO) {
		field_set(mad, MAD_STATUS, 0x1c);
	}
}

START_TEST(doubt)
{
	uint32_t heavy;

	start("ft3 4", true);
	other = fixture->g->nodes[find_switch(true)].guid;
	heavy = status()->heavy_sweeps;
	armed = false;
	change(CABLE, false);
	while (strcmp(status()->phase, "discover") != 0) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	armed = true;
	tap.loses = _i == 0 ? loses_descriptions : NULL;
	tap.in_filter = _i == 1 ? lie_about_ports : _i == 2 ? refuse_switch_info : NULL;
	while (status()->local_fallbacks == 0) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	armed = false;
	fixture_heavy(fixture, heavy + 1);
	fixture_up(fixture);
	ck_assert_uint_eq(status()->switches, fixture->g->n_switches);
	ck_assert_uint_eq(status()->hosts, fixture->g->n_hosts);
	fixture_stop(fixture);
}
END_TEST

/* After a number of local sweeps one is heavy, and it says what they missed. */
START_TEST(checked)
{
	start("ft3 4", false);
	fixture->config.local_sweeps_check = 3;
	for (unsigned i = 0; i < 8; i++) {
		change(CABLE, i % 2);
		fixture_run_ms(fixture, 10000);
		fixture_up(fixture);
		ck_assert_uint_eq(status()->heavy_sweeps, 1 + (i + 1) / 4);
		ck_assert_uint_eq(status()->local_sweeps, i + 1 - (i + 1) / 4);
	}
}
END_TEST

START_TEST(off)
{
	start("ft3 4", false);
	fixture->config.local_sweeps = false;
	change(HOST, false);
	fixture_run_ms(fixture, 10000);
	ck_assert_uint_eq(status()->heavy_sweeps, 2);
	ck_assert_uint_eq(status()->local_sweeps, 0);
}
END_TEST

/* Sweeps in 20 seconds while 16 hosts restart their links one after another, all the time. Each
 * is looked at up to seven times in that time, by the gap between looks at one sender. */
START_TEST(storm)
{
	enum { HOSTS = 16, STEP_MS = 20, TIME_MS = 20000, GAPS = 7, MAX_GAP_MS = 2000 };
	uint32_t host[HOSTS], n = 0, sweeps;

	start("ft3 4", true);
	tap.step_ms = STEP_MS;
	const struct graph *g = fixture->g;
	for (uint32_t i = 0; i < g->n_nodes && n < HOSTS; i++) {
		if (g->nodes[i].type == NODE_CA && i != g->ports[g->sm_port].node) {
			host[n++] = i;
		}
	}
	sweeps = fixture_sweeps(fixture);
	for (uint32_t i = 0; i < TIME_MS / STEP_MS; i++) {
		sim_set_node(fixture->sim, g->nodes[host[i / 2 % n]].guid, i % 2);
		fixture_run_ms(fixture, STEP_MS);
	}
	sweeps = fixture_sweeps(fixture) - sweeps;
	ck_assert_uint_ge(sweeps, 3);
	ck_assert_uint_le(sweeps, GAPS + TIME_MS / MAX_GAP_MS);
	for (uint32_t i = 0; i < n; i++) {
		sim_set_node(fixture->sim, g->nodes[host[i]].guid, true);
	}
	fixture_run_ms(fixture, 20000);
	fixture_up(fixture);
	ck_assert_uint_eq(status()->hosts, g->n_hosts);
	fixture_stop(fixture);
}
END_TEST

/* --- a link that goes out meanwhile ------------------------------------------------- */

/* The cable of find_host() goes out when a number of SMPs has left, and comes back: when some more
 * have, after a while, or never. */
enum back { BACK_SOON, BACK_LATER, BACK_NEVER };
enum { SOON_SMPS = 3, LATER_MS = 400 };

static unsigned smps_left; /* until it goes out or comes back; 0: nothing happens */
static bool goes_out, comes_soon;

static bool pull_cable(const uint8_t *mad)
{
	const struct node *n = &fixture->g->nodes[find_host()];

	(void)mad;
	if (smps_left == 0 || --smps_left != 0) {
		return false;
	}
	ck_assert_int_eq(sim_set_link(fixture->sim, n->guid, 1, !goes_out), E_OK);
	smps_left = goes_out && comes_soon ? SOON_SMPS : 0;
	goes_out = false;
	return false;
}

static void check_links_are_up(bool but_the_host, unsigned at)
{
	const struct graph *g = fixture->g;
	uint32_t host = graph_port(g, find_host(), 1);

	for (uint32_t i = 0; i < g->n_ports; i++) {
		uint32_t peer = g->ports[i].peer;

		if (peer != GRAPH_NONE &&
		    !(but_the_host && (i == host || peer == host))) {
			ck_assert_msg(fixture_peek(fixture, i, PI_PORT_STATE) ==
			                      PORT_ACTIVE,
			              "port %u is not ACTIVE, SMP %u", i, at);
		}
	}
	ck_assert_msg(status()->hosts == g->n_hosts - but_the_host, "SMP %u", at);
}

/* Starts a sweep that takes the host in, or a heavy one that sets all ports, and has it interrupted. */
static void sweep_until(unsigned smps, bool heavy)
{
	start("ft2 3 3 2", true);
	fixture->config.sweep_interval = 5;
	if (!heavy) {
		change(HOST, false);
		fixture_run_ms(fixture, 10000);
	}
	goes_out = true;
	smps_left = smps;
	tap.loses = pull_cable;
	if (heavy) {
		fixture->config.leaf_head_of_queue_lifetime = 0x0c;
		sweep_reconfigure(fixture->sweep, &fixture->deps);
	} else {
		change(HOST, true);
	}
	fixture_run_ms(fixture, LATER_MS);
}

/* At whatever SMP of a sweep the cable goes out: what follows from it is seen, and no heavy sweep is needed
 * for that. */
START_TEST(interrupted)
{
	bool ended = false, heavy = _i > BACK_NEVER;
	enum back back = (enum back)(_i % (BACK_NEVER + 1));

	comes_soon = back == BACK_SOON;
	for (unsigned at = 1; !ended; at += heavy ? 5 : 1) {
		sweep_until(at, heavy);
		ended = goes_out; /* no SMP is left */
		if (back != BACK_NEVER && !ended) {
			ck_assert_int_eq(sim_set_link(fixture->sim,
			                              fixture->g->nodes[find_host()].guid,
			                              1, true),
			                 E_OK);
		}
		smps_left = 0;
		fixture_run_ms(fixture, 20000);
		fixture_up(fixture);
		check_links_are_up(back == BACK_NEVER && !ended, at);
		if (sweep_job(fixture->sweep)->disc.local) {
			check_heavy_agrees();
		}
		fixture_free(fixture);
		fixture = NULL;
	}
}
END_TEST

TEST_SUITE(sweep_local)
{
	TCase *t = tcase_create("local");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, asked, 0, sizeof(changes) / sizeof(changes[0]));
	tcase_add_loop_test(t, doubt, 0, 3);
	tcase_add_test(t, checked);
	tcase_add_test(t, off);
	tcase_add_test(t, storm);
	tcase_add_loop_test(t, interrupted, 0, 2 * (BACK_NEVER + 1));
	suite_add_tcase(suite, t);
}

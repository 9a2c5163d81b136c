/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * What follows a bring-up: light sweeps alone while nothing changes, and a heavy one for
 * each change, also for one that came while PortStateChange of its switch was still set
 * from before. Traps are off here: light sweeps have to see everything.
 */
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

enum { PERIOD_MS = 10000, PERIODS = 6 };

static struct sweep_fixture *fixture;
static struct tap tap;

static void start(const char *topo, bool with_tap)
{
	fixture = fixture_new();
	fixture_topo(fixture, topo, 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.sweep_on_trap = false;
	if (with_tap) {
		tap_init(&tap, fixture);
	}
	fixture_start(fixture);
}

static void teardown(void)
{
	fixture_free(fixture);
	fixture = NULL;
}

static void periods(unsigned n)
{
	fixture_run_ms(fixture, (uint64_t)n * PERIOD_MS);
}

/* Switches whose PortStateChange is set. */
static unsigned n_changed(void)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		uint8_t info[SMP_DATA_BYTES];
		uint64_t guid = fixture->g->nodes[fixture->g->switches[i]].guid;

		ck_assert_int_eq(
			sim_peek(fixture->sim, guid, UMAD_SM_ATTR_SWITCH_INFO, 0, info),
			E_OK);
		n += field_get(info, SI_PORT_STATE_CHANGE) != 0;
	}
	return n;
}

/* As the published SwitchInfo has it. */
static unsigned n_published_changed(void)
{
	struct snap_reader *r;
	unsigned n = 0;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		const uint8_t *info;
		uint16_t len;

		ck_assert_int_eq(
			snap_attr(r, UMAD_SM_ATTR_SWITCH_INFO,
		                  fixture->g->nodes[fixture->g->switches[i]].guid, 0,
		                  &info, &len),
			E_OK);
		n += field_get(info, SI_PORT_STATE_CHANGE) != 0;
	}
	snap_reader_close(r);
	return n;
}

/* --- nothing changes ---------------------------------------------------------------- */

static const char *const quiet_topos[] = { "ft2 2 2 1", "ft2 6 6 3", "ft3 4",
	                                   "torus 4x4 1" };

START_TEST(quiet)
{
	start(quiet_topos[_i], false);
	fixture_up(fixture);
	ck_assert_uint_eq(n_changed(), fixture->g->n_switches);
	uint64_t epoch = sweep_status(fixture->sweep)->epoch;
	periods(PERIODS);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->light_sweeps, PERIODS - 1);
	ck_assert_uint_eq(n_changed(), 0);
	ck_assert_uint_eq(n_published_changed(), 0);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->epoch, epoch);
	/* Only the first of them looked at ports. */
	uint64_t ports = sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_PORT_INFO);
	uint64_t nodes = sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO);
	size_t used = arena_used(sweep_job(fixture->sweep)->arena);
	periods(1);
	ck_assert_uint_eq(arena_used(sweep_job(fixture->sweep)->arena),
	                  used); /* it has its own */
	ck_assert_uint_eq(
		sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_PORT_INFO),
		ports + 1); /* our own */
	ck_assert_uint_eq(
		sim_count(fixture->sim, UMAD_METHOD_GET, UMAD_SM_ATTR_NODE_INFO),
		nodes + 1); /* behind it */
}
END_TEST

/* --- switches that do not clear their bit ------------------------------------------- */

static bool clears_change(const uint8_t *mad)
{
	return field_get(mad, MAD_METHOD) == UMAD_METHOD_SET &&
	       field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SWITCH_INFO &&
	       field_get(mad + SMP_DATA_AT, SI_PORT_STATE_CHANGE);
}

static void keep_bit(uint8_t *mad)
{
	if (clears_change(mad)) {
		field_set(mad + SMP_DATA_AT, SI_PORT_STATE_CHANGE, 0);
	}
}

/* The simulation refuses a LinearFDBTop beyond its table, and the Set with it. */
static void refuse_bit(uint8_t *mad)
{
	if (clears_change(mad)) {
		field_set(mad + SMP_DATA_AT, SI_LINEAR_FDB_TOP, 0xffff);
	}
}

START_TEST(stuck)
{
	start("ft2 6 6 3", true);
	tap.out_filter = _i == 0 ? keep_bit : refuse_bit;
	fixture_up(fixture);
	periods(PERIODS);
	ck_assert_uint_eq(n_changed(), fixture->g->n_switches);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	/* The change is noticed nevertheless, once. */
	uint64_t host = fixture->g->nodes[fixture->g->n_nodes - 1].guid;
	ck_assert_uint_ne(fixture->g->nodes[fixture->g->n_nodes - 1].type, NODE_SWITCH);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(sim_set_node(fixture->sim, host, i == 1), E_OK);
		periods(PERIODS);
		ck_assert_uint_eq(fixture_sweeps(fixture), 2 + i);
		ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts,
		                  fixture->g->n_hosts - (i == 0));
	}
}
END_TEST

/* --- changes ------------------------------------------------------------------------ */

static uint64_t disguised;

static void disguise(uint8_t *mad)
{
	uint8_t *data = mad + SMP_DATA_AT;

	if (field_get(mad, MAD_METHOD) == UMAD_METHOD_GET_RESP &&
	    field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_NODE_INFO &&
	    field_get(data, NI_NODE_GUID) == disguised) {
		field_set(data, NI_NODE_GUID, disguised ^ 0x100000);
		field_set(data, NI_PORT_GUID, disguised ^ 0x200000);
	}
}

/* Another host came behind a cable before its port was armed: the state of the switch
 * port is what it should be, only the GUID tells. */
START_TEST(exchanged)
{
	start("ft2 6 6 3", true);
	disguised = fixture->g->nodes[fixture->g->n_nodes - 1].guid;
	fixture_up(fixture);
	tap.in_filter = disguise;
	periods(PERIODS);
	ck_assert_uint_eq(fixture_sweeps(fixture), 2);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts);
	fixture_stop(fixture);
}
END_TEST

/* A change that a switch itself shows although no state changed: its cable is in another port of
 * the neighbour, it lost its LID, it lost its tables. */
static void other_port(uint8_t *mad)
{
	uint8_t *data = mad + SMP_DATA_AT;

	if (field_get(mad, MAD_METHOD) == UMAD_METHOD_GET_RESP &&
	    field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_NODE_INFO &&
	    field_get(data, NI_NODE_GUID) == disguised) {
		field_set(data, NI_LOCAL_PORT_NUM,
		          field_get(data, NI_LOCAL_PORT_NUM) + 1);
	}
}

static void no_lid(uint8_t *mad)
{
	uint8_t *data = mad + SMP_DATA_AT;

	if (field_get(mad, MAD_METHOD) == UMAD_METHOD_GET_RESP &&
	    field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_PORT_INFO &&
	    (field_get(mad, MAD_ATTR_MOD) & 0xff) == 0 && field_get(data, PI_LID) > 1) {
		field_set(data, PI_LID, 0);
	}
}

static void no_tables(uint8_t *mad)
{
	if (field_get(mad, MAD_METHOD) == UMAD_METHOD_GET_RESP &&
	    field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_SWITCH_INFO) {
		field_set(mad + SMP_DATA_AT, SI_LINEAR_FDB_TOP, 0);
	}
}

/* clang-format off */
static const struct {
	void (*filter)(uint8_t *mad);
	unsigned quiet; /* light sweeps before: they clear PortStateChange */
} shown[] = {
	{ other_port, 0 },
	{ no_lid, 0 },
	{ no_tables, 0 },
	{ no_tables, 2 },
};
/* clang-format on */

START_TEST(shown_by_switch)
{
	uint64_t end;

	start("ft2 6 6 3", true);
	disguised =
		fixture->g->nodes[fixture->g->switches[fixture->g->n_switches - 1]].guid;
	fixture_up(fixture);
	periods(shown[_i].quiet);
	ck_assert_uint_eq(fixture_sweeps(fixture), 1);
	tap.in_filter = shown[_i].filter;
	end = fixture_now(fixture) + PERIOD_MS + 1000;
	while (strcmp(sweep_status(fixture->sweep)->phase, "discover") != 0) {
		ck_assert_uint_lt(fixture_now(fixture), end);
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	tap.in_filter = NULL; /* the heavy sweep finds the fabric as it is */
	fixture_up(fixture);
	periods(PERIODS);
	ck_assert_uint_eq(fixture_sweeps(fixture), 2);
}
END_TEST

/* All cables of the fabric that is there are active. */
static void check_active(uint64_t without)
{
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		const struct port *p = &fixture->g->ports[i];
		bool gone = p->peer == GRAPH_NONE ||
		            fixture->g->nodes[p->node].guid == without ||
		            fixture->g->nodes[fixture->g->ports[p->peer].node].guid ==
		                    without;

		if (!gone) {
			ck_assert_uint_eq(fixture_peek(fixture, i, PI_PORT_STATE),
			                  PORT_ACTIVE);
		}
	}
}

static void turns(uint64_t n)
{
	for (; n > 0; n--) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
}

/* A host goes, comes or restarts, at any moment of the bring-up and of the light sweep
 * behind it. */
START_TEST(any_moment)
{
	uint64_t seed = 0x119 + 7919u * (unsigned)_i;

	seed = seed * 6364136223846793005u + 1442695040888963407u;
	unsigned what = (unsigned)_i % 3;
	start("ft2 4 3 2", false);
	uint32_t node = fixture->g->n_nodes - 1 - (uint32_t)(seed >> 40) % 6;
	uint64_t guid = fixture->g->nodes[node].guid;
	if (node == fixture->g->ports[fixture->g->sm_port].node ||
	    fixture->g->nodes[node].type == NODE_SWITCH) {
		return;
	}
	ck_assert_int_eq(sim_set_node(fixture->sim, guid, what != 1), E_OK);
	ck_assert_int_eq(sim_set_description(fixture->sim, guid, "until it restarts"), E_OK);
	if (_i % 2) {
		fixture_up(fixture);
		periods(1);
	}
	turns((seed >> 33) % 400);
	if (what == 2) {
		ck_assert_int_eq(sim_reboot(fixture->sim, guid), E_OK);
	} else {
		ck_assert_int_eq(sim_set_node(fixture->sim, guid, what == 1), E_OK);
	}
	periods(PERIODS);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts,
	                  fixture->g->n_hosts - (what == 0));
	check_active(what == 0 ? guid : 0);
	ck_assert_uint_eq(n_changed(), 0);
	if (what == 2) {
		const struct graph *g = sweep_job(fixture->sweep)->disc.g;

		ck_assert_str_eq(g->nodes[graph_node_by_guid(g, guid)].description,
		                 fixture->g->nodes[node].description);
	}
}
END_TEST

/* A host restarts while its port is not armed yet. Before a light sweep can see that, another host
 * of the same switch restarts, and the local sweep for that one clears PortStateChange. */
START_TEST(beside_another_change)
{
	uint32_t node[2], n = 0;

	start("ft2 4 3 2", false);
	fixture->config.local_sweeps = true;
	const struct graph *g = fixture->g;
	for (uint32_t i = g->n_nodes; n < 2; i--) {
		if (g->nodes[i - 1].type == NODE_CA) {
			node[n++] = i - 1;
		}
	}
	uint64_t guid = g->nodes[node[0]].guid;
	ck_assert_int_eq(sim_set_description(fixture->sim, guid, "until it restarts"), E_OK);
	turns((uint64_t)_i * 5);
	ck_assert_int_eq(sim_reboot(fixture->sim, guid), E_OK);
	fixture_up(fixture);
	ck_assert_int_eq(sim_reboot(fixture->sim, g->nodes[node[1]].guid), E_OK);
	periods(PERIODS);
	fixture_up(fixture);
	const struct graph *now = sweep_job(fixture->sweep)->disc.g;
	ck_assert_str_eq(now->nodes[graph_node_by_guid(now, guid)].description,
	                 g->nodes[node[0]].description);
	ck_assert_uint_eq(n_changed(), 0);
}
END_TEST

static bool is_no_node_info(const uint8_t *mad)
{
	return field_get(mad, MAD_ATTR_ID) != UMAD_SM_ATTR_NODE_INFO;
}

/* Our own port says who it is and then nothing more, from the first sweep on: there is no fabric yet
 * that a light sweep could look at. */
START_TEST(no_fabric_yet)
{
	start("ft2 2 2 1", true);
	fixture->config.sweep_interval = 2;
	tap.loses = is_no_node_info;
	fixture_run_ms(fixture, 60000);
	ck_assert(!sweep_status(fixture->sweep)->up);
	tap.loses = NULL;
	fixture_run_ms(fixture, 20000);
	fixture_up(fixture);
}
END_TEST

/* The configuration is read again at any moment behind a trap, so perhaps while its sender is being
 * asked, and traps follow when the heavy sweep for that has ended. */
START_TEST(reload_behind_trap)
{
	start("ft2 4 3 2", false);
	fixture->config.sweep_on_trap = true;
	fixture->config.local_sweeps = true;
	fixture_up(fixture);
	periods(1);
	uint64_t guid = fixture->g->nodes[fixture->g->switches[1]].guid;
	uint64_t other = fixture->g->nodes[fixture->g->switches[2]].guid;
	ck_assert_int_eq(sim_set_link(fixture->sim, guid, 1, false), E_OK);
	turns((uint64_t)_i);
	uint32_t sweeps = sweep_status(fixture->sweep)->heavy_sweeps;
	sweep_reconfigure(fixture->sweep, &fixture->deps);
	while (sweep_status(fixture->sweep)->heavy_sweeps == sweeps) {
		turns(1);
	}
	for (unsigned i = 0; i < 30; i++) {
		ck_assert_int_eq(sim_set_link(fixture->sim, i % 2 ? guid : other, 2, i / 2 % 2),
		                 E_OK);
		turns(4);
	}
	ck_assert_int_eq(sim_set_link(fixture->sim, guid, 2, true), E_OK);
	ck_assert_int_eq(sim_set_link(fixture->sim, other, 2, true), E_OK);
	periods(PERIODS);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts - 1);
}
END_TEST

/* Another master has set up our port, and nothing else shows that it is there. */
START_TEST(another_master_wrote)
{
	const struct port *own;
	uint8_t info[SMP_DATA_BYTES], block[SMP_DATA_BYTES] = { 0 };
	uint64_t guid, first;

	start("ft2 2 2 1", false);
	fixture_up(fixture);
	own = &fixture->g->ports[fixture->g->sm_port];
	guid = fixture->g->nodes[own->node].guid;
	first = fixture->g->nodes[fixture->g->switches[0]].guid;
	periods(1);
	ck_assert_int_eq(sim_peek(fixture->sim, guid, UMAD_SM_ATTR_PORT_INFO, own->num, info),
	                 E_OK);
	field_set(info, PI_MASTER_SM_LID, 99);
	field_set(info, PI_PORT_STATE, 0);
	field_set(info, PI_PORT_PHYSICAL_STATE, 0);
	ck_assert_int_eq(sim_poke(fixture->sim, guid, UMAD_SM_ATTR_PORT_INFO, own->num, info),
	                 E_OK);
	ck_assert_int_eq(sim_poke(fixture->sim, first, UMAD_SM_ATTR_LINEAR_FT, 0, block),
	                 E_OK);
	periods(2);
	fixture_up(fixture);
	ck_assert_uint_eq(fixture_peek(fixture, fixture->g->sm_port, PI_MASTER_SM_LID),
	                  fixture_peek(fixture, fixture->g->sm_port, PI_LID));
	/* and the tables that it may have written are read back */
	ck_assert_int_eq(sim_peek(fixture->sim, first, UMAD_SM_ATTR_LINEAR_FT, 0, info), E_OK);
	ck_assert_int_ne(memcmp(info, block, sizeof(info)), 0);
}
END_TEST

/* A switch was away, and another master set it up meanwhile: its port 0 says so, and a heavy
 * sweep reads its tables. */
START_TEST(another_master_had_a_switch)
{
	uint8_t info[SMP_DATA_BYTES], block[SMP_DATA_BYTES] = { 0 };
	uint64_t guid;

	start("ft2 2 2 1", false);
	fixture_up(fixture);
	guid = fixture->g->nodes[fixture->g->switches[1]].guid;
	ck_assert_int_eq(sim_set_node(fixture->sim, guid, false), E_OK);
	periods(2);
	ck_assert_int_eq(sim_peek(fixture->sim, guid, UMAD_SM_ATTR_PORT_INFO, 0, info), E_OK);
	field_set(info, PI_MASTER_SM_LID, 99);
	field_set(info, PI_PORT_STATE, 0);
	field_set(info, PI_PORT_PHYSICAL_STATE, 0);
	ck_assert_int_eq(sim_poke(fixture->sim, guid, UMAD_SM_ATTR_PORT_INFO, 0, info), E_OK);
	ck_assert_int_eq(sim_poke(fixture->sim, guid, UMAD_SM_ATTR_LINEAR_FT, 0, block), E_OK);
	ck_assert_int_eq(sim_set_node(fixture->sim, guid, true), E_OK);
	periods(2);
	fixture_up(fixture);
	ck_assert_int_eq(sim_peek(fixture->sim, guid, UMAD_SM_ATTR_LINEAR_FT, 0, info), E_OK);
	ck_assert_int_ne(memcmp(info, block, sizeof(info)), 0);
}
END_TEST

/* A node is silent for a moment while a sweep discovers the fabric, and is left out. No state
 * of a port tells that it answers again. */
START_TEST(silent_for_a_moment)
{
	uint64_t seed = (uint64_t)(_i + 1) * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t guid;

	start("ft2 4 4 2", false);
	fixture_up(fixture);
	guid = fixture->g->nodes[1 + (seed >> 40) % (fixture->g->n_nodes - 1)].guid;
	if (guid == fixture->g->nodes[fixture->g->ports[fixture->g->sm_port].node].guid) {
		return;
	}
	sweep_request_heavy(fixture->sweep);
	turns((seed >> 20) % 150);
	ck_assert_int_eq(sim_set_deaf(fixture->sim, guid, true), E_OK);
	turns(1000);
	ck_assert_int_eq(sim_set_deaf(fixture->sim, guid, false), E_OK);
	periods(PERIODS);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, fixture->g->n_hosts);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->switches, fixture->g->n_switches);
}
END_TEST

TEST_SUITE(sweep_light)
{
	TCase *t = tcase_create("light");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, teardown);
	tcase_add_loop_test(t, quiet, 0, sizeof(quiet_topos) / sizeof(quiet_topos[0]));
	tcase_add_loop_test(t, stuck, 0, 2);
	tcase_add_test(t, exchanged);
	tcase_add_loop_test(t, shown_by_switch, 0, sizeof(shown) / sizeof(shown[0]));
	tcase_add_loop_test(t, any_moment, 0, 120);
	tcase_add_test(t, no_fabric_yet);
	tcase_add_loop_test(t, reload_behind_trap, 0, 40);
	tcase_add_loop_test(t, beside_another_change, 0, 60);
	tcase_add_test(t, another_master_wrote);
	tcase_add_test(t, another_master_had_a_switch);
	tcase_add_loop_test(t, silent_for_a_moment, 0, 60);
	suite_add_tcase(suite, t);
}

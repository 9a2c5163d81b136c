/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Adaptive routing of Omni-Path's switches: what they are given, what they make of it, and what the sweeps and
 * the audit make of that. All is read out of the simulated devices by their own field tables.
 */
#include "sa/sim/opa/opa_int.h"
#include "sa/sim/sim_state.h"
#include "sa/sm/sm.h"
#include "sa/sm/sweep/sweep_int.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { HEAVY_MS = 60000, NONE = 0xff };

static struct sweep_fixture *fixture;

/* Two cables between a leaf and a spine, so both ends of a lost one have another port. */
static void start(const char *topo)
{
	fixture = fixture_new();
	fixture->omni_path = true;
	fixture->config.adaptive.enable = true;
	fixture->config.adaptive.algorithm = 1;
	fixture->config.adaptive.frequency = 2;
	fixture->config.adaptive.threshold = 6;
	fixture_topo(fixture, topo, 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
}

static void teardown(void)
{
	if (fixture != NULL) {
		fixture_free(fixture);
		fixture = NULL;
	}
}

static struct opa_device *device(uint32_t sw)
{
	return fixture->sim->opa[fixture->g->switches[sw]].device;
}

static uint64_t word(uint32_t sw, unsigned bit, unsigned width)
{
	return field_get(device(sw)->switch_info, bit, width);
}

static uint32_t lid_of(uint32_t port)
{
	return (uint32_t)field_get(sim_opa_port(fixture->sim, port)->info, OPI_LID);
}

static uint64_t n_sets(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i <= SIM_ATTRS + SIM_VPORT_ATTRS; i++) {
		n += fixture->sim->counts[UMAD_METHOD_SET][i];
	}
	return n;
}

/* Switches that a packet passes from a host to a LID; 0: it is lost. */
static unsigned hops(uint32_t from, uint32_t to)
{
	const struct graph *g = fixture->g;
	uint32_t at = g->ports[from].peer, lid = lid_of(to);

	for (unsigned n = 1; n < 64; n++) {
		uint32_t node = g->ports[at].node,
			 out = opa_route(fixture->sim->opa[node].device, lid);

		if (out == 0 || out > g->nodes[node].n_ports) {
			return 0;
		}
		at = g->nodes[node].first_port + out;
		if (field_get(sim_opa_port(fixture->sim, at)->info, OPI_STATE) !=
		    OPA_ACTIVE) {
			return 0;
		}
		at = g->ports[at].peer;
		if (at == to) {
			return n;
		}
		if (g->nodes[g->ports[at].node].type != NODE_SWITCH) {
			return 0;
		}
	}
	return 0;
}

/* Pairs of hosts without a way. */
static unsigned lost_pairs(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < fixture->g->n_hosts; i++) {
		for (unsigned k = 0; k < fixture->g->n_hosts; k++) {
			n += i != k && hops(fixture_host(fixture, i),
			                    fixture_host(fixture, k)) == 0;
		}
	}
	return n;
}

/* A busy port of a switch towards another switch. */
static uint8_t busy_port(uint32_t sw)
{
	const struct graph *g = fixture->g;
	unsigned lids[256] = { 0 };
	uint8_t best = 0;

	for (unsigned i = 0; i < g->n_hosts; i++) {
		lids[opa_route(device(sw), lid_of(fixture_host(fixture, i)))]++;
	}
	for (uint32_t i = g->adj_first[sw]; i < g->adj_first[sw + 1]; i++) {
		best = best == 0 || lids[g->adj[i].port] > lids[best] ? g->adj[i].port
		                                                      : best;
	}
	ck_assert_uint_gt(lids[best], 0);
	return best;
}

static uint32_t leaf(void)
{
	const struct graph *g = fixture->g;

	return g->nodes[g->ports[g->ports[fixture_host(fixture, 1)].peer].node].sw;
}

static void set_link(uint32_t sw, uint8_t port, bool up)
{
	ck_assert_int_eq(sim_set_link(fixture->sim,
	                              fixture->g->nodes[fixture->g->switches[sw]].guid,
	                              port, up),
	                 E_OK);
}

/* All switches adapt at once, before anybody else does anything. */
static unsigned adapt(void)
{
	unsigned n = 0;

	for (uint32_t s = 0; s < fixture->g->n_switches; s++) {
		uint64_t before = device(s)->moves;

		sim_opa_adapt(fixture->sim, fixture->g->switches[s]);
		n += (unsigned)(device(s)->moves - before);
	}
	return n;
}

static bool has_port(const struct opa_device *d, unsigned group, unsigned port)
{
	return d->groups[group][(port - 1) / 64] >> (port - 1) % 64 & 1;
}

/* --- what the switches are given --------------------------------------------------------- */

START_TEST(switches_have_groups)
{
	unsigned n_grouped = 0;

	start("ft2 4 2 2 2");
	for (uint32_t s = 0; s < fixture->g->n_switches; s++) {
		const struct opa_device *d = device(s);

		ck_assert_uint_eq(word(s, OSI_AR_ENABLE), 1);
		ck_assert_uint_eq(word(s, OSI_AR_PAUSE), 0);
		ck_assert_uint_eq(word(s, OSI_AR_ALGORITHM), 1);
		ck_assert_uint_eq(word(s, OSI_AR_FREQUENCY), 2);
		ck_assert_uint_eq(word(s, OSI_AR_THRESHOLD), 6);
		ck_assert_uint_eq(word(s, OSI_AR_LOST_ONLY), 0);
		ck_assert_uint_gt(word(s, OSI_PORT_GROUP_TOP), 0);
		for (unsigned i = 0; i < fixture->g->n_hosts; i++) {
			uint32_t lid = lid_of(fixture_host(fixture, i));
			uint8_t group = d->pgft[lid], port = opa_route(d, lid);

			if (group == NONE) { /* it is cabled to this switch */
				continue;
			}
			n_grouped++;
			ck_assert_uint_lt(group, word(s, OSI_PORT_GROUP_TOP));
			ck_assert(has_port(d, group, port));
		}
	}
	/* 4 leaves to 6 hosts behind others, 2 spines to all 8 */
	ck_assert_uint_eq(n_grouped, 4 * 6 + 2 * 8);
	ck_assert_uint_eq(adapt(), 0); /* nothing is lost */
}
END_TEST

START_TEST(nothing_is_written_twice)
{
	uint64_t sets;

	start("ft2 4 2 2 2");
	fixture_run_ms(fixture, HEAVY_MS);
	sets = n_sets();
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, sweep_status(fixture->sweep)->heavy_sweeps + 1);
	fixture_up(fixture);
	ck_assert_uint_eq(n_sets(), sets);
}
END_TEST

/* Without the option a switch that somebody made adaptive is so no more. */
START_TEST(is_switched_off)
{
	uint32_t sw;

	start("ft2 4 2 2 2");
	sw = leaf();
	set_link(sw, busy_port(sw), false);
	ck_assert_uint_gt(adapt(), 0);
	fixture_stop(fixture);
	fixture->config.adaptive.enable = false;
	fixture_start(fixture);
	fixture_up(fixture);
	for (uint32_t s = 0; s < fixture->g->n_switches; s++) {
		ck_assert_uint_eq(word(s, OSI_AR_ENABLE), 0);
		ck_assert_uint_eq(word(s, OSI_AR_PAUSE), 0);
		ck_assert_uint_eq(word(s, OSI_PORT_GROUP_TOP), 0);
	}
	ck_assert_uint_eq(lost_pairs(), 0);
}
END_TEST

START_TEST(not_on_a_switch_without_it)
{
	fixture = fixture_new();
	fixture->omni_path = true;
	fixture->config.adaptive.enable = true;
	fixture_topo(fixture, "ft2 4 2 2 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	field_set(device(1)->switch_info, 655, 1, 0); /* IsAdaptiveRoutingSupported */
	field_set(device(2)->switch_info, OSI_PORT_GROUP_CAP, 1);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_eq(word(1, OSI_AR_ENABLE), 0);
	ck_assert_uint_eq(word(1, OSI_PORT_GROUP_TOP), 0);
	ck_assert_uint_eq(word(2, OSI_AR_ENABLE), 1);
	ck_assert_uint_eq(word(2, OSI_PORT_GROUP_TOP), 1);
	ck_assert_uint_eq(word(0, OSI_AR_ENABLE), 1);
}
END_TEST

/* --- what they make of it ------------------------------------------------------------------ */

/* Both ends of a cable have others, so no packet is lost before the subnet manager does anything. */
START_TEST(a_lost_cable_costs_no_smp)
{
	uint64_t sets;
	uint32_t sw;
	uint8_t port;

	start("ft2 4 2 2 2");
	sw = leaf();
	port = busy_port(sw);
	sets = n_sets();
	set_link(sw, port, false);
	ck_assert_uint_gt(lost_pairs(), 0);
	ck_assert_uint_gt(adapt(), 0);
	ck_assert_uint_eq(lost_pairs(), 0);
	ck_assert_uint_eq(n_sets(), sets);
	fixture_run_ms(fixture, HEAVY_MS); /* the sweep repairs the rest */
	ck_assert(sweep_status(fixture->sweep)->up);
	ck_assert_uint_eq(lost_pairs(), 0);
	for (uint32_t s = 0; s < fixture->g->n_switches; s++) {
		ck_assert_uint_eq(word(s, OSI_AR_PAUSE), 0);
		for (unsigned g = 0; s == sw && g < word(s, OSI_PORT_GROUP_TOP); g++) {
			ck_assert(!has_port(device(s), g, port));
		}
	}
	set_link(sw, port, true);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_eq(lost_pairs(), 0);
	ck_assert_uint_eq(adapt(), 0);
}
END_TEST

/* Moves the routes of a congested port of a leaf. */
static unsigned congest(uint32_t sw)
{
	ck_assert_int_eq(sim_opa_congest(fixture->sim,
	                                 fixture->g->nodes[fixture->g->switches[sw]].guid,
	                                 busy_port(sw), 100),
	                 E_OK);
	return adapt();
}

START_TEST(a_moved_route_is_no_difference)
{
	uint32_t sw, changed;
	uint64_t sets, moves;
	uint8_t before[64];

	start("ft2 4 2 2 2");
	fixture_run_ms(fixture,
	               HEAVY_MS); /* the first light sweep clears PortStateChange */
	sw = leaf();
	memcpy(before, device(sw)->lft, sizeof(before));
	ck_assert_uint_gt(congest(sw), 0);
	ck_assert_int_ne(memcmp(before, device(sw)->lft, sizeof(before)), 0);
	memcpy(before, device(sw)->lft, sizeof(before));
	moves = device(sw)->moves;
	sets = n_sets();
	changed = sweep_status(fixture->sweep)->tables_changed;
	sweep_request_audit(fixture->sweep, NULL);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_gt(sweep_status(fixture->sweep)->audits, 0);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed, changed);
	ck_assert_uint_eq(n_sets(), sets);
	ck_assert_uint_eq(device(sw)->moves, moves);
	ck_assert_mem_eq(before, device(sw)->lft, sizeof(before));
	/* any other port is one */
	device(sw)->lft[lid_of(fixture->g->sm_port)] = 63;
	sweep_request_audit(fixture->sweep, NULL);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_gt(sweep_status(fixture->sweep)->tables_changed, changed);
	ck_assert_uint_eq(lost_pairs(), 0);
}
END_TEST

/* Somebody changes the group of a LID behind our back. */
START_TEST(groups_are_repaired)
{
	uint32_t sw, lid = 0;
	uint8_t group;

	start("ft2 4 2 2 2");
	sw = leaf();
	while (device(sw)->pgft[lid] == NONE) {
		lid++;
	}
	group = device(sw)->pgft[lid];
	device(sw)->pgft[lid] = NONE;
	sweep_request_audit(fixture->sweep, NULL);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_gt(sweep_status(fixture->sweep)->tables_changed, 0);
	ck_assert_uint_eq(device(sw)->pgft[lid], group);
	ck_assert_uint_eq(word(sw, OSI_AR_PAUSE), 0);
}
END_TEST

/* Clients register again. */
static uint64_t sets_of_a_restart(void)
{
	return fixture->g->n_hosts;
}

START_TEST(a_restart_keeps_moved_routes)
{
	uint64_t sets;
	uint32_t sw;
	uint8_t before[64];

	start("ft2 4 2 2 2");
	sw = leaf();
	ck_assert_uint_gt(congest(sw), 0);
	memcpy(before, device(sw)->lft, sizeof(before));
	fixture_stop(fixture);
	sets = n_sets();
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_le(n_sets() - sets, sets_of_a_restart());
	ck_assert_mem_eq(before, device(sw)->lft, sizeof(before));
}
END_TEST

/* A subnet manager that died left the switches paused. */
START_TEST(paused_switches_go_on)
{
	start("ft2 4 2 2 2");
	fixture_stop(fixture);
	field_set(device(1)->switch_info, OSI_AR_PAUSE, 1);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_eq(word(1, OSI_AR_PAUSE), 0);
}
END_TEST

/* Another manager numbered its groups from behind. */
START_TEST(numbers_of_groups_stay)
{
	struct opa_device *d;
	uint64_t masks[OPA_MFT_POSITIONS], sets;
	uint8_t pgft[64];
	uint32_t sw;
	unsigned top;

	start("ft2 4 2 2 2");
	fixture_stop(fixture);
	sw = leaf();
	d = device(sw);
	top = (unsigned)word(sw, OSI_PORT_GROUP_TOP);
	memcpy(masks, d->groups[0], sizeof(masks));
	memset(d->groups[0], 0, sizeof(masks));
	memcpy(d->groups[top], masks, sizeof(masks));
	field_set(d->switch_info, OSI_PORT_GROUP_TOP, top + 1);
	for (unsigned i = 0; i < sizeof(pgft); i++) {
		d->pgft[i] = d->pgft[i] == 0 ? (uint8_t)top : d->pgft[i];
	}
	memcpy(pgft, d->pgft, sizeof(pgft));
	sets = n_sets();
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_mem_eq(pgft, d->pgft, sizeof(pgft));
	ck_assert_uint_eq(word(sw, OSI_PORT_GROUP_TOP), top + 1);
	ck_assert_uint_le(n_sets() - sets, sets_of_a_restart());
}
END_TEST

/* A switch without power comes back with nothing. */
START_TEST(a_rebooted_switch_has_groups_again)
{
	start("ft2 4 2 2 2");
	ck_assert_int_eq(
		sim_reboot(fixture->sim, fixture->g->nodes[fixture->g->switches[1]].guid),
		E_OK);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_eq(word(1, OSI_AR_ENABLE), 1);
	ck_assert_uint_gt(word(1, OSI_PORT_GROUP_TOP), 0);
	ck_assert_uint_eq(lost_pairs(), 0);
}
END_TEST

TEST_SUITE(sweep_adaptive)
{
	TCase *tc = tcase_create("sweep_adaptive");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, switches_have_groups);
	tcase_add_test(tc, nothing_is_written_twice);
	tcase_add_test(tc, is_switched_off);
	tcase_add_test(tc, not_on_a_switch_without_it);
	tcase_add_test(tc, a_lost_cable_costs_no_smp);
	tcase_add_test(tc, a_moved_route_is_no_difference);
	tcase_add_test(tc, groups_are_repaired);
	tcase_add_test(tc, a_restart_keeps_moved_routes);
	tcase_add_test(tc, paused_switches_go_on);
	tcase_add_test(tc, numbers_of_groups_stay);
	tcase_add_test(tc, a_rebooted_switch_has_groups_again);
	suite_add_tcase(suite, tc);
}

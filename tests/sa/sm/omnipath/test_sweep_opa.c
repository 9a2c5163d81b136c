/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Omni-Path fabrics. What ports and switches have afterwards is read out of the simulated devices by their
 * own field tables, which share nothing with those of the subnet manager.
 */
#include "conf/device_group.h"
#include "sa/sim/opa/opa_int.h"
#include "sa/sim/sim_state.h"
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { HEAVY_MS = 60000 };

static struct sweep_fixture *fixture;

static void start(const char *topo, uint32_t seed, uint32_t drop_ppm)
{
	fixture = fixture_new();
	fixture->omni_path = true;
	fixture_topo(fixture, topo, 0, 0);
	fixture_sim(fixture, seed, drop_ppm);
	fixture_start(fixture);
}

static void teardown(void)
{
	if (fixture != NULL) {
		fixture_free(fixture);
		fixture = NULL;
	}
}

/* --- what the devices have ------------------------------------------------------------- */

static struct opa_port *device_port(uint32_t port)
{
	return sim_opa_port(fixture->sim, port);
}

static uint64_t info(uint32_t port, unsigned bit, unsigned width)
{
	return field_get(device_port(port)->info, bit, width);
}

static bool on_switch(uint32_t port)
{
	return fixture->g->nodes[fixture->g->ports[port].node].type == NODE_SWITCH;
}

static void check_lids(void)
{
	const struct graph *g = fixture->g;

	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		uint32_t port = g->end_ports[i];

		ck_assert_uint_gt(info(port, OPI_LID), 0);
		ck_assert_uint_eq(info(port, OPI_MASTER_SM_LID),
		                  info(g->sm_port, OPI_LID));
		for (uint32_t k = 0; k < i; k++) {
			ck_assert_uint_ne(info(port, OPI_LID),
			                  info(g->end_ports[k], OPI_LID));
		}
	}
}

/* A switch drops what comes from an adapter with another source LID. */
static void check_link(uint32_t port)
{
	const struct graph *g = fixture->g;
	uint32_t peer = g->ports[port].peer;

	ck_assert_msg(info(port, OPI_STATE) == OPA_ACTIVE,
	              "\"%s\" port %u is in state %u",
	              g->nodes[g->ports[port].node].description, g->ports[port].num,
	              (unsigned)info(port, OPI_STATE));
	ck_assert_uint_eq(info(port, OPI_NEIGHBOR_MTU(0)), OPA_MTU_10240);
	ck_assert_uint_eq(info(port, OPI_NEIGHBOR_MTU(OPA_VL15)), OPA_MTU_2048);
	ck_assert_uint_eq(info(port, OPI_DOWN_REASON), 0);
	ck_assert_uint_eq(info(port, OPI_INIT_REASON), 1);
	if (on_switch(port) && !on_switch(peer)) {
		ck_assert_uint_eq(info(port, OPI_LID), info(peer, OPI_LID));
		ck_assert_uint_eq(info(port, OPI_LMC), info(peer, OPI_LMC));
	} else if (on_switch(port)) {
		ck_assert_uint_eq(info(port, OPI_LID), 0);
	}
	if (!on_switch(port)) {
		ck_assert_uint_eq(opa_p_key(device_port(port), 1), OPA_P_KEY_MEMBER);
	}
}

/* The LFTs lead from a port to a LID. */
static void check_route(uint32_t from, uint32_t to)
{
	const struct graph *g = fixture->g;
	uint32_t lid = (uint32_t)info(to, OPI_LID), at = g->ports[from].peer;

	for (unsigned hops = 0; at != to; hops++) {
		uint32_t node = g->ports[at].node;

		ck_assert_uint_lt(hops, 64);
		ck_assert_uint_eq(g->nodes[node].type, NODE_SWITCH);
		unsigned out = opa_route(fixture->sim->opa[node].device, lid);

		if (out == 0) {
			at = g->nodes[node].first_port;
			break;
		}
		ck_assert_uint_le(out, g->nodes[node].n_ports);
		at = g->ports[g->nodes[node].first_port + out].peer;
		ck_assert_uint_ne(at, GRAPH_NONE);
	}
	ck_assert_uint_eq(at, to);
}

static void check_fabric(void)
{
	const struct graph *g = fixture->g;

	check_lids();
	for (uint32_t i = 0; i < g->n_switches; i++) {
		const uint8_t *si = fixture->sim->opa[g->switches[i]].device->switch_info;

		ck_assert_uint_eq(field_get(si, OSI_MULTICAST_FDB_TOP),
		                  0xF0000000 + OPA_MFT_CAP - 1);
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		if (g->ports[i].peer != GRAPH_NONE && fixture->sim->ports[i].up) {
			check_link(i);
		}
	}
	for (uint32_t i = 0; i < g->n_end_ports; i++) {
		for (uint32_t k = 0; k < g->n_end_ports; k++) {
			if (i != k && !on_switch(g->end_ports[i])) {
				check_route(g->end_ports[i], g->end_ports[k]);
			}
		}
	}
}

/* --- bring-up --------------------------------------------------------------------------- */

static const char *const topos[] = {
	"ft2 4 2 2", "ft3 4", "mesh 3x3 2", "director 4 4 1 3 2 1 2", "torus 4x4 1",
};

START_TEST(comes_up)
{
	start(topos[_i], 1, 0);
	fixture_up(fixture);
	check_fabric();
	ck_assert_uint_eq(sweep_status(fixture->sweep)->smp_timeouts, 0);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->smp_retries, 0);
}
END_TEST

/* Widths as opa-fm sets them for MaxDroppedLanes, of links that came up with 4 lanes and with 1. */
START_TEST(says_what_a_link_may_drop)
{
	static const struct {
		uint32_t host, between;
		uint64_t host_widths, between_widths;
	} cases[] = { { 1, 1, 12, 12 }, { 0, 2, 8, 14 }, { 3, 0, 15, 8 } };
	fixture = fixture_new();
	fixture->omni_path = true;
	fixture_topo(fixture, "ft2 4 2 2", 0, 0);
	struct graph *g = fixture->g;
	uint32_t host = fixture_host(fixture, 2), near = g->ports[host].peer;
	g->ports[host].width = g->ports[near].width = WIDTH_1X;
	fixture_sim(fixture, 1, 0);
	fixture->config.host_dropped_lanes = cases[_i].host;
	fixture->config.switch_dropped_lanes = cases[_i].between;
	fixture->config.port_error_action = 0x80000002 + (uint32_t)_i;
	fixture_start(fixture);
	fixture_up(fixture);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		uint32_t peer = g->ports[i].peer;

		if (peer == GRAPH_NONE) {
			continue;
		}
		bool between = on_switch(i) && on_switch(peer);

		ck_assert_uint_eq(info(i, OPI_ERROR_ACTION), 0x80000002 + (uint32_t)_i);
		ck_assert_uint_eq(info(i, OPI_DOWNGRADE_ENABLED),
		                  i == host || i == near ? 1
		                  : between              ? cases[_i].between_widths
		                                         : cases[_i].host_widths);
	}
}
END_TEST

START_TEST(comes_up_with_loss)
{
	start("ft2 4 2 2", (uint32_t)_i + 1, 50000);
	fixture_up(fixture);
	sim_set_drop(fixture->sim, 0);
	fixture_run_ms(fixture, HEAVY_MS);
	check_fabric();
}
END_TEST

/* --- device groups ---------------------------------------------------------------------- */

static const struct device_rule hosts_rule = { .kind = DEVICE_NODE_TYPE,
	                                       .value = NODE_CA },
				self_rule = { .kind = DEVICE_SELECT,
	                                      .value = DEVICE_SELF };

/* Groups of each port of a node, as bits, from the rows of the snapshot. */
static void check_groups(struct snap_reader *r, const struct node *n, unsigned want)
{
	struct snap_attr_row row;

	ck_assert_int_eq(snap_attr_from(r, SNAP_ATTR_DEVICE_GROUPS, n->guid, 0, &row),
	                 E_OK);
	ck_assert_uint_eq(row.guid, n->guid);
	ck_assert_uint_eq(row.block, 0); /* all ports alike: one row */
	ck_assert_uint_eq(row.len, 1);
	ck_assert_uint_eq(row.data[0], want);
	ck_assert(snap_attr_from(r, SNAP_ATTR_DEVICE_GROUPS, n->guid, 1, &row) != E_OK ||
	          row.guid != n->guid);
}

/* Those of the file, in its order and not by name. They are there after a local sweep, too. */
START_TEST(publishes_device_groups)
{
	static const struct device_group groups[] = {
		{ .name = "All" },
		{ .name = "Hosts", .line = 20, .rules = &hosts_rule, .n_rules = 1 },
		{ .name = "Me", .line = 10, .rules = &self_rule, .n_rules = 1 },
	};
	static const struct device_groups list = { .path = "groups.xml",
		                                   .groups = groups,
		                                   .n = 3 };
	static const char *const names[] = { "Me", "Hosts" };
	struct snap_reader *r;
	const uint8_t *name;
	uint16_t len;

	start("ft2 4 2 2", 1, 0);
	fixture->config.device_groups = &list;
	fixture_up(fixture);
	const struct graph *g = fixture->g;
	if (_i == 1) {
		uint32_t host = fixture_host(fixture, 3);

		for (int up = 0; up < 2; up++) {
			sim_set_link(fixture->sim, g->nodes[g->ports[host].node].guid,
			             g->ports[host].num, up);
			fixture_run_ms(fixture, HEAVY_MS);
		}
		ck_assert_uint_gt(sweep_status(fixture->sweep)->local_sweeps, 0);
	}
	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_int_eq(snap_attr(r, SNAP_ATTR_DEVICE_GROUPS, 0, i, &name, &len),
		                 E_OK);
		ck_assert_uint_eq(len, SNAP_GROUP_NAME_BYTES);
		ck_assert_str_eq((const char *)name, names[i]);
	}
	ck_assert_int_eq(snap_attr(r, SNAP_ATTR_DEVICE_GROUPS, 0, 2, &name, &len),
	                 E_NOTFOUND);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		check_groups(r, &g->nodes[i],
		             g->nodes[i].type == NODE_SWITCH  ? 0
		             : i == g->ports[g->sm_port].node ? 3
		                                              : 2);
	}
	snap_reader_close(r);
}
END_TEST

/* --- afterwards -------------------------------------------------------------------------- */

static uint64_t n_sets(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PORT_INFO) +
	       sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_PKEY_TABLE) +
	       sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_LINEAR_FT);
}

START_TEST(writes_nothing_twice)
{
	uint32_t heavy;
	uint64_t sets;

	start("ft2 4 2 2", 1, 0);
	fixture_up(fixture);
	fixture_run_ms(fixture, HEAVY_MS);
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	ck_assert_uint_eq(heavy, 1); /* light ones see nothing */
	sets = n_sets();
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, heavy + 1);
	ck_assert_uint_eq(n_sets(), sets);
	check_fabric();
}
END_TEST

START_TEST(restarts_without_writing)
{
	uint64_t sets;

	start("ft2 4 2 2", 1, 0);
	fixture_up(fixture);
	fixture_stop(fixture);
	sets = n_sets();
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_le(n_sets() - sets,
	                  fixture->g->n_hosts); /* clients register again */
	check_fabric();
}
END_TEST

/* A lost host costs what it touches: its switch, the neighbours of that, and tables of groups that it was in. The
 * first local sweep after a bring-up looks at all that was set. */
START_TEST(looks_at_few_nodes)
{
	const struct job *j;

	start("ft2 8 3 3", 1, 0);
	fixture_up(fixture);
	fixture_run_ms(fixture, HEAVY_MS);
	for (uint32_t i = 5; i <= 6; i++) {
		const struct port *p = &fixture->g->ports[fixture_host(fixture, i)];

		ck_assert_int_eq(sim_set_node(fixture->sim,
		                              fixture->g->nodes[p->node].guid, false),
		                 E_OK);
		fixture_run_ms(fixture, HEAVY_MS);
	}
	ck_assert_uint_eq(sweep_status(fixture->sweep)->local_sweeps, 2);
	j = sweep_job(fixture->sweep);
	ck_assert_uint_gt(j->program.n_nodes, 1);
	ck_assert_uint_lt(j->program.n_nodes, fixture->g->n_nodes / 2);
}
END_TEST

/* A cable between switches, and one of a host. */
START_TEST(repairs_a_cable)
{
	uint32_t port;
	const struct port *p;

	start("ft2 4 2 2", 1, 0);
	fixture_up(fixture);
	port = _i == 0 ? fixture->g->nodes[fixture->g->switches[0]].first_port + 3
	               : fixture_host(fixture, 5);
	p = &fixture->g->ports[port];
	ck_assert_int_eq(sim_set_link(fixture->sim, fixture->g->nodes[p->node].guid,
	                              p->num, false),
	                 E_OK);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_gt(fixture_sweeps(fixture), 1);
	ck_assert_uint_eq(info(port, OPI_STATE), OPA_DOWN);
	ck_assert_int_eq(
		sim_set_link(fixture->sim, fixture->g->nodes[p->node].guid, p->num, true),
		E_OK);
	fixture_run_ms(fixture, HEAVY_MS);
	check_fabric();
}
END_TEST

/* What the modules of cables say is read once, again when a link was down, and is published. */
START_TEST(reads_cables)
{
	enum { CABLE_INFO = 0x32, UPPER = 2 };
	const struct graph *g = fixture != NULL ? fixture->g : NULL;
	struct snap_reader *r;
	const uint8_t *block;
	uint16_t len;
	uint64_t reads;

	start("ft2 4 2 2", 1, 0);
	g = fixture->g;
	fixture_up(fixture);
	fixture_run_ms(fixture, HEAVY_MS);
	reads = sim_count(fixture->sim, UMAD_METHOD_GET, CABLE_INFO);
	ck_assert_uint_eq(reads, 2 * 2 * g->n_links);
	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		const struct port *p = &g->ports[i];
		int ret =
			snap_attr(r, SNAP_ATTR_OPA | CABLE_INFO, g->nodes[p->node].guid,
		                  (uint32_t)p->num << SNAP_OPA_ROW | UPPER, &block, &len);

		ck_assert_int_eq(ret, p->peer != GRAPH_NONE ? E_OK : E_NOTFOUND);
		if (ret == E_OK) {
			ck_assert_mem_eq(block + 20, "SAGUARO", 7);
		}
	}
	snap_reader_close(r);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_eq(sim_count(fixture->sim, UMAD_METHOD_GET, CABLE_INFO), reads);
	for (unsigned up = 0; up < 2; up++) {
		ck_assert_int_eq(sim_set_link(fixture->sim, fixture_host_guid(fixture, 5),
		                              fixture_host_num(fixture, 5), up),
		                 E_OK);
		fixture_run_ms(fixture, HEAVY_MS);
	}
	ck_assert_uint_eq(sim_count(fixture->sim, UMAD_METHOD_GET, CABLE_INFO),
	                  reads + 4);
}
END_TEST

/* Rows of a node; of port settings byte 3 is the number of the port, as the test gave it to the simulator. */
static uint32_t n_rows(uint16_t attr, uint64_t guid)
{
	enum { PORT_SETTING = 0x8E };
	struct snap_attr_row row;
	struct snap_reader *r;
	uint32_t n = 0;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	row = (struct snap_attr_row){ .guid = guid };
	for (uint32_t from = 0;
	     snap_attr_from(r, attr, guid, from, &row) == E_OK && row.guid == guid;
	     from = row.block + 1) {
		if (attr == (SNAP_ATTR_OPA | PORT_SETTING)) {
			ck_assert_uint_eq(row.data[3], row.block >> SNAP_OPA_ROW);
		}
		n++;
	}
	snap_reader_close(r);
	return n;
}

/* Congestion control: what nodes were set to, and what they say themselves, is published; what a switch says of
 * its ports is read after it was set, in one MAD. A node that is gone has none of it any more. */
START_TEST(publishes_congestion_control)
{
	enum {
		INFO = 0x8B,
		SWITCH_SETTING = 0x8D,
		PORT_SETTING = 0x8E,
		HFI_SETTING = 0x90,
		TABLE = 0x91
	};
	const struct graph *g;
	uint32_t n_read;

	start("ft2 4 2 2", 1, 0);
	g = fixture->g;
	fixture_up(fixture);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_eq(sim_count(fixture->sim, UMAD_METHOD_GET, PORT_SETTING), 0);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		device_port(i)->congestion[3] = g->ports[i].num;
	}
	fixture->config.congestion.on = true;
	fixture->config.congestion.opa.limit = 127;
	fixture->config.congestion.opa.max_delay_ns = 8300;
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, HEAVY_MS);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		uint64_t guid = g->nodes[i].guid;
		bool is_switch = g->nodes[i].type == NODE_SWITCH;

		ck_assert_uint_eq(n_rows(SNAP_ATTR_OPA | INFO, guid), 1);
		ck_assert_uint_eq(n_rows(SNAP_ATTR_OPA | SWITCH_SETTING, guid),
		                  is_switch);
		ck_assert_uint_eq(n_rows(SNAP_ATTR_OPA | PORT_SETTING, guid),
		                  is_switch ? g->nodes[i].n_ports + 1U : 0);
		ck_assert_uint_eq(n_rows(SNAP_ATTR_OPA | HFI_SETTING, guid), !is_switch);
		ck_assert_uint_eq(n_rows(SNAP_ATTR_OPA | TABLE, guid), is_switch ? 0 : 2);
	}
	/* The simulator counts all five attributes in the same column. What is to be set is read before: the setting
	 * of a switch, and that of an adapter and two blocks of its table. */
	n_read = g->n_end_ports + 2 * g->n_switches + 3 * (g->n_end_ports - g->n_switches);
	ck_assert_uint_eq(sim_count(fixture->sim, UMAD_METHOD_GET, PORT_SETTING), n_read);
	fixture->config.congestion.opa.threshold++;
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_eq(sim_count(fixture->sim, UMAD_METHOD_GET, PORT_SETTING),
	                  n_read + g->n_switches);
	ck_assert_int_eq(sim_set_node(fixture->sim, fixture_host_guid(fixture, 5), false),
	                 E_OK);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->local_sweeps, 1);
	ck_assert_uint_eq(n_rows(SNAP_ATTR_OPA | INFO, fixture_host_guid(fixture, 5)), 0);
	ck_assert_uint_eq(
		n_rows(SNAP_ATTR_OPA | HFI_SETTING, fixture_host_guid(fixture, 5)), 0);
	ck_assert_uint_eq(n_rows(SNAP_ATTR_OPA | TABLE, fixture_host_guid(fixture, 5)),
	                  0);
	ck_assert_uint_eq(n_rows(SNAP_ATTR_OPA | TABLE, fixture_host_guid(fixture, 4)),
	                  2);
}
END_TEST

/* A node without power comes back with what it has after power-on. */
START_TEST(sets_a_rebooted_node_up)
{
	uint32_t node;

	start("ft2 4 2 2", 1, 0);
	fixture_up(fixture);
	node = _i == 0 ? fixture->g->switches[1]
	               : fixture->g->ports[fixture_host(fixture, 5)].node;
	ck_assert_int_eq(sim_reboot(fixture->sim, fixture->g->nodes[node].guid), E_OK);
	fixture_run_ms(fixture, HEAVY_MS);
	check_fabric();
}
END_TEST

/* Another manager takes 0xFFFF from the port of the subnet manager, which gets no answer then. */
START_TEST(takes_its_p_key_back)
{
	struct opa_port *own;

	start("ft2 4 2 2", 1, 0);
	fixture_up(fixture);
	own = device_port(fixture->g->sm_port);
	memset(own->p_keys, 0, sizeof(own->p_keys));
	field_set(own->p_keys, 0, 16, 0x8001);
	field_set(own->p_keys, 16, 16, OPA_P_KEY_MEMBER);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, HEAVY_MS);
	fixture_up(fixture);
	ck_assert(opa_has_p_key(own, OPA_P_KEY_MANAGER));
	ck_assert_int_eq(sweep_status(fixture->sweep)->unreachable_nodes, 0);
	check_fabric();
}
END_TEST

/* Another manager left a link with fewer VLs than both ends have. */
START_TEST(restores_the_vls_of_a_link)
{
	uint32_t port, peer;
	uint64_t vls;

	start("ft2 4 2 2", 1, 0);
	fixture_up(fixture);
	fixture_stop(fixture);
	port = fixture->g->nodes[fixture->g->switches[0]].first_port + 3;
	peer = fixture->g->ports[port].peer;
	vls = info(port, OPI_OPERATIONAL_VL);
	ck_assert_uint_eq(vls, 8);
	field_set(device_port(port)->info, OPI_OPERATIONAL_VL, 4);
	field_set(device_port(peer)->info, OPI_OPERATIONAL_VL, 4);
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_eq(info(port, OPI_OPERATIONAL_VL), vls);
	ck_assert_uint_eq(info(peer, OPI_OPERATIONAL_VL), vls);
	check_fabric();
}
END_TEST

/* Switches enforce partitions from power-on. Where the option takes that away, their P_Keys are of no use to
 * anybody, so the next sweep finds the fabric as the first one left it. */
START_TEST(enforces_no_partitions)
{
	uint64_t epoch;

	fixture = fixture_new();
	fixture->omni_path = true;
	fixture->config.part_enforce = PART_ENFORCE_OFF;
	fixture_topo(fixture, "ft2 4 2 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		if (on_switch(i) && fixture->g->ports[i].num != 0 &&
		    fixture->g->ports[i].peer != GRAPH_NONE) {
			ck_assert_uint_eq(info(i, OPI_ENFORCE_IN), 0);
			ck_assert_uint_eq(info(i, OPI_ENFORCE_OUT), 0);
		}
	}
	epoch = sweep_status(fixture->sweep)->epoch;
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, sweep_status(fixture->sweep)->heavy_sweeps + 1);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->epoch, epoch);
}
END_TEST

/* Any bytes in answers and traps. */
START_TEST(survives_noise)
{
	const struct sim_noise noise = { .duplicate_ppm = 20000,
		                         .delay_ppm = 20000,
		                         .corrupt_ppm = 100000,
		                         .delay_us = 400000 },
			       none = { 0 };

	start("ft2 4 2 2", (uint32_t)_i + 1, 0);
	sim_set_noise(fixture->sim, &noise);
	fixture_run_ms(fixture, HEAVY_MS);
	sim_set_noise(fixture->sim, &none);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 5 * HEAVY_MS);
	ck_assert(sweep_status(fixture->sweep)->up);
}
END_TEST

TEST_SUITE(sweep_opa)
{
	TCase *tc = tcase_create("sweep_opa");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, comes_up, 0, sizeof(topos) / sizeof(topos[0]));
	tcase_add_loop_test(tc, comes_up_with_loss, 0, 8);
	tcase_add_loop_test(tc, says_what_a_link_may_drop, 0, 3);
	tcase_add_loop_test(tc, publishes_device_groups, 0, 2);
	tcase_add_test(tc, writes_nothing_twice);
	tcase_add_test(tc, restarts_without_writing);
	tcase_add_test(tc, looks_at_few_nodes);
	tcase_add_loop_test(tc, repairs_a_cable, 0, 2);
	tcase_add_test(tc, reads_cables);
	tcase_add_test(tc, publishes_congestion_control);
	tcase_add_loop_test(tc, sets_a_rebooted_node_up, 0, 2);
	tcase_add_test(tc, takes_its_p_key_back);
	tcase_add_test(tc, restores_the_vls_of_a_link);
	tcase_add_test(tc, enforces_no_partitions);
	tcase_add_loop_test(tc, survives_noise, 0, 8);
	suite_add_tcase(suite, tc);
}

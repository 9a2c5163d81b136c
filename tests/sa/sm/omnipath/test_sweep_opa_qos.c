/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Maps of SLs, SCs and VLs, arbitration and buffers of Omni-Path fabrics after sweeps. Packets are followed through the
 * tables of the simulated devices, which are read by their own field tables.
 */
#include "routing/graph/lids.h"
#include "sa/sim/opa/opa_int.h"
#include "sa/sim/sim_state.h"
#include "sa/sm/sweep/sweep_int.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { HEAVY_MS = 60000, HOPS_MAX = 32, VLS = 8 };

static struct sweep_fixture *fixture;

static void prepare(const char *topo, const char *engine)
{
	fixture = fixture_new();
	fixture->omni_path = true;
	fixture_topo(fixture, topo, 0, 0);
	if (engine != NULL) {
		fixture->deps.list =
			(struct route_list){ .engine = { engine_find(engine) }, .n = 1 };
	}
}

static void start(const char *topo, const char *engine, uint32_t seed, uint32_t drop_ppm)
{
	prepare(topo, engine);
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

/* --- what the devices have ------------------------------------------------------------------ */

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

static bool is_linked(uint32_t port)
{
	return fixture->g->ports[port].peer != GRAPH_NONE && fixture->sim->ports[port].up;
}

static unsigned weight_of(const struct opa_port *p, unsigned vl)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < OPA_VL_ARB_BYTES; i += 2) {
		sum += p->vl_arb[0][i] == vl ? p->vl_arb[0][i + 1] : 0;
		sum += p->vl_arb[1][i] == vl ? p->vl_arb[1][i + 1] : 0;
	}
	return sum;
}

static unsigned own_buffers(const struct opa_port *p, unsigned vl)
{
	return (unsigned)field_get(p->buffers, OB(4 + 4 * vl), 16);
}

/* A link: both ends agree on VLs, and the receiver has the space that is promised. */
static void check_link(uint32_t port)
{
	const struct opa_port *p = device_port(port);
	unsigned sum = (unsigned)field_get(p->buffers, OB(2), 16);

	ck_assert_uint_eq(info(port, OPI_STATE), OPA_ACTIVE);
	ck_assert_mem_eq(p->sc_to_vl[1], p->peer->sc_to_vl[2], OPA_MAP_BYTES);
	ck_assert_uint_eq(p->sc_to_vl[1][OPA_VL15], OPA_VL15);
	ck_assert_uint_gt(own_buffers(p, OPA_VL15), 0);
	for (unsigned vl = 0; vl < OPA_VLS; vl++) {
		sum += own_buffers(p, vl);
	}
	ck_assert_uint_le(sum, field_get(p->peer->info, OPI_BUFFER_SPACE));
	ck_assert_uint_eq(info(port, OPI_NEIGHBOR_MTU(OPA_VL15)), OPA_MTU_2048);
}

/* --- packets ---------------------------------------------------------------------------------- */

/* Channels are (port, VL). depends: [channel][channel]. */
static uint8_t *depends;
static uint32_t n_channels;

static uint32_t channel_of(uint32_t port, unsigned vl)
{
	return port * VLS + vl;
}

/* The VL of a packet out of a port. */
static unsigned vl_out(uint32_t port, unsigned sc)
{
	const struct opa_port *p = device_port(port);
	unsigned vl = p->sc_to_vl[1][sc];

	ck_assert_uint_ne(vl, OPA_VL15);
	ck_assert_uint_lt(vl, info(port, OPI_OPERATIONAL_VL));
	ck_assert_uint_gt(weight_of(p, vl), 0);
	ck_assert_uint_gt(own_buffers(p, vl), 0);
	ck_assert_uint_eq(info(port, OPI_NEIGHBOR_MTU(vl)), OPA_MTU_10240);
	if (on_switch(port)) {
		ck_assert_uint_lt(info(port, OPI_HOQ_LIFE(vl)), 0xFF);
	}
	return vl;
}

static unsigned sl_of(uint32_t from, uint32_t lid)
{
	const struct lanes *l = &sm_known_job(&fixture->sweep->sm)->route.out.lanes;
	uint32_t sw = graph_switch_of(fixture->g, from);
	unsigned lane = lane_of(l, sw, lid);

	return l->rule != NULL ? vl_rule_sl(l->rule, lane, 0) : lane;
}

/* The VL that the routing chose; in, out: ports of a switch. */
static unsigned vl_wanted(uint32_t in, uint32_t out, unsigned sl)
{
	const struct lanes *l = &sm_known_job(&fixture->sweep->sm)->route.out.lanes;
	const struct graph *g = fixture->g;
	uint32_t sw = g->nodes[g->ports[out].node].sw;

	if (l->rule == NULL) {
		return sl;
	}
	return l->rule->vl[vl_class(l->rule, sw, g->ports[in].num)]
	                  [vl_class(l->rule, sw, g->ports[out].num)][sl];
}

static unsigned next_sc(uint32_t node, unsigned in, unsigned out, unsigned sc)
{
	const struct opa_device *d = fixture->sim->opa[node].device;

	return d->sc_to_sc[0] == NULL ? sc
	                              : d->sc_to_sc[0][((size_t)in * (d->n_ports + 1u) +
	                                                out) * OPA_MAP_BYTES +
	                                               sc];
}

/* A packet from one host to another has the VLs that its lane says, on each link. */
static void follow(uint32_t from, uint32_t to)
{
	const struct graph *g = fixture->g;
	uint32_t lid = (uint32_t)info(to, OPI_LID), out = from, at;
	unsigned sl = sl_of(from, lid), sc = device_port(from)->sl_to_sc[sl];
	unsigned vl = vl_out(from, sc), hops = 0;

	ck_assert_uint_eq(device_port(from)->sc_to_sl[sc], sl);
	for (at = g->ports[from].peer; on_switch(at); at = g->ports[out].peer) {
		uint32_t node = g->ports[at].node, next;
		unsigned num = opa_route(fixture->sim->opa[node].device, lid), next_vl;

		ck_assert_uint_lt(hops++, HOPS_MAX);
		next = g->nodes[node].first_port + num;
		sc = next_sc(node, g->ports[at].num, num, sc);
		next_vl = vl_out(next, sc);
		ck_assert_uint_eq(next_vl, vl_wanted(at, next, sl) %
		                                   info(next, OPI_OPERATIONAL_VL));
		depends[(size_t)channel_of(out, vl) * n_channels +
		        channel_of(next, next_vl)] = 1;
		out = next;
		vl = next_vl;
	}
	ck_assert_uint_eq(at, to);
	ck_assert_uint_eq(device_port(to)->sc_to_sl[sc], sl);
}

/* Takes away channels on which nothing waits until none is left. */
static void check_acyclic(void)
{
	uint8_t *gone = calloc(n_channels, 1);
	bool more = true;

	ck_assert_ptr_nonnull(gone);
	while (more) {
		more = false;
		for (uint32_t c = 0; c < n_channels; c++) {
			bool waits = false;

			for (uint32_t d = 0; d < n_channels && !gone[c] && !waits; d++) {
				waits = depends[(size_t)c * n_channels + d] && !gone[d];
			}
			if (!gone[c] && !waits) {
				gone[c] = 1;
				more = true;
			}
		}
	}
	for (uint32_t c = 0; c < n_channels; c++) {
		ck_assert_msg(gone[c], "channel %u is part of a cycle", (unsigned)c);
	}
	free(gone);
}

static void check_fabric(void)
{
	const struct graph *g = fixture->g;

	n_channels = g->n_ports * VLS;
	depends = calloc(n_channels, n_channels);
	ck_assert_ptr_nonnull(depends);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		if (is_linked(i)) {
			check_link(i);
		}
	}
	for (unsigned i = 0; i < g->n_hosts; i++) {
		for (unsigned k = 0; k < g->n_hosts; k++) {
			uint32_t a = fixture_host(fixture, i),
				 b = fixture_host(fixture, k);

			if (i != k && is_linked(a) && is_linked(b)) {
				follow(a, b);
			}
		}
	}
	check_acyclic();
	free(depends);
}

/* --- bring-up ----------------------------------------------------------------------------------- */

static const struct {
	const char *topo, *engine;
	bool several; /* lanes */
} cases[] = {
	{ "ft2 4 2 2", NULL, false },          { "torus 4x4 1", "dfsssp", true },
	{ "torus 5x5 1", "lash", true },       { "torus 4x4 1", "nue", false },
	{ "torus 5x3 1", "torus-2QoS", true }, { "torus 3x3x3 1", "torus-2QoS", true },
};

START_TEST(comes_up)
{
	start(cases[_i].topo, cases[_i].engine, 1, 0);
	fixture_up(fixture);
	check_fabric();
	ck_assert(!cases[_i].several ||
	          lanes_vls(&sm_known_job(&fixture->sweep->sm)->route.out.lanes) > 1);
	ck_assert_uint_eq(sim_bounces(fixture->sim), 0);
}
END_TEST

START_TEST(comes_up_with_loss)
{
	start(cases[_i % 6].topo, cases[_i % 6].engine, (uint32_t)_i + 1, 50000);
	fixture_up(fixture);
	sim_set_drop(fixture->sim, 0);
	fixture_run_ms(fixture, 2 * HEAVY_MS);
	check_fabric();
}
END_TEST

/* All but SwitchInfo, which is set to clear PortStateChange. */
static uint64_t n_sets(void)
{
	static const uint16_t
		attrs[] = { UMAD_SM_ATTR_PORT_INFO,  UMAD_SM_ATTR_PKEY_TABLE,
		            UMAD_SM_ATTR_SLVL_TABLE, UMAD_SM_ATTR_VL_ARB_TABLE,
		            UMAD_SM_ATTR_LINEAR_FT,  UMAD_SM_ATTR_MCAST_FT,
		            OPA_SC_TO_VL_T /* and the others of Omni-Path */ };
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		sum += sim_count(fixture->sim, UMAD_METHOD_SET, attrs[i]);
	}
	return sum;
}

/* Neither the next sweep nor a daemon that starts anew sets a table again. */
START_TEST(writes_nothing_twice)
{
	uint64_t sets;

	start(cases[_i].topo, cases[_i].engine, 1, 0);
	fixture_up(fixture);
	sets = n_sets();
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	ck_assert_uint_eq(n_sets(), sets);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_le(n_sets() - sets,
	                  fixture->g->n_hosts); /* clients register again */
	ck_assert_uint_eq(sim_bounces(fixture->sim), 0);
	check_fabric();
}
END_TEST

/* --- changes ------------------------------------------------------------------------------------ */

/* Another engine needs other maps on links that carry traffic, which restart for it. */
START_TEST(engine_changes)
{
	start("torus 5x3 1", _i == 0 ? "lash" : "torus-2QoS", 1, 0);
	fixture_up(fixture);
	fixture_stop(fixture);
	fixture->deps.list.engine[0] = engine_find(_i == 0 ? "torus-2QoS" : "lash");
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_gt(sim_bounces(fixture->sim), 0);
	check_fabric();
}
END_TEST

START_TEST(sets_a_rebooted_node_up)
{
	uint32_t node;

	start(cases[_i / 2].topo, cases[_i / 2].engine, 1, 0);
	fixture_up(fixture);
	node = _i % 2 == 0 ? fixture->g->switches[1]
	                   : fixture->g->ports[fixture_host(fixture, 5)].node;
	ck_assert_int_eq(sim_reboot(fixture->sim, fixture->g->nodes[node].guid), E_OK);
	fixture_run_ms(fixture, 2 * HEAVY_MS);
	check_fabric();
}
END_TEST

/* The cable of a host goes out or in. */
static void set_host_link(unsigned i, bool up)
{
	ck_assert_int_eq(sim_set_link(fixture->sim, fixture_host_guid(fixture, i),
	                              fixture_host_num(fixture, i), up),
	                 E_OK);
}

/* A link restarts when its tables were set and before it is ARMED, by which its transmitters forget how much room
 * their neighbours have. It is not ARMED before they know it again. */
START_TEST(restarts_before_it_is_armed)
{
	uint8_t buffers[2][sizeof(((struct opa_port *)NULL)->buffers)];
	struct opa_port *ends[2];

	start("ft2 4 2 2", NULL, 1, 0);
	fixture_up(fixture);
	ends[0] = device_port(fixture_host(fixture, 5));
	ends[1] = ends[0]->peer;
	for (unsigned i = 0; i < 2; i++) {
		memcpy(buffers[i], ends[i]->buffers, sizeof(buffers[i]));
	}
	set_host_link(5, false);
	fixture_run_ms(fixture, HEAVY_MS);
	set_host_link(5, true);
	while (fixture->sweep->phase != PHASE_PORTS) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	set_host_link(5, false);
	set_host_link(5, true);
	fixture_run_ms(fixture, HEAVY_MS);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_mem_eq(ends[i]->buffers, buffers[i], sizeof(buffers[i]));
	}
	check_fabric();
}
END_TEST

/* A node or a link restarts in any step of the first sweep. In the end all is there, so a daemon that starts anew sets
 * nothing. */
START_TEST(restarts_in_any_step)
{
	enum { N_WHAT = 3 };
	unsigned phase = PHASE_DISCOVER + (unsigned)_i / N_WHAT, what = (unsigned)_i % N_WHAT;
	const struct graph *g;
	uint64_t sets;

	prepare("torus 3x3 1", "nue");
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	g = fixture->g;
	while (fixture->sweep->phase < phase) { /* one that asks for nothing is over at once */
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	if (what == 0) {
		ck_assert_int_eq(sim_reboot(fixture->sim, g->nodes[g->switches[4]].guid), E_OK);
	} else if (what == 1) {
		ck_assert_int_eq(sim_reboot(fixture->sim, fixture_host_guid(fixture, 5)), E_OK);
	} else {
		set_host_link(5, false);
		set_host_link(5, true);
	}
	fixture_run_ms(fixture, 2 * HEAVY_MS);
	check_fabric();
	sets = n_sets();
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_le(n_sets() - sets, g->n_hosts); /* clients register again */
	check_fabric();
}
END_TEST

/* What somebody else changed is found by the audit and set again, if the link takes it. */
START_TEST(repairs_tables)
{
	struct opa_port *p, *host;

	prepare("ft2 4 2 2", NULL);
	fixture->config.audit_interval = 60;
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
	p = device_port(fixture->g->nodes[fixture->g->switches[0]].first_port + 1);
	host = device_port(fixture_host(fixture, 3));
	memset(p->vl_arb[0], 0, sizeof(p->vl_arb[0]));
	field_set(p->buffers, OB(4), 16, 0);
	memset(host->sl_to_sc, OPA_VL15, sizeof(host->sl_to_sc));
	fixture_run_ms(fixture, 4 * HEAVY_MS);
	check_fabric();
}
END_TEST

/* A switch of which nobody knows whether it passes SCs on as they are. */
START_TEST(takes_sc_maps_over)
{
	start("torus 5x3 1", "torus-2QoS", 1, 0);
	fixture_up(fixture);
	fixture_stop(fixture);
	fixture->deps.list.engine[0] = engine_find("nue");
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, HEAVY_MS);
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		for (unsigned sc = 0; sc < OPA_MAP_BYTES; sc++) {
			ck_assert_uint_eq(next_sc(fixture->g->switches[i], 1, 2, sc), sc);
		}
	}
	check_fabric();
}
END_TEST

/* The maps of all pairs of ports of a switch that hold a link each. */
static uint8_t *maps_of_links(size_t *ret_bytes)
{
	const struct graph *g = fixture->g;
	size_t n = 0;
	uint8_t *maps = malloc((size_t)g->n_ports * 256 * OPA_MAP_BYTES);

	ck_assert_ptr_nonnull(maps);
	for (uint32_t in = 0; in < g->n_ports; in++) {
		const struct node *sw = &g->nodes[g->ports[in].node];

		for (unsigned out = 1; on_switch(in) && is_linked(in) && out <= sw->n_ports; out++) {
			if (is_linked(sw->first_port + out)) {
				for (unsigned sc = 0; sc < OPA_MAP_BYTES; sc++) {
					maps[n++] = (uint8_t)next_sc(g->ports[in].node,
					                             g->ports[in].num, out, sc);
				}
			}
		}
	}
	*ret_bytes = n;
	return maps;
}

/* Switches that take no classes of ports get the same maps, port by port, however many ports they have. */
START_TEST(maps_of_single_ports)
{
	enum { WITHOUT_CLASSES = 1 << 0 | 1 << 2 };
	const char *topo = _i == 0 ? "torus 5x3 1" : "torus 3x3 70";
	uint8_t *with, *without;
	size_t n_with, n_without;

	start(topo, "torus-2QoS", 1, 0);
	fixture_up(fixture);
	with = maps_of_links(&n_with);
	fixture_free(fixture);
	prepare(topo, "torus-2QoS");
	fixture_sim(fixture, 1, 0);
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		struct opa_device *d = fixture->sim->opa[fixture->g->switches[i]].device;

		field_set(d->switch_info, OSI_CAPABILITY, WITHOUT_CLASSES);
	}
	fixture_start(fixture);
	fixture_up(fixture);
	without = maps_of_links(&n_without);
	ck_assert_uint_eq(n_with, n_without);
	ck_assert_mem_eq(with, without, n_with);
	free(with);
	free(without);
	if (_i == 0) {
		check_fabric();
	}
}
END_TEST

TEST_SUITE(sweep_opa_qos)
{
	TCase *tc = tcase_create("sweep_opa_qos");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, comes_up, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tc, comes_up_with_loss, 0, 12);
	tcase_add_loop_test(tc, writes_nothing_twice, 0,
	                    sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(tc, engine_changes, 0, 2);
	tcase_add_loop_test(tc, sets_a_rebooted_node_up, 0, 10);
	tcase_add_test(tc, restarts_before_it_is_armed);
	tcase_add_loop_test(tc, restarts_in_any_step, 0,
	                    3 * (PHASE_ADAPTIVE_RESUME - PHASE_DISCOVER + 1));
	tcase_add_test(tc, repairs_tables);
	tcase_add_test(tc, takes_sc_maps_over);
	tcase_add_loop_test(tc, maps_of_single_ports, 0, 2);
	suite_add_tcase(suite, tc);
}

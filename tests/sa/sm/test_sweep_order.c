/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The order that a sweep promises (sa/sm/sweep/sweep.c), as a recorder of all SMPs and database
 * writes saw it, and what every PortInfo holds afterwards.
 */
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

static struct sweep_fixture *fixture;
static struct tap tap;

static void setup(void)
{
	fixture = fixture_new();
}

static void teardown(void)
{
	fixture_free(fixture);
	tap_record_done(&tap);
}

static void start(const char *topo)
{
	fixture_topo(fixture, topo, 0, 0);
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	fixture_start(fixture);
	tap_record(&tap, fixture);
}

static const struct sweep_status *status(void)
{
	return sweep_status(fixture->sweep);
}

static void up(void)
{
	fixture_heavy(fixture, 1);
	ck_assert_msg(status()->up, "%s", status()->not_ready);
}

static bool is_host(uint32_t port)
{
	return fixture->g->nodes[fixture->g->ports[port].node].type != NODE_SWITCH;
}

static uint64_t guid_of_host(unsigned back)
{
	for (uint32_t i = fixture->g->n_nodes; i-- > 0;) {
		if (fixture->g->nodes[i].type != NODE_SWITCH &&
		    i != fixture->g->ports[fixture->g->sm_port].node && back-- == 0) {
			return fixture->g->nodes[i].guid;
		}
	}
	ck_abort_msg("no such host");
	return 0;
}

/* --- order ------------------------------------------------------------------------------ */

static size_t first_set(size_t from, uint16_t attr)
{
	return tap_find(&tap, from, TAP_SENT, UMAD_METHOD_SET, attr);
}

/* First Set(PortInfo) that asks for a state from here on. */
static size_t first_state(size_t from, unsigned state)
{
	while ((from = first_set(from, UMAD_SM_ATTR_PORT_INFO)) < tap.n_events &&
	       field_get(tap.event[from].data, PI_PORT_STATE) != state) {
		from++;
	}
	return from;
}

/* LIDs durable -> ports (ARMED) -> tables -> publish -> ACTIVE, in a bring-up and when a
 * host comes. */
START_TEST(order)
{
	start("ft2 4 4 2");
	ck_assert_int_eq(sim_set_node(fixture->sim, guid_of_host(0), false), E_OK);
	up();
	for (unsigned i = 0; i < 2; i++) {
		size_t lids = tap_find(&tap, 0, TAP_LIDS, 0, 0);
		size_t epoch = tap_find(&tap, 0, TAP_EPOCH, 0, 0);
		size_t port = first_set(0, UMAD_SM_ATTR_PORT_INFO);
		size_t lft = first_set(0, UMAD_SM_ATTR_LINEAR_FT);
		size_t active = first_state(0, PORT_ACTIVE);

		ck_assert_uint_lt(lids, port);
		ck_assert_uint_lt(port, lft);
		ck_assert_uint_lt(lft, epoch);
		ck_assert_uint_lt(epoch, active);
		ck_assert_uint_lt(active, tap.n_events);
		ck_assert_uint_eq(first_set(epoch, UMAD_SM_ATTR_LINEAR_FT), tap.n_events);
		if (i == 0) {
			tap_record(&tap, fixture);
			ck_assert_int_eq(
				sim_set_node(fixture->sim, guid_of_host(0), true), E_OK);
			sweep_request_heavy(fixture->sweep);
			fixture_heavy(fixture, 2);
			ck_assert(status()->up);
		}
	}
}
END_TEST

static bool is_port_event(const struct tap_event *e, enum tap_event_kind kind)
{
	return e->kind == kind && e->attr == UMAD_SM_ATTR_PORT_INFO &&
	       e->method == (kind == TAP_SENT ? UMAD_METHOD_SET : UMAD_METHOD_GET_RESP);
}

static uint32_t port_of(const struct tap_event *e)
{
	return graph_port(fixture->g, e->node, (uint8_t)e->mod);
}

/* Sets of every port with a cable that a bring-up sends. */
static void assert_sets_per_port(unsigned ca, unsigned others)
{
	const struct graph *g = fixture->g;
	unsigned *n = calloc(g->n_ports, sizeof(*n));

	for (size_t i = 0; i < tap.n_events; i++) {
		if (is_port_event(&tap.event[i], TAP_SENT)) {
			n[port_of(&tap.event[i])]++;
		}
	}
	for (uint32_t i = 0; i < g->n_ports; i++) {
		if (g->ports[i].peer != GRAPH_NONE) {
			ck_assert_uint_eq(n[i], is_host(i) ? ca : others);
			ck_assert_uint_eq(fixture_peek(fixture, i, PI_PORT_STATE),
			                  PORT_ACTIVE);
		}
	}
	free(n);
}

/* One Set configures a port and makes it ARMED, one makes it ACTIVE. */
START_TEST(two_sets_per_port)
{
	start("ft2 4 4 2");
	up();
	assert_sets_per_port(2, 2);
}
END_TEST

static bool refused_once[64]; /* by LID of a host */

/* Asks a host for what cannot be in place of the first Set(ARMED). */
static void refuse_first_armed(uint8_t *mad)
{
	uint32_t lid;

	if (field_get(mad, MAD_METHOD) != UMAD_METHOD_SET ||
	    field_get(mad, MAD_ATTR_ID) != UMAD_SM_ATTR_PORT_INFO ||
	    field_get(mad + SMP_DATA_AT, PI_PORT_STATE) != PORT_ARMED) {
		return;
	}
	lid = (uint32_t)field_get(mad + SMP_DATA_AT, PI_LID);
	if (lid != 0 && lid < 64 && !refused_once[lid]) {
		refused_once[lid] = true;
		field_set(mad + SMP_DATA_AT, PI_PORT_STATE, PORT_ACTIVE);
	}
}

/* A host that refuses to be configured and ARMED at once gets one Set after the other, and
 * nobody calls that a failure. */
START_TEST(armed_in_two_steps)
{
	memset(refused_once, 0, sizeof(refused_once));
	start("ft2 4 4 2");
	tap.out_filter = refuse_first_armed;
	up();
	assert_sets_per_port(4, 2);
	ck_assert_uint_eq(sweep_job(fixture->sweep)->program.n_refused, 0);
}
END_TEST

static bool flapped;

/* A cable comes loose for a moment when the first block of a table is sent. */
static bool flap_once(const uint8_t *mad)
{
	const struct graph *g = fixture->g;
	const struct port *p = &g->ports[g->nodes[g->n_nodes - 1].first_port + 1];

	if (flapped || field_get(mad, MAD_METHOD) != UMAD_METHOD_SET ||
	    field_get(mad, MAD_ATTR_ID) != UMAD_SM_ATTR_LINEAR_FT) {
		return false;
	}
	flapped = true;
	ck_assert_uint_ne(p->peer, GRAPH_NONE);
	for (unsigned there = 0; there < 2; there++) {
		ck_assert_int_eq(sim_set_link(fixture->sim, g->nodes[p->node].guid,
		                              p->num, there),
		                 E_OK);
	}
	return false;
}

/* A link that restarts between ARMED and ACTIVE has refused nothing, and is up soon. */
START_TEST(restarted_while_armed)
{
	flapped = false;
	start("ft2 4 4 2");
	tap.loses = flap_once;
	up();
	ck_assert(flapped);
	ck_assert_uint_eq(sweep_job(fixture->sweep)->program.n_refused, 0);
	fixture_run_ms(fixture, 25000);
	fixture_up(fixture);
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		if (fixture->g->ports[i].peer != GRAPH_NONE) {
			ck_assert_uint_eq(fixture_peek(fixture, i, PI_PORT_STATE),
			                  PORT_ACTIVE);
		}
	}
}
END_TEST

/* A port is not ARMED while its peer has another number of VLs: it would wait for flow control
 * that nobody sends. */
START_TEST(armed_with_the_vls_of_its_peer)
{
	unsigned n = 0, at_once = 0;

	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		fixture->g->ports[i].vls =
			(uint8_t)(1 + (i * 7 + (uint32_t)_i * 3) % 11 % 4);
	}
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	fixture_start(fixture);
	tap_record(&tap, fixture);
	const struct graph *g = fixture->g;
	uint8_t *vls = malloc(g->n_ports);
	for (uint32_t i = 0; i < g->n_ports; i++) {
		vls[i] = g->ports[i].vls; /* as the simulation begins */
	}
	up();
	for (size_t i = 0; i < tap.n_events; i++) {
		const struct tap_event *e = &tap.event[i];

		if (is_port_event(e, TAP_ANSWERED)) {
			vls[port_of(e)] = (uint8_t)field_get(e->data, PI_OPERATIONAL_VLS);
		} else if (is_port_event(e, TAP_SENT) &&
		           field_get(e->data, PI_PORT_STATE) == PORT_ARMED) {
			uint32_t port = port_of(e);
			bool same = vls[g->ports[port].peer] ==
			            field_get(e->data, PI_OPERATIONAL_VLS);

			ck_assert(same);
			n++;
			at_once += i < first_set(0, UMAD_SM_ATTR_LINEAR_FT);
		}
	}
	ck_assert_uint_lt(at_once, n);
	ck_assert_uint_gt(at_once, 0);
	free(vls);
}
END_TEST

static bool loses_some_blocks(const uint8_t *mad)
{
	static unsigned n;

	return field_get(mad, MAD_METHOD) == UMAD_METHOD_SET &&
	       field_get(mad, MAD_ATTR_ID) == UMAD_SM_ATTR_LINEAR_FT && n++ % 3 == 1;
}

/* A LID is within the table of a switch only after its entry is: LinearFDBTop leaves when
 * every block of the switch was acknowledged, also when blocks got lost and are sent
 * again. By LID a switch without a table gets it earlier, when it forwards nothing yet. */
START_TEST(top_after_blocks)
{
	start("ft2 36 6 10"); /* several blocks */
	fixture->config.lmc = 2;
	fixture->config.smp_routing = SMP_ROUTING_DIRECTED;
	tap.loses = loses_some_blocks;
	up();
	for (uint32_t i = 0; i < fixture->g->n_switches; i++) {
		uint32_t node = fixture->g->switches[i];
		uint64_t sent = 0, answered = 0; /* blocks, as bits */
		unsigned tops = 0;

		for (size_t k = 0; k < tap.n_events; k++) {
			const struct tap_event *e = &tap.event[k];
			bool lft = e->attr == UMAD_SM_ATTR_LINEAR_FT && e->node == node;

			if (lft && e->kind == TAP_SENT && e->method == UMAD_METHOD_SET) {
				sent |= UINT64_C(1) << e->mod;
			} else if (lft && e->kind == TAP_ANSWERED) {
				answered |= UINT64_C(1) << e->mod;
			}
			if (e->kind == TAP_SENT && e->node == node &&
			    e->method == UMAD_METHOD_SET &&
			    e->attr == UMAD_SM_ATTR_SWITCH_INFO &&
			    field_get(e->data, SI_LINEAR_FDB_TOP) != 0) {
				tops++;
				ck_assert_uint_gt(sent, 1); /* more than block 0 */
				ck_assert_uint_eq(answered, sent);
			}
		}
		ck_assert_uint_eq(tops, 1);
	}
}
END_TEST

/* When heavy sweeps began: NodeInfo of the local node. \return Their number, at most \a max */
static unsigned begins(uint64_t *ret_ms, unsigned max)
{
	unsigned n = 0;

	for (size_t i = 0; i < tap.n_events && n < max; i++) {
		const struct tap_event *e = &tap.event[i];

		if (e->kind == TAP_SENT && e->attr == UMAD_SM_ATTR_NODE_INFO &&
		    e->node == fixture->g->ports[fixture->g->sm_port].node) {
			ret_ms[n++] = e->at_ms;
		}
	}
	return n;
}

/* LIDs over tables that were refused are not remembered: the fabric and the memory of LIDs
 * stay as they were. Only the interval of sweeps brings the next try. */
START_TEST(refused)
{
	uint64_t at[3];

	fixture->config.sweep_interval = 17;
	fixture_file(fixture, "ring-4.topo");
	fixture_sim(fixture, 1, 0);
	tap_init(&tap, fixture);
	fixture->config.credit_loops = CREDIT_REFUSE;
	fixture->deps.list.no_fallback = true;
	fixture_start(fixture);
	tap_record(&tap, fixture);
	fixture_heavy(fixture, 1);
	fixture_run_ms(fixture, 60000);
	ck_assert(!status()->up);
	ck_assert_ptr_nonnull(strstr(status()->not_ready, "credit loop"));
	ck_assert_uint_ge(status()->failed_sweeps, 3);
	ck_assert_uint_eq(begins(at, 3), 3);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_ge(at[i + 1] - at[i], 17000);
		ck_assert_uint_lt(at[i + 1] - at[i], 17500);
	}
	ck_assert_uint_eq(tap_find(&tap, 0, TAP_LIDS, 0, 0), tap.n_events);
	ck_assert_uint_eq(tap_find(&tap, 0, TAP_EPOCH, 0, 0), tap.n_events);
	ck_assert_uint_eq(first_set(0, UMAD_SM_ATTR_PORT_INFO), tap.n_events);
	ck_assert_uint_eq(first_set(0, UMAD_SM_ATTR_LINEAR_FT), tap.n_events);
}
END_TEST

/* --- failures --------------------------------------------------------------------------- */

/* A sweep that the fabric made fail is tried again after 1, 2, 4, 8, 10, 10 seconds. */
START_TEST(retries)
{
	static const unsigned seconds[] = { 1, 2, 4, 8, 10, 10 };
	uint64_t at[7];

	fixture->config.sweep_interval = 0;
	start("ft2 4 4 2");
	const struct port *p = &fixture->g->ports[fixture->g->sm_port];
	ck_assert_int_eq(sim_set_link(fixture->sim, fixture->g->nodes[p->node].guid,
	                              p->num, false),
	                 E_OK);
	fixture_run_ms(fixture, 40000);
	ck_assert_uint_eq(begins(at, 7), 7);
	for (unsigned i = 0; i < 6; i++) {
		uint64_t took = at[i + 1] - at[i];

		ck_assert_msg(took >= seconds[i] * 1000u &&
		                      took < seconds[i] * 1000u + 500,
		              "try %u after %u ms", i + 1, (unsigned)took);
	}
}
END_TEST

static uint32_t no_writes; /* node whose Set(PortInfo) get lost */

static bool loses_writes(const uint8_t *mad)
{
	const struct graph *g = fixture->g;
	uint32_t node = g->ports[g->sm_port].node;

	if (field_get(mad, MAD_METHOD) != UMAD_METHOD_SET ||
	    field_get(mad, MAD_ATTR_ID) != UMAD_SM_ATTR_PORT_INFO) {
		return false;
	}
	for (unsigned i = 1; i <= field_get(mad, SMP_HOP_COUNT); i++) {
		node = g->ports[g->ports[graph_port(g, node,
		                                    mad[SMP_INITIAL_PATH_AT + i])]
		                        .peer]
		               .node;
	}
	return node == no_writes;
}

/* A switch that answers reads and no writes stops two sweeps in a row, not one
 * and not all. They say that it is silent, not that it refuses. A host stops none; more sweeps
 * follow. */
START_TEST(no_answer_to_writes)
{
	fixture->config.sweep_interval = 0;
	fixture->config.smp_routing =
		SMP_ROUTING_DIRECTED; /* loses_writes() knows no other */
	start("ft2 4 4 2");
	no_writes = graph_node_by_guid(fixture->g, guid_of_host(0));
	if (_i == 1) { /* one that the SM's own host is not on */
		no_writes = fixture->g->ports[fixture->g->sm_port].peer;
		no_writes = fixture->g->ports[no_writes].node;
		no_writes = fixture->g->switches[fixture->g->switches[0] == no_writes];
	}
	tap.loses = loses_writes;
	for (unsigned i = 1; i <= 3; i++) {
		fixture_heavy(fixture, i);
		ck_assert_uint_eq(status()->up, _i == 0 || i == 3);
		if (_i == 1 && i < 3) {
			ck_assert_ptr_nonnull(
				strstr(status()->not_ready, "does not answer Set("));
		}
	}
	ck_assert_uint_eq(status()->failed_sweeps, _i == 1 ? 2 : 0);
}
END_TEST

/* --- what is remembered ------------------------------------------------------------------ */

static bool is_remembered(uint64_t guid, struct lid_range *ret_range)
{
	struct arena *a = arena_new();
	struct lid_memory *lids;
	bool found = false;
	size_t n;

	ck_assert_int_eq(state_lids(fixture->state, a, &lids, &n), E_OK);
	for (size_t i = 0; i < n; i++) {
		if (lids[i].guid == guid) {
			*ret_range = lids[i].range;
			found = true;
		}
	}
	arena_free(a);
	return found;
}

/* The durable LIDs are those of the ports, also when only the LMC of a range changed. */
START_TEST(lmc_is_durable)
{
	static const unsigned lmc[] = { 2, 1, 3, 0 };
	unsigned same_base = 0;

	fixture->config.lmc = 2;
	start("ft2 4 4 2");
	up();
	for (unsigned k = 0; k < 4; k++) {
		fixture->config.lmc = lmc[k];
		sweep_reconfigure(fixture->sweep, &fixture->deps);
		fixture_heavy(fixture, k + 2);
		ck_assert(status()->up);
		for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
			uint32_t port = fixture->g->end_ports[i];
			struct lid_range r;

			ck_assert(is_remembered(fixture->g->ports[port].guid, &r));
			ck_assert_uint_eq(r.base, fixture_peek(fixture, port, PI_LID));
			ck_assert_uint_eq(r.lmc, fixture_peek(fixture, port, PI_LMC));
			same_base += r.base != 0 && r.lmc == 1;
		}
	}
	ck_assert_uint_gt(same_base, 0);
}
END_TEST

/* reassign_lids forgets LIDs once in the life of the process, not in each sweep: a host that
 * goes away later finds its LID again. */
START_TEST(reassigned_once)
{
	struct lid_range before, after;

	fixture->config.reassign_lids = true;
	start("ft2 4 4 2");
	up();
	uint64_t guid = guid_of_host(0);
	uint64_t port_guid =
		fixture->g
			->ports[graph_port(fixture->g,
	                                   graph_node_by_guid(fixture->g, guid), 1)]
			.guid;
	ck_assert(is_remembered(port_guid, &before));
	ck_assert_int_eq(sim_set_node(fixture->sim, guid, false), E_OK);
	for (unsigned i = 0; i < 2; i++) {
		sweep_request_heavy(fixture->sweep);
		fixture_heavy(fixture, 2 + i);
		ck_assert(is_remembered(port_guid, &after));
		ck_assert_uint_eq(after.base, before.base);
	}
}
END_TEST

/* --- clients ------------------------------------------------------------------------------ */

/* Hosts that were asked to register again since event \a from, each counted once per Set. */
static unsigned asked_to_reregister(size_t from)
{
	unsigned n = 0;

	for (size_t i = from; i < tap.n_events; i++) {
		const struct tap_event *e = &tap.event[i];

		if (e->kind == TAP_SENT && e->method == UMAD_METHOD_SET &&
		    e->attr == UMAD_SM_ATTR_PORT_INFO &&
		    field_get(e->data, PI_CLIENT_REREGISTER)) {
			ck_assert_uint_ne(e->node, GRAPH_NONE);
			ck_assert(fixture->g->nodes[e->node].type != NODE_SWITCH);
			n++;
		}
	}
	return n;
}

/* Every host is asked once by the first sweep of an SM, also after a restart of the SM, and
 * by no other. */
START_TEST(reregister)
{
	start("ft2 4 4 2");
	up();
	ck_assert_uint_eq(asked_to_reregister(0), fixture->g->n_hosts);
	size_t from = tap.n_events;
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, 2);
	ck_assert_uint_eq(asked_to_reregister(from), 0);
	fixture_stop(fixture);
	fixture_start(fixture);
	tap_record(&tap, fixture);
	up();
	ck_assert_uint_eq(asked_to_reregister(0), fixture->g->n_hosts);
}
END_TEST

/* Unless the operator does not want it. */
START_TEST(reregister_not_wanted)
{
	fixture->config.no_clients_rereg = _i == 0;
	fixture->config.client_rereg_mode = _i == 0 ? 2 : 0;
	start("ft2 4 4 2");
	up();
	ck_assert_uint_eq(asked_to_reregister(0), 0);
}
END_TEST

/* --- what a port holds -------------------------------------------------------------------- */

START_TEST(end_port_values)
{
	fixture->config.m_key = _i == 0 ? 0 : 0x1122334455667788;
	fixture->config.m_key_lease_period = 300;
	fixture->config.m_key_protection_level = 2;
	fixture->config.m_key_per_port = false;
	fixture->config.subnet_prefix = 0xfec0000000000123;
	fixture->config.subnet_timeout = 20;
	start("ft2 4 4 2");
	up();
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		uint32_t p = fixture->g->end_ports[i];

		ck_assert_uint_eq(fixture_peek(fixture, p, PI_M_KEY),
		                  fixture->config.m_key);
		ck_assert_uint_eq(fixture_peek(fixture, p, PI_M_KEY_PROTECT_BITS),
		                  _i == 0 ? 0 : 2);
		ck_assert_uint_eq(fixture_peek(fixture, p, PI_M_KEY_LEASE_PERIOD),
		                  _i == 0 ? 0 : 300);
		ck_assert_uint_eq(fixture_peek(fixture, p, PI_GID_PREFIX),
		                  fixture->config.subnet_prefix);
		ck_assert_uint_eq(fixture_peek(fixture, p, PI_SUBNET_TIMEOUT), 20);
		ck_assert_uint_eq(fixture_peek(fixture, p, PI_MASTER_SM_LID),
		                  fixture_peek(fixture, fixture->g->sm_port, PI_LID));
	}
}
END_TEST

/* Switch ports towards hosts have the leaf values. */
START_TEST(link_values)
{
	fixture->config.vl_stall_count = 3;
	fixture->config.leaf_vl_stall_count = 5;
	fixture->config.head_of_queue_lifetime = 0x11;
	fixture->config.leaf_head_of_queue_lifetime = 0x0d;
	fixture->config.local_phy_errors_threshold = 6;
	fixture->config.overrun_errors_threshold = 9;
	start("ft2 4 4 2");
	up();
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		const struct port *p = &fixture->g->ports[i];

		if (p->peer == GRAPH_NONE) {
			continue;
		}
		ck_assert_uint_eq(fixture_peek(fixture, i, PI_LOCAL_PHY_ERRORS), 6);
		ck_assert_uint_eq(fixture_peek(fixture, i, PI_OVERRUN_ERRORS), 9);
		if (!is_host(i)) {
			bool leaf = is_host(p->peer);

			ck_assert_uint_eq(fixture_peek(fixture, i, PI_VL_STALL_COUNT),
			                  leaf ? 5 : 3);
			ck_assert_uint_eq(fixture_peek(fixture, i, PI_HOQ_LIFE),
			                  leaf ? 0x0d : 0x11);
		}
	}
}
END_TEST

/* NeighborMTU of both ends is the smaller MTUCap, whichever end has it. */
START_TEST(mtu_of_both_ends)
{
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	for (uint32_t i = 0, k = 0; i < fixture->g->n_ports; i++) {
		struct port *p = &fixture->g->ports[i];

		if (p->peer != GRAPH_NONE && i < p->peer) {
			p->mtu = 1 + k % 5;
			fixture->g->ports[p->peer].mtu = 1 + (k / 5 + 2 * k) % 5;
			k++;
		}
	}
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	up();
	for (uint32_t i = 0; i < fixture->g->n_ports; i++) {
		const struct port *p = &fixture->g->ports[i];

		if (p->peer != GRAPH_NONE) {
			uint8_t far = fixture->g->ports[p->peer].mtu;

			ck_assert_uint_eq(fixture_peek(fixture, i, PI_NEIGHBOR_MTU),
			                  p->mtu < far ? p->mtu : far);
		}
	}
}
END_TEST

TEST_SUITE(sweep_order)
{
	TCase *t = tcase_create("order");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, order);
	tcase_add_test(t, two_sets_per_port);
	tcase_add_test(t, armed_in_two_steps);
	tcase_add_test(t, restarted_while_armed);
	tcase_add_loop_test(t, armed_with_the_vls_of_its_peer, 0, 4);
	tcase_add_test(t, top_after_blocks);
	tcase_add_test(t, refused);
	tcase_add_test(t, retries);
	tcase_add_loop_test(t, no_answer_to_writes, 0, 2);
	tcase_add_test(t, lmc_is_durable);
	tcase_add_test(t, reassigned_once);
	tcase_add_test(t, reregister);
	tcase_add_loop_test(t, reregister_not_wanted, 0, 2);
	tcase_add_loop_test(t, end_port_values, 0, 2);
	tcase_add_test(t, link_values);
	tcase_add_test(t, mtu_of_both_ends);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Omni-Path nodes that are refused: each reason, on a host or on a switch. The node is left alone, it is listed
 * with the place where it was seen, and it joins when it is as it should be.
 */
#include "sa/mad/wire.h"
#include "sa/sim/opa/opa_int.h"
#include "sa/sim/sim_state.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { HEAVY_MS = 60000, NONE = 0 };

static struct sweep_fixture *fixture;

static void setup(void)
{
	fixture = fixture_new();
	fixture->omni_path = true;
	fixture_topo(fixture, "ft2 4 2 2", 0, 0);
	fixture_sim(fixture, 1, 0);
}

static void teardown(void)
{
	if (fixture != NULL) {
		fixture_free(fixture);
		fixture = NULL;
	}
}

/* What the snapshot lists; the first one. \return how many */
static unsigned listed(uint8_t record[OPA_BYTES_QUARANTINED], uint8_t *ret_port)
{
	struct snap_attr_row row = { .guid = 0 };
	struct snap_reader *r;
	unsigned n = 0;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	int ret = snap_attr_from(r, SNAP_ATTR_QUARANTINED, 0, 0, &row);
	while (ret == E_OK) {
		if (n++ == 0) {
			ck_assert_uint_eq(row.len, OPA_BYTES_QUARANTINED);
			memcpy(record, row.data, row.len);
			*ret_port = (uint8_t)row.block;
		}
		ret = snap_attr_from(r, SNAP_ATTR_QUARANTINED, row.guid, row.block + 1,
		                     &row);
	}
	snap_reader_close(r);
	return n;
}

static const struct refusal {
	const char *what;
	enum opa_lie lie;
	uint64_t value, right;
	bool of_switch;    /* a spine; else a host */
	bool at_neighbour; /* its port says so */
	uint32_t reason;   /* bit of the record */
	unsigned init;     /* LinkInitReason: 9 quarantined, 10 insufficient capability */
} refusals[] = {
	{ "another NodeGUID", OPA_LIE_NODE_GUID, 0x1234, 0, false, false, OPA_QN_SPOOFING,
	  9 },
	{ "no ports", OPA_LIE_NUM_PORTS, 0, 1, false, false, NONE, 10 },
	{ "no P_Keys", OPA_LIE_PARTITION_CAP, 0, 16, false, false, NONE, 10 },
	{ "a small MTU", OPA_LIE_MTU_CAP, 3, 7, false, false, OPA_QN_MTU, 10 },
	{ "no VLs", OPA_LIE_VL_CAP, 0, 8, false, false, OPA_QN_VLS, 10 },
	{ "another packet format", OPA_LIE_PACKET_FORMATS, 1, 10, false, false,
	  OPA_QN_FORMATS, 10 },
	{ "a switch of another format", OPA_LIE_PACKET_FORMATS, 1, 10, true, false,
	  OPA_QN_FORMATS, 10 },
	{ "a switch of another NodeGUID", OPA_LIE_NODE_GUID, 0x1234, 0, true, false,
	  OPA_QN_SPOOFING, 9 },
	{ "firmware that nobody vouches for", OPA_LIE_FW_AUTH_BYPASS, 1, 0, true, true,
	  OPA_QN_SPOOFING, 9 },
	{ "a small table", OPA_LIE_LINEAR_FDB_CAP, 4, 0xC000, true, false, OPA_QN_LIDS,
	  1 }, /* its links are up */
};

/* The far ends of the node's cables, or its own ports. */
static void tell(const struct refusal *c, uint32_t node, uint64_t value)
{
	const struct graph *g = fixture->g;
	const struct node *n = &g->nodes[node];

	for (unsigned i = 1; i <= n->n_ports; i++) {
		uint32_t port = n->first_port + i, peer = g->ports[port].peer;

		if (peer != GRAPH_NONE) {
			opa_lie(sim_opa_port(fixture->sim, c->at_neighbour ? peer : port),
			        c->lie, value);
		}
	}
}

/* LinkInitReason of the port that a record names. */
static unsigned init_reason(const uint8_t record[OPA_BYTES_QUARANTINED])
{
	const struct graph *g = fixture->g;
	uint32_t node = graph_node_by_guid(g, field_get(record, OPA_QN_NODE_GUID)),
		 num = (uint32_t)field_get(record, OPA_QN_PORT_NUM);

	return (unsigned)field_get(
		sim_opa_port(fixture->sim, g->nodes[node].first_port + num)->info,
		OPI_INIT_REASON);
}

START_TEST(refused)
{
	const struct refusal *c = &refusals[_i];
	const struct graph *g = fixture->g;
	uint32_t port = c->of_switch
	                        ? g->nodes[g->switches[g->n_switches - 1]].first_port + 1
	                        : fixture_host(fixture, 5);
	uint32_t node = g->ports[port].node, near = g->ports[port].peer;
	uint8_t record[OPA_BYTES_QUARANTINED], at = 0;
	uint64_t right = c->lie == OPA_LIE_NODE_GUID ? g->nodes[node].guid : c->right;
	unsigned n_cables = c->of_switch ? g->nodes[node].n_ports : 1, lies = 0;

	fixture_start(fixture);
	if (c->lie ==
	    OPA_LIE_LINEAR_FDB_CAP) { /* which LIDs there are is known afterwards */
		fixture_up(fixture);
	}
	tell(c, node, c->value);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_msg(sweep_status(fixture->sweep)->up, "%s: %s", c->what,
	              sweep_status(fixture->sweep)->not_ready);
	lies = listed(record, &at);
	ck_assert_msg(lies >= 1 && lies <= n_cables, "%s: %u listed", c->what, lies);
	ck_assert_msg(field_get(record, OPA_QN_REASONS) == c->reason, "%s: reasons 0x%x",
	              c->what, (unsigned)field_get(record, OPA_QN_REASONS));
	ck_assert_uint_eq(field_get(record, OPA_QN_PORT_NUM), at);
	ck_assert_msg(init_reason(record) == c->init, "%s: LinkInitReason %u", c->what,
	              init_reason(record));
	if (!c->of_switch) {
		ck_assert_uint_eq(field_get(record, OPA_QN_NODE_GUID),
		                  g->nodes[g->ports[near].node].guid);
		ck_assert_uint_eq(at, g->ports[near].num);
		ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, g->n_hosts - 1);
		ck_assert_uint_eq(
			field_get(sim_opa_port(fixture->sim, port)->info, OPI_STATE),
			OPA_INIT);
	} else {
		ck_assert_uint_eq(sweep_status(fixture->sweep)->switches,
		                  g->n_switches - 1);
		ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, g->n_hosts);
	}
	ck_assert_int_eq(sweep_status(fixture->sweep)->unreachable_nodes, 0);

	tell(c, node, right);
	fixture->sim->opa[node].device->lies = 0;
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_msg(listed(record, &at) == 0, "%s: still listed", c->what);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, g->n_hosts);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->switches, g->n_switches);
	ck_assert_uint_eq(field_get(sim_opa_port(fixture->sim, port)->info, OPI_STATE),
	                  OPA_ACTIVE);
	ck_assert_uint_eq(init_reason(record), 1);
}
END_TEST

/* --- local sweeps beside it ------------------------------------------------------------- */

/* A link goes down and comes up again: each is a local sweep, and a heavy one agrees with what they left. */
static void bounce(uint32_t port, const char *what, unsigned n_listed)
{
	const struct sweep_status *s = sweep_status(fixture->sweep);
	const struct graph *g = fixture->g;
	uint64_t guid = g->nodes[g->ports[port].node].guid;
	uint32_t heavy = s->heavy_sweeps, local = s->local_sweeps, differed;
	uint8_t record[OPA_BYTES_QUARANTINED], at;

	for (unsigned up = 0; up <= 1; up++) {
		ck_assert_int_eq(
			sim_set_link(fixture->sim, guid, g->ports[port].num, up), E_OK);
		fixture_run_ms(fixture, HEAVY_MS);
		ck_assert_msg(s->up, "%s: %s", what, s->not_ready);
	}
	ck_assert_msg(s->heavy_sweeps == heavy && s->local_sweeps >= local + 2,
	              "%s: %u heavy and %u local sweeps", what, s->heavy_sweeps - heavy,
	              s->local_sweeps - local);
	ck_assert_msg(listed(record, &at) == n_listed, "%s: %u listed, not %u", what,
	              listed(record, &at), n_listed);
	differed = s->local_differences;
	uint64_t epoch = s->epoch;
	sweep_request_heavy(fixture->sweep);
	fixture_heavy(fixture, heavy + 1);
	fixture_up(fixture);
	ck_assert_msg(s->local_differences == differed && s->epoch == epoch,
	              "%s: a heavy sweep finds %u differences", what,
	              s->local_differences - differed);
}

/* A refused node is known, and sweeps of what changed beside it, or at its switch, are local. It joins in
 * a local sweep, too, when it comes back as it should be, slowly or before anybody has looked. */
START_TEST(local_beside)
{
	const struct refusal *c = &refusals[_i / 2];
	const struct graph *g = fixture->g;
	uint32_t port = c->of_switch
	                        ? g->nodes[g->switches[g->n_switches - 1]].first_port + 1
	                        : fixture_host(fixture, 5);
	uint32_t node = g->ports[port].node, beside = fixture_host(fixture, 4);
	uint8_t record[OPA_BYTES_QUARANTINED], at;
	unsigned n;

	fixture->config.sweep_interval = 0;
	fixture->config.rebalance = 2; /* never */
	fixture_start(fixture);
	if (c->lie ==
	    OPA_LIE_LINEAR_FDB_CAP) { /* which LIDs there are is known afterwards */
		fixture_up(fixture);
	}
	tell(c, node, c->value);
	fixture_log(fixture);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, HEAVY_MS);
	n = listed(record, &at);
	ck_assert_msg(n >= 1, "%s: none listed", c->what);
	bounce(fixture_host(fixture, 3), c->what, n);
	bounce(beside, c->what, n); /* at the switch of host 5 */
	ck_assert_uint_eq(fixture_logged(fixture, "is refused any more"), 0);

	tell(c, node, c->lie == OPA_LIE_NODE_GUID ? g->nodes[node].guid : c->right);
	fixture->sim->opa[node].device->lies = 0;
	uint32_t heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	for (unsigned up = 0; up <= 1; up++) {
		ck_assert_int_eq(sim_set_node(fixture->sim, g->nodes[node].guid, up),
		                 E_OK);
		fixture_run_ms(fixture, up || _i % 2 ? HEAVY_MS : 0);
	}
	ck_assert_msg(listed(record, &at) == 0, "%s: still listed", c->what);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, g->n_hosts);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->switches, g->n_switches);
}
END_TEST

/* A host that shows the NodeGUID of another one takes nothing from it. */
START_TEST(pretender)
{
	const struct graph *g = fixture->g;
	uint32_t liar = fixture_host(fixture, 5),
		 victim = fixture_host(fixture, _i ? 2 : 7);
	uint8_t record[OPA_BYTES_QUARANTINED], at;

	opa_lie(sim_opa_port(fixture->sim, liar), OPA_LIE_NODE_GUID,
	        g->nodes[g->ports[victim].node].guid);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->hosts, g->n_hosts - 1);
	ck_assert_uint_eq(listed(record, &at), 1);
	ck_assert_uint_eq(field_get(record, OPA_QN_EXPECTED_NODE_GUID),
	                  g->nodes[g->ports[liar].node].guid);
	ck_assert_uint_eq(field_get(record + OPA_QN_NODE_INFO_AT, ONI_NODE_GUID),
	                  g->nodes[g->ports[victim].node].guid);
	ck_assert_uint_eq(field_get(sim_opa_port(fixture->sim, victim)->info, OPI_STATE),
	                  OPA_ACTIVE);
	ck_assert_uint_eq(field_get(sim_opa_port(fixture->sim, liar)->info, OPI_LID), 0);
}
END_TEST

/* One event when a node is refused, none while it stays so, one when it is admitted. */
START_TEST(told_once)
{
	fixture_start(fixture);
	opa_lie(sim_opa_port(fixture->sim, fixture_host(fixture, 5)), OPA_LIE_NODE_GUID,
	        7);
	fixture_log(fixture);
	fixture_up(fixture);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_eq(fixture_logged(fixture, "is refused: "), 1);
	ck_assert_uint_eq(fixture_logged(fixture, "that port says another NodeGUID"), 1);
	fixture->sim->opa[fixture->g->ports[fixture_host(fixture, 5)].node].device->lies =
		0;
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, HEAVY_MS);
	ck_assert_uint_eq(fixture_logged(fixture, "is refused any more"), 1);
}
END_TEST

TEST_SUITE(sweep_admit)
{
	TCase *tc = tcase_create("sweep_admit");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, refused, 0, sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_loop_test(tc, local_beside, 0,
	                    2 * sizeof(refusals) / sizeof(refusals[0]));
	tcase_add_loop_test(tc, pretender, 0, 2);
	tcase_add_test(tc, told_once);
	suite_add_tcase(suite, tc);
}

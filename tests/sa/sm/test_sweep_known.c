/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The memory of nodes: what the state has of each end port after sweeps, restarts, moves, and with
 * more ports than may be remembered.
 */
#include "sa/sm/known.h"

#include "db/state/state.h"
#include "sa/sm/sm.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { ROWS = 64, NOW = 1700000000 };

static struct sweep_fixture *fixture;
static struct known_node rows[ROWS], cables[ROWS];
static unsigned n_rows, n_cables;

static int64_t wall_clock(void)
{
	return NOW;
}

static void setup(void)
{
	fixture = fixture_new();
	fixture->deps.wall_clock = wall_clock;
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture_start(fixture);
	fixture_up(fixture);
}

static void teardown(void)
{
	fixture_free(fixture);
}

static int take(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value, size_t len)
{
	(void)ctx;
	struct known_node n;

	ck_assert_int_eq(known_decode(key, key_len, value, len, &n), E_OK);
	ck_assert_uint_lt(n_rows, ROWS);
	ck_assert_uint_lt(n_cables, ROWS);
	if (known_is_cable(&n)) {
		cables[n_cables++] = n;
	} else {
		rows[n_rows++] = n;
	}
	return E_OK;
}

static void read_rows(void)
{
	n_rows = n_cables = 0;
	state_flush(fixture->state);
	ck_assert_int_eq(state_records(fixture->state, RECORDS_KNOWN, take, NULL), E_OK);
}

static unsigned n_gone(void)
{
	unsigned n = 0;

	read_rows();
	for (unsigned i = 0; i < n_rows; i++) {
		n += rows[i].gone_s != 0;
	}
	return n;
}

static const struct known_node *row_of(uint64_t guid)
{
	read_rows();
	for (unsigned i = 0; i < n_rows; i++) {
		if (rows[i].node_guid == guid) {
			return &rows[i];
		}
	}
	ck_abort_msg("no row of 0x%016llx", (unsigned long long)guid);
}

static void set_node(uint64_t guid, bool up)
{
	ck_assert_int_eq(sim_set_node(fixture->sim, guid, up), E_OK);
	fixture_run_ms(fixture, 20000);
}

/* Each end port has a row with its place, and a sweep without a change writes nothing. */
START_TEST(all_are_known)
{
	const struct graph *g = fixture->g;

	read_rows();
	ck_assert_uint_eq(n_rows, g->n_end_ports);
	for (unsigned i = 0; i < n_rows; i++) {
		uint32_t node = graph_node_by_guid(g, rows[i].node_guid);
		uint32_t port = graph_port(g, node, rows[i].port);

		ck_assert_uint_ne(port, GRAPH_NONE);
		ck_assert_str_eq(rows[i].name, g->nodes[node].description);
		ck_assert_int_eq(rows[i].first_s, NOW);
		ck_assert_int_eq(rows[i].gone_s, 0);
		ck_assert_uint_ne(rows[i].lid, 0);
		if (rows[i].port != 0) {
			const struct port *peer = &g->ports[g->ports[port].peer];

			ck_assert_uint_eq(rows[i].switch_guid, g->nodes[peer->node].guid);
			ck_assert_uint_eq(rows[i].switch_port, peer->num);
		}
	}
	uint64_t version = state_version(fixture->state, RECORDS_KNOWN);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 20000);
	state_flush(fixture->state);
	ck_assert_uint_eq(state_version(fixture->state, RECORDS_KNOWN), version);
}
END_TEST

/* Each cable between switches has a row, which stays while one of them is gone, and goes with a node that is
 * forgotten. */
START_TEST(cables_are_known)
{
	const struct graph *g = fixture->g;
	uint64_t spine = g->nodes[g->switches[g->n_switches - 1]].guid;
	char why[200], text[24];
	size_t n;
	unsigned gone = 0, of_spine = 0;

	read_rows();
	ck_assert_uint_eq(n_cables, g->n_adj / 2);
	for (unsigned i = 0; i < n_cables; i++) {
		uint32_t node = graph_node_by_guid(g, cables[i].node_guid);
		const struct port *peer = &g->ports[g->ports[graph_port(g, node, cables[i].port)].peer];

		ck_assert_uint_eq(cables[i].switch_guid, g->nodes[peer->node].guid);
		ck_assert_uint_eq(cables[i].switch_port, peer->num);
		of_spine += cables[i].node_guid == spine || cables[i].switch_guid == spine;
	}
	unsigned all = n_cables;

	set_node(spine, false);
	read_rows();
	ck_assert_uint_eq(n_cables, all);
	for (unsigned i = 0; i < n_cables; i++) {
		ck_assert_int_eq(cables[i].gone_s != 0, cables[i].node_guid == spine ||
		                                                cables[i].switch_guid == spine);
		gone += cables[i].gone_s != 0;
	}
	ck_assert_uint_eq(gone, of_spine);
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)spine);
	ck_assert_int_eq(sweep_request_forget(fixture->sweep, text, "me", &n, why, sizeof(why)), E_OK);
	ck_assert_uint_eq(n, 1); /* the switch; cables are no end ports */
	read_rows();
	ck_assert_uint_eq(n_cables, all - of_spine);
	set_node(spine, true);
	read_rows();
	ck_assert_uint_eq(n_cables, all);
}
END_TEST

/* A host goes, saguarod is killed and starts again, the host comes back: one row all the time. */
START_TEST(gone_and_back)
{
	uint64_t guid = fixture_host_guid(fixture, 3);
	uint32_t lid = row_of(guid)->lid;

	set_node(guid, false);
	ck_assert_int_eq(row_of(guid)->gone_s, NOW);
	ck_assert_uint_eq(row_of(guid)->cause, KNOWN_LINK_DOWN);
	ck_assert_uint_eq(n_gone(), 1);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_eq(n_gone(), 1);
	ck_assert_uint_eq(row_of(guid)->lid, lid);
	ck_assert_uint_eq(row_of(guid)->cause, KNOWN_LINK_DOWN);
	set_node(guid, true);
	ck_assert_uint_eq(n_gone(), 0);
	ck_assert_uint_eq(row_of(guid)->lid, lid);
	ck_assert_uint_eq(row_of(guid)->cause, KNOWN_THERE);
}
END_TEST

/* Above the limit those that are gone for longest are dropped, and none that is there. */
START_TEST(limit)
{
	const struct graph *g = fixture->g;

	read_rows();
	fixture->config.known_nodes = g->n_end_ports + n_cables - 1;
	set_node(fixture_host_guid(fixture, 3), false);
	ck_assert_uint_eq(n_gone(), 0); /* it goes at once, because the others are there */
	ck_assert_uint_eq(n_rows, g->n_end_ports - 1);
	set_node(fixture_host_guid(fixture, 4), false);
	ck_assert_uint_eq(n_gone(), 1);
	fixture->config.known_nodes = 1;
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 20000);
	ck_assert_uint_eq(n_gone(), 0);
	ck_assert_uint_eq(n_rows, g->n_end_ports - 2);
}
END_TEST

/* Only what is gone can be forgotten; its LID is then free. */
START_TEST(forget)
{
	uint64_t guid = fixture_host_guid(fixture, 3);
	struct lid_memory *lids;
	char why[200], text[24];
	size_t n = 9, n_lids;

	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)guid);
	ck_assert_int_eq(sweep_request_forget(fixture->sweep, text, "me", &n, why, sizeof(why)),
	                 E_UNSUITABLE);
	ck_assert_int_eq(sweep_request_forget(fixture->sweep, "nobody", "me", &n, why, sizeof(why)),
	                 E_NOTFOUND);
	set_node(guid, false);
	uint64_t port = row_of(guid)->port_guid;
	ck_assert_int_eq(sweep_request_forget(fixture->sweep, text, "me", &n, why, sizeof(why)),
	                 E_OK);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(n_gone(), 0);
	ck_assert_uint_eq(n_rows, fixture->g->n_end_ports - 1);
	ck_assert_int_eq(state_lids(fixture->state, fixture->run, &lids, &n_lids), E_OK);
	for (size_t i = 0; i < n_lids; i++) {
		ck_assert_uint_ne(lids[i].guid, port);
	}
	ck_assert_int_eq(sweep_request_forget(fixture->sweep, NULL, "me", &n, why, sizeof(why)), E_OK);
	ck_assert_uint_eq(n, 0);
	set_node(guid, true); /* it is new then */
	ck_assert_uint_eq(n_gone(), 0);
	ck_assert_uint_eq(n_rows, fixture->g->n_end_ports);
}
END_TEST

TEST_SUITE(sweep_known)
{
	TCase *tc = tcase_create("known");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, all_are_known);
	tcase_add_test(tc, cables_are_known);
	tcase_add_test(tc, gone_and_back);
	tcase_add_test(tc, limit);
	tcase_add_test(tc, forget);
	suite_add_tcase(suite, tc);
}

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
#include "tests/lib/sweep_tap.h"

enum { ROWS = 64, NOW = 1700000000 };

static struct sweep_fixture *fixture;
static struct tap tap;
static struct known_node rows[ROWS], cables[ROWS];
static unsigned n_rows, n_cables;

static int64_t wall_clock(void)
{
	return NOW;
}

static void prepare(void)
{
	fixture = fixture_new();
	fixture->deps.wall_clock = wall_clock;
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
}

static void setup(void)
{
	prepare();
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

static int forget_named(const char *what, const char *word)
{
	char why[200] = "";
	size_t n;
	int ret = sweep_request_forget(fixture->sweep, what, "me", &n, why, sizeof(why));

	ck_assert_msg(strstr(why, word) != NULL, "no '%s' in: %s", word, why);
	return ret;
}

/* Two nodes with one name are gone: a GUID says which one is meant. Who is not up has
 * nothing to forget. */
START_TEST(forget_one_of_two)
{
	uint64_t guid[2] = { fixture_host_guid(fixture, 3),
		             fixture_host_guid(fixture, 4) };
	char text[24];

	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(sim_set_description(fixture->sim, guid[i], "twin"),
		                 E_OK);
	}
	fixture_run_ms(fixture, 20000);
	ck_assert_int_eq(forget_named("twin", "twin is in the fabric"), E_UNSUITABLE);
	set_node(guid[0], false);
	set_node(guid[1], false);
	ck_assert_uint_eq(n_gone(), 2);
	ck_assert_int_eq(forget_named("twin", "several nodes named 'twin' are gone"),
	                 E_AMBIGUOUS);
	ck_assert_uint_eq(n_gone(), 2);
	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)guid[1]);
	ck_assert_int_eq(forget_named(text, ""), E_OK);
	ck_assert_int_eq(row_of(guid[0])->gone_s, NOW);
	ck_assert_int_eq(forget_named("twin", ""), E_OK);
	ck_assert_uint_eq(n_gone(), 0);
	fixture_stop(fixture);
	fixture_start(fixture);
	ck_assert_int_eq(forget_named(NULL, "only a master whose subnet is up"),
	                 E_NOTREADY);
}
END_TEST

/* --- the snapshot ------------------------------------------------------------------- */

static bool has_event(enum event_kind kind)
{
	struct stats_events ev;
	struct stats_reader *r;
	bool found = false;

	ck_assert_int_eq(stats_reader_open(fixture->snap_dir, &r), E_OK);
	ck_assert_int_eq(stats_read_events(r, 0, SIZE_MAX, fixture->run, &ev), E_OK);
	stats_reader_close(r);
	for (size_t i = 0; i < ev.n; i++) {
		found |= ev.events[i].kind == kind;
	}
	return found;
}

static unsigned n_gone_in_snapshot(void)
{
	struct snap_reader *r;
	struct known_node n;
	unsigned gone = 0;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	for (int ret = snap_known_from(r, 0, 0, &n); ret == E_OK;
	     ret = snap_known_next(r, &n)) {
		gone += !known_is_cable(&n) && n.gone_s != 0;
	}
	snap_reader_close(r);
	return gone;
}

static void setup_to_read(void)
{
	prepare();
	fixture->with_stats = true;
	tap_init(&tap, fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	tap.step_ms = 10;
}

/* A reader that finds the event that a host is gone finds it gone in the snapshot, too,
 * whenever between two mirrorings it goes. */
START_TEST(mirrored_before_event)
{
	uint64_t end;

	fixture_run_ms(fixture, 5000 + 100 * (unsigned)_i);
	ck_assert(!has_event(EVENT_HOST_GONE));
	ck_assert_uint_eq(n_gone_in_snapshot(), 0);
	ck_assert_int_eq(sim_set_node(fixture->sim, fixture_host_guid(fixture, 3), false),
	                 E_OK);
	end = fixture_now(fixture) + 20000;
	while (!has_event(EVENT_HOST_GONE)) {
		state_flush(fixture->state); /* no thread of the state is late */
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		ck_assert_uint_lt(fixture_now(fixture), end);
	}
	ck_assert_uint_eq(n_gone_in_snapshot(), 1);
}
END_TEST

/* The same when we give the fabric away just then: our new state is written at once, and
 * the event with it. */
START_TEST(mirrored_before_state)
{
	char why[200];
	uint64_t end;
	uint32_t sweeps;

	tap.other_guid = fixture_host_guid(fixture, 5);
	tap.other_priority = 1;
	tap.other_state = 2;
	fixture->config.sm_priority = 5;
	fixture->config.sm_trust = SM_TRUST_ANY;
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 5000 + 100 * (unsigned)_i);
	ck_assert_int_eq(sim_set_node(fixture->sim, fixture_host_guid(fixture, 3), false),
	                 E_OK);
	sweeps = fixture_sweeps(fixture);
	end = fixture_now(fixture) + 20000;
	while (fixture_sweeps(fixture) == sweeps) {
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		ck_assert_uint_lt(fixture_now(fixture), end);
	}
	ck_assert_int_eq(sweep_request_handover(fixture->sweep, why, sizeof(why)), E_OK);
	sweep_request_light(fixture->sweep, NULL);
	while (!has_event(EVENT_HOST_GONE)) {
		state_flush(fixture->state);
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
		ck_assert_uint_lt(fixture_now(fixture), end);
	}
	ck_assert_uint_eq(n_gone_in_snapshot(), 1);
}
END_TEST

TEST_SUITE(sweep_known)
{
	TCase *r = tcase_create("snapshot");

	tcase_add_checked_fixture(r, setup_to_read, teardown);
	tcase_set_timeout(r, 120);
	tcase_add_loop_test(r, mirrored_before_event, 0, 10);
	tcase_add_loop_test(r, mirrored_before_state, 0, 10);
	suite_add_tcase(suite, r);

	TCase *tc = tcase_create("known");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, all_are_known);
	tcase_add_test(tc, cables_are_known);
	tcase_add_test(tc, gone_and_back);
	tcase_add_test(tc, limit);
	tcase_add_test(tc, forget);
	tcase_add_test(tc, forget_one_of_two);
	suite_add_tcase(suite, tc);
}

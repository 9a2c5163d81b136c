/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Acknowledgements of alarms: kept over restarts, and ended by what ends their alarm, or by the clock.
 */
#include "sa/sm/acks.h"

#include "conf/base/err.h"
#include "db/state/state.h"
#include "sa/sm/events.h"
#include "sa/sm/sm.h"
#include "sa/sm/sweep/sweep_int.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

enum { ROWS = 8, NOW = 1700000000, GUID = 0x300 };

static struct sweep_fixture *fixture;
static struct alarm_ack rows[ROWS];
static unsigned n_rows;
static int64_t clock_s;
static char why[400];

static int64_t wall_clock(void)
{
	return clock_s;
}

static void setup(void)
{
	clock_s = NOW;
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
	n_rows++;
	if (n_rows <= ROWS) {
		ck_assert_int_eq(acks_decode(key, key_len, value, len, &rows[n_rows - 1]), E_OK);
	}
	return E_OK;
}

static unsigned count(void)
{
	n_rows = 0;
	state_flush(fixture->state);
	ck_assert_int_eq(state_records(fixture->state, RECORDS_ACKS, take, NULL), E_OK);
	return n_rows;
}

/* How many are on disk now, and how many a reader sees. */
static unsigned count_stored(void)
{
	n_rows = 0;
	ck_assert_int_eq(state_records(fixture->state, RECORDS_ACKS, take, NULL), E_OK);
	return n_rows;
}

static unsigned count_shown(void)
{
	struct snap_reader *r;
	struct alarm_ack row;
	unsigned n = 0;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	for (int ret = snap_ack_first(r, &row); ret == E_OK;
	     ret = snap_ack_next(r, &row)) {
		n++;
	}
	snap_reader_close(r);
	return n;
}

static int ack(const char *id, const char *until, const char *note)
{
	return sweep_request_ack(fixture->sweep, id, until, note, "me", why, sizeof(why));
}

static int unack(const char *id)
{
	return sweep_request_unack(fixture->sweep, id, "me", why, sizeof(why));
}

static void happen(enum event_kind kind)
{
	events_note(&fixture->sweep->sm, &(struct fabric_event){ .kind = kind,
	                                                         .node_guid = GUID,
	                                                         .port = 3,
	                                                         .node = "n" });
}

static void sweep(void)
{
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 20000);
}

static const char port_id[] = "unhealthy-0x0000000000000300-3";

/* Who, when and why; once more changes it; over a restart; and taken back once. */
START_TEST(kept)
{
	ck_assert_int_eq(ack(port_id, NULL, "first"), E_OK);
	clock_s += 10;
	ck_assert_int_eq(ack(port_id, "2h", "second"), E_OK);
	ck_assert_int_eq(ack("link_down-0x0000000000000001-1", NULL, NULL), E_OK);
	ck_assert_uint_eq(count(), 2);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	ck_assert_uint_eq(count(), 2);
	ck_assert_int_eq(rows[0].ended_s, NOW + 10); /* no such cable is gone */
	ck_assert_str_eq(rows[1].id, port_id);
	ck_assert_str_eq(rows[1].by, "me");
	ck_assert_str_eq(rows[1].note, "second");
	ck_assert_int_eq(rows[1].at_s, NOW + 10);
	ck_assert_int_eq(rows[1].until_s, NOW + 10 + 7200);
	ck_assert_int_eq(unack(port_id), E_OK);
	ck_assert_int_eq(unack(port_id), E_NOTFOUND);
	ck_assert_uint_eq(count(), 1);
}
END_TEST

/* When the command returns it is on disk, and readers see it. */
START_TEST(at_once)
{
	ck_assert_int_eq(ack(port_id, NULL, "first"), E_OK);
	ck_assert_uint_eq(count_stored(), 1);
	ck_assert_uint_eq(count_shown(), 1);
	ck_assert_int_eq(unack(port_id), E_OK);
	ck_assert_uint_eq(count_stored(), 0);
	fixture_run_ms(fixture, 2000); /* mirroring rests for a moment after each time */
	ck_assert_uint_eq(count_shown(), 0);
}
END_TEST

START_TEST(refused)
{
	char id[ACK_ID_BYTES + 2] = "";

	memset(id, 'a', sizeof(id) - 1);
	ck_assert_int_eq(ack(id, NULL, NULL), E_SYNTAX);
	ck_assert_int_eq(ack("", NULL, NULL), E_SYNTAX);
	ck_assert_int_eq(ack("No", NULL, NULL), E_SYNTAX);
	ck_assert_int_eq(ack(port_id, "tomorrow", NULL), E_SYNTAX);
	ck_assert_int_eq(ack(port_id, "2001-01-01", NULL), E_RANGE);
	ck_assert_uint_eq(count(), 0);
	for (unsigned i = 0; i < ACKS_MAX; i++) {
		snprintf(id, sizeof(id), "unhealthy-0x%016x-1", i);
		ck_assert_int_eq(ack(id, NULL, NULL), E_OK);
	}
	ck_assert_int_eq(ack(port_id, NULL, NULL), E_FULL);
	ck_assert_int_eq(ack(id, NULL, "one that is there"), E_OK);
	ck_assert_uint_eq(count(), ACKS_MAX);
}
END_TEST

/* Who is not master yet, or has lost the fabric, has no alarms to acknowledge. */
START_TEST(not_ready)
{
	fixture_stop(fixture);
	fixture_start(fixture);
	ck_assert_int_eq(ack(port_id, NULL, NULL), E_NOTREADY);
	ck_assert_ptr_nonnull(strstr(why, "only a master whose subnet is up"));
	ck_assert_int_eq(unack(port_id), E_NOTREADY);
	fixture_up(fixture);
	ck_assert_int_eq(ack(port_id, NULL, NULL), E_OK);
	ck_assert_uint_eq(count(), 1);
}
END_TEST

/* An event ends the alarm, another one begins it again: soon enough, it is still acknowledged. */
START_TEST(ended_by_event)
{
	ck_assert_int_eq(ack(port_id, NULL, NULL), E_OK);
	happen(EVENT_PORT_HEALTHY);
	ck_assert_uint_eq(count(), 1);
	ck_assert_int_eq(rows[0].ended_s, NOW);
	clock_s += _i == 0 ? ACKS_QUIET_S - 1 : ACKS_QUIET_S;
	happen(EVENT_PORT_UNHEALTHY);
	ck_assert_uint_eq(count(), _i == 0 ? 1 : 0);
	ck_assert_int_eq(rows[0].ended_s, _i == 0 ? 0 : NOW);
}
END_TEST

/* Without another event a sweep takes it away. */
START_TEST(ended_by_clock)
{
	ck_assert_int_eq(ack(port_id, _i == 0 ? NULL : "30m", NULL), E_OK);
	if (_i == 0) {
		happen(EVENT_PORT_HEALTHY);
	}
	clock_s += 1799;
	sweep();
	ck_assert_uint_eq(count(), 1);
	clock_s += _i == 0 ? ACKS_QUIET_S - 1799 : 1;
	sweep();
	ck_assert_uint_eq(count(), 0);
}
END_TEST

/* A host that is gone, is back, and goes again; then it is forgotten. */
START_TEST(ended_by_fabric)
{
	uint64_t guid = fixture_host_guid(fixture, 3);
	char id[64];

	snprintf(id, sizeof(id), "host_gone-0x%016llx", (unsigned long long)guid);
	ck_assert_int_eq(sim_set_node(fixture->sim, guid, false), E_OK);
	fixture_run_ms(fixture, 20000);
	ck_assert_int_eq(ack(id, NULL, NULL), E_OK);
	sweep();
	ck_assert_uint_eq(count(), 1);
	ck_assert_int_eq(rows[0].ended_s, 0);
	ck_assert_int_eq(rows[0].until_s, 0);
	for (unsigned i = 0; i < 2; i++) {
		clock_s += 100;
		ck_assert_int_eq(sim_set_node(fixture->sim, guid, i == 0), E_OK);
		fixture_run_ms(fixture, 20000);
		ck_assert_uint_eq(count(), 1);
		ck_assert_int_eq(rows[0].ended_s, i == 0 ? clock_s : 0);
	}
	size_t n;
	ck_assert_int_eq(sweep_request_forget(fixture->sweep, NULL, "me", &n, why, sizeof(why)), E_OK);
	sweep();
	clock_s += ACKS_QUIET_S;
	sweep();
	ck_assert_uint_eq(count(), 0);
}
END_TEST

/* A system of two switches is over when one of them is there, or both are forgotten. */
START_TEST(ended_by_system)
{
	struct graph *g = fixture->g;
	uint64_t guid[2] = { g->nodes[g->switches[2]].guid,
		             g->nodes[g->switches[3]].guid };
	char id[64];
	size_t n;

	fixture_stop(fixture);
	for (unsigned i = 0; i < 2; i++) {
		uint32_t node = graph_node_by_guid(g, guid[i]);

		g->nodes[node].system_image_guid = guid[0];
	}
	fixture_start(fixture);
	fixture_up(fixture);
	snprintf(id, sizeof(id), "chassis_gone-0x%016llx", (unsigned long long)guid[0]);
	ck_assert_int_eq(sim_set_node(fixture->sim, guid[0], false), E_OK);
	ck_assert_int_eq(sim_set_node(fixture->sim, guid[1], false), E_OK);
	fixture_run_ms(fixture, 20000);
	ck_assert_int_eq(ack(id, NULL, NULL), E_OK);
	sweep();
	ck_assert_uint_eq(count(), 1);
	ck_assert_int_eq(rows[0].ended_s, 0);
	ck_assert_int_eq(rows[0].until_s, 0);
	for (unsigned i = 0; i < 2; i++) {
		clock_s += 100;
		ck_assert_int_eq(sim_set_node(fixture->sim, guid[1], i == 0), E_OK);
		fixture_run_ms(fixture, 20000);
		ck_assert_uint_eq(count(), 1);
		ck_assert_int_eq(rows[0].ended_s, i == 0 ? clock_s : 0);
	}
	ck_assert_int_eq(
		sweep_request_forget(fixture->sweep, NULL, "me", &n, why, sizeof(why)),
		E_OK);
	sweep();
	clock_s += ACKS_QUIET_S;
	sweep();
	ck_assert_uint_eq(count(), 0);
}
END_TEST

/* Of an alarm about routing nothing shows the end, so it has one. */
START_TEST(untracked)
{
	ck_assert_int_eq(ack("fallback", NULL, NULL), E_OK);
	ck_assert_uint_eq(count(), 1);
	ck_assert_int_eq(rows[0].until_s, NOW + ACKS_UNTRACKED_S);
}
END_TEST

TEST_SUITE(sweep_acks)
{
	TCase *tc = tcase_create("acks");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, kept);
	tcase_add_test(tc, at_once);
	tcase_add_test(tc, refused);
	tcase_add_test(tc, not_ready);
	tcase_add_loop_test(tc, ended_by_event, 0, 2);
	tcase_add_loop_test(tc, ended_by_clock, 0, 2);
	tcase_add_test(tc, ended_by_fabric);
	tcase_add_test(tc, ended_by_system);
	tcase_add_test(tc, untracked);
	suite_add_tcase(suite, tc);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Alias GUIDs as a sweep programs them, read back out of the simulated ports: while
 * clients set and delete some, hosts restart, links bounce and the daemon is killed. Only
 * blocks that differ are sent, and what nobody asked for stays. Ports have 20 GUIDs each.
 */
#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

#include "sa/store/alias.h"
#include "sa/store/store.h"

enum { CAP = 20, BLOCKS = 3, HOSTS_MAX = 64 };

static struct sweep_fixture *fixture;
static uint64_t seed;
static uint64_t wanted[HOSTS_MAX][BLOCKS * 8]; /* by index of the end port */

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((seed >> 33) * n >> 31);
}

static void bring_up(uint32_t drop_ppm)
{
	seed = 11;
	fixture = fixture_new();
	fixture->guid_cap = CAP;
	fixture_topo(fixture, "ft2 6 6 3", 0, 0);
	fixture_sim(fixture, 11, drop_ppm);
	fixture_start(fixture);
	ck_assert_uint_le(fixture->g->n_end_ports, HOSTS_MAX);
	memset(wanted, 0, sizeof(wanted));
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		wanted[i][0] = fixture->g->ports[fixture->g->end_ports[i]].guid;
	}
}

static void stop(void)
{
	fixture_free(fixture);
	fixture = NULL;
}

static void commit_done(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

/* One place of one port changes, or is emptied. */
static void change(struct sa_store *st)
{
	uint32_t end = below(fixture->g->n_end_ports), k = 1 + below(CAP - 1);
	uint64_t port = fixture->g->ports[fixture->g->end_ports[end]].guid;
	struct alias_block b;

	(void)alias_block(st, port, k / 8, &b);
	wanted[end][k] = below(4) ? 0x5000000 + below(1u << 24) * 8 + k % 8 : 0;
	field_set(b.guid, 64 * (k % 8), 64, wanted[end][k]);
	b.owned |= (uint8_t)(1u << k % 8);
	ck_assert_int_eq(alias_block_put(st, port, k / 8, &b), E_OK);
}

static void changes(unsigned n)
{
	struct state_batch *b;
	struct sa_store *st;
	int ret = -1;

	ck_assert_int_eq(store_new(fixture->state, 0, &st), E_OK);
	for (unsigned i = 0; i < n; i++) {
		change(st);
	}
	b = store_take_changes(st);
	if (b != NULL) {
		state_batch_commit(fixture->state, b, commit_done, &ret);
		state_flush(fixture->state);
		ck_assert_int_eq(ret, E_OK);
	}
	store_free(st);
}

static const struct node *node_of(uint32_t end)
{
	return &fixture->g->nodes[fixture->g->ports[fixture->g->end_ports[end]].node];
}

static uint64_t held(uint32_t end, unsigned k)
{
	uint8_t data[64];

	ck_assert_int_eq(sim_peek(fixture->sim, node_of(end)->guid,
	                          UMAD_SM_ATTR_GUID_INFO, k / 8, data),
	                 E_OK);
	return field_get(data, 64 * (k % 8), 64);
}

/* The tables of the ports, and what is published. */
static void check(void)
{
	struct snap_reader *r;
	struct snap_end e;

	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
		for (unsigned k = 0; k < CAP; k++) {
			ck_assert_uint_eq(held(i, k), wanted[i][k]);
			if (wanted[i][k] != 0) {
				ck_assert_int_eq(snap_port_guid(r, wanted[i][k], &e),
				                 E_OK);
				ck_assert_uint_eq(e.port_guid, wanted[i][0]);
			}
		}
	}
	snap_reader_close(r);
}

static uint64_t sets(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_GUID_INFO);
}

/* Some that were there before the daemon, then more; with MADs lost, too. */
START_TEST(set_and_deleted)
{
	uint32_t heavy;

	bring_up(_i ? 20000 : 0);
	changes(60);
	fixture_up(fixture);
	check();
	fixture_run_ms(fixture, 25000); /* the light sweep that sees ports gone ACTIVE */
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	for (unsigned round = 0; round < 20; round++) {
		changes(1 + below(8));
		fixture_run_ms(fixture, _i ? 10000 : 50);
		check();
	}
	if (_i == 0) {
		ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
	}
	stop();
}
END_TEST

/* As many Sets as blocks that differ afterwards, none where nothing does. */
START_TEST(by_difference)
{
	static uint64_t before[HOSTS_MAX][BLOCKS * 8];

	bring_up(0);
	changes(30);
	fixture_up(fixture);
	fixture_run_ms(fixture, 25000);
	for (unsigned round = 0; round < 20; round++) {
		uint64_t sent = sets();
		unsigned differ = 0;

		memcpy(before, wanted, sizeof(before));
		changes(round % 4);
		fixture_run_ms(fixture, 50);
		for (uint32_t i = 0; i < fixture->g->n_end_ports; i++) {
			for (unsigned b = 0; b < BLOCKS; b++) {
				differ += memcmp(&before[i][8 * b], &wanted[i][8 * b],
				                 64) != 0;
			}
		}
		ck_assert_uint_eq(sets() - sent, differ);
	}
	stop();
}
END_TEST

/* A host that restarts has lost its own; one whose link bounces has not. */
START_TEST(hosts_restart)
{
	uint32_t end = 0;
	uint64_t sent;

	bring_up(0);
	changes(200);
	fixture_up(fixture);
	while (node_of(end)->type == NODE_SWITCH || wanted[end][9] == 0) {
		end++;
	}
	fixture_run_ms(fixture, 25000);
	sent = sets();
	ck_assert_int_eq(sim_set_node(fixture->sim, node_of(end)->guid, false), E_OK);
	fixture_run_ms(fixture, 30000);
	ck_assert_int_eq(sim_set_node(fixture->sim, node_of(end)->guid, true), E_OK);
	fixture_run_ms(fixture, 30000);
	check();
	ck_assert_uint_eq(sets(), sent);
	ck_assert_int_eq(sim_reboot(fixture->sim, node_of(end)->guid), E_OK);
	ck_assert_uint_eq(held(end, 9), 0);
	fixture_run_ms(fixture, 30000);
	check();
	ck_assert_uint_gt(sets(), sent);
	stop();
}
END_TEST

/* Somebody else empties a block that clients have filled. */
START_TEST(changed_behind_our_back)
{
	static const uint8_t none[64];
	uint32_t end = 0;

	bring_up(0);
	changes(200);
	fixture_up(fixture);
	while (node_of(end)->type == NODE_SWITCH || wanted[end][9] == 0) {
		end++;
	}
	ck_assert_int_eq(sim_poke(fixture->sim, node_of(end)->guid,
	                          UMAD_SM_ATTR_GUID_INFO, 1, none),
	                 E_OK);
	sweep_request_audit(fixture->sweep, NULL);
	fixture_heavy(fixture, sweep_status(fixture->sweep)->heavy_sweeps + 1);
	check();
	stop();
}
END_TEST

/* A daemon that was killed finds what it wanted, and sends nothing; what changed while it
 * was not there is sent. */
START_TEST(daemon_restarts)
{
	uint64_t sent;

	bring_up(0);
	changes(60);
	fixture_up(fixture);
	sent = sets();
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	check();
	ck_assert_uint_eq(sets(), sent);
	changes(10);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	check();
	ck_assert_uint_gt(sets(), sent);
	stop();
}
END_TEST

/* Without our state the ports keep what they have: another subnet manager gave it. */
START_TEST(foreign_guids_stay)
{
	uint64_t sent;

	bring_up(0);
	changes(60);
	fixture_up(fixture);
	sent = sets();
	fixture_stop(fixture);
	ck_assert_int_lt(snprintf(fixture->state_dir, sizeof(fixture->state_dir),
	                          "%s/other", fixture->dir),
	                 (int)sizeof(fixture->state_dir));
	fixture_start(fixture);
	fixture_up(fixture);
	check();
	ck_assert_uint_eq(sets(), sent);
	stop();
}
END_TEST

TEST_SUITE(sweep_guids)
{
	TCase *tc = tcase_create("guids");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, set_and_deleted, 0, 2);
	tcase_add_test(tc, by_difference);
	tcase_add_test(tc, hosts_restart);
	tcase_add_test(tc, changed_behind_our_back);
	tcase_add_test(tc, daemon_restarts);
	tcase_add_test(tc, foreign_guids_stay);
	suite_add_tcase(suite, tc);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Multicast tables as a sweep programs them, read back out of the simulated switches:
 * packets of every group reach its members once, while members come and go, switches
 * restart, cables fail and the daemon is killed. Only blocks that differ are sent.
 */
#include "sa/sim/sim_state.h"
#include "tests/lib/mcast_walk.h"
#include "tests/lib/suite.h"
#include "tests/lib/sweep_tap.h"

#include "sa/mad/transport.h"
#include "sa/sm/sm.h"
#include "sa/sm/sweep/client_tables.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"

enum { GROUPS = 5, BLOCKS = 2, POSITIONS = 3 };

static struct sweep_fixture *fixture;
static uint64_t seed;

static uint32_t below(uint32_t n)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (uint32_t)((seed * UINT64_C(2685821657736338717) >> 32) * n >> 32);
}

/* The expected members of each group. */
struct wanted {
	uint8_t state[GROUPS][4096]; /* JoinState by index of the end port */
};
static struct wanted *wanted;

/* PortGUID of an end port: an Omni-Path device has one of its own. */
static uint64_t guid_of(unsigned end)
{
	uint32_t port = fixture->g->end_ports[end];

	return fixture->omni_path ? sim_opa_port(fixture->sim, port)->guid
	                          : fixture->g->ports[port].guid;
}

static uint32_t mlid_of(unsigned group)
{
	return MLID_FIRST + group * 9; /* of two blocks */
}

static void mgid_of(unsigned group, uint8_t mgid[MGID_BYTES])
{
	memset(mgid, 0, MGID_BYTES);
	mgid[0] = 0xff;
	mgid[1] = 0x18;
	mgid[15] = (uint8_t)group;
}

static void commit_done(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

static void commit(struct sa_store *st)
{
	struct state_batch *b = store_take_changes(st);
	int ret = -1;

	if (b != NULL) {
		state_batch_commit(fixture->state, b, commit_done, &ret);
		state_flush(fixture->state);
		ck_assert_int_eq(ret, E_OK);
	}
}

static void keep_groups(struct sa_store *st)
{
	for (unsigned i = 0; i < GROUPS; i++) {
		struct mcast_group_row g = { .well_known = 1 };

		mgid_of(i, g.record);
		mcast_put(g.record, MC_MLID, mlid_of(i));
		ck_assert_int_eq(mcast_group_put(st, &g), E_OK);
	}
}

/* One end port joins, changes or leaves. */
static void change(struct sa_store *st)
{
	unsigned group = below(GROUPS), end = below(fixture->g->n_end_ports);
	uint64_t guid = guid_of(end);
	struct mcast_member_row m = { .port_guid = guid };
	uint8_t mgid[MGID_BYTES], gid[MGID_BYTES] = { 0xfe, 0x80 };

	mgid_of(group, mgid);
	field_set(gid, 64, 64, guid);
	if (wanted->state[group][end] && below(2)) {
		ck_assert_int_eq(mcast_member_leave(st, mgid, gid), E_OK);
		wanted->state[group][end] = 0;
		return;
	}
	m.join_state = (uint8_t)(1 << below(4));
	ck_assert_int_eq(mcast_member_put(st, mgid, gid, &m), E_OK);
	wanted->state[group][end] = m.join_state;
}

static void changes(unsigned n)
{
	struct sa_store *st;

	ck_assert_int_eq(store_new(fixture->state, 0, &st), E_OK);
	keep_groups(st);
	for (unsigned i = 0; i < n; i++) {
		change(st);
	}
	commit(st);
	store_free(st);
}

/* A block of InfiniBand's shape out of an Omni-Path device. */
static void peek_opa(uint32_t sw, unsigned pos, unsigned block, uint8_t *data)
{
	const struct opa_device *d = fixture->sim->opa[fixture->g->switches[sw]].device;
	const uint64_t *masks = d->mft[pos / 4];

	for (unsigned i = 0; masks != NULL && i < MFT_BLOCK_MLIDS; i++) {
		field_set(data, 16 * i, 16,
		          masks[block * MFT_BLOCK_MLIDS + i] >> pos % 4 * 16);
	}
}

static const uint8_t *peek(uint32_t sw, unsigned pos, unsigned block)
{
	static uint8_t data[64];

	memset(data, 0, sizeof(data));
	if (fixture->omni_path) {
		peek_opa(sw, pos, block, data);
		return data;
	}
	(void)sim_peek(fixture->sim, fixture->g->nodes[fixture->g->switches[sw]].guid,
	               UMAD_SM_ATTR_MCAST_FT, (uint32_t)pos << 28 | block, data);
	return data;
}

/* Ports of one MLID in all switches, as they have them. */
static bool *masks(uint32_t mlid, struct arena *a)
{
	bool *on =
		arena_array(a, (size_t)fixture->g->n_switches * MCAST_PORTS, sizeof(*on));
	uint32_t row = mlid - MLID_FIRST;

	for (uint32_t s = 0; s < fixture->g->n_switches; s++) {
		for (unsigned pos = 0; pos < POSITIONS; pos++) {
			const uint8_t *data = peek(s, pos, row / MFT_BLOCK_MLIDS);
			uint64_t mask = field_get(data, row % MFT_BLOCK_MLIDS * 16, 16);

			for (unsigned k = 0; k < 16; k++) {
				on[s * MCAST_PORTS + pos * 16 + k] = mask >> k & 1;
			}
		}
	}
	return on;
}

/* Sends packets of all groups through the fabric \a g, which has these tables. */
static void check_tables(const struct graph *g)
{
	struct arena *a = arena_new();

	for (unsigned i = 0; i < GROUPS; i++) {
		struct mcast_member *m =
			arena_array(a, fixture->g->n_end_ports, sizeof(*m));
		struct mcast_group group = { .mlid = mlid_of(i), .members = m };
		uint32_t receivers = 0;

		for (uint32_t k = 0; k < fixture->g->n_end_ports; k++) {
			uint8_t state = wanted->state[i][k];

			if (state) {
				m[group.n].port = fixture->g->end_ports[k];
				m[group.n++].sends_only = (state & MC_RECEIVES) == 0;
				receivers += (state & MC_RECEIVES) != 0;
			}
		}
		check_group(g, &group, group.n > 1 && receivers, masks(mlid_of(i), a), a);
	}
	arena_free(a);
}

static uint64_t sets(void)
{
	return sim_count(fixture->sim, UMAD_METHOD_SET, UMAD_SM_ATTR_MCAST_FT);
}

static bool on_omni_path;

static void bring_up(const char *topo, uint64_t with_seed, uint32_t drop_ppm)
{
	seed = with_seed;
	wanted = calloc(1, sizeof(*wanted));
	fixture = fixture_new();
	fixture->omni_path = on_omni_path;
	fixture_topo(fixture, topo, 0, 0);
	fixture_sim(fixture, (uint32_t)with_seed, drop_ppm);
	fixture_start(fixture);
	ck_assert_uint_le(fixture->g->n_end_ports, 4096);
}

static void stop(void)
{
	on_omni_path = false;
	fixture_free(fixture);
	fixture = NULL;
	free(wanted);
	wanted = NULL;
}

static const char *const topos[] = { "ft2 6 6 3", "torus 3x3 2", "ft3 4" };

enum { TOPOS = sizeof(topos) / sizeof(topos[0]) };

/* The topologies, on InfiniBand and then on Omni-Path. */
static void bring_up_either(unsigned i, uint64_t with_seed)
{
	on_omni_path = i >= TOPOS;
	bring_up(topos[i % TOPOS], with_seed, 0);
}

/* Groups that were there before the daemon, then members that come and go. */
START_TEST(members_come_and_go)
{
	uint32_t heavy;

	bring_up_either((unsigned)_i, 7);
	changes(40);
	fixture_up(fixture);
	check_tables(fixture->g);
	fixture_run_ms(fixture, 25000); /* the light sweep that sees ports gone ACTIVE */
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	for (unsigned round = 0; round < 25; round++) {
		changes(1 + below(6));
		fixture_run_ms(fixture, 100);
		check_tables(fixture->g);
	}
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
}
END_TEST

typedef uint8_t all_tables[POSITIONS][BLOCKS][64];

static all_tables *all(struct arena *a)
{
	all_tables *t = arena_array(a, fixture->g->n_switches, sizeof(*t));

	for (uint32_t s = 0; s < fixture->g->n_switches; s++) {
		for (unsigned pos = 0; pos < POSITIONS; pos++) {
			for (unsigned b = 0; b < BLOCKS; b++) {
				memcpy(t[s][pos][b], peek(s, pos, b), 64);
			}
		}
	}
	return t;
}

static uint64_t fixed_now(struct transport *t)
{
	(void)t;
	return 100000;
}

/* A step is followed by a pause as long as it took, but by a second at most. */
START_TEST(pause_after_a_step)
{
	const struct transport_ops ops = { .now_ms = fixed_now };
	struct transport t = { .ops = &ops };
	struct sm sm = { .d.transport = &t };
	struct client_tables c = { .sm = &sm, .began = 100000 - (unsigned)_i };

	client_tables_pause(&c);
	ck_assert_uint_eq(c.next, 100000 + (_i < 1000 ? (unsigned)_i : 1000));
}
END_TEST

static bool is_multicast_set(const uint8_t *mad)
{
	return mad[3] == UMAD_METHOD_SET &&
	       (mad[16] << 8 | mad[17]) == UMAD_SM_ATTR_MCAST_FT;
}

/* Switches that do not take a table are looked at by a heavy sweep, which brings it. */
START_TEST(unanswered_tables)
{
	struct tap tap;
	uint32_t heavy;

	fixture = fixture_new();
	fixture_topo(fixture, "ft2 6 6 3", 0, 0);
	fixture_sim(fixture, 1, 0);
	fixture->config.sweep_interval = 0; /* nothing else begins one */
	tap_init(&tap, fixture);
	seed = 29;
	wanted = calloc(1, sizeof(*wanted));
	fixture_start(fixture);
	fixture_up(fixture);
	fixture_run_ms(fixture, 30000);
	heavy = sweep_status(fixture->sweep)->heavy_sweeps;
	tap.loses = is_multicast_set;
	changes(30);
	fixture_run_ms(fixture, 3000);
	tap.loses = NULL;
	fixture_run_ms(fixture, 60000);
	fixture_up(fixture);
	ck_assert_uint_gt(sweep_status(fixture->sweep)->heavy_sweeps, heavy);
	check_tables(fixture->g);
}
END_TEST

/* Every end port joins or leaves a group. */
static void all_members(unsigned group, bool join)
{
	struct mcast_group_row g = { .well_known = 0 };
	struct sa_store *st;

	ck_assert_int_eq(store_new(fixture->state, 0, &st), E_OK);
	mgid_of(group, g.record);
	mcast_put(g.record, MC_MLID, mlid_of(group));
	ck_assert_int_eq(join ? mcast_group_put(st, &g) : E_OK, E_OK);
	for (uint32_t k = 0; k < fixture->g->n_end_ports; k++) {
		struct mcast_member_row m = { .join_state = 1 };
		uint8_t gid[MGID_BYTES] = { 0xfe, 0x80 };

		m.port_guid = guid_of(k);
		field_set(gid, 64, 64, m.port_guid);
		ck_assert_int_eq(join ? mcast_member_put(st, g.record, gid, &m)
		                      : mcast_member_leave(st, g.record, gid),
		                 E_OK);
	}
	commit(st);
	store_free(st);
}

/* Entries of one block in all switches that are not 0. */
static unsigned entries_in(unsigned block)
{
	unsigned n = 0;

	for (uint32_t s = 0; s < fixture->g->n_switches; s++) {
		for (unsigned pos = 0; pos < POSITIONS; pos++) {
			const uint8_t *data = peek(s, pos, block);

			for (unsigned i = 0; i < 64; i++) {
				n += data[i] != 0;
			}
		}
	}
	return n;
}

/* The last group of a block ends: the block is cleared on all switches, whether a block
 * behind it or before it is still in use. */
START_TEST(block_without_groups)
{
	const unsigned goes = _i ? 4 : 0, stays = _i ? 0 : 4; /* of different blocks */
	unsigned left;

	bring_up("ft2 6 6 3", 23, 0);
	fixture_up(fixture);
	all_members(goes, true);
	all_members(stays, true);
	fixture_run_ms(fixture, 100);
	left = entries_in(stays == 4);
	ck_assert_uint_gt(left, 0);
	ck_assert_uint_gt(entries_in(goes == 4), 0);
	all_members(goes, false);
	fixture_run_ms(fixture, 100);
	ck_assert_uint_eq(entries_in(goes == 4), 0);
	ck_assert_uint_eq(entries_in(stays == 4), left);
}
END_TEST

/* As many Sets as blocks that differ afterwards; none where nothing does. */
START_TEST(by_difference)
{
	struct arena *a = arena_new();

	bring_up(topos[_i], 3, 0);
	changes(30);
	fixture_up(fixture);
	for (unsigned round = 0; round < 20; round++) {
		all_tables *before = all(a), *after;
		uint64_t sent = sets();
		unsigned differ = 0;

		changes(round % 4);
		fixture_run_ms(fixture, 100);
		after = all(a);
		for (uint32_t s = 0; s < fixture->g->n_switches; s++) {
			for (unsigned k = 0; k < POSITIONS * BLOCKS; k++) {
				differ +=
					memcmp(before[s][k / BLOCKS][k % BLOCKS],
				               after[s][k / BLOCKS][k % BLOCKS], 64) != 0;
			}
		}
		ck_assert_uint_eq(sets() - sent, differ);
	}
	arena_free(a);
}
END_TEST

START_TEST(lost_mads)
{
	bring_up("ft2 6 6 3", 11 + (unsigned)_i, 20000);
	changes(40);
	fixture_up(fixture);
	check_tables(fixture->g);
	for (unsigned round = 0; round < 10; round++) {
		changes(4);
		fixture_run_ms(fixture, 20000);
		fixture_up(fixture);
		check_tables(fixture->g);
	}
}
END_TEST

/* A switch that restarts gets its tables again. */
START_TEST(switch_restarts)
{
	uint32_t sw = (unsigned)_i;

	bring_up("ft2 6 6 3", 5, 0);
	changes(60);
	fixture_up(fixture);
	ck_assert_int_eq(sim_reboot(fixture->sim,
	                            fixture->g->nodes[fixture->g->switches[sw]].guid),
	                 E_OK);
	fixture_run_ms(fixture, 60000);
	fixture_up(fixture);
	check_tables(fixture->g);
}
END_TEST

/* Somebody else overwrites blocks that groups use. */
START_TEST(changed_behind_our_back)
{
	bring_up(topos[_i], 19, 0);
	changes(60);
	fixture_up(fixture);
	for (unsigned round = 0; round < 10; round++) {
		uint32_t sw = below(fixture->g->n_switches), block = below(BLOCKS);
		uint8_t data[64];

		memcpy(data, peek(sw, 0, block), sizeof(data));
		data[below(sizeof(data))] ^= (uint8_t)(1 + below(255));
		ck_assert_int_eq(
			sim_poke(fixture->sim,
		                 fixture->g->nodes[fixture->g->switches[sw]].guid,
		                 UMAD_SM_ATTR_MCAST_FT, block, data),
			E_OK);
		sweep_request_audit(fixture->sweep, NULL);
		fixture_heavy(fixture, sweep_status(fixture->sweep)->heavy_sweeps + 1);
		check_tables(fixture->g);
		ck_assert_uint_eq(sweep_status(fixture->sweep)->tables_changed,
		                  round + 1);
	}
}
END_TEST

/* The daemon is killed and made anew over the same fabric and state. */
START_TEST(daemon_restarts)
{
	bring_up_either((unsigned)_i, 13);
	changes(50);
	fixture_up(fixture);
	fixture_stop(fixture);
	fixture_start(fixture);
	fixture_up(fixture);
	check_tables(fixture->g);
	changes(5);
	fixture_run_ms(fixture, 100);
	check_tables(fixture->g);
}
END_TEST

/* Cables between switches fail one after another: trees lead around them. */
START_TEST(cables_fail)
{
	const struct graph *g;
	struct graph *now;

	bring_up("ft2 6 6 3", 17, 0);
	changes(60);
	fixture_up(fixture);
	g = fixture->g;
	for (unsigned round = 0; round < 3; round++) {
		const struct sw_link *l = &g->adj[g->adj_first[round] + round];
		uint32_t near = graph_port(g, g->switches[round], l->port);

		now = arena_alloc(fixture->a, sizeof(*now));
		*now = *g;
		now->ports = arena_array(fixture->a, g->n_ports, sizeof(*g->ports));
		memcpy(now->ports, g->ports, g->n_ports * sizeof(*g->ports));
		now->ports[now->ports[near].peer].peer = GRAPH_NONE;
		now->ports[near].peer = GRAPH_NONE;
		ck_assert_int_eq(sim_set_link(fixture->sim,
		                              g->nodes[g->switches[round]].guid, l->port,
		                              false),
		                 E_OK);
		fixture_run_ms(fixture, 60000);
		fixture_up(fixture);
		check_tables(now); /* a packet out of the dead port is an error */
		g = now;
	}
}
END_TEST

/* The programmed tables are published. */
START_TEST(published)
{
	struct snap_reader *r;

	bring_up("ft2 6 6 3", 23, 0);
	changes(60);
	fixture_up(fixture);
	changes(10);
	fixture_run_ms(fixture, 100);
	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	ck_assert_uint_eq(snap_meta(r)->multicast_fdb_cap, 1024);
	for (uint32_t s = 0; s < fixture->g->n_switches; s++) {
		const uint8_t *data;
		uint16_t len;

		ck_assert_int_eq(
			snap_attr(r, UMAD_SM_ATTR_MCAST_FT,
		                  fixture->g->nodes[fixture->g->switches[s]].guid, 1,
		                  &data, &len),
			E_OK);
		ck_assert_mem_eq(data, peek(s, 0, 1), 64);
	}
	snap_reader_close(r);
}
END_TEST

static int count_row(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                     size_t len)
{
	size_t *n = ctx;

	(void)key;
	(void)key_len;
	(void)value;
	(void)len;
	++*n;
	return E_OK;
}

/* Groups and members are in the snapshot a heartbeat later, of the same epoch. */
START_TEST(mirrored)
{
	struct snap_reader *r;

	bring_up("ft2 6 6 3", 29, 0);
	changes(30);
	fixture_up(fixture);
	fixture_run_ms(fixture, 30000); /* light sweeps are over */
	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	for (unsigned round = 0; round < 10; round++) {
		uint64_t epoch = sweep_status(fixture->sweep)->epoch;
		changes(1 + below(20));
		fixture_run_ms(fixture, 1100);
		ck_assert_int_eq(snap_pin(r), E_OK);
		ck_assert_uint_eq(snap_meta(r)->epoch, epoch);
		for (unsigned k = RECORDS_GROUPS; k <= RECORDS_MEMBERS; k++) {
			struct client_row row;
			size_t n = 0, found = 0;
			int ret = snap_client_row_from(r, (enum record_table)k, "", 0,
			                               &row);
			for (; ret == E_OK; found++) {
				ret = snap_client_row_next(r, (enum record_table)k, &row);
			}
			ck_assert_int_eq(state_records(fixture->state,
			                               (enum record_table)k, count_row,
			                               &n),
			                 E_OK);
			ck_assert_uint_eq(found, n);
			ck_assert_uint_gt(n, 0);
		}
	}
	snap_reader_close(r);
}
END_TEST

/* disable_multicast: tables stay as they are. */
START_TEST(disabled)
{
	bring_up("ft2 6 6 3", 31, 0);
	fixture->config.disable_multicast = true;
	changes(30);
	fixture_up(fixture);
	changes(10);
	fixture_run_ms(fixture, 2000);
	ck_assert_uint_eq(sets(), 0);
	ck_assert_uint_eq(sweep_status(fixture->sweep)->heavy_sweeps, 1);
}
END_TEST

/* One end port joins the first group, or leaves it. */
static void join(unsigned end, bool there)
{
	uint64_t guid = guid_of(end);
	struct mcast_member_row m = { .port_guid = guid, .join_state = MC_FULL_MEMBER };
	uint8_t mgid[MGID_BYTES], gid[MGID_BYTES] = { 0xfe, 0x80 };
	struct sa_store *st;

	mgid_of(0, mgid);
	field_set(gid, 64, 64, guid);
	ck_assert_int_eq(store_new(fixture->state, 0, &st), E_OK);
	ck_assert_int_eq(there ? mcast_member_put(st, mgid, gid, &m)
	                       : mcast_member_leave(st, mgid, gid),
	                 E_OK);
	wanted->state[0][end] = there ? m.join_state : 0;
	commit(st);
	store_free(st);
}

/* Each join while tables are being sent makes one more step, and so on without end:
 * light sweeps go on beside it. */
START_TEST(a_flood_of_joins)
{
	const struct sim_options o = { .virtual_clock = true,
		                       .seed = 5,
		                       .delay_us = 2000 };
	uint64_t sets_seen = UINT64_MAX;

	fixture = fixture_new();
	wanted = calloc(1, sizeof(*wanted));
	seed = 5;
	fixture->config.sweep_interval = 1;
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	ck_assert_int_eq(sim_new(fixture->g, &o, false, &fixture->sim), E_OK);
	fixture_start(fixture);
	changes(0);
	for (unsigned i = 0; i < fixture->g->n_end_ports; i++) {
		join(i, true);
	}
	fixture_up(fixture);
	fixture_run_ms(fixture, 5000); /* the heavy sweep for ports gone ACTIVE */
	uint32_t light = sweep_status(fixture->sweep)->light_sweeps;
	uint64_t end = fixture_now(fixture) + 5000,
		 first = sweep_status(fixture->sweep)->mft_sets;
	bool there = false;
	join(1, there);
	while (fixture_now(fixture) < end) {
		const struct sweep_status *status = sweep_status(fixture->sweep);
		if (strcmp(status->phase, "multicast") == 0 &&
		    status->mft_sets != sets_seen) {
			sets_seen = status->mft_sets;
			there = !there;
			join(1, there);
		}
		ck_assert_int_eq(sweep_run_once(fixture->sweep), E_OK);
	}
	ck_assert_uint_gt(sweep_status(fixture->sweep)->mft_sets, first + 100);
	ck_assert_uint_ge(sweep_status(fixture->sweep)->light_sweeps, light + 3);
	fixture_run_ms(fixture, 3000);
	check_tables(fixture->g);
}
END_TEST

TEST_SUITE(sweep_mcast)
{
	TCase *t = tcase_create("sweep multicast");
	int n = (int)(sizeof(topos) / sizeof(*topos));

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, NULL, stop);
	tcase_add_loop_test(t, members_come_and_go, 0, 2 * n);
	tcase_add_loop_test(t, block_without_groups, 0, 2);
	tcase_add_loop_test(t, by_difference, 0, n);
	tcase_add_loop_test(t, lost_mads, 0, 2);
	tcase_add_loop_test(t, switch_restarts, 0, 3);
	tcase_add_loop_test(t, changed_behind_our_back, 0, n);
	tcase_add_loop_test(t, daemon_restarts, 0, 2 * n);
	tcase_add_test(t, cables_fail);
	tcase_add_test(t, unanswered_tables);
	tcase_add_test(t, published);
	tcase_add_test(t, mirrored);
	tcase_add_test(t, disabled);
	tcase_add_test(t, a_flood_of_joins);
	suite_add_tcase(suite, t);
	t = tcase_create("pause");
	tcase_add_loop_test(t, pause_after_a_step, 999, 1002);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Records that clients write, in the snapshot of a daemon that runs: joins, leaves,
 * services with and without leases and subscriptions at random, with mirrorings,
 * publishes, restarts and deaths at random moments between them. The snapshot then has what the
 * durable state has without ServiceKeys, and byte for byte what a daemon
 * writes into an empty one.
 */
#include <signal.h>
#include <sys/wait.h>

#include "tests/lib/suite.h"
#include "tests/lib/sweep_fixture.h"

#include "routing/multicast.h"
#include "sa/store/mcast.h"
#include "sa/store/service.h"
#include "sa/store/store.h"
#include "sa/store/subscription.h"

enum { GROUPS = 6, KEYS = 40, BYTES = 4 << 20, SETTLED_MS = 2500 };

static struct sweep_fixture *fixture;
static struct sa_store *st;
static uint64_t seed;
static int64_t now_s;

/* All rows: table, length of key, length of value, key, value. */
struct image {
	uint8_t bytes[BYTES];
	size_t len, rows;
};
static struct image wanted, got, rewritten;

static unsigned dice(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

/* --- what clients do --- */

static void mgid_of(unsigned group, uint8_t mgid[MGID_BYTES])
{
	memset(mgid, 0, MGID_BYTES);
	mgid[0] = 0xff;
	mgid[1] = 0x18;
	mgid[15] = (uint8_t)group;
}

static uint64_t some_port(void)
{
	return fixture->g->ports[fixture->g->end_ports[dice(fixture->g->n_end_ports)]]
	        .guid;
}

/* The group comes and goes with its members. */
static void join(unsigned group)
{
	struct mcast_member_row m = { .port_guid = some_port() };
	struct mcast_group_row g = { .well_known = 0 };
	uint8_t gid[MGID_BYTES] = { 0xfe, 0x80 };

	mgid_of(group, g.record);
	mcast_put(g.record, MC_MLID, MLID_FIRST + group);
	field_set(gid, 64, 64, m.port_guid);
	m.join_state = (uint8_t)(dice(4) ? MC_FULL_MEMBER : MC_SEND_ONLY_NON_MEMBER);
	ck_assert_int_eq(mcast_group_put(st, &g), E_OK);
	ck_assert_int_eq(mcast_member_put(st, g.record, gid, &m), E_OK);
}

static void leave(unsigned group)
{
	uint8_t mgid[MGID_BYTES], gid[MGID_BYTES] = { 0xfe, 0x80 };

	mgid_of(group, mgid);
	field_set(gid, 64, 64, some_port());
	int ret = mcast_member_leave(st, mgid, gid);
	ck_assert(ret == E_OK || ret == E_NOTFOUND);
}

static void serve(void)
{
	uint8_t value[SERVICE_ROW_BYTES], key[SERVICE_KEY_BYTES] = { 0 };

	for (unsigned i = 0; i < sizeof(value); i++) { /* with a ServiceKey */
		value[i] = (uint8_t)dice(256);
	}
	field_set(key, 0, 64, dice(KEYS));
	if (dice(3) == 0) {
		int ret = store_drop(st, RECORDS_SERVICES, key, sizeof(key));
		ck_assert(ret == E_OK || ret == E_NOTFOUND);
		return;
	}
	ck_assert_int_eq(store_put(st, RECORDS_SERVICES, key, sizeof(key),
	                           dice(2) ? STORE_FOR_EVER : now_s + 1 + dice(20), value,
	                           sizeof(value)),
	                 E_OK);
}

static void subscribe(void)
{
	struct subscription s = { .qpn = dice(3), .number = (uint16_t)dice(4) };
	uint8_t key[SUBSCRIPTION_KEY_BYTES] = { 0 };

	field_set(key, 0, 64, some_port());
	field_set(key, 64, 16, dice(4));
	if (dice(3) == 0) {
		int ret = store_drop(st, RECORDS_SUBSCRIPTIONS, key, sizeof(key));
		ck_assert(ret == E_OK || ret == E_NOTFOUND);
		return;
	}
	ck_assert_int_eq(store_put(st, RECORDS_SUBSCRIPTIONS, key, sizeof(key),
	                           STORE_FOR_EVER, &s, sizeof(s)),
	                 E_OK);
}

static void ignore(void *ctx, int ret)
{
	(void)ctx;
	ck_assert_int_eq(ret, E_OK);
}

static void commit(void)
{
	struct state_batch *b = store_take_changes(st);

	if (b != NULL) {
		state_batch_commit(fixture->state, b, ignore, NULL);
	}
}

/* Each change is a commit of its own, as each request is; several may share a turn of the
 * writing thread. */
static void change_some(unsigned n)
{
	struct store_event *events;

	for (unsigned i = 0; i < n; i++) {
		switch (dice(6)) {
		case 0: serve(); break;
		case 1: subscribe(); break;
		case 2: ck_assert_int_eq(store_expire(st, now_s += dice(3)), E_OK); break;
		case 3: leave(dice(GROUPS)); break;
		default: join(dice(GROUPS)); break;
		}
		commit();
	}
	(void)store_take_events(st, &events);
	free(events);
}

/* --- images --- */

static void add(struct image *m, enum record_table table, const void *key, size_t key_len,
                const void *value, size_t len)
{
	const uint32_t head[3] = { table, (uint32_t)key_len, (uint32_t)len };

	ck_assert_uint_le(m->len + sizeof(head) + key_len + len, BYTES);
	memcpy(m->bytes + m->len, head, sizeof(head));
	memcpy(m->bytes + m->len + sizeof(head), key, key_len);
	memcpy(m->bytes + m->len + sizeof(head) + key_len, value, len);
	m->len += sizeof(head) + key_len + len;
	m->rows++;
}

static void read_snapshot(struct image *m)
{
	struct snap_reader *r;
	struct client_row row;

	m->len = m->rows = 0;
	ck_assert_int_eq(snap_reader_local(fixture->snap, &r), E_OK);
	ck_assert_int_eq(snap_pin(r), E_OK);
	for (unsigned t = RECORDS_MIRRORED_FIRST; t < RECORDS_MIRRORED_END; t++) {
		int ret = snap_client_row_from(r, (enum record_table)t, "", 0, &row);
		for (; ret == E_OK; ret = snap_client_row_next(r, row.table, &row)) {
			add(m, row.table, row.key, row.key_len, row.value, row.len);
		}
		ck_assert_int_eq(ret, E_NOTFOUND);
	}
	snap_reader_close(r);
}

static enum record_table reading;

static int add_wanted(void *ctx, const uint8_t *key, size_t key_len, const uint8_t *value,
                      size_t len)
{
	uint8_t copy[512];

	ck_assert_uint_le(len, sizeof(copy));
	memcpy(copy, value, len);
	if (reading == RECORDS_SERVICES) {
		service_hide(copy + sizeof(int64_t), len - sizeof(int64_t));
	}
	add(ctx, reading, key, key_len, copy, len);
	return E_OK;
}

static void read_state(struct image *m)
{
	m->len = m->rows = 0;
	for (unsigned t = RECORDS_MIRRORED_FIRST; t < RECORDS_MIRRORED_END; t++) {
		reading = (enum record_table)t;
		ck_assert_int_eq(state_records(fixture->state, reading, add_wanted, m),
		                 E_OK);
	}
}

static void same(const struct image *a, const struct image *b)
{
	ck_assert_uint_eq(a->rows, b->rows);
	ck_assert_uint_eq(a->len, b->len);
	ck_assert_int_eq(memcmp(a->bytes, b->bytes, a->len), 0);
}

static void settle(void)
{
	state_flush(fixture->state);
	fixture_up(fixture);
	fixture_run_ms(fixture, SETTLED_MS);
	read_state(&wanted);
	read_snapshot(&got);
	same(&wanted, &got);
}

/* --- life --- */

static void start(void)
{
	fixture_start(fixture);
	ck_assert_int_eq(store_new(fixture->state, now_s, &st), E_OK);
}

static void stop(void)
{
	commit();
	store_free(st);
	st = NULL;
	fixture_stop(fixture);
}

static void setup(void)
{
	now_s = 1000;
	fixture = fixture_new();
	fixture_topo(fixture, "ft2 4 4 2", 0, 0);
	fixture_sim(fixture, 1, 0);
}

static void teardown(void)
{
	store_free(st);
	st = NULL;
	fixture_free(fixture);
}

/* The same records in a snapshot that had none. */
static void rewrite(void)
{
	char aside[100];

	stop();
	snprintf(aside, sizeof(aside), "%s/aside", fixture->dir);
	ck_assert_int_eq(rename(fixture->snap_dir, aside), 0);
	start();
	settle();
	read_snapshot(&rewritten);
}

START_TEST(at_random)
{
	seed = 100 + (unsigned)_i;
	start();
	fixture_up(fixture);
	for (unsigned round = 0; round < 120; round++) {
		change_some(dice(30));
		switch (dice(10)) {
		case 0: sweep_request_heavy(fixture->sweep); break;
		case 1: settle(); break;
		case 2:
			stop();
			start();
			break;
		default: fixture_run_ms(fixture, dice(1500)); break;
		}
	}
	settle();
	struct image *last = malloc(sizeof(*last));
	ck_assert_ptr_nonnull(last);
	*last = got;
	ck_assert_uint_gt(last->rows, 50);
	rewrite();
	same(last, &rewritten);
	free(last);
}
END_TEST

/* A daemon that is killed while it mirrors. It says over a pipe how far it is. */
static void run_until_killed(int fd)
{
	start();
	fixture_up(fixture);
	for (;;) {
		change_some(dice(200));
		state_flush(fixture->state);
		(void)!write(fd, "", 1);
		fixture_run_ms(fixture, 1000);
	}
}

START_TEST(killed)
{
	for (unsigned round = 0; round < 5; round++) {
		char byte;
		int fd[2];

		ck_assert_int_eq(pipe(fd), 0);
		pid_t child = fork();
		ck_assert_int_ge(child, 0);
		if (child == 0) {
			seed = round;
			run_until_killed(fd[1]);
		}
		close(fd[1]);
		for (unsigned i = 0; i < 3 + round; i++) {
			ck_assert_int_eq(read(fd[0], &byte, 1), 1);
		}
		usleep(300 * round); /* any moment will do */
		kill(child, SIGKILL);
		ck_assert_int_eq(waitpid(child, NULL, 0), child);
		close(fd[0]);
		start();
		settle();
		ck_assert_uint_gt(got.rows, 10);
		stop();
	}
	start();
}
END_TEST

static int64_t wall_clock(void)
{
	return 1700000000;
}

/* opensm-sa.dump cannot be written: the log says so once in a while, and the subnet is
 * up. */
START_TEST(no_dump)
{
	fixture->config.sa_db_dump = true;
	fixture->config.dump_files_dir = "/nonexistent";
	fixture->deps.wall_clock = wall_clock;
	fixture_log(fixture);
	start();
	fixture_up(fixture);
	sweep_request_heavy(fixture->sweep);
	fixture_run_ms(fixture, 5000);
	fixture_up(fixture);
	ck_assert_uint_eq(fixture_logged(fixture, "SAG-SM-019"), 1);
}
END_TEST

TEST_SUITE(sweep_mirror)
{
	TCase *tc = tcase_create("sweep mirror");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, at_random, 0, 3);
	tcase_add_test(tc, killed);
	tcase_add_test(tc, no_dump);
	suite_add_tcase(suite, tc);
}

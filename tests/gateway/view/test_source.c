/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * All threads of the gateway have seen what one of them has seen: a client that was told
 * "ready" by one is not told "there is no database" by the next. The clock is the test's.
 */
#include <pthread.h>
#include <sys/stat.h>

#include "gateway/view/ready.h"
#include "gateway/view/source.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture fixture;
static struct source *first, *second;

static char *ft2_args[] = { (char *)"2", (char *)"2", (char *)"1" };

static void daemon_starts(uint64_t epoch)
{
	gateway_fixture_open(&fixture);
	gateway_fixture_publish(&fixture, epoch);
}

static void daemon_ends(void)
{
	snap_writer_close(fixture.writer);
	stats_close(fixture.stats);
	fixture.writer = NULL;
	fixture.stats = NULL;
}

static void setup(void)
{
	gateway_fixture_init(&fixture, "ft2", 3, ft2_args);
	gateway_fixture_route(&fixture, 0);
	first = source_new(fixture.dir);
	ck_assert_ptr_nonnull(first);
	second = source_join(first);
	ck_assert_ptr_nonnull(second);
}

static void teardown(void)
{
	source_free(first);
	source_free(second);
	gateway_fixture_done(&fixture);
}

/* The epoch that this source answers from, 0: none. */
static uint64_t seen_by(struct source *s, uint64_t now_ms)
{
	struct snap_reader *snap = NULL;
	const char *why = NULL;

	int ret = source_pin(s, now_ms, &why, &snap);
	if (ret != E_OK) {
		ck_assert_int_eq(ret, E_NOTREADY);
		ck_assert_str_ne(why, "");
		return 0;
	}
	return snap_meta(snap)->epoch;
}

/* The second looked a moment before the database came, the first a moment after. */
START_TEST(test_comes_between_two_looks)
{
	ck_assert_uint_eq(seen_by(first, 1000), 0);
	ck_assert_uint_eq(seen_by(second, 1900), 0);
	daemon_starts(3);
	ck_assert_uint_eq(seen_by(first, 2000), 3);
	ck_assert_uint_eq(seen_by(second, 2001), 3);
}
END_TEST

/* The same when the folder's database was replaced by another daemon's. */
START_TEST(test_replaced_between_two_looks)
{
	daemon_starts(3);
	ck_assert_uint_eq(seen_by(first, 1000), 3);
	ck_assert_uint_eq(seen_by(second, 1900), 3);
	daemon_ends();
	gateway_fixture_remove(&fixture);
	ck_assert_int_eq(mkdir(fixture.dir, 0700), 0);
	daemon_starts(4);
	ck_assert_uint_eq(seen_by(first, 2000), 4);
	ck_assert_uint_eq(seen_by(second, 2001), 4);
}
END_TEST

/* "Ready" is said from the daemon's figures; who asks for more right after that is not
 * told that the answer is stale. */
START_TEST(test_ready_is_not_stale)
{
	struct stats_copy copy;

	ck_assert(source_stale(first, 1000));
	daemon_starts(3);
	ck_assert_int_eq(stats_commit(fixture.stats, 1990), E_OK);
	ck_assert(source_stale(first, 1000 + SOURCE_RETRY_MS - 1));
	ck_assert_int_eq(
		source_stats(second, 1000 + SOURCE_RETRY_MS, fixture.arena, &copy), E_OK);
	ck_assert_uint_eq(copy.heartbeat_ms, 1990);
	ck_assert(!source_stale(first, 1000 + SOURCE_RETRY_MS + 1));
}
END_TEST

enum { PAUSES = 1000, PAUSE_MS = 2 * STALE_AFTER_MS };

static pthread_barrier_t both;

/* Asks after each pause; how often it was told "stale". */
static void *ask_after_pauses(void *source)
{
	uintptr_t stale = 0;

	for (unsigned i = 1; i <= PAUSES; i++) {
		pthread_barrier_wait(&both); /* the daemon's sign of life is there */
		stale += source_stale(source, (uint64_t)i * PAUSE_MS);
		pthread_barrier_wait(&both);
	}
	return (void *)stale;
}

/* Nobody asked for longer than a heartbeat is good for; then two do at once. While one
 * looks, the other does not answer from what was seen before the pause. */
START_TEST(test_two_after_a_pause)
{
	pthread_t thread[2];
	void *stale[2];

	daemon_starts(3);
	ck_assert_int_eq(pthread_barrier_init(&both, NULL, 3), 0);
	ck_assert_int_eq(pthread_create(&thread[0], NULL, ask_after_pauses, first), 0);
	ck_assert_int_eq(pthread_create(&thread[1], NULL, ask_after_pauses, second), 0);
	for (unsigned i = 1; i <= PAUSES; i++) {
		int ret = stats_commit(fixture.stats, (uint64_t)i * PAUSE_MS);
		pthread_barrier_wait(&both);
		pthread_barrier_wait(&both);
		ck_assert_int_eq(ret, E_OK);
	}
	for (unsigned i = 0; i < 2; i++) {
		pthread_join(thread[i], &stale[i]);
		ck_assert_uint_eq((uintptr_t)stale[i], 0);
	}
	pthread_barrier_destroy(&both);
}
END_TEST

/* However many ask, the folder is looked at once in SOURCE_RETRY_MS. */
START_TEST(test_looks_are_rare)
{
	ck_assert_uint_eq(seen_by(first, 1000), 0);
	daemon_starts(3);
	ck_assert_uint_eq(seen_by(second, 1000 + SOURCE_RETRY_MS - 1), 0);
	ck_assert_uint_eq(seen_by(second, 1000 + SOURCE_RETRY_MS), 3);
}
END_TEST

/* A folder that outlives a restart of the machine does not make a dead daemon look alive. */
START_TEST(heartbeat_of_an_earlier_boot)
{
	const uint64_t minute = 60000, day = 24 * 60 * minute;

	ck_assert(heartbeat_fresh(minute, minute + STALE_AFTER_MS));
	ck_assert(!heartbeat_fresh(minute, minute + STALE_AFTER_MS + 1));
	ck_assert(heartbeat_fresh(minute + 1, minute));
	ck_assert(!heartbeat_fresh(10 * day, minute));
	ck_assert(!heartbeat_fresh(minute - 2 * minute, minute)); /* wrapped */
	ck_assert(!heartbeat_fresh(0, minute));
}
END_TEST

/* Old figures of a daemon that goes on trying are not those of one that is gone. */
START_TEST(full_or_gone)
{
	const uint64_t minute = 60000;
	struct arena *a = arena_new();
	struct stats_copy c = { .heartbeat_ms = minute,
		                .heartbeat_realtime_s = 1767225600,
		                .pid = 77,
		                .alive_ms = 3 * minute,
		                .trouble = E_FULL,
		                .folder = "/run/saguaro/main" };
	const char *full = ready_reason(&c, 1, NULL, 3 * minute, a);

	ck_assert_ptr_nonnull(strstr(
		full,
		"the folder /run/saguaro/main is full: saguarod (process 77) runs"));
	ck_assert_ptr_nonnull(strstr(full, "since 2026-01-01T00:00:00Z"));
	ck_assert_ptr_nonnull(
		strstr(ready_reason(&c, 1, NULL, 9 * minute, a), "daemon gone since"));
	c.trouble = E_OK;
	ck_assert_ptr_nonnull(
		strstr(ready_reason(&c, 1, NULL, 3 * minute, a), "daemon gone since"));
	arena_free(a);
}
END_TEST

TEST_SUITE(source)
{
	TCase *t = tcase_create("two threads");

	suite_add_tcase(suite, t);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_comes_between_two_looks);
	tcase_add_test(t, test_replaced_between_two_looks);
	tcase_add_test(t, test_ready_is_not_stale);
	tcase_add_test(t, test_two_after_a_pause);
	tcase_add_test(t, test_looks_are_rare);
	tcase_add_test(t, heartbeat_of_an_earlier_boot);
	tcase_add_test(t, full_or_gone);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/loop.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "tests/lib/suite.h"

enum { N = 4 };

static struct loop *loop;
static struct end {
	struct loop_watch watch; /* first */
	int other;
	unsigned calls, events; /* of all calls */
	struct end *removes;    /* in its call; NULL: nothing */
	bool stops;             /* in its call: the loop */
} ends[N];
static atomic_uint turns;
static atomic_bool has_stopped, has_ended; /* a call that stops the loop */
static unsigned stop_after;                /* turns */
static uint64_t wait_until;

static uint64_t turn(void *ctx)
{
	(void)ctx;
	if (++turns == stop_after) {
		loop_stop(loop);
	}
	return wait_until;
}

static void on_ready(struct loop_watch *w, unsigned events)
{
	struct end *e = (struct end *)w;
	char byte;

	e->calls++;
	e->events |= events;
	if ((events & LOOP_READ) != 0 && recv(w->fd, &byte, 1, MSG_DONTWAIT) == 0) {
		loop_remove(w);
	}
	if (e->removes != NULL) {
		loop_remove(&e->removes->watch);
	}
	if (e->stops) {
		loop_stop(loop);
		has_stopped = true;
		for (unsigned i = 0; i < 1000; i++) {
			sched_yield(); /* so that another thread could go on too early */
		}
		has_ended = true;
	}
}

static void setup(void)
{
	turns = stop_after = 0;
	has_stopped = has_ended = false;
	wait_until = UINT64_MAX;
	ck_assert_int_eq(loop_new(&(struct loop_options){ .turn = turn }, &loop), E_OK);
	for (unsigned i = 0; i < N; i++) {
		int fd[2];

		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
		ends[i] = (struct end){ .watch.ready = on_ready, .other = fd[1] };
		ck_assert_int_eq(loop_add(loop, &ends[i].watch, fd[0], LOOP_READ), E_OK);
	}
}

static void teardown(void)
{
	loop_stop(loop);
	for (unsigned i = 0; i < N; i++) {
		loop_remove(&ends[i].watch);
		close(ends[i].watch.fd);
		close(ends[i].other);
	}
	loop_free(loop);
}

static void run(unsigned n)
{
	stop_after = n;
	ck_assert_int_eq(loop_run(loop), E_OK);
}

/* Only what is asked for comes, and only to those that are ready. */
START_TEST(events)
{
	ck_assert_int_eq(write(ends[1].other, "x", 1), 1);
	loop_events(&ends[2].watch, LOOP_WRITE);
	loop_events(&ends[3].watch, 0);
	ck_assert_int_eq(write(ends[3].other, "x", 1), 1);
	run(2);
	ck_assert_uint_eq(ends[0].calls, 0);
	ck_assert_uint_eq(ends[1].events, LOOP_READ);
	ck_assert_uint_eq(ends[1].calls, 1);
	ck_assert_uint_eq(ends[2].events, LOOP_WRITE);
	ck_assert_uint_eq(ends[3].calls, 0);
}
END_TEST

/* An end that waits for nothing learns that the connection is gone. */
START_TEST(hangup)
{
	loop_events(&ends[0].watch, 0);
	close(ends[0].other);
	ends[0].other = -1;
	run(2);
	ck_assert_uint_eq(ends[0].events, LOOP_HANGUP);
}
END_TEST

/* Two are ready in one turn, and each removes the other: only one is called. */
START_TEST(removed_in_a_call)
{
	ends[0].removes = &ends[1];
	ends[1].removes = &ends[0];
	ck_assert_int_eq(write(ends[0].other, "x", 1), 1);
	ck_assert_int_eq(write(ends[1].other, "x", 1), 1);
	run(2);
	ck_assert_uint_eq(ends[0].calls + ends[1].calls, 1);
}
END_TEST

/* Deadlines end a wait, once each; a later one and one that is unset do not. */
START_TEST(deadlines)
{
	loop_deadline(&ends[0].watch, 1); /* long ago */
	loop_deadline(&ends[1].watch, monotonic_ms() + 1000000);
	loop_deadline(&ends[2].watch, 1);
	loop_deadline(&ends[2].watch, 0);
	loop_deadline(&ends[3].watch, monotonic_ms() + 2);
	ends[0].removes = &ends[1];
	ends[3].stops = true;
	run(1000);
	ck_assert_uint_eq(ends[0].events, LOOP_TIME);
	ck_assert_uint_eq(ends[0].calls, 1);
	ck_assert_uint_eq(ends[0].watch.deadline_ms, 0);
	ck_assert_uint_eq(ends[1].calls, 0);
	ck_assert_uint_eq(ends[2].calls, 0);
	ck_assert_uint_eq(ends[3].events, LOOP_TIME);
}
END_TEST

/* The time that turn() asks for ends a wait in which nothing happens. */
START_TEST(time_of_turn)
{
	wait_until = monotonic_ms() + 1;
	run(2);
	ck_assert_uint_ge(monotonic_ms(), wait_until);
}
END_TEST

/* Wake-ups of other threads are not lost, and the end comes though nothing is ready. */
START_TEST(wakes)
{
	ck_assert_int_eq(loop_start(loop), E_OK);
	for (unsigned i = 1; i < 200; i++) {
		unsigned before = turns;

		loop_wake(loop);
		while (turns == before) {
			loop_wake(loop);
		}
	}
}
END_TEST

/* Before it runs there is no thread to wait for. */
START_TEST(stopped_before)
{
	loop_stop(NULL);
	loop_stop(loop);
	loop_stop(loop);
	ck_assert_int_eq(loop_run(loop), E_OK);
	ck_assert_uint_le(turns, 1);
}
END_TEST

/* The thread that runs the loop stops it; another one still waits for the end of that thread. */
START_TEST(stopped_in_a_call)
{
	ends[0].stops = true;
	ck_assert_int_eq(write(ends[0].other, "x", 1), 1);
	ck_assert_int_eq(loop_start(loop), E_OK);
	while (!has_stopped) {
		sched_yield();
	}
	loop_stop(loop);
	ck_assert(has_ended);
	loop_stop(loop);
	ck_assert_uint_eq(ends[0].calls, 1);
}
END_TEST

TEST_SUITE(loop)
{
	TCase *t = tcase_create("loop");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, events);
	tcase_add_test(t, hangup);
	tcase_add_test(t, removed_in_a_call);
	tcase_add_test(t, deadlines);
	tcase_add_test(t, time_of_turn);
	tcase_add_test(t, stopped_before);
	tcase_add_test(t, stopped_in_a_call);
	tcase_add_test(t, wakes);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Places of connections over socket pairs; the time is passed in. */
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/err.h"
#include "gateway/httpd/connections.h"
#include "tests/lib/suite.h"

enum { MOST = 32, DAY_MS = 86400000 };

static struct connections *connections;

struct peer {
	struct connection *place;
	int ours, theirs;
};

/* The thread works by the clock of the machine, the tests by one that is far ahead of it, so the
 * thread finds nothing to do. */
static uint64_t day(uint64_t ms)
{
	return (uint64_t)1 << 50 | (DAY_MS + ms);
}

static void start(unsigned per_address)
{
	const struct connections_options o = { .most = MOST, .per_address = per_address };

	ck_assert_int_eq(connections_new(&o, &connections), E_OK);
}

static struct peer join(const char *address, uint64_t now_ms)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	bool six = strchr(address, ':') != NULL;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ck_assert_int_eq(inet_pton(six ? AF_INET6 : AF_INET, address,
	                           six ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr),
	                 1);
	const void *from = six ? (const void *)&v6 : (const void *)&v4;
	return (struct peer){ connections_add(connections, pair[0], from, now_ms),
		              pair[0], pair[1] };
}

/* Was the connection cut off? */
static bool ended(const struct peer *p)
{
	char byte;

	return recv(p->theirs, &byte, 1, MSG_DONTWAIT) == 0;
}

static void leave(struct peer *p)
{
	connections_remove(connections, p->place);
	close(p->ours);
	close(p->theirs);
}

static void stop(struct peer *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		leave(&p[i]);
	}
	connections_free(connections);
}

/* Bytes that come do not prolong a step. */
START_TEST(each_step_has_its_time)
{
	static const struct {
		enum connection_step step;
		uint64_t ms;
	} steps[] = { { CONNECTION_FRESH, CONNECTIONS_FRESH_MS },
		      { CONNECTION_BODY, CONNECTIONS_BODY_MS },
		      { CONNECTION_IDLE, CONNECTIONS_IDLE_MS } };

	start(0);
	for (unsigned i = 0; i < 3; i++) {
		struct peer p = join("10.0.0.1", day(0));

		if (i > 0) {
			connections_enter(p.place, steps[i].step, day(500));
		}
		uint64_t since = i > 0 ? 500 : 0;
		connections_tend(connections, day(since + steps[i].ms - 1));
		ck_assert(!ended(&p));
		connections_tend(connections, day(since + steps[i].ms));
		ck_assert(ended(&p));
		leave(&p);
	}
	struct peer p = join("10.0.0.1", day(0));
	connections_enter(p.place, CONNECTION_ANSWER, day(0));
	connections_tend(connections, day(DAY_MS));
	ck_assert(!ended(&p));
	stop(&p, 1);
}
END_TEST

/* The library closes those that were cut off. */
static void close_ended(struct peer *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (p[i].place != NULL && ended(&p[i])) {
			connections_remove(connections, p[i].place);
			p[i].place = NULL;
		}
	}
}

/* However many connect and wait, the next one gets a place. */
START_TEST(the_oldest_idle_one_goes)
{
	enum { MANY = 3 * MOST };
	struct peer p[MANY];

	start(0);
	for (unsigned i = 0; i < MANY; i++) {
		p[i] = join("10.0.0.1", day(i));
		ck_assert(!ended(&p[i]));
		if (i == 1) { /* at work, so it stays */
			connections_enter(p[i].place, CONNECTION_ANSWER, day(i));
		}
		close_ended(p, i);
		ck_assert(i == 0 || p[1].place != NULL);
	}
	ck_assert_ptr_null(p[0].place);
	ck_assert_ptr_null(p[2].place);
	for (unsigned i = MANY - MOST / 2; i < MANY; i++) {
		ck_assert_ptr_nonnull(p[i].place);
	}
	stop(p, MANY);
}
END_TEST

/* If all are at work, answers that nobody takes go, but not before their time. */
START_TEST(a_stuck_answer_goes)
{
	struct peer p[MOST];

	start(0);
	for (unsigned i = 0; i < MOST - 2; i++) {
		p[i] = join("10.0.0.1", day(i));
		connections_enter(p[i].place, CONNECTION_ANSWER, day(i));
	}
	p[MOST - 2] = join("10.0.0.2", day(CONNECTIONS_BUSY_MS - 1));
	connections_enter(p[MOST - 2].place, CONNECTION_ANSWER,
	                  day(CONNECTIONS_BUSY_MS - 1));
	ck_assert(!ended(&p[0]));
	p[MOST - 1] = join("10.0.0.2", day(CONNECTIONS_BUSY_MS));
	ck_assert(ended(&p[0]));
	ck_assert(!ended(&p[1]));
	ck_assert(!ended(&p[MOST - 1]));
	stop(p, MOST);
}
END_TEST

START_TEST(an_address_has_its_share)
{
	static const char *const one[] = { "10.0.0.1", "2001:db8::1" };
	static const char *const same[] = { "10.0.0.1", "2001:db8::77:1" };
	static const char *const other[] = { "10.0.0.2", "2001:db8:0:1::1" };

	for (unsigned way = 0; way < 2; way++) {
		struct peer p[6];

		start(3);
		for (unsigned i = 0; i < 3; i++) {
			p[i] = join(one[way], day(i));
		}
		p[3] = join(other[way], day(3));
		ck_assert(!ended(&p[0]));
		p[4] = join(same[way], day(4));
		ck_assert(ended(&p[0]));
		ck_assert(!ended(&p[4]));
		connections_enter(p[1].place, CONNECTION_ANSWER, day(5));
		connections_enter(p[2].place, CONNECTION_ANSWER, day(5));
		connections_enter(p[4].place, CONNECTION_ANSWER, day(5));
		p[5] = join(one[way], day(6)); /* all of its own are at work */
		ck_assert(ended(&p[5]));
		ck_assert(!ended(&p[3]));
		stop(p, 6);
	}
}
END_TEST

START_TEST(a_stalled_stream_goes)
{
	struct peer p[3];

	start(0);
	for (unsigned i = 0; i < 3; i++) {
		p[i] = join(i < 2 ? "10.0.0.1" : "10.0.0.2", day(0));
		connections_enter(p[i].place, CONNECTION_STREAM, day(10 * i));
	}
	ck_assert_uint_eq(connections_streams(connections, p[0].place), 2);
	ck_assert_uint_eq(connections_streams(connections, p[2].place), 1);
	connections_cut_stalled(connections, day(CONNECTIONS_STALLED_MS - 1));
	ck_assert(!ended(&p[0]));
	connections_enter(p[0].place, CONNECTION_STREAM, day(100));
	connections_cut_stalled(connections, day(CONNECTIONS_STALLED_MS + 50));
	ck_assert(!ended(&p[0]));
	ck_assert(ended(&p[1]));
	ck_assert(!ended(&p[2]));
	stop(p, 3);
}
END_TEST

/* With users, connections without one go first, whatever they do; then those that wait. */
START_TEST(a_user_stays)
{
	const struct connections_options o = { .most = MOST, .has_users = true };
	struct peer p[MOST + 1];

	ck_assert_int_eq(connections_new(&o, &connections), E_OK);
	for (unsigned i = 0; i < MOST - 2; i++) {
		p[i] = join("10.0.0.1", day(i));
		if (i < MOST - 3) {
			connections_trust(p[i].place);
		}
		connections_enter(p[i].place, i % 2 ? CONNECTION_IDLE : CONNECTION_BODY,
		                  day(i));
	}
	for (unsigned i = MOST - 2; i < MOST + 1; i++) {
		p[i] = join("10.0.0.1", day(i));
		connections_trust(p[i].place);
		connections_enter(p[i].place, CONNECTION_BODY, day(i));
	}
	ck_assert(ended(&p[MOST - 3])); /* the only one without a user */
	for (unsigned i = 0; i < MOST - 3; i++) {
		ck_assert_msg(ended(&p[i]) == (i == 1 || i == 3), "%u", i);
	}
	stop(p, MOST + 1);
}
END_TEST

/* An address with few connections keeps them, however old they are and however many connect from others. */
START_TEST(a_crowd_yields_first)
{
	static const char *const crowd[] = { "10.0.0.1", "10.0.0.2", "10.0.0.3", "::1" };
	struct peer quiet[2], p[8 * MOST];

	start(0);
	quiet[0] = join("10.0.0.9", day(0));
	quiet[1] = join("10.0.0.9", day(0));
	for (unsigned i = 0; i < 8 * MOST; i++) {
		p[i] = join(crowd[i % 4], day(1 + i));
		ck_assert(!ended(&p[i]));
		close_ended(p, i);
		ck_assert(!ended(&quiet[0]) && !ended(&quiet[1]));
	}
	leave(&quiet[0]);
	leave(&quiet[1]);
	stop(p, 8 * MOST);
}
END_TEST

/* Of those that came in the same millisecond the first one goes, whatever place it has. */
START_TEST(the_last_of_a_burst_stays)
{
	struct peer p[3 * MOST];

	start(0);
	for (unsigned i = 0; i < 3 * MOST; i++) {
		p[i] = join("10.0.0.1", day(0));
		close_ended(p, i);
		for (unsigned k = i < 8 ? 0 : i - 8; k <= i; k++) {
			ck_assert_msg(p[k].place != NULL, "%u of %u", k, i);
		}
	}
	stop(p, 3 * MOST);
}
END_TEST

/* A socket that somebody else serves is left alone. */
START_TEST(one_that_left_stays)
{
	start(0);
	struct peer p = join("10.0.0.1", day(0));

	connections_leave(connections, p.place);
	connections_enter(p.place, CONNECTION_IDLE, day(0));
	connections_tend(connections, day(DAY_MS));
	ck_assert(!ended(&p));
	stop(&p, 1);
}
END_TEST

TEST_SUITE(connections)
{
	TCase *t = tcase_create("connections");

	tcase_add_test(t, each_step_has_its_time);
	tcase_add_test(t, the_oldest_idle_one_goes);
	tcase_add_test(t, a_stuck_answer_goes);
	tcase_add_test(t, an_address_has_its_share);
	tcase_add_test(t, a_stalled_stream_goes);
	tcase_add_test(t, the_last_of_a_burst_stays);
	tcase_add_test(t, a_user_stays);
	tcase_add_test(t, a_crowd_yields_first);
	tcase_add_test(t, one_that_left_stays);
	suite_add_tcase(suite, t);
}

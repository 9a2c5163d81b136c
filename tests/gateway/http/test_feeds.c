/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Listeners to events over socket pairs, in place of connections that HTTP handed over. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>

#include "conf/base/clock.h"
#include "gateway/api/feed.h"
#include "gateway/http/feeds.h"
#include "gateway/view/source.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture world;
static struct source *source;
static struct feeds *feeds;
static _Atomic uint64_t counted;

static void setup(void)
{
	static char *args[] = { (char *)"4", (char *)"4", (char *)"2", NULL };

	gateway_fixture_init(&world, "ft2", 3, args);
	gateway_fixture_open(&world);
	gateway_fixture_heartbeat(&world, 0, true);
	source = source_new(world.dir);
	feeds = NULL;
}

static void start(uint32_t most, uint32_t per_address, uint32_t stalled_ms)
{
	const struct feeds_options o = { .source = source,
		                         .most = most,
		                         .per_address = per_address,
		                         .count = &counted,
		                         .stalled_ms = stalled_ms };

	ck_assert_int_eq(feeds_new(&o, &feeds), E_OK);
}

static void teardown(void)
{
	feeds_free(feeds);
	source_free(source);
	gateway_fixture_done(&world);
}

static void add_events(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct fabric_event e = { .kind = EVENT_HOST_NEW, .node_guid = 1 };

		stats_event(world.stats, &e);
	}
	gateway_fixture_heartbeat(&world, 0, true);
}

/* A listener that has seen a number. \return Its end; -1: there are enough. */
static int listen_since(uint64_t since, int send_bytes)
{
	struct feed feed = { .at = 0 };
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	if (send_bytes != 0) {
		setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof(send_bytes));
	}
	feed_begin(&feed, source, boottime_ms(), &since);
	if (feeds_add(feeds, fd[0], NULL, &feed) != E_OK) {
		close(fd[0]);
		close(fd[1]);
		return -1;
	}
	return fd[1];
}

/* Reads until a text has come, and nothing behind it. */
static void read_until(int fd, const char *text)
{
	size_t len = strlen(text), n = 0;
	char last[200] = "";

	while (n < len || memcmp(last + n - len, text, len) != 0) {
		if (n == sizeof(last)) {
			memmove(last, last + n / 2, n / 2);
			n /= 2;
		}
		ck_assert_msg(recv(fd, last + n, 1, 0) == 1, "'%s' did not come", text);
		n++;
	}
}

static void read_to_end(int fd)
{
	char buf[1 << 16];

	while (recv(fd, buf, sizeof(buf), 0) > 0) {
	}
	close(fd);
}

/* History, then what comes, in pages and in order. */
START_TEST(follows)
{
	start(10, 0, 0);
	add_events(1000);
	int fd = listen_since(500, 0);
	read_until(fd, "retry: 2000\nid: 500\n\nid: 501\ndata: {\"id\":501,");
	read_until(fd, "\n\nid: 1000\n");
	add_events(1);
	read_until(fd, "\n\nid: 1001\n");
	close(fd);
}
END_TEST

/* A listener that reads nothing is cut off, and delays nobody. */
START_TEST(stalled)
{
	start(10, 0, 1);
	add_events(2000);
	int slow = listen_since(0, 4096), quick = listen_since(2000, 0);

	read_until(quick, "id: 2000\n");
	while (counted > 1) {
		sched_yield();
	}
	read_to_end(slow);
	add_events(1);
	read_until(quick, "\nid: 2001\n");
	close(quick);
}
END_TEST

/* One that closes its end leaves no trace. There are never more than allowed. */
START_TEST(limits)
{
	int fd[5];

	start(4, 0, 0);
	for (unsigned i = 0; i < 5; i++) {
		fd[i] = listen_since(0, 0);
		ck_assert_int_eq(fd[i] >= 0, i < 4);
	}
	close(fd[0]);
	while (counted == 4) {
		sched_yield();
	}
	ck_assert_uint_eq(counted, 3);
	fd[4] = listen_since(0, 0);
	ck_assert_int_ge(fd[4], 0);
	read_until(fd[4], "retry");
	for (unsigned i = 1; i < 5; i++) {
		close(fd[i]);
	}
	while (counted != 0) {
		sched_yield();
	}
}
END_TEST

START_TEST(per_address)
{
	start(100, 2, 0);
	int fd[3] = { listen_since(0, 0), -1, -1 };

	read_until(fd[0], "retry");
	fd[1] = listen_since(0, 0);
	read_until(fd[1], "retry");
	fd[2] = listen_since(0, 0);
	read_until(fd[2], "HTTP/1.1 503 Service Unavailable\r\n");
	read_to_end(fd[2]);
	add_events(1);
	read_until(fd[0], "\nid: 1\n");
	read_until(fd[1], "\nid: 1\n");
	close(fd[0]);
	close(fd[1]);
}
END_TEST

/* The end of the server is the end of all feeds. */
START_TEST(end)
{
	start(10, 0, 0);
	int a = listen_since(0, 0), b = listen_since(0, 0);

	feeds_free(feeds);
	feeds = NULL;
	read_to_end(a);
	read_to_end(b);
}
END_TEST

TEST_SUITE(feeds)
{
	TCase *t = tcase_create("feeds");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 10);
	tcase_add_test(t, follows);
	tcase_add_test(t, stalled);
	tcase_add_test(t, limits);
	tcase_add_test(t, per_address);
	tcase_add_test(t, end);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Connections of a service whose messages are lines, and clients that keep to no limit. */
#include "conf/base/conn.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/listen.h"
#include "tests/lib/suite.h"

enum { LINE = 64, BIG = 4 << 20, CROWD = 10000, RING = 64 };

static struct conn_set *set;
static unsigned port;
static atomic_uint n_open, n_closed, n_timed_out, last_waiting, turns, n_drained;

static int opened(struct conn *c)
{
	(void)c;
	n_open++;
	return E_OK;
}

static void closed(struct conn *c, int ret)
{
	(void)c;
	n_closed++;
	n_timed_out += ret == -ETIMEDOUT;
}

static uint64_t turn(void *ctx)
{
	(void)ctx;
	turns++;
	return UINT64_MAX;
}

/* A line comes back. "big": many bytes do, "wait": the test answers, "bad": it is closed. */
static int take_line(struct conn *c, uint8_t *data, size_t len, size_t *ret_bytes)
{
	static char big[BIG];
	const uint8_t *end = memchr(data, '\n', len);

	if (end == NULL) {
		return -EAGAIN;
	}
	*ret_bytes = (size_t)(end - data) + 1;
	if (memcmp(data, "big", 3) == 0) {
		memset(big, 'x', sizeof(big));
		conn_send(c, big, sizeof(big));
	} else if (memcmp(data, "wait", 4) == 0) {
		conn_wait(c);
		last_waiting = c->number;
	} else if (memcmp(data, "bad", 3) == 0) {
		return E_MALFORMED;
	} else {
		conn_send(c, data, *ret_bytes);
	}
	return E_OK;
}

static struct conn_type type;

/* One that turns the bits of each byte, after a handshake: "hi" is answered by "ho". It takes all
 * input off the socket, and gives three bytes of it at a time. For one connection. */
static struct {
	unsigned shaken; /* bytes of the handshake */
	char in[256];
	size_t n, at;
} turned;

static void setup(void)
{
	type = (struct conn_type){ .bytes = sizeof(struct conn),
		                   .in_bytes = LINE,
		                   .opened = opened,
		                   .message = take_line,
		                   .closed = closed,
		                   .turn = turn };
	n_open = n_closed = n_timed_out = last_waiting = turns = n_drained = 0;
	memset(&turned, 0, sizeof(turned));
}

static void begin(void)
{
	struct arena *a = arena_new();
	const char *why = NULL;
	struct listening l;

	ck_assert_int_eq(listen_on("127.0.0.1:0", "", a, &why, &l), E_OK);
	port = l.port;
	(void)setsockopt(l.fd, SOL_SOCKET, SO_SNDBUF, &(int){ 64 << 10 }, sizeof(int));
	ck_assert_int_eq(conn_set_new(&type, NULL, l.fd, &set), E_OK);
	ck_assert_int_eq(loop_start(conn_loop(set)), E_OK);
	arena_free(a);
}

static void teardown(void)
{
	conn_set_free(set);
	set = NULL;
	ck_assert_uint_le(n_open, n_closed); /* those that were refused were not opened */
}

/* \param host  Last byte of its address in 127.0.0.0/24. */
static int dial(unsigned host)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_addr.s_addr = htonl(0x7f000000 | host) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){ 16 << 10 }, sizeof(int));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	at.sin_addr.s_addr = htonl(0x7f000001);
	at.sin_port = htons((uint16_t)port);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	(void)send(fd, text, strlen(text), MSG_NOSIGNAL);
}

static void expect(int fd, const char *text)
{
	char got[256] = "";
	size_t len = strlen(text);

	ck_assert_int_eq(recv(fd, got, len, MSG_WAITALL), (ssize_t)len);
	ck_assert_str_eq(got, text);
}

static void expect_end(int fd)
{
	char bytes[4096];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
	}
	ck_assert(n == 0 || errno == ECONNRESET);
	close(fd);
}

/* Lines in one write, in pieces, and one that is too long. */
START_TEST(whole_lines)
{
	begin();
	int fd = dial(1);

	say(fd, "one\ntwo\nthr");
	expect(fd, "one\ntwo\n");
	say(fd, "ee\n");
	expect(fd, "three\n");
	say(fd, "0123456789012345678901234567890123456789012345678901234567890123456789");
	expect_end(fd);
	fd = dial(1);
	say(fd, "good\nbad\nnever\n");
	expect(fd, "good\n");
	expect_end(fd);
}
END_TEST

/* A client that sends a byte again and again is never idle, but its line has to come in time. */
START_TEST(slow_sender)
{
	struct pollfd p = { .events = POLLRDHUP };

	type.idle_ms = 100000;
	type.stall_ms = 60;
	begin();
	p.fd = dial(1);
	do {
		say(p.fd, "x");
	} while (poll(&p, 1, 5) == 0);
	expect_end(p.fd);
	ck_assert_uint_eq(n_timed_out, 1);
}
END_TEST

/* One that takes nothing, and (1) one that takes a little again and again. */
START_TEST(slow_reader)
{
	struct pollfd p = { .events = 0 };
	char byte;

	type.idle_ms = 100000;
	type.stall_ms = 60;
	type.least_rate = 100 << 20;
	begin();
	p.fd = dial(1);
	say(p.fd, "big\n");
	while (n_closed ==
	       0) { /* what the kernel still holds for it delays the end that it sees */
		(void)poll(&p, 1, 5);
		if (_i == 1) {
			(void)!recv(p.fd, &byte, 1, MSG_DONTWAIT);
		}
	}
	expect_end(p.fd);
	ck_assert_uint_eq(n_timed_out, 1);
}
END_TEST

/* Ten thousand connections of one address take no place from another. */
START_TEST(crowd)
{
	int ring[RING], other;

	type.most = 8;
	type.of_address = 6;
	type.evicts = CONN_IDLE;
	type.idle_ms = type.stall_ms = 100000;
	begin();
	memset(ring, -1, sizeof(ring));
	other = dial(2);
	say(other, "here\n");
	expect(other, "here\n");
	for (unsigned i = 0; i < CROWD; i++) {
		if (ring[i % RING] >= 0) {
			close(ring[i % RING]);
		}
		ring[i % RING] = dial(1);
		if (i % 2 == 0) {
			say(ring[i % RING], "half"); /* which is idle, too */
		}
	}
	say(ring[(CROWD - 1) % RING], "last\n");
	expect(ring[(CROWD - 1) % RING], "last\n");
	say(other, "still\n");
	expect(other, "still\n");
	ck_assert_uint_le(n_open - n_closed, 8);
	for (unsigned i = 0; i < RING; i++) {
		close(ring[i]);
	}
	close(other);
}
END_TEST

/* Without a right to displace, places are refused, in all and to an address. */
START_TEST(refused)
{
	int fd[4];

	type.most = 3;
	type.of_address = 2;
	type.refusal = "full\n";
	begin();
	for (unsigned i = 0; i < 4; i++) {
		fd[i] = dial(i < 3 ? 1 : 2);
		say(fd[i], "a\n");
		expect(fd[i], i == 2 ? "full\n" : "a\n");
	}
	expect_end(fd[2]);
	fd[2] = dial(3);
	expect(fd[2], "full\n");
	expect_end(fd[2]);
	close(fd[0]);
	while (n_closed < 3) { /* two were refused */
		sched_yield();
	}
	fd[0] = dial(3);
	say(fd[0], "b\n");
	expect(fd[0], "b\n");
	close(fd[0]);
	close(fd[1]);
	close(fd[3]);
}
END_TEST

/* Its request has come, and there will be no other: it gets its answer, also a late one. */
START_TEST(half_closed)
{
	static const char *const lines[] = { "last\n", "wait\n", "big\n" };

	begin();
	int fd = dial(1);

	say(fd, lines[_i]);
	shutdown(fd, SHUT_WR);
	if (_i == 1) {
		while (last_waiting == 0) {
			sched_yield();
		}
		ck_assert_int_eq(conn_post(set, last_waiting, strdup("wait\n"), 5), E_OK);
	}
	if (_i != 2) {
		expect(fd, lines[_i]);
	}
	expect_end(fd);
}
END_TEST

/* The end, or a reset, in the middle of a message, of an answer, and before an answer. */
START_TEST(cut_short)
{
	static const char *const begun[] = { "hal", "big\n", "wait\n", "" };
	const struct linger at_once = { .l_onoff = 1 };

	begin();
	int fd = dial(1), other = dial(2);

	say(fd, begun[_i / 2]);
	while (_i / 2 == 2 && last_waiting == 0) {
		sched_yield();
	}
	if (_i % 2 == 1) {
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	}
	close(fd);
	if (_i / 2 == 2) { /* what comes for it then reaches nobody */
		ck_assert_int_eq(conn_post(set, last_waiting, strdup("late\n"), 5), E_OK);
	}
	while (n_closed == 0) {
		sched_yield();
	}
	say(other, "good\n");
	expect(other, "good\n");
	ck_assert_uint_eq(n_closed, 1);
	close(other);
}
END_TEST

/* No descriptor is left: the client waits, the loop does not spin, and others are served. */
START_TEST(no_descriptor)
{
	struct rlimit old, low;
	struct pollfd p = { .events = POLLIN };

	begin();
	int other = dial(1), last;

	say(other, "a\n");
	expect(other, "a\n");
	getrlimit(RLIMIT_NOFILE, &old);
	last = dup(other);
	close(last);
	p.fd = socket(AF_INET, SOCK_STREAM, 0);
	low = (struct rlimit){ (rlim_t)p.fd + 1, old.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)port),
		                  .sin_addr.s_addr = htonl(0x7f000001) };
	ck_assert_int_eq(connect(p.fd, (struct sockaddr *)&at, sizeof(at)), 0);
	say(p.fd, "b\n");
	turns = 0;
	ck_assert_int_eq(poll(&p, 1, 350), 0);
	ck_assert_uint_lt(turns, 20);
	say(other, "c\n");
	expect(other, "c\n");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
	expect(p.fd, "b\n");
	close(p.fd);
	close(other);
}
END_TEST

/* Answers that wait have a limit; one too many ends its connection alone. */
START_TEST(posted)
{
	type.posted_bytes = 10;
	begin();
	int fd = dial(1), other = dial(1);

	say(fd, "wait\nnext\n");
	while (last_waiting == 0) {
		sched_yield();
	}
	unsigned first = last_waiting;
	say(other, "wait\n");
	while (last_waiting == first) {
		sched_yield();
	}
	ck_assert_int_eq(conn_post(set, first, strdup("late\n"), 5), E_OK);
	expect(fd, "late\nnext\n");
	ck_assert_int_eq(conn_post(set, last_waiting, strdup("much too long\n"), 14),
	                 -ENOBUFS);
	expect_end(other);
	ck_assert_int_eq(conn_post(set, first + 1000, strdup("x"), 1), E_OK);
	say(fd, "wait\n");
	while (last_waiting != first) {
		sched_yield();
	}
	ck_assert_int_eq(conn_post(set, first, NULL, 0), E_OK);
	expect_end(fd);
}
END_TEST

/* --- a transport ------------------------------------------------------------------------- */

static int shake_hands(struct conn *c)
{
	ssize_t n = 1;
	char got;

	while (turned.shaken < 2 && n > 0) {
		n = recv(c->watch.fd, &got, 1, MSG_DONTWAIT);
		if (n > 0 && got != "hi"[turned.shaken++]) {
			return -EPROTO;
		}
	}
	if (n <= 0) {
		return n == 0 ? -ECONNRESET : -EAGAIN;
	}
	ck_assert_int_eq(send(c->watch.fd, "ho", 2, 0), 2);
	return E_OK;
}

static bool wants_no_write(const struct conn *c)
{
	(void)c;
	return false;
}

static ssize_t read_turned(struct conn *c, void *to, size_t len)
{
	ssize_t n = recv(c->watch.fd, turned.in + turned.n, sizeof(turned.in) - turned.n,
	                 MSG_DONTWAIT);

	turned.n += n > 0 ? (size_t)n : 0;
	if (turned.at == turned.n) {
		return n < 0 ? -errno : n;
	}
	len = len < 3 ? len : 3;
	len = len < turned.n - turned.at ? len : turned.n - turned.at;
	for (size_t i = 0; i < len; i++) {
		((char *)to)[i] = (char)~turned.in[turned.at++];
	}
	return (ssize_t)len;
}

static ssize_t write_turned(struct conn *c, const void *from, size_t len)
{
	char bytes[64];

	len = len < sizeof(bytes) ? len : sizeof(bytes);
	for (size_t i = 0; i < len; i++) {
		bytes[i] = (char)~((const char *)from)[i];
	}
	ssize_t n = send(c->watch.fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	return n >= 0 ? n : -errno;
}

static const struct conn_transport turning = { shake_hands, wants_no_write, read_turned,
	                                       write_turned };

static int drained(struct conn *c)
{
	(void)c;
	n_drained++;
	return E_OK;
}

static void say_turned(int fd, const char *text)
{
	char bytes[64];

	for (size_t i = 0; i < strlen(text); i++) {
		bytes[i] = (char)~text[i];
	}
	ck_assert_int_eq(send(fd, bytes, strlen(text), 0), (ssize_t)strlen(text));
}

static void expect_turned(int fd, const char *text)
{
	char got[64] = "";
	size_t len = strlen(text);

	ck_assert_int_eq(recv(fd, got, len, MSG_WAITALL), (ssize_t)len);
	for (size_t i = 0; i < len; i++) {
		got[i] = (char)~got[i];
	}
	ck_assert_str_eq(got, text);
}

/* Says something at once, which waits until the handshake is over. */
static int greet(struct conn *c)
{
	conn_send(c, "welcome\n", 8);
	return opened(c);
}

/* Input that the transport holds is taken although the socket shows none, and what came before
 * the end is, too. */
START_TEST(transported)
{
	type.transport = &turning;
	type.ahead = true;
	type.drained = drained;
	type.opened = greet;
	begin();
	int fd = dial(1);

	say(fd, "h");
	ck_assert_int_eq(recv(fd, &(char){ 0 }, 1, MSG_DONTWAIT), -1);
	say(fd, "i");
	expect(fd, "ho");
	expect_turned(fd, "welcome\n");
	say_turned(fd, "one\ntwo\nthree\nfour, and five\nsi");
	expect_turned(fd, "one\ntwo\nthree\nfour, and five\n");
	while (n_drained == 0) {
		sched_yield();
	}
	unsigned before = n_drained;
	say_turned(fd, "x\nlast\n");
	shutdown(fd, SHUT_WR);
	expect_turned(fd, "six\nlast\n");
	expect_end(fd);
	ck_assert_uint_gt(n_drained, before);
}
END_TEST

/* Nothing but the handshake is read before it is over; one that fails ends the connection. */
START_TEST(handshake_fails)
{
	type.transport = &turning;
	type.ahead = true;
	type.drained = drained;
	begin();
	int fd = dial(1);

	say(fd, _i == 0 ? "no" : "h");
	if (_i == 1) {
		shutdown(fd, SHUT_WR);
		while (n_closed == 0) {
			sched_yield();
		}
	}
	expect_end(fd);
	ck_assert_uint_eq(n_drained, 0);
	ck_assert_uint_eq(n_closed, 1);
}
END_TEST

static int prove(struct conn *c, uint8_t *data, size_t len, size_t *ret_bytes)
{
	c->proved = true;
	return take_line(c, data, len, ret_bytes);
}

/* Connections that prove nothing give way, oldest first; those that did keep their places. */
START_TEST(unproved)
{
	int proved[3], fd[8];

	type.most = 4;
	type.evicts = CONN_UNPROVED;
	type.message = prove;
	begin();
	for (unsigned i = 0; i < 3; i++) {
		proved[i] = dial(1);
		say(proved[i], "a\n");
		expect(proved[i], "a\n");
	}
	for (unsigned i = 0; i < 8; i++) {
		fd[i] = dial(1 + i % 2);
		while (n_open < 4 + i) {
			sched_yield();
		}
		ck_assert_uint_eq(n_closed, i);
	}
	for (unsigned i = 0; i < 7; i++) {
		expect_end(fd[i]);
	}
	for (unsigned i = 0; i < 3; i++) {
		say(proved[i], "b\n");
		expect(proved[i], "b\n");
		close(proved[i]);
	}
	say(fd[7], "c\n");
	expect(fd[7], "c\n");
	close(fd[7]);
}
END_TEST

static uint64_t soon(const struct conn *c)
{
	return c->wrote_ms + 60;
}

/* A kind's own limit is in place of the others: bytes that come do not move this one. */
START_TEST(own_limit)
{
	struct pollfd p = { .events = POLLRDHUP };

	type.idle_ms = type.stall_ms = 100000;
	type.limit = soon;
	begin();
	p.fd = dial(1);
	do {
		say(p.fd, "x");
	} while (poll(&p, 1, 5) == 0);
	expect_end(p.fd);
	ck_assert_uint_eq(n_timed_out, 1);
}
END_TEST

TEST_SUITE(conn)
{
	TCase *t = tcase_create("conn");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, whole_lines);
	tcase_add_test(t, slow_sender);
	tcase_add_loop_test(t, slow_reader, 0, 2);
	tcase_add_test(t, crowd);
	tcase_add_test(t, refused);
	tcase_add_loop_test(t, half_closed, 0, 3);
	tcase_add_loop_test(t, cut_short, 0, 8);
	tcase_add_test(t, no_descriptor);
	tcase_add_test(t, posted);
	tcase_add_test(t, transported);
	tcase_add_loop_test(t, handshake_fails, 0, 2);
	tcase_add_test(t, unproved);
	tcase_add_test(t, own_limit);
	suite_add_tcase(suite, t);
}

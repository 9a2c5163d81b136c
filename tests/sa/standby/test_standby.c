/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Two ends of a link over loopback, each with a state of its own; and peers that do what they
 * should not. Longer than most: all cases share the two ends and the peers.
 */
#include <arpa/inet.h>
#include <check.h>
#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/state/state.h"
#include "sa/standby/frame.h"
#include "sa/standby/standby_int.h"
#include "sa/standby/tls.h"
#include "tests/alloc/alloc_fail.h"
#include "tests/lib/suite.h"

#ifdef HAVE_GNUTLS

#include "tests/lib/standby_fixture.h"

/* --- in step ----------------------------------------------------------------------------- */

/* The standby's state has an answer at the moment when the client gets it. */
START_TEST(test_acknowledged_is_copied)
{
	struct lid_memory m = { .guid = 0x77, .range = { 4, 2 } };
	char text[200] = "";

	change_service(to, 99, 1); /* which the copy replaces */
	for (unsigned i = 0; i < 50; i++) {
		change_service(from, (uint8_t)i, (int)i);
	}
	open_standby(standby_port(open_master(60000)), secret_text, PREFIX);
	WAIT_UNTIL(status(master).n_in_step == 1);
	ck_assert_str_eq(dump(to), dump(from));
	for (unsigned i = 0; i < 50; i++) {
		change_service(from, (uint8_t)(i * 7 % 60), i % 3 ? (int)i : -1);
		ck_assert_str_eq(dump(to), dump(from));
	}
	ck_assert_int_eq(state_put_lids(from, &m, 1, true), E_OK);
	ck_assert_str_eq(dump(to), dump(from));
	ck_assert(standby_in_step(master, STANDBY_GUID, 0));
	ck_assert(!standby_in_step(master, STANDBY_GUID + 1, 1000));
	WAIT_UNTIL(standby_hears(standby));
	ck_assert_uint_eq(status(standby).master, MASTER_GUID);
	ck_assert(standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
	ck_assert_msg(strstr(text, "50 rows") != NULL, "%s", text);
	change_service(from, 1, 77); /* of a master that is none any more: not taken */
	ck_assert_str_ne(dump(to), dump(from));
}
END_TEST

/* Copies of many rows while transactions go on. */
START_TEST(test_copy_under_load)
{
	struct lid_memory *m = calloc(40000, sizeof(*m));

	for (uint32_t i = 0; i < 40000; i++) {
		m[i] = (struct lid_memory){ .guid = 1 + i, .range = { 1 + i, 0 } };
	}
	ck_assert_int_eq(state_put_lids(from, m, 40000, false), E_OK);
	open_standby(standby_port(open_master(60000)), secret_text, PREFIX);
	for (int i = 0; status(master).n_in_step == 0 && i < 200; i++) {
		change_service(from, (uint8_t)i, i & 0x7f);
	}
	WAIT_UNTIL(status(master).n_in_step == 1);
	ck_assert_int_eq(state_put_lids(from, m, 40000, true), E_OK); /* several frames */
	change_service(from, 1, 1);
	free(m);
	m = NULL;
	struct lid_memory *got;
	size_t n;
	ck_assert_int_eq(state_lids(to, arena, &got, &n), E_OK);
	ck_assert_uint_eq(n, 40000);
	standby_free(standby); /* both are quiet from here on */
	standby = NULL;
	ck_assert_int_eq(state_lids(from, arena, &m, &n), E_OK);
	ck_assert_mem_eq(m, got, n * sizeof(*m));
}
END_TEST

/* The master is gone and comes back: the standby connects again and has a new copy. */
START_TEST(test_reconnect)
{
	char text[200] = "";
	unsigned port = standby_port(open_master(60000));

	open_standby(port, secret_text, PREFIX);
	WAIT_UNTIL(standby_hears(standby));
	ck_assert(!standby_lost(standby));
	standby_set_role(master, STANDBY_IDLE);
	WAIT_UNTIL(standby_lost(standby));
	ck_assert(!standby_lost(standby)); /* once */
	ck_assert(!standby_hears(standby));
	change_service(from, 5, 5);
	standby_set_role(master, STANDBY_GIVES);
	WAIT_UNTIL(standby_hears(standby));
	WAIT_UNTIL(status(master).n_in_step == 1);
	ck_assert_str_eq(dump(to), dump(from));
	ck_assert_uint_eq(status(standby).copies, 2);
	ck_assert(standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
}
END_TEST

/* --- copies that must not be used -------------------------------------------------------- */

enum never { NO_MASTER, OTHER_MASTER, OUTLIVED, N_NEVER };

START_TEST(test_never_used)
{
	char text[200] = "";
	uint64_t guid = _i == OTHER_MASTER ? MASTER_GUID + 1 : MASTER_GUID;
	unsigned port = standby_port(open_master(0));

	if (_i == NO_MASTER) {
		standby_set_role(master, STANDBY_IDLE);
	}
	open_standby(port, secret_text, PREFIX);
	if (_i == NO_MASTER) {
		WAIT_UNTIL(strstr(status(standby).trouble, "no master") != NULL);
	} else {
		WAIT_UNTIL(standby_hears(standby));
	}
	if (_i == OUTLIVED) {
		standby_set_role(master, STANDBY_IDLE);
		WAIT_UNTIL(!standby_hears(standby)); /* a poll is sent ... */
		standby_outlived(standby); /* ... and answered */
	}
	ck_assert(!standby_take_over(standby, guid, text, sizeof(text)));
	ck_assert_str_ne(text, "");
}
END_TEST

/* A poll that was sent before the link was there, and is answered when the copy is in step. */
START_TEST(test_heard_meanwhile)
{
	char text[200] = "";
	unsigned port = standby_port(open_master(0));

	open_standby(port, secret_text, PREFIX);
	bool heard = standby_hears(standby);
	WAIT_UNTIL(status(standby).in_step);
	if (!heard) {
		standby_outlived(standby);
	}
	ck_assert(standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
}
END_TEST

/* --- peers that misbehave ----------------------------------------------------------------- */

/* \param host  Last byte of our address in 127.0.0.0/24. */
static int connect_from(unsigned host, unsigned port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_addr.s_addr = htonl(0x7f000000 | host) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	at.sin_port = htons((uint16_t)port);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static int connect_to(unsigned port)
{
	return connect_from(1, port);
}

/* Listens on a port, or on any if it is 0. */
static int listen_at(unsigned port, unsigned *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)port),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	ck_assert_int_eq(
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)), 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	ck_assert_int_eq(listen(fd, 5), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

/* A session of our own making, with the right secret. */
static struct tls *open_tls(struct tls_keys **keys, int fd, bool server)
{
	struct tls *t;
	const char *reason = "";
	int ret;

	ck_assert_int_eq(
		tls_keys_new((const uint8_t *)secret_text, strlen(secret_text), keys),
		E_OK);
	ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(tls_new(*keys, fd, server, &t), E_OK);
	WAIT_UNTIL((ret = tls_handshake(t, &reason)) != -EAGAIN);
	ck_assert_msg(ret == E_OK, "%s", reason);
	return t;
}

static void send_bytes(struct tls *t, const void *bytes, size_t len)
{
	ssize_t n;

	WAIT_UNTIL((n = tls_write(t, bytes, len)) != -EAGAIN);
	ck_assert_int_eq(n, (ssize_t)len);
}

static void send_hello_of(struct tls *t, uint64_t guid, bool is_master, bool joins)
{
	const struct frame_hello h = { guid, PREFIX, is_master, joins };
	uint8_t bytes[FRAME_HEAD_BYTES + FRAME_HELLO_BYTES];

	frame_hello(bytes, &h);
	send_bytes(t, bytes, sizeof(bytes));
}

static void send_hello(struct tls *t, uint64_t guid, bool is_master)
{
	send_hello_of(t, guid, is_master, false);
}

/* Reads until it is closed. */
static void read_all(struct tls *t)
{
	uint8_t bytes[4096];
	ssize_t n;

	WAIT_UNTIL((n = tls_read(t, bytes, sizeof(bytes))) != -EAGAIN && n <= 0);
}

START_TEST(test_wrong_secret)
{
	open_standby(standby_port(open_master(1000)), "another secret, long enough",
	             PREFIX);
	WAIT_UNTIL(strstr(status(standby).trouble, "handshake") != NULL);
	ck_assert_uint_eq(status(master).n_standbys, 0);
	change_service(from, 1, 1); /* and nobody is waited for */
	ck_assert_str_eq(dump(to), "");
}
END_TEST

START_TEST(test_another_subnet)
{
	open_standby(standby_port(open_master(1000)), secret_text, PREFIX + 1);
	WAIT_UNTIL(strstr(status(master).trouble, "another prefix") != NULL);
	ck_assert_uint_eq(status(master).n_standbys, 0);
}
END_TEST

/* What a standby says first, and what the master has to say about it. */
enum bad_hello {
	HELLO_VERSION,
	HELLO_ORDER,
	HELLO_SELF,
	HELLO_NONE,
	HELLO_PING,
	N_BAD_HELLO
};

START_TEST(test_bad_hello)
{
	static const char *const said[] = { "another version of Saguaro",
		                            "another byte order",
		                            "that is this saguarod itself",
		                            "something else than HELLO",
		                            "something else than HELLO" };
	const struct frame_hello h = { _i == HELLO_SELF ? MASTER_GUID : STANDBY_GUID,
		                       PREFIX, false, false };
	uint8_t bytes[FRAME_HEAD_BYTES + FRAME_HELLO_BYTES];
	int fd = connect_to(standby_port(open_master(30)));
	struct tls_keys *keys;
	struct tls *t = open_tls(&keys, fd, false);

	frame_hello(bytes, &h);
	switch (_i) {
	case HELLO_VERSION: bytes[FRAME_HEAD_BYTES + 5]++; break;
	case HELLO_ORDER: bytes[FRAME_HEAD_BYTES + 8] ^= 0xff; break;
	case HELLO_NONE: memset(bytes + FRAME_HEAD_BYTES, 0, FRAME_HELLO_BYTES); break;
	case HELLO_PING: bytes[4] = FRAME_PING; break;
	}
	send_bytes(t, bytes, sizeof(bytes));
	read_all(t);
	ck_assert_msg(strstr(status(master).trouble, said[_i]) != NULL, "%s",
	              status(master).trouble);
	ck_assert_uint_eq(status(master).n_standbys, 0);
	tls_free(t);
	tls_keys_free(keys);
	close(fd);
}
END_TEST

/* Bytes that are not TLS, and many connections that say nothing. */
START_TEST(test_garbage)
{
	unsigned port = standby_port(open_master(60000));
	int fd[20];
	char text[64];

	for (unsigned i = 0; i < 20; i++) {
		fd[i] = connect_to(port);
		if (i % 2) {
			ck_assert_int_eq(send(fd[i], "GET / HTTP/1.0\r\n\r\n", 18, 0),
			                 18);
		}
	}
	ck_assert_int_ge(recv(fd[19], text, sizeof(text), 0),
	                 -1); /* closed or an alert */
	open_standby(port, secret_text, PREFIX);
	WAIT_UNTIL(status(master).n_in_step == 1);
	change_service(from, 1, 1);
	ck_assert_str_eq(dump(to), dump(from));
	for (unsigned i = 0; i < 20; i++) {
		close(fd[i]);
	}
}
END_TEST

/* A crowd of one address does not take the place of a standby that is about to prove itself. */
START_TEST(test_crowd_of_an_address)
{
	enum { CROWD = 40 };
	unsigned port = standby_port(open_master(60000));
	int standing = connect_from(2, port), fd[CROWD];
	struct tls_keys *keys;
	char byte;

	for (unsigned i = 0; i < CROWD; i++) {
		fd[i] = connect_from(1, port);
	}
	for (unsigned i = 0; i < CROWD - LINK_PEERS; i++) { /* they displace each other */
		ck_assert_int_eq(recv(fd[i], &byte, 1, 0), 0);
	}
	struct tls *t = open_tls(&keys, standing, false);
	send_hello(t, STANDBY_GUID, false);
	WAIT_UNTIL(status(master).n_standbys == 1);
	tls_free(t);
	tls_keys_free(keys);
	close(standing);
	for (unsigned i = 0; i < CROWD; i++) {
		close(fd[i]);
	}
}
END_TEST

/* The program is linked with --wrap=tls_new, so that sessions can be made to fail. */
int __real_tls_new(const struct tls_keys *k, int fd, bool server, struct tls **ret_tls);
int __wrap_tls_new(const struct tls_keys *k, int fd, bool server, struct tls **ret_tls);

static atomic_int sessions_that_fail;

int __wrap_tls_new(const struct tls_keys *k, int fd, bool server, struct tls **ret_tls)
{
	if (server && atomic_load(&sessions_that_fail) > 0) {
		atomic_fetch_sub(&sessions_that_fail, 1);
		return -ENOMEM;
	}
	return __real_tls_new(k, fd, server, ret_tls);
}

/* A thread gives back only a lock that it has: all locks of the program report it when it does not. */
int __real_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr);
int __real_pthread_mutex_unlock(pthread_mutex_t *m);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *m);

int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
	pthread_mutexattr_t own;

	if (attr != NULL) {
		return __real_pthread_mutex_init(m, attr);
	}
	pthread_mutexattr_init(&own);
	pthread_mutexattr_settype(&own, PTHREAD_MUTEX_ERRORCHECK);
	int ret = __real_pthread_mutex_init(m, &own);
	pthread_mutexattr_destroy(&own);
	return ret;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	if (__real_pthread_mutex_unlock(m) != 0) {
		abort();
	}
	return 0;
}

/* Memory for the rows of one transaction is out: that standby gets a new copy, and what comes after
 * reaches it as it did before. */
START_TEST(test_no_memory_for_rows)
{
	const struct state_write row = { .table = COPIED_RECORDS + RECORDS_SERVICES,
		                         .key = (const uint8_t *)"key",
		                         .key_len = 3,
		                         .value = (const uint8_t *)"0123456789",
		                         .len = 10 };
	uint64_t copies;

	open_standby(standby_port(open_master(60000)), secret_text, PREFIX);
	WAIT_UNTIL(status(master).n_in_step == 1);
	copies = status(master).copies;
	alloc_fail_from(1); /* as the state's thread would call */
	standby_link_write(master, &row);
	ck_assert(alloc_fail_end());
	standby_link_committed(master);
	WAIT_UNTIL(status(master).copies == copies + 1 && status(master).n_in_step == 1);
	for (unsigned i = 1; i < 5; i++) {
		change_service(from, i, 1);
	}
	WAIT_UNTIL(strcmp(dump(to), dump(from)) == 0);
	WAIT_UNTIL(status(master).n_in_step == 1);
	ck_assert_uint_eq(status(master).copies, copies + 1);
}
END_TEST

/* A connection for which there is no memory is closed and leaves no peer behind: its place is free for
 * a standby. */
START_TEST(test_no_memory_for_a_session)
{
	enum { MORE_THAN_PLACES = 20 };
	unsigned port = standby_port(open_master(60000));
	char byte;

	atomic_store(&sessions_that_fail, MORE_THAN_PLACES);
	for (unsigned i = 0; i < MORE_THAN_PLACES; i++) {
		int fd = connect_to(port);

		ck_assert_int_eq(recv(fd, &byte, 1, 0), 0);
		close(fd);
	}
	ck_assert_int_eq(atomic_load(&sessions_that_fail), 0);
	ck_assert_uint_eq(status(master).n_standbys, 0);
	open_standby(port, secret_text, PREFIX);
	WAIT_UNTIL(status(master).n_in_step == 1);
	ck_assert_uint_eq(status(master).n_standbys, 1);
}
END_TEST

/* A standby that acknowledges its copy and then nothing more does not hold clients up for ever. */
START_TEST(test_standby_stalls)
{
	int fd = connect_to(standby_port(open_master(30)));
	struct tls_keys *keys;
	struct tls *t = open_tls(&keys, fd, false);
	uint8_t ack[FRAME_HEAD_BYTES + FRAME_NUMBER_BYTES];
	uint8_t bytes[256];
	size_t n = 0;

	send_hello(t, STANDBY_GUID, false);
	const size_t expected =
		2 * FRAME_HEAD_BYTES + FRAME_HELLO_BYTES + FRAME_NUMBER_BYTES;
	while (n < expected) { /* HELLO and COPY_END */
		ssize_t got = tls_read(t, bytes + n, sizeof(bytes) - n);

		n += got > 0 ? (size_t)got : 0;
	}
	frame_number(ack, FRAME_ACK, 0);
	send_bytes(t, ack, sizeof(ack));
	WAIT_UNTIL(status(master).n_in_step == 1);
	change_service(from, 1, 1);
	ck_assert_uint_eq(status(master).dropped, 1);
	change_service(from, 2, 2);
	ck_assert_uint_eq(status(master).dropped, 1);
	read_all(t);
	tls_free(t);
	tls_keys_free(keys);
	close(fd);
}
END_TEST

/* A standby that does not read its copy is closed, because the copy keeps old pages of the state. */
START_TEST(test_standby_stalls_in_its_copy)
{
	const struct standby_options o = { .listen = "127.0.0.1:0",
		                           .secret = write_secret("m", secret_text),
		                           .storing_ms = 50,
		                           .guid = MASTER_GUID,
		                           .prefix = PREFIX,
		                           .state = from };
	struct lid_memory *m = calloc(40000, sizeof(*m));
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct tls_keys *keys;
	struct tls *t;

	for (uint32_t i = 0; i < 40000; i++) {
		m[i] = (struct lid_memory){ .guid = 1 + i, .range = { 1 + i, 0 } };
	}
	ck_assert_int_eq(state_put_lids(from, m, 40000, false), E_OK);
	free(m);
	master = open_link(&o);
	standby_set_role(master, STANDBY_GIVES);
	at.sin_port = htons((uint16_t)standby_port(master));
	ck_assert_int_eq(
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){ 4096 }, sizeof(int)), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	t = open_tls(&keys, fd, false);
	send_hello(t, STANDBY_GUID, false);
	WAIT_UNTIL(status(master).dropped == 1);
	tls_free(t);
	tls_keys_free(keys);
	close(fd);
}
END_TEST

/* Acknowledges what was never sent, and (1) its copy before it can have any of it. */
START_TEST(test_standby_lies)
{
	const struct frame_hello h = { STANDBY_GUID, PREFIX, false, false };
	int fd = connect_to(standby_port(open_master(30)));
	struct tls_keys *keys;
	struct tls *t = open_tls(&keys, fd, false);
	uint8_t said[FRAME_HEAD_BYTES + FRAME_HELLO_BYTES],
		ack[FRAME_HEAD_BYTES + FRAME_NUMBER_BYTES],
		both[sizeof(said) + sizeof(ack)];

	frame_hello(said, &h);
	frame_number(ack, FRAME_ACK, _i == 0 ? 1000 : 0);
	memcpy(both, said, sizeof(said));
	memcpy(both + sizeof(said), ack, sizeof(ack));
	if (_i == 0) {
		send_bytes(t, said, sizeof(said));
		WAIT_UNTIL(status(master).n_standbys == 1);
		send_bytes(t, ack, sizeof(ack));
	} else {
		send_bytes(t, both, sizeof(both));
	}
	read_all(t);
	ck_assert_uint_eq(status(master).copies, 0);
	ck_assert_uint_eq(status(master).n_in_step, 0);
	tls_free(t);
	tls_keys_free(keys);
	close(fd);
}
END_TEST

/* What a false or dying master sends after its HELLO. */
enum torn {
	TORN_ROWS,
	TORN_BAD_ROW,
	TORN_CHANGES_FIRST,
	TORN_ACK,   /* what a standby sends */
	TORN_AFTER, /* from here on after a whole copy, number 7 */
	TORN_GAP = TORN_AFTER,
	TORN_NO_ROWS,  /* the end of a transaction without any */
	TORN_TWO_ENDS, /* of the copy */
	TORN_PING,     /* with another number */
	TORN_PING_IN_CHANGES,
	N_TORN
};

static void send_row(struct tls *t, uint8_t name, uint8_t table)
{
	uint8_t bytes[FRAME_HEAD_BYTES + 400], key[26] = { name }, row[192] = { 0 };
	const struct state_write w = { .table = table,
		                       .key = key,
		                       .key_len = sizeof(key),
		                       .value = row,
		                       .len = sizeof(row) };

	frame_head(bytes, FRAME_ROWS, frame_row_bytes(&w));
	frame_put_row(bytes + FRAME_HEAD_BYTES, &w);
	send_bytes(t, bytes, FRAME_HEAD_BYTES + frame_row_bytes(&w));
}

static void send_number(struct tls *t, enum frame_type type, uint64_t number)
{
	uint8_t bytes[FRAME_HEAD_BYTES + FRAME_NUMBER_BYTES];

	frame_number(bytes, type, number);
	send_bytes(t, bytes, sizeof(bytes));
}

START_TEST(test_torn_copy)
{
	unsigned port;
	int listener = listen_at(0, &port), fd;
	struct tls_keys *keys;
	struct tls *t;
	char text[200];

	change_service(to, 9, 9);
	const char *before = dump(to);
	open_standby(port, secret_text, PREFIX);
	fd = accept(listener, NULL, NULL);
	t = open_tls(&keys, fd, true);
	send_hello(t, MASTER_GUID, true);
	send_row(t, 1, _i == TORN_BAD_ROW ? COPIED_LIDS : COPIED_RECORDS + RECORDS_SERVICES);
	if (_i == TORN_CHANGES_FIRST) {
		send_number(t, FRAME_CHANGES_END, 1);
	} else if (_i == TORN_ACK) {
		send_number(t, FRAME_ACK, 0);
	} else if (_i >= TORN_AFTER) {
		send_number(t, FRAME_COPY_END, 7);
		WAIT_UNTIL(standby_hears(standby));
		before = dump(to);
		if (_i == TORN_GAP || _i == TORN_PING_IN_CHANGES) {
			send_row(t, 2, COPIED_RECORDS + RECORDS_SERVICES);
		}
		send_number(t,
		            _i == TORN_TWO_ENDS ? FRAME_COPY_END
		            : _i == TORN_PING || _i == TORN_PING_IN_CHANGES
		                    ? FRAME_PING
		                    : FRAME_CHANGES_END,
		            _i == TORN_GAP || _i == TORN_PING ? 9
		            : _i == TORN_NO_ROWS              ? 8
		                                              : 7);
	}
	if (_i != TORN_ROWS) {
		read_all(t);
	}
	tls_free(t);
	close(fd);
	fd = accept(listener, NULL, NULL); /* it connects again */
	ck_assert(!standby_hears(standby));
	ck_assert_str_eq(dump(to), before);
	ck_assert(_i >= TORN_AFTER ||
	          !standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
	tls_keys_free(keys);
	close(fd);
	close(listener);
}
END_TEST

/* A standby that was master gives what it was told meanwhile, and this is what a false
 * one sends: nothing of it is joined. */
enum false_join {
	JOIN_LIDS,    /* LIDs are the master's */
	JOIN_CLEARS,  /* a whole table */
	JOIN_GARBAGE, /* in a frame of rows */
	JOIN_COUNT,   /* fewer rows than it says */
	JOIN_ACK,     /* before the end */
	N_FALSE_JOIN
};

START_TEST(test_false_join)
{
	const struct state_write clear = { .table = COPIED_RECORDS + RECORDS_SERVICES,
		                           .clears = true };
	const struct state_write lid = { .table = COPIED_LIDS,
		                         .key = (const uint8_t *)"12345678",
		                         .key_len = 8 };
	const struct state_write *w = _i == JOIN_LIDS ? &lid : &clear;
	uint8_t bytes[FRAME_HEAD_BYTES + 100] = { 0 };
	size_t len = _i == JOIN_GARBAGE ? 5 : frame_row_bytes(w);
	struct tls_keys *keys;
	const char *before;
	struct tls *t;
	int fd;

	change_service(from, 1, 1);
	before = dump(from);
	fd = connect_to(standby_port(open_master(30)));
	t = open_tls(&keys, fd, false);
	send_hello_of(t, STANDBY_GUID, false, true);
	send_row(t, 7, COPIED_RECORDS + RECORDS_SERVICES);
	if (_i == JOIN_COUNT) {
		send_number(t, FRAME_JOIN_END, 2);
	} else if (_i == JOIN_ACK) {
		send_number(t, FRAME_ACK, 1);
	} else {
		frame_head(bytes, FRAME_ROWS, len);
		if (_i != JOIN_GARBAGE) {
			frame_put_row(bytes + FRAME_HEAD_BYTES, w);
		}
		send_bytes(t, bytes, FRAME_HEAD_BYTES + len);
	}
	read_all(t);
	ck_assert_str_eq(dump(from), before);
	ck_assert(!standby_joined(master));
	tls_free(t);
	tls_keys_free(keys);
	close(fd);
}
END_TEST

/* The new master has an older version, which takes nothing of a standby that was master:
 * what this one was told is named in its log, and replaced by the copy. */
START_TEST(test_older_master)
{
	unsigned port = standby_port(open_master(60000));
	struct tls_keys *keys;
	char text[200];
	struct tls *t;

	open_standby(port, secret_text, PREFIX);
	WAIT_UNTIL(standby_hears(standby));
	ck_assert(standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
	change_service(to, 7, 5);
	standby_free(master);
	master = NULL;
	keep_log();
	int listener = listen_at(port, &port);
	standby_set_role(standby, STANDBY_TAKES);
	int fd = accept(listener, NULL, NULL);
	t = open_tls(&keys, fd, true);
	send_hello(t, MASTER_GUID, true);
	send_number(t, FRAME_COPY_END, 1);
	WAIT_UNTIL(standby_hears(standby));
	ck_assert_str_eq(dump(to), "");
	ck_assert(logged("dropped service 0x07"));
	ck_assert(logged("the new master has an older version"));
	tls_free(t);
	tls_keys_free(keys);
	close(fd);
	close(listener);
}
END_TEST

/* --- options ------------------------------------------------------------------------------ */

START_TEST(test_bad_options)
{
	struct standby_options o = { .peers = "127.0.0.1:1", .guid = 1, .state = from };
	struct standby *l;

	ck_assert_int_eq(standby_new(&o, arena, &why, &l), E_SYNTAX);
	ck_assert_msg(strstr(why, "need standby_secret") != NULL, "%s", why);
	o.secret = write_secret("x", "short");
	ck_assert_int_eq(standby_new(&o, arena, &why, &l), E_RANGE);
	o.secret = write_secret("x", secret_text);
	o.peers = "127.0.0.1:1,nowhere";
	ck_assert_int_eq(standby_new(&o, arena, &why, &l), E_SYNTAX);
	ck_assert_msg(strstr(why, "'nowhere'") != NULL, "%s", why);
	o.peers = NULL;
	o.listen = "127.0.0.1:x";
	ck_assert_int_ne(standby_new(&o, arena, &why, &l), E_OK);
	ck_assert_msg(strstr(why, "expected ADDR:PORT") != NULL, "%s", why);
}
END_TEST

TEST_SUITE(standby)
{
	TCase *t = tcase_create("standby");

	tcase_add_checked_fixture(t, open_states, close_links);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_acknowledged_is_copied);
	tcase_add_test(t, test_copy_under_load);
	tcase_add_test(t, test_reconnect);
	tcase_add_loop_test(t, test_never_used, 0, N_NEVER);
	tcase_add_test(t, test_heard_meanwhile);
	tcase_add_test(t, test_wrong_secret);
	tcase_add_test(t, test_another_subnet);
	tcase_add_loop_test(t, test_bad_hello, 0, N_BAD_HELLO);
	tcase_add_test(t, test_garbage);
	tcase_add_test(t, test_crowd_of_an_address);
	tcase_add_test(t, test_no_memory_for_a_session);
	tcase_add_test(t, test_no_memory_for_rows);
	tcase_add_test(t, test_standby_stalls);
	tcase_add_test(t, test_standby_stalls_in_its_copy);
	tcase_add_loop_test(t, test_standby_lies, 0, 2);
	tcase_add_loop_test(t, test_torn_copy, 0, N_TORN);
	tcase_add_loop_test(t, test_false_join, 0, N_FALSE_JOIN);
	tcase_add_test(t, test_older_master);
	tcase_add_test(t, test_bad_options);
	suite_add_tcase(suite, t);
}

#else

static void open_link(void)
{
	const struct standby_options o = { .secret = "/nonexistent" };
	struct arena *a = arena_new();
	const char *why = "";
	struct standby *l;

	ck_assert_int_ne(standby_new(&o, a, &why, &l), E_OK);
	arena_free(a);
}

START_TEST(test_without_gnutls)
{
	open_link();
}
END_TEST

TEST_SUITE(standby)
{
	TCase *t = tcase_create("standby");

	tcase_add_test(t, test_without_gnutls);
	suite_add_tcase(suite, t);
}

#endif

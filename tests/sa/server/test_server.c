/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <check.h>
#include <errno.h>
#include <pthread.h>

#include "conf/base/log.h"
#include "sa/mad/transport.h"
#include "sa/server/server.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

/* A transport that keeps the status of what is sent, by the low half of the transaction
 * id. */
enum { MESSAGES = 10000, UNSENT = 0xffff };

struct sink {
	struct transport t;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint16_t status[MESSAGES];
	uint32_t lid[MESSAGES];
	unsigned order[MESSAGES]; /* how many were sent before it */
	unsigned n, refuse;
	bool held;  /* the answer thread has to wait inside send */
	bool stuck; /* and does */
	pthread_t owner;
};

static unsigned tid_of(const struct mad_msg *m)
{
	return (unsigned)m->data[12] << 24 | (unsigned)m->data[13] << 16 |
	       (unsigned)m->data[14] << 8 | m->data[15];
}

static void hold(struct sink *s, bool held)
{
	pthread_mutex_lock(&s->lock);
	s->held = held;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static int sink_send(struct transport *t, const struct mad_msg *m)
{
	struct sink *s = (struct sink *)t;
	unsigned tid = tid_of(m);
	int ret = E_OK;

	pthread_mutex_lock(&s->lock);
	while (s->held && !pthread_equal(pthread_self(), s->owner)) {
		s->stuck = true;
		pthread_cond_broadcast(&s->changed);
		pthread_cond_wait(&s->changed, &s->lock);
	}
	s->stuck = false;
	if (s->refuse > 0) {
		s->refuse--;
		ret = -EAGAIN;
	} else {
		ck_assert_uint_lt(tid, MESSAGES);
		ck_assert(m->mgmt_class == 3 && m->addr.qpn == 1 &&
		          m->addr.qkey == 0x80010000);
		s->status[tid] = (uint16_t)(m->data[4] << 8 | m->data[5]);
		s->lid[tid] = m->addr.lid;
		s->order[tid] = s->n;
		s->n++;
		pthread_cond_broadcast(&s->changed);
	}
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static const struct transport_ops sink_ops = { .name = "sink", .send = sink_send };

static struct sink sink;
static struct query_fixture *w;
static struct sa_server *server;

static void start(void)
{
	struct sa_limits limits = { .sa_key = 1 };

	memset(&sink, 0, sizeof(sink));
	memset(sink.status, 0xff, sizeof(sink.status));
	sink.t.ops = &sink_ops;
	sink.owner = pthread_self();
	pthread_mutex_init(&sink.lock, NULL);
	pthread_cond_init(&sink.changed, NULL);
	w = query_fixture_small(0, 0, PATH_MINIMAL);
	ck_assert_int_eq(sa_server_new(&sink.t, w->w, NULL, &limits, &server), E_OK);
}

static void stop(void)
{
	sa_server_free(server);
	query_fixture_free(w);
	sa_server_free(NULL);
}

/* A request of one LID for the NodeRecord of another. */
static void push_from(unsigned tid, uint32_t from, uint32_t lid, uint8_t method)
{
	uint8_t mad[256] = { 1,
		             3,
		             2,
		             method,
		             [12] = (uint8_t)(tid >> 24),
		             [13] = (uint8_t)(tid >> 16),
		             [14] = (uint8_t)(tid >> 8),
		             [15] = (uint8_t)tid,
		             [17] = 0x11,
		             [55] = 1 };
	struct mad_msg m = { .mgmt_class = 3,
		             .addr = { .lid = from, .qpn = 1 },
		             .len = 256,
		             .data = mad };

	mad[56] = (uint8_t)(lid >> 8);
	mad[57] = (uint8_t)lid;
	sa_server_receive(server, &m, 1, true);
}

static void push(unsigned tid, uint32_t lid, uint8_t method)
{
	push_from(tid, 7 + tid, lid, method);
}

static void wait_for(unsigned n)
{
	pthread_mutex_lock(&sink.lock);
	while (sink.n < n) {
		pthread_cond_wait(&sink.changed, &sink.lock);
	}
	pthread_mutex_unlock(&sink.lock);
}

START_TEST(answers_all)
{
	uint32_t lid = query_fixture_end(w, HOST + 1).base_lid;

	for (unsigned i = 0; i < 5000; i++) {
		push(i, i % 2 ? lid : 4000, 1);
	}
	push(5000, lid, 0x81);
	push(5001, lid, 1);
	wait_for(5001);
	for (unsigned i = 0; i < 5000; i++) {
		ck_assert_uint_eq(sink.status[i], i % 2 ? 0 : 0x0300);
		ck_assert_uint_eq(sink.lid[i], 7 + i);
	}
	ck_assert_uint_eq(sink.status[5000], UNSENT);
}
END_TEST

START_TEST(counts)
{
	struct sa_counters c;
	uint32_t lid = query_fixture_end(w, HOST + 1).base_lid;

	push(0, lid, 1);
	push(1, 4000, 1);
	push(2, lid, 0x81);
	push(3, lid, 0x12);
	wait_for(3);
	do {
		sa_server_counters(server, &c);
	} while (c.answered < 3);
	ck_assert_uint_eq(c.requests, 4);
	ck_assert_uint_eq(c.dropped_malformed, 1);
	ck_assert_uint_eq(c.no_records, 1);
	ck_assert_uint_eq(c.records, 2);
	ck_assert_uint_eq(c.dropped_key + c.dropped_overload, 0);
}
END_TEST

/* The answer thread waits in send with the first request, so the queue is ours. */
static void get_stuck(uint32_t lid)
{
	hold(&sink, true);
	push(0, lid, 1);
	pthread_mutex_lock(&sink.lock);
	while (!sink.stuck) {
		pthread_cond_wait(&sink.changed, &sink.lock);
	}
	pthread_mutex_unlock(&sink.lock);
}

/* The transport is stuck: the queue fills, then whoever pushes hears BUSY. */
START_TEST(overload)
{
	struct sa_counters c;
	uint32_t lid = query_fixture_end(w, HOST + 1).base_lid;
	unsigned busy = 0;

	get_stuck(lid);
	for (unsigned i = 1; i < MESSAGES; i++) {
		push_from(i, 7, lid, 1);
	}
	ck_assert_uint_eq(sink.status[MESSAGES - 1], 1);
	ck_assert_uint_eq(sink.status[0], UNSENT);
	sa_server_counters(server, &c);
	ck_assert_uint_eq(c.dropped_overload, MESSAGES - 8192); /* with the one in work */
	hold(&sink, false);
	wait_for(MESSAGES);
	for (unsigned i = 0; i < MESSAGES; i++) {
		ck_assert(sink.status[i] <= 1);
		busy += sink.status[i];
	}
	ck_assert_uint_eq(busy, c.dropped_overload);
}
END_TEST

/* One who floods does not keep others out: their requests take the place of his, and they
 * need not wait for his. */
START_TEST(flood)
{
	enum { GOOD = 9000 };
	uint32_t lid = query_fixture_end(w, HOST + 1).base_lid;

	get_stuck(lid);
	for (unsigned i = 1; i < GOOD; i++) {
		push_from(i, 7, lid, 1);
	}
	for (unsigned i = GOOD; i < GOOD + 100; i++) {
		push_from(i, 1000 + i % 10, lid, 1);
	}
	for (unsigned i = GOOD; i < GOOD + 100; i++) {
		ck_assert_uint_eq(sink.status[i], UNSENT);
	}
	hold(&sink, false);
	wait_for(GOOD + 100);
	for (unsigned i = GOOD; i < GOOD + 100; i++) {
		ck_assert_uint_eq(sink.status[i], 0);
		ck_assert_uint_lt(sink.order[i], GOOD + 100 - 6500);
	}
}
END_TEST

/* A table that is too large is refused and counted. */
START_TEST(large_table)
{
	struct sa_limits limits = { .sa_key = 1, .max_response = 56 + 112 };
	struct sa_counters c;

	sa_server_free(server);
	ck_assert_int_eq(sa_server_new(&sink.t, w->w, NULL, &limits, &server), E_OK);
	log_set_level((enum log_level) - 1);
	push(0, 1, 0x12); /* LID 1 alone */
	uint8_t mad[256] = { 1, 3, 2, 0x12, [15] = 1, [17] = 0x11 };
	struct mad_msg m = {
		.mgmt_class = 3, .addr = { .lid = 9, .qpn = 1 }, .len = 256, .data = mad
	};
	sa_server_receive(server, &m, 1, true); /* all nodes */
	wait_for(2);
	ck_assert_uint_eq(sink.status[0], 0);
	ck_assert_uint_eq(sink.status[1], 0x0100);
	do {
		sa_server_counters(server, &c);
	} while (c.answered < 2);
	ck_assert_uint_eq(c.refused_large, 1);
	sa_server_standby(server, true);
	sa_server_receive(server, &m, 1, true);
	sa_server_counters(server, &c);
	ck_assert_uint_eq(c.dropped_standby, 1);
	ck_assert_uint_eq(c.requests, 3);
}
END_TEST

START_TEST(full_transport_is_asked_again)
{
	sink.refuse = 5;
	push(0, query_fixture_end(w, HOST + 1).base_lid, 1);
	wait_for(1);
	ck_assert_uint_eq(sink.status[0], 0);
}
END_TEST

/* Each batch answers from the newest epoch. */
START_TEST(follows_publishes)
{
	uint32_t lid = query_fixture_end(w, HOST + 1).base_lid;

	push(0, lid, 1);
	wait_for(1);
	for (unsigned i = 1; i < 50; i++) {
		query_fixture_publish(w, PATH_MINIMAL);
		push(i, lid, 1);
		wait_for(i + 1);
		ck_assert_uint_eq(sink.status[i], 0);
	}
}
END_TEST

START_TEST(before_the_first_publish)
{
	struct snap_options so = { .grace_ms = 1000, .need_bytes = 1 << 20 };
	struct sa_limits limits = { .sa_key = 1 };
	struct query_fixture *empty = query_fixture_new();
	struct sa_server *mine = server;
	const char *why = "";

	ck_assert_int_eq(snap_writer_open(empty->dir, &so, empty->a, &why, &empty->w),
	                 E_OK);
	ck_assert_int_eq(sa_server_new(&sink.t, empty->w, NULL, &limits, &server), E_OK);
	push(0, 1, 1);
	wait_for(1);
	ck_assert_uint_eq(sink.status[0], 1);
	sa_server_free(server);
	server = mine;
	query_fixture_free(empty);
}
END_TEST

TEST_SUITE(server)
{
	TCase *tc = tcase_create("thread");

	tcase_add_checked_fixture(tc, start, stop);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, answers_all);
	tcase_add_test(tc, counts);
	tcase_add_test(tc, overload);
	tcase_add_test(tc, flood);
	tcase_add_test(tc, large_table);
	tcase_add_test(tc, full_transport_is_asked_again);
	tcase_add_test(tc, follows_publishes);
	tcase_add_test(tc, before_the_first_publish);
	suite_add_tcase(suite, tc);
}

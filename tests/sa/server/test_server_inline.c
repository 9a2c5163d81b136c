/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Requests that are answered at once, by who received them: the same bytes and counts as
 * by the answer thread, and only while that has nothing to do.
 */
#include <errno.h>
#include <pthread.h>

#include "conf/base/log.h"
#include "sa/server/server.h"
#include "tests/lib/answer_util.h"
#include "tests/lib/suite.h"

enum { SENT = 2048, ROOM = 4096, TID_LOW = 12 };

/* A transport that keeps what is sent, and by which thread. */
struct sink {
	struct transport t;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct {
		uint8_t data[ROOM];
		size_t len;
		pthread_t by;
	} sent[SENT];
	unsigned n, refuse;
	bool held;  /* others than the test have to wait inside send */
	bool stuck; /* and do */
	pthread_t test;
};

static struct sink sink;
static struct sa_server *server;

static int sink_send(struct transport *t, const struct mad_msg *m)
{
	int ret = E_OK;

	(void)t;
	pthread_mutex_lock(&sink.lock);
	while (sink.held && !pthread_equal(pthread_self(), sink.test)) {
		sink.stuck = true;
		pthread_cond_broadcast(&sink.changed);
		pthread_cond_wait(&sink.changed, &sink.lock);
	}
	if (sink.refuse > 0) {
		sink.refuse--;
		ret = -EAGAIN;
	} else {
		ck_assert(sink.n < SENT && m->len <= ROOM);
		memcpy(sink.sent[sink.n].data, m->data, m->len);
		sink.sent[sink.n].len = m->len;
		sink.sent[sink.n++].by = pthread_self();
		pthread_cond_broadcast(&sink.changed);
	}
	pthread_mutex_unlock(&sink.lock);
	return ret;
}

static const struct transport_ops sink_ops = { .name = "sink", .send = sink_send };

static void begin_lmc(unsigned lmc)
{
	memset(&sink, 0, sizeof(sink));
	sink.t.ops = &sink_ops;
	sink.test = pthread_self();
	pthread_mutex_init(&sink.lock, NULL);
	pthread_cond_init(&sink.changed, NULL);
	start_lmc(lmc, 0, PATH_MINIMAL);
	asker = lid_of(HOST + 1);
	ck_assert_int_eq(sa_server_new(&sink.t, w->w, NULL, &limits, &server), E_OK);
}

static void begin(void)
{
	begin_lmc(1);
}

static void end(void)
{
	sa_server_free(server);
	stop();
}

static struct mad_msg message(struct request *q, unsigned tid)
{
	put(q->mad + TID_LOW, 4, tid);
	return (struct mad_msg){ .mgmt_class = 3,
		                 .addr = { .lid = asker, .qpn = 1 },
		                 .len = sizeof(q->mad),
		                 .data = q->mad };
}

static void wait_for(unsigned n)
{
	pthread_mutex_lock(&sink.lock);
	while (sink.n < n) {
		pthread_cond_wait(&sink.changed, &sink.lock);
	}
	pthread_mutex_unlock(&sink.lock);
}

static void forget(void)
{
	pthread_mutex_lock(&sink.lock);
	sink.n = 0;
	pthread_mutex_unlock(&sink.lock);
}

static bool was_here(unsigned i)
{
	return pthread_equal(sink.sent[i].by, sink.test) != 0;
}

/* Counters once all that came has come to its end. */
static struct sa_counters at_rest(void)
{
	struct sa_counters c;

	do {
		sa_server_counters(server, &c);
	} while (c.requests != c.answered + c.dropped_malformed + c.dropped_key +
	                               c.dropped_overload + c.dropped_standby);
	return c;
}

/* Asks for paths until this thread answers itself: the answer thread sleeps. */
static void until_asleep(void)
{
	do {
		struct request q = by_lids(GET, HOST + 1, TWIN_2 + 1, 0);
		struct mad_msg m = message(&q, 0);
		forget();
		sa_server_receive(server, &m, 1, false);
		wait_for(1);
	} while (!was_here(0));
	at_rest();
	forget();
}

/* --- the same answers ----------------------------------------------------------------
 */

static struct request no_such_gid(void)
{
	return by_gids(GET, HOST + 1, 0xdead, 0);
}

static struct request no_such_lid(void)
{
	struct request q = by_lids(GET, HOST + 1, DUAL + 1, 0);

	put_component(&q, 40, 2, 0xb000);
	return q;
}

static struct request by_key(void)
{
	struct request q = by_lids(GET_TABLE, HOST + 1, DUAL + 2, 0);

	trust_me(&q);
	return q;
}

static struct request by_wrong_key(void)
{
	struct request q = by_lids(GET_TABLE, HOST + 1, DUAL + 2, 0);

	put(q.mad + 36, 8, 77);
	return q;
}

static struct request to_a_group(void)
{
	struct request q = by_gids(GET, HOST + 1, DUAL + 2, 0);

	put_gid(&q, 8, UINT64_C(0xff12401bffff0000), 1);
	return q;
}

static struct request no_such_mtu(void)
{
	struct request q = by_lids(GET_TABLE, HOST + 1, TWIN_2 + 1, PR_MTU);

	put_component(&q, 54, 1, 0x05); /* more than 4096 */
	return q;
}

static struct request numb_path_0(void)
{
	return by_lids(GET_TABLE, HOST + 1, TWIN_2 + 1, PR_NUMB);
}

static struct request get_lids(void)
{
	return by_lids(GET, HOST + 1, TWIN_2 + 1, 0);
}

static struct request table_lids(void)
{
	return by_lids(GET_TABLE, TWIN_1 + 1, HOST + 1, 0);
}

static struct request get_gids(void)
{
	return by_gids(GET, LEFT + 1, RIGHT + 1, PR_REVERSIBLE);
}

static struct request table_gids(void)
{
	return by_gids(GET_TABLE, HOST + 1, DUAL + 1, 0);
}

static struct request to_itself(void)
{
	return by_gids(GET_TABLE, HOST + 1, HOST + 1, 0);
}

static struct request omni_path(void)
{
	struct request q = by_gids(GET, HOST + 1, DUAL + 1, 0);

	q.mad[0] = q.mad[2] = 0x80;
	return q;
}

static const struct {
	const char *what;
	struct request (*make)(void);
	unsigned answers;
} same_rows[] = {
	{ "Get by LIDs", get_lids, 1 },
	{ "GetTable by LIDs", table_lids, 1 },
	{ "Get by GIDs", get_gids, 1 },
	{ "GetTable by GIDs", table_gids, 1 },
	{ "from a port to itself", to_itself, 1 },
	{ "Omni-Path's layout", omni_path, 1 },
	{ "with the SM_Key", by_key, 1 },
	{ "with another SM_Key", by_wrong_key, 0 },
	{ "a GID that nobody has", no_such_gid, 1 },
	{ "a LID that nobody has", no_such_lid, 1 },
	{ "an MTU that no path has", no_such_mtu, 1 },
	{ "NumbPath 0", numb_path_0, 1 },
	{ "a multicast group that is not there", to_a_group, 1 },
};

/* Counts between two moments; ck_assert_mem_eq() compares all of it. */
static struct sa_counters difference(const struct sa_counters *a,
                                     const struct sa_counters *b)
{
	struct sa_counters counters = { 0 };
	const uint64_t *from = (const uint64_t *)a, *to = (const uint64_t *)b;

	for (size_t i = 0; i < sizeof(counters) / sizeof(uint64_t); i++) {
		((uint64_t *)&counters)[i] = to[i] - from[i];
	}
	return counters;
}

static struct sa_counters counted(bool pressed, const struct mad_msg *m, unsigned answers)
{
	struct sa_counters before = at_rest(), after;

	sa_server_receive(server, m, 1, pressed);
	wait_for(answers);
	after = at_rest();
	return difference(&before, &after);
}

START_TEST(same_bytes)
{
	struct request q = same_rows[_i].make();
	struct mad_msg m = message(&q, 7);
	unsigned answers = same_rows[_i].answers;

	until_asleep();
	struct sa_counters here = counted(false, &m, answers);
	struct sa_counters queued = counted(true, &m, 2 * answers);
	ck_assert_mem_eq(&here, &queued, sizeof(here));
	ck_assert_uint_eq(here.requests, 1);
	ck_assert_uint_eq(sink.n, 2 * answers);
	ck_assert_int_eq(ask(&q), answers ? E_OK : -EPERM);
	for (unsigned i = 0; i < 2 * answers; i++) {
		ck_assert_msg(was_here(i) == (i == 0), "%s: %u", same_rows[_i].what, i);
		ck_assert_uint_eq(sink.sent[i].len, reply.len);
		ck_assert_mem_eq(sink.sent[i].data, reply.data, reply.len);
	}
}
END_TEST

/* --- not here ------------------------------------------------------------------------
 */

static struct request node(void)
{
	return request(GET_TABLE, NODE_RECORD, 0);
}

static struct request all_from_one(void)
{
	return by_gids(GET_TABLE, HOST + 1, 0, 0);
}

static struct request service(void)
{
	return request(GET_TABLE, SERVICE_RECORD, 0);
}

static struct request other_version(void)
{
	struct request q = get_lids();

	q.mad[2] = 9;
	return q;
}

static struct request (*const queue_rows[])(void) = { node, all_from_one, service,
	                                              other_version };

/* A request that may take long, or that the store answers, goes to the queue; those in
 * front of it do not, those behind it do. */
START_TEST(others_are_queued)
{
	struct request q[3] = { get_lids(), queue_rows[_i](), table_gids() };
	struct mad_msg m[3];

	for (unsigned i = 0; i < 3; i++) {
		m[i] = message(&q[i], i);
	}
	until_asleep();
	sa_server_receive(server, m, 3, false);
	wait_for(3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(get(sink.sent[i].data + TID_LOW, 4), i);
		ck_assert_int_eq(was_here(i), i == 0);
	}
	until_asleep();
	sa_server_receive(server, m + 1, 1, false);
	wait_for(1);
	ck_assert(!was_here(0));
}
END_TEST

/* However many come at once: each is answered once, in their order. */
START_TEST(many_at_once)
{
	enum { MANY = 100 };
	struct request q[MANY];
	struct mad_msg m[MANY];

	for (unsigned i = 0; i < MANY; i++) {
		q[i] = i % 2 ? get_lids() : table_gids();
		m[i] = message(&q[i], i);
	}
	until_asleep();
	sa_server_receive(server, m, MANY, false);
	wait_for(MANY);
	for (unsigned i = 0; i < MANY; i++) {
		ck_assert_uint_eq(get(sink.sent[i].data + TID_LOW, 4), i);
	}
	ck_assert(was_here(0) && !was_here(MANY - 1));
}
END_TEST

/* While the answer thread is at work whoever comes waits his turn. */
START_TEST(behind_others)
{
	struct request q = node(), path = get_lids();
	struct mad_msg m = message(&q, 1), later = message(&path, 2);

	until_asleep();
	sink.held = true;
	sa_server_receive(server, &m, 1, true);
	pthread_mutex_lock(&sink.lock);
	while (!sink.stuck) {
		pthread_cond_wait(&sink.changed, &sink.lock);
	}
	pthread_mutex_unlock(&sink.lock);
	sa_server_receive(server, &later, 1, false);
	pthread_mutex_lock(&sink.lock);
	ck_assert_uint_eq(sink.n, 0);
	sink.held = false;
	pthread_cond_broadcast(&sink.changed);
	pthread_mutex_unlock(&sink.lock);
	wait_for(2);
	ck_assert(!was_here(0) && !was_here(1));
}
END_TEST

/* A transport that is full is not waited for here. */
START_TEST(full_transport)
{
	struct request q[2] = { get_lids(), table_gids() };
	struct mad_msg m[2] = { message(&q[0], 1), message(&q[1], 2) };

	until_asleep();
	struct sa_counters before = at_rest(), after;
	sink.refuse = 3;
	sa_server_receive(server, m, 2, false);
	wait_for(2);
	ck_assert(!was_here(0) && !was_here(1));
	after = at_rest();
	ck_assert_uint_eq(after.answered - before.answered, 2);
	ck_assert_uint_eq(after.records - before.records, 3);
}
END_TEST

/* Two ports of many LIDs have many paths. */
START_TEST(many_lids)
{
	end();
	begin_lmc(3);
	struct request q = get_lids();
	struct mad_msg m = message(&q, 1);
	for (unsigned i = 0; i < 20; i++) {
		sa_server_receive(server, &m, 1, false);
		wait_for(i + 1);
		ck_assert(!was_here(i));
	}
}
END_TEST

START_TEST(standby)
{
	struct request q = get_lids();
	struct mad_msg m = message(&q, 1);

	until_asleep();
	struct sa_counters before = at_rest();
	sa_server_standby(server, true);
	sa_server_receive(server, &m, 1, false);
	struct sa_counters after = at_rest();
	ck_assert_uint_eq(after.dropped_standby - before.dropped_standby, 1);
	sa_server_standby(server, false);
	sa_server_receive(server, &m, 1, false);
	wait_for(1);
	ck_assert_uint_eq(sink.n, 1);
}
END_TEST

/* A table that is refused for its size is told of, as ever. */
START_TEST(large_table)
{
	struct sa_limits small = { .sa_key = SA_KEY, .max_response = DATA + 64 };
	struct request q = table_gids();
	struct mad_msg m = message(&q, 1);

	sa_server_free(server);
	ck_assert_int_eq(sa_server_new(&sink.t, w->w, NULL, &small, &server), E_OK);
	log_set_level((enum log_level) - 1);
	until_asleep();
	sa_server_receive(server, &m, 1, false);
	wait_for(1);
	ck_assert_uint_eq(get(sink.sent[0].data + 4, 2), NO_RESOURCES);
	ck_assert_uint_eq(at_rest().refused_large, 1);
}
END_TEST

/* --- while others are at work ---------------------------------------------------------
 */

/* Records in an answer: two paths by Minimal, four by SrcDstAll. */
static unsigned paths_in(unsigned i)
{
	ck_assert_uint_eq(get(sink.sent[i].data + 4, 2), 0);
	return (unsigned)((sink.sent[i].len - DATA) / 64);
}

/* An answer is from the newest epoch, whoever makes it. */
START_TEST(follows_publishes)
{
	struct request q = table_gids();
	struct mad_msg m = message(&q, 1);

	until_asleep();
	for (unsigned i = 0; i < 50; i++) {
		query_fixture_publish(w, i % 2 ? PATH_MINIMAL : PATH_SRCDSTALL);
		sa_server_receive(server, &m, 1, false);
		wait_for(i + 1);
		ck_assert_uint_eq(paths_in(i), i % 2 ? 2 : 4);
	}
}
END_TEST

static void *publish(void *arg)
{
	for (unsigned i = 0; i < 100; i++) {
		query_fixture_publish(w, i % 2 ? PATH_MINIMAL : PATH_SRCDSTALL);
	}
	return arg;
}

static void *push(void *arg)
{
	for (unsigned i = 0; i < 500; i++) {
		sa_server_receive(server, arg, 1, true);
	}
	return NULL;
}

/* One epoch comes after the other, others push: every answer is whole, none is lost. */
START_TEST(beside_others)
{
	enum { ROUNDS = 300, N = 4 };
	struct request q[N] = { table_gids(), get_lids(), table_gids(), get_lids() };
	struct mad_msg m[N];
	pthread_t publisher, pusher;

	for (unsigned i = 0; i < N; i++) {
		m[i] = message(&q[i], i);
	}
	ck_assert_int_eq(pthread_create(&publisher, NULL, publish, NULL), 0);
	ck_assert_int_eq(pthread_create(&pusher, NULL, push, &m[0]), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		sa_server_receive(server, m, N, false);
	}
	pthread_join(publisher, NULL);
	pthread_join(pusher, NULL);
	wait_for(ROUNDS * N + 500);
	for (unsigned i = 0; i < sink.n; i++) {
		unsigned paths = paths_in(i);
		ck_assert(sink.sent[i].data[3] == 0x81 || paths == 2 || paths == 4);
	}
	ck_assert_uint_eq(at_rest().answered, ROUNDS * N + 500);
}
END_TEST

START_TEST(before_the_first_publish)
{
	struct snap_options so = { .grace_ms = 1000, .need_bytes = 1 << 20 };
	struct query_fixture *empty = query_fixture_new();
	struct sa_server *mine = server;
	struct request q = get_lids();
	struct mad_msg m = message(&q, 1);
	const char *why = "";

	ck_assert_int_eq(snap_writer_open(empty->dir, &so, empty->a, &why, &empty->w),
	                 E_OK);
	ck_assert_int_eq(sa_server_new(&sink.t, empty->w, NULL, &limits, &server), E_OK);
	for (unsigned i = 0; i < 20; i++) {
		sa_server_receive(server, &m, 1, false);
		wait_for(i + 1);
		ck_assert_uint_eq(get(sink.sent[i].data + 4, 2), BUSY);
	}
	sa_server_free(server);
	server = mine;
	query_fixture_free(empty);
}
END_TEST

TEST_SUITE(server_inline)
{
	TCase *tc = tcase_create("at once");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, same_bytes, 0, sizeof(same_rows) / sizeof(same_rows[0]));
	tcase_add_loop_test(tc, others_are_queued, 0,
	                    sizeof(queue_rows) / sizeof(queue_rows[0]));
	tcase_add_test(tc, many_at_once);
	tcase_add_test(tc, behind_others);
	tcase_add_test(tc, full_transport);
	tcase_add_test(tc, many_lids);
	tcase_add_test(tc, standby);
	tcase_add_test(tc, large_table);
	tcase_add_test(tc, follows_publishes);
	tcase_add_test(tc, beside_others);
	tcase_add_test(tc, before_the_first_publish);
	suite_add_tcase(suite, tc);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Subnet administration over TCP: framing, many clients, limits, hostile ones. The
 * framing was seen between opasaquery and its server; bytes here are written out by hand.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/log.h"
#include "sa/mad/transport.h"
#include "sa/record/attributes.h"
#include "sa/server/oob.h"
#include "sa/server/oob_frame.h"
#include "sa/server/server.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

enum { FRAME_HEAD = 24, NODE_RECORD = 112, REPLY_MAX = 1 << 16 };

static int nothing(struct transport *t, const struct mad_msg *m)
{
	(void)t;
	(void)m;
	ck_abort_msg("sent to the fabric");
	return E_OK;
}

static const struct transport_ops no_ops = { .name = "none", .send = nothing };
static struct transport no_transport = { .ops = &no_ops };
static struct query_fixture *w;
static struct sa_server *server;
static struct oob *oob;
static struct arena *arena;

static void begin(const struct oob_options *o)
{
	const char *why = NULL;

	ck_assert_msg(oob_new(o, server, arena, &why, &oob) == E_OK, "%s", why);
}

static void start(void)
{
	const struct sa_limits limits = { .sa_key = 1 };

	log_set_level((enum log_level) - 1);
	arena = arena_new();
	w = query_fixture_small(0, 0, PATH_MINIMAL);
	ck_assert_int_eq(sa_server_new(&no_transport, w->w, NULL, &limits, &server),
	                 E_OK);
	begin(&(struct oob_options){ .listen = "127.0.0.1:0" });
}

static void end(void)
{
	oob_stop(oob);
	sa_server_free(server);
	oob_free(oob);
	oob_free(NULL);
	query_fixture_free(w);
	arena_free(arena);
}

/* \param room  Bytes that the kernel takes for it; 0: as it likes. */
static int dial_with(int room)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)oob_port(oob)),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (room != 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	}
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static int dial(void)
{
	return dial_with(0);
}

struct frame {
	size_t len;
	uint8_t bytes[REPLY_MAX];
};

static void put(uint8_t *at, unsigned bytes, uint64_t v)
{
	while (bytes > 0) {
		at[--bytes] = (uint8_t)v;
		v >>= 8;
	}
}

static uint64_t get(const uint8_t *at, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++) {
		v = v << 8 | at[i];
	}
	return v;
}

/* GetTable of NodeRecords, of one LID or (0) of all; with the twelve odd bytes that
 * opasaquery adds. */
static struct frame ask_nodes(uint32_t tid, uint32_t lid)
{
	struct frame f = { .len = FRAME_HEAD + 164 + 12 };
	uint8_t *mad = f.bytes + FRAME_HEAD;

	memset(f.bytes + f.len - 12, 0xa5, 12);
	put(f.bytes, 4, 0x31e0cc01);
	put(f.bytes + 4, 4, f.len);
	put(f.bytes + 8, 4, 0x80);
	put(f.bytes + 12, 4, 164);
	mad[0] = 1;
	mad[1] = 3;
	mad[2] = 2;
	mad[3] = 0x12;
	put(mad + 12, 4, tid);
	put(mad + 16, 2, 0x11);
	mad[55] = lid != 0;
	put(mad + 56, 2, lid);
	return f;
}

static void send_all(int fd, const uint8_t *data, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
		ck_assert_int_gt(n, 0);
		data += n;
		len -= (size_t)n;
	}
}

static void receive(int fd, uint8_t *data, size_t len)
{
	ck_assert_int_eq(recv(fd, data, len, MSG_WAITALL), (ssize_t)len);
}

/* The MAD of the next answer; its length. */
static size_t answer(int fd, uint8_t *mad)
{
	uint8_t head[FRAME_HEAD];

	receive(fd, head, sizeof(head));
	ck_assert_uint_eq(get(head, 4), 0x31e0cc01);
	ck_assert_uint_eq(get(head + 8, 4), 0x80);
	ck_assert_uint_eq(get(head + 16, 8), 0);
	size_t len = get(head + 12, 4);
	ck_assert_uint_eq(get(head + 4, 4), len + FRAME_HEAD);
	ck_assert_uint_le(len, REPLY_MAX);
	receive(fd, mad, len);
	return len;
}

/* An end without an answer. */
static bool ends(int fd)
{
	uint8_t byte;
	ssize_t n = recv(fd, &byte, 1, 0);

	return n == 0 || (n < 0 && errno == ECONNRESET);
}

static unsigned n_nodes(void)
{
	struct sa_query q = { .attr = sa_attr_find(2, 0x11, SA_GETTABLE), .table = true };
	struct sa_out out = { .max = SIZE_MAX, .max_bytes = SIZE_MAX };

	ck_assert_int_eq(snap_pin(w->r), E_OK);
	ck_assert_int_eq(sa_collect(w->r, &q, &out), E_OK);
	free(out.data);
	return (unsigned)out.n;
}

/* All that there is comes as one message, whoever shares a P_Key with whom. */
START_TEST(whole_table)
{
	struct frame f = ask_nodes(0x1234, 0);
	static uint8_t mad[REPLY_MAX];
	int fd = dial();

	send_all(fd, f.bytes, f.len);
	size_t len = answer(fd, mad);
	ck_assert_uint_gt(n_nodes(), 2);
	ck_assert_uint_eq(len, 56 + n_nodes() * NODE_RECORD);
	ck_assert_uint_eq(mad[3], 0x92);
	ck_assert_uint_eq(get(mad + 4, 2), 0);
	ck_assert_uint_eq(get(mad + 12, 4), 0x1234);
	ck_assert_uint_eq(get(mad + 44, 2), NODE_RECORD / 8);
	close(fd);
}
END_TEST

/* A frame may be as long as the limit says, whatever stands behind the MAD; another request
 * follows. One byte more ends the connection. */
START_TEST(longest_frame)
{
	static uint8_t mad[REPLY_MAX];
	int fd = dial();

	for (uint32_t more = 0; more < 2; more++) {
		struct frame f = ask_nodes(more, query_fixture_end(w, HOST + 1).base_lid);

		memset(f.bytes + f.len, 0x5a, OOB_FRAME_MAX + more - f.len);
		f.len = OOB_FRAME_MAX + more;
		put(f.bytes + 4, 4, f.len);
		send_all(fd, f.bytes, f.len);
		if (more == 0) {
			ck_assert_uint_eq(answer(fd, mad), 56 + NODE_RECORD);
		}
	}
	ck_assert(ends(fd));
	close(fd);
}
END_TEST

/* Requests sent ahead are answered in turn, however they are cut. */
START_TEST(ahead_and_in_pieces)
{
	static uint8_t stream[20 * (FRAME_HEAD + 176)], mad[REPLY_MAX];
	uint32_t lid = query_fixture_end(w, HOST + 1).base_lid;
	size_t len = 0;
	int fd = dial();

	for (uint32_t i = 0; i < 20; i++) {
		struct frame f = ask_nodes(i, i % 2 ? lid : 4000);
		memcpy(stream + len, f.bytes, f.len);
		len += f.len;
	}
	for (size_t at = 0; at < len; at += 37) {
		send_all(fd, stream + at, len - at < 37 ? len - at : 37);
	}
	for (uint32_t i = 0; i < 20; i++) {
		size_t got = answer(fd, mad);
		ck_assert_uint_eq(get(mad + 12, 4), i);
		ck_assert_uint_eq(got, i % 2 ? 56 + NODE_RECORD : 56);
		ck_assert(i % 2 == 0 || get(mad + 56, 2) == lid);
	}
	close(fd);
}
END_TEST

/* clang-format off */
static const struct {
	const char *what;
	unsigned at, bytes;
	uint64_t value;
} bad[] = {
	{ "another magic",          0, 4, 0x31e0cc02 },
	{ "HTTP",                   0, 4, 0x47455420 },
	{ "shorter than its head",  4, 4, 23 },
	{ "of no length",           4, 4, 0 },
	{ "longer than any",        4, 4, 4097 },
	{ "longer than memory",     4, 4, 0xffffffff },
	{ "another version",        8, 4, 0x81 },
	{ "MAD beyond the frame",  12, 4, 177 },
	{ "MAD beyond everything", 12, 4, 0xffffffff },
	{ "MAD of no length",      12, 4, 0 },
	{ "MAD without a header",  12, 4, 55 },
	{ "a response",            27, 1, 0x92 },
	{ "another class",         25, 1, 0x32 },
	{ "a wrong SM_Key",        60, 8, 77 },
};
/* clang-format on */

START_TEST(bad_frame_ends_it)
{
	struct frame f = ask_nodes(1, 0);
	static uint8_t mad[REPLY_MAX];
	int fd = dial(), other = dial();

	put(f.bytes + bad[_i].at, bad[_i].bytes, bad[_i].value);
	send_all(fd, f.bytes, f.len);
	ck_assert_msg(ends(fd), "%s", bad[_i].what);
	close(fd);
	f = ask_nodes(2, 0); /* the others have nothing to do with it */
	send_all(other, f.bytes, f.len);
	ck_assert_uint_gt(answer(other, mad), 56);
	close(other);
}
END_TEST

/* One more than there are places: whoever was idle longest makes room. */
START_TEST(more_than_places)
{
	struct frame f = ask_nodes(1, 4000);
	static uint8_t mad[REPLY_MAX];
	int fd[OOB_CONNECTIONS + 1];

	for (unsigned i = 0; i <= OOB_CONNECTIONS; i++) {
		fd[i] = dial();
		send_all(fd[i], f.bytes, f.len);
		ck_assert_uint_eq(answer(fd[i], mad), 56);
	}
	unsigned closed = 0;
	for (unsigned i = 0; i <= OOB_CONNECTIONS; i++) {
		uint8_t byte;
		closed += recv(fd[i], &byte, 1, MSG_DONTWAIT) == 0;
		close(fd[i]);
	}
	ck_assert_uint_eq(closed, 1);
}
END_TEST

static void again(const struct oob_options *o)
{
	oob_stop(oob);
	oob_free(oob);
	begin(o);
}

/* Half a frame for ever. */
START_TEST(idle_ends)
{
	struct frame f = ask_nodes(1, 0);

	again(&(struct oob_options){ .listen = "127.0.0.1:0", .idle_ms = 20 });
	int fd = dial(), quiet = dial();
	send_all(fd, f.bytes, 30);
	ck_assert(ends(fd));
	ck_assert(ends(quiet));
	close(fd);
	close(quiet);
}
END_TEST

enum { MFT_BLOCKS = 4096, MFT_RECORD = 72 };

/* A request for an answer that no socket buffer holds, and a client that takes none of it. */
static int dial_slow(void)
{
	struct frame f = ask_nodes(1, 0);
	int fd = dial_with(4096);

	put(f.bytes + FRAME_HEAD + 16, 2, 0x17); /* MulticastForwardingTableRecord */
	send_all(fd, f.bytes, f.len);
	return fd;
}

static void publish_large_table(void)
{
	for (unsigned i = 0; i < MFT_BLOCKS; i++) {
		(void)query_fixture_attr(w, UMAD_SM_ATTR_MCAST_FT, SW_A,
		                         i % 16 << 28 | i / 16, 64);
	}
	query_fixture_publish(w, PATH_MINIMAL);
}

/* Whoever takes a little of its answer again and again is never idle, but is closed when the
 * answer has had its time. */
START_TEST(slow_reader_ends)
{
	uint8_t byte[4096];
	size_t taken = 0;
	struct pollfd p;
	ssize_t n = 1;

	publish_large_table();
	again(&(struct oob_options){
		.listen = "127.0.0.1:0", .idle_ms = 300, .least_rate = 100 << 20 });
	p = (struct pollfd){ .fd = dial_slow(), .events = POLLRDHUP };
	while (n > 0 && poll(&p, 1, 20) == 0) {
		n = recv(p.fd, byte, sizeof(byte), MSG_DONTWAIT);
		n = n < 0 && errno == EAGAIN ? 1 : n;
		taken += n > 0 ? (size_t)n : 0;
	}
	ck_assert_uint_lt(taken, (size_t)MFT_BLOCKS * MFT_RECORD);
	close(p.fd);
}
END_TEST

/* Readers that take nothing hold all places, but not for long: a new client is served without
 * their being idle. */
START_TEST(slow_readers_make_room)
{
	struct frame f = ask_nodes(1, 4000);
	static uint8_t mad[REPLY_MAX];
	int slow[OOB_CONNECTIONS], fd = -1;
	uint8_t head[FRAME_HEAD];

	publish_large_table();
	again(&(struct oob_options){ .listen = "127.0.0.1:0", .idle_ms = 3600000 });
	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		slow[i] = dial_slow();
	}
	do { /* until one of them has been slow for long enough */
		if (fd >= 0) {
			close(fd);
		}
		fd = dial();
		(void)send(fd, f.bytes, f.len, MSG_NOSIGNAL);
	} while (recv(fd, head, sizeof(head), MSG_WAITALL) != sizeof(head));
	receive(fd, mad, get(head + 12, 4));
	close(fd);
	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		close(slow[i]);
	}
}
END_TEST

/* Answers that find no room are not kept waiting for. */
START_TEST(answers_have_a_limit)
{
	struct frame f = ask_nodes(1, 0), one = ask_nodes(1, 4000);
	static uint8_t mad[REPLY_MAX];

	again(&(struct oob_options){ .listen = "127.0.0.1:0", .max_answer_bytes = 100 });
	int fd = dial();
	send_all(fd, one.bytes, one.len);
	ck_assert_uint_eq(answer(fd, mad), 56);
	send_all(fd, f.bytes, f.len);
	ck_assert(ends(fd));
	close(fd);
}
END_TEST

/* Another manager is master: the client learns at once that this one says nothing. */
START_TEST(standby_ends_it)
{
	struct frame f = ask_nodes(1, 0);
	struct sa_counters c;

	sa_server_standby(server, true);
	int fd = dial();
	send_all(fd, f.bytes, f.len);
	ck_assert(ends(fd));
	sa_server_counters(server, &c);
	ck_assert_uint_eq(c.dropped_standby, 1);
	close(fd);
}
END_TEST

/* A door reads all, and changes nothing. */
START_TEST(set_is_denied)
{
	struct frame f = ask_nodes(1, 0);
	static uint8_t mad[REPLY_MAX];
	struct {
		uint8_t method, attr;
		unsigned status;
	} cases[] = {
		{ 0x02, 0x03, 0x0700 }, /* InformInfo */
		{ 0x12, 0x33, 0 },      /* P_KeyTable without an SM_Key */
	};
	int fd = dial();

	for (unsigned i = 0; i < 2; i++) {
		f.bytes[FRAME_HEAD + 3] = cases[i].method;
		f.bytes[FRAME_HEAD + 17] = cases[i].attr;
		send_all(fd, f.bytes, f.len);
		answer(fd, mad);
		ck_assert_uint_eq(get(mad + 4, 2), cases[i].status);
	}
	close(fd);
}
END_TEST

/* A client that leaves before its answer disturbs nobody. */
START_TEST(gone_before_the_answer)
{
	struct frame f = ask_nodes(1, 0);
	static uint8_t mad[REPLY_MAX];

	for (unsigned i = 0; i < 200; i++) {
		int fd = dial();
		send_all(fd, f.bytes, f.len);
		close(fd);
	}
	int fd = dial();
	send_all(fd, f.bytes, f.len);
	ck_assert_uint_gt(answer(fd, mad), 56);
	close(fd);
}
END_TEST

/* Requests that wait until the test lets them go on. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct mad_msg msg[OOB_CONNECTIONS];
	uint8_t mad[OOB_CONNECTIONS][MAD_BYTES];
	unsigned n;
} held = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static bool hold(void *ctx, const struct mad_msg *m)
{
	(void)ctx;
	pthread_mutex_lock(&held.lock);
	ck_assert_uint_lt(held.n, OOB_CONNECTIONS);
	memcpy(held.mad[held.n], m->data, m->len);
	held.msg[held.n] = *m;
	held.msg[held.n].data = held.mad[held.n];
	held.n++;
	pthread_cond_signal(&held.changed);
	pthread_mutex_unlock(&held.lock);
	return true;
}

static void wait_until_held(unsigned n)
{
	pthread_mutex_lock(&held.lock);
	while (held.n < n) {
		pthread_cond_wait(&held.changed, &held.lock);
	}
	pthread_mutex_unlock(&held.lock);
}

static void resume_held(void)
{
	pthread_mutex_lock(&held.lock);
	unsigned n = held.n;
	pthread_mutex_unlock(&held.lock);
	for (unsigned i = 0; i < n; i++) {
		sa_server_resume(server, &held.msg[i]);
	}
}

/* A client that comes when every place waits for the SA is served as soon as one has its
 * answer. */
START_TEST(places_wait_for_the_sa)
{
	struct frame one = ask_nodes(1, 4000), tables = ask_nodes(2, 4000);
	static uint8_t mad[REPLY_MAX];
	int waiting[OOB_CONNECTIONS];

	tables.bytes[FRAME_HEAD + 17] = 0x13;
	held.n = 0;
	sa_server_on_tables(server, hold, NULL);
	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		waiting[i] = dial();
		put(tables.bytes + FRAME_HEAD + 12, 4, i);
		send_all(waiting[i], tables.bytes, tables.len);
	}
	int fd = dial();
	send_all(fd, one.bytes, one.len);
	wait_until_held(OOB_CONNECTIONS - 1); /* fd may have displaced the last one */
	resume_held();
	ck_assert_uint_eq(answer(fd, mad), 56);
	for (unsigned i = 0; i < OOB_CONNECTIONS; i++) {
		close(waiting[i]);
	}
	close(fd);
}
END_TEST

/* An answer that comes after its connection was closed takes nothing from the others: the
 * room for answers here is enough for one. */
START_TEST(answer_after_the_end)
{
	const struct linger at_once = { .l_onoff = 1 };
	struct frame one = ask_nodes(1, 4000), tables = ask_nodes(2, 4000);
	static uint8_t mad[REPLY_MAX];
	struct sa_counters c;

	tables.bytes[FRAME_HEAD + 17] = 0x13; /* SL-to-VL: read on request */
	again(&(struct oob_options){ .listen = "127.0.0.1:0", .max_answer_bytes = 100 });
	held.n = 0;
	sa_server_on_tables(server, hold, NULL);
	int other = dial();
	send_all(other, one.bytes, one.len);
	ck_assert_uint_eq(answer(other, mad), 56);
	int fd = dial();
	send_all(fd, tables.bytes, tables.len);
	wait_until_held(1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
	send_all(other, one.bytes, one.len); /* served after the end of fd was seen */
	ck_assert_uint_eq(answer(other, mad), 56);
	resume_held();
	do {
		sched_yield();
		sa_server_counters(server, &c);
	} while (c.answered < 3);
	send_all(other, one.bytes, one.len);
	ck_assert_uint_eq(answer(other, mad), 56);
	close(other);
}
END_TEST

START_TEST(address_in_use)
{
	const char *why = NULL;
	struct oob *second = NULL;
	char text[32];

	snprintf(text, sizeof(text), "127.0.0.1:%u", oob_port(oob));
	ck_assert_int_eq(oob_new(&(struct oob_options){ .listen = text }, server, arena,
	                         &why, &second),
	                 -EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(why, "give another ADDR:PORT with oob_listen"));
	ck_assert_int_eq(oob_new(&(struct oob_options){ .listen = "3245" }, server, arena,
	                         &why, &second),
	                 E_SYNTAX);
	ck_assert_ptr_null(second);
}
END_TEST

TEST_SUITE(oob)
{
	TCase *tc = tcase_create("tcp");

	tcase_add_checked_fixture(tc, start, end);
	tcase_add_test(tc, whole_table);
	tcase_add_test(tc, longest_frame);
	tcase_add_test(tc, ahead_and_in_pieces);
	tcase_add_loop_test(tc, bad_frame_ends_it, 0,
	                    (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(tc, more_than_places);
	tcase_add_test(tc, idle_ends);
	tcase_add_test(tc, slow_reader_ends);
	tcase_add_test(tc, slow_readers_make_room);
	tcase_add_test(tc, answers_have_a_limit);
	tcase_add_test(tc, standby_ends_it);
	tcase_add_test(tc, set_is_denied);
	tcase_add_test(tc, gone_before_the_answer);
	tcase_add_loop_test(tc, places_wait_for_the_sa, 0, 20);
	tcase_add_test(tc, answer_after_the_end);
	tcase_add_test(tc, address_in_use);
	suite_add_tcase(suite, tc);
}

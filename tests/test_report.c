/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Reports of events: who gets one, what it looks like on the wire (IBA vol. 1, 13.4.8.2,
 * 14.2.5.1 and 15.4.4), that it comes again until it is answered; ports that come and go;
 * and the server in between, up to the disk.
 */
#include "tests/answer_util.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "conf/log.h"
#include "sa/report.h"
#include "sa/store.h"

enum { REPORT = 0x06, REPORT_RESP = 0x86, NOTICE = 0x02, SENT = 4096, QP = 0x1234 };

/* A transport that keeps what was sent. */
static struct wire {
	struct transport t;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct mad_addr addr[SENT];
	uint8_t mad[SENT][256];
	unsigned n, refuse;
} wire;

static int wire_send(struct transport *t, const struct mad_msg *m)
{
	int ret = E_OK;

	(void)t;
	pthread_mutex_lock(&wire.lock);
	if (wire.refuse > 0) {
		wire.refuse--;
		ret = -EAGAIN;
	} else {
		ck_assert_uint_lt(wire.n, SENT);
		ck_assert(m->mgmt_class == 3 && m->len == 256);
		wire.addr[wire.n] = m->addr;
		memcpy(wire.mad[wire.n++], m->data, 256);
		pthread_cond_broadcast(&wire.changed);
	}
	pthread_mutex_unlock(&wire.lock);
	return ret;
}

static unsigned woken;

static void wire_wake(struct transport *t)
{
	(void)t;
	__atomic_add_fetch(&woken, 1, __ATOMIC_RELAXED);
}

static const struct transport_ops wire_ops = { .name = "wire",
	                                       .send = wire_send,
	                                       .wake = wire_wake };
static struct reports *reports;

static void setup(void)
{
	start();
	memset(&wire, 0, sizeof(wire));
	wire.t.ops = &wire_ops;
	pthread_mutex_init(&wire.lock, NULL);
	pthread_cond_init(&wire.changed, NULL);
	ck_assert_int_eq(store_new(NULL, 0, &store), E_OK);
	ck_assert_int_eq(reports_new(&wire.t, &reports), E_OK);
	log_set_level((enum log_level) - 1);
}

static void teardown(void)
{
	reports_free(reports);
	reports_free(NULL);
	store_free(store);
	store = NULL;
	stop();
}

static struct request inform(uint64_t gid, unsigned begin, unsigned end, unsigned generic,
                             unsigned type, unsigned trap, unsigned producer)
{
	struct request q = request(SET, INFORM_INFO, 0);

	if (gid) {
		put_gid(&q, 0, WORLD_PREFIX, gid);
	}
	put_component(&q, 16, 2, begin);
	put_component(&q, 18, 2, end);
	put_component(&q, 22, 1, generic);
	put_component(&q, 23, 1, 1);
	put_component(&q, 24, 2, type);
	put_component(&q, 26, 2, trap);
	put_component(&q, 33, 3, producer);
	return q;
}

static struct request everything(unsigned trap)
{
	return inform(0, 0xffff, 0, 1, 0xffff, trap, 0xffffff);
}

static void subscribe(uint64_t port_guid, const struct request *q)
{
	asker = lid_of(port_guid);
	ck_assert_uint_eq(status_of(q), 0);
}

/* Notice by hand: type 3, number, issuer LID; producer type 2 is a switch. */
static const uint8_t *notice_of(unsigned trap, uint64_t issuer)
{
	static uint8_t n[80];

	memset(n, 0, sizeof(n));
	put(n, 4, UINT32_C(0x83000002));
	put(n + 4, 2, trap);
	put(n + 6, 2, lid_of(issuer));
	put(n + 64, 8, WORLD_PREFIX);
	put(n + 72, 8, issuer);
	return n;
}

static void event(unsigned trap, uint64_t issuer)
{
	reports_event(reports, w->r, store, notice_of(trap, issuer));
}

static bool answer(unsigned i)
{
	uint8_t mad[256];

	memcpy(mad, wire.mad[i], 256);
	mad[3] = REPORT_RESP;
	return reports_answer(reports, mad, sizeof(mad), wire.addr[i].lid);
}

START_TEST(on_the_wire)
{
	struct request q = everything(128);

	subscribe(HOST + 1, &q);
	event(128, SW_B);
	event(129, SW_B);
	ck_assert_uint_eq(wire.n, 0);
	(void)reports_run(reports, 1000);
	ck_assert_uint_eq(wire.n, 1);
	const uint8_t *m = wire.mad[0];
	ck_assert(m[0] == 1 && m[1] == 3 && m[2] == 2 && m[3] == REPORT);
	ck_assert_uint_eq(get(m + 4, 2), 0);
	ck_assert_uint_eq(get(m + 16, 2), NOTICE);
	ck_assert_mem_eq(m + DATA, notice_of(128, SW_B), 80);
	ck_assert_uint_eq(wire.addr[0].lid, lid_of(HOST + 1));
	ck_assert_uint_eq(wire.addr[0].qpn, QP);
	ck_assert_uint_eq(wire.addr[0].qkey, 0x80010000);
	ck_assert_uint_eq(wire.addr[0].pkey_index, 3);
	ck_assert_uint_eq(wire.addr[0].sl, 2);
}
END_TEST

/* clang-format off */
static const struct {
	uint64_t gid;
	unsigned begin, end, generic, type, trap, producer;
	bool gets; /* trap 128 of type 3 from switch B, LID 9 */
} scopes[] = {
	{ 0,      0xffff, 0,      1, 0xffff, 0xffff, 0xffffff, true },
	{ 0,      0xffff, 0,      1, 3,      128,    2,        true },
	{ 0,      0xffff, 0,      0, 0xffff, 0xffff, 0xffffff, false },
	{ 0,      0xffff, 0,      1, 4,      128,    2,        false },
	{ 0,      0xffff, 0,      1, 3,      129,    2,        false },
	{ 0,      0xffff, 0,      1, 3,      128,    1,        false },
	{ SW_B,   0,      0,      1, 3,      128,    2,        true },
	{ SW_A,   0,      0,      1, 3,      128,    2,        false },
	{ SW_A,   0xffff, 0,      1, 3,      128,    2,        false },
	{ 0,      1,      0xfffe, 1, 3,      128,    2,        true },
	{ 0,      9,      0,      1, 3,      128,    2,        true },
	{ 0,      8,      0,      1, 3,      128,    2,        false },
	{ 0,      10,     12,     1, 3,      128,    2,        false },
	{ 0,      1,      9,      1, 3,      128,    2,        true },
};
/* clang-format on */

START_TEST(scope)
{
	struct request q = inform(scopes[_i].gid, scopes[_i].begin, scopes[_i].end,
	                          scopes[_i].generic, scopes[_i].type, scopes[_i].trap,
	                          scopes[_i].producer);

	ck_assert_uint_eq(lid_of(SW_B), 9);
	subscribe(HOST + 1, &q);
	event(128, SW_B);
	(void)reports_run(reports, 0);
	ck_assert_uint_eq(wire.n, scopes[_i].gets);
}
END_TEST

/* Again after 2.5 s, four times in all; then given up. */
START_TEST(repeated_and_given_up)
{
	struct request q = everything(128);

	subscribe(HOST + 1, &q);
	event(128, SW_B);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(reports_run(reports, i * 2500), (i + 1) * 2500);
		ck_assert_uint_eq(wire.n, i + 1);
		ck_assert_mem_eq(wire.mad[i], wire.mad[0],
		                 256); /* the same transaction */
		ck_assert_uint_eq(reports_run(reports, i * 2500 + 2499), (i + 1) * 2500);
		ck_assert_uint_eq(wire.n, i + 1);
	}
	ck_assert_uint_eq(reports_run(reports, 10000), UINT64_MAX);
	ck_assert_uint_eq(wire.n, 4);
	ck_assert_uint_eq(reports_counters(reports)->given_up, 1);
	ck_assert_uint_eq(reports_counters(reports)->sent, 4);
	ck_assert(answer(0)); /* too late: nothing happens */
	ck_assert_uint_eq(reports_counters(reports)->answered, 0);
}
END_TEST

START_TEST(answered)
{
	struct request q = everything(0xffff);
	uint8_t mad[256];

	subscribe(HOST + 1, &q);
	subscribe(TWIN_2 + 1, &q);
	for (unsigned i = 0; i < 10; i++) {
		event(128 + i, SW_B);
	}
	(void)reports_run(reports, 0);
	ck_assert_uint_eq(wire.n, 20);
	memcpy(mad, wire.mad[7], 256);
	ck_assert(!reports_answer(reports, mad, 256, wire.addr[7].lid)); /* a Report */
	mad[3] = REPORT_RESP;
	ck_assert(!reports_answer(reports, mad, 20, wire.addr[7].lid));
	ck_assert(reports_answer(reports, mad, 256, wire.addr[7].lid + 100)); /* who? */
	ck_assert_uint_eq(reports_counters(reports)->answered, 0);
	for (unsigned i = 0; i < 20; i++) {
		if (i != 7) {
			ck_assert(answer((i * 7) % 20 == 7 ? 7 : (i * 7) % 20));
		}
	}
	ck_assert_uint_eq(reports_counters(reports)->answered, 19);
	(void)reports_run(reports, 2500);
	ck_assert_uint_eq(wire.n, 21); /* the one that was not answered */
	ck_assert(answer(20));
	ck_assert_uint_eq(reports_run(reports, 5000), UINT64_MAX);
	ck_assert_uint_eq(wire.n, 21);
}
END_TEST

START_TEST(full_transport)
{
	struct request q = everything(128);

	subscribe(HOST + 1, &q);
	event(128, SW_B);
	wire.refuse = 3;
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(reports_run(reports, i * 10), (i + 1) * 10);
		ck_assert_uint_eq(wire.n, 0);
	}
	ck_assert_uint_eq(reports_run(reports, 30), 2530);
	ck_assert_uint_eq(wire.n, 1);
}
END_TEST

/* Who shares no P_Key with the issuer hears nothing of it. */
START_TEST(partitions)
{
	uint8_t *left = world_attr(w, UMAD_SM_ATTR_PKEY_TABLE, LEFT, 1u << 16, 64);
	struct request q = everything(0xffff);

	put(left, 2, 0x8002);
	world_publish(w, PATH_MINIMAL);
	subscribe(HOST + 1, &q);
	subscribe(LEFT + 1, &q);
	event(128, SW_B);
	(void)reports_run(reports, 0);
	ck_assert_uint_eq(wire.n, 1);
	ck_assert_uint_eq(wire.addr[0].lid, lid_of(HOST + 1));
}
END_TEST

/* --- ports that come and go ------------------------------------------------------------
 */

/* Takes a port's LID away, or gives it back, and publishes. */
static void set_lid(uint32_t port, uint32_t lid, bool there)
{
	w->lids.of[port].base = there ? lid : 0;
	w->lids.owner[lid] = there ? port : GRAPH_NONE;
	w->lids.count += there ? 1 : UINT32_MAX;
	world_publish(w, PATH_MINIMAL);
}

START_TEST(ports_come_and_go)
{
	struct request in = everything(64), out = everything(65);
	uint64_t guid = TWIN_2 + 1;
	uint32_t lid = lid_of(guid), port = w->lids.owner[lid];

	subscribe(HOST + 1, &in);
	subscribe(HOST + 1, &out);
	subscribe(guid, &in);
	ck_assert_int_eq(reports_ports(reports, w->r, store), E_OK); /* only looks */
	ck_assert_int_eq(reports_ports(reports, w->r, store), E_OK);
	(void)reports_run(reports, 0);
	ck_assert_uint_eq(wire.n, 0);
	ck_assert_uint_eq(store_count(store, RECORDS_SUBSCRIPTIONS), 3);

	set_lid(port, lid, false);
	ck_assert_int_eq(reports_ports(reports, w->r, store), E_OK);
	ck_assert_uint_eq(store_count(store, RECORDS_SUBSCRIPTIONS), 2);
	(void)reports_run(reports, 0);
	ck_assert_uint_eq(wire.n, 1);
	const uint8_t *n = wire.mad[0] + DATA;
	ck_assert_uint_eq(get(n, 4), 0x83000004); /* generic, of a class manager */
	ck_assert_uint_eq(get(n + 4, 2), 65);
	ck_assert_uint_eq(get(n + 6, 2), 1); /* the SM's LID */
	ck_assert_uint_eq(get(n + 16, 8), WORLD_PREFIX);
	ck_assert_uint_eq(get(n + 24, 8), guid);

	set_lid(port, lid, true);
	ck_assert_int_eq(reports_ports(reports, w->r, store), E_OK);
	(void)reports_run(reports, 0);
	ck_assert_uint_eq(wire.n, 2);
	n = wire.mad[1] + DATA;
	ck_assert_uint_eq(get(n + 4, 2), 64);
	ck_assert_uint_eq(get(n + 24, 8), guid);
}
END_TEST

/* --- through the server ----------------------------------------------------------------
 */

static struct sa_server *server;
static struct state *state;

static void open_server(void)
{
	char dir[100];
	const char *why = "";

	snprintf(dir, sizeof(dir), "%s/state", w->dir);
	ck_assert_msg(state_open(dir, w->a, &why, &state) == E_OK, "%s", why);
	ck_assert_int_eq(sa_server_new(&wire.t, w->w, state, &limits, &server), E_OK);
}

static void close_server(void)
{
	sa_server_free(server);
	state_close(state);
}

static void push(const struct request *q, uint64_t from)
{
	struct request copy = *q;
	struct mad_msg m = { .mgmt_class = 3,
		             .addr = { .lid = lid_of(from), .qpn = QP },
		             .len = 256,
		             .data = copy.mad };

	sa_server_push(server, &m);
}

/* Waits until so many MADs were sent; the last one. */
static const uint8_t *wait_for(unsigned n)
{
	pthread_mutex_lock(&wire.lock);
	while (wire.n < n) {
		pthread_cond_wait(&wire.changed, &wire.lock);
	}
	pthread_mutex_unlock(&wire.lock);
	return wire.mad[n - 1];
}

static struct request service(unsigned method, uint64_t id)
{
	struct request q = request(method, SERVICE_RECORD, 1 | (method == SET ? 2 : 0));

	put_component(&q, 0, 8, id);
	return q;
}

START_TEST(server_reports)
{
	struct request q = everything(128);
	struct sa_counters c;

	open_server();
	push(&q, HOST + 1);
	ck_assert_uint_eq(get(wait_for(1) + 4, 2), 0);
	ck_assert_uint_eq(__atomic_load_n(&woken, __ATOMIC_RELAXED), 1);
	close_server();
	open_server(); /* the subscription is durable */
	sa_server_trap(server, notice_of(128, SW_B));
	const uint8_t *m = wait_for(2);
	ck_assert_uint_eq(m[3], REPORT);
	ck_assert_uint_eq(get(m + DATA + 4, 2), 128);
	ck_assert_uint_eq(get(m + DATA + 64, 8), WORLD_PREFIX); /* IssuerGID */
	ck_assert_uint_eq(get(m + DATA + 72, 8), SW_B);
	struct request resp;
	memcpy(resp.mad, m, 256);
	resp.mad[3] = REPORT_RESP;
	push(&resp, HOST + 1);
	do {
		sa_server_counters(server, &c);
	} while (c.reports_answered < 1);
	ck_assert_uint_eq(c.reports_sent, 1);
	ck_assert_uint_eq(c.subscriptions, 1);
	sa_server_swept(server);
	sa_server_swept(server);
	close_server();
}
END_TEST

/* Many requests share commits, each has its reply, and all are there afterwards. */
START_TEST(server_keeps)
{
	enum { N = 1000 };
	struct sa_counters c;

	open_server();
	for (unsigned i = 0; i < N; i++) {
		struct request q = service(SET, i);
		push(&q, i % 2 ? HOST + 1 : TWIN_2 + 1);
	}
	wait_for(N);
	for (unsigned i = 0; i < N; i++) {
		ck_assert_uint_eq(wire.mad[i][3], 0x81);
		ck_assert_uint_eq(get(wire.mad[i] + 4, 2), 0);
	}
	close_server();
	open_server();
	struct request q = service(GET, N - 1);
	push(&q, HOST + 1);
	ck_assert_uint_eq(get(wait_for(N + 1) + 4, 2), 0);
	do {
		sa_server_counters(server, &c);
	} while (c.services < N);
	close_server();
}
END_TEST

/* What cannot be stored is refused, and forgotten; later requests do well again. */
START_TEST(server_full_disk)
{
	struct rlimit was, none = { 0, 0 };
	struct request q = service(SET, 1);

	open_server();
	push(&q, HOST + 1);
	ck_assert_uint_eq(get(wait_for(1) + 4, 2), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	none.rlim_max = was.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	q = service(SET, 2);
	push(&q, HOST + 1);
	ck_assert_uint_eq(get(wait_for(2) + 4, 2), NO_RESOURCES);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &was), 0);
	q = service(GET, 2);
	push(&q, HOST + 1);
	ck_assert_uint_eq(get(wait_for(3) + 4, 2), NO_RECORDS);
	q = service(GET, 1);
	push(&q, HOST + 1);
	ck_assert_uint_eq(get(wait_for(4) + 4, 2), 0);
	q = service(SET, 2);
	push(&q, HOST + 1);
	ck_assert_uint_eq(get(wait_for(5) + 4, 2), 0);
	close_server();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report");
	TCase *tc = tcase_create("reports");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, on_the_wire);
	tcase_add_loop_test(tc, scope, 0, sizeof(scopes) / sizeof(scopes[0]));
	tcase_add_test(tc, repeated_and_given_up);
	tcase_add_test(tc, answered);
	tcase_add_test(tc, full_transport);
	tcase_add_test(tc, partitions);
	tcase_add_test(tc, ports_come_and_go);
	tcase_add_test(tc, server_reports);
	tcase_add_test(tc, server_keeps);
	tcase_add_test(tc, server_full_disk);
	suite_add_tcase(suite, tc);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Reports of events: who gets one, what it looks like on the wire (IBA vol. 1, 13.4.8.2,
 * 14.2.5.1 and 15.4.4), that it comes again until it is answered; ports that come and go;
 * and the server in between, up to the disk.
 */
#include "sa/mad/notice.h"
#include "tests/lib/notice_fixture.h"
#include "tests/lib/suite.h"

#include <signal.h>
#include <sys/resource.h>

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

/*
 * Asked for in Omni-Path's layout, reported in it (class version 0x80, a Notice of 96
 * bytes): the details by trap number. By hand from Omni-Path's and InfiniBand's tables.
 */
/* clang-format off */
static const struct {
	unsigned trap;
	unsigned from, bytes, to; /* details there and here, from behind the notice's start */
} details[] = {
	{ 64,  16, 16, 32 }, /* GID */
	{ 67,  16, 16, 32 },
	{ 128, 10,  2, 34 }, /* LID: the lower half of one of 32 bits */
	{ 129, 12,  2, 34 },
	{ 131, 14,  1, 36 }, /* port */
	{ 144, 12,  2, 34 },
	{ 144, 16,  4, 36 }, /* CapabilityMask */
	{ 145, 16,  8, 32 }, /* SystemImageGUID */
	{ 145, 12,  2, 42 },
};
/* clang-format on */

static struct request opa_everything(void)
{
	struct request q = request(SET, INFORM_INFO, 0);

	q.mad[0] = q.mad[2] = 0x80;
	put_component(&q, 16, 4, UINT32_MAX);
	put_component(&q, 24, 2, 0x0101);
	put_component(&q, 26, 2, 0xffff);
	put_component(&q, 30, 2, 0xffff);
	put_component(&q, 37, 3, 0xffffff);
	return q;
}

START_TEST(omni_path)
{
	struct request q = opa_everything(), ib = everything(0xffff);
	uint8_t n[80];

	subscribe(HOST + 1, &q);
	subscribe(TWIN_2 + 1, &ib);
	memcpy(n, notice_of(details[_i].trap, SW_B), sizeof(n));
	for (unsigned i = 10; i < 40; i++) {
		n[i] = (uint8_t)(i + 1);
	}
	reports_event(reports, w->r, store, n, false);
	(void)reports_run(reports, 1000);
	ck_assert_uint_eq(wire.n, 2);
	unsigned at = wire.addr[0].lid == lid_of(HOST + 1) ? 0 : 1;
	const uint8_t *m = wire.mad[at], *there = wire.mad[1 - at];
	ck_assert(there[0] == 1 && there[2] == 2);
	ck_assert_mem_eq(there + DATA, n, 80);
	ck_assert(m[0] == 0x80 && m[1] == 3 && m[2] == 0x80 && m[3] == REPORT);
	ck_assert_mem_eq(m + DATA, n, 6);
	ck_assert_uint_eq(get(m + DATA + 6, 2), 0);
	ck_assert_uint_eq(get(m + DATA + 8, 4), lid_of(SW_B));
	ck_assert_mem_eq(m + DATA + 16, n + 64, 16); /* IssuerGID */
	ck_assert_mem_eq(m + DATA + details[_i].to, n + details[_i].from,
	                 details[_i].bytes);
	ck_assert(answer(0));
	ck_assert(answer(1));
	ck_assert_uint_eq(reports_counters(reports)->answered, 2);
}
END_TEST

/* A notice without such a layout goes to subscribers in the other layout. */
START_TEST(omni_path_cannot_say)
{
	struct request q = opa_everything(), ib = everything(0xffff);

	subscribe(HOST + 1, &q);
	subscribe(TWIN_2 + 1, &ib);
	event(200, SW_B);
	(void)reports_run(reports, 1000);
	ck_assert_uint_eq(wire.n, 1);
	ck_assert_uint_eq(wire.addr[0].lid, lid_of(TWIN_2 + 1));
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
	mad[17] ^= 1; /* another attribute */
	ck_assert(reports_answer(reports, mad, 256, wire.addr[7].lid));
	mad[17] ^= 1;
	mad[15]++; /* the next number, as if it were a counter */
	ck_assert(reports_answer(reports, mad, 256, wire.addr[7].lid));
	ck_assert_uint_eq(reports_counters(reports)->answered, 0);
	ck_assert_uint_eq(reports_counters(reports)->forged, 3);
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

/* A subscriber that shares no P_Key with the issuer gets no report. */
START_TEST(partitions)
{
	uint8_t *left =
		query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, LEFT, 1u << 16, 64);
	struct request q = everything(0xffff);

	put(left, 2, 0x8002);
	query_fixture_publish(w, PATH_MINIMAL);
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
	ck_assert_uint_eq(get(n + 16, 8), FIXTURE_PREFIX);
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

static struct request service(unsigned method, uint64_t id)
{
	struct request q = request(method, SERVICE_RECORD, 1 | (method == SET ? 2 : 0));

	put_component(&q, 0, 8, id);
	put_component(&q, 8, 8, UINT64_C(0xfe80000000000000)); /* the prefix of ServiceGID */
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
	sa_server_trap(server, notice_of(128, SW_B), false);
	const uint8_t *m = wait_for(2);
	ck_assert_uint_eq(m[3], REPORT);
	ck_assert_uint_eq(get(m + DATA + 4, 2), 128);
	ck_assert_uint_eq(get(m + DATA + 64, 8), FIXTURE_PREFIX); /* IssuerGID */
	ck_assert_uint_eq(get(m + DATA + 72, 8), SW_B);
	struct request resp;
	memcpy(resp.mad, m, 256);
	resp.mad[3] = REPORT_RESP;
	push(&resp, HOST + 1);
	do {
		sa_server_counters(server, &c);
	} while (c.reports_answered < 1 || c.subscriptions < 1);
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

/* A request that cannot be stored is refused; later requests succeed again. */
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

/* Lines of what was written to a pipe that speak of records that are not stored. */
static unsigned lines_in(int fd)
{
	static char text[1 << 16];
	unsigned n = 0;
	ssize_t len = read(fd, text, sizeof(text) - 1);

	text[len > 0 ? len : 0] = '\0';
	for (const char *at = text; (at = strstr(at, "not stored")) != NULL; at++) {
		n++;
	}
	return n;
}

/* Each request is refused, but the log says so once. */
START_TEST(server_full_disk_log)
{
	enum { N = 200 };
	struct rlimit was, none = { 0, 0 };
	struct request q = service(SET, 1);
	int fds[2], ret = dup(STDERR_FILENO);

	open_server();
	push(&q, HOST + 1);
	wait_for(1);
	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_IGN);
	none.rlim_max = was.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
	ck_assert_int_ge(dup2(fds[1], STDERR_FILENO), 0);
	log_set_level(LOG_LEVEL_ERROR);
	for (unsigned i = 0; i < N; i++) {
		q = service(SET, 2 + i);
		push(&q, HOST + 1);
		ck_assert_uint_eq(get(wait_for(2 + i) + 4, 2), NO_RESOURCES);
	}
	log_set_level((enum log_level) - 1);
	ck_assert_int_ge(dup2(ret, STDERR_FILENO), 0);
	close(fds[1]);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &was), 0);
	ck_assert_uint_eq(lines_in(fds[0]), 1);
	close(fds[0]);
	close(ret);
	close_server();
}
END_TEST

/* --- LIDs above 0xbfff ------------------------------------------------------------------ */

enum { HIGH = 0x12342, SM_LID = 0x10010 };

static void setup_high(void)
{
	setup();
	query_fixture_free(w);
	w = query_fixture_small_high(
		1, 0, PATH_PAIRWISE,
		(struct lid_memory){ .guid = TWIN_2 + 1,
	                             .range = { .base = HIGH, .lmc = 1 } });
	ck_assert_uint_eq(lid_of(TWIN_2 + 1), HIGH);
}

static struct request opa_range(uint32_t begin, uint32_t end)
{
	struct request q = opa_everything();

	put_component(&q, 16, 4, begin);
	put_component(&q, 20, 4, end);
	return q;
}

/* A trap from the port with the high LID, which is in the details, too. */
static void high_event(unsigned trap)
{
	uint8_t n[80];

	memcpy(n, notice_of(trap, TWIN_2 + 1), sizeof(n));
	notice_put_lids(n, HIGH, HIGH, 0);
	reports_event(reports, w->r, store, n, true);
	(void)reports_run(reports, 1000);
}

/* Ranges in Omni-Path's layout have 32 bits. */
static const struct {
	uint32_t begin, end;
	bool gets;
} ranges[] = {
	{ UINT32_MAX, 0, true },      { HIGH, 0, true },
	{ HIGH, HIGH, true },         { 0xc000, 0x1ffff, true },
	{ 0xfff0, UINT32_MAX, true }, { 1, 0xffff, false },
	{ 0x2342, 0, false },         { HIGH + 1, 0x12350, false },
	{ 0x10000, HIGH - 1, false },
};

START_TEST(high_ranges)
{
	struct request q = opa_range(ranges[_i].begin, ranges[_i].end);

	subscribe(HOST + 1, &q);
	high_event(128);
	ck_assert_uint_eq(wire.n, ranges[_i].gets);
	if (ranges[_i].gets) {
		ck_assert_uint_eq(get(wire.mad[0] + DATA + 8, 4), HIGH); /* IssuerLID */
	}
}
END_TEST

/* Where it says its LID: bytes in Omni-Path's layout and in InfiniBand's, where it is 0, and IssuerGID says who. */
static const struct {
	unsigned trap, at, ib_at;
} with_lid[] = {
	{ 128, 32, 10 }, { 129, 32, 12 }, { 130, 32, 12 },
	{ 131, 32, 12 }, { 144, 32, 12 }, { 145, 40, 12 },
};

START_TEST(high_lids)
{
	struct request q = opa_everything(), ib = everything(0xffff);

	subscribe(HOST + 1, &q);
	subscribe(TWIN_1 + 1, &ib);
	high_event(with_lid[_i].trap);
	ck_assert_uint_eq(wire.n, 2);
	unsigned at = wire.mad[0][0] == 0x80 ? 0 : 1;
	const uint8_t *m = wire.mad[at] + DATA, *there = wire.mad[1 - at] + DATA;
	ck_assert_uint_eq(get(m + 8, 4), HIGH);
	ck_assert_uint_eq(get(m + with_lid[_i].at, 4), HIGH);
	ck_assert_uint_eq(get(m + 24, 8), TWIN_2 + 1);
	ck_assert_uint_eq(get(there + 4, 2), with_lid[_i].trap);
	ck_assert_uint_eq(get(there + 6, 2), 0);
	for (unsigned i = 8; i < 16; i++) {
		ck_assert_uint_eq(there[i], 0); /* nor the upper bits in reserved ones */
	}
	ck_assert_uint_eq(get(there + 64, 8), FIXTURE_PREFIX);
	ck_assert_uint_eq(get(there + 72, 8), TWIN_2 + 1);
}
END_TEST

/* The subnet manager has such a LID: its own notices. */
START_TEST(high_issuer)
{
	const struct store_event group = { .created = true, .p_key = 0xffff };
	struct request q = opa_everything(), ib = everything(0xffff);

	w->content.sm_lid = SM_LID;
	query_fixture_publish(w, PATH_PAIRWISE);
	subscribe(HOST + 1, &q);
	subscribe(TWIN_1 + 1, &ib);
	reports_group(reports, w->r, store, &group);
	(void)reports_run(reports, 1000);
	ck_assert_uint_eq(wire.n, 2);
	unsigned at = wire.mad[0][0] == 0x80 ? 0 : 1;
	ck_assert_uint_eq(get(wire.mad[at] + DATA + 8, 4), SM_LID);
	ck_assert_uint_eq(get(wire.mad[1 - at] + DATA + 6, 2), 0);
	ck_assert_uint_eq(get(wire.mad[1 - at] + DATA + 72, 8),
	                  get(wire.mad[at] + DATA + 24, 8)); /* its PortGUID */
}
END_TEST

/* A subscription is dropped by the same range, and shown to both kinds of clients. */
START_TEST(high_records)
{
	struct request q = opa_range(HIGH, 0x1ffff), off = q,
		       list = request(GET_TABLE, 0xf3, 1 << 4);

	subscribe(HOST + 1, &q);
	list.mad[0] = list.mad[2] = 0x80;
	put_component(&list, 8 + 16, 4, HIGH);
	trust_me(&list);
	ck_assert_uint_eq(status_of(&list), 0);
	ck_assert_uint_eq(n_records(), 1);
	ck_assert_uint_eq(get(record(0) + 8 + 16, 4), HIGH);
	ck_assert_uint_eq(get(record(0) + 8 + 20, 4), 0x1ffff);
	put_component(&list, 8 + 16, 4, HIGH & 0xffff);
	ck_assert_uint_eq(status_of(&list), 0);
	ck_assert_uint_eq(n_records(), 0);
	struct request ib = request(GET_TABLE, 0xf3, 0);
	trust_me(&ib);
	ck_assert_uint_eq(status_of(&ib), 0);
	ck_assert_uint_eq(n_records(), 1);
	ck_assert_uint_eq(get(record(0) + 24 + 16, 8) >> 16,
	                  0); /* no LIDs, nothing in reserved bits */
	put_component(&off, 25, 1, 0);
	subscribe(HOST + 1, &off);
	high_event(128);
	ck_assert_uint_eq(wire.n, 0);
	off = opa_range(0xffff, 0); /* nobody's */
	off.mad[DATA + 25] = 1;
	ck_assert_uint_ne(status_of(&off), 0);
}
END_TEST

/* What a client of InfiniBand leaves in reserved bits is no LID. */
START_TEST(reserved_bits)
{
	struct request ib = inform(0, lid_of(SW_B), 0, 1, 0xffff, 0xffff, 0xffffff);

	put_component(&ib, 20, 2, 0x0101);
	subscribe(HOST + 1, &ib);
	event(128, SW_B);
	(void)reports_run(reports, 1000);
	ck_assert_uint_eq(wire.n, 1);
}
END_TEST

TEST_SUITE(notice_report)
{
	TCase *tc = tcase_create("reports");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, on_the_wire);
	tcase_add_loop_test(tc, omni_path, 0, sizeof(details) / sizeof(details[0]));
	tcase_add_test(tc, omni_path_cannot_say);
	tcase_add_loop_test(tc, scope, 0, sizeof(scopes) / sizeof(scopes[0]));
	tcase_add_test(tc, repeated_and_given_up);
	tcase_add_test(tc, answered);
	tcase_add_test(tc, full_transport);
	tcase_add_test(tc, partitions);
	tcase_add_test(tc, ports_come_and_go);
	tcase_add_test(tc, server_reports);
	tcase_add_test(tc, server_keeps);
	tcase_add_test(tc, server_full_disk);
	tcase_add_test(tc, server_full_disk_log);
	suite_add_tcase(suite, tc);
	tc = tcase_create("LIDs above 0xbfff");
	tcase_add_checked_fixture(tc, setup_high, teardown);
	tcase_add_loop_test(tc, high_ranges, 0, sizeof(ranges) / sizeof(ranges[0]));
	tcase_add_loop_test(tc, high_lids, 0, sizeof(with_lid) / sizeof(with_lid[0]));
	tcase_add_test(tc, high_issuer);
	tcase_add_test(tc, high_records);
	tcase_add_test(tc, reserved_bits);
	suite_add_tcase(suite, tc);
}

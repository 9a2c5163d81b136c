/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Which events are reported, and whose partitions may know: multicast groups that are
 * created and deleted (traps 66 and 67: IBA vol. 1, 14.2.5.1 and 14.4.11), by joins,
 * leaves and ports that vanish; traps of switches and CAs, with their issuer; keys;
 * ports.
 */
#include "tests/lib/notice_fixture.h"

#include "sa/server/server_int.h"
#include "sa/store/mcast.h"
#include "tests/lib/suite.h"

enum {
	MCMEMBER_RECORD = 0x38,
	M_CREATE = 0x130c7, /* MGID, PortGID, Q_Key, TClass, P_Key, SL, FlowLabel,
	                       JoinState */
	FULL = 1
};

#define MGID_TOP UINT64_C(0xff18a01b00000000)
#define BROADCAST_TOP UINT64_C(0xff12401bffff0000)
#define BROADCAST_LOW UINT64_C(0x00000000ffffffff)

static unsigned seen; /* MADs of the wire that were looked at */

static void give(uint64_t node, uint16_t first, uint16_t second)
{
	uint8_t *keys =
		query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, node, 1u << 16, 64);

	put(keys, 2, first);
	put(keys + 2, 2, second);
}

static void setup_partitions(void)
{
	setup();
	give(HOST, 0xffff, 0x8001);
	give(TWIN_1, 0x7fff, 0);
	give(LEFT, 0x8002, 0);
	w->content.multicast_fdb_cap = 8;
	query_fixture_publish(w, PATH_MINIMAL);
	seen = 0;
}

static struct request member(unsigned method, uint64_t low, unsigned p_key, uint64_t port)
{
	struct request q = request(method, MCMEMBER_RECORD, M_CREATE);

	put_gid(&q, 0, MGID_TOP, low);
	put_gid(&q, 16, FIXTURE_PREFIX, port);
	put_component(&q, 32, 4, 0x1234);
	put_component(&q, 40, 2, p_key);
	put_component(&q, 48, 1, FULL);
	return q;
}

static void push_answer(unsigned i)
{
	struct request resp;
	struct mad_msg m = { .mgmt_class = 3,
		             .addr = { .lid = wire.addr[i].lid, .qpn = QP },
		             .len = 256,
		             .data = resp.mad };

	memcpy(resp.mad, wire.mad[i], 256);
	resp.mad[3] = REPORT_RESP;
	sa_server_receive(server, &m, 1, true);
}

/* The next report, answered; a repeated one does not count. */
static const uint8_t *next_report(uint32_t *ret_lid)
{
	static uint64_t last;
	const uint8_t *m;

	do {
		m = wait_for(++seen);
	} while (m[3] != REPORT || (seen > 1 && get(m + 8, 8) == last));
	last = get(m + 8, 8);
	*ret_lid = wire.addr[seen - 1].lid;
	push_answer(seen - 1);
	return m + DATA;
}

static void hears(unsigned trap, uint64_t top, uint64_t low)
{
	uint32_t lid;
	const uint8_t *n = next_report(&lid);

	ck_assert_uint_eq(get(n, 4),
	                  0x83000004); /* generic, type 3, of a class manager */
	ck_assert_uint_eq(get(n + 4, 2), trap);
	ck_assert_uint_eq(get(n + 6, 2), 1); /* the SM's LID */
	ck_assert_uint_eq(get(n + 16, 8), top);
	ck_assert_uint_eq(get(n + 24, 8), low);
	ck_assert_uint_eq(get(n + 64, 8), FIXTURE_PREFIX);
	ck_assert_uint_eq(lid, lid_of(HOST + 1));
}

static void ask_from(const struct request *q, uint64_t from)
{
	unsigned n = wire.n;

	push(q, from);
	while (wait_for(n + 1)[3] == REPORT) {
		n++;
	}
	ck_assert_uint_eq(get(wire.mad[n] + 4, 2), 0);
}

static void ask_for_groups(void)
{
	struct request q = everything(66);

	for (unsigned trap = 66; trap <= 67; trap++) {
		put_component(&q, 26, 2, trap);
		ask_from(&q, HOST + 1);
		ask_from(&q, LEFT + 1); /* is in no partition of theirs */
	}
}

START_TEST(groups)
{
	struct request q;
	uint32_t lid = lid_of(TWIN_2 + 1), port = w->lids.owner[lid];

	open_server();
	ask_for_groups();
	sa_server_swept(server); /* from now on there are well-known groups */
	hears(66, BROADCAST_TOP, BROADCAST_LOW);
	q = member(SET, 1, 0xffff, TWIN_2 + 1);
	ask_from(&q, TWIN_2 + 1);
	hears(66, MGID_TOP, 1);
	q = member(SET, 1, 0xffff, DUAL + 1);
	ask_from(&q, DUAL + 1); /* one more member: nothing to tell */
	q = member(DELETE, 1, 0xffff, TWIN_2 + 1);
	ask_from(&q, TWIN_2 + 1);
	q = member(SET, 2, 0xffff, TWIN_2 + 1);
	ask_from(&q, TWIN_2 + 1);
	hears(66, MGID_TOP, 2);
	q = member(DELETE, 1, 0xffff, DUAL + 1);
	ask_from(&q, DUAL + 1);
	hears(67, MGID_TOP, 1);
	set_lid(port, lid, false);
	sa_server_swept(server); /* and with its last member a group */
	hears(67, MGID_TOP, 2);
	close_server();
}
END_TEST

/* A limited member of the partition knows, too. */
START_TEST(limited_member)
{
	struct request q = everything(66);
	uint32_t lid;

	open_server();
	ask_from(&q, TWIN_1 + 1);
	ask_from(&q, LEFT + 1);
	q = member(SET, 1, 0xffff, TWIN_2 + 1);
	ask_from(&q, TWIN_2 + 1);
	ck_assert_uint_eq(get(next_report(&lid) + 24, 8), 1);
	ck_assert_uint_eq(lid, lid_of(TWIN_1 + 1));
	close_server();
}
END_TEST

/* One group alone, before it is there; one of other partitions is refused. */
START_TEST(by_mgid)
{
	struct store_event first = { .p_key = 0xffff, .created = true }, second = first;
	struct request q = inform(0, 0, 0, 1, 0xffff, 66, 0xffffff);
	struct mcast_group_row g = { .well_known = 1 };

	put(first.mgid, 8, MGID_TOP);
	put(first.mgid + 8, 8, 1);
	put(second.mgid, 8, MGID_TOP + 1);
	put(second.mgid + 8, 8, 1);
	put_gid(&q, 0, MGID_TOP, 1);
	subscribe(HOST + 1, &q);
	reports_group(reports, w->r, store, &second);
	reports_group(reports, w->r, store, &first);
	(void)reports_run(reports, 0);
	ck_assert_uint_eq(wire.n, 1);
	ck_assert_mem_eq(wire.mad[0] + DATA + 16, first.mgid, 16);
	memcpy(g.record, first.mgid, 16);
	mcast_put(g.record, MC_P_KEY, 0x8001);
	ck_assert_int_eq(mcast_group_put(store, &g), E_OK);
	asker = lid_of(LEFT + 1);
	ck_assert_uint_eq(status_of(&q), REQ_INVALID);
	asker = lid_of(HOST + 1);
	ck_assert_uint_eq(status_of(&q), 0);
}
END_TEST

/* A group that could not be kept was never there. */
START_TEST(undone)
{
	struct mcast_group_row g = { .well_known = 0 };
	struct store_event *list;

	put(g.record, 8, MGID_TOP);
	ck_assert_int_eq(mcast_group_put(store, &g), E_OK);
	ck_assert_int_eq(mcast_group_drop_unused(store, g.record), E_OK);
	ck_assert_uint_eq(store_take_events(store, &list), 0);
	ck_assert_ptr_null(list);
}
END_TEST

/* Notices that switches and CAs send (14.2.5.1), generic and a vendor's own. */
static const unsigned traps[] = { 128, 129, 130, 131, 144, 145, 256, 257, 258, 259, 0 };

/* Events for which there is no room are counted, all of them. */
START_TEST(too_many)
{
	enum { MORE_THAN_WAIT = (1 << 18) + 1 };
	struct sa_counters c;

	open_server();
	server_announce(server, calloc(1, sizeof(struct store_event)), 1);
	sa_server_counters(server, &c);
	ck_assert_uint_eq(c.reports_dropped, 0);
	for (unsigned i = 1; i <= 2; i++) {
		server_announce(server, calloc(MORE_THAN_WAIT, sizeof(struct store_event)),
		                MORE_THAN_WAIT);
		sa_server_counters(server, &c);
		ck_assert_uint_eq(c.reports_dropped, i * MORE_THAN_WAIT);
	}
	close_server();
}
END_TEST

START_TEST(forwarded)
{
	struct request q = everything(0xffff), own = everything(0xffff);
	uint8_t notice[80];
	uint32_t lid;

	open_server();
	trust_me(&q);
	trust_me(&own);
	put_component(&own, 22, 1, 0);
	ask_from(&q, HOST + 1);
	ask_from(&own, HOST + 1);
	memcpy(notice, notice_of(traps[_i], DUAL + 1), sizeof(notice));
	for (unsigned i = 8; i < 64; i++) {
		notice[i] = (uint8_t)i;
	}
	if (traps[_i] == 0) {
		notice[0] &= 0x7f;
	}
	memset(notice + 64, 0, 16);
	sa_server_trap(server, notice, false);
	const uint8_t *n = next_report(&lid);
	ck_assert_mem_eq(n, notice, 64); /* as it came */
	ck_assert_uint_eq(get(n + 64, 8), FIXTURE_PREFIX);
	ck_assert_uint_eq(get(n + 72, 8), DUAL + 1);
	ck_assert_uint_eq(lid, lid_of(HOST + 1));
	close_server();
}
END_TEST

/* Violations of keys are for those who know the SM_Key, however they asked. */
START_TEST(keys_need_trust)
{
	struct request q = everything(0xffff), one = everything(257);

	subscribe(HOST + 1, &q);
	asker = lid_of(HOST + 1);
	ck_assert_uint_eq(status_of(&one), REQ_INVALID);
	event(257, SW_B);
	(void)reports_run(reports, 0);
	ck_assert_uint_eq(wire.n, 0);
	trust_me(&one);
	subscribe(TWIN_2 + 1, &one);
	trust_me(&q);
	subscribe(HOST + 1, &q);
	event(257, SW_B);
	event(255, SW_B);
	(void)reports_run(reports, 0);
	ck_assert_uint_eq(wire.n, 3);
	q.mad[36 + 7] ^= 0xff; /* again, without the key */
	memset(q.mad + 36, 0, 8);
	subscribe(HOST + 1, &q);
	event(256, SW_B);
	(void)reports_run(reports, 0);
	ck_assert_uint_eq(wire.n, 3);
}
END_TEST

/* Traps 256 to 259 are about keys; those beside them are not. */
START_TEST(traps_about_keys)
{
	struct request q = everything(0xffff);

	subscribe(HOST + 1, &q);
	event((unsigned)_i, SW_B);
	(void)reports_run(reports, 0);
	ck_assert_uint_eq(wire.n, _i < 256 || _i > 259);
}
END_TEST

/* Ports that come and go are told to whom they share, or shared, a P_Key with. */
START_TEST(ports)
{
	struct request q = everything(0xffff);
	uint32_t lid = lid_of(LEFT + 1), port = w->lids.owner[lid];

	subscribe(HOST + 1, &q);
	subscribe(RIGHT + 1, &q);
	ck_assert_int_eq(reports_ports(reports, w->r, store), E_OK);
	for (unsigned there = 0; there <= 1; there++) {
		set_lid(port, lid, there);
		ck_assert_int_eq(reports_ports(reports, w->r, store), E_OK);
		(void)reports_run(reports, 0);
		ck_assert_uint_eq(wire.n, 0);
	}
	give(RIGHT, 0xffff, 0x0002); /* LEFT is a full member of that */
	query_fixture_publish(w, PATH_MINIMAL);
	for (unsigned there = 0; there <= 1; there++) {
		set_lid(port, lid, there);
		ck_assert_int_eq(reports_ports(reports, w->r, store), E_OK);
		(void)reports_run(reports, 0);
		ck_assert_uint_eq(wire.n, there + 1);
		ck_assert_uint_eq(wire.addr[there].lid, lid_of(RIGHT + 1));
		ck_assert_uint_eq(get(wire.mad[there] + DATA + 4, 2), 65 - there);
		ck_assert_uint_eq(get(wire.mad[there] + DATA + 24, 8), LEFT + 1);
	}
}
END_TEST

/* Statics of this file keep what a case leaves in them. */
TEST_SUITE_FORKED(notice_events)
{
	TCase *tc = tcase_create("events");

	tcase_add_checked_fixture(tc, setup_partitions, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, groups);
	tcase_add_test(tc, limited_member);
	tcase_add_test(tc, by_mgid);
	tcase_add_test(tc, undone);
	tcase_add_test(tc, too_many);
	tcase_add_loop_test(tc, forwarded, 0, sizeof(traps) / sizeof(traps[0]));
	tcase_add_test(tc, keys_need_trust);
	tcase_add_loop_test(tc, traps_about_keys, 255, 261);
	tcase_add_test(tc, ports);
	suite_add_tcase(suite, tc);
}

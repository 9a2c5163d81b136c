/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * MCMemberRecord, request by request, in the small fabric with
 *
 *   HOST   0xffff 0x8001          TWIN_1 0x8001          LEFT 0x8002
 *
 * and the default, a full member of 0x7fff, for all others. Byte positions and component
 * bits are those of the specification's table (IBA vol. 1, 15.2.5.17).
 *
 * Longer than most: each component of a request has its cases, and the model of the random test is of all.
 */
#include "tests/lib/store_fixture.h"

#include "conf/policy/partitions.h"
#include "sa/store/mcast.h"
#include "tests/lib/suite.h"

enum {
	MCMEMBER_RECORD = 0x38,
	AT_MGID = 0,
	AT_PORT_GID = 16,
	AT_Q_KEY = 32,
	AT_MLID = 36,
	AT_MTU = 38, /* selector and value */
	AT_T_CLASS = 39,
	AT_P_KEY = 40,
	AT_RATE = 42,
	AT_LIFE = 43,
	AT_SL_FLOW_HOP = 44,
	AT_SCOPE_STATE = 48,
	AT_PROXY = 49,
	M_MGID = 0x1,
	M_PORT_GID = 0x2,
	M_Q_KEY = 0x4,
	M_MLID = 0x8,
	M_MTU = 0x30,
	M_T_CLASS = 0x40,
	M_P_KEY = 0x80,
	M_RATE = 0x300,
	M_LIFE = 0xc00,
	M_SL = 0x1000,
	M_FLOW = 0x2000,
	M_HOP = 0x4000,
	M_SCOPE = 0x8000,
	M_JOIN_STATE = 0x10000,
	M_PROXY = 0x20000,
	M_JOIN = M_MGID | M_PORT_GID | M_JOIN_STATE,
	M_CREATE = M_JOIN | M_Q_KEY | M_T_CLASS | M_P_KEY | M_SL | M_FLOW,
	GREATER = 0x00, /* selectors in front of six bits */
	LESS = 0x40,
	EXACTLY = 0x80,
	LARGEST = 0xc0,
	Q_KEY = 0x1234
};

#define GROUP_TOP UINT64_C(0xff18a01b00000000)
#define BROADCAST_TOP UINT64_C(0xff12401bffff0000)
#define BROADCAST_LOW UINT64_C(0x00000000ffffffff)
#define LINK_LOCAL UINT64_C(0xfe80000000000000)

static void setup(void)
{
	start();
	give(HOST, 0xffff, 0x8001);
	give(TWIN_1, 0x8001, 0);
	give(LEFT, 0x8002, 0);
	w->content.multicast_fdb_cap = 8;
	query_fixture_publish(w, PATH_MINIMAL);
	start_time = 1000;
	open_store();
	ck_assert_int_eq(mcast_after_sweep(store, w->r), E_OK);
	ck_assert_int_eq(make_durable(), E_OK);
	asker = lid_of(HOST + 1);
}

static void teardown(void)
{
	close_store();
	stop();
}

static void ask_as(uint64_t port_guid)
{
	asker = lid_of(port_guid);
}

static bool lazy; /* commit later */

static unsigned say(const struct request *q)
{
	unsigned status = status_of(q);

	if (lazy) {
		return status;
	}
	if (status) { /* what is refused changes nothing */
		ck_assert_ptr_null(store_take_changes(store));
	}
	ck_assert_int_eq(make_durable(), E_OK);
	return status;
}

static void put_mgid(struct request *q, uint64_t top, uint64_t low)
{
	put_gid(q, AT_MGID, top, low);
}

/* A port sets or leaves its own membership. */
static struct request member(unsigned method, uint64_t low, uint64_t port_guid,
                             unsigned join_state, uint64_t more)
{
	struct request q = request(method, MCMEMBER_RECORD, M_JOIN | more);

	put_mgid(&q, GROUP_TOP, low);
	put_gid(&q, AT_PORT_GID, FIXTURE_PREFIX, port_guid);
	put_component(&q, AT_SCOPE_STATE, 1, join_state);
	return q;
}

/* One that may create. */
static struct request create(uint64_t low, uint64_t port_guid, unsigned join_state)
{
	struct request q = member(SET, low, port_guid, join_state, M_CREATE);

	put_component(&q, AT_Q_KEY, 4, Q_KEY);
	put_component(&q, AT_P_KEY, 2, 0xffff);
	return q;
}

static unsigned join(uint64_t low, uint64_t port_guid, unsigned join_state)
{
	struct request q = member(SET, low, port_guid, join_state, 0);

	return say(&q);
}

static unsigned leave(uint64_t low, uint64_t port_guid, unsigned join_state)
{
	struct request q = member(DELETE, low, port_guid, join_state, 0);

	return say(&q);
}

static void created(uint64_t low)
{
	struct request q = create(low, HOST + 1, 1);

	ck_assert_uint_eq(say(&q), 0);
}

static size_t groups(bool trusted)
{
	struct request q = request(GET_TABLE, MCMEMBER_RECORD, 0);

	if (trusted) {
		trust_me(&q);
	}
	ck_assert_uint_eq(say(&q), 0);
	return n_records();
}

START_TEST(broadcast_group_is_there)
{
	ck_assert_uint_eq(groups(false), 1);
	ck_assert_uint_eq(get(record(0) + AT_MGID, 8), BROADCAST_TOP);
	ck_assert_uint_eq(get(record(0) + AT_MGID + 8, 8), BROADCAST_LOW);
	ck_assert_uint_eq(get(record(0) + AT_Q_KEY, 4), 0xb1b);
	ck_assert_uint_eq(get(record(0) + AT_MLID, 2), 0xc000);
	ck_assert_uint_eq(record(0)[AT_MTU], EXACTLY | 4);
	ck_assert_uint_eq(record(0)[AT_RATE], EXACTLY | 3);
	ck_assert_uint_eq(record(0)[AT_LIFE], EXACTLY | FIXTURE_LIFE_TIME);
	ck_assert_uint_eq(get(record(0) + AT_P_KEY, 2), 0xffff);
	ck_assert_uint_eq(record(0)[AT_SCOPE_STATE], 0x20);
	ck_assert_int_eq(mcast_after_sweep(store, w->r), E_OK); /* once is enough */
	ck_assert_ptr_null(store_take_changes(store));
}
END_TEST

/* A group takes what its creator leaves open from the creator's port: NDR, MTU 4096. */
START_TEST(created_and_found)
{
	struct request q = create(5, HOST + 1, 1);

	put_component(&q, AT_SL_FLOW_HOP, 4, 0x3abcde07); /* HopLimit is not masked */
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(get(reply.data + 44, 2), 56 / 8);
	ck_assert_uint_eq(get(record(0) + AT_MGID, 8), GROUP_TOP);
	ck_assert_uint_eq(get(record(0) + AT_PORT_GID + 8, 8), HOST + 1);
	ck_assert_uint_eq(get(record(0) + AT_MLID, 2), 0xc001);
	ck_assert_uint_eq(record(0)[AT_MTU], EXACTLY | 5);
	ck_assert_uint_eq(get(record(0) + AT_SL_FLOW_HOP, 4), 0x3abcde00);
	ck_assert_uint_eq(record(0)[AT_SCOPE_STATE], 0x81);
	ck_assert_uint_eq(groups(false), 2);
	ck_assert_uint_eq(get(record(1) + AT_PORT_GID, 8), 0); /* not told who */
	ck_assert_uint_eq(record(1)[AT_SCOPE_STATE], 0x80);
	ck_assert_uint_eq(groups(true), 2);
	ck_assert_uint_eq(get(record(1) + AT_PORT_GID + 8, 8), HOST + 1);
	ck_assert_uint_eq(record(1)[AT_SCOPE_STATE], 0x81);
}
END_TEST

START_TEST(mgid_is_made)
{
	struct request q = create(0, HOST + 1, 1);

	put_mgid(&q, 0, 0);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_uint_eq(say(&q), 0);
		ck_assert_uint_eq(get(record(0), 4), 0xff12a01b);
		ck_assert_uint_eq(get(record(0) + 4, 8), FIXTURE_PREFIX);
	}
	ck_assert_uint_eq(groups(false), 4);
}
END_TEST

/* clang-format off */
static const struct {
	const char *what;
	uint64_t without, more; /* components */
	unsigned at, bytes;
	uint64_t value;
	unsigned status;
} creations[] = {
	{ "no MGID", M_MGID, 0, AT_MTU, 1, 0, INSUF_COMPS },
	{ "no PortGID", M_PORT_GID, 0, AT_MTU, 1, 0, INSUF_COMPS },
	{ "no JoinState", M_JOIN_STATE, 0, AT_MTU, 1, 0, INSUF_COMPS },
	{ "no Q_Key", M_Q_KEY, 0, AT_MTU, 1, 0, INSUF_COMPS },
	{ "no P_Key", M_P_KEY, 0, AT_MTU, 1, 0, INSUF_COMPS },
	{ "no SL", M_SL, 0, AT_MTU, 1, 0, INSUF_COMPS },
	{ "no FlowLabel", M_FLOW, 0, AT_MTU, 1, 0, INSUF_COMPS },
	{ "no TClass", M_T_CLASS, 0, AT_MTU, 1, 0, INSUF_COMPS },
	{ "JoinState 0", 0, 0, AT_SCOPE_STATE, 1, 0x80, REQ_INVALID },
	{ "non-member", 0, 0, AT_SCOPE_STATE, 1, 0x82, REQ_INVALID },
	{ "sends only", 0, 0, AT_SCOPE_STATE, 1, 0x84, REQ_INVALID },
	{ "full member that sends only", 0, 0, AT_SCOPE_STATE, 1, 0x88, 0 },
	{ "unknown port", 0, 0, AT_PORT_GID + 8, 8, 0x999, REQ_INVALID },
	{ "foreign prefix", 0, 0, AT_PORT_GID, 8, 0x1234, INVALID_GID },
	{ "link-local prefix", 0, 0, AT_PORT_GID, 8, LINK_LOCAL, 0 },
	{ "foreign partition", 0, 0, AT_P_KEY, 2, 0x8002, REQ_INVALID },
	{ "own partition", 0, 0, AT_P_KEY, 2, 0x8001, 0 },
	{ "P_Key 0", 0, 0, AT_P_KEY, 2, 0x8000, REQ_INVALID },
	{ "MTU exactly", 0, M_MTU, AT_MTU, 1, EXACTLY | 3, 0 },
	{ "MTU beyond", 0, M_MTU, AT_MTU, 1, EXACTLY | 6, REQ_INVALID },
	{ "MTU 0", 0, M_MTU, AT_MTU, 1, EXACTLY | 0, REQ_INVALID },
	{ "MTU above the port's", 0, M_MTU, AT_MTU, 1, GREATER | 5, REQ_INVALID },
	{ "MTU above 4", 0, M_MTU, AT_MTU, 1, GREATER | 4, 0 },
	{ "MTU below the least", 0, M_MTU, AT_MTU, 1, LESS | 1, REQ_INVALID },
	{ "MTU below 5", 0, M_MTU, AT_MTU, 1, LESS | 5, 0 },
	{ "MTU below one that is none", 0, M_MTU, AT_MTU, 1, LESS | 6, REQ_INVALID },
	{ "MTU largest", 0, M_MTU, AT_MTU, 1, LARGEST, 0 },
	{ "rate that is none", 0, M_RATE, AT_RATE, 1, EXACTLY | 0x3f, REQ_INVALID },
	{ "rate below the least", 0, M_RATE, AT_RATE, 1, LESS | 2, REQ_INVALID },
	{ "rate below 10 Gb/s", 0, M_RATE, AT_RATE, 1, LESS | 3, 0 },
	{ "rate above 10 Gb/s", 0, M_RATE, AT_RATE, 1, GREATER | 3, 0 },
	{ "rate beyond the port's", 0, M_RATE, AT_RATE, 1, EXACTLY | 22, REQ_INVALID },
	{ "life below 0", 0, M_LIFE, AT_LIFE, 1, LESS | 0, REQ_INVALID },
	{ "life above all", 0, M_LIFE, AT_LIFE, 1, GREATER | 63, REQ_INVALID },
	{ "life above", 0, M_LIFE, AT_LIFE, 1, GREATER | 20, 0 },
	{ "no multicast GID", 0, 0, AT_MGID, 1, 0xfe, REQ_INVALID },
	{ "reserved flags", 0, 0, AT_MGID, 2, 0xff28, REQ_INVALID },
	{ "SA's own, link-local", 0, 0, AT_MGID, 2, 0xff12, REQ_INVALID },
	{ "well-known", 0, 0, AT_MGID, 4, 0xff020000, 0 },
	{ "IPoIB of no partition", 0, 0, AT_MGID, 8, 0xff12401b80010000, REQ_INVALID },
	{ "IPoIB with another Q_Key", 0, 0, AT_MGID, 8, BROADCAST_TOP, REQ_INVALID },
};
/* clang-format on */

START_TEST(creation)
{
	struct request q = create(5, HOST + 1, 0x81);

	put(q.mad + 48, 8, (M_CREATE | creations[_i].more) & ~creations[_i].without);
	put_component(&q, creations[_i].at, creations[_i].bytes, creations[_i].value);
	unsigned status = say(&q);
	ck_assert_msg(status == creations[_i].status, "%s: 0x%04x", creations[_i].what,
	              status);
	ck_assert_msg(groups(false) == (status ? 1U : 2U), "%s", creations[_i].what);
}
END_TEST

/* An IPoIB group with the values of its broadcast group. */
START_TEST(ipoib)
{
	struct request q = create(0, HOST + 1, 1);

	put(q.mad + 48, 8, M_CREATE | M_MTU | M_RATE);
	put_mgid(&q, BROADCAST_TOP, 1);
	put_component(&q, AT_Q_KEY, 4, 0xb1b);
	put_component(&q, AT_MTU, 1, EXACTLY | 4);
	put_component(&q, AT_RATE, 1, EXACTLY | 3);
	ck_assert_uint_eq(say(&q), 0);
	put_mgid(&q, BROADCAST_TOP, 2);
	put_component(&q, AT_MTU, 1, EXACTLY | 3);
	ck_assert_uint_eq(say(&q), REQ_INVALID);
}
END_TEST

START_TEST(states_add_up_and_go)
{
	created(5);
	ck_assert_uint_eq(join(5, HOST + 1, 2), 0);
	ck_assert_uint_eq(record(0)[AT_SCOPE_STATE], 0x83);
	ck_assert_uint_eq(join(5, HOST + 1, 4), 0);
	ck_assert_uint_eq(record(0)[AT_SCOPE_STATE], 0x87);
	ck_assert_uint_eq(leave(5, HOST + 1, 8), REQ_INVALID);
	ck_assert_uint_eq(leave(5, HOST + 1, 0), REQ_INVALID);
	ck_assert_uint_eq(leave(5, HOST + 1, 4), 0);
	ck_assert_uint_eq(record(0)[AT_SCOPE_STATE], 0x83);
	ck_assert_uint_eq(leave(5, HOST + 1, 1), 0); /* no full member: the group ends */
	ck_assert_uint_eq(groups(false), 1);
	ck_assert_uint_eq(leave(5, HOST + 1, 2), REQ_INVALID);
	ck_assert_uint_eq(store_count(store, RECORDS_MEMBERS), 0);
}
END_TEST

/* clang-format off */
static const struct {
	const char *what;
	uint64_t more;
	unsigned at, bytes;
	uint64_t value;
	unsigned status;
} joins[] = {
	{ "Q_Key", M_Q_KEY, AT_Q_KEY, 4, Q_KEY, 0 },
	{ "another Q_Key", M_Q_KEY, AT_Q_KEY, 4, Q_KEY + 1, REQ_INVALID },
	{ "P_Key as limited member", M_P_KEY, AT_P_KEY, 2, 0x7fff, 0 },
	{ "another P_Key", M_P_KEY, AT_P_KEY, 2, 0x8001, REQ_INVALID },
	{ "MLID", M_MLID, AT_MLID, 2, 0xc001, 0 },
	{ "another MLID", M_MLID, AT_MLID, 2, 0xc002, REQ_INVALID },
	{ "another SL", M_SL, AT_SL_FLOW_HOP, 1, 0x10, REQ_INVALID },
	{ "MTU", M_MTU, AT_MTU, 1, EXACTLY | 4, 0 },
	{ "MTU above 3", M_MTU, AT_MTU, 1, GREATER | 3, 0 },
	{ "MTU above 4", M_MTU, AT_MTU, 1, GREATER | 4, REQ_INVALID },
	{ "MTU below 4", M_MTU, AT_MTU, 1, LESS | 4, REQ_INVALID },
	{ "rate", M_RATE, AT_RATE, 1, EXACTLY | 3, 0 },
	{ "rate below 10 Gb/s", M_RATE, AT_RATE, 1, LESS | 3, REQ_INVALID },
	{ "life", M_LIFE, AT_LIFE, 1, GREATER | FIXTURE_LIFE_TIME, REQ_INVALID },
	{ "JoinState 0", 0, AT_SCOPE_STATE, 1, 0, REQ_INVALID },
	{ "sends only", 0, AT_SCOPE_STATE, 1, 4, 0 },
};
/* clang-format on */

START_TEST(joining)
{
	struct request q = create(5, HOST + 1, 1);

	put(q.mad + 48, 8, M_CREATE | M_MTU | M_RATE);
	put_component(&q, AT_MTU, 1, EXACTLY | 4);
	put_component(&q, AT_RATE, 1, EXACTLY | 3);
	ck_assert_uint_eq(say(&q), 0);
	ask_as(TWIN_2 + 1);
	q = member(SET, 5, TWIN_2 + 1, 1, joins[_i].more);
	put_component(&q, joins[_i].at, joins[_i].bytes, joins[_i].value);
	unsigned status = say(&q);
	ck_assert_msg(status == joins[_i].status, "%s: 0x%04x", joins[_i].what, status);
}
END_TEST

START_TEST(port_is_too_slow)
{
	created(5); /* at NDR */
	ask_as(TWIN_2 + 1);
	ck_assert_uint_eq(join(5, TWIN_2 + 1, 1), REQ_INVALID);
}
END_TEST

/* On behalf of others: within the partition, and not over their own heads. */
START_TEST(proxy)
{
	struct request q = create(5, HOST + 1, 1);

	put(q.mad + 48, 8, M_CREATE | M_RATE);
	put_component(&q, AT_RATE, 1, EXACTLY | 3);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(join(5, TWIN_2 + 1, 1), 0);
	ck_assert_uint_eq(record(0)[AT_PROXY], 0x80);
	ask_as(RIGHT + 1);
	ck_assert_uint_eq(leave(5, HOST + 1, 1), REQ_INVALID); /* HOST's own */
	ck_assert_uint_eq(leave(5, TWIN_2 + 1, 1), 0);
	ask_as(TWIN_1 + 1); /* not of the partition */
	ck_assert_uint_eq(join(5, TWIN_2 + 1, 1), REQ_INVALID);
	ask_as(HOST + 1);
	ck_assert_uint_eq(join(5, TWIN_1 + 1, 1), REQ_INVALID);
}
END_TEST

/* With own_records a port joins for its own node only; others need the SM_Key. */
START_TEST(proxy_needs_trust)
{
	struct request q = create(5, HOST + 1, 1);

	put(q.mad + 48, 8, M_CREATE | M_RATE);
	put_component(&q, AT_RATE, 1, EXACTLY | 3);
	ck_assert_uint_eq(say(&q), 0);
	limits.own_records = true;
	q = member(SET, 5, TWIN_2 + 1, 1, 0);
	ck_assert_uint_eq(say(&q), REQ_INVALID);
	trust_me(&q);
	ck_assert_uint_eq(say(&q), 0);
	q = create(6, TWIN_2 + 1, 1);
	ck_assert_uint_eq(say(&q), REQ_INVALID);
	ck_assert_uint_eq(leave(5, TWIN_2 + 1, 1), REQ_INVALID);
	ck_assert_uint_eq(join(5, HOST + 1, 4), 0);
	ask_as(TWIN_2 + 1);
	ck_assert_uint_eq(leave(5, TWIN_2 + 1, 1), 0);
}
END_TEST

/* A port that is a member of so many groups creates no more, but joins; a partition gets no
 * more; who has the SM_Key may, and broadcast groups are not counted. */
START_TEST(share_of_groups)
{
	struct request q;

	limits.groups_of_port = _i == 0 ? 3 : 0;
	limits.groups_of_partition = _i == 1 ? 4 : 0; /* with the broadcast group */
	for (uint64_t i = 1; i <= 3; i++) {
		created(i);
	}
	q = create(4, HOST + 1, 1);
	ck_assert_uint_eq(say(&q), NO_RESOURCES);
	trust_me(&q);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(join(4, HOST + 1, 4), 0);
	ask_as(TWIN_2 + 1);
	q = create(5, TWIN_2 + 1, 1);
	ck_assert_uint_eq(say(&q), _i == 0 ? 0 : NO_RESOURCES);
}
END_TEST

START_TEST(visibility)
{
	struct request q = request(GET_TABLE, MCMEMBER_RECORD, M_PORT_GID);

	created(5);
	ask_as(TWIN_1 + 1); /* shares no P_Key with either group */
	ck_assert_uint_eq(groups(false), 0);
	ask_as(HOST + 1);
	put_gid(&q, AT_PORT_GID, FIXTURE_PREFIX, HOST + 1);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(n_records(), 1);
	put_gid(&q, AT_PORT_GID, FIXTURE_PREFIX, TWIN_2 + 1);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(n_records(), 0);
	q.mad[3] = GET;
	ck_assert_uint_eq(say(&q), NO_RECORDS);
}
END_TEST

/* A member fits a requested JoinState if it has all bits of it, not only some. */
START_TEST(found_by_all_bits_of_join_state)
{
	static const struct {
		unsigned join_state;
		size_t members;
	} by[] = { { 1, 2 }, { 4, 2 }, { 5, 1 }, { 2, 0 }, { 7, 0 } };
	struct request group = create(5, HOST + 1, 1);

	put(group.mad + 48, 8, M_CREATE | M_MTU | M_RATE);
	put_component(&group, AT_MTU, 1, EXACTLY | 4);
	put_component(&group, AT_RATE, 1, EXACTLY | 3);
	ck_assert_uint_eq(say(&group), 0);
	ask_as(TWIN_2 + 1);
	ck_assert_uint_eq(join(5, TWIN_2 + 1, 5), 0);
	ask_as(RIGHT + 1);
	ck_assert_uint_eq(join(5, RIGHT + 1, 4), 0);
	ask_as(HOST + 1);
	for (unsigned i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
		struct request q =
			request(GET_TABLE, MCMEMBER_RECORD, M_MGID | M_JOIN_STATE);

		put_mgid(&q, GROUP_TOP, 5);
		put_component(&q, AT_SCOPE_STATE, 1, by[i].join_state);
		ck_assert_uint_eq(say(&q), 0);
		ck_assert_uint_eq(n_records(), by[i].members != 0); /* the group */
		trust_me(&q);
		ck_assert_uint_eq(say(&q), 0);
		ck_assert_uint_eq(n_records(), by[i].members);
		for (size_t k = 0; k < by[i].members; k++) {
			ck_assert_uint_eq(record(k)[AT_SCOPE_STATE] & by[i].join_state,
			                  by[i].join_state);
		}
	}
}
END_TEST

START_TEST(no_mlid_is_left)
{
	for (uint64_t i = 1; i < 8; i++) {
		created(i);
	}
	struct request q = create(8, HOST + 1, 1);
	ck_assert_uint_eq(say(&q), NO_RESOURCES);
	ck_assert_uint_eq(leave(3, HOST + 1, 1), 0);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(get(record(0) + AT_MLID, 2), 0xc003); /* the lowest free one */
}
END_TEST

/* Of 32 MLIDs two are kept for broadcast groups: the one that is there, and that of another
 * partition. */
START_TEST(mlids_kept_for_broadcast)
{
	struct request q;

	w->content.multicast_fdb_cap = 32;
	query_fixture_publish(w, PATH_MINIMAL);
	for (uint64_t i = 1; i < 30; i++) {
		created(i);
	}
	q = create(31, HOST + 1, 1);
	ck_assert_uint_eq(say(&q), NO_RESOURCES);
	put_mgid(&q, 0xff12401b80010000, 0xffffffff);
	put_component(&q, AT_P_KEY, 2, 0x8001);
	ck_assert_uint_eq(say(&q), 0);
}
END_TEST

START_TEST(gone_ports_leave)
{
	struct mcast_member_row m = { .port_guid = 0x999, .join_state = 1 };
	uint8_t gid[MGID_BYTES] = { 0xfe, 0x80 };
	struct mcast_group_row g;

	created(5);
	ck_assert(mcast_group_of(store_next(store, RECORDS_GROUPS,
	                                    store_seek(store, RECORDS_GROUPS, NULL, 0)),
	                         &g));
	ck_assert_int_eq(mcast_member_put(store, g.record, gid, &m), E_OK);
	ck_assert_int_eq(mcast_after_sweep(store, w->r), E_OK);
	ck_assert_uint_eq(store_count(store, RECORDS_MEMBERS), 1);
	ck_assert_uint_eq(groups(false), 2);
	/* from all its groups, and groups without members go */
	ck_assert_int_eq(mcast_member_put(store, g.record, gid, &m), E_OK);
	for (uint8_t name = 1; name < 4; name++) {
		g.record[1] = (uint8_t)(0x20 | name);
		ck_assert_int_eq(mcast_member_put(store, g.record, gid, &m), E_OK);
	}
	ck_assert_uint_eq(store_count(store, RECORDS_MEMBERS), 5);
	ck_assert_int_eq(mcast_after_sweep(store, w->r), E_OK);
	ck_assert_uint_eq(store_count(store, RECORDS_MEMBERS), 1);
	ck_assert_uint_eq(groups(false), 2);
}
END_TEST

static void publish_partitions(const char *text)
{
	static const uint32_t ports[8][2];

	ck_assert_int_eq(partitions_parse("p", text, strlen(text), w->a, NULL,
	                                  &w->content.partitions),
	                 E_OK);
	w->content.partition_ports = ports;
	query_fixture_publish(w, PATH_MINIMAL);
	ck_assert_int_eq(mcast_after_sweep(store, w->r), E_OK);
}

/* The group with an MGID; its values in g. */
static bool there(uint64_t top, uint64_t low, struct mcast_group_row *g)
{
	uint8_t mgid[MGID_BYTES];

	field_set(mgid, 0, 64, top);
	field_set(mgid, 64, 64, low);
	return mcast_group_find(store, mgid, g);
}

/* Other P_Keys for HOST than it was given. */
static void change_keys(uint16_t first, uint16_t second)
{
	for (size_t i = 0; i < w->content.n_attrs; i++) {
		const struct snap_attr *a = &w->content.attrs[i];

		if (a->guid == HOST && a->attr == UMAD_SM_ATTR_PKEY_TABLE) {
			put((uint8_t *)a->data, 2, first);
			put((uint8_t *)a->data + 2, 2, second);
		}
	}
}

/* Groups come and go with the partitions; while one has members, its values stay. */
START_TEST(groups_of_partitions)
{
	struct mcast_group_row g;
	struct mcast_member_row m = { .port_guid = HOST + 1,
		                      .join_state = MC_FULL_MEMBER };
	const uint8_t gid[MGID_BYTES] = { 0xfe, 0x80 };
	uint32_t mlid;

	publish_partitions(
		"Default=0x7fff,ipoib:ALL=full;A=0x10,ipoib,mtu=5,rate=7,sl=3,TClass=9,Q_Key=5:ALL=full,mgid=ff15::7,sl=2\n;");
	ck_assert_uint_eq(groups(false), 1); /* of others' partitions nobody is told */
	ck_assert(there(BROADCAST_TOP, BROADCAST_LOW, &g) && g.well_known);
	ck_assert(there(UINT64_C(0xff12401b80100000), BROADCAST_LOW, &g) && g.well_known);
	ck_assert_uint_eq(mcast_get(g.record, MC_P_KEY), 0x8010);
	ck_assert_uint_eq(mcast_get(g.record, MC_MTU), 5);
	ck_assert_uint_eq(mcast_get(g.record, MC_RATE), 7);
	ck_assert_uint_eq(mcast_get(g.record, MC_Q_KEY), 5);
	ck_assert_uint_eq(mcast_get(g.record, MC_T_CLASS), 9);
	mlid = (uint32_t)mcast_get(g.record, MC_MLID);
	ck_assert(there(UINT64_C(0xff15000000000000), 7, &g));
	ck_assert_uint_eq(mcast_get(g.record, MC_SCOPE), 5);
	ck_assert_uint_eq(mcast_get(g.record, MC_SL), 2);
	publish_partitions("A=0x10,ipoib,mtu=4:ALL=full;");
	ck_assert(!there(BROADCAST_TOP, BROADCAST_LOW, &g));
	ck_assert(!there(UINT64_C(0xff15000000000000), 7, &g));
	ck_assert(there(UINT64_C(0xff12401b80100000), BROADCAST_LOW, &g));
	ck_assert_uint_eq(mcast_get(g.record, MC_MTU), 4);
	ck_assert_uint_eq(mcast_get(g.record, MC_MLID), mlid);
	change_keys(0xffff, 0x8010);
	ck_assert_int_eq(mcast_member_put(store, g.record, gid, &m), E_OK);
	publish_partitions("A=0x10,ipoib,mtu=2:ALL=full;");
	ck_assert(there(UINT64_C(0xff12401b80100000), BROADCAST_LOW, &g));
	ck_assert_uint_eq(mcast_get(g.record, MC_MTU), 4);
	publish_partitions("A=0x10:ALL=full;");
	ck_assert(there(UINT64_C(0xff12401b80100000), BROADCAST_LOW, &g) &&
	          !g.well_known);
	ck_assert_int_eq(mcast_member_leave(store, g.record, gid), E_OK);
	ck_assert(!there(UINT64_C(0xff12401b80100000), BROADCAST_LOW, &g));
}
END_TEST

/* A port that leaves a partition leaves its groups, unless its P_Keys could not be read. */
START_TEST(members_leave_with_the_partition)
{
	struct mcast_member_row m = { .port_guid = HOST + 1,
		                      .join_state = MC_FULL_MEMBER };
	const uint8_t gid[MGID_BYTES] = { 0xfe, 0x80 };
	struct mcast_group_row g;

	publish_partitions("Default=0x7fff,ipoib:ALL=full;A=0x1,ipoib:ALL=full;");
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(there(i ? UINT64_C(0xff12401b80010000) : BROADCAST_TOP,
		                BROADCAST_LOW, &g));
		ck_assert_int_eq(mcast_member_put(store, g.record, gid, &m), E_OK);
	}
	change_keys(0, 0);
	query_fixture_publish(w, PATH_MINIMAL);
	ck_assert_int_eq(mcast_after_sweep(store, w->r), E_OK);
	ck_assert_uint_eq(store_count(store, RECORDS_MEMBERS), 2);
	change_keys(0xffff, 0x8011);
	query_fixture_publish(w, PATH_MINIMAL);
	ck_assert_int_eq(mcast_after_sweep(store, w->r), E_OK);
	ck_assert_uint_eq(store_count(store, RECORDS_MEMBERS), 1);
	ck_assert(there(UINT64_C(0xff12401b80010000), BROADCAST_LOW, &g));
	ck_assert(there(BROADCAST_TOP, BROADCAST_LOW, &g));
	ck_assert_ptr_nonnull(store_seek(store, RECORDS_MEMBERS, g.record, MGID_BYTES));
}
END_TEST

/* A path to a group has the group's values; only members get it. */
START_TEST(path_to_a_group)
{
	struct request q = by_gids(GET, HOST + 1, 1, 0);
	struct request c = create(5, HOST + 1, 1);

	put_component(&c, AT_SL_FLOW_HOP, 4, 0x3abcde00);
	put_gid(&q, 8, GROUP_TOP, 5);
	ck_assert_uint_eq(say(&q), NO_RECORDS);
	ck_assert_uint_eq(say(&c), 0);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(get(record(0) + 8, 8), GROUP_TOP);
	ck_assert_uint_eq(get(record(0) + 40, 2), 0xc001);           /* DLID */
	ck_assert_uint_eq(get(record(0) + 42, 2), lid_of(HOST + 1)); /* SLID */
	ck_assert_uint_eq(get(record(0) + 44, 4), 0xabcdeff); /* leaves its scope */
	ck_assert_uint_eq(get(record(0) + 50, 2), 0xffff);
	ck_assert_uint_eq(record(0)[53] & 0xf, 3);
	ck_assert_uint_eq(record(0)[54], EXACTLY | 5);
	put_gid(&q, 24, FIXTURE_PREFIX, TWIN_2 + 1);
	ck_assert_uint_eq(say(&q), NO_RECORDS);
	q = by_gids(GET, HOST + 1, 1, PR_DLID);
	put_gid(&q, 8, GROUP_TOP, 5);
	put_component(&q, 40, 2, 0xc002);
	ck_assert_uint_eq(say(&q), NO_RECORDS);
}
END_TEST

/* ---- at random ---- */

enum { RANDOM_GROUPS = 6, RANDOM_PORTS = 3 };

static const uint64_t ports[RANDOM_PORTS] = { HOST + 1, TWIN_2 + 1, RIGHT + 1 };

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * UINT64_C(2685821657736338717) >> 33;
}

static bool keeps(const uint8_t model[RANDOM_PORTS])
{
	return ((model[0] | model[1] | model[2]) & 9) != 0;
}

/* A request with the effect of the rules and its reply. */
static void step(uint8_t model[RANDOM_GROUPS][RANDOM_PORTS], uint64_t *seed)
{
	uint64_t g = next_random(seed) % RANDOM_GROUPS,
		 p = next_random(seed) % RANDOM_PORTS;
	unsigned bits = (unsigned)(next_random(seed) % 16);
	uint8_t *have = model[g];
	bool exists = keeps(have);

	ask_as(ports[p]);
	if (next_random(seed) % 2) {
		struct request q = create(g + 1, ports[p], bits);
		bool ok = bits != 0 && (exists || (bits & 9));

		put(q.mad + 48, 8, M_CREATE | M_RATE);
		put_component(&q, AT_RATE, 1, EXACTLY | 3);
		ck_assert_uint_eq(say(&q), ok ? 0 : REQ_INVALID);
		have[p] |= ok ? (uint8_t)bits : 0;
	} else {
		bool ok = exists && bits != 0 && (bits & ~have[p]) == 0;

		ck_assert_uint_eq(leave(g + 1, ports[p], bits), ok ? 0 : REQ_INVALID);
		have[p] &= ok ? (uint8_t)~bits : 0xff;
	}
	if (!keeps(have)) {
		memset(have, 0, RANDOM_PORTS);
	}
}

static void check_model(uint8_t model[RANDOM_GROUPS][RANDOM_PORTS])
{
	uint32_t mlids = 0;
	size_t n_groups = 1, n_members = 0;

	for (unsigned g = 0; g < RANDOM_GROUPS; g++) {
		uint8_t mgid[MGID_BYTES], gid[MGID_BYTES];
		struct mcast_group_row row;

		put(mgid, 8, GROUP_TOP);
		put(mgid + 8, 8, g + 1);
		ck_assert(mcast_group_find(store, mgid, &row) == keeps(model[g]));
		n_groups += keeps(model[g]);
		if (keeps(model[g])) {
			uint32_t bit = 1u << (mcast_get(row.record, MC_MLID) - 0xc000);

			ck_assert((mlids & bit) == 0 && bit < 256);
			mlids |= bit;
		}
		for (unsigned p = 0; p < RANDOM_PORTS; p++) {
			struct mcast_member_row m = { .join_state = 0 };

			put(gid, 8, FIXTURE_PREFIX);
			put(gid + 8, 8, ports[p]);
			n_members += mcast_member_find(store, mgid, gid, &m);
			ck_assert_uint_eq(m.join_state, model[g][p]);
		}
	}
	ck_assert_uint_eq(store_count(store, RECORDS_GROUPS), n_groups);
	ck_assert_uint_eq(store_count(store, RECORDS_MEMBERS), n_members);
}

/* Joins and leaves against a model of the rules; now and then the daemon starts anew. */
START_TEST(random_joins_and_leaves)
{
	uint8_t model[RANDOM_GROUPS][RANDOM_PORTS] = { { 0 } };
	uint64_t seed = (unsigned)_i + 1;

	lazy = true;
	for (unsigned i = 0; i < 400; i++) {
		step(model, &seed);
		if (i % 50 == 0) {
			ck_assert_int_eq(make_durable(), E_OK);
			close_store();
			open_store();
		}
		check_model(model);
	}
}
END_TEST

#define LOOP(test, rows)                                                                 \
	tcase_add_loop_test(t, test, 0, (int)(sizeof(rows) / sizeof(*(rows))))

/* Statics of this file keep what a case leaves in them. */
TEST_SUITE_FORKED(mcast)
{
	TCase *t = tcase_create("mcast");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, broadcast_group_is_there);
	tcase_add_test(t, created_and_found);
	tcase_add_test(t, mgid_is_made);
	LOOP(creation, creations);
	tcase_add_test(t, ipoib);
	tcase_add_test(t, states_add_up_and_go);
	LOOP(joining, joins);
	tcase_add_test(t, port_is_too_slow);
	tcase_add_test(t, proxy);
	tcase_add_test(t, proxy_needs_trust);
	tcase_add_loop_test(t, share_of_groups, 0, 2);
	tcase_add_test(t, visibility);
	tcase_add_test(t, found_by_all_bits_of_join_state);
	tcase_add_test(t, no_mlid_is_left);
	tcase_add_test(t, mlids_kept_for_broadcast);
	tcase_add_test(t, gone_ports_leave);
	tcase_add_test(t, groups_of_partitions);
	tcase_add_test(t, members_leave_with_the_partition);
	tcase_add_test(t, path_to_a_group);
	tcase_add_loop_test(t, random_joins_and_leaves, 0, 3);
	suite_add_tcase(suite, t);
}

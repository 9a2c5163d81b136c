/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Records that clients write, request by request: ServiceRecord and InformInfo, in the
 * small fabric with
 *
 *   HOST   0xffff 0x8001          TWIN_1 0x8001          LEFT 0x8002
 *
 * and the default, a full member of 0x7fff, for all others. Byte positions are those of
 * the specification's tables (IBA vol. 1, 15.2.5.14, 13.4.8.3 and 15.2.5.12).
 *
 * Longer than most: both kinds of records have the same requesters and the same store.
 */
#include "sa/store/mcast.h"
#include "tests/lib/store_fixture.h"
#include "tests/lib/suite.h"

enum {
	/* component bits of ServiceRecord */
	SR_ID = 0x1,
	SR_GID = 0x2,
	SR_P_KEY = 0x4,
	SR_LEASE = 0x10,
	SR_KEY = 0x20,
	SR_NAME = 0x40,
	/* where they are */
	AT_GID = 8,
	AT_P_KEY = 24,
	AT_LEASE = 28,
	AT_KEY = 32,
	AT_NAME = 48,
	AT_DATA64_2 = 168
};

static void setup(void)
{
	start();
	give(HOST, 0xffff, 0x8001);
	give(TWIN_1, 0x8001, 0);
	give(LEFT, 0x8002, 0);
	query_fixture_publish(w, PATH_MINIMAL);
	open_store();
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

static unsigned say(const struct request *q)
{
	unsigned status = status_of(q);

	ck_assert_int_eq(make_durable(), E_OK);
	return status;
}

static struct request service(unsigned method, uint64_t id, uint64_t guid,
                              const char *name, uint64_t more)
{
	struct request q = request(method, SERVICE_RECORD,
	                           SR_ID | SR_GID | (name ? SR_NAME : 0) | more);

	put_component(&q, 0, 8, id);
	put_gid(&q, AT_GID, FIXTURE_PREFIX, guid);
	if (name) {
		memcpy(q.mad + DATA + AT_NAME, name, strlen(name));
	}
	return q;
}

static struct request lookup(unsigned method, const char *name)
{
	struct request q = request(method, SERVICE_RECORD, name ? SR_NAME : 0);

	if (name) {
		memcpy(q.mad + DATA + AT_NAME, name, strlen(name));
	}
	return q;
}

static size_t services(void)
{
	struct request q = lookup(GET_TABLE, NULL);

	ck_assert_uint_eq(say(&q), 0);
	return n_records();
}

START_TEST(service_is_echoed_and_found)
{
	struct request q = service(SET, 7, HOST + 1, "storage", SR_LEASE);

	put_component(&q, AT_LEASE, 4, 60);
	put_component(&q, AT_DATA64_2, 8, 0x1122334455667788);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(get(reply.data + 44, 2), 176 / 8);
	put_component(&q, AT_P_KEY, 2, 0xffff); /* the default */
	ck_assert_mem_eq(reply.data + DATA, q.mad + DATA, 176);
	struct request by_name = lookup(GET, "storage"), other = lookup(GET, "storag");
	ck_assert_uint_eq(say(&by_name), 0);
	ck_assert_mem_eq(reply.data + DATA, q.mad + DATA, 176);
	ck_assert_uint_eq(say(&other), NO_RECORDS);
	struct request by_id = service(GET, 7, HOST + 1, NULL, 0);
	ck_assert_uint_eq(say(&by_id), 0);
	put_component(&by_id, 0, 8, 8);
	ck_assert_uint_eq(say(&by_id), NO_RECORDS);
	struct request gone = service(DELETE, 7, HOST + 1, NULL, 0);
	ck_assert_uint_eq(say(&gone), 0);
	ck_assert_mem_eq(reply.data + DATA, q.mad + DATA, 176);
	ck_assert_uint_eq(say(&gone), NO_RECORDS);
	ck_assert_uint_eq(services(), 0);
}
END_TEST

/* ServiceID, ServiceGID and ServiceP_Key make a record; the rest is replaced. */
START_TEST(service_identity)
{
	struct request q = service(SET, 7, HOST + 1, "a", 0);

	ck_assert_uint_eq(say(&q), 0);
	q = service(SET, 7, HOST + 1, "b", SR_P_KEY);
	put_component(&q, AT_P_KEY, 2, 0xffff); /* the same */
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(services(), 1);
	q = service(SET, 7, HOST + 1, "c", SR_P_KEY);
	put_component(&q, AT_P_KEY, 2, 0x8001);
	ck_assert_uint_eq(say(&q), 0);
	q = service(SET, 7, TWIN_2 + 1, "d", 0);
	ck_assert_uint_eq(say(&q), 0);
	q = service(SET, 6, HOST + 1, "e", 0);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(services(), 4);
	q = lookup(GET, "a");
	ck_assert_uint_eq(say(&q), NO_RECORDS);
	q = request(GET, SERVICE_RECORD, SR_ID);
	put_component(&q, 0, 8, 7);
	ck_assert_uint_eq(say(&q), TOO_MANY);
}
END_TEST

/* clang-format off */
static const struct {
	uint64_t asker, guid, mask;
	uint16_t p_key;
	unsigned status;
} sets[] = {
	{ HOST + 1,   HOST + 1,   SR_ID | SR_GID,            0,      0 },
	{ HOST + 1,   HOST + 1,   SR_ID,                     0,      REQ_INVALID },
	{ HOST + 1,   HOST + 1,   SR_GID,                    0,      REQ_INVALID },
	{ HOST + 1,   0x99,       SR_ID | SR_GID,            0,      0 },
	{ HOST + 1,   0x99,       SR_ID | SR_GID | SR_P_KEY, 0x8001, REQ_INVALID },
	{ HOST + 1,   TWIN_1 + 1, SR_ID | SR_GID | SR_P_KEY, 0x8001, 0 },
	{ HOST + 1,   TWIN_1 + 1, SR_ID | SR_GID | SR_P_KEY, 0xffff, REQ_INVALID },
	{ HOST + 1,   LEFT + 1,   SR_ID | SR_GID | SR_P_KEY, 0x8002, REQ_INVALID },
	{ LEFT + 1,   LEFT + 1,   SR_ID | SR_GID | SR_P_KEY, 0x8002, 0 },
	{ TWIN_1 + 1, TWIN_1 + 1, SR_ID | SR_GID | SR_P_KEY, 0x0001, 0 },
	{ 0,          HOST + 1,   SR_ID | SR_GID,            0,      REQ_INVALID },
};
/* clang-format on */

START_TEST(service_set_checks)
{
	struct request q = service(SET, 7, sets[_i].guid, NULL, 0);

	put(q.mad + 48, 8, sets[_i].mask);
	put_component(&q, AT_P_KEY, 2, sets[_i].p_key);
	asker = sets[_i].asker ? lid_of(sets[_i].asker) : 0xbffe;
	ck_assert_uint_eq(say(&q), sets[_i].status);
	ck_assert_uint_eq(store_count(store, RECORDS_SERVICES), sets[_i].status == 0);
}
END_TEST

/* The prefix of the ServiceGID: that of the subnet, the link-local one, a multicast group; no other,
 * also not for those with the SM_Key. */
static const struct {
	uint64_t prefix;
	unsigned status;
} prefixes[] = {
	{ FIXTURE_PREFIX, 0 },
	{ UINT64_C(0xfe80000000000000), 0 },
	{ UINT64_C(0xff12401bffff0000), 0 },
	{ UINT64_C(0xfec0000000000008), INVALID_GID },
	{ UINT64_C(0xfe80000000000001), INVALID_GID },
	{ UINT64_C(0x80fe), 0 }, /* of osmtest */
	{ 0, INVALID_GID },
};

START_TEST(service_of_another_subnet)
{
	struct request q = service(SET, 7, HOST + 1, "a", 0);

	put_component(&q, AT_GID, 8, prefixes[_i].prefix);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(say(&q), prefixes[_i].status);
		ck_assert_uint_eq(store_count(store, RECORDS_SERVICES),
		                  prefixes[_i].status == 0);
		trust_me(&q);
	}
}
END_TEST

START_TEST(service_partition)
{
	struct request q = service(SET, 7, HOST + 1, "a", SR_P_KEY);

	put_component(&q, AT_P_KEY, 2, 0x8001);
	ck_assert_uint_eq(say(&q), 0);
	ask_as(LEFT + 1);
	ck_assert_uint_eq(services(), 0);
	put(q.mad + 3, 1, DELETE);
	ck_assert_uint_eq(say(&q), NO_RECORDS);
	asker = 0xbffe; /* nobody */
	ck_assert_uint_eq(services(), 0);
	ask_as(TWIN_1 + 1);
	ck_assert_uint_eq(services(), 1);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(services(), 0);
}
END_TEST

/* The key is shown to those who know the SM_Key; it is theirs, its own, and its setter's
 * to change. */
START_TEST(service_key)
{
	struct request q = service(SET, 7, HOST + 1, "a", SR_KEY), trusted;

	put_component(&q, AT_KEY + 8, 8, 0xabcdef);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(get(reply.data + DATA + AT_KEY + 8, 8), 0);
	struct request find = request(GET, SERVICE_RECORD, SR_KEY);
	put_component(&find, AT_KEY + 8, 8, 0xabcdef);
	ck_assert_uint_eq(say(&find), 0);
	ck_assert_uint_eq(get(reply.data + DATA + AT_KEY + 8, 8), 0);
	trust_me(&find);
	ck_assert_uint_eq(say(&find), 0);
	ck_assert_uint_eq(get(reply.data + DATA + AT_KEY + 8, 8), 0xabcdef);
	put_component(&find, AT_KEY + 8, 8, 0xabcdee);
	ck_assert_uint_eq(say(&find), NO_RECORDS);

	struct request wrong = service(SET, 7, HOST + 1, "b", 0);
	ck_assert_uint_eq(say(&wrong), 0); /* by its setter; without a key from now on */
	ck_assert_uint_eq(say(&q), 0);
	ask_as(TWIN_2 + 1);
	ck_assert_uint_eq(say(&wrong), DENIED);
	put(wrong.mad + 3, 1, DELETE);
	ck_assert_uint_eq(say(&wrong), DENIED);
	ck_assert_uint_eq(services(), 1);
	trusted = wrong;
	trust_me(&trusted);
	ck_assert_uint_eq(say(&q), 0); /* who knows the key, and is the setter now */
	ask_as(RIGHT + 1);
	put_component(&wrong, AT_KEY + 8, 8, 0xabcdef);
	ck_assert_uint_eq(say(&wrong), 0);
	ask_as(HOST + 1);
	ck_assert_uint_eq(say(&q), 0);
	ask_as(RIGHT + 1);
	ck_assert_uint_eq(say(&trusted), 0);
	ck_assert_uint_eq(services(), 0);
}
END_TEST

/* With own_records a service is its node's: nobody else registers one with its GID, takes it
 * over or deletes it, with or without a key, and no one else's earlier record stands in the
 * way. Those with the SM_Key may. A multicast group's service is its setter's. */
START_TEST(services_of_its_own)
{
	struct request q = service(SET, 7, HOST + 1, "a", 0);
	struct request drop = service(DELETE, 7, HOST + 1, NULL, 0);
	struct request group = service(SET, 8, HOST + 1, "g", 0), trusted;

	limits.own_records = true;
	ask_as(TWIN_2 + 1);
	ck_assert_uint_eq(say(&q), DENIED);
	limits.own_records = false; /* as an old dump may have it */
	put_component(&q, AT_KEY, 8, 5);
	put(q.mad + 48, 8, SR_ID | SR_GID | SR_NAME | SR_KEY);
	ck_assert_uint_eq(say(&q), 0);
	limits.own_records = true;
	ck_assert_uint_eq(say(&q), DENIED);
	ck_assert_uint_eq(say(&drop), DENIED);
	ask_as(HOST + 1);
	put_component(&q, AT_KEY, 8, 0);
	ck_assert_uint_eq(say(&q), 0);
	ask_as(TWIN_2 + 1);
	ck_assert_uint_eq(say(&q), DENIED);
	ck_assert_uint_eq(say(&drop), DENIED);
	ck_assert_uint_eq(services(), 1);
	trusted = q;
	trust_me(&trusted);
	ck_assert_uint_eq(say(&trusted), 0);
	ask_as(HOST + 1);
	ck_assert_uint_eq(say(&drop), 0);
	ck_assert_uint_eq(services(), 0);

	group.mad[DATA + AT_GID] = 0xff;
	ck_assert_uint_eq(say(&group), 0);
	ask_as(TWIN_2 + 1);
	ck_assert_uint_eq(say(&group), DENIED);
	put(group.mad + 3, 1, DELETE);
	ck_assert_uint_eq(say(&group), DENIED);
	ask_as(HOST + 1);
	ck_assert_uint_eq(say(&group), 0);
}
END_TEST

START_TEST(leases_run_out)
{
	static const uint32_t lease[] = { 10, 4, UINT32_MAX, 0 };
	struct request q;

	for (unsigned i = 0; i < 4; i++) {
		q = service(SET, i, HOST + 1, "a", SR_LEASE);
		put_component(&q, AT_LEASE, 4, lease[i]);
		ck_assert_uint_eq(say(&q), 0);
	}
	ck_assert_uint_eq(services(), 3); /* one ran for no time at all */
	ck_assert_int_eq(store_expire(store, start_time + 3), E_OK);
	ck_assert_uint_eq(services(), 3);
	ck_assert_uint_eq(get(record(0) + AT_LEASE, 4), 7);
	ck_assert_uint_eq(get(record(1) + AT_LEASE, 4), 1);
	ck_assert_uint_eq(get(record(2) + AT_LEASE, 4), UINT32_MAX);
	ck_assert_int_eq(store_next_expiry(store), start_time + 4);
	ck_assert_int_eq(store_expire(store, start_time + 4), E_OK);
	ck_assert_uint_eq(services(), 2);
	q = service(SET, 0, HOST + 1, "a", SR_LEASE); /* renewed */
	put_component(&q, AT_LEASE, 4, 20);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_int_eq(store_expire(store, start_time + 23), E_OK);
	ck_assert_uint_eq(services(), 2);
	ck_assert_int_eq(store_expire(store, start_time + 24), E_OK);
	ck_assert_uint_eq(services(), 1);
	ck_assert_int_eq(store_next_expiry(store), STORE_FOR_EVER);
	ck_assert_int_eq(make_durable(), E_OK);
	close_store();
	open_store();
	ck_assert_uint_eq(services(), 1);
}
END_TEST

/* A lease that ended while the daemon did not run is over in its last second: the record is
 * not found, not deleted, and its ServiceKey does not refuse others. */
START_TEST(lease_ends_at_its_second)
{
	struct request q = service(SET, 1, HOST + 1, "a", SR_LEASE | SR_KEY);

	put_component(&q, AT_LEASE, 4, 100);
	put_component(&q, AT_KEY, 8, 5);
	ck_assert_uint_eq(say(&q), 0);
	close_store();
	start_time += 100;
	open_store();
	ck_assert_uint_eq(services(), 0);
	ask_as(TWIN_2 + 1);
	struct request by_other = service(DELETE, 1, HOST + 1, NULL, 0);
	ck_assert_uint_eq(say(&by_other), NO_RECORDS);
	by_other = service(SET, 1, HOST + 1, "b", 0);
	ck_assert_uint_eq(say(&by_other), 0);
	start_time -= 100;
}
END_TEST

/* Answered records survive a restart; a lease runs on meanwhile. */
START_TEST(services_survive)
{
	struct request q = service(SET, 1, HOST + 1, "a", SR_LEASE | SR_KEY);

	put_component(&q, AT_LEASE, 4, 100);
	put_component(&q, AT_KEY, 8, 5);
	ck_assert_uint_eq(say(&q), 0);
	q = service(SET, 2, HOST + 1, "b", 0);
	ck_assert_uint_eq(say(&q), 0);
	q = service(SET, 3, HOST + 1, "c", 0);
	ck_assert_uint_eq(say(&q), 0);
	put(q.mad + 3, 1, DELETE);
	ck_assert_uint_eq(say(&q), 0);
	close_store();
	open_store();
	ck_assert_int_eq(store_expire(store, start_time + 40), E_OK);
	ck_assert_uint_eq(services(), 2);
	ck_assert_uint_eq(get(record(0) + AT_LEASE, 4), 60);
	ck_assert_uint_eq(get(record(1) + AT_LEASE, 4), UINT32_MAX);
	ask_as(TWIN_2 + 1);
	q = service(DELETE, 1, HOST + 1, NULL, 0);
	ck_assert_uint_eq(say(&q), DENIED);
	close_store();
	open_store();
	ck_assert_int_eq(store_expire(store, start_time + 100), E_OK);
	ck_assert_uint_eq(services(), 1);
}
END_TEST

/* One port has no room for more; another one has, also when it takes over. */
START_TEST(no_room_for_more)
{
	enum { MOST = 40 };
	struct request q = service(SET, 0, HOST + 1, NULL, 0);

	store_set_owner_limit(store, MOST);
	for (unsigned i = 0; i < MOST; i++) {
		put_component(&q, 0, 8, i * 7919u);
		ck_assert_uint_eq(say(&q), 0);
	}
	ck_assert_uint_eq(say(&q), 0); /* this one is there already */
	put_component(&q, 0, 8, 1);
	ck_assert_uint_eq(say(&q), NO_RESOURCES);
	struct request one = request(GET, SERVICE_RECORD, SR_ID);
	put_component(&one, 0, 8, 7919 * 5);
	ck_assert_uint_eq(status_of(&one), 0);
	ask_as(TWIN_2 + 1);
	ck_assert_uint_eq(say(&q), 0);
	put_component(&q, 0, 8, 7919);
	ck_assert_uint_eq(say(&q), 0);
	ask_as(HOST + 1);
	put_component(&q, 0, 8, 2);
	ck_assert_uint_eq(say(&q), 0); /* one of its own went */
	put_component(&q, 0, 8, 3);
	ck_assert_uint_eq(say(&q), NO_RESOURCES);
	store_set_owner_limit(store, 0);
	ck_assert_uint_eq(say(&q), 0);
}
END_TEST

START_TEST(tables_have_an_end)
{
	size_t room = store_room(store, RECORDS_GROUPS);
	uint8_t key[4], value = 0;

	store_free(store);
	ck_assert_int_eq(store_new(NULL, start_time, &store), E_OK);
	for (size_t i = 0; i < room; i++) {
		put(key, 4, i * 40503u);
		ck_assert_int_eq(store_put(store, RECORDS_GROUPS, key, 4, STORE_FOR_EVER,
		                           &value, 1),
		                 E_OK);
	}
	ck_assert_uint_eq(store_room(store, RECORDS_GROUPS), 0);
	ck_assert_int_eq(store_put(store, RECORDS_GROUPS, key, 4, STORE_FOR_EVER, &value, 1),
	                 E_OK);
	ck_assert_int_eq(store_put(store, RECORDS_GROUPS, key, 3, STORE_FOR_EVER, &value, 1),
	                 E_FULL);
}
END_TEST

/* --- InformInfo ----------------------------------------------------------------------
 */

enum {
	AT_BEGIN = 16,
	AT_END = 18,
	AT_GENERIC = 22,
	AT_SUBSCRIBE,
	AT_TYPE,
	AT_TRAP = 26,
	AT_QPN = 28,
	AT_PRODUCER = 33,
	RID = 24
};

static struct request inform(unsigned subscribe, unsigned trap)
{
	struct request q = request(SET, INFORM_INFO, 0);

	put_component(&q, AT_BEGIN, 2, 0xffff);
	put_component(&q, AT_GENERIC, 1, 1);
	put_component(&q, AT_SUBSCRIBE, 1, subscribe);
	put_component(&q, AT_TYPE, 2, 0xffff);
	put_component(&q, AT_TRAP, 2, trap);
	put_component(&q, AT_PRODUCER, 3, 0xffffff);
	return q;
}

static size_t subscriptions(uint64_t guid, bool trusted)
{
	struct request q = request(GET_TABLE, INFORM_INFO_RECORD, guid ? 1 : 0);

	put_gid(&q, 0, FIXTURE_PREFIX, guid);
	if (trusted) {
		trust_me(&q);
	}
	ck_assert_uint_eq(say(&q), 0);
	return n_records();
}

START_TEST(subscribe_and_unsubscribe)
{
	struct request on = inform(1, 64), off = inform(0, 64), more = inform(1, 65);

	ck_assert_uint_eq(say(&off), REQ_INVALID);
	ck_assert_uint_eq(say(&on), 0);
	ck_assert_mem_eq(reply.data + DATA, on.mad + DATA, 36);
	ck_assert_uint_eq(say(&on), 0); /* once more is the same */
	ck_assert_uint_eq(say(&more), 0);
	ask_as(TWIN_2 + 1);
	ck_assert_uint_eq(say(&on), 0);
	ck_assert_uint_eq(subscriptions(0, false), 3);
	ck_assert_uint_eq(subscriptions(TWIN_2 + 1, false), 1);
	ck_assert_uint_eq(subscriptions(LEFT + 1, false), 0);
	ck_assert_uint_eq(subscriptions(HOST + 1, false), 2);
	ck_assert_uint_eq(get(record(0), 8), FIXTURE_PREFIX);
	ck_assert_uint_eq(get(record(0) + 8, 8), HOST + 1);
	ck_assert_uint_eq(get(record(0) + 16, 2), 0); /* Enum */
	ck_assert_uint_eq(get(record(1) + 16, 2), 1);
	ck_assert_uint_eq(get(record(1) + RID + AT_TRAP, 2), 65);
	ck_assert_uint_eq(get(record(1) + RID + AT_SUBSCRIBE, 1), 1);
	ck_assert_uint_eq(get(record(1) + RID + AT_QPN, 3), 0); /* hidden */
	ck_assert_uint_eq(subscriptions(HOST + 1, true), 2);
	ck_assert_uint_eq(get(record(1) + RID + AT_QPN, 3), asker_qpn);
	close_store();
	open_store();
	ck_assert_uint_eq(subscriptions(0, false), 3);
	ck_assert_uint_eq(say(&off), 0);
	ck_assert_uint_eq(say(&off), REQ_INVALID);
	ck_assert_uint_eq(subscriptions(0, false), 2);
	struct request by_enum = request(GET, INFORM_INFO_RECORD, 3);
	put_gid(&by_enum, 0, FIXTURE_PREFIX, HOST + 1);
	put_component(&by_enum, 16, 2, 1);
	ck_assert_uint_eq(say(&by_enum), 0);
	ck_assert_uint_eq(get(reply.data + DATA + RID + AT_TRAP, 2), 65);
}
END_TEST

/* clang-format off */
static const struct {
	uint64_t asker, gid;
	unsigned subscribe, begin, end, trap;
	bool trusted;
	unsigned status;
} informs[] = {
	{ HOST + 1, 0,          1, 0xffff, 0,      64,  false, 0 },
	{ HOST + 1, 0,          2, 0xffff, 0,      64,  false, REQ_INVALID },
	{ 0,        0,          1, 0xffff, 0,      64,  false, REQ_INVALID },
	{ HOST + 1, TWIN_1 + 1, 1, 0,      0,      64,  false, 0 },
	{ HOST + 1, LEFT + 1,   1, 0,      0,      64,  false, REQ_INVALID },
	{ LEFT + 1, LEFT + 1,   1, 0,      0,      64,  false, 0 },
	{ HOST + 1, 0x99,       1, 0,      0,      64,  false, REQ_INVALID },
	{ HOST + 1, 0,          1, 1,      0xfffe, 64,  false, REQ_INVALID }, /* LEFT is among them */
	{ HOST + 1, 0,          1, 0xbffe, 0,      64,  false, REQ_INVALID },
	{ HOST + 1, 0,          1, 5,      4,      64,  false, REQ_INVALID },
	{ HOST + 1, 0,          1, 0xffff, 0,      256, false, REQ_INVALID },
	{ HOST + 1, 0,          1, 0xffff, 0,      259, false, REQ_INVALID },
	{ HOST + 1, 0,          1, 0xffff, 0,      259, true,  0 },
	{ HOST + 1, 0,          1, 0xffff, 0,      260, false, 0 },
};
/* clang-format on */

START_TEST(inform_checks)
{
	struct request q = inform(informs[_i].subscribe, informs[_i].trap);

	put_component(&q, AT_BEGIN, 2, informs[_i].begin);
	put_component(&q, AT_END, 2, informs[_i].end);
	if (informs[_i].gid) {
		put_gid(&q, 0, FIXTURE_PREFIX, informs[_i].gid);
	}
	if (informs[_i].trusted) {
		trust_me(&q);
	}
	asker = informs[_i].asker ? lid_of(informs[_i].asker) : 0xbffe;
	ck_assert_uint_eq(say(&q), informs[_i].status);
	ck_assert_uint_eq(get(reply.data + DATA + AT_SUBSCRIBE, 1),
	                  informs[_i].status == 0);
	ck_assert_uint_eq(store_count(store, RECORDS_SUBSCRIPTIONS),
	                  informs[_i].status == 0);
}
END_TEST

START_TEST(one_lid_is_a_range)
{
	struct request q = inform(1, 64);

	put_component(&q, AT_BEGIN, 2, lid_of(TWIN_1 + 1));
	ck_assert_uint_eq(say(&q), 0);
	put_component(&q, AT_BEGIN, 2, lid_of(LEFT + 1));
	ck_assert_uint_eq(say(&q), REQ_INVALID);
}
END_TEST

START_TEST(so_many_per_port)
{
	struct request q = inform(1, 0);

	for (unsigned i = 0; i < 256; i++) {
		put_component(&q, AT_TRAP, 2, 1000 + i);
		ck_assert_int_eq(ask(&q), E_OK);
	}
	ck_assert_uint_eq(say(&q), 0); /* the same again */
	put_component(&q, AT_TRAP, 2, 1);
	ck_assert_uint_eq(say(&q), NO_RESOURCES);
	ask_as(TWIN_2 + 1);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(subscriptions(0, false), 257);
}
END_TEST

/* Any bytes are legal input, and leave a store that can be read again. */
START_TEST(nonsense)
{
	static const uint8_t methods[] = { GET, SET, GET_TABLE, DELETE, 0x86 };
	static const uint8_t attrs[] = { SERVICE_RECORD, INFORM_INFO,
		                         INFORM_INFO_RECORD };
	uint64_t seed = 5;

	for (unsigned i = 0; i < 20000; i++) {
		struct request q = request(methods[i % 5], attrs[i / 5 % 3], 0);
		for (unsigned k = 48; k < 256; k++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			q.mad[k] =
				k < 120 && (seed >> 32 & 1) ? 0 : (uint8_t)(seed >> 56);
		}
		if (i % 15 < 5 && seed >> 41 & 1) {
			put_component(&q, AT_GID, 8, FIXTURE_PREFIX);
		}
		put_component(&q, AT_SUBSCRIBE, 1, seed >> 40 & 1);
		asker = (uint32_t)(seed >> 50) % 16;
		(void)ask(&q);
	}
	ck_assert_uint_gt(store_count(store, RECORDS_SERVICES), 0);
	size_t n = store_count(store, RECORDS_SERVICES);
	ck_assert_int_eq(make_durable(), E_OK);
	close_store();
	open_store();
	ck_assert_uint_eq(store_count(store, RECORDS_SERVICES), n);
}
END_TEST

START_TEST(without_a_store)
{
	struct request q = service(SET, 7, HOST + 1, "a", 0);
	struct sa_store *mine = store;

	store = NULL;
	ck_assert_uint_eq(status_of(&q), UNSUPPORTED);
	q = inform(1, 64);
	ck_assert_uint_eq(status_of(&q), UNSUPPORTED);
	q = request(GET_TABLE, SERVICE_RECORD, 0);
	ck_assert_uint_eq(status_of(&q), UNSUPPORTED);
	store = mine;
}
END_TEST

/* --- the store -----------------------------------------------------------------------
 */

/* Against a plain list, change by change: rows whose owner, 8 bytes behind a key of 32,
 * changes, in some leaves. */
enum { KEYS = 2500, OWNERS = 7, TURNS = 30000, NOBODY = OWNERS };

static unsigned owner_of[KEYS];

static void make_key(uint8_t key[32], unsigned k)
{
	memset(key, 0, 32);
	put(key + 20, 4, k * 7u);
}

static void turn(uint64_t seed)
{
	unsigned k = (unsigned)(seed >> 33) % KEYS, owner = (unsigned)(seed >> 20) % OWNERS;
	uint8_t key[32], value[sizeof(struct mcast_member_row)] = { 0 };
	bool there = owner_of[k] != NOBODY;

	make_key(key, k);
	put(value, 8, owner);
	if (seed >> 63 || (seed >> 62 && k < KEYS / 2)) {
		ck_assert_int_eq(store_put(store, RECORDS_MEMBERS, key, 32,
		                           STORE_FOR_EVER, value, sizeof(value)),
		                 E_OK);
		owner_of[k] = owner;
	} else {
		ck_assert_int_eq(store_drop(store, RECORDS_MEMBERS, key, 32),
		                 there ? E_OK : E_NOTFOUND);
		owner_of[k] = NOBODY;
	}
}

static void check_order_of_keys(void)
{
	const struct store_row *row = store_seek(store, RECORDS_MEMBERS, NULL, 0);
	size_t n = 0;

	for (unsigned k = 0; k < KEYS; k++) {
		uint8_t key[32];

		make_key(key, k);
		ck_assert_ptr_eq(store_find(store, RECORDS_MEMBERS, key, 32),
		                 owner_of[k] != NOBODY ? row : NULL);
		ck_assert_ptr_eq(store_seek(store, RECORDS_MEMBERS, key, 32), row);
		if (owner_of[k] == NOBODY) {
			continue;
		}
		ck_assert_uint_eq(get(store_value(row), 8), owner_of[k]);
		row = store_next(store, RECORDS_MEMBERS, row);
		n++;
	}
	ck_assert_ptr_null(row);
	ck_assert_uint_eq(store_count(store, RECORDS_MEMBERS), n);
}

static void check_order_of_owners(void)
{
	const struct store_row *first = store_next_owner(store, RECORDS_MEMBERS, NULL);

	for (unsigned owner = 0; owner < OWNERS; owner++) {
		uint8_t bytes[8];

		put(bytes, 8, owner);
		const struct store_row *row =
			store_first_of_owner(store, RECORDS_MEMBERS, bytes);
		if (row != NULL) {
			ck_assert_ptr_eq(row, first);
			first = store_next_owner(store, RECORDS_MEMBERS, bytes);
		}
		for (unsigned k = 0; k < KEYS; k++) {
			if (owner_of[k] == owner) {
				ck_assert_uint_eq(get(row->bytes + 20, 4), k * 7u);
				row = store_next_of_owner(store, RECORDS_MEMBERS, row);
			}
		}
		ck_assert_ptr_null(row);
	}
	ck_assert_ptr_null(first);
}

/* One row more than an owner has, under limits about as many as it has, and as leaves. */
static void check_limits(void)
{
	uint8_t key[32], value[sizeof(struct mcast_member_row)] = { 0 };

	make_key(key, KEYS);
	for (unsigned owner = 0; owner < OWNERS; owner++) {
		size_t n = 0;
		for (unsigned k = 0; k < KEYS; k++) {
			n += owner_of[k] == owner;
		}
		const size_t most[] = { 1,   n - 1, n,   n + 1, 127, 128,
			                129, 255,   256, 257,   384 };
		put(value, 8, owner);
		for (unsigned i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
			store_set_owner_limit(store, most[i]);
			int ret = store_put(store, RECORDS_MEMBERS, key, 32,
			                    STORE_FOR_EVER, value, sizeof(value));
			ck_assert_int_eq(ret,
			                 n >= most[i] && most[i] > 0 ? E_FULL : E_OK);
			(void)store_drop(store, RECORDS_MEMBERS, key, 32);
		}
	}
	store_set_owner_limit(store, 0);
}

START_TEST(store_keeps_order)
{
	uint64_t seed = 3;

	for (unsigned k = 0; k < KEYS; k++) {
		owner_of[k] = NOBODY;
	}
	for (unsigned i = 0; i < TURNS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		turn(i < TURNS * 2 / 3 ? seed : seed >> 1); /* fewer at the end */
		if (i % (TURNS / 10) == 0) {
			check_order_of_keys();
			check_order_of_owners();
			check_limits();
		}
	}
	for (unsigned round = 0; round < 2; round++) {
		check_order_of_keys();
		check_order_of_owners();
		ck_assert_int_eq(make_durable(), E_OK);
		ck_assert_int_eq(store_reload(store), E_OK); /* as it is on disk */
	}
}
END_TEST

/* (1) Its value is long enough to hold a time of expiry, and is no record. */
START_TEST(damaged_rows_are_refused)
{
	struct sa_store *other = NULL;
	struct state_batch *b;
	int ret = -1;

	ck_assert_int_eq(state_batch_new(&b), E_OK);
	ck_assert_int_eq(state_batch_put(b, _i == 0 ? RECORDS_SERVICES : RECORDS_GROUPS,
	                                 "key", 3, "short, too", _i == 0 ? 5 : 10),
	                 E_OK);
	state_batch_commit(state, b, store_settled, &ret);
	state_flush(state);
	ck_assert_int_eq(ret, E_OK);
	ck_assert_int_eq(store_new(state, start_time, &other), E_MALFORMED);
	ck_assert_ptr_null(other);
}
END_TEST

/* Statics of this file keep what a case leaves in them. */
TEST_SUITE_FORKED(client_records)
{
	TCase *tc = tcase_create("records");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, service_is_echoed_and_found);
	tcase_add_test(tc, service_identity);
	tcase_add_loop_test(tc, service_set_checks, 0, sizeof(sets) / sizeof(sets[0]));
	tcase_add_loop_test(tc, service_of_another_subnet, 0,
	                    sizeof(prefixes) / sizeof(prefixes[0]));
	tcase_add_test(tc, service_partition);
	tcase_add_test(tc, service_key);
	tcase_add_test(tc, services_of_its_own);
	tcase_add_test(tc, leases_run_out);
	tcase_add_test(tc, lease_ends_at_its_second);
	tcase_add_test(tc, services_survive);
	tcase_add_test(tc, no_room_for_more);
	tcase_add_test(tc, tables_have_an_end);
	tcase_add_test(tc, subscribe_and_unsubscribe);
	tcase_add_loop_test(tc, inform_checks, 0, sizeof(informs) / sizeof(informs[0]));
	tcase_add_test(tc, one_lid_is_a_range);
	tcase_add_test(tc, so_many_per_port);
	tcase_add_test(tc, nonsense);
	tcase_add_test(tc, without_a_store);
	tcase_add_test(tc, store_keeps_order);
	tcase_add_loop_test(tc, damaged_rows_are_refused, 0, 2);
	suite_add_tcase(suite, tc);
}

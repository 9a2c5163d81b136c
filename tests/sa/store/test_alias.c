/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * GUIDInfoRecord Set and Delete, request by request, in the small fabric; then at random
 * against a model. GUIDCap is 12: of the second block four places are there. P_Keys:
 *
 *   HOST   0xffff 0x8001          TWIN_1 0x8001          LEFT 0x8002
 *
 * and the default, a full member of 0x7fff, for all others. Byte positions are those of
 * the specification (IBA vol. 1, 15.2.5.18); statuses and what a reply holds are those of
 * OpenSM 3.3.23 for the same requests (tests/e2e/alias.sh compares them live).
 */
#include "tests/lib/store_fixture.h"

#include "sa/store/alias.h"
#include "sa/store/mcast.h"
#include "tests/lib/suite.h"

enum {
	LID = 1,
	BLOCK = 2,
	GUIDS = 4, /* component of GUID0 */
	AT_GUIDS = 8,
	CAP = 12,
	CAP_AT = 50, /* GUIDCap in PortInfo, bytes */
	FREE = 0x7701
};

static void set_caps(void)
{
	for (size_t i = 0; i < w->content.n_attrs; i++) {
		if (w->attrs[i].attr == UMAD_SM_ATTR_PORT_INFO) {
			((uint8_t *)(uintptr_t)w->attrs[i].data)[CAP_AT] = CAP;
		}
	}
}

static void setup(void)
{
	start();
	give(HOST, 0xffff, 0x8001);
	give(TWIN_1, 0x8001, 0);
	give(LEFT, 0x8002, 0);
	set_caps();
	query_fixture_publish(w, PATH_MINIMAL);
	open_store();
	asker = lid_of(HOST + 1);
}

static void teardown(void)
{
	close_store();
	stop();
}

/* Places: bit i is GUIDi; each of them gets the GUID. */
static struct request guids(unsigned method, uint64_t port, unsigned block,
                            unsigned places, uint64_t guid)
{
	struct request q = request(method, GUID_INFO_RECORD,
	                           LID | BLOCK | (uint64_t)places << GUIDS);

	put_component(&q, 0, 2, port ? lid_of(port) : 0x999);
	put_component(&q, 2, 1, block);
	for (unsigned i = 0; i < 8; i++) {
		put_component(&q, AT_GUIDS + 8 * i, 8, places >> i & 1 ? guid : 0);
	}
	return q;
}

static unsigned say(const struct request *q)
{
	unsigned status = status_of(q);

	ck_assert_int_eq(make_durable(), E_OK);
	return status;
}

static uint64_t reply_guid(unsigned i)
{
	return get(record(0) + AT_GUIDS + 8 * i, 8);
}

static unsigned set(uint64_t port, unsigned block, unsigned place, uint64_t guid)
{
	struct request q = guids(SET, port, block, 1u << place, guid);

	asker = lid_of(port);
	return say(&q);
}

/* By the record of a Get. */
static uint64_t shown(uint64_t port, unsigned block, unsigned place)
{
	struct request q = guids(GET, port, block, 0, 0);

	asker = lid_of(port);
	ck_assert_uint_eq(say(&q), 0);
	return reply_guid(place);
}

/* --- one after the other -------------------------------------------------------------
 */

/* clang-format off */
static const struct {
	const char *what;
	uint64_t asker;
	unsigned method;
	uint64_t port;
	unsigned block, places;
	uint64_t guid;
	unsigned status;
	unsigned look;  /* where */
	uint64_t there; /* then */
} steps[] = {
	{ "nothing asked",          HOST + 1, SET,    HOST + 1, 0, 0,    0,          0,           0, HOST + 1 },
	{ "an unknown LID",         HOST + 1, SET,    0,        0, 2,    FREE,       NO_RECORDS,  0, 0 },
	{ "behind GUIDCap",         HOST + 1, SET,    HOST + 1, 2, 2,    FREE,       NO_RECORDS,  0, 0 },
	{ "the PortGUID",           HOST + 1, SET,    HOST + 1, 0, 1,    FREE,       REQ_INVALID, 0, 0 },
	{ "it among others",        HOST + 1, SET,    HOST + 1, 0, 3,    FREE,       REQ_INVALID, 0, 0 },
	{ "one",                    HOST + 1, SET,    HOST + 1, 0, 2,    FREE,       0,           1, FREE },
	{ "again",                  HOST + 1, SET,    HOST + 1, 0, 2,    FREE,       0,           1, FREE },
	{ "twice on a port",        HOST + 1, SET,    HOST + 1, 0, 4,    FREE,       0,           2, 0 },
	{ "in another block",       HOST + 1, SET,    HOST + 1, 1, 1,    FREE,       0,           0, 0 },
	{ "on another port",        TWIN_2 + 1, SET,  TWIN_2 + 1, 0, 2,  FREE,       0,           1, 0 },
	{ "another in its place",   HOST + 1, SET,    HOST + 1, 0, 2,    FREE + 1,   0,           1, FREE + 1 },
	{ "which frees it",         TWIN_2 + 1, SET,  TWIN_2 + 1, 0, 2,  FREE,       0,           1, FREE },
	{ "a PortGUID",             HOST + 1, SET,    HOST + 1, 0, 4,    DUAL + 2,   0,           2, 0 },
	{ "a switch's NodeGUID",    HOST + 1, SET,    HOST + 1, 0, 4,    SW_B,       0,           2, 0 },
	{ "its own PortGUID",       HOST + 1, SET,    HOST + 1, 0, 4,    HOST + 1,   0,           2, 0 },
	{ "the same in two places", HOST + 1, SET,    HOST + 1, 0, 0x18, FREE + 2,   0,           3, FREE + 2 },
	{ "only one has it",        HOST + 1, GET,    HOST + 1, 0, 0,    0,          0,           4, 0 },
	{ "first of block 1",       HOST + 1, SET,    HOST + 1, 1, 1,    FREE + 3,   0,           0, FREE + 3 },
	{ "last by GUIDCap",        HOST + 1, SET,    HOST + 1, 1, 8,    FREE + 4,   0,           3, FREE + 4 },
	{ "no such place",          HOST + 1, SET,    HOST + 1, 1, 16,   FREE + 5,   0,           4, 0 },
	{ "of another port",        RIGHT + 1, SET,   HOST + 1, 0, 2,    FREE + 6,   DENIED,      0, 0 },
	{ "taken away by another",  RIGHT + 1, DELETE, HOST + 1, 0, 2,   0,          DENIED,      0, 0 },
	{ "other partition",        LEFT + 1, SET,    HOST + 1, 0, 2,    FREE + 6,   NO_RECORDS,  0, 0 },
	{ "by nobody",              0,        SET,    HOST + 1, 0, 2,    FREE + 6,   DENIED,      0, 0 },
	{ "Delete: unknown LID",    HOST + 1, DELETE, 0,        0, 2,    0,          NO_RECORDS,  0, 0 },
	{ "Delete: GUIDCap",        HOST + 1, DELETE, HOST + 1, 2, 2,    0,          NO_RECORDS,  0, 0 },
	{ "Delete: PortGUID",       HOST + 1, DELETE, HOST + 1, 0, 1,    0,          REQ_INVALID, 0, 0 },
	{ "Delete: among others",   HOST + 1, DELETE, HOST + 1, 0, 3,    0,          REQ_INVALID, 0, 0 },
	{ "Delete",                 HOST + 1, DELETE, HOST + 1, 0, 2,    0,          0,           1, 0 },
	{ "Delete what is not",     HOST + 1, DELETE, HOST + 1, 0, 2,    0,          0,           1, 0 },
	{ "leaves the others",      HOST + 1, DELETE, HOST + 1, 0, 2,    0,          0,           3, FREE + 2 },
	{ "Delete nothing",         HOST + 1, DELETE, HOST + 1, 0, 0,    0,          0,           3, FREE + 2 },
	{ "free again",             RIGHT + 1, SET,   RIGHT + 1, 0, 2,   FREE + 1,   0,           1, FREE + 1 },
};
/* clang-format on */

START_TEST(step_by_step)
{
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct request q = guids(steps[i].method, steps[i].port, steps[i].block,
		                         steps[i].places, steps[i].guid);

		asker = steps[i].asker ? lid_of(steps[i].asker) : 0xbffe;
		ck_assert_msg(say(&q) == steps[i].status, "%s: status %x", steps[i].what,
		              (unsigned)get(reply.data + 4, 2));
		if (steps[i].status == 0) {
			ck_assert_msg(reply_guid(steps[i].look) == steps[i].there,
			              "%s: 0x%llx", steps[i].what,
			              (unsigned long long)reply_guid(steps[i].look));
			ck_assert_uint_eq(get(record(0), 2), lid_of(steps[i].port));
			ck_assert_uint_eq(get(record(0) + 2, 1), steps[i].block);
		}
	}
	ck_assert_uint_eq(shown(HOST + 1, 0, 3), FREE + 2);
	ck_assert_uint_eq(shown(TWIN_2 + 1, 0, 1), FREE);
	close_store();
	open_store(); /* as it is on disk */
	ck_assert_uint_eq(shown(HOST + 1, 0, 0), HOST + 1);
	ck_assert_uint_eq(shown(HOST + 1, 0, 3), FREE + 2);
	ck_assert_uint_eq(shown(HOST + 1, 1, 3), FREE + 4);
	ck_assert_uint_eq(shown(TWIN_2 + 1, 0, 1), FREE);
}
END_TEST

START_TEST(components_are_needed)
{
	static const uint64_t masks[] = { LID | 0x20, BLOCK | 0x20, 0x20, 0 };
	struct request q = guids(_i % 2 ? SET : DELETE, HOST + 1, 0, 2, FREE);

	put(q.mad + 48, 8, masks[_i / 2]);
	ck_assert_uint_eq(say(&q), INSUF_COMPS);
	ck_assert_uint_eq(store_count(store, RECORDS_GUIDS), 0);
}
END_TEST

/* A requester with the SM_Key changes the GUIDs of any port. */
START_TEST(with_the_sm_key)
{
	struct request q = guids(SET, TWIN_2 + 1, 0, 2, FREE);

	ck_assert_uint_eq(say(&q), DENIED);
	trust_me(&q);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(shown(TWIN_2 + 1, 0, 1), FREE);
}
END_TEST

START_TEST(without_a_store)
{
	struct request q = guids(SET, HOST + 1, 0, 2, FREE);
	struct sa_store *mine = store;

	store = NULL;
	ck_assert_uint_eq(status_of(&q), UNSUPPORTED);
	put(q.mad + 3, 1, DELETE);
	ck_assert_uint_eq(status_of(&q), UNSUPPORTED);
	q = guids(GET, HOST + 1, 0, 0, 0);
	ck_assert_uint_eq(status_of(&q), 0);
	store = mine;
}
END_TEST

/* OpenFabrics' company id, the option, 0, a number; the same for the same place. */
START_TEST(sm_chooses)
{
	struct request q = guids(SET, HOST + 1, 0, 0xfe, 0);
	uint64_t first[8];

	limits.sm_assigned_guid = 0x5a;
	ck_assert_uint_eq(say(&q), 0);
	for (unsigned i = 1; i < 8; i++) {
		first[i] = reply_guid(i);
		ck_assert_uint_eq(first[i] >> 24, 0x0014055a00);
		ck_assert_uint_ne(first[i] & 0xffffff, 0);
		for (unsigned k = 1; k < i; k++) {
			ck_assert_uint_ne(first[i], first[k]);
		}
	}
	ck_assert_uint_eq(say(&q), 0); /* what is there stays */
	ck_assert_uint_eq(reply_guid(3), first[3]);
	ck_assert_uint_eq(set(TWIN_2 + 1, 0, 1, 0), 0);
	ck_assert_uint_ne(reply_guid(1), first[1]);
	asker = lid_of(HOST + 1);
	put(q.mad + 3, 1, DELETE);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(reply_guid(3), 0);
	ck_assert_uint_eq(set(TWIN_2 + 1, 0, 2, first[3]), 0); /* taken */
	ck_assert_uint_eq(reply_guid(2), first[3]);
	put(q.mad + 3, 1, SET);
	asker = lid_of(HOST + 1);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(reply_guid(1), first[1]);
	ck_assert_uint_eq(reply_guid(3), first[3] + 1); /* the next one */
	limits.sm_assigned_guid = 0;
}
END_TEST

/* A GUID by which its port is in a multicast group stays. */
START_TEST(members_keep_theirs)
{
	struct mcast_member_row m = { .port_guid = HOST + 1, .join_state = 1 };
	uint8_t mgid[MGID_BYTES] = { 0xff, 0x12 }, gid[MGID_BYTES];

	put(gid, 8, FIXTURE_PREFIX);
	put(gid + 8, 8, FREE);
	ck_assert_uint_eq(set(HOST + 1, 0, 1, FREE), 0);
	ck_assert_uint_eq(set(HOST + 1, 0, 2, FREE + 1), 0);
	ck_assert_int_eq(mcast_member_put(store, mgid, gid, &m), E_OK);
	struct request q = guids(DELETE, HOST + 1, 0, 6, 0);
	ck_assert_uint_eq(say(&q), DENIED);
	ck_assert_uint_eq(shown(HOST + 1, 0, 2), FREE + 1); /* nothing of it was done */
	ck_assert_uint_eq(set(HOST + 1, 0, 1, FREE + 2), 0);
	ck_assert_uint_eq(reply_guid(1), FREE);
	q = guids(DELETE, HOST + 1, 0, 4, 0);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_int_eq(mcast_member_leave(store, mgid, gid), E_OK);
	q = guids(DELETE, HOST + 1, 0, 2, 0);
	ck_assert_uint_eq(say(&q), 0);
}
END_TEST

/* --- names ----------------------------------------------------------------------------
 */

static unsigned path_from(uint64_t guid, unsigned method)
{
	struct request q = request(method, PATH_RECORD, PR_SGID | PR_DLID);

	put_gid(&q, 24, FIXTURE_PREFIX, guid);
	put_component(&q, 40, 2, lid_of(DUAL + 2));
	asker = lid_of(HOST + 1);
	return status_of(&q);
}

/* As the fabric thread does: writes the GUIDs that clients wanted into the ports. */
static void programmed(void)
{
	for (size_t i = 0; i < w->content.n_attrs; i++) {
		const struct snap_attr *a = &w->attrs[i];
		uint32_t node = graph_node_by_guid(w->g, a->guid);
		struct alias_block b;

		if (a->attr == UMAD_SM_ATTR_GUID_INFO) {
			uint32_t port = w->g->nodes[node].first_port + (a->block >> 8);
			(void)alias_block(store, w->g->ports[port].guid, a->block & 0xff,
			                  &b);
			alias_overlay(&b, (uint8_t *)(uintptr_t)a->data);
		}
	}
	query_fixture_publish(w, PATH_MINIMAL);
}

/* From the answer to the Set on, and after the next publish. */
START_TEST(named_by_an_alias)
{
	struct request q;

	ck_assert_uint_eq(path_from(FREE, GET), INVALID_GID);
	ck_assert_uint_eq(set(TWIN_2 + 1, 1, 2, FREE), 0);
	for (unsigned published = 0; published < 2; published++) {
		ck_assert_uint_eq(path_from(FREE, GET), 0);
		ck_assert_uint_eq(get(record(0) + 32, 8), FREE); /* as it was named */
		ck_assert_uint_eq(get(record(0) + 42, 2), lid_of(TWIN_2 + 1));
		programmed();
	}
	q = guids(DELETE, TWIN_2 + 1, 1, 4, 0);
	asker = lid_of(TWIN_2 + 1);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(path_from(FREE, GET), INVALID_GID); /* published still */
	ck_assert_uint_eq(set(RIGHT + 1, 0, 7, FREE), 0);     /* moves on */
	ck_assert_uint_eq(path_from(FREE, GET), NO_RECORDS);  /* no cable there */
	q = guids(SET, DUAL + 1, 0, 2, FREE);
	asker = lid_of(DUAL + 1);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(reply_guid(1), 0);
}
END_TEST

/* Asked for all, a port comes by each of its GUIDs, in their order. */
START_TEST(wildcards_list_aliases)
{
	struct request q = request(GET_TABLE, PATH_RECORD, PR_DLID);
	uint64_t last = 0;
	size_t before;
	unsigned seen = 0;

	put_component(&q, 40, 2, lid_of(DUAL + 2));
	ck_assert_uint_eq(say(&q), 0);
	before = n_records();
	ck_assert_uint_eq(set(TWIN_2 + 1, 0, 1, FREE), 0);
	ck_assert_uint_eq(set(HOST + 1, 0, 1, 0x10), 0);
	programmed();
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(n_records(), before + 2);
	for (size_t i = 0; i < n_records(); i++) {
		uint64_t guid = get(record(i) + 32, 8);
		uint64_t lid = get(record(i) + 42, 2);

		ck_assert_uint_gt(guid, last);
		last = guid;
		seen += (guid == FREE && lid == lid_of(TWIN_2 + 1)) ||
		        (guid == 0x10 && lid == lid_of(HOST + 1)) ||
		        (guid == HOST + 1 && lid == lid_of(HOST + 1));
	}
	ck_assert_uint_eq(seen, 3);
}
END_TEST

/* --- ports that have them, come and go -------------------------------------------------
 */

/* GUIDs that another subnet manager left in a port count until its clients change them. */
START_TEST(foreign_guids)
{
	struct request q;

	for (size_t i = 0; i < w->content.n_attrs; i++) {
		if (w->attrs[i].attr == UMAD_SM_ATTR_GUID_INFO &&
		    w->attrs[i].guid == HOST && w->attrs[i].block == 1 << 8) {
			put((uint8_t *)(uintptr_t)w->attrs[i].data + 16, 8, FREE);
		}
	}
	query_fixture_publish(w, PATH_MINIMAL);
	ck_assert_uint_eq(shown(HOST + 1, 0, 2), FREE);
	ck_assert_uint_eq(path_from(FREE, GET), 0);
	ck_assert_uint_eq(set(TWIN_2 + 1, 0, 1, FREE), 0);
	ck_assert_uint_eq(reply_guid(1), 0);
	ck_assert_uint_eq(set(HOST + 1, 0, 1, FREE + 1), 0);
	ck_assert_uint_eq(reply_guid(2), FREE);
	q = guids(DELETE, HOST + 1, 0, 4, 0);
	ck_assert_uint_eq(say(&q), 0);
	ck_assert_uint_eq(shown(HOST + 1, 0, 2), 0);
	ck_assert_uint_eq(set(TWIN_2 + 1, 0, 1, FREE), 0);
	ck_assert_uint_eq(reply_guid(1), FREE);
}
END_TEST

/* A GUID is in one place: the one that gets it last, in another block of the port, too. */
START_TEST(in_one_place)
{
	struct alias_block b = { .owned = 2 };
	struct alias_row row;

	put(b.guid + 8, 8, FREE);
	ck_assert_int_eq(alias_block_put(store, HOST + 1, 0, &b), E_OK);
	ck_assert_int_eq(alias_block_put(store, HOST + 1, 1, &b), E_OK);
	ck_assert(alias_find(store, FREE, &row));
	ck_assert_uint_eq(row.block, 1);
	ck_assert(alias_block(store, HOST + 1, 0, &b));
	ck_assert_uint_eq(alias_at(&b, 1), 0);
	ck_assert(alias_block(store, HOST + 1, 1, &b));
	ck_assert_uint_eq(alias_at(&b, 1), FREE);
}
END_TEST

/* A port that is gone keeps its own for a while, or until another port wants them. */
START_TEST(ports_come_and_go)
{
	struct alias_block b = { .owned = 6 };
	struct alias_row row;

	put(b.guid + 8, 8, FREE);
	put(b.guid + 16, 8, FREE + 1);
	ck_assert_int_eq(alias_block_put(store, 0x999, 0, &b), E_OK);
	ck_assert_uint_eq(set(HOST + 1, 0, 3, FREE + 2), 0);
	ck_assert_int_eq(alias_after_sweep(store, w->r), E_OK);
	ck_assert_int_eq(store_next_expiry(store), start_time + ALIAS_KEPT_S);
	ck_assert_uint_eq(path_from(FREE, GET), INVALID_GID);
	ck_assert_uint_eq(set(HOST + 1, 0, 1, FREE), 0);
	ck_assert_uint_eq(reply_guid(1), FREE);
	ck_assert(alias_block(store, 0x999, 0, &b));
	ck_assert_uint_eq(alias_at(&b, 1), 0);
	ck_assert(alias_owned(&b, 1)); /* it is told when it is back */
	ck_assert_uint_eq(alias_at(&b, 2), FREE + 1);
	close_store();
	open_store();
	ck_assert_int_eq(store_expire(store, start_time + ALIAS_KEPT_S - 1), E_OK);
	ck_assert(alias_find(store, FREE + 1, &row));
	ck_assert_int_eq(store_expire(store, start_time + ALIAS_KEPT_S), E_OK);
	ck_assert(!alias_find(store, FREE + 1, &row));
	ck_assert(!alias_block(store, 0x999, 0, &b));
	ck_assert(alias_find(store, FREE, &row));
	ck_assert(alias_find(store, FREE + 2, &row));
	ck_assert_int_eq(store_next_expiry(store), STORE_FOR_EVER);
}
END_TEST

/* One that was away at one sweep and is there at the next. */
START_TEST(ports_bounce)
{
	const struct store_row *row;

	ck_assert_uint_eq(set(HOST + 1, 1, 1, FREE), 0);
	row = store_seek(store, RECORDS_ALIASES, NULL, 0);
	ck_assert_int_eq(store_put(store, RECORDS_ALIASES, row->bytes, 8, start_time + 9,
	                           store_value(row), row->len),
	                 E_OK);
	row = store_seek(store, RECORDS_GUIDS, NULL, 0);
	ck_assert_int_eq(store_put(store, RECORDS_GUIDS, row->bytes, 9, start_time + 9,
	                           store_value(row), row->len),
	                 E_OK);
	ck_assert_int_eq(alias_after_sweep(store, w->r), E_OK);
	ck_assert_int_eq(store_expire(store, start_time + 9), E_OK);
	ck_assert_uint_eq(store_count(store, RECORDS_ALIASES), 1);
	ck_assert_uint_eq(store_count(store, RECORDS_GUIDS), 1);
}
END_TEST

/* --- at random
 * -------------------------------------------------------------------------- */

enum { PORTS = 5, TURNS = 3000, POOL = 40 };

static const uint64_t ports[PORTS] = { HOST + 1, DUAL + 1, TWIN_1 + 1, LEFT + 1,
	                               RIGHT + 1 };
static uint64_t model[PORTS][CAP];

static bool in_model(uint64_t guid)
{
	for (unsigned p = 0; p < PORTS; p++) {
		for (unsigned i = 0; i < CAP; i++) {
			if (model[p][i] == guid) {
				return true;
			}
		}
	}
	return false;
}

static void model_turn(uint64_t r)
{
	unsigned p = (unsigned)(r >> 8) % PORTS, block = r >> 16 & 1;
	unsigned places = (unsigned)(r >> 20) & (block ? 0xff : 0xfe);
	uint64_t guid = FREE + (r >> 32) % POOL;
	bool sets = (r >> 50 & 3) != 0;
	struct request q = guids(sets ? SET : DELETE, ports[p], block, places, guid);

	asker = lid_of(ports[p]);
	ck_assert_uint_eq(say(&q), 0);
	for (unsigned i = 0; i < 8 && block * 8 + i < CAP; i++) {
		uint64_t *place = &model[p][block * 8 + i];

		if ((places >> i & 1) == 0) {
			ck_assert_uint_eq(reply_guid(i), *place);
			continue;
		}
		*place = !sets ? 0 : in_model(guid) ? *place : guid;
		ck_assert_uint_eq(reply_guid(i), *place);
	}
}

START_TEST(as_the_model_has_it)
{
	uint64_t seed = (uint64_t)_i + 1;

	memset(model, 0, sizeof(model));
	for (unsigned p = 0; p < PORTS; p++) {
		model[p][0] = ports[p];
	}
	for (unsigned turn = 0; turn < TURNS; turn++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		model_turn(seed);
		if (turn % 500 == 0) {
			programmed();
		}
		if (turn % 1000 == 0) {
			close_store();
			open_store();
		}
	}
	for (unsigned p = 0; p < PORTS; p++) {
		for (unsigned i = 0; i < CAP; i++) {
			ck_assert_uint_eq(shown(ports[p], i / 8, i % 8), model[p][i]);
			struct snap_end end;
			if (model[p][i] != 0) {
				ck_assert_int_eq(
					alias_port(w->r, store, model[p][i], &end), E_OK);
				ck_assert_uint_eq(end.port_guid, ports[p]);
			}
		}
	}
}
END_TEST

TEST_SUITE(alias)
{
	TCase *tc = tcase_create("records");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, step_by_step);
	tcase_add_loop_test(tc, components_are_needed, 0, 8);
	tcase_add_test(tc, with_the_sm_key);
	tcase_add_test(tc, without_a_store);
	tcase_add_test(tc, sm_chooses);
	tcase_add_test(tc, members_keep_theirs);
	tcase_add_test(tc, named_by_an_alias);
	tcase_add_test(tc, wildcards_list_aliases);
	tcase_add_test(tc, foreign_guids);
	tcase_add_test(tc, in_one_place);
	tcase_add_test(tc, ports_come_and_go);
	tcase_add_test(tc, ports_bounce);
	tcase_add_loop_test(tc, as_the_model_has_it, 0, 3);
	suite_add_tcase(suite, tc);
}

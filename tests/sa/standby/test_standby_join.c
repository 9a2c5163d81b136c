/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Two masters that were in step, then apart, and meet: the lower one becomes standby and gives
 * what it was told meanwhile.
 */
#include <check.h>
#include <config.h>

#include "sa/standby/frame.h"
#include "sa/standby/join.h"
#include "sa/standby/standby_int.h"
#include "tests/lib/suite.h"

#ifdef HAVE_GNUTLS

#include "sa/store/mcast.h"
#include "tests/lib/standby_fixture.h"

enum { NOTHING = -2, REMOVED = -1 };

/* The two are apart, and both masters; the standby had a copy in step. */
static void part(void)
{
	char text[200];
	unsigned port = standby_port(open_master(60000));

	open_standby(port, secret_text, PREFIX);
	WAIT_UNTIL(standby_hears(standby));
	ck_assert(standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
	WAIT_UNTIL(status(master).n_standbys == 0);
}

static void meet(void)
{
	standby_set_role(standby, STANDBY_TAKES);
	WAIT_UNTIL(standby_hears(standby));
	WAIT_UNTIL(status(master).n_in_step == 1);
	change_service(from, 250, 1); /* all that was before is at both now */
}

/* clang-format off */
static const struct {
	const char *what;
	int before, at_master, at_standby, after;
} cases[] = {
	{ "added by the standby",            REMOVED, NOTHING, 5,       5 },
	{ "added by the master",             REMOVED, 4,       NOTHING, 4 },
	{ "added by both",                   REMOVED, 4,       5,       4 },
	{ "changed by the standby",          3,       NOTHING, 5,       5 },
	{ "changed by both",                 3,       4,       5,       4 },
	{ "removed by the standby",          3,       NOTHING, REMOVED, REMOVED },
	{ "removed by the master",           3,       REMOVED, NOTHING, REMOVED },
	{ "removed, and changed by master",  3,       4,       REMOVED, 4 },
	{ "changed, and removed by master",  3,       REMOVED, 5,       REMOVED },
	{ "untouched",                       3,       NOTHING, NOTHING, 3 },
};
/* clang-format on */

static void change(struct state *s, int value)
{
	if (value != NOTHING) {
		change_service(s, 7, value);
	}
}

static int value_of(struct state *s)
{
	struct state_copy *c = NULL;
	struct state_write w;
	int ret = REMOVED;

	ck_assert_int_eq(state_copy_begin(s, NULL, NULL, NULL, &c), E_OK);
	while (state_copy_next(c, &w) == E_OK) {
		if (w.table == COPIED_RECORDS + RECORDS_SERVICES && w.key[0] == 7) {
			ret = w.value[w.len - 1];
		}
	}
	state_copy_end(c);
	return ret;
}

static bool has_service_of(struct state *s, unsigned round)
{
	struct state_copy *c = NULL;
	struct state_write w;
	bool found = false;

	ck_assert_int_eq(state_copy_begin(s, NULL, NULL, NULL, &c), E_OK);
	while (state_copy_next(c, &w) == E_OK) {
		found |= w.table == COPIED_RECORDS + RECORDS_SERVICES &&
		         w.key[0] == 7 && w.key[1] == round;
	}
	state_copy_end(c);
	return found;
}

START_TEST(test_both_were_told)
{
	change(from, cases[_i].before);
	part();
	change(from, cases[_i].at_master);
	change(to, cases[_i].at_standby);
	meet();
	ck_assert_msg(value_of(from) == cases[_i].after, "%s: %d", cases[_i].what,
	              value_of(from));
	ck_assert_str_eq(dump(from), dump(to));
}
END_TEST

/* A change that is under way while its master becomes standby is joined, because its client gets
 * its reply. */
START_TEST(test_told_at_the_end)
{
	for (unsigned round = 0; round < 20; round++) {
		uint8_t key[26] = { 7, (uint8_t)round }, row[192] = { (uint8_t)round };
		struct state_batch *b;
		char text[200];
		atomic_int done = 0;

		if (round == 0) {
			part();
		} else {
			ck_assert(standby_take_over(standby, MASTER_GUID, text,
			                            sizeof(text)));
			WAIT_UNTIL(status(master).n_standbys == 0);
		}
		ck_assert_int_eq(state_batch_new(&b), E_OK);
		ck_assert_int_eq(state_batch_put(b, RECORDS_SERVICES, key, sizeof(key),
		                                 row, sizeof(row)),
		                 E_OK);
		state_batch_commit(to, b, on_done, &done);
		standby_set_role(standby, STANDBY_TAKES);
		state_flush(to);
		ck_assert_int_eq(done, 1);
		meet();
		ck_assert_msg(has_service_of(from, round), "round %u", round);
	}
}
END_TEST

static size_t log_bytes(struct standby *l)
{
	pthread_mutex_lock(&l->lock);
	size_t n = l->log.n;
	pthread_mutex_unlock(&l->lock);
	return n;
}

/* What all standbys have acknowledged is no news: the master forgets it, so that it neither grows nor counts
 * when the two meet again. */
START_TEST(test_settled)
{
	open_standby(standby_port(open_master(60000)), secret_text, PREFIX);
	change_service(from, 1, 1);
	WAIT_UNTIL(status(master).n_in_step == 1);
	change_service(from, 2, 1);
	WAIT_UNTIL(log_bytes(master) == 0);
}
END_TEST

/* What was joined is no news of the standby any more. */
START_TEST(test_joined_once)
{
	char text[200];

	part();
	change_service(to, 7, 5);
	meet();
	ck_assert(standby_joined(master));
	ck_assert(!standby_joined(master));
	ck_assert(standby_take_over(standby, MASTER_GUID, text, sizeof(text)));
	WAIT_UNTIL(status(master).n_standbys == 0);
	change_service(from, 7, REMOVED);
	meet();
	ck_assert_int_eq(value_of(from), REMOVED);
}
END_TEST

/* --- groups ---------------------------------------------------------------------------------- */

/* Without a value the row is removed. */
static void put(struct state *s, enum record_table table, const void *key, size_t len,
                const void *value, size_t value_len)
{
	uint8_t row[8 + 128] = { 0 };
	atomic_int done = 0;
	struct state_batch *b;

	memcpy(row + 8, value != NULL ? value : row, value_len);
	ck_assert_int_eq(state_batch_new(&b), E_OK);
	ck_assert_int_eq(state_batch_put(b, table, key, len, value != NULL ? row : NULL,
	                                 8 + value_len),
	                 E_OK);
	state_batch_commit(s, b, on_done, &done);
	state_flush(s);
	ck_assert_int_eq(done, 1);
}

static void put_group(struct state *s, uint8_t name, uint32_t mlid)
{
	struct mcast_group_row g = { .well_known = 0 };
	uint8_t mgid[MGID_BYTES] = { 0xff, name };

	mcast_put(g.record, MC_MLID, mlid);
	put(s, RECORDS_GROUPS, mgid, sizeof(mgid), &g, sizeof(g));
}

static void put_member(struct state *s, uint8_t name, uint8_t port)
{
	struct mcast_member_row m = { .join_state = MC_FULL_MEMBER };
	uint8_t key[MC_MEMBER_KEY_BYTES] = { 0xff, name, [31] = port };

	put(s, RECORDS_MEMBERS, key, sizeof(key), &m, sizeof(m));
}

static void remove_group(struct state *s, uint8_t name)
{
	uint8_t mgid[MGID_BYTES] = { 0xff, name };

	put(s, RECORDS_GROUPS, mgid, sizeof(mgid), NULL, 0);
}

static void remove_member(struct state *s, uint8_t name, uint8_t port)
{
	uint8_t key[MC_MEMBER_KEY_BYTES] = { 0xff, name, [31] = port };

	put(s, RECORDS_MEMBERS, key, sizeof(key), NULL, 0);
}

static unsigned count(struct state *s, enum record_table table)
{
	struct state_copy *c = NULL;
	struct state_write w;
	unsigned n = 0;

	ck_assert_int_eq(state_copy_begin(s, NULL, NULL, NULL, &c), E_OK);
	while (state_copy_next(c, &w) == E_OK) {
		n += w.table == COPIED_RECORDS + table;
	}
	state_copy_end(c);
	return n;
}

/* A group of the standby comes with its members, unless its MLID is that of another group. */
START_TEST(test_groups)
{
	part();
	put_group(from, 1, 0xc010);
	put_member(from, 1, 1);
	put_group(to, 2, 0xc010);
	put_member(to, 2, 2);
	put_group(to, 3, 0xc011);
	put_member(to, 3, 3);
	put_group(to, 1, 0xc012); /* the same group: the MLID is the master's */
	put_member(to, 1, 2);
	meet();
	ck_assert_uint_eq(count(from, RECORDS_GROUPS), 2);
	ck_assert_uint_eq(count(from, RECORDS_MEMBERS), 3);
	ck_assert_ptr_null(strstr(dump(from), "ff020000"));
	ck_assert_str_eq(dump(from), dump(to));
}
END_TEST

/* The last member of a group left at the standby, so the group went there. It stays where
 * the master has a member that the standby did not know; else it goes. */
START_TEST(test_group_removed)
{
	put_group(from, 1, 0xc010);
	put_member(from, 1, 1);
	part();
	if (_i == 0) {
		put_member(from, 1, 2);
	}
	remove_member(to, 1, 1);
	remove_group(to, 1);
	meet();
	ck_assert_uint_eq(count(from, RECORDS_GROUPS), _i == 0);
	ck_assert_uint_eq(count(from, RECORDS_MEMBERS), _i == 0);
	ck_assert_str_eq(dump(from), dump(to));
}
END_TEST

/* A group that both have keeps the parameters of the master, because members send and
 * receive by these. */
START_TEST(test_group_made_anew)
{
	const char *before;

	put_group(from, 1, 0xc010);
	put_member(from, 1, 1);
	before = dump(from);
	part();
	put_group(to, 1, 0xc012);
	meet();
	change_service(from, 250, REMOVED);
	ck_assert_str_eq(dump(from), before);
	ck_assert_str_eq(dump(from), dump(to));
}
END_TEST

/* The group of a member went at the master, and the standby knows nothing of that. */
START_TEST(test_member_without_group)
{
	put_group(from, 1, 0xc010);
	put_member(from, 1, 1);
	part();
	remove_member(from, 1, 1);
	remove_group(from, 1);
	put_member(to, 1, 2);
	meet();
	ck_assert_uint_eq(count(from, RECORDS_GROUPS), 0);
	ck_assert_uint_eq(count(from, RECORDS_MEMBERS), 0);
	ck_assert_str_eq(dump(from), dump(to));
}
END_TEST

/* More changes than the log may hold: they are counted, and the log says how many cannot
 * be joined. */
START_TEST(test_log_is_full)
{
	uint8_t key[26] = { 7 }, row[192] = { 0 };
	const struct state_write w = { .table = COPIED_RECORDS + RECORDS_SERVICES,
		                       .key = key,
		                       .key_len = sizeof(key),
		                       .value = row,
		                       .len = sizeof(row) };
	unsigned n = JOIN_LOG_BYTES / frame_row_bytes(&w);

	part();
	pthread_mutex_lock(&standby->lock);
	for (unsigned i = 0; i < n + 3; i++) {
		join_log_add(&standby->log, &w);
	}
	join_log_committed(&standby->log);
	ck_assert_uint_eq(standby->log.missed, 3);
	pthread_mutex_unlock(&standby->lock);
	keep_log();
	meet();
	ck_assert_int_eq(value_of(from), 0);
	ck_assert(logged(": 3 changes since the last copy had no room"));
}
END_TEST

/* A copy that no master gave is of no use; what it has is named, and not joined later. */
START_TEST(test_dropped_before_it_met)
{
	char text[200];

	part();
	change_service(to, 7, 5);
	standby_set_role(master, STANDBY_IDLE);
	standby_set_role(standby, STANDBY_TAKES);
	ck_assert(!standby_take_over(standby, MASTER_GUID + 1, text, sizeof(text)));
	standby_set_role(master, STANDBY_GIVES);
	meet();
	ck_assert_int_eq(value_of(from), REMOVED);
}
END_TEST

START_TEST(test_log_keeps_last_changes)
{
	struct join_log l = { 0 };
	uint8_t key[26] = { 1 }, row[192] = { 0 };
	struct state_write w = { .table = COPIED_RECORDS + RECORDS_SERVICES,
		                 .key = key,
		                 .key_len = sizeof(key),
		                 .value = row,
		                 .len = sizeof(row) };
	size_t one = frame_row_bytes(&w);

	for (unsigned i = 0; i < 100000; i++) {
		key[0] = (uint8_t)(i % 3);
		row[0] = (uint8_t)i;
		join_log_add(&l, &w);
		join_log_committed(&l);
	}
	ck_assert_uint_lt(l.n, 2 << 20);
	ck_assert_int_eq(join_log_compact(&l), E_OK);
	ck_assert_uint_eq(l.n, 3 * one);
	ck_assert_uint_eq(l.missed, 0);
	ck_assert_uint_eq(l.bytes[one - sizeof(row)],
	                  (uint8_t)99999); /* 99999 % 3 is 0 */
	join_log_add(&l, &w);
	join_log_settled(&l); /* the last one is not committed */
	ck_assert_uint_eq(l.n, one);
	join_log_done(&l);
}
END_TEST

/* What the log calls a row that was not joined. */
static const struct {
	unsigned table;
	uint8_t key[40];
	size_t len;
	const char *name;
} named[] = {
	{ 0, { 0, 2, 0xc9, 3, 0, 0, 0xab, 0xcd }, 8, "LID of 0x0002c9030000abcd" },
	{ COPIED_RECORDS + RECORDS_SERVICES,
	  { 0x10, [7] = 1, [8] = 0xfe, 0x80, [23] = 9 },
	  26,
	  "service 0x1000000000000001 '' at fe80::9" },
	{ COPIED_RECORDS + RECORDS_SUBSCRIPTIONS,
	  { 0, 2, 0xc9, 3, 0, 0, 0xab, 0xcd },
	  8,
	  "subscription of port 0x0002c9030000abcd" },
	{ COPIED_RECORDS + RECORDS_GROUPS,
	  { 0xff, 0x12, [15] = 1 },
	  16,
	  "multicast group ff12::1" },
	{ COPIED_RECORDS + RECORDS_MEMBERS,
	  { 0xff, 0x12, [15] = 1, [16] = 0xfe, 0x80, [31] = 7 },
	  32,
	  "membership of fe80::7 in ff12::1" },
	{ COPIED_RECORDS + RECORDS_GUIDS,
	  { 0, 2, 0xc9, 3, 0, 0, 0xab, 0xcd, 5 },
	  9,
	  "GUIDs of port 0x0002c9030000abcd, block 5" },
	{ COPIED_RECORDS + RECORDS_ALIASES,
	  { 0, 2, 0xc9, 3, 0, 0, 0xab, 0xcd },
	  8,
	  "alias GUID 0x0002c9030000abcd" },
	{ COPIED_RECORDS + RECORDS_PARTITIONS, { 0x12, 0x34 }, 2, "partition 0x1234" },
	{ COPIED_RECORDS + RECORDS_PARTITIONS,
	  { 0x12, 0x34, 0, 2, 0xc9, 3, 0, 0, 0xab, 0xcd },
	  10,
	  "member 0x0002c9030000abcd of partition 0x1234" },
	{ COPIED_RECORDS + RECORDS_KNOWN,
	  { 0, 2, 0xc9, 3, 0, 0, 0xab, 0xcd, 1 },
	  9,
	  "known node 0x0002c9030000abcd" },
	{ COPIED_RECORDS + RECORDS_ACKS, "unhealthy-0x0000000000000300-3", 30,
	  "acknowledgement of alarm unhealthy-0x0000000000000300-3" },
	{ COPIED_RECORDS + RECORDS_DRAINED,
	  { 0, 2, 0xc9, 3, 0, 0, 0xab, 0xcd, 7 },
	  9,
	  "drained 0x0002c9030000abcd port 7" },
};

START_TEST(test_names)
{
	struct state_write w = { .table = named[_i].table,
		                 .key = named[_i].key,
		                 .key_len = named[_i].len };
	char name[JOIN_NAME_BYTES];

	join_row_name(&w, name);
	ck_assert_str_eq(name, named[_i].name);
}
END_TEST

TEST_SUITE_FORKED(standby_join)
{
	TCase *t = tcase_create("standby_join");

	tcase_add_checked_fixture(t, open_states, close_links);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_both_were_told, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(t, test_settled);
	tcase_add_test(t, test_told_at_the_end);
	tcase_add_test(t, test_joined_once);
	tcase_add_test(t, test_groups);
	tcase_add_loop_test(t, test_group_removed, 0, 2);
	tcase_add_test(t, test_group_made_anew);
	tcase_add_test(t, test_member_without_group);
	tcase_add_test(t, test_log_is_full);
	tcase_add_test(t, test_dropped_before_it_met);
	tcase_add_test(t, test_log_keeps_last_changes);
	tcase_add_loop_test(t, test_names, 0, sizeof(named) / sizeof(named[0]));
	suite_add_tcase(suite, t);
}

#else

START_TEST(test_without_gnutls)
{
	ck_assert(true);
}
END_TEST

TEST_SUITE_FORKED(standby_join)
{
	TCase *t = tcase_create("standby_join");

	tcase_add_test(t, test_without_gnutls);
	suite_add_tcase(suite, t);
}

#endif

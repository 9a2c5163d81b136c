/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Alarms with one cause: a cable that comes and goes. What goes with a switch needs a snapshot, and
 * is tried end to end (known.sh).
 */
#include "gateway/inventory/alarm_causes.h"

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/inventory/alarms.h"
#include "tests/lib/suite.h"

enum { LEAF = 0x100, SPINE = 0x200, OTHER = 0x300, EVENTS = 3000 };

static struct arena *arena;
static struct alarms alarms;
static struct fabric_event events[EVENTS];
static size_t n_events;

static void setup(void)
{
	arena = arena_new();
	alarms = (struct alarms){ .arena = arena };
	n_events = 0;
}

static void teardown(void)
{
	alarms_done(&alarms);
	arena_free(arena);
}

static void flaps(uint64_t guid, const char *name)
{
	alarms_add_port(&alarms, ALARM_FLAPPING, guid, 0, "it flaps")->node = name;
}

static void cable(enum event_kind kind, uint8_t port, uint8_t peer_port)
{
	ck_assert_uint_lt(n_events, EVENTS);
	events[n_events++] = (struct fabric_event){ .kind = kind,
		                                    .node_guid = LEAF,
		                                    .node = "leaf",
		                                    .port = port,
		                                    .peer_guid = SPINE,
		                                    .peer = "spine",
		                                    .peer_port = peer_port };
}

static void join(void)
{
	ck_assert_int_eq(alarm_causes_join(&alarms, NULL, NULL, events, n_events), E_OK);
}

/* Both ends flap: one alarm, which names the cable that went most often. */
START_TEST(both_ends)
{
	flaps(_i ? SPINE : LEAF, "one");
	flaps(_i ? LEAF : SPINE, "the other");
	for (unsigned i = 0; i < 4; i++) {
		cable(EVENT_CABLE_LOST, 5, 1);
		cable(EVENT_CABLE_BACK, 5, 1);
		if (i < 2) {
			cable(EVENT_CABLE_LOST, 6, 2);
		}
	}
	join();
	ck_assert_ptr_null(alarms.list[0].cause);
	ck_assert_str_eq(alarms.list[1].cause, alarms.list[0].id);
	ck_assert_uint_eq(alarms.list[0].with, 1);
	ck_assert_str_eq(alarms.list[0].text,
	                 "cable 'leaf' port 5 - 'spine' port 1 comes and goes: lost 4 times");
	ck_assert_uint_eq(alarms.list[0].node_guid, LEAF);
	ck_assert_uint_eq(alarms.list[0].port, 5);
	ck_assert_uint_eq(alarms.list[0].peer_guid, SPINE);
	ck_assert_uint_eq(alarms.list[0].peer_port, 1);
}
END_TEST

/* A node of which no cable went twice flaps for another reason, and keeps its words. */
START_TEST(no_cable)
{
	flaps(OTHER, "other");
	flaps(LEAF, "leaf");
	cable(EVENT_CABLE_LOST, 5, 1);
	cable(EVENT_CABLE_LOST, 6, 2);
	join();
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_ptr_null(alarms.list[i].cause);
		ck_assert_str_eq(alarms.list[i].text, "it flaps");
	}
}
END_TEST

/* A port that was switched off, at either end, explains its cable and no other one. */
START_TEST(switched_off)
{
	(void)alarms_add_port(&alarms, ALARM_DISABLED, LEAF, 5, "off");
	for (unsigned i = 0; i < 3; i++) {
		struct alarm *down = alarms_add_port(&alarms, ALARM_LINK_DOWN, i == 1 ? SPINE : LEAF,
		                                     i == 1 ? 1 : (uint8_t)(5 + i), "cable lost");

		down->peer_guid = i == 1 ? LEAF : SPINE;
		down->peer_port = i == 1 ? 5 : 9;
	}
	join();
	ck_assert_str_eq(alarms.list[1].cause, "disabled-0x0000000000000100-5");
	ck_assert_str_eq(alarms.list[2].cause, "disabled-0x0000000000000100-5");
	ck_assert_ptr_null(alarms.list[3].cause);
	ck_assert_ptr_null(alarms.list[0].cause);
	ck_assert_uint_eq(alarms.list[0].with, 2);
}
END_TEST

/* What a sweep says of a node that does not answer is no alarm beside that of the node. */
START_TEST(silent_and_problem)
{
	struct stats_value said[] = {
		{ .name = "problem.0",
		  .text = "node \"host\" (0x0000000000000300) does not answer behind \"leaf\" (switch 0x0000000000000100) port 3, directed route 0,1" },
		{ .name = "problem.1",
		  .text = "no answer behind \"leaf\" (switch 0x0000000000000100) port 4, directed route 0,1, though its link is up" },
	};
	const struct stats_copy stats = { .values = said, .n = 2 };
	char id[64];

	ck_assert_ptr_nonnull(alarms_add_port(&alarms, ALARM_SILENT, OTHER, 0, "silent"));
	ck_assert_ptr_nonnull(alarms_add_port(&alarms, ALARM_SILENT, LEAF, 0, "silent"));
	ck_assert_int_eq(alarms_of_stats(&alarms, &stats), E_OK);
	ck_assert_uint_eq(alarms.n, 4);
	join();
	ck_assert_str_eq(alarms.list[2].cause, alarms.list[0].id);
	ck_assert_ptr_null(alarms.list[3].cause);
	/* another way to the node is the same problem */
	snprintf(id, sizeof(id), "%s", alarms.list[2].id);
	alarms.n = 0;
	said[0].text =
		"node \"host\" (0x0000000000000300) does not answer behind \"leaf\" (switch 0x0000000000000100) port 3, directed route 0,2,7";
	ck_assert_int_eq(alarms_of_stats(&alarms, &stats), E_OK);
	ck_assert_str_eq(alarms.list[0].id, id);
}
END_TEST

/* Only the newest events count, so a long history takes no longer. */
START_TEST(recent)
{
	flaps(LEAF, "leaf");
	for (unsigned i = 0; i < 10; i++) {
		cable(EVENT_CABLE_LOST, 5, 1);
	}
	while (n_events < EVENTS - 2) {
		cable(EVENT_CABLE_BACK, 7, 7);
	}
	cable(EVENT_CABLE_LOST, 6, 2);
	cable(EVENT_CABLE_LOST, 6, 2);
	join();
	ck_assert_uint_eq(alarms.list[0].port, 6);
}
END_TEST

static void overloaded(uint64_t from, uint64_t to, uint8_t port)
{
	struct alarm *a = alarms_add_port(&alarms, ALARM_OVERLOADED, from, port, "it has many routes");

	a->peer_guid = to;
	a->peer_port = 1;
}

/* Three overloaded links of a switch are one alarm, in either direction; two are two. */
START_TEST(crowded)
{
	overloaded(SPINE + 1, LEAF, 7);
	overloaded(LEAF, SPINE, 1);
	overloaded(OTHER, SPINE + 9, 1);
	overloaded(LEAF, SPINE + 2, 2);
	overloaded(OTHER, SPINE + 8, 2);
	join();
	ck_assert_ptr_null(alarms.list[0].cause);
	ck_assert_uint_eq(alarms.list[0].with, 2);
	ck_assert_str_eq(alarms.list[1].cause, alarms.list[0].id);
	ck_assert_str_eq(alarms.list[3].cause, alarms.list[0].id);
	ck_assert_ptr_null(alarms.list[2].cause);
	ck_assert_ptr_null(alarms.list[4].cause);
}
END_TEST

TEST_SUITE(alarm_causes)
{
	TCase *tc = tcase_create("alarm_causes");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, both_ends, 0, 2);
	tcase_add_test(tc, no_cable);
	tcase_add_test(tc, switched_off);
	tcase_add_test(tc, silent_and_problem);
	tcase_add_test(tc, recent);
	tcase_add_test(tc, crowded);
	suite_add_tcase(suite, tc);
}

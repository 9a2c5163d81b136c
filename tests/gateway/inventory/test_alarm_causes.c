/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Alarms with one cause: a cable that comes and goes. What goes with a switch needs a snapshot, and
 * is tried end to end (known.sh).
 */
#include "gateway/inventory/alarm_causes.h"

#include <stdlib.h>

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
	free(alarms.list);
	arena_free(arena);
}

static void flaps(uint64_t guid, const char *name)
{
	struct alarm *a = alarms_add(&alarms, ALARM_FLAPPING, "it flaps");

	a->node_guid = guid;
	a->node = name;
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
	ck_assert_int_eq(alarm_causes_join(&alarms, NULL, events, n_events), E_OK);
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
	ck_assert(!alarms.list[0].joined);
	ck_assert(alarms.list[1].joined);
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
		ck_assert(!alarms.list[i].joined);
		ck_assert_str_eq(alarms.list[i].text, "it flaps");
	}
}
END_TEST

/* A port that was switched off, at either end, explains its cable and no other one. */
START_TEST(switched_off)
{
	struct alarm *off = alarms_add(&alarms, ALARM_DISABLED, "off"), *down;

	off->node_guid = LEAF;
	off->port = 5;
	for (unsigned i = 0; i < 3; i++) {
		down = alarms_add(&alarms, ALARM_LINK_DOWN, "cable lost");
		down->node_guid = i == 1 ? SPINE : LEAF;
		down->port = i == 1 ? 1 : (uint8_t)(5 + i);
		down->peer_guid = i == 1 ? LEAF : SPINE;
		down->peer_port = i == 1 ? 5 : 9;
	}
	join();
	ck_assert(alarms.list[1].joined);
	ck_assert(alarms.list[2].joined);
	ck_assert(!alarms.list[3].joined);
	ck_assert(!alarms.list[0].joined);
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

TEST_SUITE(alarm_causes)
{
	TCase *tc = tcase_create("alarm_causes");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, both_ends, 0, 2);
	tcase_add_test(tc, no_cable);
	tcase_add_test(tc, switched_off);
	tcase_add_test(tc, recent);
	suite_add_tcase(suite, tc);
}

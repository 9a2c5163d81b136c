/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/links/health over the small fabric, and the alarms that follow from its rows. */
#include <check.h>

#include "db/lmdb/link_health.h"
#include "db/stats/stats.h"
#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "tests/lib/api_json.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

enum { SINCE = 1767225600 };

static struct query_fixture *w;
static struct http_stats http;
static struct stats *stats;
static struct api_thread thread;

static void start(void)
{
	const char *why = "";

	w = query_fixture_small(0, 0, PATH_MINIMAL);
	ck_assert_int_eq(stats_open(w->dir, w->a, &why, &stats), E_OK);
	stats_set(stats, "subnet_up", 1);
	thread = (struct api_thread){ .source = source_new(w->dir), .stats = &http };
}

static void stop(void)
{
	stats_close(stats);
	api_thread_done(&thread);
	source_free(thread.source);
	query_fixture_free(w);
}

/* A link that erred for an hour: so many symbol errors. */
static struct link_health erring(enum link_state state, uint32_t errors)
{
	struct link_health h = { .time_s = SINCE + 60,
		                 .since_s = SINCE,
		                 .gbps = 40,
		                 .state = (uint8_t)state,
		                 .proof = state == LINK_SICK ? LINK_ERROR_RATE : LINK_NO_PROOF,
		                 .span = LINK_HOUR,
		                 .decision = state == LINK_SICK ? LINK_DECISION_WATCHED
		                                                : LINK_DECISION_NONE };

	h.now[LINK_HOUR] = (struct link_window){ .seconds = 1800, .allowed = 72 };
	h.now[LINK_HOUR].n[LINK_SYMBOL_ERRORS] = errors;
	return h;
}

static void put(uint64_t guid, uint8_t port, struct link_health h)
{
	ck_assert_int_eq(stats_link_health(stats, guid, port, &h), E_OK);
	ck_assert_int_eq(stats_commit(stats, boottime_ms() + 3600000), E_OK);
}

/* "a.port state" of each cable of an answer. */
static void check_links(const char *target, const char *want)
{
	char text[512] = "";
	json_t *o = api_json(&thread, 200, "%s", target), *l;
	size_t i;

	json_array_foreach(json_object_get(o, "links"), i, l)
	{
		const json_t *a = json_object_get(l, "a");

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s.%lld %s",
		         i > 0 ? ", " : "", json_string_value(json_object_get(a, "name")),
		         json_integer_value(json_object_get(a, "port")),
		         json_string_value(json_object_get(l, "state")));
	}
	ck_assert_str_eq(text, want);
	json_decref(o);
}

START_TEST(none)
{
	start();
	ck_assert_int_eq(stats_commit(stats, boottime_ms() + 3600000), E_OK);
	check_links("/v1/links/health", "");
	stop();
}
END_TEST

/* Both ends of a cable are one entry, the worst first; what is gone from the snapshot is left out. */
START_TEST(list)
{
	start();
	put(SW_A, 1, erring(LINK_SUSPECT, 100)); /* the cable to sw-c */
	put(SW_C, 1, erring(LINK_SICK, 720));
	put(HOST, 1, erring(LINK_SUSPECT, 200));
	put(SW_C, 2, erring(LINK_WELL, 80));
	put(SW_A, 7, erring(LINK_SICK, 9000)); /* no cable */
	put(0x9999, 1, erring(LINK_SICK, 9000));
	check_links("/v1/links/health", "sw-a.1 sick, host.1 suspect, sw-b.1 well");
	check_links("/v1/links/health?sick=1", "sw-a.1 sick, host.1 suspect");
	check_links("/v1/links/health?sick=0", "sw-b.1 well");
	check_links("/v1/links/health?node=sw-b", "sw-b.1 well");
	check_links("/v1/links/health?name=ho*", "host.1 suspect");
	json_t *o = api_json(&thread, 200, "/v1/links/health?limit=1");
	ck_assert_int_eq(json_integer_value(json_object_get(o, "total")), 3);
	const json_t *l = json_array_get(json_object_get(o, "links"), 0);
	ck_assert_str_eq(json_string_value(json_object_get(l, "text")),
	                 "10 times the errors that are allowed in the last hour (720 symbol errors), steady");
	ck_assert_str_eq(json_string_value(json_object_get(l, "decision")), "watched");
	ck_assert_str_eq(json_string_value(json_object_get(l, "since")), "2026-01-01T00:00:00Z");
	const json_t *side = json_array_get(json_object_get(l, "sides"), 1);
	ck_assert_str_eq(json_string_value(json_object_get(side, "guid")), "0x0000000000003000");
	const json_t *hour = json_object_get(json_object_get(side, "hour"), "per_hour");
	ck_assert_double_eq_tol(json_real_value(json_object_get(hour, "symbol_errors")), 1440, 1);
	json_decref(o);
	stop();
}
END_TEST

static void check_alarm(const char *kind, const char *want)
{
	json_t *o = api_json(&thread, 200, "/v1/alarms"), *a;
	unsigned found = 0;
	size_t i;

	json_array_foreach(json_object_get(o, "alarms"), i, a)
	{
		if (strcmp(json_string_value(json_object_get(a, "kind")), kind) == 0) {
			ck_assert_str_eq(json_string_value(json_object_get(a, "text")), want);
			found++;
		}
	}
	ck_assert_uint_eq(found, want != NULL);
	json_decref(o);
}

START_TEST(alarms)
{
	struct link_health blamed = erring(LINK_SICK, 720);

	start();
	put(HOST, 1, erring(LINK_SUSPECT, 200));
	check_alarm("link_sick", NULL);
	put(SW_C, 1, erring(LINK_SICK, 720));
	check_alarm("link_sick",
	            "sw-a port 1 - sw-c port 1 is sick, sw-c counts: 10 times the errors that are allowed in the last hour (720 symbol errors), steady; link_health is 'watch', so it is reported and stays in use");
	/* all cables of a switch become one alarm */
	blamed.decision = LINK_DECISION_SWITCH;
	put(SW_C, 1, blamed);
	put(SW_C, 2, blamed);
	check_alarm("link_sick", NULL);
	check_alarm("switch_sick", "2 links of sw-c are sick, so the switch is the cause");
	stop();
}
END_TEST

TEST_SUITE(api_link_health)
{
	TCase *tc = tcase_create("link health");

	tcase_add_test(tc, none);
	tcase_add_test(tc, list);
	tcase_add_test(tc, alarms);
	suite_add_tcase(suite, tc);
}

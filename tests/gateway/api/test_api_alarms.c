/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/alarms over the small fabric: what the snapshot shows, and what events left behind. */
#include <check.h>
#include <sys/stat.h>

#include "db/lmdb/known.h"
#include "db/stats/stats.h"
#include "gateway/api/metrics.h"
#include "gateway/inventory/alarms.h"
#include "gateway/view/source.h"
#include "tests/lib/api_json.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/query_fixture.h"
#include "tests/lib/suite.h"

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

static void happen(enum event_kind kind, uint64_t node, unsigned port)
{
	struct fabric_event e = { .kind = kind,
		                  .node_guid = node,
		                  .port = (uint8_t)port,
		                  .time_s = 1767225600,
		                  .node = "n",
		                  .detail = "so it is" };

	ck_assert_uint_ne(stats_event(stats, &e), 0);
}

/* Alarms as "kind:node:port", with blanks between, but those that every fabric of this
 * fixture has: its ports are not active. */
static void check_alarms(const char *want)
{
	char text[1024] = "";
	json_t *o, *a;
	size_t i;

	ck_assert_int_eq(stats_commit(stats, boottime_ms() + 3600000), E_OK);
	o = api_json(&thread, 200, "/v1/alarms");
	json_array_foreach(json_object_get(o, "alarms"), i, a)
	{
		const json_t *node = json_object_get(a, "node");
		const char *kind = json_string_value(json_object_get(a, "kind"));
		const char *guid = json_string_value(json_object_get(node, "guid"));

		if (strcmp(kind, "not_active") != 0) {
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
			         "%s%s:%s:%lld", text[0] ? " " : "", kind,
			         guid != NULL ? guid + 14 : "-",
			         json_integer_value(json_object_get(node, "port")));
		}
	}
	ck_assert_int_eq(json_integer_value(json_object_get(o, "total")),
	                 json_array_size(json_object_get(o, "alarms")));
	ck_assert_str_eq(text, want);
	json_decref(o);
}

enum { ABSENT = 0x990 };

static const struct {
	struct {
		enum event_kind kind;
		uint64_t node;
		unsigned port;
	} event[3];
	unsigned n;
	const char *alarms;
} cases[] = {
	/* a cable that is still gone, and one that the snapshot has */
	{ { { EVENT_CABLE_LOST, SW_A, 7 } }, 1, "link_down:1000:7" },
	{ { { EVENT_REBALANCE_ADVISED, SW_A, 0 } }, 1, "rebalance_advised:1000:0" },
	{ { { EVENT_REBALANCE_ADVISED, SW_A, 0 }, { EVENT_REBALANCE, SW_A, 0 } }, 2, "" },
	{ { { EVENT_REBALANCE_ADVISED, SW_A, 0 }, { EVENT_SUBNET_UP, SW_A, 0 } }, 2, "" },
	{ { { EVENT_CABLE_LOST, SW_A, 1 } }, 1, "" },
	{ { { EVENT_CABLE_LOST, SW_A, 7 }, { EVENT_CABLE_BACK, SW_A, 7 } }, 2, "" },
	{ { { EVENT_CABLE_BACK, SW_A, 7 }, { EVENT_CABLE_LOST, SW_A, 7 } },
	  2,
	  "link_down:1000:7" },
	{ { { EVENT_CABLE_LOST, SW_A, 7 }, { EVENT_CABLE_LOST, SW_A, 7 } },
	  2,
	  "link_down:1000:7" },
	{ { { EVENT_CABLE_LOST, SW_A, 7 }, { EVENT_CABLE_BACK, SW_A, 6 } },
	  2,
	  "link_down:1000:7" },
	{ { { EVENT_CABLE_LOST, ABSENT, 1 } }, 1, "" }, /* its node says it */
	{ { { EVENT_HOST_GONE, ABSENT, 0 } }, 1, "host_gone:0990:0" },
	{ { { EVENT_HOST_GONE, HOST, 0 } }, 1, "" },
	{ { { EVENT_SWITCH_GONE, ABSENT, 0 } }, 1, "switch_gone:0990:0" },
	{ { { EVENT_NODE_SILENT, ABSENT, 0 } }, 1, "silent:0990:0" },
	{ { { EVENT_NODE_SILENT, SW_B, 0 } }, 1, "" },
	{ { { EVENT_PORT_FLAPPING, SW_B, 0 } }, 1, "flapping:2000:0" },
	{ { { EVENT_PORT_FLAPPING, SW_B, 0 }, { EVENT_PORT_QUIET, SW_B, 0 } }, 2, "" },
	{ { { EVENT_PORT_UNHEALTHY, SW_B, 5 } }, 1, "unhealthy:2000:5" },
	/* both ends of a cable, and of one that comes and goes */
	{ { { EVENT_PORT_UNHEALTHY, SW_A, 1 }, { EVENT_PORT_UNHEALTHY, SW_C, 1 } },
	  2,
	  "unhealthy:1000:1" },
	{ { { EVENT_CABLE_LOST, SW_A, 7 },
	    { EVENT_CABLE_LOST, SW_A, 7 },
	    { EVENT_PORT_FLAPPING, SW_A, 0 } },
	  3,
	  "flapping:1000:7" },
	{ { { EVENT_CABLE_LOST, SW_A, 7 },
	    { EVENT_CABLE_LOST, SW_A, 6 },
	    { EVENT_PORT_FLAPPING, SW_A, 0 } },
	  3,
	  "link_down:1000:6 link_down:1000:7 flapping:1000:0" },
	{ { { EVENT_PORT_UNHEALTHY, SW_B, 5 }, { EVENT_PORT_ISOLATED, SW_B, 5 } },
	  2,
	  "isolated:2000:5 unhealthy:2000:5" },
	{ { { EVENT_PORT_UNHEALTHY, SW_B, 5 },
	    { EVENT_PORT_ISOLATED, SW_B, 5 },
	    { EVENT_PORT_HEALTHY, SW_B, 5 } },
	  3,
	  "" },
	{ { { EVENT_PORT_DISABLED, SW_B, 5 } }, 1, "disabled:2000:5" },
	{ { { EVENT_PORT_DISABLED, SW_A, 1 } }, 1, "" }, /* its cable is in use */
	{ { { EVENT_PORT_DISABLED, SW_B, 5 }, { EVENT_PORT_ENABLED, SW_B, 5 } }, 2, "" },
	{ { { EVENT_SWEEP_FAILED, 0, 0 } }, 1, "sweep_failed:-:0" },
	{ { { EVENT_SWEEP_FAILED, 0, 0 }, { EVENT_SUBNET_UP, 0, 0 } }, 2, "" },
	/* until this one is master again, or a new daemon begins */
	{ { { EVENT_MASTER_LOST, 0, 0 } }, 1, "master_lost:-:0" },
	{ { { EVENT_MASTER_LOST, 0, 0 }, { EVENT_SUBNET_UP, 0, 0 } }, 2, "" },
	{ { { EVENT_MASTER_LOST, 0, 0 }, { EVENT_STARTED, 0, 0 } }, 2, "" },
	{ { { EVENT_SUBNET_UP, 0, 0 }, { EVENT_MASTER_LOST, 0, 0 } },
	  2,
	  "master_lost:-:0" },
	{ { { EVENT_HANDOVER_FAILED, HOST, 1 } }, 1, "sm_conflict:0101:1" },
	{ { { EVENT_HANDOVER_FAILED, HOST, 1 }, { EVENT_SM_GONE, HOST, 1 } }, 2, "" },
	/* the worst first */
	{ { { EVENT_HOST_GONE, ABSENT, 0 },
	    { EVENT_SWEEP_FAILED, 0, 0 },
	    { EVENT_PORT_DISABLED, SW_B, 5 } },
	  3,
	  "sweep_failed:-:0 host_gone:0990:0 disabled:2000:5" },
};

/* The copy of a standby pauses, and goes on; also where no snapshot was ever published. */
START_TEST(test_paused_copy)
{
	if (_i == 1) {
		char dir[200];
		const char *why = "";

		snprintf(dir, sizeof(dir), "%s/standby", w->dir);
		ck_assert_int_eq(mkdir(dir, 0700), 0);
		stats_close(stats);
		ck_assert_int_eq(stats_open(dir, w->a, &why, &stats), E_OK);
		stats_set(stats, "subnet_up", 1);
		source_free(thread.source);
		thread.source = source_new(dir);
	}
	stats_set(stats, "standby_paused", 1);
	stats_text(stats, "standby.trouble", "the disk is full");
	check_alarms(_i == 1 ? "not_ready:-:0 copy_paused:-:0" : "copy_paused:-:0");
	json_t *o = api_json(&thread, 200, "/v1/alarms");
	const json_t *last = json_array_get(json_object_get(o, "alarms"), _i == 1);

	if (_i == 1) { /* else alarms of the fixture's ports follow */
		ck_assert_str_eq(
			json_string_value(json_object_get(last, "text")),
			"the copy of the master's state pauses: the disk is full");
	}
	json_decref(o);
	stats_set(stats, "standby_paused", 0);
	check_alarms(_i == 1 ? "not_ready:-:0" : "");
}
END_TEST

START_TEST(test_events)
{
	for (unsigned i = 0; i < cases[_i].n; i++) {
		happen(cases[_i].event[i].kind, cases[_i].event[i].node,
		       cases[_i].event[i].port);
	}
	check_alarms(cases[_i].alarms);
}
END_TEST

START_TEST(test_ready)
{
	stats_set(stats, "subnet_up", 0);
	check_alarms("not_ready:-:0");
}
END_TEST

START_TEST(test_daemon_gone)
{
	ck_assert_int_eq(stats_commit(stats, 1), E_OK);
	json_t *o = api_json(&thread, 200, "/v1/alarms?limit=1");
	const json_t *a = json_array_get(json_object_get(o, "alarms"), 0);

	ck_assert(json_is_true(json_object_get(o, "stale")));
	ck_assert_str_eq(json_string_value(json_object_get(a, "kind")), "not_ready");
	ck_assert_str_eq(json_string_value(json_object_get(a, "severity")), "critical");
	ck_assert_ptr_nonnull(strstr(json_string_value(json_object_get(a, "text")),
	                             "daemon gone since"));
	ck_assert_ptr_nonnull(json_object_get(o, "next_cursor"));
	json_decref(o);
}
END_TEST

/* An alarm as a whole; what to do is the same for all of its kind. */
static void check_alarm(const json_t *a, const char *want, enum alarm_kind kind)
{
	json_t *o = json_loads(want, 0, NULL);

	ck_assert_msg(o != NULL, "%s", json_dumps(a, 0));
	json_object_set_new(o, "advice", json_string(alarm_types[kind].advice));
	ck_assert_msg(json_equal(a, o), "%s\nnot %s", json_dumps(a, 0), want);
	json_decref(o);
}

/* The first alarm of a kind. */
static const json_t *alarm_of(const json_t *body, const char *kind)
{
	json_t *a;
	size_t i;

	json_array_foreach(json_object_get(body, "alarms"), i, a)
	{
		if (strcmp(json_string_value(json_object_get(a, "kind")), kind) == 0) {
			return a;
		}
	}
	ck_abort_msg("no alarm %s", kind);
}

/* What an event left behind has the names, ports and time of that event. */
START_TEST(test_alarm_of_event)
{
	struct fabric_event e = { .kind = EVENT_CABLE_LOST,
		                  .node_guid = SW_A,
		                  .port = 7,
		                  .time_s = 1767225600,
		                  .node = "left",
		                  .peer_guid = SW_B,
		                  .peer = "right",
		                  .peer_port = 3 };
	uint64_t seq = stats_event(stats, &e);
	char want[512];
	json_t *o;

	ck_assert_int_eq(stats_commit(stats, boottime_ms() + 3600000), E_OK);
	o = api_json(&thread, 200, "/v1/alarms");
	snprintf(
		want, sizeof(want),
		"{\"id\":\"link_down-0x0000000000001000-7\",\"consequence\":{\"pairs_cut\":0,\"hosts_down\":0,\"bisection_lost\":%s,\"next_fault_cuts\":0,\"text\":\"%s\"},\"cause\":null,\"acknowledged\":null,\"maintenance\":false,\"kind\":\"link_down\",\"severity\":\"warning\",\"text\":\"cable lost: 'left' port 7 - 'right' port 3\",\"node\":{\"guid\":\"0x0000000000001000\",\"name\":\"left\",\"port\":7},\"peer\":{\"guid\":\"0x0000000000002000\",\"name\":\"right\",\"port\":3},\"since\":\"2026-01-01T00:00:00Z\",\"event\":%llu,\"with\":0}",
		"1.0", "100 % of the bisection lost", (unsigned long long)seq);
	check_alarm(alarm_of(o, "link_down"), want, ALARM_LINK_DOWN);
	json_decref(o);
}
END_TEST

/* What the snapshot shows has both ends of the cable, and no time. */
START_TEST(test_alarm_of_snapshot)
{
	json_t *o, *a;
	size_t i;
	bool found = false;

	ck_assert_int_eq(stats_commit(stats, boottime_ms() + 3600000), E_OK);
	o = api_json(&thread, 200, "/v1/alarms");
	json_array_foreach(json_object_get(o, "alarms"), i, a)
	{
		const json_t *guid = json_object_get(json_object_get(a, "node"), "guid");

		if (strcmp(json_string_value(guid), "0x0000000000000101") == 0) {
			check_alarm(
				a,
				"{\"id\":\"not_active-0x0000000000000101-1\",\"consequence\":{\"pairs_cut\":0,\"hosts_down\":1,\"bisection_lost\":0.0,\"next_fault_cuts\":0,\"text\":\"1 host down\"},\"cause\":null,\"acknowledged\":null,\"maintenance\":false,\"kind\":\"not_active\",\"severity\":\"error\",\"text\":\"host port 1 - sw-a port 2 is init, not active\",\"node\":{\"guid\":\"0x0000000000000101\",\"name\":\"host\",\"port\":1},\"peer\":{\"guid\":\"0x0000000000001000\",\"name\":\"sw-a\",\"port\":2},\"since\":null,\"event\":null,\"with\":0}",
				ALARM_NOT_ACTIVE);
			found = true;
		}
	}
	ck_assert(found);
	json_decref(o);
}
END_TEST

/* Each cable that is not active has an alarm with both its ends. */
START_TEST(test_not_active)
{
	json_t *o = api_json(&thread, 200, "/v1/alarms"), *a;
	size_t i, n = 0;

	json_array_foreach(json_object_get(o, "alarms"), i, a)
	{
		if (strcmp(json_string_value(json_object_get(a, "kind")), "not_active") ==
		    0) {
			ck_assert(json_is_object(json_object_get(a, "node")));
			ck_assert(json_is_object(json_object_get(a, "peer")));
			ck_assert(json_is_null(json_object_get(a, "since")));
			n++;
		}
	}
	ck_assert_uint_eq(n, w->g->n_links);
	json_decref(o);
}
END_TEST

/* A link is overloaded by what fresh routes would put on the busiest one; before that is known none is. */
START_TEST(test_overloaded)
{
	static const double fresh[] = { 0, 1, 1e6 };
	json_t *o, *a;
	size_t i, n = 0;

	stats_set(stats, STATS_ROUTES_FRESH, fresh[_i]);
	ck_assert_int_eq(stats_commit(stats, boottime_ms() + 3600000), E_OK);
	o = api_json(&thread, 200, "/v1/alarms");
	json_array_foreach(json_object_get(o, "alarms"), i, a)
	{
		n += strcmp(json_string_value(json_object_get(a, "kind")), "overloaded") == 0;
	}
	ck_assert_int_eq(n > 0, _i == 1);
	json_decref(o);
}
END_TEST

/* --- alarms as metrics ------------------------------------------------------------------- */

/* How many series saguaro_alarm have all of these words; each ends with the value 1. */
static unsigned count_series(const char *a, const char *b)
{
	struct api_request rq = { .method = "GET", .target = "/metrics" };
	struct api_reply reply = { 0 };
	unsigned n = 0;

	ck_assert_int_eq(stats_commit(stats, boottime_ms() + 3600000), E_OK);
	api_serve(&thread, &rq, &reply);
	ck_assert_uint_eq(reply.base.status, 200);
	for (char *line = reply.base.body.data, *end; line != NULL && *line != '\0';
	     line = end) {
		end = strchr(line, '\n');
		ck_assert_ptr_nonnull(end);
		*end++ = '\0';
		if (strncmp(line, "saguaro_alarm{", 14) == 0) {
			ck_assert_str_eq(line + strlen(line) - 3, "} 1");
			n += strstr(line, a) != NULL && strstr(line, b) != NULL;
		}
	}
	body_clear(&reply.base.body);
	return n;
}

/* Two ends of a cable; the names may have any bytes. */
static void lose_cable(const char *name, uint64_t node, unsigned port, uint64_t peer,
                       unsigned peer_port)
{
	struct fabric_event e = { .kind = EVENT_CABLE_LOST,
		                  .node_guid = node,
		                  .peer_guid = peer,
		                  .port = (uint8_t)port,
		                  .peer_port = (uint8_t)peer_port,
		                  .time_s = 1767225600,
		                  .node = name,
		                  .peer = "n2" };

	ck_assert_uint_ne(stats_event(stats, &e), 0);
}

/* An alarm of the node, one of a port, and one of the subnet, which has no place. */
START_TEST(test_series)
{
	ck_assert_uint_eq(count_series("alarm=\"host_gone\"", ""), 0);
	happen(EVENT_HOST_GONE, ABSENT, 0);
	happen(EVENT_PORT_DISABLED, SW_B, 5);
	happen(EVENT_SWEEP_FAILED, 0, 0);
	ck_assert_uint_eq(count_series("alarm=\"host_gone\"",
	                               "guid=\"0x0000000000000990\",port=\"0\""),
	                  1);
	ck_assert_uint_eq(count_series("alarm=\"disabled\"",
	                               "guid=\"0x0000000000002000\",port=\"5\""),
	                  1);
	ck_assert_uint_eq(count_series("alarm=\"sweep_failed\"", "port=\"0\",peer=\"\""), 1);
	happen(EVENT_PORT_ENABLED, SW_B, 5);
	ck_assert_uint_eq(count_series("alarm=\"disabled\"", ""), 0);
}
END_TEST

/* A cable is one series, however often it was lost, with both its ends. */
START_TEST(test_series_of_a_cable)
{
	lose_cable("n1", SW_A, 7, SW_B, 6);
	lose_cable("n1", SW_A, 7, SW_B, 6);
	lose_cable("n1", SW_A, 8, SW_B, 7);
	ck_assert_uint_eq(count_series("alarm=\"link_down\"", ""), 2);
	ck_assert_uint_eq(count_series("port=\"7\"", "peer_port=\"6\""), 1);
	ck_assert_uint_eq(count_series("port=\"8\"", "peer_port=\"7\""), 1);
	ck_assert_uint_eq(count_series("node=\"n1\"", "peer=\"n2\""), 2);
}
END_TEST

/* Names come from the fabric, so they must not end a label or a line. */
START_TEST(test_series_with_odd_names)
{
	struct fabric_event e = { .kind = EVENT_HOST_GONE,
		                  .node_guid = ABSENT,
		                  .time_s = 1767225600,
		                  .node = "a\"} 9\nb\\c" };

	ck_assert_uint_ne(stats_event(stats, &e), 0);
	ck_assert_uint_eq(count_series("alarm=\"host_gone\"", "node=\"a\\\"} 9"), 1);
}
END_TEST

/* More alarms than a scrape should have: the worst thousand. */
START_TEST(test_series_are_bounded)
{
	happen(EVENT_PORT_DISABLED, SW_B, 5); /* information only */
	ck_assert_uint_eq(count_series("alarm=\"disabled\"", ""), 1);
	for (unsigned i = 0; i < 1100; i++) {
		happen(EVENT_HOST_GONE, 0x100000 + i, 0);
	}
	ck_assert_uint_eq(count_series("", ""), 1000);
	ck_assert_uint_eq(count_series("alarm=\"disabled\"", ""), 0);
}
END_TEST

/* Switches and a cable that are gone, as the memory of nodes has them. */
enum {
	PART_1 = 0x7001,
	PART_2 = 0x7002,
	PART_3 = 0x7003,
	SYSTEM = 0x7000,
	SYSTEM_2 = 0x7100
};

static const struct {
	uint64_t system[3]; /* of PART_1 to PART_3; 0: not known */
	unsigned n;         /* so many of them are gone */
	const char *alarms;
} chassis[] = {
	{ { SYSTEM, SYSTEM, SYSTEM }, 1, "switch_gone:7001:0" },
	{ { SYSTEM, SYSTEM, SYSTEM }, 2, "chassis_gone:7000:0" },
	{ { SYSTEM, SYSTEM, SYSTEM }, 3, "chassis_gone:7000:0" },
	{ { SYSTEM, SYSTEM_2, SYSTEM }, 3, "chassis_gone:7000:0 switch_gone:7002:0" },
	{ { SYSTEM, SYSTEM_2, 0 },
	  3,
	  "switch_gone:7001:0 switch_gone:7002:0 switch_gone:7003:0" },
	{ { 0, 0, 0 }, 2, "switch_gone:7001:0 switch_gone:7002:0" },
};

static void remember(struct client_row *to, uint8_t *key, uint8_t *value,
                     const struct known_node *n)
{
	known_key(n->node_guid, n->port, key);
	*to = (struct client_row){ key, value, RECORDS_KNOWN, KNOWN_KEY_BYTES,
		                   (uint16_t)known_encode(n, value) };
}

START_TEST(test_chassis)
{
	enum { ROWS = 6 };
	struct client_row row[ROWS];
	uint8_t key[ROWS][KNOWN_KEY_BYTES], value[ROWS][KNOWN_ROW_MAX];
	struct snap_published done;
	unsigned n = 0, gone = chassis[_i].n;
	json_t *o;

	for (unsigned i = 0; i < gone; i++) {
		remember(&row[n], key[n], value[n],
		         &(struct known_node){ .node_guid = PART_1 + i,
		                               .port_guid = PART_1 + i,
		                               .system_guid = chassis[_i].system[i],
		                               .type = NODE_SWITCH,
		                               .first_s = 1,
		                               .gone_s = 2,
		                               .cause = KNOWN_GONE });
		n++;
		happen(EVENT_SWITCH_GONE, PART_1 + i, 0);
		/* a cable of the first one to the second, and one of both to a switch that is there */
		for (unsigned k = 1 + i; k <= 2; k++) {
			remember(&row[n], key[n], value[n],
			         &(struct known_node){ .node_guid = PART_1 + i,
			                               .port = (uint8_t)k,
			                               .switch_guid =
			                                       k == 1 ? PART_2 : SW_A,
			                               .switch_port = 9,
			                               .type = NODE_SWITCH,
			                               .first_s = 1,
			                               .gone_s = 2 });
			n++;
		}
	}
	ck_assert_int_eq(snap_mirror(w->w, row, n, true, 1, &done), E_OK);
	check_alarms(chassis[_i].alarms);
	if (strncmp(chassis[_i].alarms, "chassis_gone", 12) == 0) {
		char want[120];
		unsigned with = 0;
		const json_t *a;

		for (unsigned i = 0; i < gone; i++) {
			with += chassis[_i].system[i] == SYSTEM;
		}
		/* a cable within it counts once */
		snprintf(
			want, sizeof(want),
			"the system 0x0000000000007000 of 'n' is gone with its %u switches: 0 hosts, %u cables",
			with, chassis[_i].system[1] == SYSTEM ? 3 : 2);
		o = api_json(&thread, 200, "/v1/alarms");
		a = alarm_of(o, "chassis_gone");
		ck_assert_str_eq(json_string_value(json_object_get(a, "text")), want);
		ck_assert_int_eq(json_integer_value(json_object_get(a, "with")), with);
		json_decref(o);
	}
}
END_TEST

/* A system of which one switch is left is not gone. */
START_TEST(test_chassis_in_part)
{
	struct client_row row[2];
	uint8_t key[2][KNOWN_KEY_BYTES], value[2][KNOWN_ROW_MAX];
	struct snap_published done;

	w->g->nodes[w->g->switches[0]].system_image_guid = SYSTEM;
	query_fixture_publish(w, PATH_MINIMAL);
	for (unsigned i = 0; i < 2; i++) {
		remember(&row[i], key[i], value[i],
		         &(struct known_node){ .node_guid = PART_1 + i,
		                               .port_guid = PART_1 + i,
		                               .system_guid = SYSTEM,
		                               .type = NODE_SWITCH,
		                               .first_s = 1,
		                               .gone_s = 2 });
		happen(EVENT_SWITCH_GONE, PART_1 + i, 0);
	}
	ck_assert_int_eq(snap_mirror(w->w, row, 2, true, 1, &done), E_OK);
	check_alarms("switch_gone:7001:0 switch_gone:7002:0");
}
END_TEST

/* Switches that are gone, with their cables: who went by itself, and who is only cut off? Digits name the parts, 0 a switch
 * that is there. */
static const struct {
	const char *what;
	int64_t gone_s[4]; /* of PART_1 and so on; 0: it is there */
	uint64_t system[4];
	const char *cables; /* "01 12" */
	const char *alarms;
	const char *text; /* in that of one of them */
} behind[] = {
	{ "the only way to two leaves", { 5, 5, 5 }, { 0 }, "01 12 13",
	  "switch_gone:7001:0", "0 hosts, 3 cables; 2 switches with 1 host behind it are cut off" },
	{ "the same, and a sweep found it in two steps", { 5, 6 }, { 0 }, "01 12",
	  "switch_gone:7001:0", "0 hosts, 2 cables; 1 switch with 1 host behind it is cut off" },
	{ "a leaf that died before", { 6, 5, 6 }, { 0 }, "01 12 13",
	  "switch_gone:7002:0 switch_gone:7001:0", "0 hosts, 3 cables; 1 switch behind it is cut off" },
	{ "a chain, and a ring at its end", { 5, 5, 5, 5 }, { 0 }, "01 12 23 24 34",
	  "switch_gone:7001:0", "; 3 switches with 1 host behind it are cut off" },
	{ "another cable leads to the fabric", { 5, 5 }, { 0 }, "01 12 02",
	  "switch_gone:7002:0 switch_gone:7001:0", ": 1 host, 3 cables" },
	{ "the last of two ways", { 7, 8, 8 }, { 0 }, "02 12 03 01 23",
	  "switch_gone:7002:0 switch_gone:7001:0 switch_gone:7003:0", ": 1 host, 4 cables" },
	{ "two ways, one after the other", { 5, 9, 9 }, { 0 }, "01 03 12 23",
	  "switch_gone:7003:0 switch_gone:7001:0", "; 1 switch with 1 host behind it is cut off" },
	{ "cables that nobody knows", { 5, 5 }, { 0 }, "01",
	  "switch_gone:7002:0 switch_gone:7001:0", ": 0 hosts, 1 cable" },
	{ "a director behind a switch", { 5, 5, 5 }, { 0, SYSTEM, SYSTEM }, "01 12 13 23",
	  "switch_gone:7001:0", "; 2 switches with 1 host behind it are cut off" },
	{ "a switch behind a director", { 5, 5, 5, 5 }, { SYSTEM, SYSTEM, SYSTEM }, "01 02 13 24 23",
	  "chassis_gone:7000:0", "; 1 switch behind it is cut off" },
	{ "what is in a director is not behind it", { 5, 5, 5 }, { SYSTEM, SYSTEM, SYSTEM }, "01 03 12 23",
	  "chassis_gone:7000:0", "its 3 switches: 1 host, 5 cables" },
};

START_TEST(test_behind)
{
	enum { ROWS = 16 };
	struct client_row row[ROWS];
	uint8_t key[ROWS][KNOWN_KEY_BYTES], value[ROWS][KNOWN_ROW_MAX], cables[4] = { 0 };
	struct snap_published done;
	unsigned n = 0;

	for (unsigned i = 0; i < 4 && behind[_i].gone_s[i] != 0; i++) {
		struct known_node of = { .node_guid = PART_1 + i,
			                 .port_guid = PART_1 + i,
			                 .system_guid = behind[_i].system[i],
			                 .type = NODE_SWITCH,
			                 .first_s = 1,
			                 .gone_s = behind[_i].gone_s[i],
			                 .cause = KNOWN_GONE };

		remember(&row[n], key[n], value[n], &of);
		n++;
		happen(EVENT_SWITCH_GONE, PART_1 + i, 0);
		for (const char *c = behind[_i].cables; *c != '\0'; c += c[2] != '\0' ? 3 : 2) {
			/* by its lower end, which has the row */
			unsigned low = (unsigned)(c[0] - '0'), high = (unsigned)(c[1] - '0');

			if ((low != 0 ? low : high) != i + 1) {
				continue;
			}
			of.port = ++cables[i];
			of.switch_guid = low != 0 ? PART_1 + high - 1 : SW_A;
			of.switch_port = 9;
			remember(&row[n], key[n], value[n], &of);
			n++;
		}
	}
	/* a host on the second one */
	remember(&row[n], key[n], value[n],
	         &(struct known_node){ .node_guid = 0x9001,
	                               .port_guid = 0x9001,
	                               .port = 1,
	                               .switch_guid = PART_2,
	                               .switch_port = 20,
	                               .type = NODE_CA,
	                               .first_s = 1,
	                               .gone_s = 9,
	                               .cause = KNOWN_SWITCH_GONE });
	n++;
	happen(EVENT_HOST_GONE, 0x9001, 0);
	ck_assert_int_eq(snap_mirror(w->w, row, n, true, 1, &done), E_OK);
	check_alarms(behind[_i].alarms);
	json_t *o = api_json(&thread, 200, "/v1/alarms"), *a;
	bool found = false;
	size_t i;

	json_array_foreach(json_object_get(o, "alarms"), i, a)
	{
		found |= strstr(json_string_value(json_object_get(a, "text")), behind[_i].text) !=
		         NULL;
	}
	ck_assert_msg(found, "%s: no '%s'", behind[_i].what, behind[_i].text);
	json_decref(o);
}
END_TEST

/* A host that left with this epoch, before a sweep noted it, and one that is there. */
START_TEST(test_just_left)
{
	static const char *const said[] = {
		"'departed' has just left the fabric, it was on sw-x port 7",
		"'departed' is gone since 1970-01-01T00:00:02Z, it was on sw-x port 7: its link is down",
		NULL, /* its node is there, and nobody has the name of the row */
	};
	struct known_node n = { .node_guid = _i == 2 ? HOST : ABSENT,
		                .port_guid = ABSENT,
		                .switch_guid = 0x8000,
		                .first_s = 1,
		                .gone_s = _i == 1 ? 2 : 0,
		                .port = 1,
		                .switch_port = 7,
		                .type = NODE_CA,
		                .cause = KNOWN_LINK_DOWN,
		                .name = "departed",
		                .switch_name = "sw-x" };
	static const char *const paths[] = { "/v1/nodes/departed",
		                             "/paths?src=departed&dst=host",
		                             "/v1/nodes/departed:1" };
	struct client_row row;
	uint8_t key[KNOWN_KEY_BYTES], value[KNOWN_ROW_MAX];
	struct snap_published done;

	remember(&row, key, value, &n);
	ck_assert_int_eq(snap_mirror(w->w, &row, 1, true, 1, &done), E_OK);
	for (unsigned i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		json_t *o = api_json(&thread, 404, "%s", paths[i]);
		const char *detail = json_string_value(json_object_get(o, "detail"));

		if (said[_i] != NULL) {
			ck_assert_str_eq(detail, said[_i]);
			ck_assert_str_eq(json_string_value(json_object_get(o, "reason")),
			                 "gone");
		} else {
			ck_assert_ptr_null(strstr(detail, "fabric"));
		}
		json_decref(o);
	}
}
END_TEST

TEST_SUITE(api_alarms)
{
	TCase *t = tcase_create("api_alarms");

	tcase_add_checked_fixture(t, start, stop);
	tcase_add_loop_test(t, test_events, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_loop_test(t, test_paused_copy, 0, 2);
	tcase_add_test(t, test_alarm_of_event);
	tcase_add_test(t, test_alarm_of_snapshot);
	tcase_add_loop_test(t, test_overloaded, 0, 3);
	tcase_add_loop_test(t, test_chassis, 0, sizeof(chassis) / sizeof(chassis[0]));
	tcase_add_test(t, test_chassis_in_part);
	tcase_add_loop_test(t, test_behind, 0, sizeof(behind) / sizeof(behind[0]));
	tcase_add_loop_test(t, test_just_left, 0, 3);
	tcase_add_test(t, test_ready);
	tcase_add_test(t, test_daemon_gone);
	tcase_add_test(t, test_not_active);
	tcase_add_test(t, test_series);
	tcase_add_test(t, test_series_of_a_cable);
	tcase_add_test(t, test_series_with_odd_names);
	tcase_add_test(t, test_series_are_bounded);
	suite_add_tcase(suite, t);
}

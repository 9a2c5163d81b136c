/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* /v1/events and the text of a feed. The text follows WHATWG HTML, 9.2 "Server-sent events":
 * fields of a line each, an empty line behind each event. */
#include <inttypes.h>

#include "conf/base/clock.h"
#include "gateway/api/feed.h"
#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "tests/lib/api_json.h"
#include "tests/lib/gateway_fixture.h"
#include "tests/lib/suite.h"

static struct gateway_fixture world;
static struct http_stats stats;
static struct api_thread thread;

static void setup(void)
{
	static char *args[] = { (char *)"4", (char *)"4", (char *)"2", NULL };

	gateway_fixture_init(&world, "ft2", 3, args);
	gateway_fixture_open(&world);
	memset(&stats, 0, sizeof(stats));
	thread = (struct api_thread){ .source = source_new(world.dir), .stats = &stats };
}

static void teardown(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
	gateway_fixture_done(&world);
}

static void add(enum event_kind kind, const char *node, uint64_t guid)
{
	const struct fabric_event e = { .kind = kind,
		                        .time_s = 1767225600,
		                        .node = node,
		                        .node_guid = guid,
		                        .port = 3,
		                        .peer = "spine",
		                        .peer_guid = 7,
		                        .peer_port = 4,
		                        .epoch = 5,
		                        .cause = "trap: x" };

	stats_event(world.stats, &e);
}

static void commit(void)
{
	gateway_fixture_heartbeat(&world, 0, true);
}

/* Hosts, switches and cables in turn. */
static void add_many(unsigned n)
{
	static const enum event_kind kinds[] = { EVENT_HOST_GONE, EVENT_SWITCH_NEW,
		                                 EVENT_CABLE_LOST };
	char name[20];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "node-%u", i % 10);
		add(kinds[stats_event_next(world.stats) % 3], name, 100 + i);
	}
	commit();
}

/* The numbers in a list. */
static void check_ids(const json_t *body, uint64_t first, unsigned step, size_t n)
{
	const json_t *list = json_object_get(body, "events");

	ck_assert_uint_eq(json_array_size(list), n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_int_eq(json_integer_value(json_object_get(json_array_get(list, i),
		                                                    "id")),
		                 (json_int_t)(first + i * step));
	}
}

static json_int_t number(const json_t *body, const char *name)
{
	return json_integer_value(json_object_get(body, name));
}

START_TEST(members)
{
	json_t *body, *want, *e;

	add(EVENT_CABLE_LOST, "leaf\x1b\xff", 0x10);
	commit();
	body = api_json(&thread, 200, "/v1/events");
	ck_assert_int_eq(number(body, "first"), 1);
	ck_assert_int_eq(number(body, "next"), 2);
	ck_assert_ptr_null(json_object_get(body, "resync"));
	e = json_array_get(json_object_get(body, "events"), 0);
	want = json_loads(
		"{\"id\":1,\"time\":\"2026-01-01T00:00:00Z\",\"kind\":\"cable_lost\",\"severity\":\"warning\",\"text\":\"cable lost: 'leaf\\u001b\\ufffd' port 3 - 'spine' port 4\",\"node\":{\"guid\":\"0x0000000000000010\",\"name\":\"leaf\\u001b\\ufffd\",\"port\":3},\"peer\":{\"guid\":\"0x0000000000000007\",\"name\":\"spine\",\"port\":4},\"cause\":\"trap: x\",\"epoch\":5,\"duration_ms\":0,\"paths_moved\":0,\"lft_blocks\":0,\"clock_ms\":0}",
		0, NULL);
	ck_assert_ptr_nonnull(want);
	ck_assert_msg(json_equal(e, want), "%s", json_dumps(e, 0));
	json_decref(want);
	json_decref(body);
}
END_TEST

START_TEST(pages)
{
	json_t *body;
	uint64_t since = 0;
	unsigned n = 0;

	body = api_json(&thread, 503, "/v1/events");
	ck_assert_ptr_nonnull(body);
	json_decref(body);
	add_many(1500);
	body = api_json(&thread, 200, "/v1/events");
	check_ids(body, 1, 1, 1500);
	ck_assert_ptr_null(json_object_get(body, "next_since"));
	json_decref(body);
	for (json_int_t next = 0; next >= 0;) {
		body = api_json(&thread, 200, "/v1/events?limit=400&kind=host_gone&since=%" PRIu64,
		                since);
		size_t got = json_array_size(json_object_get(body, "events"));
		check_ids(body, since == 0 ? 3 : n * 3 + 3, 3, got);
		n += got;
		next = json_object_get(body, "next_since") != NULL ? number(body, "next_since")
		                                                   : -1;
		since = (uint64_t)next;
		ck_assert(next < 0 || got == 400);
		json_decref(body);
	}
	ck_assert_uint_eq(n, 500);
	/* the last so many that match, also over several batches */
	body = api_json(&thread, 200, "/v1/events?last=4&kind=host_gone");
	check_ids(body, 1491, 3, 4);
	json_decref(body);
	body = api_json(&thread, 200, "/v1/events?last=450&kind=host_gone");
	check_ids(body, 153, 3, 450);
	json_decref(body);
	body = api_json(&thread, 200, "/v1/events?last=99999");
	check_ids(body, 1, 1, 1500);
	json_decref(body);
	body = api_json(&thread, 200, "/v1/events?last=0");
	check_ids(body, 0, 0, 0);
	json_decref(body);
	body = api_json(&thread, 200, "/v1/events?since=1500");
	check_ids(body, 0, 0, 0);
	ck_assert_ptr_null(json_object_get(body, "resync"));
	json_decref(body);
}
END_TEST

/* clang-format off */
static const struct {
	const char *query;
	size_t n; /* of node-0 to node-9, three times */
} filters[] = {
	{ "node=node-3", 3 },
	{ "node=node-*", 30 },
	{ "node=*-3", 3 },
	{ "node=n?de-%3f", 30 },
	{ "node=0x0000000000000064", 1 },
	{ "node=spine", 30 },
	{ "node=spin", 0 },
	{ "node=", 30 },
	{ "node=*a*a*a*a*a*a*a*a*a*a*a*a*b", 0 },
	{ "kind=host_gone", 10 },
	{ "kind=host_gone,cable_lost", 20 },
	{ "kind=host_gone&node=node-0", 1 },
	{ "kind=host_new", 0 },
};

static const char *const refused[] = {
	"kind=", "kind=host", "kind=host_gone,", "kind=,host_gone", "since=x", "since=-1",
	"since=18446744073709551615", "last=1&since=1", "limit=0", "foo=1",
};
/* clang-format on */

START_TEST(filter)
{
	json_t *body;

	add_many(30);
	body = api_json(&thread, 200, "/v1/events?%s", filters[_i].query);
	ck_assert_uint_eq(json_array_size(json_object_get(body, "events")), filters[_i].n);
	json_decref(body);
}
END_TEST

START_TEST(refusal)
{
	add_many(3);
	json_decref(api_json(&thread, 400, "/v1/events?%s", refused[_i]));
}
END_TEST

/* --- feeds ------------------------------------------------------------------------------- */

static struct feed_page page;

/* All that a feed has to say now. */
static void pull(struct feed *f, struct body *out)
{
	body_clear(out);
	while (feed_pull(f, &page, thread.source, boottime_ms(), out)) {
	}
	ck_assert_int_eq(body_done(out), E_OK);
}

/* Counts events in a text and checks that their numbers ascend by a step. */
static void check_feed(const struct body *out, uint64_t first, unsigned step, unsigned n)
{
	const char *p = out->data != NULL ? out->data : "";

	for (unsigned i = 0; i < n; i++) {
		char id[40];
		int len = snprintf(id, sizeof(id), "id: %" PRIu64 "\ndata: {\"id\":%" PRIu64 ",",
		                   first + (uint64_t)i * step, first + (uint64_t)i * step);

		ck_assert_msg(strncmp(p, id, (size_t)len) == 0, "%u: %.80s", i, p);
		p = strstr(p, "}\n\n");
		ck_assert_ptr_nonnull(p);
		p += 3;
	}
	ck_assert_str_eq(p, "");
}

START_TEST(feed_goes_on)
{
	struct feed f = { .at = 0 }, all = { .at = 0 };
	struct body out = { .len = 0 };
	const uint64_t none = 0;

	feed_begin(&f, thread.source, boottime_ms(), NULL);
	pull(&f, &out); /* before the daemon has reported anything */
	check_feed(&out, 0, 0, 0);
	add_many(300);
	pull(&f, &out);
	check_feed(&out, 1, 1, 300);
	pull(&f, &out);
	check_feed(&out, 0, 0, 0);
	feed_begin(&f, thread.source, boottime_ms(), NULL); /* what comes from now on */
	feed_head(&f, &out);
	ck_assert_str_eq(out.data, "retry: 2000\nid: 300\n\n");
	feed_begin(&all, thread.source, boottime_ms(), &none);
	all.filter.some_kinds = all.filter.kind[EVENT_HOST_GONE] = true;
	add_many(2);
	pull(&f, &out);
	check_feed(&out, 301, 1, 2);
	pull(&all, &out); /* others at other places use the same page */
	check_feed(&out, 3, 3, 100);
	body_clear(&out);
	feed_heartbeat(&all, &out); /* what did not match is not asked for again */
	ck_assert_str_eq(out.data, ":\nid: 302\n\n");
	body_clear(&out);
	feed_heartbeat(&all, &out);
	ck_assert_str_eq(out.data, ":\n\n");
	body_clear(&out);
	feed_page_clear(&page);
}
END_TEST

/* A client whose number is not in the history is told so, and gets what there is. */
START_TEST(feed_resyncs)
{
	static const uint64_t since[] = { 0, 3, 19, 100 };
	static const char *const why[] = { "trimmed", "trimmed", NULL, "unknown" };
	struct feed f = { .at = 0 };
	struct body out = { .len = 0 };

	stats_event_limit(world.stats, 5);
	add_many(20); /* 16 to 20 are kept */
	feed_begin(&f, thread.source, boottime_ms(), &since[_i]);
	pull(&f, &out);
	if (why[_i] == NULL) {
		check_feed(&out, 20, 1, 1);
	} else {
		char text[200];
		size_t len = (size_t)snprintf(
			text, sizeof(text),
			"event: resync\nid: 15\ndata: {\"reason\":\"%s\",\"first\":16,\"next\":21}\n\n",
			why[_i]);

		ck_assert_msg(strncmp(out.data, text, len) == 0, "%s", out.data);
		memmove(out.data, out.data + len, out.len - len + 1);
		check_feed(&out, 16, 1, 5);
	}
	/* and a listener that lags behind the history as well */
	add_many(20);
	pull(&f, &out);
	ck_assert_msg(strncmp(out.data, "event: resync\nid: 35\n", 21) == 0, "%s", out.data);
	body_clear(&out);
	feed_page_clear(&page);
}
END_TEST

TEST_SUITE(api_events)
{
	TCase *t = tcase_create("events");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, members);
	tcase_add_test(t, pages);
	tcase_add_loop_test(t, filter, 0, sizeof(filters) / sizeof(filters[0]));
	tcase_add_loop_test(t, refusal, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(t, feed_goes_on);
	tcase_add_loop_test(t, feed_resyncs, 0, 4);
	suite_add_tcase(suite, t);
}

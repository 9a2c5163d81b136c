/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Memory runs out at any place of a request to the gateway: the answer is whole, or it is an error.
 */
#include <check.h>
#include <stdlib.h>

#include "db/stats/stats.h"
#include "gateway/api/metrics.h"
#include "gateway/view/source.h"
#include "tests/alloc/alloc_fail.h"
#include "tests/lib/api_json.h"
#include "tests/lib/rich_fixture.h"
#include "tests/lib/suite.h"

static struct query_fixture *w;
static struct http_stats http;
static struct stats *stats;
static struct api_thread thread;

static void start(void)
{
	rich_fixture_start(&w, &stats);
	body_watch_json();
}

static void stop(void)
{
	rich_fixture_stop(w, stats);
}

static const char *const targets[] = {
	"/v1/paths?src=host&dst=dual:2&hops=1&mode=srcdstall",
	"/v1/fabric",
	"/v1/nodes",
	"/v1/nodes/sw-a",
	"/v1/links",
	"/v1/ports?limit=3&type=ca",
	"/v1/counters?errors=1&node=sw-a",
	"/v1/load?limit=1",
	"/v1/topology?hosts=1&switches=1",
	"/v1/alarms?limit=2&children=1",
	"/v1/lids?limit=1",
	"/v1/switches/sw-a/lft",
	"/v1/groups/0xc001",
	"/v1/partitions/Red",
	"/ufmRest/resources/systems?type=host",
	"/ufmRest/resources/ports?system=sw-a",
	"/ufmRest/resources/links",
	"/v1/events?last=3",
	"/v1/sm",
	"/v1/services",
	"/v1/sweeps?limit=1",
	"/v1/routing",
	"/v1/records/NodeRecord?limit=1",
	"/readyz",
	"/v1/known?gone=1",
	"/v1/known?cables=1",
	"/v1/maintenance",
	"/v1/links/health",
	"/v1/diff",
	"/v1/switches/sw-a/alternates",
	"/v1/jobs",
	"/v1/jobs/7",
	"/v1/partitions",
	"/v1/groups",
	"/v1/records",
	"/v1/export",
	"/v1/events?kind=host_gone&node=sw-*",
	/* streams, of which only the begin is asked for */
	"/metrics/fabric",
	"/v1/export/topology",
	"/v1/ports?stream=1",
};

enum { N_TARGETS = sizeof(targets) / sizeof(targets[0]) };

/* \param ret_stream  The answer goes on as a stream. */
static unsigned ask(const char *target, struct body *ret_body, bool *ret_stream)
{
	struct api_request rq = { .method = "GET", .target = target };
	struct api_reply reply = { 0 };

	api_serve(&thread, &rq, &reply);
	*ret_stream = reply.stream != NULL;
	stream_free(reply.stream);
	*ret_body = reply.base.body;
	return reply.base.status;
}

/* A thread that has opened the files. */
static void begin(void)
{
	struct body b;
	bool stream;

	thread = (struct api_thread){ .source = source_new(w->dir), .stats = &http };
	ck_assert_uint_eq(ask("/v1/sm", &b, &stream), 200);
	body_clear(&b);
}

static void end(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
}

static json_t *parsed(const struct body *b)
{
	return b->len > 0 ? json_loadb(b->data, b->len, 0, NULL) : NULL;
}

START_TEST(request_without_memory)
{
	const char *target = targets[_i / 2];
	json_t *whole[2];
	bool streams, stream;
	struct body b;

	for (unsigned i = 0; i < 2; i++) {
		begin();
		ck_assert_uint_eq(ask(target, &b, &streams), 200);
		whole[i] = parsed(&b);
		ck_assert(streams || whole[i] != NULL);
		body_clear(&b);
		end();
	}
	bool steady = json_equal(whole[0], whole[1]); /* no times in it */

	for (size_t n = 1;; n++) {
		begin();
		if (_i % 2 == 0) {
			alloc_fail_at(n);
		} else {
			alloc_fail_from(n);
		}
		unsigned status = ask(target, &b, &stream);
		bool any = alloc_fail_end();

		ck_assert_msg(status == 200 || (any && status >= 500), "%s: %u", target, status);
		if (status == 200 && streams) {
			ck_assert_msg(stream, "%s: allocation %zu fails, and nothing comes", target,
			              n);
		} else if (status == 200) {
			json_t *got = parsed(&b);

			ck_assert_msg(got != NULL && json_object_size(got) ==
			                                     json_object_size(whole[0]) &&
			                      (!steady || json_equal(got, whole[0])),
			              "%s: allocation %zu fails, and the answer is %.600s", target,
			              n, b.len > 0 ? b.data : "");
			json_decref(got);
		}
		body_clear(&b);
		end();
		if (!any) {
			break;
		}
	}
	json_decref(whole[0]);
	json_decref(whole[1]);
}
END_TEST

/* json_set_alloc_funcs() is for a process. */
TEST_SUITE_FORKED(api_alloc)
{
	TCase *t = tcase_create("api_alloc");

	tcase_set_timeout(t, 60); /* each allocation of a request fails once */
	tcase_add_checked_fixture(t, start, stop);
	tcase_add_loop_test(t, request_without_memory, 0, 2 * N_TARGETS);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Memory runs out at any place of a request to the gateway: the answer is whole, or it is an error.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

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

/* Requests: GET, or with a body POST. */
static const struct {
	const char *target, *type, *body;
} targets[] = {
	{ "/v1/paths?src=host&dst=dual:2&hops=1&mode=srcdstall", NULL, NULL },
	{ "/v1/fabric", NULL, NULL },
	{ "/v1/nodes", NULL, NULL },
	{ "/v1/nodes/sw-a", NULL, NULL },
	{ "/v1/links", NULL, NULL },
	{ "/v1/ports?limit=3&type=ca", NULL, NULL },
	{ "/v1/counters?errors=1&node=sw-a", NULL, NULL },
	{ "/v1/load?limit=1", NULL, NULL },
	{ "/v1/topology?hosts=1&switches=1", NULL, NULL },
	{ "/v1/alarms?limit=2&children=1", NULL, NULL },
	{ "/v1/lids?limit=1", NULL, NULL },
	{ "/v1/switches/sw-a/lft", NULL, NULL },
	{ "/v1/groups/0xc001", NULL, NULL },
	{ "/v1/partitions/Red", NULL, NULL },
	{ "/ufmRest/resources/systems?type=host", NULL, NULL },
	{ "/ufmRest/resources/ports?system=sw-a", NULL, NULL },
	{ "/ufmRest/resources/links", NULL, NULL },
	{ "/v1/events?last=3", NULL, NULL },
	{ "/v1/sm", NULL, NULL },
	{ "/v1/services", NULL, NULL },
	{ "/v1/sweeps?limit=1", NULL, NULL },
	{ "/v1/routing", NULL, NULL },
	{ "/v1/records/NodeRecord?limit=1", NULL, NULL },
	{ "/readyz", NULL, NULL },
	{ "/v1/known?gone=1", NULL, NULL },
	{ "/v1/known?cables=1", NULL, NULL },
	{ "/v1/maintenance", NULL, NULL },
	{ "/v1/links/health", NULL, NULL },
	{ "/v1/diff", NULL, NULL },
	{ "/v1/switches/sw-a/alternates", NULL, NULL },
	{ "/v1/jobs", NULL, NULL },
	{ "/v1/jobs/7", NULL, NULL },
	{ "/v1/partitions", NULL, NULL },
	{ "/v1/groups", NULL, NULL },
	{ "/v1/records", NULL, NULL },
	{ "/v1/export", NULL, NULL },
	{ "/v1/events?kind=host_gone&node=sw-*", NULL, NULL },
	/* streams, of which only the begin is asked for */
	{ "/metrics/fabric", NULL, NULL },
	{ "/v1/export/topology", NULL, NULL },
	{ "/v1/ports?stream=1", NULL, NULL },
	{ "/v1/paths:batch", "application/x-ndjson", "[\"host\",\"dual:2\"]\n[2,4]\n" },
	/* those that a run of `saguaro` answers; without long strings, because jansson
	 * 2.14 reads beyond one for which it could not get a larger buffer */
	{ "/v1/whatif", "application/json", "{\"down\":[\"sw-a:1\"],\"lmc\":1}" },
	{ "/v1/compare", "application/json", "{\"seconds\":1}" },
	{ "/v1/check", "application/json", "{\"strict\":true}" },
	{ "/v1/plan", "text/plain", "Switch 8 \"S-1\"\n" },
};

enum { N_TARGETS = sizeof(targets) / sizeof(targets[0]), SM = 18 /* "/v1/sm" */ };

/* \param ret_stream  The answer goes on as a stream, or comes from a run of `saguaro`. */
static unsigned ask(unsigned i, struct body *ret_body, bool *ret_stream)
{
	const char *body = targets[i].body;
	struct api_request rq = { .method = body != NULL ? "POST" : "GET",
		                  .target = targets[i].target,
		                  .content_type = targets[i].type,
		                  .body = body,
		                  .body_len = body != NULL ? strlen(body) : 0 };
	struct api_reply reply = { 0 };

	api_serve(&thread, &rq, &reply);
	*ret_stream = reply.stream != NULL || reply.job != NULL;
	arena_free(reply.arena);
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
	ck_assert_uint_eq(ask(SM, &b, &stream), 200);
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
	const char *target = targets[_i / 2].target;
	json_t *whole[2];
	bool streams, stream;
	struct body b;

	for (unsigned i = 0; i < 2; i++) {
		begin();
		ck_assert_uint_eq(ask((unsigned)_i / 2, &b, &streams), 200);
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
		unsigned status = ask((unsigned)_i / 2, &b, &stream);
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

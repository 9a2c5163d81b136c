/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Requests to the gateway: a request line, headers, a body. Each answer has a status that
 * belongs to HTTP and a body of the type that it names: JSON where it says so, and nothing where
 * nothing has changed. A stream comes to its end. A body that is sent encoded is not longer than
 * a little more than the plain one.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "gateway/api/api.h"
#include "gateway/api/feed.h"
#include "gateway/api/metrics.h"
#include "gateway/api/stream.h"
#include "gateway/httpd/encoding.h"
#include "gateway/view/origin.h"
#include "gateway/view/source.h"
#include "tests/fuzz/fuzz.h"
#include "tests/lib/query_fixture.h"

static struct query_fixture *world;
static struct http_stats stats;
static struct api_thread thread;

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static void stop(void)
{
	api_thread_done(&thread);
	source_free(thread.source);
	query_fixture_free(world);
}

static void start(void)
{
	log_set_level(LOG_LEVEL_ERROR);
	world = query_fixture_small(1, 1, PATH_ORDERALL);
	thread.stats = &stats;
	thread.source = source_new(world->dir);
	require(thread.source != NULL);
	atexit(stop);
}

static const char *const methods[] = { "GET", "HEAD", "POST", "OPTIONS", "DELETE" };

/* What a client may send in place of a header: a line "i: value". */
static void take_header(struct api_request *rq, const char **host, const char **encoding,
                        char *line)
{
	const char *value = line[0] != '\0' && line[1] == ':' ? line + 2 : "";

	switch (line[0]) {
	case 'i': rq->if_none_match = value; break;
	case 'a': rq->accept = value; break;
	case 'l': rq->last_event_id = value; break;
	case 'c': rq->content_type = value; break;
	case 'e': *encoding = value; break;
	case 'h': *host = value; break;
	default: break;
	}
}

static void check_body(const struct api_request *rq, const struct api_reply *r,
                       enum encoding e)
{
	struct body packed = { .len = 0 };

	if (r->base.body.len == 0) {
		return;
	}
	if (strncmp(r->base.content_type, "application/json", 16) == 0 ||
	    strncmp(r->base.content_type, "application/problem+json", 24) == 0) {
		json_t *o = json_loadb(r->base.body.data, r->base.body.len, 0, NULL);

		require(o != NULL);
		json_decref(o);
	}
	if (e != ENCODING_NONE) {
		require(encoding_pack(e, r->base.body.data, r->base.body.len, &packed) ==
		        E_OK);
		require(packed.len <= r->base.body.len + r->base.body.len / 8 + 64);
		body_clear(&packed);
	}
	require(r->base.status != 304 && r->base.status != 204);
	(void)rq;
}

static void pull_stream(struct stream *s)
{
	char block[4096];
	size_t n, total = 0;

	while ((n = stream_read(s, block, sizeof(block))) > 0) {
		total += n;
		require(total < 64u << 20);
	}
	stream_free(s);
}

static void send_request(const struct api_request *rq, const char *host,
                         const char *encoding)
{
	static const struct origin_rules rules = { .machine = "sm.example" };
	struct api_reply r;
	size_t most = 0;

	(void)origin_host_fits(&rules, host);
	(void)api_expects_body(rq->method, rq->target, &most);
	require(most <= API_PLAN_BYTES);
	api_serve(&thread, rq, &r);
	require(r.base.status >= 200 && r.base.status < 600);
	require(r.base.status < 500 || r.base.status == 503);
	require((r.base.status != 405 && r.base.status != 204) ||
	        r.base.allow[0] != '\0');
	require(strlen(r.base.etag) < sizeof(r.base.etag));
	check_body(rq, &r, encoding_choose(encoding));
	body_clear(&r.base.body);
	if (r.stream != NULL) {
		pull_stream(r.stream);
	}
	free(r.feed);
	if (r.job != NULL) {
		arena_free(r.arena); /* no program is run here */
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *host = NULL, *encoding = NULL;
	struct api_request rq = { .method = "GET" };

	if (world == NULL) {
		start();
	}
	char *text = malloc(size + 1);
	require(text != NULL);
	memcpy(text, data, size);
	text[size] = '\0';
	char *rest = text + strlen(text); /* a NUL ends the head, too */
	char *end = strstr(text, "\n\n");
	char *body = end != NULL ? end + 2 : rest;
	if (end != NULL) {
		*end = '\0';
	}
	char *saved = NULL;
	(void)strtok_r(text, "\n", &saved);
	for (char *line; (line = strtok_r(NULL, "\n", &saved)) != NULL;) {
		take_header(&rq, &host, &encoding, line);
	}
	if (text[0] >= '0' && text[0] < '5') {
		rq.method = methods[text[0] - '0'];
	}
	rq.target = text[0] != '\0' ? text + 1 : text;
	rq.encoding = encoding_name(encoding_choose(encoding));
	rq.body = body;
	rq.body_len = (size_t)(text + size - body);
	send_request(&rq, host, encoding);
	free(text);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/api/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/api/metrics.h"
#include "gateway/inventory/inventory.h"
#include "gateway/view/accept.h"
#include "gateway/view/json_text.h"
#include "gateway/view/path_params.h"
#include "gateway/view/source.h"
#include "routing/graph/graph.h"

int api_expects_body(const char *method, const char *target, size_t *ret_max)
{
	struct arena *a = arena_new();
	struct problem p = { .ret = 0 };
	const struct resource *row = NULL;
	const char *capture[RESOURCE_CAPTURES];
	struct uri u;

	int ret = a != NULL ? uri_parse(target, a, &u, &p) : -ENOMEM;
	if (ret == E_OK) {
		ret = resource_match(&api_resources, method, &u, &row, capture);
	}
	if (ret == E_OK) {
		*ret_max = row->body.max_bytes;
	}
	problem_clear(&p);
	arena_free(a);
	return ret;
}

/* From the request line to a row whose handler may run. */
static int route(struct api_call *c, const struct api_request *rq)
{
	int ret = uri_parse(rq->target, c->arena, &c->uri, &c->problem);
	if (ret != E_OK) {
		return ret;
	}
	ret = resource_match(&api_resources, rq->method, &c->uri, &c->row, c->capture);
	if (ret == E_HTTP_ENDPOINT) {
		return resource_unknown(&api_resources, &c->uri, c->arena, &c->problem);
	}
	if (ret == E_HTTP_METHOD) {
		char methods[REPLY_ALLOW_BYTES];

		resource_methods(&api_resources, &c->uri, methods);
		return problem_set(&c->problem, c->arena, ret,
		                   "%s answers %s only, not %.20s", c->row->path, methods,
		                   rq->method);
	}
	ret = resource_check_params(c->row, &c->uri, c->arena, &c->problem);
	return ret != E_OK ? ret
	                   : resource_check_type(c->row, rq->content_type, c->arena,
	                                         &c->problem);
}

/* --- answer --------------------------------------------------------------------------
 */

/* Written in place, because every answer has one. */
static void set_etag(struct api_call *c, const struct snap_meta *m,
                     struct api_reply *ret_reply)
{
	enum { ENCODING_BYTES = 5 }; /* what the numbers leave of an ETag */
	const char *encoding = c->request->encoding;
	char *p = JSON_PUT(ret_reply->base.etag, "\"");

	p = json_put_number(p, m->epoch);
	p = json_put_number(JSON_PUT(p, "-"), snap_version(m, c->tables));
	p = c->stale ? JSON_PUT(p, "-stale") : p;
	if (encoding != NULL) {
		p = json_put_bytes(JSON_PUT(p, "-"), encoding,
		                   strnlen(encoding, ENCODING_BYTES));
	}
	*JSON_PUT(p, "\"") = '\0';
}

static const struct api_how *how_of(const struct api_call *c)
{
	return c->row->how;
}

/* Pins the newest epoch; sets the reply's epoch and ETag, which names the bytes as they are
 * sent. */
static int pin(struct api_call *c, struct api_reply *ret_reply)
{
	const char *why = NULL;

	int ret = source_pin(c->thread->source, c->now_ms, &why, &c->snap);
	if (ret == E_NOTREADY && (how_of(c)->tables & TABLE_IF_ANY) != 0) {
		c->snap = NULL;
		return E_OK;
	}
	if (ret != E_OK) {
		return problem_set(&c->problem, c->arena, ret, "%s", why);
	}
	const struct snap_meta *m = snap_meta(c->snap);
	c->epoch = m->epoch;
	c->tables = how_of(c)->tables;
	if ((c->tables & TABLE_OF_RECORD) != 0) {
		c->tables |= api_record_tables(c->capture[0]);
	}
	if ((c->row->flags & RESOURCE_ETAG) != 0 && (c->tables & TABLE_MOMENT) == 0) {
		set_etag(c, m, ret_reply);
	}
	return E_OK;
}

/* One attempt on a pinned snapshot. \retval E_STALE  Discard what was built. */
static int try_answer(struct api_call *c, const struct api_request *rq,
                      struct api_reply *ret_reply)
{
	int ret = pin(c, ret_reply);
	if (ret != E_OK) {
		return ret;
	}
	bool same = accept_knows(rq->if_none_match, ret_reply->base.etag);
	ret_reply->base.status = same ? 304 : 200;
	ret = same ? E_OK : how_of(c)->handle(c);
	/* An epoch that changed meanwhile explains any result, so it is checked first. */
	int torn = c->snap != NULL ? snap_check(c->snap) : E_OK;
	return torn != E_OK ? torn : ret;
}

/* Discards what was built of an answer. */
static void drop_answer(struct api_call *c)
{
	body_clear(&c->body);
	stream_free(c->stream);
	c->stream = NULL;
	free(c->feed);
	c->feed = NULL;
	c->job = NULL;
}

static int run_handler(struct api_call *c, const struct api_request *rq,
                       struct api_reply *ret_reply)
{
	int ret = E_STALE;

	if (how_of(c)->tables == 0) {
		return how_of(c)->handle(c);
	}
	c->stale = source_stale(c->thread->source, c->now_ms);
	for (unsigned i = 0; i < API_TRIES && ret == E_STALE; i++) {
		drop_answer(c);
		problem_clear(&c->problem);
		ret = try_answer(c, rq, ret_reply);
	}
	if (ret == E_STALE) {
		return problem_set(
			&c->problem, c->arena, ret,
			"the epoch was superseded while the answer was built, %d times in a row; ask again",
			API_TRIES);
	}
	return ret;
}

/* Puts the problem in the place of what was built. */
static void encode_problem(struct api_call *c, int ret, struct reply *ret_reply)
{
	const char *why;

	if (ret == E_MALFORMED && c->problem.detail == NULL) {
		c->problem.detail = source_damaged(c->thread->source, c->arena);
	}
	if (c->epoch == 0) {
		api_epoch(c, &why); /* refused before a snapshot was pinned */
	}
	drop_answer(c);
	c->next_cursor[0] = '\0';
	resource_refuse(&api_resources, &c->uri, &c->problem, ret, c->epoch, ret_reply);
}

void api_thread_done(struct api_thread *t)
{
	arena_free(t->arena);
	t->arena = NULL;
	ends_done(&t->ends);
	components_done(&t->components);
	inventory_unref(t->inventory);
	t->inventory = NULL;
}

void api_serve(struct api_thread *t, const struct api_request *rq,
               struct api_reply *ret_reply)
{
	uint64_t start = monotonic_ns() / 1000;
	struct api_call c = { .thread = t,
		              .request = rq,
		              .content_type = "application/json",
		              .now_ms = boottime_ms() };
	struct api_reply reply = { .base.status = 200 };

	(void)body_done(&c.body); /* what an earlier answer lacked */
	c.arena = t->arena != NULL ? t->arena : arena_new();
	t->arena = NULL;
	int ret = c.arena != NULL ? route(&c, rq) : -ENOMEM;
	if (ret == E_OK) {
		ret = run_handler(&c, rq, &reply);
	}
	/* Where there was no memory to read a body, it seems to be no JSON. */
	int lost = body_done(&c.body);
	if (ret == E_OK || lost != E_OK) {
		ret = lost;
	}
	reply.base.content_type = c.content_type;
	reply.base.body = c.body;
	c.body = (struct body){ .len = 0 };
	if (ret == E_HTTP_METHOD && strcmp(rq->method, "OPTIONS") == 0) {
		reply.base.status = 204;
		resource_methods(&api_resources, &c.uri, reply.base.allow);
	} else if (ret != E_OK) {
		encode_problem(&c, ret, &reply.base);
	}
	reply.stream = c.stream;
	reply.feed = c.feed;
	memcpy(reply.next_cursor, c.next_cursor, sizeof(reply.next_cursor));
	reply.epoch = c.epoch;
	reply.route = c.row != NULL ? (unsigned)(c.row - api_resources.row)
	                            : api_resources.n;
	problem_clear(&c.problem);
	if (ret == E_OK && c.job != NULL) {
		reply.job = c.job;
		reply.job_file = c.job_file;
		reply.arena = c.arena;
	} else {
		arena_clear(c.arena);
		t->arena = c.arena;
		http_stats_count(t->stats, reply.route, reply.base.status,
		                 monotonic_ns() / 1000 - start);
	}
	*ret_reply = reply;
}

enum { EXIT_NO_PROGRAM = 127 }; /* where posix_spawn() cannot tell at once */

/* The problem of a run that failed: its last words, without the name of the program. */
static int job_problem(struct problem *p, struct arena *a, int ret, int status,
                       const char *said)
{
	const char *text = strstr(said, ": ");

	text = text != NULL ? text + 2 : said;
	int len = (int)strcspn(text, "\n");

	switch (ret) {
	case E_OK: break;
	case E_TIMEOUT: return problem_set(p, a, ret, "it took too long, and was ended");
	case E_FULL:
		return problem_set(
			p, a, ret,
			"there are enough what-ifs and checks at a time, or this one has too long an answer; try again, with a smaller limit");
	case -ENOENT:
		return problem_set(p, a, E_NOTREADY,
		                   "the program saguaro is not where --saguaro says");
	default: return problem_set(p, a, E_NOTREADY, "it cannot run: %s", err_text(ret));
	}
	if (status < 0) {
		return problem_set(p, a, E_NOTREADY, "it was ended by signal %d",
		                   -status);
	}
	return problem_set(p, a, status == 1 ? E_UNSUITABLE : E_SYNTAX, "%.*s", len,
	                   text);
}

/* Exit status of a run of saguaro that has an answer: yes, no, and of a daemon that is gone. */
static bool has_answer(int status)
{
	return status == 0 || status == 1 || status == 3;
}

void api_job_reply(struct api_thread *t, unsigned route, int ret, int status,
                   struct body *out, const char *said, struct api_reply *ret_reply)
{
	struct arena *a = arena_new();
	struct problem p = { .ret = 0 };

	*ret_reply = (struct api_reply){ .base = { .status = 200,
		                                   .content_type = "application/json" },
		                         .route = route };
	if (a != NULL && ret == E_OK && has_answer(status) && out->len > 0) {
		ret_reply->base.body = *out;
	} else {
		body_clear(out);
		ret = a != NULL ? job_problem(&p, a, ret, status, said) : -ENOMEM;
		problem_reply(&p, ret, 0, &ret_reply->base);
	}
	problem_clear(&p);
	arena_free(a);
	http_stats_count(t->stats, route, ret_reply->base.status, 0);
}

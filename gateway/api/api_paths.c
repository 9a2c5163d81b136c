/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/paths: from one end port to another in one body; with "*" for an end, between all
 * of them, as a stream. A pair without a path has no line in it.
 */
#include <errno.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/api/api_call.h"
#include "gateway/view/path_params.h"
#include "sa/path/path_candidates.h"

/* What a stream of paths keeps. */
struct path_stream {
	struct path_open open;
	struct arena *arena;    /* for the problem, */
	struct problem problem; /* which ends the stream */
};

static void path_stream_done(void *state)
{
	struct path_stream *s = state;

	problem_clear(&s->problem);
	arena_free(s->arena);
	free(s);
}

/* Paths of one pair behind the first skip, until there are max in all; *ret_all: the last
 * of the pair was written. */
static int write_pair(struct path_stream *s, struct snap_reader *r,
                      const struct path_query *q, size_t max, size_t *skip,
                      struct body *out, size_t *ret_n, bool *ret_all)
{
	struct path_iter it;
	struct path_record rec;
	size_t at = 0;
	json_t *line;

	*ret_all = true;
	int err = path_iter_init(&it, r, q);
	if (err != E_OK) {
		return path_none(err) ? E_OK : err;
	}
	while (path_iter_next(&it, &rec)) {
		if (at++ < *skip) {
			continue;
		}
		if (*ret_n == max) {
			*ret_all = false;
			return E_OK;
		}
		err = path_answer_record(r, &rec, s->open.hops, s->arena, &line,
		                         &s->problem);
		if (err != E_OK) {
			return err;
		}
		body_json(out, line);
		++*skip;
		++*ret_n;
	}
	return it.ret;
}

static int more_paths(void *state, struct snap_reader *r, struct stream_place *at,
                      struct body *out, size_t *ret_n)
{
	struct path_stream *s = state;
	struct path_query q = s->open.q;
	struct path_world w;
	struct path_place place = { at->key, at->sub };
	bool all = true;

	int err = path_world_begin(&w, r, s->open.any_src, s->open.any_dst, &place);
	for (unsigned i = 0; err == E_OK && all && i < STREAM_STEPS; i++) {
		err = path_world_next(&w, r, &q, &place);
		if (err == E_NOTFOUND) {
			at->end = true;
			return E_OK;
		}
		if (err != E_OK) {
			return err;
		}
		if (place.key != at->key || place.sub != at->sub) {
			*at = (struct stream_place){ .key = place.key, .sub = place.sub };
		}
		err = write_pair(s, r, &q, STREAM_RECORDS, &at->skip, out, ret_n, &all);
	}
	return err;
}

static int stream(struct api_call *c, const struct path_ask *ask)
{
	struct path_stream *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		return -ENOMEM;
	}
	struct stream_spec spec = {
		.more = more_paths, .done = path_stream_done, .state = s, .name = "paths"
	};
	s->arena = arena_new();
	int err = s->arena == NULL
	                  ? -ENOMEM
	                  : path_ask_open(c->snap, ask, c->arena, &s->open, &c->problem);
	if (err == E_OK) {
		err = api_from(c, &spec.from.key);
	}
	if (err == E_OK) {
		err = api_stream(c, &spec);
	}
	if (err != E_OK) {
		path_stream_done(s);
	}
	return err;
}

static int body(struct api_call *c, const struct path_ask *ask)
{
	struct path_answer answer;
	json_t *json;

	if (api_param(c, "from") != NULL) {
		return problem_param(&c->problem, c->arena, E_HTTP_PARAMETER, "from",
		                     "from goes with * for src or dst");
	}
	int err = path_ask_run(c->snap, ask, &c->thread->parts, c->arena, &answer,
	                       &c->problem);
	if (err == E_OK) {
		err = path_answer_json(c->snap, &answer, c->stale, c->arena, &json,
		                       &c->problem);
	}
	if (err == E_OK) {
		body_json(&c->body, json);
	}
	return err;
}

int api_paths(struct api_call *c)
{
	struct path_ask ask = {
		.src = api_param(c, "src"),
		.dst = api_param(c, "dst"),
		.mode = api_param(c, "mode"),
		.numb_path = api_param(c, "numb_path"),
		.hops = api_param(c, "hops"),
		.mtu = api_param(c, "mtu"),
		.mtu_selector = api_param(c, "mtu_selector"),
		.rate = api_param(c, "rate"),
		.rate_selector = api_param(c, "rate_selector"),
		.packet_life_time = api_param(c, "packet_life_time"),
		.packet_life_time_selector = api_param(c, "packet_life_time_selector"),
		.sl = api_param(c, "sl"),
		.p_key = api_param(c, "p_key"),
		.service_id = api_param(c, "service_id"),
		.qos_class = api_param(c, "qos_class"),
	};

	return path_ask_is_open(&ask) ? stream(c, &ask) : body(c, &ask);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * /v1/paths: from one end port to another in one body; with "*" for an end, between all
 * of them, as a stream. A pair without a path has no line in it, unless why=1 asks for the
 * reason.
 */
#include <errno.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/api/api_call.h"
#include "gateway/view/components.h"
#include "gateway/view/json_text.h"
#include "gateway/view/path_none.h"
#include "gateway/view/path_params.h"
#include "sa/path/path_candidates.h"

/* State of a stream of paths. */
struct path_stream {
	struct path_wildcard wildcard;
	struct arena *arena;    /* of a slice, for the problem, */
	struct problem problem; /* which ends the stream */
	struct components components; /* for the reasons of why=1 */
};

/* An explained path costs walks over the tables, so a slice has fewer of them. */
enum { WHY_RECORDS = 32, SLICE_BYTES = 1 << 18 };

static void path_stream_done(void *state)
{
	struct path_stream *s = state;

	problem_clear(&s->problem);
	components_done(&s->components);
	arena_free(s->arena);
	free(s);
}

/* The reason why a pair has no path, as a line; once, as \a skip says. */
static int write_none(struct path_stream *s, struct snap_reader *r,
                      const struct path_query *q, int query_ret, size_t *skip,
                      struct body *out, size_t *ret_n)
{
	uint64_t prefix = snap_meta(r)->subnet_prefix;
	json_t *reason, *excluded = NULL;

	if ((*skip)++ > 0) {
		return E_OK;
	}
	problem_clear(&s->problem);
	int ret = query_ret == E_OK ? path_none_selectors(r, q, &excluded)
	                            : path_none_explain(r, q, query_ret, &s->components,
	                                                s->arena, &s->problem);
	if (query_ret == E_OK ? ret != E_OK : !path_none(ret) && ret != E_LOOP) {
		return ret;
	}
	if (query_ret == E_OK) {
		reason = json_string("selectors");
	} else {
		reason = json_incref(json_object_get(s->problem.members, "reason"));
	}
	json_t *line =
		json_pack("{s:o, s:o, s:o}", "sgid", gid_json(prefix, q->src.port_guid),
	                  "dgid", gid_json(prefix, q->dst.port_guid), "none", reason);
	if (excluded != NULL) {
		json_object_set_new(line, "excluded_by", excluded);
	} else {
		json_object_set_new(line, "detail", json_string(s->problem.detail));
	}
	body_json(out, line);
	++*ret_n;
	return E_OK;
}

/* Paths of one pair behind the first skip, until there are max in all; *ret_all: the last
 * of the pair was written. */
static int write_pair(struct path_stream *s, struct snap_reader *r,
                      const struct path_query *q, size_t max, size_t *skip,
                      struct body *out, size_t *ret_n, bool *ret_all)
{
	bool why = s->wildcard.detail == PATH_WITH_WHY;
	struct path_iter it;
	struct path_record rec;
	size_t at = 0;

	*ret_all = true;
	int ret = path_iter_init(&it, r, q);
	if (ret != E_OK) {
		return !path_none(ret) ? ret
		       : why           ? write_none(s, r, q, ret, skip, out, ret_n)
		                       : E_OK;
	}
	while (path_iter_next(&it, &rec)) {
		if (at++ < *skip) {
			continue;
		}
		if (*ret_n == max) {
			*ret_all = false;
			return E_OK;
		}
		ret = path_answer_record(r, &rec, s->wildcard.detail, s->arena, out,
		                         &s->problem);
		if (ret != E_OK) {
			return ret;
		}
		body_write(out, "\n", 1);
		++*skip;
		++*ret_n;
	}
	if (why && at == 0 && it.ret == E_OK) {
		return write_none(s, r, q, it.routed == 0 ? E_NOPATH : E_OK, skip, out,
		                  ret_n);
	}
	return it.ret;
}

static int more_paths(void *state, struct snap_reader *r, struct stream_place *at,
                      struct body *out, size_t *ret_n)
{
	struct path_stream *s = state;
	struct path_query q = s->wildcard.q;
	struct path_candidates w;
	struct path_place place = { at->key, at->sub };
	size_t most = s->wildcard.detail == PATH_WITH_WHY ? WHY_RECORDS : STREAM_RECORDS;
	bool all = true;

	arena_free(s->arena);
	s->arena = arena_new();
	if (s->arena == NULL) {
		return -ENOMEM;
	}

	int ret =
		path_candidates_begin(&w, r, s->wildcard.any_src, s->wildcard.any_dst, &place);
	for (unsigned i = 0;
	     ret == E_OK && all && i < STREAM_STEPS && out->len < SLICE_BYTES; i++) {
		ret = path_candidates_next(&w, r, &q, &place);
		if (ret == E_NOTFOUND) {
			at->end = true;
			return E_OK;
		}
		if (ret != E_OK) {
			return ret;
		}
		if (place.key != at->key || place.sub != at->sub) {
			*at = (struct stream_place){ .key = place.key, .sub = place.sub };
		}
		ret = write_pair(s, r, &q, most, &at->skip, out, ret_n, &all);
	}
	return ret;
}

static int stream_paths(struct api_call *c, const struct path_params *params)
{
	struct path_stream *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		return -ENOMEM;
	}
	struct stream_spec spec = {
		.more = more_paths, .done = path_stream_done, .state = s, .name = "paths"
	};
	int ret = path_params_wildcard(c->snap, params, &c->thread->ends, c->arena,
	                               &s->wildcard, &c->problem);
	if (ret == E_OK) {
		ret = api_from(c, &spec.from.key);
	}
	if (ret == E_OK) {
		ret = api_stream(c, &spec);
	}
	if (ret != E_OK) {
		path_stream_done(s);
	}
	return ret;
}

static int list_paths(struct api_call *c, const struct path_params *params)
{
	struct path_answer answer;

	if (params->from != NULL) {
		return problem_param(&c->problem, c->arena, E_HTTP_PARAMETER, "from",
		                     "from goes with * for src or dst");
	}
	int ret = path_params_answer(c->snap, params, &c->thread->ends,
	                             &c->thread->components, c->arena, &answer,
	                             &c->problem);
	if (ret == E_OK) {
		ret = path_answer_write(c->snap, &answer, c->stale, c->arena, &c->body,
		                        &c->problem);
	}
	return ret;
}

int api_paths(struct api_call *c)
{
#define READ(name) .name = api_param(c, #name),
	const struct path_params params = { PATH_PARAMS(READ) };
#undef READ

	return path_params_have_wildcard(&params) ? stream_paths(c, &params)
	                                          : list_paths(c, &params);
}

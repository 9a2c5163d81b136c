/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * POST /v1/paths:batch: paths of many pairs in one request. The body has a line for each
 * pair, {"src":"node1","dst":17} or ["node1",17], and so has the stream that answers it:
 *
 *   {"pair":0,"paths":[{"slid":1,"dlid":17,"sl":0,...}]}
 *   {"pair":1,"none":"not-found","parameter":"dst"}
 *   {"pair":2,"none":"limited-members","detail":"..."}
 *
 * Selectors are query parameters and hold for all pairs. The lines are read and written by
 * hand, because a tree of JSON values for each of them takes ten times as long.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "gateway/api/api_call.h"
#include "gateway/view/components.h"
#include "gateway/view/json_text.h"
#include "gateway/view/path_json.h"
#include "gateway/view/path_none.h"
#include "gateway/view/path_params.h"

enum {
	END_TEXT = 128, /* an end port as endpoint_find() takes it, with NUL */
	SLICE_PAIRS = 2048,
	SLICE_BYTES = 1 << 17,
	LINE_BYTES = 64, /* around the paths of a line */
	GROUP = 16       /* pairs whose rows are prefetched together */
};

struct batch {
	struct path_query q; /* selectors */
	struct ends *ends;   /* of the thread, which pulls the stream, too */
	struct components components;
	char *text;   /* the body, NUL-terminated */
	size_t *line; /* [n] begin of each pair */
	uint32_t n;
};

static void batch_done(void *state)
{
	struct batch *b = state;

	components_done(&b->components);
	free(b->text);
	free(b->line);
	free(b);
}

/* --- reading a line ------------------------------------------------------------------- */

struct pair_text {
	char src[END_TEXT], dst[END_TEXT];
};

static const char *skip_blank(const char *p)
{
	while (*p == ' ' || *p == '\t' || *p == '\r') {
		p++;
	}
	return p;
}

/* A string without escapes, or a number. \return Behind it; NULL: something else. */
static const char *read_plain(const char *p, char *to)
{
	bool quoted = *p == '"';
	const char *end = quoted ? ++p : p;

	while (quoted ? *end != '"' && *end != '\\' && (unsigned char)*end >= ' '
	              : *end >= '0' && *end <= '9') {
		end++;
	}
	size_t len = (size_t)(end - p);
	if (len >= END_TEXT || (quoted ? *end != '"' : len == 0)) {
		return NULL;
	}
	memcpy(to, p, len);
	to[len] = '\0';
	return skip_blank(quoted ? end + 1 : end);
}

/* {"src":A,"dst":B}, in this order or the other, or [A,B]. \return Is it so? */
static bool read_fast(const char *p, struct pair_text *e)
{
	bool object = *p == '{', seen[2] = { false, false };
	char key[END_TEXT];

	if (!object && *p != '[') {
		return false;
	}
	for (unsigned i = 0; i < 2; i++) {
		unsigned at = i;

		p = skip_blank(p + 1);
		if (object) {
			p = read_plain(p, key);
			if (p == NULL || *p != ':' ||
			    (strcmp(key, "src") && strcmp(key, "dst"))) {
				return false;
			}
			at = key[0] == 'd';
			p = skip_blank(p + 1);
		}
		p = seen[at] ? NULL : read_plain(p, at ? e->dst : e->src);
		if (p == NULL || *p != (i == 0 ? ',' : object ? '}' : ']')) {
			return false;
		}
		seen[at] = true;
	}
	p = skip_blank(p + 1);
	return *p == '\n' || *p == '\0';
}

static bool read_value(const json_t *v, char *to)
{
	if (json_is_integer(v)) {
		snprintf(to, END_TEXT, "%lld", (long long)json_integer_value(v));
		return json_integer_value(v) >= 0;
	}
	const char *text = json_string_value(v);
	if (text == NULL || strlen(text) >= END_TEXT) {
		return false;
	}
	memcpy(to, text, strlen(text) + 1);
	return true;
}

static int read_line(const char *line, struct pair_text *e)
{
	if (read_fast(line, e)) {
		return E_OK;
	}
	json_t *o = json_loadb(line, strcspn(line, "\n"), JSON_REJECT_DUPLICATES, NULL);
	bool list = json_is_array(o) && json_array_size(o) == 2;
	bool good = (list || (json_is_object(o) && json_object_size(o) == 2)) &&
	            read_value(list ? json_array_get(o, 0) : json_object_get(o, "src"),
	                       e->src) &&
	            read_value(list ? json_array_get(o, 1) : json_object_get(o, "dst"),
	                       e->dst);
	json_decref(o);
	return good ? E_OK : E_SYNTAX;
}

/* --- writing a line ------------------------------------------------------------------- */

/* Ends a line that has no path. */
static void write_none(struct body *out, uint32_t pair, const char *reason,
                       const char *key, const char *text)
{
	json_t *o = json_pack("{s:I, s:s}", "pair", (json_int_t)pair, "none", reason);

	json_object_set_new(o, key, text != NULL ? json_string(text) : json_null());
	body_json(out, o);
}

static int write_reason(struct batch *b, struct snap_reader *r,
                        const struct path_query *q, int query_ret, uint32_t pair,
                        struct body *out)
{
	struct problem p = { .ret = 0 };
	struct arena *a = arena_new();
	json_t *excluded = NULL;

	if (a == NULL) {
		return -ENOMEM;
	}
	int ret = query_ret == E_OK
	                  ? path_none_selectors(r, q, &excluded)
	                  : path_none_explain(r, q, query_ret, &b->components, a, &p);
	if (query_ret == E_OK && ret == E_OK) {
		write_none(out, pair, "selectors", "detail",
		           json_string_value(
				   json_object_get(json_array_get(excluded, 0), "why")));
	} else if (path_none(ret) || ret == E_LOOP) {
		write_none(out, pair,
		           json_string_value(json_object_get(p.members, "reason")),
		           "detail", p.detail);
		ret = E_OK;
	}
	json_decref(excluded);
	problem_clear(&p);
	arena_free(a);
	return ret;
}

static int write_paths(struct batch *b, struct snap_reader *r, const struct path_query *q,
                       uint32_t pair, struct body *out)
{
	size_t begin = out->len;
	struct path_record rec;
	struct path_iter it;
	uint32_t n = 0;
	char *p;

	int ret = path_iter_init(&it, r, q);
	if (ret != E_OK) {
		return path_none(ret) ? write_reason(b, r, q, ret, pair, out) : ret;
	}
	while (path_iter_next(&it, &rec)) {
		p = body_room(out, LINE_BYTES + PATH_BRIEF_BYTES);
		if (p == NULL) {
			return -ENOMEM;
		}
		char *at = p;
		if (n++ == 0) {
			p = json_put_number(JSON_PUT(p, "{\"pair\":"), pair);
			p = JSON_PUT(p, ",\"paths\":[");
		} else {
			p = JSON_PUT(p, ",");
		}
		out->len += (size_t)(path_brief_put(p, &rec) - at);
	}
	if (it.ret != E_OK || n == 0) {
		out->len = begin;
		return it.ret != E_OK
		               ? it.ret
		               : write_reason(b, r, q, it.routed == 0 ? E_NOPATH : E_OK,
		                              pair, out);
	}
	body_write(out, "]}\n", 3);
	return E_OK;
}

/* --- the stream ----------------------------------------------------------------------- */

/* \retval E_SYNTAX E_NOTFOUND E_AMBIGUOUS  *ret_end: which end. */
static int resolve(struct batch *b, struct snap_reader *r, const struct pair_text *text,
                   struct path_query *q, const char **ret_end)
{
	struct endpoint src, dst;

	*ret_end = "src";
	int ret = ends_find(b->ends, r, text->src, &src);
	if (ret == E_OK) {
		*ret_end = "dst";
		ret = ends_find(b->ends, r, text->dst, &dst);
	}
	if (ret == E_OK) {
		q->src = src.end;
		q->dst = dst.end;
		q->src_alias = src.alias;
		q->dst_alias = dst.alias;
		q->slid = src.lid;
		q->dlid = dst.lid;
	}
	return ret;
}

/* A pair of a group. */
struct pair {
	struct path_query q;
	const char *end; /* which end err is about */
	int ret;
};

static void read_pair(struct batch *b, struct snap_reader *r, uint32_t number,
                      struct pair *ret_pair)
{
	struct pair_text text;

	ret_pair->q = b->q;
	ret_pair->end = "line";
	ret_pair->ret = read_line(b->text + b->line[number], &text);
	if (ret_pair->ret == E_OK) {
		ret_pair->ret = resolve(b, r, &text, &ret_pair->q, &ret_pair->end);
	}
	if (ret_pair->ret == E_OK) {
		snap_prefetch_path(r, &ret_pair->q.src, ret_pair->q.dst.base_lid);
		snap_prefetch_path(r, &ret_pair->q.dst, ret_pair->q.src.base_lid);
	}
}

static int write_pair(struct batch *b, struct snap_reader *r, const struct pair *p,
                      uint32_t number, struct body *out)
{
	switch (p->ret) {
	case E_OK: return write_paths(b, r, &p->q, number, out);
	case E_SYNTAX:
		write_none(out, number, "syntax", "parameter", p->end);
		return E_OK;
	case E_NOTFOUND:
		write_none(out, number, "not-found", "parameter", p->end);
		return E_OK;
	case E_AMBIGUOUS:
		write_none(out, number, "ambiguous", "parameter", p->end);
		return E_OK;
	}
	return p->ret;
}

static int more_pairs(void *state, struct snap_reader *r, struct stream_place *at,
                      struct body *out, size_t *ret_n)
{
	struct batch *b = state;
	struct pair group[GROUP];
	int ret = E_OK;

	while (ret == E_OK && *ret_n < SLICE_PAIRS && out->len < SLICE_BYTES) {
		uint32_t first = (uint32_t)at->key, n = b->n - first;

		if (n == 0) {
			at->end = true;
			return E_OK;
		}
		n = n < GROUP ? n : GROUP;
		for (uint32_t i = 0; i < n; i++) {
			read_pair(b, r, first + i, &group[i]);
		}
		for (uint32_t i = 0; ret == E_OK && i < n; i++) {
			ret = write_pair(b, r, &group[i], first + i, out);
		}
		at->key += n;
		*ret_n += n;
	}
	return ret;
}

/* Begins of the lines that are not blank. \retval E_HTTP_LARGE  Too many. */
static int find_lines(struct batch *b)
{
	b->line = malloc(API_BATCH_PAIRS * sizeof(*b->line));
	if (b->line == NULL) {
		return -ENOMEM;
	}
	for (const char *p = b->text; *p != '\0'; p += *p == '\n') {
		p = skip_blank(p);
		if (*p != '\n' && *p != '\0') {
			if (b->n == API_BATCH_PAIRS) {
				return E_HTTP_LARGE;
			}
			b->line[b->n++] = (size_t)(p - b->text);
		}
		p += strcspn(p, "\n");
	}
	return E_OK;
}

static int batch_new(struct api_call *c, struct batch **ret_batch)
{
	const struct api_request *rq = c->request;
	struct batch *b = calloc(1, sizeof(*b));

	if (b == NULL) {
		return -ENOMEM;
	}
	*ret_batch = b;
	b->text = malloc(rq->body_len + 1);
	if (b->text == NULL) {
		return -ENOMEM;
	}
	memcpy(b->text, rq->body_len > 0 ? rq->body : "", rq->body_len);
	b->text[rq->body_len] = '\0';
	int ret = strlen(b->text) == rq->body_len
	                  ? find_lines(b)
	                  : problem_set(&c->problem, c->arena, E_SYNTAX,
	                                "the body has a byte 0");
	if (ret == E_HTTP_LARGE) {
		return problem_set(
			&c->problem, c->arena, ret,
			"more than %d pairs; divide them among several requests",
			API_BATCH_PAIRS);
	}
	return ret;
}

int api_batch(struct api_call *c)
{
#define READ(name) .name = api_param(c, #name),
	struct path_params params = { PATH_PARAMS(READ) };
#undef READ
	struct path_wildcard wildcard;
	struct batch *b = NULL;

	params.src = params.dst = "*";
	int ret = path_params_wildcard(c->snap, &params, &c->thread->ends, c->arena,
	                               &wildcard, &c->problem);
	if (ret == E_OK) {
		ret = batch_new(c, &b);
	}
	if (ret == E_OK) {
		struct stream_spec spec = { .more = more_pairs,
			                    .done = batch_done,
			                    .state = b,
			                    .name = "paths" };
		b->q = wildcard.q;
		b->ends = &c->thread->ends;
		ret = api_stream(c, &spec);
	}
	if (ret != E_OK && b != NULL) {
		batch_done(b);
	}
	return ret;
}

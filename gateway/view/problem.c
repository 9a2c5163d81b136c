/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/problem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/view/body.h"
#include "gateway/view/json_text.h"

struct problem_row {
	int ret;
	unsigned status;
	const char *name;  /* NULL: err_name() */
	const char *title; /* NULL: err_text() */
};

/* clang-format off */
static const struct problem_row rows[] = {
	{ E_SYNTAX,         400, NULL, NULL },
	{ E_RANGE,          400, NULL, NULL },
	{ E_UNKNOWN,        400, NULL, NULL },
	{ E_NOTFOUND,       404, NULL, NULL },
	{ E_AMBIGUOUS,      409, NULL, NULL },
	{ E_DUPLICATE,      409, NULL, NULL },
	{ E_NOPATH,         422, NULL, NULL },
	{ E_PARTITION,      422, NULL, NULL },
	{ E_POLICY,         422, NULL, NULL },
	{ E_LOOP,           422, NULL, NULL },
	{ E_CREDITLOOP,     422, NULL, NULL },
	{ E_UNSUITABLE,     422, NULL, NULL },
	{ E_FULL,           503, NULL, NULL },
	{ E_STALE,          503, NULL, NULL },
	{ E_NOTREADY,       503, NULL, "not ready" },
	{ E_LAYOUT,         503, NULL, NULL },
	{ E_FOREIGN,        503, NULL, NULL },
	{ E_LOCKED,         503, NULL, NULL },
	{ E_TIMEOUT,        504, NULL, NULL },
	{ E_MALFORMED,      500, NULL, NULL },
	{ -ENOMEM,          503, NULL, NULL },
	{ -EACCES,          503, NULL, NULL },
	{ -EPERM,           503, NULL, NULL },
	{ E_HTTP_METHOD,    405, "method-not-allowed", "the method is not allowed here" },
	{ E_HTTP_LONG,      414, "uri-too-long",       "the request target is too long" },
	{ E_HTTP_BODY,      413, "no-body-wanted",     "a request body is not accepted" },
	{ E_HTTP_GONE,      410, "epoch-gone",         "the epoch is gone" },
	{ E_HTTP_ENDPOINT,  404, "no-such-resource",   "there is no such resource" },
	{ E_HTTP_PARAMETER, 400, "bad-parameter",      "the query parameters do not fit" },
	{ E_HTTP_AUTH,      401, "unauthorized",       "a user is needed" },
	{ E_HTTP_ROLE,      403, "role",               "the role of the user does not reach" },
	{ E_HTTP_ORIGIN,    403, "foreign-origin",     "pages of other sites change nothing here" },
	{ E_HTTP_EXISTS,    409, "exists",             "it is there already" },
	{ E_HTTP_READ_ONLY, 409, "read-only",          "a file of configuration says so, no request changes it" },
	{ E_HTTP_VERSION,   412, "other-version",      "there is another version than the request expects" },
	{ E_HTTP_LARGE,     413, "body-too-large",     "the request body is too large" },
	{ E_HTTP_TYPE,      415, "other-media-type",   "the request body is of another media type than is needed" },
	{ E_HTTP_HOST,      421, "other-host",         "the request is for another server" },
	{ E_HTTP_REFUSED,   422, "refused",            "saguarod does not carry it out" },
	{ E_HTTP_RATE,      429, "too-many-requests",  "too many requests" },
};
/* clang-format on */

static const struct problem_row *find(int ret)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].ret == ret) {
			return &rows[i];
		}
	}
	return NULL;
}

unsigned gw_status(int ret)
{
	const struct problem_row *row = find(ret);
	return row != NULL ? row->status : 500;
}

unsigned gw_retry_after(int ret)
{
	unsigned status = gw_status(ret);
	return status == 503 || status == 504 ? 1 : 0;
}

__attribute__((format(printf, 3, 0))) static void
set_detail(struct problem *p, struct arena *a, const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	p->detail = arena_strdup(a, text);
}

int problem_set(struct problem *p, struct arena *a, int ret, const char *fmt, ...)
{
	va_list ap;

	p->ret = ret;
	va_start(ap, fmt);
	set_detail(p, a, fmt, ap);
	va_end(ap);
	return ret;
}

int problem_param(struct problem *p, struct arena *a, int ret, const char *parameter,
                  const char *fmt, ...)
{
	va_list ap;

	p->ret = ret;
	p->parameter = parameter;
	va_start(ap, fmt);
	set_detail(p, a, fmt, ap);
	va_end(ap);
	return ret;
}

void problem_member(struct problem *p, const char *name, json_t *value)
{
	if (p->members == NULL) {
		p->members = json_object();
	}
	json_object_set_new(p->members, name, value);
}

json_t *problem_json(const struct problem *p, uint64_t epoch)
{
	const struct problem_row *row = find(p->ret);
	const char *name =
		row != NULL && row->name != NULL ? row->name : err_name(p->ret);
	const char *title =
		row != NULL && row->title != NULL ? row->title : err_text(p->ret);

	json_t *o =
		json_pack("{s:s+, s:s, s:i, s:o}", "type", "urn:saguaro:problem:", name,
	                  "title", title, "status", (int)gw_status(p->ret), "detail",
	                  text_json(p->detail != NULL ? p->detail : title));
	if (o == NULL) {
		return NULL;
	}
	if (p->parameter != NULL) {
		json_object_set_new(o, "parameter", text_json(p->parameter));
	}
	if (epoch != 0) {
		json_object_set_new(o, "epoch", json_integer((json_int_t)epoch));
	}
	if (p->members != NULL) {
		json_object_update(o, p->members);
	}
	return o;
}

void problem_reply(struct problem *p, int ret, uint64_t epoch, struct reply *ret_reply)
{
	p->ret = ret;
	body_clear(&ret_reply->body);
	body_json(&ret_reply->body, problem_json(p, epoch));
	ret_reply->status = gw_status(ret);
	ret_reply->content_type = "application/problem+json";
	ret_reply->retry_after = gw_retry_after(ret);
	ret_reply->etag[0] = '\0';
}

void problem_clear(struct problem *p)
{
	json_decref(p->members);
	memset(p, 0, sizeof(*p));
}

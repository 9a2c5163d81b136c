/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "tests/lib/api_json.h"

json_t *api_json(struct api_thread *t, unsigned status, const char *fmt, ...)
{
	struct api_request rq = { .method = "GET" };
	struct api_reply reply = { 0 };
	char target[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(target, sizeof(target), fmt, ap);
	va_end(ap);
	rq.target = target;
	api_serve(t, &rq, &reply);
	ck_assert_msg(reply.base.status == status && reply.stream == NULL, "%s: %u %s",
	              target, reply.base.status, reply.base.body.data);
	json_t *body = json_loadb(reply.base.body.data, reply.base.body.len, 0, NULL);
	ck_assert_ptr_nonnull(body);
	body_clear(&reply.base.body);
	return body;
}

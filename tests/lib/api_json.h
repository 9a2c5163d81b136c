/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

#include "gateway/api/api.h"
#include "gateway/api/stream.h"

/* Asks the API. \return The body of an answer that has \a status and is no stream. */
static inline json_t *api_json(struct api_thread *t, unsigned status, const char *fmt,
                               ...) __attribute__((format(printf, 3, 4)));

static inline json_t *api_json(struct api_thread *t, unsigned status, const char *fmt,
                               ...)
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
	ck_assert_msg(reply.status == status && reply.stream == NULL, "%s: %u %s", target,
	              reply.status, reply.body.data);
	json_t *body = json_loadb(reply.body.data, reply.body.len, 0, NULL);
	ck_assert_ptr_nonnull(body);
	body_clear(&reply.body);
	return body;
}

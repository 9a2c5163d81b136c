/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*!
 * An HTTP client for tests: one keep-alive handle, one answer at a time.
 */
struct client {
	CURL *curl;
	unsigned port;
	char *body; /* of the last answer, NUL-terminated */
	size_t len;
	long status;
	long connects; /* new connections the last request needed */
	char link[512], cors[80];
	char encoding[16], vary[64];
	char etag[64], type[80], allow[32], epoch[24], retry_after[8];
};

void client_init(struct client *c, unsigned port);

void client_done(struct client *c);

/* One request. header: "Name: value" or NULL; post: body or NULL. */
void client_ask(struct client *c, const char *method, const char *target,
                const char *header, const char *post);

long client_get(struct client *c, const char *target);

/* The last body as JSON; the caller frees. */
json_t *client_json(const struct client *c);

/* GET that must succeed, as JSON. */
json_t *client_get_json(struct client *c, const char *target);

const char *text_of(const json_t *o, const char *name);

json_int_t int_of(const json_t *o, const char *name);

uint64_t guid_of(const json_t *o, const char *name);

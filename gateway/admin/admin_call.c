/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/admin/admin_call.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/p_key.h"
#include "conf/base/text.h"
#include "gateway/view/accept.h"
#include "gateway/view/json_text.h"

static const char me[] = "admin";

enum { JOB_MAX_BYTES = 64 };

/* A failure by saguarod's word for it, as an error of this server. */
static int error_of(const char *code, bool has_version)
{
	/* clang-format off */
	static const struct { const char *code; int ret; } codes[] = {
		{ "not_found", E_NOTFOUND },  { "exists", E_HTTP_EXISTS },
		{ "full", E_HTTP_REFUSED },   { "invalid", E_SYNTAX },
		{ "disk", E_FULL },           { "read_only", E_HTTP_READ_ONLY },
		{ "standby", E_NOTREADY },    { "busy", E_NOTREADY },
		{ "memory", -ENOMEM },        { "no_host", E_HTTP_REFUSED },
	};
	/* clang-format on */

	if (code != NULL && strcmp(code, "conflict") == 0) {
		return has_version ? E_HTTP_VERSION : E_HTTP_EXISTS;
	}
	for (size_t i = 0; code != NULL && i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (strcmp(codes[i].code, code) == 0) {
			return codes[i].ret;
		}
	}
	return E_HTTP_REFUSED;
}

static int unreachable(struct admin_call *c, int ret)
{
	log_message(MSG_ADMIN_NO_ANSWER, me, "no answer from saguarod at %s: %s",
	            c->fabric->socket, err_text(ret));
	if (ret == E_TIMEOUT) {
		return problem_set(
			&c->problem, c->arena, ret,
			"saguarod of the fabric %s did not answer in time; what was asked may have happened",
			c->fabric->name);
	}
	return problem_set(&c->problem, c->arena, E_NOTREADY,
	                   "saguarod of the fabric %s does not answer; does it run?",
	                   c->fabric->name);
}

int admin_ask(struct admin_call *c, const json_t *ask, json_t **ret_json)
{
	json_t *reply = NULL;
	int ret = c->admin->ask(c->admin->ctx, c->fabric->socket, ask, &reply);

	if (ret != E_OK) {
		return unreachable(c, ret);
	}
	if (json_is_true(json_object_get(reply, "ok"))) {
		json_object_del(reply, "ok");
		*ret_json = reply;
		return E_OK;
	}
	const char *why = json_string_value(json_object_get(reply, "error"));
	const char *code = json_string_value(json_object_get(reply, "code"));

	ret = error_of(code, json_object_get(ask, "if_version") != NULL);
	ret = problem_set(&c->problem, c->arena, ret, "%s",
	                  why != NULL ? why : "saguarod says no and not why");
	if (code != NULL) {
		problem_member(&c->problem, "code", json_string(code));
	}
	if (json_object_get(reply, "version") != NULL) {
		problem_member(&c->problem, "version",
		               json_incref(json_object_get(reply, "version")));
	}
	json_decref(reply);
	return ret;
}

static int take_p_key(struct admin_call *c, const char *text)
{
	uint16_t p_key;

	if (fields_p_key(text, &p_key) != E_OK) {
		return problem_set(
			&c->problem, c->arena, E_SYNTAX,
			"'%.60s' is no P_Key: expected 0x and 1-4 hex digits, or a number, and not 0 or 0x8000",
			text);
	}
	json_object_set_new(c->ask, "pkey", fields_p_key_json(p_key));
	return E_OK;
}

static int take_guid(struct admin_call *c, const char *text)
{
	uint64_t guid;

	if (text_guid(text, &guid) != E_OK) {
		return problem_set(&c->problem, c->arena, E_SYNTAX,
		                   "'%.60s' is no GUID: expected 16 hex digits", text);
	}
	json_object_set_new(c->ask, "members",
	                    json_pack("[{s:o}]", "guid", guid_json(guid)));
	return E_OK;
}

/* A job of a batch system is the partition with its name. */
static int take_job(struct admin_call *c, const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > JOB_MAX_BYTES ||
	    strspn(text, "0123456789._-abcdefghijklmnopqrstuvwxyz"
	                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != len) {
		return problem_set(
			&c->problem, c->arena, E_SYNTAX,
			"'%.70s' is no job: expected 1-%d letters, digits and ._-", text,
			JOB_MAX_BYTES);
	}
	json_object_set_new(c->ask, "name", json_sprintf(PARTITION_JOB "%s", text));
	return E_OK;
}

static int take_action(struct admin_call *c, const char *text)
{
	if (strcmp(text, "disable") != 0 && strcmp(text, "enable") != 0) {
		return problem_set(
			&c->problem, c->arena, E_HTTP_ENDPOINT,
			"a port is disabled or enabled: /v1/port/disable, /v1/port/enable");
	}
	json_object_set_new(c->ask, "action", json_string(text));
	return E_OK;
}

static int take_id(struct admin_call *c, const char *text)
{
	json_object_set_new(c->ask, "id", json_string(text));
	return E_OK;
}

static int take_node(struct admin_call *c, const char *text)
{
	json_object_set_new(c->ask, "node", json_string(text));
	return E_OK;
}

int admin_take_captures(struct admin_call *c)
{
	static const struct {
		const char *name;
		int (*take)(struct admin_call *c, const char *text);
	} known[] = { { "{p_key}", take_p_key },
		      { "{guid}", take_guid },
		      { "{job}", take_job },
		      { "{action}", take_action },
		      { "{id}", take_id },
		      { "{node}", take_node } };
	const char *p = c->row->path;
	int ret = E_OK;

	for (unsigned n = 0; ret == E_OK && n < RESOURCE_CAPTURES && c->capture[n] != NULL;
	     n++) {
		p = strchr(p, '{');
		for (unsigned i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
			if (strncmp(p, known[i].name, strlen(known[i].name)) == 0) {
				ret = known[i].take(c, c->capture[n]);
			}
		}
		p++;
	}
	return ret;
}

void admin_set_version(struct admin_call *c, const json_t *reply)
{
	const json_t *version = json_object_get(reply, "version");

	if (!json_is_integer(version)) {
		return;
	}
	snprintf(c->etag, sizeof(c->etag), "\"%" PRId64 "\"",
	         (int64_t)json_integer_value(version));
	c->not_modified = (c->row->flags & RESOURCE_CHANGE) == 0 &&
	                  accept_knows(c->request->if_none_match, c->etag);
}

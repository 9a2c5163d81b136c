/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/admin/admin.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "conf/base/text.h"
#include "gateway/admin/admin_call.h"
#include "gateway/admin/audit.h"
#include "gateway/admin/limits.h"
#include "gateway/view/json_text.h"
#include "gateway/view/origin.h"

static const char me[] = "admin";

/* ---- the head ---- */

/* Takes the name of a fabric off the path. */
static void take_fabric(struct admin_call *c)
{
	struct uri *u = &c->uri;

	/* "/ufmRest/resources/pkeys/?guids_data=true" is how a client writes it */
	if (u->n_segments > 0 && u->segment[u->n_segments - 1][0] == '\0') {
		u->n_segments--;
	}
	c->fabric = &c->admin->fabric[0];
	for (unsigned i = 0; i < c->admin->n_fabrics && u->n_segments > 0; i++) {
		if (strcmp(c->admin->fabric[i].name, u->segment[0]) == 0) {
			c->fabric = &c->admin->fabric[i];
			u->n_segments--;
			memmove(u->segment, u->segment + 1,
			        u->n_segments * sizeof(u->segment[0]));
			return;
		}
	}
}

/* The row of method and path. */
static int match(struct admin_call *c)
{
	int ret = resource_match(&admin_resources, c->request->method, &c->uri, &c->row,
	                         c->capture);

	if (ret == E_HTTP_ENDPOINT) {
		return resource_unknown(&admin_resources, &c->uri, c->arena, &c->problem);
	}
	if (ret == E_HTTP_METHOD) {
		return problem_set(&c->problem, c->arena, ret,
		                   "%s does not take %.20s; see the Allow header",
		                   c->row->path, c->request->method);
	}
	return ret;
}

static int check_user(struct admin_call *c)
{
	const struct admin_request *rq = c->request;
	struct auth_request shown = { .authorization = rq->authorization,
		                      .certificate = rq->certificate,
		                      .address = rq->address,
		                      .now = rq->now,
		                      .now_ms = rq->now_ms };
	int ret = auth_check(c->admin->auth, &shown, c->arena, &c->problem, &c->who,
	                     &c->wait_s);

	if (ret != E_OK) {
		if ((rq->authorization != NULL || rq->certificate != NULL) &&
		    limits_take(c->admin->lines, rq->address, rq->now_ms, NULL)) {
			log_message(
				MSG_ADMIN_LOGIN, me, "login refused from %s: %s",
				rq->address,
				ret == E_HTTP_RATE ? "too many wrong ones"
				: ret == E_HTTP_AUTH
					? "wrong user, secret or certificate, or expired"
					: "the file of users cannot be used");
		}
		return ret;
	}
	if (!limits_take(c->admin->rate, c->who.name, rq->now_ms, &c->wait_s)) {
		return problem_set(
			&c->problem, c->arena, E_HTTP_RATE,
			"more requests of this user than are allowed in a minute");
	}
	return E_OK;
}

static int check_role(struct admin_call *c)
{
	if (c->row == NULL || c->who.role >= c->row->role) {
		return E_OK;
	}
	return problem_set(&c->problem, c->arena, E_HTTP_ROLE,
	                   "%s %s needs the role %s; %s is %s", c->row->method,
	                   c->row->path, role_name(c->row->role), c->who.name,
	                   role_name(c->who.role));
}

static bool is_page_of_ours(const struct admin_call *c)
{
	const struct origin_rules rules = { .origins = c->admin->origins };

	return origin_fits(&rules, c->request->origin);
}

static int check_body_head(struct admin_call *c)
{
	const struct admin_request *rq = c->request;

	if ((c->row->flags & RESOURCE_CHANGE) != 0 && rq->origin != NULL &&
	    !is_page_of_ours(c)) {
		return problem_set(
			&c->problem, c->arena, E_HTTP_ORIGIN,
			"a page of the origin '%.100s' may change nothing here; an origin is let in with --allow-origin",
			rq->origin);
	}
	if (!rq->has_body) {
		return E_OK;
	}
	if (c->row->body.type == NULL) {
		return problem_set(&c->problem, c->arena, E_HTTP_BODY,
		                   "%s %s takes no request body", c->row->method,
		                   c->row->path);
	}
	int ret = resource_check_type(c->row, rq->content_type, c->arena, &c->problem);
	if (ret == E_OK && rq->body_bytes > c->row->body.max_bytes) {
		ret = problem_set(&c->problem, c->arena, E_HTTP_LARGE,
		                   "a body has at most %zu bytes", c->row->body.max_bytes);
	}
	return ret;
}

/* If-Match: "7" becomes "if_version". */
static int check_version(struct admin_call *c)
{
	const char *text = c->request->if_match;
	char number[24];
	uint64_t version;
	size_t len;

	if (text == NULL || (c->row->flags & RESOURCE_CHANGE) == 0 ||
	    strcmp(text, "*") == 0) {
		return E_OK;
	}
	if ((c->row->flags & RESOURCE_VERSION) == 0) {
		return problem_set(&c->problem, c->arena, E_SYNTAX,
		                   "%s has no version that If-Match could name",
		                   c->row->path);
	}
	len = strlen(text);
	if (len < 3 || len - 2 >= sizeof(number) || text[0] != '"' ||
	    text[len - 1] != '"') {
		len = 0;
	} else {
		snprintf(number, sizeof(number), "%.*s", (int)(len - 2), text + 1);
	}
	if (len == 0 || text_u64(number, INT64_MAX, &version) != E_OK) {
		return problem_set(
			&c->problem, c->arena, E_SYNTAX,
			"If-Match must be the ETag of an earlier answer, for instance \"7\" with its quotes");
	}
	json_object_set_new(c->ask, "if_version", json_integer((json_int_t)version));
	return E_OK;
}

static int check_head(struct admin_call *c)
{
	const struct origin_rules ours = { .hosts = c->admin->hosts };
	const char *host = c->request->host;
	int ret;

	if (c->request->fault != NULL) {
		return problem_set(&c->problem, c->arena, E_SYNTAX, "%s",
		                   c->request->fault);
	}
	if (c->admin->hosts != NULL && !origin_host_fits(&ours, host)) {
		return problem_set(
			&c->problem, c->arena, E_HTTP_HOST,
			"this server is not '%.100s'; a further name is set with --hosts",
			host);
	}
	ret = uri_parse(c->request->target, c->arena, &c->uri, &c->problem);
	if (ret != E_OK) {
		return ret;
	}
	/* A browser asks this without the user, whatever the path, and learns nothing by the answer. */
	if (strcmp(c->request->method, "OPTIONS") == 0 && !c->request->has_body &&
	    is_page_of_ours(c)) {
		c->preflight = true;
		return E_OK;
	}
	take_fabric(c);
	ret = match(c);
	/* A client without a user does not learn what there is. */
	if (ret != E_OK || (c->row->flags & RESOURCE_OPEN) == 0) {
		struct problem found = c->problem;

		c->problem = (struct problem){ .ret = 0 };
		int who = check_user(c);
		if (who != E_OK) {
			problem_clear(&found);
			c->row = NULL;
			return who;
		}
		c->problem = found;
	}
	if (ret == E_OK) {
		ret = check_role(c);
	}
	if (ret == E_OK) {
		ret = resource_check_params(c->row, &c->uri, c->arena, &c->problem);
	}
	if (ret == E_OK) {
		ret = check_body_head(c);
	}
	return ret == E_OK ? check_version(c) : ret;
}

struct admin_call *admin_begin(struct admin *d, const struct admin_request *rq)
{
	struct admin_call *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		return NULL;
	}
	c->admin = d;
	c->request = rq;
	c->arena = arena_new();
	c->ask = json_object();
	c->fabric = &d->fabric[0];
	c->ret = c->arena != NULL && c->ask != NULL ? check_head(c) : -ENOMEM;
	return c;
}

bool admin_is_refused(const struct admin_call *c)
{
	return c->ret != E_OK;
}

bool admin_has_user(const struct admin_call *c)
{
	return c->who.name[0] != '\0';
}

void admin_free(struct admin_call *c)
{
	if (c != NULL) {
		problem_clear(&c->problem);
		json_decref(c->ask);
		json_decref(c->heard);
		json_decref(c->out);
		arena_free(c->arena);
		free(c);
	}
}

/* ---- audit ---- */

static json_t *audit_head(const struct admin_call *c, unsigned long long number,
                          const char *what)
{
	return json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "change",
	                 (json_int_t)number, "what", what, "user", c->who.name, "role",
	                 role_name(c->who.role), "from", c->request->address, "fabric",
	                 c->fabric->name, "method", c->request->method, "path",
	                 text_json(c->uri.path));
}

static int audit_ask(struct admin_call *c, unsigned long long number)
{
	json_t *line = audit_head(c, number, "asked");
	int ret;

	json_object_set_new(line, "request", json_deep_copy(c->ask));
	ret = audit_write(c->admin->audit, line);
	if (ret != E_OK) {
		log_message(MSG_ADMIN_AUDIT_FULL, me,
		            "cannot write the audit log: %s; changes are refused",
		            err_text(ret));
		return problem_set(
			&c->problem, c->arena, E_FULL,
			"the audit log cannot be written, so nothing is changed");
	}
	return E_OK;
}

/* The P_Key, port, node or name that a change is about, for the log. */
static const char *subject_of(const struct admin_call *c)
{
	static const char *const members[] = { "pkey", "port", "node", "name" };

	for (unsigned i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const char *text = json_string_value(json_object_get(c->ask, members[i]));

		if (text != NULL) {
			return text;
		}
	}
	return "-";
}

static void audit_outcome(struct admin_call *c, unsigned long long number, int ret)
{
	json_t *line = audit_head(c, number, ret == E_OK ? "done" : "failed");
	const json_t *version = json_object_get(c->heard, "version");
	const struct admin_how *how = c->row->how;
	const char *action = how->action != NULL ? how->action : "";

	json_object_set_new(line, "status",
	                    json_integer(ret == E_OK ? c->row->status : gw_status(ret)));
	if (version != NULL) {
		json_object_set(line, "version", (json_t *)version);
	}
	if (ret != E_OK) {
		json_object_set_new(line, "error", text_json(c->problem.detail));
	}
	if (audit_write(c->admin->audit, line) != E_OK) {
		log_message(MSG_ADMIN_OUTCOME_LOST, me,
		            "the outcome of change %llu is not in the audit log", number);
	}
	log_info(
		me,
		"change %llu user=%s role=%s from=%s fabric=%s %s%s%s of %.80s members=%zu: %s%s",
		number, c->who.name, role_name(c->who.role), c->request->address,
		c->fabric->name, how->verb, *action ? " " : "", action, subject_of(c),
		json_array_size(json_object_get(c->ask, "members")),
		ret == E_OK ? "done" : "failed: ", ret == E_OK ? "" : c->problem.detail);
}

/* ---- the answer ---- */

static void encode_problem(struct admin_call *c, int ret, struct reply *ret_reply)
{
	resource_refuse(&admin_resources, &c->uri, &c->problem, ret, 0, ret_reply);
	if (ret == E_HTTP_RATE) {
		ret_reply->retry_after = c->wait_s;
	}
}

static int run_handler(struct admin_call *c, const char *body, size_t len)
{
	const struct resource *row = c->row;
	const struct admin_how *how = row->how;
	bool change = (row->flags & RESOURCE_CHANGE) != 0;
	unsigned long long number = change ? audit_number(c->admin->audit) : 0;
	int ret = E_OK;

	if (how->verb != NULL) {
		json_object_set_new(c->ask, "verb", json_string(how->verb));
	}
	if (how->action != NULL) {
		json_object_set_new(c->ask, "action", json_string(how->action));
	}
	ret = admin_take_captures(c);
	if (ret == E_OK && row->body.fields != NULL) {
		ret = fields_read(row->body.fields, body, len, row->body.strict, c->arena,
		                  c->ask, &c->problem);
	}
	if (ret == E_OK && how->prepare != NULL) {
		ret = how->prepare(c);
	}
	if (ret == E_OK && change) {
		json_object_set_new(c->ask, "by", json_string(c->who.name));
		ret = audit_ask(c, number);
		if (ret != E_OK) {
			return ret;
		}
	}
	if (ret == E_OK) {
		ret = how->handle(c);
		if (change) {
			audit_outcome(c, number, ret);
		}
	}
	return ret;
}

void admin_answer(struct admin_call *c, const char *body, size_t len,
                  struct reply *ret_reply)
{
	struct reply reply = { .content_type = "application/json" };
	int ret = c->ret;

	if (c->preflight) {
		reply = (struct reply){ .status = 204, .allow = "GET, POST, PUT, DELETE" };
		*ret_reply = reply;
		return;
	}
	if (ret == E_OK) {
		ret = run_handler(c, body, len);
	}
	if (ret == E_OK && c->not_modified) {
		reply.status = 304;
	} else if (ret == E_OK) {
		reply.status = c->row->status;
		body_json(&reply.body, c->out);
		c->out = NULL;
		ret = body_done(&reply.body);
	}
	if (ret != E_OK) {
		encode_problem(c, ret, &reply);
	} else {
		memcpy(reply.etag, c->etag, sizeof(c->etag));
	}
	*ret_reply = reply;
}

void admin_refuse_body(struct admin_call *c, int ret, struct reply *ret_reply)
{
	struct reply reply = { .status = 0 };

	if (ret == E_HTTP_LARGE) {
		problem_set(&c->problem, c->arena, ret, "a body has at most %d bytes",
		            ADMIN_BODY_MAX);
	}
	encode_problem(c, ret, &reply);
	*ret_reply = reply;
}

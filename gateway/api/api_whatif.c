/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * POST /v1/whatif, /v1/compare, /v1/check and /v1/plan: words for a run of `saguaro`, which works on
 * a copy of the published fabric. The body of a what-if:
 *
 *   {"down":["spine-0001","leaf-0003:19"], "link":["leaf-0003:20=spine-0004:7"],
 *    "host":["guest=leaf-0003:21"], "switch":["edge=36"],
 *    "routing_engine":"ftree", "lmc":1, "root_guids":["0x2c9..."], "limit":10}
 *
 * No member names a file, so a client cannot read one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "gateway/api/api_call.h"

enum {
	CHANGES_MAX = 256,
	ROOTS_MAX = 1024,
	WORDS_MAX = 2 * CHANGES_MAX + 16,
	TEXT_MAX = 400,
	COMPARE_SECONDS = 20 /* then engines that are left get no turn; below the time of a run */
};

struct words {
	struct api_call *c;
	const char **word; /* [WORDS_MAX] */
	unsigned n, changes;
	const char *file; /* list of roots, NULL: none */
};

static int refuse_member(struct words *w, int ret, const char *member, const char *why)
{
	return problem_set(&w->c->problem, w->c->arena, ret,
	                   "member '%.100s' of the body: %s", member, why);
}

static int add_word(struct words *w, const char *word)
{
	if (word == NULL || w->n + 1 >= WORDS_MAX) {
		return -ENOMEM;
	}
	w->word[w->n++] = word;
	return E_OK;
}

/* "--down" and so on, once for each string of a list. */
static int add_changes(struct words *w, const char *member, const json_t *list)
{
	const char *flag = arena_printf(w->c->arena, "--%s", member);
	size_t i;
	json_t *v;

	if (!json_is_array(list)) {
		return refuse_member(w, E_SYNTAX, member, "expected a list of strings");
	}
	json_array_foreach(list, i, v)
	{
		const char *text = json_string_value(v);

		if (text == NULL || *text == '\0' || strlen(text) > TEXT_MAX) {
			return refuse_member(w, E_SYNTAX, member,
			                     "expected strings of 1 to 400 bytes");
		}
		if (w->changes++ == CHANGES_MAX) {
			return refuse_member(w, E_RANGE, member,
			                     "more than 256 changes at once");
		}
		int ret = add_word(w, flag);
		if (ret == E_OK) {
			ret = add_word(w, arena_strdup(w->c->arena, text));
		}
		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

/* Names of engines, with commas between. */
static int add_engine(struct words *w, const char *member, const json_t *v)
{
	const char *text = json_string_value(v);

	if (text == NULL || *text == '\0' || strlen(text) > TEXT_MAX ||
	    strspn(text,
	           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-, ") !=
	            strlen(text)) {
		return refuse_member(w, E_SYNTAX, member,
		                     "expected names of routing engines");
	}
	return add_word(w, arena_printf(w->c->arena, "--routing_engine=%s", text));
}

static int add_number(struct words *w, const char *member, const json_t *v,
                      json_int_t max)
{
	json_int_t n = json_integer_value(v);

	if (!json_is_integer(v) || n < 0 || n > max) {
		return refuse_member(w, E_RANGE, member,
		                     arena_printf(w->c->arena,
		                                  "expected a number, 0-%lld",
		                                  (long long)max));
	}
	return add_word(w, arena_printf(w->c->arena, "--%s=%lld", member, (long long)n));
}

/* GUIDs of the root switches, as a file in the memory of the run. */
static int add_roots(struct words *w, const char *member, const json_t *list)
{
	char *text = arena_alloc(w->c->arena, 20 * ROOTS_MAX + 1), *to = text;
	size_t i;
	json_t *v;

	if (text == NULL) {
		return -ENOMEM;
	}
	if (!json_is_array(list) || json_array_size(list) == 0 ||
	    json_array_size(list) > ROOTS_MAX) {
		return refuse_member(w, E_SYNTAX, member,
		                     "expected a list of 1 to 1024 GUIDs");
	}
	json_array_foreach(list, i, v)
	{
		const char *guid = json_string_value(v);
		uint64_t number;

		if (guid == NULL || text_guid(guid, &number) != E_OK) {
			return refuse_member(w, E_SYNTAX, member,
			                     "expected GUIDs, \"0x...\"");
		}
		to += sprintf(to, "0x%016" PRIx64 "\n", number);
	}
	w->file = text;
	return add_word(w, "--root_guid_file=" API_JOB_FILE);
}

static int add_member(struct words *w, const char *member, const json_t *v)
{
	static const char *const changes[] = { "down", "link", "host", "switch" };

	for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		if (strcmp(member, changes[i]) == 0) {
			return add_changes(w, member, v);
		}
	}
	if (strcmp(member, "routing_engine") == 0) {
		return add_engine(w, member, v);
	}
	if (strcmp(member, "lmc") == 0) {
		return add_number(w, member, v, 7);
	}
	if (strcmp(member, "limit") == 0) {
		return add_number(w, member, v, 10000);
	}
	if (strcmp(member, "root_guids") == 0) {
		return add_roots(w, member, v);
	}
	return refuse_member(
		w, E_UNKNOWN, member,
		"not known; known are down, link, host, switch, routing_engine, lmc, root_guids and limit");
}

static int begin(struct words *w, struct api_call *c, const char *command)
{
	*w = (struct words){ .c = c };
	w->word = arena_array(c->arena, WORDS_MAX, sizeof(*w->word));
	return w->word != NULL ? add_word(w, command) : -ENOMEM;
}

static int add_compare_member(struct words *w, const char *member, const json_t *v)
{
	if (strcmp(member, "routing_engine") == 0) {
		return add_engine(w, member, v);
	}
	if (strcmp(member, "seconds") == 0) {
		return add_number(w, member, v, COMPARE_SECONDS);
	}
	if (strcmp(member, "strict") != 0) {
		return refuse_member(
			w, E_UNKNOWN, member,
			"not known; known are routing_engine, seconds and strict");
	}
	if (!json_is_boolean(v)) {
		return refuse_member(w, E_SYNTAX, member, "expected true or false");
	}
	return json_is_true(v) ? add_word(w, "--strict") : E_OK;
}

/* The members of a body that is an object, each as words. */
static int add_members(struct words *w, int (*add)(struct words *w, const char *member,
                                                   const json_t *v))
{
	struct api_call *c = w->c;
	const struct api_request *rq = c->request;
	const char *member;
	json_error_t at;
	json_t *body = json_loadb(rq->body_len > 0 ? rq->body : "", rq->body_len,
	                          JSON_REJECT_DUPLICATES, &at);
	json_t *v;
	int ret = E_OK;

	if (!json_is_object(body)) {
		ret = problem_set(&c->problem, c->arena, E_SYNTAX,
		                  "the body is no JSON object: %s",
		                  body == NULL ? at.text : "it is something else");
	}
	json_object_foreach(body, member, v)
	{
		ret = ret == E_OK ? add(w, member, v) : ret;
	}
	json_decref(body);
	return ret;
}

int api_whatif(struct api_call *c)
{
	struct words w;
	int ret = begin(&w, c, "whatif");

	ret = ret == E_OK ? add_members(&w, add_member) : ret;
	return ret == E_OK ? api_run_job(c, w.word, w.file) : ret;
}

int api_compare(struct api_call *c)
{
	struct words w;
	int ret = begin(&w, c, "compare");

	if (ret == E_OK) {
		ret = add_word(&w, arena_printf(c->arena, "--within=%d", COMPARE_SECONDS));
	}
	ret = ret == E_OK ? add_members(&w, add_compare_member) : ret;
	return ret == E_OK ? api_run_job(c, w.word, NULL) : ret;
}

/* {} or {"strict":true} */
int api_check(struct api_call *c)
{
	const struct api_request *rq = c->request;
	json_t *body = json_loadb(rq->body_len > 0 ? rq->body : "{}",
	                          rq->body_len > 0 ? rq->body_len : 2,
	                          JSON_REJECT_DUPLICATES, NULL);
	const json_t *strict = json_object_get(body, "strict");
	struct words w;
	int ret = begin(&w, c, "check");

	if (ret == E_OK &&
	    (!json_is_object(body) || json_object_size(body) != (strict != NULL) ||
	     (strict != NULL && !json_is_boolean(strict)))) {
		ret = problem_set(&c->problem, c->arena, E_SYNTAX,
		                  "the body is neither {} nor {\"strict\":true}");
	}
	if (ret == E_OK && json_is_true(strict)) {
		ret = add_word(&w, "--strict");
	}
	json_decref(body);
	return ret == E_OK ? api_run_job(c, w.word, NULL) : ret;
}

/* The body is a topology text or a list of cables, which the run reads as its file. */
int api_plan(struct api_call *c)
{
	const struct api_request *rq = c->request;
	char *file = arena_alloc(c->arena, rq->body_len + 1);
	struct words w;
	int ret = begin(&w, c, "plan");

	if (file == NULL) {
		return -ENOMEM;
	}
	if (rq->body_len == 0 || memchr(rq->body, '\0', rq->body_len) != NULL) {
		return problem_set(
			&c->problem, c->arena, E_SYNTAX,
			"the body is no topology text, as ibnetdiscover or /v1/export/topology print it, and no list of cables as /v1/export/cables");
	}
	memcpy(file, rq->body, rq->body_len);
	file[rq->body_len] = '\0';
	if (ret == E_OK) {
		ret = add_word(&w, API_JOB_FILE);
	}
	return ret == E_OK ? api_run_job(c, w.word, file) : ret;
}

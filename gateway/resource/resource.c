/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/resource/resource.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/base/err.h"
#include "conf/base/text.h"
#include "gateway/view/problem.h"
#include "gateway/view/uri.h"

bool resource_lists(const char *list, const char *word, size_t len)
{
	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, " ");

		if (n == len && memcmp(list, word, n) == 0) {
			return true;
		}
		list += n + (list[n] == ' ');
	}
	return false;
}

json_t *resource_words(const char *list)
{
	json_t *words = json_array();

	while (list != NULL && *list != '\0') {
		size_t n = strcspn(list, " ");

		json_array_append_new(words, json_stringn(list, n));
		list += n + (list[n] == ' ');
	}
	return words;
}

int resource_match(const struct resources *set, const char *method, const struct uri *u,
                   const struct resource **ret_row, const char **ret_capture)
{
	const struct resource *other = NULL;

	if (strcmp(method, "HEAD") == 0) {
		method = "GET";
	}
	for (unsigned i = 0; i < set->n; i++) {
		const struct resource *row = &set->row[i];

		if (!uri_fits(u, row->path, RESOURCE_CAPTURES, ret_capture)) {
			continue;
		}
		if (strcmp(row->method, method) == 0) {
			*ret_row = row;
			return E_OK;
		}
		other = row;
	}
	if (other == NULL) {
		return E_HTTP_ENDPOINT;
	}
	(void)uri_fits(u, other->path, RESOURCE_CAPTURES, ret_capture);
	*ret_row = other;
	return E_HTTP_METHOD;
}

void resource_methods(const struct resources *set, const struct uri *u,
                      char ret_text[REPLY_ALLOW_BYTES])
{
	const char *capture[RESOURCE_CAPTURES], *between = "";
	size_t at = 0;

	ret_text[0] = '\0';
	for (unsigned i = 0; i < set->n && at < REPLY_ALLOW_BYTES; i++) {
		const struct resource *row = &set->row[i];
		bool get = strcmp(row->method, "GET") == 0;

		if (uri_fits(u, row->path, RESOURCE_CAPTURES, capture)) {
			at += (size_t)snprintf(ret_text + at, REPLY_ALLOW_BYTES - at,
			                       "%s%s%s", between, row->method,
			                       get ? ", HEAD" : "");
			between = ", ";
		}
	}
	if (set->answers_options && at < REPLY_ALLOW_BYTES) {
		snprintf(ret_text + at, REPLY_ALLOW_BYTES - at, "%sOPTIONS", between);
	}
}

int resource_unknown(const struct resources *set, const struct uri *u, struct arena *a,
                     struct problem *p)
{
	enum { NEAR = 4 };
	const char *near = NULL;
	unsigned best = NEAR + 1;
	json_t *list = json_array();

	for (unsigned i = 0; i < set->n; i++) {
		const char *path = set->row[i].path;
		unsigned d = text_distance(u->path, path, NEAR);

		if (d < best) {
			best = d;
			near = path;
		}
		if (i == 0 || strcmp(path, set->row[i - 1].path) != 0) {
			json_array_append_new(list, json_string(path));
		}
	}
	problem_member(p, "resources", list);
	return problem_set(p, a, E_HTTP_ENDPOINT, "there is no '%.200s'%s%s%s", u->path,
	                   near != NULL ? "; did you mean '" : "",
	                   near != NULL ? near : "",
	                   near != NULL ? "'?" : "; GET / lists all resources");
}

void resource_refuse(const struct resources *set, const struct uri *u, struct problem *p,
                     int ret, uint64_t epoch, struct reply *ret_reply)
{
	problem_reply(p, ret, epoch, ret_reply);
	if (ret == E_HTTP_METHOD) {
		resource_methods(set, u, ret_reply->allow);
	}
}

int resource_check_params(const struct resource *row, const struct uri *u, struct arena *a,
                          struct problem *p)
{
	for (unsigned i = 0; row->params != NULL && i < u->n_params; i++) {
		const char *name = u->param[i].name;

		if (!resource_lists(row->params, name, strlen(name))) {
			problem_member(p, "known", resource_words(row->params));
			return problem_param(p, a, E_HTTP_PARAMETER, name,
			                     "%s knows no parameter '%.60s'; see 'known'",
			                     row->path, name);
		}
	}
	return E_OK;
}

int resource_check_type(const struct resource *row, const char *type, struct arena *a,
                        struct problem *p)
{
	const char *want = row->body.type;
	size_t len;

	if (want == NULL) {
		return E_OK;
	}
	len = strlen(want);
	if (type == NULL || strncasecmp(type, want, len) != 0 ||
	    strchr("; \t", type[len]) == NULL) { /* the NUL at its end counts, too */
		return problem_set(p, a, E_HTTP_TYPE,
		                   "%s needs a body of Content-Type: %s", row->path, want);
	}
	return E_OK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/view/uri.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/view/problem.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes [s, end). plus: '+' is a blank. */
static int decode(const char *s, const char *end, bool plus, struct arena *a,
                  const char **ret_text, struct problem *p)
{
	char *text = arena_alloc(a, (size_t)(end - s) + 1);
	char *to = text;

	if (text == NULL) {
		return -ENOMEM;
	}
	for (; s < end; s++) {
		if (*s != '%') {
			*to++ = plus && *s == '+' ? ' ' : *s;
			continue;
		}
		int high = end - s > 2 ? hex_digit(s[1]) : -1;
		int low = end - s > 2 ? hex_digit(s[2]) : -1;
		if (high < 0 || low < 0 || (high == 0 && low == 0)) {
			int left = end - s < 3 ? (int)(end - s) : 3;
			return problem_set(
				p, a, E_SYNTAX,
				"bad escape '%.*s': expected %% and two hex digits, not 00; write a percent sign as %%25",
				left, s);
		}
		*to++ = (char)(high << 4 | low);
		s += 2;
	}
	*to = '\0';
	if (to - text > URI_VALUE_MAX) {
		return problem_set(
			p, a, E_HTTP_LONG,
			"a name or value of %zu bytes; at most %d are accepted",
			(size_t)(to - text), URI_VALUE_MAX);
	}
	*ret_text = text;
	return E_OK;
}

static int parse_path(const char *s, const char *end, struct arena *a, struct uri *u,
                      struct problem *p)
{
	while (s < end) {
		s++; /* the slash */
		const char *slash = memchr(s, '/', (size_t)(end - s));
		const char *stop = slash != NULL ? slash : end;
		if (stop == s && u->n_segments == 0 && stop == end) {
			return E_OK; /* "/" */
		}
		if (u->n_segments == URI_SEGMENTS_MAX) {
			return problem_set(p, a, E_HTTP_ENDPOINT,
			                   "no resource has more than %d path segments",
			                   URI_SEGMENTS_MAX);
		}
		int ret = decode(s, stop, false, a, &u->segment[u->n_segments], p);
		if (ret != E_OK) {
			return ret;
		}
		u->n_segments++;
		s = stop;
	}
	return E_OK;
}

static int add_param(const char *s, const char *end, struct arena *a, struct uri *u,
                     struct problem *p)
{
	const char *equal = memchr(s, '=', (size_t)(end - s));
	struct uri_param param = { .value = "" };

	int ret = decode(s, equal != NULL ? equal : end, true, a, &param.name, p);
	if (ret == E_OK && equal != NULL) {
		ret = decode(equal + 1, end, true, a, &param.value, p);
		p->parameter = ret != E_OK ? param.name : NULL;
	}
	if (ret != E_OK) {
		return ret;
	}
	if (uri_param(u, param.name) != NULL) {
		return problem_param(p, a, E_HTTP_PARAMETER, param.name,
		                     "parameter '%s' occurs twice", param.name);
	}
	if (u->n_params == URI_PARAMS_MAX) {
		return problem_set(p, a, E_HTTP_PARAMETER, "more than %d parameters",
		                   URI_PARAMS_MAX);
	}
	u->param[u->n_params++] = param;
	return E_OK;
}

static int parse_query(const char *s, struct arena *a, struct uri *u, struct problem *p)
{
	for (;;) {
		const char *end = strchrnul(s, '&');
		if (end > s) {
			int ret = add_param(s, end, a, u, p);
			if (ret != E_OK) {
				return ret;
			}
		}
		if (*end == '\0') {
			return E_OK;
		}
		s = end + 1;
	}
}

int uri_parse(const char *target, struct arena *a, struct uri *ret_uri, struct problem *p)
{
	struct uri u = { .n_segments = 0 };
	size_t len = strnlen(target, URI_MAX + 1);

	if (len > URI_MAX) {
		return problem_set(p, a, E_HTTP_LONG,
		                   "the request target is longer than %d bytes", URI_MAX);
	}
	/* RFC 9112 allows "http://host:port/path", too; the host does not matter */
	if (strncasecmp(target, "http://", 7) == 0) {
		target += 7 + strcspn(target + 7, "/?");
		target = *target == '/' ? target : "/";
	}
	if (target[0] != '/') {
		return problem_set(p, a, E_SYNTAX,
		                   "the request target must begin with '/': '%.60s'",
		                   target);
	}
	const char *end = target + strcspn(target, "?");
	char *path = arena_alloc(a, (size_t)(end - target) + 1);
	if (path == NULL) {
		return -ENOMEM;
	}
	u.path = memcpy(path, target, (size_t)(end - target));
	int ret = parse_path(target, end, a, &u, p);
	if (ret == E_OK && *end == '?') {
		ret = parse_query(end + 1, a, &u, p);
	}
	if (ret == E_OK) {
		*ret_uri = u;
	}
	return ret;
}

const char *uri_param(const struct uri *u, const char *name)
{
	for (unsigned i = 0; i < u->n_params; i++) {
		if (strcmp(u->param[i].name, name) == 0) {
			return u->param[i].value;
		}
	}
	return NULL;
}

bool uri_fits(const struct uri *u, const char *path, unsigned max, const char **ret_capture)
{
	const char *capture[URI_SEGMENTS_MAX] = { NULL };
	unsigned i = 0, n = 0;

	while (path[0] == '/' && path[1] != '\0') {
		const char *segment = path + 1;
		size_t len = strcspn(segment, "/");

		if (i == u->n_segments) {
			return false;
		}
		const char *found = u->segment[i++];
		if (segment[0] == '{') {
			if (found[0] == '\0') {
				return false;
			}
			capture[n++] = found;
		} else if (strlen(found) != len || memcmp(segment, found, len) != 0) {
			return false;
		}
		path = segment + len;
	}
	if (i != u->n_segments) {
		return false;
	}
	memcpy(ret_capture, capture,
	       (max < URI_SEGMENTS_MAX ? max : URI_SEGMENTS_MAX) * sizeof(*capture));
	return true;
}

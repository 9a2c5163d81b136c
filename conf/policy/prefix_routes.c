/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/prefix_routes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"

enum { WORD_MAX = 64 };

static const char blanks[] = " \t\r";
static const struct text_file_kind routes_kind = {
	.what = "a list of routes to other subnets",
	.max_bytes = 1 << 20,
	.usual = "/etc/opensm/prefix-routes.conf",
	.without = "no routes to other subnets",
};

/* Takes the next word of a line. \return Its length, 0: none. */
static size_t word(const char **p, const char *end, char ret_word[WORD_MAX])
{
	while (*p < end && strchr(blanks, **p) && **p) {
		++*p;
	}
	const char *start = *p;
	while (*p < end && **p && !strchr(blanks, **p)) {
		++*p;
	}
	size_t len = (size_t)(*p - start);
	size_t kept = len < WORD_MAX ? len : WORD_MAX - 1;
	memcpy(ret_word, start, kept);
	ret_word[kept] = '\0';
	return len;
}

static int number(const char *text, uint64_t *ret_number)
{
	size_t skip = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 2 : 0;
	size_t digits = strspn(text + skip, "0123456789abcdefABCDEF");
	char hex[2 + 16 + 1] = "0x";

	if (digits == 0 || digits > 16 || text[skip + digits] != '\0') {
		return E_SYNTAX;
	}
	memcpy(hex + 2, text + skip, digits + 1);
	return text_u64(hex, UINT64_MAX, ret_number);
}

static int value(const char *text, bool *ret_any, uint64_t *ret_value)
{
	*ret_any = strcmp(text, "*") == 0;
	return *ret_any ? E_OK : number(text, ret_value);
}

/* \retval E_NOTFOUND  Nothing on the line. */
static int parse_line(const char *p, const char *end, struct prefix_route *ret_route)
{
	char prefix[WORD_MAX], router[WORD_MAX], more[WORD_MAX];

	if (memchr(p, '\0', (size_t)(end - p)) != NULL) {
		return E_SYNTAX;
	}
	if (word(&p, end, prefix) == 0) {
		return E_NOTFOUND;
	}
	if (word(&p, end, router) == 0 || word(&p, end, more) != 0) {
		return E_SYNTAX;
	}
	int ret = value(prefix, &ret_route->any_prefix, &ret_route->prefix);
	return ret == E_OK ? value(router, &ret_route->any_router,
	                           &ret_route->router_port_guid)
	                   : ret;
}

int prefix_routes_parse(const char *path, const char *text, size_t len, struct arena *a,
                        struct diags *d, const struct prefix_routes **ret_routes)
{
	struct prefix_routes *list = arena_alloc(a, sizeof(*list));
	struct prefix_route *route =
		arena_array(a, text_count(text, len, '\n') + 1, sizeof(*route));
	const char *copy = arena_strdup(a, path);
	unsigned line = 0;
	int ret = E_OK;

	if (list == NULL || route == NULL || copy == NULL) {
		return -ENOMEM;
	}
	*list = (struct prefix_routes){ .path = copy, .route = route };
	for (size_t at = 0; at < len;) {
		const char *p = text + at, *stop = p + text_line(text, len, &at);
		const char *comment = memchr(p, '#', (size_t)(stop - p));
		int got =
			parse_line(p, comment != NULL ? comment : stop, &route[list->n]);

		line++;
		if (got == E_OK) {
			list->n++;
		} else if (got != E_NOTFOUND) {
			diag_add(
				d, DIAG_ERROR, path, line,
				"expected a prefix and the GUID of a router port, each up to 16 hex digits or *");
			ret = E_SYNTAX;
		}
	}
	if (ret == E_OK) {
		*ret_routes = list;
	}
	return ret;
}

int prefix_routes_read(const char *path, struct arena *a, struct diags *d,
                       const void **ret_value)
{
	const struct prefix_routes *list = NULL;
	char *text = NULL;
	size_t len = 0;
	int ret = text_file_read(path, &routes_kind, d, &text, &len);

	if (ret == E_OK) {
		ret = prefix_routes_parse(path, text != NULL ? text : "", len, a, d,
		                          &list);
	}
	free(text);
	if (ret == E_OK) {
		*ret_value = list;
	}
	return ret;
}

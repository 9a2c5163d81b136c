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
static size_t word(const char **p, const char *end, char ret[WORD_MAX])
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
	memcpy(ret, start, kept);
	ret[kept] = '\0';
	return len;
}

static int number(const char *text, uint64_t *ret)
{
	size_t skip = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 2 : 0;
	size_t digits = strspn(text + skip, "0123456789abcdefABCDEF");
	char hex[2 + 16 + 1] = "0x";

	if (digits == 0 || digits > 16 || text[skip + digits] != '\0') {
		return E_SYNTAX;
	}
	memcpy(hex + 2, text + skip, digits + 1);
	return text_u64(hex, UINT64_MAX, ret);
}

static int value(const char *text, bool *ret_any, uint64_t *ret)
{
	*ret_any = strcmp(text, "*") == 0;
	return *ret_any ? E_OK : number(text, ret);
}

/* \retval E_NOTFOUND  Nothing on the line. */
static int parse_line(const char *p, const char *end, struct prefix_route *ret)
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
	int err = value(prefix, &ret->any_prefix, &ret->prefix);
	return err == E_OK ? value(router, &ret->any_router, &ret->router_port_guid)
	                   : err;
}

int prefix_routes_parse(const char *path, const char *text, size_t len, struct arena *a,
                        struct diags *d, const struct prefix_routes **ret)
{
	struct prefix_routes *list = arena_alloc(a, sizeof(*list));
	struct prefix_route *route =
		arena_array(a, text_count(text, len, '\n') + 1, sizeof(*route));
	const char *copy = arena_strdup(a, path);
	unsigned line = 0;
	int err = E_OK;

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
			diag_add(d, DIAG_ERROR, path, line,
			         "expected a prefix and the GUID of a router port, each "
			         "up to 16 hex digits or *");
			err = E_SYNTAX;
		}
	}
	if (err == E_OK) {
		*ret = list;
	}
	return err;
}

int prefix_routes_read(const char *path, struct arena *a, struct diags *d,
                       const void **ret)
{
	const struct prefix_routes *list = NULL;
	char *text = NULL;
	size_t len = 0;
	int err = text_file_read(path, &routes_kind, d, &text, &len);

	if (err == E_OK) {
		err = prefix_routes_parse(path, text != NULL ? text : "", len, a, d,
		                          &list);
	}
	free(text);
	if (err == E_OK) {
		*ret = list;
	}
	return err;
}

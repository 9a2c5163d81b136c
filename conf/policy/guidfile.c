/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/guidfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"
#include "conf/policy/port_policy.h"

/* A million GUIDs with a description each; more is surely something else. */
static const struct text_file_kind list_kind = { .what = "a list of GUIDs",
	                                         .max_bytes = 64 << 20 };

struct guid_reader {
	struct diags *d;
	const char *path;
	bool groups; /* names of port groups are allowed */
	unsigned line;
	struct guid_record *records;
	uint32_t n;
	int ret;
};

static void bad_line(struct guid_reader *r, const char *what, const char *text)
{
	diag_add(r->d, DIAG_ERROR, r->path, r->line, "%s: '%.64s'", what, text);
	r->ret = E_SYNTAX;
}

/* A group's name is the whole line, and does not begin as a number. */
static bool is_name(const char *text)
{
	uint64_t guid;

	return (isalpha((unsigned char)text[0]) || text[0] == '_') &&
	       text_number(text, &guid) == E_SYNTAX;
}

/* \a text is one line, with a NUL in place of its newline. */
static void read_line(struct guid_reader *r, char *text, size_t len)
{
	struct guid_record *to = &r->records[r->n];

	if (text_has_control(text, len)) {
		bad_line(r, "a byte that is not text", text);
		return;
	}
	text = text_skip_blanks(text);
	text_cut_comment(text);
	if (*text == '\0') {
		return;
	}
	if (r->groups && is_name(text)) {
		*to = (struct guid_record){ .rest = "", .line = r->line, .group = text };
		r->n++;
		return;
	}
	char *end = text + strcspn(text, " \t\r");
	char *rest = text_skip_blanks(end);
	*end = '\0';
	switch (text_number(text, &to->guid)) {
	case E_OK: break;
	case E_RANGE: bad_line(r, "a GUID of more than 64 bits", text); return;
	default:
		bad_line(r, "expected a GUID (0x and up to 16 hex digits)", text);
		return;
	}
	to->line = r->line;
	to->rest = rest;
	r->n++;
}

int guid_file_parse(const char *path, const char *text, size_t len, bool groups,
                    struct arena *a, struct diags *d, const struct guid_file **ret_file)
{
	struct guid_reader r = { .d = d, .groups = groups };
	char *copy = arena_alloc(a, len + 1), *line;
	size_t at = 0, n;
	struct guid_file *file = arena_alloc(a, sizeof(*file));

	r.records = arena_array(a, text_count(text, len, '\n') + 1, sizeof(*r.records));
	r.path = arena_strdup(a, path);
	if (copy == NULL || file == NULL || r.records == NULL || r.path == NULL) {
		return -ENOMEM;
	}
	memcpy(copy, text, len);
	while ((line = text_cut_line(copy, len, &at, &n)) != NULL) {
		r.line++;
		read_line(&r, line, n);
	}
	if (r.ret == E_OK) {
		*file = (struct guid_file){ r.path, r.records, r.n, NULL };
		*ret_file = file;
	}
	return r.ret;
}

static int read_file(const char *path, bool groups, struct arena *a, struct diags *d,
                     const struct guid_file **ret_file)
{
	char *text = NULL;
	size_t len = 0;
	int ret = text_file_read(path, &list_kind, d, &text, &len);

	if (ret == E_OK) {
		ret = guid_file_parse(path, text, len, groups, a, d, ret_file);
	}
	free(text);
	return ret;
}

int guid_file_read(const char *path, struct arena *a, struct diags *d,
                   const struct guid_file **ret_file)
{
	return read_file(path, false, a, d, ret_file);
}

int guid_group_file_read(const char *path, struct arena *a, struct diags *d,
                         const void **ret_value)
{
	const struct guid_file *list = NULL;
	int ret = read_file(path, true, a, d, &list);

	if (ret == E_OK) {
		*ret_value = list;
	}
	return ret;
}

int guid_file_bind(const struct guid_file **file, const struct port_policy *groups,
                   struct arena *a, struct diags *d)
{
	const struct guid_file *f = *file;
	struct guid_file *bound = f != NULL ? arena_alloc(a, sizeof(*bound)) : NULL;
	int ret = E_OK;

	if (f == NULL || bound == NULL) {
		return f == NULL ? E_OK : -ENOMEM;
	}
	*bound = *f;
	bound->groups = groups != NULL ? groups : port_policy_builtin();
	for (uint32_t i = 0; i < f->n; i++) {
		const struct guid_record *r = &f->records[i];

		if (r->group != NULL &&
		    port_policy_find(bound->groups, r->group) == PORT_POLICY_NONE) {
			diag_add(d, DIAG_ERROR, f->path, r->line,
			         "'%.64s' is no GUID and no port group%s%s", r->group,
			         groups != NULL ? " of "
			                        : ": there is no pgrp_policy_file",
			         groups != NULL ? groups->path : "");
			ret = E_UNKNOWN;
		}
	}
	*file = bound;
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"
#include "conf/base/vector.h"

enum { BLOCKS_MAX = 65536, FIELDS_MAX = 16 };
static const struct text_file_kind policy_kind = {
	.what = "a policy of groups, topologies or steps", .max_bytes = 16 << 20
};

struct policy_reader {
	const char *path, *keyword;
	const char *const *known;
	struct arena *a;
	struct diags *d;
	unsigned line;
	struct policy_block *blocks; /* [n] */
	unsigned n;
	size_t cap;
	struct policy_field field[FIELDS_MAX];
	unsigned n_fields;
	unsigned open; /* line of the keyword, 0: between paragraphs */
	bool bad;
};

static void complain(struct policy_reader *r, const char *text, const char *what)
{
	char shown[64];

	snprintf(shown, sizeof(shown), "%s", text);
	text_printable(shown);
	diag_add(r->d, DIAG_ERROR, r->path, r->line, "'%s': %s", shown, what);
	r->bad = true;
}

static int close_block(struct policy_reader *r)
{
	struct policy_field *fields = arena_array(r->a, r->n_fields, sizeof(*fields));

	if (fields == NULL ||
	    ARENA_RESERVE(r->a, r->blocks, r->n, r->cap, r->n + 1U) != E_OK) {
		return -ENOMEM;
	}
	memcpy(fields, r->field, r->n_fields * sizeof(*fields));
	r->blocks[r->n++] = (struct policy_block){ fields, r->n_fields, r->open };
	r->open = 0;
	return E_OK;
}

static bool is_known(const struct policy_reader *r, const char *name)
{
	for (const char *const *k = r->known; *k; k++) {
		if (!strcmp(*k, name)) {
			return true;
		}
	}
	return false;
}

static void add_field(struct policy_reader *r, char *text)
{
	char *colon = strchr(text, ':'), *name, *value;

	if (!colon) {
		complain(r, text, "expected name: value");
		return;
	}
	*colon = '\0';
	name = text_trim(text);
	value = text_trim(colon + 1);
	if (!is_known(r, name)) {
		complain(r, name, "no such name in this paragraph");
		return;
	}
	for (unsigned i = 0; i < r->n_fields; i++) {
		if (!strcmp(r->field[i].name, name)) {
			complain(r, name, "stands here twice");
			return;
		}
	}
	if (*value == '\0') {
		complain(r, name, "has no value");
		return;
	}
	if (r->n_fields < FIELDS_MAX) {
		r->field[r->n_fields++] = (struct policy_field){ name, value, r->line };
	}
}

static int take_line(struct policy_reader *r, char *text)
{
	size_t len = strlen(r->keyword);
	bool is_end = !strncmp(text, "end-", 4) && !strcmp(text + 4, r->keyword);

	if (*text == '\0' || *text == '#') {
		return E_OK;
	}
	if (is_end && r->open) {
		return close_block(r);
	}
	if (!strncmp(text, r->keyword, len) && text[len] == '\0' && !r->open) {
		r->open = r->line;
		r->n_fields = 0;
	} else if (!r->open) {
		complain(r, text, "outside of a paragraph");
	} else {
		add_field(r, text);
	}
	return E_OK;
}

static int take_lines(struct policy_reader *r, char *text)
{
	while (text && r->n < BLOCKS_MAX) {
		char *newline = strchr(text, '\n');
		int ret;

		if (newline) {
			*newline = '\0';
		}
		r->line++;
		ret = take_line(r, text_trim(text));
		if (ret != E_OK) {
			return ret;
		}
		text = newline ? newline + 1 : NULL;
	}
	if (r->open) {
		diag_add(r->d, DIAG_ERROR, r->path, r->open, "%s without end-%s", r->keyword,
		         r->keyword);
		r->bad = true;
	}
	return r->bad ? E_SYNTAX : E_OK;
}

static int take_text(struct policy_reader *r, const char *path, const char *text,
                     size_t len)
{
	char *copy = arena_alloc(r->a, len + 1);

	r->path = arena_strdup(r->a, path);
	if (!copy || !r->path) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < len; i++) {
		copy[i] = text[i] ? text[i] : '?';
	}
	return take_lines(r, copy);
}

int policy_read(const char *path, const char *keyword, const char *const *known,
                struct arena *a, struct diags *d, struct policy *ret_policy)
{
	struct policy_reader r = { .keyword = keyword, .known = known, .a = a, .d = d };
	char *text = NULL;
	size_t len = 0;
	int ret = text_file_read(path, &policy_kind, d, &text, &len);

	if (ret == E_OK) {
		ret = take_text(&r, path, text, len);
	}
	free(text);
	if (ret == E_OK) {
		*ret_policy = (struct policy){ r.path, r.blocks, r.n };
	}
	return ret;
}

const char *policy_value(const struct policy_block *b, const char *name)
{
	for (unsigned i = 0; i < b->n; i++) {
		if (!strcmp(b->fields[i].name, name)) {
			return b->fields[i].value;
		}
	}
	return NULL;
}

unsigned policy_line(const struct policy_block *b, const char *name)
{
	for (unsigned i = 0; i < b->n; i++) {
		if (!strcmp(b->fields[i].name, name)) {
			return b->fields[i].line;
		}
	}
	return b->line;
}

int policy_number(const struct policy *p, const struct policy_block *b, const char *name,
                  bool needed, uint32_t def, uint32_t min, uint32_t max, struct diags *d,
                  uint32_t *ret_number)
{
	const char *text = policy_value(b, name);
	uint64_t value = def;

	if (!text && needed) {
		diag_add(d, DIAG_ERROR, p->path, b->line, "%s is missing", name);
		return E_SYNTAX;
	}
	if (text && (text_u64(text, max, &value) != E_OK || value < min)) {
		diag_add(d, DIAG_ERROR, p->path, policy_line(b, name),
		         "%s: expected a number from %u to %u, not '%s'", name, min, max, text);
		return E_SYNTAX;
	}
	*ret_number = (uint32_t)value;
	return E_OK;
}

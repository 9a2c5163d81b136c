/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/policy/node_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "conf/base/text.h"
#include "conf/base/text_file.h"

/* Half a million nodes; more is surely something else. */
static const struct text_file_kind map_kind = {
	.what = "a map of node names",
	.max_bytes = 64 << 20,
	.text_only = true,
	.without = "nodes are named by their descriptions",
};

struct name_reader {
	struct diags *d;
	const char *path;
	unsigned line;
	struct node_name *names;
	uint32_t n;
};

static void warn(struct name_reader *r, const char *what, const char *text)
{
	diag_add(r->d, DIAG_WARNING, r->path, r->line, "%s: '%.64s'; the line is skipped",
	         what, text);
}

/* Takes the text between quotes, or up to a comment. \param rest  Where the text behind it
 * begins. NULL: there is no name. */
static char *cut_name(char *text, char **rest)
{
	const bool quoted = *text == '"';
	char *name = quoted ? text + 1 : text;
	char *end = name + strcspn(name, quoted ? "\"" : "#");

	if (quoted && *end == '\0') {
		return NULL;
	}
	*rest = end + quoted;
	*rest = **rest == '#' ? *rest + strlen(*rest) : *rest;
	*end = '\0';
	name = text_trim(name);
	return *name != '\0' ? name : NULL;
}

/* Cuts a name behind its last whole character. */
static void limit_name(struct name_reader *r, char *name)
{
	enum { TAIL = 0xc0, CONTINUED = 0x80 };
	size_t n = NODE_NAME_MAX;

	if (strlen(name) <= NODE_NAME_MAX) {
		return;
	}
	while (n > 0 && ((unsigned char)name[n] & TAIL) == CONTINUED) {
		n--;
	}
	diag_add(r->d, DIAG_WARNING, r->path, r->line,
	         "a name of more than %d bytes is cut: '%.64s'", NODE_NAME_MAX, name);
	name[n] = '\0';
}

/* \a text is one line, with a NUL in place of its newline. */
static void read_line(struct name_reader *r, char *text, size_t len)
{
	struct node_name *to = &r->names[r->n];
	char *rest = "";

	if (text_has_control(text, len)) {
		warn(r, "a byte that is not text", text);
		return;
	}
	text = text_trim(text);
	if (*text == '\0' || *text == '#') {
		return;
	}
	char *end = text + strcspn(text, " \t\"#");
	char *behind = text_skip_blanks(end);
	char *name = cut_name(behind, &rest);
	if (name == NULL || end == text) {
		warn(r,
		     "expected a GUID and a name, such as 0x0002c90300001234 \"leaf 7\"",
		     text);
		return;
	}
	rest = text_skip_blanks(rest);
	if (*rest != '\0' && *rest != '#') {
		warn(r, "expected nothing or a comment with '#' behind the name", rest);
		return;
	}
	*end = '\0';
	if (text_number(text, &to->guid) != E_OK || to->guid == 0) {
		warn(r, "expected a GUID (0x and up to 16 hex digits)", text);
		return;
	}
	limit_name(r, name);
	to->name = name;
	to->line = r->line;
	r->n++;
}

static int compare(const void *pa, const void *pb)
{
	const struct node_name *a = pa, *b = pb;

	if (a->guid != b->guid) {
		return a->guid < b->guid ? -1 : 1;
	}
	return a->line < b->line ? -1 : a->line > b->line;
}

/* By GUID; of several names of one the first holds. */
static void sort_names(struct name_reader *r)
{
	uint32_t n = 0;

	qsort(r->names, r->n, sizeof(*r->names), compare);
	for (uint32_t i = 0; i < r->n; i++) {
		const struct node_name *last = n > 0 ? &r->names[n - 1] : NULL;
		if (last == NULL || last->guid != r->names[i].guid) {
			r->names[n++] = r->names[i];
		} else if (strcmp(last->name, r->names[i].name) != 0) {
			diag_add(r->d, DIAG_WARNING, r->path, r->names[i].line,
			         "0x%016" PRIx64
			         " is '%s' already in line %u; the first name holds",
			         last->guid, last->name, last->line);
		}
	}
	r->n = n;
}

int node_names_parse(const char *path, const char *text, size_t len, struct arena *a,
                     struct diags *d, const struct node_names **ret_names)
{
	struct name_reader r = { .d = d, .path = arena_strdup(a, path) };
	char *copy = arena_alloc(a, len + 1), *line;
	size_t at = 0, n;
	struct node_names *map = arena_alloc(a, sizeof(*map));

	r.names = arena_array(a, text_count(text, len, '\n') + 1, sizeof(*r.names));
	if (r.path == NULL || copy == NULL || map == NULL || r.names == NULL) {
		return -ENOMEM;
	}
	memcpy(copy, text, len);
	while ((line = text_cut_line(copy, len, &at, &n)) != NULL) {
		r.line++;
		read_line(&r, line, n);
	}
	sort_names(&r);
	*map = (struct node_names){ r.path, r.names, r.n };
	*ret_names = map;
	return E_OK;
}

int node_names_read(const char *path, struct arena *a, struct diags *d,
                    const void **ret_value)
{
	const struct node_names *map = NULL;
	char *text = NULL;
	size_t len = 0;
	int ret = text_file_read(path, &map_kind, d, &text, &len);

	if (ret == E_OK) {
		ret = node_names_parse(path, text != NULL ? text : "", len, a, d, &map);
	}
	free(text);
	if (ret == E_OK) {
		*ret_value = map;
	}
	return ret;
}

const char *node_names_find(const struct node_names *n, uint64_t guid)
{
	uint32_t len = n != NULL ? n->n : 0;
	size_t at = LOWER_BOUND(len, i, n->names[i].guid < guid);

	return at < len && n->names[at].guid == guid ? n->names[at].name : NULL;
}

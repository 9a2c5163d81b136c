/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/cli/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/text.h"
#include "conf/base/vector.h"
#include "gateway/api/api.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"

enum { PATH_BYTES = 128, HELP_BYTES = 256, DEPTH_MAX = 4 };

const struct option_row list_rows[] = { LIST_ROWS(struct client_flags), { NULL } };

/* The end of the path of an object whose members have no names in the schema. */
#define ANY_MEMBER ".*"

struct list_fields {
	char (*path)[PATH_BYTES];
	char (*help)[HELP_BYTES]; /* what it means; "": nothing is said */
	size_t n, cap, help_cap;
};

/* --- fields, from the schema ----------------------------------------------------------- */

/* The schema of objects that a member holds, or NULL: it holds none. */
static const json_t *objects_of(const json_t *all, const json_t *type)
{
	const char *ref = json_string_value(json_object_get(type, "$ref"));
	const json_t *either = json_array_get(json_object_get(type, "oneOf"), 0);

	if (either != NULL) {
		return objects_of(all, either);
	}
	return ref != NULL ? json_object_get(all, strrchr(ref, '/') + 1) : NULL;
}

static bool add_field(struct list_fields *f, const char *path, const char *help)
{
	if (VECTOR_RESERVE(f->path, f->cap, f->n + 1) != 0 ||
	    VECTOR_RESERVE(f->help, f->help_cap, f->n + 1) != 0) {
		return false;
	}
	snprintf(f->help[f->n], HELP_BYTES, "%s", help);
	snprintf(f->path[f->n++], PATH_BYTES, "%s", path);
	return true;
}

/* Members that every row has, down to values; members of members with a dot between. */
static bool add_fields(struct list_fields *f, const json_t *all, const json_t *schema,
                       const char *prefix, const char *above, unsigned depth)
{
	const json_t *properties = json_object_get(schema, "properties");
	json_t *name;
	char path[PATH_BYTES], help[HELP_BYTES];
	size_t i;
	bool good = true;

	json_array_foreach(json_object_get(schema, "required"), i, name)
	{
		const json_t *type = json_object_get(properties, json_string_value(name));
		const json_t *inner = objects_of(all, type);

		if (snprintf(path, sizeof(path), "%s%s", prefix,
		             json_string_value(name)) >= (int)sizeof(path) - 1) {
			continue;
		}
		const char *text =
			json_string_value(json_object_get(type, "description"));
		size_t len = strcspn(above, ";"); /* more than that is about null */
		snprintf(help, sizeof(help), "%.*s%s%.120s", len < 120 ? (int)len : 120,
		         above, above[0] != '\0' ? ": " : "", text != NULL ? text : "");
		if (json_is_object(json_object_get(type, "additionalProperties")) &&
		    strlen(path) + sizeof(ANY_MEMBER) < sizeof(path)) {
			strcat(path, ANY_MEMBER);
		}
		if (inner == NULL || depth == DEPTH_MAX) {
			good = good && add_field(f, path, help);
			continue;
		}
		strcat(path, ".");
		good = good && add_fields(f, all, inner, path, help, depth + 1);
	}
	return good;
}

static bool is_any_member(const char *path)
{
	size_t len = strlen(path), end = sizeof(ANY_MEMBER) - 1;

	return len > end && strcmp(path + len - end, ANY_MEMBER) == 0;
}

static bool is_field(const struct list_fields *f, const char *name, size_t len)
{
	for (size_t i = 0; i < f->n; i++) {
		size_t n = strlen(f->path[i]);
		bool any = is_any_member(f->path[i]);

		n -= any; /* the dot stays */
		if ((any ? len > n : len == n) && memcmp(f->path[i], name, n) == 0) {
			return true;
		}
	}
	return false;
}

/* Without --field there is a column for each field with a name. */
static void drop_any_members(struct list_fields *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (!is_any_member(f->path[i])) {
			memmove(f->help[n], f->help[i], HELP_BYTES);
			memmove(f->path[n++], f->path[i], PATH_BYTES);
		}
	}
	f->n = n;
}

static void print_fields(FILE *to, const struct list_fields *f, const char *before)
{
	for (size_t i = 0; i < f->n; i++) {
		fprintf(to, "%s%s\n", before, f->path[i]);
	}
}

/* For the build: the names with what they mean, a tab between. */
static void print_manual(const struct list_fields *f)
{
	for (size_t i = 0; i < f->n; i++) {
		printf("%s\t%s\n", f->path[i], f->help[i]);
	}
}

static void free_fields(struct list_fields *f)
{
	free(f->path);
	free(f->help);
	*f = (struct list_fields){ .n = 0 };
}

/* Replaces all fields by those that --field names. */
static int choose_fields(const struct client *s, struct list_fields *f)
{
	struct list_fields chosen = { .n = 0 };
	const char *p = s->flags.field;
	char path[PATH_BYTES];

	while (p != NULL) {
		size_t len = strcspn(p, ",");

		if (!is_field(f, p, len)) {
			fprintf(stderr, "%s: there is no field '%.*s'; expected one of\n",
			        s->program, len < 100 ? (int)len : 100, p);
			print_fields(stderr, f, "  ");
			free_fields(&chosen);
			return EXIT_USAGE;
		}
		snprintf(path, sizeof(path), "%.*s", (int)len, p);
		if (!add_field(&chosen, path, "")) {
			free_fields(&chosen);
			return EXIT_USAGE;
		}
		p = p[len] == ',' ? p + len + 1 : NULL;
	}
	free_fields(f);
	*f = chosen;
	return EXIT_GOOD;
}

static bool name_fields(struct list_fields *f, const struct list *l,
                        const char *const *names)
{
	bool good = true;
	json_t *all;

	for (; names != NULL && *names != NULL && good; names++) {
		good = add_field(f, *names, "");
	}
	if (l->schema == NULL) {
		return good;
	}
	all = api_schemas();
	good = add_fields(f, all, json_object_get(all, l->schema), "", "", 0);
	json_decref(all);
	return good;
}

int list_open(struct client *s, const struct list *l, const char *const *names,
              bool *ret_done)
{
	struct list_fields *f = arena_alloc(s->arena, sizeof(*f));
	bool ask = s->flags.field != NULL && strcmp(s->flags.field, "list") == 0;
	bool manual =
		s->flags.field != NULL && strcmp(s->flags.field, "manual-source") == 0;
	int status = EXIT_GOOD;

	if (list_of_fields(s) && s->flags.json) {
		fprintf(stderr, "%s: --json goes with neither --csv nor --field\n",
		        s->program);
		return EXIT_USAGE;
	}
	/* A table for people has columns of its own, so the schemas need not be made. */
	if (f == NULL || (list_of_fields(s) && !name_fields(f, l, names))) {
		fprintf(stderr, "%s: out of memory\n", s->program);
		return EXIT_USAGE;
	}
	s->list = l;
	s->fields = f;
	if (ask) {
		print_fields(stdout, f, "");
	} else if (manual) {
		print_manual(f);
	} else if (s->flags.field != NULL) {
		status = choose_fields(s, f);
	} else {
		drop_any_members(f);
	}
	*ret_done = ask || manual;
	return status;
}

void list_close(struct client *s)
{
	if (s->fields != NULL) {
		free_fields(s->fields);
		s->fields = NULL;
	}
}

bool list_of_fields(const struct client *s)
{
	return s->flags.csv || s->flags.field != NULL;
}

/* --- printing -------------------------------------------------------------------------- */

static const json_t *value_at(const json_t *row, const char *path, size_t len)
{
	while (row != NULL && len > 0) {
		size_t n = 0;
		char name[PATH_BYTES];

		while (n < len && path[n] != '.') {
			n++;
		}
		snprintf(name, sizeof(name), "%.*s", (int)n, path);
		row = json_object_get(row, name);
		n += n < len;
		path += n;
		len -= n;
	}
	return row;
}

/* A value as text, without control characters, which a terminal would obey. */
static void text_of(const json_t *v, char *buf, size_t size)
{
	char *json;

	buf[0] = '\0';
	if (json_is_string(v)) {
		snprintf(buf, size, "%s", json_string_value(v));
	} else if (json_is_integer(v)) {
		snprintf(buf, size, "%lld", json_integer_value(v));
	} else if (json_is_real(v)) {
		snprintf(buf, size, "%g", json_real_value(v));
	} else if (json_is_boolean(v)) {
		snprintf(buf, size, "%s", json_is_true(v) ? "true" : "false");
	} else if (v != NULL && !json_is_null(v)) {
		json = json_dumps(v, JSON_COMPACT | JSON_ENSURE_ASCII);
		snprintf(buf, size, "%s", json != NULL ? json : "");
		free(json);
	}
	text_printable(buf);
}

/* A name that begins as a formula does is text for a spreadsheet when a quote stands in front. */
static void print_csv(const json_t *v, const char *text)
{
	const char *lead = json_is_string(v) && text[0] != '\0' &&
	                                   strchr("=+-@\t\r", text[0]) != NULL
	                           ? "'"
	                           : "";

	if (strpbrk(text, ",\"") == NULL) {
		printf("%s%s", lead, text);
		return;
	}
	printf("\"%s", lead);
	for (; *text != '\0'; text++) {
		printf(*text == '"' ? "\"\"" : "%c", *text);
	}
	putchar('"');
}

void list_row(const struct client *s, const json_t *row)
{
	const struct list_fields *f = s->fields;
	char text[1024];

	for (size_t i = 0; i < f->n; i++) {
		const json_t *v = value_at(row, f->path[i], strlen(f->path[i]));

		text_of(v, text, sizeof(text));
		if (!s->flags.csv) {
			printf("%s%s", i > 0 ? "\t" : "", text);
			continue;
		}
		printf("%s", i > 0 ? "," : "");
		print_csv(v, text);
	}
	putchar('\n');
}

static void print_cell(const struct list_column *c, const char *text)
{
	bool last = c[1].title == NULL;

	printf("%*s%s", last ? 0 : c->width, text, last ? "\n" : "  ");
}

static void print_columns(const struct list *l, const json_t *row)
{
	char text[1024];

	for (const struct list_column *c = l->columns; c != NULL && c->title != NULL;
	     c++) {
		size_t first = strcspn(c->path, ":"), len;

		text_of(value_at(row, c->path, first), text, sizeof(text));
		len = strlen(text);
		if (c->path[first] == ':' && len > 0 && len + 2 < sizeof(text)) {
			text_of(value_at(row, c->path + first + 1,
			                 strlen(c->path + first + 1)),
			        text + len + 1, sizeof(text) - len - 1);
			if (text[len + 1] != '\0') { /* else it is a node, not a port of it */
				text[len] = ':';
			}
		}
		print_cell(c, text[0] != '\0' ? text : "-");
	}
}

void list_head(const struct client *s)
{
	for (size_t i = 0; s->flags.csv && i < s->fields->n; i++) {
		printf("%s%s%s", i > 0 ? "," : "", s->fields->path[i],
		       i + 1 == s->fields->n ? "\n" : "");
	}
}

static int print_page(const struct client *s, const json_t *body, bool first)
{
	const struct list *l = s->list;
	bool fields = list_of_fields(s);
	size_t i;
	json_t *row;

	if (s->flags.json) {
		return client_print_json(body);
	}
	if (l->print != NULL && !fields) {
		return l->print(s, body, first);
	}
	if (first && fields) {
		list_head(s);
	}
	if (first && !fields && l->above != NULL) {
		l->above(body);
	}
	for (const struct list_column *c = l->columns;
	     first && !fields && c != NULL && c->title != NULL; c++) {
		print_cell(c, c->title);
	}
	json_array_foreach(json_object_get(body, l->member), i, row)
	{
		if (fields) {
			list_row(s, row);
			continue;
		}
		print_columns(l, row);
		if (l->below != NULL) {
			l->below(row);
		}
	}
	return ferror(stdout) ? EXIT_BAD : EXIT_GOOD;
}

/* The pages of a target, or this one. */
static int print_list(struct client *s, const struct list *l, const char *const *names,
                      const char *target, const json_t *body)
{
	bool done = false;
	int status = list_open(s, l, names, &done);

	if (status == EXIT_GOOD && !done) {
		status = body != NULL ? print_page(s, body, true)
		                      : client_print_list(s, target, print_page);
	}
	list_close(s);
	return status;
}

int list_print(struct client *s, const struct list *l, const char *target)
{
	return list_print_named(s, l, NULL, target);
}

int list_print_named(struct client *s, const struct list *l, const char *const *names,
                     const char *target)
{
	return print_list(s, l, names, target, NULL);
}

int list_print_body(struct client *s, const struct list *l, const char *const *names,
                    const json_t *body)
{
	return print_list(s, l, names, NULL, body);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * apiman: writes what saguaro-api(7) has from tables: the resources, their parameters and what
 * answers hold. /openapi.json comes from the same tables. Run at build time.
 */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "conf/base/text.h"
#include "gateway/api/api.h"

static void print_text(const char *s)
{
	text_print_roff(s, stdout);
}

static void print_parameters(const char *const *names)
{
	const char *before = "Parameters: \\fB";

	for (; names != NULL && *names != NULL; names++) {
		fputs(before, stdout);
		print_text(*names);
		before = "\\fR, \\fB";
	}
	if (before[0] == '\\') {
		puts("\\fR.");
	}
}

static void print_resources(void)
{
	puts(".SH RESOURCES");
	for (unsigned i = 0; i < api_rows.n; i++) {
		const struct api_row *row = &api_rows.row[i];
		printf(".TP\n\\fB%s ", row->method);
		print_text(row->path);
		puts("\\fR");
		print_text(row->summary);
		puts(".");
		if (row->params == NULL) {
			puts("Parameters: the components of the record, \\fBlimit\\fR, "
			     "\\fBcursor\\fR, "
			     "\\fBstream\\fR, \\fBfrom\\fR.");
		}
		print_parameters(row->params);
		printf("Answer: %s.\n", row->answer != NULL ? row->answer : "text");
	}
}

static void print_all_parameters(void)
{
	static const struct {
		const char *name, *type, *help;
	} params[] = {
#define PARAM(name, type, help) { #name, type, help },
#include "gateway/api/params.def"
#undef PARAM
	};

	puts(".SH PARAMETERS");
	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		puts(".TP");
		printf("\\fB%s=\\fR\\fI", params[i].name);
		print_text(params[i].type);
		puts("\\fR");
		print_text(params[i].help);
		puts(".");
	}
}

/* "member?:type": \fImember\fR type, with '?' behind what may be missing. */
static void print_members(const char *members)
{
	for (const char *p = members; *p != '\0';) {
		size_t len = strcspn(p, " "), name = strcspn(p, ":");
		printf("\\fI%.*s\\fR ", (int)name, p);
		if (len > name) {
			printf("%.*s", (int)(len - name - 1), p + name + 1);
		}
		p += len;
		p += strspn(p, " ");
		puts(*p != '\0' ? "," : ".");
	}
}

static void print_answers(void)
{
	static const struct {
		const char *name, *members, *help;
	} schemas[] = {
#define SCHEMA(name, members, help) { #name, members, help },
#include "gateway/api/schemas.def"
#undef SCHEMA
	};

	puts(".SH ANSWERS\nMembers with their types. A member with ? may be missing, and "
	     "a value "
	     "whose type has ? may be null. [T] is a list of T, {T} an object whose "
	     "members are "
	     "all T, a|b one of these words. GUIDs are text, because numbers of JSON "
	     "lose digits "
	     "above 2^53.");
	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
		printf(".TP\n\\fB%s\\fR\n", schemas[i].name);
		print_text(schemas[i].help);
		puts(".\n.br");
		print_members(schemas[i].members);
	}
}

int main(void)
{
	print_resources();
	print_all_parameters();
	print_answers();
	return ferror(stdout) ? 1 : 0;
}

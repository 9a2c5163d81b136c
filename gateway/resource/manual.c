/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/resource/manual.h"

#include <stdio.h>
#include <string.h>

#include "conf/base/text.h"
#include "gateway/resource/fields.h"
#include "gateway/resource/resource.h"
#include "gateway/resource/schema.h"

static void print_text(const char *s)
{
	text_print_roff(s, stdout);
}

static void print_sentence(const char *s)
{
	text_print_roff_sentence(s, stdout);
}

void manual_head(const struct resources *set, const struct resource *row)
{
	printf(".TP\n\\fB%s ", row->method);
	print_text(row->path);
	fputs("\\fR", stdout);
	if (set->role_name != NULL) {
		printf(" (%s)", row->role != 0 ? set->role_name(row->role) : "anybody");
	}
	putchar('\n');
	print_sentence(row->summary);
}

/* "Parameters: a, b." */
static void print_params(const char *names)
{
	const char *before = ".br\nParameters: \\fB";

	if (*names == '\0') {
		return;
	}
	while (*names != '\0') {
		char name[64];
		int n = (int)strcspn(names, " ");

		snprintf(name, sizeof(name), "%.*s", n, names);
		fputs(before, stdout);
		print_text(name);
		before = "\\fR, \\fB";
		names += n + (names[n] == ' ');
	}
	puts("\\fR.");
}

static void print_fields(const struct field *fields)
{
	puts(".RS\n.PD 0");
	for (const struct field *f = fields; f->name != NULL; f++) {
		fputs(".TP\n\\fI", stdout);
		print_text(f->name);
		printf("\\fR (%s%s)\n", fields_type_text(f->type),
		       f->flags & FIELD_REQUIRED ? ", required" : "");
		print_sentence(f->help);
	}
	puts(".PD\n.RE");
}

void manual_details(const struct resource *row)
{
	if (row->params != NULL) {
		print_params(row->params);
	} else {
		puts(".br\nParameters: the components of the record, \\fBlimit\\fR, \\fBcursor\\fR, \\fBstream\\fR, \\fBfrom\\fR.");
	}
	if (row->body.fields != NULL && row->body.fields->name != NULL) {
		print_fields(row->body.fields);
	}
	if (row->answer != NULL && strcmp(row->answer, "any") != 0) {
		printf(".br\nAnswer: \\fI%s\\fR.\n", row->answer);
	}
}

void manual_params(const struct resources *set)
{
	for (unsigned i = 0; i < set->n_params; i++) {
		puts(".TP");
		printf("\\fB%s=\\fR\\fI", set->param[i].name);
		print_text(set->param[i].type);
		puts("\\fR");
		print_sentence(set->param[i].help);
	}
}

/* "member?:type": the member in italics, its type, and what it means. */
static bool print_members(const struct answers *answers, const char *schema,
                          const char *members)
{
	bool good = true;

	puts(".RS\n.PD 0");
	for (const char *p = members; *p != '\0';) {
		size_t len = strcspn(p, " "), name = strcspn(p, ":");
		bool optional = name > 0 && p[name - 1] == '?';
		char member[64];

		snprintf(member, sizeof(member), "%.*s", (int)(name - optional), p);
		printf(".TP\n\\fI%.*s\\fR ", (int)name, p);
		if (len > name) {
			printf("%.*s", (int)(len - name - 1), p + name + 1);
		}
		putchar('\n');
		const char *help = schema_member_help(answers, schema, member);
		if (help == NULL) {
			fprintf(stderr, "resources.def: no FIELD for %s of %s\n", member,
			        schema);
			good = false;
		} else {
			print_sentence(help);
		}
		p += len;
		p += strspn(p, " ");
	}
	puts(".PD\n.RE");
	return good;
}

bool manual_answers(const struct resources *set)
{
	const struct answers *answers = set->answers;
	bool good = true;

	for (unsigned i = 0; i < answers->n_schemas; i++) {
		const struct answer_schema *s = &answers->schema[i];

		printf(".TP\n\\fB%s\\fR\n", s->name);
		print_sentence(s->help);
		good = print_members(answers, s->name, s->members) && good;
	}
	return good;
}

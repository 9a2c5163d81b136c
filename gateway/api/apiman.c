/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * apiman FILE: writes saguaro-api(7) from its text and from tables: the resources, their parameters, what
 * answers hold and the kinds of alarms. /openapi.json comes from the same tables. In the text these lines
 * stand for what the tables have:
 *
 *   RESOURCE METHOD PATH  one resource; further sentences follow, and then its parameters and its answer
 *   ALARMS                the kinds of alarms
 *   PARAMETERS, ANSWERS   these sections
 *
 * It fails unless the text has each resource once. Run at build time.
 */
#include <config.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/text.h"
#include "gateway/api/api.h"
#include "gateway/api/metrics.h"
#include "gateway/api/schema.h"

static void print_text(const char *s)
{
	text_print_roff(s, stdout);
}

static void print_sentence(const char *s)
{
	text_print_roff_sentence(s, stdout);
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
		puts("\\fR.\n.br");
	}
}

/* The end of a resource: behind its own sentences. */
static void end_resource(const struct api_row **row)
{
	const struct api_row *r = *row;

	*row = NULL;
	if (r == NULL || strncmp(r->summary, "the same as ", 12) == 0) {
		return;
	}
	puts(".br");
	if (r->params == NULL) {
		puts("Parameters: the components of the record, \\fBlimit\\fR, "
		     "\\fBcursor\\fR, \\fBstream\\fR, \\fBfrom\\fR.\n.br");
	}
	print_parameters(r->params);
	if (r->answer != NULL && strcmp(r->answer, "any") != 0) {
		printf("Answer: \\fI%s\\fR.\n", r->answer);
	}
}

static bool begin_resource(const char *method, const char *path, bool *done,
                           const struct api_row **ret_row)
{
	for (unsigned i = 0; i < api_rows.n; i++) {
		const struct api_row *row = &api_rows.row[i];
		if (done[i] || strcmp(row->method, method) != 0 ||
		    strcmp(row->path, path) != 0) {
			continue;
		}
		done[i] = true;
		printf(".TP\n\\fB%s ", row->method);
		print_text(row->path);
		puts("\\fR");
		print_sentence(row->summary);
		*ret_row = row;
		return true;
	}
	return false;
}

static void print_alarms(void)
{
	static const struct {
		const char *name, *severity, *help;
	} alarms[] = {
#define ALARM(id, name, severity, help, remedy) { #name, #severity, help },
#include "gateway/inventory/alarms.def"
#undef ALARM
	};

	puts(".RS");
	for (size_t i = 0; i < sizeof(alarms) / sizeof(alarms[0]); i++) {
		printf(".TP\n\\fB%s\\fR (", alarms[i].name);
		for (const char *p = alarms[i].severity; *p != '\0'; p++) {
			putchar(tolower((unsigned char)*p));
		}
		puts(")");
		print_sentence(alarms[i].help);
	}
	puts(".RE\n.IP");
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
		print_sentence(params[i].help);
	}
}

/* "member?:type": the member in italics, its type, and what it means. \return Is that said of all? */
static bool print_members(const char *schema, const char *members)
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
		const char *help = schema_member_help(schema, member);
		if (help == NULL) {
			fprintf(stderr, "fields.def: %s has no row for %s\n", schema,
			        member);
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

static bool print_answers(void)
{
	static const struct {
		const char *name, *members, *help;
	} schemas[] = {
#define SCHEMA(name, members, help) { #name, members, help },
#include "gateway/api/schemas.def"
#undef SCHEMA
	};

	bool good = true;

	puts(".SH ANSWERS\nMembers with their types. A member with ? may be missing, and "
	     "a value "
	     "whose type has ? may be null. [T] is a list of T, {T} an object whose "
	     "members are "
	     "all T, a|b one of these words. GUIDs are text, because numbers of JSON "
	     "lose digits "
	     "above 2^53.");
	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
		printf(".TP\n\\fB%s\\fR\n", schemas[i].name);
		print_sentence(schemas[i].help);
		good = print_members(schemas[i].name, schemas[i].members) && good;
	}
	return good;
}

static int print_page(const char *file, FILE *f)
{
	bool done[HTTP_ROUTES_MAX] = { false };
	const struct api_row *row = NULL;
	char line[1024], method[16], path[64];

	while (fgets(line, sizeof(line), f) != NULL) {
		bool resource = sscanf(line, "RESOURCE %15s %63s", method, path) == 2;
		bool parameters = strcmp(line, "PARAMETERS\n") == 0;
		bool answers = strcmp(line, "ANSWERS\n") == 0;

		if (resource || parameters || answers || strncmp(line, ".S", 2) == 0) {
			end_resource(&row);
		}
		if (resource && !begin_resource(method, path, done, &row)) {
			fprintf(stderr, "%s: no resource, or twice: %s %s\n", file,
			        method, path);
			return 1;
		}
		if (parameters) {
			print_all_parameters();
		} else if (answers && !print_answers()) {
			return 1;
		} else if (answers) {
			continue;
		} else if (strcmp(line, "ALARMS\n") == 0) {
			print_alarms();
		} else if (!resource) {
			fputs(line, stdout);
		}
	}
	for (unsigned i = 0; i < api_rows.n; i++) {
		if (!done[i]) {
			fprintf(stderr, "%s: RESOURCE %s %s is missing\n", file,
			        api_rows.row[i].method, api_rows.row[i].path);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;

	if (f == NULL) {
		perror(argc == 2 ? argv[1] : "usage: apiman FILE");
		return 1;
	}
	int ret = print_page(argv[1], f);
	fclose(f);
	return ret != 0 || ferror(stdout) ? 1 : 0;
}

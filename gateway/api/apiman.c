/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * apiman FILE: writes saguaro-api(7) from its text and from tables: the resources, their parameters, what
 * answers hold and the kinds of alarms. /openapi.json comes from the same tables. In the text these lines
 * stand for what the tables have:
 *
 *   RESOURCE METHOD PATH  one resource; further sentences follow, and then its parameters and its answer
 *   .SS TOPIC             a topic of the resources: at its end stand those without such a line
 *   ALARMS                the kinds of alarms
 *   PARAMETERS, ANSWERS   these sections
 *
 * It fails unless each resource stands in it once. Run at build time.
 */
#include <config.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/text.h"
#include "gateway/api/api_call.h"
#include "gateway/api/metrics.h"
#include "gateway/resource/manual.h"
#include "gateway/resource/resource.h"

/* The end of a resource: behind its own sentences. */
static void end_resource(const struct resource **row)
{
	const struct resource *r = *row;

	*row = NULL;
	if (r != NULL && strncmp(r->summary, "the same as ", 12) != 0) {
		manual_details(r);
	}
}

/* Topics and paths of the resources, in the order of their table. */
static const struct {
	const char *topic, *path;
} places[] = {
#define TOPIC(heading) { heading, NULL },
#define RESOURCE(method, path, ...) { NULL, path },
#include "gateway/api/resources.def"
};

static const char *topic_of(const struct resource *row)
{
	const char *topic = "";

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		topic = places[i].topic != NULL ? places[i].topic : topic;
		if (places[i].path != NULL && strcmp(places[i].path, row->path) == 0) {
			return topic;
		}
	}
	return "";
}

/* The resources of a topic about which the text says no more than the tables. */
static void print_rest(const char *topic, bool *done)
{
	for (unsigned i = 0; i < api_resources.n; i++) {
		const struct resource *row = &api_resources.row[i];

		if (!done[i] && strcmp(topic_of(row), topic) == 0) {
			done[i] = true;
			manual_head(&api_resources, row);
			end_resource(&row);
		}
	}
}

static bool begin_resource(const char *method, const char *path, bool *done,
                           const struct resource **ret_row)
{
	for (unsigned i = 0; i < api_resources.n; i++) {
		const struct resource *row = &api_resources.row[i];

		if (!done[i] && strcmp(row->method, method) == 0 &&
		    strcmp(row->path, path) == 0) {
			done[i] = true;
			manual_head(&api_resources, row);
			*ret_row = row;
			return true;
		}
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
		text_print_roff_sentence(alarms[i].help, stdout);
	}
	puts(".RE\n.IP");
}

static bool print_answers(void)
{
	puts(".SH ANSWERS\nMembers with their types. A member with ? may be missing, and a value whose type has ? may be null. [T] is a list of T, {T} an object whose members are all T, a|b one of these words. GUIDs are text, because numbers of JSON lose digits above 2^53.");
	return manual_answers(&api_resources);
}

static int print_page(const char *file, FILE *f)
{
	bool done[HTTP_ROUTES_MAX] = { false };
	const struct resource *row = NULL;
	char line[1024], method[16], path[64], topic[64] = "";

	while (fgets(line, sizeof(line), f) != NULL) {
		bool resource = sscanf(line, "RESOURCE %15s %63s", method, path) == 2;
		bool parameters = strcmp(line, "PARAMETERS\n") == 0;
		bool answers = strcmp(line, "ANSWERS\n") == 0;
		bool section = parameters || answers || strncmp(line, ".S", 2) == 0;

		if (resource || section) {
			end_resource(&row);
		}
		if (section) {
			print_rest(topic, done);
			if (sscanf(line, ".SS %63[^\n]", topic) != 1) {
				topic[0] = '\0';
			}
		}
		if (resource && !begin_resource(method, path, done, &row)) {
			fprintf(stderr, "%s: no resource, or twice: %s %s\n", file,
			        method, path);
			return 1;
		}
		if (parameters) {
			puts(".SH PARAMETERS");
			manual_params(&api_resources);
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
	for (unsigned i = 0; i < api_resources.n; i++) {
		if (!done[i]) {
			fprintf(stderr, "%s: no topic of %s %s\n", file,
			        api_resources.row[i].method, api_resources.row[i].path);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/list.h"
#include "gateway/view/record_json.h"
#include "sa/record/attributes.h"
#include "sa/record/record.h"

static const char doc[] =
	"Records of subnet administration, one per line. NAME is one of them, with or without 'Record' (NodeRecord, portinfo, PathRecord ...; list shows all); --COMPONENT VALUE keeps those that match: saguaro records node --lid 5. GUIDs are 0x..., GIDs IPv6 addresses.";

/* clang-format off */
static const struct option_row records_rows[] = {
	{ "stream", OPT_BOOL, offsetof(struct client_flags, stream), "FALSE", .letter = 's', .flags_long = "stream",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "JSON, one record per line, as it is made, however many there are; the first line has the epoch, the last says whether all came" },
	{ NULL }
};
/* clang-format on */

static void print_value(const json_t *value)
{
	size_t i;
	json_t *item;

	if (json_is_string(value)) {
		printf("'%s'", json_string_value(value));
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, item)
		{
			printf(i ? "," : "");
			print_value(item);
		}
	} else {
		printf("%lld", json_integer_value(value));
	}
}

static int print_records(const struct client *s, const json_t *body, bool first)
{
	const char *warning = member_text(body, "warning");
	size_t i, n;
	json_t *record, *value;
	const char *key;

	(void)s;
	if (first && *warning) {
		fprintf(stderr, "%s: %s\n", s->program, warning);
	}
	json_array_foreach(json_object_get(body, "records"), i, record)
	{
		n = 0;
		json_object_foreach(record, key, value)
		{
			printf("%s%s=", n++ ? " " : "", key);
			print_value(value);
		}
		printf("\n");
	}
	return EXIT_GOOD;
}

static void print_name(const json_t *record)
{
	printf("%s\n", member_text(record, "name"));
}

static const struct list records = { "records", NULL, .print = print_records };
static const struct list names = { "records", "RecordKind", .below = print_name };

/* Prints records of a name; their fields are the components, but reserved ones. */
static int print_list(struct client *s, const char *name, const char *target)
{
	const struct sa_attr *attr = record_find(name);
	char(*keys)[RECORD_KEY_MAX];
	const char **fields;
	unsigned n = 0;

	if (attr == NULL) { /* refused with those that there are */
		return client_print_list(s, target, print_records);
	}
	attr = attr->reply != NULL ? attr->reply : attr;
	keys = arena_array(s->arena, attr->n_fields, sizeof(*keys));
	fields = arena_array(s->arena, attr->n_fields + 1, sizeof(*fields));
	for (unsigned i = 0; keys != NULL && fields != NULL && i < attr->n_fields; i++) {
		if (attr->fields[i].how != SA_RESERVED) {
			record_key(attr->fields[i].name, keys[n]);
			fields[n] = keys[n];
			n++;
		}
	}
	return list_print_named(s, &records, fields, target);
}

/* "--lid" as a component of the attribute, -1: something else. */
static int component_of(const struct sa_attr *attr, const char *word)
{
	char name[RECORD_KEY_MAX];

	if (attr == NULL || strncmp(word, "--", 2) != 0 ||
	    strlen(word + 2) >= sizeof(name)) {
		return -1;
	}
	snprintf(name, sizeof(name), "%s", word + 2);
	for (char *p = name; *p; p++) {
		*p = *p == '-' ? '_' : *p;
	}
	return record_component(attr, name);
}

/* Names of attributes that begin so, in any case; \a one: the last of them. \return How many. */
static unsigned names_with(const char *prefix, const char *between, char *buf, size_t size,
                           const char **ret_one)
{
	unsigned n = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < n_sa_attrs; i++) {
		const char *name = sa_attrs[i]->name;

		if (record_find(name) == sa_attrs[i] &&
		    strncasecmp(name, prefix, strlen(prefix)) == 0) {
			size_t at = strlen(buf);

			snprintf(buf + at, size - at, "%s%s", n++ > 0 ? between : "", name);
			*ret_one = name;
		}
	}
	return n;
}

/* Component flags of the command line; the others stay in argv. */
struct asked {
	const char *key[64], *value[64];
	unsigned n;
};

/* \return The new argc; -1: a component without a value. */
static int take_components(int argc, char **argv, char (*keys)[RECORD_KEY_MAX],
                           struct asked *ret_asked)
{
	const struct sa_attr *attr = NULL;
	int kept = 1;

	for (int i = 1; i < argc && attr == NULL; i++) {
		const char *one = NULL;
		char all[2048];

		if (argv[i][0] == '-') {
			continue;
		}
		attr = record_find(argv[i]);
		if (attr == NULL && (i == 1 || argv[i - 1][0] != '-') &&
		    strcmp(argv[i], "list") != 0 &&
		    names_with(argv[i], "", all, sizeof(all), &one) == 1) {
			attr = record_find(one);
		}
	}
	for (int i = 1; i < argc; i++) {
		int component = component_of(attr, argv[i]);
		if (component < 0 || ret_asked->n == 64) {
			argv[kept++] = argv[i];
			continue;
		}
		if (i + 1 == argc) {
			fprintf(stderr, "%s: %s needs a value\n", argv[0], argv[i]);
			return -1;
		}
		record_key(attr->fields[component].name, keys[ret_asked->n]);
		ret_asked->key[ret_asked->n] = keys[ret_asked->n];
		ret_asked->value[ret_asked->n++] = argv[++i];
	}
	argv[kept] = NULL;
	return kept;
}

/* The attribute that a word names, or that alone begins so. \return NULL: none; prints so. */
static const char *whole_name(const char *program, const char *word)
{
	char all[2048];
	const char *one = NULL;
	unsigned n;

	if (strcmp(word, "list") == 0 || record_find(word) != NULL) {
		return word;
	}
	n = names_with(word, ", ", all, sizeof(all), &one);
	if (n == 1) {
		return one;
	}
	if (n == 0) {
		(void)names_with("", ", ", all, sizeof(all), &one);
	}
	fprintf(stderr,
	        n == 0 ? "%s: there are no records named '%s'; there are %s; 'saguaro records list' tells what they are\n"
	               : "%s: several records begin with '%s': %s\n",
	        program, word, all);
	return NULL;
}

static const char *target_of(struct client *s, const char *name, const struct asked *a)
{
	const char *target =
		arena_printf(s->arena, "/v1/records/%s", client_escape(s, name));

	for (unsigned i = 0; target != NULL && i < a->n; i++) {
		target = arena_printf(s->arena, "%s%c%s=%s", target, i ? '&' : '?',
		                      a->key[i], client_escape(s, a->value[i]));
	}
	if (target != NULL && s->flags.stream) {
		target = arena_printf(s->arena, "%s%cstream=1", target,
		                      a->n > 0 ? '&' : '?');
	}
	return target != NULL ? target : "";
}

int cmd_records(int argc, char **argv)
{
	static char keys[64][RECORD_KEY_MAX];
	struct asked asked = { .n = 0 };
	struct client s;

	argc = take_components(argc, argv, keys, &asked);
	if (argc < 0) {
		return EXIT_USAGE;
	}
	const struct option_row *own[] = { records_rows, list_rows, NULL };
	int status = client_init_rows(&s, own, doc, "NAME [--COMPONENT VALUE]...", 1,
	                              argc, argv);
	const char *name = status == EXIT_GOOD ? whole_name(s.program, argv[s.first])
	                                       : NULL;
	if (status == EXIT_GOOD && name == NULL) {
		status = EXIT_USAGE;
	} else if (status == EXIT_GOOD) {
		const char *target = target_of(&s, name, &asked);

		status = strcmp(name, "list") == 0 ? list_print(&s, &names, "/v1/records")
		         : s.flags.stream          ? client_stream(&s, target)
		                                   : print_list(&s, name, target);
	}
	return client_done(&s, status);
}

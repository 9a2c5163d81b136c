/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro config check: reads an opensm.conf or opafm.xml as saguarod does and prints what
 * it understands, what has no effect here, and what is wrong, each with its line.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/config.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"
#include "gateway/view/json_text.h"
#include "routing/engine_options.h"

struct config_flags {
	bool json, strict, ignore_unsupported;
	const char *instance;
};

/* clang-format off */
static const struct option_row config_flag_rows[] = {
	{ "json", OPT_BOOL, offsetof(struct config_flags, json), "FALSE", .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "the answer as JSON" },
	{ "strict_config", OPT_BOOL, offsetof(struct config_flags, strict), "FALSE",
	  .flags_long = "strict-config", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "unknown keys are errors" },
	{ "ignore_unsupported", OPT_BOOL, offsetof(struct config_flags, ignore_unsupported), "FALSE",
	  .flags_long = "ignore-unsupported", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "protection that would have no effect is no error, as for saguarod with this flag" },
	{ "instance", OPT_STRING, offsetof(struct config_flags, instance), NULL, .flags_long = "instance",
	  .flags = OPT_CLI_ONLY, .arg = "NAME", .help = "the Fm of an opafm.xml to read; the first one by default" },
	{ NULL }
};
/* clang-format on */

struct config_check {
	struct arena *arena;
	struct diags diags;
	struct config_flags flags;
	struct config config;
	struct engine_options engines;
	struct option_sets sets; /* all rows, for present values */
	struct config_file file;
	const char *path;
	int ret;
};

static int by_line(const void *a, const void *b)
{
	const struct option_seen *x = a, *y = b;
	return (x->line > y->line) - (x->line < y->line);
}

/* The value that a key has now; NULL: no such key. */
static const char *value_of(const struct config_check *j, const char *key)
{
	const struct option_row *row = key ? option_find(&j->sets, key) : NULL;

	for (unsigned i = 0; row && i < j->sets.n; i++) {
		for (const struct option_row *r = j->sets.set[i].rows; r->name; r++) {
			if (r == row && r->flags & OPT_SECRET) {
				return "..."; /* the output may go into a report */
			}
			if (r == row) {
				return option_text(r, j->sets.set[i].base, j->arena);
			}
		}
	}
	return NULL;
}

/* --- text ------------------------------------------------------------------------ */

/* What a file says may be anything. */
static void print_printable(char *line)
{
	if (line != NULL) {
		text_printable(line);
		printf("%s\n", line);
	}
}

/* Options that ask for nothing are listed with those that have no effect. */
static bool is_fate(const struct option_seen *s, enum option_fate fate)
{
	return s->fate == fate ||
	       (fate == OPTION_NO_EFFECT && s->fate == OPTION_HARMLESS);
}

static void print_fate(const struct config_check *j, enum option_fate fate,
                       const char *title)
{
	const struct option_trace *t = &j->file.trace;
	bool any = false;

	for (unsigned i = 0; i < t->n; i++) {
		const struct option_seen *s = &t->seen[i];
		const char *now;

		if (!is_fate(s, fate)) {
			continue;
		}
		if (!any) {
			printf("%s:\n", title);
			any = true;
		}
		now = fate == OPTION_TAKEN && s->element ? value_of(j, s->key) : NULL;
		char *line = arena_printf(
			j->arena, now ? "%6u  %s %s  (%s %s)" : "%6u  %s %s", s->line,
			s->element ? s->element : s->key, s->value, s->key, now);
		print_printable(line);
	}
}

static unsigned count(const struct config_check *j, enum option_fate fate)
{
	unsigned n = 0;

	for (unsigned i = 0; i < j->file.trace.n; i++) {
		n += is_fate(&j->file.trace.seen[i], fate);
	}
	return n;
}

/* "good": nothing that the file asks for is without effect. */
static const char good[] = "good";

static const char *verdict(const struct config_check *j)
{
	unsigned n_lost = j->diags.n_warnings;

	for (unsigned i = 0; i < j->file.trace.n; i++) {
		const struct option_seen *s = &j->file.trace.seen[i];

		n_lost += s->fate == OPTION_UNKNOWN ||
		          s->fate == OPTION_NO_EFFECT;
	}
	return j->ret != E_OK ? "refused" : n_lost != 0 ? "taken, but not all of it" : good;
}

static void print_text(const struct config_check *j)
{
	printf("%s: %s", j->path, j->file.opafm ? "opafm.xml" : "keys and values");
	if (j->file.instance) {
		printf(", Fm %s", j->file.instance);
	}
	printf("\n");
	print_fate(j, OPTION_TAKEN, "understood");
	print_fate(j, OPTION_NO_EFFECT, "without effect here");
	print_fate(j, OPTION_UNKNOWN, "unknown");
	fflush(stdout);
	diags_print(&j->diags, stderr, DIAG_WARNING);
	printf("%s: %u settings understood, %u without effect here, %u unknown; %u errors, %u warnings\n",
	       verdict(j), count(j, OPTION_TAKEN),
	       count(j, OPTION_NO_EFFECT), count(j, OPTION_UNKNOWN), j->diags.n_errors,
	       j->diags.n_warnings);
}

/* --- JSON ------------------------------------------------------------------------ */

static json_t *fate_json(const struct config_check *j, enum option_fate fate)
{
	const struct option_trace *t = &j->file.trace;
	json_t *list = json_array();

	for (unsigned i = 0; i < t->n; i++) {
		const struct option_seen *s = &t->seen[i];

		if (!is_fate(s, fate)) {
			continue;
		}
		json_array_append_new(
			list,
			json_pack("{s:i, s:o, s:o, s:o, s:o}", "line", (int)s->line,
		                  "element", text_json(s->element), "key",
		                  text_json(s->key), "value", text_json(s->value),
		                  "means",
		                  text_json(fate == OPTION_TAKEN ? value_of(j, s->key)
		                                                 : NULL)));
	}
	return list;
}

static json_t *diags_json(const struct config_check *j, enum diag_level level)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < j->diags.n; i++) {
		const struct diag *d = &j->diags.items[i];

		if (d->level != level) {
			continue;
		}
		json_array_append_new(
			list,
			json_pack("{s:o, s:o, s:o}", "file", text_json(d->file), "line",
		                  d->line ? json_integer(d->line) : json_null(), "text",
		                  text_json(d->text)));
	}
	return list;
}

static int print_json(const struct config_check *j)
{
	json_t *o = json_object();

	json_object_set_new(o, "file", text_json(j->path));
	json_object_set_new(o, "format",
	                    json_string(j->file.opafm ? "opafm.xml" : "opensm.conf"));
	json_object_set_new(o, "instance", text_json(j->file.instance));
	json_object_set_new(o, "good", json_boolean(verdict(j) == good));
	json_object_set_new(o, "verdict", json_string(verdict(j)));
	json_object_set_new(o, "understood", fate_json(j, OPTION_TAKEN));
	json_object_set_new(o, "without_effect", fate_json(j, OPTION_NO_EFFECT));
	json_object_set_new(o, "unknown", fate_json(j, OPTION_UNKNOWN));
	json_object_set_new(o, "errors", diags_json(j, DIAG_ERROR));
	json_object_set_new(o, "warnings", diags_json(j, DIAG_WARNING));
	json_object_set_new(o, "n_errors", json_integer(j->diags.n_errors));
	json_object_set_new(o, "n_warnings", json_integer(j->diags.n_warnings));
	int ret = json_dumpf(o, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
	printf("\n");
	json_decref(o);
	return ret;
}

/* --- the command ----------------------------------------------------------------- */

static int read_arguments(struct config_check *j, int argc, char **argv)
{
	struct option_sets own = { .n = 0 };
	int first = argc;

	if (option_sets_add(&own, config_flag_rows, &j->flags) != E_OK ||
	    option_read_argv(
		    &own, j->arena, argc, argv,
		    help_doc(
			    j->arena, argv[0],
			    "Reads an opensm.conf or an opafm.xml as saguarod -F would and tells what was understood, what has no effect here and what is wrong."),
		    "check FILE", &first, &j->diags) != E_OK) {
		return EXIT_USAGE;
	}
	if (argc - first != 2 || strcmp(argv[first], "check") != 0) {
		return help_usage(argv[0], "expected check FILE");
	}
	j->path = argv[first + 1];
	return EXIT_GOOD;
}

static int read_file(struct config_check *j)
{
	struct route_list list;
	int ret = engine_options_init(&j->engines, j->arena);

	if (ret == E_OK) {
		ret = option_sets_add(&j->sets, config_rows, &j->config);
	}
	for (unsigned i = 0; ret == E_OK && i < j->engines.sets.n; i++) {
		ret = option_sets_add(&j->sets, j->engines.sets.set[i].rows,
		                      j->engines.sets.set[i].base);
	}
	if (ret != E_OK) {
		return ret;
	}
	j->config.strict_config = j->flags.strict;
	j->config.ignore_unsupported = j->flags.ignore_unsupported;
	ret = config_check_file(&j->config, &j->engines.sets, j->path, j->flags.instance,
	                        j->arena, &j->diags, &j->file);
	if (j->file.unreadable) {
		return ret;
	}
	int of_engines = engine_options_bind(&j->engines, j->arena, &j->diags);

	if (of_engines == E_OK) {
		of_engines = route_list_read(&j->config, &j->engines, j->arena, &j->diags,
		                             &list);
	}
	config_warn_unknown(&j->file, &j->sets, j->path, &j->diags);
	return ret != E_OK ? ret : of_engines;
}

static int check_file(struct config_check *j, int argc, char **argv)
{
	int status = read_arguments(j, argc, argv);

	if (status != EXIT_GOOD) {
		return status;
	}
	j->ret = read_file(j);
	if (j->ret != E_OK && (j->file.unreadable || j->diags.n_errors == 0)) {
		diags_print(&j->diags, stderr, DIAG_WARNING);
		fprintf(stderr, "%s: not checked: %s\n", j->path, err_text(j->ret));
		return EXIT_USAGE;
	}
	if (j->file.trace.n > 0) {
		qsort(j->file.trace.seen, j->file.trace.n, sizeof(*j->file.trace.seen),
		      by_line);
	}
	if (!j->flags.json) {
		print_text(j);
	} else if (print_json(j) != 0) {
		return EXIT_USAGE;
	}
	return j->ret == E_OK ? EXIT_GOOD : EXIT_BAD;
}

int cmd_config(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct config_check *j = a ? arena_alloc(a, sizeof(*j)) : NULL;
	int status = EXIT_USAGE;

	if (j) {
		j->arena = a;
		config_diags_init(&j->diags, a);
		status = check_file(j, argc, argv);
	}
	arena_free(a);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/cli/help/help.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/text.h"
#include "gateway/cli/help/command.h"
#include "routing/topogen/topogen.h"

enum asks { FILES, FABRIC, EITHER, DAEMON, BOTH };
enum { EXITS = 4 };
enum { NAME_WIDTH = 9, ARGS_WIDTH = 27 }; /* columns of the list of commands */

/* A command, or a topic: that has no name. */
struct row {
	const char *name, *args, *help;
	enum asks asks;
	const char *good, *bad;
	const char *shows; /* resources, see commands.def; NULL: none */
};

static const struct row rows[] = {
#define TOPIC(text) { .help = text },
#define SHOWS(resources) .shows = resources
#define COMMAND(id, of, parallel, words, text, yes, ...)                                 \
	{ .name = #id, .args = words, .help = text, .asks = of, .good = yes, .bad = __VA_ARGS__ },
#include "gateway/cli/help/commands.def"
#undef SHOWS
#undef TOPIC
#undef COMMAND
};

enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* Meaning of each exit status where a row says nothing else; NULL: it does not occur. */
static const char *const exits_of[][EXITS] = {
	[FILES] = { "done", NULL, "wrong usage or bad input", NULL },
	[FABRIC] = { "answered", "there is no answer, because the subnet is not up",
	             "wrong usage, or nobody can be asked",
	             "answered, but the answer is stale, because saguarod is gone" },
	[EITHER] = { "answered", NULL,
	             "wrong usage or bad input, or no fabric can be read", NULL },
	[DAEMON] = { "saguarod took the request",
	             "saguarod refused the request, or cannot be reached", "wrong usage",
	             NULL },
	[BOTH] = { "done", NULL, "wrong usage, or nobody can be asked",
	           "answered, but the answer is stale, because saguarod is gone" },
};

static const char *exit_text(const struct row *row, unsigned status)
{
	const char *own = status == 0 ? row->good : status == 1 ? row->bad : "";

	return *own != '\0' ? own : exits_of[row->asks][status];
}

/* The row of "NAME", "saguaro NAME" or "saguaro NAME WORD", NULL: there is none. */
static const struct row *find(const char *program)
{
	const char *name = strncmp(program, "saguaro ", 8) == 0 ? program + 8 : program;
	size_t len = strcspn(name, " ");

	for (unsigned i = 0; i < N_ROWS; i++) {
		if (rows[i].name != NULL && strlen(rows[i].name) == len &&
		    memcmp(rows[i].name, name, len) == 0) {
			return &rows[i];
		}
	}
	return NULL;
}

void help_commands(FILE *f)
{
	for (unsigned i = 0; i < N_ROWS; i++) {
		if (rows[i].name == NULL) {
			fprintf(f, "%s%s:\n", i > 0 ? "\n" : "", rows[i].help);
		} else {
			size_t len = strlen(rows[i].name);

			/* A long name takes room of its arguments, so that the texts stay below each other. */
			fprintf(f, "  %-*s %-*s %s\n", NAME_WIDTH, rows[i].name,
			        ARGS_WIDTH - (len > NAME_WIDTH ? (int)(len - NAME_WIDTH) : 0),
			        rows[i].args,
			        rows[i].help);
		}
	}
}

const char *help_command_for(const char *resource, size_t len, const char **ret_words,
                             size_t *ret_words_len)
{
	for (unsigned i = 0; i < N_ROWS; i++) {
		const char *at = rows[i].shows != NULL ? rows[i].shows : "";

		for (size_t all; *at != '\0'; at += all + strspn(at + all, " ")) {
			size_t name = strcspn(at, " =");

			all = strcspn(at, " ");
			if (name == len && memcmp(at, resource, len) == 0) {
				*ret_words = at + name + (at[name] == '=');
				*ret_words_len = all - (size_t)(*ret_words - at);
				return rows[i].name;
			}
		}
	}
	return NULL;
}

int help_usage(const char *program, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; try '%s --help'\n", program);
	return EXIT_USAGE;
}

/* --- the help of a command --------------------------------------------------------------- */

static const char *exits_text(struct arena *a, const struct row *row)
{
	const char *text = "Exit status:";

	for (unsigned i = 0; i < EXITS && text != NULL; i++) {
		if (exit_text(row, i) != NULL) {
			text = arena_printf(a, "%s\n  %u  %s", text, i, exit_text(row, i));
		}
	}
	return text == NULL ? NULL
	                    : arena_printf(a, "%s\n\nManual: man saguaro-%s", text, row->name);
}

const char *help_doc(struct arena *a, const char *program, const char *doc)
{
	const struct row *row = find(program);
	const char *exits = row != NULL ? exits_text(a, row) : NULL;
	/* the parser prints behind the flags what stands behind a vertical tab */
	const char *text = exits != NULL ? arena_printf(a, "%s\v%s", doc, exits) : NULL;

	return text != NULL ? text : doc;
}

void help_print_exits(FILE *f, const char *program)
{
	const struct row *row = find(program);
	struct arena *a = arena_new();
	const char *text = row != NULL && a != NULL ? exits_text(a, row) : NULL;

	fprintf(f, "%s\n", text != NULL ? text : "");
	arena_free(a);
}

/* --- manual pages ------------------------------------------------------------------------ */

static void print_sentence(const char *text)
{
	text_print_roff_sentence(text, stdout);
}

static void print_overview(void)
{
	for (unsigned i = 0; i < N_ROWS; i++) {
		if (rows[i].name == NULL) {
			printf(".SS %s\n", rows[i].help);
		} else {
			printf(".TP\n.BR saguaro\\-%s (1)\n", rows[i].name);
			print_sentence(rows[i].help);
		}
	}
}

static void print_exits(const struct row *row)
{
	for (unsigned i = 0; i < EXITS; i++) {
		if (exit_text(row, i) != NULL) {
			printf(".TP\n%u\n", i);
			print_sentence(exit_text(row, i));
		}
	}
}

static void print_kinds(void)
{
	for (const struct topogen_kind *k = topogen_kinds; k->name != NULL; k++) {
		printf(".TP\n\\fB%s\\fR \\fI", k->name);
		text_print_roff(k->args, stdout);
		puts("\\fR");
		print_sentence(k->help);
	}
}

int help_manual(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	const struct row *row = argc > 2 ? find(argv[2]) : NULL;

	if (strcmp(part, "commands") == 0) {
		print_overview();
	} else if (strcmp(part, "kinds") == 0) {
		print_kinds();
	} else if (strcmp(part, "name") == 0 && row != NULL) {
		printf("saguaro\\-%s \\- ", row->name);
		text_print_roff(row->help, stdout);
		putchar('\n');
	} else if (strcmp(part, "exit") == 0 && row != NULL) {
		print_exits(row);
	} else {
		fprintf(stderr, "usage: saguaro manual commands | kinds | name NAME | exit NAME\n");
		return 2;
	}
	return ferror(stdout) ? 1 : 0;
}

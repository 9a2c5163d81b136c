/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * optman: writes the OPTIONS part of saguarod(8) from the option table, those of the
 * routing engines included. Run at build time; so manual, --help and parser cannot
 * disagree.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "routing/route.h"

/* Text for roff: a dash or dot must not be read as markup. */
static void print_text(const char *s)
{
	for (; *s; s++) {
		if (*s == '-') {
			fputs("\\-", stdout);
		} else if (*s == '\\') {
			fputs("\\e", stdout);
		} else {
			putchar(*s);
		}
	}
}

static void print_flags(const struct option_row *row)
{
	if (row->letter) {
		printf("\\fB\\-%c\\fR", row->letter);
	}
	const char *names = row->flags_long ? row->flags_long : row->name;
	char name[128];
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(names, ","), names);
	fputs(row->letter ? ", \\fB\\-\\-" : "\\fB\\-\\-", stdout);
	print_text(name);
	fputs("\\fR", stdout);
	if (row->arg) {
		printf(" \\fI%s\\fR", row->arg);
	}
	if (!(row->flags & OPT_CLI_ONLY)) {
		fputs("; key \\fB", stdout);
		print_text(row->name);
		fputs("\\fR", stdout);
	}
	putchar('\n');
}

static void print_values(const struct option_row *row)
{
	if (row->names) {
		for (unsigned i = 0; row->names[i]; i++) {
			printf("%s%s", i ? ", " : " One of ", row->names[i]);
		}
		putchar('.');
	}
	if (row->max && (row->type == OPT_UINT || row->type == OPT_INT)) {
		printf(" From %" PRId64 " to %" PRId64 ".", (int64_t)row->min,
		       (int64_t)row->max);
	}
	if (row->def && !(row->flags & OPT_NO_ARG)) {
		fputs(" Default ", stdout);
		print_text(row->def);
		putchar('.');
	}
	if (row->flags & OPT_RESTART) {
		fputs(" A change needs a restart.", stdout);
	}
	putchar('\n');
}

static void print_rows(const struct option_row *row)
{
	for (; row && row->name; row++) {
		if (row->type == OPT_IGNORED) {
			continue;
		}
		puts(".TP");
		print_flags(row);
		if (row->help) {
			putchar(toupper((unsigned char)row->help[0]));
			print_text(row->help + 1);
			if (row->help[strlen(row->help) - 1] != '.') {
				putchar('.');
			}
		}
		print_values(row);
	}
}

static void print_ignored(void)
{
	puts(".SH KEYS WITHOUT EFFECT\nThese keys of opensm.conf are accepted, so that a "
	     "site's file loads as it is, and have no effect here. The value in parentheses "
	     "asks for nothing; another one is a warning. For keys marked with an asterisk, "
	     "which ask for protection, it is an error unless --ignore-unsupported is given.");
	for (const struct option_row *row = config_rows; row->name; row++) {
		if (row->type != OPT_IGNORED || (row->flags & OPT_CLI_ONLY)) {
			continue;
		}
		puts(".TP");
		print_text(row->name);
		fputs(row->flags & OPT_REFUSE ? "* (" : " (", stdout);
		print_text(row->def ? row->def : "(null)");
		puts(")");
		print_text(row->help);
		puts(".");
	}
}

static void print_events(void)
{
	static const struct {
		const char *name, *severity, *help;
	} kinds[] = {
#define EVENT(id, name_, severity_, sentence, help_) { #name_, #severity_, help_ },
#include "db/events.def"
#undef EVENT
	};

	puts(".SH EVENTS\nWhat happens is logged and kept as a row of the stats database, the "
	     "newest event_history rows; see saguaro events and /v1/events. A row has a "
	     "number that never comes again, the time, both ends by name and GUID, and of "
	     "the sweep that found it the cause, the epoch, the duration, the table entries "
	     "that moved and the blocks that were sent. Kinds, with their severity:");
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		printf(".TP\n\\fB%s\\fR (", kinds[i].name);
		for (const char *p = kinds[i].severity; *p; p++) {
			putchar(tolower((unsigned char)*p));
		}
		puts(")");
		putchar(toupper((unsigned char)kinds[i].help[0]));
		print_text(kinds[i].help + 1);
		puts(".");
	}
}

int main(void)
{
	puts(".SH OPTIONS");
	print_rows(config_rows);
	for (unsigned i = 0; engines[i]; i++) {
		if (engines[i]->options) {
			printf(".SS Routing engine %s\n", engines[i]->name);
			print_rows(engines[i]->options);
		}
	}
	puts(".SH ROUTING ENGINES");
	for (unsigned i = 0; engines[i]; i++) {
		printf(".TP\n\\fB%s\\fR\n", engines[i]->name);
		print_text(engines[i]->summary);
		puts(".");
	}
	print_ignored();
	print_events();
	return ferror(stdout) ? 1 : 0;
}

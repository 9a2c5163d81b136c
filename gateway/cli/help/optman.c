/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * optman: writes what manual pages have from tables: options by heading, keys without effect,
 * kinds of events, messages of the log, routing engines with their guarantees. Run at build
 * time; so manual, --help and parser cannot disagree.
 */
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/text.h"
#include "conf/config.h"
#include "conf/option_man.h"
#include "gateway/cli/help/messages.h"
#include "routing/route.h"

static void print_text(const char *s)
{
	text_print_roff(s, stdout);
}

/* By heading, in the order of the headings. */
static void print_groups(bool keys_only)
{
	for (unsigned g = OPTION_GROUP_PROGRAM; g < OPTION_GROUP_COUNT; g++) {
		bool titled = false;
		for (const struct option_row *row = config_rows; row->name; row++) {
			bool cli_only = row->flags & OPT_CLI_ONLY;
			if (row->type == OPT_IGNORED || row->group != g ||
			    (keys_only && cli_only)) {
				continue;
			}
			if (!titled) {
				printf(".SS %s\n", option_group_titles[g]);
				titled = true;
			}
			option_man_row(row, keys_only);
		}
	}
}

/* The first engine that acts on a key, or NULL. */
static const struct engine *first_engine(const char *key)
{
	for (unsigned i = 0; engines[i]; i++) {
		if (engine_row(engines[i], key)) {
			return engines[i];
		}
	}
	return NULL;
}

static bool has_effect(const char *key)
{
	for (const struct option_row *row = config_rows; row->name; row++) {
		if (row->type != OPT_IGNORED && strcmp(row->name, key) == 0) {
			return true;
		}
	}
	return first_engine(key) != NULL;
}

static void print_engines_of(const char *key)
{
	const char *between = "Engines: ";
	for (unsigned i = 0; engines[i]; i++) {
		if (engine_row(engines[i], key)) {
			fputs(between, stdout);
			print_text(engines[i]->name);
			between = ", ";
		}
	}
	puts(".");
}

/* Each key once, with the engines that act on it. */
static void print_engine_options(bool keys_only)
{
	puts(".SS Routing engines");
	for (unsigned i = 0; engines[i]; i++) {
		const struct option_row *row = engines[i]->options;
		for (; row && row->name; row++) {
			if (row->type != OPT_IGNORED &&
			    first_engine(row->name) == engines[i]) {
				option_man_row(row, keys_only);
				print_engines_of(row->name);
			}
		}
	}
}

/* Is a value many digits that are all 0? */
static bool is_long_zero(const char *value)
{
	return strlen(value) > 18 && strspn(value, "0x") == strlen(value);
}

static void print_ignored(void)
{
	puts(".SH KEYS WITHOUT EFFECT\nThese keys of opensm.conf are accepted, so that a site's file loads as it is, and have no effect here. The value in parentheses asks for nothing; another one is a warning. For keys marked with an asterisk, which ask for protection, it is an error unless --ignore-unsupported is given.");
	for (const struct option_row *row = config_rows; row->name; row++) {
		if (row->type != OPT_IGNORED || (row->flags & OPT_CLI_ONLY) ||
		    has_effect(row->name)) {
			continue;
		}
		puts(".TP");
		print_text(row->name);
		puts(row->flags & OPT_REFUSE ? "*" : "");
		print_text(row->help);
		fputs(" (", stdout);
		print_text(!row->def                ? "(null)"
		           : is_long_zero(row->def) ? "0"
		                                    : row->def);
		puts(").");
	}
}

/* A text of a table as a sentence. */
static void print_sentence(const char *s)
{
	text_print_roff_sentence(s, stdout);
}

static void print_events(void)
{
	puts(".SH EVENTS\nWhat happens is logged and kept as a row of the stats database, the newest event_history rows; see saguaro events and /v1/events. A row has a number that never comes again, the time, both ends by name and GUID, and of the sweep that found it the cause, the epoch, the duration, the table entries that moved and the blocks that were sent. Kinds, with their severity:");
	for (const struct event_text *e = event_texts; e->name != NULL; e++) {
		printf(".TP\n\\fB%s\\fR (%s)\n", e->name, e->severity);
		print_sentence(e->help);
	}
}

static void print_message(const struct message_text *m)
{
	fputs(".TP\n\\fB", stdout);
	print_text(m->code);
	printf("\\fR (%s)", m->level);
	if (m->event != NULL) {
		printf(", event %s", m->event->name);
	}
	if (m->alarm != NULL) {
		printf(", alarm %s", m->alarm->name);
	}
	putchar('\n');
	print_sentence(message_meaning(m));
	fputs(".br\n\\fICause:\\fR ", stdout);
	print_sentence(m->cause);
	fputs(".br\n\\fIRemedy:\\fR ", stdout);
	print_sentence(message_remedy(m));
}

/* saguaro-messages(7) below its introduction. */
static void print_messages(void)
{
	puts(".SH MESSAGES");
	for (const struct message_text *m = message_texts; m->area != NULL; m++) {
		if (m->title != NULL) {
			printf(".SS %s (%s)\n", m->title, m->area);
		} else {
			print_message(m);
		}
	}
}

static const struct engine *engine_named(const char *name)
{
	for (unsigned i = 0; engines[i]; i++) {
		if (strcmp(engines[i]->name, name) == 0) {
			return engines[i];
		}
	}
	return NULL;
}

/* The manual's own lines of an engine: "FOR text" and "COST text". */
struct engine_lines {
	char fits[1024], cost[1024];
};

static void print_tag(const char *tag)
{
	printf(".TP\n\\fI%s\\fR\n", tag);
}

static void print_engine(const struct engine *e, const struct engine_lines *lines)
{
	printf(".SS ");
	print_text(e->name);
	putchar('\n');
	print_text(e->summary);
	puts(".");
	print_tag("For");
	puts(lines->fits);
	print_tag("Guarantees");
	puts(e->flags & ENGINE_DEADLOCK_FREE
	             ? "Free of deadlock by design."
	             : "The proof tells whether its tables can deadlock.");
	puts(e->flags & ENGINE_NEEDS_LANES     ? "Uses several virtual lanes."
	     : e->flags & ENGINE_MAY_USE_LANES ? "Uses several virtual lanes if asked to."
	                                       : "One virtual lane is enough.");
	puts(e->flags & ENGINE_LMC0_ONLY ? "LMC 0 only." : "Any LMC.");
	print_tag("Cost");
	puts(lines->cost);
	if (e->options) {
		print_tag("Options");
		for (const struct option_row *row = e->options; row->name; row++) {
			printf("%s\\fB", row == e->options ? "" : ", ");
			print_text(row->name);
			fputs("\\fR", stdout);
		}
		puts(".");
	}
	puts(".PP");
}

/* Reads a line "WORD text". \return false: there is none. */
static bool read_text(FILE *f, const char *word, char *ret_text, size_t size)
{
	char line[1024];
	size_t len = strlen(word);

	if (!fgets(line, sizeof(line), f) || strncmp(line, word, len) != 0 ||
	    line[len] != ' ') {
		return false;
	}
	line[strcspn(line, "\n")] = '\0';
	snprintf(ret_text, size, "%s", line + len + 1);
	return ret_text[0] != '\0';
}

static int complain(const char *path, const char *name, const char *what)
{
	fprintf(stderr, "%s: engine '%s': %s\n", path, name, what);
	return 1;
}

/* saguaro-routing(7): the text of a file, in which a line ENGINE NAME stands for
 * what the engine declares, and OPTIONS for the options of all. Lines FOR and COST follow, and a
 * picture from .EX to .EE. Fails unless it has all engines with these. */
static int print_engines(const char *path, FILE *f)
{
	char line[1024], name[64] = "";
	bool picture = true;
	unsigned n = 0, all = 0;

	while (fgets(line, sizeof(line), f)) {
		bool engine = strncmp(line, "ENGINE ", 7) == 0;

		if ((engine || strncmp(line, ".SH", 3) == 0) && !picture) {
			return complain(path, name, "there is no picture");
		}
		picture = picture || strcmp(line, ".EX\n") == 0;
		if (strcmp(line, "OPTIONS\n") == 0) {
			puts(".SH OPTIONS");
			print_engine_options(false);
			continue;
		}
		if (!engine || sscanf(line, "ENGINE %63s", name) != 1) {
			fputs(line, stdout);
			continue;
		}
		const struct engine *e = engine_named(name);
		struct engine_lines lines;
		if (!e) {
			return complain(path, name, "there is none");
		}
		if (!read_text(f, "FOR", lines.fits, sizeof(lines.fits)) ||
		    !read_text(f, "COST", lines.cost, sizeof(lines.cost))) {
			return complain(path, name, "lines FOR and COST are missing");
		}
		print_engine(e, &lines);
		picture = false;
		n++;
	}
	while (engines[all]) {
		all++;
	}
	if (n != all) {
		fprintf(stderr, "%s: describes %u of %u engines\n", path, n, all);
		return 1;
	}
	return 0;
}

static int print_routing(const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		return 1;
	}
	int ret = print_engines(path, f);
	fclose(f);
	return ret;
}

/* Flags of OpenSM that are accepted only; their keys are in saguaro.conf(5). */
static void print_ignored_flags(void)
{
	puts(".SS Flags without effect\nA command line of OpenSM is taken as it is. These flags have no effect here:");
	for (const struct option_row *row = config_rows; row->name; row++) {
		const char *names = row->flags_long;

		if (row->type != OPT_IGNORED || (!row->letter && !names) ||
		    has_effect(row->name)) {
			continue;
		}
		puts(".TP");
		if (row->letter) {
			printf("\\fB\\-%c\\fR%s", row->letter, names ? ", " : "");
		}
		if (names) {
			fputs("\\fB\\-\\-", stdout);
			for (const char *c = names; *c && *c != ','; c++) {
				print_text((char[]){ *c, '\0' });
			}
			fputs("\\fR", stdout);
		}
		if (row->arg) {
			printf(" \\fI%s\\fR", row->arg);
		}
		putchar('\n');
		print_sentence(row->help);
	}
}

/* The options of saguarod(8) and what follows them. */
static void print_daemon(void)
{
	puts(".SH OPTIONS\nEach of them is a key of the file, too: the flag with _ for \\-, or the key that is named behind the flag. Only flags are");
	const char *between = "";
	for (const struct option_row *row = config_rows; row->name; row++) {
		if ((row->flags & OPT_CLI_ONLY) && row->type != OPT_IGNORED) {
			printf("%s\\fB\\-", between);
			print_text(row->flags_long ? "-" : "");
			if (row->flags_long) {
				print_text(row->flags_long);
			} else {
				printf("%c", row->letter);
			}
			fputs("\\fR", stdout);
			between = ",\n";
		}
	}
	puts(".\n.BR saguaro.conf (5)\nalso lists the keys without effect.");
	print_groups(false);
	puts(".SS Routing engines\nThe options of the routing engines are in\n.BR saguaro\\-routing (7).");
	print_ignored_flags();
	print_events();
}

/* The keys of saguaro.conf(5). */
static void print_keys(void)
{
	puts(".SH KEYS");
	print_groups(true);
	print_engine_options(true);
	print_ignored();
}

/* optman daemon | keys | messages | routing FILE */
int main(int argc, char **argv)
{
	const char *part = argc > 1 ? argv[1] : "";
	int ret = 0;

	if (strcmp(part, "daemon") == 0) {
		print_daemon();
	} else if (strcmp(part, "keys") == 0) {
		print_keys();
	} else if (strcmp(part, "messages") == 0) {
		print_messages();
	} else if (strcmp(part, "routing") == 0 && argc > 2) {
		ret = print_routing(argv[2]);
	} else {
		fprintf(stderr,
		        "usage: optman daemon | keys | messages | routing FILE\n");
		ret = 2;
	}
	return ret || ferror(stdout) ? 1 : 0;
}

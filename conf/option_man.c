/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/option_man.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/text.h"
#include "conf/option.h"

static void print_text(const char *s)
{
	text_print_roff(s, stdout);
}

static void print_char(char c)
{
	print_text((char[]){ c, '\0' });
}

static bool is_flag_only(const struct option_row *row)
{
	return (row->flags & OPT_CLI_ONLY) != 0;
}

/* "--mtu"; a flag that is no key is written with dashes. */
static void print_long(const struct option_row *row)
{
	const char *names = row->flags_long ? row->flags_long : row->name;
	size_t len = strcspn(names, ",");

	fputs("\\fB\\-\\-", stdout);
	for (size_t i = 0; i < len; i++) {
		print_char(names[i] == '_' && is_flag_only(row) ? '-' : names[i]);
	}
	fputs("\\fR", stdout);
}

/* The argument as --help names it, or a better word. NULL: there is none. */
static const char *argument(const struct option_row *row)
{
	return (row->flags & OPT_NO_ARG) ? NULL
	       : row->arg                ? row->arg
	       : row->type == OPT_BOOL   ? "TRUE|FALSE"
	       : (row->type == OPT_UINT || row->type == OPT_INT) && row->max ? "N"
	                                                                     : "VALUE";
}

/* Is the long flag the key, but for '-' in place of '_'? */
static bool is_key(const struct option_row *row)
{
	const char *names = row->flags_long ? row->flags_long : row->name;
	size_t len = strcspn(names, ",");

	for (size_t i = 0; i < len; i++) {
		if (names[i] != row->name[i] &&
		    !(names[i] == '-' && row->name[i] == '_')) {
			return false;
		}
	}
	return row->name[len] == '\0';
}

static void print_flags(const struct option_row *row)
{
	if (row->letter) {
		printf("\\fB\\-%c\\fR, ", row->letter);
	}
	print_long(row);
	if (argument(row)) {
		printf(" \\fI%s\\fR", argument(row));
	}
	if (!is_flag_only(row) && !is_key(row)) {
		fputs("; key \\fB", stdout);
		print_text(row->name);
		fputs("\\fR", stdout);
	}
	putchar('\n');
}

static void print_key(const struct option_row *row)
{
	fputs("\\fB", stdout);
	print_text(row->name);
	printf("\\fR \\fI%s\\fR\n", argument(row)           ? argument(row)
	                            : row->type == OPT_BOOL ? "TRUE|FALSE"
	                                                    : "VALUE");
}

static void print_values(const struct option_row *row)
{
	bool shown = row->arg && strchr(row->arg, '|'); /* the values, by the argument */

	if (row->names && !shown) {
		for (unsigned i = 0; row->names[i]; i++) {
			printf("%s%s", i ? ", " : " One of ", row->names[i]);
		}
		putchar('.');
	}
	if (row->max && !shown && (row->type == OPT_UINT || row->type == OPT_INT)) {
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

void option_man_row(const struct option_row *row, bool key_first)
{
	puts(".TP");
	if (key_first) {
		print_key(row);
	} else {
		print_flags(row);
	}
	if (row->help) {
		/* a first word that is a key stays as it is */
		bool word = strcspn(row->help, "_") >= strcspn(row->help, " ");
		print_char(word ? (char)toupper((unsigned char)row->help[0])
		                : row->help[0]);
		print_text(row->help + 1);
		if (row->help[strlen(row->help) - 1] != '.') {
			putchar('.');
		}
	}
	if (row->more) {
		putchar(' ');
		print_text(row->more);
	}
	print_values(row);
}

/* --- a program --------------------------------------------------------------------------- */

/* A word of a usage line: a name for a value in italics, a word to be typed in bold. */
static const char *print_word(const char *p)
{
	bool is_name = isupper((unsigned char)*p);

	fputs(is_name ? "\\fI" : "\\fB", stdout);
	while (*p == '_' || (is_name ? isupper((unsigned char)*p) : islower((unsigned char)*p))) {
		putchar(*p++);
	}
	fputs("\\fR", stdout);
	return p;
}

static void print_args(const char *p)
{
	while (*p != '\0') {
		if (isalpha((unsigned char)*p)) {
			p = print_word(p);
		} else {
			print_char(*p++);
		}
	}
	putchar('\n');
}

/* Calls \a use with each option without a heading. \return Is there one with a heading? */
static bool each_row(const struct option_sets *s, void (*use)(const struct option_row *row))
{
	bool others = false;

	for (unsigned i = 0; i < s->n; i++) {
		for (const struct option_row *row = s->set[i].rows; row->name; row++) {
			bool plain = row->group == OPTION_GROUP_NONE &&
			             s->set[i].group == OPTION_GROUP_NONE;

			others = others || !plain;
			if (plain && row->type != OPT_IGNORED &&
			    option_find(s, row->name) == row) {
				use(row);
			}
		}
	}
	return others;
}

static void print_usage(const struct option_row *row)
{
	fputs("\\%[", stdout); /* is not hyphenated */
	print_long(row);
	if (argument(row)) {
		printf("\\ \\fI%s\\fR", argument(row));
	}
	puts("]\\&"); /* ends no sentence */
}

static void print_unless_task(const struct option_row *row)
{
	if ((row->flags & OPT_TASK) == 0) {
		print_usage(row);
	}
}

static void print_task(const struct option_row *row)
{
	if ((row->flags & OPT_TASK) != 0) {
		print_usage(row);
	}
}

static bool has_task(const struct option_sets *s)
{
	for (unsigned i = 0; i < s->n; i++) {
		for (const struct option_row *row = s->set[i].rows; row->name; row++) {
			if ((row->flags & OPT_TASK) != 0) {
				return true;
			}
		}
	}
	return false;
}

static void print_program(const char *program)
{
	fputs(".B ", stdout);
	print_text(program);
	putchar('\n');
}

static void print_in_options(const struct option_row *row)
{
	option_man_row(row, false);
}

void option_man_page(const struct option_sets *s, const char *program, const char *args)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash != NULL ? slash + 1 : program;

	puts(".SH SYNOPSIS\n.ad l");
	print_program(name);
	if (each_row(s, print_unless_task)) {
		puts("[\\fIOPTION\\fR]...");
	}
	if (args != NULL && *args != '\0') {
		print_args(args);
	}
	if (has_task(s)) {
		puts(".br");
		print_program(name);
		(void)each_row(s, print_task);
	}
	puts(".ad b\n.SH OPTIONS");
	(void)each_row(s, print_in_options);
	puts(".TP\n\\fB\\-\\-help\\fR, \\fB\\-\\-usage\\fR, \\fB\\-\\-version\\fR\n"
	     "Print the options, a short usage, or the version, and end.");
}

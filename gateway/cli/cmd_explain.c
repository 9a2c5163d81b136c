/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro explain: what a message of the log, an event or an alarm means, why it may be, and what to do;
 * the sentences of saguaro-messages(7). An event that is logged as a message is that message.
 */
#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "conf/base/arena.h"
#include "conf/base/text.h"
#include "conf/option.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/messages.h"
#include "gateway/cli/list.h"

enum { LINE_COLUMNS = 80, INDENT = 4, NEAR_MAX = 4, NEAR_DISTANCE = 3 };

/* clang-format off */
static const struct option_row explain_rows[] = {
	{ "json", OPT_BOOL, offsetof(struct client_flags, json), "FALSE", .letter = 'j', .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "as JSON" },
	{ NULL }
};
/* clang-format on */

static const char *const fields[] = { "name",    "kind",  "level",  "event", "alarm",
	                              "meaning", "cause", "remedy", NULL };

/* --- all that can be explained, as JSON ---------------------------------------------------- */

/* A text of a table as a sentence. NULL stays NULL. */
static json_t *sentence(struct arena *a, const char *text)
{
	if (text == NULL) {
		return json_null();
	}
	bool ends = text[0] != '\0' && text[strlen(text) - 1] == '.';
	const char *all = arena_printf(a, "%c%s%s", toupper((unsigned char)text[0]),
	                               text[0] != '\0' ? text + 1 : "", ends ? "" : ".");

	return all != NULL ? json_string(all) : json_null();
}

static json_t *message_json(struct arena *a, const struct message_text *m)
{
	return json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:o, s:o, s:o}", "name", m->code,
	                 "kind", "message", "level", m->level, "event",
	                 m->event != NULL ? m->event->name : NULL, "alarm",
	                 m->alarm != NULL ? m->alarm->name : NULL, "meaning",
	                 sentence(a, message_meaning(m)), "cause", sentence(a, m->cause),
	                 "remedy", sentence(a, message_remedy(m)));
}

static json_t *event_json(struct arena *a, const struct event_text *e)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:n, s:o, s:n, s:n}", "name", e->name,
	                 "kind", "event", "level", e->severity, "event", e->name, "alarm",
	                 "meaning", sentence(a, e->help), "cause", "remedy");
}

static json_t *alarm_json(struct arena *a, const struct alarm_text *alarm)
{
	json_t *codes = json_array();

	for (const struct message_text *m = message_texts; m->area != NULL; m++) {
		if (m->alarm == alarm) {
			json_array_append_new(codes, json_string(m->code));
		}
	}
	return json_pack("{s:s, s:s, s:s, s:n, s:s, s:o, s:n, s:o, s:o}", "name",
	                 alarm->name, "kind", "alarm", "level", alarm->severity, "event",
	                 "alarm", alarm->name, "meaning", sentence(a, alarm->help),
	                 "cause", "remedy", sentence(a, alarm->remedy), "codes", codes);
}

/* "sag-sm-001", "SM-001": with or without SAG-, in upper or lower case. */
static bool is_code(const char *code, const char *word)
{
	return strcasecmp(code, word) == 0 ||
	       strcasecmp(code + strlen("SAG-"), word) == 0;
}

/* The entries that a word names; NULL: all. */
static json_t *entries_json(struct arena *a, const char *word)
{
	json_t *all = json_array();

	for (const struct alarm_text *t = alarm_texts; t->name != NULL; t++) {
		if (word != NULL && strcasecmp(t->name, word) == 0) {
			json_array_append_new(all, alarm_json(a, t));
		}
	}
	for (const struct message_text *m = message_texts; m->area != NULL; m++) {
		if (m->code != NULL &&
		    (word == NULL || is_code(m->code, word) ||
		     (m->event != NULL && strcasecmp(m->event->name, word) == 0))) {
			json_array_append_new(all, message_json(a, m));
		}
	}
	for (const struct event_text *e = event_texts; e->name != NULL; e++) {
		if (message_of_event(e) == NULL &&
		    (word == NULL || strcasecmp(e->name, word) == 0)) {
			json_array_append_new(all, event_json(a, e));
		}
	}
	for (const struct alarm_text *t = alarm_texts; t->name != NULL; t++) {
		if (word == NULL) {
			json_array_append_new(all, alarm_json(a, t));
		}
	}
	return all;
}

/* --- as text ------------------------------------------------------------------------------- */

static const char *member(const json_t *row, const char *name)
{
	return json_string_value(json_object_get(row, name));
}

/* A paragraph, indented, behind a label. */
static void print_paragraph(const char *label, const char *text)
{
	size_t at = INDENT + strlen(label);

	printf("%*s%s", INDENT, "", label);
	while (*text != '\0') {
		size_t len = strcspn(text, " ");

		if (at > INDENT && at + 1 + len > LINE_COLUMNS) {
			printf("\n%*s", INDENT, "");
			at = INDENT;
		} else if (at > INDENT) {
			putchar(' ');
			at++;
		}
		printf("%.*s", (int)len, text);
		at += len;
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}

static void print_codes(const json_t *codes)
{
	const char *between = "";
	size_t i;
	json_t *code;

	if (json_array_size(codes) == 0) {
		return;
	}
	printf("%*sCodes: ", INDENT, "");
	json_array_foreach(codes, i, code)
	{
		printf("%s%s", between, json_string_value(code));
		between = ", ";
	}
	putchar('\n');
}

static void print_entry(const json_t *row)
{
	const char *kind = member(row, "kind"), *event = member(row, "event");
	const char *alarm = member(row, "alarm");
	bool message = strcmp(kind, "message") == 0;

	printf("%s%s%s (%s)", message ? "" : kind, message ? "" : " ",
	       member(row, "name"), member(row, "level"));
	if (message && event != NULL) {
		printf(", event %s", event);
	}
	if (message && alarm != NULL) {
		printf(", alarm %s", alarm);
	}
	putchar('\n');
	print_paragraph("", member(row, "meaning"));
	if (member(row, "cause") != NULL) {
		print_paragraph("Cause:", member(row, "cause"));
	}
	if (member(row, "remedy") != NULL) {
		print_paragraph("Remedy:", member(row, "remedy"));
	}
	print_codes(json_object_get(row, "codes"));
}

static int print_entries(const struct client *s, const json_t *body, bool first)
{
	size_t i;
	json_t *row;

	(void)s;
	(void)first;
	json_array_foreach(json_object_get(body, "messages"), i, row)
	{
		if (i > 0) {
			putchar('\n');
		}
		print_entry(row);
	}
	return EXIT_GOOD;
}

/* The heading above the row: the title of its area, or its kind. NULL: none. */
static const char *heading(const json_t *row, const char *before)
{
	const char *kind = member(row, "kind"), *title = NULL;

	if (strcmp(kind, "message") != 0) {
		return strcmp(kind, before) == 0    ? NULL
		       : strcmp(kind, "event") == 0 ? "Events that are no messages"
		                                    : "Alarms";
	}
	for (const struct message_text *m = message_texts; m->area != NULL; m++) {
		if (m->code == NULL) {
			title = m->title;
		} else if (strcmp(m->code, member(row, "name")) == 0) {
			return title;
		} else {
			title = NULL;
		}
	}
	return NULL;
}

/* A line each, with the first sentence. */
static int print_list(const struct client *s, const json_t *body, bool first)
{
	const char *before = "";
	size_t i;
	json_t *row;

	(void)s;
	(void)first;
	json_array_foreach(json_object_get(body, "messages"), i, row)
	{
		const char *meaning = member(row, "meaning"),
			   *end = strstr(meaning, ". ");
		const char *title = heading(row, before);

		if (title != NULL) {
			printf("%s%s:\n", i > 0 ? "\n" : "", title);
		}
		before = member(row, "kind");
		printf("  %-17s %-8s %.*s\n", member(row, "name"), member(row, "level"),
		       end != NULL ? (int)(end + 1 - meaning) : (int)strlen(meaning),
		       meaning);
	}
	return EXIT_GOOD;
}

/* --- the command --------------------------------------------------------------------------- */

/* Names what is near, the nearest first. */
static int refuse_unknown(const struct client *s, const char *word)
{
	const char *near = "; near: ";

	fprintf(stderr, "%s: there is no message, event or alarm '%s'", s->program, word);
	unsigned n = 0;
	bool code = strncasecmp(word, "SAG-", 4) == 0; /* these are in upper case */
	char *like = arena_strdup(s->arena, word);
	for (char *p = like; p != NULL && code && *p != '\0'; p++) {
		*p = (char)toupper((unsigned char)*p);
	}
	json_t *all = entries_json(s->arena, NULL), *row;
	for (unsigned distance = 1; distance <= NEAR_DISTANCE; distance++) {
		size_t i;
		json_array_foreach(all, i, row)
		{
			const char *name = member(row, "name");

			if (n < NEAR_MAX &&
			    text_distance(like != NULL ? like : word, name,
			                  NEAR_DISTANCE + 1) == distance) {
				fprintf(stderr, "%s%s", near, name);
				near = ", ";
				n++;
			}
		}
	}
	json_decref(all);
	fprintf(stderr, "\n'saguaro explain' lists all.\n");
	return EXIT_USAGE;
}

static int explain(struct client *s, const char *word)
{
	static const struct list one = { "messages", NULL, .print = print_entries };
	static const struct list all = { "messages", NULL, .print = print_list };
	json_t *rows = entries_json(s->arena, word);
	int status;

	if (json_array_size(rows) == 0) {
		status = refuse_unknown(s, word);
	} else if (s->flags.json && !list_of_fields(s)) {
		status = client_print_json(rows);
	} else {
		json_t *body = json_pack("{s:O}", "messages", rows);

		status = list_print_body(s, word != NULL ? &one : &all, fields, body);
		json_decref(body);
	}
	json_decref(rows);
	return status;
}

int cmd_explain(int argc, char **argv)
{
	const struct option_row *rows[] = { explain_rows, list_rows, NULL };
	struct client s;
	int status = client_init_alone(
		&s, rows,
		"What a message of the log means, why it may be, and what to do: by its code, such as SAG-SM-001, or by the name of an event or an alarm. Alone: lists them.",
		"[CODE]", CLIENT_MAY_HAVE_ONE, argc, argv);

	if (status == EXIT_GOOD) {
		status = explain(&s, s.first < argc ? argv[s.first] : NULL);
	}
	return client_done(&s, status);
}

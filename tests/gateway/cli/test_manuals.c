/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * What the programs of the build write into manual pages: each row of a table stands
 * there once, with its text and under its heading, and nothing else does. A text that
 * misses a row, or names one that there is not, is refused.
 */
#include <check.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/config.h"
#include "conf/option.h"
#include "gateway/api/api.h"
#include "gateway/cli/help/messages.h"
#include "gateway/resource/resource.h"
#include "routing/engine.h"
#include "routing/route.h"
#include "tests/lib/suite.h"

static char *page;

/* The text without the escapes of roff. */
static void drop_escapes(char *text)
{
	char *to = text;

	for (const char *p = text; *p != '\0'; p++) {
		if (*p != '\\') {
			*to++ = *p;
		} else if (p[1] == 'f') {
			p += 2;
		} else if (strncmp(p, "\\(aq", 4) == 0) {
			*to++ = '\'';
			p += 3;
		} else if (p[1] == '&') {
			p++;
		} else {
			*to++ = *++p == 'e' ? '\\' : *p;
		}
	}
	*to = '\0';
}

/* Runs a program of the build; page is what it prints, standard error with it. \return
 * Its exit status. */
static int run(const char *words)
{
	const char *top = getenv("top_builddir");
	char command[512];
	size_t len = 0;
	FILE *f;
	int status;

	snprintf(command, sizeof(command), "exec 2>&1; %s/%s", top != NULL ? top : ".",
	         words);
	f = popen(command, "r");
	ck_assert_ptr_nonnull(f);
	free(page);
	page = NULL;
	ck_assert_int_gt(getdelim(&page, &len, '\0', f), 0);
	status = pclose(f);
	ck_assert(WIFEXITED(status));
	drop_escapes(page);
	return WEXITSTATUS(status);
}

static void stop(void)
{
	free(page);
	page = NULL;
}

static unsigned count(const char *text)
{
	unsigned n = 0;

	for (const char *p = page; (p = strstr(p, text)) != NULL; p += strlen(text)) {
		n++;
	}
	return n;
}

/* The entry whose head is the name and what stands behind it, in static memory. */
static const char *entry(const char *name, const char *behind)
{
	static char text[8192];
	char head[512];
	const char *at, *end;

	snprintf(head, sizeof(head), "\n.TP\n%s%s", name, behind);
	ck_assert_msg(count(head) == 1, "%u times '%s'", count(head), head);
	at = strstr(page, head) + 1;
	end = strstr(at, "\n.TP\n");
	snprintf(text, sizeof(text), "%.*s",
	         (int)(end != NULL ? (size_t)(end - at) : strlen(at)), at);
	return text;
}

static void check_has(const char *text, const char *what)
{
	ck_assert_msg(strcasestr(text, what) != NULL, "'%s' is not in: %.500s", what,
	              text);
}

/* The heading above a place of the page. */
static void check_heading(const char *place, const char *title)
{
	const char *last = NULL;
	char want[256];

	for (const char *p = page;
	     (p = strstr(p, "\n.SS ")) != NULL && p < strstr(page, place); p++) {
		last = p + 5;
	}
	snprintf(want, sizeof(want), "%s\n", title);
	ck_assert_msg(last != NULL && strncmp(last, want, strlen(want)) == 0,
	              "%s is not below %s", place, title);
}

static bool has_effect(const char *key)
{
	bool found = false;

	for (const struct option_row *row = config_rows; row->name != NULL; row++) {
		found = found ||
		        (row->type != OPT_IGNORED && strcmp(row->name, key) == 0);
	}
	for (unsigned i = 0; engines[i] != NULL; i++) {
		found = found || engine_row(engines[i], key) != NULL;
	}
	return found;
}

/* A key of the daemon that an engine acts on, too, stands in both places. */
static bool is_twice(const char *key)
{
	bool key_of_daemon = false, key_of_engine = false;

	for (const struct option_row *row = config_rows; row->name != NULL; row++) {
		key_of_daemon = key_of_daemon ||
		                (row->type != OPT_IGNORED && strcmp(row->name, key) == 0);
	}
	for (unsigned i = 0; engines[i] != NULL; i++) {
		key_of_engine = key_of_engine || engine_row(engines[i], key) != NULL;
	}
	return key_of_daemon && key_of_engine;
}

/* Is the engine the first one that acts on a key? Its help stands in the manual. */
static bool is_first(unsigned engine, const char *key)
{
	for (unsigned k = 0; k < engine; k++) {
		if (engine_row(engines[k], key) != NULL) {
			return false;
		}
	}
	return true;
}

START_TEST(test_keys)
{
	char head[256], list[1024];
	unsigned n = 0;

	ck_assert_int_eq(run("optman keys"), 0);
	for (const struct option_row *row = config_rows; row->name != NULL; row++) {
		const char *text;

		if (row->type == OPT_IGNORED || (row->flags & OPT_CLI_ONLY) != 0) {
			continue;
		}
		n++;
		if (is_twice(row->name)) {
			continue;
		}
		text = entry(row->name, " ");
		check_has(text, row->help);
		if (row->def != NULL && row->def[0] != '\0' && strlen(row->def) < 18) {
			check_has(text, row->def);
		}
		snprintf(head, sizeof(head), "\n.TP\n%s ", row->name);
		check_heading(head, option_group_titles[row->group]);
	}
	for (unsigned i = 0; engines[i] != NULL; i++) {
		for (const struct option_row *row = engines[i]->options;
		     row != NULL && row->name != NULL; row++) {
			const char *text;

			if (row->type == OPT_IGNORED || is_twice(row->name) ||
			    !is_first(i, row->name)) {
				continue;
			}
			text = entry(row->name, " ");
			check_has(text, row->help);
			snprintf(list, sizeof(list), "\nEngines: ");
			for (unsigned k = 0, found = 0; engines[k] != NULL; k++) {
				if (engine_row(engines[k], row->name) != NULL) {
					snprintf(list + strlen(list),
					         sizeof(list) - strlen(list), "%s%s",
					         found++ > 0 ? ", " : "",
					         engines[k]->name);
				}
			}
			snprintf(list + strlen(list), sizeof(list) - strlen(list), ".");
			check_has(text, list);
			snprintf(head, sizeof(head), "\n.TP\n%s ", row->name);
			check_heading(head, "Routing engines");
		}
	}
	for (const struct option_row *row = config_rows; row->name != NULL; row++) {
		const char *text;

		if (row->type != OPT_IGNORED || (row->flags & OPT_CLI_ONLY) != 0 ||
		    has_effect(row->name)) {
			continue;
		}
		text = entry(row->name, (row->flags & OPT_REFUSE) != 0 ? "*\n" : "\n");
		check_has(text, row->help);
		snprintf(list, sizeof(list), " (%s).",
		         row->def == NULL ? "(null)"
		         : strlen(row->def) > 18 &&
		                         strspn(row->def, "0x") == strlen(row->def)
		                 ? "0"
		                 : row->def);
		check_has(text, list);
		ck_assert(strstr(page, text) > strstr(page, ".SH KEYS WITHOUT EFFECT"));
		n++;
	}
	/* and nothing else: each entry is one of these, or of an engine, which entry()
	 * found once */
	for (unsigned i = 0; engines[i] != NULL; i++) {
		for (const struct option_row *row = engines[i]->options;
		     row != NULL && row->name != NULL; row++) {
			n += row->type != OPT_IGNORED && is_first(i, row->name);
		}
	}
	ck_assert_uint_eq(count("\n.TP\n"), n);
}
END_TEST

START_TEST(test_daemon)
{
	char text[512];

	ck_assert_int_eq(run("optman daemon"), 0);
	for (const struct option_row *row = config_rows; row->name != NULL; row++) {
		if (row->type == OPT_IGNORED) {
			continue;
		}
		check_has(page, row->help);
		if ((row->flags & OPT_CLI_ONLY) != 0) {
			/* in the list of what is a flag only, between its head and the
			 * first heading */
			const char *list = strstr(page, "Only flags are"), *at;

			snprintf(text, sizeof(text), "\n-%s%s",
			         row->flags_long != NULL ? "-" : "",
			         row->flags_long != NULL ? row->flags_long
			                                 : (char[]){ row->letter, '\0' });
			at = strstr(list, text);
			ck_assert_msg(at != NULL && at < strstr(list, ".SS "), "%s",
			              text);
		}
	}
	for (const struct option_row *row = config_rows; row->name != NULL; row++) {
		const char *names = row->flags_long;
		bool shown = row->type == OPT_IGNORED &&
		             (row->letter != 0 || names != NULL) &&
		             !has_effect(row->name);

		if (row->type != OPT_IGNORED || names == NULL) {
			continue;
		}
		snprintf(text, sizeof(text), "--%.*s", (int)strcspn(names, ","), names);
		if (shown) {
			const char *part = strstr(page, ".SS Flags without effect");

			ck_assert_ptr_nonnull(part);
			ck_assert_msg(strstr(part, text) != NULL, "%s", text);
			ck_assert_msg(strcasestr(part, row->help) != NULL, "%s",
			              row->help);
		}
	}
	for (const struct event_text *e = event_texts; e->name != NULL; e++) {
		snprintf(text, sizeof(text), " (%s)\n", e->severity);
		check_has(entry(e->name, " ("), text);
		check_has(entry(e->name, " ("), e->help);
	}
	for (unsigned g = OPTION_GROUP_PROGRAM; g < OPTION_GROUP_COUNT; g++) {
		snprintf(text, sizeof(text), "\n.SS %s\n", option_group_titles[g]);
		ck_assert_uint_eq(count(text), 1);
	}
}
END_TEST

START_TEST(test_messages)
{
	unsigned n = 0, titles = 0;

	ck_assert_int_eq(run("optman messages"), 0);
	for (const struct message_text *m = message_texts; m->area != NULL; m++) {
		char head[256];
		const char *text;

		if (m->title != NULL) {
			snprintf(head, sizeof(head), "\n.SS %s (%s)\n", m->title,
			         m->area);
			ck_assert_uint_eq(count(head), 1);
			titles++;
			continue;
		}
		text = entry(m->code, " (");
		snprintf(head, sizeof(head), "%s (%s)%s%s%s%s\n", m->code, m->level,
		         m->event != NULL ? ", event " : "",
		         m->event != NULL ? m->event->name : "",
		         m->alarm != NULL ? ", alarm " : "",
		         m->alarm != NULL ? m->alarm->name : "");
		check_has(text, head);
		check_has(text, message_meaning(m));
		check_has(text, "\nCause: ");
		check_has(text, m->cause);
		check_has(text, "\nRemedy: ");
		check_has(text, message_remedy(m));
		n++;
	}
	ck_assert_uint_eq(count("\n.TP\n"), n);
	ck_assert_uint_eq(count("\n.SS "), titles);
}
END_TEST

/* A text of saguaro-routing(7) with all engines but \a without, NULL: with all. \a
 * more stands behind it. */
static void write_engines(const char *path, const char *without, const char *more)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(".SH ENGINES\n", f);
	for (unsigned i = 0; engines[i] != NULL; i++) {
		if (without == NULL || strcmp(engines[i]->name, without) != 0) {
			fprintf(f,
			        "ENGINE %s\nFOR fit %u\nCOST cost %u\n.EX\na picture\n.EE\n",
			        engines[i]->name, i, i);
		}
	}
	fprintf(f, "%sOPTIONS\n.SH END\n", more);
	ck_assert_int_eq(fclose(f), 0);
}

static const struct {
	const char *without, *more, *says; /* says NULL: it is good */
} texts[] = {
	{ NULL, "", NULL },
	{ "nue", "", ": describes " },
	{ NULL, "ENGINE nobody\nFOR x\nCOST x\n.EX\n.EE\n",
	  "engine 'nobody': there is none" },
	{ "nue", "ENGINE nue\nCOST x\n.EX\n.EE\n",
	  "engine 'nue': lines FOR and COST are missing" },
	{ "nue", "ENGINE nue\nFOR x\n.EX\n.EE\n",
	  "engine 'nue': lines FOR and COST are missing" },
	{ "nue", "ENGINE nue\nFOR \nCOST x\n.EX\n.EE\n",
	  "engine 'nue': lines FOR and COST are missing" },
	{ "nue", "ENGINE nue\nFOR x\nCOST x\n", "engine 'nue': there is no picture" },
};

START_TEST(test_routing)
{
	char path[64], words[128], text[512];

	snprintf(path, sizeof(path), "/tmp/saguaro-manual.%d", (int)getpid());
	snprintf(words, sizeof(words), "optman routing %s", path);
	write_engines(path, texts[_i].without, texts[_i].more);
	if (texts[_i].says != NULL) {
		ck_assert_int_eq(run(words), 1);
		check_has(page, texts[_i].says);
		unlink(path);
		return;
	}
	ck_assert_int_eq(run(words), 0);
	unlink(path);
	for (unsigned i = 0; engines[i] != NULL; i++) {
		const struct engine *e = engines[i];
		size_t len = (size_t)snprintf(
			text, sizeof(text),
			"\n.SS %s\n%s.\n.TP\nFor\nfit %u\n.TP\nGuarantees\n%s\n%s\n%s\n.TP\nCost\ncost %u\n",
			e->name, e->summary, i,
			(e->flags & ENGINE_DEADLOCK_FREE) != 0
				? "Free of deadlock by design."
				: "The proof tells whether its tables can deadlock.",
			(e->flags & ENGINE_NEEDS_LANES) != 0
				? "Uses several virtual lanes."
			: (e->flags & ENGINE_MAY_USE_LANES) != 0
				? "Uses several virtual lanes if asked to."
				: "One virtual lane is enough.",
			(e->flags & ENGINE_LMC0_ONLY) != 0 ? "LMC 0 only." : "Any LMC.",
			i);

		for (const struct option_row *row = e->options;
		     row != NULL && row->name != NULL; row++) {
			len += (size_t)snprintf(
				text + len, sizeof(text) - len, "%s%s",
				row == e->options ? ".TP\nOptions\n" : ", ", row->name);
		}
		snprintf(text + len, sizeof(text) - len, "%s.PP\n.EX\na picture\n",
		         e->options != NULL ? ".\n" : "");
		ck_assert_msg(count(text) == 1, "%s", text);
		for (const struct option_row *row = e->options;
		     row != NULL && row->name != NULL; row++) {
			if (is_first(i, row->name)) {
				check_has(strstr(page, "\n.SH OPTIONS\n"), row->help);
			}
		}
	}
}
END_TEST

/* Each resource once, with its summary and its parameters; a text that names one twice
 * is refused. */
START_TEST(test_resources)
{
	char path[64], words[128], text[256];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/saguaro-manual.%d", (int)getpid());
	snprintf(words, sizeof(words), "apiman %s", path);
	f = fopen(path, "w");
	fputs(".SH RESOURCES\n", f);
	for (unsigned i = 0; i < api_resources.n; i++) {
		fprintf(f, "RESOURCE %s %s\nMore %u.\n", api_resources.row[i].method,
		        api_resources.row[i].path, i);
	}
	fputs("ALARMS\nPARAMETERS\nANSWERS\n", f);
	fclose(f);
	ck_assert_msg(run(words) == 0, "%s", page);
	for (unsigned i = 0; i < api_resources.n; i++) {
		const struct resource *row = &api_resources.row[i];
		const char *at, *end;

		snprintf(text, sizeof(text), "\nMore %u.\n", i);
		ck_assert_uint_eq(count(text), 1);
		check_has(page, row->summary);
		at = strstr(page, text);
		snprintf(text, sizeof(text), "\nMore %u.\n", i + 1);
		end = strstr(page, text);
		for (const char *p = row->params;
		     strncmp(row->summary, "the same as ", 12) != 0 && p != NULL &&
		     *p != '\0';
		     p += strspn(p, " ")) {
			int len = (int)strcspn(p, " ");
			char *part = strndup(at, end != NULL ? (size_t)(end - at)
			                                     : strlen(at));

			snprintf(text, sizeof(text), "%.*s", len, p);
			ck_assert_msg(strstr(part, text) != NULL, "%s of %s", text,
			              row->path);
			free(part);
			p += len;
		}
	}
	for (const struct alarm_text *a = alarm_texts; a->name != NULL; a++) {
		snprintf(text, sizeof(text), "\n.TP\n%s (%s)\n", a->name, a->severity);
		ck_assert_msg(count(text) == 1, "%s", text);
		check_has(page, a->help);
	}
	f = fopen(path, "w");
	fputs("RESOURCE GET /v1/nodes\nRESOURCE GET /v1/nodes\n", f);
	fclose(f);
	ck_assert_int_ne(run(words), 0);
	check_has(page, "/v1/nodes");
	f = fopen(path, "w");
	fputs("RESOURCE GET /v1/nothing\n", f);
	fclose(f);
	ck_assert_int_ne(run(words), 0);
	check_has(page, "/v1/nothing");
	unlink(path);
}
END_TEST

START_TEST(test_usage)
{
	ck_assert_int_eq(run("optman"), 1);
	check_has(page, "usage: optman daemon | keys | messages | routing FILE");
	ck_assert_int_eq(run("optman nothing"), 1);
	ck_assert_int_eq(run("optman routing"), 1);
	ck_assert_int_eq(run("optman routing /nonexistent/file"), 1);
	check_has(page, "/nonexistent/file: No such file");
	ck_assert_int_ne(run("apiman /nonexistent/file"), 0);
}
END_TEST

TEST_SUITE(manuals)
{
	TCase *t = tcase_create("manuals");

	tcase_add_checked_fixture(t, NULL, stop);
	tcase_add_test(t, test_keys);
	tcase_add_test(t, test_daemon);
	tcase_add_test(t, test_messages);
	tcase_add_loop_test(t, test_routing, 0, (int)(sizeof(texts) / sizeof(*texts)));
	tcase_add_test(t, test_resources);
	tcase_add_test(t, test_usage);
	suite_add_tcase(suite, t);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/text.h"
#include "db/stats/stats.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/list.h"

enum { FOLLOW_MS = 200, FOLLOW_URL_MS = 1000, LAST_FOLLOWED = 10 };

/* clang-format off */
static const struct option_row events_rows[] = {
	{ "follow", OPT_BOOL, offsetof(struct client_flags, follow), "FALSE", .letter = 'f', .flags_long = "follow",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "go on with what happens; begins with the last 10 unless --since or --last is given" },
	{ "since", OPT_STRING, offsetof(struct client_flags, since), NULL, .flags_long = "since",
	  .flags = OPT_CLI_ONLY, .arg = "N", .help = "only events after this number" },
	{ "last", OPT_STRING, offsetof(struct client_flags, last), NULL, .letter = 'n', .flags_long = "last",
	  .flags = OPT_CLI_ONLY, .arg = "N", .help = "only the last N" },
	{ "kind", OPT_STRING, offsetof(struct client_flags, kind), NULL, .letter = 'k', .flags_long = "kind",
	  .flags = OPT_CLI_ONLY, .arg = "KIND[,KIND...]", .help = "only these kinds; 'list' lists them" },
	{ "node", OPT_STRING, offsetof(struct client_flags, node), NULL, .flags_long = "node",
	  .flags = OPT_CLI_ONLY, .arg = "GLOB", .help = "only events of nodes whose name or GUID matches, with * and ?" },
	{ NULL }
};
/* clang-format on */

static int list_kinds(void)
{
	for (unsigned k = 0; k < EVENT_KINDS; k++) {
		const struct event_type *t = &event_types[k];

		printf("%-18s %-8s %s\n", t->name, event_severity_names[t->severity], t->help);
	}
	return EXIT_GOOD;
}

static bool has_colours(void)
{
	const char *term = getenv("TERM"), *none = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && term != NULL && strcmp(term, "dumb") != 0 &&
	       (none == NULL || *none == '\0');
}

/* What the sweep did about it, as far as it did anything. */
static void print_cost(const json_t *e)
{
	const char *cause = member_text(e, "cause");

	if (*cause == '\0') {
		return;
	}
	printf("  [%.*s; epoch %lld", (int)strcspn(cause, ":"), cause, member_int(e, "epoch"));
	if (member_int(e, "lft_blocks") != 0) {
		printf(", %lld LFT blocks, %lld paths moved", member_int(e, "lft_blocks"),
		       member_int(e, "paths_moved"));
	}
	printf(", %.3f s]", (double)member_int(e, "duration_ms") / 1000);
}

static void print_event(struct client *s, const json_t *e)
{
	const char *severity = member_text(e, "severity"), *colour = "";
	char *text;

	if (s->flags.json) {
		json_dumpf(e, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
		printf("\n");
		return;
	}
	if (list_of_fields(s)) {
		list_row(s, e);
		return;
	}
	text = arena_strdup(s->arena, member_text(e, "text"));
	if (text == NULL) {
		return;
	}
	text_printable(text); /* names come from the fabric */
	if (has_colours()) {
		colour = strcmp(severity, "error") == 0     ? "\033[1;31m"
		         : strcmp(severity, "warning") == 0 ? "\033[33m"
		                                            : "";
	}
	printf("%6lld  %s  %s%-7s  %s%s", member_int(e, "id"), member_text(e, "time"), colour,
	       severity, text, *colour != '\0' ? "\033[0m" : "");
	print_cost(e);
	printf("\n");
}

/* Where the next request goes on, and what was said once. */
struct follower {
	char since[32]; /* number of the last event seen; "": none was asked for */
};

static const char *target_of(struct client *s, const struct follower *f)
{
	const char *place = s->flags.last, *name = "last";

	if (f->since[0] != '\0') {
		place = f->since;
		name = "since";
	} else if (place == NULL) { /* all */
		place = "1000";
		name = "limit";
	}
	return arena_printf(s->arena, "/v1/events?%s=%s%s%s%s%s", name,
	                    client_escape(s, place), s->flags.kind ? "&kind=" : "",
	                    s->flags.kind ? client_escape(s, s->flags.kind) : "",
	                    s->flags.node ? "&node=" : "",
	                    s->flags.node ? client_escape(s, s->flags.node) : "");
}

static void print_gap(const struct client *s, struct follower *f, const json_t *body)
{
	const char *resync = member_text(body, "resync");

	if (strcmp(resync, "trimmed") == 0) {
		fprintf(stderr, "%s: events between %s and %lld are not kept any more\n",
		        s->program, f->since, member_int(body, "first"));
	} else if (*resync != '\0') {
		fprintf(stderr, "%s: there is no event %s yet; begins with %lld\n", s->program,
		        f->since, member_int(body, "first"));
	}
}

/* Prints what is new. \param ret_more  There is more to get at once. */
static int print_new(struct client *s, struct follower *f, bool *ret_more)
{
	json_t *body = NULL, *e;
	const char *target = target_of(s, f);
	int status = target != NULL ? client_get(s, target, &body) : EXIT_USAGE;
	size_t i;

	if (status != EXIT_GOOD) {
		return status;
	}
	print_gap(s, f, body);
	json_array_foreach(json_object_get(body, "events"), i, e)
	{
		print_event(s, e);
	}
	const json_t *next = json_object_get(body, "next_since");
	*ret_more = next != NULL;
	snprintf(f->since, sizeof(f->since), "%lld",
	         next != NULL ? json_integer_value(next) : member_int(body, "next") - 1);
	json_decref(body);
	return fflush(stdout) == 0 ? EXIT_GOOD : EXIT_BAD;
}

static void wait_ms(unsigned ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L },
	          NULL);
}

static const struct list events = { "events", "Event", .columns = NULL };

static int show_events(struct client *s)
{
	struct follower f = { .since = "" };
	bool more, done = false;
	int status = list_open(s, &events, NULL, &done);

	if (status != EXIT_GOOD || done) {
		list_close(s);
		return status;
	}
	list_head(s);

	if (s->flags.since == NULL && s->flags.last == NULL && s->flags.follow) {
		s->flags.last = arena_printf(s->arena, "%d", LAST_FOLLOWED);
	} else if (s->flags.since != NULL) {
		snprintf(f.since, sizeof(f.since), "%s", s->flags.since);
	}
	do {
		struct arena *all = s->arena;

		s->arena = arena_new(); /* of one request */
		status = s->arena != NULL ? print_new(s, &f, &more) : EXIT_USAGE;
		arena_free(s->arena);
		s->arena = all;
		if (s->flags.follow && status == EXIT_GOOD && !more) {
			wait_ms(s->local != NULL ? FOLLOW_MS : FOLLOW_URL_MS);
		}
	} while (status == EXIT_GOOD && (s->flags.follow || more));
	list_close(s);
	return status;
}

int cmd_events(int argc, char **argv)
{
	const struct option_row *own[] = { events_rows, list_rows, NULL };
	struct client c;
	int status = client_init_rows(
		&c, own,
		"What happened in the fabric, oldest first: cables, hosts and switches lost and new, other subnet managers, sweeps that failed, handovers. Each line has the number of the event, the time, and what the sweep did about it.",
		NULL, 0, argc, argv);

	if (status == EXIT_GOOD) {
		status = c.flags.kind != NULL && strcmp(c.flags.kind, "list") == 0
		                 ? list_kinds()
		                 : show_events(&c);
	}
	return client_done(&c, status);
}

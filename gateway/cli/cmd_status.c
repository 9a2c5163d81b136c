/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"

static void print_line(const char *title, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void print_line(const char *title, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("%-16s ", title);
	vprintf(format, args);
	putchar('\n');
	va_end(args);
}

/* Sentences, one per line. */
static void print_lines(const char *title, const char *text)
{
	for (size_t len; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		print_line(title, "%.*s", (int)len, text);
	}
}

static void print_fabric(const json_t *f)
{
	const json_t *sm = json_object_get(f, "sm");

	print_line("epoch", "%lld, computed at %s%s", member_int(f, "epoch"),
	           member_text(f, "computed_at"),
	           json_is_true(json_object_get(f, "stale")) ? " (stale)" : "");
	print_line("SM", "%s, LID %lld, priority %lld, port GUID %s",
	           member_text(sm, "state"), member_int(sm, "lid"),
	           member_int(sm, "priority"), member_text(sm, "port_guid"));
	print_line(
		"fabric",
		"%lld switches, %lld hosts, %lld cables, %lld LIDs up to %lld, LMC %lld",
		member_int(f, "switches"), member_int(f, "hosts"), member_int(f, "links"),
		member_int(f, "lids"), member_int(f, "top_lid"), member_int(f, "lmc"));
	print_line("path selection", "%s", member_text(f, "path_selection"));
}

/* How the switches got these tables. */
static void print_transition(const json_t *t)
{
	const json_t *any = json_object_get(t, "in_any_order");
	const json_t *seconds = json_object_get(t, "seconds");

	if (!json_is_object(t)) {
		return;
	}
	print_line(
		"transition",
		"epoch %lld: %lld LIDs in %lld stages, %lld withdrawn meanwhile, %lld LFT blocks%s",
		member_int(t, "epoch"), member_int(t, "lids_changed"),
		member_int(t, "stages"), member_int(t, "lids_withdrawn"),
		member_int(t, "lft_blocks"),
		json_is_true(json_object_get(t, "safe")) ? "" : "; no order was safe");
	if (member_int(any, "credit_loops") != 0 || member_int(any, "looping_lids") != 0) {
		print_line("", "in any order: %lld credit loops, %lld LIDs that may circle",
		           member_int(any, "credit_loops"), member_int(any, "looping_lids"));
	}
	print_line("", "seconds: plan %.3f, send %.3f",
	           json_number_value(json_object_get(seconds, "plan")),
	           json_number_value(json_object_get(seconds, "send")));
}

static void print_routing(const json_t *r)
{
	const json_t *load = json_object_get(r, "load");
	const json_t *seconds = json_object_get(r, "seconds");

	print_line("engine", "%s (asked: %s)", member_text(r, "engine_used"),
	           member_text(r, "engine_asked"));
	print_lines("fallback", member_text(r, "fallback_reason"));
	print_lines("warning", member_text(r, "warning"));
	print_lines("note", member_text(r, "notes"));
	print_line(
		"proof",
		"%lld of %lld pairs unreachable, %lld forwarding loops, %lld credit loops",
		member_int(r, "unreachable_pairs"), member_int(r, "pairs"),
		member_int(r, "forwarding_loops"), member_int(r, "credit_loops"));
	print_line("routes per link", "max %lld, mean %.1f, 99th percentile %lld",
	           member_int(load, "max"),
	           json_number_value(json_object_get(load, "mean")),
	           member_int(load, "p99"));
	print_line("seconds", "route %.3f, prove %.3f",
	           json_number_value(json_object_get(seconds, "route")),
	           json_number_value(json_object_get(seconds, "prove")));
	print_transition(json_object_get(r, "transition"));
}

static void print_copy(const json_t *copy)
{
	const char *trouble = member_text(copy, "trouble");

	if (!json_is_object(copy)) {
		print_line("copy",
		           "none, because there is no link to the master (standby_peer)");
	} else if (json_is_true(json_object_get(copy, "in_step"))) {
		print_line(
			"copy",
			"in step with the master: %lld rows, then transactions up to %lld",
			member_int(copy, "rows"), member_int(copy, "transaction"));
	} else {
		print_line("copy", "%s%s%s",
		           json_is_true(json_object_get(copy, "paused"))
		                   ? "pauses"
		                   : "not in step with the master",
		           trouble[0] ? ": " : "", trouble);
	}
}

/* A standby has no fabric to show, and that is as it should be. */
static int show_standby(const struct client *c, const json_t *sm)
{
	const json_t *master = json_object_get(sm, "master");

	if (c->flags.json) {
		json_t *all = json_pack("{s:b, s:O}", "ready", 0, "sm", sm);
		int status = client_print_json(all);

		json_decref(all);
		return status;
	}
	print_line("SM", "STANDBY, priority %lld, port GUID %s",
	           member_int(sm, "priority"), member_text(sm, "guid"));
	print_line("master", "%s, GUID %s, LID %lld, priority %lld",
	           member_text(master, "name")[0] ? member_text(master, "name")
	                                          : "(no name)",
	           member_text(master, "guid"), member_int(master, "lid"),
	           member_int(master, "priority"));
	print_copy(json_object_get(sm, "copy"));
	return EXIT_GOOD;
}

/* Whom the master gives its state to. */
static void print_standbys(const json_t *copy)
{
	if (json_is_object(copy)) {
		print_line("standbys", "%lld connected, %lld in step",
		           member_int(copy, "standbys"),
		           member_int(copy, "standbys_in_step"));
	}
}

/* By LID, or why not. */
static void print_programmed(const json_t *p)
{
	static const struct {
		const char *member, *text;
	} ways[] = {
		{ "asked", "because of smp_routing" },
		{ "unanswered", "that did not answer by LID" },
		{ "remembered", "that had not answered by LID before" },
		{ "behind", "behind one that did not answer by LID" },
		{ "no_route", "without a route by LID at the time" },
	};
	json_int_t by_lid = member_int(p, "by_lid"), directed = 0;
	const char *separator = ": ";

	if (!json_is_object(p)) {
		return;
	}
	for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
		directed += member_int(p, ways[k].member);
	}
	printf("%-16s %lld switches by LID, %lld by directed routes", "programmed",
	       (long long)by_lid, (long long)directed);
	for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
		json_int_t n = member_int(p, ways[k].member);

		if (n != 0) {
			printf("%s%lld %s", separator, (long long)n, ways[k].text);
			separator = ", ";
		}
	}
	putchar('\n');
}

/* The worst alarm that nobody acknowledged, and how many there are; what it means in a line of its own. */
static void print_alarms(struct client *c)
{
	json_t *body = NULL;

	if (client_get(c, "/v1/alarms?limit=1&acknowledged=0", &body) == EXIT_GOOD) {
		const json_t *counts = json_object_get(body, "counts");
		const json_t *worst = json_array_get(json_object_get(body, "alarms"), 0);
		json_int_t known = member_int(body, "acknowledged");
		const char *means = member_text(json_object_get(worst, "consequence"), "text");

		if (worst == NULL) {
			print_line("alarms", known == 0 ? "none" : "none, %lld acknowledged", known);
		} else {
			print_line("alarms", "%lld critical, %lld errors, %lld warnings, %lld others, %lld acknowledged",
			           member_int(counts, "critical"), member_int(counts, "error"),
			           member_int(counts, "warning"), member_int(counts, "info"), known);
			print_line("worst", "%s%s%s", member_text(worst, "text"),
			           *means != '\0' ? "; " : "", means);
		}
	}
	json_decref(body);
}

/* --- for a monitoring system ------------------------------------------------------------- */

/* Exit statuses of --check, as plug-ins of Nagios have them. */
enum { CHECK_GOOD, CHECK_WARNING, CHECK_CRITICAL, CHECK_UNKNOWN };

/* The worst alarm that nobody acknowledged and that is not on purpose. A standby is not ready by design. */
static const json_t *worst_of(const json_t *body, bool standby)
{
	json_t *a;
	size_t i;

	json_array_foreach(json_object_get(body, "alarms"), i, a)
	{
		if (!json_is_true(json_object_get(a, "maintenance")) &&
		    !(standby && strcmp(member_text(a, "kind"), "not_ready") == 0)) {
			return a;
		}
	}
	return NULL;
}

static int check_of(const char *severity)
{
	return strcmp(severity, "critical") == 0 || strcmp(severity, "error") == 0
	               ? CHECK_CRITICAL
	       : strcmp(severity, "warning") == 0 ? CHECK_WARNING
	                                          : CHECK_GOOD;
}

/* One line and the exit status. */
static int check_status(struct client *c)
{
	static const char *const words[] = { "OK", "WARNING", "CRITICAL", "UNKNOWN" };
	json_t *sm = NULL, *body = NULL;
	int check = CHECK_UNKNOWN;

	if (client_get(c, "/v1/sm", &sm) == EXIT_GOOD &&
	    client_get(c, "/v1/alarms?limit=65536&acknowledged=0", &body) == EXIT_GOOD) {
		bool standby = strcmp(member_text(sm, "state"), "standby") == 0;
		const json_t *worst = worst_of(body, standby);
		const char *means = member_text(json_object_get(worst, "consequence"), "text");

		check = worst != NULL ? check_of(member_text(worst, "severity")) : CHECK_GOOD;
		if (c->flags.json) {
			json_t *all = json_pack("{s:s, s:i, s:O?}", "check", words[check], "status",
			                        check, "worst", worst);

			client_print_json(all);
			json_decref(all);
		} else if (worst != NULL) {
			printf("%s: %s%s%s\n", words[check], member_text(worst, "text"),
			       *means != '\0' ? "; " : "", means);
		} else {
			printf("%s: %s\n", words[check],
			       standby ? "this is a standby" : "no alarm");
		}
	} else {
		printf("%s: saguarod does not answer\n", words[check]);
	}
	json_decref(sm);
	json_decref(body);
	return check;
}

/* Prints all that is known, also if the subnet is not up; that sets the exit status. */
static int show_status(struct client *c)
{
	json_t *sm = NULL, *ready = NULL, *fabric = NULL, *routing = NULL;
	int status = client_get(c, "/v1/sm", &sm);

	if (status == EXIT_GOOD && strcmp(member_text(sm, "state"), "standby") == 0) {
		status = show_standby(c, sm);
		json_decref(sm);
		return status;
	}
	if (status == EXIT_GOOD) {
		status = client_get(c, "/readyz", &ready);
	}

	if (status == EXIT_USAGE) {
		json_decref(sm);
		return status;
	}
	if (client_get(c, "/v1/fabric", &fabric) == EXIT_GOOD &&
	    client_get(c, "/v1/routing", &routing) == EXIT_GOOD) {
		if (c->flags.json) {
			json_t *all = json_pack("{s:b, s:O, s:O, s:O}", "ready",
			                        status == EXIT_GOOD, "sm", sm, "fabric",
			                        fabric, "routing", routing);
			client_print_json(all);
			json_decref(all);
		} else {
			print_line("subnet", "%s",
			           status == EXIT_GOOD ? "up" : "not ready");
			print_fabric(fabric);
			print_standbys(json_object_get(sm, "copy"));
			print_programmed(json_object_get(sm, "programmed"));
			print_routing(routing);
			print_alarms(c);
		}
	}
	json_decref(sm);
	json_decref(ready);
	json_decref(fabric);
	json_decref(routing);
	return status;
}

/* clang-format off */
static const struct option_row status_rows[] = {
	{ "check", OPT_BOOL, offsetof(struct client_flags, check), "FALSE", .flags_long = "check", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "one line for a monitoring system, with an exit status of its own: 0: no alarm, 1: warnings, 2: errors or worse, 3: no answer" },
	{ NULL }
};
/* clang-format on */

int cmd_status(int argc, char **argv)
{
	struct client c;
	int status = client_init(
		&c, status_rows,
		"Is the subnet up, how was it routed, and what is wrong?",
		NULL, 0, argc, argv);

	if (c.flags.check) {
		if (status == EXIT_GOOD) {
			status = check_status(&c);
		} else {
			puts("UNKNOWN: there is nobody to ask");
			status = CHECK_UNKNOWN;
		}
		(void)client_done(&c, EXIT_BAD);
		return status;
	}
	if (status == EXIT_GOOD) {
		status = show_status(&c);
	}
	return client_done(&c, status);
}

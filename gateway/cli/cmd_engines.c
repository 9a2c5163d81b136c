/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* saguaro engines: the engines that -R may name, with the options of each. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "conf/option.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/list.h"
#include "routing/engine.h"

/* clang-format off */
static const struct option_row engines_rows[] = {
	{ "json", OPT_BOOL, offsetof(struct client_flags, json), "FALSE", .letter = 'j', .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "as JSON, with the options of each engine" },
	{ NULL }
};
/* clang-format on */

static const char *const fields[] = { "name", "virtual_lanes", "deadlock_free", "lmc",
	                              "deadlockfree_order", "summary", NULL };

static const char *lanes_of(const struct engine *e)
{
	return e->flags & ENGINE_NEEDS_LANES      ? "needed"
	       : e->flags & ENGINE_MAY_USE_LANES ? "used"
	                                         : "no";
}

static json_t *engines_json(void)
{
	json_t *all = json_array();

	for (const struct engine *const *e = engines; *e; e++) {
		json_t *options = json_array();

		for (const struct option_row *row = (*e)->options; row && row->name;
		     row++) {
			json_array_append_new(
				options,
				json_pack("{s:s, s:s?, s:s}", "key", row->name, "default",
			                  row->def, "help", row->help ? row->help : ""));
		}
		json_array_append_new(
			all, json_pack("{s:s, s:s, s:s, s:b, s:b, s:i, s:o}", "name",
		                       (*e)->name, "summary", (*e)->summary,
		                       "virtual_lanes", lanes_of(*e), "deadlock_free",
		                       ((*e)->flags & ENGINE_DEADLOCK_FREE) != 0, "lmc",
		                       ((*e)->flags & ENGINE_LMC0_ONLY) == 0,
		                       "deadlockfree_order", (*e)->deadlock_free_order,
		                       "options", options));
	}
	return all;
}

static int print_table(const struct client *s, const json_t *body, bool first)
{
	(void)s;
	(void)body;
	(void)first;
	printf("%-14s %-7s %-11s %-4s %s\n", "engine", "lanes", "deadlocks", "LMC", "");
	for (const struct engine *const *e = engines; *e; e++) {
		printf("%-14s %-7s %-11s %-4s %s\n", (*e)->name, lanes_of(*e),
		       (*e)->flags & ENGINE_DEADLOCK_FREE ? "free" : "proof tells",
		       (*e)->flags & ENGINE_LMC0_ONLY ? "0" : "any", (*e)->summary);
	}
	printf("\ndeadlockfree stands for the first that proves out of those that are free of deadlocks\nor may be; no_fallback keeps to the engines that are listed.\n");
	return EXIT_GOOD;
}

static const struct list list = { "engines", NULL, .print = print_table };

static int print_engines(struct client *s)
{
	json_t *all = engines_json();
	json_t *body = json_pack("{s:O}", "engines", all);
	int status = s->flags.json && !list_of_fields(s)
	                     ? client_print_json(all)
	                     : list_print_body(s, &list, fields, body);

	json_decref(body);
	json_decref(all);
	return status;
}

int cmd_engines(int argc, char **argv)
{
	const struct option_row *rows[] = { engines_rows, list_rows, NULL };
	struct client s;
	int status = client_init_alone(&s, rows, "The routing engines that -R may name.",
	                               NULL, 0, argc, argv);

	return client_done(&s, status == EXIT_GOOD ? print_engines(&s) : status);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* saguaro engines: the engines that -R may name, with the options of each. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "gateway/cli/client.h"
#include "gateway/cli/command.h"
#include "routing/engine.h"

struct engines_flags {
	bool json;
};

/* clang-format off */
static const struct option_row engines_rows[] = {
	{ "json", OPT_BOOL, offsetof(struct engines_flags, json), "FALSE", .letter = 'j', .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "as JSON, with the options of each engine" },
	{ NULL }
};
/* clang-format on */

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

static void print_engines(void)
{
	printf("%-14s %-7s %-11s %-4s %s\n", "engine", "lanes", "deadlocks", "LMC", "");
	for (const struct engine *const *e = engines; *e; e++) {
		printf("%-14s %-7s %-11s %-4s %s\n", (*e)->name, lanes_of(*e),
		       (*e)->flags & ENGINE_DEADLOCK_FREE ? "free" : "proof tells",
		       (*e)->flags & ENGINE_LMC0_ONLY ? "0" : "any", (*e)->summary);
	}
	printf("\ndeadlockfree stands for the first that proves out of those that are free of "
	       "deadlocks\nor may be; no_fallback keeps to the engines that are listed.\n");
}

int cmd_engines(int argc, char **argv)
{
	struct engines_flags flags = { 0 };
	struct option_sets sets = { .n = 0 };
	struct arena *a = arena_new();
	struct diags *d = a ? arena_alloc(a, sizeof(*d)) : NULL;
	int first = argc, status = EXIT_USAGE;

	if (!d) {
		goto out;
	}
	diags_init(d, a);
	if (option_sets_add(&sets, engines_rows, &flags) != E_OK ||
	    option_set_defaults(&sets, a) != E_OK ||
	    option_read_argv(&sets, a, argc, argv, "The routing engines that -R may name.", NULL,
	                     &first, d) != E_OK) {
		goto out;
	}
	status = EXIT_GOOD;
	if (flags.json) {
		json_t *all = engines_json();

		status = client_print_json(all);
		json_decref(all);
	} else {
		print_engines();
	}
out:
	if (d) {
		diags_print(d, stderr, DIAG_WARNING);
	}
	arena_free(a);
	return status;
}

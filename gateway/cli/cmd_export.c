/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>

#include "conf/base/arena.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/list.h"

static const char doc[] =
	"The running fabric on standard output, as other programs read it: topology text for ibsim, forwarding tables, Graphviz, GraphML, topology.conf and topology.yaml of Slurm. Without FORMAT it lists the formats, which --csv and --field print, too.";

/* clang-format off */
static const struct option_row export_rows[] = {
	{ "known", OPT_BOOL, offsetof(struct client_flags, known), "FALSE", .flags_long = "known",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "with hosts that are gone, where they were cabled; the default for Slurm" },
	{ "present", OPT_BOOL, offsetof(struct client_flags, present), "FALSE", .flags_long = "present",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "without hosts that are gone; the default for the other formats" },
	{ NULL }
};
/* clang-format on */

static void print_format(const json_t *f)
{
	printf("%-12s  %s\n", member_text(f, "name"), member_text(f, "summary"));
}

static const struct list formats = { "formats", "ExportFormat", .below = print_format };

int cmd_export(int argc, char **argv)
{
	const struct option_row *rows[] = { export_rows, list_rows, NULL };
	struct client s;
	int status = client_init_rows(&s, rows, doc, "[FORMAT]", CLIENT_MAY_HAVE_ONE, argc,
	                              argv);

	if (status == EXIT_GOOD && s.flags.known && s.flags.present) {
		fprintf(stderr, "%s: --known and --present exclude each other\n", s.program);
		status = EXIT_USAGE;
	}
	if (status == EXIT_GOOD && s.first >= argc) {
		status = list_print(&s, &formats, "/v1/export");
	} else if (status == EXIT_GOOD && list_of_fields(&s)) {
		fprintf(stderr, "%s: --csv and --field print the list of formats, without FORMAT\n",
		        s.program);
		status = EXIT_USAGE;
	} else if (status == EXIT_GOOD) {
		const char *target = arena_printf(s.arena, "/v1/export/%s%s",
		                                  client_escape(&s, argv[s.first]),
		                                  s.flags.known     ? "?known=1"
		                                  : s.flags.present ? "?known=0"
		                                                    : "");

		status = target != NULL ? client_copy(&s, target) : EXIT_USAGE;
	}
	return client_done(&s, status);
}

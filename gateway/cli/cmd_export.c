/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>

#include "conf/base/arena.h"
#include "gateway/cli/client.h"
#include "gateway/cli/command.h"

static const char doc[] =
	"The running fabric on standard output, as other programs read it: topology text "
        "for "
	"ibsim, forwarding tables, Graphviz, GraphML, topology.conf and topology.yaml of "
	"Slurm. Without FORMAT it lists the formats.";

static int print_formats(const struct client *s, const json_t *body, bool first)
{
	size_t i;
	json_t *f;

	(void)first;
	if (s->flags.json) {
		return client_print_json(body);
	}
	json_array_foreach(json_object_get(body, "formats"), i, f)
	{
		printf("%-12s  %s\n", member_text(f, "name"), member_text(f, "summary"));
	}
	return EXIT_GOOD;
}

int cmd_export(int argc, char **argv)
{
	struct client s;
	int status =
		client_init(&s, NULL, doc, "[FORMAT]", CLIENT_MAY_HAVE_ONE, argc, argv);

	if (status == EXIT_GOOD && s.first >= argc) {
		status = client_print_list(&s, "/v1/export", print_formats);
	} else if (status == EXIT_GOOD) {
		const char *target = arena_printf(s.arena, "/v1/export/%s",
		                                  client_escape(&s, argv[s.first]));

		status = target != NULL ? client_copy(&s, target) : EXIT_USAGE;
	}
	return client_done(&s, status);
}

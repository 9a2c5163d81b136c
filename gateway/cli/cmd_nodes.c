/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>

#include "conf/base/arena.h"
#include "gateway/cli/client.h"
#include "gateway/cli/command.h"

/* clang-format off */
static const struct option_row nodes_rows[] = {
	{ "type", OPT_STRING, offsetof(struct client_flags, type), NULL, .letter = 't', .flags_long = "type",
	  .flags = OPT_CLI_ONLY, .arg = "TYPE", .help = "only switch, ca or router" },
	{ "field", OPT_STRING, offsetof(struct client_flags, field), NULL, .flags_long = "field",
	  .flags = OPT_CLI_ONLY, .arg = "NAME", .help = "print only this member of each node (guid, lid, name, description, type), for scripts" },
	{ NULL }
};
/* clang-format on */

static void print_field(const json_t *node, const char *field)
{
	const json_t *value = json_object_get(node, field);

	if (json_is_integer(value)) {
		printf("%lld\n", json_integer_value(value));
	} else {
		printf("%s\n", json_is_string(value) ? json_string_value(value) : "");
	}
}

static int print_nodes(const struct client *s, const json_t *body, bool first)
{
	size_t i;
	json_t *n;

	if (s->flags.json) {
		return client_print_json(body);
	}
	if (first && !s->flags.field) {
		printf("%-18s  %-6s  %6s  %s\n", "GUID", "type", "LID", "name");
	}
	json_array_foreach(json_object_get(body, "nodes"), i, n)
	{
		if (s->flags.field) {
			print_field(n, s->flags.field);
			continue;
		}
		printf("%-18s  %-6s  %6lld  %s\n", member_text(n, "guid"),
		       member_text(n, "type"), member_int(n, "lid"),
		       member_text(n, "name"));
	}
	return EXIT_GOOD;
}

int cmd_nodes(int argc, char **argv)
{
	struct client s;
	int status = client_init(&s, nodes_rows, "Nodes of the running fabric.", NULL, 0,
	                         argc, argv);

	if (status == EXIT_GOOD) {
		const char *ports = s.flags.json ? "1" : "0"; /* a table has none */
		const char *target =
			s.flags.type == NULL
				? arena_printf(s.arena, "/v1/nodes?ports=%s", ports)
				: arena_printf(s.arena, "/v1/nodes?ports=%s&type=%s",
		                               ports, client_escape(&s, s.flags.type));
		status = client_print_list(&s, target, print_nodes);
	}
	client_done(&s);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>
#include <string.h>

#include "conf/arena.h"
#include "gateway/client.h"
#include "gateway/command.h"

/* clang-format off */
static const struct option_row nodes_rows[] = {
	{ "type", OPT_STRING, offsetof(struct client_flags, type), NULL, .letter = 't', .flags_long = "type",
	  .flags = OPT_CLI_ONLY, .arg = "TYPE", .help = "only switch, ca or router" },
	{ "field", OPT_STRING, offsetof(struct client_flags, field), NULL, .flags_long = "field",
	  .flags = OPT_CLI_ONLY, .arg = "NAME", .help = "print only this member of each node (guid, lid, description, type), for scripts" },
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

static int print_nodes(const struct client *s, const json_t *body)
{
	size_t i;
	json_t *n;

	if (s->flags.json) {
		return client_print_json(body);
	}
	if (!s->flags.field) {
		printf("%-18s  %-6s  %6s  %s\n", "GUID", "type", "LID", "description");
	}
	json_array_foreach(json_object_get(body, "nodes"), i, n)
	{
		if (s->flags.type && strcmp(s->flags.type, member_text(n, "type")) != 0) {
			continue;
		}
		if (s->flags.field) {
			print_field(n, s->flags.field);
			continue;
		}
		printf("%-18s  %-6s  %6lld  %s\n", member_text(n, "guid"),
		       member_text(n, "type"), member_int(n, "lid"),
		       member_text(n, "description"));
	}
	return EXIT_GOOD;
}

/* Pages until there is no further one. */
static int print_pages(struct client *s)
{
	const char *target = "/v1/nodes";
	int status = EXIT_GOOD;

	while (target && status == EXIT_GOOD) {
		json_t *body;
		status = client_get(s, target, &body);
		if (status != EXIT_GOOD) {
			break;
		}
		status = print_nodes(s, body);
		const char *cursor = member_text(body, "next_cursor");
		target = *cursor ? arena_printf(s->arena, "/v1/nodes?cursor=%s",
		                                client_escape(s, cursor))
		                 : NULL;
		json_decref(body);
	}
	return status;
}

int cmd_nodes(int argc, char **argv)
{
	struct client s;
	int status = client_init(&s, nodes_rows, "Nodes of the running fabric.", NULL, 0,
	                         argc, argv);

	if (status == EXIT_GOOD) {
		status = print_pages(&s);
	}
	client_done(&s);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "gateway/cli/client.h"
#include "gateway/cli/command.h"

static const char list_doc[] = "Partitions in effect, one per line.";
static const char show_doc[] = "One partition by its P_Key or name: who is a member by "
                               "the configuration, and the "
			       "end ports of the fabric that have its P_Key.";

static void print_head(void)
{
	printf("%-6s  %-24s  %7s  %7s  %6s\n", "P_Key", "name", "full", "limited",
	       "groups");
}

static void print_line(const json_t *p)
{
	printf("0x%04llx  %-24s  %7lld  %7lld  %6lld%s\n",
	       (unsigned long long)member_int(p, "p_key"), member_text(p, "name"),
	       member_int(p, "full_members"), member_int(p, "limited_members"),
	       member_int(p, "group_count"),
	       json_is_true(json_object_get(p, "indx0")) ? "  index 0" : "");
}

static void print_members(const json_t *body)
{
	size_t i;
	json_t *m;

	json_array_foreach(json_object_get(body, "members"), i, m)
	{
		const char *first = member_text(m, "first"),
			   *last = member_text(m, "last");

		printf("%s", i == 0 ? "configured\n" : "");
		if (json_object_get(m, "first") == NULL) {
			printf("  %-37s  %s\n", member_text(m, "who"),
			       member_text(m, "membership"));
		} else if (strcmp(first, last) == 0) {
			printf("  %-37s  %s\n", first, member_text(m, "membership"));
		} else {
			printf("  %s-%s  %s\n", first, last,
			       member_text(m, "membership"));
		}
	}
	json_array_foreach(json_object_get(body, "groups"), i, m)
	{
		printf("%s  %s%s\n", i == 0 ? "groups\n" : "", member_text(m, "mgid"),
		       json_is_true(json_object_get(m, "broadcast")) ? "  IPoIB" : "");
	}
	printf("ports\n");
}

static int print_page(const struct client *s, const json_t *body, bool first)
{
	size_t i;
	json_t *p;

	if (s->flags.json) {
		return client_print_json(body);
	}
	if (first) {
		print_head();
	}
	if (json_object_get(body, "p_key") != NULL && first) {
		print_line(body);
		print_members(body);
	}
	json_array_foreach(json_object_get(body, "partitions"), i, p)
	{
		print_line(p);
	}
	json_array_foreach(json_object_get(body, "ports"), i, p)
	{
		printf("  %-18s  %6lld  %-7s  %s:%lld\n", member_text(p, "port_guid"),
		       member_int(p, "lid"), member_text(p, "membership"),
		       member_text(p, "name"), member_int(p, "port"));
	}
	return EXIT_GOOD;
}

int cmd_partition(int argc, char **argv)
{
	bool list = argc > 1 && strcmp(argv[1], "list") == 0;
	bool show = argc > 1 && strcmp(argv[1], "show") == 0;
	struct client s;
	int status;

	if (!list && !show) {
		fprintf(stderr, "%s: expected list, or show and a P_Key or name\n",
		        argv[0]);
		return EXIT_USAGE;
	}
	argv[1] = argv[0];
	status = client_init(&s, NULL, list ? list_doc : show_doc, list ? "" : "P_KEY",
	                     show, argc - 1, argv + 1);
	if (status == EXIT_GOOD) {
		const char *target = "/v1/partitions";

		if (show) {
			target = arena_printf(s.arena, "/v1/partitions/%s",
			                      client_escape(&s, argv[1 + s.first]));
		}
		status = client_print_list(&s, target, print_page);
	}
	return client_done(&s, status);
}

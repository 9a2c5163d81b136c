/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>

#include "conf/base/arena.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/list.h"

static const char doc[] =
	"Multicast groups of the running fabric, one per line. With GROUP, an MGID or MLID, its members and the switch ports that forward its packets; --csv and --field print its members.";

/* JoinState, a letter per bit: full member, non-member, send-only of both kinds. */
static const char *join_state_text(json_int_t state)
{
	static char text[5];

	snprintf(text, sizeof(text), "%s%s%s%s", state & 1 ? "F" : "",
	         state & 2 ? "N" : "", state & 4 ? "S" : "", state & 8 ? "s" : "");
	return text;
}

static void print_line(const json_t *g)
{
	char rate[32];

	snprintf(rate, sizeof(rate), "%g",
	         json_number_value(json_object_get(g, "rate_gbps")));
	printf("%-39s  0x%04llx  0x%04llx  %5lld  %5s  %2lld  %7lld%s\n",
	       member_text(g, "mgid"), (unsigned long long)member_int(g, "mlid"),
	       (unsigned long long)member_int(g, "p_key"), member_int(g, "mtu_bytes"),
	       rate, member_int(g, "sl"), member_int(g, "member_count"),
	       json_is_true(json_object_get(g, "well_known")) ? "  well known" : "");
}

static void print_head(const json_t *body)
{
	(void)body;
	printf("%-39s  %-6s  %-6s  %5s  %5s  %2s  %7s\n", "MGID", "MLID", "P_Key", "MTU",
	       "Gb/s", "SL", "members");
}

static void print_tree(const json_t *body)
{
	size_t i, k;
	json_t *sw, *port;

	json_array_foreach(json_object_get(body, "tree"), i, sw)
	{
		printf("%s%-18s  %6lld  %s: ports", i == 0 ? "switches\n" : "",
		       member_text(sw, "guid"), member_int(sw, "lid"),
		       member_text(sw, "name"));
		json_array_foreach(json_object_get(sw, "ports"), k, port)
		{
			printf(" %lld", json_integer_value(port));
		}
		printf("\n");
	}
}

static void print_members(const json_t *body)
{
	size_t i;
	json_t *m;

	json_array_foreach(json_object_get(body, "members"), i, m)
	{
		printf("%-18s  %6lld  %-4s  %s:%lld%s\n", member_text(m, "port_guid"),
		       member_int(m, "lid"), join_state_text(member_int(m, "join_state")),
		       member_text(m, "name"), member_int(m, "port"),
		       json_is_true(json_object_get(m, "proxy_join")) ? " (by proxy)"
		                                                      : "");
	}
}

static int print_group(const struct client *s, const json_t *body, bool first)
{
	(void)s;
	if (first) {
		print_head(body);
		print_line(body);
		print_tree(body);
		printf("members\n");
	}
	print_members(body);
	return EXIT_GOOD;
}

static const struct list groups = { "groups", "MulticastGroup", .above = print_head,
	                            .below = print_line };
static const struct list members = { "members", "MulticastMember", .print = print_group };

int cmd_groups(int argc, char **argv)
{
	struct client s;
	int status = client_init(&s, list_rows, doc, "[GROUP]", CLIENT_MAY_HAVE_ONE, argc,
	                         argv);

	if (status == EXIT_GOOD && s.first < argc) {
		status = list_print(&s, &members,
		                    arena_printf(s.arena, "/v1/groups/%s",
		                                 client_escape(&s, argv[s.first])));
	} else if (status == EXIT_GOOD) {
		status = list_print(&s, &groups, "/v1/groups");
	}
	return client_done(&s, status);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* saguaro nodes, links, ports, lids, lft, load, counters, diff and alarms: lists of the running
 * fabric. */
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/list.h"

/* clang-format off */
#define ROW_TYPE { "type", OPT_STRING, offsetof(struct client_flags, type), NULL, .letter = 't', .flags_long = "type", \
	  .flags = OPT_CLI_ONLY, .arg = "TYPE", .help = "only switch, ca or router" }
#define ROW_NAME { "name", OPT_STRING, offsetof(struct client_flags, name), NULL, .flags_long = "name", \
	  .flags = OPT_CLI_ONLY, .arg = "GLOB", .help = "only of nodes whose name matches, with * and ?" }
#define ROW_NODE { "node", OPT_STRING, offsetof(struct client_flags, node), NULL, .flags_long = "node", \
	  .flags = OPT_CLI_ONLY, .arg = "NODE", .help = "only of this node, by name, GUID or LID" }
#define ROW_STATE { "state", OPT_STRING, offsetof(struct client_flags, state), NULL, .flags_long = "state", \
	  .flags = OPT_CLI_ONLY, .arg = "STATE", .help = "only down, init, armed or active" }
#define ROW_DEGRADED { "degraded", OPT_BOOL, offsetof(struct client_flags, degraded), "FALSE", .flags_long = "degraded", \
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "only those slower than both their ends support" }

static const struct option_row nodes_rows[] = { ROW_TYPE, ROW_NAME,
	{ "gone", OPT_BOOL, offsetof(struct client_flags, gone), "FALSE", .flags_long = "gone",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "those that are gone: where they were, since when they are gone, and why" },
	{ NULL } };
static const struct option_row links_rows[] = { ROW_NODE, ROW_NAME, ROW_STATE, ROW_DEGRADED,
	{ "sick", OPT_BOOL, offsetof(struct client_flags, sick), "FALSE", .flags_long = "sick",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "those that err too much, the worst first: what is counted, how it goes on, what is done" },
	{ NULL } };
static const struct option_row ports_rows[] = { ROW_TYPE, ROW_NODE, ROW_NAME, ROW_STATE, ROW_DEGRADED, { NULL } };
static const struct option_row load_rows[] = { ROW_NODE, ROW_NAME, { NULL } };
static const struct option_row counter_rows[] = { ROW_TYPE, ROW_NODE, ROW_NAME,
	{ "errors", OPT_BOOL, offsetof(struct client_flags, errors), "FALSE", .flags_long = "errors",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "only ports whose error counters rose at the last reading" },
	{ NULL } };
static const struct option_row diff_rows[] = {
	{ "kind", OPT_STRING, offsetof(struct client_flags, kind), NULL, .letter = 'k', .flags_long = "kind",
	  .flags = OPT_CLI_ONLY, .arg = "KIND[,KIND...]", .help = "only these kinds; route_changed: each entry of the forwarding tables" },
	{ "node", OPT_STRING, offsetof(struct client_flags, node), NULL, .flags_long = "node",
	  .flags = OPT_CLI_ONLY, .arg = "GLOB", .help = "only changes of nodes whose name or GUID matches, with * and ?" },
	{ NULL } };
static const struct option_row alarm_rows[] = {
	{ "all", OPT_BOOL, offsetof(struct client_flags, all), "FALSE", .flags_long = "all",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "also those that another one stands for, because they have the same cause, and those that are acknowledged" },
	{ NULL } };
static const struct option_row no_rows[] = { { NULL } };

static const struct list_column node_columns[] = {
	{ "GUID", "guid", -18 }, { "type", "type", -6 }, { "LID", "lid", 6 }, { "name", "name", 0 }, { NULL }
};
static const struct list_column gone_columns[] = {
	{ "GUID", "guid", -18 }, { "type", "type", -6 }, { "LID", "lid", 6 }, { "gone since", "gone_since", -20 },
	{ "place", "place.name:place.port", -24 }, { "why", "why", -12 }, { "name", "name", 0 }, { NULL }
};
static const struct list_column link_columns[] = {
	{ "end", "a.name:a.port", -24 }, { "end", "b.name:b.port", -24 }, { "state", "state", -6 }, { "width", "width", -5 },
	{ "speed", "speed", -5 }, { "best", "best_width", -4 }, { "best", "best_speed", -5 }, { "degraded", "degraded", -8 },
	{ "routes", "routes_from_a.base", 6 }, { "back", "routes_from_b.base", 0 }, { NULL }
};
static const struct list_column sick_columns[] = {
	{ "end", "a.name:a.port", -24 }, { "end", "b.name:b.port", -24 }, { "state", "state", -7 }, { "trend", "trend", -7 },
	{ "since", "since", -20 }, { "done", "decision", -9 }, { "what", "text", 0 }, { NULL }
};
static const struct list_column port_columns[] = {
	{ "port", "name:port", -24 }, { "type", "type", -6 }, { "state", "state", -6 }, { "physical", "physical_state", -8 },
	{ "LID", "lid", 6 }, { "width", "width", -5 }, { "speed", "speed", -5 }, { "degraded", "degraded", -8 },
	{ "peer", "peer.name:peer.port", 0 }, { NULL }
};
static const struct list_column lid_columns[] = {
	{ "LID", "lid", 6 }, { "LMC", "lmc", 3 }, { "type", "type", -6 }, { "PortGUID", "port_guid", -18 }, { "port", "name:port", 0 }, { NULL }
};
static const struct list_column lft_columns[] = { { "LID", "lid", 6 }, { "port", "port", 0 }, { NULL } };
static const struct list_column load_columns[] = {
	{ "routes", "routes", 8 }, { "relative", "relative", 8 }, { "from", "from.name:from.port", -24 }, { "to", "to.name:to.port", 0 }, { NULL }
};
static const struct list_column counter_columns[] = {
	{ "port", "name:port", -24 }, { "B/s out", "xmit_bytes_per_second", 13 }, { "B/s in", "rcv_bytes_per_second", 13 },
	{ "use", "utilization", 6 }, { "errors", "errors", 7 }, { "symbol", "value.symbol_errors", 8 }, { "downed", "value.link_downed", 6 },
	{ "discards", "value.xmit_discards", 8 }, { "wait", "value.xmit_wait", 10 }, { "peer", "peer.name:peer.port", 0 }, { NULL }
};
static const struct list_column alarm_columns[] = {
	{ "severity", "severity", -8 }, { "id", "id", -32 }, { "since", "since", -20 }, { "what", "text", 0 }, { NULL }
};
static const struct list_column all_alarm_columns[] = {
	{ "severity", "severity", -8 }, { "id", "id", -32 }, { "since", "since", -20 }, { "acknowledged", "acknowledged.by", -12 },
	{ "what", "text", 0 }, { NULL }
};

static const struct list_column service_columns[] = {
	{ "ServiceID", "service_id", -18 }, { "P_Key", "p_key", 6 }, { "lease", "lease_seconds", 10 }, { "port", "node.name:node.port", -24 },
	{ "name", "service_name", 0 }, { NULL }
};
static const struct list_column sweep_columns[] = {
	{ "time", "time", -20 }, { "epoch", "epoch", 8 }, { "ms", "duration_ms", 8 }, { "moved", "paths_moved", 8 },
	{ "blocks", "lft_blocks", 8 }, { "cause", "cause", -24 }, { "what", "text", 0 }, { NULL }
};

static const struct list_column diff_columns[] = {
	{ "kind", "kind", -17 }, { "what", "text", 0 }, { NULL }
};

/* Prints the two epochs and their times. */
static void print_epochs(const json_t *body)
{
	const char *from = member_text(body, "from_time"), *to = member_text(body, "to_time");

	printf("epoch %lld%s%s -> %lld%s%s\n", member_int(body, "from"), *from != '\0' ? " of " : "",
	       from, member_int(body, "to"), *to != '\0' ? " of " : "", to);
}

/* Alarms that somebody knows of are not shown, but counted. */
static void print_acknowledged(const json_t *body)
{
	json_int_t n = member_int(body, "acknowledged");

	if (n > 0) {
		printf("%lld acknowledged alarm%s not shown; --all shows %s\n", n,
		       n == 1 ? " is" : "s are", n == 1 ? "it" : "them");
	}
}

static void print_consequence(const json_t *alarm)
{
	const char *text = member_text(json_object_get(alarm, "consequence"), "text");

	if (*text != '\0') {
		printf("          %s\n", text);
	}
}

/* The virtual ports of an adapter, below it. */
static void print_vports(const json_t *node)
{
	size_t i;
	json_t *v;

	json_array_foreach(json_object_get(node, "vports"), i, v)
	{
		printf("  %-16s vport   %6lld  %s (port %lld, %s)\n", member_text(v, "guid"),
		       member_int(v, "lid"), member_text(v, "description"),
		       member_int(v, "port"), member_text(v, "state"));
	}
}

/* A command: its list, its flags, and where the list is. */
struct list_command {
	struct list list;
	const struct option_row *rows;
	const char *path; /* %s: the argument */
	const char *doc, *args;
};

static const struct list_command nodes = { { "nodes", "Node", node_columns, print_vports, NULL, NULL }, nodes_rows, "/v1/nodes?limit=65536",
	"Nodes of the running fabric, or with --gone those that left it.", NULL };
static const struct list_command gone = { { "known", "Known", gone_columns, NULL, NULL, NULL }, nodes_rows, "/v1/known?gone=1&limit=65536",
	"", NULL };
static const struct list_command links = { { "links", "Link", link_columns, NULL, NULL, NULL }, links_rows, "/v1/links?limit=65536",
	"Cables of the running fabric: state, speed, the best that both ends support, routes from either end.", NULL };
static const struct list_command sick = { { "links", "LinkHealth", sick_columns, NULL, NULL, NULL }, links_rows, "/v1/links/health?sick=1&limit=65536",
	"", NULL };
static const struct list_command ports = { { "ports", "Port", port_columns, NULL, NULL, NULL }, ports_rows, "/v1/ports?limit=65536",
	"Ports of the running fabric, also those without a cable.", NULL };
static const struct list_command lids = { { "lids", "Lid", lid_columns, NULL, NULL, NULL }, no_rows, "/v1/lids?limit=65536",
	"Owners of the LIDs of the running fabric.", NULL };
static const struct list_command lft = { { "routes", "LftEntry", lft_columns, NULL, NULL, NULL }, no_rows, "/v1/switches/%s/lft?limit=65536",
	"The linear forwarding table of a switch: which LIDs leave by which port. SWITCH is a name, GUID or LID.", "SWITCH" };
static const struct list_command load = { { "links", "LinkLoad", load_columns, NULL, NULL, NULL }, load_rows, "/v1/load?limit=65536",
	"Links between switches by the routes on them, most first; relative is to the mean of the links between the same tiers.", NULL };
static const struct list_command counters = { { "counters", "PortCounters", counter_columns, NULL, NULL, NULL }, counter_rows, "/v1/counters?limit=65536",
	"Port counters as the performance manager read them last (saguarod --perfmgr). errors: by how much all error counters rose since the reading before.", NULL };
static const struct list_command alarms = { { "alarms", "Alarm", alarm_columns, print_consequence, NULL, print_acknowledged }, alarm_rows, "/v1/alarms?limit=65536",
	"What is wrong at this moment, the worst first.", NULL };
static const struct list_command all_alarms = { { "alarms", "Alarm", all_alarm_columns, print_consequence, NULL, NULL }, alarm_rows, "/v1/alarms?limit=65536&all=1",
	"", NULL };
static const struct list_command services = { { "services", "Service", service_columns, NULL, NULL, NULL }, no_rows, "/v1/services?limit=65536",
	"Services that hosts registered; without a lease they stay for ever.", NULL };
static const struct list_command diff = { { "changes", "Change", diff_columns, NULL, NULL, print_epochs }, diff_rows, "/v1/diff?limit=65536",
	"What changed in the running fabric after epoch FROM, up to epoch TO: routing, nodes, cables, ports, partitions, forwarding tables. Without FROM since the epoch before TO; without TO until now.", "[FROM [TO]]" };
static const struct list_command sweeps = { { "sweeps", "Sweep", sweep_columns, NULL, NULL, NULL }, no_rows, "/v1/sweeps?limit=100",
	"The last heavy sweeps that changed something or failed, the newest first.", NULL };
/* clang-format on */

static const char *with_param(struct client *s, const char *target, const char *name,
                              const char *value)
{
	return target == NULL || value == NULL
	               ? target
	               : arena_printf(s->arena, "%s&%s=%s", target, name,
	                              client_escape(s, value));
}

static const char *target_of(struct client *s, const struct list_command *c, char **argv)
{
	const char *target = c->path;
	const char *hole = strstr(c->path, "%s");

	if (hole != NULL) {
		target = arena_printf(s->arena, "%.*s%s%s", (int)(hole - c->path), c->path,
		                      client_escape(s, argv[s->first]), hole + 2);
	}
	if (c == &nodes && !s->flags.json) { /* a table has no ports */
		target = with_param(s, target, "ports", "0");
	}
	target = with_param(s, target, "type", s->flags.type);
	target = with_param(s, target, "node", s->flags.node);
	target = with_param(s, target, "name", s->flags.name);
	target = with_param(s, target, "state", s->flags.state);
	target = with_param(s, target, "acknowledged", c == &alarms ? "0" : NULL);
	target = with_param(s, target, "errors", s->flags.errors ? "1" : NULL);
	return with_param(s, target, "degraded", s->flags.degraded ? "1" : NULL);
}

static int run_list(const struct list_command *c, int argc, char **argv)
{
	const struct option_row *own[] = { c->rows, list_rows, NULL };
	struct client s;
	int status = client_init_rows(&s, own, c->doc, c->args, c->args != NULL, argc,
	                              argv);

	if (status == EXIT_GOOD) {
		/* only nodes, links and alarms have these flags */
		c = s.flags.gone ? &gone : s.flags.sick ? &sick : s.flags.all ? &all_alarms : c;
		status = list_print(&s, &c->list, target_of(&s, c, argv));
	}
	if (status == EXIT_GOOD && (c == &alarms || c == &all_alarms) && s.rows > 0) {
		status = EXIT_BAD;
	}
	return client_done(&s, status);
}

/* clang-format off */
#define COMMAND(name) int cmd_##name(int argc, char **argv) { return run_list(&name, argc, argv); }
COMMAND(nodes)
COMMAND(links)
COMMAND(ports)
COMMAND(lids)
COMMAND(lft)
COMMAND(load)
COMMAND(counters)
COMMAND(alarms)
COMMAND(services)
COMMAND(sweeps)
/* clang-format on */

int cmd_diff(int argc, char **argv)
{
	const struct option_row *own[] = { diff.rows, list_rows, NULL };
	struct client s;
	int status = client_init_rows(&s, own, diff.doc, diff.args, CLIENT_MAY_HAVE_TWO, argc,
	                              argv);

	if (status == EXIT_GOOD) {
		const char *from = s.first < argc ? argv[s.first] : NULL;
		const char *to = s.first + 1 < argc ? argv[s.first + 1] : NULL;
		const char *target = with_param(&s, diff.path, "from", from);

		target = with_param(&s, target, "to", to);
		target = with_param(&s, target, "kind", s.flags.kind);
		target = with_param(&s, target, "node", s.flags.node);
		status = list_print(&s, &diff.list, target);
	}
	return client_done(&s, status);
}

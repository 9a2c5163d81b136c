/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro maintenance: nodes and cables out of service. The list is read as other lists are; a start
 * and an end are requests to a running saguarod.
 */
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gateway/cli/client.h"
#include "gateway/cli/control_call.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/list.h"

/* clang-format off */
#define FLAG(member) .offset = offsetof(struct control_flags, member)
static const struct option_row start_rows[] = {
	{ .name = "until", .type = OPT_STRING, FLAG(until), .flags_long = "until", .flags = OPT_CLI_ONLY, .arg = "TIME",
	  .help = "when it ends by itself: 2027-01-31T12:00:00Z, or from now on 30m, 2h, 7d" },
	{ .name = "note", .type = OPT_STRING, FLAG(note), .flags_long = "note", .flags = OPT_CLI_ONLY, .arg = "TEXT",
	  .help = "why; others see it" },
	{ .name = "force", .type = OPT_BOOL, FLAG(force), .flags_long = "force", .def = "FALSE", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "also if pairs of other hosts lose their routes" },
	{ .name = "dry_run", .type = OPT_BOOL, FLAG(dry_run), .flags_long = "dry-run", .def = "FALSE", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "only say what would happen" },
	{ NULL }
};
static const struct list_column columns[] = {
	{ "what", "node.name:node.port", -24 }, { "peer", "peer.name:peer.port", -24 }, { "state", "state", -8 }, { "reason", "reason", -11 },
	{ "since", "since", -20 }, { "until", "until", -20 }, { "by", "by", -16 }, { "note", "note", 0 }, { NULL }
};
static const struct list maintenance = { "maintenance", "Drained", columns, NULL, NULL, NULL };
/* clang-format on */

static const char doc[] =
	"Takes a switch, a cable or a host of the running fabric out of service and back. NODE is a name, a GUID or a LID; with :PORT it is the cable of that port. Routes leave a switch or cable by a safe transition, and alarms about it are expected. Without arguments: what is out of service.";

static int print_all(int argc, char **argv)
{
	const struct option_row *own[] = { list_rows, NULL };
	struct client s;
	int status = client_init_rows(&s, own, doc, "[start|end NODE]", 0, argc, argv);

	if (status == EXIT_GOOD) {
		status = list_print(&s, &maintenance, "/v1/maintenance");
	}
	return client_done(&s, status);
}

static void print_outcome(const struct control_call *c, const json_t *reply)
{
	json_int_t hosts = member_int(reply, "hosts_behind"), pairs = member_int(reply, "pairs_cut"),
	           switches = member_int(reply, "switches_cut");

	printf("%s", member_text(reply, "node"));
	if (json_object_get(reply, "port") != NULL) {
		printf(" port %lld, cable to %s port %lld", member_int(reply, "port"),
		       member_text(reply, "peer"), member_int(reply, "peer_port"));
	}
	printf(": %s\n", c->flags.dry_run ? "nothing is changed" : member_text(reply, "state"));
	if (hosts != 0) {
		printf("  %lld port%s of hosts %s behind it\n", hosts, hosts == 1 ? "" : "s",
		       hosts == 1 ? "is" : "are");
	}
	if (pairs != 0 || switches != 0) {
		printf("  %lld pairs of other hosts lose their routes, %lld other switches are cut off\n",
		       pairs, switches);
	}
}

static int request(int argc, char **argv)
{
	struct control_call c = { 0 };
	int status = control_call_begin(&c, start_rows, doc, "start|end NODE|NAME:PORT", 2, 2,
	                                argc, argv);

	if (status == EXIT_GOOD && strcmp(c.arg[0], "start") != 0 &&
	    strcmp(c.arg[0], "end") != 0) {
		fprintf(stderr, "%s: '%s': expected start or end\n", argv[0], c.arg[0]);
		status = EXIT_USAGE;
	}
	if (status == EXIT_GOOD) {
		json_t *ask = json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:b, s:b}", "verb",
		                        "maintenance", "action", c.arg[0], "node", c.arg[1],
		                        "until", c.flags.until, "note", c.flags.note, "force",
		                        (int)c.flags.force, "dry_run", (int)c.flags.dry_run);
		json_t *reply = ask != NULL ? control_call_ask(&c, ask) : NULL;

		json_decref(ask);
		status = control_call_print(&c, reply, print_outcome);
	}
	control_call_done(&c);
	return status;
}

int cmd_maintenance(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "start") == 0 || strcmp(argv[i], "end") == 0) {
			return request(argc, argv);
		}
	}
	return print_all(argc, argv);
}

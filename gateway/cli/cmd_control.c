/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro sweep, reload, rebalance, port, maintenance, handover, forget, alarm and loglevel: one request each to the control socket of a running
 * saguarod (sa/control/control.h has its protocol).
 */
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gateway/cli/client.h"
#include "gateway/cli/control_call.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"
#include "gateway/cli/list.h"

#define FLAG(member) .offset = offsetof(struct control_flags, member), .flags_long = #member
/* clang-format off */
static const struct option_row sweep_rows[] = {
	{ .name = "heavy", .type = OPT_BOOL, FLAG(heavy), .def = "FALSE", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "discover the whole fabric and route it again" },
	{ NULL }
};
static const struct option_row port_rows[] = {
	{ .name = "force", .type = OPT_BOOL, FLAG(force), .def = "FALSE", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "also the last link of the subnet manager's own port" },
	{ NULL }
};
static const struct option_row forget_rows[] = {
	{ .name = "all", .type = OPT_BOOL, FLAG(all), .def = "FALSE", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "all that are gone" },
	{ NULL }
};
static const struct option_row alarm_rows[] = {
	{ .name = "until", .type = OPT_STRING, FLAG(until), .flags = OPT_CLI_ONLY, .arg = "TIME",
	  .help = "when it ends: 2027-01-31T12:00:00Z, or from now on 30m, 2h, 7d; else with the alarm" },
	{ .name = "note", .type = OPT_STRING, FLAG(note), .flags = OPT_CLI_ONLY, .arg = "TEXT",
	  .help = "why; others see it" },
	{ NULL }
};
/* clang-format on */

/* Prints which port it is, as the reply has it. */
static void print_port(const json_t *reply)
{
	json_int_t cut_off = member_int(reply, "cut_off");

	printf("%s port %lld", member_text(reply, "node"), member_int(reply, "port"));
	if (*member_text(reply, "peer") != '\0') {
		printf(", cable to %s port %lld", member_text(reply, "peer"),
		       member_int(reply, "peer_port"));
	}
	printf(": ");
	if (cut_off != 0) {
		printf("%lld node%s cut off; ", cut_off, cut_off == 1 ? " is" : "s are");
	}
}

static void print_done(const struct control_call *c, const json_t *reply)
{
	if (json_object_get(reply, "cut_off") != NULL) {
		print_port(reply);
	}
	printf("%s\n", c->done);
}

/* Sends the request, which is taken, and prints the reply. */
static int ask(struct control_call *c, json_t *request,
               void (*print)(const struct control_call *c, const json_t *reply))
{
	json_t *reply = request != NULL ? control_call_ask(c, request) : NULL;

	json_decref(request);
	return control_call_print(c, reply, print);
}

/* The same; prints \a done where the reply is good. */
static int end(struct control_call *c, json_t *request, const char *done)
{
	c->done = done;
	return ask(c, request, print_done);
}

/* The first argument is one of two words. */
static int check_action(const struct control_call *c, int status, const char *program,
                        const char *on, const char *off)
{
	if (status != EXIT_GOOD || strcmp(c->arg[0], on) == 0 || strcmp(c->arg[0], off) == 0) {
		return status;
	}
	return help_usage(program, "'%s': expected %s or %s", c->arg[0], on, off);
}

int cmd_sweep(int argc, char **argv)
{
	struct control_call c = { 0 };
	int status = control_call_begin(
		&c, sweep_rows,
		"Asks a running saguarod for a light sweep, which looks for changes, or for a heavy one. The command does not wait for its end.",
		NULL, 0, 0, argc, argv);

	if (status == EXIT_GOOD) {
		status = end(&c,
		             json_pack("{s:s, s:b}", "verb", "sweep", "heavy",
		                       (int)c.flags.heavy),
		             c.flags.heavy ? "heavy sweep requested"
		                           : "light sweep requested");
	}
	control_call_done(&c);
	return status;
}

/* A verb without arguments. */
static int run_verb(const char *verb, const char *doc, const char *done, int argc,
                    char **argv)
{
	struct control_call c = { 0 };
	int status = control_call_begin(&c, NULL, doc, NULL, 0, 0, argc, argv);

	if (status == EXIT_GOOD) {
		status = end(&c, json_pack("{s:s}", "verb", verb), done);
	}
	control_call_done(&c);
	return status;
}

int cmd_reload(int argc, char **argv)
{
	return run_verb(
		"reload",
		"Makes a running saguarod read its configuration again, as SIGHUP does. A configuration with errors is refused and the running one stays.",
		"configuration read again, heavy sweep requested", argc, argv);
}

int cmd_rebalance(int argc, char **argv)
{
	return run_verb(
		"rebalance",
		"Asks a running saguarod to route without regard to the routes that there are. It moves to the new routes if they ease the busiest links and the switches can get there safely; its log says so. The command does not wait for that.",
		"rebalance requested, the log of saguarod tells the outcome", argc, argv);
}

int cmd_handover(int argc, char **argv)
{
	return run_verb(
		"handover",
		"Asks a running saguarod, which is master, to hand the fabric over to the highest other subnet manager. Its own priority is 0 from then on, until it starts again, reads its configuration again, or takes the fabric because the other is gone. The command does not wait for that.",
		"handover requested, saguaro status tells when it is over", argc, argv);
}

int cmd_loglevel(int argc, char **argv)
{
	struct control_call c = { 0 };
	int status = control_call_begin(
		&c, NULL,
		"Sets the log level of a running saguarod until it ends or reads its configuration again: error, warning, info or debug.",
		"LEVEL", 1, 1, argc, argv);

	if (status == EXIT_GOOD) {
		status = end(
			&c,
			json_pack("{s:s, s:s}", "verb", "loglevel", "level", c.arg[0]),
			"log level set");
	}
	control_call_done(&c);
	return status;
}

int cmd_port(int argc, char **argv)
{
	struct control_call c = { 0 };
	int status = control_call_begin(
		&c, port_rows,
		"Switches a port of the running fabric off or on: 'disable' or 'enable' and NAME:PORT, where NAME is a name, a GUID or a LID. A cable is switched at the end that stays in reach, so a host at its switch. The switch keeps a port disabled until it is enabled or restarts. The command does not wait; 'saguaro events' tells the outcome.",
		"disable|enable NAME:PORT", 2, 2, argc, argv);

	status = check_action(&c, status, argv[0], "disable", "enable");
	if (status == EXIT_GOOD) {
		status = end(
			&c,
			json_pack("{s:s, s:s, s:s, s:b}", "verb", "port", "action",
		                  c.arg[0], "port", c.arg[1], "force",
		                  (int)c.flags.force),
			strcmp(c.arg[0], "disable") == 0
				? "disable requested, 'saguaro events' tells the outcome"
				: "enable requested, 'saguaro events' tells the outcome");
	}
	control_call_done(&c);
	return status;
}

static void print_forgotten(const struct control_call *c, const json_t *reply)
{
	json_int_t n = member_int(reply, "forgotten");

	(void)c;
	printf("%lld end port%s forgotten\n", n, n == 1 ? "" : "s");
}

int cmd_forget(int argc, char **argv)
{
	struct control_call c = { 0 };
	int status = control_call_begin(
		&c, forget_rows,
		"Forgets a node that is gone, by name, GUID or last LID. Its LIDs are free from then on, and its alarm ends. 'saguaro nodes --gone' lists those that are gone.",
		"NODE", 0, 1, argc, argv);

	if (status == EXIT_GOOD && (c.n_args == 1) == c.flags.all) {
		status = help_usage(argv[0], "expected NODE or --all, one of them");
	}
	if (status == EXIT_GOOD) {
		json_t *request = c.flags.all
		                          ? json_pack("{s:s, s:b}", "verb", "forget", "all", 1)
		                          : json_pack("{s:s, s:s}", "verb", "forget", "node",
		                                      c.arg[0]);
		status = ask(&c, request, print_forgotten);
	}
	control_call_done(&c);
	return status;
}

int cmd_alarm(int argc, char **argv)
{
	struct control_call c = { 0 };
	int status = control_call_begin(
		&c, alarm_rows,
		"Acknowledges an alarm, so that others see who knows of it: 'ack' or 'unack' and its id, which 'saguaro alarms' has in its second column. The acknowledgement ends with the alarm. 'ack' again changes it.",
		"ack|unack ID", 2, 2, argc, argv);

	status = check_action(&c, status, argv[0], "ack", "unack");
	if (status == EXIT_GOOD) {
		status = end(&c,
		             json_pack("{s:s, s:s, s:s, s:s*, s:s*}", "verb", "alarm", "action",
		                       c.arg[0], "id", c.arg[1], "until", c.flags.until, "note",
		                       c.flags.note),
		             strcmp(c.arg[0], "ack") == 0 ? "acknowledged" : "acknowledged no more");
	}
	control_call_done(&c);
	return status;
}

/* --- maintenance: a list as other lists, and requests ---------------------------------- */

/* clang-format off */
static const struct option_row maintenance_rows[] = {
	{ .name = "until", .type = OPT_STRING, FLAG(until), .flags = OPT_CLI_ONLY, .arg = "TIME",
	  .help = "when it ends by itself: 2027-01-31T12:00:00Z, or from now on 30m, 2h, 7d" },
	{ .name = "note", .type = OPT_STRING, FLAG(note), .flags = OPT_CLI_ONLY, .arg = "TEXT",
	  .help = "why; others see it" },
	{ .name = "force", .type = OPT_BOOL, FLAG(force), .def = "FALSE", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "also if pairs of other hosts lose their routes" },
	{ .name = "dry_run", .type = OPT_BOOL, .offset = offsetof(struct control_flags, dry_run), .flags_long = "dry-run", .def = "FALSE", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "only say what would happen" },
	{ NULL }
};
static const struct list_column maintenance_columns[] = {
	{ "what", "node.name:node.port", -24 }, { "peer", "peer.name:peer.port", -24 }, { "state", "state", -8 }, { "reason", "reason", -11 },
	{ "since", "since", -20 }, { "until", "until", -20 }, { "by", "by", -16 }, { "note", "note", 0 }, { NULL }
};
static const struct list maintenance = { "maintenance", "Drained", maintenance_columns, NULL, NULL, NULL };
/* clang-format on */

static const char maintenance_doc[] =
	"Takes a switch, a cable or a host of the running fabric out of service and back. NODE is a name, a GUID or a LID; with :PORT it is the cable of that port. Routes leave a switch or cable by a safe transition, and alarms about it are expected. Without arguments: what is out of service.";

static int print_maintenance(int argc, char **argv)
{
	const struct option_row *own[] = { list_rows, NULL };
	struct client s;
	int status = client_init_rows(&s, own, maintenance_doc, "[start|end NODE]", 0, argc, argv);

	if (status == EXIT_GOOD) {
		status = list_print(&s, &maintenance, "/v1/maintenance");
	}
	return client_done(&s, status);
}

static void print_drained(const struct control_call *c, const json_t *reply)
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

static int request_maintenance(int argc, char **argv)
{
	struct control_call c = { 0 };
	int status = control_call_begin(&c, maintenance_rows, maintenance_doc, "start|end NODE|NAME:PORT", 2, 2,
	                                argc, argv);

	status = check_action(&c, status, argv[0], "start", "end");
	if (status == EXIT_GOOD) {
		status = ask(&c,
		             json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:b, s:b}", "verb",
		                       "maintenance", "action", c.arg[0], "node", c.arg[1],
		                       "until", c.flags.until, "note", c.flags.note, "force",
		                       (int)c.flags.force, "dry_run", (int)c.flags.dry_run),
		             print_drained);
	}
	control_call_done(&c);
	return status;
}

int cmd_maintenance(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "start") == 0 || strcmp(argv[i], "end") == 0) {
			return request_maintenance(argc, argv);
		}
	}
	return print_maintenance(argc, argv);
}

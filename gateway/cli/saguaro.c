/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro: the command line. `route`, `check` and `topo` need no daemon, `report` works with and without one; `paths`,
 * `trace`, `nodes` and `status` read a running one: its snapshot where that is readable,
 * else the gateway's HTTP.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/openmp.h"
#include "conf/base/text.h"
#include "gateway/cli/command.h"

/* clang-format off */
static const struct command commands[] = {
	{ "route",  "FILE [routing flags]",   "route a topology file, prove the tables, show the figures", cmd_route, true },
	{ "check",  "[FILE --lfts F [--sl F]]", "prove the running tables, or foreign ones of a topology file", cmd_check, true },
	{ "report", "NAME [FILE]",            "credit loops, routes and port usage: of a running fabric or a file", cmd_report, true },
	{ "whatif", "[FILE] [--down NODE[:PORT]]", "what another cabling, engine or LMC would change", cmd_whatif, true },
	{ "plan",   "FILE",                   "the cables of the running fabric against a plan: missing, extra, swapped", cmd_plan, false },
	{ "config", "check FILE",             "what a file of configuration says, what is wrong with it", cmd_config, false },
	{ "engines", "",                      "routing engines that -R may name", cmd_engines, false },
	{ "topo",   "KIND ARGS",              "generate a topology file", cmd_topo, false },
	{ "paths",  "SRC DST",                "paths from one end port to another, as the SA answers", cmd_paths, false },
	{ "trace",  "SRC DST",                "the switches, ports and LIDs that a packet passes", cmd_trace, false },
	{ "why",    "SRC DST",                "why a path goes where it goes, or why there is none", cmd_why, false },
	{ "records", "NAME [--COMPONENT VALUE]", "records of subnet administration", cmd_records, false },
	{ "groups", "[GROUP]",                "multicast groups; of one its members and its tree", cmd_groups, false },
	{ "partition", "list | COMMAND [P_KEY]", "partitions: list, show, and change them at run time", cmd_partition, false },
	{ "nodes",  "",                       "nodes of the running fabric", cmd_nodes, false },
	{ "links",  "",                       "cables: state, speed, what it could be, routes", cmd_links, false },
	{ "ports",  "",                       "ports, also those without a cable", cmd_ports, false },
	{ "lids",   "",                       "owners of LIDs", cmd_lids, false },
	{ "lft",    "SWITCH",                 "the linear forwarding table of a switch", cmd_lft, false },
	{ "counters", "",                     "port counters: errors, rates, congestion", cmd_counters, false },
	{ "load",   "",                       "links by the routes on them, most first", cmd_load, false },
	{ "services", "",                     "services that hosts registered", cmd_services, false },
	{ "sweeps", "",                       "the last sweeps: what they changed, how long they took", cmd_sweeps, false },
	{ "doctor", "[HOST [HOST]]",          "what is wrong, and what to do about it", cmd_doctor, false },
	{ "alarms", "",                       "what is wrong at this moment", cmd_alarms, false },
	{ "export", "[FORMAT]",               "the fabric for other programs: ibsim, Slurm, Graphviz; alone: the formats", cmd_export, false },
	{ "status", "",                       "is the subnet up, and how was it routed", cmd_status, false },
	{ "events", "[-f] [--since N]",       "what happened: cables, hosts, switches, subnet managers, sweeps", cmd_events, false },
	{ "sweep",  "[--heavy]",              "ask the running daemon for a sweep", cmd_sweep, false },
	{ "reload", "",                       "make the running daemon read its configuration again", cmd_reload, false },
	{ "rebalance", "",                    "balance the routes of the running fabric anew", cmd_rebalance, false },
	{ "port",   "disable|enable NAME:PORT", "switch a port of the running fabric off or on", cmd_port, false },
	{ "handover", "",                     "hand the fabric over to the other subnet manager", cmd_handover, false },
	{ "loglevel", "LEVEL",                "set the log level of the running daemon", cmd_loglevel, false },
};
/* clang-format on */

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void usage(FILE *f)
{
	fprintf(f, "Usage: saguaro COMMAND [ARGS]\n\nCommands:\n");
	for (unsigned i = 0; i < N_COMMANDS; i++) {
		fprintf(f, "  %-7s %-27s %s\n", commands[i].name, commands[i].args,
		        commands[i].help);
	}
	fprintf(f,
	        "\n'saguaro help COMMAND' lists the flags of a command.\n"
	        "Exit status: 0 fine, 1 something is wrong or the answer is no, 2 wrong "
	        "usage or\n"
	        "it cannot be told, 3 the answer is stale because saguarod is gone.\n");
}

void command_each(const char *prefix, int (*use)(const char *name))
{
	for (unsigned i = 0; i < N_COMMANDS; i++) {
		if (strncmp(commands[i].name, prefix, strlen(prefix)) == 0) {
			use(commands[i].name);
		}
	}
}

static int unknown(const char *word)
{
	const char *near = NULL;
	unsigned best = 3;

	for (unsigned i = 0; i < N_COMMANDS; i++) {
		unsigned distance = text_distance(word, commands[i].name, 3);
		if (distance < best) {
			best = distance;
			near = commands[i].name;
		}
	}
	fprintf(stderr, "saguaro: unknown command '%s'", word);
	if (near) {
		fprintf(stderr, "; did you mean '%s'?", near);
	}
	fprintf(stderr, "\nTry 'saguaro --help'.\n");
	return EXIT_USAGE;
}

static int run_command(int argc, char **argv)
{
	char name[64];

	for (unsigned i = 0; i < N_COMMANDS; i++) {
		if (!strcmp(argv[1], commands[i].name)) {
			if (commands[i].parallel) {
				openmp_wait_passively(argv);
			}
			snprintf(name, sizeof(name), "saguaro %s", argv[1]);
			argv[1] = name;
			return commands[i].run(argc - 1, argv + 1);
		}
	}
	return unknown(argv[1]);
}

int main(int argc, char **argv)
{

	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (argc == 3 && !strcmp(argv[1], "help")) {
		char *words[] = { argv[0], argv[2], (char *)"--help", NULL };

		return run_command(3, words);
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		usage(stdout);
		return EXIT_GOOD;
	}
	if (!strcmp(argv[1], "--version")) {
		printf("saguaro %s\n", PACKAGE_VERSION);
		return EXIT_GOOD;
	}
	if (!strcmp(argv[1], "complete")) { /* not for people */
		return cmd_complete(argc - 1, argv + 1);
	}
	return run_command(argc, argv);
}

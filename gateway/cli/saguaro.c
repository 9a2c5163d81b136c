/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro: the command line. `route`, `check` and `topo` need no daemon, `report` works with and without one; `paths`,
 * `trace`, `nodes` and `status` read a running one: its snapshot where that is readable,
 * else the gateway's HTTP.
 */
#include <config.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/openmp.h"
#include "conf/base/text.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	bool parallel; /* computes with several threads */
} commands[] = {
#define TOPIC(text)
#define COMMAND(name, asks, parallel, ...) { #name, cmd_##name, parallel },
#include "gateway/cli/help/commands.def"
#undef TOPIC
#undef COMMAND
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void usage(FILE *f)
{
	fprintf(f, "Usage: saguaro COMMAND [ARGS]\n\n");
	help_commands(f);
	fprintf(f,
	        "\n'saguaro help COMMAND' lists the flags of a command, 'man saguaro-COMMAND' is its manual.\n"
	        "Exit status: 0 fine, 1 something is wrong or the answer is no, 2 wrong usage or\n"
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
	if (!strcmp(argv[1], "manual")) { /* for the build */
		return help_manual(argc - 1, argv + 1);
	}
	return run_command(argc, argv);
}

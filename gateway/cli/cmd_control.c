/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro sweep, reload, rebalance, port, handover and loglevel: one request each to the control socket of a running
 * saguarod (sa/control/control.h has its protocol).
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "conf/option.h"
#include "gateway/cli/client.h"
#include "gateway/cli/command.h"
#include "gateway/view/control_client.h"

struct control_flags {
	bool json, heavy, force;
	const char *instance, *snapshot_dir, *control_socket;
};

#define FLAG(member) .offset = offsetof(struct control_flags, member), .flags_long = #member
/* clang-format off */
#define COMMON_ROWS \
	{ .name = "json", .type = OPT_BOOL, FLAG(json), .def = "FALSE", \
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "print the reply as JSON" }, \
	{ .name = "instance", .type = OPT_STRING, FLAG(instance), .def = "main", .flags = OPT_CLI_ONLY, \
	  .arg = "NAME", .help = "instance of saguarod" }, \
	{ .name = "snapshot_dir", .type = OPT_STRING, FLAG(snapshot_dir), .flags = OPT_CLI_ONLY, \
	  .arg = "DIR", .help = "snapshot folder of that saguarod, if it is not that of the instance" }, \
	{ .name = "control_socket", .type = OPT_STRING, FLAG(control_socket), .flags = OPT_CLI_ONLY, \
	  .arg = "PATH", .help = "its control socket, if it is not the default one" }

static const struct option_row common_rows[] = { COMMON_ROWS, { NULL } };
static const struct option_row sweep_rows[] = {
	COMMON_ROWS,
	{ .name = "heavy", .type = OPT_BOOL, FLAG(heavy), .def = "FALSE", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "discover the whole fabric and route it again" },
	{ NULL }
};
static const struct option_row port_rows[] = {
	COMMON_ROWS,
	{ .name = "force", .type = OPT_BOOL, FLAG(force), .def = "FALSE", .flags = OPT_CLI_ONLY | OPT_NO_ARG,
	  .help = "also the last link of the subnet manager's own port" },
	{ NULL }
};
/* clang-format on */

struct call {
	struct arena *a;
	struct control_flags flags;
	const char *path;
	const char *word, *second; /* the positional arguments, or NULL */
};

/* Reads the command line. \return EXIT_GOOD to go on, else the exit status. */
static int begin(struct call *c, const struct option_row *rows, const char *doc,
                 const char *args, int argc, char **argv)
{
	struct option_sets sets = { .n = 0 };
	struct diags *d;
	const char *dir;
	int first = argc, n_args, ret;

	c->a = arena_new();
	d = c->a ? arena_alloc(c->a, sizeof(*d)) : NULL;
	if (d == NULL) {
		fprintf(stderr, "%s: %s\n", argv[0], err_text(-ENOMEM));
		return EXIT_USAGE;
	}
	diags_init(d, c->a);
	ret = option_sets_add(&sets, rows, &c->flags);
	if (ret == E_OK) {
		ret = option_set_defaults(&sets, c->a);
	}
	if (ret == E_OK) {
		ret = option_read_argv(&sets, c->a, argc, argv, doc, args, &first, d);
	}
	diags_print(d, stderr, DIAG_WARNING);
	if (ret != E_OK) {
		return EXIT_USAGE;
	}
	if (c->flags.snapshot_dir == NULL) {
		c->flags.snapshot_dir = getenv("SAGUARO_SNAPSHOT_DIR");
	}
	dir = config_dir(c->flags.snapshot_dir, SAGUARO_RUNDIR, c->flags.instance, c->a);
	c->path = dir ? config_control_socket(c->flags.control_socket, dir, c->a) : NULL;
	c->word = first < argc ? argv[first] : NULL;
	c->second = first + 1 < argc ? argv[first + 1] : NULL;
	n_args = args == NULL ? 0 : strchr(args, ' ') != NULL ? 2 : 1;
	if (argc - first != n_args) {
		fprintf(stderr, "%s: %s; try '%s --help'\n", argv[0],
		        n_args == 2   ? "two arguments are needed"
		        : n_args == 1 ? "one argument is needed"
		                      : "there are too many arguments",
		        argv[0]);
		return EXIT_USAGE;
	}
	return EXIT_GOOD;
}

/* Sends one request and reads the reply. NULL: a sentence was printed. */
static json_t *ask(const struct call *c, const char *name, json_t *request)
{
	json_t *reply = NULL;
	int err = control_ask(c->path, request, 0, &reply);

	if (err == E_MALFORMED) {
		fprintf(stderr,
		        "%s: saguarod closed the connection without a reply; its log may "
		        "say why\n",
		        name);
	} else if (err != E_OK) {
		fprintf(stderr, "%s: cannot reach saguarod at %s: %s\n%s", name, c->path,
		        err_text(err),
		        err == -EACCES
		                ? "  Root, the daemon's user and members of the group "
		                  "saguaro-admin may.\n"
		                : "  Does it run? Another instance is named with "
		                  "--instance or --control-socket.\n");
	}
	return reply;
}

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

/* Prints the reply: \a done where it is good. */
static int end(struct call *c, const char *name, json_t *request, const char *done)
{
	json_t *reply = request ? ask(c, name, request) : NULL;
	const char *error = json_string_value(json_object_get(reply, "error"));
	int status = EXIT_BAD;

	json_decref(request);
	if (reply != NULL && c->flags.json) {
		status = client_print_json(reply);
		status = error ? EXIT_BAD : status;
	} else if (error != NULL) {
		fprintf(stderr, "%s: %s\n", name, error);
	} else if (reply != NULL) {
		if (json_object_get(reply, "cut_off") != NULL) {
			print_port(reply);
		}
		printf("%s\n", done);
		status = EXIT_GOOD;
	}
	json_decref(reply);
	return status;
}

int cmd_sweep(int argc, char **argv)
{
	struct call c = { 0 };
	int status = begin(&c, sweep_rows,
	                   "Asks a running saguarod for a light sweep, which looks for changes, or "
	                   "for a heavy one. The command does not wait for its end.",
	                   NULL, argc, argv);

	if (status == EXIT_GOOD) {
		status = end(&c, argv[0],
		             json_pack("{s:s, s:b}", "verb", "sweep", "heavy", (int)c.flags.heavy),
		             c.flags.heavy ? "heavy sweep requested" : "light sweep requested");
	}
	arena_free(c.a);
	return status;
}

int cmd_reload(int argc, char **argv)
{
	struct call c = { 0 };
	int status = begin(&c, common_rows,
	                   "Makes a running saguarod read its configuration again, as SIGHUP does. A "
	                   "configuration with errors is refused and the running one stays.",
	                   NULL, argc, argv);

	if (status == EXIT_GOOD) {
		status = end(&c, argv[0], json_pack("{s:s}", "verb", "reload"),
		             "configuration read again, heavy sweep requested");
	}
	arena_free(c.a);
	return status;
}

int cmd_rebalance(int argc, char **argv)
{
	struct call c = { 0 };
	int status = begin(
		&c, common_rows,
		"Asks a running saguarod to route without regard to the routes that "
	        "there "
		"are. It moves to the new routes if they ease the busiest links and the "
		"switches can get there safely; its log says so. The command does not "
	        "wait "
		"for that.",
		NULL, argc, argv);

	if (status == EXIT_GOOD) {
		status =
			end(&c, argv[0], json_pack("{s:s}", "verb", "rebalance"),
		            "rebalance requested, the log of saguarod tells the outcome");
	}
	arena_free(c.a);
	return status;
}

int cmd_handover(int argc, char **argv)
{
	struct call c = { 0 };
	int status = begin(&c, common_rows,
	                   "Asks a running saguarod, which is master, to hand the fabric "
	                   "over to the "
	                   "highest other subnet manager. Its own priority is 0 from "
	                   "then on, until it "
	                   "starts again, reads its configuration again, or takes the "
	                   "fabric because the "
	                   "other is gone. The command does not wait for that.",
	                   NULL, argc, argv);

	if (status == EXIT_GOOD) {
		status = end(&c, argv[0], json_pack("{s:s}", "verb", "handover"),
		             "handover requested, saguaro status tells when it is over");
	}
	arena_free(c.a);
	return status;
}

int cmd_loglevel(int argc, char **argv)
{
	struct call c = { 0 };
	int status = begin(&c, common_rows,
	                   "Sets the log level of a running saguarod until it ends or reads its "
	                   "configuration again: error, warning, info or debug.",
	                   "LEVEL", argc, argv);

	if (status == EXIT_GOOD) {
		status = end(&c, argv[0],
		             json_pack("{s:s, s:s}", "verb", "loglevel", "level", c.word),
		             "log level set");
	}
	arena_free(c.a);
	return status;
}

int cmd_port(int argc, char **argv)
{
	struct call c = { 0 };
	int status = begin(
		&c, port_rows,
		"Switches a port of the running fabric off or on: 'disable' or "
		"'enable' and NAME:PORT, where NAME is a name, a GUID or a LID. A "
		"cable is switched at the end that stays in reach, so a host at its "
		"switch. The switch keeps a port disabled until it is enabled or "
		"restarts. The command does not wait; 'saguaro events' tells the "
		"outcome.",
		"disable|enable NAME:PORT", argc, argv);

	if (status == EXIT_GOOD && strcmp(c.word, "disable") != 0 &&
	    strcmp(c.word, "enable") != 0) {
		fprintf(stderr, "%s: '%s': expected disable or enable\n", argv[0],
		        c.word);
		status = EXIT_USAGE;
	}
	if (status == EXIT_GOOD) {
		status = end(
			&c, argv[0],
			json_pack("{s:s, s:s, s:s, s:b}", "verb", "port", "action",
		                  c.word, "port", c.second, "force", (int)c.flags.force),
			strcmp(c.word, "disable") == 0
				? "disable requested, 'saguaro events' tells the outcome"
				: "enable requested, 'saguaro events' tells the outcome");
	}
	arena_free(c.a);
	return status;
}

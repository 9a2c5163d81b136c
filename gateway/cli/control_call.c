/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/cli/control_call.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"
#include "gateway/view/control_client.h"
#include "gateway/view/json_text.h"

#define FLAG(member)                                                                     \
	.offset = offsetof(struct control_flags, member), .flags_long = #member

/* clang-format off */
const struct option_row control_rows[] = {
	{ .name = "json", .type = OPT_BOOL, .letter = 'j', FLAG(json), .def = "FALSE",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "the answer as JSON" },
	{ .name = "instance", .type = OPT_STRING, FLAG(instance), .flags = OPT_CLI_ONLY,
	  .arg = "NAME", .help = "which saguarod, when there are several; main by default" },
	{ .name = "snapshot_dir", .type = OPT_STRING, FLAG(snapshot_dir), .flags = OPT_CLI_ONLY,
	  .arg = "DIR", .help = "its snapshot folder; also SAGUARO_SNAPSHOT_DIR" },
	{ .name = "control_socket", .type = OPT_STRING, FLAG(control_socket), .flags = OPT_CLI_ONLY,
	  .arg = "PATH", .help = "its control socket, if it is not the default one" },
	{ NULL }
};
/* clang-format on */

int control_call_begin(struct control_call *c, const struct option_row *own,
                       const char *doc, const char *args, int min, int max, int argc,
                       char **argv)
{
	struct option_sets sets = { .n = 0 };
	struct diags *d;
	const char *dir;
	int first = argc, ret;

	c->a = arena_new();
	d = c->a ? arena_alloc(c->a, sizeof(*d)) : NULL;
	if (d == NULL) {
		fprintf(stderr, "%s: %s\n", argv[0], err_text(-ENOMEM));
		return EXIT_USAGE;
	}
	diags_init(d, c->a);
	ret = option_sets_add(&sets, control_rows, &c->flags);
	if (ret == E_OK && own != NULL) {
		ret = option_sets_add(&sets, own, &c->flags);
	}
	if (ret == E_OK) {
		ret = option_read_argv(&sets, c->a, argc, argv,
		                       help_doc(c->a, argv[0], doc), args, &first, d);
	}
	diags_print(d, stderr, DIAG_WARNING);
	if (ret != E_OK) {
		return EXIT_USAGE;
	}
	if (c->flags.snapshot_dir == NULL) {
		c->flags.snapshot_dir = getenv("SAGUARO_SNAPSHOT_DIR");
	}
	dir = config_dir(c->flags.snapshot_dir, SAGUARO_RUNDIR,
	                 c->flags.instance != NULL ? c->flags.instance : "main", c->a);
	c->path = dir ? config_control_socket(c->flags.control_socket, dir, c->a) : NULL;
	if (c->path == NULL) {
		fprintf(stderr, "%s: %s\n", argv[0],
		        c->flags.control_socket != NULL
		                ? "the control socket cannot be 'none'; give its path with --control-socket"
		                : err_text(-ENOMEM));
		return EXIT_USAGE;
	}
	c->name = argv[0];
	c->arg = argv + first;
	c->n_args = argc - first;
	if (c->n_args < min || (max >= 0 && c->n_args > max)) {
		return c->n_args < min
		               ? help_usage(argv[0], "expected %s", args)
		               : help_usage(argv[0], "unexpected argument '%s'", c->arg[max]);
	}
	return EXIT_GOOD;
}

json_t *control_call_ask(const struct control_call *c, const json_t *request)
{
	json_t *reply = NULL;
	int ret = control_ask(c->path, request, 0, &reply);

	if (ret == E_MALFORMED) {
		fprintf(stderr,
		        "%s: saguarod closed the connection without a reply; its log may say why\n",
		        c->name);
	} else if (ret != E_OK) {
		fprintf(stderr, "%s: cannot reach saguarod at %s: %s\n%s", c->name,
		        c->path, err_text(ret),
		        ret == -EACCES
		                ? "  Root, the daemon's user and members of the group saguaro-admin may.\n"
		                : "  Does it run? Another instance is named with --instance or --control-socket.\n");
	}
	return reply;
}

int control_call_print(const struct control_call *c, json_t *reply,
                       void (*print)(const struct control_call *c, const json_t *reply))
{
	const char *error = json_string_value(json_object_get(reply, "error"));
	int status = EXIT_BAD;

	if (reply != NULL && c->flags.json) {
		status = client_print_json(reply);
		status = error ? EXIT_BAD : status;
	} else if (error != NULL) {
		fprintf(stderr, "%s: %s\n", c->name, error);
	} else if (reply != NULL) {
		json_make_printable(reply);
		print(c, reply);
		status = EXIT_GOOD;
	}
	json_decref(reply);
	return status;
}

void control_call_done(struct control_call *c)
{
	arena_free(c->a);
}

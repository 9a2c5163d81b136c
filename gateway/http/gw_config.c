/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/http/gw_config.h"

#include <stddef.h>
#include <string.h>

#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"

#define MEMBER(m) .offset = offsetof(struct gw_config, m)

/* clang-format off */
const struct option_row gw_config_rows[] = {
	{ .name = "listen", .type = OPT_STRING, MEMBER(listen), .def = "127.0.0.1:8620",
	  .flags_long = "listen", .arg = "ADDR:PORT",
	  .help = "Address to answer on; port 0 takes any free one" },
	{ .name = "port_file", .type = OPT_STRING, MEMBER(port_file), .flags_long = "port-file",
	  .arg = "FILE", .help = "Write the port in use to FILE once requests are answered" },
	{ .name = "instance", .type = OPT_STRING, MEMBER(instance), .def = "main",
	  .flags_long = "instance", .arg = "NAME",
	  .help = "Instance of saguarod whose fabric is served" },
	{ .name = "snapshot_dir", .type = OPT_STRING, MEMBER(snapshot_dir),
	  .flags_long = "snapshot-dir", .arg = "DIR",
	  .help = "Folder of the published snapshot; default: " SAGUARO_RUNDIR "/NAME" },
	{ .name = "threads", .type = OPT_UINT, MEMBER(threads), .def = "4", .min = 1, .max = 64,
	  .flags_long = "threads", .arg = "N",
	  .help = "Threads that answer; each holds 120 connections" },
	{ .name = "connections_per_address", .type = OPT_UINT, MEMBER(per_address), .def = "120",
	  .min = 0, .max = 100000, .flags_long = "connections-per-address", .arg = "N",
	  .help = "Most connections from one address at a time; a further one ends its oldest idle one; 0: no limit of its own" },
	{ .name = "listeners", .type = OPT_UINT, MEMBER(listeners), .def = "5000",
	  .min = 0, .max = 1000000, .flags_long = "listeners", .arg = "N",
	  .help = "Most clients that follow events at a time; each needs a descriptor" },
	{ .name = "listeners_per_address", .type = OPT_UINT, MEMBER(listeners_per_address), .def = "1000",
	  .min = 0, .max = 1000000, .flags_long = "listeners-per-address", .arg = "N",
	  .help = "Most of them from one address; 0: no limit of its own" },
	{ .name = "saguaro", .type = OPT_STRING, MEMBER(program), .def = SAGUARO_BINDIR "/saguaro",
	  .flags_long = "saguaro", .arg = "FILE",
	  .help = "Program that computes what-ifs and checks" },
	{ .name = "web_dir", .type = OPT_STRING, MEMBER(web_dir), .def = SAGUARO_DATADIR "/web",
	  .flags_long = "web-dir", .arg = "DIR",
	  .help = "Folder of the page that browsers get at /; without one they get the list of resources" },
	{ .name = "allow_host", .type = OPT_STRING, MEMBER(hosts), .flags_long = "allow-host",
	  .arg = "NAME[,NAME...]", .help = "Further names that requests may have in Host, beside addresses, localhost and the name of this machine; *: any" },
	{ .name = "allow_origin", .type = OPT_STRING, MEMBER(origins), .flags_long = "allow-origin",
	  .arg = "ORIGIN[,ORIGIN...]", .help = "Origins, such as https://a.example, whose pages may read answers; *: any; none by default" },
	SERVER_LOG_ROWS(struct gw_config),
	{ .name = NULL },
};
/* clang-format on */

static const char doc[] = "Answers path queries and questions about the fabric over "
			  "HTTP, from the snapshot that "
			  "saguarod publishes. Reads only; may start before saguarod.";

int gw_config_read(struct gw_config *c, struct arena *a, int argc, char **argv,
                   struct diags *d)
{
	struct option_sets sets = { .n = 0 };
	int first;

	memset(c, 0, sizeof(*c));
	int err = option_sets_add(&sets, gw_config_rows, c);
	if (err == E_OK) {
		err = option_set_defaults(&sets, a);
	}
	if (err == E_OK) {
		err = option_read_argv(&sets, a, argc, argv, doc, NULL, &first, d);
	}
	if (err != E_OK) {
		return err;
	}
	if (c->listen == NULL || c->instance == NULL ||
	    strchr(c->instance, '/') != NULL) {
		diag_add(d, DIAG_ERROR, NULL, 0,
		         "--listen needs ADDR:PORT and --instance a name without '/'");
		return E_SYNTAX;
	}
	c->snapshot_dir = config_dir(c->snapshot_dir, SAGUARO_RUNDIR, c->instance, a);
	return E_OK;
}

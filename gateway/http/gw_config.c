/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "gateway/http/gw_config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/config.h"
#include "gateway/view/origin.h"

#define MEMBER(m) .offset = offsetof(struct gw_config, m)

/* clang-format off */
const struct option_row gw_config_rows[] = {
	{ .name = "listen", .type = OPT_STRING, MEMBER(listen), .def = "127.0.0.1:8620",
	  .flags_long = "listen", .arg = "ADDR:PORT", .flags = OPT_CLI_ONLY,
	  .help = "Address to answer on; port 0 takes any free one",
	  .more = "An IPv6 address stands in brackets: [::1]:8620." },
	{ .name = "port_file", .type = OPT_STRING, MEMBER(server.port_file), .flags_long = "port-file",
	  .arg = "FILE", .flags = OPT_CLI_ONLY,
	  .help = "Write the port in use to FILE once requests are answered" },
	{ .name = "instance", .type = OPT_STRING, MEMBER(instance), .def = "main",
	  .flags_long = "instance", .arg = "NAME", .flags = OPT_CLI_ONLY,
	  .help = "Instance of saguarod whose fabric is served" },
	{ .name = "snapshot_dir", .type = OPT_STRING, MEMBER(snapshot_dir),
	  .flags_long = "snapshot-dir", .arg = "DIR", .flags = OPT_CLI_ONLY,
	  .help = "Folder of the published snapshot; default: " SAGUARO_RUNDIR "/NAME, with the NAME of --instance" },
	{ .name = "threads", .type = OPT_UINT, MEMBER(threads), .def = "4", .min = 1, .max = 64,
	  .flags_long = "threads", .arg = "N", .flags = OPT_CLI_ONLY,
	  .help = "Number of threads that answer; each holds 120 connections" },
	{ .name = "connections_per_address", .type = OPT_UINT, MEMBER(per_address), .def = "120",
	  .min = 0, .max = 100000, .flags_long = "connections-per-address", .arg = "N", .flags = OPT_CLI_ONLY,
	  .help = "Maximum number of connections from one address at a time; 0: no limit",
	  .more = "One more connection closes the connection of that address that has been idle for longest. If none is idle, the new one is closed. An IPv6 address counts by its network of 64 bits. Raise the limit for a proxy in front, because all requests have its address." },
	{ .name = "listeners", .type = OPT_UINT, MEMBER(listeners), .def = "5000",
	  .min = 0, .max = 1000000, .flags_long = "listeners", .arg = "N", .flags = OPT_CLI_ONLY,
	  .help = "Maximum number of clients that follow events at a time; each needs a descriptor",
	  .more = "saguaro-gateway raises its limit of descriptors to the hard limit." },
	{ .name = "listeners_per_address", .type = OPT_UINT, MEMBER(listeners_per_address), .def = "1000",
	  .min = 0, .max = 1000000, .flags_long = "listeners-per-address", .arg = "N", .flags = OPT_CLI_ONLY,
	  .help = "Maximum number of clients from one address that follow events; 0: no limit" },
	{ .name = "saguaro", .type = OPT_STRING, MEMBER(program),
	  .flags_long = "saguaro", .arg = "FILE", .flags = OPT_CLI_ONLY,
	  .help = "Program that computes what-ifs, checks and plans; default: " SAGUARO_BINDIR "/saguaro",
	  .more = "A gateway that was not installed takes the one that was built beside it." },
	{ .name = "web_dir", .type = OPT_STRING, MEMBER(web_dir),
	  .flags_long = "web-dir", .arg = "DIR", .flags = OPT_CLI_ONLY,
	  .help = "Folder of the page that browsers get at /, without which they get the list of resources; default: " SAGUARO_DATADIR "/web",
	  .more = "'make web' builds the page. It is read once, at the start. A gateway that was not installed takes what 'make web' left in its sources." },
	{ .name = "admin_url", .type = OPT_STRING, MEMBER(admin_url), .flags_long = "admin-url",
	  .arg = "URL", .flags = OPT_CLI_ONLY,
	  .help = "Where browsers reach saguaro-admin, such as https://sm.example:8621; the page then offers changes to its users",
	  .more = "The gateway itself never asks it. saguaro-admin must name the origin of the page with its own --allow-origin. Another fabric than its first one stands at the end: https://sm.example:8621/ib1." },
	{ .name = "allow_host", .type = OPT_STRING, MEMBER(hosts), .flags_long = "allow-host",
	  .arg = "NAME[,NAME...]", .flags = OPT_CLI_ONLY,
	  .help = "Further names that requests may have in Host, beside addresses, localhost and the name of this machine; *: any",
	  .more = "The name of a proxy in front is an example. A request with another name gets status 421, because a foreign page can have a name of its own point here (DNS rebinding)." },
	{ .name = "allow_origin", .type = OPT_STRING, MEMBER(origins), .flags_long = "allow-origin",
	  .arg = "ORIGIN[,ORIGIN...]", .flags = OPT_CLI_ONLY,
	  .help = "Origins, such as https://a.example, whose pages may read answers; *: any; none by default",
	  .more = "This is CORS. The feed of events is for no other origin." },
	SERVER_LOG_ROWS(struct gw_config),
	{ .name = NULL },
};
/* clang-format on */

static const char doc[] =
	"Answers path queries and questions about the fabric over HTTP, from the snapshot that saguarod publishes. Reads only; may start before saguarod.\vManual: man saguaro-gateway, man saguaro-api";

/* The folder of the sources, as configure was told. NULL: \a build is no folder of a build. */
static const char *sources_of(const char *build, struct arena *a)
{
	static const char key[] = "srcdir='";
	const char *path = arena_printf(a, "%s/config.status", build), *ret_dir = NULL;
	char line[4096];
	FILE *f = path != NULL ? fopen(path, "re") : NULL;

	if (f == NULL) {
		return NULL;
	}
	while (ret_dir == NULL && fgets(line, sizeof(line), f) != NULL) {
		char *dir = line + sizeof(key) - 1, *end;

		if (strncmp(line, key, sizeof(key) - 1) != 0 ||
		    (end = strrchr(dir, '\'')) == NULL) {
			continue;
		}
		*end = '\0';
		ret_dir = dir[0] == '/' ? arena_strdup(a, dir)
		                        : arena_printf(a, "%s/%s", build, dir);
	}
	fclose(f);
	return ret_dir;
}

int gw_config_fill(struct gw_config *c, const char *self, struct arena *a)
{
	const char *slash = strrchr(self, '/'),
		   *build = slash != NULL ? arena_printf(a, "%.*s", (int)(slash - self), self) : NULL,
		   *sources = build != NULL ? sources_of(build, a) : NULL;

	if (c->program == NULL) {
		c->program = sources != NULL ? arena_printf(a, "%s/saguaro", build)
		                             : SAGUARO_BINDIR "/saguaro";
	}
	if (c->web_dir == NULL) {
		c->web_dir = sources != NULL ? arena_printf(a, "%s/gateway/web/dist", sources)
		                             : SAGUARO_DATADIR "/web";
	}
	return c->program != NULL && c->web_dir != NULL ? E_OK : -ENOMEM;
}

int gw_config_read(void *config, struct arena *a, int argc, char **argv, struct diags *d)
{
	struct gw_config *c = config;
	struct option_sets sets = { .n = 0 };
	int first;

	memset(c, 0, sizeof(*c));
	int ret = option_sets_add(&sets, gw_config_rows, c);
	if (ret == E_OK) {
		ret = option_read_argv(&sets, a, argc, argv, doc, NULL, &first, d);
	}
	if (ret != E_OK) {
		return ret;
	}
	if (c->listen == NULL || c->instance == NULL ||
	    strchr(c->instance, '/') != NULL) {
		diag_add(d, DIAG_ERROR, NULL, 0,
		         "--listen needs ADDR:PORT and --instance a name without '/'");
		return E_SYNTAX;
	}
	if (c->admin_url != NULL && !origin_is_safe(c->admin_url, true, NULL)) {
		diag_add(
			d, DIAG_ERROR, NULL, 0,
			"--admin-url '%.100s' must be https://NAME[:PORT][/FABRIC], because browsers send secrets there",
			c->admin_url);
		return E_SYNTAX;
	}
	c->snapshot_dir = config_dir(c->snapshot_dir, SAGUARO_RUNDIR, c->instance, a);
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	return gw_config_fill(c, self, a);
}

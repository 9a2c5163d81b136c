/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * saguaro report NAME [FILE]: reports on the tables of a running fabric (no FILE), of a
 * topology file that is routed here, or of a topology file with other tables (--lfts).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"
#include "gateway/cli/report.h"
#include "gateway/cli/route_job.h"
#include "gateway/view/json_text.h"
#include "routing/graph/graph.h"
#include "routing/graph/node_text.h"

static const char *report_node_type(uint8_t type)
{
	return type == NODE_SWITCH ? "SW" : type == NODE_ROUTER ? "RT" : "FI";
}

json_t *report_node(const struct graph *g, uint32_t node)
{
	const struct node *n = &g->nodes[node];

	return json_pack("{s:o, s:s, s:o, s:o}", "guid", guid_json(n->guid), "type",
	                 report_node_type(n->type), "name", text_json(node_name(n)),
	                 "description", text_json(n->description));
}

/* clang-format off */
static const struct option_row report_rows[] = {
	{ "json", OPT_BOOL, offsetof(struct route_flags, json), "FALSE", .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "the report as JSON" },
	{ "strict", OPT_BOOL, offsetof(struct route_flags, strict), "FALSE", .flags_long = "strict",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "traffic to and from switches themselves counts, too; a line of the topology file that is not understood is an error" },
	{ "lfts", OPT_STRING, offsetof(struct route_flags, lfts), NULL, .flags_long = "lfts",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "forwarding tables of the topology file, as dump_lfts prints them" },
	ROUTE_SL_ROW,
	{ "src", OPT_STRING, offsetof(struct route_flags, src), NULL, .flags_long = "src",
	  .flags = OPT_CLI_ONLY, .arg = "PORT", .help = "route: source, as LID, GUID, description or name:port" },
	{ "dst", OPT_STRING, offsetof(struct route_flags, dst), NULL, .flags_long = "dst",
	  .flags = OPT_CLI_ONLY, .arg = "PORT", .help = "route: destination, likewise" },
	{ "limit", OPT_UINT, offsetof(struct route_flags, limit), "100", 1, 10000000, .flags_long = "limit",
	  .flags = OPT_CLI_ONLY, .arg = "N", .help = "list so many faults at most" },
	{ NULL }
};
/* clang-format on */

static const struct report *const reports[] = {
	&report_credit_loops,    &report_routes,     &report_path_usage,
	&report_tree_path_usage, &report_port_usage, &report_route,
};

enum { N_REPORTS = sizeof(reports) / sizeof(reports[0]) };

static const struct report *find_report(const char *name)
{
	for (unsigned i = 0; i < N_REPORTS; i++) {
		if (!strcmp(name, reports[i]->name) ||
		    (reports[i]->alias && !strcmp(name, reports[i]->alias))) {
			return reports[i];
		}
	}
	return NULL;
}

static void print_usage(void)
{
	printf("Usage: saguaro report NAME [FILE [--lfts F]] [flags]\n\n"
	       "Reports on the running fabric, or on a topology file: routed here, or with\n"
	       "the forwarding tables of --lfts.\n\nReports:\n");
	for (unsigned i = 0; i < N_REPORTS; i++) {
		printf("  %-20s %s\n", reports[i]->name, reports[i]->help);
	}
	printf("\n'saguaro report NAME --help' lists the flags.\n\n");
	help_print_exits(stdout, "report");
}

/* --- where the tables come from ----------------------------------------------------- */

static int from_file(struct route_job *j, struct lft *lft, struct lanes *lanes)
{
	struct route_request request;
	int status;

	if (j->flags.lfts) {
		return route_job_read_tables(j, lft, lanes);
	}
	status = route_job_assign_lids(j);
	if (status != EXIT_GOOD) {
		return status;
	}
	route_job_request(j, &request);
	request.list.no_fallback =
		true; /* the report is about the engine that was asked for */
	request.credit_loops = CREDIT_PROGRAM;
	j->ret = route_run(&request, j->arena, &j->result);
	if (!j->result.out.lft.rows) {
		fprintf(stderr, "not routed: %s\n%s\n", err_text(j->ret),
		        j->result.fallback_reason.text);
		return EXIT_USAGE;
	}
	*lft = j->result.out.lft;
	*lanes = j->result.out.lanes;
	return EXIT_GOOD;
}

/* --- the report --------------------------------------------------------------------- */

static int print_report(struct route_job *j, const struct report *r,
                        const struct lft *lft, const struct lanes *lanes)
{
	const struct report_in in = {
		.g = j->g,
		.lids = &j->lids,
		.lft = lft,
		.lanes = lanes,
		.arena = j->arena,
		.limit = j->flags.limit,
		.src = j->flags.src,
		.dst = j->flags.dst,
		.strict = j->flags.strict,
	};
	json_t *report = NULL;
	bool good = true;
	int ret = r->build(&in, &report, &good), status = EXIT_GOOD;

	if (ret != E_OK) {
		if (ret != E_NOTFOUND) {
			fprintf(stderr, "saguaro report: %s\n", err_text(ret));
		}
		return EXIT_USAGE;
	}
	if (j->flags.json) {
		status = client_print_json(report);
	} else {
		r->print(report);
	}
	json_decref(report);
	return status != EXIT_GOOD ? status : good ? EXIT_GOOD : EXIT_BAD;
}

static int run_report(const struct report *r, int argc, char **argv)
{
	struct route_job j;
	struct lft lft = { 0 };
	struct lanes lanes = { .n = 1 };
	int status = route_job_init(&j, report_rows, r->help, ROUTE_JOB_FILE_OPTIONAL, argc,
	                            argv);

	if (status == EXIT_GOOD) {
		status = j.file ? from_file(&j, &lft, &lanes)
		                : route_job_read_snapshot(&j, &lft, &lanes, NULL);
	}
	if (status == EXIT_GOOD) {
		status = print_report(&j, r, &lft, &lanes);
	}
	return route_job_done(&j, status);
}

int cmd_report(int argc, char **argv)
{
	char name[64];

	if (argc < 2) {
		return help_usage(argv[0], "expected NAME [FILE], the name of a report");
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_usage();
		return EXIT_GOOD;
	}
	const struct report *r = find_report(argv[1]);

	if (!r) {
		return help_usage(argv[0], "unknown report '%s'", argv[1]);
	}
	snprintf(name, sizeof(name), "saguaro report %s", r->name);
	argv[1] = name;
	return run_report(r, argc - 1, argv + 1);
}

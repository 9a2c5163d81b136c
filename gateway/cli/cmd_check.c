/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>

#include "conf/base/err.h"
#include "gateway/cli/command.h"
#include "gateway/cli/route_job.h"
#include "routing/graph/graph.h"

/* clang-format off */
static const struct option_row check_rows[] = {
	{ "json", OPT_BOOL, offsetof(struct route_flags, json), "FALSE", .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "figures as JSON" },
	{ "strict", OPT_BOOL, offsetof(struct route_flags, strict), "FALSE", .flags_long = "strict",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "management pairs count in the proof, too; "
	  "a line of FILE that is not understood is an error" },
	{ "lfts", OPT_STRING, offsetof(struct route_flags, lfts), NULL, .flags_long = "lfts",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "forwarding tables as dump_lfts prints them" },
	{ "sl", OPT_STRING, offsetof(struct route_flags, sl), NULL, .flags_long = "sl",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "SL per source switch and LID, in the same shape" },
	{ NULL }
};
/* clang-format on */

int cmd_check(int argc, char **argv)
{
	struct route_job j;
	struct route_request request;
	struct lft lft = { 0 };
	struct lanes lanes = { .n = 1 };
	int status =
		route_job_init(&j, check_rows,
	                       "Proves forwarding tables that something else computed, "
	                       "for instance OpenSM's dump. Exit status 0: proven, "
	                       "1: the proof fails, 2: usage or bad input.",
	                       ROUTE_JOB_FILE_NEEDED, argc, argv);

	if (status == EXIT_GOOD && !j.flags.lfts) {
		fprintf(stderr, "saguaro check: no tables to prove; give --lfts FILE\n");
		status = EXIT_USAGE;
	}
	if (status == EXIT_GOOD) {
		status = route_job_read_tables(&j, &lft, &lanes);
	}
	if (status != EXIT_GOOD) {
		goto out;
	}
	route_job_request(&j, &request);
	j.outcome = route_check(&request, &lft, &lanes, j.arena, &j.result);
	status = route_job_report(&j);
out:
	route_job_done(&j);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>

#include "conf/err.h"
#include "gateway/command.h"
#include "gateway/route_job.h"
#include "routing/graph.h"
#include "routing/lftfile.h"

/* clang-format off */
static const struct option_row check_rows[] = {
	{ "json", OPT_BOOL, offsetof(struct route_flags, json), "FALSE", .flags_long = "json",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "figures as JSON" },
	{ "strict", OPT_BOOL, offsetof(struct route_flags, strict), "FALSE", .flags_long = "strict",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "management pairs count in the proof, too" },
	{ "lfts", OPT_STRING, offsetof(struct route_flags, lfts), NULL, .flags_long = "lfts",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "forwarding tables as dump_lfts prints them" },
	{ "sl", OPT_STRING, offsetof(struct route_flags, sl), NULL, .flags_long = "sl",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "SL per source switch and LID, in the same shape" },
	{ NULL }
};
/* clang-format on */

/* Tables and LIDs from the dump; lanes when an SL dump was given. */
static int read_tables(struct route_job *j, struct lft *ret_lft, struct lanes *ret_lanes)
{
	struct diags d;
	int ret;

	if (!j->flags.lfts) {
		fprintf(stderr, "saguaro check: no tables to prove; give --lfts FILE\n");
		return EXIT_USAGE;
	}
	diags_init(&d, j->arena);
	ret = lftfile_read(j->flags.lfts, j->g, j->arena, &d, ret_lft, &j->lids);
	if (ret == E_OK && j->flags.sl) {
		ret = lftfile_read_sl(j->flags.sl, j->g, ret_lft, j->arena, &d,
		                      ret_lanes);
	}
	diags_print(&d, stderr, DIAG_WARNING);
	if (ret != E_OK && d.n_errors == 0) {
		fprintf(stderr, "%s: %s\n", j->flags.lfts, err_text(ret));
	}
	return ret == E_OK ? EXIT_GOOD : EXIT_USAGE;
}

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
	                       argc, argv);

	if (status == EXIT_GOOD) {
		status = read_tables(&j, &lft, &lanes);
	}
	if (status == EXIT_GOOD) {
		status = route_job_request(&j, &request);
	}
	if (status != EXIT_GOOD) {
		goto out;
	}
	j.outcome = route_check(&request, &lft, &lanes, j.arena, &j.result);
	status = route_job_report(&j);
out:
	route_job_done(&j);
	return status;
}

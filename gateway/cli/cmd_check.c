/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>

#include "conf/base/err.h"
#include "gateway/cli/client.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/route_job.h"
#include "routing/graph/graph.h"
#include "routing/proof/transition.h"

/* clang-format off */
static const struct option_row check_rows[] = {
	ROUTE_FIGURES_ROWS,
	{ "lfts", OPT_STRING, offsetof(struct route_flags, lfts), NULL, .flags_long = "lfts",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "forwarding tables as dump_lfts prints them" },
	ROUTE_SL_ROW,
	{ "to", OPT_STRING, offsetof(struct route_flags, to), NULL, .flags_long = "to",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "new tables: prove the transition from those of --lfts to them" },
	{ "to_sl", OPT_STRING, offsetof(struct route_flags, to_sl), NULL, .flags_long = "to-sl",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "SL dump of the new tables" },
	{ NULL }
};
/* clang-format on */

static void print_transition(const struct transition *t, int ret)
{
	if (ret == E_UNSUITABLE) {
		printf("transition       no order of updates is known to be safe\n");
	} else if (t->changed == 0) {
		printf("transition       the tables are the same\n");
	} else if (transition_is_free(t)) {
		printf("transition       safe in any order\n");
	} else {
		printf("transition       safe in stages only\n");
	}
	printf("LIDs changed     %u\n", t->changed);
	printf("stages           %u\n", t->n_stages);
	printf("LIDs withdrawn   %u, %u of them could circle\n", t->withdrawn,
	       t->may_loop);
	printf("credit loops     %u of old and new routes together\n", t->credit_loops);
	if (t->why.text[0]) {
		printf("%s\n", t->why.text);
	}
}

static json_t *transition_json(const struct transition *t, int ret)
{
	return json_pack("{s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:s}", "safe", ret == E_OK,
	                 "any_order", ret == E_OK && transition_is_free(t),
	                 "lids_changed", (json_int_t)t->changed, "stages",
	                 (json_int_t)t->n_stages, "lids_withdrawn",
	                 (json_int_t)t->withdrawn, "lids_may_loop",
	                 (json_int_t)t->may_loop, "credit_loops",
	                 (json_int_t)t->credit_loops, "why", t->why.text);
}

/* Proves the transition from the tables of --lfts to those of --to. */
static int check_transition(struct route_job *j, const struct lft *from,
                            const struct lanes *from_lanes)
{
	struct lanes to_lanes = { .n = 1 };
	struct lft to = { 0 };
	struct transition t;
	const struct transition_in in = { .g = j->g,
		                          .lids = &j->lids,
		                          .from = from,
		                          .to = &to,
		                          .from_lanes = from_lanes,
		                          .to_lanes = &to_lanes };
	int status = route_job_read_next(j, &to, &to_lanes), ret;

	if (status != EXIT_GOOD) {
		return status;
	}
	ret = transition_plan(&in, j->arena, &t);
	if (ret != E_OK && ret != E_UNSUITABLE) {
		fprintf(stderr, "saguaro check: %s\n", err_text(ret));
		return EXIT_USAGE;
	}
	if (j->flags.json) {
		json_t *o = transition_json(&t, ret);

		status = client_print_json(o);
		json_decref(o);
	} else {
		print_transition(&t, ret);
	}
	return ret == E_OK ? status : EXIT_BAD;
}

int cmd_check(int argc, char **argv)
{
	struct route_job j;
	struct route_request request;
	struct lft lft = { 0 };
	struct lanes lanes = { .n = 1 };
	struct route_job_running running = { .engine = NULL };
	int status = route_job_init(
		&j, check_rows,
		"Proves forwarding tables: those of the running fabric, or with FILE those that something else computed, for instance OpenSM's dump.",
		ROUTE_JOB_FILE_OPTIONAL, argc, argv);

	if (status == EXIT_GOOD && !j.file && (j.flags.lfts || j.flags.to)) {
		fprintf(stderr,
		        "saguaro check: --lfts and --to go with a topology file\n");
		status = EXIT_USAGE;
	}
	if (status == EXIT_GOOD && j.file && !j.flags.lfts) {
		fprintf(stderr, "saguaro check: no tables to prove; give --lfts FILE\n");
		status = EXIT_USAGE;
	}
	if (status == EXIT_GOOD) {
		status = j.file ? route_job_read_tables(&j, &lft, &lanes)
		                : route_job_read_snapshot(&j, &lft, &lanes, &running);
	}
	if (status != EXIT_GOOD) {
		goto out;
	}
	if (j.flags.to) {
		status = check_transition(&j, &lft, &lanes);
		goto out;
	}
	route_job_request(&j, &request);
	j.ret = route_check(&request, &lft, &lanes, j.arena, &j.result);
	if (running.engine != NULL) {
		j.result.engine_asked = running.engine;
		j.result.used = engine_find(running.engine);
	}
	status = route_job_report(&j);
out:
	return route_job_done(&j, status);
}

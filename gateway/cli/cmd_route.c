/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/route_job.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/text/lftfile.h"
#include "routing/text/matrixfile.h"

/* clang-format off */
static const struct option_row route_rows[] = {
	ROUTE_FIGURES_ROWS,
	{ "dump_lfts", OPT_STRING, offsetof(struct route_flags, dump_lfts), NULL, .flags_long = "dump_lfts",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "write the forwarding tables, '-' for standard output" },
	{ "dump_sl", OPT_STRING, offsetof(struct route_flags, dump_sl), NULL, .flags_long = "dump_sl",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "write the SL per source switch and LID" },
	{ "dump_lid_matrix", OPT_STRING, offsetof(struct route_flags, dump_lid_matrix), NULL,
	  .flags_long = "dump_lid_matrix", .flags = OPT_CLI_ONLY, .arg = "FILE",
	  .help = "write the hops between switches over each port" },
	{ "dump_cn_order", OPT_STRING, offsetof(struct route_flags, dump_cn_order), NULL,
	  .flags_long = "dump_cn_order", .flags = OPT_CLI_ONLY, .arg = "FILE",
	  .help = "write the compute nodes of a fat tree in the order of contention-free shifts" },
	{ NULL }
};
/* clang-format on */

typedef int dump_f(const struct route_job *j, FILE *f);

static int dump_lfts(const struct route_job *j, FILE *f)
{
	return lftfile_write(j->g, &j->lids, &j->result.out.lft, f);
}

static int dump_sl(const struct route_job *j, FILE *f)
{
	return lftfile_write_sl(j->g, &j->lids, &j->result.out.lanes, f);
}

static int dump_lid_matrix(const struct route_job *j, FILE *f)
{
	struct hops hops;

	int ret = hops_init(&hops, j->g, j->arena);
	return ret == E_OK ? matrixfile_write(j->g, &j->lids, &hops, f) : ret;
}

/* By the engine that knows such an order and with its options, whichever engine made the
 * tables. */
static int dump_cn_order(const struct route_job *j, FILE *f)
{
	struct route_in in = { .g = j->g, .lids = &j->lids };
	struct why why = { "" };
	const char *text;

	for (unsigned i = 0; engines[i]; i++) {
		if (!engines[i]->node_order) {
			continue;
		}
		in.options = j->engines.base[i];
		int ret = engines[i]->node_order(&in, j->arena, &text, &why);
		if (ret != E_OK) {
			fprintf(stderr, "%s\n", why.text);
			return ret;
		}
		return fputs(text, f) < 0 ? -EIO : E_OK;
	}
	return E_NOTFOUND;
}

/* Writes through a temporary name, so that a full disk leaves no half file behind. */
static int dump_to(const struct route_job *j, const char *path, dump_f *dump)
{
	if (!path) {
		return EXIT_GOOD;
	}
	const bool to_stdout = !strcmp(path, "-");
	const char *part = arena_printf(j->arena, "%s.part", path);
	FILE *f = to_stdout ? stdout : fopen(part, "w");
	int ret;

	if (!f) {
		ret = -errno;
		goto out;
	}
	ret = dump(j, f);
	if (!to_stdout && fclose(f) != 0 && ret == E_OK) {
		ret = -errno;
	}
	if (ret == E_OK && !to_stdout && rename(part, path) != 0) {
		ret = -errno;
	}
	if (ret != E_OK && !to_stdout) {
		remove(part);
	}
out:
	if (ret != E_OK) {
		fprintf(stderr, "%s: %s\n", path, err_text(ret));
	}
	return ret == E_OK ? EXIT_GOOD : EXIT_USAGE;
}

static int dump_all(const struct route_job *j)
{
	if (!j->result.out.lft.rows && j->g->n_switches > 0) {
		return EXIT_GOOD; /* nothing was computed, the report says why */
	}
	if (dump_to(j, j->flags.dump_lfts, dump_lfts) != EXIT_GOOD ||
	    dump_to(j, j->flags.dump_sl, dump_sl) != EXIT_GOOD ||
	    dump_to(j, j->flags.dump_lid_matrix, dump_lid_matrix) != EXIT_GOOD ||
	    dump_to(j, j->flags.dump_cn_order, dump_cn_order) != EXIT_GOOD) {
		return EXIT_USAGE;
	}
	return EXIT_GOOD;
}

int cmd_route(int argc, char **argv)
{
	struct route_job j;
	struct route_request request;
	int status = route_job_init(
		&j, route_rows,
		"Routes a topology file, proves the tables and shows the figures.",
		ROUTE_JOB_FILE_NEEDED, argc, argv);

	if (status == EXIT_GOOD) {
		status = route_job_assign_lids(&j);
	}
	if (status != EXIT_GOOD) {
		goto out;
	}
	route_job_request(&j, &request);
	j.ret = route_run(&request, j.arena, &j.result);
	status = dump_all(&j);
	if (status == EXIT_GOOD) {
		status = route_job_report(&j);
	}
out:
	return route_job_done(&j, status);
}

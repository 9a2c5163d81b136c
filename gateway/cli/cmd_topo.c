/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "gateway/cli/help/command.h"
#include "gateway/cli/help/help.h"
#include "routing/text/topofile.h"
#include "routing/topogen/topogen.h"

struct topo_flags {
	const char *fail;
	uint32_t seed, spine_hosts;
	bool aggregation_nodes;
	const char *output;
};

/* clang-format off */
static const struct option_row topo_rows[] = {
	{ "fail", OPT_STRING, offsetof(struct topo_flags, fail), "0", .letter = 'x', .flags_long = "fail",
	  .flags = OPT_CLI_ONLY, .arg = "FRACTION", .help = "remove this share (0 to 1) of the switch-to-switch cables at random" },
	{ "seed", OPT_UINT, offsetof(struct topo_flags, seed), "1", .letter = 's', .flags_long = "seed",
	  .flags = OPT_CLI_ONLY, .arg = "N", .help = "same seed, same fabric" },
	{ "spine_hosts", OPT_UINT, offsetof(struct topo_flags, spine_hosts), "0", .max = 1 << 20, .flags_long = "spine_hosts",
	  .flags = OPT_CLI_ONLY, .arg = "N", .help = "so many hosts more, one after the other on the switches that have none" },
	{ "aggregation_nodes", OPT_BOOL, offsetof(struct topo_flags, aggregation_nodes), "FALSE", .flags_long = "aggregation_nodes",
	  .flags = OPT_CLI_ONLY | OPT_NO_ARG, .help = "an aggregation node (SHARP) on every switch" },
	{ "output", OPT_STRING, offsetof(struct topo_flags, output), NULL, .letter = 'o', .flags_long = "output",
	  .flags = OPT_CLI_ONLY, .arg = "FILE", .help = "write here instead of standard output" },
	{ NULL }
};
/* clang-format on */

static const char *kinds_text(struct arena *a)
{
	const char *text =
		"Generates a fabric as a topology file (what ibnetdiscover prints and ibsim reads). Kinds:\n";

	for (const struct topogen_kind *k = topogen_kinds; k->name; k++) {
		text = arena_printf(a, "%s\n  %s %s: %s", text, k->name, k->args,
		                    k->help);
	}
	return text;
}

static int fraction(const char *text, double *ret_fraction)
{
	char *end;
	const double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= 1)) {
		fprintf(stderr,
		        "saguaro topo: --fail takes a number from 0 to 1, not '%s'\n",
		        text);
		return EXIT_USAGE;
	}
	*ret_fraction = value;
	return EXIT_GOOD;
}

static int write_out(const struct graph *g, const char *path)
{
	FILE *f = path ? fopen(path, "w") : stdout;

	if (!f) {
		perror(path);
		return EXIT_USAGE;
	}
	int ret = topo_write(g, f);
	if (fflush(f) != 0 || (path && fclose(f) != 0) || ret != E_OK) {
		fprintf(stderr, "saguaro topo: cannot write %s\n",
		        path ? path : "to standard output");
		return EXIT_USAGE;
	}
	return EXIT_GOOD;
}

static int generate(struct arena *a, struct diags *d, int argc, char **argv)
{
	struct topo_flags flags = { 0 };
	struct topogen_opts opts = { 0 };
	struct option_sets sets = { .n = 0 };
	struct graph *g;
	int first = argc;

	if (option_sets_add(&sets, topo_rows, &flags) != E_OK ||
	    option_read_argv(&sets, a, argc, argv, help_doc(a, argv[0], kinds_text(a)),
	                     "KIND ARGS...", &first, d) != E_OK) {
		diags_print(d, stderr, DIAG_WARNING);
		return EXIT_USAGE;
	}
	if (first == argc) {
		return help_usage(argv[0], "expected KIND ARGS, a kind of fabric and its size");
	}
	if (fraction(flags.fail, &opts.fail) != EXIT_GOOD) {
		return EXIT_USAGE;
	}
	opts.seed = flags.seed;
	opts.spine_hosts = flags.spine_hosts;
	opts.aggregation_nodes = flags.aggregation_nodes;
	int ret =
		topogen(argv[first], argc - first - 1, argv + first + 1, &opts, a, d, &g);
	if (ret != E_OK) {
		if (d->n_errors == 0) {
			diag_add(d, DIAG_ERROR, NULL, 0, "%s: %s", argv[first],
			         err_text(ret));
		}
		diags_print(d, stderr, DIAG_WARNING);
		return help_usage(argv[0], "no fabric is made");
	}
	diags_print(d, stderr, DIAG_WARNING);
	return write_out(g, flags.output);
}

int cmd_topo(int argc, char **argv)
{
	struct arena *a = arena_new();
	struct diags *d = a ? arena_alloc(a, sizeof(*d)) : NULL;
	int status = EXIT_USAGE;

	if (d) {
		diags_init(d, a);
		status = generate(a, d, argc, argv);
	}
	arena_free(a);
	return status;
}

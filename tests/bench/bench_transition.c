/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Time to plan the transition after one cable is lost: minhop over a fat tree, the tables
 * of before, those computed with them as previous ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/transition.h"
#include "routing/route.h"
#include "routing/topogen/topogen.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static const struct graph *make(char *ports, double fail, struct arena *a)
{
	struct topogen_opts o = { .fail = fail, .seed = 1 };
	struct diags *d = arena_alloc(a, sizeof(*d));
	struct graph *g;

	diags_init(d, a);
	if (topogen("ft3", 1, &ports, &o, a, d, &g) != E_OK) {
		fprintf(stderr, "bench_transition: no fat tree of %s-port switches\n",
		        ports);
		exit(EXIT_FAILURE);
	}
	return g;
}

static void route(const struct graph *g, struct lids *lids, const struct lft *prev,
                  struct arena *a, struct route_result *ret_result)
{
	struct lids_in in = { .g = g };
	struct route_memory memory = { .tables = prev };
	struct route_request r = { .g = g, .lids = lids, .memory = &memory, .no_paths = true };
	struct diags *d = arena_alloc(a, sizeof(*d));
	struct why why = { "" };

	diags_init(d, a);
	if (lids_assign(&in, a, d, lids, NULL, NULL) != E_OK ||
	    route_list_parse("minhop", &r.list, &why) != E_OK ||
	    route_run(&r, a, ret_result) != E_OK) {
		fprintf(stderr, "bench_transition: cannot route\n");
		exit(EXIT_FAILURE);
	}
}

enum { RUNS = 5 };

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	char *ports = argc > 1 ? argv[1] : "36";
	struct arena *a = arena_new();
	const struct graph *whole = make(ports, 0, a);
	const struct graph *g = make(ports, 2.0 / whole->n_adj, a);
	struct transition_in in = { .g = g };
	struct route_result from, to;
	struct lids lids;
	struct transition t;
	double seconds[RUNS];

	route(whole, &lids, NULL, a, &from);
	route(g, &lids, &from.out.lft, a, &to);
	in.lids = &lids;
	in.from = &from.out.lft;
	in.to = &to.out.lft;
	for (unsigned i = 0; i < RUNS; i++) {
		double start = now();

		if (transition_plan(&in, a, &t) != E_OK) {
			fprintf(stderr, "bench_transition: %s\n", t.why.text);
			return EXIT_FAILURE;
		}
		seconds[i] = now() - start;
	}
	qsort(seconds, RUNS, sizeof(*seconds), by_value);
	printf("{\"bench\": \"transition\", \"hosts\": %u, \"cables_lost\": %u, \"lids_changed\": %u, \"stages\": %u, \"withdrawn\": %u, \"seconds\": {\"median\": %.4f, \"min\": %.4f, \"max\": %.4f}}\n",
	       whole->n_hosts, (whole->n_adj - g->n_adj) / 2, t.changed, t.n_stages,
	       t.withdrawn, seconds[RUNS / 2], seconds[0], seconds[RUNS - 1]);
	arena_free(a);
	return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Any bytes as a topology file: no crash, and what is accepted can be written and read
 * again as the same number of nodes, cables and end ports. A text that a strict reader accepts is
 * the same fabric for the other one, which takes every text that has a node.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/text/topofile.h"
#include "tests/fuzz/fuzz.h"

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static void read_again(const struct graph *g, struct arena *a)
{
	char *text = NULL;
	size_t len = 0;
	struct graph *copy = NULL;
	FILE *f = open_memstream(&text, &len);

	require(f != NULL);
	require(topo_write(g, f) == E_OK);
	fclose(f);
	require(topo_parse(text, len, "written", true, a, NULL, &copy) == E_OK);
	require(copy->n_nodes == g->n_nodes);
	require(copy->n_links == g->n_links);
	require(copy->n_end_ports == g->n_end_ports);
	require(copy->sm_port == g->sm_port);
	free(text);
}

static int parse(const uint8_t *data, size_t size, bool strict, struct arena *a,
                 struct graph **ret_graph)
{
	struct diags d;

	diags_init(&d, a);
	int ret = topo_parse((const char *)data, size, "fuzz", strict, a, &d, ret_graph);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d.n_errors == 0));
	if (!strict) {
		require(d.n_errors <= 1 && d.n_warnings <= 21);
		require(ret == E_OK || d.n_warnings == 0);
	}
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	require(a != NULL);

	struct graph *strict = NULL, *g = NULL;
	int ret = parse(data, size, true, a, &strict);
	if (ret == E_OK) {
		read_again(strict, a);
	}
	if (parse(data, size, false, a, &g) == E_OK) {
		require(g->n_nodes > 0 && g->sm_port < g->n_ports);
	} else {
		require(ret != E_OK);
	}
	if (ret == E_OK) {
		require(g->n_nodes == strict->n_nodes && g->n_links == strict->n_links);
		require(g->n_end_ports == strict->n_end_ports);
		require(g->sm_port == strict->sm_port);
	}
	arena_free(a);
	return 0;
}

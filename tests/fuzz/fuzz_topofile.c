/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Any bytes as a topology file: no crash, and what is accepted can be written and read
 * again as the same number of nodes, cables and end ports.
 */
#include <stdio.h>
#include <stdlib.h>

#include "conf/arena.h"
#include "conf/diag.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/topofile.h"
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
	require(topo_parse(text, len, "written", a, NULL, &copy) == E_OK);
	require(copy->n_nodes == g->n_nodes);
	require(copy->n_links == g->n_links);
	require(copy->n_end_ports == g->n_end_ports);
	require(copy->sm_port == g->sm_port);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	require(a != NULL);

	struct diags d;
	struct graph *g = NULL;
	diags_init(&d, a);
	int ret = topo_parse((const char *)data, size, "fuzz", a, &d, &g);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d.n_errors == 0));
	if (ret == E_OK) {
		read_again(g, a);
	}
	arena_free(a);
	return 0;
}

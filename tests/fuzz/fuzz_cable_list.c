/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Any bytes as a list of cables: no crash, every row has two names, and what is a plan for a small
 * fabric has its cables between ports that are there.
 */
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/cabling.h"
#include "routing/graph/graph.h"
#include "routing/text/cable_list.h"
#include "routing/topogen/topogen.h"
#include "tests/fuzz/fuzz.h"

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static void plan(const struct cable_list *l, struct arena *a)
{
	struct topogen_opts o = { .seed = 1 };
	char *args[3] = { (char *)"3", (char *)"2", (char *)"2" };
	struct graph *fabric, *g = NULL;
	struct cabling c;
	struct diags d;

	diags_init(&d, a);
	require(topogen("ft2", 3, args, &o, a, &d, &fabric) == E_OK);
	diags_init(&d, a);
	int ret = cable_list_plan(l, "fuzz", fabric, a, &d, &g);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d.n_errors == 0));
	require(d.n_warnings <= 21);
	if (ret == E_OK) {
		require(cabling_compare(g, fabric, a, &c) == E_OK);
		require(c.n_good <= c.n_planned && c.n_planned <= g->n_links);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct cable_list l;
	struct diags d;

	require(a != NULL);
	diags_init(&d, a);
	int ret = cable_list_parse((const char *)data, size, "fuzz", a, &d, &l);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d.n_errors == 0));
	require(d.n_warnings <= 21);
	(void)cable_list_is((const char *)data, size);
	if (ret == E_OK) {
		require(l.n > 0);
		for (uint32_t i = 0; i < l.n; i++) {
			require(l.row[i].end[0].node[0] != '\0' && l.row[i].end[1].node[0] != '\0');
			require(cable_list_port(l.row[i].end[0].port) <= 254);
			require(i == 0 || l.row[i].line > l.row[i - 1].line);
		}
		plan(&l, a);
	}
	arena_free(a);
	return 0;
}

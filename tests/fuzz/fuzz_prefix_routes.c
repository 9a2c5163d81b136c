/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/* Any bytes as a file of routes to other subnets: refused with a place, or read. */
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/policy/prefix_routes.h"
#include "tests/fuzz/fuzz.h"

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct prefix_routes *list = NULL;
	struct arena *a = arena_new();
	struct diags d;

	require(a != NULL);
	diags_init(&d, a);
	int ret = prefix_routes_parse("fuzz", (const char *)data, size, a, &d, &list);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d.n_errors == 0) && (ret == E_OK) == (list != NULL));
	for (uint32_t i = 0; list != NULL && i < list->n; i++) {
		require(!list->route[i].any_prefix || list->route[i].prefix == 0);
		require(!list->route[i].any_router ||
		        list->route[i].router_port_guid == 0);
	}
	arena_free(a);
	return 0;
}

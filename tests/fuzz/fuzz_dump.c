/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Any bytes as a dump of forwarding tables and as one of hops, over a row of three
 * switches: no crash, every bad line is reported, and what is accepted gives tables, or
 * a refusal with a reason, and never a forwarding loop out of hops.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/proof.h"
#include "routing/topogen/topogen.h"
#include "tests/fuzz/fuzz.h"

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

/* Routes with the file under one key. */
static void route(const char *key, const char *path, const struct graph *g,
                  const struct lids *l, struct arena *a)
{
	const struct engine *e = engine_find("file");
	struct route_in in = { .g = g, .lids = l };
	struct option_sets sets = { .n = 0 };
	struct route_out *out = arena_alloc(a, sizeof(*out));
	void *base = arena_alloc(a, e->opt_size);
	struct proof proof;
	struct diags d;

	diags_init(&d, a);
	require(option_sets_add(&sets, e->options, base) == E_OK);
	require(option_set_defaults(&sets, a) == E_OK);
	int ret = option_set(&sets, a, key, path, NULL, 0, &d);
	require(ret == E_OK || ret == E_SYNTAX);
	require((ret == E_OK) == (d.n_errors == 0));
	if (ret != E_OK) {
		return;
	}
	in.options = base;
	ret = e->route(&in, a, out);
	require(ret == E_OK || (ret == E_UNSUITABLE && out->notes.text[0]));
	if (ret != E_OK) {
		return;
	}
	require(proof_run(g, l, &out->lft, &out->lanes, a, &proof) == E_OK);
	require(key[1] == 'f' || proof.forwarding_loops + proof.holes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[] = { "3", "1" };
	struct lids_in in = { .lmc = 1 };
	struct arena *a = arena_new();
	struct graph *g = NULL;
	struct lids l;
	char path[32];

	require(a != NULL);
	require(topogen("mesh", 2, argv, NULL, a, NULL, &g) == E_OK);
	in.g = g;
	require(lids_assign(&in, a, NULL, &l, NULL, NULL) == E_OK);
	int fd = memfd_create("dump", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	route("lfts_file", path, g, &l, a);
	route("lid_matrix_dump_file", path, g, &l, a);
	close(fd);
	arena_free(a);
	return 0;
}

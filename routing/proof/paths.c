/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Path rows and load, column by column: in the order of struct column each switch comes
 * after its next switch, so a path is one cable more than the path of the next switch,
 * and read backwards each switch has received all routes it passes on. Finding the order
 * costs more than either, so one pass makes both. Blocks of LIDs in which everything
 * arrives are done as a whole.
 */
#include "routing/proof/paths.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/lids.h"
#include "routing/proof/paths_int.h"

/* One pass; either may be NULL. */
struct pass {
	struct column_map map;
	struct column *col;         /* [threads] */
	struct column_block *block; /* [threads] for LIDs at which everything arrives */
	struct rows *rows;
	struct sums *sums;
};

static void pass_block(const struct pass *p, unsigned thread, uint32_t lid)
{
	struct column *c = &p->col[thread];

	if (column_block_resolve(&p->map, &p->block[thread], lid)) {
		if (p->rows) {
			rows_block(p->rows, thread, &p->block[thread]);
		}
		if (p->sums) {
			sums_block(p->sums, thread, &p->block[thread]);
		}
		return;
	}
	if (p->rows) {
		rows_clear_block(p->rows, thread);
	}
	column_load_block(&p->map, c, lid);
	for (uint32_t k = 0; k < COLUMN_BLOCK; k++) {
		if (!column_resolve(&p->map, c, lid + k)) {
			continue;
		}
		if (p->rows) {
			rows_column(p->rows, thread, c);
		}
		if (p->sums) {
			sums_column(p->sums, thread, c);
		}
	}
	if (p->rows) {
		rows_store_block(p->rows, thread, lid);
	}
}

/* Builds what is asked for: NULL leaves it out. */
static int build(struct pass *p, const struct lanes *lanes, struct arena *a,
                 struct arena *tmp, struct paths *ret_paths, struct load *ret_load)
{
	uint32_t n_blocks = p->map.lids->top / COLUMN_BLOCK + 1;
	unsigned threads = column_threads();
	int ret = E_OK;

	p->col = column_new(&p->map, threads, tmp);
	p->block = column_blocks_new(&p->map, threads, tmp);
	p->rows = ret_paths ? rows_new(&p->map, lanes, threads, a, tmp) : NULL;
	p->sums = ret_load ? sums_new(&p->map, threads, tmp) : NULL;
	if (!p->col || !p->block || !p->rows != !ret_paths || !p->sums != !ret_load) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n_blocks; i++) {
		pass_block(p, column_thread(), i * COLUMN_BLOCK);
	}
	if (ret_load) {
		ret = sums_load(p->sums, a, tmp, ret_load);
	}
	if (ret == E_OK && ret_paths) {
		*ret_paths = rows_paths(p->rows);
	}
	return ret;
}

int paths_load_build(const struct graph *g, const struct lids *lids,
                     const struct lft *lft, const struct lanes *lanes, struct arena *a,
                     struct paths *ret_paths, struct load *ret_load)
{
	struct arena *tmp = arena_new();
	struct pass p = { 0 };
	int ret = -ENOMEM;

	if (tmp) {
		ret = column_map_init(&p.map, g, lids, lft, tmp);
	}
	if (ret == E_OK) {
		ret = build(&p, lanes, a, tmp, ret_paths, ret_load);
	}
	arena_free(tmp);
	return ret;
}

int load_build(const struct graph *g, const struct lids *lids, const struct lft *lft,
               struct arena *a, struct load *ret_load)
{
	return paths_load_build(g, lids, lft, NULL, a, NULL, ret_load);
}

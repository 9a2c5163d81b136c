/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/dmodc/dmodc.h"

static void add_row(const struct dmodc_reach *r, uint64_t *to, uint32_t s, unsigned k)
{
	const uint64_t *from = dmodc_row(r, s, k);

	for (uint32_t w = 0; w < r->words; w++) {
		to[w] |= from[w];
	}
}

/* What a switch reaches by descending: itself and what those below it do. */
static void descend(const struct dmodc_reach *r, const struct dmodc_tree *t, uint32_t s)
{
	uint64_t *row = dmodc_row(r, s, 0);

	row[s / 64] |= UINT64_C(1) << s % 64;
	for (uint32_t i = t->down.first[s]; i < t->down.first[s + 1]; i++) {
		add_row(r, row, t->down.group[i].to, 0);
	}
}

/* What it reaches by climbing k ranks and no less. */
static void climb(const struct dmodc_reach *r, const struct dmodc_tree *t, uint32_t s,
                  unsigned k)
{
	uint64_t *row = dmodc_row(r, s, k);

	for (uint32_t i = t->up.first[s]; i < t->up.first[s + 1]; i++) {
		add_row(r, row, t->up.group[i].to, k - 1);
	}
	for (unsigned less = 0; less < k; less++) {
		const uint64_t *known = dmodc_row(r, s, less);

		for (uint32_t w = 0; w < r->words; w++) {
			row[w] &= ~known[w];
		}
	}
}

int dmodc_reach_init(struct dmodc_reach *r, const struct dmodc_tree *t, struct arena *a)
{
	struct dmodc_reach x = { .words = (t->n + 63) / 64, .rows = t->height + 1 };

	x.bits = arena_array(a, (size_t)t->n * x.rows * x.words, sizeof(*x.bits));
	if (!x.bits) {
		return -ENOMEM;
	}
	for (unsigned rank = 0; rank <= t->height; rank++) {
#pragma omp parallel for schedule(static)
		for (uint32_t i = t->rank_first[rank]; i < t->rank_first[rank + 1]; i++) {
			descend(&x, t, t->by_rank[i]);
		}
	}
	for (unsigned k = 1; k <= t->height; k++) {
#pragma omp parallel for schedule(static)
		for (uint32_t i = 0; i < t->rank_first[t->height - k + 1]; i++) {
			climb(&x, t, t->by_rank[i], k);
		}
	}
	*r = x;
	return E_OK;
}

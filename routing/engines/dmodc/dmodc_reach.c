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
			uint64_t *row = dmodc_row(&x, t->by_rank[i], 0);

			/* What a switch reaches by descending: itself and what those
			 * below it do. */
			row[t->by_rank[i] / 64] |= UINT64_C(1) << t->by_rank[i] % 64;
			for (uint32_t l = t->down.first[t->by_rank[i]];
			     l < t->down.first[t->by_rank[i] + 1]; l++) {
				add_row(&x, row, t->down.group[l].to, 0);
			}
		}
	}
	for (unsigned k = 1; k <= t->height; k++) {
#pragma omp parallel for schedule(static)
		for (uint32_t i = 0; i < t->rank_first[t->height - k + 1]; i++) {
			uint64_t *row = dmodc_row(&x, t->by_rank[i], k);

			/* What it reaches by climbing k ranks and no less. */
			for (uint32_t other = t->up.first[t->by_rank[i]];
			     other < t->up.first[t->by_rank[i] + 1]; other++) {
				add_row(&x, row, t->up.group[other].to, k - 1);
			}
			for (unsigned less = 0; less < k; less++) {
				const uint64_t *known =
					dmodc_row(&x, t->by_rank[i], less);

				for (uint32_t w = 0; w < x.words; w++) {
					row[w] &= ~known[w];
				}
			}
		}
	}
	*r = x;
	return E_OK;
}

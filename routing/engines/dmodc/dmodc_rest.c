/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Entries for switches, and for all that has no route by rank. */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/dmodc/dmodc_job.h"
#include "routing/graph/lids.h"

enum { LISTED_MAX = 255 };

/* ---- LIDs of switches ---- */

/* All LIDs of a switch at another, over the groups that lead closer, from the first on.
 */
static void fill_switch(const struct dmodc_job *j, uint32_t s, uint32_t t,
                        const struct dmodc_groups *dir, unsigned k)
{
	struct lid_range r = j->lids->of[graph_port(j->g, j->g->switches[t], 0)];
	uint32_t group[LISTED_MAX];
	unsigned n = 0, wanted = 1U << r.lmc;

	for (uint32_t i = dir->first[s]; i < dir->first[s + 1] && n < wanted; i++) {
		if (dmodc_has_bit(dmodc_row(&j->reach, dir->group[i].to, k), t)) {
			group[n++] = i;
		}
	}
	for (unsigned i = 0; r.base && i < wanted; i++) {
		lft_row(j->lft, s)[r.base + i] =
			dmodc_port(j, &dir->group[group[i % n]], i / n);
	}
}

static void fill_switches_at(const struct dmodc_job *j, uint32_t s)
{
	struct lid_range own = j->lids->of[graph_port(j->g, j->g->switches[s], 0)];

	for (unsigned k = 0; k < j->reach.rows; k++) {
		const uint64_t *row = dmodc_row(&j->reach, s, k);
		const struct dmodc_groups *dir = k ? &j->t.up : &j->t.down;
		const uint64_t *all = dmodc_row(&j->reach, s, k);

		/* Switches with one LID, k ranks up: by the first group that leads
		 * closer. */
		for (uint32_t w = 0; w < j->reach.words; w++) {
			uint64_t word = all[w] & j->single[w];

			for (uint32_t i = dir->first[s]; word && i < dir->first[s + 1];
			     i++) {
				const struct dmodc_group *group = &dir->group[i];

				word = order_set_ports(
					j->own, lft_row(j->lft, s), w, word,
					dmodc_row(&j->reach, group->to, k ? k - 1 : 0)[w],
					j->t.port[group->first]);
			}
		}
		for (uint32_t w = 0; w < j->reach.words; w++) {
			for (uint64_t b = row[w] & ~j->single[w]; b; b &= b - 1) {
				uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);

				if (t != s) {
					fill_switch(j, s, t, k ? &j->t.up : &j->t.down,
					            k ? k - 1 : 0);
				}
			}
		}
	}
	for (uint32_t k = 0; own.base && k < 1U << own.lmc; k++) {
		lft_row(j->lft, s)[own.base + k] = 0;
	}
}

void dmodc_fill_switches(const struct dmodc_job *j)
{
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->t.n; s++) {
		fill_switches_at(j, s);
	}
}

/* ---- what has no route by rank ---- */

/* All LIDs of a switch and its hosts at another, dealt over ports. */
static void fill_ports(const struct dmodc_job *j, uint32_t s, uint32_t t,
                       const uint8_t *port, unsigned n)
{
	struct lid_range own = j->lids->of[graph_port(j->g, j->g->switches[t], 0)];
	uint32_t c = j->t.col[t], end = c + dmodc_hosts_on(j->g, t);
	uint8_t *row = lft_row(j->lft, s);

	for (uint32_t k = 0; own.base && k < 1U << own.lmc; k++) {
		row[own.base + k] = port[k % n];
	}
	for (; c < end; c++) {
		uint64_t turn = (uint64_t)dmodc_turn(j, j->t.rank[s], c) + j->t.place[s];

		for (uint32_t k = 0; j->base[c] && k < 1U << j->lmc[c]; k++) {
			row[j->base[c] + k] = port[(turn + k) % n];
		}
	}
}

void dmodc_fill_line(const struct dmodc_job *j)
{
	uint32_t words = j->reach.words;

#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->t.n; s++) {
		for (uint32_t w = 0; w < words; w++) {
			uint64_t b = order_reaches(&j->line, s)[w];

			for (unsigned k = 0; k < j->reach.rows; k++) {
				b &= ~dmodc_row(&j->reach, s, k)[w];
			}
			b |= order_replaced(&j->line, s)[w];
			order_fill_word(&j->line, s, w, b & j->single[w] & ~j->homes[w],
			                j->own, lft_row(j->lft, s));
			b &= ~j->single[w] | j->homes[w];
			for (; b; b &= b - 1) {
				uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);
				uint8_t port[ORDER_PORTS_MAX];

				fill_ports(j, s, t, port,
				           order_ports(&j->line, s, t, port));
			}
		}
	}
}

/* ---- destinations that some switch misses still: over the line alone ---- */

int dmodc_fill_left(const struct dmodc_job *j, struct arena *tmp)
{
	struct order_routes x;
	uint8_t port[ORDER_PORTS_MAX];

	if (order_routes_init(&x, &j->line, tmp) != E_OK) {
		return -ENOMEM;
	}
	for (uint32_t t = 0; t < j->t.n; t++) {
		if (!j->line.left[t]) {
			continue;
		}
		order_routes_find(&x, &j->line, t);
		for (uint32_t s = 0; s < j->t.n; s++) {
			unsigned n = order_routes_ports(&x, &j->line, s, port);

			if (n) {
				fill_ports(j, s, t, port, n);
			}
		}
	}
	return E_OK;
}

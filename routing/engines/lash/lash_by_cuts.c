/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Pairs on lanes by cuts.
 *
 * A route that keeps to the order of dimensions may be on every lane that is cut nowhere
 * where it goes straight on. All such routes together close no cycle, so a look at each
 * route is enough. On a whole mesh or torus those are all there are. Where cables are
 * missing, others have to turn back to an earlier dimension; then the lower lanes are
 * filled first, to leave the upper ones to them, and the dependencies are noted.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/lash/lash_cuts.h"
#include "routing/engines/lash/lash_mesh.h"
#include "routing/engines/lash/lash_work.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"

struct chooser {
	struct lash_job *j;
	const struct lash_mesh *m;
	uint16_t all;                 /* lanes */
	uint16_t *cut[LASH_DIMS_MAX]; /* [size] lanes that are cut at a coordinate */
	/* [n][n] by (t, s): lanes on which the routes from s to t may be */
	uint16_t *lanes;
	uint16_t *scratch; /* [threads][n] */
	bool any_left;
};

static int chooser_init(struct chooser *c)
{
	const struct lash_cuts *cuts = c->j->in->cuts;
	size_t n = c->j->n;

	c->all = (uint16_t)((1U << cuts->n) - 1);
	c->lanes = arena_array(c->j->tmp, n * n, sizeof(*c->lanes));
	c->scratch = arena_array(c->j->tmp, column_threads() * n, sizeof(*c->scratch));
	if (!c->lanes || !c->scratch) {
		return -ENOMEM;
	}
	for (unsigned d = 0; d < c->m->n_dims; d++) {
		c->cut[d] = arena_array(c->j->tmp, c->m->size[d], sizeof(*c->cut[d]));
		if (!c->cut[d]) {
			return -ENOMEM;
		}
		for (unsigned lane = 0; lane < cuts->n; lane++) {
			if (cuts->at[lane][d] != GRAPH_NONE) {
				c->cut[d][cuts->at[lane][d]] |= (uint16_t)(1U << lane);
			}
		}
	}
	return E_OK;
}

/* Lanes on which a route may go on from one channel to the other, at switch v. */
static uint16_t lanes_through(const struct chooser *c, uint32_t v, uint32_t from,
                              uint32_t to)
{
	unsigned d = c->m->dim[from], e = c->m->dim[to];

	if (e < d) {
		return 0;
	}
	return d < e ? c->all
	             : (uint16_t)(c->all &
	                          ~c->cut[d][c->m->at[(size_t)v * LASH_DIMS_MAX + d]]);
}

/* From near to far: the lanes of the next switch, less those that are cut there. */
static void allow_column(const struct chooser *c, uint32_t t, uint32_t col)
{
	const struct lash_job *j = c->j;
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	uint16_t *lanes = c->lanes + (size_t)t * j->n;
	uint16_t *of = c->scratch + (size_t)column_thread() * j->n;

	of[t] = c->all;
	for (unsigned d = 1; d <= j->in->hops->diameter; d++) {
		uint32_t n;
		const uint16_t *at = hops_at(j->in->hops, t, d, &n);

		for (uint32_t i = 0; i < n; i++) {
			uint32_t s = at[i], v = j->g->adj[chan[s]].to;

			of[s] = of[v];
			if (v != t) {
				of[s] &= lanes_through(c, v, chan[s], chan[v]);
			}
			lanes[s] &= of[s];
		}
	}
}

static void allow_all(struct chooser *c)
{
	const struct lash_job *j = c->j;

#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t t = 0; t < j->n; t++) {
		for (uint32_t s = 0; s < j->n; s++) {
			c->lanes[(size_t)t * j->n + s] = c->all;
		}
		for (uint32_t col = j->col_first[t]; col < j->col_first[t + 1]; col++) {
			allow_column(c, t, col);
		}
	}
}

static uint16_t lanes_of(const struct chooser *c, uint32_t s, uint32_t t)
{
	return c->lanes[(size_t)t * c->j->n + s] & c->lanes[(size_t)s * c->j->n + t];
}

/* Are there pairs that may be on no lane? */
static bool find_left(const struct chooser *c)
{
	const struct lash_job *j = c->j;

	for (uint32_t s = 0; s < j->n; s++) {
		for (uint32_t t = s + 1; t < j->n; t++) {
			if (!lanes_of(c, s, t)) {
				return true;
			}
		}
	}
	return false;
}

/* With pairs: all of them, evenly. Else those with hosts, to the lowest lane. */
static void place(struct chooser *c, bool data, uint64_t *pairs)
{
	struct lash_job *j = c->j;

	for (uint32_t s = 0; s < j->n; s++) {
		for (uint32_t t = s + 1; t < j->n; t++) {
			uint16_t lanes = lanes_of(c, s, t);
			unsigned lane;
			unsigned best;

			if (!lanes || hops_between(j->in->hops, s, t) == HOPS_NONE ||
			    (lash_has_hosts(j, s) && lash_has_hosts(j, t)) != data) {
				continue;
			}
			/* Of a set of lanes the lowest, or with even that with
			 * fewest pairs. */
			best = (unsigned)__builtin_ctz(lanes);
			for (unsigned k = best + 1; pairs && k < c->j->in->cuts->n; k++) {
				if (lanes >> k & 1 && pairs[k] < pairs[best]) {
					best = k;
				}
			}
			lane = best;
			j->of[(size_t)s * j->n + t] = (uint8_t)lane;
			j->of[(size_t)t * j->n + s] = (uint8_t)lane;
			if (pairs) {
				pairs[lane]++;
			} else {
				j->lane[lane].pairs++;
				lash_note_pair(j, lane, s, t);
			}
		}
	}
}

int lash_place_by_cuts(struct lash_job *j)
{
	struct chooser c = { .j = j, .m = j->in->mesh };
	uint64_t pairs[LASH_CUTS_MAX] = { 0 };
	int ret = chooser_init(&c);

	if (ret != E_OK) {
		return ret;
	}
	allow_all(&c);
	if (!find_left(&c)) {
		place(&c, true, pairs);
		place(&c, false, pairs);
		j->n_lanes = j->in->cuts->n;
		return E_OK;
	}
	while (ret == E_OK && j->n_lanes < j->in->cuts->n) {
		ret = lash_open_lane(j);
	}
	if (ret == E_OK) {
		place(&c, true, NULL);
	}
	for (unsigned lane = 0; ret == E_OK && lane < j->n_lanes; lane++) {
		cdg_settle(&j->lane[lane].cdg);
	}
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/proof/validate.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

/*
 * Columns are counted in parallel; the sums do not depend on threads. Faults are listed
 * afterwards, in order, and only when there are any.
 */
struct walker {
	const struct column_map *map;
	struct column *col;
	uint8_t *passed; /* [n] a route between hosts comes by */
	struct validation v;
};

/* --- counting ----------------------------------------------------------------------- */

/* Sources on one switch for the present column: its hosts and its own port 0. */
static void count_switch(struct walker *w, uint32_t s)
{
	const struct column *c = w->col;
	uint32_t own = s == c->home; /* the owner is no source for itself */
	uint32_t ends = w->map->n_hosts[s] + 1 - own;
	uint32_t hosts = c->to_host ? w->map->n_hosts[s] - own : 0;
	bool arrives = c->state[s] == COLUMN_ARRIVES;

	w->v.analyzed += ends;
	w->v.host_analyzed += hosts;
	w->v.incomplete += arrives ? 0 : ends;
	w->v.host_incomplete += arrives ? 0 : hosts;
	w->v.decisions += arrives ? hosts : 0;
	w->passed[s] = arrives && hosts > 0;
}

/* Against their order, a switch has been marked by all that send through it. */
static void count_decisions(struct walker *w)
{
	const struct column *c = w->col;

	for (uint32_t i = c->n_order; i-- > 0;) {
		uint32_t s = c->order[i];

		w->v.decisions += w->passed[s];
		if (i > 0 && w->passed[s]) {
			w->passed[c->next[s]] = 1;
		}
	}
}

static const uint32_t *members(const struct walker *w, uint32_t *ret_n)
{
	const struct column_map *m = w->map;
	uint32_t part = m->part[w->col->home];

	*ret_n = m->part_first[part + 1] - m->part_first[part];
	return m->member + m->part_first[part];
}

static void count_column(struct walker *w)
{
	uint32_t n;
	const uint32_t *member = members(w, &n);

	for (uint32_t i = 0; i < n; i++) {
		count_switch(w, member[i]);
	}
	if (w->col->to_host) {
		count_decisions(w);
	}
}

static void count_block(struct walker *w, uint32_t first)
{
	column_load_block(w->map, w->col, first);
	for (uint32_t lid = first; lid < first + COLUMN_BLOCK && lid <= w->map->lids->top;
	     lid++) {
		if (lid && column_resolve(w->map, w->col, lid)) {
			count_column(w);
		}
	}
}

static void add_counts(struct validation *sum, const struct validation *v)
{
	sum->analyzed += v->analyzed;
	sum->incomplete += v->incomplete;
	sum->host_analyzed += v->host_analyzed;
	sum->host_incomplete += v->host_incomplete;
	sum->decisions += v->decisions;
}

static int count_all(const struct column_map *m, struct arena *tmp,
                     struct walker **ret_walker)
{
	unsigned threads = column_threads();
	struct walker *w = arena_array(tmp, threads, sizeof(*w));
	struct column *cols = column_new(m, threads, tmp);

	if (!w || !cols) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < threads; i++) {
		w[i] = (struct walker){ .map = m, .col = &cols[i] };
		w[i].passed = arena_array(tmp, m->n, sizeof(*w[i].passed));
		if (!w[i].passed) {
			return -ENOMEM;
		}
	}
#pragma omp parallel for schedule(dynamic)
	for (uint32_t block = 0; block <= m->lids->top / COLUMN_BLOCK; block++) {
		count_block(&w[column_thread()], block * COLUMN_BLOCK);
	}
	for (unsigned i = 1; i < threads; i++) {
		add_counts(&w[0].v, &w[i].v);
	}
	*ret_walker = w;
	return E_OK;
}

/* --- listing ------------------------------------------------------------------------ */

/* Where a route ends that does not arrive. */
static uint32_t end_of(const struct column *c, uint32_t s)
{
	while (c->state[s] == COLUMN_TO_HOLE) {
		s = c->next[s];
	}
	return s;
}

static void list_fault(struct walker *w, uint32_t src, uint32_t s, uint32_t max)
{
	if (w->v.n_list < max && src != w->col->owner) {
		w->v.list[w->v.n_list++] = (struct validate_route){
			.src = src,
			.lid = w->col->lid,
			.at = end_of(w->col, s),
			.fault = w->col->state[s] == COLUMN_LOOP ? VALIDATE_LOOP
			                                         : VALIDATE_HOLE,
		};
	}
}

static void list_column(struct walker *w, uint32_t max)
{
	const struct graph *g = w->map->g;
	uint32_t n;
	const uint32_t *member = members(w, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = member[i];

		if (w->col->state[s] == COLUMN_ARRIVES) {
			continue;
		}
		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
			list_fault(w, g->hosts[h], s, max);
		}
		list_fault(w, g->nodes[g->switches[s]].first_port, s, max);
	}
}

static void list_all(struct walker *w, uint32_t max)
{
	for (uint32_t lid = 0; lid <= w->map->lids->top && w->v.n_list < max; lid++) {
		if (lid % COLUMN_BLOCK == 0) {
			column_load_block(w->map, w->col, lid);
		}
		if (lid && column_resolve(w->map, w->col, lid)) {
			list_column(w, max);
		}
	}
}

int validate_routes(const struct graph *g, const struct lids *lids, const struct lft *lft,
                    uint32_t list_max, struct arena *a, struct validation *ret_validation)
{
	struct arena *tmp = arena_new();
	struct column_map map;
	struct walker *w = NULL;
	int ret = tmp ? column_map_init(&map, g, lids, lft, tmp) : -ENOMEM;

	if (ret == E_OK) {
		ret = count_all(&map, tmp, &w);
	}
	if (ret != E_OK) {
		goto out;
	}
	if (w->v.incomplete < list_max) {
		list_max = (uint32_t)w->v.incomplete;
	}
	w->v.list = arena_array(a, list_max, sizeof(*w->v.list));
	if (!w->v.list) {
		ret = -ENOMEM;
		goto out;
	}
	list_all(w, list_max);
	*ret_validation = w->v;
out:
	arena_free(tmp);
	return ret;
}

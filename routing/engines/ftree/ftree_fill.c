/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Fills the tables. Of the links that lead closer, each switch takes the one on the main
 * route of the host. Where the main route is cut, and at switches that it does not pass, the
 * host's number selects one of the links that lead closer; such entries are marked in "off".
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/column.h"
#include "routing/graph/lids.h"

enum { LINKS_MAX = 256 };

/* Links of one switch that lead closer to another, and where each class starts. */
struct choice {
	unsigned n;
	const struct ftree_link *link[LINKS_MAX];
	bool up;
};

struct worker {
	const struct ftree *f;
	uint32_t s;
	struct choice c;
	uint32_t *at; /* [n_classes] first of the class in c.link + 1, 0: none */
};

static void index_classes(struct worker *w, bool set)
{
	for (unsigned i = w->c.n; i-- > 0;) {
		if (w->c.link[i]->class != GRAPH_NONE) {
			w->at[w->c.link[i]->class] = set ? i + 1 : 0;
		}
	}
}

/* The link of the main route. \return NULL: it is cut. */
static const struct ftree_link *main_link(const struct worker *w,
                                          const struct ftree_stage *stage)
{
	const struct choice *c = &w->c;
	unsigned r = w->f->rank[w->s], i;

	if (c->up && r == 0) {
		return NULL; /* a cable between two switches of the top rank */
	}
	if (!c->up) { /* the class is that of this end; mostly one link leads down */
		for (i = 0; i < c->n; i++) {
			if (c->link[i]->cable == stage->cable) {
				return c->link[i];
			}
		}
		return NULL;
	}
	if (stage->class == GRAPH_NONE || !w->at[stage->class]) {
		return NULL;
	}
	i = w->at[stage->class] - 1 + stage->cable;
	return i < c->n && c->link[i]->class == stage->class ? c->link[i] : NULL;
}

/* Would the main route of the host pass this switch if no cable were missing? */
static bool on_main(const struct ftree *f, uint32_t s, uint32_t h)
{
	return f->g->host_first[s] != f->g->host_first[s + 1] ||
	       ftree_stage(f, f->rank[s], h)->class == f->class[s];
}

static bool fill_hosts(struct worker *w, uint32_t t)
{
	const struct ftree *f = w->f;
	uint8_t *row = lft_row(f->lft, w->s);
	uint8_t *off = f->off + (size_t)w->s * f->off_stride;
	unsigned r = f->rank[w->s] - (w->c.up && f->rank[w->s] > 0);
	bool broken = false;

	for (uint32_t h = f->g->host_first[t]; h < f->g->host_first[t + 1]; h++) {
		const struct ftree_stage *stage = ftree_stage(f, r, h);
		const struct ftree_link *l = main_link(w, stage);

		if (!f->lid[h]) {
			continue;
		}
		if (!l) {
			l = w->c.link[stage->quotient % w->c.n];
			off[h / 8] |= (uint8_t)(1U << h % 8);
			broken = broken || on_main(f, w->s, h);
		}
		row[f->lid[h]] = l->port;
	}
	return broken;
}

/* The LID of a switch: its number selects one of the links that lead closer. */
static void fill_switch(const struct worker *w, uint32_t t)
{
	const struct ftree *f = w->f;
	uint32_t lid = f->lids->of[graph_port(f->g, f->g->switches[t], 0)].base;
	bool up = ftree_dist(f, w->s, t) & FTREE_UP;
	const struct ftree_link *l =
		f->link + (up ? f->first[w->s] : f->first_down[w->s]);
	uint32_t n =
		(up ? f->first_down[w->s] : f->first[w->s + 1]) - (uint32_t)(l - f->link);
	uint32_t i = t % n;

	if (!lid) {
		return;
	}
	while (!ftree_closer(f, w->s, l[i].to, up, t)) {
		i = i + 1 == n ? 0 : i + 1;
	}
	lft_row(f->lft, w->s)[lid] = l[i].port;
}

static bool fill_row(struct worker *w)
{
	const struct ftree *f = w->f;
	const struct graph *g = f->g;
	bool broken = false;
	uint8_t *row = lft_row(f->lft, w->s);
	uint32_t own = f->lids->of[graph_port(g, g->switches[w->s], 0)].base;

	if (own) {
		row[own] = 0;
	}
	for (uint32_t h = g->host_first[w->s]; h < g->host_first[w->s + 1]; h++) {
		if (f->lid[h]) {
			row[f->lid[h]] = g->ports[g->ports[g->hosts[h]].peer].num;
		}
	}
	for (uint32_t t = 0; t < f->n; t++) {
		if (t == w->s || ftree_dist(f, w->s, t) == FTREE_NONE) {
			continue;
		}
		fill_switch(w, t);
		if (f->g->host_first[t] != f->g->host_first[t + 1]) {
			struct choice *c = &w->c;
			uint32_t i, end;

			c->up = ftree_dist(f, w->s, t) & FTREE_UP;
			i = c->up ? f->first[w->s] : f->first_down[w->s];
			end = c->up ? f->first_down[w->s] : f->first[w->s + 1];
			c->n = 0;
			for (; i < end; i++) {
				if (ftree_closer(f, w->s, f->link[i].to, c->up, t)) {
					c->link[c->n++] = &f->link[i];
				}
			}
			index_classes(w, true);
			broken |= fill_hosts(w, t);
			index_classes(w, false);
		}
	}
	return broken;
}

int ftree_fill(struct ftree *f, struct arena *a)
{
	unsigned threads = column_threads();
	uint32_t **at = arena_array(a, threads, sizeof(*at));
	bool broken = false;

	f->off_stride = ((size_t)f->n_hosts / 8 + 64) & ~(size_t)63;
	f->off = arena_array(a, f->n + 1u, f->off_stride);
	if (!at || !f->off) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < threads; i++) {
		at[i] = arena_array(a, f->n_classes + 16u, sizeof(**at));
		if (!at[i]) {
			return -ENOMEM;
		}
	}
#pragma omp parallel reduction(|| : broken)
	{
		struct worker w = { .f = f, .at = at[column_thread()] };

#pragma omp for schedule(dynamic, 8)
		for (uint32_t s = 0; s < f->n; s++) {
			w.s = s;
			broken |= fill_row(&w);
		}
	}
	f->broken = broken;
	return E_OK;
}

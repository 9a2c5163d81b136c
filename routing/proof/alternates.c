/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Alternates of equal cost, in two passes. The first walks the columns of the tables and
 * writes down how many hops every switch is away from every LID; the second takes the
 * switches one by one and compares their row of distances with those of their neighbours,
 * byte by byte. LIDs on one switch that are equally far from everywhere, as with tables of
 * shortest paths all of them are, are compared once.
 */
#include "routing/proof/alternates.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/alternates_int.h"

/* --- distances ---------------------------------------------------------------------- */

/* By LID at first. */
struct by_lid {
	const struct column_map *m;
	uint8_t *rows; /* [n][stride] */
	size_t stride;
	uint32_t *home; /* [top + 1] */
	uint32_t *like; /* [top + 1] the first LID on this switch, or itself: same distances */
};

/* By the order of the column: each switch comes after its next. */
static void fill_column(const struct by_lid *d, const struct column *c)
{
	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i];
		unsigned hops = i ? d->rows[c->next[s] * d->stride + c->lid] + 1U : 0;

		d->rows[s * d->stride + c->lid] = hops < FAR ? (uint8_t)hops : FAR;
	}
}

static int fill_columns(struct by_lid *d, struct arena *tmp)
{
	const struct column_map *m = d->m;
	struct column *cols = column_new(m, column_threads(), tmp);
	uint32_t top = m->lids->top;

	if (!cols) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic)
	for (uint32_t block = 0; block <= top / COLUMN_BLOCK; block++) {
		struct column *c = &cols[column_thread()];
		uint32_t first = block * COLUMN_BLOCK;

		column_load_block(m, c, first);
		for (uint32_t lid = first; lid < first + COLUMN_BLOCK && lid <= top; lid++) {
			if (lid && column_resolve(m, c, lid) && c->to_host) {
				d->home[lid] = c->home;
				fill_column(d, c);
			}
		}
	}
	return E_OK;
}

static bool same_column(const struct by_lid *d, uint32_t a, uint32_t b)
{
	for (uint32_t s = 0; s < d->m->n; s++) {
		if (d->rows[s * d->stride + a] != d->rows[s * d->stride + b]) {
			return false;
		}
	}
	return true;
}

/* Each LID against the first one on its switch. */
static int find_classes(struct by_lid *d, struct arena *tmp)
{
	uint32_t *first = arena_array(tmp, d->m->n, sizeof(*first)), top = d->m->lids->top;

	if (!first) {
		return -ENOMEM;
	}
	for (uint32_t lid = top; lid > 0; lid--) {
		if (d->home[lid] != GRAPH_NONE) {
			first[d->home[lid]] = lid;
		}
	}
#pragma omp parallel for schedule(static, 64)
	for (uint32_t lid = 1; lid <= top; lid++) {
		uint32_t like = d->home[lid] == GRAPH_NONE ? lid : first[d->home[lid]];

		d->like[lid] = same_column(d, like, lid) ? like : lid;
	}
	return E_OK;
}

/* Classes by their first LID, and rows by class. */
static int pack(struct distances *d, const struct by_lid *from, struct arena *tmp)
{
	uint32_t top = from->m->lids->top;

	*d = (struct distances){ .home = from->home };
	d->class_of = arena_array(tmp, top + 1U, sizeof(*d->class_of));
	d->class_home = arena_array(tmp, top + 1U, sizeof(*d->class_home));
	uint32_t *lid_of = arena_array(tmp, top + 1U, sizeof(*lid_of));

	if (!d->class_of || !d->class_home || !lid_of) {
		return -ENOMEM;
	}
	for (uint32_t lid = 1; lid <= top; lid++) {
		if (d->home[lid] == GRAPH_NONE) {
			continue;
		}
		if (from->like[lid] == lid) {
			d->class_of[lid] = d->n_classes;
			d->class_home[d->n_classes] = d->home[lid];
			lid_of[d->n_classes++] = lid;
		} else {
			d->class_of[lid] = d->class_of[from->like[lid]];
		}
	}
	d->stride = ((size_t)d->n_classes + 63) & ~(size_t)63;
	d->rows = arena_array(tmp, from->m->n, d->stride);
	if (!d->rows) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < from->m->n; s++) {
		for (uint32_t i = 0; i < d->n_classes; i++) {
			d->rows[s * d->stride + i] = from->rows[s * from->stride + lid_of[i]];
		}
	}
	return E_OK;
}

/* Cost: O(S * L), parallel. */
static int count_distances(struct distances *d, const struct column_map *m,
                           struct arena *tmp)
{
	struct by_lid x = { .m = m, .stride = m->lft->stride };
	uint32_t n_lids = m->lids->top + 1U;
	int ret;

	x.rows = arena_array(tmp, m->n, x.stride);
	x.home = arena_array(tmp, n_lids, sizeof(*x.home));
	x.like = arena_array(tmp, n_lids, sizeof(*x.like));
	if (!x.rows || !x.home || !x.like) {
		return -ENOMEM;
	}
	memset(x.rows, FAR, m->n * x.stride);
	memset(x.home, 0xff, n_lids * sizeof(*x.home));
	ret = fill_columns(&x, tmp);
	if (ret == E_OK) {
		ret = find_classes(&x, tmp);
	}
	return ret == E_OK ? pack(d, &x, tmp) : ret;
}

/* --- ports of equal cost ------------------------------------------------------------ */

enum { RATES = 256, NOT_YET = UINT32_MAX };

/* Working memory of one thread for one switch. */
struct finder {
	const struct column_map *m;
	const struct distances *d;
	struct port_set *nearer;  /* [n_classes] ports to switches that are nearer by one */
	struct port_set *common;  /* [n] of all LIDs on a switch, for coarse ones */
	struct port_set *of_rate; /* [RATES] ports whose cable has this rate */
	uint8_t rate[256];        /* by port */
	struct port_collector *collector;
	uint32_t *known;  /* [n_classes] number of the set, with the rate it is for in known_rate */
	uint8_t *known_rate;
	uint32_t *number; /* [top + 1] of the collector */
	uint64_t routes, served, full;
};

static uint8_t rate_of(const struct graph *g, uint32_t s, unsigned port)
{
	const struct node *n = &g->nodes[g->switches[s]];
	const struct port *p = &g->ports[n->first_port + port];

	return port <= n->n_ports ? link_rate(p->width, p->speed) : 0;
}

static void load_rates(struct finder *f, uint32_t s)
{
	memset(f->of_rate, 0, RATES * sizeof(*f->of_rate));
	for (unsigned p = 0; p < 256; p++) {
		f->rate[p] = rate_of(f->m->g, s, p);
		port_set_add(&f->of_rate[f->rate[p]], p);
	}
}

static void mark_neighbours(struct finder *f, uint32_t s)
{
	const struct graph *g = f->m->g;
	const struct distances *d = f->d;
	const uint8_t *own = d->rows + s * d->stride;

	memset(f->nearer, 0, d->n_classes * sizeof(*f->nearer));
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		const struct sw_link *l = &g->adj[i];
		const uint8_t *its = d->rows + l->to * d->stride;

		for (uint32_t k = 0; k < d->n_classes; k++) {
			uint64_t nearer = (uint8_t)(its[k] + 1) == own[k];

			f->nearer[k].word[l->port / 64] |= nearer << l->port % 64;
		}
	}
}

/* Is there a route to this LID that passes another switch? */
static bool is_route(const struct finder *f, uint32_t s, uint32_t lid)
{
	if (f->d->home[lid] == GRAPH_NONE) {
		return false;
	}
	uint8_t hops = distance(f->d, s, lid);

	return hops != 0 && hops != FAR;
}

static void cut(struct port_set *s, const struct port_set *with)
{
	for (unsigned w = 0; w < PORT_SET_WORDS; w++) {
		s->word[w] &= with->word[w];
	}
}

/* Shared by all LIDs on a switch. */
static void find_common(struct finder *f)
{
	memset(f->common, 0xff, f->m->n * sizeof(*f->common));
	for (uint32_t k = 0; k < f->d->n_classes; k++) {
		cut(&f->common[f->d->class_home[k]], &f->nearer[k]);
	}
	for (uint32_t k = 0; k < f->d->n_classes; k++) {
		f->nearer[k] = f->common[f->d->class_home[k]];
	}
}

/* Number of the set for a class and the rate of a port; NOT_YET: no alternates, or memory
 * is out, which the collector knows of. */
static uint32_t number_of(struct finder *f, uint32_t class, uint8_t rate)
{
	struct port_set set;

	if (f->known_rate[class] == rate && f->known[class] != NOT_YET) {
		return f->known[class];
	}
	set = f->nearer[class];
	cut(&set, &f->of_rate[rate]);
	if (port_set_count(&set) < 2) {
		return NOT_YET;
	}
	f->known_rate[class] = rate;
	f->known[class] = port_collector_add(f->collector, &set);
	return f->known[class];
}

static int collect(struct finder *f, uint32_t s)
{
	const uint8_t *entry = lft_row(f->m->lft, s);

	port_collector_clear(f->collector);
	memset(f->known, 0xff, f->d->n_classes * sizeof(*f->known));
	for (uint32_t lid = 0; lid <= f->m->lids->top; lid++) {
		uint32_t class = f->d->class_of[lid];

		f->number[lid] = NOT_YET;
		if (!is_route(f, s, lid)) {
			continue;
		}
		f->routes++;
		if (!port_set_has(&f->nearer[class], entry[lid])) {
			continue;
		}
		f->number[lid] = number_of(f, class, f->rate[entry[lid]]);
		if (f->number[lid] != NOT_YET) {
			port_collector_want(f->collector, f->number[lid]);
		}
	}
	return port_collector_failed(f->collector) ? -ENOMEM : E_OK;
}

static void write_row(struct finder *f, const uint8_t *final, uint8_t *row)
{
	for (uint32_t lid = 1; lid <= f->m->lids->top; lid++) {
		if (f->number[lid] != NOT_YET) {
			row[lid] = final[f->number[lid]];
			f->served += row[lid] != PORT_GROUP_NONE;
			f->full += row[lid] == PORT_GROUP_NONE;
		}
	}
}

static int do_switch(struct finder *f, uint32_t s, const struct adaptive_options *o,
                     struct arena *a, struct alternates *x)
{
	const uint8_t *final;
	int ret;

	load_rates(f, s);
	mark_neighbours(f, s);
	if (!o->fine_grained) {
		find_common(f);
	}
	ret = collect(f, s);
	if (ret != E_OK) {
		return ret;
	}
#pragma omp critical(alternates_arena) /* one thread fills an arena */
	ret = port_collector_finish(f->collector, o->port_groups, a, &x->groups[s], &final);
	if (ret == E_OK) {
		write_row(f, final, x->rows + s * x->stride);
	}
	return ret;
}

/* --- all switches ------------------------------------------------------------------- */

static int finder_init(struct finder *f, const struct column_map *m,
                       const struct distances *d, struct arena *tmp)
{
	uint32_t n = d->n_classes;

	*f = (struct finder){ .m = m, .d = d };
	f->nearer = arena_array(tmp, n, sizeof(*f->nearer));
	f->common = arena_array(tmp, m->n, sizeof(*f->common));
	f->of_rate = arena_array(tmp, RATES, sizeof(*f->of_rate));
	f->known = arena_array(tmp, n, sizeof(*f->known));
	f->known_rate = arena_alloc(tmp, n);
	f->number = arena_array(tmp, m->lids->top + 1U, sizeof(*f->number));
	f->collector = port_collector_new();
	return f->nearer && f->common && f->of_rate && f->known && f->known_rate &&
	                       f->number && f->collector
	               ? E_OK
	               : -ENOMEM;
}

static int find_all(const struct column_map *m, const struct distances *d,
                    const struct adaptive_options *o, struct arena *a, struct arena *tmp,
                    struct alternates *x)
{
	unsigned threads = column_threads();
	struct finder *f = arena_array(tmp, threads, sizeof(*f));
	int ret = f ? E_OK : -ENOMEM;

	for (unsigned i = 0; ret == E_OK && i < threads; i++) {
		ret = finder_init(&f[i], m, d, tmp);
	}
	if (ret != E_OK) {
		goto out;
	}
#pragma omp parallel for schedule(dynamic)
	for (uint32_t s = 0; s < m->n; s++) {
		if (do_switch(&f[column_thread()], s, o, a, x) != E_OK) {
#pragma omp atomic write
			ret = -ENOMEM;
		}
	}
	for (unsigned i = 0; i < threads; i++) {
		x->routes += f[i].routes;
		x->served += f[i].served;
		x->full += f[i].full;
	}
out:
	for (unsigned i = 0; f && i < threads; i++) {
		port_collector_free(f[i].collector);
	}
	return ret;
}

int alternates_build(const struct graph *g, const struct lids *lids,
                     const struct lft *lft, const struct adaptive_options *o,
                     struct arena *a, struct alternates *ret_alternates)
{
	struct arena *tmp = arena_new();
	struct alternates x = { .stride = lft->stride };
	struct column_map m;
	struct distances d;
	int ret = tmp ? column_map_init(&m, g, lids, lft, tmp) : -ENOMEM;

	if (ret == E_OK) {
		ret = count_distances(&d, &m, tmp);
	}
	if (ret != E_OK) {
		goto out;
	}
	x.rows = arena_alloc(a, g->n_switches * x.stride);
	x.groups = arena_array(a, g->n_switches, sizeof(*x.groups));
	if (!x.rows || !x.groups) {
		ret = -ENOMEM;
		goto out;
	}
	memset(x.rows, PORT_GROUP_NONE, g->n_switches * x.stride);
	ret = find_all(&m, &d, o, a, tmp, &x);
	if (ret == E_OK) {
		*ret_alternates = x;
	}
out:
	arena_free(tmp);
	return ret;
}

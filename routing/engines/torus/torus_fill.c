/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Routes on the torus, one source switch after the other.
 *
 * A packet goes along x until its x is right, then y, then z. On a ring it takes the
 * shorter way; where both are as long, half of the destinations take either. An SL says
 * for each dimension whether that way crosses the dateline, between the last coordinate
 * and 0. It says so of the torus without failures, so it never changes.
 *
 * In a ring with a gap a packet goes the way that is left. Where the switch at which it
 * would leave the ring is missing, it goes towards that switch as far as it can, takes
 * one hop in the next dimension instead, and then the last hop that it still needs: the
 * only turn against the order of dimensions, and the rule gives the hop behind it a VL of
 * its own.
 *
 * Why no two halves of ties can close a ring: on each VL and in each direction, a way
 * that crosses the dateline begins in the far half and ends in the near one, so that the
 * hop between the halves on the other side is never taken.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/torus/torus.h"
#include "routing/graph/lids.h"

enum { PARITIES = 2, NO_DIR = TORUS_DIRS };

/* What a source does about one coordinate of a destination. */
struct way {
	uint8_t dir;  /* TORUS_DIRS: nothing, look at the next dimension */
	uint8_t lane; /* bit of the dimension if the healthy way crosses the dateline */
};

/* End ports by destination switch, in the order in which they are served. */
struct dest {
	uint32_t cell;
	uint32_t first, end; /* of ends */
};

struct end {
	uint32_t base;
	uint16_t n_lids;
	uint8_t port; /* of its switch; 0: the switch's own */
};

struct filler {
	const struct torus *t;
	const struct route_in *in;
	struct lft *lft;
	struct lanes *lanes;
	struct dest *dest; /* [n_switches] by cell, then those without one */
	uint32_t n_dest;
	struct end *end;
	uint32_t n_ends;
	uint32_t table; /* ways of one source: sum of radices times PARITIES */
};

/* Working memory of one source. */
struct source {
	uint32_t s, cell;
	struct way *way[TORUS_DIMS];   /* [radix][PARITIES] */
	uint32_t count[TORUS_DIRS][2]; /* end ports sent that way: of switches, others */
};

/* ---- ways ---- */

/* Direction of the healthy way; ties by parity of the source's coordinate and of the
 * destination's others, so that both ways are used alike. */
static unsigned healthy(const struct torus *t, unsigned d, uint32_t from, uint32_t to,
                        unsigned parity)
{
	uint32_t radix = t->radix[d], ahead = (to + radix - from) % radix;

	if (!t->closed[d]) {
		return 2 * d + (to < from);
	}
	if (2 * ahead == radix) {
		return 2 * d + ((from + parity) & 1);
	}
	return 2 * d + (2 * ahead > radix);
}

/* Does the way from one coordinate to another in a direction pass the gap behind at? */
static bool passes_gap(const struct torus *t, unsigned dir, uint32_t from, uint32_t to,
                       uint32_t at)
{
	uint32_t radix = t->radix[dir / 2];

	if (dir % 2) {
		uint32_t swap = from;

		from = to;
		to = swap;
	}
	return (at + radix - from) % radix < (to + radix - from) % radix;
}

/* Fills the ways of a source in one dimension. */
static void fill_ways(const struct torus *t, struct source *src, unsigned d)
{
	uint32_t from = torus_coordinate(t, src->cell, d);
	uint32_t gap = t->gap[d][src->cell];

	for (uint32_t to = 0; to < t->radix[d]; to++) {
		bool missing = t->sw[torus_moved(t, src->cell, d, to)] == GRAPH_NONE;

		for (unsigned parity = 0; parity < PARITIES; parity++) {
			struct way *w = &src->way[d][to * PARITIES + parity];
			unsigned dir = healthy(t, d, from, to, parity);

			w->dir = (uint8_t)dir;
			w->lane = (uint8_t)((dir % 2 ? to > from : to < from) << d);
			if (to == from) {
				*w = (struct way){ .dir = NO_DIR };
			} else if (missing) {
				bool on = t->group[src->s * TORUS_DIRS + dir].n;

				w->dir = (uint8_t)(on ? dir : NO_DIR);
			} else if (gap != TORUS_NO_GAP &&
			           passes_gap(t, dir, from, to, gap)) {
				w->dir ^= 1;
			}
		}
	}
}

/* ---- rows ---- */

static void deliver(const struct filler *f, uint32_t s, const struct dest *to)
{
	uint8_t *row = lft_row(f->lft, s);

	for (uint32_t i = to->first; i < to->end; i++) {
		memset(row + f->end[i].base, f->end[i].port, f->end[i].n_lids);
	}
}

static void route_source(struct filler *f, struct source *src)
{
	const struct torus *t = f->t;

	memset(src->count, 0, sizeof(src->count));
	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		fill_ways(t, src, d);
	}
	for (uint32_t i = 0; i < f->n_dest && f->dest[i].cell != GRAPH_NONE; i++) {
		const struct dest *to = &f->dest[i];
		uint32_t c[TORUS_DIMS], sum = 0;
		unsigned dir = NO_DIR;
		uint8_t lane = 0;

		for (unsigned d = 0; d < TORUS_DIMS; d++) {
			c[d] = torus_coordinate(t, to->cell, d);
			sum += c[d];
		}
		for (unsigned d = 0; d < TORUS_DIMS; d++) {
			const struct way *w =
				&src->way[d][c[d] * PARITIES + ((sum - c[d]) & 1)];

			dir = dir == NO_DIR ? w->dir : dir;
			lane |= w->lane;
		}
		if (to->cell == src->cell) {
			deliver(f, src->s, to);
		} else if (dir != NO_DIR) {
			const struct torus_group *g =
				&f->t->group[src->s * TORUS_DIRS + dir];
			uint8_t *row = lft_row(f->lft, src->s);
			uint8_t *lanes =
				f->lanes->rows + (size_t)src->s * f->lanes->stride;

			for (uint32_t l = to->first; l < to->end; l++) {
				const struct end *e = &f->end[l];
				uint32_t *count = &src->count[dir][e->port != 0];

				for (uint32_t k = 0; k < e->n_lids; k++) {
					row[e->base + k] =
						g->port[g->n == 1 ? 0
					                          : (*count + k) % g->n];
					lanes[e->base + k] = lane;
				}
				++*count;
			}
		}
	}
}

static bool cancelled(const struct filler *f)
{
	return f->in->cancel && *f->in->cancel;
}

static int route_all(struct filler *f)
{
	const struct torus *t = f->t;
	int ret = E_OK;

#pragma omp parallel
	{
		struct arena *own = arena_new();
		struct way *ways = own ? arena_array(own, f->table, sizeof(*ways)) : NULL;
		struct source src = { 0 };

		for (unsigned d = 0; ways && d < TORUS_DIMS; d++) {
			src.way[d] = ways;
			ways += t->radix[d] * PARITIES;
		}
#pragma omp for schedule(dynamic, 16)
		for (uint32_t i = 0; i < f->n_dest; i++) {
			src.cell = f->dest[i].cell;
			if (!ways) {
				__atomic_store_n(&ret, -ENOMEM, __ATOMIC_RELAXED);
			} else if (src.cell != GRAPH_NONE && !cancelled(f)) {
				src.s = t->sw[src.cell];
				route_source(f, &src);
			}
		}
		arena_free(own);
	}
	if (ret == E_OK && cancelled(f)) {
		return -ECANCELED;
	}
	return ret;
}

/* ---- destinations ---- */

static void add_end(struct filler *f, uint32_t port, uint8_t num)
{
	struct lid_range r = f->in->lids->of[port];

	if (r.base) {
		f->end[f->n_ends++] = (struct end){ .base = r.base,
			                            .n_lids = (uint16_t)(1U << r.lmc),
			                            .port = num };
	}
}

static void add_dest(struct filler *f, uint32_t s, uint32_t cell)
{
	struct dest *to = &f->dest[f->n_dest++];
	const struct graph *g;
	const struct torus_conf *c;
	const uint32_t *host;
	uint32_t n;

	to->cell = cell;
	to->first = f->n_ends;
	/* Hosts by port_order, then by port; the switch itself last. */
	g = f->t->g;
	c = f->t->conf;
	host = g->hosts + g->host_first[s];
	n = g->host_first[s + 1] - g->host_first[s];
	for (unsigned k = 0; k < c->n_order; k++) {
		for (uint32_t i = 0; i < n; i++) {
			if (g->ports[g->ports[host[i]].peer].num == c->order[k]) {
				add_end(f, host[i], c->order[k]);
			}
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		uint8_t num = g->ports[g->ports[host[i]].peer].num;

		if (!memchr(c->order, num, c->n_order)) {
			add_end(f, host[i], num);
		}
	}
	add_end(f, g->nodes[g->switches[s]].first_port, 0);
	to->end = f->n_ends;
	if (cell == GRAPH_NONE) {
		deliver(f, s, to);
	}
}

static int list_dests(struct filler *f, struct arena *tmp)
{
	const struct torus *t = f->t;

	f->dest = arena_array(tmp, t->g->n_switches, sizeof(*f->dest));
	f->end = arena_array(tmp, t->g->n_end_ports, sizeof(*f->end));
	if (!f->dest || !f->end) {
		return -ENOMEM;
	}
	for (uint32_t cell = 0; cell < t->n_cells; cell++) {
		if (t->sw[cell] != GRAPH_NONE) {
			add_dest(f, t->sw[cell], cell);
		}
	}
	for (uint32_t s = 0; s < t->g->n_switches; s++) {
		if (t->cell[s] == GRAPH_NONE) {
			add_dest(f, s, GRAPH_NONE);
		}
	}
	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		f->table += t->radix[d] * PARITIES;
	}
	return E_OK;
}

int torus_fill(const struct torus *t, const struct route_in *in, struct arena *a,
               struct lft *lft, struct lanes *lanes)
{
	struct arena *tmp = arena_new();
	struct filler f = { .t = t, .in = in, .lft = lft, .lanes = lanes };
	int ret = tmp ? lft_init(lft, t->g->n_switches, in->lids->top, a) : -ENOMEM;

	if (ret == E_OK) {
		unsigned n;

		lanes->stride = lft->stride;
		/* A lane per combination of closed dimensions. */
		n = 1;
		for (unsigned d = 0; d < TORUS_DIMS; d++) {
			n = t->closed[d] ? 2U << d : n;
		}
		lanes->n = (uint8_t)n;
		lanes->rows = arena_array(a, t->g->n_switches, lanes->stride);
		ret = lanes->rows ? list_dests(&f, tmp) : -ENOMEM;
	}
	if (ret == E_OK) {
		ret = route_all(&f);
	}
	arena_free(tmp);
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Routes on the torus, computed for each source switch.
 *
 * A packet goes along x until its x is right, then along y, then along z. On a ring it takes
 * the shorter direction. If both are equally long, half of the destinations use each. The SL
 * says for each dimension whether this path crosses the dateline, between the last
 * coordinate and 0. It refers to the torus without failures, so it never changes.
 *
 * In a ring with a gap a packet takes the remaining direction. If the switch at which it
 * would leave the ring is missing, it goes as near to that switch as possible, takes one hop
 * in the next dimension, and then the last hop that it still needs. This is the only turn
 * against the order of dimensions, and the SL-to-VL rule gives the hop after it a VL of its
 * own.
 *
 * Equally long paths cannot close a ring: on each VL and in each direction, a path that
 * crosses the dateline begins in the upper half of the ring and ends in the lower one, so
 * the hop between the halves on the opposite side is never used.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/torus/torus.h"
#include "routing/graph/lids.h"

enum { PARITIES = 2, NO_DIR = TORUS_DIRS };

/* First hop of a source for one coordinate of a destination. */
struct first_hop {
	uint8_t dir; /* NO_DIR: none, use the next dimension */
	uint8_t lane; /* bit of the dimension if the path without failures crosses the dateline */
};

/* A destination switch and its end ports, in the order of balancing. */
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
	struct dest *dest; /* [n_switches] by cell, then switches without a cell */
	uint32_t n_dest;
	struct end *end;
	uint32_t n_ends;
	uint32_t table; /* first hops of one source: sum of radices times PARITIES */
};

/* Working memory of one source. */
struct source {
	uint32_t s, cell;
	struct first_hop *hop[TORUS_DIMS]; /* [radix][PARITIES] */
	uint32_t count[TORUS_DIRS]
		      [2]; /* end ports routed in that direction: of switches, of hosts */
};

/* ---- first hops ---- */

/* Direction of the path without failures. The parity of the source's coordinate and of
 * the destination's other coordinates breaks ties, so that both directions are used
 * equally. */
static unsigned fault_free_direction(const struct torus *t, unsigned d, uint32_t from,
                                     uint32_t to, unsigned parity)
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

/* Does the path from one coordinate to another in a direction pass the gap behind \a
 * at? */
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

/* Fills the first hops of a source in one dimension. */
static void fill_first_hops(const struct torus *t, struct source *src, unsigned d)
{
	uint32_t from = torus_coordinate(t, src->cell, d);
	uint32_t gap = t->gap[d][src->cell];

	for (uint32_t to = 0; to < t->radix[d]; to++) {
		bool missing = t->sw[torus_moved(t, src->cell, d, to)] == GRAPH_NONE;

		for (unsigned parity = 0; parity < PARITIES; parity++) {
			struct first_hop *w = &src->hop[d][to * PARITIES + parity];
			unsigned dir = fault_free_direction(t, d, from, to, parity);

			w->dir = (uint8_t)dir;
			w->lane = (uint8_t)((dir % 2 ? to > from : to < from) << d);
			if (to == from) {
				*w = (struct first_hop){ .dir = NO_DIR };
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
		fill_first_hops(t, src, d);
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
			const struct first_hop *w =
				&src->hop[d][c[d] * PARITIES + ((sum - c[d]) & 1)];

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
		struct first_hop *hops =
			own ? arena_array(own, f->table, sizeof(*hops)) : NULL;
		struct source src = { 0 };

		for (unsigned d = 0; hops && d < TORUS_DIMS; d++) {
			src.hop[d] = hops;
			hops += t->radix[d] * PARITIES;
		}
#pragma omp for schedule(dynamic, 16)
		for (uint32_t i = 0; i < f->n_dest; i++) {
			src.cell = f->dest[i].cell;
			if (!hops) {
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
	/* hosts by port_order, then by port; the switch itself last */
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
		/* one lane per combination of datelines */
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

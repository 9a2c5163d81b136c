/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Coordinates of switches on the torus.
 *
 * A seed gives the coordinates of one switch and of its neighbours. A further switch is
 * placed as soon as only one free cell remains for it:
 *  - the cell is next to the cells of all its placed neighbours;
 *  - opposite neighbours of a switch have no other common neighbour (unless their ring has
 *    four switches), but neighbours around a corner have. So a switch that shares another
 *    neighbour with the opposite one is not in that direction.
 * Missing switches and cables leave fewer conclusions but no wrong ones: a placement is
 * right whenever the fabric is part of such a torus. If nothing more follows, ports decide,
 * because on most fabrics the same port leads in the same direction at all switches.
 *
 * A stray cable, which joins switches that are no neighbours, is outvoted: the cell that
 * most neighbours agree on is used.
 *
 * If cables join the ends of a dimension that is configured as open, switches are placed as
 * on a ring. A seed may name such a cable.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/torus/torus.h"
#include "routing/graph/node_text.h"

enum { PORTS = 256, NAMED_MAX = 3, RING_OF_FOUR = 4 };

/* Candidate cells of a switch. */
struct candidates {
	uint32_t cell[TORUS_DIRS];
	unsigned n;
};

struct placer {
	struct torus *t;
	uint32_t *queue; /* [n_switches] ring buffer of switches to examine */
	bool *queued;    /* [n_switches] */
	uint32_t head, n_queue, n_placed;
	uint32_t votes[PORTS][TORUS_DIRS]; /* placed links by port and direction */
};

uint32_t torus_next(const struct torus *t, uint32_t cell, unsigned dir)
{
	unsigned d = dir / 2;
	uint32_t at = torus_coordinate(t, cell, d), end = dir % 2 ? 0 : t->radix[d] - 1;

	if (at != end) {
		return dir % 2 ? cell - t->stride[d] : cell + t->stride[d];
	}
	return t->closed[d] ? torus_moved(t, cell, d, t->radix[d] - 1 - end) : GRAPH_NONE;
}

const char *torus_place_text(const struct torus *t, uint32_t cell, struct arena *a)
{
	const char *text =
		arena_printf(a, "(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")",
	                     torus_coordinate(t, cell, 0), torus_coordinate(t, cell, 1),
	                     torus_coordinate(t, cell, 2));

	return text ? text : "?";
}

/* Direction from one cell to another, TORUS_DIRS: they are not adjacent. */
static unsigned direction(const struct torus *t, uint32_t from, uint32_t to)
{
	unsigned dir = 0;

	while (dir < TORUS_DIRS && torus_next(t, from, dir) != to) {
		dir++;
	}
	return dir;
}

static bool is_neighbour(const struct dims *d, uint32_t a, uint32_t b)
{
	for (uint32_t i = d->first[a]; i < d->first[a + 1]; i++) {
		if (d->dim[i].to == b) {
			return true;
		}
	}
	return false;
}

/* Do a and b have a common neighbour other than \a but? */
static bool share_neighbour(const struct dims *d, uint32_t a, uint32_t b, uint32_t but)
{
	for (uint32_t i = d->first[a]; i < d->first[a + 1]; i++) {
		if (d->dim[i].to != but && is_neighbour(d, d->dim[i].to, b)) {
			return true;
		}
	}
	return false;
}

/* ---- candidate cells ---- */

/* The free cells that are adjacent to most placed neighbours. */
static struct candidates most_agreed(const struct torus *t, uint32_t s)
{
	const struct dims *d = &t->dims;
	uint32_t cell[PORTS * TORUS_DIRS];
	unsigned n = 0, best = 0, count[PORTS * TORUS_DIRS];
	struct candidates o = { .n = 0 };

	for (uint32_t i = d->first[s]; i < d->first[s + 1]; i++) {
		uint32_t from = t->cell[d->dim[i].to];

		for (unsigned dir = 0; from != GRAPH_NONE && dir < TORUS_DIRS; dir++) {
			uint32_t to = torus_next(t, from, dir);
			unsigned k = 0;

			if (to == GRAPH_NONE || to == from || t->sw[to] != GRAPH_NONE) {
				continue;
			}
			while (k < n && cell[k] != to) {
				k++;
			}
			if (k == n) {
				cell[n] = to;
				count[n++] = 0;
			}
			count[k]++;
			best = count[k] > best ? count[k] : best;
		}
	}
	for (unsigned k = 0; k < n; k++) {
		if (count[k] == best && o.n < TORUS_DIRS) {
			o.cell[o.n++] = cell[k];
		}
	}
	return o;
}

/* Would s, if placed there, share a second neighbour with the switch opposite to it? */
static bool contradicts(const struct torus *t, uint32_t s, uint32_t there)
{
	const struct dims *d = &t->dims;

	for (uint32_t i = d->first[s]; i < d->first[s + 1]; i++) {
		uint32_t mid = d->dim[i].to, from = t->cell[mid], across;
		unsigned dir =
			from == GRAPH_NONE ? TORUS_DIRS : direction(t, from, there);

		if (dir == TORUS_DIRS ||
		    (t->closed[dir / 2] && t->radix[dir / 2] == RING_OF_FOUR)) {
			continue;
		}
		across = torus_next(t, from, dir ^ 1);
		if (across != GRAPH_NONE && t->sw[across] != GRAPH_NONE &&
		    share_neighbour(d, s, t->sw[across], mid)) {
			return true;
		}
	}
	return false;
}

static struct candidates find_candidates(const struct torus *t, uint32_t s)
{
	struct candidates all = most_agreed(t, s), o = { .n = 0 };

	for (unsigned i = 0; all.n > 1 && i < all.n; i++) {
		if (!contradicts(t, s, all.cell[i])) {
			o.cell[o.n++] = all.cell[i];
		}
	}
	return o.n ? o : all;
}

/* ---- placing ---- */

static void count_votes(struct placer *p, const struct dim *x, unsigned dir)
{
	for (unsigned k = 0; k < x->n; k++) {
		p->votes[p->t->dims.port[x->ports + k]][dir]++;
	}
}

static void enqueue(struct placer *p, uint32_t s)
{
	uint32_t n = p->t->g->n_switches;

	if (!p->queued[s] && p->t->cell[s] == GRAPH_NONE) {
		p->queued[s] = true;
		p->queue[(p->head + p->n_queue++) % n] = s;
	}
}

static const struct dim *dim_to(const struct dims *d, uint32_t from, uint32_t to)
{
	const struct dim *x = &d->dim[d->first[from]];

	while (x->to != to) {
		x++;
	}
	return x;
}

static void place(struct placer *p, uint32_t s, uint32_t cell)
{
	struct torus *t = p->t;
	const struct dims *d = &t->dims;

	t->sw[cell] = s;
	t->cell[s] = cell;
	p->n_placed++;
	for (uint32_t i = d->first[s]; i < d->first[s + 1]; i++) {
		uint32_t to = d->dim[i].to;

		if (t->cell[to] != GRAPH_NONE) {
			unsigned dir = direction(t, cell, t->cell[to]);

			if (dir < TORUS_DIRS) {
				count_votes(p, &d->dim[i], dir);
				count_votes(p, dim_to(d, to, s), dir ^ 1);
			}
		} else {
			enqueue(p, to);
		}
	}
}

/* Places queued switches; their neighbours are queued in turn. */
static void run_queue(struct placer *p)
{
	while (p->n_queue) {
		uint32_t s = p->queue[p->head];
		struct candidates o = { .n = 0 };

		p->head = (p->head + 1) % p->t->g->n_switches;
		p->n_queue--;
		p->queued[s] = false;
		if (p->t->cell[s] == GRAPH_NONE) {
			o = find_candidates(p->t, s);
		}
		if (o.n == 1) {
			place(p, s, o.cell[0]);
		}
	}
}

/* Places the first switch for which the ports favour one candidate cell. */
static bool place_by_ports(struct placer *p)
{
	const struct torus *t = p->t;

	for (uint32_t s = 0; s < t->g->n_switches; s++) {
		struct candidates o = { .n = 0 };
		uint64_t most = 0;
		uint32_t best = GRAPH_NONE;

		if (t->cell[s] == GRAPH_NONE) {
			o = find_candidates(t, s);
		}
		for (unsigned i = 0; i < o.n; i++) {
			const struct dims *d = &t->dims;
			uint64_t sum = 0;

			/* links whose ports are used in this direction elsewhere */
			for (uint32_t k = d->first[s]; k < d->first[s + 1]; k++) {
				const struct dim *x = &d->dim[k], *back;
				unsigned dir = TORUS_DIRS;

				if (t->cell[x->to] != GRAPH_NONE) {
					dir = direction(t, o.cell[i], t->cell[x->to]);
				}
				if (dir == TORUS_DIRS) {
					continue;
				}
				back = dim_to(d, x->to, s);
				sum += p->votes[d->port[x->ports]][dir];
				sum += p->votes[d->port[back->ports]][dir ^ 1];
			}
			if (sum == most) {
				best = GRAPH_NONE;
			} else if (sum > most) {
				most = sum;
				best = o.cell[i];
			}
		}
		if (best != GRAPH_NONE) {
			place(p, s, best);
			return true;
		}
	}
	return false;
}

/* ---- seeds ---- */

static uint32_t switch_by_guid(const struct torus *t, uint64_t guid)
{
	uint32_t node = graph_node_by_guid(t->g, guid);

	return node == GRAPH_NONE ? GRAPH_NONE : t->g->nodes[node].sw;
}

static bool is_complete(const struct torus *t, const struct torus_seed *seed)
{
	for (unsigned dir = 0; dir < TORUS_DIRS; dir++) {
		if (seed->has[dir] && switch_by_guid(t, seed->to[dir]) == GRAPH_NONE) {
			return false;
		}
	}
	return seed->line && switch_by_guid(t, seed->from) != GRAPH_NONE;
}

static const struct torus_seed *choose_seed(const struct torus *t)
{
	for (unsigned i = 0; i < t->conf->n_seeds; i++) {
		if (is_complete(t, &t->conf->seed[i])) {
			return &t->conf->seed[i];
		}
	}
	return NULL;
}

static bool place_at(struct placer *p, uint32_t s, uint32_t cell)
{
	if (cell == GRAPH_NONE || p->t->sw[cell] != GRAPH_NONE ||
	    p->t->cell[s] != GRAPH_NONE) {
		return false;
	}
	place(p, s, cell);
	return true;
}

/* Places a seed. \return false: its switches cannot be where it says. */
static bool place_seed(struct placer *p, const struct torus_seed *seed)
{
	const struct torus *t = p->t;
	uint32_t cell = 0;
	bool ok;

	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		uint32_t radix = t->radix[d];
		uint32_t n = (uint32_t)(seed->dateline[d] + (int32_t)radix);

		cell += (2 * radix - n) % radix * t->stride[d];
	}
	ok = place_at(p, switch_by_guid(t, seed->from), cell);
	for (unsigned dir = 0; ok && dir < TORUS_DIRS; dir++) {
		if (seed->has[dir]) {
			ok = place_at(p, switch_by_guid(t, seed->to[dir]),
			              torus_next(t, cell, dir));
		}
	}
	return ok;
}

/* ---- all steps ---- */

static int set_shape(struct torus *t, struct arena *a)
{
	uint32_t n = 1;

	for (unsigned d = TORUS_DIMS; d-- > 0;) {
		t->radix[d] = t->conf->radix[d];
		t->closed[d] = t->conf->closed[d];
		t->stride[d] = n;
		n *= t->radix[d];
	}
	t->n_cells = n;
	t->sw = arena_array(a, n, sizeof(*t->sw));
	t->cell = arena_array(a, t->g->n_switches, sizeof(*t->cell));
	if (!t->sw || !t->cell) {
		return -ENOMEM;
	}
	memset(t->sw, 0xff, n * sizeof(*t->sw));
	memset(t->cell, 0xff, t->g->n_switches * sizeof(*t->cell));
	return E_OK;
}

/* All switches with cables must have a place; those without get none. */
static int check_places(struct torus *t, struct why *why)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < t->g->n_switches; s++) {
		bool alone = t->dims.first[s] == t->dims.first[s + 1];

		if (alone && t->cell[s] != GRAPH_NONE) {
			t->sw[t->cell[s]] = GRAPH_NONE;
			t->cell[s] = GRAPH_NONE;
		} else if (!alone && t->cell[s] == GRAPH_NONE && n++ < NAMED_MAX) {
			why_add(why,
			        "torus-2QoS: switch %s has no place on the %" PRIu32
			        " x %" PRIu32 " x %" PRIu32 " torus of %s",
			        switch_text(t->g, NULL, s).text, t->radix[0], t->radix[1],
			        t->radix[2], t->conf->path);
		}
	}
	if (n > NAMED_MAX) {
		why_add(why, "torus-2QoS: nor have %" PRIu32 " more switches",
		        n - NAMED_MAX);
	}
	return n ? E_UNSUITABLE : E_OK;
}

int torus_place(struct torus *t, struct arena *a, struct why *why)
{
	struct placer *p = arena_alloc(a, sizeof(*p));
	const struct torus_seed *seed;
	int ret = set_shape(t, a);

	if (!p || ret != E_OK) {
		return -ENOMEM;
	}
	p->t = t;
	p->queue = arena_array(a, t->g->n_switches, sizeof(*p->queue));
	p->queued = arena_array(a, t->g->n_switches, sizeof(*p->queued));
	if (!p->queue || !p->queued) {
		return -ENOMEM;
	}
	seed = choose_seed(t);
	if (!seed) {
		why_add(why,
		        "torus-2QoS: no seed of %s has all its switches in the fabric",
		        t->conf->path);
		return E_UNSUITABLE;
	}
	for (unsigned d = 0; d < TORUS_DIMS; d++) {
		t->closed[d] |= t->joined[d];
	}
	if (!place_seed(p, seed)) {
		why_add(why,
		        "torus-2QoS: %s:%u: the switches of this seed can't be neighbours like that",
		        t->conf->path, seed->line);
		return E_UNSUITABLE;
	}
	do {
		uint32_t before;

		/* place all switches that follow; examine those with several
		 * candidates again, because later switches may have taken some */
		do {
			before = p->n_placed;
			run_queue(p);
			for (uint32_t s = 0; s < p->t->g->n_switches; s++) {
				enqueue(p, s);
			}
			run_queue(p);
		} while (p->n_placed != before);
	} while (place_by_ports(p));
	memcpy(t->closed, t->conf->closed, sizeof(t->closed));
	return check_places(t, why);
}

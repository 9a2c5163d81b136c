/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The shape of a torus from its cables.
 *
 * Ports that somewhere join the same two switches form one direction. The direction of most
 * ports at the other ends of its cables is the opposite direction. Each pair of directions
 * is a dimension, in the order of their lowest ports, and following a direction from a
 * switch shows its ring. If ports are used differently from switch to switch, nothing is
 * found and a file has to describe the torus.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/torus/torus.h"

/* A direction with fewer cables than one per STRAYS switches is not counted as one. */
enum { PORTS = 256, CHANGES = 32, STRAYS = 8 };

struct guess {
	const struct graph *g;
	const struct dims *dims;
	uint8_t up[PORTS];            /* union of ports */
	uint32_t votes[PORTS][PORTS]; /* cables between directions */
	uint8_t opposite[PORTS];      /* by direction; 0: no cable */
	unsigned n_dims;
	uint8_t dir[TORUS_DIMS];    /* positive direction of a dimension */
	uint32_t *next[TORUS_DIRS]; /* [n_switches] neighbour, GRAPH_NONE */
	struct torus_conf *c;
};

static uint8_t direction_of(const struct guess *x, uint8_t port)
{
	while (x->up[port] != port) {
		port = x->up[port];
	}
	return port;
}

/* Joins two directions. The lowest port represents the direction. */
static void unite(struct guess *x, uint8_t a, uint8_t b)
{
	a = direction_of(x, a);
	b = direction_of(x, b);
	x->up[a > b ? a : b] = a > b ? b : a;
}

static void find_directions(struct guess *x)
{
	const struct dims *d = x->dims;
	const struct graph *g = x->g;

	for (unsigned p = 0; p < PORTS; p++) {
		x->up[p] = (uint8_t)p;
	}
	for (uint32_t i = 0; i < d->first[d->n]; i++) {
		for (unsigned k = 1; k < d->dim[i].n; k++) {
			unite(x, d->port[d->dim[i].ports], d->port[d->dim[i].ports + k]);
		}
	}
	for (uint32_t i = 0; i < g->n_adj; i++) {
		x->votes[direction_of(x, g->adj[i].port)]
			[direction_of(x, g->adj[i].to_port)]++;
	}
	for (unsigned p = 1; p < PORTS; p++) {
		for (unsigned q = 1; q < PORTS; q++) {
			if (x->votes[p][q] > x->votes[p][x->opposite[p]]) {
				x->opposite[p] = (uint8_t)q;
			}
		}
	}
}

/* \return false: there is no dimension, or more than three. */
static bool find_dimensions(struct guess *x)
{
	for (unsigned p = 1; p < PORTS; p++) {
		unsigned q = x->opposite[p];

		if (q == 0 || q < p) {
			continue; /* no cables, or counted from the other end */
		}
		if (x->votes[p][q] < x->g->n_switches / STRAYS) {
			continue;
		}
		if (x->opposite[q] != p || x->n_dims == TORUS_DIMS) {
			return false;
		}
		x->dir[x->n_dims++] = (uint8_t)p;
	}
	return x->n_dims > 0;
}

static void find_neighbours(struct guess *x)
{
	const struct dims *d = x->dims;

	for (uint32_t s = 0; s < d->n; s++) {
		for (uint32_t i = d->first[s]; i < d->first[s + 1]; i++) {
			uint8_t dir = direction_of(x, d->port[d->dim[i].ports]);

			for (unsigned k = 0; k < x->n_dims; k++) {
				if (dir == x->dir[k]) {
					x->next[2 * k][s] = d->dim[i].to;
				}
				if (dir == x->opposite[x->dir[k]]) {
					x->next[2 * k + 1][s] = d->dim[i].to;
				}
			}
		}
	}
}

/* Counts steps in a direction to the end or back to the start. \param ret_back It is a
 * ring. */
static uint32_t walk(const struct guess *x, uint32_t s, unsigned dir, bool *ret_back)
{
	uint32_t steps = 0, t = x->next[dir][s];

	while (t != GRAPH_NONE && t != s && steps <= x->g->n_switches) {
		t = x->next[dir][t];
		steps++;
	}
	*ret_back = t == s;
	return steps;
}

/* Is a switch a valid seed? Its coordinates in open dimensions are its distances to
 * the end. */
static bool is_seed(struct guess *x, uint32_t s)
{
	struct torus_seed *seed = x->c->seed;

	for (unsigned d = 0; d < x->n_dims; d++) {
		bool ring, back;
		uint32_t ahead = walk(x, s, 2 * d, &ring);
		uint32_t behind = walk(x, s, 2 * d + 1, &back);

		if (x->next[2 * d][s] == x->next[2 * d + 1][s]) {
			behind = 0; /* two switches */
			ahead = 1;
		} else if (x->c->closed[d] ? !ring
		                           : ahead + behind + 1 != x->c->radix[d]) {
			return false;
		}
		seed->dateline[d] = x->c->closed[d] ? 0 : -(int32_t)behind;
	}
	return true;
}

static bool find_seed(struct guess *x)
{
	uint64_t cells = 1;

	for (unsigned d = 0; d < x->n_dims; d++) {
		uint32_t ring = 0, line = 0;

		/* the longest ring, or the longest line if there is none */
		for (uint32_t s = 0; s < x->g->n_switches; s++) {
			bool back;
			uint32_t n = walk(x, s, 2 * d, &back) + 1;

			ring = back && n > ring ? n : ring;
			line = !back && n > line ? n : line;
		}
		x->c->radix[d] = ring ? ring : line;
		x->c->closed[d] = ring > 2;
		cells *= x->c->radix[d];
	}
	/* less than half of the cells have a switch: these are no dimensions */
	if (cells < x->g->n_switches || cells > 2 * (uint64_t)x->g->n_switches) {
		return false;
	}
	for (uint32_t s = 0; s < x->g->n_switches; s++) {
		if (is_seed(x, s)) {
			const struct graph *g = x->g;
			struct torus_seed *seed = x->c->seed;

			seed->line = 1;
			seed->from = g->nodes[g->switches[s]].guid;
			for (unsigned dir = 0; dir < 2 * x->n_dims; dir++) {
				uint32_t to = x->next[dir][s];
				bool same = dir % 2 && to == x->next[dir - 1][s];

				if (to != GRAPH_NONE && !same) {
					seed->to[dir] = g->nodes[g->switches[to]].guid;
					seed->has[dir] = true;
				}
			}
			return true;
		}
	}
	return false;
}

int torus_guess(const struct graph *g, const struct dims *dims, struct arena *a,
                struct why *why, const struct torus_conf **ret_conf)
{
	struct guess *x = arena_alloc(a, sizeof(*x));
	struct torus_conf *c = arena_alloc(a, sizeof(*c));

	if (!x || !c) {
		return -ENOMEM;
	}
	*x = (struct guess){ .g = g, .dims = dims, .c = c };
	*c = (struct torus_conf){ .path = "the cables",
		                  .radix = { 1, 1, 1 },
		                  .seed = arena_alloc(a, sizeof(*c->seed)),
		                  .n_seeds = 1,
		                  .max_changes = CHANGES };
	for (unsigned dir = 0; dir < TORUS_DIRS; dir++) {
		x->next[dir] = arena_array(a, g->n_switches, sizeof(*x->next[dir]));
		if (!x->next[dir] || !c->seed) {
			return -ENOMEM;
		}
		memset(x->next[dir], 0xff, g->n_switches * sizeof(*x->next[dir]));
	}
	find_directions(x);
	if (find_dimensions(x)) {
		find_neighbours(x);
		if (find_seed(x)) {
			*ret_conf = c;
			return E_OK;
		}
	}
	why_add(why,
	        "torus-2QoS: the cables show no mesh or torus of up to three dimensions; torus_config names a file that describes one");
	return E_UNSUITABLE;
}

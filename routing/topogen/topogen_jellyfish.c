/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Random regular graphs after Singla, Hong, Popa and Godfrey, "Jellyfish: Networking Data
 * Centers Randomly" (2012): random pairs of switches with free ports are joined while
 * there are such pairs. A port left over then goes in the place of a cable: u-v becomes
 * i-u and k-v for two switches i and k with a free port each (or one with two).
 *
 * Such a cable always exists. Switches that are left over are joined to one another, so a
 * u that is not joined to i has all of its R cables; at most N - R - 2 switches other
 * than i are not joined to u, and at least N - R - 1 besides u are not joined to k.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/topogen/topogen_maker.h"

enum {
	TRIES = 64 /* random pairs before all are looked at; drawings before giving up */
};

struct jelly {
	uint32_t n, degree;
	uint64_t state;
	uint32_t *adj;   /* [n][degree] neighbours */
	uint32_t *count; /* [n] neighbours so far */
	uint32_t *open;  /* [n_open] switches with free ports */
	uint32_t n_open;
	uint32_t (*edge)[2]; /* [n_edges] */
	uint32_t n_edges;
	uint32_t *queue; /* [n] of the search */
};

static uint32_t below(struct jelly *j, uint32_t n)
{
	return (uint32_t)(topogen_random(&j->state) % n);
}

static bool joined(const struct jelly *j, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < j->count[a]; i++) {
		if (j->adj[(size_t)a * j->degree + i] == b) {
			return true;
		}
	}
	return false;
}

static void join(struct jelly *j, uint32_t a, uint32_t b)
{
	j->adj[(size_t)a * j->degree + j->count[a]++] = b;
	j->adj[(size_t)b * j->degree + j->count[b]++] = a;
	j->edge[j->n_edges][0] = a;
	j->edge[j->n_edges++][1] = b;
}

static void forget(struct jelly *j, uint32_t a, uint32_t b)
{
	uint32_t *adj = j->adj + (size_t)a * j->degree, i = 0;

	while (adj[i] != b) {
		i++;
	}
	adj[i] = adj[--j->count[a]];
}

static void close_full(struct jelly *j)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->n_open; i++) {
		if (j->count[j->open[i]] < j->degree) {
			j->open[n++] = j->open[i];
		}
	}
	j->n_open = n;
}

static bool join_if_apart(struct jelly *j, uint32_t x, uint32_t y)
{
	uint32_t a = j->open[x], b = j->open[y];

	if (a == b || joined(j, a, b)) {
		return false;
	}
	join(j, a, b);
	if (j->count[a] == j->degree || j->count[b] == j->degree) {
		close_full(j);
	}
	return true;
}

/* Joins two open switches. \return false when all of them are joined to one another. */
static bool join_open(struct jelly *j)
{
	for (unsigned try = 0; try < TRIES && j->n_open > 1; try++) {
		if (join_if_apart(j, below(j, j->n_open), below(j, j->n_open))) {
			return true;
		}
	}
	for (uint32_t x = 0; x < j->n_open; x++) {
		for (uint32_t y = 0; y < x; y++) {
			if (join_if_apart(j, x, y)) {
				return true;
			}
		}
	}
	return false;
}

/* Uses two free ports of open switches up; searching starts at a random cable. */
static void break_edge(struct jelly *j)
{
	uint32_t i = j->open[0], k = j->open[j->n_open > 1];
	uint32_t at = below(j, j->n_edges);

	for (uint32_t step = 0; step < 2 * j->n_edges; step++) {
		uint32_t e = (at + step / 2) % j->n_edges;
		uint32_t u = j->edge[e][step % 2], v = j->edge[e][1 - step % 2];

		if (u != i && u != k && v != i && v != k && !joined(j, i, u) &&
		    !joined(j, k, v)) {
			forget(j, u, v);
			forget(j, v, u);
			j->n_edges--;
			memmove(j->edge[e], j->edge[j->n_edges], sizeof(j->edge[e]));
			join(j, i, u);
			join(j, k, v);
			break;
		}
	}
	close_full(j);
}

static bool connected(struct jelly *j)
{
	uint32_t *seen = j->open; /* free by now */
	uint32_t head = 0, tail = 0;

	memset(seen, 0, j->n * sizeof(*seen));
	seen[0] = 1;
	j->queue[tail++] = 0;
	while (head < tail) {
		uint32_t s = j->queue[head++];

		for (uint32_t i = 0; i < j->degree; i++) {
			uint32_t t = j->adj[(size_t)s * j->degree + i];

			if (!seen[t]) {
				seen[t] = 1;
				j->queue[tail++] = t;
			}
		}
	}
	return tail == j->n;
}

static int compare_edges(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	unsigned differs = x[0] == y[0];

	return (x[differs] > y[differs]) - (x[differs] < y[differs]);
}

/* Cables in ascending order take the next port of both switches. */
static int cable_all(struct maker *m, struct jelly *j, uint32_t hosts)
{
	int ret = E_OK;

	for (uint32_t i = 0; i < j->n_edges; i++) {
		uint32_t *e = j->edge[i], low = e[0] < e[1] ? e[0] : e[1];

		e[1] = e[0] ^ e[1] ^ low;
		e[0] = low;
	}
	qsort(j->edge, j->n_edges, sizeof(*j->edge), compare_edges);
	for (uint32_t i = 0; i < j->n; i++) {
		j->count[i] = hosts;
	}
	for (uint32_t i = 0; i < j->n_edges && ret == E_OK; i++) {
		uint32_t a = j->edge[i][0], b = j->edge[i][1];
		ret = maker_link(m, a, ++j->count[a], b, ++j->count[b]);
	}
	return ret;
}

static int read_size(struct maker *m, struct jelly *j, uint32_t *hosts)
{
	int ret = maker_number(m, 0, 2, MAKER_MAX_NODES, &j->n);

	if (ret == E_OK) {
		ret = maker_number(m, 1, 1, MAKER_MAX_RADIX, &j->degree);
	}
	if (ret == E_OK) {
		ret = maker_number(m, 2, 0, MAKER_MAX_RADIX, hosts);
	}
	if (ret == E_OK && (j->degree >= j->n || (uint64_t)j->n * j->degree % 2)) {
		diag_add(
			m->d, DIAG_ERROR, NULL, 0,
			"jellyfish: %u switches with %u cables each are impossible: R must be below N, and N times R even",
			j->n, j->degree);
		ret = E_RANGE;
	}
	return ret;
}

static void draw_connected(struct maker *m, struct jelly *j)
{
	unsigned try = 0;

	do {
		memset(j->count, 0, j->n * sizeof(*j->count));
		j->n_edges = 0;
		j->n_open = j->n;
		for (uint32_t i = 0; i < j->n; i++) {
			j->open[i] = i;
		}
		while (j->n_open) {
			if (!join_open(j)) {
				break_edge(j);
			}
		}
	} while (!connected(j) && ++try < TRIES);
	if (try == TRIES) {
		diag_add(
			m->d, DIAG_WARNING, NULL, 0,
			"jellyfish: no connected fabric found in %d drawings, this one has several parts",
			TRIES);
	}
}

int make_jellyfish(struct maker *m)
{
	struct jelly j = { .state = m->seed };
	uint32_t hosts = 0;

	int ret = read_size(m, &j, &hosts);
	if (ret == E_OK) {
		ret = maker_size(m, j.degree + hosts, j.n, (uint64_t)j.n * hosts);
	}
	if (ret == E_OK) {
		struct arena *a = m->g->arena;
		size_t ends = (size_t)j.n * j.degree;

		j.adj = arena_array(a, ends, sizeof(*j.adj));
		j.count = arena_array(a, j.n, sizeof(*j.count));
		j.open = arena_array(a, j.n, sizeof(*j.open));
		j.queue = arena_array(a, j.n, sizeof(*j.queue));
		j.edge = arena_array(a, ends / 2 + 1, sizeof(*j.edge));
		ret = j.adj && j.count && j.open && j.queue && j.edge ? E_OK : -ENOMEM;
	}
	for (uint32_t i = 0; i < j.n && ret == E_OK; i++) {
		ret = maker_switch(m, "jf-%05u", i);
	}
	if (ret == E_OK) {
		ret = maker_hosts(m, j.n, hosts, 1);
	}
	if (ret == E_OK) {
		draw_connected(m, &j);
		ret = cable_all(m, &j, hosts);
	}
	return ret;
}

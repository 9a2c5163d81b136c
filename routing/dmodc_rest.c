/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Entries for switches, and for all that has no route by rank. */
#include <errno.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/dmodc_job.h"
#include "routing/lids.h"

enum { PORTS_MAX = 256, LISTED_MAX = 255 };

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

/* Gives one port to the destinations of a word that a row has; takes them out of the
 * word.
 */
static uint64_t give(const struct dmodc_job *j, uint8_t *row, uint32_t w, uint64_t word,
                     uint64_t there, uint8_t port)
{
	for (uint64_t b = word & there; b; b &= b - 1) {
		row[j->own[w * 64 + (uint32_t)__builtin_ctzll(b)]] = port;
	}
	return word & ~there;
}

/* Switches with one LID, k ranks up: by the first group that leads closer. */
static void fill_singles(const struct dmodc_job *j, uint32_t s, unsigned k)
{
	const struct dmodc_groups *dir = k ? &j->t.up : &j->t.down;
	const uint64_t *all = dmodc_row(&j->reach, s, k);

	for (uint32_t w = 0; w < j->reach.words; w++) {
		uint64_t word = all[w] & j->single[w];

		for (uint32_t i = dir->first[s]; word && i < dir->first[s + 1]; i++) {
			const struct dmodc_group *group = &dir->group[i];

			word = give(j, lft_row(j->lft, s), w, word,
			            dmodc_row(&j->reach, group->to, k ? k - 1 : 0)[w],
			            j->t.port[group->first]);
		}
	}
}

static void fill_switches_at(const struct dmodc_job *j, uint32_t s)
{
	struct lid_range own = j->lids->of[graph_port(j->g, j->g->switches[s], 0)];

	for (unsigned k = 0; k < j->reach.rows; k++) {
		const uint64_t *row = dmodc_row(&j->reach, s, k);

		fill_singles(j, s, k);
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

/* Steps down the line where that descends to the end, else steps up. */
static void fill_unjoined(const struct dmodc_job *j, uint32_t s, uint32_t t)
{
	const struct graph *g = j->g;
	uint32_t words = j->reach.words;
	bool down = dmodc_has_bit(j->line.descends + (size_t)s * words, t);
	const uint64_t *bits = down ? j->line.descends : j->line.reaches;
	uint8_t port[PORTS_MAX];
	unsigned n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if ((j->line.pos[to] > j->line.pos[s]) == down &&
		    dmodc_has_bit(bits + (size_t)to * words, t)) {
			port[n++] = g->adj[i].port;
		}
	}
	fill_ports(j, s, t, port, n);
}

/* The same for a word of switches without hosts and with one LID: the first neighbour. */
static void fill_unjoined_word(const struct dmodc_job *j, uint32_t s, uint32_t w,
                               uint64_t word)
{
	const struct graph *g = j->g;
	uint32_t words = j->reach.words;
	uint64_t down = word & j->line.descends[(size_t)s * words + w], up = word & ~down;
	uint8_t *row = lft_row(j->lft, s);

	for (uint32_t i = g->adj_first[s]; (up || down) && i < g->adj_first[s + 1]; i++) {
		size_t at = (size_t)g->adj[i].to * words + w;

		if (j->line.pos[g->adj[i].to] > j->line.pos[s]) {
			down = give(j, row, w, down, j->line.descends[at],
			            g->adj[i].port);
		} else {
			up = give(j, row, w, up, j->line.reaches[at], g->adj[i].port);
		}
	}
}

void dmodc_fill_line(const struct dmodc_job *j)
{
	uint32_t words = j->reach.words;

#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->t.n; s++) {
		for (uint32_t w = 0; w < words; w++) {
			uint64_t b = j->line.reaches[(size_t)s * words + w];

			for (unsigned k = 0; k < j->reach.rows; k++) {
				b &= ~dmodc_row(&j->reach, s, k)[w];
			}
			fill_unjoined_word(j, s, w, b & j->single[w] & ~j->homes[w]);
			b &= ~j->single[w] | j->homes[w];
			for (; b; b &= b - 1) {
				fill_unjoined(j, s,
				              w * 64 + (uint32_t)__builtin_ctzll(b));
			}
		}
	}
}

/* ---- destinations that some switch misses still: over the line alone ---- */

/* One destination: hops where a switch can descend to it, else from a neighbour above. */
struct way {
	uint16_t *hops;  /* [n] */
	bool *descends;  /* [n] */
	uint32_t *queue; /* [n] */
	uint32_t *at;    /* [n] switch at a place of the line */
};

static void find_way(const struct dmodc_job *j, uint32_t t, struct way *x)
{
	const struct graph *g = j->g;
	uint32_t head = 0, tail = 0;

	memset(x->hops, 0xff, j->t.n * sizeof(*x->hops));
	memset(x->descends, 0, j->t.n * sizeof(*x->descends));
	x->hops[t] = 0;
	x->descends[t] = true;
	x->queue[tail++] = t;
	while (head < tail) {
		uint32_t s = x->queue[head++];

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;

			if (j->line.pos[to] < j->line.pos[s] && !x->descends[to]) {
				x->hops[to] = (uint16_t)(x->hops[s] + 1);
				x->descends[to] = true;
				x->queue[tail++] = to;
			}
		}
	}
	for (uint32_t p = 0; p < j->t.n; p++) {
		uint32_t s = x->at[p];

		for (uint32_t i = g->adj_first[s];
		     !x->descends[s] && i < g->adj_first[s + 1]; i++) {
			uint32_t to = g->adj[i].to;

			if (j->line.pos[to] < p && x->hops[to] < x->hops[s] - 1) {
				x->hops[s] = (uint16_t)(x->hops[to] + 1);
			}
		}
	}
}

static unsigned way_ports(const struct dmodc_job *j, const struct way *x, uint32_t s,
                          uint8_t *ret)
{
	const struct graph *g = j->g;
	unsigned n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if ((j->line.pos[to] > j->line.pos[s]) == x->descends[s] &&
		    (!x->descends[s] || x->descends[to]) &&
		    x->hops[to] + 1 == x->hops[s]) {
			ret[n++] = g->adj[i].port;
		}
	}
	return n;
}

static void fill_way(const struct dmodc_job *j, uint32_t t, struct way *x)
{
	find_way(j, t, x);
	for (uint32_t s = 0; s < j->t.n; s++) {
		uint8_t port[PORTS_MAX];
		unsigned n = s == t ? 0 : way_ports(j, x, s, port);

		if (n) {
			fill_ports(j, s, t, port, n);
		}
	}
}

int dmodc_fill_left(const struct dmodc_job *j, struct arena *tmp)
{
	struct way x = {
		.hops = arena_array(tmp, j->t.n, sizeof(*x.hops)),
		.descends = arena_array(tmp, j->t.n, sizeof(*x.descends)),
		.queue = arena_array(tmp, j->t.n, sizeof(*x.queue)),
		.at = arena_array(tmp, j->t.n, sizeof(*x.at)),
	};

	if (!x.hops || !x.descends || !x.queue || !x.at) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < j->t.n; s++) {
		x.at[j->line.pos[s]] = s;
	}
	for (uint32_t t = 0; t < j->t.n; t++) {
		if (j->line.left[t]) {
			fill_way(j, t, &x);
		}
	}
	return E_OK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * dmodc: trees by closed form, also broken ones.
 *
 * Hosts are numbered leaf by leaf (their topological index t). A switch of rank r deals
 * them over its uplinks: host t takes slot floor(t / D) mod U, where U is the number of
 * uplink slots and D, the divider of the rank, the product of U over the ranks below. Of
 * parallel cables it takes number floor(t / (D * U)). Downwards there is one neighbour
 * that leads to a leaf, or, where there are more, the one that the other direction would
 * take. No counters, no order of work: each entry is a function of the switch and the
 * host alone.
 *
 * What is missing moves only what used it. Slots mean the same part of the tree
 * everywhere (dmodc_tree.c) and dividers come from the widest switch of a rank, so a lost
 * cable does not shift the others. A host whose slot leads nowhere, because the cable is
 * gone here or somewhere further on, takes one of the neighbours that do lead closer:
 * number (floor(t / (D * U)) + place of the switch) mod how many there are. So both the
 * hosts of a lost uplink and the traffic of all sources to a host behind a lost downlink
 * are spread over all others. A neighbour that has less than half of its own uplinks left
 * for a destination serves only those hosts whose slots there are left.
 *
 * Routes climb to the first rank from which the destination can be reached by descending,
 * then descend; who can descend, does. So no route climbs after it has descended, and
 * there is no circle of waiting links. Where cables are missing in great number, some
 * pairs have no such route, and in any tree there are some between the upper switches,
 * which management traffic may want. They are routed over a line of switches that
 * contains all these routes (dmodc_line.c), so that still no circle can close.
 *
 * With an LMC, LID number k of a port takes the k-th next of the neighbours that lead
 * closer: different ones as long as there are, then different cables.
 *
 * Earlier tables are not looked at: the same fabric gives the same entries, and what is
 * not concerned by a change does not move.
 *
 * Differences from the paper: slots instead of the position among the neighbours that are
 * left, the choice by place, planes instead of the order of GUIDs, the mirrored choice
 * downwards, the line.
 *
 * Source: Gliksberg, Capra, Louvet, Garcia, Sohier, "High-Quality Fault-Resiliency in
 * Fat-Tree Networks", IEEE Micro 40(1), 2020; Zahavi 2012, "Fat-trees routing and node
 * ordering providing contention free traffic for MPI global collectives".
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "conf/option.h"
#include "routing/column.h"
#include "routing/dmodc.h"
#include "routing/engine.h"
#include "routing/graph.h"
#include "routing/lids.h"
#include "routing/updown.h"

enum { PORTS_MAX = 256, LISTED_MAX = 255 };

struct dmodc_options {
	const struct guid_file *root_guid_file;
};

/* floor(column / divider) mod slots for all columns; shared by switches that deal alike.
 */
struct deal {
	unsigned rank, slots;
	uint8_t *slot; /* [n_cols] */
};

struct job {
	const struct graph *g;
	const struct lids *lids;
	struct lft *lft;
	struct dmodc_tree t;
	struct dmodc_reach reach;
	struct dmodc_line line;
	struct deal *deal; /* [n_deals] */
	uint32_t n_deals;
	const uint8_t **slot; /* [n] deal of each switch, NULL: no uplinks */
	uint32_t *base;       /* [n_cols] base LID of each host, 0: none */
	uint8_t *lmc;         /* [n_cols] */
	uint32_t *lid;        /* [n_cols] LID in this pass, 0: its range is shorter */
	unsigned k;           /* number of the LID in its range, in this pass */
	uint32_t width;       /* slots per row of above */
	uint32_t *above;      /* [n][width] switch behind a slot, GRAPH_NONE: missing */
	uint64_t *whole; /* [n][rows][words] as in reach: nothing is missing on the way up
	                  */
	uint64_t n_unjoined; /* ordered pairs of switches with hosts without route by rank
	                      */
	uint64_t *scratch;   /* [threads][words] */
};

/* The groups of one switch that lead closer to one destination. */
struct candidates {
	unsigned n;
	uint32_t group[LISTED_MAX]; /* index in the groups of the direction */
};

static bool has_bit(const uint64_t *row, uint32_t s)
{
	return row[s / 64] >> s % 64 & 1;
}

static uint32_t hosts_on(const struct graph *g, uint32_t s)
{
	return g->host_first[s + 1] - g->host_first[s];
}

static uint64_t *whole_row(const struct job *j, uint32_t s, unsigned k)
{
	return j->whole + ((size_t)s * j->reach.rows + k) * j->reach.words;
}

/* ---- what is whole ---- */

/* Destinations k ranks up to which all slots lead, here and all the way up. */
static void find_whole(const struct job *j, uint32_t s, unsigned k)
{
	const uint32_t *above = j->above + (size_t)s * j->width;
	uint64_t *row = whole_row(j, s, k);

	memcpy(row, dmodc_row(&j->reach, s, k), j->reach.words * sizeof(*row));
	for (unsigned i = 0; k && i < j->t.slots[s]; i++) {
		const uint64_t *there =
			above[i] == GRAPH_NONE ? NULL : whole_row(j, above[i], k - 1);

		for (uint32_t w = 0; w < j->reach.words; w++) {
			row[w] &= there ? there[w] : 0;
		}
	}
}

static int find_above(struct job *j, struct arena *tmp)
{
	const struct dmodc_tree *t = &j->t;

	for (uint32_t s = 0; s < t->n; s++) {
		j->width = t->slots[s] > j->width ? t->slots[s] : j->width;
	}
	j->above = arena_array(tmp, (size_t)t->n * j->width, sizeof(*j->above));
	j->whole = arena_array(tmp, (size_t)t->n * j->reach.rows * j->reach.words,
	                       sizeof(*j->whole));
	if (!j->above || !j->whole) {
		return -ENOMEM;
	}
	memset(j->above, 0xff, (size_t)t->n * j->width * sizeof(*j->above));
	for (uint32_t s = 0; s < t->n; s++) {
		for (uint32_t i = t->up.first[s]; i < t->up.first[s + 1]; i++) {
			const struct dmodc_group *group = &t->up.group[i];

			if (group->slot != DMODC_NO_SLOT) {
				j->above[(size_t)s * j->width + group->slot] = group->to;
			}
		}
	}
	for (unsigned k = 0; k < j->reach.rows; k++) {
#pragma omp parallel for schedule(static)
		for (uint32_t s = 0; s < t->n; s++) {
			find_whole(j, s, k);
		}
	}
	return E_OK;
}

/* ---- one entry ---- */

static uint8_t port_of(const struct job *j, const struct dmodc_group *group,
                       uint64_t turn)
{
	return j->t.port[group->first + (group->n == 1 ? 0 : turn % group->n)];
}

/* Does host c of switch t keep its slots all the way up from s, k ranks below the turn?
 */
static bool keeps_slots(const struct job *j, uint32_t s, uint32_t t, uint32_t c,
                        unsigned k)
{
	for (; k; k--) {
		s = j->above[(size_t)s * j->width + j->slot[s][c]];
		if (s == GRAPH_NONE || !has_bit(dmodc_row(&j->reach, s, k - 1), t)) {
			return false;
		}
	}
	return true;
}

/* Do at least half of the uplinks of s lead to t, k ranks below the turn? */
static bool is_wide(const struct job *j, uint32_t s, uint32_t t, unsigned k)
{
	unsigned n = 0;

	for (uint32_t i = j->t.up.first[s]; k && i < j->t.up.first[s + 1]; i++) {
		n += has_bit(dmodc_row(&j->reach, j->t.up.group[i].to, k - 1), t);
	}
	return n * 2 >= j->t.slots[s];
}

/* Which of the groups up, k ranks below the turn, host c of switch t takes. */
static unsigned choose_up(const struct job *j, uint32_t s, uint32_t t, uint32_t c,
                          const struct candidates *x, unsigned k)
{
	uint64_t turn = c / j->t.divider[j->t.rank[s]] / j->t.slots[s] + j->t.place[s];
	unsigned own = x->n, n = 0;
	uint8_t good[LISTED_MAX];

	for (unsigned i = 0; i < x->n; i++) {
		const struct dmodc_group *group = &j->t.up.group[x->group[i]];
		bool fits = keeps_slots(j, group->to, t, c, k - 1) ||
		            is_wide(j, group->to, t, k - 1);

		if (group->slot == j->slot[s][c]) {
			if (fits) {
				return i;
			}
			own = i;
		}
		good[n] = (uint8_t)i;
		n += fits;
	}
	if (n) {
		return good[turn % n];
	}
	return own < x->n ? own : (unsigned)(turn % x->n);
}

static uint8_t deal_up(const struct job *j, uint32_t s, uint32_t t, uint32_t c,
                       const struct candidates *x, unsigned k)
{
	uint64_t turn = c / j->t.divider[j->t.rank[s]] / j->t.slots[s];
	unsigned at = choose_up(j, s, t, c, x, k);

	return port_of(j, &j->t.up.group[x->group[(at + j->k) % x->n]],
	               turn + j->k / x->n);
}

/* The same downwards: with several neighbours, as two ranks below. */
static uint8_t deal_down(const struct job *j, uint32_t s, uint32_t c,
                         const struct candidates *x)
{
	unsigned rank = j->t.rank[s];
	uint64_t turn = c / j->t.divider[rank];
	uint64_t at = rank < 2 ? c : c / j->t.divider[rank - 2];

	return port_of(j, &j->t.down.group[x->group[(at + j->k) % x->n]],
	               turn + j->k / x->n);
}

/* ---- the hosts of one switch at another ---- */

static void fill_one(const struct job *j, uint32_t s, uint32_t t, uint8_t port)
{
	uint32_t end = j->t.col[t] + hosts_on(j->g, t);
	uint8_t *row = lft_row(j->lft, s);

	for (uint32_t c = j->t.col[t]; c < end; c++) {
		row[j->lid[c]] = port;
	}
}

/* Destinations to which several neighbours below lead, or one by several cables. */
static void fill_down_choice(const struct job *j, uint32_t s, uint32_t t)
{
	uint8_t *row = lft_row(j->lft, s);
	struct candidates x;

	x.n = 0;

	for (uint32_t i = j->t.down.first[s]; i < j->t.down.first[s + 1]; i++) {
		if (has_bit(dmodc_row(&j->reach, j->t.down.group[i].to, 0), t)) {
			x.group[x.n++] = i;
		}
	}
	for (uint32_t c = j->t.col[t]; c < j->t.col[t] + hosts_on(j->g, t); c++) {
		row[j->lid[c]] = deal_down(j, s, c, &x);
	}
}

static void fill_up_choice(const struct job *j, uint32_t s, uint32_t t, unsigned k)
{
	uint8_t *row = lft_row(j->lft, s);
	struct candidates x;

	x.n = 0;

	for (uint32_t i = j->t.up.first[s]; i < j->t.up.first[s + 1]; i++) {
		if (has_bit(dmodc_row(&j->reach, j->t.up.group[i].to, k - 1), t)) {
			x.group[x.n++] = i;
		}
	}
	for (uint32_t c = j->t.col[t]; c < j->t.col[t] + hosts_on(j->g, t); c++) {
		row[j->lid[c]] = deal_up(j, s, t, c, &x, k);
	}
}

/* ---- one switch ---- */

/* Bits of the destinations that more than one group below leads to. */
static void find_several(const struct job *j, uint32_t s, uint64_t *several)
{
	uint32_t words = j->reach.words;

	memset(several, 0, words * sizeof(*several));
	for (uint32_t w = 0; w < words; w++) {
		uint64_t once = 0;

		for (uint32_t i = j->t.down.first[s]; i < j->t.down.first[s + 1]; i++) {
			uint64_t row = dmodc_row(&j->reach, j->t.down.group[i].to, 0)[w];

			several[w] |= once & row;
			once |= row;
		}
	}
}

static void fill_down(const struct job *j, uint32_t s, uint64_t *several)
{
	find_several(j, s, several);
	for (uint32_t i = j->t.down.first[s]; i < j->t.down.first[s + 1]; i++) {
		const struct dmodc_group *group = &j->t.down.group[i];
		const uint64_t *row = dmodc_row(&j->reach, group->to, 0);

		for (uint32_t w = 0; w < j->reach.words; w++) {
			for (uint64_t b = row[w] & ~several[w]; b; b &= b - 1) {
				uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);

				if (!hosts_on(j->g, t)) {
					continue;
				}
				if (group->n == 1) {
					fill_one(j, s, t, j->t.port[group->first]);
				} else {
					fill_down_choice(j, s, t);
				}
			}
		}
	}
	for (uint32_t w = 0; w < j->reach.words; w++) {
		for (uint64_t b = several[w]; b; b &= b - 1) {
			uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);

			if (hosts_on(j->g, t)) {
				fill_down_choice(j, s, t);
			}
		}
	}
}

/* Port per slot; false when a slot is missing or has several cables. */
static bool ports_by_slot(const struct job *j, uint32_t s, uint8_t *ret)
{
	unsigned n = 0, slots = j->t.slots[s];

	for (uint32_t i = j->t.up.first[s]; i < j->t.up.first[s + 1]; i++) {
		const struct dmodc_group *group = &j->t.up.group[i];

		if (group->slot != DMODC_NO_SLOT) {
			/* LID k of a port belongs to the k-th next slot */
			ret[(group->slot + slots - j->k % slots) % slots] =
				j->t.port[group->first];
			n += group->n == 1;
		}
	}
	return n == slots;
}

static void fill_up(const struct job *j, uint32_t s, unsigned k, const uint8_t *port)
{
	const uint64_t *whole = whole_row(j, s, k);
	const uint64_t *all = dmodc_row(&j->reach, s, k);
	uint8_t *row = lft_row(j->lft, s);

	for (uint32_t w = 0; w < j->reach.words; w++) {
		for (uint64_t b = all[w]; b; b &= b - 1) {
			uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);
			uint32_t c = j->t.col[t], end = c + hosts_on(j->g, t);

			if (c == end) {
				continue;
			}
			if (!port || !has_bit(whole, t)) {
				fill_up_choice(j, s, t, k);
				continue;
			}
			for (; c < end; c++) {
				row[j->lid[c]] = port[j->slot[s][c]];
			}
		}
	}
}

static void fill_own(const struct job *j, uint32_t s)
{
	const struct graph *g = j->g;
	uint8_t *row = lft_row(j->lft, s);
	uint32_t c = j->t.col[s];

	for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++, c++) {
		row[j->lid[c]] = g->ports[g->ports[g->hosts[h]].peer].num;
	}
}

static void fill_hosts(const struct job *j)
{
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->t.n; s++) {
		uint64_t *bits = j->scratch + (size_t)column_thread() * j->reach.words;
		uint8_t port[PORTS_MAX];
		bool simple = j->t.slots[s] && ports_by_slot(j, s, port);

		fill_down(j, s, bits);
		for (unsigned k = 1; k < j->reach.rows; k++) {
			fill_up(j, s, k, simple ? port : NULL);
		}
		fill_own(j, s);
	}
}

/* ---- LIDs of switches ---- */

/* All LIDs of a switch at another, over the groups that lead closer, from the first on.
 */
static void fill_switch(const struct job *j, uint32_t s, uint32_t t,
                        const struct dmodc_groups *dir, unsigned k)
{
	struct lid_range r = j->lids->of[graph_port(j->g, j->g->switches[t], 0)];
	uint32_t group[LISTED_MAX];
	unsigned n = 0, wanted = 1U << r.lmc;

	for (uint32_t i = dir->first[s]; i < dir->first[s + 1] && n < wanted; i++) {
		if (has_bit(dmodc_row(&j->reach, dir->group[i].to, k), t)) {
			group[n++] = i;
		}
	}
	for (unsigned i = 0; r.base && i < wanted; i++) {
		lft_row(j->lft, s)[r.base + i] =
			port_of(j, &dir->group[group[i % n]], i / n);
	}
}

static void fill_switches_at(const struct job *j, uint32_t s)
{
	struct lid_range own = j->lids->of[graph_port(j->g, j->g->switches[s], 0)];

	for (unsigned k = 0; k < j->reach.rows; k++) {
		const uint64_t *row = dmodc_row(&j->reach, s, k);

		for (uint32_t w = 0; w < j->reach.words; w++) {
			for (uint64_t b = row[w]; b; b &= b - 1) {
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

static void fill_switches(const struct job *j)
{
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->t.n; s++) {
		fill_switches_at(j, s);
	}
}

/* ---- what has no route by rank ---- */

/* All LIDs of a switch and its hosts at another, dealt over ports. */
static void fill_ports(const struct job *j, uint32_t s, uint32_t t, const uint8_t *port,
                       unsigned n)
{
	struct lid_range own = j->lids->of[graph_port(j->g, j->g->switches[t], 0)];
	uint32_t c = j->t.col[t], end = c + hosts_on(j->g, t);
	uint8_t *row = lft_row(j->lft, s);

	for (uint32_t k = 0; own.base && k < 1U << own.lmc; k++) {
		row[own.base + k] = port[k % n];
	}
	for (; c < end; c++) {
		uint64_t turn = c / j->t.divider[j->t.rank[s]] + j->t.place[s];

		for (uint32_t k = 0; j->base[c] && k < 1U << j->lmc[c]; k++) {
			row[j->base[c] + k] = port[(turn + k) % n];
		}
	}
}

/* Steps down the line where that descends to the end, else steps up. */
static void fill_unjoined(const struct job *j, uint32_t s, uint32_t t)
{
	const struct graph *g = j->g;
	uint32_t words = j->reach.words;
	bool down = has_bit(j->line.descends + (size_t)s * words, t);
	const uint64_t *bits = down ? j->line.descends : j->line.reaches;
	uint8_t port[PORTS_MAX];
	unsigned n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t to = g->adj[i].to;

		if ((j->line.pos[to] > j->line.pos[s]) == down &&
		    has_bit(bits + (size_t)to * words, t)) {
			port[n++] = g->adj[i].port;
		}
	}
	fill_ports(j, s, t, port, n);
}

static void fill_line(const struct job *j)
{
	uint32_t words = j->reach.words;

#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->t.n; s++) {
		for (uint32_t w = 0; w < words; w++) {
			uint64_t b = j->line.reaches[(size_t)s * words + w];

			for (unsigned k = 0; k < j->reach.rows; k++) {
				b &= ~dmodc_row(&j->reach, s, k)[w];
			}
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

enum { HOPS_FAR = 0xffff };

static void find_way(const struct job *j, uint32_t t, struct way *x)
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

static unsigned way_ports(const struct job *j, const struct way *x, uint32_t s,
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

static void fill_way(const struct job *j, uint32_t t, struct way *x)
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

static int fill_left(const struct job *j, struct arena *tmp)
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

/* ---- the whole ---- */

/* Of all pairs of switches with hosts, half at least must be joined by ranks. */
static int judge_pairs(struct job *j, struct why *why)
{
	const struct dmodc_tree *t = &j->t;
	uint64_t joined = 0, pairs = (uint64_t)t->n_homes * t->n_homes;

#pragma omp parallel for schedule(static) reduction(+ : joined)
	for (uint32_t a = 0; a < t->n_homes; a++) {
		for (uint32_t b = 0; b < t->n_homes; b++) {
			joined += t->part[t->home[a]] != t->part[t->home[b]] ||
			          dmodc_reaches(&j->reach, t->home[a], t->home[b]);
		}
	}
	if (joined * 2 < pairs) {
		why_add(why,
		        "dmodc: not a tree: of %" PRIu64
		        " pairs of switches with hosts only %" PRIu64
		        " have a switch above both",
		        pairs - t->n_homes, joined - t->n_homes);
		return E_UNSUITABLE;
	}
	j->n_unjoined = pairs - joined;
	return E_OK;
}

/* The table of floor(column / divider) mod slots for a switch, made when nobody has it
 * yet.
 */
static int share_deal(struct job *j, uint32_t s, struct arena *tmp)
{
	unsigned rank = j->t.rank[s], slots = j->t.slots[s];
	struct deal *d = j->deal;

	while (d < j->deal + j->n_deals && (d->rank != rank || d->slots != slots)) {
		d++;
	}
	if (d == j->deal + j->n_deals) {
		*d = (struct deal){ .rank = rank, .slots = slots };
		d->slot = arena_alloc(tmp, j->t.n_cols);
		if (!d->slot) {
			return -ENOMEM;
		}
		for (uint32_t c = 0; c < j->t.n_cols; c++) {
			d->slot[c] = (uint8_t)(c / j->t.divider[rank] % slots);
		}
		j->n_deals++;
	}
	j->slot[s] = d->slot;
	return E_OK;
}

static int find_hosts(struct job *j, struct arena *tmp)
{
	const struct graph *g = j->g;

	j->base = arena_array(tmp, j->t.n_cols, sizeof(*j->base));
	j->lid = arena_array(tmp, j->t.n_cols, sizeof(*j->lid));
	j->lmc = arena_alloc(tmp, j->t.n_cols);
	if (!j->base || !j->lid || !j->lmc) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < j->t.n_homes; i++) {
		uint32_t s = j->t.home[i], c = j->t.col[s];

		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++, c++) {
			j->base[c] = j->lids->of[g->hosts[h]].base;
			j->lmc[c] = j->lids->of[g->hosts[h]].lmc;
		}
	}
	return E_OK;
}

static int job_init(struct job *j, const struct route_in *in, struct arena *tmp,
                    struct why *why)
{
	const struct dmodc_options *o = in->options;
	uint32_t n = in->g->n_switches;
	int ret = dmodc_tree_init(&j->t, in->g, o ? o->root_guid_file : NULL, tmp, why);

	if (ret == E_OK) {
		ret = dmodc_reach_init(&j->reach, &j->t, tmp);
	}
	if (ret == E_OK) {
		ret = judge_pairs(j, why);
	}
	if (ret == E_OK) {
		ret = dmodc_line_init(&j->line, &j->t, &j->reach, tmp);
	}
	if (ret == E_OK) {
		ret = find_above(j, tmp);
	}
	if (ret == E_OK) {
		ret = find_hosts(j, tmp);
	}
	if (ret != E_OK) {
		return ret;
	}
	j->deal = arena_array(tmp, n, sizeof(*j->deal));
	j->slot = arena_array(tmp, n, sizeof(*j->slot));
	j->scratch = arena_array(tmp, (size_t)column_threads() * j->reach.words,
	                         sizeof(*j->scratch));
	if (!j->deal || !j->slot || !j->scratch) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < n && ret == E_OK; s++) {
		ret = j->t.slots[s] ? share_deal(j, s, tmp) : E_OK;
	}
	return ret;
}

/* LIDs of this pass. \return false when no port has that many. */
static bool start_pass(struct job *j, unsigned k)
{
	bool some = k == 0;

	j->k = k;
	for (uint32_t c = 0; c < j->t.n_cols; c++) {
		bool in_range = j->base[c] && k >> j->lmc[c] == 0;

		j->lid[c] = in_range ? j->base[c] + k : 0;
		some |= in_range;
	}
	return some;
}

/* What was written for LID 0 stands for hosts without a LID. */
static void clear_nobody(const struct job *j)
{
	for (uint32_t s = 0; s < j->t.n; s++) {
		lft_row(j->lft, s)[0] = LFT_NO_ROUTE;
	}
}

static int fill_tables(struct job *j, const _Atomic bool *cancel, struct arena *tmp,
                       struct why *notes)
{
	int ret = E_OK;

	for (unsigned k = 0; start_pass(j, k); k++) {
		if (cancel && *cancel) {
			return -ECANCELED;
		}
		fill_hosts(j);
	}
	clear_nobody(j);
	fill_switches(j);
	fill_line(j);
	if (j->line.n_left) {
		ret = fill_left(j, tmp);
	}
	if (j->t.n_missing) {
		why_add(notes,
		        "dmodc: %" PRIu32 " uplinks are missing that like switches have; "
		        "what they would take is spread over the others",
		        j->t.n_missing);
	}
	if (j->t.n_unused) {
		why_add(notes,
		        "dmodc: %" PRIu32 " cables join switches of one rank and are not "
		        "used",
		        j->t.n_unused);
	}
	if (j->n_unjoined) {
		why_add(notes,
		        "dmodc: %" PRIu64
		        " pairs of switches with hosts have no switch above both and "
		        "take longer routes",
		        j->n_unjoined / 2);
	}
	return ret;
}

static int dmodc_route(const struct route_in *in, struct arena *a, struct route_out *ret)
{
	struct arena *tmp = arena_new();
	struct lft lft;
	struct job j = { .g = in->g, .lids = in->lids, .lft = &lft };
	int ret_code = -ENOMEM;

	if (!tmp) {
		goto out;
	}
	ret_code = job_init(&j, in, tmp, &ret->notes);
	if (ret_code == E_OK) {
		ret_code = lft_init(&lft, in->g->n_switches, in->lids->top, a);
	}
	if (ret_code == E_OK) {
		ret_code = fill_tables(&j, in->cancel, tmp, &ret->notes);
	}
	if (ret_code == E_OK) {
		ret->lft = lft;
		ret->lanes = (struct lanes){ .n = 1 };
	}
out:
	arena_free(tmp);
	return ret_code;
}

/* clang-format off */
static const struct option_row dmodc_options[] = {
	{ .name = "root_guid_file", .type = OPT_GUID_FILE,
	  .offset = offsetof(struct dmodc_options, root_guid_file), .letter = 'a',
	  .flags_long = "root_guid_file", .arg = "FILE",
	  .help = "GUIDs of the root switches of a tree, or of hosts on them; none: they are found" },
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_dmodc = {
	.name = "dmodc",
	.summary = "Trees by closed form, near optimal also with missing links",
	.flags = ENGINE_DEADLOCK_FREE,
	.options = dmodc_options,
	.opt_size = sizeof(struct dmodc_options),
	.route = dmodc_route,
};

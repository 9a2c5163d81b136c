/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Entries for hosts: the closed form, and what takes the place of what is missing. */
#include <string.h>

#include "routing/engines/dmodc/dmodc_job.h"
#include "routing/graph/column.h"

enum { PORTS_MAX = 256, LISTED_MAX = 255 };

/* The groups of one switch that lead closer to one destination. */
struct candidates {
	const struct dmodc_groups *dir; /* all groups up, or down */
	unsigned n;
	unsigned cables; /* of all of them */
	bool alike;      /* each leads to another system, by the same number of cables */
	uint32_t group[LISTED_MAX]; /* index in the groups of the direction */
};

/* ---- the LIDs of one port ---- */

static uint64_t system_of(const struct dmodc_job *j, const struct candidates *x,
                          unsigned i)
{
	uint32_t to = x->dir->group[x->group[i]].to;
	const struct node *n = &j->g->nodes[j->g->switches[to]];

	return n->system_image_guid ? n->system_image_guid : n->guid;
}

/* To be called when all candidates are there. */
static void compare_candidates(const struct dmodc_job *j, struct candidates *x)
{
	const struct dmodc_group *group = x->dir->group;

	x->alike = true;
	x->cables = 0;
	for (unsigned i = 0; i < x->n; i++) {
		x->cables += group[x->group[i]].n;
		x->alike &= group[x->group[i]].n == group[x->group[0]].n;
		for (unsigned k = 0; j->k && x->alike && k < i; k++) {
			x->alike = system_of(j, x, k) != system_of(j, x, i);
		}
	}
}

/* Is the system of a candidate that of one which is taken already? */
static bool is_taken(const struct dmodc_job *j, const struct candidates *x,
                     const uint8_t *taken, unsigned i)
{
	for (unsigned k = 0; k < x->n; k++) {
		if (taken[k] && system_of(j, x, k) == system_of(j, x, i)) {
			return true;
		}
	}
	return false;
}

/* A cable: which candidate, and how many of its cables were taken before. */
struct place {
	unsigned at, before;
};

/*
 * The cable that is the shift-th from candidate \a at on, when each is taken once, to
 * other systems first, then to other switches. So the LIDs of a port take all cables in
 * turn.
 */
static struct place place_after(const struct dmodc_job *j, const struct candidates *x,
                                unsigned at, unsigned shift)
{
	uint8_t taken[LISTED_MAX];

	if (x->alike) {
		return (struct place){ (at + shift) % x->n, shift / x->n };
	}
	memset(taken, 0, x->n);
	for (shift %= x->cables; shift; shift--) {
		unsigned best, best_key;

		taken[at]++;
		/* The next candidate with a cable left: to another system if there
		 * is one, else to another switch. */
		best = x->n;
		best_key = 3;
		for (unsigned k = 0; k < x->n && best_key; k++) {
			unsigned i = (((at + 1) % x->n) + k) % x->n;
			unsigned key = taken[i] ? 2 : is_taken(j, x, taken, i);

			if (taken[i] < x->dir->group[x->group[i]].n && key < best_key) {
				best = i;
				best_key = key;
			}
		}
		at = best;
	}
	return (struct place){ at, taken[at] };
}

static uint8_t port_after(const struct dmodc_job *j, const struct candidates *x,
                          unsigned at, uint64_t turn, unsigned shift)
{
	struct place p = place_after(j, x, at, shift);

	return dmodc_port(j, &x->dir->group[x->group[p.at]], turn + p.before);
}

/* ---- one entry ---- */
/* Does host c of switch t keep its slots all the way up from s, k ranks below the turn?
 */
static bool keeps_slots(const struct dmodc_job *j, uint32_t s, uint32_t t, uint32_t c,
                        unsigned k)
{
	for (; k; k--) {
		s = j->above[(size_t)s * j->width + j->slot[s][c]];
		if (s == GRAPH_NONE ||
		    !dmodc_has_bit(dmodc_row(&j->reach, s, k - 1), t)) {
			return false;
		}
	}
	return true;
}

/* Do at least half of the uplinks of s lead to t, k ranks below the turn? */
static bool is_wide(const struct dmodc_job *j, uint32_t s, uint32_t t, unsigned k)
{
	unsigned n = 0;

	for (uint32_t i = j->t.up.first[s]; k && i < j->t.up.first[s + 1]; i++) {
		n += dmodc_has_bit(dmodc_row(&j->reach, j->t.up.group[i].to, k - 1), t);
	}
	return n * 2 >= j->t.slots[s];
}

/* Is the neighbour behind a group a good choice for host c of switch t? */
static bool fits(const struct dmodc_job *j, uint32_t group, uint32_t t, uint32_t c,
                 unsigned k)
{
	uint32_t to = j->t.up.group[group].to;

	return keeps_slots(j, to, t, c, k - 1) || is_wide(j, to, t, k - 1);
}

/* Which of the groups up, k ranks below the turn, host c of switch t takes. */
static unsigned choose_up(const struct dmodc_job *j, uint32_t s, uint32_t t, uint32_t c,
                          const struct candidates *x, unsigned k)
{
	uint64_t turn = dmodc_turn(j, j->t.rank[s], c) / j->t.slots[s] + j->t.place[s];
	unsigned own = 0, n = 0;
	uint8_t good[LISTED_MAX];

	while (own < x->n && j->t.up.group[x->group[own]].slot != j->slot[s][c]) {
		own++;
	}
	if (own < x->n && fits(j, x->group[own], t, c, k)) {
		return own;
	}
	for (unsigned i = 0; i < x->n; i++) {
		good[n] = (uint8_t)i;
		n += i != own && fits(j, x->group[i], t, c, k);
	}
	if (n) {
		return good[turn % n];
	}
	return own < x->n ? own : (unsigned)(turn % x->n);
}

/* All neighbours above a switch. */
static void find_above(const struct dmodc_job *j, uint32_t t, struct candidates *x)
{
	x->dir = &j->t.up;
	x->n = 0;
	for (uint32_t i = x->dir->first[t]; i < x->dir->first[t + 1]; i++) {
		if (x->dir->group[i].slot != DMODC_NO_SLOT) {
			x->group[x->n++] = i;
		}
	}
	compare_candidates(j, x);
}

/*
 * Which of its cables down to switch t switch s takes for a further LID: the one by which
 * t would send up. So LIDs that come to s from other switches part here. Once all cables
 * had their turn, those that came together part.
 */
static unsigned mirror(const struct dmodc_job *j, uint32_t s, uint32_t t, uint32_t c,
                       const struct candidates *above)
{
	unsigned at = 0;
	struct place p;

	while (at < above->n &&
	       above->dir->group[above->group[at]].slot != j->slot[t][c]) {
		at++;
	}
	if (at == above->n) {
		return dmodc_shift(j, j->t.rank[s]);
	}
	p = place_after(j, above, at, j->k);
	return above->dir->group[above->group[p.at]].to == s
	               ? p.before + j->k / above->cables
	               : dmodc_shift(j, j->t.rank[s]);
}

/* The same downwards: with several neighbours, as two ranks below. */
static uint8_t deal_down(const struct dmodc_job *j, uint32_t s, uint32_t t, uint32_t c,
                         const struct candidates *x, const struct candidates *above)
{
	unsigned rank = j->t.rank[s];
	uint32_t below = x->dir->group[x->group[0]].to;
	uint64_t turn = dmodc_turn(j, rank - 1, c) / j->t.slots[below]; /* as below, up */
	uint64_t at = dmodc_turn(j, rank < 2 ? 0 : rank - 2, c);

	if (x->n == 1 && j->k && above->n) {
		return dmodc_port(j, &x->dir->group[x->group[0]],
		                  turn + mirror(j, s, t, c, above));
	}
	return port_after(j, x, (unsigned)(at % x->n), turn, dmodc_shift(j, rank));
}

/* ---- the hosts of one switch at another ---- */

static void fill_one(const struct dmodc_job *j, uint32_t s, uint32_t t, uint8_t port)
{
	uint32_t end = j->t.col[t] + dmodc_hosts_on(j->g, t);
	uint8_t *row = lft_row(j->lft, s);

	for (uint32_t c = j->t.col[t]; c < end; c++) {
		row[j->lid[c]] = port;
	}
}

/* Destinations to which several neighbours below lead, or one by several cables. */
static void fill_down_choice(const struct dmodc_job *j, uint32_t s, uint32_t t)
{
	uint8_t *row = lft_row(j->lft, s);
	struct candidates x, above;

	above.n = 0;
	x.dir = &j->t.down;
	x.n = 0;
	for (uint32_t i = j->t.down.first[s]; i < j->t.down.first[s + 1]; i++) {
		if (dmodc_has_bit(dmodc_row(&j->reach, j->t.down.group[i].to, 0), t)) {
			x.group[x.n++] = i;
		}
	}
	compare_candidates(j, &x);
	if (j->k && x.n == 1 && x.dir->group[x.group[0]].to == t) {
		find_above(j, t, &above);
	}
	for (uint32_t c = j->t.col[t]; c < j->t.col[t] + dmodc_hosts_on(j->g, t); c++) {
		row[j->lid[c]] = deal_down(j, s, t, c, &x, &above);
	}
}

static void fill_up_choice(const struct dmodc_job *j, uint32_t s, uint32_t t, unsigned k)
{
	uint8_t *row = lft_row(j->lft, s);
	struct candidates x;

	x.dir = &j->t.up;
	x.n = 0;
	for (uint32_t i = j->t.up.first[s]; i < j->t.up.first[s + 1]; i++) {
		if (dmodc_has_bit(dmodc_row(&j->reach, j->t.up.group[i].to, k - 1), t)) {
			x.group[x.n++] = i;
		}
	}
	compare_candidates(j, &x);
	for (uint32_t c = j->t.col[t]; c < j->t.col[t] + dmodc_hosts_on(j->g, t); c++) {
		unsigned rank = j->t.rank[s], shift = dmodc_shift(j, rank);
		uint64_t turn = dmodc_turn(j, rank, c) / j->t.slots[s];
		row[j->lid[c]] =
			port_after(j, &x, choose_up(j, s, t, c, &x, k), turn, shift);
	}
}

/* ---- one switch ---- */

static void fill_down(const struct dmodc_job *j, uint32_t s, uint64_t *several)
{
	uint32_t words = j->reach.words;

	/* Bits of the destinations that more than one group below leads to. */
	memset(several, 0, words * sizeof(*several));
	for (uint32_t w = 0; w < words; w++) {
		uint64_t once = 0;

		for (uint32_t i = j->t.down.first[s]; i < j->t.down.first[s + 1]; i++) {
			uint64_t row = dmodc_row(&j->reach, j->t.down.group[i].to, 0)[w];

			several[w] |= once & row;
			once |= row;
		}
	}
	for (uint32_t i = j->t.down.first[s]; i < j->t.down.first[s + 1]; i++) {
		const struct dmodc_group *group = &j->t.down.group[i];
		const uint64_t *row = dmodc_row(&j->reach, group->to, 0);

		for (uint32_t w = 0; w < j->reach.words; w++) {
			for (uint64_t b = row[w] & ~several[w]; b; b &= b - 1) {
				uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);

				if (!dmodc_hosts_on(j->g, t)) {
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

			if (dmodc_hosts_on(j->g, t)) {
				fill_down_choice(j, s, t);
			}
		}
	}
}

/* Do neighbouring slots lead to as many systems as there are, wherever one begins? */
static bool systems_alternate(const struct dmodc_job *j, uint32_t s)
{
	struct candidates x;
	unsigned n_systems = 0, first;

	find_above(j, s, &x);
	for (unsigned i = 0; !x.alike && i < x.n; i++) {
		for (first = 0; system_of(j, &x, first) != system_of(j, &x, i); first++) {
		}
		n_systems += first == i;
	}
	for (unsigned i = 0; !x.alike && i < x.n; i++) {
		for (unsigned k = 1; k < n_systems; k++) {
			if (system_of(j, &x, i) == system_of(j, &x, (i + k) % x.n)) {
				return false;
			}
		}
	}
	return true;
}

/* Port per slot; false when a slot is missing or has several cables. */
static bool ports_by_slot(const struct dmodc_job *j, uint32_t s, uint8_t *ret)
{
	unsigned n = 0, slots = j->t.slots[s], shift = dmodc_shift(j, j->t.rank[s]);

	for (uint32_t i = j->t.up.first[s]; i < j->t.up.first[s + 1]; i++) {
		const struct dmodc_group *group = &j->t.up.group[i];

		if (group->slot != DMODC_NO_SLOT) {
			/* LID k of a port belongs to the k-th next slot */
			ret[(group->slot + slots - shift % slots) % slots] =
				j->t.port[group->first];
			n += group->n == 1;
		}
	}
	return n == slots && (!j->k || systems_alternate(j, s));
}

static void fill_up(const struct dmodc_job *j, uint32_t s, unsigned k,
                    const uint8_t *port)
{
	const uint64_t *whole = dmodc_whole(j, s, k);
	const uint64_t *all = dmodc_row(&j->reach, s, k);
	uint8_t *row = lft_row(j->lft, s);

	for (uint32_t w = 0; w < j->reach.words; w++) {
		for (uint64_t b = all[w]; b; b &= b - 1) {
			uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);
			uint32_t c = j->t.col[t], end = c + dmodc_hosts_on(j->g, t);

			if (c == end) {
				continue;
			}
			if (!port || !dmodc_has_bit(whole, t)) {
				fill_up_choice(j, s, t, k);
				continue;
			}
			for (; c < end; c++) {
				row[j->lid[c]] = port[j->slot[s][c]];
			}
		}
	}
}

void dmodc_fill_hosts(const struct dmodc_job *j)
{
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->t.n; s++) {
		uint64_t *bits = j->scratch + (size_t)column_thread() * j->reach.words;
		uint8_t port[PORTS_MAX];
		bool simple = j->t.slots[s] && ports_by_slot(j, s, port);
		const struct graph *g;
		uint8_t *row;
		uint32_t c;

		fill_down(j, s, bits);
		for (unsigned k = 1; k < j->reach.rows; k++) {
			fill_up(j, s, k, simple ? port : NULL);
		}
		g = j->g;
		row = lft_row(j->lft, s);
		c = j->t.col[s];
		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++, c++) {
			row[j->lid[c]] = g->ports[g->ports[g->hosts[h]].peer].num;
		}
	}
}

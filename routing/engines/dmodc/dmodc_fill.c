/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Entries for hosts and switches: the closed form, and the choice where cables are missing. */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/dmodc/dmodc_job.h"
#include "routing/graph/column.h"
#include "routing/graph/lids.h"

enum { PORTS_MAX = 256, LISTED_MAX = 255 };

/* The groups of one switch that lead closer to one destination. */
struct candidates {
	const struct dmodc_groups *dir; /* all groups up, or down */
	unsigned n;
	unsigned cables; /* of all candidates */
	bool alike;      /* each leads to another system by equally many cables */
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

/* Sets cables and alike when all candidates are listed. */
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

/* Does a candidate that was taken lead to the same system? */
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
 * The cable that comes shift steps after the first cable of candidate \a at, when each cable
 * is taken once: first to other systems, then to other switches. So the LIDs of a port use
 * all cables in turn.
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
		/* the next candidate with a cable left: preferably to another
		 * system, else to another switch */
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
                          unsigned at, uint64_t quotient, unsigned shift)
{
	struct place p = place_after(j, x, at, shift);

	return dmodc_port(j, &x->dir->group[x->group[p.at]], quotient + p.before);
}

/* ---- one entry ---- */

/* Is the route of host c of switch t by its own slots whole from s up to k ranks above? */
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

/* Do at least half of the uplinks of s lead to t by climbing k ranks? */
static bool is_wide(const struct dmodc_job *j, uint32_t s, uint32_t t, unsigned k)
{
	unsigned n = 0;

	for (uint32_t i = j->t.up.first[s]; k && i < j->t.up.first[s + 1]; i++) {
		n += dmodc_has_bit(dmodc_row(&j->reach, j->t.up.group[i].to, k - 1), t);
	}
	return n * 2 >= j->t.slots[s];
}

/* Is the neighbour behind a group a good choice for host c of switch t? */
static bool is_good_choice(const struct dmodc_job *j, uint32_t group, uint32_t t,
                           uint32_t c, unsigned k)
{
	uint32_t to = j->t.up.group[group].to;

	return keeps_slots(j, to, t, c, k - 1) || is_wide(j, to, t, k - 1);
}

/* The candidate for host c of switch t, which is reached by climbing k ranks. */
static unsigned choose_up(const struct dmodc_job *j, uint32_t s, uint32_t t, uint32_t c,
                          const struct candidates *x, unsigned k)
{
	uint64_t quotient =
		dmodc_quotient(j, j->t.rank[s], c) / j->t.slots[s] + j->t.place[s];
	unsigned own = 0, n = 0;
	uint8_t good[LISTED_MAX];

	while (own < x->n && j->t.up.group[x->group[own]].slot != j->slot[s][c]) {
		own++;
	}
	if (own < x->n && is_good_choice(j, x->group[own], t, c, k)) {
		return own;
	}
	for (unsigned i = 0; i < x->n; i++) {
		good[n] = (uint8_t)i;
		n += i != own && is_good_choice(j, x->group[i], t, c, k);
	}
	if (n) {
		return good[quotient % n];
	}
	return own < x->n ? own : (unsigned)(quotient % x->n);
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
 * The cable from switch s down to switch t for a further LID: the cable over which t would
 * send up. So LIDs that reach s from different switches use different cables. After all
 * cables, LIDs that reach s together separate.
 */
static unsigned mirrored_cable(const struct dmodc_job *j, uint32_t s, uint32_t t,
                               uint32_t c, const struct candidates *above)
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

/* The choice downward: among several neighbours, that of two ranks below. */
static uint8_t choose_down(const struct dmodc_job *j, uint32_t s, uint32_t t, uint32_t c,
                           const struct candidates *x, const struct candidates *above)
{
	unsigned rank = j->t.rank[s];
	uint32_t below = x->dir->group[x->group[0]].to;
	uint64_t quotient =
		dmodc_quotient(j, rank - 1, c) / j->t.slots[below]; /* as below, up */
	uint64_t at = dmodc_quotient(j, rank < 2 ? 0 : rank - 2, c);

	if (x->n == 1 && j->k && above->n) {
		return dmodc_port(j, &x->dir->group[x->group[0]],
		                  quotient + mirrored_cable(j, s, t, c, above));
	}
	return port_after(j, x, (unsigned)(at % x->n), quotient, dmodc_shift(j, rank));
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

/* Destinations to which several neighbours below lead, or one neighbour by several cables. */
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
		row[j->lid[c]] = choose_down(j, s, t, c, &x, &above);
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
		uint64_t quotient = dmodc_quotient(j, rank, c) / j->t.slots[s];
		row[j->lid[c]] =
			port_after(j, &x, choose_up(j, s, t, c, &x, k), quotient, shift);
	}
}

/* ---- one switch ---- */

static void fill_down(const struct dmodc_job *j, uint32_t s, uint64_t *several)
{
	uint32_t words = j->reach.words;

	/* destinations to which more than one group below leads */
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

/* Do any adjacent slots, as many as there are systems, lead to different systems? */
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
static bool ports_by_slot(const struct dmodc_job *j, uint32_t s, uint8_t *ret_ports)
{
	unsigned n = 0, slots = j->t.slots[s], shift = dmodc_shift(j, j->t.rank[s]);

	for (uint32_t i = j->t.up.first[s]; i < j->t.up.first[s + 1]; i++) {
		const struct dmodc_group *group = &j->t.up.group[i];

		if (group->slot != DMODC_NO_SLOT) {
			/* LID k of a port belongs to the k-th next slot */
			ret_ports[(group->slot + slots - shift % slots) % slots] =
				j->t.port[group->first];
			n += group->n == 1;
		}
	}
	return n == slots && (!j->k || systems_alternate(j, s));
}

static void fill_up(const struct dmodc_job *j, uint32_t s, unsigned k,
                    const uint8_t *port)
{
	const uint64_t *intact = dmodc_intact(j, s, k);
	const uint64_t *all = dmodc_row(&j->reach, s, k);
	uint8_t *row = lft_row(j->lft, s);

	for (uint32_t w = 0; w < j->reach.words; w++) {
		for (uint64_t b = all[w]; b; b &= b - 1) {
			uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(b);
			uint32_t c = j->t.col[t], end = c + dmodc_hosts_on(j->g, t);

			if (c == end) {
				continue;
			}
			if (!port || !dmodc_has_bit(intact, t)) {
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

/* ---- LIDs of switches ---- */

/* Entries of switch s for all LIDs of switch t: one group that leads closer after the other. */
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

static void fill_switches_at(const struct dmodc_job *j, uint32_t s)
{
	struct lid_range own = j->lids->of[graph_port(j->g, j->g->switches[s], 0)];

	for (unsigned k = 0; k < j->reach.rows; k++) {
		const uint64_t *row = dmodc_row(&j->reach, s, k);
		const struct dmodc_groups *dir = k ? &j->t.up : &j->t.down;
		const uint64_t *all = dmodc_row(&j->reach, s, k);

		/* switches with one LID, k ranks up: the first group that leads
		 * closer */
		for (uint32_t w = 0; w < j->reach.words; w++) {
			uint64_t word = all[w] & j->single[w];

			for (uint32_t i = dir->first[s]; word && i < dir->first[s + 1];
			     i++) {
				const struct dmodc_group *group = &dir->group[i];

				word = order_set_ports(
					j->own, lft_row(j->lft, s), w, word,
					dmodc_row(&j->reach, group->to, k ? k - 1 : 0)[w],
					j->t.port[group->first]);
			}
		}
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

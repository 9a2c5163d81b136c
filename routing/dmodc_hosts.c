/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/* Entries for hosts: the closed form, and what takes the place of what is missing. */
#include <string.h>

#include "routing/column.h"
#include "routing/dmodc_job.h"

enum { PORTS_MAX = 256, LISTED_MAX = 255 };

/* The groups of one switch that lead closer to one destination. */
struct candidates {
	unsigned n;
	uint32_t group[LISTED_MAX]; /* index in the groups of the direction */
};

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

static uint8_t deal_up(const struct dmodc_job *j, uint32_t s, uint32_t t, uint32_t c,
                       const struct candidates *x, unsigned k)
{
	unsigned rank = j->t.rank[s], shift = dmodc_shift(j, rank);
	uint64_t turn = dmodc_turn(j, rank, c) / j->t.slots[s];
	unsigned at = choose_up(j, s, t, c, x, k);

	return dmodc_port(j, &j->t.up.group[x->group[(at + shift) % x->n]],
	                  turn + shift / x->n);
}

/* The same downwards: with several neighbours, as two ranks below. */
static uint8_t deal_down(const struct dmodc_job *j, uint32_t s, uint32_t c,
                         const struct candidates *x)
{
	unsigned rank = j->t.rank[s];
	uint64_t turn = dmodc_turn(j, rank, c);
	uint64_t at = dmodc_turn(j, rank < 2 ? 0 : rank - 2, c);

	return dmodc_port(j, &j->t.down.group[x->group[(at + j->k) % x->n]],
	                  turn + j->k / x->n);
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
	struct candidates x;

	x.n = 0;

	for (uint32_t i = j->t.down.first[s]; i < j->t.down.first[s + 1]; i++) {
		if (dmodc_has_bit(dmodc_row(&j->reach, j->t.down.group[i].to, 0), t)) {
			x.group[x.n++] = i;
		}
	}
	for (uint32_t c = j->t.col[t]; c < j->t.col[t] + dmodc_hosts_on(j->g, t); c++) {
		row[j->lid[c]] = deal_down(j, s, c, &x);
	}
}

static void fill_up_choice(const struct dmodc_job *j, uint32_t s, uint32_t t, unsigned k)
{
	uint8_t *row = lft_row(j->lft, s);
	struct candidates x;

	x.n = 0;

	for (uint32_t i = j->t.up.first[s]; i < j->t.up.first[s + 1]; i++) {
		if (dmodc_has_bit(dmodc_row(&j->reach, j->t.up.group[i].to, k - 1), t)) {
			x.group[x.n++] = i;
		}
	}
	for (uint32_t c = j->t.col[t]; c < j->t.col[t] + dmodc_hosts_on(j->g, t); c++) {
		row[j->lid[c]] = deal_up(j, s, t, c, &x, k);
	}
}

/* ---- one switch ---- */

/* Bits of the destinations that more than one group below leads to. */
static void find_several(const struct dmodc_job *j, uint32_t s, uint64_t *several)
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

static void fill_down(const struct dmodc_job *j, uint32_t s, uint64_t *several)
{
	find_several(j, s, several);
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
	return n == slots;
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

static void fill_own(const struct dmodc_job *j, uint32_t s)
{
	const struct graph *g = j->g;
	uint8_t *row = lft_row(j->lft, s);
	uint32_t c = j->t.col[s];

	for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++, c++) {
		row[j->lid[c]] = g->ports[g->ports[g->hosts[h]].peer].num;
	}
}

void dmodc_fill_hosts(const struct dmodc_job *j)
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Cycle detection while dependencies are added.
 *
 * The channels stand in an order in which every dependency leads from a lower place to a
 * higher one; as long as there is such an order there is no cycle. A new dependency that
 * fits the order costs nothing. For one that does not, only the channels between its two
 * ends matter: those that can be reached from its head must move behind those that reach
 * its tail, and the places that they hold now are assigned again. A head that reaches the tail
 * is a cycle (Pearce and Kelly 2006, "A dynamic topological sort algorithm for directed
 * acyclic graphs"). The search goes from both ends, since it mostly ends in a cycle when
 * a lane is nearly full. Taking a dependency away leaves the order valid.
 *
 * A channel can only be followed by the links of the switch behind it, so dependencies
 * are rows of bits, one bit per link, once by tail and once by head.
 */
#include "routing/graph/cdg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"

enum { WORD = 64, FEW = 24, SPARSE = 64 };

/* ---- what lanes share ---- */

int cdg_map_init(struct cdg_map *m, const struct graph *g, struct arena *a)
{
	struct cdg_map x = { .g = g, .n = g->n_adj, .words = 1 };

	x.from = arena_array(a, x.n, sizeof(*x.from));
	x.back = arena_array(a, x.n, sizeof(*x.back));
	if (!x.from || !x.back) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t n = g->adj_first[s + 1] - g->adj_first[s];

		x.words =
			(n + WORD - 1) / WORD > x.words ? (n + WORD - 1) / WORD : x.words;
		for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
			x.from[c] = s;
			uint32_t back = g->adj_first[g->adj[c].to];

			while (g->adj[back].port != g->adj[c].to_port ||
			       g->adj[back].to != s) {
				back++;
			}
			x.back[c] = back;
		}
	}
	*m = x;
	return E_OK;
}

/* ---- one lane ---- */

int cdg_init(struct cdg *c, const struct cdg_map *m, const uint32_t *order,
             struct arena *a)
{
	struct cdg x = { .m = m };
	size_t n = m->n;

	x.out = arena_array(a, n * m->words, sizeof(*x.out));
	x.in = arena_array(a, n * m->words, sizeof(*x.in));
	x.ord = arena_array(a, n, sizeof(*x.ord));
	x.at = arena_array(a, n, sizeof(*x.at));
	x.mark = arena_array(a, n, sizeof(*x.mark));
	x.ahead = arena_array(a, n, sizeof(*x.ahead));
	x.behind = arena_array(a, n, sizeof(*x.behind));
	x.slots = arena_array(a, n, sizeof(*x.slots));
	if (!x.out || !x.in || !x.ord || !x.at || !x.mark || !x.ahead || !x.behind ||
	    !x.slots) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		x.at[i] = order ? order[i] : i;
		x.ord[x.at[i]] = i;
	}
	*c = x;
	return E_OK;
}

void cdg_clear(struct cdg *c)
{
	size_t bytes = (size_t)c->m->n * c->m->words * sizeof(*c->out);

	memset(c->out, 0, bytes);
	memset(c->in, 0, bytes);
}

/* Place of a channel among the links of the switch that it leaves. */
static uint32_t local(const struct cdg *c, uint32_t channel)
{
	return channel - c->m->g->adj_first[c->m->from[channel]];
}

static uint64_t *word_of(const struct cdg *c, uint64_t *rows, uint32_t row, uint32_t bit)
{
	return rows + (size_t)row * c->m->words + bit / WORD;
}

static uint64_t mask_of(uint32_t bit)
{
	return UINT64_C(1) << bit % WORD;
}

bool cdg_has(const struct cdg *c, uint32_t from, uint32_t to)
{
	uint32_t k = local(c, to);

	return *word_of(c, c->out, from, k) & mask_of(k);
}

void cdg_note(struct cdg *c, uint32_t from, uint32_t to)
{
	uint32_t k = local(c, to);
	uint64_t *w = word_of(c, c->out, from, k);

	if (!(__atomic_load_n(w, __ATOMIC_RELAXED) & mask_of(k))) {
		__atomic_fetch_or(w, mask_of(k), __ATOMIC_RELAXED);
	}
}

void cdg_remove(struct cdg *c, uint32_t from, uint32_t to)
{
	uint32_t k = local(c, to), b = local(c, c->m->back[from]);

	*word_of(c, c->out, from, k) &= ~mask_of(k);
	*word_of(c, c->in, to, b) &= ~mask_of(b);
}

/* The channels found between places lo and hi: so many from either end, and of them so many
 * whose links were looked at. */
struct search {
	uint32_t lo, hi;
	uint32_t n_ahead, done_ahead, n_behind, done_behind;
};

/* Follows the next channel that was found ahead. Returns false when the other search is met. */
static bool go_ahead(struct cdg *c, struct search *s)
{
	const struct graph *g = c->m->g;
	uint32_t x = c->at[c->ahead[s->done_ahead++]];
	uint32_t first = g->adj_first[g->adj[x].to];

	for (unsigned w = 0; w < c->m->words; w++) {
		uint64_t bits = c->out[(size_t)x * c->m->words + w];

		for (; bits; bits &= bits - 1) {
			uint32_t at = c->ord[first + w * WORD +
			                     (unsigned)__builtin_ctzll(bits)];

			if (at > s->hi || c->mark[at] == c->search) {
				continue;
			}
			if (c->mark[at] == c->search + 1) {
				return false;
			}
			c->mark[at] = c->search;
			c->ahead[s->n_ahead++] = at;
		}
	}
	return true;
}

/* The same backwards. */
static bool go_behind(struct cdg *c, struct search *s)
{
	const struct graph *g = c->m->g;
	uint32_t x = c->at[c->behind[s->done_behind++]];
	uint32_t first = g->adj_first[c->m->from[x]];

	for (unsigned w = 0; w < c->m->words; w++) {
		uint64_t bits = c->in[(size_t)x * c->m->words + w];

		for (; bits; bits &= bits - 1) {
			uint32_t back =
				first + w * WORD + (unsigned)__builtin_ctzll(bits);
			uint32_t at = c->ord[c->m->back[back]];

			if (at < s->lo || c->mark[at] == c->search + 1) {
				continue;
			}
			if (c->mark[at] == c->search) {
				return false;
			}
			c->mark[at] = c->search + 1;
			c->behind[s->n_behind++] = at;
		}
	}
	return true;
}

/* Is there a path from place lo to place hi? Searched from both ends, the smaller first,
 * until one of them has no more. */
static bool has_path(struct cdg *c, uint32_t lo, uint32_t hi, struct search *s)
{
	*s = (struct search){ .lo = lo, .hi = hi, .n_ahead = 1, .n_behind = 1 };
	/* each search has two numbers: what is ahead is marked with the first */
	c->search += 2;
	if (c->search == 0) {
		memset(c->mark, 0, c->m->n * sizeof(*c->mark));
		c->search = 2;
	}
	c->ahead[0] = lo;
	c->mark[lo] = c->search;
	c->behind[0] = hi;
	c->mark[hi] = c->search + 1;
	while (s->done_ahead < s->n_ahead && s->done_behind < s->n_behind) {
		bool free = s->n_ahead <= s->n_behind ? go_ahead(c, s) : go_behind(c, s);

		if (!free) {
			return true;
		}
	}
	return false;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void sort_places(uint32_t *p, uint32_t n)
{
	if (n > FEW) {
		qsort(p, n, sizeof(*p), by_number);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t x = p[i], k = i;

		for (; k && p[k - 1] > x; k--) {
			p[k] = p[k - 1];
		}
		p[k] = x;
	}
}

/* The same for sets that fill much of the range between their ends: looks once at each
 * place. */
static void scan_places(struct cdg *c, uint32_t lo, uint32_t hi)
{
	uint32_t n_behind = 0, n_ahead = 0;

	for (uint32_t p = lo; p <= hi; p++) {
		if (c->mark[p] == c->search) {
			c->slots[n_behind + n_ahead] = p;
			c->ahead[n_ahead++] = p;
		} else if (c->mark[p] == c->search + 1) {
			c->slots[n_behind + n_ahead] = p;
			c->behind[n_behind++] = p;
		}
	}
}

/* Sorts the places of both sets into c->slots. */
static void sort_sets(struct cdg *c, uint32_t lo, uint32_t hi, uint32_t n_behind,
                      uint32_t n_ahead)
{
	if ((hi - lo) / SPARSE < n_behind + n_ahead) {
		scan_places(c, lo, hi);
		return;
	}
	sort_places(c->behind, n_behind);
	sort_places(c->ahead, n_ahead);
	for (uint32_t i = 0, k = 0; i < n_behind || k < n_ahead;) {
		bool take = k == n_ahead || (i < n_behind && c->behind[i] < c->ahead[k]);

		c->slots[i + k] = take ? c->behind[i] : c->ahead[k];
		i += take;
		k += !take;
	}
}

/* Assigns the places of both sets again: first to the channels behind, then to those ahead. */
static void reorder(struct cdg *c, uint32_t n_behind, uint32_t n_ahead)
{
	uint32_t n = n_behind + n_ahead;

	for (uint32_t i = 0; i < n_behind; i++) {
		c->behind[i] = c->at[c->behind[i]];
	}
	for (uint32_t i = 0; i < n_ahead; i++) {
		c->ahead[i] = c->at[c->ahead[i]];
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t x = i < n_behind ? c->behind[i] : c->ahead[i - n_behind];

		c->at[c->slots[i]] = x;
		c->ord[x] = c->slots[i];
	}
}

bool cdg_fits(struct cdg *c, uint32_t from, uint32_t to)
{
	uint32_t hi = c->ord[from], lo = c->ord[to];
	struct search s;

	if (lo >= hi) {
		return lo > hi;
	}
	return !has_path(c, lo, hi, &s);
}

bool cdg_add(struct cdg *c, uint32_t from, uint32_t to)
{
	uint32_t hi = c->ord[from], lo = c->ord[to];
	struct search s;

	if (lo == hi) {
		return false;
	}
	if (lo < hi) {
		if (has_path(c, lo, hi, &s)) {
			return false;
		}
		while (s.done_ahead < s.n_ahead) { /* there is no path: all places */
			go_ahead(c, &s);
		}
		while (s.done_behind < s.n_behind) {
			go_behind(c, &s);
		}
		sort_sets(c, lo, hi, s.n_behind, s.n_ahead);
		reorder(c, s.n_behind, s.n_ahead);
	}

	uint32_t k = local(c, to), b = local(c, c->m->back[from]);

	*word_of(c, c->out, from, k) |= mask_of(k);
	*word_of(c, c->in, to, b) |= mask_of(b);
	return true;
}

/* ---- many at once ---- */

/* Stores the tails of what follows channel x and counts what enters each head. */
static void count_entering(struct cdg *c, uint32_t x, uint32_t *entering)
{
	uint32_t first = c->m->g->adj_first[c->m->g->adj[x].to];
	uint32_t b = local(c, c->m->back[x]);

	for (unsigned w = 0; w < c->m->words; w++) {
		uint64_t bits = c->out[(size_t)x * c->m->words + w];

		for (; bits; bits &= bits - 1) {
			uint32_t to = first + w * WORD + (unsigned)__builtin_ctzll(bits);

			*word_of(c, c->in, to, b) |= mask_of(b);
			entering[to]++;
		}
	}
}

/* Channels that nothing enters any more once x is placed follow it. */
static uint32_t release(struct cdg *c, uint32_t x, uint32_t *entering, uint32_t n)
{
	uint32_t first = c->m->g->adj_first[c->m->g->adj[x].to];

	for (unsigned w = 0; w < c->m->words; w++) {
		uint64_t bits = c->out[(size_t)x * c->m->words + w];

		for (; bits; bits &= bits - 1) {
			uint32_t to = first + w * WORD + (unsigned)__builtin_ctzll(bits);

			if (--entering[to] == 0) {
				c->slots[n++] = to;
			}
		}
	}
	return n;
}

bool cdg_settle(struct cdg *c)
{
	uint32_t *entering = c->ahead, n = 0;

	memset(entering, 0, c->m->n * sizeof(*entering));
	for (uint32_t x = 0; x < c->m->n; x++) {
		count_entering(c, x, entering);
	}
	for (uint32_t x = 0; x < c->m->n; x++) {
		if (entering[x] == 0) {
			c->slots[n++] = x;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		n = release(c, c->slots[i], entering, n);
	}
	if (n != c->m->n) {
		cdg_clear(c);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		c->at[i] = c->slots[i];
		c->ord[c->at[i]] = i;
	}
	return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The closure of a growing graph: with a dependency from a to b, all that leads to a and
 * not yet to b gains what b leads to and a does not (whatever leads to a has the rest
 * already). A row gains at least one bit each time it is touched, and mostly many.
 *
 * Source: G. F. Italiano, "Amortized efficiency of a path retrieval data structure",
 * Theoretical Computer Science 48, 1986 (the idea; rows of bits in place of trees).
 */
#include "routing/proof/reach.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/cdg.h"
#include "routing/graph/graph.h"

enum { WORD = 64 };

static void or_row(uint64_t *restrict row, const uint64_t *restrict other, size_t words)
{
	for (size_t w = 0; w < words; w++) {
		row[w] |= other[w];
	}
}

static void set_bit(uint64_t *row, uint32_t bit)
{
	row[bit / WORD] |= UINT64_C(1) << bit % WORD;
}

/* Adds the rows of what follows channel x in the graph, or of what precedes it. */
static void or_neighbours(struct reach *r, const struct cdg *c, uint32_t x, bool behind)
{
	const struct graph *g = c->m->g;
	uint32_t first = g->adj_first[behind ? c->m->from[x] : g->adj[x].to];
	const uint64_t *row = (behind ? c->in : c->out) + (size_t)x * c->m->words;
	uint64_t *all = behind ? r->before : r->after;

	for (unsigned w = 0; w < c->m->words; w++) {
		for (uint64_t bits = row[w]; bits; bits &= bits - 1) {
			uint32_t y = first + w * WORD + (unsigned)__builtin_ctzll(bits);

			y = behind ? c->m->back[y] : y;
			or_row(all + x * r->words, all + y * r->words, r->words);
		}
	}
}

static void set_own(struct reach *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		set_bit(r->after + i * r->words, i);
		set_bit(r->before + i * r->words, i);
	}
}

int reach_init(struct reach *r, uint32_t n, struct arena *a)
{
	struct reach x = { .n = n, .words = (n + WORD - 1) / WORD };

	x.after = arena_array(a, n * x.words, sizeof(*x.after));
	x.before = arena_array(a, n * x.words, sizeof(*x.before));
	if (!x.after || !x.before) {
		return -ENOMEM;
	}
	set_own(&x);
	*r = x;
	return E_OK;
}

void reach_clear(struct reach *r)
{
	memset(r->after, 0, r->n * r->words * sizeof(*r->after));
	memset(r->before, 0, r->n * r->words * sizeof(*r->before));
	set_own(r);
}

void reach_load(struct reach *r, const struct cdg *c)
{
	for (uint32_t i = 0; i < r->n; i++) {
		or_neighbours(r, c, c->at[i], true);
		or_neighbours(r, c, c->at[r->n - 1 - i], false);
	}
}

static bool leads_to_any(const struct reach *r, uint32_t from,
                         const struct reach_dep *dep, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (reach_leads(r, from, dep[i].from)) {
			return true;
		}
	}
	return false;
}

/*
 * Each of the dependencies is a step, followed by those to whose tails its head leads. A
 * cycle that adding them closes is a cycle of such steps; what is followed by none that
 * is left is on no cycle.
 */
bool reach_fits(const struct reach *r, const struct reach_dep *dep, unsigned n)
{
	struct reach_dep left[REACH_DEPS_MAX];
	unsigned n_left = 0, before;

	for (; n_left < n; n_left++) {
		left[n_left] = dep[n_left];
	}
	do {
		before = n_left;
		for (unsigned i = n_left; i-- > 0;) {
			if (!leads_to_any(r, left[i].to, left, n_left)) {
				left[i] = left[--n_left];
			}
		}
	} while (n_left && n_left < before);
	return n_left == 0;
}

/* The gain of rows: the words that are not zero. */
struct gain {
	unsigned n;
	struct {
		uint32_t at;
		uint64_t bits;
	} word[REACH_CHANNELS_MAX / WORD];
};

static void find_gain(struct gain *g, const uint64_t *row, const uint64_t *has,
                      size_t words)
{
	g->n = 0;
	for (uint32_t w = 0; w < words; w++) {
		g->word[g->n].at = w;
		g->word[g->n].bits = row[w] & ~has[w];
		g->n += g->word[g->n].bits != 0;
	}
}

/* Adds the same bits to every row of a set. */
static void add_gain(uint64_t *rows, size_t words, const struct gain *to,
                     const struct gain *what)
{
	for (unsigned i = 0; i < to->n; i++) {
		for (uint64_t bits = to->word[i].bits; bits; bits &= bits - 1) {
			uint64_t *row = rows + words * (to->word[i].at * WORD +
			                                (unsigned)__builtin_ctzll(bits));

			for (unsigned k = 0; k < what->n; k++) {
				row[what->word[k].at] |= what->word[k].bits;
			}
		}
	}
}

void reach_add(struct reach *r, uint32_t from, uint32_t to)
{
	size_t words = r->words;
	struct gain heads, tails;

	if (reach_leads(r, from, to)) {
		return;
	}
	find_gain(&heads, r->after + to * words, r->after + from * words, words);
	find_gain(&tails, r->before + from * words, r->before + to * words, words);
	add_gain(r->after, words, &tails, &heads);
	add_gain(r->before, words, &heads, &tails);
}

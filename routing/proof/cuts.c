/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/proof/cuts.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"

/* Switches to be joined, as seen from a switch or a block. Zeroed between calls. */
struct cuts_place {
	uint32_t joined;  /* how many of them are here or below */
	uint32_t sides;   /* of a switch: parts below it that have some */
	uint64_t hosts;   /* in these parts */
	uint64_t squares; /* sum over these parts of the square of their hosts */
};

/* --- blocks ------------------------------------------------------------------------------- */

/* A search from one switch to the next; all arrays are [n] but adj and edge. */
struct search {
	const struct cuts_edge *e;
	uint32_t *first, *edge; /* [n + 1] into edge: edges of a switch */
	uint32_t *next;         /* of these, the next to look at */
	uint32_t *number, *low; /* in preorder from 1; 0: not seen */
	uint32_t *by;           /* edge by which it was found */
	uint32_t *stack;        /* switches whose block is not closed */
	uint32_t *path;         /* from the root to here */
	uint32_t n_stack, n_path, seen;
};

static uint32_t other_end(const struct cuts_edge *e, uint32_t here)
{
	return e->a == here ? e->b : e->a;
}

static int list_edges(struct search *s, uint32_t n, uint32_t m, struct arena *a)
{
	const struct cuts_edge *e = s->e;

	s->first = arena_array(a, n + (size_t)1, sizeof(*s->first));
	s->edge = arena_array(a, 2 * (size_t)m, sizeof(*s->edge));
	s->next = arena_array(a, n, sizeof(*s->next));
	if (s->first == NULL || s->edge == NULL || s->next == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < m; i++) {
		if (e[i].a != e[i].b) {
			s->first[e[i].a + 1]++;
			s->first[e[i].b + 1]++;
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		s->first[i + 1] += s->first[i];
		s->next[i] = s->first[i];
	}
	for (uint32_t i = 0; i < m; i++) {
		if (e[i].a != e[i].b) {
			s->edge[s->next[e[i].a]++] = i;
			s->edge[s->next[e[i].b]++] = i;
		}
	}
	memcpy(s->next, s->first, n * sizeof(*s->next));
	return E_OK;
}

static void enter(struct search *s, struct cuts *c, uint32_t sw, uint32_t by, uint32_t root)
{
	c->order[s->seen] = sw;
	c->root[sw] = root;
	c->above[sw] = GRAPH_NONE;
	s->number[sw] = s->low[sw] = ++s->seen;
	s->by[sw] = by;
	s->stack[s->n_stack++] = sw;
	s->path[s->n_path++] = sw;
}

/* Everything below \a sw is seen. Where it reaches no higher than \a up, a block ends there. */
static void leave(struct search *s, struct cuts *c, uint32_t sw, uint32_t up)
{
	s->low[up] = s->low[sw] < s->low[up] ? s->low[sw] : s->low[up];
	if (s->low[sw] < s->number[up]) {
		return;
	}
	uint32_t block = c->n_blocks++, at;
	c->top[block] = up;
	c->bridge[block] = s->low[sw] > s->number[up] ? s->by[sw] : GRAPH_NONE;
	do {
		at = s->stack[--s->n_stack];
		c->above[at] = block;
	} while (at != sw);
}

static void search_from(struct search *s, struct cuts *c, uint32_t root)
{
	enter(s, c, root, GRAPH_NONE, root);
	while (s->n_path > 0) {
		uint32_t here = s->path[s->n_path - 1];

		if (s->next[here] < s->first[here + 1]) {
			uint32_t e = s->edge[s->next[here]++];
			uint32_t to = other_end(&s->e[e], here);

			if (s->number[to] == 0) {
				enter(s, c, to, e, root);
			} else if (e != s->by[here] && s->number[to] < s->low[here]) {
				s->low[here] = s->number[to];
			}
			continue;
		}
		s->n_path--;
		if (s->n_path > 0) {
			leave(s, c, here, s->path[s->n_path - 1]);
		}
	}
	s->n_stack = 0;
}

/* Switches below come later in preorder, so each is complete when it is passed on. */
static void sum_hosts(struct cuts *c, const uint32_t *hosts)
{
	for (uint32_t i = 0; i < c->n; i++) {
		c->below[i] = hosts[i];
	}
	for (uint32_t i = c->n; i-- > 0;) {
		uint32_t sw = c->order[i], block = c->above[sw];

		if (block != GRAPH_NONE) {
			c->block_below[block] += c->below[sw];
			c->below[c->top[block]] += c->below[sw];
		}
	}
}

int cuts_find(uint32_t n, const struct cuts_edge *e, uint32_t m, const uint32_t *hosts,
              struct arena *a, struct cuts *ret_cuts)
{
	struct search s = { .e = e };
	struct cuts c = { .n = n };
	uint32_t **const of_switch[] = { &c.order,  &c.above, &c.root,  &c.seen_switch, &s.number,
		                         &s.low,    &s.by,    &s.stack, &s.path,        &c.top,
		                         &c.bridge, &c.seen_block };

	for (unsigned i = 0; i < sizeof(of_switch) / sizeof(of_switch[0]); i++) {
		*of_switch[i] = arena_array(a, n, sizeof(uint32_t)); /* blocks are fewer */
		if (*of_switch[i] == NULL) {
			return -ENOMEM;
		}
	}
	c.below = arena_array(a, n, sizeof(*c.below));
	c.block_below = arena_array(a, n, sizeof(*c.block_below));
	c.at_switch = arena_array(a, n, sizeof(*c.at_switch));
	c.at_block = arena_array(a, n, sizeof(*c.at_block));
	if (c.below == NULL || c.block_below == NULL || c.at_switch == NULL ||
	    c.at_block == NULL || list_edges(&s, n, m, a) != E_OK) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (s.number[i] == 0) {
			search_from(&s, &c, i);
		}
	}
	sum_hosts(&c, hosts);
	*ret_cuts = c;
	return E_OK;
}

/* --- what was lost ------------------------------------------------------------------------ */

struct rejoin {
	struct cuts *c;
	uint32_t n, n_switches, n_blocks; /* to be joined; marked */
};

/* Counts one of the switches in all that is above it. */
static void count_up(struct rejoin *r, uint32_t sw)
{
	struct cuts *c = r->c;

	for (;;) {
		uint32_t block = c->above[sw];

		if (c->at_switch[sw].joined++ == 0) {
			c->seen_switch[r->n_switches++] = sw;
		}
		if (block == GRAPH_NONE) {
			return;
		}
		if (c->at_block[block].joined++ == 0) {
			c->seen_block[r->n_blocks++] = block;
		}
		sw = c->top[block];
	}
}

static void keep_worst(struct cut *worst, struct cut next)
{
	if (next.pairs > worst->pairs) {
		*worst = next;
	}
}

static void try_blocks(const struct rejoin *r, uint64_t hosts, struct cut *worst)
{
	struct cuts *c = r->c;

	for (uint32_t i = 0; i < r->n_blocks; i++) {
		uint32_t block = c->seen_block[i];
		uint64_t below = c->block_below[block];
		struct cuts_place *top = &c->at_switch[c->top[block]];

		top->sides++;
		top->hosts += below;
		top->squares += below * below;
		if (c->bridge[block] != GRAPH_NONE && c->at_block[block].joined < r->n) {
			keep_worst(worst, (struct cut){ below * (hosts - below), GRAPH_NONE,
			                                c->bridge[block] });
		}
	}
}

static void try_switches(const struct rejoin *r, uint64_t hosts, struct cut *worst)
{
	const struct cuts *c = r->c;

	for (uint32_t i = 0; i < r->n_switches; i++) {
		uint32_t sw = c->seen_switch[i];
		struct cuts_place at = c->at_switch[sw];

		if (at.joined < r->n) { /* others are above it */
			uint64_t above = hosts - c->below[sw];

			at.sides++;
			at.hosts += above;
			at.squares += above * above;
		}
		if (at.sides > 1) {
			keep_worst(worst, (struct cut){ (at.hosts * at.hosts - at.squares) / 2,
			                                sw, GRAPH_NONE });
		}
	}
}

struct cut cuts_rejoin(struct cuts *c, const uint32_t *at, uint32_t n)
{
	struct rejoin r = { .c = c };
	struct cut worst = { 0, GRAPH_NONE, GRAPH_NONE };

	for (uint32_t i = 0; i < n; i++) {
		if (c->root[at[i]] == c->root[at[0]]) {
			count_up(&r, at[i]);
			r.n++;
		}
	}
	if (r.n > 1) {
		uint64_t hosts = c->below[c->root[at[0]]];

		try_blocks(&r, hosts, &worst);
		try_switches(&r, hosts, &worst);
	}
	for (uint32_t i = 0; i < r.n_switches; i++) {
		c->at_switch[c->seen_switch[i]] = (struct cuts_place){ 0 };
	}
	for (uint32_t i = 0; i < r.n_blocks; i++) {
		c->at_block[c->seen_block[i]] = (struct cuts_place){ 0 };
	}
	return worst;
}

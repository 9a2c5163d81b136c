/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/proof/proof_cycle.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"

int deps_init(struct deps *d, const struct column_map *map, unsigned shift,
              struct arena *a)
{
	struct deps x = { .map = map, .shift = shift };

	x.words = ((map->width << shift) + 63) / 64;
	x.bits = arena_array(a, deps_channels(&x), x.words * sizeof(*x.bits));
	if (!x.bits) {
		return -ENOMEM;
	}
	*d = x;
	return E_OK;
}

uint32_t deps_channels(const struct deps *d)
{
	return d->map->g->n_adj << d->shift;
}

/* Walks the successors of one channel. */
struct successors {
	const struct deps *d;
	const uint64_t *row;
	const struct column_hop *hop; /* of the switch the channel leads to, by port */
	uint64_t bits;                /* left of the present word */
	unsigned word;
};

static void successors_start(struct successors *s, const struct deps *d, uint32_t c)
{
	const struct column_map *m = d->map;

	*s = (struct successors){ .d = d,
		                  .row = d->bits + (size_t)c * d->words,
		                  .hop = m->hop +
		                         (size_t)m->g->adj[c >> d->shift].to * m->width };
	s->bits = s->row[0];
}

/* Next successor, GRAPH_NONE at the end. */
static uint32_t successors_next(struct successors *s)
{
	unsigned egress, shift = s->d->shift;

	while (!s->bits) {
		if (++s->word >= s->d->words) {
			return GRAPH_NONE;
		}
		s->bits = s->row[s->word];
	}
	egress = s->word * 64 + (unsigned)__builtin_ctzll(s->bits);
	s->bits &= s->bits - 1;
	return s->hop[egress >> shift].channel << shift | (egress & ((1U << shift) - 1));
}

/* Tarjan's algorithm with an explicit stack of calls. */
struct tarjan {
	const struct deps *d;
	uint32_t *index, *low; /* [C] 0: not yet visited */
	uint32_t *of;          /* [C] raw component, GRAPH_NONE: still open */
	uint32_t *open;        /* [C] stack of channels without a component */
	struct call {
		uint32_t c;
		struct successors succ;
	} * call; /* [C] */
	uint32_t n_open, n_index, n_comps;
	bool *self; /* [C] depends on itself */
};

static void tarjan_enter(struct tarjan *t, uint32_t c, uint32_t depth)
{
	t->index[c] = t->low[c] = ++t->n_index;
	t->open[t->n_open++] = c;
	t->call[depth].c = c;
	successors_start(&t->call[depth].succ, t->d, c);
}

/* All successors of c are done: closes its component if c is the first of it. */
static void tarjan_leave(struct tarjan *t, uint32_t c)
{
	uint32_t x;

	if (t->low[c] != t->index[c]) {
		return;
	}
	do {
		x = t->open[--t->n_open];
		t->of[x] = t->n_comps;
	} while (x != c);
	t->n_comps++;
}

static void tarjan_run(struct tarjan *t, uint32_t root)
{
	uint32_t depth = 0;

	tarjan_enter(t, root, 0);
	for (;;) {
		struct call *top = &t->call[depth];
		uint32_t next = successors_next(&top->succ);

		if (next == GRAPH_NONE) {
			uint32_t c = top->c;

			tarjan_leave(t, c);
			if (depth-- == 0) {
				return;
			}
			top = &t->call[depth];
			t->low[top->c] =
				t->low[c] < t->low[top->c] ? t->low[c] : t->low[top->c];
		} else if (!t->index[next]) {
			tarjan_enter(t, next, ++depth);
		} else if (t->of[next] == GRAPH_NONE) {
			t->self[next] |= next == top->c;
			t->low[top->c] = t->index[next] < t->low[top->c] ? t->index[next]
			                                                 : t->low[top->c];
		}
	}
}

/* Keeps the components with a cycle, numbered by their lowest channel. */
static int keep_cyclic(const struct tarjan *t, uint32_t n, struct arena *a,
                       struct arena *tmp, struct components *ret_components)
{
	uint32_t *size = arena_array(tmp, t->n_comps, sizeof(*size));
	uint32_t *number = arena_array(tmp, t->n_comps, sizeof(*number));
	struct components x = { .of = t->of };

	if (!size || !number) {
		return -ENOMEM;
	}
	for (uint32_t c = 0; c < n; c++) {
		size[t->of[c]] += 1U + t->self[c];
	}
	memset(number, 0xff, t->n_comps * sizeof(*number));
	for (uint32_t c = 0; c < n; c++) {
		x.n += size[t->of[c]] > 1 && number[t->of[c]] == GRAPH_NONE;
		number[t->of[c]] = 0;
	}
	x.size = arena_array(a, x.n, sizeof(*x.size));
	x.first = arena_array(a, x.n, sizeof(*x.first));
	if (!x.size || !x.first) {
		return -ENOMEM;
	}
	memset(number, 0xff, t->n_comps * sizeof(*number));
	x.n = 0;
	for (uint32_t c = 0; c < n; c++) {
		uint32_t raw = t->of[c];

		if (size[raw] > 1 && number[raw] == GRAPH_NONE) {
			x.first[x.n] = c;
			number[raw] = x.n++;
		}
		x.of[c] = number[raw];
		if (number[raw] != GRAPH_NONE) {
			x.size[number[raw]]++;
		}
	}
	*ret_components = x;
	return E_OK;
}

int deps_components(const struct deps *d, struct arena *a,
                    struct components *ret_components)
{
	uint32_t n = deps_channels(d);
	struct tarjan t = { .d = d };
	struct arena *tmp = arena_new();
	int ret = -ENOMEM;

	t.of = arena_array(a, n, sizeof(*t.of));
	if (!tmp || !t.of) {
		goto out;
	}
	t.index = arena_array(tmp, n, sizeof(*t.index));
	t.low = arena_array(tmp, n, sizeof(*t.low));
	t.open = arena_array(tmp, n, sizeof(*t.open));
	t.call = arena_array(tmp, n, sizeof(*t.call));
	t.self = arena_array(tmp, n, sizeof(*t.self));
	if (!t.index || !t.low || !t.open || !t.call || !t.self) {
		goto out;
	}
	memset(t.of, 0xff, n * sizeof(*t.of));
	for (uint32_t c = 0; c < n; c++) {
		if (!t.index[c]) {
			tarjan_run(&t, c);
		}
	}
	ret = keep_cyclic(&t, n, a, tmp, ret_components);
out:
	arena_free(tmp);
	return ret;
}

/* The work after which no further root is searched: some hundredths of a second. */
enum { STEPS_MAX = 10000000 };

/* Breadth-first search from one channel back to itself. */
struct search {
	const struct deps *d;
	const struct components *comps;
	uint32_t *parent, *depth, *queue; /* [C] */
	uint32_t *stamp; /* [C] root + 1 of the last search that came by */
	uint64_t steps;  /* dependencies looked at so far */
};

/* Last channel of a cycle through root shorter than limit channels, GRAPH_NONE: none. */
static uint32_t search_from(struct search *s, uint32_t root, uint32_t limit)
{
	uint32_t component = s->comps->of[root], head = 0, tail = 0;

	s->queue[tail++] = root;
	s->stamp[root] = root + 1;
	s->depth[root] = 1;
	while (head < tail) {
		uint32_t c = s->queue[head++], next;
		struct successors succ;

		if (s->depth[c] >= limit) {
			return GRAPH_NONE;
		}
		successors_start(&succ, s->d, c);
		for (; (next = successors_next(&succ)) != GRAPH_NONE; s->steps++) {
			if (next == root) {
				return c;
			}
			if (s->comps->of[next] == component &&
			    s->stamp[next] != root + 1) {
				s->stamp[next] = root + 1;
				s->depth[next] = s->depth[c] + 1;
				s->parent[next] = c;
				s->queue[tail++] = next;
			}
		}
	}
	return GRAPH_NONE;
}

int deps_shortest_cycle(const struct deps *d, const struct components *c,
                        uint32_t component, struct arena *a, uint32_t **ret_channels,
                        uint32_t *ret_n)
{
	uint32_t n = deps_channels(d), limit = c->size[component] + 1, *cycle;
	struct search s = { .d = d, .comps = c };
	struct arena *tmp = arena_new();
	int ret = -ENOMEM;

	cycle = arena_array(a, c->size[component], sizeof(*cycle));
	if (!tmp || !cycle) {
		goto out;
	}
	s.parent = arena_array(tmp, n, sizeof(*s.parent));
	s.depth = arena_array(tmp, n, sizeof(*s.depth));
	s.queue = arena_array(tmp, n, sizeof(*s.queue));
	s.stamp = arena_array(tmp, n, sizeof(*s.stamp));
	if (!s.parent || !s.depth || !s.queue || !s.stamp) {
		goto out;
	}
	for (uint32_t root = c->first[component]; root < n && s.steps < STEPS_MAX;
	     root++) {
		uint32_t last = c->of[root] == component ? search_from(&s, root, limit)
		                                         : GRAPH_NONE;

		if (last != GRAPH_NONE) {
			limit = s.depth[last];
			for (uint32_t i = limit; i-- > 0; last = s.parent[last]) {
				cycle[i] = last;
			}
		}
	}
	*ret_channels = cycle;
	*ret_n = limit;
	ret = E_OK;
out:
	arena_free(tmp);
	return ret;
}

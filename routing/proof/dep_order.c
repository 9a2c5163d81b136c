/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/proof/dep_order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/vector.h"
#include "routing/graph/graph.h"
#include "routing/proof/proof_cycle.h"

enum {
	STEPS_MAX = 4000000
}; /* about as long as a full proof of a fabric of middle size */

static uint64_t *row_of(const struct dep_order *o, uint32_t channel)
{
	return o->after + (size_t)channel * o->words;
}

static bool depends(const struct dep_order *o, uint32_t channel, unsigned egress)
{
	return row_of(o, channel)[egress / 64] >> egress % 64 & 1;
}

/* The channel through an egress port of the switch that a channel leads to. */
static uint32_t next_of(const struct dep_order *o, uint32_t channel, unsigned egress)
{
	return o->shape->port[channel].to * o->shape->width + egress;
}

/* ---- from a proof ---- */

static void take_bits(struct dep_order *o, const struct deps *d)
{
	const struct graph *g = d->map->g;
	uint32_t i = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (; i < g->adj_first[s + 1]; i++) {
			uint64_t *row =
				row_of(o, dep_order_channel(o, s, g->adj[i].port));

			for (unsigned w = 0; w < o->words; w++) {
				row[w] |= d->bits[(size_t)i * d->words + w];
			}
		}
	}
}

/* Numbers channels whose predecessors are numbered, until none is left (Kahn 1962). */
static int number_channels(struct dep_order *o)
{
	uint32_t *waits = o->pool, head = 0, tail = 0;

	memset(waits, 0, o->n * sizeof(*waits));
	for (uint32_t c = 0; c < o->n; c++) {
		for (unsigned w = 0; w < o->words; w++) {
			for (uint64_t b = row_of(o, c)[w]; b; b &= b - 1) {
				unsigned e = w * 64 + (unsigned)__builtin_ctzll(b);

				waits[next_of(o, c, e)]++;
			}
		}
	}
	for (uint32_t c = 0; c < o->n; c++) {
		if (waits[c] == 0) {
			o->stack[tail++] = c;
		}
	}
	while (head < tail) {
		uint32_t c = o->stack[head];

		o->place[c] = head++;
		for (unsigned w = 0; w < o->words; w++) {
			for (uint64_t b = row_of(o, c)[w]; b; b &= b - 1) {
				unsigned e = w * 64 + (unsigned)__builtin_ctzll(b);
				uint32_t next = next_of(o, c, e);

				if (--waits[next] == 0) {
					o->stack[tail++] = next;
				}
			}
		}
	}
	return tail == o->n ? E_OK : E_CREDITLOOP;
}

int dep_order_init(struct dep_order *o, const struct shape *shape,
                   const struct deps *base, const struct deps *management,
                   struct arena *a)
{
	struct dep_order x = { .shape = shape, .n = shape->n * shape->width };
	int ret;

	x.words = (shape->width + 63) / 64;
	x.management = management != NULL;
	x.after = arena_array(a, x.n, x.words * sizeof(*x.after));
	x.place = arena_array(a, x.n, sizeof(*x.place));
	x.stack = arena_array(a, x.n, sizeof(*x.stack));
	x.forward = arena_array(a, x.n, sizeof(*x.forward));
	x.back = arena_array(a, x.n, sizeof(*x.back));
	x.pool = arena_array(a, 2 * (size_t)x.n, sizeof(*x.pool));
	x.seen = arena_array(a, x.n, sizeof(*x.seen));
	if (!x.after || !x.place || !x.stack || !x.forward || !x.back || !x.pool ||
	    !x.seen) {
		return -ENOMEM;
	}
	take_bits(&x, base);
	if (management != NULL) {
		take_bits(&x, management);
	}
	ret = number_channels(&x);
	if (ret == E_OK) {
		*o = x;
	}
	return ret;
}

void dep_order_done(struct dep_order *o)
{
	free(o->added);
	o->added = NULL;
	o->cap_added = 0;
}

/* ---- changes ---- */

void dep_order_cut(struct dep_order *o, struct shape_link link)
{
	const struct shape *s = o->shape;
	uint64_t bit = UINT64_C(1) << link.port % 64;

	memset(row_of(o, dep_order_channel(o, link.sw, link.port)), 0,
	       o->words * sizeof(*o->after));
	for (unsigned k = 1; k < s->width; k++) {
		const struct shape_port *p = shape_at(s, link.sw, k);

		if (p->to != GRAPH_NONE) {
			row_of(o, dep_order_channel(o, p->to,
			                            p->to_port))[link.port / 64] &= ~bit;
		}
	}
}

void dep_order_begin(struct dep_order *o)
{
	o->n_added = 0;
	o->steps = 0;
}

void dep_order_undo(struct dep_order *o)
{
	while (o->n_added) {
		struct dep_new d = o->added[--o->n_added];

		row_of(o, d.channel)[d.egress / 64] &= ~(UINT64_C(1) << d.egress % 64);
	}
}

/* Channels after \a from up to a place, \a from included. \return false: one of them is
 * \a cycle, so a dependency of it on \a from would close a cycle. */
static bool search_forward(struct dep_order *o, uint32_t from, uint32_t last,
                           uint32_t cycle, uint32_t *ret_n)
{
	uint32_t n = 0, depth = 0;

	o->stack[depth++] = from;
	o->seen[from] = o->stamp;
	while (depth) {
		uint32_t c = o->stack[--depth];

		o->forward[n++] = c;
		for (unsigned w = 0; w < o->words; w++) {
			for (uint64_t b = row_of(o, c)[w]; b; b &= b - 1) {
				unsigned e = w * 64 + (unsigned)__builtin_ctzll(b);
				uint32_t next = next_of(o, c, e);

				o->steps++;
				if (next == cycle) {
					return false;
				}
				if (o->seen[next] != o->stamp && o->place[next] < last) {
					o->seen[next] = o->stamp;
					o->stack[depth++] = next;
				}
			}
		}
	}
	*ret_n = n;
	return true;
}

/* Channels before \a to down to a place, \a to included. */
static uint32_t search_back(struct dep_order *o, uint32_t to, uint32_t first)
{
	const struct shape *s = o->shape;
	uint32_t n = 0, depth = 0;

	o->stack[depth++] = to;
	o->seen[to] = o->stamp;
	while (depth) {
		uint32_t c = o->stack[--depth], sw = c / s->width;
		unsigned egress = c % s->width;

		o->back[n++] = c;
		for (unsigned k = 1; k < s->width; k++) {
			const struct shape_port *p = shape_at(s, sw, k);
			uint32_t before;

			if (p->to == GRAPH_NONE) {
				continue;
			}
			o->steps++;
			before = dep_order_channel(o, p->to, p->to_port);
			if (o->seen[before] != o->stamp && o->place[before] > first &&
			    depends(o, before, egress)) {
				o->seen[before] = o->stamp;
				o->stack[depth++] = before;
			}
		}
	}
	return n;
}

static int cmp_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int cmp_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Channels by their place, in ascending order. */
static int sort_by_place(const struct dep_order *o, uint32_t *channel, uint32_t n)
{
	uint64_t *key = calloc(n, sizeof(*key));

	if (key == NULL) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		key[i] = (uint64_t)o->place[channel[i]] << 32 | channel[i];
	}
	qsort(key, n, sizeof(*key), cmp_u64);
	for (uint32_t i = 0; i < n; i++) {
		channel[i] = (uint32_t)key[i];
	}
	free(key);
	return E_OK;
}

/* Gives the places of both lists to those before, then to those after. */
static int renumber(struct dep_order *o, uint32_t n_back, uint32_t n_forward)
{
	uint32_t n = 0;

	if (sort_by_place(o, o->back, n_back) != E_OK ||
	    sort_by_place(o, o->forward, n_forward) != E_OK) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_back; i++) {
		o->pool[n++] = o->place[o->back[i]];
	}
	for (uint32_t i = 0; i < n_forward; i++) {
		o->pool[n++] = o->place[o->forward[i]];
	}
	qsort(o->pool, n, sizeof(*o->pool), cmp_u32);
	n = 0;
	for (uint32_t i = 0; i < n_back; i++) {
		o->place[o->back[i]] = o->pool[n++];
	}
	for (uint32_t i = 0; i < n_forward; i++) {
		o->place[o->forward[i]] = o->pool[n++];
	}
	return E_OK;
}

/* Lets the order fit a dependency that leads from a higher to a lower number. */
static int reorder(struct dep_order *o, uint32_t from, uint32_t to)
{
	uint32_t first = o->place[to], last = o->place[from], n_forward, n_back;

	if (o->stamp > UINT32_MAX - 2) {
		memset(o->seen, 0, o->n * sizeof(*o->seen));
		o->stamp = 0;
	}
	o->stamp++;
	if (!search_forward(o, to, last, from, &n_forward)) {
		return E_CREDITLOOP;
	}
	o->stamp++;
	n_back = search_back(o, from, first);
	return renumber(o, n_back, n_forward);
}

int dep_order_add(struct dep_order *o, uint32_t channel, unsigned egress)
{
	uint32_t next = next_of(o, channel, egress);
	int ret;

	if (depends(o, channel, egress)) {
		return E_OK;
	}
	if (next == channel) {
		return E_CREDITLOOP;
	}
	if (o->place[channel] >= o->place[next]) {
		if (o->steps > STEPS_MAX) {
			return E_FULL;
		}
		ret = reorder(o, channel, next);
		if (ret != E_OK) {
			return ret;
		}
	}
	ret = VECTOR_RESERVE(o->added, o->cap_added, o->n_added + 1);
	if (ret != E_OK) {
		return ret;
	}
	o->added[o->n_added++] = (struct dep_new){ channel, (uint8_t)egress };
	row_of(o, channel)[egress / 64] |= UINT64_C(1) << egress % 64;
	return E_OK;
}

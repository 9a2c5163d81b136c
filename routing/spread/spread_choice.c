/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/spread/spread_choice.h"

#include "routing/graph/graph.h"
#include "routing/spread/spread_options.h"

void spread_find_least(struct spread_choice *c)
{
	if (c->n_least) {
		return;
	}
	c->least = UINT64_MAX;
	c->least_mask = 0;
	for (unsigned i = 0; i < c->p.n; i++) {
		if (c->load[i] < c->least) {
			c->least = c->load[i];
			c->n_least = 0;
			c->least_mask = 0;
		}
		if (c->load[i] == c->least) {
			c->n_least++;
			c->least_mask |= i < SPREAD_MASK_BITS ? UINT64_C(1) << i : 0;
		}
	}
}

/* Into the order in which the operator wants ports to be looked at. */
static void sort_by_place(const uint8_t *place, struct spread_ports *p)
{
	for (unsigned i = 1; i < p->n; i++) {
		uint8_t port = p->port[i];
		uint32_t to = p->to[i];
		unsigned k = i;

		for (; k && place[p->port[k - 1]] > place[port]; k--) {
			p->port[k] = p->port[k - 1];
			p->to[k] = p->to[k - 1];
		}
		p->port[k] = port;
		p->to[k] = to;
	}
}

static void tune_choice(const struct spread_job *j, uint32_t s, struct spread_choice *c)
{
	const struct spread_tune *tune = j->in->tune;

	c->ignored = NULL;
	if (tune && tune->ignored) {
		c->ignored = tune->ignored + j->g->nodes[j->g->switches[s]].first_port;
	}
	if (tune && tune->place) {
		sort_by_place(tune->place + (size_t)s * j->width, &c->p);
	}
}

void spread_find_choice(const struct spread_job *j, uint32_t s, uint32_t t,
                        struct spread_choice *c)
{
	const uint32_t *first = j->g->adj_first + s;
	const uint32_t *load = j->load + (size_t)s * j->width;
	const uint32_t *earlier = j->earlier + (size_t)s * j->width;

	c->p.n = 0;
	j->in->closer(j->in->ctx, s, t, j->g->adj + first[0], first[1] - first[0],
	              SPREAD_PORTS_MAX, &c->p);
	tune_choice(j, s, c);
	for (unsigned i = 0; i < c->p.n; i++) {
		c->load[i] = (uint64_t)load[c->p.port[i]] << 32 | earlier[c->p.port[i]];
		c->at[c->p.port[i]] = (uint8_t)i;
	}
	c->n_least = 0;
}

void spread_copy_port(struct spread_choice *c, const struct spread_choice *from, unsigned i)
{
	uint8_t port = from->p.port[i];

	c->p.port[c->p.n] = port;
	c->p.to[c->p.n] = from->p.to[i];
	c->load[c->p.n] = from->load[i];
	c->at[port] = (uint8_t)c->p.n++;
}

void spread_store_loads(const struct spread_job *j, uint32_t s,
                        const struct spread_choice *c)
{
	uint32_t *load = j->load + (size_t)s * j->width;

	for (unsigned i = 0; i < c->p.n; i++) {
		load[c->p.port[i]] = (uint32_t)(c->load[i] >> 32);
	}
}

void spread_add_load(struct spread_choice *c, unsigned i, uint32_t flow)
{
	bool was_least = c->n_least && c->load[i] == c->least;

	if (!flow || (c->ignored && c->ignored[c->p.port[i]])) {
		return;
	}
	c->load[i] += (uint64_t)flow << 32;
	if (was_least && --c->n_least && i < SPREAD_MASK_BITS) {
		c->least_mask &= ~(UINT64_C(1) << i);
	}
}

unsigned spread_pick_least(struct spread_choice *c, unsigned start)
{
	unsigned i = start;

	spread_find_least(c);
	while (c->load[i] != c->least) {
		i = i + 1 == c->p.n ? 0 : i + 1;
	}
	return i;
}

unsigned spread_pick_lowest_peer(const struct spread_choice *c)
{
	unsigned best = 0;

	for (unsigned i = 1; i < c->p.n; i++) {
		best = c->p.to[i] < c->p.to[best] ? i : best;
	}
	return best;
}

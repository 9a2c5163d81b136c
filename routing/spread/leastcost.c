/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Least cost: the cost of a path is the sum over its links of the time that a packet
 * takes to pass one, so a fast detour beats a slow short cut where it is really faster.
 * On a fabric of one rate all that remains are hops, which are found 64 switches at
 * a time.
 *
 * Ports of equal cost are not all taken. First those that stay in the chassis, if there
 * are any: the spine of a director counts as "up", so that traffic between its leaves
 * never turns at a switch outside. Without this two edge switches that hang on the same
 * two leaves close a cycle: each pair of switches serves the other as a spine. Then those
 * over the fastest link. Neither makes a path longer.
 */
#include "routing/spread/leastcost.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/spread.h"
#include "routing/spread/weighted.h"

enum { COST_SCALE = 480000, SPEED_LEAST = 25, RANK_INSIDE = 1 << 16 };

/* Paths of least cost by the rates of the links, and which ways of equal cost come first. */
struct leastcost {
	const struct graph *g;
	bool by_rate; /* rates differ; else every link costs the same and hops decide */
	struct hops plain;        /* unless by_rate */
	struct weighted weighted; /* if by_rate */
	uint32_t width;           /* graph.max_port + 1 */
	uint32_t *
		rank; /* [n][width] of ways of equal cost only those of the greatest are used */
	bool *mixed; /* [n] the links of the switch differ in rank */
};

uint16_t leastcost_of_rate(uint8_t rate)
{
	uint32_t speed = rate_speed(rate);

	if (!speed) {
		speed = SPEED_LEAST;
	}
	return (uint16_t)((COST_SCALE + speed / 2) / speed);
}

static uint16_t cost_of_port(const struct port *p)
{
	return leastcost_of_rate(link_rate(p->width, p->speed));
}

static uint32_t common_factor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t remainder = a % b;

		a = b;
		b = remainder;
	}
	return a;
}

/* Costs of all links, without their common factor; 1 where there is none.
 * \return the greatest */
static uint16_t find_costs(const struct graph *g, uint32_t width, uint16_t *cost,
                           uint32_t *ret_factor)
{
	uint32_t factor = 0, most = 1;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint8_t num = g->adj[i].port;
			uint32_t port = graph_port(g, g->switches[s], num);
			uint16_t here = cost_of_port(&g->ports[port]);
			uint16_t there = cost_of_port(&g->ports[g->ports[port].peer]);
			uint16_t c = here > there ? here : there;

			cost[(size_t)s * width + num] = c;
			factor = common_factor(c, factor);
		}
	}
	for (size_t i = 0; i < (size_t)g->n_switches * width; i++) {
		cost[i] = cost[i] ? (uint16_t)(cost[i] / factor) : 1;
		most = cost[i] > most ? cost[i] : most;
	}
	*ret_factor = factor;
	return (uint16_t)most;
}

int leastcost_to(const struct graph *g, uint32_t to, struct arena *a, uint32_t *ret_cost)
{
	uint32_t width = g->max_port + 1U, factor;
	uint16_t *cost = arena_array(a, g->n_switches, width * sizeof(*cost));

	if (cost == NULL) {
		return -ENOMEM;
	}
	(void)find_costs(g, width, cost, &factor);
	int ret = weighted_to(g, cost, to, a, ret_cost);
	for (uint32_t s = 0; ret == E_OK && s < g->n_switches; s++) {
		if (ret_cost[s] != WEIGHTED_NONE) {
			ret_cost[s] *= factor;
		}
	}
	return ret;
}

static bool in_one_chassis(const struct graph *g, uint32_t s, uint32_t t)
{
	uint64_t system = g->nodes[g->switches[s]].system_image_guid;

	return system && system == g->nodes[g->switches[t]].system_image_guid;
}

/* Inside before outside, then fast before slow. */
static void rank_links(struct leastcost *p, const uint16_t *cost, bool spine_first)
{
	const struct graph *g = p->g;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		uint32_t *rank = p->rank + (size_t)s * p->width;
		const struct sw_link *first = &g->adj[g->adj_first[s]];
		uint32_t n = g->adj_first[s + 1] - g->adj_first[s];

		for (uint32_t i = 0; i < n; i++) {
			const struct sw_link *l = &first[i];
			bool inside = spine_first && in_one_chassis(g, s, l->to);

			rank[l->port] = (inside ? RANK_INSIDE : 0U) + UINT16_MAX -
			                cost[(size_t)s * p->width + l->port];
			p->mixed[s] |= rank[l->port] != rank[first->port];
		}
	}
}

/* E_RANGE: a path of more than 254 hops, or more than 65,535 switches. */
static int find_paths(struct leastcost *p, const struct graph *g, bool spine_first,
                      struct arena *a)
{
	struct leastcost x = { .g = g, .width = g->max_port + 1U };
	uint16_t *cost = arena_array(a, g->n_switches, x.width * sizeof(*cost));
	uint32_t factor;
	int ret;

	x.rank = arena_array(a, g->n_switches, x.width * sizeof(*x.rank));
	x.mixed = arena_array(a, g->n_switches, sizeof(*x.mixed));
	if (!cost || !x.rank || !x.mixed) {
		return -ENOMEM;
	}
	x.by_rate = find_costs(g, x.width, cost, &factor) > 1;
	rank_links(&x, cost, spine_first);
	ret = x.by_rate ? weighted_init(&x.weighted, g, cost, a)
	                : hops_init(&x.plain, g, a);
	if (ret == E_OK) {
		*p = x;
	}
	return ret;
}

/* Hops of the longest of the paths of least cost. */
static const struct hops *longest(const struct leastcost *p)
{
	return p->by_rate ? &p->weighted.hops : &p->plain;
}

static void all_ports(const struct leastcost *p, uint32_t s, uint32_t t,
                      const struct sw_link *link, uint32_t n_links, unsigned max,
                      struct spread_ports *ret_ports)
{
	if (p->by_rate) {
		weighted_closer(&p->weighted, s, t, link, n_links, max, ret_ports);
	} else {
		spread_shortest(&p->plain, s, t, link, n_links, max, ret_ports);
	}
}

static void closer(const void *ctx, uint32_t s, uint32_t t, const struct sw_link *link,
                   uint32_t n_links, unsigned max, struct spread_ports *ret_ports)
{
	const struct leastcost *p = ctx;
	const uint32_t *rank = p->rank + (size_t)s * p->width, *first = p->g->adj_first;
	struct spread_ports all;
	uint32_t best = 0;
	unsigned n = 0;

	if (!p->mixed[s]) {
		all_ports(p, s, t, link, n_links, max, ret_ports);
		return;
	}
	/* the greatest rank, also of links that were not asked about */
	all_ports(p, s, t, p->g->adj + first[s], first[s + 1] - first[s],
	          SPREAD_PORTS_MAX, &all);
	for (unsigned i = 0; i < all.n; i++) {
		best = rank[all.port[i]] > best ? rank[all.port[i]] : best;
	}
	all_ports(p, s, t, link, n_links, SPREAD_PORTS_MAX, ret_ports);
	for (unsigned i = 0; i < ret_ports->n && n < max; i++) {
		if (rank[ret_ports->port[i]] == best) {
			ret_ports->port[n] = ret_ports->port[i];
			ret_ports->to[n] = ret_ports->to[i];
			n++;
		}
	}
	ret_ports->n = n;
}

int leastcost_route(const struct route_in *in, bool spine_first,
                    const struct spread_groups *groups, struct arena *a,
                    struct route_out *ret_out)
{
	struct arena *tmp = arena_new();
	struct leastcost p;
	struct lft lft;
	int ret = -ENOMEM;

	if (!tmp || lft_init(&lft, in->g->n_switches, in->lids->top, a) != E_OK) {
		goto out;
	}
	ret = find_paths(&p, in->g, spine_first, tmp);
	if (ret == E_RANGE) {
		why_add(&ret_out->notes,
		        "two switches are more than %u hops apart, or there are more than %u switches",
		        HOPS_NONE - 1U, UINT16_MAX);
		ret = E_UNSUITABLE;
	}
	if (ret == E_OK) {
		const struct spread spread = {
			.g = in->g,
			.lids = in->lids,
			.hops = longest(&p),
			.closer = closer,
			.ctx = &p,
			.prev = in->prev,
			.groups = groups,
			.even = true,
			.cancel = in->cancel,
		};

		ret = spread_run(&spread, &lft, tmp);
	}
	if (ret == E_OK) {
		ret_out->lft = lft;
		ret_out->lanes = (struct lanes){ .n = 1 };
	}
out:
	arena_free(tmp);
	return ret;
}

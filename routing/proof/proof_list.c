/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Culprits of a failed proof: found one column after the other, the lowest LIDs and
 * switches first, so that the list is the same on any number of threads.
 */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/proof_int.h"

/* Lists the loop on which a switch lies, in order, starting with that switch. */
static int list_loop(const struct column *c, uint32_t start, struct arena *a,
                     struct proof *p)
{
	uint32_t n = 0, s = start, *loop;

	do {
		n++;
		s = c->next[s];
	} while (s != start);
	loop = arena_array(a, n, sizeof(*loop));
	if (!loop) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++, s = c->next[s]) {
		loop[i] = s;
	}
	p->loop[p->n_loop++] = (struct proof_fault){ .lid = c->lid,
		                                     .sw = start,
		                                     .port = c->port[start],
		                                     .loop = loop,
		                                     .n_loop = n };
	return E_OK;
}

static int list_column_faults(const struct prover *pv, struct workspace *b,
                              struct arena *a, struct proof *p)
{
	const struct column *c = b->col;
	uint32_t n;
	const uint32_t *member = proof_members(pv, c, &n);

	proof_follow_sources(pv, b);
	for (uint32_t i = 0; i < n && p->n_hole < PROOF_LIST_MAX; i++) {
		if (proof_is_hole(b, member[i])) {
			p->hole[p->n_hole++] = (struct proof_fault){
				.lid = c->lid, .sw = member[i], .port = c->port[member[i]]
			};
		}
	}
	for (uint32_t i = 0; i < c->n_loops && p->n_loop < PROOF_LIST_MAX; i++) {
		int ret = list_loop(c, c->loop_at[i], a, p);

		if (ret != E_OK) {
			return ret;
		}
	}
	return E_OK;
}

/* Resolves one column outside the parallel pass. */
static bool resolve_alone(const struct prover *pv, struct column *c, uint32_t lid)
{
	uint32_t first = lid / COLUMN_BLOCK * COLUMN_BLOCK;

	if (c->block_lid != first) {
		column_load_block(&pv->map, c, first);
	}
	return column_resolve(&pv->map, c, lid);
}

/* Finds the first switch without a route to the lowest LID that lacks one for management. */
static void list_management_hole(const struct prover *pv, struct column *c,
                                 struct proof_fault *f)
{
	uint32_t n;
	const uint32_t *member;

	if (!resolve_alone(pv, c, f->lid)) {
		return;
	}
	member = proof_members(pv, c, &n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = member[i];

		if (c->state[s] != COLUMN_ARRIVES && !proof_decides(pv, c, s)) {
			f->sw = s;
			f->port = c->port[s];
			return;
		}
	}
}

/* Lists the hosts without a route to one LID that may be without. */
static void list_column_missed(const struct prover *pv, const struct column *c,
                               struct proof *p)
{
	const struct graph *g = pv->map.g;
	uint32_t n;
	const uint32_t *member = proof_members(pv, c, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = member[i];

		if (c->state[s] == COLUMN_ARRIVES || !proof_decides(pv, c, s) ||
		    !proof_may_miss(pv, c, s)) {
			continue;
		}
		for (uint32_t h = g->host_first[s];
		     h < g->host_first[s + 1] && p->n_missed < PROOF_MISSED_MAX; h++) {
			if (pv->may_miss[pv->map.lids->of[g->hosts[h]].base]) {
				p->missed[p->n_missed++] =
					(struct proof_missed){ g->hosts[h], c->lid };
			}
		}
	}
}

int proof_list_faults(const struct prover *pv, struct workspace *b, struct arena *a,
                      struct proof *p)
{
	uint64_t holes = p->holes < PROOF_LIST_MAX ? p->holes : PROOF_LIST_MAX;
	uint64_t loops = p->forwarding_loops < PROOF_LIST_MAX ? p->forwarding_loops
	                                                      : PROOF_LIST_MAX;

	for (uint32_t lid = 1; lid <= pv->map.lids->top; lid++) {
		int ret;

		if (p->n_hole == holes && p->n_loop == loops) {
			break;
		}
		if (!(pv->faulty[lid] & FAULT_CULPRIT) ||
		    !resolve_alone(pv, b->col, lid)) {
			continue;
		}
		ret = list_column_faults(pv, b, a, p);
		if (ret != E_OK) {
			return ret;
		}
	}
	for (uint32_t lid = 1; lid <= pv->map.lids->top && p->n_missed < PROOF_MISSED_MAX;
	     lid++) {
		if (pv->faulty[lid] & FAULT_MISSED && resolve_alone(pv, b->col, lid)) {
			list_column_missed(pv, b->col, p);
		}
	}
	if (p->management_unreachable) {
		list_management_hole(pv, b->col, &p->management_hole);
	} else {
		p->management_hole = (struct proof_fault){ 0 };
	}
	return E_OK;
}

/* Does the route of s, which arrives, make this step at switch via? */
static bool makes_step(const struct prover *pv, const struct column *c, uint32_t s,
                       uint32_t via, const struct step *step)
{
	if (pv->rule) {
		return proof_rule_takes(pv, c, s, via, step);
	}
	if (proof_lane(pv, s, c->lid) != step->vl) {
		return false;
	}
	while (s != via && s != c->home) {
		s = c->next[s];
	}
	return s == via;
}

/* A source whose route to the resolved LID makes this step at switch via, GRAPH_NONE: none. */
static uint32_t find_source(const struct prover *pv, const struct column *c, uint32_t via,
                            const struct step *step, bool management)
{
	uint32_t n;
	const uint32_t *member = proof_members(pv, c, &n);

	for (uint32_t i = 0; i <= n; i++) {
		uint32_t s = i == 0 ? via : member[i - 1]; /* itself, if it can be */

		if (c->state[s] == COLUMN_ARRIVES &&
		    (management || proof_decides(pv, c, s)) &&
		    makes_step(pv, c, s, via, step)) {
			return s;
		}
	}
	return GRAPH_NONE;
}

/* Where a LID is delivered: the switch and its port. false: nowhere. */
static bool find_home(const struct prover *pv, uint32_t lid, uint32_t *ret_home,
                      uint8_t *ret_port, bool *ret_to_host)
{
	const struct graph *g = pv->map.g;
	uint32_t owner = pv->map.lids->owner[lid];

	if (owner == GRAPH_NONE || graph_switch_of(g, owner) == GRAPH_NONE) {
		return false;
	}
	*ret_home = graph_switch_of(g, owner);
	*ret_to_host = graph_is_host(g, owner);
	*ret_port = graph_switch_port_of(g, owner);
	return true;
}

/* Follows one route, which is cheaper than resolving a column. */
static bool route_arrives(const struct prover *pv, uint32_t s, uint32_t lid,
                          uint32_t home, uint8_t home_port)
{
	for (uint32_t steps = 0; s != home && s != GRAPH_NONE; steps++) {
		uint8_t port = lft_row(pv->map.lft, s)[lid];

		if (steps == pv->map.n || port >= pv->map.width) {
			return false;
		}
		s = pv->map.hop[(size_t)s * pv->map.width + port].next;
	}
	return s == home && lft_row(pv->map.lft, home)[lid] == home_port;
}

/* Finds the route of the lowest LID that goes on from one channel to the next. */
static void find_route(const struct prover *pv, struct column *c, const struct step *step,
                       bool management, struct proof_channel *ret_channel)
{
	const struct sw_link *adj = pv->map.g->adj;
	const uint8_t *here = lft_row(pv->map.lft, ret_channel->sw);
	const uint8_t *there = lft_row(pv->map.lft, adj[step->channel].to);
	uint8_t next_port = adj[step->next].port, home_port;
	uint32_t home;
	bool to_host;

	for (uint32_t lid = 1; lid <= pv->map.lids->top; lid++) {
		if (here[lid] != ret_channel->port || there[lid] != next_port ||
		    !find_home(pv, lid, &home, &home_port, &to_host) ||
		    home == adj[step->channel].to || !(management || to_host) ||
		    !route_arrives(pv, ret_channel->sw, lid, home, home_port)) {
			continue;
		}
		if (!pv->rule && (management || pv->map.n_hosts[ret_channel->sw]) &&
		    proof_lane(pv, ret_channel->sw, lid) == step->vl) {
			ret_channel->src_sw = ret_channel->sw;
		} else {
			ret_channel->src_sw =
				resolve_alone(pv, c, lid)
					? find_source(pv, c, ret_channel->sw, step,
			                              management)
					: GRAPH_NONE;
		}
		if (ret_channel->src_sw != GRAPH_NONE) {
			ret_channel->lid = lid;
			return;
		}
	}
}

/* Adds one shortest cycle of a component to the list. */
static int list_cycle(const struct prover *pv, struct column *col, const struct deps *d,
                      const struct components *comps, uint32_t component,
                      struct proof_cycle *cycle, struct arena *a)
{
	const struct graph *g = pv->map.g;
	struct proof_channel *list;
	uint32_t *channels, n;
	int ret = deps_shortest_cycle(d, comps, component, a, &channels, &n);

	if (ret != E_OK) {
		return ret;
	}
	list = arena_array(a, n, sizeof(*list));
	if (!list) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t from = channels[i], to = channels[(i + 1) % n];
		unsigned mask = (1U << d->shift) - 1;
		/* a graph of a single VL does not say which */
		struct step step = { .channel = from >> d->shift,
			             .next = to >> d->shift,
			             .vl = d->shift ? from & mask : cycle->vl,
			             .next_vl = d->shift ? to & mask : cycle->vl };

		/* channels are sorted by the switch that they leave */
		list[i].sw = LOWER_BOUND(g->n_switches, s,
		                         g->adj_first[s + 1] <= step.channel);
		list[i].port = g->adj[step.channel].port;
		list[i].vl = (uint8_t)step.vl;
		find_route(pv, col, &step, cycle->management, &list[i]);
	}
	cycle->vl = list[0].vl;
	cycle->channels = list;
	cycle->n = n;
	cycle->component_channels = comps->size[component];
	return E_OK;
}

int proof_list_cycles(const struct prover *pv, struct column *col, const struct deps *d,
                      const struct components *comps, const uint8_t *skip,
                      struct proof_cycle like, struct arena *a, struct proof *p)
{
	if (comps->n && !p->cycle) {
		p->cycle = arena_array(a, PROOF_CYCLES_MAX, sizeof(*p->cycle));
		if (!p->cycle) {
			return -ENOMEM;
		}
	}
	for (uint32_t i = 0; i < comps->n && p->n_cycle < PROOF_CYCLES_MAX; i++) {
		int ret;

		if (skip && skip[i]) {
			continue;
		}
		p->cycle[p->n_cycle] = like;
		ret = list_cycle(pv, col, d, comps, i, &p->cycle[p->n_cycle], a);
		if (ret != E_OK) {
			return ret;
		}
		p->n_cycle++;
	}
	return E_OK;
}

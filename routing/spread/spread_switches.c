/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The last parts of spreading: after each pass LIDs that no host sends through a switch;
 * at the end what leads to a switch itself or to what hangs on it, and the LIDs of
 * switches, which carry management traffic only unless the operator wants them balanced.
 */
#include "routing/spread/spread_choice.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/spread_options.h"

/* Hosts of the switch itself, and its own LIDs. */
static void place_local(const struct spread_job *j, uint32_t s)
{
	const struct graph *g = j->g;
	uint8_t *row = lft_row(j->lft, s);
	struct lid_range own = j->lids->of[graph_port(g, g->switches[s], 0)];

	for (uint32_t k = 0; own.base && k < 1U << own.lmc; k++) {
		row[own.base + k] = 0;
	}
	for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
		struct lid_range r = j->lids->of[g->hosts[h]];
		uint8_t port = g->ports[g->ports[g->hosts[h]].peer].num;

		for (uint32_t k = 0; r.base && k < 1U << r.lmc; k++) {
			row[r.base + k] = port;
		}
	}
}

/* ---- LIDs that no host sends through a switch ---- */

/* LIDs of hosts behind each port of one switch, and where the next search begins. */
struct dealer {
	uint32_t lids[SPREAD_PORTS_MAX];
	unsigned next;
};

static void count_lids(const struct spread_job *j, uint32_t s, struct dealer *d)
{
	const uint8_t *row = lft_row(j->lft, s);

	for (uint32_t h = 0; h < j->n_cols; h++) {
		d->lids[row[j->lid[h]]] += spread_counted(j, h, j->lid[h] != 0);
	}
}

/* Of the ports, one with the fewest LIDs, each in turn. \param fewest  At most. */
static uint8_t deal_port(struct dealer *d, const struct spread_ports *p, uint32_t *fewest)
{
	for (unsigned tried = 0;; tried++) {
		uint8_t port;

		d->next = d->next + 1 < p->n ? d->next + 1 : 0;
		port = p->port[d->next];
		if (d->lids[port] <= *fewest) {
			d->lids[port]++;
			return port;
		}
		if (tried == p->n) {
			++*fewest;
			tried = 0;
		}
	}
}

/* The ports to one other switch. \return The fewest LIDs that one of them has. */
static uint32_t find_fewest(const struct spread_job *j, uint32_t s, uint32_t t,
                            const struct dealer *d, struct spread_ports *ret)
{
	uint32_t fewest = UINT32_MAX;

	spread_ask(j, s, t, ret);
	for (unsigned i = 0; i < ret->n; i++) {
		uint32_t n = d->lids[ret->port[i]];

		fewest = n < fewest ? n : fewest;
	}
	return fewest;
}

/* Those of the hosts of one other switch. */
static void deal_unused(const struct spread_job *j, uint32_t s, uint32_t t,
                        struct dealer *d)
{
	const bool *ignored = j->in->tune ? j->in->tune->ignored : NULL;
	const uint32_t *lids = j->lid, end = j->first[t + 1];
	uint8_t *row = lft_row(j->lft, s);
	uint32_t fewest = 0;
	struct spread_ports p;

	p.n = 0;
	for (uint32_t h = j->first[t]; h < end; h++) {
		uint32_t lid = lids[h];

		if (!lid || row[lid] != LFT_NO_ROUTE) {
			continue;
		}
		if (!p.n) {
			fewest = find_fewest(j, s, t, d, &p);
		}
		if (ignored && ignored[j->port[h]]) {
			row[lid] = p.port[h % p.n];
		} else {
			row[lid] = deal_port(d, &p, &fewest);
		}
	}
}

void spread_unused(const struct spread_job *j)
{
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->n; s++) {
		struct dealer d = { .next = 0 };

		if (!j->unused[s]) {
			continue;
		}
		count_lids(j, s, &d);
		for (uint32_t t = 0; t < j->n; t++) {
			if (t != s && hops_between(j->hops, s, t) != HOPS_NONE) {
				deal_unused(j, s, t, &d);
			}
		}
		j->unused[s] = false;
	}
}

/* ---- LIDs of switches ---- */

/* Links of a switch to other switches by index of the neighbour, parallel ones by port.
 */
static uint32_t links_by_peer(const struct graph *g, uint32_t s, struct sw_link *ret)
{
	uint32_t n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++, n++) {
		uint32_t k = n;

		for (; k && ret[k - 1].to > g->adj[i].to; k--) {
			ret[k] = ret[k - 1];
		}
		ret[k] = g->adj[i];
	}
	return n;
}

/* Does the previous tables' entry still lead closer to t? */
static bool prev_leads_closer(const struct spread_job *j, uint32_t s, uint32_t t,
                              uint32_t lid)
{
	const struct graph *g = j->g;
	uint8_t port = j->prev ? lft_row(j->prev, s)[lid] : LFT_NO_ROUTE;
	struct spread_ports p = { .n = 0 };

	for (uint32_t i = g->adj_first[s]; j->prev && i < g->adj_first[s + 1]; i++) {
		if (g->adj[i].port == port) {
			j->in->closer(j->in->ctx, s, t, &g->adj[i], 1, 1, &p);
		}
	}
	return p.n != 0;
}

/* The LIDs of one other switch at one switch whose links are given by neighbour. */
static void place_switch(const struct spread_job *j, uint32_t s, uint32_t t,
                         const struct sw_link *link, uint32_t n_links)
{
	struct lid_range r = j->lids->of[graph_port(j->g, j->g->switches[t], 0)];
	uint8_t *row = lft_row(j->lft, s);
	uint8_t towards = j->towards ? j->towards[(size_t)s * j->hops->stride + t] : 0;

	for (unsigned k = 0; r.base && k < 1U << r.lmc; k++) {
		struct spread_choice c;

		if (row[r.base + k] != LFT_NO_ROUTE) {
			continue; /* counted already */
		}
		if (prev_leads_closer(j, s, t, r.base + k)) {
			row[r.base + k] = lft_row(j->prev, s)[r.base + k];
		} else if (k == 0 && towards && towards != SPREAD_SEVERAL) {
			row[r.base] = towards;
		} else if (k == 0) {
			c.p.n = 0;
			j->in->closer(j->in->ctx, s, t, link, n_links, 1, &c.p);
			row[r.base] = c.p.port[0];
		} else {
			spread_find_choice(j, s, t, &c);
			row[r.base + k] = c.p.port[spread_pick_apart(
				j, s, r.base, k, &c, spread_pick_lowest_peer(&c), false)];
		}
	}
}

/* One switch chooses for the LID of another as for that of a host. */
static void count_switch_at(const struct spread_job *j, uint32_t s, uint32_t t,
                            uint32_t lid, uint32_t *flow)
{
	uint8_t *row = lft_row(j->lft, s);
	struct spread_choice c;
	unsigned i = 0;

	spread_find_choice(j, s, t, &c);
	if (prev_leads_closer(j, s, t, lid)) {
		while (c.p.port[i] != lft_row(j->prev, s)[lid]) {
			i++;
		}
	} else {
		i = flow[s] ? spread_pick_least(&c, t % c.p.n) : spread_pick_lowest_peer(&c);
	}
	row[lid] = c.p.port[i];
	spread_add_load(&c, i, flow[s]);
	spread_store_loads(j, s, &c);
	flow[c.p.to[i]] += flow[s];
}

/* Base LIDs of switches as further destinations, from far to near. By one thread. */
static int count_switches(const struct spread_job *j, struct arena *tmp)
{
	const struct graph *g = j->g;
	uint32_t *flow = arena_array(tmp, j->n, sizeof(*flow));

	if (!flow) {
		return -ENOMEM;
	}
	for (uint32_t t = 0; t < j->n; t++) {
		uint32_t lid = j->lids->of[graph_port(g, g->switches[t], 0)].base;

		for (uint32_t s = 0; s < j->n; s++) {
			flow[s] = g->host_first[s + 1] - g->host_first[s];
		}
		for (unsigned d = lid ? j->hops->diameter : 0; d > 0; d--) {
			for (uint32_t s = 0; s < j->n; s++) {
				if (hops_between(j->hops, s, t) == d) {
					count_switch_at(j, s, t, lid, flow);
				}
			}
		}
	}
	return E_OK;
}

static void place_switches(const struct spread_job *j)
{
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->n; s++) {
		struct sw_link link[SPREAD_PORTS_MAX];
		uint32_t n_links = links_by_peer(j->g, s, link);

		for (uint32_t t = 0; t < j->n; t++) {
			if (t != s && hops_between(j->hops, s, t) != HOPS_NONE) {
				place_switch(j, s, t, link, n_links);
			}
		}
		place_local(j, s);
	}
}

int spread_switches(const struct spread_job *j, struct arena *tmp)
{
	struct spread_job own = *j;
	struct spread in = *j->in;

	if (in.hops_to_switches) {
		own.hops = in.hops = in.hops_to_switches;
		in.closer = in.closer_to_switches;
		in.ctx = in.ctx_to_switches;
		own.in = &in;
		own.towards = NULL;
	}
	if (in.tune && in.tune->switch_nodes) {
		int ret = count_switches(&own, tmp);

		if (ret != E_OK) {
			return ret;
		}
	}
	place_switches(&own);
	return E_OK;
}

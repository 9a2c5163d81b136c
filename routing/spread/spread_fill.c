/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Filling the tables: all switches choose their ports for the LIDs of the hosts that are a
 * given distance away, then the flow of these LIDs moves one hop. After each pass come the
 * LIDs that no host sends through a switch. At the end come the entries of a switch for
 * itself and for the hosts on it, and the LIDs of other switches. These carry management
 * traffic only, unless the operator wants them balanced.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/search.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/spread_int.h"
#include "routing/spread/spread_options.h"

/* ---- hosts at one distance ---- */

enum { RANGES = 32 };

/* Keeps the entries of the previous tables that still lead closer, or may stay for another reason. */
static void keep_hosts(const struct spread_job *j, uint32_t s, uint32_t t,
                       struct spread_choice *c)
{
	const uint8_t *old = lft_row(j->prev, s);
	uint8_t *row = lft_row(j->lft, s);
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;

	for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++) {
		uint32_t lid = j->lid[h];

		unsigned i = c->at[old[lid]];

		if (lid && i < c->p.n && c->p.port[i] == old[lid]) {
			row[lid] = old[lid];
			spread_add_load(c, i, spread_counted(j, h, flow[h]));
		} else if (lid && spread_stays(j, s, t, old[lid])) {
			row[lid] = old[lid];
			j->load[(size_t)s * j->width + old[lid]] +=
				spread_counted(j, h, flow[h]);
		}
	}
}

/* There is one port only. In a tree that is so for all routes down. */
static void place_by_one_port(const struct spread_job *j, uint32_t s, uint32_t t,
                              struct spread_choice *c)
{
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	uint8_t *row = lft_row(j->lft, s), port = c->p.port[0];
	uint32_t sum = 0;

	for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++) {
		uint32_t lid = j->lid[h];

		if (lid && row[lid] == LFT_NO_ROUTE) {
			sum += spread_counted(j, h, flow[h]);
			row[lid] = port;
		}
	}
	spread_add_load(c, 0, sum);
}

/* The candidate for one LID of a host that hosts send to through this switch. */
static unsigned pick_host(const struct spread_job *j, uint32_t s, uint32_t h, uint32_t t,
                          uint32_t flow, struct spread_choice *c, unsigned start)
{
	const struct spread_tune *tune = j->in->tune;
	uint32_t lid = j->lid[h];
	unsigned planned = j->plan ? spread_pick_planned(j, s, h, t, c) : c->p.n;

	if (planned < c->p.n &&
	    spread_is_free(j, s, lid - j->offset, j->offset, c, planned)) {
		return planned;
	}
	if (tune && tune->shifting) {
		/* one port further on with each round of such routes that the ports carry */
		uint64_t sum = 0;

		for (unsigned i = 0; i < c->p.n; i++) {
			sum += c->load[i] >> 32;
		}
		start = (unsigned)((start + sum / flow / c->p.n) % c->p.n);
	}
	if (j->offset) {
		return spread_pick_apart(j, s, lid - j->offset, j->offset, c, start,
		                         true);
	}
	if (tune && tune->seed &&
	    !(tune->no_scatter && tune->is_listed && tune->is_listed[h])) {
		uint64_t guid = j->g->nodes[j->g->switches[s]].guid;
		unsigned nth, i = 0;

		spread_find_least(c);
		nth = (unsigned)(spread_scatter(tune, guid, lid) % c->n_least);
		while (c->load[i] != c->least || nth-- != 0) {
			i++;
		}
		return i;
	}
	return spread_pick_least(c, start);
}

/* Chooses at one switch for the hosts of one leaf switch. Base LIDs that no host sends
 * through here wait for spread_place_unused(), further LIDs go round robin by position. */
static void place_hosts(const struct spread_job *j, uint32_t s, uint32_t t,
                        struct spread_choice *c)
{
	uint8_t *row = lft_row(j->lft, s);
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	unsigned start = 0;
	bool unused = false;

	if (c->p.n == 1) {
		place_by_one_port(j, s, t, c);
		return;
	}
	for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++) {
		uint32_t lid = j->lid[h];

		if (lid && row[lid] == LFT_NO_ROUTE && flow[h]) {
			unsigned i = pick_host(j, s, h, t, flow[h], c, start);

			row[lid] = c->p.port[i];
			spread_add_load(c, i, spread_counted(j, h, flow[h]));
		} else if (lid && row[lid] == LFT_NO_ROUTE && j->offset) {
			row[lid] = c->p.port[(start + j->offset) % c->p.n];
		}
		unused |= lid && row[lid] == LFT_NO_ROUTE;
		start = start + 1 == c->p.n ? 0 : start + 1;
	}
	if (unused) {
		j->unused[s] = true;
	}
}

typedef void choose_f(const struct spread_job *j, uint32_t s, uint32_t t,
                      struct spread_choice *c);

static void choose_for(const struct spread_job *j, uint32_t s, uint32_t t,
                       struct spread_choice *c, choose_f *choose)
{
	bool planned = j->plan && !j->offset && choose == place_hosts;

	if (j->first[t] == j->first[t + 1] ||
	    (planned && j->towards && spread_place_planned(j, s, t, NULL))) {
		return;
	}
	spread_find_choice(j, s, t, c);
	if (planned && !j->towards && c->p.n > 1) {
		spread_place_planned(j, s, t, c);
	}
	choose(j, s, t, c);
	spread_store_loads(j, s, c);
}

/* Runs one choosing step for all destinations at distance d from one switch. */
static void choose_at(const struct spread_job *j, uint32_t s, unsigned d,
                      choose_f *choose)
{
	uint32_t n_dest;
	const uint16_t *dest = hops_at(j->hops, s, d, &n_dest);
	uint32_t n_leaves = n_dest ? j->n_leaves : 0;
	struct spread_choice c;

	memset(c.at, 0, sizeof(c.at));
	for (uint32_t i = 0; !j->leaf && i < n_dest; i++) {
		choose_for(j, s, dest[i], &c, choose);
	}
	for (uint32_t i = 0; i < n_leaves; i++) {
		if (hops_between(j->hops, s, j->leaf[i]) == d) {
			choose_for(j, s, j->leaf[i], &c, choose);
		}
	}
}

/* The listed hosts at distance d of one switch, in their order, before all others. */
static void choose_listed(const struct spread_job *j, uint32_t s, unsigned d)
{
	const struct spread_tune *tune = j->in->tune;
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	uint8_t *row = lft_row(j->lft, s);
	struct spread_choice c;

	for (uint32_t i = 0; i < tune->n_listed; i++) {
		uint32_t h = tune->listed[i], lid = j->lid[h];
		uint32_t t = graph_switch_of(j->g, j->g->hosts[h]);
		unsigned at;

		if (hops_between(j->hops, s, t) != d || !lid ||
		    row[lid] != LFT_NO_ROUTE || !flow[h]) {
			continue;
		}
		spread_find_choice(j, s, t, &c);
		at = pick_host(j, s, h, t, flow[h], &c, i % c.p.n);
		row[lid] = c.p.port[at];
		spread_add_load(&c, at, spread_counted(j, h, flow[h]));
		spread_store_loads(j, s, &c);
	}
}

/*
 * Adds the flow of each switch to that of its next hop, for the hosts of the leaf switches
 * in a range.
 */
static void pass_flow_on(const struct spread_job *j, unsigned d, uint32_t t_first,
                         uint32_t t_last)
{
	size_t n_cols = j->n_cols;

	for (uint32_t s = 0; s < j->n; s++) {
		const uint8_t *row = lft_row(j->lft, s);
		const uint16_t *flow = j->flow + s * n_cols;
		const uint32_t *peer = j->peer + (size_t)s * j->width, *lids = j->lid;
		uint32_t n_dest;
		const uint16_t *dest = hops_at(j->hops, s, d, &n_dest);

		for (uint32_t i = hops_lower_bound(dest, n_dest, t_first);
		     i < n_dest && dest[i] < t_last; i++) {
			uint32_t end = j->first[dest[i] + 1];

			for (uint32_t h = j->first[dest[i]]; h < end; h++) {
				uint32_t lid = lids[h], sum;
				uint16_t *to;

				if (!flow[h] || !lid) {
					continue;
				}
				to = j->flow + peer[row[lid]] * n_cols + h;
				sum = (uint32_t)*to + flow[h];
				*to = (uint16_t)(sum < SPREAD_FLOW_MAX ? sum
				                                       : SPREAD_FLOW_MAX);
			}
		}
	}
}

void spread_place_hosts(const struct spread_job *j, unsigned d)
{
	if (j->prev) {
#pragma omp parallel for schedule(dynamic, 8)
		for (uint32_t s = 0; s < j->n; s++) {
			choose_at(j, s, d, keep_hosts);
		}
	}
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->n; s++) {
		if (j->in->tune && j->in->tune->n_listed) {
			choose_listed(j, s, d);
		}
		choose_at(j, s, d, place_hosts);
	}
	if (d == 1) {
		return; /* the next hop is the leaf switch itself */
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t r = 0; r < RANGES; r++) {
		pass_flow_on(j, d, (uint32_t)((uint64_t)j->n * r / RANGES),
		             (uint32_t)((uint64_t)j->n * (r + 1) / RANGES));
	}
}

/* ---- LIDs that no host sends through a switch ---- */

/* Round robin over the ports of one switch. */
struct round_robin {
	uint32_t lids[SPREAD_PORTS_MAX]; /* of hosts, by port */
	unsigned next;                   /* where the next search begins */
};

/* The next of the ports that has the fewest LIDs. fewest is a lower bound and grows. */
static uint8_t next_port(struct round_robin *d, const struct spread_ports *p,
                         uint32_t *fewest)
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

/* Places the unused LIDs of the hosts of one other switch. */
static void place_unused(const struct spread_job *j, uint32_t s, uint32_t t,
                         struct round_robin *d)
{
	const bool *ignored = j->in->tune ? j->in->tune->ignored : NULL;
	const uint32_t *lids = j->lid, end = j->first[t + 1];
	uint8_t *row = lft_row(j->lft, s);
	uint32_t fewest = UINT32_MAX;
	struct spread_ports p;

	p.n = 0;
	for (uint32_t h = j->first[t]; h < end; h++) {
		uint32_t lid = lids[h];

		if (!lid || row[lid] != LFT_NO_ROUTE) {
			continue;
		}
		if (!p.n) {
			spread_find_ports(j, s, t, &p);
			for (unsigned i = 0; i < p.n; i++) {
				uint32_t n = d->lids[p.port[i]];

				fewest = n < fewest ? n : fewest;
			}
		}
		if (ignored && ignored[j->port[h]]) {
			row[lid] = p.port[h % p.n];
		} else {
			row[lid] = next_port(d, &p, &fewest);
		}
	}
}

void spread_place_unused(const struct spread_job *j)
{
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->n; s++) {
		struct round_robin d = { .next = 0 };
		const uint8_t *row = lft_row(j->lft, s);

		if (!j->unused[s]) {
			continue;
		}
		for (uint32_t h = 0; h < j->n_cols; h++) {
			d.lids[row[j->lid[h]]] += spread_counted(j, h, j->lid[h] != 0);
		}
		for (uint32_t t = 0; t < j->n; t++) {
			if (t != s && hops_between(j->hops, s, t) != HOPS_NONE) {
				place_unused(j, s, t, &d);
			}
		}
		j->unused[s] = false;
	}
}

/* ---- LIDs of switches, and what is local to a switch ---- */

/* The entries of a switch for its own LIDs and for the hosts on it. */
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

/* Links of a switch to other switches, sorted by the index of the neighbour; parallel
 * links keep the order of their ports. */
static uint32_t links_by_peer(const struct graph *g, uint32_t s, struct sw_link *ret_link)
{
	uint32_t n = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++, n++) {
		uint32_t k = n;

		for (; k && ret_link[k - 1].to > g->adj[i].to; k--) {
			ret_link[k] = ret_link[k - 1];
		}
		ret_link[k] = g->adj[i];
	}
	return n;
}

/* Does the entry of the previous tables stay? There are some. */
static bool prev_stays(const struct spread_job *j, uint32_t s, uint32_t t, uint32_t lid)
{
	const struct sw_link *link = j->g->adj + j->g->adj_first[s];
	uint32_t n = j->g->adj_first[s + 1] - j->g->adj_first[s];
	uint8_t port = lft_row(j->prev, s)[lid];
	struct spread_ports p;

	if (port == LFT_NO_ROUTE) {
		return false;
	}
	p.n = 0; /* the rest is long, is asked for at each entry, and stays unset */
	uint32_t at = (uint32_t)LOWER_BOUND(n, i, link[i].port < port);
	if (at < n && link[at].port == port) {
		j->in->closer(j->in->ctx, s, t, &link[at], 1, 1, &p);
	}
	return p.n != 0 || spread_stays(j, s, t, port);
}

/* Places the LIDs of one other switch. link has the links of s sorted by neighbour. */
static void place_switch(const struct spread_job *j, uint32_t s, uint32_t t,
                         const struct sw_link *link, uint32_t n_links)
{
	struct lid_range r = j->lids->of[graph_port(j->g, j->g->switches[t], 0)];
	uint8_t *row = lft_row(j->lft, s);
	uint8_t towards = j->towards ? j->towards[(size_t)s * j->hops->stride + t] : 0;

	for (unsigned k = 0; r.base && k < 1U << r.lmc; k++) {
		struct spread_choice c;

		if (row[r.base + k] != LFT_NO_ROUTE) {
			continue; /* placed by balance_switches() */
		}
		if (j->prev != NULL && prev_stays(j, s, t, r.base + k)) {
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

/* Chooses at one switch for the LID of another switch as for that of a host. */
static void balance_switch_at(const struct spread_job *j, uint32_t s, uint32_t t,
                              uint32_t lid, uint32_t *flow)
{
	uint8_t *row = lft_row(j->lft, s);
	size_t at = (size_t)s * j->width;
	struct spread_choice c;

	if (j->prev != NULL && prev_stays(j, s, t, lid)) {
		row[lid] = lft_row(j->prev, s)[lid];
	} else {
		spread_find_choice(j, s, t, &c);
		row[lid] = c.p.port[flow[s] ? spread_pick_least(&c, t % c.p.n)
		                            : spread_pick_lowest_peer(&c)];
	}
	at += row[lid];
	j->load[at] += flow[s];
	flow[j->peer[at]] += flow[s];
}

/* Places the base LIDs of switches like those of hosts, from far to near. Serial. */
static int balance_switches(const struct spread_job *j, struct arena *tmp)
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
					balance_switch_at(j, s, t, lid, flow);
				}
			}
		}
	}
	return E_OK;
}

int spread_place_switches(const struct spread_job *j, struct arena *tmp)
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
		int ret = balance_switches(&own, tmp);

		if (ret != E_OK) {
			return ret;
		}
	}
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < own.n; s++) {
		struct sw_link link[SPREAD_PORTS_MAX];
		uint32_t n_links = links_by_peer(own.g, s, link);

		for (uint32_t t = 0; t < own.n; t++) {
			if (t != s && hops_between(own.hops, s, t) != HOPS_NONE) {
				place_switch(&own, s, t, link, n_links);
			}
		}
		place_local(&own, s);
	}
	return E_OK;
}

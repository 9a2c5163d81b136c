/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Spreading: fills tables so that links share the routes evenly, whatever the paths are
 * that an engine allows.
 *
 * Tables are filled from far to near: first every switch at the greatest distance from a
 * destination chooses its port, then those one hop closer, and so on. So when a switch
 * chooses for a LID, all switches that may send through it have chosen, and it knows how
 * many routes really arrive for that LID (its flow). Counting LIDs per port without
 * asking whether traffic passes at all, as is common, balances tables, not links.
 *
 * A switch takes, of the ports that lead one hop closer, the one that carries the fewest
 * routes so far. Among equals the search starts at the position of the destination behind
 * its leaf switch. On a healthy fat tree all flows are equal, so the start decides alone
 * and destinations are dealt over the uplinks by their position, level by level: shift
 * permutations then pass without contention (Zahavi et al. 2010, "Optimized InfiniBand
 * fat-tree routing for shift all-to-all communication patterns").
 *
 * LIDs for which no host sends through a switch, and the LIDs of switches, take the
 * neighbour of the lowest index: they carry management traffic only, and keeping it
 * together avoids turns that would close cycles between links when cables are missing.
 *
 * With an LMC the base LIDs are placed first, then base + 1, and so on. A further LID of
 * a port prefers a neighbour system, then a neighbour node, that its lower LIDs do not
 * use.
 *
 * Choosing is parallel over switches, passing flow on is parallel over destinations, with
 * a barrier between: no two threads write one cell, so the tables are the same on any
 * number of threads.
 */
#include "routing/spread.h"

#include <errno.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/hops.h"
#include "routing/lids.h"
#include "routing/spread_job.h"
#include "routing/spread_options.h"

enum { RANGES = 32, PORTS_MAX = SPREAD_PORTS_MAX };

/* The ports of one switch that lead closer to one destination switch. */
struct choice {
	struct spread_ports p;
	uint32_t load[PORTS_MAX];
	uint32_t least;      /* smallest load */
	unsigned n_least;    /* ports that have it */
	const bool *ignored; /* by port number: its routes do not count; NULL: none */
};

static void find_least(struct choice *c)
{
	c->least = UINT32_MAX;
	c->n_least = 0;
	for (unsigned i = 0; i < c->p.n; i++) {
		if (c->load[i] < c->least) {
			c->least = c->load[i];
			c->n_least = 0;
		}
		c->n_least += c->load[i] == c->least;
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

static void tune_choice(const struct spread_job *j, uint32_t s, struct choice *c)
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

static void find_choice(const struct spread_job *j, uint32_t s, uint32_t t,
                        struct choice *c)
{
	const uint32_t *first = j->g->adj_first + s;
	const uint32_t *load = j->load + (size_t)s * j->width;

	c->p.n = 0;
	j->in->closer(j->in->ctx, s, t, j->g->adj + first[0], first[1] - first[0],
	              PORTS_MAX, &c->p);
	tune_choice(j, s, c);
	for (unsigned i = 0; i < c->p.n; i++) {
		c->load[i] = load[c->p.port[i]];
	}
	find_least(c);
}

static void store_loads(const struct spread_job *j, uint32_t s, const struct choice *c)
{
	uint32_t *load = j->load + (size_t)s * j->width;

	for (unsigned i = 0; i < c->p.n; i++) {
		load[c->p.port[i]] = c->load[i];
	}
}

static void add_load(struct choice *c, unsigned i, uint32_t flow)
{
	bool was_least = c->load[i] == c->least;

	if (c->ignored && c->ignored[c->p.port[i]]) {
		return;
	}
	c->load[i] += flow;
	if (flow && was_least && --c->n_least == 0) {
		find_least(c);
	}
}

/* First of the least loaded, searching from start. */
static unsigned pick_least(const struct choice *c, unsigned start)
{
	unsigned i = start;

	while (c->load[i] != c->least) {
		i = i + 1 == c->p.n ? 0 : i + 1;
	}
	return i;
}

static unsigned pick_lowest_peer(const struct choice *c)
{
	unsigned best = 0;

	for (unsigned i = 1; i < c->p.n; i++) {
		best = c->p.to[i] < c->p.to[best] ? i : best;
	}
	return best;
}

/* Does a host's route to the LID pass this switch? */
static bool carries(const struct spread_job *j, uint32_t s, uint32_t lid)
{
	return j->carried[(size_t)s * j->lft->stride / 8 + lid / 8] >> lid % 8 & 1;
}

/*
 * A further LID of a port: prefers a system, then a node, that the lower LIDs of the port
 * do not go through, then the least load, then the node they use the least. For LIDs of
 * hosts only lower LIDs that carry traffic here count, and load matters.
 */
static unsigned pick_apart(const struct spread_job *j, uint32_t s, uint32_t base,
                           unsigned offset, const struct choice *c, unsigned start,
                           bool hosts)
{
	const uint8_t *row = lft_row(j->lft, s);
	const uint8_t *system = j->system + (size_t)s * j->width;
	const uint8_t *node = j->node + (size_t)s * j->width;
	uint8_t uses_system[PORTS_MAX] = { 0 }, uses_node[PORTS_MAX] = { 0 };
	uint64_t best_key = UINT64_MAX;
	unsigned best = 0;

	for (unsigned k = 0; k < offset; k++) {
		uint8_t p = row[base + k];

		if (p != LFT_NO_ROUTE && (!hosts || carries(j, s, base + k))) {
			uses_system[system[p]]++;
			uses_node[node[p]]++;
		}
	}
	for (unsigned k = 0; k < c->p.n; k++) {
		unsigned i = start + k < c->p.n ? start + k : start + k - c->p.n;
		unsigned u = uses_node[node[c->p.port[i]]];
		uint64_t key = (uint64_t)(uses_system[system[c->p.port[i]]] != 0) << 62 |
		               (uint64_t)(u != 0) << 61 |
		               (uint64_t)(hosts ? c->load[i] : 0) << 8 | u;

		if (key < best_key) {
			best_key = key;
			best = i;
		}
	}
	return best;
}

/* Keeps what the previous tables say where that still leads closer. */
static void keep_hosts(const struct spread_job *j, uint32_t s, uint32_t t,
                       struct choice *c)
{
	const struct graph *g = j->g;
	const uint8_t *old = lft_row(j->prev, s);
	uint8_t *row = lft_row(j->lft, s);
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;

	for (uint32_t h = g->host_first[t]; h < g->host_first[t + 1]; h++) {
		uint32_t lid = j->lid[h];

		for (unsigned i = 0; lid && i < c->p.n; i++) {
			if (c->p.port[i] == old[lid]) {
				row[lid] = old[lid];
				add_load(c, i, flow[h]);
			}
		}
	}
}

/* The same where there is nothing to choose, which is most of a tree: all ways down. */
static void place_all(const struct spread_job *j, uint32_t s, uint32_t t,
                      struct choice *c)
{
	const struct graph *g = j->g;
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	uint8_t *row = lft_row(j->lft, s), port = c->p.port[0];
	uint32_t sum = 0;

	for (uint32_t h = g->host_first[t]; h < g->host_first[t + 1]; h++) {
		uint32_t lid = j->lid[h];

		if (lid) {
			sum += row[lid] == LFT_NO_ROUTE ? flow[h] : 0;
			row[lid] = port;
		}
	}
	add_load(c, 0, sum);
}

/* Any of the least loaded, by a number that follows from seed, switch and LID. */
static unsigned pick_scattered(const struct spread_job *j, uint32_t s, uint32_t lid,
                               const struct choice *c)
{
	uint64_t x = (uint64_t)j->in->tune->seed << 32 ^ lid ^
	             j->g->nodes[j->g->switches[s]].guid * UINT64_C(0x9e3779b97f4a7c15);
	unsigned nth, i = 0;

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	nth = (unsigned)((x ^ x >> 31) % c->n_least);
	while (c->load[i] != c->least || nth-- != 0) {
		i++;
	}
	return i;
}

/* One step further with each round of routes like this one that the ports carry. */
static unsigned shifted(const struct choice *c, unsigned start, uint32_t flow)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < c->p.n; i++) {
		sum += c->load[i];
	}
	return (unsigned)((start + sum / flow / c->p.n) % c->p.n);
}

/* The candidate for one LID of a host that others send through this switch. */
static unsigned pick_host(const struct spread_job *j, uint32_t s, uint32_t h,
                          uint32_t flow, const struct choice *c, unsigned start)
{
	const struct spread_tune *tune = j->in->tune;
	uint32_t lid = j->lid[h];

	if (tune && tune->shifting) {
		start = shifted(c, start, flow);
	}
	if (j->offset) {
		return pick_apart(j, s, lid - j->offset, j->offset, c, start, true);
	}
	if (tune && tune->seed &&
	    !(tune->no_scatter && tune->is_listed && tune->is_listed[h])) {
		return pick_scattered(j, s, lid, c);
	}
	return pick_least(c, start);
}

/* Notes which LIDs of one leaf switch hosts send through this switch. */
static void note_carried(const struct spread_job *j, uint32_t s, uint32_t t)
{
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	uint8_t *carried = j->carried + (size_t)s * j->lft->stride / 8;

	for (uint32_t h = j->g->host_first[t]; h < j->g->host_first[t + 1]; h++) {
		if (j->lid[h] && flow[h]) {
			carried[j->lid[h] / 8] |= (uint8_t)(1U << j->lid[h] % 8);
		}
	}
}

/* Chooses at one switch for the hosts of one leaf switch. */
static void place_hosts(const struct spread_job *j, uint32_t s, uint32_t t,
                        struct choice *c)
{
	const struct graph *g = j->g;
	uint8_t *row = lft_row(j->lft, s);
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	unsigned start = 0, lowest;

	if (j->carried) {
		note_carried(j, s, t);
	}
	if (c->p.n == 1) {
		place_all(j, s, t, c);
		return;
	}
	lowest = pick_lowest_peer(c);
	for (uint32_t h = g->host_first[t]; h < g->host_first[t + 1]; h++) {
		uint32_t lid = j->lid[h];

		if (lid && row[lid] == LFT_NO_ROUTE) {
			unsigned i =
				flow[h] ? pick_host(j, s, h, flow[h], c, start) : lowest;

			row[lid] = c->p.port[i];
			add_load(c, i, flow[h]);
		}
		start = start + 1 == c->p.n ? 0 : start + 1;
	}
}

typedef void choose_f(const struct spread_job *j, uint32_t s, uint32_t t,
                      struct choice *c);

/* Runs one choosing step for the destinations at distance d of one switch. */
static void choose_at(const struct spread_job *j, uint32_t s, unsigned d,
                      choose_f *choose)
{
	const uint32_t *first = j->g->host_first;
	uint32_t n_dest;
	const uint16_t *dest = hops_at(j->hops, s, d, &n_dest);
	struct choice c;

	for (uint32_t i = 0; i < n_dest; i++) {
		uint32_t t = dest[i];

		if (first[t] != first[t + 1]) {
			find_choice(j, s, t, &c);
			choose(j, s, t, &c);
			store_loads(j, s, &c);
		}
	}
}

/* The listed hosts at distance d of one switch, in their order, before all others. */
static void choose_listed(const struct spread_job *j, uint32_t s, unsigned d)
{
	const struct spread_tune *tune = j->in->tune;
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	uint8_t *row = lft_row(j->lft, s);
	struct choice c;

	for (uint32_t i = 0; i < tune->n_listed; i++) {
		uint32_t h = tune->listed[i], lid = j->lid[h];
		uint32_t t = graph_switch_of(j->g, j->g->hosts[h]);
		unsigned at;

		if (hops_between(j->hops, s, t) != d || !lid ||
		    row[lid] != LFT_NO_ROUTE || !flow[h]) {
			continue;
		}
		find_choice(j, s, t, &c);
		at = pick_host(j, s, h, flow[h], &c, i % c.p.n);
		row[lid] = c.p.port[at];
		add_load(&c, at, flow[h]);
		store_loads(j, s, &c);
	}
}

/* Adds the flow of a switch to that of the next one for the hosts of one leaf switch. */
static void pass_on(const struct spread_job *j, uint32_t s, uint32_t t)
{
	const struct graph *g = j->g;
	const uint8_t *row = lft_row(j->lft, s);
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	const uint32_t *peer = j->peer + (size_t)s * j->width;

	for (uint32_t h = g->host_first[t]; h < g->host_first[t + 1]; h++) {
		uint32_t lid = j->lid[h];
		uint16_t *to;

		if (!flow[h] || !lid) {
			continue;
		}
		to = j->flow + (size_t)peer[row[lid]] * j->n_cols + h;
		*to = *to > SPREAD_FLOW_MAX - flow[h] ? SPREAD_FLOW_MAX
		                                      : (uint16_t)(*to + flow[h]);
	}
}

static void pass_on_range(const struct spread_job *j, unsigned d, uint32_t t_first,
                          uint32_t t_last)
{
	for (uint32_t s = 0; s < j->n; s++) {
		uint32_t n_dest;
		const uint16_t *dest = hops_at(j->hops, s, d, &n_dest);

		for (uint32_t i = hops_lower_bound(dest, n_dest, t_first);
		     i < n_dest && dest[i] < t_last; i++) {
			pass_on(j, s, dest[i]);
		}
	}
}

static void start_flow(const struct spread_job *j)
{
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < j->n; s++) {
		uint32_t hosts = j->g->host_first[s + 1] - j->g->host_first[s];
		uint16_t *flow = j->flow + (size_t)s * j->n_cols;

		for (uint32_t h = 0; h < j->n_cols; h++) {
			flow[h] = (uint16_t)hosts;
		}
	}
}

/* One distance: all switches choose, then their flow moves one hop. */
static void step(const struct spread_job *j, unsigned d)
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
		pass_on_range(j, d, (uint32_t)((uint64_t)j->n * r / RANGES),
		              (uint32_t)((uint64_t)j->n * (r + 1) / RANGES));
	}
}

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

	for (unsigned k = 0; r.base && k < 1U << r.lmc; k++) {
		struct choice c;

		if (row[r.base + k] != LFT_NO_ROUTE) {
			continue; /* counted already */
		}
		if (prev_leads_closer(j, s, t, r.base + k)) {
			row[r.base + k] = lft_row(j->prev, s)[r.base + k];
		} else if (k == 0) {
			c.p.n = 0;
			j->in->closer(j->in->ctx, s, t, link, n_links, 1, &c.p);
			row[r.base] = c.p.port[0];
		} else {
			find_choice(j, s, t, &c);
			row[r.base + k] = c.p.port[pick_apart(
				j, s, r.base, k, &c, pick_lowest_peer(&c), false)];
		}
	}
}

/* One switch chooses for the LID of another as for that of a host. */
static void count_switch_at(const struct spread_job *j, uint32_t s, uint32_t t,
                            uint32_t lid, uint32_t *flow)
{
	uint8_t *row = lft_row(j->lft, s);
	struct choice c;
	unsigned i = 0;

	find_choice(j, s, t, &c);
	if (prev_leads_closer(j, s, t, lid)) {
		while (c.p.port[i] != lft_row(j->prev, s)[lid]) {
			i++;
		}
	} else {
		i = flow[s] ? pick_least(&c, t % c.p.n) : pick_lowest_peer(&c);
	}
	row[lid] = c.p.port[i];
	add_load(&c, i, flow[s]);
	store_loads(j, s, &c);
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
		struct sw_link link[PORTS_MAX];
		uint32_t n_links = links_by_peer(j->g, s, link);

		for (uint32_t t = 0; t < j->n; t++) {
			if (t != s && hops_between(j->hops, s, t) != HOPS_NONE) {
				place_switch(j, s, t, link, n_links);
			}
		}
		place_local(j, s);
	}
}

/* Numbers the neighbours' systems and nodes of one switch from 0. */
static void name_neighbours(struct spread_job *j, uint32_t s)
{
	const struct graph *g = j->g;
	uint64_t systems[PORTS_MAX];
	uint32_t nodes[PORTS_MAX];
	unsigned n_systems = 0, n_nodes = 0;

	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		const struct sw_link *l = &g->adj[i];
		const struct node *to = &g->nodes[g->switches[l->to]];
		uint64_t id = to->system_image_guid ? to->system_image_guid : to->guid;
		size_t at = (size_t)s * j->width + l->port;
		unsigned k = 0;

		while (k < n_systems && systems[k] != id) {
			k++;
		}
		systems[k] = id;
		n_systems += k == n_systems;
		j->system[at] = (uint8_t)k;
		for (k = 0; k < n_nodes && nodes[k] != l->to; k++) {
		}
		nodes[k] = l->to;
		n_nodes += k == n_nodes;
		j->node[at] = (uint8_t)k;
		j->peer[at] = l->to;
	}
}

static unsigned largest_lmc(const struct spread_job *j)
{
	unsigned lmc = 0;

	for (uint32_t h = 0; h < j->n_cols; h++) {
		unsigned l = j->lids->of[j->g->hosts[h]].lmc;

		lmc = l > lmc ? l : lmc;
	}
	return lmc;
}

static int job_init(struct spread_job *j, const struct spread *in, struct lft *lft,
                    struct arena *tmp)
{
	const struct graph *g = in->g;
	size_t cells = (size_t)g->n_switches * ((size_t)g->max_port + 1);

	*j = (struct spread_job){ .g = g,
		                  .lids = in->lids,
		                  .lft = lft,
		                  .hops = in->hops,
		                  .in = in,
		                  .n = g->n_switches,
		                  .width = (uint32_t)g->max_port + 1,
		                  .n_cols = g->host_first[g->n_switches] };
	if (in->prev && in->prev->n_switches == lft->n_switches &&
	    in->prev->n_lids == lft->n_lids) {
		j->prev = in->prev;
	}
	j->flow = arena_array(tmp, (size_t)j->n * j->n_cols, sizeof(*j->flow));
	j->lid = arena_array(tmp, j->n_cols, sizeof(*j->lid));
	j->load = arena_array(tmp, cells, sizeof(*j->load));
	j->peer = arena_array(tmp, cells, sizeof(*j->peer));
	j->system = arena_alloc(tmp, cells);
	j->node = arena_alloc(tmp, cells);
	if (!j->flow || !j->lid || !j->load || !j->peer || !j->system || !j->node) {
		return -ENOMEM;
	}
	if (largest_lmc(j)) {
		j->carried = arena_array(tmp, j->n, lft->stride / 8);
		if (!j->carried) {
			return -ENOMEM;
		}
	}
	memset(j->peer, 0xff, cells * sizeof(*j->peer));
	for (uint32_t s = 0; s < j->n; s++) {
		name_neighbours(j, s);
	}
	return E_OK;
}

/* LIDs of the hosts in this pass. */
static void start_lids(const struct spread_job *j)
{
	for (uint32_t h = 0; h < j->n_cols; h++) {
		struct lid_range r = j->lids->of[j->g->hosts[h]];
		bool in_range = r.base && (j->offset >> r.lmc) == 0;

		j->lid[h] = in_range ? r.base + j->offset : 0;
	}
}

int spread_run(const struct spread *in, struct lft *lft, struct arena *tmp)
{
	struct spread_job j;
	int ret = job_init(&j, in, lft, tmp);
	unsigned passes = ret == E_OK ? 1U << largest_lmc(&j) : 0;

	for (j.offset = 0; j.offset < passes; j.offset++) {
		start_lids(&j);
		start_flow(&j);
		for (unsigned d = j.hops->diameter; d > 0; d--) {
			if (in->cancel && *in->cancel) {
				return -ECANCELED;
			}
			step(&j, d);
		}
		if (in->even && j.offset == 0) {
			ret = spread_even(&j, tmp);
			if (ret != E_OK) {
				return ret;
			}
		}
	}
	if (ret == E_OK && in->tune && in->tune->switch_nodes) {
		ret = count_switches(&j, tmp);
	}
	if (ret == E_OK) {
		place_switches(&j);
	}
	return ret;
}

void spread_shortest(const void *ctx, uint32_t s, uint32_t t, const struct sw_link *link,
                     uint32_t n_links, unsigned max, struct spread_ports *ret)
{
	const struct hops *h = ctx;
	unsigned closer = hops_between(h, s, t) - 1U, n = 0;

	for (uint32_t i = 0; i < n_links && n < max; i++) {
		if (hops_between(h, link[i].to, t) == closer) {
			ret->port[n] = link[i].port;
			ret->to[n] = link[i].to;
			n++;
		}
	}
	ret->n = n;
}

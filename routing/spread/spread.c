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
 * On a tree a plan tells by which switches the routes to a host come down to it
 * (spread_plan.c). Elsewhere, and where the plan leaves a choice, a switch takes, of the
 * ports that lead one hop closer, the one that carries the fewest routes so far. Among
 * equals the search starts at the position of the destination behind
 * its leaf switch. On a healthy fat tree all flows are equal, so the start decides alone
 * and destinations are dealt over the uplinks by their position, level by level: shift
 * permutations then pass without contention (Zahavi et al. 2010, "Optimized InfiniBand
 * fat-tree routing for shift all-to-all communication patterns").
 *
 * Level by level works only while all switches deal in step. A switch leaves out what is
 * below itself, so leaves that have a common switch near them follow each other
 * (leaves.h), whatever their GUIDs: then it leaves out whole turns.
 *
 * Afterwards routes move off links that carry more than they must (spread_even.c).
 *
 * Base LIDs for which no host sends through a switch are dealt afterwards, so that all
 * ports have as many LIDs. The LIDs of switches take the neighbour of the lowest index:
 * they carry management traffic only, and keeping it together avoids turns that would
 * close cycles between links when cables are missing (spread_switches.c).
 *
 * With an LMC the base LIDs are placed first, then base + 1, and so on. A further LID of
 * a port keeps away from its lower LIDs (spread_apart.c).
 *
 * Groups of hosts are placed one after the other. Each group, base LIDs and the others
 * apart, is a round of its own: its own routes are what is balanced, those of earlier
 * rounds only decide between equals.
 *
 * Choosing is parallel over switches, passing flow on is parallel over destinations, with
 * a barrier between: no two threads write one cell, so the tables are the same on any
 * number of threads.
 */
#include "routing/spread/spread.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/leaves.h"
#include "routing/spread/spread_choice.h"
#include "routing/spread/spread_options.h"
#include "routing/spread/spread_plan.h"

enum { BLOCK = 64 }; /* hops.stride is a multiple */

/* Numbers the neighbours' systems and nodes of one switch from 0. */
static void name_neighbours(struct spread_job *j, uint32_t s)
{
	const struct graph *g = j->g;
	uint64_t systems[SPREAD_PORTS_MAX];
	uint32_t nodes[SPREAD_PORTS_MAX];
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
	j->apart[s] = n_systems == g->adj_first[s + 1] - g->adj_first[s];
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

static int job_arrays(struct spread_job *j, struct arena *tmp)
{
	size_t cells = (size_t)j->n * j->width;

	j->flow = arena_array(tmp, (size_t)j->n * j->n_cols, sizeof(*j->flow));
	j->lid = arena_array(tmp, j->n_cols, sizeof(*j->lid));
	j->load = arena_array(tmp, cells, sizeof(*j->load));
	j->earlier = arena_array(tmp, cells, sizeof(*j->earlier));
	j->peer = arena_array(tmp, cells, sizeof(*j->peer));
	j->system = arena_alloc(tmp, cells);
	j->node = arena_alloc(tmp, cells);
	j->apart = arena_array(tmp, j->n, sizeof(*j->apart));
	j->unused = arena_array(tmp, j->n, sizeof(*j->unused));
	if (!j->flow || !j->lid || !j->load || !j->earlier || !j->peer || !j->system ||
	    !j->node || !j->apart || !j->unused) {
		return -ENOMEM;
	}
	memset(j->peer, 0xff, cells * sizeof(*j->peer));
	if (j->largest_lmc) {
		j->carried = arena_array(tmp, j->n, j->lft->stride / 8);
		return j->carried ? E_OK : -ENOMEM;
	}
	return E_OK;
}

/* Destinations are dealt in an order that follows the cables. */
static int order_leaves(struct spread_job *j, struct arena *tmp)
{
	uint32_t *leaf, n;
	int ret = leaves_order(j->g, tmp, &leaf, &n);

	for (uint32_t i = 1; ret == E_OK && i < n; i++) {
		if (leaf[i] < leaf[i - 1]) {
			j->leaf = leaf;
			j->n_leaves = n;
		}
	}
	return ret;
}

/* Ports to 64 switches at once: what all links but the first say makes them several. */
static void compare_hops(const struct spread_job *j, uint32_t s, size_t first)
{
	const struct graph *g = j->g;
	size_t stride = j->hops->stride;
	uint8_t here[BLOCK], there[BLOCK], port[BLOCK] = { 0 };

	memcpy(here, j->hops->dist + s * stride + first, BLOCK);
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint8_t mine = g->adj[i].port;

		memcpy(there, j->hops->dist + g->adj[i].to * stride + first, BLOCK);
		for (unsigned t = 0; t < BLOCK; t++) {
			uint8_t closer =
				(uint8_t)(there[t] + 1) == here[t] ? UINT8_MAX : 0;
			uint8_t more = port[t] ? SPREAD_SEVERAL : mine;

			port[t] = (uint8_t)((closer & more) | (~closer & port[t]));
		}
	}
	memcpy(j->towards + s * stride + first, port, BLOCK);
}

/* Where all shortest paths are allowed, which port of a switch leads to each other one.
 */
static int find_towards(struct spread_job *j, struct arena *tmp)
{
	if (j->in->closer != spread_shortest) {
		return E_OK;
	}
	j->towards = arena_array(tmp, j->n, j->hops->stride);
	if (!j->towards) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < j->n; s++) {
		for (size_t first = 0; first < j->hops->stride; first += BLOCK) {
			compare_hops(j, s, first);
		}
	}
	return E_OK;
}

static int job_init(struct spread_job *j, const struct spread *in, struct lft *lft,
                    struct arena *tmp)
{
	const struct graph *g = in->g;
	int ret;

	*j = (struct spread_job){ .g = g,
		                  .lids = in->lids,
		                  .lft = lft,
		                  .hops = in->hops,
		                  .in = in,
		                  .n = g->n_switches,
		                  .width = (uint32_t)g->max_port + 1,
		                  .first = g->host_first,
		                  .port = g->hosts,
		                  .n_cols = g->host_first[g->n_switches] };
	if (in->prev && in->prev->n_switches == lft->n_switches &&
	    in->prev->n_lids == lft->n_lids) {
		j->prev = in->prev;
	}
	j->largest_lmc = largest_lmc(j);
	ret = job_arrays(j, tmp);
	if (ret == E_OK) {
		ret = order_leaves(j, tmp);
	}
	if (ret == E_OK) {
		ret = find_towards(j, tmp);
	}
	for (uint32_t s = 0; ret == E_OK && s < j->n; s++) {
		name_neighbours(j, s);
	}
	return ret;
}

/* Routes of all hosts, to a column each. */
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

/* LIDs of the columns in this pass. */
static void start_lids(const struct spread_job *j)
{
	for (uint32_t h = 0; h < j->n_cols; h++) {
		struct lid_range r = j->lids->of[j->port[h]];
		bool in_range = r.base && (j->offset >> r.lmc) == 0;

		j->lid[h] = in_range ? r.base + j->offset : 0;
	}
}

/* One LID of each range. */
static int pass(struct spread_job *j, unsigned offset, struct arena *tmp)
{
	int ret = E_OK;

	j->offset = offset;
	start_lids(j);
	start_flow(j);
	if (j->plan) {
		spread_plan_pass(j);
	}
	for (unsigned d = j->hops->diameter; d > 0; d--) {
		if (j->in->cancel && *j->in->cancel) {
			return -ECANCELED;
		}
		spread_step(j, d);
	}
	/* a group is too few hosts to fill all links evenly, so there is nothing to even out */
	if (j->in->even && offset == 0 && !j->in->groups) {
		ret = spread_even(j, tmp);
	}
	spread_unused(j);
	if (offset + 1 < 1U << j->largest_lmc) {
		spread_note_carried(j);
	}
	return ret;
}

/* What was placed so far only decides between equals from here on. */
static void end_round(struct spread_job *j)
{
	if (j->plan) {
		spread_plan_end_round(j);
	}
	for (size_t i = 0; i < (size_t)j->n * j->width; i++) {
		j->earlier[i] += j->load[i];
		j->load[i] = 0;
	}
}

/* Base LIDs, or all others, of the hosts that are columns now. */
static int round_of(struct spread_job *j, bool base, struct arena *tmp)
{
	unsigned end = base ? 1 : 1U << j->largest_lmc;
	int ret = E_OK;

	for (unsigned k = base ? 0 : 1; k < end && ret == E_OK; k++) {
		ret = pass(j, k, tmp);
	}
	end_round(j);
	return ret;
}

/* Room for the columns of a group. */
struct columns {
	uint32_t *first, *port, *host;
};

/* The hosts of one group by switch. */
static void take_group(struct spread_job *j, uint32_t group, const struct columns *c)
{
	const struct graph *g = j->g;
	uint32_t n = 0;

	for (uint32_t s = 0; s < j->n; s++) {
		c->first[s] = n;
		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
			if (j->in->groups->of[h] == group) {
				c->port[n] = g->hosts[h];
				c->host[n++] = h;
			}
		}
	}
	c->first[j->n] = n;
	j->first = c->first;
	j->port = c->port;
	j->host = c->host;
	j->n_cols = n;
}

static int by_group(struct spread_job *j, bool base, const struct columns *c,
                    struct arena *tmp)
{
	int ret = E_OK;

	for (uint32_t i = 0; i < j->in->groups->n && ret == E_OK; i++) {
		take_group(j, i, c);
		ret = j->n_cols ? round_of(j, base, tmp) : E_OK;
	}
	return ret;
}

/* Base LIDs of all groups come first: that the others differ must not cost them. */
static int all_groups(struct spread_job *j, struct arena *tmp)
{
	struct columns c = { .first = arena_array(tmp, j->n + 1U, sizeof(*c.first)),
		             .port = arena_array(tmp, j->n_cols, sizeof(*c.port)),
		             .host = arena_array(tmp, j->n_cols, sizeof(*c.host)) };
	int ret;

	if (!c.first || !c.port || !c.host) {
		return -ENOMEM;
	}
	ret = spread_plan_init(j, tmp);
	if (ret == E_OK) {
		ret = by_group(j, true, &c, tmp);
	}
	return ret == E_OK ? by_group(j, false, &c, tmp) : ret;
}

/*
 * Do base LIDs follow a plan? Not when the operator wants them dealt in another way. With
 * an LMC further LIDs keep to other systems than the lower ones, in the order in which
 * load deals these; so there is a plan only where every link leads to another system.
 */
static bool is_planned(const struct spread_job *j)
{
	const struct spread_tune *tune = j->in->tune;
	const struct graph *g = j->g;

	for (uint32_t s = 0; s < j->n; s++) {
		if (j->largest_lmc && !j->apart[s]) {
			return false;
		}
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (spread_is_ignored(tune, graph_port(g, g->switches[s],
			                                       g->adj[i].port))) {
				return false;
			}
		}
	}
	return !tune ||
	       (!tune->place && !tune->n_listed && !tune->seed && !tune->shifting);
}

static int all_rounds(struct spread_job *j, struct arena *tmp)
{
	int ret;

	if (j->in->groups) {
		return all_groups(j, tmp);
	}
	if (is_planned(j)) {
		ret = spread_plan_init(j, tmp);
		if (ret != E_OK) {
			return ret;
		}
	}
	ret = round_of(j, true, tmp);
	j->plan = NULL;
	return ret == E_OK ? round_of(j, false, tmp) : ret;
}

int spread_run(const struct spread *in, struct lft *lft, struct arena *tmp)
{
	struct spread_job j;
	int ret = job_init(&j, in, lft, tmp);

	if (ret == E_OK) {
		ret = all_rounds(&j, tmp);
	}
	return ret == E_OK ? spread_switches(&j, tmp) : ret;
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

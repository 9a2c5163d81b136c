/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Spreading: fills forwarding tables so that the links share the routes evenly, over
 * whatever paths an engine allows.
 *
 * Tables are filled from far to near: first every switch at the greatest distance from a
 * destination chooses its port, then those one hop closer, and so on. When a switch
 * chooses for a LID, all switches that may send through it have already chosen, so it
 * knows how many routes really arrive for that LID (its flow). The common method counts
 * the LIDs per port and does not ask whether traffic passes at all. It balances tables,
 * not links.
 *
 * On a tree a plan says through which switches the routes to a host come down to it
 * (spread_plan.c). Elsewhere, and where the plan leaves a choice, a switch takes, of the
 * ports that lead one hop closer, the one that carries the fewest routes so far. Among
 * equals the search starts at the position of the destination behind its leaf switch. On
 * a healthy fat tree all flows are equal, so the start alone decides and destinations go
 * round robin over the uplinks by their position, level by level. Shift permutations then
 * pass without contention (Zahavi et al. 2010, "Optimized InfiniBand fat-tree routing for
 * shift all-to-all communication patterns").
 *
 * Level by level works only while all switches stay in step. A switch leaves out the
 * destinations below itself. So leaves that share a nearby switch follow each other
 * (leaves.h), whatever their GUIDs: then a switch leaves out whole rounds.
 *
 * Afterwards routes move off links that carry more than they must (spread_rebalance.c).
 *
 * Base LIDs for which no host sends through a switch are placed after that, so that all
 * ports have equally many LIDs. The LIDs of switches take the neighbour of the lowest
 * index. They carry management traffic only, and keeping it together avoids turns that
 * would close cycles between links when cables are missing (spread_fill.c).
 *
 * With an LMC the base LIDs are placed first, then base + 1, and so on. A further LID of
 * a port avoids the routes of the port's lower LIDs (spread_choice.c).
 *
 * Groups of hosts are placed one after the other. The base LIDs of a group are one round
 * and its other LIDs are another. A round balances its own routes; the routes of earlier
 * rounds only decide between equals.
 *
 * Choosing is parallel over switches, passing flow on is parallel over destinations, with
 * a barrier between them. No two threads write one cell, so the tables are the same on
 * any number of threads.
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
#include "routing/spread/spread_int.h"
#include "routing/spread/spread_options.h"

enum { BLOCK = 64 }; /* hops.stride is a multiple */

/* Numbers the systems and nodes of the neighbours of one switch from 0. */
static void number_neighbours(struct spread_job *j, uint32_t s)
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
	j->distinct[s] = n_systems == g->adj_first[s + 1] - g->adj_first[s];
}

static int alloc_arrays(struct spread_job *j, struct arena *tmp)
{
	size_t cells = (size_t)j->n * j->width;

	j->flow = arena_array(tmp, (size_t)j->n * j->n_cols, sizeof(*j->flow));
	j->lid = arena_array(tmp, j->n_cols, sizeof(*j->lid));
	j->load = arena_array(tmp, cells, sizeof(*j->load));
	j->earlier = arena_array(tmp, cells, sizeof(*j->earlier));
	j->peer = arena_array(tmp, cells, sizeof(*j->peer));
	j->system = arena_alloc(tmp, cells);
	j->node = arena_alloc(tmp, cells);
	j->distinct = arena_array(tmp, j->n, sizeof(*j->distinct));
	j->unused = arena_array(tmp, j->n, sizeof(*j->unused));
	if (!j->flow || !j->lid || !j->load || !j->earlier || !j->peer || !j->system ||
	    !j->node || !j->distinct || !j->unused) {
		return -ENOMEM;
	}
	memset(j->peer, 0xff, cells * sizeof(*j->peer));
	if (j->largest_lmc) {
		j->carried = arena_array(tmp, j->n, j->lft->stride / 8);
		return j->carried ? E_OK : -ENOMEM;
	}
	return E_OK;
}

/*
 * Where all shortest paths are allowed: the port of each switch that leads to each other
 * switch, SPREAD_SEVERAL where there is more than one. 64 destinations at once.
 */
static int find_towards(struct spread_job *j, struct arena *tmp)
{
	const struct graph *g = j->g;
	size_t stride = j->hops->stride;

	if (j->in->closer != spread_shortest) {
		return E_OK;
	}
	j->towards = arena_array(tmp, j->n, stride);
	if (!j->towards) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(static)
	for (size_t block = 0; block < j->n * (stride / BLOCK); block++) {
		uint32_t s = (uint32_t)(block / (stride / BLOCK));
		size_t at = block * BLOCK, first = at % stride;
		uint8_t here[BLOCK], there[BLOCK], port[BLOCK] = { 0 };

		memcpy(here, j->hops->dist + at, BLOCK);
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint8_t mine = g->adj[i].port;

			memcpy(there, j->hops->dist + g->adj[i].to * stride + first,
			       BLOCK);
			for (unsigned t = 0; t < BLOCK; t++) {
				bool is_closer = (uint8_t)(there[t] + 1) == here[t];
				uint8_t closer = is_closer ? UINT8_MAX : 0;
				uint8_t more = port[t] ? SPREAD_SEVERAL : mine;

				port[t] =
					(uint8_t)((closer & more) | (~closer & port[t]));
			}
		}
		memcpy(j->towards + at, port, BLOCK);
	}
	return E_OK;
}

static int job_init(struct spread_job *j, const struct spread *in, struct lft *lft,
                    struct arena *tmp)
{
	const struct graph *g = in->g;
	uint32_t *leaf, n_leaves;
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
	for (uint32_t h = 0; h < j->n_cols; h++) {
		unsigned lmc = j->lids->of[g->hosts[h]].lmc;

		j->largest_lmc = lmc > j->largest_lmc ? lmc : j->largest_lmc;
	}
	ret = alloc_arrays(j, tmp);
	if (ret == E_OK) {
		ret = leaves_order(g, tmp, &leaf, &n_leaves);
	}
	for (uint32_t i = 1; ret == E_OK && i < n_leaves; i++) {
		if (leaf[i] < leaf[i - 1]) {
			j->leaf = leaf;
			j->n_leaves = n_leaves;
		}
	}
	if (ret == E_OK) {
		ret = find_towards(j, tmp);
	}
	for (uint32_t s = 0; ret == E_OK && s < j->n; s++) {
		number_neighbours(j, s);
	}
	return ret;
}

/* Places one LID of each LMC range: the one at an offset from the base LID. */
static int place_offset(struct spread_job *j, unsigned offset, struct arena *tmp)
{
	int ret = E_OK;

	j->offset = offset;
	for (uint32_t h = 0; h < j->n_cols; h++) {
		struct lid_range r = j->lids->of[j->port[h]];

		j->lid[h] = r.base && offset >> r.lmc == 0 ? r.base + offset : 0;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < j->n; s++) {
		uint32_t hosts = j->g->host_first[s + 1] - j->g->host_first[s];
		uint16_t *flow = j->flow + (size_t)s * j->n_cols;

		for (uint32_t h = 0; h < j->n_cols; h++) {
			flow[h] = (uint16_t)hosts;
		}
	}
	if (j->plan) {
		spread_plan_columns(j);
	}
	for (unsigned d = j->hops->diameter; d > 0; d--) {
		if (j->in->cancel && *j->in->cancel) {
			return -ECANCELED;
		}
		spread_place_hosts(j, d);
	}
	/* A group has too few hosts to fill all links evenly. */
	if (j->in->even && offset == 0 && !j->in->groups) {
		ret = spread_rebalance(j, tmp);
	}
	spread_place_unused(j);
	if (offset + 1 < 1U << j->largest_lmc) {
		spread_note_carried(j);
	}
	return ret;
}

/*
 * Places the base LIDs, or all others, of the hosts that are columns now. After this
 * round its routes only decide between equals.
 */
static int place_round(struct spread_job *j, bool base, struct arena *tmp)
{
	unsigned end = base ? 1 : 1U << j->largest_lmc;
	int ret = E_OK;

	for (unsigned k = base ? 0 : 1; k < end && ret == E_OK; k++) {
		ret = place_offset(j, k, tmp);
	}
	if (j->plan) {
		spread_plan_end_round(j);
	}
	for (size_t i = 0; i < (size_t)j->n * j->width; i++) {
		j->earlier[i] += j->load[i];
		j->load[i] = 0;
	}
	return ret;
}

/* Working memory for the columns of a group. */
struct columns {
	uint32_t *first, *port, *host;
};

/* Places one group after the other. */
static int place_groups(struct spread_job *j, bool base, const struct columns *c,
                        struct arena *tmp)
{
	const struct graph *g = j->g;
	int ret = E_OK;

	j->first = c->first;
	j->port = c->port;
	j->host = c->host;
	for (uint32_t i = 0; i < j->in->groups->n && ret == E_OK; i++) {
		uint32_t n = 0;

		for (uint32_t s = 0; s < j->n; s++) {
			c->first[s] = n;
			for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1];
			     h++) {
				if (j->in->groups->of[h] == i) {
					c->port[n] = g->hosts[h];
					c->host[n++] = h;
				}
			}
		}
		c->first[j->n] = n;
		j->n_cols = n;
		ret = n ? place_round(j, base, tmp) : E_OK;
	}
	return ret;
}

/* Base LIDs of all groups come first, so that the other LIDs take nothing from them. */
static int place_all_groups(struct spread_job *j, struct arena *tmp)
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
		ret = place_groups(j, true, &c, tmp);
	}
	return ret == E_OK ? place_groups(j, false, &c, tmp) : ret;
}

/*
 * Do base LIDs follow a plan? They do not when the operator's options ask for another
 * distribution. With an LMC a further LID avoids the systems of the lower LIDs, in the
 * order that load gives these, so there is a plan only where every link leads to another
 * system.
 */
static bool is_planned(const struct spread_job *j)
{
	const struct spread_tune *tune = j->in->tune;
	const struct graph *g = j->g;

	for (uint32_t s = 0; s < j->n; s++) {
		if (j->largest_lmc && !j->distinct[s]) {
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

int spread_run(const struct spread *in, struct lft *lft, struct arena *tmp)
{
	struct spread_job j;
	int ret = job_init(&j, in, lft, tmp);

	if (ret == E_OK && in->groups) {
		ret = place_all_groups(&j, tmp);
	} else if (ret == E_OK) {
		if (is_planned(&j)) {
			ret = spread_plan_init(&j, tmp);
		}
		if (ret == E_OK) {
			ret = place_round(&j, true, tmp);
		}
		j.plan = NULL;
		if (ret == E_OK) {
			ret = place_round(&j, false, tmp);
		}
	}
	return ret == E_OK ? spread_place_switches(&j, tmp) : ret;
}

void spread_shortest(const void *ctx, uint32_t s, uint32_t t, const struct sw_link *link,
                     uint32_t n_links, unsigned max, struct spread_ports *ret_ports)
{
	const struct hops *h = ctx;
	unsigned closer = hops_between(h, s, t) - 1U, n = 0;

	for (uint32_t i = 0; i < n_links && n < max; i++) {
		if (hops_between(h, link[i].to, t) == closer) {
			ret_ports->port[n] = link[i].port;
			ret_ports->to[n] = link[i].to;
			n++;
		}
	}
	ret_ports->n = n;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Single-source shortest paths with growing weights. Each destination in turn gets its
 * shortest paths; then the weight of every link grows by the routes placed on it. So later
 * destinations avoid the links that earlier ones load.
 *
 * Fewest hops come first; weights decide among equals. So no priority queue is needed: a
 * breadth-first search from the destination's switch finds the links that lead closer, once
 * for all LIDs on that switch. Each LID then takes one pass over these links from near to
 * far (the weight of the path from each switch) and one over the switches from far to near
 * (the routes that pass).
 *
 * Each destination depends on the weights of all earlier ones, so one thread does the work.
 * Giving several destinations the same weights, to route them in parallel, was tried: two at
 * a time already put twice the mean on some links of a tree with missing cables. Searching
 * ahead in parallel saves less than waiting for other threads costs. Among links of equal
 * weight every switch takes the first, so all switches of a whole tree use them in step.
 *
 * Weights alone would give a link that lags behind the others to several destinations in a
 * row, until it has caught up. These are neighbours, and shifted traffic goes to them at the
 * same time. So the routes of the last destinations weigh 9 times as much; this extra weight
 * is halved from one destination switch to the next.
 *
 * Destinations come in groups: compute nodes, I/O nodes (both as listed), other hosts, ports
 * 0 of switches; within a group the switches with most hosts first. Each group is balanced by
 * itself; the load of earlier groups only decides among equals. With an LMC the base LIDs of
 * all groups come before all other LIDs and are balanced by themselves. A further LID of a
 * port avoids, at each switch, what its lower LIDs use there: their ports first, then their
 * systems, then their ASICs, each before any load. Only the same switch counts, so a switch
 * has as many paths to the LIDs of a port as it has links that lead closer.
 *
 * Weights know only the past: a link keeps the routes it got before others were loaded. So if
 * hosts are one group and a link carries much more than the mean, the routes to their base
 * LIDs are rebalanced afterwards. The shortest paths are those with fewest hops, so a route
 * may move to any of these. Other LIDs of a port are not moved, because they must differ from
 * the base LID and from each other. Dimension-order routes are not moved, because other paths
 * of fewest hops are not in dimension order.
 *
 * Earlier tables: in each group the routes whose entries all still lead closer are placed on
 * the links first. The others are routed around them and keep as many entries as they can
 * (routing/spread/keep.h says when this is not good enough).
 *
 * Sources: T. Hoefler, T. Schneider, A. Lumsdaine, "Optimized Routing for Large-Scale
 * InfiniBand Networks", HOTI 2009; J. Domke, T. Hoefler, W. Nagel, "Deadlock-Free
 * Oblivious Routing for Arbitrary Topologies", IPDPS 2011.
 */
#include "routing/engines/sssp/sssp_fill.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/sssp/sssp_targets.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/keep.h"
#include "routing/spread/spread.h"

enum {
	CHUNK = 64,       /* LIDs whose ports are written together */
	EARLIER_BITS = 6, /* a route of an earlier group weighs 1/64 of one of this */
	INDEX_BITS = 8,   /* a switch has fewer than 256 steps */
	RECENT = 8        /* extra weight of a recent route */
};

#define INDEX_MASK ((UINT64_C(1) << INDEX_BITS) - 1)

/* Penalties for further LIDs, in rising order: a switch that lower LIDs of the port pass;
 * a node or a system to which they go from here; above these the number of them that
 * use the same link. */
enum { AVOID_PASSED = 1, AVOID_NODE = 2, AVOID_SYSTEM = 4, AVOID_PORT = 8 };

struct job {
	const struct sssp *in;
	const struct graph *g;
	struct lft *lft;
	struct sssp_targets to;
	uint64_t *weight;   /* [n_adj] */
	uint64_t *recent;   /* [n_adj] part of the weight from the last destinations */
	const struct lft *prev; /* NULL: none that fits */
	bool *kept;             /* [as lid] all entries are those of prev */
};

/* A link that leads closer. Switches are numbered in search order; the destination is
 * 0. */
struct step {
	uint32_t channel; /* index in graph.adj */
	uint32_t to;
};

/* Working memory of one destination: the links that lead closer to it, and costs. */
struct search {
	uint32_t *place;    /* [n] place of a switch, GRAPH_NONE: not reached */
	uint32_t *order;    /* [n_order] switch at a place */
	uint32_t *first;    /* [n_order + 1] into step */
	struct step *step;  /* [n_adj] */
	uint32_t *pick;     /* [n_order] the step chosen */
	uint64_t *cost;     /* [n_order] weight of the path, << INDEX_BITS */
	uint64_t *n_hosts;  /* [n_order] */
	uint64_t *flow;     /* [n_order] routes that pass */
	/* [as step] << INDEX_BITS, plus its index among those of its switch: so the
	 * least is the first of equal ones, and is found without a branch */
	uint64_t *weight;
	uint32_t *avoid;    /* [as step] AVOID_* bits: how much a LID avoids the step */
	/* [n][stride / 8] bit per LID: a host's route passes; NULL: LMC 0 */
	uint8_t *carried;
	bool *passed;     /* [n_order] lower LIDs of the port pass the switch */
	uint8_t *port;      /* [CHUNK][n] */
	uint32_t extra;     /* extra weight of a recent route: RECENT, or 0 */
	uint32_t n_order;
};

/* ---- the links that lead closer ---- */

/* Keeps one direction of a dimension if there are both. \return Links left. */
static uint32_t keep_direction(const struct sssp *in, uint32_t t, struct step *found,
                               uint32_t n)
{
	uint32_t n_up = 0, kept = 0, odd;

	for (uint32_t i = 0; i < n; i++) {
		n_up += in->up[found[i].channel];
	}
	if (n_up == 0 || n_up == n) {
		return n;
	}
	odd = in->odd[t] >> in->dimension[found[0].channel] & 1;
	for (uint32_t i = 0; i < n; i++) {
		if (in->up[found[i].channel] == odd) {
			found[kept++] = found[i];
		}
	}
	return kept;
}

/* Keeps the lowest dimension. \return Links left. */
static uint32_t keep_dimension(const struct sssp *in, uint32_t t, struct step *found,
                               uint32_t n)
{
	const uint8_t *dim = in->dimension;
	unsigned lowest = UINT8_MAX;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		lowest = dim[found[i].channel] < lowest ? dim[found[i].channel] : lowest;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (dim[found[i].channel] == lowest) {
			found[kept++] = found[i];
		}
	}
	return in->up ? keep_direction(in, t, found, kept) : kept;
}

/* Lists the steps of all switches by distance, those of a switch by port, and their
 * weights, whose recent part is halved. */
static void search(const struct job *j, struct search *b,
                   const struct sssp_target *target)
{
	const struct graph *g = j->g;
	uint32_t t = target->sw, first = 0;

	uint32_t level = 0, next = 0; /* places of the first switches with as many hops */

	memset(b->place, 0xff, g->n_switches * sizeof(*b->place));
	b->place[t] = 0;
	b->order[0] = t;
	b->n_order = 1;
	b->extra = target->offset ? 0 : RECENT;
	for (uint32_t head = 0; head < b->n_order; head++) {
		uint32_t s = b->order[head], n = 0;
		struct step *out = b->step + first;

		if (head == next) {
			level = head;
			next = b->n_order;
		}
		b->n_hosts[head] = g->host_first[s + 1] - g->host_first[s];
		for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
			uint32_t to = g->adj[c].to, place = b->place[to];

			out[n] = (struct step){ c, place };
			n += place < level;
			if (place == GRAPH_NONE) {
				b->place[to] = b->n_order;
				b->order[b->n_order++] = to;
			}
		}
		n = j->in->dimension ? keep_dimension(j->in, t, out, n) : n;
		for (uint32_t k = 0; k < n; k++) {
			uint32_t c = out[k].channel;

			j->recent[c] /= 2;
			b->weight[first + k] =
				((j->weight[c] + j->recent[c] * b->extra) << INDEX_BITS) +
				k;
		}
		b->first[head] = first;
		first += n;
	}
	b->first[b->n_order] = first;
}

/* ---- one LID ---- */

static bool same_system(const struct graph *g, uint32_t a, uint32_t b)
{
	uint64_t system = g->nodes[g->switches[a]].system_image_guid;

	return a == b || (system && system == g->nodes[g->switches[b]].system_image_guid);
}

/* Marks the steps of one switch to avoid because a lower LID leaves the switch by \a
 * port. */
static void mark_avoided(const struct job *j, struct search *b, uint32_t i, uint8_t port)
{
	const struct sw_link *adj = j->g->adj;
	uint32_t taken = GRAPH_NONE;

	for (uint32_t k = b->first[i]; k < b->first[i + 1]; k++) {
		taken = adj[b->step[k].channel].port == port ? b->step[k].channel : taken;
	}
	for (uint32_t k = b->first[i]; taken != GRAPH_NONE && k < b->first[i + 1]; k++) {
		uint32_t c = b->step[k].channel;

		b->avoid[k] += c == taken ? AVOID_PORT : 0;
		b->avoid[k] |= adj[c].to == adj[taken].to ? AVOID_NODE : 0;
		b->avoid[k] |=
			same_system(j->g, adj[c].to, adj[taken].to) ? AVOID_SYSTEM : 0;
	}
}

/* Does a host's route to the LID pass this switch? */
static bool carries(const struct job *j, const struct search *b, uint32_t s, uint32_t lid)
{
	return b->carried[(size_t)s * (j->lft->stride / 8) + lid / 8] >> lid % 8 & 1;
}

/* Finds the steps of the earlier table, GRAPH_NONE: none. \return All switches have
 * one. */
static bool find_old(const struct job *j, struct search *b, uint32_t lid,
                     uint8_t home_port)
{
	const struct sw_link *adj = j->g->adj;
	bool all = lft_row(j->prev, b->order[0])[lid] == home_port;

	for (uint32_t i = 1; i < b->n_order; i++) {
		uint8_t port = lft_row(j->prev, b->order[i])[lid];
		uint32_t k = b->first[i], end = b->first[i + 1];

		while (k < end && adj[b->step[k].channel].port != port) {
			k++;
		}
		b->pick[i] = k < end ? k : GRAPH_NONE;
		all &= k < end;
	}
	return all;
}

/* Chooses the step with the lightest path at every switch; for a further LID among
 * those that it avoids least. Ports that it avoids at later switches do not count, because
 * there are other paths from there. \param found Steps that are chosen already stay.
 * \param again Weights have only grown since the last LID, so a switch whose step costs
 * the same has no lighter one. */
static void take_lightest(struct search *b, bool further, bool found, bool again)
{
	const struct step *step = b->step;
	const uint64_t *weight = b->weight;
	uint64_t *cost = b->cost;

	cost[0] = 0;
	for (uint32_t i = 1; i < b->n_order; i++) {
		uint64_t least = UINT64_MAX;
		uint32_t avoid = UINT32_MAX,
			 old = again || found ? b->pick[i] : GRAPH_NONE;

		if (old != GRAPH_NONE) {
			uint64_t c = (cost[step[old].to] + weight[old]) & ~INDEX_MASK;

			if (found || c == cost[i]) {
				cost[i] = c;
				continue;
			}
		}
		for (uint32_t k = b->first[i]; further && k < b->first[i + 1]; k++) {
			avoid = b->avoid[k] < avoid ? b->avoid[k] : avoid;
		}
		for (uint32_t k = b->first[i], end = b->first[i + 1]; k < end; k++) {
			uint64_t c = cost[step[k].to] + weight[k];

			if (!further || b->avoid[k] == avoid) {
				least = c < least ? c : least;
			}
		}
		cost[i] = least & ~INDEX_MASK;
		b->pick[i] = b->first[i] + (uint32_t)(least & INDEX_MASK);
	}
}

/* Chooses the step of every switch for one LID. \return false: in the keeping pass, an
 * earlier step is missing; in the other pass, the keeping pass has placed the LID. */
static bool choose_steps(const struct job *j, struct search *b,
                         const struct sssp_target *t, uint32_t at, bool keeping)
{
	bool found = j->prev != NULL;

	if (j->kept[at]) {
		return false;
	}
	if (found) {
		j->kept[at] =
			find_old(j, b, j->to.lid[at], j->to.home_port[at]) && keeping;
	}
	if (keeping) {
		return j->kept[at];
	}
	if (t->offset) {
		/* what the lower LIDs of the port use at each switch that their routes
		 * pass */
		for (uint32_t i = 0; i < b->n_order; i++) {
			uint32_t k = 1;

			while (k <= t->offset &&
			       !carries(j, b, b->order[i], j->to.lid[at] - k)) {
				k++;
			}
			b->passed[i] = k <= t->offset;
		}
		for (uint32_t k = 0; k < b->first[b->n_order]; k++) {
			b->avoid[k] = b->passed[b->step[k].to] ? AVOID_PASSED : 0;
		}
		for (uint32_t i = 1; i < b->n_order; i++) {
			const uint8_t *row = lft_row(j->lft, b->order[i]);

			for (uint32_t k = 1;
			     b->first[i + 1] - b->first[i] > 1 && k <= t->offset; k++) {
				if (carries(j, b, b->order[i], j->to.lid[at] - k)) {
					mark_avoided(j, b, i, row[j->to.lid[at] - k]);
				}
			}
		}
	}
	take_lightest(b, t->offset > 0, found, !t->offset && !found && at > t->first);
	return true;
}

static void route_target(const struct job *j, struct search *b,
                         const struct sssp_target *t, bool keeping)
{
	uint32_t lid[CHUNK], n = 0;

	for (uint32_t at = t->first; at < t->first + t->n; at++) {
		if (choose_steps(j, b, t, at, keeping)) {
			uint8_t *port;

			/* place the routes of all hosts on the links */
			memcpy(b->flow, b->n_hosts, b->n_order * sizeof(*b->flow));
			for (uint32_t i = b->n_order; i-- > 1;) {
				if (b->flow[i] == 0) {
					continue;
				}
				struct step step = b->step[b->pick[i]];
				uint64_t routes = b->flow[i] << EARLIER_BITS;

				b->weight[b->pick[i]] += routes * (1 + b->extra)
				                         << INDEX_BITS;
				j->weight[step.channel] += routes;
				j->recent[step.channel] += routes;
				b->flow[step.to] += b->flow[i];
			}
			if (b->carried) {
				for (uint32_t i = 0; i < b->n_order; i++) {
					size_t row = (size_t)b->order[i] *
					             (j->lft->stride / 8);

					b->carried[row + j->to.lid[at] / 8] |=
						(uint8_t)((b->flow[i] > 0)
					                  << j->to.lid[at] % 8);
				}
			}
			port = b->port + (size_t)n * j->g->n_switches;
			port[0] = j->to.home_port[at];
			for (uint32_t i = 1; i < b->n_order; i++) {
				port[i] = j->g->adj[b->step[b->pick[i]].channel].port;
			}
			lid[n++] = j->to.lid[at];
		}
		if (n == CHUNK || (n && at + 1 == t->first + t->n)) {
			for (uint32_t i = 0; i < b->n_order; i++) {
				uint8_t *row = lft_row(j->lft, b->order[i]);

				for (uint32_t k = 0; k < n; k++) {
					row[lid[k]] =
						b->port[(size_t)k * j->g->n_switches + i];
				}
			}
			n = 0;
		}
	}
}

/* ---- all ---- */

static int search_init(struct search *b, const struct job *j, struct arena *a)
{
	const struct graph *g = j->g;
	size_t n = (size_t)g->n_switches + 1, n_adj = (size_t)g->n_adj + 1;

	b->place = arena_array(a, n, sizeof(*b->place));
	b->order = arena_array(a, n, sizeof(*b->order));
	b->first = arena_array(a, n, sizeof(*b->first));
	b->step = arena_array(a, n_adj, sizeof(*b->step));
	b->pick = arena_array(a, n, sizeof(*b->pick));
	b->cost = arena_array(a, n, sizeof(*b->cost));
	b->n_hosts = arena_array(a, n, sizeof(*b->n_hosts));
	b->flow = arena_array(a, n, sizeof(*b->flow));
	b->weight = arena_array(a, n_adj, sizeof(*b->weight));
	b->avoid = arena_array(a, n_adj, sizeof(*b->avoid));
	b->passed = arena_array(a, n, sizeof(*b->passed));
	b->port = arena_array(a, n, CHUNK);
	if (!b->n_hosts || !b->place || !b->order || !b->first || !b->step || !b->pick ||
	    !b->cost || !b->flow || !b->weight || !b->avoid || !b->passed || !b->port) {
		return -ENOMEM;
	}
	if (sssp_longest_range(j->in) > 1) {
		b->carried = arena_array(a, n, j->lft->stride / 8);
		return b->carried ? E_OK : -ENOMEM;
	}
	return E_OK;
}

static bool starts_group(const struct job *j, uint32_t i)
{
	const struct sssp_target *t = j->to.target + i;

	return i &&
	       (t[0].group != t[-1].group || (t[0].offset > 0) != (t[-1].offset > 0));
}

static bool is_kept(const struct job *j, const struct sssp_target *t)
{
	for (uint32_t k = 0; k < t->n; k++) {
		if (!j->kept[t->first + k]) {
			return false;
		}
	}
	return true;
}

/* One pass over targets that follow each other. */
static int route_range(const struct job *j, struct search *b, uint32_t first,
                       uint32_t end, bool keeping)
{
	for (uint32_t i = first; i < end; i++) {
		if (j->in->cancel && *j->in->cancel) {
			return -ECANCELED;
		}
		if (keeping || !j->prev || !is_kept(j, &j->to.target[i])) {
			search(j, b, &j->to.target[i]);
			route_target(j, b, &j->to.target[i], keeping);
		}
	}
	return E_OK;
}

static int route_targets(const struct job *j, struct search *b, uint32_t first,
                         uint32_t end)
{
	int ret = E_OK;

	for (uint32_t next = first; ret == E_OK && first < end; first = next) {
		if (starts_group(j, first)) {
			for (uint32_t c = 0; c < j->g->n_adj; c++) {
				j->weight[c] >>= EARLIER_BITS;
				j->recent[c] = 0;
			}
		}
		do {
			next++;
		} while (next < end && !starts_group(j, next));
		ret = j->prev ? route_range(j, b, first, next, true) : E_OK;
		if (ret == E_OK) {
			ret = route_range(j, b, first, next, false);
		}
	}
	return ret;
}

/* Does a link carry much more than the mean? */
static bool is_uneven(const struct job *j)
{
	uint64_t most = 0, sum = 0;

	for (uint32_t c = 0; c < j->g->n_adj; c++) {
		sum += j->weight[c];
		most = j->weight[c] > most ? j->weight[c] : most;
	}
	return j->g->n_adj && most > sum / j->g->n_adj * 5 / 4;
}

/* The switches that routes of hosts to a LID on switch t pass. */
static void record_carried(const struct job *j, struct search *b, uint32_t t,
                           uint32_t lid)
{
	const struct graph *g = j->g;
	uint32_t stride = j->lft->stride / 8;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		b->carried[(size_t)s * stride + lid / 8] &= (uint8_t) ~(1U << lid % 8);
	}
	for (uint32_t from = 0; from < g->n_switches; from++) {
		uint32_t s = from;

		while (g->host_first[from] != g->host_first[from + 1] && s != t &&
		       lft_row(j->lft, s)[lid] != LFT_NO_ROUTE &&
		       !carries(j, b, s, lid)) {
			uint32_t port =
				graph_port(g, g->switches[s], lft_row(j->lft, s)[lid]);

			b->carried[(size_t)s * stride + lid / 8] |=
				(uint8_t)(1U << lid % 8);
			s = g->nodes[g->ports[g->ports[port].peer].node].sw;
		}
	}
}

/* Moves routes to base LIDs from links that carry much more than the others. */
static int rebalance(const struct sssp *in, const struct lft *prev, struct lft *lft)
{
	struct arena *tmp;
	struct hops hops;
	const struct spread spread = { .g = in->g,
		                       .lids = in->lids,
		                       .hops = &hops,
		                       .closer = spread_shortest,
		                       .ctx = &hops,
		                       .prev = prev,
		                       .cancel = in->cancel };
	int ret;

	if (in->dimension) {
		return E_OK;
	}
	tmp = arena_new();
	ret = tmp ? hops_init(&hops, in->g, tmp) : -ENOMEM;
	if (ret == E_OK) {
		ret = spread_rebalance_tables(&spread, 0, lft, tmp);
	}
	arena_free(tmp);
	return ret == E_RANGE ? E_OK : ret; /* too large to know its hops */
}

/* Further LIDs come after the rebalancing, because they avoid the base LIDs. */
static int route_all(const struct job *j, struct search *b)
{
	uint32_t n_hosts = 0;
	int ret;

	while (n_hosts < j->to.n && j->to.target[n_hosts].group != SSSP_SWITCH &&
	       !j->to.target[n_hosts].offset) {
		n_hosts++;
	}
	ret = route_targets(j, b, 0, n_hosts);
	/* the weights are the loads only while there is one group */
	if (ret == E_OK && n_hosts && j->to.target[0].group == SSSP_OTHER &&
	    is_uneven(j)) {
		ret = rebalance(j->in, j->prev, j->lft);
		/* record again which switches the moved routes pass */
		for (uint32_t i = 0; b->carried && i < n_hosts; i++) {
			const struct sssp_target *t = &j->to.target[i];

			for (uint32_t k = 0; k < t->n; k++) {
				record_carried(j, b, t->sw, j->to.lid[t->first + k]);
			}
		}
	}
	return ret == E_OK ? route_targets(j, b, n_hosts, j->to.n) : ret;
}

/* Groups of ports, if hosts are in several. */
static int measure_init(const struct sssp *in, struct keep_measure *m, struct arena *tmp)
{
	struct why notes = { "" };
	const struct sssp_options *o = in->options;

	*m = (struct keep_measure){ .g = in->g, .lids = in->lids, .n_sets = SSSP_SWITCH };
	if (o && (o->cn || o->io)) {
		m->set = sssp_groups(in, &notes, tmp);
		return m->set ? E_OK : -ENOMEM;
	}
	return E_OK;
}

/* Keeps earlier entries, if the tables are good enough. */
static int fill_kept(struct job *j, struct search *b, bool *ret_kept, struct arena *tmp)
{
	struct lft kept, *anew = j->lft;
	struct keep_measure m;
	int ret = lft_init(&kept, j->g->n_switches, j->in->lids->top, tmp);

	if (ret == E_OK) {
		ret = measure_init(j->in, &m, tmp);
	}
	if (ret == E_OK) {
		j->lft = &kept;
		j->prev = j->in->prev;
		ret = route_all(j, b);
	}
	if (ret == E_OK) {
		ret = keep_is_good(&m, &kept, NULL, ret_kept);
	}
	if (ret == E_OK && !*ret_kept) {
		j->lft = anew;
		j->prev = NULL;
		memset(j->weight, 0, j->g->n_adj * sizeof(*j->weight));
		memset(j->recent, 0, j->g->n_adj * sizeof(*j->recent));
		memset(j->kept, 0, j->in->lids->count * sizeof(*j->kept));
		if (b->carried) {
			memset(b->carried, 0, j->g->n_switches * (anew->stride / 8));
		}
		ret = route_all(j, b);
		if (ret == E_OK) {
			ret = keep_is_good(&m, &kept, anew, ret_kept);
		}
	}
	if (ret == E_OK && *ret_kept) {
		memcpy(anew->rows, kept.rows, anew->n_switches * anew->stride);
	}
	return ret;
}

int sssp_fill(const struct sssp *in, struct lft *lft, bool *ret_kept, struct why *notes,
              struct arena *tmp)
{
	struct job j = { .in = in, .g = in->g, .lft = lft };
	struct search b = { 0 };
	bool kept = false;
	int ret = sssp_targets_init(&j.to, in, notes, tmp);

	if (ret == E_OK) {
		ret = search_init(&b, &j, tmp);
	}
	j.weight = arena_array(tmp, (size_t)in->g->n_adj + 1, sizeof(*j.weight));
	j.recent = arena_array(tmp, (size_t)in->g->n_adj + 1, sizeof(*j.recent));
	j.kept = arena_array(tmp, in->lids->count, sizeof(*j.kept));
	if (ret != E_OK || !j.weight || !j.recent || !j.kept) {
		return -ENOMEM;
	}
	ret = keep_has_shape(in->prev, lft) ? fill_kept(&j, &b, &kept, tmp)
	                                    : route_all(&j, &b);
	if (ret == E_OK && ret_kept) {
		*ret_kept = kept;
	}
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Plans: how hosts are spread evenly over a tree.
 *
 * In a whole tree whose leaves are all full, switches of one level choose in step and the
 * last links before the hosts get their share by themselves. In others, or of a group of
 * hosts, there may be two hosts behind one leaf switch and none behind the next. Then
 * each switch would choose by other loads, two routes to one leaf would come down one
 * link while others stay empty, and the routes to a host would come together late, so
 * that each link down serves many hosts and two of them are in each other's way.
 *
 * So hosts are planned from below. Each in turn takes, from its leaf switch up to the
 * top, the link that the fewest hosts of its group come down, then the fewest of earlier
 * groups, then the switch that the fewest of its group come down through; among equals
 * the search goes on by one with each host. All other switches send towards the top of
 * this way, or where that is a detour towards the next switch on it. Of several ports
 * towards the top a switch takes the one that mirrors what the way does at its height:
 * the hosts of a leaf that share a top come down by different links, so they go up by
 * different links. What can reach no switch of the way on a shortest path is placed by
 * load.
 *
 * With an LMC further LIDs of groups keep off the systems, then the switches, of the
 * lower ones. Without groups only base LIDs are planned.
 *
 * "Up" is away from leaves (leaves.h). Where hosts hang on every switch there is no plan,
 * and load decides alone. A plan decides between ports that an engine allows, so it never
 * makes a route longer.
 */
#include "routing/spread/spread_plan.h"

#include <errno.h>
#include <stdbool.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/spread/leaves.h"

enum { DEPTH = 4, SEVERAL = SPREAD_SEVERAL };

/* Hosts that come down a link or through a switch. */
struct planned {
	uint32_t now, earlier;
};

struct spread_plan {
	uint16_t *level;      /* [n] hops from the nearest leaf */
	bool is_tree;         /* has any host a way? */
	uint32_t *up;         /* [n_adj] links up of a switch, from adj_first on */
	uint32_t *n_up;       /* [n] */
	uint8_t *towards; /* [n][hops.stride] port towards a switch of level 1 and above;
	                     0, SEVERAL */
	struct planned *link; /* [n_adj] by the link as seen from below */
	struct planned *node; /* [n] */
	uint8_t *turn; /* [hosts][DEPTH] which of the links up the base LID takes */
	uint8_t *
		left; /* [columns][DEPTH] hops from the switches of the way to the leaf */
	uint32_t *way; /* [columns][DEPTH] of this pass: switches from the top, GRAPH_NONE at the end */
	uint8_t *mirror; /* [columns][DEPTH] by height: which of the ports that lead to
	                    the top of the way the last switches on it have for it */
};

/*
 * Where a link comes among those up: what is the first to a further system is before what
 * is the first to a further ASIC of one, and that before a second link to one.
 */
static uint32_t place_up(const struct spread_job *j, uint32_t s, const uint32_t *up,
                         uint32_t i)
{
	const struct sw_link *adj = j->g->adj;
	const uint8_t *system = j->system + (size_t)s * j->width;
	const uint8_t *node = j->node + (size_t)s * j->width;
	uint8_t mine = adj[up[i]].port;
	uint32_t same_node = 0, nodes = 0;

	for (uint32_t k = 0; k < i; k++) {
		uint8_t port = adj[up[k]].port;

		same_node += node[port] == node[mine];
	}
	for (uint32_t k = 0; k < i; k++) {
		uint8_t port = adj[up[k]].port;
		bool first = system[port] == system[mine] && node[port] < node[mine];

		for (uint32_t l = 0; first && l < k; l++) {
			first = node[adj[up[l]].port] != node[port];
		}
		nodes += first;
	}
	return same_node << 16 | nodes << 8 | system[mine];
}

static void sort_up(uint32_t *up, uint32_t *place, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t u = up[i], at = place[i], k = i;

		for (; k && place[k - 1] > at; k--) {
			up[k] = up[k - 1];
			place[k] = place[k - 1];
		}
		up[k] = u;
		place[k] = at;
	}
}

static void find_up(const struct spread_job *j, const struct spread_plan *p)
{
	const struct graph *g = j->g;

	for (uint32_t s = 0; s < j->n; s++) {
		uint32_t *up = p->up + g->adj_first[s], place[SPREAD_PORTS_MAX], n = 0;

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (p->level[g->adj[i].to] > p->level[s]) {
				up[n++] = i;
			}
		}
		for (uint32_t i = 0; i < n; i++) {
			place[i] = place_up(j, s, up, i);
		}
		if (j->in->groups) {
			sort_up(up, place, n);
		}
		p->n_up[s] = n;
	}
}

int spread_plan_init(struct spread_job *j, struct arena *tmp)
{
	struct spread_plan *p = arena_alloc(tmp, sizeof(*p));
	size_t n_hosts = j->g->host_first[j->n];

	if (!p) {
		return -ENOMEM;
	}
	p->towards = j->towards ? j->towards : arena_array(tmp, j->n, j->hops->stride);
	p->link = arena_array(tmp, j->g->n_adj + 1U, sizeof(*p->link));
	p->node = arena_array(tmp, j->n, sizeof(*p->node));
	p->up = arena_array(tmp, j->g->n_adj + 1U, sizeof(*p->up));
	p->n_up = arena_array(tmp, j->n, sizeof(*p->n_up));
	p->turn = arena_array(tmp, n_hosts, DEPTH);
	p->way = arena_array(tmp, n_hosts, DEPTH * sizeof(*p->way));
	p->mirror = arena_array(tmp, n_hosts, DEPTH);
	p->left = arena_array(tmp, n_hosts, DEPTH);
	if (!p->link || !p->node || !p->up || !p->n_up || !p->turn || !p->way ||
	    !p->mirror || !p->left) {
		return -ENOMEM;
	}
	if (leaves_heights(j->g, tmp, &p->level) != E_OK) {
		return -ENOMEM;
	}
	find_up(j, p);
	j->plan = p;
	return p->towards ? E_OK : -ENOMEM;
}

/* What is compared, the first things first. */
static bool before(const struct planned *link, const struct planned *node,
                   const struct planned *other_link, const struct planned *other_node)
{
	if (link->now != other_link->now) {
		return link->now < other_link->now;
	}
	if (link->earlier != other_link->earlier) {
		return link->earlier < other_link->earlier;
	}
	if (node->now != other_node->now) {
		return node->now < other_node->now;
	}
	return node->earlier < other_node->earlier;
}

/* Which of the links up from a switch fewest hosts come down; each turn another one of
 * equals. */
static uint32_t best_up(const struct spread_job *j, uint32_t s, uint32_t turn)
{
	const struct spread_plan *p = j->plan;
	const uint32_t *up = p->up + j->g->adj_first[s];
	const struct sw_link *adj = j->g->adj;
	uint32_t n = p->n_up[s], best = turn % n;

	for (uint32_t k = 1; k < n; k++) {
		uint32_t i = (turn + k) % n;

		if (before(&p->link[up[i]], &p->node[adj[up[i]].to], &p->link[up[best]],
		           &p->node[adj[up[best]].to])) {
			best = i;
		}
	}
	return best;
}

/* The link that a further LID takes: the next at each switch, one more when all below
 * have had their turn. */
static uint32_t next_up(const struct spread_job *j, uint32_t s, uint32_t turn,
                        uint32_t n_below)
{
	uint32_t more = n_below ? j->offset / n_below : 0;

	return (turn + j->offset + more) % j->plan->n_up[s];
}

static void find_towards(const struct spread_job *j, uint32_t s, uint32_t to,
                         struct spread_ports *ret)
{
	const uint32_t *first = j->g->adj_first + s;

	j->in->closer(j->in->ctx, s, to, j->g->adj + first[0], first[1] - first[0],
	              SPREAD_PORTS_MAX, ret);
}

/* The port to a switch of a way, SEVERAL. Asked for when it is wanted first: of a switch
 * one thread at a time does. */
static uint8_t port_to(const struct spread_job *j, uint32_t s, uint32_t to)
{
	uint8_t *port = j->plan->towards + (size_t)s * j->hops->stride + to;
	struct spread_ports two = { .n = 0 };

	if (!*port) {
		const uint32_t *first = j->g->adj_first + s;

		j->in->closer(j->in->ctx, s, to, j->g->adj + first[0],
		              first[1] - first[0], 2, &two);
		*port = two.n > 1 ? SEVERAL : two.port[0];
	}
	return *port;
}

/* Which of the ports of a switch towards the top of a way a link is. */
static uint8_t place_among(const struct spread_job *j, uint32_t s, uint32_t top,
                           uint32_t link)
{
	struct spread_ports all = { .n = 0 };
	unsigned i = 0;

	if (port_to(j, s, top) == SEVERAL) {
		find_towards(j, s, top, &all);
	}
	while (i < all.n && all.port[i] != j->g->adj[link].port) {
		i++;
	}
	return (uint8_t)(i < all.n ? i : 0);
}

static void plan_column(const struct spread_job *j, uint32_t h, uint32_t s,
                        uint32_t first)
{
	const struct spread_plan *p = j->plan;
	uint32_t home = s, below = s, counts = spread_counted(j, h, 1);
	uint8_t *turn = p->turn + (size_t)(j->host ? j->host[h] : h) * DEPTH;
	uint32_t *way = p->way + (size_t)h * DEPTH, link[DEPTH], n = 0, n_below = 0;

	while (n < DEPTH && p->n_up[s]) {
		uint32_t i = j->offset ? next_up(j, s, turn[n], n_below)
		                       : best_up(j, s, first);

		link[n] = p->up[j->g->adj_first[s] + i];
		if (!j->offset) {
			turn[n] = (uint8_t)i;
		}
		n_below = p->n_up[s];
		s = j->g->adj[link[n]].to;
		p->link[link[n++]].now += counts;
		p->node[s].now += counts;
	}
	j->plan->is_tree |= n > 0;
	for (uint32_t i = 0; i < DEPTH; i++) {
		way[i] = i < n ? j->g->adj[link[n - 1 - i]].to : GRAPH_NONE;
	}
	for (uint32_t i = 0; i < n; i++) {
		size_t at = (size_t)h * DEPTH + i;

		p->mirror[at] = place_among(j, below, way[0], link[i]);
		p->left[at] = (uint8_t)hops_between(j->hops, way[i], home);
		below = j->g->adj[link[i]].to;
	}
}

bool spread_plan_is_tree(const struct spread_job *j)
{
	return j->plan->is_tree;
}

void spread_plan_pass(struct spread_job *j)
{
	uint32_t turn = 0;

	for (uint32_t i = 0; i < (j->leaf ? j->n_leaves : j->n); i++) {
		uint32_t t = j->leaf ? j->leaf[i] : i;

		for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++, turn++) {
			if (j->lid[h]) {
				plan_column(j, h, t, turn);
			}
		}
	}
}

static void end_round(struct planned *x, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		x[i].earlier += x[i].now;
		x[i].now = 0;
	}
}

void spread_plan_end_round(struct spread_job *j)
{
	end_round(j->plan->link, j->g->n_adj);
	end_round(j->plan->node, j->n);
}

/* Those of the candidates that lead towards a switch, too. */
static void ports_towards(const struct spread_job *j, uint32_t s, uint32_t to,
                          const struct spread_choice *c, struct spread_choice *ret)
{
	struct spread_ports all = { .n = 0 };

	find_towards(j, s, to, &all);
	ret->p.n = 0;
	for (unsigned i = 0; i < all.n; i++) {
		unsigned at = c->at[all.port[i]];

		if (at < c->p.n && c->p.port[at] == all.port[i]) {
			spread_copy_port(ret, c, at);
		}
	}
}

/* The one to take of several ports towards a switch on the way. */
static unsigned pick_of(const struct spread_job *j, uint32_t s, uint32_t h,
                        unsigned level, const struct spread_choice *c)
{
	struct spread_choice some;
	unsigned i;

	ports_towards(j, s, j->plan->way[(size_t)h * DEPTH + level], c, &some);
	if (!some.p.n) {
		return c->p.n;
	}
	some.n_least = 0;
	if (j->offset) {
		i = spread_pick_apart(j, s, j->lid[h] - j->offset, j->offset, &some, 0,
		                      true);
	} else if (level == 0) {
		i = j->plan->mirror[(size_t)h * DEPTH + j->plan->level[s] % DEPTH] %
		    some.p.n;
	} else {
		i = spread_pick_least(&some, h % some.p.n);
	}
	return c->at[some.p.port[i]];
}

/* Which switch of the way is the highest that a shortest path of \a all hops passes, from
 * where \a dist counts; DEPTH: none. */
static inline unsigned find_passed(const uint8_t *dist, unsigned all, const uint32_t *way,
                                   const uint8_t *left)
{
	unsigned i = 0;

	while (i < DEPTH && way[i] != GRAPH_NONE &&
	       (!dist[way[i]] || dist[way[i]] + left[i] != all)) {
		i++;
	}
	return i < DEPTH && way[i] != GRAPH_NONE ? i : DEPTH;
}

bool spread_place_planned(const struct spread_job *j, uint32_t s, uint32_t t,
                          struct spread_choice *c)
{
	const struct spread_plan *p = j->plan;
	const uint8_t *dist = j->hops->dist + (size_t)s * j->hops->stride;
	const uint8_t *towards = p->towards + (size_t)s * j->hops->stride;
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	const uint32_t *lids = j->lid, *way = p->way, end = j->first[t + 1];
	const bool *ignored = j->in->tune ? j->in->tune->ignored : NULL;
	uint32_t *load = j->load + (size_t)s * j->width;
	uint8_t *row = lft_row(j->lft, s), only = towards[t] == SEVERAL ? 0 : towards[t];
	bool all = true, unused = false;

	for (uint32_t h = j->first[t]; h < end; h++) {
		uint32_t lid = lids[h], routes = flow[h];
		uint8_t port = only;

		if (!lid || row[lid] != LFT_NO_ROUTE) {
			continue;
		}
		if (!port && !routes) {
			unused = true;
			continue;
		}
		if (!port) {
			const uint32_t *to = way + (size_t)h * DEPTH;
			unsigned i = find_passed(dist, dist[t], to,
			                         p->left + (size_t)h * DEPTH);

			port = i == DEPTH ? 0 : towards[to[i]];
			port = i < DEPTH && !port ? port_to(j, s, to[i]) : port;
			port = port == SEVERAL ? 0 : port;
		}
		routes = ignored && ignored[j->port[h]] ? 0 : routes;
		if (port && !c) {
			row[lid] = port;
			load[port] += routes;
		} else if (port && c->at[port] < c->p.n &&
		           c->p.port[c->at[port]] == port) {
			row[lid] = port;
			spread_add_load(c, c->at[port], routes);
		}
		all &= port != 0;
	}
	if (unused) {
		j->unused[s] = true;
	}
	return all;
}

unsigned spread_pick_planned(const struct spread_job *j, uint32_t s, uint32_t h,
                             uint32_t t, const struct spread_choice *c)
{
	const struct spread_plan *p = j->plan;
	const uint32_t *way = p->way + (size_t)h * DEPTH;
	const uint8_t *left = p->left + (size_t)h * DEPTH;
	const uint8_t *dist = j->hops->dist + (size_t)s * j->hops->stride;

	for (unsigned i = 0; i < DEPTH && way[i] != GRAPH_NONE; i++) {
		uint8_t port;
		unsigned at;

		if (!dist[way[i]] || dist[way[i]] + left[i] != dist[t]) {
			continue;
		}
		port = port_to(j, s, way[i]);
		at = port == SEVERAL ? pick_of(j, s, h, i, c) : c->at[port];
		if (at < c->p.n && (port == SEVERAL || c->p.port[at] == port)) {
			return at;
		}
	}
	return c->p.n;
}

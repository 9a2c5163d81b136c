/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Plans: which switches the routes to a host come down through, on a tree.
 *
 * In a complete tree whose leaves are all full, the switches of one level choose in step,
 * and the last links before the hosts get their share without a plan. In other trees, or
 * for a group of hosts, there may be two hosts behind one leaf switch and none behind the
 * next. Then each switch would choose by other loads. Two routes to one leaf would come
 * down one link while others stay empty, and the routes to a host would come together
 * late, so that each link down would serve many hosts that are in each other's way.
 *
 * So hosts are planned from below, one after the other. From its leaf switch up to the
 * top, a host takes the link that the fewest hosts of its group come down, then the
 * fewest of earlier groups, then the link to the switch that the fewest of its group come
 * down through. Among equals the search starts one further on with each host. These
 * switches are the planned path. All other switches send towards the top of this path,
 * or, where that is a detour, towards the next switch on it. Of several ports towards the
 * top a switch takes the one that mirrors the choice of the path at its height. The hosts
 * of a leaf that share a top come down by different links, so they go up by different
 * links. Routes that can reach no switch of the path on a shortest path go by load.
 *
 * With an LMC the further LIDs of groups avoid the systems, then the switches, of the
 * lower LIDs. Without groups only base LIDs are planned.
 *
 * "Up" is away from the leaves (leaves.h). Where hosts hang on every switch there is no
 * plan, and load decides alone. A plan decides between ports that an engine allows, so it
 * never makes a route longer.
 */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/spread/leaves.h"
#include "routing/spread/spread_int.h"

enum { DEPTH = 4, SEVERAL = SPREAD_SEVERAL };

/* Hosts that come down a link or through a switch. */
struct planned {
	uint32_t now, earlier;
};

struct spread_plan {
	uint16_t *level;      /* [n] hops from the nearest leaf */
	bool is_tree;         /* does any host have a planned path? */
	uint32_t *up;         /* [n_adj] links up of a switch, from adj_first on */
	uint32_t *n_up;       /* [n] */
	uint8_t *towards; /* [n][hops.stride] port towards a switch of level 1 and above;
	                     0, SEVERAL */
	struct planned *link; /* [n_adj] by the link as seen from below */
	struct planned *node; /* [n] */
	uint8_t *choice; /* [hosts][DEPTH] which of the links up the base LID takes */
	uint8_t *
		to_leaf; /* [columns][DEPTH] hops from the switches of the path to the leaf */
	uint32_t
		*path; /* [columns][DEPTH] switches from the top, GRAPH_NONE at the end */
	uint8_t *
		mirror; /* [columns][DEPTH] by height: which of the ports to the top of the
	                    path the last switches on the path take */
};

/*
 * Sort key of a link up: the first links to different systems come first, then the first
 * links to further ASICs of a system, then second links to an ASIC.
 */
static uint32_t up_key(const struct spread_job *j, uint32_t s, const uint32_t *up,
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

/* Lists the links up of each switch. */
static void find_up(const struct spread_job *j, const struct spread_plan *p)
{
	const struct graph *g = j->g;

	for (uint32_t s = 0; s < j->n; s++) {
		uint32_t *up = p->up + g->adj_first[s], key[SPREAD_PORTS_MAX], n = 0;

		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			if (p->level[g->adj[i].to] > p->level[s]) {
				up[n++] = i;
			}
		}
		for (uint32_t i = 0; i < n; i++) {
			key[i] = up_key(j, s, up, i);
		}
		for (uint32_t i = 1; j->in->groups && i < n; i++) {
			uint32_t u = up[i], mine = key[i], k = i;

			for (; k && key[k - 1] > mine; k--) {
				up[k] = up[k - 1];
				key[k] = key[k - 1];
			}
			up[k] = u;
			key[k] = mine;
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
	p->choice = arena_array(tmp, n_hosts, DEPTH);
	p->path = arena_array(tmp, n_hosts, DEPTH * sizeof(*p->path));
	p->mirror = arena_array(tmp, n_hosts, DEPTH);
	p->to_leaf = arena_array(tmp, n_hosts, DEPTH);
	if (!p->link || !p->node || !p->up || !p->n_up || !p->choice || !p->path ||
	    !p->mirror || !p->to_leaf) {
		return -ENOMEM;
	}
	if (leaves_heights(j->g, tmp, &p->level) != E_OK) {
		return -ENOMEM;
	}
	find_up(j, p);
	j->plan = p;
	return p->towards ? E_OK : -ENOMEM;
}

/* Is a link, with the switch behind it, to be preferred to another? */
static bool is_better(const struct planned *link, const struct planned *node,
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

/* Which of the links up from a switch the fewest hosts come down. Among equals the search
 * starts at start. */
static uint32_t best_up(const struct spread_job *j, uint32_t s, uint32_t start)
{
	const struct spread_plan *p = j->plan;
	const uint32_t *up = p->up + j->g->adj_first[s];
	const struct sw_link *adj = j->g->adj;
	uint32_t n = p->n_up[s], best = start % n;

	for (uint32_t k = 1; k < n; k++) {
		uint32_t i = (start + k) % n;

		if (is_better(&p->link[up[i]], &p->node[adj[up[i]].to],
		              &p->link[up[best]], &p->node[adj[up[best]].to])) {
			best = i;
		}
	}
	return best;
}

/* The port to a switch on a planned path, or SEVERAL. Found at the first use; only one
 * thread at a time works on a switch. */
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

/* Which of the ports of a switch towards the top of a path a link has. */
static uint8_t index_of_link(const struct spread_job *j, uint32_t s, uint32_t top,
                             uint32_t link)
{
	struct spread_ports all = { .n = 0 };
	unsigned i = 0;

	if (port_to(j, s, top) == SEVERAL) {
		spread_find_ports(j, s, top, &all);
	}
	while (i < all.n && all.port[i] != j->g->adj[link].port) {
		i++;
	}
	return (uint8_t)(i < all.n ? i : 0);
}

/* Plans the path to one column: a host of switch s. */
static void plan_column(const struct spread_job *j, uint32_t h, uint32_t s,
                        uint32_t start)
{
	const struct spread_plan *p = j->plan;
	uint32_t home = s, below = s, counts = spread_counted(j, h, 1);
	uint8_t *choice = p->choice + (size_t)(j->host ? j->host[h] : h) * DEPTH;
	uint32_t *path = p->path + (size_t)h * DEPTH, link[DEPTH], n = 0, n_below = 0;

	while (n < DEPTH && p->n_up[s]) {
		uint32_t i;

		if (j->offset) {
			/* A further LID takes the next link at each switch, and one more
			 * when it has tried all links of the switch below. */
			uint32_t more = n_below ? j->offset / n_below : 0;

			i = (choice[n] + j->offset + more) % p->n_up[s];
		} else {
			i = best_up(j, s, start);
			choice[n] = (uint8_t)i;
		}
		link[n] = p->up[j->g->adj_first[s] + i];
		n_below = p->n_up[s];
		s = j->g->adj[link[n]].to;
		p->link[link[n++]].now += counts;
		p->node[s].now += counts;
	}
	j->plan->is_tree |= n > 0;
	for (uint32_t i = 0; i < DEPTH; i++) {
		path[i] = i < n ? j->g->adj[link[n - 1 - i]].to : GRAPH_NONE;
	}
	for (uint32_t i = 0; i < n; i++) {
		size_t at = (size_t)h * DEPTH + i;

		p->mirror[at] = index_of_link(j, below, path[0], link[i]);
		p->to_leaf[at] = (uint8_t)hops_between(j->hops, path[i], home);
		below = j->g->adj[link[i]].to;
	}
}

bool spread_plan_is_tree(const struct spread_job *j)
{
	return j->plan->is_tree;
}

void spread_plan_columns(struct spread_job *j)
{
	uint32_t start = 0;

	for (uint32_t i = 0; i < (j->leaf ? j->n_leaves : j->n); i++) {
		uint32_t t = j->leaf ? j->leaf[i] : i;

		for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++, start++) {
			if (j->lid[h]) {
				plan_column(j, h, t, start);
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

/* Which of several candidates towards a switch on the planned path to take; c->p.n: none
 * leads there. */
static unsigned pick_towards(const struct spread_job *j, uint32_t s, uint32_t h,
                             unsigned level, const struct spread_choice *c)
{
	struct spread_ports all = { .n = 0 };
	struct spread_choice some;
	unsigned i;

	spread_find_ports(j, s, j->plan->path[(size_t)h * DEPTH + level], &all);
	some.p.n = 0;
	for (i = 0; i < all.n; i++) {
		unsigned at = c->at[all.port[i]];

		if (at < c->p.n && c->p.port[at] == all.port[i]) {
			spread_copy_port(&some, c, at);
		}
	}
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

bool spread_place_planned(const struct spread_job *j, uint32_t s, uint32_t t,
                          struct spread_choice *c)
{
	const struct spread_plan *p = j->plan;
	const uint8_t *dist = j->hops->dist + (size_t)s * j->hops->stride;
	const uint8_t *towards = p->towards + (size_t)s * j->hops->stride;
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	const uint32_t *lids = j->lid, end = j->first[t + 1];
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
			/* towards the highest switch of the path that is on a shortest path */
			const uint32_t *path = p->path + (size_t)h * DEPTH;
			const uint8_t *to_leaf = p->to_leaf + (size_t)h * DEPTH;
			unsigned i = 0;

			while (i < DEPTH && path[i] != GRAPH_NONE &&
			       (!dist[path[i]] ||
			        dist[path[i]] + to_leaf[i] != dist[t])) {
				i++;
			}
			if (i < DEPTH && path[i] != GRAPH_NONE) {
				port = towards[path[i]];
				port = port ? port : port_to(j, s, path[i]);
			}
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
	const uint32_t *path = p->path + (size_t)h * DEPTH;
	const uint8_t *to_leaf = p->to_leaf + (size_t)h * DEPTH;
	const uint8_t *dist = j->hops->dist + (size_t)s * j->hops->stride;

	for (unsigned i = 0; i < DEPTH && path[i] != GRAPH_NONE; i++) {
		uint8_t port;
		unsigned at;

		if (!dist[path[i]] || dist[path[i]] + to_leaf[i] != dist[t]) {
			continue;
		}
		port = port_to(j, s, path[i]);
		at = port == SEVERAL ? pick_towards(j, s, h, i, c) : c->at[port];
		if (at < c->p.n && (port == SEVERAL || c->p.port[at] == port)) {
			return at;
		}
	}
	return c->p.n;
}

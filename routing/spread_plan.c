/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Plans: how a part of the hosts is spread evenly over a tree.
 *
 * When all hosts are placed together, switches of one level choose in step and the last
 * links before the hosts get their share by themselves. Of a group there may be two hosts
 * behind one leaf switch and none behind the next, so each switch would choose by other
 * loads, and two routes to one leaf would come down one link while others stay empty.
 *
 * So a group is planned from the hosts upwards. Each host in turn takes, from its leaf
 * switch up to the top, the link that the fewest hosts of its group come down, then the
 * fewest of earlier groups, then the switch that the fewest of its group come down
 * through. All other switches send towards the top of this way, or where that is a detour
 * towards the next switch on it. With an LMC further LIDs keep off the systems, then the
 * switches, of the lower ones.
 *
 * "Up" is away from switches with hosts. Where hosts hang on every switch there is no plan,
 * and load decides as without groups. A plan decides between ports that an engine allows,
 * so it never makes a route longer.
 */
#include "routing/spread_plan.h"

#include <errno.h>
#include <stdbool.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/graph.h"
#include "routing/hops.h"

enum { DEPTH = 4, SEVERAL = UINT8_MAX };

/* Hosts that come down a link or through a switch. */
struct planned {
	uint32_t now, earlier;
};

struct spread_plan {
	uint8_t *level;       /* [n] hops from the nearest switch with hosts */
	uint32_t *up;         /* [n_adj] links up of a switch, from adj_first on */
	uint32_t *n_up;       /* [n] */
	uint8_t *towards; /* [n][n] port towards a switch of level 1 and above; 0, SEVERAL */
	struct planned *link; /* [n_adj] by the link as seen from below */
	struct planned *node; /* [n] */
	uint8_t *turn; /* [hosts][DEPTH] which of the links up the base LID takes */
	uint32_t *way; /* [columns][DEPTH] of this pass: switches from the top, GRAPH_NONE at the end */
};

static void find_levels(const struct spread_job *j, uint8_t *level)
{
	const struct graph *g = j->g;
	bool more = true;

	for (uint32_t s = 0; s < j->n; s++) {
		level[s] = g->host_first[s] == g->host_first[s + 1] ? UINT8_MAX : 0;
	}
	for (unsigned d = 0; more && d + 1 < UINT8_MAX; d++) {
		more = false;
		for (uint32_t s = 0; s < j->n; s++) {
			for (uint32_t i = g->adj_first[s];
			     level[s] == d && i < g->adj_first[s + 1]; i++) {
				if (level[g->adj[i].to] == UINT8_MAX) {
					level[g->adj[i].to] = (uint8_t)(d + 1);
					more = true;
				}
			}
		}
	}
}

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
		sort_up(up, place, n);
		p->n_up[s] = n;
	}
}

static void find_ports(const struct spread_job *j, const struct spread_plan *p)
{
	const struct graph *g = j->g;

#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->n; s++) {
		uint8_t *row = p->towards + (size_t)s * j->n;

		for (uint32_t t = 0; t < j->n; t++) {
			struct spread_ports one = { .n = 0 };

			if (s != t && p->level[t] &&
			    hops_between(j->hops, s, t) != HOPS_NONE) {
				j->in->closer(j->in->ctx, s, t, g->adj + g->adj_first[s],
				              g->adj_first[s + 1] - g->adj_first[s], 2,
				              &one);
			}
			row[t] = one.n > 1 ? SEVERAL : one.n ? one.port[0] : 0;
		}
	}
}

int spread_plan_init(struct spread_job *j, struct arena *tmp)
{
	struct spread_plan *p = arena_alloc(tmp, sizeof(*p));
	size_t n_hosts = j->g->host_first[j->n];

	if (!p) {
		return -ENOMEM;
	}
	p->level = arena_alloc(tmp, j->n);
	p->towards = arena_array(tmp, j->n, j->n);
	p->link = arena_array(tmp, j->g->n_adj + 1U, sizeof(*p->link));
	p->node = arena_array(tmp, j->n, sizeof(*p->node));
	p->up = arena_array(tmp, j->g->n_adj + 1U, sizeof(*p->up));
	p->n_up = arena_array(tmp, j->n, sizeof(*p->n_up));
	p->turn = arena_array(tmp, n_hosts, DEPTH);
	p->way = arena_array(tmp, n_hosts, DEPTH * sizeof(*p->way));
	if (!p->level || !p->towards || !p->link || !p->node || !p->up || !p->n_up ||
	    !p->turn || !p->way) {
		return -ENOMEM;
	}
	find_levels(j, p->level);
	find_up(j, p);
	find_ports(j, p);
	j->plan = p;
	return E_OK;
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

static void plan_column(const struct spread_job *j, uint32_t h, uint32_t s)
{
	const struct spread_plan *p = j->plan;
	uint8_t *turn = p->turn + (size_t)j->host[h] * DEPTH;
	uint32_t *way = p->way + (size_t)h * DEPTH, up[DEPTH], n = 0, n_below = 0;

	while (n < DEPTH && p->n_up[s]) {
		uint32_t i = j->offset ? next_up(j, s, turn[n], n_below) : best_up(j, s, h);
		uint32_t link = p->up[j->g->adj_first[s] + i];

		if (!j->offset) {
			turn[n] = (uint8_t)i;
		}
		n_below = p->n_up[s];
		s = j->g->adj[link].to;
		p->link[link].now++;
		p->node[s].now++;
		up[n++] = s;
	}
	for (uint32_t i = 0; i < DEPTH; i++) {
		way[i] = i < n ? up[n - 1 - i] : GRAPH_NONE;
	}
}

void spread_plan_pass(struct spread_job *j)
{
	for (uint32_t t = 0; t < j->n; t++) {
		for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++) {
			if (j->lid[h]) {
				plan_column(j, h, t);
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
	const struct graph *g = j->g;
	struct spread_ports all = { .n = 0 };

	j->in->closer(j->in->ctx, s, to, g->adj + g->adj_first[s],
	              g->adj_first[s + 1] - g->adj_first[s], SPREAD_PORTS_MAX, &all);
	ret->p.n = 0;
	for (unsigned i = 0; i < all.n; i++) {
		unsigned at = c->at[all.port[i]];

		if (at < c->p.n && c->p.port[at] == all.port[i]) {
			spread_copy_port(ret, c, at);
		}
	}
}

/* The one to take of several ports towards a switch on the way. */
static unsigned pick_of(const struct spread_job *j, uint32_t s, uint32_t h, uint32_t to,
                        const struct spread_choice *c)
{
	struct spread_choice some;
	unsigned i;

	ports_towards(j, s, to, c, &some);
	if (!some.p.n) {
		return c->p.n;
	}
	some.n_least = 0;
	i = j->offset ? spread_pick_apart(j, s, j->lid[h] - j->offset, j->offset, &some, 0,
	                                  true)
	              : spread_pick_least(&some, 0);
	return c->at[some.p.port[i]];
}

unsigned spread_pick_planned(const struct spread_job *j, uint32_t s, uint32_t h,
                             const struct spread_choice *c)
{
	const uint32_t *way = j->plan->way + (size_t)h * DEPTH;
	const uint8_t *towards = j->plan->towards + (size_t)s * j->n;

	for (unsigned i = 0; i < DEPTH && way[i] != GRAPH_NONE; i++) {
		uint8_t port = towards[way[i]];
		unsigned at = port == SEVERAL ? pick_of(j, s, h, way[i], c) : c->at[port];

		if (at < c->p.n && (port == SEVERAL || c->p.port[at] == port)) {
			return at;
		}
	}
	return c->p.n;
}

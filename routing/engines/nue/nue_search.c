/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The search for open links to all destinations. Each destination in turn is searched for
 * (nue_reach.c) and adds turns to its lane.
 *
 * With weights a link counts as longer if it carries more than the mean. A search adds few
 * turns if it can use existing ones, so routes would otherwise gather on the paths of the
 * first destinations. The loads of an earlier search count half, so that the first
 * destinations avoid loaded links, too. Then several lanes are tried and the one with the
 * shortest paths is used, because the best lane for a destination depends on the
 * dependencies that other destinations added.
 */
#include "routing/engines/nue/nue_search.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/nue/nue_reach.h"
#include "routing/graph/graph.h"

enum {
	WORD = 64,
	SHARE_BITS = 8, /* fraction bits of a shared route */
	LANES_TRIED = 4,
	TREE_COST = 2000 /* cost of a switch that follows the tree: that of 250 hops */
};

struct work {
	const struct nue_search *in;
	const struct graph *g;
	struct nue_links *links;
	struct nue_lane *lanes;
	struct nue_reach reach;
	uint8_t *length; /* [n_adj] of links, for reach */
	uint64_t total;  /* of ways.load */
	uint64_t before; /* of in.before, halved */
	uint64_t *flow;  /* [n_switches] shared routes that pass */
	uint8_t *hops;   /* [n_switches] */
};

static unsigned n_hosts(const struct work *x, uint32_t s)
{
	return x->g->host_first[s + 1] - x->g->host_first[s] + x->in->all;
}

/* ---- lengths of links ---- */

static uint64_t load_before(const struct work *x, uint32_t c)
{
	return x->in->before ? x->in->before[c] / 2 : 0;
}

/* The length of a link grows with its load relative to the mean. */
static void set_lengths(struct work *x)
{
	uint64_t n = x->g->n_adj ? x->g->n_adj : 1;
	uint64_t mean = (x->total + x->before) / n + 1;

	for (uint32_t c = 0; x->in->plan->weigh && c < x->g->n_adj; c++) {
		uint64_t load = x->links->load[c] + load_before(x, c);
		uint64_t length = NUE_HOP * load / mean;

		length = length < NUE_HOP ? NUE_HOP : length;
		x->length[c] =
			(uint8_t)(length > NUE_LENGTH_MAX ? NUE_LENGTH_MAX : length);
	}
}

/* ---- one destination ---- */

/* The lane of the destination by nue_split(), or a better one of a few others. */
static uint8_t choose_lane(struct work *x, uint32_t to)
{
	unsigned dealt = x->in->split->lane[to], n = x->in->n_lanes, best = dealt;
	unsigned tried = n < LANES_TRIED ? n : LANES_TRIED;
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; x->in->plan->weigh && n > 1 && i < tried; i++) {
		uint64_t cost;
		uint64_t sum;

		/* each destination tries other lanes */
		unsigned lane = (dealt + (i ? 1 + (i - 1 + to) % (n - 1) : 0)) % n;
		/* the length of the paths from all hosts to the destination */
		sum = 0;
		nue_reach_run(&x->reach, &x->lanes[lane], to);
		for (uint32_t k = 0; k < x->reach.n_reached; k++) {
			uint32_t s = x->reach.reached[k];

			sum += (uint64_t)x->reach.dist[s] * n_hosts(x, s);
		}
		nue_reach_undo(&x->reach);
		cost = sum + (uint64_t)x->reach.n_forced * TREE_COST;
		if (cost < least) {
			least = cost;
			best = lane;
		}
	}
	return (uint8_t)best;
}

/* The open links of switch s, and the hops of the longest route over them.
 * \retval E_RANGE */
static int note_links(struct work *x, uint32_t s, uint32_t to)
{
	struct nue_links *w = x->links;
	uint64_t *ports = w->ports + ((size_t)to * x->g->n_switches + s) * w->words;
	unsigned most = 0;

	for (uint32_t c = nue_reach_next(&x->reach, s, x->g->adj_first[s]);
	     c < x->g->n_adj; c = nue_reach_next(&x->reach, s, c + 1)) {
		unsigned p = x->g->adj[c].port - 1U, h = x->hops[x->g->adj[c].to] + 1U;

		ports[p / WORD] |= UINT64_C(1) << p % WORD;
		most = h > most ? h : most;
	}
	if (most >= HOPS_NONE) {
		return E_RANGE;
	}
	x->hops[s] = (uint8_t)most;
	w->hops.dist[s * w->hops.stride + to] = (uint8_t)most;
	w->hops.diameter = (uint8_t)(most > w->hops.diameter ? most : w->hops.diameter);
	if (most > hops_between(x->in->plan->near, s, to) && n_hosts(x, s) &&
	    n_hosts(x, to)) {
		w->shortest = false;
	}
	return E_OK;
}

static int route_to(struct work *x, uint32_t to)
{
	uint64_t hosts = n_hosts(x, to);
	int ret = E_OK;

	x->links->lane[to] = choose_lane(x, to);
	nue_reach_run(&x->reach, &x->lanes[x->links->lane[to]], to);
	x->links->by_plan &= !x->reach.n_loose && !x->reach.n_forced;
	for (uint32_t i = 0; ret == E_OK && i < x->reach.n_reached; i++) {
		ret = note_links(x, x->reach.reached[i], to);
	}
	memset(x->flow, 0, x->g->n_switches * sizeof(*x->flow));
	for (uint32_t i = x->reach.n_reached; ret == E_OK && hosts && i-- > 1;) {
		uint32_t s = x->reach.reached[i];
		uint64_t share = (x->flow[s] + (hosts * n_hosts(x, s) << SHARE_BITS)) /
		                 nue_reach_count_open(&x->reach, s);

		/* open links share the routes that pass a switch */
		for (uint32_t c = nue_reach_next(&x->reach, s, x->g->adj_first[s]);
		     share && c < x->g->n_adj; c = nue_reach_next(&x->reach, s, c + 1)) {
			x->links->load[c] += share;
			x->total += share;
			x->flow[x->g->adj[c].to] += share;
		}
	}
	set_lengths(x);
	return ret;
}

/* ---- all ---- */

/* Routes to switches with hosts first, unless all switches count. */
static int route_to_all(struct work *x)
{
	int ret = E_OK;

	for (uint32_t i = 0; ret == E_OK && i < 2 * x->g->n_switches; i++) {
		uint32_t s = i % x->g->n_switches;
		bool first = n_hosts(x, s) != 0;

		if (x->in->cancel && *x->in->cancel) {
			return -ECANCELED;
		}
		if (first == (i < x->g->n_switches)) {
			ret = route_to(x, s);
		}
	}
	return ret;
}

static int links_init(struct nue_links *w, const struct graph *g, struct arena *a)
{
	size_t n = g->n_switches;

	*w = (struct nue_links){
		.g = g,
		.words = (g->max_port + WORD - 1U) / WORD,
		.shortest = true,
		.by_plan = true,
	};
	w->ports = arena_array(a, n * n + 1, w->words * sizeof(*w->ports));
	w->lane = arena_array(a, n + 1, sizeof(*w->lane));
	w->load = arena_array(a, (size_t)g->n_adj + 1, sizeof(*w->load));
	if (!w->ports || !w->lane || !w->load) {
		return -ENOMEM;
	}
	return hops_alloc(&w->hops, g->n_switches, a);
}

static int init_lanes(struct work *x, struct arena *a)
{
	int ret = E_OK;

	x->lanes = arena_array(a, x->in->n_lanes, sizeof(*x->lanes));
	if (!x->lanes) {
		return -ENOMEM;
	}
	for (unsigned l = 0; ret == E_OK && l < x->in->n_lanes; l++) {
		ret = nue_lane_init(&x->lanes[l], x->in->plan, x->in->split->root[l], a);
	}
	return ret;
}

static int init_work(struct work *x, struct arena *a)
{
	size_t n = (size_t)x->g->n_switches + 1, n_adj = (size_t)x->g->n_adj + 1;

	x->length = arena_array(a, n_adj, sizeof(*x->length));
	x->flow = arena_array(a, n, sizeof(*x->flow));
	x->hops = arena_array(a, n, sizeof(*x->hops));
	if (!x->length || !x->flow || !x->hops) {
		return -ENOMEM;
	}
	memset(x->length, NUE_HOP, n_adj);
	for (uint32_t c = 0; c < x->g->n_adj; c++) {
		x->before += load_before(x, c);
	}
	return nue_reach_init(&x->reach, x->in->plan, x->length, a);
}

static int search_all(struct work *x, struct arena *a, struct arena *tmp)
{
	int ret = links_init(x->links, x->g, a);

	if (ret == E_OK) {
		ret = init_work(x, tmp);
	}
	if (ret == E_OK) {
		ret = init_lanes(x, tmp);
	}
	if (ret == E_OK) {
		set_lengths(x);
		ret = route_to_all(x);
	}
	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t c = 0; c < x->g->n_adj; c++) {
		uint64_t load = x->links->load[c];

		x->links->busiest = load > x->links->busiest ? load : x->links->busiest;
	}
	return hops_index(&x->links->hops, a);
}

int nue_search_run(const struct nue_search *in, struct nue_links *ret_links,
                   struct arena *a)
{
	struct arena *tmp = arena_new();
	struct work x = { .in = in, .g = in->plan->g, .links = ret_links };
	int ret = tmp ? search_all(&x, a, tmp) : -ENOMEM;

	arena_free(tmp);
	return ret;
}

void nue_links_closer(const void *ctx, uint32_t s, uint32_t t, const struct sw_link *link,
                      uint32_t n_links, unsigned max, struct spread_ports *ret_ports)
{
	const struct nue_links *w = ctx;
	const uint64_t *ports = w->ports + ((size_t)t * w->g->n_switches + s) * w->words;
	unsigned n = 0;

	for (uint32_t i = 0; i < n_links && n < max; i++) {
		unsigned p = link[i].port - 1U;

		if (ports[p / WORD] >> p % WORD & 1) {
			ret_ports->port[n] = link[i].port;
			ret_ports->to[n] = link[i].to;
			n++;
		}
	}
	ret_ports->n = n;
}

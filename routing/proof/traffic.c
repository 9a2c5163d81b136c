/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/proof/traffic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/graph/node_text.h"
#include "routing/graph/tables.h"
#include "routing/graph/walk.h"

struct meter {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *lft;
	struct column_map map;
	uint32_t n;
	uint32_t *host;   /* [n] port index, in the order of names */
	uint32_t *sw;     /* [n] its switch */
	uint32_t *rate;   /* [n] of its link, 0.1 Gb/s */
	uint32_t *room;   /* [n_adj] rate of a channel */
	uint64_t *demand; /* [n_adj] of all flows on it */
	uint32_t *to;     /* [n] receiver of each host, GRAPH_NONE: it is silent */
	uint32_t *order;  /* [n] working memory of random patterns */
	uint64_t random;
};

/* --- the hosts ---------------------------------------------------------------------------- */

struct named_host {
	const struct graph *g;
	uint32_t port, sw;
};

static int by_name(const void *va, const void *vb)
{
	const struct named_host *a = va, *b = vb;
	const struct port *x = &a->g->ports[a->port], *y = &b->g->ports[b->port];
	int d = strverscmp(node_name(&a->g->nodes[x->node]),
	                   node_name(&b->g->nodes[y->node]));

	return d != 0 ? d : (a->port > b->port) - (a->port < b->port);
}

/* Links of unknown speed are all alike. */
static uint32_t port_rate(const struct port *p)
{
	uint32_t rate = rate_speed(link_rate(p->width, p->speed));

	return rate != 0 ? rate : 1;
}

static int find_hosts(struct meter *m, struct arena *a)
{
	const struct graph *g = m->g;
	struct named_host *list = arena_array(a, g->n_hosts + 1, sizeof(*list));

	for (uint32_t s = 0; list != NULL && s < g->n_switches; s++) {
		for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
			if (m->lids->of[g->hosts[h]].base != 0) {
				list[m->n++] = (struct named_host){ g, g->hosts[h], s };
			}
		}
	}
	m->host = arena_array(a, m->n + 1, sizeof(*m->host));
	m->sw = arena_array(a, m->n + 1, sizeof(*m->sw));
	m->rate = arena_array(a, m->n + 1, sizeof(*m->rate));
	m->to = arena_array(a, m->n + 1, sizeof(*m->to));
	m->order = arena_array(a, m->n + 1, sizeof(*m->order));
	if (!list || !m->host || !m->sw || !m->rate || !m->to || !m->order) {
		return -ENOMEM;
	}
	qsort(list, m->n, sizeof(*list), by_name);
	for (uint32_t i = 0; i < m->n; i++) {
		m->host[i] = list[i].port;
		m->sw[i] = list[i].sw;
		m->rate[i] = port_rate(&g->ports[list[i].port]);
	}
	return E_OK;
}

static int find_links(struct meter *m, struct arena *a)
{
	const struct graph *g = m->g;

	m->room = arena_array(a, g->n_adj + 1, sizeof(*m->room));
	m->demand = arena_array(a, g->n_adj + 1, sizeof(*m->demand));
	if (!m->room || !m->demand) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t port =
				graph_port(g, g->switches[s], g->adj[i].port);

			m->room[i] = port_rate(&g->ports[port]);
		}
	}
	return E_OK;
}

/* --- one pattern -------------------------------------------------------------------------- */

static uint32_t flow_rate(const struct meter *m, uint32_t i)
{
	uint32_t from = m->rate[i], to = m->rate[m->to[i]];

	return from < to ? from : to;
}

/* The channels of a flow. \return How many, or -1: it does not arrive. */
static int flow_channels(const struct meter *m, uint32_t i, uint32_t *ret_channels)
{
	uint32_t s = m->sw[i], home = m->sw[m->to[i]];
	uint32_t lid = m->lids->of[m->host[m->to[i]]].base;
	int n = 0;

	while (s != home) {
		struct column_hop hop = { GRAPH_NONE, GRAPH_NONE };
		uint8_t port = lid < m->lft->n_lids ? lft_row(m->lft, s)[lid]
		                                    : LFT_NO_ROUTE;

		if (port < m->map.width) {
			hop = m->map.hop[(size_t)s * m->map.width + port];
		}
		if (hop.channel == GRAPH_NONE || n == WALK_MAX) {
			return -1;
		}
		ret_channels[n++] = hop.channel;
		s = hop.next;
	}
	return n;
}

/* \return Mean share of the flows of m->to, below 0: there are none. */
static double pattern_share(struct meter *m)
{
	uint32_t channel[WALK_MAX];
	double sum = 0;
	uint32_t flows = 0;

	memset(m->demand, 0, m->g->n_adj * sizeof(*m->demand));
	for (uint32_t i = 0; i < m->n; i++) {
		int n = m->to[i] != GRAPH_NONE ? flow_channels(m, i, channel) : 0;

		for (int k = 0; k < n; k++) {
			m->demand[channel[k]] += flow_rate(m, i);
		}
	}
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->to[i] == GRAPH_NONE) {
			continue;
		}
		int n = flow_channels(m, i, channel);
		double share = n < 0 ? 0 : 1;

		for (int k = 0; k < n; k++) {
			double part = (double)m->room[channel[k]] /
			              (double)m->demand[channel[k]];
			share = part < share ? part : share;
		}
		sum += share;
		flows++;
	}
	return flows != 0 ? sum / flows : -1;
}

/* --- the patterns ------------------------------------------------------------------------- */

static void make_shift(struct meter *m, uint32_t k)
{
	uint32_t n_shifts = m->n - 1;
	uint32_t by = n_shifts <= TRAFFIC_SHIFTS
	                      ? k + 1
	                      : 1 + (uint32_t)((uint64_t)k * n_shifts / TRAFFIC_SHIFTS);

	for (uint32_t i = 0; i < m->n; i++) {
		m->to[i] = (uint32_t)(((uint64_t)i + by) % m->n);
	}
}

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t next_random(struct meter *m)
{
	uint64_t x = m->random += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static void shuffle(struct meter *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		m->order[i] = i;
	}
	for (uint32_t i = m->n; i > 1; i--) {
		uint32_t k = (uint32_t)(next_random(m) % i), x = m->order[k];

		m->order[k] = m->order[i - 1];
		m->order[i - 1] = x;
	}
}

/* One cycle through all hosts in random order, so that nobody sends to itself. */
static void make_permutation(struct meter *m, uint32_t k)
{
	(void)k;
	shuffle(m);
	for (uint32_t i = 0; i < m->n; i++) {
		m->to[m->order[i]] = m->order[(i + 1) % m->n];
	}
}

static void make_bisection(struct meter *m, uint32_t k)
{
	uint32_t half = m->n / 2;

	(void)k;
	shuffle(m);
	memset(m->to, 0xff, m->n * sizeof(*m->to));
	for (uint32_t i = 0; i < half; i++) {
		m->to[m->order[i]] = m->order[half + i];
		m->to[m->order[half + i]] = m->order[i];
	}
}

static struct traffic_share measure(struct meter *m, uint32_t n_patterns,
                                    void (*make)(struct meter *m, uint32_t k))
{
	struct traffic_share r = { 0, 1 };

	for (uint32_t k = 0; k < n_patterns; k++) {
		make(m, k);
		double share = pattern_share(m);

		r.mean += share / n_patterns;
		r.least = share < r.least ? share : r.least;
	}
	return r;
}

int traffic_measure(const struct graph *g, const struct lids *lids, const struct lft *lft,
                    struct arena *a, struct traffic *ret_traffic)
{
	struct meter m = { .g = g, .lids = lids, .lft = lft, .random = 1 };
	struct traffic t = { .shift = { .mean = 0 } };
	int ret = column_map_init(&m.map, g, lids, lft, a);

	if (ret == E_OK) {
		ret = find_hosts(&m, a);
	}
	if (ret == E_OK) {
		ret = find_links(&m, a);
	}
	if (ret == E_OK && m.n > 1) {
		t.shift = measure(&m, m.n <= TRAFFIC_SHIFTS ? m.n - 1 : TRAFFIC_SHIFTS,
		                  make_shift);
		t.permutation = measure(&m, TRAFFIC_PERMUTATIONS, make_permutation);
		t.bisection = measure(&m, TRAFFIC_BISECTIONS, make_bisection);
	}
	if (ret == E_OK) {
		*ret_traffic = t;
	}
	return ret;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Routes that climb after they have descended, where the operator asks for them: to I/O
 * nodes, and between root switches.
 *
 * A switch without a route to an I/O node takes the way that climbs least, so the ways to
 * one node form a tree that ends in the tree's own routes. Each hop that climbs after the
 * first descent is a reverse hop; a way with more of them than allowed is left out. From
 * there on a way has no more of them than from its start, so what is left in is whole.
 *
 * The manual's picture: switches above A and B, S1 on A, S2 on both, S3 on B. From S1 to
 * S2 the way descends to A and climbs once; to S3 it climbs twice.
 */
#include <errno.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/ftree.h"
#include "routing/lids.h"

enum { NO_WAY = 0xffff };

/* Where a switch goes on to one host. */
struct way {
	uint16_t climbs;  /* hops that climb from here to the host, NO_WAY */
	uint16_t hops;    /* all */
	uint16_t reverse; /* hops that climb after the first descent */
	uint8_t port;
};

static const struct ftree_link *link_of(const struct ftree *f, uint32_t s, uint8_t port)
{
	for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
		if (f->link[i].port == port) {
			return &f->link[i];
		}
	}
	return NULL;
}

/* The tree's own routes to a host: the nearest first, each continues another. */
static void start_ways(const struct ftree *f, uint32_t t, uint32_t lid, struct way *way)
{
	for (uint32_t s = 0; s < f->n; s++) {
		way[s] = (struct way){ .climbs = NO_WAY, .hops = NO_WAY };
	}
	way[t] = (struct way){ 0 };
	for (unsigned d = 1, n = 1; n; d++) {
		n = 0;
		for (uint32_t s = 0; s < f->n; s++) {
			unsigned e = ftree_dist(f, s, t);
			const struct ftree_link *l;

			n += e != FTREE_NONE && (e & FTREE_HOPS) > d;
			if (e == FTREE_NONE || (e & FTREE_HOPS) != d) {
				continue;
			}
			l = link_of(f, s, lft_row(f->lft, s)[lid]);
			way[s].climbs =
				(uint16_t)(way[l->to].climbs + ((e & FTREE_UP) != 0));
			way[s].hops = (uint16_t)d;
		}
	}
}

/* Looks for a better way through each link of a switch without a route. */
static bool improve(const struct ftree *f, uint32_t s, struct way *way)
{
	bool better = false;

	for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
		const struct way *on = &way[f->link[i].to];
		bool up = i < f->first_down[s];
		unsigned climbs = on->climbs + up, hops = on->hops + 1u;

		if (on->climbs == NO_WAY || climbs > way[s].climbs ||
		    (climbs == way[s].climbs && hops >= way[s].hops)) {
			continue;
		}
		way[s] = (struct way){ .climbs = (uint16_t)climbs,
			               .hops = (uint16_t)hops,
			               .reverse = up ? on->reverse : on->climbs,
			               .port = f->link[i].port };
		better = true;
	}
	return better;
}

static uint64_t add_ways(const struct ftree *f, uint32_t t, uint32_t lid, struct way *way)
{
	uint64_t added = 0;
	bool changed = true;

	start_ways(f, t, lid, way);
	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < f->n; s++) {
			if (ftree_dist(f, s, t) == FTREE_NONE) {
				changed |= improve(f, s, way);
			}
		}
	}
	for (uint32_t s = 0; s < f->n; s++) {
		if (ftree_dist(f, s, t) == FTREE_NONE && way[s].climbs != NO_WAY &&
		    way[s].reverse <= f->opt->max_reverse_hops) {
			lft_row(f->lft, s)[lid] = way[s].port;
			added++;
		}
	}
	return added;
}

int ftree_reverse(struct ftree *f, struct arena *a, uint64_t *ret_n)
{
	const struct graph *g = f->g;
	struct way *way = arena_array(a, f->n + 1u, sizeof(*way));
	uint64_t added = 0;

	if (!way) {
		return -ENOMEM;
	}
	for (uint32_t t = 0; t < f->n; t++) {
		for (uint32_t h = g->host_first[t]; h < g->host_first[t + 1]; h++) {
			if (f->kind[g->hosts[h]] == FTREE_IO && f->lid[h]) {
				added += add_ways(f, t, f->lid[h], way);
			}
		}
	}
	*ret_n = added;
	return E_OK;
}

static uint32_t switch_lid(const struct ftree *f, uint32_t s)
{
	return f->lids->of[graph_port(f->g, f->g->switches[s], 0)].base;
}

/* The switch with compute nodes through which roots are joined: the last in order. */
static uint32_t find_hub(const struct ftree *f)
{
	for (uint32_t i = f->n_leaves; i-- > 0;) {
		if (f->n_cn[f->leaf[i]] && f->rank[f->leaf[i]] == f->cn_rank &&
		    switch_lid(f, f->leaf[i])) {
			return f->leaf[i];
		}
	}
	return GRAPH_NONE;
}

/*
 * One leaf switch only, so all turns from down to up are there. On the way to it a switch
 * either has a route to the destination, which the packet then follows to its end, or
 * sends on towards the leaf switch.
 */
uint64_t ftree_connect_roots(struct ftree *f)
{
	uint32_t hub = find_hub(f);
	uint64_t added = 0;

	for (uint32_t s = 0; hub != GRAPH_NONE && s < f->n; s++) {
		uint8_t *row = lft_row(f->lft, s), port = row[switch_lid(f, hub)];

		for (uint32_t t = 0; f->rank[s] < f->cn_rank && t < f->n; t++) {
			uint32_t lid = switch_lid(f, t);

			if (lid && row[lid] == LFT_NO_ROUTE && port != LFT_NO_ROUTE &&
			    ftree_dist(f, hub, t) != FTREE_NONE) {
				row[lid] = port;
				added++;
			}
		}
	}
	return added;
}

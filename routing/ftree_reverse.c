/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Routes that climb after they have descended: to and from I/O nodes and between root
 * switches where the operator asks for them, and between leaf switches of a tree so
 * broken that they have nothing else.
 *
 * A switch without a route takes the way that climbs least, so the ways to one host form
 * a tree that ends in the tree's own routes. Each hop that climbs after the first descent
 * is a reverse hop; a way with more of them than allowed is left out. From there on a way
 * has no more of them than from its start, so what is left in is whole.
 *
 * The manual's picture: switches above A and B, S1 on A, S2 on both, S3 on B. From S1 to
 * S2 the way descends to A and climbs once; to S3 it climbs twice. The manual promises
 * "full connectivity", so ways from an I/O node to a compute node, as from S1 to B, are
 * allowed the same; OpenSM has these in one direction only.
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
	uint32_t class;   /* where the next hop climbs to, GRAPH_NONE: it descends */
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
	way[t] = (struct way){ .class = GRAPH_NONE };
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
			way[s].class = e & FTREE_UP ? l->class : GRAPH_NONE;
		}
	}
}

/*
 * Looks for a better way through each link of a switch without a route. If ordered, a way
 * that has come down from one class climbs to a later one only: in trees whose classes
 * meet at the leaves alone, routes then still cannot wait for each other in a circle.
 */
static bool improve(const struct ftree *f, uint32_t s, struct way *way, bool ordered)
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
		if (ordered && !up && on->class <= f->class[s]) {
			continue;
		}
		way[s] = (struct way){ .climbs = (uint16_t)climbs,
			               .hops = (uint16_t)hops,
			               .reverse = up ? on->reverse : on->climbs,
			               .class = up ? f->link[i].class : GRAPH_NONE,
			               .port = f->link[i].port };
		better = true;
	}
	return better;
}

static void find_ways(const struct ftree *f, uint32_t t, uint32_t lid, struct way *way,
                      bool ordered)
{
	bool changed = true;

	start_ways(f, t, lid, way);
	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < f->n; s++) {
			if (ftree_dist(f, s, t) == FTREE_NONE) {
				changed |= improve(f, s, way, ordered);
			}
		}
	}
}

static bool has_io(const struct ftree *f, uint32_t s)
{
	const struct graph *g = f->g;

	for (uint32_t h = g->host_first[s]; h < g->host_first[s + 1]; h++) {
		if (f->kind[g->hosts[h]] == FTREE_IO) {
			return true;
		}
	}
	return false;
}

/* Reverse hops allowed from a switch with hosts to a host of switch t. */
static unsigned allowed(const struct ftree *f, uint32_t s, uint32_t t, uint8_t kind)
{
	if (f->n_cn[s] && kind == FTREE_CN && ftree_dist(f, s, t) == FTREE_NONE) {
		return NO_WAY;
	}
	return kind == FTREE_IO || has_io(f, s) ? f->opt->max_reverse_hops : 0;
}

/* Enters the way from one switch. \return Entries added. */
static uint64_t enter_way(const struct ftree *f, uint32_t s, uint32_t lid,
                          const struct way *way)
{
	uint64_t added = 0;

	while (lft_row(f->lft, s)[lid] == LFT_NO_ROUTE) {
		lft_row(f->lft, s)[lid] = way[s].port;
		added++;
		s = link_of(f, s, way[s].port)->to;
	}
	return added;
}

/* Ways from switches with hosts to one host, between compute nodes or others. */
static void add_ways(const struct ftree *f, uint32_t t, uint32_t h, struct way *way,
                     bool need, bool ordered, struct ftree_added *ret)
{
	uint8_t kind = f->kind[f->g->hosts[h]];
	bool found = false;

	for (uint32_t i = 0; i < f->n_leaves; i++) {
		uint32_t s = f->leaf[i];
		unsigned most = allowed(f, s, t, kind);

		if (ftree_dist(f, s, t) != FTREE_NONE || f->part[s] != f->part[t] ||
		    (most == NO_WAY) != need || most == 0 ||
		    f->g->host_first[s] == f->g->host_first[s + 1]) {
			continue;
		}
		if (!found) {
			find_ways(f, t, f->lid[h], way, ordered);
			found = true;
		}
		if (way[s].climbs != NO_WAY && way[s].reverse <= most) {
			uint64_t n = enter_way(f, s, f->lid[h], way);

			*(need ? &ret->by_need : &ret->by_hops) += n;
		}
	}
}

int ftree_reverse(struct ftree *f, struct arena *a, struct ftree_added *ret)
{
	const struct graph *g = f->g;
	struct way *way = arena_array(a, f->n + 1u, sizeof(*way));

	if (!way) {
		return -ENOMEM;
	}
	for (uint32_t t = 0; t < f->n; t++) {
		for (uint32_t h = g->host_first[t]; h < g->host_first[t + 1]; h++) {
			if (f->lid[h]) {
				add_ways(f, t, h, way, true, true, ret);
				add_ways(f, t, h, way, true, false, ret);
				add_ways(f, t, h, way, false, false, ret);
			}
		}
	}
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Routes between non-compute nodes that climb after they have descended, where the
 * operator asks for them with max_reverse_hops.
 *
 * Each hop that climbs after the first descent is a reverse hop. The way over the line of
 * switches is taken where it has no more of them than allowed, because it has no credit
 * loops. Else a switch without a route takes the way that climbs least, so the ways to
 * one host form a tree that ends in routes that are there already; a way with more
 * reverse hops than allowed is left out. From there on a way has no more of them than
 * from its start, so what is left in is whole.
 *
 * The manual's picture: switches above A and B, S1 on A, S2 on both, S3 on B. From S1 to
 * S2 the way descends to A and climbs once; to S3 it climbs twice.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/lids.h"

enum { NO_WAY = 0xffff };

/* Where a switch goes on to one host. */
struct way {
	uint16_t climbs;  /* hops that climb from here to the host, NO_WAY */
	uint16_t hops;    /* all */
	uint16_t reverse; /* hops that climb after the first descent */
	uint8_t port;
};

/* Ways to one host. */
struct ways {
	const struct ftree *f;
	uint32_t t, h, lid;
	struct way *way; /* [n] */
	uint32_t *path;  /* [n] switches on the way in hand */
};

static struct way way_over(const struct ftree *f, uint32_t s, const struct ftree_link *l,
                           const struct way *on)
{
	bool up = l < &f->link[f->first_down[s]];

	return (struct way){ .climbs = (uint16_t)(on->climbs + up),
		             .hops = (uint16_t)(on->hops + 1),
		             .reverse = up ? on->reverse : on->climbs,
		             .port = l->port };
}

/*
 * Follows the entries from a switch, and the line where there are none, to the first
 * switch whose way is known; then all before it have ways, too. \return Switches that had
 * none before, in path.
 */
static uint32_t follow(const struct ways *x, uint32_t s, bool line)
{
	const struct ftree *f = x->f;
	uint32_t n = 0;

	for (uint32_t k = s; x->way[k].climbs == NO_WAY;) {
		uint8_t port = lft_row(f->lft, k)[x->lid];

		if (port == LFT_NO_ROUTE && line) {
			port = ftree_line_port(f, k, x->t, x->h);
		}
		if (port == LFT_NO_ROUTE) {
			return 0;
		}
		x->way[k].port = port;
		x->path[n++] = k;
		k = ftree_link_of(f, k, port)->to;
	}
	for (uint32_t i = n; i-- > 0;) {
		uint32_t k = x->path[i];
		const struct ftree_link *l = ftree_link_of(f, k, x->way[k].port);

		x->way[k] = way_over(f, k, l, &x->way[l->to]);
	}
	return n;
}

/* Enters the way from one switch. \return Entries added. */
static uint64_t enter_way(const struct ways *x, uint32_t s)
{
	const struct ftree *f = x->f;
	uint64_t added = 0;

	while (s != x->t && lft_row(f->lft, s)[x->lid] == LFT_NO_ROUTE) {
		lft_row(f->lft, s)[x->lid] = x->way[s].port;
		added++;
		s = ftree_link_of(f, s, x->way[s].port)->to;
	}
	return added;
}

/* Takes the line if that has few reverse hops. */
static uint64_t try_line(const struct ways *x, uint32_t s, unsigned most)
{
	uint32_t n = follow(x, s, true);

	if (n && x->way[s].reverse <= most) {
		return enter_way(x, s);
	}
	for (uint32_t i = 0; i < n; i++) {
		x->way[x->path[i]] = (struct way){ .climbs = NO_WAY, .hops = NO_WAY };
	}
	return 0;
}

/* Looks for a better way through each link of a switch without a route. */
static bool improve(const struct ways *x, uint32_t s)
{
	const struct ftree *f = x->f;
	bool better = false;

	for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
		const struct way *on = &x->way[f->link[i].to], *old = &x->way[s];
		struct way way = way_over(f, s, &f->link[i], on);

		if (on->climbs != NO_WAY &&
		    (way.climbs < old->climbs ||
		     (way.climbs == old->climbs && way.hops < old->hops))) {
			x->way[s] = way;
			better = true;
		}
	}
	return better;
}

static void find_ways(const struct ways *x)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < x->f->n; s++) {
			if (lft_row(x->f->lft, s)[x->lid] == LFT_NO_ROUTE) {
				changed |= improve(x, s);
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

/* Has a switch hosts that may have a route to the host, but none? */
static bool wants(const struct ways *x, uint32_t s)
{
	const struct ftree *f = x->f;

	return ftree_hosts_on(f, s) && f->line.part[s] == f->line.part[x->t] &&
	       lft_row(f->lft, s)[x->lid] == LFT_NO_ROUTE &&
	       (f->kind[f->g->hosts[x->h]] == FTREE_IO || has_io(f, s));
}

static void add_ways(const struct ways *x, struct ftree_added *ret)
{
	const struct ftree *f = x->f;
	unsigned most = f->opt->max_reverse_hops;
	bool started = false, found = false;

	for (uint32_t i = 0; i < f->n_leaves; i++) {
		if (wants(x, f->leaf[i])) {
			if (!started) {
				/* The routes that are there already. */
				for (uint32_t s = 0; s < x->f->n; s++) {
					x->way[s] = (struct way){ .climbs = NO_WAY,
						                  .hops = NO_WAY };
				}
				x->way[x->t] = (struct way){ 0 };
				for (uint32_t s = 0; s < x->f->n; s++) {
					follow(x, s, false);
				}
			}
			started = true;
			ret->by_line += try_line(x, f->leaf[i], most);
		}
	}
	for (uint32_t i = 0; started && i < f->n_leaves; i++) {
		uint32_t s = f->leaf[i];

		if (!wants(x, s)) {
			continue;
		}
		if (!found) {
			find_ways(x);
		}
		found = true;
		if (x->way[s].climbs != NO_WAY && x->way[s].reverse <= most) {
			ret->by_hops += enter_way(x, s);
		}
	}
}

int ftree_reverse(struct ftree *f, struct arena *a, struct ftree_added *ret)
{
	const struct graph *g = f->g;
	struct ways x = { .f = f };

	x.way = arena_array(a, f->n + 1u, sizeof(*x.way));
	x.path = arena_array(a, f->n + 1u, sizeof(*x.path));
	if (!x.way || !x.path) {
		return -ENOMEM;
	}
	for (uint32_t t = 0; t < f->n; t++) {
		for (uint32_t h = g->host_first[t]; h < g->host_first[t + 1]; h++) {
			x.t = t;
			x.h = h;
			x.lid = f->lid[h];
			if (x.lid && f->non_cn[g->hosts[h]]) {
				add_ways(&x, ret);
			}
		}
	}
	return E_OK;
}

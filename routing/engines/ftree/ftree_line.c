/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Entries for what no route that climbs, then descends, joins: switches of the upper
 * ranks, hosts on them, leaf switches of a broken tree. They are led over the line of
 * switches that contains the tree's own routes (line.c), so no credit loop arises.
 *
 * To hosts that the lists take out of the compute nodes no way is made from switches that
 * have such hosts only: the manual says that "there will not necessarily be a route"
 * between them. Where a route of others passes such a switch, its hosts can use it, too.
 */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/lids.h"

enum { BITS = 64 };

/* LIDs of switches, and which have hosts. */
struct owners {
	uint32_t *lid;   /* [n] of the switch itself */
	uint64_t *homes; /* [words] */
};

static int owners_init(struct owners *x, const struct ftree *f, struct arena *a)
{
	x->lid = arena_array(a, f->n + 1U, sizeof(*x->lid));
	x->homes = arena_array(a, f->line.words + 1U, sizeof(*x->homes));
	if (!x->lid || !x->homes) {
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < f->n; s++) {
		bool hosts = ftree_hosts_on(f, s) != 0;

		x->lid[s] = f->lids->of[graph_port(f->g, f->g->switches[s], 0)].base;
		x->homes[s / BITS] |= (uint64_t)hosts << s % BITS;
	}
	return E_OK;
}

uint8_t ftree_line_port(const struct ftree *f, uint32_t s, uint32_t t, uint32_t h)
{
	uint8_t port[ORDER_PORTS_MAX];
	unsigned n = order_ports(&f->line, s, t, port);

	return n ? port[h % n] : LFT_NO_ROUTE;
}

/* Hosts of one switch, but those that others of their kind may miss and have no route
 * yet. */
static void fill_hosts(const struct ftree *f, uint32_t s, uint32_t t)
{
	bool replaced = order_replaced(&f->line, s)[t / BITS] >> t % BITS & 1;
	const struct graph *g = f->g;
	uint8_t port[ORDER_PORTS_MAX];
	unsigned n = order_ports(&f->line, s, t, port);

	for (uint32_t h = g->host_first[t]; h < g->host_first[t + 1]; h++) {
		if (f->lid[h] && (replaced || !f->non_cn[g->hosts[h]])) {
			lft_row(f->lft, s)[f->lid[h]] = port[h % n];
		}
	}
}

/* One host that others of its kind may miss: ways from the switches that need them. */
static void fill_non_cn(const struct ftree *f, uint32_t t, uint32_t h)
{
	uint32_t lid = f->lid[h];

	for (uint32_t s0 = 0; s0 < f->n; s0++) {
		if (f->line.part[s0] != f->line.part[t] || f->only_non_cn[s0]) {
			continue;
		}
		for (uint32_t s = s0; lft_row(f->lft, s)[lid] == LFT_NO_ROUTE;) {
			uint8_t port = ftree_line_port(f, s, t, h);

			if (port == LFT_NO_ROUTE) {
				break;
			}
			lft_row(f->lft, s)[lid] = port;
			s = ftree_link_of(f, s, port)->to;
		}
	}
}

/* Is there a switch of its part from which ranks do not lead to it? */
static bool is_apart(const struct ftree *f, uint32_t t)
{
	for (uint32_t s = 0; s < f->n; s++) {
		if (ftree_dist(f, s, t) == FTREE_NONE &&
		    f->line.part[s] == f->line.part[t]) {
			return true;
		}
	}
	return false;
}

/* Destinations that some switch misses still: over the line alone. */
static int fill_left(const struct ftree *f, const struct owners *x, struct arena *a)
{
	struct order_routes way;
	uint8_t port[ORDER_PORTS_MAX];

	if (order_routes_init(&way, &f->line, a) != E_OK) {
		return -ENOMEM;
	}
	for (uint32_t t = 0; t < f->n; t++) {
		if (!f->line.left[t]) {
			continue;
		}
		order_routes_find(&way, &f->line, t);
		for (uint32_t s = 0; s < f->n; s++) {
			unsigned n = order_routes_ports(&way, &f->line, s, port);
			uint8_t *row = lft_row(f->lft, s);

			for (uint32_t h = f->g->host_first[t];
			     n && h < f->g->host_first[t + 1]; h++) {
				row[f->lid[h]] = port[h % n];
			}
			if (n) {
				row[x->lid[t]] = port[0];
				row[0] = LFT_NO_ROUTE;
			}
		}
	}
	return E_OK;
}

int ftree_fill_line(struct ftree *f, struct arena *a)
{
	struct owners x;

	if (owners_init(&x, f, a) != E_OK) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < f->n; s++) {
		const uint8_t *dist = f->dist + (size_t)s * f->stride;

		for (uint32_t w = 0; w < f->line.words; w++) {
			uint64_t b = 0;

			for (uint32_t k = 0; k < BITS;
			     k++) { /* NONE, too, behind the last */
				b |= (uint64_t)(dist[w * BITS + k] == FTREE_NONE) << k;
			}
			b &= order_reaches(&f->line, s)[w];
			b |= order_replaced(&f->line, s)[w];
			order_fill_word(&f->line, s, w, b, x.lid, lft_row(f->lft, s));
			for (b &= x.homes[w]; b; b &= b - 1) {
				fill_hosts(f, s, w * BITS + (uint32_t)__builtin_ctzll(b));
			}
		}
		lft_row(f->lft, s)[0] = LFT_NO_ROUTE; /* switches without a LID */
	}
	for (uint32_t t = 0; t < f->n; t++) {
		bool apart = (f->opt->cn || f->opt->io) && ftree_hosts_on(f, t) &&
		             !f->line.left[t] && is_apart(f, t);

		for (uint32_t h = f->g->host_first[t];
		     apart && h < f->g->host_first[t + 1]; h++) {
			if (f->lid[h] && f->non_cn[f->g->hosts[h]]) {
				fill_non_cn(f, t, h);
			}
		}
	}
	return f->line.n_left ? fill_left(f, &x, a) : E_OK;
}

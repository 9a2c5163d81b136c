/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Entries for pairs that no route which climbs, then descends, joins: switches of the upper
 * ranks, hosts on them, leaf switches of a broken tree. They are routed by the up/down order
 * of switches that contains the tree's own routes (routing/spread/order.h), so no credit
 * loop arises.
 *
 * Hosts that the lists exclude from the compute nodes get no route from switches that have
 * only such hosts: the manual says that "there will not necessarily be a route" between
 * them. Where a route of others passes such a switch, its hosts can use it, too.
 */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/ftree/ftree.h"
#include "routing/graph/lids.h"

enum { BITS = 64 };

/* The LIDs of switches, and which switches have hosts. */
struct owners {
	uint32_t *lid;   /* [n] of the switch itself */
	uint64_t *homes; /* [words] */
};

static int owners_init(struct owners *x, const struct ftree *f, struct arena *a)
{
	x->lid = arena_array(a, f->n + 1U, sizeof(*x->lid));
	x->homes = arena_array(a, f->order.words + 1U, sizeof(*x->homes));
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

uint8_t ftree_order_port(const struct ftree *f, uint32_t s, uint32_t t, uint32_t h)
{
	uint8_t port[ORDER_PORTS_MAX];
	unsigned n = order_ports(&f->order, s, t, port);

	return n ? port[h % n] : LFT_NO_ROUTE;
}

/* Hosts of one switch, except non-compute nodes without a route so far. */
static void fill_hosts(const struct ftree *f, uint32_t s, uint32_t t)
{
	bool replaced = order_replaced(&f->order, s)[t / BITS] >> t % BITS & 1;
	const struct graph *g = f->g;
	uint8_t port[ORDER_PORTS_MAX];
	unsigned n = order_ports(&f->order, s, t, port);

	for (uint32_t h = g->host_first[t]; h < g->host_first[t + 1]; h++) {
		if (f->lid[h] && (replaced || !f->non_cn[g->hosts[h]])) {
			lft_row(f->lft, s)[f->lid[h]] = port[h % n];
		}
	}
}

/* A non-compute node: routes from the switches that have other hosts, too. */
static void fill_non_cn(const struct ftree *f, uint32_t t, uint32_t h)
{
	uint32_t lid = f->lid[h];

	for (uint32_t s0 = 0; s0 < f->n; s0++) {
		if (f->order.part[s0] != f->order.part[t] || f->only_non_cn[s0]) {
			continue;
		}
		for (uint32_t s = s0; lft_row(f->lft, s)[lid] == LFT_NO_ROUTE;) {
			uint8_t port = ftree_order_port(f, s, t, h);

			if (port == LFT_NO_ROUTE) {
				break;
			}
			lft_row(f->lft, s)[lid] = port;
			s = ftree_link_of(f, s, port)->to;
		}
	}
}

/* Is there a switch in its connected part that has no route to it by rank? */
static bool is_apart(const struct ftree *f, uint32_t t)
{
	for (uint32_t s = 0; s < f->n; s++) {
		if (ftree_dist(f, s, t) == FTREE_NONE &&
		    f->order.part[s] == f->order.part[t]) {
			return true;
		}
	}
	return false;
}

/* Destinations that some switch still misses: all switches route them by the order alone. */
static int fill_unreached(const struct ftree *f, const struct owners *x, struct arena *a)
{
	struct order_routes routes;
	uint8_t port[ORDER_PORTS_MAX];

	if (order_routes_init(&routes, &f->order, a) != E_OK) {
		return -ENOMEM;
	}
	for (uint32_t t = 0; t < f->n; t++) {
		if (!f->order.left[t]) {
			continue;
		}
		order_routes_find(&routes, &f->order, t);
		for (uint32_t s = 0; s < f->n; s++) {
			unsigned n = order_routes_ports(&routes, &f->order, s, port);
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

int ftree_fill_order(struct ftree *f, struct arena *a)
{
	struct owners x;

	if (owners_init(&x, f, a) != E_OK) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < f->n; s++) {
		const uint8_t *dist = f->dist + (size_t)s * f->stride;

		for (uint32_t w = 0; w < f->order.words; w++) {
			uint64_t b = 0;

			/* the row is padded with FTREE_NONE behind the last switch */
			for (uint32_t k = 0; k < BITS; k++) {
				b |= (uint64_t)(dist[w * BITS + k] == FTREE_NONE) << k;
			}
			b &= order_reaches(&f->order, s)[w];
			b |= order_replaced(&f->order, s)[w];
			order_fill_word(&f->order, s, w, b, x.lid, lft_row(f->lft, s));
			for (b &= x.homes[w]; b; b &= b - 1) {
				fill_hosts(f, s, w * BITS + (uint32_t)__builtin_ctzll(b));
			}
		}
		lft_row(f->lft, s)[0] = LFT_NO_ROUTE; /* switches without a LID */
	}
	for (uint32_t t = 0; t < f->n; t++) {
		bool apart = (f->opt->cn || f->opt->io) && ftree_hosts_on(f, t) &&
		             !f->order.left[t] && is_apart(f, t);

		for (uint32_t h = f->g->host_first[t];
		     apart && h < f->g->host_first[t + 1]; h++) {
			if (f->lid[h] && f->non_cn[f->g->hosts[h]]) {
				fill_non_cn(f, t, h);
			}
		}
	}
	return f->order.n_left ? fill_unreached(f, &x, a) : E_OK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Broken trees: main routes stay where all their links live. What is left, pairs of a
 * leaf switch and a host, is led one by one over the links that cost least.
 *
 * A shift by k sends from the leaf switch in place p to that in place p + k / (hosts per
 * leaf), so all pairs whose places differ by one distance send at the same time. Each
 * link counts its pairs by distance: that is how many flows meet on it in such a shift. A
 * link is dear when another pair of the same or the next distance uses it, and, less so,
 * when it carries many routes in all. In further rounds each pair is taken off and led
 * anew.
 *
 * Entries hold for all leaf switches: at a switch where another pair's route to the host
 * passes, a route follows it. One host after the other, so the result is the same on any
 * number of threads.
 */
#include <errno.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/ftree.h"

enum { ROUNDS = 3, BLOCK = 64, COST_NONE = UINT32_MAX, MEET_MAX = 7 };

/* What a further flow costs on a link where so many meet. */
static const uint32_t meet_cost[MEET_MAX + 1] = { 0,       1 << 6,  1 << 10, 1 << 13,
	                                          1 << 16, 1 << 18, 1 << 20, 1 << 22 };

struct repair {
	const struct ftree *f;
	uint32_t width;    /* ports per row of at_port */
	uint32_t *at_port; /* [n][width] index in f->link */
	uint32_t *home;    /* [n_hosts] */
	uint32_t *load;    /* [n_adj] host routes */
	uint8_t *meet;     /* [n_adj][meet_stride] pairs by distance of their places */
	size_t meet_stride;
	uint32_t *load_cost; /* [n_adj] what that costs */
	uint32_t fair;       /* mean of load */
	uint8_t *broken;     /* [n_hosts][broken_stride] bit per leaf */
	size_t broken_stride;
	/* of the host in hand */
	uint32_t h, t, dist; /* host, its switch, distance of the pair in hand */
	uint32_t *next;      /* [BLOCK][n] index in f->link, GRAPH_NONE */
	uint32_t *col;       /* row of next */
	uint32_t *use;       /* [n] pairs whose route passes */
	uint32_t *cost;      /* [n] of the best way on, valid where seen is turn */
	uint32_t *best;      /* [n] its link */
	uint32_t *seen;
	uint32_t turn;
};

/* ---- columns ---- */

static void load_block(struct repair *r, uint32_t h0, uint32_t n)
{
	const struct ftree *f = r->f;

	for (uint32_t s = 0; s < f->n; s++) {
		const uint8_t *row = lft_row(f->lft, s);

		for (uint32_t k = 0; k < n; k++) {
			uint8_t p = f->lid[h0 + k] ? row[f->lid[h0 + k]] : LFT_NO_ROUTE;

			r->next[(size_t)k * f->n + s] =
				p == LFT_NO_ROUTE || p >= r->width
					? GRAPH_NONE
					: r->at_port[(size_t)s * r->width + p];
		}
	}
}

static void store_block(const struct repair *r, uint32_t h0, uint32_t n)
{
	const struct ftree *f = r->f;

	for (uint32_t s = 0; s < f->n; s++) {
		uint8_t *row = lft_row(f->lft, s);

		for (uint32_t k = 0; k < n; k++) {
			uint32_t l = r->next[(size_t)k * f->n + s];

			if (l != GRAPH_NONE) {
				row[f->lid[h0 + k]] = f->link[l].port;
			}
		}
	}
}

static void take_host(struct repair *r, uint32_t h, uint32_t h0)
{
	r->h = h;
	r->t = r->home[h];
	r->col = r->next + (size_t)(h - h0) * r->f->n;
}

static void take_leaf(struct repair *r, uint32_t i)
{
	uint32_t n = r->f->n_leaves, t = r->f->leaf_pos[r->t];

	r->dist = t >= i ? t - i : t + n - i;
}

/* ---- routes ---- */

static uint32_t hosts_on(const struct ftree *f, uint32_t s)
{
	return f->g->host_first[s + 1] - f->g->host_first[s];
}

/* Grows with the fourth power: 2^12 at the mean, at most 2^24. */
static uint32_t cost_of_load(uint32_t load, uint32_t fair)
{
	uint64_t x = (uint64_t)load * 16 / fair;

	return x > 128 ? 1U << 24 : (uint32_t)(x * x * x * x / 16);
}

/* Adds (1) or takes off (-1) the route of a leaf switch. */
static void count_route(struct repair *r, uint32_t s, int sign)
{
	const struct ftree *f = r->f;
	uint32_t flows = hosts_on(f, s);

	for (; s != r->t; s = f->link[r->col[s]].to) {
		uint32_t c = f->link[r->col[s]].channel;
		uint8_t *meet = r->meet + c * r->meet_stride + r->dist;

		r->use[s] += (uint32_t)sign;
		r->load[c] += (uint32_t)sign * flows;
		r->load_cost[c] = cost_of_load(r->load[c], r->fair);
		*meet = (uint8_t)(*meet + (*meet < UINT8_MAX ? sign : 0));
	}
}

static bool is_whole(const struct repair *r, uint32_t s)
{
	const struct ftree *f = r->f;

	for (; s != r->t; s = f->link[r->col[s]].to) {
		if (ftree_is_off(f, s, r->h)) {
			return false;
		}
	}
	return true;
}

static uint32_t link_cost(const struct repair *r, const struct ftree_link *l)
{
	const uint8_t *meet = r->meet + l->channel * r->meet_stride;
	uint32_t d = r->dist, n = r->f->n_leaves;
	unsigned a = meet[d], b = meet[d ? d - 1 : n - 1],
		 c = meet[d + 1 == n ? 0 : d + 1];

	a = 2 * a + b + c;
	return meet_cost[a / 2 < MEET_MAX ? a / 2 : MEET_MAX] + r->load_cost[l->channel];
}

/* Cost of the best way from a switch to the host; remembers it. */
static uint32_t find_way(struct repair *r, uint32_t s)
{
	const struct ftree *f = r->f;
	uint32_t best = COST_NONE, i, end;
	bool up;

	if (s == r->t) {
		return 0;
	}
	if (r->seen[s] == r->turn) {
		return r->cost[s];
	}
	up = ftree_dist(f, s, r->t) & FTREE_UP;
	i = up ? f->first[s] : f->first_down[s];
	end = up ? f->first_down[s] : f->first[s + 1];
	if (r->use[s]) { /* others pass: follow */
		i = r->col[s];
		end = i + 1;
	}
	for (; i < end; i++) {
		const struct ftree_link *l = &f->link[i];
		uint32_t cost;

		if (!ftree_closer(f, s, l, up, r->t)) {
			continue;
		}
		cost = link_cost(r, l);
		if (cost < best) {
			cost += find_way(r, l->to);
		}
		if (cost < best) {
			best = cost;
			r->best[s] = i;
		}
	}
	r->seen[s] = r->turn;
	r->cost[s] = best;
	return best;
}

static void lead(struct repair *r, uint32_t s)
{
	r->turn++;
	find_way(r, s);
	for (uint32_t x = s; x != r->t; x = r->f->link[r->col[x]].to) {
		r->col[x] = r->best[x];
	}
	count_route(r, s, 1);
}

/* ---- rounds ---- */

static bool is_broken(const struct repair *r, uint32_t i)
{
	return r->broken[r->h * r->broken_stride + i / 8] >> i % 8 & 1;
}

/* Does the pair of leaf switch i and the host in hand have a route between switches? */
static bool is_pair(const struct repair *r, uint32_t i)
{
	uint32_t s = r->f->leaf[i];

	return s != r->t && hosts_on(r->f, s) && r->f->lid[r->h] &&
	       ftree_dist(r->f, s, r->t) != FTREE_NONE;
}

static void first_look(struct repair *r)
{
	for (uint32_t i = 0; i < r->f->n_leaves; i++) {
		uint32_t s = r->f->leaf[i];

		if (!is_pair(r, i)) {
			continue;
		}
		if (is_whole(r, s)) {
			take_leaf(r, i);
			count_route(r, s, 1);
		} else {
			r->broken[r->h * r->broken_stride + i / 8] |=
				(uint8_t)(1U << i % 8);
		}
	}
}

static bool has_broken(const struct repair *r)
{
	const uint8_t *b = r->broken + r->h * r->broken_stride;

	for (size_t i = 0; i < r->broken_stride; i++) {
		if (b[i]) {
			return true;
		}
	}
	return false;
}

static void one_round(struct repair *r, bool again)
{
	const struct ftree *f = r->f;

	if (!has_broken(r)) {
		return;
	}
	memset(r->use, 0, f->n * sizeof(*r->use));
	for (uint32_t i = 0; i < f->n_leaves; i++) {
		if (is_pair(r, i) && (again || !is_broken(r, i))) {
			for (uint32_t s = f->leaf[i]; s != r->t;
			     s = f->link[r->col[s]].to) {
				r->use[s]++;
			}
		}
	}
	for (uint32_t k = 0; k < f->n_leaves; k++) {
		uint32_t i = (f->leaf_pos[r->t] + k) % f->n_leaves;

		if (is_pair(r, i) && is_broken(r, i)) {
			take_leaf(r, i);
			if (again) {
				count_route(r, f->leaf[i], -1);
			}
			lead(r, f->leaf[i]);
		}
	}
}

static int all_hosts(struct repair *r, unsigned round)
{
	const struct ftree *f = r->f;

	for (uint32_t h0 = 0; h0 < f->n_hosts; h0 += BLOCK) {
		uint32_t n = f->n_hosts - h0 < BLOCK ? f->n_hosts - h0 : BLOCK;

		if (f->cancel && *f->cancel) {
			return -ECANCELED;
		}
		load_block(r, h0, n);
		for (uint32_t h = h0; h < h0 + n; h++) {
			take_host(r, h, h0);
			if (round == 0) {
				first_look(r);
			} else {
				one_round(r, round > 1);
			}
		}
		if (round) {
			store_block(r, h0, n);
		}
	}
	return E_OK;
}

/* ---- the whole ---- */

static int repair_init(struct repair *r, const struct ftree *f, struct arena *a)
{
	*r = (struct repair){ .f = f, .width = f->g->max_port + 1u, .fair = 1 };
	r->meet_stride = f->n_leaves;
	r->broken_stride = f->n_leaves / 8 + 1;
	r->at_port = arena_array(a, (size_t)f->n * r->width, sizeof(*r->at_port));
	r->home = arena_array(a, f->n_hosts + 1u, sizeof(*r->home));
	r->load = arena_array(a, f->g->n_adj + 1u, sizeof(*r->load));
	r->load_cost = arena_array(a, f->g->n_adj + 1u, sizeof(*r->load_cost));
	r->meet = arena_array(a, f->g->n_adj + 1u, r->meet_stride);
	r->broken = arena_array(a, f->n_hosts + 1u, r->broken_stride);
	r->next = arena_array(a, (size_t)BLOCK * f->n, sizeof(*r->next));
	r->use = arena_array(a, f->n, sizeof(*r->use));
	r->cost = arena_array(a, f->n, sizeof(*r->cost));
	r->best = arena_array(a, f->n, sizeof(*r->best));
	r->seen = arena_array(a, f->n, sizeof(*r->seen));
	if (!r->at_port || !r->home || !r->load || !r->load_cost || !r->meet ||
	    !r->broken || !r->next || !r->use || !r->cost || !r->best || !r->seen) {
		return -ENOMEM;
	}
	memset(r->at_port, 0xff, (size_t)f->n * r->width * sizeof(*r->at_port));
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t i = f->first[s]; i < f->first[s + 1]; i++) {
			r->at_port[(size_t)s * r->width + f->link[i].port] = i;
		}
		for (uint32_t h = f->g->host_first[s]; h < f->g->host_first[s + 1]; h++) {
			r->home[h] = s;
		}
	}
	return E_OK;
}

int ftree_repair(struct ftree *f, struct arena *a)
{
	struct repair r;
	int ret = repair_init(&r, f, a);

	for (unsigned round = 0; ret == E_OK && round <= ROUNDS; round++) {
		ret = all_hosts(&r, round);
		if (round == 0) {
			uint64_t sum = 0;

			for (uint32_t i = 0; i < f->g->n_adj; i++) {
				sum += r.load[i];
			}
			r.fair = (uint32_t)(sum / (f->g->n_adj + 1u)) + 1;
			for (uint32_t i = 0; i < f->g->n_adj; i++) {
				r.load_cost[i] = cost_of_load(r.load[i], r.fair);
			}
		}
	}
	return ret;
}

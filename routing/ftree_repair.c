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

enum { ROUNDS = 2, BLOCK = 64, COST_NONE = UINT32_MAX };

/* What a further flow costs on a link where so many meet. */
static const uint32_t meet_cost[UINT8_MAX / 2 + 1] = {
	0,       1 << 6,  1 << 10, 1 << 13,
	1 << 16, 1 << 18, 1 << 20, [7 ... UINT8_MAX / 2] = 1 << 22
};

struct repair {
	const struct ftree *f;
	uint32_t width;      /* ports per row of at_port */
	uint32_t *at_port;   /* [n][width] index in f->link */
	uint32_t *home;      /* [n_hosts] */
	uint32_t *load;      /* [n_adj] host routes per entry of f->link */
	uint32_t *load_cost; /* [n_adj] what that costs */
	uint8_t *meet;   /* [n_leaves][n_adj] per distance: twice its pairs, and those of
	                    the next */
	uint32_t fair;   /* mean of load */
	uint8_t *broken; /* [n_hosts][broken_stride] bit per leaf */
	size_t broken_stride;
	/* of the host in hand */
	uint32_t h, t, dist;  /* host, its switch, distance of the pair in hand */
	uint8_t *dist_to;     /* [n] ftree_dist() to t */
	uint32_t *range_of;   /* [n] t for which from and end hold */
	uint32_t *from, *end; /* [n] links that lead closer lie between */
	uint32_t *next;       /* [BLOCK][n] index in f->link, GRAPH_NONE */
	uint32_t *col;        /* row of next */
	uint32_t *use;        /* [n] pairs whose route passes */
	uint32_t *cost;       /* [n] of the best way on, valid where seen is turn */
	uint32_t *best;       /* [n] its link */
	uint32_t *seen;
	uint32_t turn, floor;
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
	if (h == h0 || r->t != r->home[h]) {
		r->t = r->home[h];
		for (uint32_t s = 0; s < r->f->n; s++) {
			r->dist_to[s] = (uint8_t)ftree_dist(r->f, s, r->t);
		}
	}
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

/* What is full stays full. */
static void add_meet(uint8_t *meet, int by)
{
	int v = *meet + by;

	*meet = *meet == UINT8_MAX || v > UINT8_MAX ? UINT8_MAX : (uint8_t)v;
}

/* Adds (1) or takes off (-1) the route of a leaf switch. */
static void count_route(struct repair *r, uint32_t s, int sign)
{
	const struct ftree *f = r->f;
	uint32_t flows = hosts_on(f, s), d = r->dist, n = f->n_leaves;
	size_t n_adj = f->g->n_adj;
	uint8_t *meet = r->meet + d * n_adj;
	uint8_t *before = r->meet + (d ? d - 1 : n - 1) * n_adj;
	uint8_t *after = r->meet + (d + 1 == n ? 0 : d + 1) * n_adj;

	for (; s != r->t; s = f->link[r->col[s]].to) {
		uint32_t i = r->col[s];

		r->use[s] += (uint32_t)sign;
		r->load[i] += (uint32_t)sign * flows;
		r->load_cost[i] = cost_of_load(r->load[i], r->fair);
		add_meet(&meet[i], 2 * sign);
		add_meet(&before[i], sign);
		add_meet(&after[i], sign);
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

static bool leads_closer(const struct repair *r, uint32_t s, uint32_t to)
{
	unsigned d = r->dist_to[s], mask = d & FTREE_UP ? FTREE_HOPS : FTREE_NONE;

	return (r->dist_to[to] & mask) == (d & FTREE_HOPS) - 1u;
}

/* The stretch of links in which those that lead closer are: on the way down mostly one.
 */
static void find_range(struct repair *r, uint32_t s)
{
	const struct ftree *f = r->f;
	bool up = r->dist_to[s] & FTREE_UP;
	uint32_t i = up ? f->first[s] : f->first_down[s];
	uint32_t end = up ? f->first_down[s] : f->first[s + 1];

	while (!leads_closer(r, s, f->link[i].to)) {
		i++;
	}
	while (!leads_closer(r, s, f->link[end - 1].to)) {
		end--;
	}
	r->from[s] = i;
	r->end[s] = end;
	r->range_of[s] = r->t;
}

/*
 * Cost of the best way from a switch to the host, COST_NONE: none below the limit found;
 * remembers it. What is left of a way is taken to cost at least the floor per hop, which
 * is near what the last one did: few ways are looked at to their end.
 */
static uint32_t find_way(struct repair *r, uint32_t s, uint32_t limit)
{
	const struct ftree *f = r->f;
	const uint8_t *meet = r->meet + (size_t)r->dist * f->g->n_adj;
	uint32_t best = COST_NONE, i, end, rest;

	if (s == r->t) {
		return 0;
	}
	if (r->seen[s] == r->turn) {
		return r->cost[s];
	}
	if (r->range_of[s] != r->t) {
		find_range(r, s);
	}
	i = r->from[s];
	end = r->end[s];
	if (r->use[s]) { /* others pass: follow */
		i = r->col[s];
		end = i + 1;
	}
	rest = ((r->dist_to[s] & FTREE_HOPS) - 1u) * r->floor;
	for (; i < end; i++) {
		uint32_t cost, on;

		if (!leads_closer(r, s, f->link[i].to)) {
			continue;
		}
		cost = meet_cost[meet[i] / 2] + r->load_cost[i];
		if (limit != COST_NONE && cost + rest >= limit) {
			continue;
		}
		on = find_way(r, f->link[i].to,
		              limit == COST_NONE ? limit : limit - cost);
		if (on != COST_NONE && cost + on < limit) {
			limit = best = cost + on;
			r->best[s] = i;
		}
	}
	r->seen[s] = r->turn;
	r->cost[s] = best;
	return best;
}

static void lead(struct repair *r, uint32_t s)
{
	uint32_t cost;

	r->turn++;
	cost = find_way(r, s, COST_NONE);
	r->floor = cost / (r->dist_to[s] & FTREE_HOPS) / 8 * 7;
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
	       r->dist_to[s] != FTREE_NONE;
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
	r->broken_stride = f->n_leaves / 8 + 1;
	r->at_port = arena_array(a, (size_t)f->n * r->width, sizeof(*r->at_port));
	r->home = arena_array(a, f->n_hosts + 1u, sizeof(*r->home));
	r->load = arena_array(a, f->g->n_adj + 1u, sizeof(*r->load));
	r->load_cost = arena_array(a, f->g->n_adj + 1u, sizeof(*r->load_cost));
	r->meet = arena_array(a, f->n_leaves + 1u, f->g->n_adj + 1u);
	r->broken = arena_array(a, f->n_hosts + 1u, r->broken_stride);
	r->next = arena_array(a, (size_t)BLOCK * f->n, sizeof(*r->next));
	r->dist_to = arena_alloc(a, f->n + 1u);
	r->range_of = arena_array(a, f->n, sizeof(*r->range_of));
	r->from = arena_array(a, f->n, sizeof(*r->from));
	r->end = arena_array(a, f->n, sizeof(*r->end));
	r->use = arena_array(a, f->n, sizeof(*r->use));
	r->cost = arena_array(a, f->n, sizeof(*r->cost));
	r->best = arena_array(a, f->n, sizeof(*r->best));
	r->seen = arena_array(a, f->n, sizeof(*r->seen));
	if (!r->at_port || !r->home || !r->load || !r->load_cost || !r->meet ||
	    !r->broken || !r->next || !r->dist_to || !r->range_of || !r->from ||
	    !r->end || !r->use || !r->cost || !r->best || !r->seen) {
		return -ENOMEM;
	}
	memset(r->range_of, 0xff, f->n * sizeof(*r->range_of));
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

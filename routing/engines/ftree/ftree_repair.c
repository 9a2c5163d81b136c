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
 * passes, a route follows it.
 *
 * Hosts are led in batches, one each of leaf switches far apart: threads work on the
 * hosts of a batch with the counts from before it, then what came out is counted. Batches
 * do not depend on threads, so neither does the result.
 */
#include "routing/engines/ftree/ftree_repair.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"

enum {
	ROUNDS = 2,
	BATCH_MAX = 64,
	BATCH_PART = 20,
	COST_NONE = UINT32_MAX,
	CHANGES = 2 * FTREE_HOPS_MAX
};

/* What a further flow costs on a link where so many meet. */
static const uint32_t meet_cost[UINT8_MAX / 2 + 1] = {
	0,       1 << 6,  1 << 10, 1 << 13,
	1 << 16, 1 << 18, 1 << 20, [7 ... UINT8_MAX / 2] = 1 << 22
};

/* One thread's work on one host. */
struct repair {
	const struct ftree_tally *x;
	const struct ftree *f;
	uint32_t h, t;        /* host, its switch */
	const uint8_t *meet;  /* [n_adj] of the distance of the pair in hand */
	uint8_t *col;         /* [n] egress port at each switch */
	uint8_t *dist_to;     /* [n] ftree_dist() to t */
	uint32_t *range_of;   /* [n] t for which from and end hold */
	uint32_t *from, *end; /* [n] links that lead closer lie between */
	uint32_t *use;        /* [n] pairs whose route passes */
	uint32_t *cost;       /* [n] of the best way on, valid where seen is turn */
	uint32_t *best;       /* [n] its link */
	uint32_t *seen,
		*mine; /* mine: [n] turn in which the pair's own old route passes */
	uint32_t turn, floor;
	uint32_t good;     /* cost of a link than which none better is looked for */
	uint32_t start;    /* where the search among links begins */
	uint32_t *more;    /* [n_adj] load that the host in hand brings beyond x->load */
	uint32_t *changed; /* links where that is not 0, or was */
	uint32_t n_changed;
};

/* ---- one pair ---- */

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
	uint32_t best = COST_NONE, from, n, rest, good;

	if (s == r->t) {
		return 0;
	}
	if (r->seen[s] == r->turn) {
		return r->cost[s];
	}
	if (r->range_of[s] != r->t) {
		find_range(r, s);
	}
	from = r->from[s];
	n = r->end[s] - from;
	if (r->use[s]) { /* others pass: follow */
		from = ftree_link_at(r->x, r->col, s);
		n = 1;
	}
	rest = ((r->dist_to[s] & FTREE_HOPS) - 1u) * r->floor;
	good = (r->dist_to[s] & FTREE_HOPS) * r->good;
	for (uint32_t k = 0; k < n && best > good; k++) {
		uint32_t i = from + (r->start + k) % n, cost, on;
		unsigned meet;

		if (!leads_closer(r, s, f->link[i].to)) {
			continue;
		}
		/* What the pair in hand would add to what others make of a link. */
		meet = r->meet[i];
		if (r->mine[s] == r->turn && r->f->link[i].port == r->col[s]) {
			meet = meet < UINT8_MAX && meet >= 2 ? meet - 2 : meet;
		}
		cost = meet_cost[meet / 2] +
		       (r->more[i]
		                ? ftree_load_cost(r->x->load[i] + r->more[i], r->x->fair)
		                : r->x->load_cost[i]);
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

/* Counts a route of this host in use: 1 or -1. Where it is taken off it is marked. */
static void use_route(struct repair *r, uint32_t s, int by)
{
	while (s != r->t) {
		r->use[s] += (uint32_t)by;
		r->mine[s] = by < 0 ? r->turn : r->mine[s];
		s = r->f->link[ftree_link_at(r->x, r->col, s)].to;
	}
}

/* Adds what a leaf switch sends to the links of its route, or takes it off. */
static void load_route(struct repair *r, uint32_t s, int sign)
{
	uint32_t flows = ftree_hosts_on(r->f, s);

	while (s != r->t) {
		uint32_t l = ftree_link_at(r->x, r->col, s);

		if (r->more[l] == 0) {
			r->changed[r->n_changed++] = l;
		}
		r->more[l] += (uint32_t)sign * flows;
		s = r->f->link[l].to;
	}
}

/* Does the route of the pair in hand meet another, or pass a link that carries much? */
static bool is_dear(const struct repair *r, uint32_t s)
{
	while (s != r->t) {
		uint32_t l = ftree_link_at(r->x, r->col, s);

		if (r->meet[l] >= 4 || r->x->load_cost[l] > r->good) {
			return true;
		}
		s = r->f->link[l].to;
	}
	return false;
}

/* ---- one host ---- */

static void take_host(struct repair *r, uint32_t h)
{
	const struct ftree_tally *x = r->x;
	const struct ftree *f = r->f;

	if (r->t != x->home[h]) {
		r->t = x->home[h];
		for (uint32_t s = 0; s < f->n; s++) {
			r->dist_to[s] = (uint8_t)ftree_dist(f, s, r->t);
		}
	}
	r->h = h;
	r->floor = 0;
	r->good = x->good_cost;
	while (r->n_changed) {
		r->more[r->changed[--r->n_changed]] = 0;
	}
	r->col = x->port + (size_t)h * f->n;
	memset(r->use, 0, f->n * sizeof(*r->use));
}

static void lead_host(struct repair *r, uint32_t h, bool again)
{
	const struct ftree_tally *x = r->x;
	uint32_t n = r->f->n_leaves;

	take_host(r, h);
	for (uint32_t i = 0; i < n; i++) {
		if ((again || !ftree_is_broken(x, i, h)) && ftree_is_pair(x, i, h)) {
			use_route(r, r->f->leaf[i], 1);
		}
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = (r->f->leaf_pos[r->t] + k) % n;

		if (ftree_is_broken(x, i, h)) {
			r->meet = x->meet +
			          (size_t)ftree_distance(x, i, h) * r->f->g->n_adj;
			r->start = h + i;
			if (!again || is_dear(r, r->f->leaf[i])) {
				uint32_t cost;

				r->turn++;
				if (again) {
					use_route(r, r->f->leaf[i], -1);
					load_route(r, r->f->leaf[i], -1);
				}
				cost = find_way(r, r->f->leaf[i], COST_NONE);
				r->floor = cost /
				           (r->dist_to[r->f->leaf[i]] & FTREE_HOPS) / 8 *
				           7;
				for (uint32_t l = r->f->leaf[i]; l != r->t;
				     l = r->f->link[r->best[l]].to) {
					r->col[l] = r->f->link[r->best[l]].port;
				}
				use_route(r, r->f->leaf[i], 1);
				load_route(r, r->f->leaf[i], 1);
			}
		}
	}
}

static void count_host(struct ftree_tally *x, uint32_t h, const uint8_t *column, int sign)
{
	for (uint32_t i = 0; i < x->f->n_leaves; i++) {
		if (ftree_is_broken(x, i, h)) {
			ftree_tally_count(x, i, h, column, sign);
		}
	}
}

/* ---- batches ---- */

struct batch {
	uint32_t host[BATCH_MAX], n;
	uint8_t *old; /* [BATCH_MAX][n switches] columns from before */
};

/* A small part of all leaf switches, so that those of a batch hardly get in each other's
 * way. */
static uint32_t stride_of(const struct ftree *f)
{
	uint32_t batch = f->n_leaves / BATCH_PART;

	batch = batch > BATCH_MAX ? BATCH_MAX : batch ? batch : 1;
	return (f->n_leaves + batch - 1) / batch;
}

/* Host number q of leaf switches that stand far apart, those with something to do. */
static void fill_batch(const struct ftree_tally *x, struct batch *b, uint32_t first,
                       uint32_t q)
{
	const struct ftree *f = x->f;
	b->n = 0;
	for (uint32_t i = first; i < f->n_leaves; i += stride_of(f)) {
		uint32_t s = f->leaf[i], h = f->g->host_first[s] + q;

		if (q < ftree_hosts_on(f, s) && x->n_broken[h]) {
			b->host[b->n++] = h;
		}
	}
}

static void run_batch(struct ftree_tally *x, struct repair *r, struct batch *b,
                      bool again)
{
	uint32_t n = x->f->n;

	for (uint32_t k = 0; k < b->n && again; k++) {
		memcpy(b->old + (size_t)k * n, x->port + (size_t)b->host[k] * n, n);
	}
#pragma omp parallel for schedule(dynamic, 1) if (b->n > 1)
	for (uint32_t k = 0; k < b->n; k++) {
		lead_host(&r[column_thread()], b->host[k], again);
	}
	for (uint32_t k = 0; k < b->n; k++) {
		uint32_t h = b->host[k];

		if (again) {
			count_host(x, h, b->old + (size_t)k * n, -1);
		}
		count_host(x, h, x->port + (size_t)h * n, 1);
	}
}

static int run_round(struct ftree_tally *x, struct repair *r, struct batch *b, bool again)
{
	const struct ftree *f = x->f;
	uint32_t most = 0;

	for (uint32_t i = 0; i < f->n_leaves; i++) {
		uint32_t n = ftree_hosts_on(f, f->leaf[i]);

		most = n > most ? n : most;
	}
	for (uint32_t q = 0; q < most; q++) {
		if (f->cancel && *f->cancel) {
			return -ECANCELED;
		}
		for (uint32_t i = 0; i < stride_of(f); i++) {
			fill_batch(x, b, i, q);
			run_batch(x, r, b, again);
		}
	}
	return E_OK;
}

/* ---- the whole ---- */

/* Load that no table can avoid on some link: what leaves a switch with hosts, over the
 * cables it has. */
static uint64_t unavoidable_load(const struct ftree *f)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < f->n_leaves; i++) {
		uint32_t s = f->leaf[i], hosts = ftree_hosts_on(f, s);
		uint32_t cables = f->first[s + 1] - f->first[s];
		uint64_t each =
			cables ? (uint64_t)hosts * (f->n_hosts - hosts) / cables : 0;

		most = each > most ? each : most;
	}
	return most;
}

static int repair_init(struct repair *r, const struct ftree_tally *x, struct arena *a)
{
	uint32_t n = x->f->n;

	*r = (struct repair){ .x = x, .f = x->f, .t = GRAPH_NONE };
	r->dist_to = arena_alloc(a, n + 1u);
	r->range_of = arena_array(a, n, sizeof(*r->range_of));
	r->from = arena_array(a, n, sizeof(*r->from));
	r->end = arena_array(a, n, sizeof(*r->end));
	r->use = arena_array(a, n, sizeof(*r->use));
	r->cost = arena_array(a, n, sizeof(*r->cost));
	r->best = arena_array(a, n, sizeof(*r->best));
	r->seen = arena_array(a, n, sizeof(*r->seen));
	r->mine = arena_array(a, n, sizeof(*r->mine));
	r->more = arena_array(a, x->f->g->n_adj + 1u, sizeof(*r->more));
	r->changed =
		arena_array(a, (size_t)x->f->n_leaves * CHANGES + 1, sizeof(*r->changed));
	if (!r->dist_to || !r->range_of || !r->from || !r->end || !r->use || !r->cost ||
	    !r->best || !r->seen || !r->mine || !r->more || !r->changed) {
		return -ENOMEM;
	}
	memset(r->range_of, 0xff, n * sizeof(*r->range_of));
	return E_OK;
}

int ftree_repair(struct ftree *f, struct arena *a)
{
	unsigned threads = column_threads();
	struct repair *r = arena_array(a, threads, sizeof(*r));
	struct batch b = { .old = arena_array(a, BATCH_MAX, f->n) };
	struct ftree_tally x;
	int ret = r && b.old ? ftree_tally(&x, f, a) : -ENOMEM;

	for (unsigned i = 0; i < threads && ret == E_OK; i++) {
		ret = repair_init(&r[i], &x, a);
	}
	for (unsigned round = 0; ret == E_OK && round < ROUNDS; round++) {
		ret = run_round(&x, r, &b, round > 0);
	}
	if (ret == E_OK) {
		uint64_t sum, most, least;

		ftree_tally_store(&x);
		/* Does a link carry much more than the mean, and more than it needs
		 * to? */
		sum = 0;
		most = 0;
		for (uint32_t l = 0; l < x.f->g->n_adj; l++) {
			sum += x.load[l];
			most = x.load[l] > most ? x.load[l] : most;
		}
		least = unavoidable_load(x.f);
		sum = sum / x.f->g->n_adj * 5 / 4;
		f->uneven = most > (least > sum ? least : sum) * 9 / 8;
	}
	return ret;
}

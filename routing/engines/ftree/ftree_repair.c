/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Repair of broken trees. A main route stays if all its links are up. The other pairs of a
 * leaf switch and a host are routed one by one over the links of lowest cost.
 *
 * A shift by k sends from the leaf switch at position p to the one at position
 * p + k / (hosts per leaf). So all pairs at the same distance send at the same time. Each
 * link counts its pairs by distance: this is the number of flows that contend for it in such
 * a shift. A link costs much if another pair of the same or a neighbouring distance uses it,
 * and less if it carries many routes in total. In further rounds each pair is removed and
 * routed again.
 *
 * An entry serves all leaf switches. So a route that reaches a switch on another pair's
 * route to the same host continues on that route.
 *
 * Hosts are routed in batches of hosts on distant leaf switches. Threads work on the hosts
 * of a batch with the counts from before the batch; afterwards the new routes are counted.
 * Batches do not depend on the number of threads, so neither does the result.
 *
 * Where a whole part of the tree has few cables, some links may still carry twice their
 * share afterwards. Then the common balancing stage (routing/spread) moves routes away from
 * them, although it knows nothing of shifts.
 */
#include "routing/engines/ftree/ftree_repair.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/spread/spread.h"

enum {
	ROUNDS = 2,
	BATCH_MAX = 64,
	BATCH_PART = 20,
	COST_NONE = UINT32_MAX,
	CHANGES = 2 * FTREE_HOPS_MAX
};

/* Cost of one more flow on a link by the number of flows that contend for it. */
static const uint32_t contention_cost[UINT8_MAX / 2 + 1] = {
	0,       1 << 6,  1 << 10, 1 << 13,
	1 << 16, 1 << 18, 1 << 20, [7 ... UINT8_MAX / 2] = 1 << 22
};

/* One thread's work on one host. */
struct repair {
	const struct ftree_load *x;
	const struct ftree *f;
	uint32_t h, t;        /* host, its switch */
	const uint8_t *contention; /* [n_adj] row of the distance of the current pair */
	uint8_t *col;         /* [n] egress port at each switch */
	uint8_t *dist_to;     /* [n] ftree_dist() to t */
	uint32_t *range_of;   /* [n] the t for which from and end are valid */
	uint32_t *from, *end; /* [n] the links that lead closer are among these */
	uint32_t *use;        /* [n] pairs whose route passes the switch */
	/* [n] of the cheapest route from here, valid where seen == attempt */
	uint32_t *cost;
	uint32_t *best;       /* [n] its link */
	uint32_t *seen;       /* [n] attempt in which cost was computed */
	uint32_t *mine;       /* [n] attempt whose pair had its old route here */
	uint32_t attempt, floor;
	uint32_t good;     /* a link of this cost is good enough to end the search */
	uint32_t start;    /* first link of the search */
	uint32_t *more;    /* [n_adj] load of the current host in addition to x->load */
	uint32_t *changed; /* links where that is or was not 0 */
	uint32_t n_changed;
};

/* ---- one pair ---- */

static bool leads_closer(const struct repair *r, uint32_t s, uint32_t to)
{
	unsigned d = r->dist_to[s], mask = d & FTREE_UP ? FTREE_HOPS : FTREE_NONE;

	return (r->dist_to[to] & mask) == (d & FTREE_HOPS) - 1u;
}

/* Finds the range of links that contains all that lead closer: downward mostly one. */
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
 * Cost of the cheapest route from a switch to the host, which is remembered; COST_NONE: none
 * below the limit. Each remaining hop is assumed to cost at least r->floor, which is near
 * the cost per hop of the last pair. So few routes are followed to their end.
 */
static uint32_t find_cheapest(struct repair *r, uint32_t s, uint32_t limit)
{
	const struct ftree *f = r->f;
	uint32_t best = COST_NONE, from, n, ahead, good;

	if (s == r->t) {
		return 0;
	}
	if (r->seen[s] == r->attempt) {
		return r->cost[s];
	}
	if (r->range_of[s] != r->t) {
		find_range(r, s);
	}
	from = r->from[s];
	n = r->end[s] - from;
	if (r->use[s]) { /* another route to the host passes: follow it */
		from = ftree_link_at(r->x, r->col, s);
		n = 1;
	}
	ahead = ((r->dist_to[s] & FTREE_HOPS) - 1u) * r->floor;
	good = (r->dist_to[s] & FTREE_HOPS) * r->good;
	for (uint32_t k = 0; k < n && best > good; k++) {
		uint32_t i = from + (r->start + k) % n, cost, on;
		unsigned contention;

		if (!leads_closer(r, s, f->link[i].to)) {
			continue;
		}
		/* cost of the link without the pair's own old route */
		contention = r->contention[i];
		if (r->mine[s] == r->attempt && r->f->link[i].port == r->col[s]) {
			contention = contention < UINT8_MAX && contention >= 2
			                     ? contention - 2
			                     : contention;
		}
		cost = contention_cost[contention / 2] +
		       (r->more[i]
		                ? ftree_load_cost(r->x->load[i] + r->more[i], r->x->fair)
		                : r->x->load_cost[i]);
		if (limit != COST_NONE && cost + ahead >= limit) {
			continue;
		}
		on = find_cheapest(r, f->link[i].to,
		                   limit == COST_NONE ? limit : limit - cost);
		if (on != COST_NONE && cost + on < limit) {
			limit = best = cost + on;
			r->best[s] = i;
		}
	}
	r->seen[s] = r->attempt;
	r->cost[s] = best;
	return best;
}

/* Adds (1) or removes (-1) a route of this host; marks the switches of a removed one. */
static void use_route(struct repair *r, uint32_t s, int by)
{
	while (s != r->t) {
		r->use[s] += (uint32_t)by;
		r->mine[s] = by < 0 ? r->attempt : r->mine[s];
		s = r->f->link[ftree_link_at(r->x, r->col, s)].to;
	}
}

/* Adds the flows of a leaf switch to the links of its route, or removes them. */
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

/* Does the route of the current pair contend with another or pass a heavily loaded link? */
static bool is_congested(const struct repair *r, uint32_t s)
{
	while (s != r->t) {
		uint32_t l = ftree_link_at(r->x, r->col, s);

		if (r->contention[l] >= 4 || r->x->load_cost[l] > r->good) {
			return true;
		}
		s = r->f->link[l].to;
	}
	return false;
}

/* ---- one host ---- */

static void start_host(struct repair *r, uint32_t h)
{
	const struct ftree_load *x = r->x;
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

static void route_host(struct repair *r, uint32_t h, bool again)
{
	const struct ftree_load *x = r->x;
	uint32_t n = r->f->n_leaves;

	start_host(r, h);
	for (uint32_t i = 0; i < n; i++) {
		if ((again || !ftree_is_broken(x, i, h)) && ftree_is_pair(x, i, h)) {
			use_route(r, r->f->leaf[i], 1);
		}
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = (r->f->leaf_pos[r->t] + k) % n;

		if (ftree_is_broken(x, i, h)) {
			r->contention = x->contention +
			                (size_t)ftree_distance(x, i, h) * r->f->g->n_adj;
			r->start = h + i;
			if (!again || is_congested(r, r->f->leaf[i])) {
				uint32_t cost;

				r->attempt++;
				if (again) {
					use_route(r, r->f->leaf[i], -1);
					load_route(r, r->f->leaf[i], -1);
				}
				cost = find_cheapest(r, r->f->leaf[i], COST_NONE);
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

static void count_host(struct ftree_load *x, uint32_t h, const uint8_t *column, int sign)
{
	for (uint32_t i = 0; i < x->f->n_leaves; i++) {
		if (ftree_is_broken(x, i, h)) {
			ftree_load_add_route(x, i, h, column, sign);
		}
	}
}

/* ---- batches ---- */

struct batch {
	uint32_t host[BATCH_MAX], n;
	uint8_t *old; /* [BATCH_MAX][n switches] columns before the batch */
};

/* A batch has few of all leaf switches, so that its routes hardly influence each other. */
static uint32_t stride_of(const struct ftree *f)
{
	uint32_t batch = f->n_leaves / BATCH_PART;

	batch = batch > BATCH_MAX ? BATCH_MAX : batch ? batch : 1;
	return (f->n_leaves + batch - 1) / batch;
}

/* Host number q of distant leaf switches, unless all its main routes are whole. */
static void fill_batch(const struct ftree_load *x, struct batch *b, uint32_t first,
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

static void run_batch(struct ftree_load *x, struct repair *r, struct batch *b, bool again)
{
	uint32_t n = x->f->n;

	for (uint32_t k = 0; k < b->n && again; k++) {
		memcpy(b->old + (size_t)k * n, x->port + (size_t)b->host[k] * n, n);
	}
#pragma omp parallel for schedule(dynamic, 1) if (b->n > 1)
	for (uint32_t k = 0; k < b->n; k++) {
		route_host(&r[column_thread()], b->host[k], again);
	}
	for (uint32_t k = 0; k < b->n; k++) {
		uint32_t h = b->host[k];

		if (again) {
			count_host(x, h, b->old + (size_t)k * n, -1);
		}
		count_host(x, h, x->port + (size_t)h * n, 1);
	}
}

static int run_round(struct ftree_load *x, struct repair *r, struct batch *b, bool again)
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

/* A lower bound for the load of the busiest link: what a leaf switch sends, divided by its
 * cables. */
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

static int repair_init(struct repair *r, const struct ftree_load *x, struct arena *a)
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
	struct ftree_load x;
	int ret = r && b.old ? ftree_load_count(&x, f, a) : -ENOMEM;

	for (unsigned i = 0; i < threads && ret == E_OK; i++) {
		ret = repair_init(&r[i], &x, a);
	}
	for (unsigned round = 0; ret == E_OK && round < ROUNDS; round++) {
		ret = run_round(&x, r, &b, round > 0);
	}
	if (ret == E_OK) {
		uint64_t sum, most, least;

		ftree_load_store(&x);
		/* is the load of a link far above the mean and the lower bound? */
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

/* ---- balancing afterwards ---- */

struct steps {
	const struct ftree *f;
	struct hops hops;
};

/* spread_closer_f for the next hops that the tree allows. */
static void next_in_tree(const void *ctx, uint32_t s, uint32_t t,
                         const struct sw_link *link, uint32_t n_links, unsigned max,
                         struct spread_ports *ret_ports)
{
	const struct steps *x = ctx;
	const struct ftree *f = x->f;
	bool up = ftree_dist(f, s, t) & FTREE_UP;
	unsigned n = 0;

	for (uint32_t i = 0; i < n_links && n < max; i++) {
		uint32_t to = link[i].to;

		if (ftree_leads_up(f, s, to) == up && ftree_closer(f, s, to, up, t)) {
			ret_ports->port[n] = link[i].port;
			ret_ports->to[n] = to;
			n++;
		}
	}
	ret_ports->n = n;
}

int ftree_even(struct ftree *f, const struct lft *prev, struct lft *lft, struct arena *a)
{
	struct steps x = { .f = f };
	const struct spread in = { .g = f->g,
		                   .lids = f->lids,
		                   .hops = &x.hops,
		                   .closer = next_in_tree,
		                   .ctx = &x,
		                   .prev = prev,
		                   .cancel = f->cancel };
	int ret = hops_alloc(&x.hops, f->n, a);

	if (ret != E_OK) {
		return ret;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < f->n; s++) {
		for (uint32_t t = 0; t < f->n; t++) {
			unsigned d = ftree_dist(f, s, t);

			x.hops.dist[(size_t)s * x.hops.stride + t] =
				d == FTREE_NONE ? HOPS_NONE : d & FTREE_HOPS;
		}
	}
	return spread_rebalance_tables(&in, 0, lft, a);
}

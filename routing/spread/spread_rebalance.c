/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Rebalancing: moves routes off overloaded links. The second half of spreading, for
 * fabrics that are not regular themselves.
 *
 * When a switch chooses a port, it sees the load of its own ports, not that of the links
 * further on. In a complete tree that is enough, because all switches stay in step. Where
 * cables are missing, or leaves differ in size, they fall out of step, and some links far
 * from any choice get several times their share.
 *
 * There is a lower bound on the load of the busiest link: the mean load, and the routes
 * that leave the hosts of one switch over the links that this switch has. A limit is set
 * a quarter of the way from this bound to the present load of the busiest link. The links
 * above the limit are relieved one after the other, the busiest first: their routes move
 * to paths on which no link gets above the limit, either here or further upstream, until
 * the link is at the limit. Then a new limit is set. A limit that was not reached becomes
 * the bound. So routes move only where the busiest links gain by it, and all others stay:
 * it is worth more that the routes to a host come together early than that links are
 * still more even.
 *
 * A move never takes a link above the limit, so a round ends, and each round narrows the
 * gap between bound and busiest link. The work is bounded by a count of links that are
 * looked at, not by time, and one thread does it, so the result is the same each time. A
 * round looks at as many links as the tables have entries. On a torus most links are
 * above the limit: four times as many took the busiest link a twelfth lower, in four
 * times the time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/keep.h"
#include "routing/spread/leaves.h"
#include "routing/spread/spread_int.h"
#include "routing/spread/spread_options.h"

enum {
	ROUNDS = 6,
	CLOSE = 50, /* a link within 1 / CLOSE of the bound is not overloaded */
	ENOUGH = 3  /* alternatives that are compared for one move */
};

/* An overloaded link: its egress port, and its load when the round began. */
struct busy {
	uint32_t load;
	uint32_t s;
	uint8_t port;
};

struct rebalance {
	const struct spread_job *j;
	uint32_t limit;    /* routes per link that are not too many */
	struct busy *busy; /* [links] those above the limit */
	uint32_t
		*on_route; /* [n] stamp of the last marked route that passes the switch */
	uint32_t *after;   /* [n] is it behind the busy link on that route? */
	uint32_t stamp;
	uint32_t *home;  /* [columns] switch of a column */
	uint32_t stride; /* from one column to the next that is looked at */
	uint64_t work;   /* links that may still be looked at in this round */
	uint32_t start;  /* where the next search among ports begins */
};

/* A route to column h, a host of switch t, that passes the busy link of switch s. */
struct route {
	uint32_t t, h, lid;
	uint32_t s;
	uint8_t port;
};

/*
 * A lower bound on the load of the busiest link: the routes that leave the hosts of one
 * switch or pod, or the mean over all links, as no route gets shorter. With a plan a link
 * may also carry all routes to one host, as the cable of the host does, up to two fifths
 * above the mean. If these routes were split, they would be in the way of others.
 */
static int lower_bound(const struct spread_job *j, struct arena *tmp, uint32_t *ret_bound)
{
	const struct graph *g = j->g;
	uint64_t sum = 0, most;
	int ret = leaves_least_load(g, j->plan != NULL, tmp, &most);

	if (ret != E_OK) {
		return ret;
	}
	for (size_t i = 0; i < (size_t)j->n * j->width; i++) {
		sum += j->load[i];
	}
	sum = g->n_adj ? sum / g->n_adj : 0;
	most = sum > most ? sum : most;
	if (j->plan && spread_plan_is_tree(j)) {
		uint64_t one = sum * 7 / 5 < j->n_cols ? sum * 7 / 5 : j->n_cols;

		most = one > most ? one : most;
	}
	*ret_bound = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
	return E_OK;
}

static bool is_cancelled(const struct spread_job *j)
{
	return j->in->cancel && *j->in->cancel;
}

/* Do all routes over a link lead to one LID? Not with an LMC, because the cable of the
 * port carries the routes to its other LIDs, too. */
static bool leads_to_one(const struct spread_job *j, uint32_t s, uint8_t port)
{
	const uint16_t *flow = j->flow + (size_t)s * j->n_cols;
	const uint8_t *row = lft_row(j->lft, s);
	uint32_t n = 0;

	for (uint32_t h = 0; h < j->n_cols && n < 2; h++) {
		n += flow[h] && j->lid[h] && row[j->lid[h]] == port;
	}
	return n == 1 && !j->largest_lmc;
}

/* Load of the busiest link. Not counted are links whose routes all lead to one host and
 * are no more than the cable of that host carries. If such routes were spread out, two
 * shares would meet where no routes met. */
static uint32_t busiest(const struct spread_job *j)
{
	uint32_t most = 0;

	for (uint32_t s = 0; s < j->n; s++) {
		for (uint32_t i = j->g->adj_first[s]; i < j->g->adj_first[s + 1]; i++) {
			uint8_t port = j->g->adj[i].port;
			uint32_t load = j->load[(size_t)s * j->width + port];

			if (load > most &&
			    (load > j->n_cols || !leads_to_one(j, s, port))) {
				most = load;
			}
		}
	}
	return most;
}

static int compare_busy(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;

	if (x->load != y->load) {
		return x->load > y->load ? -1 : 1;
	}
	if (x->s != y->s) {
		return x->s < y->s ? -1 : 1;
	}
	return x->port < y->port ? -1 : x->port > y->port;
}

/* Do routes over this port count as load? The operator may have excluded it. */
static bool is_counted(const struct spread_job *j, uint32_t s, uint8_t port)
{
	return !spread_is_ignored(j->in->tune,
	                          j->g->nodes[j->g->switches[s]].first_port + port);
}

/* Stamps the switches on the route from s on, and notes which are behind the busy link. */
static void mark_route(struct rebalance *e, uint32_t s, const struct route *r)
{
	const struct spread_job *j = e->j;
	bool after = false;

	e->stamp++;
	for (;; e->work -= e->work > 0) {
		uint8_t port;

		e->on_route[s] = e->stamp;
		e->after[s] = after;
		if (s == r->t) {
			return;
		}
		port = lft_row(j->lft, s)[r->lid];
		after |= s == r->s && port == r->port;
		s = j->peer[(size_t)s * j->width + port];
	}
}

/* Is the entry that of the previous tables? Such entries stay. */
static bool is_kept(const struct spread_job *j, uint32_t s, uint32_t lid)
{
	uint8_t port = lft_row(j->lft, s)[lid];

	return j->prev && port != LFT_NO_ROUTE && lft_row(j->prev, s)[lid] == port;
}

/*
 * Load of the busiest link on the new path if the routes take this port. UINT32_MAX: a
 * link would get above the limit, or the path still passes the busy link. The marked route
 * is the present one. A switch that has no routes to the column yet chooses its port anew.
 */
static uint32_t try_port(struct rebalance *e, uint32_t s, uint8_t port, uint32_t flow,
                         const struct route *r)
{
	const struct spread_job *j = e->j;
	size_t at = (size_t)s * j->width + port;
	uint32_t here = is_counted(j, s, port) ? j->load[at] + flow : 0,
		 best = UINT32_MAX;
	struct spread_ports p;

	e->work -= e->work > 0;
	if (here > e->limit) {
		return UINT32_MAX;
	}
	s = j->peer[at];
	if (e->on_route[s] == e->stamp) {
		return e->after[s] ? here : UINT32_MAX;
	}
	if (j->flow[(size_t)s * j->n_cols + r->h] || is_kept(j, s, r->lid)) {
		best = try_port(e, s, lft_row(j->lft, s)[r->lid], flow, r);
		return best > here ? best : here;
	}
	spread_find_ports(j, s, r->t, &p);
	for (unsigned k = 0; k < p.n && best == UINT32_MAX && e->work; k++) {
		unsigned i = (e->start + k) % p.n;

		best = try_port(e, s, p.port[i], flow, r);
		lft_row(j->lft, s)[r->lid] = p.port[i];
	}
	return best > here ? best : here;
}

/* Adds the routes to the flow and load behind a port, up to the switch end. */
static void add_flow(const struct rebalance *e, uint32_t s, uint8_t port, uint32_t end,
                     uint32_t flow, const struct route *r)
{
	const struct spread_job *j = e->j;

	for (;; port = lft_row(j->lft, s)[r->lid]) {
		size_t at = (size_t)s * j->width + port;

		j->load[at] += is_counted(j, s, port) ? flow : 0;
		s = j->peer[at];
		if (s == end) {
			return;
		}
		j->flow[(size_t)s * j->n_cols + r->h] += (uint16_t)flow;
	}
}

/* Moves the routes of one switch off the busy link. Returns whether a path was found. */
static bool move_routes(struct rebalance *e, uint32_t s, const struct route *r)
{
	const struct spread_job *j = e->j;
	uint8_t *entry = lft_row(j->lft, s) + r->lid, old = *entry, best = old;
	uint32_t flow = j->flow[(size_t)s * j->n_cols + r->h], least = UINT32_MAX;
	struct spread_ports p;

	if (is_kept(j, s, r->lid) || !is_counted(j, s, old)) {
		return false;
	}
	spread_find_ports(j, s, r->t, &p);
	e->work -= e->work > p.n ? p.n : e->work;
	if (p.n < 2) {
		return false;
	}
	mark_route(e, s, r);
	for (unsigned k = 0, n_fit = 0; k < p.n && n_fit < ENOUGH; k++) {
		unsigned i = (e->start + k) % p.n;
		uint32_t most = p.port[i] == old ? UINT32_MAX
		                                 : try_port(e, s, p.port[i], flow, r);

		n_fit += most != UINT32_MAX;
		if (most < least) {
			least = most;
			best = p.port[i];
		}
	}
	if (best != old) {
		/* where the new path meets the marked route */
		uint32_t end = j->peer[(size_t)s * j->width + best];

		while (e->on_route[end] != e->stamp) {
			end = j->peer[(size_t)end * j->width +
			              lft_row(j->lft, end)[r->lid]];
		}
		add_flow(e, s, old, end, 0U - flow, r);
		*entry = best;
		add_flow(e, s, best, end, flow, r);
		e->start++;
	}
	return best != old;
}

/* Moves routes here, or else at the switches that they come from, until the link is at the
 * limit. */
static void relieve(struct rebalance *e, uint32_t s, const struct route *r)
{
	const struct spread_job *j = e->j;
	const struct graph *g = j->g;
	const uint32_t *load = &j->load[(size_t)r->s * j->width + r->port];

	if (move_routes(e, s, r)) {
		return;
	}
	for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
		uint32_t from = g->adj[i].to;

		if (*load <= e->limit || !e->work) {
			return;
		}
		if (lft_row(j->lft, from)[r->lid] == g->adj[i].to_port &&
		    j->flow[(size_t)from * j->n_cols + r->h]) {
			relieve(e, from, r);
		}
	}
}

/* Relieves one busy link, column after column. Returns whether it is at the limit now. */
static bool relieve_link(struct rebalance *e, const struct busy *b)
{
	const struct spread_job *j = e->j;
	const uint32_t *load = &j->load[(size_t)b->s * j->width + b->port];
	const uint16_t *flow = j->flow + (size_t)b->s * j->n_cols;
	const uint8_t *row = lft_row(j->lft, b->s);

	for (uint32_t i = 0; i<j->n_cols && * load> e->limit && e->work; i++) {
		uint32_t h = (uint32_t)((uint64_t)i * e->stride % j->n_cols);
		struct route r = { e->home[h], h, j->lid[h], b->s, b->port };

		if (row[r.lid] == b->port && flow[h] && r.t != b->s &&
		    !spread_is_ignored(j->in->tune, j->port[h])) {
			relieve(e, b->s, &r);
		}
	}
	return *load <= e->limit;
}

/* One round: relieves the links above the limit, the busiest first. Returns whether all
 * are at the limit now. */
static bool relieve_all(struct rebalance *e)
{
	const struct spread_job *j = e->j;
	const struct graph *g = j->g;
	uint32_t n = 0;
	bool all = true;

	for (uint32_t s = 0; s < j->n; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint8_t port = g->adj[i].port;
			uint32_t load = j->load[(size_t)s * j->width + port];

			if (load > e->limit &&
			    (load > j->n_cols || !leads_to_one(j, s, port))) {
				e->busy[n++] = (struct busy){ load, s, port };
			}
		}
	}
	qsort(e->busy, n, sizeof(*e->busy), compare_busy);
	e->work = (uint64_t)j->n * j->n_cols;
	for (uint32_t i = 0; i < n && e->work && !is_cancelled(j); i++) {
		all &= relieve_link(e, &e->busy[i]);
	}
	return all && e->work;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t remainder = a % b;

		a = b;
		b = remainder;
	}
	return a;
}

static int rebalance_init(struct rebalance *e, const struct spread_job *j,
                          struct arena *tmp)
{
	*e = (struct rebalance){ .j = j, .stride = j->n_cols * UINT64_C(618) / 1000 + 1 };
	while (common_divisor(e->stride, j->n_cols) > 1) {
		e->stride++;
	}
	e->home = arena_array(tmp, j->n_cols, sizeof(*e->home));
	for (uint32_t t = 0; e->home && t < j->n; t++) {
		for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++) {
			e->home[h] = t;
		}
	}
	e->busy = arena_array(tmp, j->g->n_adj, sizeof(*e->busy));
	e->on_route = arena_array(tmp, j->n, sizeof(*e->on_route));
	e->after = arena_array(tmp, j->n, sizeof(*e->after));
	return e->home && e->busy && e->on_route && e->after ? E_OK : -ENOMEM;
}

int spread_rebalance(const struct spread_job *j, struct arena *tmp)
{
	uint32_t least, most = busiest(j), share = 4;
	struct rebalance e;
	int ret = lower_bound(j, tmp, &least);

	if (ret != E_OK) {
		return ret;
	}
	least += least / CLOSE;
	if (most <= least || j->g->n_hosts >= SPREAD_FLOW_MAX) {
		return E_OK;
	}
	ret = rebalance_init(&e, j, tmp);
	for (int i = 0; ret == E_OK && i < ROUNDS && most > least + least / CLOSE; i++) {
		e.limit = least + (most - least) / share;
		if (!relieve_all(&e)) {
			least = e.limit + 1;
			share = 2;
		}
		most = busiest(j);
		ret = is_cancelled(j) ? -ECANCELED : E_OK;
	}
	return ret;
}

/* ---- tables that were filled elsewhere ---- */

static int load_tables(struct spread_job *j, const struct spread *in, unsigned offset,
                       struct lft *lft, struct arena *tmp)
{
	const struct graph *g = in->g;
	size_t width = (size_t)g->max_port + 1, cells = g->n_switches * width;

	*j = (struct spread_job){ .g = g,
		                  .lids = in->lids,
		                  .lft = lft,
		                  .hops = in->hops,
		                  .in = in,
		                  .n = g->n_switches,
		                  .width = (uint32_t)width,
		                  .first = g->host_first,
		                  .port = g->hosts,
		                  .n_cols = g->host_first[g->n_switches],
		                  .offset = offset };
	j->flow = arena_array(tmp, (size_t)j->n * j->n_cols, sizeof(*j->flow));
	j->lid = arena_array(tmp, j->n_cols, sizeof(*j->lid));
	j->load = arena_array(tmp, cells, sizeof(*j->load));
	j->peer = arena_array(tmp, cells, sizeof(*j->peer));
	if (!j->flow || !j->lid || !j->load || !j->peer) {
		return -ENOMEM;
	}
	memset(j->peer, 0xff, cells * sizeof(*j->peer));
	for (uint32_t s = 0; s < j->n; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			j->peer[s * width + g->adj[i].port] = g->adj[i].to;
		}
	}
	for (uint32_t h = 0; h < j->n_cols; h++) {
		struct lid_range r = in->lids->of[g->hosts[h]];

		j->lid[h] = r.base && offset >> r.lmc == 0 ? r.base + offset : 0;
		j->largest_lmc = r.lmc > j->largest_lmc ? r.lmc : j->largest_lmc;
	}
	j->prev = keep_has_shape(in->prev, lft) ? in->prev : NULL;
	return E_OK;
}

/* Counting sort: the switches that have a distance to t, the furthest first. Returns how
 * many. */
static uint32_t sort_by_distance(const struct hops *h, uint32_t t, uint32_t *order)
{
	uint32_t fill[HOPS_NONE + 1] = { 0 }, sum = 0;

	for (uint32_t s = 0; s < h->n; s++) {
		fill[hops_between(h, s, t)]++;
	}
	for (unsigned d = HOPS_NONE; d-- > 0;) {
		uint32_t count = fill[d];

		fill[d] = sum;
		sum += count;
	}
	for (uint32_t s = 0; s < h->n; s++) {
		unsigned d = hops_between(h, s, t);

		if (d != HOPS_NONE) {
			order[fill[d]++] = s;
		}
	}
	return sum;
}

/* Flow to the hosts of one switch: each switch adds its own routes and passes all on. */
static void count_flow(const struct spread_job *j, uint32_t t, uint32_t *order)
{
	const struct graph *g = j->g;
	uint32_t n = sort_by_distance(j->hops, t, order);

	for (uint32_t i = 0; i < n && order[i] != t; i++) {
		uint32_t s = order[i], hosts = g->host_first[s + 1] - g->host_first[s];
		const uint8_t *row = lft_row(j->lft, s);
		uint16_t *flow = j->flow + (size_t)s * j->n_cols;

		for (uint32_t h = j->first[t]; h < j->first[t + 1]; h++) {
			uint32_t lid = j->lid[h], to;

			flow[h] = (uint16_t)(flow[h] + (lid ? hosts : 0));
			to = flow[h] ? j->peer[(size_t)s * j->width + row[lid]] : t;
			if (to != t) {
				uint16_t *there = j->flow + (size_t)to * j->n_cols + h;

				*there = (uint16_t)(*there + flow[h]);
			}
		}
	}
}

/* Adds the load of routes between switches that have no distance: it does not move. */
static void count_fixed(const struct spread_job *j)
{
	const struct graph *g = j->g;

	for (uint32_t from = 0; from < j->n; from++) {
		uint32_t hosts = g->host_first[from + 1] - g->host_first[from];

		for (uint32_t h = 0, t = 0; hosts && h < j->n_cols; h++) {
			uint32_t lid = j->lid[h], s = from;

			while (h >= j->first[t + 1]) {
				t++;
			}
			if (!lid || hops_between(j->hops, s, t) != HOPS_NONE) {
				continue;
			}
			for (uint32_t steps = 0; s != t && steps < j->n; steps++) {
				uint8_t port = lft_row(j->lft, s)[lid];
				size_t at = (size_t)s * j->width + port;

				if (port >= j->width || j->peer[at] == GRAPH_NONE) {
					break;
				}
				j->load[at] += hosts;
				s = j->peer[at];
			}
		}
	}
}

int spread_rebalance_tables(const struct spread *in, unsigned offset, struct lft *lft,
                            struct arena *tmp)
{
	struct spread_job j;
	int ret = load_tables(&j, in, offset, lft, tmp);
	uint32_t *order = arena_array(tmp, column_threads(), j.n * sizeof(*order));

	if (ret != E_OK || !order || j.n_cols >= SPREAD_FLOW_MAX) {
		return ret == E_OK && !order ? -ENOMEM : ret;
	}
#pragma omp parallel for schedule(dynamic, 4)
	for (uint32_t t = 0; t < j.n; t++) {
		if (j.first[t] != j.first[t + 1]) {
			count_flow(&j, t, order + (size_t)column_thread() * j.n);
		}
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < j.n; s++) {
		const uint16_t *flow = j.flow + (size_t)s * j.n_cols;
		const uint8_t *row = lft_row(lft, s);

		for (uint32_t h = 0; h < j.n_cols; h++) {
			if (flow[h]) {
				j.load[(size_t)s * j.width + row[j.lid[h]]] += flow[h];
			}
		}
	}
	count_fixed(&j);
	return spread_rebalance(&j, tmp);
}

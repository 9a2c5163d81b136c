/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Evening out: the second half of spreading, for fabrics that are not even themselves.
 *
 * When a switch chooses a port it sees the load of its own ports, not of the links
 * further on. In a whole tree that is enough, as all switches deal in step. Where cables
 * are missing, or leaves differ in size, they fall out of step and some links far from
 * any choice get several times their share.
 *
 * There is a load that the busiest link has at least: the mean, and what comes out of the
 * hosts of one switch over the links that the switch has. A limit is set a quarter of the
 * way from there to the load of the busiest link now. The links above it are relieved one
 * after the other, the busiest first: routes over the link move to ways on which no link
 * gets above the limit, here or else where they come from, until the link is at the
 * limit. Then the limit is set anew; one that was not reached takes the place of the
 * bound. So routes move only where the busiest links gain by it. All others stay: that
 * the routes to a host come together early is worth more than links that are evener
 * still.
 *
 * A move never takes a link above the limit, so a round ends, and each narrows the gap
 * between bound and busiest link. The work is bounded by a count of links looked at, not
 * by time, and done by one thread, so the result is the same each time. A round looks at
 * as many links as the tables have entries: on a torus, where most links are above the
 * limit, four times as many took the busiest link a twelfth lower, in four times the time.
 */
#include "routing/spread/spread_job.h"

#include <errno.h>
#include <stdlib.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/tables.h"
#include "routing/spread/leaves.h"
#include "routing/spread/spread_options.h"
#include "routing/spread/spread_plan.h"

enum { ROUNDS = 6, WORK_PER_ENTRY = 1, CLOSE = 50, ENOUGH = 3 };

/* A directed link: its place in load, and the load when the round began. */
struct busy {
	uint32_t load;
	uint32_t s;
	uint8_t port;
};

struct even {
	const struct spread_job *j;
	uint32_t limit;    /* routes per link that are not too many */
	struct busy *busy; /* [links] room for those above the limit */
	uint32_t *on_way;  /* [n] stamp of the last way that passed the switch */
	uint32_t *after;   /* [n] is it behind the busy link on that way? */
	uint32_t stamp;
	uint32_t *home;  /* [columns] switch of a column */
	uint32_t stride; /* from one column to the next that is looked at */
	uint64_t work; /* links that may still be looked at in this round */
	uint32_t turn; /* where the next search for a way begins */
};

/* A route to column h, of switch t, whose way passes the busy link of switch s. */
struct route {
	uint32_t t, h, lid;
	uint32_t s;
	uint8_t port;
};

/*
 * What the busiest link carries at least: all that comes out of the hosts of one switch or
 * pod, or its share of what all links carry, as no way gets shorter. Of a plan a link may also
 * carry all routes to one host, as the host's own link does, up to two fifths above the
 * mean: parted they would be in the way of others.
 */
static int least_possible(const struct spread_job *j, struct arena *tmp, uint32_t *ret)
{
	const struct graph *g = j->g;
	uint64_t sum = 0, most;
	int err = leaves_least_load(g, j->plan != NULL, tmp, &most);

	if (err != E_OK) {
		return err;
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
	*ret = most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
	return E_OK;
}

static bool is_cancelled(const struct spread_job *j)
{
	return j->in->cancel && *j->in->cancel;
}

/* Do all routes over a link lead to one LID? With an LMC the other LIDs of the port have
 * routes, too: then its cable is no measure. */
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

/* The busiest link, without those that are never more of a bottleneck than the cable of
 * the one host that all their routes lead to. Spreading these would make two shares meet
 * where no routes met. */
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

/* The links above the limit, the busiest first. */
static uint32_t find_busy(const struct even *e)
{
	const struct graph *g = e->j->g;
	uint32_t n = 0;

	for (uint32_t s = 0; s < e->j->n; s++) {
		for (uint32_t i = g->adj_first[s]; i < g->adj_first[s + 1]; i++) {
			uint32_t load =
				e->j->load[(size_t)s * e->j->width + g->adj[i].port];

			if (load > e->limit && (load > e->j->n_cols ||
			                        !leads_to_one(e->j, s, g->adj[i].port))) {
				e->busy[n++] = (struct busy){ load, s, g->adj[i].port };
			}
		}
	}
	qsort(e->busy, n, sizeof(*e->busy), compare_busy);
	return n;
}

/* Does the operator want routes over this port counted? */
static bool counts(const struct spread_job *j, uint32_t s, uint8_t port)
{
	return !spread_is_ignored(j->in->tune,
	                          j->g->nodes[j->g->switches[s]].first_port + port);
}

/* Stamps the switches of the way from s on, and which of them are behind the busy link.
 */
static void mark_way(struct even *e, uint32_t s, const struct route *r)
{
	const struct spread_job *j = e->j;
	bool after = false;

	e->stamp++;
	for (;; e->work -= e->work > 0) {
		uint8_t port;

		e->on_way[s] = e->stamp;
		e->after[s] = after;
		if (s == r->t) {
			return;
		}
		port = lft_row(j->lft, s)[r->lid];
		after |= s == r->s && port == r->port;
		s = j->peer[(size_t)s * j->width + port];
	}
}

static void find_ports(const struct even *e, uint32_t s, const struct route *r,
                       struct spread_ports *ret)
{
	const struct spread_job *j = e->j;
	uint32_t first = j->g->adj_first[s];

	j->in->closer(j->in->ctx, s, r->t, j->g->adj + first,
	              j->g->adj_first[s + 1] - first, SPREAD_PORTS_MAX, ret);
}

/* Is it what the previous tables say? Such entries stay. What no host uses has none yet. */
static bool is_kept(const struct spread_job *j, uint32_t s, uint32_t lid)
{
	uint8_t port = lft_row(j->lft, s)[lid];

	return j->prev && port != LFT_NO_ROUTE && lft_row(j->prev, s)[lid] == port;
}

/*
 * The busiest link when the routes take a port, UINT32_MAX: one gets above the limit, or
 * the way still passes the busy link. The way that is marked is the present one. Who has
 * no routes to the column yet chooses anew.
 */
static uint32_t try_port(struct even *e, uint32_t s, uint8_t port, uint32_t flow,
                         const struct route *r)
{
	const struct spread_job *j = e->j;
	size_t at = (size_t)s * j->width + port;
	uint32_t here = counts(j, s, port) ? j->load[at] + flow : 0, best = UINT32_MAX;
	struct spread_ports p;

	e->work -= e->work > 0;
	if (here > e->limit) {
		return UINT32_MAX;
	}
	s = j->peer[at];
	if (e->on_way[s] == e->stamp) {
		return e->after[s] ? here : UINT32_MAX;
	}
	if (j->flow[(size_t)s * j->n_cols + r->h] || is_kept(j, s, r->lid)) {
		best = try_port(e, s, lft_row(j->lft, s)[r->lid], flow, r);
		return best > here ? best : here;
	}
	find_ports(e, s, r, &p);
	for (unsigned k = 0; k < p.n && best == UINT32_MAX && e->work; k++) {
		unsigned i = (e->turn + k) % p.n;

		best = try_port(e, s, p.port[i], flow, r);
		lft_row(j->lft, s)[r->lid] = p.port[i];
	}
	return best > here ? best : here;
}

/* Adds the routes to all that comes behind a port, up to where the marked ways meet. */
static void add_flow(const struct even *e, uint32_t s, uint8_t port, uint32_t end,
                     uint32_t flow, const struct route *r)
{
	const struct spread_job *j = e->j;

	for (;; port = lft_row(j->lft, s)[r->lid]) {
		size_t at = (size_t)s * j->width + port;

		j->load[at] += counts(j, s, port) ? flow : 0;
		s = j->peer[at];
		if (s == end) {
			return;
		}
		j->flow[(size_t)s * j->n_cols + r->h] += (uint16_t)flow;
	}
}

/* Where the way behind a port meets the marked one. */
static uint32_t meeting(const struct even *e, uint32_t s, uint8_t port,
                        const struct route *r)
{
	const struct spread_job *j = e->j;

	s = j->peer[(size_t)s * j->width + port];
	while (e->on_way[s] != e->stamp) {
		s = j->peer[(size_t)s * j->width + lft_row(j->lft, s)[r->lid]];
	}
	return s;
}

/* Moves the routes of one switch off the busy link. \return false: there is no way. */
static bool move(struct even *e, uint32_t s, const struct route *r)
{
	const struct spread_job *j = e->j;
	uint8_t *entry = lft_row(j->lft, s) + r->lid, old = *entry, best = old;
	uint32_t flow = j->flow[(size_t)s * j->n_cols + r->h], least = UINT32_MAX;
	struct spread_ports p;

	if (is_kept(j, s, r->lid) || !counts(j, s, old)) {
		return false;
	}
	find_ports(e, s, r, &p);
	e->work -= e->work > p.n ? p.n : e->work;
	if (p.n < 2) {
		return false;
	}
	mark_way(e, s, r);
	for (unsigned k = 0, n_fit = 0; k < p.n && n_fit < ENOUGH; k++) {
		unsigned i = (e->turn + k) % p.n;
		uint32_t most = p.port[i] == old ? UINT32_MAX
		                                 : try_port(e, s, p.port[i], flow, r);

		n_fit += most != UINT32_MAX;
		if (most < least) {
			least = most;
			best = p.port[i];
		}
	}
	if (best != old) {
		uint32_t end = meeting(e, s, best, r);

		add_flow(e, s, old, end, 0U - flow, r);
		*entry = best;
		add_flow(e, s, best, end, flow, r);
		e->turn++;
	}
	return best != old;
}

/* Moves routes here, or else where they come from, until the link is at the limit. */
static void relieve(struct even *e, uint32_t s, const struct route *r)
{
	const struct spread_job *j = e->j;
	const struct graph *g = j->g;
	const uint32_t *load = &j->load[(size_t)r->s * j->width + r->port];

	if (move(e, s, r)) {
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

/* One busy link: column after column. \return Is it at the limit now? */
static bool relieve_link(struct even *e, const struct busy *b)
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

/* One round. \return Are all links at the limit? */
static bool relieve_all(struct even *e)
{
	uint32_t n = find_busy(e);
	bool all = true;

	e->work = (uint64_t)e->j->n * e->j->n_cols * WORK_PER_ENTRY;
	for (uint32_t i = 0; i < n && e->work && !is_cancelled(e->j); i++) {
		all &= relieve_link(e, &e->busy[i]);
	}
	return all && e->work;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static int even_init(struct even *e, const struct spread_job *j, struct arena *tmp)
{
	*e = (struct even){ .j = j, .stride = j->n_cols * UINT64_C(618) / 1000 + 1 };
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
	e->on_way = arena_array(tmp, j->n, sizeof(*e->on_way));
	e->after = arena_array(tmp, j->n, sizeof(*e->after));
	return e->home && e->busy && e->on_way && e->after ? E_OK : -ENOMEM;
}

int spread_even(const struct spread_job *j, struct arena *tmp)
{
	uint32_t least, most = busiest(j), part = 4;
	struct even e;
	int ret = least_possible(j, tmp, &least);

	if (ret != E_OK) {
		return ret;
	}
	least += least / CLOSE;
	if (most <= least || j->g->n_hosts >= SPREAD_FLOW_MAX) {
		return E_OK;
	}
	ret = even_init(&e, j, tmp);
	for (int i = 0; ret == E_OK && i < ROUNDS && most > least + least / CLOSE; i++) {
		e.limit = least + (most - least) / part;
		if (!relieve_all(&e)) {
			least = e.limit + 1;
			part = 2;
		}
		most = busiest(j);
		ret = is_cancelled(j) ? -ECANCELED : E_OK;
	}
	return ret;
}

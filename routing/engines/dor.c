/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * dor: dimension-order routing over shortest paths.
 *
 * At each switch the dimensions are ordered by port, or as port_search_ordering_file says.
 * Of the neighbours one hop closer to the destination, the route takes the one in the lowest
 * dimension, whatever the load. So the switches of a route depend on its two end switches
 * only. Parallel cables are one dimension: the LIDs are spread over them, each to the cable
 * with the fewest routes. The weight of a LID is the number of hosts whose route to it
 * passes the switch, which is known before any cable is chosen. Ports in
 * port_prof_ignore_file do not count routes, so the first of such cables takes all. A
 * further LID of a port under an LMC takes the cable that its lower LIDs use least. The
 * other options of the balancing stage (routing/spread/spread_options.h) also act on the
 * choice between parallel cables.
 *
 * On an open mesh and a hypercube with consistent cabling every path crosses the dimensions
 * in one order, so channel dependencies form no cycle (Dally and Seitz 1987, "Deadlock-free
 * message routing in multiprocessor interconnection networks"). Rings and inconsistent
 * cables break this. Routes are computed anyway, the notes name the place, and the proof
 * decides.
 *
 * Tables of an earlier run are kept where they agree with the dimension; they may decide the
 * cable within it.
 *
 * Difference from OpenSM: OpenSM keeps an existing entry on a shortest path even if it is not
 * in dimension order, and counts LIDs whose routes do not pass. This engine does neither,
 * because the manual promises the order and the balance.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/option.h"
#include "routing/engine.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"
#include "routing/spread/dims.h"
#include "routing/spread/spread_options.h"
#include "routing/text/portfile.h"

enum { NONE = 0xff, PORTS_MAX = 256, NOBODY = 0xffff };

struct dor_options {
	struct spread_options spread;
};

struct dor {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *prev; /* NULL: none that fits */
	struct lft *lft;
	struct spread_tune tune;
	struct hops hops;
	struct dims dims;
	uint32_t n;
	uint16_t *home; /* [top + 1] switch on which the owner of a LID hangs, NOBODY */
	/* [n][hops.stride] dimension of s (its place among dims) towards t */
	uint8_t *next;
	/* [t][n] hosts whose route to t passes s; NULL: no parallel cables */
	uint32_t *flow;
	unsigned passes; /* LIDs of the port that has most */
};

static const struct dim *dims_of(const struct dor *j, uint32_t s)
{
	return j->dims.dim + j->dims.first[s];
}

/* Hosts on each switch, then everybody passes theirs on, from the farthest. */
static void count_flow(const struct dor *j, uint32_t t)
{
	uint32_t *flow = j->flow + (size_t)t * j->n;

	for (uint32_t s = 0; s < j->n; s++) {
		flow[s] = j->g->host_first[s + 1] - j->g->host_first[s];
	}
	for (unsigned d = j->hops.diameter; d > 1; d--) {
		uint32_t n;
		const uint16_t *at = hops_at(&j->hops, t, d, &n);

		for (uint32_t i = 0; i < n; i++) {
			uint8_t dim = j->next[(size_t)at[i] * j->hops.stride + t];

			flow[dims_of(j, at[i])[dim].to] += flow[at[i]];
		}
	}
}

/* Entries where there is no choice: single cables and the switch's own ports. */
static void fill_single(const struct dor *j, uint32_t s)
{
	const struct graph *g = j->g;
	const uint8_t *next = j->next + (size_t)s * j->hops.stride;
	uint8_t *row = lft_row(j->lft, s), port[NONE + 1];

	memset(port, LFT_NO_ROUTE, sizeof(port));
	for (uint32_t i = 0; i < j->dims.first[s + 1] - j->dims.first[s]; i++) {
		const struct dim *x = &dims_of(j, s)[i];

		port[i] = x->n == 1 ? j->dims.port[x->ports] : LFT_NO_ROUTE;
	}
	for (uint32_t lid = 1; lid <= j->lids->top; lid++) {
		uint32_t t = j->home[lid];

		if (t == s) {
			uint32_t owner = j->lids->owner[lid];

			row[lid] = g->ports[owner].num
			                   ? g->ports[g->ports[owner].peer].num
			                   : 0;
		} else if (t != NOBODY) {
			row[lid] = port[next[t]];
		}
	}
}

/* ---- parallel cables ---- */

/* One switch that deals LIDs over its parallel cables. */
struct dealer {
	const struct dor *j;
	uint32_t s;
	uint8_t *row;
	const uint8_t *old; /* NULL: no earlier tables */
	uint32_t load[PORTS_MAX];
};

static void give(struct dealer *w, uint32_t lid, uint8_t port, uint32_t flow)
{
	const struct graph *g = w->j->g;
	const struct spread_tune *tune = &w->j->tune;
	bool counts = !spread_is_ignored(tune, graph_port(g, g->switches[w->s], port)) &&
	              !spread_is_ignored(tune, w->j->lids->owner[lid]);

	w->row[lid] = port;
	w->load[port] += counts ? flow : 0;
}

/* Port shifting: one cable further with each round of routes that the cables carry. */
static unsigned first_cable(const struct dealer *w, const struct dim *x, uint32_t flow)
{
	const uint8_t *port = w->j->dims.port + x->ports;
	uint64_t sum = 0;

	if (!w->j->tune.shifting || !flow) {
		return 0;
	}
	for (unsigned i = 0; i < x->n; i++) {
		sum += w->load[port[i]];
	}
	return (unsigned)(sum / flow / x->n % x->n);
}

/* Is a random one of equal cables asked for, for this end port? */
static bool is_scattered(const struct dealer *w, uint32_t host, unsigned k)
{
	const struct spread_tune *tune = &w->j->tune;

	return tune->seed && k == 0 && host != GRAPH_NONE &&
	       !(tune->no_scatter && tune->is_listed && tune->is_listed[host]);
}

/* The cable that lower LIDs of the port use least, then the least loaded, then the first,
 * or one by chance. \param host  Index in graph.hosts, GRAPH_NONE: a switch. */
static uint8_t pick(const struct dealer *w, const struct dim *x, uint32_t base,
                    unsigned k, uint32_t host, uint32_t flow)
{
	const uint8_t *port = w->j->dims.port + x->ports;
	uint64_t key[PORTS_MAX], best = UINT64_MAX;
	unsigned start = first_cable(w, x, flow), n = 0, nth = 0;

	for (unsigned i = 0; i < x->n; i++) {
		uint64_t uses = 0;

		for (unsigned l = 0; l < k; l++) {
			uses += w->row[base + l] == port[i];
		}
		key[i] = uses << 32 | w->load[port[i]];
		n = key[i] < best ? 1 : n + (key[i] == best);
		best = key[i] < best ? key[i] : best;
	}
	if (is_scattered(w, host, k)) {
		uint32_t node = w->j->g->switches[w->s];

		nth = (unsigned)(spread_scatter(&w->j->tune, w->j->g->nodes[node].guid,
		                                base) % n);
	}
	for (;; start = (start + 1) % x->n) {
		if (key[start] == best && nth-- == 0) {
			return port[start];
		}
	}
}

/* LID number k of an end port at another switch. \param host  As for pick(). \param keep
 * Only what earlier tables say. */
static void deal_port(struct dealer *w, const struct dim *x, uint32_t port, uint32_t host,
                      unsigned k, uint32_t flow, bool keep)
{
	struct lid_range r = w->j->lids->of[port];
	uint32_t lid = r.base + k;

	if (!r.base || k >> r.lmc) {
		return;
	}
	if (keep && (memchr(w->j->dims.port + x->ports, w->old[lid], x->n) != NULL)) {
		give(w, lid, w->old[lid], flow);
	} else if (!keep && w->row[lid] == LFT_NO_ROUTE) {
		give(w, lid, pick(w, x, r.base, k, host, flow), flow);
	}
}

/* The cables towards a switch, NULL: no choice. */
static const struct dim *cables_to(const struct dealer *w, uint32_t t)
{
	uint8_t next = w->j->next[(size_t)w->s * w->j->hops.stride + t];
	const struct dim *x = next == NONE ? NULL : &dims_of(w->j, w->s)[next];

	return x && x->n > 1 ? x : NULL;
}

/* The hosts that are listed choose first, in the order of the list. */
static void deal_listed(struct dealer *w, unsigned k)
{
	const struct dor *j = w->j;

	for (uint32_t i = 0; i < j->tune.n_listed; i++) {
		uint32_t h = j->tune.listed[i], port = j->g->hosts[h],
			 t = graph_switch_of(j->g, port);
		const struct dim *x = cables_to(w, t);

		if (x) {
			deal_port(w, x, port, h, k, j->flow[(size_t)t * j->n + w->s],
			          false);
		}
	}
}

static void deal_pass(struct dealer *w, unsigned k, bool keep)
{
	const struct dor *j = w->j;
	const struct graph *g = j->g;

	for (uint32_t t = 0; t < j->n; t++) {
		const struct dim *x = cables_to(w, t);
		uint32_t flow = j->flow[(size_t)t * j->n + w->s];

		if (!x) {
			continue;
		}
		for (uint32_t h = g->host_first[t]; h < g->host_first[t + 1]; h++) {
			deal_port(w, x, g->hosts[h], h, k, flow, keep);
		}
		deal_port(w, x, graph_port(g, g->switches[t], 0), GRAPH_NONE, k,
		          j->tune.switch_nodes ? flow : 0, keep);
	}
}

/* ---- the whole ---- */

static bool has_parallel(const struct dims *d)
{
	for (uint32_t i = 0; i < d->first[d->n]; i++) {
		if (d->dim[i].n > 1) {
			return true;
		}
	}
	return false;
}

static void find_homes(struct dor *j)
{
	for (uint32_t lid = 0; lid <= j->lids->top; lid++) {
		uint32_t owner = j->lids->owner[lid];
		uint32_t s =
			owner == GRAPH_NONE ? GRAPH_NONE : graph_switch_of(j->g, owner);

		j->home[lid] = s == GRAPH_NONE ? NOBODY : (uint16_t)s;
	}
	for (uint32_t i = 0; i < j->g->n_end_ports; i++) {
		unsigned n = 1u << j->lids->of[j->g->end_ports[i]].lmc;

		j->passes = n > j->passes ? n : j->passes;
	}
}

static int read_options(struct dor *j, const struct route_in *in, struct arena *tmp,
                        struct why *notes)
{
	const struct dor_options *o = in->options;
	struct spread_options spread = { .search = NULL };
	uint8_t *order = NULL;
	int ret = portfile_order(j->g, o ? o->spread.search : NULL, tmp, notes, &order);

	if (o) {
		spread = o->spread;
		spread.search = NULL; /* it is the order of dimensions here */
	}
	if (ret == E_OK) {
		ret = spread_tune_init(&j->tune, &spread, j->g, tmp, notes);
	}
	return ret == E_OK ? dims_init(&j->dims, j->g, order, tmp) : ret;
}

static int job_init(struct dor *j, const struct route_in *in, struct lft *lft,
                    struct arena *tmp, struct why *notes)
{
	*j = (struct dor){
		.g = in->g, .lids = in->lids, .lft = lft, .n = in->g->n_switches
	};
	if (in->prev && in->prev->n_switches == lft->n_switches &&
	    in->prev->n_lids == lft->n_lids) {
		j->prev = in->prev;
	}
	int ret = hops_init(&j->hops, in->g, tmp);
	if (ret == E_RANGE) {
		why_add(notes,
		        "dor: two switches are more than %u hops apart, or there are more than %u switches",
		        HOPS_NONE - 1U, UINT16_MAX);
		return E_UNSUITABLE;
	}
	if (ret == E_OK) {
		ret = read_options(j, in, tmp, notes);
	}
	if (ret != E_OK) {
		return ret;
	}
	j->next = arena_array(tmp, j->n, j->hops.stride);
	j->home = arena_array(tmp, (size_t)in->lids->top + 1, sizeof(*j->home));
	if (has_parallel(&j->dims)) {
		j->flow = arena_array(tmp, (size_t)j->n * j->n, sizeof(*j->flow));
		ret = j->flow ? E_OK : -ENOMEM;
	}
	return j->next && j->home ? ret : -ENOMEM;
}

static int fill_tables(struct dor *j, const _Atomic bool *cancel)
{
	find_homes(j);
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < j->n; s++) {
		const uint8_t *dist = j->hops.dist + (size_t)s * j->hops.stride;
		uint8_t *next = j->next + (size_t)s * j->hops.stride;

		/* The lowest dimension that leads closer, for all destinations: the
		 * last to be written. */
		memset(next, NONE, j->hops.stride);
		for (uint32_t i = j->dims.first[s + 1] - j->dims.first[s]; i-- > 0;) {
			const uint8_t *near = j->hops.dist + (size_t)dims_of(j, s)[i].to *
			                                             j->hops.stride;

			for (size_t t = 0; t < j->hops.stride; t++) {
				next[t] = (uint8_t)(near[t] + 1) == dist[t] && dist[t]
				                  ? (uint8_t)i
				                  : next[t];
			}
		}
		fill_single(j, s);
	}
	if (cancel && *cancel) {
		return -ECANCELED;
	}
	if (!j->flow) {
		return E_OK;
	}
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t t = 0; t < j->n; t++) {
		count_flow(j, t);
	}
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t s = 0; s < j->n; s++) {
		struct dealer w = { .j = j,
			            .s = s,
			            .row = lft_row(j->lft, s),
			            .old = j->prev ? lft_row(j->prev, s) : NULL };

		for (unsigned k = 0; k < j->passes; k++) {
			if (w.old) {
				deal_pass(&w, k, true);
			}
			deal_listed(&w, k);
			deal_pass(&w, k, false);
		}
	}
	return E_OK;
}

static int dor_route(const struct route_in *in, struct arena *a,
                     struct route_out *ret_out)
{
	struct arena *tmp = arena_new();
	struct lft lft;
	struct dor j;
	int ret = -ENOMEM;

	if (!tmp || lft_init(&lft, in->g->n_switches, in->lids->top, a) != E_OK) {
		goto out;
	}
	ret = job_init(&j, in, &lft, tmp, &ret_out->notes);
	if (ret == E_OK) {
		ret = dims_judge(&j.dims, in->g, &ret_out->notes);
	}
	if (ret == E_OK) {
		ret = fill_tables(&j, in->cancel);
	}
	if (ret == E_OK) {
		ret_out->lft = lft;
		ret_out->lanes = (struct lanes){ .n = 1 };
	}
out:
	arena_free(tmp);
	return ret;
}

/* clang-format off */
static const struct option_row dor_options[] = {
	SPREAD_OPTION_ROWS(struct dor_options, spread),
	{ .name = NULL },
};
/* clang-format on */

const struct engine engine_dor = {
	.name = "dor",
	.adaptive_name = "ar_dor",
	.summary = "Dimension order: free of credit loops on open meshes and hypercubes",
	.deadlock_free_order = 25,
	.options = dor_options,
	.opt_size = sizeof(struct dor_options),
	.route = dor_route,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * dfsssp: the paths of sssp, made free of credit loops by virtual lanes.
 *
 * 1. Hosts: shortest paths by weights (sssp_fill.c). On a mesh, torus or hypercube only
 *    dimension-order paths are used, because free choice would need many more lanes. Half
 *    around a ring both directions are equally long: destinations with odd coordinates are
 *    reached upwards, those with even ones downwards. This needs four lanes on a torus of
 *    three dimensions.
 * 2. Layers: the routes are divided so that no layer has a cycle (dfsssp_fit.c,
 *    dfsssp_layers.c). If this needs more layers than there are lanes, the fabric is refused.
 * 3. Management: routes from switches without hosts are placed around these. The LID of a
 *    switch with hosts is routed like one of its hosts. The LID of another switch is routed
 *    by an up/down order of all switches. Such routes have no cycle among themselves, so all
 *    of them use one layer. Routes that fit no lane use the first one and are noted, because
 *    management pairs do not fail the proof.
 * 4. Spare lanes share the routes of the fullest layers. The lane of a route is a function of
 *    its LID, so it does not change while the LID and the number of lanes stay.
 *
 * Earlier tables: if the paths of the last run can stay (sssp_fill.c), unchanged routes stay
 * on their lanes and the others are fitted around them (routing/spread/keep_routes.c). If
 * this fails, steps 1 to 4 start from nothing.
 *
 * Difference from OpenSM 3.3.23: there the lane of a path is drawn at random among the lanes
 * of its layer at each query.
 *
 * Source: J. Domke, T. Hoefler, W. Nagel, "Deadlock-Free Oblivious Routing for Arbitrary
 * Topologies", IPDPS 2011.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engine.h"
#include "routing/engines/sssp/dfsssp_grid.h"
#include "routing/engines/sssp/dfsssp_layers.h"
#include "routing/engines/sssp/sssp_fill.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/spread/keep.h"
#include "routing/spread/leaves.h"
#include "routing/spread/updown.h"

enum { LANES_MAX = 15 };

struct job {
	const struct route_in *in;
	const struct graph *g;
	const struct lids *lids;
	struct lft lft;
	struct layers layers;
	bool in_dimensions; /* the paths are in dimension order */
	bool anew;          /* earlier tables are not used */
	unsigned n_lanes;   /* used */
	unsigned max;       /* lanes available */
	struct why *notes;
};

static struct lid_range range_of_switch(const struct job *j, uint32_t s)
{
	return j->lids->of[j->g->nodes[j->g->switches[s]].first_port];
}

/* ---- paths ---- */

static int route_hosts(struct job *j, const struct lft *prev, bool *ret_kept,
                       struct arena *tmp)
{
	struct sssp sssp = {
		.g = j->g,
		.lids = j->lids,
		.options = j->in->options,
		.prev = prev,
		.hosts_only = true,
		.cancel = j->in->cancel,
	};
	struct dfsssp_grid grid;
	int ret = dfsssp_dimensions(j->g, tmp, &grid);

	if (ret == E_OK) {
		j->in_dimensions = grid.dimension;
		sssp.dimension = grid.dimension;
		sssp.up = grid.up;
		sssp.odd = grid.odd;
		ret = sssp_fill(&sssp, &j->lft, ret_kept, j->notes, tmp);
	}
	return ret;
}

/* The LIDs of switches without hosts, and nothing else. */
static int lids_without_hosts(const struct job *j, struct arena *tmp,
                              struct lids *ret_lids)
{
	struct lids l = { .top = j->lids->top };

	l.of = arena_array(tmp, j->g->n_ports, sizeof(*l.of));
	l.owner = arena_array(tmp, (size_t)l.top + 1, sizeof(*l.owner));
	if (!l.of || !l.owner) {
		return -ENOMEM;
	}
	memset(l.owner, 0xff, ((size_t)l.top + 1) * sizeof(*l.owner));
	for (uint32_t s = 0; s < j->g->n_switches; s++) {
		uint32_t port = j->g->nodes[j->g->switches[s]].first_port;
		struct lid_range r = j->lids->of[port];

		if ((j->g->host_first[s + 1] > j->g->host_first[s]) || !r.base) {
			continue;
		}
		l.of[port] = r;
		for (uint32_t k = 0; k < 1U << r.lmc; k++) {
			l.owner[r.base + k] = port;
			l.count++;
		}
	}
	*ret_lids = l;
	return E_OK;
}

/* Up/down routes to these LIDs; the farther a switch is from hosts, the higher it
 * ranks. */
static int route_switches(struct job *j, const struct lids *lids, const struct lft *prev,
                          struct arena *tmp)
{
	struct updown_rule rule = { .by_depth = true };
	struct updown u;
	uint16_t *rank;
	uint32_t *pos;
	int ret = leaves_heights(j->g, tmp, &rank);

	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t s = 0; s < j->g->n_switches; s++) {
		rank[s] = (uint16_t)(UPDOWN_RANK_NONE - rank[s]);
	}
	rule.rank = rank;
	ret = updown_order(j->g, &rule, tmp, &pos, NULL);
	if (ret == E_OK) {
		ret = updown_init(&u, j->g, pos, tmp);
	}
	if (ret == E_OK) {
		const struct spread spread = {
			.g = j->g,
			.lids = lids,
			.hops = &u.hops,
			.closer = updown_closer,
			.ctx = &u,
			.prev = prev,
			.cancel = j->in->cancel,
		};

		ret = spread_run(&spread, &j->lft, tmp);
	} else if (ret == E_RANGE) {
		why_add(j->notes,
		        "dfsssp: an up/down path of more than %u hops, or more than %u switches",
		        HOPS_NONE - 1U, UINT16_MAX);
		ret = E_UNSUITABLE;
	}
	return ret;
}

/* ---- lanes ---- */

static int place_hosts(struct job *j)
{
	unsigned n;
	int ret = layers_place_hosts(&j->layers, j->in_dimensions, &n);

	if (ret != E_OK) {
		return ret;
	}
	if (n > j->max) {
		why_add(j->notes, "dfsssp: needs %s%u lanes, there are %u",
		        n > LAYERS_MAX ? "more than " : "",
		        n > LAYERS_MAX ? (unsigned)LAYERS_MAX : n, j->max);
		return E_UNSUITABLE;
	}
	j->n_lanes = n;
	return E_OK;
}

static int place_management(struct job *j, const struct lids *switches, struct arena *tmp)
{
	uint64_t left;
	int ret = layers_place_management(&j->layers, j->max, &j->n_lanes, &left);

	if (ret == E_OK && left) {
		why_add(j->notes,
		        "dfsssp: %" PRIu64
		        " routes from switches without hosts fit in no lane: management traffic can deadlock",
		        left);
	}
	if (ret == E_OK && switches->count) {
		ret = route_switches(j, switches, NULL, tmp);
	}
	if (ret == E_OK && switches->count) {
		uint8_t layer = 0;

		/* routes to switches without hosts: a used layer, a new one, or the
		 * first */
		while (layer < j->n_lanes && !layers_fit_switches(&j->layers, layer)) {
			layer++;
		}
		if (layer == j->max) {
			layers_fit_switches(&j->layers, 0);
			why_add(j->notes,
			        "dfsssp: no lane left for routes to switches without hosts: management traffic can deadlock");
		} else if (layer == j->n_lanes) {
			layers_fit_switches(&j->layers, layer);
			j->n_lanes++;
		}
	}
	return ret;
}

/* ---- spare lanes ---- */

struct lane_shares {
	unsigned parts[LANES_MAX];          /* lanes of a layer */
	uint8_t lane[LANES_MAX][LANES_MAX]; /* [layer][part] */
};

/* The lane of a LID among those of its layer; adjacent LIDs get different lanes. */
static unsigned lane_index(uint32_t lid, unsigned parts)
{
	return (unsigned)((uint64_t)(lid * UINT32_C(2654435769)) * parts >> 32);
}

static void use_spare_lanes(struct job *j)
{
	struct lane_shares sh;
	uint64_t load[LANES_MAX];

	if (j->n_lanes >= j->in->max_lanes) {
		return;
	}
	uint64_t sum[LANES_MAX] = { 0 };
#pragma omp parallel for schedule(static) reduction(+ : sum[:LANES_MAX])
	for (uint32_t s = 0; s < j->g->n_switches; s++) {
		uint32_t n = j->g->host_first[s + 1] - j->g->host_first[s];

		for (uint32_t lid = 1; n && lid <= j->lids->top; lid++) {
			if (j->layers.to_host[lid]) {
				sum[j->layers.lane[s * j->lft.stride + lid]] += n;
			}
		}
	}
	memcpy(load, sum, sizeof(sum));
	/* give each further lane to the layer whose lanes carry most */
	for (unsigned i = 0; i < j->n_lanes; i++) {
		sh.parts[i] = 1;
		sh.lane[i][0] = (uint8_t)i;
	}
	for (unsigned lane = j->n_lanes; lane < j->max; lane++) {
		unsigned most = 0;

		for (unsigned i = 1; i < j->n_lanes; i++) {
			if (load[i] / sh.parts[i] > load[most] / sh.parts[most]) {
				most = i;
			}
		}
		sh.lane[most][sh.parts[most]++] = (uint8_t)lane;
	}
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < j->g->n_switches; s++) {
		uint8_t *row = j->layers.lane + (size_t)s * j->lft.stride;

		for (uint32_t lid = 1; lid <= j->lids->top; lid++) {
			unsigned layer = row[lid];

			if (layer < j->n_lanes) {
				row[lid] =
					sh.lane[layer][lane_index(lid, sh.parts[layer])];
			}
		}
	}
	j->n_lanes = j->max;
}

/* ---- switches with hosts ---- */

/* The LIDs of the hosts of a switch. \return How many, at most \a max. */
static unsigned lids_of_hosts(const struct job *j, uint32_t s, uint32_t *lid,
                              unsigned max)
{
	unsigned n = 0;

	for (uint32_t i = j->g->host_first[s]; i < j->g->host_first[s + 1]; i++) {
		struct lid_range r = j->lids->of[j->g->hosts[i]];

		for (uint32_t k = 0; r.base && k < 1U << r.lmc && n < max; k++) {
			lid[n++] = r.base + k;
		}
	}
	return n;
}

/* The LIDs of a switch get the routes and lanes of its hosts. */
static void follow_hosts(struct job *j, uint32_t s)
{
	struct lid_range r = range_of_switch(j, s);
	uint32_t lid[128];
	unsigned n = lids_of_hosts(j, s, lid, sizeof(lid) / sizeof(*lid));

	for (uint32_t k = 0; r.base && n && k < 1U << r.lmc; k++) {
		for (uint32_t from = 0; from < j->g->n_switches; from++) {
			uint8_t *row = lft_row(&j->lft, from);
			uint8_t *lane = j->layers.lane
			                        ? j->layers.lane + from * j->lft.stride
			                        : NULL;

			row[r.base + k] = from == s ? 0 : row[lid[k % n]];
			if (lane) {
				lane[r.base + k] = lane[lid[k % n]];
			}
		}
	}
}

/* ---- the last run ---- */

/* Are the earlier lanes usable: as many as now, unless the engine chooses their
 * number? */
static bool has_lanes(const struct job *j)
{
	const struct lanes *l = j->in->prev_lanes;

	return l && (j->in->max_lanes ? l->n == j->max : l->n <= j->max);
}

/* Keeps earlier routes to the LIDs of switches if they are no detour, else routes as
 * in step 3. */
static int keep_switches(struct job *j, const struct lids *switches, struct arena *tmp)
{
	bool *which = arena_array(tmp, (size_t)j->lids->top + 1, sizeof(*which));
	int ret = which ? E_OK : -ENOMEM;

	if (ret == E_OK && switches->count) {
		ret = route_switches(j, switches, j->in->prev, tmp);
	}
	for (uint32_t s = 0; ret == E_OK && s < j->g->n_switches; s++) {
		struct lid_range r = range_of_switch(j, s);

		for (uint32_t k = 0; r.base && k < 1U << r.lmc; k++) {
			which[r.base + k] = true;
		}
		follow_hosts(j, s);
	}
	return ret == E_OK ? keep_columns(j->g, j->lids, j->in->prev, which, &j->lft)
	                   : ret;
}

/* ---- the engine ---- */

/* Steps 1 to 4. */
static int route_from_nothing(struct job *j, struct lids *switches, struct arena *a,
                              struct arena *tmp)
{
	int ret = route_hosts(j, NULL, NULL, tmp);
	size_t bytes;

	j->anew = true;
	if (ret == E_OK) {
		ret = layers_init(&j->layers, j->g, j->lids, &j->lft, j->in->cancel, a,
		                  tmp);
	}
	if (ret == E_OK) {
		ret = place_hosts(j);
	}
	if (ret == E_OK) {
		ret = place_management(j, switches, tmp);
	}
	if (ret != E_OK) {
		return ret;
	}
	use_spare_lanes(j);
	for (uint32_t s = 0; s < j->g->n_switches; s++) {
		follow_hosts(j, s);
	}
	/* lanes of LIDs without an owner */
	bytes = j->g->n_switches * j->lft.stride;
	for (size_t i = 0; i < bytes; i++) {
		j->layers.lane[i] =
			j->layers.lane[i] == LAYER_NONE ? 0 : j->layers.lane[i];
	}
	return E_OK;
}

static int route(struct job *j, struct arena *a, struct arena *tmp)
{
	struct lids switches;
	struct why notes = *j->notes;
	int ret = lids_without_hosts(j, tmp, &switches);

	if (ret == E_OK && keep_has_shape(j->in->prev, &j->lft)) {
		bool kept = false;

		/* keep the last run; E_UNSUITABLE: not possible */
		ret = has_lanes(j) ? route_hosts(j, j->in->prev, &kept, tmp)
		                   : E_UNSUITABLE;
		if (ret == E_OK) {
			ret = kept ? keep_switches(j, &switches, tmp) : E_UNSUITABLE;
		}
		if (ret == E_OK) {
			const struct keep_lanes k = { .g = j->g,
				                      .lids = j->lids,
				                      .lft = &j->lft,
				                      .prev = j->in->prev,
				                      .prev_lanes = j->in->prev_lanes,
				                      .n = j->max };

			j->layers.lane = arena_array(a, j->g->n_switches, j->lft.stride);
			ret = j->layers.lane ? keep_lanes(&k, j->layers.lane) : -ENOMEM;
		}
		j->n_lanes = j->in->max_lanes ? j->max : 1;
		for (size_t i = 0; ret == E_OK && i < j->g->n_switches * j->lft.stride;
		     i++) {
			unsigned lane = j->layers.lane[i];

			j->n_lanes = lane < j->n_lanes ? j->n_lanes : lane + 1;
		}
		if (ret != E_UNSUITABLE) {
			return ret;
		}
		memset(j->lft.rows, LFT_NO_ROUTE, j->lft.n_switches * j->lft.stride);
		*j->notes = notes;
		ret = E_OK;
	}
	return ret == E_OK ? route_from_nothing(j, &switches, a, tmp) : ret;
}

static int dfsssp_route(const struct route_in *in, struct arena *a,
                        struct route_out *ret_out)
{
	struct arena *tmp = arena_new();
	struct job j = {
		.in = in,
		.g = in->g,
		.lids = in->lids,
		.max = in->max_lanes && in->max_lanes < LANES_MAX ? in->max_lanes
		                                                  : LANES_MAX,
		.notes = &ret_out->notes,
	};
	int ret = tmp ? lft_init(&j.lft, in->g->n_switches, in->lids->top, a) : -ENOMEM;

	if (ret == E_OK) {
		ret = route(&j, a, tmp);
	}
	if (ret == E_OK && !j.anew) {
		ret = leaves_straight(j.g, tmp, &ret_out->passes_always);
	}
	if (ret == E_OK) {
		ret_out->passes_always |= j.anew;
		ret_out->lft = j.lft;
		ret_out->lanes =
			(struct lanes){ .rows = j.n_lanes > 1 ? j.layers.lane : NULL,
			                .stride = j.lft.stride,
			                .n = (uint8_t)j.n_lanes };
	}
	arena_free(tmp);
	return ret;
}

const struct engine engine_dfsssp = {
	.name = "dfsssp",
	.summary =
		"Paths of sssp on as many virtual lanes as keep them free of credit loops",
	.deadlock_free_order = 40,
	.flags = ENGINE_DEADLOCK_FREE | ENGINE_NEEDS_LANES,
	.options = sssp_rows,
	.opt_size = sizeof(struct sssp_options),
	.route = dfsssp_route,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Layers by breaking cycles: used if there are too many channels for fitting routes one by
 * one (dfsssp_fit.c), and for management routes.
 *
 * A layer starts with all remaining routes. One pass over the columns of LIDs counts their
 * dependencies: from far to near every switch passes on the number of routes through it.
 * Then a depth-first search runs over the channels. A channel that is on its own path closes
 * a cycle. The dependency with the fewest routes is the weakest edge of the cycle, and all
 * its routes move to the next layer. They are found without lists: their LIDs have certain
 * entries in two tables, their sources are upstream. Every other dependency of a moved route
 * loses a count, too, and may vanish. The search continues from the last channel of its path
 * that is still connected to the root.
 *
 * Channels that the search has finished stay finished, because dependencies only vanish. So
 * each dependency is examined once, except on the part of the path that a cut drops.
 *
 * Management routes (from switches without hosts) come after all others, which are fixed
 * then: only dependencies without a fixed route can be broken. Each cycle has one, because
 * the fixed routes alone have no cycle.
 *
 * Breaking a cycle moves all routes of a dependency, also those that would close no cycle in
 * the finished layer. So the last layers hold few routes, most of which fit into an earlier
 * layer. At the end they are tried there one by one, and a layer that becomes empty is saved.
 *
 * Source: J. Domke, T. Hoefler, W. Nagel, "Deadlock-Free Oblivious Routing for Arbitrary
 * Topologies", IPDPS 2011, section IV (offline algorithm, weakest edge).
 */
#include "routing/engines/sssp/dfsssp_layers.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/cdg.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"

enum colour { WHITE, ON_PATH, DONE };

static uint8_t *lane_at(const struct layers *l, uint32_t s, uint32_t lid)
{
	return &l->lane[(size_t)s * l->lft->stride + lid];
}

static struct column_hop hop_at(const struct layers *l, uint32_t s, uint32_t lid)
{
	uint8_t port = lft_row(l->lft, s)[lid];

	return port < l->map.width ? l->map.hop[(size_t)s * l->map.width + port]
	                           : (struct column_hop){ GRAPH_NONE, GRAPH_NONE };
}

static uint32_t dep_between(const struct layers *l, uint32_t c, uint32_t next)
{
	return l->first[c] + next - l->g->adj_first[l->g->adj[c].to];
}

static bool exists(const struct layers *l, uint32_t dep)
{
	return l->count[dep] || l->fixed[dep];
}

/* Are the routes from a switch movable in this pass? Otherwise they are fixed. */
static bool moves(const struct layers *l, uint32_t s)
{
	return (l->map.n_hosts[s] == 0) == l->manage;
}

/* ---- memory ---- */

static uint32_t number_deps(struct layers *l)
{
	const struct graph *g = l->g;
	uint32_t n = 0;

	for (uint32_t s = 0; s < g->n_switches; s++) {
		for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
			uint32_t to = g->adj[c].to;

			l->from[c] = s;
			l->first[c] = n;
			n += g->adj_first[to + 1] - g->adj_first[to];
		}
	}
	l->first[g->n_adj] = n;
	return n;
}

static int alloc_search(struct layers *l, struct arena *tmp)
{
	size_t n = (size_t)l->g->n_adj + 1, n_deps;

	l->from = arena_array(tmp, n, sizeof(*l->from));
	l->first = arena_array(tmp, n, sizeof(*l->first));
	l->colour = arena_array(tmp, n, sizeof(*l->colour));
	l->at = arena_array(tmp, n, sizeof(*l->at));
	l->place = arena_array(tmp, n, sizeof(*l->place));
	l->stack = arena_array(tmp, n, sizeof(*l->stack));
	l->finished = arena_array(tmp, n, sizeof(*l->finished));
	if (!l->from || !l->first || !l->colour || !l->at || !l->place || !l->stack ||
	    !l->finished) {
		return -ENOMEM;
	}
	n_deps = number_deps(l);
	l->count = arena_array(tmp, n_deps, sizeof(*l->count));
	l->fixed = arena_array(tmp, n_deps, sizeof(*l->fixed));
	return l->count && l->fixed ? E_OK : -ENOMEM;
}

int layers_init(struct layers *l, const struct graph *g, const struct lids *lids,
                const struct lft *lft, const _Atomic bool *cancel,
                struct arena *lane_arena, struct arena *tmp)
{
	size_t n = g->n_switches, threads = column_threads();
	int ret;

	*l = (struct layers){
		.g = g, .lids = lids, .lft = lft, .cancel = cancel, .tmp = tmp
	};
	ret = column_map_init(&l->map, g, lids, lft, tmp);
	if (ret == E_OK) {
		ret = alloc_search(l, tmp);
	}
	if (ret != E_OK) {
		return ret;
	}
	l->col = column_new(&l->map, (unsigned)threads, tmp);
	l->routes = arena_array(tmp, threads * 2 * n, sizeof(*l->routes));
	l->to_host = arena_array(tmp, (size_t)lids->top + 1, sizeof(*l->to_host));
	l->queue = arena_array(tmp, n, sizeof(*l->queue));
	l->parent = arena_array(tmp, n, sizeof(*l->parent));
	l->moved = arena_array(tmp, n, sizeof(*l->moved));
	l->lane = arena_array(lane_arena, n, lft->stride);
	if (!l->col || !l->routes || !l->to_host || !l->queue || !l->parent ||
	    !l->moved || !l->lane) {
		return -ENOMEM;
	}
	memset(l->lane, LAYER_NONE, n * lft->stride);
	for (uint32_t lid = 1; lid <= l->lids->top; lid++) {
		uint32_t owner = l->lids->owner[lid];

		l->to_host[lid] = owner != GRAPH_NONE &&
		                  graph_switch_of(l->g, owner) != GRAPH_NONE &&
		                  graph_is_host(l->g, owner);
	}
	return E_OK;
}

/* ---- counting ---- */

/* \param exact Otherwise it is enough to know that there are some, which costs less. */
static void add(uint32_t *where, uint32_t n, bool exact)
{
	if (n && exact) {
#pragma omp atomic
		*where += n;
	} else if (n) {
#pragma omp atomic write
		*where = 1;
	}
}

/* Marks the routes of a column that are in the layer: [0][s] movable, [1][s] fixed. */
static bool find_sources(const struct layers *l, const struct column *c, uint32_t *routes)
{
	uint32_t *fixed = routes + l->map.n;
	bool any = false;

	memset(routes, 0, 2 * (size_t)l->map.n * sizeof(*routes));
	for (uint32_t i = 1; i < c->n_order; i++) {
		uint32_t s = c->order[i];

		if (*lane_at(l, s, c->lid) == l->layer) {
			*(moves(l, s) ? &routes[s] : &fixed[s]) = 1;
			any = true;
		}
	}
	return any;
}

static void count_column(const struct layers *l, const struct column *c, uint32_t *routes)
{
	uint32_t *fixed = routes + l->map.n;

	if (!find_sources(l, c, routes)) {
		return;
	}
	for (uint32_t i = c->n_order; i-- > 1;) {
		uint32_t s = c->order[i], next = c->next[s];

		if (next != c->home && (routes[s] || fixed[s])) {
			uint32_t dep = dep_between(l, c->channel[s], c->channel[next]);

			add(&l->count[dep], routes[s], l->breaks);
			add(&l->fixed[dep], fixed[s], false);
		}
		routes[next] += routes[s];
		fixed[next] += fixed[s];
	}
}

/* Counts the dependencies of all routes of a layer to hosts, or to switches. */
static void count_layer(struct layers *l, bool to_host, bool breaks)
{
	l->breaks = breaks;
	uint32_t n_blocks = l->lids->top / COLUMN_BLOCK + 1;

#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n_blocks; i++) {
		unsigned thread = column_thread();
		struct column *c = &l->col[thread];
		uint32_t lid = i * COLUMN_BLOCK;

		column_load_block(&l->map, c, lid);
		for (uint32_t k = lid; k < lid + COLUMN_BLOCK && k <= l->lids->top; k++) {
			if (l->to_host[k] == to_host && column_resolve(&l->map, c, k)) {
				count_column(l, c,
				             l->routes + (size_t)thread * 2 * l->map.n);
			}
		}
	}
}

static void clear_counts(struct layers *l)
{
	size_t n = l->first[l->g->n_adj];

	memset(l->count, 0, n * sizeof(*l->count));
	memset(l->fixed, 0, n * sizeof(*l->fixed));
}

/* ---- moving ---- */

/* Moves the routes from u and from upstream of it to the next layer. moved[] is their
 * number at each switch of the queue. \return Length of the queue. */
static uint32_t move_sources(struct layers *l, uint32_t u, uint32_t lid)
{
	const struct graph *g = l->g;
	uint32_t n = 1;

	l->queue[0] = u;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t s = l->queue[i];
		uint8_t *lane = lane_at(l, s, lid);

		l->moved[i] = *lane == l->layer && moves(l, s);
		*lane = (uint8_t)(*lane + l->moved[i]);
		for (uint32_t c = g->adj_first[s]; c < g->adj_first[s + 1]; c++) {
			if (lft_row(l->lft, g->adj[c].to)[lid] == g->adj[c].to_port) {
				l->parent[n] = i;
				l->queue[n++] = g->adj[c].to;
			}
		}
	}
	return n;
}

/* Moves all routes to a LID that pass switch u. */
static void move_column(struct layers *l, uint32_t u, uint32_t lid)
{
	uint32_t n = move_sources(l, u, lid), c = hop_at(l, u, lid).channel;

	for (uint32_t i = n; i-- > 1;) {
		uint32_t above = hop_at(l, l->queue[i], lid).channel;
		uint32_t here = hop_at(l, l->queue[l->parent[i]], lid).channel;

		if (l->moved[i]) {
			l->count[dep_between(l, above, here)] -= l->moved[i];
			l->moved[l->parent[i]] += l->moved[i];
		}
	}
	l->n_moved += l->moved[0];
	while (l->moved[0]) {
		uint32_t next = hop_at(l, l->g->adj[c].to, lid).channel;

		if (next == GRAPH_NONE) {
			return;
		}
		l->count[dep_between(l, c, next)] -= l->moved[0];
		c = next;
	}
}

/* ---- searching ---- */

/* Breaks the cycle at the end of the path, from place \a start on. */
static void break_cycle(struct layers *l, uint32_t start, uint32_t depth)
{
	uint32_t weakest = GRAPH_NONE, least = UINT32_MAX;
	const struct sw_link *link;
	uint32_t next;
	const uint8_t *here;
	const uint8_t *there;
	uint8_t port, next_port;

	for (uint32_t i = start; i < depth; i++) {
		uint32_t dep = l->at[l->stack[i]];

		if (l->fixed[dep] || l->count[dep] > least) {
			continue;
		}
		/* among equals always the same channel, so that parallel rings are cut
		 * at the same place */
		if (l->count[dep] < least || l->stack[i] < weakest) {
			least = l->count[dep];
			weakest = l->stack[i];
		}
	}
	/* move all routes of this dependency */
	link = &l->g->adj[weakest];
	next = l->g->adj_first[link->to] + l->at[weakest] - l->first[weakest];
	here = lft_row(l->lft, l->from[weakest]);
	there = lft_row(l->lft, link->to);
	port = link->port;
	next_port = l->g->adj[next].port;
	for (uint32_t lid = 1; l->count[l->at[weakest]] && lid <= l->lids->top; lid++) {
		if (here[lid] == port && there[lid] == next_port && l->to_host[lid]) {
			move_column(l, l->from[weakest], lid);
		}
	}
}

/* Searches from one channel. \return false: there is a cycle and \a may_move is not
 * set. */
static bool search_from(struct layers *l, uint32_t root, bool may_move)
{
	uint32_t depth = 0;

	l->stack[depth++] = root;
	l->colour[root] = ON_PATH;
	l->place[root] = 0;
	while (depth) {
		uint32_t c = l->stack[depth - 1], dep = l->at[c];
		uint32_t next = l->g->adj_first[l->g->adj[c].to] + dep - l->first[c];

		if (dep == l->first[c + 1]) {
			l->colour[c] = DONE;
			l->finished[l->n_finished++] = c;
			depth--;
		} else if (!exists(l, dep) || l->colour[next] == DONE) {
			l->at[c]++;
		} else if (l->colour[next] == WHITE) {
			l->colour[next] = ON_PATH;
			l->place[next] = depth;
			l->stack[depth++] = next;
		} else if (!may_move) {
			return false;
		} else {
			uint32_t keep;

			break_cycle(l, l->place[next], depth);
			/* drop channels that are no longer connected to the root */
			keep = 1;
			while (keep < depth && exists(l, l->at[l->stack[keep - 1]])) {
				keep++;
			}
			for (uint32_t i = keep; i < depth; i++) {
				l->colour[l->stack[i]] = WHITE;
			}
			depth = keep;
		}
	}
	return true;
}

static bool search(struct layers *l, bool may_move)
{
	l->n_finished = 0;
	memset(l->colour, WHITE, l->g->n_adj * sizeof(*l->colour));
	memcpy(l->at, l->first, l->g->n_adj * sizeof(*l->at));
	for (uint32_t c = 0; c < l->g->n_adj; c++) {
		if (l->colour[c] == WHITE && !search_from(l, c, may_move)) {
			return false;
		}
	}
	return true;
}

/* ---- fewer layers ---- */

enum { SMALL_SHARE = 64 }; /* only a layer below this share of all routes is emptied */

static int keep_layer(struct layers *l, unsigned layer)
{
	const struct graph *g = l->g;
	struct cdg *c = &l->kept[layer];
	int ret = E_OK;

	if (!l->map_cdg.n) {
		ret = cdg_map_init(&l->map_cdg, g, l->tmp);
	}
	/* the reverse finishing order is topological; reversing in place, the search
	 * is over */
	for (uint32_t i = 0; i < g->n_adj / 2; i++) {
		uint32_t other = l->finished[g->n_adj - 1 - i];

		l->finished[g->n_adj - 1 - i] = l->finished[i];
		l->finished[i] = other;
	}
	if (ret == E_OK) {
		ret = cdg_init(c, &l->map_cdg, l->finished, l->tmp);
	}
	for (uint32_t from = 0; ret == E_OK && from < g->n_adj; from++) {
		uint32_t to = g->adj_first[g->adj[from].to];

		for (uint32_t dep = l->first[from]; dep < l->first[from + 1]; dep++) {
			if (l->count[dep]) {
				cdg_add(c, from, to + dep - l->first[from]);
			}
		}
	}
	return ret;
}

static uint32_t channel_at(const struct layers *l, uint32_t s, uint32_t lid)
{
	uint8_t port = lft_row(l->lft, s)[lid];

	return port < l->map.width ? l->map.hop[(size_t)s * l->map.width + port].channel
	                           : GRAPH_NONE;
}

/* Adds all dependencies of a route, or none if it closes a cycle. */
static bool add_route(struct layers *l, struct cdg *cdg, uint32_t s, uint32_t lid)
{
	uint32_t *added = l->stack, n = 0, c = channel_at(l, s, lid);

	while (c != GRAPH_NONE) {
		uint32_t next = channel_at(l, l->g->adj[c].to, lid);

		if (next != GRAPH_NONE && !cdg_has(cdg, c, next)) {
			if (!cdg_add(cdg, c, next)) {
				break;
			}
			l->place[n] = c;
			added[n++] = next;
		}
		c = next;
	}
	if (c == GRAPH_NONE) {
		return true;
	}
	while (n--) {
		cdg_remove(cdg, l->place[n], added[n]);
	}
	return false;
}

/* Moves routes from a layer to earlier ones. \return Routes that stay. */
static uint64_t empty_layer(struct layers *l, unsigned layer)
{
	uint64_t left = 0;

	for (uint32_t lid = 1; lid <= l->lids->top; lid++) {
		for (uint32_t s = 0; l->to_host[lid] && s < l->map.n; s++) {
			uint8_t *lane = &l->lane[(size_t)s * l->lft->stride + lid];
			unsigned to = 0;

			if (*lane != layer) {
				continue;
			}
			while (to < layer && !add_route(l, &l->kept[to], s, lid)) {
				to++;
			}
			*lane = (uint8_t)to;
			left += to == layer;
		}
	}
	return left;
}

static int compact_layers(struct layers *l, unsigned *n)
{
	while (*n > 1 && *n <= LAYERS_KEPT) {
		if (l->cancel && *l->cancel) {
			return -ECANCELED;
		}
		if (l->n_entered[*n - 1] > l->n_routes / SMALL_SHARE ||
		    empty_layer(l, *n - 1)) {
			break;
		}
		--*n;
	}
	return E_OK;
}

/* ---- placing ---- */

/* Builds layer after layer until no route moves on. \param ret_n Layers; max + 1:
 * routes are left. */
static int place_layers(struct layers *l, unsigned max, unsigned *ret_n)
{
	for (unsigned layer = 0; layer < max; layer++) {
		if (l->cancel && *l->cancel) {
			return -ECANCELED;
		}
		l->layer = (uint8_t)layer;
		l->n_moved = 0;
		clear_counts(l);
		count_layer(l, true, true);
		search(l, true);
		if (!l->n_moved) {
			*ret_n = layer + 1;
			return E_OK;
		}
		l->n_entered[layer + 1] = l->n_moved;
		if (!l->manage && layer < LAYERS_KEPT) {
			int ret = keep_layer(l, layer);

			if (ret != E_OK) {
				return ret;
			}
		}
	}
	*ret_n = max + 1;
	return E_OK;
}

/* The movable routes start in layer 0. \return false: there are none. */
static bool enter_routes(struct layers *l)
{
	bool any = false;

	for (uint32_t s = 0; s < l->map.n; s++) {
		for (uint32_t lid = 1; moves(l, s) && lid <= l->lids->top; lid++) {
			if (l->to_host[lid]) {
				*lane_at(l, s, lid) = 0;
				l->n_routes++;
				any = true;
			}
		}
	}
	return any;
}

/* Do all routes fit into one layer? */
static bool one_layer_suffices(struct layers *l)
{
	l->layer = 0;
	clear_counts(l);
	count_layer(l, true, false);
	return search(l, false);
}

int layers_place_hosts(struct layers *l, bool in_dimensions, unsigned *ret_n)
{
	int ret;

	l->manage = false;
	if (!enter_routes(l) || one_layer_suffices(l)) {
		*ret_n = 1;
		return E_OK;
	}
	ret = layers_fit(l, in_dimensions, ret_n);
	if (ret != E_UNSUITABLE) {
		return ret;
	}
	ret = place_layers(l, LAYERS_MAX, ret_n);
	return ret == E_OK ? compact_layers(l, ret_n) : ret;
}

int layers_place_management(struct layers *l, unsigned max, unsigned *n,
                            uint64_t *ret_left)
{
	unsigned used = 0;
	uint64_t left = 0;
	int ret;

	l->manage = true;
	if (!enter_routes(l)) {
		*ret_left = 0;
		return E_OK;
	}
	ret = place_layers(l, max, &used);
	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t s = 0; used > max && s < l->map.n; s++) {
		for (uint32_t lid = 1; lid <= l->lids->top; lid++) {
			if (l->to_host[lid] && *lane_at(l, s, lid) == max) {
				*lane_at(l, s, lid) = 0;
				left++;
			}
		}
	}
	used = used > max ? max : used;
	*n = used > *n ? used : *n;
	*ret_left = left;
	return E_OK;
}

bool layers_fit_switches(struct layers *l, uint8_t layer)
{
	l->layer = layer;
	clear_counts(l);
	count_layer(l, true, false);
	for (uint32_t s = 0; s < l->map.n; s++) {
		uint32_t port = l->g->nodes[l->g->switches[s]].first_port;
		struct lid_range r = l->lids->of[port];

		for (uint32_t k = 0; r.base && !l->map.n_hosts[s] && k < 1U << r.lmc;
		     k++) {
			for (uint32_t from = 0; from < l->map.n; from++) {
				*lane_at(l, from, r.base + k) = layer;
			}
		}
	}
	count_layer(l, false, false);
	return search(l, false);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Layers by breaking cycles: where there are too many channels for fitting routes one by
 * one (dfsssp_fit.c), and for routes of management.
 *
 * A layer starts with all routes that are left. Their dependencies are counted in one
 * pass over the LID columns: from far to near every switch passes on how many routes came
 * through it. Then a depth-first search runs over the channels. When it meets a channel
 * that is on its own path, it has a cycle: of that cycle the dependency with the fewest
 * routes is the weakest, and all its routes move to the next layer. They are found
 * without lists: the LIDs are those for which two tables have two certain entries, the
 * sources are those upstream. Every other dependency of a moved route loses a count, too,
 * and may vanish. The search then goes on from the last channel of its path that is still
 * connected to its root.
 *
 * What the search has finished stays finished, because dependencies only vanish. So each
 * dependency is looked at once, apart from the part of the path that a cut drops.
 *
 * Routes of management (from a switch without hosts) come after all others and find these
 * fixed: only dependencies that no fixed route makes can be broken. There is one on each
 * cycle, as the fixed ones alone have none.
 *
 * Source: J. Domke, T. Hoefler, W. Nagel, "Deadlock-Free Oblivious Routing for Arbitrary
 * Topologies", IPDPS 2011, section IV (offline algorithm, weakest edge).
 */
#include "routing/engines/sssp/dfsssp_layers.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
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

/* Is the route one that this pass may move? Else it is fixed. */
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
	l->tally = arena_array(tmp, threads * 2 * n, sizeof(*l->tally));
	l->to_host = arena_array(tmp, (size_t)lids->top + 1, sizeof(*l->to_host));
	l->queue = arena_array(tmp, n, sizeof(*l->queue));
	l->parent = arena_array(tmp, n, sizeof(*l->parent));
	l->moved = arena_array(tmp, n, sizeof(*l->moved));
	l->lane = arena_array(lane_arena, n, lft->stride);
	if (!l->col || !l->tally || !l->to_host || !l->queue || !l->parent || !l->moved ||
	    !l->lane) {
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

static void add(uint32_t *where, uint32_t n)
{
	if (n) {
#pragma omp atomic
		*where += n;
	}
}

/* Which routes of a column are in the layer: [0][s] may move, [1][s] are fixed. */
static bool find_sources(const struct layers *l, const struct column *c, uint32_t *tally)
{
	uint32_t *fixed = tally + l->map.n;
	bool any = false;

	memset(tally, 0, 2 * (size_t)l->map.n * sizeof(*tally));
	for (uint32_t i = 1; i < c->n_order; i++) {
		uint32_t s = c->order[i];

		if (*lane_at(l, s, c->lid) == l->layer) {
			*(moves(l, s) ? &tally[s] : &fixed[s]) = 1;
			any = true;
		}
	}
	return any;
}

static void count_column(const struct layers *l, const struct column *c, uint32_t *tally)
{
	uint32_t *fixed = tally + l->map.n;

	if (!find_sources(l, c, tally)) {
		return;
	}
	for (uint32_t i = c->n_order; i-- > 1;) {
		uint32_t s = c->order[i], next = c->next[s];

		if (next != c->home && (tally[s] || fixed[s])) {
			uint32_t dep = dep_between(l, c->channel[s], c->channel[next]);

			add(&l->count[dep], tally[s]);
			add(&l->fixed[dep], fixed[s]);
		}
		tally[next] += tally[s];
		fixed[next] += fixed[s];
	}
}

/* Counts the dependencies of all routes of a layer to hosts, or to switches. */
static void count_layer(struct layers *l, bool to_host)
{
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
				             l->tally + (size_t)thread * 2 * l->map.n);
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

/* Moves the sources at and above u to the next layer; moved[] says how many come through
 * each switch of the queue. Returns the length of the queue. */
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
		/* of equals always the same place, so that rings are cut side by side */
		if (l->count[dep] < least || l->stack[i] < weakest) {
			least = l->count[dep];
			weakest = l->stack[i];
		}
	}
	/* Moves all routes that make a dependency of channel c. */
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

/* Searches from one channel. \return false: there is a cycle and nothing may be moved. */
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
			/* Drops what is no longer connected to the root of the path. */
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

/* ---- placing ---- */

/* Layer after layer until nothing moves on. \return Layers, max + 1: routes are left. */
static int place(struct layers *l, unsigned max, unsigned *ret_n)
{
	for (unsigned layer = 0; layer < max; layer++) {
		if (l->cancel && *l->cancel) {
			return -ECANCELED;
		}
		l->layer = (uint8_t)layer;
		l->n_moved = 0;
		clear_counts(l);
		count_layer(l, true);
		search(l, true);
		if (!l->n_moved) {
			*ret_n = layer + 1;
			return E_OK;
		}
		l->n_entered[layer + 1] = l->n_moved;
		if (!l->manage && layer < LAYERS_KEPT) {
			int ret = layers_keep(l, layer);

			if (ret != E_OK) {
				return ret;
			}
		}
	}
	*ret_n = max + 1;
	return E_OK;
}

/* Routes of this pass to hosts of the same part start in layer 0. */
static bool enter(struct layers *l)
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

/* Have the routes, all in one layer, no cycle? */
static bool one_layer_does(struct layers *l)
{
	l->layer = 0;
	clear_counts(l);
	count_layer(l, true);
	return search(l, false);
}

int layers_place_hosts(struct layers *l, bool in_dimensions, unsigned *ret_n)
{
	int ret;

	l->manage = false;
	if (!enter(l) || one_layer_does(l)) {
		*ret_n = 1;
		return E_OK;
	}
	ret = layers_fit(l, in_dimensions, ret_n);
	if (ret != E_UNSUITABLE) {
		return ret;
	}
	ret = place(l, LAYERS_MAX, ret_n);
	return ret == E_OK ? layers_compact(l, ret_n) : ret;
}

int layers_place_management(struct layers *l, unsigned max, unsigned *n,
                            uint64_t *ret_left)
{
	unsigned used = 0;
	uint64_t left = 0;
	int ret;

	l->manage = true;
	if (!enter(l)) {
		*ret_left = 0;
		return E_OK;
	}
	ret = place(l, max, &used);
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
	count_layer(l, true);
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
	count_layer(l, false);
	return search(l, false);
}

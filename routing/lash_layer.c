/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Layering.
 *
 * The routes to one LID are a column: each switch's egress channel. Columns of LIDs on
 * one switch that are equal are kept once. Pairs whose switches both have CAs or routers
 * come first, then they are moved from the fullest lane to the emptiest, then come the
 * pairs with a switch that has none: those carry only management traffic, so they must
 * not push others to higher lanes.
 *
 * Where all data routes fit one lane, as on a tree, one sort of all dependencies finds
 * it. Else pairs are tried one by one, lowest lane first. Two things are remembered for
 * each (column, switch), a bit per lane: the rest of the route is in the lane already; or
 * a dependency on the rest of the route closes a cycle in the lane, which is final, since
 * dependencies only become more. So most pairs are decided without a search.
 *
 * A pair that moves leaves its dependencies behind in its old lane. That can only make
 * that lane look fuller than it is.
 *
 * Sources: O. Lysne, T. Skeie, S. Reinemo, I. Theiss, "Layered routing in irregular
 * networks", 2006.
 */
#include "routing/lash_layer.h"

#include <errno.h>
#include <string.h>

#include "conf/arena.h"
#include "conf/err.h"
#include "routing/cdg.h"
#include "routing/graph.h"
#include "routing/hops.h"
#include "routing/lids.h"

enum { LANES_MAX = 15 };

struct dependency {
	uint32_t from, to;
};

struct lane {
	struct cdg cdg;
	uint64_t *never; /* as cdg.out: dependencies that close a cycle */
	uint64_t pairs;
};

struct job {
	const struct lash_layer_in *in;
	const struct graph *g;
	struct arena *tmp;
	uint32_t n;
	uint32_t *col_first; /* [n + 1] columns by switch of the LIDs */
	uint32_t *chan; /* [cols][n] egress channel, GRAPH_NONE: none or not connected */
	uint16_t *in_lane; /* [cols][n] bit per lane: the rest of the route is in it */
	uint16_t *never;   /* [cols][n] bit per lane: some of the rest can't be */
	struct cdg_map map;
	struct lane lane[LANES_MAX];
	unsigned n_lanes;
	uint8_t *of; /* [n][n] */
	/* the attempt that runs */
	size_t *marked; /* cells of in_lane set */
	size_t n_marked, cap_marked;
	struct dependency *added;
	size_t n_added, cap_added;
};

/* ---- columns ---- */

static bool has_hosts(const struct job *j, uint32_t s)
{
	return j->g->host_first[s] != j->g->host_first[s + 1];
}

/* LIDs on one switch: its own, then those of its hosts. */
static uint32_t lid_at(const struct job *j, uint32_t t, uint32_t i)
{
	const struct graph *g = j->g;
	uint32_t port = i == 0 ? graph_port(g, g->switches[t], 0)
	                       : g->hosts[g->host_first[t] + i - 1];

	return j->in->lids->of[port].base;
}

static void fill_column(const struct job *j, const uint32_t *channel_of, uint32_t t,
                        uint32_t lid, uint32_t *col)
{
	uint32_t width = j->g->max_port + 1u;

	for (uint32_t s = 0; s < j->n; s++) {
		uint8_t port = lid && s != t ? lft_row(j->in->lft, s)[lid] : LFT_NO_ROUTE;

		col[s] = port < width ? channel_of[(size_t)s * width + port] : GRAPH_NONE;
	}
}

static uint32_t *channels_by_port(const struct job *j)
{
	const struct graph *g = j->g;
	uint32_t width = g->max_port + 1u;
	uint32_t *of = arena_array(j->tmp, (size_t)j->n * width, sizeof(*of));

	if (!of) {
		return NULL;
	}
	memset(of, 0xff, (size_t)j->n * width * sizeof(*of));
	for (uint32_t c = 0; c < g->n_adj; c++) {
		of[(size_t)j->map.from[c] * width + g->adj[c].port] = c;
	}
	return of;
}

/* Columns of the LIDs on switch t, equal ones once. Returns how many. */
static uint32_t switch_columns(const struct job *j, const uint32_t *channel_of,
                               uint32_t t, uint32_t *cols)
{
	uint32_t n_lids = j->g->host_first[t + 1] - j->g->host_first[t] + 1, n = 0;
	size_t bytes = j->n * sizeof(*cols);

	for (uint32_t i = 0; i < n_lids; i++) {
		uint32_t *col = cols + (size_t)n * j->n, k = 0;

		fill_column(j, channel_of, t, lid_at(j, t, i), col);
		while (k < n && memcmp(cols + (size_t)k * j->n, col, bytes) != 0) {
			k++;
		}
		n += k == n;
	}
	return n;
}

/* Every switch's columns are made where they have room for sure, then moved together. */
static int make_columns(struct job *j)
{
	uint32_t *channel_of = channels_by_port(j);
	uint32_t *count = arena_array(j->tmp, j->n, sizeof(*count));
	uint32_t n_cols = j->g->host_first[j->n] + j->n, at = 0;

	j->col_first = arena_array(j->tmp, (size_t)j->n + 1, sizeof(*j->col_first));
	j->chan = arena_array(j->tmp, (size_t)n_cols * j->n, sizeof(*j->chan));
	if (!channel_of || !count || !j->col_first || !j->chan) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic, 4)
	for (uint32_t t = 0; t < j->n; t++) {
		size_t first = j->g->host_first[t] + t;

		count[t] = switch_columns(j, channel_of, t, j->chan + first * j->n);
	}
	for (uint32_t t = 0; t < j->n; t++) {
		size_t first = j->g->host_first[t] + t;

		memmove(j->chan + (size_t)at * j->n, j->chan + first * j->n,
		        (size_t)count[t] * j->n * sizeof(*j->chan));
		j->col_first[t] = at;
		at += count[t];
	}
	j->col_first[j->n] = at;
	j->in_lane = arena_array(j->tmp, (size_t)at * j->n, sizeof(*j->in_lane));
	j->never = arena_array(j->tmp, (size_t)at * j->n, sizeof(*j->never));
	return j->in_lane && j->never ? E_OK : -ENOMEM;
}

/* ---- one lane for all ---- */

/* Notes the dependencies of the routes of all switches with hosts to one column. */
static void note_column(struct job *j, uint32_t col)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	uint16_t *in_lane = j->in_lane + (size_t)col * j->n;

	for (uint32_t s = 0; s < j->n; s++) {
		uint32_t at = s;

		if (!has_hosts(j, s)) {
			continue;
		}
		while (chan[at] != GRAPH_NONE && !in_lane[at]) {
			uint32_t next = j->g->adj[chan[at]].to;

			in_lane[at] = 1;
			if (chan[next] != GRAPH_NONE) {
				cdg_note(&j->lane[0].cdg, chan[at], chan[next]);
			}
			at = next;
		}
	}
}

/* Do the routes of all data pairs together have no cycle? Then they are on lane 0. */
static bool one_lane_does(struct job *j)
{
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t t = 0; t < j->n; t++) {
		for (uint32_t col = j->col_first[t];
		     has_hosts(j, t) && col < j->col_first[t + 1]; col++) {
			note_column(j, col);
		}
	}
	if (cdg_settle(&j->lane[0].cdg)) {
		return true;
	}
	memset(j->in_lane, 0, (size_t)j->col_first[j->n] * j->n * sizeof(*j->in_lane));
	return false;
}

/* ---- one pair ---- */

static int grow(struct arena *a, void **what, size_t *cap, size_t size)
{
	size_t n = *cap ? 2 * *cap : 4096;
	void *x = arena_array(a, n, size);

	if (!x) {
		return -ENOMEM;
	}
	if (*cap) {
		memcpy(x, *what, *cap * size);
	}
	*what = x;
	*cap = n;
	return E_OK;
}

static int push_marked(struct job *j, size_t cell)
{
	if (j->n_marked == j->cap_marked) {
		void *p = j->marked;
		int ret = grow(j->tmp, &p, &j->cap_marked, sizeof(*j->marked));

		if (ret != E_OK) {
			return ret;
		}
		j->marked = p;
	}
	j->marked[j->n_marked++] = cell;
	return E_OK;
}

static int push_added(struct job *j, uint32_t from, uint32_t to)
{
	if (j->n_added == j->cap_added) {
		void *p = j->added;
		int ret = grow(j->tmp, &p, &j->cap_added, sizeof(*j->added));

		if (ret != E_OK) {
			return ret;
		}
		j->added = p;
	}
	j->added[j->n_added++] = (struct dependency){ from, to };
	return E_OK;
}

static uint64_t *never_word(const struct job *j, unsigned lane, uint32_t from,
                            uint32_t to, uint64_t *ret_bit)
{
	uint32_t k = to - j->g->adj_first[j->map.from[to]];

	*ret_bit = UINT64_C(1) << k % 64;
	return j->lane[lane].never + (size_t)from * j->map.words + k / 64;
}

static void undo(struct job *j, unsigned lane)
{
	while (j->n_marked) {
		j->in_lane[j->marked[--j->n_marked]] &= (uint16_t) ~(1U << lane);
	}
	while (j->n_added) {
		struct dependency d = j->added[--j->n_added];

		cdg_remove(&j->lane[lane].cdg, d.from, d.to);
	}
}

/* Does the dependency close a cycle with what is in the lane, whatever else is added? */
static bool is_final(struct job *j, unsigned lane, uint32_t from, uint32_t to)
{
	uint64_t bit, *w = never_word(j, lane, from, to, &bit);

	if (!(*w & bit) && !cdg_fits(&j->lane[lane].cdg, from, to)) {
		*w |= bit;
	}
	return *w & bit;
}

/* Remembers that routes from s up to and with switch last can't be in the lane. */
static void mark_never(struct job *j, unsigned lane, uint32_t col, uint32_t s,
                       uint32_t last)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	uint16_t *never = j->never + (size_t)col * j->n;

	for (;; s = j->g->adj[chan[s]].to) {
		never[s] |= (uint16_t)(1U << lane);
		if (s == last) {
			return;
		}
	}
}

/* Is some dependency of the route of switch s to a column final? */
static bool is_hopeless(struct job *j, unsigned lane, uint32_t col, uint32_t s)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	const uint16_t *in_lane = j->in_lane + (size_t)col * j->n;
	uint16_t *never = j->never + (size_t)col * j->n;
	uint16_t lane_bit = (uint16_t)(1U << lane);

	for (uint32_t at = s; !(in_lane[at] & lane_bit);) {
		uint32_t c = chan[at], next, d;

		if (never[at] & lane_bit) {
			mark_never(j, lane, col, s, at);
			return true;
		}
		if (c == GRAPH_NONE) {
			break;
		}
		next = j->g->adj[c].to;
		d = chan[next];
		if (d != GRAPH_NONE && !cdg_has(&j->lane[lane].cdg, c, d) &&
		    is_final(j, lane, c, d)) {
			mark_never(j, lane, col, s, at);
			return true;
		}
		at = next;
	}
	return false;
}

/* Adds the route of switch s to a column. E_LOOP: a cycle; then all is undone. */
static int add_route(struct job *j, unsigned lane, uint32_t col, uint32_t s)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	size_t row = (size_t)col * j->n;
	uint16_t lane_bit = (uint16_t)(1U << lane);
	struct cdg *cdg = &j->lane[lane].cdg;

	for (uint32_t at = s; !(j->in_lane[row + at] & lane_bit);) {
		uint32_t c = chan[at], next, d;

		if (c == GRAPH_NONE) {
			break;
		}
		next = j->g->adj[c].to;
		d = chan[next];
		if (d != GRAPH_NONE && !cdg_has(cdg, c, d)) {
			if (!cdg_add(cdg, c, d)) {
				undo(j, lane);
				return E_LOOP;
			}
			if (push_added(j, c, d) != E_OK) {
				return -ENOMEM;
			}
		}
		j->in_lane[row + at] |= lane_bit;
		if (push_marked(j, row + at) != E_OK) {
			return -ENOMEM;
		}
		at = next;
	}
	return E_OK;
}

/* The same for all columns of a switch. */
static bool is_direction_hopeless(struct job *j, unsigned lane, uint32_t s, uint32_t t)
{
	for (uint32_t c = j->col_first[t]; c < j->col_first[t + 1]; c++) {
		if (j->never[(size_t)c * j->n + s] >> lane & 1) {
			return true;
		}
	}
	for (uint32_t c = j->col_first[t]; c < j->col_first[t + 1]; c++) {
		if (is_hopeless(j, lane, c, s)) {
			return true;
		}
	}
	return false;
}

static int add_direction(struct job *j, unsigned lane, uint32_t s, uint32_t t)
{
	int ret = E_OK;

	for (uint32_t c = j->col_first[t]; ret == E_OK && c < j->col_first[t + 1]; c++) {
		ret = add_route(j, lane, c, s);
	}
	return ret;
}

/* All routes between two switches into one lane. E_LOOP: they don't fit. */
static int add_pair(struct job *j, unsigned lane, uint32_t s, uint32_t t)
{
	int ret;

	if (is_direction_hopeless(j, lane, s, t) ||
	    is_direction_hopeless(j, lane, t, s)) {
		return E_LOOP;
	}
	ret = add_direction(j, lane, s, t);
	if (ret == E_OK) {
		ret = add_direction(j, lane, t, s);
	}
	if (ret == E_OK) {
		j->n_marked = 0;
		j->n_added = 0;
	}
	return ret;
}

/* ---- all pairs ---- */

static int open_lane(struct job *j)
{
	struct lane *l = &j->lane[j->n_lanes];
	int ret;

	if (j->n_lanes == j->in->max) {
		return E_FULL;
	}
	ret = cdg_init(&l->cdg, &j->map, NULL, j->tmp);
	l->never =
		arena_array(j->tmp, (size_t)j->map.n * j->map.words, sizeof(*l->never));
	j->n_lanes++;
	return l->never ? ret : -ENOMEM;
}

static void set_lane(struct job *j, uint32_t s, uint32_t t, unsigned lane)
{
	j->of[(size_t)s * j->n + t] = (uint8_t)lane;
	j->of[(size_t)t * j->n + s] = (uint8_t)lane;
}

static int place_pair(struct job *j, uint32_t s, uint32_t t)
{
	for (unsigned lane = 0;; lane++) {
		int ret = lane < j->n_lanes ? E_OK : open_lane(j);

		if (ret == E_OK) {
			ret = add_pair(j, lane, s, t);
		}
		if (ret == E_OK) {
			set_lane(j, s, t, lane);
			j->lane[lane].pairs++;
		}
		if (ret != E_LOOP) {
			return ret;
		}
	}
}

/* Pairs of one distance of which both switches have hosts, or the others. */
static int place_pairs_at(struct job *j, unsigned distance, bool data)
{
	const uint32_t *order = j->in->order;

	for (uint32_t i = 0; i < j->n; i++) {
		uint32_t s = order ? order[i] : i;

		for (uint32_t k = i + 1; k < j->n; k++) {
			uint32_t t = order ? order[k] : k;
			int ret;

			if (hops_between(j->in->hops, s, t) != distance ||
			    (has_hosts(j, s) && has_hosts(j, t)) != data) {
				continue;
			}
			ret = place_pair(j, s, t);
			if (ret != E_OK) {
				return ret;
			}
		}
	}
	return E_OK;
}

/* The nearest first: on tori that takes a lane less than any order by place. */
static int place_pairs(struct job *j, bool data)
{
	int ret = E_OK;

	for (unsigned d = 1; ret == E_OK && d <= j->in->hops->diameter; d++) {
		bool stop = j->in->cancel && *j->in->cancel;

		ret = stop ? -ECANCELED : place_pairs_at(j, d, data);
	}
	return ret;
}

/* ---- even lanes ---- */

static void extremes(const struct job *j, unsigned *ret_full, unsigned *ret_empty)
{
	*ret_full = *ret_empty = 0;
	for (unsigned l = 1; l < j->n_lanes; l++) {
		if (j->lane[l].pairs > j->lane[*ret_full].pairs) {
			*ret_full = l;
		}
		if (j->lane[l].pairs < j->lane[*ret_empty].pairs) {
			*ret_empty = l;
		}
	}
}

/* Moves data pairs from the fullest lane to the emptiest until all of one were tried. */
static int even_out(struct job *j)
{
	uint64_t next[LANES_MAX] = { 0 }, end = (uint64_t)j->n * j->n;
	unsigned full, empty;

	extremes(j, &full, &empty);
	while (j->lane[full].pairs > j->lane[empty].pairs + 1) {
		uint64_t i = next[full]++;
		uint32_t s = (uint32_t)(i / j->n), t = (uint32_t)(i % j->n);
		int ret;

		if (i >= end) {
			return E_OK;
		}
		if (t <= s || j->of[i] != full || !has_hosts(j, s) || !has_hosts(j, t) ||
		    hops_between(j->in->hops, s, t) == HOPS_NONE) {
			continue;
		}
		ret = add_pair(j, empty, s, t);
		if (ret == E_OK) {
			set_lane(j, s, t, empty);
			j->lane[full].pairs--;
			j->lane[empty].pairs++;
			extremes(j, &full, &empty);
		} else if (ret != E_LOOP) {
			return ret;
		}
	}
	return E_OK;
}

/* ---- the whole ---- */

static int layer_all(struct job *j, struct lash_layers *ret)
{
	int ret_code = open_lane(j);

	if (ret_code == E_OK && !one_lane_does(j)) {
		ret_code = place_pairs(j, true);
		ret_code = ret_code == E_OK ? even_out(j) : ret_code;
	}
	ret->n_data = j->n_lanes;
	if (ret_code == E_OK) {
		ret_code = place_pairs(j, false);
	}
	ret->n = j->n_lanes;
	ret->lane = j->of;
	return ret_code;
}

int lash_layer(const struct lash_layer_in *in, struct arena *a, struct lash_layers *ret)
{
	struct job j = {
		.in = in, .g = in->g, .n = in->g->n_switches, .tmp = arena_new()
	};
	struct lash_layers out = { .n = 0 };
	int ret_code = j.tmp ? cdg_map_init(&j.map, in->g, j.tmp) : -ENOMEM;

	if (ret_code == E_OK) {
		j.of = arena_array(a, (size_t)j.n * j.n, sizeof(*j.of));
		ret_code = j.of ? make_columns(&j) : -ENOMEM;
	}
	if (ret_code == E_OK) {
		ret_code = layer_all(&j, &out);
	}
	if (ret_code == E_OK) {
		*ret = out;
	}
	arena_free(j.tmp);
	return ret_code;
}

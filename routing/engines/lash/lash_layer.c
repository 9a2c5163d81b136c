/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Assignment of lanes (layers) to pairs of switches.
 *
 * The routes to one LID are a column: each switch's egress channel. Equal columns of LIDs on
 * one switch are stored once. First come the pairs whose switches both have CAs or routers.
 * Then come the pairs with a switch that has no hosts: they carry only management traffic and
 * must not push others to higher lanes. Last, data pairs are moved from the fullest lane to the
 * emptiest; done earlier, the dependencies that they add would push management pairs higher.
 *
 * If all data routes fit one lane, as on a tree, one topological sort of all dependencies
 * shows it. Otherwise pairs are tried one by one, lowest lane first (lash_place.c).
 *
 * A pair that moves leaves its dependencies behind in its old lane. So a lane may look
 * fuller than it is, but never emptier.
 *
 * Source: O. Lysne, T. Skeie, S. Reinemo, I. Theiss, "Layered routing in irregular networks",
 * 2006.
 */
#include "routing/engines/lash/lash_layer.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/lash/lash_cuts.h"
#include "routing/engines/lash/lash_work.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/graph/lids.h"

/* ---- columns ---- */

/* LIDs on one switch: its own, then those of its hosts. */
static uint32_t lid_at(const struct lash_job *j, uint32_t t, uint32_t i)
{
	const struct graph *g = j->g;
	uint32_t port = i == 0 ? graph_port(g, g->switches[t], 0)
	                       : g->hosts[g->host_first[t] + i - 1];

	return j->in->lids->of[port].base;
}

static uint32_t *channels_by_port(const struct lash_job *j)
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

/* The columns of each switch are made where they have enough room, then moved
 * together. */
static int make_columns(struct lash_job *j)
{
	uint32_t *channel_of = channels_by_port(j);
	uint32_t *count = arena_array(j->tmp, j->n, sizeof(*count));
	uint32_t n_cols = j->g->host_first[j->n] + j->n, at = 0, most = 0;

	j->col_first = arena_array(j->tmp, (size_t)j->n + 1, sizeof(*j->col_first));
	j->chan = arena_array(j->tmp, (size_t)n_cols * j->n, sizeof(*j->chan));
	if (!channel_of || !count || !j->col_first || !j->chan) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic, 4)
	for (uint32_t t = 0; t < j->n; t++) {
		size_t first = j->g->host_first[t] + t;
		uint32_t *cols = j->chan + first * j->n;
		uint32_t n_lids = j->g->host_first[t + 1] - j->g->host_first[t] + 1,
			 n = 0;
		size_t bytes = j->n * sizeof(*cols);

		/* columns of the LIDs on switch t, equal ones once */
		for (uint32_t i = 0; i < n_lids; i++) {
			uint32_t *col = cols + (size_t)n * j->n, k = 0;
			uint32_t lid = lid_at(j, t, i);
			uint32_t width = j->g->max_port + 1u;

			for (uint32_t s = 0; s < j->n; s++) {
				uint8_t port = lid && s != t ? lft_row(j->in->lft, s)[lid]
				                             : LFT_NO_ROUTE;

				col[s] = port < width
				                 ? channel_of[(size_t)s * width + port]
				                 : GRAPH_NONE;
			}
			while (k < n &&
			       memcmp(cols + (size_t)k * j->n, col, bytes) != 0) {
				k++;
			}
			n += k == n;
		}
		count[t] = n;
	}
	for (uint32_t t = 0; t < j->n; t++) {
		size_t first = j->g->host_first[t] + t;

		memmove(j->chan + (size_t)at * j->n, j->chan + first * j->n,
		        (size_t)count[t] * j->n * sizeof(*j->chan));
		j->col_first[t] = at;
		at += count[t];
		most = count[t] > most ? count[t] : most;
	}
	j->col_first[j->n] = at;
	j->deps_max = 2 * most * j->in->hops->diameter;
	return E_OK;
}

/* ---- one lane for all ---- */

/* Records the dependencies of the routes from all switches with hosts to one column. */
static void note_column(struct lash_job *j, uint32_t col)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	uint8_t *state = j->lane[0].state + (size_t)col * j->n;

	for (uint32_t s = 0; s < j->n; s++) {
		uint32_t at = s;

		if (!lash_has_hosts(j, s)) {
			continue;
		}
		while (chan[at] != GRAPH_NONE && !state[at]) {
			uint32_t next = j->g->adj[chan[at]].to;

			state[at] = LASH_IN;
			if (chan[next] != GRAPH_NONE) {
				cdg_note(&j->lane[0].cdg, chan[at], chan[next]);
			}
			at = next;
		}
	}
}

/* Are the dependencies of all data pairs together acyclic? Then lane 0 has them all. */
static bool one_lane_does(struct lash_job *j)
{
#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t t = 0; t < j->n; t++) {
		for (uint32_t col = j->col_first[t];
		     lash_has_hosts(j, t) && col < j->col_first[t + 1]; col++) {
			note_column(j, col);
		}
	}
	if (cdg_settle(&j->lane[0].cdg)) {
		return true;
	}
	memset(j->lane[0].state, 0, (size_t)j->col_first[j->n] * j->n);
	return false;
}

/* ---- new lanes ---- */

/* All data pairs are on lane 0, also those of a switch with itself. */
static void mark_one_lane(struct lash_job *j)
{
	for (uint32_t s = 0; s < j->n; s++) {
		for (uint32_t t = 0; t < j->n; t++) {
			if (lash_has_hosts(j, s) && lash_has_hosts(j, t)) {
				j->of[(size_t)s * j->n + t] = 0;
			}
		}
	}
}

static bool is_any_open(const struct lash_job *j)
{
	for (uint32_t s = 0; s < j->n; s++) {
		for (uint32_t t = s + 1; t < j->n; t++) {
			if (j->of[(size_t)s * j->n + t] == LASH_OPEN &&
			    hops_between(j->in->hops, s, t) != HOPS_NONE) {
				return true;
			}
		}
	}
	return false;
}

/* Places the open pairs; the lanes have the others. */
static int layer_open(struct lash_job *j)
{
	int ret = E_OK;

	if (lash_can_close(j)) {
		ret = lash_close_lanes(j);
	}
	if (ret == E_OK) {
		j->limit = j->in->max_data;
		ret = lash_place_pairs(j, true);
		j->limit = j->in->max;
	}
	j->data_placed = ret == E_OK;
	if (ret == E_OK) {
		ret = lash_place_pairs(j, false);
	}
	if (ret == E_OK) {
		lash_balance_lanes(j);
	}
	return ret;
}

/* ---- lanes of the last run ---- */

/* By (t, s): does some route from s to t pass a switch with a changed entry? */
static bool *find_moved(struct lash_job *j)
{
	const bool *changed = j->in->kept->changed;
	bool *moved = arena_array(j->tmp, (size_t)j->n * j->n, sizeof(*moved));

#pragma omp parallel for schedule(dynamic, 8)
	for (uint32_t t = 0; t < (moved ? j->n : 0); t++) {
		bool *of = moved + (size_t)t * j->n;

		for (unsigned d = 1; d <= j->in->hops->diameter; d++) {
			uint32_t n;
			const uint16_t *at = hops_at(j->in->hops, t, d, &n);

			for (uint32_t i = 0; i < n; i++) {
				uint32_t s = at[i], col = j->col_first[t];

				of[s] = changed[(size_t)s * j->n + t];
				for (; col < j->col_first[t + 1]; col++) {
					uint32_t c = j->chan[(size_t)col * j->n + s];

					of[s] |= of[j->g->adj[c].to];
				}
			}
		}
	}
	return moved;
}

static void keep_lane(struct lash_job *j, uint32_t s, uint32_t t)
{
	uint8_t lane = j->in->kept->lane[(size_t)s * j->n + t];

	j->of[(size_t)s * j->n + t] = lane;
	j->of[(size_t)t * j->n + s] = lane;
	j->lane[lane].pairs++;
}

/* Pairs without a changed entry are on their earlier lanes. */
static int note_unmoved(struct lash_job *j, const bool *moved)
{
	int ret = E_OK;

	for (uint32_t s = 0; ret == E_OK && s < j->n; s++) {
		for (uint32_t t = s + 1; ret == E_OK && t < j->n; t++) {
			uint8_t lane = j->in->kept->lane[(size_t)s * j->n + t];

			while (ret == E_OK && lane != LASH_OPEN && j->n_lanes <= lane) {
				ret = lash_open_lane(j);
			}
			if (ret == E_OK && lane != LASH_OPEN &&
			    !moved[(size_t)s * j->n + t] &&
			    !moved[(size_t)t * j->n + s] &&
			    hops_between(j->in->hops, s, t) != HOPS_NONE) {
				keep_lane(j, s, t);
				lash_record_pair(j, lane, s, t);
			}
		}
	}
	for (unsigned lane = 0; ret == E_OK && lane < j->n_lanes; lane++) {
		ret = cdg_settle(&j->lane[lane].cdg) ? E_OK : E_FULL;
	}
	return ret;
}

/* Pairs with a changed entry stay on their lane if they fit. */
static int fit_moved(struct lash_job *j)
{
	for (uint32_t s = 0; s < j->n; s++) {
		for (uint32_t t = s + 1; t < j->n; t++) {
			uint8_t lane = j->in->kept->lane[(size_t)s * j->n + t];

			if (j->of[(size_t)s * j->n + t] != LASH_OPEN ||
			    lane == LASH_OPEN ||
			    hops_between(j->in->hops, s, t) == HOPS_NONE) {
				continue;
			}
			if (lash_add_pair(j, lane, s, t)) {
				keep_lane(j, s, t);
			} else if (j->in->kept->strict && lash_has_hosts(j, s) &&
			           lash_has_hosts(j, t)) {
				return E_FULL;
			}
		}
	}
	return E_OK;
}

static int layer_kept(struct lash_job *j)
{
	bool *moved = find_moved(j);
	int ret = moved ? note_unmoved(j, moved) : -ENOMEM;

	if (ret == E_OK && j->n_lanes == 0) {
		ret = lash_open_lane(j);
	}
	if (ret == E_OK && lash_can_close(j)) {
		ret = lash_close_lanes(j);
	}
	if (ret == E_OK) {
		ret = fit_moved(j);
	}
	if (ret == E_OK) {
		ret = lash_place_pairs(j, true);
	}
	return ret == E_OK ? lash_place_pairs(j, false) : ret;
}

/* ---- all steps ---- */

static bool has_cuts(const struct lash_layer_in *in)
{
	return in->cuts && in->cuts->n && in->cuts->n <= in->max;
}

static int layer_anew(struct lash_job *j)
{
	int ret;

	if (has_cuts(j->in)) {
		ret = lash_place_by_cuts(j);
	} else {
		ret = lash_open_lane(j);
		if (ret == E_OK && one_lane_does(j)) {
			mark_one_lane(j);
		} else if (ret == E_OK && j->in->one_lane) {
			ret = E_FULL;
		}
	}
	return ret == E_OK && is_any_open(j) ? layer_open(j) : ret;
}

static int layer_once(const struct lash_layer_in *in, bool far_first,
                      bool management_far_first, struct arena *a, bool *ret_data_placed,
                      struct lash_layers *ret_layers)
{
	struct lash_job j = { .in = in,
		              .g = in->g,
		              .n = in->g->n_switches,
		              .limit = in->max,
		              .far_first = far_first,
		              .management_far_first = management_far_first,
		              .tmp = arena_new() };
	struct lash_layers out = { .n = 0 };
	int ret = j.tmp ? cdg_map_init(&j.map, in->g, j.tmp) : -ENOMEM;

	if (ret == E_OK) {
		j.of = arena_array(a, (size_t)j.n * j.n, sizeof(*j.of));
		ret = j.of ? make_columns(&j) : -ENOMEM;
	}
	if (ret == E_OK) {
		unsigned n;

		memset(j.of, LASH_OPEN, (size_t)j.n * j.n);
		ret = j.in->kept ? layer_kept(&j) : layer_anew(&j);
		n = 1;
		for (size_t i = 0; i < (size_t)j.n * j.n; i++) {
			if (j.of[i] != LASH_OPEN && j.of[i] >= n) {
				n = j.of[i] + 1U;
			}
			if (j.of[i] != LASH_OPEN && j.of[i] >= out.n_data &&
			    lash_has_hosts(&j, (uint32_t)(i / j.n)) &&
			    lash_has_hosts(&j, (uint32_t)(i % j.n))) {
				out.n_data = j.of[i] + 1U;
			}
		}
		out.n = n;
		for (size_t i = 0; i < (size_t)j.n * j.n; i++) {
			j.of[i] = j.of[i] == LASH_OPEN ? 0 : j.of[i];
		}
		out.lane = j.of;
	}
	if (ret == E_OK) {
		*ret_layers = out;
	}
	*ret_data_placed = j.data_placed;
	arena_free(j.tmp);
	return ret;
}

/* Placing far pairs first mostly takes fewer lanes. If cuts alone do not suffice, placing near
 * pairs first is tried, too; likewise with the management pairs if there is no lane for some. */
int lash_layer(const struct lash_layer_in *in, struct arena *a,
               struct lash_layers *ret_layers)
{
	struct lash_layers near = { .n = 0 };
	bool placed;
	int ret = layer_once(in, true, !has_cuts(in), a, &placed, ret_layers);

	if (has_cuts(in) ? ret == E_FULL || (ret == E_OK && ret_layers->n > in->cuts->n)
	                 : ret == E_FULL && placed && in->kept == NULL) {
		int ret_near = layer_once(in, !has_cuts(in), false, a, &placed, &near);

		if (ret_near == E_OK && (ret != E_OK || near.n < ret_layers->n)) {
			*ret_layers = near;
		}
		if (ret_near != E_FULL) {
			ret = ret_near;
		}
	}
	return ret;
}

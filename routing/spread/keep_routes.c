/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Keeps columns and lanes of the last run.
 *
 * Lanes: the routes that are unchanged are gathered first, each lane with the
 * dependencies that they make. Each lane is checked once for a cycle, because the last
 * run may have been that of another engine. The other routes are fitted one by one.
 *
 * keep_all() keeps all earlier tables, for engines whose routes depend on each other.
 */
#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/cdg.h"
#include "routing/graph/column.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/spread/keep.h"

/* ---- columns ---- */

/* Working memory of one thread: a column of today, and the same column of the earlier
 * tables. */
struct pair {
	struct column *now, *old;
	uint16_t *hops, *hops_old; /* [n] UINT16_MAX: does not arrive */
};

static void count_hops(const struct column *c, uint32_t n, uint16_t *hops)
{
	memset(hops, 0xff, n * sizeof(*hops));
	for (uint32_t i = 0; i < c->n_order; i++) {
		hops[c->order[i]] = i ? (uint16_t)(hops[c->next[c->order[i]]] + 1) : 0;
	}
}

/* A switch without an earlier entry, such as one that was restarted, takes that of today,
 * if the earlier column arrives from the next switch. */
static void add_new_switches(const struct pair *p)
{
	for (uint32_t i = 1; i < p->now->n_order; i++) {
		uint32_t s = p->now->order[i], next = p->now->next[s];

		if (p->old->port[s] == LFT_NO_ROUTE && p->hops_old[next] != UINT16_MAX) {
			p->hops_old[s] = (uint16_t)(p->hops_old[next] + 1);
		}
	}
}

/* Takes the earlier column unless it is a detour: a route between hosts may not get
 * longer, and all routes together may get longer by a quarter. */
static void keep_column(const struct column_map *old, const struct pair *p, uint32_t lid,
                        struct lft *ret_lft)
{
	uint64_t sum = 0, sum_old = 0;

	count_hops(p->now, old->n, p->hops);
	count_hops(p->old, old->n, p->hops_old);
	add_new_switches(p);
	for (uint32_t s = 0; s < old->n; s++) {
		if (p->hops[s] == UINT16_MAX) {
			continue;
		}
		if (p->hops_old[s] == UINT16_MAX ||
		    (p->now->to_host && old->n_hosts[s] && p->hops_old[s] > p->hops[s])) {
			return;
		}
		sum += p->hops[s];
		sum_old += p->hops_old[s];
	}
	for (uint32_t s = 0; sum_old <= sum + sum / 4 && s < old->n; s++) {
		if (p->hops[s] != UINT16_MAX && p->old->port[s] != LFT_NO_ROUTE) {
			lft_row(ret_lft, s)[lid] = p->old->port[s];
		}
	}
}

static struct pair *pairs_new(const struct column_map *m, unsigned n, struct arena *a)
{
	struct pair *p = arena_array(a, n, sizeof(*p));
	struct column *c = column_new(m, 2 * n, a);

	for (unsigned i = 0; p && c && i < n; i++) {
		p[i].now = &c[2 * i];
		p[i].old = &c[2 * i + 1];
		p[i].hops = arena_array(a, m->n, sizeof(*p->hops));
		p[i].hops_old = arena_array(a, m->n, sizeof(*p->hops_old));
		if (!p[i].hops || !p[i].hops_old) {
			return NULL;
		}
	}
	return c ? p : NULL;
}

int keep_columns(const struct graph *g, const struct lids *lids, const struct lft *prev,
                 const bool *which, struct lft *ret_lft)
{
	struct arena *tmp = arena_new();
	uint32_t n_blocks = lids->top / COLUMN_BLOCK + 1;
	struct column_map now, old;
	struct pair *pairs = NULL;
	int ret = tmp ? column_map_init(&now, g, lids, ret_lft, tmp) : -ENOMEM;

	if (ret == E_OK) {
		old = now;
		old.lft = prev;
		pairs = pairs_new(&now, column_threads(), tmp);
		ret = pairs ? E_OK : -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < (ret == E_OK ? n_blocks : 0); i++) {
		struct pair *p = &pairs[column_thread()];
		uint32_t lid = i * COLUMN_BLOCK, end = lid + COLUMN_BLOCK;

		column_load_block(&now, p->now, lid);
		column_load_block(&old, p->old, lid);
		for (; lid < end && lid <= lids->top; lid++) {
			if ((!which || which[lid]) && column_resolve(&now, p->now, lid) &&
			    column_resolve(&old, p->old, lid)) {
				keep_column(&old, p, lid, ret_lft);
			}
		}
	}
	arena_free(tmp);
	return ret;
}

/* ---- lanes ---- */

enum {
	LANES_MAX = 15,
	NEW_SHARE = 4, /* more than one in this number are too many new routes or LIDs */
	PENDING = 0xfe /* a route that has no lane yet */
};

/* Working memory of one thread. */
struct workspace {
	struct column *col;
	bool *same; /* [n] the route of a switch is unchanged */
	uint64_t n_kept, n_new;
};

struct keeper {
	const struct keep_lanes *in;
	struct column_map map;
	struct cdg_map channels;
	struct cdg cdg[LANES_MAX];
	uint8_t *lane;
	struct workspace *work; /* [threads] */
	uint32_t *added;        /* [n][2] dependencies of one route */
};

static uint8_t *lane_at(const struct keeper *k, uint32_t s, uint32_t lid)
{
	return &k->lane[s * k->in->lft->stride + lid];
}

/*
 * Keeps the lanes of the unchanged routes to one LID, the nearest switch first, and notes
 * the dependencies that they make.
 */
static void keep_routes_to(struct keeper *k, struct workspace *b)
{
	const struct keep_lanes *in = k->in;
	const struct column *c = b->col;

	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t from = c->order[i], s = from, next = c->next[s];
		unsigned lane = lane_of(in->prev_lanes, from, c->lid);

		b->same[from] = lft_row(in->prev, from)[c->lid] == c->port[from] &&
		                (i == 0 || b->same[next]);
		if (!b->same[from] || lane >= in->n) {
			*lane_at(k, from, c->lid) = PENDING;
			/* the lanes of switches without hosts are not known after a restart */
			b->n_new += !b->same[from] || lane != LANE_UNKNOWN;
			continue;
		}
		*lane_at(k, from, c->lid) = (uint8_t)lane;
		b->n_kept++;
		/* up to the first switch from which the route is on the same lane */
		while (s != c->home && next != c->home) {
			cdg_note(&k->cdg[lane], c->channel[s], c->channel[next]);
			if (*lane_at(k, next, c->lid) == lane) {
				break;
			}
			s = next;
			next = c->next[s];
		}
	}
}

/* Returns whether most routes were kept. */
static bool keep_routes(struct keeper *k)
{
	uint32_t top = k->in->lids->top, n_blocks = top / COLUMN_BLOCK + 1;
	uint64_t n_kept = 0, n_new = 0;

#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct workspace *b = &k->work[column_thread()];
		uint32_t lid = i * COLUMN_BLOCK, end = lid + COLUMN_BLOCK;

		column_load_block(&k->map, b->col, lid);
		for (; lid < end && lid <= top; lid++) {
			if (column_resolve(&k->map, b->col, lid)) {
				keep_routes_to(k, b);
			}
		}
	}
	for (unsigned i = 0; i < column_threads(); i++) {
		n_kept += k->work[i].n_kept;
		n_new += k->work[i].n_new;
	}
	return n_new * NEW_SHARE <= n_kept + n_new;
}

/* Adds all dependencies of a route to a lane, or none. */
static bool fits(struct keeper *k, const struct column *c, uint32_t s, unsigned lane)
{
	struct cdg *g = &k->cdg[lane];
	uint32_t n = 0;

	for (; s != c->home && c->next[s] != c->home; s = c->next[s]) {
		uint32_t from = c->channel[s], to = c->channel[c->next[s]];

		if (cdg_has(g, from, to)) {
			continue;
		}
		if (!cdg_add(g, from, to)) {
			while (n--) {
				cdg_remove(g, k->added[2 * n], k->added[2 * n + 1]);
			}
			return false;
		}
		k->added[2 * n] = from;
		k->added[2 * n++ + 1] = to;
	}
	return true;
}

/*
 * Finds lanes for the routes to one LID that have none, the nearest switch first, so that
 * the route of the next hop has its lane already. Lanes are tried from that lane on, and
 * for the home switch from one that follows from the LID.
 */
static bool fit_column(struct keeper *k, const struct column *c)
{
	unsigned n = k->in->n;

	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i];
		uint8_t *lane = lane_at(k, s, c->lid);
		unsigned first, tried = 0;

		if (*lane != PENDING) {
			continue;
		}
		first = i ? *lane_at(k, c->next[s], c->lid)
		          : (unsigned)((uint64_t)(c->lid * UINT32_C(2654435769)) * n >>
		                       32);
		while (tried < n && !fits(k, c, s, (first + tried) % n)) {
			tried++;
		}
		if (tried == n) {
			return false;
		}
		*lane = (uint8_t)((first + tried) % n);
	}
	return true;
}

static int keeper_init(struct keeper *k, struct arena *tmp)
{
	const struct graph *g = k->in->g;
	unsigned threads = column_threads();
	struct column *col;
	int ret = column_map_init(&k->map, g, k->in->lids, k->in->lft, tmp);

	if (ret == E_OK) {
		ret = cdg_map_init(&k->channels, g, tmp);
	}
	for (unsigned i = 0; ret == E_OK && i < k->in->n; i++) {
		ret = cdg_init(&k->cdg[i], &k->channels, NULL, tmp);
	}
	col = ret == E_OK ? column_new(&k->map, threads, tmp) : NULL;
	k->work = arena_array(tmp, threads, sizeof(*k->work));
	k->added = arena_array(tmp, g->n_switches + 1U, 2 * sizeof(*k->added));
	k->lane = arena_array(tmp, g->n_switches, k->in->lft->stride);
	if (!col || !k->work || !k->added || !k->lane) {
		return -ENOMEM;
	}
	for (unsigned i = 0; i < threads; i++) {
		k->work[i].col = &col[i];
		k->work[i].same = arena_array(tmp, g->n_switches + 1U, sizeof(bool));
		if (!k->work[i].same) {
			return -ENOMEM;
		}
	}
	return E_OK;
}

static int fit_lanes(struct keeper *k, struct arena *tmp)
{
	struct column *c;
	int ret = keeper_init(k, tmp);

	if (ret != E_OK) {
		return ret;
	}
	if (!keep_routes(k)) {
		return E_UNSUITABLE;
	}
	for (unsigned i = 0; i < k->in->n; i++) {
		if (!cdg_settle(&k->cdg[i])) {
			return E_UNSUITABLE;
		}
	}
	c = k->work[0].col;
	for (uint32_t lid = 1; lid <= k->in->lids->top; lid++) {
		if (lid == 1 || lid % COLUMN_BLOCK == 0) {
			column_load_block(&k->map, c, lid / COLUMN_BLOCK * COLUMN_BLOCK);
		}
		if (column_resolve(&k->map, c, lid) && !fit_column(k, c)) {
			return E_UNSUITABLE;
		}
	}
	return E_OK;
}

int keep_lanes(const struct keep_lanes *in, uint8_t *lane)
{
	struct keeper k = { .in = in };
	struct arena *tmp;
	int ret = -ENOMEM;

	if (!in->prev_lanes || in->prev_lanes->rule || !in->prev_lanes->n ||
	    !keep_has_shape(in->prev, in->lft) ||
	    (in->prev_lanes->rows && in->prev_lanes->stride != in->lft->stride)) {
		return E_UNSUITABLE;
	}
	tmp = arena_new();
	if (tmp) {
		ret = fit_lanes(&k, tmp);
	}
	if (ret == E_OK) {
		memcpy(lane, k.lane, in->g->n_switches * in->lft->stride);
	}
	arena_free(tmp);
	return ret;
}

/* ---- all tables ---- */

struct whole {
	const struct keep_lanes *in;
	struct column_map map; /* of the earlier tables */
	struct column *col;    /* [threads] */
	uint32_t *like;        /* [top + 1] the LID whose column it gets; 0: none */
	uint32_t *n_like;      /* [n_switches] LIDs of hosts that have one */
	uint32_t *first;       /* [n_switches + 1] into list */
	uint32_t *list;        /* LIDs of hosts that have a column, by switch */
};

/* Finds the LIDs that the earlier entries reach from everywhere. */
static void find_complete(struct whole *w)
{
	uint32_t top = w->in->lids->top, n_blocks = top / COLUMN_BLOCK + 1;

#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t i = 0; i < n_blocks; i++) {
		struct column *c = &w->col[column_thread()];
		uint32_t lid = i * COLUMN_BLOCK, end = lid + COLUMN_BLOCK;

		column_load_block(&w->map, c, lid);
		for (; lid < end && lid <= top; lid++) {
			if (column_resolve(&w->map, c, lid)) {
				uint32_t part = w->map.part[c->home];

				w->like[lid] =
					c->n_order == w->map.part_first[part + 1] -
								w->map.part_first[part]
						? lid
						: 0;
			}
		}
	}
}

static uint32_t home_of(const struct whole *w, uint32_t lid)
{
	uint32_t owner = w->in->lids->owner[lid];

	return owner == GRAPH_NONE ? GRAPH_NONE : graph_switch_of(w->in->g, owner);
}

static bool is_host(const struct whole *w, uint32_t lid)
{
	return w->in->g->ports[w->in->lids->owner[lid]].num != 0;
}

/* Lists the LIDs of hosts among these by switch. */
static void list_hosts(struct whole *w)
{
	uint32_t n = w->in->g->n_switches, sum = 0;

	for (uint32_t lid = 1; lid <= w->in->lids->top; lid++) {
		if (w->like[lid] && is_host(w, lid)) {
			w->n_like[home_of(w, lid)]++;
		}
	}
	for (uint32_t s = 0; s <= n; s++) {
		w->first[s] = sum;
		sum += s < n ? w->n_like[s] : 0;
	}
	memset(w->n_like, 0, n * sizeof(*w->n_like));
	for (uint32_t lid = 1; lid <= w->in->lids->top; lid++) {
		if (w->like[lid] && is_host(w, lid)) {
			uint32_t s = home_of(w, lid);

			w->list[w->first[s] + w->n_like[s]++] = lid;
		}
	}
}

/* Assigns these to the other LIDs round robin. Returns false if a switch has no such LID,
 * or if there are too many others. */
static bool assign_columns(struct whole *w)
{
	const struct lids *lids = w->in->lids;
	uint32_t n_new = 0;

	for (uint32_t lid = 1; lid <= lids->top; lid++) {
		uint32_t s = home_of(w, lid), own;

		if (s == GRAPH_NONE || w->like[lid]) {
			continue;
		}
		if (++n_new * NEW_SHARE > lids->count) {
			return false;
		}
		own = lids->of[graph_port(w->in->g, w->in->g->switches[s], 0)].base;
		if (w->n_like[s]) {
			w->like[lid] = w->list[w->first[s] + lid % w->n_like[s]];
		} else if (own && w->like[own] == own) {
			w->like[lid] = own;
		} else {
			return false;
		}
	}
	return true;
}

/* Copies columns of the earlier tables, or of their lanes. */
static void copy_columns(const struct whole *w, const uint8_t *rows, size_t from_stride,
                         uint8_t *ret_rows, size_t stride)
{
#pragma omp parallel for schedule(static)
	for (uint32_t s = 0; s < w->in->g->n_switches; s++) {
		for (uint32_t lid = 1; lid <= w->in->lids->top; lid++) {
			if (w->like[lid]) {
				ret_rows[s * stride + lid] =
					rows[s * from_stride + w->like[lid]];
			}
		}
	}
}

static int whole_init(struct whole *w, struct arena *tmp)
{
	const struct keep_lanes *in = w->in;
	size_t n = (size_t)in->g->n_switches + 1, n_lids = (size_t)in->lids->top + 1;
	int ret = column_map_init(&w->map, in->g, in->lids, in->prev, tmp);

	w->col = ret == E_OK ? column_new(&w->map, column_threads(), tmp) : NULL;
	w->like = arena_array(tmp, n_lids, sizeof(*w->like));
	w->list = arena_array(tmp, n_lids, sizeof(*w->list));
	w->n_like = arena_array(tmp, n, sizeof(*w->n_like));
	w->first = arena_array(tmp, n, sizeof(*w->first));
	return w->col && w->like && w->list && w->n_like && w->first ? E_OK : -ENOMEM;
}

static int keep_whole_tables(struct whole *w, struct arena *a, struct arena *tmp,
                             struct lft *ret_lft, struct lanes *ret_lanes)
{
	struct lanes lanes = { .n = (uint8_t)w->in->n, .stride = ret_lft->stride };
	const struct lanes *old = w->in->prev_lanes;
	const struct graph *g = w->in->g;
	int ret = whole_init(w, tmp);

	if (ret != E_OK) {
		return ret;
	}
	find_complete(w);
	list_hosts(w);
	if (!assign_columns(w)) {
		return E_UNSUITABLE;
	}
	copy_columns(w, w->in->prev->rows, w->in->prev->stride, ret_lft->rows,
	             ret_lft->stride);
	for (uint32_t lid = 1; lid <= w->in->lids->top; lid++) {
		uint32_t owner = w->in->lids->owner[lid];

		if (w->like[lid] && w->like[lid] != lid) {
			/* the last hop differs from that of the LID it is copied from */
			lft_row(ret_lft, home_of(w, lid))[lid] =
				is_host(w, lid) ? g->ports[g->ports[owner].peer].num : 0;
		}
	}
	if (old->rows) {
		lanes.rows = arena_array(a, ret_lft->n_switches, ret_lft->stride);
		if (!lanes.rows) {
			return -ENOMEM;
		}
		copy_columns(w, old->rows, old->stride, lanes.rows, ret_lft->stride);
	}
	*ret_lanes = lanes;

	/* the lanes of the complete tables, as if all of them had been kept */
	struct keep_lanes all = *w->in;
	uint8_t *lane = arena_array(tmp, ret_lft->n_switches, ret_lft->stride);

	all.lft = all.prev = ret_lft;
	all.prev_lanes = &lanes;
	ret = lane ? keep_lanes(&all, lane) : -ENOMEM;
	if (ret == E_OK && lanes.rows) { /* with those that were not known */
		memcpy(lanes.rows, lane, ret_lft->n_switches * ret_lft->stride);
	}
	return ret;
}

int keep_all(const struct keep_lanes *in, struct arena *a, struct lft *ret_lft,
             struct lanes *ret_lanes)
{
	struct whole w = { .in = in };
	struct arena *tmp;
	int ret;

	if (!keep_has_shape(in->prev, ret_lft) || !in->prev_lanes ||
	    in->prev_lanes->rule || in->prev_lanes->n != in->n) {
		return E_UNSUITABLE;
	}
	tmp = arena_new();
	ret = tmp ? keep_whole_tables(&w, a, tmp, ret_lft, ret_lanes) : -ENOMEM;
	arena_free(tmp);
	return ret;
}

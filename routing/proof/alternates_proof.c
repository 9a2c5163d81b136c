/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Alternates and credit loops.
 *
 * For one LID every switch has a set of ports: that of the table and its alternates. All of
 * them lead one hop nearer. So the switches of a column are walked from the far ones to the
 * near ones, and when a switch is visited, all packets that can reach it are known. A packet
 * that arrived over channel c may go on through any port of the switch behind c: these are
 * the dependencies. They are collected per VL for all LIDs, and searched for cycles as in
 * the proof of the tables (routing/proof/proof.c).
 *
 * Thinning needs no search. The dependencies of the tables alone have no cycle, so channels
 * get places in an order in which they all lead forward (Kahn 1962). From the near switches
 * to the far ones, an alternate stays if its channel stands before every channel through
 * which the switch behind it may go on, and behind every channel over which the tables
 * bring packets for this LID. Where the tables bring no packets, as to a switch without hosts, their own
 * dependencies are not in the order, and an alternate may lead there only if they are forward, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/alternates.h"
#include "routing/proof/alternates_int.h"
#include "routing/proof/proof_cycle.h"

enum { VLS_MAX = 16, SEEN_BYTES = 16 << 20 /* per thread */ };

/* Shared by the columns. */
struct packet_graph {
	struct column_map m;
	const struct lanes *lanes;  /* NULL: one lane */
	const struct alternates *x; /* NULL: the tables alone */
	struct deps deps[VLS_MAX];
	unsigned n_vls;
};

/* Working memory of one thread for one column. */
struct visit {
	struct column *col;
	uint8_t *dist;    /* [n] hops, of switches that arrive */
	uint32_t *near;   /* [n_order] switches by distance, home first */
	uint32_t *first;  /* [257] */
	uint16_t *marks;  /* [n] lanes of packets that come by */
	uint32_t *now;    /* [n] what decides the dependencies of the column */
	uint32_t *seen;   /* [n_seen][n] the same of the last column with this home */
	uint32_t *seen_of; /* [n] by home, place in seen + 1; 0: none yet */
	uint32_t n_seen, max_seen;
};

static unsigned lane_for(const struct packet_graph *w, uint32_t s, uint32_t lid)
{
	return w->lanes ? lane_of(w->lanes, s, lid) % VLS_MAX : 0;
}

/* --- one column --------------------------------------------------------------------- */

/* Sorts the switches that arrive by distance. */
static void sort_column(struct visit *v)
{
	const struct column *c = v->col;

	memset(v->first, 0, 257 * sizeof(*v->first));
	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i];
		unsigned hops = i ? v->dist[c->next[s]] + 1U : 0;

		v->dist[s] = hops < FAR ? (uint8_t)hops : FAR;
		v->first[v->dist[s] + 1]++;
	}
	for (unsigned d = 0; d < 256; d++) {
		v->first[d + 1] += v->first[d];
	}
	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i];

		v->near[v->first[v->dist[s]]++] = s;
	}
}

static struct port_set ports_of(const struct packet_graph *w, const struct column *c,
                                uint32_t s)
{
	const struct port_set *also = w->x ? alternates_of(w->x, s, c->lid) : NULL;
	struct port_set set = { { 0 } };

	if (also) {
		set = *also;
	}
	port_set_add(&set, c->port[s]);
	return set;
}

static void add_set(const struct deps *d, uint32_t channel, const struct port_set *set)
{
	uint64_t *row = d->bits + (size_t)channel * d->words;

	for (unsigned i = 0; i < d->words; i++) {
		uint64_t more = set->word[i] & ~__atomic_load_n(&row[i], __ATOMIC_RELAXED);

		if (more) {
			__atomic_fetch_or(&row[i], more, __ATOMIC_RELAXED);
		}
	}
}

/* Packets with these lanes take this port. */
static void cross(const struct packet_graph *w, struct visit *v, uint32_t s,
                  unsigned port)
{
	const struct column_hop *hop = &w->m.hop[(size_t)s * w->m.width + port];
	unsigned marks = v->marks[s];

	v->marks[hop->next] |= (uint16_t)marks;
	if (hop->next == v->col->home) {
		return;
	}
	struct port_set on = ports_of(w, v->col, hop->next);

	for (; marks; marks &= marks - 1) {
		add_set(&w->deps[__builtin_ctz(marks)], hop->channel, &on);
	}
}

/* LIDs on one switch mostly have the same alternates everywhere, and so the same
 * dependencies: has the last one with this home done it all? */
static bool seen_before(const struct packet_graph *w, struct visit *v)
{
	const struct column *c = v->col;
	uint32_t *place = &v->seen_of[c->home], n = w->m.n;
	bool same;

	memset(v->now, 0xff, n * sizeof(*v->now));
	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i], group = PORT_GROUP_NONE;

		if (w->x) {
			group = w->x->rows[s * w->x->stride + c->lid];
		}
		v->now[s] = (group != PORT_GROUP_NONE ? group << 16 : 0xff0000U | c->port[s]) |
		            lane_for(w, s, c->lid) << 24;
	}
	v->now[c->home] = 0;
	if (*place == 0 && v->n_seen < v->max_seen) {
		*place = ++v->n_seen;
		memcpy(v->seen + (size_t)(*place - 1) * n, v->now, n * sizeof(*v->now));
		return false;
	}
	if (*place == 0) {
		return false;
	}
	uint32_t *last = v->seen + (size_t)(*place - 1) * n;

	same = memcmp(last, v->now, n * sizeof(*v->now)) == 0;
	memcpy(last, v->now, n * sizeof(*v->now));
	return same;
}

static void depend_column(const struct packet_graph *w, struct visit *v)
{
	const struct column *c = v->col;

	if (seen_before(w, v)) {
		return;
	}
	sort_column(v);
	for (uint32_t i = 0; i < c->n_order; i++) {
		uint32_t s = c->order[i];

		v->marks[s] = w->m.n_hosts[s] ? (uint16_t)(1U << lane_for(w, s, c->lid)) : 0;
	}
	for (uint32_t i = c->n_order; i-- > 1;) { /* home, the nearest, goes nowhere */
		uint32_t s = v->near[i];
		struct port_set set = ports_of(w, c, s);

		for (unsigned k = 0; v->marks[s] && k < PORT_SET_WORDS; k++) {
			for (uint64_t left = set.word[k]; left; left &= left - 1) {
				cross(w, v, s, k * 64 + (unsigned)__builtin_ctzll(left));
			}
		}
	}
}

/* --- all columns -------------------------------------------------------------------- */

static unsigned count_vls(const struct packet_graph *w)
{
	unsigned top = 0;

	for (uint32_t s = 0; w->lanes && s < w->m.n; s++) {
		for (uint32_t lid = 1; w->m.n_hosts[s] && lid <= w->m.lids->top; lid++) {
			unsigned vl = lane_for(w, s, lid);

			top = vl > top ? vl : top;
		}
	}
	return top + 1;
}

static int packet_graph_init(struct packet_graph *w, const struct graph *g,
                             const struct lids *lids, const struct lft *lft,
                             const struct lanes *lanes, const struct alternates *x,
                             struct arena *tmp)
{
	int ret = column_map_init(&w->m, g, lids, lft, tmp);

	if (ret != E_OK) {
		return ret;
	}
	w->lanes = lanes && lanes->rows ? lanes : NULL;
	w->x = x;
	w->n_vls = count_vls(w);
	for (unsigned vl = 0; ret == E_OK && vl < w->n_vls; vl++) {
		ret = deps_init(&w->deps[vl], &w->m, 0, tmp);
	}
	return ret;
}

static struct visit *visits_new(const struct column_map *m, unsigned n, struct arena *tmp)
{
	struct visit *v = arena_array(tmp, n, sizeof(*v));
	struct column *cols = column_new(m, n, tmp);

	for (unsigned i = 0; v && cols && i < n; i++) {
		v[i].col = &cols[i];
		v[i].dist = arena_alloc(tmp, m->n);
		v[i].near = arena_array(tmp, m->n, sizeof(*v->near));
		v[i].first = arena_array(tmp, 257, sizeof(*v->first));
		v[i].marks = arena_array(tmp, m->n, sizeof(*v->marks));
		v[i].now = arena_array(tmp, m->n, sizeof(*v->now));
		v[i].seen_of = arena_array(tmp, m->n, sizeof(*v->seen_of));
		v[i].max_seen = SEEN_BYTES / (m->n * sizeof(*v->seen) + 1);
		v[i].max_seen = v[i].max_seen < m->n ? v[i].max_seen : m->n;
		v[i].seen = arena_array(tmp, (size_t)v[i].max_seen * m->n, sizeof(*v->seen));
		if (!v[i].dist || !v[i].near || !v[i].first || !v[i].marks || !v[i].now ||
		    !v[i].seen_of || !v[i].seen) {
			return NULL;
		}
	}
	return cols ? v : NULL;
}

static int collect(const struct packet_graph *w, struct arena *tmp)
{
	struct visit *visits = visits_new(&w->m, column_threads(), tmp);
	uint32_t top = w->m.lids->top;

	if (!visits) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic)
	for (uint32_t block = 0; block <= top / COLUMN_BLOCK; block++) {
		struct visit *v = &visits[column_thread()];
		uint32_t first = block * COLUMN_BLOCK;

		column_load_block(&w->m, v->col, first);
		for (uint32_t lid = first; lid < first + COLUMN_BLOCK && lid <= top; lid++) {
			if (lid && column_resolve(&w->m, v->col, lid) && v->col->to_host) {
				depend_column(w, v);
			}
		}
	}
	return E_OK;
}

int alternates_prove(const struct graph *g, const struct lids *lids, const struct lft *lft,
                     const struct lanes *lanes, const struct alternates *x,
                     uint64_t *ret_loops)
{
	struct arena *tmp = arena_new();
	struct packet_graph w = { .x = x };
	uint64_t loops = 0;
	int ret = tmp ? packet_graph_init(&w, g, lids, lft, lanes, x, tmp) : -ENOMEM;

	if (ret == E_OK) {
		ret = collect(&w, tmp);
	}
	for (unsigned vl = 0; ret == E_OK && vl < w.n_vls; vl++) {
		struct components comps;

		ret = deps_components(&w.deps[vl], tmp, &comps);
		loops += ret == E_OK ? comps.n : 0;
	}
	if (ret == E_OK) {
		*ret_loops = loops;
	}
	arena_free(tmp);
	return ret;
}

/* --- thinning ----------------------------------------------------------------------- */

struct thinner {
	struct packet_graph w;
	uint64_t *place[VLS_MAX]; /* [n_adj] of a channel in the order, from 1 */
	uint64_t *least[VLS_MAX]; /* [n] the first place through which a switch goes on */
	uint64_t *most[VLS_MAX];  /* [n] the last place over which the tables come in */
	bool *sound; /* [n] from this switch on all goes forward; false where no packet comes by the tables
	                and the tables go backward */
	struct port_collector **collector; /* [n] */
	uint16_t *number; /* [n][stride] set of the collector, NO_SET: none */
	size_t stride;
	uint64_t thinned;
};

enum { NO_SET = UINT16_MAX };

/* Channels that follow channel c, one after the other. */
static uint32_t next_channel(const struct deps *d, uint32_t c, unsigned *port)
{
	const struct column_map *m = d->map;
	const uint64_t *row = d->bits + (size_t)c * d->words;

	for (unsigned p = *port; p < m->width; p++) {
		if (row[p / 64] >> p % 64 & 1) {
			*port = p + 1;
			return m->hop[(size_t)m->g->adj[c].to * m->width + p].channel;
		}
	}
	return GRAPH_NONE;
}

/* Kahn's order by levels: a channel stands behind all on which it can be waited for. */
static int order_channels(const struct deps *d, struct arena *tmp, uint64_t *place)
{
	uint32_t n = d->map->g->n_adj, head = 0, tail = 0, next;
	uint32_t *before = arena_array(tmp, n, sizeof(*before));
	uint32_t *level = arena_array(tmp, n, sizeof(*level));
	uint32_t *queue = arena_array(tmp, n, sizeof(*queue));

	if (!before || !level || !queue) {
		return -ENOMEM;
	}
	for (uint32_t c = 0; c < n; c++) {
		for (unsigned port = 0; (next = next_channel(d, c, &port)) != GRAPH_NONE;) {
			before[next]++;
		}
	}
	for (uint32_t c = 0; c < n; c++) {
		if (!before[c]) {
			queue[tail++] = c;
		}
	}
	while (head < tail) {
		uint32_t c = queue[head++];

		place[c] = (uint64_t)level[c] * n + c + 1;
		for (unsigned port = 0; (next = next_channel(d, c, &port)) != GRAPH_NONE;) {
			level[next] = level[next] > level[c] ? level[next] : level[c] + 1;
			if (--before[next] == 0) {
				queue[tail++] = next;
			}
		}
	}
	return tail == n ? E_OK : E_CREDITLOOP;
}

static void start_column(struct thinner *t, struct visit *v)
{
	const struct column *c = v->col;

	sort_column(v);
	for (unsigned vl = 0; vl < t->w.n_vls; vl++) {
		for (uint32_t i = 0; i < c->n_order; i++) {
			t->least[vl][c->order[i]] = UINT64_MAX;
			t->most[vl][c->order[i]] = 0;
		}
		for (uint32_t i = 1; i < c->n_order; i++) {
			uint32_t s = c->order[i];
			uint64_t *most = &t->most[vl][c->next[s]];
			uint64_t place = t->place[vl][c->channel[s]];

			t->least[vl][s] = place;
			*most = place > *most ? place : *most;
		}
	}
}

/* Do packets that come to this switch go forward to the home? By the tables alone perhaps none comes, so
 * its dependencies need not be in the order. The next one is done. */
static bool is_sound(const struct thinner *t, const struct column *c, uint32_t s)
{
	uint32_t next = c->next[s];

	for (unsigned vl = 0; vl < t->w.n_vls; vl++) {
		if (t->place[vl][c->channel[s]] >= t->least[vl][next]) {
			return false;
		}
	}
	return t->sound[next];
}

/* May packets that come in by the tables go on over this channel, and from there? */
static bool leads_forward(const struct thinner *t, uint32_t s, const struct column_hop *hop)
{
	if (!t->sound[hop->next]) {
		return false;
	}
	for (unsigned vl = 0; vl < t->w.n_vls; vl++) {
		uint64_t place = t->place[vl][hop->channel];

		if (place <= t->most[vl][s] || place >= t->least[vl][hop->next]) {
			return false;
		}
	}
	return true;
}

static struct port_set thin_set(struct thinner *t, const struct column *c, uint32_t s,
                                const struct port_set *set)
{
	const struct column_map *m = &t->w.m;
	struct port_set kept = { { 0 } };

	port_set_add(&kept, c->port[s]);
	for (unsigned port = 1; port < m->width; port++) {
		const struct column_hop *hop = &m->hop[(size_t)s * m->width + port];

		if (!port_set_has(set, port) || port == c->port[s]) {
			continue;
		}
		if (!leads_forward(t, s, hop)) {
			t->thinned++;
			continue;
		}
		port_set_add(&kept, port);
		for (unsigned vl = 0; vl < t->w.n_vls; vl++) {
			uint64_t place = t->place[vl][hop->channel];

			if (place < t->least[vl][s]) {
				t->least[vl][s] = place;
			}
		}
	}
	return kept;
}

static int thin_column(struct thinner *t, struct visit *v, const struct alternates *x)
{
	const struct column *c = v->col;

	start_column(t, v);
	t->sound[c->home] = true;
	for (uint32_t i = 1; i < c->n_order; i++) {
		uint32_t s = v->near[i];
		const struct port_set *set = alternates_of(x, s, c->lid);
		struct port_set kept;
		uint32_t number;

		t->sound[s] = is_sound(t, c, s);
		if (!set) {
			continue;
		}
		kept = thin_set(t, c, s, set);
		if (port_set_count(&kept) < 2) {
			continue;
		}
		number = port_collector_add(t->collector[s], &kept);
		if (number == UINT32_MAX) {
			return -ENOMEM;
		}
		port_collector_want(t->collector[s], number);
		if (number < NO_SET) {
			t->number[s * t->stride + c->lid] = (uint16_t)number;
		}
	}
	return E_OK;
}

static int thin_columns(struct thinner *t, const struct alternates *x, struct arena *tmp)
{
	struct visit *v = visits_new(&t->w.m, 1, tmp);
	uint32_t top = t->w.m.lids->top;

	if (!v) {
		return -ENOMEM;
	}
	for (uint32_t lid = 0; lid <= top; lid++) {
		if (lid % COLUMN_BLOCK == 0) {
			column_load_block(&t->w.m, v->col, lid);
		}
		if (lid && column_resolve(&t->w.m, v->col, lid) && v->col->to_host &&
		    thin_column(t, v, x) != E_OK) {
			return -ENOMEM;
		}
	}
	return E_OK;
}

static int thinner_init(struct thinner *t, size_t stride, struct arena *tmp)
{
	uint32_t n = t->w.m.n, n_adj = t->w.m.g->n_adj;

	for (unsigned vl = 0; vl < t->w.n_vls; vl++) {
		t->place[vl] = arena_array(tmp, n_adj, sizeof(**t->place));
		t->least[vl] = arena_array(tmp, n, sizeof(**t->least));
		t->most[vl] = arena_array(tmp, n, sizeof(**t->most));
		if (!t->place[vl] || !t->least[vl] || !t->most[vl]) {
			return -ENOMEM;
		}
	}
	t->stride = stride;
	t->number = arena_array(tmp, n * stride, sizeof(*t->number));
	t->sound = arena_array(tmp, n, sizeof(*t->sound));
	t->collector = arena_array(tmp, n, sizeof(struct port_collector *));
	if (!t->number || !t->sound || !t->collector) {
		return -ENOMEM;
	}
	memset(t->number, 0xff, n * stride * sizeof(*t->number));
	for (uint32_t s = 0; s < n; s++) {
		t->collector[s] = port_collector_new();
		if (!t->collector[s]) {
			return -ENOMEM;
		}
	}
	return E_OK;
}

/* Groups in their final order, rows by them. */
static int rewrite(struct thinner *t, const struct adaptive_options *o, struct arena *a,
                   struct alternates *x)
{
	x->served = 0;
	x->full = 0;
	x->thinned = t->thinned;
	for (uint32_t s = 0; s < t->w.m.n; s++) {
		const uint8_t *final;
		uint8_t *row = x->rows + s * x->stride;
		int ret = port_collector_finish(t->collector[s], o->port_groups, a,
		                                &x->groups[s], &final);

		if (ret != E_OK) {
			return ret;
		}
		for (uint32_t lid = 1; lid <= t->w.m.lids->top; lid++) {
			uint16_t number = t->number[s * t->stride + lid];

			row[lid] = number == NO_SET ? PORT_GROUP_NONE : final[number];
			x->served += row[lid] != PORT_GROUP_NONE;
			x->full += number != NO_SET && row[lid] == PORT_GROUP_NONE;
		}
	}
	return E_OK;
}

static int thin(struct thinner *t, const struct adaptive_options *o, struct arena *a,
                struct arena *tmp, struct alternates *x)
{
	int ret = collect(&t->w, tmp); /* of the tables alone */

	if (ret == E_OK) {
		ret = thinner_init(t, x->stride, tmp);
	}
	for (unsigned vl = 0; ret == E_OK && vl < t->w.n_vls; vl++) {
		ret = order_channels(&t->w.deps[vl], tmp, t->place[vl]);
	}
	if (ret == E_OK) {
		ret = thin_columns(t, x, tmp);
	}
	return ret == E_OK ? rewrite(t, o, a, x) : ret;
}

int alternates_thin(const struct graph *g, const struct lids *lids, const struct lft *lft,
                    const struct lanes *lanes, const struct adaptive_options *o,
                    struct arena *a, struct alternates *x)
{
	struct arena *tmp = arena_new();
	struct thinner t = { 0 };
	int ret = tmp ? packet_graph_init(&t.w, g, lids, lft, lanes, NULL, tmp) : -ENOMEM;

	if (ret == E_OK) {
		ret = thin(&t, o, a, tmp, x);
	}
	for (uint32_t s = 0; t.collector && s < t.w.m.n; s++) {
		port_collector_free(t.collector[s]);
	}
	arena_free(tmp);
	return ret;
}

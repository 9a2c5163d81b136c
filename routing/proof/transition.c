/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * The plan of a transition: see transition.h for the theory.
 *
 * The prover collects the dependencies of LIDs that keep their routes: the base. For a LID
 * that changes, a walk over the graph of both entries collects the dependencies of all
 * mixtures. If base and mixtures together have no cycle, the plan has one stage.
 *
 * Otherwise a stage takes as many of the LIDs as fit. LIDs without a dependency on a cycle
 * are tried first, together. The others are tried in halves, and halves of halves down to
 * single LIDs, so that a few LIDs that do not fit cost few searches for cycles. Each stage
 * starts from the dependencies of the base, of the new routes of earlier stages and of the
 * old routes of all that still wait. So every stage is acyclic as a whole, which is what
 * makes its own order free. When no further LID fits, the rest is tried in stages by rank in the
 * same way, if that is asked for, and what is left then is withdrawn.
 *
 * A walk collects the dependencies of (switch, class of the incoming port, SL): with an
 * SL-to-VL rule these decide the VL, as in proof_rule.c; without one the class is 0
 * and the VL is the SL.
 *
 * Longer than most: stages, switches that change late and LIDs that are withdrawn are found by one walk.
 */
#include "routing/proof/transition.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/proof/proof_int.h"

/* Tables of a mixture; BY_RANK stands alone. */
enum { FROM = 1, TO = 2, BY_RANK = 4, SEARCHES_MAX = 512 };

/* Working memory of one thread. */
struct walk {
	uint64_t *seen;  /* [n] bit per (class, SL) */
	uint32_t *stack; /* [n * 64] switch << 6 | class << 4 | SL */
	uint8_t *colour; /* [n] of the search for forwarding loops */
	uint8_t *choice; /* [n] entries of the switch that are followed already */
};

struct planner {
	const struct transition_in *in;
	struct prover pv; /* of the new tables; base: dependencies of unchanged LIDs */
	unsigned shift, n_graphs, levels;
	size_t words; /* of all graphs together */
	struct walk *walk;
	uint32_t *lid; /* [n] LIDs that change, without those that may loop */
	uint32_t n;
	uint8_t *involved; /* [top + 1] has a dependency on a cycle */
	uint8_t *ranks;    /* [top + 1] steps by rank, of those that are left; 0: too many */
	unsigned searches;
	struct arena *tmp;
};

static uint8_t entry(const struct lft *t, uint32_t s, uint32_t lid)
{
	return lid < t->n_lids ? lft_row(t, s)[lid] : LFT_NO_ROUTE;
}

/* Ports that a switch may send a LID to, by the tables of a mask. Returns how many. */
static unsigned options(const struct planner *p, uint32_t s, uint32_t lid,
                        unsigned tables, uint8_t port[2])
{
	unsigned n = 0;

	if (tables & FROM) {
		port[n++] = entry(p->in->from, s, lid);
	}
	if (tables & TO) {
		port[n++] = entry(p->in->to, s, lid);
	}
	return n == 2 && port[0] == port[1] ? 1 : n;
}

/* The hop through a port; next is GRAPH_NONE where no switch is behind it. */
static struct column_hop hop_of(const struct planner *p, uint32_t s, uint8_t port)
{
	const struct column_map *m = &p->pv.map;

	if (port >= m->width) {
		return (struct column_hop){ .next = GRAPH_NONE, .channel = GRAPH_NONE };
	}
	return m->hop[(size_t)s * m->width + port];
}

/* ---- what changes ---- */

/* The LIDs of a block, as bits, that have another entry or another lane somewhere. */
static uint64_t find_changed(const struct planner *p, uint32_t first)
{
	const struct transition_in *in = p->in;
	const struct lids *lids = in->lids;
	const struct lanes *a = in->from_lanes, *b = in->to_lanes;
	bool lanes = a && b && (a->rows || b->rows);
	uint64_t diff = 0, owned = 0;

	for (uint32_t k = 0; k < COLUMN_BLOCK && first + k <= lids->top; k++) {
		if (lids->owner[first + k] != GRAPH_NONE) {
			owned |= UINT64_C(1) << k;
		}
	}
	for (uint32_t s = 0; s < p->pv.map.n && diff != owned; s++) {
		bool sends = lanes && p->pv.map.n_hosts[s];

		if (!sends && first + COLUMN_BLOCK <= in->from->n_lids &&
		    first + COLUMN_BLOCK <= in->to->n_lids &&
		    !memcmp(lft_row(in->from, s) + first, lft_row(in->to, s) + first,
		            COLUMN_BLOCK)) {
			continue;
		}
		for (uint64_t left = owned & ~diff; left; left &= left - 1) {
			unsigned k = (unsigned)__builtin_ctzll(left);
			uint32_t lid = first + k;

			if (entry(in->from, s, lid) != entry(in->to, s, lid) ||
			    (sends && lane_of(a, s, lid) != lane_of(b, s, lid))) {
				diff |= UINT64_C(1) << k;
			}
		}
	}
	return diff;
}

/* Can some mixture of the entries send a LID in a circle? */
static bool may_loop(const struct planner *p, struct walk *w, uint32_t lid)
{
	enum { NEW, OPEN, DONE };
	uint32_t n = p->pv.map.n;

	memset(w->colour, NEW, n);
	for (uint32_t root = 0; root < n; root++) {
		uint32_t depth = 0;

		if (w->colour[root] != NEW) {
			continue;
		}
		w->stack[0] = root;
		w->colour[root] = OPEN;
		w->choice[root] = 0;
		for (;;) {
			uint32_t s = w->stack[depth], next = GRAPH_NONE;
			uint8_t port[2];
			unsigned k = options(p, s, lid, FROM | TO, port);

			if (w->choice[s] < k) {
				next = hop_of(p, s, port[w->choice[s]++]).next;
				if (next == GRAPH_NONE || w->colour[next] == DONE) {
					continue;
				}
				if (w->colour[next] == OPEN) {
					return true;
				}
				w->colour[next] = OPEN;
				w->choice[next] = 0;
				w->stack[++depth] = next;
				continue;
			}
			w->colour[s] = DONE;
			if (depth-- == 0) {
				break;
			}
		}
	}
	return false;
}

/* ---- dependencies ---- */

static void push(struct walk *w, uint32_t *n, uint32_t s, unsigned class_in, unsigned sl)
{
	uint64_t bit = UINT64_C(1) << (class_in * VL_SLS + sl);

	if (!(w->seen[s] & bit)) {
		w->seen[s] |= bit;
		w->stack[(*n)++] = s << 6 | class_in << 4 | sl;
	}
}

/* The SLs by which a source may send to a LID: by the lanes of one table. */
static void push_source(const struct planner *p, struct walk *w, uint32_t *n, uint32_t s,
                        uint32_t lid, const struct lanes *lanes)
{
	unsigned first = lanes ? lane_of(lanes, s, lid) : 0, last = first;

	if (first == LANE_UNKNOWN) {
		first = 0;
		last = lanes->n ? lanes->n - 1U : 0;
	}
	for (unsigned lane = first; lane <= last; lane++) {
		for (unsigned level = 0; level < p->levels; level++) {
			push(w, n, s, 0,
			     p->pv.rule ? vl_rule_sl(p->pv.rule, lane, level)
			                : lane % VLS_MAX);
		}
	}
}

static unsigned vl_of(const struct planner *p, unsigned class_in, uint32_t channel,
                      unsigned sl)
{
	const struct vl_rule *r = p->pv.rule;

	return r ? r->vl[class_in][p->pv.class_out[channel]][sl] % VLS_MAX : sl;
}

/* A walk over the routes to a LID. */
struct way {
	uint32_t lid;
	unsigned tables, next; /* masks of the tables that a switch, and the one behind it, may have */
};

/* Adds the dependencies that the states on the stack lead to. With \a of, an array of components per
 * graph, nothing is added: returns whether a dependency stays inside a component. */
static bool walk_states(const struct planner *p, struct walk *w, uint32_t n, const struct way *way,
                        const struct deps *deps, const struct components *of)
{
	const struct prover *pv = &p->pv;

	while (n) {
		uint32_t state = w->stack[--n], s = state >> 6;
		unsigned class_in = state >> 4 & 3, sl = state & 15;
		uint8_t port[2], port_next[2];
		unsigned k = options(p, s, way->lid, way->tables, port);

		for (unsigned i = 0; i < k; i++) {
			struct column_hop hop = hop_of(p, s, port[i]);
			unsigned vl, class_next, k_next;

			if (hop.channel == GRAPH_NONE) {
				continue; /* a host, or the switch itself */
			}
			vl = vl_of(p, class_in, hop.channel, sl);
			class_next = pv->rule ? pv->class_in[hop.channel] : 0;
			k_next = options(p, hop.next, way->lid, way->next, port_next);
			for (unsigned j = 0; j < k_next; j++) {
				struct column_hop on = hop_of(p, hop.next, port_next[j]);
				unsigned graph = pv->rule ? 0 : vl, vl_next;
				uint32_t a, b;

				if (on.channel == GRAPH_NONE) {
					continue;
				}
				vl_next = vl_of(p, class_next, on.channel, sl);
				a = pv->rule ? hop.channel << p->shift | vl : hop.channel;
				b = pv->rule ? on.channel << p->shift | vl_next
				             : on.channel;
				if (!of) {
					deps_add(&deps[graph], a,
					         pv->rule ? (unsigned)port_next[j]
					                                    << p->shift |
					                            vl_next
					                  : port_next[j]);
				} else if (of[graph].of[a] != GRAPH_NONE &&
				           of[graph].of[a] == of[graph].of[b]) {
					return true;
				}
			}
			push(w, &n, hop.next, class_next, sl);
		}
	}
	return false;
}

/* All states that a walk has seen, once more. */
static uint32_t push_seen(const struct planner *p, struct walk *w)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < p->pv.map.n; s++) {
		for (uint64_t left = w->seen[s]; left; left &= left - 1) {
			w->stack[n++] = s << 6 | (uint32_t)__builtin_ctzll(left);
		}
	}
	return n;
}

/* Adds the dependencies of all routes to a LID that mix the tables of a mask, or of those that are
 * BY_RANK. \a of is as in walk_states(). */
static bool depend(const struct planner *p, struct walk *w, uint32_t lid, unsigned tables,
                   const struct deps *deps, const struct components *of)
{
	const struct prover *pv = &p->pv;
	uint32_t n = 0, owner = p->in->lids->owner[lid];

	if (!graph_is_host(pv->map.g, owner)) {
		return false; /* management pairs do not decide */
	}
	memset(w->seen, 0, pv->map.n * sizeof(*w->seen));
	for (uint32_t s = 0; s < pv->map.n; s++) {
		if (pv->map.n_hosts[s] && tables & (FROM | BY_RANK)) {
			push_source(p, w, &n, s, lid, p->in->from_lanes);
		}
		if (pv->map.n_hosts[s] && tables & (TO | BY_RANK)) {
			push_source(p, w, &n, s, lid, p->in->to_lanes);
		}
	}
	if (tables != BY_RANK) {
		return walk_states(p, w, n, &(struct way){ lid, tables, tables }, deps, of);
	}
	/* any number of old entries, then new ones to the end */
	return walk_states(p, w, n, &(struct way){ lid, FROM, FROM | TO }, deps, of) ||
	       walk_states(p, w, push_seen(p, w), &(struct way){ lid, TO, TO }, deps, of);
}

static void depend_all(const struct planner *p, const uint32_t *lid, uint32_t n,
                       unsigned tables, const struct deps *deps)
{
#pragma omp parallel for schedule(dynamic, 16)
	for (uint32_t i = 0; i < n; i++) {
		depend(p, &p->walk[column_thread()], lid[i], tables, deps, NULL);
	}
}

/* A copy of all graphs; in memory of its own when \a to has none. */
static int copy_deps(const struct planner *p, const struct deps *from, struct deps *to,
                     struct arena *a)
{
	for (unsigned i = 0; i < p->n_graphs; i++) {
		uint64_t *bits = to[i].bits;

		to[i] = from[i];
		to[i].bits = bits ? bits : arena_array(a, p->words, sizeof(*bits));
		if (!to[i].bits) {
			return -ENOMEM;
		}
		memcpy(to[i].bits, from[i].bits, p->words * sizeof(*bits));
	}
	return E_OK;
}

/* Counts the cyclic components of all graphs; \a ret_components, if not NULL, gets them
 * in \a a. */
static int count_cycles(struct planner *p, const struct deps *d, struct arena *a,
                        struct components *ret_components, uint32_t *ret_n)
{
	uint32_t n = 0;

	p->searches++;
	for (unsigned i = 0; i < p->n_graphs; i++) {
		struct arena *tmp = a ? NULL : arena_new();
		struct components c;
		int ret = a || tmp ? deps_components(&d[i], a ? a : tmp, &c) : -ENOMEM;

		if (ret == E_OK) {
			n += c.n;
		}
		if (ret == E_OK && ret_components) {
			ret_components[i] = c;
		}
		arena_free(tmp);
		if (ret != E_OK) {
			return ret;
		}
	}
	*ret_n = n;
	return E_OK;
}

/* ---- stages ---- */

struct stage {
	struct deps now[VLS_MAX], trial[VLS_MAX];
	uint32_t *lid; /* that wait, in the order in which they are tried */
	uint32_t n;
	uint8_t *fits; /* [n] */
	uint32_t n_fits;
	unsigned tables; /* in its mixtures */
};

/* Tries to let LIDs first to last - 1 change in this stage; halves them when they do not
 * fit together. */
static int try_lids(struct planner *p, struct stage *st, uint32_t first, uint32_t last)
{
	uint32_t cycles, middle = first + (last - first) / 2;
	int ret;

	if (first == last || p->searches >= SEARCHES_MAX) {
		return E_OK;
	}
	ret = copy_deps(p, st->now, st->trial, p->tmp);
	if (ret != E_OK) {
		return ret;
	}
	depend_all(p, st->lid + first, last - first, st->tables, st->trial);
	ret = count_cycles(p, st->trial, NULL, NULL, &cycles);
	if (ret != E_OK) {
		return ret;
	}
	if (cycles == 0) {
		memset(st->fits + first, 1, last - first);
		st->n_fits += last - first;
		return copy_deps(p, st->trial, st->now, p->tmp);
	}
	if (last - first == 1) {
		return E_OK;
	}
	ret = try_lids(p, st, first, middle);
	return ret == E_OK ? try_lids(p, st, middle, last) : ret;
}

/* LIDs with a dependency on a cycle come last. */
static uint32_t order_lids(struct planner *p, const struct components *cyclic)
{
	uint32_t *order = arena_array(p->tmp, p->n, sizeof(*order)), n = 0, free_lids;

	if (!order) {
		return GRAPH_NONE;
	}
#pragma omp parallel for schedule(dynamic, 16)
	for (uint32_t i = 0; i < p->n; i++) {
		p->involved[p->lid[i]] = depend(p, &p->walk[column_thread()], p->lid[i],
		                                FROM | TO, NULL, cyclic);
	}
	for (uint32_t i = 0; i < p->n; i++) {
		if (!p->involved[p->lid[i]]) {
			order[n++] = p->lid[i];
		}
	}
	free_lids = n;
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->involved[p->lid[i]]) {
			order[n++] = p->lid[i];
		}
	}
	p->lid = order;
	return free_lids;
}

/* Steps that LIDs take by rank; 0: too many, or there is no new route at all. */
static void find_ranks(const struct planner *p, const uint32_t *lid, uint32_t n)
{
#pragma omp parallel for schedule(dynamic, 16)
	for (uint32_t i = 0; i < n; i++) {
		uint32_t most = 0;

		for (uint32_t s = 0; s < p->pv.map.n; s++) {
			uint32_t rank = transition_rank(p->in->g, p->in->to, s, lid[i]);

			if (rank != UINT32_MAX && rank > most) {
				most = rank;
			}
		}
		p->ranks[lid[i]] = most <= TRANSITION_RANKS_MAX ? (uint8_t)most : 0;
	}
}

/* The LIDs that fit become a stage, whose new routes are part of the base from then on. */
static void end_stage(struct planner *p, struct stage *st, const struct deps *base,
                      struct transition *t)
{
	uint32_t left = 0;
	unsigned ranks = 0;

	t->n_stages++;
	for (uint32_t i = 0; i < st->n; i++) {
		uint32_t lid = st->lid[i];

		if (!st->fits[i]) {
			st->lid[left++] = lid;
			continue;
		}
		t->stage[lid] = (uint8_t)t->n_stages;
		depend(p, &p->walk[0], lid, TO, base, NULL);
		if (st->tables == BY_RANK && p->ranks[lid] > ranks) {
			ranks = p->ranks[lid];
		}
	}
	st->n = left;
	t->ranks[t->n_stages] = (uint8_t)ranks;
}

/* Divides the LIDs of \a st into stages, until no more of them fits in one. \a waiting: others that stay on old
 * routes meanwhile. The first \a n_free are tried together first. */
static int fill_stages(struct planner *p, struct stage *st, const uint32_t *waiting,
                       uint32_t n_waiting, uint32_t n_free, const struct deps *base,
                       struct transition *t)
{
	while (st->n && t->n_stages < TRANSITION_STAGES_MAX) {
		memset(st->fits, 0, st->n);
		st->n_fits = 0;
		int ret = copy_deps(p, base, st->now, p->tmp);
		if (ret == E_OK) {
			depend_all(p, st->lid, st->n, FROM, st->now);
			depend_all(p, waiting, n_waiting, FROM, st->now);
			ret = try_lids(p, st, 0, n_free);
		}
		if (ret == E_OK) {
			ret = try_lids(p, st, n_free, st->n);
		}
		if (ret != E_OK) {
			return ret;
		}
		if (st->n_fits == 0) {
			break;
		}
		end_stage(p, st, base, t);
		n_free = 0;
	}
	return E_OK;
}

/* Those that are left, and those that may loop, change by rank, as far as their ranks are not too many. */
static int fill_ranks(struct planner *p, struct stage *st, const uint32_t *looping,
                      uint32_t n_looping, const struct deps *base, struct transition *t)
{
	uint32_t *all = arena_array(p->tmp, st->n + n_looping + 1u, sizeof(*all)), n = 0, n_far = 0;

	if (!all) {
		return -ENOMEM;
	}
	find_ranks(p, st->lid, st->n);
	find_ranks(p, looping, n_looping);
	for (uint32_t i = 0; i < st->n + n_looping; i++) {
		uint32_t lid = i < st->n ? st->lid[i] : looping[i - st->n];

		if (p->ranks[lid]) {
			all[n++] = lid;
		} else { /* from the end */
			all[st->n + n_looping - ++n_far] = lid;
		}
	}
	st->lid = all;
	st->n = n;
	st->tables = BY_RANK;
	p->searches = 0;
	int ret = fill_stages(p, st, all + n, n_far, 0, base, t);
	memmove(all + st->n, all + n, n_far * sizeof(*all));
	st->n += n_far;
	return ret;
}

/* Divides the LIDs into stages. \a looping: LIDs that stay on old routes to the end. */
static int plan_stages(struct planner *p, const uint32_t *looping, uint32_t n_looping,
                       uint32_t n_free, struct transition *t)
{
	struct deps base[VLS_MAX] = { 0 };
	struct stage st = { .lid = p->lid, .n = p->n, .tables = FROM | TO };
	int ret = copy_deps(p, p->pv.base, base, p->tmp);

	st.fits = arena_array(p->tmp, p->n + n_looping + 1u, 1);
	if (ret != E_OK || !st.fits) {
		return ret != E_OK ? ret : -ENOMEM;
	}
	ret = fill_stages(p, &st, looping, n_looping, n_free, base, t);
	if (ret == E_OK && p->in->by_rank) {
		t->withdrawn -= n_looping;
		ret = fill_ranks(p, &st, looping, n_looping, base, t);
	}
	if (ret != E_OK) {
		return ret;
	}
	for (uint32_t i = 0; i < st.n; i++) {
		t->stage[st.lid[i]] = TRANSITION_WITHDRAWN;
	}
	t->withdrawn += st.n;
	return E_OK;
}

/* ---- the plan ---- */

static bool same_rule(const struct planner *p)
{
	const struct vl_rule *a = p->in->from_lanes ? p->in->from_lanes->rule : NULL;
	const struct vl_rule *b = p->in->to_lanes ? p->in->to_lanes->rule : NULL;

	if (!a || !b) {
		return a == b;
	}
	return a == b ||
	       (a->levels == b->levels && a->level_shift == b->level_shift &&
	        a->width == b->width && !memcmp(a->vl, b->vl, sizeof(a->vl)) &&
	        !memcmp(a->port_class, b->port_class, (size_t)p->pv.map.n * a->width));
}

static int planner_init(struct planner *p, const struct transition_in *in,
                        struct arena *tmp)
{
	unsigned threads = column_threads();
	uint32_t n = in->g->n_switches;
	int ret;

	p->in = in;
	p->tmp = tmp;
	ret = proof_prover_init(&p->pv, in->g, in->lids, in->to, in->to_lanes, tmp);
	if (ret != E_OK) {
		return ret;
	}
	p->shift = p->pv.base[0].shift;
	p->levels = p->pv.rule ? p->pv.levels : 1;
	p->n_graphs = p->pv.n_graphs;
	if (!p->pv.rule && in->from_lanes && in->from_lanes->n > p->n_graphs) {
		unsigned all = in->from_lanes->n < VLS_MAX ? in->from_lanes->n : VLS_MAX;

		for (; p->n_graphs < all; p->n_graphs++) {
			ret = deps_init(&p->pv.base[p->n_graphs], &p->pv.map, 0, tmp);
			if (ret != E_OK) {
				return ret;
			}
		}
	}
	p->words = (size_t)deps_channels(&p->pv.base[0]) * p->pv.base[0].words;
	p->walk = arena_array(tmp, threads, sizeof(*p->walk));
	p->lid = arena_array(tmp, (size_t)in->lids->top + 1, sizeof(*p->lid));
	p->involved = arena_array(tmp, (size_t)in->lids->top + 1, 1);
	p->ranks = arena_array(tmp, (size_t)in->lids->top + 1, 1);
	for (unsigned i = 0; p->walk && i < threads; i++) {
		struct walk *w = &p->walk[i];

		w->seen = arena_array(tmp, n, sizeof(*w->seen));
		w->stack = arena_array(tmp, (size_t)n * VL_CLASSES * VL_SLS,
		                       sizeof(*w->stack));
		w->colour = arena_array(tmp, n, 1);
		w->choice = arena_array(tmp, n, 1);
		if (!w->seen || !w->stack || !w->colour || !w->choice) {
			return -ENOMEM;
		}
	}
	return p->walk && p->lid && p->involved && p->ranks ? E_OK : -ENOMEM;
}

static void withdraw_circling(struct transition *t, uint32_t lid)
{
	if (t->may_loop++ == 0) {
		why_add(&t->why,
		        "packets to LID %u could circle among switches with old and new entries",
		        lid);
	}
	t->stage[lid] = TRANSITION_WITHDRAWN;
}

/* Sorts the LIDs: those that keep their routes, those that change, those that may loop. */
static int find_changes(struct planner *p, struct transition *t, uint32_t *looping)
{
	const struct lids *lids = p->in->lids;
	uint32_t n_blocks = lids->top / COLUMN_BLOCK + 1;
	uint64_t *skip = arena_array(p->tmp, n_blocks, sizeof(*skip));
	uint8_t *kind = arena_array(p->tmp, (size_t)lids->top + 1, 1);

	if (!skip || !kind) {
		return -ENOMEM;
	}
#pragma omp parallel for schedule(dynamic, 1)
	for (uint32_t b = 0; b < n_blocks; b++) {
		skip[b] = find_changed(p, b * COLUMN_BLOCK);
		for (uint64_t left = skip[b]; left; left &= left - 1) {
			uint32_t lid = b * COLUMN_BLOCK + (uint32_t)__builtin_ctzll(left);

			kind[lid] = 1 + may_loop(p, &p->walk[column_thread()], lid);
		}
	}
	for (uint32_t lid = 1; lid <= lids->top; lid++) {
		if (!kind[lid]) {
			continue;
		}
		t->changed++;
		if (kind[lid] == 1) {
			t->stage[lid] = 1;
			p->lid[p->n++] = lid;
			continue;
		}
		looping[t->may_loop] = lid;
		withdraw_circling(t, lid);
	}
	p->pv.skip = skip;
	t->withdrawn = t->may_loop;
	return E_OK;
}

/* Has a table alone a credit loop? Then no order of updates is safe. */
static int check_tables(struct planner *p, const uint32_t *looping, struct transition *t)
{
	static const char *const name[] = { [FROM] = "old", [TO] = "new" };
	struct deps d[VLS_MAX] = { 0 };
	uint32_t cycles;

	for (unsigned table = FROM; table <= TO; table++) {
		int ret = copy_deps(p, p->pv.base, d, p->tmp);

		if (ret != E_OK) {
			return ret;
		}
		depend_all(p, p->lid, p->n, table, d);
		depend_all(p, looping, t->may_loop, table, d);
		ret = count_cycles(p, d, NULL, NULL, &cycles);
		if (ret != E_OK) {
			return ret;
		}
		if (cycles) {
			why_add(&t->why, "the %s tables alone have a credit loop",
			        name[table]);
			return E_UNSUITABLE;
		}
	}
	return E_OK;
}

/* The LIDs change in one stage, which may deadlock; those that may loop stay withdrawn, or follow by rank. */
static int give_up(const struct planner *p, struct transition *t, const uint32_t *looping)
{
	const struct lids *lids = p->in->lids;
	uint32_t n_looping = t->may_loop;

	for (uint32_t lid = 1; lid <= lids->top; lid++) {
		t->stage[lid] = t->stage[lid] != 0;
	}
	t->n_stages = t->changed != 0;
	t->withdrawn = 0;
	memset(t->ranks, 0, sizeof(t->ranks));
	if (p->in->by_rank) {
		find_ranks(p, looping, n_looping);
	}
	for (uint32_t i = 0; i < n_looping; i++) {
		uint8_t ranks = p->ranks[looping[i]];

		t->stage[looping[i]] = ranks ? 2 : TRANSITION_WITHDRAWN;
		t->withdrawn += ranks == 0;
		if (ranks) {
			t->n_stages = 2;
			t->ranks[2] = ranks > t->ranks[2] ? ranks : t->ranks[2];
		}
	}
	return E_UNSUITABLE;
}

/* Do the LIDs that change only gain entries, on one lane? */
static bool only_gains(const struct planner *p)
{
	const struct transition_in *in = p->in;
	const struct lanes *a = in->from_lanes, *b = in->to_lanes;

	if ((a && (a->rows || a->rule)) || (b && (b->rows || b->rule))) {
		return false;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		for (uint32_t s = 0; s < p->pv.map.n; s++) {
			uint8_t old = entry(in->from, s, p->lid[i]);

			if (old != LFT_NO_ROUTE && old != entry(in->to, s, p->lid[i])) {
				return false;
			}
		}
	}
	return true;
}

/* Plans for the LIDs of \a p: one stage where that is safe, else as many as it takes. */
static int plan(struct planner *p, const uint32_t *looping, struct transition *t)
{
	struct deps all[VLS_MAX] = { 0 };
	struct components cyclic[VLS_MAX];
	struct workspace *bench;
	uint32_t n_free;
	int ret;

	if (p->in->to_is_proven && t->may_loop == 0 && only_gains(p)) {
		t->n_stages = 1;
		return E_OK;
	}
	ret = proof_walk_columns(&p->pv, column_threads(), p->tmp, &bench);
	if (ret == E_OK) {
		ret = copy_deps(p, p->pv.base, all, p->tmp);
	}
	if (ret != E_OK) {
		return ret;
	}
	depend_all(p, p->lid, p->n, FROM | TO, all);
	depend_all(p, looping, t->may_loop, FROM, all);
	depend_all(p, looping, t->may_loop, TO, all);
	ret = count_cycles(p, all, p->tmp, cyclic, &t->credit_loops);
	if (ret != E_OK) {
		return ret;
	}
	if (t->credit_loops == 0) {
		if (p->in->by_rank && t->may_loop) {
			return plan_stages(p, looping, t->may_loop, p->n, t);
		}
		t->n_stages = p->n != 0;
		return E_OK;
	}
	ret = check_tables(p, looping, t);
	if (ret != E_OK) {
		return ret;
	}
	n_free = order_lids(p, cyclic);
	if (n_free == GRAPH_NONE) {
		return -ENOMEM;
	}
	if (n_free < p->n) {
		why_add(&t->why,
		        "old and new routes together would have %u credit loops, the first of LID %u",
		        t->credit_loops, p->lid[n_free]);
	}
	return plan_stages(p, looping, t->may_loop, n_free, t);
}

int transition_plan(const struct transition_in *in, struct arena *a,
                    struct transition *ret_transition)
{
	struct arena *tmp = arena_new();
	struct planner p = { 0 };
	struct transition t = { 0 };
	uint32_t *looping;
	int ret = -ENOMEM;

	t.stage = arena_array(a, (size_t)in->lids->top + 1, 1);
	looping = tmp ? arena_array(tmp, (size_t)in->lids->top + 1, sizeof(*looping))
	              : NULL;
	if (!t.stage || !looping) {
		goto out;
	}
	ret = planner_init(&p, in, tmp);
	if (ret == E_OK) {
		ret = find_changes(&p, &t, looping);
	}
	if (ret != E_OK) {
		goto out;
	}
	if (!same_rule(&p)) {
		why_add(&t.why,
		        "the SL-to-VL mapping of switches changes with the routes");
		ret = E_UNSUITABLE;
	} else if (t.changed) {
		ret = plan(&p, looping, &t);
	}
	if (ret == E_UNSUITABLE) {
		ret = give_up(&p, &t, looping);
	}
	if (ret == E_OK || ret == E_UNSUITABLE) {
		*ret_transition = t;
	}
out:
	arena_free(tmp);
	return ret;
}

uint32_t transition_hosts_withdrawn(const struct transition *t, const struct graph *g,
                                    const struct lids *lids)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; t->withdrawn != 0 && lid <= lids->top; lid++) {
		n += t->stage[lid] == TRANSITION_WITHDRAWN &&
		     (lids->owner[lid] == GRAPH_NONE ||
		      g->ports[lids->owner[lid]].num != 0);
	}
	return t->second != NULL ? n + transition_hosts_withdrawn(t->second, g, lids) : n;
}

/* Switch to which an entry leads; GRAPH_NONE: none, or the packet arrives. */
static uint32_t next_switch(const struct graph *g, const struct lft *t, uint32_t sw,
                            uint32_t lid)
{
	uint8_t port = entry(t, sw, lid);
	uint32_t out = port == 0 || port == LFT_NO_ROUTE
	                       ? GRAPH_NONE
	                       : graph_port(g, g->switches[sw], port),
		 peer = out != GRAPH_NONE ? g->ports[out].peer : GRAPH_NONE;

	return peer != GRAPH_NONE ? g->nodes[g->ports[peer].node].sw : GRAPH_NONE;
}

uint32_t transition_rank(const struct graph *g, const struct lft *to, uint32_t sw, uint32_t lid)
{
	uint32_t rank = 1, at = sw;

	while (rank <= g->n_switches && entry(to, at, lid) != LFT_NO_ROUTE) {
		uint32_t next = next_switch(g, to, at, lid);

		if (next == GRAPH_NONE) {
			return rank;
		}
		at = next;
		rank++;
	}
	return UINT32_MAX;
}

uint32_t transition_stage_at(const struct transition *t, uint32_t step, uint32_t *ret_rank)
{
	uint32_t stage = 1;

	for (; stage <= t->n_stages; stage++) {
		uint32_t steps = t->ranks[stage] > 1 ? t->ranks[stage] : 1;

		if (step <= steps) {
			*ret_rank = step == steps ? UINT32_MAX : step;
			return stage;
		}
		step -= steps;
	}
	*ret_rank = UINT32_MAX;
	return stage;
}

/* Does a packet meet an entry that is withdrawn? */
static bool meets_change(const struct transition_in *in, uint32_t sw, uint32_t lid)
{
	for (uint32_t at = sw, hops = 0; at != GRAPH_NONE && hops <= in->g->n_switches; hops++) {
		if (entry(in->from, at, lid) != entry(in->to, at, lid)) {
			return true;
		}
		at = next_switch(in->g, in->to, at, lid);
	}
	return false;
}

uint64_t transition_pairs_withdrawn(const struct transition *t, const struct transition_in *in)
{
	const struct graph *g = in->g;
	uint64_t n = 0;

	for (uint32_t lid = 1; t->withdrawn != 0 && lid <= in->lids->top; lid++) {
		uint32_t owner = in->lids->owner[lid];

		if (t->stage[lid] != TRANSITION_WITHDRAWN ||
		    (owner != GRAPH_NONE && g->ports[owner].num == 0)) {
			continue;
		}
		for (uint32_t s = 0; s < g->n_switches; s++) {
			uint32_t hosts = g->host_first[s + 1] - g->host_first[s];

			n += hosts != 0 && meets_change(in, s, lid) ? hosts : 0;
		}
	}
	return n;
}

/* Does a route to a LID circle? \param walk  [n_switches] zeros; numbers of walks afterwards. */
static bool circles(const struct graph *g, const struct lft *t, uint32_t lid, uint32_t *walk)
{
	for (uint32_t from = 0; from < g->n_switches; from++) {
		uint32_t at = from;

		while (at != GRAPH_NONE && walk[at] == 0) {
			walk[at] = from + 1;
			at = next_switch(g, t, at, lid);
		}
		if (at != GRAPH_NONE && walk[at] == from + 1) {
			return true;
		}
	}
	return false;
}

/* Tables that are a mixture of others may have loops that no plan can avoid. A LID whose routes circle in
 * them may loop in mixtures of them, too, so it is among those that are withdrawn. */
static int check_between(const struct transition_in *in, const struct lft *between,
                         const struct transition *t, struct arena *tmp)
{
	uint32_t n = in->g->n_switches, *walk = arena_array(tmp, n + 1u, sizeof(*walk));

	if (walk == NULL) {
		return -ENOMEM;
	}
	for (uint32_t lid = 1; t->withdrawn != 0 && lid <= in->lids->top; lid++) {
		if (t->stage[lid] != TRANSITION_WITHDRAWN) {
			continue;
		}
		memset(walk, 0, n * sizeof(*walk));
		if (circles(in->g, between, lid, walk)) {
			return E_UNSUITABLE;
		}
	}
	return E_OK;
}

int transition_plan_late(const struct transition_in *in, const uint8_t *late,
                         struct arena *a, struct transition *ret_transition)
{
	struct transition_in first = *in, second = *in;
	struct transition t, *last = arena_alloc(a, sizeof(*last));
	struct arena *tmp = last != NULL ? arena_new() : NULL;
	struct lft between;
	int ret = tmp != NULL ? lft_init(&between, in->g->n_switches, in->lids->top, tmp)
	                      : -ENOMEM;

	for (uint32_t sw = 0; ret == E_OK && sw < in->g->n_switches; sw++) {
		memcpy(lft_row(&between, sw), lft_row(late[sw] ? in->from : in->to, sw),
		       between.n_lids);
	}
	first.to = second.from = &between;
	first.to_is_proven = false;
	second.from_lanes = in->to_lanes;
	if (ret == E_OK) {
		ret = transition_plan(&first, a, &t);
	}
	if (ret == E_OK) {
		ret = check_between(in, &between, &t, tmp);
	}
	if (ret == E_OK) {
		ret = transition_plan(&second, a, last);
	}
	if (ret == E_OK) {
		t.late = late;
		t.second = last;
		*ret_transition = t;
	}
	arena_free(tmp);
	return ret;
}

int transition_of_change(const uint32_t *lid, uint32_t n, const uint32_t *circling,
                         uint32_t n_circling, uint32_t top, struct arena *a,
                         struct transition *ret_transition)
{
	struct transition t = { .changed = n, .withdrawn = n_circling };

	t.stage = arena_array(a, (size_t)top + 1, 1);
	if (!t.stage) {
		return -ENOMEM;
	}
	t.n_stages = n > n_circling;
	for (uint32_t i = 0; i < n; i++) {
		t.stage[lid[i]] = 1;
	}
	for (uint32_t i = 0; i < n_circling; i++) {
		withdraw_circling(&t, circling[i]);
	}
	*ret_transition = t;
	return E_OK;
}

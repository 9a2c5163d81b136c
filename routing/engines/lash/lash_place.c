/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Assigning pairs to lanes one by one.
 *
 * Each pair goes to the lowest lane in which it fits. The farthest pairs come first, because
 * they are the hardest to place. The pairs that a lane accepts depend only on the pairs that the
 * lower lanes did not accept. So each lane goes through the list by itself and leaves the other
 * pairs to the next lane. A few lanes work in a pipeline on blocks of the list, with the same
 * result on any number of threads.
 *
 * Lower lanes choose first and accept more than higher ones. The attempt ends when more than
 * twice as many pairs remain as the remaining lanes would accept at the rate of the last one.
 *
 * Within a lane the state of each (column, switch) is stored: the route is in the lane; or
 * one of its dependencies closes a cycle in the lane, which is final, because dependencies
 * are only added. So most pairs are decided without a look at the dependency graph.
 *
 * If there are not too many channels, lanes store the transitive closure of their
 * dependencies: one look-up per dependency, then one check of all new dependencies of a pair
 * together. Otherwise lanes store a topological order, and each new dependency may need a
 * search. Dependencies of a pair that does not fit in the end are removed.
 */
#include "routing/engines/lash/lash_work.h"

#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"

/* ---- opening lanes ---- */

static int open_searching(struct lash_job *j, struct lash_lane *l)
{
	l->never =
		arena_array(j->tmp, (size_t)j->map.n * j->map.words, sizeof(*l->never));
	l->marked = arena_array(j->tmp, j->deps_max, sizeof(*l->marked));
	l->added = arena_array(j->tmp, j->deps_max, sizeof(*l->added));
	if (!l->never || !l->marked || !l->added) {
		return -ENOMEM;
	}
	return cdg_init(&l->cdg, &j->map, NULL, j->tmp);
}

int lash_open_lane(struct lash_job *j)
{
	struct lash_lane *l = &j->lane[j->n_lanes];

	if (j->n_lanes == j->limit) {
		return E_FULL;
	}
	l->state = arena_array(j->tmp, j->col_first[j->n], j->n);
	if (!l->state) {
		return -ENOMEM;
	}
	j->n_lanes++;
	return j->closed ? reach_init(&l->reach, j->map.n, j->tmp) : open_searching(j, l);
}

int lash_close_lanes(struct lash_job *j)
{
	int ret = E_OK;

	for (unsigned i = 0; ret == E_OK && i < j->n_lanes; i++) {
		ret = reach_init(&j->lane[i].reach, j->map.n, j->tmp);
		if (ret == E_OK) {
			reach_load(&j->lane[i].reach, &j->lane[i].cdg);
		}
	}
	j->closed = ret == E_OK;
	return ret;
}

bool lash_can_close(const struct lash_job *j)
{
	return j->map.n <= REACH_CHANNELS_MAX && j->deps_max <= REACH_DEPS_MAX;
}

static uint8_t *states(const struct lash_job *j, unsigned lane, uint32_t col)
{
	return j->lane[lane].state + (size_t)col * j->n;
}

/* Marks the routes of all switches from s to last: they cannot be in the lane. */
static void mark_impossible(struct lash_job *j, unsigned lane, uint32_t col, uint32_t s,
                            uint32_t last)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	uint8_t *state = states(j, lane, col);

	for (;; s = j->g->adj[chan[s]].to) {
		state[s] |= LASH_IMPOSSIBLE;
		if (s == last) {
			return;
		}
	}
}

/* Is it known that a route from s to switch t cannot be in the lane? */
static bool is_impossible(const struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	for (uint32_t c = j->col_first[t]; c < j->col_first[t + 1]; c++) {
		if (states(j, lane, c)[s] & LASH_IMPOSSIBLE) {
			return true;
		}
	}
	return false;
}

/* Records the dependencies of the routes from s to the columns of t. */
static void record_direction(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	for (uint32_t col = j->col_first[t]; col < j->col_first[t + 1]; col++) {
		const uint32_t *chan = j->chan + (size_t)col * j->n;
		uint8_t *state = states(j, lane, col);

		for (uint32_t at = s; chan[at] != GRAPH_NONE && !(state[at] & LASH_IN);) {
			uint32_t next = j->g->adj[chan[at]].to;

			state[at] |= LASH_IN;
			if (chan[next] != GRAPH_NONE) {
				cdg_note(&j->lane[lane].cdg, chan[at], chan[next]);
			}
			at = next;
		}
	}
}

void lash_record_pair(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	record_direction(j, lane, s, t);
	record_direction(j, lane, t, s);
}

/* ---- adding a pair, with searches ---- */

static uint64_t *never_word(const struct lash_job *j, unsigned lane, uint32_t from,
                            uint32_t to, uint64_t *ret_bit)
{
	uint32_t k = to - j->g->adj_first[j->map.from[to]];

	*ret_bit = UINT64_C(1) << k % 64;
	return j->lane[lane].never + (size_t)from * j->map.words + k / 64;
}

static void undo(struct lash_lane *l)
{
	while (l->n_marked) {
		*l->marked[--l->n_marked] &= (uint8_t)~LASH_IN;
	}
	while (l->n_added) {
		struct reach_dep d = l->added[--l->n_added];

		cdg_remove(&l->cdg, d.from, d.to);
	}
}

/* Does the dependency close a cycle with those of the lane? That is final. */
static bool is_final(struct lash_job *j, unsigned lane, uint32_t from, uint32_t to)
{
	uint64_t bit, *w = never_word(j, lane, from, to, &bit);

	if (!(*w & bit) && !cdg_fits(&j->lane[lane].cdg, from, to)) {
		*w |= bit;
	}
	return *w & bit;
}

/* Does some dependency of the route of switch s to a column close a cycle? */
static bool closes_cycle(struct lash_job *j, unsigned lane, uint32_t col, uint32_t s)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	const uint8_t *state = states(j, lane, col);

	for (uint32_t at = s; chan[at] != GRAPH_NONE && !(state[at] & LASH_IN);) {
		uint32_t c = chan[at], next = j->g->adj[c].to, d = chan[next];

		if (state[at] & LASH_IMPOSSIBLE ||
		    (d != GRAPH_NONE && !cdg_has(&j->lane[lane].cdg, c, d) &&
		     is_final(j, lane, c, d))) {
			mark_impossible(j, lane, col, s, at);
			return true;
		}
		at = next;
	}
	return false;
}

/* Adds the route of switch s to a column. \return false: it closes a cycle; the
 * additions of the pair are removed. */
static bool add_route(struct lash_job *j, unsigned lane, uint32_t col, uint32_t s)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	uint8_t *state = states(j, lane, col);
	struct lash_lane *l = &j->lane[lane];

	for (uint32_t at = s; chan[at] != GRAPH_NONE && !(state[at] & LASH_IN);) {
		uint32_t c = chan[at], next = j->g->adj[c].to, d = chan[next];

		if (d != GRAPH_NONE && !cdg_has(&l->cdg, c, d)) {
			if (!cdg_add(&l->cdg, c, d)) {
				undo(l);
				return false;
			}
			l->added[l->n_added++] = (struct reach_dep){ c, d };
		}
		state[at] |= LASH_IN;
		l->marked[l->n_marked++] = &state[at];
		at = next;
	}
	return true;
}

static bool direction_closes_cycle(struct lash_job *j, unsigned lane, uint32_t s,
                                   uint32_t t)
{
	for (uint32_t c = j->col_first[t]; c < j->col_first[t + 1]; c++) {
		if (closes_cycle(j, lane, c, s)) {
			return true;
		}
	}
	return false;
}

static bool add_direction(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	for (uint32_t c = j->col_first[t]; c < j->col_first[t + 1]; c++) {
		if (!add_route(j, lane, c, s)) {
			return false;
		}
	}
	return true;
}

static bool add_pair_searching(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	if (direction_closes_cycle(j, lane, s, t) ||
	    direction_closes_cycle(j, lane, t, s) || !add_direction(j, lane, s, t) ||
	    !add_direction(j, lane, t, s)) {
		return false;
	}
	j->lane[lane].n_marked = 0;
	j->lane[lane].n_added = 0;
	return true;
}

/* ---- adding a pair, with the closure ---- */

struct missing_deps {
	unsigned n;
	struct reach_dep dep[REACH_DEPS_MAX];
};

static void add_missing_dep(struct missing_deps *l, uint32_t from, uint32_t to)
{
	for (unsigned i = 0; i < l->n; i++) {
		if (l->dep[i].from == from && l->dep[i].to == to) {
			return;
		}
	}
	l->dep[l->n++] = (struct reach_dep){ from, to };
}

/* Collects the dependencies of a route that the lane lacks. \return false: one closes
 * a cycle. */
static bool find_missing_deps(struct lash_job *j, unsigned lane, uint32_t col, uint32_t s,
                              struct missing_deps *ret_deps)
{
	const uint32_t *chan = j->chan + (size_t)col * j->n;
	const uint8_t *state = states(j, lane, col);
	const struct reach *r = &j->lane[lane].reach;

	for (uint32_t at = s; chan[at] != GRAPH_NONE && !(state[at] & LASH_IN);) {
		uint32_t c = chan[at], next = j->g->adj[c].to, d = chan[next];

		if (state[at] & LASH_IMPOSSIBLE ||
		    (d != GRAPH_NONE && reach_leads(r, d, c))) {
			mark_impossible(j, lane, col, s, at);
			return false;
		}
		if (d != GRAPH_NONE && !reach_leads(r, c, d)) {
			add_missing_dep(ret_deps, c, d);
		}
		at = next;
	}
	return true;
}

static bool find_missing_of_pair(struct lash_job *j, unsigned lane, uint32_t s,
                                 uint32_t t, struct missing_deps *ret_deps)
{
	for (uint32_t c = j->col_first[t]; c < j->col_first[t + 1]; c++) {
		if (!find_missing_deps(j, lane, c, s, ret_deps)) {
			return false;
		}
	}
	return true;
}

static void mark_in_lane(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	for (uint32_t col = j->col_first[t]; col < j->col_first[t + 1]; col++) {
		const uint32_t *chan = j->chan + (size_t)col * j->n;
		uint8_t *state = states(j, lane, col);

		for (uint32_t at = s; chan[at] != GRAPH_NONE && !(state[at] & LASH_IN);) {
			state[at] |= LASH_IN;
			at = j->g->adj[chan[at]].to;
		}
	}
}

static bool add_pair_closed(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	struct reach *r = &j->lane[lane].reach;
	struct missing_deps missing;

	missing.n = 0;
	if (!find_missing_of_pair(j, lane, s, t, &missing) ||
	    !find_missing_of_pair(j, lane, t, s, &missing) ||
	    !reach_fits(r, missing.dep, missing.n)) {
		return false;
	}
	for (unsigned i = 0; i < missing.n; i++) {
		reach_add(r, missing.dep[i].from, missing.dep[i].to);
	}
	mark_in_lane(j, lane, s, t);
	mark_in_lane(j, lane, t, s);
	return true;
}

bool lash_add_pair(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t)
{
	if (is_impossible(j, lane, s, t) || is_impossible(j, lane, t, s)) {
		return false;
	}
	return j->closed ? add_pair_closed(j, lane, s, t)
	                 : add_pair_searching(j, lane, s, t);
}

/* ---- the list of pairs ---- */

enum {
	AT_ONCE = 4,
	BLOCKS = 16,
	MANY = 16384 /* fewer pairs are not worth a pipeline of threads */
};

struct pair {
	uint16_t s, t;
};

struct block {
	struct pair *pair;
	uint32_t n;
};

struct list {
	struct block *block;
	uint32_t n_blocks;
};

/* Calls back for each open pair, in the order of the input. */
typedef void pair_f(const struct lash_job *j, uint32_t s, uint32_t t, void *ctx);

static void each_pair(const struct lash_job *j, bool data, pair_f *call, void *ctx)
{
	const uint32_t *order = j->in->order;

	for (uint32_t i = 0; i < j->n; i++) {
		uint32_t s = order ? order[i] : i;

		for (uint32_t k = i + 1; k < j->n; k++) {
			uint32_t t = order ? order[k] : k;

			if (j->of[(size_t)s * j->n + t] == LASH_OPEN &&
			    hops_between(j->in->hops, s, t) != HOPS_NONE &&
			    (lash_has_hosts(j, s) && lash_has_hosts(j, t)) == data) {
				call(j, s, t, ctx);
			}
		}
	}
}

/* Pairs of a lower rank come first. */
static unsigned rank(const struct lash_job *j, uint32_t s, uint32_t t)
{
	unsigned d = hops_between(j->in->hops, s, t);

	bool data = lash_has_hosts(j, s) && lash_has_hosts(j, t);

	return (data ? j->far_first : j->management_far_first) ? HOPS_NONE - d : d;
}

static void count_pair(const struct lash_job *j, uint32_t s, uint32_t t, void *ctx)
{
	size_t *end = ctx;

	end[rank(j, s, t)]++;
}

struct filler {
	struct pair *pair;
	size_t *end; /* [HOPS_NONE + 1] where the next pair of a rank goes */
};

static void fill_pair(const struct lash_job *j, uint32_t s, uint32_t t, void *ctx)
{
	struct filler *f = ctx;

	f->pair[f->end[rank(j, s, t)]++] = (struct pair){ (uint16_t)s, (uint16_t)t };
}

static int list_pairs(const struct lash_job *j, bool data, struct list *ret_list)
{
	size_t count[HOPS_NONE + 1] = { 0 }, n = 0, size;
	struct filler f = { .end = count };

	each_pair(j, data, count_pair, count);
	for (unsigned d = 0; d <= HOPS_NONE; d++) {
		size_t first = n;

		n += count[d];
		count[d] = first;
	}
	f.pair = arena_array(j->tmp, n, sizeof(*f.pair));
	size = n / BLOCKS + 1;
	ret_list->n_blocks = (uint32_t)((n + size - 1) / size);
	ret_list->block =
		arena_array(j->tmp, ret_list->n_blocks, sizeof(*ret_list->block));
	if (!f.pair || !ret_list->block) {
		return -ENOMEM;
	}
	each_pair(j, data, fill_pair, &f);
	for (uint32_t i = 0; i < ret_list->n_blocks; i++) {
		size_t first = i * size;

		ret_list->block[i].pair = f.pair + first;
		ret_list->block[i].n = (uint32_t)(n - first < size ? n - first : size);
	}
	return E_OK;
}

static uint64_t left_in(const struct list *l)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < l->n_blocks; i++) {
		n += l->block[i].n;
	}
	return n;
}

/* ---- placing ---- */

static void set_lane(struct lash_job *j, uint32_t s, uint32_t t, unsigned lane)
{
	j->of[(size_t)s * j->n + t] = (uint8_t)lane;
	j->of[(size_t)t * j->n + s] = (uint8_t)lane;
}

/* Adds the pairs of a block that fit to a lane; the others stay in the block. */
static void offer_block(struct lash_job *j, unsigned lane, struct block *b)
{
	uint32_t left = 0;

	if (j->in->cancel && *j->in->cancel) {
		return;
	}
	for (uint32_t i = 0; i < b->n; i++) {
		struct pair p = b->pair[i];

		if (lash_add_pair(j, lane, p.s, p.t)) {
			set_lane(j, p.s, p.t, lane);
			j->lane[lane].pairs++;
		} else {
			b->pair[left++] = p;
		}
	}
	b->n = left;
}

/* Offers the list to the lanes from first to end - 1, each one block behind the one
 * before. */
static void offer_list(struct lash_job *j, struct list *l, unsigned first, unsigned end)
{
	unsigned n = end - first;
	bool many = left_in(l) >= MANY;

	for (uint32_t step = 0; step < l->n_blocks + n - 1; step++) {
#pragma omp parallel for schedule(dynamic, 1) if (many)
		for (unsigned i = 0; i < n; i++) {
			if (i <= step && step - i < l->n_blocks) {
				offer_block(j, first + i, &l->block[step - i]);
			}
		}
	}
}

/* Would the remaining pairs need more lanes than there are, at the rate of the last
 * lanes? */
static bool exceeds_lanes(const struct lash_job *j, unsigned first, unsigned end,
                          uint64_t left)
{
	uint64_t before = left;

	for (unsigned lane = first; lane < end; lane++) {
		before += j->lane[lane].pairs;
	}
	for (unsigned lane = first; lane < end; lane++) {
		before -= j->lane[lane].pairs;
		if (before > 2 * j->lane[lane].pairs * (j->limit - lane - 1)) {
			return true;
		}
	}
	return false;
}

int lash_place_pairs(struct lash_job *j, bool data)
{
	struct list l;
	unsigned first = 0;
	int ret = list_pairs(j, data, &l);

	while (ret == E_OK && left_in(&l)) {
		if (first == j->n_lanes) {
			ret = lash_open_lane(j);
			for (unsigned i = 1;
			     ret == E_OK && i < AT_ONCE && j->n_lanes < j->limit; i++) {
				ret = lash_open_lane(j);
			}
		}
		if (ret == E_OK) {
			offer_list(j, &l, first, j->n_lanes);
			if (data && !j->in->cuts &&
			    exceeds_lanes(j, first, j->n_lanes, left_in(&l))) {
				ret = E_FULL;
			}
			first = j->n_lanes;
		}
		if (j->in->cancel && *j->in->cancel) {
			ret = -ECANCELED;
		}
	}
	while (j->n_lanes > 1 && j->lane[j->n_lanes - 1].pairs == 0) {
		j->n_lanes--;
	}
	return ret;
}

/* ---- balancing lanes ---- */

static void find_extremes(const uint64_t *pairs, unsigned n_lanes, unsigned *ret_full,
                          unsigned *ret_empty)
{
	*ret_full = *ret_empty = 0;
	for (unsigned l = 1; l < n_lanes; l++) {
		*ret_full = pairs[l] > pairs[*ret_full] ? l : *ret_full;
		*ret_empty = pairs[l] < pairs[*ret_empty] ? l : *ret_empty;
	}
}

static bool is_data_pair(const struct lash_job *j, uint64_t i)
{
	uint32_t s = (uint32_t)(i / j->n), t = (uint32_t)(i % j->n);

	return t > s && j->of[i] != LASH_OPEN && lash_has_hosts(j, s) &&
	       lash_has_hosts(j, t) && hops_between(j->in->hops, s, t) != HOPS_NONE;
}

/* Moves data pairs from the lane with most of them to the one with fewest, of the lanes that have
 * any, until all pairs of one lane were tried. */
void lash_balance_lanes(struct lash_job *j)
{
	uint64_t next[LASH_LANES_MAX] = { 0 }, pairs[LASH_LANES_MAX] = { 0 };
	uint64_t end = (uint64_t)j->n * j->n;
	unsigned full, empty, n_lanes = 1;

	for (uint64_t i = 0; i < end; i++) {
		if (is_data_pair(j, i)) {
			pairs[j->of[i]]++;
			n_lanes = j->of[i] >= n_lanes ? j->of[i] + 1U : n_lanes;
		}
	}
	find_extremes(pairs, n_lanes, &full, &empty);
	while (pairs[full] > pairs[empty] + 1) {
		uint64_t i = next[full]++;

		if (i >= end) {
			return;
		}
		if (j->of[i] == full && is_data_pair(j, i) &&
		    lash_add_pair(j, empty, (uint32_t)(i / j->n), (uint32_t)(i % j->n))) {
			set_lane(j, (uint32_t)(i / j->n), (uint32_t)(i % j->n), empty);
			pairs[full]--;
			pairs[empty]++;
			find_extremes(pairs, n_lanes, &full, &empty);
		}
	}
}

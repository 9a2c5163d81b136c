/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
/*
 * Dealing out pairs.
 *
 * Each pair goes to the lowest lane in which it fits, the farthest pairs first: they are
 * the hardest to place. What a lane takes depends only on the
 * pairs before that the lanes below have left over. So each lane goes through the list by
 * itself and leaves the rest to the next; a few lanes run one behind the other on blocks
 * of the list, with the same result on any number of threads.
 *
 * Lower lanes choose first and take more than those above. When what is left is twice as
 * much as the lanes that are left would take at the rate of the last one, there is no
 * point in trying.
 */
#include <errno.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "routing/engines/lash/lash_work.h"
#include "routing/graph/graph.h"
#include "routing/graph/hops.h"

enum {
	AT_ONCE = 4,
	BLOCKS = 16,
	MANY = 16384 /* fewer pairs are not worth waiting for one another */
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

/* ---- the list ---- */

/* Calls for each open pair in the order of the input. */
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

/* Pairs of a lower rank come first. Those without data are placed sooner from near to
 * far. */
static unsigned rank(const struct lash_job *j, uint32_t s, uint32_t t)
{
	bool data = lash_has_hosts(j, s) && lash_has_hosts(j, t);
	unsigned d = hops_between(j->in->hops, s, t);

	return j->far_first && data ? HOPS_NONE - d : d;
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

static int list_pairs(const struct lash_job *j, bool data, struct list *ret)
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
	ret->n_blocks = (uint32_t)((n + size - 1) / size);
	ret->block = arena_array(j->tmp, ret->n_blocks, sizeof(*ret->block));
	if (!f.pair || !ret->block) {
		return -ENOMEM;
	}
	each_pair(j, data, fill_pair, &f);
	for (uint32_t i = 0; i < ret->n_blocks; i++) {
		size_t first = i * size;

		ret->block[i].pair = f.pair + first;
		ret->block[i].n = (uint32_t)(n - first < size ? n - first : size);
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

/* ---- lanes ---- */

static void set_lane(struct lash_job *j, uint32_t s, uint32_t t, unsigned lane)
{
	j->of[(size_t)s * j->n + t] = (uint8_t)lane;
	j->of[(size_t)t * j->n + s] = (uint8_t)lane;
}

/* What a lane does not take of a block stays in it. */
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

/* Offers the list to lanes from first to end - 1, each a block behind the one before. */
static void offer(struct lash_job *j, struct list *l, unsigned first, unsigned end)
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

/* Is there no hope that the lanes left take what these have left? */
static bool is_hopeless(const struct lash_job *j, unsigned first, unsigned end,
                        uint64_t left)
{
	uint64_t before = left;

	for (unsigned lane = first; lane < end; lane++) {
		before += j->lane[lane].pairs;
	}
	for (unsigned lane = first; lane < end; lane++) {
		before -= j->lane[lane].pairs;
		if (before > 2 * j->lane[lane].pairs * (j->in->max - lane - 1)) {
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
			/* Opens some lanes more. E_FULL: there are none. */
			ret = lash_open_lane(j);
			for (unsigned i = 1;
			     ret == E_OK && i < AT_ONCE && j->n_lanes < j->in->max; i++) {
				ret = lash_open_lane(j);
			}
		}
		if (ret == E_OK) {
			offer(j, &l, first, j->n_lanes);
			if (data && !j->in->cuts &&
			    is_hopeless(j, first, j->n_lanes, left_in(&l))) {
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

/* ---- even lanes ---- */

static void extremes(const struct lash_job *j, unsigned *ret_full, unsigned *ret_empty)
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
void lash_even_out(struct lash_job *j)
{
	uint64_t next[LASH_LANES_MAX] = { 0 }, end = (uint64_t)j->n * j->n;
	unsigned full, empty;

	extremes(j, &full, &empty);
	while (j->lane[full].pairs > j->lane[empty].pairs + 1) {
		uint64_t i = next[full]++;
		uint32_t s = (uint32_t)(i / j->n), t = (uint32_t)(i % j->n);

		if (i >= end) {
			return;
		}
		if (t <= s || j->of[i] != full || !lash_has_hosts(j, s) ||
		    !lash_has_hosts(j, t) ||
		    hops_between(j->in->hops, s, t) == HOPS_NONE) {
			continue;
		}
		if (lash_add_pair(j, empty, s, t)) {
			set_lane(j, s, t, empty);
			j->lane[full].pairs--;
			j->lane[empty].pairs++;
			extremes(j, &full, &empty);
		}
	}
}

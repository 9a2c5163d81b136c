/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/engines/ftree/ftree.h"

/*! Loads and contention that the repair of a broken tree counts. Private to ftree_repair.c and
 * ftree_load.c. */
struct ftree_load {
	const struct ftree *f;
	uint32_t width;      /*!< ports per row of at_port */
	uint32_t *at_port;   /*!< [n][width] index in f->link, GRAPH_NONE */
	uint32_t *home;      /*!< [n_hosts] */
	/*! [n_hosts][n] the tables transposed: egress port by host and switch */
	uint8_t *port;
	uint32_t *load;      /*!< [n_adj] host routes per entry of f->link */
	uint32_t *load_cost; /*!< [n_adj] ftree_load_cost() of it */
	/*! [n_leaves][n_adj] by distance in the order of leaves: 2 * pairs of this
	 *  distance + pairs of the neighbouring distances */
	uint8_t *contention;
	uint32_t fair;      /*!< mean load by main routes alone */
	uint32_t good_cost; /*!< cost of a load a little above the mean of all routes */
	/*! [n_hosts][broken_stride] bit per leaf: the main route of the pair is cut */
	uint8_t *broken;
	size_t broken_stride;
	uint32_t *n_broken; /*!< [n_hosts] number of such pairs */
};

/*!
 * \brief Counts the pairs whose main route is whole and marks the others.
 * \retval -ENOMEM -ECANCELED  Cost: O(leaves * hosts). Parallel.
 */
int ftree_load_count(struct ftree_load *x, const struct ftree *f, struct arena *a);

/*! \brief Writes x->port back to the tables. Parallel. */
void ftree_load_store(const struct ftree_load *x);

/*! \brief Adds (1) or removes (-1) the route from leaf switch \a i to host \a h along \a column. */
void ftree_load_add_route(struct ftree_load *x, uint32_t i, uint32_t h,
                          const uint8_t *column, int sign);

/*! \brief The link that a column uses at a switch. */
static inline uint32_t ftree_link_at(const struct ftree_load *x, const uint8_t *column,
                                     uint32_t s)
{
	return x->at_port[(size_t)s * x->width + column[s]];
}

/*! \brief Do the hosts of leaf switch \a i have a route between switches to host \a h? */
static inline bool ftree_is_pair(const struct ftree_load *x, uint32_t i, uint32_t h)
{
	const struct ftree *f = x->f;
	uint32_t s = f->leaf[i];

	return s != x->home[h] && ftree_hosts_on(f, s) && f->lid[h] &&
	       ftree_dist(f, s, x->home[h]) != FTREE_NONE;
}

/*! \brief How far host \a h is from leaf switch \a i in the order of leaves. */
static inline uint32_t ftree_distance(const struct ftree_load *x, uint32_t i, uint32_t h)
{
	uint32_t n = x->f->n_leaves, t = x->f->leaf_pos[x->home[h]];

	return t >= i ? t - i : t + n - i;
}

static inline bool ftree_is_broken(const struct ftree_load *x, uint32_t i, uint32_t h)
{
	return x->broken[h * x->broken_stride + i / 8] >> i % 8 & 1;
}

/*! \brief Grows with the fourth power of the load: 2^12 at the mean, at most 2^24. */
static inline uint32_t ftree_load_cost(uint32_t load, uint32_t fair)
{
	uint64_t x = (uint64_t)load * 16 / fair;

	return x > 128 ? 1U << 24 : (uint32_t)(x * x * x * x / 16);
}

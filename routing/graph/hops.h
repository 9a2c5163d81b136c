/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "conf/base/search.h"

struct arena;
struct graph;

/*!
 * Hop distances between all switches, [from][to], and for each switch the others by
 * distance.
 */
enum { HOPS_NONE = 0xff }; /*!< not connected */

struct hops {
	uint32_t n;        /*!< switches */
	unsigned diameter; /*!< greatest distance inside a connected part */
	size_t stride;     /*!< bytes per row of dist, a multiple of 64 */
	uint8_t *dist;     /*!< [n][stride] */
	uint16_t *order;   /*!< [n][n] switches by distance, ascending index within a
	                      distance */
	uint32_t *first; /*!< [n][diameter + 2] first of each distance in the row of order
	                  */
};

/*!
 * \brief Breadth-first search from every switch, 64 sources at once.
 *
 * \retval E_RANGE  More than 65,535 switches, or a distance above 254.
 * \retval -ENOMEM
 * Cost: O(S/64 * diameter * E + S^2) time, 3 S^2 bytes. Parallel; same result on any
 * number of threads.
 */
int hops_init(struct hops *h, const struct graph *g, struct arena *a);

/*! \brief The same without order and first, which hops_index() adds. */
int hops_find(struct hops *h, const struct graph *g, struct arena *a);

/*!
 * \brief The same in two steps for distances of another kind: dist, all HOPS_NONE; then,
 *        when dist and diameter are set, what follows from them.
 * \retval E_RANGE  More than 65,535 switches. \retval -ENOMEM
 */
int hops_alloc(struct hops *h, uint32_t n, struct arena *a);
int hops_index(struct hops *h, struct arena *a);

static inline unsigned hops_between(const struct hops *h, uint32_t from, uint32_t to)
{
	return h->dist[(size_t)from * h->stride + to];
}

/*! \brief Switches at distance \a d of \a s, ascending. */
static inline const uint16_t *hops_at(const struct hops *h, uint32_t s, unsigned d,
                                      uint32_t *ret_n)
{
	const uint32_t *first = h->first + (size_t)s * (h->diameter + 2) + d;

	*ret_n = first[1] - first[0];
	return h->order + (size_t)s * h->n + first[0];
}

/*! \brief Position of the first entry that is at least \a t. */
static inline uint32_t hops_lower_bound(const uint16_t *dest, uint32_t n, uint32_t t)
{
	return (uint32_t)LOWER_BOUND(n, i, dest[i] < t);
}

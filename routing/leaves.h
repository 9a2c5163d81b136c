/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct graph;

/*!
 * Switches with hosts in an order that follows the cables: those that have a common
 * switch near them next to each other. What is dealt out leaf by leaf is dealt alike
 * everywhere then, whatever the GUIDs.
 */

/* Sets of switches that grow together; joined[s] is s or a smaller member, and a set is
 * named by its smallest. At the start every switch is a set of its own. */

static inline uint32_t joined_find(uint32_t *joined, uint32_t s)
{
	while (joined[s] != s) {
		joined[s] = joined[joined[s]];
		s = joined[s];
	}
	return s;
}

static inline void joined_join(uint32_t *joined, uint32_t a, uint32_t b)
{
	a = joined_find(joined, a);
	b = joined_find(joined, b);
	joined[a > b ? a : b] = a < b ? a : b;
}

/*!
 * \brief Stable sort of switches by the set they are in.
 * \param joined  [n_switches]. \param count, list_tmp  Working memory of as many.
 * Cost: O(n_switches).
 */
void joined_sort(uint32_t *joined, uint32_t n_switches, uint32_t *list, uint32_t n_list,
                 uint32_t *count, uint32_t *list_tmp);

/*!
 * \brief The switches with hosts in this order.
 *
 * Switches at most r hops above the nearest hosts fall into connected sets; leaves of one
 * set come together, for every r. Equal ones, and all where a cable joins two switches
 * with hosts, are in the order of their index.
 *
 * \param ret  [\a ret_n]
 * \retval -ENOMEM
 * Cost: O(E + S * height).
 */
int leaves_order(const struct graph *g, struct arena *a, uint32_t **ret, uint32_t *ret_n);

/*!
 * Places for hosts. A place is a switch and a port: its number stays while hosts leave
 * and come, so what is dealt by place does not move with them.
 */
struct leaf_places {
	uint32_t n; /*!< of each switch, 0: too many would be empty, none are held */
	uint32_t rank[256]; /*!< of a switch port among those */
};

/*!
 * \brief Places: the switch ports at which any of the switches has a host.
 *
 * \param is_one  [graph.n_ports] which hosts count, NULL: all. \param value  Of these.
 */
void leaves_places(const struct graph *g, const uint32_t *leaf, uint32_t n_leaves,
                   const bool *is_one, bool value, struct leaf_places *ret);

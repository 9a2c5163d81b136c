/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*!
 * Union-find: disjoint sets of the numbers 0 to n - 1, in an array of the caller in which
 * each number names its parent. The root of a set is its lowest member, so the sets do
 * not depend on the order in which they were united.
 *
 * Cost: amortised O(log n) for each call.
 * Source: Tarjan and van Leeuwen, "Worst-case analysis of set union algorithms", 1984
 * (path halving).
 */

/*! \brief Puts each number into a set of its own. */
static inline void union_init(uint32_t *parent, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		parent[i] = i;
	}
}

/*! \brief The root of a number's set: its lowest member. */
static inline uint32_t union_find(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/*! \brief Unites the sets of two numbers. \return false: it was one set already. */
static inline bool union_join(uint32_t *parent, uint32_t a, uint32_t b)
{
	a = union_find(parent, a);
	b = union_find(parent, b);
	parent[a > b ? a : b] = a > b ? b : a;
	return a != b;
}

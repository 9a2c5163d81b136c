/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>

/*!
 * \brief Binary search: position of the first element that is not before what is sought.
 *
 * \param n          Number of elements; they are sorted.
 * \param i          Name of the index that \a is_before uses; a size_t.
 * \param is_before  Expression: does element \a i come before what is sought? It holds
 *                   for the first elements and for none of the others.
 * \return Position from 0 to \a n; \a n if all elements come before.
 *
 *     uint32_t at = LOWER_BOUND(g->n_nodes, i, g->nodes[i].guid < guid);
 *     bool found = at < g->n_nodes && g->nodes[at].guid == guid;
 *
 * Cost: O(log n); the expression is compiled into the loop.
 */
#define LOWER_BOUND(n, i, is_before)                                                     \
	({                                                                               \
		size_t low_ = 0, high_ = (n);                                            \
		while (low_ < high_) {                                                   \
			const size_t i = low_ + (high_ - low_) / 2;                      \
			if (is_before) {                                                 \
				low_ = i + 1;                                            \
			} else {                                                         \
				high_ = i;                                               \
			}                                                                \
		}                                                                        \
		low_;                                                                    \
	})

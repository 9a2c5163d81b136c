/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The four orders in which the (source LID, destination LID) pairs of two ports are
 * given, each in closed form: the k-th pair without walking the ones before.
 *
 * N and M are powers of two. Let m = min(N, M) - 1. Minimal and Pairwise hold only pairs
 * with (s & m) == (d & m), and Pairwise holds all max(N, M) of them, because i mod N and
 * i mod M agree in the low bits. So OrderAll is Pairwise and then exactly the pairs where
 * the low bits differ, and no pair comes twice.
 *
 * A side fixed by its LID (offset F) keeps the pairs of that LID, in the same order.
 */
#include "sa/path/path_query.h"

/* j-th offset, ascending, whose low bits (mask m) are not those of \a not. */
static unsigned other_offset(unsigned m, unsigned not, unsigned j)
{
	unsigned block = j / m;
	unsigned at = j % m;

	return block * (m + 1) + at + (at >= (not &m));
}

/* The free side's k-th offset, of \a free LIDs, against offset \a f of a side that has
 * \a fixed LIDs. */
static bool order_fixed_one(enum path_selection mode, unsigned fixed, unsigned free,
                            unsigned f, unsigned k, unsigned *ret_index)
{
	unsigned m = (fixed < free ? fixed : free) - 1;
	unsigned n_pairwise = free / (m + 1);
	unsigned n = 0;

	switch (mode) {
	case PATH_MINIMAL: n = 1; break;
	case PATH_PAIRWISE: n = n_pairwise; break;
	case PATH_ORDERALL:
	case PATH_SRCDSTALL:
	case PATH_SELECTION_COUNT: n = free; break;
	}
	if (k >= n) {
		return false;
	}
	if (mode == PATH_SRCDSTALL) {
		*ret_index = k;
	} else if (k < n_pairwise) {
		*ret_index = (f & m) + k * (m + 1);
	} else {
		*ret_index = other_offset(m, f, k - n_pairwise);
	}
	return true;
}

static bool order_free(enum path_selection mode, unsigned n, unsigned m, unsigned k,
                       unsigned *ret_s, unsigned *ret_d)
{
	unsigned least = n < m ? n : m;
	unsigned most = n < m ? m : n;
	unsigned count = path_order_count(mode, n, m);

	if (k >= count) {
		return false;
	}
	if (mode == PATH_SRCDSTALL) {
		*ret_s = k / m;
		*ret_d = k % m;
		return true;
	}
	if (k < most) {
		*ret_s = k & (n - 1);
		*ret_d = k & (m - 1);
		return true;
	}
	unsigned per_source = m - m / least;
	k -= most;
	*ret_s = k / per_source;
	*ret_d = other_offset(least - 1, *ret_s, k % per_source);
	return true;
}

bool path_order(enum path_selection mode, unsigned n, unsigned m, int fixed_src,
                int fixed_dst, unsigned k, unsigned *ret_s, unsigned *ret_d)
{
	if (fixed_src >= 0 && fixed_dst >= 0) {
		*ret_s = (unsigned)fixed_src;
		*ret_d = (unsigned)fixed_dst;
		return k == 0;
	}
	if (fixed_src >= 0) {
		if (!order_fixed_one(mode, n, m, (unsigned)fixed_src, k, ret_d)) {
			return false;
		}
		*ret_s = (unsigned)fixed_src;
		return true;
	}
	if (fixed_dst >= 0) {
		if (!order_fixed_one(mode, m, n, (unsigned)fixed_dst, k, ret_s)) {
			return false;
		}
		*ret_d = (unsigned)fixed_dst;
		return true;
	}
	return order_free(mode, n, m, k, ret_s, ret_d);
}

unsigned path_order_count(enum path_selection mode, unsigned n, unsigned m)
{
	switch (mode) {
	case PATH_MINIMAL: return n < m ? n : m;
	case PATH_PAIRWISE: return n < m ? m : n;
	case PATH_ORDERALL:
	case PATH_SRCDSTALL:
	case PATH_SELECTION_COUNT: break;
	}
	return n * m;
}

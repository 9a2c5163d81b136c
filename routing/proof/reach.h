/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cdg;

/*!
 * Which channel waits for which, directly or not: the transitive closure of a dependency
 * graph that only grows. One look says whether a dependency closes a cycle, where struct
 * cdg has to search; in exchange it takes n * n / 4 bytes and forgets nothing.
 */
struct reach {
	uint32_t n;       /*!< channels */
	size_t words;     /*!< 64-bit words in a row */
	uint64_t *after;  /*!< [n][words] bit y of row x: x is y, or leads to y */
	uint64_t *before; /*!< [n][words] bit x of row y: the same */
};

struct reach_dep {
	uint32_t from, to;
};

enum {
	REACH_DEPS_MAX = 256,
	REACH_CHANNELS_MAX = 6144 /*!< 9.4 MB */
};

/*! \brief No dependencies. \param n At most REACH_CHANNELS_MAX. \retval -ENOMEM */
int reach_init(struct reach *r, uint32_t n, struct arena *a);

/*! \brief Removes all dependencies. */
void reach_clear(struct reach *r);

/*! \brief Adds all that a graph holds; \a r must be as reach_init() left it.
 * Cost: O(n * dependencies / 64). */
void reach_load(struct reach *r, const struct cdg *c);

/*! \brief Does one channel lead to another, or is it the same? */
static inline bool reach_leads(const struct reach *r, uint32_t from, uint32_t to)
{
	return r->after[from * r->words + to / 64] >> to % 64 & 1;
}

/*!
 * \brief Could all these be added at once without a cycle?
 * \param n  At most REACH_DEPS_MAX.
 */
bool reach_fits(const struct reach *r, const struct reach_dep *dep, unsigned n);

/*!
 * \brief Adds a dependency. It must not close a cycle.
 * Cost: O(1) when it leads there already, else a row for each channel that gains by it.
 */
void reach_add(struct reach *r, uint32_t from, uint32_t to);

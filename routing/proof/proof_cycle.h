/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/graph/column.h"

struct arena;

/*!
 * A channel dependency graph and the search for cycles in it: of one virtual lane, or of
 * several that routes change between.
 *
 * A physical channel is a directed switch-to-switch link (index of graph.adj). Where
 * routes change VLs, each link has 1 << shift channels, one per VL, at (link << shift |
 * VL); otherwise shift is 0. Row c of the bits has the egress ports of the switch that
 * channel c leads to: bit (port << shift | VL) is set when some route goes on from c to
 * that channel.
 */
struct deps {
	const struct column_map *map;
	uint64_t *bits; /*!< [deps_channels()][words] */
	unsigned words; /*!< 64-bit words per channel */
	unsigned shift;
};

/*! \brief Empty dependency graph. \retval -ENOMEM */
int deps_init(struct deps *d, const struct column_map *map, unsigned shift,
              struct arena *a);

/*! \brief How many channels there are. */
uint32_t deps_channels(const struct deps *d);

/*! \brief Adds "a route goes on from channel to egress", a bit of its row. Thread-safe. */
static inline void deps_add(const struct deps *d, uint32_t channel, unsigned egress)
{
	uint64_t *w = d->bits + (size_t)channel * d->words + egress / 64;
	uint64_t bit = UINT64_C(1) << (egress % 64);

	if (!(__atomic_load_n(w, __ATOMIC_RELAXED) & bit)) {
		__atomic_fetch_or(w, bit, __ATOMIC_RELAXED);
	}
}

/*! \brief Adds all bits of a row of d->words words. Thread-safe. */
static inline void deps_merge(const struct deps *d, uint32_t channel, const uint64_t *row)
{
	uint64_t *to = d->bits + (size_t)channel * d->words;

	for (unsigned w = 0; w < d->words; w++) {
		if (row[w] && row[w] & ~__atomic_load_n(&to[w], __ATOMIC_RELAXED)) {
			__atomic_fetch_or(&to[w], row[w], __ATOMIC_RELAXED);
		}
	}
}

/*! Strongly connected components that hold a cycle. */
struct components {
	uint32_t
		*of; /*!< [deps_channels()] component of a channel, GRAPH_NONE: on no cycle */
	uint32_t *size;  /*!< [n] channels of each, components by their lowest channel */
	uint32_t *first; /*!< [n] lowest channel of each */
	uint32_t n;
};

/*! \brief Finds them (Tarjan 1972). Cost: O(channels + dependencies). \retval -ENOMEM */
int deps_components(const struct deps *d, struct arena *a,
                    struct components *ret_components);

/*!
 * \brief A shortest cycle of one component; of several the first found from the lowest channel.
 *
 * One breadth-first search per channel of the component, each as deep as the best cycle so
 * far. In components of many thousand channels the searches stop after a fixed amount of
 * work (not of time, so the answer stays a function of the tables): then it is the
 * shortest cycle through one of the first channels.
 *
 * \param ret_channels    Channels in order, in \a a.
 * \retval -ENOMEM
 */
int deps_shortest_cycle(const struct deps *d, const struct components *c,
                        uint32_t component, struct arena *a, uint32_t **ret_channels,
                        uint32_t *ret_n);

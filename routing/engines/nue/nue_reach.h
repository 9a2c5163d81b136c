/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/engines/nue/nue_lane.h"
#include "routing/graph/graph.h"

struct arena;

enum {
	NUE_HOP = 8,          /*!< length of a link that carries no more than the mean */
	NUE_LENGTH_MAX = 200, /*!< of any other */
	NUE_BUCKETS = 256,    /*!< more than that */
	NUE_FAR = UINT16_MAX  /*!< not reached */
};

/*! One destination in one lane: the links by which the other switches may route to it. */
struct nue_reach {
	const struct nue_plan *plan;
	const struct graph *g;
	unsigned words;        /*!< of a row of open, as struct cdg_map */
	const uint8_t *length; /*!< [n_adj] of each link */
	uint32_t to;
	struct nue_lane *lane;
	/* what was found */
	uint64_t *open;    /*!< [n_switches][words] bit k: the k-th link of the switch */
	uint16_t *dist;    /*!< [n_switches] length of the path, NUE_FAR */
	uint32_t *reached; /*!< [n_reached] switches, the nearest first */
	uint32_t n_reached;
	uint32_t n_forced; /*!< switches that follow the tree */
	uint32_t n_loose;  /*!< switches that the initial dependencies do not reach */
	/* working memory */
	uint64_t *to_lower; /*!< [n_adj][words] turns to a lower dimension, NULL: none */
	bool strict;        /*!< the search is in its first pass */
	bool *forced;    /*!< [n_switches] */
	/*! [n_switches] tree channel towards the destination, for switches between it
	 * and the root */
	uint32_t *down;
	/*! [n_switches] switches with a link that begins at the current distance */
	uint32_t *found;
	bool *is_found;  /*!< [n_switches] */
	uint32_t bucket[NUE_BUCKETS]; /*!< first link that begins at this distance */
	uint32_t *chain;              /*!< [n_adj] the next one */
	uint32_t n_waiting;           /*!< links in buckets */
	uint32_t *added;              /*!< [n_added][2] dependencies, by tail and head */
	uint32_t n_added;
};

/*! \brief Working memory. \a length is read in each search. \retval -ENOMEM */
int nue_reach_init(struct nue_reach *x, const struct nue_plan *p, const uint8_t *length,
                   struct arena *a);

/*! \brief Opens links to one destination and adds their turns to the lane. Every
 * switch of the destination's connected part is reached, unless a path gets longer
 * than 254 hops. Cost: O(E) and that of adding turns, times the rounds in which
 * switches are not reached. */
void nue_reach_run(struct nue_reach *x, struct nue_lane *lane, uint32_t to);

/*! \brief Removes the turns that the last run added. */
void nue_reach_undo(struct nue_reach *x);

/*! \brief The first open link of switch \a s among its channels from \a c on; graph.n_adj:
 * there is none. */
static inline uint32_t nue_reach_next(const struct nue_reach *x, uint32_t s, uint32_t c)
{
	const uint64_t *open = x->open + (size_t)s * x->words;

	for (uint32_t k = c - x->g->adj_first[s]; k < x->words * 64; k += 64 - k % 64) {
		if (open[k / 64] >> k % 64) {
			return x->g->adj_first[s] + k +
			       (uint32_t)__builtin_ctzll(open[k / 64] >> k % 64);
		}
	}
	return x->g->n_adj;
}

/*! \brief How many links of a switch are open? */
unsigned nue_reach_count_open(const struct nue_reach *x, uint32_t s);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/spread/spread.h"

struct arena;
struct graph;
struct hops;
struct lash_cuts;
struct lash_mesh;

/*!
 * One shortest way from each switch to each other one, when several per pair would need
 * more lanes than there are.
 */
struct lash_ways {
	uint32_t n;
	/*! [to][from] next switch; itself at the destination, GRAPH_NONE: not
	 *  connected */
	uint32_t *next;
};

/*! \brief Dimension after dimension over a mesh or torus. \retval -ENOMEM */
int lash_ways_mesh(const struct graph *g, const struct hops *h, const struct lash_mesh *m,
                   const struct lash_cuts *cuts, struct arena *a, struct lash_ways *ret);

/*!
 * \brief Over the links that carry fewest ways so far. \retval -ENOMEM
 * Cost: O(S^2 * P) for S switches of P ports.
 */
int lash_ways_even(const struct graph *g, const struct hops *h, struct arena *a,
                   struct lash_ways *ret);

/*!
 * \brief First with as few turns from down to up as can be, then likewise; down is away
 * from the switch in the middle of the fabric. Takes fewer lanes and is less even.
 * \retval -ENOMEM
 */
int lash_ways_few_turns(const struct graph *g, const struct hops *h, struct arena *a,
                        struct lash_ways *ret);

/*!
 * \brief For the LIDs of the switches of a tree: as few turns from down to up as can be,
 *        all at the same few switches. Links share nothing. \retval -ENOMEM
 */
int lash_ways_manage(const struct graph *g, const struct hops *h, struct arena *a,
                     struct lash_ways *ret);

/*! \brief spread_closer_f for the links to the next switch; \a ctx is the struct
 * lash_ways. */
spread_closer_f lash_ways_closer;

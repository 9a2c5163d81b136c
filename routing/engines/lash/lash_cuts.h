/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/engines/lash/lash_squares.h"

struct arena;
struct lash_mesh;

enum { LASH_CUTS_MAX = 15 };

/*! Lanes of a mesh or torus by cuts. In each lane there is one coordinate per closed
 * dimension, the cut, at which no route of the lane goes straight on. Then
 * dimension-order routes close no cycle on any lane, however many there are. */
struct lash_cuts {
	/*! lanes that the shortest paths of a whole torus need; 0: more than
	 * LASH_CUTS_MAX, or unknown */
	unsigned n;
	uint32_t at[LASH_CUTS_MAX]
		   [LASH_DIMS_MAX]; /*!< coordinate, GRAPH_NONE: none needed */
	/*! [size / 2] for rings of even size: does the path from a place half around
	 * the ring wrap around? NULL: the dimension is open */
	bool *wraps[LASH_DIMS_MAX];
};

/*! \brief Chooses the cuts, and the paths half around rings. \retval -ENOMEM */
int lash_cuts_init(struct lash_cuts *c, const struct lash_mesh *m, struct arena *a);

/*! \brief Does the path between two switches wrap around in a closed dimension? The
 * same in both directions. */
bool lash_cuts_wraps(const struct lash_cuts *c, const struct lash_mesh *m, uint32_t s,
                     uint32_t t, unsigned d);

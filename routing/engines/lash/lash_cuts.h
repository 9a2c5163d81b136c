/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/engines/lash/lash_squares.h"

struct arena;
struct lash_mesh;

enum { LASH_CUTS_MAX = 15 };

/*!
 * Lanes of a mesh or torus by cuts. In each lane there is one coordinate per closed
 * dimension at which no route of the lane goes straight on. Routes that keep to the order
 * of dimensions then wait for each other in a circle on no lane, however many they are.
 */
struct lash_cuts {
	/*! lanes that the shortest ways of a whole torus need; 0: more than
	 *  LASH_CUTS_MAX, or not looked for */
	unsigned n;
	uint32_t at[LASH_CUTS_MAX]
		   [LASH_DIMS_MAX]; /*!< coordinate, GRAPH_NONE: none needed */
	/*! [size / 2] rings of even size: does the way from a place to that half
	 *  around go over the end of the numbering? NULL: open */
	bool *over[LASH_DIMS_MAX];
};

/*! \brief Chooses cuts and, half around a ring, ways. \retval -ENOMEM */
int lash_cuts_init(struct lash_cuts *c, const struct lash_mesh *m, struct arena *a);

/*!
 * \brief Is the way between two switches the one over the end of the numbering of a
 * closed dimension? The same in both directions.
 */
bool lash_cuts_over(const struct lash_cuts *c, const struct lash_mesh *m, uint32_t s,
                    uint32_t t, unsigned d);

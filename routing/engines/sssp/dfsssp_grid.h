/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct graph;

/*! Dimensions of a mesh, torus or hypercube, for dimension-order paths. */
struct dfsssp_grid {
	uint8_t *
		dimension; /*!< [graph.n_adj] dimension of each link; NULL: the fabric is no such grid */
	/*! [graph.n_adj] does the link lead to the next coordinate, not to the
	 * previous one? NULL: unknown */
	uint8_t *up;
	/*! [n_switches] bit per dimension: the coordinate is odd; NULL: unknown */
	uint8_t *odd;
};

/*! \brief Finds dimensions by squares of links, or else by port numbers if cabling is
 * consistent. \retval -ENOMEM */
int dfsssp_dimensions(const struct graph *g, struct arena *a,
                      struct dfsssp_grid *ret_grid);

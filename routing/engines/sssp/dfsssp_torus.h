/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct graph;

/*!
 * Dimensions of a mesh, torus or hypercube, for paths that keep to their order.
 */
struct dfsssp_grid {
	uint8_t *dimension; /*!< [graph.n_adj] of each link; NULL: the fabric is none */
	/*! [graph.n_adj] does it lead to the next coordinate, not to the one before?
	 *  NULL: not known */
	uint8_t *up;
	/*! [n_switches] bit per dimension: the coordinate is odd; NULL: not known */
	uint8_t *odd;
};

/*!
 * \brief Looks for dimensions: by squares of links, else, where cables are consistent, by
 *        port numbers.
 * \retval -ENOMEM
 */
int dfsssp_dimensions(const struct graph *g, struct arena *a, struct dfsssp_grid *ret);

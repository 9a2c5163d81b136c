/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/engines/lash/lash_squares.h"

struct arena;
struct graph;

/*!
 * A fabric as a Cartesian mesh, open or closed in each dimension, whatever its switches
 * are numbered and its cables plugged. A closed line of four is two dimensions of two:
 * nothing tells them apart.
 */
struct lash_mesh {
	unsigned n_dims; /*!< the longest first */
	uint32_t size[LASH_DIMS_MAX];
	bool closed[LASH_DIMS_MAX];
	uint8_t *dim;    /*!< [graph.n_adj] dimension of a link */
	uint32_t *at;    /*!< [n_switches][LASH_DIMS_MAX] coordinates */
	uint32_t *order; /*!< [n_switches] switches by coordinates */
};

/*!
 * \brief Looks for dimensions. Parallel cables are one link; some may be missing.
 *
 * \retval E_UNSUITABLE  It is no mesh: no dimensions that explain every link.
 * \retval -ENOMEM
 */
int lash_mesh_find(const struct graph *g, struct arena *a, struct lash_mesh *ret);

/*! \brief "8 x 8 x 4 torus" or "6 x 5 mesh". Arena string, NULL when out of memory. */
const char *lash_mesh_text(const struct lash_mesh *m, struct arena *a);

/*! \brief Links to a neighbouring place that are missing, seen from the switches at their
 * ends: a missing cable counts twice. */
uint32_t lash_mesh_missing(const struct lash_mesh *m, const struct graph *g);

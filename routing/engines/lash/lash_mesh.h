/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/engines/lash/lash_squares.h"

struct arena;
struct graph;

/*! A fabric as a mesh or torus, however its switches are numbered and cabled. A ring
 * of four switches is two dimensions of two, because nothing distinguishes them. */
struct lash_mesh {
	unsigned n_dims; /*!< the longest first */
	uint32_t size[LASH_DIMS_MAX];
	bool closed[LASH_DIMS_MAX];
	uint8_t *dim;    /*!< [graph.n_adj] dimension of a link */
	uint32_t *at;    /*!< [n_switches][LASH_DIMS_MAX] coordinates */
	uint32_t *order; /*!< [n_switches] switches by coordinates */
};

/*! \brief Finds the dimensions. Parallel cables are one link; links may be missing.
 * \retval E_UNSUITABLE It is no mesh: no dimensions explain every link. \retval
 * -ENOMEM */
int lash_mesh_find(const struct graph *g, struct arena *a, struct lash_mesh *ret_mesh);

/*! \brief "8 x 8 x 4 torus" or "6 x 5 mesh". Arena string, NULL when out of memory. */
const char *lash_mesh_text(const struct lash_mesh *m, struct arena *a);

/*! \brief Counts missing links to neighbouring places at both ends, so that a missing
 * link counts twice. */
uint32_t lash_mesh_missing(const struct lash_mesh *m, const struct graph *g);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct graph;

enum { LASH_DIMS_MAX = 8 };

/*! Links of a fabric by the direction that they would have in a mesh or torus.
 * Parallel cables are one link. Private to routing/engines/lash. */
struct lash_squares {
	uint32_t n;      /*!< switches */
	uint32_t *first; /*!< [n + 1] into the arrays below */
	uint32_t *near;  /*!< neighbours of a switch, each once, ascending */
	uint32_t *back;  /*!< the same link seen from its other end */
	uint32_t *slab;  /*!< equal for links between the same two slabs */
	uint32_t *direction; /*!< equal for links of one direction, as far as known */
	unsigned n_dims;
	/*! direction of each dimension, the one with most links first */
	uint32_t dim[LASH_DIMS_MAX];
};

/*!
 * \brief Looks for directions; at most LASH_DIMS_MAX pairs of them, those with most
 * links, are listed. Nothing says yet that there is a mesh.
 *
 * \param guess  Where several links of a switch may go straight on, take the one that is
 *               more likely to.
 * \retval E_UNSUITABLE  It is no mesh. \retval -ENOMEM
 */
int lash_squares_find(const struct graph *g, bool guess, struct arena *a,
                      struct lash_squares *ret_squares);

/*! \brief The direction that represents the dimension of a link. */
static inline uint32_t lash_dim_of(const struct lash_squares *q, uint32_t link)
{
	uint32_t a = q->direction[link], b = q->direction[q->back[link]];

	return a < b ? a : b;
}

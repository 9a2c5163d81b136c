/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct graph;

/*!
 * \brief Recognises a mesh, torus or hypercube by the ports that its cables join.
 *
 * Ports that are cabled to each other, directly or by way of others, are one dimension.
 * It is such a fabric when there are several and each leads every switch to two
 * neighbours at most.
 *
 * \param ret  [graph.n_adj] dimension of each link; NULL: no such fabric.
 * \retval -ENOMEM
 */
int dfsssp_dimensions(const struct graph *g, struct arena *a, uint8_t **ret);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <string.h>

#include "routing/graph/graph.h"

struct arena;

/*!
 * What tests of the graph, its reader and its generators share.
 */

/*! \brief Everything graph.h promises of a frozen graph. */
void graph_check(const struct graph *g);

/*! \brief The same fabric: nodes, GUIDs, descriptions, cables, widths, speeds, LIDs. */
void graph_check_same(const struct graph *a, const struct graph *b);

/*!
 * \brief Connected component of each node, numbered from 0 in node order.
 *
 * \param ret_components  [n_nodes]
 * \retval -ENOMEM
 */
int graph_check_components(const struct graph *g, struct arena *a,
                           uint32_t **ret_components, uint32_t *ret_n);

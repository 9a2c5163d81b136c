/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <string.h>

#include "routing/graph/graph.h"

/*!
 * What tests of the graph, its reader and its generators share.
 */

/*! \brief Everything graph.h promises of a frozen graph. */
void graph_check(const struct graph *g);

/*! \brief The same fabric: nodes, GUIDs, descriptions, cables, widths, speeds, LIDs. */
void graph_check_same(const struct graph *a, const struct graph *b);

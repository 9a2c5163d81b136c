/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "routing/graph/lids.h"
#include "routing/graph/tables.h"

struct arena;
struct graph;
struct snap_reader;

/*! The published fabric in the form in which routing has it. */
struct snap_fabric {
	struct graph *g;     /*!< nodes, cables, LIDs as found; frozen */
	struct lids lids;
	struct lft lft;
	struct lanes lanes;
};

/*!
 * \brief Copies nodes, ports and cables of the pinned epoch into an arena: a frozen graph,
 *        whose nodes and ports are in the order of the rows.
 *
 * \retval E_STALE      Superseded meanwhile: pin again, in a new arena.
 * \retval E_NOTREADY   Nothing is pinned. \retval E_MALFORMED -ENOMEM
 * Cost: one search per port.
 */
int snap_graph(struct snap_reader *r, struct arena *a, struct graph **ret_graph);

/*!
 * \brief Copies the pinned epoch into an arena, for work that takes longer than an epoch
 *        may be held: reports, proofs, what-ifs.
 *
 * \retval E_STALE      Superseded meanwhile: pin again, in a new arena.
 * \retval E_NOTREADY   Nothing is pinned. \retval E_MALFORMED -ENOMEM
 * Cost: O(S * L), one search per chunk of a row.
 */
int snap_fabric(struct snap_reader *r, struct arena *a, struct snap_fabric *ret_fabric);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct graph;

/*!
 * A fabric held against a plan of its cables.
 *
 * A node of the plan is the found node with its GUID. If there is none, it is the one with its
 * name, where the name is unique on both sides, because a plan is often written before the
 * machines have GUIDs. Ports are the same by node and number.
 */
enum cabling_kind {
	CABLING_NODE_MISSING, /*!< node of the plan that is not found */
	CABLING_NODE_EXTRA,   /*!< found node that is not planned */
	CABLING_SWAPPED, /*!< two planned cables whose far ends are exchanged */
	CABLING_WRONG,   /*!< a planned cable; at one end or both there is another */
	CABLING_MISSING, /*!< a planned cable; there is none at either end */
	CABLING_EXTRA,   /*!< a found cable where none is planned at either end */
	CABLING_SLOWER,  /*!< as planned, but slower */
	CABLING_KINDS
};

/*! Indices of nodes or ports; GRAPH_NONE: not of this kind of difference. */
struct cabling_row {
	enum cabling_kind kind;
	uint32_t node;       /*!< of the plan, or the found one that is extra */
	uint32_t plan[2];    /*!< ends of the planned cable */
	uint32_t other[2];   /*!< CABLING_SWAPPED: of the second planned cable */
	uint32_t found[2];   /*!< found ends that belong to plan[], or of the extra cable */
	uint32_t at_peer[2]; /*!< CABLING_WRONG: what is cabled to found[] */
};

struct cabling {
	struct cabling_row *row; /*!< by kind, then in the order of the plan */
	uint32_t n_rows;
	uint32_t count[CABLING_KINDS];
	uint32_t n_planned, n_good; /*!< cables of the plan; as planned, or slower */
};

/*!
 * \brief Compares. Cables of nodes that are missing or extra are in their row alone.
 * \param plan, found  Frozen.
 * \retval E_OK \retval -ENOMEM
 * Cost: O(P + N log N).
 */
int cabling_compare(const struct graph *plan, const struct graph *found, struct arena *a,
                    struct cabling *ret_cabling);

/*! \brief "swapped" and so on. */
const char *cabling_kind_name(enum cabling_kind kind);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "conf/base/hash.h"
#include "routing/text/span.h"

struct arena;
struct graph;
struct topo_problems;

/*!
 * Second half of the topology reader: nodes by their id, and cable lines, which can only
 * be understood when every node is known. Private to routing/topofile*.c.
 */

/*! One line of the file: this port leads to that one. */
struct claim {
	uint64_t near_guid; /*!< PortGUIDs as written, 0: not written */
	uint64_t far_guid;
	struct span far_id;
	uint32_t port; /*!< port index of this end */
	uint32_t far;  /*!< of the other, set by cables_resolve() */
	unsigned line;
	uint8_t far_num;
	uint8_t width; /*!< enum link_width, 0: not written */
	uint8_t speed; /*!< enum link_speed, SPEED_COUNT: not written */
};

/* A node id and where it was defined. */
struct topo_id {
	struct span id;
	uint32_t node; /*!< GRAPH_NONE: its line was wrong, as already reported */
	unsigned line;
};

struct cables {
	struct claim *claims;
	uint32_t n_claims;
	struct topo_id *ids;
	struct hash_table by_id; /*!< digest of an id -> place in ids */
	uint32_t n_ids;
};

/*! \brief Room for so many lines of each kind; no more may be added. \retval -ENOMEM */
int cables_init(struct cables *c, uint32_t max_claims, uint32_t max_nodes,
                struct arena *a);

/*! \brief The row of a node id; NULL: no line has defined it. Expected O(1). */
struct topo_id *cables_find_id(const struct cables *c, struct span id);

/*! \brief Adds a node id that is not there yet. Expected O(1). */
struct topo_id *cables_add_id(struct cables *c, struct span id, uint32_t node,
                              unsigned line);

/*!
 * \brief Connects the graph's ports as the claims say; all that do not fit are reported.
 * \retval -ENOMEM
 */
int cables_resolve(struct cables *c, struct graph *g, struct topo_problems *pr);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;
struct diags;
struct graph;

/*!
 * A fabric as it would be after some changes: a copy, for work that asks what would happen.
 * Nodes and ports keep their GUIDs and LIDs, so the two fabrics are compared by GUID.
 */
enum alteration_kind {
	ALTER_NODE_DOWN, /*!< node a and its cables go */
	ALTER_PORT_DOWN, /*!< the cable of port a goes */
	ALTER_SWITCH,    /*!< a switch \a name with n_ports comes */
	ALTER_HOST,      /*!< a CA \a name comes on port a, which has no cable */
	ALTER_CABLE      /*!< a cable comes between ports a and b, which have none */
};

/*! A port of the old fabric, or of a switch that comes by an earlier alteration. */
struct altered_port {
	uint32_t port;     /*!< index in graph.ports; GRAPH_NONE: of a new switch, */
	uint32_t new_node; /*!< which is that of alteration [new_node] */
	uint8_t num;       /*!< and its port number */
};

struct alteration {
	enum alteration_kind kind;
	uint32_t node; /*!< ALTER_NODE_DOWN */
	struct altered_port a, b;
	const char *name; /*!< description of a new node; borrowed */
	uint8_t n_ports;  /*!< ALTER_SWITCH */
};

/*!
 * \brief Makes the copy.
 *
 * New nodes get GUIDs that no other node has. A new cable is as wide and fast as the best
 * cable of the two switches.
 *
 * \param ret_graph  Frozen; in \a a.
 * \retval E_DUPLICATE  A port for a new cable has one. \retval E_RANGE  There is no such port.
 * \retval -ENOMEM
 * Cost: O(P log P), that of graph_freeze().
 */
int graph_altered(const struct graph *g, const struct alteration *change, uint32_t n,
                  struct arena *a, struct diags *d, struct graph **ret_graph);

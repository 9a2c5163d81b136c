/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

struct arena;

/*!
 * Single faults that would cut a fabric: cables that are bridges of the graph of switches, and
 * switches that are articulation points of it.
 *
 * The graph falls into blocks that no single switch cuts. A block has a switch at its top, and the
 * other switches of it hang below; so switches and blocks alternate in a tree for each connected
 * part. A cable is a bridge where it is a block of its own.
 *
 * Source: R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1 (1972).
 */
struct cuts_edge {
	uint32_t a, b; /*!< switches; parallel cables are an edge each, a == b is ignored */
};

struct cuts {
	uint32_t n, n_blocks;
	uint32_t *order;       /*!< [n] switches in preorder */
	uint32_t *above;       /*!< [n] block above a switch; GRAPH_NONE: it is the root of its part */
	uint32_t *root;        /*!< [n] */
	uint64_t *below;       /*!< [n] hosts on a switch and below it */
	uint32_t *top;         /*!< [n_blocks] switch above a block */
	uint32_t *bridge;      /*!< [n_blocks] the edge that is the block; GRAPH_NONE: several are */
	uint64_t *block_below; /*!< [n_blocks] hosts below a block */
	struct cuts_place *at_switch, *at_block; /*!< [n], [n_blocks] of cuts_rejoin() */
	uint32_t *seen_switch, *seen_block; /*!< the same */
};

/*! A single fault, and what it would do. */
struct cut {
	uint64_t pairs; /*!< of hosts, in any order, that it would separate; 0: there is none */
	uint32_t sw;    /*!< the switch that would go; GRAPH_NONE: an edge */
	uint32_t edge;  /*!< the edge that would go; GRAPH_NONE: a switch */
};

/*!
 * \brief Finds blocks, bridges and articulation points.
 *
 * \param n, m   Numbers of switches and edges.
 * \param hosts  [n] Hosts on each switch. Those of a switch that goes are down, not cut off.
 * \param a      Holds the result.
 * \retval -ENOMEM
 *
 * Cost: O(n + m).
 */
int cuts_find(uint32_t n, const struct cuts_edge *e, uint32_t m, const uint32_t *hosts,
              struct arena *a, struct cuts *ret_cuts);

/*!
 * \brief The worst next fault that something lost would have covered: of all single faults the
 *        one that separates most pairs which would stay together if some switches were joined
 *        again by a cable or by another switch.
 *
 * \param c   Its marks are used.
 * \param at  [n] The switches that were joined. Those in another part than the first are ignored.
 * Cost: O(n * depth of the tree of blocks).
 */
struct cut cuts_rejoin(struct cuts *c, const uint32_t *at, uint32_t n);

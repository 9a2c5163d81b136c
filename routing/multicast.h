/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/engine.h"

struct sw_link;

/*!
 * Multicast forwarding: for each group one tree of switches that has all its members, and
 * the tables that follow from the trees.
 *
 * A switch copies a packet to all ports of its MLID but the one it came in by. So the
 * ports of a group, cables with both their ends, must be a tree: then every member gets a
 * packet once, whoever sends it.
 */
enum {
	MLID_FIRST = 0xC000,
	MLID_LAST = 0xFFFE, /*!< 0xFFFF is the permissive LID */
	MFT_BLOCK_MLIDS = 32,
	MFT_POSITION_PORTS = 16
};

struct mcast_member {
	uint32_t port;   /*!< end port: index in graph.ports */
	bool sends_only; /*!< the tree reaches its switch, packets don't leave by its port */
};

struct mcast_group {
	uint32_t mlid;
	const struct mcast_member *members; /*!< each end port at most once */
	uint32_t n;
};

struct mcast_in {
	const struct mcast_group *groups; /*!< [n_groups] each with its own MLID */
	uint32_t n_groups;
	const uint8_t *barred; /*!< [n_switches] 1: has no multicast table; NULL: all have */
};

/*! A port out of which a switch sends packets of the group. */
struct mcast_port {
	uint32_t sw;
	uint8_t port;
};

struct mcast_tree {
	uint32_t root;            /*!< switch, GRAPH_NONE: no tree */
	struct mcast_port *ports; /*!< [n] by (switch, port) */
	uint32_t n;               /*!< 0: fewer than two members, or no receiver */
	uint32_t missed;          /*!< members that no tree reaches */
};

/*! One block of a switch's multicast forwarding table. */
struct mft_block {
	uint32_t sw;
	uint8_t position;                /*!< ports 16 * position and up */
	uint16_t block;                  /*!< MLIDs MLID_FIRST + 32 * block and up */
	uint16_t mask[MFT_BLOCK_MLIDS];  /*!< bit n: port 16 * position + n */
};

/*!
 * \brief Trees of fewest hops, each from a central root.
 *
 * The root is a switch whose greatest distance to a member's switch is smallest, then the
 * one with the smallest sum of distances. Where switches are alike, a hash of MLID and
 * GUID decides between roots, parents and parallel cables: groups spread over the fabric,
 * and one group's tree stays as it is while others come and go.
 *
 * \param ret_tree  [in->n_groups] in \a a.
 * \retval E_RANGE  As hops_init(). \retval -ENOMEM
 * Cost: hops_init(), then O(members' switches * S) per group.
 */
int mcast_default_trees(const struct graph *g, const struct mcast_in *in, struct arena *a,
                        struct mcast_tree *ret_tree);

/*!
 * The cable by which a tree leads from a switch towards its root; NULL at the root and
 * where the tree doesn't lead.
 */
typedef const struct sw_link *mcast_up_f(void *ctx, uint32_t mlid, uint32_t sw);

/*!
 * \brief The part of a tree that leads to a group's members, its root moved down to where
 *        it branches first. For engines.
 * \param seen  [n_switches] zeroed; is so again afterwards.
 * \retval -ENOMEM
 * Cost: O(switches of the part and cables of the switches).
 */
int mcast_prune(const struct graph *g, const struct mcast_in *in,
                const struct mcast_group *group, uint32_t root, mcast_up_f *up, void *ctx,
                uint32_t *seen, struct arena *a, struct mcast_tree *ret_tree);

/*!
 * \brief Blocks with a port in them, by (switch, position, block).
 * \retval -ENOMEM
 * Cost: O(ports of all trees and switches), and sorting the groups.
 */
int mcast_blocks(const struct mcast_in *in, const struct mcast_tree *trees,
                 struct arena *a, struct mft_block **ret_block, uint32_t *ret_n);

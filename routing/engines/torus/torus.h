/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/graph.h"
#include "routing/spread/dims.h"
#include "routing/text/torus_conf.h"

struct arena;
struct lanes;
struct lft;
struct lids;
struct mcast_in;
struct mcast_tree;
struct route_in;
struct why;

/*! Shared by the files of the engine torus-2QoS: the torus with its gaps. Places are
 * cells of a grid, numbered (x * radix_y + y) * radix_z + z. Directions are numbered
 * 2 * dimension + (1 for the negative one). A ring is the set of cells that differ in
 * one coordinate. The ring of an open dimension has its gap at the end, between the
 * last coordinate and 0. */
enum { TORUS_NO_GAP = UINT16_MAX };

/*! Cables from one switch to its neighbour in one direction. */
struct torus_group {
	const uint8_t *port; /*!< [n] egress ports, ascending */
	uint8_t n;
};

struct torus {
	const struct graph *g;
	const struct torus_conf *conf;
	struct dims dims; /*!< neighbours of every switch with their cables */
	uint32_t radix[TORUS_DIMS];
	bool closed[TORUS_DIMS];
	/*! open, but taken to have its ends joined by cables: no route takes them */
	bool joined[TORUS_DIMS];
	uint32_t stride[TORUS_DIMS]; /*!< cells per step */
	uint32_t n_cells;
	uint32_t *sw;              /*!< [n_cells] switch there, GRAPH_NONE: missing */
	uint32_t *cell;            /*!< [n_switches] GRAPH_NONE: none, it has no cables */
	struct torus_group *group; /*!< [n_switches][TORUS_DIRS] */
	/*! [n_cells] of the ring through the cell: coordinate behind which the first
	 *  absent link is, or TORUS_NO_GAP */
	uint16_t *gap[TORUS_DIMS];
	uint32_t n_missing;        /*!< switches */
};

static inline uint32_t torus_coordinate(const struct torus *t, uint32_t cell, unsigned d)
{
	return cell / t->stride[d] % t->radix[d];
}

/*! \brief The cell with another coordinate. */
static inline uint32_t torus_moved(const struct torus *t, uint32_t cell, unsigned d,
                                   uint32_t to)
{
	return cell + (to - torus_coordinate(t, cell, d)) * t->stride[d];
}

/*! \brief The cell next to one, GRAPH_NONE: an open dimension ends. */
uint32_t torus_next(const struct torus *t, uint32_t cell, unsigned dir);

/*! \brief "(1, 2, 3)". Arena string, "?" when out of memory. */
const char *torus_place_text(const struct torus *t, uint32_t cell, struct arena *a);

/*! \brief Derives a configuration from the cables if ports lead in the same directions
 * at all switches: the shape, and as seed the switch with the lowest GUID that has
 * neighbours in all directions. \param ret_conf In \a a. \retval E_UNSUITABLE It is no
 * mesh or torus of up to three dimensions; reason in \a why. \retval -ENOMEM */
int torus_guess(const struct graph *g, const struct dims *dims, struct arena *a,
                struct why *why, const struct torus_conf **ret_conf);

/*! \brief Gives every switch its coordinates, starting from a seed. Fills shape, sw
 * and cell. \param t g, conf, dims and joined are set. \retval E_UNSUITABLE No seed
 * is complete, or a switch has no place; reason in \a why. \retval -ENOMEM */
int torus_place(struct torus *t, struct arena *a, struct why *why);

/*! \brief Finds groups of cables and gaps in rings, and checks that the gaps can be
 * routed around. \param notes Missing parts and stray cables. \retval E_UNSUITABLE
 * The gaps cannot be routed around; reason in \a notes. \retval -ENOMEM */
int torus_fit(struct torus *t, struct arena *a, struct why *notes);

/*! \brief Fills routes and lanes of all pairs; a lane is the SL on QoS level 0. \param
 * lanes Its rule is not changed. \retval -ENOMEM \retval -ECANCELED Cost: O(S * L). */
int torus_fill(const struct torus *t, const struct route_in *in, struct arena *a,
               struct lft *lft, struct lanes *lanes);

/*! Multicast: one tree, rows by switch. */
struct torus_tree {
	uint32_t root;  /*!< switch */
	/*! [n_switches] direction of the parent; TORUS_DIRS: the root or not on the
	 *  torus */
	uint8_t *up;
	uint8_t *depth; /*!< [n_switches] hops to the root */
};

/*! \brief Computes the tree for multicast groups. Each group uses the branches that
 * lead to its members; all groups share the root. A branch leads along x from the
 * root, along y from each switch of it, and along z from each of those. A branch
 * grows in both directions up to the dateline; it crosses the dateline only in a ring
 * with a gap. Its traffic needs SL 0 or that of the second QoS level, so no dateline
 * is crossed on links where unicast dependencies could close a cycle. \retval
 * E_UNSUITABLE Some switch is not reached; reason in \a why. \retval -ENOMEM */
int torus_tree(const struct torus *t, struct arena *a, struct torus_tree *ret_tree,
               struct why *why);

/*! \brief Computes the subtree of each group. The MLID selects among parallel cables.
 * \param ret_tree [m->n_groups] in \a a. \retval E_UNSUITABLE Some switch is not reached
 * or has no multicast table; reason in \a why. \retval -ENOMEM */
int torus_tree_groups(const struct torus *t, const struct mcast_in *m, struct arena *a,
                      struct mcast_tree *ret_tree, struct why *why);

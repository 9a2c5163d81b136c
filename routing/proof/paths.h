/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/tables.h"

struct arena;
struct graph;
struct lids;
struct proof_change;
struct shape;
struct shape_change;

/*!
 * What follows from proven tables: routes per link, and what a PathRecord needs of a path.
 */

/*! One path (source switch, destination LID), as stored in the snapshot. 4 bytes. */
struct path_row {
	uint8_t mtu;  /*!< smallest MTUCap code of the ports passed after the source switch, 0: no route */
	uint8_t rate; /*!< slowest rate code on the path */
	uint8_t hops; /*!< switches passed, the source switch included; at least 1 */
	uint8_t lane;
};

/*!
 * Path rows of all switches that have CA or router ports; of all switches where there are
 * several lanes, because only the rows have the lane of a path. Each covers the path from the
 * source switch to the destination's port; the first cable (source port to source switch)
 * is not in it.
 */
struct paths {
	struct path_row *rows; /*!< [n_sources][n_lids] */
	uint32_t *source;      /*!< [n_sources] switch index, ascending */
	uint32_t n_sources;
	uint32_t n_lids;
};

/*! Routes per directed switch-to-switch link (index of graph.adj), routes = ordered pairs
 *  (CA/router end port, LID of another one). */
struct load {
	uint32_t *all;   /*!< [graph.n_adj] every LID */
	uint32_t *base;  /*!< [graph.n_adj] base LIDs only */
	uint32_t n;      /*!< graph.n_adj */
	uint32_t max, p99; /*!< of all, over links */
	uint32_t idle;     /*!< links without a route */
	double mean;
};

/*! \brief Routes per link. The tables must be free of forwarding loops. Cost: O(S * L). */
int load_build(const struct graph *g, const struct lids *lids, const struct lft *lft,
               struct arena *a, struct load *ret_load);

/*!
 * \brief Routes that the busiest link must have at least, if those of each switch's hosts are
 *        spread evenly over its links. What narrow places elsewhere ask for is not in it.
 *
 * Cost: O(LIDs + S).
 */
uint64_t load_even(const struct graph *g, const struct lids *lids);

/*! What other tables of the same fabric gain. */
struct load_gain {
	/*! By how many percent they ease the busiest links. Of the maximum and of the value that 99
	 *  of 100 links do not exceed the better counts, because one link that no routing can ease
	 *  hides all others in the maximum. 0 where either gets worse. */
	unsigned percent;
	/*! Links that have less than a quarter of the routes that they have with the other tables,
	 *  where that is at least half of the mean; less those of which the contrary holds. One cable
	 *  that is back is of no weight in the maximum, but it is idle. 0 where max or p99 get worse. */
	uint32_t filled;
};

/*! \brief Compares two loads of the same fabric. Cost: O(L). */
struct load_gain load_gain(const struct load *now, const struct load *other);

/*!
 * \brief Path rows and load, at the price of little more than one of them.
 *
 * \param ret_paths, ret_load  NULL: not wanted.
 * \retval -ENOMEM
 *
 * Cost: O(S * L), parallel over LIDs.
 */
int paths_load_build(const struct graph *g, const struct lids *lids,
                     const struct lft *lft, const struct lanes *lanes, struct arena *a,
                     struct paths *ret_paths, struct load *ret_load);

/*! What paths_change() goes by. */
struct paths_change {
	const struct graph *g;
	const struct lids *lids;
	const struct proof_change *change; /*!< tables and entries; its shape is that of g */
	const struct shape *was;           /*!< fabric of the old tables */
	const struct shape_change *fabric; /*!< from it to g */
};

/*!
 * \brief Path rows and load after a change, at the price of the routes that changed.
 *
 * \param paths  Rows of the old tables, which become those of the new ones. Sources and LIDs
 *               must be the same.
 * \param all    [switch][port] routes of the old tables, which become those of the new
 *               ones; in rows of shape.width.
 * \param base   Likewise of base LIDs.
 * \param a      Holds \a ret_load.
 * \retval -ENOMEM  Rows and routes are neither old nor new then.
 */
int paths_change(const struct paths_change *in, struct paths *paths, uint32_t *all,
                 uint32_t *base, struct arena *a, struct load *ret_load);

/*! \brief Does the fabric have the sources and LIDs of these rows? */
bool paths_fit(const struct paths *p, const struct graph *g, const struct lids *lids);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/tables.h"

struct arena;
struct graph;
struct lids;

/*!
 * Earlier tables: when routes that were kept are good enough to stay.
 *
 * Routes that still lead to their ends stay where they are, so that a host or cable that
 * goes or comes disturbs nobody else. But many changes, one after the other, would leave
 * loads as uneven as chance has it, and a cable that returns would stay empty. So kept
 * tables are compared with tables that are made without a look back.
 */
struct keep_measure {
	const struct graph *g;
	const struct lids *lids;
	const uint8_t *set; /*!< [graph.n_ports] hosts that are balanced by themselves:
	                       number of the set below n_sets; NULL: all are one */
	unsigned n_sets;
	/*! Hops of all routes between hosts, base LIDs only, when all take the fewest; 0:
	 * not known. Tables with more are compared with others before they stay. */
	uint64_t hops;
};

/*! \brief Have earlier tables the shape of those of today? NULL: no. */
bool keep_has_shape(const struct lft *prev, const struct lft *today);

/*!
 * \brief Are the loads of kept tables no worse than they may be?
 *
 * Without \a anew: no link carries more than a tenth above the mean, and no cable is idle
 * in both directions. With it: the busiest link carries at most a quarter more than
 * there, and no cable is idle that carries much there. A few routes more or less do not
 * count. Each set is looked at by itself.
 *
 * \param anew  Tables made without a look back, or NULL.
 * \retval -ENOMEM
 * Cost: that of load_build(), for each set and table.
 */
int keep_is_good(const struct keep_measure *m, const struct lft *kept,
                 const struct lft *anew, bool *ret);

/*!
 * \brief Takes columns of earlier tables in place of those of today.
 *
 * A column is taken if it arrives from every switch that reaches the LID today: from
 * hosts to hosts in no more hops, from all together in at most a quarter more. That it
 * makes no cycle of waiting links with others is not looked at.
 *
 * \param which  [top + 1] LIDs to look at, NULL: all.
 * \param ret    Has the tables of today, gets the columns. \retval -ENOMEM
 * Cost: O(S * L). Parallel.
 */
int keep_columns(const struct graph *g, const struct lids *lids, const struct lft *prev,
                 const bool *which, struct lft *ret);

/*!
 * \brief The last step of an engine of one lane that does not look back: columns of
 * earlier tables stay where they may.
 *
 * That is when keep_is_good() and when all routes together, those for management, too,
 * have no cycle of waiting links. Else tables stay as they are.
 *
 * \retval -ENOMEM
 * Cost: O(S * L) where tables differ.
 */
int keep_tables(const struct keep_measure *m, const struct lft *prev, bool hosts,
                struct lft *lft);

/*! What lanes are kept of. */
struct keep_lanes {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *lft;          /*!< tables of today */
	const struct lft *prev;         /*!< of the last run, in the same shape */
	const struct lanes *prev_lanes; /*!< of these, or NULL */
	unsigned n;                     /*!< lanes there are, 1-15 */
};

/*!
 * \brief Lanes for tables of which most are those of the last run.
 *
 * A route that goes the way it went stays on its lane. Each other gets one on which it
 * closes no cycle with those there are, that of the rest of its way first. All routes
 * between switches count, those for management, too.
 *
 * \param lane  [n_switches][stride of the tables] zeros; lanes. Untouched on failure.
 * \retval E_UNSUITABLE  Lanes of the last run are not known, their routes have a cycle,
 * many of them have changed, or one fits on no lane. \retval -ENOMEM Cost: O(S * L),
 * parallel, and that of adding the dependencies of new routes.
 */
int keep_lanes(const struct keep_lanes *k, uint8_t *lane);

/*!
 * \brief All of the earlier tables as they are, with a column for each new LID.
 *
 * A LID that is new, or not reached by the earlier entries from everywhere, is routed as
 * another one on its switch, that of a host if there is one. So its routes add no
 * dependency, and no lane gets a cycle that it had not.
 *
 * \param k          As for keep_lanes(), without lft.
 * \param ret        Empty table of the shape of k->prev.
 * \param ret_lanes  Rows in \a a, none where there is one lane.
 * \retval E_UNSUITABLE  A quarter of the LIDs are not reached by the earlier entries, or
 * one that is alone on its switch, or as keep_lanes(). \retval -ENOMEM Cost: O(S * L).
 * Parallel.
 */
int keep_all(const struct keep_lanes *k, struct arena *a, struct lft *ret,
             struct lanes *ret_lanes);

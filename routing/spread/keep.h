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
 * Earlier tables: when the routes of the last run are good enough to stay.
 *
 * Routes that still lead to their ends stay where they are, so that a host or cable that
 * comes or goes disturbs no other traffic. But after many such changes the loads would be
 * as uneven as random ones, and a cable that returns would stay idle. So kept tables are
 * compared with tables that are computed without the earlier ones ("anew").
 */
struct keep_measure {
	const struct graph *g;
	const struct lids *lids;
	const uint8_t *set; /*!< [graph.n_ports] number below n_sets of the set of hosts
	                       that the host is balanced in; NULL: one set */
	unsigned n_sets;
	/*! Hops of all routes between hosts, base LIDs only, when all take the fewest; 0:
	 * not known. Tables with more are compared with others before they stay. */
	uint64_t hops;
	/*! For keep_tables(): moves routes off overloaded links, but no entry that equals that
	 *  of \a prev. NULL: nothing does. */
	int (*even)(void *ctx, const struct lft *prev, struct lft *lft, struct arena *tmp);
	void *ctx;
};

/*! \brief Do earlier tables have the shape of those of today? NULL: no. */
static inline bool keep_has_shape(const struct lft *prev, const struct lft *today)
{
	return prev && prev->n_switches == today->n_switches &&
	       prev->n_lids == today->n_lids && prev->stride == today->stride;
}

/*!
 * \brief Are the loads of kept tables still acceptable?
 *
 * Without \a anew: no link carries more than a tenth above the mean, and no cable is idle
 * in both directions. With it: the busiest link carries at most a quarter more than the
 * busiest one there, and no cable is idle that carries much there. A few routes more or
 * less do not count. Each set is judged by itself.
 *
 * \param anew  Tables computed without the earlier ones, or NULL.
 * \retval -ENOMEM
 * Cost: that of load_build(), for each set and table.
 */
int keep_is_good(const struct keep_measure *m, const struct lft *kept,
                 const struct lft *anew, bool *ret_is_good);

/*!
 * \brief Replaces columns of today's tables by those of earlier tables.
 *
 * A column is taken if it arrives from every switch that reaches the LID today. A switch
 * that has no entry for the LID, because it is new, gets that of today. Routes from hosts
 * to hosts may have no more hops, all routes together at most a quarter more.
 * Credit loops with other columns are not looked for.
 *
 * \param which  [top + 1] LIDs to look at, NULL: all.
 * \param ret_lft    Has the tables of today, gets the columns.
 * \retval -ENOMEM
 * Cost: O(S * L). Parallel.
 */
int keep_columns(const struct graph *g, const struct lids *lids, const struct lft *prev,
                 const bool *which, struct lft *ret_lft);

/*! Which columns of earlier tables may stay. */
enum keep_which {
	KEEP_SWITCHES, /*!< those of the LIDs of switches */
	/*! All of them where the busiest link and the sum of all routes are no more than
	 *  today's; else KEEP_SWITCHES. For tables of a whole tree: hosts that come and go
	 *  move no route there, but a leaf switch gives the hosts of others other numbers. */
	KEEP_IF_EVEN,
	KEEP_ALL /*!< where keep_is_good() */
};

/*!
 * \brief The last step of an engine of one lane that does not look at earlier tables:
 *        their columns stay where they may.
 *
 * They stay if keep_is_good() and if all routes together, also those for management, have
 * no credit loop. Otherwise the tables remain as they are. Where a new column meets many
 * routes on one link, the new column moves (\a m->even).
 *
 * \retval -ENOMEM
 * Cost: O(S * L) where tables differ.
 */
int keep_tables(const struct keep_measure *m, const struct lft *prev,
                enum keep_which which, struct lft *lft);

/*! The tables whose lanes are kept. */
struct keep_lanes {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *lft;          /*!< tables of today */
	const struct lft *prev;         /*!< of the last run, in the same shape */
	const struct lanes *prev_lanes; /*!< of these, or NULL */
	unsigned n;                     /*!< lanes there are, 1-15 */
};

/*!
 * \brief Lanes for tables most of which are those of the last run.
 *
 * A route that is unchanged stays on its lane. Each other route gets a lane on which it
 * closes no cycle with the routes there, and the lane of the rest of its path is tried
 * first. All routes between switches count, also those for management.
 *
 * \param lane  [n_switches][stride of the tables] zeros; lanes. Untouched on failure.
 * \retval E_UNSUITABLE  Lanes of the last run are not known, their routes have a cycle,
 *                       many of them have changed, or one fits on no lane.
 * \retval -ENOMEM
 * Cost: O(S * L), parallel, and that of adding the dependencies of new routes.
 */
int keep_lanes(const struct keep_lanes *k, uint8_t *lane);

/*!
 * \brief All earlier tables unchanged, with a column for each new LID.
 *
 * A LID that is new, or that the earlier entries do not reach from everywhere, is routed
 * like another LID on its switch, that of a host if there is one. So its routes add no
 * dependency, and no lane gets a new cycle.
 *
 * \param k          As for keep_lanes(), without lft.
 * \param ret_lft        Empty table of the shape of k->prev.
 * \param ret_lanes  Rows in \a a, none where there is one lane.
 * \retval E_UNSUITABLE  The earlier entries do not reach a quarter of the LIDs, or one that
 *                       is alone on its switch; or as keep_lanes().
 * \retval -ENOMEM
 * Cost: O(S * L). Parallel.
 */
int keep_all(const struct keep_lanes *k, struct arena *a, struct lft *ret_lft,
             struct lanes *ret_lanes);

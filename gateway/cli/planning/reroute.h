/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

struct arena;
struct graph;
struct lanes;
struct lft;
struct lids;
struct route_memory;

/*! The LIDs and tables that a changed fabric keeps of the one before, as in a sweep of the daemon. */
struct reroute_tables {
	const struct graph *g;
	const struct lft *lft;
	const struct lanes *lanes;
};

/*! \brief Ports of \a to get the LIDs that they have in \a from, as found. */
void reroute_keep_lids(const struct graph *from, const struct lids *lids, struct graph *to);

/*!
 * \brief The tables that switches have, as tables of the changed fabric: what engines may keep.
 *
 * \param was   Tables before.
 * \param g, lids  The fabric after.
 * \param memory   Gets tables and lanes, in \a a.
 * \retval -ENOMEM
 */
int reroute_keep_tables(const struct reroute_tables *was, const struct graph *g,
                        const struct lids *lids, struct arena *a,
                        struct route_memory *memory);

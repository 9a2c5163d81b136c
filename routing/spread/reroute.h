/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>

#include "routing/graph/tables.h"

struct graph;
struct lids;

/*!
 * \brief Fills the entries of some switches so that their routes arrive over the entries
 *        that the other switches have.
 *
 * A switch takes the neighbour from which the route is shortest; of several the one that
 * \a prefer has, else the lowest port. Its entry stays empty where no route of a neighbour
 * arrives. Other entries are not changed, so no forwarding loop is made.
 *
 * \param open    [n_switches] switches to fill; their entries of the columns are empty.
 * \param column  [lids->top + 1] LIDs to fill.
 * \param prefer  Tables of all shortest paths; also has the ports that deliver.
 * \retval -ENOMEM
 * Cost: O(S + P) per LID and round, for P ports of open switches. There are as many rounds
 * as open switches in a row, plus one. Parallel over LIDs; same result on any number of
 * threads.
 */
int reroute_switches(const struct graph *g, const struct lids *lids, const bool *open,
                     const bool *column, const struct lft *prefer, const struct lft *lft);

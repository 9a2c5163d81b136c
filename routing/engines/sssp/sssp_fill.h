/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "conf/option.h"
#include "routing/graph/tables.h"

struct arena;
struct graph;
struct guid_file;
struct lids;
struct why;

/*!
 * Shortest paths by the weights of links: what sssp and dfsssp share.
 */
struct sssp_options {
	const struct guid_file *cn; /*!< port GUIDs placed first */
	const struct guid_file *io; /*!< port GUIDs placed next */
};

/*! Rows of struct sssp_options, for every engine whose options begin with it. */
extern const struct option_row sssp_rows[];

struct sssp {
	const struct graph *g;
	const struct lids *lids;
	const struct sssp_options *options; /*!< NULL: no lists */
	/*! [graph.n_adj] dimension of each link: of the links that lead closer only those of
	 *  the lowest dimension are used; NULL: all are. */
	const uint8_t *dimension;
	/*! As in struct dfsssp_grid: where links of one dimension lead closer in both
	 *  directions, those upwards are used to odd coordinates only. NULL: both are. */
	const uint8_t *up, *odd;
	/*! Tables of the last run, or NULL; others than of this shape are not used. */
	const struct lft *prev;
	bool hosts_only;            /*!< leave the LIDs of switches alone */
	const _Atomic bool *cancel; /*!< checked between steps; NULL: never */
};

/*!
 * \brief Chooses a port for every LID at every switch that is connected to it.
 *
 * Entries of in->prev that still lead closer stay, unless links carry much more by that
 * than without. One thread.
 *
 * \param lft    Empty: entries of the LIDs routed are written.
 * \param ret_kept  Whether entries of in->prev stayed; NULL: who cares.
 * \param notes  GUIDs of the lists that are no end port here.
 * \param tmp    Working memory: about 50 bytes per link and 100 per switch.
 * \retval -ECANCELED -ENOMEM
 * Cost: O(L * E) for L LIDs and E links.
 */
int sssp_fill(const struct sssp *in, struct lft *lft, bool *ret_kept, struct why *notes,
              struct arena *tmp);

/*!
 * \brief Moves routes to base LIDs of hosts off links that carry much more than the
 * others, among shortest paths. Where \a in has dimensions it does nothing. Entries of \a
 * prev are not moved, NULL: there are none.
 *
 * \param lft  Has all routes to them.
 * \retval -ECANCELED -ENOMEM
 * Cost: as spread_rebalance_tables().
 */
int sssp_even(const struct sssp *in, const struct lft *prev, struct lft *lft);

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

/*! Shortest paths by the weights of links, shared by sssp and dfsssp. */
struct sssp_options {
	const struct guid_file *cn; /*!< port GUIDs placed first */
	const struct guid_file *io; /*!< port GUIDs placed next */
};

/*! Rows of struct sssp_options, for each engine whose options begin with it. */
extern const struct option_row sssp_rows[];

struct sssp {
	const struct graph *g;
	const struct lids *lids;
	const struct sssp_options *options; /*!< NULL: no lists */
	/*! [graph.n_adj] dimension of each link: only links of the lowest dimension
	 * that leads closer are used; NULL: all are. */
	const uint8_t *dimension;
	/*! As in struct dfsssp_grid: if both directions of a dimension lead closer,
	 * odd coordinates are reached upwards, even ones downwards. NULL: both are
	 * used. */
	const uint8_t *up, *odd;
	/*! Tables of the last run, or NULL; not used if their shape differs. */
	const struct lft *prev;
	bool hosts_only;            /*!< do not route the LIDs of switches */
	const _Atomic bool *cancel; /*!< checked between steps; NULL: never */
};

/*! \brief Chooses a port for every LID at every switch that is connected to it.
 * Entries of in->prev that still lead closer stay, unless links would carry much more
 * with them than without. One thread. \param lft Empty; the entries of the routed
 * LIDs are written. \param ret_kept Whether entries of in->prev stayed; may be NULL.
 * \param notes GUIDs of the lists that are no end port of the fabric. \param tmp
 * Working memory: about 50 bytes per link and 100 per switch. \retval -ECANCELED
 * -ENOMEM Cost: O(L * E) for L LIDs and E links. */
int sssp_fill(const struct sssp *in, struct lft *lft, bool *ret_kept, struct why *notes,
              struct arena *tmp);

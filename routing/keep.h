/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/tables.h"

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

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/tables.h"

struct arena;
struct graph;
struct hops;
struct lash_cuts;
struct lash_mesh;
struct lids;

/*!
 * Layering: a lane for every pair of switches, so that the routes of tables that are
 * given wait for each other in a circle on no lane. Both directions of a pair, and all
 * LIDs on its two switches, share the lane.
 */
struct lash_layers {
	uint8_t *lane; /*!< [n_switches][n_switches] from 0, symmetric */
	unsigned n;    /*!< lanes used */
};

enum { LASH_OPEN = 0xff }; /*!< lane of a pair that has none yet */

/*! Lanes of the last run. */
struct lash_kept {
	uint8_t *lane; /*!< [n_switches][n_switches] from 0, symmetric; LASH_OPEN */
	/*! [n_switches][n_switches] by (s, t): s has another entry for some LID on t */
	bool *changed;
	/*! E_FULL unless pairs that both have CAs or routers stay on their lanes */
	bool strict;
};

struct lash_layer_in {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *lft;   /*!< loop free */
	const struct hops *hops; /*!< of the graph */
	/*! [n_switches] order in which pairs of one distance are placed, NULL: by
	 *  index */
	const uint32_t *order;
	/*! the routes are those of a mesh, NULL: not known */
	const struct lash_mesh *mesh;
	const struct lash_cuts *cuts; /*!< of the mesh, or NULL */
	const struct lash_kept *kept; /*!< lanes that pairs are to stay on, or NULL */
	unsigned max;                 /*!< lanes there are, 1-15 */
	/*! E_FULL unless pairs that both have CAs or routers fit one lane */
	bool one_lane;
	const _Atomic bool *cancel;
};

/*!
 * \brief Puts each pair on the lowest lane that stays acyclic, then evens out the lanes.
 *
 * \retval E_FULL  More than in->max lanes are needed.
 * \retval -ECANCELED -ENOMEM
 * Cost: 8 bytes per (switch, LID); time about O(S * L) where one lane does.
 */
int lash_layer(const struct lash_layer_in *in, struct arena *a, struct lash_layers *ret);

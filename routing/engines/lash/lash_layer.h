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

/*! Lanes of given tables: one for every pair of switches, so that the channel
 * dependency graph of each lane is acyclic. Both directions of a pair, and all LIDs
 * on its two switches, share the lane. */
struct lash_layers {
	uint8_t *lane; /*!< [n_switches][n_switches] from 0, symmetric */
	unsigned n_data; /*!< lanes from 0 on that pairs of switches with hosts use */
	unsigned n;    /*!< lanes used */
};

enum { LASH_OPEN = 0xff }; /*!< a pair without a lane so far */

/*! Lanes of the last run. */
struct lash_kept {
	uint8_t *lane; /*!< [n_switches][n_switches] from 0, symmetric; LASH_OPEN */
	/*! [n_switches][n_switches] by (s, t): the entry of s for some LID on t has
	 * changed */
	bool *changed;
	/*! E_FULL unless all data pairs stay on their lanes */
	bool strict;
};

struct lash_layer_in {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *lft;   /*!< loop free */
	const struct hops *hops; /*!< of the graph */
	/*! [n_switches] order of placing pairs of equal distance, NULL: by index */
	const uint32_t *order;
	/*! the mesh over which dimension-order routes go, or NULL */
	const struct lash_mesh *mesh;
	const struct lash_cuts *cuts; /*!< of the mesh, or NULL */
	const struct lash_kept *kept; /*!< lanes on which pairs should stay, or NULL */
	unsigned max;                 /*!< lanes available, 1-15 */
	unsigned max_data;            /*!< of them for data pairs, 1 to max */
	/*! E_FULL unless all data pairs fit one lane */
	bool one_lane;
	const _Atomic bool *cancel;
};

/*! \brief Assigns each pair to the lowest lane that stays acyclic, then balances the
 * lanes. \retval E_FULL More than in->max or in->max_data lanes are needed. \retval -ECANCELED
 * -ENOMEM Cost: 8 bytes per (switch, LID); time about O(S * L) if one lane suffices. */
int lash_layer(const struct lash_layer_in *in, struct arena *a,
               struct lash_layers *ret_layers);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "routing/engines/lash/lash_layer.h"
#include "routing/graph/cdg.h"
#include "routing/graph/graph.h"
#include "routing/proof/reach.h"

/*! State of an assignment of lanes: lash_layer.c makes columns and tries one lane for
 * all pairs, lash_cuts.c and lash_place.c assign pairs. Private to
 * routing/engines/lash. */
enum { LASH_LANES_MAX = 15 };

/* State of the route from a switch to a column in one lane. */
enum {
	LASH_IN = 1,        /* the route is in the lane */
	LASH_IMPOSSIBLE = 2 /* one of its dependencies closes a cycle */
};

struct lash_lane {
	uint8_t *state; /* [cols][n] */
	struct cdg cdg;
	uint64_t *never;    /* as cdg.out: dependencies known to close a cycle */
	struct reach reach; /* instead of cdg and never, if job.closed */
	uint64_t pairs;
	/* additions of the current pair, to be removed if it does not fit:
	 * [job.deps_max] */
	uint8_t **marked; /* of state */
	struct reach_dep *added;
	unsigned n_marked, n_added;
};

struct lash_job {
	const struct lash_layer_in *in;
	const struct graph *g;
	struct arena *tmp;
	uint32_t n;
	bool far_first;      /* the farthest pairs before the nearest */
	bool management_far_first; /* likewise of management pairs */
	bool data_placed;          /* only management pairs may be without a lane */
	uint32_t *col_first; /* [n + 1] columns by switch that has the LIDs */
	uint32_t *chan; /* [cols][n] egress channel, GRAPH_NONE: none or not connected */
	struct cdg_map map;
	struct lash_lane lane[LASH_LANES_MAX];
	unsigned n_lanes;
	unsigned limit;    /* lanes that may be open now */
	uint32_t deps_max; /* dependencies of a pair at most */
	bool closed; /* lanes store the closure: no search, but nothing can be removed */
	uint8_t *of;        /* [n][n] lane, LASH_OPEN */
};

static inline bool lash_has_hosts(const struct lash_job *j, uint32_t s)
{
	return j->g->host_first[s] != j->g->host_first[s + 1];
}

/*! \brief Opens a further lane. \retval E_FULL There is none. \retval -ENOMEM */
int lash_open_lane(struct lash_job *j);

/*! \brief From now on all lanes store their closure. \retval -ENOMEM */
int lash_close_lanes(struct lash_job *j);

/*! \brief Can lanes store their closure? Only with few channels and few dependencies
 * per pair. */
bool lash_can_close(const struct lash_job *j);

/*! \brief Adds all routes between two switches to a lane if they fit. Several threads
 * may work on different lanes. \return false: they do not fit, the lane is unchanged. */
bool lash_add_pair(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t);

/*! \brief Assigns lanes by in->cuts to pairs with dimension-order routes. Other pairs
 * stay open. If there are none, lanes are balanced and their dependency graphs stay
 * empty. \retval -ENOMEM */
int lash_place_by_cuts(struct lash_job *j);

/*! \brief Adds all routes between two switches to the dependency graph of a lane
 * without a check; cdg_settle() must follow. */
void lash_record_pair(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t);

/*! \brief Assigns each open pair to the lowest lane in which it fits. \param data
 * true: pairs whose switches both have hosts; false: other pairs. \retval E_FULL Too
 * few lanes. \retval -ECANCELED -ENOMEM */
int lash_place_pairs(struct lash_job *j, bool data);

/*! \brief Moves data pairs from the fullest lane to the emptiest. */
void lash_balance_lanes(struct lash_job *j);

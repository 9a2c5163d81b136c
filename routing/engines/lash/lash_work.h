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

/*!
 * What the files of the layering share: lash_layer.c makes columns and tries one lane for
 * all, lash_place.c deals out pairs, lash_pair.c puts one pair into one lane. Private to
 * routing/lash_*.c.
 */
enum { LASH_LANES_MAX = 15 };

/* What is known of the route from a switch to a column, in one lane. */
enum {
	LASH_IN = 1,   /* it is there */
	LASH_NEVER = 2 /* some of it can't be */
};

struct lash_lane {
	uint8_t *state; /* [cols][n] */
	struct cdg cdg;
	uint64_t *never;    /* as cdg.out: dependencies that close a cycle */
	struct reach reach; /* in place of both, when job.closed */
	uint64_t pairs;
	/* the attempt that runs, where it has to be taken back: [job.lacks_max] */
	uint8_t **marked; /* of state */
	struct reach_dep *added;
	unsigned n_marked, n_added;
};

struct lash_job {
	const struct lash_layer_in *in;
	const struct graph *g;
	struct arena *tmp;
	uint32_t n;
	bool far_first;      /* pairs: the farthest before the nearest */
	uint32_t *col_first; /* [n + 1] columns by switch of the LIDs */
	uint32_t *chan; /* [cols][n] egress channel, GRAPH_NONE: none or not connected */
	struct cdg_map map;
	struct lash_lane lane[LASH_LANES_MAX];
	unsigned n_lanes;
	uint32_t lacks_max; /* dependencies of a pair, at most */
	bool closed;        /* lanes keep their closure: no search, but no way back */
	uint8_t *of;        /* [n][n] lane, LASH_OPEN */
};

static inline bool lash_has_hosts(const struct lash_job *j, uint32_t s)
{
	return j->g->host_first[s] != j->g->host_first[s + 1];
}

/*! \brief Opens a lane more. \retval E_FULL There is none. \retval -ENOMEM */
int lash_open_lane(struct lash_job *j);

/*! \brief From now on lanes keep their closure, those that are open, too. \retval -ENOMEM
 */
int lash_close_lanes(struct lash_job *j);

/*! \brief Can they? Not with too many channels, nor too many dependencies in a pair. */
bool lash_can_close(const struct lash_job *j);

/*!
 * \brief Puts all routes between two switches into a lane, or leaves it as it is.
 * Different lanes may be at work at once.
 */
bool lash_add_pair(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t);

/*!
 * \brief Puts pairs whose routes keep to the order of dimensions on lanes by in->cuts.
 * The others stay open; if there are none, lanes are even and their graphs stay empty.
 * \retval -ENOMEM
 */
int lash_place_by_cuts(struct lash_job *j);

/*! \brief Adds all routes between two switches to the graph of a lane, without a look;
 * cdg_settle() must follow. */
void lash_note_pair(struct lash_job *j, unsigned lane, uint32_t s, uint32_t t);

/*!
 * \brief Puts each pair that is open on the lowest lane in which it fits.
 * \param data  Pairs whose switches both have hosts, or the others.
 * \retval E_FULL  Too few lanes. \retval -ECANCELED -ENOMEM
 */
int lash_place_pairs(struct lash_job *j, bool data);

/*! \brief Moves data pairs from the fullest lane to the emptiest. */
void lash_even_out(struct lash_job *j);

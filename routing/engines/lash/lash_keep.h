/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "routing/engines/lash/lash_layer.h"
#include "routing/spread/spread.h"

struct arena;
struct graph;
struct hops;
struct lash_paths;
struct route_in;

/*! Lanes of the last run, and paths for the entries that are lost. */
struct lash_keep {
	const struct route_in *in;
	const struct hops *hops;
	unsigned start;               /*!< first lane */
	const struct lash_paths *paths; /*!< paths where no entry is left, NULL: any */
	uint32_t *first;              /*!< [n_switches + 1] into lid */
	uint32_t *lid;                /*!< LIDs by their switch */
};

/*!
 * \brief Lanes of the last run.
 * \param start  First lane there is. \param max  Lanes from there on.
 * \retval E_UNSUITABLE  There was none, or with other lanes, or switches are joined
 *         that were not. \retval -ENOMEM
 */
int lash_keep_init(struct lash_keep *k, const struct route_in *in, const struct hops *h,
                   unsigned start, unsigned max, struct arena *a,
                   struct lash_kept *ret_kept);

/*! \brief Marks the pairs whose entries differ from those of the last run. */
void lash_keep_compare(const struct lash_keep *k, const struct lft *lft,
                       struct lash_kept *kept);

/*! \brief spread_closer_f for the links that the last run used to some LID of a
 * switch, or for one next switch if it used none. \a ctx is the struct lash_keep. */
spread_closer_f lash_keep_closer;

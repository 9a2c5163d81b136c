/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/diag.h"
#include "conf/base/err.h"
#include "routing/graph/graph.h"
#include "routing/graph/lids.h"
#include "routing/topogen/topogen.h"

/*!
 * What tests of engines, proof and tables share: fabrics by command, the same fabric read
 * in another order, seeded random numbers.
 */

/*! \brief xorshift64*; never give it 0. */
uint64_t random_next(uint64_t *state);

uint32_t random_below(uint64_t *state, uint32_t n);

/*! \brief Makes "ft2 4 2 2" with a share of its links removed. As on the command line,
 * "--aggregation-nodes" and "--spine-hosts=N" may stand among the words. */
struct graph *fabric_make(const char *command, double fail, uint32_t seed,
                          struct arena *a);

/*! \brief Permutation of 0..n-1. */
uint32_t *fabric_shuffle(uint32_t n, uint64_t *state, struct arena *a);

/*! \brief The same fabric with GUIDs dealt anew, so that indices say nothing of the place. */
struct graph *fabric_renamed(const struct graph *g, uint64_t seed, struct arena *a);

/*! \brief The same fabric with nodes and cables added in random order. */
struct graph *fabric_reordered(const struct graph *g, uint64_t seed, struct arena *a);

/*! \brief The same fabric without some nodes, \a gone [n_nodes], and without some cables,
 * \a cut [n_ports] at either end; NULL: all are there. */
struct graph *fabric_without(const struct graph *g, const bool *gone, const bool *cut,
                             struct arena *a);

/*! \brief Fresh LIDs from 1. */
struct lids fabric_lids(const struct graph *g, uint32_t lmc, uint32_t lmc_esp0,
                        struct arena *a);

/*! Like fabric_lids(), but the port of the lowest GUID has LID \a high. */
struct lids fabric_lids_high(const struct graph *g, uint32_t high, struct arena *a);

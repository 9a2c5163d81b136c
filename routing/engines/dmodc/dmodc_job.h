/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "routing/engines/dmodc/dmodc.h"
#include "routing/graph/graph.h"
#include "routing/graph/tables.h"
#include "routing/spread/keep.h"

struct arena;
struct lids;
struct route_in;
struct why;

/*!
 * Tables for a tree: the state of one run. An engine calls dmodc_job_init(), then
 * dmodc_fill(), then adds its own steps. The functions at the end are private to
 * routing/engines/dmodc.
 */

/*! Slots of all hosts; shared by the switches of one rank with equally many slots. */
struct dmodc_slot_table {
	unsigned rank, slots;
	uint8_t *slot; /*!< [n_cols] */
};

struct dmodc_job {
	const struct dmodc_rule *rule;
	const struct graph *g;
	const struct lids *lids;
	struct lft *lft;
	struct dmodc_tree t;
	struct dmodc_reach reach;
	struct order order; /*!< up/down order, for pairs without a route by rank */
	/*! [height + 1][n_cols] quotient: host number / divider of the rank */
	uint32_t *quotient;
	struct dmodc_slot_table *slot_table; /*!< [n_slot_tables] */
	uint32_t n_slot_tables;
	/*! [n] slots of the hosts at each switch, NULL: no uplinks */
	const uint8_t **slot;
	uint32_t *base;       /*!< [n_cols] base LID of each host, 0: none */
	uint8_t *lmc;         /*!< [n_cols] */
	uint32_t *lid;        /*!< [n_cols] LID in this pass, 0: its range is shorter */
	unsigned k;           /*!< number of the LID in its range, in this pass */
	uint32_t width;       /*!< slots per row of above */
	uint32_t *above;      /*!< [n][width] switch behind a slot, GRAPH_NONE: missing */
	uint64_t *intact;     /*!< [n][rows][words] as in reach: every slot leads there */
	/*! ordered pairs of switches with hosts without a route by rank */
	uint64_t n_unjoined;
	uint32_t *own;       /*!< [n] base LID of each switch */
	uint64_t *single;    /*!< [words] switches with one LID */
	uint64_t *has_hosts; /*!< [words] switches with hosts */
	uint64_t *scratch;   /*!< [threads][words] */
};

static inline bool dmodc_has_bit(const uint64_t *row, uint32_t s)
{
	return row[s / 64] >> s % 64 & 1;
}

static inline uint32_t dmodc_hosts_on(const struct graph *g, uint32_t s)
{
	return g->host_first[s + 1] - g->host_first[s];
}

static inline uint64_t *dmodc_intact(const struct dmodc_job *j, uint32_t s, unsigned k)
{
	return j->intact + ((size_t)s * j->reach.rows + k) * j->reach.words;
}

/*! \brief Quotient of a host at the switches of a rank; modulo the slots it is its slot. */
static inline uint32_t dmodc_quotient(const struct dmodc_job *j, unsigned rank,
                                      uint32_t c)
{
	return j->quotient[(size_t)rank * j->t.n_cols + c];
}

/*! Slots by which LID k of a port is shifted at a rank. LIDs that share a switch of one rank
 *  separate at the next. */
static inline unsigned dmodc_shift(const struct dmodc_job *j, unsigned rank)
{
	return rank ? j->k + (unsigned)(j->k / j->t.divider[rank]) : j->k;
}

/*! The cable to a neighbour that a quotient selects. */
static inline uint8_t dmodc_port(const struct dmodc_job *j,
                                 const struct dmodc_group *group, uint64_t quotient)
{
	return j->t.port[group->first + (group->n == 1 ? 0 : quotient % group->n)];
}

/*!
 * \brief Computes tree, reach, up/down order and the slots of hosts.
 * \param tmp  Holds what \a j points to.
 * \retval E_UNSUITABLE  Not a tree, reason in \a why. \retval -ENOMEM
 * Cost: O(height * E * S / 64).
 */
int dmodc_job_init(struct dmodc_job *j, const struct dmodc_rule *rule,
                   const struct route_in *in, struct arena *tmp, struct why *why);

/*!
 * \brief Fills j->lft. \retval -ENOMEM -ECANCELED
 * Cost: O(S * L), slightly more where cables are missing. Parallel.
 */
int dmodc_fill(struct dmodc_job *j, const _Atomic bool *cancel, struct arena *tmp);

/*!
 * \brief In a broken tree, moves routes from links that carry much more than the others.
 * \retval -ENOMEM -ECANCELED
 * Cost: as spread_rebalance_tables(); none on a whole tree.
 */
int dmodc_rebalance(struct dmodc_job *j, const _Atomic bool *cancel, struct arena *tmp);

/*! \brief What may stay of earlier tables: routes that are as even as those of the closed
 *         form. All routes, where a host that goes renumbers others or dmodc_rebalance()
 *         moves routes. */
enum keep_which dmodc_keeps(const struct dmodc_tree *t);

/*! \brief Notes what is missing, unused or not joined by rank. */
void dmodc_note(const struct dmodc_job *j, struct why *notes);

/*! \brief Fills entries for hosts with a route by rank; LIDs of this pass. Parallel. */
void dmodc_fill_hosts(const struct dmodc_job *j);

/*! \brief Fills entries for switches with a route by rank. Parallel. */
void dmodc_fill_switches(const struct dmodc_job *j);

/*! \brief Fills entries for pairs that only the up/down order joins. Parallel. */
void dmodc_fill_updown(const struct dmodc_job *j);

/*! \brief Fills all entries for destinations that some switch still misses. \retval -ENOMEM */
int dmodc_fill_unreached(const struct dmodc_job *j, struct arena *tmp);

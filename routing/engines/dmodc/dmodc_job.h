/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "routing/engines/dmodc/dmodc.h"
#include "routing/graph/graph.h"
#include "routing/graph/tables.h"

struct arena;
struct lids;
struct route_in;
struct why;

/*!
 * Tables for a tree: the state of one run. An engine over this core makes a job with
 * dmodc_job_init(), fills with dmodc_fill() and adds what is its own. The functions
 * further down are those of routing/dmodc*.c.
 */

/*! Turn mod slots for all columns; shared by switches that deal alike. */
struct dmodc_deal {
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
	struct order line;
	uint32_t *turn; /*!< [height + 1][n_cols] of a host at the switches of a rank:
	                   number / divider */
	struct dmodc_deal *deal; /*!< [n_deals] */
	uint32_t n_deals;
	const uint8_t **slot; /*!< [n] deal of each switch, NULL: no uplinks */
	uint32_t *base;       /*!< [n_cols] base LID of each host, 0: none */
	uint8_t *lmc;         /*!< [n_cols] */
	uint32_t *lid;        /*!< [n_cols] LID in this pass, 0: its range is shorter */
	unsigned k;           /*!< number of the LID in its range, in this pass */
	uint32_t width;       /*!< slots per row of above */
	uint32_t *above;      /*!< [n][width] switch behind a slot, GRAPH_NONE: missing */
	uint64_t *whole;      /*!< [n][rows][words] as in reach: all slots lead there */
	uint64_t n_unjoined; /*!< ordered pairs of switches with hosts, not joined by rank
	                      */
	uint32_t *own;       /*!< [n] base LID of each switch */
	uint64_t *single;    /*!< [words] switches with one LID */
	uint64_t *homes;     /*!< [words] switches with hosts */
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

static inline uint64_t *dmodc_whole(const struct dmodc_job *j, uint32_t s, unsigned k)
{
	return j->whole + ((size_t)s * j->reach.rows + k) * j->reach.words;
}

/*! \brief Turn of a host at the switches of a rank; mod slots: its slot. */
static inline uint32_t dmodc_turn(const struct dmodc_job *j, unsigned rank, uint32_t c)
{
	return j->turn[(size_t)rank * j->t.n_cols + c];
}

/*! Slots that LID k of a port lies further on at a rank, and what it turns by behind
 * them: LIDs that meet again at one rank part at the next. */
static inline unsigned dmodc_shift(const struct dmodc_job *j, unsigned rank)
{
	return rank ? j->k + (unsigned)(j->k / j->t.divider[rank]) : j->k;
}

/*! Of the cables to a neighbour the one whose turn it is. */
static inline uint8_t dmodc_port(const struct dmodc_job *j,
                                 const struct dmodc_group *group, uint64_t turn)
{
	return j->t.port[group->first + (group->n == 1 ? 0 : turn % group->n)];
}

/*!
 * \brief Tree, reach, line, order of dealing.
 * \param tmp  Holds what \a j points to.
 * \retval E_UNSUITABLE  Not a tree, reason in \a why. \retval -ENOMEM
 * Cost: O(height * E * S / 64).
 */
int dmodc_job_init(struct dmodc_job *j, const struct dmodc_rule *rule,
                   const struct route_in *in, struct arena *tmp, struct why *why);

/*!
 * \brief All entries, into j->lft. \retval -ENOMEM -ECANCELED
 * Cost: O(S * L), little more where something is missing. Parallel.
 */
int dmodc_fill(struct dmodc_job *j, const _Atomic bool *cancel, struct arena *tmp);

/*! \brief Has a switch fewer cables up than others of its rank, or fewer to one neighbour
 *         than to another? */
bool dmodc_is_broken(const struct dmodc_tree *t);

/*!
 * \brief Moves routes off links that carry much more than the others, in a broken tree.
 * \retval -ENOMEM -ECANCELED
 * Cost: as spread_rebalance_tables(); none on a whole tree.
 */
int dmodc_even(struct dmodc_job *j, const _Atomic bool *cancel, struct arena *tmp);

/*! \brief Says what is missing, unused or not joined by rank. */
void dmodc_note(const struct dmodc_job *j, struct why *notes);

/*! \brief Entries for all hosts with a route by rank; LIDs of this pass. Parallel. */
void dmodc_fill_hosts(const struct dmodc_job *j);

/*! \brief Entries for switches with a route by rank. Parallel. */
void dmodc_fill_switches(const struct dmodc_job *j);

/*! \brief Entries for what has a route over the line only. Parallel. */
void dmodc_fill_line(const struct dmodc_job *j);

/*! \brief All entries for destinations that some switch misses still. \retval -ENOMEM */
int dmodc_fill_left(const struct dmodc_job *j, struct arena *tmp);

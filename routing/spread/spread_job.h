/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "routing/graph/graph.h"
#include "routing/spread/spread.h"
#include "routing/spread/spread_options.h"

struct spread_plan;

/*!
 * The state of spread_run() that its files share. Private to routing/spread*.c.
 */
struct spread_job {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *prev; /*!< NULL: none that fits */
	struct lft *lft;
	const struct hops *hops;
	const struct spread *in;
	uint32_t n;
	uint32_t width;  /*!< ports per row of load, peer */
	/* the hosts of this round: all, as in graph.hosts, or a group */
	const uint32_t *first; /*!< [n + 1] columns by switch */
	const uint32_t *port;  /*!< [n_cols] port index */
	const uint32_t *host;  /*!< [n_cols] index in graph.hosts; NULL: the same */
	uint32_t n_cols;
	const uint32_t *leaf; /*!< [n_leaves] switches with hosts in the order of leaves_order();
	                           NULL: it is that of their index */
	uint32_t n_leaves;
	struct spread_plan *plan; /*!< NULL: one group */
	uint32_t *lid;   /*!< [n_cols] LID in this pass, 0 when the range is shorter */
	uint16_t *flow;  /*!< [n][n_cols] routes that arrive at the switch for the column */
	uint32_t *load;  /*!< [n][width] routes given to each port in this round */
	uint32_t *earlier; /*!< [n][width] likewise in earlier rounds */
	uint32_t *peer;  /*!< [n][width] switch behind a port */
	uint8_t *system, *node; /*!< [n][width] neighbour's system and node, numbered per switch */
	uint8_t *carried; /*!< [n][stride / 8] bit per LID: a host's route passes; NULL: LMC 0 */
	bool *apart;      /*!< [n] each link of the switch leads to another system */
	bool *unused;     /*!< [n] the switch has LIDs that no host sends through it */
	uint8_t *towards; /*!< [n][hops.stride] port to another switch, 0: none,
	                     SPREAD_SEVERAL; NULL unless all shortest paths are allowed */
	unsigned offset;  /*!< of the LID in its LMC range, in this pass */
	unsigned largest_lmc;
};

enum { SPREAD_FLOW_MAX = UINT16_MAX, SPREAD_SEVERAL = UINT8_MAX };

/*! \brief What routes to a column add to the load of links. */
static inline uint32_t spread_counted(const struct spread_job *j, uint32_t h,
                                      uint32_t routes)
{
	return spread_is_ignored(j->in->tune, j->port[h]) ? 0 : routes;
}

/*! \brief Which of the links of a switch lead closer to another. */
static inline void spread_ask(const struct spread_job *j, uint32_t s, uint32_t t,
                              struct spread_ports *ret)
{
	const uint32_t *first = j->g->adj_first + s;

	j->in->closer(j->in->ctx, s, t, j->g->adj + first[0], first[1] - first[0],
	              SPREAD_PORTS_MAX, ret);
}

/*! \brief All switches choose for what is \a d hops away, and pass it on. */
void spread_step(const struct spread_job *j, unsigned d);

/*!
 * \brief Moves routes off links that carry much more than the others.
 *
 * For tables in which the choice of each switch alone left some links overloaded, as happens
 * where cables are missing. Entries that \a j->prev gave are not moved. Does nothing to
 * tables that are even. Same result on any number of threads.
 *
 * \retval -ENOMEM -ECANCELED
 */
int spread_even(const struct spread_job *j, struct arena *tmp);

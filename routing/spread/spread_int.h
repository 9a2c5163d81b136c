/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/graph.h"
#include "routing/graph/hops.h"
#include "routing/spread/spread.h"
#include "routing/spread/spread_options.h"

struct arena;
struct spread_plan;

/*!
 * The state of spread_run() that its files share. Private to spread*.c.
 */
struct spread_job {
	const struct graph *g;
	const struct lids *lids;
	const struct lft *prev; /*!< NULL: none that fits */
	struct lft *lft;
	const struct hops *hops;
	const struct spread *in;
	uint32_t n;
	uint32_t width; /*!< ports per row of load, peer */
	/* the hosts of this round: all, as in graph.hosts, or a group */
	const uint32_t *first; /*!< [n + 1] columns by switch */
	const uint32_t *port;  /*!< [n_cols] port index */
	const uint32_t *host;  /*!< [n_cols] index in graph.hosts; NULL: the same */
	uint32_t n_cols;
	const uint32_t
		*leaf; /*!< [n_leaves] switches with hosts in the order of leaves_order();
	                           NULL: it is that of their index */
	uint32_t n_leaves;
	struct spread_plan *plan; /*!< NULL: load decides alone */
	uint32_t *lid; /*!< [n_cols] LID in this pass, 0 when the range is shorter */
	uint16_t
		*flow; /*!< [n][n_cols] routes that arrive at the switch for the column */
	uint32_t *load;    /*!< [n][width] routes through each port in this round */
	uint32_t *earlier; /*!< [n][width] likewise in earlier rounds */
	uint32_t *peer;    /*!< [n][width] switch behind a port */
	uint8_t *system,
		*node; /*!< [n][width] neighbour's system and node, numbered per switch */
	uint8_t *
		carried; /*!< [n][stride / 8] bit per LID: a host's route passes; NULL: LMC 0 */
	bool *distinct;   /*!< [n] each link of the switch leads to another system */
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
static inline void spread_find_ports(const struct spread_job *j, uint32_t s, uint32_t t,
                                     struct spread_ports *ret_ports)
{
	const uint32_t *first = j->g->adj_first + s;

	j->in->closer(j->in->ctx, s, t, j->g->adj + first[0], first[1] - first[0],
	              SPREAD_PORTS_MAX, ret_ports);
}

/*!
 * \brief Does an entry of the previous tables stay although the port is none that leads closer? Then the
 *        switch behind it has a smaller distance, so that routes end and have no more hops.
 */
static inline bool spread_stays(const struct spread_job *j, uint32_t s, uint32_t t, uint8_t port)
{
	uint32_t to = port < j->width ? j->peer[(size_t)s * j->width + port] : GRAPH_NONE;

	if (j->in->keeps_others == NULL || to == GRAPH_NONE ||
	    hops_between(j->hops, to, t) >= hops_between(j->hops, s, t)) {
		return false;
	}
	atomic_store(j->in->keeps_others, true);
	return true;
}

/* ---- spread_fill.c ---- */

/*! \brief All switches choose ports for the hosts \a d hops away; then the flow moves one hop. */
void spread_place_hosts(const struct spread_job *j, unsigned d);

/*! \brief After a pass: gives LIDs that no host sends through a switch to the ports with the
 * fewest LIDs. */
void spread_place_unused(const struct spread_job *j);

/*! \brief Entries for the LIDs of switches and for what is local to a switch; after all
 * rounds. */
int spread_place_switches(const struct spread_job *j, struct arena *tmp);

/* ---- spread_rebalance.c ---- */

/*!
 * \brief Moves routes off links that carry much more than the others.
 *
 * For tables in which the choice of each switch alone left some links overloaded, as happens
 * where cables are missing. Entries that equal those of \a j->prev are not
 * moved. Does nothing to tables that are even. Same result on any number of threads.
 *
 * \retval -ENOMEM -ECANCELED
 */
int spread_rebalance(const struct spread_job *j, struct arena *tmp);

/* ---- spread_choice.c ---- */

/*!
 * The ports of one switch that lead closer to one destination switch, with what each
 * carries.
 */
enum { SPREAD_MASK_BITS = 64 };

struct spread_choice {
	struct spread_ports p;
	uint64_t load
		[SPREAD_PORTS_MAX]; /*!< routes of this round << 32 | of earlier ones */
	uint64_t
		least; /*!< smallest load; this and the next two are set when asked for */
	unsigned n_least; /*!< ports that have it; 0: not found yet */
	uint64_t
		least_mask; /*!< bit per port that has it, of the first SPREAD_MASK_BITS */
	const bool *ignored; /*!< by port number: its routes do not count; NULL: none */
	uint8_t at
		[SPREAD_PORTS_MAX]; /*!< by port number: its index; of other ports anything */
};

/*! \brief Finds the ports that lead closer, and their loads. */
void spread_find_choice(const struct spread_job *j, uint32_t s, uint32_t t,
                        struct spread_choice *c);

/*! \brief Writes the loads back to the job. */
void spread_store_loads(const struct spread_job *j, uint32_t s,
                        const struct spread_choice *c);

/*! \brief Sets \a c->least and the two fields after it, unless they are set. */
void spread_find_least(struct spread_choice *c);

/*! \brief Adds port \a i of another choice of the same switch. */
void spread_copy_port(struct spread_choice *c, const struct spread_choice *from,
                      unsigned i);

/*! \brief Adds routes to port \a i. */
void spread_add_load(struct spread_choice *c, unsigned i, uint32_t flow);

/*! \brief First of the least loaded, searching from \a start. */
unsigned spread_pick_least(struct spread_choice *c, unsigned start);

/*! \brief The neighbour of the lowest index. */
unsigned spread_pick_lowest_peer(const struct spread_choice *c);

/*!
 * \brief A port for a further LID of a port, apart from those of its lower LIDs.
 *
 * The order of preference: the port that the fewest lower LIDs take; a neighbour system
 * that none goes through; a node that none goes through; a system, then a node, with less
 * than its share of the LIDs; a port that few of the LIDs arriving by the same link leave
 * by; a neighbour that carries none of them on any route; the least load, searching from
 * \a start.
 *
 * \param base    Base LID.
 * \param offset  Of the LID in its range, from 1.
 * \param hosts   The LID is that of a host: lower LIDs count where traffic passes, and so
 *                does load. For switches all lower LIDs count, and load does not.
 */
unsigned spread_pick_apart(const struct spread_job *j, uint32_t s, uint32_t base,
                           unsigned offset, struct spread_choice *c, unsigned start,
                           bool hosts);

/*! \brief Does no lower LID of the range leave the switch through port \a i? */
bool spread_is_free(const struct spread_job *j, uint32_t s, uint32_t base,
                    unsigned offset, const struct spread_choice *c, unsigned i);

/*! \brief After a pass: notes which of its LIDs pass each switch. */
void spread_note_carried(const struct spread_job *j);

/* ---- spread_plan.c ---- */

/*! \brief Prepares plans for the hosts of all groups; sets \a j->plan. \retval -ENOMEM */
int spread_plan_init(struct spread_job *j, struct arena *tmp);

/*! \brief Plans the paths to the LIDs of the present pass, one per column of the job. */
void spread_plan_columns(struct spread_job *j);

/*! \brief Does any host have a planned path? */
bool spread_plan_is_tree(const struct spread_job *j);

/*! \brief The hosts planned so far only decide between equals from here on. */
void spread_plan_end_round(struct spread_job *j);

/*!
 * \brief Places the hosts of one leaf switch for which the plan leaves one port.
 * \param c  Ports to choose from. NULL: all shortest paths, which needs \a j->towards.
 * \return Are all hosts of the leaf switch placed?
 */
bool spread_place_planned(const struct spread_job *j, uint32_t s, uint32_t t,
                          struct spread_choice *c);

/*!
 * \brief The candidate that leads towards the planned path of a column.
 * \return Index in \a c, c->p.n: no candidate does.
 */
unsigned spread_pick_planned(const struct spread_job *j, uint32_t s, uint32_t h,
                             uint32_t t, const struct spread_choice *c);

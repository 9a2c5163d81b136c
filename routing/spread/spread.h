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
struct lids;
struct spread_tune;
struct sw_link;

/*!
 * Fills forwarding tables from a relation "these ports lead one hop closer", so that every
 * link carries its share. minhop applies it to all shortest paths, other engines to the
 * paths that they allow.
 */
enum { SPREAD_PORTS_MAX = 256 };

/*! Links of one switch that lead closer to another, in the order of the links passed in. */
struct spread_ports {
	unsigned n;
	uint8_t port[SPREAD_PORTS_MAX];
	uint32_t to[SPREAD_PORTS_MAX]; /*!< switch behind the port */
};

/*!
 * \brief Finds which of the links of switch \a s lead closer to switch \a t.
 *
 * A link leads closer only to a switch whose distance to \a t is smaller, so routes end. Where
 * the distance is not HOPS_NONE and \a s is not \a t, at least one of all links does. Called
 * from several threads at once.
 *
 * \param max  Stop after so many.
 */
typedef void spread_closer_f(const void *ctx, uint32_t s, uint32_t t,
                             const struct sw_link *link, uint32_t n_links, unsigned max,
                             struct spread_ports *ret_ports);

/*! Hosts that are placed group by group; each group is balanced by itself. */
struct spread_groups {
	const uint32_t *of; /*!< [hosts on switches] group below n, by index in graph.hosts */
	uint32_t n;
};

struct spread {
	const struct graph *g;
	const struct lids *lids;
	const struct hops *hops;    /*!< distance [from][to] along the routes that are allowed */
	spread_closer_f *closer;
	const void *ctx;            /*!< for closer */
	const struct hops *hops_to_switches; /*!< likewise for the LIDs of switches; NULL: all three are the same as for hosts */
	spread_closer_f *closer_to_switches;
	const void *ctx_to_switches;
	const struct lft *
		prev; /*!< tables of the last run, or NULL; not used if their shape differs */
	/*! Entries of \a prev stay, too, that \a closer would not choose from, if the distance of the
	 *  switch behind them is smaller; set to true if there are any. NULL: they do not stay. */
	_Atomic bool *keeps_others;
	const struct spread_groups *groups; /*!< NULL: one; not together with tune->listed */
	bool even; /*!< move routes off overloaded links afterwards; base LIDs only */
	const struct spread_tune *
		tune; /*!< what the options of the operator say (spread_options.h), or NULL */
	const _Atomic bool *cancel; /*!< checked between steps; NULL: never */
};

/*!
 * \brief Chooses a port for every LID at every switch that has a distance to it.
 *
 * Entries of \a prev that still lead closer stay. Same result on any number of threads.
 *
 * \param lft  Empty table (lft_init()) for the graph and LIDs of \a in.
 * \param tmp  Working memory: 2 bytes per (switch, host) and 9 per (switch, port).
 * \retval -ECANCELED -ENOMEM
 * Cost: O(S * (L + T * P)) for S switches, L LIDs, T switches with hosts and P ports, times 2^LMC.
 */
int spread_run(const struct spread *in, struct lft *lft, struct arena *tmp);

/*!
 * \brief Moves routes off overloaded links, in tables that were filled elsewhere and follow
 *        \a in->hops and \a in->closer.
 *
 * Of \a in->hops only distances are used. A route without a distance is load that does not
 * move. Entries that equal those of \a in->prev stay. Same result on any number of threads.
 *
 * \param offset  Of the LID in the LMC range of its port. Only the routes to these LIDs are
 *                counted and moved.
 * \param tmp     Working memory: 2 bytes per (switch, host).
 * \retval -ECANCELED -ENOMEM
 */
int spread_rebalance_tables(const struct spread *in, unsigned offset, struct lft *lft,
                            struct arena *tmp);

/*! \brief spread_closer_f for all shortest paths; \a ctx is the struct hops. */
spread_closer_f spread_shortest;

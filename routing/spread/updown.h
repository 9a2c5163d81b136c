/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "routing/graph/hops.h"
#include "routing/spread/spread.h"

struct arena;
struct graph;
struct route_in;
struct route_out;
struct route_repair;
struct spread_options;
struct why;

/*!
 * Up/down routes: all switches stand in a total order, and a route first climbs it, then
 * descends. It never climbs after it has descended. So the channels that such routes use
 * cannot wait for each other in a cycle, whatever the fabric (Schroeder et al. 1991,
 * "Autonet").
 */
enum { UPDOWN_RANK_NONE = 0xffff }; /*!< not ranked: below all others */

/*! Criteria of the order. */
struct updown_rule {
	const uint16_t *rank; /*!< [n_switches] 0 is the top */
	const uint64_t *id;   /*!< [n_switches] among equal ranks the smaller stands higher; NULL: the GUID */
	bool by_depth; /*!< among equal ranks the distance from the top decides before the id */
	/*! A switch is followed at once by all its neighbours of a better rank. So one that
	 * stands above them keeps all shortest paths over them; but a switch of the best rank
	 * may have several neighbours above it. */
	bool keeps_paths;
};

/*!
 * \brief Puts the switches in a total order.
 *
 * In each connected part exactly one switch has no neighbour above it. Every switch can
 * climb to it, and it can descend to every other, so no pair is without a route. For this
 * some switches stand above neighbours of a better rank: each is the first through which
 * a separate group of such neighbours is reached.
 *
 * \param ret_pos   [n_switches] place in the order, 0 is the top.
 * \param ret_part  [n_switches] connected part, over links between switches; NULL: not wanted.
 * \retval E_RANGE  More than 65,535 switches. \retval -ENOMEM
 * Cost: O((S + E) log S).
 */
int updown_order(const struct graph *g, const struct updown_rule *rule, struct arena *a,
                 uint32_t **ret_pos, uint32_t **ret_part);

/*! The paths that an order allows. */
struct updown {
	const uint32_t *pos; /*!< as updown_order() gives it */
	struct hops hops;    /*!< hops along the path that is used */
	uint8_t *
		down; /*!< [n][hops.stride] the same where the switch is open from above, because
	                          its path only descends; else HOPS_NONE */
};

/*!
 * \brief Finds the paths. Parallel; same result on any number of threads.
 * \retval E_RANGE  A path of more than 254 hops. \retval -ENOMEM
 * Cost: about twice that of hops_init().
 */
int updown_init(struct updown *u, const struct graph *g, const uint32_t *pos,
                struct arena *a);

/*! \brief The same without what hops_index() adds to u->hops. */
int updown_find(struct updown *u, const struct graph *g, const uint32_t *pos,
                struct arena *a);

/*! \brief For spread_run(); \a ctx is the struct updown. */
spread_closer_f updown_closer;

/*!
 * \brief The whole of an up/down engine behind its ranking: order, paths, tables.
 * \param o  Options of the balancing stage; NULL: defaults.
 */
int updown_route(const struct route_in *in, const struct updown_rule *rule,
                 const struct spread_options *o, struct arena *a,
                 struct route_out *ret_out);

/*! \brief engine.repair of such an engine, and of others whose routes climb, then descend. */
int updown_repair(const struct route_in *in, const struct updown_rule *rule,
                  struct route_repair *r, struct arena *tmp, struct why *why);

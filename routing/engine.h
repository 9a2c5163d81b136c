/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/why.h"
#include "conf/option.h"
#include "routing/graph/tables.h"

struct arena;
struct device_list;
struct diags;
struct engine_options;
struct graph;
struct lids;
struct mcast_in;
struct mcast_tree;
struct route_entry;
struct shape_link;

/*!
 * A routing engine: one .c file that ends in one const struct engine named
 * engine_<name>, one line ENGINE(name) in engines.def, one line in routing/Makefile.inc.
 *
 * An engine is a pure function: the same graph, LIDs, options and previous tables give the
 * same bytes on any number of threads. No clock, no unseeded random, no logging.
 */
enum engine_flag {
	ENGINE_DEADLOCK_FREE = 1, /*!< its tables never have a credit loop, unless route_out.may_deadlock or beyond_rule */
	ENGINE_NEEDS_LANES = 2,   /*!< uses more than one virtual lane */
	ENGINE_LMC0_ONLY = 4,
	ENGINE_MAY_USE_LANES = 8, /*!< does with one virtual lane, uses several where options ask for them */
	ENGINE_RUNS_OTHERS = 32,  /*!< runs other engines, with their options */
	ENGINE_IGNORES_PREV = 64, /*!< earlier tables make no difference to it */
	ENGINE_KEEPS_ORDER = 128, /*!< places hosts in the order of route_in.order */
	ENGINE_STAGE2 = 16        /*!< honours the options of the common balancing stage (routing/spread/spread_options.h) */
};

struct route_in {
	const struct graph *g;
	const struct lids *lids;
	const void *options;         /*!< the engine's own struct, NULL if it has none */
	const struct lft *prev;      /*!< tables of the last run over the same graph and LIDs, or NULL */
	/*! Lanes of the run that made \a prev, rows of its shape; entries may be LANE_UNKNOWN. Never with
	 *  an SL-to-VL rule. NULL: not known. */
	const struct lanes *prev_lanes;
	/*! Device groups whose hosts an engine that was asked for before this one would have placed in
	 *  this order; bound. NULL: none. */
	const struct device_list *order;
	bool keep_by_rule; /*!< of \a prev only routes stay that the engine would choose from today */
	const _Atomic bool *cancel;  /*!< checked between steps; NULL: never */
	/*! Data VLs that every switch-to-switch link of the graph has, 1-15: lanes beyond do not
	 *  exist; 0 is no limit. Tables with more are refused, so an engine that cannot do with these says
	 *  E_UNSUITABLE and how many it would need. */
	uint8_t max_lanes;
};

struct route_out {
	struct lft lft;
	struct lanes lanes; /*!< with its SL-to-VL rule when SL n is not to take VL n */
	struct why notes; /*!< why degraded, empty if not */
	bool may_deadlock; /*!< options ask for routes that can: a credit loop counts as credit_loops program */
	bool beyond_rule; /*!< pairs that the engine's rule can't route got a route all the same, named in notes: only the proof tells whether it can deadlock */
	/*! Whatever could be kept by the engine's rule of earlier tables on this fabric, no pair of
	 *  hosts misses a route and no credit loop closes. */
	bool passes_always;
	bool keeps_others; /*!< routes of earlier tables stay that the engine would not choose from today; without
	                        route_in.keep_by_rule */
	/*! [lft.n_lids] 0 or 1: options leave pairs of hosts without a route, as said in
	 * notes: it does not fail the proof where the LIDs of both ends have a 1. NULL:
	 * every pair must have one. */
	const uint8_t *may_miss;
};

/*!
 * What a change of the fabric leaves to be routed: the tables before it, without the LIDs that
 * went, in which these LIDs have to be routed again.
 */
enum repair_reason {
	REPAIR_NONE,
	REPAIR_LINK, /*!< some entry leads into a lost link; it is listed in route_repair.entry */
	REPAIR_OWNER /*!< the LID has a new owner, or the owner another place */
};

struct route_repair {
	struct lft *lft;       /*!< to be changed by engine_set_entry() */
	const uint8_t *dirty;  /*!< [lft->n_lids] enum repair_reason */
	const uint32_t *load;  /*!< [switch][width] routes through each port, by those tables */
	uint32_t width;        /*!< graph.max_port + 1 */
	/*! [n_lost], [n_gained] links between switches, each direction */
	const struct shape_link *lost, *gained;
	uint32_t n_lost, n_gained;
	uint64_t *distances; /*!< [2][switches] of the engine's own, kept for the next change; zeroed at first */
	struct route_entry *entry; /*!< [n] malloc; entries that were changed, or have to be */
	uint32_t n;
	size_t cap;
};

/*! \brief Sets one entry. \retval -ENOMEM */
int engine_set_entry(struct route_repair *r, uint32_t sw, uint32_t lid, uint8_t port);

struct engine {
	const char *name;     /*!< value of routing_engine */
	const char *alias;    /*!< another value of routing_engine for it, NULL: none */
	/*! Name that MLNX_OFED has for the engine with adaptive routing, NULL: none. */
	const char *adaptive_name;
	const char *summary;  /*!< one line: manual page and REST */
	unsigned flags;       /*!< enum engine_flag */
	/*! Place in the order in which "deadlockfree", and routing after a credit loop, tries
	 *  engines, from 1. 0: it is not tried. Those that need no virtual lanes come first: no
	 *  quality of service is to be programmed, and all VLs stay free for other uses. On
	 *  whole trees updn, fattree and ftree load links alike; on broken ones fattree and
	 *  ftree are better by a few percent, but route the whole fabric for each change, where
	 *  updn routes what the change touches, and keeps routes of minhop in whose place it
	 *  comes. dor is for grids: on trees its routes crowd on few
	 *  links, so it comes behind. Where none of these fits (rings, dragonflies, random
	 *  graphs), engines without lanes have longer routes and load the busiest link two to
	 *  five times as much as those with lanes. So the latter come next, those before that know
	 *  the shape of the fabric, and the former last: nue, which takes the lanes that there
	 *  are, and dnup, which always fits. */
	uint8_t deadlock_free_order;
	const struct option_row *options; /*!< rows for conf, NULL if none */
	size_t opt_size;
	/*! The OPT_DEVICE_GROUPS row by which the engine places hosts; after it those with ENGINE_KEEPS_ORDER
	 *  are tried first, with this order. NULL: it has none. */
	const char *order_option;
	/*! After all values of all engines are stored: looks up what options name. Problems go to
	 *  \a d. NULL: nothing to do. \retval E_UNKNOWN E_SYNTAX -ENOMEM */
	int (*bind)(void *options, const struct engine_options *all, struct arena *a, struct diags *d);
	/*! Does the fabric suit? \retval E_UNSUITABLE with the reason in \a why. NULL: always. */
	int (*check)(const struct route_in *in, struct why *why);
	/*! Computes tables in \a a. \retval E_UNSUITABLE (reason in ret->notes) -ENOMEM -ECANCELED */
	int (*route)(const struct route_in *in, struct arena *a,
	             struct route_out *ret_out);
	/*! Routes again what a change touches, over in->g, in tables that it or route() made before the
	 *  change. All LIDs of r->dirty must have routes afterwards; others may get better ones.
	 *  Whatever it does is proven. NULL, or E_UNSUITABLE with nothing set: route() is called with
	 *  these tables as in->prev. \retval E_UNSUITABLE (reason in \a why) -ENOMEM -ECANCELED */
	int (*repair)(const struct route_in *in, struct route_repair *r, struct arena *a, struct why *why);
	/*! Multicast trees of its own: [m->n_groups] in \a a. NULL: mcast_default_trees().
	 *  \retval E_UNSUITABLE (reason in \a why) -ENOMEM */
	int (*multicast)(const struct route_in *in, const struct mcast_in *m,
	                 struct arena *a, struct mcast_tree *ret_tree, struct why *why);
	/*! Compute nodes in the order in which shifts pass without contention, as text in \a a
	 *  (OpenSM's opensm-ftree-ca-order.dump). NULL: the engine knows none.
	 *  \retval E_UNSUITABLE (reason in \a why) -ENOMEM */
	int (*node_order)(const struct route_in *in, struct arena *a,
	                  const char **ret_text, struct why *why);
};

/*! All engines, NULL-terminated, in the order of engines.def. */
extern const struct engine *const engines[];

/*! \brief The row of a key that the engine has. \return NULL: it does not read the key. */
const struct option_row *engine_row(const struct engine *e, const char *key);

/*! \brief Engine by exact name. \return NULL if there is none. */
const struct engine *engine_find(const char *name);

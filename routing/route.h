/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "conf/base/credit_loops.h"
#include "routing/engine.h"
#include "routing/proof/alternates.h"
#include "routing/proof/paths.h"
#include "routing/proof/proof.h"
#include "routing/route_list.h"

struct arena;
struct engine_options;
struct graph;
struct lids;
struct mcast_in;
struct mcast_tree;
struct route_base;
struct route_cache;

/*!
 * A routing job: tries the engines of a list in order, proves what comes out, and says
 * which one it was and why. A fallback is never silent.
 */

/*!
 * Which engine a fabric gets when nothing is known of earlier tables, remembered from one
 * run to the next: while nothing changes no engine that failed is tried again. It does not
 * know options: whoever changes them zeroes it.
 */
struct route_verdict {
	uint64_t digest; /*!< of fabric, LIDs and lanes; 0: nothing is remembered */
	const struct engine *used;
	struct why refused, passed_over; /*!< why none before it */
};

/*!
 * What one run leaves for the next, and what the switches hold: the one memory of routing. A run
 * reads it before and updates it after.
 *
 *   reuse ------> tables of the cache, if the fabric is as it was           (routing/route_cache.h)
 *   repair -----> only what a small change touches, over the base           (routing/route_base.h)
 *   recompute --> engines in their order, which keep what they can of \a tables
 *
 * Whatever comes out is proven. Zeroed it knows nothing.
 */
struct route_memory {
	const struct lft *tables;    /*!< that the switches have; NULL: not known */
	/*! Where tables may differ from those of the last result, if few_differ: in all
	 * entries of these switches, and in the 64 entries around each of these LIDs. */
	const uint32_t *sw, *lid; /*!< [n_sw], [n_lid] */
	uint32_t n_sw, n_lid;
	bool few_differ;
	const struct lanes *lanes;   /*!< of these, as in route_in; NULL: not known */
	struct route_verdict verdict; /*!< which engine, and why none before it */
	struct route_cache *cache;   /*!< unicast routing cache; NULL: none is kept */
	struct route_base *base;     /*!< NULL: none is kept. Results of a run with a base live until the next one */
};

struct route_request {
	const struct graph *g;
	const struct lids *lids;
	struct route_list list;
	const struct engine_options *options; /*!< NULL: defaults */
	enum credit_loops credit_loops;
	const struct adaptive_options *adaptive; /*!< NULL, or not enabled: no alternates */
	bool strict;                /*!< management pairs count */
	bool no_paths; /*!< leave result.paths empty: 4 bytes per (switch with hosts, LID)
	                */
	const _Atomic bool *cancel; /*!< or NULL */
	uint8_t max_lanes;          /*!< at most this many lanes, 0: as many as the links have */
	unsigned threads;           /*!< 0: as many as there are */
	struct route_memory *memory; /*!< NULL: nothing is known and nothing is kept */
	bool incremental; /*!< it may go on from memory->base */
	double (*now)(void);        /*!< seconds, for the two figures below; NULL: they stay 0 */
};

struct route_result {
	const char *engine_asked;   /*!< first word of the list, "minhop" when empty */
	const struct engine *used;  /*!< NULL: all failed */
	/*! Why engines that were asked for were not used, empty if the first was. Why
	 *  "deadlockfree" passed over engines stands in out.notes. */
	struct why fallback_reason;
	struct route_out out;
	struct proof proof;         /*!< of out */
	bool cached;                /*!< out comes from the cache, nothing was computed */
	struct why cache_miss;      /*!< why not, empty on a hit and without a cache */
	struct paths paths;         /*!< of out; empty when refused */
	struct load load;
	struct alternates alternates; /*!< of out; empty without adaptive routing */
	struct why warning;         /*!< for instance a programmed credit loop; stays while it lasts */
	struct proof_deps deps; /*!< of a full run with a base */
	/*! Only what a change of the fabric touches was computed; then: */
	bool incremental;
	bool engine_unconfirmed; /*!< a fresh start may take another engine */
	/*! Mixtures of memory->tables and out are proven, too: none has a forwarding loop or a credit loop,
	 *  if LIDs of circling have their old or their new entries in all switches. */
	bool mixtures_proven;
	const uint32_t *
		touched_lid; /*!< [n_touched] these, and LIDs that have another owner or whose owner
	                                hangs on another link: only their paths may differ; ascending */
	uint32_t n_touched;
	const uint32_t *changed_lid; /*!< [n_changed] LIDs whose entries differ from memory->tables, ascending */
	const uint32_t *circling;    /*!< [n_circling] of these */
	uint32_t n_changed, n_circling;
	struct why full_reason; /*!< why a run that might have been incremental was not */
	double seconds_route, seconds_prove, seconds_alternates;
};

/*! \brief Data VLs that all switch-to-switch links have in common, by VLCap of both ends: 1-15. */
uint8_t route_lanes(const struct graph *g);

/*!
 * \brief Routes and proves.
 *
 * The choice of the engine depends on the fabric alone: on the first one whose tables pass when
 * it knows nothing of earlier ones. If tables of that engine pass that keep what they can of
 * memory->tables, they are the ones. So earlier tables never let an engine serve that a fresh start
 * would refuse, nor keep out one that it would take; the price is that such an engine runs
 * twice, unless its kind promises the same verdict (ENGINE_IGNORES_PREV, or without lanes
 * ENGINE_DEADLOCK_FREE; route_out.passes_always) or memory->verdict knows it.
 *
 * With memory->base and r->incremental a small change since the last run is not a new start: the engine
 * of that run goes on, and only what the change touches is routed and proven.
 *
 * Engines get the lanes of route_lanes(), at most r->max_lanes.
 *
 * \retval E_OK          ret_routes->out may be programmed.
 * \retval E_UNSUITABLE  Every engine refused and no_fallback is set.
 * \retval E_CREDITLOOP  Refused for a credit loop; ret_routes is filled, so that it can be shown.
 * \retval E_LOOP E_NOPATH  The proof found a forwarding loop, or a hole inside a connected part; likewise.
 */
int route_run(const struct route_request *r, struct arena *a,
              struct route_result *ret_routes);

/*! \brief Proves tables made elsewhere and fills ret_routes as route_run() does (engine "foreign"). */
int route_check(const struct route_request *r, const struct lft *lft,
                const struct lanes *lanes, struct arena *a, struct route_result *ret_routes);

/*!
 * \brief route_check() of tables that engine \a made_by made in another process, so that a run with
 *        r->incremental can go on from them.
 *
 * \param r    memory->base is set; it holds the result, of which it may change the tables from then on,
 *             and a copy of \a lft. r->list and r->options are those that the tables were made with.
 * \param a    Holds what a refused check left.
 */
int route_resume(const struct route_request *r, const struct engine *made_by,
                 const struct lft *lft, const struct lanes *lanes, struct arena *a,
                 struct route_result *ret_routes);

/*!
 * \brief Multicast trees over the same graph, by the engine that made the unicast tables.
 *
 * \param r     Request of that run; graph and options still the same.
 * \param used  Its engine. One that has no trees of its own, or can't make them, gets
 *              those of mcast_default_trees().
 * \param ret_trees  [m->n_groups] in \a a.
 * \param why   Why the engine's own trees were not taken, else untouched.
 * \retval E_RANGE -ENOMEM
 */
int route_multicast(const struct route_request *r, const struct engine *used,
                    const struct mcast_in *m, struct arena *a,
                    struct mcast_tree *ret_trees, struct why *why);

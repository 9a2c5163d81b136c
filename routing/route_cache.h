/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "routing/engine.h"

struct arena;
struct graph;
struct lids;

/*!
 * Unicast routing cache: the routes of the last computation serve on while only channel
 * adapters, routers and leaf switches go and come back.
 *
 * It remembers the fabric of that computation and its tables. A fabric asked about later is
 * compared with that one, never with one in between, so what returns gets the very entries
 * it had. Nothing is recomputed when
 *
 *   - nothing changed in cabling and LIDs;
 *   - CAs, routers or their cables are missing;
 *   - leaf switches (with CAs or routers) are missing with all that hangs on them.
 *
 * Anything else is a miss with its reason: a node, cable or LID that was not there, another
 * LID, a cable that leads elsewhere or has another width, speed or number of VLs, a missing
 * cable between switches that are both there (also one of several parallel ones), a missing
 * switch without hosts, or one that was cabled to another leaf switch or carried routes of
 * others, and a missing cable between two CAs. (Ways between ports 0 of spines that led through
 * a missing leaf stay as they were: they end there, and are counted by the proof.)
 *
 * The answer is tables, which are proven like any others; it never is a proof itself. It
 * does not know options: whoever changes them drops it.
 *
 * Source: opensm(8), "UNICAST ROUTING CACHE".
 */
struct route_cache;

/*! \return NULL: out of memory. */
struct route_cache *route_cache_new(void);
void route_cache_free(struct route_cache *c);

/*! \brief Forgets what it holds. NULL is fine. */
void route_cache_drop(struct route_cache *c);

/*! The result of a computation that may be programmed. */
struct route_cached {
	const struct engine *used;
	const char *engine_asked;
	uint8_t max_lanes;      /*!< lanes there were */
	struct why fallback_reason;
	struct route_out out;
};

/*!
 * \brief Remembers a computation in place of what it held. All is copied.
 * \retval -ENOMEM  It holds nothing then.
 * Cost: a copy of graph and tables.
 */
int route_cache_store(struct route_cache *c, const struct graph *g, const struct lids *lids,
                      const struct route_cached *from);

/*!
 * \brief Tables for a fabric, if the remembered ones serve.
 *
 * \param ret_cached  Tables in \a a: entries of LIDs that are there are those of the
 *             computation, those of others LFT_NO_ROUTE.
 * \param why  Reason of a miss, one sentence.
 * \retval E_NOTFOUND  A miss. \retval -ENOMEM
 * Cost: O(ports) to compare, a copy of the tables; parallel.
 */
int route_cache_look(const struct route_cache *c, const struct graph *g,
                     const struct lids *lids, uint8_t max_lanes, struct arena *a,
                     struct route_cached *ret_cached, struct why *why);

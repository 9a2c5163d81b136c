/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "routing/proof/transition.h"
#include "routing/route.h"

struct job;
struct program;
struct sm;

/*!
 * Tables as a fresh start would give them, beside those that keep earlier routes: is it worth
 * moving to them, and can the switches get there?
 */
struct fresh_routes {
	struct route_result route;
	struct transition transition; /*!< to them; stage is NULL: not planned */
	double seconds_transition;    /*!< to plan it */
	struct load now; /*!< figures of the tables that keep; without those per link */
	struct load_gain gain; /*!< over these */
	bool pays;             /*!< the gain is as large as the options want it */
	/*! NULL: they may be programmed; else why not. */
	const char *refusal;
};

/*! Reasons for tables that keep nothing. */
enum rebalance_wish { REBALANCE_NOT_WANTED, REBALANCE_WHEN_QUIET, REBALANCE_REQUESTED };

/*!
 * Routing of a job, on a thread of its own, so that MADs are answered meanwhile; and what
 * one routing leaves for the next.
 */
struct routes {
	struct sm *sm;
	struct route_memory memory; /*!< from routing to routing; its tables are those of the job at work */
	struct lft known;             /*!< tables that the switches have; job.prev until the next routing */
	struct arena *known_arena;    /*!< of these */
	uint8_t lane_limit; /*!< ports turned out to have no more VLs than this, 0: as they
	                         say */
	bool recall; /*!< this process has not routed and was not standby: the tables may be those
	                that are published */
	/* what the log said last, so that it says it once: */
	const struct engine *logged_engine; /*!< NULL: one lane */
	uint8_t logged_lanes;
	/* rebalancing: */
	const struct engine *served; /*!< of the last routing that ended well; NULL: not known */
	bool kept;                /*!< the switches had routes before the last routing */
	bool requested;           /*!< by an operator; for the next routing */
	uint64_t wanted_fabric;   /*!< fabric_id() for which it is wanted; 0: none */
	enum rebalance_wish wish; /*!< of the routing at work or the last one */
	struct fresh_routes fresh; /*!< what it found, or what a comparison found */
	struct arena *arena; /*!< of a comparison, NULL: none */
	int (*work)(struct routes *); /*!< what the thread does */
	/* the thread: */
	uint64_t known_of; /*!< digest of the switches that known is of */
	uint32_t *
		sent; /*!< [n_sent] malloc; LIDs that may have other entries since known was taken */
	uint32_t n_sent;
	size_t cap_sent;
	bool any_sent;   /*!< any LID may */
	struct job *job; /*!< borrowed until routes_end() */
	pthread_t thread;
	bool running; /*!< to be joined */
	_Atomic bool done;
	_Atomic bool cancel;
	int ret; /*!< of route_run(); read after done */
};

/*!
 * \brief Starts to compute and prove tables over j->lids.
 *
 * \param first  No sweep ended yet since we became master: another SM may have changed the
 *               tables, so nothing is taken from the cache.
 * \retval -ENOMEM
 */
int routes_start(struct routes *r, struct job *j, bool first);

/*! \brief Lets a routing at work end soon, and does not wait for it. */
void routes_cancel(struct routes *r);

/*! \brief Is the thread still at work? */
bool routes_busy(const struct routes *r);

/*! \brief Begins to plan the transition to the same tables again, because job->prev has changed. As
 *         routes_start(), the thread is at work until routes_replanned(). */
int routes_replan(struct routes *r, struct job *j);

/*! \brief Joins the thread, if routes_replan() began it. \retval E_OK -ENOMEM */
int routes_replanned(struct routes *r);

/*! \brief Joins the thread and logs the outcome. \retval Errors of route_run(), with sm_fail(). */
int routes_end(struct routes *r);

/*! \brief Sets whether quality of service is on with these tables, and its setup. */
void routes_qos(struct routes *r, const struct job *j, struct program *p);

/*! \brief Cancels a routing at work. */
void routes_stop(struct routes *r);

/*! \brief Forgets what depends on options. */
void routes_forget(struct routes *r);
void routes_done(struct routes *r);

/*!
 * When routes are balanced anew.
 *
 * Routing keeps what it can of the tables in the switches, so that a repair moves few routes.
 * The price is that a cable that was out and is back stays idle: the routes that left it have
 * no reason to return. So once no sweep found a change for a while, the routing thread computes
 * what a fresh start would give and compares the loads. Where the gain is large enough, or where
 * links that have next to no routes would get their share (struct load_gain), the
 * next heavy sweep takes those tables, by the same proof and the same transition as any others.
 *
 *   change -> quiet for 'rebalance_quiet' seconds -> compare --no gain----------> settled
 *                      ^                               '--gain--> heavy sweep --> settled
 *                      '--a heavy sweep finds a change---------------'
 *
 * One comparison and at most one such sweep follow each change, so nothing oscillates. The heavy
 * sweep discovers the fabric first. If it is not the one that was compared, its routes are kept.
 *
 * A comparison also says whether a fresh start would take the engine that serves, which routing does
 * not ask after a small change (routing/route_base.h). For this alone one is made after 20 quiet
 * seconds. If a fresh start would take another engine, a heavy sweep follows.
 */
struct rebalance {
	struct sm *sm;
	struct routes *routes;
	uint64_t fabric;     /*!< fabric_id() of the last heavy sweep; 0: none */
	uint64_t changed_ms; /*!< when a sweep found a change the last time */
	bool unconfirmed; /*!< the last routing went on with its engine; a fresh start may take another */
	bool confirms;    /*!< the comparison at work is only for that */
	bool told;    /*!< the log has that routes move by themselves */
	bool settled; /*!< the tables of this fabric were compared, or are a fresh start's */
};

/*! \brief A heavy sweep ended well. */
void routes_rebalance_heavy_ended(struct rebalance *b);

/*! \brief When a comparison may start, UINT64_MAX: none is wanted. */
uint64_t routes_rebalance_deadline(const struct rebalance *b);

/*! \brief Starts the comparison on the routing thread when it is time. \return false: it is not. */
bool routes_rebalance_start(struct rebalance *b);

/*! \brief When it is over: asks for a heavy sweep or logs the gain, as the option says. */
void routes_rebalance_end(struct rebalance *b);

/*! \brief Forgets what depends on options. */
void routes_rebalance_forget(struct rebalance *b);

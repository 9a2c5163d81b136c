/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "routing/route.h"

struct job;
struct program;
struct sm;

/*!
 * Routing of a job, on a thread of its own, so that MADs are answered meanwhile; and what
 * one routing leaves for the next.
 */
struct routes {
	struct sm *sm;
	struct route_verdict verdict; /*!< of the last routing */
	struct route_cache *cache;    /*!< unicast routing cache; NULL until it is wanted */
	uint8_t lane_limit; /*!< ports turned out to have no more VLs than this, 0: as they
	                         say */
	/* what the log said last, so that it says it once: */
	const struct engine *logged_engine; /*!< NULL: one lane */
	uint8_t logged_lanes;
	/* the thread: */
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

/*! \brief Is the thread still at work? */
bool routes_busy(const struct routes *r);

/*! \brief Joins the thread and logs the outcome. \retval Errors of route_run(), with sm_fail(). */
int routes_end(struct routes *r);

/*! \brief Sets whether quality of service is on with these tables, and its setup. */
void routes_qos(struct routes *r, const struct job *j, struct program *p);

/*! \brief Cancels a routing at work. */
void routes_stop(struct routes *r);

/*! \brief Forgets what depends on options. */
void routes_forget(struct routes *r);
void routes_done(struct routes *r);

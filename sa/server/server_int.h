/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/clock.h"
#include "conf/base/log.h"
#include "db/snapshot/snapshot.h"
#include "sa/mad/fields.h"
#include "sa/mad/transport.h"
#include "sa/server/bulk_request.h"
#include "sa/server/fair_queue.h"
#include "sa/server/notice_report.h"
#include "sa/server/server.h"
#include "sa/store/store.h"

struct state_batch;

/*!
 * What the files of the SA server share.
 *
 *   server_receive.c  where requests come in: admitted, answered inline or queued
 *   server.c          the answer thread, bulk requests, life cycle
 *   server_reply.c    replies, also those that wait for their commit
 *   server_events.c   events become notice reports
 */
enum {
	BATCH = 64,
	CACHE_LINE = 64,
	EVENTS = 1024,   /*!< traps that wait to be reported */
	INLINE_MAX = 16, /*!< inline answers that are made before the first is sent */
	SEND_TRIES = 200 /*!< a full transport is asked again after a millisecond */
};

/* An inline answer that is made and not yet sent. */
struct inline_answer {
	struct sa_reply reply;
	int ret; /* E_OK: to be sent */
};

/* Events that wait for their reports. Two of them: one is filled under the lock while the
 * answer thread works on the other. */
struct server_events {
	uint8_t trap[EVENTS][SMP_DATA_BYTES];
	bool wide[EVENTS]; /*!< see sa_server_trap() */
	unsigned n_traps;
	struct store_event *groups; /* multicast groups created and deleted */
	size_t n_groups, cap_groups;
	bool swept;
};

struct sa_server {
	struct steady_clock lease_clock;
	struct transport *transport;
	struct snap_reader *reader;
	struct state *state; /* NULL: nothing is durable */
	struct sa_limits limits;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	/* under the lock */
	struct fair_queue *queue;
	struct server_events *arriving;
	sa_tables_f *read_tables; /* or NULL */
	void *read_tables_ctx;
	/* of threads that bring requests, when there is no room; under its own lock */
	pthread_mutex_t refusing;
	struct sa_reply busy;
	/* of the answer thread: it holds `answering` unless it sleeps */
	pthread_mutex_t answering;
	/* it has work or is awake: no more inline answers. Set under the lock by whoever
	 * brings work, cleared by the thread */
	atomic_bool work_waits;
	struct server_events *events;
	struct sa_store *store;
	struct reports *reports;
	uint64_t reports_due; /* ms */
	struct fair_request *batch[BATCH];
	size_t cost[BATCH]; /* of those that were served, bytes */
	struct sa_work *work;
	struct inline_answer inline_answer[INLINE_MAX];
	struct bulk_requests *bulk;
	unsigned n_batch, n_served;
	struct sa_reply reply;
	struct log_limit large_lines;
	struct log_limit commit_lines; /*!< of the state's writing thread */
	atomic_uint_fast64_t act_count;
	atomic_bool stop, standby;
	atomic_bool reload; /* a commit failed: the store differs from the disk */
	/* counters; those of receiving threads are apart from those of the answer thread, so
	 * that the two do not share a cache line */
	_Alignas(CACHE_LINE) atomic_uint_fast64_t requests, dropped_overload,
		dropped_standby, reports_dropped;
	_Alignas(CACHE_LINE) atomic_uint_fast64_t answered, dropped_malformed,
		dropped_key, refused_large, no_records, records;
	/* of the answer thread's parts, copied for other threads */
	atomic_uint_fast64_t services, subscriptions, groups, members, reports_sent,
		reports_answered, reports_given_up, reports_no_room, reports_forged;
};

/*! \brief There is work for the answer thread. Any thread, under the lock. */
static inline void server_wake(struct sa_server *s)
{
	s->work_waits = true;
	pthread_cond_signal(&s->more);
}

/* server_reply.c */

/*!
 * \brief Sends the reply to a request (\a ret E_OK), or none, and counts what became of it.
 * \param tries  A full transport is tried so often, a millisecond apart.
 * \retval -EAGAIN  It stays full after one try: nothing is counted, the request may be
 *                  queued.
 */
int server_reply(struct sa_server *s, const struct mad_addr *to, int ret,
                 const struct sa_reply *reply, unsigned tries);

/*!
 * \brief Commits what the store has changed, and then sends the reply (NULL: none). Takes
 *        \a b. Of the answer thread.
 * \retval -ENOMEM  Nothing is committed; the store is read again from disk.
 */
int server_commit(struct sa_server *s, struct state_batch *b, const struct mad_addr *to,
                  const struct sa_reply *reply);

/*!
 * \brief Ends a request (\a ret of sa_work_continue()): with server_reply(), or after the
 *        commit of what it changed.
 * \param st  The store, on the answer thread alone; NULL elsewhere.
 */
void server_conclude(struct sa_server *s, struct sa_store *st,
                     const struct fair_request *q, int ret, struct sa_reply *reply);

/*! \brief Answers BUSY to a request for which the queue has no room, or that another one
 *  displaced. Any thread, without the lock. */
void server_refuse(struct sa_server *s, const struct mad_addr *to, const uint8_t *mad);

/*! \brief A request gets no reply: its origin has to know, the fabric does not. */
void server_drop(const struct mad_addr *from);

/* server_events.c */

/*! \brief Adds events of multicast groups. Any thread; takes the list. */
void server_announce(struct sa_server *s, struct store_event *list, size_t n);

/*! \brief Announces the store's events without waiting for a commit. Of the answer thread. */
void server_announce_groups(struct sa_server *s);

/*! \brief Makes reports of the events that were taken. Without a published fabric (\a r NULL)
 *  there are none. Of the answer thread. */
void server_report_events(struct sa_server *s, struct snap_reader *r);

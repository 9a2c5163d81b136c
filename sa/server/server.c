/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The SA answer thread. Whoever receives pushes copies of requests (but for those of
 * server_once.c) into a queue that is
 * fair to requesters (fair_queue.h): the transport's own thread where it has one, else
 * the fabric thread. This thread takes them out in batches, pins the snapshot once per
 * batch (so each answer is from exactly one epoch), answers and sends. After an answer
 * that took long the rest of the batch goes back, for the queue to say anew whose turn it
 * is. When the queue is full the one who pushes answers BUSY, to the new request or to
 * one that gives way to it, so that no client waits for nothing. An idle thread lets its
 * epoch go.
 *
 * Records that clients write: this thread alone changes the store; what a request changed
 * goes to the state's writing thread with the reply, which sends it when the change is on
 * disk (group commit: many requests, one commit). When a commit fails the requester is
 * told, and the store is read again from disk.
 *
 * Events (traps, ports that come and go, multicast groups that were created or deleted
 * and are so on disk) wait in lists; this thread turns them into reports, repeats those
 * and takes their answers.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "conf/base/err.h"
#include "conf/base/log.h"
#include "db/reader.h"
#include "db/snapshot.h"
#include "db/state.h"
#include "sa/server/server_int.h"

enum {
	QUEUE = 8192,
	NS_PER_BYTE = 4,       /* at which answers of one record each are made, about */
	DEAR_BYTES = 64 << 10, /* an answer that cost more ends its batch */
	KEEP_REPLY_BYTES = 1 << 20 /* the memory of a larger table is given back */
};

static const char *const source = "sa";

static int64_t wall_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec;
}

/* What is due besides requests. */
static void keep_house(struct sa_server *s, struct snap_reader *r)
{
	int ret = E_OK;

	if (s->reload) {
		s->reload = false;
		state_flush(s->state); /* what is under way is on disk or has failed */
		ret = store_reload(s->store);
	}
	if (ret == E_OK) {
		ret = store_expire(s->store, wall_clock());
	}
	if (ret != E_OK) {
		log_error(source, "records that clients wrote: %s", err_text(ret));
	}
	server_tell_news(s, r);
	struct state_batch *b = store_take_changes(s->store);
	if (b != NULL) {
		(void)server_commit(s, b, NULL, NULL);
	} else if (s->state == NULL) {
		server_tell_groups(s);
	}
	s->reports_due = reports_run(s->reports, server_ms());
}

static void show_counts(struct sa_server *s)
{
	const struct report_counters *c = reports_counters(s->reports);

	s->services = store_count(s->store, RECORDS_SERVICES);
	s->subscriptions = store_count(s->store, RECORDS_SUBSCRIPTIONS);
	s->groups = store_count(s->store, RECORDS_GROUPS);
	s->members = store_count(s->store, RECORDS_MEMBERS);
	s->reports_sent = c->sent;
	s->reports_answered = c->answered;
	s->reports_given_up = c->given_up;
	s->reports_no_room = c->dropped;
}

/* --- tables that take long -------------------------------------------------------------
 */

/* What an answer cost its requester's line. */
static size_t cost_of(uint64_t ns, const struct sa_reply *reply)
{
	size_t cost = (size_t)(ns / NS_PER_BYTE);

	return cost > reply->len ? cost : reply->len;
}

static void on_table(void *ctx, struct fair_queue *from, struct fair_request *q, int ret,
                     struct sa_reply *reply, uint64_t ns)
{
	struct sa_server *s = ctx;

	server_conclude(s, NULL, q, ret, reply, SEND_TRIES);
	pthread_mutex_lock(&s->lock); /* from may be s->queue */
	fair_queue_charge(from, q->line, cost_of(ns, reply));
	fair_queue_release(from, q);
	pthread_mutex_unlock(&s->lock);
}

static void on_full(void *ctx, const struct fair_request *q)
{
	server_refuse(ctx, q);
}

static int make_tables(struct sa_server *s)
{
	const struct slow_tables_user user = { on_table, on_full, s };
	int err = sa_work_new(&s->work);

	return err == E_OK ? slow_tables_new(s->reader, s->store, &s->limits, &user,
	                                     &s->tables)
	                   : err;
}

/* Puts what was begun of the batch's request aside. \return false: it stays here. */
static bool put_aside(struct sa_server *s, struct snap_reader *r, unsigned at)
{
	enum slow_outcome o = slow_tables_take(s->tables, r, s->queue, s->batch[at],
	                                       &s->work, &s->reply);
	if (o == SLOW_KEPT) {
		s->batch[at] = NULL;
	}
	return o != SLOW_REFUSED;
}

/* --- the thread ------------------------------------------------------------------------
 */

/* Answers one of the batch, or puts it aside. */
static void serve(struct sa_server *s, struct snap_reader *r, unsigned at)
{
	const struct fair_request *q = s->batch[at];

	if (reports_answer(s->reports, q->mad, q->len, q->addr.lid)) {
		return;
	}
	int ret = sa_work_begin(s->work, r, s->store, &s->limits, q->mad, q->len,
	                        &q->addr, &s->reply);
	if (ret == -EINPROGRESS) {
		ret = slow_slice(s->work, r, &s->reply);
	}
	if (ret == -EINPROGRESS && put_aside(s, r, at)) {
		return;
	}
	while (ret == -EINPROGRESS) {
		ret = slow_slice(s->work, r, &s->reply);
	}
	server_conclude(s, s->store, q, ret, &s->reply, SEND_TRIES);
}

static void give_back(struct sa_reply *reply)
{
	if (reply->cap > KEEP_REPLY_BYTES) {
		sa_reply_done(reply);
	}
}

/* Serves what was taken, up to the first answer that cost much. */
static void serve_batch(struct sa_server *s, struct snap_reader *r)
{
	uint64_t started = server_ns();
	bool dear = false;

	while (s->n_served < s->n_batch && !dear) {
		s->reply.len = 0;
		serve(s, r, s->n_served);
		uint64_t ended = server_ns();
		size_t cost = cost_of(ended - started, &s->reply);
		dear = cost > DEAR_BYTES;
		s->cost[s->n_served++] = cost;
		started = ended;
		give_back(&s->reply);
	}
}

static void *run(void *arg)
{
	struct sa_server *s = arg;

	while (!s->stop) {
		server_take(s);
		struct snap_reader *r = snap_pin(s->reader) == E_OK ? s->reader : NULL;
		keep_house(s, r);
		s->limits.act_count = (uint32_t)s->act_count;
		serve_batch(s, r);
		slow_tables_run(s->tables);
		show_counts(s);
	}
	return NULL;
}

/* --- life cycle -----------------------------------------------------------------------
 */

static void news_free(struct news *news)
{
	if (news != NULL) {
		free(news->groups);
		free(news);
	}
}

static void free_parts(struct sa_server *s)
{
	slow_tables_free(s->tables);
	sa_work_free(s->work);
	snap_reader_close(s->reader);
	sa_reply_done(&s->reply);
	sa_reply_done(&s->busy);
	for (unsigned i = 0; i < ONCE; i++) {
		sa_reply_done(&s->once[i].reply);
	}
	fair_queue_free(s->queue);
	store_free(s->store);
	reports_free(s->reports);
	news_free(s->news);
	news_free(s->telling);
	free(s);
}

static int start(struct sa_server *s)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->refusing, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->more, &attr);
	pthread_condattr_destroy(&attr);
	return -pthread_create(&s->thread, NULL, run, s);
}

static int make_parts(struct sa_server *s, struct snap_writer *w)
{
	s->news = calloc(1, sizeof(*s->news));
	s->telling = calloc(1, sizeof(*s->telling));
	if (s->news == NULL || s->telling == NULL) {
		return -ENOMEM;
	}
	int err = fair_queue_new(QUEUE, &s->queue);
	if (err == E_OK) {
		err = reports_new(s->transport, &s->reports);
	}
	if (err == E_OK) {
		err = store_new(s->state, wall_clock(), &s->store);
	}
	if (err == E_OK) {
		store_set_owner_limit(s->store, s->limits.records_of_a_port);
	}
	if (err == E_OK) {
		err = snap_reader_local(w, &s->reader);
	}
	return err == E_OK ? make_tables(s) : err;
}

int sa_server_new(struct transport *t, struct snap_writer *w, struct state *state,
                  const struct sa_limits *l, struct sa_server **ret)
{
	struct sa_server *s = aligned_alloc(_Alignof(struct sa_server), sizeof(*s));
	if (s == NULL) {
		return -ENOMEM;
	}
	memset(s, 0, sizeof(*s));
	s->transport = t;
	s->state = state;
	s->limits = *l;
	s->reports_due = UINT64_MAX;
	if (s->limits.max_response == 0) {
		s->limits.max_response = SA_RESPONSE_BYTES;
	}
	int err = make_parts(s, w);
	if (err == E_OK) {
		err = start(s);
	}
	if (err != E_OK) {
		free_parts(s);
		return err;
	}
	*ret = s;
	return E_OK;
}

void sa_server_free(struct sa_server *s)
{
	if (s == NULL) {
		return;
	}
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	if (s->state != NULL) {
		state_flush(s->state); /* replies that wait need us */
	}
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->refusing);
	free_parts(s);
}

void sa_server_activity(struct sa_server *s, uint64_t act_count)
{
	atomic_store_explicit(&s->act_count, act_count, memory_order_relaxed);
}

void sa_server_counters(struct sa_server *s, struct sa_counters *ret)
{
	*ret = (struct sa_counters){
		.requests = s->requests,
		.answered = s->answered,
		.dropped_malformed = s->dropped_malformed,
		.dropped_key = s->dropped_key,
		.dropped_overload = s->dropped_overload,
		.dropped_standby = s->dropped_standby,
		.refused_large = s->refused_large,
		.no_records = s->no_records,
		.records = s->records,
		.services = s->services,
		.subscriptions = s->subscriptions,
		.groups = s->groups,
		.members = s->members,
		.reports_sent = s->reports_sent,
		.reports_answered = s->reports_answered,
		.reports_given_up = s->reports_given_up,
		.reports_dropped = s->reports_dropped + s->reports_no_room,
	};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The SA answer thread. It takes requests out of the fair queue in batches, pins the
 * snapshot once per batch (so each answer is from exactly one epoch), answers and sends.
 * After an expensive answer the rest of the batch goes back, because the queue then
 * chooses anew who is next. While the thread sleeps it holds no epoch, and requests may
 * get an inline answer (server_receive.c).
 *
 * Client records: the answer thread alone changes the store. The changes of a request go to the
 * state's writing thread with the reply, which is sent when the change is on disk
 * (group commit: many requests, one commit). When a commit fails the reply says so, and
 * the store is read again from disk.
 *
 * Events (traps, ports that appear and disappear, multicast groups that were created or
 * deleted and are so on disk) wait in lists. This thread makes notice reports of them,
 * repeats the reports and takes their responses.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"
#include "conf/base/log.h"
#include "db/snapshot/reader.h"
#include "db/snapshot/snapshot.h"
#include "db/state/state.h"
#include "sa/mad/wire.h"
#include "sa/record/record.h"
#include "sa/server/server_int.h"

enum {
	QUEUE = 8192,
	NS_PER_BYTE = 4, /* about what an answer of one record takes */
	EXPENSIVE_BYTES = 64 << 10, /* an answer that cost more ends its batch */
	KEEP_REPLY_BYTES = 1 << 20  /* the memory of a larger table is freed */
};

static const char *const source = "sa";

static void log_unread(struct sa_server *s, int ret)
{
	struct arena *a = arena_new();

	log_message(MSG_SA_RECORDS, source, "client records: %s",
	            a != NULL ? state_err_text(s->state, ret, a) : err_text(ret));
	arena_free(a);
}

/* Everything but requests: leases, events, reports. */
static void do_due_work(struct sa_server *s, struct snap_reader *r)
{
	int ret = E_OK;

	if (s->reload) {
		s->reload = false;
		state_flush(s->state); /* what is under way is on disk or has failed */
		ret = store_reload(s->store);
	}
	if (ret == E_OK && !s->standby) {
		ret = store_expire(s->store,
		                   steady_clock_at(&s->lease_clock, monotonic_ms()));
	}
	if (ret != E_OK) {
		log_unread(s, ret);
	}
	server_report_events(s, r);
	struct state_batch *b = store_take_changes(s->store);
	if (b != NULL) {
		(void)server_commit(s, b, NULL, NULL);
	} else if (s->state == NULL) {
		server_announce_groups(s);
	}
	s->reports_due = reports_run(s->reports, monotonic_ms());
}

static void publish_counts(struct sa_server *s)
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
	s->reports_forged = c->forged;
}

/* --- bulk requests --------------------------------------------------------------------- */

/* Cost of an answer to the queue line of its requester. */
static size_t cost_of(uint64_t ns, const struct sa_reply *reply)
{
	size_t cost = (size_t)(ns / NS_PER_BYTE);

	return cost > reply->len ? cost : reply->len;
}

static void on_bulk_reply(void *ctx, struct fair_queue *from, struct fair_request *q, int ret,
                     struct sa_reply *reply, uint64_t ns)
{
	struct sa_server *s = ctx;

	server_conclude(s, NULL, q, ret, reply);
	pthread_mutex_lock(&s->lock); /* from may be s->queue */
	fair_queue_charge(from, q->line, cost_of(ns, reply));
	fair_queue_release(from, q);
	pthread_mutex_unlock(&s->lock);
}

static void on_bulk_refused(void *ctx, const struct fair_request *q)
{
	server_refuse(ctx, &q->addr, q->mad);
}

/* --- the thread ------------------------------------------------------------------------
 */

/* Asks the SM for the tables that a request needs. \return false: it is answered here. */
static bool read_tables(struct sa_server *s, const struct fair_request *q)
{
	const struct mad_msg m = { .mgmt_class = UMAD_CLASS_SUBN_ADM,
		                   .addr = q->addr,
		                   .len = q->len,
		                   .data = (uint8_t *)q->mad };

	pthread_mutex_lock(&s->lock);
	bool waits = s->read_tables != NULL && s->read_tables(s->read_tables_ctx, &m);
	pthread_mutex_unlock(&s->lock);
	return waits;
}

/* Answers one request of the batch, or makes it a bulk request. */
static void serve(struct sa_server *s, struct snap_reader *r, unsigned at)
{
	struct fair_request *q = s->batch[at];
	const struct sa_attr *attr = q->request.attr;
	const struct mad_msg m = { .addr = q->addr, .len = q->len, .data = q->mad };

	if (q->request.is_report_resp) {
		(void)reports_answer(s->reports, q->mad, q->len, q->addr.lid);
		return;
	}
	if (s->standby) { /* it came in before */
		s->dropped_standby++;
		server_drop(&q->addr);
		return;
	}
	if (attr != NULL && attr->tables_on_request && !q->request.tables_read &&
	    r != NULL && read_tables(s, q)) {
		return;
	}
	int ret = sa_work_begin(s->work, r, s->store, &s->limits, &q->request, &m,
	                        &s->reply);
	if (ret == -EINPROGRESS) {
		ret = bulk_slice(s->work, r, &s->reply);
	}
	if (ret == -EINPROGRESS) {
		enum bulk_outcome o = bulk_requests_take(s->bulk, r, s->queue, q, &s->work,
		                                         &s->reply);
		if (o == BULK_KEPT) {
			s->batch[at] = NULL;
		}
		if (o != BULK_REFUSED) {
			return;
		}
	}
	while (ret == -EINPROGRESS) {
		ret = bulk_slice(s->work, r, &s->reply);
	}
	server_conclude(s, s->store, q, ret, &s->reply);
}

/* --- requests and events into the thread --------------------------------------------- */

/* Sleeps until there is work, or something is due. Under the lock. */
static void wait_for_work(struct sa_server *s)
{
	uint64_t due = s->reports_due;
	int64_t lease = store_next_expiry(s->store);
	int ret = 0;

	if (lease != STORE_FOR_EVER && due > monotonic_ms() + 1000) {
		due = monotonic_ms() + 1000; /* leases count in seconds of another clock */
	}
	struct timespec until = { .tv_sec = (time_t)(due / 1000),
		                  .tv_nsec = (long)(due % 1000) * 1000000 };
	while (!s->work_waits && ret == 0) {
		ret = due == UINT64_MAX
		              ? pthread_cond_wait(&s->more, &s->lock)
		              : pthread_cond_timedwait(&s->more, &s->lock, &until);
	}
}

/* Releases what was served of the last batch and returns the others to the queue. Under
 * the lock. */
static void release_batch(struct sa_server *s)
{
	while (s->n_batch > s->n_served) {
		fair_queue_return(s->queue, s->batch[--s->n_batch]);
	}
	for (unsigned i = 0; i < s->n_served; i++) {
		if (s->batch[i] == NULL) { /* a bulk request now */
			continue;
		}
		fair_queue_charge(s->queue, s->batch[i]->line, s->cost[i]);
		fair_queue_release(s->queue, s->batch[i]);
	}
	s->n_batch = s->n_served = 0;
}

/* Releases the last batch, waits for work, takes the next batch and the events. */
static void take_batch(struct sa_server *s)
{
	pthread_mutex_lock(&s->lock);
	release_batch(s);
	if (!s->work_waits && fair_queue_length(s->queue) == 0 &&
	    !bulk_requests_busy(s->bulk)) {
		snap_unpin(s->reader);
		pthread_mutex_unlock(&s->answering);
		wait_for_work(s);
		s->work_waits = true; /* also when something is due */
		pthread_mutex_unlock(&s->lock);
		pthread_mutex_lock(&s->answering);
		pthread_mutex_lock(&s->lock);
	}
	s->work_waits = false;
	struct server_events *events = s->arriving;
	s->arriving = s->events;
	s->events = events;
	while (!s->stop && s->n_batch < BATCH &&
	       (s->batch[s->n_batch] = fair_queue_pop(s->queue)) != NULL) {
		s->n_batch++;
	}
	pthread_mutex_unlock(&s->lock);
}

/* Serves the batch, up to the first expensive answer. */
static void serve_batch(struct sa_server *s, struct snap_reader *r)
{
	uint64_t started = monotonic_ns();
	bool expensive = false;

	while (s->n_served < s->n_batch && !expensive) {
		s->reply.len = 0;
		serve(s, r, s->n_served);
		uint64_t ended = monotonic_ns();
		size_t cost = cost_of(ended - started, &s->reply);
		expensive = cost > EXPENSIVE_BYTES;
		s->cost[s->n_served++] = cost;
		started = ended;
		if (s->reply.cap > KEEP_REPLY_BYTES) {
			sa_reply_done(&s->reply);
		}
	}
}

static void *run(void *arg)
{
	struct sa_server *s = arg;

	pthread_mutex_lock(&s->answering);
	while (!s->stop) {
		take_batch(s);
		struct snap_reader *r = snap_pin(s->reader) == E_OK ? s->reader : NULL;
		do_due_work(s, r);
		s->limits.act_count = (uint32_t)s->act_count;
		serve_batch(s, r);
		bulk_requests_run(s->bulk);
		publish_counts(s);
	}
	pthread_mutex_unlock(&s->answering);
	return NULL;
}

/* --- life cycle -----------------------------------------------------------------------
 */

static void events_free(struct server_events *events)
{
	if (events != NULL) {
		free(events->groups);
		free(events);
	}
}

static void free_parts(struct sa_server *s)
{
	bulk_requests_free(s->bulk);
	sa_work_free(s->work);
	snap_reader_close(s->reader);
	sa_reply_done(&s->reply);
	sa_reply_done(&s->busy);
	for (unsigned i = 0; i < INLINE_MAX; i++) {
		sa_reply_done(&s->inline_answer[i].reply);
	}
	fair_queue_free(s->queue);
	store_free(s->store);
	reports_free(s->reports);
	events_free(s->arriving);
	events_free(s->events);
	free(s);
}

static int start(struct sa_server *s)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->refusing, NULL);
	pthread_mutex_init(&s->answering, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->more, &attr);
	pthread_condattr_destroy(&attr);
	return -pthread_create(&s->thread, NULL, run, s);
}

static int create_parts(struct sa_server *s, struct snap_writer *w)
{
	const struct bulk_requests_user user = { on_bulk_reply, on_bulk_refused, s };

	s->arriving = calloc(1, sizeof(*s->arriving));
	s->events = calloc(1, sizeof(*s->events));
	if (s->arriving == NULL || s->events == NULL) {
		return -ENOMEM;
	}
	int ret = fair_queue_new(QUEUE, &s->queue);
	if (ret == E_OK) {
		ret = reports_new(s->transport, &s->reports);
	}
	if (ret == E_OK) {
		s->lease_clock = steady_clock_start();
		ret = store_new(s->state, s->lease_clock.start_s, &s->store);
		if (ret != E_OK) {
			log_unread(s, ret);
		}
	}
	if (ret == E_OK) {
		store_set_owner_limit(s->store, s->limits.records_of_a_port);
	}
	if (ret == E_OK) {
		ret = snap_reader_local(w, &s->reader);
	}
	if (ret == E_OK) {
		ret = sa_work_new(&s->work);
	}
	return ret == E_OK ? bulk_requests_new(s->reader, s->store, &s->limits, &user,
	                                       &s->bulk)
	                   : ret;
}

int sa_server_new(struct transport *t, struct snap_writer *w, struct state *state,
                  const struct sa_limits *l, struct sa_server **ret_server)
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
	s->work_waits = true; /* until the thread has begun */
	if (s->limits.max_response == 0) {
		s->limits.max_response = SA_RESPONSE_BYTES;
	}
	int ret = create_parts(s, w);
	if (ret == E_OK) {
		ret = start(s);
	}
	if (ret != E_OK) {
		free_parts(s);
		return ret;
	}
	const struct transport_receiver receiver = { .mgmt_class = UMAD_CLASS_SUBN_ADM,
		                                     .take = sa_server_receive,
		                                     .ctx = s };
	transport_divert(t, &receiver);
	*ret_server = s;
	return E_OK;
}

void sa_server_free(struct sa_server *s)
{
	if (s == NULL) {
		return;
	}
	transport_divert(s->transport, NULL);
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	server_wake(s);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	if (s->state != NULL) {
		state_flush(s->state); /* replies that wait need us */
	}
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->refusing);
	pthread_mutex_destroy(&s->answering);
	free_parts(s);
}

void sa_server_activity(struct sa_server *s, uint64_t act_count)
{
	atomic_store_explicit(&s->act_count, act_count, memory_order_relaxed);
}

void sa_server_counters(struct sa_server *s, struct sa_counters *ret_counters)
{
	*ret_counters = (struct sa_counters){
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
		.reports_forged = s->reports_forged,
	};
}

void sa_server_standby(struct sa_server *s, bool on)
{
	s->standby = on;
	if (on) { /* the batch at work ends */
		pthread_mutex_lock(&s->answering);
		pthread_mutex_unlock(&s->answering);
	}
}

void sa_server_reload(struct sa_server *s)
{
	if (s->state == NULL) { /* what is in memory is all there is */
		return;
	}
	s->reload = true;
	pthread_mutex_lock(&s->lock);
	server_wake(s);
	pthread_mutex_unlock(&s->lock);
}

void sa_server_on_tables(struct sa_server *s, sa_tables_f *read, void *ctx)
{
	pthread_mutex_lock(&s->lock);
	s->read_tables = read;
	s->read_tables_ctx = ctx;
	pthread_mutex_unlock(&s->lock);
}

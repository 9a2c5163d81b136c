/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The SA answer thread. Whoever receives pushes copies of requests into a queue that is
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
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "conf/err.h"
#include "conf/log.h"
#include "db/reader.h"
#include "db/snapshot.h"
#include "db/state.h"
#include "sa/alias.h"
#include "sa/answer.h"
#include "sa/fair_queue.h"
#include "sa/fields.h"
#include "sa/mcast.h"
#include "sa/report.h"
#include "sa/slow_table.h"
#include "sa/store.h"
#include "sa/transport.h"
#include "sa/wire.h"

enum {
	QUEUE = 8192,
	BATCH = 64,
	CACHE_LINE = 64,
	NS_PER_BYTE = 4,       /* at which answers of one record each are made, about */
	DEAR_BYTES = 64 << 10, /* an answer that cost more ends its batch */
	KEEP_REPLY_BYTES = 1 << 20, /* the memory of a larger table is given back */
	SEND_TRIES = 200, /* a full transport is asked again after a millisecond */
	LARGE_LINES = 5,  /* log lines about refused tables */
	LARGE_LINES_MS = 60000,
	EVENTS = 1024,          /* traps that wait to be reported */
	GROUP_EVENTS = 1 << 18, /* multicast groups to be told of */
	COMMIT_TRIES = 10       /* as SEND_TRIES, on the state's writing thread */
};

/* What is to be told besides answers; copied out to be told without the lock. */
struct news {
	uint8_t trap[EVENTS][SMP_DATA_BYTES];
	unsigned n_traps;
	struct store_event *groups; /* multicast groups created and deleted */
	size_t n_groups, cap_groups;
	bool swept;
};

static const char *const source = "sa";

struct sa_server {
	struct transport *transport;
	struct snap_reader *reader;
	struct state *state; /* NULL: nothing is durable */
	struct sa_limits limits;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	/* under the lock */
	struct fair_queue *queue;
	struct news *news;
	/* of those who push, when there is no room; under its own lock */
	pthread_mutex_t refusing;
	struct sa_reply busy;
	/* the thread's own */
	struct news *telling;
	struct sa_store *store;
	struct reports *reports;
	uint64_t reports_due; /* ms */
	struct fair_request *batch[BATCH];
	size_t cost[BATCH]; /* of those that were served, bytes */
	struct sa_work *work;
	struct slow_tables *tables;
	unsigned n_batch, n_served;
	struct sa_reply reply;
	struct log_limit large_lines;
	atomic_uint_fast64_t act_count;
	atomic_bool stop, standby;
	atomic_bool reload; /* a commit failed: the store is ahead of the disk */
	/* counters; those of who pushes are apart from those of who answers, or the two
	 * would pull one cache line to and fro */
	_Alignas(CACHE_LINE) atomic_uint_fast64_t requests, dropped_overload,
		dropped_standby, reports_dropped;
	_Alignas(CACHE_LINE) atomic_uint_fast64_t answered, dropped_malformed,
		dropped_key, refused_large, no_records, records;
	/* of the thread's own parts, for others to read */
	atomic_uint_fast64_t services, subscriptions, groups, members, reports_sent,
		reports_answered, reports_given_up, reports_no_room;
};

static void count(atomic_uint_fast64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static int send_reply(struct sa_server *s, const struct mad_addr *to,
                      const struct sa_reply *reply, unsigned tries)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct mad_msg m = {
		.mgmt_class = UMAD_CLASS_SUBN_ADM,
		.addr = *to,
		.len = reply->len,
		.data = reply->data,
	};
	int ret = -EAGAIN;

	if (to->door != NULL) {
		return to->door->send(to->door, to, reply->data, reply->len);
	}
	m.addr.qkey = UMAD_QKEY;
	for (unsigned i = 0; i < tries && !s->stop; i++) {
		ret = transport_send(s->transport, &m);
		if (ret != -EAGAIN) {
			break;
		}
		(void)nanosleep(&pause, NULL);
	}
	return ret;
}

/* What is dropped: a door has to know, the fabric does not. */
static void tell_dropped(const struct mad_addr *from)
{
	if (from->door != NULL) {
		(void)from->door->send(from->door, from, NULL, 0);
	}
}

static void count_reply(struct sa_server *s, const struct sa_reply *reply)
{
	struct umad_sa_packet head;

	memcpy(&head, reply->data, SA_HDR_BYTES);
	size_t stride = be16toh(head.attr_offset) * (size_t)8;
	if (be16toh(head.mad_hdr.status) == UMAD_SA_STATUS_NO_RECORDS
	                                            << SA_STATUS_SHIFT ||
	    (head.mad_hdr.status == 0 && stride == 0)) {
		count(&s->no_records, 1);
	}
	if (head.rmpp_hdr.rmpp_rtime_flags & UMAD_RMPP_FLAG_ACTIVE) {
		count(&s->records, stride ? (reply->len - SA_HDR_BYTES) / stride : 0);
	} else {
		count(&s->records, stride != 0);
	}
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now_ms(void)
{
	return now_ns() / 1000000;
}

/* A table that is larger than what MADs are for: who asked, and where to ask instead. */
static void tell_large(struct sa_server *s, const struct fair_request *q,
                       const struct sa_reply *reply)
{
	unsigned skipped;

	count(&s->refused_large, 1);
	if (log_allowed(&s->large_lines, now_ms(), LARGE_LINES, LARGE_LINES_MS,
	                &skipped)) {
		log_warning(source,
		            "%s %u asks for %s of more than %zu bytes "
		            "(sa_max_response): refused; saguaro-gateway streams it: "
		            "GET /v1/records/%s?stream=1%s",
		            q->addr.door ? "TCP client" : "LID",
		            q->addr.door ? q->addr.qpn : q->addr.lid, reply->large,
		            s->limits.max_response, reply->large,
		            skipped ? " (more such requests not shown)" : "");
	}
}

/* What became of a request. */
static void count_outcome(struct sa_server *s, int ret, const struct sa_reply *reply)
{
	switch (ret) {
	case E_OK:
		count(&s->answered, 1);
		count_reply(s, reply);
		break;
	case E_MALFORMED: count(&s->dropped_malformed, 1); break;
	case -EPERM: count(&s->dropped_key, 1); break;
	default: count(&s->dropped_overload, 1); break;
	}
}

/* --- replies that wait for their commit ------------------------------------------------
 */

struct waiting {
	struct sa_server *s;
	struct mad_addr addr;
	struct sa_reply reply;
	uint8_t mad[SA_MAD_BYTES];
	bool answers; /* else nobody waits: a lease ran out, a port is gone */
	struct store_event *events;
	size_t n_events;
};

/* Puts events where the answer thread finds them. Any thread; takes the list. */
static void announce(struct sa_server *s, struct store_event *list, size_t n)
{
	struct news *news;

	pthread_mutex_lock(&s->lock);
	news = s->news;
	if (n > 0 && news->n_groups + n > news->cap_groups) {
		size_t cap = 2 * (news->n_groups + n);
		struct store_event *groups =
			cap <= GROUP_EVENTS ? realloc(news->groups, cap * sizeof(*groups))
					    : NULL;
		if (groups == NULL) {
			count(&s->reports_dropped, n);
			n = 0;
		} else {
			news->groups = groups;
			news->cap_groups = cap;
		}
	}
	if (n > 0) {
		memcpy(news->groups + news->n_groups, list, n * sizeof(*list));
		news->n_groups += n;
		pthread_cond_signal(&s->more);
	}
	pthread_mutex_unlock(&s->lock);
	free(list);
}

/* On the state's writing thread. */
static void on_commit(void *ctx, int ret)
{
	struct waiting *w = ctx;
	struct sa_server *s = w->s;

	if (ret != E_OK) {
		log_error(source, "records that clients wrote are not stored: %s",
		          err_text(ret));
		s->reload = true;
		free(w->events);
	} else {
		announce(s, w->events, w->n_events);
	}
	s->transport->ops->wake(s->transport); /* tables follow from some of them */
	if (w->answers) {
		w->reply.data = w->mad;
		if (ret != E_OK) {
			sa_reply_refuse(&w->reply, ret);
		}
		ret = send_reply(s, &w->addr, &w->reply, COMMIT_TRIES);
		count_outcome(s, ret, &w->reply);
	}
	free(w);
}

/* Hands over what the store has changed, with the reply that waits for it or none. */
static int commit(struct sa_server *s, struct state_batch *b, const struct mad_addr *to,
                  const struct sa_reply *reply)
{
	struct waiting *w = calloc(1, sizeof(*w));

	if (w == NULL) {
		state_batch_free(b);
		s->reload = true;
		return -ENOMEM;
	}
	w->s = s;
	w->n_events = store_events(s->store, &w->events);
	if (reply != NULL) { /* to Set and Delete: one MAD */
		w->answers = true;
		w->addr = *to;
		w->reply.len = reply->len;
		memcpy(w->mad, reply->data, sizeof(w->mad));
	}
	state_batch_commit(s->state, b, on_commit, w);
	return E_OK;
}

/* Tells of groups without waiting for a commit. */
static void tell_groups(struct sa_server *s)
{
	struct store_event *list;
	size_t n = store_events(s->store, &list);

	if (n > 0) {
		announce(s, list, n);
	}
}

/* Sends what became of a request (ret of sa_serve()), or lets it wait for its commit.
 * \a st: of the answer thread alone. */
static void conclude(struct sa_server *s, struct sa_store *st,
                     const struct fair_request *q, int ret, struct sa_reply *reply,
                     unsigned tries)
{
	struct state_batch *b = st != NULL ? store_changes(st) : NULL;

	if (b != NULL && commit(s, b, &q->addr, ret == E_OK ? reply : NULL) == E_OK) {
		return;
	}
	if (st != NULL && s->state == NULL) {
		tell_groups(s); /* nothing is durable, nothing waits */
	}
	if (ret == E_OK && reply->large != NULL) {
		tell_large(s, q, reply);
	}
	if (ret == E_OK) {
		ret = send_reply(s, &q->addr, reply, tries);
	}
	if (ret != E_OK) {
		tell_dropped(&q->addr);
	}
	count_outcome(s, ret, reply);
}

/* BUSY to a request that finds no room, or has to make some. */
static void refuse(struct sa_server *s, const struct fair_request *q)
{
	count(&s->dropped_overload, 1);
	pthread_mutex_lock(&s->refusing);
	int ret = sa_serve(NULL, NULL, &s->limits, q->mad, q->len, &q->addr, &s->busy);
	if (ret == E_OK) {
		ret = send_reply(s, &q->addr, &s->busy, 1);
	}
	if (ret != E_OK) {
		tell_dropped(&q->addr);
	}
	pthread_mutex_unlock(&s->refusing);
}

static void give_back(struct sa_reply *reply)
{
	if (reply->cap > KEEP_REPLY_BYTES) {
		sa_reply_done(reply);
	}
}

/* Has anybody work for us? Under the lock. */
static bool is_idle(const struct sa_server *s)
{
	return fair_queue_length(s->queue) == 0 && s->news->n_traps == 0 &&
	       s->news->n_groups == 0 && !s->news->swept && !s->stop;
}

/* Sleeps until there is work, or something is due. Under the lock. */
static void wait_for_work(struct sa_server *s)
{
	uint64_t due = s->reports_due;
	int64_t lease = store_next_tick(s->store);

	if (lease != STORE_FOR_EVER && due > now_ms() + 1000) {
		due = now_ms() + 1000; /* leases count in seconds of another clock */
	}
	struct timespec until = { .tv_sec = (time_t)(due / 1000),
		                  .tv_nsec = (long)(due % 1000) * 1000000 };
	int ret = 0;
	while (is_idle(s) && ret == 0) {
		ret = due == UINT64_MAX
		              ? pthread_cond_wait(&s->more, &s->lock)
		              : pthread_cond_timedwait(&s->more, &s->lock, &until);
	}
}

/* Gives the last batch back: those that were served, and those that were not. Under the
 * lock. */
static void put_back(struct sa_server *s)
{
	while (s->n_batch > s->n_served) {
		fair_queue_return(s->queue, s->batch[--s->n_batch]);
	}
	for (unsigned i = 0; i < s->n_served; i++) {
		if (s->batch[i] == NULL) { /* put aside */
			continue;
		}
		fair_queue_charge(s->queue, s->batch[i]->line, s->cost[i]);
		fair_queue_release(s->queue, s->batch[i]);
	}
	s->n_batch = s->n_served = 0;
}

/* Waits, and takes a batch of requests and copies the news out. */
static void take(struct sa_server *s)
{
	pthread_mutex_lock(&s->lock);
	put_back(s);
	if (!slow_tables_busy(s->tables) && is_idle(s)) {
		snap_unpin(s->reader);
		wait_for_work(s);
	}
	struct news *news = s->news;
	s->news = s->telling;
	s->telling = news;
	while (!s->stop && s->n_batch < BATCH &&
	       (s->batch[s->n_batch] = fair_queue_pop(s->queue)) != NULL) {
		s->n_batch++;
	}
	pthread_mutex_unlock(&s->lock);
}

/* --- events ---------------------------------------------------------------------------
 */

static void tell_trap(struct sa_server *s, struct snap_reader *r, const uint8_t *trap)
{
	uint8_t notice[NOTICE_BYTES] = { 0 };
	struct snap_end issuer;

	memcpy(notice, trap, SMP_DATA_BYTES);
	if (snap_lid(r, (uint32_t)field_get(notice, NTC_ISSUER_LID), &issuer) == E_OK) {
		field_set(notice + NOTICE_ISSUER_GID_AT, 0, 64,
		          snap_meta(r)->subnet_prefix);
		field_set(notice + NOTICE_ISSUER_GID_AT, 64, 64, issuer.port_guid);
	}
	reports_event(s->reports, r, s->store, notice);
}

/* Without a published fabric nobody can be told anything. */
static void tell_news(struct sa_server *s, struct snap_reader *r)
{
	struct news *news = s->telling;

	for (unsigned i = 0; i < news->n_traps && r != NULL; i++) {
		tell_trap(s, r, news->trap[i]);
	}
	for (size_t i = 0; i < news->n_groups && r != NULL; i++) {
		reports_group(s->reports, r, s->store, &news->groups[i]);
	}
	if (news->swept && r != NULL) {
		int ret = alias_swept(s->store, r);
		if (ret != E_OK) {
			log_warning(source, "alias GUIDs: %s", err_text(ret));
		}
		ret = mcast_swept(s->store, r);
		if (ret != E_OK) {
			log_warning(source, "multicast groups: %s", err_text(ret));
		}
		ret = reports_ports(s->reports, r, s->store);
		if (ret != E_OK) {
			log_warning(source, "ports that come and go: %s", err_text(ret));
		}
	}
	news->n_traps = 0;
	news->n_groups = 0;
	news->swept = false;
}

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
		ret = store_tick(s->store, wall_clock());
	}
	if (ret != E_OK) {
		log_error(source, "records that clients wrote: %s", err_text(ret));
	}
	tell_news(s, r);
	struct state_batch *b = store_changes(s->store);
	if (b != NULL) {
		(void)commit(s, b, NULL, NULL);
	} else if (s->state == NULL) {
		tell_groups(s);
	}
	s->reports_due = reports_run(s->reports, now_ms());
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

	conclude(s, NULL, q, ret, reply, SEND_TRIES);
	pthread_mutex_lock(&s->lock); /* from may be s->queue */
	fair_queue_charge(from, q->line, cost_of(ns, reply));
	fair_queue_release(from, q);
	pthread_mutex_unlock(&s->lock);
}

static void on_full(void *ctx, const struct fair_request *q)
{
	refuse(ctx, q);
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
	conclude(s, s->store, q, ret, &s->reply, SEND_TRIES);
}

/* Serves what was taken, up to the first answer that cost much. */
static void serve_batch(struct sa_server *s, struct snap_reader *r)
{
	uint64_t started = now_ns();
	bool dear = false;

	while (s->n_served < s->n_batch && !dear) {
		s->reply.len = 0;
		serve(s, r, s->n_served);
		uint64_t ended = now_ns();
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
		take(s);
		struct snap_reader *r = snap_pin(s->reader) == E_OK ? s->reader : NULL;
		keep_house(s, r);
		s->limits.act_count = (uint32_t)s->act_count;
		serve_batch(s, r);
		slow_tables_run(s->tables);
		show_counts(s);
	}
	return NULL;
}

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
		store_limit(s->store, s->limits.records_of_a_port);
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

/* Queues one; what has to give way is for the caller to refuse. Under the lock. */
static bool push_one(struct sa_server *s, const struct mad_msg *m,
                     struct fair_request *ret_victim)
{
	switch (fair_queue_push(s->queue, m, ret_victim)) {
	case FAIR_TAKEN: return true;
	case FAIR_EVICTED: return false;
	case FAIR_REFUSED: break;
	}
	size_t room = sizeof(ret_victim->mad);
	ret_victim->addr = m->addr;
	ret_victim->len = (uint32_t)(m->len < room ? m->len : room);
	memcpy(ret_victim->mad, m->data, ret_victim->len);
	return false;
}

/* The lock is not held while somebody is refused: that sends. */
void sa_server_push_all(struct sa_server *s, const struct mad_msg *m, unsigned n)
{
	struct fair_request victim;

	count(&s->requests, n);
	if (s->standby) { /* the master answers */
		count(&s->dropped_standby, n);
		for (unsigned i = 0; i < n; i++) {
			tell_dropped(&m[i].addr);
		}
		return;
	}
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < n; i++) {
		if (!push_one(s, &m[i], &victim)) {
			pthread_mutex_unlock(&s->lock);
			refuse(s, &victim);
			pthread_mutex_lock(&s->lock);
		}
	}
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
}

void sa_server_push(struct sa_server *s, const struct mad_msg *m)
{
	sa_server_push_all(s, m, 1);
}

void sa_server_standby(struct sa_server *s, bool on)
{
	s->standby = on;
}

void sa_server_trap(struct sa_server *s, const uint8_t notice[64])
{
	pthread_mutex_lock(&s->lock);
	if (s->news->n_traps < EVENTS) {
		memcpy(s->news->trap[s->news->n_traps++], notice, SMP_DATA_BYTES);
	} else {
		count(&s->reports_dropped, 1);
	}
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
}

void sa_server_swept(struct sa_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->news->swept = true;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
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

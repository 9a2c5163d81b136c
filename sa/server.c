/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * The SA answer thread. The fabric thread pushes copies of requests into a queue that is
 * fair to requesters (fair_queue.h); this thread takes them out in batches, pins the
 * snapshot once per batch (so each answer is from exactly one epoch), answers and sends.
 * When the queue is full the one who pushes answers BUSY, to the new request or to one
 * that gives way to it, so that no client waits for nothing. An idle thread lets its
 * epoch go.
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
#include "sa/answer.h"
#include "sa/fair_queue.h"
#include "sa/transport.h"
#include "sa/wire.h"

enum {
	QUEUE = 8192,
	BATCH = 64,
	KEEP_REPLY_BYTES = 1 << 20, /* the memory of a larger table is given back */
	SEND_TRIES = 200, /* a full transport is asked again after a millisecond */
	LARGE_LINES = 5,  /* log lines about refused tables */
	LARGE_LINES_MS = 60000
};

static const char *const source = "sa";

struct sa_server {
	struct transport *transport;
	struct snap_reader *reader;
	struct sa_limits limits;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	/* under the lock */
	struct fair_queue *queue;
	struct sa_reply busy; /* of those who push */
	struct fair_request victim;
	/* the thread's own */
	struct fair_request *batch;
	struct sa_reply reply;
	struct log_limit large_lines;
	atomic_bool stop;
	/* counters */
	atomic_uint_fast64_t requests, answered, dropped_malformed, dropped_key,
		dropped_overload, dropped_standby, refused_large, no_records, records;
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

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
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
		            "LID %u asks for %s of more than %zu bytes "
		            "(sa_max_response): refused; GET /v1/records/%s streams it%s",
		            q->addr.lid, reply->large, s->limits.max_response,
		            reply->large,
		            skipped ? " (more such requests not shown)" : "");
	}
}

/* Answers one request with reader \a r (NULL: BUSY) into \a reply and sends it. */
static void serve(struct sa_server *s, struct snap_reader *r,
                  const struct fair_request *q, struct sa_reply *reply, unsigned tries)
{
	int ret = sa_answer(r, &s->limits, q->mad, q->len, q->addr.lid, reply);

	if (ret == E_OK && reply->large != NULL) {
		tell_large(s, q, reply);
	}
	if (ret == E_OK) {
		ret = send_reply(s, &q->addr, reply, tries);
	}
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

static void give_back(struct sa_reply *reply)
{
	if (reply->cap > KEEP_REPLY_BYTES) {
		sa_reply_done(reply);
	}
}

/* Waits for requests and copies a batch out. Returns how many; 0: stop. */
static unsigned take(struct sa_server *s)
{
	unsigned n = 0;

	pthread_mutex_lock(&s->lock);
	if (fair_queue_length(s->queue) == 0) {
		snap_unpin(s->reader);
	}
	while (fair_queue_length(s->queue) == 0 && !s->stop) {
		pthread_cond_wait(&s->more, &s->lock);
	}
	while (!s->stop && n < BATCH && fair_queue_pop(s->queue, &s->batch[n])) {
		n++;
	}
	pthread_mutex_unlock(&s->lock);
	return n;
}

static void charge(struct sa_server *s, const struct fair_request *q, size_t bytes)
{
	pthread_mutex_lock(&s->lock);
	fair_queue_charge(s->queue, q->line, bytes);
	pthread_mutex_unlock(&s->lock);
}

static void *run(void *arg)
{
	struct sa_server *s = arg;
	unsigned n;

	while ((n = take(s)) != 0) {
		struct snap_reader *r = snap_pin(s->reader) == E_OK ? s->reader : NULL;
		for (unsigned i = 0; i < n; i++) {
			serve(s, r, &s->batch[i], &s->reply, SEND_TRIES);
			if (s->reply.len > MAD_BYTES) {
				charge(s, &s->batch[i], s->reply.len);
			}
			give_back(&s->reply);
		}
	}
	return NULL;
}

static void free_parts(struct sa_server *s)
{
	snap_reader_close(s->reader);
	sa_reply_done(&s->reply);
	sa_reply_done(&s->busy);
	fair_queue_free(s->queue);
	free(s->batch);
	free(s);
}

static int start(struct sa_server *s)
{
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	return -pthread_create(&s->thread, NULL, run, s);
}

int sa_server_new(struct transport *t, struct snap_writer *w, const struct sa_limits *l,
                  struct sa_server **ret)
{
	struct sa_server *s = calloc(1, sizeof(*s));
	if (s == NULL) {
		return -ENOMEM;
	}
	s->transport = t;
	s->limits = *l;
	if (s->limits.max_response == 0) {
		s->limits.max_response = SA_RESPONSE_BYTES;
	}
	s->batch = calloc(BATCH, sizeof(*s->batch));
	int err = s->batch ? fair_queue_new(QUEUE, &s->queue) : -ENOMEM;
	if (err == E_OK) {
		err = snap_reader_local(w, &s->reader);
	}
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
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
	free_parts(s);
}

/* BUSY to a request that finds no room, or has to make some. */
static void refuse(struct sa_server *s, const struct fair_request *q)
{
	count(&s->dropped_overload, 1);
	serve(s, NULL, q, &s->busy, 1);
}

void sa_server_push(struct sa_server *s, const struct mad_msg *m)
{
	struct fair_request q = { .addr = m->addr };

	count(&s->requests, 1);
	pthread_mutex_lock(&s->lock);
	switch (fair_queue_push(s->queue, m, &s->victim)) {
	case FAIR_TAKEN: pthread_cond_signal(&s->more); break;
	case FAIR_EVICTED: refuse(s, &s->victim); break;
	case FAIR_REFUSED:
		q.len = (uint32_t)(m->len < MAD_BYTES ? m->len : MAD_BYTES);
		memcpy(q.mad, m->data, q.len);
		refuse(s, &q);
		break;
	}
	pthread_mutex_unlock(&s->lock);
}

void sa_server_standby(struct sa_server *s)
{
	count(&s->requests, 1);
	count(&s->dropped_standby, 1);
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
	};
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Where requests come in: from the fabric (on the transport's receive thread, or on the
 * fabric thread where the transport has none) and over TCP. A request is read here, once.
 * It goes with its attribute into a queue that is fair to requesters, for the answer
 * thread. Any other MAD than a request is dropped.
 *
 * Inline answer: while the answer thread sleeps and no request waits, the receiving thread
 * answers short requests itself. Meanwhile it holds the mutex `answering`, and with it
 * everything that belongs to the answer thread (reader, store, replies), so one thread at
 * a time answers. This stays fair because few requests are answered like that: the device
 * was found empty not long before (struct transport_receiver), and they are in front of
 * the first request that may take longer. All replies of a batch are made before the first
 * is sent, because a system call evicts our data from the processor's caches.
 *
 * Measured against the queue alone, with the client of make bench-sockets (sa_load) in pairs on 2 loaded processors
 * (medians of ratios): with one query at a time (row "quiet") the client waits 0.7 times as
 * long, and the daemon spends 0.43 times the processor time. With 64 queries on the way the
 * processor time is 0.84 times that of the queue, at the same rate within the noise.
 * See doc/decisions/0010.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "sa/record/record.h"
#include "sa/server/server_int.h"

enum {
	INLINE_STEPS = 1,  /* places to look at: a short request has one */
	INLINE_LMC_MAX = 2 /* beyond, two ports have many paths */
};

/* A request that was read. */
struct arrival {
	const struct mad_msg *msg;
	struct sa_request request;
};

/* \return How many it answered, from the first on. */
static unsigned answer_inline(struct sa_server *s, const struct arrival *a, unsigned n)
{
	unsigned made = 0, sent = 0;

	if (snap_pin(s->reader) == E_OK && snap_meta(s->reader)->lmc <= INLINE_LMC_MAX) {
		/* what the answers read lies far apart in memory */
		for (unsigned step = 0; n > 1 && step < SA_PREFETCH_STEPS; step++) {
			for (unsigned i = 0; i < n; i++) {
				a[i].request.attr->prefetch(
					s->reader, a[i].request.attr,
					a[i].msg->data + SA_HDR_BYTES,
					a[i].request.comp_mask, step);
			}
		}
		for (; made < n; made++) {
			struct inline_answer *o = &s->inline_answer[made];
			const struct mad_msg *m = a[made].msg;

			o->ret = sa_work_begin(s->work, s->reader, s->store, &s->limits,
			                       &a[made].request, m, &o->reply);
			if (o->ret == -EINPROGRESS) {
				o->ret = sa_work_continue(s->work, s->reader,
				                          INLINE_STEPS, &o->reply);
			}
			if (o->ret == -EINPROGRESS ||
			    (o->ret == E_OK && o->reply.too_large != NULL)) {
				break;
			}
		}
	}
	snap_unpin(s->reader);
	for (; sent < made; sent++) {
		const struct inline_answer *o = &s->inline_answer[sent];

		if (server_reply(s, &a[sent].msg->addr, o->ret, &o->reply, 1) == -EAGAIN) {
			break; /* the transport is full */
		}
	}
	return sent;
}

/* Queues copies. A request for which there is no room, or that another one displaced, is
 * refused; that sends, so the lock is not held meanwhile. */
static void enqueue(struct sa_server *s, const struct arrival *a, unsigned n)
{
	struct fair_request victim;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < n; i++) {
		enum fair_outcome o =
			fair_queue_push(s->queue, a[i].msg, &a[i].request, &victim);
		if (o == FAIR_TAKEN) {
			continue;
		}
		pthread_mutex_unlock(&s->lock);
		if (o == FAIR_EVICTED) {
			server_refuse(s, &victim.addr, victim.mad);
		} else {
			server_refuse(s, &a[i].msg->addr, a[i].msg->data);
		}
		pthread_mutex_lock(&s->lock);
	}
	server_wake(s);
	pthread_mutex_unlock(&s->lock);
}

void sa_server_receive(void *server, const struct mad_msg *m, unsigned n, bool pressed)
{
	struct sa_server *s = server;
	struct arrival a[INLINE_MAX];

	s->requests += n;
	while (n > 0) {
		unsigned admitted = 0, shorts = 0, answered = 0;

		for (; n > 0 && admitted < INLINE_MAX; m++, n--) {
			struct sa_request *q = &a[admitted].request;
			if (s->standby) {
				s->dropped_standby++; /* the master answers */
				server_drop(&m->addr);
				continue;
			}
			int ret = sa_request_read(m, &s->limits, q);
			if (ret == E_MALFORMED && reports_is_response(m->data, m->len)) {
				*q = (struct sa_request){ .is_report_resp = true };
				ret = E_OK;
			}
			if (ret == E_OK) {
				a[admitted++].msg = m;
			} else {
				(void)server_reply(s, &m->addr, ret, NULL, 1);
			}
		}
		while (!pressed && shorts < admitted && a[shorts].request.is_short) {
			shorts++;
		}
		if (shorts > 0 && pthread_mutex_trylock(&s->answering) == 0) {
			if (!s->work_waits && !s->reload) {
				answered = answer_inline(s, a, shorts);
			}
			pthread_mutex_unlock(&s->answering);
		}
		if (answered < admitted) {
			enqueue(s, a + answered, admitted - answered);
		}
		pressed = true; /* what comes behind waits its turn */
	}
}

void sa_server_resume(struct sa_server *s, const struct mad_msg *m)
{
	struct arrival a = { .msg = m };

	if (sa_request_read(m, &s->limits, &a.request) == E_OK) {
		a.request.tables_read = true;
		enqueue(s, &a, 1);
	}
}

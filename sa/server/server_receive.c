/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Where requests come in: from the fabric (the transport's receive thread, or the fabric
 * thread where the transport has none) and over TCP. A request is read once, here: what
 * is no request is dropped, what is one goes with its attribute into a queue that is fair
 * to requesters, for the answer thread.
 *
 * Inline answer: while the answer thread sleeps and nobody waits, the receiving thread
 * answers short requests itself. It holds the mutex `answering` meanwhile, and with it
 * everything that belongs to the answer thread (reader, store, replies), so one thread at
 * a time answers. This stays fair because few requests are answered like that: the device
 * was found empty not long before (struct transport_receiver), and they are in front of the
 * first request that may take longer. All replies of a batch are made before the first is
 * sent, because the system call leaves little of our data in the processor's caches.
 *
 * Measured against the queue alone, in pairs, make bench-sockets on two processors: one
 * query on the way at a time is answered in 30 instead of 40 us and costs the daemon 9
 * instead of 20 us of processor time; with 64 on the way a query costs 4.1 instead of
 * 5.0 us, at the same rate. See doc/decisions/0010.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/reader.h"
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

/* A request that names a component of each of these sets looks at two ports alone. */
static bool is_short(const struct arrival *a)
{
	const struct sa_attr *attr = a->request.attr;

	return attr != NULL && (a->request.comp_mask & attr->inline_answer[0]) != 0 &&
	       (a->request.comp_mask & attr->inline_answer[1]) != 0 &&
	       a->msg->len == SA_MAD_BYTES;
}

/* Answers the first ones. \return How many; the others are for the queue. */
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

/* Queues copies. What finds no room, or has to make some, is refused; the lock is not
 * held then, because that sends. */
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

/* Reads the requests. \return How many are to be answered; others are dropped. */
static unsigned admit(struct sa_server *s, const struct mad_msg *m, unsigned n,
                      struct arrival *ret)
{
	unsigned admitted = 0;

	s->requests += n;
	for (unsigned i = 0; i < n; i++) {
		struct arrival *a = &ret[admitted];

		if (s->standby) {
			s->dropped_standby++; /* the master answers */
			server_drop(&m[i].addr);
			continue;
		}
		int err = sa_request_read(&m[i], &s->limits, &a->request);
		if (err == E_MALFORMED && reports_is_response(m[i].data, m[i].len)) {
			a->request = (struct sa_request){ .attr = NULL };
			err = E_OK;
		}
		if (err != E_OK) {
			(void)server_reply(s, &m[i].addr, err, NULL, 1);
			continue;
		}
		a->msg = &m[i];
		admitted++;
	}
	return admitted;
}

void sa_server_receive(struct sa_server *s, const struct mad_msg *m, unsigned n,
                       bool pressed)
{
	struct arrival a[INLINE_MAX];
	unsigned batch;

	for (; n > 0; m += batch, n -= batch) {
		batch = n < INLINE_MAX ? n : INLINE_MAX;
		unsigned admitted = admit(s, m, batch, a), shorts = 0, answered = 0;

		while (!pressed && shorts < admitted && is_short(&a[shorts])) {
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

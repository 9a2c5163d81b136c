/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/server/bulk_request.h"

#include <errno.h>
#include <stdlib.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "sa/server/answer.h"
#include "sa/server/fair_queue.h"

enum {
	SLICE_NS = 100000,  /* a short request waits for one; halved, tables cost 2 % more */
	SLICE_STEPS = 4, /* between two looks at the clock; then twice as many each time */
	SLOTS = 4, /* answers that are made at the same time: each takes memory */
	WAITING = 1024
};

struct slot {
	struct fair_request *request; /* NULL: free */
	struct fair_queue *from;
	struct sa_work *work;
	struct sa_reply reply;
	struct snap_reader *reader;
	uint64_t ns; /* spent so far */
};

struct bulk_requests {
	struct slot slot[SLOTS];
	unsigned n, next; /* slots in use; the slot that runs next */
	struct fair_queue *waiting;
	struct sa_store *store;
	const struct sa_limits *limits;
	struct bulk_requests_user user;
};

static int create_slots(struct bulk_requests *t, const struct snap_reader *r)
{
	int ret = fair_queue_new(WAITING, &t->waiting);

	for (unsigned i = 0; ret == E_OK && i < SLOTS; i++) {
		ret = sa_work_new(&t->slot[i].work);
		if (ret == E_OK) {
			ret = snap_reader_clone(r, &t->slot[i].reader);
		}
	}
	return ret;
}

int bulk_requests_new(const struct snap_reader *r, struct sa_store *st,
                      const struct sa_limits *l, const struct bulk_requests_user *user,
                      struct bulk_requests **ret_requests)
{
	struct bulk_requests *t = calloc(1, sizeof(*t));

	if (t == NULL) {
		return -ENOMEM;
	}
	t->store = st;
	t->limits = l;
	t->user = *user;
	int ret = create_slots(t, r);
	if (ret != E_OK) {
		bulk_requests_free(t);
		return ret;
	}
	*ret_requests = t;
	return E_OK;
}

void bulk_requests_free(struct bulk_requests *t)
{
	if (t == NULL) {
		return;
	}
	for (unsigned i = 0; i < SLOTS; i++) {
		sa_work_free(t->slot[i].work);
		sa_reply_done(&t->slot[i].reply);
		snap_reader_close(t->slot[i].reader);
	}
	fair_queue_free(t->waiting);
	free(t);
}

int bulk_slice(struct sa_work *w, struct snap_reader *r, struct sa_reply *reply)
{
	size_t steps = SLICE_STEPS;
	int ret = sa_work_continue(w, r, steps, reply);

	if (ret != -EINPROGRESS) {
		return ret; /* as nearly all: without a look at the clock */
	}
	uint64_t end = monotonic_ns() + SLICE_NS;
	do {
		steps *= 2;
		ret = sa_work_continue(w, r, steps, reply);
	} while (ret == -EINPROGRESS && monotonic_ns() < end);
	return ret;
}

static struct slot *free_slot(struct bulk_requests *t)
{
	unsigned i = 0;

	while (i < SLOTS && t->slot[i].request != NULL) {
		i++;
	}
	return i < SLOTS ? &t->slot[i] : NULL;
}

static void use_slot(struct bulk_requests *t, struct slot *p, struct fair_queue *from,
                   struct fair_request *q)
{
	p->request = q;
	p->from = from;
	p->ns = 0;
	t->n++;
}

/* All slots are in use. */
static void queue_request(struct bulk_requests *t, const struct fair_request *q)
{
	struct fair_request copy = *q, victim;
	struct mad_msg m = { .addr = q->addr, .len = q->len, .data = copy.mad };

	switch (fair_queue_push(t->waiting, &m, &q->request, &victim)) {
	case FAIR_TAKEN: break;
	case FAIR_EVICTED: t->user.refuse(t->user.ctx, &victim); break;
	case FAIR_REFUSED: t->user.refuse(t->user.ctx, q); break;
	}
}

enum bulk_outcome bulk_requests_take(struct bulk_requests *t, const struct snap_reader *r,
                                   struct fair_queue *from, struct fair_request *q,
                                   struct sa_work **work, struct sa_reply *reply)
{
	struct slot *p = free_slot(t);

	if (p == NULL) {
		queue_request(t, q);
		return BULK_WAITS;
	}
	if (snap_pin(p->reader) != E_OK ||
	    snap_meta(p->reader)->txn != snap_meta(r)->txn) {
		snap_unpin(p->reader);
		return BULK_REFUSED;
	}
	struct sa_work *other_work = p->work;
	struct sa_reply other_reply = p->reply;
	p->work = *work;
	p->reply = *reply;
	*work = other_work;
	*reply = other_reply;
	reply->len = 0;
	use_slot(t, p, from, q);
	return BULK_KEPT;
}

static void finish(struct bulk_requests *t, struct slot *p, int ret)
{
	t->user.done(t->user.ctx, p->from, p->request, ret, &p->reply, p->ns);
	p->request = NULL;
	t->n--;
	snap_unpin(p->reader);
	sa_reply_done(&p->reply);
}

/* Fills free slots from the queue. */
static void start_queued(struct bulk_requests *t)
{
	struct slot *p;
	struct fair_request *q;

	while ((p = free_slot(t)) != NULL && (q = fair_queue_pop(t->waiting)) != NULL) {
		struct snap_reader *r = snap_pin(p->reader) == E_OK ? p->reader : NULL;
		use_slot(t, p, t->waiting, q);
		const struct mad_msg m = { .addr = q->addr, .len = q->len, .data = q->mad };
		int ret = sa_work_begin(p->work, r, t->store, t->limits, &q->request, &m,
		                        &p->reply);
		if (ret != -EINPROGRESS) {
			finish(t, p, ret);
		}
	}
}

bool bulk_requests_busy(const struct bulk_requests *t)
{
	return t->n > 0 || fair_queue_length(t->waiting) > 0;
}

void bulk_requests_run(struct bulk_requests *t)
{
	if (!bulk_requests_busy(t)) {
		return;
	}
	start_queued(t);
	for (unsigned i = 0; i < SLOTS; i++) {
		struct slot *p = &t->slot[t->next++ % SLOTS];
		if (p->request == NULL) {
			continue;
		}
		uint64_t started = monotonic_ns();
		int ret = bulk_slice(p->work, p->reader, &p->reply);
		p->ns += monotonic_ns() - started;
		if (ret != -EINPROGRESS) {
			finish(t, p, ret);
		}
		return;
	}
}

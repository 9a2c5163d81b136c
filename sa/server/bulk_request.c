/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/server/bulk_request.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "conf/base/err.h"
#include "db/reader.h"
#include "sa/server/answer.h"
#include "sa/server/fair_queue.h"

enum {
	SLICE_NS = 250000,
	SLICE_STEPS = 4, /* of its first part; each further one has twice as many */
	PLACES = 4,      /* tables that are made at the same time: each takes memory */
	WAITING = 1024
};

struct place {
	struct fair_request *request; /* NULL: free */
	struct fair_queue *from;
	struct sa_work *work;
	struct sa_reply reply;
	struct snap_reader *reader;
	uint64_t ns; /* that it took so far */
};

struct bulk_requests {
	struct place place[PLACES];
	unsigned n, turn; /* places taken; the next one's turn */
	struct fair_queue *waiting;
	struct sa_store *store;
	const struct sa_limits *limits;
	struct bulk_requests_user user;
};

static int make_places(struct bulk_requests *t, const struct snap_reader *r)
{
	int err = fair_queue_new(WAITING, &t->waiting);

	for (unsigned i = 0; err == E_OK && i < PLACES; i++) {
		err = sa_work_new(&t->place[i].work);
		if (err == E_OK) {
			err = snap_reader_clone(r, &t->place[i].reader);
		}
	}
	return err;
}

int bulk_requests_new(const struct snap_reader *r, struct sa_store *st,
                    const struct sa_limits *l, const struct bulk_requests_user *user,
                    struct bulk_requests **ret)
{
	struct bulk_requests *t = calloc(1, sizeof(*t));

	if (t == NULL) {
		return -ENOMEM;
	}
	t->store = st;
	t->limits = l;
	t->user = *user;
	int err = make_places(t, r);
	if (err != E_OK) {
		bulk_requests_free(t);
		return err;
	}
	*ret = t;
	return E_OK;
}

void bulk_requests_free(struct bulk_requests *t)
{
	if (t == NULL) {
		return;
	}
	for (unsigned i = 0; i < PLACES; i++) {
		sa_work_free(t->place[i].work);
		sa_reply_done(&t->place[i].reply);
		snap_reader_close(t->place[i].reader);
	}
	fair_queue_free(t->waiting);
	free(t);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int bulk_slice(struct sa_work *w, struct snap_reader *r, struct sa_reply *reply)
{
	size_t steps = SLICE_STEPS;
	int ret = sa_work_continue(w, r, steps, reply);

	if (ret != -EINPROGRESS) {
		return ret; /* as nearly all: without a look at the clock */
	}
	uint64_t end = now_ns() + SLICE_NS;
	do {
		steps *= 2;
		ret = sa_work_continue(w, r, steps, reply);
	} while (ret == -EINPROGRESS && now_ns() < end);
	return ret;
}

static struct place *free_place(struct bulk_requests *t)
{
	unsigned i = 0;

	while (i < PLACES && t->place[i].request != NULL) {
		i++;
	}
	return i < PLACES ? &t->place[i] : NULL;
}

static void occupy(struct bulk_requests *t, struct place *p, struct fair_queue *from,
                   struct fair_request *q)
{
	p->request = q;
	p->from = from;
	p->ns = 0;
	t->n++;
}

/* All places are taken. */
static void let_wait(struct bulk_requests *t, const struct fair_request *q)
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
	struct place *p = free_place(t);

	if (p == NULL) {
		let_wait(t, q);
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
	occupy(t, p, from, q);
	return BULK_KEPT;
}

static void finish(struct bulk_requests *t, struct place *p, int ret)
{
	t->user.done(t->user.ctx, p->from, p->request, ret, &p->reply, p->ns);
	p->request = NULL;
	t->n--;
	snap_unpin(p->reader);
	sa_reply_done(&p->reply);
}

/* Fills free places from those who wait. */
static void begin_waiting(struct bulk_requests *t)
{
	struct place *p;
	struct fair_request *q;

	while ((p = free_place(t)) != NULL && (q = fair_queue_pop(t->waiting)) != NULL) {
		struct snap_reader *r = snap_pin(p->reader) == E_OK ? p->reader : NULL;
		occupy(t, p, t->waiting, q);
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
	begin_waiting(t);
	for (unsigned i = 0; i < PLACES; i++) {
		struct place *p = &t->place[t->turn++ % PLACES];
		if (p->request == NULL) {
			continue;
		}
		uint64_t started = now_ns();
		int ret = bulk_slice(p->work, p->reader, &p->reply);
		p->ns += now_ns() - started;
		if (ret != -EINPROGRESS) {
			finish(t, p, ret);
		}
		return;
	}
}

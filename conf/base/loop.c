/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/loop.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"

enum { READY = 64 /* descriptors that one turn serves; the others are ready in the next one */ };

struct loop {
	struct loop_options o;
	int epoll, wake;
	atomic_bool stop;
	bool has_thread;
	pthread_t thread;
	struct loop_watch *timed; /* those with a deadline, in any order: they are few */
	struct epoll_event ready[READY];
	int n_ready, at_ready; /* of this turn; the one whose call is being made */
};

int loop_new(const struct loop_options *o, struct loop **ret_loop)
{
	struct loop *l = calloc(1, sizeof(*l));
	struct epoll_event e = { .events = EPOLLIN };
	int ret = E_OK;

	if (l == NULL) {
		return -ENOMEM;
	}
	l->o = *o;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->epoll < 0 || l->wake < 0 ||
	    epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->wake, &e) != 0) {
		ret = -errno;
		loop_free(l);
		return ret;
	}
	*ret_loop = l;
	return E_OK;
}

void loop_free(struct loop *l)
{
	if (l == NULL) {
		return;
	}
	if (l->wake >= 0) {
		close(l->wake);
	}
	if (l->epoll >= 0) {
		close(l->epoll);
	}
	free(l);
}

/* --- watches ------------------------------------------------------------------------------ */

static uint32_t epoll_events(unsigned events)
{
	return ((events & LOOP_READ) != 0 ? EPOLLIN : 0U) |
	       ((events & LOOP_WRITE) != 0 ? EPOLLOUT : 0U);
}

int loop_add(struct loop *l, struct loop_watch *w, int fd, unsigned events)
{
	struct epoll_event e = { .events = epoll_events(events), .data.ptr = w };

	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) != 0) {
		return -errno;
	}
	w->loop = l;
	w->fd = fd;
	w->events = events;
	w->deadline_ms = 0;
	w->next = w->prev = NULL;
	return E_OK;
}

void loop_events(struct loop_watch *w, unsigned events)
{
	struct epoll_event e = { .events = epoll_events(events), .data.ptr = w };

	if (w->loop != NULL && w->events != events &&
	    epoll_ctl(w->loop->epoll, EPOLL_CTL_MOD, w->fd, &e) == 0) {
		w->events = events;
	}
}

void loop_deadline(struct loop_watch *w, uint64_t at_ms)
{
	struct loop *l = w->loop;

	if (l == NULL) {
		return;
	}
	if (w->deadline_ms == 0 && at_ms != 0) {
		w->prev = NULL;
		w->next = l->timed;
		if (l->timed != NULL) {
			l->timed->prev = w;
		}
		l->timed = w;
	} else if (w->deadline_ms != 0 && at_ms == 0) {
		*(w->prev != NULL ? &w->prev->next : &l->timed) = w->next;
		if (w->next != NULL) {
			w->next->prev = w->prev;
		}
	}
	w->deadline_ms = at_ms;
}

void loop_remove(struct loop_watch *w)
{
	struct loop *l = w->loop;

	if (l == NULL) {
		return;
	}
	loop_deadline(w, 0);
	(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	for (int i = l->at_ready; i < l->n_ready; i++) {
		if (l->ready[i].data.ptr == w) {
			l->ready[i].data.ptr = NULL;
		}
	}
	w->loop = NULL;
}

/* --- turns -------------------------------------------------------------------------------- */

static unsigned events_of(uint32_t e)
{
	return ((e & EPOLLIN) != 0 ? LOOP_READ : 0U) |
	       ((e & EPOLLOUT) != 0 ? LOOP_WRITE : 0U) |
	       ((e & (EPOLLHUP | EPOLLERR)) != 0 ? LOOP_HANGUP : 0U);
}

static void serve_ready(struct loop *l)
{
	for (l->at_ready = 0; l->at_ready < l->n_ready;) {
		const struct epoll_event *e = &l->ready[l->at_ready++];
		struct loop_watch *w = e->data.ptr;

		if (w != NULL) {
			w->ready(w, events_of(e->events));
		}
	}
	l->n_ready = 0;
}

/* A call may change or remove any of the watches, so the search begins anew after each. */
static void serve_deadlines(struct loop *l, uint64_t now)
{
	struct loop_watch *w = l->timed;

	while (w != NULL) {
		if (w->deadline_ms > now) {
			w = w->next;
			continue;
		}
		loop_deadline(w, 0);
		w->ready(w, LOOP_TIME);
		w = l->timed;
	}
}

static int wait_ms(const struct loop *l, uint64_t until)
{
	uint64_t now = monotonic_ms();

	for (const struct loop_watch *w = l->timed; w != NULL; w = w->next) {
		until = w->deadline_ms < until ? w->deadline_ms : until;
	}
	if (until == UINT64_MAX) {
		return -1;
	}
	return until <= now ? 0 : until - now < INT_MAX ? (int)(until - now) : INT_MAX;
}

int loop_run(struct loop *l)
{
	uint64_t count;

	while (!l->stop) {
		uint64_t until = l->o.turn != NULL ? l->o.turn(l->o.ctx) : UINT64_MAX;
		int n = l->stop ? 0
		                : epoll_wait(l->epoll, l->ready, READY, wait_ms(l, until));

		if (n < 0 && errno != EINTR) {
			return -errno;
		}
		l->n_ready = n > 0 ? n : 0;
		for (int i = 0; i < l->n_ready; i++) {
			if (l->ready[i].data.ptr == NULL) {
				ssize_t got = read(l->wake, &count, sizeof(count));
				(void)got;
			}
		}
		serve_ready(l);
		serve_deadlines(l, monotonic_ms());
	}
	return E_OK;
}

static void *run_thread(void *arg)
{
	(void)loop_run(arg);
	return NULL;
}

int loop_start(struct loop *l)
{
	sigset_t all, old;
	int ret;

	/* signals are for the thread that waits for them */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	ret = -pthread_create(&l->thread, NULL, run_thread, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	l->has_thread = ret == E_OK;
	return ret;
}

void loop_wake(struct loop *l)
{
	uint64_t one = 1;
	ssize_t n = write(l->wake, &one, sizeof(one));

	(void)n; /* a full counter is readable, too */
}

void loop_stop(struct loop *l)
{
	if (l == NULL) {
		return;
	}
	l->stop = true;
	loop_wake(l);
	if (l->has_thread && !pthread_equal(l->thread, pthread_self())) {
		pthread_join(l->thread, NULL);
		l->has_thread = false;
	}
}

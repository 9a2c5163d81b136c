/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/mad/wakeup.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/err.h"

int waker_init(struct waker *w)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0) {
		return -errno;
	}
	w->fd = fd;
	atomic_init(&w->woken, false);
	atomic_init(&w->armed, false);
	return E_OK;
}

void waker_done(struct waker *w)
{
	if (w->fd > 0) {
		close(w->fd);
	}
	w->fd = 0;
}

static void kick(struct waker *w)
{
	uint64_t one = 1;
	int saved = errno; /* a signal handler may run this */
	ssize_t n = write(w->fd, &one, sizeof(one));
	(void)n; /* EAGAIN: the counter is full, so the descriptor is readable anyway */
	errno = saved;
}

void waker_wake(struct waker *w)
{
	if (!atomic_exchange(&w->woken,
	                     true)) { /* else somebody has, and it is not yet taken */
		kick(w);
	}
}

bool waker_taken(struct waker *w)
{
	return atomic_load_explicit(&w->woken, memory_order_relaxed) &&
	       atomic_exchange(&w->woken, false);
}

void waker_notify(struct waker *w)
{
	if (atomic_exchange(&w->armed, false)) {
		kick(w);
	}
}

void waker_arm(struct waker *w)
{
	atomic_store(&w->armed, true);
}

void waker_sleep(struct waker *w, uint64_t deadline_us)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	struct timespec left, *timeout = NULL;
	uint64_t count;

	if (deadline_us != UINT64_MAX) {
		uint64_t now = waker_now_us();
		uint64_t us = deadline_us > now ? deadline_us - now : 0;
		left.tv_sec = (time_t)(us / 1000000);
		left.tv_nsec = (long)(us % 1000000) * 1000;
		timeout = &left;
	}
	/* ppoll: a preload library of a simulator that replaces poll() does not see it.
	 */
	if (!atomic_load(&w->woken) && ppoll(&p, 1, timeout, NULL) > 0) {
		ssize_t n = read(w->fd, &count, sizeof(count));
		(void)n; /* the count says nothing: the taker looks into its queue */
	}
	atomic_store(&w->armed, false);
}

uint64_t waker_now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

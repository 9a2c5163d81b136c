/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/mad/wakeup.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "conf/base/clock.h"
#include "conf/base/err.h"

int wakeup_init(struct wakeup *w)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0) {
		return -errno;
	}
	w->fd = fd;
	atomic_init(&w->interrupted, false);
	atomic_init(&w->armed, false);
	return E_OK;
}

void wakeup_done(struct wakeup *w)
{
	if (w->fd > 0) {
		close(w->fd);
	}
	w->fd = 0;
}

static void write_event(struct wakeup *w)
{
	uint64_t one = 1;
	int saved = errno; /* a signal handler may run this */
	ssize_t n = write(w->fd, &one, sizeof(one));
	(void)n; /* EAGAIN: the counter is full, so the descriptor is readable anyway */
	errno = saved;
}

void wakeup_interrupt(struct wakeup *w)
{
	if (!atomic_exchange(&w->interrupted,
	                     true)) { /* else the event is still pending */
		write_event(w);
	}
}

bool wakeup_take_interrupt(struct wakeup *w)
{
	return atomic_load_explicit(&w->interrupted, memory_order_relaxed) &&
	       atomic_exchange(&w->interrupted, false);
}

void wakeup_notify(struct wakeup *w)
{
	if (atomic_exchange(&w->armed, false)) {
		write_event(w);
	}
}

void wakeup_arm(struct wakeup *w)
{
	atomic_store(&w->armed, true);
}

void wakeup_sleep(struct wakeup *w, uint64_t deadline_us)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	struct timespec left, *timeout = NULL;
	uint64_t count;

	if (deadline_us != UINT64_MAX) {
		uint64_t now = wakeup_now_us();
		uint64_t us = deadline_us > now ? deadline_us - now : 0;
		left.tv_sec = (time_t)(us / 1000000);
		left.tv_nsec = (long)(us % 1000000) * 1000;
		timeout = &left;
	}
	/* ppoll, because the preload library of a simulator may replace poll() */
	if (!atomic_load(&w->interrupted) && ppoll(&p, 1, timeout, NULL) > 0) {
		ssize_t n = read(w->fd, &count, sizeof(count));
		(void)n; /* the count is not used: the consumer looks into its queue */
	}
	atomic_store(&w->armed, false);
}

uint64_t wakeup_now_us(void)
{
	return monotonic_ns() / 1000;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*!
 * Waker: how the one thread that takes from a locked queue sleeps, and how others end
 * that sleep. An event descriptor, because its write() may be called from a signal
 * handler, which no condition variable allows.
 *
 *   taker:   lock; take or waker_arm(); unlock; waker_sleep(); again
 *   putter:  lock; put; unlock; waker_notify()
 *   anyone:  waker_wake(), and the taker sees waker_taken() once
 */
struct waker {
	int fd;
	atomic_bool woken; /*!< waker_wake() was called and not yet taken */
	atomic_bool armed; /*!< the taker sleeps or is about to */
};

/*! \retval E_OK \retval -errno */
int waker_init(struct waker *w);
void waker_done(struct waker *w);

/*! \brief Asks the taker to look up from its queue. Any thread; async-signal-safe. */
void waker_wake(struct waker *w);

/*! \brief Was waker_wake() called since the last time? Clears it. */
bool waker_taken(struct waker *w);

/*! \brief Something was put into the queue: costs a system call only when the taker
 * sleeps. */
void waker_notify(struct waker *w);

/*! \brief To be called under the queue's lock, after it was found empty. */
void waker_arm(struct waker *w);

/*! \brief Sleeps until notified, woken, or \a deadline_us of waker_now_us() (UINT64_MAX:
 * for ever). */
void waker_sleep(struct waker *w, uint64_t deadline_us);

/*! \brief CLOCK_MONOTONIC in microseconds. */
uint64_t waker_now_us(void);

/*! \brief Deadline in milliseconds as microseconds, UINT64_MAX stays. */
static inline uint64_t waker_deadline_us(uint64_t deadline_ms)
{
	return deadline_ms > UINT64_MAX / 1000 ? UINT64_MAX : deadline_ms * 1000;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*!
 * Wake-up of the one thread that takes from a locked queue. It uses an event descriptor,
 * because a signal handler may call write(), but may not use a condition variable.
 *
 *   consumer:    lock; take, or wakeup_arm() if empty; unlock; wakeup_sleep(); repeat
 *   producer:    lock; put; unlock; wakeup_notify()
 *   any thread:  wakeup_interrupt(), and the consumer sees wakeup_take_interrupt() once
 */
struct wakeup {
	int fd;
	atomic_bool interrupted; /*!< wakeup_interrupt() was called and not yet taken */
	atomic_bool armed; /*!< the consumer sleeps or is about to */
};

/*! \retval E_OK \retval -errno */
int wakeup_init(struct wakeup *w);
void wakeup_done(struct wakeup *w);

/*! \brief Interrupts the sleep of the consumer. Any thread; async-signal-safe. */
void wakeup_interrupt(struct wakeup *w);

/*! \brief Whether wakeup_interrupt() was called since the last time. Clears it. */
bool wakeup_take_interrupt(struct wakeup *w);

/*! \brief To be called after a put. Makes a system call only if the consumer sleeps. */
void wakeup_notify(struct wakeup *w);

/*! \brief To be called with the queue's lock held, if the queue is empty. */
void wakeup_arm(struct wakeup *w);

/*! \brief Sleeps until a notification, an interrupt, or \a deadline_us of wakeup_now_us();
 * UINT64_MAX: no deadline. */
void wakeup_sleep(struct wakeup *w, uint64_t deadline_us);

/*! \brief CLOCK_MONOTONIC in microseconds. */
uint64_t wakeup_now_us(void);

/*! \brief Converts a deadline from milliseconds to microseconds; UINT64_MAX stays. */
static inline uint64_t wakeup_deadline_us(uint64_t deadline_ms)
{
	return deadline_ms > UINT64_MAX / 1000 ? UINT64_MAX : deadline_ms * 1000;
}

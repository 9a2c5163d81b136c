/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

/*!
 * The event loop: one thread waits for descriptors, deadlines and wake-ups of other threads. It is below
 * every socket that is not libmicrohttpd's.
 *
 *   turn:  wait -> ready() of each watch that is ready, or whose deadline is over -> turn() -> wait
 *
 * A watch is a member of what it serves, such as a connection. All functions but loop_wake() and loop_stop() are
 * of the thread that runs the loop, or are called before it starts. A watch may be changed and
 * removed in any call that the loop makes, also that of another watch.
 */
struct loop;

enum loop_event {
	LOOP_READ = 1,
	LOOP_WRITE = 2,
	LOOP_HANGUP = 4, /*!< the connection is gone in both directions; comes without being asked for */
	LOOP_TIME = 8    /*!< the deadline is over; it is unset before the call */
};

/*! A descriptor that is watched. Zeroed it is none. */
struct loop_watch {
	struct loop *loop; /*!< NULL: not watched */
	int fd;
	void (*ready)(struct loop_watch *w, unsigned events); /*!< enum loop_event */
	unsigned events;                                      /*!< that are waited for */
	uint64_t deadline_ms;                                 /*!< 0: none */
	struct loop_watch *next, *prev; /* those with a deadline */
};

struct loop_options {
	/*!
	 * Called before each wait. \return When to end it at the latest, in monotonic_ms();
	 * UINT64_MAX: any time. NULL: there is nothing to do.
	 */
	uint64_t (*turn)(void *ctx);
	void *ctx;
};

/*! \retval -errno \retval -ENOMEM */
int loop_new(const struct loop_options *o, struct loop **ret_loop);

/*! \brief Runs it on a thread of its own until loop_stop(). \retval -errno */
int loop_start(struct loop *l);

/*! \brief Runs it on this thread until loop_stop(). \retval E_OK \retval -errno */
int loop_run(struct loop *l);

/*! \brief Ends the present wait, and so makes turn() run. Any thread; async-signal-safe. */
void loop_wake(struct loop *l);

/*! \brief Ends the loop, and waits for its own thread if it has one. Any other thread; of the thread that
 *  runs it, it ends after this turn. More than once is fine, as is NULL. */
void loop_stop(struct loop *l);

/*! \brief After loop_stop(). No watch is left. NULL is fine. */
void loop_free(struct loop *l);

/*!
 * \brief Watches a descriptor. \a w has its function; the loop has it until loop_remove().
 * \param events  LOOP_READ, LOOP_WRITE, both or 0.
 * \retval -errno
 */
int loop_add(struct loop *l, struct loop_watch *w, int fd, unsigned events);

/*! \brief Waits for other events. Costs a system call if they differ. */
void loop_events(struct loop_watch *w, unsigned events);

/*! \brief Sets its deadline in monotonic_ms(). \param at_ms  In the future; 0: it has none. */
void loop_deadline(struct loop_watch *w, uint64_t at_ms);

/*! \brief Watches it no more; the descriptor is still the caller's. Not watched is fine. */
void loop_remove(struct loop_watch *w);

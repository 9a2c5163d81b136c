/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fair_queue;
struct fair_request;
struct sa_limits;
struct sa_reply;
struct sa_store;
struct sa_work;
struct snap_reader;

/*!
 * Tables that take long to make: made in slices between the answers to others, a few in
 * turn, each with a pin of its own on the epoch it began with. More of them wait in a
 * queue that is fair to requesters, and begin anew when a place is free. Of the thread
 * that answers.
 */
struct bulk_requests;

/*! What the server does for them. */
struct bulk_requests_user {
	/*! The reply to \a q is made, or ret of sa_work_begin() says why there is none; \a from is
	 *  whose \a q is (to be released there), \a ns what it took. Reply borrowed for the call. */
	void (*done)(void *ctx, struct fair_queue *from, struct fair_request *q, int ret,
	             struct sa_reply *reply, uint64_t ns);
	/*! No room to wait: BUSY. Borrowed for the call. */
	void (*refuse)(void *ctx, const struct fair_request *q);
	void *ctx;
};

/*! \param r  Reader to clone. \param st  As for sa_serve(), borrowed, as is \a l. \retval -ENOMEM */
int bulk_requests_new(const struct snap_reader *r, struct sa_store *st, const struct sa_limits *l,
                    const struct bulk_requests_user *user, struct bulk_requests **ret);
void bulk_requests_free(struct bulk_requests *t);

/*! \brief Makes one slice of an answer, about a quarter of a millisecond. \retval E_OK \retval -EINPROGRESS */
int bulk_slice(struct sa_work *w, struct snap_reader *r, struct sa_reply *reply);

enum bulk_outcome {
	BULK_KEPT,   /*!< it is going on, the request is kept: done() comes */
	BULK_WAITS,  /*!< a copy of the request waits */
	BULK_REFUSED /*!< its epoch can not be pinned any more: go on with bulk_slice() */
};

/*!
 * \brief Takes over an answer that was begun.
 * \param work,reply  BULK_KEPT: exchanged for others, to go on with.
 */
enum bulk_outcome bulk_requests_take(struct bulk_requests *t, const struct snap_reader *r,
                                   struct fair_queue *from, struct fair_request *q,
                                   struct sa_work **work, struct sa_reply *reply);

/*! \brief Is there anything to run? */
bool bulk_requests_busy(const struct bulk_requests *t);
/*! \brief Makes one slice of one table. */
void bulk_requests_run(struct bulk_requests *t);

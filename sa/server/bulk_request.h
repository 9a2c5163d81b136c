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
 * Bulk requests: requests whose answer takes long to make. They are answered in slices
 * between the answers to other requests, a few of them in rotation, each with a pin of its
 * own on the epoch that it began with. More of them wait in a queue that is fair to
 * requesters. Of the answer thread.
 */
struct bulk_requests;

/*! Operations that the server provides to them. */
struct bulk_requests_user {
	/*! The reply to \a q is made, or ret of sa_work_begin() says why there is none; \a from is
	 *  whose \a q is (to be released there), \a ns what it took. Reply borrowed for the call. */
	void (*done)(void *ctx, struct fair_queue *from, struct fair_request *q, int ret,
	             struct sa_reply *reply, uint64_t ns);
	/*! There is no room to wait: answer BUSY. Borrowed for the call. */
	void (*refuse)(void *ctx, const struct fair_request *q);
	void *ctx;
};

/*! \param r  Reader to clone. \param st  As for sa_serve(), borrowed, as is \a l. \retval -ENOMEM */
int bulk_requests_new(const struct snap_reader *r, struct sa_store *st,
                      const struct sa_limits *l, const struct bulk_requests_user *user,
                      struct bulk_requests **ret_requests);
void bulk_requests_free(struct bulk_requests *t);

/*! \brief Makes one slice of an answer, about a tenth of a millisecond. \retval E_OK \retval -EINPROGRESS */
int bulk_slice(struct sa_work *w, struct snap_reader *r, struct sa_reply *reply);

enum bulk_outcome {
	BULK_KEPT,   /*!< the request is kept; done() will be called */
	BULK_WAITS,  /*!< a copy of the request waits */
	BULK_REFUSED /*!< its epoch cannot be pinned any more: go on with bulk_slice() */
};

/*!
 * \brief Takes over an answer that was begun.
 * \param work,reply  After BULK_KEPT others, for the next request.
 */
enum bulk_outcome bulk_requests_take(struct bulk_requests *t, const struct snap_reader *r,
                                   struct fair_queue *from, struct fair_request *q,
                                   struct sa_work **work, struct sa_reply *reply);

/*! \brief Is there a bulk request? */
bool bulk_requests_busy(const struct bulk_requests *t);
/*! \brief Makes one slice of one answer. */
void bulk_requests_run(struct bulk_requests *t);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdint.h>

#include "sa/mad/transport.h"
#include "sa/mad/wire.h"
#include "sa/server/answer.h"

/*!
 * Requests of many requesters, served in rotation, so that a flood from one does not delay
 * the others.
 *
 * Requesters are distinguished by LID, hashed to 1,024 lines. Lines that have requests are
 * served round robin; a line whose answers were large skips as many rounds as they were
 * longer than the bytes of one round. The room is shared. When it is used up, a new request
 * displaces the oldest request of the longest line, or is refused itself if its own line is
 * the longest; the caller answers BUSY to the one without room. Not thread safe. Memory is
 * allocated once.
 *
 * Source: M. Shreedhar and G. Varghese, Efficient Fair Queuing Using Deficit Round Robin
 * (1996); P. McKenney, Stochastic Fairness Queueing (1990).
 */
struct fair_request {
	struct mad_addr addr;
	uint32_t len;
	uint16_t line;          /*!< set by the queue, for fair_queue_charge() */
	struct sa_request request; /*!< what was read of it */
	uint8_t mad[SA_REQUEST_BYTES]; /*!< no request that is served needs more */
};

enum fair_outcome { FAIR_TAKEN, FAIR_REFUSED, FAIR_EVICTED };

struct fair_queue;

/*! \param capacity  Most requests that wait or are taken. \retval -ENOMEM */
int fair_queue_new(unsigned capacity, struct fair_queue **ret_queue);
void fair_queue_free(struct fair_queue *q);

/*!
 * \brief Adds a copy of a request.
 * \param ret_victim  Filled with the request that was displaced (FAIR_EVICTED), or not touched.
 * \return FAIR_REFUSED: not added.
 * Cost: O(1), with the room used up O(lines that have requests).
 */
enum fair_outcome fair_queue_push(struct fair_queue *q, const struct mad_msg *m,
                                  const struct sa_request *request,
                                  struct fair_request *ret_victim);

/*!
 * \brief Takes the next request. \return NULL: none waits.
 *
 * It keeps its room until fair_queue_release() (it is served) or fair_queue_return() (it
 * waits again, before all others of its line). Several are to be returned in reverse order.
 */
struct fair_request *fair_queue_pop(struct fair_queue *q);
void fair_queue_release(struct fair_queue *q, struct fair_request *r);
void fair_queue_return(struct fair_queue *q, struct fair_request *r);

/*! \brief What the answer to a request of this line cost, in bytes. */
void fair_queue_charge(struct fair_queue *q, uint16_t line, size_t bytes);

unsigned fair_queue_length(const struct fair_queue *q);

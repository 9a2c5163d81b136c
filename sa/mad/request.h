/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "sa/mad/transport.h"

/*!
 * Requests in flight, and the answers that belong to them: one engine under all that asks
 * agents (SMPs, port counters, reports to subscribers). What to ask next, of whom, and how often
 * is for its client to decide. One thread; the client says what time it is.
 *
 *     r = request_begin(rs, ...);       takes a slot and encodes the MAD header
 *     encode(r->mad); r->addr = ...;
 *     request_send(rs, r, now_ms);      or requests_run() sends it
 *
 * requests_receive() and requests_run() call answered() or unanswered() for it later. These end
 * it by request_end(), or send it again by request_send(). A request that the transport refuses
 * with -EAGAIN waits for the next requests_run(), and that was no try.
 *
 * Any host can send an answer at any time. An answer counts only if it has the transaction ID of
 * a request in flight, repeats its class, method, attribute and modifier, and comes from where
 * it went. The kernel hands a request back that got no answer, with its header only.
 *
 * A host sees the transaction IDs of the requests that it gets itself. It must not learn from
 * them which IDs others get. So the number of a request (a generation of its slot, and the slot)
 * becomes the low half of the ID by a permutation of the 32-bit numbers that depends on a secret
 * of the transport: a Feistel network, whose round function is SipHash-2-4. IDs do not repeat
 * before the numbers do, so a late answer is told from one to a request that nobody sent. A
 * number out of the air counts as late once in 4,096 times.
 *
 * Source: J.-P. Aumasson and D. J. Bernstein, SipHash: a fast short-input PRF (2012);
 * NIST SP 800-38G for permutations of small sets by Feistel networks.
 */
struct requests;

/*! What a requester makes of a MAD. */
enum mad_kind {
	MAD_OTHER,  /*!< none of its answers */
	MAD_ANSWER, /*!< an answer; or its own request, which got none */
	MAD_LATE,   /*!< to a request that is over, or cut short; ignored */
	MAD_FORGED  /*!< answers what it did not ask, or comes from elsewhere; ignored */
};

/*! Owned by the engine. The client writes the first members before it sends the request for the
 *  first time or again; until then they are as the slot's last request left them, at first 0. */
struct mad_request {
	void *job;     /*!< what the client sends it for */
	uint32_t part; /*!< of the job, as the client likes */
	uint8_t lmc;   /*!< of the LID it goes to: any LID of that port may answer */
	struct mad_addr addr; /*!< directed: the answer's LID is not compared */
	size_t len; /*!< bytes of \a mad to send: all, if the client does not say */
	size_t least; /*!< bytes of the shortest answer: answer_bytes, if the client does not say */
	/* the engine's: */
	unsigned tries; /*!< how often it was sent */
	enum { REQUEST_FREE, REQUEST_WAITS, REQUEST_FLIES, REQUEST_STATE_COUNT } state;
	uint32_t slot, generation, begun; /*!< begun: generation of its first try */
	uint64_t deadline;                /*!< ms */
	TAILQ_ENTRY(mad_request) entry;
	uint8_t mad[]; /*!< header, and zeros for the client to fill in */
};

/*! The client's part. Each function may begin, send and end requests. */
struct request_client {
	uint8_t mgmt_class;    /*!< requests of two classes have different IDs */
	uint8_t slot_bits;     /*!< 1 << slot_bits requests at most, up to 16 */
	uint16_t mad_bytes;    /*!< of the longest MAD that is sent */
	uint16_t answer_bytes; /*!< of the shortest answer */
	/*! All tries of a request have one ID, so that the receiver knows them as one. The
	 *  kernel refuses a try while it waits for the answer to the one before, for 2 s. Else
	 *  each try has its own ID, and an answer to any of them counts. */
	bool keeps_id;
	/*! Does what else has to agree, such as a directed route? NULL: there is nothing else. */
	bool (*is_answer)(void *ctx, const struct mad_request *r,
	                  const struct mad_msg *m);
	void (*answered)(void *ctx, struct mad_request *r, const struct mad_msg *m);
	void (*unanswered)(void *ctx, struct mad_request *r); /*!< its last try */
};

/*! \param t,client  Borrowed. \retval -ENOMEM */
int requests_new(struct transport *t, const struct request_client *client, void *ctx,
                 struct requests **ret_requests);
void requests_free(struct requests *rs); /*!< NULL is fine; calls nothing of the client */

/*! \brief From the next request on: at most \a window that wait or are in flight. */
void requests_set_limits(struct requests *rs, unsigned window, unsigned timeout_ms);

/*! \brief Is there room in the window? request_begin() does not ask. */
bool requests_have_room(const struct requests *rs);

/*!
 * \brief Prepares a request. BaseVersion is Omni-Path's where ClassVersion (\a version) is.
 * \return NULL: all slots are taken, or no memory.
 */
struct mad_request *request_begin(struct requests *rs, uint8_t mgmt_class,
                                  uint8_t version, uint8_t method, uint16_t attr,
                                  uint32_t mod);

/*!
 * \brief Sends a request, for the first time or again.
 * \retval -EAGAIN  requests_run() sends it, unless the client ends it.
 * \retval -errno   The transport's. The try is in flight all the same, as one that gets lost.
 * Cost: about 0.1 us, and what the transport needs.
 */
int request_send(struct requests *rs, struct mad_request *r, uint64_t now_ms);

/*! \brief Ends a request. Its members stay until the next request_begin(). */
void request_end(struct requests *rs, struct mad_request *r);

/*! \brief The request that was sent first, or one that waits. \return NULL: there is none. */
struct mad_request *requests_first(const struct requests *rs);

/*! \brief Takes a MAD of the client's classes. Cost: O(1), as request_send(). */
enum mad_kind requests_receive(struct requests *rs, const struct mad_msg *m);

/*! \brief Calls unanswered() where time is over, the oldest first, and sends what waits. */
void requests_run(struct requests *rs, uint64_t now_ms);

/*! \brief When requests_run() has something to do, ms; UINT64_MAX: never. */
uint64_t requests_deadline(const struct requests *rs, uint64_t now_ms);

/*! \brief SipHash-2-4 of 8 bytes, the first of which is the lowest of \a message. */
uint64_t request_siphash(const uint64_t key[2], uint64_t message);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "sa/mad/transport.h"

/*!
 * Requests and the answers that belong to them.
 *
 * Any host can send an answer at any time. An answer counts only if it has the transaction ID of
 * a request that waits, repeats what that request asked, and comes from where it went.
 *
 * A host sees the transaction IDs of the requests that it gets itself. It must not learn from
 * them which IDs others get. So a requester numbers its requests, and the ID is this number
 * behind a permutation of the 32-bit numbers that depends on a secret of the transport: a
 * Feistel network, whose round function is SipHash-2-4. IDs do not repeat before the numbers do,
 * so a late answer is told from one to a request that nobody sent.
 *
 * Source: J.-P. Aumasson and D. J. Bernstein, SipHash: a fast short-input PRF (2012);
 * NIST SP 800-38G for permutations of small sets by Feistel networks.
 */
struct transaction_key {
	uint64_t secret[2];
	uint8_t mgmt_class; /*!< requests of two classes have different IDs */
};

void transaction_key_init(struct transaction_key *ret, const struct transport *t,
                          uint8_t mgmt_class);

/*! \brief The low half of the transaction ID of a request. Cost: about 0.1 us. */
uint32_t transaction_id(const struct transaction_key *k, uint32_t number);

/*! \brief The number of the request with this ID. Cost: as transaction_id(). */
uint32_t transaction_number(const struct transaction_key *k, uint32_t tid);

/*! Requests of the same slot, counted in its generations, among which an answer may be late. A
 *  number out of the air is among them once in 4,096 times. */
enum { TRANSACTION_LATE_MAX = 4096 };

/*! \brief SipHash-2-4 of 8 bytes, the first of which is the lowest of \a message. */
uint64_t transaction_siphash(const uint64_t key[2], uint64_t message);

/*! What a requester makes of a MAD. */
enum mad_kind {
	MAD_OTHER,  /*!< none of its answers */
	MAD_ANSWER, /*!< an answer, perhaps late; or its own request, which got none */
	MAD_FORGED  /*!< answers what it did not ask, or comes from elsewhere; ignored */
};

/*! What an answer has to repeat, and where it has to come from. */
struct asked {
	uint8_t mgmt_class;
	uint8_t method; /*!< of the answer */
	uint16_t attr;
	uint32_t mod;
	uint32_t lid; /*!< where the request went; 0: over a directed route */
	uint8_t lmc;  /*!< any LID of that port may answer */
};

/*! \brief Does a MAD agree with this? Neither its transaction ID nor a directed route is
 *  compared. */
bool transaction_is_answer(const struct asked *a, const struct mad_msg *m);

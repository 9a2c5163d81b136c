/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/base/hash.h"
#include "conf/base/log.h"

struct lids;

/*!
 * Accounts of those who send traps and answers to the subnet manager. What one port sends may
 * fill neither the log nor the events, so that what another one says is still seen. Therefore
 * lines and rows are limited for each sender, and not only for all together.
 *
 * A port is known by its base LID. All senders whose LID no port has share one account, as do
 * those whose MADs came over a directed route, which names no LID.
 */
enum {
	SENDER_PAIRS_MAX = 64, /*!< violators and keys that one sender may name ... */
	SENDER_RENEWED_MS = 86400000, /*!< ... in a day */
	SENDER_ROWS = 16,             /*!< of events about these ... */
	SENDER_ROWS_MS = 3600000      /*!< ... in an hour */
};

struct sender {
	uint32_t lid;      /*!< base LID; 0: the account of all others */
	uint32_t n_forged; /*!< MADs that were not believed */
	uint32_t n_pairs; /*!< violators and keys that it named; see p_keys_violation() */
	uint32_t renewed; /*!< in which n_pairs began at 0 */
	struct log_limit trap_lines, forged_lines, rows;
};

/*! Zeroed: there are none. */
struct senders {
	struct hash_table by_lid;
	struct sender **at; /*!< [n] malloc, each of them, too */
	size_t cap;
	uint32_t n;
	struct sender others;
};

/*!
 * \brief The account of a sender. Valid until senders_done().
 * \param l  LIDs of the fabric as known; NULL: nothing is known yet.
 */
struct sender *senders_get(struct senders *s, const struct lids *l, uint32_t lid);

/*! \brief Counts a MAD that is not believed. \return true: it is the 10th, 100th, 1,000th ... one. */
bool senders_forged(struct sender *s);

/*! \brief Is it 1, 10, 100 ...? What repeats is told then. */
bool senders_milestone(uint32_t n);

void senders_done(struct senders *s);

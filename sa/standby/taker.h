/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sa/standby/frame.h"

struct state;

/*!
 * Takes a master's frames and makes them the own state. Rows wait in memory until their copy or
 * transaction is complete. They are then stored in one transaction, so a torn one is never on
 * disk.
 */
struct taker {
	struct state *state;                /*!< borrowed */
	uint64_t guid, prefix;              /*!< of the master */
	uint64_t sequence;                  /*!< of the last transaction that is stored */
	bool complete;                      /*!< the whole copy is stored */
	uint64_t copied_rows, copied_bytes; /*!< of the last whole copy */
	uint8_t *bytes;                     /*!< rows that wait */
	size_t n, cap, rows;
	size_t whole_bytes, whole_rows; /*!< of them, those of whole transactions */
	uint64_t whole_sequence;        /*!< number of the last whole transaction */
	bool whole_copy; /*!< all rows of the copy are there, but it is not stored */
};

/*! Rows of one copy or transaction that may wait. */
#define TAKER_BYTES_MAX (UINT64_C(1) << 30)

/*! \brief Begins with a new master, or the same one again. */
void taker_begin(struct taker *t, struct state *state, const struct frame_hello *master);
void taker_done(struct taker *t);

/*!
 * \brief Takes a frame. Whole transactions wait for taker_store(), so that a standby that is
 *        behind stores many at once.
 * \param now_s    Seconds since 1970.
 * \param ret_ack  It is to be acknowledged with t->sequence.
 * \retval E_MALFORMED  It is not allowed here, or a row of it.
 * \retval E_FULL       The disk is full. \retval -ENOMEM  Also if more waits than TAKER_BYTES_MAX.
 * \retval others       It cannot be stored.
 * Cost: COPY_END and PING return when all is on disk.
 */
int taker_frame(struct taker *t, const struct frame *f, uint64_t now_s, bool *ret_ack);

/*!
 * \brief Stores the copy or the whole transactions that could not be stored before; rows of
 *        others wait for ever, because the link is closed.
 * \retval E_OK  Also if nothing of that kind waits.
 */
int taker_retry(struct taker *t, uint64_t now_s);

/*! \brief Stores the whole transactions that wait. \param ret_ack  Some were stored. */
int taker_store(struct taker *t, uint64_t now_s, bool *ret_ack);

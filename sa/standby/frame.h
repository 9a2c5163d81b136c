/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/state/state.h"

/*!
 * Bytes on the link between a master and its standby.
 *
 * A frame is a head of 8 bytes (u32 length of the payload, u8 type, 3 bytes zero) and its
 * payload. Numbers are big-endian. A row is
 *
 *   u8 table, u8 what (enum row_what), u16 length of the key, u32 length of the value, key,
 *   value
 *
 *   standby                       master
 *   HELLO  ------------------------>
 *          <------------------------  HELLO
 *   ROWS ... ---------------------->                  only if it was master (sa/standby/join.h)
 *   JOIN_END ---------------------->                  how many rows
 *          <------------------------  ROWS ...      all rows
 *          <------------------------  COPY_END      number of the last transaction in it
 *   ACK    ------------------------>
 *          <------------------------  ROWS ...      changes of one transaction
 *          <------------------------  CHANGES_END   its number, one above the last
 *   ACK    ------------------------>
 *          <------------------------  PING          the last number
 *   ACK    ------------------------>
 *
 * An SM that is no master answers HELLO by one that says so, and closes.
 */
enum frame_type {
	FRAME_HELLO = 1,
	FRAME_ROWS,
	FRAME_COPY_END,
	FRAME_CHANGES_END,
	FRAME_PING,
	FRAME_ACK,
	FRAME_JOIN_END
};

enum {
	FRAME_HEAD_BYTES = 8,
	FRAME_PAYLOAD_MAX = 128 << 10,
	FRAME_ROW_HEAD_BYTES = 8,
	FRAME_HELLO_BYTES = 32,
	FRAME_NUMBER_BYTES = 8
};

struct frame {
	enum frame_type type;
	const uint8_t *payload; /*!< borrowed */
	size_t len;             /*!< of the payload */
	size_t bytes;           /*!< of the whole frame */
};

/*! \brief The first frame of a stream. \retval -EAGAIN  It has not come whole. \retval E_MALFORMED */
int frame_read(const uint8_t *data, size_t len, struct frame *ret_frame);

void frame_head(uint8_t head[FRAME_HEAD_BYTES], enum frame_type type, size_t len);

/*! \brief A frame that carries a number: COPY_END, CHANGES_END, PING, ACK, JOIN_END. */
void frame_number(uint8_t bytes[FRAME_HEAD_BYTES + FRAME_NUMBER_BYTES],
                  enum frame_type type, uint64_t number);
/*! \retval E_MALFORMED */
int frame_read_number(const struct frame *f, uint64_t *ret_number);

/*! Who speaks. */
struct frame_hello {
	uint64_t guid, prefix; /*!< port GUID of the SM, subnet prefix */
	bool master;
	bool joins; /*!< of a standby: rows of it follow; of a master: it takes such */
};

void frame_hello(uint8_t bytes[FRAME_HEAD_BYTES + FRAME_HELLO_BYTES],
                 const struct frame_hello *h);
/*!
 * \retval E_MALFORMED
 * \retval E_LAYOUT   The peer's rows have other layouts: another version of Saguaro.
 * \retval E_FOREIGN  The peer's machine has another byte order.
 */
int frame_read_hello(const struct frame *f, struct frame_hello *ret_hello);

/*! \brief Bytes of a row in a frame. */
size_t frame_row_bytes(const struct state_write *w);
void frame_put_row(uint8_t *to, const struct state_write *w);
/*!
 * \brief The row at \a *at, which moves behind it. Its bytes are borrowed.
 * \retval E_NOTFOUND  There is none any more.
 * \retval E_MALFORMED  Also when the state or the readers of its rows could not take it.
 */
int frame_read_row(const uint8_t **at, const uint8_t *end, struct state_write *ret_write);

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*!
 * Frames of out-of-band requests, as `opasaquery -b` speaks them over TCP (seen on the
 * wire; the trailing bytes are its own):
 *
 *   4  magic 0x31e0cc01
 *   4  bytes of the frame, these 8 included
 *   4  header version 0x80
 *   4  bytes of the MAD
 *   8  zero
 *   n  the MAD: MAD, RMPP and SA header, data; an answer is whole, without segments
 *   m  whatever else the frame has room for
 *
 * All numbers big-endian.
 */
enum {
	OOB_HEAD_BYTES = 24,  /*!< in front of the MAD */
	OOB_FRAME_MAX = 4096, /*!< longer requests are refused; the largest record asks with 600 */
	OOB_PORT = 3245       /*!< where clients look */
};

struct oob_frame {
	const uint8_t *mad; /*!< inside the data given */
	size_t mad_len;
	size_t bytes;       /*!< where the next frame begins */
};

/*!
 * \brief First frame of a stream.
 * \retval E_OK \retval -EAGAIN  The rest has not come yet. \retval E_MALFORMED  No frame.
 */
int oob_frame_read(const uint8_t *data, size_t len, struct oob_frame *ret_frame);

/*! \brief Head of a frame with a MAD of \a mad_len bytes, at most UINT32_MAX - OOB_HEAD_BYTES. */
void oob_frame_head(size_t mad_len, uint8_t ret_head[OOB_HEAD_BYTES]);

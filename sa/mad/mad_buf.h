/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sa/mad/transport.h"

/*!
 * Received MADs of a transport: a pool of buffers, so that a sweep allocates nothing per
 * MAD, and FIFO lists of buffers. Not thread-safe: the transport holds its lock.
 */
struct mad_buf {
	struct mad_buf *next;
	struct mad_addr addr;
	int status; /*!< as in struct mad_msg */
	uint32_t agent; /*!< the receiver, where several share a queue */
	size_t len;
	size_t cap;
	uint8_t *data; /*!< mad, or a larger block of cap bytes */
	uint8_t mad[MAD_BYTES];
};

struct mad_pool {
	struct mad_buf *free;
	void **chunks; /*!< [n_chunks] allocations of several buffers */
	size_t n_chunks, cap_chunks;
};

struct mad_list {
	struct mad_buf *first, *last;
	size_t n;
};

/*! \brief Gets a buffer with a copy of \a len bytes. \return NULL: out of memory. */
struct mad_buf *mad_pool_get(struct mad_pool *p, const uint8_t *data, size_t len);
void mad_pool_put(struct mad_pool *p, struct mad_buf *m); /*!< NULL is fine */
/*! \brief Frees all buffers, also those still in use. A zeroed pool is fine. */
void mad_pool_done(struct mad_pool *p);

void mad_list_push(struct mad_list *l, struct mad_buf *m);
struct mad_buf *mad_list_pop(struct mad_list *l); /*!< NULL: empty */

/*! \brief The message that recv returns; it borrows the buffer's data. */
struct mad_msg mad_buf_msg(const struct mad_buf *m);

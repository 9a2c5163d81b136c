/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/standby/taker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/vector.h"

void taker_begin(struct taker *t, struct state *state, const struct frame_hello *master)
{
	taker_done(t);
	*t = (struct taker){ .state = state,
		             .guid = master->guid,
		             .prefix = master->prefix };
}

void taker_done(struct taker *t)
{
	free(t->bytes);
	*t = (struct taker){ 0 };
}

/* Keeps rows, each of which was read once and is good. */
static int keep_rows(struct taker *t, const struct frame *f)
{
	const uint8_t *at = f->payload, *end = at + f->len;
	struct state_write w;
	size_t rows = 0;
	int ret;

	while ((ret = frame_read_row(&at, end, &w)) == E_OK) {
		rows++;
	}
	if (ret != E_NOTFOUND || rows == 0) {
		return E_MALFORMED;
	}
	if (t->n + f->len > TAKER_BYTES_MAX) {
		return -ENOMEM;
	}
	if (VECTOR_RESERVE(t->bytes, t->cap, t->n + f->len) != E_OK) {
		return -ENOMEM;
	}
	memcpy(t->bytes + t->n, f->payload, f->len);
	t->n += f->len;
	t->rows += rows;
	return E_OK;
}

/* Stores the first rows that wait. */
static int store_rows(struct taker *t, size_t rows, size_t bytes, uint64_t sequence,
                      bool replace, uint64_t now_s)
{
	const struct state_copy_mark mark = { .guid = t->guid,
		                              .prefix = t->prefix,
		                              .sequence = sequence,
		                              .time_s = now_s,
		                              .complete = true };
	struct state_write *w = calloc(rows + 1, sizeof(*w));
	const uint8_t *at = t->bytes;
	int ret;

	if (w == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < rows; i++) {
		(void)frame_read_row(&at, t->bytes + bytes,
		                     &w[i]); /* it was good before */
	}
	ret = state_apply(t->state, w, rows, replace, &mark);
	free(w);
	if (ret != E_OK) {
		return ret;
	}
	t->complete = true;
	t->whole_copy = false;
	t->sequence = t->whole_sequence = sequence;
	t->n -= bytes;
	t->rows -= rows;
	t->whole_bytes = t->whole_rows = 0;
	if (t->n > 0) {
		memmove(t->bytes, t->bytes + bytes, t->n);
	} else if (t->cap > FRAME_PAYLOAD_MAX) {
		free(t->bytes);
		t->bytes = NULL;
		t->cap = 0;
	}
	return E_OK;
}

int taker_store(struct taker *t, uint64_t now_s, bool *ret_ack)
{
	bool any = t->whole_rows > 0;
	int ret = !any ? E_OK
	               : store_rows(t, t->whole_rows, t->whole_bytes, t->whole_sequence,
	                            false, now_s);

	if (ret == E_OK) {
		*ret_ack = any;
	}
	return ret;
}

static int end_copy(struct taker *t, uint64_t number, uint64_t now_s)
{
	if (t->complete) {
		return E_MALFORMED;
	}
	t->copied_rows = t->whole_rows = t->rows;
	t->copied_bytes = t->whole_bytes = t->n;
	t->whole_sequence = number;
	t->whole_copy = true;
	return store_rows(t, t->rows, t->n, number, true, now_s);
}

int taker_retry(struct taker *t, uint64_t now_s)
{
	bool ack;

	return t->complete     ? taker_store(t, now_s, &ack)
	       : t->whole_copy ? store_rows(t, t->whole_rows, t->whole_bytes,
	                                    t->whole_sequence, true, now_s)
	                       : E_OK;
}

static int end_changes(struct taker *t, uint64_t number)
{
	if (!t->complete || t->rows == t->whole_rows || number != t->whole_sequence + 1) {
		return E_MALFORMED;
	}
	t->whole_rows = t->rows;
	t->whole_bytes = t->n;
	t->whole_sequence = number;
	return E_OK;
}

int taker_frame(struct taker *t, const struct frame *f, uint64_t now_s, bool *ret_ack)
{
	uint64_t number;
	bool ack = false;
	int ret;

	if (f->type == FRAME_ROWS) {
		ret = keep_rows(t, f);
	} else if ((ret = frame_read_number(f, &number)) == E_OK) {
		switch (f->type) {
		case FRAME_COPY_END:
			ret = end_copy(t, number, now_s);
			ack = true;
			break;
		case FRAME_CHANGES_END: ret = end_changes(t, number); break;
		case FRAME_PING:
			if (t->complete &&
			    (t->rows != t->whole_rows || number != t->whole_sequence)) {
				ret = E_MALFORMED;
			} else {
				ret = taker_store(t, now_s, &ack);
				ack = t->complete;
			}
			break;
		case FRAME_HELLO:
		case FRAME_ROWS:
		case FRAME_ACK:
		case FRAME_JOIN_END: ret = E_MALFORMED; break;
		}
	}
	if (ret == E_OK) {
		*ret_ack = ack;
	}
	return ret;
}

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
		return E_FULL;
	}
	if (VECTOR_RESERVE(t->bytes, t->cap, t->n + f->len) != E_OK) {
		return -ENOMEM;
	}
	memcpy(t->bytes + t->n, f->payload, f->len);
	t->n += f->len;
	t->rows += rows;
	return E_OK;
}

static int store_rows(struct taker *t, uint64_t sequence, bool replace, uint64_t now_s)
{
	const struct state_copy_mark mark = { .guid = t->guid,
		                              .prefix = t->prefix,
		                              .sequence = sequence,
		                              .time_s = now_s,
		                              .complete = true };
	struct state_write *w = calloc(t->rows + 1, sizeof(*w));
	const uint8_t *at = t->bytes;
	int ret;

	if (w == NULL) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < t->rows; i++) {
		(void)frame_read_row(&at, t->bytes + t->n,
		                     &w[i]); /* it was good before */
	}
	ret = state_apply(t->state, w, t->rows, replace, &mark);
	free(w);
	if (ret != E_OK) {
		return ret;
	}
	if (replace) {
		t->copied_rows = t->rows;
		t->copied_bytes = t->n;
	}
	t->complete = true;
	t->sequence = sequence;
	t->n = t->rows = 0;
	if (t->cap > FRAME_PAYLOAD_MAX) {
		free(t->bytes);
		t->bytes = NULL;
		t->cap = 0;
	}
	return E_OK;
}

int taker_frame(struct taker *t, const struct frame *f, uint64_t now_s, bool *ret_ack)
{
	uint64_t number;
	int ret;

	if (f->type == FRAME_ROWS) {
		ret = keep_rows(t, f);
		if (ret == E_OK) {
			*ret_ack = false;
		}
		return ret;
	}
	ret = frame_read_number(f, &number);
	if (ret != E_OK) {
		return ret;
	}
	switch (f->type) {
	case FRAME_COPY_END:
		ret = t->complete ? E_MALFORMED : store_rows(t, number, true, now_s);
		break;
	case FRAME_CHANGES_END:
		ret = !t->complete || t->rows == 0 || number != t->sequence + 1
		              ? E_MALFORMED
		              : store_rows(t, number, false, now_s);
		break;
	case FRAME_PING:
		ret = t->complete && (t->rows != 0 || number != t->sequence) ? E_MALFORMED
		                                                             : E_OK;
		break;
	case FRAME_HELLO:
	case FRAME_ROWS:
	case FRAME_ACK: ret = E_MALFORMED; break;
	}
	if (ret == E_OK) {
		*ret_ack = t->complete;
	}
	return ret;
}

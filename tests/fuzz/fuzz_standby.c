/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * Bytes of the link between a master and its standby, behind TLS: frames are within what has
 * come, a row that is read is written as the same bytes, and a hello that is read is the one that
 * was sent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/standby/frame.h"
#include "tests/fuzz/fuzz.h"

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

static void read_rows(const struct frame *f)
{
	const uint8_t *at = f->payload, *end = at + f->len, *before = at;
	struct state_write w;
	int ret;

	while ((ret = frame_read_row(&at, end, &w)) == E_OK) {
		size_t n = frame_row_bytes(&w);
		uint8_t *again = malloc(n);

		require(again != NULL && at > before && at <= end &&
		        (size_t)(at - before) == n);
		require(w.table < COPIED_TABLES && w.key_len <= STATE_KEY_MAX &&
		        w.len <= STATE_VALUE_MAX);
		frame_put_row(again, &w);
		require(memcmp(again, before, n) == 0);
		free(again);
		before = at;
	}
	require(ret == E_NOTFOUND || ret == E_MALFORMED);
}

static void read_hello(const struct frame *f)
{
	uint8_t again[FRAME_HEAD_BYTES + FRAME_HELLO_BYTES];
	struct frame_hello h, back;
	struct frame g;
	int ret = frame_read_hello(f, &h);

	require(ret == E_OK || ret == E_MALFORMED || ret == E_LAYOUT || ret == E_FOREIGN);
	if (ret == E_OK) {
		frame_hello(again, &h);
		require(frame_read(again, sizeof(again), &g) == E_OK);
		require(frame_read_hello(&g, &back) == E_OK && back.guid == h.guid &&
		        back.prefix == h.prefix && back.master == h.master);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame f;
	uint64_t number;
	int ret;

	while ((ret = frame_read(data, size, &f)) == E_OK) {
		require(f.bytes == FRAME_HEAD_BYTES + f.len && f.bytes <= size &&
		        f.payload == data + FRAME_HEAD_BYTES);
		read_rows(&f);
		read_hello(&f);
		(void)frame_read_number(&f, &number);
		data += f.bytes;
		size -= f.bytes;
	}
	require(ret == -EAGAIN || ret == E_MALFORMED);
	return 0;
}

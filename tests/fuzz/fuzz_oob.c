/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * A stream of out-of-band frames: cut anywhere it says the same; a frame that is made is
 * read back; each MAD is answered or dropped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/server/answer.h"
#include "sa/server/oob_frame.h"
#include "tests/fuzz/fuzz.h"

static void require(int holds)
{
	if (!holds) {
		abort();
	}
}

/* Bytes that are not there yet never change what was said, and what was refused stays so.
 */
static void cut(const uint8_t *data, size_t size, int whole, const struct oob_frame *f)
{
	size_t most = whole == E_OK ? f->bytes : size < 64 ? size : 64;

	for (size_t n = 0; n < most; n++) {
		struct oob_frame part;
		uint8_t *exact = malloc(n + 1);
		require(exact != NULL);
		memcpy(exact, data, n);
		int ret = oob_frame_read(exact, n, &part);
		require(ret == -EAGAIN || (ret == E_MALFORMED && whole == E_MALFORMED));
		free(exact);
	}
}

static void answer(const struct oob_frame *f)
{
	const struct sa_limits limits = { .sa_key = 1 };
	struct sa_reply reply = { 0 };
	uint8_t head[OOB_FRAME_MAX + OOB_HEAD_BYTES];
	struct oob_frame back;

	int answered = sa_answer(NULL, &limits, f->mad, f->mad_len, 1, &reply);
	require(answered == E_OK || answered == E_MALFORMED || answered == -EPERM);
	if (answered == E_OK) {
		require(reply.len >= 56 && reply.len <= OOB_FRAME_MAX);
		oob_frame_head(reply.len, head);
		memcpy(head + OOB_HEAD_BYTES, reply.data, reply.len);
		require(oob_frame_read(head, OOB_HEAD_BYTES + reply.len, &back) == E_OK);
		require(back.mad_len == reply.len && back.mad == head + OOB_HEAD_BYTES);
	}
	sa_reply_done(&reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct oob_frame f;

	for (;;) {
		int ret = oob_frame_read(data, size, &f);
		cut(data, size, ret, &f);
		if (ret != E_OK) {
			require(ret == -EAGAIN || ret == E_MALFORMED);
			return 0;
		}
		require(f.bytes >= OOB_HEAD_BYTES && f.bytes <= size);
		require(f.mad + f.mad_len <= data + f.bytes);
		answer(&f);
		data += f.bytes;
		size -= f.bytes;
	}
}

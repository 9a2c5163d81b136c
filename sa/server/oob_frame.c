/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/server/oob_frame.h"

#include <errno.h>
#include <string.h>

#include "conf/base/err.h"
#include "sa/mad/fields.h"

#define OOB_MAGIC UINT32_C(0x31e0cc01)

/* clang-format off */
#define OOB_MAGIC_FIELD    0, 32
#define OOB_LENGTH        32, 32
#define OOB_VERSION       64, 32
#define OOB_MAD_LENGTH    96, 32
/* clang-format on */

enum { PREFIX_BYTES = 8, VERSION = 0x80 };

int oob_frame_read(const uint8_t *data, size_t len, struct oob_frame *ret_frame)
{
	if (len < PREFIX_BYTES) {
		return -EAGAIN;
	}
	size_t bytes = field_get(data, OOB_LENGTH);
	if (field_get(data, OOB_MAGIC_FIELD) != OOB_MAGIC || bytes < OOB_HEAD_BYTES ||
	    bytes > OOB_FRAME_MAX) {
		return E_MALFORMED;
	}
	if (len < bytes) {
		return -EAGAIN;
	}
	size_t mad_len = field_get(data, OOB_MAD_LENGTH);
	if (field_get(data, OOB_VERSION) != VERSION || mad_len > bytes - OOB_HEAD_BYTES) {
		return E_MALFORMED;
	}
	*ret_frame = (struct oob_frame){ .mad = data + OOB_HEAD_BYTES,
		                         .mad_len = mad_len,
		                         .bytes = bytes };
	return E_OK;
}

void oob_frame_head(size_t mad_len, uint8_t ret_head[OOB_HEAD_BYTES])
{
	memset(ret_head, 0, OOB_HEAD_BYTES);
	field_set(ret_head, OOB_MAGIC_FIELD, OOB_MAGIC);
	field_set(ret_head, OOB_LENGTH, OOB_HEAD_BYTES + mad_len);
	field_set(ret_head, OOB_VERSION, VERSION);
	field_set(ret_head, OOB_MAD_LENGTH, mad_len);
}

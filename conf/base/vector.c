/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/vector.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"

enum { FIRST_BYTES = 256 };

int vector_grow(void *items, size_t *cap, size_t want, size_t size)
{
	const size_t most = SIZE_MAX / 2 / size;
	size_t room = *cap < most / 2 ? 2 * *cap : most;
	void *data;

	if (want > most) {
		return -ENOMEM;
	}
	room = room > want ? room : want;
	room = room * size > FIRST_BYTES ? room : FIRST_BYTES / size + 1;
	/* Copied, because the pointer may be of any type. */
	memcpy(&data, items, sizeof(data));
	data = realloc(data, room * size);
	if (data == NULL) {
		return -ENOMEM;
	}
	memcpy(items, &data, sizeof(data));
	*cap = room;
	return E_OK;
}

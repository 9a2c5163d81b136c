/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "conf/base/vector.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"

enum { FIRST_BYTES = 256 };

/* \retval 0  More than there can be. */
static size_t next_room(size_t cap, size_t want, size_t size)
{
	const size_t most = SIZE_MAX / 2 / size;
	size_t room = cap < most / 2 ? 2 * cap : most;

	if (want > most) {
		return 0;
	}
	room = room > want ? room : want;
	return room * size > FIRST_BYTES ? room : FIRST_BYTES / size + 1;
}

int vector_grow(void *items, size_t *cap, size_t want, size_t size)
{
	size_t room = next_room(*cap, want, size);
	void *data;

	if (room == 0) {
		return -ENOMEM;
	}
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

int vector_grow_in(struct arena *a, void *items, size_t used, size_t *cap, size_t want,
                   size_t size)
{
	size_t room = next_room(*cap, want, size);
	void *old, *data = room != 0 ? arena_array(a, room, size) : NULL;

	if (data == NULL) {
		return -ENOMEM;
	}
	memcpy(&old, items, sizeof(old));
	if (used > 0) {
		memcpy(data, old, used * size);
	}
	memcpy(items, &data, sizeof(data));
	*cap = room;
	return E_OK;
}

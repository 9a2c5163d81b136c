/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "routing/graph/tables.h"

#include <errno.h>
#include <string.h>

#include "conf/base/arena.h"
#include "conf/base/err.h"

int lft_init(struct lft *t, uint32_t n_switches, uint32_t top_lid, struct arena *a)
{
	size_t stride = ((size_t)top_lid + 64) & ~(size_t)63;
	uint8_t *rows = arena_array(a, n_switches, stride);

	if (!rows) {
		return -ENOMEM;
	}
	memset(rows, LFT_NO_ROUTE, n_switches * stride);
	*t = (struct lft){ .rows = rows,
		           .n_switches = n_switches,
		           .n_lids = top_lid + 1,
		           .stride = stride };
	return E_OK;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include "sa/store/store.h"
#include "tests/lib/answer_util.h"

/*! Shared by tests of client records: the store over a state folder beside the
 *  small fabric, and P_Keys for its ports. */
static struct state *state;
static int64_t start_time = 1000000; /* of the store, seconds since 1970 */

static inline void open_store(void)
{
	char state_dir[100];
	const char *why = "";

	snprintf(state_dir, sizeof(state_dir), "%s/state", w->dir);
	ck_assert_msg(state_open(state_dir, w->a, &why, &state) == E_OK, "%s", why);
	ck_assert_int_eq(store_new(state, start_time, &store), E_OK);
}

static inline void close_store(void)
{
	store_free(store);
	state_close(state);
	store = NULL;
}

static inline void store_settled(void *ctx, int ret)
{
	*(int *)ctx = ret;
}

/*! \brief What a server does after a request. \return How the commit ended. */
static inline int make_durable(void)
{
	int ret = -1;
	struct state_batch *b = store_take_changes(store);

	if (b == NULL) {
		return E_OK;
	}
	state_batch_commit(state, b, store_settled, &ret);
	state_flush(state);
	return ret;
}

/*! \brief P_Keys of a node's first port. */
static inline void give(uint64_t node, uint16_t first, uint16_t second)
{
	uint8_t *keys =
		query_fixture_attr(w, UMAD_SM_ATTR_PKEY_TABLE, node, 1u << 16, 64);

	put(keys, 2, first);
	put(keys + 2, 2, second);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#pragma once

#include <string.h>

#include "db/state/state.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"
#include "tests/lib/query_fixture.h"

/*! Multicast groups by number, written where a daemon finds them when it starts. */
static inline void mcast_load_mgid(uint32_t group, uint8_t ret_mgid[MGID_BYTES])
{
	static const uint8_t begin[] = { 0xff, 0x15, 0xca, 0xfe };

	memset(ret_mgid, 0, MGID_BYTES);
	memcpy(ret_mgid, begin, sizeof(begin));
	field_set(ret_mgid, 96, 32, group);
}

static inline void mcast_load_group(struct sa_store *st, uint32_t group)
{
	struct mcast_group_row g = { .well_known = 0 };

	mcast_load_mgid(group, g.record);
	mcast_put(g.record, MC_MLID, 0xc000 + group);
	mcast_put(g.record, MC_MTU_SELECTOR, MC_EXACTLY);
	mcast_put(g.record, MC_MTU, 4);
	mcast_put(g.record, MC_P_KEY, 0xffff);
	mcast_put(g.record, MC_RATE_SELECTOR, MC_EXACTLY);
	mcast_put(g.record, MC_RATE, 3);
	MUST(mcast_group_put(st, &g) == E_OK);
}

static inline void mcast_load_gid(uint64_t prefix, uint64_t port_guid,
                                  uint8_t ret_gid[MGID_BYTES])
{
	field_set(ret_gid, 0, 64, prefix);
	field_set(ret_gid, 64, 64, port_guid);
}

static inline void mcast_load_member(struct sa_store *st, uint32_t group, uint64_t prefix,
                                     uint64_t port_guid)
{
	const struct mcast_member_row m = { .join_state = MC_FULL_MEMBER,
		                            .port_guid = port_guid };
	uint8_t mgid[MGID_BYTES], gid[MGID_BYTES];

	mcast_load_mgid(group, mgid);
	mcast_load_gid(prefix, port_guid, gid);
	MUST(mcast_member_put(st, mgid, gid, &m) == E_OK);
}

static inline void mcast_load_kept(void *ctx, int ret)
{
	(void)ctx;
	MUST(ret == E_OK);
}

/*! Puts what is in the store on disk, and frees it. */
static inline void mcast_load_done(struct sa_store *st, struct state *state)
{
	state_batch_commit(state, store_take_changes(st), mcast_load_kept, NULL);
	state_flush(state);
	store_free(st);
}

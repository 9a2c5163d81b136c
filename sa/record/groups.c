/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/record/groups.h"

#include <infiniband/umad_sm.h>
#include <string.h>

#include "conf/base/err.h"
#include "db/snapshot/reader.h"
#include "routing/multicast.h"
#include "sa/record/client_records.h"
#include "sa/record/record.h"
#include "sa/store/mcast.h"

_Static_assert((int)GROUP_KEY_BYTES == (int)MGID_BYTES &&
                       (int)GROUP_MEMBER_KEY_BYTES == (int)MC_MEMBER_KEY_BYTES,
               "keys of groups");

static const struct sa_query
	from_snapshot; /* without a store: what the snapshot mirrors */

/* The group of the row that was found, or of the first one after it that makes sense. */
static int read_group(int found, struct client_walk *w, struct client_record *rec,
                      struct group *ret_group)
{
	struct mcast_group_row g;

	while (found == E_OK && !mcast_group_decode(&rec->row, &g)) {
		found = client_record_next(w, rec);
	}
	if (found != E_OK) {
		return found;
	}
	*ret_group = (struct group){
		.mgid_prefix = field_get(g.record, 0, 64),
		.mgid_suffix = field_get(g.record, 64, 64),
		.q_key = (uint32_t)mcast_get(g.record, MC_Q_KEY),
		.mlid = (uint32_t)mcast_get(g.record, MC_MLID),
		.flow_label = (uint32_t)mcast_get(g.record, MC_FLOW_LABEL),
		.p_key = (uint16_t)mcast_get(g.record, MC_P_KEY),
		.mtu = (uint8_t)mcast_get(g.record, MC_MTU),
		.rate = (uint8_t)mcast_get(g.record, MC_RATE),
		.packet_life_time = (uint8_t)mcast_get(g.record, MC_LIFE),
		.t_class = (uint8_t)mcast_get(g.record, MC_T_CLASS),
		.sl = (uint8_t)mcast_get(g.record, MC_SL),
		.hop_limit = (uint8_t)mcast_get(g.record, MC_HOP_LIMIT),
		.scope = (uint8_t)mcast_get(g.record, MC_SCOPE),
		.well_known = g.well_known != 0,
	};
	memcpy(ret_group->key, g.record, sizeof(ret_group->key));
	return E_OK;
}

int group_from(struct snap_reader *r, const uint8_t *key, size_t key_len,
               struct group *ret_group)
{
	struct client_walk w;
	struct client_record rec;
	int found = client_record_seek(r, &from_snapshot, RECORDS_GROUPS, key, key_len,
	                               &w, &rec);

	return read_group(found, &w, &rec, ret_group);
}

int group_find(struct snap_reader *r, uint64_t mgid_prefix, uint64_t mgid_suffix,
               struct group *ret_group)
{
	uint8_t key[GROUP_KEY_BYTES];
	struct group g;

	field_set(key, 0, 64, mgid_prefix);
	field_set(key, 64, 64, mgid_suffix);
	int ret = group_from(r, key, sizeof(key), &g);
	if (ret == E_OK && memcmp(g.key, key, sizeof(key)) != 0) {
		ret = E_NOTFOUND;
	}
	if (ret == E_OK) {
		*ret_group = g;
	}
	return ret;
}

int group_next(struct snap_reader *r, struct group *ret_group)
{
	struct client_walk w = { .r = r, .table = RECORDS_GROUPS };
	struct client_record rec;
	int found = client_record_next(&w, &rec);

	return read_group(found, &w, &rec, ret_group);
}

static int read_member(int found, const struct group *g, struct client_walk *w,
                       struct client_record *rec, struct group_member *ret_member)
{
	struct mcast_member_row m;

	while (found == E_OK && client_record_has_prefix(rec, g->key, sizeof(g->key)) &&
	       !mcast_member_decode(&rec->row, &m)) {
		found = client_record_next(w, rec);
	}
	if (found != E_OK) {
		return found;
	}
	if (!client_record_has_prefix(rec, g->key, sizeof(g->key))) {
		return E_NOTFOUND;
	}
	*ret_member = (struct group_member){
		.port_gid_prefix = field_get(rec->row.key + MGID_BYTES, 0, 64),
		.port_gid_suffix = field_get(rec->row.key + MGID_BYTES, 64, 64),
		.port_guid = m.port_guid,
		.join_state = m.join_state,
		.receives = (m.join_state & MC_RECEIVES) != 0,
		.proxy_join = m.proxy_join != 0,
	};
	memcpy(ret_member->key, rec->row.key, sizeof(ret_member->key));
	return E_OK;
}

int group_member_from(struct snap_reader *r, const struct group *g, const uint8_t *key,
                      struct group_member *ret_member)
{
	struct client_walk w;
	struct client_record rec;
	int found = client_record_seek(
		r, &from_snapshot, RECORDS_MEMBERS, key ? key : g->key,
		key ? GROUP_MEMBER_KEY_BYTES : GROUP_KEY_BYTES, &w, &rec);

	return read_member(found, g, &w, &rec, ret_member);
}

int group_member_next(struct snap_reader *r, const struct group *g,
                      struct group_member *ret_member)
{
	struct client_walk w = { .r = r, .table = RECORDS_MEMBERS };
	struct client_record rec;
	int found = client_record_next(&w, &rec);

	return read_member(found, g, &w, &rec, ret_member);
}

int group_egress_ports(struct snap_reader *r, uint64_t sw_guid, uint8_t n_ports,
                       uint32_t mlid, uint64_t ret_ports[GROUP_PORT_WORDS])
{
	enum { POSITION_SHIFT = 28, MASK_BITS = 16, MASKS_PER_WORD = 64 / MASK_BITS };
	uint64_t ports[GROUP_PORT_WORDS] = { 0 };
	const uint8_t *data;
	uint16_t len;

	if (mlid >= MLID_FIRST) {
		uint32_t block = (mlid - MLID_FIRST) / MFT_BLOCK_MLIDS;
		uint32_t at = (mlid - MLID_FIRST) % MFT_BLOCK_MLIDS;
		for (uint32_t p = 0; p * MASK_BITS <= n_ports; p++) {
			int ret = snap_attr(r, UMAD_SM_ATTR_MCAST_FT, sw_guid,
			                    p << POSITION_SHIFT | block, &data, &len);
			if (ret != E_OK && ret != E_NOTFOUND) {
				return ret;
			}
			if (ret == E_OK && len == 2 * MFT_BLOCK_MLIDS) {
				ports[p / MASKS_PER_WORD] |=
					field_get(data, at * MASK_BITS, MASK_BITS)
					<< p % MASKS_PER_WORD * MASK_BITS;
			}
		}
	}
	memcpy(ret_ports, ports, sizeof(ports));
	return E_OK;
}

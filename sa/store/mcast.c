/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */
#include "sa/store/mcast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "db/snapshot/policy.h"
#include "db/snapshot/reader.h"
#include "routing/graph/graph.h"
#include "routing/multicast.h"
#include "sa/mad/wire.h"
#include "sa/store/store.h"

/* clang-format off */
const struct sa_field mcast_fields[MC_COUNT] = {
	[MC_MGID] =          { "MGID",                     0, 128, SA_EQ },
	[MC_PORT_GID] =      { "PortGID",                128, 128, SA_INPUT },
	[MC_Q_KEY] =         { "Q_Key",                  256,  32, SA_EQ },
	[MC_MLID] =          { "MLID",                   288,  16, SA_EQ },
	[MC_MTU_SELECTOR] =  { "MTUSelector",            304,   2, SA_INPUT },
	[MC_MTU] =           { "MTU",                    306,   6, SA_INPUT },
	[MC_T_CLASS] =       { "TClass",                 312,   8, SA_EQ },
	[MC_P_KEY] =         { "P_Key",                  320,  16, SA_INPUT },
	[MC_RATE_SELECTOR] = { "RateSelector",           336,   2, SA_INPUT },
	[MC_RATE] =          { "Rate",                   338,   6, SA_INPUT },
	[MC_LIFE_SELECTOR] = { "PacketLifeTimeSelector", 344,   2, SA_INPUT },
	[MC_LIFE] =          { "PacketLifeTime",         346,   6, SA_INPUT },
	[MC_SL] =            { "SL",                     352,   4, SA_EQ },
	[MC_FLOW_LABEL] =    { "FlowLabel",              356,  20, SA_EQ },
	[MC_HOP_LIMIT] =     { "HopLimit",               376,   8, SA_EQ },
	[MC_SCOPE] =         { "Scope",                  384,   4, SA_EQ },
	[MC_JOIN_STATE] =    { "JoinState",              388,   4, SA_INPUT },
	[MC_PROXY_JOIN] =    { "ProxyJoin",              392,   1, SA_INPUT },
	[MC_RESERVED] =      { "Reserved",               393,  23, SA_RESERVED },
};
/* clang-format on */

uint64_t mcast_get(const uint8_t *record, unsigned component)
{
	const struct sa_field *f = &mcast_fields[component];

	return field_get(record, f->bit, f->width);
}

void mcast_put(uint8_t *record, unsigned component, uint64_t value)
{
	const struct sa_field *f = &mcast_fields[component];

	field_set(record, f->bit, f->width, value);
}

/* ---- rows ---- */

bool mcast_group_of(const struct store_row *row, struct mcast_group_row *ret_group_row)
{
	if (row == NULL || row->len != sizeof(*ret_group_row)) {
		return false;
	}
	memcpy(ret_group_row, store_value(row), sizeof(*ret_group_row));
	return true;
}

bool mcast_group_find(const struct sa_store *st, const uint8_t *mgid,
                      struct mcast_group_row *ret_group_row)
{
	return mcast_group_of(store_find(st, RECORDS_GROUPS, mgid, MGID_BYTES),
	                      ret_group_row);
}

bool mcast_group_decode(const struct client_row *row,
                        struct mcast_group_row *ret_group_row)
{
	if (row->key_len != MGID_BYTES || row->len != sizeof(*ret_group_row)) {
		return false;
	}
	memcpy(ret_group_row, row->value, sizeof(*ret_group_row));
	return true;
}

bool mcast_member_decode(const struct client_row *row,
                         struct mcast_member_row *ret_member_row)
{
	if (row->key_len != MC_MEMBER_KEY_BYTES || row->len != sizeof(*ret_member_row)) {
		return false;
	}
	memcpy(ret_member_row, row->value, sizeof(*ret_member_row));
	return true;
}

static void member_key(uint8_t key[MC_MEMBER_KEY_BYTES], const uint8_t *mgid,
                       const uint8_t *port_gid)
{
	memcpy(key, mgid, MGID_BYTES);
	memcpy(key + MGID_BYTES, port_gid, MGID_BYTES);
}

static bool member_of(const struct store_row *row,
                      struct mcast_member_row *ret_member_row)
{
	if (row == NULL || row->len != sizeof(*ret_member_row)) {
		return false;
	}
	memcpy(ret_member_row, store_value(row), sizeof(*ret_member_row));
	return true;
}

bool mcast_member_find(const struct sa_store *st, const uint8_t *mgid,
                       const uint8_t *port_gid, struct mcast_member_row *ret_member_row)
{
	uint8_t key[MC_MEMBER_KEY_BYTES];

	member_key(key, mgid, port_gid);
	return member_of(store_find(st, RECORDS_MEMBERS, key, sizeof(key)),
	                 ret_member_row);
}

const uint8_t *mcast_member_next(const struct sa_store *st, const uint8_t *mgid,
                                 const struct store_row **at,
                                 struct mcast_member_row *ret_member_row)
{
	const struct store_row *row =
		*at != NULL ? store_next(st, RECORDS_MEMBERS, *at)
			    : store_seek(st, RECORDS_MEMBERS, mgid, MGID_BYTES);

	if (row == NULL || row->key_len != MC_MEMBER_KEY_BYTES ||
	    memcmp(row->bytes, mgid, MGID_BYTES) != 0 ||
	    !member_of(row, ret_member_row)) {
		return NULL;
	}
	*at = row;
	return row->bytes + MGID_BYTES;
}

bool mcast_is_member_by(const struct sa_store *st, uint64_t port_guid, uint64_t guid)
{
	const struct store_row *row =
		store_first_of_owner(st, RECORDS_MEMBERS, &port_guid);

	while (row != NULL && (row->key_len != MC_MEMBER_KEY_BYTES ||
	                       field_get(row->bytes + MGID_BYTES, 64, 64) != guid)) {
		row = store_next_of_owner(st, RECORDS_MEMBERS, row);
	}
	return row != NULL;
}

/* Out of memory loses the event, but not the group. */
static void add_event(struct sa_store *st, const struct mcast_group_row *g, bool created)
{
	struct store_event e = { .p_key = (uint16_t)mcast_get(g->record, MC_P_KEY),
		                 .created = created };

	memcpy(e.mgid, g->record, sizeof(e.mgid));
	(void)store_add_event(st, &e);
}

int mcast_group_put(struct sa_store *st, const struct mcast_group_row *g)
{
	struct mcast_group_row old;
	bool created = !mcast_group_find(st, g->record, &old);
	int ret = store_put(st, RECORDS_GROUPS, g->record, MGID_BYTES, STORE_FOR_EVER, g,
	                    sizeof(*g));

	if (ret == E_OK && created) {
		add_event(st, g, true);
	}
	return ret;
}

int mcast_member_put(struct sa_store *st, const uint8_t *mgid, const uint8_t *port_gid,
                     const struct mcast_member_row *m)
{
	uint8_t key[MC_MEMBER_KEY_BYTES];

	member_key(key, mgid, port_gid);
	return store_put(st, RECORDS_MEMBERS, key, sizeof(key), STORE_FOR_EVER, m,
	                 sizeof(*m));
}

/* Removes the remaining members and then the group. */
static int drop_group(struct sa_store *st, const uint8_t *mgid)
{
	struct mcast_group_row g = { .well_known = 0 };
	struct mcast_member_row m;
	const struct store_row *at = NULL;
	const uint8_t *port_gid;
	bool found = mcast_group_find(st, mgid, &g);
	int ret = E_OK;

	while (ret == E_OK && (port_gid = mcast_member_next(st, mgid, &at, &m)) != NULL) {
		uint8_t key[MC_MEMBER_KEY_BYTES];

		member_key(key, mgid, port_gid);
		ret = store_drop(st, RECORDS_MEMBERS, key, sizeof(key));
		at = NULL;
	}
	if (ret == E_OK) {
		ret = store_drop(st, RECORDS_GROUPS, mgid, MGID_BYTES);
	}
	if (ret == E_OK && found) {
		add_event(st, &g, false);
	}
	return ret;
}

/* Does the group stay, also without one of its members? \a leaving: NULL, or whose membership does not
 * count. \a ret_n: members so far; all, if it does not stay. */
static bool is_used(const struct sa_store *st, const uint8_t *mgid, const uint8_t *leaving,
                    size_t *ret_n)
{
	struct mcast_group_row g = { .well_known = 0 };
	struct mcast_member_row m;
	const struct store_row *at = NULL;
	const uint8_t *port_gid;

	*ret_n = 0;
	if (mcast_group_find(st, mgid, &g) && g.well_known) {
		return true;
	}
	while ((port_gid = mcast_member_next(st, mgid, &at, &m)) != NULL) {
		++*ret_n;
		if ((m.join_state & MC_KEEPS_GROUP) != 0 &&
		    (leaving == NULL || memcmp(port_gid, leaving, MGID_BYTES) != 0)) {
			return true;
		}
	}
	return false;
}

int mcast_reserve_leave(struct sa_store *st, const uint8_t *mgid, const uint8_t *port_gid)
{
	size_t n;
	bool stays = is_used(st, mgid, port_gid, &n);

	return store_reserve_drops(st, stays ? 1 : n + 1);
}

int mcast_group_drop_unused(struct sa_store *st, const uint8_t *mgid)
{
	struct mcast_group_row g;
	size_t n;

	if (!mcast_group_find(st, mgid, &g) || is_used(st, mgid, NULL, &n)) {
		return E_OK;
	}
	int ret = store_reserve_drops(st, n + 1);
	return ret == E_OK ? drop_group(st, mgid) : ret;
}

int mcast_member_leave(struct sa_store *st, const uint8_t *mgid, const uint8_t *port_gid)
{
	uint8_t key[MC_MEMBER_KEY_BYTES], group[MGID_BYTES];
	int ret;

	member_key(key, mgid, port_gid); /* both may point into the row */
	memcpy(group, mgid, sizeof(group));
	ret = mcast_reserve_leave(st, mgid, port_gid);
	if (ret != E_OK) {
		return ret;
	}
	ret = store_drop(st, RECORDS_MEMBERS, key, sizeof(key));
	return ret == E_OK ? mcast_group_drop_unused(st, group) : ret;
}

/* ---- MLIDs ---- */

int mcast_mlid_new(const struct sa_store *st, struct snap_reader *r, bool broadcast,
                   uint32_t *ret_lid)
{
	enum { KEPT_OF = 16, KEPT_MAX = 64 };
	uint32_t cap = snap_meta(r)->multicast_fdb_cap, n = MLID_LAST - MLID_FIRST + 1;
	const unsigned at = mcast_fields[MC_MLID].bit / 8;
	const struct store_row *row = store_next_owner(st, RECORDS_GROUPS, NULL);
	uint32_t free = MLID_FIRST, kept;

	n = cap < n ? cap : n;
	kept = n / KEPT_OF < KEPT_MAX ? n / KEPT_OF : KEPT_MAX;
	if (!broadcast && store_count(st, RECORDS_GROUPS) + kept >= n) {
		return E_FULL;
	}
	for (; row != NULL;
	     row = store_next_owner(st, RECORDS_GROUPS, store_value(row) + at)) {
		uint64_t mlid = mcast_get(store_value(row), MC_MLID);

		if (mlid > free) {
			break;
		}
		free = mlid == free ? free + 1 : free;
	}
	if (free - MLID_FIRST >= n) {
		return E_FULL;
	}
	*ret_lid = free;
	return E_OK;
}

bool mcast_partition_has(const struct sa_store *st, uint16_t p_key, size_t n)
{
	const struct store_row *row = store_seek(st, RECORDS_GROUPS, NULL, 0);

	for (; row != NULL && n > 0; row = store_next(st, RECORDS_GROUPS, row)) {
		n -= ((mcast_get(store_value(row), MC_P_KEY) ^ p_key) & P_KEY_BASE) == 0;
	}
	return n == 0;
}

/* ---- after a sweep ---- */

/* The group that a partition has from the start; without its MLID. */
static void make_group(const struct snap_meta *m, uint16_t p_key,
                       const struct snap_partition_group *from,
                       struct mcast_group_row *ret_group_row)
{
	enum { LINK_LOCAL = 2, ROUTED = 0xff };

	*ret_group_row = (struct mcast_group_row){ .well_known = 1 };
	field_set(ret_group_row->record, 0, 64, from->prefix);
	field_set(ret_group_row->record, 64, 64, from->guid);
	mcast_put(ret_group_row->record, MC_Q_KEY, from->q_key);
	mcast_put(ret_group_row->record, MC_MTU_SELECTOR, MC_EXACTLY);
	mcast_put(ret_group_row->record, MC_MTU, from->mtu);
	mcast_put(ret_group_row->record, MC_T_CLASS, from->tclass);
	mcast_put(ret_group_row->record, MC_P_KEY, p_key | P_KEY_FULL);
	mcast_put(ret_group_row->record, MC_RATE_SELECTOR, MC_EXACTLY);
	mcast_put(ret_group_row->record, MC_RATE, from->rate);
	mcast_put(ret_group_row->record, MC_LIFE_SELECTOR, MC_EXACTLY);
	mcast_put(ret_group_row->record, MC_LIFE, m->packet_life_time);
	mcast_put(ret_group_row->record, MC_SL,
	          from->broadcast && !m->qos ? 0 : from->sl);
	mcast_put(ret_group_row->record, MC_FLOW_LABEL, from->flow_label);
	mcast_put(ret_group_row->record, MC_SCOPE, from->prefix >> 48 & 0xf);
	mcast_put(ret_group_row->record, MC_HOP_LIMIT,
	          (from->prefix >> 48 & 0xf) == LINK_LOCAL ? 0 : ROUTED);
}

/* Creates the group, or gives it the values that it is to have. While there are members, the
 * values stay, because the members rely on them. */
static int put_group(struct sa_store *st, struct snap_reader *r, uint16_t p_key,
                     const struct snap_partition_group *from)
{
	const struct store_row *at = NULL;
	struct mcast_group_row g, old;
	struct mcast_member_row m;
	uint32_t mlid;
	int ret;

	make_group(snap_meta(r), p_key, from, &g);
	if (!mcast_group_find(st, g.record, &old)) {
		ret = mcast_mlid_new(st, r, from->broadcast, &mlid);
		if (ret != E_OK) {
			return ret == E_FULL ? E_OK : ret; /* no switch has room for it */
		}
		mcast_put(g.record, MC_MLID, mlid);
		return mcast_group_put(st, &g);
	}
	mcast_put(g.record, MC_MLID, mcast_get(old.record, MC_MLID));
	if (mcast_member_next(st, g.record, &at, &m) != NULL) {
		memcpy(g.record, old.record, sizeof(g.record));
	}
	return memcmp(&g, &old, sizeof(g)) == 0 ? E_OK : mcast_group_put(st, &g);
}

/* Does its partition have this group from the start? */
static int is_given(struct snap_reader *r, const struct mcast_group_row *g,
                    bool *ret_given)
{
	uint16_t p_key = (uint16_t)(mcast_get(g->record, MC_P_KEY) & P_KEY_BASE);
	struct snap_partition p;
	int ret = snap_partition_from(r, p_key, &p);

	*ret_given = false;
	for (uint32_t i = 0; ret == E_OK && p.p_key == p_key && i < p.is.n_groups; i++) {
		struct snap_partition_group from = snap_partition_group(&p, i);

		*ret_given |= field_get(g->record, 0, 64) == from.prefix &&
		              field_get(g->record, 64, 64) == from.guid;
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

/* Groups that no partition has any more stay only as long as they have members. */
static int drop_withdrawn(struct sa_store *st, struct snap_reader *r)
{
	const struct store_row *row = store_seek(st, RECORDS_GROUPS, NULL, 0);
	int ret = E_OK;

	while (row != NULL && ret == E_OK) {
		uint8_t mgid[MGID_BYTES];
		struct mcast_group_row g;
		bool given = true;

		memcpy(mgid, row->bytes, sizeof(mgid));
		if (mcast_group_of(row, &g) && g.well_known) {
			ret = is_given(r, &g, &given);
		}
		if (!given && ret == E_OK) {
			g.well_known = 0;
			ret = mcast_group_put(st, &g);
			if (ret == E_OK) {
				ret = mcast_group_drop_unused(st, mgid);
			}
		}
		row = store_seek(st, RECORDS_GROUPS, mgid, sizeof(mgid));
		if (row != NULL && memcmp(row->bytes, mgid, sizeof(mgid)) == 0) {
			row = store_next(st, RECORDS_GROUPS, row);
		}
	}
	return ret;
}

/* The groups that partitions have from the start. Where no partitions are published, that is the
 * IPv4 broadcast group of the default partition (RFC 4391, section 4). */
static int put_groups(struct sa_store *st, struct snap_reader *r)
{
	static const struct snap_partition_group broadcast = {
		.prefix = UINT64_C(0xff12401bffff0000),
		.guid = UINT32_MAX,
		.q_key = 0xb1b,
		.rate = 3, /* 10 Gb/s */
		.mtu = 4,  /* 2048 */
		.broadcast = 1
	};
	struct snap_partition p;
	int ret = snap_partition_from(r, 0, &p);

	if (ret == E_NOTFOUND) {
		return put_group(st, r, P_KEY_BASE, &broadcast);
	}
	while (ret == E_OK) {
		for (uint32_t i = 0; i < p.is.n_groups && ret == E_OK; i++) {
			struct snap_partition_group g = snap_partition_group(&p, i);

			ret = put_group(st, r, p.p_key, &g);
		}
		ret = ret == E_OK ? snap_partition_from(r, (uint16_t)(p.p_key + 1), &p)
		                  : ret;
	}
	return ret == E_NOTFOUND ? drop_withdrawn(st, r) : ret;
}

/* Removes the memberships of a port in groups of partitions that it does not belong to any more.
 * A port whose P_Keys could not be read keeps its memberships. */
static int drop_foreign(struct sa_store *st, struct snap_reader *r, uint64_t guid,
                        const struct snap_end *end)
{
	const struct store_row *row = store_first_of_owner(st, RECORDS_MEMBERS, &guid);
	const void *keys;
	uint16_t first = 0; /* an empty table is one P_Key 0 */
	size_t n_keys;
	int ret = snap_p_keys(r, end->p_key_set, &keys, &n_keys);

	if (ret == E_OK && n_keys != 0) {
		memcpy(&first, keys, sizeof(first));
	}
	while (row != NULL && ret == E_OK && first != 0) {
		struct mcast_group_row g;

		if (!mcast_group_find(st, row->bytes, &g) ||
		    mcast_has_p_key(r, end, (uint16_t)mcast_get(g.record, MC_P_KEY))) {
			row = store_next_of_owner(st, RECORDS_MEMBERS, row);
			continue;
		}
		ret = mcast_member_leave(st, row->bytes, row->bytes + MGID_BYTES);
		row = store_first_of_owner(st, RECORDS_MEMBERS, &guid);
	}
	return ret;
}

/* Removes all memberships of the ports that are no longer in the fabric, and those that the
 * partitions of the others do not allow any more. */
static int drop_absent(struct sa_store *st, struct snap_reader *r)
{
	const struct store_row *row = store_next_owner(st, RECORDS_MEMBERS, NULL);
	int ret = E_OK;

	while (row != NULL && ret == E_OK) {
		struct mcast_member_row m;
		struct snap_end end;
		uint64_t guid;

		if (!member_of(row, &m)) {
			return E_OK; /* a damaged row */
		}
		guid = m.port_guid;
		ret = snap_port_guid(r, guid, &end);
		if (ret == E_NOTFOUND) {
			ret = E_OK;
			while (row != NULL && ret == E_OK && member_of(row, &m)) {
				ret = mcast_member_leave(st, row->bytes,
				                         row->bytes + MGID_BYTES);
				row = store_first_of_owner(st, RECORDS_MEMBERS, &guid);
			}
		} else if (ret == E_OK) {
			ret = drop_foreign(st, r, guid, &end);
		}
		row = store_next_owner(st, RECORDS_MEMBERS, &guid);
	}
	return ret;
}

int mcast_after_sweep(struct sa_store *st, struct snap_reader *r)
{
	int ret = put_groups(st, r);

	return ret == E_OK ? drop_absent(st, r) : ret;
}

/* ---- comparisons ---- */

/* The SM's port is a full member, so a limited member has a P_Key in common with it. */
bool mcast_has_p_key(struct snap_reader *r, const struct snap_end *end, uint16_t p_key)
{
	struct snap_end sm;
	uint16_t found;

	if (end->port_guid == 0 || (p_key & P_KEY_BASE) == 0) {
		return false;
	}
	return snap_common_p_key(r, end, end, p_key, &found) == E_OK ||
	       (snap_lid(r, snap_meta(r)->sm_lid, &sm) == E_OK &&
	        snap_common_p_key(r, end, &sm, p_key, &found) == E_OK);
}

bool mcast_fits_value(unsigned selector, uint64_t asked, uint64_t value)
{
	switch (selector) {
	case MC_GREATER: return value > asked;
	case MC_LESS: return value < asked;
	case MC_EXACTLY: return value == asked;
	default: return true;
	}
}

bool mcast_fits_rate(unsigned selector, uint8_t asked, uint8_t rate)
{
	return mcast_fits_value(selector, rate_speed(asked), rate_speed(rate));
}

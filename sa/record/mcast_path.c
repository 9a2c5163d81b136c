/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * PathRecord to a multicast group: one record with the group's MLID and values, for a
 * source that is a member. The group has to match the components that the request names; the
 * record repeats the others. Groups are in the store of the daemon: without it there are no
 * records.
 */
#include "sa/record/path_request.h"

#include <string.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "db/snapshot/reader.h"
#include "routing/multicast.h"
#include "sa/mad/wire.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"

enum { ALL_SUBNETS = 0xff, SCOPE_LINK_LOCAL = 2, ONE_REVERSIBLE = 1 };

/* Component of a path and the group's of the same value. */
static const uint8_t same[][2] = {
	{ PR_DLID, MC_MLID },
	{ PR_FLOW_LABEL, MC_FLOW_LABEL },
	{ PR_T_CLASS, MC_T_CLASS },
	{ PR_SL, MC_SL },
};

/* Selector, value; the group's value follows its selector. */
static const uint8_t selected[][3] = {
	{ PR_MTU_SELECTOR, PR_MTU, MC_MTU },
	{ PR_RATE_SELECTOR, PR_RATE, MC_RATE },
	{ PR_PACKET_LIFE_TIME_SELECTOR, PR_PACKET_LIFE_TIME, MC_LIFE },
};

/* Of an entry of `same`. */
static uint64_t group_value(const struct sa_query *q, const uint8_t *group,
                            const uint8_t *pair)
{
	uint64_t value = mcast_get(group, pair[1]);

	return pair[1] == MC_MLID && q->attr->version == SA_OPA_VERSION
	               ? value - MLID_FIRST + MLID32_FIRST
	               : value;
}

static bool fits_selected(const struct sa_query *q, const uint8_t *group, unsigned i)
{
	unsigned selector = (unsigned)sa_component(q, selected[i][0]);
	uint64_t asked = sa_component(q, selected[i][1]),
		 value = mcast_get(group, selected[i][2]);

	if (!sa_asked(q, selected[i][0]) || !sa_asked(q, selected[i][1])) {
		return true;
	}
	return selected[i][1] == PR_RATE
	               ? mcast_fits_rate(selector, (uint8_t)asked, (uint8_t)value)
	               : mcast_fits_value(selector, asked, value);
}

static bool fits(const struct sa_query *q, const uint8_t *group)
{
	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		if (sa_asked(q, same[i][0]) &&
		    sa_component(q, same[i][0]) != group_value(q, group, same[i])) {
			return false;
		}
	}
	for (unsigned i = 0; i < sizeof(selected) / sizeof(selected[0]); i++) {
		if (!fits_selected(q, group, i)) {
			return false;
		}
	}
	return !sa_asked(q, PR_P_KEY) ||
	       ((sa_component(q, PR_P_KEY) ^ mcast_get(group, MC_P_KEY)) & P_KEY_BASE) ==
	               0;
}

/* Most ports join by their PortGUID. Memberships by an alias GUID are found by reading all
 * of the port's. */
static bool is_member(const struct sa_store *st, const uint8_t *mgid, uint64_t prefix,
                      uint64_t port_guid)
{
	uint8_t gid[MGID_BYTES];
	struct mcast_member_row m;

	field_set(gid, 0, 64, prefix);
	field_set(gid, 64, 64, port_guid);
	if (mcast_member_find(st, mgid, gid, &m)) {
		return true;
	}
	const struct store_row *row =
		store_first_of_owner(st, RECORDS_MEMBERS, &port_guid);
	while (row != NULL && memcmp(row->bytes, mgid, MGID_BYTES) != 0) {
		row = store_next_of_owner(st, RECORDS_MEMBERS, row);
	}
	return row != NULL;
}

/* The port that sends: named by GID, LID, both, or the requester. */
static int read_source(struct snap_reader *r, const struct sa_query *q,
                       struct snap_end *ret_end)
{
	struct snap_end by_lid;
	bool off_subnet;
	uint32_t lid;
	int ret = E_OK;

	*ret_end = *q->requester;
	if (sa_asked(q, PR_SGID)) {
		ret = path_request_gid(r, q->store,
		                       q->record + path_fields[PR_SGID].bit / 8, false,
		                       ret_end, &off_subnet, &lid);
	}
	if (ret != E_OK || !sa_asked(q, PR_SLID)) {
		return ret;
	}
	ret = snap_lid(r, (uint32_t)sa_component(q, PR_SLID), &by_lid);
	if (ret == E_OK && sa_asked(q, PR_SGID) &&
	    by_lid.port_guid != ret_end->port_guid) {
		return E_NOTFOUND;
	}
	*ret_end = by_lid;
	return ret;
}

static void offer(const struct sa_query *q, const uint8_t *group,
                  const struct snap_end *src, uint64_t prefix, struct sa_out *out)
{
	uint8_t record[sizeof(struct wire_path_record)];
	uint8_t *sgid = record + path_fields[PR_SGID].bit / 8;

	memcpy(record, q->record, sizeof(record));
	if (!sa_asked(q, PR_SGID)) {
		field_set(sgid, 0, 64, prefix);
		field_set(sgid, 64, 64, src->port_guid);
	}
	if (!sa_asked(q, PR_SLID)) {
		sa_put(q->attr, record, PR_SLID, src->base_lid);
	}
	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		sa_put(q->attr, record, same[i][0], group_value(q, group, same[i]));
	}
	for (unsigned i = 0; i < sizeof(selected) / sizeof(selected[0]); i++) {
		sa_put(q->attr, record, selected[i][0], MC_EXACTLY);
		sa_put(q->attr, record, selected[i][1], mcast_get(group, selected[i][2]));
	}
	sa_put(q->attr, record, PR_P_KEY, mcast_get(group, MC_P_KEY));
	sa_put(q->attr, record, PR_HOP_LIMIT,
	       mcast_get(group, MC_SCOPE) == SCOPE_LINK_LOCAL ? 0 : ALL_SUBNETS);
	sa_put(q->attr, record, PR_REVERSIBLE, ONE_REVERSIBLE);
	sa_put(q->attr, record, PR_NUMB_PATH, 1);
	sa_offer(out, record);
}

int mcast_path(struct snap_reader *r, const struct sa_query *q, struct sa_out *out)
{
	const uint8_t *mgid = q->record + path_fields[PR_DGID].bit / 8;
	struct mcast_group_row g;
	struct snap_end src;
	uint64_t prefix = snap_meta(r)->subnet_prefix;
	int ret;

	if (q->store == NULL || q->requester == NULL ||
	    !mcast_group_find(q->store, mgid, &g) || !fits(q, g.record) ||
	    !mcast_has_p_key(r, q->requester, (uint16_t)mcast_get(g.record, MC_P_KEY))) {
		return E_NOTFOUND;
	}
	ret = read_source(r, q, &src);
	if (ret != E_OK || !is_member(q->store, mgid, prefix, src.port_guid)) {
		return ret != E_OK ? ret : E_NOTFOUND;
	}
	offer(q, g.record, &src, prefix, out);
	return E_OK;
}

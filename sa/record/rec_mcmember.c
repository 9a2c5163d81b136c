/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * MCMemberRecord (IBA vol. 1, 15.2.5.17): the members of multicast groups. Set and Delete are
 * in mcast_join.c.
 *
 * A requester sees the groups of its partitions. Only requesters with the SM_Key see the
 * members, in one record each. Others get one record per group, without PortGID, JoinState and
 * ProxyJoin, even if they ask for a certain member.
 */
#include <string.h>

#include "conf/base/err.h"
#include "conf/base/p_key.h"
#include "db/snapshot/reader.h"
#include "sa/mad/wire.h"
#include "sa/record/client_records.h"
#include "sa/record/mcast_join.h"
#include "sa/record/record.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"

static unsigned selector_of(const struct sa_query *q, unsigned component)
{
	return sa_asked(q, component) ? (unsigned)sa_component(q, component) : MC_EXACTLY;
}

static bool fits_selectors(const struct sa_query *q, const uint8_t *record)
{
	if (sa_asked(q, MC_MTU) &&
	    !mcast_fits_value(selector_of(q, MC_MTU_SELECTOR), sa_component(q, MC_MTU),
	                      mcast_get(record, MC_MTU))) {
		return false;
	}
	if (sa_asked(q, MC_LIFE) &&
	    !mcast_fits_value(selector_of(q, MC_LIFE_SELECTOR), sa_component(q, MC_LIFE),
	                      mcast_get(record, MC_LIFE))) {
		return false;
	}
	return !sa_asked(q, MC_RATE) ||
	       mcast_fits_rate(selector_of(q, MC_RATE_SELECTOR),
	                       (uint8_t)sa_component(q, MC_RATE),
	                       (uint8_t)mcast_get(record, MC_RATE));
}

static bool fits_member(const struct sa_query *q, const uint8_t *port_gid,
                        const struct mcast_member_row *m)
{
	const uint8_t *asked = q->record + mcast_fields[MC_PORT_GID].bit / 8;
	uint64_t bits = sa_component(q, MC_JOIN_STATE);

	return (!sa_asked(q, MC_PORT_GID) || memcmp(asked, port_gid, MGID_BYTES) == 0) &&
	       (!sa_asked(q, MC_JOIN_STATE) || (m->join_state & bits) == bits) &&
	       (!sa_asked(q, MC_PROXY_JOIN) ||
	        m->proxy_join == sa_component(q, MC_PROXY_JOIN));
}

/* Whether the request has no component of members. */
static bool any_member(const struct sa_query *q)
{
	return !sa_asked(q, MC_PORT_GID) && !sa_asked(q, MC_JOIN_STATE) &&
	       !sa_asked(q, MC_PROXY_JOIN);
}

/* Whether the page begins at a member of this group. */
static bool begins_inside(const struct sa_query *q, const uint8_t *mgid)
{
	return q->from_key_len == MC_MEMBER_KEY_BYTES &&
	       memcmp(q->from_key, mgid, MGID_BYTES) == 0;
}

/* Offers the matching members. \param ret_found  Whether there is one; without the SM_Key this is
 * all, and no member is offered. */
static int offer_members(struct snap_reader *r, const struct sa_query *q,
                         const uint8_t *group, struct sa_out *out, bool *ret_found)
{
	struct client_walk w;
	struct client_record rec;
	struct mcast_member_row m;
	bool inside = begins_inside(q, group);
	int ret = client_record_seek(r, q, RECORDS_MEMBERS, inside ? q->from_key : group,
	                             inside ? MC_MEMBER_KEY_BYTES : MGID_BYTES, &w, &rec);

	*ret_found = false;
	for (; ret == E_OK && !sa_full(out); ret = client_record_next(&w, &rec)) {
		if (!client_record_has_prefix(&rec, group, MGID_BYTES)) {
			break;
		}
		if (q->trusted) {
			sa_at_row(out, rec.row.key, rec.row.key_len);
		}
		if (!mcast_member_decode(&rec.row, &m) ||
		    !fits_member(q, rec.row.key + MGID_BYTES, &m)) {
			continue;
		}
		*ret_found = true;
		if (!q->trusted || sa_full(out)) {
			break;
		}
		uint8_t record[MC_RECORD_BYTES];
		memcpy(record, group, sizeof(record));
		memcpy(record + mcast_fields[MC_PORT_GID].bit / 8,
		       rec.row.key + MGID_BYTES, MGID_BYTES);
		mcast_put(record, MC_JOIN_STATE, m.join_state);
		mcast_put(record, MC_PROXY_JOIN, m.proxy_join);
		sa_offer(out, record);
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int offer_group(struct snap_reader *r, const struct sa_query *q,
                       const struct mcast_group_row *g, struct sa_out *out)
{
	bool found = false, whole = any_member(q) && !begins_inside(q, g->record);
	int ret = E_OK;

	sa_at_row(out, g->record, MGID_BYTES);
	uint16_t p_key = (uint16_t)mcast_get(g->record, MC_P_KEY);
	if ((sa_asked(q, MC_P_KEY) &&
	     ((sa_component(q, MC_P_KEY) ^ p_key) & P_KEY_BASE) != 0) ||
	    !fits_selectors(q, g->record) ||
	    (q->requester != NULL && !mcast_has_p_key(r, q->requester, p_key))) {
		return E_OK;
	}
	if (q->trusted || !any_member(q)) {
		ret = offer_members(r, q, g->record, out, &found);
	}
	if (ret == E_OK && (q->trusted ? !found && whole : found || whole)) {
		sa_offer(out, g->record);
	}
	return ret;
}

static int mcmember_walk(struct snap_reader *r, const struct sa_query *q,
                         struct sa_out *out)
{
	bool by_mgid = sa_asked(q, MC_MGID);
	struct client_walk w;
	struct client_record rec;
	struct mcast_group_row g;
	const uint8_t *from = q->from_key != NULL ? q->from_key : q->record;
	size_t len = q->from_key != NULL ? q->from_key_len : by_mgid ? MGID_BYTES : 0;
	int ret = client_record_seek(r, q, RECORDS_GROUPS, from,
	                             len < MGID_BYTES ? len : MGID_BYTES, &w, &rec);

	while (ret == E_OK && !sa_full(out)) {
		if (by_mgid && !client_record_has_prefix(&rec, q->record, MGID_BYTES)) {
			break;
		}
		if (mcast_group_decode(&rec.row, &g)) {
			ret = offer_group(r, q, &g, out);
		}
		ret = ret == E_OK ? client_record_next(&w, &rec) : ret;
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

const struct sa_attr rec_mcmember = {
	.version = UMAD_SA_CLASS_VERSION,
	.id = UMAD_SA_ATTR_MCMEMBER_REC,
	.name = "MCMemberRecord",
	.methods = SA_GET | SA_GETTABLE | SA_SET | SA_DELETE,
	.size = MC_RECORD_BYTES,
	.fields = mcast_fields,
	.n_fields = MC_COUNT,
	.client_records = true,
	.walk = mcmember_walk,
	.set = mcast_set,
	.del = mcast_delete,
};

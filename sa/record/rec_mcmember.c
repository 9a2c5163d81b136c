/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026, The Saguaro authors */

/*
 * MCMemberRecord (IBA vol. 1, 15.2.5.17): who is a member of which multicast group. Set
 * and Delete are in mcast_join.c.
 *
 * A requester sees the groups of its partitions. Who is a member is told to those alone
 * who know the SM_Key, one record per member; others get one record per group, without
 * PortGID, JoinState and ProxyJoin, also when they asked for a certain member.
 */
#include <string.h>

#include "conf/base/err.h"
#include "db/reader.h"
#include "sa/mad/wire.h"
#include "sa/record/client_records.h"
#include "sa/record/mcast_join.h"
#include "sa/record/record.h"
#include "sa/store/mcast.h"
#include "sa/store/store.h"

static unsigned selector_of(const struct sa_query *q, unsigned component)
{
	return sa_asked(q, component) ? (unsigned)sa_given(q, component) : MC_EXACTLY;
}

static bool fits_selectors(const struct sa_query *q, const uint8_t *record)
{
	if (sa_asked(q, MC_MTU) &&
	    !mcast_fits_value(selector_of(q, MC_MTU_SELECTOR), sa_given(q, MC_MTU),
	                      mcast_get(record, MC_MTU))) {
		return false;
	}
	if (sa_asked(q, MC_LIFE) &&
	    !mcast_fits_value(selector_of(q, MC_LIFE_SELECTOR), sa_given(q, MC_LIFE),
	                      mcast_get(record, MC_LIFE))) {
		return false;
	}
	return !sa_asked(q, MC_RATE) ||
	       mcast_fits_rate(selector_of(q, MC_RATE_SELECTOR),
	                       (uint8_t)sa_given(q, MC_RATE),
	                       (uint8_t)mcast_get(record, MC_RATE));
}

static bool fits_group(struct snap_reader *r, const struct sa_query *q,
                       const uint8_t *record)
{
	uint16_t p_key = (uint16_t)mcast_get(record, MC_P_KEY);

	if (sa_asked(q, MC_P_KEY) && ((sa_given(q, MC_P_KEY) ^ p_key) & 0x7fff) != 0) {
		return false;
	}
	return fits_selectors(q, record) &&
	       (q->requester == NULL || mcast_has_p_key(r, q->requester, p_key));
}

static bool fits_member(const struct sa_query *q, const uint8_t *port_gid,
                        const struct mcast_member_row *m)
{
	const uint8_t *asked = q->record + mcast_fields[MC_PORT_GID].bit / 8;
	uint64_t bits = sa_given(q, MC_JOIN_STATE);

	return (!sa_asked(q, MC_PORT_GID) || memcmp(asked, port_gid, MGID_BYTES) == 0) &&
	       (!sa_asked(q, MC_JOIN_STATE) || (m->join_state & bits) == bits) &&
	       (!sa_asked(q, MC_PROXY_JOIN) ||
	        m->proxy_join == sa_given(q, MC_PROXY_JOIN));
}

/* Is nothing asked about members? */
static bool any_member(const struct sa_query *q)
{
	return !sa_asked(q, MC_PORT_GID) && !sa_asked(q, MC_JOIN_STATE) &&
	       !sa_asked(q, MC_PROXY_JOIN);
}

static void offer_member(const uint8_t *group, const struct client_row *row,
                         const struct mcast_member_row *m, struct sa_out *out)
{
	uint8_t record[MC_RECORD_BYTES];

	memcpy(record, group, sizeof(record));
	memcpy(record + mcast_fields[MC_PORT_GID].bit / 8, row->key + MGID_BYTES,
	       MGID_BYTES);
	mcast_put(record, MC_JOIN_STATE, m->join_state);
	mcast_put(record, MC_PROXY_JOIN, m->proxy_join);
	sa_offer(out, record);
}

/* Does the page begin among the members of this group? */
static bool begins_inside(const struct sa_query *q, const uint8_t *mgid)
{
	return q->from_key_len == MC_MEMBER_KEY_BYTES &&
	       memcmp(q->from_key, mgid, MGID_BYTES) == 0;
}

static int first_member(struct snap_reader *r, const struct sa_query *q,
                        const uint8_t *mgid, struct written_walk *w,
                        struct written_record *ret)
{
	bool inside = begins_inside(q, mgid);

	return written_from(r, q, RECORDS_MEMBERS, inside ? q->from_key : mgid,
	                    inside ? MC_MEMBER_KEY_BYTES : MGID_BYTES, w, ret);
}

/* \param ret_found  Is there a member that fits? */
static int offer_members(struct snap_reader *r, const struct sa_query *q,
                         const uint8_t *group, struct sa_out *out, bool *ret_found)
{
	struct written_walk w;
	struct written_record rec;
	struct mcast_member_row m;
	int ret = first_member(r, q, group, &w, &rec);

	*ret_found = false;
	for (; ret == E_OK && !sa_full(out); ret = written_next(&w, &rec)) {
		if (!written_begins(&rec, group, MGID_BYTES)) {
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
		offer_member(group, &rec.row, &m, out);
	}
	return ret == E_NOTFOUND ? E_OK : ret;
}

static int offer_group(struct snap_reader *r, const struct sa_query *q,
                       const struct mcast_group_row *g, struct sa_out *out)
{
	bool found = false, whole = any_member(q) && !begins_inside(q, g->record);
	int ret = E_OK;

	sa_at_row(out, g->record, MGID_BYTES);
	if (!fits_group(r, q, g->record)) {
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
	struct written_walk w;
	struct written_record rec;
	struct mcast_group_row g;
	const uint8_t *from = q->from_key != NULL ? q->from_key : q->record;
	size_t len = q->from_key != NULL ? q->from_key_len : by_mgid ? MGID_BYTES : 0;
	int ret = written_from(r, q, RECORDS_GROUPS, from,
	                       len < MGID_BYTES ? len : MGID_BYTES, &w, &rec);

	while (ret == E_OK && !sa_full(out)) {
		if (by_mgid && !written_begins(&rec, q->record, MGID_BYTES)) {
			break;
		}
		if (mcast_group_decode(&rec.row, &g)) {
			ret = offer_group(r, q, &g, out);
		}
		ret = ret == E_OK ? written_next(&w, &rec) : ret;
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
	.written = true,
	.walk = mcmember_walk,
	.set = mcast_set,
	.del = mcast_delete,
};
